//! Which inputs meet conditions: the solver, what it answered before, and how often it was asked.
//!
//! A question falls into parts that share no input; each part is asked once and its answer kept, as Green does.

use crate::count::Counter;
use crate::ir::eval::Assignment;
use crate::ir::{Term, TermId, TermPool};
use crate::quantify::Inputs;
use crate::smt::{self, Verdict};
use rustc_hash::FxHashMap;

/// Z3's units for one question; each that stays open halves what the next ones may cost, down to an eighth.
const RLIMIT: u64 = 400_000;
const HALVINGS: u64 = 3;
/// Questions of all iterations that may stay open: no more is asked then. Products and divisions of what comes out of
/// others cost all that a question may, round after round.
const MOST_OPEN: u64 = 24;

/// An answer.
#[derive(Clone, Debug)]
pub enum Answer {
    No,
    Yes(Assignment),
    Unknown,
}

/// Questions of one run of the loop.
pub struct Asker {
    counter: Counter,
    answers: FxHashMap<Vec<TermId>, Answer>,
    /// Answers are kept from one iteration to the next, and by parts.
    is_reusing: bool,
    pointer_bits: u16,
    /// Of this iteration: questions to the solver, and those that an earlier answer settled.
    pub queries: u64,
    pub reused: u64,
    pub limit: u64,
    /// Questions of all iterations that stayed open.
    open: u64,
}

impl Asker {
    /// `counter`: has what the inputs can be.
    pub fn new(counter: Counter, is_reusing: bool, pointer_bits: u16) -> Asker {
        Asker {
            counter,
            answers: FxHashMap::default(),
            is_reusing,
            pointer_bits,
            queries: 0,
            reused: 0,
            limit: u64::MAX,
            open: 0,
        }
    }

    /// Begins an iteration.
    pub fn begin(&mut self, limit: u64) {
        (self.queries, self.reused, self.limit) = (0, 0, limit);
        if !self.is_reusing {
            self.answers.clear();
        }
    }

    pub fn is_spent(&self) -> bool {
        self.queries >= self.limit || self.open >= MOST_OPEN
    }

    /// Whether some input meets all conditions.
    pub fn ask(&mut self, pool: &mut TermPool, conditions: &[TermId]) -> Answer {
        let parts = match self.is_reusing {
            true => parts(pool, conditions),
            false => vec![conditions.to_vec()],
        };
        let mut all = Assignment::new();
        for part in parts {
            match self.part(pool, part) {
                Answer::Yes(inputs) => all = joined(pool, all, &inputs, conditions),
                other => return other,
            }
        }
        Answer::Yes(all)
    }

    /// An answer that was given in this iteration, or before if answers are kept; no question is asked.
    pub fn known(&mut self, pool: &mut TermPool, conditions: &[TermId]) -> Answer {
        let (queries, reused) = (self.queries, self.reused);
        let answer = self.ask(pool, conditions);
        // It was the last one of its path.
        (self.queries, self.reused) = (queries, reused);
        answer
    }

    fn part(&mut self, pool: &mut TermPool, mut part: Vec<TermId>) -> Answer {
        part.retain(|t| pool.as_const(*t).and_then(|c| c.as_bool()) != Some(true));
        part.sort_unstable();
        part.dedup();
        if part.is_empty() {
            return Answer::Yes(Assignment::new());
        }
        if part.iter().any(|t| pool.as_const(*t).and_then(|c| c.as_bool()) == Some(false)) {
            return Answer::No;
        }
        if let Some(known) = self.answers.get(&part) {
            match self.is_reusing {
                true => self.reused += 1,
                // Asked again, as far as the figures go.
                false => self.queries += 1,
            }
            return known.clone();
        }
        if self.is_spent() {
            return Answer::Unknown;
        }
        self.queries += 1;
        let rlimit = RLIMIT >> self.open.min(HALVINGS);
        let limits = smt::Limits { rlimit, pointer_bits: self.pointer_bits };
        // One of its own for each question: what it answers does not depend on what was asked before.
        let answer = match smt::Solver::new(limits).check(pool, &part) {
            Verdict::Unsat => Answer::No,
            Verdict::Sat(model) if model.confirmed => Answer::Yes(model.input),
            Verdict::Sat(_) | Verdict::Unknown(_) => {
                self.open += 1;
                Answer::Unknown
            }
        };
        self.answers.insert(part, answer.clone());
        answer
    }
}

/// Both assignments, of inputs that are not the same.
fn joined(pool: &TermPool, mut all: Assignment, more: &Assignment, conditions: &[TermId]) -> Assignment {
    for t in pool.reachable(conditions) {
        if let (Term::Leaf(_), Some(value)) = (pool.get(t), more.get(t)) {
            all.set(t, value);
        }
    }
    all
}

/// Conditions by the inputs that they share.
fn parts(pool: &TermPool, conditions: &[TermId]) -> Vec<Vec<TermId>> {
    let mut parts: Vec<(Vec<TermId>, Vec<TermId>)> = Vec::new();
    for &condition in conditions {
        let all = pool.reachable(&[condition]);
        let mut leaves: Vec<TermId> =
            all.into_iter().filter(|t| matches!(pool.get(*t), Term::Leaf(_))).collect();
        let mut own = vec![condition];
        let is_met = |theirs: &[TermId], leaves: &[TermId]| theirs.iter().any(|l| leaves.contains(l));
        let (met, apart): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(theirs, _)| is_met(theirs, &leaves));
        parts = apart;
        for (theirs, them) in met {
            leaves.extend(theirs);
            own.extend(them);
        }
        parts.push((leaves, own));
    }
    parts.into_iter().map(|(_, own)| own).collect()
}

impl Inputs for Asker {
    fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<(i128, i128)> {
        self.counter.bounds(pool, t)
    }

    fn may_meet(&mut self, pool: &mut TermPool, conditions: &[TermId], literal: TermId) -> bool {
        let mut all = conditions.to_vec();
        all.push(literal);
        !matches!(self.ask(pool, &all), Answer::No)
    }

    fn is_spent(&self) -> bool {
        Asker::is_spent(self)
    }
}
