//! Proofs of assertions in loops by k-induction (Sheeran, Singh and Stålmarck, FMCAD 2000): an assertion
//! holds in every iteration if it holds in the first ones, and in any iteration before which it held in
//! `k - 1` others.
//!
//! Such a proof is read off functions that do what the function does: of the loop's iterations some first
//! ones are laid out, and then `k` at a time make one ([`unroll::grouped`]). Where the last of these
//! arrives, `k - 1` assertions have held behind a loop head of which only its inductive facts are known;
//! these strengthen the proof. With 0 to `k - 1` first iterations every iteration is the last of a group
//! in one of the functions, or among the first ones in the function that lays out most of them.

use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::obligation::properties;
use crate::invariant::proof::bounded::OneClass;
use crate::ir::NodeId;
use crate::mvicfg::{ClassId, Flow, MvId, Mvicfg};
use crate::semantics::unroll;
use std::sync::Arc;

/// Iterations at a time.
const MOST_TOGETHER: usize = 3;
/// Nodes of a function with them.
const MAX_NODES: usize = 600;
/// Part of a query's limit that a question gets.
const SHARE: u64 = 10;

impl FunctionAnalysis<'_> {
    /// Whether the assertion of a line, in a loop of a class, is shown never to fail. Cost: the inductive
    /// facts of up to five functions.
    pub(in crate::invariant) fn holds_by_k_induction(&mut self, class: ClassId, line: u32) -> bool {
        if self.e.flow.classes[class].loops.is_empty() {
            return false;
        }
        let body = self.task.graph.bodies[class].clone();
        let alone = Mvicfg::build(vec![body.clone()]);
        let is_end =
            |n: &MvId| alone.line(*n, ClassId::ONLY) == line && properties::fails(&alone.node(*n).instr);
        let ends: Vec<NodeId> = alone.ids().filter(is_end).map(MvId::in_only).collect();
        !ends.is_empty()
            && (2..=MOST_TOGETHER).any(|k| {
                (0..k).rev().all(|first| {
                    let laid_out = unroll::grouped(&body, &ends, first, k, MAX_NODES);
                    laid_out.is_some_and(|grouped| {
                        let early = if first + 1 == k { grouped.first } else { Vec::new() };
                        let ends: Vec<NodeId> = early.into_iter().chain(grouped.last).collect();
                        self.never_ends_at(class, grouped.function, &ends)
                    })
                })
            })
    }

    /// Whether a function that does what a class does is shown never to come to these nodes.
    fn never_ends_at(&mut self, class: ClassId, function: Arc<crate::ir::Function>, ends: &[NodeId]) -> bool {
        let graph = Mvicfg::build(vec![function]);
        let flow = Flow::new(&graph);
        let callees = OneClass { callees: self.task.callees, summaries: self.task.summaries, class };
        let task = self.task.of_class(class, &graph, &callees, SHARE);
        let mut engine = FunctionAnalysis::new(&task, &flow);
        engine.classes.own.insert(ClassId::ONLY, self.own_summary(class));
        let shown = ends.iter().all(|end| {
            let reached = engine.state_at(ClassId::ONLY, MvId::of_only(*end));
            !engine.e.rests_on_havoc(reached) && matches!(engine.met(reached), Ok(None))
        });
        self.further.nodes_visited += engine.e.statistics.nodes_visited;
        self.further.solver_queries += engine.deciders.points.solver().statistics().queries;
        shown
    }
}
