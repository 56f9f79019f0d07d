//! Exact probabilities.

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub over: i128,
    pub under: i128,
}

impl Fraction {
    pub const ZERO: Fraction = Fraction { over: 0, under: 1 };
    pub const ONE: Fraction = Fraction { over: 1, under: 1 };

    pub fn plus(self, other: Fraction) -> Option<Fraction> {
        let under = self.under.checked_mul(other.under)?;
        let (a, b) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        Some(Fraction { over: a.checked_add(b)?, under }.reduced())
    }

    /// A part of it, of so many equal ones.
    pub fn shared(self, parts: i128) -> Option<Fraction> {
        Some(Fraction { over: self.over, under: self.under.checked_mul(parts)? }.reduced())
    }

    fn reduced(self) -> Fraction {
        let d = gcd(self.over, self.under).max(1);
        Fraction { over: self.over / d, under: self.under / d }
    }

    /// Reads `0.25`, `1/4`, `25%`: from 0 to 1.
    pub fn parse(text: &str) -> Option<Fraction> {
        let (text, scale) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100),
            None => (text, 1),
        };
        let digits = |t: &str| !t.is_empty() && t.len() <= 18 && t.bytes().all(|b| b.is_ascii_digit());
        let found = if let Some((over, under)) = text.split_once('/') {
            let (over, under) = (over.trim(), under.trim());
            (digits(over) && digits(under)).then_some(())?;
            Fraction { over: over.parse().ok()?, under: under.parse().ok().filter(|n| *n > 0)? }
        } else {
            let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
            (digits(whole) && digits(part)).then_some(())?;
            let under = 10i128.checked_pow(u32::try_from(part.len()).ok()?)?;
            let whole: i128 = whole.parse().ok()?;
            Fraction { over: whole.checked_mul(under)?.checked_add(part.parse().ok()?)?, under }
        };
        let found = Fraction { over: found.over, under: found.under.checked_mul(scale)? }.reduced();
        (found.over <= found.under).then_some(found)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.under {
            1 => write!(out, "{}", self.over),
            under => write!(out, "{}/{under}", self.over),
        }
    }
}

/// Whole numbers in the proportion of fractions, without a common divisor; `None`: they have too many digits.
pub(super) fn whole(fractions: &[Fraction]) -> Option<Vec<i128>> {
    let mut common = 1i128;
    for f in fractions {
        common = common.checked_mul(f.under / gcd(common, f.under).max(1))?;
    }
    let scaled = fractions.iter().map(|f| f.over.checked_mul(common / f.under));
    let scaled: Vec<i128> = scaled.collect::<Option<_>>()?;
    let divisor = scaled.iter().fold(0, |d, w| gcd(d, *w)).max(1);
    Some(scaled.into_iter().map(|w| w / divisor).collect())
}

/// The greatest common divisor of numbers that are not negative.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
