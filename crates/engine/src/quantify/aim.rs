//! Where a target can still be met: what is not followed further, where nothing but the target is asked.
//!
//! A path is *settled* as soon as it has met the target, or no way on meets it, neither in the call that it is in nor
//! behind the calls around it. That is seen from the flow graphs alone, before anything is followed: backwards from the
//! nodes that meet the target, through all calls. A call of which nothing is known may meet it.
//!
//! Source: Filieri, Pasareanu and Yang, ASE 2015, section IV-B, prune what leads to no changed node; here it is what leads
//! to no target.

use super::input::followed;
use super::paths::{fails, is_harmless_call, line_of};
use super::target::Target;
use crate::ir::library::control::{Ends, ends};
use crate::ir::{Callee, Expr, Function, Instr, NodeId, Unit};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a node has to do with the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// To come here meets it.
    pub is_met: bool,
    /// Here or on some way on it may be met, in this call.
    pub from: bool,
    /// On some way on behind this node.
    pub behind: bool,
}

/// All nodes of a function and of what it calls.
#[derive(Debug)]
pub struct Aim {
    pub target: Target,
    nodes: FxHashMap<Arc<str>, Vec<Reach>>,
}

impl Aim {
    /// Cost: a few walks over the nodes of all functions that are followed.
    pub fn at(target: Target, f: &Function, unit: &Unit) -> Aim {
        let functions = followed(f, unit);
        let own = |g: &Function| (0..g.nodes.len()).map(|_| Reach::default()).collect();
        let nodes = functions.iter().map(|g| (g.name.clone(), own(g))).collect();
        let mut aim = Aim { target, nodes };
        let mut is_changed = true;
        while std::mem::take(&mut is_changed) {
            for g in &functions {
                is_changed |= aim.spread(g, f, unit);
            }
        }
        aim
    }

    /// What a node has to do with the target; a node that is not known may meet it.
    pub fn reach(&self, function: &str, node: NodeId) -> Reach {
        let unknown = Reach { is_met: false, from: true, behind: true };
        self.nodes.get(function).and_then(|all| all.get(node.0 as usize)).copied().unwrap_or(unknown)
    }

    /// One walk over a function, from its last node on; whether it changed anything.
    fn spread(&mut self, g: &Function, top: &Function, unit: &Unit) -> bool {
        let mut is_changed = false;
        for at in (0..g.nodes.len()).rev() {
            let node = NodeId(u32::try_from(at).unwrap_or(u32::MAX));
            let behind = g.node(node).succs.iter().any(|next| self.reach(&g.name, *next).from);
            let is_met = self.is_met_at(g, node);
            let is_own = is_met || self.may_meet(g, node, g.name == top.name, unit);
            // What is returned decides, and not that the function ends.
            let is_return = matches!(g.node(node).instr, Instr::Return { .. });
            let from = is_own || behind && !(is_return && matches!(self.target, Target::Return(_)));
            let found = Reach { is_met, from, behind };
            if let Some(known) = self.nodes.get_mut(&g.name).and_then(|all| all.get_mut(at)) {
                is_changed |= *known != found;
                *known = found;
            }
        }
        is_changed
    }

    fn is_met_at(&self, g: &Function, node: NodeId) -> bool {
        matches!(&self.target, Target::Lines(lines) if lines.contains(&line_of(g, node)))
    }

    /// Whether the target may be met by what a node does.
    fn may_meet(&self, g: &Function, node: NodeId, is_top: bool, unit: &Unit) -> bool {
        let instr = &g.node(node).instr;
        match (instr, &self.target) {
            (Instr::Call { callee: Callee::Direct(name), .. }, target) => match unit.callee(name) {
                Some(callee) => self.reach(&callee.name, Function::ENTRY).from,
                None if unit.meant(name).is_some() => true,
                None if matches!(ends(name), Some(Ends::Failed | Ends::Aborted)) => {
                    *target == Target::Assertion
                }
                None => !is_harmless_call(name),
            },
            (Instr::Call { .. } | Instr::Unknown { .. }, _) => true,
            (Instr::Branch { .. }, Target::Branch(_)) => self.is_met_by_branch(g, node),
            (Instr::Return { value }, Target::Return(number)) => {
                is_top && value.as_ref().is_some_and(|v| may_be(v, *number))
            }
            (_, Target::Return(_)) => is_top && node == Function::EXIT,
            _ => false,
        }
    }

    /// Whether the target is met where the condition of a node is true.
    pub fn is_met_by_branch(&self, g: &Function, node: NodeId) -> bool {
        let asserts = || g.node(node).succs.iter().any(|next| fails(g, *next));
        matches!(&self.target, Target::Branch(lines) if lines.contains(&line_of(g, node)) && !asserts())
    }
}

/// Whether a value that is returned may be a number.
fn may_be(value: &Expr, number: i128) -> bool {
    let Expr::Const(c) = value else { return true };
    match (c.signed(), c.unsigned()) {
        (None, None) => true,
        (signed, unsigned) => {
            signed == Some(number) || unsigned.is_some_and(|n| i128::try_from(n).is_ok_and(|n| n == number))
        }
    }
}
