//! The part of a condition that goals may rest on.
//!
//! Conditions of being somewhere in a long function have a hundred conjuncts, of which a fact about a
//! counter needs three; asked under all of them the solver runs out of its limit before it looks at
//! the counter. What follows from some conjuncts follows from all, so a goal is asked under those
//! first that speak of the same inputs (relevance by shared symbols: Meng and Paulson, Lightweight
//! relevance filtering, 2009, with two rounds), with all that is read from memory as inputs.

use crate::invariant::proof::abstraction;
use crate::ir::{Op, Sort, Term, TermId, TermPool};
use std::collections::BTreeSet;

/// Conditions of fewer conjuncts are asked as they are.
const FEW: usize = 32;
/// A conjunct of more terms than this is seldom what a goal rests on.
const MANY_TERMS: usize = 24;
/// The same of conjuncts that speak of more inputs.
const MANY_INPUTS: usize = 4;
/// How often what is known is used to shorten alternatives.
const ROUNDS: usize = 3;

/// Whether a condition has so many conjuncts that a part of it is to be tried first.
pub(in crate::invariant) fn is_large(pool: &TermPool, condition: TermId) -> bool {
    pool.as_op(condition, Op::And).is_some_and(|parts| parts.len() > FEW)
}

/// The conjuncts of a large condition that goals may rest on, with the inputs that they speak of.
pub(in crate::invariant) struct Conjuncts(Vec<(TermId, BTreeSet<TermId>)>);

impl Conjuncts {
    pub(in crate::invariant) fn of(pool: &mut TermPool, condition: TermId) -> Conjuncts {
        let mut found = Vec::new();
        for c in shortened(pool, condition) {
            let c = abstraction::without_any_loads(pool, c);
            let inputs = inputs_of(pool, c);
            let is_plain = inputs.iter().all(|&i| pool.sort(i) != Sort::Mem);
            if is_plain && pool.reachable(&[c]).len() <= MANY_TERMS {
                found.push((c, inputs));
            }
        }
        Conjuncts(found)
    }

    /// Returns what the condition says of the inputs of a goal, and the goal: it holds where the
    /// condition does if it holds where this part of it does.
    pub(in crate::invariant) fn about(&self, pool: &mut TermPool, goal: TermId) -> (TermId, TermId) {
        let goal = abstraction::without_any_loads(pool, goal);
        let asked = inputs_of(pool, goal);
        let near = |own: &BTreeSet<TermId>| own.len() <= MANY_INPUTS && !own.is_disjoint(&asked);
        let mut reached = asked.clone();
        reached.extend(self.0.iter().filter(|(_, own)| near(own)).flat_map(|(_, own)| own.iter().copied()));
        let is_relevant = |own: &BTreeSet<TermId>| near(own) || own.len() == 1 && own.is_subset(&reached);
        let relevant: Vec<TermId> =
            self.0.iter().filter(|(_, own)| is_relevant(own)).map(|(c, _)| *c).collect();
        (pool.op(Op::And, &relevant), goal)
    }
}

/// The conjuncts of a condition, without alternatives that others exclude.
fn shortened(pool: &mut TermPool, condition: TermId) -> BTreeSet<TermId> {
    let mut known: BTreeSet<TermId> = pool.as_op(condition, Op::And).unwrap_or(&[]).iter().copied().collect();
    for _ in 0..ROUNDS {
        let mut shorter = BTreeSet::new();
        for &c in &known {
            let Some(alternatives) = pool.as_op(c, Op::Or).map(<[TermId]>::to_vec) else {
                shorter.insert(c);
                continue;
            };
            let left: Vec<TermId> =
                alternatives.into_iter().filter(|&a| !is_excluded(pool, &known, a)).collect();
            let c = pool.op(Op::Or, &left);
            match pool.as_op(c, Op::And) {
                Some(parts) => shorter.extend(parts.iter().copied()),
                None => _ = shorter.insert(c),
            }
        }
        if shorter == known {
            break;
        }
        known = shorter;
    }
    known
}

/// Whether what is known says that a condition is false.
fn is_excluded(pool: &mut TermPool, known: &BTreeSet<TermId>, condition: TermId) -> bool {
    let denied = pool.not(condition);
    match pool.as_op(denied, Op::And) {
        Some(parts) => parts.iter().all(|p| known.contains(p)),
        None => known.contains(&denied),
    }
}

