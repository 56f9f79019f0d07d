//! The decision portfolio of `docs/design/solver.md`: structure, then data, then Z3.
//!
//! A question is whether a goal holds on every input on which a condition holds. Terms are
//! normalised when they are made, so many questions are answered by looking at them; most wrong
//! goals fall on some of a few dozen concrete inputs (boundary values, special floats, the constants
//! of the terms with their neighbours, equal values for different quantities, solutions of the equations,
//! inputs that refuted something earlier); Z3 is asked last. What stays open is said to be open.
//!
//! An input on which a goal rests on an undefined event neither confirms nor refutes it: events are
//! goals of their own.
//!
//! Refutations are about terms: library functions and conversions of output are uninterpreted there,
//! so a refutation that involves one has to be replayed before it is shown.

use super::encode::EXACT_BYTES;
use super::separated::Results;
use super::{Allowance, Limits, Model, Solver, Verdict, equations, lemmas, local_search, separated};

use crate::ir::eval::{Assignment, Fill, Palette, Parts, Program};
use crate::ir::{App, Const, Leaf, Op, Rebuilt, Sort, Term, TermId, TermPool};
use std::collections::VecDeque;
use std::sync::Arc;

/// Evaluations of single terms that a question may cost before Z3 is asked.
const DATA_STEPS: usize = 200_000;
/// The same of all questions of one decider, in multiples of the solver's limit for one query.
const DATA_SHARE: u64 = 2;
/// Inputs that every question is tried on, whatever was spent before; of one that costs more evaluations
/// than the second number, only one.
const LEAST_TRIES: usize = 4;
const LARGE: usize = 10_000;
/// Open questions of one decider that are asked once more with pointers far apart.
const MOST_CASES: u32 = 3;
/// Earlier refutations that are tried again.
const KEPT_INPUTS: usize = 64;

/// Multiplying circuits of a question about floats that Z3 is asked. Beyond that no question was ever
/// seen to end within any limit that a person waits for (task 2813 of Table I spent 0.9 s on eight).
const MAX_FLOAT_CIRCUITS: u32 = 4;

/// What goals that are asked together may cost, in multiples of the limit of one.
const MAX_TOGETHER: u64 = 4;

/// The same of integers, in circuits of 32 bits. Z3 builds them all before it counts what they cost:
/// 64 remainders of products took 8 s and 2 GB.
const MAX_CIRCUITS: u64 = 48;

/// Pairs of bytes of memory that a question may speak of. Z3 compares all their addresses, and counts
/// nothing of it: 1120 bytes (table lookups of an unrolled loop) took 4 s.
const MAX_ACCESSES: u64 = 65_536;

/// Answer to "does the goal hold on every input on which the condition does?"
#[derive(Clone, Debug)]
pub enum Truth {
    Holds,
    /// With an input on which the condition holds and the goal does not.
    Fails(Assignment),
    Open {
        reason: &'static str,
    },
}

/// Answer to "have two terms the same value on every input on which the condition holds?"
#[derive(Clone, Debug)]
pub enum Decision {
    Equal,
    Differ(Assignment),
    Open { reason: &'static str },
}

/// How many questions each step of the portfolio settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    pub by_structure: u64,
    pub by_data: u64,
    pub by_solver: u64,
    pub open: u64,
}

impl Settled {
    /// Questions that came to the solver.
    pub fn asked(self) -> u64 {
        self.by_solver + self.open
    }
}

/// Decides questions about the terms of one pool.
pub struct Decider {
    solver: Solver,
    /// Inputs that refuted something, the latest first.
    inputs: VecDeque<Assignment>,
    settled: Settled,
    /// How many more questions about float arithmetic Z3 is asked; they cost seconds each.
    float_questions: u32,
    /// How many more open questions are asked once more with pointers far apart: each costs as much as a question.
    cases: u32,
    /// Evaluations of single terms so far.
    data_steps: u64,
}

impl Decider {
    /// `float_questions` bounds how often Z3 is asked about float arithmetic.
    pub fn new(limits: Limits, float_questions: u32) -> Decider {
        Decider {
            solver: Solver::new(limits),
            inputs: VecDeque::new(),
            settled: Settled::default(),
            float_questions,
            cases: MOST_CASES,
            data_steps: 0,
        }
    }

