//! Concrete runs: inputs made of the constants of a program and their neighbours, and inputs of paths.

use super::code::Code;
use super::machine::{Machine, sample};
use super::search::{Ended, Shown, search};
use super::state::Given;
use super::value::{at_ordinal, ordinal};
use super::{Effort, Question};
use crate::difference::is_failure;
use crate::interp::{CallResult, End, Input, Limits, Outcome, Pair, Value, run_pair};
use crate::ir::{Const, Expr, Sort, UndefinedKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Instructions of one run.
const FUEL: u64 = 50_000;
/// Instructions of all runs that come first.
const FIRST_STEPS: u64 = 1_000_000;
/// Inputs that are tried before anything else.
const FIRST_RUNS: u64 = 300;
/// Rounds in which the inputs are found that a run asks for.
const ROUNDS: usize = 12;
/// Inputs of one run that get values.
const MAX_INPUTS: usize = 64;
/// Samples of a path.
const SAMPLES: usize = 3;

pub(super) struct Runs<'q> {
    question: &'q Question<'q>,
    limits: Limits,
    integers: Vec<i128>,
    floats: Vec<f64>,
    random: u64,
    pub preexisting: Option<Box<Pair>>,
}

impl<'q> Runs<'q> {
    pub fn new(question: &'q Question<'q>) -> Runs<'q> {
        let mut integers: BTreeSet<i128> = BTreeSet::from([0, 1, -1]);
        let mut floats: BTreeSet<u64> = BTreeSet::from([0, 1f64.to_bits()]);
        let units = question.new.program.units().iter().take(1);
        for node in units.flat_map(|u| &u.functions).flat_map(|f| &f.nodes) {
            node.instr.for_each_expr(&mut |e| {
                if let Expr::Const(c) = e {
                    integers.extend(c.signed().filter(|_| integers.len() < 256));
                    floats.extend(c.nearest_f64().map(f64::to_bits).filter(|_| floats.len() < 256));
                }
            });
        }
        Runs {
            question,
            limits: Limits { fuel: FUEL, ..Limits::default() },
            integers: integers.into_iter().collect(),
            floats: floats.into_iter().map(f64::from_bits).collect(),
            random: 0x9e37_79b9_7f4a_7c15,
            preexisting: None,
        }
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % (n.max(1) as u64)) as usize
    }

    fn draw(&mut self, sort: Sort) -> Option<Const> {
        let choice = self.below(8);
        match sort {
            Sort::Bv(w) => {
                let k = self.below(self.integers.len());
                let near = self.below(3) as i128 - 1;
                let v = match choice {
                    0..4 => self.integers.get(k).map_or(0, |v| v.wrapping_add(near)),
                    4 => self.below(21) as i128 - 10,
                    5 => 1i128 << self.below(usize::from(w)),
                    _ => i128::from(self.next() as i64),
                };
                Some(Const::bv(w, v))
            }
            Sort::F32 | Sort::F64 | Sort::F80 => {
                let k = self.below(self.floats.len());
                let v = match choice {
                    0..6 => {
                        let v = self.floats.get(k).map_or(0.0, |v| *v);
                        let v = if self.below(2) == 0 { v } else { -v };
                        let near = self.below(5) as i64 - 2;
                        at_ordinal(ordinal(v, sort).saturating_add(near), sort)
                    }
                    _ => self.below(4001) as f64 / 1000.0 - 2.0,
                };
                Const::of_f64(sort, v)
            }
            _ => None,
        }
    }

    /// Tries inputs; returns runs of one that shows what is looked for.
    pub fn try_inputs(&mut self, effort: &mut Effort) -> Option<Box<Pair>> {
        let new = self.question.new;
        let f = new.program.function(new.function)?;
        let is_main = new.function == "main";
        let sorts: Option<Vec<Sort>> =
            f.params.iter().map(|p| f.var(*p).sort.filter(|_| !f.var(*p).ty.is_pointer())).collect();
        let sorts = if is_main { Vec::new() } else { sorts? };
        for _ in 0..FIRST_RUNS.min(self.question.limits.runs) {
            if effort.run_steps > FIRST_STEPS {
                break;
            }
            let arguments: Option<Vec<Value>> =
                sorts.iter().map(|s| self.draw(*s).map(Value::Const)).collect();
            let mut input = Input { arguments: arguments?, ..Input::default() };
            let mut asks = false;
            for _ in 0..ROUNDS {
                let pair = self.run(&input, effort);
                if self.shown(&pair) == Shown::Wanted {
                    return Some(Box::new(pair));
                }
                if !self.give(&mut input, &pair.new) {
                    break;
                }
                asks = true;
            }
            if sorts.is_empty() && !asks {
                return None;
            }
        }
        None
    }

    /// Gives values to inputs that a run has asked for; whether there were any.
    fn give(&mut self, input: &mut Input, o: &Outcome) -> bool {
        let mut any = false;
        for call in &o.assumed.calls {
            let known = call.given || !call.callee.starts_with("__VERIFIER_nondet_");
            if known || input.calls.len() >= MAX_INPUTS {
                continue;
            }
            let program = self.question.new.program;
            let mut prototypes = program.units().iter().flat_map(|u| &u.prototypes);
            let ret = prototypes.find(|p| p.name == call.callee).map(|p| p.ret.clone());
            let sort = ret.and_then(|r| r.sort(program.data_model().pointer_bits()));
            let Some(value) = sort.and_then(|s| self.draw(s)) else { continue };
            input.calls.push(result(call.callee.clone(), call.nth, value));
            any = true;
        }
        any
    }

    fn run(&self, input: &Input, effort: &mut Effort) -> Pair {
        effort.runs += 1;
        let new = self.question.new;
        let old = self.question.old.unwrap_or(new);
        let pair = run_pair((old.program, old.function), (new.program, new.function), input, &self.limits);
        effort.run_steps += pair.old.steps + pair.new.steps;
        pair
    }

    fn fails(&self, o: &Outcome) -> bool {
        let concerns = &self.question.concerns;
        match &o.end {
            End::AssertFailed { .. } => true,
            End::Abort => concerns.aborts,
            End::NoReturn { callee, .. } => is_failure(callee, concerns),
            End::Undefined { kind, .. } => *kind == UndefinedKind::Unreachable,
            _ => o.assumed.calls.iter().any(|c| is_failure(&c.callee, concerns)),
        }
    }

    /// What runs of both versions say.
    fn shown(&mut self, pair: &Pair) -> Shown {
        if !self.fails(&pair.new) {
            return Shown::Nothing;
        }
        if self.question.old.is_none() {
            return Shown::Wanted;
        }
        let old = &pair.old;
        if self.fails(old) || old.overflowed() || matches!(old.end, End::Undefined { .. }) {
            self.preexisting.get_or_insert_with(|| Box::new(pair.clone()));
            return Shown::Other;
        }
        // A program that waits for events for ever does not fail either, if it is back where it was.
        let well = old.end.is_definite() || old.end == End::Fuel && self.goes_round(&pair.input);
        if well { Shown::Wanted } else { Shown::Nothing }
    }

    /// Whether the old version comes back to a state in which it was, within the instructions of a run,
    /// and so never does anything else than it has done.
    fn goes_round(&self, input: &Input) -> bool {
        let question = self.question;
        let Some(old) = question.old else { return false };
        let Some(code) = Code::new(old.program, old.function, &question.concerns, None) else { return false };
        let mut machine = Machine::new(old, code);
        machine.exact = Some(input.clone());
        let limits = super::Limits { steps: FUEL, runs: 0, run_steps: 0 };
        let ended = search(&mut machine, &limits, &mut Effort::default(), &mut |_, _| Shown::Wanted);
        ended == Ended::Exhausted
    }

    /// Runs inputs of a path that seems to fail.
    pub fn of_path(&mut self, given: &[Given], effort: &mut Effort) -> (Shown, Option<Box<Pair>>) {
        let mut best = Shown::Nothing;
        for which in 0..SAMPLES {
            let limits = &self.question.limits;
            if effort.runs >= limits.runs || effort.run_steps >= limits.run_steps {
                break;
            }
            let mut input = Input::default();
            for (k, g) in given.iter().enumerate() {
                // The ends of all, then the middles.
                let Some(value) = sample(&g.item.value, which) else { return (best, None) };
                match &g.callee {
                    None => input.arguments.push(Value::Const(value)),
                    Some(callee) => {
                        let earlier = given[..k].iter().filter(|g| g.callee.as_ref() == Some(callee));
                        let nth = earlier.count() as u32 + 1;
                        input.calls.push(result(callee.clone(), nth, value));
                    }
                }
            }
            let pair = self.run(&input, effort);
            match self.shown(&pair) {
                Shown::Wanted => return (Shown::Wanted, Some(Box::new(pair))),
                Shown::Other => best = Shown::Other,
                Shown::Nothing => {}
            }
            if given.iter().all(|g| g.item.value.is_single()) {
                break;
            }
        }
        (best, None)
    }
}

fn result(callee: Arc<str>, nth: u32, value: Const) -> CallResult {
    CallResult { callee, nth, result: Value::Const(value), errno: None, writes: Vec::new() }
}
