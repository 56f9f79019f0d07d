//! Functions over their classes, each on a worker: facts at the points that are asked for, or what becomes of
//! properties alone.

use super::bindings;
use super::classes::{Analysed, classify, classify_exactly, is_changed, version_pairs};
use super::lineage::{Lineage, Member};
use super::request::{Options, Pin};
use super::world::{Context, World};
use super::{difference, endings, layouts, volatiles};
use crate::fault;
use crate::invariant::{
    self, Budget, Checked, Covered, FunctionDiff, Loops, OpenKind, PinnedFact, Points, Precondition,
    RunCache, Task,
};
use crate::mvicfg::{ClassId, Mvicfg, VersionId, key};
use crate::report::{PointKind, RepoPath};
use crate::semantics::unroll;
use crate::symex;
use rayon::prelude::*;
use std::sync::Arc;

/// Runs of a function that is proved harmless: they only tell whether callers may see the change.
const FEW: Budget =
    Budget { inputs: 200, steps: 500_000, guided: 0, patience: 0, functions: 1, nodes: usize::MAX };

/// A function, ready to be looked at.
struct Observable<'a> {
    lineage: &'a Lineage,
    /// By class: its first version, and the function there.
    members: Vec<(VersionId, &'a Member)>,
    pairs: Vec<(ClassId, ClassId)>,
    /// By pair: the function's own text differs.
    own: Vec<bool>,
    context: Context<'a>,
    kept: RunCache,
    given: Vec<Precondition>,
}

/// Analyses functions, each on a worker.
pub fn analyse_all(lineages: &[Lineage], world: &World, options: &Options) -> Vec<Analysed> {
    let wanted: Vec<bool> = lineages.iter().map(|l| options.whole || is_changed(l)).collect();
    world.watch.more(wanted.iter().filter(|c| **c).count());
    let one = |(lineage, wanted): (&Lineage, &bool)| {
        if let (true, Some((_, m))) = (*wanted, lineage.newest()) {
            world.watch.begins(&format!("{}: {}()", RepoPath::from(&m.file), m.function.name));
        }
        let analysed = match world.watch.ended().filter(|_| *wanted) {
            Some(ended) => {
                let (class_of, representative) = classify(lineage);
                Analysed::open(class_of, representative, (OpenKind::NotBegun, ended.reason()))
            }
            None => analyse_safely(lineage, world, options),
        };
        if *wanted {
            world.watch.done();
        }
        analysed
    };
    lineages.par_iter().zip(&wanted).map(one).collect()
}

/// Analyses one function; a defect of ours costs this function only, and is said.
pub(super) fn analyse_safely(lineage: &Lineage, world: &World, options: &Options) -> Analysed {
    fault::caught(|| analyse(lineage, world, options)).unwrap_or_else(|reason| {
        let (class_of, representative) = classify(lineage);
        world.has_fault(lineage, &reason);
        Analysed::open(class_of, representative, (OpenKind::Fact, &reason))
    })
}

/// Analyses one function.
pub(super) fn analyse(lineage: &Lineage, world: &World, options: &Options) -> Analysed {
    let lines = if options.properties_only { Vec::new() } else { wanted_lines(lineage, options) };
    let (class_of, representative) =
        if lines.is_empty() { classify(lineage) } else { classify_exactly(lineage) };
    let (pairs, own) = pairs(lineage, &class_of, options);
    let exit = options.whole || !pairs.is_empty();
    if !exit && lines.is_empty() {
        return Analysed { class_of, representative, diff: None, ..Analysed::default() };
    }
    let members: Vec<(VersionId, &Member)> =
        representative.iter().filter_map(|&v| Some((v, lineage.members[v].as_ref()?))).collect();
    let classes = members.iter().map(|(v, m)| (*v, m.unit.clone())).collect();
    let context = Context { world, classes, options, depth: 0 };
    let (kept, given) = (RunCache::default(), Vec::new());
    let subject = Observable { lineage, members, pairs, own, context, kept, given };
    let (tellable, told) = (subject.members.clone(), subject.pairs.clone());
    let (Checked { mut diff, is_shown }, covered) = match options.properties_only {
        true => subject.properties(),
        false => (Checked { diff: subject.facts(exit, lines), is_shown: false }, Arc::default()),
    };
    if exit {
        ask_of_all_runs(&tellable, &told, &mut diff);
    }
    Analysed { class_of, representative, diff: Some(diff), covered, is_shown }
}

