//! The interval domain of bit-vectors: bounds of sets of numbers, and what operators do to them (Cousot and Cousot,
//! 1976).
//!
//! A set has bounds as signed and as unsigned numbers, each of which sharpens the other. What is returned is of operands
//! on which an operator is defined: division by zero and shifts by the width or more are left out. Terms
//! (`term/bounds.rs`) and the verifier's values use the same domain.

use crate::Op;

/// Widest bit-vector that is spoken of.
pub const MAX_WIDTH: u16 = 64;

/// Bit-vectors of at most 64 bits; both intervals are closed, and not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    pub width: u16,
    pub signed: (i64, i64),
    pub unsigned: (u64, u64),
}

/// An operator is defined on no number of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined;

/// Least and greatest signed number of a width, and the greatest unsigned one.
pub fn limits(width: u16) -> (i128, i128, i128) {
    let half = 1i128 << (width - 1);
    (-half, half - 1, 2 * half - 1)
}

impl Bits {
    /// All numbers of a width.
    pub fn all(width: u16) -> Bits {
        let (least, most, top) = limits(width);
        Bits { width, signed: (least as i64, most as i64), unsigned: (0, top as u64) }
    }

    /// What both intervals allow; `None`: nothing.
    pub fn new(width: u16, signed: (i128, i128), unsigned: (i128, i128)) -> Option<Bits> {
        let (least, most, top) = limits(width);
        let mut s = (signed.0.max(least), signed.1.min(most));
        let mut u = (unsigned.0.max(0), unsigned.1.min(top));
        // Either tells of the other where it is on one side of the sign.
        for _ in 0..2 {
            if s.0 > s.1 || u.0 > u.1 {
                return None;
            }
            let of_signed = match s {
                (low, high) if low >= 0 => (low, high),
                (low, high) if high < 0 => (low + top + 1, high + top + 1),
                _ => (0, top),
            };
            u = (u.0.max(of_signed.0), u.1.min(of_signed.1));
            let of_unsigned = match u {
                (low, high) if high <= most => (low, high),
                (low, high) if low > most => (low - top - 1, high - top - 1),
                _ => (least, most),
            };
            s = (s.0.max(of_unsigned.0), s.1.min(of_unsigned.1));
        }
        if s.0 > s.1 || u.0 > u.1 {
            return None;
        }
        Some(Bits { width, signed: (s.0 as i64, s.1 as i64), unsigned: (u.0 as u64, u.1 as u64) })
    }

    /// The numbers of an interval, modulo the width.
    pub fn ranged(width: u16, low: i128, high: i128) -> Bits {
        let (_, most, top) = limits(width);
        let all = Bits::all(width);
        if low > high || high.checked_sub(low).is_none_or(|d| d > top) {
            return all;
        }
        let first = low.rem_euclid(top + 1);
        let unsigned = (first, first + (high - low));
        let start = if first > most { first - top - 1 } else { first };
        let signed = (start, start + (high - low));
        let unsigned = if unsigned.1 <= top { unsigned } else { (0, top) };
        let signed = if signed.1 <= most { signed } else { (i128::MIN, i128::MAX) };
        Bits::new(width, signed, unsigned).unwrap_or(all)
    }

    /// The bounds as a signed number.
    pub fn s(&self) -> (i128, i128) {
        (self.signed.0.into(), self.signed.1.into())
    }

    /// The bounds as an unsigned number.
    pub fn u(&self) -> (i128, i128) {
        (self.unsigned.0.into(), self.unsigned.1.into())
    }

    /// What is in both; `None`: nothing.
    pub fn meet(&self, other: &Bits) -> Option<Bits> {
        if self.width != other.width {
            return None;
        }
        let both = |a: (i128, i128), b: (i128, i128)| (a.0.max(b.0), a.1.min(b.1));
        Bits::new(self.width, both(self.s(), other.s()), both(self.u(), other.u()))
    }

    /// What is in either, and what lies between.
    pub fn union(&self, other: &Bits) -> Bits {
        let both = |a: (i128, i128), b: (i128, i128)| (a.0.min(b.0), a.1.max(b.1));
        let joined = Bits::new(self.width, both(self.s(), other.s()), both(self.u(), other.u()));
        joined.unwrap_or(Bits::all(self.width))
    }

    /// The number, signed, where there is one only.
    pub fn single(&self) -> Option<i128> {
        (self.signed.0 == self.signed.1).then_some(self.signed.0.into())
    }
}

