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
//! - [`Aim`]: where nothing but the target is asked, a path is left as soon as it has met it or cannot any more.
//! - [`Ways`]: for few inputs, the paths that these take, where an exploration ends in too many that none takes.
//! - [`Stretches`]: their tree; what of it another version has ([`Pairing`]) is taken over ([`Memo`]),
//!   and it is kept from run to run (`kept`).
//! - [`Totals`]: the counts of one version, path by path, or `swept` input by input where there are few inputs and
//!   paths are too large to count; [`Sampled`] what is estimated.
//! - [`tree`]: the tree of a version for people; [`Trie`] is what it is made of.
//! - [`Coverage`]: what a suite of tests covers of a version.
//! - [`Comparison`]: two versions on the same inputs, path against path; [`Agreement`] says when they differ,
//!   [`ChangeSample`] how much, where that is estimated.
//!
//! Source of the method: Filieri, Pasareanu and Yang, "Quantification of software changes through
//! probabilistic symbolic execution", ASE 2015, section IV.

mod agreement;
mod aim;
mod change_sample;
mod compare;
mod conditions;
mod guard;
mod input;
mod inputs;
mod kept;
mod memory;
mod output;
mod pairing;
mod paths;
mod sampled;
mod state;
mod stretches;
mod suite;
mod swept;
mod target;
#[cfg(test)]
mod tests;
mod text;
mod totals;
pub mod tree;
mod trie;
mod turns;
mod ways;

pub use agreement::Agreement;
pub use aim::Aim;
pub use change_sample::ChangeSample;
pub use compare::{Comparer, Comparison, Lines};
pub use guard::is_undefined;
pub use input::{Candidate, candidates, followed};
pub use inputs::{Bounded, Inputs};
pub use kept::{Keeper, Known, Nowhere, decoded, encoded, parts};
pub use output::{Atom, Output};
pub use pairing::{Code, Pairing};
pub use paths::{End, Explored, Explorer, Limits, Path, Start};
pub use sampled::Sampled;
pub use stretches::{Arrival, Memo, Stretches, Written};
pub use suite::{BranchSide, ChangeCoverage, Coverage, change_coverage, coverage, taken};
pub use target::Target;
pub use text::{LONGEST, bytes, pointers, rows};
pub use totals::{BranchCount, Grey, TOO_LARGE, Totals, totals};
pub use trie::{Trie, TrieNode};
pub use turns::{Turn, Turns};
pub use ways::Ways;
