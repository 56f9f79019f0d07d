//! The loop: runs, candidates, symbolic execution, runs, until the candidates stay the same.

use super::heads::HeadPlace;
use super::implied;
use super::search::search;
use super::sequences::{self, Part};
use super::solver::Asker;
use super::splitters;
use super::subject::{Looked, Source, Subject};
use super::suite::{Suite, values};
use super::{Point, Settings, Status};
use crate::count::{Counter, Domain, Input as Counted};
use crate::infer::daikon::Calls;
use crate::infer::{Kind, Relation, Shape, Table, conditional, infer};
use crate::interp::{Generator, Input};
use crate::ir::TermPool;
use std::collections::BTreeSet;

/// Seed of the first runs.
const SEED: u64 = 0x5eed;
/// Inputs that give what is not free: what pointers lead to.
const BASES: usize = 12;
/// Conditions that are proved beside the search, at most.
const MOST_ASKED: usize = 80;
/// How often further runs are made where nothing changes any more and something is not known.
const MOST_FURTHER: usize = 6;
/// Of so many random runs one has larger arrays: how large those of the others are is to show in no bound.
const ENLARGED: usize = 4;

/// What one turn of the loop did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub index: usize,
    pub invariants: usize,
    /// Against the turn before.
    pub refuted: usize,
    pub added: usize,
    /// Inputs that symbolic execution gave.
    pub tests: usize,
    pub queries: u64,
    pub states: u64,
    pub reused: u64,
}

/// An invariant that is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    pub point: Point,
    pub text: String,
    /// Over the variables of the point's table.
    pub shape: Shape,
    pub family: &'static str,
    pub status: Status,
    /// Rows that it holds of.
    pub samples: usize,
    /// Others that are known as well say it, too.
    pub is_implied: bool,
}

/// A fact that the engine proves by itself, of whatever form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub point: Point,
    pub text: String,
    pub template: String,
    /// What it rests on beyond what every proof does.
    pub assumptions: Vec<String>,
}

/// What is known of a candidate beside the search.
#[derive(Clone, Debug)]
pub enum Proof {
    Proved,
    /// An input that breaks it.
    Refuted(Box<Input>),
    Unknown,
}

/// One that a run refuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refuted {
    pub point: Point,
    pub text: String,
    /// The turn whose tests refuted it.
    pub iteration: usize,
    pub input: String,
}

/// The rows of a point, with the input of each.
pub type Rows = (Table, Vec<String>);

/// The rows of all points.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<(Point, Rows)>);

impl Samples {
    /// Those of a point, if the function has it.
    pub fn of(&self, point: Point) -> Option<&Rows> {
        self.0.iter().find(|(p, _)| *p == point).map(|(_, rows)| rows)
    }
}

impl Discovered {
    /// Takes what the engine proves: what runs suggest, too, is proved, and the rest is listed beside it.
    pub fn join(&mut self, told: Vec<Told>) {
        let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        for fact in told {
            let is_it =
                |i: &&mut Invariant| i.point == fact.point && squeezed(&i.text) == squeezed(&fact.text);
            match self.invariants.iter_mut().find(is_it) {
                Some(own) if fact.assumptions.is_empty() => own.status = Status::Proved,
                Some(_) => {}
                None => self.told.push(fact),
            }
        }
    }
}

/// What was found of a function.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    pub iterations: Vec<Iteration>,
    pub invariants: Vec<Invariant>,
    /// What the engine proves, and no run suggested.
    pub told: Vec<Told>,
    pub refuted: Vec<Refuted>,
    pub runs: usize,
    /// The free inputs, and their values in all runs.
    pub inputs: Vec<String>,
    pub tests: Vec<Vec<i128>>,
    pub samples: Samples,
    /// The loops whose heads were looked at, by their number.
    pub heads: Vec<HeadPlace>,
    /// The runs, for a trace.
    pub calls: Calls,
    /// Why not every path was followed; none: all were.
    pub cut: Vec<&'static str>,
    /// The candidates did not stay the same within the iterations allowed.
    pub is_unfinished: bool,
}

