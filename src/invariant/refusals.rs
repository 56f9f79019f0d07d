//! Inputs on which memory runs out: the one event outside a function that its callers cannot give it
//! as an argument, and that so many fixes are about.
//!
//! They are tried where nothing else shows a difference, and only at requests that both versions
//! make: that new code asks for memory, too, is no news of this kind.

use super::runs::Run;
use crate::interp::{CallResult, Input, Value};
use crate::ir::Const;

/// Runs whose requests are refused, one request at a time.
const MAX_RUNS: usize = 8;
/// Requests of one function in one run.
const MAX_REQUESTS: u32 = 4;

/// Returns inputs of earlier runs with one of the requests for memory refused.
pub(super) fn after(runs: &[Run]) -> Vec<Input> {
    let asking = runs.iter().filter(|r| r.same_meaning && r.old.end.is_definite() && r.new.end.is_definite());
    let asking = asking.filter(|r| !r.old.allocations.is_empty() && !r.new.allocations.is_empty());
    let mut inputs = Vec::new();
    for run in asking.take(MAX_RUNS) {
        for (&callee, &count) in &run.old.allocations {
            let both = count.min(run.new.allocations.get(callee).copied().unwrap_or(0));
            inputs.extend((1..=both.min(MAX_REQUESTS)).map(|nth| {
                let result = Value::Const(Const::FALSE);
                let refusal =
                    CallResult { callee: callee.into(), nth, result, errno: None, writes: Vec::new() };
                let mut input = run.input.clone();
                input.calls.push(refusal);
                input
            }));
        }
    }
    inputs
}
