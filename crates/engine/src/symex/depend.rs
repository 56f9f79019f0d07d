//! What depends on what in one version: by values and by control, forwards and backwards.
//!
//! Assertions are no code here: each is one node, its entry, that reads what its condition reads and goes on as if
//! it held. Control dependence is that of Ferrante, Ottenstein and Warren, where a path also ends at a call that does
//! not return, and in a loop that has no way out.

use super::site::Sites;
use crate::interp;
use crate::ir::{Callee, Function, Instr, NodeId, Unit};
use crate::semantics::mod_ref::{AbstractLocation, Places, leaves_memory};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;

/// One version, with what its nodes depend on.
pub(super) struct Dependences<'a> {
    pub f: &'a Function,
    places: Places<'a>,
    /// Nodes of assertions but their entries.
    pub inner: BTreeSet<NodeId>,
    /// Entries of assertions.
    pub entries: BTreeSet<NodeId>,
    /// By node: where control goes on.
    pub flow: Vec<Vec<NodeId>>,
    back: Vec<Vec<NodeId>>,
    /// By node: the branches that it is control dependent on.
    controls: Vec<BTreeSet<NodeId>>,
    /// By node: the first node that all ways from it pass; `None`: they end before.
    joins: Vec<Option<NodeId>>,
    writes: Vec<Vec<AbstractLocation>>,
    reads: Vec<Vec<AbstractLocation>>,
}

impl<'a> Dependences<'a> {
    /// Cost: linear in the function, but for its control dependence.
    pub fn new(f: &'a Function, unit: &'a Unit, sites: &Sites) -> Dependences<'a> {
        let n = f.nodes.len();
        let places = Places::of(f, unit);
        let entries: BTreeSet<NodeId> = sites.regions.iter().map(|r| r.entry).collect();
        let inner: BTreeSet<NodeId> = sites
            .regions
            .iter()
            .flat_map(|r| r.nodes.iter().copied())
            .filter(|m| !entries.contains(m))
            .collect();
        let mut flow: Vec<Vec<NodeId>> = f
            .nodes
            .iter()
            .map(|node| if ends(&node.instr) { Vec::new() } else { node.succs.clone() })
            .collect();
        let mut writes: Vec<Vec<AbstractLocation>> =
            f.nodes.iter().map(|node| places.writes(&node.instr)).collect();
        let mut reads: Vec<Vec<AbstractLocation>> =
            f.nodes.iter().map(|node| places.reads(&node.instr)).collect();
        for r in &sites.regions {
            let mut all: Vec<AbstractLocation> = Vec::new();
            for m in &r.nodes {
                let read = std::mem::take(&mut reads[m.0 as usize]);
                // That it fails is told of values that are read before.
                all.extend(read.into_iter().filter(|_| *m != r.fail));
                writes[m.0 as usize].clear();
                flow[m.0 as usize].clear();
            }
            reads[r.entry.0 as usize] = all;
            flow[r.entry.0 as usize] = vec![r.exit];
        }
        let mut back = vec![Vec::new(); n];
        for (i, next) in flow.iter().enumerate() {
            next.iter().for_each(|s| back[s.0 as usize].push(NodeId(i as u32)));
        }
        let (controls, joins) = control(&flow, &back);
        Dependences { f, places, inner, entries, flow, back, controls, joins, writes, reads }
    }

    /// Where control comes from.
    pub fn back(&self, n: NodeId) -> &[NodeId] {
        &self.back[n.0 as usize]
    }

    /// Whether control arrives somewhere from a `longjmp`: then nothing is certain.
    pub fn comes_back(&self) -> bool {
        self.f.nodes.iter().any(|node| node.instr.is_second_return())
    }

    fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.f.nodes.len() as u32).map(NodeId)
    }

    /// All nodes behind a node.
    fn behind(&self, n: NodeId) -> BTreeSet<NodeId> {
        let mut seen = BTreeSet::new();
        let mut work = self.flow[n.0 as usize].clone();
        while let Some(m) = work.pop() {
            if seen.insert(m) {
                work.extend(&self.flow[m.0 as usize]);
            }
        }
        seen
    }

    /// What directly depends on a node: uses of what it writes, and what it controls. A loop that may go on for ever
    /// decides on all that is behind it, and so does a call that may not come back.
    pub fn depends_on(&self, n: NodeId) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let i = n.0 as usize;
        if self.flow[i].len() > 1 {
            found.extend(self.all().filter(|m| self.controls[m.0 as usize].contains(&n)));
        }
        if self.may_stay(n) {
            found.extend(self.behind(n));
        }
        for place in &self.writes[i] {
            let mut seen = BTreeSet::new();
            let mut work = self.flow[i].clone();
            while let Some(m) = work.pop() {
                if !seen.insert(m) {
                    continue;
                }
                let k = m.0 as usize;
                if self.reads[k].iter().any(|p| self.places.meet(p, place)) {
                    found.insert(m);
                }
                if !self.writes[k].iter().any(|by| self.places.covers(by, place)) {
                    work.extend(&self.flow[k]);
                }
            }
        }
        found
    }

    /// Whether control may stay at a node, or in a loop that it decides on.
    fn may_stay(&self, n: NodeId) -> bool {
        let i = n.0 as usize;
        match &self.f.nodes[i].instr {
            _ if self.inner.contains(&n) || self.entries.contains(&n) => false,
            Instr::Branch { .. } => self.flow[i].len() > 1 && self.behind(n).contains(&n),
            Instr::Call { callee, .. } => {
                let comes_back = matches!(callee, Callee::Direct(name) if interp::is_library(name));
                !leaves_memory(callee) && !comes_back
            }
            Instr::Unknown { .. } => true,
            _ => false,
        }
    }

    /// What a node directly depends on: writes of what it uses, and the branches that control it.
    fn rests_on(&self, n: NodeId) -> BTreeSet<NodeId> {
        let i = n.0 as usize;
        let mut found = self.controls[i].clone();
        for place in &self.reads[i] {
            let mut seen = BTreeSet::new();
            let mut work = self.back[i].clone();
            while let Some(m) = work.pop() {
                if !seen.insert(m) {
                    continue;
                }
                let k = m.0 as usize;
                if self.writes[k].iter().any(|p| self.places.meet(p, place)) {
                    found.insert(m);
                }
                if !self.writes[k].iter().any(|by| self.places.covers(by, place)) {
                    work.extend(&self.back[k]);
                }
            }
        }
        found
    }

    /// Some nodes and all that depends on them.
    pub fn forwards(&self, mut nodes: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let mut work: Vec<NodeId> = nodes.iter().copied().collect();
        while let Some(n) = work.pop() {
            work.extend(self.depends_on(n).into_iter().filter(|m| nodes.insert(*m)));
        }
        nodes
    }
}

