//! The verifier: whether a program violates its assertions on any input, and whether a change brought
//! that.
//!
//! It goes after what cheaper methods leave open. Runs of inputs come first ([`runs`]); then all paths of
//! the program are followed with sets of values instead of values ([`search`]): intervals, narrowed by
//! the decisions on the way ([`narrow`]), and divided where they are too coarse. That finds violations and
//! proves that there are none: over few inputs because they are exhausted, over many because intervals
//! of floats and integers decide most of them at once, and of loops because a set of states that is closed
//! under all inputs is an invariant. What a difference verification covers is not looked at
//! ([`crate::difference::Remainder`]).
//!
//! A violation is *introduced* if a run of the old version on the same input neither fails nor does
//! anything undefined; it is shown by runs of both. It is *preexisting* if the old version fails, too.
//! Everything is bounded by counts, so that an answer does not depend on the machine.

mod code;
mod machine;
mod narrow;
mod runs;
mod search;
mod state;
mod value;

use crate::cost;
use crate::difference::{Concerns, Remainder, Version};
use crate::interp::Pair;
use code::Code;
use machine::Machine;
use search::{Ended, Shown};

/// What to verify.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// To tell what was introduced; without it, any violation is looked for.
    pub old: Option<Version<'q>>,
    pub new: Version<'q>,
    pub concerns: Concerns,
    /// What is left to verify; everything without it.
    pub remainder: Option<&'q Remainder>,
    pub limits: Limits,
}

/// Bounds of one question.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions that are followed with sets of values.
    pub steps: u64,
    /// Inputs that are run.
    pub runs: u64,
    /// Instructions of these runs.
    pub run_steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 2_000_000, runs: 2_000, run_steps: 4_000_000 }
    }
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Instructions that were followed with sets of values.
    pub steps: u64,
    /// States behind decisions that were open.
    pub states: u64,
    pub paths: u64,
    /// Sets of inputs.
    pub tasks: u64,
    /// Inputs that were run.
    pub runs: u64,
    /// Instructions of these runs.
    pub run_steps: u64,
}

#[derive(Clone, Debug)]
pub enum VerificationResult {
    /// No violation is introduced; without an old version, there is none.
    Holds,
    /// With runs that show it (without an old version, `old` is the new one's, too).
    Violated(Box<Pair>),
    /// Why.
    Open(&'static str),
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub verdict: VerificationResult,
    /// Runs of a violation that the old version has, too, if one was met.
    pub preexisting: Option<Box<Pair>>,
    pub effort: Effort,
}

/// Answers a question. Cost: bounded by its limits; no solver is asked.
pub fn verify(question: &Question) -> Answer {
    let _room = cost::enter(cost::Room::Verifier);
    let mut answer =
        Answer { verdict: VerificationResult::Holds, preexisting: None, effort: Effort::default() };
    let mut runs = runs::Runs::new(question);
    if let Some(pair) = runs.try_inputs(&mut answer.effort) {
        answer.verdict = VerificationResult::Violated(pair);
        answer.preexisting = runs.preexisting;
        return answer;
    }
    let new = question.new;
    let Some(code) = Code::new(new.program, new.function, &question.concerns, question.remainder) else {
        answer.verdict = VerificationResult::Open("a program that is too large");
        return answer;
    };
    let mut machine = Machine::new(new, code);
    let mut found = None;
    let ended = search::search(&mut machine, &question.limits, &mut answer.effort, &mut |given, effort| {
        let (shown, pair) = runs.of_path(given, effort);
        if shown == Shown::Wanted {
            found = pair;
        }
        shown
    });
    answer.preexisting = runs.preexisting;
    answer.verdict = match (ended, found) {
        (Ended::Wanted, Some(pair)) => VerificationResult::Violated(pair),
        (Ended::Exhausted, _) => VerificationResult::Holds,
        (Ended::Open(why), _) => VerificationResult::Open(why),
        (Ended::Wanted, None) => VerificationResult::Open("a failure that no run shows"),
    };
    answer
}
