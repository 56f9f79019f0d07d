//! What `quantify` and `rank` are asked: domains, a profile, a target.

use super::super::CliError;
use super::profile;
use crate::analysis::quantify::{Choice, TargetChoice};
use crate::quantify::Limits;
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;

const TARGETS: &str = "targets: assertion, return=VALUE, line:FILE:N, branch:FILE:N, churn";

#[derive(Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Only functions whose name matches, changed or not; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Values of an input, ends included; default: -10..9, 0..19 where it has no sign, 0..1 for truth values
    #[arg(long, value_name = "NAME=LOW..HIGH")]
    pub domain: Vec<String>,

    /// How likely values are: lines INPUT,LOW,HIGH,PROBABILITY; those of an input sum to 1
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// What is counted: assertion, return=VALUE, line:FILE:N, branch:FILE:N, churn
    #[arg(long, value_name = "TARGET", default_value = "assertion")]
    pub target: String,
}

impl ChoiceArgs {
    /// Reads what was given.
    pub fn parsed(&self, with_first: bool) -> Result<Choice, CliError> {
        let mut domains = BTreeMap::new();
        for text in &self.domain {
            let (name, range) = domain(text)?;
            if domains.insert(name.clone(), range).is_some() {
                return Err(CliError::usage(format!("'{name}' has two domains")));
            }
        }
        let weights = self.profile.as_deref().map(profile::read).transpose()?.unwrap_or_default();
        for (name, pieces) in &weights {
            let low = pieces.iter().map(|((low, _), _)| *low).min().unwrap_or(0);
            let high = pieces.iter().map(|((_, high), _)| *high).max().unwrap_or(0);
            if domains.insert(name.clone(), (low, high)).is_some() {
                return Err(CliError::usage(format!("'{name}' has a domain and a profile"))
                    .hint("the profile of an input says which values it has"));
            }
        }
        Ok(Choice { domains, weights, target: target(&self.target)?, limits: Limits::default(), with_first })
    }
}

/// Reads `NAME=LOW..HIGH`. Columns count from 1.
fn domain(text: &str) -> Result<(String, (i128, i128)), CliError> {
    let wrong = |column: usize, what: &str| {
        CliError::usage(format!("domain '{text}', column {column}: {what}"))
            .hint("a domain is NAME=LOW..HIGH, for example --domain x=-10..9")
    };
    let column = |bytes: usize| text.get(..bytes).map_or(bytes, |before| before.chars().count()) + 1;
    let (name, range) = text.split_once('=').ok_or_else(|| wrong(column(text.len()), "expected '='"))?;
    if !super::super::history::is_name(name) {
        return Err(wrong(1, "expected the name of an input"));
    }
    let start = name.len() + 1;
    let (low, high) = range.split_once("..").ok_or_else(|| wrong(column(start), "expected LOW..HIGH"))?;
    let second = start + low.len() + 2;
    let low = number(low).ok_or_else(|| wrong(column(start), "expected a number of 64 bits"))?;
    let high = number(high).ok_or_else(|| wrong(column(second), "expected a number of 64 bits"))?;
    if low > high {
        return Err(wrong(column(second), "the range is empty: its end is below its start"));
    }
    Ok((name.to_owned(), (low, high)))
}

/// A number that some type of at most 64 bits has.
pub(super) fn number(text: &str) -> Option<i128> {
    text.parse::<i128>().ok().filter(|n| i128::from(i64::MIN) <= *n && *n <= i128::from(u64::MAX))
}

fn target(text: &str) -> Result<TargetChoice, CliError> {
    let unknown = || CliError::usage(format!("unknown target '{text}'")).hint(TARGETS);
    if let Some(value) = text.strip_prefix("return=") {
        return number(value).map(TargetChoice::Return).ok_or_else(unknown);
    }
    let place = |rest: &str| {
        let (file, line) = rest.rsplit_once(':').filter(|(file, _)| !file.is_empty())?;
        Some((PathBuf::from(file), line.parse::<u32>().ok().filter(|n| *n > 0)?))
    };
    if let Some(rest) = text.strip_prefix("line:") {
        return place(rest).map(|(file, n)| TargetChoice::Line(file, n)).ok_or_else(unknown);
    }
    if let Some(rest) = text.strip_prefix("branch:") {
        return place(rest).map(|(file, n)| TargetChoice::Branch(file, n)).ok_or_else(unknown);
    }
    match text {
        "assertion" => Ok(TargetChoice::Assertion),
        "churn" => Ok(TargetChoice::Churn),
        _ => Err(unknown()),
    }
}
