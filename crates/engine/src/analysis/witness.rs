//! Replayed runs as witnesses of the report.

mod names;

use super::layouts;
use super::lineage::Member;
use crate::fact::{Claim, Kind};
use crate::interp::{self, FinalObject, Outcome};
use crate::invariant::{self, CellValue, Observable};
use crate::ir::{CType, Const, Field, Linkage, VarKind};
use crate::report::{self, Argument, CallResult, MemoryObject, Run, Undefined, Witness, WitnessKind};
use crate::semantics::c_text::{float_literal, string_literal};
use names::{Names, is_char};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Converts a run, of a churn if there is one. `program`: the entry is a `main`.
pub fn convert(
    churn: Option<&invariant::Churn>,
    run: &invariant::Run,
    old: &Member,
    new: &Member,
    program: bool,
) -> Witness {
    let names = Names::new(run, new);
    let old_names = Names::new(run, old);
    let (before, after) = values(churn, &old_names, &names);
    let reads_stdin =
        !run.input.stdin.is_empty() || !run.old.read.values.is_empty() || !run.new.read.values.is_empty();
    let (stdin, stdin_base64) = match (reads_stdin || program, String::from_utf8(run.input.stdin.clone())) {
        (false, _) => (None, None),
        (true, Ok(text)) => (Some(text), None),
        (true, Err(e)) => (None, Some(base64(e.as_bytes()))),
    };
    let arguments = if program { Vec::new() } else { arguments(run, new) };
    let mut relies_on = Vec::new();
    if run.old.assumed.calls.iter().chain(&run.new.assumed.calls).next().is_some() {
        relies_on.push("assumed-calls".to_owned());
    }
    if run.is_relaid() {
        relies_on.push("layouts".to_owned());
    }
    if run.old.overflowed() || run.new.overflowed() {
        relies_on.push("-fwrapv".to_owned());
    }
    relies_on.extend(guessed(run, [old, new]));
    let elsewhere: BTreeSet<&PathBuf> = run.old.elsewhere.iter().chain(&run.new.elsewhere).collect();
    Witness {
        kind: if program { WitnessKind::Program } else { WitnessKind::Call },
        entry: new.function.name.to_string(),
        arguments,
        memory: run.input.objects.iter().map(|o| object(o, &names)).collect(),
        calls: assumed_calls(run, &old_names, &names),
        stdin,
        stdin_base64,
        argv: (program && run.input.argv.len() > 1)
            .then(|| run.input.argv.iter().map(|w| String::from_utf8_lossy(w).into_owned()).collect()),
        relies_on,
        elsewhere: elsewhere.into_iter().map(|p| report::RepoPath::from(p.as_path())).collect(),
        old: outcome(&run.old, old, &old_names, program, before),
        new: outcome(&run.new, new, &names, program, after),
    }
}

/// The names without a meaning that the functions mention, and that the input says nothing of, as `guessed(NAME = 0)`.
fn guessed(run: &invariant::Run, members: [&Member; 2]) -> BTreeSet<String> {
    let is_given = |name: &str| {
        let storages = run.input.objects.iter().map(|o| &o.storage);
        storages.into_iter().any(|s| matches!(s, interp::Storage::Global(symbol) if **symbol == *name))
    };
    let is_number = |m: &Member, name: &str| {
        let is_unknown = m.unit.gaps.invented.get(name).is_some_and(|why| why.contains("object"));
        let global = m.unit.globals.iter().find(|g| *g.name == *name);
        is_unknown
            && global.is_some_and(|g| g.linkage == Linkage::Import && m.unit.value_bytes(&g.ty).is_some())
    };
    let names = members.into_iter().flat_map(|m| m.function.invented.iter().filter(|n| is_number(m, n)));
    names.filter(|name| !is_given(name)).map(|name| format!("guessed({name} = 0)")).collect()
}

