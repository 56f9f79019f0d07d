//! Terms to Z3, the decision portfolio, the query cache (design D4).
//!
//! - [`Solver`]: one function's Z3, with a deterministic limit.
//! - [`Model`]: a concrete input that Z3 found.

mod context;
mod encode;
mod floats;
mod model;
mod solver;

pub use model::Model;
pub use solver::{Limits, Solver, Statistics, Verdict};

#[cfg(test)]
mod tests;
