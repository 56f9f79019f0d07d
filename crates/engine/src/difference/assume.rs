//! Conditions of branches: which are the same, and which imply which.
//!
//! A condition is read as sets of values (`linear.rs`); one condition implies another one that speaks of the same
//! sum when its set lies within the other's. Variables that are known to be constants in a version are
//! put in before, so `x < n` is `x < 5` where `n` is 5. Nothing is asked of a solver.

use super::known::Known;
use super::linear::Reading;
use super::part::ObjectId;
use crate::ir::{Expr, Op};

/// A condition without the negations around it.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// What holds on the true edge of the branch is the negation.
    pub negated: bool,
    /// Interned text of the condition.
    pub text: u32,
    /// Sets of values for which the condition holds.
    pub readings: Vec<Reading>,
    /// Interned texts of what is compared, but for constants.
    pub compared: Vec<u32>,
}

/// Splits a condition into its core and whether that is negated.
pub(super) fn core(cond: &Expr) -> (&Expr, bool) {
    match cond {
        Expr::Op { op: Op::Not, args, .. } => match args.first() {
            Some(inner) => {
                let (e, negated) = core(inner);
                (e, !negated)
            }
            None => (cond, false),
        },
        _ => (cond, false),
    }
}

/// What is compared by a condition that is no negation, but for constants.
pub(super) fn compared(cond: &Expr) -> impl Iterator<Item = &Expr> {
    let args = match cond {
        Expr::Op { args, .. } => args.as_slice(),
        _ => &[],
    };
    args.iter().filter(|e| !matches!(e, Expr::Const(_)))
}

/// Returns on which edge of the old branch an execution goes that goes on this edge of the new one, if both
/// conditions are the same and all that they read is.
pub(super) fn same(new: &Atom, label: bool, old: &Atom) -> Option<bool> {
    (new.text == old.text).then_some(label == (new.negated == old.negated))
}

