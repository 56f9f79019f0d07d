//! How something that is to hold stands in a version: what every engine that judges says, in one type.

/// What is known of an obligation in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In all executions.
    Holds,
    /// A run shows it.
    Fails,
    Open,
}
