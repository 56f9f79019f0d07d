//! Classes of versions with equal bodies, and the analysis of one function over them.

use super::lineage::{self, Lineage, Member, VersionFiles};
use super::reach::Reach;
use super::{Options, Watch, difference, function, layouts, summaries};
use crate::fault;
use crate::interp::Program;
use crate::invariant::FunctionDiff;
use crate::ir::{Expr, Function, Global, Unit};
use crate::report::RepoPath;
use crate::semantics::{Callees, library};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Why a function is open that was not begun in time.
pub(super) const OUT_OF_TIME: &str = "not finished within the time limit";

/// Everything that was loaded, by version.
pub struct World<'w> {
    pub(super) watch: &'w dyn Watch,
    units: Vec<Vec<Arc<Unit>>>,
    /// Files that could not be loaded, by version.
    failed: Vec<BTreeSet<PathBuf>>,
    /// By version and unit. A program holds its units, so their addresses are not given away again.
    programs: Mutex<BTreeMap<(usize, usize), Arc<Program>>>,
    pub(super) reaches: Vec<Reach>,
    /// By version: functions by the names that they get later, where nothing else of them changes.
    named_before: Vec<BTreeMap<Arc<str>, Arc<str>>>,
    pub(super) summaries: summaries::Memo,
    pub(super) harmless: difference::Memo,
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
        let before = |v: usize| -> BTreeMap<Arc<str>, Arc<str>> {
            let names = lineage::new_names(lineages, &reaches, v);
            names.into_iter().map(|(old, (_, new))| (new, old)).collect()
        };
        World {
            watch,
            named_before: (0..reaches.len()).map(before).collect(),
            reaches,
            units,
            failed,
            programs: Mutex::default(),
            summaries: Default::default(),
            harmless: Default::default(),
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
    pub fn is_unknown(&self, version: usize, file: &Path) -> bool {
        self.failed.get(version).is_some_and(|f| f.contains(file))
    }

    /// Returns the program of a version as seen from one unit, or from one that stands in for it: its definitions
    /// win over those of the same name elsewhere (several `main`s, static functions).
    pub fn program(&self, version: usize, unit: &Arc<Unit>) -> Arc<Program> {
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
    pub(super) fn link(&self, version: usize, unit: Arc<Unit>) -> Program {
        let others = self.units.get(version).into_iter().flatten().filter(|u| u.path != unit.path);
        let units = std::iter::once(unit.clone()).chain(others.cloned()).collect();
        Program::new(units)
    }

    /// Identity of what a function does from any state: see [`Reach::does`].
    pub(super) fn identity(&self, version: usize, unit: &Unit, name: &str) -> Option<Arc<str>> {
        let own = self.name_in(version, unit, name);
        let does = self.reaches.get(version)?.does(&unit.path, own)?;
        Some(format!("{name}#{}", does.get(..12)?).into())
    }

    /// The function of a version that others call by a name.
    pub(super) fn resolve<'a>(&'a self, version: usize, unit: &'a Unit, name: &str) -> Option<&'a Function> {
        let name = self.name_in(version, unit, name);
        unit.callee(name).or_else(|| self.reaches.get(version)?.definition(&unit.path, name))
    }

    /// What a version calls the function that it, or the newest one, calls by a name.
    pub(super) fn name_in<'a>(&'a self, version: usize, unit: &Unit, name: &'a str) -> &'a str {
        let before = self.named_before.get(version).and_then(|names| names.get(name));
        before.filter(|_| unit.function(name).is_none()).map_or(name, |before| before)
    }
}

/// A function's classes and what was found.
pub struct Analysed {
    /// By version: the class, where the function exists.
    pub class_of: Vec<Option<usize>>,
    /// By class: its first version.
    pub representative: Vec<usize>,
    /// `None`: nothing to analyse.
    pub diff: Option<FunctionDiff>,
    /// Where only properties are asked for: no assertion fails that did not fail before, by difference
    /// verification.
    pub is_harmless: bool,
    /// There, a run shows callers a difference.
    pub is_shown: bool,
}

impl Analysed {
    /// Which versions differ, and nothing that was found.
    pub(super) fn classes_alone(lineage: &Lineage) -> Analysed {
        let (class_of, representative) = classify(lineage);
        Analysed { class_of, representative, diff: None, is_harmless: false, is_shown: false }
    }

    /// The same of a function that changes, and of which nothing is asked at its exit.
    pub(super) fn not_asked(lineage: &Lineage) -> Analysed {
        let (class_of, representative) = classify(lineage);
        Analysed::open(class_of, representative, "not asked for")
    }

    /// What is left where nothing could be said.
    fn open(class_of: Vec<Option<usize>>, representative: Vec<usize>, reason: &str) -> Analysed {
        let diff = Some(FunctionDiff::nothing(reason.to_owned()));
        Analysed { class_of, representative, diff, is_harmless: false, is_shown: false }
    }
}

/// Groups the versions of a lineage by body and by the constants that the body reads. Where nothing
/// changes but the numbers that `__LINE__` gives, nothing does.
pub(super) fn classify(lineage: &Lineage) -> (Vec<Option<usize>>, Vec<usize>) {
    let loose = grouped(lineage, &|m| m.body.to_string());
    // A class stands for all of its versions: facts name constants.
    if loose.1.len() > 1 { classify_exactly(lineage) } else { loose }
}

pub(super) fn classify_exactly(lineage: &Lineage) -> (Vec<Option<usize>>, Vec<usize>) {
    grouped(lineage, &|m| crate::mvicfg::key::exact_body_hash(&m.inlined))
}

fn grouped(lineage: &Lineage, body: &dyn Fn(&Member) -> String) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut keys: Vec<[String; 2]> = Vec::new();
    let mut representative: Vec<usize> = Vec::new();
    let class_of = lineage
        .members
        .iter()
        .enumerate()
        .map(|(v, member)| {
            let m = member.as_ref()?;
            let around = format!("{} {} {:?}", m.values, m.surroundings, lineage.salt.get(v));
            let key = [body(m), around];
            let is_same = |k: &[String; 2], first: usize| {
                k[1] == key[1]
                    && lineage.members[first].as_ref().is_some_and(|n| layouts::is_same(n, m, *k == key))
            };
            Some(match keys.iter().zip(&representative).position(|(k, first)| is_same(k, *first)) {
                Some(c) => c,
                None => {
                    keys.push(key);
                    representative.push(v);
                    keys.len() - 1
                }
            })
        })
        .collect();
    (class_of, representative)
}