/// Runs the loop. `first`: values of the free inputs, a test each; none: random and boundary values, and
/// an input of every path. `turned` is told
/// of every turn. `prove` is asked of conditions at the exit that the search leaves open, once nothing changes any
/// more; fewer answers than questions: it knows nothing. Cost: runs, and questions to the solver within the settings'
/// bounds.
pub fn discover(
    subject: &Subject,
    pool: &mut TermPool,
    first: &[Vec<i128>],
    settings: &Settings,
    turned: &mut dyn FnMut(&Iteration),
    prove: &mut dyn FnMut(&[String]) -> Vec<Proof>,
) -> Discovered {
    let numbers = subject.free.iter().filter(|f| f.kind != Kind::Pointer);
    let inputs = numbers.map(|f| Counted::even(f.term, (f.low, f.high))).collect();
    let counter = Counter::new(Domain { inputs });
    let pointer_bits = subject.unit.data_model.pointer_bits();
    let asker = Asker::new(counter, settings.configuration.reuse, pointer_bits);
    let (suite, bases) = (Suite::new(subject), bases(subject));
    let mut refinement = Refinement {
        subject,
        settings,
        asker,
        suite,
        bases,
        splitters: splitters::of(subject),
        last: Vec::new(),
        open: BTreeSet::new(),
        bounded: BTreeSet::new(),
        proved: BTreeSet::new(),
        asked: BTreeSet::new(),
        generator: Generator::new(subject.program, &subject.function.name, SEED),
        further: 0,
        has_arrays: subject.exit.iter().any(|l| matches!(l.source, Source::Array { .. })),
        is_made_up: first.is_empty(),
        found: Discovered::default(),
    };
    refinement.begin(first, pool);
    loop {
        match refinement.turn(pool, turned) {
            Turn::Changed => {}
            Turn::Same if refinement.ask(prove) => {}
            Turn::Same if refinement.run_further() => {}
            Turn::Same | Turn::TooMany => break,
        }
    }
    refinement.finish()
}

/// How a turn went.
enum Turn {
    Changed,
    /// The candidates are those of the turn before.
    Same,
    TooMany,
}

struct Refinement<'s, 'a> {
    subject: &'s Subject<'a>,
    settings: &'s Settings,
    asker: Asker,
    suite: Suite<'s, 'a>,
    /// Inputs that give what is not free.
    bases: Vec<Input>,
    /// The conditions of the function's branches, over the variables of the exit.
    splitters: Vec<Shape>,
    /// The candidates of the last turn, and those, by position, that it left open.
    last: Vec<(Point, Shape)>,
    open: BTreeSet<usize>,
    bounded: BTreeSet<usize>,
    /// What was proved beside the search, and all that was asked there.
    proved: BTreeSet<(Point, Shape)>,
    asked: BTreeSet<(Point, Shape)>,
    /// Of random and boundary values.
    generator: Generator,
    /// How often further runs were made.
    further: usize,
    has_arrays: bool,
    /// No runs were given: what pointers lead to at entry is the generator's.
    is_made_up: bool,
    found: Discovered,
}

impl Refinement<'_, '_> {
    fn add(&mut self, values: Vec<i128>) -> bool {
        let base = self.suite.tests.len() % self.bases.len().max(1);
        let nothing = Input::default();
        self.suite.add(values, (base, self.bases.get(base).unwrap_or(&nothing)))
    }

    fn begin(&mut self, first: &[Vec<i128>], pool: &mut TermPool) {
        first.iter().for_each(|values| _ = self.add(values.clone()));
        if !first.is_empty() && !self.settings.is_adding_runs {
            return;
        }
        self.run_random(self.settings.runs);
        // And an input of every path.
        let settings = self.settings;
        self.asker.begin(settings.queries);
        let (subject, asker) = (self.subject, &mut self.asker);
        let searched = search(subject, pool, asker, &[], settings.configuration, settings.paths);
        searched.tests.into_iter().for_each(|values| _ = self.add(values));
    }

