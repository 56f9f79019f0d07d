//! What the project's file says of the inputs that `quantify` counts: ranges, and named usage profiles.

use super::DefineValue;
use crate::count::{Decimal, Interval};
use serde::Deserialize;
use serde::de::{self, Deserializer};
use std::collections::BTreeMap;

/// The inputs that are counted where no option says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuantifySection {
    /// Ranges, by the names of inputs; functions that have no such input do not care.
    pub domain: BTreeMap<String, Span>,
    /// A name below `profiles`, or else a file of the tree, from its top.
    pub profile: Option<String>,
}

impl QuantifySection {
    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        self.domain.is_empty() && self.profile.is_none()
    }
}

/// Values of an input, ends included: `-10..9`, of a float also `-1.5..inf` or `-10..9:0.5`, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Interval);

impl Span {
    /// Reads `LOW..HIGH` or `LOW..HIGH:STEP`; the error says at which byte what is wrong.
    pub fn parse(text: &str) -> Result<Interval, (usize, &'static str)> {
        let (low, rest) = text.split_once("..").ok_or((0, "expected LOW..HIGH"))?;
        let second = low.len() + 2;
        let (high, step) = match rest.split_once(':') {
            Some((high, step)) => (high, Some(step)),
            None => (rest, None),
        };
        let low = number(low).ok_or((0, NO_NUMBER))?;
        let high = number(high).ok_or((second, NO_NUMBER))?;
        let third = second + rest.find(':').map_or(0, |k| k + 1);
        let step = step.map(|text| number(text).ok_or((third, NO_NUMBER))).transpose()?;
        let found = Interval { low, high, step };
        match found.is_empty() {
            true => Err((second, EMPTY)),
            false => Ok(found),
        }
    }
}

const EMPTY: &str = "the range is empty: its end is below its start";
const NO_NUMBER: &str = "expected a number of 64 bits";

/// A number; a whole one that some type of at most 64 bits has.
fn number(text: &str) -> Option<Decimal> {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        let number = text.parse::<i128>().ok();
        return number
            .filter(|n| i128::from(i64::MIN) <= *n && *n <= i128::from(u64::MAX))
            .map(Decimal::whole);
    }
    Decimal::parse(text)
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let text = String::deserialize(deserializer)?;
        let said = |(_, what): (usize, &str)| match what {
            EMPTY => format!("the range '{text}' is empty: its end is below its start"),
            what => format!("'{text}': {what}"),
        };
        Span::parse(&text).map(Span).map_err(|wrong| de::Error::custom(said(wrong)))
    }
}

/// A range of numbers, ends included: `-10..9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bounds(pub i128, pub i128);

impl Bounds {
    /// Reads a range that some type of at most 64 bits has; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Bounds, String> {
        let number = |text: &str| {
            let number = text.parse::<i128>().ok();
            number.filter(|n| i128::from(i64::MIN) <= *n && *n <= i128::from(u64::MAX))
        };
        let (low, high) = text.split_once("..").ok_or_else(|| format!("'{text}' is not LOW..HIGH"))?;
        match (number(low), number(high)) {
            (Some(low), Some(high)) if low <= high => Ok(Bounds(low, high)),
            (Some(_), Some(_)) => Err(format!("the range '{text}' is empty: its end is below its start")),
            _ => Err(format!("'{text}' is not LOW..HIGH with numbers of 64 bits")),
        }
    }
}

impl<'de> Deserialize<'de> for Bounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bounds, D::Error> {
        Bounds::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// How often an input takes which values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Distribution {
    /// Every integer of the closed range equally often.
    Uniform([i64; 2]),
    /// The probability of each range, as it is written.
    Histogram(BTreeMap<Bounds, DefineValue>),
}

impl Distribution {
    /// Its lines in a profile.
    pub fn lines(&self, input: &str) -> Vec<String> {
        match self {
            Distribution::Uniform([low, high]) => vec![format!("{input},{low},{high},1")],
            Distribution::Histogram(rows) => {
                let line = |(b, p): (&Bounds, &DefineValue)| format!("{input},{},{},{}", b.0, b.1, p.0);
                rows.iter().map(line).collect()
            }
        }
    }
}
