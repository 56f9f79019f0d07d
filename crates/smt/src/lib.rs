//! Terms to Z3, the decision portfolio, the query cache (`docs/design/solver.md`).
//!
//! - [`Decider`]: structure, then data, then Z3; what analyses ask.
//! - [`Solver`]: one function's Z3, with a deterministic limit.
//! - [`Model`]: a concrete input that Z3 found.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

use invdiff_ir as ir;

mod budget;
mod context;
mod decide;
mod encode;
mod equations;
mod floats;
mod lemmas;
mod local_search;
mod model;
mod separated;
mod solver;

pub use budget::{Allowance, Budget};
pub use decide::{Decider, Decision, Settled, Truth, is_float_heavy};
pub use model::Model;
pub use solver::{Limits, Solver, Statistics, Verdict};

#[cfg(test)]
mod tests;

/// Returns the version of the Z3 library that is linked in: results may depend on it.
pub fn z3_version() -> String {
    z3::full_version().to_string()
}
