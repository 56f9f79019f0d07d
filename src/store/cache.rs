//! The folder of cached results, `invdiff/cache` under the git directory that all worktrees share.
//!
//! Entries are plain files named by what they depend on, so removing any of them at any time costs
//! time and nothing else.

use std::io;
use std::path::{Path, PathBuf};

/// Where a repository's cache is, existing or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub entries: usize,
    /// Bytes in files, not blocks on disk.
    pub bytes: u64,
}

impl Cache {
    /// The cache of the repository whose common git directory is given.
    pub fn of(common_dir: &Path) -> Cache {
        Cache { folder: common_dir.join("invdiff").join("cache") }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Counts the entries; a cache that was never written has none. Cost: one look at each file.
    pub fn usage(&self) -> io::Result<Usage> {
        let mut usage = Usage::default();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                // Of the link itself: the cache holds no links, and following one would lead away.
                let metadata = entry.metadata()?;
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else {
                    usage.entries += 1;
                    usage.bytes += metadata.len();
                }
            }
        }
        Ok(usage)
    }

    /// Removes all entries; no error if there are none.
    pub fn clear(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_and_removed() {
        let git_dir = tempfile::tempdir().unwrap();
        std::fs::write(git_dir.path().join("HEAD"), "ref").unwrap();
        let cache = Cache::of(git_dir.path());
        assert_eq!(cache.usage().unwrap(), Usage::default());
        cache.clear().unwrap();
        std::fs::create_dir_all(cache.folder().join("ab")).unwrap();
        std::fs::write(cache.folder().join("ab/cd"), "12345").unwrap();
        std::fs::write(cache.folder().join("x"), "1").unwrap();
        assert_eq!(cache.usage().unwrap(), Usage { entries: 2, bytes: 6 });
        cache.clear().unwrap();
        assert_eq!(cache.usage().unwrap(), Usage::default());
        assert!(git_dir.path().join("HEAD").exists());
    }
}
