//! Reports, kept in the repository's cache (`docs/design/solver.md`).
//!
//! Commits do not change, so a report over commits depends on their ids and names, the settings, this
//! program and its solver, and nothing else. The index and the working tree are known by what every
//! file of them holds. What involves the host's headers is computed each time. A report that is taken
//! from the cache differs from a fresh one in `cost` only.
//!
//! Parts of analyses are kept, too, by what they follow from, and serve other commits ([`AnalysisCache`]).
//!
//! What is known by all that it follows from is looked up in the shared cache, too, where the user has one.

use super::shared;
use crate::analysis::{Request, VersionInput};
use crate::config::Settings;
use crate::history::Repository;
use crate::quantify::Keeper;
use crate::report::{Cost, FunctionReport, HunkReport, Report};
use crate::store::cache::{Key, Store};
use std::path::PathBuf;

/// Where one report is or will be kept.
pub struct Cached {
    store: Store,
    key: Key,
}

impl Cached {
    /// Returns the place of a request's report; `None` when it is not to be kept.
    pub fn of(
        repository: &Repository,
        request: &Request,
        excluded: &[HunkReport],
        settings: &Settings,
    ) -> Option<Cached> {
        if request.options.host_headers {
            return None;
        }
        let store = shared_store(repository, settings)?;
        // The number of workers is no part of the result.
        let analysis = crate::analysis::Options { jobs: 0, ..request.analysis.clone() };
        let parts = [
            crate::smt::z3_version(),
            format!("{:?}", request.versions.iter().map(|v| &v.info).collect::<Vec<_>>()),
            format!("{:?}", request.versions.iter().map(content).collect::<Vec<_>>()),
            format!("{:?}", request.changes),
            format!("{excluded:?}"),
            format!("{:?}", request.options),
            format!("{analysis:?}"),
            format!("{:?}", settings.c.configuration),
            format!("{:?} {:?}", settings.quantify, settings.profiles),
        ];
        Some(Cached { store, key: Key::new("report", parts) })
    }

    /// Returns the report if it is kept; what the work cost before counts as answered by the cache.
    pub fn get(&self) -> Option<Report> {
        let mut report: Report = serde_json::from_slice(&self.store.get(self.key)?).ok()?;
        let Cost { solver_queries, solver_cached, nodes_total, full, incremental, .. } = report.cost;
        let solver_cached = solver_queries + solver_cached;
        report.cost = Cost { solver_cached, nodes_total, full, incremental, ..Cost::default() };
        Some(report)
    }

    /// Keeps a report, unless it would not come back as it is.
    pub fn put(&self, report: &Report) {
        let Ok(bytes) = serde_json::to_vec(report) else { return };
        if serde_json::from_slice::<Report>(&bytes).is_ok_and(|same| same == *report) {
            self.store.put(self.key, &bytes);
        }
    }
}

/// The repository's cache; `None` where nothing is to be kept, or can be.
fn store(repository: &Repository, settings: &Settings) -> Option<Store> {
    if !settings.cache.is_used {
        return None;
    }
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folder = settings.cache.dir.as_ref().map(|folder| repository.common_dir().join(folder));
    let store =
        Store::open(repository.common_dir(), folder.as_deref(), home.as_deref(), settings.cache.limit);
    store.folder()?;
    Some(store)
}

/// As [`store`], with the shared cache behind it.
fn shared_store(repository: &Repository, settings: &Settings) -> Option<Store> {
    let shared = shared::of(&settings.cache, || store(repository, settings));
    Some(store(repository, settings)?.before(shared))
}

/// What an analysis keeps for later ones, whatever the commits are.
pub struct AnalysisCache {
    store: Option<Store>,
    kind: &'static str,
}

impl AnalysisCache {
    /// Trees of paths, of `quantify`.
    pub fn trees(repository: &Repository, settings: &Settings) -> AnalysisCache {
        AnalysisCache { store: shared_store(repository, settings), kind: "tree" }
    }

    /// What reports on single commits say of functions. They are known by their commits alone, whatever the settings
    /// were, and asked for one by one down a history: no matter for other machines.
    pub fn commits(repository: &Repository, settings: &Settings) -> AnalysisCache {
        AnalysisCache { store: store(repository, settings), kind: "commit" }
    }

    /// Keeps what a report on a commit against its parent says, if it is one.
    pub fn put_commit(&self, report: &Report) {
        let [old, new] = report.versions.as_slice() else { return };
        let Some(commit) = &new.commit else { return };
        // The index and the working tree are no parents.
        let is_other = old.commit.is_none() && old.name != "EMPTY";
        if is_other || self.of_commit(commit, old.commit.as_deref()).is_some() {
            return;
        }
        if let Ok(bytes) = serde_json::to_vec(&report.functions) {
            self.put(&parts_of(commit, old.commit.as_deref()), &bytes);
        }
    }

    /// What is kept of a commit against its parent; none is what a root has.
    pub fn of_commit(&self, commit: &str, parent: Option<&str>) -> Option<Vec<FunctionReport>> {
        serde_json::from_slice(&self.get(&parts_of(commit, parent))?).ok()
    }

    /// Outcomes of assertions, of `check`.
    pub fn outcomes(repository: &Repository, settings: &Settings) -> AnalysisCache {
        AnalysisCache { store: shared_store(repository, settings), kind: "outcomes" }
    }
}

fn parts_of(commit: &str, parent: Option<&str>) -> [String; 2] {
    [commit.to_owned(), parent.unwrap_or_default().to_owned()]
}

impl Keeper for AnalysisCache {
    fn get(&self, parts: &[String]) -> Option<Vec<u8>> {
        self.store.as_ref()?.get(Key::new(self.kind, parts))
    }

    fn put(&self, parts: &[String], value: &[u8]) {
        if let Some(store) = &self.store {
            store.put(Key::new(self.kind, parts), value);
        }
    }
}

/// What a version's files hold, as a hash; a commit's are known by its id. Cost: a look at every entry.
fn content(version: &VersionInput) -> Option<String> {
    if version.info.commit.is_some() {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for path in version.tree.paths().iter() {
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(version.tree.content_id(path).unwrap_or_default().as_bytes());
        hasher.update(b"\0");
    }
    Some(hasher.finalize().to_hex().to_string())
}
