//! Names of the objects of a run: `p`, `p->next`, `\result->child`; what no pointer of the input or
//! of the result leads to has none.

use crate::analysis::lineage::Member;
use crate::interp::{self, FinalObject, Identity, Outcome, Storage, Target, Value};
use crate::invariant;
use crate::ir::CType;
use crate::report;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How an object is reached.
#[derive(Clone)]
struct Reached {
    /// A pointer to it, or the object itself.
    text: String,
    is_pointer: bool,
    ty: CType,
}

impl Reached {
    /// What paths to its parts begin with.
    fn root(&self) -> String {
        match (self.is_pointer, &self.ty) {
            (true, CType::Record(_)) => format!("{}->", self.text),
            (true, CType::Array(..)) | (false, _) => self.text.clone(),
            (true, _) => format!("*{}", self.text),
        }
    }
}

/// Names of what a run starts from and ends with.
pub(super) struct Names<'a> {
    pub run: &'a invariant::Run,
    pub m: &'a Member,
    /// Types of the objects of the input, as this side's unit has them.
    types: BTreeMap<interp::ObjectId, CType>,
    reached: BTreeMap<Identity, Reached>,
}

impl<'a> Names<'a> {
    /// Cost: linear in the objects of the run.
    pub fn new(run: &'a invariant::Run, m: &'a Member) -> Names<'a> {
        let own = |ty: &CType| match &run.unit {
            Some(unit) if !Arc::ptr_eq(unit, &m.unit) => crate::ir::retyped(ty, unit, &m.unit),
            _ => ty.clone(),
        };
        let types = run.input.objects.iter().map(|o| (o.id, own(&o.ty))).collect();
        let mut names = Names { run, m, types, reached: BTreeMap::new() };
        let f = &m.function;
        for (argument, p) in run.input.arguments.iter().zip(&f.params) {
            if let Value::Pointer { object, offset: 0 } = argument {
                names.reach_input(*object, f.var(*p).name.to_string(), &f.var(*p).ty);
            }
        }
        names.follow_input();
        for outcome in [&run.new, &run.old] {
            names.follow_outcome(outcome);
        }
        names
    }

    fn input_object(&self, id: interp::ObjectId) -> Option<&'a interp::ObjectInit> {
        self.run.input.objects.iter().find(|o| o.id == id)
    }

    fn identity(o: &interp::ObjectInit) -> Identity {
        match &o.storage {
            Storage::Global(symbol) => Identity::Global(symbol.clone()),
            _ => Identity::Input(o.id),
        }
    }

    /// `ty`: the pointer's type.
    fn reach_input(&mut self, id: interp::ObjectId, pointer: String, ty: &CType) -> bool {
        let Some(o) = self.input_object(id) else { return false };
        let identity = Names::identity(o);
        if matches!(identity, Identity::Global(_)) || self.reached.contains_key(&identity) {
            return false;
        }
        let ty = match (self.own_type(o), ty) {
            // What a model of the solver gives has no type of its own.
            (CType::Void, CType::Pointer(to)) if self.holds(to, o) => (**to).clone(),
            (own, _) => own.clone(),
        };
        self.reached.insert(identity, Reached { text: pointer, is_pointer: true, ty });
        true
    }

    /// What an object of the input was made as.
    fn own_type(&self, o: &interp::ObjectInit) -> &CType {
        self.types.get(&o.id).map_or(&CType::Void, single)
    }

    /// Whether all bytes of an object are those of one value of a type.
    fn holds(&self, ty: &CType, o: &interp::ObjectInit) -> bool {
        self.m.unit.size_of(ty).is_some_and(|size| o.bytes.len() as u64 <= size)
    }

    /// The type of an object of the input, as far as it is known.
    pub fn type_of<'o>(&'o self, o: &'o interp::ObjectInit) -> &'o CType {
        let reached = || self.reached.get(&Names::identity(o)).map(|r| &r.ty);
        match self.own_type(o) {
            CType::Void => reached().unwrap_or(&CType::Void),
            ty => ty,
        }
    }

    /// Follows the pointers of the input, nearest objects first.
    fn follow_input(&mut self) {
        loop {
            let mut found = Vec::new();
            for o in &self.run.input.objects {
                let Some((root, ty)) = self.root(&Names::identity(o)) else { continue };
                for (offset, v) in &o.pointers {
                    if let Value::Pointer { object, offset: 0 } = v
                        && let Some((path, ty)) = self.part(&root, &ty, *offset, 0)
                    {
                        found.push((*object, path, ty));
                    }
                }
            }
            let mut more = false;
            for (object, path, ty) in found {
                more |= self.reach_input(object, path, &ty);
            }
            if !more {
                break;
            }
        }
    }

    /// Names allocated objects by what leads to them in the end.
    fn follow_outcome(&mut self, outcome: &Outcome) {
        if let Some(Target::Object { identity: identity @ Identity::Allocated(_), offset: 0 }) =
            &outcome.returned_target
            && let CType::Pointer(to) = &self.m.function.ret
        {
            let reached = Reached { text: "\\result".into(), is_pointer: true, ty: (**to).clone() };
            self.reached.entry(identity.clone()).or_insert(reached);
        }
        loop {
            let mut found = Vec::new();
            for o in &outcome.left.memory {
                let Some((root, ty)) = self.root(&o.identity) else { continue };
                for p in &o.pointers {
                    if let Target::Object { identity: identity @ Identity::Allocated(_), offset: 0 } =
                        &p.target
                        && !self.reached.contains_key(identity)
                        && let Some((path, CType::Pointer(to))) = self.part(&root, &ty, p.offset, 0)
                    {
                        found.push((identity.clone(), path, (*to).clone()));
                    }
                }
            }
            if found.is_empty() {
                break;
            }
            for (identity, text, ty) in found {
                self.reached.entry(identity).or_insert(Reached { text, is_pointer: true, ty });
            }
        }
    }

    /// The place at an offset of an object of a type.
    fn part(&self, path: &str, ty: &CType, offset: u64, depth: usize) -> Option<(String, CType)> {
        match ty {
            _ if depth > 8 => None,
            CType::Record(id) => {
                let dot = if path.is_empty() || path.ends_with("->") { "" } else { "." };
                self.m.unit.records.get(id.0 as usize)?.fields.iter().find_map(|f| {
                    let inner = offset.checked_sub(f.offset)?;
                    let inside = self.m.unit.size_of(&f.ty).is_none_or(|s| inner < s);
                    inside.then(|| self.part(&format!("{path}{dot}{}", f.name), &f.ty, inner, depth + 1))?
                })
            }
            CType::Array(element, _) => {
                let size = self.m.unit.size_of(element).filter(|s| *s > 0)?;
                self.part(&format!("{path}[{}]", offset / size), element, offset % size, depth + 1)
            }
            scalar => (offset == 0).then(|| (path.to_owned(), scalar.clone())),
        }
    }

    /// What a path into an object begins with, and the object's type.
    pub fn root(&self, identity: &Identity) -> Option<(String, CType)> {
        match identity {
            Identity::Global(symbol) => {
                let g = self.m.unit.global(symbol)?;
                Some((g.name.to_string(), g.ty.clone()))
            }
            Identity::Result => Some(("\\result".into(), self.m.function.ret.clone())),
            _ => self.reached.get(identity).map(|r| (r.root(), r.ty.clone())),
        }
    }

    /// Name of an object of the input; globals have their own.
    pub fn object(&self, id: interp::ObjectId) -> String {
        match self.input_object(id).map(|o| &o.storage) {
            Some(Storage::Global(symbol)) => self.global(symbol),
            _ => format!("m{}", id.0),
        }
    }

    fn global(&self, symbol: &str) -> String {
        self.m.unit.global(symbol).map_or(symbol, |g| &g.name).to_owned()
    }

    pub fn value(&self, v: &Value, ty: &CType) -> report::Value {
        match v {
            Value::Const(c) => report::Value::Text(super::constant(*c, ty)),
            Value::Pointer { object, offset } => {
                report::Value::Pointer { object: self.object(*object), offset: *offset }
            }
            Value::Function(name) => report::Value::Text(name.to_string()),
            Value::Global { symbol, offset } => report::Value::Text(self.in_global(symbol, *offset)),
        }
    }

    /// A call with its arguments, as C.
    pub fn call(&self, call: &interp::AssumedCall) -> String {
        let prototype = self.m.unit.prototypes.iter().find(|p| p.name == call.callee);
        let argument = |(k, v): (usize, &Value)| match v {
            Value::Const(c) => {
                let ty = prototype.and_then(|p| p.params.get(k));
                ty.map_or_else(
                    || c.signed().map_or("_".into(), |n| n.to_string()),
                    |ty| super::constant(*c, ty),
                )
            }
            Value::Pointer { object, offset } => {
                let target = Target::Object { identity: Identity::Input(*object), offset: *offset };
                self.target(&target)
            }
            Value::Function(name) => name.to_string(),
            Value::Global { symbol, .. } if &**symbol == "?" => "_".to_owned(),
            Value::Global { symbol, offset } => {
                let identity = Identity::Global(symbol.clone());
                self.target(&Target::Object { identity, offset: *offset })
            }
        };
        let arguments: Vec<String> = call.arguments.iter().enumerate().map(argument).collect();
        format!("{}({})", call.callee, arguments.join(", "))
    }

    /// Where a pointer leads at the end of a run.
    pub fn target(&self, target: &Target) -> String {
        match target {
            Target::Object { identity: Identity::Global(symbol), offset } => {
                let literal = self.m.unit.global(symbol).and_then(literal_text);
                match literal {
                    Some(text) if *offset == 0 => text,
                    Some(text) if self.m.unit.global(symbol).is_some_and(is_narrow) => {
                        format!("{text} {} {}", if *offset < 0 { '-' } else { '+' }, offset.unsigned_abs())
                    }
                    _ => self.in_global(symbol, *offset),
                }
            }
            Target::Object { identity: identity @ Identity::Input(id), offset } => {
                match self.reached.get(identity) {
                    Some(r) => self.in_elements(&r.text, &r.ty, *offset),
                    None => moved(&format!("&{}", self.object(*id)), *offset),
                }
            }
            Target::Object { identity: Identity::Allocated(_), offset: 0 } => "a new object".into(),
            Target::Object { identity: Identity::Allocated(_), offset } => {
                format!("a new object {offset:+} bytes")
            }
            Target::Object { identity: Identity::Result, .. } => "&\\result".into(),
            Target::Function(name) => name.to_string(),
            Target::Dangling => "a freed object".into(),
        }
    }

    /// An address inside a global: `&g`, `&table[3]`.
    fn in_global(&self, symbol: &str, offset: i64) -> String {
        let name = self.global(symbol);
        let element = self.m.unit.global(symbol).and_then(|g| match &g.ty {
            CType::Array(element, _) => self.m.unit.size_of(element).filter(|s| *s > 0),
            _ => None,
        });
        match element.map(|size| size as i64) {
            Some(_) if offset == 0 => name,
            Some(size) if offset % size == 0 => format!("&{name}[{}]", offset / size),
            _ => moved(&format!("&{name}"), offset),
        }
    }

    /// An address some bytes behind a pointer to elements of a type: `p + 3`.
    fn in_elements(&self, pointer: &str, ty: &CType, offset: i64) -> String {
        let element = if let CType::Array(element, _) = ty { element } else { ty };
        match self.m.unit.size_of(element).map(|size| size as i64) {
            Some(size) if size > 0 && offset > 0 && offset % size == 0 => {
                format!("{pointer} + {}", offset / size)
            }
            _ => moved(pointer, offset),
        }
    }

    /// A pointer to an object of a run's end.
    pub fn pointer(&self, o: &FinalObject) -> Option<String> {
        self.reached.get(&o.identity).map(|r| r.text.clone())
    }
}

