//! Git: revisions, trees, index and working tree as versions of sources; notes and trailers.

pub mod history;
pub mod store;

#[cfg(test)]
use invdiff_testing as testing;
