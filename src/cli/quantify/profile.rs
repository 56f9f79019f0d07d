//! Usage profiles: how likely the values of inputs are.
//!
//! A line `INPUT,LOW,HIGH,PROBABILITY` says that the values from LOW to HIGH, ends included, have this probability
//! together, each the same share of it: lines of one input are a histogram, one line alone a uniform distribution.
//! `INPUT,LOW,HIGH,INPUT,LOW,HIGH,PROBABILITY` says that of values of several inputs together (*joint*), and
//! `INPUT,LOW,HIGH,PROBABILITY,if INPUT,LOW,HIGH` of an input where another one has values of a range (*conditional*).
//! Inputs that no line brings together are independent. Probabilities are exact: `0.25`, `1/4` or `25%`. Lines that
//! begin with `#`, and a first line `input,low,high,probability` as a head, are passed over.
//!
//! A file that begins with a line of nothing but names has samples instead, as a trace of Daikon's has: see
//! `samples.rs`.

use super::super::CliError;
use super::choice::number;
use super::fraction::{Fraction, whole};
use super::samples;
use crate::analysis::quantify::{Factor, Row};
use std::collections::BTreeMap;
use std::path::Path;

type Range = (i128, i128);

/// What a profile says.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Profile {
    /// What it is called.
    pub name: String,
    /// The weight of each value of a range, by ranges, of inputs that are independent.
    pub weights: BTreeMap<String, Vec<(Range, i128)>>,
    pub factors: Vec<Factor>,
    /// Where ranges of inputs are written, with their lines.
    pub places: Vec<(String, Range, usize)>,
}

/// What is wrong: the line, 0 for none, and what.
pub(super) type Fault = (usize, String);

/// A line.
struct Entry {
    line: usize,
    parts: Vec<(String, Range)>,
    probability: Fraction,
    given: Option<(String, Range)>,
}

const HINT: &str = "a line is INPUT,LOW,HIGH,PROBABILITY, for example x,-10,9,1/4; before the probability may be \
                    more inputs, and after it 'if INPUT,LOW,HIGH'";

/// Reads a profile of the file system.
pub(super) fn read(path: &Path) -> Result<Profile, CliError> {
    let name = path.display().to_string();
    let bytes =
        std::fs::read(path).map_err(|e| CliError::fatal(format!("cannot read the profile '{name}': {e}")))?;
    of_bytes(&name, &bytes)
}

/// Reads a profile of any kind.
pub(super) fn of_bytes(name: &str, bytes: &[u8]) -> Result<Profile, CliError> {
    let wrong = |what: String| CliError::usage(format!("profile {name}{what}"));
    if samples::is_trace(name) {
        let factors = samples::of_trace(bytes).map_err(|what| wrong(format!(": {what}")))?;
        return Ok(Profile { name: name.to_owned(), factors, ..Profile::default() });
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Err(wrong(": it is no UTF-8".to_owned())) };
    if samples::is_table(text) {
        let (factor, places) = samples::of_table(text).map_err(|what| wrong(format!(", {what}")))?;
        return Ok(Profile { name: name.to_owned(), factors: vec![factor], places, ..Profile::default() });
    }
    of_lines(name, text)
}

/// Reads lines of probabilities.
pub(super) fn of_lines(name: &str, text: &str) -> Result<Profile, CliError> {
    let found = parse(text).map_err(|(line, what)| {
        let place = if line > 0 { format!(":{line}") } else { String::new() };
        CliError::usage(format!("profile {name}{place}: {what}")).hint(HINT)
    })?;
    Ok(Profile { name: name.to_owned(), ..found })
}

fn parse(text: &str) -> Result<Profile, Fault> {
    let mut entries: Vec<Entry> = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let is_head = n == 1 && fields.first().is_some_and(|f| f.eq_ignore_ascii_case("input"));
        if line.trim().is_empty() || line.trim_start().starts_with('#') || is_head {
            continue;
        }
        let entry = entry(n, &fields)?;
        check_against(&entry, &entries)?;
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err((0, "no line says anything".to_owned()));
    }
    assembled(&entries)
}

