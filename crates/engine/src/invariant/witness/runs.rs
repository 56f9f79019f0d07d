//! Concrete runs of two versions on shared inputs (`docs/design/solver.md`: witness first).
//!
//! Inputs come from a deterministic generator, simple ones first. Every input is run in the old
//! version, which may extend standard input while it runs, and then in the new one on the same
//! bytes. Runs are kept: all subjects of a pair of classes look for their witness among them.

use crate::interp::{
    self, Compared, CoverageMap, End, Identity, Input, LONG_FUEL, Limits, ObjectInit, Observation, Outcome,
    Program, Standing, Value,
};
use crate::invariant::candidate::templates;
use crate::invariant::observable::{Observable, find_var};
use crate::invariant::witness::relaid::Relaying;
use crate::invariant::witness::{allocation_failures, input_adaptation, shrink};
use crate::ir::{CType, Const, Function, NodeId, UndefinedKind, Unit};
use crate::smt;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// One input with what both versions did on it.
#[derive(Clone)]
pub struct Run {
    pub input: Input,
    /// The unit that the types of the input are of.
    pub unit: Option<Arc<Unit>>,
    pub old: Outcome,
    pub new: Outcome,
    /// First object that the two leave in different states, where both return.
    pub memory: Option<Identity>,
    /// The input means the same in both versions; otherwise nothing is compared.
    pub same_meaning: bool,
    /// Both versions were given the same numbers; otherwise the older one was called as a call of it
    /// converts them, or with zero for what only it takes.
    pub same_numbers: bool,
    /// What the older version got of the input, where it is not the same: its arguments, and its objects where
    /// types are laid out otherwise.
    theirs: Option<Theirs>,
}

/// Arguments and objects of the older version.
#[derive(Clone)]
struct Theirs {
    arguments: Vec<Value>,
    objects: Option<Vec<ObjectInit>>,
}

impl Theirs {
    fn put_into(&self, input: &Input) -> Input {
        let objects = self.objects.clone().unwrap_or_else(|| input.objects.clone());
        Input { arguments: self.arguments.clone(), objects, ..input.clone() }
    }
}

impl Run {
    /// The input as one side got it.
    pub fn input_of(&self, old: bool) -> Cow<'_, Input> {
        match &self.theirs {
            Some(theirs) if old => Cow::Owned(theirs.put_into(&self.input)),
            _ => Cow::Borrowed(&self.input),
        }
    }

    /// A run that a test made up.
    #[cfg(test)]
    pub(crate) fn made(input: Input, old: Outcome, new: Outcome) -> Run {
        let (same_meaning, same_numbers) = (true, true);
        Run { input, unit: None, old, new, memory: None, same_meaning, same_numbers, theirs: None }
    }

    /// Whether the objects of the input are laid out otherwise in the older version, so that offsets and bytes
    /// of the two are not to be compared.
    pub fn is_relaid(&self) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.objects.is_some())
    }
}

/// How a difference on a subject looks in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// Both runs are defined and differ.
    Defined,
    /// Exactly one of them does something undefined.
    Undefined,
}

/// Bounds of the search for witnesses.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Inputs to try.
    pub inputs: usize,
    /// Instructions to execute, over all runs.
    pub steps: u64,
    /// Instructions more to go on where none of them shows a difference.
    pub guided: u64,
    /// Instructions that runs may take together, but for the last one, of those that took too long before; 0: they are
    /// not waited for.
    pub patience: u64,
    /// Functions that may cost so much each; more of them share what these may cost.
    pub functions: u64,
    /// Nodes of the largest graph whose facts are looked for; of larger ones runs alone tell.
    pub nodes: usize,
}

/// Nodes of the largest graph that is analysed.
pub(in crate::invariant) const MAX_NODES: usize = 6000;
/// Nodes up to which facts of the exit take about as long as everything else of a first look.
const FEW_NODES: usize = 160;

