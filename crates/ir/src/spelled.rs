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
    /// It stands in the expansion of another macro.
    pub is_inner: bool,
}

/// An enumerator, a character or a macro that the unit's own file compares something with, or gives it to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// From 1.
    pub line: u32,
    /// What stands on the other side, without blanks.
    pub operand: Arc<str>,
    pub value: i128,
    pub name: Arc<str>,
}

impl Unit {
    /// Whether a name stands for nothing but a number, if it is an enumerator.
    pub fn enumerates_only(&self, name: &str, value: i128) -> bool {
        self.written.enumerators.get(name).is_none_or(|known| *known == Some(value))
    }

    /// Whether a macro stands for nothing but a value wherever the unit's file has it.
    pub fn spells_only(&self, name: &str, value: &Literal) -> bool {
        self.written.spelled.iter().all(|s| s.name.as_deref() != Some(name) || s.value == *value)
    }
}
