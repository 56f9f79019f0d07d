//! A case of a condition in which all pointers lead to different places, and no result of a function has to do with
//! another one.
//!
//! Whether a condition over memory can be met is a hard question for what pointers may have in common, and for which
//! memories are the same; it seldom needs either. So everything that addresses begin with, and every object, gets a
//! place far from all others, and each result of an uninterpreted function becomes a value of its own. What is read
//! from memory are values of their own then, as the normalisation of terms finds out, and a solver has little left to
//! do. An input of that case is one of the condition; that there is none says nothing.
//!
//! What one function gives, and the memory that it leaves, are values of their own where its arguments cannot be equal;
//! else they are the same in one case ([`Results::Alike`]), which no choice of arguments contradicts, and in another one
//! arguments that may differ do ([`Results::Apart`]).

use crate::ir::{App, Leaf, Op, Rebuilt, Sort, Term, TermId, TermPool, Uf};
use rustc_hash::{FxHashMap, FxHashSet};

/// Places that are handed out.
const MAX_PLACES: usize = 64;

/// What functions give where their arguments may be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// The same.
    Alike,
    /// Something else, to arguments that are not equal.
    Apart,
}

/// The case, as a condition; `None` where there is nothing to set apart, or the condition cannot be met so.
pub(super) fn separated(pool: &mut TermPool, condition: TermId, results: Results) -> Option<TermId> {
    let begins = beginnings(pool, condition);
    let (all, _) = with_places(pool, condition, begins)?;
    let all = with_free_results(pool, all, results);
    (all != condition && pool.as_const(all).is_none_or(|c| c.as_bool() == Some(true))).then_some(all)
}

/// The case with what its inputs are, so that one is an input of the condition as it stands: objects stay where they
/// are, and functions give what they give. `None` where no pointer is set apart.
pub(super) fn case(pool: &mut TermPool, condition: TermId) -> Option<TermId> {
    let mut begins = beginnings(pool, condition);
    begins.retain(|t| !is_object(pool, *t));
    let (mut all, places) = with_places(pool, condition, begins)?;
    for (begin, place) in places {
        if matches!(pool.get(begin), Term::Leaf(_)) {
            let is_there = pool.eq(begin, place);
            all = pool.and(all, is_there);
        }
    }
    (all != condition && pool.as_const(all).is_none()).then_some(all)
}

/// A condition with places for what addresses begin with, and these.
fn with_places(
    pool: &mut TermPool,
    condition: TermId,
    begins: Vec<TermId>,
) -> Option<(TermId, FxHashMap<TermId, TermId>)> {
    if begins.len() > MAX_PLACES {
        return None;
    }
    let mut places: FxHashMap<TermId, TermId> = FxHashMap::default();
    for (k, begin) in (1i128..).zip(&begins) {
        let place = match pool.sort(*begin) {
            Sort::Bv(64) => pool.bv(64, (k << 32) + 0x1000),
            Sort::Bv(32) => pool.bv(32, (k << 24) + 0x1000),
            _ => continue,
        };
        places.insert(*begin, place);
    }
    let apart = |_: &mut TermPool, t: TermId| match places.get(&t) {
        Some(place) => Rebuilt::By(*place),
        None => Rebuilt::Kept,
    };
    let mut all = pool.rebuilt(condition, &apart);
    // What is read from memory, or given by a function, has to be that pointer.
    for begin in begins {
        let (Term::App(app, args), Some(place)) = (pool.get(begin).clone(), places.get(&begin)) else {
            continue;
        };
        let args: Vec<TermId> = args.iter().map(|a| pool.rebuilt(*a, &apart)).collect();
        let read = pool.app(app, &args);
        let is_there = pool.eq(read, *place);
        all = pool.and(all, is_there);
    }
    Some((all, places))
}

/// Results of uninterpreted functions as values, and as memories.
fn with_free_results(pool: &mut TermPool, condition: TermId, results: Results) -> TermId {
    let mut known: FxHashMap<Uf, Vec<(Vec<TermId>, TermId)>> = FxHashMap::default();
    let mut values: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut all = condition;
    for t in pool.reachable(&[condition]) {
        let sort = pool.sort(t);
        let Term::App(App::Uf(uf), args) = pool.get(t).clone() else { continue };
        let calls = known.entry(uf).or_default();
        let others: Vec<_> = calls.iter().filter(|(others, _)| may_be_equal(pool, &args, others)).collect();
        let value = match results {
            Results::Alike => others.first().map(|(_, value)| *value),
            Results::Apart => match others.iter().find(|(others, _)| *others == args) {
                Some((_, value)) => Some(*value),
                None => {
                    let apart: Option<Vec<TermId>> =
                        others.iter().map(|(others, _)| difference(pool, &args, others, &values)).collect();
                    match apart {
                        Some(apart) => {
                            all = apart.into_iter().fold(all, |all, differs| pool.and(all, differs));
                            None
                        }
                        None => others.first().map(|(_, value)| *value),
                    }
                }
            },
        };
        let value = value.unwrap_or_else(|| {
            let key = format!("result {}", t.0).into();
            pool.leaf(Leaf::Havoc { key, sort })
        });
        calls.push((args, value));
        values.insert(t, value);
    }
    pool.rebuilt(all, &|_, t| match values.get(&t) {
        Some(value) => Rebuilt::By(*value),
        None => Rebuilt::Kept,
    })
}

/// Whether nothing shows that some argument differs.
fn may_be_equal(pool: &TermPool, args: &[TermId], others: &[TermId]) -> bool {
    !args.iter().zip(others).any(|(a, b)| differ(pool, *a, *b))
}

