//! Patches as versions: a tree with the files of a unified diff changed, in memory.
//!
//! As `git apply`, with the first part of paths taken off: a hunk's old lines have to be there, at its place
//! or, where lines moved, as near to it as they are found. Nothing is written.

use super::super::CliError;
use crate::history::{Mode, SourceTree};
use crate::report::escape::visible;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tree with other contents for some files.
pub(in crate::cli) struct Overlay {
    inner: Arc<dyn SourceTree>,
    changed: BTreeMap<PathBuf, Option<Arc<[u8]>>>,
    /// Which source files are listed; all of them where this is empty.
    only: Vec<PathBuf>,
}

impl Overlay {
    /// A tree of which these source files alone are listed; all can be read.
    pub fn listing(inner: Arc<dyn SourceTree>, only: Vec<PathBuf>) -> Overlay {
        Overlay { inner, changed: BTreeMap::new(), only }
    }
}

impl SourceTree for Overlay {
    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.changed.get(path).map_or_else(|| self.inner.read(path), Clone::clone)
    }

    fn paths(&self) -> Arc<[PathBuf]> {
        let is_kept = |p: &PathBuf| {
            let is_listed = self.only.is_empty() || self.only.contains(p);
            (is_listed || p.extension().is_some_and(|e| e == "h")) && !self.changed.contains_key(p)
        };
        let mut all: Vec<PathBuf> = self.inner.paths().iter().filter(|p| is_kept(p)).cloned().collect();
        all.extend(self.changed.iter().filter(|(_, b)| b.is_some()).map(|(p, _)| p.clone()));
        all.sort();
        all.into()
    }

    fn content_id(&self, path: &Path) -> Option<String> {
        match self.changed.get(path) {
            Some(Some(bytes)) => Some(blake3::hash(bytes).to_hex().to_string()),
            Some(None) => None,
            None => self.inner.content_id(path),
        }
    }

    fn modes(&self) -> Vec<(PathBuf, Mode)> {
        let is_kept = |(p, _): &(PathBuf, Mode)| !self.changed.contains_key(p);
        let changed = self.changed.iter().filter(|(_, b)| b.is_some()).map(|(p, _)| (p.clone(), Mode::File));
        self.inner.modes().into_iter().filter(is_kept).chain(changed).collect()
    }

    fn link(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.inner.link(path).filter(|_| !self.changed.contains_key(path))
    }
}

/// Lines of a file that a hunk replaces. Lines keep their ends.
struct Hunk {
    /// Where it stands in the patch.
    at: usize,
    old_start: usize,
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
}

struct FilePatch {
    old: Option<PathBuf>,
    new: Option<PathBuf>,
    hunks: Vec<Hunk>,
}

/// The tree that a patch makes of another.
pub(super) fn apply(file: &Path, tree: &Arc<dyn SourceTree>) -> Result<Overlay, CliError> {
    let name = file.display().to_string();
    let text =
        std::fs::read(file).map_err(|e| CliError::fatal(format!("cannot read the patch '{name}': {e}")))?;
    let wrong = |(line, what): (usize, String)| CliError::fatal(format!("patch {name}:{line}: {what}"));
    let mut changed = BTreeMap::new();
    for patch in parse(&text).map_err(wrong)? {
        let first = patch.hunks.first().map_or(1, |h| h.at);
        let before = match &patch.old {
            Some(path) => {
                let shown = visible(path.as_os_str().as_encoded_bytes());
                tree.read(path).ok_or_else(|| wrong((first, format!("there is no '{shown}'"))))?
            }
            None => Arc::from(Vec::new()),
        };
        let after = patched(&before, &patch.hunks).map_err(wrong)?;
        if let Some(old) = &patch.old {
            changed.insert(old.clone(), None);
        }
        if let Some(new) = patch.new {
            changed.insert(new, Some(Arc::from(after)));
        }
    }
    Ok(Overlay { inner: tree.clone(), changed, only: Vec::new() })
}

