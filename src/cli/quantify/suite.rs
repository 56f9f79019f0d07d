//! A suite of tests: its file, and what it covers in words and as JSON.

use super::json::number;
use super::text::Scale;
use crate::analysis::quantify::{Quantified, Suite, Tested};
use crate::cli::CliError;
use crate::count::Decimal;
use crate::infer::csv;
use crate::quantify::{BranchSide, ChangeCoverage, Comparison, Coverage};
use crate::report::escape::visible;
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::path::Path;

/// Sides of branches that are named.
const SIDES: usize = 10;

/// Reads a header of input names and a line of numbers for each test.
pub(super) fn read(path: &Path) -> Result<Suite, CliError> {
    let name = path.display();
    let file = std::fs::File::open(path)
        .map_err(|e| CliError::fatal(format!("cannot read the suite '{name}': {e}")))?;
    let value = |text: &str| csv::number(text).map(Decimal::whole).or_else(|| Decimal::parse(text));
    let inputs = csv::read_as(BufReader::new(file), &value).map_err(|e| {
        CliError::usage(format!("suite {name}, {e}"))
            .hint("a suite is a line of input names, and a line of numbers for each test")
    })?;
    match inputs.rows.is_empty() {
        true => Err(CliError::usage(format!("suite {name}: it has no tests"))),
        false => Ok(Suite { names: inputs.names, rows: inputs.rows }),
    }
}

/// How many tests there are, and what they leave out.
fn tests(t: &Tested) -> String {
    let all = t.inside + t.outside;
    let word = if all == 1 { "test" } else { "tests" };
    let outside = match t.outside {
        0 => String::new(),
        n => format!(", {n} outside of the domain"),
    };
    let zero: Vec<String> = t.zero.iter().map(|name| visible(name.as_bytes())).collect();
    let zero = match zero.as_slice() {
        [] => String::new(),
        names => format!("; 0 where the suite does not name it: {}", names.join(", ")),
    };
    format!("{all} {word}{outside}{zero}")
}

/// What is covered of a version.
fn version(c: &Coverage, scale: Scale) -> Vec<String> {
    let mut found =
        vec![format!("tests for {} of {} paths, which {} take", c.paths, c.of_paths, scale.share(c.inputs))];
    if c.grey > 0 {
        let words = if c.grey == 1 { "1 test takes" } else { &format!("{} tests take", c.grey) };
        found.push(format!("{words} a grey path, which counts as none"));
    }
    let side = |s: &BranchSide| {
        let way = if s.is_true { "true" } else { "false" };
        format!("no test has line {} {way}: {}", s.line, scale.share(s.inputs))
    };
    found.extend(c.missed.iter().take(SIDES).map(side));
    if let Some(more) = c.missed.len().checked_sub(SIDES).filter(|n| *n > 0) {
        found.push(format!("… and {more} more sides of branches"));
    }
    found
}

/// What is covered of a step.
fn step(c: &ChangeCoverage, scale: Scale, of: Option<&Comparison>) -> String {
    let paths = format!("tests for {} of {} paths through the change", c.paths, c.of_paths);
    let Some(of) = of else { return paths };
    let known = if of.open > 0 { "are known to " } else { "" };
    let weighed = if scale.is_weighted { ", by the profile" } else { "" };
    let part = |n: i128, of: i128, does: &str| match of {
        0 => String::new(),
        of => format!(", {} % of the inputs that {known}{does}{weighed}", super::text::percent(n, of)),
    };
    let (reach, differ) =
        (part(c.reaching, of.reaching, "reach it"), part(c.differing, of.differing, "differ"));
    format!("{paths}{reach}{differ}")
}

/// What a suite covers, in lines; none without a suite.
pub(super) fn lines(q: &Quantified) -> Vec<String> {
    let Some(t) = &q.tested else { return Vec::new() };
    let scale = Scale::of(q);
    let mut found = vec![tests(t)];
    for (v, c) in t.versions.iter().enumerate() {
        let lines = c.as_ref().map(|c| version(c, scale)).unwrap_or_default();
        found.extend(lines.into_iter().map(|line| format!("version {}: {line}", v + 1)));
        if let Some(Some(c)) = t.steps.get(v) {
            let known = q.steps.get(v).and_then(|s| s.as_ref().ok());
            let line = step(c, scale, known);
            found.push(format!("from version {} to {}: {line}", v + 1, v + 2));
        }
    }
    found
}

/// Writes what a suite covers.
pub(super) fn write(q: &Quantified, out: &mut impl Write) -> Result<(), CliError> {
    for (k, line) in lines(q).into_iter().enumerate() {
        let head = if k == 0 { "  suite  " } else { "    " };
        writeln!(out, "{head}{line}")?;
    }
    Ok(())
}

/// What a suite covers as JSON.
pub(super) fn json(q: &Quantified, t: &Tested) -> Value {
    let side =
        |s: &BranchSide| json!({ "line": s.line, "side": s.is_true, "inputs": number(s.inputs, q.size) });
    let version = |(v, c): (usize, &Option<Coverage>)| {
        let c = c.as_ref()?;
        Some(json!({
            "index": v + 1, "paths": c.paths, "of_paths": c.of_paths, "inputs": number(c.inputs, q.size),
            "grey_tests": c.grey, "missed": c.missed.iter().map(side).collect::<Vec<_>>()
        }))
    };
    let step = |(v, c): (usize, &Option<ChangeCoverage>)| {
        let c = c.as_ref()?;
        Some(json!({
            "from": v + 1, "to": v + 2, "paths": c.paths, "of_paths": c.of_paths,
            "reaching": number(c.reaching, q.size), "differing": number(c.differing, q.size)
        }))
    };
    json!({
        "tests": t.inside + t.outside, "outside": t.outside, "zero": t.zero,
        "versions": t.versions.iter().enumerate().filter_map(version).collect::<Vec<_>>(),
        "steps": t.steps.iter().enumerate().filter_map(step).collect::<Vec<_>>()
    })
}
