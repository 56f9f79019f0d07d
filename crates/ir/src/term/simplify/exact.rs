//! Products in double precision that are computed without rounding.
//!
//! The significands of floats widened to double have 24 bits, those of 32-bit integers 32, and that
//! of a power of two has one: a product whose factors have at most 53 bits together, and exponents
//! whose sums stay inside the range of normal and subnormal doubles, is exact in any order. So are
//! all its partial products. With infinities, zeros and NaNs the order does not matter either: the
//! product is NaN if a factor is, or if one is infinite and one zero; otherwise an infinity or a zero
//! if a factor is; its sign is that of all of them.

use super::super::{App, Const, Op, Sort, TermId, TermPool};
use super::float::value;
use super::{applied, pair, width};

/// Depth to which factors are looked at: each has a bit at least, so deeper products are not exact
/// but for factors of zero bits.
const DEPTH: usize = 60;

/// Bounds on the finite non-zero values of a term: significant bits, exponent of the last bit (at
/// most 0) and of the first (at least 0).
#[derive(Clone, Copy)]
struct Extent {
    bits: i32,
    last: i32,
    first: i32,
}

fn extent(pool: &TermPool, t: TermId, depth: usize) -> Option<Extent> {
    if depth > DEPTH {
        return None;
    }
    if let Some(v) = value(pool, t) {
        return of_constant(v);
    }
    match applied(pool, t)? {
        (Op::FToF(Sort::F64), &[x]) if pool.sort(x) == Sort::F32 => {
            Some(Extent { bits: 24, last: -149, first: 127 })
        }
        (Op::SToF(_) | Op::UToF(_), &[x]) => {
            let w = i32::from(width(pool, x));
            (w <= 53).then_some(Extent { bits: w, last: 0, first: w - 1 })
        }
        (Op::FNeg | Op::FAbs, &[x]) => extent(pool, x, depth + 1),
        (Op::FMul, &[x, y]) => joined(extent(pool, x, depth + 1)?, extent(pool, y, depth + 1)?),
        _ => None,
    }
}

fn of_constant(v: f64) -> Option<Extent> {
    if !v.is_finite() {
        return None;
    }
    let fraction = v.to_bits() & ((1 << 52) - 1);
    let exponent = (v.to_bits() >> 52 & 0x7ff) as i32;
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let last_unit = exponent.max(1) - 1075;
    if significand == 0 {
        return Some(Extent { bits: 0, last: 0, first: 0 });
    }
    let low = significand.trailing_zeros() as i32;
    let high = 63 - significand.leading_zeros() as i32;
    Some(Extent { bits: high - low + 1, last: (last_unit + low).min(0), first: (last_unit + high).max(0) })
}

fn joined(a: Extent, b: Extent) -> Option<Extent> {
    let e = Extent { bits: a.bits + b.bits, last: a.last + b.last, first: a.first + b.first + 1 };
    (e.bits <= 53 && e.last >= -1074 && e.first <= 1023).then_some(e)
}

/// Makes the normal form of `a * b` in double precision if it is exact: factors sorted, constants
/// multiplied.
pub(super) fn product(pool: &mut TermPool, a: TermId, b: TermId) -> Option<TermId> {
    if pool.sort(a) != Sort::F64 {
        return None;
    }
    joined(extent(pool, a, 0)?, extent(pool, b, 0)?)?;
    let (mut factors, mut scale) = (Vec::new(), 1.0);
    let mut stack = vec![a, b];
    while let Some(t) = stack.pop() {
        if let Some((x, y)) = pair(pool, t, Op::FMul) {
            stack.extend([x, y]);
        } else if let Some(v) = value(pool, t) {
            scale *= v;
        } else {
            factors.push(t);
        }
    }
    factors.sort_unstable();
    let mut factors = factors.into_iter();
    let mut p = factors.next()?;
    for f in factors {
        p = pool.raw(App::Op(Op::FMul), vec![p, f]);
    }
    if scale == 1.0 {
        return Some(p);
    }
    let k = pool.constant(Const::f64(scale));
    Some(pool.raw(App::Op(Op::FMul), vec![p, k]))
}
