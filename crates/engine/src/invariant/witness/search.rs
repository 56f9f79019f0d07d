//! The search for runs that tell two versions apart: inputs of a deterministic generator, simple ones first, then
//! inputs that go on from those that took new ways, then the ends of runs that took too long. Runs are kept: all
//! subjects of a pair of classes look for their witness among them.

use crate::interp::{self, Compared, CoverageMap, End, Input, LONG_FUEL, Limits, Outcome, Program, Standing};
use crate::invariant::witness::allocation_failures;
use crate::invariant::witness::budget::Budget;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs::{
    FUEL, is_alone, is_defined_difference, replay, replay_with_coverage, replay_within,
};
use crate::smt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

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
    let count = probe.old.read.values.len().max(probe.new.read.values.len());
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
        let memory: usize = o.left.memory.iter().map(|m| OBJECT + m.bytes.len() + m.undefined.len()).sum();
        memory + o.read.stdin.len() + o.output.stdout.len() + o.output.stderr.len() + 32 * o.left.locals.len()
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
