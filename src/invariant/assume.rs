//! Terms under named assumptions and under conditions.

use crate::ir::{App, LOOP_VALUE, Leaf, Op, Term, TermId, TermPool, Uf};
use std::collections::{BTreeMap, HashMap};

/// Returns the term with the conversions that `unchecked` accepts taken to succeed
/// (`stdin-well-formed`). Conversions whose success the program looks at may fail.
pub fn well_formed(pool: &mut TermPool, root: TermId, unchecked: &dyn Fn(TermId) -> bool) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Uf(Uf::InputOk { .. }), _) if unchecked(t) => Some(pool.bool(true)),
        _ => None,
    })
}

/// Whether an input stands for a value of a loop.
pub fn is_loop_value(name: &str) -> bool {
    name.starts_with(LOOP_VALUE)
}

/// Returns the term with every value of a loop as an input of its own: what is proved then holds
/// whatever the loop computes.
pub fn without_loops(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Uf(Uf::Loop { sort, .. }), _) => {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            Some(pool.leaf(Leaf::Param { name, sort: *sort }))
        }
        _ => None,
    })
}

/// Returns the term as it is where the condition holds: conjuncts of the condition are true in it.
pub fn under(pool: &mut TermPool, root: TermId, condition: TermId) -> TermId {
    let mut known: BTreeMap<TermId, bool> = BTreeMap::new();
    let mut work = vec![condition];
    while let Some(c) = work.pop() {
        if let Some(parts) = pool.as_op(c, Op::And) {
            work.extend(parts.iter().copied());
        } else if let Some(&[inner]) = pool.as_op(c, Op::Not) {
            known.insert(inner, false);
        } else {
            known.insert(c, true);
        }
    }
    rewrite(pool, root, &|pool, t| known.get(&t).copied().map(|b| pool.bool(b)))
}

/// Returns the term with every read of a memory that is an input as an input of its own: what is proved
/// then holds whatever is read, and the solver need not reason about memory.
pub fn without_loads(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Load { sort, .. }, args)
            if args.first().is_some_and(|m| matches!(pool.get(*m), Term::Leaf(_))) =>
        {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            Some(pool.leaf(Leaf::Param { name, sort: *sort }))
        }
        _ => None,
    })
}

/// Returns the term with one part replaced by another.
pub fn replaced(pool: &mut TermPool, root: TermId, part: TermId, by: TermId) -> TermId {
    rewrite(pool, root, &|_, t| (t == part).then_some(by))
}

/// Rebuilds a term bottom up, replacing what `f` answers for.
fn rewrite(pool: &mut TermPool, root: TermId, f: &dyn Fn(&mut TermPool, TermId) -> Option<TermId>) -> TermId {
    let mut done: HashMap<TermId, TermId> = HashMap::new();
    for t in pool.reachable(&[root]) {
        let new = match f(pool, t) {
            Some(n) => n,
            None => match pool.get(t).clone() {
                Term::App(app, args) => {
                    let new: Vec<TermId> = args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
                    if new == args { t } else { pool.app(app, &new) }
                }
                _ => t,
            },
        };
        done.insert(t, new);
    }
    done.get(&root).copied().unwrap_or(root)
}
