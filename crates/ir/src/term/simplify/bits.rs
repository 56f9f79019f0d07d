//! Widths, masks, shifts and division of bit-vectors.

use super::super::{App, Const, Op, TermId, TermPool};
use super::linear::Linear;
use super::{applied, over_ite, pair, unary, width};
use std::collections::BTreeSet;

pub(super) fn zext(pool: &mut TermPool, w: u16, a: TermId) -> Option<TermId> {
    if width(pool, a) == w {
        return Some(a);
    }
    if let Some((Op::Zext(_), &[x])) = applied(pool, a) {
        return Some(pool.op(Op::Zext(w), &[x]));
    }
    over_ite(pool, Op::Zext(w), &[a])
}

pub(super) fn sext(pool: &mut TermPool, w: u16, a: TermId) -> Option<TermId> {
    if width(pool, a) == w {
        return Some(a);
    }
    match applied(pool, a) {
        // The top bit of a zero-extended value is 0.
        Some((Op::Zext(_), &[x])) => Some(pool.op(Op::Zext(w), &[x])),
        Some((Op::Sext(_), &[x])) => Some(pool.op(Op::Sext(w), &[x])),
        _ => over_ite(pool, Op::Sext(w), &[a]),
    }
}

pub(super) fn trunc(pool: &mut TermPool, n: u16, a: TermId) -> Option<TermId> {
    let w = width(pool, a);
    if w == n {
        return Some(a);
    }
    let (op, args) = applied(pool, a)?;
    match (op, args) {
        (Op::Trunc(_), &[x]) => Some(pool.op(Op::Trunc(n), &[x])),
        (Op::Zext(_) | Op::Sext(_), &[x]) => {
            let inner = width(pool, x);
            let to = match op {
                _ if n <= inner => Op::Trunc(n),
                Op::Zext(_) => Op::Zext(n),
                _ => Op::Sext(n),
            };
            Some(pool.op(to, &[x]))
        }
        (Op::Concat, &[h, l]) => {
            let low = width(pool, l);
            if n <= low {
                return Some(pool.op(Op::Trunc(n), &[l]));
            }
            let h = pool.op(Op::Trunc(n - low), &[h]);
            Some(pool.op(Op::Concat, &[h, l]))
        }
        (Op::LShr, &[x, k]) => {
            let k = pool.as_const(k)?.to_bits();
            slice(pool, x, u16::try_from(k).ok()?, n)
        }
        // The low bits of these rest on the low bits of their arguments alone.
        (Op::Add | Op::Mul | Op::BitAnd | Op::BitOr | Op::BitXor | Op::BitNot, _) => {
            let args = args.to_vec();
            let narrow: Vec<TermId> = args.iter().map(|&x| pool.op(Op::Trunc(n), &[x])).collect();
            Some(pool.op(op, &narrow))
        }
        _ => over_ite(pool, Op::Trunc(n), &[a]),
    }
}

/// Rewrites bits `low .. low + n` of `x`, when they are those of something smaller.
fn slice(pool: &mut TermPool, x: TermId, low: u16, n: u16) -> Option<TermId> {
    let (op, args) = applied(pool, x)?;
    match (op, args) {
        (Op::Zext(_) | Op::Sext(_), &[y]) if low + n <= width(pool, y) => Some(bits_of(pool, y, low, n)),
        (Op::Concat, &[h, l]) => {
            let wl = width(pool, l);
            if low >= wl {
                return Some(bits_of(pool, h, low - wl, n));
            }
            if low + n <= wl {
                return Some(bits_of(pool, l, low, n));
            }
            let (high, rest) = (bits_of(pool, h, 0, low + n - wl), bits_of(pool, l, low, wl - low));
            Some(pool.op(Op::Concat, &[high, rest]))
        }
        (Op::Trunc(m), &[y]) if low + n <= m => Some(bits_of(pool, y, low, n)),
        (Op::LShr, &[y, k]) => {
            let k = u16::try_from(pool.as_const(k)?.to_bits()).ok()?;
            (k + low + n <= width(pool, y)).then(|| bits_of(pool, y, k + low, n))
        }
        // A shift to the left by a constant.
        (Op::Mul, &[y, k]) => {
            let (y, k) = if pool.as_const(y).is_some() { (k, y) } else { (y, k) };
            let power = pool.as_const(k)?.to_bits();
            let k = power.is_power_of_two().then(|| power.trailing_zeros() as u16)?;
            match low.checked_sub(k) {
                Some(low) => Some(bits_of(pool, y, low, n)),
                None => (low + n <= k).then(|| pool.bv(n, 0)),
            }
        }
        // A bit-field in a word that another one was put into.
        (Op::BitAnd | Op::BitOr, &[a, b]) => {
            let parts = [a, b].map(|x| bits_of(pool, x, low, n));
            let joined = pool.op(op, &parts);
            (parts.contains(&joined) || pool.as_const(joined).is_some()).then_some(joined)
        }
        _ => None,
    }
}