    /// The same with a solver of its own for every query: see [`Solver::ask_apart`].
    pub fn apart(limits: Limits) -> Decider {
        let mut decider = Decider::new(limits, 0);
        decider.solver.ask_apart();
        decider
    }

    /// The same with a bound on the size of questions about memory: see [`Solver::leave_memory_beyond`].
    pub fn leaving_memory_beyond(mut self, terms: usize) -> Decider {
        self.solver.leave_memory_beyond(terms);
        self
    }

    /// The same with a bound on what it spends together with others.
    pub fn sharing(mut self, allowance: Allowance) -> Decider {
        self.solver.share(allowance);
        self
    }

    pub fn settled(&self) -> Settled {
        self.settled
    }

    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// Keeps an input for the data step of later questions, for instance a replayed witness.
    pub fn learn(&mut self, input: Assignment) {
        self.inputs.push_front(input);
        self.inputs.truncate(KEPT_INPUTS);
    }

    /// Decides whether `a` and `b` have the same value wherever `under` holds.
    pub fn equal(&mut self, pool: &mut TermPool, a: TermId, b: TermId, under: TermId) -> Decision {
        let goal = pool.eq(a, b);
        match self.holds(pool, under, goal) {
            Truth::Holds => Decision::Equal,
            Truth::Fails(input) => Decision::Differ(input),
            Truth::Open { reason } => Decision::Open { reason },
        }
    }

    /// Decides whether `goal` holds wherever `condition` does.
    pub fn holds(&mut self, pool: &mut TermPool, condition: TermId, goal: TermId) -> Truth {
        self.holds_within(pool, condition, goal, 1)
    }

    /// The same of a goal that stands for `weight` questions, and may cost as much.
    fn holds_within(&mut self, pool: &mut TermPool, condition: TermId, goal: TermId, weight: u64) -> Truth {
        let violation = violation(pool, condition, goal);
        if pool.as_const(violation) == Some(Const::FALSE) {
            self.settled.by_structure += 1;
            return Truth::Holds;
        }
        if let Some(input) = self.satisfy_on_data(pool, violation) {
            self.settled.by_data += 1;
            return Truth::Fails(input);
        }
        match self.ask(pool, violation, weight) {
            Verdict::Unsat => Truth::Holds,
            Verdict::Sat(model) => Truth::Fails(model.input),
            Verdict::Unknown(reason) => Truth::Open { reason },
        }
    }

    /// Decides of each goal whether it holds wherever `condition` does; what stays open counts as no.
    /// Goals that hold cost one question together: an input that refutes the conjunction says which of
    /// them it refutes, and only where nothing settles it they are asked in halves.
    pub fn holding(&mut self, pool: &mut TermPool, condition: TermId, goals: &[TermId]) -> Vec<bool> {
        self.holding_until(pool, condition, goals, u64::MAX)
    }

    /// The same until this decider has asked the solver `most` times: what is not decided by then counts
    /// as open.
    pub fn holding_until(
        &mut self,
        pool: &mut TermPool,
        condition: TermId,
        goals: &[TermId],
        most: u64,
    ) -> Vec<bool> {
        let mut found = vec![false; goals.len()];
        let (hard, easy): (Vec<usize>, Vec<usize>) =
            (0..goals.len()).partition(|&i| multiplies(pool, goals[i]));
        let mut work: Vec<Vec<usize>> = hard.into_iter().map(|i| vec![i]).collect();
        work.push(easy);
        while let Some(group) = work.pop() {
            if group.is_empty() || self.settled.asked() >= most {
                continue;
            }
            let all = group.iter().fold(pool.bool(true), |all, &i| pool.and(all, goals[i]));
            match self.holds_within(pool, condition, all, (group.len() as u64).min(MAX_TOGETHER)) {
                Truth::Holds => group.iter().for_each(|&i| found[i] = true),
                _ if group.len() == 1 => {}
                Truth::Fails(input) => {
                    let members: Vec<TermId> = group.iter().map(|&i| goals[i]).collect();
                    let refuted = local_search::refuted(pool, condition, &members, &input);
                    let left: Vec<usize> =
                        group.iter().zip(refuted).filter(|(_, refuted)| !refuted).map(|(i, _)| *i).collect();
                    match left.len() < group.len() {
                        true => work.push(left),
                        false => work.extend(group.into_iter().map(|i| vec![i])),
                    }
                }
                Truth::Open { .. } => {
                    let (a, b) = group.split_at(group.len() / 2);
                    work.extend([b.to_vec(), a.to_vec()]);
                }
            }
        }
        found
    }

