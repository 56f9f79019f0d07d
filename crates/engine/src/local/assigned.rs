//! Variables by what they were assigned, where that is still so: `q` behind `q = a / b` is `a / b`.
//!
//! What holds of the state that both versions begin in ([`super::tested`]) is known to the solver, too; but a division
//! of two variables is hard for it, and two terms that are one when variables are written out are equal without it.

use super::compare::Comparer;
use crate::ir::{Rebuilt, TermId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Variables that are assigned one from another.
const MAX_STEPS: usize = 4;

impl Comparer<'_> {
    /// Whether two terms are one where each variable is what it was assigned.
    pub(super) fn is_equal_written_out(&mut self, a: TermId, b: TermId) -> bool {
        let assigned = Rc::new(std::mem::take(&mut self.premises.assigned));
        let (mut terms, mut is_equal, mut changes) = ([a, b], false, !assigned.is_empty());
        for _ in 0..MAX_STEPS {
            if is_equal || !changes {
                break;
            }
            let next = terms.map(|t| self.written_out(t, &assigned));
            (is_equal, changes) = (next[0] == next[1], next != terms);
            terms = next;
        }
        self.premises.assigned = Rc::unwrap_or_clone(assigned);
        is_equal
    }

    fn written_out(&mut self, t: TermId, assigned: &Rc<BTreeMap<TermId, TermId>>) -> TermId {
        let assigned = assigned.clone();
        self.pool.rebuilt(t, &move |_, t| assigned.get(&t).map_or(Rebuilt::Kept, |v| Rebuilt::By(*v)))
    }
}
