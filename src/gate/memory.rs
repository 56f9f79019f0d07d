//! What the last hook found, for the next one.
//!
//! One commit runs up to four hooks that all compare the same two versions. The last answer is kept in the
//! git directory under a key that hashes everything it depends on: the files of both versions, the
//! configuration, and this program. That the limit was met is an answer too, so that a slow commit waits
//! once and not four times.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ComparedTree, Failure};
use crate::report::Report;
use crate::store::{Git, GitError};

/// File in the git directory.
const FILE: &str = "invdiff-last-report";
/// How long a failure is remembered.
const FAILURE_COUNTS: Duration = Duration::from_secs(60);

/// The answer that was kept last.
pub struct Memory {
    file: PathBuf,
    /// Hash of configuration and program.
    surroundings: String,
}

#[derive(Serialize, Deserialize)]
struct CachedAnswer {
    key: String,
    /// A report, or why there is none.
    answer: Result<Report, String>,
}

impl Memory {
    /// Finds the repository's memory. Costs two git processes.
    pub fn of(git: &Git) -> Result<Memory, GitError> {
        let mut hash = blake3::Hasher::new();
        hash.update(env!("CARGO_PKG_VERSION").as_bytes());
        // While this program is being worked on its version stays and its file does not.
        let program = std::env::current_exe().and_then(std::fs::metadata);
        hash.update(format!("{:?}", program.and_then(|p| Ok((p.len(), p.modified()?))).ok()).as_bytes());
        let settings = git.output(&["config", "-z", "--get-regexp", r"^invdiff\."], b"")?;
        hash.update(&settings.stdout);
        Ok(Memory { file: git.own_dir()?.join(FILE), surroundings: hash.finalize().to_hex().to_string() })
    }

    /// Returns the key of a comparison. Costs two git processes that list files.
    pub fn key(&self, git: &Git, old: &ComparedTree, new: &ComparedTree) -> Result<String, GitError> {
        let mut hash = blake3::Hasher::new();
        hash.update(self.surroundings.as_bytes());
        for side in [old, new] {
            hash.update(b"\nside\n");
            let listing = match side {
                ComparedTree::Nothing => Vec::new(),
                ComparedTree::Commit(id) => git.run(&["ls-tree", "-r", "-z", "--full-tree", id], b"")?,
                ComparedTree::Index => {
                    git.run(&["ls-files", "--stage", "-z", "--full-name", "--", ":/"], b"")?
                }
            };
            for (mode, id, path) in listing.split(|&byte| byte == 0).filter_map(entry) {
                for part in [mode, id, path] {
                    hash.update(part);
                    hash.update(b"\0");
                }
            }
        }
        Ok(hash.finalize().to_hex().to_string())
    }

    /// Returns the answer that was kept under this key. A failure counts for the hooks of one commit only:
    /// the machine may have been busy.
    pub fn recall(&self, key: &str) -> Option<Result<Report, Failure>> {
        let kept: CachedAnswer = serde_json::from_slice(&std::fs::read(&self.file).ok()?).ok()?;
        let age = std::fs::metadata(&self.file).and_then(|file| file.modified()).ok()?.elapsed().ok()?;
        let counts = kept.key == key && (kept.answer.is_ok() || age < FAILURE_COUNTS);
        counts.then_some(kept.answer.map_err(Failure))
    }

    /// Keeps an answer in the place of the last one. Where that cannot be written, the next hook computes
    /// it again.
    pub fn keep(&self, key: &str, answer: &Result<Report, Failure>) {
        let answer = answer.clone().map_err(|failure| failure.0);
        let folder = self.file.parent().map(PathBuf::from).unwrap_or_default();
        let Ok(bytes) = serde_json::to_vec(&CachedAnswer { key: key.to_string(), answer }) else { return };
        let Ok(file) = tempfile::Builder::new().prefix(".invdiff-").tempfile_in(folder) else { return };
        if std::fs::write(file.path(), bytes).is_ok() {
            let _ = file.persist(&self.file);
        }
    }
}

/// Splits a line of `ls-tree` (`mode type id\tpath`) or `ls-files --stage` (`mode id stage\tpath`) into
/// what both have.
fn entry(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let (meta, path) = line.split_at(tab);
    let mut words = meta.split(|&byte| byte == b' ');
    let (mode, second, third) = (words.next()?, words.next()?, words.next()?);
    let id = if matches!(second, b"blob" | b"commit" | b"tree") { third } else { second };
    Some((mode, id, path))
}