/// What the input says that a call returns, in C; a pointer that leads to an object of the input is `&m1`, with
/// bytes that are added to it.
fn given_value(value: &interp::Value, ty: &CType, names: &Names) -> Option<String> {
    match (value, names.value(value, ty)) {
        (interp::Value::Const(c), _) if ty.is_pointer() => {
            Some(if c.to_bits() == 0 { "NULL" } else { "not NULL" }.to_owned())
        }
        (interp::Value::Const(c), _) if c.sort().is_float() => Some(float_literal(*c)),
        (interp::Value::Const(c), _) => {
            Some(if ty.is_signed() { c.signed()?.to_string() } else { c.unsigned()?.to_string() })
        }
        (_, report::Value::Pointer { object, offset: 0 }) => Some(format!("&{object}")),
        (_, report::Value::Pointer { object, offset }) => Some(format!("&{object} {offset:+}")),
        (_, report::Value::Text(text)) => Some(text),
    }
}

/// Returns the unknown calls of a run but the one that ended it.
fn returned_calls(o: &Outcome) -> &[interp::AssumedCall] {
    match (&o.end, o.assumed.calls.split_last()) {
        (interp::End::NoReturn { callee, .. }, Some((last, rest))) if last.callee == *callee => rest,
        _ => &o.assumed.calls,
    }
}

/// The calls of functions that nobody defines, of both runs; what they are taken to give.
fn assumed_calls(run: &invariant::Run, old: &Names, new: &Names) -> Vec<CallResult> {
    let mut calls: BTreeMap<(&str, u32), CallResult> = BTreeMap::new();
    for (outcome, names) in [(&run.new, new), (&run.old, old)] {
        for c in returned_calls(outcome) {
            let prototype = names.m.unit.prototypes.iter().find(|p| p.name == c.callee);
            let given = run.input.calls.iter().find(|g| g.callee == c.callee && g.nth == c.nth);
            // A request for memory that is refused has no prototype where the library's header is not read.
            let ty = prototype.map_or(CType::Pointer(CType::Void.into()), |p| p.ret.clone());
            let returned = match (&ty, given) {
                (CType::Void, _) => None,
                (ty, Some(given)) if c.given => given_value(&given.result, ty, names),
                _ => Some("0".to_owned()),
            };
            let call =
                CallResult { callee: c.callee.to_string(), nth: c.nth, returned, ..Default::default() };
            calls.entry((&*c.callee, c.nth)).or_insert(call);
        }
    }
    calls.into_values().collect()
}

/// Values by name.
type Values = BTreeMap<String, String>;

/// What a churn is about, at the end of both runs.
fn values(churn: Option<&invariant::Churn>, old: &Names, names: &Names) -> (Values, Values) {
    let (mut before, mut after) = (Values::new(), Values::new());
    match churn.map(|c| (&c.subject, c)) {
        Some((Observable::Cell { name, .. }, churn)) => {
            if let Some(change) = &churn.cell {
                let text = |v: &CellValue, names: &Names| match v {
                    CellValue::Const(c) => constant(*c, &change.ty),
                    CellValue::Target(t) => names.target(t),
                };
                before.insert(name.to_string(), text(&change.old, old));
                after.insert(name.to_string(), text(&change.new, names));
            }
        }
        Some((Observable::Memory, churn)) => {
            if let Some((a, b)) = &churn.objects {
                changed_cells((a, old), (b, names), &mut before, &mut after);
            }
        }
        Some((Observable::Calls, churn)) => {
            let (gone, new) = differing_calls(churn, (&names.run.old, old), (&names.run.new, names));
            before.insert(churn.subject.name(), gone);
            after.insert(churn.subject.name(), new);
        }
        _ => {
            before = locals(&names.run.old, old.m);
            after = locals(&names.run.new, names.m);
        }
    }
    (before, after)
}