/// Whether the elements of an array are bytes.
fn is_narrow(g: &crate::ir::Global) -> bool {
    g.ty.target().is_some_and(is_char)
}

/// The text of a string literal.
fn literal_text(g: &crate::ir::Global) -> Option<String> {
    let is_literal = g.linkage == crate::ir::Linkage::Literal;
    is_literal.then(|| crate::semantics::c_text::written_literal(g))
}

/// An address, or one some bytes behind it.
fn moved(pointer: &str, offset: i64) -> String {
    if offset == 0 { pointer.to_owned() } else { format!("(char *){pointer} + {offset}") }
}

/// An array of one element is that element; texts stay texts.
pub(super) fn single(ty: &CType) -> &CType {
    match ty {
        CType::Array(element, Some(1)) if !is_char(element) => element,
        other => other,
    }
}

pub(super) fn is_char(ty: &CType) -> bool {
    matches!(ty, CType::Int { bits: 8, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{array, global, int, integer, pointer};
    use crate::ir::{InitPiece, Linkage, RecordId};

    fn reached(text: &str, is_pointer: bool, ty: CType) -> String {
        Reached { text: text.into(), is_pointer, ty }.root()
    }

    #[test]
    fn paths_into_an_object_begin_as_c_writes_them() {
        assert_eq!(reached("p", true, CType::Record(RecordId(0))), "p->");
        assert_eq!(reached("p", true, array(int(), 3)), "p");
        assert_eq!(reached("p", true, int()), "*p");
        assert_eq!(reached("g", false, int()), "g");
    }

    #[test]
    fn an_address_behind_another_counts_bytes() {
        assert_eq!(moved("p", 0), "p");
        assert_eq!(moved("&g", 3), "(char *)&g + 3");
    }

    #[test]
    fn an_array_of_one_element_is_that_element_but_for_texts() {
        let char = integer(8, true);
        let (one, two, text) = (array(int(), 1), array(int(), 2), array(char.clone(), 1));
        assert_eq!(single(&one), &int());
        assert_eq!(single(&two), &two);
        assert_eq!(single(&text), &text);
        assert!(is_char(&char) && !is_char(&int()) && !is_char(&pointer(char)));
    }

    #[test]
    fn a_literal_is_shown_as_it_is_written() {
        let bytes = |bytes: &[u8]| vec![InitPiece::Bytes { offset: 0, bytes: bytes.to_vec() }];
        let mut g = global(".str:1", array(integer(8, true), 6), 6, bytes(b"a\"b\0c\0"));
        assert_eq!(literal_text(&g), None, "an object with a name");
        g.linkage = Linkage::Literal;
        assert_eq!(literal_text(&g).as_deref(), Some("\"a\\\"b\\000c\""));
    }
}
