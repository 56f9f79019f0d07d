//! Variables of a program point, and their values in runs.

use std::collections::BTreeSet;

/// What values a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Of this width in bits.
    Integer { bits: u16, signed: bool },
    /// 0 or 1, and no number.
    Truth,
    /// Where it leads is not looked at: 0 is null, 1 is not null.
    Pointer,
    /// Whether a condition holds, which its name is: 1 where it does. Of a row in which it is about nothing it has no value.
    Condition,
    /// The least element of an array; its name says what is said of all elements ("`\forall integer k; ... ==> a[k]`").
    Least { bits: u16, signed: bool },
    /// The greatest, likewise.
    Most { bits: u16, signed: bool },
}

impl Kind {
    /// The number that a variable is, or that elements are.
    pub fn number(self) -> Option<(u16, bool)> {
        match self {
            Kind::Integer { bits, signed } | Kind::Least { bits, signed } | Kind::Most { bits, signed } => {
                Some((bits, signed))
            }
            Kind::Truth | Kind::Pointer | Kind::Condition => None,
        }
    }

    /// Whether it is about all elements of an array.
    pub fn is_extreme(self) -> bool {
        matches!(self, Kind::Least { .. } | Kind::Most { .. })
    }
}

/// A variable of a point, or anything else that C can name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As C writes it; `\result`, `\old(x)`.
    pub name: String,
    pub kind: Kind,
}

impl Variable {
    /// Whether a number is the least or the greatest that the type has.
    pub fn is_end(&self, k: i128) -> bool {
        match self.kind.number() {
            Some((bits, true)) => {
                let half = 1i128 << (bits.clamp(1, 126) - 1);
                k == -half || k == half - 1
            }
            Some((bits, false)) => k == 0 || k == (1i128 << bits.min(126)) - 1,
            None => k == 0 || k == 1,
        }
    }

    /// Whether C compares the two as the numbers that they are.
    pub fn is_comparable(&self, other: &Variable) -> bool {
        // Of two arrays nothing is told by an element of each.
        if self.kind.is_extreme() && other.kind.is_extreme() {
            return false;
        }
        match (self.kind.number(), other.kind.number()) {
            // What is narrower than an `int` becomes one.
            (Some((a, s)), Some((b, t))) => (s || a < 32) == (t || b < 32),
            _ => (self.kind, other.kind) == (Kind::Truth, Kind::Truth),
        }
    }
}

/// The values of the variables of one point: a row each time that control comes there.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub variables: Vec<Variable>,
    rows: Vec<Vec<Option<i128>>>,
    /// By row, which run it is from, where one run has several; shorter for the others, which have runs of their own.
    runs: Vec<usize>,
}

impl Table {
    pub fn new(variables: Vec<Variable>) -> Table {
        Table { variables, rows: Vec::new(), runs: Vec::new() }
    }

    /// Adds a row, with a value for each variable; `None` where it has none. Rows of another length are not taken.
    pub fn push(&mut self, row: Vec<Option<i128>>) {
        if row.len() == self.variables.len() {
            self.rows.push(row);
        }
    }

    /// Adds a row of a run that may have others: what they have alike is evidence once. All rows of such a table are
    /// added so.
    pub fn push_of(&mut self, row: Vec<Option<i128>>, run: usize) {
        if row.len() == self.variables.len() {
            self.rows.push(row);
            self.runs.push(run);
        }
    }

    /// Whether one run may have several rows.
    pub(super) fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// The run of a row, if it may have others.
    fn run(&self, row: usize) -> Option<usize> {
        self.runs.get(row).copied()
    }

    /// What rows have that are evidence: of a run with several rows each thing once.
    fn evidence<T: Ord + Copy>(&self, of: impl Fn(&[Option<i128>]) -> Option<T>) -> Vec<T> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (k, row) in self.rows.iter().enumerate() {
            let Some(what) = of(row) else { continue };
            if self.run(k).is_none_or(|run| seen.insert((run, what))) {
                found.push(what);
            }
        }
        found
    }

    pub fn rows(&self) -> &[Vec<Option<i128>>] {
        &self.rows
    }

    pub fn position(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v.name == name)
    }

    pub fn variable(&self, x: usize) -> Option<&Variable> {
        self.variables.get(x)
    }

    /// The values of a variable, as far as it has some: of rows of one run each once.
    pub fn values(&self, x: usize) -> Vec<i128> {
        self.evidence(|row| row.get(x).copied().flatten())
    }

    /// The values of two variables in the rows in which both have some: of rows of one run each pair once.
    pub fn pairs(&self, x: usize, y: usize) -> Vec<(i128, i128)> {
        self.evidence(|row| Some(((*row.get(x)?)?, (*row.get(y)?)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(name: &str, bits: u16, signed: bool) -> Variable {
        Variable { name: name.into(), kind: Kind::Integer { bits, signed } }
    }

    #[test]
    fn numbers_compare_as_numbers_where_c_does_so() {
        let (int, unsigned) = (integer("a", 32, true), integer("b", 32, false));
        assert!(int.is_comparable(&integer("c", 64, true)));
        assert!(int.is_comparable(&integer("c", 8, false)));
        assert!(!int.is_comparable(&unsigned));
        assert!(unsigned.is_comparable(&integer("c", 64, false)));
        assert!(!int.is_comparable(&Variable { name: "p".into(), kind: Kind::Pointer }));
    }

    #[test]
    fn types_have_ends() {
        let (byte, int) = (integer("a", 8, false), integer("b", 32, true));
        assert!(byte.is_end(0) && byte.is_end(255) && !byte.is_end(254) && !byte.is_end(-1));
        assert!(int.is_end(i128::from(i32::MIN)) && int.is_end(i128::from(i32::MAX)) && !int.is_end(0));
    }

    #[test]
    fn rows_of_another_length_are_not_taken() {
        let mut table = Table::new(vec![integer("a", 32, true), integer("b", 32, true)]);
        table.push(vec![Some(1), None]);
        table.push(vec![Some(1)]);
        table.push(vec![Some(3), Some(4)]);
        assert_eq!(table.rows().len(), 2);
        assert_eq!(table.values(0), [1, 3]);
        assert_eq!(table.pairs(0, 1), [(3, 4)]);
    }

    #[test]
    fn what_the_rows_of_a_run_have_alike_is_evidence_once() {
        let mut table = Table::new(vec![integer("n", 32, true), integer("i", 32, true)]);
        for (run, n) in [(0, 7), (1, 7), (2, 8)] {
            (0..3).for_each(|i| table.push_of(vec![Some(n), Some(i)], run));
        }
        assert_eq!(table.rows().len(), 9);
        assert_eq!(table.values(0), [7, 7, 8]);
        assert_eq!(table.values(1), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(table.pairs(0, 1).len(), 9);
    }
}
