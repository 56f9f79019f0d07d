//! What the inputs of a function are counted for.

use std::collections::BTreeSet;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An assertion fails, or the program aborts.
    Assertion,
    /// The function returns this number.
    Return(i128),
    /// One of these lines of the function's file is reached.
    Lines(BTreeSet<u32>),
    /// A condition on one of these lines is true at least once.
    Branch(BTreeSet<u32>),
}
