//! `stdlib.h`: arithmetic, conversions of text to numbers, random numbers.

use super::{Arguments, Model, NOTHING, row};
use crate::interp::machine::{Machine, Run};
use crate::ir::{Const, UndefinedKind};

const EINVAL: i32 = 22;
const ERANGE: i32 = 34;
const ALL: u64 = u64::MAX;

pub(super) const MODELS: &[Model] = &[
    row("abs", absolute),
    row("labs", absolute),
    row("llabs", absolute),
    row("imaxabs", absolute),
    // glibc's `atoi` is `strtol` with the result cut to an `int`.
    row("atoi", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        let long = a.pointer_bits;
        a.integer(parse_integer(&text, 10, long, true).value as i32 as i128)
    }),
    row("atol", |m, a| to_integer(m, a, None, true)),
    row("atoll", |m, a| to_integer(m, a, None, true)),
    row("strtol", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoll", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoimax", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoul", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("strtoull", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("strtoumax", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("atof", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        Ok(Some(Const::f64(parse_float(&text, false).value)))
    }),
    row("strtod", |m, a| to_float(m, a, false)),
    row("strtof", |m, a| to_float(m, a, true)),
    row("rand", |m, a| a.integer(m.random.next() as i128)),
    row("random", |m, a| a.integer(m.random.next() as i128)),
    row("srand", seed),
    row("srandom", seed),
    row("rand_r", |m, a| {
        let mut state = m.memory.load(a.word(0)?, 4)? as u32;
        let mut draw = |range: u32| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state / 65_536) % range
        };
        let (high, middle, low) = (draw(2_048), draw(1_024), draw(1_024));
        m.memory.store(a.word(0)?, 4, state as u128)?;
        a.integer((((high << 10) ^ middle) << 10 ^ low) as i128)
    }),
    row("ffs", |_, a| a.integer(lowest_bit(a.i32(0)? as i128))),
    row("ffsl", |_, a| a.integer(lowest_bit(a.int(0)?))),
    row("ffsll", |_, a| a.integer(lowest_bit(a.int(0)?))),
];

fn lowest_bit(v: i128) -> i128 {
    if v == 0 { 0 } else { v.trailing_zeros() as i128 + 1 }
}

/// `abs(INT_MIN)` wraps, as the machine's negation does.
fn absolute(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let c = a.value(0)?;
    let v = c.signed().ok_or(UndefinedKind::BadCall)?;
    let wrapped = Const::bv(c.sort().bits().unwrap_or(32), v.abs());
    if wrapped.signed() != Some(v.abs()) {
        m.events.overflow = true;
    }
    a.integer(wrapped.signed().unwrap_or(0))
}

fn seed(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    m.random.seed(a.i32(0)? as u32);
    NOTHING
}

/// A number read from text.
pub(super) struct Parsed<T> {
    pub value: T,
    /// Bytes that belong to it; 0 when there is none.
    pub length: usize,
    pub out_of_range: bool,
}

fn leading_space(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, 9..=13 | 32)).count()
}

/// Reads an integer as `strtol` does, clamped to a signed or unsigned type of `bits` bits.
pub(super) fn parse_integer(text: &[u8], base: u32, bits: u16, signed: bool) -> Parsed<i128> {
    let mut at = leading_space(text);
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let digit = |i: usize, base: u32| text.get(i).and_then(|b| (*b as char).to_digit(base.clamp(2, 36)));
    let prefixed = text.get(at) == Some(&b'0') && matches!(text.get(at + 1), Some(b'x' | b'X'));
    let mut base = base;
    if (base == 0 || base == 16) && prefixed && digit(at + 2, 16).is_some() {
        at += 2;
        base = 16;
    } else if base == 0 {
        base = if text.get(at) == Some(&b'0') { 8 } else { 10 };
    }
    let (first, mut magnitude) = (at, 0u128);
    while let Some(d) = digit(at, base) {
        magnitude = magnitude.saturating_mul(base as u128).saturating_add(d as u128);
        at += 1;
    }
    if at == first {
        return Parsed { value: 0, length: 0, out_of_range: false };
    }
    let top = if signed { 1u128 << (bits - 1) } else { (1u128 << bits) - 1 };
    let limit = if signed && !negative { top - 1 } else { top };
    let out_of_range = magnitude > limit;
    let clamped = magnitude.min(limit) as i128;
    // An unsigned result is negated in its type, but never when it was clamped.
    let value = if negative && (signed || !out_of_range) { -clamped } else { clamped };
    Parsed { value, length: at, out_of_range }
}

