//! Objects with static storage whose definitions a range changes: what they begin with and how they are declared,
//! in both versions.
//!
//! An object is one of both versions if it has the same symbol in the same file. What is left over is paired by
//! what it is: one of the same name in another file has *moved*, one of the same type and the same initial value in
//! the same file, in the same hunk or with a reader in common, has another name. Looked at are the objects whose
//! definitions meet a hunk, and those that begin otherwise since something that they use has changed. It costs no
//! solver.
//!
//! An object is *neutral* if it begins with the same by members and its head is written as it was. What does not
//! fold and is written otherwise is *open*, and so is what the parser may have lost.

mod declarations;
mod definitions;
mod difference;
mod heads;
mod made;
mod renaming;
mod tests;
mod value;
mod words;

use super::lineage::{self, Lineage, VersionFiles};
use super::local::Told;
use super::reach::Reach;
use super::request::{FileChange, Hunk, Request};
use crate::frontend::c::extents::{SELF, Words};
use crate::ir::{Linkage, Literal, Spelled, Unit};
use crate::mvicfg::VersionId;
use crate::report::{
    ChangeVerdict, Definitions, Effect, HunkRef, ObjectOutcome, ObjectReport, Readers, RepoPath, Report,
    Version,
};
pub(super) use declarations::{is_mere_declaration, uses};
use definitions::{Definition, definitions};
use difference::Difference;
use heads::{declared, is_of_function, without_calls, without_length};
pub(in crate::analysis) use renaming::Renaming;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(super) use value::type_text;
use value::{Names, Spelling, Value};
use words::{MAX_ROWS, Row};

/// Objects that one version has alone beyond which none is taken for one of the other version.
const MAX_PAIRED: usize = 500;
/// Readers that are named.
const MAX_READERS: usize = 5;

/// The objects of a range that were looked at.
#[derive(Default)]
pub(super) struct Objects {
    found: Vec<Found>,
}

/// One object in one step.
struct Found {
    /// The older version, from 0.
    step: usize,
    old: Option<DefinitionSite>,
    new: Option<DefinitionSite>,
    name: Arc<str>,
    function: Option<Arc<str>>,
    ty: String,
    outcome: ObjectOutcome,
    was: Option<String>,
    rows: Vec<Row>,
    verdict: ObjectVerdict,
    readers: Vec<String>,
    /// Files of the units that have it.
    files: Arc<Vec<PathBuf>>,
    hunks: Vec<HunkRef>,
}

/// Where a definition stands.
#[derive(Clone, Debug)]
struct DefinitionSite {
    file: PathBuf,
    line: u32,
    lines: std::ops::RangeInclusive<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ObjectVerdict {
    Neutral,
    Differs,
    Open(String),
}

impl Objects {
    /// Compares the objects of a range.
    pub fn of(request: &Request, files: &[VersionFiles], reaches: &[Reach], lineages: &[Lineage]) -> Objects {
        let mut objects = Objects::default();
        // Who asks of one function asks of nothing else.
        if request.analysis.function.is_some() {
            return objects;
        }
        for step in 0..files.len().saturating_sub(1) {
            let mut one = Step::new(request, step, reaches, lineages);
            one.compare_all(files);
            objects.found.extend(one.found);
        }
        objects
    }

    /// What became of a line of the older (0) or the newer (1) version of a step by the objects whose definitions it
    /// is of; an open one says why.
    pub fn line(&self, step: usize, side: usize, path: &Path, line: u32) -> Option<Result<Told, &str>> {
        let place = |f: &Found| if side == 0 { f.old.clone() } else { f.new.clone() };
        let is_here = |f: &&Found| {
            f.step == step && place(f).is_some_and(|p| p.file == path && p.lines.contains(&line))
        };
        told_of(self.found.iter().filter(is_here))
    }

    /// What became of objects that begin otherwise by something in a file that is no definition of theirs; an open
    /// one says why.
    pub fn by(&self, step: usize, path: &Path) -> Option<Result<Told, &str>> {
        let is_reached =
            |f: &&Found| f.step == step && f.hunks.is_empty() && f.files.iter().any(|file| file == path);
        told_of(self.found.iter().filter(is_reached))
    }

