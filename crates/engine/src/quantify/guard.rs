//! When an operation is undefined, as a condition over inputs.

use super::inputs::Inputs;
use crate::ir::{Op, Sort, TermId, TermPool};

/// Division by zero, and what a word cannot hold after it.
pub(super) const DIVISION: &str = "a division by zero, or one that overflows";
/// A count of a shift that is negative or too large.
pub(super) const SHIFT: &str = "a shift by too much";
/// Signed overflow.
pub(super) const OVERFLOW: &str = "a signed overflow";

/// A float that is not a number of the type that it is converted to.
pub(super) const CONVERSION: &str = "a conversion of a float that does not fit";
/// An access out of an object.
pub(super) const OUT_OF_BOUNDS: &str = "an access out of bounds";
/// Code that `__builtin_unreachable()` says is none.
pub(super) const UNREACHABLE: &str = "code that must not be reached";

/// Whether a reason why a path ends is something that C leaves undefined.
pub fn is_undefined(reason: &str) -> bool {
    [DIVISION, SHIFT, OVERFLOW, CONVERSION, OUT_OF_BOUNDS, UNREACHABLE].contains(&reason)
}

/// What may be wrong with an operation.
pub(super) enum Guard {
    Fine,
    /// It is undefined where this holds.
    Unless(TermId, &'static str),
    /// When is not followed.
    NotFollowed(&'static str),
}

/// When an operator that yields `result` of `args` is undefined.
pub(super) fn partial(pool: &mut TermPool, inputs: &mut dyn Inputs, op: Op, args: &[TermId]) -> Guard {
    use Op::{AShr, FToS, FToU, LShr, SDiv, SRem, Shl, UDiv, URem};
    if let (FToS(width) | FToU(width), &[x]) = (op, args) {
        return conversion(pool, x, width, matches!(op, FToS(_)));
    }
    let (&[a, b], UDiv | SDiv | URem | SRem | Shl | LShr | AShr) = (args, op) else { return Guard::Fine };
    let Sort::Bv(width) = pool.sort(b) else {
        return Guard::NotFollowed("an operation that is not followed");
    };
    let known = inputs.bounds(pool, b);
    if matches!(op, Shl | LShr | AShr) {
        if known.is_some_and(|(low, high)| low >= 0 && high < i128::from(width)) {
            return Guard::Fine;
        }
        let limit = pool.bv(width, i128::from(width));
        return Guard::Unless(pool.op(Op::Ule, &[limit, b]), SHIFT);
    }
    let not_zero = known.is_some_and(|(low, high)| low > 0 || high < 0);
    let not_minus = known.is_some_and(|(low, high)| low > -1 || high < -1);
    if not_zero && (not_minus || matches!(op, UDiv | URem)) {
        return Guard::Fine;
    }
    let zero = pool.bv(width, 0);
    let by_zero = pool.eq(b, zero);
    if matches!(op, UDiv | URem) {
        return Guard::Unless(by_zero, DIVISION);
    }
    let (least, minus) = (pool.bv(width, 1i128 << (width - 1).min(126)), pool.bv(width, -1));
    let (x, y) = (pool.eq(a, least), pool.eq(b, minus));
    let overflow = pool.and(x, y);
    Guard::Unless(pool.or(by_zero, overflow), DIVISION)
}

/// When a float has no number in a word once its fraction is cut off; a NaN has none.
fn conversion(pool: &mut TermPool, x: TermId, width: u16, is_signed: bool) -> Guard {
    let sort = pool.sort(x);
    let precision = match sort {
        Sort::F32 => 24,
        Sort::F64 => 53,
        _ => return Guard::NotFollowed("a conversion from a long double"),
    };
    let mut number = |n: i128| {
        let n = pool.bv(128, n);
        pool.op(Op::SToF(sort), &[n])
    };
    let bits = if is_signed { width - 1 } else { width };
    let (above, least) =
        (number(1 << bits.min(126)), if is_signed { -(1 << (width - 1).min(126)) } else { 0 });
    // What is just not below the least number by a whole one; some formats have nothing between.
    let is_below = match is_signed && width > precision {
        true => {
            let least = number(least);
            pool.op(Op::FLe, &[least, x])
        }
        false => {
            let below = number(least - 1);
            pool.op(Op::FLt, &[below, x])
        }
    };
    let is_above = pool.op(Op::FLt, &[x, above]);
    let fits = pool.and(is_below, is_above);
    match pool.as_const(fits).and_then(|c| c.as_bool()) {
        Some(true) => Guard::Fine,
        _ => Guard::Unless(pool.not(fits), CONVERSION),
    }
}

/// When an operation on signed numbers leaves its word.
pub(super) fn overflow(pool: &mut TermPool, inputs: &mut dyn Inputs, op: Op, args: &[TermId]) -> Guard {
    let Some(Sort::Bv(width)) = args.first().map(|a| pool.sort(*a)) else { return Guard::Fine };
    let wider = match op {
        Op::Add | Op::Sub | Op::Neg => width + 8,
        Op::Mul | Op::Shl => width * 2,
        _ => return Guard::Fine,
    };
    if wider > 128 {
        return Guard::NotFollowed("arithmetic on very wide words");
    }
    let half = 1i128 << (width - 1);
    if exact(pool, inputs, op, args).is_some_and(|(low, high)| low >= -half && high < half) {
        return Guard::Fine;
    }
    let wide: Vec<TermId> = args.iter().map(|a| pool.op(Op::Sext(wider), &[*a])).collect();
    let result = pool.op(op, &wide);
    let (least, most) = (pool.bv(wider, -half), pool.bv(wider, half - 1));
    let (below, above) = (pool.op(Op::Slt, &[result, least]), pool.op(Op::Slt, &[most, result]));
    Guard::Unless(pool.or(below, above), OVERFLOW)
}

/// Bounds of the result as an integer.
fn exact(pool: &TermPool, inputs: &mut dyn Inputs, op: Op, args: &[TermId]) -> Option<(i128, i128)> {
    let mut bounds = |t: &TermId| inputs.bounds(pool, *t);
    match (op, args) {
        (Op::Neg, [a]) => bounds(a).map(|(low, high)| (-high, -low)),
        (Op::Add, [a, b]) => {
            let (a, b) = (bounds(a)?, bounds(b)?);
            Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
        }
        (Op::Sub, [a, b]) => {
            let (a, b) = (bounds(a)?, bounds(b)?);
            Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))
        }
        (Op::Mul, [a, b]) => {
            let (a, b) = (bounds(a)?, bounds(b)?);
            let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
            let all: Vec<i128> = ends.iter().map(|(x, y)| x.checked_mul(*y)).collect::<Option<_>>()?;
            Some((*all.iter().min()?, *all.iter().max()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval::{Assignment, evaluate};
    use crate::ir::{Const, Leaf, UndefinedKind};

    /// Nothing is known of inputs.
    struct Anything;

    impl Inputs for Anything {
        fn bounds(&mut self, _: &TermPool, _: TermId) -> Option<(i128, i128)> {
            None
        }

        fn may_meet(&mut self, _: &mut TermPool, _: &[TermId], _: TermId) -> bool {
            true
        }

        fn is_spent(&self) -> bool {
            false
        }
    }

    #[test]
    fn conversions_are_undefined_where_they_have_no_value() {
        let near =
            |x: f64| [x - 1.0, x - 0.5, x, x + 0.5, x + 1.0, f64::from_bits(x.to_bits().wrapping_sub(1))];
        let powers =
            [0.0, 127.0, 128.0, 256.0, 32768.0, 2f64.powi(31), 2f64.powi(32), 2f64.powi(63), 2f64.powi(64)];
        let signed = powers.into_iter().flat_map(|p| near(p).into_iter().chain(near(-p)));
        let all: Vec<f64> = signed.chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300]).collect();
        for sort in [Sort::F32, Sort::F64] {
            for op in [8, 16, 32, 64].into_iter().flat_map(|width| [Op::FToS(width), Op::FToU(width)]) {
                let mut pool = TermPool::new();
                let x = pool.leaf(Leaf::Param { name: "x".into(), sort });
                let Guard::Unless(bad, CONVERSION) = partial(&mut pool, &mut Anything, op, &[x]) else {
                    panic!("{op:?} may be undefined")
                };
                for value in &all {
                    let c = if sort == Sort::F32 { Const::f32(*value as f32) } else { Const::f64(*value) };
                    let mut input = Assignment::new();
                    input.set(x, c);
                    let is_bad = op.eval(&[c]) == Err(UndefinedKind::FloatToInt);
                    let found = evaluate(&pool, &[bad], &input);
                    let said = matches!(&found[0], Ok(crate::ir::eval::Value::Const(Const::Bool(true))));
                    assert_eq!(said, is_bad, "{op:?} of {value} as {sort:?}");
                }
            }
        }
    }
}
