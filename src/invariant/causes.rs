//! Which source lines a change comes from: those of the nodes that only one side of it rests on.

use super::consolidate::{Engine, Side};
use crate::interp::{End, Outcome};
use crate::mvicfg::MvId;
use crate::semantics::Lines;
use std::rc::Rc;

impl Engine<'_> {
    /// A side with what decides whether a run gets to an undefined event, and the event itself, as causes.
    pub(super) fn with_event(&self, class: usize, o: &Outcome, side: &Side) -> Side {
        let graph = self.task.graph;
        let mut causes = side.causes.union(&side.guards);
        if let End::Undefined { place, .. } = &o.end
            && *place.function == *graph.bodies[class].name
            && place.file == self.task.units[class].path
        {
            let here = |&n: &usize| {
                graph.nodes[n].classes.contains(class) && graph.line(n as MvId, class) == place.line
            };
            (0..graph.nodes.len()).filter(here).for_each(|n| causes.insert(n));
        }
        Side { causes: Rc::new(causes), guards: side.guards.clone(), ..Side::default() }
    }

    /// The lines of the values that only one side has, and that both have; failing those, of what decides
    /// which value it is.
    pub(super) fn causes_of_change(
        &self,
        from: usize,
        to: usize,
        a: &Side,
        b: &Side,
    ) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let (mut removed, mut added, shared) = self.cause_lines(from, to, &a.causes, &b.causes);
        if removed.is_empty() && added.is_empty() {
            let (ga, gb) = (a.causes.union(&a.guards), b.causes.union(&b.guards));
            (removed, added, _) = self.cause_lines(from, to, &ga, &gb);
        }
        if removed.is_empty() && added.is_empty() {
            // The run differs where the terms do not say: the change itself is the cause.
            let everything: Lines = (0..self.task.graph.nodes.len()).collect();
            (removed, added, _) = self.cause_lines(from, to, &everything, &everything);
        }
        (removed, added, shared)
    }

    /// Splits the nodes that two sides rest on into lines of each side alone and lines of both.
    pub(super) fn cause_lines(
        &self,
        from: usize,
        to: usize,
        a: &Lines,
        b: &Lines,
    ) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let graph = self.task.graph;
        let in_class = |n: usize, c: usize| graph.nodes[n].classes.contains(c);
        let lines = |nodes: Vec<usize>, c: usize| {
            let mut lines: Vec<u32> =
                nodes.into_iter().map(|n| graph.line(n as MvId, c)).filter(|&l| l > 0).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let removed = a.iter().filter(|&n| in_class(n, from) && !in_class(n, to)).collect();
        let added = b.iter().filter(|&n| in_class(n, to) && !in_class(n, from)).collect();
        let shared = a.intersection(b).iter().filter(|&n| in_class(n, from) && in_class(n, to)).collect();
        (lines(removed, from), lines(added, to), lines(shared, to))
    }
}
