//! Conversions between floats, and between floats and integers.

use super::super::{Const, Op, Sort, TermId, TermPool};
use super::float::value;
use super::{applied, over_ite, unary, width};
use crate::Rounding;

/// Normalises a conversion.
pub(super) fn rewrite(pool: &mut TermPool, op: Op, a: TermId) -> Option<TermId> {
    let done = match op {
        Op::FToF(s) if pool.sort(a) == s => Some(a),
        Op::FToF(s) => match applied(pool, a) {
            Some((inner, &[x]))
                if is_widening(pool, inner, x) && (s == Sort::F80 || pool.sort(a) == Sort::F80) =>
            {
                Some(pool.op(op, &[x]))
            }
            _ if s == Sort::F32 => narrow(pool, s, a),
            _ => from_integer(pool, s, a),
        },
        Op::SToF(s) | Op::UToF(s) => match (op, applied(pool, a)) {
            (Op::SToF(_), Some((Op::Sext(_), &[x]))) => Some(pool.op(op, &[x])),
            (_, Some((Op::Zext(_), &[x]))) => Some(pool.op(Op::UToF(s), &[x])),
            _ => None,
        },
        Op::FToS(_) | Op::FToU(_) => to_integer(pool, op, a),
        _ => None,
    };
    done.or_else(|| over_ite(pool, op, &[a]))
}

/// Returns whether a conversion of `x` keeps its value, whatever it is.
pub(super) fn is_widening(pool: &TermPool, op: Op, x: TermId) -> bool {
    match (op, pool.sort(x)) {
        (Op::FToF(to), from) => to.bits() > from.bits() && from.is_float(),
        _ => false,
    }
}

/// Returns the integer that `t` is the float of, when the conversion is exact for all its values,
/// and whether it is signed.
pub(super) fn exact_integer(pool: &TermPool, t: TermId) -> Option<(TermId, bool)> {
    let bits = match pool.sort(t) {
        Sort::F32 => 24,
        Sort::F64 => 53,
        _ => 64,
    };
    match applied(pool, t)? {
        (Op::SToF(_), &[x]) => (width(pool, x) <= bits + 1).then_some((x, true)),
        (Op::UToF(_), &[x]) => (width(pool, x) <= bits).then_some((x, false)),
        _ => None,
    }
}

/// Normalises a conversion to `double` or `long double`: what was an integer is rounded once.
fn from_integer(pool: &mut TermPool, s: Sort, a: TermId) -> Option<TermId> {
    if let Some(t) = signs_outside(pool, Op::FToF(s), a) {
        return Some(t);
    }
    let (x, signed) = exact_integer(pool, a)?;
    Some(pool.op(if signed { Op::SToF(s) } else { Op::UToF(s) }, &[x]))
}

/// Rounding is symmetric, so a conversion of `-x` is minus that of x.
fn signs_outside(pool: &mut TermPool, op: Op, a: TermId) -> Option<TermId> {
    let (sign @ (Op::FNeg | Op::FAbs), &[x]) = applied(pool, a)? else { return None };
    let inner = pool.op(op, &[x]);
    Some(pool.op(sign, &[inner]))
}