/// Adds the open questions about all runs.
fn ask_of_all_runs(members: &[(VersionId, &Member)], pairs: &[(ClassId, ClassId)], diff: &mut FunctionDiff) {
    bindings::tell(members, pairs, diff);
    layouts::tell(members, pairs, diff);
    volatiles::tell(members, pairs, diff);
    endings::tell(members, pairs, diff);
}

/// A function of which nothing is asked at its exit, with the open questions about all runs if it changes.
pub(super) fn not_asked(lineage: &Lineage, options: &Options) -> Analysed {
    let Analysed { class_of, representative, .. } = Analysed::classes_alone(lineage);
    if representative.len() <= 1 {
        return Analysed { class_of, representative, ..Analysed::default() };
    }
    let (pairs, _) = pairs(lineage, &class_of, options);
    let mut analysed = Analysed::open(class_of, representative, (OpenKind::Fact, "not asked for"));
    let members = analysed.representative.iter().filter_map(|&v| Some((v, lineage.members[v].as_ref()?)));
    let members: Vec<(VersionId, &Member)> = members.collect();
    if let Some(diff) = &mut analysed.diff {
        ask_of_all_runs(&members, &pairs, diff);
    }
    analysed
}

/// The pairs of classes that are compared, and whether the function's own text differs in them.
fn pairs(
    lineage: &Lineage,
    class_of: &[Option<ClassId>],
    options: &Options,
) -> (Vec<(ClassId, ClassId)>, Vec<bool>) {
    let mut pairs: Vec<(ClassId, ClassId)> = Vec::new();
    let mut own: Vec<bool> = Vec::new();
    let written = |v: VersionId| lineage.members[v].as_ref().map(Member::written);
    let expanded = |v: VersionId| lineage.members[v].as_ref().map(|m| m.body.clone());
    for (v, w) in version_pairs(class_of.len(), options.all_pairs) {
        if let (Some(a), Some(b)) = (class_of[v], class_of[w])
            && a != b
            && !pairs.contains(&(a, b))
        {
            pairs.push((a, b));
            // With equal expanded bodies a constant differs, which is the function's own matter.
            let constant = lineage.salt.is_empty() && expanded(v) == expanded(w);
            own.push(written(v) != written(w) || constant);
        }
    }
    (pairs, own)
}

