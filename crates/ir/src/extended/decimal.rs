//! `long double` values in decimal, exactly.
//!
//! A value is an integer times a power of two, and so a decimal number with finitely many digits: at
//! most about 16,500, of the smallest ones. They are all computed; rounding then looks at digits.

use super::Extended;

/// A finite number without its sign: `0.d1d2d3... * 10^point`, without zeros at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Values 0 to 9; none for zero.
    digits: Vec<u8>,
    point: i32,
}

const LIMB: u64 = 1_000_000_000;

/// Multiplies a number in limbs of nine digits, the lowest first.
fn multiply(limbs: &mut Vec<u64>, by: u64) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = *limb * by + carry;
        (*limb, carry) = (product % LIMB, product / LIMB);
    }
    while carry > 0 {
        limbs.push(carry % LIMB);
        carry /= LIMB;
    }
}

/// Multiplies by `base^exponent`, several at a time; `base^step` fits 32 bits.
fn raise(limbs: &mut Vec<u64>, base: u64, exponent: u32, step: u32) {
    for _ in 0..exponent / step {
        multiply(limbs, base.pow(step));
    }
    multiply(limbs, base.pow(exponent % step));
}

impl Decimal {
    /// Returns the digits of a finite value's magnitude.
    pub fn of(value: Extended) -> Decimal {
        let (significand, exponent) = value.parts();
        if significand == 0 {
            return Decimal { digits: Vec::new(), point: 0 };
        }
        let shift = significand.trailing_zeros();
        let (significand, exponent) = (significand >> shift, exponent + shift as i32);
        let mut limbs = vec![significand % LIMB, significand / LIMB % LIMB, significand / LIMB / LIMB];
        let places = if exponent >= 0 {
            raise(&mut limbs, 2, exponent.unsigned_abs(), 31);
            0
        } else {
            // m / 2^k = m * 5^k / 10^k
            raise(&mut limbs, 5, exponent.unsigned_abs(), 13);
            -exponent
        };
        let mut digits = Vec::with_capacity(limbs.len() * 9);
        for limb in limbs.iter().rev() {
            digits.extend(format!("{limb:09}").bytes().map(|b| b - b'0'));
        }
        let point = digits.len() as i32 - places;
        Decimal { digits, point }.trimmed()
    }

    fn trimmed(mut self) -> Decimal {
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros);
        self.point -= zeros as i32;
        let used = self.digits.iter().rposition(|d| *d != 0).map_or(0, |i| i + 1);
        self.digits.truncate(used);
        if self.digits.is_empty() { Decimal { digits: Vec::new(), point: 0 } } else { self }
    }

    /// Keeps this many digits, rounded half to even. A carry may give one more in front.
    fn rounded(&self, keep: usize) -> Decimal {
        let Some(next) = self.digits.get(keep) else { return self.clone() };
        let odd = keep.checked_sub(1).and_then(|i| self.digits.get(i)).is_some_and(|d| d % 2 == 1);
        let up = *next > 5 || *next == 5 && (odd || self.digits.len() > keep + 1);
        let mut kept = Decimal { digits: self.digits[..keep].to_vec(), point: self.point };
        if up {
            match kept.digits.iter().rposition(|d| *d != 9) {
                Some(i) => {
                    kept.digits[i] += 1;
                    kept.digits.truncate(i + 1);
                }
                None => kept = Decimal { digits: vec![1], point: self.point + 1 },
            }
        }
        kept.trimmed()
    }

    fn digit(&self, at: i64) -> char {
        let digit = usize::try_from(at).ok().and_then(|i| self.digits.get(i)).copied().unwrap_or(0);
        char::from(b'0' + digit)
    }

    /// The number with this many digits after the point.
    pub fn fixed(&self, precision: usize) -> String {
        let keep = i64::from(self.point) + precision as i64;
        let number = match usize::try_from(keep) {
            Ok(keep) => self.rounded(keep),
            Err(_) => Decimal { digits: Vec::new(), point: 0 },
        };
        let whole = i64::from(number.point).max(1);
        let first = i64::from(number.point) - whole;
        let mut out: String = (0..whole).map(|i| number.digit(first + i)).collect();
        if precision > 0 {
            out.push('.');
            let point = i64::from(number.point);
            out.extend((0..precision as i64).map(|i| number.digit(point + i)));
        }
        out
    }

    /// Returns the digits, `precision + 1` of them, and the decimal exponent of the first one.
    pub fn scientific(&self, precision: usize) -> (String, i32) {
        let number = self.rounded(precision + 1);
        let digits = (0..=precision as i64).map(|i| number.digit(i)).collect();
        (digits, if number.digits.is_empty() { 0 } else { number.point - 1 })
    }

    /// The fewest digits that read back as the value that this is the magnitude of, as a C literal
    /// without suffix.
    pub(super) fn shortest(&self, value: Extended) -> String {
        for precision in 0..21 {
            let (digits, exponent) = self.scientific(precision);
            let text = literal(digits.trim_end_matches('0'), exponent);
            if Extended::parse(&text).is_some_and(|(read, _)| read == value.abs()) {
                return text;
            }
        }
        let (significand, exponent) = value.parts();
        format!("0x{significand:x}p{exponent:+}")
    }
}

/// Writes `d.ddd * 10^exponent`.
fn literal(digits: &str, exponent: i32) -> String {
    let digits = if digits.is_empty() { "0" } else { digits };
    let count = digits.len() as i32;
    if (-5..0).contains(&exponent) {
        return format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    }
    if (0..17).contains(&exponent) {
        let (whole, fraction) = digits.split_at((exponent + 1).min(count) as usize);
        let zeros = "0".repeat((exponent + 1 - count).max(0) as usize);
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        return format!("{whole}{zeros}.{fraction}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{exponent}")
}
