//! What candidates speak of: variables with the values that executions showed, and quantities beside them.

use crate::ir::{CType, Const, Sort, TermId};
use std::sync::Arc;

/// A variable at the point, in one class.
#[derive(Clone, Debug)]
pub struct Observed {
    pub name: String,
    pub ty: CType,
    /// Values in the executions of this class; `None` where there is none.
    pub values: Vec<Option<Const>>,
}

/// Fewest executions that may suggest a candidate.
pub const SUPPORT: usize = 8;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::invariant) enum Quantity {
    /// A parameter's value at entry.
    Parameter(Arc<str>),
    /// All of memory, for facts about elements of arrays.
    Memory,
    /// The bytes at an address that is made of what is given at entry.
    Cell { address: TermId, sort: Sort, bytes: u64, at_entry: bool },
}

/// Reads an integer as its type does.
pub fn number(c: Const, ty: &CType) -> Option<i128> {
    if ty.is_signed() { c.signed() } else { c.unsigned().map(|u| u as i128) }
}

/// Whether numbers of two types compare as they are; qualifiers and names do not matter.
pub(in crate::invariant) fn is_alike(a: &CType, b: &CType) -> bool {
    match (a, b) {
        (CType::Int { bits, signed, .. }, CType::Int { bits: b, signed: s, .. }) => (bits, signed) == (b, s),
        (CType::Pointer(_), _) => false,
        (a, b) => a == b,
    }
}

/// Whether candidates are about values of the type.
pub(in crate::invariant) fn is_countable(ty: &CType) -> bool {
    matches!(ty, CType::Int { .. } | CType::Bool | CType::Pointer(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{array, int, pointer};

    #[test]
    fn candidates_are_about_numbers_truths_and_pointers() {
        assert!(is_countable(&int()) && is_countable(&CType::Bool) && is_countable(&pointer(CType::Void)));
        assert!(!is_countable(&array(int(), 3)) && !is_countable(&CType::Void));
        assert!(!is_countable(&CType::Float(crate::ir::FloatKind::F64)));
    }
}
