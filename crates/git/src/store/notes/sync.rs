//! Sharing notes: fetch to a tracking ref, merge, push, again if somebody was faster. And joining notes that
//! were written elsewhere and are here under another ref.
//!
//! The merge is a union of lines, sorted and without duplicates (git's `cat_sort_uniq`), done here
//! rather than by `git notes merge` because that one does not look whether the ref moved meanwhile.

use std::collections::BTreeSet;

use super::lock::{Attempt, Wait};
use super::{Change, Entry, Notes, NotesError, NotesRef, Snapshot, pause};

/// How often a rejected push is tried again.
const PUSHES: u32 = 8;

/// What a sync did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The remote had notes that were not here.
    pub received: bool,
    /// Notes from here went to the remote.
    pub sent: bool,
}

/// What came of another ref's notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Commits with notes there.
    pub there: usize,
    /// Of those, the ones that had no note here.
    pub new: usize,
    /// And the ones whose note here was changed.
    pub changed: usize,
}

impl Notes<'_> {
    /// Joins the notes of the ref with the full name `name` into ours, as [`Notes::sync`] does with a
    /// remote's: nobody's lines get lost.
    pub fn join(&self, name: &str) -> Result<Joined, NotesError> {
        let theirs = self.git.object(&format!("{name}^{{commit}}"))?;
        let theirs = theirs.ok_or_else(|| NotesError::NotNotes(name.to_owned()))?;
        let (before, other) = (self.snapshot()?, self.snapshot_at(&theirs)?);
        let mut joined = Joined { there: other.entries.len(), ..Joined::default() };
        // A commit of sources has no notes, and is to be no part of ours.
        if !other.entries.is_empty() && self.merge(&theirs)? {
            // Another writer may have been here meanwhile; of what it wrote nothing is said.
            let after = self.snapshot()?;
            let blobs = |snapshot: &Snapshot, object: &str| -> Vec<String> {
                snapshot.of(object).iter().map(|entry| entry.blob.clone()).collect()
            };
            for object in other.entries.keys() {
                let (old, new) = (blobs(&before, object), blobs(&after, object));
                joined.new += usize::from(old.is_empty() && !new.is_empty());
                joined.changed += usize::from(!old.is_empty() && old != new);
            }
        }
        Ok(joined)
    }

    /// The full name of the ref that somebody means: `invdiff-2`, `notes/x`, `refs/notes/x`, or whatever was
    /// fetched below `refs/`.
    pub fn ref_of(&self, name: &str) -> Result<String, NotesError> {
        let below = |folder: &str| format!("{folder}{name}");
        let choices = match name.strip_prefix("refs/") {
            Some(_) => vec![name.to_owned()],
            None => vec![below("refs/notes/"), below("refs/")],
        };
        for choice in choices.into_iter().filter(|choice| git2::Reference::is_valid_name(choice)) {
            if self.git.find(&["show-ref", "--verify", "--quiet", &choice])?.is_some() {
                return Ok(choice);
            }
        }
        Err(NotesError::NoNotes(name.to_owned()))
    }

    /// Makes this repository and `remote` have the same notes. Never forces a push.
    pub fn sync(&self, remote: &str) -> Result<SyncReport, NotesError> {
        if !self.remotes()?.iter().any(|name| name == remote) {
            return Err(NotesError::NotARemote(remote.to_owned()));
        }
        let tracking = NotesRef::parse(&format!("refs/notes/{remote}/{}", self.name.short()))?;
        let mut report = SyncReport::default();
        for attempt in 0..PUSHES {
            let theirs = self.fetch(remote, &tracking)?;
            if let Some(theirs) = &theirs {
                report.received |= self.complete(remote, theirs)?;
            }
            if let Some(theirs) = &theirs {
                report.received |= self.merge(theirs)?;
            }
            let ours = self.git.object(self.name.as_str())?;
            if ours.is_none() || ours == theirs {
                return Ok(report);
            }
            match self.git.run(&["push", "--quiet", "--no-verify", remote, self.name.as_str()], b"") {
                Ok(_) => {
                    report.sent = true;
                    if let Some(ours) = &ours {
                        self.git.run(&["update-ref", tracking.as_str(), ours], b"")?;
                    }
                    return Ok(report);
                }
                // Only a push that lost a race is worth another try.
                Err(error) if self.remote_tip(remote)? == theirs => return Err(error.into()),
                Err(_) => pause(attempt),
            }
        }
        Err(NotesError::Rejected(self.name.clone(), PUSHES))
    }

    /// The remote that is meant where none is named: that of the branch, the only one, or `origin`.
    pub fn usual_remote(&self) -> Result<String, NotesError> {
        let remotes = self.remotes()?;
        let branch = self.git.find(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        let of_branch = branch.map(|branch| self.git.config(&format!("branch.{branch}.remote")));
        let of_branch = of_branch.transpose()?.flatten().filter(|name| remotes.contains(name));
        Ok(match (of_branch, remotes.as_slice()) {
            (Some(remote), _) => remote,
            (None, [only]) => only.clone(),
            (None, _) => "origin".to_owned(),
        })
    }

    fn remotes(&self) -> Result<Vec<String>, NotesError> {
        Ok(self.git.line(&["remote"])?.lines().map(str::to_owned).collect())
    }

    fn remote_tip(&self, remote: &str) -> Result<Option<String>, NotesError> {
        let listing = self.git.line(&["ls-remote", remote, self.name.as_str()])?;
        Ok(listing.split_whitespace().next().map(str::to_string))
    }

    /// Fetches the remote's notes into the tracking ref and returns their tip. A remote without notes
    /// is no error.
    fn fetch(&self, remote: &str, tracking: &NotesRef) -> Result<Option<String>, NotesError> {
        if self.remote_tip(remote)?.is_none() {
            return Ok(None);
        }
        let refspec = format!("+{}:{tracking}", self.name);
        self.git.run(&["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, &refspec], b"")?;
        Ok(self.git.object(tracking.as_str())?)
    }

    /// Fetches what a partial clone lacks of the notes, all at once; tells whether that was anything. Git would
    /// fetch them one by one.
    fn complete(&self, remote: &str, tip: &str) -> Result<bool, NotesError> {
        if !self.is_partial()? {
            return Ok(false);
        }
        let tree = format!("{tip}^{{tree}}");
        let listing = self.git.run(&["rev-list", "--objects", "--missing=print", &tree], b"")?;
        let listing = String::from_utf8_lossy(&listing);
        let missing: String =
            listing.lines().filter_map(|line| line.strip_prefix('?')).map(|id| format!("{id}\n")).collect();
        if missing.is_empty() {
            return Ok(false);
        }
        let words =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-filter", "--stdin", remote];
        self.git.run(&words, missing.as_bytes())?;
        Ok(true)
    }

    /// Whether objects may be absent because nobody has fetched them yet.
    pub(super) fn is_partial(&self) -> Result<bool, NotesError> {
        Ok(self.git.find(&["config", "--get-regexp", r"^remote\..*\.promisor$"])?.is_some())
    }

    /// Merges the notes commit `theirs` into ours; tells whether anything was not here before.
    fn merge(&self, theirs: &str) -> Result<bool, NotesError> {
        let mut wait = Wait::default();
        loop {
            let base = self.snapshot()?;
            let attempt = match &base.tip {
                None => self.forward(theirs, None)?,
                Some(tip) if self.contains(tip, theirs)? => return Ok(false),
                Some(tip) if self.contains(theirs, tip)? => self.forward(theirs, Some(tip))?,
                Some(_) => self.merge_commit(&base, theirs)?,
            };
            if wait.is_over(attempt, base.tip.as_deref(), self)? {
                return Ok(true);
            }
        }
    }

    fn contains(&self, tip: &str, ancestor: &str) -> Result<bool, NotesError> {
        Ok(self.git.find(&["merge-base", "--is-ancestor", ancestor, tip])?.is_some())
    }

    /// Moves the ref to `theirs` if it still is at `expected`.
    fn forward(&self, theirs: &str, expected: Option<&str>) -> Result<Attempt, NotesError> {
        self.keep_commit_map()?;
        let zeros = "0".repeat(theirs.len());
        let old = expected.unwrap_or(&zeros);
        let message = "notes: Fast-forward by git invdiff notes";
        match self.git.run(&["update-ref", "-m", message, self.name.as_str(), theirs, old], b"") {
            Ok(_) => Ok(Attempt::Done),
            Err(_) if self.git.object(self.name.as_str())?.as_deref() != expected => Ok(Attempt::Overtaken),
            Err(error) => Attempt::refused(error),
        }
    }

    /// Commits the three-way merge of `theirs` into `base`: what only one side changed or removed since
    /// the merge base stays so; what both changed becomes the union of both.
    fn merge_commit(&self, base: &Snapshot, theirs: &str) -> Result<Attempt, NotesError> {
        let tip = base.tip.as_deref().unwrap_or_default();
        let fork = match self.git.find(&["merge-base", tip, theirs])? {
            Some(fork) => self.snapshot_at(fork.lines().next().unwrap_or_default())?,
            None => Snapshot::default(),
        };
        let other = self.snapshot_at(theirs)?;
        let objects: BTreeSet<&String> = base.entries.keys().chain(other.entries.keys()).collect();
        let mut changes = Vec::new();
        let mut both = Vec::new();
        for object in objects {
            let (own, new) = (base.of(object), other.of(object));
            let blobs = |entries: &[Entry]| entries.iter().map(|e| e.blob.clone()).collect::<Vec<_>>();
            let (own_blobs, new_blobs, old_blobs) = (blobs(own), blobs(new), blobs(fork.of(object)));
            if own_blobs == new_blobs || new_blobs == old_blobs {
                continue;
            }
            if own_blobs == old_blobs {
                changes.extend(own.iter().map(|entry| Change::Delete(&entry.path)));
                changes.extend(new.iter().map(|entry| Change::Link(&entry.path, &entry.blob)));
            } else {
                both.push(object.clone());
            }
        }
        let mut ours = self.payloads(base, &both)?;
        let mut received = self.payloads(&other, &both)?;
        for object in &both {
            let merged =
                union(&ours.remove(object).unwrap_or_default(), &received.remove(object).unwrap_or_default());
            let (own, new) = (base.of(object), other.of(object));
            changes.extend(own.iter().map(|entry| Change::Delete(&entry.path)));
            changes.extend(own.first().or(new.first()).map(|entry| Change::Put(&entry.path, merged)));
        }
        self.commit("Notes merged by 'git invdiff notes'", base, Some(theirs), &changes)
    }
}

/// Returns the lines of two notes, sorted, each once, as git's `cat_sort_uniq` does.
pub fn union(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let lines: BTreeSet<&[u8]> = [ours, theirs]
        .into_iter()
        .flat_map(|p| p.split(|&byte| byte == b'\n'))
        .filter(|l| !l.is_empty())
        .collect();
    let mut merged = Vec::new();
    for line in lines {
        merged.extend_from_slice(line);
        merged.push(b'\n');
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_sorted_and_repeats_nothing() {
        for (ours, theirs, merged) in
            [("", "", ""), ("b\na\n", "a\n\nc", "a\nb\nc\n"), ("x\n", "", "x\n"), ("\n\n", "y\n", "y\n")]
        {
            assert_eq!(union(ours.as_bytes(), theirs.as_bytes()), merged.as_bytes());
            assert_eq!(union(theirs.as_bytes(), ours.as_bytes()), merged.as_bytes());
        }
    }
}
