//! The logic of hooks: what blocks, what only warns.

pub mod policy;
