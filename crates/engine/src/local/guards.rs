//! The tests that lead to a change: what a reader has to know where a delta has no condition of its own.
//!
//! An edge of a branch *leads* to a node if every way to the node takes it: its target dominates the node and is
//! come to by that edge alone, but for ways around a loop. Of the innermost statement with such edges all operands
//! that lead there are told, as they stand in the source: they say what was tested on the way, and not what holds
//! at the point, since what was tested may have been changed in between.

use super::machine::Literal;
use super::region::{Frontier, Region};
use super::side::{expansion, successor};
use super::words::Speaker;
use crate::ir::Instr;
use crate::mvicfg::{ClassFlow, ClassId, MvId, Mvicfg};

/// Operands of one statement that are told.
const MAX_OPERANDS: usize = 4;
/// Joins between a test of an assertion and its failure.
const FEW: usize = 4;

/// A branch and the outcome that leads on.
type Edge = (MvId, u8);

/// Where a region begins.
struct Start {
    at: MvId,
    /// The edge that it is come to by alone.
    by: Option<Edge>,
}

/// Where a region begins, in the newer version; `None` where that is one of several ways to code that only the older
/// one has.
fn start(flows: [&ClassFlow; 2], region: &Region, from_node: bool) -> Option<Start> {
    let Frontier { node, label, to } = region.frontier;
    let own = |class: ClassId| Some(to[class]).filter(|n| !from_node && region.nodes[class].contains(n));
    let is_only = |class: ClassId, at: MvId| outer(flows[class], at).eq([(node, label)]);
    match (own(ClassId::NEW), own(ClassId::OLD)) {
        (Some(at), _) if !is_only(ClassId::NEW, at) => Some(Start { at, by: None }),
        (None, Some(at)) if !is_only(ClassId::OLD, at) => None,
        (None, None) => Some(Start { at: node, by: None }),
        _ => Some(Start { at: node, by: Some((node, label)) }),
    }
}

/// The edges by which a node is come to other than by going around it.
fn outer(flow: &ClassFlow, at: MvId) -> impl Iterator<Item = Edge> {
    let preds = flow.preds.get(at.0 as usize).map_or(&[][..], Vec::as_slice);
    preds.iter().copied().filter(move |(p, _)| !flow.dominates(at, *p))
}

/// The edges of the innermost statement that lead to where a region begins, in the order in which they are taken.
fn leading(graph: &Mvicfg, flow: &ClassFlow, Start { mut at, by }: Start) -> Vec<Edge> {
    let mut found: Vec<Edge> = Vec::new();
    let is_branch = |node: MvId| matches!(graph.node(node).instr, Instr::Branch { .. });
    // A loop's own tests are told as the loop.
    let is_of_loop = |(branch, label): Edge| {
        let target =
            graph.node(branch).succs.iter().find(|e| e.classes.contains(ClassId::NEW) && e.label == label);
        let stays = |l: usize| target.is_some_and(|e| flow.loops[l].body.contains(&e.to));
        let l = flow.innermost.get(branch.0 as usize).copied().flatten();
        l.is_some_and(|l| stays(l) && statement(graph, branch) == statement(graph, flow.loops[l].head))
    };
    let mut take = |edge: Edge| -> bool {
        if is_of_loop(edge) || is_refused_case(graph, edge) || is_kept_assertion(graph, edge) {
            return true;
        }
        let same = found.last().is_none_or(|(b, _)| statement(graph, *b) == statement(graph, edge.0));
        if same {
            found.push(edge);
        }
        same
    };
    if by.is_some_and(|edge| is_branch(edge.0) && !take(edge)) {
        return found;
    }
    loop {
        let mut ways = outer(flow, at);
        if let (Some(edge), None) = (ways.next(), ways.next())
            && is_branch(edge.0)
            && !take(edge)
        {
            break;
        }
        match flow.idom.get(at.0 as usize).copied().flatten() {
            Some(above) if above != at => at = above,
            _ => break,
        }
    }
    found.reverse();
    found.truncate(MAX_OPERANDS);
    found
}

fn statement(graph: &Mvicfg, node: MvId) -> Option<u32> {
    let body = &graph.bodies[ClassId::NEW];
    graph.origin(node, ClassId::NEW).map(|n| body.node(n).stmt.0)
}

fn is_switch(graph: &Mvicfg, node: MvId) -> bool {
    let stmts = &graph.bodies[ClassId::NEW].stmts;
    statement(graph, node).and_then(|s| stmts.get(s as usize)).is_some_and(|s| s.kind == "switch")
}

/// Whether an edge says of a `switch` that one of its cases is not the one.
fn is_refused_case(graph: &Mvicfg, (branch, label): Edge) -> bool {
    label != 0 && is_switch(graph, branch)
}

/// Whether an edge says that an assertion holds: that is so wherever anything comes behind it.
fn is_kept_assertion(graph: &Mvicfg, (branch, label): Edge) -> bool {
    let mut other = successor(graph, ClassId::NEW, branch, 1 - label.min(1));
    for _ in 0..FEW {
        match other.map(|node| (node, &graph.node(node).instr)) {
            Some((_, Instr::Call { noreturn: true, .. })) => {
                return expansion(graph, ClassId::NEW, branch).is_some();
            }
            Some((node, Instr::Nop)) => other = successor(graph, ClassId::NEW, node, 0),
            _ => return false,
        }
    }
    false
}

impl Speaker<'_> {
    /// The tests that lead to where a region begins, in words; `None` where there are none.
    pub fn tests(&mut self, flows: [&ClassFlow; 2], region: &Region, from_node: bool) -> Option<String> {
        let start = start(flows, region, from_node)?;
        let edges = leading(self.graph, flows[ClassId::NEW], start);
        let texts: Vec<String> = edges.into_iter().filter_map(|edge| self.edge(edge)).collect();
        (!texts.is_empty()).then(|| texts.join(" && "))
    }

    fn edge(&mut self, (node, label): Edge) -> Option<String> {
        if is_switch(self.graph, node) {
            return self.case((node, label));
        }
        let term = self.pool.bool(true);
        Some(self.test(&Literal { term, class: ClassId::NEW, node, holds: label == 0 }))
    }

    /// The label of a `switch` that an edge leads to, as it is written above where it leads.
    fn case(&self, (node, label): Edge) -> Option<String> {
        let line = self.graph.line(node, ClassId::NEW);
        let edges = &self.graph.node(node).succs;
        let to = edges.iter().find(|e| e.classes.contains(ClassId::NEW) && e.label == label)?.to;
        let last = self.graph.line(to, ClassId::NEW);
        let above = (line..=last).rev().find_map(|l| {
            let text = (self.source)(ClassId::NEW, l)?;
            let label = text.trim_start().strip_prefix("case ")?.split(':').next()?.trim().to_owned();
            Some((label, l))
        });
        let (text, line) = above?;
        Some(format!("case {text} (line {line})"))
    }
}
