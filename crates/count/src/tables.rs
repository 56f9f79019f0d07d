//! Where conditions hold that are evaluated: what was evaluated once is looked up, since many paths share a condition.

use crate::Domain;
use crate::lattice::{Range, width};
use invdiff_ir::eval::Changing;
use invdiff_ir::{TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Values of the inputs of one condition that are kept, and of all conditions.
const MAX_CELLS: usize = 1 << 20;
const MAX_ALL: usize = 1 << 26;

/// All conditions of a counter.
#[derive(Default)]
pub(crate) struct Tables {
    known: FxHashMap<TermId, Box<Table>>,
    cells: usize,
}

impl Tables {
    /// Takes the table of a condition over some inputs; it is to be put back.
    pub fn take(
        &mut self,
        pool: &TermPool,
        domain: &Domain,
        t: TermId,
        inputs: &BTreeSet<usize>,
    ) -> Box<Table> {
        if let Some(table) = self.known.remove(&t) {
            return table;
        }
        let of = |i: &usize| {
            let (low, high) = domain.inputs.get(*i)?.range;
            Some((*i, low, usize::try_from(width((low, high))?).ok()?))
        };
        let inputs: Option<Vec<(usize, i128, usize)>> = inputs.iter().map(of).collect();
        let inputs = inputs.unwrap_or_default();
        let cells = inputs.iter().try_fold(1usize, |all, (.., width)| all.checked_mul(*width));
        let cells = cells.filter(|n| *n <= MAX_CELLS && self.cells + n <= MAX_ALL && !inputs.is_empty());
        self.cells += cells.unwrap_or(0);
        let cells = vec![OPEN; cells.unwrap_or(0)];
        let leaves: Vec<TermId> =
            inputs.iter().filter_map(|(i, ..)| Some(domain.inputs.get(*i)?.term)).collect();
        let mut terms = Changing::new(&leaves);
        let is_closed = terms.add(pool, &[t]).is_some();
        let size = pool.reachable(&[t]).len() as u64;
        let at = vec![None; inputs.len()];
        Box::new(Table { t, terms, is_closed, size, at, inputs, cells })
    }

    pub fn put(&mut self, table: Box<Table>) {
        self.known.insert(table.t, table);
    }
}

const OPEN: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const UNDEFINED: u8 = 3;

/// Where one condition holds.
pub(crate) struct Table {
    t: TermId,
    terms: Changing,
    /// It rests on the inputs alone.
    is_closed: bool,
    /// Terms that it is made of.
    size: u64,
    /// Values of the inputs when it was evaluated last.
    at: Vec<Option<i128>>,
    /// Position, least value, how many values.
    inputs: Vec<(usize, i128, usize)>,
    /// None if there are too many.
    cells: Vec<u8>,
}

impl Table {
    fn cell(&self, at: &[Range]) -> Option<usize> {
        let mut cell = 0;
        for (i, low, width) in &self.inputs {
            let k = usize::try_from(at.get(*i)?.0.checked_sub(*low)?).ok()?;
            cell = cell * width + k;
        }
        (cell < self.cells.len()).then_some(cell)
    }

    /// Work to say whether it holds where its inputs are fixed.
    pub fn cost(&self, at: &[Range]) -> u64 {
        match self.cell(at).and_then(|k| self.cells.get(k)) {
            Some(cell) if *cell != OPEN => 1,
            _ => 1 + self.size / 32,
        }
    }

    /// Whether it holds there; inner `None`: it is undefined.
    pub fn holds(&mut self, pool: &TermPool, domain: &Domain, at: &[Range]) -> Option<Option<bool>> {
        let cell = self.cell(at);
        if let Some(known) = cell.and_then(|k| self.cells.get(k)).filter(|c| **c != OPEN) {
            return Some((*known != UNDEFINED).then_some(*known == TRUE));
        }
        if !self.is_closed {
            return Some(None);
        }
        for (k, ((i, ..), last)) in self.inputs.iter().zip(&mut self.at).enumerate() {
            let value = at.get(*i)?.0;
            if *last != Some(value) {
                *last = None;
                self.terms.set(k, domain.constant(pool, *i, value)?);
                *last = Some(value);
            }
        }
        let found = self.terms.holds(pool, self.t);
        if let Some(cell) = cell.and_then(|k| self.cells.get_mut(k)) {
            *cell = match found {
                Some(true) => TRUE,
                Some(false) => FALSE,
                None => UNDEFINED,
            };
        }
        Some(found)
    }
}
