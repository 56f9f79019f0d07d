//! Whether hunks change code, by the texts of both versions of their file: comments and white space are none.

use super::super::request::{FileChange, Hunk};
use super::Judge;
use crate::frontend::c::lines::{code, joined};
use crate::mvicfg::VersionId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Code by line.
type Code = BTreeMap<u32, String>;

/// What a step does to the code of a file.
pub(super) struct FileCode {
    /// It is the same, whatever lines it stands in.
    is_same: bool,
    /// That of both sides, where it differs in hunks alone.
    aligned: Option<(Code, Code)>,
}

impl Judge<'_> {
    /// Whether a hunk changes nothing but comments and white space.
    pub(super) fn is_same_code(&mut self, pair: usize, change: &FileChange, hunk: &Hunk) -> bool {
        let (Some(old), Some(new)) = (&change.old_path, &change.new_path) else { return false };
        let key = (pair, new.clone());
        if !self.code.contains_key(&key) {
            let read = |version: VersionId, path: &Path| {
                code(&self.request.versions[version].tree.read(path).unwrap_or_default())
            };
            let [from, to] = VersionId::of_step(pair);
            let both = (read(from, old), read(to, new));
            // A comment that begins or ends in a hunk changes what the lines around it are.
            let rest = |code: &BTreeMap<u32, String>, inside: &dyn Fn(&Hunk) -> (u32, u32)| -> Vec<String> {
                let out = |line: &u32| {
                    change.hunks.iter().map(inside).all(|(start, n)| *line < start || *line >= start + n)
                };
                code.iter().filter(|(line, _)| out(line)).map(|(_, text)| text.clone()).collect()
            };
            let aligned = rest(&both.0, &|h| (h.old_start, h.old_lines))
                == rest(&both.1, &|h| (h.new_start, h.new_lines));
            let is_same = joined(&both.0) == joined(&both.1);
            self.code.insert(key.clone(), FileCode { is_same, aligned: aligned.then_some(both) });
        }
        let Some(of_file) = self.code.get(&key) else { return false };
        if of_file.is_same {
            return true;
        }
        let Some((old, new)) = &of_file.aligned else { return false };
        let part = |code: &BTreeMap<u32, String>, start: u32, lines: u32| -> Vec<String> {
            let lines = code.range(start..start.saturating_add(lines)).map(|(_, text)| text.clone());
            // A directive ends with its line; elsewhere lines do not matter.
            let lines: Vec<String> = lines.collect();
            if lines.iter().any(|l| l.starts_with(" #")) { lines } else { vec![lines.concat()] }
        };
        part(old, hunk.old_start, hunk.old_lines) == part(new, hunk.new_start, hunk.new_lines)
    }

    /// Whether a step changes code of a file outside of its hunks.
    pub(super) fn swallows(&self, pair: usize, path: &Path) -> bool {
        let of_file = self.code.get(&(pair, path.to_path_buf()));
        of_file.is_some_and(|code| !code.is_same && code.aligned.is_none())
    }

    /// A type of which nothing says what it is, that a hunk of one version names more often than that of the other: what was
    /// guessed for it says nothing of a conversion to it. What leads to such a type is a pointer whatever it is.
    pub(super) fn guessed_type(&self, pair: usize, change: &FileChange, hunk: &Hunk) -> Option<Arc<str>> {
        let path = change.new_path.as_ref()?;
        let (old, new) = self.code.get(&(pair, path.clone()))?.aligned.as_ref()?;
        let [from, to] = VersionId::of_step(pair);
        let count = |code: &Code, (start, lines): (u32, u32), (name, is_type): (&str, bool)| -> usize {
            let texts = code.range(start..start.saturating_add(lines)).map(|(_, text)| text);
            texts.map(|text| by_value(text, name, is_type)).sum()
        };
        let of_version =
            |path: &Option<PathBuf>, v| path.as_deref().map_or_else(Vec::new, |p| self.readers(v, p));
        let units = of_version(&change.old_path, from).into_iter().chain(of_version(&change.new_path, to));
        let names: BTreeSet<(&Arc<str>, bool)> = units
            .flat_map(|unit| &unit.gaps.invented)
            .filter(|(_, why)| !why.starts_with("unknown ") || ***why == *"unknown type")
            .map(|(name, why)| (name, **why == *"unknown type"))
            .collect();
        let is_named_otherwise = |(name, is_type): &&(&Arc<str>, bool)| {
            count(old, (hunk.old_start, hunk.old_lines), (name, *is_type))
                != count(new, (hunk.new_start, hunk.new_lines), (name, *is_type))
        };
        names.iter().find(is_named_otherwise).map(|(name, _)| (*name).clone())
    }
}

/// How often a text names a type that no `*` follows. Of what may be no type, conversions count alone.
fn by_value(text: &str, name: &str, is_type: bool) -> usize {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(name).filter(|(at, _)| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let is_conversion = before.trim_end().ends_with('(') && after.trim_start().starts_with(')');
        !before.ends_with(is_of_name)
            && !after.starts_with(is_of_name)
            && !after.trim_start().starts_with('*')
            && (is_type || is_conversion)
    });
    found.count()
}
