//! Text to numbers: the `strto*` family of the C library in the C locale.
//!
//! Text ends at its last byte or at a NUL. Decimal floats are rounded once, from all their digits,
//! to the target format (so `strtof` does not round through `double`); Rust's parser does that for
//! any number of digits, and is given at most [`KEPT_DIGITS`] of them with a last one that keeps
//! the rest's weight, since no halfway point between two binary64 values has more. Hexadecimal
//! floats are rounded here.

use super::spec::is_space;
use crate::ir::{DataModel, Extended};

/// Result of reading a number off the front of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parsed<T> {
    pub value: T,
    /// Bytes up to where the end pointer goes; 0 when there is no number.
    pub consumed: usize,
    /// `errno` becomes `ERANGE`.
    pub range_error: bool,
}

impl<T> Parsed<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed { value: f(self.value), consumed: self.consumed, range_error: self.range_error }
    }
}

/// Significant decimal digits that decide every rounding to binary64: 767 for the longest halfway
/// point, and one for the weight of what follows.
const KEPT_DIGITS: usize = 800;

fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// Skips whitespace and a sign; returns the offset after them and whether the sign is a minus.
fn spaces_and_sign(text: &[u8]) -> (usize, bool) {
    let start = text.iter().take_while(|&&b| is_space(b)).count();
    match byte(text, start) {
        b'-' => (start + 1, true),
        b'+' => (start + 1, false),
        _ => (start, false),
    }
}

fn digit(b: u8, base: u32) -> Option<u32> {
    char::from(b).to_digit(base)
}

/// Returns sign, magnitude (`None` when it does not fit 64 bits) and length; length 0: no number.
fn integer(text: &[u8], base: u32) -> (bool, Option<u64>, usize) {
    let (mut at, negative) = spaces_and_sign(text);
    if base == 1 || base > 36 {
        return (negative, Some(0), 0);
    }
    let zero = byte(text, at) == b'0';
    let mut base = base;
    let mut zero_end = None;
    if zero && byte(text, at + 1).eq_ignore_ascii_case(&b'x') && (base == 0 || base == 16) {
        // `0x` without a digit after it is the number 0, and the end is before the `x`.
        zero_end = Some(at + 1);
        at += 2;
        base = 16;
    } else if base == 0 {
        base = if zero { 8 } else { 10 };
    }
    let first = at;
    let mut value = Some(0u64);
    while let Some(d) = digit(byte(text, at), base) {
        value = value.and_then(|v| v.checked_mul(base.into())?.checked_add(d.into()));
        at += 1;
    }
    match (at > first, zero_end) {
        (true, _) => (negative, value, at),
        (false, Some(end)) => (negative, Some(0), end),
        (false, None) => (negative, Some(0), 0),
    }
}

/// Reads a signed integer of `bits` (32 or 64) in `base` (0, 2..=36), saturating.
///
/// An invalid base reads nothing (C sets `errno` to `EINVAL`).
pub fn strtol(text: &[u8], base: u32, bits: u16) -> Parsed<i64> {
    let (negative, magnitude, consumed) = integer(text, base);
    let shift = 64 - u32::from(bits.clamp(1, 64));
    let (low, high) = (i64::MIN >> shift, i64::MAX >> shift);
    let exact = magnitude.map(|m| if negative { -i128::from(m) } else { i128::from(m) });
    match exact.and_then(|v| i64::try_from(v).ok()).filter(|v| (low..=high).contains(v)) {
        Some(value) => Parsed { value, consumed, range_error: false },
        None => Parsed { value: if negative { low } else { high }, consumed, range_error: true },
    }
}

/// Reads an unsigned integer of `bits` (32 or 64) in `base` (0, 2..=36); a minus negates modulo
/// 2^bits, a magnitude that is too large gives the largest value.
pub fn strtoul(text: &[u8], base: u32, bits: u16) -> Parsed<u64> {
    let (negative, magnitude, consumed) = integer(text, base);
    let high = u64::MAX >> (64 - u32::from(bits.clamp(1, 64)));
    match magnitude.filter(|&m| m <= high) {
        Some(m) => {
            let value = if negative { m.wrapping_neg() & high } else { m };
            Parsed { value, consumed, range_error: false }
        }
        None => Parsed { value: high, consumed, range_error: true },
    }
}

/// `atoi`: `strtol` cut to `int`, as glibc does where C leaves overflow undefined.
pub fn atoi(text: &[u8], model: DataModel) -> i32 {
    strtol(text, 10, model.pointer_bits()).value as i32
}

