//! What a function of a version rests on in the whole tree: the files that its unit reads, and those that
//! define what it calls and reads, found by name.
//!
//! Cost: parsing these files; a search through the sources of the tree for each name that was not met before.

use super::bindings::is_library;
use super::lineage::VersionFiles;
use super::linked::{self, Name, Search};
use super::reach::Reach;
use super::text_lineage::{FunctionLocation, Moved};
use super::units::{LoadedUnit, Units, is_source};
use crate::history::SourceTree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Files beside the function's own that are parsed for what they define.
const MAX_FILES: usize = 8;

/// Finds the ground of functions, and remembers where names are defined.
#[derive(Default)]
pub(super) struct Grounds {
    /// Files that define a name in some version that was looked at.
    definers: BTreeMap<Name, BTreeSet<PathBuf>>,
    memory: linked::Memory,
}

/// What one function of one version rests on.
pub(super) struct Ground {
    /// The function's own file first.
    pub files: VersionFiles,
    pub reach: Reach,
    /// Every file that was read, or tried to.
    pub reads: BTreeSet<PathBuf>,
    /// All that is defined in the tree was found.
    pub is_whole: bool,
    /// It calls through pointers that others may have set.
    pub calls_unknown: bool,
    /// The names that nothing of this defines, or only weakly.
    open: BTreeSet<Name>,
    /// It is of a program's start, around which other functions may run, or of variables that these may
    /// write.
    is_hooked: bool,
}

impl Ground {
    pub fn own(&self) -> Option<&Arc<LoadedUnit>> {
        self.files.first()?.as_ref()?.1.as_ref().ok()
    }

    /// See [`Reach::whole`] and [`Reach::surroundings`].
    pub fn whole(&self, place: &FunctionLocation) -> Option<(Arc<str>, Arc<str>)> {
        let loaded = self.own()?;
        let f = loaded.functions.iter().find(|f| *f.function.name == *place.name)?;
        let around = self.reach.surroundings(loaded, &f.function);
        let begun = self.reach.beginnings(&place.file, &place.name);
        Some((self.reach.whole(&place.file, &place.name)?, format!("{around}{begun}").into()))
    }

    /// Whether a file that is not among what it reads may change what it is.
    pub fn is_open(&self) -> bool {
        self.is_hooked || self.open.iter().any(|(is_function, name)| !is_function || !is_library(name))
    }

    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().flatten().map(|(path, _)| path)
    }
}

impl Grounds {
    /// Finds what a function rests on in a tree.
    pub fn of(&mut self, tree: &dyn SourceTree, place: &FunctionLocation, units: &Units) -> Ground {
        let mut files: VersionFiles = Vec::new();
        let mut reads = BTreeSet::new();
        let mut is_whole = true;
        let mut wanted = vec![place.file.clone()];
        let mut is_hooked = false;
        loop {
            for path in wanted {
                let loaded = units.load(tree, &path);
                reads.extend(units.reads(tree, &path));
                files.push(Some((path, loaded)));
            }
            let reach = Reach::of(&files);
            let known: BTreeSet<PathBuf> = files.iter().flatten().map(|(path, _)| path.clone()).collect();
            let mut open = reach.missing(&place.file, &place.name);
            open.extend(reach.tentative(&place.file, &place.name));
            let mut more: BTreeSet<PathBuf> = BTreeSet::new();
            for name in &open {
                let found = self.definers_of(tree, name, &known);
                let one = linked::chosen(&found, &place.file).or(found.first());
                // Of several programs, this is of one.
                is_whole &= found.len() < 2 || linked::chosen(&found, &place.file).is_some();
                more.extend(one.cloned());
            }
            let is_start = place.name == "main";
            if !is_hooked && (is_start || reach.shares_variables(&place.file, &place.name)) {
                is_hooked = true;
                let search = Search { hooks: true, ..Search::default() };
                more.extend(linked::search(tree, &known, &search, &self.memory).hooks);
            }
            while more.len() + known.len() > MAX_FILES + 1 {
                more.pop_last();
                is_whole = false;
            }
            if more.is_empty() {
                let calls_unknown = reach.calls_unknown(&place.file, &place.name);
                return Ground { files, reach, reads, is_whole, calls_unknown, open, is_hooked };
            }
            wanted = more.into_iter().collect();
        }
    }

    /// The sources of a tree that define a name for all files, but for those that are known. Of library
    /// functions only those that a step was seen to change.
    fn definers_of(&mut self, tree: &dyn SourceTree, name: &Name, known: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        if !self.definers.contains_key(name) {
            let defined = BTreeSet::from([name.clone()]);
            let search = Search { defined, ..Search::default() }.without(&Search::default());
            let found = linked::search(tree, &BTreeSet::new(), &search, &self.memory);
            self.definers.insert(name.clone(), found.definers.into_values().flatten().collect());
        }
        let candidates = self.definers.get(name).into_iter().flatten();
        let defines = |path: &&PathBuf| tree.read(path).is_some_and(|text| linked::defines(&text, name));
        candidates.filter(|p| !known.contains(*p)).filter(defines).cloned().collect()
    }

    /// Whether files that a step changes may give another meaning to what a function of the newer version
    /// rests on without being among what it reads there.
    pub fn is_touched(&mut self, trees: [&dyn SourceTree; 2], changed: &[Moved], after: &Ground) -> bool {
        let mut is_touched = false;
        let [old, new] = trees;
        let files = changed.iter().flat_map(|(a, b)| [(old, a.as_ref()), (new, b.as_ref())]);
        for (tree, path) in files.filter_map(|(tree, path)| Some((tree, path.filter(|p| is_source(p))?))) {
            let Some(text) = tree.read(path) else { continue };
            for name in after.open.iter().filter(|name| linked::defines(&text, name)) {
                is_touched = true;
                self.definers.entry(name.clone()).or_default().insert(path.clone());
            }
            is_touched |= after.is_hooked && linked::may_hook(&text);
        }
        is_touched
    }
}