/// What is called in a run.
type Called<'s, 'a> = (&'s Outcome, &'s Names<'a>);

/// The calls of the functions that a churn is about, of both runs, that the other run does not make.
fn differing_calls(churn: &invariant::Churn, old: Called, new: Called) -> (String, String) {
    let facts = || churn.removed.iter().chain(&churn.added);
    let texts = |(o, names): Called| -> Vec<String> {
        let told = o.assumed.calls.iter().filter(|c| {
            let is_made = |f: &invariant::Fact| match f.formula.claim() {
                Claim::Calls(call) => matches!(&call.kind, Kind::Call(name, _) if *name == *c.callee),
                _ => false,
            };
            facts().any(is_made)
        });
        told.map(|c| names.call(c)).collect()
    };
    let (gone, made) = (texts(old), texts(new));
    let only = |own: &[String], other: &[String]| {
        let list: Vec<&str> = own.iter().filter(|t| !other.contains(t)).map(String::as_str).collect();
        if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
    };
    (only(&gone, &made), only(&made, &gone))
}

/// Where an address lies in the machine says nothing: pointers are null or not.
fn locals(o: &Outcome, m: &Member) -> Values {
    let vars = m.function.vars.iter().zip(&o.left.locals).filter(|(v, _)| v.kind != VarKind::Temp);
    let text = |c: Const, ty: &CType| match c.to_bits() {
        bits if bits != 0 && ty.is_pointer() => "not NULL".to_owned(),
        _ => constant(c, ty),
    };
    vars.filter_map(|(v, c)| Some((v.name.to_string(), text((*c)?, &v.ty)))).collect()
}

/// An object at the end of a run, with the names of that side.
type Sided<'s, 'a> = (&'s FinalObject, &'s Names<'a>);

/// The cells in which an object differs at the end of two runs.
fn changed_cells(a: Sided, b: Sided, before: &mut Values, after: &mut Values) {
    /// Cells that are spelled out.
    const SHOWN: usize = 4;
    // What no pointer of the input or of the result leads to at its start shows as bytes.
    let whole = || ("a new object".to_owned(), bytes_type(a.0.bytes.len().max(b.0.bytes.len())));
    let known = b.1.root(&b.0.identity);
    let is_known = known.is_some();
    let (root, _) = known.unwrap_or_else(whole);
    let word = |o: &FinalObject| if o.live { "in use" } else { "freed" }.to_owned();
    if a.0.live != b.0.live {
        let name = b.1.pointer(a.0).map_or(root, |p| format!("*{p}"));
        before.insert(name.clone(), word(a.0));
        after.insert(name, word(b.0));
        return;
    }
    if !is_known && a.0.bytes.len() != b.0.bytes.len() {
        before.insert(format!("size of {root}"), a.0.bytes.len().to_string());
        after.insert(format!("size of {root}"), b.0.bytes.len().to_string());
        return;
    }
    let (x, y) = (cells_of(a, &whole()), cells_of(b, &whole()));
    let text = |v: Option<&report::Value>| match v {
        Some(report::Value::Text(text)) => text.clone(),
        _ => "0".to_owned(),
    };
    for place in differing(&x, &y).into_iter().take(SHOWN) {
        before.insert(place.clone(), text(x.get(place)));
        after.insert(place.clone(), text(y.get(place)));
    }
}

/// Whether the two sides of a churn about memory have the same in every place that both have: a type
/// was laid out in another way, and that is all.
pub fn is_layout_only(c: &invariant::Churn, old: &Member, new: &Member) -> bool {
    let (Some((a, b)), Some(run), Observable::Memory) = (&c.objects, &c.witness, &c.subject) else {
        return false;
    };
    if !layouts::differ(old, new) {
        return false;
    }
    let (before, after) = (Names::new(run, old), Names::new(run, new));
    if a.live != b.live || before.root(&a.identity).is_none() || after.root(&b.identity).is_none() {
        return false;
    }
    let none = (String::new(), bytes_type(0));
    let (x, y) = (cells_of((a, &before), &none), cells_of((b, &after), &none));
    !x.keys().eq(y.keys()) && differing(&x, &y).is_empty()
}

/// The places of an object and what they hold, as its own version lays it out.
fn cells_of((o, names): Sided, unknown: &(String, CType)) -> Cells {
    let (root, ty) = names.root(&o.identity).unwrap_or_else(|| unknown.clone());
    let texts = o.pointers.iter().map(|p| (p.offset, report::Value::Text(names.target(&p.target))));
    let content = Content { bytes: &o.bytes, pointers: texts.collect(), zeros: true };
    let mut cells = BTreeMap::new();
    content.cells(names.m, &ty, 0, root, &mut cells);
    cells
}

/// What places hold, by their paths.
type Cells = BTreeMap<String, report::Value>;

/// The places that differ: of those that only one side has nothing is said.
fn differing<'c>(a: &'c Cells, b: &Cells) -> Vec<&'c String> {
    a.iter().filter(|(place, v)| b.get(*place).is_some_and(|w| w != *v)).map(|(place, _)| place).collect()
}

