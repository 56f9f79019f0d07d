//! The tests, and what the variables are when they run.
//!
//! At the head of a loop there is a row for each arrival: of the first ones, of fewer and fewer behind them, and of the
//! last.

use super::Point;
use super::members::{self, AccessPath, is_of};
use super::sequences::{self, Array, Asked};
use super::subject::{Cell, Free, Looked, Source, Subject};
use crate::infer::daikon::{Call, Calls, Traced};
use crate::infer::{Kind, Table};
use crate::interp::{self, End, Identity, Input, Observation, Outcome, Value};
use crate::ir::{CType, Const, NodeId, Sort};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Instructions of one run.
const FUEL: u64 = 200_000;
/// Arrivals at one head in one run of which all are taken down.
const FIRST_ARRIVALS: usize = 24;

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
    /// By [`number_of`] a point.
    tables: Vec<Table>,
    /// The test of each row, likewise.
    from: Vec<Vec<usize>>,
    /// What runs are for a trace: the variables of entry and exit, and a sample of each.
    traced: (Vec<Looked>, Vec<Looked>),
    calls: Vec<Call>,
}

/// What a run shows at one head of a loop.
#[derive(Clone, Default)]
struct Rounds {
    count: usize,
    rows: Vec<Vec<Option<i128>>>,
    /// The last arrival, where it is not taken down.
    last: Option<Vec<Option<i128>>>,
}

impl Rounds {
    fn add(&mut self, row: Vec<Option<i128>>) {
        self.count += 1;
        match self.count <= FIRST_ARRIVALS || self.count.is_power_of_two() {
            true => {
                self.rows.push(row);
                self.last = None;
            }
            false => self.last = Some(row),
        }
    }
}

/// Where a point's table stands.
fn number_of(point: Point) -> usize {
    match point {
        Point::Entry => 0,
        Point::Exit => 1,
        Point::Head(k) => 2 + k,
    }
}

impl<'s, 'a> Suite<'s, 'a> {
    pub fn new(subject: &'s Subject<'a>) -> Suite<'s, 'a> {
        let table = |point| Table::new(subject.variables(point).iter().map(|l| l.variable.clone()).collect());
        let tables: Vec<Table> = subject.points().map(table).collect();
        let from = vec![Vec::new(); tables.len()];
        let (traced, calls) = (subject.traced(), Vec::new());
        Suite { subject, tests: Vec::new(), known: BTreeSet::new(), tables, from, traced, calls }
    }

    /// The table of one of the subject's points.
    pub fn table(&self, point: Point) -> &Table {
        // Points come from the subject, and the first is there always.
        self.tables.get(number_of(point)).unwrap_or(&self.tables[0])
    }

    /// The test that a row of a point comes from.
    pub fn test_of(&self, point: Point, row: usize) -> Option<&Test> {
        self.tests.get(*self.from.get(number_of(point))?.get(row)?)
    }

    /// Runs the function with these values of the free inputs. `base`: which of the inputs that the rest is taken
    /// from, by its number. Whether that is a new test.
    pub fn add(&mut self, values: Vec<i128>, (number, base): (usize, &Input)) -> bool {
        if !self.known.insert((values.clone(), number)) {
            return false;
        }
        let input = self.subject.input(&values, base);
        let limits = interp::Limits { fuel: FUEL, ..interp::Limits::default() };
        let (outcome, rounds) = self.run(&input, &limits);
        let at = self.tests.len();
        for point in [Point::Entry, Point::Exit] {
            // What C leaves undefined shows nothing at the exit, and the machine's sums that overflow no more.
            if point == Point::Exit && (outcome.end != End::Return || outcome.overflowed()) {
                continue;
            }
            let looked = self.subject.variables(point).iter();
            let row = looked.map(|l| self.value(l, &input, (point == Point::Exit).then_some(&outcome)));
            let row = row.collect();
            self.push(point, row, at);
        }
        // What a run shows that does something undefined later is no less undefined.
        let is_defined = !matches!(outcome.end, End::Undefined { .. }) && !outcome.overflowed();
        for (k, rounds) in rounds.into_iter().enumerate().filter(|_| is_defined) {
            rounds.rows.into_iter().chain(rounds.last).for_each(|row| self.push(Point::Head(k), row, at));
        }
        self.calls.push(self.call(&input, &outcome));
        self.tests.push(Test { values });
        true
    }

