//! Call sites of two versions, matched by source order.
//!
//! A site that both versions have at one node is matched with itself. The others are aligned in the order of the
//! bodies by whom they call (longest common subsequence); what lies between aligned ones is paired one by one
//! where there are as many in both. Matched sites share a tag, and with it the answers of their calls.

use crate::ir::{Callee, Instr};
use crate::mvicfg::{MvId, Mvicfg};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The number of a site, or of a pair of matched ones.
pub(super) type Tag = u32;

/// By class and node: the tag of a call.
pub(super) fn tags(graph: &Mvicfg) -> [Vec<Option<Tag>>; 2] {
    let mut tags = [vec![None; graph.nodes.len()], vec![None; graph.nodes.len()]];
    let calls: [Vec<(MvId, String)>; 2] = [0, 1].map(|class| own_calls(graph, class));
    for (k, node) in graph.nodes.iter().enumerate() {
        if node.classes.len() == 2 && matches!(node.instr, Instr::Call { .. }) {
            tags.iter_mut().for_each(|t| t[k] = Some(k as Tag));
        }
    }
    let names = [0, 1].map(|c: usize| calls[c].iter().map(|(_, name)| name.as_str()).collect::<Vec<&str>>());
    let mut pair = |old: Option<usize>, new: Option<usize>| {
        let (old, new) = (old.map(|k| calls[0][k].0), new.map(|k| calls[1][k].0));
        // The number of the newer node is free: nodes are numbered through both versions.
        let tag = new.or(old).map_or(0, |n| n.0);
        old.into_iter().for_each(|n| tags[0][n.0 as usize] = Some(tag));
        new.into_iter().for_each(|n| tags[1][n.0 as usize] = Some(tag));
    };
    for op in capture_diff_slices(Algorithm::Lcs, &names[0], &names[1]) {
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
fn own_calls(graph: &Mvicfg, class: usize) -> Vec<(MvId, String)> {
    let Some(body) = graph.bodies.get(class) else { return Vec::new() };
    let mut calls = Vec::new();
    for (k, node) in body.nodes.iter().enumerate() {
        let Some(&mv) = graph.node_map.get(class).and_then(|map| map.get(k)) else { continue };
        if let (Instr::Call { callee, .. }, 1) = (&node.instr, graph.node(mv).classes.len()) {
            let name = match callee {
                Callee::Direct(name) => name.to_string(),
                Callee::Indirect(_) => "*".to_owned(),
            };
            calls.push((mv, name));
        }
    }
    calls
}
