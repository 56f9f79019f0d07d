//! From versions of C to facts, churns and verdicts. Rooms, top down; each knows only those below it.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod instrument;

pub mod analysis;

pub mod verifier;

pub mod difference;
pub mod property;

pub mod invariant;

pub mod local;

pub mod discovery;

pub mod quantify;

pub mod symex;

pub mod semantics;

pub use invdiff_c as frontend;
pub use invdiff_c::fault;
pub use invdiff_cost as cost;
pub use invdiff_count as count;
pub use invdiff_fact as fact;
pub use invdiff_git::{history, store};
pub use invdiff_infer as infer;
pub use invdiff_interp as interp;
pub use invdiff_ir as ir;
pub use invdiff_mvicfg as mvicfg;
pub use invdiff_report as report;
pub use invdiff_smt as smt;

#[cfg(test)]
mod by_hand;

#[cfg(test)]
use invdiff_testing as testing;
