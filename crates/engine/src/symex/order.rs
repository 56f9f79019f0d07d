//! What comparisons say together: `a < b` and `b <= c` say `a < c`.
//!
//! Path conditions of code that sorts and searches are long chains of comparisons, which cost a solver
//! much and a closure nothing.

use crate::ir::{Op, TermId, TermPool};
use std::collections::HashMap;

/// Most terms that are ordered.
const MAX_TERMS: usize = 24;

/// The signed order of some terms, as far as it is known.
pub(super) struct Order {
    index: HashMap<TermId, usize>,
    /// Whether one is at most another one, and less.
    below: Vec<Vec<Option<bool>>>,
}

impl Order {
    /// Reads conditions that hold. Cost: cubic in the terms that they compare.
    pub fn of(pool: &TermPool, conditions: &[TermId]) -> Order {
        let mut order = Order { index: HashMap::new(), below: Vec::new() };
        for condition in conditions {
            if let Some((a, b, strict)) = comparison(pool, *condition)
                && let (Some(i), Some(j)) = (order.add(pool, a), order.add(pool, b))
            {
                order.note(i, j, strict);
            }
        }
        let n = order.below.len();
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    if let (Some(a), Some(b)) = (order.below[i][k], order.below[k][j]) {
                        order.note(i, j, a || b);
                    }
                }
            }
        }
        order
    }

    fn add(&mut self, pool: &TermPool, t: TermId) -> Option<usize> {
        if let Some(known) = self.index.get(&t) {
            return Some(*known);
        }
        let new = self.below.len();
        if new >= MAX_TERMS {
            return None;
        }
        self.below.iter_mut().for_each(|row| row.push(None));
        self.below.push(vec![None; new + 1]);
        let value = |t: TermId| pool.as_const(t).and_then(crate::ir::Const::signed);
        if let Some(v) = value(t) {
            for (other, k) in self.index.clone() {
                if let Some(w) = value(other).filter(|_| pool.sort(other) == pool.sort(t)) {
                    let (less, more) = if v < w { (new, k) } else { (k, new) };
                    self.note(less, more, v != w);
                }
            }
        }
        self.index.insert(t, new);
        Some(new)
    }

    fn note(&mut self, i: usize, j: usize, strict: bool) {
        let place = &mut self.below[i][j];
        *place = Some(place.unwrap_or(false) || strict);
    }

    fn between(&self, a: TermId, b: TermId) -> Option<bool> {
        self.below[*self.index.get(&a)?][*self.index.get(&b)?]
    }

    /// Whether a comparison holds, if the order says so.
    pub fn decides(&self, pool: &TermPool, condition: TermId) -> Option<bool> {
        if let Some(&[a, b]) = pool.as_op(condition, Op::Eq) {
            let apart = self.between(a, b) == Some(true) || self.between(b, a) == Some(true);
            return apart.then_some(false);
        }
        let (a, b, strict) = comparison(pool, condition)?;
        match (self.between(a, b), self.between(b, a)) {
            (Some(less), _) if less || !strict => Some(true),
            (_, Some(more)) if more || strict => Some(false),
            _ => {
                let ((least_a, most_a), (least_b, most_b)) = (self.bounds(pool, a), self.bounds(pool, b));
                let at_most = |x: Option<i128>, y: Option<i128>, strict| {
                    x.zip(y).is_some_and(|(x, y)| if strict { x < y } else { x <= y })
                };
                match (at_most(most_a, least_b, strict), at_most(most_b, least_a, !strict)) {
                    (true, _) => Some(true),
                    (_, true) => Some(false),
                    _ => None,
                }
            }
        }
    }

    /// The least and the largest value of a term, by the constants that it was compared with.
    fn bounds(&self, pool: &TermPool, t: TermId) -> (Option<i128>, Option<i128>) {
        let value = |t: TermId| pool.as_const(t).and_then(crate::ir::Const::signed);
        if let Some(v) = value(t) {
            return (Some(v), Some(v));
        }
        let constants = || self.index.keys().filter_map(|k| Some((*k, value(*k)?)));
        let least = constants().filter_map(|(k, v)| Some(v + i128::from(self.between(k, t)?))).max();
        let most = constants().filter_map(|(k, v)| Some(v - i128::from(self.between(t, k)?))).min();
        (least, most)
    }
}

