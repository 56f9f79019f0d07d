//! What is found of a region: how two paths differ that may be taken from one state, and what that leaves open.

use super::machine::{Event, Hazard, Literal};
use crate::ir::{TermId, VarId};
use crate::mvicfg::MvId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Something that one version does and the other does not, or does otherwise.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Call(Event),
    /// Writes the bytes at an address.
    Write {
        address: TermId,
        bytes: u64,
        value: TermId,
        /// Where, if one instruction did.
        node: Option<MvId>,
    },
    /// Copies bytes to an address, from another one; without: sets them to zero.
    Fill {
        address: TermId,
        from: Option<TermId>,
        node: Option<MvId>,
    },
    Variable(VarId, TermId),
    /// With memory at that time.
    Return(Option<TermId>, MvId, TermId),
    /// Goes on at a node.
    At(MvId),
    /// In a call that does not return: which.
    Ends(Option<Event>),
    Undefined(Hazard),
}

/// What two paths that may be taken from one state do differently.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// The conditions of both paths.
    pub literals: Vec<Literal>,
    pub items: [Vec<Item>; 2],
    /// Where each path goes on, if it does.
    pub ends: [Option<MvId>; 2],
    /// The nodes that each path went through.
    pub visited: [BTreeSet<MvId>; 2],
    /// All events of both paths, which results of calls are named by.
    pub events: [Vec<Event>; 2],
}

/// What became of a region.
pub(super) struct Outcome {
    pub differences: Vec<Difference>,
    /// Why not everything is known.
    pub open: Option<String>,
    /// What comes after a call that only one version makes was compared without what the call may do.
    pub apart: bool,
    /// The newer version reads or writes where the older one does not: that this is defined is taken for granted.
    pub valid: bool,
    /// What differs only where a signed sum overflows is left out.
    pub unwrapped: bool,
    /// The common nodes that every pair of paths came by before its states were the same again; `None` before
    /// the first pair.
    pub passed: Option<BTreeSet<MvId>>,
    /// What is taken for granted of members that got another number type.
    pub fits: BTreeSet<Arc<str>>,
}

impl Outcome {
    /// Nothing is known, for this reason.
    pub fn open(reason: &str) -> Outcome {
        Outcome::of(Some(reason.to_owned()))
    }

    pub(super) fn of(reason: Option<String>) -> Outcome {
        Outcome {
            differences: Vec::new(),
            open: reason,
            apart: false,
            valid: false,
            unwrapped: false,
            passed: None,
            fits: BTreeSet::new(),
        }
    }

    /// Takes in what became of another pair of paths.
    pub(super) fn absorb(&mut self, other: Outcome) {
        self.differences.extend(other.differences);
        self.open = self.open.take().or(other.open);
        self.apart |= other.apart;
        self.valid |= other.valid;
        self.unwrapped |= other.unwrapped;
        self.fits.extend(other.fits);
        if let Some(nodes) = other.passed {
            self.passes(nodes);
        }
    }

    pub(super) fn passes(&mut self, nodes: BTreeSet<MvId>) {
        self.passed = Some(match self.passed.take() {
            Some(all) => all.intersection(&nodes).copied().collect(),
            None => nodes,
        });
    }
}
