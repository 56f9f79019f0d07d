//! Support of the integration tests: the same temporary repositories as the unit tests use.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

pub mod oracle;
pub mod schema;

pub use invdiff_testing::{Random, TempRepo, tier};
