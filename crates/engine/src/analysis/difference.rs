//! Difference verification of a range: its first version against its last, one function at a time.

use super::layouts;
use super::lineage::{Lineage, Member, VersionFiles};
use super::loaded::Loaded;
use super::request::Request;
use super::watch::Unwatched;
use super::world::World;
use super::{beyond, hunks, statics, workers};
use crate::difference::{self, Concerns, Detector, Extent, Graph, Remainder, Role, Version, remainder};
use crate::interp::Program;
use crate::invariant::{Budget, Covered};
use crate::ir::{Callee, Function, Instr, Node, NodeId, Stmt, StmtId};
use crate::mvicfg::members::ByMembers;
use crate::mvicfg::{VersionId, key};
use crate::report::{RepoPath, VersionInfo};
use crate::semantics::pointers;
use crate::symex;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Most files that are parsed for nothing but what they call.
const MAX_CALLERS: usize = 12;

/// What to look at, and how.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub detector: Detector,
    /// Undefined behaviour counts as a violation.
    pub undefined: bool,
}

/// One function of the last version that is there in the first.
pub struct Compared {
    pub file: PathBuf,
    pub name: Arc<str>,
    /// Its own text is another one, not only that of functions that it calls.
    pub changed: bool,
    /// Nothing in the program calls it, or others may.
    pub is_entry: bool,
    /// First and last line.
    pub lines: (u32, u32),
    pub graph: Graph,
    pub remainder: Remainder,
    /// Lines of the function that are left to verify.
    pub open_lines: BTreeSet<u32>,
    /// Lines of the file at which violations that are new may begin.
    pub begins: BTreeSet<u32>,
    pub concerns: Concerns,
    /// What runs when the program ends, reads what the function may write, and may fail there; it is not looked
    /// at. By file and name.
    pub at_exit: BTreeSet<(PathBuf, Arc<str>)>,
    /// By node of the graph.
    pub spots: Vec<Spot>,
}

/// Where a node of a graph is in the sources of the last version.
pub struct Spot {
    pub file: PathBuf,
    pub line: u32,
    pub function: Arc<Function>,
    node: NodeId,
}

impl Spot {
    pub fn node(&self) -> Option<&Node> {
        self.function.nodes.get(self.node.0 as usize)
    }

    pub fn instr(&self) -> Option<&Instr> {
        Some(&self.node()?.instr)
    }

    pub fn stmt(&self) -> Option<StmtId> {
        Some(self.node()?.stmt)
    }

    pub fn statement(&self) -> Option<&Stmt> {
        self.function.stmts.get(self.stmt()?.0 as usize)
    }
}

/// A function that only the last version has.
pub struct Added {
    pub file: PathBuf,
    pub name: Arc<str>,
}

/// The comparison of a range.
pub struct Differences {
    pub old: VersionInfo,
    pub new: VersionInfo,
    pub compared: Vec<Compared>,
    /// New ones that others may call.
    pub added: Vec<Added>,
    /// Files that could not be read, with the reason.
    pub unread: Vec<(RepoPath, String)>,
    /// What a limit left out, for people: there may be callers that are not compared.
    pub notices: Vec<String>,
    /// Hunks whose text was not read.
    pub hunks: Vec<crate::report::HunkReport>,
}

/// Compares the first version of a request with its last. Functions that are the same with all that they
/// call are left out. Cost: parsing and lowering, and [`difference::compare`] of each function; no solver.
pub fn differences(request: &Request, choice: &Choice) -> Differences {
    workers::in_pool(request, || differences_of(request, choice))
}

