//! What a change may affect: the directed part of DiSE (Person et al., PLDI 2011).
//!
//! The assertions of both versions are left out. A node that only the newer version has is affected,
//! and so is, to a fix-point, what is control dependent on an affected branch and what uses a value
//! that an affected node wrote. What the older version alone has affects what used its values or was
//! control dependent on it. A path through no affected node does what it did in the older version.
//!
//! Where the search has to go backwards from affected nodes, reachability in the graph stands for
//! DiSE's backward slice: it asks for nothing more, and needs no second fix-point.

use super::explore::acts;
use super::site::Sites;
use crate::interp;
use crate::ir::{Callee, Expr, Function, Global, Instr, NodeId, Object, Unit, VarId};
use crate::mvicfg::Mvicfg;
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Nodes of the newer version that a change may affect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    pub affected: BTreeSet<NodeId>,
}

/// Something that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Var(VarId),
    /// All memory and all outside.
    Memory,
}

/// One version, with what its nodes depend on.
struct Side<'a> {
    f: &'a Function,
    ignored: BTreeSet<NodeId>,
    /// By node: the branches that it is control dependent on.
    controls: Vec<BTreeSet<NodeId>>,
}

impl Impact {
    /// Compares two versions. Cost: an alignment, and time quadratic in what changes at worst.
    pub fn of(old: (&Arc<Function>, &Sites, &Unit), new: (&Arc<Function>, &Sites, &Unit)) -> Impact {
        let graph = Mvicfg::build(vec![old.0.clone(), new.0.clone()]);
        let (before, after) = (Side::new(old.0, old.1), Side::new(new.0, new.1));
        let only = |side: &Side, class: usize| -> BTreeSet<NodeId> {
            let nodes = (0..side.f.nodes.len() as u32).map(NodeId);
            let alone = nodes.filter(|n| {
                let merged = graph.node_map[class][n.0 as usize];
                !graph.node(merged).classes.contains(1 - class)
            });
            alone.filter(|n| !side.ignored.contains(n) && acts(&side.f.node(*n).instr)).collect()
        };
        let mut affected = only(&after, 1);
        affected.extend(after.naming(&changed_constants(old.2, new.2)));
        // Back from the merged graph to the newer version.
        let shared = |n: NodeId| graph.origin(graph.node_map[0][n.0 as usize], 1);
        for gone in only(&before, 0) {
            affected.extend(before.depends_on(gone).into_iter().filter_map(shared));
        }
        affected.extend(redirected(&graph, &before, &after));
        affected.retain(|n| !after.ignored.contains(n));
        let mut work: Vec<NodeId> = affected.iter().copied().collect();
        while let Some(n) = work.pop() {
            for m in after.depends_on(n) {
                if !after.ignored.contains(&m) && affected.insert(m) {
                    work.push(m);
                }
            }
        }
        Impact { affected }
    }
}

/// The constant objects whose content is another one in the newer version.
fn changed_constants(old: &Unit, new: &Unit) -> BTreeSet<Arc<str>> {
    let same = |g: &Global| {
        let before = old.global(&g.symbol);
        before.is_some_and(|b| b.is_known_constant() && b.size == g.size && b.init == g.init)
    };
    new.globals.iter().filter(|g| g.is_known_constant() && !same(g)).map(|g| g.symbol.clone()).collect()
}

/// Where an edge of a shared node leads elsewhere, although nothing on the way was put in: the node
/// that it leads to now.
fn redirected(graph: &Mvicfg, old: &Side, new: &Side) -> Vec<NodeId> {
    let landing = |side: &Side, class: usize, start: NodeId| {
        let mut n = start;
        for _ in 0..side.f.nodes.len() {
            let node = side.f.node(n);
            let passing = side.ignored.contains(&n) || !acts(&node.instr) || {
                let merged = graph.node_map[class][n.0 as usize];
                !graph.node(merged).classes.contains(1 - class) && !matches!(node.instr, Instr::Branch { .. })
            };
            let next = match side.regions_exit(n) {
                Some(exit) => Some(exit),
                None => node.succs.first().copied().filter(|_| node.succs.len() == 1),
            };
            match next.filter(|_| passing) {
                Some(next) => n = next,
                None => break,
            }
        }
        n
    };
    let mut found = Vec::new();
    for (i, node) in new.f.nodes.iter().enumerate() {
        let here = NodeId(i as u32);
        let merged = graph.node_map[1][i];
        let Some(there) = graph.origin(merged, 0) else { continue };
        if new.ignored.contains(&here) {
            continue;
        }
        for (a, b) in old.f.node(there).succs.iter().zip(&node.succs) {
            let (a, b) = (landing(old, 0, *a), landing(new, 1, *b));
            if graph.node_map[0][a.0 as usize] != graph.node_map[1][b.0 as usize] {
                found.extend([b, here]);
            }
        }
    }
    found
}

