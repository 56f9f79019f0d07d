//! Equality and order.

use super::super::{App, Const, Leaf, Op, Sort, Term, TermId, TermPool};
use super::convert::{exact_integer, is_widening};
use super::linear::Linear;
use super::{applied, unary, width};

pub(super) fn eq(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    if a == b {
        return Some(pool.bool(true));
    }
    match pool.sort(a) {
        Sort::Bool => eq_bool(pool, a, b),
        Sort::Bv(_) => Some(eq_bv(pool, a, b)),
        Sort::F32 | Sort::F64 | Sort::F80 => eq_float(pool, a, b),
        Sort::Out => eq_output(pool, a, b),
        _ => None,
    }
}

fn eq_bool(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    for (x, y) in [(a, b), (b, a)] {
        if let Some(v) = pool.as_const(x).and_then(Const::as_bool) {
            return Some(if v { y } else { pool.not(y) });
        }
        if let Some(inner) = unary(pool, x, Op::Not) {
            let e = pool.eq(inner, y);
            return Some(pool.not(e));
        }
    }
    (pool.not(a) == b).then(|| pool.bool(false))
}

/// Moves everything to one side, then puts terms with negative coefficients to the right, so that
/// `x - y == 0`, `y == x` and `x + 1 == y + 1` are one term.
fn eq_bv(pool: &mut TermPool, a: TermId, b: TermId) -> TermId {
    let mut diff = Linear::of(pool, a).plus(&Linear::of(pool, b), u128::MAX);
    let w = diff.width;
    if diff.leads_negative() {
        diff = diff.scaled(u128::MAX);
    }
    let mut terms = diff.terms.iter();
    let Some((&t, &c)) = terms.next() else { return pool.bool(diff.constant == 0) };
    let minus_k = diff.constant.wrapping_neg() & Const::mask(w);
    if terms.next().is_none() {
        // No object lies at the null pointer.
        if c == 1
            && minus_k == 0
            && matches!(pool.get(t), Term::Leaf(Leaf::LocalAddr { .. } | Leaf::SymbolAddr { .. }))
        {
            return pool.bool(false);
        }
        // c * t == -k, where c = odd * 2^j: multiply by the inverse of the odd part.
        let j = c.trailing_zeros() as u16;
        let k = minus_k.wrapping_mul(inverse(c >> j)) & Const::mask(w);
        if k & Const::mask(j) != 0 {
            return pool.bool(false);
        }
        let low = if j == 0 { t } else { pool.op(Op::Trunc(w - j), &[t]) };
        let k = Const::Bv { width: w - j, bits: k >> j };
        return eq_const(pool, low, k);
    }
    let half = 1u128 << (w - 1);
    let mut left = Linear { width: w, terms: Default::default(), constant: 0 };
    let mut right = Linear { width: w, terms: Default::default(), constant: minus_k };
    for (&t, &c) in &diff.terms {
        if c <= half {
            left.terms.insert(t, c);
        } else {
            right.terms.insert(t, c.wrapping_neg() & Const::mask(w));
        }
    }
    let (l, r) = (left.build(pool), right.build(pool));
    if let Some((op @ (Op::Zext(_) | Op::Sext(_)), &[x])) = applied(pool, l)
        && let Some(y) = unary(pool, r, op)
        && pool.sort(x) == pool.sort(y)
    {
        return pool.eq(x, y);
    }
    if let Some(k) = pool.as_const(r) {
        return eq_const(pool, l, k);
    }
    pool.raw(App::Op(Op::Eq), vec![l, r])
}

