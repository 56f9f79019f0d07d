//! Support of the integration tests: the same temporary repositories as the unit tests use.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

#[path = "../../src/testing/random.rs"]
mod random;
#[path = "../../src/testing/repo.rs"]
mod repo;
#[path = "../../src/testing/tier.rs"]
pub mod tier;

pub mod oracle;
pub mod schema;

pub use random::Random;
pub use repo::TempRepo;
