//! Which source lines a change comes from: those of the nodes that only one side of it rests on.

use crate::interp::{self, End, Input, Limits, Outcome};
use crate::invariant::findings::CauseLines;
use crate::invariant::findings::ClassFacts;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::ir::NodeId;
use crate::mvicfg::{ClassId, MvId};
use crate::semantics::Lines;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

impl FunctionAnalysis<'_> {
    /// A side with what decides whether a run gets to an undefined event, and the event itself, as causes.
    pub(in crate::invariant) fn with_event(
        &self,
        class: ClassId,
        o: &Outcome,
        side: &ClassFacts,
    ) -> ClassFacts {
        let graph = self.task.graph;
        let mut causes = side.causes.union(&side.guards);
        if let End::Undefined { place, .. } = &o.end
            && *place.function == *graph.bodies[class].name
            && place.file == self.task.units[class].path
        {
            let here =
                |n: &MvId| graph.node(*n).classes.contains(class) && graph.line(*n, class) == place.line;
            graph.ids().filter(here).for_each(|n| causes.insert(n));
        }
        ClassFacts { causes: Rc::new(causes), guards: side.guards.clone(), ..ClassFacts::default() }
    }

    /// The lines of the values that only one side has, and that both have; failing those, of what decides
    /// which value it is; failing those, of all that the run that shows the difference comes to.
    pub(in crate::invariant) fn causes_of_change(
        &self,
        (from, to): (ClassId, ClassId),
        (a, b): (&ClassFacts, &ClassFacts),
        shown: Option<&Run>,
    ) -> CauseLines {
        let mut lines = self.cause_lines(from, to, &a.causes, &b.causes);
        lines.ran = shown
            .map(|run| [self.lines_run(from, &run.input_of(true)), self.lines_run(to, &run.input_of(false))]);
        if lines.is_one_sided() {
            return lines;
        }
        let (ga, gb) = (a.causes.union(&a.guards), b.causes.union(&b.guards));
        let guards = self.cause_lines(from, to, &ga, &gb);
        (lines.removed, lines.added) = (guards.removed, guards.added);
        if lines.is_one_sided() {
            return lines;
        }
        // The run differs where the terms do not say: the change itself is the cause.
        let everything: Lines = self.task.graph.ids().collect();
        let all = self.cause_lines(from, to, &everything, &everything);
        (lines.removed, lines.added) = (all.removed, all.added);
        if let Some([old, new]) = &lines.ran {
            lines.removed.retain(|l| old.contains(l));
            lines.added.retain(|l| new.contains(l));
        }
        lines
    }

    /// The lines of a function that a run of it comes to.
    fn lines_run(&self, class: ClassId, input: &Input) -> BTreeSet<u32> {
        let name = &self.task.graph.bodies[class].name;
        let Some(f) = self.task.units[class].function(name) else { return BTreeSet::new() };
        let nodes: Vec<NodeId> = (0..f.nodes.len() as u32).map(NodeId).collect();
        let limits = Limits { fuel: runs::FUEL, ..Limits::default() };
        let mut lines = BTreeSet::new();
        interp::run_traced(&self.task.programs[class], name, input, &limits, &nodes, &mut |n, _| {
            lines.insert(f.node(n).span.line);
            ControlFlow::Continue(())
        });
        lines
    }

    /// Splits the nodes that two sides rest on into lines of each side alone and lines of both.
    pub(in crate::invariant) fn cause_lines(
        &self,
        from: ClassId,
        to: ClassId,
        a: &Lines,
        b: &Lines,
    ) -> CauseLines {
        let graph = self.task.graph;
        let in_class = |n: MvId, c: ClassId| graph.node(n).classes.contains(c);
        let lines = |nodes: Vec<MvId>, c: ClassId| {
            let mut lines: Vec<u32> =
                nodes.into_iter().map(|n| graph.line(n, c)).filter(|&l| l > 0).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let removed = a.iter().filter(|&n| in_class(n, from) && !in_class(n, to)).collect();
        let added = b.iter().filter(|&n| in_class(n, to) && !in_class(n, from)).collect();
        let shared = a.intersection(b).iter().filter(|&n| in_class(n, from) && in_class(n, to)).collect();
        CauseLines {
            removed: lines(removed, from),
            added: lines(added, to),
            shared: lines(shared, to),
            ran: None,
        }
    }
}
