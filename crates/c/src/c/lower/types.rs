//! Types of the checker as types of the IR.
//!
//! A *shape* says how a value of a type is held: as one scalar, as bytes in memory, or not at all.

use super::unit::UnitCx;
use crate::ir::{CType, Field, FloatKind, Record, RecordId, Sort};
use rucc_types::{ArrayLen, IntegerInfo, Qualifiers, RecordKind, TypeId, TypeKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A scalar type, as far as arithmetic on it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// `_Bool`: one byte that holds 0 or 1.
    Bool,
    Int {
        bits: u16,
        signed: bool,
    },
    F32,
    F64,
    F80,
    Pointer,
}

impl Scalar {
    pub fn sort(self, pointer_bits: u16) -> Sort {
        match self {
            Scalar::Bool => Sort::Bv(8),
            Scalar::Int { bits, .. } => Sort::Bv(bits),
            Scalar::F32 => Sort::F32,
            Scalar::F64 => Sort::F64,
            Scalar::F80 => Sort::F80,
            Scalar::Pointer => Sort::Bv(pointer_bits),
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64 | Scalar::F80)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::Int { signed: true, .. })
    }

    /// Returns the type after C's integer promotions.
    pub fn promoted(self) -> Scalar {
        match self {
            Scalar::Bool => Scalar::Int { bits: 32, signed: true },
            Scalar::Int { bits, .. } if bits < 32 => Scalar::Int { bits: 32, signed: true },
            other => other,
        }
    }
}

/// How values of a type are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Void,
    Scalar(Scalar),
    /// Struct, union or array: bytes in memory.
    Aggregate,
    /// Complex, vector, `_BitInt`: bytes that are no scalar; what is modelled of them is in [`super::parts`].
    Opaque,
    Function,
}

