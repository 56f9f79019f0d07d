//! Floats as inputs: the values of such an input have numbers, in their order, and these are what is counted.
//!
//! Either every float of the sort has one (the *ordered integers* of IEEE 754 formats: neighbours differ by 1), or the
//! values are those of a row with equal steps, each rounded to the nearest float.

use crate::lattice::Range;
use invdiff_ir::{Const, Sort};
use std::fmt;

/// Which values the numbers of an input stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// A number stands for itself.
    #[default]
    Own,
    /// Every float in order: 0 is +0.0, -1 is -0.0, 1 the smallest above 0.
    Ordered,
    /// `first + k * step`, rounded to the input's sort.
    Steps { first: Decimal, step: Decimal },
}

impl Values {
    /// The value of a number.
    pub fn constant(&self, sort: Sort, number: i128) -> Option<Const> {
        match self {
            Values::Own => match sort {
                Sort::Bool => Some(Const::Bool(number != 0)),
                Sort::Bv(width) => Some(Const::bv(width, number)),
                _ => None,
            },
            Values::Ordered => {
                let sign = 1u128 << sort.bits().filter(|_| sort.is_float())?.checked_sub(1)?;
                let bits = if number < 0 { sign | (-1 - number) as u128 } else { number as u128 };
                Const::from_bits(sort, bits)
            }
            Values::Steps { first, step } => first.plus(number, *step)?.float(sort),
        }
    }
}

impl Values {
    /// The number of a value; `None`: it has none.
    pub fn number(&self, sort: Sort, value: Decimal) -> Option<i128> {
        match self {
            Values::Own => value.as_whole(),
            Values::Ordered => ordered(value.float(sort)?),
            Values::Steps { first, step } => {
                let (from, by, exponent) = first.aligned(*step)?;
                let (value, one, other) = value.aligned(Decimal { digits: 1, exponent })?;
                let from_first = (other == exponent && one == 1).then(|| value.checked_sub(from))??;
                (by > 0 && from_first % by == 0).then(|| from_first / by)
            }
        }
    }
}

/// A number as it is written: `digits * 10^exponent`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal {
    digits: i128,
    exponent: i32,
}

/// Digits of the longest number, and powers of ten.
const MAX_DIGITS: usize = 25;
const MAX_EXPONENT: i32 = 400;
/// What is larger than every float.
const INFINITE: i32 = 9_999;

impl Decimal {
    /// A whole number.
    pub fn whole(number: i128) -> Decimal {
        Decimal { digits: number, exponent: 0 }
    }

    /// Reads `-0.25`, `1e-3`, `inf`; `None`: it is no number, or has more than 25 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        if rest.eq_ignore_ascii_case("inf") {
            return Some(Decimal { digits: sign, exponent: INFINITE });
        }
        let (number, exponent) = match rest.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let is_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let length = whole.len() + part.len();
        if !is_digits(whole) || !is_digits(part) || !(1..=MAX_DIGITS).contains(&length) {
            return None;
        }
        let digits: i128 = format!("{whole}{part}").parse().ok()?;
        let exponent = exponent.checked_sub(i32::try_from(part.len()).ok()?)?;
        (-MAX_EXPONENT..=MAX_EXPONENT).contains(&exponent).then_some(())?;
        Some(Decimal { digits: sign * digits, exponent }.reduced())
    }

    fn reduced(mut self) -> Decimal {
        while self.digits != 0 && self.digits % 10 == 0 && self.exponent < 0 {
            (self.digits, self.exponent) = (self.digits / 10, self.exponent + 1);
        }
        if self.digits == 0 {
            self.exponent = 0;
        }
        self
    }

    /// The number, if it is a whole one.
    pub fn as_whole(self) -> Option<i128> {
        let power = 10i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        self.digits.checked_mul(power)
    }

    pub fn is_finite(self) -> bool {
        self.exponent < INFINITE
    }

    /// Both as multiples of one power of ten.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, i32)> {
        let exponent = self.exponent.min(other.exponent);
        let scaled = |d: Decimal| {
            d.digits.checked_mul(10i128.checked_pow(u32::try_from(d.exponent - exponent).ok()?)?)
        };
        Some((scaled(self)?, scaled(other)?, exponent))
    }

    /// `self + times * step`; `None`: it has too many digits.
    fn plus(self, times: i128, step: Decimal) -> Option<Decimal> {
        let (a, b, exponent) = self.aligned(step)?;
        Some(Decimal { digits: a.checked_add(b.checked_mul(times)?)?, exponent })
    }

    /// The nearest float of a sort: what C has for a literal.
    pub fn float(self, sort: Sort) -> Option<Const> {
        let text = format!("{}e{}", self.digits, self.exponent);
        match sort {
            Sort::F32 => text.parse().ok().map(Const::f32),
            Sort::F64 => text.parse().ok().map(Const::f64),
            _ => None,
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_finite() {
            return write!(out, "{}inf", if self.digits < 0 { "-" } else { "" });
        }
        match (usize::try_from(-self.exponent), self.as_whole()) {
            (_, Some(n)) => write!(out, "{n}"),
            (Ok(places), _) if places <= MAX_DIGITS => {
                let text = format!("{:0>width$}", self.digits.unsigned_abs(), width = places + 1);
                let (whole, part) = text.split_at(text.len() - places);
                write!(out, "{}{whole}.{part}", if self.digits < 0 { "-" } else { "" })
            }
            _ => write!(out, "{}e{}", self.digits, self.exponent),
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A range of floats, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: Decimal,
    pub high: Decimal,
    /// Between neighbours; none: every float.
    pub step: Option<Decimal>,
}

/// Why a range has no floats that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFloats {
    /// The end is below the start.
    Empty,
    /// A step is not above 0, or an end of a range with steps is infinite.
    NoStep,
    /// So near to one another, numbers are not different floats.
    TooFine,
}

impl From<Range> for Interval {
    fn from((low, high): Range) -> Interval {
        Interval { low: Decimal::whole(low), high: Decimal::whole(high), step: None }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}..{}", self.low, self.high)?;
        self.step.map_or(Ok(()), |step| write!(out, ":{step}"))
    }
}

