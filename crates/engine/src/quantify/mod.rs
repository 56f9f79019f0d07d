//! Shares of a function's inputs: how many end in a failure, take a branch, or behave differently after
//! a change.
//!
//! A function is executed symbolically, path by path, and the path conditions are counted over a bounded
//! domain ([`crate::count`]); a branch that no input of the domain takes is left without asking a solver.
//! Paths are disjoint, so counts add up. What is cut by a bound, rests on an unknown value, or is too
//! large to count is *grey*: neither success nor failure.
//!
//! - [`Explorer`]: the paths of one version.
//! - [`Totals`]: the counts of one version.
//! - [`Comparison`]: two versions on the same inputs, path against path.
//!
//! Signed arithmetic wraps here, as the machine's does. Source of the method: Filieri, Pasareanu and
//! Yang, "Quantification of software changes through probabilistic symbolic execution", ASE 2015.

mod compare;
mod input;
mod paths;
mod totals;

pub use compare::{Comparison, Lines, compare};
pub use input::{Candidate, candidates};
pub use paths::{End, Explored, Explorer, Limits, Path, Turn};
pub use totals::{BranchCount, Target, Totals, totals};
