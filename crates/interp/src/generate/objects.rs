//! Memory that parameters and globals reach.
//!
//! Pointers are null, or lead to an object of their own with several elements, or to an object that
//! another pointer leads to already. Characters make short strings, records are filled field by
//! field, lists and trees end at depth two.

use super::pool::{Earlier, Pool};
use super::random::SplitMix;
use crate::input::{Input, ObjectId, ObjectInit, Storage, Value};
use crate::ir::{CType, Const, FloatKind, Prototype, RecordId, Unit};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest object that is made, in bytes.
pub(super) const MAX_OBJECT: u64 = 8192;
/// Elements of an array that get values of their own; those behind them repeat these, which costs little
/// and leaves more to chance elsewhere.
const MAX_OWN: u64 = 64;
const MAX_DEPTH: u32 = 2;
const MAX_OBJECTS: usize = 48;

/// Builder of one input's memory.
pub(super) struct Builder<'a> {
    unit: &'a Unit,
    pool: &'a Pool,
    objects: Vec<ObjectInit>,
    pub earlier: Earlier,
}

impl<'a> Builder<'a> {
    pub fn new(unit: &'a Unit, pool: &'a Pool) -> Builder<'a> {
        Builder { unit, pool, objects: Vec::new(), earlier: Earlier::default() }
    }

    pub fn finish(self) -> Vec<ObjectInit> {
        self.objects
    }

    fn null(&self) -> Value {
        Value::Const(Const::bv(self.unit.data_model.pointer_bits(), 0))
    }

    /// Makes a value of a parameter's type; an aggregate is an object.
    pub fn value(&mut self, ty: &CType, rng: &mut SplitMix, depth: u32) -> Value {
        match ty {
            CType::Pointer(to) => self.pointer(to, rng, depth),
            CType::Record(_) | CType::Array(..) => {
                let size = self.unit.size_of(ty).unwrap_or(0).min(MAX_OBJECT);
                let id = self.object(ty.clone(), size, Storage::Argument);
                self.fill(id, 0, ty, rng, depth);
                Value::Pointer { object: id, offset: 0 }
            }
            _ => match self.pool.scalar(rng, ty, &mut self.earlier) {
                Some(c) => Value::Const(c),
                None => self.null(),
            },
        }
    }

    /// Makes what a function returns, of a pointer's type: seldom null, and nothing large.
    pub fn result(&mut self, ty: &CType, rng: &mut SplitMix) -> Value {
        const TRIES: usize = 3;
        let null = self.null();
        let made = (0..TRIES).map(|_| self.value(ty, rng, MAX_DEPTH)).find(|v| *v != null);
        made.unwrap_or(null)
    }

    /// Makes the content of a global at entry.
    pub fn global(&mut self, symbol: &Arc<str>, ty: &CType, size: u64, rng: &mut SplitMix) {
        let id = self.object(ty.clone(), size, Storage::Global(symbol.clone()));
        self.fill(id, 0, ty, rng, 1);
    }

    fn object(&mut self, ty: CType, size: u64, storage: Storage) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        let bytes = vec![0; size as usize];
        self.objects.push(ObjectInit { id, ty, storage, bytes, undefined: Vec::new(), pointers: Vec::new() });
        id
    }

    fn pointer(&mut self, to: &CType, rng: &mut SplitMix, depth: u32) -> Value {
        if self.objects.len() >= MAX_OBJECTS || rng.chance(if depth == 0 { 8 } else { 30 }) {
            return self.null();
        }
        if rng.chance(10)
            && let Some(alias) = self.alias(to, rng)
        {
            return alias;
        }
        if self.is_stream(to) {
            let symbol = if rng.chance(50) { "*stdout" } else { "*stdin" };
            return Value::Global { symbol: symbol.into(), offset: 0 };
        }
        let is_char = matches!(to, CType::Int { bits: 8, .. } | CType::Void);
        if is_char && rng.chance(85) {
            return self.string(rng);
        }
        if let CType::Function(text) = to {
            return self.function(text, rng);
        }
        if depth > MAX_DEPTH {
            return self.null();
        }
        let Some(element) = self.unit.size_of(to).filter(|s| *s <= MAX_OBJECT) else {
            // Nothing is known of the type: bytes that are all zero.
            let id = self.object(CType::Void, 64, Storage::Heap);
            return Value::Pointer { object: id, offset: 0 };
        };
        let count = match to {
            CType::Record(_) | CType::Array(..) => 1 + rng.below(2) * rng.below(3),
            CType::Pointer(_) => 1 + rng.below(4),
            _ if rng.chance(20) => 1 + rng.below(4),
            _ => 16,
        };
        let count = count.min(MAX_OBJECT / element.max(1)).max(1);
        let ty = if count == 1 { to.clone() } else { CType::Array(Arc::new(to.clone()), Some(count)) };
        let id = self.object(ty, element * count, Storage::Heap);
        for i in 0..count {
            self.fill(id, i * element, to, rng, depth + 1);
        }
        if matches!(to, CType::Pointer(_)) && rng.chance(50) {
            // Vectors of pointers often end with a null.
            let last = (count - 1) * element;
            if let Some(o) = self.objects.get_mut(id.0 as usize) {
                o.pointers.retain(|(at, _)| *at != last);
            }
        }
        Value::Pointer { object: id, offset: 0 }
    }

    /// Returns a function of the unit, or one that it points to (`malloc`), that is of the type, as far as its
    /// text tells; null when there is none: nobody passes a function of another type.
    fn function(&self, text: &str, rng: &mut SplitMix) -> Value {
        let known = self.pool.functions.get_or_init(|| self.functions_by_type());
        let fits = known.get(&plain_words(text)).map_or(&[][..], Vec::as_slice);
        rng.pick(fits).map_or_else(|| self.null(), |n| Value::Function(n.clone()))
    }

    fn functions_by_type(&self) -> BTreeMap<String, Vec<Arc<str>>> {
        let mut found: BTreeMap<String, Vec<Arc<str>>> = BTreeMap::new();
        let own = self.unit.functions.iter().filter(|f| &*f.name != "main").map(|f| {
            let params = f.params.iter().map(|p| self.spelled(&f.var(*p).ty)).collect();
            (&f.name, &f.ret, params)
        });
        let taken = self.unit.functions_taken();
        let is_taken = |p: &&Prototype| taken.contains(&p.name) && self.unit.function(&p.name).is_none();
        let others = self.unit.prototypes.iter().filter(is_taken).map(|p| {
            let params: Vec<String> = p.params.iter().map(|ty| self.spelled(ty)).collect();
            (&p.name, &p.ret, params)
        });
        for (name, ret, params) in own.chain(others) {
            let result = self.spelled(ret);
            // One without parameters may be declared without saying so.
            let lists =
                if params.is_empty() { vec!["void".into(), String::new()] } else { vec![params.join(",")] };
            for list in lists {
                let known = found.entry(plain_words(&format!("{result}({list})"))).or_default();
                if !known.contains(name) {
                    known.push(name.clone());
                }
            }
        }
        found
    }

    /// The text of a type, without qualifiers.
    fn spelled(&self, ty: &CType) -> String {
        match ty {
            CType::Void => "void".into(),
            CType::Bool => "_Bool".into(),
            CType::Int { name, .. } | CType::Opaque { name, .. } | CType::Function(name) => name.to_string(),
            CType::Float(FloatKind::F32) => "float".into(),
            CType::Float(FloatKind::F64) => "double".into(),
            CType::Float(FloatKind::LongDouble) => "long double".into(),
            CType::Pointer(to) => format!("{}*", self.spelled(to)),
            CType::Array(of, _) => format!("{}*", self.spelled(of)),
            CType::Record(id) => self.unit.record(*id).name.to_string(),
        }
    }

    fn is_stream(&self, ty: &CType) -> bool {
        let CType::Record(id) = ty else { return false };
        self.unit
            .records
            .get(id.0 as usize)
            .is_some_and(|r| r.size == 0 && matches!(&*r.name, "_IO_FILE" | "FILE"))
    }

    /// Returns a pointer to an object of this type that is there already.
    fn alias(&self, to: &CType, rng: &mut SplitMix) -> Option<Value> {
        self.alias_among(&self.objects, to, rng)
    }

    fn alias_among(&self, objects: &[ObjectInit], to: &CType, rng: &mut SplitMix) -> Option<Value> {
        let fits = |o: &&ObjectInit| o.ty == *to || o.ty.target() == Some(to);
        let candidates: Vec<&ObjectInit> = objects.iter().filter(fits).collect();
        let object = rng.pick(&candidates)?;
        let size = self.unit.size_of(to).filter(|s| *s > 0)?;
        let elements = object.bytes.len() as u64 / size;
        let index = if rng.chance(70) { 0 } else { rng.below(elements) };
        Some(Value::Pointer { object: object.id, offset: (index * size) as i64 })
    }

    fn string(&mut self, rng: &mut SplitMix) -> Value {
        let text = self.pool.text(rng);
        // Sometimes with room behind the text, as buffers have.
        let room = if rng.chance(40) { rng.below(64) } else { 0 };
        let size = text.len() as u64 + 1 + room;
        let ty = CType::Int { bits: 8, signed: true, name: "char".into() };
        let id = self.object(CType::Array(Arc::new(ty), Some(size)), size, Storage::Heap);
        if let Some(o) = self.objects.get_mut(id.0 as usize) {
            o.bytes[..text.len()].copy_from_slice(&text);
        }
        Value::Pointer { object: id, offset: 0 }
    }

    /// Fills the part of an object at `offset` that has type `ty`.
    fn fill(&mut self, id: ObjectId, offset: u64, ty: &CType, rng: &mut SplitMix, depth: u32) {
        match ty {
            CType::Record(record) => self.fill_record(id, offset, *record, rng, depth),
            CType::Array(element, n) => {
                let Some(size) = self.unit.size_of(element).filter(|s| *s > 0) else { return };
                let is_char = matches!(**element, CType::Int { bits: 8, .. });
                let n = n.unwrap_or(0).min(MAX_OBJECT / size);
                if is_char {
                    let text = self.pool.text(rng);
                    let kept = text.len().min(n.saturating_sub(1) as usize);
                    self.put(id, offset, text.get(..kept).unwrap_or(&[]));
                    return;
                }
                let own = if has_pointers(self.unit, element) { n } else { n.min(MAX_OWN) };
                for i in 0..own {
                    self.fill(id, offset + i * size, element, rng, depth);
                }
                self.repeat(id, offset, own * size, n * size);
            }
            CType::Pointer(to) => {
                let value = self.pointer(to, rng, depth);
                if let (Value::Pointer { .. } | Value::Global { .. } | Value::Function(_), Some(o)) =
                    (&value, self.objects.get_mut(id.0 as usize))
                {
                    o.pointers.push((offset, value));
                }
            }
            _ => {
                let Some(c) = self.pool.scalar(rng, ty, &mut self.earlier) else { return };
                let size = c.sort().bits().unwrap_or(8) as usize / 8;
                let bytes = c.to_bits().to_le_bytes();
                self.put(id, offset, bytes.get(..size).unwrap_or(&bytes));
            }
        }
    }

    fn fill_record(&mut self, id: ObjectId, offset: u64, record: RecordId, rng: &mut SplitMix, depth: u32) {
        let unit = self.unit;
        let Some(record) = unit.records.get(record.0 as usize) else { return };
        let one = rng.below(record.fields.len() as u64) as usize;
        for (i, field) in record.fields.iter().enumerate() {
            if record.is_union && i != one {
                continue;
            }
            if let Some((first, width)) = field.bits {
                self.fill_bits(id, offset + field.offset, first, width, rng);
            } else {
                self.fill(id, offset + field.offset, &field.ty, rng, depth);
            }
        }
    }

    fn fill_bits(&mut self, id: ObjectId, offset: u64, first: u32, width: u32, rng: &mut SplitMix) {
        let value = rng.next();
        let Some(object) = self.objects.get_mut(id.0 as usize) else { return };
        for bit in 0..width {
            let at = first + bit;
            if let Some(byte) = object.bytes.get_mut(offset as usize + at as usize / 8) {
                *byte = *byte & !(1 << (at % 8)) | (((value >> bit.min(63)) & 1) as u8) << (at % 8);
            }
        }
    }

    /// Fills `all` bytes of an object by repeating the first `own` of them.
    fn repeat(&mut self, id: ObjectId, offset: u64, own: u64, all: u64) {
        let range = offset as usize..(offset + all) as usize;
        let bytes = self.objects.get_mut(id.0 as usize).and_then(|o| o.bytes.get_mut(range));
        let Some((first, rest)) = bytes.and_then(|b| b.split_at_mut_checked(own as usize)) else { return };
        if !first.is_empty() {
            rest.chunks_mut(first.len()).for_each(|c| c.copy_from_slice(&first[..c.len()]));
        }
    }

    fn put(&mut self, id: ObjectId, offset: u64, bytes: &[u8]) {
        if let Some(o) = self.objects.get_mut(id.0 as usize)
            && let Some(place) = o.bytes.get_mut(offset as usize..offset as usize + bytes.len())
        {
            place.copy_from_slice(bytes);
        }
    }
}

