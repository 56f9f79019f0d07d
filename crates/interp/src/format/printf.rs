//! One `printf` conversion of one value.
//!
//! Floats are written from their exact decimal expansion, rounded half to even at the asked digit,
//! as glibc does in the default rounding mode. Rust's own formatting of floats is exact and rounds
//! so (the oracle test compares it with the C library); only its precision is bounded, which costs
//! nothing: a binary64 value has at most 1074 digits after the point, the rest are zeros.

use super::spec::{Conversion, Count, Flags, FormatError, FormatProblem, MAX_COUNT, is_float_specifier};
use crate::ir::{DataModel, Decimal, Extended};

/// Value of the argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrintfValue<'a> {
    /// Integer or character; bits above the conversion's width are ignored.
    Integer(u64),
    Double(f64),
    Extended(Extended),
    /// Bytes of a string before its NUL; under a precision no more than that many are looked at.
    Bytes(&'a [u8]),
    Pointer(u64),
}

/// Digits that suffice for the exact expansion of any binary64, after the point or in all.
const EXACT_DIGITS: usize = 1100;

/// Returns whether the bytes written for this value would show the sign of a NaN, which IEEE
/// arithmetic leaves open; [`render_conversion`] writes it as positive.
pub fn depends_on_nan_sign(conversion: &Conversion, value: PrintfValue) -> bool {
    let is_nan = match value {
        PrintfValue::Double(v) => v.is_nan(),
        PrintfValue::Extended(v) => v.is_nan(),
        _ => false,
    };
    is_nan && is_float_specifier(conversion.specifier)
}

/// Writes one value as one conversion says. `*` must have been resolved
/// ([`Conversion::resolve`]). `%n` writes nothing.
///
/// Errors: the value's kind does not fit the conversion, a `*` is left, or the field is longer
/// than [`MAX_COUNT`].
pub fn render_conversion(
    conversion: &Conversion,
    model: DataModel,
    value: PrintfValue,
) -> Result<Vec<u8>, FormatError> {
    let count = |c: Option<Count>| match c {
        Some(Count::Argument) => Err(error(conversion, FormatProblem::Undefined)),
        Some(Count::Fixed(n)) if n > MAX_COUNT => Err(error(conversion, FormatProblem::TooLong)),
        Some(Count::Fixed(n)) => Ok(Some(n as usize)),
        None => Ok(None),
    };
    let width = count(conversion.width)?.unwrap_or(0);
    let precision = count(conversion.precision)?;
    let flags = conversion.flags;
    let field = match (conversion.specifier, value) {
        ('n', _) => return Ok(Vec::new()),
        ('c', PrintfValue::Integer(v)) => Field::text(vec![v as u8]),
        ('s', PrintfValue::Bytes(bytes)) => {
            Field::text(bytes.iter().copied().take(precision.unwrap_or(usize::MAX)).collect())
        }
        ('p', PrintfValue::Pointer(0)) => Field::text(b"(nil)".to_vec()),
        ('p', PrintfValue::Pointer(v)) => {
            // glibc writes pointers as `%#lx`, yet obeys the sign flags of signed conversions.
            let mut field = integer(v, 'x', Flags { alternative: true, ..flags }, precision);
            field.prefix = format!("{}{}", sign(false, flags), field.prefix);
            field
        }
        (c @ ('d' | 'i'), PrintfValue::Integer(v)) => {
            let shift = 64 - u32::from(conversion.length.int_bits(model)).min(64);
            let v = ((v << shift) as i64) >> shift;
            let mut field = integer(v.unsigned_abs(), c, flags, precision);
            field.prefix = sign(v < 0, flags).to_string();
            field
        }
        (c @ ('u' | 'o' | 'x' | 'X'), PrintfValue::Integer(v)) => {
            let shift = 64 - u32::from(conversion.length.int_bits(model)).min(64);
            integer((v << shift) >> shift, c, flags, precision)
        }
        (c, PrintfValue::Double(v)) if is_float_specifier(c) => {
            float(&Number::of_double(v), c, flags, precision)
        }
        (c, PrintfValue::Extended(v)) if is_float_specifier(c) => {
            float(&Number::of_extended(v), c, flags, precision)
        }
        _ => return Err(error(conversion, FormatProblem::Undefined)),
    };
    Ok(field.pad(width, flags))
}

fn error(conversion: &Conversion, problem: FormatProblem) -> FormatError {
    FormatError::new(problem, conversion.source.as_bytes())
}

