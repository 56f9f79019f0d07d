//! Difference graphs and conditions (the diffDP paper's Definitions 2 and 4, Algorithm 1).
//!
//! A difference graph has the modified program's operations on its edges. Each of its paths that an
//! execution follows to a violation that the original program does not have leads to a *bug* node. A
//! condition is the automaton that accepts a path as soon as no bug node can be reached any more:
//! nothing has to be verified behind that.

use super::automaton::{Automaton, Loc};
use crate::ir::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Index into [`Graph::nodes`].
pub type GraphNode = usize;

/// A place in the modified program, with the calls that led there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramLocation {
    pub function: Arc<str>,
    /// Index of the function's unit in its program.
    pub unit: usize,
    pub node: NodeId,
    /// Calls that are active, outermost first.
    pub calls: Vec<(Arc<str>, NodeId)>,
}

/// An operation of the modified program that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: GraphNode,
    /// Which successor: of a branch 0 is the true one.
    pub label: usize,
    pub to: GraphNode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Aligned with the original program.
    Aligned,
    /// A violation that is new may lie behind.
    Bug,
    /// No violation that is new lies behind: the original program violates the property here, too, or
    /// there is none.
    Covered,
}

/// Difference graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Node 0 is the first.
    pub nodes: Vec<(ProgramLocation, Role)>,
    pub edges: Vec<Edge>,
}

/// Where everything has to be verified, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Nothing,
    Some,
    Everything,
}

/// Condition automaton.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Nodes of the graph that are not accepting: from them a bug node can be reached. The first is the
    /// initial state unless it is accepting.
    pub open: BTreeSet<GraphNode>,
    /// Accepting ones right behind them.
    pub accepting: BTreeSet<GraphNode>,
    /// From open states.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// The graph that says: verify everything.
    pub(super) fn everything(place: ProgramLocation) -> Graph {
        Graph { nodes: vec![(place, Role::Bug)], edges: Vec::new() }
    }

    /// Whether the change can bring no violation that was not there.
    pub fn is_harmless(&self) -> bool {
        self.nodes.iter().all(|(_, role)| *role != Role::Bug)
    }

    /// Algorithm 1: what leads to a bug node is left open; what lies right behind is accepting.
    pub fn condition(&self) -> Condition {
        let mut back: BTreeMap<GraphNode, Vec<GraphNode>> = BTreeMap::new();
        for e in &self.edges {
            back.entry(e.to).or_default().push(e.from);
        }
        let mut work: Vec<GraphNode> =
            (0..self.nodes.len()).filter(|n| self.nodes[*n].1 == Role::Bug).collect();
        let mut open: BTreeSet<GraphNode> = work.iter().copied().collect();
        while let Some(n) = work.pop() {
            for p in back.get(&n).into_iter().flatten() {
                if open.insert(*p) {
                    work.push(*p);
                }
            }
        }
        let edges: Vec<Edge> = self.edges.iter().filter(|e| open.contains(&e.from)).copied().collect();
        let mut accepting: BTreeSet<GraphNode> =
            edges.iter().map(|e| e.to).filter(|n| !open.contains(n)).collect();
        if !open.contains(&0) {
            accepting.insert(0);
        }
        Condition { open, accepting, edges }
    }

    pub fn extent(&self) -> Extent {
        match (self.is_harmless(), self.nodes.first()) {
            (true, _) => Extent::Nothing,
            (false, Some((_, Role::Bug))) => Extent::Everything,
            _ => Extent::Some,
        }
    }
}

/// Builds a graph from locations.
pub(super) struct Builder<'s> {
    side: &'s Automaton,
    functions: &'s [(usize, Arc<str>)],
}

impl<'s> Builder<'s> {
    pub fn new(side: &'s Automaton, functions: &'s [(usize, Arc<str>)]) -> Builder<'s> {
        Builder { side, functions }
    }

    pub fn place(&self, at: Loc) -> ProgramLocation {
        let context = self.side.context_of(at);
        let (unit, function) = self.functions[context.body].clone();
        let mut calls = Vec::new();
        let mut caller = context.caller;
        while let Some(at) = caller {
            let context = self.side.context_of(at);
            calls.push((self.functions[context.body].1.clone(), at.node));
            caller = context.caller;
        }
        calls.reverse();
        ProgramLocation { function, unit, node: at.node, calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(node: u32) -> ProgramLocation {
        ProgramLocation { function: "f".into(), unit: 0, node: NodeId(node), calls: Vec::new() }
    }

    #[test]
    fn what_cannot_reach_a_bug_node_is_accepted_at_once() {
        let roles = [Role::Aligned, Role::Aligned, Role::Bug, Role::Aligned, Role::Aligned];
        let nodes = (0..).zip(roles).map(|(i, r)| (place(i), r)).collect();
        let edge = |from, label, to| Edge { from, label, to };
        let edges = vec![edge(0, 0, 1), edge(0, 1, 3), edge(1, 0, 2), edge(3, 0, 4)];
        let graph = Graph { nodes, edges };
        let condition = graph.condition();
        assert_eq!(condition.open, BTreeSet::from([0, 1, 2]));
        assert_eq!(condition.accepting, BTreeSet::from([3]));
        assert_eq!(condition.edges.len(), 3);
        assert_eq!(graph.extent(), Extent::Some);
    }

    #[test]
    fn without_bug_nodes_the_first_state_accepts() {
        let graph = Graph { nodes: vec![(place(0), Role::Aligned)], edges: Vec::new() };
        assert!(graph.is_harmless());
        assert_eq!(graph.condition().accepting, BTreeSet::from([0]));
        assert_eq!(Graph::everything(place(0)).condition().open, BTreeSet::from([0]));
    }
}