impl Budget {
    /// What a first look at everything that a commit changes may cost: about a second in all, however many functions
    /// it changes. 4,000,000 instructions at random are 2,000 runs of a small program, which a pair of Table II needs
    /// (270466).
    pub const CHEAP: Budget = Budget {
        inputs: 4000,
        steps: 4_000_000,
        guided: 4_000_000,
        patience: 2_000_000,
        functions: 1,
        nodes: FEW_NODES,
    };

    /// Whether it is that of a first look.
    pub fn is_first_look(self) -> bool {
        self.nodes < MAX_NODES
    }

    /// The budget of what is larger than [`Budget::nodes`]: a run of it is as long as many of a small one.
    pub fn of_large(self) -> Budget {
        let part = |all: u64| all / 2;
        Budget { steps: part(self.steps), guided: part(self.guided), patience: part(self.patience), ..self }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        let patience = 3 * LONG_FUEL;
        Budget {
            inputs: 4000,
            steps: 4_000_000,
            guided: 24_000_000,
            patience,
            functions: 8,
            nodes: MAX_NODES,
        }
    }
}

/// What all looks at a function share, at its points and with its loops laid out in several ways: runs
/// of pairs of functions, made when first asked for, and what the solver has cost. A pair is known by
/// its programs, which live as long, and its names.
#[derive(Default)]
pub struct RunCache {
    runs: RefCell<BTreeMap<PairKey, Rc<Vec<Run>>>>,
    pub(in crate::invariant) spending: Rc<smt::Budget>,
}

/// Addresses of two programs and the names of a function in them.
type PairKey = (usize, usize, String, String);

impl RunCache {
    /// Returns the runs of a pair. The programs have to outlive `self`.
    pub(in crate::invariant) fn of(
        &self,
        old: &Arc<Program>,
        new: &Arc<Program>,
        entry: (&str, &str),
        budget: Budget,
    ) -> Rc<Vec<Run>> {
        let address = |p: &Arc<Program>| Arc::as_ptr(p) as usize;
        let key = (address(old), address(new), entry.0.to_owned(), entry.1.to_owned());
        if let Some(known) = self.runs.borrow().get(&key) {
            return known.clone();
        }
        let runs = Rc::new(collect(old, new, entry, Vec::new(), budget));
        self.runs.borrow_mut().insert(key, runs.clone());
        runs
    }
}

/// Runs both programs on generated inputs, after `first`; where no difference shows, on inputs that go on
/// from those that went furthest.
pub fn collect(
    old: &Arc<Program>,
    new: &Arc<Program>,
    entry: (&str, &str),
    first: Vec<Input>,
    budget: Budget,
) -> Vec<Run> {
    let mut search = Search::new(old, new, entry);
    search.at_random(first, budget);
    // A version and itself do not differ.
    if !search.shown && !search.alone {
        search.guided_by_coverage(budget.guided);
        search.patiently(budget.patience);
    }
    let mut runs = search.runs;
    if !search.shown {
        let refusals = allocation_failures::after(&runs).into_iter();
        runs.extend(refusals.map(|input| replay(old, new, entry, input)));
    }
    runs
}

/// A search for runs that differ.
struct Search<'a> {
    old: &'a Program,
    new: &'a Program,
    entry: (&'a str, &'a str),
    /// Both are one function of one program.
    alone: bool,
    generator: interp::Generator,
    guide: Guide,
    runs: Vec<Run>,
    /// Bytes of the runs, about.
    held: usize,
    steps: u64,
    /// Instructions of runs without end.
    runaway: u64,
    /// A defined difference was seen.
    shown: bool,
}

