//! Constants as the lines of a unit spell them: by the name of a macro, or as they are.

use super::{FileId, Unit};
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

/// An initialiser of an object, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    pub file: FileId,
    /// In the order of their offsets.
    pub values: Vec<InitialValue>,
}

/// A value in an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialValue {
    /// Where it begins in the object.
    pub offset: u64,
    /// From 1.
    pub line: u32,
    /// How it is written, if names are in it.
    pub text: Option<Arc<str>>,
}

impl Initial {
    /// The value at an offset.
    pub fn at(&self, offset: u64) -> Option<&InitialValue> {
        let end = self.values.partition_point(|v| v.offset <= offset);
        self.values.get(end.checked_sub(1)?).filter(|v| v.offset == offset)
    }
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