fn bytes_type(count: usize) -> CType {
    let byte = CType::Int { bits: 8, signed: true, name: "char".into() };
    CType::Array(Arc::new(byte), Some(count as u64))
}

fn arguments(run: &invariant::Run, m: &Member) -> Vec<Argument> {
    let names = Names::new(run, m);
    m.function
        .params
        .iter()
        .enumerate()
        .map(|(i, &p)| {
            let var = m.function.var(p);
            let value = match run.input.arguments.get(i) {
                Some(v) => names.value(v, &var.ty),
                None => report::Value::from("0"),
            };
            Argument { name: var.name.to_string(), ty: type_name(m, &var.ty), value }
        })
        .collect()
}

/// Returns a constant as C text, read as a value of the type.
pub fn constant(c: Const, ty: &CType) -> String {
    match c {
        Const::Bool(b) => (b as u8).to_string(),
        // A value, not an expression: no suffix.
        Const::F32(_) | Const::F64(_) | Const::F80(_) => {
            float_literal(c).trim_end_matches(['f', 'L']).to_owned()
        }
        Const::Bv { bits, .. } if ty.is_pointer() => {
            if bits == 0 {
                "NULL".into()
            } else {
                format!("{bits:#x}")
            }
        }
        Const::Bv { bits, .. } if ty.is_signed() => c.signed().unwrap_or(bits as i128).to_string(),
        Const::Bv { bits, .. } => bits.to_string(),
    }
}

fn object(o: &interp::ObjectInit, names: &Names) -> MemoryObject {
    /// Bytes of the largest object whose end is made up.
    const MAX_PADDED: u64 = 1 << 16;
    let storage = match o.storage {
        interp::Storage::Heap => report::Storage::Heap,
        interp::Storage::Global(_) => report::Storage::Global,
        interp::Storage::Argument => report::Storage::Argument,
    };
    let ty = names.type_of(o);
    let pointee = if let CType::Pointer(_) = ty { ty.clone() } else { CType::Pointer(Arc::new(CType::Void)) };
    let pointers = o.pointers.iter().map(|(at, v)| (*at, names.value(v, &pointee)));
    // Of what a model of the solver gives there are no bytes beyond those that matter.
    let mut bytes = o.bytes.clone();
    let size = names.m.unit.size_of(ty).unwrap_or(0).min(MAX_PADDED);
    bytes.resize(bytes.len().max(size as usize), 0);
    let content = Content { bytes: &bytes, pointers: pointers.collect(), zeros: false };
    let mut cells = BTreeMap::new();
    content.cells(names.m, ty, 0, String::new(), &mut cells);
    MemoryObject { id: names.object(o.id), ty: type_name(names.m, ty), storage, cells }
}

/// What an object holds.
struct Content<'a> {
    bytes: &'a [u8],
    pointers: BTreeMap<u64, report::Value>,
    /// Zeros are spelled out.
    zeros: bool,
}

