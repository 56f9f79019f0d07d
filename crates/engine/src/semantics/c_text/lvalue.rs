//! Addresses and what is read through them: `p->len`, `a[i].x`, `*p`, `g`.
//!
//! An address is a base (a global, a local, a pointer) plus a sum of bytes. The base's type says
//! which elements and fields the bytes lead through; where it does not, the text casts.

use super::arithmetic::Linear;
use super::bits::narrowed;
use super::types::{Level, Ty, integer_name};
use super::{Named, Naming, Renderer, Text, naming};
use crate::ir::{App, CType, Field, FloatKind, Leaf, Op, RecordId, Sort, Term, TermId, TermPool, Uf};
use std::sync::Arc;

/// A place while it is being spelled.
#[derive(Clone)]
struct Step {
    text: String,
    level: Level,
    /// The text is a pointer to the place, not the place.
    pointer: bool,
}

impl Step {
    fn postfix(&self) -> String {
        if self.level < Level::Primary { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// An access of this many bytes as a value of this sort.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub sort: Sort,
    pub bytes: u64,
    /// Only these are meant: the first bit of a bit-field, and how many it has.
    pub bits: Option<(u32, u32)>,
}

/// Returns the text and the type of the place of `bytes` bytes at an address, `None` where its type
/// is not evident or the text would leave something out.
pub fn render_lvalue(
    pool: &TermPool,
    address: TermId,
    sort: Sort,
    bytes: u64,
    naming: &Naming,
) -> Option<Named> {
    const DEPTH: usize = 12;
    let mut renderer = Renderer::new(pool, naming, false, DEPTH);
    let linear = renderer.linear(&[(1, address)], naming.pointer_bits());
    let (base, ty, rest) = renderer.base(&linear)?;
    let (place, ty) = renderer.descend(base, &ty, &rest, Some(Access { sort, bytes, bits: None }))?;
    (!renderer.failed && place.text.len() <= naming.max_len).then_some(Named { text: place.text, ty })
}

/// What an access can touch when every index stays inside its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The object, or the pointer into it, that the bytes are counted from.
    pub base: TermId,
    /// A pointer to it.
    pub text: String,
    /// The global that the base is.
    pub symbol: Option<Arc<str>>,
    /// The record that the base is, or leads to.
    pub record: Option<RecordId>,
    /// Bytes from the base: first, and beyond the last; `None` where nothing bounds them.
    pub range: Option<(i128, i128)>,
    /// The array whose bounds the range rests on.
    pub array: Option<String>,
}

/// Returns what an access can touch, `None` where the type of its base is not evident or the text
/// would leave something out. No bytes: an unknown number of them, inside the array that the address
/// leads into.
pub fn extent(pool: &TermPool, address: TermId, bytes: u64, naming: &Naming) -> Option<Extent> {
    const DEPTH: usize = 8;
    let mut renderer = Renderer::new(pool, naming, false, DEPTH);
    let linear = renderer.linear(&[(1, address)], naming.pointer_bits());
    let (at, base, ty) = renderer.base_at(&linear)?;
    let (_, base_term) = linear.terms.get(at).copied()?;
    let terms: Vec<_> = linear.terms.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, t)| *t).collect();
    let rest = Linear { terms, constant: linear.constant };
    let text = if base.pointer { base.text.clone() } else { format!("&{}", base.postfix()) };
    let symbol = match pool.get(base_term) {
        Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => Some(symbol.clone()),
        _ => None,
    };
    let record = if let CType::Record(id) = &ty { Some(*id) } else { None };
    let (range, array) = match rest.terms.is_empty() && bytes > 0 {
        true => (Some((rest.constant, rest.constant + i128::from(bytes))), None),
        false => match renderer.array_around(&base, &ty, &rest) {
            Some((range, text)) => (Some(range), Some(text)),
            None => (None, None),
        },
    };
    (!renderer.failed).then_some(Extent { base: base_term, text, symbol, record, range, array })
}

