//! Lines of declarations: what they do shows in the functions that use what is declared.

use super::{Judge, Line, first_line, has, is_same, not};
use crate::analysis::lineage::{Lineage, Member};
use crate::analysis::request::FileChange;
use crate::analysis::units::is_header;
use crate::ir::Unit;
use crate::mvicfg::VersionId;
use crate::mvicfg::key::body_hash;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl Judge<'_> {
    /// Whether a source that is no header is in one version alone of a step.
    pub(super) fn is_one_sided(&self, pair: usize, path: &Path) -> bool {
        let mut changes = self.request.changes.get(pair).into_iter().flatten();
        let is_it = |c: &FileChange| match (&c.old_path, &c.new_path) {
            (Some(only), None) | (None, Some(only)) => only == path,
            _ => false,
        };
        !is_header(path) && changes.any(is_it)
    }

    pub(super) fn declaration(&self, pair: usize, path: &Path, name: &str, why: &str) -> Line {
        let reached = self.reached(pair, path, name);
        if reached.iter().any(|&i| self.has_churn(pair, i)) { Line::Explained } else { not(why) }
    }

    /// Whether functions have a type in their text, of which the file tells them, and nothing is left open in those
    /// that a change of it has changed.
    pub(super) fn is_settled_in_users(&self, pair: usize, path: &Path, name: &str) -> bool {
        let is_user = |(v, m): (VersionId, &Member)| {
            has(&m.unit.files, path) && m.unit.is_whole && self.names(v, m, name)
        };
        let uses = |l: &Lineage| {
            let here = |v: VersionId| Some((v, l.members[v].as_ref()?));
            VersionId::of_step(pair).into_iter().filter_map(here).any(is_user)
        };
        self.lineages.iter().any(uses)
            && self.reached(pair, path, name).iter().all(|i| self.is_settled(pair, *i))
    }

    /// Whether nothing is left open in the functions of a file that no other one includes: nobody else sees what a type
    /// is there.
    pub(super) fn is_settled_in_file(&self, pair: usize, path: &Path) -> bool {
        let sides = VersionId::of_step(pair).map(|version| self.readers(version, path));
        let is_whole =
            |unit: &&Arc<Unit>| unit.is_whole && unit.statics.is_empty() && is_same(&unit.path, path);
        let is_here =
            |l: &Lineage| l.members.iter().skip(pair).take(2).flatten().any(|m| is_same(&m.file, path));
        !is_header(path)
            && self.request.analysis.function.is_none()
            && sides.iter().all(|units| units.len() == 1 && units.iter().all(is_whole))
            && (0..self.lineages.len())
                .filter(|i| is_here(&self.lineages[*i]))
                .all(|i| self.is_settled(pair, i))
    }

    /// Whether a function that a prototype of a file declares is defined, or used, by functions that were
    /// compared, in which nothing is left open that the prototype changes.
    pub(super) fn is_seen_by_users(&self, pair: usize, path: &Path, name: &str) -> bool {
        let reads = |m: &Member| has(&m.unit.files, path);
        let is_user = |(v, m): (VersionId, &Member)| {
            reads(m) && (*m.function.name == *name || m.unit.is_whole && self.names(v, m, name))
        };
        let sides = |l: &Lineage| {
            let here = |v: VersionId| Some((v, l.members[v].as_ref()?));
            VersionId::of_step(pair).into_iter().filter_map(here).any(is_user)
        };
        let settled = |i: &usize| self.is_settled(pair, *i);
        self.lineages.iter().any(sides) && self.reached(pair, path, name).iter().all(settled)
    }

    /// A function that a header defines: its text counts in every unit that reads the header.
    pub(super) fn header_function(&self, pair: usize, path: &Path, name: &str) -> Line {
        let body = |version: VersionId| -> BTreeSet<Option<String>> {
            let units = self.readers(version, path);
            units.iter().map(|u| u.function(name).map(body_hash)).collect()
        };
        let [old, new] = VersionId::of_step(pair).map(body);
        if old == new && old.len() == 1 || self.is_only_renamed(pair, path, name) {
            return Line::Neutral;
        }
        if self.reached(pair, path, name).iter().any(|&i| self.has_churn(pair, i)) {
            return Line::Explained;
        }
        not("header")
    }

    /// Whether all that read a header have a function of it by another name, and nothing else of it is another.
    pub(super) fn is_only_renamed(&self, pair: usize, path: &Path, name: &str) -> bool {
        let [old, new] = VersionId::of_step(pair).map(|version| self.readers(version, path));
        let is_it = |unit: &&Arc<Unit>| {
            let before = old.iter().find(|o| is_same(&o.path, &unit.path));
            before.is_some_and(|before| self.new_names.is_only_renamed(pair, [before, unit], name))
        };
        !new.is_empty() && old.len() == new.len() && new.iter().all(is_it)
    }

    /// What is defined and which branches are taken is reported as such unless it reaches a churn;
    /// what is included counts for what it brings.
    pub(super) fn directive(&self, pair: usize, version: VersionId, path: &Path, line: u32) -> Line {
        let bytes = self.request.versions[version].tree.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(first_line(&bytes, line)).into_owned();
        let mut words = text.trim_start().trim_start_matches('#').split_whitespace();
        let (word, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let name = name.split('(').next().unwrap_or_default();
        let reached = self.reached(pair, path, name);
        if reached.iter().any(|&i| self.has_churn(pair, i)) {
            return Line::Explained;
        }
        let is_settled = reached.iter().all(|i| self.is_settled(pair, *i) || self.is_as_written(pair, *i));
        // Followed to its expansions: what has another one does the same, or is told.
        if matches!(word, "define" | "undef") && is_settled && !self.readers(version, path).is_empty() {
            return Line::Neutral;
        }
        if !matches!(word, "include" | "include_next" | "pragma" | "line" | "error" | "warning") {
            return not("macro");
        }
        if reached.iter().any(|i| self.is_made(pair, *i)) {
            return Line::Explained;
        }
        if is_settled { Line::Neutral } else { not("undecided") }
    }
}