impl Content<'_> {
    /// Spells the scalars of a type out, by their paths; texts as string literals.
    fn cells(
        &self,
        m: &Member,
        ty: &CType,
        at: u64,
        path: String,
        cells: &mut BTreeMap<String, report::Value>,
    ) {
        /// Most cells of one object.
        const MAX: usize = 64;
        if cells.len() >= MAX {
            return;
        }
        match ty {
            CType::Array(element, count) if is_char(element) && count.is_some() => {
                let end = at.saturating_add(count.unwrap_or(0));
                let Some(raw) = self.bytes.get(at as usize..(end as usize).min(self.bytes.len())) else {
                    return;
                };
                let used = raw.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
                if used > 0 || self.zeros || path.is_empty() {
                    let text = string_literal(raw.get(..used).unwrap_or(raw));
                    cells.insert(path, report::Value::Text(text));
                }
            }
            CType::Array(element, count) => {
                let Some(size) = m.unit.size_of(element) else { return };
                for i in 0..count.unwrap_or(0).min(1024) {
                    self.cells(m, element, at + i * size, format!("{path}[{i}]"), cells);
                }
            }
            CType::Record(id) => {
                let fields = &m.unit.record(*id).fields;
                let shown = |(k, _): &(usize, &Field)| self.is_shown(m, fields, *k, at);
                for (_, f) in fields.iter().enumerate().filter(shown) {
                    let dot = if path.is_empty() || path.ends_with("->") { "" } else { "." };
                    let path = format!("{path}{dot}{}", f.name);
                    match f.bits {
                        Some((first, width)) => self.bit_field(m, f, (at, first, width), path, cells),
                        None => self.cells(m, &f.ty, at + f.offset, path, cells),
                    }
                }
            }
            CType::Void => self.words(at, &path, m.unit.data_model.pointer_bits(), cells),
            _ => {
                let Some(sort) = ty.sort(m.unit.data_model.pointer_bits()) else { return };
                let path = if path.is_empty() { "[0]".to_owned() } else { path };
                if let Some(p) = self.pointers.get(&at) {
                    cells.insert(path, p.clone());
                    return;
                }
                let bytes = (sort.bits().unwrap_or(8) / 8) as usize;
                let Some(raw) = self.bytes.get(at as usize..at as usize + bytes) else { return };
                let bits = raw.iter().rev().fold(0u128, |acc, b| acc << 8 | *b as u128);
                if (bits != 0 || self.zeros)
                    && let Some(c) = Const::from_bits(sort, bits)
                {
                    // What is read as something else, too, has its sign.
                    let sign = if !self.zeros && is_negative_nan(c) { "-" } else { "" };
                    cells.insert(path, report::Value::Text(format!("{sign}{}", constant(c, ty))));
                }
            }
        }
    }
}

fn is_negative_nan(c: Const) -> bool {
    match c {
        Const::F32(bits) => f32::from_bits(bits).is_nan() && bits >> 31 == 1,
        Const::F64(bits) => f64::from_bits(bits).is_nan() && bits >> 63 == 1,
        _ => false,
    }
}

impl Content<'_> {
    /// Spells out what nobody declares: words of four bytes that are not zero, and pointers, by their byte
    /// (`+8`).
    fn words(&self, at: u64, path: &str, pointer_bits: u16, cells: &mut BTreeMap<String, report::Value>) {
        const MAX: usize = 64;
        const WORD: usize = 4;
        let mut next = at as usize;
        while next < self.bytes.len() && cells.len() < MAX {
            let key = || format!("{path}+{next}");
            if let Some(p) = self.pointers.get(&(next as u64)) {
                cells.insert(key(), p.clone());
                next += usize::from(pointer_bits / 8).max(WORD);
                continue;
            }
            let word =
                self.bytes.iter().skip(next).take(WORD).rev().fold(0u32, |acc, b| acc << 8 | u32::from(*b));
            if word != 0 {
                cells.insert(key(), report::Value::Text(format!("{word:#x}")));
            }
            next += WORD;
        }
    }

    /// Of members that share bytes (of a union) one is shown: the first that fits what is there.
    fn is_shown(&self, m: &Member, fields: &[Field], k: usize, at: u64) -> bool {
        let extent =
            |f: &Field| (f.offset, f.offset.saturating_add(m.unit.size_of(&f.ty).unwrap_or(0).max(1)));
        let fits = |f: &Field| match &f.ty {
            CType::Pointer(_) => self.pointers.contains_key(&(at + f.offset)),
            CType::Record(_) | CType::Array(..) => true,
            CType::Float(_) if self.has_nan(m, at + f.offset, &f.ty) => false,
            _ => !self.pointers.contains_key(&(at + f.offset)),
        };
        let Some(f) = fields.get(k).filter(|f| f.bits.is_none()) else { return true };
        let (start, end) = extent(f);
        let shares = |g: &Field| g.bits.is_none() && extent(g).0 < end && start < extent(g).1;
        let better = |(i, g): (usize, &Field)| i != k && shares(g) && (!fits(g), i) < (!fits(f), k);
        !fields.iter().enumerate().any(better)
    }

    /// Whether a real number stands there whose bytes its name does not tell.
    fn has_nan(&self, m: &Member, at: u64, ty: &CType) -> bool {
        let Some(sort) = ty.sort(m.unit.data_model.pointer_bits()) else { return false };
        let bytes = (sort.bits().unwrap_or(8) / 8) as usize;
        let raw = self.bytes.get(at as usize..at as usize + bytes).unwrap_or_default();
        let bits = raw.iter().rev().fold(0u128, |acc, b| acc << 8 | *b as u128);
        Const::from_bits(sort, bits).and_then(Const::nearest_f64).is_some_and(f64::is_nan)
    }

    fn bit_field(
        &self,
        m: &Member,
        f: &Field,
        (at, first, width): (u64, u32, u32),
        path: String,
        cells: &mut BTreeMap<String, report::Value>,
    ) {
        let start = (at + f.offset) as usize;
        let end = start + m.unit.size_of(&f.ty).unwrap_or(0).min(16) as usize;
        let Some(raw) = self.bytes.get(start..end) else { return };
        let unit = raw.iter().rev().fold(0u128, |acc, b| acc << 8 | *b as u128);
        let bits =
            unit.checked_shr(first).unwrap_or(0) & 1u128.checked_shl(width).map_or(u128::MAX, |k| k - 1);
        if bits != 0 || self.zeros {
            let value = Const::bv(width.clamp(1, 128) as u16, bits as i128);
            cells.insert(path, report::Value::Text(constant(value, &f.ty)));
        }
    }
}