/// Returns the text of a pointer as the address of what has a type: of a member, where the pointer leads to a
/// structure that begins with it. `None` where there is no such thing, or the pointer has the type by itself.
pub fn render_address_of(
    pool: &TermPool,
    pointer: TermId,
    target: &CType,
    naming: &Naming,
) -> Option<String> {
    const DEPTH: usize = 12;
    let naming = Naming { target: Some(target.clone()), ..naming.clone() };
    let mut renderer = Renderer::new(pool, &naming, false, DEPTH);
    let linear = renderer.linear(&[(1, pointer)], naming.pointer_bits());
    let (base, ty, rest) = renderer.base(&linear)?;
    if is_like(&ty, target) || !matches!(ty, CType::Record(_)) {
        return None;
    }
    let (place, found) = renderer.descend(base, &ty, &rest, None)?;
    let is_told = !renderer.failed && is_like(&found, target) && place.text.len() <= naming.max_len;
    is_told.then(|| format!("&{}", place.text))
}

/// Whether a pointer to the one is one to the other: to the same record, or to scalars that are read alike.
fn is_like(ty: &CType, to: &CType) -> bool {
    match (ty, to) {
        (CType::Int { bits, .. }, CType::Int { bits: of, .. }) => bits == of,
        _ => ty == to,
    }
}

