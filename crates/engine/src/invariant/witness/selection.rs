//! Examples: the runs that show how two classes differ.
//!
//! Of the runs on shared inputs the plainest one that differs on a subject is shown, made simpler as long as
//! it still does (`shrink.rs`). What `__LINE__` gave says where a text stands and not what the program does:
//! outputs that differ in such numbers alone are equal.

use crate::interp::Outcome;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::Observable;
use crate::invariant::witness::run::{Difference, Run};
use crate::invariant::witness::runs;
use crate::invariant::witness::shrink;
use crate::mvicfg::{ClassId, positions};

impl FunctionAnalysis<'_> {
    /// How a run shows a difference on a subject.
    pub(in crate::invariant) fn differs(
        &self,
        run: &Run,
        subject: &Observable,
        from: ClassId,
        to: ClassId,
    ) -> Option<Difference> {
        let (old, new) = (&self.task.graph.bodies[from], &self.task.graph.bodies[to]);
        let shown = runs::differs(run, subject, old, new);
        match subject {
            Observable::Cell { .. } => {
                shown.or_else(|| self.cell_change(run, subject, from, to).map(|_| Difference::Defined))
            }
            Observable::Output => shown
                .filter(|d| *d != Difference::Defined || !self.prints_the_same_elsewhere(run, (from, to))),
            _ => shown,
        }
    }

    /// Whether outputs differ in nothing but numbers of lines that text before them moved.
    fn prints_the_same_elsewhere(&self, run: &Run, (from, to): (ClassId, ClassId)) -> bool {
        let mut moves = self.moves.borrow_mut();
        let bodies = &self.task.graph.bodies;
        let moved = moves.entry((from, to)).or_insert_with(|| positions::moved(&bodies[from], &bodies[to]));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let same = |of: fn(&Outcome) -> &Vec<u8>| {
            let (old, new) = (of(&run.old), of(&run.new));
            old == new || positions::renumbered(&text(old), moved) == text(new)
        };
        !moved.is_empty()
            && same(|o| &o.output.stdout)
            && same(|o| &o.output.stdout_lost)
            && same(|o| &o.output.stderr)
    }

    /// The simplest of the runs that show a difference, simplified further. One of memory must be in
    /// what no cell tells.
    pub(in crate::invariant) fn witness(
        &self,
        runs: &[Run],
        subject: &Observable,
        from: ClassId,
        to: ClassId,
    ) -> Option<(Run, Difference)> {
        let churns = self.diff.churns.iter().filter(|c| (c.from, c.to) == (from, to));
        let cells: Vec<&Observable> =
            churns.map(|c| &c.subject).filter(|s| matches!(s, Observable::Cell { .. })).collect();
        let told = |r: &Run| {
            *subject == Observable::Memory && cells.iter().any(|c| self.differs(r, c, from, to).is_some())
        };
        let differs = |r: &Run| self.differs(r, subject, from, to).filter(|_| !told(r));
        let (run, difference) = runs::witness(runs, &differs)?;
        let run = self.shrunk(run.clone(), from, to, &|r| differs(r) == Some(difference));
        Some((run, difference))
    }

    /// Simplifies the input of a run, as long as it ends as it does and `keeps` holds.
    pub(in crate::invariant) fn shrunk(
        &self,
        run: Run,
        from: ClassId,
        to: ClassId,
        keeps: &dyn Fn(&Run) -> bool,
    ) -> Run {
        let graph = self.task.graph;
        let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
        let (old, new) = (&self.task.programs[from], &self.task.programs[to]);
        let likeness = runs::likeness(&run);
        let shrinker = shrink::Shrinker {
            unit: &self.task.units[to],
            replay: &|input| runs::replay(old, new, entry, input),
            keeps: &|r| runs::likeness(r) == likeness && keeps(r),
        };
        shrinker.shrink(run)
    }
}