    /// Runs on random and boundary values.
    fn run_random(&mut self, count: usize) {
        for k in 0..count {
            let mut input = self.generator.next();
            if k % ENLARGED == ENLARGED - 1 {
                sequences::enlarge(self.subject, &mut input);
            }
            let own = values(self.subject, &input);
            // What is not free is this input's alone.
            let number = BASES + self.suite.tests.len();
            self.suite.add(own, (number, &input));
        }
    }

    /// Where runs alone say what holds, there are more of them before it is told; whether there were.
    fn run_further(&mut self) -> bool {
        let is_likely = (0..self.last.len()).any(|k| self.status(k) == Status::Likely);
        if !is_likely || self.further >= MOST_FURTHER {
            return false;
        }
        self.further += 1;
        self.run_random(self.settings.further);
        self.settings.further > 0
    }

    /// Whether a candidate is about what a run makes up, and nothing that the function leaves.
    fn is_made_up(&self, (point, shape): &(Point, Shape)) -> bool {
        let is_number =
            |l: &Looked| matches!((&l.source, l.variable.kind), (Source::Parameter(_), Kind::Integer { .. }));
        let variables = self.subject.variables(*point);
        let looked = || shape.variables().into_iter().filter_map(|v| variables.get(v));
        let is_given = match point {
            Point::Entry => looked().any(|l| matches!(l.source, Source::Behind { .. } | Source::Part { .. })),
            Point::Exit | Point::Head(_) => {
                // Numbers that are given are bounded by how large arrays are.
                let is_given = looked().any(Looked::is_made_up) || self.has_arrays && looked().all(is_number);
                is_given && !looked().any(|l| l.is_left() || matches!(l.source, Source::Local(_)))
            }
        };
        self.is_made_up && !self.subject.is_initial && is_given
    }

    /// Whether it speaks of the last element of an array that may have none.
    fn is_unguarded(&self, (point, shape): &(Point, Shape)) -> bool {
        let variables = self.subject.variables(*point);
        let of_last = |v: usize| match &variables.get(v)?.source {
            Source::Array { array, part: Part::Last } => array.length.as_deref(),
            _ => None,
        };
        let is_guarded = |length: &Source| {
            let Shape::Given { when, .. } = shape else { return false };
            let (x, is_some) = match **when {
                Shape::Bound { x, relation: Relation::Greater, k } => (x, k >= 0),
                Shape::OneOf { x, ref values } => (x, values.iter().all(|v| *v > 0)),
                _ => return false,
            };
            is_some && variables.get(x).is_some_and(|l| l.source == *length)
        };
        shape.variables().into_iter().filter_map(of_last).any(|length| !is_guarded(length))
    }

    /// Whether it speaks of all elements where there is one: what is said of the first says it.
    fn is_of_one(&self, shape: &Shape) -> bool {
        let Shape::Given { when, then } = shape else { return false };
        let exit = self.subject.variables(Point::Exit);
        let is_of_all = |v: &usize| {
            exit.get(*v).is_some_and(|l| l.variable.kind.is_extreme() || l.variable.kind == Kind::Condition)
        };
        matches!(&**when, Shape::OneOf { values, .. } if *values == [1])
            && then.variables().iter().any(is_of_all)
    }