    /// A run's samples.
    fn call(&self, input: &Input, outcome: &Outcome) -> Call {
        let is_shown = outcome.end == End::Return && !outcome.overflowed();
        let (entry, exit) = &self.traced;
        let row = |all: &[Looked], outcome: Option<&Outcome>| {
            all.iter().map(|l| self.value(l, input, outcome)).collect::<Vec<_>>()
        };
        Call { entry: row(entry, None), exit: is_shown.then(|| row(exit, Some(outcome))) }
    }

    /// All runs, for a trace.
    pub fn calls(&self) -> Calls {
        let traced = |l: &Looked| Traced {
            variable: l.variable.clone(),
            is_global: matches!(l.source, Source::Global { .. } | Source::Part { .. }),
        };
        let of = |all: &[Looked]| all.iter().map(traced).collect();
        Calls { entry: of(&self.traced.0), exit: of(&self.traced.1), calls: self.calls.clone() }
    }

    fn push(&mut self, point: Point, row: Vec<Option<i128>>, test: usize) {
        let k = number_of(point);
        if let (Some(table), Some(from)) = (self.tables.get_mut(k), self.from.get_mut(k)) {
            match point {
                Point::Head(_) => table.push_of(row, test),
                Point::Entry | Point::Exit => table.push(row),
            }
            from.push(test);
        }
    }

    /// Runs the function, and takes down what it is like at heads of loops.
    fn run(&self, input: &Input, limits: &interp::Limits) -> (Outcome, Vec<Rounds>) {
        let (program, name) = (self.subject.program, &self.subject.function.name);
        let heads = &self.subject.heads;
        if heads.is_empty() {
            return (interp::run(program, name, input, limits), Vec::new());
        }
        let mut rounds = vec![Rounds::default(); heads.len()];
        let nodes: Vec<NodeId> = heads.iter().map(|h| h.node).collect();
        let mut observe = |node: NodeId, seen: &mut Observation| {
            for (head, rounds) in heads.iter().zip(&mut rounds).filter(|(h, _)| h.node == node) {
                rounds.add(head.variables.iter().map(|l| self.value_here(l, input, seen)).collect());
            }
            ControlFlow::Continue(())
        };
        let outcome = interp::run_traced(program, name, input, limits, &nodes, &mut observe);
        (outcome, rounds)
    }

    /// The value of a variable in the middle of a run.
    fn value_here(&self, looked: &Looked, input: &Input, seen: &mut Observation) -> Option<i128> {
        match &looked.source {
            Source::Local(v) => number(seen.value(*v)?, &self.subject.function.var(*v).ty),
            Source::Global { symbol, is_old: false } => {
                let place = Value::Global { symbol: symbol.clone(), offset: 0 };
                let sort = Sort::Bv(u16::try_from(looked.bytes * 8).ok()?);
                let value = seen.load(&place, sort, looked.bytes)?;
                read(looked.cell(), &value.to_bits().to_le_bytes())
            }
            Source::Array { array, part } => {
                let mut look = |asked: Asked| match asked {
                    Asked::Number(source) => {
                        let number = Looked { source: source.clone(), ..looked.clone() };
                        self.value_here(&number, input, seen)
                    }
                    Asked::Element { at, is_old: false } => {
                        let Value::Pointer { object, offset } = *input.arguments.get(array.parameter)? else {
                            return None;
                        };
                        let place = Value::Pointer { object, offset: offset.checked_add(array.offset(at)?)? };
                        let (_, bytes) = array.element;
                        let value = seen.load(&place, Sort::Bv(u16::try_from(bytes * 8).ok()?), bytes)?;
                        read(array.element, &value.to_bits().to_le_bytes())
                    }
                    Asked::Element { at, is_old: true } => self.element(array, at, input, None),
                };
                sequences::value(array, part, &mut look)
            }
            // As at entry: members are not looked at in the middle of a run.
            _ => self.value(looked, input, None),
        }
    }

