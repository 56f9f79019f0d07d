//! What a program is counted by.

/// Index of a function among those of a program that have a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(pub(crate) usize);