fn differences_of(request: &Request, choice: &Choice) -> Differences {
    let mut loaded = Loaded::of(request);
    loaded.add_callers(request, MAX_CALLERS);
    loaded.add_asserting(request);
    let Loaded { by_version, reaches, lineages, mut notices, .. } = loaded;
    notices.extend(beyond::pointed(&by_version, &lineages, &reaches));
    let world = World::new(&by_version, reaches, &lineages, &Unwatched);
    let last = VersionId::new(request.versions.len().saturating_sub(1));
    let info = |v: VersionId| request.versions.get(v.index()).map(|v| v.info.clone()).unwrap_or_default();
    let mut compared: Vec<Compared> =
        lineages.par_iter().filter_map(|l| compare(l, &world, last, choice)).collect();
    let late: BTreeSet<_> = compared.iter().flat_map(|c| c.at_exit.iter().cloned()).collect();
    if !late.is_empty() {
        let writers = compared.iter().filter(|c| !c.at_exit.is_empty());
        let writers: BTreeSet<String> =
            writers.map(|c| format!("{}: {}()", RepoPath::from(&c.file), c.name)).collect();
        let writers: Vec<String> = writers.into_iter().collect();
        notices.push(beyond::late(&late, &beyond::listed(&writers)));
    }
    compared.sort_by(|a, b| (&a.file, a.lines, &a.name).cmp(&(&b.file, b.lines, &b.name)));
    let added = lineages.iter().filter_map(|l| {
        let new = l.members.get(last.index())?.as_ref()?;
        let is_new = l.members.first()?.is_none() && !new.function.is_static;
        is_new.then(|| Added { file: new.file.clone(), name: new.function.name.clone() })
    });
    Differences {
        old: info(VersionId::OLD),
        new: info(last),
        added: added.collect(),
        compared,
        hunks: hunks::unread(request, &by_version, &lineages, &world.reaches),
        unread: unread(&by_version).into_iter().chain(statics::failing(&by_version)).collect(),
        notices,
    }
}

