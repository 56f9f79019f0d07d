//! The C front end: preprocess, parse and type-check one file of a [`crate::history::SourceTree`],
//! then lower it to [`crate::ir`].
//!
//! The `rucc-*` crates do the first three steps. They promise no stable interface, so nothing
//! outside this folder names one of their types, and their versions are pinned.

pub mod annotations;
pub mod child;
pub mod compdb;
pub mod coverage;
pub mod declared;
pub mod extents;
mod files;
pub mod guard;
pub mod header;
pub mod headers;
pub mod honesty;
pub mod lines;
pub mod lower;
pub mod outline;
pub mod parse;
pub mod platform;
pub mod preprocessed;
mod reading;
pub(crate) mod retry;
pub mod scan;
pub mod slice;
pub mod statics;
mod survey;
mod template;

pub use files::{copy_of, is_alike};
pub use guard::Rejected;
pub use parse::{FileOptions, Options};
