//! What a step from one version to the next changed: files, and the lines of each.
//!
//! Agrees with `git diff -U0 -M`: folders with equal ids are skipped unread, renames are found as in
//! `renames`, and lines are compared by libgit2's copy of git's own diff (Myers, with the indent
//! heuristic that git uses by default).

use super::attributes::{AttributeMap, Exclusion};
use super::error::Result;
use super::object::{Mode, Objects, path_of_bytes};
use super::pathspec::Pathspec;
use super::range::{Range, Snapshot, Version};
use super::renames::{self, Candidate, Limits};
use super::repository::Repository;
use super::tree::walk;
use git2::{DiffOptions, Oid, Patch};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How renames are looked for (`diff.renames`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renames {
    Off,
    #[default]
    Renames,
    /// Files that changed in the same step also count as sources.
    Copies,
}

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct ChangeOptions {
    /// Other files are as if they were not there.
    pub pathspec: Pathspec,
    /// Files outside are counted, but marked [`Exclusion::Configured`].
    pub configured: Pathspec,
    pub renames: Renames,
    /// Least similarity of a rename, percent.
    pub threshold: u8,
    /// `diff.renameLimit`: number of files on either side up to which inexact renames are looked for.
    pub rename_limit: usize,
}

impl Default for ChangeOptions {
    fn default() -> ChangeOptions {
        ChangeOptions {
            pathspec: Pathspec::default(),
            configured: Pathspec::default(),
            renames: Renames::Renames,
            threshold: 50,
            rename_limit: 1000,
        }
    }
}

/// A file in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSide {
    pub path: PathBuf,
    pub mode: Mode,
    pub id: Oid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    /// Similarity in percent, here and for copies.
    Renamed(u8),
    Copied(u8),
    /// Only the executable bit.
    Mode,
    /// A file became a link or a submodule, or the other way round.
    Type,
}

/// What a changed file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Text,
    Binary,
    Link,
    Submodule,
    /// An object is missing or damaged; [`Objects::unreadable`] says why.
    Unreadable,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub kind: ChangeKind,
    pub old: Option<FileSide>,
    pub new: Option<FileSide>,
    pub content: Content,
    pub exclusion: Option<Exclusion>,
}

impl FileChange {
    /// Returns the newest path of the file.
    pub fn path(&self) -> &Path {
        self.new.as_ref().or(self.old.as_ref()).map_or(Path::new(""), |s| &s.path)
    }

    /// Returns the path in the old version; the same as [`FileChange::path`] for a new file.
    pub fn old_path(&self) -> &Path {
        self.old.as_ref().map_or(self.path(), |s| &s.path)
    }
}

/// Lines that one step replaced, without context, in the numbering of `git diff -U0`: lines count from
/// 1, and a side without lines names the line that the others come after.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hunk {
    /// Numbers of the versions.
    pub from: usize,
    pub to: usize,
    /// Equal to `new_path` unless the file was renamed or copied.
    pub old_path: PathBuf,
    pub new_path: PathBuf,
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
}

impl Hunk {
    /// Returns whether a line of the old version, counted from 1, was replaced or removed.
    pub fn has_old_line(&self, line: u32) -> bool {
        (self.old_start..self.old_start.saturating_add(self.old_lines)).contains(&line)
    }

    /// Returns whether a line of the new version, counted from 1, is new or replaces another.
    pub fn has_new_line(&self, line: u32) -> bool {
        (self.new_start..self.new_start.saturating_add(self.new_lines)).contains(&line)
    }
}

/// All changes of one step, files by path, hunks by file and line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub from: usize,
    pub to: usize,
    pub files: Vec<FileChange>,
    pub hunks: Vec<Hunk>,
}

impl Repository {
    /// Compares each version of a range with the next one. Files that are not C are listed too.
    pub fn changes(&self, range: &Range, options: &ChangeOptions) -> Result<Vec<Changes>> {
        let steps: Vec<(&Version, &Version)> =
            range.versions.iter().zip(range.versions.iter().skip(1)).collect();
        self.changes_of(&steps, options)
    }

    /// Compares any two versions of one range.
    pub fn changes_between(&self, old: &Version, new: &Version, options: &ChangeOptions) -> Result<Changes> {
        Ok(self.changes_of(&[(old, new)], options)?.pop().unwrap_or_default())
    }

    fn changes_of(&self, steps: &[(&Version, &Version)], options: &ChangeOptions) -> Result<Vec<Changes>> {
        let mut all = Vec::with_capacity(steps.len());
        for (old, new) in steps {
            let files = self.changed_files(old, new, options)?;
            all.push(Changes { from: old.index, to: new.index, files, hunks: Vec::new() });
        }
        let paths: BTreeSet<PathBuf> = all
            .iter()
            .flat_map(|c| &c.files)
            .flat_map(|f| [f.path(), f.old_path()])
            .map(Path::to_owned)
            .collect();
        let attributes = match steps.last() {
            Some((_, newest)) => AttributeMap::load(self, newest, &paths)?,
            None => AttributeMap::default(),
        };
        for (changes, (old, new)) in all.iter_mut().zip(steps) {
            for file in &mut changes.files {
                let configured = !options.configured.matches(file.path());
                file.exclusion =
                    attributes.exclusion(file.path()).or(configured.then_some(Exclusion::Configured));
                compare_lines(file, (old, new), &attributes, &mut changes.hunks)?;
            }
        }
        Ok(all)
    }

