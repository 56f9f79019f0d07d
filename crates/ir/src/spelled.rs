//! Constants as the lines of a unit spell them: by the name of a macro, or as they are.

use super::Unit;
use std::sync::Arc;

/// What a constant is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Literal {
    /// The number that the tokens give by the rules of arithmetic, without a type.
    Number(i128),
    /// Bytes of a string, without the last zero.
    Text(Arc<str>),
}

/// A constant of the unit's own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// From 1.
    pub line: u32,
    pub value: Literal,
    /// The macro that it is written as; `None`: it stands there itself.
    pub name: Option<Arc<str>>,
}

impl Unit {
    /// Whether a macro stands for nothing but a value wherever the unit's file has it.
    pub fn spells_only(&self, name: &str, value: &Literal) -> bool {
        self.spelled.iter().all(|s| s.name.as_deref() != Some(name) || s.value == *value)
    }
}