impl<'a> Search<'a> {
    fn new(old: &'a Program, new: &'a Program, entry: (&'a str, &'a str)) -> Search<'a> {
        Search {
            old,
            new,
            entry,
            alone: is_alone(old, new, entry),
            generator: interp::Generator::between(old, new, entry, 0),
            guide: Guide::default(),
            runs: Vec::new(),
            held: 0,
            steps: 0,
            runaway: 0,
            shown: false,
        }
    }

    fn at_random(&mut self, first: Vec<Input>, budget: Budget) {
        let mut given = first.into_iter().chain(simple_stdin(self.old, self.new, self.entry));
        let enough = if self.alone { 2 * SUGGESTING } else { SUGGESTING };
        let (mut tried, mut repeated) = (0, 0);
        while tried < budget.inputs && self.steps < budget.steps {
            // Enough is known when a defined difference was seen; the rest only suggests candidates.
            if tried >= enough && (self.shown || self.alone) {
                break;
            }
            let input = given.next().unwrap_or_else(|| self.generator.next());
            let fuel = if self.runaway > budget.steps / RUNAWAY_SHARE { FUEL / 16 } else { FUEL };
            let (run, _) = self.run(input, fuel);
            // Without inputs that are looked at there is but one run.
            repeated += usize::from(self.runs.last().is_some_and(|last| last.input == run.input));
            if repeated > MAX_REPEATED {
                break;
            }
            tried += 1;
            let is_first = is_defined_difference(&run) && !self.shown;
            if is_first || self.held <= MAX_HELD {
                self.keep(run);
            }
        }
    }

    /// Waits for the ends of the first runs that took too long.
    fn patiently(&mut self, steps: u64) {
        let endless = |run: &&Run| run.old.end == End::Fuel || run.new.end == End::Fuel;
        let endless: Vec<Input> = self.runs.iter().filter(endless).map(|r| r.input.clone()).collect();
        // Those tried first are small and much alike.
        let apart = endless.len().div_ceil(MAX_LONG).max(1);
        let end = self.steps.saturating_add(steps);
        let fuel = steps.min(LONG_FUEL);
        for input in endless.into_iter().step_by(apart) {
            if self.shown || self.steps >= end {
                break;
            }
            let (mut run, _) = self.run(input, fuel);
            if is_defined_difference(&run) {
                run.input.is_long = true;
                self.keep(run);
            }
        }
    }

    /// Goes on from inputs that took new ways, for so many instructions, and no longer than some are found.
    fn guided_by_coverage(&mut self, steps: u64) {
        let end = self.steps.saturating_add(steps);
        let mut barren = 0;
        while self.steps < end && !self.shown {
            self.steps += self.guide.explain((self.old, self.new), self.entry);
            let patience = if self.guide.inputs.has_frontier() { PATIENCE } else { PATIENCE / 4 };
            let next = self.guide.next(&self.generator);
            let Some(input) = next.filter(|_| barren < patience) else {
                return;
            };
            let mut next = Some(input);
            let mut found_new = false;
            for _ in 0..=MENDINGS {
                let Some(input) = next.take() else { break };
                let (run, is_new) = self.run(input, FUEL / 16);
                found_new |= is_new;
                // What either version was short of.
                let mended = |input: &Input, o| interp::mended(input, o, &self.generator);
                next = mended(&run.input, &run.new);
                next = mended(next.as_ref().unwrap_or(&run.input), &run.old).or(next);
                if is_new || is_defined_difference(&run) {
                    self.keep(run);
                }
            }
            barren = if found_new { 0 } else { barren + 1 };
        }
    }

    /// Runs both versions on an input; whether a way was new.
    fn run(&mut self, input: Input, fuel: u64) -> (Run, bool) {
        if self.alone {
            let run = replay_within(self.old, self.new, self.entry, input, fuel);
            self.steps += run.old.steps + run.new.steps + RUN_COST;
            return (run, false);
        }
        let mut coverage = [CoverageMap::new(), CoverageMap::new()];
        let run = replay_with_coverage(self.old, self.new, self.entry, input, fuel, Some(&mut coverage));
        let ends = [&run.old, &run.new];
        self.steps += ends.iter().map(|o| o.steps).sum::<u64>() + RUN_COST;
        self.runaway += ends.iter().filter(|o| o.end == End::Fuel).map(|o| o.steps).sum::<u64>();
        let is_new = self.guide.learn(&run, &coverage);
        (run, is_new)
    }

    fn keep(&mut self, run: Run) {
        self.shown |= is_defined_difference(&run);
        self.held += bytes(&run);
        self.runs.push(run);
    }
}