fn parse(text: &[u8]) -> Result<Vec<FilePatch>, (usize, String)> {
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let mut found: Vec<FilePatch> = Vec::new();
    let mut i = 0;
    while let Some(line) = lines.get(i) {
        let next = lines.get(i + 1).and_then(|l| l.strip_prefix(b"+++ "));
        if let (Some(old), Some(new)) = (line.strip_prefix(b"--- "), next) {
            found.push(FilePatch { old: path(old), new: path(new), hunks: Vec::new() });
            i += 2;
        } else if line.starts_with(b"@@ ") {
            let Some(file) = found.last_mut() else { return Err((i + 1, "a hunk of no file".to_owned())) };
            let (hunk, next) = hunk(&lines, i)?;
            file.hunks.push(hunk);
            i = next;
        } else if line.starts_with(b"GIT binary patch") || line.starts_with(b"rename from ") {
            return Err((i + 1, "renames and binary files are not followed".to_owned()));
        } else {
            i += 1;
        }
    }
    match found.is_empty() {
        true => Err((1, "no unified diff".to_owned())),
        false => Ok(found),
    }
}

/// A path of a head line, without its first part; none for `/dev/null`.
fn path(text: &[u8]) -> Option<PathBuf> {
    let text = text.split(|b| matches!(b, b'\t' | b'\n' | b'\r')).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text).into_owned();
    let text = match text.starts_with('"') {
        true => String::from_utf8_lossy(&crate::report::escape::c_unquoted(&text).unwrap_or_default())
            .into_owned(),
        false => text,
    };
    if text == "/dev/null" {
        return None;
    }
    Some(PathBuf::from(text.split_once('/').map_or(text.as_str(), |(_, rest)| rest)))
}

/// Reads the hunk at a line; also returns the line behind it.
fn hunk(lines: &[&[u8]], at: usize) -> Result<(Hunk, usize), (usize, String)> {
    let wrong = |line: usize, what: &str| (line + 1, what.to_owned());
    let head = String::from_utf8_lossy(lines.get(at).copied().unwrap_or_default()).into_owned();
    let side = |sign: char| -> Option<(usize, usize)> {
        let word = head.split(' ').find_map(|w| w.strip_prefix(sign))?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.trim().parse().ok()?, count.trim().parse().ok()?))
    };
    let (Some((old_start, olds)), Some((_, news))) = (side('-'), side('+')) else {
        return Err(wrong(at, "expected '@@ -LINE,COUNT +LINE,COUNT @@'"));
    };
    let mut found = Hunk { at: at + 1, old_start, old: Vec::new(), new: Vec::new() };
    let mut i = at + 1;
    while found.old.len() < olds || found.new.len() < news {
        let line = lines.get(i).copied().ok_or_else(|| wrong(i, "the hunk is cut"))?;
        match line.split_first() {
            Some((b' ', rest)) => {
                found.old.push(rest.to_vec());
                found.new.push(rest.to_vec());
            }
            Some((b'-', rest)) => found.old.push(rest.to_vec()),
            Some((b'+', rest)) => found.new.push(rest.to_vec()),
            // Editors take the blank of an empty line away.
            Some((b'\n', _)) => {
                found.old.push(line.to_vec());
                found.new.push(line.to_vec());
            }
            Some((b'\\', _)) => cut_end(&mut found, lines.get(i - 1).copied().unwrap_or_default()),
            _ => return Err(wrong(i, "the hunk is cut")),
        }
        i += 1;
    }
    if lines.get(i).is_some_and(|l| l.starts_with(b"\\")) {
        cut_end(&mut found, lines.get(i - 1).copied().unwrap_or_default());
        i += 1;
    }
    Ok((found, i))
}

