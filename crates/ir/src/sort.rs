//! Sorts of values and constants of them.
//!
//! Integers and pointers are bit-vectors of their width; signedness belongs to operators, not to
//! values. Floats are IEEE-754 binary32, binary64 and x87 extended, held as their bits so that equality
//! of constants is identity of the IEEE value (`0.0` is not `-0.0`). Every NaN is held as the one
//! canonical quiet NaN: no result may rest on a NaN's sign or payload.

use super::Extended;
use std::fmt;

/// Sort of an expression or a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// Truth value of a condition; C's `int` results of comparisons are `Ite(c, 1, 0)`.
    Bool,
    /// Bit-vector of this many bits (1..=128).
    Bv(u16),
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The 80-bit format of the x87.
    F80,
    /// The bytes of the whole memory, as one value (terms only).
    Mem,
    /// State of standard input: what was consumed so far (terms only).
    Stdin,
    /// Bytes written so far to the program's output streams (terms only).
    Out,
    /// Everything else outside the program: files, clock, random numbers, errno (terms only).
    World,
}

impl Sort {
    /// Returns the width in bits of a bit-vector or float, 1 for a truth value, `None` for states.
    pub fn bits(self) -> Option<u16> {
        match self {
            Sort::Bool => Some(1),
            Sort::Bv(w) => Some(w),
            Sort::F32 => Some(32),
            Sort::F64 => Some(64),
            Sort::F80 => Some(80),
            _ => None,
        }
    }

    /// Returns how many bytes of memory hold a value.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits().unwrap_or(0)).div_ceil(8)
    }

    /// Returns whether this is one of the float sorts.
    pub fn is_float(self) -> bool {
        matches!(self, Sort::F32 | Sort::F64 | Sort::F80)
    }
}

/// Constant of sort `Bool`, `Bv` or a float. Bits above the width are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Const {
    Bool(bool),
    Bv { width: u16, bits: u128 },
    F32(u32),
    F64(u64),
    F80(Extended),
}

impl Const {
    pub const TRUE: Const = Const::Bool(true);
    pub const FALSE: Const = Const::Bool(false);

    /// Returns a bit-vector of `width` bits that holds `value` modulo 2^width.
    pub fn bv(width: u16, value: i128) -> Const {
        Const::Bv { width, bits: (value as u128) & Const::mask(width) }
    }