/// The condition on which some arguments differ; `None`: they may be equal always. Memories that begin with different
/// free ones differ somewhere, where nobody looks.
fn difference(
    pool: &mut TermPool,
    args: &[TermId],
    others: &[TermId],
    values: &FxHashMap<TermId, TermId>,
) -> Option<TermId> {
    let mut some = None;
    for (&a, &b) in args.iter().zip(others).filter(|(a, b)| a != b) {
        if pool.sort(a) != Sort::Mem {
            let equal = pool.eq(a, b);
            let differs = pool.not(equal);
            some = Some(some.map_or(differs, |some| pool.or(some, differs)));
        } else if let (Some(x), Some(y)) = (root(pool, a, values), root(pool, b, values))
            && x != y
        {
            return Some(pool.bool(true));
        }
    }
    some
}

/// The free memory that one begins with, as everything was before it was written.
fn root(pool: &TermPool, mut memory: TermId, values: &FxHashMap<TermId, TermId>) -> Option<TermId> {
    loop {
        match pool.get(memory) {
            Term::Leaf(_) => return Some(memory),
            Term::App(App::Uf(_), _) => return values.get(&memory).copied(),
            Term::App(App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. }, args) => {
                memory = *args.first()?;
            }
            _ => return None,
        }
    }
}

/// Whether two terms are different constants.
fn differ(pool: &TermPool, a: TermId, b: TermId) -> bool {
    matches!((pool.as_const(a), pool.as_const(b)), (Some(x), Some(y)) if x != y)
}

/// What the addresses of a condition begin with, inner ones first, and the objects in it.
fn beginnings(pool: &TermPool, condition: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut add = |t: TermId| {
        if !found.contains(&t) {
            found.push(t);
        }
    };
    let reachable = pool.reachable(&[condition]);
    let measured = measured(pool, &reachable);
    for t in reachable {
        match pool.get(t) {
            Term::Leaf(_) if is_object(pool, t) => add(t),
            Term::App(
                App::Load { .. } | App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. },
                args,
            ) => {
                let addresses = args.iter().skip(1).filter(|a| matches!(pool.sort(**a), Sort::Bv(32 | 64)));
                addresses.filter_map(|a| begins_with(pool, *a, &measured)).for_each(&mut add);
            }
            _ => {}
        }
    }
    found
}

/// What is held against others by its size, by itself or in a sum: indexes more likely than pointers.
fn measured(pool: &TermPool, terms: &[TermId]) -> FxHashSet<TermId> {
    let mut found = FxHashSet::default();
    for t in terms {
        let Term::App(App::Op(Op::Ult | Op::Ule | Op::Slt | Op::Sle), args) = pool.get(*t) else { continue };
        for a in args {
            found.insert(*a);
            found.extend(pool.as_op(*a, Op::Add).into_iter().flatten());
        }
    }
    found
}

fn is_object(pool: &TermPool, t: TermId) -> bool {
    matches!(pool.get(t), Term::Leaf(Leaf::SymbolAddr { .. } | Leaf::LocalAddr { .. }))
}

/// The pointer that an address begins with; none where that is the address of an object.
fn begins_with(pool: &TermPool, address: TermId, measured: &FxHashSet<TermId>) -> Option<TermId> {
    match pool.get(address) {
        Term::Leaf(_) if is_object(pool, address) => None,
        Term::Leaf(_) | Term::App(App::Load { .. } | App::Uf(_), _) => Some(address),
        Term::App(App::Op(Op::Add), args) if !args.iter().any(|a| is_object(pool, *a)) => {
            let begins = |a: &TermId| begins_with(pool, *a, measured);
            let others = args.iter().filter(|a| !measured.contains(a));
            others.chain(args).find_map(begins)
        }
        Term::App(..) | Term::Const(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pool: &mut TermPool, sort: Sort, args: &[TermId]) -> TermId {
        pool.app(App::Uf(Uf::Call { callee: "f".into(), part: sort }), args)
    }

    /// What two calls leave in memory differs if something that they are given does.
    #[test]
    fn memories_of_calls_may_be_apart() {
        let mut pool = TermPool::new();
        let word = Sort::Bv(64);
        let leaf = |pool: &mut TermPool, name: &str, sort| pool.leaf(Leaf::Param { name: name.into(), sort });
        let memory = leaf(&mut pool, "m", Sort::Mem);
        let [x, y, p] = ["x", "y", "p"].map(|name| leaf(&mut pool, name, word));
        let mut condition = |args: [TermId; 2]| {
            let read = |pool: &mut TermPool, arg: TermId| {
                let left = call(pool, Sort::Mem, &[memory, arg]);
                pool.app(App::Load { sort: word, bytes: 8 }, &[left, p])
            };
            let (a, b) = (read(&mut pool, args[0]), read(&mut pool, args[1]));
            let equal = pool.eq(a, b);
            let differs = pool.not(equal);
            (separated(&mut pool, differs, Results::Alike), separated(&mut pool, differs, Results::Apart))
        };
        assert_eq!(condition([x, x]), (None, None));
        let (alike, apart) = condition([x, y]);
        assert_eq!(alike, None);
        let apart = apart.unwrap();
        let mut solver = crate::Solver::new(crate::Limits::default());
        assert!(matches!(solver.check(&pool, &[apart]), crate::Verdict::Sat(_)));
        // And not for equal ones.
        let equal = pool.eq(x, y);
        let both = pool.and(apart, equal);
        assert!(solver.check(&pool, &[both]).is_unsat());
    }
}