/// Makes the bit-vector of bits `low .. low + n` of `x`.
pub(super) fn bits_of(pool: &mut TermPool, x: TermId, low: u16, n: u16) -> TermId {
    let w = width(pool, x);
    let shifted = if low == 0 {
        x
    } else {
        let k = pool.bv(w, low as i128);
        pool.op(Op::LShr, &[x, k])
    };
    if n == w { shifted } else { pool.op(Op::Trunc(n), &[shifted]) }
}

/// Reads a term as bits `low .. low + n` of another: `(of, low, n)`.
fn as_bits_of(pool: &TermPool, t: TermId) -> (TermId, u16, u16) {
    let n = width(pool, t);
    let Some((Op::Trunc(_), &[x])) = applied(pool, t) else { return (t, 0, n) };
    match pair(pool, x, Op::LShr).map(|(y, k)| (y, pool.as_const(k))) {
        Some((y, Some(k))) if k.to_bits() < width(pool, y) as u128 => (y, k.to_bits() as u16, n),
        _ => (x, 0, n),
    }
}

pub(super) fn concat(pool: &mut TermPool, h: TermId, l: TermId) -> Option<TermId> {
    let (wh, wl) = (width(pool, h), width(pool, l));
    let zero_high = pool.as_const(h).is_some_and(|k| k.to_bits() == 0);
    if zero_high {
        return Some(pool.op(Op::Zext(wh + wl), &[l]));
    }
    match applied(pool, h) {
        Some((Op::Zext(_), &[x])) => {
            let joined = pool.op(Op::Concat, &[x, l]);
            return Some(pool.op(Op::Zext(wh + wl), &[joined]));
        }
        // Nested to the right, so that neighbours meet.
        Some((Op::Concat, &[x, y])) => {
            let rest = pool.op(Op::Concat, &[y, l]);
            return Some(pool.op(Op::Concat, &[x, rest]));
        }
        _ => {}
    }
    let (next, rest) = match pair(pool, l, Op::Concat) {
        Some((next, rest)) => (next, Some(rest)),
        None => (l, None),
    };
    let joined = join(pool, h, next)?;
    Some(match rest {
        Some(r) => pool.op(Op::Concat, &[joined, r]),
        None => joined,
    })
}

/// Joins neighbouring bits of one term, or two constants.
fn join(pool: &mut TermPool, h: TermId, l: TermId) -> Option<TermId> {
    if let (Some(a), Some(b)) = (pool.as_const(h), pool.as_const(l)) {
        return Op::Concat.eval(&[a, b]).ok().map(|k| pool.constant(k));
    }
    let ((x, from, n), (y, low, m)) = (as_bits_of(pool, h), as_bits_of(pool, l));
    (x == y && from == low + m).then(|| bits_of(pool, x, low, m + n))
}

/// Normalises `BitAnd`, `BitOr`, `BitXor`: flat, sorted, constants joined.
pub(super) fn bitwise(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let w = width(pool, a);
    let ones = Const::mask(w);
    if let Some(t) = truth_words(pool, op, a, b).or_else(|| over_ite(pool, op, &[a, b])) {
        return Some(t);
    }
    let mut constant = if op == Op::BitAnd { ones } else { 0 };
    let mut members = BTreeSet::new();
    let mut stack = vec![a, b];
    while let Some(t) = stack.pop() {
        if let Some((x, y)) = pair(pool, t, op) {
            stack.extend([x, y]);
        } else if let Some(k) = pool.as_const(t) {
            constant = match op {
                Op::BitAnd => constant & k.to_bits(),
                Op::BitOr => constant | k.to_bits(),
                _ => constant ^ k.to_bits(),
            };
        } else if !members.insert(t) && op == Op::BitXor {
            members.remove(&t);
        }
    }
    for &t in &members {
        if let Some(x) = unary(pool, t, Op::BitNot)
            && members.contains(&x)
        {
            match op {
                Op::BitAnd => return Some(pool.bv(w, 0)),
                Op::BitOr => return Some(pool.bv(w, -1)),
                _ => {}
            }
        }
    }
    let absorbing = if op == Op::BitAnd { 0 } else { ones };
    if op != Op::BitXor && constant == absorbing {
        return Some(pool.constant(Const::Bv { width: w, bits: absorbing }));
    }
    let neutral = if op == Op::BitAnd { ones } else { 0 };
    let mut members = members.into_iter();
    let Some(mut t) = members.next() else {
        return Some(pool.constant(Const::Bv { width: w, bits: constant }));
    };
    for m in members {
        t = pool.raw(App::Op(op), vec![t, m]);
    }
    if constant == neutral {
        return Some(t);
    }
    if op == Op::BitXor && constant == ones {
        return Some(pool.op(Op::BitNot, &[t]));
    }
    if op == Op::BitAnd
        && let Some(r) = masked(pool, t, w, constant)
    {
        return Some(r);
    }
    let k = pool.constant(Const::Bv { width: w, bits: constant });
    Some(pool.raw(App::Op(op), vec![t, k]))
}

