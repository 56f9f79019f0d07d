//! Translation units of all versions, each loaded once.
//!
//! A unit is reused for another version when every file that its parse tried to read has the same
//! content there: nothing is parsed twice for versions that do not differ in it. Of one that was read anew, the
//! functions that are equal to those of another version are kept once.

use super::parts::UnitParts;
use super::watch::Watch;
pub use crate::frontend::c::header::is_header;
use crate::frontend::{self, c};
use crate::history::SourceTree;
use crate::ir::{Function, Unit};
use crate::mvicfg::key;
use crate::report::RepoPath;
use crate::semantics::fixed;
use crate::semantics::inline::{self, InlineLimits};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// A unit with its functions at hand one by one.
pub struct LoadedUnit {
    pub unit: Arc<Unit>,
    pub functions: Vec<LoadedFunction>,
    /// What the lines of watched files belong to.
    pub lines: BTreeMap<PathBuf, c::lines::Lines>,
    /// How many tokens the unit has behind the preprocessor.
    pub tokens: usize,
    parts: OnceLock<UnitParts>,
}

/// A function as it stands and as it is analysed.
#[derive(Clone)]
pub struct LoadedFunction {
    pub function: Arc<Function>,
    /// With small callees of its unit inlined; the variables of `function` keep their numbers.
    pub inlined: Arc<Function>,
    /// [`key::body_hash`] of `inlined`.
    pub body: Arc<str>,
}

impl LoadedUnit {
    /// `other`: the unit of another version, with which equal functions are shared.
    fn new(
        mut unit: Unit,
        limits: &InlineLimits,
        kept: &BTreeSet<Arc<str>>,
        other: Option<&LoadedUnit>,
    ) -> LoadedUnit {
        fixed::settle(&mut unit);
        let known: BTreeMap<&str, &LoadedFunction> =
            other.iter().flat_map(|o| &o.functions).map(|f| (&*f.function.name, f)).collect();
        for f in &mut unit.functions {
            if let Some(known) = known.get(&*f.name).filter(|known| known.function == *f) {
                *f = known.function.clone();
            }
        }
        let load = |function: &Arc<Function>| {
            let (function, inlined) = (function.clone(), inline::inline_but(function, &unit, limits, kept));
            match known.get(&*function.name).filter(|known| known.inlined == inlined) {
                Some(known) => LoadedFunction { function, ..(*known).clone() },
                None => {
                    let body = key::body_hash(&inlined).into();
                    LoadedFunction { function, inlined, body }
                }
            }
        };
        let functions = unit.functions.iter().map(load).collect();
        let (unit, lines) = (Arc::new(unit), BTreeMap::new());
        LoadedUnit { unit, functions, lines, tokens: 0, parts: OnceLock::new() }
    }
}

impl LoadedUnit {
    /// What its functions and objects are made of; found when it is asked for first.
    pub(super) fn parts(&self) -> &UnitParts {
        self.parts.get_or_init(|| UnitParts::of(self))
    }
}

/// A unit as loaded, or why it was not.
pub type LoadResult = Result<Arc<LoadedUnit>, Arc<str>>;

/// Units by path, with what each parse depended on.
pub struct Units {
    options: c::Options,
    limits: InlineLimits,
    /// Functions whose calls stay calls.
    kept: BTreeSet<Arc<str>>,
    /// Sources that others include: what they define is read and written there, too.
    included: BTreeSet<PathBuf>,
    /// Files of whose lines it is asked what they belong to.
    watched: BTreeSet<PathBuf>,
    known: Mutex<BTreeMap<PathBuf, Vec<Known>>>,
}

struct Known {
    /// What the parse asked of the tree, with the answers.
    reads: Vec<(PathBuf, Option<String>)>,
    result: LoadResult,
}

impl Units {
    pub fn new(options: c::Options, inline_depth: u32) -> Units {
        let limits = InlineLimits { depth: inline_depth, ..InlineLimits::default() };
        let (kept, included, watched) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Units { options, limits, kept, included, watched, known: Mutex::default() }
    }

    /// A unit that was changed after it was loaded.
    pub(super) fn again(&self, unit: Unit) -> LoadedUnit {
        LoadedUnit::new(unit, &self.limits, &self.kept, None)
    }

    /// Leaves calls of these functions as they are.
    pub(super) fn keep(&mut self, kept: BTreeSet<Arc<str>>) {
        self.kept = kept;
    }

    /// Takes these sources for parts of other units.
    pub(super) fn open(&mut self, included: BTreeSet<PathBuf>) {
        self.included = included;
    }

    /// Keeps of these files what their lines belong to.
    pub(super) fn watch(&mut self, watched: BTreeSet<PathBuf>) {
        self.watched = watched;
    }