    /// Adds them to a report.
    pub fn tell(&self, report: &mut Report) {
        for found in self.found.iter().filter(|f| f.verdict != ObjectVerdict::Neutral) {
            let mut object = found.report();
            let effects = |all: &[Effect]| all.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join("; ");
            let said = format!(
                "object {} {} {:?} {} -> {}",
                object.called(),
                object.ty,
                object.outcome,
                effects(&object.definitions.before),
                effects(&object.definitions.now)
            );
            let hash = |said: &str| blake3::hash(said.as_bytes()).to_hex()[..16].to_owned();
            let mut ordinal = 0;
            object.id = hash(&said);
            while report.objects.iter().any(|o| o.id == object.id) {
                ordinal += 1;
                object.id = hash(&format!("{said} {ordinal}"));
            }
            report.objects.push(object);
        }
    }
}

/// What became of some objects, of all together.
fn told_of<'f>(all: impl Iterator<Item = &'f Found>) -> Option<Result<Told, &'f str>> {
    let mut told = None;
    for found in all {
        match &found.verdict {
            ObjectVerdict::Open(reason) => return Some(Err(reason)),
            ObjectVerdict::Differs => told = Some(Ok(Told::Differs)),
            ObjectVerdict::Neutral => told = told.or(Some(Ok(Told::Neutral))),
        }
    }
    told
}

impl Found {
    fn report(&self) -> ObjectReport {
        let (from, to) = (self.step as Version + 1, self.step as Version + 2);
        let places = [(from, &self.old), (to, &self.new)];
        let lines = places.iter().filter_map(|(v, p)| Some((*v, p.as_ref()?.line))).collect();
        let place = self.new.as_ref().or(self.old.as_ref());
        let side = |side: usize, of: fn(&Row) -> Option<&String>| -> Vec<Effect> {
            let effect = |text: &str, line: Option<u32>| Effect {
                kind: "value".to_owned(),
                text: text.to_owned(),
                line,
                ..Effect::default()
            };
            let row = |r: &Row| of(r).map(|text| effect(text, r.at[side]));
            let all: Vec<Effect> = self.rows.iter().filter_map(row).collect();
            let more = all.len().saturating_sub(MAX_ROWS);
            let mut shown: Vec<Effect> = all.into_iter().take(MAX_ROWS).collect();
            shown.extend((more > 0).then(|| effect(&format!("and {more} more"), None)));
            shown
        };
        let (verdict, reason) = match &self.verdict {
            ObjectVerdict::Neutral => (ChangeVerdict::Neutral, None),
            ObjectVerdict::Differs => (ChangeVerdict::Differs, None),
            ObjectVerdict::Open(reason) => (ChangeVerdict::Open, Some(reason.clone())),
        };
        ObjectReport {
            id: String::new(),
            from,
            to,
            file: place.map(|p| RepoPath::from(p.file.as_path())).unwrap_or_default(),
            name: self.name.to_string(),
            function: self.function.as_ref().map(ToString::to_string),
            ty: self.ty.clone(),
            outcome: self.outcome,
            was: self.was.clone(),
            lines,
            hunks: self.hunks.clone(),
            under: None,
            definitions: Definitions {
                before: side(0, |r| r.before.as_ref()),
                now: side(1, |r| r.now.as_ref()),
            },
            readers: Readers {
                first: self.readers.iter().take(MAX_READERS).cloned().collect(),
                more: self.readers.len().saturating_sub(MAX_READERS),
            },
            verdict,
            reason,
        }
    }
}

