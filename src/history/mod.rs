//! Revisions, trees, index and working tree as versions, renames and hunks.
//!
//! Everything here reads; nothing writes to a repository, takes its locks or fetches.
//!
//! - [`Repository`]: opened as git would open it; libgit2 first, the git command line where it must.
//! - [`Range`]: the [`Version`]s that a request names, each with a [`SourceTree`].
//! - [`Objects`]: trees and blobs, parsed and cached by id for all versions together.

mod command;
mod error;
mod libgit;
mod object;
mod range;
mod repository;
mod tree;
mod worktree;

pub use command::GitCommand;
pub use error::{Error, Result};
pub use git2::{ObjectFormat, Oid};
pub use object::{Commit, IndexEntry, Kind, Mode, Object, ObjectSource, Objects, TreeEntry, rfc3339};
pub use range::{Range, RangeRequest, Version, VersionKind};
pub use repository::{OpenOptions, Repository};
pub use tree::{GitTree, IndexTree, MemoryTree, SourceTree};
pub use worktree::WorktreeTree;

#[cfg(test)]
mod tests;