/// Returns on which edge of the old branch an execution goes that goes on this edge of the new one; `None`: on
/// either. `known`: what is known of the old version's variables and of the new one's; `is_equal`: which variables
/// have equal values in both.
pub(super) fn implied(
    new: &Atom,
    label: bool,
    old: &Atom,
    known: [&Known; 2],
    is_equal: &dyn Fn(ObjectId) -> bool,
) -> Option<bool> {
    let all = |atom: &Atom, other: &Atom, known: &Known| -> Vec<Reading> {
        let given = atom.readings.iter().filter_map(|r| r.given(known));
        let words = |r: &Reading| other.readings.iter().filter_map(|o| r.in_words_of(o, known)).collect();
        let own = atom.readings.iter().cloned().chain(given);
        let said: Vec<Reading> =
            own.flat_map(|r| std::iter::once(r.clone()).chain::<Vec<_>>(words(&r))).collect();
        said.into_iter().filter(|r| r.reads().all(is_equal)).collect()
    };
    let olds = all(old, new, known[0]);
    all(new, old, known[1]).iter().find_map(|here| {
        let values = here.values.under(label != new.negated);
        olds.iter().filter(|there| here.is_of_same(there)).find_map(|there| {
            let goes = |edge: &bool| values.is_within(&there.values.under(*edge != old.negated));
            [true, false].into_iter().find(goes)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::linear::Reader;
    use crate::ir::{Const, VarId};
    use std::collections::HashMap;

    /// The first variables have 8 bits, some more 3, the others 32.
    fn width(e: &Expr) -> Option<u16> {
        let of = |v: VarId| {
            crate::ir::Sort::Bv(match v.0 {
                0 | 1 => 8,
                2 | 3 => 3,
                _ => 32,
            })
        };
        e.sort(64, &of).bits().filter(|_| !matches!(e.sort(64, &of), crate::ir::Sort::Bool))
    }

    #[derive(Default)]
    struct Texts(HashMap<String, u32>);

    impl Texts {
        fn atom(&mut self, cond: &Expr) -> Atom {
            let (c, negated) = core(cond);
            let mut id = |e: &Expr| {
                let next = self.0.len() as u32;
                *self.0.entry(format!("{e:?}")).or_insert(next)
            };
            let reads = |e: &Expr| {
                let mut found = Vec::new();
                e.for_each_var(&mut |v| found.push(v.0));
                found
            };
            let text = id(c);
            let compared = compared(c).map(&mut id).collect();
            let readings = Reader { id: &mut id, reads: &reads, width: &width }.readings(c);
            Atom { negated, text, readings, compared }
        }
    }

    fn var(v: u32) -> Expr {
        Expr::Var(VarId(v))
    }

    fn op(op: Op, a: Expr, b: Expr) -> Expr {
        Expr::op(op, vec![a, b])
    }

    fn edge(new: &Expr, label: bool, old: &Expr) -> Option<bool> {
        let mut texts = Texts::default();
        let (new, old) = (texts.atom(new), texts.atom(old));
        same(&new, label, &old).or_else(|| implied(&new, label, &old, [&Known::default(); 2], &|_| true))
    }

    fn x() -> Expr {
        var(5)
    }

    fn y() -> Expr {
        var(6)
    }

    /// `x < a` and `x < b`.
    #[track_caller]
    fn check(new: i128, label: bool, old: i128, expected: Option<bool>) {
        let less = |c: i128| op(Op::Slt, x(), Expr::bv(32, c));
        assert_eq!(edge(&less(new), label, &less(old)), expected);
    }

    #[test]
    fn stronger_conditions_imply_weaker_ones() {
        check(3, true, 5, Some(true));
        check(3, false, 5, None);
        check(5, true, 3, None);
        check(5, false, 3, Some(false));
        check(5, true, 5, Some(true));
    }

    #[test]
    fn equality_is_a_set_of_one() {
        let equal = op(Op::Eq, x(), Expr::bv(32, 7));
        let less = op(Op::Slt, x(), Expr::bv(32, 5));
        assert_eq!(edge(&equal, true, &less), Some(false));
        assert_eq!(edge(&less, true, &equal), Some(false));
        assert_eq!(edge(&equal, false, &less), None);
        // The same bits, read in another way.
        assert_eq!(edge(&equal, true, &op(Op::Ult, x(), Expr::bv(32, 9))), Some(true));
        let negative = op(Op::Slt, x(), Expr::bv(32, 0));
        assert_eq!(edge(&negative, true, &op(Op::Ult, x(), Expr::bv(32, 9))), Some(false));
        assert_eq!(edge(&negative, false, &op(Op::Ult, x(), Expr::bv(32, 9))), None);
    }

    #[test]
    fn variables_are_ordered_without_a_constant() {
        let (less, at_most) = (op(Op::Slt, x(), y()), op(Op::Sle, x(), y()));
        assert_eq!(edge(&less, true, &at_most), Some(true));
        assert_eq!(edge(&less, false, &at_most), None);
        assert_eq!(edge(&at_most, true, &less), None);
        assert_eq!(edge(&at_most, false, &less), Some(false));
        let greater = op(Op::Slt, y(), x());
        assert_eq!(edge(&less, true, &greater), Some(false));
        assert_eq!(edge(&at_most, false, &greater), Some(true));
        for equal in [op(Op::Eq, x(), y()), op(Op::Eq, y(), x())] {
            assert_eq!(edge(&equal, true, &at_most), Some(true));
            assert_eq!(edge(&equal, true, &op(Op::Ult, y(), x())), Some(false));
            assert_eq!(edge(&less, true, &equal), Some(false));
            assert_eq!(edge(&at_most, true, &equal), None);
        }
        // The order of signed numbers says nothing of that of the same bits without a sign.
        assert_eq!(edge(&less, true, &op(Op::Ule, x(), y())), None);
    }

    #[test]
    fn sums_that_may_wrap_are_equal_or_not_and_no_more() {
        let more = |e: Expr, c: i128| op(Op::Add, e, Expr::bv(32, c));
        let equal = op(Op::Eq, more(x(), 1), y());
        assert_eq!(edge(&equal, true, &op(Op::Eq, x(), more(y(), -1))), Some(true));
        assert_eq!(edge(&equal, true, &op(Op::Eq, op(Op::Sub, y(), x()), Expr::bv(32, 1))), Some(true));
        assert_eq!(edge(&equal, true, &op(Op::Eq, x(), y())), Some(false));
        // INT_MAX + 1 is at most anything, and not less than it.
        assert_eq!(edge(&op(Op::Sle, more(x(), 1), y()), true, &op(Op::Slt, x(), y())), None);
        let next = op(Op::Slt, more(x(), 1), Expr::bv(32, 5));
        let now = |c: i128| op(Op::Slt, x(), Expr::bv(32, c));
        assert_eq!(edge(&next, true, &now(4)), None);
        assert_eq!(edge(&now(4), true, &next), Some(true));
        assert_eq!(edge(&op(Op::Eq, more(x(), 1), Expr::bv(32, 5)), true, &now(5)), Some(true));
    }

    #[test]
    fn sums_that_cannot_wrap_are_ordered() {
        let wide = |v: u32| Expr::op(Op::Zext(32), vec![var(v)]);
        let more = |e: Expr, c: i128| Expr::signed(Op::Add, vec![e, Expr::bv(32, c)]);
        let (a, b) = (wide(0), wide(1));
        let less = op(Op::Slt, a.clone(), b.clone());
        assert_eq!(edge(&op(Op::Sle, more(a.clone(), 1), b.clone()), true, &less), Some(true));
        assert_eq!(edge(&op(Op::Sle, more(a.clone(), 1), b.clone()), false, &less), Some(false));
        assert_eq!(edge(&less, true, &op(Op::Slt, a.clone(), more(b.clone(), 7))), Some(true));
        let twice = |e: &Expr| Expr::signed(Op::Mul, vec![e.clone(), Expr::bv(32, 2)]);
        assert_eq!(edge(&op(Op::Slt, twice(&a), twice(&b)), true, &less), Some(true));
        assert_eq!(edge(&op(Op::Sle, twice(&a), more(twice(&b), 1)), true, &op(Op::Slt, b, a)), Some(false));
    }

    #[test]
    fn constants_that_are_known_are_put_in() {
        let mut texts = Texts::default();
        let new = texts.atom(&op(Op::Slt, x(), y()));
        let old = texts.atom(&op(Op::Slt, x(), Expr::bv(32, 5)));
        let mut known = Known::default();
        known.set(6, Some(Const::bv(32, 3)));
        let (known, none) = (&known, &Known::default());
        // Whether it is the same there does not matter then.
        assert_eq!(implied(&new, true, &old, [none, known], &|v| v == 5), Some(true));
        assert_eq!(implied(&new, true, &old, [none, known], &|v| v == 6), None);
        // What the old version knows is nothing that the new one does.
        assert_eq!(implied(&new, true, &old, [known, none], &|_| true), None);
        assert_eq!(implied(&new, false, &old, [none, known], &|_| true), None);
    }

    #[test]
    fn nan_is_in_no_comparison_and_in_every_negation() {
        let below = |c: f32| op(Op::FLt, x(), Expr::Const(Const::f32(c)));
        let above = |c: f32| op(Op::FLt, Expr::Const(Const::f32(c)), x());
        assert_eq!(edge(&below(0.25), true, &below(0.5)), Some(true));
        assert_eq!(edge(&below(0.5), false, &below(0.25)), Some(false));
        assert_eq!(edge(&above(-0.25), true, &above(-0.5)), Some(true));
        // `!(x < 1)` holds of NaN, `0 < x` does not.
        assert_eq!(edge(&below(1.0), false, &above(0.0)), None);
        assert_eq!(edge(&below(-0.0), true, &below(0.0)), Some(true));
        let (less, at_most, greater) = (op(Op::FLt, x(), y()), op(Op::FLe, x(), y()), op(Op::FLt, y(), x()));
        assert_eq!(edge(&less, true, &at_most), Some(true));
        assert_eq!(edge(&at_most, false, &less), Some(false));
        assert_eq!(edge(&greater, true, &at_most), Some(false));
        assert_eq!(edge(&at_most, false, &greater), None);
        assert_eq!(edge(&op(Op::FEq, y(), x()), true, &at_most), Some(true));
    }

    /// A small generator of numbers, the same each time.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        /// An expression of 3 bits over two variables, or one of 5 bits over what they are extended to.
        fn sum(&mut self, width: u16, depth: u32) -> Expr {
            let leaf = |dice: &mut Dice| match (dice.below(3), width) {
                (0, _) => Expr::bv(width, dice.below(8) as i128 - 4),
                (_, 3) => var(2 + dice.below(2) as u32),
                (1, _) => Expr::op(Op::Zext(width), vec![dice.sum(3, depth.saturating_sub(1))]),
                _ => Expr::op(Op::Sext(width), vec![var(2 + dice.below(2) as u32)]),
            };
            if depth == 0 {
                return leaf(self);
            }
            match self.below(6) {
                0 => op(Op::Add, self.sum(width, depth - 1), self.sum(width, depth - 1)),
                1 => op(Op::Sub, self.sum(width, depth - 1), self.sum(width, depth - 1)),
                2 => op(Op::Mul, Expr::bv(width, self.below(6) as i128 - 2), self.sum(width, depth - 1)),
                3 => Expr::op(Op::Neg, vec![self.sum(width, depth - 1)]),
                _ => leaf(self),
            }
        }

        fn condition(&mut self, width: u16) -> Expr {
            let of = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq][self.below(5) as usize];
            let cond = op(of, self.sum(width, 2), self.sum(width, 2));
            if self.below(4) == 0 { Expr::op(Op::Not, vec![cond]) } else { cond }
        }
    }

    /// Whatever is said to be implied, with and without known constants, is so for all values.
    #[test]
    fn what_is_implied_holds_of_all_values() {
        let mut dice = Dice(7);
        let mut said = 0;
        let rounds = crate::testing::tier::rounds("INVDIFF_IMPLIED", 12_000, 60_000);
        for round in 0..rounds {
            let width = if dice.below(2) == 0 { 3 } else { 5 };
            let mut texts = Texts::default();
            let (a, b) = (dice.condition(width), dice.condition(width));
            let (new, old) = (texts.atom(&a), texts.atom(&b));
            let fixed: Vec<Option<Const>> =
                (0..4).map(|_| (dice.below(4) == 0).then(|| Const::bv(3, dice.below(8) as i128))).collect();
            let facts = |at: usize| {
                let mut known = Known::default();
                (0..2).for_each(|v| known.set(v + 2, fixed[v as usize + at]));
                known
            };
            let (mut was, mut is) = (facts(0), facts(2));
            [&mut was, &mut is].into_iter().filter(|_| dice.below(4) == 0).for_each(|k| k.equate(2, 3));
            let equal = [dice.below(4) > 0, dice.below(4) > 0];
            for label in [true, false] {
                let Some(edge) = implied(&new, label, &old, [&was, &is], &|v| equal[v as usize - 2]) else {
                    continue;
                };
                said += 1;
                for values in 0..64u32 * 64 {
                    let value =
                        |v: VarId, side: u32| Const::bv(3, (values >> (6 * side + 3 * (v.0 - 2)) & 7).into());
                    let (before, after) = (|v: VarId| Some(value(v, 0)), |v: VarId| Some(value(v, 1)));
                    let agrees = |v: u32| {
                        let kept = !equal[v as usize - 2] || value(VarId(v), 0) == value(VarId(v), 1);
                        let known = |of: &Known, side| {
                            of.get(v).is_none_or(|c| c == value(VarId(v), side))
                                && (!of.are_equal(2, 3) || value(VarId(2), side) == value(VarId(3), side))
                        };
                        kept && known(&was, 0) && known(&is, 1)
                    };
                    if !agrees(2) || !agrees(3) {
                        continue;
                    }
                    let holds = |e: &Expr, value: &dyn Fn(VarId) -> Option<Const>| {
                        crate::difference::body::fold(e, &|v| value(v)) == Some(Const::TRUE)
                    };
                    if holds(&a, &after) == label {
                        assert_eq!(holds(&b, &before), edge, "{round}: {a:?} {label}, {b:?}");
                    }
                }
            }
        }
        assert!(said * 120 > rounds, "{said}");
    }
}
