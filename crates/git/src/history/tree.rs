//! A tree of source files at one version, wherever its bytes come from.

use super::error::Result;
use super::object::{IndexEntry, Mode, Objects, path_of_bytes};
use git2::Oid;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The files of one version. Paths are relative to the top of the tree, with `/`, without `.` or
/// `..` components.
pub trait SourceTree: Send + Sync {
    /// Returns a file's bytes; `None` when there is no such regular file or it cannot be read.
    fn read(&self, path: &Path) -> Option<Arc<[u8]>>;

    /// Returns the paths of all regular files, sorted.
    fn paths(&self) -> Arc<[PathBuf]>;

    /// Returns an identity of a file's content (hex object id); equal ids mean equal bytes.
    fn content_id(&self, path: &Path) -> Option<String>;

    /// Lists all that a checkout has: files, and where the tree knows of them links and submodules.
    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        self.paths().iter().map(|path| (path.clone(), Mode::File)).collect()
    }

    /// Returns where a link leads, as it is stored; `None` where there is none.
    fn link(&self, _path: &Path) -> Option<Arc<[u8]>> {
        None
    }
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

/// The tree of a commit. Files are read when asked for; the listing is made once.
///
/// Links and submodules are left out: what they point to is not in this tree.
pub struct GitTree {
    objects: Arc<Objects>,
    root: Oid,
    listing: OnceLock<Arc<[PathBuf]>>,
}

impl GitTree {
    /// Makes a view of the tree object `root`, which is not read yet.
    pub fn new(objects: Arc<Objects>, root: Oid) -> GitTree {
        GitTree { objects, root, listing: OnceLock::new() }
    }

    pub fn root(&self) -> Oid {
        self.root
    }

    /// Returns a regular file's blob. A tree that cannot be read counts as one without files; the
    /// object is then named by [`Objects::unreadable`].
    fn blob_of(&self, path: &Path) -> Option<Oid> {
        let entry = self.objects.find(self.root, path).ok()??;
        entry.mode.is_file().then_some(entry.id)
    }
}

impl SourceTree for GitTree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.objects.blob(self.blob_of(path)?).ok()
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        let listing = self.listing.get_or_init(|| {
            let mut paths = Vec::new();
            // A damaged subtree costs its own files only.
            let _ = walk(&self.objects, self.root, Vec::new(), &mut |path, mode, _| {
                if mode.is_file() {
                    paths.push(path);
                }
            });
            paths.sort();
            paths.into()
        });
        listing.clone()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        Some(self.blob_of(path)?.to_string())
    }

    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        let mut all = Vec::new();
        // As above.
        let _ = walk(&self.objects, self.root, Vec::new(), &mut |path, mode, _| all.push((path, mode)));
        all
    }

    fn link(&self, path: &Path) -> Option<Arc<[u8]>> {
        let entry = self.objects.find(self.root, path).ok()??;
        self.objects.blob(entry.id).ok().filter(|_| entry.mode == Mode::Link)
    }
}

/// Visits every entry below a tree that is not itself a tree, and goes on after an unreadable
/// subtree; returns the first such failure. Cost: one object a folder, no blobs.
pub(super) fn walk(
    objects: &Objects,
    root: Oid,
    prefix: Vec<u8>,
    visit: &mut dyn FnMut(PathBuf, Mode, Oid),
) -> Result<()> {
    let mut failure = Ok(());
    // Folders still to visit; on the heap, because the nesting comes from outside.
    let mut folders = vec![(prefix, root)];
    while let Some((prefix, id)) = folders.pop() {
        let entries = match objects.tree(id) {
            Ok(entries) => entries,
            Err(error) => {
                failure = failure.and(Err(error));
                continue;
            }
        };
        for entry in entries.iter() {
            let mut path = prefix.clone();
            path.extend_from_slice(&entry.name);
            if entry.mode == Mode::Tree {
                path.push(b'/');
                folders.push((path, entry.id));
            } else {
                visit(path_of_bytes(&path), entry.mode, entry.id);
            }
        }
    }
    failure
}

/// The files of the index, as they would be committed.
pub struct IndexTree {
    objects: Arc<Objects>,
    entries: BTreeMap<PathBuf, (Mode, Oid)>,
}

impl IndexTree {
    pub(super) fn new(objects: Arc<Objects>, entries: Vec<IndexEntry>) -> IndexTree {
        IndexTree { objects, entries: entries.into_iter().map(|e| (e.path, (e.mode, e.id))).collect() }
    }

    /// Returns every entry, links and submodules too.
    pub(super) fn entries(&self) -> &BTreeMap<PathBuf, (Mode, Oid)> {
        &self.entries
    }

    fn blob_of(&self, path: &Path) -> Option<Oid> {
        self.entries.get(path).filter(|(mode, _)| mode.is_file()).map(|(_, id)| *id)
    }
}

impl SourceTree for IndexTree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.objects.blob(self.blob_of(path)?).ok()
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        self.entries.iter().filter(|(_, (mode, _))| mode.is_file()).map(|(path, _)| path.clone()).collect()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        Some(self.blob_of(path)?.to_string())
    }

    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        self.entries.iter().map(|(path, (mode, _))| (path.clone(), *mode)).collect()
    }

    fn link(&self, path: &Path) -> Option<Arc<[u8]>> {
        let (_, id) = self.entries.get(path).filter(|(mode, _)| *mode == Mode::Link)?;
        self.objects.blob(*id).ok()
    }
}
