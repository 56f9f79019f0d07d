//! Git notes: what is known about commits, kept beside them.
//!
//! All notes of a run become *one* commit on the notes ref, made by compare-and-swap: the new commit
//! has the tip that was read as its parent, and `git fast-import` moves the ref only if it still is
//! that tip. If another writer was faster, everything is read again and the edit is applied to what it
//! left, so concurrent writers lose nothing (`git notes add` itself does: it never looks at the old
//! tip). The ref moves last; a run that is killed before leaves unreferenced objects and no change.
//! Runs of this program queue up before they write, so that hundreds of them do not make each other try
//! again and again; that saves time and is not what the notes rely on.
//!
//! A notes tree may fan out (`ab/cd...`) to any depth, and may mix depths. It is read as it is;
//! `fast-import` chooses the depth for what is written, and entries that are not notes stay.

mod lock;
mod record;
mod rewritten;
pub mod setup;
mod sync;

pub use record::{Ends, Note, Record, SCHEMA};
pub use rewritten::Rewritten;
pub use sync::{Joined, SyncReport, union};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lock::{Attempt, Wait};
use record::is_id;

use super::{Git, GitError, grafts};

/// How often a write is tried while other writers move the ref: each time one of them is done.
const ATTEMPTS: u32 = 1000;

/// How long another run of this program is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why notes could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the notes ref must lie under refs/notes/, and '{0}' does not")]
    Ref(String),
    #[error("'{0}' is not a commit")]
    NotACommit(String),
    #[error("'{0}' does not name a commit, as refs of notes do; see what put it there: git show '{0}'")]
    NotNotes(String),
    #[error("there is no remote '{0}'")]
    NotARemote(String),
    #[error("the note on {object} cannot be read: object {blob} is missing")]
    Unreadable { object: String, blob: String },
    #[error("the note on {0} was not fetched into this partial clone")]
    NotFetched(String),
    #[error("'{}' is in the way of the notes: a git is writing them, or was killed while it did; nothing was written", .0.display())]
    Locked(PathBuf),
    #[error("'{0}' moved {ATTEMPTS} times while its notes were written; nothing was written")]
    Contended(NotesRef),
    #[error("the push of '{0}' was rejected {1} times; the notes are merged here, run sync again")]
    Rejected(NotesRef, u32),
    #[error("there are no notes '{0}'")]
    NoNotes(String),
}

impl NotesError {
    /// Whether a git that was asked was ended by a signal, as Ctrl-C sends it to all that runs in a terminal.
    pub fn is_by_signal(&self) -> bool {
        matches!(self, NotesError::Git(GitError::Failed { status: None, .. }))
    }
}

/// The full name of a notes ref, known to lie under `refs/notes/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotesRef(String);

impl NotesRef {
    /// Reads `refs/notes/x`, `notes/x` or `x`. A name under another `refs/` folder is refused; git would
    /// silently nest it below `refs/notes/`.
    pub fn parse(name: &str) -> Result<NotesRef, NotesError> {
        let full = match name {
            _ if name.starts_with("refs/") => name.to_string(),
            _ if name.starts_with("notes/") => format!("refs/{name}"),
            _ => format!("refs/notes/{name}"),
        };
        let valid = full.strip_prefix("refs/notes/").is_some_and(|rest| !rest.is_empty())
            && git2::Reference::is_valid_name(&full);
        if valid { Ok(NotesRef(full)) } else { Err(NotesError::Ref(name.to_string())) }
    }

    /// The part after `refs/notes/`.
    pub fn short(&self) -> &str {
        self.0.strip_prefix("refs/notes/").unwrap_or(&self.0)
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for NotesRef {
    fn default() -> NotesRef {
        NotesRef("refs/notes/invdiff".to_string())
    }
}

impl fmt::Display for NotesRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One blob in a notes tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    blob: String,
}

/// The notes of one commit of the notes ref.
#[derive(Default)]
struct Snapshot {
    /// The commit; `None` when the ref does not exist yet.
    tip: Option<String>,
    /// By annotated object; several entries when fan-outs are mixed.
    entries: BTreeMap<String, Vec<Entry>>,
}

impl Snapshot {
    /// Returns the entries of an object's note, none when it has no note.
    fn of(&self, object: &str) -> &[Entry] {
        self.entries.get(object).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Notes as they were at one time.
pub struct Reader<'a> {
    notes: &'a Notes<'a>,
    snapshot: Snapshot,
}

impl Reader<'_> {
    /// As [`Notes::read`], with one git process at most.
    pub fn read(&self, objects: &[String]) -> Result<BTreeMap<String, Vec<u8>>, NotesError> {
        self.notes.payloads(&self.snapshot, objects)
    }
}

/// What becomes of the note of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Stays as it is.
    Keep,
    /// Is replaced by this payload, byte for byte.
    Set(Vec<u8>),
    /// Goes away.
    Remove,
}