/// Inputs in a row that may take no new way before a search is given up.
const PATIENCE: u32 = 2000;
/// Times that an input gets the memory that its last run was short of.
const MENDINGS: usize = 8;
/// Runs whose ends are waited for.
const MAX_LONG: usize = 16;
/// Texts that a run compares and that are tried at once.
const MAX_TEXTS: usize = 8;
/// Inputs that took new ways and are yet to be gone on from.
const MAX_WAITING: usize = 48;

/// What the runs of a pair told about how to get elsewhere.
#[derive(Default)]
struct Guide {
    inputs: interp::Guided,
    /// Ways that some run took, in the old version and in the new one.
    known: [Vec<u8>; 2],
    waiting: Vec<(Input, Outcome)>,
}

impl Guide {
    /// Takes a run; whether it took a new way.
    fn learn(&mut self, run: &Run, coverage: &[CoverageMap; 2]) -> bool {
        let [before, now] = &mut self.known;
        // Both have to be joined.
        let is_new = coverage[0].join(before) | coverage[1].join(now);
        if is_new {
            if self.waiting.len() >= MAX_WAITING {
                self.waiting.remove(MAX_WAITING / 2);
            }
            self.waiting.push((run.input.clone(), run.new.clone()));
        }
        is_new
    }

    fn next(&mut self, generator: &interp::Generator) -> Option<Input> {
        let known = &self.known;
        self.inputs.next(generator, &|(version, way)| way.is_known(&known[version]))
    }

    /// Runs the inputs that wait again, to see what was compared; returns the instructions that took.
    fn explain(&mut self, (old, new): (&Program, &Program), entry: (&str, &str)) -> u64 {
        let mut steps = 0;
        while let Some((input, outcome)) = self.waiting.pop() {
            let mut texts = 0;
            let limits = Limits { fuel: FUEL / 16, ..Limits::default() };
            let mut compared = Vec::new();
            for (version, (program, name)) in [(old, entry.0), (new, entry.1)].into_iter().enumerate() {
                let known = &self.known[version];
                let mut coverage = CoverageMap::explaining();
                steps +=
                    RUN_COST + interp::run_with_coverage(program, name, &input, &limits, &mut coverage).steps;
                compared.extend(coverage.into_comparisons().into_iter().map(|c| {
                    let is_text = matches!(c, Compared::Text { .. });
                    texts += usize::from(is_text);
                    let standing = match &c {
                        Compared::Values { untaken, .. } if !untaken.is_known(known) => {
                            Standing::New(Some((version, *untaken)))
                        }
                        Compared::Text { .. } if texts <= MAX_TEXTS => Standing::New(None),
                        _ => Standing::Known,
                    };
                    (c, standing)
                }));
            }
            self.inputs.learn(input, &outcome, &compared, new.data_model().pointer_bits());
        }
        steps
    }
}

/// Standard inputs of small numbers for programs that read a few: all combinations while they are
/// few, so that equal values and zeros meet, and so that witnesses are easy to read.
fn simple_stdin(old: &Program, new: &Program, entry: (&str, &str)) -> Vec<Input> {
    const VALUES: [&str; 4] = ["1", "-1", "0", "2"];
    const MAX: usize = 256;
    let numbers = "1 ".repeat(16).into_bytes();
    let probe = replay(old, new, entry, Input { stdin: numbers, ..Input::default() });
    let count = probe.old.inputs.len().max(probe.new.inputs.len());
    if count == 0 || count > 8 {
        return Vec::new();
    }
    let total = VALUES.len().pow(count as u32);
    // A stride that has no factor in common with the number of values visits scattered tuples.
    let stride = if total > MAX { (total / MAX) | 1 } else { 1 };
    let tuple = |mut k: usize| {
        let mut words = Vec::new();
        for _ in 0..count {
            words.push(VALUES[k % VALUES.len()]);
            k /= VALUES.len();
        }
        words.join(" ") + "\n"
    };
    let texts = (0..total.min(MAX)).map(|i| tuple(i * stride % total));
    texts.map(|stdin| Input { stdin: stdin.into_bytes(), ..Input::default() }).collect()
}

