//! Float arithmetic: identities of IEEE values, with NaN, infinities and the signs of zeros right.
//!
//! Rounding to nearest is symmetric, so signs move out of products, quotients and conversions.
//! They do not move out of sums: `a - a` is `+0.0` whichever way it is written.

use super::super::{Const, Op, Sort, TermId, TermPool};
use super::{applied, over_ite, pair, unary};
use crate::{Extended, Rounding};

/// Depth to which signs are taken off below an absolute value.
const MAGNITUDE_DEPTH: usize = 12;

/// Normalises an operator whose arguments or result are floats.
pub(super) fn rewrite(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    use Op::*;
    if let Some(nan) = nan_argument(pool, op, args) {
        return Some(nan);
    }
    let done = match (op, args) {
        (FAdd, &[a, b]) => add(pool, a, b),
        (FSub, &[a, b]) => {
            let minus_b = pool.op(FNeg, &[b]);
            Some(pool.op(FAdd, &[a, minus_b]))
        }
        (FMul | FDiv, &[a, b]) => product(pool, op, a, b),
        (FRem, &[a, b]) => remainder(pool, a, b),
        (FNeg, &[a]) => unary(pool, a, FNeg),
        (FAbs, &[a]) => absolute(pool, a),
        (FRound(r), &[a]) => round(pool, r, a),
        (FMin | FMax, &[a, b]) => extreme(pool, op, a, b),
        (FCopysign, &[a, s]) => copysign(pool, a, s),
        (BitsToF(s), &[a]) => unary(pool, a, FToBits).filter(|&f| pool.sort(f) == s),
        _ => None,
    };
    done.or_else(|| over_ite(pool, op, args))
}

/// Arithmetic on NaN is NaN; `FMin` and `FMax` take the other argument.
fn nan_argument(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    use Op::{FAdd, FDiv, FMax, FMin, FMul, FRem, FSub};
    let i = args.iter().position(|&a| pool.as_const(a).is_some_and(Const::is_nan))?;
    match op {
        FAdd | FSub | FMul | FDiv | FRem => Some(args[i]),
        FMin | FMax => args.get(1 - i).copied(),
        _ => None,
    }
}

/// Makes the constant of a float sort.
pub(super) fn constant(pool: &mut TermPool, sort: Sort, v: f64) -> TermId {
    pool.constant(Const::of_f64(sort, v).unwrap_or(Const::f64(v)))
}

/// Returns the value of a constant of a float sort; of `long double`, one that `double` has, too.
pub(super) fn value(pool: &TermPool, t: TermId) -> Option<f64> {
    match pool.as_const(t)? {
        Const::F80(x) => Some(x.to_f64()).filter(|&v| Extended::from_f64(v) == x),
        c => c.float(),
    }
}

pub(super) fn is_negative_constant(pool: &TermPool, t: TermId) -> bool {
    pool.as_const(t).is_some_and(Const::is_negative_float)
}

/// Takes a sign off: the term without it, and whether there was one.
fn unsigned(pool: &mut TermPool, t: TermId) -> (TermId, bool) {
    if let Some(x) = unary(pool, t, Op::FNeg) {
        return (x, true);
    }
    if is_negative_constant(pool, t) {
        return (pool.op(Op::FNeg, &[t]), true);
    }
    (t, false)
}

fn add(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    if a == b {
        // Both are exact but for overflow, where both are infinite.
        let two = constant(pool, pool.sort(a), 2.0);
        return Some(pool.op(Op::FMul, &[a, two]));
    }
    for (x, k) in [(a, b), (b, a)] {
        let Some(v) = value(pool, k) else { continue };
        // `x + -0.0` is x; `x + 0.0` turns -0.0 into 0.0.
        if v == 0.0 && (v.is_sign_negative() || never_negative_zero(pool, x)) {
            return Some(x);
        }
    }
    None
}

