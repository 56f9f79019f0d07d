//! Rewritten commits: notes that a rewrite of the history left behind, where no hook told us of it.
//!
//! The *successor* of an annotated commit is the one that took its place. `git filter-repo` writes down which
//! that is (`filter-repo/commit-map` in the git directory, lines `old new`), and rewrites no notes. A later run
//! changes that file: it then leads from what the first run began with to what the last one made, and says
//! nothing of the commits in between, which may have notes by then. So whoever writes notes keeps a copy of
//! the file (`invdiff/commit-maps`), by which those commits are known. Without all that, as after a rebase
//! without hooks, a commit that no ref leads to has those commits as successors that bring the same tree to
//! the same tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::record::{Ends, Note, Record, is_id};
use super::{Notes, NotesError, all_ends};

/// A commit that was rewritten, with its note, and its successor, which has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewritten {
    /// The successor.
    pub commit: String,
    /// The commit that the note is on.
    pub old: String,
    /// Records of that note.
    pub records: Vec<Record>,
    /// The old commit was rewritten and is not here any more, so that its note says nothing to anybody once
    /// the successor has one.
    pub replaced: bool,
}

/// An annotated commit, and what its note and the repository say of it.
struct Annotated {
    commit: String,
    records: Vec<Record>,
    /// Whether the note has lines that are not ours.
    foreign: bool,
    is_here: bool,
}

impl Notes<'_> {
    /// Returns the annotated commits whose successors have no note that speaks of them.
    pub fn rewritten(&self) -> Result<Vec<Rewritten>, NotesError> {
        let ids = self.list()?;
        let mut payloads = self.read_each(&ids)?;
        let annotated = ids.iter().zip(all_ends(self.git, &ids)?).filter_map(|(commit, ends)| {
            let note = Note::parse(payloads.remove(commit)?.ok().as_deref()?);
            let (commit, foreign, is_here) = (commit.clone(), !note.foreign.is_empty(), ends.is_some());
            Some(Annotated { commit, records: note.records, foreign, is_here })
        });
        let annotated: Vec<Annotated> = annotated.filter(|one| !one.records.is_empty()).collect();
        let maps = self.commit_maps()?;
        let mut pairs: Vec<(&Annotated, String)> = Vec::new();
        let mut lost = Vec::new();
        for one in &annotated {
            match maps.successor(&one.commit) {
                Some(commit) => pairs.push((one, commit)),
                None => lost.push(one),
            }
        }
        let mapped = pairs.len();
        pairs.extend(self.by_trees(&lost)?);
        let new: Vec<String> = pairs.iter().map(|(_, commit)| commit.clone()).collect();
        let ends = all_ends(self.git, &new)?;
        let current: BTreeMap<&str, &Annotated> =
            annotated.iter().map(|one| (one.commit.as_str(), one)).collect();
        let is_current = |ends: &Ends| {
            let note = current.get(ends.commit.as_str());
            note.is_some_and(|note| note.records.iter().any(|record| record.is_about(ends)))
        };
        let rewritten = |(at, (pair, ends)): (usize, (&(&Annotated, String), Option<Ends>))| {
            let (one, commit) = pair;
            ends.filter(|ends| !is_current(ends))?;
            let replaced = at < mapped && !one.is_here && !one.foreign;
            let (old, records) = (one.commit.clone(), one.records.clone());
            Some(Rewritten { commit: commit.clone(), old, records, replaced })
        };
        Ok(pairs.iter().zip(ends).enumerate().filter_map(rewritten).collect())
    }

    /// Reads what `git filter-repo` left, now and when notes were written; nothing where it did not run.
    fn commit_maps(&self) -> Result<CommitMaps, NotesError> {
        let Ok(text) = std::fs::read(self.commit_map()?) else { return Ok(CommitMaps::default()) };
        let mut maps = CommitMaps { now: parse(&text), before: BTreeMap::new() };
        let copies = std::fs::read_dir(self.copies()?).into_iter().flatten().flatten();
        for text in copies.filter_map(|copy| std::fs::read(copy.path()).ok()) {
            for (old, new) in parse(&text) {
                maps.before.entry(new).or_default().insert(old);
            }
        }
        Ok(maps)
    }

    /// Keeps a copy of what `git filter-repo` left, if there is none yet, for the time when a later run has
    /// changed it. Where that cannot be written, notes between two runs will not be found.
    pub(super) fn keep_commit_map(&self) -> Result<(), NotesError> {
        let (map, folder) = (self.commit_map()?, self.copies()?);
        let Ok(data) = map.metadata() else { return Ok(()) };
        let made = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let copy = folder.join(format!("{}-{}", made.unwrap_or_default().as_nanos(), data.len()));
        if !copy.exists() {
            let _ = std::fs::create_dir_all(&folder).and_then(|()| {
                let mut whole = tempfile::NamedTempFile::new_in(&folder)?;
                std::io::copy(&mut std::fs::File::open(&map)?, &mut whole)?;
                whole.persist(&copy).map_err(|error| error.error)
            });
        }
        Ok(())
    }

    fn commit_map(&self) -> Result<PathBuf, NotesError> {
        Ok(self.git.common_dir()?.join("filter-repo/commit-map"))
    }

    fn copies(&self) -> Result<PathBuf, NotesError> {
        Ok(self.git.common_dir()?.join("invdiff/commit-maps"))
    }

    /// Returns the commits of all refs that bring the same tree to the same tree as one that no ref leads to.
    /// A shallow clone does not know which commits those are.
    fn by_trees<'n>(&self, lost: &[&'n Annotated]) -> Result<Vec<(&'n Annotated, String)>, NotesError> {
        let git = self.git;
        if lost.is_empty() || git.line(&["rev-parse", "--is-shallow-repository"])? == "true" {
            return Ok(Vec::new());
        }
        let here: String =
            lost.iter().filter(|one| one.is_here).map(|one| format!("{}\n", one.commit)).collect();
        let others = ["--exclude=refs/notes/*", "--all"];
        let behind = git.run(&[&["rev-list", "--stdin", "--not"][..], &others].concat(), here.as_bytes())?;
        let behind = String::from_utf8_lossy(&behind);
        let behind: BTreeSet<&str> = behind.lines().collect();
        let mut wanted: BTreeMap<(&str, Option<&str>), Vec<&'n Annotated>> = BTreeMap::new();
        for one in lost.iter().filter(|one| !one.is_here || behind.contains(one.commit.as_str())) {
            for record in &one.records {
                wanted.entry(trees(record)).or_default().push(one);
            }
        }
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let log =
            git.run(&[&["log", "--no-show-signature", "--format=%H %T %P"][..], &others].concat(), b"")?;
        let log = String::from_utf8_lossy(&log);
        let tree_of: BTreeMap<&str, &str> = log
            .lines()
            .filter_map(|line| {
                let mut words = line.split(' ');
                Some((words.next()?, words.next()?))
            })
            .collect();
        let mut found = Vec::new();
        for line in log.lines() {
            let mut words = line.split_whitespace();
            let (Some(commit), Some(tree)) = (words.next(), words.next()) else { continue };
            let parent = words.next().and_then(|parent| tree_of.get(parent).copied());
            let same = wanted.get(&(tree, parent)).into_iter().flatten();
            found.extend(same.map(|one| (*one, commit.to_owned())));
        }
        Ok(found)
    }
}

