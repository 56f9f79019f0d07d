//! What the gate asks of one function: what became of its properties, without its facts.
//!
//! Runs come first, as everywhere; terms are built and the solver is asked only where there is an
//! assertion or a pinned fact to prove. What a caller may see of a change is what a run shows.

use crate::interp::{self, End};
use crate::invariant::findings::FunctionDiff;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::obligation::properties::{self, fails};
use crate::invariant::observable;
use crate::invariant::point::Kind;
use crate::invariant::task::Task;
use crate::invariant::witness::budget::MAX_NODES;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::mvicfg::Flow;
use std::collections::BTreeSet;

/// What the gate is told of a function.
#[derive(Default)]
pub struct Checked {
    /// Its properties; no facts.
    pub diff: FunctionDiff,
    /// Some run shows callers a difference.
    pub is_shown: bool,
}

/// What difference verification has said of a function before, so that nothing else is asked of it: what need not
/// be verified, by its condition (the diffDP paper, Definition 4).
#[derive(Clone, Debug, Default)]
pub struct Covered {
    /// No assertion fails, here or in what is called, on an input on which none failed before.
    pub all: bool,
    /// The function's own assertions of which that is known, by line in the newer version and text.
    pub assertions: BTreeSet<(u32, String)>,
}

impl Covered {
    /// Whether that is known of one assertion of the function.
    pub fn has(&self, line: u32, text: &str) -> bool {
        self.all || self.assertions.iter().any(|(l, t)| *l == line && t == text)
    }
}

/// Looks at the properties of one function. Of what is `covered` only that is proved which may be mended. Cost: runs,
/// and a few questions for each assertion and pinned fact, until `is_over`.
pub fn check_function(task: &Task, covered: &Covered, is_over: &dyn Fn() -> bool) -> Checked {
    let is_shown = is_shown(task);
    let nodes_total = task.graph.nodes.len() as u64;
    // What fails in the older version may be mended.
    let nothing = Covered::default();
    let covered = if failed_before(task) { &nothing } else { covered };
    let flow = is_to_be_proved(task, covered).then(|| Flow::new(task.graph));
    let Some(flow) = flow.filter(|f| f.classes.iter().all(|c| !c.irreducible)) else {
        let properties = properties::check(task, None);
        return Checked {
            diff: FunctionDiff { properties, nodes_total, ..FunctionDiff::default() },
            is_shown,
        };
    };
    let mut engine = FunctionAnalysis::new(task, &flow);
    let properties = properties::check_until(task, Some(&mut engine), (covered, is_over));
    let deciders =
        [&engine.deciders.points, &engine.deciders.lemmas, &engine.deciders.large, &engine.deciders.elements];
    let deciders = deciders.into_iter().chain(&engine.deciders.recursions);
    let diff = FunctionDiff {
        properties,
        nodes_visited: engine.further.nodes_visited + engine.e.statistics.nodes_visited,
        nodes_total,
        solver_queries: engine.further.solver_queries
            + deciders.map(|d| d.solver().statistics().queries).sum::<u64>(),
        ..FunctionDiff::default()
    };
    Checked { diff, is_shown }
}

/// Whether a function has something that runs do not settle: what it asserts, or is pinned to.
fn is_to_be_proved(task: &Task, covered: &Covered) -> bool {
    let asserts = || task.graph.bodies.iter().any(|b| b.nodes.iter().any(|n| fails(&n.instr)));
    !covered.all && task.graph.nodes.len() <= MAX_NODES && (!task.specification.pins.is_empty() || asserts())
}

/// Whether some run fails an assertion in an older class.
fn failed_before(task: &Task) -> bool {
    let fails = |r: &Run| matches!(r.old.end, End::AssertFailed { .. });
    task.pairs.iter().any(|&(from, to)| task.runs(from, to).iter().any(fails))
}

/// Whether some run shows callers that two classes differ.
fn is_shown(task: &Task) -> bool {
    let observables = observable::at(task.graph, Kind::Exit).into_iter().filter(|s| s.is_observable());
    let observables: Vec<_> = observables.collect();
    task.pairs.iter().any(|&(from, to)| {
        let (old, new) = (&*task.graph.bodies[from], &*task.graph.bodies[to]);
        let differs = |r: &Run| {
            observables.iter().any(|s| runs::differs(r, s, old, new).is_some()) || asks_otherwise(r)
        };
        task.runs(from, to).iter().any(differs)
    })
}

/// Whether the versions ask something else of what nobody defines: the environment, handlers, other files.
fn asks_otherwise(run: &Run) -> bool {
    let asked = |o: &interp::Outcome| -> Vec<_> {
        o.assumed.calls.iter().map(|c| (c.callee.clone(), c.arguments.clone())).collect()
    };
    asked(&run.old) != asked(&run.new)
}