/// Bytes of runs that are kept for one pair, about.
const MAX_HELD: usize = 32 << 20;

/// About the memory that a run takes up.
fn bytes(run: &Run) -> usize {
    const FIXED: usize = 1024;
    const OBJECT: usize = 256;
    let input: usize = run.input.objects.iter().map(|o| OBJECT + o.bytes.len() + o.undefined.len()).sum();
    let outcome = |o: &Outcome| {
        let memory: usize = o.memory.iter().map(|m| OBJECT + m.bytes.len() + m.undefined.len()).sum();
        memory + o.stdin.len() + o.stdout.len() + o.stderr.len() + 32 * o.locals.len()
    };
    FIXED + input + run.input.stdin.len() + outcome(&run.old) + outcome(&run.new)
}

/// Runs that suffice to suggest candidates.
const SUGGESTING: usize = 200;
/// How often an input may be generated twice in a row.
const MAX_REPEATED: usize = 16;
/// Part of all instructions that runs without end may take at full length; they tell nothing.
const RUNAWAY_SHARE: u64 = 4;
/// What a run costs beside its instructions, in instructions.
const RUN_COST: u64 = 2000;

/// Whether both runs came to an end that other machines reach too.
pub(in crate::invariant) fn is_comparable(run: &Run) -> bool {
    let is_plain = |o: &&Outcome| o.end.is_definite() && !o.nan_sign && !o.platform_dependent;
    run.same_meaning && [&run.old, &run.new].iter().all(|o| is_plain(o) && !makes_up_library(o))
}

/// Whether both runs are defined and differ in what a user sees.
pub(in crate::invariant) fn is_defined_difference(run: &Run) -> bool {
    let (a, b) = (&run.old, &run.new);
    is_comparable(run)
        && (a.stdout != b.stdout
            || !interp::same_result(a, b)
            || end_key(&a.end) != end_key(&b.end)
            || run.memory.is_some())
}

/// Fuel of one run, in instructions.
pub(in crate::invariant) const FUEL: u64 = 200_000;

/// Repeats a run and calls `observe` at every arrival at a node of the entry function, until it breaks
/// off.
pub fn watch(
    program: &Program,
    entry: &str,
    input: &Input,
    node: NodeId,
    observe: &mut dyn FnMut(&mut Observation) -> ControlFlow<()>,
) {
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    interp::run_traced(program, entry, input, &limits, &[node], &mut |_, state| observe(state));
}

/// Whether both sides are one function of one program.
fn is_alone(old: &Program, new: &Program, entry: (&str, &str)) -> bool {
    std::ptr::eq(old, new) && entry.0 == entry.1
}

/// Runs both programs on one input.
pub fn replay(old: &Program, new: &Program, entry: (&str, &str), input: Input) -> Run {
    replay_within(old, new, entry, input, FUEL)
}

fn replay_within(old: &Program, new: &Program, entry: (&str, &str), input: Input, fuel: u64) -> Run {
    replay_with_coverage(old, new, entry, input, fuel, None)
}

