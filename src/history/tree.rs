//! A tree of source files at one version, wherever its bytes come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of one version. Paths are relative to the top of the tree, with `/`, without `.` or
/// `..` components.
pub trait SourceTree: Send + Sync {
    /// Returns a file's bytes; `None` when there is no such regular file or it cannot be read.
    fn read(&self, path: &Path) -> Option<Arc<[u8]>>;

    /// Returns the paths of all regular files, sorted.
    fn paths(&self) -> Arc<[PathBuf]>;

    /// Returns an identity of a file's content (hex object id); equal ids mean equal bytes.
    fn content_id(&self, path: &Path) -> Option<String>;
}

/// A tree held in memory, for tests and for snapshots of the working tree.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
}

impl MemoryTree {
    pub fn new<P: Into<PathBuf>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> MemoryTree {
        MemoryTree { files: files.into_iter().map(|(p, b)| (p.into(), Arc::from(b.as_ref()))).collect() }
    }
}

impl SourceTree for MemoryTree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.get(path).cloned()
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        self.files.keys().cloned().collect()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        Some(blake3::hash(self.files.get(path)?).to_hex().to_string())
    }
}