    /// Lists changed files with renames paired; contents are not looked at otherwise.
    fn changed_files(
        &self,
        old: &Version,
        new: &Version,
        options: &ChangeOptions,
    ) -> Result<Vec<FileChange>> {
        let mut files = Vec::new();
        for (path, sides) in self.different_entries(&old.snapshot, &new.snapshot)? {
            if !options.pathspec.matches(&path) {
                continue;
            }
            let side = |(mode, id): (Mode, Oid)| FileSide { path: path.clone(), mode, id };
            let (old, new) = (sides.0.map(side), sides.1.map(side));
            let Some(kind) = kind_of(old.as_ref(), new.as_ref()) else { continue };
            files.push(FileChange { kind, old, new, content: Content::Text, exclusion: None });
        }
        if options.renames != Renames::Off {
            self.pair_renames(&mut files, (old, new), options);
        }
        files.sort_by(|a, b| a.path().as_os_str().cmp(b.path().as_os_str()));
        Ok(files)
    }

    fn different_entries(&self, old: &Snapshot, new: &Snapshot) -> Result<EntryChanges> {
        if let (Snapshot::Tree(old), Snapshot::Tree(new)) = (old, new) {
            return compare_trees(self.objects(), *old, *new);
        }
        let (old, mut new) = (old.entries(self)?, new.entries(self)?);
        let mut changes = EntryChanges::new();
        for (path, before) in old {
            let after = new.remove(&path);
            if Some(before) != after {
                changes.insert(path, (Some(before), after));
            }
        }
        changes.extend(new.into_iter().map(|(path, after)| (path, (None, Some(after)))));
        Ok(changes)
    }

    fn pair_renames(
        &self,
        files: &mut Vec<FileChange>,
        versions: (&Version, &Version),
        options: &ChangeOptions,
    ) {
        let copies = options.renames == Renames::Copies;
        let olds: Vec<(usize, FileSide)> = files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.kind == ChangeKind::Deleted || copies && f.kind == ChangeKind::Modified)
            .filter_map(|(i, f)| Some((i, f.old.clone()?)))
            .filter(|(_, side)| side.mode != Mode::Submodule)
            .collect();
        let news: Vec<(usize, FileSide)> = files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.kind == ChangeKind::Added)
            .filter_map(|(i, f)| Some((i, f.new.clone()?)))
            .filter(|(_, side)| side.mode != Mode::Submodule)
            .collect();
        if olds.is_empty() || news.is_empty() {
            return;
        }
        let kept = |i: &usize| files.get(*i).is_some_and(|f| f.kind != ChangeKind::Deleted);
        let candidate = |(i, side): &'_ (usize, FileSide)| (kept(i), (side.id, side.mode.is_file()));
        let sources: Vec<Candidate<'_>> = olds
            .iter()
            .map(|old| (candidate(old), &old.1.path))
            .map(|((kept, identity), path)| Candidate { path, identity, kept })
            .collect();
        let destinations: Vec<Candidate<'_>> = news
            .iter()
            .map(|(_, s)| Candidate { path: &s.path, identity: (s.id, s.mode.is_file()), kept: false })
            .collect();
        let limits = Limits { threshold: options.threshold, files: options.rename_limit, copies };
        let read = |c: &Candidate<'_>, old: bool| {
            let version = if old { versions.0 } else { versions.1 };
            version.tree.read(c.path)
        };
        let pairs = renames::pair(&sources, &destinations, &limits, &read);
        let mut gone = BTreeSet::new();
        for pair in pairs {
            let (Some((i, old)), Some((j, _))) = (olds.get(pair.source), news.get(pair.destination)) else {
                continue;
            };
            if let Some(file) = files.get_mut(*j) {
                file.old = Some(old.clone());
                file.kind = if pair.copy {
                    ChangeKind::Copied(pair.similarity)
                } else {
                    ChangeKind::Renamed(pair.similarity)
                };
            }
            if files.get(*i).is_some_and(|f| f.kind == ChangeKind::Deleted) {
                gone.insert(*i);
            }
        }
        let mut position = 0;
        files.retain(|_| {
            position += 1;
            !gone.contains(&(position - 1))
        });
    }
}

type Entry = (Mode, Oid);

/// Entries by path, before and after.
type EntryChanges = BTreeMap<PathBuf, (Option<Entry>, Option<Entry>)>;