impl<'a> Side<'a> {
    fn new(f: &'a Function, sites: &Sites) -> Side<'a> {
        let ignored = sites.regions.iter().flat_map(|r| r.nodes.iter().copied()).collect();
        Side { f, ignored, controls: control_dependence(f) }
    }

    /// The nodes that name one of some symbols.
    fn naming(&self, symbols: &BTreeSet<Arc<str>>) -> Vec<NodeId> {
        let names = |n: &NodeId| {
            let mut found = false;
            self.f.node(*n).instr.for_each_operand(&mut |e| {
                e.for_each(&mut |e| {
                    found |= matches!(e, Expr::Addr(Object::Global(s)) if symbols.contains(s));
                });
            });
            found
        };
        (0..self.f.nodes.len() as u32).map(NodeId).filter(names).collect()
    }

    /// Where an ignored region goes on.
    fn regions_exit(&self, n: NodeId) -> Option<NodeId> {
        if !self.ignored.contains(&n) {
            return None;
        }
        // Every way out of a region but the failure leads to one node.
        let mut work = vec![n];
        let mut seen = BTreeSet::new();
        while let Some(m) = work.pop() {
            if !self.ignored.contains(&m) {
                return Some(m);
            }
            if seen.insert(m) {
                work.extend(&self.f.node(m).succs);
            }
        }
        None
    }

    /// What directly depends on a node: uses of what it writes, and what it controls.
    fn depends_on(&self, n: NodeId) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        if self.f.node(n).succs.len() > 1 {
            let controlled = (0..self.f.nodes.len() as u32).map(NodeId);
            found.extend(controlled.filter(|m| self.controls[m.0 as usize].contains(&n)));
        }
        for place in writes(self.f, &self.f.node(n).instr) {
            let mut seen = BTreeSet::new();
            let mut work = self.f.node(n).succs.clone();
            while let Some(m) = work.pop() {
                if !seen.insert(m) {
                    continue;
                }
                let instr = &self.f.node(m).instr;
                if reads(self.f, instr).contains(&place) {
                    found.insert(m);
                }
                let over = matches!((instr, place), (Instr::Assign { dst, .. }, Place::Var(v)) if *dst == v);
                if !over {
                    work.extend(&self.f.node(m).succs);
                }
            }
        }
        found
    }
}

fn place_of(f: &Function, v: VarId) -> Place {
    if f.var(v).in_memory { Place::Memory } else { Place::Var(v) }
}

fn writes(f: &Function, i: &Instr) -> Vec<Place> {
    match i {
        Instr::Assign { dst, .. } | Instr::Load { dst, .. } => vec![place_of(f, *dst)],
        Instr::Declare(v) => vec![place_of(f, *v)],
        Instr::Measure { var, .. } => var.iter().map(|v| place_of(f, *v)).collect(),
        Instr::Store { .. } | Instr::Copy { .. } | Instr::Zero { .. } => vec![Place::Memory],
        Instr::Call { dst, .. } => {
            let mut places = vec![Place::Memory];
            places.extend(dst.map(|v| place_of(f, v)));
            places
        }
        Instr::Unknown { writes, .. } => {
            let mut places = vec![Place::Memory];
            places.extend(writes.iter().map(|v| place_of(f, *v)));
            places
        }
        Instr::Nop | Instr::Branch { .. } | Instr::Return { .. } | Instr::Unreachable => Vec::new(),
    }
}

fn reads(f: &Function, i: &Instr) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    i.for_each_operand(&mut |e| e.for_each_var(&mut |v| _ = places.insert(place_of(f, v))));
    let memory = match i {
        Instr::Load { .. } | Instr::Copy { .. } | Instr::Unknown { .. } => true,
        Instr::Call { callee, args, .. } => {
            !matches!(callee, Callee::Direct(name) if interp::is_library(name) && args.is_empty())
        }
        _ => false,
    };
    if memory {
        places.insert(Place::Memory);
    }
    places
}

/// By node: the branches that decide whether it is executed (Ferrante, Ottenstein and Warren).
fn control_dependence(f: &Function) -> Vec<BTreeSet<NodeId>> {
    let n = f.nodes.len();
    // Backwards, with one more node that all ends lead to.
    let mut graph = DiGraph::<(), ()>::with_capacity(n + 1, 2 * n);
    (0..=n).for_each(|_| _ = graph.add_node(()));
    for (i, node) in f.nodes.iter().enumerate() {
        for s in &node.succs {
            graph.add_edge(NodeIndex::new(s.0 as usize), NodeIndex::new(i), ());
        }
        if node.succs.is_empty() {
            graph.add_edge(NodeIndex::new(n), NodeIndex::new(i), ());
        }
    }
    let doms = dominators::simple_fast(&graph, NodeIndex::new(n));
    let up = |i: usize| doms.immediate_dominator(NodeIndex::new(i)).map(NodeIndex::index);
    let mut controls = vec![BTreeSet::new(); n];
    for (i, node) in f.nodes.iter().enumerate().filter(|(_, node)| node.succs.len() > 1) {
        let stop = up(i);
        for s in &node.succs {
            let mut at = Some(s.0 as usize);
            let mut left = n + 1;
            while let Some(here) = at.filter(|a| Some(*a) != stop && *a < n && left > 0) {
                controls[here].insert(NodeId(i as u32));
                at = up(here);
                left -= 1;
            }
        }
    }
    controls
}