    /// Returns the binary32 constant; NaNs become the canonical one.
    pub fn f32(value: f32) -> Const {
        Const::F32(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() })
    }

    /// Returns the binary64 constant; NaNs become the canonical one.
    pub fn f64(value: f64) -> Const {
        Const::F64(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() })
    }

    /// Returns the all-ones mask of `width` low bits.
    pub fn mask(width: u16) -> u128 {
        if width >= 128 { u128::MAX } else { (1u128 << width) - 1 }
    }

    pub fn sort(self) -> Sort {
        match self {
            Const::Bool(_) => Sort::Bool,
            Const::Bv { width, .. } => Sort::Bv(width),
            Const::F32(_) => Sort::F32,
            Const::F64(_) => Sort::F64,
            Const::F80(_) => Sort::F80,
        }
    }

    /// Returns the zero of a value sort; for states, which have no constants, `None`.
    pub fn zero(sort: Sort) -> Option<Const> {
        match sort {
            Sort::Bool => Some(Const::FALSE),
            Sort::Bv(width) => Some(Const::Bv { width, bits: 0 }),
            Sort::F32 => Some(Const::F32(0)),
            Sort::F64 => Some(Const::F64(0)),
            Sort::F80 => Some(Const::F80(Extended::ZERO)),
            _ => None,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        if let Const::Bool(b) = self { Some(b) } else { None }
    }

    /// Returns the bits of any constant, zero-extended.
    pub fn to_bits(self) -> u128 {
        match self {
            Const::Bool(b) => b as u128,
            Const::Bv { bits, .. } => bits,
            Const::F32(b) => b as u128,
            Const::F64(b) => b as u128,
            Const::F80(x) => x.to_bits(),
        }
    }

    /// Returns the constant of `sort` with these bits (low bits of `bits` are used).
    pub fn from_bits(sort: Sort, bits: u128) -> Option<Const> {
        match sort {
            Sort::Bool => Some(Const::Bool(bits & 1 == 1)),
            Sort::Bv(width) => Some(Const::Bv { width, bits: bits & Const::mask(width) }),
            Sort::F32 => Some(Const::f32(f32::from_bits(bits as u32))),
            Sort::F64 => Some(Const::f64(f64::from_bits(bits as u64))),
            Sort::F80 => Some(Const::F80(Extended::from_bits(bits))),
            _ => None,
        }
    }

    /// Returns a bit-vector read as unsigned.
    pub fn unsigned(self) -> Option<u128> {
        if let Const::Bv { bits, .. } = self { Some(bits) } else { None }
    }

    /// Returns a bit-vector read as two's complement.
    pub fn signed(self) -> Option<i128> {
        if let Const::Bv { width, bits } = self {
            if width >= 128 {
                return Some(bits as i128);
            }
            let sign = 1u128 << (width - 1);
            Some((bits ^ sign) as i128 - sign as i128)
        } else {
            None
        }
    }

    /// Returns the constant of a float sort that is nearest to `value` (exact but for `F32`).
    pub fn of_f64(sort: Sort, value: f64) -> Option<Const> {
        match sort {
            Sort::F32 => Some(Const::f32(value as f32)),
            Sort::F64 => Some(Const::f64(value)),
            Sort::F80 => Some(Const::F80(Extended::from_f64(value))),
            _ => None,
        }
    }

    /// Returns a `float` or `double` as `f64` (exact); nothing else has a value that `f64` can hold.
    pub fn float(self) -> Option<f64> {
        match self {
            Const::F32(b) => Some(f32::from_bits(b) as f64),
            Const::F64(b) => Some(f64::from_bits(b)),
            _ => None,
        }
    }

    /// Returns the `double` that is nearest to a value of any float sort.
    pub fn nearest_f64(self) -> Option<f64> {
        match self {
            Const::F80(x) => Some(x.to_f64()),
            other => other.float(),
        }
    }

    /// Returns whether this is a zero of a float sort, of either sign.
    pub fn is_float_zero(self) -> bool {
        match self {
            Const::F80(x) => x.is_zero(),
            other => other.float() == Some(0.0),
        }
    }

    /// Returns whether this is a float with a sign: a negative number, zero or infinity.
    pub fn is_negative_float(self) -> bool {
        match self {
            Const::F80(x) => x.is_negative(),
            other => other.float().is_some_and(|v| v.is_sign_negative() && !v.is_nan()),
        }
    }

    pub fn is_nan(self) -> bool {
        match self {
            Const::F80(x) => x.is_nan(),
            other => other.float().is_some_and(f64::is_nan),
        }
    }
}

impl fmt::Debug for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Const::Bool(b) => write!(f, "{b}"),
            Const::Bv { width, .. } => write!(f, "{}:{width}", self.signed().unwrap_or(0)),
            Const::F32(b) => write!(f, "{:?}f", f32::from_bits(b)),
            Const::F64(b) => write!(f, "{:?}", f64::from_bits(b)),
            Const::F80(x) => write!(f, "{x:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_reading_sign_extends() {
        assert_eq!(Const::bv(8, -1).signed(), Some(-1));
        assert_eq!(Const::bv(8, 128).signed(), Some(-128));
        assert_eq!(Const::bv(128, -5).signed(), Some(-5));
        assert_eq!(Const::bv(32, -1).unsigned(), Some(0xffff_ffff));
    }

    #[test]
    fn floats_compare_by_identity() {
        assert_ne!(Const::f64(0.0), Const::f64(-0.0));
        assert_eq!(Const::f32(f32::NAN), Const::f32(-f32::NAN));
    }
}
