//! What the project's file says of the inputs that `quantify` counts: ranges, and named usage profiles.

use super::DefineValue;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use std::collections::BTreeMap;

/// The inputs that are counted where no option says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuantifySection {
    /// Ranges, by the names of inputs; functions that have no such input do not care.
    pub domain: BTreeMap<String, Bounds>,
    /// A name below `profiles`, or else a file of the tree, from its top.
    pub profile: Option<String>,
}

impl QuantifySection {
    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        self.domain.is_empty() && self.profile.is_none()
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
