//! The tests, and what the variables are when they run.

use super::Point;
use super::subject::{Free, Looked, Source, Subject};
use crate::infer::{Kind, Table};
use crate::interp::{self, End, Identity, Input, Outcome, Storage, Value};
use crate::ir::{CType, Const};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Instructions of one run.
const FUEL: u64 = 200_000;

/// A run of the function.
pub struct Test {
    /// Of the free inputs.
    pub values: Vec<i128>,
}

/// The tests so far, with the rows that they gave.
pub struct Suite<'s, 'a> {
    subject: &'s Subject<'a>,
    pub tests: Vec<Test>,
    known: BTreeSet<(Vec<i128>, usize)>,
    tables: [Table; 2],
    /// The test of each row, by point.
    from: [Vec<usize>; 2],
}

impl<'s, 'a> Suite<'s, 'a> {
    pub fn new(subject: &'s Subject<'a>) -> Suite<'s, 'a> {
        let table = |point| Table::new(subject.variables(point).iter().map(|l| l.variable.clone()).collect());
        Suite {
            subject,
            tests: Vec::new(),
            known: BTreeSet::new(),
            tables: [table(Point::Entry), table(Point::Exit)],
            from: [Vec::new(), Vec::new()],
        }
    }

    pub fn table(&self, point: Point) -> &Table {
        &self.tables[point as usize]
    }

    /// The test that a row of a point comes from.
    pub fn test_of(&self, point: Point, row: usize) -> Option<&Test> {
        self.tests.get(*self.from[point as usize].get(row)?)
    }

    /// Runs the function with these values of the free inputs. `base`: which of the inputs that the rest is taken
    /// from, by its number. Whether that is a new test.
    pub fn add(&mut self, values: Vec<i128>, (number, base): (usize, &Input)) -> bool {
        if !self.known.insert((values.clone(), number)) {
            return false;
        }
        let input = self.subject.input(&values, base);
        let limits = interp::Limits { fuel: FUEL, ..interp::Limits::default() };
        let outcome = interp::run(self.subject.program, &self.subject.function.name, &input, &limits);
        let at = self.tests.len();
        for point in [Point::Entry, Point::Exit] {
            // What C leaves undefined shows nothing at the exit, and the machine's sums that overflow no more.
            if point == Point::Exit && (outcome.end != End::Return || outcome.overflowed()) {
                continue;
            }
            let looked = self.subject.variables(point).iter();
            let row = looked.map(|l| self.value(l, &input, (point == Point::Exit).then_some(&outcome)));
            let row = row.collect();
            self.tables[point as usize].push(row);
            self.from[point as usize].push(at);
        }
        self.tests.push(Test { values });
        true
    }

    fn value(&self, looked: &Looked, input: &Input, outcome: Option<&Outcome>) -> Option<i128> {
        let f = self.subject.function;
        match &looked.source {
            Source::Parameter(k) => match input.arguments.get(*k)? {
                Value::Const(c) => number(*c, f.params.get(*k).map(|p| &f.var(*p).ty)?),
                Value::Pointer { .. } | Value::Function(_) | Value::Global { .. } => Some(1),
            },
            Source::Result => {
                let outcome = outcome?;
                match (&f.ret, outcome.returned_target.is_some()) {
                    (CType::Pointer(_), true) => Some(1),
                    (ty, _) => number(outcome.returned?, ty),
                }
            }
            Source::Global { symbol, is_old } => {
                let left = outcome.filter(|_| !is_old);
                let bytes = self.bytes(symbol, input, left)?;
                read(looked, &bytes)
            }
        }
    }

    /// What an object holds at entry, or as a run left it.
    fn bytes(&self, symbol: &Arc<str>, input: &Input, outcome: Option<&Outcome>) -> Option<Vec<u8>> {
        let identity = Identity::Global(symbol.clone());
        if let Some(o) = outcome.and_then(|o| o.left.memory.iter().find(|m| m.identity == identity)) {
            let is_whole = o.pointers.is_empty() && o.undefined.is_empty();
            return is_whole.then(|| o.bytes.clone());
        }
        let is_it = |storage: &Storage| matches!(storage, Storage::Global(s) if s == symbol);
        if let Some(o) = input.objects.iter().find(|o| is_it(&o.storage)) {
            return (o.pointers.is_empty() && o.undefined.is_empty()).then(|| o.bytes.clone());
        }
        let initial = interp::initial_object(self.subject.program, &identity)?;
        initial.pointers.is_empty().then_some(initial.bytes)
    }
}

/// The values of the free inputs in an input of a run.
pub fn values(subject: &Subject, input: &Input) -> Vec<i128> {
    let suite = Suite::new(subject);
    let looked = |free: &Free| subject.looked(free);
    let value = |free: &Free| {
        let value = suite.value(&looked(free), input, None).unwrap_or(0);
        value.clamp(free.low, free.high)
    };
    subject.free.iter().map(value).collect()
}

fn number(c: Const, ty: &CType) -> Option<i128> {
    match c {
        Const::Bool(b) => Some(i128::from(b)),
        _ if ty.is_pointer() => Some(i128::from(c.to_bits() != 0)),
        _ if ty.is_signed() => c.signed(),
        _ => c.unsigned().and_then(|u| i128::try_from(u).ok()),
    }
}

/// A number of an object's bytes.
fn read(looked: &Looked, bytes: &[u8]) -> Option<i128> {
    let count = usize::try_from(looked.bytes).ok().filter(|n| (1..=8).contains(n))?;
    let bytes = bytes.get(..count)?;
    let bits = bytes.iter().rev().fold(0i128, |all, b| all << 8 | i128::from(*b));
    Some(match looked.variable.kind {
        Kind::Integer { signed: true, bits: width } if bits >= 1i128 << (width - 1) => {
            bits - (1i128 << width)
        }
        Kind::Pointer => i128::from(bits != 0),
        _ => bits,
    })
}

impl Suite<'_, '_> {
    /// The rows of a point, with the input of each.
    pub fn samples(&self, point: Point) -> (Table, Vec<String>) {
        let inputs = (0..self.table(point).rows().len()).map(|row| self.subject_text(point, row));
        (self.table(point).clone(), inputs.collect())
    }

    /// The input of a row as a reader sees it.
    pub fn subject_text(&self, point: Point, row: usize) -> String {
        self.test_of(point, row).map(|t| self.subject.text(&t.values)).unwrap_or_default()
    }
}
