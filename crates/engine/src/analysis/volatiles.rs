//! Accesses of volatile objects are seen by whoever made them volatile, each of them: also where memory holds
//! the same in the end, a version that has others does something else.

use super::endings;
use super::lineage::Member;
use crate::invariant::{FunctionDiff, OpenKind, Undecided};
use crate::ir::{Expr, Function, Instr, Object};
use crate::mvicfg::key::{self, SourceNames};
use crate::mvicfg::{ClassId, VersionId};

/// Adds an open question for each pair of classes whose accesses may not be the same, where nothing else tells
/// of the change.
pub(super) fn tell(members: &[(VersionId, &Member)], pairs: &[(ClassId, ClassId)], diff: &mut FunctionDiff) {
    for &(from, to) in pairs {
        let (old, new) = (members[from].1, members[to].1);
        if spelled(&old.inlined) == spelled(&new.inlined) {
            continue;
        }
        let Some(point) = diff.points.first_mut() else { continue };
        let here = |c: &&crate::invariant::Churn| (c.from, c.to) == (from, to) && c.subject.is_observable();
        if !point.churns.iter().any(|c| here(&c) && c.witness.is_some()) {
            let reason = "accesses of volatile objects may be others";
            point.undecided.push(Undecided::all_runs(OpenKind::AllRuns, reason));
        }
    }
}

/// What tells which accesses there are, how often and in which order: themselves, the conditions, and where one
/// is in a loop, all that loops do. Nothing where there are none.
fn spelled(f: &Function) -> Vec<String> {
    let volatile: Vec<bool> = f.nodes.iter().map(|n| is_seen(f, &n.instr)).collect();
    if !volatile.contains(&true) {
        return Vec::new();
    }
    let cyclic = in_cycles(f);
    let loops = volatile.iter().zip(&cyclic).any(|(v, c)| *v && *c);
    let counts = |(i, n): &(usize, &crate::ir::Node)| {
        volatile[*i] || matches!(n.instr, Instr::Branch { .. }) || loops && cyclic[*i]
    };
    let text = |(_, n): (usize, &crate::ir::Node)| {
        let mut out = String::new();
        key::instr(&mut out, &n.instr, &SourceNames(f));
        out
    };
    f.nodes.iter().enumerate().filter(counts).map(text).collect()
}

/// Whether an instruction accesses a volatile object that others see: none of the function's own variables.
fn is_seen(f: &Function, instr: &Instr) -> bool {
    let (Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. }) = instr else { return false };
    if !access.volatile {
        return false;
    }
    let mut own = false;
    addr.for_each(&mut |e| own |= matches!(e, Expr::Addr(Object::Local(v)) if !is_given(f, *v)));
    !own
}

/// Whether a variable's address goes elsewhere than into accesses.
fn is_given(f: &Function, v: crate::ir::VarId) -> bool {
    f.nodes.iter().any(|n| {
        let mut given = false;
        n.instr.for_each_operand(&mut |e| {
            let place = match &n.instr {
                Instr::Load { addr, .. } | Instr::Store { addr, .. } => std::ptr::eq(addr, e),
                _ => false,
            };
            if !place {
                e.for_each(&mut |x| given |= *x == Expr::Addr(Object::Local(v)));
            }
        });
        given
    })
}

/// Which nodes can be reached from themselves. Cost: a search for strongly connected parts.
fn in_cycles(f: &Function) -> Vec<bool> {
    let mut found = vec![false; f.nodes.len()];
    endings::cycles(f, 0..f.nodes.len()).into_iter().flatten().for_each(|n| found[n] = true);
    found
}
