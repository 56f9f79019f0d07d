//! Usage profiles: how likely the values of inputs are.
//!
//! A file of lines `INPUT,LOW,HIGH,PROBABILITY`: the values from LOW to HIGH, ends included, have this
//! probability together, each the same share of it. That is a histogram; one line is a uniform distribution.
//! Inputs are independent of each other. Probabilities are exact: `0.25`, `1/4` or `25%`. Lines that begin
//! with `#`, and a first line with these words as a head, are passed over.

use super::super::CliError;
use super::choice::number;
use std::collections::BTreeMap;
use std::path::Path;

/// The weight of each value of a range, by ranges.
pub(super) type Weights = Vec<((i128, i128), i128)>;

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    over: i128,
    under: i128,
}

struct Row {
    range: (i128, i128),
    probability: Fraction,
}

/// Reads a profile: by input.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Weights>, CliError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|e| CliError::fatal(format!("cannot read the profile '{name}': {e}")))?;
    parse(&text).map_err(|(line, what)| {
        let place = if line > 0 { format!("{name}:{line}") } else { name.clone() };
        CliError::usage(format!("profile {place}: {what}"))
            .hint("a line is INPUT,LOW,HIGH,PROBABILITY, for example x,-10,9,1/4")
    })
}

/// The error: its line, 0 for none, and what is wrong.
fn parse(text: &str) -> Result<BTreeMap<String, Weights>, (usize, String)> {
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (n, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let is_head = n == 1 && fields.first().is_some_and(|f| f.eq_ignore_ascii_case("input"));
        if line.trim().is_empty() || line.trim_start().starts_with('#') || is_head {
            continue;
        }
        let wrong = |what: &str| (n, what.to_owned());
        let &[name, low, high, probability] = fields.as_slice() else {
            return Err(wrong("expected four fields"));
        };
        if !super::super::history::is_name(name) {
            return Err(wrong("expected the name of an input"));
        }
        let low = number(low).ok_or_else(|| wrong("expected a number in field 2"))?;
        let high = number(high).ok_or_else(|| wrong("expected a number in field 3"))?;
        if low > high {
            return Err(wrong("the range is empty: its end is below its start"));
        }
        let probability = fraction(probability).ok_or_else(|| wrong("expected a probability from 0 to 1"))?;
        let known = rows.entry(name.to_owned()).or_default();
        if known.iter().any(|r| low <= r.range.1 && r.range.0 <= high) {
            return Err((n, format!("this range of '{name}' overlaps one before it")));
        }
        known.push(Row { range: (low, high), probability });
    }
    if rows.is_empty() {
        return Err((0, "no line says anything".to_owned()));
    }
    rows.into_iter().map(|(name, rows)| weights(&name, &rows).map(|w| (name, w))).collect()
}

/// Whole weights in the proportion of the probabilities.
fn weights(name: &str, rows: &[Row]) -> Result<Weights, (usize, String)> {
    let too_large = || (0, format!("the probabilities of '{name}' have too many digits"));
    let mut sum = Fraction { over: 0, under: 1 };
    let mut common = 1i128;
    for r in rows {
        sum = sum.plus(r.probability).ok_or_else(too_large)?;
        let each = each(r).ok_or_else(too_large)?;
        let factor = each.under / gcd(common, each.under);
        common = common.checked_mul(factor).ok_or_else(too_large)?;
    }
    if sum.over != sum.under {
        let sum = if sum.under == 1 { sum.over.to_string() } else { format!("{}/{}", sum.over, sum.under) };
        return Err((0, format!("the probabilities of '{name}' sum to {sum}, not to 1")));
    }
    let weight = |r: &Row| {
        let each = each(r)?;
        Some((r.range, each.over.checked_mul(common / each.under)?))
    };
    let found: Weights = rows.iter().map(weight).collect::<Option<_>>().ok_or_else(too_large)?;
    let divisor = found.iter().fold(0, |d, (_, w)| gcd(d, *w)).max(1);
    Ok(found.into_iter().map(|(range, w)| (range, w / divisor)).collect())
}

/// The probability of each value of a row.
fn each(r: &Row) -> Option<Fraction> {
    let width = r.range.1.checked_sub(r.range.0)?.checked_add(1)?;
    Some(Fraction { over: r.probability.over, under: r.probability.under.checked_mul(width)? }.reduced())
}

/// Reads `0.25`, `1/4`, `25%`.
fn fraction(text: &str) -> Option<Fraction> {
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

impl Fraction {
    fn plus(self, other: Fraction) -> Option<Fraction> {
        let under = self.under.checked_mul(other.under)?;
        let (a, b) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        Some(Fraction { over: a.checked_add(b)?, under }.reduced())
    }

    fn reduced(self) -> Fraction {
        let d = gcd(self.over, self.under).max(1);
        Fraction { over: self.over / d, under: self.under / d }
    }
}

/// The greatest common divisor of numbers that are not negative.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_become_whole_weights() {
        let found = parse("input,low,high,probability\n# half\nx,-10,-1,1/4\nx,0,9,75%\ny,0,3,1\n").unwrap();
        assert_eq!(found["x"], vec![((-10, -1), 1), ((0, 9), 3)]);
        assert_eq!(found["y"], vec![((0, 3), 1)]);
        assert_eq!(parse("x,1,3,0.5\nx,4,4,0.5\n").unwrap()["x"], vec![((1, 3), 1), ((4, 4), 3)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str, line: usize, part: &str| {
            let (n, what) = parse(text).unwrap_err();
            assert!(n == line && what.contains(part), "{n}: {what}");
        };
        wrong("x,0,9,0.9\n", 0, "sum to 9/10, not to 1");
        wrong("x,0,9,0.5\nx,5,12,0.5\n", 2, "overlaps");
        wrong("x,9,0,1\n", 1, "the range is empty");
        wrong("x,0,9\n", 1, "four fields");
        wrong("x,0,9,1.5\n", 1, "from 0 to 1");
        wrong("x,0,9,1/0\n", 1, "from 0 to 1");
        wrong("", 0, "no line");
    }
}
