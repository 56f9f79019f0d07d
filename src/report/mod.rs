//! The serialisable result model and its renderers, one file a format.

pub mod escape;
pub mod model;
mod path;

pub use model::*;
pub use path::RepoPath;
