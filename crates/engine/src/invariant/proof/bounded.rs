//! Facts of all executions with at most `k` iterations of each loop (`bounded(k)`,
//! `docs/design/symbolic-evaluation.md`): what is tried when neither exact unrolling nor induction
//! settles a candidate.
//!
//! Every loop is laid out `k` times; what would go round once more ends there, so that the exit of
//! the unrolled body is reached by exactly those executions. A bound of a counter from above would
//! only restate `k`, so it is not tried.
//!
//! A loop that divides or shifts until nothing is left ends after a few iterations whatever it starts
//! with. Where the bounds of values (`ir::bounds`) show that none goes round once more, what holds
//! of the laid out body holds without bound.

use crate::invariant::candidate::templates::Candidate;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::obligation::properties;
use crate::invariant::observable;
use crate::invariant::point::Point;
use crate::invariant::proof::interface::{Summaries, Summary};
use crate::invariant::task::{Options, Specification, Task};
use crate::ir::{Expr, Global, bounds};
use crate::mvicfg::{ClassId, ClassSet, Flow, MvId, Mvicfg};
use crate::semantics::{Callees, library, unroll};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Part of a query's limit that one of these questions gets.
const SHARE: u64 = 20;
/// Most candidates that are tried, and where that settles them for good.
const MAX_CANDIDATES: usize = 12;
const MAX_COMPLETE: usize = 48;

/// The callees of one class of a task.
pub(in crate::invariant) struct OneClass<'a> {
    pub(in crate::invariant) callees: &'a dyn Callees,
    pub(in crate::invariant) summaries: &'a dyn Summaries,
    pub(in crate::invariant) class: ClassId,
}

impl Callees for OneClass<'_> {
    fn identity(&self, _: ClassId, name: &str) -> Option<Arc<str>> {
        self.callees.identity(self.class, name)
    }

    fn global(&self, _: ClassId, symbol: &str) -> Option<&Global> {
        self.callees.global(self.class, symbol)
    }

    fn row(&self, _: ClassId, name: &str, args: &[Expr]) -> Option<&'static library::Row> {
        self.callees.row(self.class, name, args)
    }
}

impl Summaries for OneClass<'_> {
    fn summary(&self, _: ClassId, name: &str) -> Option<Arc<Summary>> {
        self.summaries.summary(self.class, name)
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

/// Iterations that shrinking loops get: of 32 bits, that all are shifted out.
const SHRINKING: u32 = 32;

impl<'a> Task<'a> {
    /// The task of one class alone with its loops laid out otherwise, at a share of the cost.
    pub(in crate::invariant) fn of_class(
        &self,
        class: ClassId,
        graph: &'a Mvicfg,
        callees: &'a OneClass,
        share: u64,
    ) -> Task<'a> {
        Task {
            graph,
            pairs: Vec::new(),
            own: Vec::new(),
            begins: Vec::new(),
            units: vec![self.units[class].clone()],
            programs: vec![self.programs[class].clone()],
            kept: self.kept,
            specification: Specification::default(),
            callees,
            summaries: callees,
            given: Vec::new(),
            pointer_bits: self.pointer_bits,
            points: self.points.clone(),
            options: Options { rlimit: self.options.rlimit / share, ..self.options },
        }
    }
}

