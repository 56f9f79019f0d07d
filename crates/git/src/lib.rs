//! Git: revisions, trees, index and working tree as versions of sources; notes and trailers.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod history;
pub mod store;

#[cfg(test)]
use invdiff_testing as testing;
