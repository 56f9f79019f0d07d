//! The initial value of an object as a tree of members and elements: what is compared and what is shown.
//!
//! Bytes and addresses of the front end are read by the object's type. A *leaf* is a number or an address: it has a
//! text for people and a *key*, and equal keys are equal values. Addresses go by the names of what they lead to,
//! those of string literals by the string, those of objects without a name by what is in them. What does not fold is
//! unknown, and known by its text alone.

use crate::analysis::witness;
use crate::ir::{CType, Const, FloatKind, Global, InitPiece, Initial, InitialValue, Linkage, Record, Unit};
use crate::semantics::c_text::string_literal;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Leaves of the largest value that is read by elements.
const MAX_LEAVES: usize = 100_000;
/// Bytes of the largest object that is looked into.
const MAX_BYTES: u64 = 4 << 20;
/// Objects without a name within each other.
const MAX_DEPTH: u32 = 6;

/// Names that symbols of one version have in the other.
pub(super) type Names = BTreeMap<Arc<str>, Arc<str>>;

/// How what a value is made of is called.
#[derive(Default)]
pub(super) struct Spelling<'a> {
    pub symbols: Names,
    /// Numbers that the source writes as macros where the object is defined.
    pub macros: BTreeMap<i128, Arc<str>>,
    /// The unit of the other version: enumerators mean the same there, or are told as numbers.
    pub other: Option<&'a Unit>,
    /// The initialiser as it is written.
    pub initial: Option<&'a Initial>,
}