    /// The candidates of all points that are asked for.
    fn candidates(&self) -> Vec<(Point, Shape)> {
        let families = &self.settings.families;
        let mut all: Vec<(Point, Shape)> = Vec::new();
        let is_wanted = |point: &Point| match point {
            Point::Entry => self.settings.points.entry,
            Point::Exit => self.settings.points.exit,
            Point::Head(_) => self.settings.points.heads,
        };
        for point in self.subject.points().filter(is_wanted) {
            all.extend(infer(self.suite.table(point), families).into_iter().map(|shape| (point, shape)));
        }
        all.retain(|c| !self.is_made_up(c) && !self.is_unguarded(c));
        if !self.settings.points.exit {
            return all;
        }
        let table = self.suite.table(Point::Exit);
        let known: Vec<Shape> =
            all.iter().filter(|(p, _)| *p == Point::Exit).map(|(_, s)| s.clone()).collect();
        let is_left = |shape: &Shape| {
            let exit = self.subject.variables(Point::Exit);
            shape.variables().iter().any(|v| exit.get(*v).is_some_and(|l| l.is_left()))
        };
        let given = conditional(table, families, &self.splitters, &known, &is_left);
        let told = given.into_iter().filter(|shape| !self.is_of_one(shape)).map(|shape| (Point::Exit, shape));
        all.extend(told.filter(|c| !self.is_unguarded(c)));
        all
    }

    fn turn(&mut self, pool: &mut TermPool, turned: &mut dyn FnMut(&Iteration)) -> Turn {
        let index = self.found.iterations.len() + 1;
        // What is found is to depend on the function, not on how many runs were given or how many paths it has: few
        // runs justify little.
        let missing = self.settings.runs.saturating_sub(self.suite.tests.len());
        if index == 2 && missing > 0 {
            self.run_random(missing);
        }
        let candidates = self.candidates();
        if index > 1 && candidates == self.last {
            return Turn::Same;
        }
        let without = |all: &[(Point, Shape)], known: &[(Point, Shape)]| -> Vec<(Point, Shape)> {
            all.iter().filter(|c| !known.contains(c)).cloned().collect()
        };
        let lost = without(&self.last, &candidates);
        let refuted: Vec<Refuted> =
            lost.iter().filter_map(|c| refutation(&self.suite, c, index - 1)).collect();
        let refuted_now = refuted.len();
        self.found.refuted.extend(refuted);
        let added = if index == 1 { 0 } else { without(&candidates, &self.last).len() };
        self.last = candidates;
        let settings = self.settings;
        if index > settings.iterations {
            self.found.is_unfinished = true;
            self.open = (0..self.last.len()).collect();
            return Turn::TooMany;
        }
        // What is proved leaves the loop.
        let asked: Vec<(usize, &(Point, Shape))> =
            self.last.iter().enumerate().filter(|(_, c)| !self.proved.contains(*c)).collect();
        let candidates: Vec<(Point, Shape)> = asked.iter().map(|(_, c)| (*c).clone()).collect();
        let asked: Vec<usize> = asked.into_iter().map(|(k, _)| k).collect();
        self.asker.begin(settings.queries);
        let (subject, asker) = (self.subject, &mut self.asker);
        let searched = search(subject, pool, asker, &candidates, settings.configuration, settings.paths);
        let tests: BTreeSet<&Vec<i128>> = searched.tests.iter().collect();
        let iteration = Iteration {
            index,
            invariants: self.last.len(),
            refuted: refuted_now,
            added,
            tests: tests.len(),
            queries: self.asker.queries,
            states: searched.states,
            reused: self.asker.reused,
        };
        searched.tests.into_iter().for_each(|values| _ = self.add(values));
        turned(&iteration);
        self.found.iterations.push(iteration);
        self.found.cut = searched.cut.into_iter().collect();
        let places = |of: BTreeSet<usize>| of.iter().filter_map(|k| asked.get(*k).copied()).collect();
        self.open = places(searched.open);
        self.bounded = places(searched.bounded);
        Turn::Changed
    }

    fn status(&self, k: usize) -> Status {
        match self.last.get(k) {
            Some(candidate) if self.proved.contains(candidate) => Status::Proved,
            Some(_) if self.open.contains(&k) => Status::Likely,
            Some(_) if self.bounded.contains(&k) => Status::Bounded,
            Some(_) => Status::Proved,
            None => Status::Likely,
        }
    }

