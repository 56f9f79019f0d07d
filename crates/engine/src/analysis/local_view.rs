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

/// Of which functions nothing changes at their exits at a step: whatever the report makes of what was found there.
pub(super) fn same_at_exit<'a>(
    report: &Report,
    lineages: &'a [Lineage],
    analysed: &'a [Analysed],
) -> impl Fn(usize, usize) -> bool + Sync + use<'a> {
    let churns = hunks::churning(report);
    move |l, step| {
        lineages.get(l).zip(analysed.get(l)).is_some_and(|(lineage, a)| {
            hunks::is_settled(a, step) && !is_seen(a, step) && !hunks::has_churn(&churns, lineage, step)
        })
    }
}

/// Whether callers see a difference between the two versions of a step.
fn is_seen(a: &Analysed, step: usize) -> bool {
    let pair = (a.class_of.get(step).copied().flatten(), a.class_of.get(step + 1).copied().flatten());
    let mut churns = a.diff.iter().flat_map(|d| &d.points).flat_map(|p| &p.churns);
    churns.any(|c| (Some(c.from), Some(c.to)) == pair && c.subject.is_observable())
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Effort, Options, diff, memory};
    use crate::frontend::c;
    use crate::report::ChangeVerdict;

    /// What stands behind the opaque pointer of a stream leads back to it, as in zlib.
    const OPAQUE: &str = "struct opaque;
        struct stream { int (*alloc)(int); struct opaque *state; };
        struct inner { struct stream *strm; int mode; int wrap; };
        int validate(struct stream *strm, int check) {
            struct inner *state;
            if (strm == 0 || strm->alloc == 0) return -2;
            state = (struct inner *)strm->state;
            if (state == 0 || state->strm != strm || state->mode < 3) return -2;
            if (check)
                state->wrap |= 4;
            else
                state->wrap &= ~4;
            return 0;
        }";

    /// The changes that are told as differences, at each effort.
    fn told(old: &str, new: &str) -> Vec<usize> {
        let efforts = [Effort::Quick, Effort::Normal, Effort::Deep];
        let one = |effort: Effort| {
            let versions = [old, new].map(|text| vec![("a.c", text)]);
            let options = Options { effort, jobs: 1, ..Options::default() };
            let report = diff(&memory::request(&versions, c::Options::default(), options));
            let changes = report.functions.iter().flat_map(|f| &f.changes);
            changes.filter(|c| c.verdict == ChangeVerdict::Differs).count()
        };
        efforts.into_iter().map(one).collect()
    }

    #[test]
    fn a_difference_that_has_no_name_at_the_exit_is_told_where_it_is() {
        let new = OPAQUE.replace("(check)", "(check && state->wrap)");
        assert_eq!(told(OPAQUE, &new), [1, 1, 1]);
    }

    #[test]
    fn a_difference_is_told_beside_members_that_move() {
        let named = OPAQUE.replace("struct opaque", "struct inner");
        let moved = named.replace("int mode; int wrap;", "int mode; int more; int wrap;");
        assert_eq!(told(&named, &moved), [0, 0, 0]);
        let new = moved.replace("(check)", "(check && state->wrap)");
        assert_eq!(told(&named, &new), [1, 1, 1]);
    }
}
