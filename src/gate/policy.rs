//! What a hook makes of a report: a pure function from findings to a verdict.
//!
//! A commit is *blocked* by a property that was not refuted before and is refuted now by a replayed
//! input, if the policy blocks its kind. Everything else only *warns*: churns that callers can see,
//! and properties that the change breaks without a replayed input.

use std::collections::BTreeSet;

use crate::report::trailer::{churn_line, ranked, regression_line, regressions};
use crate::report::{Assertion, AssertionKind, AssertionOutcome, Claim, PointKind, Report, Violation};

/// Kinds of properties whose regression can stop a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    /// An `assert` in the source.
    Assertion,
    /// A fact that the configuration pins.
    Pinned,
    /// Division by zero, overflow, bounds, null, uninitialised, unreachable.
    Safety,
}

impl Block {
    /// Reads the name that `gate.block` uses.
    pub fn parse(name: &str) -> Option<Block> {
        match name {
            "assertion" => Some(Block::Assertion),
            "pinned" => Some(Block::Pinned),
            "safety" => Some(Block::Safety),
            _ => None,
        }
    }

    fn of(kind: AssertionKind) -> Block {
        match kind {
            AssertionKind::Assertion => Block::Assertion,
            AssertionKind::Pinned => Block::Pinned,
            _ => Block::Safety,
        }
    }
}

/// A fact that the project wants kept. It is compared with the facts of a report by its text, blanks aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// `name` or `file:name`.
    pub function: String,
    pub at: PointKind,
    pub holds: String,
}

/// What stops a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub block: BTreeSet<Block>,
    pub pins: Vec<Pin>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { block: [Block::Assertion, Block::Pinned, Block::Safety].into(), pins: Vec::new() }
    }
}

/// What a hook says about a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Reasons to stop the commit, one line each; empty: it may go on.
    pub blocked: Vec<String>,
    /// What a person should know, one line each.
    pub warnings: Vec<String>,
}

/// Judges a report on the old version and the new one.
pub fn judge(report: &Report, policy: &Policy) -> Verdict {
    let newest = report.versions.last().map_or(0, |v| v.index);
    let mut verdict = Verdict::default();
    let mut broken = regressions(report);
    for (assertion, refuted) in lost_pins(report, &policy.pins) {
        match refuted {
            true => broken.push(assertion),
            false => {
                verdict.warnings.push(format!("{} (no longer provable)", regression_line(&assertion, newest)))
            }
        }
    }
    for assertion in &broken {
        let line = regression_line(assertion, newest);
        if policy.block.contains(&Block::of(assertion.kind)) {
            verdict.blocked.push(line);
        } else {
            verdict.warnings.push(line);
        }
    }
    let doubtful = |a: &&Assertion| {
        let fails_now = a.outcome.get(&newest) == Some(&AssertionOutcome::Fail);
        a.counterexample.is_none() && (fails_now || a.violation == Some(Violation::Regression))
    };
    for assertion in report.assertions.iter().filter(doubtful) {
        verdict.warnings.push(format!("{} (not replayed)", regression_line(assertion, newest)));
    }
    let seen = ranked(report).into_iter().filter(|(_, _, churn)| churn.observable);
    verdict.warnings.extend(seen.map(|(function, point, churn)| churn_line(function, point, churn)));
    verdict
}