impl<'a> UnitCx<'a> {
    pub fn shape(&self, ty: TypeId) -> Shape {
        use rucc_types::FloatKind as F;
        match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Void => Shape::Void,
            TypeKind::Bool => Shape::Scalar(Scalar::Bool),
            TypeKind::Int(_) | TypeKind::Enum(_) => match self.integer(ty) {
                Some(IntegerInfo { signed, width }) => {
                    Shape::Scalar(Scalar::Int { bits: width as u16, signed })
                }
                // An enumeration that is never defined: compilers take `int`.
                None => Shape::Scalar(Scalar::Int { bits: 32, signed: true }),
            },
            TypeKind::BitInt { signed, width } if matches!(width, 8 | 16 | 32 | 64 | 128) => {
                Shape::Scalar(Scalar::Int { bits: width as u16, signed })
            }
            TypeKind::Float(F::Float | F::Float32) => Shape::Scalar(Scalar::F32),
            TypeKind::Float(F::Double | F::Float64 | F::Float32x) => Shape::Scalar(Scalar::F64),
            TypeKind::Float(F::LongDouble | F::Float64x) if self.has_x87() => Shape::Scalar(Scalar::F80),
            TypeKind::Pointer(_) => Shape::Scalar(Scalar::Pointer),
            TypeKind::Atomic(inner) => self.shape(inner),
            TypeKind::Array { .. } | TypeKind::Record(_) => Shape::Aggregate,
            TypeKind::Function(_) => Shape::Function,
            TypeKind::Typedef { underlying, .. } => self.shape(underlying),
            TypeKind::Float(_) | TypeKind::Complex(_) | TypeKind::BitInt { .. } | TypeKind::Vector { .. } => {
                Shape::Opaque
            }
        }
    }

    /// Whether `long double` is the x87's format here.
    fn has_x87(&self) -> bool {
        self.target.long_double_format == rucc_base::float::Format::X87Extended
    }

    fn integer(&self, ty: TypeId) -> Option<IntegerInfo> {
        rucc_types::integer_info(self.types, ty, self.target)
    }

    /// Returns the size in bytes of a complete type of constant size.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        if self.is_variable_length(ty) {
            return None;
        }
        rucc_types::layout(self.types, ty, self.target).ok().map(|l| l.size)
    }

    /// Returns the step of pointer arithmetic over `ty`, with GNU C's 1 for `void` and functions.
    pub fn stride(&self, ty: TypeId) -> Option<u64> {
        match self.shape(ty) {
            Shape::Void | Shape::Function => Some(1),
            _ => self.size_of(ty),
        }
    }

    pub fn is_variable_length(&self, ty: TypeId) -> bool {
        match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Array { len: ArrayLen::Variable(_), .. } => true,
            TypeKind::Array { elem, .. } => self.is_variable_length(elem),
            TypeKind::Record(id) => self.types.record_info(id).variable.is_some(),
            _ => false,
        }
    }

    /// Whether a type says a length that is computed, in itself or in what it points to.
    pub fn is_variably_modified(&self, ty: TypeId) -> bool {
        match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Array { len: ArrayLen::Variable(_), .. } => true,
            TypeKind::Array { elem, .. } => self.is_variably_modified(elem),
            TypeKind::Pointer(to) => self.is_variably_modified(to),
            _ => false,
        }
    }

    pub fn is_volatile(&self, ty: TypeId) -> bool {
        self.types.object_quals(ty).has(Qualifiers::VOLATILE)
    }

    /// Returns whether every part of an object of this type is `const`.
    pub fn is_const(&self, ty: TypeId) -> bool {
        let quals = self.types.object_quals(ty);
        quals.has(Qualifiers::CONST) && !quals.has(Qualifiers::VOLATILE)
    }

    /// Returns what a pointer points to, or an array's element.
    pub fn target_of(&self, ty: TypeId) -> Option<TypeId> {
        match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Pointer(t) => Some(t),
            TypeKind::Array { elem, .. } => Some(elem),
            TypeKind::Atomic(inner) => self.target_of(inner),
            _ => None,
        }
    }

    pub fn spell(&self, ty: TypeId) -> Arc<str> {
        rucc_types::spell(self.types, self.names, ty).into()
    }

    /// Returns the IR's type; cached by id.
    pub fn ctype(&mut self, ty: TypeId) -> CType {
        if let Some(known) = self.ir_types.ctypes.get(&ty) {
            return known.clone();
        }
        let made = self.make_ctype(ty);
        self.ir_types.ctypes.insert(ty, made.clone());
        made
    }

    fn make_ctype(&mut self, ty: TypeId) -> CType {
        use rucc_types::FloatKind as F;
        let canonical = self.types.canonical(ty);
        match self.types.kind(canonical) {
            TypeKind::Void => CType::Void,
            TypeKind::Bool => CType::Bool,
            TypeKind::Int(kind) => self.int_ctype(canonical, kind.as_str().into()),
            TypeKind::Enum(id) => {
                let info = self.types.enum_info(id);
                let name: Arc<str> = match (info.tag, self.ir_types.enum_names.get(&id)) {
                    (Some(tag), _) => format!("enum {}", self.names.resolve(tag)).into(),
                    (None, Some(name)) => name.clone(),
                    (None, None) => "enum".into(),
                };
                let of = |e: &rucc_types::Enumerator| (self.names.resolve(e.name).into(), e.value);
                let enumerators: Vec<(Arc<str>, i128)> = info.enumerators.iter().map(of).collect();
                // A tag of an inner block may hide another one: then the name says neither.
                match self.ir_types.enumerations.get_mut(&name) {
                    Some(known) if *known != enumerators => known.clear(),
                    Some(_) => {}
                    None if *name == *"enum" => {}
                    None => _ = self.ir_types.enumerations.insert(name.clone(), enumerators),
                }
                self.int_ctype(canonical, name)
            }
            TypeKind::BitInt { .. } if self.shape(canonical) != Shape::Opaque => {
                let name = self.spell(canonical);
                self.int_ctype(canonical, name)
            }
            TypeKind::Float(F::Float | F::Float32) => CType::Float(FloatKind::F32),
            TypeKind::Float(F::Double | F::Float64 | F::Float32x) => CType::Float(FloatKind::F64),
            TypeKind::Float(F::LongDouble | F::Float64x) if self.has_x87() => {
                CType::Float(FloatKind::LongDouble)
            }
            TypeKind::Pointer(to) => {
                let to = self.types.canonical(to);
                CType::Pointer(Arc::new(self.ctype(to)))
            }
            TypeKind::Atomic(inner) => self.ctype(inner),
            TypeKind::Array { elem, len } => {
                let len = if let ArrayLen::Fixed(n) = len { Some(n) } else { None };
                CType::Array(Arc::new(self.ctype(elem)), len)
            }
            TypeKind::Function(_) => CType::Function(self.spell(canonical)),
            TypeKind::Record(id) => match self.ir_types.record_ids.get(&id) {
                Some(&id) => CType::Record(id),
                None => CType::Opaque { name: self.spell(canonical), size: 0 },
            },
            TypeKind::Typedef { underlying, .. } => self.ctype(underlying),
            // Lanes have an array's subscripts.
            TypeKind::Vector { elem, len } if self.several(canonical).is_some() => {
                CType::Array(Arc::new(self.ctype(elem)), Some(u64::from(len)))
            }
            TypeKind::Float(_) | TypeKind::Complex(_) | TypeKind::BitInt { .. } | TypeKind::Vector { .. } => {
                let size = self.size_of(canonical).unwrap_or(0);
                CType::Opaque { name: self.spell(canonical), size }
            }
        }
    }

    fn int_ctype(&self, ty: TypeId, name: Arc<str>) -> CType {
        match self.shape(ty) {
            Shape::Scalar(Scalar::Int { bits, signed }) => CType::Int { bits, signed, name },
            _ => CType::Int { bits: 32, signed: true, name },
        }
    }

    /// Numbers all records of the unit, then fills them in: members may point back.
    pub fn lower_records(&mut self) {
        let all: Vec<rucc_types::RecordId> = self.types.records().map(|(id, _)| id).collect();
        for (i, id) in all.iter().enumerate() {
            self.ir_types.record_ids.insert(*id, RecordId(i as u32));
        }
        let names = self.record_names();
        for id in all {
            let info = self.types.record_info(id);
            let mut fields = Vec::new();
            self.flatten(id, 0, &mut fields, 0);
            let name = match (info.tag, names.get(&id)) {
                (Some(tag), _) => self.names.resolve(tag).into(),
                (None, Some(name)) => name.clone(),
                (None, None) => "".into(),
            };
            self.ir_types.records.push(Record {
                name,
                is_union: info.kind == RecordKind::Union,
                size: info.layout.map_or(0, |l| l.size),
                align: info.layout.map_or(1, |l| l.align),
                fields,
                invented: false,
            });
        }
    }

    /// Returns the first typedef of each record, which names those without a tag.
    fn record_names(&self) -> std::collections::BTreeMap<rucc_types::RecordId, Arc<str>> {
        let mut names = std::collections::BTreeMap::new();
        for alias in self.types.aliases() {
            if let TypeKind::Record(id) = self.types.kind(self.types.canonical(alias.of)) {
                names.entry(id).or_insert_with(|| self.names.resolve(alias.name).into());
            }
        }
        names
    }

    /// The enumerators of enumerations that were met and those that functions name, with or without a tag; of a name
    /// with two meanings none is known.
    pub fn enumerators(&self) -> std::collections::BTreeMap<Arc<str>, Option<i128>> {
        let named = self.tast.uses().iter().filter_map(|(_, used)| match used {
            rucc_sema::Used::Type(ty) => Some(self.types.kind(self.types.canonical(*ty))),
            _ => None,
        });
        let named = named.filter_map(|kind| if let TypeKind::Enum(id) = kind { Some(id) } else { None });
        // Of a large enumeration each use would list all of it.
        let named: BTreeSet<rucc_types::EnumId> = named.collect();
        let all = named.into_iter().flat_map(|id| &self.types.enum_info(id).enumerators);
        let all = all.map(|e| (Arc::from(self.names.resolve(e.name)), e.value));
        let mut found = std::collections::BTreeMap::new();
        for (name, value) in all.chain(self.ir_types.enumerations.values().flatten().cloned()) {
            let known = found.entry(name).or_insert(Some(value));
            *known = known.filter(|k| *k == value);
        }
        found
    }

    /// What typedefs stand for in words of which none is a typedef. A name with two meanings stands for neither, and
    /// one that says more than a type (an alignment) for itself.
    pub fn typedefs(&self) -> std::collections::BTreeMap<Arc<str>, Arc<str>> {
        let mut found = std::collections::BTreeMap::new();
        for alias in self.types.aliases() {
            let name: Arc<str> = self.names.resolve(alias.name).into();
            let meaning = self.spell(self.types.canonical(alias.of));
            // What is made of words and stars means the same wherever it stands.
            let is_plain = meaning.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '*'));
            let is_other = found.get(&name).is_some_and(|known| *known != meaning);
            let is_type = is_plain && !is_other && !self.types.is_sugar(alias.of);
            let meaning = if is_type { meaning } else { name.clone() };
            found.insert(name, meaning);
        }
        found
    }

    /// The first typedef of each enumeration, which names those without a tag.
    pub fn enumeration_names(&self) -> std::collections::BTreeMap<rucc_types::EnumId, Arc<str>> {
        let mut names = std::collections::BTreeMap::new();
        for alias in self.types.aliases() {
            if let TypeKind::Enum(id) = self.types.kind(self.types.canonical(alias.of)) {
                names.entry(id).or_insert_with(|| self.names.resolve(alias.name).into());
            }
        }
        names
    }

    fn flatten(&mut self, id: rucc_types::RecordId, base: u64, out: &mut Vec<Field>, depth: u32) {
        let types = self.types;
        for field in &types.record_info(id).fields {
            let inner = types.kind(types.canonical(field.ty));
            match (field.name, inner) {
                (None, TypeKind::Record(inner)) if depth < 64 => {
                    self.flatten(inner, base + field.offset, out, depth + 1);
                }
                (None, _) => {}
                (Some(name), _) => {
                    let ty = self.ctype(field.ty);
                    let unit = self.bit_unit(id, field);
                    out.push(Field {
                        name: self.names.resolve(name).into(),
                        offset: base + unit.map_or(field.offset, |u| u.offset),
                        bits: unit.map(|u| (u.low as u32, u.width as u32)),
                        ty,
                    });
                }
            }
        }
    }

    /// Returns where a bit-field lies, `None` for an ordinary member.
    ///
    /// The storage unit is the aligned object of the declared type that the System V layout put the
    /// field into, so that neighbours share one unit; where that unit would reach into a member
    /// that is no bit-field or past the record's end, it is the fewest bytes that hold the field.
    pub fn bit_unit(&self, id: rucc_types::RecordId, field: &rucc_types::Field) -> Option<BitUnit> {
        let width = u64::from(field.bits?);
        let first = field.offset * 8 + u64::from(field.bit);
        let declared = self.size_of(field.ty).unwrap_or(4).max(1);
        let start = first / (declared * 8) * declared;
        let fits = first + width <= (start + declared) * 8;
        let (offset, bytes) = if fits && self.only_bit_fields(id, start, start + declared) {
            (start, declared)
        } else {
            (field.offset, (u64::from(field.bit) + width).div_ceil(8).max(1))
        };
        Some(BitUnit { offset, bytes, low: (first - offset * 8) as u16, width: width as u16 })
    }

    fn only_bit_fields(&self, id: rucc_types::RecordId, start: u64, end: u64) -> bool {
        let info = self.types.record_info(id);
        let in_record = info.layout.is_some_and(|l| end <= l.size);
        in_record
            && (info.kind == RecordKind::Union
                || info.fields.iter().filter(|f| f.bits.is_none()).all(|f| {
                    let size = self.size_of(f.ty).unwrap_or(0);
                    f.offset >= end || f.offset + size <= start
                }))
    }
}

/// Place of a bit-field within its record.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitUnit {
    /// Byte offset of the storage unit and its length.
    pub offset: u64,
    pub bytes: u64,
    /// First bit in the unit, and number of bits.
    pub low: u16,
    pub width: u16,
}
