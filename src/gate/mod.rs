//! The logic of hooks: what blocks, what only warns, what is written where.
//!
//! A hook is *advisory* when it never makes the git command fail; only `pre-commit` and `pre-push` are not. Nothing here
//! touches the index or the work tree. The analysis comes in as a function ([`Analyse`]), so that each
//! hook can be tested with a report of the test's own.

pub mod age;
pub mod annotate;
pub mod hooks;
pub mod install;
mod memory;
pub mod policy;

use std::sync::Arc;

use crate::report::Report;
use policy::Policy;

/// One of the two versions that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedTree {
    /// The version before the first: a tree without files.
    Nothing,
    /// A commit, by its full object id.
    Commit(String),
    /// The index that `GIT_INDEX_FILE` names.
    Index,
}

/// Why two versions could not be compared, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// Compares an old version with a new one. Shared with a thread, because hooks have a time limit.
pub type Analyse = Arc<dyn Fn(&ComparedTree, &ComparedTree) -> Result<Report, Failure> + Send + Sync>;

/// Finds what stops a change from an old version to a new one.
pub type PolicyOf = Arc<dyn Fn(&ComparedTree, &ComparedTree) -> Result<Policy, Failure> + Send + Sync>;
