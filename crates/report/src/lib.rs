//! The serialisable result model and its renderers, one file a format.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

use invdiff_git::{history, store};
use invdiff_mvicfg as mvicfg;

mod age;
mod assertion;
mod change;
pub mod coverage;
pub mod escape;
pub mod filter;
pub mod finding;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod missing;
pub mod model;
pub mod note;
mod object;
pub mod palette;
mod path;
pub mod porcelain;
pub mod sarif;
pub mod steps;
mod subset;
pub mod text;
pub mod trailer;
pub mod tree;
pub mod unmarked;
pub mod unseen;
mod witness;
pub mod yaml;

pub use age::longest_kept_first;
pub use assertion::*;
pub use model::*;
pub use object::{Definitions, ObjectOutcome, ObjectReport, Readers};
pub use path::RepoPath;
pub use witness::*;
