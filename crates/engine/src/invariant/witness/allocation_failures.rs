//! Inputs on which memory runs out: the one event outside a function that its callers cannot give it
//! as an argument, and that so many fixes are about.
//!
//! They are tried where nothing else shows a difference, and only at requests that both versions
//! make at the same turn: that new code asks for memory, too, is no news of this kind.

use crate::interp::{CallResult, Input, Value};
use crate::invariant::witness::runs::Run;
use crate::ir::Const;
use std::collections::BTreeMap;

/// Runs whose requests are refused, one request at a time.
const MAX_RUNS: usize = 8;
/// Requests of one function in one run.
const MAX_REQUESTS: u32 = 4;

/// Returns inputs of earlier runs with one of the requests for memory refused.
pub(in crate::invariant) fn after(runs: &[Run]) -> Vec<Input> {
    let asking = runs.iter().filter(|r| r.same_meaning && r.old.end.is_definite() && r.new.end.is_definite());
    let asking = asking.filter(|r| !r.old.allocations.is_empty() && !r.new.allocations.is_empty());
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
    for (old, new) in run.old.requests.iter().zip(&run.new.requests) {
        counts.entry(old.0).or_default().0 += 1;
        counts.entry(new.0).or_default().1 += 1;
        let (x, y) = counts.get(old.0).copied().unwrap_or_default();
        if old == new && x == y && x <= MAX_REQUESTS {
            found.push((old.0, x));
        }
    }
    found
}
