//! Facts as people write them ([`crate::parser`]) as terms, with C's promotions and conversions.
//!
//! What a name stands for is the [`Scope`]'s matter: a state of the symbolic analysis, or the end of
//! one concrete run, where every value is a constant and the term folds to the answer. So both mean
//! the same by a fact.
//!
//! Sources: C17 6.3.1 (conversions), 6.5 (expressions). A name is the value at the point; `\old(e)`
//! is `e` at the function's entry.

use crate::ir::{CType, Const, Field, FloatKind, Op, Rounding, Sort, TermId, TermPool, Unit};
use crate::syntax::{Binary, Expression, Integer, Kind, TypeName, Unary};
use std::cmp::Ordering;

/// The state in which an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the function's entry (`\old`).
    Entry,
    /// At the fact's point.
    Here,
}

/// A scalar with its type. The sort may be `Bool` where the type is `int`.
#[derive(Clone, Debug)]
pub struct Typed {
    pub term: TermId,
    pub ty: CType,
}

/// What names stand for at a point. `None`: there is no such thing, or its value is not known.
pub trait Scope {
    fn pool(&mut self) -> &mut TermPool;
    fn unit(&self) -> &Unit;
    /// Value of a scalar variable or parameter.
    fn variable(&mut self, name: &str, when: When) -> Option<Typed>;
    /// Address of an object with static storage, and its type.
    fn object(&mut self, name: &str) -> Option<Typed>;
    /// Value that the function returns.
    fn result(&mut self) -> Option<Typed>;
    /// Value of the `k`-th successful conversion from standard input, from 1.
    fn input(&mut self, k: u64) -> Option<Typed>;
    /// The bytes at an address, as a value of this sort.
    fn load(&mut self, addr: TermId, sort: Sort, bytes: u64, when: When) -> Option<TermId>;
    /// The length of the text at an address, as wide as a pointer; `None` where that is not known.
    fn length(&mut self, _addr: TermId, _when: When) -> Option<TermId> {
        None
    }
}

/// Why an expression has no term in a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Untranslated(pub String);

type Result<T> = std::result::Result<T, Untranslated>;

/// Returns the condition as a term of sort `Bool`.
///
/// Errors: a name that the scope does not know, or an operation that is not modelled.
pub fn condition(fact: &Expression, scope: &mut dyn Scope) -> Result<TermId> {
    let mut translation = Translation { scope, when: When::Here };
    let value = translation.value(fact)?;
    translation.truth(&value)
}

/// Returns what an expression stands for that calls take as an argument of this type, at the function's entry: its
/// value, or its address, where the argument is a pointer to a place of its type.
///
/// Errors: as of [`condition`].
pub fn referent(e: &Expression, taken_as: Option<&CType>, scope: &mut dyn Scope) -> Result<TermId> {
    let mut translation = Translation { scope, when: When::Entry };
    let inner = if let Kind::Old(inner) = &e.kind { inner } else { e };
    let place = translation.place(inner);
    let is_pointed_to = |ty: &CType| match (taken_as, ty) {
        (_, CType::Record(_)) => true,
        (Some(CType::Pointer(to)), CType::Pointer(_)) => **to == *ty,
        (Some(CType::Pointer(_)), ty) => !matches!(ty, CType::Array(..)),
        _ => false,
    };
    match place {
        Ok(place) if is_pointed_to(&place.ty) => Ok(place.addr),
        _ => translation.value(inner).map(|v| v.term),
    }
}

struct Translation<'s> {
    scope: &'s mut dyn Scope,
    when: When,
}

/// Something that lies in memory.
struct MemoryLvalue {
    addr: TermId,
    ty: CType,
    field: Option<(u32, u32)>,
}

fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(Untranslated(what.into()))
}

fn integer(bits: u16, signed: bool) -> CType {
    CType::Int { bits, signed, name: "".into() }
}