/// `atol`.
pub fn atol(text: &[u8], model: DataModel) -> i64 {
    strtol(text, 10, model.pointer_bits()).value
}

/// `atof`.
pub fn atof(text: &[u8]) -> f64 {
    strtod(text).value
}

/// Reads a binary64. NaNs lose their payload; the sign of one is kept but means nothing.
pub fn strtod(text: &[u8]) -> Parsed<f64> {
    float(text, &BINARY64).map(f64::from_bits)
}

/// Reads a binary32, rounded once.
pub fn strtof(text: &[u8]) -> Parsed<f32> {
    float(text, &BINARY32).map(|bits| f32::from_bits(bits as u32))
}

/// Reads a `long double`, rounded once.
pub fn strtold(text: &[u8]) -> Parsed<Extended> {
    // The syntax is that of `double`; the value is another.
    let syntax = strtod(text);
    let (start, negative) = spaces_and_sign(text);
    let number = text.get(start..syntax.consumed).unwrap_or(&[]);
    let (value, range_error) = match number.first() {
        Some(b'0'..=b'9' | b'.') => {
            std::str::from_utf8(number).ok().and_then(Extended::parse).unwrap_or((Extended::ZERO, false))
        }
        Some(b'i' | b'I') => (Extended::INFINITY, false),
        Some(_) => (Extended::NAN, false),
        None => (Extended::ZERO, false),
    };
    let value = if negative { value.negated() } else { value };
    Parsed { value, consumed: syntax.consumed, range_error }
}

/// A binary format, by its bits.
struct Format {
    /// Bits of the significand, the leading one included.
    precision: u32,
    /// Exponent of the unit in the last place of denormals.
    min_exponent: i64,
    /// Largest biased exponent, that of infinities.
    max_biased: u64,
    /// Rounds a decimal number in Rust's syntax to bits.
    decimal: fn(&str) -> Option<u64>,
    /// Writes a value exactly, in decimal, given its bits.
    exact: fn(u64) -> String,
}

const BINARY64: Format = Format {
    precision: 53,
    min_exponent: -1074,
    max_biased: 0x7ff,
    decimal: |s| s.parse::<f64>().ok().map(f64::to_bits),
    exact: |bits| format!("{:.1074}", f64::from_bits(bits)),
};

const BINARY32: Format = Format {
    precision: 24,
    min_exponent: -149,
    max_biased: 0xff,
    decimal: |s| s.parse::<f32>().ok().map(|v| v.to_bits().into()),
    exact: |bits| format!("{:.149}", f32::from_bits(bits as u32)),
};

impl Format {
    fn infinity(&self) -> u64 {
        self.max_biased << (self.precision - 1)
    }

    fn quiet_nan(&self) -> u64 {
        self.infinity() | 1 << (self.precision - 2)
    }

    fn sign(&self) -> u64 {
        (self.max_biased + 1) << (self.precision - 1)
    }

    /// Returns whether the bits are of a zero or denormal.
    fn is_tiny(&self, bits: u64) -> bool {
        bits >> (self.precision - 1) == 0
    }

    /// Rounds `mantissa * 2^exponent`, half to even; `sticky` says that the exact mantissa is a
    /// little more than given. Returns the bits and whether they are inexact.
    fn round(&self, mantissa: u128, exponent: i64, sticky: bool) -> (u64, bool) {
        if mantissa == 0 {
            return (0, sticky);
        }
        let top = 127 - i64::from(mantissa.leading_zeros()) + exponent;
        let unit = (top - i64::from(self.precision) + 1).max(self.min_exponent);
        let drop = unit - exponent;
        let (kept, inexact) = if drop <= 0 {
            (mantissa << (-drop).min(127), sticky)
        } else if drop > 127 {
            (0, true)
        } else {
            let (kept, rest) = (mantissa >> drop, mantissa & ((1 << drop) - 1));
            let half = 1u128 << (drop - 1);
            let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
            (kept + u128::from(up), rest != 0 || sticky)
        };
        // A carry into the next binade falls out of the addition below.
        let binade = (unit - self.min_exponent) as u64;
        let bits = (binade << (self.precision - 1)).saturating_add(kept as u64);
        let overflow = binade >= self.max_biased || bits >= self.infinity();
        if overflow { (self.infinity(), true) } else { (bits, inexact) }
    }
}

fn float(text: &[u8], format: &Format) -> Parsed<u64> {
    let (at, negative) = spaces_and_sign(text);
    let rest = text.get(at..).unwrap_or(&[]);
    let unsigned = word(rest, format)
        .or_else(|| hexadecimal(rest, format))
        .or_else(|| decimal(rest, format))
        .unwrap_or(Parsed { value: 0, consumed: 0, range_error: false });
    if unsigned.consumed == 0 {
        return unsigned;
    }
    let sign = if negative { format.sign() } else { 0 };
    Parsed { consumed: at + unsigned.consumed, ..unsigned.map(|bits| bits | sign) }
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word))
}

