//! The serialisable result model and its renderers, one file a format.

mod assertion;
pub mod escape;
pub mod model;
pub mod palette;
mod path;

pub use assertion::*;
pub use model::*;
pub use path::RepoPath;
