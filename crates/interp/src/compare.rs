//! Whether two versions' runs on one input differ in something that a caller or a user can see.
//!
//! Nothing is said where a run did not come to an end, where both have undefined behaviour, or
//! where the difference rests on indeterminate bytes, addresses or the sign of a NaN.

use super::final_state::initial_global;
use super::outcome::{End, FinalObject, Identity, Outcome, Target};
use super::program::Program;
use std::collections::BTreeSet;

/// First observable in which two runs differ, most telling first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Exactly one run is undefined.
    Undefined,
    End,
    Returned,
    ExitCode,
    Stdout,
    Stderr,
    /// What was written to other streams.
    Files,
    /// Unknown functions were called in another order or with other arguments.
    Calls,
    Memory(Identity),
}

/// Verdict on two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Different(Difference),
    /// At least one run has no end to compare, or the difference proves nothing.
    Undecided,
}

/// Compares the runs of one input in two programs.
pub fn compare(old: (&Program, &Outcome), new: (&Program, &Outcome)) -> Comparison {
    let (a, b) = (old.1, new.1);
    let undefined = |o: &Outcome| matches!(o.end, End::Undefined { .. });
    match (undefined(a), undefined(b)) {
        (true, true) => return Comparison::Undecided,
        (true, false) if b.end.is_definite() => return Comparison::Different(Difference::Undefined),
        (false, true) if a.end.is_definite() => return Comparison::Different(Difference::Undefined),
        _ => {}
    }
    if !a.end.is_definite() || !b.end.is_definite() {
        return Comparison::Undecided;
    }
    let shaky = a.portability.open_sign
        || b.portability.open_sign
        || a.portability.platform_dependent
        || b.portability.platform_dependent;
    match first_difference(old, new) {
        None => Comparison::Equal,
        Some(_) if shaky => Comparison::Undecided,
        Some(d) => Comparison::Different(d),
    }
}

fn first_difference(old: (&Program, &Outcome), new: (&Program, &Outcome)) -> Option<Difference> {
    let (a, b) = (old.1, new.1);
    if !same_end(&a.end, &b.end) {
        return Some(Difference::End);
    }
    if a.returned_target != b.returned_target
        || (!same_result(a, b) && a.returned_target.is_none() && b.returned_target.is_none())
    {
        return Some(Difference::Returned);
    }
    if a.ending.exit_code != b.ending.exit_code {
        return Some(Difference::ExitCode);
    }
    if a.output.stdout != b.output.stdout {
        return Some(Difference::Stdout);
    }
    if !same_errors(a, b) {
        return Some(Difference::Stderr);
    }
    if a.output.files != b.output.files {
        return Some(Difference::Files);
    }
    let calls = |o: &Outcome| {
        o.assumed.calls.iter().map(|c| (c.callee.clone(), c.arguments.clone())).collect::<Vec<_>>()
    };
    if calls(a) != calls(b) {
        return Some(Difference::Calls);
    }
    memory_difference(old, new).map(Difference::Memory)
}

/// Whether two runs returned the same, as far as machines agree on it.
pub fn same_result(a: &Outcome, b: &Outcome) -> bool {
    a.returned == b.returned
        || (a.portability.is_sign_only || b.portability.is_sign_only) && signs(a) == signs(b)
}

/// The sign of a number that was returned.
pub(super) fn signs(o: &Outcome) -> Option<i128> {
    o.returned.and_then(crate::ir::Const::signed).map(i128::signum)
}

/// Whether two runs of one program did the same.
pub(super) fn has_same_outcome(program: &Program, a: &Outcome, b: &Outcome) -> bool {
    first_difference((program, a), (program, b)).is_none()
}

/// Whether two runs wrote the same to their error streams. The message of a failed assertion has the
/// line in it, which is no behaviour.
pub fn same_errors(a: &Outcome, b: &Outcome) -> bool {
    a.output.stderr == b.output.stderr
        || matches!((&a.end, &b.end), (End::AssertFailed { .. }, End::AssertFailed { .. }))
}

fn same_end(a: &End, b: &End) -> bool {
    match (a, b) {
        (End::AssertFailed { .. }, End::AssertFailed { .. }) => true,
        (End::NoReturn { callee: a, .. }, End::NoReturn { callee: b, .. }) => a == b,
        _ => a == b,
    }
}

/// Returns the first object that two runs of one input leave in different states.
pub fn memory_difference(old: (&Program, &Outcome), new: (&Program, &Outcome)) -> Option<Identity> {
    let identities: BTreeSet<&Identity> =
        old.1.left.memory.iter().chain(&new.1.left.memory).map(|o| &o.identity).collect();
    for id in identities {
        // What nobody reaches from both sides follows from the objects that point to it.
        let (Some(a), Some(b)) = (final_object(old, id), final_object(new, id)) else { continue };
        let is_retyped = matches!(id, Identity::Global(_)) && a.bytes.len() != b.bytes.len();
        if if is_retyped { differ_as_numbers(&a, &b) } else { !same_object(&a, &b) } {
            return Some(id.clone());
        }
    }
    None
}

/// Whether objects of different sizes are numbers, and different ones with or without a sign; of others
/// nothing is known.
fn differ_as_numbers(a: &FinalObject, b: &FinalObject) -> bool {
    let number = |o: &FinalObject| -> Option<[i128; 2]> {
        let known = !o.bytes.is_empty() && o.bytes.len() <= 8 && o.pointers.is_empty();
        let bits = known.then_some(o.bytes.len() as u32 * 8).filter(|_| !o.undefined.contains(&true))?;
        let unsigned = o.bytes.iter().rev().fold(0i128, |n, b| n << 8 | i128::from(*b));
        Some([unsigned, unsigned << (128 - bits) >> (128 - bits)])
    };
    let both = number(a).zip(number(b));
    both.is_some_and(|(a, b)| a.iter().zip(b).all(|(a, b)| *a != b))
}

/// Returns the final content of an object; a global that the run did not write has its initial one.
pub fn final_object(run: (&Program, &Outcome), id: &Identity) -> Option<FinalObject> {
    let found = run.1.left.memory.iter().find(|o| o.identity == *id).cloned();
    found.or_else(|| initial_object(run.0, id))
}

/// Returns the content of a global at a program's start.
pub fn initial_object(program: &Program, id: &Identity) -> Option<FinalObject> {
    match id {
        Identity::Global(symbol) => initial_global(program, symbol),
        _ => None,
    }
}

fn same_object(a: &FinalObject, b: &FinalObject) -> bool {
    if a.live != b.live || a.bytes.len() != b.bytes.len() {
        return false;
    }
    let flag = |o: &FinalObject, i: usize| o.undefined.get(i) == Some(&true);
    let bytes = a.bytes.iter().zip(&b.bytes).enumerate();
    let mut differing = bytes.filter(|(i, (x, y))| x != y && !flag(a, *i) && !flag(b, *i));
    if differing.next().is_some() {
        return false;
    }
    let pointers = |o: &FinalObject| -> Vec<(u64, Target)> {
        let live = o.pointers.iter().filter(|p| p.target != Target::Dangling);
        live.map(|p| (p.offset, p.target.clone())).collect()
    };
    pointers(a) == pointers(b)
}
