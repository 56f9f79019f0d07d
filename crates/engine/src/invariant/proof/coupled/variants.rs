//! Two bodies whose loops may go in step: as they are written, with first rounds of some loops laid out, or with several
//! rounds of one made one. What runs show not to go in step is not tried.

use super::guess::States;
use crate::ir::{Function, NodeId};
use crate::semantics::unroll;
use std::sync::Arc;

/// Rounds that are laid out before a loop of the two. Where one has a round more, both have one laid out at least:
/// then a head is reached only behind a round, and the test that leads to it is made in both.
const FIRST: [[usize; 2]; 4] = [[0, 0], [1, 1], [2, 1], [1, 2]];
/// Rounds of one that make one.
const TOGETHER: [usize; 4] = [2, 3, 4, 5];
/// Nodes of a body that is laid out.
const MAX_NODES: usize = 800;

/// Two bodies, and which of the rounds of the written ones theirs are.
pub(super) struct Variant {
    pub bodies: [Arc<Function>; 2],
    /// By loop: rounds laid out.
    pub first: Vec<[usize; 2]>,
    /// Rounds that make one.
    pub together: [usize; 2],
}

/// The pairs of bodies that are tried, in order.
pub(super) fn of(bodies: &[Arc<Function>; 2], states: &States) -> Vec<Variant> {
    let loops = states.loops();
    let mut found = Vec::new();
    let as_written = || vec![[0, 0]; loops];
    let goes = |k: usize, first: [usize; 2], together: [usize; 2]| states.may_go_in_step(k, first, together);
    if (0..loops).all(|k| goes(k, [0, 0], [1, 1])) {
        found.push(Variant { bodies: bodies.clone(), first: as_written(), together: [1, 1] });
    }
    if !states.are_flat() || loops == 0 {
        return found;
    }
    // Of each loop the least that has to be laid out; where all go in step, and that is not enough, one round.
    for least in 0..2 {
        let of_loop = |k: usize| FIRST.iter().skip(least).find(|first| goes(k, **first, [1, 1])).copied();
        let Some(first) = (0..loops).map(of_loop).collect::<Option<Vec<_>>>() else { continue };
        let is_new = found.iter().all(|v| v.first != first);
        let both = [0, 1].map(|side| {
            let heads = states.heads(side);
            let trips = |head: NodeId| {
                let at = heads.iter().position(|h| *h == head);
                at.and_then(|k| first.get(k)).map_or(0, |first| first[side])
            };
            unroll::peeled_each(&bodies[side], &trips, MAX_NODES)
        });
        if let ([Some(old), Some(new)], true) = (both, is_new) {
            found.push(Variant { bodies: [old, new], first, together: [1, 1] });
        }
    }
    for together in TOGETHER.into_iter().flat_map(|k| [[k, 1], [1, k]]) {
        // Which of several loops is laid out so is not said.
        if loops != 1 || !goes(0, [0, 0], together) {
            continue;
        }
        let both = [0, 1].map(|side| match together[side] {
            1 => Some(bodies[side].clone()),
            k => unroll::grouped(&bodies[side], &[], 0, k, MAX_NODES).map(|g| g.function),
        });
        if let [Some(old), Some(new)] = both {
            found.push(Variant { bodies: [old, new], first: as_written(), together });
        }
    }
    found
}
