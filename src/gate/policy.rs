//! What a hook makes of a report: a pure function from findings to a verdict.
//!
//! A commit is *blocked* by a property that was not refuted before and is refuted now by a replayed
//! input, if the policy blocks its kind in that file; one that the commit weakens or drops for that is a kind of
//! its own. Everything else only *warns*: churns that callers can see, what code does otherwise where no fact says
//! it, and properties that the change breaks without a replayed input. What is *suppressed* does neither, and is
//! counted.

use std::collections::BTreeSet;

use crate::history::Pathspec;
use crate::report::trailer::{Finding, findings, regression_line, regressions};
use crate::report::{
    Assertion, AssertionKind, AssertionOutcome, Change, Churn, Judgement, RepoPath, Report, Version,
    Violation,
};

/// Kinds of properties whose regression can stop a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    /// An `assert` in the source.
    Assertion,
    /// A fact that the configuration pins.
    Pinned,
    /// Division by zero, overflow, bounds, null, uninitialised, unreachable.
    Safety,
    /// What was asserted or pinned before, is not any more, and fails now.
    Weakened,
}

impl Block {
    /// What is blocked where nobody says otherwise.
    pub const DEFAULT: [Block; 3] = [Block::Assertion, Block::Pinned, Block::Safety];

    /// Reads the name that `gate.block` uses.
    pub fn parse(name: &str) -> Option<Block> {
        match name {
            "assertion" => Some(Block::Assertion),
            "pinned" => Some(Block::Pinned),
            "safety" => Some(Block::Safety),
            "weakened" => Some(Block::Weakened),
            _ => None,
        }
    }

    /// Returns what is lost of a property.
    pub fn of(a: &Assertion, newest: Version) -> Block {
        match a.kind {
            _ if a.is_weakened(newest) => Block::Weakened,
            AssertionKind::Assertion => Block::Assertion,
            AssertionKind::Pinned => Block::Pinned,
            _ => Block::Safety,
        }
    }
}

/// Churns that are worth a word; all are ones that callers can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warn {
    /// A fact is lost that had held for some versions, or for nobody knows how many.
    VersionInvariant,
    /// Any.
    Churn,
}

impl Warn {
    /// Reads the name that `gate.warn` uses.
    pub fn parse(name: &str) -> Option<Warn> {
        match name {
            "version-invariant" => Some(Warn::VersionInvariant),
            "churn" => Some(Warn::Churn),
            _ => None,
        }
    }
}

/// What is done about findings in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub block: BTreeSet<Block>,
    pub warn: BTreeSet<Warn>,
    /// Versions that a fact must have held before its loss is worth a word.
    pub age: u32,
}

/// What is different for the files that match.
#[derive(Clone, Debug)]
pub struct Rule {
    pub paths: Pathspec,
    pub block: Option<BTreeSet<Block>>,
    pub warn: Option<BTreeSet<Warn>>,
    pub age: Option<u32>,
}

/// One policy: that of a change, or that of its base.
#[derive(Clone, Debug)]
pub struct Layer {
    pub gate: Gate,
    /// The last one that says something of a file counts.
    pub rules: Vec<Rule>,
}

impl Layer {
    fn at(&self, file: &RepoPath) -> Gate {
        let path = file.to_path();
        let mut gate = self.gate.clone();
        for rule in self.rules.iter().filter(|rule| rule.paths.matches(&path)) {
            gate.block = rule.block.clone().unwrap_or(gate.block);
            gate.warn = rule.warn.clone().unwrap_or(gate.warn);
            gate.age = rule.age.unwrap_or(gate.age);
        }
        gate
    }
}

/// A finding that is known and left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Of the churn or assertion.
    pub id: String,
    pub reason: String,
    /// Its last day.
    pub until: Option<String>,
}

impl Known {
    /// Says that it no longer counts.
    pub fn over(&self) -> String {
        let until = self.until.as_deref().unwrap_or_default();
        format!("the suppression of {} ({}) ended on {until} and no longer counts", self.id, self.reason)
    }
}

/// What stops a commit.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The stricter of them counts, file by file.
    pub layers: Vec<Layer>,
    pub suppressed: Vec<Known>,
    /// Suppressions whose day has passed.
    pub expired: Vec<Known>,
}

impl Default for Policy {
    fn default() -> Policy {
        let gate = Gate { block: Block::DEFAULT.into(), warn: [Warn::VersionInvariant].into(), age: 10 };
        Policy {
            layers: vec![Layer { gate, rules: Vec::new() }],
            suppressed: Vec::new(),
            expired: Vec::new(),
        }
    }
}

