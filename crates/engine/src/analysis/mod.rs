//! From a range of revisions to a report: calls the rooms below in order, one function at a time.
//!
//! The way of the data: changed files between consecutive versions; units of those files (and of
//! files that include changed headers); functions linked through the versions; classes of equal
//! bodies; for every function with more than one class a multiversion graph and its facts; the
//! report.

mod ages;
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
mod first_look;
mod function;
mod graphs;
mod ground;
mod handed_over;
pub mod holds;
mod hunks;
mod implied;
mod initial;
mod layouts;
mod likeness;
mod lineage;
mod linked;
mod loaded;
mod local;
mod local_view;
pub mod memory;
mod mentions;
mod new_names;
mod objects;
mod outside;
mod parts;
mod pinned;
mod portfolio;
mod portion;
mod preconditions;
mod propagated;
mod properties;
pub mod quantify;
mod reach;
mod renamed;
mod request;
mod selection;
mod statics;
mod subsets;
mod summaries;
pub mod text_lineage;
mod units;
mod verifying;
mod volatiles;
mod watch;
mod weakened;
mod witness;
mod workers;
mod world;

pub use graphs::{Drawing, draw, illustrate};
pub use request::{
    Differencing, Effort, Exits, FileChange, Hunk, Limits, Options, Pin, PointChoice, Request, Requirement,
    Specification, VersionInput,
};
pub use units::{Units, is_header, is_source};
pub use watch::{Ended, Watch};

use crate::cost;
use crate::invariant::{self, OpenKind};
use crate::quantify::{Keeper, Nowhere};
use crate::report::{Pending, Report, Summary, unseen};
use first_look::FirstLook;
use lineage::Lineage;
use linked::Name;
use loaded::Loaded;
use local_view::LocalView;
use mentions::Taken;
use portfolio::Means;
use std::collections::BTreeSet;
use watch::Unwatched;
use workers::in_pool;
use world::World;

/// Analyses a range of versions.
///
/// Never fails: what cannot be analysed is in the report, with its reason.
pub fn diff(request: &Request) -> Report {
    diff_watched(request, &Unwatched)
}

/// As [`diff`], and tells how far it is.
pub fn diff_watched(request: &Request, watch: &dyn Watch) -> Report {
    diff_keeping(request, watch, &Nowhere)
}

/// The same, with a place where outcomes of assertions are kept from run to run.
pub fn diff_keeping(request: &Request, watch: &dyn Watch, keeper: &dyn Keeper) -> Report {
    in_pool(request, || {
        let _room = cost::enter(cost::Room::Analysis);
        diff_in_pool(request, Around { watch, keeper, taken: &Taken::default() })
    })
}

/// Who is told, and where things are kept.
#[derive(Clone, Copy)]
struct Around<'a> {
    watch: &'a dyn Watch,
    keeper: &'a dyn Keeper,
    taken: &'a Taken,
}

fn diff_in_pool(request: &Request, around: Around) -> Report {
    let mut report = diff_asserted(request, around);
    // What was still to be seen when the last configuration was looked at is no part of what is said.
    report.hunks.iter_mut().for_each(|h| h.pending = Pending::default());
    report
}

fn diff_asserted(request: &Request, around: Around) -> Report {
    // What comments assert is asserted where it is judged.
    match request.analysis.differencing {
        Some(_) => {
            let mut annotated = annotations::asserted(request);
            let loaded = Loaded::until(&annotated, (around.watch, around.taken));
            let notices = annotations::add_contracts(&mut annotated, request, &loaded.by_version);
            let mut report = diff_loaded(&annotated, loaded, around);
            report.notices.extend(notices);
            report
        }
        None => diff_loaded(request, Loaded::until(request, (around.watch, around.taken)), around),
    }
}

fn diff_loaded(request: &Request, loaded: Loaded, around: Around) -> Report {
    let mut report = diff_configured(request, loaded, around);
    // What was loaded first is not kept beside what is loaded now.
    let again =
        |again: &Request| diff_loaded(again, Loaded::until(again, (around.watch, around.taken)), around);
    configurations::tell(&mut report, request, around.watch, &again);
    report.complete = unseen::is_nothing(&report);
    report.summary = Summary::of(&report);
    report
}