/// Reads the fields of a line.
fn entry(line: usize, fields: &[&str]) -> Result<Entry, Fault> {
    let split = fields.iter().position(|f| f.starts_with("if "));
    let (own, condition) = fields.split_at(split.unwrap_or(fields.len()));
    let count = own.len();
    if count < 4 || count % 3 != 1 {
        return Err((line, "expected four fields, or three more for each further input".to_owned()));
    }
    let (parts, probability) = own.split_at(count - 1);
    let part = |(k, part): (usize, &[&str])| range(line, 3 * k, part);
    let parts: Vec<(String, Range)> = parts.chunks(3).enumerate().map(part).collect::<Result<_, _>>()?;
    let given = match condition {
        [] => None,
        [name, low, high] => {
            let name = name.get(3..).unwrap_or_default().trim();
            Some(range(line, count, &[name, low, high])?)
        }
        _ => return Err((line, format!("expected 'if INPUT,LOW,HIGH' from field {} on", count + 1))),
    };
    let mut names: Vec<&String> = parts.iter().chain(&given).map(|(name, _)| name).collect();
    names.sort();
    if let Some([name, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
        return Err((line, format!("'{name}' is there twice")));
    }
    let probability = probability.first().and_then(|p| Fraction::parse(p));
    let probability = probability.ok_or_else(|| (line, "expected a probability from 0 to 1".to_owned()))?;
    Ok(Entry { line, parts, probability, given })
}

/// Reads an input with its range. `before`: fields of the line before these.
fn range(line: usize, before: usize, fields: &[&str]) -> Result<(String, Range), Fault> {
    let wrong = |what: String| (line, what);
    let &[name, low, high] = fields else { return Err(wrong("expected INPUT,LOW,HIGH".to_owned())) };
    if !crate::cli::name::is_name(name) {
        return Err(wrong(format!("expected the name of an input in field {}", before + 1)));
    }
    let low = number(low).ok_or_else(|| wrong(format!("expected a number in field {}", before + 2)))?;
    let high = number(high).ok_or_else(|| wrong(format!("expected a number in field {}", before + 3)))?;
    match low <= high {
        true => Ok((name.to_owned(), (low, high))),
        false => Err(wrong("the range is empty: its end is below its start".to_owned())),
    }
}

impl Entry {
    fn names(&self) -> Vec<&String> {
        self.parts.iter().map(|(name, _)| name).collect()
    }

    /// The lines that say how the same inputs are distributed, where the same holds.
    fn is_beside(&self, other: &Entry) -> bool {
        self.names() == other.names() && self.given == other.given
    }
}

fn meets(a: Range, b: Range) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// A line does not contradict those before it.
fn check_against(entry: &Entry, before: &[Entry]) -> Result<(), Fault> {
    for other in before {
        let shared = other.names().into_iter().find(|name| entry.names().contains(name));
        let Some(name) = shared else { continue };
        let on = |e: &Entry| e.given.as_ref().map(|(name, _)| name.clone());
        if entry.names() != other.names() || on(entry) != on(other) {
            let what = format!("'{name}' is distributed in another way in line {}", other.line);
            return Err((entry.line, what));
        }
        let of_given = entry.given.as_ref().zip(other.given.as_ref());
        if let Some((a, b)) = of_given.filter(|(a, b)| a.1 != b.1) {
            if meets(a.1, b.1) {
                let what = format!("this range of '{}' overlaps that of line {}", a.0, other.line);
                return Err((entry.line, what));
            }
            continue;
        }
        if entry.parts.iter().zip(&other.parts).all(|(a, b)| meets(a.1, b.1)) {
            let ranges = if entry.parts.len() == 1 { "this range" } else { "these ranges" };
            return Err((
                entry.line,
                format!("{ranges} of '{name}' overlaps one before it, in line {}", other.line),
            ));
        }
    }
    Ok(())
}

/// Whole weights in the proportion of the probabilities.
fn assembled(entries: &[Entry]) -> Result<Profile, Fault> {
    check_sums(entries)?;
    let mut profile = Profile::default();
    let mut done: Vec<&Entry> = Vec::new();
    for first in entries {
        let parts = first.parts.iter().chain(&first.given);
        profile.places.extend(parts.map(|(name, range)| (name.clone(), *range, first.line)));
        if done.iter().any(|d| d.names() == first.names()) {
            continue;
        }
        done.push(first);
        let all: Vec<&Entry> = entries.iter().filter(|e| e.names() == first.names()).collect();
        let too_large = || (first.line, "these probabilities have too many digits".to_owned());
        let each = |e: &&Entry| {
            let width = |all: i128, (_, (low, high)): &(String, Range)| all.checked_mul(high - low + 1);
            e.probability.shared(e.parts.iter().try_fold(1, width)?)
        };
        let each: Vec<Fraction> = all.iter().map(each).collect::<Option<_>>().ok_or_else(too_large)?;
        let weights = whole(&each).ok_or_else(too_large)?;
        let rows = all.into_iter().zip(weights);
        match (first.parts.as_slice(), &first.given) {
            ([(name, _)], None) => {
                let piece = |(e, w): (&Entry, i128)| Some((e.parts.first()?.1, w));
                profile.weights.insert(name.clone(), rows.filter_map(piece).collect());
            }
            _ => profile.factors.push(factor(first, rows)),
        }
    }
    Ok(profile)
}

/// The probabilities of lines that say the same thing's distribution sum to 1.
fn check_sums(entries: &[Entry]) -> Result<(), Fault> {
    for first in entries {
        let beside = entries.iter().filter(|e| e.is_beside(first));
        let names: Vec<String> = first.names().into_iter().map(|n| format!("'{n}'")).collect();
        let names = names.join(" and ");
        let sum = beside.into_iter().try_fold(Fraction::ZERO, |sum, e| sum.plus(e.probability));
        let Some(sum) = sum else {
            return Err((first.line, format!("the probabilities of {names} have too many digits")));
        };
        if sum != Fraction::ONE {
            let given =
                first.given.as_ref().map(|(on, (low, high))| format!(" where '{on}' is {low}..{high}"));
            let (given, line) = (given.unwrap_or_default(), first.line);
            return Err((line, format!("the probabilities of {names}{given} sum to {sum}, not to 1")));
        }
    }
    Ok(())
}

fn factor<'e>(first: &Entry, rows: impl Iterator<Item = (&'e Entry, i128)>) -> Factor {
    let mut names: Vec<String> = first.names().into_iter().cloned().collect();
    let given = first.given.as_ref().map(|_| names.len());
    names.extend(first.given.as_ref().map(|(name, _)| name.clone()));
    let row = |(e, weight): (&Entry, i128)| {
        let ranges = e.parts.iter().chain(&e.given).map(|(_, range)| Some(*range)).collect();
        Row { ranges, weight }
    };
    Factor { function: None, names, given, rows: rows.map(row).collect(), is_even: false }
}