fn to_integer(m: &mut Machine<'_>, a: &Arguments<'_>, base: Option<i32>, signed: bool) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(0)?, ALL)?;
    let base_number = base.unwrap_or(10);
    if base_number < 0 || base_number == 1 || base_number > 36 {
        m.set_errno(EINVAL)?;
        return a.integer(0);
    }
    let parsed = parse_integer(&text, base_number as u32, a.result_bits(), signed);
    finish(m, a, base.is_some(), parsed.length, parsed.out_of_range)?;
    a.integer(parsed.value)
}

/// Stores the end pointer and ERANGE.
fn finish(m: &mut Machine<'_>, a: &Arguments<'_>, has_end: bool, length: usize, range: bool) -> Run<()> {
    if has_end && a.word(1)? != 0 {
        let end = a.word(0)? + length as u64;
        m.memory.store(a.word(1)?, a.pointer_bytes(), end as u128)?;
    }
    if range {
        m.set_errno(ERANGE)?;
    }
    Ok(())
}

fn to_float(m: &mut Machine<'_>, a: &Arguments<'_>, narrow: bool) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(0)?, ALL)?;
    let parsed = parse_float(&text, narrow);
    finish(m, a, true, parsed.length, parsed.out_of_range)?;
    Ok(Some(if narrow { Const::f32(parsed.value as f32) } else { Const::f64(parsed.value) }))
}

/// Reads a floating number as `strtod` does, rounded once to binary64, or to binary32 if `narrow`.
pub(super) fn parse_float(text: &[u8], narrow: bool) -> Parsed<f64> {
    let start = leading_space(text);
    let mut at = start;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let sign = if negative { -1.0 } else { 1.0 };
    let rest = text.get(at..).unwrap_or(&[]);
    let begins = |word: &[u8]| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word);
    for (word, value) in [(&b"infinity"[..], f64::INFINITY), (b"inf", f64::INFINITY), (b"nan", f64::NAN)] {
        if begins(word) {
            return Parsed { value: sign * value, length: at + word.len(), out_of_range: false };
        }
    }
    if begins(b"0x")
        && let Some((value, n)) = hexadecimal(rest.get(2..).unwrap_or(&[]), narrow)
    {
        return Parsed { value: sign * value, length: at + 2 + n, out_of_range: value.is_infinite() };
    }
    let n = decimal_length(rest);
    let Some(number) = rest.get(..n).filter(|r| !r.is_empty()).and_then(|r| std::str::from_utf8(r).ok())
    else {
        return Parsed { value: 0.0, length: 0, out_of_range: false };
    };
    let value = if narrow {
        number.parse::<f32>().map_or(0.0, |v| v as f64)
    } else {
        number.parse::<f64>().unwrap_or(0.0)
    };
    let mantissa = number.split(['e', 'E']).next().unwrap_or("");
    let vanished = value == 0.0 && mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b));
    Parsed { value: sign * value, length: at + n, out_of_range: value.is_infinite() || vanished }
}