    /// Looks for an input on which `condition` holds and `goal` does not, on data only.
    pub fn refute(&mut self, pool: &mut TermPool, condition: TermId, goal: TermId) -> Option<Assignment> {
        let violation = violation(pool, condition, goal);
        let input = self.satisfy_on_data(pool, violation)?;
        self.settled.by_data += 1;
        Some(input)
    }

    /// Decides whether some input satisfies `condition`: such an input, or `None` when there is none.
    ///
    /// Errors: the reason why it stays open.
    pub fn satisfiable(
        &mut self,
        pool: &mut TermPool,
        condition: TermId,
    ) -> Result<Option<Assignment>, &'static str> {
        if pool.as_const(condition) == Some(Const::FALSE) {
            self.settled.by_structure += 1;
            return Ok(None);
        }
        if let Some(input) = self.satisfy_on_data(pool, condition) {
            self.settled.by_data += 1;
            return Ok(Some(input));
        }
        match self.ask(pool, condition, 1) {
            Verdict::Unsat => Ok(None),
            Verdict::Sat(model) => Ok(Some(model.input)),
            Verdict::Unknown(reason) => Err(reason),
        }
    }

    /// Decides whether any input satisfies `condition`. Where pointers that lead to different places do, no more is
    /// asked: much the easiest of all cases.
    ///
    /// Errors: the reason why it stays open.
    pub fn is_satisfiable(&mut self, pool: &mut TermPool, condition: TermId) -> Result<bool, &'static str> {
        if pool.as_const(condition) == Some(Const::FALSE) {
            self.settled.by_structure += 1;
            return Ok(false);
        }
        if self.satisfy_on_data(pool, condition).is_some() {
            self.settled.by_data += 1;
            return Ok(true);
        }
        let mut tried = None;
        for results in [Results::Alike, Results::Apart] {
            let easier = separated::separated(pool, condition, results).filter(|e| Some(*e) != tried);
            if easier.is_some_and(|easier| self.is_met(pool, easier)) {
                return Ok(true);
            }
            tried = tried.or(easier);
        }
        match self.ask(pool, condition, 1) {
            Verdict::Unsat => Ok(false),
            Verdict::Sat(_) => Ok(true),
            Verdict::Unknown(_) if self.is_unsatisfiable_apart(pool, condition) => Ok(false),
            Verdict::Unknown(reason) => Err(reason),
        }
    }

    /// Whether some input satisfies a condition that is easier than the one in question.
    fn is_met(&mut self, pool: &mut TermPool, easier: TermId) -> bool {
        if is_float_heavy(pool, &[easier]) || circuits(pool, easier) > MAX_CIRCUITS {
            return false;
        }
        if self.satisfy_on_data(pool, easier).is_some() {
            self.settled.by_data += 1;
            return true;
        }
        let is_met =
            matches!(self.solver.check(pool, &[easier]), Verdict::Sat(Model { confirmed: true, .. }));
        self.settled.by_solver += u64::from(is_met);
        is_met
    }

    /// Whether no input satisfies a condition, whatever memory and functions give: each value of theirs is an input of
    /// its own, so that only arithmetic is left.
    fn is_unsatisfiable_apart(&mut self, pool: &mut TermPool, condition: TermId) -> bool {
        let apart = pool.rebuilt(condition, &|pool, t| match (pool.get(t), pool.sort(t)) {
            (Term::App(App::Load { .. } | App::Uf(_), _), sort @ Sort::Bv(_)) => {
                let key = format!("apart:{t:?}").into();
                Rebuilt::By(pool.leaf(Leaf::Havoc { key, sort }))
            }
            _ => Rebuilt::Kept,
        });
        let is_easier = apart != condition && circuits(pool, apart) <= MAX_CIRCUITS;
        let is_unsat = is_easier && self.solver.check(pool, &[apart]).is_unsat();
        // It was counted as open.
        if is_unsat {
            self.settled.open = self.settled.open.saturating_sub(1);
            self.settled.by_solver += 1;
        }
        is_unsat
    }

    /// Asks Z3; a model that evaluation does not confirm counts as unknown.
    fn ask(&mut self, pool: &mut TermPool, condition: TermId, weight: u64) -> Verdict {
        if is_float_heavy(pool, &[condition]) {
            if self.float_questions == 0 || float_circuits(pool, condition) > MAX_FLOAT_CIRCUITS {
                self.settled.open += 1;
                return Verdict::Unknown("float-questions");
            }
            self.float_questions -= 1;
        }
        if circuits(pool, condition) > MAX_CIRCUITS {
            self.settled.open += 1;
            return Verdict::Unknown("too many multiplications");
        }
        if accesses(pool, pool.reachable(&[condition]).into_iter()) > MAX_ACCESSES {
            self.settled.open += 1;
            return Verdict::Unknown("too many accesses of memory");
        }
        if let Some(easier) = lemmas::without_midpoints(pool, condition)
            && self.solver.check_for(pool, &[easier], weight).is_unsat()
        {
            self.settled.by_solver += 1;
            return Verdict::Unsat;
        }
        let mut question = vec![condition];
        question.extend(lemmas::of(pool, condition));
        let mut verdict = self.solver.check_for(pool, &question, weight);
        if let Verdict::Sat(Model { confirmed: false, .. }) = verdict {
            // Z3 may have divided by zero. That all operators are defined is more than the condition
            // needs, so only an input counts here.
            let mut query = definedness(pool, condition);
            query.push(condition);
            verdict = match self.solver.check_for(pool, &query, weight) {
                Verdict::Sat(model) if model.confirmed => Verdict::Sat(model),
                _ => Verdict::Unknown("model-not-confirmed"),
            };
        }
        if let Verdict::Unknown(_) = verdict
            && self.cases > 0
            && let Some(case) = separated::case(pool, condition)
        {
            self.cases -= 1;
            if let Verdict::Sat(model) = self.solver.check(pool, &[case])
                && Program::new(pool, &[condition]).run(pool, &model.input).holds(condition) == Some(true)
            {
                verdict = Verdict::Sat(model);
            }
        }
        match &verdict {
            Verdict::Unsat => self.settled.by_solver += 1,
            Verdict::Sat(model) => {
                self.settled.by_solver += 1;
                self.learn(model.input.clone());
            }
            Verdict::Unknown(_) => self.settled.open += 1,
        }
        verdict
    }

    /// Looks for an input that satisfies `condition` among the earlier ones and the filled ones.
    fn satisfy_on_data(&mut self, pool: &TermPool, condition: TermId) -> Option<Assignment> {
        let program = Program::new(pool, &[condition]);
        let parts = Parts::of(pool, &program, condition);
        let satisfies = |input: &Assignment| Some(program.satisfying(pool, input, &parts)?.inputs(pool));
        let terms = weight(pool, program.terms());
        let left = (self.solver.limits().rlimit * DATA_SHARE).saturating_sub(self.data_steps);
        let steps = DATA_STEPS.min(usize::try_from(left).unwrap_or(DATA_STEPS));
        let least = if terms > LARGE { 1 } else { LEAST_TRIES };
        let tries = (steps / terms).clamp(least, 256);
        self.data_steps += (tries * terms) as u64;
        if let Some(found) = self.inputs.iter().take(tries).find_map(satisfies) {
            return Some(found);
        }
        let tries = tries as u64;
        let palette = Arc::new(Palette::of_terms(pool, program.terms()));
        let fills = (0..tries).map(|seed| Fill::Varied { seed, palette: palette.clone() });
        let mut filled = std::iter::once(Fill::Zero).chain(fills);
        let found = filled.find_map(|fill| satisfies(&Assignment::filled(fill))).or_else(|| {
            let solution = equations::solved(pool, &program, &parts)?;
            satisfies(&solution)
        })?;
        self.learn(found.clone());
        Some(found)
    }
}

