//! Git objects: where they come from, their parsed forms, and a cache that all versions share.
//!
//! Trees are kept parsed by object id, so versions that share folders share the listing. Both
//! sources deliver an object's raw bytes and the parsers here are the same for both: git's own
//! formats for trees (gitformat-pack, `mode SP name NUL id`) and commits (`git cat-file commit`).

use super::error::{Error, Result};
use git2::{ObjectFormat, ObjectType, Oid};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of blobs that are kept; beyond it the cache starts anew.
const BLOB_CACHE_BYTES: usize = 64 << 20;

/// Parsed trees that are kept.
const TREE_CACHE_TREES: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Blob,
    Tree,
    Commit,
    Tag,
}

impl Kind {
    pub(super) fn of_name(name: &str) -> Option<Kind> {
        Some(match name {
            "blob" => Kind::Blob,
            "tree" => Kind::Tree,
            "commit" => Kind::Commit,
            "tag" => Kind::Tag,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Blob => "blob",
            Kind::Tree => "tree",
            Kind::Commit => "commit",
            Kind::Tag => "tag",
        }
    }
}

/// An object as stored, without its header.
#[derive(Clone, Debug)]
pub struct Object {
    pub kind: Kind,
    pub bytes: Arc<[u8]>,
}

/// What an entry of a tree or of the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    File,
    Executable,
    /// Symbolic link.
    Link,
    /// Commit of a submodule.
    Submodule,
    Tree,
}

impl Mode {
    /// Reads a mode as trees spell it; old trees also have group-writable files.
    pub(super) fn of_octal(digits: &[u8]) -> Option<Mode> {
        let value = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?;
        Mode::of_bits(value)
    }

    pub(super) fn of_bits(bits: u32) -> Option<Mode> {
        Some(match bits & 0o170_000 {
            0o100_000 if bits & 0o100 != 0 => Mode::Executable,
            0o100_000 => Mode::File,
            0o120_000 => Mode::Link,
            0o160_000 => Mode::Submodule,
            0o040_000 => Mode::Tree,
            _ => return None,
        })
    }

    /// Returns whether the entry is a regular file, executable or not.
    pub fn is_file(self) -> bool {
        matches!(self, Mode::File | Mode::Executable)
    }
}

/// A file, link or submodule in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    pub path: PathBuf,
    pub mode: Mode,
    pub id: Oid,
}

/// Where objects, revisions and the index are read from.
pub trait ObjectSource: Send + Sync {
    /// Reads one object.
    fn object(&self, id: Oid) -> Result<Object>;

    /// Resolves a revision expression to an object of any kind; `None` when it names nothing.
    fn resolve(&self, expression: &str) -> Result<Option<Oid>>;

    /// Returns the best common ancestor of two commits, if they have one.
    fn merge_base(&self, one: Oid, two: Oid) -> Result<Option<Oid>>;

    /// Lists the index without intent-to-add entries, sorted by path; unmerged entries are an error.
    fn index(&self) -> Result<Vec<IndexEntry>>;
}

/// Entry of one tree object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub name: Box<[u8]>,
    pub mode: Mode,
    pub id: Oid,
}

/// A commit's header and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: Oid,
    pub tree: Oid,
    /// As the commit or a graft says, also those that a shallow clone lacks.
    pub parents: Vec<Oid>,
    /// First line of the message, with what is not UTF-8 replaced.
    pub summary: String,
    /// Time of the committer, seconds since 1970 and the zone's offset in minutes.
    pub time: (i64, i32),
}

/// A source with its caches. Cost of a second read of a tree: a lock and a clone of an `Arc`.
pub struct Objects {
    source: Box<dyn ObjectSource>,
    format: ObjectFormat,
    empty_tree: Oid,
    /// Parents that `info/grafts` gives to commits.
    grafts: HashMap<Oid, Vec<Oid>>,
    // Maps by hash: they are only looked up, never walked.
    trees: Mutex<HashMap<Oid, Arc<[TreeEntry]>>>,
    blobs: Mutex<BlobCache>,
    unreadable: Mutex<BTreeMap<Oid, String>>,
}

#[derive(Default)]
struct BlobCache {
    /// Bytes in `blobs`.
    held: usize,
    blobs: HashMap<Oid, Arc<[u8]>>,
}

impl Objects {
    /// Puts caches before a source; `grafts` are parents that count in place of a commit's own.
    pub fn new(
        source: Box<dyn ObjectSource>,
        format: ObjectFormat,
        grafts: HashMap<Oid, Vec<Oid>>,
    ) -> Result<Objects> {
        Ok(Objects {
            source,
            format,
            empty_tree: empty_tree(format)?,
            grafts,
            trees: Mutex::default(),
            blobs: Mutex::default(),
            unreadable: Mutex::default(),
        })
    }

