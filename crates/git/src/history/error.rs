//! What can go wrong between a revision that a person types and the bytes of its files.
//!
//! One variant for each thing that a person must do something different about; [`Error::hint`] says what.

use git2::Oid;
use std::path::PathBuf;

/// Failure to read history. The display text has no control characters of its own, but names that
/// it quotes come from outside: whoever prints them must escape them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("not a git repository (or any of the parent directories): {}", .0.display())]
    NotARepository(PathBuf),

    #[error("detected dubious ownership in repository at '{}'", .0.display())]
    DubiousOwnership(PathBuf),

    #[error("this operation must be run in a work tree, and '{}' has none", .0.display())]
    NoWorkTree(PathBuf),

    #[error("your current branch '{branch}' does not have any commits yet")]
    UnbornHead { branch: String },

    #[error("unknown revision '{0}'")]
    UnknownRevision(String),

    #[error("ambiguous revision '{0}': more than one object has this short id")]
    AmbiguousId(String),

    #[error("'{revision}' names a {kind}, not a commit")]
    NotACommit { revision: String, kind: &'static str },

    #[error("'{0}' is not a range or revision that git invdiff understands")]
    BadRange(String),

    #[error("'{0}' and '{1}' have no common ancestor")]
    NoMergeBase(String, String),

    /// The history was cut by `git clone --depth`, and what was asked for lies beyond the cut.
    #[error("this shallow clone lacks commit {missing}, which '{wanted}' needs")]
    Shallow { missing: String, wanted: String, fetch: String },

    #[error("object {0} is missing from this partial clone")]
    NotFetched(Oid),

    #[error("object {0} is missing")]
    MissingObject(Oid),

    #[error("object {id} is corrupted: {reason}")]
    Corrupt { id: Oid, reason: String },

    #[error("'{}' is unmerged in the index", .0.display())]
    Unmerged(PathBuf),

    #[error("cannot read the index '{}': {reason}", .path.display())]
    BadIndex { path: PathBuf, reason: String },

    #[error("bad path pattern '{pattern}': {reason}")]
    BadPathspec { pattern: String, reason: String },

    #[error("cannot read '{}'", .path.display())]
    Io { path: PathBuf, source: std::io::Error },

    /// git itself failed; `message` is the first line of what it said.
    #[error("git {command} failed: {message}")]
    Git { command: String, message: String },

    #[error("{}", .0.message())]
    Libgit2(#[from] git2::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns what the person can do about it, as one `hint:` line, where there is something.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NotARepository(_) => "change into a repository, or name one with -C or --git-dir".into(),
            Error::DubiousOwnership(path) => {
                format!("if you trust it: git config --global --add safe.directory '{}'", path.display())
            }
            Error::NoWorkTree(_) => "name revisions, for example HEAD~1..HEAD".into(),
            Error::UnbornHead { .. } => "make a first commit, or use --staged to look at the index".into(),
            Error::UnknownRevision(_) => {
                "use '--' to separate paths from revisions: git invdiff [<revision>...] -- [<path>...]".into()
            }
            Error::AmbiguousId(_) => "use more digits of the object id".into(),
            Error::BadRange(_) => "write A..B, A...B, or revisions one after the other".into(),
            Error::NoMergeBase(a, b) => format!("compare them directly: git invdiff {a} {b}"),
            Error::Shallow { fetch, .. } => format!("get the missing history: {fetch}"),
            Error::NotFetched(_) => {
                "nothing is fetched unasked; set invdiff.lazyFetch=true, or run: git fetch --refetch".into()
            }
            Error::MissingObject(_) | Error::Corrupt { .. } => "look at what git fsck says".into(),
            Error::Unmerged(_) => "resolve the conflict and git add the file".into(),
            _ => return None,
        })
    }
}

/// Returns an error for something that is not there or is damaged, told apart by libgit2's code.
pub(super) fn of_object(id: Oid, error: git2::Error) -> Error {
    match error.code() {
        git2::ErrorCode::NotFound => Error::MissingObject(id),
        _ => Error::Corrupt { id, reason: error.message().to_owned() },
    }
}