impl Spelling<'_> {
    /// The name of a number: an enumerator, or a macro.
    fn number(&self, unit: &Unit, c: Const, ty: &CType) -> Option<Arc<str>> {
        let CType::Int { name, .. } = ty else { return None };
        let value = if ty.is_signed() { c.signed()? } else { i128::try_from(c.unsigned()?).ok()? };
        let other = self.other?;
        let of = |unit: &Unit| {
            let (name, _) = unit.enumerations.get(name)?.iter().find(|(_, v)| *v == value)?;
            (!unit.gaps.invented.contains_key(&**name)).then(|| name.clone())
        };
        let enumerator = of(unit).filter(|name| of(other).as_ref() == Some(name));
        enumerator.or_else(|| self.macros.get(&value).cloned())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Leaf(Leaf),
    /// A string: an array of characters, or the address of a literal.
    Text {
        bytes: Vec<u8>,
        is_array: bool,
        /// Where it is written.
        line: Option<u32>,
    },
    Array(Vec<Value>),
    /// Members in the order of their declaration.
    Record(Vec<(Arc<str>, Value)>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaf {
    pub text: String,
    pub key: String,
    pub is_zero: bool,
    pub is_unknown: bool,
    /// Where it is written.
    pub line: Option<u32>,
    /// How it is written, if names are in it.
    pub written: Option<Arc<str>>,
}

impl Value {
    /// What an object begins with; `None` if it is too large to be read. `spelling`: what the things in it are called.
    pub fn of(unit: &Unit, g: &Global, spelling: &Spelling) -> Option<Value> {
        let mut left = MAX_LEAVES;
        Reader::new(unit, g, spelling, 0)?.value(&g.ty, 0, &mut left)
    }

    pub fn is_zero(&self) -> bool {
        match self {
            Value::Leaf(leaf) => leaf.is_zero,
            Value::Text { bytes, is_array, .. } => *is_array && bytes.is_empty(),
            Value::Array(all) => all.iter().all(Value::is_zero),
            Value::Record(members) => members.iter().all(|(_, v)| v.is_zero()),
        }
    }

    /// Where the first of what it holds is written.
    pub fn line(&self) -> Option<u32> {
        match self {
            Value::Leaf(leaf) => leaf.line,
            Value::Text { line, .. } => *line,
            Value::Array(all) => all.iter().find_map(Value::line),
            Value::Record(members) => members.iter().find_map(|(_, v)| v.line()),
        }
    }

    pub fn has_unknown(&self) -> bool {
        match self {
            Value::Leaf(leaf) => leaf.is_unknown,
            Value::Text { .. } => false,
            Value::Array(all) => all.iter().any(Value::has_unknown),
            Value::Record(members) => members.iter().any(|(_, v)| v.has_unknown()),
        }
    }

    /// Equal keys are equal values. Members go by their names, and those that are zero are left out: a member that
    /// one version has alone begins with zero there.
    pub fn key(&self) -> String {
        let mut key = String::new();
        self.write_key(&mut key);
        key
    }

    fn write_key(&self, out: &mut String) {
        match self {
            Value::Leaf(leaf) => out.push_str(&leaf.key),
            Value::Text { bytes, is_array, .. } => {
                let _ = write!(out, "{}{}", if *is_array { "[]" } else { "" }, string_literal(bytes));
            }
            Value::Array(all) => {
                // What is behind the last element that is not zero is told by the length.
                let used = all.iter().rposition(|v| !v.is_zero()).map_or(0, |last| last + 1);
                out.push('[');
                for v in all.iter().take(used) {
                    v.write_key(out);
                    out.push(',');
                }
                out.push(']');
            }
            Value::Record(members) => {
                let named: BTreeMap<&str, &Value> =
                    members.iter().filter(|(_, v)| !v.is_zero()).map(|(n, v)| (&**n, v)).collect();
                out.push('{');
                for (name, v) in named {
                    let _ = write!(out, ".{name}=");
                    v.write_key(out);
                    out.push(',');
                }
                out.push('}');
            }
        }
    }

    /// The value as C writes it.
    pub fn text(&self) -> String {
        /// Members up to which their names say nothing that their order does not.
        const PLAIN: usize = 3;
        match self {
            Value::Leaf(leaf) => leaf.text.clone(),
            Value::Text { bytes, .. } => string_literal(bytes),
            v if v.is_zero() => "{ 0 }".to_owned(),
            Value::Array(all) => {
                let used = all.iter().rposition(|v| !v.is_zero()).map_or(0, |last| last + 1);
                // A null pointer at the end is one that ends a list.
                let ends = all.get(used).is_some_and(|v| v.is_null()) && used + 1 == all.len();
                braced(all.iter().take(used + usize::from(ends)).map(Value::text))
            }
            Value::Record(members) if members.len() <= PLAIN => {
                let used = members.iter().rposition(|(_, v)| !v.is_zero()).map_or(0, |last| last + 1);
                braced(members.iter().take(used).map(|(_, v)| v.text()))
            }
            Value::Record(members) => {
                let said = members.iter().filter(|(_, v)| !v.is_zero());
                braced(said.map(|(name, v)| format!(".{name} = {}", v.text())))
            }
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Leaf(leaf) if leaf.is_zero && leaf.text == "NULL")
    }
}

fn braced(parts: impl Iterator<Item = String>) -> String {
    /// Parts beyond which nobody reads on.
    const MOST: usize = 200;
    let parts: Vec<String> = parts.take(MOST).collect();
    format!("{{ {} }}", parts.join(", "))
}

/// Bytes and addresses of one object.
struct Reader<'a> {
    unit: &'a Unit,
    spelling: &'a Spelling<'a>,
    bytes: Vec<u8>,
    addresses: BTreeMap<u64, (&'a Arc<str>, i64)>,
    /// First byte, the one beyond the last, text, names in it.
    unknown: Vec<(u64, u64, &'a str, &'a [Arc<str>])>,
    /// How many objects without a name lead here.
    depth: u32,
}

impl<'a> Reader<'a> {
    fn new(unit: &'a Unit, g: &'a Global, spelling: &'a Spelling<'a>, depth: u32) -> Option<Reader<'a>> {
        if g.size > MAX_BYTES || depth > MAX_DEPTH {
            return None;
        }
        let bytes = vec![0; usize::try_from(g.size).ok()?];
        let (addresses, unknown) = (BTreeMap::new(), Vec::new());
        let mut reader = Reader { unit, spelling, bytes, addresses, unknown, depth };
        for piece in &g.init {
            match piece {
                InitPiece::Bytes { offset, bytes } => {
                    let places = reader.bytes.iter_mut().skip(usize::try_from(*offset).ok()?);
                    places.zip(bytes).for_each(|(place, byte)| *place = *byte);
                }
                InitPiece::Address { offset, symbol, plus } => {
                    reader.addresses.insert(*offset, (symbol, *plus));
                }
                InitPiece::Unknown { offset, size, text, symbols } => {
                    let end = offset.saturating_add(*size);
                    reader.unknown.push((*offset, end, &**text, symbols.as_slice()));
                }
            }
        }
        Some(reader)
    }

    fn value(&self, ty: &CType, at: u64, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        match ty {
            CType::Array(element, count) => self.array(element, *count, at, left),
            CType::Record(id) => {
                let record = self.unit.records.get(id.0 as usize)?;
                if record.is_union {
                    return self.union(record, at, left);
                }
                let mut members = Vec::new();
                for field in record.fields.iter().filter(|f| !f.name.is_empty()) {
                    let at = at + field.offset;
                    let value = match field.bits {
                        Some(bits) => self.bit_field(at, bits, &field.ty),
                        None => self.value(&field.ty, at, left)?,
                    };
                    members.push((field.name.clone(), value));
                }
                Some(Value::Record(members))
            }
            _ => Some(self.as_written(self.scalar(ty, at), at)),
        }
    }

    /// The value at an offset of the initialiser, as it is written.
    fn initial(&self, at: u64) -> Option<&InitialValue> {
        self.spelling.initial.filter(|_| self.depth == 0)?.at(at)
    }

    fn line(&self, at: u64) -> Option<u32> {
        self.initial(at).map(|v| v.line)
    }

    /// A value with what the text has of it.
    fn as_written(&self, value: Value, at: u64) -> Value {
        match value {
            Value::Leaf(leaf) => {
                let written = self.initial(at).and_then(|v| v.text.clone());
                Value::Leaf(Leaf { line: self.line(at), written, ..leaf })
            }
            other => other,
        }
    }

    fn array(&self, element: &CType, count: Option<u64>, at: u64, left: &mut usize) -> Option<Value> {
        let size = self.unit.size_of(element).filter(|s| *s > 0)?;
        let room = (self.bytes.len() as u64).saturating_sub(at) / size;
        let count = count.unwrap_or(room).min(room);
        if let Some(bytes) = self.characters(element, at, count) {
            return Some(Value::Text { bytes, is_array: true, line: self.line(at) });
        }
        // Zeros at the end say nothing, but for a single one, which may end a list.
        let count = count.min(self.used(at, size, count).saturating_add(2));
        let mut all = Vec::new();
        for i in 0..count {
            all.push(self.value(element, at + i * size, left)?);
        }
        Some(Value::Array(all))
    }

    /// How many elements of an array there are up to the last one that does not begin with zeros.
    fn used(&self, at: u64, size: u64, count: u64) -> u64 {
        let end = at.saturating_add(size.saturating_mul(count));
        let range = at as usize..(end as usize).min(self.bytes.len());
        let byte = self.bytes.get(range).and_then(|all| all.iter().rposition(|b| *b != 0));
        let address = self.addresses.range(at..end).next_back().map(|(o, _)| o - at);
        let unknown = self.unknown.iter().filter(|(from, to, ..)| *from < end && *to > at);
        let unknown = unknown.map(|(_, to, ..)| to.min(&end) - 1 - at).max();
        let last = byte.map(|b| b as u64).into_iter().chain(address).chain(unknown).max();
        last.map_or(0, |last| last / size + 1)
    }

    /// The characters of an array that holds a string.
    fn characters(&self, element: &CType, at: u64, count: u64) -> Option<Vec<u8>> {
        let CType::Int { bits: 8, name, .. } = element else { return None };
        let from = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(from..from.checked_add(usize::try_from(count).ok()?)?)?;
        let used = bytes.get(..bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1))?;
        let is_text = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t' | b'\r' | 0x80..);
        let is_char = &**name == "char" && (used.is_empty() || used.iter().any(is_text));
        let is_known = self.unknown.iter().all(|(start, end, ..)| *end <= at || *start >= at + count);
        let is_string =
            is_char || !used.is_empty() && used.iter().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'));
        (is_known && is_string).then(|| used.to_vec())
    }

    /// A union is all of its bytes; it is shown as the first member that says all of them.
    fn union(&self, record: &Record, at: u64, left: &mut usize) -> Option<Value> {
        let range = at..at.saturating_add(record.size);
        let mut key = String::from("union ");
        for (offset, byte) in range.clone().filter_map(|o| Some((o, *self.bytes.get(o as usize)?))) {
            if byte != 0 {
                let _ = write!(key, "{}:{byte} ", offset - at);
            }
        }
        for (offset, (symbol, plus)) in self.addresses.range(range.clone()) {
            let _ = write!(key, "{}:{} ", offset - at, self.address(symbol, *plus).key);
        }
        let is_unknown = self.unknown.iter().any(|(start, end, ..)| *start < range.end && *end > at);
        for (start, _, text, _) in self.unknown.iter().filter(|(start, ..)| range.contains(start)) {
            let _ = write!(key, "{}:{text} ", start - at);
        }
        let is_zero = key == "union ";
        let end = |ty: &CType| self.unit.size_of(ty).unwrap_or(0);
        let used = range.clone().rev().find(|o| self.bytes.get(*o as usize).is_some_and(|b| *b != 0));
        let used = used.map_or(0, |o| o + 1 - at);
        let shown = record.fields.iter().find(|f| f.bits.is_none() && end(&f.ty) >= used);
        let shown = shown.or(record.fields.first());
        let text = match shown {
            Some(field) if !is_unknown => {
                let value = self.value(&field.ty, at + field.offset, left)?;
                if is_zero { value.text() } else { format!("{{ .{} = {} }}", field.name, value.text()) }
            }
            _ => "…".to_owned(),
        };
        Some(Value::Leaf(Leaf { text, key, is_zero, is_unknown, line: self.line(at), written: None }))
    }

    fn bit_field(&self, at: u64, (first, width): (u32, u32), ty: &CType) -> Value {
        if let Some(leaf) = self.unknown_at(at, at + u64::from(first + width).div_ceil(8)) {
            return Value::Leaf(leaf);
        }
        let mask = (1u128 << width.min(64)) - 1;
        let bits = self.word(at, 16) >> first & mask;
        let is_negative = ty.is_signed() && width > 0 && bits >> (width.min(64) - 1) & 1 == 1;
        let value = if is_negative { bits as i128 - (mask as i128 + 1) } else { bits as i128 };
        Value::Leaf(plain(value.to_string(), bits == 0))
    }

    fn scalar(&self, ty: &CType, at: u64) -> Value {
        let size = self.unit.size_of(ty).unwrap_or(0);
        if let Some(leaf) = self.unknown_at(at, at + size.max(1)) {
            return Value::Leaf(leaf);
        }
        if let Some((symbol, plus)) = self.addresses.get(&at) {
            if let Some(bytes) = self.literal(symbol, *plus) {
                return Value::Text { bytes, is_array: false, line: self.line(at) };
            }
            return Value::Leaf(self.address(symbol, *plus));
        }
        let range = at as usize..(at + size) as usize;
        let bytes = self.bytes.get(range).unwrap_or_default();
        let is_zero = bytes.iter().all(|b| *b == 0);
        let constant = ty
            .sort(self.unit.data_model.pointer_bits())
            .and_then(|sort| Const::from_bits(sort, self.word(at, size.min(16))));
        match constant {
            Some(c) => {
                let leaf = plain(number(c, ty), is_zero);
                match self.spelling.number(self.unit, c, ty) {
                    Some(name) => Value::Leaf(Leaf { text: name.to_string(), ..leaf }),
                    None => Value::Leaf(leaf),
                }
            }
            // No value of such a type is a scalar: its bytes.
            None => {
                let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                let text = if is_zero { "{ 0 }".to_owned() } else { format!("bytes {hex}") };
                Value::Leaf(plain(text, is_zero))
            }
        }
    }

    /// What is between two bytes, if that does not fold.
    fn unknown_at(&self, from: u64, to: u64) -> Option<Leaf> {
        let (start, _, text, names) =
            self.unknown.iter().find(|(start, end, ..)| *start < to && *end > from)?;
        let shown = match names {
            // A name alone is what the source says.
            [only] if text.split(' ').any(|word| word == &**only) => only.to_string(),
            _ => "…".to_owned(),
        };
        let key = format!("unknown {} {text}", from - (*start).min(from));
        Some(Leaf { text: shown, key, is_unknown: true, ..Leaf::default() })
    }

    fn word(&self, at: u64, size: u64) -> u128 {
        let bytes = self.bytes.iter().skip(at as usize).take(size as usize);
        bytes.enumerate().fold(0, |all, (i, b)| all | u128::from(*b) << (8 * i.min(15)))
    }

    /// The bytes of a string literal to which an address leads, without what ends it.
    fn literal(&self, symbol: &str, plus: i64) -> Option<Vec<u8>> {
        let g = self.unit.global(symbol).filter(|g| g.linkage == Linkage::Literal)?;
        let CType::Array(element, _) = &g.ty else { return None };
        let bytes = g.constant_bytes(0, g.size)?;
        let rest = bytes.get(usize::try_from(plus).ok()?..)?;
        matches!(**element, CType::Int { bits: 8, .. })
            .then(|| rest.strip_suffix(b"\0").unwrap_or(rest).to_vec())
    }

    /// An address by the name of what is there.
    fn address(&self, symbol: &Arc<str>, plus: i64) -> Leaf {
        let name = self.spelling.symbols.get(symbol).unwrap_or(symbol);
        let leaf = |text: String, key: String| Leaf { text, key, ..Leaf::default() };
        let Some(g) = self.unit.global(symbol) else {
            let text = if plus == 0 { name.to_string() } else { format!("{name} {plus:+}") };
            return leaf(text.clone(), text);
        };
        if g.name.is_empty() || g.linkage == Linkage::Literal {
            return self.nameless(g, plus);
        }
        // The symbol of an object of a function begins with the function's name.
        let shown = name.rsplit_once('.').map_or(&**name, |_| &*g.name);
        let path = u64::try_from(plus).ok().filter(|p| *p > 0).and_then(|p| path(self.unit, &g.ty, p));
        let text = match (plus, path) {
            (0, _) if matches!(g.ty, CType::Array(..)) => shown.to_owned(),
            (0, _) => format!("&{shown}"),
            (_, Some(path)) => format!("&{shown}{path}"),
            (_, None) => format!("(char *)&{shown} {plus:+}"),
        };
        leaf(text, format!("&{name} {plus}"))
    }

    /// The address of an object without a name: by what is in it.
    fn nameless(&self, g: &Global, plus: i64) -> Leaf {
        let inner = Reader::new(self.unit, g, self.spelling, self.depth + 1);
        let mut left = MAX_LEAVES / 16;
        let value = inner.and_then(|r| r.value(&g.ty, 0, &mut left));
        let behind = if plus == 0 { String::new() } else { format!(" {plus:+}") };
        match value {
            Some(value) => Leaf {
                text: format!("&{}{behind}", value.text()),
                key: format!("&{} {} {} {plus}", g.is_const, g.size, value.key()),
                is_unknown: value.has_unknown(),
                ..Leaf::default()
            },
            None => Leaf {
                text: "…".to_owned(),
                key: format!("&{} {plus}", g.symbol),
                is_unknown: true,
                ..Leaf::default()
            },
        }
    }
}