impl Interval {
    /// The range, if it is one of whole numbers.
    pub fn as_whole(&self) -> Option<Range> {
        self.low.as_whole().zip(self.high.as_whole()).filter(|_| self.step.is_none())
    }

    /// Whether the end is below the start.
    pub fn is_empty(&self) -> bool {
        match self.low.aligned(self.high) {
            Some((low, high, _)) => low > high,
            None => self.low.float(Sort::F64).and_then(wide) > self.high.float(Sort::F64).and_then(wide),
        }
    }

    /// The numbers of the values, and what they stand for.
    pub fn numbers(&self, sort: Sort) -> Result<(Range, Values), NoFloats> {
        let ends =
            self.low.float(sort).zip(self.high.float(sort)).and_then(|(a, b)| Some((wide(a)?, wide(b)?)));
        let (low, high) = ends.ok_or(NoFloats::TooFine)?;
        if self.is_empty() {
            return Err(NoFloats::Empty);
        }
        let Some(step) = self.step else {
            // Both zeros are between numbers that 0 is between.
            let number = |end: Decimal, zero: i128| match end.float(sort).filter(|_| end.digits != 0) {
                Some(c) => ordered(c),
                None => Some(zero),
            };
            let range = number(self.low, -1).zip(number(self.high, 0)).ok_or(NoFloats::TooFine)?;
            return Ok((range, Values::Ordered));
        };
        if step.digits <= 0 || ![self.low, self.high, step].iter().all(|d| d.is_finite()) {
            return Err(NoFloats::NoStep);
        }
        // Numbers at least this far apart are rounded to different floats.
        let largest = if low.abs() > high.abs() { self.low } else { self.high };
        let next = largest
            .float(sort)
            .and_then(ordered)
            .and_then(|n| wide(Values::Ordered.constant(sort, 1 + n.max(-1 - n))?));
        let gap = next.map(|next| next - low.abs().max(high.abs()));
        let is_apart = step.float(Sort::F64).and_then(wide).zip(gap).is_some_and(|(step, gap)| step >= gap);
        let (first, last, by) = self
            .low
            .aligned(step)
            .and_then(|(low, by, exponent)| {
                let scale = u32::try_from(self.high.exponent.checked_sub(exponent)?).ok();
                let high = match scale {
                    Some(scale) => self.high.digits.checked_mul(10i128.checked_pow(scale)?)?,
                    // Finer than a step: rounded down.
                    None => {
                        let power = 10i128.checked_pow(u32::try_from(exponent - self.high.exponent).ok()?)?;
                        self.high.digits.div_euclid(power)
                    }
                };
                Some((low, high, by))
            })
            .filter(|_| is_apart)
            .ok_or(NoFloats::TooFine)?;
        let most = last.checked_sub(first).filter(|n| *n >= 0).ok_or(NoFloats::Empty)? / by;
        Ok(((0, most), Values::Steps { first: self.low, step }))
    }
}

