//! What the solver may spend on one function, over all its deciders.
//!
//! A limit of each question does not limit their sum: a long function has hundreds of candidates, and
//! the questions about them are large, so that Z3 is busy long before it counts a unit. A *budget* is
//! what was spent so far, in Z3's resource units and a price for each term that it was given; it never
//! is a time, so that the same questions are asked on every machine.

use std::cell::Cell;
use std::rc::Rc;

/// What it takes Z3 to take in a term, in resource units: 600 terms took 40 ms, as 40,000 units do.
const TERM: u64 = 64;
/// A unit that is spent on memory takes so many times as long as another.
const MEMORY: u64 = 4;

/// Spent on one function.
#[derive(Debug, Default)]
pub struct Budget(Cell<u64>);

/// A part of the budget that may be spent on something.
#[derive(Clone, Debug)]
pub struct Allowance {
    budget: Rc<Budget>,
    until: u64,
}

impl Allowance {
    /// Allows `units` beyond what was spent so far.
    pub fn new(budget: &Rc<Budget>, units: u64) -> Allowance {
        Allowance { budget: budget.clone(), until: budget.0.get().saturating_add(units) }
    }

    pub fn is_spent(&self) -> bool {
        self.budget.0.get() >= self.until
    }

    /// Counts a question about so many terms, for which Z3 counted so many units.
    pub(super) fn charge(&self, terms: usize, units: u64, of_memory: bool) {
        let units = units.saturating_mul(if of_memory { MEMORY } else { 1 });
        let cost = (terms as u64).saturating_mul(TERM).saturating_add(units);
        self.budget.0.set(self.budget.0.get().saturating_add(cost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_spends_the_others_lack() {
        let budget = Rc::new(Budget::default());
        let (all, part) = (Allowance::new(&budget, 1000), Allowance::new(&budget, 100));
        part.charge(1, 50, false);
        assert!(part.is_spent() && !all.is_spent());
        let later = Allowance::new(&budget, 100);
        assert!(!later.is_spent());
        later.charge(0, 225, true);
        assert!(later.is_spent() && all.is_spent());
    }
}
