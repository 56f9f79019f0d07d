//! Conditions of branches: which are the same, and which imply which.
//!
//! A condition is read as a set of values of one expression where it compares that with a constant;
//! one condition implies another of the same expression when its set lies within the other's. Nothing
//! is asked of a solver.

use crate::ir::{Const, Expr, Op};

/// A condition without the negations around it.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// What holds on the true edge of the branch is the negation.
    pub negated: bool,
    /// Interned text of the condition.
    pub text: u32,
    /// Interned text of what is compared with a constant, and where the atom holds.
    pub values: Option<(u32, Values)>,
}

/// Values for which a comparison holds: ranges of an order-preserving image, and NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    kind: Kind,
    /// Disjoint, ascending, ends included.
    ranges: Vec<(i128, i128)>,
    nan: bool,
}

/// How bits are read as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed(u16),
    Unsigned(u16),
    Float,
}

impl Kind {
    fn limits(self) -> (i128, i128) {
        match self {
            Kind::Signed(w) => (-(1i128 << (w - 1)), (1i128 << (w - 1)) - 1),
            Kind::Unsigned(w) => (0, (1i128 << w) - 1),
            Kind::Float => (key(f64::NEG_INFINITY), key(f64::INFINITY)),
        }
    }
}

/// Image of a float that keeps the order; both zeros have one.
fn key(v: f64) -> i128 {
    let bits = v.abs().to_bits() as i128;
    if v.is_sign_negative() { -bits } else { bits }
}

impl Values {
    fn of(kind: Kind, low: i128, high: i128) -> Values {
        let ranges = if low <= high { vec![(low, high)] } else { Vec::new() };
        Values { kind, ranges, nan: false }
    }

    fn complement(&self) -> Values {
        let (low, high) = self.kind.limits();
        let mut ranges = Vec::new();
        let mut next = low;
        for &(from, to) in &self.ranges {
            if next < from {
                ranges.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= high {
            ranges.push((next, high));
        }
        Values { kind: self.kind, ranges, nan: self.kind == Kind::Float && !self.nan }
    }

    fn is_within(&self, other: &Values) -> bool {
        let inside = |&(from, to): &(i128, i128)| other.ranges.iter().any(|&(a, b)| a <= from && to <= b);
        self.kind == other.kind && self.ranges.iter().all(inside) && (!self.nan || other.nan)
    }

    fn under(&self, holds: bool) -> Values {
        if holds { self.clone() } else { self.complement() }
    }
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

/// Returns what a comparison with a constant compares, and where it holds.
pub(super) fn comparison(cond: &Expr) -> Option<(&Expr, Values)> {
    let Expr::Op { op, args, .. } = cond else { return None };
    let (e, c, constant_first) = match args.as_slice() {
        [Expr::Const(c), e] => (e, *c, true),
        [e, Expr::Const(c)] => (e, *c, false),
        _ => return None,
    };
    if matches!(e, Expr::Const(_)) {
        return None;
    }
    let kind = match (op, c) {
        (Op::Slt | Op::Sle | Op::Eq, Const::Bv { width, .. }) if width <= 64 => Kind::Signed(width),
        (Op::Ult | Op::Ule, Const::Bv { width, .. }) if width <= 64 => Kind::Unsigned(width),
        (Op::FLt | Op::FLe | Op::FEq, Const::F32(_) | Const::F64(_)) if !c.is_nan() => Kind::Float,
        _ => return None,
    };
    let at = match kind {
        Kind::Signed(_) => c.signed()?,
        Kind::Unsigned(_) => i128::try_from(c.unsigned()?).ok()?,
        Kind::Float => key(c.float()?),
    };
    let (low, high) = kind.limits();
    let values = match (op, constant_first) {
        (Op::Eq | Op::FEq, _) => Values::of(kind, at, at),
        (Op::Slt | Op::Ult | Op::FLt, true) => Values::of(kind, at + 1, high),
        (Op::Slt | Op::Ult | Op::FLt, false) => Values::of(kind, low, at - 1),
        (_, true) => Values::of(kind, at, high),
        (_, false) => Values::of(kind, low, at),
    };
    Some((e, values))
}

/// Returns on which edge of the old branch an execution goes that goes on this edge of the new one
/// from equal values; `None`: on either.
pub(super) fn implied(new: &Atom, label: bool, old: &Atom) -> Option<bool> {
    let new_core = label != new.negated;
    if new.text == old.text {
        return Some(new_core != old.negated);
    }
    let ((e, new_values), (d, old_values)) = (new.values.as_ref()?, old.values.as_ref()?);
    if e != d {
        return None;
    }
    let here = new_values.under(new_core);
    [true, false].into_iter().find(|edge| here.is_within(&old_values.under(*edge != old.negated)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VarId;

    fn atom(op: Op, args: [Expr; 2]) -> Atom {
        let cond = Expr::op(op, args.to_vec());
        let (c, negated) = core(&cond);
        let text = format!("{c:?}").bytes().fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        Atom { negated, text, values: comparison(c).map(|(_, v)| (0, v)) }
    }

    fn x() -> Expr {
        Expr::Var(VarId(0))
    }

    /// `x < a` and `x < b`.
    #[track_caller]
    fn check(new: i128, label: bool, old: i128, expected: Option<bool>) {
        let less = |c: i128| atom(Op::Slt, [x(), Expr::bv(32, c)]);
        assert_eq!(implied(&less(new), label, &less(old)), expected);
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
        let equal = atom(Op::Eq, [x(), Expr::bv(32, 7)]);
        let less = atom(Op::Slt, [x(), Expr::bv(32, 5)]);
        assert_eq!(implied(&equal, true, &less), Some(false));
        assert_eq!(implied(&less, true, &equal), Some(false));
        assert_eq!(implied(&equal, false, &less), None);
        // Another reading of the bits: nothing is said.
        let unsigned = atom(Op::Ult, [x(), Expr::bv(32, 9)]);
        assert_eq!(implied(&equal, true, &unsigned), None);
    }

    #[test]
    fn nan_is_in_no_comparison_and_in_every_negation() {
        let below = |c: f32| atom(Op::FLt, [x(), Expr::Const(Const::f32(c))]);
        let above = |c: f32| atom(Op::FLt, [Expr::Const(Const::f32(c)), x()]);
        assert_eq!(implied(&below(0.25), true, &below(0.5)), Some(true));
        assert_eq!(implied(&below(0.5), false, &below(0.25)), Some(false));
        assert_eq!(implied(&above(-0.25), true, &above(-0.5)), Some(true));
        // `!(x < 1)` holds of NaN, `0 < x` does not.
        assert_eq!(implied(&below(1.0), false, &above(0.0)), None);
        assert_eq!(implied(&below(-0.0), true, &below(0.0)), Some(true));
    }
}
