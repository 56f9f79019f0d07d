//! Where conditions hold that are evaluated: what was evaluated once is looked up, since many paths share a condition.

use crate::Domain;
use crate::lattice::{Range, width};
use invdiff_ir::eval::{Assignment, Program};
use invdiff_ir::{TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Values of the inputs of one condition that are kept, and of all conditions.
const MAX_CELLS: usize = 1 << 20;
const MAX_ALL: usize = 1 << 26;

/// All conditions of a counter.
#[derive(Default)]
pub(crate) struct Tables {
    known: FxHashMap<TermId, Table>,
    cells: usize,
}

impl Tables {
    /// Takes the table of a condition over some inputs; it is to be put back.
    pub fn take(&mut self, pool: &TermPool, domain: &Domain, t: TermId, inputs: &BTreeSet<usize>) -> Table {
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
        Table { t, program: Program::new(pool, &[t]), inputs, cells }
    }

    pub fn put(&mut self, table: Table) {
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
    program: Program,
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
            _ => 1 + self.program.terms().len() as u64 / 32,
        }
    }

    /// Whether it holds there; inner `None`: it is undefined.
    pub fn holds(&mut self, pool: &TermPool, domain: &Domain, at: &[Range]) -> Option<Option<bool>> {
        let cell = self.cell(at);
        if let Some(known) = cell.and_then(|k| self.cells.get(k)).filter(|c| **c != OPEN) {
            return Some((*known != UNDEFINED).then_some(*known == TRUE));
        }
        let mut input = Assignment::new();
        let terms = domain.inputs.iter().enumerate();
        for (i, own) in terms.filter(|(i, _)| self.inputs.iter().any(|(k, ..)| k == i)) {
            input.set(own.term, domain.constant(pool, i, at.get(i)?.0)?);
        }
        let found = self.program.run(pool, &input).holds(self.t);
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
