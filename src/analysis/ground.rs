//! What a function of a version rests on in the whole tree: the files that its unit reads, and those that
//! define what it calls and reads, found by name.
//!
//! Cost: parsing these files; a search through the sources of the tree for each name that was not met before.

use super::elsewhere;
use super::follow::Place;
use super::lineage::VersionFiles;
use super::reach::Reach;
use super::units::{LoadedUnit, Units, is_source};
use crate::frontend::c::slice::Items;
use crate::history::SourceTree;
use crate::{interp, semantics::library};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Files beside the function's own that are parsed for what they define.
const MAX_FILES: usize = 8;

/// Finds the ground of functions, and remembers where names are defined.
#[derive(Default)]
pub(super) struct Grounds {
    definers: BTreeMap<(bool, Arc<str>), Option<PathBuf>>,
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
}

impl Ground {
    pub fn own(&self) -> Option<&Arc<LoadedUnit>> {
        self.files.first()?.as_ref()?.1.as_ref().ok()
    }

    /// See [`Reach::whole`].
    pub fn whole(&self, place: &Place) -> Option<Arc<str>> {
        self.reach.whole(&place.file, &place.name)
    }

    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().flatten().map(|(path, _)| path)
    }
}

impl Grounds {
    /// Finds what a function rests on in a tree.
    pub fn of(&mut self, tree: &dyn SourceTree, place: &Place, units: &Units) -> Ground {
        let mut files: VersionFiles = Vec::new();
        let mut reads = BTreeSet::new();
        let mut is_whole = true;
        let mut wanted = vec![place.file.clone()];
        loop {
            for path in wanted {
                let loaded = units.load(tree, &path);
                reads.extend(units.reads(tree, &path));
                files.push(Some((path, loaded)));
            }
            let reach = Reach::of(&files);
            let known: BTreeSet<PathBuf> = files.iter().flatten().map(|(path, _)| path.clone()).collect();
            let mut missing = reach.missing(&place.file, &place.name);
            missing.retain(|(_, name)| library::row(name).is_none() && !interp::is_library(name));
            let mut more: BTreeSet<PathBuf> = missing
                .iter()
                .filter_map(|name| self.definer(tree, name))
                .filter(|p| !known.contains(p))
                .collect();
            while more.len() + known.len() > MAX_FILES + 1 {
                more.pop_last();
                is_whole = false;
            }
            if more.is_empty() {
                return Ground { files, reach, reads, is_whole };
            }
            wanted = more.into_iter().collect();
        }
    }

    /// The source that defines a name for all files; none where there is none.
    fn definer(&mut self, tree: &dyn SourceTree, name: &(bool, Arc<str>)) -> Option<PathBuf> {
        let defines = |path: &PathBuf| {
            let text = tree
                .read(path)
                .filter(|text| elsewhere::mentions(text, &BTreeSet::from([name.1.as_bytes()])))?;
            Items::of(&text).is_defined_for_all(&name.1, name.0).then(|| path.clone())
        };
        match self.definers.get(name) {
            Some(None) => return None,
            Some(Some(path)) if defines(path).is_some() => return Some(path.clone()),
            _ => {}
        }
        let mut paths: Vec<PathBuf> = tree.paths().iter().filter(|p| is_source(p)).cloned().collect();
        paths.sort();
        paths.truncate(elsewhere::MAX_SEARCHED);
        let found = paths.par_iter().find_map_first(defines);
        self.definers.insert(name.clone(), found.clone());
        found
    }
}
