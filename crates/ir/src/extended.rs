//! `long double` of x86: the 80-bit format of the x87, computed in software.
//!
//! A value is held by the ten bytes that it has in memory: sign, 15 bits of exponent, and a
//! significand of 64 bits whose leading one is written out. Patterns whose leading bit contradicts
//! the exponent are no values ([`Extended::is_value`]): reading one is for the reader to refuse, and
//! [`Extended::from_bits`] takes them as if the leading bit were right. Arithmetic rounds to nearest
//! even, as the x87 does in the mode in which Linux starts programs.

mod decimal;

pub use decimal::Decimal;

use super::{Const, Op, Rounding, Sort, UndefinedKind};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};
use std::cmp::Ordering;
use std::fmt;

const LEADING: u128 = 1 << 63;
const SIGN: u128 = 1 << 79;
const MAX_EXPONENT: u128 = 0x7fff;
/// What the exponent field is more than the exponent of the significand's last bit.
const BIAS: i32 = 16383 + 63;

/// Value of `long double`. Every NaN is the one canonical quiet NaN, so that equality is identity of
/// values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extended(u128);

impl Extended {
    pub const ZERO: Extended = Extended(0);
    pub const NAN: Extended = Extended(MAX_EXPONENT << 64 | 3 << 62);
    pub const INFINITY: Extended = Extended(MAX_EXPONENT << 64 | LEADING);

    /// Returns the value with these 80 bits; the leading bit of the significand is what the exponent
    /// says, whatever it is in `bits`.
    pub fn from_bits(bits: u128) -> Extended {
        let (exponent, fraction) = (bits >> 64 & MAX_EXPONENT, bits & (LEADING - 1));
        if exponent == MAX_EXPONENT && fraction != 0 {
            return Extended::NAN;
        }
        let leading = if exponent == 0 { 0 } else { LEADING };
        Extended(bits & (SIGN | MAX_EXPONENT << 64) | leading | fraction)
    }

    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// Whether 80 bits of memory are a value of the format. Of what the x87 cannot make itself
    /// (pseudo-denormals, unnormals, pseudo-infinities and pseudo-NaNs) programs may see anything.
    pub fn is_value(bits: u128) -> bool {
        (bits >> 64 & MAX_EXPONENT != 0) == (bits & LEADING != 0)
    }

    fn of(value: X87DoubleExtended) -> Extended {
        Extended::from_bits(value.to_bits())
    }

    fn value(self) -> X87DoubleExtended {
        X87DoubleExtended::from_bits(self.0)
    }

    pub fn from_f64(value: f64) -> Extended {
        Extended::of(Double::from_bits(value.to_bits().into()).convert(&mut false).value)
    }

    pub fn from_signed(value: i128) -> Extended {
        Extended::of(X87DoubleExtended::from_i128(value).value)
    }

    pub fn from_unsigned(value: u128) -> Extended {
        Extended::of(X87DoubleExtended::from_u128(value).value)
    }

    /// Returns the nearest `double`.
    pub fn to_f64(self) -> f64 {
        let narrow: Double = self.value().convert(&mut false).value;
        f64::from_bits(narrow.to_bits() as u64)
    }

    fn to_f32(self) -> f32 {
        let narrow: Single = self.value().convert(&mut false).value;
        f32::from_bits(narrow.to_bits() as u32)
    }

    /// Returns the nearest value of a number in C's syntax without sign and suffix, decimal or
    /// hexadecimal, and whether it is out of range (too large, or tiny and inexact).
    pub fn parse(text: &str) -> Option<(Extended, bool)> {
        let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        let with_exponent;
        let text = if is_hexadecimal && !text.contains(['p', 'P']) {
            with_exponent = format!("{text}p0");
            &with_exponent
        } else {
            text
        };
        let read = X87DoubleExtended::from_str_r(text, Round::NearestTiesToEven).ok()?;
        let out_of_range = read.status.intersects(Status::OVERFLOW | Status::UNDERFLOW);
        Some((Extended::of(read.value), out_of_range))
    }

    pub fn is_nan(self) -> bool {
        self == Extended::NAN
    }

    pub fn is_infinite(self) -> bool {
        self.abs() == Extended::INFINITY
    }

    pub fn is_finite(self) -> bool {
        self.0 >> 64 & MAX_EXPONENT != MAX_EXPONENT
    }

    pub fn is_zero(self) -> bool {
        self.abs() == Extended::ZERO
    }

    /// Finite, and neither a zero nor a denormal.
    pub fn is_normal(self) -> bool {
        self.is_finite() && self.0 & LEADING != 0
    }

