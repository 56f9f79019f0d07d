//! Shares of a function's inputs: how many end in a failure, take a branch, or behave differently after
//! a change.
//!
//! A function is executed symbolically, path by path, and the path conditions are counted over a bounded
//! domain ([`crate::count`]); a branch that no input of the domain takes is left without asking a solver.
//! Paths are disjoint, so counts add up. What is cut by a bound, rests on an unknown value, does something
//! that C leaves undefined (signed overflow among it), or is too large to count is *grey*: neither success
//! nor failure. Of what is too large to count, shares are estimated besides.
//!
//! - [`Explorer`]: the paths of one version; `state` and `memory` are where a path is, `guard` says when an
//!   operation is undefined, `output` what is printed.
//! - [`Totals`]: the counts of one version, and [`Sampled`] what is estimated.
//! - [`Comparison`]: two versions on the same inputs, path against path.
//!
//! Source of the method: Filieri, Pasareanu and Yang, "Quantification of software changes through
//! probabilistic symbolic execution", ASE 2015, section IV.

mod compare;
mod guard;
mod input;
mod inputs;
mod memory;
mod output;
mod paths;
mod sampled;
mod state;
mod totals;
mod turns;

pub use compare::{Comparer, Comparison, Lines};
pub use guard::is_undefined;
pub use input::{Candidate, candidates, followed};
pub use inputs::{Bounded, Inputs};
pub use output::{Atom, Output};
pub use paths::{End, Explored, Explorer, Limits, Path, Start};
pub use sampled::Sampled;
pub use totals::{BranchCount, Grey, Target, Totals, totals};
pub use turns::{Turn, Turns};
