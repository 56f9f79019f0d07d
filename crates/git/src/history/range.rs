//! From what a person types to the versions that are compared.
//!
//! A range follows first parents: a merge counts as the one change that it brought to the branch it
//! was made on. `A..B` is `A` and every commit on that way to `B` that `A` does not have.

use super::error::{Error, Result};
use super::object::{Commit, Mode, rfc3339};
use super::repository::Repository;
use super::tree::{GitTree, IndexTree, MemoryTree, SourceTree, walk};
use super::worktree::WorktreeTree;
use git2::Oid;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What a version is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionKind {
    Commit {
        id: Oid,
    },
    Index,
    Worktree,
    /// What comes before a root commit.
    Empty,
}

/// One revision of the range.
#[derive(Clone)]
pub struct Version {
    /// Counts from 1, oldest first.
    pub index: usize,
    pub kind: VersionKind,
    /// A revision that git understands, as short as the request allows, or `INDEX`, `WORKTREE`, `EMPTY`.
    pub name: String,
    /// First line of the commit's message; may hold control characters. Empty for what is no commit.
    pub summary: String,
    /// Time of the commit as RFC 3339; what is not committed has none.
    pub time: Option<String>,
    pub tree: Arc<dyn SourceTree>,
    pub(super) snapshot: Snapshot,
}

impl Version {
    /// Returns the commit's id as hexadecimal digits.
    pub fn commit(&self) -> Option<String> {
        match self.kind {
            VersionKind::Commit { id } => Some(id.to_string()),
            _ => None,
        }
    }
}

impl std::fmt::Debug for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.index, self.name, self.summary)
    }
}

/// A version's files with modes and ids, in the form that is cheapest to compare.
#[derive(Clone)]
pub(super) enum Snapshot {
    Tree(Oid),
    Index(Arc<IndexTree>),
    Worktree(Arc<WorktreeTree>),
}

impl Snapshot {
    /// Lists every entry that is not a folder.
    pub(super) fn entries(&self, repository: &Repository) -> Result<BTreeMap<PathBuf, (Mode, Oid)>> {
        match self {
            Snapshot::Tree(root) => {
                let mut entries = BTreeMap::new();
                walk(repository.objects(), *root, Vec::new(), &mut |path, mode, id| {
                    entries.insert(path, (mode, id));
                })?;
                Ok(entries)
            }
            Snapshot::Index(tree) => Ok(tree.entries().clone()),
            Snapshot::Worktree(tree) => Ok(tree.entries()),
        }
    }
}

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeRequest {
    /// `A..B`, `A...B`, `^A B`, `A^!`, or revisions one by one; none: HEAD.
    pub revisions: Vec<String>,
    /// Ends at the index, not at the working tree.
    pub staged: bool,
    /// Only the first and the last version.
    pub endpoints: bool,
}

/// The versions of a range, oldest first; at least one.
#[derive(Debug)]
pub struct Range {
    pub versions: Vec<Version>,
    /// What a person should know about how the range was read.
    pub warnings: Vec<String>,
}

impl Repository {
    /// Finds the versions that a request names. Trees are not read yet, except those of the index
    /// and of the working tree.
    pub fn range(&self, request: &RangeRequest) -> Result<Range> {
        let mut warnings = Vec::new();
        let revisions: Vec<&str> = request.revisions.iter().map(String::as_str).collect();
        let mut versions = match revisions.as_slice() {
            // The index is the end of the comparison, so there is room for a start only.
            [first, second, ..] if request.staged => {
                return Err(Error::BadRange(format!("{first} {second}")));
            }
            [one] if request.staged && parse_range(one)?.is_some() => {
                return Err(Error::BadRange((*one).to_owned()));
            }
            [one] if one.ends_with("^!") || one.ends_with("^-") => {
                let name = one.trim_end_matches(['!', '-']).trim_end_matches('^');
                self.change_of(if name.is_empty() { "HEAD" } else { name })?.versions
            }
            [] => vec![self.base_version("HEAD", request.staged)?, self.open_end(request.staged)?],
            [one] => match parse_range(one)? {
                Some((from, to, symmetric)) => self.walk_range(&from, &to, symmetric, &mut warnings)?,
                None => vec![self.version_of(one)?, self.open_end(request.staged)?],
            },
            [a, b] if a.starts_with('^') != b.starts_with('^') => {
                let (from, to) = if a.starts_with('^') { (a, b) } else { (b, a) };
                self.walk_range(from.trim_start_matches('^'), to, false, &mut warnings)?
            }
            many => many.iter().map(|r| self.single(r)).collect::<Result<_>>()?,
        };
        if request.endpoints && versions.len() > 2 {
            let last = versions.pop();
            versions.truncate(1);
            versions.extend(last);
        }
        for (version, index) in versions.iter_mut().zip(1..) {
            version.index = index;
        }
        Ok(Range { versions, warnings })
    }