    pub fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }

    pub fn abs(self) -> Extended {
        Extended(self.0 & !SIGN)
    }

    fn with_sign(self, negative: bool) -> Extended {
        if negative && !self.is_nan() { Extended(self.0 | SIGN) } else { self.abs() }
    }

    pub fn negated(self) -> Extended {
        self.with_sign(!self.is_negative())
    }

    /// Returns `value * 2^by`, rounded once.
    pub fn scaled(self, by: i32) -> Extended {
        Extended::of(self.value().scalbn_r(by, Round::NearestTiesToEven))
    }

    /// Returns a finite number without its sign as `significand * 2^exponent`.
    pub fn parts(self) -> (u64, i32) {
        let field = (self.0 >> 64 & MAX_EXPONENT) as i32;
        (self.0 as u64, field.max(1) - BIAS)
    }

    fn compared(self, other: Extended) -> Option<Ordering> {
        self.value().partial_cmp(&other.value())
    }

    fn rounded(self, rounding: Rounding) -> Extended {
        let round = match rounding {
            Rounding::Floor => Round::TowardNegative,
            Rounding::Ceil => Round::TowardPositive,
            Rounding::Trunc => Round::TowardZero,
            Rounding::Away => Round::NearestTiesToAway,
            Rounding::Even => Round::NearestTiesToEven,
        };
        Extended::of(self.value().round_to_integral(round).value)
    }

    /// Returns the square root, rounded to nearest.
    fn root(self) -> Extended {
        if self.is_nan() || self.is_zero() || self == Extended::INFINITY {
            return self;
        }
        if self.is_negative() {
            return Extended::NAN;
        }
        let (significand, exponent) = self.parts();
        let shift = significand.leading_zeros() as i32;
        let (significand, exponent) = (u128::from(significand << shift), exponent - shift);
        // Of 126 to 128 bits, with an even exponent: the root has 64 bits.
        let up = 63 + i32::from((exponent - 63) % 2 != 0);
        let square = significand << up;
        let root = square.isqrt();
        // Between a root and the next, the middle is no square root of an integer: no ties.
        let rounded = root + u128::from(square - root * root > root);
        Extended::from_unsigned(rounded).scaled((exponent - up) / 2)
    }

    /// Returns the smaller or the larger number as C's `fmin` and `fmax` do.
    fn chosen(self, other: Extended, smaller: bool) -> Extended {
        if self.is_nan() {
            return other;
        }
        let signed = if smaller { self.is_negative() } else { other.is_negative() };
        match self.compared(other) {
            None => self,
            Some(Ordering::Equal) => {
                if signed {
                    self
                } else {
                    other
                }
            }
            Some(order) => {
                if (order == Ordering::Less) == smaller {
                    self
                } else {
                    other
                }
            }
        }
    }

    /// Truncates towards zero; out of range is an event.
    fn to_integer(self, width: u16, signed: bool) -> Result<Const, UndefinedKind> {
        let (value, mut exact) = (self.value(), false);
        let (status, bits) = if signed {
            let r = value.to_i128_r(width.into(), Round::TowardZero, &mut exact);
            (r.status, r.value as u128)
        } else {
            let r = value.to_u128_r(width.into(), Round::TowardZero, &mut exact);
            (r.status, r.value)
        };
        if status.intersects(Status::INVALID_OP) {
            return Err(UndefinedKind::FloatToInt);
        }
        Ok(Const::Bv { width, bits: bits & Const::mask(width) })
    }
}

/// As a C literal of this type, hexadecimal and hence exact.
impl fmt::Display for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative() { "-" } else { "" };
        if !self.is_finite() {
            return write!(f, "{sign}{}", if self.is_nan() { "nan" } else { "inf" });
        }
        write!(f, "{sign}{}L", Decimal::of(*self).shortest(*self))
    }
}

impl fmt::Debug for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Evaluates an operator of which the first argument is a `long double`.
pub(super) fn eval(op: Op, args: &[Const]) -> Result<Const, UndefinedKind> {
    const BAD: UndefinedKind = UndefinedKind::BadCall;
    let get = |i: usize| match args.get(i) {
        Some(Const::F80(x)) => Ok(*x),
        _ => Err(BAD),
    };
    let made = |x: X87DoubleExtended| Ok(Const::F80(Extended::of(x)));
    let holds = |b: bool| Ok(Const::Bool(b));
    let a = get(0)?;
    if let [_] = args {
        return match op {
            Op::FNeg => Ok(Const::F80(a.negated())),
            Op::FAbs => Ok(Const::F80(a.abs())),
            Op::FSqrt => Ok(Const::F80(a.root())),
            Op::FRound(rounding) => Ok(Const::F80(a.rounded(rounding))),
            Op::FIsNan => holds(a.is_nan()),
            Op::FIsInf => holds(a.is_infinite()),
            Op::FSignbit => holds(a.is_negative()),
            Op::FToF(Sort::F32) => Ok(Const::f32(a.to_f32())),
            Op::FToF(Sort::F64) => Ok(Const::f64(a.to_f64())),
            Op::FToF(Sort::F80) => Ok(Const::F80(a)),
            Op::FToS(width) => a.to_integer(width, true),
            Op::FToU(width) => a.to_integer(width, false),
            Op::FToBits => Ok(Const::Bv { width: 80, bits: a.to_bits() }),
            _ => Err(BAD),
        };
    }
    let b = get(1)?;
    match (op, args.len()) {
        (Op::FAdd, 2) => made((a.value() + b.value()).value),
        (Op::FSub, 2) => made((a.value() - b.value()).value),
        (Op::FMul, 2) => made((a.value() * b.value()).value),
        (Op::FDiv, 2) => made((a.value() / b.value()).value),
        (Op::FRem, 2) => made(a.value().c_fmod(b.value()).value),
        (Op::FMin, 2) => Ok(Const::F80(a.chosen(b, true))),
        (Op::FMax, 2) => Ok(Const::F80(a.chosen(b, false))),
        (Op::FCopysign, 2) => Ok(Const::F80(a.with_sign(b.is_negative()))),
        (Op::FEq, 2) => holds(a.compared(b) == Some(Ordering::Equal)),
        (Op::FLt, 2) => holds(a.compared(b) == Some(Ordering::Less)),
        (Op::FLe, 2) => holds(matches!(a.compared(b), Some(Ordering::Less | Ordering::Equal))),
        (Op::FFma, 3) => made(a.value().mul_add(b.value(), get(2)?.value()).value),
        _ => Err(BAD),
    }
}

#[cfg(test)]
mod tests;
