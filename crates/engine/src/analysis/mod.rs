//! From a range of revisions to a report: calls the rooms below in order, one function at a time.
//!
//! The way of the data: changed files between consecutive versions; units of those files (and of
//! files that include changed headers); functions linked through the versions; classes of equal
//! bodies; for every function with more than one class a multiversion graph and its facts; the
//! report.

mod annotations;
mod beyond;
mod bindings;
mod callers;
mod classes;
mod compiled_out;
mod conditionals;
mod configurations;
mod convert;
pub mod difference;
mod differencing;
pub mod discover;
mod elsewhere;
mod endings;
mod files;
mod first_calls;
pub mod follow;
mod function;
mod graphs;
mod ground;
pub mod holds;
mod hunks;
mod implied;
mod initial;
mod layouts;
mod lineage;
mod linked;
mod loaded;
mod local;
pub mod memory;
mod mentions;
mod objects;
mod outside;
mod parts;
mod preconditions;
mod properties;
pub mod quantify;
mod reach;
mod renamed;
mod selection;
mod statics;
mod subsets;
mod summaries;
mod through;
mod units;
mod verifying;
mod volatiles;
mod weakened;
mod witness;

pub use files::{FileChange, Hunk};
pub use graphs::{Drawing, draw, illustrate};
pub use units::{Units, is_header, is_source};

use crate::cost;
use crate::frontend::c;
use crate::history::SourceTree;
use crate::invariant;
use crate::report::{Assertion, PointKind, Report, Summary, VersionInfo, unseen};
use lineage::Lineage;
use loaded::Loaded;
use std::path::PathBuf;
use std::sync::Arc;

/// One version, ready to be read.
#[derive(Clone)]
pub struct VersionInput {
    pub info: VersionInfo,
    pub tree: Arc<dyn SourceTree>,
}

/// What to analyse.
pub struct Request {
    /// Oldest first.
    pub versions: Vec<VersionInput>,
    /// Changed files between versions `i` and `i + 1`.
    pub changes: Vec<Vec<FileChange>>,
    pub options: c::Options,
    pub analysis: Options,
}

/// How much is asked of a range. Units of work are counted, never time: the same commits give the same report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// What changes where the text does, and nothing at exits.
    Quick,
    #[default]
    Normal,
    /// As `Normal`, with limits that are a few times as high.
    Deep,
}

/// How to analyse.
#[derive(Clone, Debug)]
pub struct Options {
    pub effort: Effort,
    /// Hunks in branches that are not taken are looked at under further macros.
    pub configurations: bool,
    /// Limit of one solver query, in Z3 resource units.
    pub rlimit: u64,
    pub unroll: u32,
    /// Calls within calls up to which small callees are inlined.
    pub inline_depth: u32,
    /// Worker threads; 0 means one a processor. The result does not depend on it.
    pub jobs: usize,
    /// Only functions whose name matches, when given.
    pub function: Option<String>,
    /// Facts about locals, facts that others imply, and unchanged functions, too.
    pub all: bool,
    /// Every function of every source file, whether or not a version changes it; with one version, the
    /// facts of that version.
    pub whole: bool,
    /// Only what becomes of properties is asked for, and no facts.
    pub properties_only: bool,
    /// As `all`, in the functions whose own text changes.
    pub locals: bool,
    /// Facts of some of the versions, even where two versions are compared: of these a fact of one is a side of
    /// a churn.
    pub subsets: bool,
    /// Pointers may lead to the same bytes, and indices out of their arrays: see
    /// [`invariant::Options::aliases`].
    pub aliases: bool,
    pub points: PointChoice,
    pub pins: Vec<Pin>,
    /// What callers of functions see to, as the project says; a condition over parameters.
    pub requires: Vec<Pin>,
    /// The project's own protocols: their functions' calls are told as events, and stay calls.
    pub protocols: Vec<invariant::Protocol>,
    /// Templates that a person wrote.
    pub templates: Vec<invariant::WrittenTemplate>,
    /// With two versions: assertions are matched, and their difference is checked.
    pub differencing: Option<Differencing>,
    /// Every pair of versions is compared, not only neighbours.
    pub all_pairs: bool,
    /// Concrete runs of one pair of classes.
    pub budget: invariant::Budget,
}

/// The points at which facts are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointChoice {
    /// Kinds that were asked for; `None`: the exit, and loops whose changes it does not tell of.
    pub kinds: Option<Vec<PointKind>>,
    /// Lines, by a file's path in any version.
    pub lines: Vec<(PathBuf, u32)>,
}