    /// Asks of what is left open; whether that brought new tests.
    fn ask(&mut self, prove: &mut dyn FnMut(&[String]) -> Vec<Proof>) -> bool {
        let is_left = |(k, (point, _)): &(usize, &(Point, Shape))| {
            let is_open = *point == Point::Exit && self.status(*k) == Status::Likely;
            is_open && self.last.get(*k).is_some_and(|c| !self.asked.contains(c))
        };
        let left: Vec<(Point, Shape)> =
            self.last.iter().enumerate().filter(is_left).map(|(_, c)| c.clone()).take(MOST_ASKED).collect();
        if left.is_empty() {
            return false;
        }
        let table = self.suite.table(Point::Exit);
        let texts: Vec<String> = left.iter().map(|(_, shape)| shape.text(table)).collect();
        let mut has_tests = false;
        for (candidate, proof) in left.into_iter().zip(prove(&texts)) {
            self.asked.insert(candidate.clone());
            match proof {
                Proof::Proved => _ = self.proved.insert(candidate),
                Proof::Refuted(input) => {
                    let own = values(self.subject, &input);
                    let number = BASES + self.suite.tests.len();
                    has_tests |= self.suite.add(own, (number, &input));
                }
                Proof::Unknown => {}
            }
        }
        has_tests
    }

    fn finish(mut self) -> Discovered {
        let statuses: Vec<Status> = (0..self.last.len()).map(|k| self.status(k)).collect();
        self.found.runs = self.suite.tests.len();
        self.found.inputs = self.subject.free.iter().map(|f| f.name.to_string()).collect();
        self.found.tests = self.suite.tests.iter().map(|t| t.values.clone()).collect();
        let samples = self.subject.points().map(|point| (point, self.suite.samples(point)));
        self.found.samples = Samples(samples.collect());
        self.found.calls = self.suite.calls();
        self.found.heads = self.subject.heads.iter().map(|h| h.place).collect();
        let known: Vec<(Point, &Shape, Status)> = self
            .last
            .iter()
            .zip(&statuses)
            .map(|((point, shape), status)| (*point, shape, *status))
            .collect();
        let said = implied::marks(&known);
        let all = self.last.iter().zip(statuses).zip(said);
        self.found.invariants =
            all.map(|((c, status), is_implied)| invariant(&self.suite, c, status, is_implied)).collect();
        self.found
    }
}

fn invariant(suite: &Suite, (point, shape): &(Point, Shape), status: Status, is_implied: bool) -> Invariant {
    let table = suite.table(*point);
    let samples = table.rows().iter().filter(|row| shape.holds(table, row) == Some(true)).count();
    let (text, family, shape) = (shape.text(table), shape.family(), shape.clone());
    Invariant { point: *point, text, shape, family, status, samples, is_implied }
}

/// The first run that refutes a candidate; none where it only was not justified any more.
fn refutation(suite: &Suite, (point, shape): &(Point, Shape), iteration: usize) -> Option<Refuted> {
    let table = suite.table(*point);
    let row = table.rows().iter().position(|row| shape.holds(table, row) == Some(false))?;
    let input = suite.subject_text(*point, row);
    Some(Refuted { point: *point, text: shape.text(table), iteration, input })
}

/// Inputs that give what is not free.
fn bases(subject: &Subject) -> Vec<Input> {
    let has_pointers = subject.function.params.iter().any(|p| subject.function.var(*p).ty.is_pointer());
    let has_parts = subject.entry.iter().any(|l| matches!(l.source, Source::Part { .. }));
    if !has_pointers && !has_parts {
        return vec![Input::default()];
    }
    let mut generator = Generator::new(subject.program, &subject.function.name, SEED);
    (0..BASES).map(|_| generator.next()).collect()
}