    fn value(&self, looked: &Looked, input: &Input, outcome: Option<&Outcome>) -> Option<i128> {
        let f = self.subject.function;
        match &looked.source {
            Source::Parameter(k) => match input.arguments.get(*k)? {
                Value::Const(c) => number(*c, f.params.get(*k).map(|p| &f.var(*p).ty)?),
                Value::Pointer { .. } | Value::Function(_) | Value::Global { .. } => Some(1),
            },
            Source::Behind { parameter, way, is_old } => {
                let pointer = input.arguments.get(*parameter)?;
                members::behind(looked.cell(), (pointer, way), input, outcome.filter(|_| !is_old))
            }
            Source::Part { symbol, offset, is_old } => {
                let identity = Identity::Global(symbol.clone());
                let all = outcome.filter(|_| !is_old).map_or(&[][..], |o| &o.left.memory);
                if let Some(o) = all.iter().find(|o| o.identity == identity) {
                    return members::left(looked.cell(), o, *offset);
                }
                match input.objects.iter().find(|o| is_of(o, symbol)) {
                    Some(o) => members::given(looked.cell(), o, *offset),
                    None => {
                        let initial = interp::initial_object(self.subject.program, &identity)?;
                        members::left(looked.cell(), &initial, *offset)
                    }
                }
            }
            Source::Array { array, part } => {
                let mut look = |asked: Asked| match asked {
                    Asked::Number(source) => {
                        let number = Looked { source: source.clone(), ..looked.clone() };
                        self.value(&number, input, outcome)
                    }
                    Asked::Element { at, is_old } => {
                        self.element(array, at, input, outcome.filter(|_| !is_old))
                    }
                };
                sequences::value(array, part, &mut look)
            }
            // As the run left it.
            Source::Local(v) => number(outcome?.local(*v)?, &f.var(*v).ty),
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
                read(looked.cell(), &bytes)
            }
        }
    }

    /// An element of an array, as an input has it or as a run left it.
    fn element(&self, array: &Array, at: i128, input: &Input, outcome: Option<&Outcome>) -> Option<i128> {
        let pointer = input.arguments.get(array.parameter)?;
        let Value::Pointer { object, offset } = *pointer else { return None };
        let first = Value::Pointer { object, offset: offset.checked_add(array.offset(at)?)? };
        members::behind(array.element, (&first, &AccessPath::default()), input, outcome)
    }

    /// What an object holds at entry, or as a run left it.
    fn bytes(&self, symbol: &Arc<str>, input: &Input, outcome: Option<&Outcome>) -> Option<Vec<u8>> {
        let identity = Identity::Global(symbol.clone());
        if let Some(o) = outcome.and_then(|o| o.left.memory.iter().find(|m| m.identity == identity)) {
            let is_whole = o.pointers.is_empty() && o.undefined.is_empty();
            return is_whole.then(|| o.bytes.clone());
        }
        if let Some(o) = input.objects.iter().find(|o| is_of(o, symbol)) {
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
pub(super) fn read((kind, count): Cell, bytes: &[u8]) -> Option<i128> {
    let count = usize::try_from(count).ok().filter(|n| (1..=8).contains(n))?;
    let bytes = bytes.get(..count)?;
    let bits = bytes.iter().rev().fold(0i128, |all, b| all << 8 | i128::from(*b));
    Some(match kind {
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