/// Adds what a pointer of a type leads to, mostly an object of its own, and returns the pointer; `None`
/// where it came to nothing.
pub(super) fn another(
    input: &mut Input,
    unit: &Unit,
    pool: &Pool,
    ty: &CType,
    rng: &mut SplitMix,
) -> Option<Value> {
    let CType::Pointer(to) = ty else { return None };
    let mut builder = Builder::new(unit, pool);
    // Objects are found by their number.
    if input.objects.iter().enumerate().any(|(i, o)| o.id.0 as usize != i) {
        return builder.alias_among(&input.objects, to, rng);
    }
    builder.objects = std::mem::take(&mut input.objects);
    let value = builder.pointer(to, rng, 1);
    input.objects = builder.finish();
    (value != Value::Const(Const::bv(unit.data_model.pointer_bits(), 0))).then_some(value)
}

/// A scalar or a pointer of an object.
pub(super) struct Slot {
    pub offset: u64,
    pub ty: CType,
}

/// The first scalars and pointers of an object.
pub(super) fn slots(unit: &Unit, object: &ObjectInit) -> Vec<Slot> {
    let mut found = Vec::new();
    leaves(unit, &object.ty, 0, true, &mut found);
    found.into_iter().map(|(offset, ty)| Slot { offset, ty }).collect()
}

