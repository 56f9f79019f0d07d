//! Revisions, trees, index and working tree as versions, renames and hunks.
//!
//! Everything here reads; nothing writes to a repository, takes its locks or fetches.
//!
//! - [`Repository`]: opened as git would open it; libgit2 first, the git command line where it must.
//! - [`Range`]: the [`Version`]s that a request names, each with a [`SourceTree`].
//! - [`check_out`]: a version's files, in a folder.
//! - [`Changes`]: what differs between two versions, file by file and hunk by hunk.
//! - [`Objects`]: trees and blobs, parsed and cached by id for all versions together.

mod attributes;
mod changes;
mod checkout;
mod command;
mod error;
mod libgit;
mod names;
mod object;
mod pathspec;
mod range;
mod renames;
mod repository;
mod tree;
mod worktree;

pub use attributes::Exclusion;
pub use changes::{
    ChangeKind, ChangeOptions, Changes, Content, FileChange, FileSide, Hunk, Renames, line_hunks,
};
pub use checkout::{Checkout, check_out, place};
pub use command::GitCommand;
pub use error::{Error, Result};
pub use git2::{ObjectFormat, Oid};
pub use names::{Utf8Tree, bytes_of_utf8_path, utf8_path};
pub use object::{Commit, IndexEntry, Kind, Mode, Object, ObjectSource, Objects, TreeEntry, rfc3339};
pub use pathspec::{Pathspec, PathspecManner};
pub use range::{Range, RangeRequest, Version, VersionKind};
pub use repository::{OpenOptions, Repository};
pub use tree::{GitTree, IndexTree, MemoryTree, SourceTree};
pub use worktree::WorktreeTree;

#[cfg(test)]
mod tests;
