//! Table II of the Invariant Diffs paper: buggy and mended programs of students, and how many of their churns
//! say which formula became which.
//!
//! Counted as the paper does: invariants are facts `v == expression over inputs` of variables at the exit, each
//! once for every version; churns per line are the changed lines that churns name as their causes, by all that
//! changed. The benchmark prints the counts, a test holds what is said on both sides.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Churn, End, Fact, Point, Report};
use std::collections::BTreeSet;
use std::path::Path;

/// A pair with the paper's figures.
pub struct Pair {
    pub name: String,
    pub versions: [String; 2],
    pub churns: usize,
    pub invariants: usize,
    /// Whether the paper's churns show that a wrong formula became a right one.
    pub tells: bool,
    pub churns_per_line: f64,
    pub ms: f64,
}

/// Reads the pairs under `subjects/itsp`; `None` when they are absent.
pub fn pairs(root: &Path) -> Option<Vec<Pair>> {
    let table = std::fs::read_to_string(root.join("table2.csv")).ok()?;
    let pair = |row: &str| {
        let [name, task, _, _, churns, invariants, tells, per_line, ms] =
            row.split(',').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let read = |v: &str| std::fs::read_to_string(root.join(task).join(name).join(v)).ok();
        Some(Pair {
            name: name.into(),
            versions: [read("v1.c")?, read("v2.c")?],
            churns: churns.parse().ok()?,
            invariants: invariants.parse().ok()?,
            tells: tells == "Y",
            churns_per_line: per_line.parse().ok()?,
            ms: ms.parse().ok()?,
        })
    };
    table.lines().skip(1).map(pair).collect()
}

/// What a reader is shown of a pair; with `all`, of every variable at the exit, as the paper's H2 says.
pub fn analyse(pair: &Pair, all: bool) -> Report {
    let files: Vec<Vec<(&str, &str)>> = pair.versions.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    let options = Options { all, jobs: 1, ..Options::default() };
    diff(&memory::request(&files, c::Options::default(), options))
}

fn exits(report: &Report) -> impl Iterator<Item = &Point> {
    report.functions.iter().flat_map(|f| &f.points).filter(|p| p.id == "exit")
}

/// The churns at the exit.
pub fn churns(report: &Report) -> Vec<&Churn> {
    exits(report).flat_map(|p| &p.churns).collect()
}

/// The formulas of variables at the exit, in each version that has runs that come there.
pub fn invariants(report: &Report) -> usize {
    let mut found = BTreeSet::new();
    for point in exits(report) {
        let shared = point.version_invariants.iter().chain(&point.subset_invariants).chain(&point.if_reached);
        let changed = point.churns.iter().flat_map(|c| c.removed.iter().chain(&c.added));
        for fact in shared.chain(changed).filter(|f| is_of_variable(f)) {
            let reached = fact.versions.iter().filter(|v| fact.reached.get(v) != Some(&false));
            found.extend(reached.map(|v| (*v, &fact.text)));
        }
    }
    found.len()
}

fn is_of_variable(fact: &Fact) -> bool {
    let named =
        matches!(fact.variables.as_slice(), [v] if !v.starts_with('\\') && v != "output" && v != "end");
    named && matches!(fact.template.as_str(), "functional" | "constant")
}

/// How many churns a changed line takes part in, on average.
pub fn churns_per_line(report: &Report) -> f64 {
    let lines: u32 = report.hunks.iter().map(|h| h.old_lines + h.new_lines).sum();
    let causes: usize = churns(report).iter().map(|c| c.causes.removed.len() + c.causes.added.len()).sum();
    causes as f64 / f64::from(lines.max(1))
}

/// What a churn says of one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Nothing,
    /// Something undefined that happens there.
    Undefined,
    /// What is computed from which inputs, or under which condition on them.
    Formula,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::Nothing => "nothing",
            Side::Undefined => "undefined",
            Side::Formula => "formula",
        }
    }

    fn of(facts: &[Fact]) -> Side {
        let side = |f: &Fact| match f.text.starts_with("undefined:") {
            true => Side::Undefined,
            false if is_formula(f) => Side::Formula,
            false => Side::Nothing,
        };
        facts.iter().map(side).max().unwrap_or(Side::Nothing)
    }
}

/// Whether a fact has a condition or computes something; a constant by itself does neither.
fn is_formula(fact: &Fact) -> bool {
    let conditional = fact.text.contains(" ==> ");
    let computed = fact.text.contains("printf(") || fact.template == "functional";
    fact.status.values().all(|s| *s == git_invdiff::report::Status::Proved) && (conditional || computed)
}

/// What the churns at the exit say before and after the change; of several, what the best says.
pub fn sides(report: &Report) -> (Side, Side) {
    let sides = churns(report).into_iter().map(|c| (Side::of(&c.removed), Side::of(&c.added)));
    sides.max_by_key(|(a, b)| (a.min(b) > &Side::Nothing, *a, *b)).unwrap_or((Side::Nothing, Side::Nothing))
}

/// Whether the difference that is shown is one between defined runs.
pub fn is_defined(report: &Report) -> bool {
    let shown = churns(report).into_iter().filter(|c| c.observable).filter_map(|c| c.witness.as_ref());
    shown.into_iter().any(|w| w.old.end != End::Undefined)
}