/// Least and greatest of what a function makes of the ends of two intervals.
fn corners(a: (i128, i128), b: (i128, i128), f: impl Fn(i128, i128) -> Option<i128>) -> Option<(i128, i128)> {
    let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// What an operator with one operand makes of a set; `None`: it makes no bit-vector that is spoken of.
pub fn unary(op: Op, a: &Bits) -> Option<Bits> {
    let w = a.width;
    let (s, u) = (a.s(), a.u());
    Some(match op {
        Op::Neg => Bits::ranged(w, -s.1, -s.0),
        Op::BitNot => Bits::ranged(w, -s.1 - 1, -s.0 - 1),
        Op::Zext(to) if to <= MAX_WIDTH => Bits::ranged(to, u.0, u.1),
        Op::Sext(to) if to <= MAX_WIDTH => Bits::ranged(to, s.0, s.1),
        Op::Trunc(to) => {
            let (by_s, by_u) = (Bits::ranged(to, s.0, s.1), Bits::ranged(to, u.0, u.1));
            by_s.meet(&by_u).unwrap_or(by_s)
        }
        _ => return None,
    })
}

/// How a comparison of numbers of two sets ends; `None`: one way or the other.
pub fn compared(op: Op, a: &Bits, b: &Bits) -> Option<bool> {
    let less = |x: (i128, i128), y: (i128, i128), strict: bool| {
        let (always, never) = if strict { (x.1 < y.0, x.0 >= y.1) } else { (x.1 <= y.0, x.0 > y.1) };
        (always || never).then_some(always)
    };
    match op {
        Op::Ult | Op::Ule => less(a.u(), b.u(), op == Op::Ult),
        Op::Slt | Op::Sle => less(a.s(), b.s(), op == Op::Slt),
        Op::Eq if a.meet(b).is_none() => Some(false),
        Op::Eq => a.single().zip(b.single()).map(|(a, b)| a == b),
        _ => None,
    }
}

/// What an operator with two operands makes of two sets; `None`: it makes no bit-vector that is spoken of.
///
/// # Errors
/// Where the operator is defined on no pair of them.
pub fn binary(op: Op, a: &Bits, b: &Bits) -> Result<Option<Bits>, Undefined> {
    if op == Op::Concat {
        let w = a.width + b.width;
        let (low, high) = ((a.u().0 << b.width) + b.u().0, (a.u().1 << b.width) + b.u().1);
        return Ok((w <= MAX_WIDTH).then(|| Bits::ranged(w, low, high)));
    }
    let w = a.width;
    if w != b.width {
        return Ok(None);
    }
    let both = |f: &dyn Fn(i128, i128) -> Option<i128>| {
        let ranged = |r: Option<(i128, i128)>| r.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h));
        let (s, u) = (ranged(corners(a.s(), b.s(), f)), ranged(corners(a.u(), b.u(), f)));
        s.meet(&u).unwrap_or(s)
    };
    Ok(Some(match op {
        Op::Add => both(&i128::checked_add),
        Op::Sub => {
            let ranged = |x: (i128, i128), y: (i128, i128)| Bits::ranged(w, x.0 - y.1, x.1 - y.0);
            let (s, u) = (ranged(a.s(), b.s()), ranged(a.u(), b.u()));
            s.meet(&u).unwrap_or(s)
        }
        Op::Mul => both(&i128::checked_mul),
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => divided(op, a, b)?,
        Op::Shl | Op::LShr | Op::AShr => shifted(op, a, b)?,
        Op::BitAnd | Op::BitOr => {
            let low = extreme(op, a.unsigned, b.unsigned, false);
            let high = extreme(op, a.unsigned, b.unsigned, true);
            Bits::ranged(w, low.into(), high.into())
        }
        Op::BitXor => {
            let most = 128 - (a.u().1.max(b.u().1) as u128).leading_zeros();
            Bits::ranged(w, 0, ((1u128 << most) - 1) as i128)
        }
        _ => return Ok(None),
    }))
}

fn divided(op: Op, a: &Bits, b: &Bits) -> Result<Bits, Undefined> {
    let w = a.width;
    let (s, u) = (a.s(), a.u());
    if b.u().1 == 0 {
        return Err(Undefined);
    }
    // Zero is not among the divisors of what goes on.
    let (least, most) = (b.u().0.max(1), b.u().1);
    let negative = (b.s().0, b.s().1.min(-1));
    let positive = (b.s().0.max(1), b.s().1);
    Ok(match op {
        Op::UDiv => Bits::ranged(w, u.0 / most, u.1 / least),
        Op::URem if u.1 < least => *a,
        Op::URem => Bits::ranged(w, 0, u.1.min(most - 1)),
        Op::SRem if s.0 >= 0 && negative.0 > negative.1 && s.1 < positive.0 => *a,
        Op::SRem => {
            let most = b.s().0.abs().max(b.s().1.abs()) - 1;
            Bits::ranged(w, s.0.max(-most).min(0), s.1.min(most).max(0))
        }
        _ => {
            let sides = [negative, positive].into_iter().filter(|d| d.0 <= d.1);
            let quotients = sides.filter_map(|d| corners(s, d, i128::checked_div));
            let all = quotients.reduce(|x, y| (x.0.min(y.0), x.1.max(y.1)));
            all.map_or(Bits::all(w), |(low, high)| Bits::ranged(w, low, high))
        }
    })
}