/// The notes of a repository under one ref.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    git: &'a Git,
    name: NotesRef,
}

impl<'a> Notes<'a> {
    pub fn new(git: &'a Git, name: NotesRef) -> Notes<'a> {
        Notes { git, name }
    }

    /// The repository.
    pub fn git(&self) -> &'a Git {
        self.git
    }

    /// The ref that the notes live under.
    pub fn name(&self) -> &NotesRef {
        &self.name
    }

    /// Whether there are any: the ref exists.
    pub fn exist(&self) -> Result<bool, NotesError> {
        Ok(self.git.object(self.name.as_str())?.is_some())
    }

    /// Returns the ids of all annotated objects, sorted.
    pub fn list(&self) -> Result<Vec<String>, NotesError> {
        Ok(self.snapshot()?.entries.into_keys().collect())
    }

    /// Returns the payloads of the notes on `objects`; objects without a note are left out. Two git
    /// processes, whatever the number of objects.
    pub fn read(&self, objects: &[String]) -> Result<BTreeMap<String, Vec<u8>>, NotesError> {
        self.reader()?.read(objects)
    }

    /// Returns the notes as they are now, to be read a part at a time.
    pub fn reader(&self) -> Result<Reader<'_>, NotesError> {
        Ok(Reader { notes: self, snapshot: self.snapshot()? })
    }

    /// As [`Notes::read`], but what cannot be read of one note is an error of that note only.
    pub fn read_each(
        &self,
        objects: &[String],
    ) -> Result<BTreeMap<String, Result<Vec<u8>, NotesError>>, NotesError> {
        self.each_payload(&self.snapshot()?, objects)
    }

    /// Takes the notes of `objects` away, readable or not, in one notes commit with the message `subject`;
    /// returns the objects that had one.
    pub fn remove(&self, subject: &str, objects: &[String]) -> Result<Vec<String>, NotesError> {
        self.change(subject, objects, |_| Ok(BTreeMap::new()), |_, _| Edit::Remove)
    }

    /// Changes the notes of `objects` in one notes commit, and returns the objects whose note changed.
    ///
    /// `edit` is asked about each object and its present payload, again on each attempt, so it must
    /// depend on nothing else. `subject` is the message of the notes commit. When nothing changes,
    /// nothing is written.
    pub fn update(
        &self,
        subject: &str,
        objects: &[String],
        edit: impl FnMut(&str, Option<&[u8]>) -> Edit,
    ) -> Result<Vec<String>, NotesError> {
        self.change(subject, objects, |snapshot| self.payloads(snapshot, objects), edit)
    }

    fn change(
        &self,
        subject: &str,
        objects: &[String],
        payloads: impl Fn(&Snapshot) -> Result<BTreeMap<String, Vec<u8>>, NotesError>,
        mut edit: impl FnMut(&str, Option<&[u8]>) -> Edit,
    ) -> Result<Vec<String>, NotesError> {
        let _turn = self.queue();
        let mut wait = Wait::default();
        loop {
            let snapshot = self.snapshot()?;
            let payloads = payloads(&snapshot)?;
            let mut changes = Vec::new();
            let mut changed = Vec::new();
            for object in objects {
                let entries = snapshot.of(object);
                let old = payloads.get(object);
                let new = match edit(object, old.map(Vec::as_slice)) {
                    Edit::Keep => continue,
                    Edit::Set(new) if entries.len() == 1 && old == Some(&new) => continue,
                    Edit::Remove if entries.is_empty() => continue,
                    Edit::Set(new) => Some(new),
                    Edit::Remove => None,
                };
                changes.extend(entries.iter().map(|entry| Change::Delete(&entry.path)));
                changes.extend(new.map(|payload| Change::Annotate(object, payload)));
                changed.push(object.clone());
            }
            if changes.is_empty() {
                return Ok(changed);
            }
            let attempt = self.commit(subject, &snapshot, None, &changes)?;
            if wait.is_over(attempt, snapshot.tip.as_deref(), self)? {
                return Ok(changed);
            }
        }
    }

    /// Waits for other runs of this program that write notes here, and keeps those that come after waiting
    /// until what is returned is dropped (or the process ends). `None` where that cannot be had.
    fn queue(&self) -> Option<File> {
        let folder = self.git.common_dir().ok()?.join("invdiff");
        std::fs::create_dir_all(&folder).ok()?;
        let file = File::options().create(true).append(true).open(folder.join("notes.lock")).ok()?;
        let begin = Instant::now();
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            if begin.elapsed() > PATIENCE {
                return None;
            }
            pause(0);
        }
        Some(file)
    }

    /// Returns the annotated objects that are no longer in the repository.
    pub fn orphans(&self) -> Result<Vec<String>, NotesError> {
        let objects = self.list()?;
        let sizes = batch_check(self.git, &objects)?;
        Ok(objects.into_iter().zip(sizes).filter(|(_, found)| found.is_none()).map(|(id, _)| id).collect())
    }

    /// Returns the objects that are annotated in what remotes had when notes were exchanged with them. Where
    /// such an object is not here, it may be one that was never fetched.
    pub fn shared(&self) -> Result<BTreeSet<String>, NotesError> {
        let mut shared = BTreeSet::new();
        let refs = self.git.line(&["for-each-ref", "--format=%(refname)", "refs/notes/"])?;
        let end = format!("/{}", self.name.short());
        for name in refs.lines().filter(|name| *name != self.name.as_str() && name.ends_with(&end)) {
            shared.extend(self.snapshot_of(name)?.entries.into_keys());
        }
        Ok(shared)
    }

    fn snapshot(&self) -> Result<Snapshot, NotesError> {
        self.snapshot_of(self.name.as_str())
    }

    /// Returns the notes under the ref with the full name `name`; none where there is no such ref.
    fn snapshot_of(&self, name: &str) -> Result<Snapshot, NotesError> {
        self.tip_of(name)?.map_or_else(|| Ok(Snapshot::default()), |tip| self.snapshot_at(&tip))
    }

    /// Returns the notes of a commit.
    fn snapshot_at(&self, commit: &str) -> Result<Snapshot, NotesError> {
        let listing = self.git.run(&["ls-tree", "-r", "-z", "--full-tree", commit], b"")?;
        let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for line in listing.split(|&byte| byte == 0) {
            let Some((blob, path)) = tree_line(line) else { continue };
            let object = path.replace('/', "");
            if is_id(&object) {
                entries
                    .entry(object)
                    .or_default()
                    .push(Entry { path: path.to_string(), blob: blob.to_string() });
            }
        }
        Ok(Snapshot { tip: Some(commit.to_owned()), entries })
    }

    /// Returns the commit that a notes ref names; `None` where there is no such ref.
    fn tip_of(&self, name: &str) -> Result<Option<String>, NotesError> {
        // Also lists what lies below a folder of that name.
        let form = "--format=%(objecttype) %(objectname) %(refname)";
        let listed = self.git.output(&["for-each-ref", form, name], b"")?;
        if listed.status.success() {
            let listed = String::from_utf8_lossy(&listed.stdout);
            let mut refs = listed.lines().filter_map(|line| {
                let mut words = line.splitn(3, ' ');
                Some((words.next()?, words.next()?, words.next()?))
            });
            match refs.find(|(_, _, found)| *found == name) {
                None => return Ok(None),
                Some(("commit", tip, _)) => return Ok(Some(tip.to_owned())),
                Some(_) => {}
            }
        }
        // A tag of a commit, or a ref whose object is not there.
        let tip = self.git.object(&format!("{name}^{{commit}}"))?;
        Ok(Some(tip.ok_or_else(|| NotesError::NotNotes(name.to_owned()))?))
    }

    /// Reads the notes on `objects`; a note spread over several entries is concatenated, as git does.
    fn payloads(
        &self,
        snapshot: &Snapshot,
        objects: &[String],
    ) -> Result<BTreeMap<String, Vec<u8>>, NotesError> {
        let each = self.each_payload(snapshot, objects)?;
        each.into_iter().map(|(object, payload)| Ok((object, payload?))).collect()
    }

    fn each_payload(
        &self,
        snapshot: &Snapshot,
        objects: &[String],
    ) -> Result<BTreeMap<String, Result<Vec<u8>, NotesError>>, NotesError> {
        let wanted: Vec<(&String, &Entry)> = objects
            .iter()
            .filter_map(|object| Some((object, snapshot.entries.get(object)?)))
            .flat_map(|(object, entries)| entries.iter().map(move |entry| (object, entry)))
            .collect();
        let ids: Vec<&str> = wanted.iter().map(|(_, entry)| entry.blob.as_str()).collect();
        let blobs = match batch_optional(self.git, &ids) {
            // Git before 2.45 ends at the first one that it would have to fetch and may not.
            Err(NotesError::Git(GitError::Failed { .. })) if self.is_partial()? => vec![None; ids.len()],
            blobs => blobs?,
        };
        let partial = blobs.contains(&None) && self.is_partial()?;
        let mut payloads: BTreeMap<String, Result<Vec<u8>, NotesError>> = BTreeMap::new();
        for ((object, entry), blob) in wanted.iter().zip(blobs) {
            let payload = payloads.entry((*object).clone()).or_insert_with(|| Ok(Vec::new()));
            let Some(blob) = blob else {
                let (object, blob) = ((*object).clone(), entry.blob.clone());
                let absent = NotesError::Unreadable { object: object.clone(), blob };
                *payload = Err(if partial { NotesError::NotFetched(object) } else { absent });
                continue;
            };
            let Ok(payload) = payload else { continue };
            if payload.last().is_some_and(|&byte| byte != b'\n') {
                payload.push(b'\n');
            }
            payload.extend(blob);
        }
        Ok(payloads)
    }

    /// Writes one notes commit on top of `base`. An error is what other writers cannot be the reason of.
    fn commit(
        &self,
        subject: &str,
        base: &Snapshot,
        merged: Option<&str>,
        changes: &[Change<'_>],
    ) -> Result<Attempt, NotesError> {
        self.keep_commit_map()?;
        let who = self.git.line(&["var", "GIT_COMMITTER_IDENT"])?;
        let mut stream = Vec::new();
        let mut say = |bytes: &[u8]| stream.extend_from_slice(bytes);
        say(format!("commit {}\ncommitter {who}\ndata {}\n{subject}\n", self.name, subject.len()).as_bytes());
        if let Some(tip) = &base.tip {
            say(format!("from {tip}\n").as_bytes());
        }
        if let Some(merged) = merged {
            say(format!("merge {merged}\n").as_bytes());
        }
        for change in changes {
            match change {
                Change::Delete(path) => say(format!("D {path}\n").as_bytes()),
                Change::Annotate(object, payload) => {
                    say(format!("N inline {object}\ndata {}\n", payload.len()).as_bytes());
                    say(payload);
                    say(b"\n");
                }
                Change::Put(path, payload) => {
                    say(format!("M 100644 inline {path}\ndata {}\n", payload.len()).as_bytes());
                    say(payload);
                    say(b"\n");
                }
                Change::Link(path, blob) => say(format!("M 100644 {blob} {path}\n").as_bytes()),
            }
        }
        say(b"done\n");
        match self.git.run(&["fast-import", "--quiet", "--done", "--date-format=raw"], &stream) {
            Ok(_) => Ok(Attempt::Done),
            Err(_) if self.git.object(self.name.as_str())? != base.tip => Ok(Attempt::Overtaken),
            Err(error) => Attempt::refused(error),
        }
    }
}