/// Takes the end of line off the last line, as `\ No newline at end of file` says.
fn cut_end(hunk: &mut Hunk, before: &[u8]) {
    let cut = |side: &mut Vec<Vec<u8>>| {
        if let Some(last) = side.last_mut()
            && last.ends_with(b"\n")
        {
            last.pop();
        }
    };
    if !before.starts_with(b"+") {
        cut(&mut hunk.old);
    }
    if !before.starts_with(b"-") {
        cut(&mut hunk.new);
    }
}

fn patched(before: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, (usize, String)> {
    let lines: Vec<&[u8]> = before.split_inclusive(|b| *b == b'\n').collect();
    let mut out: Vec<u8> = Vec::with_capacity(before.len());
    let mut next = 0;
    let mut moved = 0i64;
    for h in hunks {
        // A hunk that only adds stands behind the line that it names.
        let start = if h.old.is_empty() { h.old_start } else { h.old_start.saturating_sub(1) };
        let expected = i64::try_from(start).unwrap_or(i64::MAX).saturating_add(moved);
        let place = place(&lines, &h.old, expected, next);
        let place =
            place.ok_or_else(|| (h.at, "the hunk does not apply: its lines are not there".to_owned()))?;
        moved = moved.saturating_add(i64::try_from(place).unwrap_or(0).saturating_sub(expected));
        lines.get(next..place).unwrap_or_default().iter().for_each(|l| out.extend_from_slice(l));
        h.new.iter().for_each(|l| out.extend_from_slice(l));
        next = place + h.old.len();
    }
    lines.get(next..).unwrap_or_default().iter().for_each(|l| out.extend_from_slice(l));
    Ok(out)
}

/// Where some lines are, as near as can be to where they are expected, and not before `from`.
fn place(lines: &[&[u8]], old: &[Vec<u8>], expected: i64, from: usize) -> Option<usize> {
    let last = lines.len().checked_sub(old.len())?;
    let is_there = |at: &usize| {
        let there = lines.get(*at..*at + old.len()).unwrap_or_default();
        there.iter().zip(old).all(|(a, b)| *a == b.as_slice())
    };
    let distance = |at: &usize| i64::try_from(*at).unwrap_or(i64::MAX).abs_diff(expected);
    (from..=last).filter(is_there).min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    fn applied(before: &str, patch: &str) -> Result<String, (usize, String)> {
        let patches = parse(patch.as_bytes())?;
        let bytes = patched(before.as_bytes(), &patches[0].hunks)?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn hunks_apply_where_their_lines_are() {
        let patch = "--- a/f.c\n+++ b/f.c\n@@ -2,2 +2,3 @@\n b\n-c\n+C\n+D\n";
        assert_eq!(applied("a\nb\nc\nd\n", patch).unwrap(), "a\nb\nC\nD\nd\n");
        assert_eq!(applied("x\ny\na\nb\nc\nd\n", patch).unwrap(), "x\ny\na\nb\nC\nD\nd\n");
        let (line, what) = applied("a\nB\nc\n", patch).unwrap_err();
        assert!(line == 3 && what.contains("does not apply"), "{line}: {what}");
        assert!(applied("a\n", "--- a/f.c\n+++ b/f.c\n@@ -1,2 +1 @@\n a\n").is_err());
        let end = "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert_eq!(applied("a", end).unwrap(), "b\n");
    }

    #[test]
    fn files_are_added_and_removed() {
        let tree: Arc<dyn SourceTree> = Arc::new(MemoryTree::new([("old.c", "a\n"), ("kept.c", "k\n")]));
        let file = tempfile::NamedTempFile::new().unwrap();
        let text =
            "--- a/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+n\n";
        std::fs::write(file.path(), text).unwrap();
        let patched = apply(file.path(), &tree).unwrap_or_else(|_| panic!("it applies"));
        assert_eq!(patched.paths().to_vec(), [PathBuf::from("kept.c"), PathBuf::from("new.c")]);
        assert_eq!(patched.read(Path::new("new.c")).as_deref(), Some(&b"n\n"[..]));
        assert_eq!(patched.read(Path::new("old.c")), None);
    }
}
