//! What shows it: runs of two versions on one input that tell them apart, looked for, adapted to the other
//! version, made small, chosen, and traced back to the lines that cause the difference.

pub(super) mod allocation_failures;
pub(super) mod attribution;
pub(super) mod budget;
pub(super) mod by_runs;
pub(super) mod complexity;
mod guessed;
pub(super) mod input_adaptation;
pub(super) mod inputs;
pub(super) mod reached;
pub(super) mod refuted;
pub(super) mod relaid;
pub(super) mod relaying;
pub(super) mod run;
pub(super) mod runs;
pub(super) mod search;
pub(super) mod selection;
pub(super) mod shrink;