    pub fn source(&self) -> &dyn ObjectSource {
        &*self.source
    }

    pub fn format(&self) -> ObjectFormat {
        self.format
    }

    /// Returns the id of the tree without entries, in this repository's hash.
    pub fn empty_tree(&self) -> Oid {
        self.empty_tree
    }

    fn object_of(&self, id: Oid, kind: Kind) -> Result<Arc<[u8]>> {
        let object = self.source.object(id).inspect_err(|e| {
            let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            unreadable.insert(id, e.to_string());
        })?;
        if object.kind != kind {
            let reason = format!("it is a {}, not a {}", object.kind.name(), kind.name());
            return Err(Error::Corrupt { id, reason });
        }
        Ok(object.bytes)
    }

    /// Reads a tree, one level.
    pub fn tree(&self, id: Oid) -> Result<Arc<[TreeEntry]>> {
        if id == self.empty_tree {
            return Ok(Arc::from(Vec::new()));
        }
        if let Some(tree) = self.trees.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(tree.clone());
        }
        let bytes = self.object_of(id, Kind::Tree)?;
        let entries = parse_tree(&bytes, self.format)
            .ok_or_else(|| Error::Corrupt { id, reason: "malformed tree".to_owned() })?;
        let tree: Arc<[TreeEntry]> = entries.into();
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= TREE_CACHE_TREES {
            trees.clear();
        }
        trees.insert(id, tree.clone());
        Ok(tree)
    }

    /// Reads a file's content.
    pub fn blob(&self, id: Oid) -> Result<Arc<[u8]>> {
        let _room = invdiff_cost::enter(invdiff_cost::Room::Git);
        if let Some(blob) = self.blobs.lock().unwrap_or_else(PoisonError::into_inner).blobs.get(&id) {
            return Ok(blob.clone());
        }
        let bytes = self.object_of(id, Kind::Blob)?;
        let mut guard = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        let BlobCache { held, blobs } = &mut *guard;
        if *held + bytes.len() > BLOB_CACHE_BYTES {
            blobs.clear();
            *held = 0;
        }
        if bytes.len() <= BLOB_CACHE_BYTES && blobs.insert(id, bytes.clone()).is_none() {
            *held += bytes.len();
        }
        Ok(bytes)
    }

    /// Reads a commit.
    pub fn commit(&self, id: Oid) -> Result<Commit> {
        let bytes = self.object_of(id, Kind::Commit)?;
        let mut commit = parse_commit(id, &bytes, self.format)
            .ok_or_else(|| Error::Corrupt { id, reason: "malformed commit".to_owned() })?;
        if let Some(parents) = self.grafts.get(&id) {
            commit.parents.clone_from(parents);
        }
        Ok(commit)
    }

    /// Follows tags from an object to what they point to.
    pub fn peel(&self, id: Oid) -> Result<(Oid, Kind)> {
        if id == self.empty_tree {
            return Ok((id, Kind::Tree));
        }
        let mut id = id;
        // A chain of tags this long is damage or malice.
        for _ in 0..64 {
            let object = self.source.object(id)?;
            if object.kind != Kind::Tag {
                return Ok((id, object.kind));
            }
            let target = object.bytes.split(|&b| b == b'\n').next().and_then(|line| {
                let hex = std::str::from_utf8(line.strip_prefix(b"object ")?).ok()?;
                Oid::from_str_ext(hex, self.format).ok()
            });
            id = target.ok_or_else(|| Error::Corrupt { id, reason: "malformed tag".to_owned() })?;
        }
        Err(Error::Corrupt { id, reason: "a tag of a tag of a tag without end".to_owned() })
    }

    /// Returns the entry at a path below a tree; `None` when there is none.
    pub fn find(&self, root: Oid, path: &Path) -> Result<Option<TreeEntry>> {
        let bytes = bytes_of_path(path);
        let mut tree = root;
        let mut parts = bytes.split(|&b| b == b'/').peekable();
        while let Some(part) = parts.next() {
            let entries = self.tree(tree)?;
            let Some(entry) = entries.iter().find(|e| *e.name == *part) else { return Ok(None) };
            if parts.peek().is_none() {
                return Ok(Some(entry.clone()));
            }
            if entry.mode != Mode::Tree {
                return Ok(None);
            }
            tree = entry.id;
        }
        Ok(None)
    }

    /// Returns the objects that could not be read so far, with the reasons, in a stable order. Trees of
    /// versions pass over what they cannot read, so this is where a person learns of it.
    pub fn unreadable(&self) -> Vec<(Oid, String)> {
        let unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        unreadable.iter().map(|(id, why)| (*id, why.clone())).collect()
    }
}