/// Puts what is told of objects under further macros beside the rest: those in hunks that these settle.
pub(super) fn take_over(
    report: &mut Report,
    found: &[ObjectReport],
    (from, under): (Version, &str),
    is_settled: &dyn Fn(&HunkRef) -> bool,
) {
    for object in found.iter().filter(|o| o.hunks.iter().any(is_settled)) {
        // What no macro changes is told already.
        let is_known = |o: &ObjectReport| {
            o.to == from + 1
                && (&o.file, &o.name, &o.function) == (&object.file, &object.name, &object.function)
                && (o.verdict, &o.definitions) == (object.verdict, &object.definitions)
        };
        if report.objects.iter().any(is_known) {
            continue;
        }
        let mut object = object.clone();
        object.id = blake3::hash(format!("{under} {}", object.id).as_bytes()).to_hex()[..16].to_owned();
        (object.from, object.to) = (from, from + 1);
        object.under = Some(under.to_owned());
        object.lines = object.lines.iter().map(|(v, line)| (v + from - 1, *line)).collect();
        report.objects.push(object);
    }
}

/// An object that one version has alone.
struct Left<'a> {
    definition: Definition<'a>,
    ty: String,
    /// What it begins with, whatever it is called.
    key: Option<String>,
}

/// One step while its objects are compared.
struct Step<'a> {
    step: usize,
    request: &'a Request,
    reaches: [&'a Reach; 2],
    changes: &'a [FileChange],
    /// By version: what functions of either side are called in the newest version.
    names: [Names; 2],
    /// By unit: objects of the older version under names that macros make, and what they are called in the newer one.
    made: BTreeMap<PathBuf, Names>,
    /// Words of files, by side.
    words: [BTreeMap<PathBuf, Words>; 2],
    found: Vec<Found>,
}