fn plain(text: String, is_zero: bool) -> Leaf {
    Leaf { key: text.clone(), text, is_zero, ..Leaf::default() }
}

fn number(c: Const, ty: &CType) -> String {
    match (ty, &c) {
        // A float that is none of these is written so that it reads back.
        (CType::Float(FloatKind::LongDouble | FloatKind::F64 | FloatKind::F32), _) => {
            witness::constant(c, ty)
        }
        (CType::Int { bits: 8, name, .. }, Const::Bv { bits, .. }) if &**name == "char" => {
            match *bits as u8 {
                byte @ b' '..=b'~' => format!(
                    "'{}'",
                    if byte == b'\'' || byte == b'\\' {
                        format!("\\{}", byte as char)
                    } else {
                        (byte as char).to_string()
                    }
                ),
                b'\n' => "'\\n'".to_owned(),
                b'\t' => "'\\t'".to_owned(),
                _ => witness::constant(c, ty),
            }
        }
        _ => witness::constant(c, ty),
    }
}

/// The path to the member or element that begins at a byte of an object.
fn path(unit: &Unit, ty: &CType, at: u64) -> Option<String> {
    match ty {
        CType::Array(element, _) => {
            let size = unit.size_of(element).filter(|s| *s > 0)?;
            let index = format!("[{}]", at / size);
            if at.is_multiple_of(size) { Some(index) } else { Some(index + &path(unit, element, at % size)?) }
        }
        CType::Record(id) => {
            let record = unit.records.get(id.0 as usize).filter(|r| !r.is_union)?;
            let field = record.fields.iter().rev().find(|f| f.offset <= at && f.bits.is_none())?;
            let inside = at - field.offset;
            let rest = if inside == 0 { String::new() } else { path(unit, &field.ty, inside)? };
            Some(format!(".{}{rest}", field.name))
        }
        _ => None,
    }
}

