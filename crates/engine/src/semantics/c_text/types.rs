//! C types of rendered expressions, as far as conversions depend on them, and precedence.

use crate::ir::{CType, DataModel, FloatKind, Sort};
use std::sync::Arc;

/// How tightly an expression binds, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Assignment,
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// The declared name of a type, by which an enumeration's constants are found. Types of equal values are equal,
/// whatever their constants are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Enumeration(pub Option<Arc<str>>);

impl PartialEq for Enumeration {
    fn eq(&self, _: &Enumeration) -> bool {
        true
    }
}

/// Type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Int {
        bits: u16,
        signed: bool,
        /// Plain `char`: constants of it are shown as characters.
        character: bool,
        names: Enumeration,
    },
    F32,
    F64,
    F80,
    /// To this type, where known.
    Pointer(Option<CType>),
    /// A state, an aggregate, or a type that is not modelled.
    Other,
}

impl Ty {
    pub const INT: Ty = Ty::Int { bits: 32, signed: true, character: false, names: Enumeration(None) };

    pub fn int(bits: u16, signed: bool) -> Ty {
        Ty::Int { bits, signed, character: false, names: Enumeration(None) }
    }

    pub fn of(ty: &CType) -> Ty {
        match ty {
            CType::Bool => Ty::int(8, false),
            CType::Int { bits, signed, name } => Ty::Int {
                bits: *bits,
                signed: *signed,
                character: &**name == "char",
                names: Enumeration(Some(name.clone())),
            },
            CType::Float(FloatKind::F32) => Ty::F32,
            CType::Float(FloatKind::F64) => Ty::F64,
            CType::Float(FloatKind::LongDouble) => Ty::F80,
            CType::Pointer(t) | CType::Array(t, _) => Ty::Pointer(Some((**t).clone())),
            _ => Ty::Other,
        }
    }

    /// Returns the type to assume where nothing but the sort is known: signed.
    pub fn of_sort(sort: Sort) -> Ty {
        match sort {
            Sort::Bool => Ty::INT,
            Sort::Bv(bits) => Ty::int(bits, true),
            Sort::F32 => Ty::F32,
            Sort::F64 => Ty::F64,
            Sort::F80 => Ty::F80,
            _ => Ty::Other,
        }
    }

    /// Returns a pointer to a type, or an integer of the pointer's width where it is not known.
    pub fn pointer(target: Option<CType>, bits: u16) -> Ty {
        if target.is_some() { Ty::Pointer(target) } else { Ty::int(bits, false) }
    }

    pub fn is_float(&self) -> bool {
        matches!(self, Ty::F32 | Ty::F64 | Ty::F80)
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self, Ty::Pointer(_))
    }

    /// Returns width and signedness as an operand sees them, before promotion.
    pub fn integer(&self, pointer_bits: u16) -> (u16, bool) {
        match self {
            Ty::Int { bits, signed, .. } => (*bits, *signed),
            Ty::Pointer(_) => (pointer_bits, false),
            _ => (32, true),
        }
    }

    /// Integer promotion.
    pub fn promoted(&self, pointer_bits: u16) -> (u16, bool) {
        let (bits, signed) = self.integer(pointer_bits);
        if bits < 32 { (32, true) } else { (bits, signed) }
    }
}

/// Usual arithmetic conversions of two promoted integer types.
pub(super) fn usual(a: (u16, bool), b: (u16, bool)) -> (u16, bool) {
    match a.0.cmp(&b.0) {
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal => (a.0, a.1 && b.1),
    }
}

/// Returns a C spelling of an integer type, shortest first.
pub(super) fn integer_name(bits: u16, signed: bool, model: DataModel) -> String {
    let name = match (bits, signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned",
        (64, true) if model == DataModel::Lp64 => "long",
        (64, false) if model == DataModel::Lp64 => "unsigned long",
        (64, true) => "long long",
        (64, false) => "unsigned long long",
        (128, true) => "__int128",
        (128, false) => "unsigned __int128",
        // Other widths are cut by masks and shifts.
        (_, true) => "long long",
        (_, false) => "unsigned long long",
    };
    name.to_string()
}