/// One step of a notes commit. Paths consist of hexadecimal digits and `/`, so they need no quoting.
enum Change<'a> {
    Delete(&'a str),
    /// Annotates a commit that is in the repository; git chooses the path.
    Annotate(&'a str, Vec<u8>),
    /// Writes a payload at a path, for objects that this repository need not have.
    Put(&'a str, Vec<u8>),
    /// Takes over a blob at a path.
    Link(&'a str, &'a str),
}

/// Returns the commit and first parent that `revision` names, with their trees.
pub fn ends(git: &Git, revision: &str) -> Result<Ends, NotesError> {
    let missing = || NotesError::NotACommit(revision.to_string());
    let commit = git.object(&format!("{revision}^{{commit}}"))?.ok_or_else(missing)?;
    let found = all_ends(git, std::slice::from_ref(&commit))?;
    found.into_iter().next().flatten().ok_or_else(missing)
}

/// Returns the ends of many commits with three git processes; `None` for what is not here. Trees are
/// named, not read: a partial clone may lack them.
pub fn all_ends(git: &Git, commits: &[String]) -> Result<Vec<Option<Ends>>, NotesError> {
    let grafts = std::fs::read_to_string(git.graft_file()?).unwrap_or_default();
    let grafts = grafts::parse(&grafts);
    let shown: Vec<&str> = commits.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for (commit, text) in commits.iter().zip(batch_optional(git, &shown)?) {
        let parent = match grafts.get(commit) {
            Some(parents) => parents.first().cloned(),
            None => header(text.as_deref(), b"parent "),
        };
        found.push(header(text.as_deref(), b"tree ").map(|tree| (commit.clone(), tree, parent)));
    }
    let parents: Vec<&str> = found.iter().flatten().filter_map(|(_, _, parent)| parent.as_deref()).collect();
    let mut texts = batch_optional(git, &parents)?.into_iter();
    Ok(found
        .into_iter()
        .map(|end| {
            let (commit, tree, parent) = end?;
            let text = parent.as_ref().and_then(|_| texts.next().flatten());
            Some(Ends { commit, parent, tree, parent_tree: header(text.as_deref(), b"tree ") })
        })
        .collect())
}

/// Returns the first value of a key in a commit's header.
fn header(commit: Option<&[u8]>, key: &[u8]) -> Option<String> {
    let mut lines = commit?.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
    let value = lines.find_map(|line| line.strip_prefix(key))?;
    Some(String::from_utf8_lossy(value).trim().to_string())
}

/// Splits `<mode> blob <id>\t<path>`.
fn tree_line(line: &[u8]) -> Option<(&str, &str)> {
    let (meta, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let mut words = meta.split(' ').skip(1);
    (words.next()? == "blob").then_some((words.next()?, path))
}

/// Returns for each name the id of the object it names.
fn batch_check(git: &Git, names: &[String]) -> Result<Vec<Option<String>>, NotesError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let input = names.iter().map(|name| format!("{name}\n")).collect::<String>();
    let answer = git.run(&["cat-file", "--batch-check=%(objectname)"], input.as_bytes())?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.lines().map(|line| is_id(line).then(|| line.to_string())).collect())
}

/// Returns the contents of objects, `None` for those that are missing.
fn batch_optional(git: &Git, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, NotesError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let input = ids.iter().map(|id| format!("{id}\n")).collect::<String>();
    let answer = git.run(&["cat-file", "--batch=%(objectsize)"], input.as_bytes())?;
    let mut rest = answer.as_slice();
    let mut contents = Vec::with_capacity(ids.len());
    for _ in ids {
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| unexpected(rest))?;
        let (header, after) = rest.split_at(end);
        let after = after.get(1..).unwrap_or_default();
        let size = std::str::from_utf8(header).ok().and_then(|size| size.parse::<usize>().ok());
        let Some(size) = size else {
            // "<name> missing" has no content after it.
            contents.push(None);
            rest = after;
            continue;
        };
        let content = after.get(..size).ok_or_else(|| unexpected(header))?;
        contents.push(Some(content.to_vec()));
        rest = after.get(size + 1..).unwrap_or_default();
    }
    Ok(contents)
}

fn unexpected(answer: &[u8]) -> GitError {
    let answer = String::from_utf8_lossy(answer.get(..80).unwrap_or(answer)).into_owned();
    GitError::Answer { command: "cat-file".to_string(), answer }
}

/// Waits a little before another attempt; the process id keeps rivals out of step.
fn pause(attempt: u32) {
    let spread = u64::from(std::process::id() % 17);
    std::thread::sleep(Duration::from_millis(2 + spread + u64::from(attempt.min(100)) * 3));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notes_ref_lies_under_refs_notes() {
        for (name, full) in [
            ("invdiff", "refs/notes/invdiff"),
            ("notes/a/b", "refs/notes/a/b"),
            ("refs/notes/x", "refs/notes/x"),
        ] {
            assert_eq!(NotesRef::parse(name).ok().map(|r| r.to_string()).as_deref(), Some(full));
        }
        for bad in ["refs/heads/x", "refs/notes/", "", "a..b", "refs/notesx", "a b", "x\n", "-x/../y"] {
            assert!(NotesRef::parse(bad).is_err(), "{bad:?}");
        }
    }
}