/// The same, on the coverage of the old and the new version.
fn replay_with_coverage(
    old: &Program,
    new: &Program,
    entry: (&str, &str),
    mut input: Input,
    fuel: u64,
    coverage: Option<&mut [CoverageMap; 2]>,
) -> Run {
    let limits = Limits { fuel, ..Limits::default() };
    if is_alone(old, new, entry) {
        let once = interp::run(old, entry.0, &input, &limits);
        input.stdin = once.stdin.clone();
        input.stdin_plan = None;
        return Run {
            input,
            unit: new.unit_of(entry.1).cloned(),
            new: once.clone(),
            old: once,
            memory: None,
            same_meaning: true,
            same_numbers: true,
            theirs: None,
        };
    }
    let before = old.function(entry.0).zip(old.unit_of(entry.0).map(|u| &**u));
    let now = new.function(entry.1).zip(new.unit_of(entry.1).map(|u| &**u));
    // A `main` gets its arguments from the input's `argv`, whatever parameters it has.
    let given = before.zip(now).filter(|_| entry != ("main", "main"));
    let theirs = given.map(|(f, g)| input_adaptation::arguments(f, g, &input.arguments));
    let same_arguments = !matches!(theirs, Some(None));
    let theirs = theirs.flatten();
    let same_numbers = theirs.as_ref().is_none_or(|passed| passed.exact);
    let laid_out_alike = input_adaptation::same_meaning(old, new, entry, &input);
    let relaid = match old.unit_of(entry.0).zip(new.unit_of(entry.1)) {
        Some((to, from)) if !laid_out_alike => input_adaptation::relaid(from, to, &input),
        _ => None,
    };
    let moved = |v: &Value| match (&relaid, old.unit_of(entry.0).zip(new.unit_of(entry.1))) {
        (Some(_), Some((to, from))) => Relaying { from, to }.value(v, &input),
        _ => Some(v.clone()),
    };
    let old_arguments = theirs.map_or_else(|| input.arguments.clone(), |passed| passed.arguments);
    let old_arguments: Option<Vec<Value>> = old_arguments.iter().map(moved).collect();
    let relaid = relaid.filter(|_| old_arguments.is_some());
    let same_meaning = same_arguments && (laid_out_alike || relaid.is_some());
    let theirs = old_arguments
        .filter(|a| *a != input.arguments || relaid.is_some())
        .map(|arguments| Theirs { arguments, objects: relaid });
    let (mut before, mut now) = coverage.map_or((None, None), |[before, now]| (Some(before), Some(now)));
    let run_one = |program: &Program, name: &str, input: &Input, coverage: &mut Option<&mut CoverageMap>| {
        match coverage {
            Some(coverage) => interp::run_with_coverage(program, name, input, &limits, coverage),
            None => interp::run(program, name, input, &limits),
        }
    };
    let mut run_old = |input: &Input| match &theirs {
        None => run_one(old, entry.0, input, &mut before),
        Some(theirs) => run_one(old, entry.0, &theirs.put_into(input), &mut before),
    };
    // Each run may ask for more input than the other; the longer one decides the bytes.
    let mut first = run_old(&input);
    input.stdin = first.stdin.clone();
    let second = run_one(new, entry.1, &input, &mut now);
    if second.stdin != first.stdin {
        input.stdin = second.stdin.clone();
        input.stdin_plan = None;
        first = run_old(&input);
    }
    input.stdin_plan = None;
    // Bytes of objects that are laid out otherwise are not compared.
    let returned = same_meaning && laid_out_alike && first.end == End::Return && second.end == End::Return;
    let memory = returned.then(|| interp::memory_difference((old, &first), (new, &second))).flatten();
    let unit = new.unit_of(entry.1).cloned();
    Run { input, unit, old: first, new: second, memory, same_meaning, same_numbers, theirs }
}

