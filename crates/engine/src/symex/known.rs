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