/// Whether no path goes on from an instruction.
fn ends(i: &Instr) -> bool {
    matches!(i, Instr::Call { noreturn: true, .. } | Instr::Unreachable)
}

/// By node: the branches that decide whether it is executed, and the first node that all ways from it pass.
fn control(flow: &[Vec<NodeId>], back: &[Vec<NodeId>]) -> (Vec<BTreeSet<NodeId>>, Vec<Option<NodeId>>) {
    let n = flow.len();
    // From where the end cannot be reached, it is as good as reached.
    let mut leaves = vec![false; n];
    let mut work: Vec<usize> = (0..n).filter(|i| flow[*i].is_empty()).collect();
    while let Some(i) = work.pop() {
        if !std::mem::replace(&mut leaves[i], true) {
            work.extend(back[i].iter().map(|p| p.0 as usize));
        }
    }
    // Backwards, with one more node that all ends lead to.
    let mut graph = DiGraph::<(), ()>::with_capacity(n + 1, 2 * n);
    (0..=n).for_each(|_| _ = graph.add_node(()));
    for (i, next) in flow.iter().enumerate() {
        for s in next {
            graph.add_edge(NodeIndex::new(s.0 as usize), NodeIndex::new(i), ());
        }
        if next.is_empty() || !leaves[i] {
            graph.add_edge(NodeIndex::new(n), NodeIndex::new(i), ());
        }
    }
    let doms = dominators::simple_fast(&graph, NodeIndex::new(n));
    let up = |i: usize| doms.immediate_dominator(NodeIndex::new(i)).map(NodeIndex::index);
    let mut controls = vec![BTreeSet::new(); n];
    for (i, next) in flow.iter().enumerate().filter(|(_, next)| next.len() > 1) {
        let stop = up(i);
        for s in next {
            let mut at = Some(s.0 as usize);
            let mut left = n + 1;
            while let Some(here) = at.filter(|a| Some(*a) != stop && *a < n && left > 0) {
                controls[here].insert(NodeId(i as u32));
                at = up(here);
                left -= 1;
            }
        }
    }
    let joins = (0..n).map(|i| up(i).filter(|j| *j < n).map(|j| NodeId(j as u32))).collect();
    (controls, joins)
}

/// What may matter to some nodes, backwards over values and control.
///
/// A branch outside of it decides on nothing inside: whichever way it takes, what is inside does the same, if it is
/// reached at all. So a path passes over it to where its ways join. That may follow an input into a loop that it never
/// leaves, or past a call that does not come back; what holds nevertheless holds, and what fails is replayed.
pub struct Slice {
    /// By node: where a path goes on that passes over the node.
    over: Vec<Option<NodeId>>,
}

impl Slice {
    /// The slice of some nodes and of the assertions for which `wanted` says so. Cost: quadratic in the function at
    /// worst.
    pub fn of(
        f: &Function,
        unit: &Unit,
        sites: &Sites,
        nodes: &BTreeSet<NodeId>,
        wanted: impl Fn(usize) -> bool,
    ) -> Slice {
        let side = Dependences::new(f, unit, sites);
        if side.comes_back() {
            return Slice { over: vec![None; f.nodes.len()] };
        }
        let regions = sites.regions.iter().filter(|r| wanted(r.site)).map(|r| r.entry);
        let mut inside: BTreeSet<NodeId> = nodes.iter().copied().chain(regions).collect();
        let mut work: Vec<NodeId> = inside.iter().copied().collect();
        while let Some(n) = work.pop() {
            work.extend(side.rests_on(n).into_iter().filter(|m| inside.insert(*m)));
        }
        let over = |n: NodeId| {
            let i = n.0 as usize;
            let decides = side.flow[i].len() > 1 && !inside.contains(&n);
            decides.then(|| side.joins[i].unwrap_or(Function::EXIT))
        };
        Slice { over: side.all().map(over).collect() }
    }

    /// Where a path goes on that passes over a node, if the node decides on nothing that matters.
    pub(super) fn passed_over(&self, n: NodeId) -> Option<NodeId> {
        self.over.get(n.0 as usize).copied().flatten()
    }
}