/// Returns how a run shows a difference on a subject, if it does.
pub fn differs(run: &Run, subject: &Observable, old: &Function, new: &Function) -> Option<Difference> {
    let (a, b) = (&run.old, &run.new);
    let undefined = |o: &Outcome| matches!(o.end, End::Undefined { .. });
    if run.same_meaning && undefined(a) != undefined(b) {
        let (event, other) = if undefined(a) { (a, b) } else { (b, a) };
        let shown = other.end.is_definite()
            && subject.is_observable()
            && !is_made_up(event)
            && ![event, other].into_iter().any(makes_up_library)
            && !leaves_record(run, event);
        return shown.then_some(Difference::Undefined);
    }
    if !is_comparable(run) {
        return None;
    }
    let differ = match subject {
        Observable::Output => {
            a.stdout != b.stdout || a.stdout_lost != b.stdout_lost || !interp::same_errors(a, b)
        }
        Observable::Result => {
            // Of pointers counts what they lead to: where that lies depends on all that was allocated.
            let leads = a.returned_target.is_some() || b.returned_target.is_some();
            let same = || same_number((a.returned, &old.ret), (b.returned, &new.ret));
            let moved = leads && run.is_relaid();
            both_return(run) && !moved && (a.returned_target != b.returned_target || !leads && !same())
        }
        Observable::Ends => {
            end_key(&a.end) != end_key(&b.end) || a.exit_code != b.exit_code && !both_return(run)
        }
        // A relation is judged by its terms, a cell by its address, a call by its line.
        Observable::Relation { .. } | Observable::Cell { .. } | Observable::Calls => false,
        Observable::Memory => run.memory.is_some(),
        Observable::Variable { name, ordinal } => {
            let value = |o: &Outcome, f: &Function| {
                let v = find_var(f, name, *ordinal)?;
                Some((o.local(v)?, f.var(v).ty.clone()))
            };
            both_return(run)
                && match (value(a, old), value(b, new)) {
                    // Where objects of a version lie is no value.
                    (Some((x, s)), Some((y, t))) if s.is_pointer() || t.is_pointer() => {
                        (x.to_bits() == 0) != (y.to_bits() == 0)
                    }
                    (Some((x, s)), Some((y, t))) => !same_number((Some(x), &s), (Some(y), &t)),
                    _ => false,
                }
        }
    };
    differ.then_some(Difference::Defined)
}

/// Whether a run only met something undefined because functions that are not known did nothing: they
/// would have written what is read without ever being written.
pub(in crate::invariant) fn is_made_up(o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::Uninitialised, .. } = o.end else { return false };
    // Locals and what was allocated have no name that versions share.
    let writable = |v: &Value| match v {
        Value::Pointer { .. } => true,
        Value::Global { symbol, .. } => &**symbol == "?",
        Value::Const(_) | Value::Function(_) => false,
    };
    let takes_pointer = |c: &interp::AssumedCall| c.arguments.iter().any(writable);
    // That a request for memory is refused is all that it does.
    let is_refusal = |c: &interp::AssumedCall| c.given && interp::is_library(&c.callee);
    o.assumed_calls.iter().any(|c| !is_refusal(c) && takes_pointer(c))
}

/// Whether a run rests on results of the library that follow from what it got, and were made up.
pub(in crate::invariant) fn makes_up_library(o: &Outcome) -> bool {
    o.assumed_calls.iter().any(|c| interp::is_determined(&c.callee))
}

/// Whether a run only met something undefined because it left structures of the input: how large those
/// are, and how many, was made up from their declared type, and the code may take them for others.
fn leaves_record(run: &Run, o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::OutOfBounds, .. } = o.end else { return false };
    let object = o.ended_on.and_then(|(id, _)| run.input.objects.iter().find(|x| x.id == id));
    object.is_some_and(|x| match &x.ty {
        CType::Array(element, _) => matches!(**element, CType::Record(_)),
        // Of what a model of the solver gives only the bytes that matter are there.
        ty => matches!(ty, CType::Record(_) | CType::Void),
    })
}

pub(in crate::invariant) fn both_return(run: &Run) -> bool {
    run.old.end == End::Return && run.new.end == End::Return
}

/// Identity of values; a NaN equals any other.
pub(in crate::invariant) fn same(a: Option<Const>, b: Option<Const>) -> bool {
    a == b || a.is_some_and(Const::is_nan) && b.is_some_and(Const::is_nan)
}