/// Returns the length of the longest decimal floating number without a sign; 0 for none.
fn decimal_length(text: &[u8]) -> usize {
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut n = whole;
    let mut fraction = 0;
    if text.get(n) == Some(&b'.') {
        fraction = digits(n + 1);
        n += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(text.get(n), Some(b'e' | b'E')) {
        let signed = matches!(text.get(n + 1), Some(b'+' | b'-')) as usize;
        let exponent = digits(n + 1 + signed);
        if exponent > 0 {
            n += 1 + signed + exponent;
        }
    }
    n
}

/// Reads hexadecimal digits with an optional binary exponent, rounded to nearest even.
fn hexadecimal(text: &[u8], narrow: bool) -> Option<(f64, usize)> {
    let (mut mantissa, mut exponent, mut sticky) = (0u64, 0i64, false);
    let (mut at, mut digits, mut point) = (0, 0, false);
    loop {
        match text.get(at) {
            Some(b'.') if !point => point = true,
            Some(b) if b.is_ascii_hexdigit() => {
                digits += 1;
                let d = (*b as char).to_digit(16)? as u64;
                if mantissa >> 58 == 0 {
                    mantissa = mantissa << 4 | d;
                    exponent -= if point { 4 } else { 0 };
                } else {
                    sticky |= d != 0;
                    exponent += if point { 0 } else { 4 };
                }
            }
            _ => break,
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let signed = matches!(text.get(at + 1), Some(b'+' | b'-')) as usize;
        let from = at + 1 + signed;
        let n = text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        if n > 0 {
            let number = text.get(from..from + n).and_then(|t| std::str::from_utf8(t).ok())?;
            let e = number.parse::<i64>().unwrap_or(1 << 40).min(1 << 40);
            exponent += if text.get(at + 1) == Some(&b'-') { -e } else { e };
            at = from + n;
        }
    }
    Some((scale(mantissa, sticky, exponent, if narrow { 24 } else { 53 }, narrow), at))
}

/// Returns `mantissa * 2^exponent` (a little more if `sticky`) rounded to nearest even in a format
/// of `precision` bits.
fn scale(mantissa: u64, sticky: bool, exponent: i64, precision: i64, narrow: bool) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let (lowest, highest) = if narrow { (-149, 127) } else { (-1074, 1023) };
    let top = 63 - mantissa.leading_zeros() as i64 + exponent;
    if top > highest {
        return f64::INFINITY;
    }
    // The unit of the last kept bit.
    let unit = (top - precision + 1).max(lowest);
    let drop = unit - exponent;
    let mut kept = mantissa as u128;
    let mut unit_exponent = exponent;
    if drop > 0 {
        let drop = drop.min(100) as u32;
        let rest = kept & ((1 << drop) - 1);
        kept >>= drop;
        let half = 1u128 << (drop - 1);
        if rest > half || (rest == half && (sticky || kept & 1 == 1)) {
            kept += 1;
        }
        unit_exponent = unit;
    }
    // Exact: at most 53 bits, scaled in two steps so that neither leaves the range.
    let half = unit_exponent / 2;
    let v = kept as f64 * 2f64.powi(half as i32) * 2f64.powi((unit_exponent - half) as i32);
    if narrow && v > f32::MAX as f64 { f64::INFINITY } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_clamp_and_stop_where_strtol_does() {
        let p = |t: &str, base, bits, signed| {
            let p = parse_integer(t.as_bytes(), base, bits, signed);
            (p.value, p.length, p.out_of_range)
        };
        assert_eq!(p(" -12x", 10, 64, true), (-12, 4, false));
        assert_eq!(p("0x", 0, 64, true), (0, 1, false));
        assert_eq!(p("0x1g", 16, 64, true), (1, 3, false));
        assert_eq!(p("99999999999", 10, 32, true), (i32::MAX as i128, 11, true));
        assert_eq!(p("-1", 10, 64, false), (-1, 2, false));
        assert_eq!(p("+", 10, 64, true), (0, 0, false));
    }

    #[test]
    fn floats_round_once() {
        let p = |t: &str| {
            let p = parse_float(t.as_bytes(), false);
            (p.value, p.length)
        };
        assert_eq!(p("1.5e3x"), (1500.0, 5));
        assert_eq!(p(".5."), (0.5, 2));
        assert_eq!(p("1e+"), (1.0, 1));
        assert_eq!(p("-0x1.8p1"), (-3.0, 8));
        assert_eq!(p("0x.p1"), (0.0, 1));
        assert_eq!(p("-infinite"), (f64::NEG_INFINITY, 4));
        assert_eq!(p("0x1p-1074").0, f64::from_bits(1));
        assert_eq!(p("0x1.00000000000008p0").0, 1.0);
        assert_eq!(p("0x1.000000000000080000000000000001p0").0, 1.0 + f64::EPSILON);
        assert!(parse_float(b"1e400", false).out_of_range);
    }
}