/// About the evaluations of single terms that one input costs.
fn weight(pool: &TermPool, terms: &[TermId]) -> usize {
    /// To compare two memories takes as long as so many other terms.
    const MEMORIES: usize = 500;
    /// So many bytes of writes are passed by in the time of a term.
    const PER_TERM: u64 = 8;
    let compares = |&&t: &&TermId| {
        let sides = pool.as_op(t, Op::Eq);
        sides.is_some_and(|sides| sides.iter().any(|&s| pool.sort(s) == Sort::Mem))
    };
    let chains = usize::try_from(accesses(pool, terms.iter().copied()) / PER_TERM).unwrap_or(usize::MAX);
    chains.saturating_add(1 + terms.len() + MEMORIES * terms.iter().filter(compares).count())
}

fn violation(pool: &mut TermPool, condition: TermId, goal: TermId) -> TermId {
    let not_goal = pool.not(goal);
    pool.and(condition, not_goal)
}

/// Returns conditions under which every integer operator below `t` is defined.
fn definedness(pool: &mut TermPool, t: TermId) -> Vec<TermId> {
    let mut guards = Vec::new();
    for t in pool.reachable(&[t]) {
        let Term::App(App::Op(op), args) = pool.get(t) else { continue };
        let (op, &[a, b]) = (*op, &args[..]) else { continue };
        let Sort::Bv(w) = pool.sort(b) else { continue };
        match op {
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem => {
                let zero = pool.bv(w, 0);
                let by_zero = pool.eq(b, zero);
                guards.push(pool.not(by_zero));
                if matches!(op, Op::SDiv | Op::SRem) {
                    let (min, minus_one) = (pool.bv(w, 1i128 << (w - 1).min(126)), pool.bv(w, -1));
                    let (x, y) = (pool.eq(a, min), pool.eq(b, minus_one));
                    let overflow = pool.and(x, y);
                    guards.push(pool.not(overflow));
                }
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let width = pool.bv(w, i128::from(w));
                guards.push(pool.op(Op::Ult, &[b, width]));
            }
            _ => {}
        }
    }
    guards
}

