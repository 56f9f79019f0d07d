//! What tests of several crates share: temporary repositories, a small source of chance, servers, and how much runs.

#![warn(missing_docs)]

mod compiler;
mod random;
mod repo;
mod scratch;
pub mod server;
pub mod tier;

pub use compiler::compiler;
pub use random::Random;
pub use repo::{Files, TempRepo};
pub use scratch::scratch;
