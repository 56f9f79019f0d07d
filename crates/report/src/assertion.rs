//! Properties that a program states or that are stated about it, and what became of them (contract
//! section 3, `assertions`).
//!
//! A *regression* is a property that was not refuted in the older version and is refuted in the newer
//! one by a replayed input; it is what the gate stops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{RepoPath, Version, Witness};

/// One property between two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Assertion {
    /// Stable: hashes the function's name, the kind, the text and an ordinal on ties; never lines, commits
    /// or paths. Empty in reports of older versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub file: RepoPath,
    pub function: String,
    /// The condition, in C.
    pub text: String,
    #[serde(rename = "match")]
    pub matched: AssertionMatch,
    /// Line in each version that has it.
    pub lines: BTreeMap<Version, u32>,
    pub kind: AssertionKind,
    pub outcome: BTreeMap<Version, AssertionOutcome>,
    /// Which engine settled it, and by which of its steps.
    pub decided_by: DecidedBy,
    /// By which means the outcome in a version was found, where it is known, or nothing that failed before is left.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settled_by: BTreeMap<Version, SettledBy>,
    /// How old and new outcome differ, if they do.
    pub violation: Option<Violation>,
    /// Replayed in both versions before it is put here.
    pub counterexample: Option<Witness>,
    #[serde(flatten)]
    pub unchecked: Unchecked,
    /// An input that an assertion stopped which was removed, compiled out or overtaken: execution goes on now.
    /// Replayed in both versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Witness>,
    /// It was changed and does not say all that it said, or the change dropped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weakened: Option<Weakened>,
    /// Versions that had kept it at least before it was broken, where that is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u32>,
}

/// What of a property is checked by nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unchecked {
    /// Clauses that are left to check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub difference: Vec<String>,
    /// The newest version writes it, and checks nothing there (`NDEBUG`, an empty macro).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compiled_out: bool,
}

/// Engines that judge properties, and their methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettledBy {
    /// Nothing violates it that did not before.
    DifferenceVerification,
    /// An input.
    Runs,
    /// The conditions of getting there, on all paths at once, with what is inductive at loop heads.
    Proof,
    /// The same with loops laid out.
    Unrolling,
    KInduction,
    /// Symbolic execution of what the difference of two assertions leaves.
    PropertyDifferencing,
    /// Runs and abstract interpretation of the program.
    Verifier,
    Compiler,
}

impl SettledBy {
    /// What a report says of it.
    pub fn words(self) -> &'static str {
        match self {
            SettledBy::DifferenceVerification => "difference verification",
            SettledBy::Runs => "runs",
            SettledBy::Proof => "proof",
            SettledBy::Unrolling => "proof, loops laid out",
            SettledBy::KInduction => "k-induction",
            SettledBy::PropertyDifferencing => "property differencing",
            SettledBy::Verifier => "the verifier",
            SettledBy::Compiler => "the compiler",
        }
    }
}

/// What settles a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// It is the same, and nothing changed that it could tell.
    Unchanged,
    /// The older assertion says it.
    Implied,
    /// An input on which an older assertion fails.
    CounterexampleReuse,
    /// Difference verification: nothing violates the property that did not violate one before.
    DifferenceGraph,
    /// Property differencing, on impacted paths: clauses that are new.
    #[serde(rename = "check-1")]
    CheckI,
    /// On impacted paths: clauses that are kept.
    #[serde(rename = "check-2")]
    CheckII,
    /// On other paths: clauses that are new.
    #[serde(rename = "check-3")]
    CheckIII,
    /// Runs and proofs about all of the function, or the verifier.
    #[default]
    Full,
    /// Runs, which is all that speaks of harm.
    Runs,
    /// The first call of a function fails it, from what its objects begin with.
    FirstCall,
    /// A static assertion: by compiling it.
    Compiler,
    /// The newest version checks nothing there.
    CompiledOut,
}

/// What a property said before the change, and whether the newer version needs that it does not any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Weakened {
    /// The old condition, in C.
    pub text: String,
    /// Its line in the older version.
    pub line: u32,
    /// The line of the newer version in front of which it was put back, where nothing took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    pub needed: Needed,
    /// An input that violates the old condition in the newer version, where that condition is put back, and not
    /// in the older one. Replayed in both.
    pub witness: Option<Witness>,
}