impl Renderer<'_> {
    /// What an address is meant to be one of, if that is known.
    fn meant(&self) -> Option<&CType> {
        self.beside.as_ref().or(self.naming.target.as_ref())
    }

    /// The text of an address as that of what a pointer beside it leads to: of all that begins there, the one of that
    /// type. `None` where it is told so already, or nothing there has the type.
    pub(super) fn address_beside(&mut self, t: TermId, (text, other): (&Text, &Text)) -> Option<Text> {
        let (Ty::Pointer(Some(own)), Ty::Pointer(Some(to))) = (&text.ty, &other.ty) else { return None };
        let is_address = text.text.starts_with('&') && self.named(t).is_none();
        if !is_address || is_like(own, to) || !matches!(to, CType::Record(_)) {
            return None;
        }
        let failed = self.failed;
        let before = self.beside.replace(to.clone());
        let again = self.value(t, None);
        self.beside = before;
        let is_it =
            matches!(&again.ty, Ty::Pointer(Some(found)) if is_like(found, to)) && self.failed == failed;
        self.failed = failed;
        is_it.then_some(again)
    }

    /// The array member that an offset with an index in it leads into: its bytes from the base, and its
    /// name.
    fn array_around(&mut self, base: &Step, ty: &CType, rest: &Linear) -> Option<((i128, i128), String)> {
        let (mut ty, mut text, mut pointer) = (ty.clone(), base.postfix(), base.pointer);
        let (mut start, mut offset) = (0, rest.constant);
        if pointer {
            // The pointer's own element; other elements are somewhere else by an index.
            let size = i128::from(self.naming.size_of(&ty).filter(|&s| s > 0)?);
            if rest.terms.iter().any(|(k, _)| k % size == 0) || offset < 0 || offset >= size {
                return None;
            }
        }
        for _ in 0..8 {
            match &ty {
                CType::Record(id) => {
                    let record = self.naming.unit?.records.get(id.0 as usize)?;
                    let around = |f: &&crate::ir::Field| {
                        let at = i128::from(f.offset);
                        let size = self.naming.size_of(&f.ty).map_or(0, i128::from);
                        f.bits.is_none() && (at..at + size).contains(&offset)
                    };
                    let mut fields = record.fields.iter().filter(around);
                    let (Some(field), None) = (fields.next(), fields.next()) else { return None };
                    let at = i128::from(field.offset);
                    (start, offset) = (start + at, offset - at);
                    text = format!("{text}{}{}", if pointer { "->" } else { "." }, field.name);
                    pointer = false;
                    ty = field.ty.clone();
                }
                CType::Array(_, Some(n)) if *n > 1 => {
                    let size = i128::from(self.naming.size_of(&ty)?);
                    return Some(((start, start + size), text));
                }
                _ => return None,
            }
        }
        None
    }

    /// Renders the value of `bytes` bytes at an address in a state of memory.
    pub(super) fn load(&mut self, memory: TermId, address: TermId, access: Access) -> Text {
        let sort = access.sort;
        match self.pool.get(memory) {
            Term::Leaf(Leaf::Memory) if self.naming.old_memory && !self.in_old => {
                self.old_place(address, access)
            }
            Term::Leaf(Leaf::Memory) => self.place(address, access),
            Term::Leaf(Leaf::Param { name, .. }) => {
                if self.naming.old_params.contains(name) && !self.in_old {
                    self.old_place(address, access)
                } else {
                    self.place(address, access)
                }
            }
            Term::Leaf(Leaf::Indeterminate { .. }) => {
                let text = format!("\\uninitialised({})", self.place(address, access).text);
                self.cannot(text, sort)
            }
            Term::App(App::Op(Op::Ite), args) => {
                let &[c, a, b] = args.as_slice() else { return self.cannot("...", sort) };
                if self.depth == 0 || self.budget < 2 {
                    return self.cannot("...", sort);
                }
                self.depth -= 1;
                self.budget -= 2;
                let condition = self.condition(c).at(Level::Or);
                let (l, r) = (self.load(a, address, access), self.load(b, address, access));
                self.depth += 1;
                let text = format!("{condition} ? {} : {}", l.at(Level::Or), r.at(Level::Conditional));
                Text::new(text, Level::Conditional, l.ty)
            }
            Term::App(app, _) => {
                let when = match app {
                    App::Uf(Uf::Call { callee, .. }) => format!("after_{}", naming::callee_name(callee)),
                    App::Uf(Uf::Loop { .. }) => "loop".to_string(),
                    _ => "after_write".to_string(),
                };
                let place = self.place(address, access);
                let text = format!("\\at({}, {when})", place.text);
                Text { ty: place.ty, ..self.cannot(text, sort) }
            }
            _ => self.cannot("...", sort),
        }
    }

    fn old_place(&mut self, address: TermId, access: Access) -> Text {
        self.in_old = true;
        let place = self.place(address, access);
        self.in_old = false;
        self.old(place, None)
    }

    /// The bit-field that is evidently at an address.
    pub(super) fn field_at(&mut self, address: TermId, access: Access) -> Option<Text> {
        let linear = self.linear(&[(1, address)], self.pointer_bits());
        let (base, ty, rest) = self.base(&linear)?;
        let (step, ty) = self.descend(base, &ty, &rest, Some(access))?;
        let of = narrowed(Ty::of(&ty), access.bits?, self.pointer_bits());
        Some(Text::new(step.text, step.level, of))
    }

    fn place(&mut self, address: TermId, access: Access) -> Text {
        let linear = self.linear(&[(1, address)], self.pointer_bits());
        if let Some((base, ty, rest)) = self.base(&linear)
            && let Some((text, ty)) = self.descend(base, &ty, &rest, Some(access))
        {
            let of = Ty::of(&ty);
            let of = access.bits.map_or(of.clone(), |bits| narrowed(of, bits, self.pointer_bits()));
            return Text::new(text.text, text.level, of);
        }
        let pointer = self.term(address);
        let name = match access.sort {
            Sort::F32 => "float".to_string(),
            Sort::F64 => "double".to_string(),
            Sort::F80 => "long double".to_string(),
            sort => integer_name(sort.bits().unwrap_or(8), true, self.naming.model()),
        };
        let text = format!("*({name} *){}", pointer.at(Level::Unary));
        Text::new(text, Level::Unary, Ty::of_sort(access.sort))
    }

    /// Renders a sum that is an address, `None` if it has no base of known type.
    pub(super) fn address(&mut self, linear: &Linear) -> Option<Text> {
        if let Some(text) = self.difference(linear) {
            return Some(text);
        }
        let (base, ty, rest) = self.base(linear)?;
        if base.pointer {
            // Nothing is counted in objects of a type that is incomplete; `void` counts bytes.
            let size = match ty {
                CType::Void => Some(1),
                _ => self.naming.size_of(&ty).filter(|&s| s > 0).map(i128::from),
            };
            let divides =
                |size: i128| rest.constant % size == 0 && rest.terms.iter().all(|(k, _)| k % size == 0);
            if let Some(size) = size.filter(|size| divides(*size)) {
                let index = scaled(&rest, size);
                let sum = self.integer_sum(&index, self.pointer_bits());
                // `p - 1` rather than `p + -1`.
                let (sign, amount) = match sum.text.strip_prefix('-') {
                    Some(rest) if sum.level == Level::Unary => ('-', rest.to_string()),
                    _ => ('+', sum.at(Level::Product)),
                };
                let start = Text::new(base.text, base.level, Ty::Other).at(Level::Sum);
                let text = format!("{start} {sign} {amount}");
                return Some(Text::new(text, Level::Sum, Ty::Pointer(Some(ty))));
            }
        }
        let bytes = self.integer_sum(&rest, self.pointer_bits());
        let text = base.text.clone();
        let pointer = base.pointer;
        let base_level = base.level;
        if let Some((place, ty)) = self.descend(base, &ty, &rest, None) {
            let text = format!("&{}", Text::new(place.text, place.level, Ty::Other).at(Level::Unary));
            return Some(Text::new(text, Level::Unary, Ty::Pointer(Some(ty))));
        }
        let operand = Text::new(text, base_level, Ty::Other);
        let start = if pointer { operand.at(Level::Unary) } else { format!("&{}", operand.at(Level::Unary)) };
        let text = format!("(char *){start} + {}", bytes.at(Level::Product));
        Some(Text::new(text, Level::Sum, Ty::Pointer(None)))
    }

    /// Bytes between two pointers.
    fn difference(&mut self, linear: &Linear) -> Option<Text> {
        let (&[(1, p), (-1, q)] | &[(-1, q), (1, p)]) = linear.terms.as_slice() else { return None };
        if linear.constant != 0 || !self.may_be_pointer(p) || !self.may_be_pointer(q) {
            return None;
        }
        let (l, r) = (self.term(p), self.term(q));
        if !l.ty.is_pointer() || !r.ty.is_pointer() {
            return None;
        }
        // Those of characters count bytes themselves.
        let is_bytes = |ty: &Ty| matches!(ty, Ty::Pointer(Some(CType::Int { bits: 8, .. })));
        let text = match l.ty == r.ty && is_bytes(&l.ty) {
            true => format!("{} - {}", l.at(Level::Sum), r.at(Level::Product)),
            false => format!("(char *){} - (char *){}", l.at(Level::Unary), r.at(Level::Unary)),
        };
        Some(Text::new(text, Level::Sum, Ty::int(self.pointer_bits(), true)))
    }

    /// Cheap test before a term is rendered to see whether it is a pointer.
    fn may_be_pointer(&self, t: TermId) -> bool {
        self.named(t).is_some()
            || matches!(
                self.pool.get(t),
                Term::Leaf(_) | Term::App(App::Load { .. } | App::Uf(_) | App::Op(Op::Ite), _)
            )
    }

    /// Finds the summand that the rest is an offset from, and the type of what it leads to.
    fn base(&mut self, linear: &Linear) -> Option<(Step, CType, Linear)> {
        let (at, step, ty) = self.base_at(linear)?;
        let terms = linear.terms.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, t)| *t).collect();
        Some((step, ty, Linear { terms, constant: linear.constant }))
    }

    fn base_at(&mut self, linear: &Linear) -> Option<(usize, Step, CType)> {
        let object = |text: &str| Step { text: text.to_string(), level: Level::Primary, pointer: false };
        for (i, &(k, t)) in linear.terms.iter().enumerate() {
            let Term::Leaf(leaf) = self.pool.get(t) else { continue };
            match leaf {
                Leaf::SymbolAddr { symbol, .. } if k == 1 => {
                    let global = self.naming.unit?.global(symbol)?;
                    if global.linkage == crate::ir::Linkage::Literal {
                        let text = self.term(t).text;
                        return Some((i, object(&text), global.ty.clone()));
                    }
                    return Some((i, object(&global.name), global.ty.clone()));
                }
                Leaf::LocalAddr { key, .. } if k == 1 => {
                    let ty = self.naming.types.get(leaf)?.clone();
                    return Some((i, object(naming::local_name(key)), ty));
                }
                _ => {}
            }
        }
        for (i, &(k, t)) in linear.terms.iter().enumerate() {
            if k != 1 || !self.may_be_pointer(t) {
                continue;
            }
            let x = self.term(t);
            if let Ty::Pointer(Some(target)) = x.ty {
                return Some((i, Step { text: x.text, level: x.level, pointer: true }, target));
            }
        }
        None
    }

    /// Follows elements and fields from a base down to the accessed scalar; without an access, to
    /// the deepest place that starts at the offset.
    fn descend(
        &mut self,
        base: Step,
        ty: &CType,
        rest: &Linear,
        access: Option<Access>,
    ) -> Option<(Step, CType)> {
        if !base.pointer {
            return self.inside(base, ty, rest, access, 0);
        }
        let size = i128::from(self.naming.size_of(ty).filter(|&s| s > 0)?);
        // A member may lie beyond: of a flexible array, or of another version.
        if rest.constant >= size
            && matches!(ty, CType::Record(_))
            && rest.terms.iter().all(|(k, _)| k % size == 0)
        {
            let (index, _) = split(&Linear { terms: rest.terms.clone(), constant: 0 }, size);
            let step = if index.terms.is_empty() { base.clone() } else { self.element(&base, &index) };
            let inner = Linear { terms: Vec::new(), constant: rest.constant };
            if let Some(found) = self.inside(step, ty, &inner, access, 0) {
                return Some(found);
            }
        }
        let (index, inner) = split(rest, size);
        let whole = index.terms.is_empty() && index.constant == 0;
        let step = match (whole, ty) {
            (true, CType::Record(_)) => base,
            // `m[0][1]` rather than `(*m)[1]`.
            (true, CType::Array(..)) => self.element(&base, &index),
            (true, _) => {
                let operand = Text::new(base.text, base.level, Ty::Other).at(Level::Unary);
                Step { text: format!("*{operand}"), level: Level::Unary, pointer: false }
            }
            (false, _) => self.element(&base, &index),
        };
        self.inside(step, ty, &inner, access, 0)
    }

    fn element(&mut self, base: &Step, index: &Linear) -> Step {
        let index = self.integer_sum(index, self.pointer_bits()).text;
        Step { text: format!("{}[{index}]", base.postfix()), level: Level::Primary, pointer: false }
    }

    fn inside(
        &mut self,
        step: Step,
        ty: &CType,
        rest: &Linear,
        access: Option<Access>,
        depth: usize,
    ) -> Option<(Step, CType)> {
        if depth > 16 {
            return None;
        }
        let is_start = access.is_none() && rest.terms.is_empty() && rest.constant == 0;
        match ty {
            _ if is_start && self.meant().is_some_and(|to| is_like(ty, to)) => Some((step, ty.clone())),
            CType::Record(_) if is_start && self.naming.whole && depth > 0 && self.meant().is_none() => {
                Some((step, ty.clone()))
            }
            CType::Record(id) => self.field(step, *id, rest, access, depth),
            CType::Array(element, _) => {
                let size = i128::from(self.naming.size_of(element).filter(|&s| s > 0)?);
                let (index, inner) = split(rest, size);
                let step = self.element(&step, &index);
                self.inside(step, element, &inner, access, depth + 1)
            }
            CType::Opaque { name, size } if access.is_some() => self.half(step, (name, *size), rest, access?),
            scalar => {
                let fits = match access {
                    None => true,
                    // A `long double` is longer than its value.
                    Some(a) => {
                        let is_it = scalar.sort(self.pointer_bits()) == Some(a.sort);
                        is_it && a.sort.bytes() == a.bytes && a.bits.is_none()
                    }
                };
                (fits && rest.terms.is_empty() && rest.constant == 0).then(|| (step, scalar.clone()))
            }
        }
    }

    /// Half of a complex number, where the unit includes the header with the function that gives it.
    fn half(
        &self,
        step: Step,
        (name, size): (&str, u64),
        rest: &Linear,
        access: Access,
    ) -> Option<(Step, CType)> {
        let (kind, suffix) = match access.sort {
            Sort::F32 => (FloatKind::F32, "f"),
            Sort::F64 => (FloatKind::F64, ""),
            Sort::F80 => (FloatKind::LongDouble, "l"),
            _ => return None,
        };
        let stride = self.naming.size_of(&CType::Float(kind))?;
        let fits = name.contains("_Complex") && size == 2 * stride && access.sort.bytes() == access.bytes;
        let function = match rest.constant {
            _ if !fits || !rest.terms.is_empty() => return None,
            0 => format!("creal{suffix}"),
            at if at == i128::from(stride) => format!("cimag{suffix}"),
            _ => return None,
        };
        let mut files = self.naming.unit?.files.iter();
        let is_declared = files.any(|f| f.file_name().is_some_and(|name| name == "complex.h"));
        let text = format!("{function}({})", step.text);
        is_declared.then_some((Step { text, level: Level::Primary, pointer: false }, CType::Float(kind)))
    }

    fn field(
        &mut self,
        step: Step,
        id: RecordId,
        rest: &Linear,
        access: Option<Access>,
        depth: usize,
    ) -> Option<(Step, CType)> {
        let unit = self.naming.unit?;
        let record = unit.records.get(id.0 as usize)?;
        let dot = if step.pointer { "->" } else { "." };
        // Members of a union overlap: of those that lead to the accessed scalar, the one that the source names here
        // is taken, or the first.
        let mut fields: Vec<&Field> = record.fields.iter().collect();
        if record.is_union {
            fields.sort_by_key(|f| self.naming.words.get(&*f.name).copied().unwrap_or(u32::MAX));
        }
        for field in fields {
            let offset = rest.constant - i128::from(field.offset);
            let within = self.naming.size_of(&field.ty).is_none_or(|s| offset < i128::from(s));
            let wanted = access.and_then(|a| a.bits);
            if field.bits.is_some() && field.bits == wanted && offset == 0 && rest.terms.is_empty() {
                let text = format!("{}{dot}{}", step.postfix(), field.name);
                return Some((Step { text, level: Level::Primary, pointer: false }, field.ty.clone()));
            }
            if field.bits.is_some() || offset < 0 || !within {
                continue;
            }
            let text = format!("{}{dot}{}", step.postfix(), field.name);
            let next = Step { text, level: Level::Primary, pointer: false };
            let inner = Linear { terms: rest.terms.clone(), constant: offset };
            if let Some(found) = self.inside(next, &field.ty, &inner, access, depth + 1) {
                return Some(found);
            }
        }
        None
    }
}

/// Splits an offset in bytes into an index of elements and an offset within one.
fn split(rest: &Linear, size: i128) -> (Linear, Linear) {
    let index = rest.constant.div_euclid(size);
    let (whole, part): (Vec<_>, Vec<_>) = rest.terms.iter().partition(|(k, _)| k % size == 0);
    (
        Linear { terms: whole.into_iter().map(|(k, t)| (k / size, t)).collect(), constant: index },
        Linear { terms: part, constant: rest.constant - index * size },
    )
}

/// Divides a sum of bytes, all multiples of a size, by it.
fn scaled(rest: &Linear, size: i128) -> Linear {
    Linear { terms: rest.terms.iter().map(|&(k, t)| (k / size, t)).collect(), constant: rest.constant / size }
}
