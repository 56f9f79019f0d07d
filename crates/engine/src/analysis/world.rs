//! Everything that was loaded, by version, with what was found out of it once for all functions; and one function's
//! classes in it.

use super::lineage::{self, Lineage, VersionFiles};
use super::reach::Reach;
use super::request::Options;
use super::watch::Watch;
use crate::interp::Program;
use crate::invariant::{Covered, Summary};
use crate::ir::{Expr, Function, Global, Unit};
use crate::mvicfg::{ClassId, VersionId};
use crate::report::RepoPath;
use crate::semantics::{Callees, library};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// What is known of functions of two versions: by file and name, and whether undefined behaviour counts.
pub(super) type CoveredMemo = Mutex<BTreeMap<(PathBuf, Arc<str>, Arc<str>, bool), Arc<Covered>>>;

/// By content and depth. A summary is computed by who asks first, and waited for by others.
pub(super) type SummaryMemo = Mutex<BTreeMap<(u32, String), Arc<OnceLock<Option<Arc<Summary>>>>>>;

/// Everything that was loaded, by version.
pub struct World<'w> {
    pub(super) watch: &'w dyn Watch,
    units: Vec<Vec<Arc<Unit>>>,
    /// Files that could not be loaded, by version.
    failed: Vec<BTreeSet<PathBuf>>,
    /// By version and unit. A program holds its units, so their addresses are not given away again.
    programs: Mutex<BTreeMap<(VersionId, usize), Arc<Program>>>,
    pub(super) reaches: Vec<Reach>,
    /// Steps at which not all files were taken that read a changed header.
    pub(super) cut: BTreeSet<usize>,
    /// By version: functions by the names that they get later, where nothing else of them changes.
    named_before: Vec<BTreeMap<Arc<str>, Arc<str>>>,
    pub(super) summaries: SummaryMemo,
    pub(super) covered: CoveredMemo,
    /// What went wrong with us, and where.
    faults: Mutex<BTreeSet<String>>,
}

impl World<'_> {
    pub(super) fn new<'w>(
        files: &[VersionFiles],
        reaches: Vec<Reach>,
        lineages: &[Lineage],
        watch: &'w dyn Watch,
    ) -> World<'w> {
        let mut units = Vec::new();
        let failed = |version: &VersionFiles| {
            let failed = version.iter().flatten().filter(|(_, loaded)| loaded.is_err());
            failed.map(|(path, _)| path.clone()).collect()
        };
        let failed = files.iter().map(failed).collect();
        for version in files {
            let mut list = Vec::new();
            for (_, loaded) in version.iter().flatten() {
                let Ok(loaded) = loaded else { continue };
                list.push(loaded.unit.clone());
            }
            units.push(list);
        }
        let before = |v: VersionId| -> BTreeMap<Arc<str>, Arc<str>> {
            let names = lineage::new_names(lineages, &reaches, v);
            names.into_iter().map(|(old, (_, new))| (new, old)).collect()
        };
        World {
            watch,
            named_before: VersionId::first(reaches.len()).map(before).collect(),
            reaches,
            cut: BTreeSet::new(),
            units,
            failed,
            programs: Mutex::default(),
            summaries: Default::default(),
            covered: Default::default(),
            faults: Mutex::default(),
        }
    }

    /// Takes down what went wrong with us at a function.
    pub(super) fn has_fault(&self, lineage: &Lineage, reason: &str) {
        let place =
            lineage.newest().map(|(_, m)| format!("{}: {}()", RepoPath::from(&m.file), m.function.name));
        if let Ok(mut faults) = self.faults.lock() {
            faults.insert(format!("{}: {reason}", place.unwrap_or_default()));
        }
    }

    /// What went wrong with us, as reports say it.
    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.lock().map(|faults| faults.iter().cloned().collect()).unwrap_or_default()
    }

    /// Whether what a file holds in a version is not known.
    pub fn is_unknown(&self, version: VersionId, file: &Path) -> bool {
        self.failed.get(version.index()).is_some_and(|f| f.contains(file))
    }

    /// Returns the program of a version as seen from one unit, or from one that stands in for it: its definitions
    /// win over those of the same name elsewhere (several `main`s, static functions).
    pub fn program(&self, version: VersionId, unit: &Arc<Unit>) -> Arc<Program> {
        let key = (version, Arc::as_ptr(unit) as usize);
        if let Ok(known) = self.programs.lock()
            && let Some(p) = known.get(&key)
        {
            return p.clone();
        }
        let program = Arc::new(self.link(version, unit.clone()));
        if let Ok(mut known) = self.programs.lock() {
            known.insert(key, program.clone());
        }
        program
    }

    /// Links a unit that stands in for the one of its path with the rest of a version.
    pub(super) fn link(&self, version: VersionId, unit: Arc<Unit>) -> Program {
        let others = self.units.get(version.index()).into_iter().flatten().filter(|u| u.path != unit.path);
        let units = std::iter::once(unit.clone()).chain(others.cloned()).collect();
        Program::new(units)
    }

    /// Identity of what a function does from any state: see [`Reach::does`].
    pub(super) fn identity(&self, version: VersionId, unit: &Unit, name: &str) -> Option<Arc<str>> {
        let own = self.name_in(version, unit, name);
        let does = self.reaches.get(version.index())?.does(&unit.path, own)?;
        Some(format!("{name}#{}", does.get(..12)?).into())
    }

    /// The function of a version that others call by a name.
    pub(super) fn resolve<'a>(
        &'a self,
        version: VersionId,
        unit: &'a Unit,
        name: &str,
    ) -> Option<&'a Function> {
        let name = self.name_in(version, unit, name);
        unit.callee(name).or_else(|| self.reaches.get(version.index())?.definition(&unit.path, name))
    }

    /// What a version calls the function that it, or the newest one, calls by a name.
    pub(super) fn name_in<'a>(&'a self, version: VersionId, unit: &Unit, name: &'a str) -> &'a str {
        let before = self.named_before.get(version.index()).and_then(|names| names.get(name));
        before.filter(|_| unit.function(name).is_none()).map_or(name, |before| before)
    }
}

/// One function over its classes, and how it is analysed.
pub(super) struct Context<'a> {
    pub(super) world: &'a World<'a>,
    /// By class: version and unit.
    pub(super) classes: Vec<(VersionId, Arc<Unit>)>,
    pub(super) options: &'a Options,
    /// Callees that were gone down to reach this one.
    pub(super) depth: u32,
}

impl Callees for Context<'_> {
    fn identity(&self, class: ClassId, name: &str) -> Option<Arc<str>> {
        let (version, unit) = self.classes.get(class.index())?;
        self.world.identity(*version, unit, name)
    }

    fn global(&self, class: ClassId, symbol: &str) -> Option<&Global> {
        self.classes.get(class.index())?.1.global(symbol)
    }

    fn row(&self, class: ClassId, name: &str, args: &[Expr]) -> Option<&'static library::Row> {
        library::row_of_call(&self.classes.get(class.index())?.1, name, args)
    }
}