fn never_negative_zero(pool: &TermPool, t: TermId) -> bool {
    matches!(applied(pool, t), Some((Op::SToF(_) | Op::UToF(_) | Op::FAbs, _)))
}

/// Returns the inverse of a power of two whose inverse is one of the sort's floats.
fn exact_inverse(sort: Sort, v: f64) -> Option<f64> {
    let inverse = 1.0 / v;
    let power = v.is_finite() && v != 0.0 && v.to_bits() << 12 == 0 && inverse.is_finite();
    let fits = sort != Sort::F32 || (inverse as f32) as f64 == inverse;
    // A subnormal power of two has other bits than zeros in its fraction: it is not taken.
    (power && fits && inverse != 0.0).then_some(inverse)
}

/// Normalises a product or quotient: its sign in front, absolute values around all of it.
fn product(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let ((x, s), (y, t)) = (unsigned(pool, a), unsigned(pool, b));
    if s || t {
        let p = pool.op(op, &[x, y]);
        return Some(if s != t { pool.op(Op::FNeg, &[p]) } else { p });
    }
    let sort = pool.sort(a);
    if op == Op::FDiv {
        if let Some(inverse) = value(pool, b).and_then(|v| exact_inverse(sort, v)) {
            // Both are the correctly rounded value of the same real number.
            let k = constant(pool, sort, inverse);
            return Some(pool.op(Op::FMul, &[a, k]));
        }
    } else {
        for (x, k) in [(a, b), (b, a)] {
            match value(pool, k) {
                Some(1.0) => return Some(x),
                Some(v) => {
                    if let Some(t) = scaled_twice(pool, sort, x, v) {
                        return Some(t);
                    }
                }
                None => {}
            }
        }
    }
    if let (Some(x), Some(y)) = (magnitude_of(pool, a), magnitude_of(pool, b))
        && (x, y) != (a, b)
    {
        let p = pool.op(op, &[x, y]);
        return Some(pool.op(Op::FAbs, &[p]));
    }
    if op == Op::FMul { super::exact::product(pool, a, b) } else { None }
}

/// Scaling up twice by powers of two is scaling up once: exact, or infinite both ways. (Down it is
/// not: the first step may round a subnormal.)
fn scaled_twice(pool: &mut TermPool, sort: Sort, x: TermId, k: f64) -> Option<TermId> {
    let (y, j) = pair(pool, x, Op::FMul)?;
    let j = value(pool, j)?;
    let up = |v: f64| v >= 1.0 && exact_inverse(sort, v).is_some();
    let both = j * k;
    let fits = both.is_finite() && (sort != Sort::F32 || (both as f32).is_finite());
    if !(up(j) && up(k) && fits) {
        return None;
    }
    let k = constant(pool, sort, both);
    Some(pool.op(Op::FMul, &[y, k]))
}

/// Returns what `t` is the absolute value of; a constant without sign is its own.
fn magnitude_of(pool: &TermPool, t: TermId) -> Option<TermId> {
    unary(pool, t, Op::FAbs).or_else(|| value(pool, t).is_some_and(|v| v >= 0.0).then_some(t))
}

/// `fmod` has the sign of its first argument and does not look at that of the second.
fn remainder(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    let ((x, s), (y, t)) = (unsigned(pool, a), unsigned(pool, b));
    let y = unary(pool, y, Op::FAbs).unwrap_or(y);
    if s || t || y != b {
        let r = pool.op(Op::FRem, &[x, y]);
        return Some(if s { pool.op(Op::FNeg, &[r]) } else { r });
    }
    super::convert::hoist_widening(pool, Op::FRem, &[a, b])
}

fn absolute(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    if let Some(m) = unsigned_form(pool, a) {
        return Some(pool.op(Op::FAbs, &[m]));
    }
    match applied(pool, a) {
        Some((Op::UToF(_), _)) => Some(a),
        Some((Op::FMul, &[x, y])) if x == y => Some(a),
        _ => None,
    }
}