/// The report of one configuration, but for what is said of all of it.
fn diff_configured(request: &Request, loaded: Loaded, Around { watch, keeper, .. }: Around) -> Report {
    let mut report = convert::empty_report(request);
    let Loaded { units, by_version, reaches, mut lineages, cut, notices, is_linked, .. } = loaded;
    report.notices.extend(notices);
    let come_and_go = loaded::relinked(&reaches);
    let mut world = World::new(&by_version, reaches, &lineages, watch);
    world.cut = cut;
    let begun = initial::changed(request, &by_version, &world.reaches);
    let firsts = match request.analysis.properties_only {
        true => Some(first_calls::tell_apart(&mut lineages, &begun, &world)),
        false => None,
    };
    let wanted = lineages.iter().filter(|l| request.analysis.whole || classes::is_changed(l)).count();
    let options = shared_out(&request.analysis, wanted);
    if request.analysis.is_local() {
        return local_first(report, (request, &by_version, &lineages), &world, (&come_and_go, is_linked));
    }
    let mut analysed = function::analyse_all(&lineages, &world, &options);
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
    let means = Means { world: &world, options: &options, keeper };
    let dockets = portfolio::judge(&lineages, &analysed, &means);
    statics::tell(&mut report, &by_version);
    differencing::count(&mut report, &dockets);
    report.cost.solver_queries += dockets.iter().map(|d| d.queries).sum::<u64>();
    properties::fill(&mut report, dockets, request);
    let of_callers = portfolio::found(&callers.lineages, &callers.analysed, &means);
    properties::fill(&mut report, of_callers, request);
    if let Some(firsts) = firsts {
        firsts.settle(&mut report, &begun, &lineages, &world);
    }
    report.notices.extend(world.faults());
    report.notices.extend(callers.notices);
    report.notices.extend(cut_short(&lineages, &analysed, &request.analysis));
    report.notices.extend(unmet(&request.analysis.specification.templates, [&analysed, &callers.analysed]));
    let is_same = local_view::same_at_exit(&report, &lineages, &analysed);
    let view = LocalView::of((request, &by_version, &lineages), &world, &is_same);
    view.tell(&mut report, (request, &by_version, &lineages), &analysed, &world);
    if let Some(ended) = watch.ended() {
        let is_late = |a: &&classes::Analysed| is_not_begun(a);
        let changed = lineages.iter().filter(|l| classes::is_changed(l)).count();
        let late = analysed.iter().filter(is_late).count();
        report
            .notices
            .push(format!("{}: {late} of {changed} changed functions were not looked at", ended.told()));
    }
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

/// The local view, and then what a first look asks at exits.
fn local_first(
    mut report: Report,
    (request, files, lineages): local_view::Range,
    world: &World,
    names: (&BTreeSet<Name>, bool),
) -> Report {
    let mut view = LocalView::of((request, files, lineages), world, &|_, _| false);
    let first_look = FirstLook::of((request, world), lineages, &view.locals, names);
    let analysed = first_look.exits(lineages, world, &request.analysis);
    convert::fill(&mut report, request, lineages, &analysed, world);
    statics::tell(&mut report, files);
    let means = Means { world, options: &request.analysis, keeper: &Nowhere };
    properties::fill(&mut report, portfolio::found(lineages, &analysed, &means), request);
    let is_same = local_view::same_at_exit(&report, lineages, &analysed);
    let has_properties =
        |l: usize| analysed.get(l).and_then(|a| a.diff.as_ref()).is_some_and(|d| !d.properties.is_empty());
    let not_begun = view.locals.not_begun;
    // What a function asserts may be no longer kept, though all that it does is the same.
    view.locals.leave_out(lineages, &|l, step| is_same(l, step) && !has_properties(l));
    view.tell(&mut report, (request, files, lineages), &analysed, world);
    first_look.drop_questions(&mut report, request);
    report.notices.extend(world.faults());
    if let Some(ended) = world.watch.ended() {
        let and = (not_begun > 0).then(|| format!(": {not_begun} functions were not compared"));
        report.notices.push(format!("{}{}", ended.told(), and.unwrap_or_default()));
    }
    report
}

/// Says of which functions the solver's limit left facts untried, and how to raise it: that is what the user has set,
/// of which each function may have a share.
fn cut_short(lineages: &[Lineage], analysed: &[classes::Analysed], options: &Options) -> Option<String> {
    let is_cut = |a: &classes::Analysed| a.diff.as_ref().is_some_and(|d| d.cut_short);
    let is_asked = |l: &Lineage| !options.limits.budget.is_first_look() || l.is_edited();
    let cut = lineages.iter().zip(analysed).filter(|(l, a)| is_cut(a) && is_asked(l));
    let cut: Vec<&Lineage> = cut.map(|(l, _)| l).collect();
    let (_, newest) = cut.first()?.newest()?;
    let others = match cut.len() - 1 {
        0 => String::new(),
        1 => " and 1 more function".into(),
        n => format!(" and {n} more functions"),
    };
    let more = options.limits.rlimit.saturating_mul(4);
    Some(format!(
        "note: not every fact of {}(){others} was tried within the solver's limit; --rlimit {more} tries more",
        newest.function.name
    ))
}

/// Whether a function is open because the work ended early.
fn is_not_begun(a: &classes::Analysed) -> bool {
    let mut open = a.diff.iter().flat_map(|d| &d.points).flat_map(|p| &p.undecided);
    open.any(|u| u.kind == OpenKind::NotBegun)
}

/// The limits of one function, when so many are analysed: beyond a few, all share what these may cost,
/// so that a range that touches everything ends too.
fn shared_out(options: &Options, functions: usize) -> Options {
    const ASKED: u64 = 8;
    let given = options.limits.budget;
    let least = if given.is_first_look() { 100 } else { 20 };
    let share = |all: u64, full: u64| (all / (functions as u64).max(1) * full).clamp(all / least, all);
    let run = |all: u64| share(all, given.functions);
    // Who asks for certainty waits for the ends of each.
    let patience = if given.is_first_look() { run(given.patience) } else { given.patience };
    let budget = invariant::Budget { steps: run(given.steps), guided: run(given.guided), patience, ..given };
    let limits = Limits { rlimit: share(options.limits.rlimit, ASKED), budget, ..options.limits };
    Options { limits, ..options.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::c;

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
