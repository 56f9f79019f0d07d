//! Call sites of two versions, matched by source order.
//!
//! A site that both versions have at one node is matched with itself. The others are aligned in the order of the
//! bodies by whom they call (longest common subsequence); what lies between aligned ones is paired one by one
//! where there are as many in both. Matched sites share a tag, and with it the answers of their calls.
//!
//! An access to a volatile object is such a site, too: what is read there nobody knows, and that it is read or written
//! is seen by others. So is where an array of variable length begins its life: how many elements it has is compared.
//! And so is a statement that lowering does not express: nobody knows what it does, but for equal texts it is the same.

use crate::ir::{Callee, Instr};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use std::borrow::Cow;

/// The number of a site, or of a pair of matched ones.
pub(super) type Tag = u32;

/// Whom reads and writes of volatile objects call, as it were.
pub(super) const READS: &str = "\\reads";
pub(super) const WRITES: &str = "\\writes";
/// Whom a declaration of an array of variable length calls, as it were: with the array, the size of what its last dimension
/// holds, and its lengths.
pub(super) const MEASURES: &str = "\\measures";
/// Whom a statement calls, as it were, that is not modelled: this and its text, with what its names denote.
const DOES: &str = "\\does ";

/// Whether who is called, as it were, is a statement that is not modelled.
pub(super) fn is_statement(callee: Option<&str>) -> bool {
    callee.is_some_and(|name| name.starts_with(DOES))
}

/// The words for such a statement: its text is the checker's.
pub(super) fn statement_at(line: u32) -> String {
    format!("does what stands in line {line} (not understood)")
}

/// What a site calls; the inner `None` is a pointer.
fn callee(instr: &Instr) -> Option<Option<Cow<'_, str>>> {
    let fixed = |name: &'static str| Some(Some(Cow::Borrowed(name)));
    match instr {
        Instr::Call { callee: Callee::Direct(name), .. } => Some(Some(Cow::Borrowed(name))),
        Instr::Call { callee: Callee::Indirect(_), .. } => Some(None),
        Instr::Load { access, .. } if access.volatile => fixed(READS),
        Instr::Store { access, .. } if access.volatile => fixed(WRITES),
        Instr::Measure { var: Some(_), .. } => fixed(MEASURES),
        Instr::Unknown { text, .. } if !instr.is_second_return() => Some(Some(Cow::Owned(does(text)))),
        _ => None,
    }
}

/// The callee of a statement that is not modelled.
pub(super) fn does(text: &str) -> String {
    format!("{DOES}{text}")
}

/// By class and node: the tag of a call.
pub(super) fn tags(graph: &Mvicfg) -> [Vec<Option<Tag>>; 2] {
    let mut tags = [vec![None; graph.nodes.len()], vec![None; graph.nodes.len()]];
    let calls: [Vec<(MvId, String)>; 2] = ClassId::PAIR.map(|class| own_calls(graph, class));
    for (k, node) in graph.nodes.iter().enumerate() {
        if node.classes.len() == 2 && callee(&node.instr).is_some() {
            tags.iter_mut().for_each(|t| t[k] = Some(k as Tag));
        }
    }
    let names = ClassId::PAIR.map(|c| calls[c].iter().map(|(_, name)| name.as_str()).collect::<Vec<&str>>());
    let mut pair = |old: Option<usize>, new: Option<usize>| {
        let (old, new) = (old.map(|k| calls[0][k].0), new.map(|k| calls[1][k].0));
        // The number of the newer node is free: nodes are numbered through both versions.
        let tag = new.or(old).map_or(0, |n| n.0);
        old.into_iter().for_each(|n| tags[0][n.0 as usize] = Some(tag));
        new.into_iter().for_each(|n| tags[1][n.0 as usize] = Some(tag));
    };
    for op in aligned(Algorithm::Lcs, &names[0], &names[1]) {
        let (old, new) = (op.old_range(), op.new_range());
        let together = match op {
            DiffOp::Equal { .. } => true,
            _ => old.len() == new.len(),
        };
        match together {
            true => old.zip(new).for_each(|(a, b)| pair(Some(a), Some(b))),
            false => {
                old.for_each(|a| pair(Some(a), None));
                new.for_each(|b| pair(None, Some(b)));
            }
        }
    }
    tags
}

/// The calls that only one version has, in the order of its body.
fn own_calls(graph: &Mvicfg, class: ClassId) -> Vec<(MvId, String)> {
    let Some(body) = graph.bodies.get(class.index()) else { return Vec::new() };
    let mut calls = Vec::new();
    for (k, node) in body.nodes.iter().enumerate() {
        let Some(&mv) = graph.node_map.get(class.index()).and_then(|map| map.get(k)) else { continue };
        if let (Some(name), 1) = (callee(&node.instr), graph.node(mv).classes.len()) {
            calls.push((mv, name.map_or_else(|| "*".to_owned(), Cow::into_owned)));
        }
    }
    calls
}