/// Compares two trees level by level and enters only folders whose ids differ.
fn compare_trees(objects: &Objects, old: Oid, new: Oid) -> Result<EntryChanges> {
    let mut changes = EntryChanges::new();
    // On the heap, because the nesting comes from outside.
    let mut folders = vec![(Vec::new(), old, new)];
    while let Some((prefix, old, new)) = folders.pop() {
        if old == new {
            continue;
        }
        let (before, after) = (objects.tree(old)?, objects.tree(new)?);
        let mut names: BTreeMap<&[u8], [Option<Entry>; 2]> = BTreeMap::new();
        for entry in before.iter() {
            names.entry(&entry.name).or_default()[0] = Some((entry.mode, entry.id));
        }
        for entry in after.iter() {
            names.entry(&entry.name).or_default()[1] = Some((entry.mode, entry.id));
        }
        for (name, [old, new]) in names {
            if old == new {
                continue;
            }
            let path = [&prefix, name].concat();
            let below = [&path[..], b"/"].concat();
            if let (Some((Mode::Tree, old)), Some((Mode::Tree, new))) = (old, new) {
                folders.push((below, old, new));
                continue;
            }
            for (side, is_new) in [(old, false), (new, true)] {
                let mut put = |path: PathBuf, entry: (Mode, Oid)| {
                    let slot = changes.entry(path).or_default();
                    if is_new { slot.1 = Some(entry) } else { slot.0 = Some(entry) }
                };
                match side {
                    Some((Mode::Tree, id)) => {
                        walk(objects, id, below.clone(), &mut |path, mode, id| put(path, (mode, id)))?;
                    }
                    Some(entry) => put(path_of_bytes(&path), entry),
                    None => {}
                }
            }
        }
    }
    Ok(changes)
}

/// Tells what happened to one path; `None` when nothing that git shows.
fn kind_of(old: Option<&FileSide>, new: Option<&FileSide>) -> Option<ChangeKind> {
    Some(match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Deleted,
        (Some(a), Some(b)) if a.mode == b.mode || a.mode.is_file() && b.mode.is_file() => {
            if a.id == b.id {
                ChangeKind::Mode
            } else {
                ChangeKind::Modified
            }
        }
        _ => ChangeKind::Type,
    })
}

/// Classifies a file's content and adds its hunks.
fn compare_lines(
    file: &mut FileChange,
    (old, new): (&Version, &Version),
    attributes: &AttributeMap,
    hunks: &mut Vec<Hunk>,
) -> Result<()> {
    let modes = [file.old.as_ref(), file.new.as_ref()].map(|s| s.map(|s| s.mode));
    if modes.contains(&Some(Mode::Submodule)) && !modes.iter().flatten().any(|m| m.is_file()) {
        file.content = Content::Submodule;
        return Ok(());
    }
    if !modes.iter().flatten().any(|m| m.is_file()) {
        file.content = Content::Link;
        return Ok(());
    }
    let read = |side: Option<&FileSide>, version: &Version| match side.filter(|s| s.mode.is_file()) {
        Some(side) => version.tree.read(&side.path),
        None => Some([].into()),
    };
    let (Some(before), Some(after)) = (read(file.old.as_ref(), old), read(file.new.as_ref(), new)) else {
        file.content = Content::Unreadable;
        return Ok(());
    };
    let binary = match attributes.text(file.path()) {
        Some(text) => !text,
        None => renames::is_binary(&before) || renames::is_binary(&after),
    };
    if binary {
        file.content = Content::Binary;
        return Ok(());
    }
    for [old_start, old_lines, new_start, new_lines] in line_hunks(&before, &after)? {
        hunks.push(Hunk {
            from: old.index,
            to: new.index,
            old_path: file.old_path().to_owned(),
            new_path: file.path().to_owned(),
            old_start,
            old_lines,
            new_start,
            new_lines,
        });
    }
    Ok(())
}

/// Compares two texts as `git diff -U0`; each hunk is `[old_start, old_lines, new_start, new_lines]`.
pub fn line_hunks(old: &[u8], new: &[u8]) -> Result<Vec<[u32; 4]>> {
    if old == new {
        return Ok(Vec::new());
    }
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).indent_heuristic(true).force_text(true);
    let tail = common_tail(old, new);
    let (old, new) = (old.split_at(old.len() - tail).0, new.split_at(new.len() - tail).0);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    let mut hunks = Vec::with_capacity(patch.num_hunks());
    for number in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(number)?;
        hunks.push([hunk.old_start(), hunk.old_lines(), hunk.new_start(), hunk.new_lines()]);
    }
    Ok(hunks)
}

/// Returns how many bytes at the end git leaves out of a comparison without context: as many equal
/// blocks of 1024 bytes as there are, less the rest of the line that the first one begins in. The diff
/// is a heuristic on large inputs, so leaving out the same end is what makes the hunks the same.
fn common_tail(old: &[u8], new: &[u8]) -> usize {
    const BLOCK: usize = 1024;
    let blocks = old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK)).take_while(|(a, b)| a == b).count();
    let tail = old.get(old.len() - blocks * BLOCK..).unwrap_or_default();
    let line = tail.iter().position(|&b| b == b'\n').map_or(tail.len(), |end| end + 1);
    tail.len() - line
}