/// `a < b` or `a <= b`.
fn comparison(pool: &TermPool, t: TermId) -> Option<(TermId, TermId, bool)> {
    [(Op::Slt, true), (Op::Sle, false)].into_iter().find_map(|(op, strict)| match pool.as_op(t, op) {
        Some(&[a, b]) => Some((a, b, strict)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Leaf, Sort};

    #[test]
    fn comparisons_chain() {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) });
        let (a, b, c) = (leaf("a"), leaf("b"), leaf("c"));
        let [two, five, nine] = [2, 5, 9].map(|k| pool.bv(32, k));
        let mut say = |op, x, y| pool.op(op, &[x, y]);
        let known = [say(Op::Sle, a, b), say(Op::Slt, b, c), say(Op::Sle, five, a)];
        let asked = [
            (say(Op::Slt, a, c), Some(true)),
            (say(Op::Sle, a, b), Some(true)),
            (say(Op::Slt, a, b), None),
            (say(Op::Sle, c, b), Some(false)),
            (say(Op::Slt, b, a), Some(false)),
            (say(Op::Eq, a, c), Some(false)),
            (say(Op::Eq, a, b), None),
            (say(Op::Slt, two, c), Some(true)),
            (say(Op::Slt, c, five), Some(false)),
            (say(Op::Slt, a, nine), None),
        ];
        let order = Order::of(&pool, &known);
        for (k, (t, expected)) in asked.into_iter().enumerate() {
            assert_eq!(order.decides(&pool, t), expected, "{k}");
        }
    }

    #[test]
    fn constants_are_in_order_without_being_compared() {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let [minus, three, seven] = [-1, 3, 7].map(|k| pool.bv(32, k));
        let known = [pool.op(Op::Sle, &[x, three])];
        let order = Order::of(&pool, &known);
        let mut decides = |op, a, b| {
            let t = pool.op(op, &[a, b]);
            order.decides(&pool, t)
        };
        assert_eq!(decides(Op::Slt, x, seven), Some(true));
        assert_eq!(decides(Op::Sle, seven, x), Some(false));
        assert_eq!(decides(Op::Sle, x, minus), None);
        assert_eq!(decides(Op::Ult, x, seven), None, "of unsigned numbers nothing is known");
    }

    #[test]
    fn what_is_less_on_a_circle_is_noted_both_ways() {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) });
        let (a, b, c) = (leaf("a"), leaf("b"), leaf("c"));
        let known = [(a, b), (b, c), (c, a)].map(|(x, y)| pool.op(Op::Sle, &[x, y]));
        let order = Order::of(&pool, &known);
        assert_eq!((order.between(a, c), order.between(c, a)), (Some(false), Some(false)));
        let less = pool.op(Op::Slt, &[a, c]);
        assert_eq!(order.decides(&pool, less), Some(false), "they are equal");
    }

    #[test]
    fn what_is_decided_is_true_of_all_numbers() {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) });
        let terms = [leaf("a"), leaf("b"), leaf("c")];
        let holds = |strict: bool, x: usize, y: usize| if strict { x < y } else { x <= y };
        let pairs = || [(0, 1), (1, 2), (0, 2), (2, 0), (1, 0)].into_iter();
        for (first, second) in pairs().flat_map(|p| pairs().map(move |q| (p, q))) {
            for bits in 0..8u32 {
                let [s, t, u] = [0, 1, 2].map(|k| bits >> k & 1 == 1);
                let mut say = |strict, (i, j): (usize, usize)| {
                    pool.op(if strict { Op::Slt } else { Op::Sle }, &[terms[i], terms[j]])
                };
                let known = [say(s, first), say(t, second)];
                let asked: Vec<_> = pairs().map(|p| (p, say(u, p))).collect();
                let order = Order::of(&pool, &known);
                for (p, goal) in asked {
                    let Some(decided) = order.decides(&pool, goal) else { continue };
                    for v in (0..27).map(|n| [n % 3, n / 3 % 3, n / 9]) {
                        let is = |strict, (i, j): (usize, usize)| holds(strict, v[i], v[j]);
                        let met = is(s, first) && is(t, second);
                        assert!(!met || is(u, p) == decided, "{first:?} {second:?} {p:?} {v:?}");
                    }
                }
            }
        }
    }
}
