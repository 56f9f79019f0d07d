//! The units of a range that are loaded, by version, and their functions through the versions.
//!
//! Loaded is what the range changes, and what it reaches in files that it does not touch: those that include
//! a changed file, those that name an object that begins with another value, and what a program whose
//! `main` changes is linked with (`linked.rs`).

use super::lineage::{self, Lineage, Member, VersionFiles};
use super::linked::{self, MAX_FURTHER, MAX_LINKED, Name, Search};
use super::mentions::Taken;
use super::portion::load_within;
use super::reach::Reach;
use super::request::{Effort, Request, VersionInput};
use super::units::{LoadResult, LoadedUnit, Units, is_header, is_source};
use super::watch::{Unwatched, Watch};
use super::{bindings, classes, elsewhere, files, renamed};
use crate::history::SourceTree;
use crate::ir::Linkage;
use crate::mvicfg::{ClassId, VersionId};
use crate::report::filter::glob_matches;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Most files that are parsed for nothing but the changed objects that they name.
const MAX_READERS: usize = 4;

pub(super) struct Loaded<'w> {
    pub units: Units,
    pub by_version: Vec<VersionFiles>,
    pub reaches: Vec<Reach>,
    pub lineages: Vec<Lineage>,
    /// Steps at which not all files were taken that read a changed header.
    pub cut: BTreeSet<usize>,
    /// What a limit left out, for people.
    pub notices: Vec<String>,
    /// What a change reaches in other files was looked for, and which definitions names lead to.
    pub is_linked: bool,
    watch: &'w dyn Watch,
}

/// The names that one version defines for other files and its neighbour does not.
pub(super) fn relinked(reaches: &[Reach]) -> BTreeSet<Name> {
    let strong: Vec<BTreeSet<Name>> = reaches.iter().map(Reach::strong_names).collect();
    let mut found: BTreeSet<Name> = BTreeSet::new();
    for pair in strong.windows(2) {
        found.extend(pair[0].symmetric_difference(&pair[1]).cloned());
    }
    found.remove(&(true, "main".into()));
    found
}

/// Whether the newest version has so few C files that a first look may look through all of them.
fn has_few_files(request: &Request) -> bool {
    const FEW: usize = 16;
    let Some(newest) = request.versions.last().filter(|_| request.analysis.effort != Effort::Quick) else {
        return false;
    };
    newest.tree.paths().iter().filter(|p| is_source(p) || is_header(p)).nth(FEW).is_none()
}

impl Loaded<'static> {
    /// Loads the units that a range reaches and links their functions through the versions.
    pub fn of(request: &Request) -> Loaded<'static> {
        Loaded::until(request, (&Unwatched, &Taken::default()))
    }
}

