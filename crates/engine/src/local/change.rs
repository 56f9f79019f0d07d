//! What is told of one region of change: under which conditions each version does what.

use super::effect::{Effect, EffectKind, Words};
#[cfg(test)]
use super::region::Frontier;
#[cfg(test)]
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What becomes of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// From every state both versions do the same.
    Neutral,
    Differs,
    /// Not known, with the reason.
    Open(String),
}

/// Under a condition, what the older version does and what the newer one does in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Empty: always.
    pub when: String,
    /// The part of a long condition that the change made, marked as a part.
    pub short: Option<String>,
    /// No caller here comes to where it holds.
    pub no_caller: bool,
    pub before: Vec<Effect>,
    pub now: Vec<Effect>,
}

/// How a region is come to, for the oracle of local differences.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) frontier: Frontier,
    /// It is told from the frontier's node on, under what decides for the edges.
    pub(super) from_node: bool,
    /// It begins behind a cut.
    pub(super) is_later: bool,
    /// It was compared through another region.
    pub(super) covers: bool,
    /// Nodes from which the other edges lead that it is come to by.
    pub(super) also: Vec<MvId>,
    /// Tests that hold where it begins: of which version, the instructions that make them, and how they end.
    pub(super) held: Vec<(ClassId, Vec<super::tested::Outcome>)>,
}

/// One region of change.
#[derive(Clone, Debug)]
pub struct Change {
    /// Line of the change in each version.
    pub at: [Option<u32>; 2],
    /// The lines of each version that belong to the region.
    pub lines: [BTreeSet<u32>; 2],
    /// The line of the loop around, in the newer version.
    pub in_loop: Option<u32>,
    /// The line that control comes from, in the newer version, where it also comes there from elsewhere and
    /// something else is told of that.
    pub from_line: Option<u32>,
    /// The tests that lead there, as they stand in the newer source, where a delta has no condition of its own.
    pub tests: Option<String>,
    pub verdict: Verdict,
    pub deltas: Vec<Delta>,
    /// Why it is not known whether from every other state, in which the older version does nothing undefined, both
    /// do the same: `None` where they do.
    pub rest: Option<String>,
    /// But for what calls that only one version makes may do.
    pub apart: bool,
    /// What the newer version reads and writes and the older one does not is there.
    pub valid: bool,
    /// Signed sums do not overflow.
    pub unwrapped: bool,
    /// Structures that are laid out otherwise are seen by their members alone.
    pub by_members: bool,
    /// What is taken for granted of members that got another number type: `n fits int and long`.
    pub fits: BTreeSet<Arc<str>>,
    #[cfg(test)]
    pub(super) way: Way,
}

impl Change {
    /// A change that is no region's: what declarations say.
    pub(super) fn of_declaration(at: [Option<u32>; 2], delta: Delta) -> Change {
        Change { verdict: Verdict::Differs, deltas: vec![delta], rest: None, ..Change::open(at, "") }
    }

    /// A function that hands its work over to another one, of which is told what becomes of it there. `lines`: all of
    /// both versions.
    pub fn handed_over(to: &str, lines: [BTreeSet<u32>; 2]) -> Change {
        let at = [lines[0].first().copied(), lines[1].first().copied()];
        let calls = Effect {
            kind: EffectKind::Call,
            words: Words::says(format!("calls {to}(), split from it")),
            line: at[1],
        };
        let delta = Delta {
            when: String::new(),
            short: None,
            no_caller: false,
            before: Vec::new(),
            now: vec![calls],
        };
        Change { lines, ..Change::of_declaration(at, delta) }
    }

    /// A function of which nothing is known, with the reason.
    pub(super) fn of_all(reason: &str) -> Change {
        Change::open([None; 2], reason)
    }

    fn open(at: [Option<u32>; 2], reason: &str) -> Change {
        Change {
            at,
            lines: at.map(|line| line.into_iter().collect()),
            in_loop: None,
            from_line: None,
            tests: None,
            verdict: Verdict::Open(reason.to_owned()),
            deltas: Vec::new(),
            rest: Some(reason.to_owned()),
            apart: false,
            valid: false,
            unwrapped: false,
            by_members: false,
            fits: BTreeSet::new(),
            #[cfg(test)]
            way: Way {
                frontier: Frontier { node: Mvicfg::ENTRY, label: 0, to: [Mvicfg::ENTRY; 2] },
                from_node: false,
                is_later: false,
                covers: false,
                also: Vec::new(),
                held: Vec::new(),
            },
        }
    }

    /// Takes in what is told of the same code come to by another edge.
    pub(super) fn comes_also(&mut self, mut other: Change) {
        // Come to by more than one edge: no test leads there by itself.
        if self.tests != other.tests {
            (self.tests, other.tests) = (None, None);
        }
        // Where both are told under one condition, what is said of one of them goes for the other.
        other.deltas.retain(|d| self.deltas.iter().all(|known| known.when != d.when));
        self.joins(other);
    }

    /// Takes in what is told of the other edge of the same branch: from its node on, both are one.
    pub(super) fn joins(&mut self, other: Change) {
        #[cfg(test)]
        self.way.also.push(other.way.frontier.node);
        self.lines.iter_mut().zip(other.lines).for_each(|(known, more)| known.extend(more));
        let more = other.deltas.into_iter().filter(|d| !self.deltas.contains(d)).collect::<Vec<_>>();
        self.deltas.extend(more);
        self.rest = self.rest.take().or(other.rest);
        self.apart |= other.apart;
        self.valid |= other.valid;
        self.unwrapped |= other.unwrapped;
        self.fits.extend(other.fits);
        self.in_loop = self.in_loop.or(other.in_loop);
        self.tests = self.tests.take().or(other.tests);
        self.verdict = match (&self.rest, self.deltas.is_empty()) {
            (_, false) => Verdict::Differs,
            (Some(reason), true) => Verdict::Open(reason.clone()),
            (None, true) => Verdict::Neutral,
        };
    }
}
