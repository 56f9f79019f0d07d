//! What an exploration asks of its inputs: what terms can be, and whether some input takes a branch.

use crate::count::{Count, Counter};
use crate::ir::{TermId, TermPool};
use rustc_hash::FxHashMap;

/// Work, beside a look at each condition, to see that no input takes a branch; one that is not seen to be empty is
/// followed.
const LOOK: u64 = 2000;

/// The inputs of an exploration.
pub trait Inputs {
    /// What a term is at least and at most, as a number of its type's; `None` where that is not known.
    fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<(i128, i128)>;

    /// Whether some input may meet all conditions and the literal, of which no constant is known. What some input
    /// meets are the conditions alone.
    fn may_meet(&mut self, pool: &mut TermPool, conditions: &[TermId], literal: TermId) -> bool;

    /// Nothing more is to be asked.
    fn is_spent(&self) -> bool;
}

/// The inputs of a bounded domain, which are counted: no solver is asked.
pub struct Bounded<'c> {
    counter: &'c mut Counter,
    /// Conditions that no input of the domain meets.
    never: FxHashMap<TermId, bool>,
    /// Work that is left.
    work: u64,
}

impl<'c> Bounded<'c> {
    /// The counter has the domain, and may know answers from another version.
    pub fn new(counter: &'c mut Counter, work: u64) -> Bounded<'c> {
        Bounded { counter, never: FxHashMap::default(), work }
    }

    /// Whether it is seen that no input meets some conditions.
    fn is_empty(&mut self, pool: &mut TermPool, conditions: &[TermId]) -> bool {
        let mut work = (LOOK + 4 * conditions.len() as u64).min(self.work);
        let before = work;
        let is_empty = self.counter.count(pool, conditions, &mut work) == Count::Exact(0);
        self.work -= before - work;
        is_empty
    }
}

impl Inputs for Bounded<'_> {
    fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<(i128, i128)> {
        self.counter.bounds(pool, t)
    }

    fn may_meet(&mut self, pool: &mut TermPool, conditions: &[TermId], literal: TermId) -> bool {
        let never = match self.never.get(&literal) {
            Some(never) => *never,
            None => {
                let never = self.is_empty(pool, &[literal]);
                self.never.insert(literal, never);
                never
            }
        };
        if never || conditions.is_empty() {
            return !never;
        }
        let mut all = conditions.to_vec();
        all.push(literal);
        !self.is_empty(pool, &all)
    }

    fn is_spent(&self) -> bool {
        self.work == 0
    }
}
