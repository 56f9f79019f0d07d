//! Objects, revisions and the index through libgit2.

use super::error::{self, Error, Result};
use super::object::{IndexEntry, Kind, Mode, Object, ObjectSource, path_of_bytes};
use git2::{
    AttrCheckFlags, AttrValue, Delta, DiffOptions, ErrorCode, Index, IndexEntryExtendedFlag, ObjectFormat,
    ObjectType, Oid,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// A libgit2 repository that threads take turns with. Reads are short: one object each.
#[derive(Clone)]
pub(super) struct LibgitSource {
    repository: Arc<Mutex<git2::Repository>>,
    index_file: PathBuf,
    format: ObjectFormat,
}

impl LibgitSource {
    pub(super) fn new(repository: git2::Repository, index_file: PathBuf) -> LibgitSource {
        trust_ids();
        let format = repository.object_format();
        LibgitSource { repository: Arc::new(Mutex::new(repository)), index_file, format }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, git2::Repository> {
        self.repository.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has objects read as git itself reads them: without hashing each anew to see whether its id is right. What is
/// damaged on disk fails its checksum when it is inflated; `git fsck` finds the rest. Every C file of a tree is
/// read, and hashing took more than half of that.
fn trust_ids() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| git2::opts::strict_hash_verification(false));
}

impl ObjectSource for LibgitSource {
    fn object(&self, id: Oid) -> Result<Object> {
        let repository = self.lock();
        let odb = repository.odb()?;
        let object = odb.read(id).map_err(|e| error::of_object(id, e))?;
        let kind = match object.kind() {
            ObjectType::Blob => Kind::Blob,
            ObjectType::Tree => Kind::Tree,
            ObjectType::Commit => Kind::Commit,
            ObjectType::Tag => Kind::Tag,
            _ => return Err(Error::Corrupt { id, reason: "unknown type of object".to_owned() }),
        };
        Ok(Object { kind, bytes: object.data().into() })
    }

    fn resolve(&self, expression: &str) -> Result<Option<Oid>> {
        match self.lock().revparse_single(expression) {
            Ok(object) => Ok(Some(object.id())),
            Err(e) if e.code() == ErrorCode::Ambiguous => Err(Error::AmbiguousId(expression.to_owned())),
            // Everything else is asked of git as well: it knows more spellings.
            Err(_) => Ok(None),
        }
    }

    fn merge_base(&self, one: Oid, two: Oid) -> Result<Option<Oid>> {
        match self.lock().merge_base(one, two) {
            Ok(base) => Ok(Some(base)),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    fn index(&self) -> Result<Vec<IndexEntry>> {
        read_index(&self.index_file, self.format)
    }
}

/// What differs between the index and the files on disk.
pub(super) enum OnDisk {
    Gone,
    /// Changed, or not in the index at all.
    Differs(Mode),
}

impl LibgitSource {
    /// Lists the paths whose files differ from the index, and the files that are neither in it nor
    /// ignored. Cost: one `stat` a file; files whose time stamp moved are read.
    pub(super) fn differences(&self) -> Result<Vec<(PathBuf, OnDisk)>> {
        let repository = self.lock();
        let index = Index::open_ext(&self.index_file, self.format)?;
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_typechange(true)
            .ignore_submodules(true)
            .include_unreadable(false);
        let diff = repository.diff_index_to_workdir(Some(&index), Some(&mut options))?;
        let mut differences = Vec::new();
        for delta in diff.deltas() {
            let Some(bytes) = delta.new_file().path_bytes() else { continue };
            let path = path_of_bytes(bytes);
            let mode = Mode::of_bits(u32::from(delta.new_file().mode()));
            match (delta.status(), mode) {
                (Delta::Deleted, _) => differences.push((path, OnDisk::Gone)),
                // A folder is another repository inside this one.
                (Delta::Untracked, _) if bytes.ends_with(b"/") => {}
                (_, Some(mode)) => differences.push((path, OnDisk::Differs(mode))),
                (_, None) => differences.push((path, OnDisk::Gone)),
            }
        }
        // Sparse checkouts leave files out on purpose, and git then takes the index's word.
        let skipped = |e: &git2::IndexEntry| {
            IndexEntryExtendedFlag::from_bits_truncate(e.flags_extended).is_skip_worktree()
        };
        let skipped: BTreeSet<PathBuf> =
            index.iter().filter(skipped).map(|e| path_of_bytes(&e.path)).collect();
        differences.retain(|(path, on_disk)| !matches!(on_disk, OnDisk::Gone) || !skipped.contains(path));
        let added = |e: &git2::IndexEntry| {
            IndexEntryExtendedFlag::from_bits_truncate(e.flags_extended).is_intent_to_add()
        };
        // An empty file that is only intended to be added equals its entry, so it is no difference.
        let top = repository.workdir().unwrap_or(Path::new(""));
        for entry in index.iter().filter(added) {
            let path = path_of_bytes(&entry.path);
            if top.join(&path).is_file() && !differences.iter().any(|(p, _)| *p == path) {
                differences.push((path, OnDisk::Differs(Mode::File)));
            }
        }
        Ok(differences)
    }

    /// Returns whether storing this file takes more than its bytes as they are on disk, as far as
    /// attributes say; line ends are another matter.
    pub(super) fn has_filters(&self, path: &Path) -> bool {
        let repository = self.lock();
        ["filter", "working-tree-encoding", "ident"].iter().any(|name| {
            let value = repository.get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX);
            !matches!(
                AttrValue::always_bytes(value.unwrap_or_default()),
                AttrValue::Unspecified | AttrValue::False
            )
        })
    }
}

/// Reads an index file; one that is not there is an empty index.
fn read_index(file: &Path, format: ObjectFormat) -> Result<Vec<IndexEntry>> {
    let bad = |e: git2::Error| Error::BadIndex { path: file.to_owned(), reason: e.message().to_owned() };
    let index = Index::open_ext(file, format).map_err(bad)?;
    let mut entries = Vec::with_capacity(index.len());
    for entry in index.iter() {
        let path = path_of_bytes(&entry.path);
        if entry.flags >> 12 & 3 != 0 {
            return Err(Error::Unmerged(path));
        }
        let extended = IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended);
        if extended.is_intent_to_add() {
            continue;
        }
        match Mode::of_bits(entry.mode) {
            // An entry for a folder is a sparse index that slipped through.
            Some(Mode::Tree) => {
                let reason = "it is sparse".to_owned();
                return Err(Error::BadIndex { path: file.to_owned(), reason });
            }
            Some(mode) => entries.push(IndexEntry { path, mode, id: entry.id }),
            None => {}
        }
    }
    Ok(entries)
}