impl<'a> Step<'a> {
    fn new(request: &'a Request, step: usize, reaches: &'a [Reach], lineages: &[Lineage]) -> Step<'a> {
        let names = VersionId::of_step(step).map(|v| {
            let all = lineage::new_names(lineages, reaches, v);
            all.into_iter().map(|(old, (_, new))| (old, new)).collect()
        });
        Step {
            step,
            request,
            reaches: [&reaches[step], &reaches[step + 1]],
            changes: request.changes.get(step).map(Vec::as_slice).unwrap_or_default(),
            names,
            made: BTreeMap::new(),
            words: Default::default(),
            found: Vec::new(),
        }
    }

    fn compare_all(&mut self, files: &'a [VersionFiles]) {
        let (Some(old), Some(new)) = (files.get(self.step), files.get(self.step + 1)) else { return };
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        let mut met: BTreeSet<(PathBuf, Arc<str>)> = BTreeSet::new();
        for (old, new) in old.iter().zip(new) {
            let (before, after) = match (old, new) {
                (Some((_, Ok(old))), Some((_, Ok(new)))) if Arc::ptr_eq(old, new) => continue,
                (Some((_, Ok(old))), Some((_, Ok(new)))) => (Some(old), Some(new)),
                (Some((_, Ok(old))), None) => (Some(old), None),
                (None, Some((_, Ok(new)))) => (None, Some(new)),
                _ => continue,
            };
            let before = before.map(|l| definitions(&l.unit)).unwrap_or_default();
            let after = after.map(|l| definitions(&l.unit)).unwrap_or_default();
            let (before, after) = self.worth_a_look(before, after);
            let (before, after) = (self.found_in_text(before, 0), self.found_in_text(after, 1));
            self.pair(before, after, &mut met, &mut gone, &mut come);
        }
        self.left_over(gone, come);
        self.found.sort_by_key(Found::order);
    }

    /// The objects that a step may change: those of files that it changes, and those that begin otherwise. Many
    /// units may read a header that changes.
    fn worth_a_look(
        &self,
        mut before: Vec<Definition<'a>>,
        mut after: Vec<Definition<'a>>,
    ) -> (Vec<Definition<'a>>, Vec<Definition<'a>>) {
        let is_changed = |d: &Definition, side: usize| {
            let paths = [&d.file, &d.unit.path];
            self.changes.iter().any(|c| c.path(side).is_some_and(|p| paths.contains(&p)))
        };
        let said = |d: &Definition| (d.global.size, d.global.linkage, d.global.is_const);
        let alike = |d: &Definition, all: &[Definition], side: usize| {
            let known =
                all.binary_search_by(|o| o.global.symbol.cmp(&d.global.symbol)).ok().and_then(|i| all.get(i));
            !is_changed(d, side)
                && known.is_some_and(|k| said(k) == said(d) && k.global.init == d.global.init)
        };
        let sorted = |all: &[Definition<'a>]| {
            let mut all = all.to_vec();
            all.sort_by(|a, b| a.global.symbol.cmp(&b.global.symbol));
            all
        };
        let (old, new) = (sorted(&before), sorted(&after));
        before.retain(|d| !alike(d, &new, 0));
        after.retain(|d| !alike(d, &old, 1));
        (before, after)
    }

    /// Where an object is defined whose initialiser stands elsewhere than its first declaration.
    fn initialised(&mut self, d: &Definition, side: usize) -> Option<(PathBuf, u32)> {
        let initial = d.unit.written.initial.get(&d.global.symbol)?;
        let file = d.unit.files.get(initial.file.0 as usize)?.clone();
        let value = initial.values.iter().map(|v| v.line).min()?;
        let own = Definition { file: file.clone(), ..d.clone() };
        let words = self.words(&own, side);
        if file == d.file
            && words.declaration(d.line, &d.global.name).is_some_and(|f| f.lines.contains(&value))
        {
            return None;
        }
        words.initialised_around(value).map(|line| (file, line))
    }

    /// The objects with the places of their definitions: the front end gives that of the first declaration, which
    /// may be in a header.
    fn found_in_text(&mut self, mut all: Vec<Definition<'a>>, side: usize) -> Vec<Definition<'a>> {
        for d in all.iter_mut().filter(|d| d.function.is_none()) {
            let own = Definition { file: d.unit.path.clone(), ..d.clone() };
            let is_first = |words: &Words| {
                let found = words.declaration(d.line, &d.global.name);
                found.is_some_and(|f| !f.value.is_empty() && f.head.first().is_none_or(|w| w != "extern"))
            };
            if d.file == own.file && is_first(self.words(&own, side)) {
                continue;
            }
            if let Some(line) = self.words(&own, side).definition_line(&d.global.name) {
                (d.file, d.line) = (own.file, line);
            } else if let Some((file, line)) = self.initialised(d, side) {
                // A macro makes its name.
                (d.file, d.line) = (file, line);
            }
        }
        // What stands before a type is a macro that nobody defined, and no object.
        let is_marker = |words: &Words, d: &Definition| {
            let found = words.declaration(d.line, &d.global.name);
            let is_word = |w: &String| w.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            found.is_some_and(|f| {
                f.head.first().is_some_and(|w| w == SELF) && f.head.get(1).is_some_and(is_word)
            })
        };
        all.retain(|d| d.function.is_some() || !is_marker(self.words(d, side), d));
        all
    }

    /// The objects of one unit that are in both versions; the others are added to those that are gone or came.
    fn pair(
        &mut self,
        mut before: Vec<Definition<'a>>,
        mut after: Vec<Definition<'a>>,
        met: &mut BTreeSet<(PathBuf, Arc<str>)>,
        gone: &mut Vec<Definition<'a>>,
        come: &mut Vec<Definition<'a>>,
    ) {
        let mut both = self.take_made(&mut before, &mut after);
        // These have no name that another object could not have in the other version.
        both.retain(|(_, new)| met.insert((new.file.clone(), format!("{}\\", new.global.symbol).into())));
        let renamed = |d: &Definition| (self.renamed(&d.file), self.symbol(d, 0));
        let mut old: BTreeMap<(PathBuf, Arc<str>), Definition> =
            before.into_iter().map(|d| (renamed(&d), d)).collect();
        let mut rest = Vec::new();
        for new in after {
            let key = (new.file.clone(), self.symbol(&new, 1));
            let known = old.remove(&key);
            // What a header defines is looked at in the first unit that has it.
            if !met.insert(key) {
                continue;
            }
            match known {
                Some(known) => both.push((known, new)),
                None => rest.push(new),
            }
        }
        for (old, new) in both {
            self.compare(&old, &new, ObjectOutcome::Changed);
        }
        come.extend(rest);
        gone.extend(old.into_iter().filter(|(key, _)| !met.contains(key)).map(|(_, d)| d));
    }

    /// Objects that one version has alone.
    fn left_over(&mut self, gone: Vec<Definition<'a>>, come: Vec<Definition<'a>>) {
        let left = |all: Vec<Definition<'a>>, side: usize| -> Vec<Option<Left<'a>>> {
            let is_few = all.len() <= MAX_PAIRED;
            let of = |d: Definition<'a>| {
                let key = if is_few { self.nameless_key(&d, side) } else { None };
                Some(Left { ty: d.ty(), key, definition: d })
            };
            all.into_iter().map(of).collect()
        };
        let (mut gone, mut come) = (left(gone, 0), left(come, 1));
        for how in [ObjectOutcome::Moved, ObjectOutcome::Renamed] {
            for i in 0..come.len() {
                let only = |of: &dyn Fn(&Left<'a>) -> bool, all: &[Option<Left<'a>>]| {
                    let mut found = (0..all.len()).filter(|k| all[*k].as_ref().is_some_and(of));
                    found.next().filter(|_| found.next().is_none())
                };
                let Some(new) = come[i].as_ref() else { continue };
                let Some(k) = only(&|old| self.fits(old, new, how), &gone) else { continue };
                let Some(old) = gone[k].as_ref() else { continue };
                // One that fits several is none of them.
                if only(&|new| self.fits(old, new, how), &come).is_none() {
                    continue;
                }
                if let (Some(old), Some(new)) = (gone[k].take(), come[i].take()) {
                    self.compare(&old.definition, &new.definition, how);
                }
            }
        }
        gone.into_iter().flatten().for_each(|l| self.alone(&l.definition, 0));
        come.into_iter().flatten().for_each(|l| self.alone(&l.definition, 1));
    }

    /// What an object begins with, whatever it is called.
    fn nameless_key(&self, d: &Definition, side: usize) -> Option<String> {
        let mut names = self.names_of(d, side);
        names.insert(d.global.symbol.clone(), "\\self".into());
        let spelling = Spelling { symbols: names, ..Spelling::default() };
        Some(Value::of(d.unit, d.global, &spelling)?.key())
    }

    /// Whether two objects that one version each has alone are one.
    fn fits(&self, old: &Left, new: &Left, how: ObjectOutcome) -> bool {
        let (a, b) = (&old.definition, &new.definition);
        let is_equal = old.key.is_some() && old.key == new.key;
        if a.function.is_some() || b.function.is_some() || old.ty != new.ty {
            return false;
        }
        let is_same_name = a.global.name == b.global.name;
        let is_known = |d: &Definition| d.global.linkage != Linkage::Internal;
        match how {
            ObjectOutcome::Moved => {
                is_same_name && (is_known(a) && is_known(b) || is_equal) && self.renamed(&a.file) != b.file
            }
            _ => {
                !is_same_name
                    && is_equal
                    && self.renamed(&a.file) == b.file
                    && (self.share_a_hunk(a, b) || self.share_a_reader(a, b))
            }
        }
    }

    fn share_a_reader(&self, old: &Definition, new: &Definition) -> bool {
        let [before, after] = [self.readers(old, 0), self.readers(new, 1)];
        before.intersection(&after).next().is_some()
    }

    fn share_a_hunk(&self, old: &Definition, new: &Definition) -> bool {
        self.hunks_at(old.line, old, 0).into_iter().any(|h| {
            let end = h.new_start.saturating_add(h.new_lines);
            (h.new_start..end).contains(&new.line)
        })
    }

    /// The hunks of an object's file that meet a line of it.
    fn hunks_at(&self, line: u32, d: &Definition, side: usize) -> Vec<Hunk> {
        let of_file = self.changes.iter().filter(|c| c.path(side) == Some(&d.file));
        let meets = |h: &&Hunk| range_of(h, side).contains(&line);
        of_file.flat_map(|c| c.hunks.iter().filter(meets).copied()).collect()
    }

    /// A path of the older version in the newer one.
    fn renamed(&self, file: &Path) -> PathBuf {
        let change = self.changes.iter().find(|c| c.old_path.as_deref() == Some(file));
        change.and_then(|c| c.new_path.clone()).unwrap_or_else(|| file.to_path_buf())
    }

    /// What an object goes by: one of a function that has another name now by that.
    fn symbol(&self, d: &Definition, side: usize) -> Arc<str> {
        let known = d.function.as_ref().and_then(|f| Some((f, self.names[side].get(f)?)));
        match known {
            Some((f, new)) => format!("{new}{}", &d.global.symbol[f.len()..]).into(),
            None => d.global.symbol.clone(),
        }
    }

    /// What the functions and objects that a unit names are called in the newer version.
    fn names_of(&self, d: &Definition, side: usize) -> Names {
        let mut names = self.names[side].clone();
        let made = self.made.get(&d.unit.path).filter(|_| side == 0);
        names.extend(made.into_iter().flatten().map(|(old, new)| (old.clone(), new.clone())));
        names
    }

    /// What an object begins with, to be compared with another version's.
    fn value(
        &self,
        d: &Definition,
        side: usize,
        place: &DefinitionSite,
        other: &Definition,
    ) -> Option<Value> {
        let mut symbols = self.names_of(d, side);
        if side == 0 {
            symbols.insert(d.global.symbol.clone(), other.global.symbol.clone());
        }
        let macros = self.macros(d, side, place, other.unit);
        let initial = d
            .unit
            .written
            .initial
            .get(&d.global.symbol)
            .filter(|_| d.is_initial_of(&place.file, &place.lines));
        Value::of(d.unit, d.global, &Spelling { symbols, macros, other: Some(other.unit), initial })
    }

    /// Numbers that the changed lines of a definition write as macros, and not otherwise.
    fn macros(
        &self,
        d: &Definition,
        side: usize,
        place: &DefinitionSite,
        other: &Unit,
    ) -> BTreeMap<i128, Arc<str>> {
        let mut found: BTreeMap<i128, BTreeSet<Option<&Arc<str>>>> = BTreeMap::new();
        let is_own = d.unit.path == place.file;
        let is_here = |s: &&Spelled| is_own && place.lines.contains(&s.line);
        for s in d.unit.written.spelled.iter().filter(is_here) {
            if let Literal::Number(n) = s.value
                && n != 0
                && !self.hunks_at(s.line, d, side).is_empty()
            {
                found.entry(n).or_default().insert(s.name.as_ref());
            }
        }
        let is_one = |name: &Arc<str>, n: i128| other.spells_only(name, &Literal::Number(n));
        let name = |(n, names): (i128, BTreeSet<Option<&Arc<str>>>)| match Vec::from_iter(names)[..] {
            [Some(name)] if is_one(name, n) => Some((n, name.clone())),
            _ => None,
        };
        found.into_iter().filter_map(name).collect()
    }

    /// The functions that name an object, as people call them.
    fn readers(&self, d: &Definition, side: usize) -> BTreeSet<(bool, PathBuf, Arc<str>)> {
        let all = self.reaches[side].readers(&d.unit.path, &d.global.symbol);
        let direct = all.into_iter().filter(|(_, direct)| *direct);
        direct.map(|((file, name), _)| (file != d.file, file, name)).collect()
    }

    fn words(&mut self, d: &Definition, side: usize) -> &Words {
        let tree = &self.request.versions[self.step + side].tree;
        let read = || Words::of(&tree.read(&d.file).unwrap_or_default());
        self.words[side].entry(d.file.clone()).or_insert_with(read)
    }

    /// Where a definition stands, with its head and its value as they are written.
    fn place(&mut self, d: &Definition, side: usize) -> (DefinitionSite, Vec<String>, Vec<String>) {
        let line = d.line;
        let found = self.words(d, side).declaration(line, &d.global.name);
        let (lines, head, value) = match found {
            Some(found) => (found.lines, without_calls(found.head), found.value),
            None => (line..=d.global.span.end_line.max(line), Vec::new(), Vec::new()),
        };
        (DefinitionSite { file: d.file.clone(), line, lines }, head, value)
    }

    /// The hunks that a definition meets.
    fn hunks(&self, places: [Option<&DefinitionSite>; 2]) -> Vec<HunkRef> {
        let mut found = BTreeSet::new();
        for (side, place) in places.into_iter().enumerate() {
            let Some(place) = place else { continue };
            for change in self.changes.iter().filter(|c| c.path(side) == Some(&place.file)) {
                let path = change.new_path.as_ref().or(change.old_path.as_ref());
                let meets = |h: &&Hunk| {
                    let lines = range_of(h, side);
                    lines.start <= *place.lines.end() && lines.end > *place.lines.start()
                };
                found.extend(change.hunks.iter().filter(meets).map(|h| HunkRef {
                    file: path.map(|p| RepoPath::from(p.as_path())).unwrap_or_default(),
                    old_start: h.old_start,
                    old_lines: h.old_lines,
                    new_start: h.new_start,
                    new_lines: h.new_lines,
                }));
            }
        }
        found.into_iter().collect()
    }

    /// Whether a definition is looked at although nothing of it differs.
    fn is_in_changed_file(&self, d: &Definition, side: usize) -> bool {
        self.changes.iter().any(|c| c.path(side) == Some(&d.file))
    }

    /// One object in both versions.
    fn compare(&mut self, old: &Definition, new: &Definition, outcome: ObjectOutcome) {
        let (a, b) = (old.global, new.global);
        let is_same = (a.size, &a.init, a.linkage, a.is_const, old.ty())
            == (b.size, &b.init, b.linkage, b.is_const, new.ty());
        if is_same && outcome == ObjectOutcome::Changed && !self.is_in_changed_file(new, 1) {
            return;
        }
        let (old_place, old_head, old_text) = self.place(old, 0);
        let (new_place, new_head, new_text) = self.place(new, 1);
        let hunks = self.hunks([Some(&old_place), Some(&new_place)]);
        if is_same && outcome == ObjectOutcome::Changed && hunks.is_empty() {
            return;
        }
        if is_of_function(&old_head) || is_of_function(&new_head) {
            return;
        }
        let values = self.value(old, 0, &old_place, new).zip(self.value(new, 1, &new_place, old));
        let mut told = Difference::of((old, new), values.as_ref());
        let is_written_alike = (&old_head, &old_text) == (&new_head, &new_text);
        let doubts = [
            old.doubt(&old_head, &old_text, &old_place.lines),
            new.doubt(&new_head, &new_text, &new_place.lines),
        ];
        // `int t[] = { 1 }` is as long as `int t[1] = { 1 }`.
        let is_as_long = (a.size, old.ty()) == (b.size, new.ty());
        let meant = |head: Vec<String>| if is_as_long { without_length(head) } else { head };
        if told.rows.is_empty()
            && meant(old.meant(&old_head)) != meant(new.meant(&new_head))
            && outcome != ObjectOutcome::Moved
        {
            told.rows.push(declared(&old_head, &new_head, &b.name));
        }
        let is_another = matches!(outcome, ObjectOutcome::Moved | ObjectOutcome::Renamed);
        let verdict = match told.open {
            Some(reason) => ObjectVerdict::Open(reason),
            // What the parser made of what it did not understand tells nothing.
            None if doubts.contains(&Some(true)) && !(is_written_alike && told.rows.is_empty()) => {
                ObjectVerdict::Open("source with errors".to_owned())
            }
            None if !told.rows.is_empty() || is_another => ObjectVerdict::Differs,
            // What is cut to a type that nobody declares is not known.
            None if !is_written_alike && doubts.contains(&Some(false)) => {
                ObjectVerdict::Open("a type that nothing declares".to_owned())
            }
            None => ObjectVerdict::Neutral,
        };
        let was = match outcome {
            ObjectOutcome::Renamed => Some(a.name.to_string()),
            ObjectOutcome::Moved => Some(RepoPath::from(old.file.as_path()).to_string()),
            _ => None,
        };
        let readers = match verdict {
            ObjectVerdict::Neutral => BTreeSet::new(),
            _ => &self.readers(new, 1) | &self.readers(old, 0),
        };
        self.add(new, (Some(old_place), Some(new_place)), outcome, was, told.rows, verdict, readers, hunks);
    }

    /// One object that one version has alone.
    fn alone(&mut self, d: &Definition, side: usize) {
        let (place, head, written) = self.place(d, side);
        let is_wrong = d.doubt(&head, &written, &place.lines) == Some(true);
        let value = self.value(d, side, &place, d);
        let (old, new) = if side == 0 { (Some(place), None) } else { (None, Some(place)) };
        let hunks = self.hunks([old.as_ref(), new.as_ref()]);
        // The functions that come and go are told, and what they have with them.
        let is_told = d.function.as_ref().is_none_or(|f| self.has_function(d, f, 1 - side));
        if !is_told {
            return;
        }
        let text = match &value {
            Some(value) if !is_wrong => format!("starts as {}", words::shown(value)),
            _ => "has a value that is not understood".to_owned(),
        };
        let (outcome, row) = match side {
            0 => (ObjectOutcome::Removed, Row::alone(0, text, None)),
            _ => (ObjectOutcome::Added, Row::alone(1, text, None)),
        };
        let verdict = match self.may_be_lost(d, side) {
            true => ObjectVerdict::Open("source with errors".to_owned()),
            false => ObjectVerdict::Differs,
        };
        let readers = self.readers(d, side);
        self.add(d, (old, new), outcome, None, vec![row], verdict, readers, hunks);
    }

    /// Whether the unit of an object has a function in the other version.
    fn has_function(&self, d: &Definition, name: &str, side: usize) -> bool {
        let path = match side {
            1 => self.renamed(&d.unit.path),
            _ => d.unit.path.clone(),
        };
        self.reaches[side].defined(&path, name).is_some()
    }

    /// Whether the other version has the object in text that the parser lost.
    fn may_be_lost(&mut self, d: &Definition, side: usize) -> bool {
        let other = 1 - side;
        let file = match side {
            0 => self.renamed(&d.file),
            _ => self.old_path(&d.file),
        };
        let tree = &self.request.versions[self.step + other].tree;
        let read = || Words::of(&tree.read(&file).unwrap_or_default());
        let words = self.words[other].entry(file.clone()).or_insert_with(read);
        d.function.is_none() && words.may_define(&d.global.name)
    }

    /// A path of the newer version in the older one.
    fn old_path(&self, file: &Path) -> PathBuf {
        let change = self.changes.iter().find(|c| c.new_path.as_deref() == Some(file));
        change.and_then(|c| c.old_path.clone()).unwrap_or_else(|| file.to_path_buf())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one record")]
    fn add(
        &mut self,
        d: &Definition,
        (old, new): (Option<DefinitionSite>, Option<DefinitionSite>),
        outcome: ObjectOutcome,
        was: Option<String>,
        mut rows: Vec<Row>,
        verdict: ObjectVerdict,
        readers: BTreeSet<(bool, PathBuf, Arc<str>)>,
        hunks: Vec<HunkRef>,
    ) {
        // What has two sides comes first, so that the first of either belong together.
        rows.sort_by_key(|r| r.before.is_none() || r.now.is_none());
        let mut names: Vec<String> = Vec::new();
        for (_, _, name) in readers {
            if !names.contains(&name.to_string()) {
                names.push(name.to_string());
            }
        }
        self.found.push(Found {
            step: self.step,
            old,
            new,
            name: d.global.name.clone(),
            function: d.function.clone(),
            ty: d.type_text(),
            outcome,
            was,
            rows,
            verdict,
            readers: names,
            files: Arc::new(d.unit.files.clone()),
            hunks,
        });
    }
}

impl Found {
    fn order(&self) -> (RepoPath, u32, Arc<str>) {
        let place = self.new.as_ref().or(self.old.as_ref());
        let file = place.map(|p| RepoPath::from(p.file.as_path())).unwrap_or_default();
        (file, place.map_or(0, |p| p.line), self.name.clone())
    }
}

fn range_of(h: &Hunk, side: usize) -> std::ops::Range<u32> {
    let (start, lines) = if side == 0 { (h.old_start, h.old_lines) } else { (h.new_start, h.new_lines) };
    start..start.saturating_add(lines)
}