    /// Returns a commit's first parent and the commit itself, as a note or a hook compares them. A
    /// root commit is compared with nothing; a commit at the cut of a shallow clone is an error.
    pub fn change_of(&self, revision: &str) -> Result<Range> {
        let commit = self.commit(revision)?;
        let base = match commit.parents.first() {
            None => self.empty_version()?,
            Some(parent) if self.is_shallow_edge(commit.id) => {
                return Err(self.shallow_error(revision, parent.to_string(), Some(1)));
            }
            Some(parent) => self.commit_version(*parent, ancestor_name(revision, 1))?,
        };
        let mut versions = vec![base, self.commit_version(commit.id, revision.to_owned())?];
        for (version, index) in versions.iter_mut().zip(1..) {
            version.index = index;
        }
        Ok(Range { versions, warnings: Vec::new() })
    }

    /// Returns HEAD, or the empty tree on an unborn branch where that makes sense.
    fn base_version(&self, name: &str, empty_if_unborn: bool) -> Result<Version> {
        match self.head()? {
            Some(id) => self.commit_version(id, name.to_owned()),
            None if empty_if_unborn => self.empty_version(),
            None => Err(self.unborn()),
        }
    }

    fn open_end(&self, staged: bool) -> Result<Version> {
        let version = |kind, name: &str, tree: Arc<dyn SourceTree>, snapshot| Version {
            index: 0,
            kind,
            name: name.to_owned(),
            summary: String::new(),
            time: None,
            tree,
            snapshot,
        };
        if staged {
            let entries = self.objects().source().index()?;
            let tree = Arc::new(IndexTree::new(self.objects().clone(), entries));
            return Ok(version(VersionKind::Index, "INDEX", tree.clone(), Snapshot::Index(tree)));
        }
        let tree = Arc::new(WorktreeTree::new(self)?);
        Ok(version(VersionKind::Worktree, "WORKTREE", tree.clone(), Snapshot::Worktree(tree)))
    }

    fn empty_version(&self) -> Result<Version> {
        let nothing: [(PathBuf, &[u8]); 0] = [];
        Ok(Version {
            index: 0,
            kind: VersionKind::Empty,
            name: "EMPTY".to_owned(),
            summary: String::new(),
            time: None,
            tree: Arc::new(MemoryTree::new(nothing)),
            snapshot: Snapshot::Tree(self.objects().empty_tree()),
        })
    }

    fn commit_version(&self, id: Oid, name: String) -> Result<Version> {
        let commit = self.objects().commit(id)?;
        Ok(Version {
            index: 0,
            kind: VersionKind::Commit { id },
            name,
            summary: commit.summary,
            time: Some(rfc3339(commit.time)),
            tree: Arc::new(GitTree::new(self.objects().clone(), commit.tree)),
            snapshot: Snapshot::Tree(commit.tree),
        })
    }

    fn version_of(&self, revision: &str) -> Result<Version> {
        match self.resolve(revision)? {
            Some(id) => self.commit_version(id, revision.to_owned()),
            None => self.empty_version(),
        }
    }

    /// One of several revisions: neither a range nor an exclusion.
    fn single(&self, revision: &str) -> Result<Version> {
        if revision.starts_with('^') || parse_range(revision)?.is_some() {
            return Err(Error::BadRange(revision.to_owned()));
        }
        self.version_of(revision)
    }

