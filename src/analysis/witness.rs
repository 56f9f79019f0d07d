//! Replayed runs as witnesses of the report.

use super::lineage::Member;
use crate::interp::{self, Outcome, Value};
use crate::invariant;
use crate::ir::{CType, Const, VarKind};
use crate::report::{self, Argument, CallResult, MemoryObject, Run, Undefined, Witness, WitnessKind};
use std::collections::BTreeMap;

/// Converts a run of two versions. `program`: the entry is a `main`.
pub fn convert(run: &invariant::Run, old: &Member, new: &Member, program: bool) -> Witness {
    let reads_stdin = !run.input.stdin.is_empty() || !run.old.inputs.is_empty() || !run.new.inputs.is_empty();
    let (stdin, stdin_base64) = match (reads_stdin || program, String::from_utf8(run.input.stdin.clone())) {
        (false, _) => (None, None),
        (true, Ok(text)) => (Some(text), None),
        (true, Err(e)) => (None, Some(base64(e.as_bytes()))),
    };
    let arguments = if program { Vec::new() } else { arguments(run, new) };
    let mut relies_on = Vec::new();
    if run.old.assumed_calls.iter().chain(&run.new.assumed_calls).next().is_some() {
        relies_on.push("assumed-calls".to_owned());
    }
    if run.old.overflowed() || run.new.overflowed() {
        relies_on.push("-fwrapv".to_owned());
    }
    Witness {
        kind: if program { WitnessKind::Program } else { WitnessKind::Call },
        entry: new.function.name.to_string(),
        arguments,
        memory: run.input.objects.iter().map(|o| object(o, new)).collect(),
        calls: run
            .new
            .assumed_calls
            .iter()
            .map(|c| CallResult {
                callee: c.callee.to_string(),
                nth: c.nth,
                returned: Some("0".into()),
                ..CallResult::default()
            })
            .collect(),
        stdin,
        stdin_base64,
        argv: None,
        relies_on,
        old: outcome(&run.old, old, program),
        new: outcome(&run.new, new, program),
    }
}

fn arguments(run: &invariant::Run, m: &Member) -> Vec<Argument> {
    m.function
        .params
        .iter()
        .enumerate()
        .map(|(i, &p)| {
            let var = m.function.var(p);
            let value = match run.input.arguments.get(i) {
                Some(v) => value(v, &var.ty),
                None => report::Value::from("0"),
            };
            Argument { name: var.name.to_string(), ty: type_name(m, &var.ty), value }
        })
        .collect()
}

fn value(v: &Value, ty: &CType) -> report::Value {
    match v {
        Value::Const(c) => report::Value::Text(constant(*c, ty)),
        Value::Pointer { object, offset } => {
            report::Value::Pointer { object: format!("m{}", object.0), offset: *offset }
        }
        Value::Function(name) => report::Value::Text(name.to_string()),
        Value::Global { symbol, offset: 0 } => report::Value::Text(format!("&{symbol}")),
        Value::Global { symbol, offset } => report::Value::Text(format!("(char *)&{symbol} + {offset}")),
    }
}

/// Returns a constant as C text, read as a value of the type.
pub fn constant(c: Const, ty: &CType) -> String {
    match c {
        Const::Bool(b) => (b as u8).to_string(),
        Const::F32(_) | Const::F64(_) => {
            let v = c.float().unwrap_or(0.0);
            if v.is_nan() {
                "NAN".into()
            } else if v.is_infinite() {
                if v > 0.0 { "INFINITY".into() } else { "-INFINITY".into() }
            } else if let Const::F32(b) = c {
                format!("{:?}", f32::from_bits(b))
            } else {
                format!("{v:?}")
            }
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

fn object(o: &interp::ObjectInit, m: &Member) -> MemoryObject {
    let storage = match o.storage {
        interp::Storage::Heap => report::Storage::Heap,
        interp::Storage::Global(_) => report::Storage::Global,
        interp::Storage::Argument => report::Storage::Argument,
    };
    let mut cells = BTreeMap::new();
    cell_values(o, m, &o.ty, 0, String::new(), &mut cells);
    MemoryObject { id: format!("m{}", o.id.0), ty: type_name(m, &o.ty), storage, cells }
}

/// Most cells of one object that a witness spells out.
const MAX_CELLS: usize = 64;

fn cell_values(
    o: &interp::ObjectInit,
    m: &Member,
    ty: &CType,
    at: u64,
    path: String,
    cells: &mut BTreeMap<String, report::Value>,
) {
    if cells.len() >= MAX_CELLS {
        return;
    }
    match ty {
        CType::Array(element, count) => {
            let Some(size) = m.unit.size_of(element) else { return };
            let count = count.unwrap_or(0).min(MAX_CELLS as u64);
            for i in 0..count {
                cell_values(o, m, element, at + i * size, format!("{path}[{i}]"), cells);
            }
        }
        CType::Record(id) => {
            for f in &m.unit.record(*id).fields {
                let path = if path.is_empty() { f.name.to_string() } else { format!("{path}.{}", f.name) };
                cell_values(o, m, &f.ty, at + f.offset, path, cells);
            }
        }
        _ => {
            let Some(sort) = ty.sort(m.unit.data_model.pointer_bits()) else { return };
            let path = if path.is_empty() { "[0]".to_owned() } else { path };
            if let Some((_, p)) = o.pointers.iter().find(|(offset, _)| *offset == at) {
                cells.insert(path, value(p, ty));
                return;
            }
            let bytes = (sort.bits().unwrap_or(8) / 8) as usize;
            let Some(raw) = o.bytes.get(at as usize..at as usize + bytes) else { return };
            let bits = raw.iter().rev().fold(0u128, |acc, b| acc << 8 | *b as u128);
            if bits != 0
                && let Some(c) = Const::from_bits(sort, bits)
            {
                cells.insert(path, report::Value::Text(constant(c, ty)));
            }
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

fn outcome(o: &Outcome, m: &Member, program: bool) -> Run {
    let mut values = BTreeMap::new();
    for (i, var) in m.function.vars.iter().enumerate() {
        if var.kind != VarKind::Temp
            && let Some(Some(c)) = o.locals.get(i)
        {
            values.insert(var.name.to_string(), constant(*c, &var.ty));
        }
    }
    let undefined = match &o.end {
        interp::End::Undefined { kind, place } => {
            Some(Undefined { line: place.line, kind: kind.name().into() })
        }
        _ => None,
    };
    let (stdout, stdout_base64) = match String::from_utf8(o.stdout.clone()) {
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
    Run {
        end,
        returned: o.returned.map(|c| constant(c, &m.function.ret)),
        stdout,
        stdout_base64,
        exit: if program { o.exit_code } else { None },
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