/// A converted value before padding: sign and `0x`, then the rest. Zero padding goes between them.
struct Field {
    prefix: String,
    body: Vec<u8>,
    may_pad_with_zeros: bool,
}

impl Field {
    fn text(body: Vec<u8>) -> Field {
        Field { prefix: String::new(), body, may_pad_with_zeros: false }
    }

    fn pad(self, width: usize, flags: Flags) -> Vec<u8> {
        let missing = width.saturating_sub(self.prefix.len() + self.body.len());
        let zeros = flags.zero && !flags.left && self.may_pad_with_zeros;
        let (before, between, after) = match (flags.left, zeros) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        let mut out = vec![b' '; before];
        out.extend_from_slice(self.prefix.as_bytes());
        out.resize(out.len() + between, b'0');
        out.extend_from_slice(&self.body);
        out.resize(out.len() + after, b' ');
        out
    }
}

fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

fn integer(v: u64, specifier: char, flags: Flags, precision: Option<usize>) -> Field {
    let mut digits = match specifier {
        'o' => format!("{v:o}"),
        'x' => format!("{v:x}"),
        'X' => format!("{v:X}"),
        _ => v.to_string(),
    };
    if v == 0 && precision == Some(0) {
        digits.clear();
    }
    let least = precision.unwrap_or(0);
    if digits.len() < least {
        digits.insert_str(0, &"0".repeat(least - digits.len()));
    }
    let mut prefix = String::new();
    match specifier {
        'o' if flags.alternative && !digits.starts_with('0') => digits.insert(0, '0'),
        'x' | 'X' if flags.alternative && v != 0 => prefix = format!("0{specifier}"),
        _ => {}
    }
    Field { prefix, body: digits.into_bytes(), may_pad_with_zeros: precision.is_none() }
}

/// A float to be written: what it is without its sign.
enum Magnitude {
    Infinite,
    Nan,
    Double(f64),
    Extended(Extended, Decimal),
}

struct Number {
    negative: bool,
    magnitude: Magnitude,
}

impl Number {
    fn of_double(v: f64) -> Number {
        let magnitude = match () {
            _ if v.is_nan() => Magnitude::Nan,
            _ if v.is_infinite() => Magnitude::Infinite,
            _ => Magnitude::Double(v.abs()),
        };
        Number { negative: v.is_sign_negative() && !v.is_nan(), magnitude }
    }

    fn of_extended(v: Extended) -> Number {
        let magnitude = match () {
            _ if v.is_nan() => Magnitude::Nan,
            _ if v.is_infinite() => Magnitude::Infinite,
            _ => Magnitude::Extended(v.abs(), Decimal::of(v)),
        };
        Number { negative: v.is_negative(), magnitude }
    }
}

fn float(v: &Number, specifier: char, flags: Flags, precision: Option<usize>) -> Field {
    let upper = specifier.is_ascii_uppercase();
    let prefix = sign(v.negative, flags).to_string();
    let magnitude = &v.magnitude;
    if let Magnitude::Nan | Magnitude::Infinite = magnitude {
        let name = match (matches!(magnitude, Magnitude::Nan), upper) {
            (true, false) => "nan",
            (true, true) => "NAN",
            (false, false) => "inf",
            (false, true) => "INF",
        };
        return Field { prefix, ..Field::text(name.as_bytes().to_vec()) };
    }
    let alternative = flags.alternative;
    let (mut prefix, mut body) = match specifier.to_ascii_lowercase() {
        'f' => (prefix, fixed(magnitude, precision.unwrap_or(6), alternative)),
        'e' => (prefix, exponential(magnitude, precision.unwrap_or(6), alternative)),
        'g' => (prefix, general(magnitude, precision.unwrap_or(6), alternative)),
        _ => (prefix + "0x", hexadecimal(magnitude, precision, alternative)),
    };
    if upper {
        prefix.make_ascii_uppercase();
        body.make_ascii_uppercase();
    }
    Field { prefix, body: body.into_bytes(), may_pad_with_zeros: true }
}

/// `%f` of a finite value without sign.
fn fixed(v: &Magnitude, precision: usize, point: bool) -> String {
    let exact = precision.min(EXACT_DIGITS);
    let mut out = match v {
        Magnitude::Extended(_, decimal) => decimal.fixed(precision),
        Magnitude::Double(v) => format!("{v:.exact$}") + &"0".repeat(precision - exact),
        _ => String::new(),
    };
    if precision == 0 && point {
        out.push('.');
    }
    out
}