/// Whether a goal multiplies or divides unknowns: such goals stay open more often than others, and
/// would take these with them.
fn multiplies(pool: &TermPool, t: TermId) -> bool {
    use Op::{Mul, SDiv, SRem, UDiv, URem};
    pool.reachable(&[t]).iter().any(|&t| match pool.get(t) {
        Term::App(App::Op(Mul | SDiv | SRem | UDiv | URem), args) => {
            args.iter().all(|&a| pool.as_const(a).is_none())
        }
        Term::App(_, args) => args.iter().any(|&a| pool.sort(a).is_float()),
        _ => false,
    })
}

/// Counts the multiplying and dividing circuits of integers in a term, by what those of 32 bits cost.
fn circuits(pool: &TermPool, t: TermId) -> u64 {
    use Op::{Mul, SDiv, SRem, UDiv, URem};
    let circuits = |t: &TermId| {
        let Term::App(App::Op(op @ (Mul | SDiv | SRem | UDiv | URem)), args) = pool.get(*t) else { return 0 };
        let width = u64::from(pool.sort(*t).bits().unwrap_or(32));
        let cost = (width * width).div_ceil(32 * 32);
        // Products with numbers are a few sums; so are quotients by powers of two.
        let number = args.iter().find_map(|&a| pool.as_const(a)?.unsigned());
        match number {
            Some(_) if *op == Mul => 0,
            Some(k) if k.is_power_of_two() => 0,
            _ => cost,
        }
    };
    pool.reachable(&[t]).iter().map(circuits).sum()
}

