//! The units of a range that are loaded, by version, and their functions through the versions.
//!
//! Loaded is what the range changes, and what it reaches in files that it does not touch: those that include
//! a changed file, and those that name an object that begins with another value.

use super::lineage::{self, Lineage, Member, VersionFiles};
use super::reach::Reach;
use super::units::{LoadResult, Units, is_header};
use super::{Request, classes, elsewhere, files};
use crate::history::SourceTree;
use crate::ir::Linkage;
use crate::report::filter::glob_matches;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Most files that are parsed for nothing but the changed objects that they name.
const MAX_READERS: usize = 4;

pub(super) struct Loaded {
    pub units: Units,
    pub by_version: Vec<VersionFiles>,
    pub reaches: Vec<Reach>,
    pub lineages: Vec<Lineage>,
    /// What a limit left out, for people.
    pub notices: Vec<String>,
}

impl Loaded {
    /// Loads the units that a range reaches and links their functions through the versions.
    pub fn of(request: &Request) -> Loaded {
        let files = files::lineages(request);
        let mut units = Units::new(request.options.clone(), request.analysis.inline_depth);
        units.open(files::included(request, &files));
        let paths: Vec<Vec<Option<PathBuf>>> = files.into_iter().map(|f| f.paths).collect();
        let by_version = load(request, &units, &paths);
        let (reaches, lineages, notices) = (Vec::new(), Vec::new(), Vec::new());
        let mut loaded = Loaded { units, by_version, reaches, lineages, notices };
        let changed = loaded.changed_objects();
        if !loaded.add_naming(request, &changed, MAX_READERS) {
            loaded.link(request);
        }
        loaded
    }

    fn link(&mut self, request: &Request) {
        self.reaches = self.by_version.iter().map(Reach::of).collect();
        let wanted = |l: &Lineage| match (&request.analysis.function, l.newest()) {
            (Some(glob), Some((_, m))) => glob_matches(glob.as_bytes(), m.function.name.as_bytes()),
            _ => true,
        };
        let lineages = lineage::link(&self.by_version, &self.reaches);
        self.lineages = lineages.into_iter().filter(wanted).collect();
        // Callers of what changed are looked for by themselves, but where one function is asked about.
        if request.analysis.function.is_some() {
            for l in self.lineages.iter_mut().filter(|l| !classes::is_changed(l)) {
                l.salt = salt(l, &self.reaches);
            }
        }
    }

    /// Loads files that name something, too, and links all again; whether there are any.
    fn add_naming(&mut self, request: &Request, names: &BTreeSet<Arc<str>>, most: usize) -> bool {
        let Some(newest) = request.versions.last().filter(|_| !names.is_empty()) else { return false };
        let known = self.by_version.iter().flatten().flatten().map(|(path, _)| path.clone()).collect();
        let found = elsewhere::naming(&*newest.tree, &known, names, &BTreeSet::new(), most);
        self.notices.extend(found.notices("what the change reaches"));
        let there = |path: &PathBuf| -> Vec<Option<PathBuf>> {
            let has = |v: &super::VersionInput| v.tree.content_id(path).map(|_| path.clone());
            request.versions.iter().map(has).collect()
        };
        let paths: Vec<Vec<Option<PathBuf>>> = found.files.iter().map(there).collect();
        for (version, more) in self.by_version.iter_mut().zip(load(request, &self.units, &paths)) {
            version.extend(more);
        }
        if !paths.is_empty() {
            self.link(request);
        }
        !paths.is_empty()
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

    /// Symbols of objects with a name outside their files that begin otherwise from one version to the next.
    fn changed_objects(&self) -> BTreeSet<Arc<str>> {
        let mut found = BTreeSet::new();
        for pair in self.by_version.windows(2) {
            for (old, new) in pair[0].iter().zip(&pair[1]) {
                let (Some((_, Ok(old))), Some((_, Ok(new)))) = (old, new) else { continue };
                if Arc::ptr_eq(old, new) {
                    continue;
                }
                for g in new.unit.globals.iter().filter(|g| g.linkage == Linkage::External) {
                    let before = old.unit.global(&g.symbol).filter(|b| b.linkage == Linkage::External);
                    if before.is_some_and(|b| (b.size, &b.init) != (g.size, &g.init)) {
                        found.insert(g.symbol.clone());
                    }
                }
            }
        }
        found
    }
}

/// Tells versions of a function apart by what they do with all that they call; nothing, where that is one.
fn salt(l: &Lineage, reaches: &[Reach]) -> Vec<Vec<Option<usize>>> {
    let does = |(v, m): (usize, &Option<Member>)| {
        let m = m.as_ref()?;
        reaches.get(v)?.does(&m.file, &m.function.name)
    };
    let all: Vec<Option<Arc<str>>> = l.members.iter().enumerate().map(does).collect();
    let kinds: BTreeSet<&Arc<str>> = all.iter().flatten().collect();
    let number = |does: &Option<Arc<str>>| does.as_ref().and_then(|d| kinds.iter().position(|k| *k == d));
    match kinds.len() {
        0 | 1 => Vec::new(),
        _ => all.iter().map(|does| vec![number(does)]).collect(),
    }
}

/// The units of files, by version and file.
fn load(request: &Request, units: &Units, files: &[Vec<Option<PathBuf>>]) -> Vec<VersionFiles> {
    let mut requests: Vec<(Arc<dyn SourceTree>, PathBuf)> = Vec::new();
    for (v, version) in request.versions.iter().enumerate() {
        requests.extend(files.iter().filter_map(|f| Some((version.tree.clone(), f.get(v)?.clone()?))));
    }
    let mut loaded = units.load_all(&requests).into_iter();
    // A header that is no unit by itself is read by those that include it all the same.
    let is_read = |(path, loaded): &(PathBuf, LoadResult)| loaded.is_ok() || !is_header(path);
    let mut file = |path: Option<PathBuf>| path.and_then(|p| Some((p, loaded.next()?))).filter(is_read);
    (0..request.versions.len())
        .map(|v| files.iter().map(|f| file(f.get(v).cloned().flatten())).collect())
        .collect()
}