impl PointChoice {
    pub fn has(&self, kind: PointKind) -> bool {
        self.kinds.as_ref().is_some_and(|k| k.contains(&kind))
    }

    /// Whether something was asked for by name.
    pub fn is_explicit(&self) -> bool {
        self.kinds.is_some() || !self.lines.is_empty()
    }
}

/// How the assertions of two versions are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differencing {
    /// Also counts what checking all of them would cost.
    pub compare_full: bool,
}

/// A fact that the project wants kept at a function's exit.
#[derive(Clone, Debug)]
pub struct Pin {
    /// `name` or `file:name`.
    pub function: String,
    pub fact: invariant::PinnedFact,
    /// The change does not pin it any more.
    pub is_dropped: bool,
}

impl Pin {
    fn name(&self) -> &str {
        self.function.rsplit_once(':').map_or(&self.function, |(_, name)| name)
    }

    fn is_about(&self, file: &std::path::Path, name: &str) -> bool {
        match self.function.rsplit_once(':') {
            Some((f, n)) => n == name && std::path::Path::new(f) == file,
            None => self.function == name,
        }
    }
}

impl Options {
    fn has_locals(&self) -> bool {
        self.all || self.locals
    }

    /// Whether facts of some versions are told, of so many.
    fn subsets_of(&self, versions: usize) -> bool {
        !self.properties_only && (self.subsets || versions > 2)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            effort: Effort::Normal,
            configurations: true,
            rlimit: 2_000_000,
            unroll: 8,
            inline_depth: 2,
            jobs: 0,
            function: None,
            all: false,
            whole: false,
            properties_only: false,
            locals: false,
            subsets: false,
            aliases: false,
            points: PointChoice::default(),
            pins: Vec::new(),
            requires: Vec::new(),
            protocols: Vec::new(),
            templates: Vec::new(),
            differencing: None,
            budget: invariant::Budget::default(),
            all_pairs: false,
        }
    }
}

/// Stack of a worker: evaluation recurses along a function's nodes.
const STACK: usize = 512 << 20;

/// Told how far the work is, from any worker.
pub trait Watch: Sync {
    /// So many more functions are going to be analysed.
    fn more(&self, _functions: usize) {}
    /// One of them (`file: name()`) is begun.
    fn begins(&self, _function: &str) {}
    /// One of them is done.
    fn done(&self) {}
    /// Whether there is no time left: what is not begun then stays open.
    fn is_over(&self) -> bool {
        false
    }
}

/// Watches nothing.
struct Unwatched;

impl Watch for Unwatched {}

/// Analyses a range of versions.
///
/// Never fails: what cannot be analysed is in the report, with its reason.
pub fn diff(request: &Request) -> Report {
    diff_watched(request, &Unwatched)
}

/// As [`diff`], and tells how far it is.
pub fn diff_watched(request: &Request, watch: &dyn Watch) -> Report {
    in_pool(request, || {
        let _room = cost::enter(cost::Room::Analysis);
        diff_in_pool(request, watch)
    })
}

/// Runs `work` with the worker threads that the request asks for.
fn in_pool<T: Send>(request: &Request, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.analysis.jobs).stack_size(STACK).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Runs `work` where it may recurse along a function's nodes.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn diff_in_pool(request: &Request, watch: &dyn Watch) -> Report {
    // What comments assert is asserted where it is judged.
    match request.analysis.differencing {
        Some(_) => {
            let mut annotated = annotations::asserted(request);
            let loaded = Loaded::of(&annotated);
            let notices = annotations::add_contracts(&mut annotated, request, &loaded.by_version);
            let mut report = diff_loaded(&annotated, loaded, watch);
            report.notices.extend(notices);
            report
        }
        None => diff_loaded(request, Loaded::of(request), watch),
    }
}