/// `inf`, `infinity`, `nan`, `nan(...)`.
fn word(text: &[u8], format: &Format) -> Option<Parsed<u64>> {
    let found = |value, consumed| Some(Parsed { value, consumed, range_error: false });
    if starts_with(text, b"infinity") {
        return found(format.infinity(), 8);
    }
    if starts_with(text, b"inf") {
        return found(format.infinity(), 3);
    }
    if !starts_with(text, b"nan") {
        return None;
    }
    let inside = text.iter().skip(4).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let closed = byte(text, 3) == b'(' && byte(text, 4 + inside) == b')';
    found(format.quiet_nan(), if closed { 5 + inside } else { 3 })
}

/// Reads `e` or `p` with an exponent; returns its value, clamped, and length (0: there is none).
fn exponent(text: &[u8], letter: u8) -> (i64, usize) {
    if !byte(text, 0).eq_ignore_ascii_case(&letter) {
        return (0, 0);
    }
    let (first, negative) = match byte(text, 1) {
        b'-' => (2, true),
        b'+' => (2, false),
        _ => (1, false),
    };
    let digits = text.iter().skip(first).take_while(|b| b.is_ascii_digit());
    let (count, value) = digits.fold((0, 0i64), |(n, v), d| {
        (n + 1, v.saturating_mul(10).saturating_add(i64::from(d - b'0')).min(1 << 60))
    });
    if count == 0 { (0, 0) } else { (if negative { -value } else { value }, first + count) }
}

/// Digits with at most one point among them.
struct Digits<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Bytes that they take, the point included; 0 when there is no digit.
    len: usize,
}

fn digits(text: &[u8], is_digit: fn(&u8) -> bool) -> Digits<'_> {
    let run = |from: usize| {
        let rest = text.get(from..).unwrap_or(&[]);
        rest.split(|b| !is_digit(b)).next().unwrap_or(&[])
    };
    let whole = run(0);
    let fraction = if byte(text, whole.len()) == b'.' { run(whole.len() + 1) } else { &[] };
    let point = usize::from(byte(text, whole.len()) == b'.');
    let some = !whole.is_empty() || !fraction.is_empty();
    Digits { whole, fraction, len: if some { whole.len() + point + fraction.len() } else { 0 } }
}

fn hexadecimal(text: &[u8], format: &Format) -> Option<Parsed<u64>> {
    if byte(text, 0) != b'0' || !byte(text, 1).eq_ignore_ascii_case(&b'x') {
        return None;
    }
    let rest = text.get(2..)?;
    let Digits { whole, fraction, len } = digits(rest, u8::is_ascii_hexdigit);
    if len == 0 {
        return None;
    }
    let (power, power_len) = exponent(rest.get(len..).unwrap_or(&[]), b'p');
    let (mut mantissa, mut sticky, mut scale) = (0u128, false, power);
    for (i, &b) in whole.iter().chain(fraction).enumerate() {
        let d = u128::from(digit(b, 16).unwrap_or(0));
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | d;
            scale -= if i < whole.len() { 0 } else { 4 };
        } else {
            sticky |= d != 0;
            scale += if i < whole.len() { 4 } else { 0 };
        }
    }
    let (value, inexact) = format.round(mantissa, scale, sticky);
    let range_error = inexact && (format.is_tiny(value) || value == format.infinity());
    Some(Parsed { value, consumed: 2 + len + power_len, range_error })
}

fn decimal(text: &[u8], format: &Format) -> Option<Parsed<u64>> {
    let Digits { whole, fraction, len } = digits(text, u8::is_ascii_digit);
    if len == 0 {
        return None;
    }
    let (power, power_len) = exponent(text.get(len..).unwrap_or(&[]), b'e');
    let done = |value, range_error| Some(Parsed { value, consumed: len + power_len, range_error });
    let all = || whole.iter().chain(fraction).copied();
    let zeros = all().take_while(|&b| b == b'0').count();
    let mut significant: Vec<u8> = all().skip(zeros).take(KEPT_DIGITS).collect();
    if significant.is_empty() {
        return done(0, false);
    }
    if all().skip(zeros + KEPT_DIGITS).any(|b| b != b'0') {
        significant.push(b'1');
    }
    // The value is 0.d1d2d3... * 10^point.
    let point = (whole.len() as i64 - zeros as i64).saturating_add(power);
    if point > 400 {
        return done(format.infinity(), true);
    }
    if point < -400 {
        return done(0, true);
    }
    let significant = String::from_utf8(significant).ok()?;
    let value = (format.decimal)(&format!("0.{significant}e{point}"))?;
    let tiny = format.is_tiny(value);
    let range_error = value == format.infinity() || (tiny && !is_exact(&significant, point, value, format));
    done(value, range_error)
}

