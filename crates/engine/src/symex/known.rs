//! What conditions say without a solver: they are true, their opposites are false, inputs that they
//! equate are the same, and comparisons chain.

use super::order::Order;
use super::site::substituted;
use crate::ir::{Leaf, Op, Term, TermId, TermPool};
use rustc_hash::FxHashMap;

/// Conditions that hold.
pub struct Known {
    parts: FxHashMap<TermId, TermId>,
    order: Order,
    yes: TermId,
    no: TermId,
}

impl Known {
    /// Cost: linear in the conditions, and cubic in the few terms that they compare.
    pub fn of(pool: &mut TermPool, conditions: &[TermId]) -> Known {
        let (yes, no) = (pool.bool(true), pool.bool(false));
        let mut parts: Vec<TermId> = Vec::new();
        conditions.iter().for_each(|c| conjuncts(pool, *c, &mut parts));
        let mut same: FxHashMap<TermId, TermId> = FxHashMap::default();
        for part in &parts {
            let Some(&[a, b]) = pool.as_op(*part, Op::Eq) else { continue };
            let [a, b] = [a, b].map(|t| same.get(&t).copied().unwrap_or(t));
            let is_input = |t: TermId| matches!(pool.get(t), Term::Leaf(Leaf::Param { .. }));
            if a != b && is_input(a) && is_input(b) {
                same.values_mut().filter(|v| **v == b).for_each(|v| *v = a);
                same.insert(b, a);
            }
        }
        let mut known = same.clone();
        let mut held = Vec::new();
        for part in parts {
            let opposite = pool.not(part);
            let (one, other) = (substituted(pool, part, &same), substituted(pool, opposite, &same));
            held.push(one);
            for (term, value) in [(one, yes), (part, yes), (other, no), (opposite, no)] {
                if pool.as_const(term).is_none() {
                    known.insert(term, value);
                }
            }
        }
        Known { parts: known, order: Order::of(pool, &held), yes, no }
    }

    /// A term as it is where the conditions hold.
    pub fn simplified(&self, pool: &mut TermPool, term: TermId) -> TermId {
        let term = substituted(pool, term, &self.parts);
        let decided = |t: TermId| Some((t, self.order.decides(pool, t)?));
        let decided: Vec<(TermId, bool)> = pool.reachable(&[term]).into_iter().filter_map(decided).collect();
        if decided.is_empty() {
            return term;
        }
        let by = decided.into_iter().map(|(t, b)| (t, if b { self.yes } else { self.no })).collect();
        substituted(pool, term, &by)
    }
}

/// The parts of a condition that hold one by one; those of a refused alternative, too.
fn conjuncts(pool: &mut TermPool, condition: TermId, parts: &mut Vec<TermId>) {
    if let Some(members) = pool.as_op(condition, Op::And).map(<[TermId]>::to_vec) {
        members.into_iter().for_each(|m| conjuncts(pool, m, parts));
        return;
    }
    let refused = match pool.as_op(condition, Op::Not) {
        Some(&[inner]) => pool.as_op(inner, Op::Or).map(<[TermId]>::to_vec),
        _ => None,
    };
    for alternative in refused.into_iter().flatten() {
        let not = pool.not(alternative);
        conjuncts(pool, not, parts);
    }
    parts.push(condition);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Sort;

    fn inputs<const N: usize>(pool: &mut TermPool, names: [&str; N]) -> [TermId; N] {
        names.map(|x| pool.leaf(Leaf::Param { name: x.into(), sort: Sort::Bv(32) }))
    }

    #[test]
    fn conditions_are_true_and_their_opposites_false() {
        let mut pool = TermPool::new();
        let [a, b, c] = inputs(&mut pool, ["a", "b", "c"]);
        let (less, other) = (pool.op(Op::Slt, &[a, b]), pool.op(Op::Ult, &[b, c]));
        let both = pool.and(less, other);
        let known = Known::of(&mut pool, &[both]);
        let opposite = pool.not(less);
        let chosen = pool.ite(opposite, a, c);
        assert_eq!(known.simplified(&mut pool, chosen), c);
        let yes = pool.bool(true);
        assert_eq!(known.simplified(&mut pool, other), yes);
    }

    #[test]
    fn each_refused_alternative_is_false() {
        let mut pool = TermPool::new();
        let [a, b, c] = inputs(&mut pool, ["a", "b", "c"]);
        let (one, two) = (pool.op(Op::Ult, &[a, b]), pool.eq(b, c));
        let either = pool.or(one, two);
        let neither = pool.not(either);
        let known = Known::of(&mut pool, &[neither]);
        let no = pool.bool(false);
        assert_eq!(known.simplified(&mut pool, one), no);
        assert_eq!(known.simplified(&mut pool, two), no);
    }

    #[test]
    fn inputs_that_are_equated_are_the_same() {
        let mut pool = TermPool::new();
        let [a, b, c, d] = inputs(&mut pool, ["a", "b", "c", "d"]);
        let conditions = [(a, b), (b, c)].map(|(x, y)| pool.eq(x, y));
        let known = Known::of(&mut pool, &conditions);
        let (left, right) = (pool.op(Op::Add, &[a, d]), pool.op(Op::Add, &[c, d]));
        let same = pool.eq(left, right);
        let yes = pool.bool(true);
        assert_eq!(known.simplified(&mut pool, same), yes);
    }

    #[test]
    fn comparisons_chain_inside_a_term() {
        let mut pool = TermPool::new();
        let [a, b, c, d] = inputs(&mut pool, ["a", "b", "c", "d"]);
        let conditions = [(a, b), (b, c)].map(|(x, y)| pool.op(Op::Slt, &[x, y]));
        let known = Known::of(&mut pool, &conditions);
        let (follows, open) = (pool.op(Op::Slt, &[a, c]), pool.op(Op::Slt, &[c, d]));
        let both = pool.and(follows, open);
        assert_eq!(known.simplified(&mut pool, both), open);
        assert_eq!(known.simplified(&mut pool, open), open);
    }

    #[test]
    fn without_conditions_nothing_changes() {
        let mut pool = TermPool::new();
        let [a, b] = inputs(&mut pool, ["a", "b"]);
        let known = Known::of(&mut pool, &[]);
        let less = pool.op(Op::Slt, &[a, b]);
        assert_eq!(known.simplified(&mut pool, less), less);
    }
}