pub(super) fn unread(by_version: &[VersionFiles]) -> Vec<(RepoPath, String)> {
    let files = by_version.iter().flatten().flatten();
    let mut found: Vec<_> = files
        .filter_map(|(path, loaded)| Some((RepoPath::from(path), loaded.as_ref().err()?.to_string())))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Whether a function, or something that it leads to, may be another one.
fn may_differ(old: &Member, new: &Member, world: &World, last: VersionId) -> bool {
    let whole = |v: VersionId, m: &Member| world.reaches.get(v.index())?.whole(&m.file, &m.function.name);
    match layouts::of_closure((old, world.reaches.first()), (new, world.reaches.get(last.index()))) {
        ByMembers::Other => true,
        ByMembers::Same => old.surroundings != new.surroundings,
        _ => whole(VersionId::OLD, old) != whole(last, new) || old.surroundings != new.surroundings,
    }
}

/// Whether what a change does to a function is proved harmless: see [`difference::is_harmless`].
pub(super) fn is_harmless(l: &Lineage, world: &World, undefined: bool, budget: Budget) -> bool {
    covered(l, world, undefined, budget).all
}

/// What difference verification covers of a function. A first look asks that of small functions only whose own text
/// changes: of others runs tell sooner.
pub(super) fn covered(l: &Lineage, world: &World, undefined: bool, budget: Budget) -> Arc<Covered> {
    if budget.is_first_look() && (l.size() > budget.nodes || !l.is_edited()) {
        return Arc::default();
    }
    let [Some(old), Some(new)] = l.members.as_slice() else { return Arc::default() };
    let key = (new.file.clone(), new.function.name.clone(), new.body.clone(), undefined);
    if let Some(known) = world.covered.lock().ok().and_then(|known| known.get(&key).cloned()) {
        return known;
    }
    let (before, after) =
        (world.program(VersionId::OLD, &old.unit), world.program(VersionId::NEW, &new.unit));
    let concerns = Concerns { undefined, ..Concerns::of(&after) };
    let graph = difference::compare(
        Version { program: &before, function: &old.function.name },
        Version { program: &after, function: &new.function.name },
        Detector::DiffDp,
        concerns,
    );
    let all = graph.is_harmless();
    let assertions = if all { BTreeSet::new() } else { not_left(&remainder(&graph, &after), new) };
    let covered = Arc::new(Covered { all, assertions });
    if let Ok(mut known) = world.covered.lock() {
        known.insert(key, covered.clone());
    }
    covered
}

/// The assertions of a function at which no execution fails that is left to verify.
fn not_left(left: &Remainder, new: &Member) -> BTreeSet<(u32, String)> {
    let f = pointers::resolve(&new.function, &new.unit);
    let f = f.as_ref().unwrap_or(&new.function);
    // The units of a program are the function's own first.
    let is_left = |n: NodeId| left.has(0, &new.function.name, n);
    let (left, others): (Vec<_>, Vec<_>) =
        symex::failing_nodes(f, &new.unit).into_iter().partition(|(n, ..)| is_left(*n));
    let named = |(_, line, text): (NodeId, u32, String)| (line, text);
    let left: BTreeSet<(u32, String)> = left.into_iter().map(named).collect();
    others.into_iter().map(named).filter(|assertion| !left.contains(assertion)).collect()
}

fn compare(l: &Lineage, world: &World, last: VersionId, choice: &Choice) -> Option<Compared> {
    let (old, new) = (l.members.first()?.as_ref()?, l.members.get(last.index())?.as_ref()?);
    if !may_differ(old, new, world, last) {
        return None;
    }
    let (before, after) = (world.program(VersionId::OLD, &old.unit), world.program(last, &new.unit));
    let concerns = Concerns { undefined: choice.undefined, ..Concerns::of(&after) };
    let version = |program, m: &'_ Member| (program, m.function.name.clone());
    let ((p, f), (q, g)) = (version(&before, old), version(&after, new));
    let fails = |n: &Node| matches!(&n.instr, Instr::Call { callee: Callee::Direct(name), .. } if difference::is_failure(name, &concerns));
    let may_fail = |f: &Function| choice.undefined || f.nodes.iter().any(fails);
    let at_exit = match &*new.function.name {
        "main" => BTreeSet::new(),
        _ => beyond::finishing(l, &world.reaches, &may_fail),
    };
    let graph = difference::compare(
        Version { program: p, function: &f },
        Version { program: q, function: &g },
        choice.detector,
        concerns,
    );
    let remainder = remainder(&graph, &after);
    let own = pointers::resolve(&new.function, &new.unit).map_or(new.function.clone(), Arc::new);
    // The units of a program are the function's own first.
    let open = |n: &NodeId| remainder.has(0, &new.function.name, *n);
    let ids = (0..own.nodes.len() as u32).map(NodeId);
    let spans = ids.filter(open).map(|n| own.node(n)).filter(|n| !matches!(n.instr, Instr::Nop));
    let open_lines = spans.map(|n| n.span.line).filter(|l| *l > 0).collect();
    let spots = spots(&graph, &after)?;
    let bugs = graph.nodes.iter().zip(&spots).filter(|((p, role), _)| p.unit == 0 && *role == Role::Bug);
    let begins = bugs.map(|(_, spot)| spot.line).collect();
    let name = new.function.name.clone();
    Some(Compared {
        file: new.file.clone(),
        changed: key::exact_body_hash(&old.function) != key::exact_body_hash(&new.function)
            || layouts::are_others(old, new),
        is_entry: &*name == "main" || !new.function.is_static,
        lines: (new.function.span.line, new.function.span.end_line),
        graph,
        remainder,
        open_lines,
        begins,
        concerns,
        at_exit,
        spots,
        name,
    })
}

fn spots(graph: &Graph, program: &Program) -> Option<Vec<Spot>> {
    let mut known: BTreeMap<(usize, Arc<str>), Arc<Function>> = BTreeMap::new();
    let spot = |(place, _): &(difference::ProgramLocation, Role)| {
        let unit = program.units().get(place.unit)?;
        let function = match known.get(&(place.unit, place.function.clone())) {
            Some(f) => f.clone(),
            None => {
                let f = unit.function(&place.function)?;
                let f = Arc::new(pointers::resolve(f, unit).unwrap_or_else(|| f.clone()));
                known.insert((place.unit, place.function.clone()), f.clone());
                f
            }
        };
        let span = function.nodes.get(place.node.0 as usize).map(|n| n.span.clone()).unwrap_or_default();
        let file = unit.files.get(span.file.0 as usize).unwrap_or(&unit.path).clone();
        Some(Spot { file, line: span.line, function, node: place.node })
    };
    graph.nodes.iter().map(spot).collect()
}

impl Compared {
    pub fn extent(&self) -> Extent {
        self.graph.extent()
    }
}

impl Differences {
    /// The functions by which an execution begins: `main`, where a file that changes has one; else those
    /// that others may call.
    pub fn entries(&self) -> Vec<&Compared> {
        let main: Vec<&Compared> = self.compared.iter().filter(|c| &*c.name == "main").collect();
        match main.is_empty() {
            true => self.compared.iter().filter(|c| c.is_entry).collect(),
            false => main,
        }
    }
}