fn diff_loaded(request: &Request, loaded: Loaded, watch: &dyn Watch) -> Report {
    let mut report = convert::empty_report(request);
    let Loaded { units, by_version, reaches, mut lineages, notices } = loaded;
    report.notices.extend(notices);
    let world = classes::World::new(&by_version, reaches, &lineages, watch);
    let begun = initial::changed(request, &by_version, &world.reaches);
    let firsts = match request.analysis.properties_only {
        true => Some(first_calls::tell_apart(&mut lineages, &begun, &world)),
        false => None,
    };
    let wanted = lineages.iter().filter(|l| request.analysis.whole || classes::is_changed(l)).count();
    let options = shared_out(&request.analysis, wanted);
    if options.effort == Effort::Quick && !options.whole && !options.properties_only {
        return quick(report, request, &by_version, &lineages, &world);
    }
    let mut analysed = classes::analyse_all(&lineages, &world, &options);
    let is_asked = request.analysis.function.is_some();
    lineages.iter().zip(&mut analysed).for_each(|(l, a)| callers::leave_open(l, a, is_asked));
    let callers = callers::find(request, &units, &by_version, &lineages, &analysed, &world);
    if request.analysis.properties_only {
        report.notices.extend(beyond::pointed(&by_version, &lineages, &world.reaches));
        report.notices.extend(beyond::at_exit(&lineages, &world.reaches));
    }
    convert::fill(&mut report, request, &lineages, &analysed, &world);
    convert::fill(&mut report, request, &callers.lineages, &callers.analysed, &world);
    callers::explain(&mut report, &callers);
    initial::tell(&mut report, &begun, &lineages);
    let compared = differencing::compare_all(&lineages, &analysed, &world, &options);
    let weakened = weakened::ask_all(&lineages, &compared, &world, &options);
    let join = |list: &mut Vec<Assertion>, k: usize| {
        if let Some(comparison) = compared.get(k).and_then(Option::as_ref) {
            differencing::join(list, &lineages[k], &world, comparison);
        }
        if let (Some(lineage), Some(analysed), false) = (lineages.get(k), analysed.get(k), watch.is_over()) {
            verifying::settle(list, lineage, analysed, &world, &options);
        }
        if let Some(answers) = weakened.get(k) {
            weakened::join(list, answers);
        }
    };
    statics::tell(&mut report, &by_version);
    properties::fill(&mut report, &lineages, &analysed, request, &join);
    properties::fill(&mut report, &callers.lineages, &callers.analysed, request, &|_, _| {});
    if let Some(firsts) = firsts {
        firsts.settle(&mut report, &begun, &lineages, &world);
    }
    differencing::count(&mut report, &compared);
    report.cost.solver_queries += weakened.iter().map(|a| a.queries).sum::<u64>();
    report.notices.extend(world.faults());
    report.notices.extend(callers.notices);
    report.notices.extend(cut_short(&lineages, &analysed, &request.analysis));
    report.notices.extend(unmet(&request.analysis.templates, [&analysed, &callers.analysed]));
    tell_locally(&mut report, request, &by_version, &lineages, &analysed, &world);
    if watch.is_over() {
        report.notices.push(out_of_time(&lineages, &analysed));
    }
    report.complete = unseen::is_nothing(&report);
    report.summary = Summary::of(&report);
    report
}

/// The templates that no function has all names of: a name is wrong, or nothing that has it changed.
fn unmet(templates: &[invariant::WrittenTemplate], analysed: [&Vec<classes::Analysed>; 2]) -> Vec<String> {
    let diffs = analysed.into_iter().flatten().filter_map(|a| a.diff.as_ref());
    let met: std::collections::BTreeSet<&String> =
        diffs.flat_map(|d| &d.points).flat_map(|p| &p.applied).collect();
    let unmet = templates.iter().filter(|t| !met.contains(&t.text));
    unmet
        .map(|t| format!("template '{}': no function that was looked at has all of its names", t.text))
        .collect()
}

/// What changes where the text does, and what became of each hunk.
fn tell_locally(
    report: &mut Report,
    request: &Request,
    files: &[lineage::VersionFiles],
    lineages: &[Lineage],
    analysed: &[classes::Analysed],
    world: &classes::World,
) {
    let outside = outside::Outside::of(request, lineages);
    outside.leave_out(report);
    let locals = match request.analysis.properties_only {
        true => local::Locals::default(),
        false => {
            let churns = hunks::churning(report);
            let is_same = |l: usize, step: usize| {
                lineages.get(l).zip(analysed.get(l)).is_some_and(|(lineage, a)| {
                    hunks::is_settled(a, step) && !hunks::has_churn(&churns, lineage, step)
                })
            };
            let has_fault = |l: &Lineage, reason: &str| world.has_fault(l, reason);
            let is_left_out = |l: usize, step: usize| outside.has(l, step) || is_same(l, step);
            local::Locals::of(request, lineages, &is_left_out, world.watch, &has_fault)
        }
    };
    locals.tell(report, request, lineages);
    let objects = match request.analysis.properties_only {
        true => objects::Objects::default(),
        false => objects::Objects::of(request, files, &world.reaches, lineages),
    };
    objects.tell(report);
    locals.settle_left_out(report, request, lineages);
    outside::leave_out_objects(request, report);
    let seen = hunks::Seen { files, lineages, analysed, reaches: &world.reaches };
    hunks::account(report, request, &seen, (&locals, &objects));
    configurations::tell(report, request, world.watch);
}

