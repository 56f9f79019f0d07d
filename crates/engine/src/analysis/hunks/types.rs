//! Types whose declarations a range changes where no function tells of it: their members and enumerators, in both
//! versions.
//!
//! Members are paired by name. What is told of one is its type, how many bits a bit-field has, and, where nothing else
//! differs, where it lies.

use super::Judge;
use crate::analysis::objects::type_text;
use crate::analysis::request::FileChange;
use crate::frontend::c::lines::LineKind;
use crate::ir::{Field, Record, Unit};
use crate::mvicfg::VersionId;
use crate::report::{ChangeVerdict, Definitions, Effect, HunkRef, ObjectReport, RepoPath, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Members that are told; the rest is counted.
const MAX_ROWS: usize = 8;

/// What the declaration of a type says in one version alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeChange {
    /// What an enumeration is called.
    called: Option<Arc<str>>,
    before: Vec<String>,
    now: Vec<String>,
}

/// Types that are told by their declarations, by step and name.
#[derive(Default)]
pub(super) struct Types {
    pub known: BTreeMap<(usize, Arc<str>), TypeChange>,
    /// Those of the hunk at hand.
    pub told: BTreeSet<(usize, Arc<str>)>,
}

/// Whether lines of a type of this name are those of an enumeration: they go by its tag, or by its first enumerator.
fn is_enumeration(key: &str, all: &[(Arc<str>, i128)], name: &str) -> bool {
    let is_tag = key == name || key.strip_prefix("enum ") == Some(name);
    is_tag || all.iter().any(|(enumerator, _)| &**enumerator == name)
}

impl TypeChange {
    /// How a type of this name differs between units; `None`: it does not, or one version does not have it.
    pub fn of(old: &[&Arc<Unit>], new: &[&Arc<Unit>], name: &str) -> Option<TypeChange> {
        let mut found = TypeChange::default();
        let record = |units: &[&Arc<Unit>]| {
            let of = |unit: &Arc<Unit>| {
                let is_it = |r: &&Record| &*r.name == name && r.size > 0 && !r.invented;
                unit.records.iter().find(is_it).map(|r| (r.clone(), unit.clone()))
            };
            units.iter().find_map(|unit| of(unit))
        };
        if let Some(((a, old), (b, new))) = record(old).zip(record(new)) {
            found.members((&a, &old), (&b, &new));
        }
        let enumerators = |units: &[&Arc<Unit>]| {
            let is_it = |(key, all): &(&Arc<str>, &Vec<(Arc<str>, i128)>)| is_enumeration(key, all, name);
            let of = |u: &&Arc<Unit>| {
                u.enumerations.iter().find(is_it).map(|(key, all)| (key.clone(), all.clone()))
            };
            units.iter().find_map(of)
        };
        if let Some(((key, a), (_, b))) = enumerators(old).zip(enumerators(new)) {
            let said = |(name, value): &(Arc<str>, i128)| format!("{name} is {value}");
            found.before.extend(a.iter().filter(|e| !b.contains(e)).map(said));
            found.now.extend(b.iter().filter(|e| !a.contains(e)).map(said));
            if found != TypeChange::default() {
                found.called = Some(key);
            }
        }
        (found != TypeChange::default()).then_some(found)
    }

    fn members(&mut self, (a, old): (&Record, &Unit), (b, new): (&Record, &Unit)) {
        let said = |f: &Field, unit: &Unit| match f.bits {
            Some((_, width)) => format!("{} is {} : {width}", f.name, type_text(unit, &f.ty)),
            None => format!("{} is {}", f.name, type_text(unit, &f.ty)),
        };
        let own = |r: &Record, unit: &Unit| -> Vec<String> {
            r.fields.iter().filter(|f| !f.name.is_empty()).map(|f| said(f, unit)).collect()
        };
        let (before, now) = (own(a, old), own(b, new));
        self.before.extend(before.iter().filter(|text| !now.contains(text)).cloned());
        self.now.extend(now.iter().filter(|text| !before.contains(text)).cloned());
        if *self != TypeChange::default() {
            return;
        }
        // Nothing but places: an attribute, another order.
        let place = |f: &Field| match f.bits {
            Some((low, _)) => format!("{} at byte {}, bit {low}", f.name, f.offset),
            None => format!("{} at byte {}", f.name, f.offset),
        };
        let pairs = a.fields.iter().filter_map(|f| Some((f, b.fields.iter().find(|g| g.name == f.name)?)));
        let moved = pairs.into_iter().find(|(f, g)| (f.offset, f.bits) != (g.offset, g.bits));
        if let Some((f, g)) = moved {
            self.before.push(place(f));
            self.now.push(place(g));
        }
        if (a.size, a.align) != (b.size, b.align) {
            let size = |r: &Record| format!("{} bytes, aligned to {}", r.size, r.align);
            self.before.push(size(a));
            self.now.push(size(b));
        }
    }

