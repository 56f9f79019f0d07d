//! Terms under named assumptions.

use crate::ir::{App, Term, TermId, TermPool, Uf};
use std::collections::HashMap;

/// Returns the term with every conversion of `scanf` taken to succeed (`stdin-well-formed`).
/// `getchar` may still meet the end of input: programs count on that.
pub fn well_formed(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, term| match term {
        Term::App(App::Uf(Uf::InputOk { conversion }), _) if &**conversion != "getchar" => {
            Some(pool.bool(true))
        }
        _ => None,
    })
}

/// Rebuilds a term bottom up, replacing what `f` answers for.
pub fn rewrite(
    pool: &mut TermPool,
    root: TermId,
    f: &dyn Fn(&mut TermPool, &Term) -> Option<TermId>,
) -> TermId {
    let mut done: HashMap<TermId, TermId> = HashMap::new();
    for t in pool.reachable(&[root]) {
        let term = pool.get(t).clone();
        let new = match f(pool, &term) {
            Some(n) => n,
            None => match &term {
                Term::App(app, args) => {
                    let new: Vec<TermId> = args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
                    if new == *args { t } else { pool.app(app.clone(), &new) }
                }
                _ => t,
            },
        };
        done.insert(t, new);
    }
    done.get(&root).copied().unwrap_or(root)
}
