//! The files on disk as a version: what `git add -A` would stage, read without staging it.
//!
//! A file that is unchanged since the index was written is its blob. Any other file is read when it is
//! asked for, once, and as git would store it: line ends and filters apply. Nothing is written to the
//! repository; where git must convert, it writes to an object folder of its own in the temporary
//! directory.

use super::command::GitCommand;
use super::error::{Error, Result};
use super::libgit::{LibgitSource, OnDisk};
use super::object::{Mode, Objects, bytes_of_path, path_of_bytes};
use super::repository::Repository;
use super::tree::SourceTree;
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the largest file that is read from disk; data sets beside the sources stay unread.
const LARGEST_FILE: u64 = 64 << 20;

/// Where a file's content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentSource {
    Blob(Oid),
    Disk,
}

/// The working tree, with untracked files that are not ignored.
pub struct WorktreeTree {
    objects: Arc<Objects>,
    entries: BTreeMap<PathBuf, (Mode, ContentSource)>,
    top: PathBuf,
    git: GitCommand,
    object_dir: PathBuf,
    libgit: Option<LibgitSource>,
    /// What was read stays: a file that changes meanwhile must not be two things in one run.
    read: Mutex<BTreeMap<PathBuf, Option<Disk>>>,
}

/// Content of a file on disk as git would store it.
#[derive(Clone)]
struct Disk {
    bytes: Arc<[u8]>,
    id: Oid,
}

impl WorktreeTree {
    /// Compares the index with the disk. Cost: one `stat` a tracked file, and a walk of the folders.
    pub fn new(repository: &Repository) -> Result<WorktreeTree> {
        let top = repository.require_work_dir()?.to_owned();
        let mut entries = BTreeMap::new();
        for entry in repository.objects().source().index()? {
            entries.insert(entry.path, (entry.mode, ContentSource::Blob(entry.id)));
        }
        let by_libgit = repository.libgit().map(LibgitSource::differences);
        let differences = match by_libgit {
            Some(Ok(differences)) => differences,
            _ => ask_differences(repository.git(), &top)?,
        };
        for (path, on_disk) in differences {
            match on_disk {
                OnDisk::Gone => drop(entries.remove(&path)),
                OnDisk::Differs(mode) => drop(entries.insert(path, (mode, ContentSource::Disk))),
            }
        }
        Ok(WorktreeTree {
            objects: repository.objects().clone(),
            entries,
            top,
            git: repository.git().clone(),
            object_dir: repository.common_dir().join("objects"),
            libgit: repository.libgit().cloned(),
            read: Mutex::default(),
        })
    }

    /// Lists every entry, links and submodules too. The id of a file that differs from the index is
    /// computed from its content; files that cannot be read are left out.
    pub(super) fn entries(&self) -> BTreeMap<PathBuf, (Mode, Oid)> {
        let mut entries = BTreeMap::new();
        for (path, (mode, place)) in &self.entries {
            let id = match place {
                ContentSource::Blob(id) => Some(*id),
                ContentSource::Disk if mode.is_file() => self.disk(path).map(|d| d.id),
                ContentSource::Disk => self.link_id(path),
            };
            if let Some(id) = id {
                entries.insert(path.clone(), (*mode, id));
            }
        }
        entries
    }

    fn link_id(&self, path: &Path) -> Option<Oid> {
        let target = std::fs::read_link(self.top.join(path)).ok()?;
        self.hash(&bytes_of_path(&target))
    }

    fn hash(&self, bytes: &[u8]) -> Option<Oid> {
        Oid::hash_object_ext(ObjectType::Blob, bytes, self.objects.format()).ok()
    }

