//! Comparisons and predicates of floats.

use super::super::{Const, Op, Sort, TermId, TermPool};
use super::convert::{exact_integer, is_widening, widened};
use super::float::{constant, unsigned_form, value};
use super::{applied, over_ite, unary, width};

/// Normalises `FEq`, `FLt`, `FLe`, `FIsNan`, `FIsInf`, `FSignbit`.
pub(super) fn rewrite(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    let done = match (op, args) {
        (Op::FEq | Op::FLt | Op::FLe, &[a, b]) => compare(pool, op, a, b),
        (Op::FIsNan, &[a]) => is_nan(pool, a),
        (Op::FIsInf, &[a]) => is_infinite(pool, a),
        (Op::FSignbit, &[a]) => sign(pool, a),
        _ => None,
    };
    done.or_else(|| over_ite(pool, op, args))
}

fn compare(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    if a == b {
        if op == Op::FLt {
            return Some(pool.bool(false));
        }
        let nan = pool.op(Op::FIsNan, &[a]);
        return Some(pool.not(nan));
    }
    let sort = pool.sort(a);
    for t in [a, b] {
        match value(pool, t) {
            Some(v) if v.is_nan() => return Some(pool.bool(false)),
            // Comparisons do not see the sign of zero.
            Some(v) if v == 0.0 && v.is_sign_negative() => {
                let zero = constant(pool, sort, 0.0);
                let swap = |x| if x == t { zero } else { x };
                return Some(pool.op(op, &[swap(a), swap(b)]));
            }
            _ => {}
        }
    }
    if let Some(t) = signs(pool, op, a, b).or_else(|| integers(pool, op, a, b)) {
        return Some(t);
    }
    let wide = (widened(pool, a), widened(pool, b), value(pool, a), value(pool, b));
    match wide {
        (Some(x), Some(y), ..) if pool.sort(x) == pool.sort(y) => Some(pool.op(op, &[x, y])),
        (Some(x), _, _, Some(k)) if pool.sort(x) == Sort::F32 => narrow_bound(pool, op, x, k, true),
        (_, Some(y), Some(k), _) if pool.sort(y) == Sort::F32 => narrow_bound(pool, op, y, k, false),
        _ => None,
    }
}

/// Takes signs off: `-x < -y` is `y < x`, `-x < 1` is `-1 < x`, `|x| == 0` is `x == 0`.
fn signs(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let minus = |pool: &mut TermPool, t| match unary(pool, t, Op::FNeg) {
        Some(x) => Some(x),
        None => pool.as_const(t).is_some().then(|| pool.op(Op::FNeg, &[t])),
    };
    let negated = unary(pool, a, Op::FNeg).is_some() || unary(pool, b, Op::FNeg).is_some();
    if negated && let (Some(x), Some(y)) = (minus(pool, a), minus(pool, b)) {
        return Some(pool.op(op, &[y, x]));
    }
    let zero = |t| value(pool, t) == Some(0.0);
    let (x, zero_right) = match (zero(a), zero(b)) {
        (false, true) => (a, true),
        (true, false) => (b, false),
        _ => return None,
    };
    if op == Op::FEq {
        let m = unsigned_form(pool, x)?;
        let zero = constant(pool, pool.sort(x), 0.0);
        return Some(pool.op(Op::FEq, &[m, zero]));
    }
    let inner = unary(pool, x, Op::FAbs)?;
    Some(match (op, zero_right) {
        (Op::FLt, true) => pool.bool(false),
        (Op::FLe, true) => {
            let zero = constant(pool, pool.sort(x), 0.0);
            pool.op(Op::FEq, &[inner, zero])
        }
        (Op::FLe, false) => {
            let nan = pool.op(Op::FIsNan, &[inner]);
            pool.not(nan)
        }
        _ => return None,
    })
}

/// Compares integers that were converted without rounding as integers.
fn integers(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    match (exact_integer(pool, a), exact_integer(pool, b)) {
        (Some((x, s)), Some((y, t))) => {
            // One bit more holds both kinds; equal kinds of equal widths need none.
            let w = width(pool, x).max(width(pool, y)) + u16::from(s != t);
            let mut extend = |t, signed| pool.op(if signed { Op::Sext(w) } else { Op::Zext(w) }, &[t]);
            let (x, y) = (extend(x, s), extend(y, t));
            let op = integer_order(op, s || t);
            Some(pool.op(op, &[x, y]))
        }
        (Some((x, s)), None) => integer_bound(pool, op, x, s, value(pool, b)?, true),
        (None, Some((y, s))) => integer_bound(pool, op, y, s, value(pool, a)?, false),
        _ => None,
    }
}