/// Identity of values as their types read them: an `int` and a `long` of the same number are the same.
fn same_number(a: (Option<Const>, &CType), b: (Option<Const>, &CType)) -> bool {
    let integer = |(c, ty): (Option<Const>, &CType)| {
        c.filter(|_| matches!(ty, CType::Int { .. } | CType::Bool)).and_then(|c| templates::number(c, ty))
    };
    match (integer(a), integer(b)) {
        (Some(x), Some(y)) => x == y,
        _ => same(a.0, b.0),
    }
}

/// An end without its place: a failed assertion is the same wherever it stands.
fn end_key(e: &End) -> String {
    match e {
        End::AssertFailed { text, .. } => format!("assertion {text}"),
        End::NoReturn { callee, .. } => format!("noreturn {callee}"),
        End::Exit(k) => format!("exit {k}"),
        other => other.name().into(),
    }
}

/// What two runs must have in common for one to stand for the other as an example: how they end,
/// whether they overflow or access memory out of step, how many conversions of standard input succeed, and how plain the
/// difference is.
pub(in crate::invariant) fn likeness(run: &Run) -> impl PartialEq + use<> {
    let ends = [&run.old, &run.new]
        .map(|o| (o.end.clone(), end_key(&o.end), o.overflowed(), o.misaligned, o.inputs.len()));
    (ends, is_sign_of_zero(run))
}

/// Whether results and texts differ in nothing but the sign of zeros: true, and hard to see.
fn is_sign_of_zero(run: &Run) -> bool {
    let (a, b) = (&run.old, &run.new);
    let float = |o: &Outcome| o.returned.and_then(Const::float);
    let same_result = a.returned == b.returned || float(a).is_some_and(|x| float(b) == Some(x));
    let words = |o: &Outcome| -> Vec<String> {
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let same_word = |(x, y): (&String, &String)| {
        let zero = |w: &String| w.parse::<f64>().is_ok_and(|v| v == 0.0);
        x == y || zero(x) && zero(y)
    };
    let same_text = || {
        let (x, y) = (words(a), words(b));
        a.stdout == b.stdout || x.len() == y.len() && x.iter().zip(&y).all(same_word)
    };
    (a.returned != b.returned || a.stdout != b.stdout) && same_result && same_text()
}

/// Whether both runs end at an assertion that fails: what differs is the message.
fn both_fail(run: &Run) -> bool {
    [&run.old, &run.new].iter().all(|o| matches!(o.end, End::AssertFailed { .. }))
}

/// Returns the best run that shows a difference: a defined one before an undefined one, then one
/// without overflow, then the simplest.
pub fn witness<'r>(
    runs: &'r [Run],
    differs: &dyn Fn(&Run) -> Option<Difference>,
) -> Option<(&'r Run, Difference)> {
    /// Runs that are compared; the inputs that come first are simple ones.
    const EXAMINED: usize = 48;
    let shown = runs.iter().filter_map(|r| differs(r).map(|d| (r, d)));
    let overflows = |r: &Run| r.old.overflowed() || r.new.overflowed();
    let assumes = |r: &Run| !r.old.assumed_calls.is_empty() || !r.new.assumed_calls.is_empty();
    let misaligned = |r: &Run| r.old.misaligned || r.new.misaligned;
    /// What is better first: defined, plain to see, aligned, without overflow, without unknown calls, simple.
    type Rank = (Difference, bool, bool, bool, bool, u64);
    let mut best: Option<(Rank, &Run)> = None;
    let mut examined = 0;
    for (r, d) in shown {
        // Of defined differences there may be few.
        examined += 1;
        if examined > EXAMINED && best.as_ref().is_some_and(|((least, ..), _)| *least <= d) {
            continue;
        }
        let is_plain = !(is_sign_of_zero(r) || both_fail(r));
        let key = (d, !is_plain, misaligned(r), overflows(r), assumes(r), shrink::complexity(&r.input));
        if best.as_ref().is_none_or(|(least, _)| key < *least) {
            best = Some((key, r));
        }
    }
    best.map(|((d, ..), r)| (r, d))
}

#[cfg(test)]
mod tests;