/// Counts the pairs of bytes of memory that may be the same, at least one of them loaded.
fn accesses(pool: &TermPool, terms: impl Iterator<Item = TermId>) -> u64 {
    let (mut loaded, mut stored) = (0, 0);
    for t in terms {
        match pool.get(t) {
            Term::App(App::Load { bytes, .. }, _) => loaded += bytes,
            Term::App(App::Store { bytes } | App::CopyBytes { bytes } | App::ZeroBytes { bytes }, _) => {
                stored += if *bytes > EXACT_BYTES { 0 } else { *bytes };
            }
            _ => {}
        }
    }
    loaded.saturating_mul(loaded.saturating_add(stored))
}

/// Counts the multiplying circuits of float operators in a term; those of doubles are four times as
/// large.
fn float_circuits(pool: &TermPool, t: TermId) -> u32 {
    use Op::{FDiv, FFma, FMul, FRem, FSqrt};
    let circuits = |t: &TermId| match pool.get(*t) {
        Term::App(App::Op(FMul | FDiv | FRem | FSqrt | FFma), _) if pool.sort(*t) == Sort::F32 => 1,
        Term::App(App::Op(FMul | FDiv | FRem | FSqrt | FFma), _) => 4,
        _ => 0,
    };
    pool.reachable(&[t]).iter().map(circuits).sum()
}