/// Returns the id of the empty tree.
pub(super) fn empty_tree(format: ObjectFormat) -> Result<Oid> {
    Ok(Oid::hash_object_ext(ObjectType::Tree, b"", format)?)
}

fn id_bytes(format: ObjectFormat) -> usize {
    match format {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    }
}

fn parse_tree(mut bytes: &[u8], format: ObjectFormat) -> Option<Vec<TreeEntry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|&b| b == b' ')?;
        let (mode, rest) = (bytes.get(..space)?, bytes.get(space + 1..)?);
        let end = rest.iter().position(|&b| b == 0)?;
        let (name, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
        let (id, rest) = rest.split_at_checked(id_bytes(format))?;
        // Names that would leave the tree are never written by git; a path made of one is not read.
        if !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') {
            let id = Oid::from_bytes(id).ok()?;
            entries.push(TreeEntry { name: name.into(), mode: Mode::of_octal(mode)?, id });
        }
        bytes = rest;
    }
    Some(entries)
}

fn parse_commit(id: Oid, bytes: &[u8], format: ObjectFormat) -> Option<Commit> {
    let (mut tree, mut parents, mut time, mut latin) = (None, Vec::new(), (0, 0), false);
    let mut lines = bytes.split(|&b| b == b'\n');
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        let text = String::from_utf8_lossy(line);
        match text.split_once(' ') {
            Some(("tree", hex)) => tree = Oid::from_str_ext(hex, format).ok(),
            Some(("parent", hex)) => parents.push(Oid::from_str_ext(hex, format).ok()?),
            Some(("committer", who)) => time = parse_time(who).unwrap_or((0, 0)),
            Some(("encoding", name)) => {
                latin = ["iso-8859-1", "latin1", "latin-1"].contains(&name.to_ascii_lowercase().as_str());
            }
            _ => {}
        }
    }
    let subject = lines.find(|l| !l.trim_ascii().is_empty()).unwrap_or_default().trim_ascii_end();
    let summary = if latin {
        subject.iter().map(|&b| char::from(b)).collect()
    } else {
        String::from_utf8_lossy(subject).into_owned()
    };
    Some(Commit { id, tree: tree?, parents, summary, time })
}

/// Reads `Name <mail> seconds +hhmm`.
fn parse_time(who: &str) -> Option<(i64, i32)> {
    let mut words = who.rsplit(' ');
    let zone: i32 = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok()?;
    Some((seconds, (zone / 100) * 60 + zone % 100))
}

/// Formats a time as RFC 3339, in its own zone. The calendar is computed by days since 1970 in eras
/// of 400 years (146,097 days), counting years from March so that the leap day comes last.
pub fn rfc3339((seconds, offset): (i64, i32)) -> String {
    // Git stores any number; years beyond four digits have no RFC 3339 form.
    let offset = offset.clamp(-1439, 1439);
    let local = seconds.clamp(-62_135_596_800, 253_402_300_799).saturating_add(i64::from(offset) * 60);
    let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let since = days + 719_468;
    let (era, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    match offset {
        0 => format!("{date}Z"),
        _ => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{date}{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
        }
    }
}

/// Makes a path of bytes as git stores them.
#[cfg(unix)]
pub(super) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns a path as git stores it.
#[cfg(unix)]
pub(super) fn bytes_of_path(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
pub(super) fn bytes_of_path(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_own_zone() {
        assert_eq!(rfc3339((0, 0)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339((951_782_400, 0)), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339((1_704_067_199, 330)), "2024-01-01T05:29:59+05:30");
        assert_eq!(rfc3339((-1, -90)), "1969-12-31T22:29:59-01:30");
        assert_eq!(rfc3339((i64::MAX, 0)), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn damaged_trees_and_commits_are_refused() {
        assert!(parse_tree(b"100644 a.c\0short", ObjectFormat::Sha1).is_none());
        assert!(parse_tree(b"100644", ObjectFormat::Sha1).is_none());
        let escape = [&b"100644 ..\0"[..], &[1; 20]].concat();
        assert_eq!(parse_tree(&escape, ObjectFormat::Sha1), Some(Vec::new()));
        assert!(parse_commit(Oid::ZERO_SHA1, b"tree zzzz\n\nhello", ObjectFormat::Sha1).is_none());
    }
}