/// Normalises a conversion to float.
///
/// One operation on floats, computed in double and then rounded to float, has the value of the
/// operation in float (Figueroa, "When is double rounding innocuous?", 1995, for 53 >= 2 * 24 + 2).
/// Ranges do no harm: products of floats are exact in double (48 bits, exponents from -298 to 256).
/// Sums are exact where the float would be subnormal, all being multiples of 2^-149. Quotients are
/// normal doubles, and one that is not halfway between two floats, subnormal ones included, is at
/// least 2^-49 of its size away from there: `a / b - m` is a multiple of the last unit of `a - m b`,
/// whose factors have 24 and 25 bits. Square roots of floats are normal floats. Overflow is decided
/// by the rounded value with unbounded exponent both ways. The remainder, roundings to integers,
/// minima and copied signs are exact.
fn narrow(pool: &mut TermPool, s: Sort, a: TermId) -> Option<TermId> {
    if let Some(t) = signs_outside(pool, Op::FToF(s), a) {
        return Some(t);
    }
    if let Some(x) = narrowed(pool, a) {
        return Some(x);
    }
    if let Some((x, signed)) = exact_integer(pool, a) {
        return Some(pool.op(if signed { Op::SToF(s) } else { Op::UToF(s) }, &[x]));
    }
    if pool.sort(a) != Sort::F64 {
        return None;
    }
    let (op, args) = applied(pool, a)?;
    let args = args.to_vec();
    match (op, &args[..]) {
        (Op::FAdd | Op::FMul | Op::FDiv | Op::FSqrt, _) => {
            let args: Vec<TermId> = args.iter().map(|&x| narrowed(pool, x)).collect::<Option<_>>()?;
            Some(pool.op(op, &args))
        }
        (Op::Ite, &[c, x, y]) => {
            let (x, y) = (narrowed(pool, x)?, narrowed(pool, y)?);
            Some(pool.ite(c, x, y))
        }
        _ => None,
    }
}

/// Returns the float whose widening `t` is.
fn narrowed(pool: &mut TermPool, t: TermId) -> Option<TermId> {
    if let Some(v) = value(pool, t) {
        let k = Const::f32(v as f32);
        return (k.float().map(f64::to_bits) == Some(v.to_bits()) || v.is_nan()).then(|| pool.constant(k));
    }
    match applied(pool, t)? {
        (Op::FToF(Sort::F64), &[x]) if pool.sort(x) == Sort::F32 => Some(x),
        (sign @ (Op::FNeg | Op::FAbs), &[x]) => {
            let x = narrowed(pool, x)?;
            Some(pool.op(sign, &[x]))
        }
        (op @ (Op::SToF(_) | Op::UToF(_)), &[x]) => {
            let signed = matches!(op, Op::SToF(_));
            let fits = width(pool, x) <= if signed { 25 } else { 24 };
            let to = if signed { Op::SToF(Sort::F32) } else { Op::UToF(Sort::F32) };
            fits.then(|| pool.op(to, &[x]))
        }
        _ => None,
    }
}

/// An operator whose result is exact is done on floats rather than on their widenings.
pub(super) fn hoist_widening(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    // Not for integers, which are their own best form.
    let widened = |&a: &TermId| matches!(applied(pool, a), Some((Op::FToF(Sort::F64), _)));
    if !args.iter().any(widened) {
        return None;
    }
    let args: Vec<TermId> = args.iter().map(|&a| narrowed(pool, a)).collect::<Option<_>>()?;
    let narrow = pool.op(op, &args);
    Some(pool.op(Op::FToF(Sort::F64), &[narrow]))
}

fn to_integer(pool: &mut TermPool, op: Op, a: TermId) -> Option<TermId> {
    if let Some((inner, &[x])) = applied(pool, a)
        && (inner == Op::FRound(Rounding::Trunc) || is_widening(pool, inner, x))
    {
        return Some(pool.op(op, &[x]));
    }
    let (x, from_signed) = exact_integer(pool, a)?;
    let n = width(pool, x);
    match (op, from_signed) {
        (Op::FToS(w), true) if n <= w => Some(pool.op(Op::Sext(w), &[x])),
        (Op::FToS(w), false) if n < w => Some(pool.op(Op::Zext(w), &[x])),
        (Op::FToU(w), false) if n <= w => Some(pool.op(Op::Zext(w), &[x])),
        _ => None,
    }
}

/// Returns the float under an exact widening.
pub(super) fn widened(pool: &TermPool, t: TermId) -> Option<TermId> {
    unary(pool, t, Op::FToF(pool.sort(t))).filter(|&x| is_widening(pool, Op::FToF(pool.sort(t)), x))
}
