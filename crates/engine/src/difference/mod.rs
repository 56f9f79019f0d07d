//! Difference verification with conditions: which executions of a modified program may violate a
//! property that the original program does not violate on the same input.
//!
//! After Beyer, Jakobs and Lemberger (diffCond, SEFM 2020) and Jakobs and Pollandt (diffDP, iFM 2023).
//! Both programs are control-flow automata ([`Automaton`](automaton)); a detector compares them step by step and
//! makes a difference graph ([`Graph`]); Algorithm 1 turns that into a condition ([`Condition`]), which
//! covers what need not be verified. No solver is asked.
//!
//! *Input* is all that an execution depends on: arguments, memory and static objects at entry, standard
//! input and the outside, and the values of `__VERIFIER_nondet_*` in the order in which they are asked
//! for. A change is *harmless* if on every input on which the modified program fails, the original one
//! fails, too, or does something undefined. To fail is to reach a failing `assert`, `reach_error()`,
//! `__VERIFIER_error()`, `__builtin_unreachable()`, and what [`Concerns`] adds. A run that something
//! undefined ends has not failed unless [`Concerns::undefined`] says so.
//!
//! A function of which no definition is at hand is taken to be the same function in both versions
//! (`docs/design/difference-verification.md`): equal calls in equal states do the same.

mod align;
mod assume;
mod automaton;
mod body;
mod branches;
mod graph;
mod known;
mod linear;
mod model;
mod names;
mod part;
mod remainder;
mod state;
mod syntactic;
mod undefined;
mod values;

pub use graph::{Condition, Edge, Extent, Graph, GraphNode, ProgramLocation, Role};
pub use remainder::{Remainder, remainder};

pub(crate) use body::{calls_nothing, is_failure};

use crate::cost;
use crate::interp::Program;
use crate::ir::NodeId;
use model::Model;

/// A function of a program, as one version has it.
#[derive(Clone, Copy)]
pub struct Version<'p> {
    pub program: &'p Program,
    pub function: &'p str,
}

/// What counts as a violation beside failing assertions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concerns {
    /// `abort()`. In verification tasks it says that the execution does not count.
    pub aborts: bool,
    /// Undefined behaviour: division by zero, overflow, invalid accesses, uninitialised reads. Leaks are
    /// not among it.
    pub undefined: bool,
}

impl Concerns {
    /// Assertions, and `abort()` unless the program is a verification task, which speaks of violations
    /// by `reach_error` and of assumptions by `abort`.
    pub fn of(program: &Program) -> Concerns {
        let is_task = |name: &str| name == "reach_error" || name.starts_with("__VERIFIER_");
        let mut prototypes = program.units().iter().flat_map(|u| &u.prototypes);
        let mut functions = program.units().iter().flat_map(|u| &u.functions);
        let task = prototypes.any(|p| is_task(&p.name)) || functions.any(|f| is_task(&f.name));
        Concerns { aborts: !task, undefined: false }
    }
}

/// How changes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    /// By data dependences and properties.
    #[default]
    DiffDp,
    /// By text.
    DiffCond,
}

/// Compares a function of two versions and all that it calls. Cost: near linear in the paths' common
/// length, at most quadratic in the locations, bounded by counts; beyond these everything is left to
/// verify.
pub fn compare(old: Version, new: Version, detector: Detector, concerns: Concerns) -> Graph {
    let _room = cost::enter(cost::Room::Difference);
    let definition = new.program.definition_by_name(new.function);
    let start = ProgramLocation {
        function: new.function.into(),
        unit: definition.and_then(|d| new.program.definition(d)).map_or(0, |d| d.unit),
        node: NodeId(0),
        calls: Vec::new(),
    };
    if detector == Detector::DiffDp && !model::may_fail(&new, &concerns) {
        return Graph { nodes: vec![(start, Role::Covered)], edges: Vec::new() };
    }
    match Model::build(old, new, concerns) {
        Some(model) => match detector {
            Detector::DiffDp => align::graph(&model),
            Detector::DiffCond => syntactic::graph(&model),
        },
        None => Graph::everything(start),
    }
}

/// Whether a change is proved to bring no violation on any input on which the original program has none
/// and does nothing undefined.
pub fn is_harmless(old: Version, new: Version, concerns: Concerns) -> bool {
    compare(old, new, Detector::DiffDp, concerns).is_harmless()
}

#[cfg(test)]
mod tests;