/// Changes one scalar of an object.
pub(super) fn vary(object: &mut ObjectInit, unit: &Unit, pool: &Pool, rng: &mut SplitMix) {
    let mut scalars = Vec::new();
    leaves(unit, &object.ty, 0, false, &mut scalars);
    let Some((offset, ty)) = rng.pick(&scalars) else { return };
    let Some(c) = pool.scalar(rng, ty, &mut Earlier::default()) else { return };
    let size = c.sort().bits().unwrap_or(8) as usize / 8;
    let bytes = c.to_bits().to_le_bytes();
    if let Some(place) = object.bytes.get_mut(*offset as usize..*offset as usize + size) {
        place.copy_from_slice(bytes.get(..size).unwrap_or(&bytes));
    }
}

fn has_pointers(unit: &Unit, ty: &CType) -> bool {
    match ty {
        CType::Pointer(_) => true,
        CType::Array(element, _) => has_pointers(unit, element),
        CType::Record(id) => {
            let record = unit.records.get(id.0 as usize);
            record.is_some_and(|r| r.fields.iter().any(|f| has_pointers(unit, &f.ty)))
        }
        _ => false,
    }
}

/// Lists the integers and floats of a type with their offsets, and the pointers where they are wanted.
fn leaves(unit: &Unit, ty: &CType, offset: u64, pointers: bool, out: &mut Vec<(u64, CType)>) {
    const MAX_LEAVES: usize = 256;
    if out.len() >= MAX_LEAVES {
        return;
    }
    match ty {
        CType::Record(id) => {
            let Some(record) = unit.records.get(id.0 as usize) else { return };
            for field in record.fields.iter().filter(|f| f.bits.is_none()) {
                leaves(unit, &field.ty, offset + field.offset, pointers, out);
            }
        }
        CType::Array(element, Some(n)) => {
            let size = unit.size_of(element).unwrap_or(0);
            for i in 0..(*n).min(MAX_LEAVES as u64) {
                leaves(unit, element, offset + i * size, pointers, out);
            }
        }
        CType::Bool | CType::Int { .. } | CType::Float(_) => out.push((offset, ty.clone())),
        CType::Pointer(_) if pointers => out.push((offset, ty.clone())),
        _ => {}
    }
}

/// The words of a type's text that tell it from others, without spaces.
fn plain_words(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_word(c)).filter(|n| *n > 0).unwrap_or(if is_word(c) {
            rest.len()
        } else {
            c.len_utf8()
        });
        let (word, after) = rest.split_at(length);
        if !["const", "volatile", "restrict", "struct", "union", "enum", " "].contains(&word) {
            words += word;
        }
        rest = after;
    }
    words
}