fn type_name(m: &Member, ty: &CType) -> String {
    match ty {
        CType::Void => "void".into(),
        CType::Bool => "_Bool".into(),
        CType::Int { name, .. } => name.to_string(),
        CType::Float(crate::ir::FloatKind::F32) => "float".into(),
        CType::Float(crate::ir::FloatKind::F64) => "double".into(),
        CType::Float(crate::ir::FloatKind::LongDouble) => "long double".into(),
        CType::Pointer(t) => format!("{} *", type_name(m, t)),
        CType::Array(t, Some(n)) => format!("{}[{n}]", type_name(m, t)),
        CType::Array(t, None) => format!("{}[]", type_name(m, t)),
        CType::Record(id) => {
            let r = m.unit.record(*id);
            format!("{} {}", if r.is_union { "union" } else { "struct" }, r.name)
        }
        CType::Function(text) => text.to_string(),
        CType::Opaque { name, .. } => name.to_string(),
    }
}

fn outcome(o: &Outcome, m: &Member, names: &Names, program: bool, values: Values) -> Run {
    let undefined = match &o.end {
        interp::End::Undefined { kind, place } => {
            Some(Undefined { line: place.line, kind: kind.name().into() })
        }
        _ => None,
    };
    let (stdout, stdout_base64) = match String::from_utf8(o.output.stdout.clone()) {
        Ok(text) => (Some(text), None),
        Err(e) => (None, Some(base64(e.as_bytes()))),
    };
    let end = match o.end.name() {
        "return" => report::End::Return,
        "exit" => report::End::Exit,
        "abort" => report::End::Abort,
        "signal" => report::End::Signal,
        "undefined" => report::End::Undefined,
        _ => report::End::Fuel,
    };
    let returned = match (&o.returned_target, o.returned) {
        (Some(target), _) => Some(names.target(target)),
        (None, c) => c.map(|c| constant(c, &m.function.ret)),
    };
    Run {
        end,
        returned,
        stdout,
        stdout_base64,
        stderr: String::from_utf8(o.output.stderr.clone()).ok().filter(|text| !text.is_empty()),
        exit: if program || end == report::End::Exit { o.ending.exit_code } else { None },
        values,
        undefined,
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |acc, b| acc << 8 | *b as u32) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(ALPHABET[(word >> (18 - 6 * i) & 63) as usize] as char);
            } else {
                out.push('=');
            }
        }
    }
    out
}
