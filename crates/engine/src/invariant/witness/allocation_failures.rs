//! Inputs on which memory runs out: the one event outside a function that its callers cannot give it
//! as an argument, and that so many fixes are about.
//!
//! They are tried where nothing else shows a difference, and only at requests that both versions
//! make at the same turn: that new code asks for memory, too, is no news of this kind.

use crate::interp::{CallResult, Input, Value};
use crate::invariant::witness::run::Run;
use crate::ir::Const;
use std::collections::BTreeMap;

/// Runs whose requests are refused, one request at a time.
const MAX_RUNS: usize = 8;
/// Requests of one function in one run.
const MAX_REQUESTS: u32 = 4;

/// Returns inputs of earlier runs with one of the requests for memory refused.
pub(in crate::invariant) fn after(runs: &[Run]) -> Vec<Input> {
    let asking = runs.iter().filter(|r| r.same_meaning && r.old.end.is_definite() && r.new.end.is_definite());
    let asking = asking.filter(|r| !r.old.heap.counts.is_empty() && !r.new.heap.counts.is_empty());
    let mut inputs = Vec::new();
    for run in asking.take(MAX_RUNS) {
        for (callee, nth) in common(run) {
            let result = Value::Const(Const::FALSE);
            let refusal = CallResult { callee: callee.into(), nth, result, errno: None, writes: Vec::new() };
            let mut input = run.input.clone();
            input.calls.push(refusal);
            inputs.push(input);
        }
    }
    inputs
}

/// The requests that both versions make at the same turn and for as much, by function and which of its
/// calls: that other requests come before is no reason to refuse other ones.
fn common(run: &Run) -> Vec<(&'static str, u32)> {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut found = Vec::new();
    for (old, new) in run.old.heap.first.iter().zip(&run.new.heap.first) {
        counts.entry(old.0).or_default().0 += 1;
        counts.entry(new.0).or_default().1 += 1;
        let (x, y) = counts.get(old.0).copied().unwrap_or_default();
        if old == new && x == y && x <= MAX_REQUESTS {
            found.push((old.0, x));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{outcome, returned};
    use crate::interp::{End, Outcome};

    fn asks(requests: &[(&'static str, u128)]) -> Outcome {
        let mut asks = returned(0);
        for (callee, size) in requests {
            *asks.heap.counts.entry(callee).or_default() += 1;
            asks.heap.first.push((callee, vec![*size]));
        }
        asks
    }

    /// Which requests are refused of those that two versions make.
    #[track_caller]
    fn check(old: &[(&'static str, u128)], new: &[(&'static str, u128)], expected: &[(&str, u32)]) {
        let inputs = after(&[Run::made(Input::default(), asks(old), asks(new))]);
        let refused: Vec<(&str, u32)> =
            inputs.iter().map(|i| (&*i.calls[0].callee, i.calls[0].nth)).collect();
        assert_eq!(refused, expected);
    }

    #[test]
    fn requests_of_both_versions_are_refused_one_at_a_time() {
        check(
            &[("malloc", 8), ("malloc", 4)],
            &[("malloc", 8), ("malloc", 4)],
            &[("malloc", 1), ("malloc", 2)],
        );
        check(
            &[("malloc", 8), ("calloc", 4)],
            &[("malloc", 8), ("calloc", 4)],
            &[("malloc", 1), ("calloc", 1)],
        );
        check(&[("malloc", 1); 6], &[("malloc", 1); 6], &[1, 2, 3, 4].map(|k| ("malloc", k)));
    }

    #[test]
    fn a_request_of_one_version_alone_is_not_refused() {
        check(&[("malloc", 8)], &[("malloc", 9)], &[]);
        check(&[("malloc", 8)], &[("calloc", 8)], &[]);
        check(&[("malloc", 8)], &[], &[]);
        check(&[("calloc", 2), ("malloc", 8)], &[("malloc", 2), ("malloc", 8)], &[]);
    }

    #[test]
    fn a_refusal_is_added_to_the_input_of_a_run_that_ends() {
        let given = Input { stdin: b"1".to_vec(), ..Input::default() };
        let both = Run::made(given, asks(&[("malloc", 8)]), asks(&[("malloc", 8)]));
        let inputs = after(std::slice::from_ref(&both));
        assert_eq!(inputs[0].stdin, b"1");
        assert_eq!(inputs[0].calls[0].result, Value::Const(Const::FALSE));
        let mut endless = both.clone();
        endless.new.end = End::Fuel;
        assert!(after(&[endless]).is_empty());
        let mut other = both;
        other.same_meaning = false;
        assert!(after(&[other]).is_empty());
        assert!(after(&[Run::made(Input::default(), outcome(End::Return), outcome(End::Return))]).is_empty());
    }
}