/// Whether a function's versions are of more than one class.
pub fn is_changed(lineage: &Lineage) -> bool {
    classify(lineage).1.len() > 1
}

pub(super) struct Context<'a> {
    pub(super) world: &'a World<'a>,
    /// By class: version and unit.
    pub(super) classes: Vec<(usize, Arc<Unit>)>,
    pub(super) options: &'a Options,
    /// Callees that were gone down to reach this one.
    pub(super) depth: u32,
}

impl Callees for Context<'_> {
    fn identity(&self, class: usize, name: &str) -> Option<Arc<str>> {
        let (version, unit) = self.classes.get(class)?;
        self.world.identity(*version, unit, name)
    }

    fn global(&self, class: usize, symbol: &str) -> Option<&Global> {
        self.classes.get(class)?.1.global(symbol)
    }

    fn row(&self, class: usize, name: &str, args: &[Expr]) -> Option<&'static library::Row> {
        library::row_of_call(&self.classes.get(class)?.1, name, args)
    }
}

/// Analyses functions, each on a worker.
pub fn analyse_all(lineages: &[Lineage], world: &World, options: &Options) -> Vec<Analysed> {
    let wanted: Vec<bool> = lineages.iter().map(|l| options.whole || is_changed(l)).collect();
    world.watch.more(wanted.iter().filter(|c| **c).count());
    let one = |(lineage, wanted): (&Lineage, &bool)| {
        if let (true, Some((_, m))) = (*wanted, lineage.newest()) {
            world.watch.begins(&format!("{}: {}()", RepoPath::from(&m.file), m.function.name));
        }
        let analysed = match *wanted && world.watch.is_over() {
            true => {
                let (class_of, representative) = classify(lineage);
                Analysed::open(class_of, representative, OUT_OF_TIME)
            }
            false => analyse_safely(lineage, world, options),
        };
        if *wanted {
            world.watch.done();
        }
        analysed
    };
    lineages.par_iter().zip(&wanted).map(one).collect()
}

/// Analyses one function; a defect of ours costs this function only, and is said.
fn analyse_safely(lineage: &Lineage, world: &World, options: &Options) -> Analysed {
    fault::caught(|| function::analyse(lineage, world, options)).unwrap_or_else(|reason| {
        let (class_of, representative) = classify(lineage);
        world.has_fault(lineage, &reason);
        Analysed::open(class_of, representative, &reason)
    })
}

/// The pairs of versions that are compared: neighbours, or all, by the later one.
pub(super) fn version_pairs(versions: usize, all: bool) -> Vec<(usize, usize)> {
    let first = |w: usize| if all { 0 } else { w.saturating_sub(1) };
    (1..versions).flat_map(|w| (first(w)..w).rev().map(move |v| (v, w))).collect()
}