/// Returns the digits, `precision + 1` of them, and the decimal exponent of the first one.
fn scientific(v: &Magnitude, precision: usize) -> (String, i32) {
    let exact = precision.min(EXACT_DIGITS);
    let v = match v {
        Magnitude::Extended(_, decimal) => return decimal.scientific(precision),
        Magnitude::Double(v) => *v,
        _ => 0.0,
    };
    let text = format!("{v:.exact$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    digits.push_str(&"0".repeat(precision - exact));
    (digits, exponent.parse().unwrap_or(0))
}

fn with_exponent(mut digits: String, exponent: i32, point: bool) -> String {
    if digits.len() > 1 || point {
        digits.insert(1, '.');
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// `%e` of a finite value without sign.
fn exponential(v: &Magnitude, precision: usize, point: bool) -> String {
    let (digits, exponent) = scientific(v, precision);
    with_exponent(digits, exponent, point)
}

/// `%g` of a finite value without sign: the style is chosen by the exponent after rounding, and
/// trailing zeros go unless `#` is given.
fn general(v: &Magnitude, precision: usize, alternative: bool) -> String {
    let precision = precision.max(1);
    let (mut digits, exponent) = scientific(v, precision - 1);
    let small = exponent < 0;
    let as_fixed = exponent >= -4 && (small || (exponent.unsigned_abs() as usize) < precision);
    if !as_fixed {
        if !alternative {
            digits.truncate(digits.trim_end_matches('0').len().max(1));
        } else if exponent == precision as i32 && scientific(v, EXACT_DIGITS).1 < exponent {
            // glibc counts the fraction's digits for style `f` before rounding carries into one more
            // digit and so into style `e`, and then writes none of them: `1.e+06`, not the
            // standard's `1.00000e+06`.
            digits.truncate(1);
        }
        return with_exponent(digits, exponent, alternative);
    }
    let (whole, fraction) = if small {
        ("0".to_string(), "0".repeat(exponent.unsigned_abs() as usize - 1) + &digits)
    } else {
        let (whole, fraction) = digits.split_at((exponent as usize + 1).min(digits.len()));
        (whole.to_string(), fraction.to_string())
    };
    let fraction = if alternative { &fraction } else { fraction.trim_end_matches('0') };
    if fraction.is_empty() && !alternative { whole } else { format!("{whole}.{fraction}") }
}

/// `%a` of a finite value without sign and without `0x`. Denormals keep a leading 0, as in glibc.
fn hexadecimal(v: &Magnitude, precision: Option<usize>, point: bool) -> String {
    match v {
        // The leading digit holds four bits.
        Magnitude::Extended(v, _) => {
            let (significand, exponent) = v.parts();
            let exponent = if significand == 0 { 0 } else { i64::from(exponent) + 60 };
            hexadecimal_digits(significand.into(), 15, exponent, precision, point)
        }
        Magnitude::Double(v) => hexadecimal_double(*v, precision, point),
        _ => String::new(),
    }
}

fn hexadecimal_double(v: f64, precision: Option<usize>, point: bool) -> String {
    let bits = v.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52) & 0x7ff;
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased as i64 - 1023,
    };
    let mantissa = (u64::from(biased != 0) << 52) | fraction;
    hexadecimal_digits(mantissa.into(), 13, exponent, precision, point)
}

/// Writes a leading digit and `fraction_digits` more, rounded to the precision half to even.
fn hexadecimal_digits(
    mut mantissa: u128,
    fraction_digits: usize,
    mut exponent: i64,
    precision: Option<usize>,
    point: bool,
) -> String {
    if let Some(p) = precision.filter(|&p| p < fraction_digits) {
        let dropped = 4 * (fraction_digits - p);
        let (unit, half) = (1u128 << dropped, 1u128 << (dropped - 1));
        let (kept, rest) = (mantissa & !(unit - 1), mantissa & (unit - 1));
        let up = rest > half || (rest == half && kept & unit != 0);
        mantissa = kept + if up { unit } else { 0 };
    }
    let fraction_bits = 4 * fraction_digits;
    if mantissa >> fraction_bits > 15 {
        mantissa >>= 4;
        exponent += 4;
    }
    let digits = format!("{:0fraction_digits$x}", mantissa & ((1 << fraction_bits) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_string(),
        Some(p) if p < fraction_digits => digits.chars().take(p).collect(),
        Some(p) => digits + &"0".repeat(p - fraction_digits),
    };
    let dot = if digits.is_empty() && !point { "" } else { "." };
    format!("{:x}{dot}{digits}p{exponent:+}", mantissa >> fraction_bits)
}

#[cfg(test)]
mod tests {
    use super::super::spec::{Piece, parse_printf};
    use super::*;

    fn render(format: &str, value: PrintfValue) -> String {
        let pieces = parse_printf(format.as_bytes());
        let Ok([Piece::Conversion(c)]) = pieces.as_deref() else { return format!("{pieces:?}") };
        match render_conversion(c, DataModel::Lp64, value) {
            Ok(bytes) => bytes.escape_ascii().to_string(),
            Err(e) => e.to_string(),
        }
    }

    /// Each line: format, value, expected text between bars.
    #[test]
    fn floats() {
        let cases: &[(&str, f64, &str)] = &[
            ("%f", 1.5, "1.500000"),
            ("%.0f", 0.5, "0"),
            ("%.0f", 1.5, "2"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 2.5, "2."),
            ("%.3f", 2.0005f32 as f64, "2.000"),
            ("%.20f", 0.1, "0.10000000000000000555"),
            ("%f", -0.0, "-0.000000"),
            ("%+.1f", 0.25, "+0.2"),
            ("%08.2f", -1.0, "-0001.00"),
            ("%-8.2f", 1.0, "1.00    "),
            ("%08f", f64::INFINITY, "     inf"),
            ("%F", f64::NEG_INFINITY, "-INF"),
            ("%f", -f64::NAN, "nan"),
            ("%e", 0.0, "0.000000e+00"),
            ("%.0e", 12345.0, "1e+04"),
            ("%E", 1e300, "1.000000E+300"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%#g", 1.0, "1.00000"),
            ("%.3g", 999.9, "1e+03"),
            ("%#.3g", 999.9, "1.e+03"),
            ("%#.3g", 1000.0, "1.00e+03"),
            ("%g", 5e-324, "4.94066e-324"),
            ("%a", 1.0, "0x1p+0"),
            ("%A", 0.1, "0X1.999999999999AP-4"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
            ("%.0a", 1.5, "0x2p+0"),
            ("%.1a", 1.96875, "0x2.0p+0"),
            ("%a", 0.0, "0x0p+0"),
        ];
        for (format, value, expected) in cases {
            assert_eq!(render(format, PrintfValue::Double(*value)), *expected, "{format} of {value:?}");
        }
        let huge = render("%f", PrintfValue::Double(1e300));
        assert!(
            huge.starts_with("1000000000000000052504760255204420248704468581108159154915854115"),
            "{huge}"
        );
    }

    #[test]
    fn integers() {
        let cases: &[(&str, i64, &str)] = &[
            ("%d", -5, "-5"),
            ("%5d", -5, "   -5"),
            ("%05d", -5, "-0005"),
            ("%-5d", -5, "-5   "),
            ("%+d", 5, "+5"),
            ("% d", 5, " 5"),
            ("%.3d", 5, "005"),
            ("%05.3d", 5, "  005"),
            ("%.0d", 0, ""),
            ("%+.0d", 0, "+"),
            ("%hhd", 200, "-56"),
            ("%hu", -1, "65535"),
            ("%u", -1, "4294967295"),
            ("%lu", -1, "18446744073709551615"),
            ("%d", i64::MIN, "0"),
            ("%ld", i64::MIN, "-9223372036854775808"),
            ("%#x", 255, "0xff"),
            ("%#010X", 255, "0X000000FF"),
            ("%#x", 0, "0"),
            ("%#o", 8, "010"),
            ("%#.0o", 0, "0"),
            ("%c", 65, "A"),
            ("%3c", 0, "  \\x00"),
        ];
        for (format, value, expected) in cases {
            assert_eq!(render(format, PrintfValue::Integer(*value as u64)), *expected, "{format} of {value}");
        }
    }

    #[test]
    fn strings_and_pointers() {
        assert_eq!(render("%5.2s", PrintfValue::Bytes(b"abc")), "   ab");
        assert_eq!(render("%-5s", PrintfValue::Bytes(b"abc")), "abc  ");
        assert_eq!(render("%p", PrintfValue::Pointer(0)), "(nil)");
        assert_eq!(render("%12p", PrintfValue::Pointer(0x1f)), "        0x1f");
    }

    #[test]
    fn values_of_the_wrong_kind_are_errors() {
        assert_eq!(
            render("%d", PrintfValue::Double(1.0)),
            "Undefined conversion `%d` at byte 0 of the format"
        );
        assert_eq!(
            render("%*d", PrintfValue::Integer(1)),
            "Undefined conversion `%*d` at byte 0 of the format"
        );
    }
}