fn shifted(op: Op, a: &Bits, b: &Bits) -> Result<Bits, Undefined> {
    let w = a.width;
    let (least, most) = (b.u().0, b.u().1.min(i128::from(w) - 1));
    if least > most {
        return Err(Undefined);
    }
    let (least, most) = (least as u32, most as u32);
    Ok(match op {
        Op::Shl => {
            // Below 2^127: at most 64 bits by at most 63.
            let unsigned = Bits::ranged(w, a.u().0 << least, a.u().1 << most);
            let signed = corners(a.s(), (least.into(), most.into()), |x, n| x.checked_mul(1i128 << n));
            let signed = signed.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h));
            unsigned.meet(&signed).unwrap_or(unsigned)
        }
        Op::LShr => Bits::ranged(w, a.u().0 >> most, a.u().1 >> least),
        _ => {
            let r = corners(a.s(), (least.into(), most.into()), |x, n| Some(x >> n));
            r.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h))
        }
    })
}

/// Least or greatest `x & y` or `x | y` of two intervals (Warren, "Hacker's Delight", 4-3): from the
/// highest bit on, one of the ends is rounded to where the other's bits are as wanted.
fn extreme(op: Op, a: (u64, u64), b: (u64, u64), greatest: bool) -> u64 {
    let is_and = op == Op::BitAnd;
    let (mut x, mut y) = if greatest { (a.1, b.1) } else { (a.0, b.0) };
    for k in (0..64).rev() {
        let bit = 1u64 << k;
        let (in_x, in_y) = (x & bit != 0, y & bit != 0);
        // An end is moved to where its bit is the other one, and all lower ones are the best.
        let lowered = |end: u64| (end & !bit) | (bit - 1);
        let raised = |end: u64| (end | bit) & !(bit - 1);
        match (greatest, is_and) {
            (true, false) if in_x && in_y => {
                if lowered(x) >= a.0 {
                    x = lowered(x);
                    break;
                }
                if lowered(y) >= b.0 {
                    y = lowered(y);
                    break;
                }
            }
            (true, true) if in_x != in_y => {
                if in_x && lowered(x) >= a.0 {
                    x = lowered(x);
                    break;
                }
                if in_y && lowered(y) >= b.0 {
                    y = lowered(y);
                    break;
                }
            }
            (false, false) if in_x != in_y => {
                if !in_x && raised(x) <= a.1 {
                    x = raised(x);
                    break;
                }
                if !in_y && raised(y) <= b.1 {
                    y = raised(y);
                    break;
                }
            }
            (false, true) if !in_x && !in_y => {
                if raised(x) <= a.1 {
                    x = raised(x);
                    break;
                }
                if raised(y) <= b.1 {
                    y = raised(y);
                    break;
                }
            }
            _ => {}
        }
    }
    if is_and { x & y } else { x | y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_bitwise_operations_are_met() {
        for (a, b) in (0..16u64).flat_map(|low| (low..16).map(move |high| (low, high))).flat_map(|a| {
            (0..16u64)
                .step_by(3)
                .flat_map(|low| (low..16).step_by(2).map(move |high| (low, high)))
                .map(move |b| (a, b))
        }) {
            let pairs = || (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y)));
            let and = (pairs().map(|(x, y)| x & y).min(), pairs().map(|(x, y)| x & y).max());
            let or = (pairs().map(|(x, y)| x | y).min(), pairs().map(|(x, y)| x | y).max());
            let ends = |op| (Some(extreme(op, a, b, false)), Some(extreme(op, a, b, true)));
            assert_eq!((ends(Op::BitAnd), ends(Op::BitOr)), (and, or), "{a:?} {b:?}");
        }
    }

    #[test]
    fn each_side_of_a_set_sharpens_the_other() {
        let bits = Bits::new(8, (-3, 100), (0, 50)).expect("it is not empty");
        assert_eq!((bits.s(), bits.u()), ((0, 50), (0, 50)));
        assert_eq!(Bits::new(8, (-3, -1), (0, 50)), None);
        assert_eq!(Bits::ranged(8, 250, 260).u(), (0, 255));
        assert_eq!(Bits::ranged(8, 250, 260).s(), (-6, 4));
    }

    #[test]
    fn sets_that_have_nothing_in_common_are_not_equal() {
        let [low, high] = [(0, 4), (5, 9)].map(|(a, b)| Bits::ranged(8, a, b));
        assert_eq!(compared(Op::Eq, &low, &high), Some(false));
        assert_eq!(
            (compared(Op::Ult, &low, &high), compared(Op::Ule, &high, &low)),
            (Some(true), Some(false))
        );
        assert_eq!(compared(Op::Slt, &high, &high), None);
    }
}