/// A mask of the low bits is a truncation when the bits are whole bytes of a C integer, and masks
/// of extended values are masks of the values.
fn masked(pool: &mut TermPool, t: TermId, w: u16, mask: u128) -> Option<TermId> {
    if let Some((Op::Zext(_), &[x])) = applied(pool, t) {
        let inner = width(pool, x);
        let k = pool.constant(Const::Bv { width: inner, bits: mask & Const::mask(inner) });
        let narrow = pool.op(Op::BitAnd, &[x, k]);
        return Some(pool.op(Op::Zext(w), &[narrow]));
    }
    let n = mask.trailing_ones() as u16;
    if mask != Const::mask(n) || !matches!(n, 8 | 16 | 32 | 64) {
        return None;
    }
    let low = pool.op(Op::Trunc(n), &[t]);
    Some(pool.op(Op::Zext(w), &[low]))
}

/// Bitwise operators on C's truth values (`c ? 1 : 0`) are the logical ones.
fn truth_words(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let truth = |pool: &TermPool, t| match pool.as_op(t, Op::Ite) {
        Some(&[c, x, y])
            if pool.as_const(x).is_some_and(|k| k.to_bits() == 1)
                && pool.as_const(y).is_some_and(|k| k.to_bits() == 0) =>
        {
            Some((c, x, y))
        }
        _ => None,
    };
    let ((c, one, zero), (d, ..)) = (truth(pool, a)?, truth(pool, b)?);
    let both = match op {
        Op::BitAnd => pool.and(c, d),
        Op::BitOr => pool.or(c, d),
        _ => {
            let e = pool.eq(c, d);
            pool.not(e)
        }
    };
    Some(pool.ite(both, one, zero))
}

/// Normalises `LShr` and `AShr` by constants that are in range.
pub(super) fn shift_right(pool: &mut TermPool, op: Op, a: TermId, k: TermId) -> Option<TermId> {
    let w = width(pool, a);
    let n = u16::try_from(pool.as_const(k)?.to_bits()).ok().filter(|&n| n < w)?;
    if n == 0 {
        return Some(a);
    }
    if let Some((x, j)) = pair(pool, a, op)
        && let Some(j) = pool.as_const(j).map(Const::to_bits).filter(|&j| j < w as u128)
    {
        let sum = j as u16 + n;
        return Some(match op {
            Op::LShr if sum >= w => pool.bv(w, 0),
            _ => {
                let k = pool.bv(w, sum.min(w - 1) as i128);
                pool.op(op, &[x, k])
            }
        });
    }
    match applied(pool, a) {
        Some((Op::Zext(_), &[x])) => {
            let inner = width(pool, x);
            if n >= inner {
                return Some(pool.bv(w, 0));
            }
            let k = pool.bv(inner, n as i128);
            let shifted = pool.op(Op::LShr, &[x, k]);
            Some(pool.op(Op::Zext(w), &[shifted]))
        }
        Some((Op::Concat, &[h, l])) if op == Op::LShr && n >= width(pool, l) => {
            let (wh, wl) = (width(pool, h), width(pool, l));
            let high = bits_of(pool, h, n - wl, wh - (n - wl));
            Some(pool.op(Op::Zext(w), &[high]))
        }
        _ => over_ite(pool, op, &[a, k]),
    }
}

/// Normalises division and remainder by constants.
pub(super) fn divide(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let w = width(pool, a);
    // Of zero-extended values both divisions are the same.
    let plain = |pool: &TermPool, t: TermId| {
        matches!(applied(pool, t), Some((Op::Zext(_), _)))
            || pool.as_const(t).is_some_and(|k| k.signed().is_some_and(|v| v > 0))
    };
    if matches!(op, Op::SDiv | Op::SRem) && plain(pool, a) && plain(pool, b) {
        return Some(pool.op(if op == Op::SDiv { Op::UDiv } else { Op::URem }, &[a, b]));
    }
    let k = pool.as_const(b)?;
    let bits = k.to_bits();
    match op {
        Op::UDiv | Op::SDiv if bits == 1 => Some(a),
        Op::URem | Op::SRem if bits == 1 => Some(pool.bv(w, 0)),
        // Where it is defined; `INT_MIN / -1` is an event.
        Op::SDiv if k.signed() == Some(-1) => Some(Linear::of(pool, a).scaled(u128::MAX).build(pool)),
        Op::SRem if k.signed() == Some(-1) => Some(pool.bv(w, 0)),
        Op::UDiv if bits.is_power_of_two() => {
            let k = pool.bv(w, bits.trailing_zeros() as i128);
            Some(pool.op(Op::LShr, &[a, k]))
        }
        Op::URem if bits.is_power_of_two() => {
            let k = pool.bv(w, bits as i128 - 1);
            Some(pool.op(Op::BitAnd, &[a, k]))
        }
        _ => over_ite(pool, op, &[a, b]),
    }
}
