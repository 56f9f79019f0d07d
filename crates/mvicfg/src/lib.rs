//! The multiversion interprocedural control-flow graph: alignment, version sets, matched points.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

#[cfg(test)]
use invdiff_c as frontend;
#[cfg(test)]
use invdiff_git::history;
use invdiff_ir as ir;

pub mod alignment;
pub mod dot;
mod flow;
mod graph;
mod id_set;
mod ids;
pub mod key;
pub mod members;
pub mod picture;
pub mod positions;

pub use flow::{ClassFlow, Flow, Loop};
pub use graph::{MvEdge, MvId, MvNode, Mvicfg};
pub use id_set::{ClassSet, IdSet, VarSet};
pub use ids::{ClassId, Id, VersionId};
