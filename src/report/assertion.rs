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
    /// Which step settled it: `unchanged`, `difference-graph`, `full`, ...
    pub decided_by: String,
    /// How old and new outcome differ, if they do.
    pub violation: Option<Violation>,
    /// Replayed in both versions before it is put here.
    pub counterexample: Option<Witness>,
    /// Clauses that are left to check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub difference: Vec<String>,
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
