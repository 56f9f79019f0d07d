//! What tests of several rooms share. Compiled into test builds only.

mod random;
mod repo;
pub mod tier;

pub use random::Random;
pub use repo::TempRepo;
