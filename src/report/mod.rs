//! The serialisable result model and its renderers, one file a format.

mod assertion;
pub mod escape;
pub mod model;
pub mod note;
pub mod palette;
mod path;
pub mod text;
pub mod trailer;

pub use assertion::*;
pub use model::*;
pub use path::RepoPath;
