//! What the program keeps in a repository: notes, trailers and the cache.
//!
//! Nothing here knows what a fact is. Notes hold records whose `functions` member is opaque JSON,
//! trailers are keys and values; `report` composes both.

pub mod cache;
mod git;
pub mod grafts;
pub mod notes;
pub mod trailers;

pub use git::{Git, GitError};