    /// Returns the unit of a file in a tree. Cost: a parse, or a few look-ups when it is known.
    pub fn load(&self, tree: &dyn SourceTree, path: &Path) -> LoadResult {
        if let Some(hit) = self.find(tree, path) {
            return hit;
        }
        let (reads, result) = match frontend::load_watched(tree, path, &self.options, &self.watched) {
            Ok(mut loaded) => {
                loaded.unit.is_whole &= !self.included.contains(path);
                let other = self.of_another_version(path);
                let unit = LoadedUnit::new(loaded.unit, &self.limits, &self.kept, other.as_deref());
                let (lines, tokens) = (loaded.lines, loaded.tokens);
                (loaded.reads, Ok(Arc::new(LoadedUnit { lines, tokens, ..unit })))
            }
            Err(rejected) => {
                (vec![(path.to_path_buf(), tree.content_id(path))], Err(rejected.to_string().into()))
            }
        };
        if let Ok(mut known) = self.known.lock() {
            known.entry(path.to_path_buf()).or_default().push(Known { reads, result: result.clone() });
        }
        result
    }

    /// The unit of a file as some version has it.
    fn of_another_version(&self, path: &Path) -> Option<Arc<LoadedUnit>> {
        let known = self.known.lock().ok()?;
        known.get(path)?.last()?.result.clone().ok()
    }

    fn find(&self, tree: &dyn SourceTree, path: &Path) -> Option<LoadResult> {
        let known = self.known.lock().ok()?;
        let same = |k: &&Known| c::is_alike(tree, &k.reads);
        known.get(path)?.iter().find(same).map(|k| k.result.clone())
    }

    /// The files that loading a file of a tree read, or tried to.
    pub(super) fn reads(&self, tree: &dyn SourceTree, path: &Path) -> Vec<PathBuf> {
        let Ok(known) = self.known.lock() else { return Vec::new() };
        let same = |k: &&Known| c::is_alike(tree, &k.reads);
        let found = known.get(path).and_then(|list| list.iter().find(same));
        found.map(|k| k.reads.iter().map(|(p, _)| p.clone()).collect()).unwrap_or_default()
    }

    /// Loads many units in parallel; results are in the order of the requests. None is begun when the work is over.
    pub fn load_all(
        &self,
        requests: &[(Arc<dyn SourceTree>, PathBuf)],
        watch: &dyn Watch,
    ) -> Vec<LoadResult> {
        // Versions of one file come behind each other, so that they share what they have in common.
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|k| &requests[*k].1);
        let load = |k: usize| {
            let (tree, path) = &requests[k];
            watch.reads(&RepoPath::from(path).to_string());
            (k, watch.ended().map_or_else(|| self.load(&**tree, path), |ended| Err(ended.limit().into())))
        };
        let mut loaded: Vec<(usize, LoadResult)> = order.into_par_iter().map(load).collect();
        loaded.sort_by_key(|(k, _)| *k);
        loaded.into_iter().map(|(_, result)| result).collect()
    }
}

/// Returns whether a path names a C source file.
pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "c" || e == "i")
}

/// Returns whether a file of a tree is a header that defines functions, which makes it a unit of its own.
/// Cost: reads headers.
pub(super) fn is_library(tree: &dyn SourceTree, path: &Path) -> bool {
    is_header(path) && tree.read(path).is_some_and(|text| c::header::defines_functions(&text))
}

/// Last components of the names in a file's `#include` lines.
pub(super) fn included_names(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for line in bytes.split(|b| *b == b'\n') {
        // Every file of a tree is looked through: of most lines the first character tells enough.
        let first = line.iter().find(|b| !matches!(b, b'\t' | 0x0b | 0x0c | b'\r' | b' '));
        if first.is_none_or(|b| *b != b'#' && b.is_ascii()) {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.trim_start();
        let close = match rest.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            _ => continue,
        };
        if let Some(inner) = rest.get(1..).and_then(|r| r.split(close).next()) {
            names.push(inner.rsplit('/').next().unwrap_or(inner).to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    const SOURCE: &str = "#include \"b.h\"\n#include <lib/lib_c.h>\nint f(void) { return B + C; }\n";

    /// Loads `src/a.c` beside each of some sets of headers, one after the other; returns which of the units is the same
    /// as which.
    fn loaded(versions: &[&[(&str, &str)]]) -> Vec<usize> {
        let units = Units::new(c::Options::default(), 2);
        let path = Path::new("src/a.c");
        let mut all: Vec<Arc<LoadedUnit>> = Vec::new();
        let mut same = Vec::new();
        for headers in versions {
            let tree = MemoryTree::new([("src/a.c", SOURCE)].iter().chain(*headers).copied());
            let unit = units.load(&tree, path).unwrap();
            let fresh = Units::new(c::Options::default(), 2).load(&tree, path).unwrap();
            assert_eq!(format!("{:?}", unit.unit), format!("{:?}", fresh.unit), "{headers:?}");
            same.push(all.iter().position(|known| Arc::ptr_eq(known, &unit)).unwrap_or(all.len()));
            all.push(unit);
        }
        same
    }

    #[test]
    fn a_known_unit_is_what_another_parse_would_give() {
        let (b, c) = (("x/b.h", "#define B 1\n"), ("y/lib_c.h", "#define C 2\n"));
        let other = ("z/lib_c.h", "#define C 3\n");
        let nearer = ("src/x/b.h", "#define B 4\n");
        assert_eq!(loaded(&[&[], &[b], &[b, c], &[b, c, other], &[b, c, ("more.h", "")]]), [0, 1, 2, 1, 2]);
        assert_eq!(loaded(&[&[b, c], &[b, c, nearer], &[c, nearer], &[b, other]]), [0, 1, 1, 3]);
    }
}
