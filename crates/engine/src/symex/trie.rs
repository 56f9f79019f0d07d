//! A trie of path conditions: what is known of the conditions that were decided, for explorations that
//! come by again.
//!
//! A path condition is a sequence of conditions, oldest first; two explorations of terms of one pool
//! share what begins alike. So a check of a later version asks anew only behind the first condition
//! that its change makes another one.

use crate::ir::TermId;
use crate::ir::eval::Assignment;
use std::collections::BTreeMap;

/// What is known of a path condition.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// With an input that meets it, where there is one that evaluation confirms.
    Feasible(Option<Assignment>),
    Infeasible,
    Open,
}

/// Position of a path condition; [`Trie::ROOT`] is the empty one.
pub(super) type At = usize;

#[derive(Default)]
struct Branch {
    next: BTreeMap<TermId, At>,
    answer: Option<Answer>,
}

/// Decided path conditions.
pub struct Trie {
    branches: Vec<Branch>,
}

impl Default for Trie {
    fn default() -> Trie {
        Trie { branches: vec![Branch::default()] }
    }
}

impl Trie {
    pub(super) const ROOT: At = 0;

    pub fn new() -> Trie {
        Trie::default()
    }

    /// Returns the position of a path condition with one condition more.
    pub(super) fn then(&mut self, at: At, condition: TermId) -> At {
        if let Some(known) = self.branches[at].next.get(&condition) {
            return *known;
        }
        self.branches.push(Branch::default());
        let new = self.branches.len() - 1;
        self.branches[at].next.insert(condition, new);
        new
    }

    pub(super) fn answer(&self, at: At) -> Option<&Answer> {
        self.branches[at].answer.as_ref()
    }

    pub(super) fn set(&mut self, at: At, answer: Answer) {
        self.branches[at].answer = Some(answer);
    }

    /// Path conditions that were decided.
    pub fn len(&self) -> usize {
        self.branches.iter().filter(|b| b.answer.is_some()).count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
