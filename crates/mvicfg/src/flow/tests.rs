//! Dominators and loops of graphs made by hand.

use super::*;
use crate::{ClassSet, Flow};
use invdiff_ir::{Binding, CType, Expr, Function, Instr, Node, NodeId, RecordUses, Span, Stmt, StmtId};
use std::sync::Arc;

/// A function of these successors: node 0 is the entry, node 1 the exit. Where there are two, they are the ways
/// of a branch.
fn function(succs: &[&[u32]]) -> Arc<Function> {
    let span = Span::default();
    let node = |(i, succs): (usize, &&[u32])| Node {
        instr: match succs.len() {
            2 => Instr::Branch { cond: Expr::Const(invdiff_ir::Const::TRUE) },
            _ => Instr::Nop,
        },
        succs: succs.iter().map(|s| NodeId(*s)).collect(),
        stmt: StmtId(i as u32),
        span: span.clone(),
    };
    Arc::new(Function {
        name: "f".into(),
        is_static: false,
        binding: Binding::default(),
        variadic: false,
        params: Vec::new(),
        ret: CType::Void,
        vars: Vec::new(),
        nodes: succs.iter().enumerate().map(node).collect(),
        stmts: succs.iter().map(|_| Stmt { span: span.clone(), depth: 0, kind: "expr" }).collect(),
        span: span.clone(),
        unknowns: Vec::new(),
        settled: Vec::new(),
        invented: Vec::new(),
        records: RecordUses::default(),
    })
}

fn flow(succs: &[&[u32]]) -> ClassFlow {
    let graph = Mvicfg::build(vec![function(succs)]);
    Flow::new(&graph).classes.remove(0)
}

/// A diamond: the branch 2 goes to 3 or 4, and both to 5.
const DIAMOND: &[&[u32]] = &[&[2], &[], &[3, 4], &[5], &[5], &[1]];
/// The loop at 2 around the loop at 3, which 4 goes back to; 5 goes back to 2.
const NESTED: &[&[u32]] = &[&[2], &[], &[3, 1], &[4, 5], &[3], &[2]];

#[test]
fn neither_arm_of_a_branch_dominates_what_comes_after() {
    let f = flow(DIAMOND);
    assert_eq!(f.idom[5], Some(MvId(2)));
    let dominates = |a: u32, b: u32| f.dominates(MvId(a), MvId(b));
    assert!(dominates(2, 5) && dominates(0, 1) && dominates(5, 1) && dominates(3, 3));
    assert!(!dominates(3, 5) && !dominates(4, 5) && !dominates(5, 2));
}

#[test]
fn nodes_come_behind_all_that_lead_to_them_without_going_back() {
    let f = flow(DIAMOND);
    let at = |n: usize| f.order[n].expect("reached");
    assert_eq!(f.rpo.first(), Some(&Mvicfg::ENTRY));
    assert!(at(2) < at(3) && at(2) < at(4) && at(3) < at(5) && at(4) < at(5) && at(5) < at(1));
    assert_eq!(f.preds[5], [(MvId(3), 0), (MvId(4), 0)]);
    assert_eq!(f.preds[4], [(MvId(2), 1)], "the false way");
}

#[test]
fn a_loop_is_what_can_go_back_to_its_head() {
    let f = flow(NESTED);
    let bodies: Vec<(u32, Vec<u32>)> =
        f.loops.iter().map(|l| (l.head.0, l.body.iter().map(|n| n.0).collect())).collect();
    assert_eq!(bodies, [(2, vec![2, 3, 4, 5]), (3, vec![3, 4])]);
    let is_back_edge = |from: u32, to: u32| f.is_back_edge(MvId(from), MvId(to));
    assert!(is_back_edge(4, 3) && is_back_edge(5, 2));
    assert!(!is_back_edge(2, 3) && !is_back_edge(4, 2) && !f.irreducible);
}

#[test]
fn a_node_belongs_to_the_innermost_loop_around_it() {
    let f = flow(NESTED);
    let head = |n: usize| f.innermost[n].map(|l| f.loops[l].head.0);
    assert_eq!([2, 3, 4, 5].map(head), [Some(2), Some(3), Some(3), Some(2)]);
    assert_eq!([0, 1].map(head), [None, None]);
    assert_eq!((f.loop_at[3].is_some(), f.loop_at[4]), (true, None));
}

#[test]
fn two_ways_back_are_one_loop() {
    let f = flow(&[&[2], &[], &[3, 1], &[4, 5], &[2], &[2]]);
    assert_eq!(f.loops.len(), 1);
    assert_eq!(f.loops[0].latches, [MvId(4), MvId(5)]);
}

#[test]
fn a_node_that_goes_to_itself_is_a_loop() {
    let f = flow(&[&[2], &[], &[2, 1]]);
    assert_eq!((f.loops[0].head, f.loops[0].body.len()), (MvId(2), 1));
    assert!(f.is_back_edge(MvId(2), MvId(2)));
}

#[test]
fn a_cycle_with_two_entries_is_irreducible() {
    assert!(flow(&[&[2], &[], &[3, 4], &[4], &[3, 1]]).irreducible);
    assert!(!flow(NESTED).irreducible && !flow(DIAMOND).irreducible);
}

#[test]
fn what_is_not_reached_has_no_place() {
    let f = flow(&[&[2], &[], &[1], &[2]]);
    assert_eq!((f.order[3], f.idom[3]), (None, None));
    assert_eq!(f.preds[2], [(Mvicfg::ENTRY, 0)], "nor do its edges count");
}

#[test]
fn each_class_has_the_control_flow_of_its_own_body() {
    let graph = Mvicfg::build(vec![function(&[&[2], &[], &[1]]), function(&[&[2], &[], &[2, 1]])]);
    let flow = Flow::new(&graph);
    assert!(flow.classes[0].loops.is_empty() && flow.classes[1].loops.len() == 1);
    assert_eq!(graph.all_classes(), ClassSet::all(2));
}