impl Profile {
    /// The inputs of which it says how likely their values are.
    pub fn distributed(&self) -> Vec<&String> {
        let of_factors = self.factors.iter().filter(|f| f.function.is_none());
        self.weights.keys().chain(of_factors.flat_map(Factor::distributed)).collect()
    }

    /// All inputs that it names.
    pub fn named(&self) -> Vec<&String> {
        let of_factors = self.factors.iter().filter(|f| f.function.is_none());
        self.weights.keys().chain(of_factors.flat_map(|f| &f.names)).collect()
    }

    /// Whether calls that a trace has give an input values.
    pub fn has_samples_of(&self, name: &str) -> bool {
        self.factors.iter().any(|f| f.function.is_some() && f.names.iter().any(|n| n == name))
    }

    /// Where an input is named first, for an error.
    pub fn place(&self, name: &str, is_it: impl Fn(Range) -> bool) -> Option<String> {
        let (.., line) = self.places.iter().find(|(n, range, _)| n == name && is_it(*range))?;
        Some(format!("{}:{line}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_become_whole_weights() {
        let found = parse("input,low,high,probability\n# half\nx,-10,-1,1/4\nx,0,9,75%\ny,0,3,1\n").unwrap();
        assert_eq!(found.weights["x"], vec![((-10, -1), 1), ((0, 9), 3)]);
        assert_eq!(found.weights["y"], vec![((0, 3), 1)]);
        assert_eq!(parse("x,1,3,0.5\nx,4,4,0.5\n").unwrap().weights["x"], vec![((1, 3), 1), ((4, 4), 3)]);
    }

    #[test]
    fn joint_and_conditional_lines_become_boxes() {
        let found = parse(
            "x,0,1,y,0,4,1/2\nx,2,2,y,5,9,1/2\nz,0,0,1/4,if x,0,1\nz,1,3,3/4,if x,0,1\nz,9,9,1,if x,2,2\n",
        )
        .unwrap();
        let row =
            |ranges: &[Range], weight| Row { ranges: ranges.iter().map(|r| Some(*r)).collect(), weight };
        let [joint, conditional] = found.factors.as_slice() else { panic!("{found:?}") };
        assert_eq!(joint.rows, [row(&[(0, 1), (0, 4)], 1), row(&[(2, 2), (5, 9)], 2)]);
        assert_eq!(
            (conditional.names.as_slice(), conditional.given),
            (&["z".to_owned(), "x".to_owned()][..], Some(1))
        );
        let rows = [row(&[(0, 0), (0, 1)], 1), row(&[(1, 3), (0, 1)], 1), row(&[(9, 9), (2, 2)], 4)];
        assert_eq!(conditional.rows, rows);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str, line: usize, part: &str| {
            let (n, what) = parse(text).unwrap_err();
            assert!(n == line && what.contains(part), "{n}: {what}");
        };
        wrong("x,0,9,0.9\n", 1, "sum to 9/10, not to 1");
        wrong("x,0,9,0.5\nx,5,12,0.5\n", 2, "overlaps");
        wrong("x,9,0,1\n", 1, "the range is empty");
        wrong("x,0,9\n", 1, "four fields");
        wrong("x,0,9,1.5\n", 1, "from 0 to 1");
        wrong("x,0,9,1/0\n", 1, "from 0 to 1");
        wrong("", 0, "no line");
        wrong("x,0,9,y,0,z,1\n", 1, "a number in field 6");
        wrong("x,0,9,x,0,3,1\n", 1, "'x' is there twice");
        wrong("x,0,9,1\nx,0,9,y,0,3,1\n", 2, "'x' is distributed in another way in line 1");
        wrong(
            "x,0,9,y,0,9,1/2\nx,5,12,y,9,9,1/2\n",
            2,
            "these ranges of 'x' overlaps one before it, in line 1",
        );
        wrong("x,0,9,1,if y,0,4\nx,0,9,1/2,if y,5,9\n", 2, "of 'x' where 'y' is 5..9 sum to 1/2");
        wrong("x,0,9,1,if y,0,4\nx,0,9,1,if y,4,9\n", 2, "this range of 'y' overlaps that of line 1");
        wrong("x,0,9,1,if y,0\n", 1, "'if INPUT,LOW,HIGH' from field 5");
    }
}