impl Observable<'_> {
    fn options(&self) -> &Options {
        self.context.options
    }

    /// Whether objects that the function rests on begin with other values in two classes.
    fn begins(&self, from: ClassId, to: ClassId) -> bool {
        let values = |class: ClassId| (&self.members[class].1.values, &self.members[class].1.surroundings);
        values(from) != values(to)
    }

    /// Looks at the function, with its short loops laid out or as it is written.
    fn look<T>(&self, unrolled: bool, points: Points, budget: Budget, at: &dyn Fn(&Task) -> T) -> T {
        let (options, members, world) = (self.options(), &self.members, self.context.world);
        let body = |m: &Member| match unrolled {
            true => unroll::unroll(&m.inlined, &unroll::UnrollLimits::default()),
            false => m.inlined.clone(),
        };
        let graph = Mvicfg::build(members.iter().map(|(_, m)| body(m)).collect());
        at(&Task {
            graph: &graph,
            pairs: self.pairs.clone(),
            own: self.own.clone(),
            begins: self.pairs.iter().map(|&(from, to)| self.begins(from, to)).collect(),
            programs: members.iter().map(|(v, m)| world.program(*v, &m.unit)).collect(),
            kept: &self.kept,
            units: members.iter().map(|(_, m)| m.unit.clone()).collect(),
            specification: invariant::Specification {
                pins: pins_of(self.lineage, &options.specification.pins),
                requires: pins_of(self.lineage, &options.specification.requires),
                protocols: &options.specification.protocols,
                templates: &options.specification.templates,
            },
            callees: &self.context,
            summaries: &self.context,
            given: self.given.clone(),
            pointer_bits: members.first().map_or(64, |(_, m)| m.unit.data_model.pointer_bits()),
            points,
            options: invariant::Options {
                rlimit: options.limits.rlimit,
                unroll: options.limits.unroll,
                all: options.has_locals(),
                subsets: options.subsets_of(self.lineage.members.len()),
                aliases: options.aliases,
                budget,
            },
        })
    }

    /// What becomes of the properties, and what the change is known not to break: difference verification comes
    /// first, since it asks no solver; what it covers is not proved again.
    fn properties(&self) -> (Checked, Arc<Covered>) {
        let world = self.context.world;
        let pinned = !pins_of(self.lineage, &self.options().specification.pins).is_empty();
        let given = self.options().limits.budget;
        let is_whole = self.options().differencing.is_some_and(|d| d.without_condition);
        let covered = |undefined| match is_whole {
            true => Arc::default(),
            false => difference::covered(self.lineage, world, undefined, given),
        };
        let strict = if pinned { Arc::default() } else { covered(true) };
        let safe = strict.all;
        let mut settled = if safe { strict } else { covered(false) };
        if pinned && settled.all {
            // No assertion is asked about, but what is pinned is.
            let own = self.lineage.newest().map(|(_, m)| symex::assertions_of(&m.function, &m.unit));
            let own = own.into_iter().flatten().map(|(line, text, _)| (line, text));
            settled = Arc::new(Covered { all: false, assertions: own.collect() });
        }
        let budget =
            if safe { Budget { patience: given.patience, nodes: given.nodes, ..FEW } } else { given };
        let is_over = || world.watch.is_over();
        let points = Points { exit: true, ..Points::default() };
        let diff =
            self.look(true, points, budget, &|task| invariant::check_function(task, &settled, &is_over));
        (diff, settled)
    }

    /// Facts at the exit, and at `lines` and other points that are asked for.
    fn facts(mut self, exit: bool, lines: Vec<u32>) -> FunctionDiff {
        let choice = self.options().points.clone();
        let at_exit = exit && (choice.kinds.is_none() || choice.has(PointKind::Exit));
        // What callers give is asked of a solver, too.
        if at_exit && self.options().limits.rlimit > 0 {
            let given = ClassId::each(&self.members);
            self.given = given.map(|(c, (_, m))| self.context.precondition(c, &m.function)).collect();
        }
        let budget = self.options().limits.budget;
        let examine = |unrolled, points| self.look(unrolled, points, budget, &invariant::diff_function);
        // At other points than the exit the loops are looked at as they are written.
        let explicit = if choice.has(PointKind::Loop) { Loops::Yes } else { Loops::No };
        let untold = if choice.is_explicit() { Loops::No } else { Loops::WhereUntold };
        let entry = choice.has(PointKind::Entry);
        let inside = explicit == Loops::Yes || entry || !lines.is_empty();
        if at_exit && inside && self.members.iter().all(|(_, m)| !unrolls(m)) {
            return examine(false, Points { exit: true, entry, loops: explicit, lines });
        }
        let mut diff = FunctionDiff::default();
        if at_exit {
            diff.extend(examine(true, Points { exit: true, loops: untold, ..Points::default() }));
        }
        if inside {
            diff.extend(examine(false, Points { exit: false, entry, loops: explicit, lines }));
        }
        diff
    }
}

/// Whether a body has a loop that is laid out.
fn unrolls(m: &Member) -> bool {
    let hash = key::exact_body_hash;
    hash(&unroll::unroll(&m.inlined, &unroll::UnrollLimits::default())) != hash(&m.inlined)
}

/// The lines that were asked for, as lines of the newest body.
fn wanted_lines(lineage: &Lineage, options: &Options) -> Vec<u32> {
    let Some((_, newest)) = lineage.newest() else { return Vec::new() };
    let span = &newest.function.span;
    let inside = |line: u32| span.line <= line && line <= span.end_line;
    let of_file = options.points.lines.iter().filter(|(file, line)| *file == newest.file && inside(*line));
    of_file.map(|(_, line)| *line).collect()
}

/// The pinned facts about a function, under any of its names.
pub(super) fn pins_of<F: Clone>(lineage: &Lineage, pins: &[Pin<F>]) -> Vec<PinnedFact<F>> {
    let mut found: Vec<PinnedFact<F>> = Vec::new();
    for pin in pins {
        let about = lineage.members.iter().flatten().any(|m| pin.is_about(&m.file, &m.function.name));
        if about && found.iter().all(|p| p.text != pin.fact.text) {
            found.push(pin.fact.clone());
        }
    }
    found
}