/// Returns a term with the same absolute value, the same for many terms that differ by signs: under
/// an absolute value even `a - b` is `b - a`.
///
/// `None` when that is `t` itself, or when it is not a fixed point of this function, so that a rule
/// that starts over with the result ends.
pub(super) fn unsigned_form(pool: &mut TermPool, t: TermId) -> Option<TermId> {
    let m = magnitude(pool, t, 0);
    (m != t && magnitude(pool, m, 0) == m).then_some(m)
}

fn magnitude(pool: &mut TermPool, t: TermId, depth: usize) -> TermId {
    if depth > MAGNITUDE_DEPTH {
        return t;
    }
    let Some((op, args)) = applied(pool, t) else {
        return if is_negative_constant(pool, t) { pool.op(Op::FNeg, &[t]) } else { t };
    };
    match (op, args) {
        (Op::FNeg | Op::FAbs, &[x]) | (Op::FCopysign, &[x, _]) => magnitude(pool, x, depth + 1),
        (Op::FMul | Op::FDiv | Op::FRem, &[x, y]) => {
            let (p, q) = (magnitude(pool, x, depth + 1), magnitude(pool, y, depth + 1));
            if (p, q) == (x, y) { t } else { pool.op(op, &[p, q]) }
        }
        (Op::FToF(_) | Op::FRound(Rounding::Trunc | Rounding::Away | Rounding::Even), &[x]) => {
            let m = magnitude(pool, x, depth + 1);
            if m == x { t } else { pool.op(op, &[m]) }
        }
        (Op::Ite, &[c, x, y]) => {
            let (p, q) = (magnitude(pool, x, depth + 1), magnitude(pool, y, depth + 1));
            if (p, q) == (x, y) { t } else { pool.ite(c, p, q) }
        }
        (Op::FAdd, &[x, y]) => {
            let ((p, s), (q, u)) = (unsigned(pool, x), unsigned(pool, y));
            // The summand with the smaller id, constants last, goes without a sign.
            let first_is_p = (pool.as_const(p).is_some(), p) < (pool.as_const(q).is_some(), q);
            let flip = if first_is_p { s } else { u };
            if !flip {
                return t;
            }
            let (p, q) =
                (if s { p } else { pool.op(Op::FNeg, &[p]) }, if u { q } else { pool.op(Op::FNeg, &[q]) });
            pool.op(Op::FAdd, &[p, q])
        }
        _ => t,
    }
}

fn round(pool: &mut TermPool, r: Rounding, a: TermId) -> Option<TermId> {
    if let Some(x) = unary(pool, a, Op::FNeg) {
        let opposite = match r {
            Rounding::Floor => Rounding::Ceil,
            Rounding::Ceil => Rounding::Floor,
            other => other,
        };
        let rounded = pool.op(Op::FRound(opposite), &[x]);
        return Some(pool.op(Op::FNeg, &[rounded]));
    }
    match applied(pool, a) {
        Some((Op::FRound(_) | Op::SToF(_) | Op::UToF(_), _)) => Some(a),
        _ => super::convert::hoist_widening(pool, Op::FRound(r), &[a]),
    }
}

/// They do not commute: which of two zeros is taken may depend on the order.
fn extreme(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    if a == b {
        return Some(a);
    }
    super::convert::hoist_widening(pool, op, &[a, b])
}

fn copysign(pool: &mut TermPool, a: TermId, s: TermId) -> Option<TermId> {
    if let Some(x) = unary(pool, a, Op::FNeg).or_else(|| unary(pool, a, Op::FAbs)) {
        return Some(pool.op(Op::FCopysign, &[x, s]));
    }
    let negative = match applied(pool, s) {
        Some((Op::FAbs | Op::UToF(_), _)) => false,
        _ => value(pool, s)?.is_sign_negative(),
    };
    let size = pool.op(Op::FAbs, &[a]);
    Some(if negative { pool.op(Op::FNeg, &[size]) } else { size })
}
