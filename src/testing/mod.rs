//! What tests of several rooms share. Compiled into test builds only.

mod repo;

pub use repo::TempRepo;
