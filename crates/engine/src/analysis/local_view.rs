//! The local view of a range: what changes where the text does, in functions and objects, and what became of each hunk.

use super::classes::Analysed;
use super::hunks;
use super::lineage::{Lineage, VersionFiles};
use super::local::Locals;
use super::objects::Objects;
use super::outside::{self, Outside};
use super::request::Request;
use super::world::World;
use crate::report::Report;

/// What was loaded of a range: the request, its files by version, its functions.
pub(super) type Range<'a> = (&'a Request, &'a [VersionFiles], &'a [Lineage]);

/// What changes where the text does.
pub(super) struct LocalView {
    outside: Outside,
    objects: Objects,
    pub locals: Locals,
}

impl LocalView {
    /// Compares objects, and functions but for those of a step that are known to be the same at their exits. Where
    /// properties are asked for and no facts, nothing is compared.
    pub fn of(
        (request, files, lineages): Range,
        world: &World,
        is_same_at_exit: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> LocalView {
        let outside = Outside::of(request, lineages);
        if request.analysis.properties_only {
            return LocalView { outside, objects: Objects::default(), locals: Locals::default() };
        }
        let objects = Objects::of(request, files, &world.reaches, lineages);
        let has_fault = |l: &Lineage, reason: &str| world.has_fault(l, reason);
        let is_left_out = |l: usize, step: usize| outside.has(l, step) || is_same_at_exit(l, step);
        let functions = (lineages, objects.renamed());
        let locals = Locals::of(request, functions, &is_left_out, world.watch, &has_fault);
        LocalView { outside, objects, locals }
    }

    /// Tells all of it, and what became of each hunk.
    pub fn tell(
        self,
        report: &mut Report,
        (request, files, lineages): Range,
        analysed: &[Analysed],
        world: &World,
    ) {
        let LocalView { outside, objects, locals } = self;
        outside.leave_out(report);
        locals.tell(report, request, lineages);
        objects.tell(report);
        locals.settle_left_out(report, request, lineages);
        outside::leave_out_objects(request, report);
        let seen = hunks::Seen { files, lineages, analysed, reaches: &world.reaches, cut: &world.cut };
        hunks::account(report, request, &seen, (&locals, &objects));
    }
}

/// Of which functions nothing changes at their exits at a step.
pub(super) fn same_at_exit<'a>(
    report: &Report,
    lineages: &'a [Lineage],
    analysed: &'a [Analysed],
) -> impl Fn(usize, usize) -> bool + Sync + use<'a> {
    let churns = hunks::churning(report);
    move |l, step| {
        lineages.get(l).zip(analysed.get(l)).is_some_and(|(lineage, a)| {
            hunks::is_settled(a, step) && !hunks::has_churn(&churns, lineage, step)
        })
    }
}