/// A type as C writes it, without a name.
pub(in crate::analysis) fn type_text(unit: &Unit, ty: &CType) -> String {
    let (mut behind, mut at) = (String::new(), ty);
    while let CType::Array(element, count) = at {
        behind.push_str(&count.map_or("[]".to_owned(), |n| format!("[{n}]")));
        at = element;
    }
    let mut stars = String::new();
    while let CType::Pointer(to) = at {
        stars.push('*');
        at = to;
    }
    let base = match at {
        CType::Void => "void".to_owned(),
        CType::Bool => "_Bool".to_owned(),
        CType::Int { name, .. } | CType::Opaque { name, .. } => name.to_string(),
        CType::Float(FloatKind::F32) => "float".to_owned(),
        CType::Float(FloatKind::F64) => "double".to_owned(),
        CType::Float(FloatKind::LongDouble) => "long double".to_owned(),
        CType::Record(id) => match unit.records.get(id.0 as usize) {
            Some(r) if !r.name.is_empty() => r.name.to_string(),
            Some(r) if r.is_union => "union".to_owned(),
            _ => "struct".to_owned(),
        },
        CType::Function(text) if !stars.is_empty() => {
            return text.replacen('(', &format!("({stars}{behind})("), 1);
        }
        CType::Function(text) => text.to_string(),
        CType::Pointer(_) | CType::Array(..) => format!("({})", type_text(unit, at)),
    };
    let space = if stars.is_empty() { "" } else { " " };
    format!("{base}{space}{stars}{behind}")
}