    fn disk(&self, path: &Path) -> Option<Disk> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(path) {
            return known.clone();
        }
        let disk = self.load(path);
        read.insert(path.to_owned(), disk.clone());
        disk
    }

    fn load(&self, path: &Path) -> Option<Disk> {
        let full = self.top.join(path);
        let metadata = std::fs::symlink_metadata(&full).ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST_FILE {
            return None;
        }
        let raw = std::fs::read(full).ok()?;
        let plain = !raw.windows(2).any(|w| w == b"\r\n")
            && self.libgit.as_ref().is_some_and(|libgit| !libgit.has_filters(path));
        // Git's own conversion failing (a filter that is not installed) leaves the bytes as they are,
        // which is also what git does unless the filter is required.
        let bytes = if plain { raw } else { self.clean(path, &raw).unwrap_or(raw) };
        Some(Disk { id: self.hash(&bytes)?, bytes: bytes.into() })
    }

    /// Converts a file's bytes to what git would store.
    fn clean(&self, path: &Path, raw: &[u8]) -> Result<Vec<u8>> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let folder = tempfile::tempdir().map_err(io)?;
        let git = self
            .git
            .clone()
            .with("GIT_OBJECT_DIRECTORY", folder.path())
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.object_dir);
        let mut option = std::ffi::OsString::from("--path=");
        option.push(path);
        let store = ["-c", "core.safecrlf=false", "hash-object", "-w", "--stdin"].map(Into::into);
        let id = git.filter(&[&store[..], &[option]].concat(), raw.to_vec())?;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        git.read(&["cat-file", "blob", &id])
    }
}

impl SourceTree for WorktreeTree {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        match self.entries.get(path).filter(|(mode, _)| mode.is_file())?.1 {
            ContentSource::Blob(id) => self.objects.blob(id).ok(),
            ContentSource::Disk => self.disk(path).map(|d| d.bytes),
        }
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        self.entries.iter().filter(|(_, (mode, _))| mode.is_file()).map(|(path, _)| path.clone()).collect()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        match self.entries.get(path).filter(|(mode, _)| mode.is_file())?.1 {
            ContentSource::Blob(id) => Some(id.to_string()),
            ContentSource::Disk => self.disk(path).map(|d| d.id.to_string()),
        }
    }

    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        self.entries.iter().map(|(path, (mode, _))| (path.clone(), *mode)).collect()
    }

    fn link(&self, path: &Path) -> Option<Arc<[u8]>> {
        match self.entries.get(path).filter(|(mode, _)| *mode == Mode::Link)?.1 {
            ContentSource::Blob(id) => self.objects.blob(id).ok(),
            ContentSource::Disk => {
                std::fs::read_link(self.top.join(path)).ok().map(|to| Arc::from(bytes_of_path(&to)))
            }
        }
    }
}

/// The differences as the git command line sees them.
fn ask_differences(git: &GitCommand, top: &Path) -> Result<Vec<(PathBuf, OnDisk)>> {
    let raw =
        git.read(&["diff-files", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"])?;
    let mut fields = raw.split(|&b| b == 0);
    let mut differences = Vec::new();
    while let (Some(head), Some(path)) = (fields.next().filter(|f| !f.is_empty()), fields.next()) {
        let path = path_of_bytes(path);
        let mode = head.split(|&b| b == b' ').nth(1).and_then(Mode::of_octal);
        let on_disk = mode.map_or(OnDisk::Gone, OnDisk::Differs);
        differences.push((path, on_disk));
    }
    let others = git.read(&["ls-files", "-z", "--others", "--exclude-standard"])?;
    for name in others.split(|&b| b == 0).filter(|n| !n.is_empty() && !n.ends_with(b"/")) {
        let path = path_of_bytes(name);
        if let Ok(metadata) = std::fs::symlink_metadata(top.join(&path)) {
            differences.push((path, OnDisk::Differs(mode_of(&metadata))));
        }
    }
    Ok(differences)
}

#[cfg(unix)]
fn mode_of(metadata: &std::fs::Metadata) -> Mode {
    use std::os::unix::fs::PermissionsExt;
    match metadata.is_symlink() {
        true => Mode::Link,
        false if metadata.permissions().mode() & 0o100 != 0 => Mode::Executable,
        false => Mode::File,
    }
}

#[cfg(not(unix))]
fn mode_of(metadata: &std::fs::Metadata) -> Mode {
    if metadata.is_symlink() { Mode::Link } else { Mode::File }
}