/// Which half of a complex number a function of the C library gives: its type, and whether it is the imaginary one.
fn half_of_complex(name: &str) -> Option<(FloatKind, bool)> {
    let (suffix, is_second) = match (name.strip_prefix("creal"), name.strip_prefix("cimag")) {
        (Some(suffix), _) => (suffix, false),
        (_, suffix) => (suffix?, true),
    };
    let kind = match suffix {
        "" => FloatKind::F64,
        "f" => FloatKind::F32,
        "l" => FloatKind::LongDouble,
        _ => return None,
    };
    Some((kind, is_second))
}

fn is_float(ty: &CType) -> bool {
    matches!(ty, CType::Float(_))
}

impl Translation<'_> {
    fn op(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.scope.pool().op(op, args)
    }

    fn pointer_bits(&self) -> u16 {
        self.scope.unit().data_model.pointer_bits()
    }

    fn value(&mut self, e: &Expression) -> Result<Typed> {
        match &e.kind {
            Kind::Integer(i) => Ok(self.integer(i)),
            Kind::Character(c) => Ok(self.constant(Const::bv(32, i128::from(*c)), integer(32, true))),
            Kind::Float(c @ Const::F32(_)) => Ok(self.constant(*c, CType::Float(FloatKind::F32))),
            Kind::Float(c @ Const::F80(_)) => Ok(self.constant(*c, CType::Float(FloatKind::LongDouble))),
            Kind::Float(c) => Ok(self.constant(*c, CType::Float(FloatKind::F64))),
            Kind::Name(name) => self.name(name, e),
            Kind::Result => {
                self.scope.result().ok_or_else(|| Untranslated("no value of '\\result' here".into()))
            }
            Kind::Old(inner) => {
                let outer = std::mem::replace(&mut self.when, When::Entry);
                let value = self.value(inner);
                self.when = outer;
                value
            }
            Kind::Text(_) => unsupported("strings are not compared"),
            Kind::CallThrough(..) => unsupported("calls through pointers are not supported"),
            Kind::ForAll(..) => unsupported("'\\forall' is not supported"),
            Kind::At(..) => unsupported("'\\at' is not supported; '\\old' is"),
            Kind::Input(k) => {
                let k = *k;
                self.scope.input(k).ok_or_else(|| Untranslated(format!("no value of '\\input({k})' here")))
            }
            Kind::Unary(op, inner) => self.unary(*op, inner),
            Kind::Binary(op, a, b) => self.binary(*op, a, b),
            Kind::Conditional(c, a, b) => {
                let c = self.value(c)?;
                let (c, a, b) = (self.truth(&c)?, self.value(a)?, self.value(b)?);
                let (a, b, ty) = self.balanced(&a, &b)?;
                Ok(Typed { term: self.op(Op::Ite, &[c, a, b]), ty })
            }
            Kind::Call(name, args) => self.call(name, args),
            Kind::Index(..) | Kind::Member { .. } => {
                let place = self.place(e)?;
                self.read(place)
            }
            Kind::Cast(name, inner) => {
                let ty = self.type_of(name)?;
                let value = self.value(inner)?;
                let term = self.convert(&value, &ty)?;
                Ok(Typed { term, ty })
            }
        }
    }

    fn constant(&mut self, c: Const, ty: CType) -> Typed {
        Typed { term: self.scope.pool().constant(c), ty }
    }

    /// The first type that fits, in the order of C17 6.4.4.1.
    fn integer(&mut self, i: &Integer) -> Typed {
        let long = if self.pointer_bits() == 64 { 64 } else { 32 };
        let least = match i.longs {
            0 => 32,
            1 => long,
            _ => 64,
        };
        let fits = |bits: u16, signed: bool| i.value <= u64::MAX >> (64 - bits + u16::from(signed));
        let candidates = [(32, true), (32, false), (64, true), (64, false)];
        let allowed = |&(bits, signed): &(u16, bool)| {
            let unsigned_too = i.unsigned || i.hexadecimal;
            bits >= least && (signed != i.unsigned) && (signed || unsigned_too) && fits(bits, signed)
        };
        let (bits, signed) = candidates.into_iter().find(allowed).unwrap_or((64, false));
        self.constant(Const::bv(bits, i128::from(i.value)), integer(bits, signed))
    }

    fn name(&mut self, name: &str, e: &Expression) -> Result<Typed> {
        if let Some(value) = self.scope.variable(name, self.when) {
            return Ok(value);
        }
        let limit = |bits: u16, signed: bool, max: bool| -> (Const, CType) {
            let value = match (signed, max) {
                (true, true) => i128::from(i64::MAX >> (64 - bits)),
                (true, false) => i128::from(i64::MIN >> (64 - bits)),
                (false, _) => i128::from(u64::MAX >> (64 - bits)),
            };
            (Const::bv(bits, value), integer(bits, signed))
        };
        let wide = self.pointer_bits();
        let known = match name {
            "NULL" => (Const::bv(wide, 0), CType::Pointer(CType::Void.into())),
            "true" => (Const::bv(32, 1), integer(32, true)),
            "false" => (Const::bv(32, 0), integer(32, true)),
            "INT_MAX" => limit(32, true, true),
            "INT_MIN" => limit(32, true, false),
            "UINT_MAX" => limit(32, false, true),
            "LONG_MAX" => limit(wide, true, true),
            "LONG_MIN" => limit(wide, true, false),
            "ULONG_MAX" | "SIZE_MAX" => limit(wide, false, true),
            "INFINITY" => (Const::f32(f32::INFINITY), CType::Float(FloatKind::F32)),
            "NAN" => (Const::f32(f32::NAN), CType::Float(FloatKind::F32)),
            _ => {
                let place = self.place(e)?;
                return self.read(place);
            }
        };
        Ok(self.constant(known.0, known.1))
    }

    fn place(&mut self, e: &Expression) -> Result<MemoryLvalue> {
        match &e.kind {
            Kind::Name(name) => match self.scope.object(name) {
                Some(Typed { term, ty }) => Ok(MemoryLvalue { addr: term, ty, field: None }),
                None => unsupported(format!("no value of '{name}' here")),
            },
            Kind::Unary(Unary::Dereference, pointer) => {
                let pointer = self.value(pointer)?;
                self.target(&pointer)
            }
            Kind::Index(base, index) => {
                let (base, index) = (self.value(base)?, self.value(index)?);
                let sum = if base.ty.is_pointer() {
                    self.offset(&base, &index, Op::Add)
                } else {
                    self.offset(&index, &base, Op::Add)
                }?;
                self.target(&sum)
            }
            Kind::Member { base, name, arrow } => {
                let whole = if *arrow {
                    let pointer = self.value(base)?;
                    self.target(&pointer)?
                } else {
                    self.place(base)?
                };
                let CType::Record(id) = whole.ty else {
                    return unsupported(format!("'{name}' is asked of something that has no members"));
                };
                let record = self.scope.unit().records.get(id.0 as usize);
                let field = record.and_then(|r| r.fields.iter().find(|f| *f.name == **name)).cloned();
                let Some(Field { offset, bits, ty, .. }) = field else {
                    return unsupported(format!("no member '{name}' here"));
                };
                let wide = self.pointer_bits();
                let offset = self.scope.pool().bv(wide, i128::from(offset));
                Ok(MemoryLvalue { addr: self.op(Op::Add, &[whole.addr, offset]), ty, field: bits })
            }
            _ => unsupported("an address of something that has none"),
        }
    }

    fn target(&mut self, pointer: &Typed) -> Result<MemoryLvalue> {
        match &pointer.ty {
            CType::Pointer(t) => Ok(MemoryLvalue { addr: pointer.term, ty: (**t).clone(), field: None }),
            _ => unsupported("only pointers can be followed"),
        }
    }

    /// Reads a place; an array is the address of its first element.
    fn read(&mut self, place: MemoryLvalue) -> Result<Typed> {
        if let CType::Array(element, _) = &place.ty {
            return Ok(Typed { term: place.addr, ty: CType::Pointer(element.clone()) });
        }
        let (Some(sort), Some(bytes)) =
            (place.ty.sort(self.pointer_bits()), self.scope.unit().value_bytes(&place.ty))
        else {
            return unsupported("an aggregate is no value of a fact");
        };
        let Some(term) = self.scope.load(place.addr, sort, bytes, self.when) else {
            return unsupported("the memory that it speaks of is not known");
        };
        let Some((start, width)) = place.field else { return Ok(Typed { term, ty: place.ty }) };
        let unit = sort.bits().unwrap_or(32);
        let (Ok(start), Ok(width)) = (u16::try_from(start), u16::try_from(width)) else {
            return unsupported("a bit-field of this width");
        };
        if width == 0 || start + width > unit {
            return unsupported("a bit-field of this width");
        }
        let count = self.scope.pool().bv(unit, i128::from(start));
        let mut term = self.op(Op::LShr, &[term, count]);
        if width < unit {
            term = self.op(Op::Trunc(width), &[term]);
            term = self.op(if place.ty.is_signed() { Op::Sext(unit) } else { Op::Zext(unit) }, &[term]);
        }
        Ok(Typed { term, ty: place.ty })
    }

    fn truth(&mut self, v: &Typed) -> Result<TermId> {
        let sort = self.scope.pool().sort(v.term);
        if sort == Sort::Bool {
            return Ok(v.term);
        }
        let Some(zero) = Const::zero(sort) else { return unsupported("no truth value") };
        let zero = self.scope.pool().constant(zero);
        let equal = self.op(if sort.is_float() { Op::FEq } else { Op::Eq }, &[v.term, zero]);
        Ok(self.scope.pool().not(equal))
    }

    /// The value as a word or a float, never as a truth value.
    fn word(&mut self, v: &Typed) -> Typed {
        if self.scope.pool().sort(v.term) != Sort::Bool {
            return v.clone();
        }
        let (one, zero) = (self.scope.pool().bv(32, 1), self.scope.pool().bv(32, 0));
        Typed { term: self.op(Op::Ite, &[v.term, one, zero]), ty: integer(32, true) }
    }

    fn promoted(&mut self, v: &Typed) -> Result<Typed> {
        let v = self.word(v);
        match v.ty {
            CType::Bool => self.converted(&v, integer(32, true)),
            CType::Int { bits, .. } if bits < 32 => self.converted(&v, integer(32, true)),
            _ => Ok(v),
        }
    }

    fn converted(&mut self, v: &Typed, ty: CType) -> Result<Typed> {
        Ok(Typed { term: self.convert(v, &ty)?, ty })
    }

    /// Converts between scalar types.
    fn convert(&mut self, v: &Typed, to: &CType) -> Result<TermId> {
        if *to == CType::Bool {
            let truth = self.truth(v)?;
            let (one, zero) = (self.scope.pool().bv(8, 1), self.scope.pool().bv(8, 0));
            return Ok(self.op(Op::Ite, &[truth, one, zero]));
        }
        let v = self.word(v);
        let from = self.scope.pool().sort(v.term);
        let Some(target) = to.sort(self.pointer_bits()) else {
            return unsupported("a conversion to a type that is not modelled");
        };
        let signed = v.ty.is_signed();
        let op = match (from, target) {
            (a, b) if a == b => return Ok(v.term),
            (Sort::Bv(a), Sort::Bv(b)) => match a.cmp(&b) {
                Ordering::Equal => return Ok(v.term),
                Ordering::Greater => Op::Trunc(b),
                Ordering::Less if signed => Op::Sext(b),
                Ordering::Less => Op::Zext(b),
            },
            (Sort::Bv(_), s) if signed => Op::SToF(s),
            (Sort::Bv(_), s) => Op::UToF(s),
            (Sort::F32 | Sort::F64 | Sort::F80, Sort::Bv(w)) if to.is_signed() => Op::FToS(w),
            (Sort::F32 | Sort::F64 | Sort::F80, Sort::Bv(w)) => Op::FToU(w),
            (Sort::F32 | Sort::F64 | Sort::F80, s) => Op::FToF(s),
            _ => return unsupported("a conversion that is not modelled"),
        };
        Ok(self.op(op, &[v.term]))
    }

    /// Usual arithmetic conversions; pointers are compared as they are.
    fn balanced(&mut self, a: &Typed, b: &Typed) -> Result<(TermId, TermId, CType)> {
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        let ty = match (&a.ty, &b.ty) {
            (CType::Float(x), CType::Float(y)) => {
                let wider = |kind| *x == kind || *y == kind;
                let kinds = [FloatKind::LongDouble, FloatKind::F64];
                CType::Float(kinds.into_iter().find(|k| wider(*k)).unwrap_or(FloatKind::F32))
            }
            (CType::Float(_), _) => a.ty.clone(),
            (_, CType::Float(_)) => b.ty.clone(),
            (CType::Pointer(_), _) => a.ty.clone(),
            (_, CType::Pointer(_)) => b.ty.clone(),
            (CType::Int { bits: x, signed: s, .. }, CType::Int { bits: y, signed: t, .. }) => {
                match x.cmp(y) {
                    Ordering::Greater => a.ty.clone(),
                    Ordering::Less => b.ty.clone(),
                    Ordering::Equal => integer(*x, *s && *t),
                }
            }
            _ => return unsupported("operands of types that are not modelled"),
        };
        Ok((self.convert(&a, &ty)?, self.convert(&b, &ty)?, ty))
    }

    fn unary(&mut self, op: Unary, inner: &Expression) -> Result<Typed> {
        match op {
            Unary::Dereference => {
                let pointer = self.value(inner)?;
                let place = self.target(&pointer)?;
                self.read(place)
            }
            Unary::AddressOf => {
                let place = self.place(inner)?;
                Ok(Typed { term: place.addr, ty: CType::Pointer(place.ty.into()) })
            }
            Unary::Not => {
                let v = self.value(inner)?;
                let truth = self.truth(&v)?;
                Ok(Typed { term: self.scope.pool().not(truth), ty: integer(32, true) })
            }
            Unary::Plus | Unary::Minus | Unary::BitNot => {
                let v = self.value(inner)?;
                let v = self.promoted(&v)?;
                let op = match op {
                    Unary::Plus => return Ok(v),
                    Unary::Minus if is_float(&v.ty) => Op::FNeg,
                    Unary::Minus => Op::Neg,
                    _ if is_float(&v.ty) => return unsupported("'~' of a float"),
                    _ => Op::BitNot,
                };
                Ok(Typed { term: self.op(op, &[v.term]), ty: v.ty })
            }
        }
    }

    fn binary(&mut self, op: Binary, a: &Expression, b: &Expression) -> Result<Typed> {
        use Binary::*;
        let int = integer(32, true);
        if matches!(op, Implies | Or | And) {
            let a = self.value(a)?;
            let a = self.truth(&a)?;
            // What the left side settles needs no right side: `p != NULL && p->n > 0`.
            let settled = self.scope.pool().as_const(a).and_then(Const::as_bool);
            if let Some(known) = settled.filter(|known| (op == Or) == *known) {
                return Ok(Typed { term: self.scope.pool().bool(known != (op == Implies)), ty: int });
            }
            let b = self.value(b)?;
            let b = self.truth(&b)?;
            let term = match op {
                And => self.op(Op::And, &[a, b]),
                Or => self.op(Op::Or, &[a, b]),
                _ => {
                    let not = self.scope.pool().not(a);
                    self.op(Op::Or, &[not, b])
                }
            };
            return Ok(Typed { term, ty: int });
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        if matches!(op, Add | Sub) && (a.ty.is_pointer() || b.ty.is_pointer()) {
            return match (op, a.ty.is_pointer(), b.ty.is_pointer()) {
                (Sub, true, true) => self.distance(&a, &b),
                (Add, false, true) => self.offset(&b, &a, Op::Add),
                (_, true, false) => self.offset(&a, &b, if op == Add { Op::Add } else { Op::Sub }),
                _ => unsupported("arithmetic of two pointers"),
            };
        }
        if matches!(op, Shl | Shr) {
            let (a, b) = (self.promoted(&a)?, self.promoted(&b)?);
            let count = self.convert(&b, &a.ty)?;
            let op = match op {
                Shl => Op::Shl,
                _ if a.ty.is_signed() => Op::AShr,
                _ => Op::LShr,
            };
            return Ok(Typed { term: self.op(op, &[a.term, count]), ty: a.ty });
        }
        let (x, y, ty) = self.balanced(&a, &b)?;
        if let Some(term) = self.comparison(op, x, y, &ty) {
            return Ok(Typed { term, ty: int });
        }
        let (float, signed) = (is_float(&ty), ty.is_signed());
        let op = match op {
            Add if float => Op::FAdd,
            Sub if float => Op::FSub,
            Mul if float => Op::FMul,
            Div if float => Op::FDiv,
            _ if float || ty.is_pointer() => return unsupported("operands of this type"),
            Add => Op::Add,
            Sub => Op::Sub,
            Mul => Op::Mul,
            Div if signed => Op::SDiv,
            Div => Op::UDiv,
            Rem if signed => Op::SRem,
            Rem => Op::URem,
            BitAnd => Op::BitAnd,
            BitOr => Op::BitOr,
            _ => Op::BitXor,
        };
        Ok(Typed { term: self.op(op, &[x, y]), ty })
    }

    fn comparison(&mut self, op: Binary, x: TermId, y: TermId, ty: &CType) -> Option<TermId> {
        let (equal, less, less_eq) = match (is_float(ty), ty.is_signed()) {
            (true, _) => (Op::FEq, Op::FLt, Op::FLe),
            (_, true) => (Op::Eq, Op::Slt, Op::Sle),
            _ => (Op::Eq, Op::Ult, Op::Ule),
        };
        Some(match op {
            Binary::Eq => self.op(equal, &[x, y]),
            Binary::Ne => {
                let e = self.op(equal, &[x, y]);
                self.scope.pool().not(e)
            }
            Binary::Lt => self.op(less, &[x, y]),
            Binary::Le => self.op(less_eq, &[x, y]),
            Binary::Gt => self.op(less, &[y, x]),
            Binary::Ge => self.op(less_eq, &[y, x]),
            _ => return None,
        })
    }

    fn element_size(&mut self, pointer: &CType) -> Result<TermId> {
        let size = pointer.target().and_then(|t| self.scope.unit().size_of(t));
        let Some(size) = size else { return unsupported("arithmetic on a pointer to an incomplete type") };
        let wide = self.pointer_bits();
        Ok(self.scope.pool().bv(wide, i128::from(size)))
    }

    /// `pointer + index` or `pointer - index`, in elements.
    fn offset(&mut self, pointer: &Typed, index: &Typed, op: Op) -> Result<Typed> {
        let size = self.element_size(&pointer.ty)?;
        let index = self.promoted(index)?;
        if !matches!(index.ty, CType::Int { .. }) {
            return unsupported("an index that is no integer");
        }
        let wide = self.pointer_bits();
        let index = self.convert(&index, &integer(wide, index.ty.is_signed()))?;
        let bytes = self.op(Op::Mul, &[index, size]);
        Ok(Typed { term: self.op(op, &[pointer.term, bytes]), ty: pointer.ty.clone() })
    }

    fn distance(&mut self, a: &Typed, b: &Typed) -> Result<Typed> {
        let size = self.element_size(&a.ty)?;
        let bytes = self.op(Op::Sub, &[a.term, b.term]);
        let wide = self.pointer_bits();
        Ok(Typed { term: self.op(Op::SDiv, &[bytes, size]), ty: integer(wide, true) })
    }

    /// The few functions of the C library that facts use.
    fn call(&mut self, name: &str, args: &[Expression]) -> Result<Typed> {
        if let (Some((kind, is_second)), [z]) = (half_of_complex(name), args) {
            let (MemoryLvalue { addr, ty, .. }, part) = (self.place(z)?, CType::Float(kind));
            let (size, whole) = (self.scope.unit().size_of(&part), self.scope.unit().size_of(&ty));
            let is_complex = matches!(&ty, CType::Opaque { name, .. } if name.contains("_Complex"));
            let size = size.filter(|size| is_complex && whole == Some(2 * size));
            let Some(size) = size else { return unsupported("half of something that is not complex") };
            let wide = self.pointer_bits();
            let offset = self.scope.pool().bv(wide, if is_second { i128::from(size) } else { 0 });
            let addr = self.op(Op::Add, &[addr, offset]);
            return self.read(MemoryLvalue { addr, ty: part, field: None });
        }
        let values = args.iter().map(|a| self.value(a)).collect::<Result<Vec<_>>>()?;
        let (stem, kind) = match (name.strip_suffix('f'), name.strip_suffix('l')) {
            (Some(stem), _) if !stem.is_empty() && stem != "is" => (stem, FloatKind::F32),
            (_, Some(stem)) if stem != "cei" => (stem, FloatKind::LongDouble),
            _ => (name, FloatKind::F64),
        };
        let test = match name {
            "isnan" => Some(Op::FIsNan),
            "isinf" => Some(Op::FIsInf),
            "signbit" => Some(Op::FSignbit),
            _ => None,
        };
        if let (Some(op), [v]) = (test, values.as_slice()) {
            let v = if is_float(&v.ty) { v.clone() } else { self.converted(v, CType::Float(kind))? };
            return Ok(Typed { term: self.op(op, &[v.term]), ty: integer(32, true) });
        }
        if let ("strlen", [v]) = (name, values.as_slice()) {
            let ty = integer(self.pointer_bits(), false);
            return match self.scope.length(v.term, self.when) {
                Some(term) => Ok(Typed { term, ty }),
                None => unsupported("the length of a text is not known here"),
            };
        }
        if let ("abs" | "labs", [v]) = (name, values.as_slice()) {
            let ty = integer(if name == "abs" { 32 } else { self.pointer_bits() }, true);
            let v = self.converted(v, ty.clone())?;
            let zero =
                self.scope.pool().constant(Const::bv(ty.sort(64).and_then(Sort::bits).unwrap_or(32), 0));
            let (negative, minus) = (self.op(Op::Slt, &[v.term, zero]), self.op(Op::Neg, &[v.term]));
            return Ok(Typed { term: self.op(Op::Ite, &[negative, minus, v.term]), ty });
        }
        let op = match (stem, values.len()) {
            ("fabs", 1) => Op::FAbs,
            ("sqrt", 1) => Op::FSqrt,
            ("floor", 1) => Op::FRound(Rounding::Floor),
            ("ceil", 1) => Op::FRound(Rounding::Ceil),
            ("trunc", 1) => Op::FRound(Rounding::Trunc),
            ("round", 1) => Op::FRound(Rounding::Away),
            ("fmin", 2) => Op::FMin,
            ("fmax", 2) => Op::FMax,
            ("fmod", 2) => Op::FRem,
            _ => return unsupported(format!("calls of '{name}' are not supported")),
        };
        let ty = CType::Float(kind);
        let args = values.iter().map(|v| self.convert(v, &ty)).collect::<Result<Vec<_>>>()?;
        Ok(Typed { term: self.op(op, &args), ty })
    }

    fn type_of(&mut self, name: &TypeName) -> Result<CType> {
        let words: Vec<&str> = name.base.split(' ').collect();
        let has = |w: &str| words.contains(&w);
        let long = if self.pointer_bits() == 64 { 64 } else { 32 };
        let base = if let [kind @ ("struct" | "union"), tag] = words.as_slice() {
            let is_it = |r: &crate::ir::Record| *r.name == **tag && r.is_union == (*kind == "union");
            match self.scope.unit().records.iter().position(is_it) {
                Some(i) => CType::Record(crate::ir::RecordId(i as u32)),
                None => return unsupported(format!("no type '{}' here", name.base)),
            }
        } else if has("void") {
            CType::Void
        } else if has("_Bool") {
            CType::Bool
        } else if has("float") {
            CType::Float(FloatKind::F32)
        } else if has("double") && !has("long") {
            CType::Float(FloatKind::F64)
        } else if has("double") {
            CType::Float(FloatKind::LongDouble)
        } else {
            let longs = words.iter().filter(|w| **w == "long").count();
            let bits = match (has("char"), has("short"), longs) {
                (true, ..) => 8,
                (_, true, _) => 16,
                (.., 0) => 32,
                (.., 1) => long,
                _ => 64,
            };
            integer(bits, !has("unsigned"))
        };
        Ok((0..name.pointers).fold(base, |ty, _| CType::Pointer(ty.into())))
    }
}

#[cfg(test)]
mod tests;
