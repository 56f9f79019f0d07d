//! What a condition leaves to verify, as places in the modified program's functions.
//!
//! A place is left over when some execution that the condition does not cover passes it. That is less
//! than the condition says (it tells apart the ways that lead to a place), and enough to cut off what
//! nothing passes any more.

use super::body::calls_nothing;
use super::graph::{Graph, ProgramLocation, Role};
use crate::interp::Program;
use crate::ir::{Callee, Function, Instr, NodeId, Unit};
use crate::semantics::pointers;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Nodes of functions; a function is named by its unit's index and its name.
#[derive(Clone, Debug, Default)]
pub struct Remainder {
    pub nodes: BTreeSet<(usize, Arc<str>, NodeId)>,
    /// Functions in which something was looked at at all.
    pub functions: BTreeSet<(usize, Arc<str>)>,
}

impl Remainder {
    /// Adds what another comparison leaves over.
    pub fn join(&mut self, other: Remainder) {
        self.nodes.extend(other.nodes);
        self.functions.extend(other.functions);
    }

    /// Whether some execution that is not covered passes a node.
    pub fn has(&self, unit: usize, function: &str, node: NodeId) -> bool {
        self.nodes.contains(&(unit, Arc::from(function), node))
    }
}

/// Returns what a graph leaves to verify in a program. Cost: linear in the graph and in the functions
/// that are reached behind bug nodes.
pub fn remainder(graph: &Graph, program: &Program) -> Remainder {
    let mut work =
        Work { program, functions: BTreeMap::new(), whole: BTreeSet::new(), found: Remainder::default() };
    let open = graph.condition().open;
    let mut entered: BTreeSet<usize> = BTreeSet::new();
    for e in &graph.edges {
        if graph.nodes[e.to].0.calls.len() > graph.nodes[e.from].0.calls.len() {
            entered.insert(e.from);
        }
    }
    for (i, (place, role)) in graph.nodes.iter().enumerate() {
        work.found.functions.insert((place.unit, place.function.clone()));
        if !open.contains(&i) {
            continue;
        }
        match role {
            Role::Bug => work.behind(place),
            _ => {
                work.add(place.unit, &place.function, place.node);
                if !entered.contains(&i) {
                    work.called(place.unit, &place.function, place.node);
                }
            }
        }
    }
    work.found
}

struct Work<'p> {
    program: &'p Program,
    functions: BTreeMap<(usize, Arc<str>), Option<Arc<Function>>>,
    /// Functions all of which is left over.
    whole: BTreeSet<(usize, Arc<str>)>,
    found: Remainder,
}

impl Work<'_> {
    fn add(&mut self, unit: usize, function: &Arc<str>, node: NodeId) -> bool {
        self.found.nodes.insert((unit, function.clone(), node))
    }

    /// As the comparison sees it: with calls through pointers resolved.
    fn function(&mut self, unit: usize, name: &Arc<str>) -> Option<Arc<Function>> {
        let program = self.program;
        let look_up = || {
            let of: &Unit = program.unit(unit)?;
            let f = of.function(name)?;
            Some(Arc::new(pointers::resolve(f, of).unwrap_or_else(|| f.clone())))
        };
        self.functions.entry((unit, name.clone())).or_insert_with(look_up).clone()
    }

    /// All that may be executed from a place on.
    fn behind(&mut self, place: &ProgramLocation) {
        let mut stack = place.calls.clone();
        // The unit of a caller is looked up by name, as calls do.
        let (mut unit, mut name, mut from) = (place.unit, place.function.clone(), vec![place.node]);
        loop {
            if !self.forward(unit, &name, from) {
                return;
            }
            let Some((caller, node)) = stack.pop() else { return };
            unit = self.unit_of(&caller);
            let Some(f) = self.function(unit, &caller) else { return };
            from = f.nodes.get(node.0 as usize).map(|n| n.succs.clone()).unwrap_or_default();
            name = caller;
        }
    }

    fn unit_of(&self, name: &str) -> usize {
        let d = self.program.definition_by_name(name).and_then(|d| self.program.definition(d));
        d.map_or(0, |d| d.unit)
    }

    /// All nodes from some on, and what they call; returns whether the exit is among them.
    fn forward(&mut self, unit: usize, name: &Arc<str>, from: Vec<NodeId>) -> bool {
        let Some(f) = self.function(unit, name) else { return true };
        let mut seen: BTreeSet<NodeId> = BTreeSet::new();
        let mut work = from;
        while let Some(n) = work.pop() {
            if seen.insert(n) {
                self.add(unit, name, n);
                self.called(unit, name, n);
                work.extend(f.nodes.get(n.0 as usize).into_iter().flat_map(|n| &n.succs));
            }
        }
        seen.contains(&Function::EXIT)
    }

    /// All of what is called at a node.
    fn called(&mut self, unit: usize, name: &Arc<str>, node: NodeId) {
        let Some(f) = self.function(unit, name) else { return };
        let Some(Instr::Call { callee, .. }) = f.nodes.get(node.0 as usize).map(|n| &n.instr) else { return };
        let target = match callee {
            Callee::Direct(callee) => self.program.definition_from(unit, callee),
            Callee::Indirect(_) => None,
        };
        match target.and_then(|d| Some((self.program.definition(d)?.unit, self.program.function_of(d)?))) {
            Some((unit, f)) => self.all_of(unit, f.name.clone()),
            None if matches!(callee, Callee::Direct(n) if calls_nothing(n)) => {}
            // It may call back whatever has a name or an address.
            None => {
                let program = self.program;
                for (u, of) in program.units().iter().enumerate() {
                    of.functions.iter().for_each(|f| self.all_of(u, f.name.clone()));
                }
            }
        }
    }

    fn all_of(&mut self, unit: usize, name: Arc<str>) {
        let mut work = vec![(unit, name)];
        while let Some((unit, name)) = work.pop() {
            if !self.whole.insert((unit, name.clone())) {
                continue;
            }
            let Some(f) = self.function(unit, &name) else { continue };
            for (i, node) in f.nodes.iter().enumerate() {
                self.add(unit, &name, NodeId(i as u32));
                let callees = node.instr.named_callees().into_iter();
                for d in callees.filter_map(|callee| self.program.definition_from(unit, callee)) {
                    if let (Some(d), Some(f)) = (self.program.definition(d), self.program.function_of(d)) {
                        work.push((d.unit, f.name.clone()));
                    }
                }
            }
        }
    }
}