impl FunctionAnalysis<'_> {
    /// Returns those of the candidates that hold at the exit of a class in all executions of at most
    /// `k` iterations, each with what its proof took for granted; and `k`, unless there are no others.
    pub(in crate::invariant) fn bounded(
        &mut self,
        class: ClassId,
        candidates: &[Candidate],
    ) -> (BTreeMap<Candidate, BTreeSet<String>>, Option<u32>) {
        let tried = |complete: bool| -> Vec<&Candidate> {
            let most = if complete { MAX_COMPLETE } else { MAX_CANDIDATES };
            candidates.iter().filter(|c| complete || !restates_bound(c)).take(most).collect()
        };
        if tried(true).is_empty() {
            return (BTreeMap::new(), None);
        }
        let found = self.laid_out(class, |engine, k| {
            let exit = Point::exit(engine.task.graph);
            engine.diff.point = exit.clone();
            engine.namings = engine.name_values();
            let known = engine.known(ClassId::ONLY, &exit, true);
            let (under, assumed) = engine.separated_state(ClassId::ONLY, Mvicfg::EXIT);
            let value = |x: &str| known.get(x).map(|k| k.as_term());
            let (mut asked, mut goals) = (Vec::new(), Vec::new());
            for candidate in tried(k.is_none()) {
                if let Some(goal) = candidate.term(&mut engine.e.pool, &value) {
                    asked.push(candidate);
                    goals.push(goal);
                }
            }
            let mut found = BTreeMap::new();
            for (candidate, goal) in asked.into_iter().zip(goals) {
                let holds = candidate.is_evident(&engine.e.pool, &value)
                    || matches!(
                        engine.deciders.points.holds(&mut engine.e.pool, under, goal),
                        smt::Truth::Holds
                    );
                if holds {
                    let of_values = candidate.variables().into_iter().filter_map(|x| known.get(x));
                    let taken = of_values.flat_map(|k| k.assumed.iter().cloned());
                    found.insert(candidate.clone(), taken.chain(assumed.iter().cloned()).collect());
                }
            }
            (found, k)
        });
        found.unwrap_or_default()
    }

    /// Whether no execution of a class, however many iterations it has, fails an assertion of a line;
    /// only of functions whose loops all end after a few.
    pub(in crate::invariant) fn never_fails(&mut self, class: ClassId, line: u32) -> bool {
        let shown = self.laid_out(class, |engine, k| {
            let graph = engine.task.graph;
            k.is_none()
                && observable::abnormal_ends(&engine.e, ClassId::ONLY).into_iter().all(|node| {
                    if graph.line(node, ClassId::ONLY) != line || !properties::fails(&graph.node(node).instr)
                    {
                        return true;
                    }
                    let reached = engine.state_at(ClassId::ONLY, node);
                    if bounds::decide(&engine.e.pool, reached) == Some(false) {
                        return true;
                    }
                    !engine.e.rests_on_havoc(reached)
                        && matches!(engine.deciders.points.satisfiable(&mut engine.e.pool, reached), Ok(None))
                })
        });
        shown == Some(true)
    }

    /// Looks at one class with its loops laid out for `k` iterations; `None` is told instead where no
    /// execution has more. Nothing comes back where there are no loops, or it would be too long.
    fn laid_out<R>(
        &mut self,
        class: ClassId,
        look: impl FnOnce(&mut FunctionAnalysis, Option<u32>) -> R,
    ) -> Option<R> {
        if self.e.flow.classes[class].loops.is_empty() {
            return None;
        }
        let body = self.task.graph.bodies[class].clone();
        let nodes = unroll::UnrollLimits::default().total_nodes;
        let most = if unroll::shrinks(&body) { SHRINKING } else { 0 };
        let own = self.own_summary(class);
        let callees = OneClass { callees: self.task.callees, summaries: self.task.summaries, class };
        for k in [most, self.task.options.unroll, 4, 2].into_iter().filter(|k| *k > 0) {
            let Some(bounded) = unroll::bounded(&body, k as usize, nodes) else { continue };
            let graph = Mvicfg::build(vec![bounded.function]);
            let flow = Flow::new(&graph);
            let task = self.task.of_class(class, &graph, &callees, SHARE);
            let mut engine = FunctionAnalysis::new(&task, &flow);
            engine.classes.own.insert(ClassId::ONLY, own.clone());
            let complete = engine.never_reaches(&bounded.ends);
            if k == SHRINKING && !complete {
                continue;
            }
            let found = look(&mut engine, (!complete).then_some(k));
            self.further.nodes_visited += engine.e.statistics.nodes_visited;
            self.further.solver_queries += engine.deciders.points.solver().statistics().queries;
            return Some(found);
        }
        None
    }

    /// Whether the bounds of what branches compare keep the one class from these nodes.
    fn never_reaches(&mut self, nodes: &[crate::ir::NodeId]) -> bool {
        let only = ClassSet::single(ClassId::ONLY);
        nodes.iter().all(|node| {
            let reach = self.e.reach_from_entry(MvId::of_only(*node), &only);
            reach.iter().all(|(_, v)| bounds::decide(&self.e.pool, v.term) == Some(false))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::candidate::guard::{Guard, Test};

    #[test]
    fn a_bound_from_above_may_only_say_how_few_iterations_there_are() {
        let at_most = || Candidate::AtMost("i".into(), 4);
        let guarded =
            |x: &str, then| Candidate::Given(Guard { x: x.into(), test: Test::AtLeast(1) }, Box::new(then));
        assert!(restates_bound(&at_most()));
        assert!(!restates_bound(&Candidate::AtLeast("i".into(), 0)));
        assert!(!restates_bound(&Candidate::LessEq("i".into(), "n".into())));
        let relation = || Candidate::LessEq("i".into(), "n".into());
        assert!(restates_bound(&guarded("n", at_most())));
        assert!(restates_bound(&guarded("n", Candidate::AtLeast("i".into(), 0))), "of one variable");
        assert!(!restates_bound(&guarded("n", relation())));
        assert!(restates_bound(&guarded("\\result", relation())), "how it ends may follow from the bound");
    }
}
