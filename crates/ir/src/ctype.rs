//! Types of the source language, as far as layouts and display need them.
//!
//! Analyses compute on [`super::Sort`]s; a `CType` says how a variable was declared, where the
//! fields of a record lie, and whether an integer is to be read and printed as signed.

use super::Sort;
use std::sync::Arc;

/// Index into [`super::Unit::records`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u32);

/// Real floating types of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    F32,
    F64,
    /// The x87's 80 bits.
    LongDouble,
}

/// A C type without qualifiers. `Typedef`s are resolved, but for the name kept for display.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CType {
    Void,
    Bool,
    /// Integer, enumeration or character type. `name` is how it is spelled (`unsigned char`).
    Int {
        bits: u16,
        signed: bool,
        name: Arc<str>,
    },
    Float(FloatKind),
    Pointer(Arc<CType>),
    /// `None`: unknown or variable length.
    Array(Arc<CType>, Option<u64>),
    Record(RecordId),
    /// A function type; only pointers to it are values. The text is for display.
    Function(Arc<str>),
    /// `_Complex`, `_BitInt` above 128, invented types: no value of it is a scalar. Vectors are arrays of lanes.
    Opaque {
        name: Arc<str>,
        size: u64,
    },
}

impl CType {
    /// Returns the sort of a scalar's values, `None` for aggregates, void and opaque types.
    /// `pointer_bits` is 64 under LP64 and 32 under ILP32.
    pub fn sort(&self, pointer_bits: u16) -> Option<Sort> {
        match self {
            // A `_Bool` is stored in one byte that holds 0 or 1.
            CType::Bool => Some(Sort::Bv(8)),
            CType::Int { bits, .. } => Some(Sort::Bv(*bits)),
            CType::Float(FloatKind::F32) => Some(Sort::F32),
            CType::Float(FloatKind::F64) => Some(Sort::F64),
            CType::Float(FloatKind::LongDouble) => Some(Sort::F80),
            CType::Pointer(_) => Some(Sort::Bv(pointer_bits)),
            _ => None,
        }
    }

    /// Returns whether values are read as two's complement when printed or compared.
    pub fn is_signed(&self) -> bool {
        matches!(self, CType::Int { signed: true, .. })
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self, CType::Pointer(_))
    }

    /// Returns the pointed-to type of a pointer or the element type of an array.
    pub fn target(&self) -> Option<&CType> {
        match self {
            CType::Pointer(t) | CType::Array(t, _) => Some(t),
            _ => None,
        }
    }
}

/// Layout of a `struct` or `union`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Tag, or the typedef that names it, or empty.
    pub name: Arc<str>,
    pub is_union: bool,
    /// Bytes; 0 for an incomplete record.
    pub size: u64,
    pub align: u64,
    /// In declaration order; members of anonymous records are flattened in, with their offsets.
    pub fields: Vec<Field>,
    /// Whether the layout rests on a type that was invented for an unknown name.
    pub invented: bool,
}

/// Member of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    pub name: Arc<str>,
    /// Byte offset (for a bit-field: of its storage unit).
    pub offset: u64,
    /// First bit within the storage unit and width, for bit-fields.
    pub bits: Option<(u32, u32)>,
    pub ty: CType,
}