/// The local view alone.
fn quick(
    mut report: Report,
    request: &Request,
    files: &[lineage::VersionFiles],
    lineages: &[Lineage],
    world: &classes::World,
) -> Report {
    let alone = |l: &Lineage| match classes::is_changed(l) {
        true => classes::Analysed::not_asked(l),
        false => classes::Analysed::classes_alone(l),
    };
    let analysed: Vec<classes::Analysed> = lineages.iter().map(alone).collect();
    convert::fill(&mut report, request, lineages, &analysed, world);
    tell_locally(&mut report, request, files, lineages, &analysed, world);
    report.notices.extend(world.faults());
    // What was not asked is no open question.
    report.functions.iter_mut().for_each(|f| f.points.clear());
    report.complete = unseen::is_nothing(&report);
    report.summary = Summary::of(&report);
    report
}

/// Says of which functions the solver's limit left facts untried, and how to raise it: that is what the user has set,
/// of which each function may have a share.
fn cut_short(lineages: &[Lineage], analysed: &[classes::Analysed], options: &Options) -> Option<String> {
    let is_cut = |a: &classes::Analysed| a.diff.as_ref().is_some_and(|d| d.cut_short);
    let is_asked = |l: &Lineage| !options.budget.is_first_look() || l.is_edited();
    let cut = lineages.iter().zip(analysed).filter(|(l, a)| is_cut(a) && is_asked(l));
    let cut: Vec<&Lineage> = cut.map(|(l, _)| l).collect();
    let (_, newest) = cut.first()?.newest()?;
    let others = match cut.len() - 1 {
        0 => String::new(),
        1 => " and 1 more function".into(),
        n => format!(" and {n} more functions"),
    };
    let more = options.rlimit.saturating_mul(4);
    Some(format!(
        "note: not every fact of {}(){others} was tried within the solver's limit; --rlimit {more} tries more",
        newest.function.name
    ))
}

/// Says what the time limit left open.
fn out_of_time(lineages: &[Lineage], analysed: &[classes::Analysed]) -> String {
    let late = |a: &&classes::Analysed| {
        let open = a.diff.iter().flat_map(|d| &d.points).flat_map(|p| &p.undecided);
        open.into_iter().any(|u| u.reason == classes::OUT_OF_TIME)
    };
    let changed = lineages.iter().filter(|l| classes::is_changed(l)).count();
    let late = analysed.iter().filter(late).count();
    format!("the time limit was met: {late} of {changed} changed functions were not looked at")
}

/// The limits of one function, when so many are analysed: beyond a few, all share what these may cost,
/// so that a range that touches everything ends too.
fn shared_out(options: &Options, functions: usize) -> Options {
    const ASKED: u64 = 8;
    let given = options.budget;
    let least = if given.is_first_look() { 100 } else { 20 };
    let share = |all: u64, full: u64| (all / (functions as u64).max(1) * full).clamp(all / least, all);
    let run = |all: u64| share(all, given.functions);
    // Who asks for certainty waits for the ends of each.
    let patience = if given.is_first_look() { run(given.patience) } else { given.patience };
    let budget = invariant::Budget { steps: run(given.steps), guided: run(given.guided), patience, ..given };
    Options { rlimit: share(options.rlimit, ASKED), budget, ..options.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares versions of one function by the expressions that it returns; a churn is `from-to`.
    fn check(returned: &[&str], all_pairs: bool, expected: &[&str]) {
        let texts: Vec<String> =
            returned.iter().map(|e| format!("int f(int x) {{ return {e}; }}\n")).collect();
        let versions: Vec<Vec<(&str, &str)>> = texts.iter().map(|t| vec![("a.c", t.as_str())]).collect();
        let analysis = Options { jobs: 1, all_pairs, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), analysis));
        let points = report.functions.iter().flat_map(|f| &f.points);
        let mut found: Vec<String> =
            points.flat_map(|p| &p.churns).map(|c| format!("{}-{}", c.from, c.to)).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, expected, "{returned:?}");
    }

    #[test]
    fn all_pairs_of_versions_are_compared_when_asked_for() {
        check(&["1", "2", "3"], false, &["1-2", "2-3"]);
        check(&["1", "2", "3"], true, &["1-2", "1-3", "2-3"]);
        check(&["1", "2", "1"], true, &["1-2", "2-3"]);
    }
}