/// Returns the inverse of an odd number modulo 2^128 (Newton's iteration doubles the right bits).
fn inverse(odd: u128) -> u128 {
    let mut x = odd;
    for _ in 0..7 {
        x = x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}

/// Makes `t == k` for a bit-vector that is not a sum of one term.
fn eq_const(pool: &mut TermPool, t: TermId, k: Const) -> TermId {
    let bits = k.to_bits();
    if let Some(v) = pool.as_const(t) {
        return pool.bool(v == k);
    }
    match applied(pool, t) {
        Some((Op::Zext(_) | Op::Sext(_), &[x])) => {
            let Sort::Bv(inner) = pool.sort(x) else { return plain_const(pool, t, k) };
            let narrow = Const::Bv { width: inner, bits: bits & Const::mask(inner) };
            let op = applied(pool, t).map_or(Op::Zext(0), |(op, _)| op);
            if op.eval(&[narrow]) != Ok(k) {
                return pool.bool(false);
            }
            eq_with(pool, x, narrow)
        }
        Some((Op::BitNot, &[x])) => eq_with(pool, x, Const::bv(width(pool, x), !bits as i128)),
        Some((Op::BitXor, &[x, y])) if pool.as_const(y).is_some() => {
            let mask = pool.as_const(y).map_or(0, Const::to_bits);
            eq_with(pool, x, Const::bv(width(pool, x), (bits ^ mask) as i128))
        }
        Some((Op::Concat, &[h, l])) => {
            let (wh, wl) = (width(pool, h), width(pool, l));
            let low = eq_with(pool, l, Const::bv(wl, bits as i128));
            let high = eq_with(pool, h, Const::bv(wh, (bits >> wl) as i128));
            pool.and(high, low)
        }
        Some((Op::Ite, &[c, x, y])) if pool.as_const(x).is_some() || pool.as_const(y).is_some() => {
            let (then, otherwise) = (eq_with(pool, x, k), eq_with(pool, y, k));
            pool.ite(c, then, otherwise)
        }
        Some((Op::FToBits, &[f])) => {
            // A float's bits are those of the canonical NaN, with either sign, or of a number.
            let value = Const::from_bits(pool.sort(f), bits).unwrap_or(k);
            if value.is_nan() {
                return plain_const(pool, t, k);
            }
            if value.to_bits() != bits {
                return pool.bool(false);
            }
            eq_with(pool, f, value)
        }
        _ => plain_const(pool, t, k),
    }
}

fn eq_with(pool: &mut TermPool, t: TermId, k: Const) -> TermId {
    let k = pool.constant(k);
    pool.eq(t, k)
}

fn plain_const(pool: &mut TermPool, t: TermId, k: Const) -> TermId {
    let k = pool.constant(k);
    pool.raw(App::Op(Op::Eq), vec![t, k])
}

/// Negation, widening and exact conversion map different values to different values.
fn eq_float(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    if pool.as_const(a).is_some() {
        return eq_float(pool, b, a);
    }
    let k = pool.as_const(b);
    if k.is_some_and(Const::is_nan) {
        return Some(pool.op(Op::FIsNan, &[a]));
    }
    if let (Some((x, true)), Some((y, true))) = (exact_integer(pool, a), exact_integer(pool, b))
        && pool.sort(x) == pool.sort(y)
    {
        return Some(pool.eq(x, y));
    }
    let (op, args) = applied(pool, a)?;
    let &[x] = args else { return None };
    if op != Op::FNeg && !is_widening(pool, op, x) && exact_integer(pool, a).is_none() {
        return None;
    }
    if let Some(y) = unary(pool, b, op).filter(|&y| pool.sort(y) == pool.sort(x)) {
        return Some(pool.eq(x, y));
    }
    let k = k?;
    let inverse = match (op, pool.sort(x)) {
        (Op::FNeg, _) => Op::FNeg,
        (Op::FToF(_), s) => Op::FToF(s),
        (Op::SToF(_), Sort::Bv(w)) => Op::FToS(w),
        (Op::UToF(_), Sort::Bv(w)) => Op::FToU(w),
        _ => return None,
    };
    match inverse.eval(&[k]) {
        Ok(back) if op.eval(&[back]) == Ok(k) => Some(eq_with(pool, x, back)),
        _ => Some(pool.bool(false)),
    }
}

/// Equal last pieces do not matter: strings with a common end are equal when their beginnings are.
fn eq_output(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    use super::super::Term;
    let (Term::App(f, x), Term::App(g, y)) = (pool.get(a), pool.get(b)) else { return None };
    let pieces = matches!(f, App::OutLiteral(_) | App::OutConversion(_));
    if !pieces || f != g || x.get(1) != y.get(1) {
        return None;
    }
    let (x, y) = (x[0], y[0]);
    Some(pool.eq(x, y))
}

/// Normalises `Ult`, `Ule`, `Slt`, `Sle`.
pub(super) fn order(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let strict = matches!(op, Op::Ult | Op::Slt);
    if a == b {
        return Some(pool.bool(!strict));
    }
    if let Some(t) = same_extension(pool, op, a, b) {
        return Some(t);
    }
    match (pool.as_const(a), pool.as_const(b)) {
        (None, Some(k)) => against_constant(pool, op, a, k, true),
        (Some(k), None) => against_constant(pool, op, b, k, false),
        _ => None,
    }
}

/// Extensions keep the order: `Zext` the unsigned one (also when compared as signed, its sign is
/// 0), `Sext` both.
fn same_extension(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let (f @ (Op::Zext(_) | Op::Sext(_)), &[x]) = applied(pool, a)? else { return None };
    let y = unary(pool, b, f).filter(|&y| pool.sort(y) == pool.sort(x))?;
    Some(pool.op(if matches!(f, Op::Zext(_)) { unsigned(op) } else { op }, &[x, y]))
}

fn unsigned(op: Op) -> Op {
    match op {
        Op::Slt => Op::Ult,
        Op::Sle => Op::Ule,
        other => other,
    }
}

/// Normalises a comparison of `t` with a constant; `left` says that `t` is the left argument.
fn against_constant(pool: &mut TermPool, op: Op, t: TermId, k: Const, left: bool) -> Option<TermId> {
    let w = width(pool, t);
    let signed = matches!(op, Op::Slt | Op::Sle);
    let strict = matches!(op, Op::Ult | Op::Slt);
    let (min, max) = bounds(w, signed);
    let value = |k: Const| if signed { k.signed().unwrap_or(0) } else { k.to_bits() as i128 };
    if w > 64 {
        return None;
    }
    let v = value(k);
    // In non-strict form: t <= limit, or limit <= t.
    let limit = match (strict, left) {
        (false, _) => v,
        (true, true) => v - 1,
        (true, false) => v + 1,
    };
    let (always, never) = if left { (limit >= max, limit < min) } else { (limit <= min, limit > max) };
    if always || never {
        return Some(pool.bool(always));
    }
    let end = if left { min } else { max };
    if limit == end {
        return Some(eq_with(pool, t, Const::bv(w, end)));
    }
    let (next, far) = if left { (limit + 1, max) } else { (limit - 1, min) };
    if next == far {
        let e = eq_with(pool, t, Const::bv(w, far));
        return Some(pool.not(e));
    }
    if let Some(r) = extension_against(pool, op, t, k, left) {
        return Some(r);
    }
    if let Some(&[c, x, y]) = pool.as_op(t, Op::Ite)
        && (pool.as_const(x).is_some() || pool.as_const(y).is_some())
    {
        let k = pool.constant(k);
        let mut side = |s| if left { pool.op(op, &[s, k]) } else { pool.op(op, &[k, s]) };
        let (then, otherwise) = (side(x), side(y));
        return Some(pool.ite(c, then, otherwise));
    }
    // Of `t <= limit` and `t < limit + 1` the one with the smaller constant.
    let strict_form = next.abs() < limit.abs();
    let op = match (signed, strict_form) {
        (true, true) => Op::Slt,
        (true, false) => Op::Sle,
        (false, true) => Op::Ult,
        (false, false) => Op::Ule,
    };
    let k = pool.bv(w, if strict_form { next } else { limit });
    Some(pool.raw(App::Op(op), if left { vec![t, k] } else { vec![k, t] }))
}

fn bounds(w: u16, signed: bool) -> (i128, i128) {
    match (w, signed) {
        (65.., _) => (0, 0),
        (_, true) => (-(1i128 << (w - 1)), (1i128 << (w - 1)) - 1),
        (_, false) => (0, (1i128 << w) - 1),
    }
}

/// Compares an extended value with a constant in the narrow width.
fn extension_against(pool: &mut TermPool, op: Op, t: TermId, k: Const, left: bool) -> Option<TermId> {
    let (f @ (Op::Zext(_) | Op::Sext(_)), &[x]) = applied(pool, t)? else { return None };
    let inner = width(pool, x);
    let sign_kept = matches!(f, Op::Sext(_));
    if sign_kept && matches!(op, Op::Ult | Op::Ule) {
        return None;
    }
    let (low, high) = bounds(inner, sign_kept);
    let signed = matches!(op, Op::Slt | Op::Sle);
    let v = if signed { k.signed()? } else { k.to_bits() as i128 };
    if v < low || v > high {
        // The constant is beyond every value of the narrow width.
        return Some(pool.bool(left == (v > high)));
    }
    let k = pool.bv(inner, v);
    let op = if sign_kept { op } else { unsigned(op) };
    Some(if left { pool.op(op, &[x, k]) } else { pool.op(op, &[k, x]) })
}