/// Returns whether a question about these terms makes Z3 reason about float arithmetic. Such
/// questions belong after all others.
pub fn is_float_heavy(pool: &TermPool, terms: &[TermId]) -> bool {
    use Op::{FAdd, FDiv, FFma, FMul, FRem, FSqrt, FSub, FToF, SToF, UToF};
    pool.reachable(terms).iter().any(|&t| {
        matches!(
            pool.get(t),
            Term::App(
                App::Op(FAdd | FSub | FMul | FDiv | FRem | FSqrt | FFma | FToF(_) | SToF(_) | UToF(_)),
                _
            )
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Leaf;

    fn param(pool: &mut TermPool, name: &str, sort: Sort) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort })
    }

    #[test]
    fn each_step_settles_its_questions() {
        let mut pool = TermPool::new();
        let (x, y) = (param(&mut pool, "x", Sort::Bv(32)), param(&mut pool, "y", Sort::Bv(32)));
        let always = pool.bool(true);
        let mut decider = Decider::new(Limits::default(), 4);
        let (a, b) = (pool.op(Op::Add, &[x, y]), pool.op(Op::Add, &[y, x]));
        assert!(matches!(decider.equal(&mut pool, a, b, always), Decision::Equal));
        let b = pool.op(Op::Sub, &[x, y]);
        assert!(matches!(decider.equal(&mut pool, a, b, always), Decision::Differ(_)));
        // x & ~y | x & y is x: only Z3 knows.
        let not_y = pool.op(Op::BitNot, &[y]);
        let (p, q) = (pool.op(Op::BitAnd, &[x, not_y]), pool.op(Op::BitAnd, &[x, y]));
        let whole = pool.op(Op::BitOr, &[p, q]);
        assert!(matches!(decider.equal(&mut pool, whole, x, always), Decision::Equal));
        // A needle that data does not find.
        let square = pool.op(Op::Mul, &[x, x]);
        let k = pool.bv(32, 0x1234_5679i128 * 0x1234_5679);
        let goal = pool.eq(square, k);
        let goal = pool.not(goal);
        assert!(matches!(decider.holds(&mut pool, always, goal), Truth::Fails(_)));
        let expected = Settled { by_structure: 1, by_data: 1, by_solver: 2, open: 0 };
        assert_eq!(decider.settled(), expected);
    }

    /// Addresses are too much work, and arithmetic alone says that nothing satisfies the condition.
    #[test]
    fn what_memory_gives_may_not_matter() {
        let mut pool = TermPool::new();
        let memory = pool.leaf(Leaf::Param { name: "m".into(), sort: Sort::Mem });
        let x = param(&mut pool, "x", Sort::Bv(64));
        let (zero, mut at) = (pool.bv(64, 0), x);
        for k in 0..20 {
            let next = pool.bv(64, 2 * k + 1);
            let next = pool.op(Op::Add, &[at, next]);
            at = pool.op(Op::Mul, &[at, next]);
        }
        let length = pool.app(App::Load { sort: Sort::Bv(64), bytes: 8 }, &[memory, at]);
        let one = pool.bv(64, 1);
        let more = pool.op(Op::Add, &[length, one]);
        let is_length = pool.op(Op::Sle, &[zero, length]);
        let (wraps, goes_on) = (pool.op(Op::Ult, &[more, length]), pool.op(Op::Ult, &[length, more]));
        let mut decider = Decider::new(Limits::default(), 4);
        let condition = pool.and(is_length, wraps);
        assert_eq!(decider.is_satisfiable(&mut pool, condition), Ok(false));
        assert_eq!((decider.settled().open, decider.settled().by_solver), (0, 1));
        let condition = pool.and(is_length, goes_on);
        assert_ne!(decider.is_satisfiable(&mut pool, condition), Ok(false));
    }

    #[test]
    fn conditions_restrict() {
        let mut pool = TermPool::new();
        let x = param(&mut pool, "x", Sort::Bv(32));
        let (zero, ten) = (pool.bv(32, 0), pool.bv(32, 10));
        let positive = pool.op(Op::Slt, &[zero, x]);
        let quotient = pool.op(Op::SDiv, &[ten, x]);
        let small = pool.op(Op::Sle, &[quotient, ten]);
        let mut decider = Decider::new(Limits::default(), 4);
        assert!(matches!(decider.holds(&mut pool, positive, small), Truth::Holds));
        let never = pool.bool(false);
        assert!(matches!(decider.holds(&mut pool, never, small), Truth::Holds));
    }

    #[test]
    fn goals_are_settled_together() {
        let mut pool = TermPool::new();
        let (x, y) = (param(&mut pool, "x", Sort::Bv(32)), param(&mut pool, "y", Sort::Bv(32)));
        let (zero, ten) = (pool.bv(32, 0), pool.bv(32, 10));
        let (low, high) = (pool.op(Op::Sle, &[zero, x]), pool.op(Op::Slt, &[x, ten]));
        let inside = pool.and(low, high);
        let (both, either) = (pool.op(Op::BitAnd, &[x, y]), pool.op(Op::BitOr, &[x, y]));
        let mut goal = |op, a, b| pool.op(op, &[a, b]);
        let goals = [
            goal(Op::Sle, both, ten),
            goal(Op::Sle, either, ten),
            goal(Op::Sle, zero, both),
            goal(Op::Ule, both, either),
            goal(Op::Slt, x, y),
        ];
        let mut decider = Decider::new(Limits::default(), 0);
        assert_eq!(decider.holding(&mut pool, inside, &goals), [true, false, true, true, false]);
        assert!(decider.solver().statistics().queries <= 3);
        assert_eq!(decider.holding(&mut pool, inside, &[]), [false; 0]);
    }

    /// The fix of the pair 270150 changes `-0.0` into `0.0` where a difference is zero.
    #[test]
    fn data_finds_the_sign_of_zero() {
        let mut pool = TermPool::new();
        let [a1, a2, b1, b2] = ["a1", "a2", "b1", "b2"].map(|n| param(&mut pool, n, Sort::F32));
        let mut op = |op, x, y| pool.op(op, &[x, y]);
        let (p, q) = (op(Op::FMul, a2, b1), op(Op::FMul, a1, b2));
        let (d, e) = (op(Op::FSub, p, q), op(Op::FSub, q, p));
        let (n, m) = (op(Op::FSub, b1, b2), op(Op::FSub, b2, b1));
        let (old, new) = (op(Op::FDiv, n, d), op(Op::FDiv, m, e));
        let zero = pool.constant(Const::f32(0.0));
        let equal = pool.op(Op::FEq, &[e, zero]);
        let solvable = pool.not(equal);
        let mut decider = Decider::new(Limits::default(), 0);
        let Decision::Differ(input) = decider.equal(&mut pool, old, new, solvable) else { panic!() };
        let program = Program::new(&pool, &[old, new, solvable]);
        let run = program.run(&pool, &input);
        assert_eq!(run.holds(solvable), Some(true));
        assert_eq!(run.same(old, new), Some(false));
    }
}