    /// As it is reported: of a step, in a file.
    pub fn report(&self, name: &str, (from, path): (Version, &Path), hunks: Vec<HunkRef>) -> ObjectReport {
        let side = |rows: &[String]| -> Vec<Effect> {
            let effect = |text: String| Effect { kind: "value".to_owned(), text, ..Effect::default() };
            let more = rows.len().saturating_sub(MAX_ROWS);
            let shown = rows.iter().take(MAX_ROWS).cloned();
            shown.chain((more > 0).then(|| format!("and {more} more"))).map(effect).collect()
        };
        let line = hunks.first().map(|h| h.new_start);
        let definitions = Definitions { before: side(&self.before), now: side(&self.now) };
        let said = format!("type {name} {:?} {:?}", self.before, self.now);
        ObjectReport {
            id: blake3::hash(said.as_bytes()).to_hex()[..16].to_owned(),
            from,
            to: from + 1,
            file: RepoPath::from(path),
            name: self.called.as_ref().map_or_else(|| format!("type {name}"), ToString::to_string),
            ty: name.to_owned(),
            lines: line.map(|line| (from + 1, line)).into_iter().collect(),
            hunks,
            definitions,
            verdict: ChangeVerdict::Differs,
            ..ObjectReport::default()
        }
    }
}

impl Judge<'_> {
    /// Whether the declaration of a type that a line is of differs.
    pub(super) fn tells_type(
        &mut self,
        pair: usize,
        change: &FileChange,
        version: VersionId,
        line: u32,
    ) -> bool {
        let paths = [change.old_path.as_deref(), change.new_path.as_deref()];
        let [Some(old), Some(new)] = paths else { return false };
        let path = if version.side(pair) == 0 { old } else { new };
        let Some(LineKind::Type(name)) = self.kind(version, path, line) else { return false };
        let key = (pair, name.clone());
        if !self.types.known.contains_key(&key) {
            let [from, to] = VersionId::of_step(pair);
            let units = (self.readers(from, old), self.readers(to, new));
            let Some(found) = TypeChange::of(&units.0, &units.1, &name) else { return false };
            self.types.known.insert(key.clone(), found);
        }
        self.types.told.insert(key);
        true
    }

    /// Whether a line declares a type whose name, and those of its enumerators, nothing in the other version has:
    /// whoever uses them was changed as well.
    pub(super) fn is_type_of_one_version(
        &mut self,
        pair: usize,
        change: &FileChange,
        version: VersionId,
        line: u32,
    ) -> bool {
        let paths = [change.old_path.as_deref(), change.new_path.as_deref()];
        let side = version.side(pair);
        let [Some(own), Some(others)] = [paths[side], paths[1 - side]] else { return false };
        let Some(LineKind::Type(name)) = self.kind(version, own, line) else { return false };
        let other = VersionId::of_step(pair)[1 - side];
        let enumerators: BTreeSet<Arc<str>> = self
            .readers(version, own)
            .iter()
            .flat_map(|unit| &unit.enumerations)
            .filter(|(key, all)| is_enumeration(key, all, &name))
            .flat_map(|(_, all)| all.iter().map(|(enumerator, _)| enumerator.clone()))
            .collect();
        let is_it = |word: &str| word == &*name || enumerators.contains(word);
        let declares = |unit: &Arc<Unit>| {
            unit.records.iter().any(|r| is_it(&r.name))
                || unit.enumerations.iter().any(|(key, all)| {
                    is_it(key.strip_prefix("enum ").unwrap_or(key)) || all.iter().any(|(e, _)| is_it(e))
                })
        };
        let text = self.request.versions[other].tree.read(others).unwrap_or_default();
        let mut words = text.split(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
        !words.any(|word| std::str::from_utf8(word).is_ok_and(is_it))
            && !self.readers(other, others).into_iter().any(declares)
    }
}