impl Policy {
    /// Returns what is done about findings in a file.
    pub fn at(&self, file: &RepoPath) -> Gate {
        let nothing = Gate { block: BTreeSet::new(), warn: BTreeSet::new(), age: u32::MAX };
        self.layers.iter().map(|layer| layer.at(file)).fold(nothing, |a, b| Gate {
            block: &a.block | &b.block,
            warn: &a.warn | &b.warn,
            age: a.age.min(b.age),
        })
    }

    /// Whether the loss of a property stops a commit.
    pub fn blocks(&self, a: &Assertion, newest: Version) -> bool {
        self.suppression(&a.id).is_none() && self.at(&a.file).block.contains(&Block::of(a, newest))
    }

    /// Returns the suppression of a finding, if there is one that counts.
    pub fn suppression(&self, id: &str) -> Option<&Known> {
        self.suppressed.iter().find(|known| known.id == id)
    }

    /// Whether a churn is worth a word.
    fn warns(&self, file: &RepoPath, churn: &Churn) -> bool {
        let gate = self.at(file);
        let lost = !churn.removed.is_empty() || churn.added.is_empty();
        let old = churn.age.is_none_or(|age| age >= gate.age);
        churn.observable
            && (gate.warn.contains(&Warn::Churn)
                || gate.warn.contains(&Warn::VersionInvariant) && lost && old)
    }

    /// Whether what a function does otherwise is worth a word, where no fact says it.
    fn tells(&self, file: &RepoPath, change: &Change) -> bool {
        let gate = self.at(file);
        let old = change.age.is_none_or(|age| age >= gate.age);
        gate.warn.contains(&Warn::Churn) || gate.warn.contains(&Warn::VersionInvariant) && old
    }

    /// The longest time that a fact must have held anywhere; 0 where nothing asks.
    pub fn longest_age(&self) -> u32 {
        let of = |layer: &Layer| {
            let ages = layer.rules.iter().filter_map(|r| r.age).chain([layer.gate.age]);
            ages.max().unwrap_or(0)
        };
        self.layers.iter().map(of).max().unwrap_or(0)
    }
}

/// What a hook says about a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateDecision {
    /// Reasons to stop the commit, one line each; empty: it may go on.
    pub blocked: Vec<String>,
    /// What a person should know, one line each.
    pub warnings: Vec<String>,
    /// What the code does otherwise where no fact that callers see says it, one line each.
    pub changes: Vec<String>,
    /// Ids of what is blocked, in the same order.
    pub ids: Vec<String>,
    /// Findings that a suppression leaves alone.
    pub suppressed: usize,
    /// Suppressions of findings of this report whose day has passed.
    pub expired: Vec<Known>,
}

/// Judges a report on the old version and the new one.
pub fn judge(report: &Report, policy: &Policy) -> GateDecision {
    let newest = report.versions.last().map_or(0, |v| v.index);
    let mut verdict = GateDecision::default();
    let mut met: BTreeSet<&str> = BTreeSet::new();
    let weakened = report.assertions.iter().filter(|a| a.is_weakened(newest));
    for assertion in regressions(report).into_iter().chain(weakened) {
        met.insert(&assertion.id);
        let line = regression_line(assertion, newest);
        if policy.suppression(&assertion.id).is_some() {
            verdict.suppressed += 1;
        } else if policy.blocks(assertion, newest) {
            verdict.blocked.push(line);
            verdict.ids.push(assertion.id.clone());
        } else {
            verdict.warnings.push(line);
        }
    }
    for assertion in report.assertions.iter().filter(|a| !a.is_weakened(newest)) {
        let judgement = assertion.judgement(newest);
        let from_the_start = judgement == Judgement::BrokenFromTheStart;
        let line = if from_the_start && assertion.counterexample.is_some() {
            regression_line(assertion, newest)
        } else if assertion.guarded.is_some() && judgement != Judgement::Regression {
            format!("{}, and what it stopped goes on", regression_line(assertion, newest))
        } else if let Some(doubt) = doubt(assertion, newest) {
            format!("{} ({doubt})", regression_line(assertion, newest))
        } else {
            continue;
        };
        met.insert(&assertion.id);
        match policy.suppression(&assertion.id) {
            Some(_) => verdict.suppressed += 1,
            None => verdict.warnings.push(line),
        }
    }
    let found = findings(report);
    let is_warned = |finding: &&Finding| match finding {
        Finding::Churn(function, _, churn) => policy.warns(&function.file, churn),
        Finding::Change(function, change) => policy.tells(&function.file, change),
    };
    for finding in found.iter().filter(is_warned) {
        met.insert(finding.id());
        match policy.suppression(finding.id()) {
            Some(_) => verdict.suppressed += 1,
            None if matches!(finding, Finding::Change(..)) => verdict.changes.push(finding.line()),
            None => verdict.warnings.push(finding.line()),
        }
    }
    verdict.expired = policy.expired.iter().filter(|known| met.contains(&*known.id)).cloned().collect();
    verdict
}

