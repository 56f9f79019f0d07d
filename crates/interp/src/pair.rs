//! One input, two versions.

use super::compare::{Comparison, compare};
use super::input::{Input, Limits};
use super::outcome::Outcome;
use super::program::Program;
use super::run::run;

/// Two runs of one input, and the input that reproduces them.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Standard input in full; nothing is made up any more.
    pub input: Input,
    pub old: Outcome,
    pub new: Outcome,
    pub verdict: Comparison,
}

/// Runs an input in two versions (each a program and the name of the function in it).
///
/// Standard input that the input's plan makes up is the same for both: the new version reads what
/// the old one was given, and goes on from there. A difference is replayed on the fixed input, so
/// what is returned as different is different on replay. Cost: two runs, four for a difference.
pub fn run_pair(old: (&Program, &str), new: (&Program, &str), input: &Input, limits: &Limits) -> Pair {
    let mut input = input.clone();
    let planned = input.stdin_plan.is_some();
    let mut first = run(old.0, old.1, &input, limits);
    input.stdin.clone_from(&first.read.stdin);
    if first.read.is_closed {
        input.stdin_plan = None;
    }
    let mut second = run(new.0, new.1, &input, limits);
    input.stdin.clone_from(&second.read.stdin);
    input.stdin_plan = None;
    let mut verdict = compare((old.0, &first), (new.0, &second));
    if planned && matches!(verdict, Comparison::Different(_)) {
        first = run(old.0, old.1, &input, limits);
        second = run(new.0, new.1, &input, limits);
        verdict = compare((old.0, &first), (new.0, &second));
    }
    Pair { input, old: first, new: second, verdict }
}
