//! Forward symbolic execution of one function, path by path.
//!
//! A state is a node, the values of variables and memory as terms over the function's inputs, and the
//! conditions of the branches on the way (the *path condition*). At a branch the solver is asked
//! whether the path condition allows the other side than the one that the state's own model takes:
//! one query a decision, counted. Loops are followed up to a number of iterations; what lies beyond is
//! said to be left out.
//!
//! - [`Sites`]: the assertions of a function, each with its condition as a formula.
//! - [`Explorer`]: the paths of a function, and which assertions fail on some of them.
//! - [`Questions`]: what is asked of the solver, once for all explorations and runs ([`Answers`]).
//! - [`Known`]: what a path condition says without the solver.
//! - [`Impact`]: what a change may affect (DiSE); explorations can be limited to paths through it, or
//!   to the others.
//! - [`Slice`]: what may matter to some nodes; explorations pass over decisions that do not.

mod answers;
mod depend;
mod explore;
mod impact;
mod known;
mod machine;
mod order;
mod site;

pub use answers::{Answer, Answers, Asked, Entry, Questions};
pub use depend::Slice;
pub use explore::{Counts, Direction, Explorer, Finding, Limits, Manner, Suspicion, Target};
pub use impact::Impact;
pub use known::Known;
pub use site::{Region, Site, Sites, assertions_of, clauses, failing_nodes, is_failure, without};
