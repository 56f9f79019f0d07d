//! Concrete interpreter of the IR: it replays witnesses, collects traces for candidate invariants,
//! and is the oracle's other half in tests against compiled programs.
//!
//! Semantics are the machine's (`docs/design/machine-semantics.md`): integers wrap at their width,
//! floats are IEEE, memory is bytes in objects with bounds, lifetimes and per-byte initialisation.
//! Whatever C leaves undefined and a real machine does not settle ends the run with the event and its
//! line, never with a guess.
//!
//! - [`Program`]: linked units. Functions are resolved once, on first use ([`resolve`]).
//! - [`Input`]: everything a run depends on; printable as the contract's WITNESS.
//! - [`run`], [`run_traced`]: one execution; [`Outcome`] is all that can be observed of it.
//! - [`run_pair`], [`compare`]: whether two versions differ in an observable on one input.
//! - [`Generator`]: endless deterministic inputs for a function or a `main` that reads stdin; [`Guided`]:
//!   inputs that go on from those that took new ways, as [`run_with_coverage`] tells.
//!
//! No call of the interpreted program recurses in the interpreter, so deep recursion in C is only a
//! limit ([`Limits::depth`]); callbacks of `qsort` and `bsearch` are the exception, and are bounded.
//! `longjmp` goes back to the frame of its `setjmp`, out of callbacks too ([`jump`]).

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

#[cfg(test)]
use invdiff_c as frontend;
#[cfg(test)]
use invdiff_git::history;
use invdiff_ir as ir;
#[cfg(test)]
use invdiff_testing as testing;

mod addresses;
mod arrays;
mod calls;
mod code;
mod compare;
mod coverage;
mod demanded_bits;
mod eval;
mod final_state;
mod following;
pub mod format;
pub mod generate;
mod hooks;
mod ids;
mod input;
mod jump;
mod left;
mod library;
mod machine;
mod magnitude;
mod memory;
mod outcome;
mod own;
mod pair;
mod program;
mod rand;
mod register;
mod resolve;
mod run;
mod step;
mod stop;
mod streams;
mod watch;
mod word;

pub use compare::{
    Comparison, Difference, compare, final_object, initial_object, memory_difference, same_errors,
    same_result,
};
pub use coverage::{Compared, CoverageMap, Edge, Operand, Origin};
pub use final_state::initial_global;
pub use generate::{Generator, Guided, Lead, Standing, StdinPlan, mended};
pub use ids::DefinitionId;
pub use input::{CallResult, CallWrite, Input, LONG_FUEL, Limits, ObjectId, ObjectInit, Storage, Value};
pub use outcome::{
    Assumed, AssumedCall, End, Ending, FinalObject, FinalPointer, FinalState, HeapRequests, Identity,
    Outcome, Output, Portability, SourceLocation, StandardInput, Target,
};
pub use pair::{Pair, run_pair};
pub use program::Program;
pub use run::{run, run_traced, run_with_coverage};
pub use step::Observation;
pub use watch::{CallSite, Watched, WatchedCall, run_watching};

/// Whether a function of this name is known as one of the library, also under its `__builtin_` name.
pub fn is_library(name: &str) -> bool {
    library::find(name).is_some()
}

/// Whether a function that has no model makes a stream whose content only the program determines: runs
/// follow it.
pub fn makes_streams(name: &str) -> bool {
    library::MAKERS.contains(&name)
}

/// Whether a function that has no model is followed where it concerns such a stream.
pub fn asks_streams(name: &str) -> bool {
    library::ASKED.contains(&name)
}

#[cfg(test)]
mod tests;