/// A float as a double.
fn wide(c: Const) -> Option<f64> {
    match c {
        Const::F32(bits) => Some(f64::from(f32::from_bits(bits))),
        Const::F64(bits) => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// The number of a float among all of its sort.
fn ordered(c: Const) -> Option<i128> {
    let sign = 1u128 << c.sort().bits().filter(|_| c.sort().is_float())?.checked_sub(1)?;
    let bits = c.to_bits();
    let size = i128::try_from(bits & (sign - 1)).ok()?;
    Some(if bits & sign == 0 { size } else { -1 - size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: &str, high: &str, step: Option<&str>) -> Interval {
        let of = |t: &str| Decimal::parse(t).unwrap();
        Interval { low: of(low), high: of(high), step: step.map(of) }
    }

    #[test]
    fn numbers_are_read_and_written_as_they_are() {
        for text in ["0", "-10", "0.25", "-0.001", "1234567.5", "inf", "-inf"] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Decimal::parse("1e-3"), Decimal::parse("0.001"));
        assert_eq!(Decimal::parse("2.50"), Decimal::parse("2.5"));
        assert_eq!(Decimal::parse("5e2").unwrap().as_whole(), Some(500));
        assert_eq!(Decimal::parse("0.1").unwrap().float(Sort::F64), Some(Const::f64(0.1)));
        assert_eq!(Decimal::parse("0.1").unwrap().float(Sort::F32), Some(Const::f32(0.1)));
        for text in ["", "-", ".", "1.2.3", "x", "1e", "0x10", "nan", "1e999", "12345678901234567890123456"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn neighbours_have_neighbouring_numbers() {
        let ((low, high), values) = interval("-2", "1", None).numbers(Sort::F32).unwrap();
        let mut before = values.constant(Sort::F32, low).and_then(wide).unwrap();
        assert_eq!((before, values.constant(Sort::F32, high).and_then(wide)), (-2.0, Some(1.0)));
        for number in (low..low + 1000).chain(-1000..1000) {
            let c = values.constant(Sort::F32, number).unwrap();
            assert_eq!(ordered(c), Some(number));
            assert!(number == low || number == -1000 || number == 0 || wide(c).unwrap() > before);
            before = wide(c).unwrap();
        }
        // 2^23 from each power of two to the next, both zeros, and what is below the smallest normal one.
        assert_eq!(high - low + 1, (127 << 23) + 1 + (128 << 23) + 1);
        assert_eq!(interval("0", "0", None).numbers(Sort::F64).unwrap().0, (-1, 0));
        assert_eq!(interval("-inf", "inf", None).numbers(Sort::F32).unwrap().0, (-0x7f80_0001, 0x7f80_0000));
    }

    #[test]
    fn steps_are_rounded_once() {
        let (range, values) = interval("-1", "1.05", Some("0.1")).numbers(Sort::F64).unwrap();
        assert_eq!(range, (0, 20));
        assert_eq!(values.constant(Sort::F64, 13), Some(Const::f64(0.3)));
        assert_eq!(values.constant(Sort::F64, 10), Some(Const::f64(0.0)));
        assert_eq!(values.constant(Sort::F32, 13), Some(Const::f32(0.3)));
        let number = |text: &str| values.number(Sort::F64, Decimal::parse(text).unwrap());
        assert_eq!([number("0.3"), number("-1"), number("1")], [Some(13), Some(0), Some(20)]);
        assert_eq!([number("0.25"), number("1e-3"), number("inf")], [None, None, None]);
        let wrong = |low, high, step| interval(low, high, Some(step)).numbers(Sort::F32).unwrap_err();
        assert_eq!(wrong("1", "0", "0.5"), NoFloats::Empty);
        assert_eq!(wrong("0", "1", "0"), NoFloats::NoStep);
        assert_eq!(wrong("0", "inf", "1"), NoFloats::NoStep);
        assert_eq!(wrong("16777216", "16777316", "0.5"), NoFloats::TooFine);
    }
}