fn integer_order(op: Op, signed: bool) -> Op {
    match (op, signed) {
        (Op::FLt, true) => Op::Slt,
        (Op::FLt, false) => Op::Ult,
        (Op::FLe, true) => Op::Sle,
        (Op::FLe, false) => Op::Ule,
        _ => Op::Eq,
    }
}

/// Compares a converted integer with a constant; `left` says that the integer is on the left.
fn integer_bound(pool: &mut TermPool, op: Op, x: TermId, signed: bool, k: f64, left: bool) -> Option<TermId> {
    let w = width(pool, x);
    // The bounds below are exact in `double`.
    if w > 53 {
        return None;
    }
    let (min, max) = if signed {
        (-(2f64.powi(i32::from(w) - 1)), 2f64.powi(i32::from(w) - 1) - 1.0)
    } else {
        (0.0, 2f64.powi(i32::from(w)) - 1.0)
    };
    if op == Op::FEq && (k.trunc() != k || k < min || k > max) {
        return Some(pool.bool(false));
    }
    // x < k, x <= k: the largest such integer is a bound; k < x, k <= x: the smallest.
    let bound = match (op, left) {
        (Op::FEq, _) => k,
        (Op::FLt, true) => k.ceil() - 1.0,
        (Op::FLt, false) => k.floor() + 1.0,
        (_, true) => k.floor(),
        (_, false) => k.ceil(),
    };
    if op != Op::FEq {
        let (all, none) = if left { (bound >= max, bound < min) } else { (bound <= min, bound > max) };
        if all || none {
            return Some(pool.bool(all));
        }
    }
    let bound = pool.bv(w, bound as i128);
    let op = integer_order(if op == Op::FEq { op } else { Op::FLe }, signed);
    Some(if left { pool.op(op, &[x, bound]) } else { pool.op(op, &[bound, x]) })
}

/// Compares a widened float with a double: with the float itself when it is one, otherwise with the
/// next float on the side that decides.
fn narrow_bound(pool: &mut TermPool, op: Op, x: TermId, k: f64, left: bool) -> Option<TermId> {
    let near = k as f32;
    let (bound, op) = if f64::from(near) == k {
        (near, op)
    } else if op == Op::FEq {
        return Some(pool.bool(false));
    } else {
        // Between two floats, `<` and `<=` are the same.
        let bound = match (left, f64::from(near) > k) {
            (true, true) => near.next_down(),
            (false, false) => near.next_up(),
            _ => near,
        };
        (bound, Op::FLe)
    };
    let k = pool.constant(Const::f32(bound));
    Some(if left { pool.op(op, &[x, k]) } else { pool.op(op, &[k, x]) })
}

fn is_nan(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    if let Some(m) = unsigned_form(pool, a) {
        return Some(pool.op(Op::FIsNan, &[m]));
    }
    match applied(pool, a)? {
        (Op::SToF(_) | Op::UToF(_), _) => Some(pool.bool(false)),
        (Op::FToF(_) | Op::FRound(_), &[x]) => Some(pool.op(Op::FIsNan, &[x])),
        (Op::FMul, &[x, y]) if value(pool, y).is_some_and(|v| v.is_finite() && v != 0.0) => {
            Some(pool.op(Op::FIsNan, &[x]))
        }
        _ => None,
    }
}

fn is_infinite(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    if let Some(m) = unsigned_form(pool, a) {
        return Some(pool.op(Op::FIsInf, &[m]));
    }
    match applied(pool, a)? {
        (Op::SToF(_), _) => Some(pool.bool(false)),
        (Op::UToF(_), &[x]) if width(pool, x) < 128 => Some(pool.bool(false)),
        (Op::FRound(_), &[x]) => Some(pool.op(Op::FIsInf, &[x])),
        (widening, &[x]) if is_widening(pool, widening, x) => Some(pool.op(Op::FIsInf, &[x])),
        _ => None,
    }
}

fn sign(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    match applied(pool, a)? {
        (Op::FAbs | Op::UToF(_), _) => Some(pool.bool(false)),
        (Op::SToF(_), &[x]) => {
            let zero = pool.bv(width(pool, x), 0);
            Some(pool.op(Op::Slt, &[x, zero]))
        }
        // Underflow keeps the sign.
        (Op::FToF(_), &[x]) => Some(pool.op(Op::FSignbit, &[x])),
        (Op::FNeg, &[x]) => {
            let negative = pool.op(Op::FSignbit, &[x]);
            Some(pool.not(negative))
        }
        _ => None,
    }
}
