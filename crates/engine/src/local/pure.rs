//! Functions of both units that do nothing but give a value: calls of these are values, and no events.
//!
//! Such a function is the same in both versions, has no loop, writes nothing, reads memory through pointers at
//! most, and calls none but such ones. Its result follows from its arguments and from memory.

use super::side::Version;
use crate::ir::{Callee, Expr, Function, Instr, Object, Op, Unit, VarKind};
use crate::mvicfg::key::exact_body_hash;
use crate::semantics::library;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Calls within calls that are looked at.
const DEPTH: usize = 3;

/// The names of those that a body of one of the versions calls.
pub(super) fn called(old: Version, new: Version) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    for node in old.body.nodes.iter().chain(&new.body.nodes) {
        if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr
            && !found.contains(name)
            && is_pure((old.unit, new.unit), name, DEPTH)
        {
            found.insert(name.clone());
        }
    }
    found
}

fn is_pure((old, new): (&Unit, &Unit), name: &str, depth: usize) -> bool {
    let (Some(f), Some(g)) = (old.callee(name), new.callee(name)) else { return false };
    let is_plain = |e: &Expr| match e {
        // What objects of the unit begin with may differ.
        Expr::Addr(Object::Global(_) | Object::Function(_)) => false,
        Expr::Op { op: Op::UDiv | Op::SDiv | Op::URem | Op::SRem, args, .. } => {
            matches!(args.get(1), Some(Expr::Const(c)) if c.to_bits() != 0)
        }
        _ => true,
    };
    let is_value = |instr: &Instr| {
        let mut plain = true;
        instr.for_each_expr(&mut |e| plain &= is_plain(e));
        plain
            && match instr {
                Instr::Load { access, .. } => !access.volatile,
                Instr::Call {
                    callee: Callee::Direct(inner), result_to: None, noreturn: false, args, ..
                } => {
                    library::row_of_call(old, inner, args).is_some_and(library::Row::is_pure)
                        || depth > 0 && is_pure((old, new), inner, depth - 1)
                }
                Instr::Nop
                | Instr::Declare(_)
                | Instr::Assign { .. }
                | Instr::Branch { .. }
                | Instr::Return { .. } => true,
                _ => false,
            }
    };
    let body = |f: &Function| {
        f.vars.iter().all(|v| !v.in_memory && (v.kind != VarKind::Param || v.sort.is_some()))
            && f.nodes.iter().all(|n| is_value(&n.instr))
            && !has_cycle(f)
    };
    !f.variadic && exact_body_hash(f) == exact_body_hash(g) && f.binding == g.binding && body(f)
}

/// Whether a node of a body can be reached from itself.
fn has_cycle(f: &Function) -> bool {
    // In the order in which the last ones are taken away that lead nowhere any more, none is left.
    let mut left: BTreeSet<usize> = (0..f.nodes.len()).collect();
    loop {
        let ends = |k: &usize| !f.nodes[*k].succs.iter().any(|to| left.contains(&(to.0 as usize)));
        let done: Vec<usize> = left.iter().copied().filter(ends).collect();
        if done.is_empty() {
            return !left.is_empty();
        }
        done.iter().for_each(|k| _ = left.remove(k));
    }
}