/// What rewrites made of commits.
#[derive(Default)]
struct CommitMaps {
    /// From a commit to what took its place.
    now: BTreeMap<String, String>,
    /// From what had taken its place when notes were written, to the commit.
    before: BTreeMap<String, BTreeSet<String>>,
}

impl CommitMaps {
    /// Returns the commit that took the place of another one; `None` where it is not known or the same.
    fn successor(&self, commit: &str) -> Option<String> {
        let first = || self.before.get(commit)?.iter().find_map(|old| last(&self.now, old));
        last(&self.now, commit).or_else(first).filter(|new| new != commit)
    }
}

fn trees(record: &Record) -> (&str, Option<&str>) {
    (&record.tree, record.parent_tree.as_deref())
}

/// Reads lines `old new`; passes over the headline and commits that were dropped.
fn parse(text: &[u8]) -> BTreeMap<String, String> {
    let is_commit = |word: &str| is_id(word) && word.bytes().any(|byte| byte != b'0');
    let pair = |line: &str| {
        let (old, new) = line.split_once(' ')?;
        (is_commit(old) && is_commit(new.trim()) && old != new.trim())
            .then(|| (old.to_owned(), new.trim().to_owned()))
    };
    String::from_utf8_lossy(text).lines().filter_map(pair).collect()
}

/// Follows a commit through the map, as several rewrites may have gone into it.
fn last(map: &BTreeMap<String, String>, commit: &str) -> Option<String> {
    let mut at = map.get(commit)?;
    for _ in 0..map.len() {
        match map.get(at) {
            Some(next) => at = next,
            None => break,
        }
    }
    Some(at.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_commits_are_followed_to_their_end() {
        let id = |digit: &str| digit.repeat(40);
        let (a, b, c, d) = (id("a"), id("b"), id("c"), id("d"));
        let line = |old: &str, new: &str| format!("{old} {new}\n");
        let text = format!("{:40} new\n", "old")
            + &line(&a, &b)
            + &line(&b, &c)
            + &line(&d, &id("0"))
            + &line(&c, &c)
            + "x y\n\n";
        let map = parse(text.as_bytes());
        assert_eq!(last(&map, &a), Some(c.clone()));
        assert_eq!(last(&map, &d), None, "a commit that was dropped has no successor");
        assert_eq!(last(&map, &c), None, "a commit that stayed has no successor");
        let circle = parse((line(&a, &b) + &line(&b, &a)).as_bytes());
        assert!(last(&circle, &a).is_some());
    }
}