/// Whether the newer version violates a condition that is not asserted any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needed {
    /// On an input that kept it in the older version.
    Yes,
    /// On no input that kept it there.
    No,
    /// On inputs that violated it in the older version, too.
    FailedBefore,
    #[default]
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssertionMatch {
    #[default]
    Unchanged,
    Modified,
    New,
    Removed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssertionKind {
    /// An `assert` in the source.
    #[default]
    Assertion,
    /// A fact that the configuration pins.
    Pinned,
    Division,
    Overflow,
    Bounds,
    Null,
    Uninitialised,
    Unreachable,
    /// `abort()` is called.
    Abort,
    /// Memory that nobody can reach any more.
    Leak,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssertionOutcome {
    NotFail,
    Fail,
    #[default]
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Violation {
    Regression,
    NonconformingFeature,
    BadPropertyUpdate,
    Preexisting,
}

/// Why the loss of something blocks nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// The policy only warns of it.
    Tolerated,
    /// It is known, for this reason.
    Suppressed(String),
}

impl LeftAlone {
    /// The reason of a suppression.
    pub fn reason(&self) -> Option<&str> {
        match self {
            LeftAlone::Tolerated => None,
            LeftAlone::Suppressed(reason) => Some(reason),
        }
    }
}

/// What a change did to a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It held on an input of which the newer version breaks it; replayed.
    Regression,
    /// The older version breaks it, the newer one provably does not.
    Fixed,
    /// It is not known whether the newer version breaks it.
    Undecided,
    /// An input breaks it in the newer version only, but callers need not pass such an input.
    Possible,
    /// Both versions break it.
    Preexisting,
    /// A property that is new or was changed, and that the newer version breaks.
    BrokenFromTheStart,
    /// An assertion was weakened, or a pinned fact dropped, and what was said before fails now on an input that
    /// kept it; replayed.
    Weakened,
    /// An assertion that the newer version does not have.
    Removed,
    /// An assertion that the newer version writes and does not check.
    CompiledOut,
    /// An assertion that comes too late in the newer version: something undefined comes before it.
    Overtaken,
    /// The newer version keeps it, or fails on no input on which the older one does not.
    Kept,
}

impl Assertion {
    /// Says how it stands in a version.
    pub fn settle(&mut self, version: Version, outcome: AssertionOutcome, by: SettledBy) {
        self.outcome.insert(version, outcome);
        self.settled_by.remove(&version);
        if outcome != AssertionOutcome::Unknown {
            self.settled_by.insert(version, by);
        }
    }

    /// Difference verification covers it in a version.
    pub fn cover(&mut self, version: Version) {
        self.decided_by = DecidedBy::DifferenceGraph;
        self.settled_by.insert(version, SettledBy::DifferenceVerification);
    }

    /// Whether nobody needs to be asked about a violation: an input was replayed, or no compiler takes it.
    pub fn is_certain(&self) -> bool {
        self.counterexample.is_some() || self.decided_by == DecidedBy::Compiler
    }

    /// Whether the change lost it: an input breaks it now, or it comes too late.
    pub fn is_lost(&self, newest: Version) -> bool {
        self.violation == Some(Violation::Regression) || self.judgement(newest) == Judgement::Overtaken
    }

    /// Whether an input fails what was asserted before, and nothing worse is to be said of it.
    pub fn is_weakened(&self, newest: Version) -> bool {
        let is_needed = self.weakened.as_ref().is_some_and(|w| w.needed == Needed::Yes);
        is_needed && matches!(self.judgement(newest), Judgement::Weakened | Judgement::Removed)
    }

    /// Whether all that is open of it is whether the newer version breaks what it said before.
    pub fn is_open_before(&self, newest: Version) -> bool {
        let is_unknown = self.weakened.as_ref().is_some_and(|w| w.needed == Needed::Unknown);
        is_unknown && matches!(self.judged_as_it_is(newest), Judgement::Kept | Judgement::Fixed)
    }

    /// The input to show: one that breaks it, that breaks what it said before, or that it stopped.
    pub fn example(&self, newest: Version) -> Option<&Witness> {
        match &self.weakened {
            Some(weakened) if self.is_weakened(newest) => weakened.witness.as_ref(),
            _ => self.counterexample.as_ref().or(self.guarded.as_ref()),
        }
    }

    /// Returns what became of the property up to the newest version of the range.
    pub fn judgement(&self, newest: Version) -> Judgement {
        use Judgement::*;
        match (self.judged_as_it_is(newest), self.weakened.as_ref().map(|w| w.needed)) {
            (Kept | Fixed | Preexisting | Possible | Undecided, Some(Needed::Yes)) => Weakened,
            (Kept | Fixed, Some(Needed::Unknown)) => Undecided,
            (judged, _) => judged,
        }
    }

    /// The same of what it says now.
    fn judged_as_it_is(&self, newest: Version) -> Judgement {
        if self.unchecked.compiled_out {
            return Judgement::CompiledOut;
        }
        if self.kind == AssertionKind::Assertion && self.matched == AssertionMatch::Removed {
            return Judgement::Removed;
        }
        let is_broken = self.violation == Some(Violation::Regression) && self.is_certain();
        if self.guarded.is_some() && !is_broken {
            return Judgement::Overtaken;
        }
        let now = self.outcome.get(&newest).copied();
        let before = self.outcome.iter().find(|(v, _)| **v < newest).map(|(_, o)| *o);
        match (self.violation, now, before) {
            (Some(Violation::Preexisting), ..) => Judgement::Preexisting,
            (Some(Violation::NonconformingFeature | Violation::BadPropertyUpdate), ..) => {
                Judgement::BrokenFromTheStart
            }
            (Some(_), ..) if self.is_certain() => Judgement::Regression,
            (None, Some(AssertionOutcome::Unknown), _) if self.counterexample.is_some() => {
                Judgement::Possible
            }
            // It failed before, too, but not on this input.
            (None, Some(AssertionOutcome::Fail), Some(AssertionOutcome::Fail))
                if self.counterexample.is_some() =>
            {
                Judgement::Possible
            }
            (None, Some(AssertionOutcome::Unknown), _) if self.decided_by == DecidedBy::DifferenceGraph => {
                Judgement::Kept
            }
            (_, Some(AssertionOutcome::Fail), None) => Judgement::BrokenFromTheStart,
            (_, Some(AssertionOutcome::Fail), Some(AssertionOutcome::Fail)) => Judgement::Preexisting,
            (Some(_), ..) | (_, Some(AssertionOutcome::Fail | AssertionOutcome::Unknown), _) => {
                Judgement::Undecided
            }
            (_, Some(AssertionOutcome::NotFail), Some(AssertionOutcome::Fail)) => Judgement::Fixed,
            (_, Some(AssertionOutcome::NotFail) | None, _) => Judgement::Kept,
        }
    }
}

impl AssertionKind {
    pub const ALL: [AssertionKind; 10] = [
        AssertionKind::Assertion,
        AssertionKind::Pinned,
        AssertionKind::Division,
        AssertionKind::Overflow,
        AssertionKind::Bounds,
        AssertionKind::Null,
        AssertionKind::Uninitialised,
        AssertionKind::Unreachable,
        AssertionKind::Abort,
        AssertionKind::Leak,
    ];

    /// Whether it is built in: an event that C leaves undefined.
    pub fn is_safety(self) -> bool {
        !matches!(self, AssertionKind::Assertion | AssertionKind::Pinned)
    }

    /// Returns the words for a property of this kind.
    pub fn words(self) -> &'static str {
        match self {
            AssertionKind::Assertion => "assertion",
            AssertionKind::Pinned => "pinned fact",
            AssertionKind::Division => "division",
            AssertionKind::Overflow => "overflow",
            AssertionKind::Bounds => "bounds",
            AssertionKind::Null => "null",
            AssertionKind::Uninitialised => "uninitialised",
            AssertionKind::Unreachable => "unreachable",
            AssertionKind::Abort => "abort",
            AssertionKind::Leak => "leak",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(outcomes: &[(Version, AssertionOutcome)], replayed: Option<Violation>, expected: Judgement) {
        let assertion = Assertion {
            outcome: outcomes.iter().copied().collect(),
            violation: replayed,
            counterexample: replayed.map(|_| Witness::default()),
            ..Assertion::default()
        };
        assert_eq!(assertion.judgement(2), expected, "{outcomes:?} {replayed:?}");
    }

    #[test]
    fn what_a_change_did() {
        use AssertionOutcome::*;
        check(&[(1, NotFail), (2, Fail)], Some(Violation::Regression), Judgement::Regression);
        check(&[(1, Unknown), (2, Fail)], Some(Violation::Regression), Judgement::Regression);
        // Without a replayed input it is a suspicion.
        check(&[(1, NotFail), (2, Fail)], None, Judgement::Undecided);
        check(&[(1, NotFail), (2, Unknown)], None, Judgement::Undecided);
        check(&[(1, Fail), (2, NotFail)], None, Judgement::Fixed);
        check(&[(1, Fail), (2, Unknown)], None, Judgement::Undecided);
        check(&[(1, Fail), (2, Fail)], None, Judgement::Preexisting);
        check(&[(2, Fail)], None, Judgement::BrokenFromTheStart);
        check(&[(1, NotFail), (2, Fail)], Some(Violation::BadPropertyUpdate), Judgement::BrokenFromTheStart);
        check(&[(2, NotFail)], None, Judgement::Kept);
        check(&[(1, Fail)], None, Judgement::Kept);
        let weakened = |needed| Weakened { needed, ..Weakened::default() };
        for (outcome, violation, needed, expected) in [
            (NotFail, None, Needed::Yes, Judgement::Weakened),
            (NotFail, None, Needed::No, Judgement::Kept),
            (NotFail, None, Needed::FailedBefore, Judgement::Kept),
            (NotFail, None, Needed::Unknown, Judgement::Undecided),
            (Unknown, None, Needed::Yes, Judgement::Weakened),
            (Fail, Some(Violation::Regression), Needed::Yes, Judgement::Regression),
            (Fail, Some(Violation::NonconformingFeature), Needed::Yes, Judgement::BrokenFromTheStart),
        ] {
            let a = Assertion {
                outcome: [(1, NotFail), (2, outcome)].into(),
                violation,
                counterexample: violation.map(|_| Witness::default()),
                weakened: Some(weakened(needed)),
                ..Assertion::default()
            };
            assert_eq!(a.judgement(2), expected, "{outcome:?} {violation:?} {needed:?}");
            assert_eq!(a.is_weakened(2), expected == Judgement::Weakened);
        }
        let possible = Assertion {
            outcome: [(1, Unknown), (2, Unknown)].into(),
            counterexample: Some(Witness::default()),
            ..Assertion::default()
        };
        assert_eq!(possible.judgement(2), Judgement::Possible);
    }
}
