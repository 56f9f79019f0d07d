//! The multiversion interprocedural control-flow graph: alignment, version sets, matched points.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

#[cfg(test)]
use invdiff_c as frontend;
#[cfg(test)]
use invdiff_git::history;
use invdiff_ir as ir;

pub mod dot;
mod flow;
mod graph;
pub mod key;
pub mod members;
pub mod picture;
pub mod positions;
mod version_set;

pub use flow::{ClassFlow, Flow, Loop};
pub use graph::{MvEdge, MvId, MvNode, Mvicfg};
pub use version_set::VersionSet;
