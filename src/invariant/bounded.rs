//! Facts of all executions with at most `k` iterations of each loop (`bounded(k)`, design D7): what
//! is tried when neither exact unrolling nor induction settles a candidate.
//!
//! Every loop is laid out `k` times; what would go round once more ends there, so that the exit of
//! the unrolled body is reached by exactly those executions. A bound of a counter from above would
//! only restate `k`, so it is not tried.

use super::consolidate::{Engine, Options, Task};
use super::point::Point;
use super::templates::Candidate;
use crate::ir::Global;
use crate::mvicfg::{Flow, Mvicfg};
use crate::semantics::{Callees, unroll};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Part of a query's limit that one of these questions gets.
const SHARE: u64 = 20;
/// Most candidates that are tried.
const MAX_CANDIDATES: usize = 12;

/// The callees of one class of a task.
pub(super) struct OneClass<'a> {
    pub(super) callees: &'a dyn Callees,
    pub(super) class: usize,
}

impl Callees for OneClass<'_> {
    fn identity(&self, _: usize, name: &str) -> Option<Arc<str>> {
        self.callees.identity(self.class, name)
    }

    fn global(&self, _: usize, symbol: &str) -> Option<&Global> {
        self.callees.global(self.class, symbol)
    }
}

/// Whether a candidate may only say how few iterations there are.
fn restates_bound(c: &Candidate) -> bool {
    match c {
        Candidate::Given(guard, then) => {
            guard.x == "\\result" || restates_bound(then) || then.variables().len() == 1
        }
        other => matches!(other, Candidate::AtMost(..) | Candidate::Equation(_) | Candidate::ForAll(_)),
    }
}

impl<'a> Task<'a> {
    /// The task of one class alone with its loops laid out otherwise, at a share of the cost.
    pub(super) fn of_class(
        &self,
        class: usize,
        graph: &'a Mvicfg,
        callees: &'a OneClass,
        share: u64,
    ) -> Task<'a> {
        Task {
            graph,
            pairs: Vec::new(),
            own: Vec::new(),
            units: vec![self.units[class].clone()],
            programs: vec![self.programs[class].clone()],
            kept: self.kept,
            pins: Vec::new(),
            callees,
            pointer_bits: self.pointer_bits,
            points: self.points.clone(),
            options: Options { rlimit: self.options.rlimit / share, ..self.options },
        }
    }
}

impl Engine<'_> {
    /// Returns those of the candidates that hold at the exit of a class in all executions of at most
    /// `k` iterations, each with what its proof took for granted; and `k`.
    pub(super) fn bounded(
        &mut self,
        class: usize,
        candidates: &[Candidate],
    ) -> (BTreeMap<Candidate, BTreeSet<String>>, u32) {
        let nothing = (BTreeMap::new(), 0);
        let tried: Vec<&Candidate> =
            candidates.iter().filter(|c| !restates_bound(c)).take(MAX_CANDIDATES).collect();
        if tried.is_empty() || self.e.flow.classes[class].loops.is_empty() {
            return nothing;
        }
        let body = &self.task.graph.bodies[class];
        let limits = unroll::UnrollLimits::default();
        let Some((body, k)) = [self.task.options.unroll, 4, 2]
            .into_iter()
            .filter(|k| *k > 0)
            .find_map(|k| Some((unroll::bounded(body, k as usize, limits.total_nodes)?, k)))
        else {
            return nothing;
        };
        let graph = Mvicfg::build(vec![body]);
        let flow = Flow::new(&graph);
        let callees = OneClass { callees: self.task.callees, class };
        let task = self.task.of_class(class, &graph, &callees, SHARE);
        let mut engine = Engine::new(&task, &flow);
        let exit = Point::exit(&graph);
        engine.diff.point = exit.clone();
        engine.namings = engine.name_values();
        let known = engine.known(0, &exit, true);
        let (under, assumed) = engine.separated_state(0, Mvicfg::EXIT);
        let holds = |candidate: &Candidate| {
            let value = |x: &str| known.get(x).map(|k| k.as_term());
            let goal = candidate.term(&mut engine.e.pool, &value)?;
            let answer = engine.solver.holds(&mut engine.e.pool, under, goal);
            let of_values = candidate.variables().into_iter().filter_map(|x| known.get(x));
            let taken = of_values.flat_map(|k| k.assumed.iter().cloned()).chain(assumed.iter().cloned());
            matches!(answer, smt::Truth::Holds).then(|| (candidate.clone(), taken.collect()))
        };
        let found = tried.into_iter().filter_map(holds).collect();
        self.nodes_visited += engine.e.statistics.nodes_visited;
        self.solver_queries += engine.solver.solver().statistics().queries;
        (found, k)
    }
}