impl<'w> Loaded<'w> {
    /// The same; no file is begun that is not begun when the work is over.
    pub fn until(request: &Request, (watch, taken): (&'w dyn Watch, &Taken)) -> Loaded<'w> {
        let files::Followed { files, cut, mut notices } = files::lineages(request, taken);
        let mut units = Units::new(request.options.clone(), request.analysis.limits.inline_depth);
        units.keep(crate::invariant::events(&request.analysis.specification.protocols));
        units.open(files::included(request, &files));
        let changed = request.changes.iter().flatten().flat_map(|c| c.old_path.iter().chain(&c.new_path));
        units.watch(changed.cloned().collect());
        let paths: Vec<Vec<Option<PathBuf>>> = files.into_iter().map(|f| f.paths).collect();
        let (by_version, left_out) = load_within(request, (&units, watch), &paths);
        notices.extend((left_out > 0).then(|| {
            format!("note: {left_out} more of {} files were not looked at; --effort deep does", paths.len())
        }));
        let (reaches, lineages) = (Vec::new(), Vec::new());
        let is_linked = !request.analysis.is_local() || has_few_files(request);
        let mut loaded = Loaded { units, by_version, reaches, lineages, cut, notices, is_linked, watch };
        loaded.link(request);
        if !is_linked {
            return loaded;
        }
        let changed = &loaded.changed_objects() | &loaded.begun_objects();
        loaded.add_naming(request, &changed, MAX_READERS);
        loaded.add_linked(request);
        if request.analysis.properties_only {
            loaded.add_asserting(request);
        }
        loaded
    }

    /// Loads the files that define what changed functions call, where that asserts something itself: whether
    /// it holds may be for the caller to see to.
    pub fn add_asserting(&mut self, request: &Request) {
        let Some(newest) = request.versions.last().filter(|_| !request.analysis.whole) else { return };
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        let changed = self.lineages.iter().filter(|l| classes::is_changed(l));
        let mut names: BTreeMap<PathBuf, BTreeSet<Name>> = BTreeMap::new();
        for (_, m) in changed.filter_map(|l| l.newest()) {
            let Some(reach) = self.reaches.last() else { continue };
            let called = m.inlined.nodes.iter().flat_map(|n| n.instr.named_callees());
            let missing = called.filter(|name| reach.definition(&m.file, name).is_none());
            names.entry(m.file.clone()).or_default().extend(missing.map(|name| (true, name.clone())));
        }
        let known = self.by_version.iter().flatten().flatten().map(|(path, _)| path.clone()).collect();
        let defined = names.values().flatten().cloned().collect();
        let search = Search { defined, asserting: true, ..Search::default() }.without(&Search::default());
        let found = linked::search(&*newest.tree, &known, &search, &linked::Memory::default());
        for (beside, defined) in &names {
            let definers = defined.iter().filter_map(|name| found.definers.get(name));
            asked.extend(definers.filter_map(|paths| linked::chosen(paths, beside)).cloned());
        }
        let left_out = asked.len().saturating_sub(MAX_FURTHER);
        if left_out > 0 {
            self.notices.push(format!(
                "note: {left_out} more files were not looked at for what changed functions must see to"
            ));
        }
        let paths: Vec<PathBuf> = asked.into_iter().take(MAX_FURTHER).collect();
        self.add_files(request, &paths);
    }

    /// Loads what the programs of the range are linked with and what decides which definitions names lead
    /// to, and links all again.
    fn add_linked(&mut self, request: &Request) {
        let Some(newest) = request.versions.last().filter(|_| !request.analysis.whole) else { return };
        let (memory, mut asked) = (linked::Memory::default(), Search::default());
        let (mut room, mut further, mut left_out) = (MAX_LINKED, MAX_FURTHER, BTreeSet::new());
        loop {
            let (search, beside) = self.unlinked(&asked);
            let known = self.by_version.iter().flatten().flatten().map(|(path, _)| path.clone()).collect();
            let found = linked::search(&*newest.tree, &known, &search, &memory);
            asked.join(search);
            let mut paths = found.chosen(&beside);
            // What does not decide which definitions names lead to only lets runs go on.
            let decides = |path: &PathBuf| found.decides(path, |name| self.is_replaceable(name));
            let (deciding, plain): (Vec<PathBuf>, Vec<PathBuf>) = paths.drain(..).partition(decides);
            left_out.extend(deciding.iter().skip(room).cloned());
            paths.extend(deciding.into_iter().take(room));
            room -= paths.len();
            let more = plain.len().min(room).min(further);
            paths.extend(plain.into_iter().take(more));
            (room, further) = (room - more, further - more);
            if paths.is_empty() {
                break;
            }
            self.add_files(request, &paths);
        }
        if !left_out.is_empty() {
            let more = left_out.len();
            self.notices.push(format!(
                "note: {more} more files were not looked at for what the program is linked with"
            ));
        }
    }

    /// Whether a definition in another file may take the place of one that was loaded.
    fn is_replaceable(&self, name: &Name) -> bool {
        let is_defined = |reach: &Reach| reach.weak_names().contains(name) || !name.0;
        &*name.1 == "main" || self.reaches.iter().any(is_defined)
    }

    /// What is not known yet of what names lead to, beside what was asked before, and the file from which
    /// it is looked for.
    fn unlinked(&self, asked: &Search) -> (Search, PathBuf) {
        let (mut wanted, mut beside) = (Search::default(), PathBuf::new());
        for l in self.lineages.iter().filter(|l| classes::is_changed(l)) {
            for (m, reach) in l.members.iter().zip(&self.reaches) {
                let Some(m) = m.as_ref().filter(|m| &*m.function.name == "main") else { continue };
                wanted.hooks = true;
                beside.clone_from(&m.file);
                wanted.defined.extend(reach.missing(&m.file, "main"));
                wanted.defined.extend(reach.tentative(&m.file, "main"));
            }
        }
        // What runs around it changes a program whose start stays.
        let texts: BTreeSet<String> = self.by_version.iter().map(hooks).collect();
        if texts.len() > 1 {
            wanted.defined.insert((true, "main".into()));
            let own =
                |(path, l): &(PathBuf, LoadResult)| l.as_ref().is_ok_and(has_hooks).then(|| path.clone());
            beside = self.by_version.iter().flatten().flatten().find_map(own).unwrap_or(beside);
        }
        for reach in &self.reaches {
            wanted.defined.extend(reach.weak_names());
        }
        wanted.named.extend(relinked(&self.reaches).into_iter().map(|(_, name)| name));
        (wanted.without(asked), beside)
    }

    fn link(&mut self, request: &Request) {
        renamed::align(&mut self.by_version, &self.units);
        self.reaches = self.by_version.iter().map(Reach::of).collect();
        let wanted = |l: &Lineage| match (&request.analysis.function, l.newest()) {
            (Some(glob), Some((_, m))) => glob_matches(glob.as_bytes(), m.function.name.as_bytes()),
            _ => true,
        };
        let lineages = lineage::link(&self.by_version, &self.reaches);
        self.lineages = lineages.into_iter().filter(wanted).collect();
        // Whoever names what another definition takes the place of is looked at for that.
        let relinked = relinked(&self.reaches);
        let objects: BTreeSet<Name> = relinked.iter().filter(|name| !name.0).cloned().collect();
        for l in self.lineages.iter_mut().filter(|l| !relinked.is_empty() && !classes::is_changed(l)) {
            let has = |names: &BTreeSet<Name>| {
                let of = |(m, reach): (&Option<Member>, &Reach)| {
                    m.as_ref().is_some_and(|m| reach.names_one_of(&m.file, &m.function.name, names))
                };
                l.members.iter().zip(&self.reaches).any(of)
            };
            if has(&relinked) {
                l.salt = salt(l, &self.reaches, has(&objects));
            }
        }
        // Callers of what changed are looked for by themselves, but where one function is asked about.
        if request.analysis.function.is_some() {
            for l in self.lineages.iter_mut().filter(|l| !classes::is_changed(l)) {
                l.salt = salt(l, &self.reaches, false);
            }
        }
    }

    /// Loads files that name something, too, and links all again; whether there are any.
    fn add_naming(&mut self, request: &Request, names: &BTreeSet<Arc<str>>, most: usize) -> bool {
        let Some(newest) = request.versions.last().filter(|_| !names.is_empty()) else { return false };
        let known = self.by_version.iter().flatten().flatten().map(|(path, _)| path.clone()).collect();
        let found = elsewhere::naming(&*newest.tree, &known, names, &BTreeSet::new(), most);
        self.notices.extend(found.notices("what the change reaches"));
        self.add_files(request, &found.files);
        !found.files.is_empty()
    }

    /// Loads further files in all versions that have them, and links all again.
    fn add_files(&mut self, request: &Request, files: &[PathBuf]) {
        let there = |path: &PathBuf| -> Vec<Option<PathBuf>> {
            let has = |v: &VersionInput| v.tree.content_id(path).map(|_| path.clone());
            request.versions.iter().map(has).collect()
        };
        let paths: Vec<Vec<Option<PathBuf>>> = files.iter().map(there).collect();
        for (version, more) in
            self.by_version.iter_mut().zip(load(request, (&self.units, self.watch), &paths))
        {
            version.extend(more);
        }
        if !paths.is_empty() {
            self.link(request);
        }
    }

    /// Loads the files that name functions which differ between the first and the last version, or objects
    /// that begin otherwise, and what names those in turn: `most` files at most.
    pub fn add_callers(&mut self, request: &Request, mut most: usize) {
        let mut asked: BTreeSet<Arc<str>> = BTreeSet::new();
        loop {
            let mut names = self.changed_functions();
            names.retain(|name| asked.insert(name.clone()));
            let before = self.by_version.first().map_or(0, Vec::len);
            if !self.add_naming(request, &names, most) {
                return;
            }
            most -= (self.by_version.first().map_or(0, Vec::len) - before).min(most);
        }
    }

    /// Functions with a name outside their files that differ between the first and the last version.
    fn changed_functions(&self) -> BTreeSet<Arc<str>> {
        let mut found = BTreeSet::new();
        let (Some(old), Some(new)) = (self.reaches.first(), self.reaches.last()) else { return found };
        for l in &self.lineages {
            if let (Some(Some(a)), Some(Some(b))) = (l.members.first(), l.members.last())
                && !b.function.is_static
                && old.whole(&a.file, &a.function.name) != new.whole(&b.file, &b.function.name)
            {
                found.extend([a.function.name.clone(), b.function.name.clone()]);
            }
        }
        // Every program has a start; nobody calls it.
        found.retain(|name| **name != *"main");
        found
    }

    /// Symbols of objects with a name outside their files to which what runs before the program's start gives
    /// other values from one version to the next, or may.
    fn begun_objects(&self) -> BTreeSet<Arc<str>> {
        let begun: Vec<BTreeSet<_>> = self.reaches.iter().map(Reach::begun).collect();
        let differing = begun.windows(2).flat_map(|pair| pair[0].symmetric_difference(&pair[1]));
        differing.map(|(symbol, _)| symbol.clone()).collect()
    }

    /// Symbols of objects with a name outside their files that begin otherwise from one version to the next,
    /// themselves or by what they lead to: what only has a name in its file is reached through them.
    fn changed_objects(&self) -> BTreeSet<Arc<str>> {
        let mut found = BTreeSet::new();
        for (pair, reach) in self.by_version.windows(2).zip(self.reaches.windows(2)) {
            for (old, new) in pair[0].iter().zip(&pair[1]) {
                let (Some((before, Ok(old))), Some((after, Ok(new)))) = (old, new) else { continue };
                if Arc::ptr_eq(old, new) {
                    continue;
                }
                for g in new.unit.globals.iter().filter(|g| g.linkage == Linkage::External) {
                    let defined = old.unit.global(&g.symbol).filter(|b| b.linkage == Linkage::External);
                    let begins = |reach: &Reach, file| reach.begins(file, &g.symbol);
                    if defined.is_some_and(|b| b.size != g.size)
                        || defined.is_some() && begins(&reach[0], before) != begins(&reach[1], after)
                    {
                        found.insert(g.symbol.clone());
                    }
                }
            }
        }
        found
    }
}

/// Tells versions of a function apart by what they do with all that they call; nothing, where that is one.
/// `whole`: and by what the objects that they name begin with.
fn salt(l: &Lineage, reaches: &[Reach], whole: bool) -> Vec<Vec<Option<ClassId>>> {
    let does = |(v, m): (VersionId, &Option<Member>)| {
        let m = m.as_ref()?;
        let reach = reaches.get(v.index())?;
        match whole {
            true => reach.whole(&m.file, &m.function.name),
            false => reach.does(&m.file, &m.function.name),
        }
    };
    let all: Vec<Option<Arc<str>>> = VersionId::each(&l.members).map(does).collect();
    let kinds: BTreeSet<&Arc<str>> = all.iter().flatten().collect();
    let number =
        |does: &Option<Arc<str>>| kinds.iter().position(|k| Some(*k) == does.as_ref()).map(ClassId::new);
    match kinds.len() {
        0 | 1 => Vec::new(),
        _ => all.iter().map(|does| vec![number(does)]).collect(),
    }
}

/// What runs around `main` of a version's files, by name.
fn hooks(files: &VersionFiles) -> String {
    let units = files.iter().flatten().filter_map(|(_, loaded)| loaded.as_ref().ok());
    let of = |l: &Arc<LoadedUnit>| bindings::hooks_of(l);
    units.map(of).collect()
}

fn has_hooks(loaded: &Arc<LoadedUnit>) -> bool {
    !bindings::hooks_of(loaded).is_empty()
}

/// The units of files, by version and file.
pub(super) fn load(
    request: &Request,
    (units, watch): (&Units, &dyn Watch),
    files: &[Vec<Option<PathBuf>>],
) -> Vec<VersionFiles> {
    let mut requests: Vec<(Arc<dyn SourceTree>, PathBuf)> = Vec::new();
    for (v, version) in request.versions.iter().enumerate() {
        requests.extend(files.iter().filter_map(|f| Some((version.tree.clone(), f.get(v)?.clone()?))));
    }
    let mut loaded = units.load_all(&requests, watch).into_iter();
    // A header that is no unit by itself is read by those that include it all the same.
    let is_read = |(path, loaded): &(PathBuf, LoadResult)| loaded.is_ok() || !is_header(path);
    let mut file = |path: Option<PathBuf>| path.and_then(|p| Some((p, loaded.next()?))).filter(is_read);
    (0..request.versions.len())
        .map(|v| files.iter().map(|f| file(f.get(v).cloned().flatten())).collect())
        .collect()
}
