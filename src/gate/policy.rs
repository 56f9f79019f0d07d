//! What a hook makes of a report: a pure function from findings to a verdict.
//!
//! A commit is *blocked* by a property that was not refuted before and is refuted now by a replayed
//! input, if the policy blocks its kind. Everything else only *warns*: churns that callers can see,
//! and properties that the change breaks without a replayed input.

use std::collections::BTreeSet;

use crate::report::trailer::{churn_line, ranked, regression_line, regressions};
use crate::report::{Assertion, AssertionKind, AssertionOutcome, Judgement, Report, Version, Violation};

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

    /// Returns what a property of this kind counts as.
    pub fn of(kind: AssertionKind) -> Block {
        match kind {
            AssertionKind::Assertion => Block::Assertion,
            AssertionKind::Pinned => Block::Pinned,
            _ => Block::Safety,
        }
    }
}

/// What stops a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub block: BTreeSet<Block>,
    /// Churns that break nothing are not worth a word.
    pub quiet: bool,
    /// Ids of churns that are known and left alone.
    pub suppressed: BTreeSet<String>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            block: [Block::Assertion, Block::Pinned, Block::Safety].into(),
            quiet: false,
            suppressed: BTreeSet::new(),
        }
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
    let broken = regressions(report);
    for assertion in &broken {
        let line = regression_line(assertion, newest);
        if policy.block.contains(&Block::of(assertion.kind)) {
            verdict.blocked.push(line);
        } else {
            verdict.warnings.push(line);
        }
    }
    for assertion in &report.assertions {
        if assertion.judgement(newest) == Judgement::BrokenFromTheStart && assertion.counterexample.is_some()
        {
            verdict.warnings.push(regression_line(assertion, newest));
            continue;
        }
        if let Some(doubt) = doubt(assertion, newest) {
            verdict.warnings.push(format!("{} ({doubt})", regression_line(assertion, newest)));
        }
    }
    let seen = ranked(report)
        .into_iter()
        .filter(|(_, _, churn)| churn.observable && !policy.quiet && !policy.suppressed.contains(&churn.id));
    verdict.warnings.extend(seen.map(|(function, point, churn)| churn_line(function, point, churn)));
    verdict
}

/// What is suspected of a property without a replayed input.
fn doubt(a: &Assertion, newest: Version) -> Option<&'static str> {
    if a.counterexample.is_some() || a.violation == Some(Violation::Preexisting) {
        return None;
    }
    let held = a.outcome.iter().any(|(v, o)| *v < newest && *o == AssertionOutcome::NotFail);
    match a.outcome.get(&newest) {
        _ if a.violation == Some(Violation::Regression) => Some("not replayed"),
        Some(AssertionOutcome::Fail) if held => Some("not replayed"),
        Some(AssertionOutcome::Unknown) if held => Some("no longer provable"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Churn, FunctionReport, Point, VersionInfo, Witness};

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
        let verdict = judge(&report, &Policy { block: block.iter().copied().collect(), ..Policy::default() });
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
    fn what_was_proved_and_is_not_any_more_warns() {
        use AssertionOutcome::*;
        for (old, new, expected) in
            [(NotFail, Unknown, 1), (NotFail, Fail, 1), (Unknown, Unknown, 0), (Unknown, Fail, 0)]
        {
            let outcome = [(1, old), (2, new)].into();
            let assertions = vec![Assertion { outcome, ..Assertion::default() }];
            let versions = [1, 2].map(|index| VersionInfo { index, ..VersionInfo::default() }).to_vec();
            let verdict = judge(&Report { assertions, versions, ..Report::default() }, &Policy::default());
            assert_eq!((verdict.blocked.len(), verdict.warnings.len()), (0, expected), "{old:?} {new:?}");
        }
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