/// What is suspected of a property without a replayed input.
fn doubt(a: &Assertion, newest: Version) -> Option<&'static str> {
    if a.is_certain() || a.violation == Some(Violation::Preexisting) {
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
    use crate::report::{Fact, FunctionReport, Point, VersionInfo, Witness};
    use std::path::Path;

    fn blocking(block: &[Block]) -> Policy {
        let mut policy = Policy::default();
        policy.layers[0].gate.block = block.iter().copied().collect();
        policy
    }

    fn regression(kind: AssertionKind, file: &str, id: &str) -> Assertion {
        Assertion {
            id: id.into(),
            file: file.into(),
            kind,
            text: "x > 0".into(),
            violation: Some(Violation::Regression),
            counterexample: Some(Witness::default()),
            ..Assertion::default()
        }
    }

    fn check(
        kind: AssertionKind,
        replayed: bool,
        violation: Violation,
        block: &[Block],
        expected: (usize, usize),
    ) {
        let mut assertion = Assertion { violation: Some(violation), ..regression(kind, "a.c", "1") };
        assertion.counterexample = assertion.counterexample.filter(|_| replayed);
        let report = Report { assertions: vec![assertion], ..Report::default() };
        let verdict = judge(&report, &blocking(block));
        assert_eq!((verdict.blocked.len(), verdict.warnings.len()), expected, "{kind:?} {violation:?}");
        assert_eq!(verdict.ids.len(), verdict.blocked.len());
    }

    #[test]
    fn only_a_replayed_regression_blocks() {
        use AssertionKind::*;
        let all = Block::DEFAULT;
        check(Assertion, true, Violation::Regression, &all, (1, 0));
        check(Pinned, true, Violation::Regression, &all, (1, 0));
        check(Overflow, true, Violation::Regression, &all, (1, 0));
        check(Assertion, false, Violation::Regression, &all, (0, 1));
        check(Assertion, true, Violation::Preexisting, &all, (0, 0));
        check(Assertion, true, Violation::Regression, &[Block::Pinned], (0, 1));
    }

    #[test]
    fn what_is_weakened_for_the_new_code_blocks_where_it_is_told_to() {
        use crate::report::{AssertionMatch, Needed, Weakened};
        for (needed, matched, block, expected) in [
            (Needed::Yes, AssertionMatch::Modified, &Block::DEFAULT[..], (0, 1)),
            (Needed::Yes, AssertionMatch::Modified, &[Block::Weakened], (1, 0)),
            (Needed::Yes, AssertionMatch::Removed, &[Block::Weakened], (1, 0)),
            (Needed::No, AssertionMatch::Modified, &[Block::Weakened], (0, 0)),
            (Needed::Unknown, AssertionMatch::Modified, &[Block::Weakened], (0, 0)),
        ] {
            let weakened = Some(Weakened { needed, ..Weakened::default() });
            let assertions = vec![Assertion { matched, weakened, ..Assertion::default() }];
            let verdict = judge(&Report { assertions, ..Report::default() }, &blocking(block));
            assert_eq!((verdict.blocked.len(), verdict.warnings.len()), expected, "{needed:?} {matched:?}");
        }
        assert!(!Policy::default().at(&"a.c".into()).block.contains(&Block::Weakened));
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

    /// Number of warnings about one churn of `a.c`.
    fn warnings(churn: Churn, policy: &Policy) -> usize {
        let points = vec![Point { churns: vec![churn], ..Point::default() }];
        let functions = vec![FunctionReport { file: "a.c".into(), points, ..FunctionReport::default() }];
        let verdict = judge(&Report { functions, ..Report::default() }, policy);
        assert!(verdict.blocked.is_empty());
        verdict.warnings.len()
    }

    #[test]
    fn churns_warn_when_callers_see_them() {
        for (observable, expected) in [(true, 1), (false, 0)] {
            let churn = Churn { observable, ..Churn::default() };
            assert_eq!(warnings(churn, &Policy::default()), expected);
        }
    }

    #[test]
    fn a_lost_fact_warns_when_it_was_old_or_of_unknown_age() {
        let fact = || vec![Fact::default()];
        let lost = |age| Churn { observable: true, removed: fact(), age, ..Churn::default() };
        let gained = Churn { observable: true, added: fact(), ..Churn::default() };
        let mut any = Policy::default();
        any.layers[0].gate.warn = [Warn::Churn].into();
        let mut none = Policy::default();
        none.layers[0].gate.warn.clear();
        for (churn, default, of_any) in
            [(lost(None), 1, 1), (lost(Some(10)), 1, 1), (lost(Some(9)), 0, 1), (gained, 0, 1)]
        {
            assert_eq!(warnings(churn.clone(), &Policy::default()), default, "{:?}", churn.age);
            assert_eq!(warnings(churn.clone(), &any), of_any, "{:?}", churn.age);
            assert_eq!(warnings(churn, &none), 0);
        }
    }

    #[test]
    fn what_code_does_otherwise_is_said_where_no_fact_says_it() {
        use crate::report::ChangeVerdict;
        let judged = |verdict, age, churns: Vec<Churn>, policy: &Policy| {
            let changes = vec![Change { verdict, age, ..Change::default() }];
            let points = vec![Point { churns, ..Point::default() }];
            let f = FunctionReport { file: "a.c".into(), points, changes, ..FunctionReport::default() };
            let verdict = judge(&Report { functions: vec![f], ..Report::default() }, policy);
            (verdict.warnings.len(), verdict.changes.len())
        };
        let (default, differs) = (Policy::default(), ChangeVerdict::Differs);
        for (verdict, age, expected) in [
            (differs, None, 1),
            (differs, Some(10), 1),
            (differs, Some(9), 0),
            (ChangeVerdict::Neutral, None, 0),
            (ChangeVerdict::Open, None, 0),
        ] {
            assert_eq!(judged(verdict, age, Vec::new(), &default), (0, expected), "{verdict:?} {age:?}");
        }
        let lost = Churn { observable: true, removed: vec![Fact::default()], ..Churn::default() };
        assert_eq!(judged(differs, None, vec![lost], &default), (1, 0));
        // That something differs is said better by what does.
        let differing = Churn { observable: true, ..Churn::default() };
        assert_eq!(judged(differs, None, vec![differing], &default), (0, 1));
        let mut none = Policy::default();
        none.layers[0].gate.warn.clear();
        assert_eq!(judged(differs, None, Vec::new(), &none), (0, 0));
    }

    #[test]
    fn rules_are_about_paths_and_the_stricter_layer_counts() {
        let rule = |path: &str, block: Option<&[Block]>| Rule {
            paths: Pathspec::new([path], Path::new("")).expect("a pathspec"),
            block: block.map(|b| b.iter().copied().collect()),
            warn: None,
            age: Some(1),
        };
        let blocked = |policy: &Policy, file: &str| {
            let assertions = vec![regression(AssertionKind::Assertion, file, "1")];
            judge(&Report { assertions, ..Report::default() }, policy).blocked.len()
        };
        let mut policy = Policy::default();
        policy.layers[0].rules =
            vec![rule("tests", Some(&[])), rule("tests/core", Some(&[Block::Assertion]))];
        assert_eq!(blocked(&policy, "a.c"), 1);
        assert_eq!(blocked(&policy, "tests/a.c"), 0);
        assert_eq!(blocked(&policy, "tests/core/a.c"), 1);
        assert_eq!(policy.at(&"tests/a.c".into()).age, 1);
        assert_eq!(policy.at(&"testsuite.c".into()).age, 10);
        policy.layers.push(Policy::default().layers.remove(0));
        assert_eq!(blocked(&policy, "tests/a.c"), 1);
        // A rule that says nothing of what is blocked leaves it.
        policy.layers = vec![Layer { rules: vec![rule("tests", None)], ..policy.layers.remove(0) }];
        assert_eq!(blocked(&policy, "tests/a.c"), 1);
    }

    #[test]
    fn what_is_suppressed_is_counted_and_what_is_over_is_named() {
        let known = |id: &str| Known { id: id.into(), reason: "known".into(), until: None };
        let report = Report {
            assertions: vec![regression(AssertionKind::Assertion, "a.c", "1")],
            ..Report::default()
        };
        let mut policy = Policy { suppressed: vec![known("1")], ..Policy::default() };
        let verdict = judge(&report, &policy);
        assert_eq!((verdict.blocked.len(), verdict.warnings.len(), verdict.suppressed), (0, 0, 1));
        policy.suppressed = vec![known("2")];
        policy.expired = vec![known("1"), known("3")];
        let verdict = judge(&report, &policy);
        assert_eq!((verdict.blocked.len(), verdict.suppressed), (1, 0));
        assert_eq!(verdict.expired, [known("1")]);
    }
}
