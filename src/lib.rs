//! The engine of `git invdiff`: which facts about a C program a range of commits changed, and which
//! stayed. `ARCHITECTURE.md` describes the rooms and the way of the data through them.
//!
//! Rooms, top down; each knows only those below it.

pub mod cli;

pub mod config;

pub mod instrument;

pub mod analysis;

pub mod gate;
pub mod report;

pub mod verifier;

pub mod difference;
pub mod property;

pub mod invariant;

pub mod symex;

pub mod semantics;

pub mod interp;
pub mod smt;

pub mod mvicfg;

pub mod frontend;

pub mod ir;

pub mod history;
pub mod store;

pub mod fault;

#[cfg(test)]
pub mod testing;