/// Returns the pinned facts that a churn takes away, and whether its witness refutes them.
fn lost_pins(report: &Report, pins: &[Pin]) -> Vec<(Assertion, bool)> {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let mut lost = Vec::new();
    for (function, point, churn) in ranked(report) {
        let full_name = format!("{}:{}", function.file, function.name);
        let here =
            |pin: &&Pin| point.kind == pin.at && (pin.function == function.name || pin.function == full_name);
        for pin in pins.iter().filter(here) {
            if !churn.removed.iter().any(|fact| squeezed(&fact.text) == squeezed(&pin.holds)) {
                continue;
            }
            let refuted =
                churn.witness.is_some() && matches!(churn.claim, Claim::NoLongerHolds | Claim::Changed);
            let assertion = Assertion {
                file: function.file.clone(),
                function: function.name.clone(),
                text: pin.holds.clone(),
                lines: point.lines.clone(),
                kind: AssertionKind::Pinned,
                violation: Some(Violation::Regression),
                counterexample: churn.witness.clone().filter(|_| refuted),
                ..Assertion::default()
            };
            lost.push((assertion, refuted));
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Churn, Fact, FunctionReport, Point, Witness};

    fn check(
        kind: AssertionKind,
        replayed: bool,
        violation: Violation,
        block: &[Block],
        expected: (usize, usize),
    ) {
        let assertion = Assertion {
            kind,
            text: "x > 0".into(),
            violation: Some(violation),
            counterexample: replayed.then(Witness::default),
            ..Assertion::default()
        };
        let report = Report { assertions: vec![assertion], ..Report::default() };
        let verdict = judge(&report, &Policy { block: block.iter().copied().collect(), pins: Vec::new() });
        assert_eq!((verdict.blocked.len(), verdict.warnings.len()), expected, "{kind:?} {violation:?}");
    }

    #[test]
    fn only_a_replayed_regression_blocks() {
        use AssertionKind::*;
        let all = [Block::Assertion, Block::Pinned, Block::Safety];
        check(Assertion, true, Violation::Regression, &all, (1, 0));
        check(Pinned, true, Violation::Regression, &all, (1, 0));
        check(Overflow, true, Violation::Regression, &all, (1, 0));
        check(Assertion, false, Violation::Regression, &all, (0, 1));
        check(Assertion, true, Violation::Preexisting, &all, (0, 0));
        check(Assertion, true, Violation::Regression, &[Block::Pinned], (0, 1));
    }

    #[test]
    fn a_pinned_fact_blocks_when_a_witness_refutes_it() {
        let check = |function: &str, holds: &str, claim: Claim, witness: bool, expected: (usize, usize)| {
            let removed = vec![Fact { text: "\\result >= 0".into(), ..Fact::default() }];
            let witness = witness.then(Witness::default);
            let churn = Churn { removed, claim, witness, ..Churn::default() };
            let points = vec![Point { churns: vec![churn], ..Point::default() }];
            let function_report = FunctionReport {
                file: "a.c".into(),
                name: "area".into(),
                points,
                ..FunctionReport::default()
            };
            let report = Report { functions: vec![function_report], ..Report::default() };
            let pin = Pin { function: function.into(), at: PointKind::Exit, holds: holds.into() };
            let verdict = judge(&report, &Policy { pins: vec![pin], ..Policy::default() });
            assert_eq!(
                (verdict.blocked.len(), verdict.warnings.len()),
                expected,
                "{function} {holds} {claim:?}"
            );
        };
        check("area", "\\result>=0", Claim::NoLongerHolds, true, (1, 0));
        check("a.c:area", "\\result >= 0", Claim::Changed, true, (1, 0));
        check("area", "\\result >= 0", Claim::NoLongerProvable, false, (0, 1));
        check("area", "\\result >= 1", Claim::NoLongerHolds, true, (0, 0));
        check("other", "\\result >= 0", Claim::NoLongerHolds, true, (0, 0));
    }

    #[test]
    fn churns_warn_when_callers_see_them() {
        for (observable, warnings) in [(true, 1), (false, 0)] {
            let churns = vec![Churn { observable, ..Churn::default() }];
            let points = vec![Point { churns, ..Point::default() }];
            let functions = vec![FunctionReport { points, ..FunctionReport::default() }];
            let verdict = judge(&Report { functions, ..Report::default() }, &Policy::default());
            assert_eq!((verdict.blocked.len(), verdict.warnings.len()), (0, warnings));
        }
    }
}
