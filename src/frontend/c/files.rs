//! The files that a unit may read: the tree's, the embedded headers, and, if asked for, the host's.
//!
//! Every question put to the tree is recorded with its answer, so that a later version of the tree
//! can be asked the same questions instead of being parsed again.

use super::headers;
use super::parse::Rejected;
use crate::history::SourceTree;
use rucc_diag::SourceBytes;
use rucc_session::FileSystem;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Last folder of the include search: a name under it stands for the one file of the tree whose
/// path ends so.
pub const ANYWHERE: &str = "<tree>";

/// Most reads of one unit, found or not. A header without a guard that includes itself twice asks
/// 2^200 times.
const MAX_READS: u64 = 50_000;
/// Most bytes that one unit reads.
const MAX_BYTES: u64 = 256 << 20;

#[derive(Debug, Default)]
struct Log {
    answers: BTreeMap<PathBuf, Option<String>>,
    reads: u64,
    bytes: u64,
}

/// The files of one version as `rucc` sees them.
pub struct TreeFiles<'t> {
    tree: &'t dyn SourceTree,
    host: bool,
    log: Mutex<Log>,
}

impl std::fmt::Debug for TreeFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeFiles").finish_non_exhaustive()
    }
}

/// Bytes of a file with a newline at the end, which `rucc-lex` needs after a last backslash.
fn terminated(bytes: &[u8]) -> SourceBytes {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    out.extend_from_slice(bytes);
    out.push(b'\n');
    SourceBytes::new(out)
}

/// Resolves `.` and `..` textually; a path that leaves the tree keeps none of its `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Returns the file of the tree that `name` stands for when no folder had it: the one at exactly
/// that path, or else the only one whose path ends with it.
fn anywhere(tree: &dyn SourceTree, name: &Path) -> Option<PathBuf> {
    let name: PathBuf = name.components().filter(|c| matches!(c, Component::Normal(_))).collect();
    let paths = tree.paths();
    if paths.binary_search(&name).is_ok() {
        return Some(name);
    }
    let mut ending = paths.iter().filter(|p| p.ends_with(&name));
    let first = ending.next()?;
    ending.next().is_none().then(|| first.clone())
}

/// Returns the identity of what `path` reads as in `tree`; `None` when there is no such file.
pub fn answer(tree: &dyn SourceTree, path: &Path) -> Option<String> {
    match path.strip_prefix(ANYWHERE) {
        Ok(name) => {
            let found = anywhere(tree, name)?;
            Some(format!("{} {}", tree.content_id(&found)?, found.display()))
        }
        Err(_) => tree.content_id(path),
    }
}

impl<'t> TreeFiles<'t> {
    pub fn new(tree: &'t dyn SourceTree, host: bool) -> TreeFiles<'t> {
        TreeFiles { tree, host, log: Mutex::default() }
    }

    /// Returns the bytes of the unit's own file.
    pub fn source(&self, path: &Path) -> Option<SourceBytes> {
        self.read(path).ok()
    }

    /// Returns the questions asked so far with their answers, sorted by path.
    pub fn take_reads(&self) -> Vec<(PathBuf, Option<String>)> {
        let mut log = self.log.lock().unwrap_or_else(|e| e.into_inner());
        std::mem::take(&mut log.answers).into_iter().collect()
    }

    /// Fails when a cap was hit, in which case what was read is not what the unit says.
    pub fn check(&self, path: &Path) -> Result<(), Rejected> {
        let log = self.log.lock().unwrap_or_else(|e| e.into_inner());
        let over = |name, value| Err(Rejected::Limit { path: path.to_path_buf(), name, value });
        if log.reads > MAX_READS {
            return over("includes", MAX_READS);
        }
        if log.bytes > MAX_BYTES {
            return over("included-bytes", MAX_BYTES);
        }
        Ok(())
    }

    fn bytes(&self, path: &Path) -> Option<SourceBytes> {
        if let Ok(name) = path.strip_prefix(headers::DIR) {
            return headers::text(name.to_str()?).map(SourceBytes::new);
        }
        if path.is_absolute() {
            let inside = self.host && headers::HOST_DIRS.iter().any(|d| path.starts_with(d));
            return if inside { std::fs::read(path).ok().map(|b| terminated(&b)) } else { None };
        }
        let id = answer(self.tree, path);
        let known = id.is_some();
        self.log.lock().unwrap_or_else(|e| e.into_inner()).answers.insert(path.to_path_buf(), id);
        if !known {
            return None;
        }
        match path.strip_prefix(ANYWHERE) {
            Ok(name) => self.tree.read(&anywhere(self.tree, name)?),
            Err(_) => self.tree.read(path),
        }
        .map(|b| terminated(&b))
    }
}

impl FileSystem for TreeFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        {
            let mut log = self.log.lock().unwrap_or_else(|e| e.into_inner());
            log.reads += 1;
            if log.reads > MAX_READS || log.bytes > MAX_BYTES {
                return Err(io::ErrorKind::NotFound.into());
            }
        }
        let bytes = self.bytes(&normal(path)).ok_or(io::ErrorKind::NotFound)?;
        self.log.lock().unwrap_or_else(|e| e.into_inner()).bytes += bytes.as_slice().len() as u64;
        Ok(bytes)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = normal(path);
        match path.strip_prefix(ANYWHERE) {
            Ok(name) => anywhere(self.tree, name).unwrap_or(path),
            Err(_) => path,
        }
    }
}