    fn walk_range(
        &self,
        from: &str,
        to: &str,
        symmetric: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Version>> {
        let tip = self.commit(to)?;
        let Some(mut base) = self.resolve(from)? else {
            let chain = self.chain(&tip, None, to)?.0;
            let mut versions = vec![self.empty_version()?];
            versions.extend(self.chain_versions(&chain, to)?);
            return Ok(versions);
        };
        let mut base_name = from.to_owned();
        if symmetric {
            let common = self.objects().source().merge_base(base, tip.id)?;
            let no_base = || match self.is_shallow() {
                true => {
                    self.shallow_error(&format!("{from}...{to}"), "their common ancestor".to_owned(), None)
                }
                false => Error::NoMergeBase(from.to_owned(), to.to_owned()),
            };
            let common = common.ok_or_else(no_base)?;
            if common != base {
                (base, base_name) = (common, common.to_string());
            }
        }
        let (mut chain, met) = self.chain(&tip, Some(base), to)?;
        if !met && chain.is_empty() && base != tip.id {
            warnings.push(format!("'{to}' is an ancestor of '{from}': compared in that order"));
            chain.push(tip.id);
        } else if !met && base != tip.id {
            warnings.push(format!(
                "'{base_name}' is not on the first-parent way to '{to}': the first step also takes back what only it has"
            ));
        }
        if symmetric && met {
            base_name = ancestor_name(to, chain.len());
        }
        let mut versions = vec![self.commit_version(base, base_name)?];
        versions.extend(self.chain_versions(&chain, to)?);
        Ok(versions)
    }

    fn chain_versions(&self, newest_first: &[Oid], tip: &str) -> Result<Vec<Version>> {
        let named = newest_first.iter().enumerate().rev();
        named.map(|(steps, id)| self.commit_version(*id, ancestor_name(tip, steps))).collect()
    }

    /// Follows first parents from `tip`, newest first, up to but without `base` and its ancestors,
    /// and tells whether it came to `base` itself. Without a base: up to the root.
    ///
    /// Ancestors of the base are recognised in steps that double, because each such question may cost a
    /// walk of its own.
    fn chain(&self, tip: &Commit, base: Option<Oid>, wanted: &str) -> Result<(Vec<Oid>, bool)> {
        let mut chain = Vec::new();
        let mut commit = tip.clone();
        let mut check_at = 0;
        loop {
            if Some(commit.id) == base {
                return Ok((chain, true));
            }
            if let Some(base) = base.filter(|_| chain.len() == check_at)
                && self.is_ancestor(commit.id, base)?
            {
                self.drop_ancestors(&mut chain, base)?;
                return Ok((chain, false));
            }
            if chain.len() == check_at {
                check_at = check_at.max(32) * 2;
            }
            chain.push(commit.id);
            let Some(parent) = commit.parents.first().copied() else { break };
            if self.is_shallow_edge(commit.id) {
                // What the base has is not needed, and the base may be what was cut off from.
                if let Some(base) = base
                    && self.is_ancestor(commit.id, base)?
                {
                    break;
                }
                return Err(self.shallow_error(wanted, parent.to_string(), None));
            }
            commit = self.objects().commit(parent)?;
        }
        if let Some(base) = base {
            self.drop_ancestors(&mut chain, base)?;
        }
        Ok((chain, false))
    }

    /// Removes the end of a chain that `base` can reach. Being reachable is monotone along the
    /// chain, so the first such commit is found by bisection.
    fn drop_ancestors(&self, chain: &mut Vec<Oid>, base: Oid) -> Result<()> {
        let (mut low, mut high) = (0, chain.len());
        while low < high {
            let middle = (low + high) / 2;
            match chain.get(middle) {
                Some(id) if self.is_ancestor(*id, base)? => high = middle,
                _ => low = middle + 1,
            }
        }
        chain.truncate(low);
        Ok(())
    }

    fn is_ancestor(&self, ancestor: Oid, descendant: Oid) -> Result<bool> {
        Ok(self.objects().source().merge_base(ancestor, descendant)? == Some(ancestor))
    }
}

/// Splits a range into its ends, and tells whether it starts at the merge base. `None` is one revision.
fn parse_range(text: &str) -> Result<Option<(String, String, bool)>> {
    let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
    if let Some(at) = find_dots(text) {
        let (from, dots) = text.split_at(at);
        let symmetric = dots.starts_with("...");
        let to = dots.strip_prefix("...").or_else(|| dots.strip_prefix("..")).unwrap_or_default();
        let lone = from.is_empty() && to.is_empty();
        if lone || to.starts_with('.') || find_dots(to).is_some() {
            return Err(Error::BadRange(text.to_owned()));
        }
        return Ok(Some((or_head(from), or_head(to), symmetric)));
    }
    // One commit and its first parent.
    if let Some(name) = text.strip_suffix("^!").or_else(|| text.strip_suffix("^-")) {
        return Ok(Some((format!("{}^", or_head(name)), or_head(name), false)));
    }
    Ok(None)
}

/// Finds the dots of a range. Dots in braces (`^{/a..b}`) and after a colon (`HEAD:a..b`) belong to
/// one revision.
fn find_dots(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return None,
            '.' if depth == 0 && text.get(at..).is_some_and(|t| t.starts_with("..")) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Splits `name~2^` into `name` and 3, the number of first parents to follow.
pub(super) fn split_ancestor(revision: &str) -> (&str, usize) {
    let (mut base, mut steps) = (revision, 0usize);
    loop {
        let digits = base.len() - base.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (head, number) = base.split_at(base.len() - digits);
        let count = if number.is_empty() { Some(1) } else { number.parse::<usize>().ok() };
        match (head.strip_suffix('~'), head.strip_suffix('^'), count) {
            (Some(rest), _, Some(n)) => (base, steps) = (rest, steps.saturating_add(n)),
            (_, Some(rest), Some(1)) => (base, steps) = (rest, steps.saturating_add(1)),
            _ => break,
        }
    }
    (if base.is_empty() { "HEAD" } else { base }, steps)
}

/// Names the commit that is `steps` first parents before `revision`.
fn ancestor_name(revision: &str, steps: usize) -> String {
    if steps == 0 {
        return revision.to_owned();
    }
    let (base, before) = split_ancestor(revision);
    format!("{base}~{}", before.saturating_add(steps))
}
