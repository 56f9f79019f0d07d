//! The command `git invdiff`: which facts about a C program a range of commits changed, and which
//! stayed. `ARCHITECTURE.md` describes the rooms and the way of the data through them.
//!
//! Rooms, top down; each knows only those below it. Those below `gate` are crates of their own (`crates/`).

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod cli;

pub mod config;

pub mod gate;

pub use invdiff_engine::{
    analysis, cost, count, difference, discovery, fact, fault, frontend, history, infer, instrument, interp,
    invariant, ir, mvicfg, property, quantify, report, semantics, smt, store, symex, verifier,
};

pub use invdiff_remote as remote;

#[cfg(test)]
use invdiff_testing as testing;
