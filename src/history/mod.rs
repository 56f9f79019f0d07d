//! Revisions, trees, index and working tree as versions, renames and hunks.

mod tree;

pub use tree::{MemoryTree, SourceTree};
