//! Assignments that stand elsewhere: the nodes between where one version makes an assignment and where the other does.
//!
//! There one of them has the variable's new value, and the other one nothing that it reads. Held against each other
//! at such a node they differ, and from there on they differ once more the other way round: told are two changes
//! where there is none. So nothing ends there, and both places come to be in one region.

use crate::ir::{Expr, Instr, VarId, VarKind};
use crate::mvicfg::{ClassId, Flow, MvId, Mvicfg, VarSet};
use crate::semantics::liveness::Liveness;
use std::collections::BTreeSet;

/// Nodes that are looked at on the way back from an assignment.
const FARTHEST: usize = 24;

/// By node: whether it lies between the two places of an assignment.
pub(super) fn between(graph: &Mvicfg, flow: &Flow, liveness: &Liveness) -> Vec<bool> {
    let mut found = vec![false; graph.nodes.len()];
    let own = ClassId::PAIR.map(|class| own_assignments(graph, class));
    for class in ClassId::PAIR {
        let other = class.other();
        if own[class].is_empty() || own[other].is_empty() {
            continue;
        }
        let is_there = |(node, v): &&(MvId, VarId)| {
            own[other].iter().any(|(theirs, w)| w == v && are_alike(graph, *node, *theirs))
        };
        for (node, v) in own[class].iter().filter(is_there) {
            for k in unread_before((flow, liveness), class, (*node, *v)) {
                let is_shared = graph.node(k).classes.len() == 2;
                if is_shared && liveness.before(other, k).contains(*v) {
                    found[k.0 as usize] = true;
                }
            }
        }
    }
    found
}

/// The nodes of a version alone that assign a variable with a name that both have.
fn own_assignments(graph: &Mvicfg, class: ClassId) -> Vec<(MvId, VarId)> {
    let shared: VarSet = graph.var_map[class.other()].iter().copied().collect();
    let named = |v: VarId| shared.contains(v) && graph.vars[v.0 as usize].kind != VarKind::Temp;
    let own = graph.nodes.iter().enumerate();
    let own = own.filter(|(_, n)| n.classes.len() == 1 && n.classes.contains(class));
    own.filter(|(_, n)| !matches!(n.instr, Instr::Declare(_)))
        .filter_map(|(k, n)| Some((MvId(k as u32), n.instr.written().filter(|v| named(*v))?)))
        .collect()
}

/// Whether two nodes do the same, whatever comes to them without a name.
fn are_alike(graph: &Mvicfg, a: MvId, b: MvId) -> bool {
    let is_nameless = |v: VarId| graph.vars[v.0 as usize].kind == VarKind::Temp;
    let nameless = |node: MvId| {
        let mut instr = graph.node(node).instr.clone();
        instr.for_each_operand_mut(&mut |e| forget(e, &is_nameless));
        instr
    };
    nameless(a) == nameless(b)
}

fn forget(e: &mut Expr, is_forgotten: &impl Fn(VarId) -> bool) {
    match e {
        Expr::Var(v) if is_forgotten(*v) => *v = VarId(u32::MAX),
        Expr::Op { args, .. } => args.iter_mut().for_each(|a| forget(a, is_forgotten)),
        _ => {}
    }
}

/// Nodes on the way to an assignment from which on nothing reads what the variable has before it.
fn unread_before(
    (flow, liveness): (&Flow, &Liveness),
    class: ClassId,
    (node, v): (MvId, VarId),
) -> BTreeSet<MvId> {
    let mut found = BTreeSet::new();
    let mut work = vec![node];
    while let Some(at) = work.pop() {
        // Loops end at their heads, whatever is known there.
        if found.len() >= FARTHEST || flow.classes[class].loop_at[at.0 as usize].is_some() {
            continue;
        }
        for &(before, _) in &flow.classes[class].preds[at.0 as usize] {
            let is_read = liveness.before(class, before).contains(v);
            if before > Mvicfg::EXIT && !is_read && found.insert(before) {
                work.push(before);
            }
        }
    }
    found
}
