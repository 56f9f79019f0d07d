//! Objects that macros name after the place where they stand (`__LINE__`) or by a number (`__COUNTER__`).
//!
//! Such a name says nothing of the object: where text is inserted before it, it is another one, and that of
//! another object. So where a macro makes a name with a number in it, objects are one if the line that makes them
//! is one: it is not changed, and the rest of the name is the same.

use super::Step;
use super::definitions::Definition;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is the same in both versions of such an object: its file and line in the newer one, and its symbol
/// without numbers.
type Key = (PathBuf, u32, String);

impl<'a> Step<'a> {
    /// Takes out the objects that are the same by the lines that make them.
    pub(super) fn take_made(
        &mut self,
        before: &mut Vec<Definition<'a>>,
        after: &mut Vec<Definition<'a>>,
    ) -> Vec<(Definition<'a>, Definition<'a>)> {
        let old = self.made(before, 0);
        let mut new = self.made(after, 1);
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (key, olds) in old {
            // What one line makes of one name is in its order.
            let news = new.remove(&key).unwrap_or_default();
            if olds.len() == news.len() {
                pairs.extend(olds.into_iter().zip(news));
            }
        }
        let made = pairs.iter().filter_map(|(i, j)| Some((before.get(*i)?.clone(), after.get(*j)?.clone())));
        let made: Vec<_> = made.collect();
        for (old, new) in &made {
            let names = self.made.entry(old.unit.path.clone()).or_default();
            names.insert(old.global.symbol.clone(), new.global.symbol.clone());
        }
        let mut at = 0..;
        before.retain(|_| at.next().is_none_or(|k| pairs.iter().all(|(i, _)| *i != k)));
        let mut at = 0..;
        after.retain(|_| at.next().is_none_or(|k| pairs.iter().all(|(_, j)| *j != k)));
        made
    }

    /// The objects of one version whose names macros make with a number in them.
    fn made(&mut self, all: &[Definition<'a>], side: usize) -> BTreeMap<Key, Vec<usize>> {
        let mut found: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (k, d) in all.iter().enumerate() {
            let name = d.global.name.clone();
            if !name.contains(|c: char| c.is_ascii_digit()) || self.words(d, side).is_written(d.line, &name) {
                continue;
            }
            let (file, line) = match side {
                0 => (self.renamed(&d.file), self.newer_line(&d.file, d.line)),
                _ => (d.file.clone(), Some(d.line)),
            };
            if let Some(line) = line {
                let symbol = without_numbers(&self.symbol(d, side));
                found.entry((file, line, symbol)).or_default().push(k);
            }
        }
        found
    }

    /// Where a line of the older version is in the newer one, if no hunk changes it.
    fn newer_line(&self, file: &Path, line: u32) -> Option<u32> {
        let mut shift = 0;
        let of_file = self.changes.iter().filter(|c| c.path(0).is_some_and(|p| p == file));
        for h in of_file.flat_map(|c| &c.hunks) {
            if (h.old_start..h.old_start.saturating_add(h.old_lines)).contains(&line) {
                return None;
            }
            // Where nothing was, what comes stands behind that line.
            let first = h.old_start + u32::from(h.old_lines == 0);
            if first <= line {
                shift += i64::from(h.new_lines) - i64::from(h.old_lines);
            }
        }
        u32::try_from(i64::from(line) + shift).ok()
    }
}

fn without_numbers(symbol: &Arc<str>) -> String {
    let mut stem = String::new();
    for c in symbol.chars() {
        match c.is_ascii_digit() {
            true if stem.ends_with('#') => {}
            true => stem.push('#'),
            false => stem.push(c),
        }
    }
    stem
}