/// Returns whether a denormal's value is exactly `0.significant * 10^point`.
fn is_exact(significant: &str, point: i64, value: u64, format: &Format) -> bool {
    let exact = (format.exact)(value);
    let fraction = exact.strip_prefix("0.").unwrap_or(&exact);
    let nonzero = fraction.trim_start_matches('0');
    let exact_point = nonzero.len() as i64 - fraction.len() as i64;
    exact_point == point && nonzero.trim_end_matches('0') == significant.trim_end_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_base() {
        let check = |text: &str, base, expected: (i64, usize, bool)| {
            let p = strtol(text.as_bytes(), base, 64);
            assert_eq!((p.value, p.consumed, p.range_error), expected, "{text:?} base {base}");
        };
        check("  -12x", 10, (-12, 5, false));
        check("0x1fg", 0, (31, 4, false));
        check("0xg", 16, (0, 1, false));
        check("0x", 0, (0, 1, false));
        check("017", 0, (15, 3, false));
        check("08", 0, (0, 1, false));
        check("zz", 36, (35 * 36 + 35, 2, false));
        check("+", 10, (0, 0, false));
        check("", 10, (0, 0, false));
        check("12", 1, (0, 0, false));
        check("-9223372036854775808", 10, (i64::MIN, 20, false));
        check("9223372036854775808", 10, (i64::MAX, 19, true));
        check("-99999999999999999999999", 10, (i64::MIN, 24, true));
        assert_eq!(strtol(b"4000000000", 10, 32).value, i64::from(i32::MAX));
        assert_eq!(strtoul(b"-1", 10, 32).value, u64::from(u32::MAX));
        assert_eq!(strtoul(b"-18446744073709551616", 10, 64).value, u64::MAX);
        assert_eq!(atoi(b"4294967297", DataModel::Lp64), 1);
        assert_eq!(atoi(b"4294967297", DataModel::Ilp32), i32::MAX);
    }

    #[test]
    fn floats_round_once() {
        let check = |text: &str, value: f64, consumed: usize, range_error: bool| {
            let p = strtod(text.as_bytes());
            assert_eq!((p.value, p.consumed, p.range_error), (value, consumed, range_error), "{text:?}");
        };
        check("1e", 1.0, 1, false);
        check("1e+", 1.0, 1, false);
        check("-1.5e3x", -1500.0, 6, false);
        check(".", 0.0, 0, false);
        check("1.", 1.0, 2, false);
        check(".5", 0.5, 2, false);
        check("0x", 0.0, 1, false);
        check("0x.p1", 0.0, 1, false);
        check("0x1.8p1", 3.0, 7, false);
        check("0x1p", 1.0, 3, false);
        check("infinite", f64::INFINITY, 3, false);
        check("-INFINITY", f64::NEG_INFINITY, 9, false);
        check("1e400", f64::INFINITY, 5, true);
        check("1e-400", 0.0, 6, true);
        check("4.9e-324", 5e-324, 8, true);
        check("0x1p-1074", 5e-324, 9, false);
        check("0x0.00000000000018p-1022", 1e-323, 24, true);
        check("0x1.fffffffffffff8p1023", f64::INFINITY, 23, true);
        check("0x1.00000000000008p0", 1.0, 20, false);
        check("0x1.00000000000008000000000000000000000000000000001p0", 1.0 + f64::EPSILON, 53, false);
        let zeros = "0".repeat(1000);
        check(&format!("0.{zeros}1e1001"), 1.0, 1008, false);
        check(&format!("1{zeros}e-1000"), 1.0, 1007, false);
        // Just above the midpoint of two binary32 values, by less than binary64 can tell.
        assert_eq!(strtof(b"1.00000005960464477539062500000000001").value, 1.0 + f32::EPSILON);
        assert_eq!(strtof(b"1.000000059604644775390625").value, 1.0);
        assert_eq!(strtof(b"1e-45").value.to_bits(), 1);
        assert!(strtod(b"nan(a_1)").value.is_nan());
        assert_eq!(strtod(b"nan(a_1)z").consumed, 8);
        assert_eq!(strtod(b"nan(a-1)").consumed, 3);
    }
}