fn inputs_of(pool: &TermPool, root: TermId) -> BTreeSet<TermId> {
    let mut leaves = pool.reachable(&[root]);
    leaves.retain(|&t| matches!(pool.get(t), Term::Leaf(_)));
    leaves.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Leaf;

    fn param(pool: &mut TermPool, name: &str) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) })
    }

    /// `i < n` of 40 other conditions, and `i <= n` where the head was reached, which those say.
    #[test]
    fn a_goal_is_asked_under_what_speaks_of_its_inputs() {
        let mut pool = TermPool::new();
        let (i, n) = (param(&mut pool, "i"), param(&mut pool, "n"));
        let zero = pool.bv(32, 0);
        let others: Vec<TermId> = (0..40)
            .map(|k| {
                let x = param(&mut pool, &format!("x{k}"));
                pool.op(Op::Slt, &[zero, x])
            })
            .collect();
        let reached = pool.op(Op::And, &others);
        let unreached = pool.not(reached);
        let at_most = pool.op(Op::Sle, &[i, n]);
        let supposed = pool.or(unreached, at_most);
        let less = pool.op(Op::Slt, &[i, n]);
        let below = pool.and(less, reached);
        let condition = pool.and(below, supposed);
        assert!(is_large(&pool, condition) && !is_large(&pool, less));
        let conjuncts = Conjuncts::of(&mut pool, condition);
        let (given, goal) = conjuncts.about(&mut pool, at_most);
        assert_eq!(goal, at_most);
        let expected = pool.and(less, at_most);
        assert_eq!(given, expected);
    }

    /// `first` and so many others of other inputs.
    fn condition(pool: &mut TermPool, first: &[TermId], others: usize) -> TermId {
        let zero = pool.bv(32, 0);
        let mut parts = first.to_vec();
        for k in 0..others {
            let x = param(pool, &format!("x{k}"));
            parts.push(pool.op(Op::Slt, &[zero, x]));
        }
        pool.op(Op::And, &parts)
    }

    #[test]
    fn a_condition_is_large_beyond_a_few_conjuncts() {
        let mut pool = TermPool::new();
        let (few, more) = (condition(&mut pool, &[], FEW), condition(&mut pool, &[], FEW + 1));
        assert!(!is_large(&pool, few) && is_large(&pool, more));
    }

    #[test]
    fn a_goal_is_told_of_inputs_that_are_compared_with_its_own() {
        let mut pool = TermPool::new();
        let [i, n, m] = ["i", "n", "m"].map(|x| param(&mut pool, x));
        let ten = pool.bv(32, 10);
        let less = pool.op(Op::Slt, &[i, n]);
        let bound = pool.op(Op::Sle, &[n, ten]);
        let far = pool.op(Op::Slt, &[n, m]);
        let goal = pool.op(Op::Slt, &[i, ten]);
        let all = condition(&mut pool, &[less, bound, far], 40);
        let (given, _) = Conjuncts::of(&mut pool, all).about(&mut pool, goal);
        assert_eq!(given, pool.and(less, bound), "of `n` its bounds, and not what else is compared with it");
    }

    #[test]
    fn what_speaks_of_many_inputs_is_left_out() {
        let mut pool = TermPool::new();
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|x| param(&mut pool, x));
        let mut sum = a;
        for x in [b, c, d] {
            sum = pool.op(Op::Add, &[sum, x]);
        }
        let zero = pool.bv(32, 0);
        let four = pool.op(Op::Slt, &[zero, sum]);
        let sum = pool.op(Op::Add, &[sum, e]);
        let five = pool.op(Op::Slt, &[zero, sum]);
        let goal = pool.op(Op::Slt, &[zero, a]);
        let all = condition(&mut pool, &[four, five], 40);
        let (given, _) = Conjuncts::of(&mut pool, all).about(&mut pool, goal);
        assert_eq!(given, four);
    }

    #[test]
    fn alternatives_that_others_exclude_are_left_out() {
        let mut pool = TermPool::new();
        let [i, n, m] = ["i", "n", "m"].map(|x| param(&mut pool, x));
        let (less, other) = (pool.op(Op::Slt, &[i, n]), pool.op(Op::Slt, &[n, m]));
        let not_less = pool.not(less);
        let either = pool.or(not_less, other);
        let all = pool.and(less, either);
        assert_eq!(shortened(&mut pool, all), BTreeSet::from([less, other]));
    }
}
