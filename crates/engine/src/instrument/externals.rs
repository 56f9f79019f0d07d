//! What a unit uses and nobody defines: functions as the replay takes them, which note that they were
//! called, do nothing and give what the witness says, mostly nothing, and objects that are zero.
//!
//! A function is defined under another name of C with the symbol of the missing one, since its prototype
//! stands in the source already.

use crate::interp;
use crate::ir::{CType, Callee, FloatKind, Instr, Linkage, Prototype, Unit};
use crate::semantics::type_text::spelled;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Definitions for what both versions of a unit lack.
pub fn externals(old: &Unit, new: &Unit) -> String {
    let mut out = String::new();
    let functions: BTreeSet<String> =
        missing_functions(old).union(&missing_functions(new)).cloned().collect();
    let real = |name: &str| is_of_streams(name) && (makes_streams(old) || makes_streams(new));
    let defined = |name: &String| old.function(name).is_some() || new.function(name).is_some() || real(name);
    for (k, name) in functions.iter().filter(|name| !defined(name)).enumerate() {
        let prototype = [new, old].iter().find_map(|u| u.prototypes.iter().find(|p| *p.name == **name));
        out.push_str(&stub(k + 1, name, prototype));
    }
    let objects: BTreeSet<String> = missing_objects(old).union(&missing_objects(new)).cloned().collect();
    for name in objects {
        let _ = writeln!(out, "__typeof__({name}) {name};");
    }
    out
}

fn stub(k: usize, name: &str, prototype: Option<&Prototype>) -> String {
    let noreturn = prototype.is_some_and(|p| p.noreturn);
    let (ty, body) = match prototype.map(|p| &p.ret) {
        _ if noreturn => ("void", "{ invdiff_exit(0); }"),
        Some(CType::Void) => ("void", "{ }"),
        Some(CType::Float(FloatKind::F32)) => ("float", "{ return (float)invdiff_real(@); }"),
        Some(CType::Float(FloatKind::F64)) => ("double", "{ return (double)invdiff_real(@); }"),
        Some(CType::Float(FloatKind::LongDouble)) => ("long double", "{ return invdiff_real(@); }"),
        _ => ("long", "{ return (long)invdiff_value(@); }"),
    };
    let count = if body.contains('@') { "static int nth; " } else { "" };
    let body = body.replace('@', &format!("\"{name}\", ++nth")).replacen("{ ", &format!("{{ {count}"), 1);
    let (parameters, note) = prototype.and_then(noted).unwrap_or(("void".into(), String::new()));
    let body = body.replacen("{ ", &format!("{{ {note}"), 1);
    format!(
        "{ty} invdiff_stub{k}({parameters}) INVDIFF_SYMBOL(\"{name}\");\n{ty} invdiff_stub{k}({parameters}) {body}\n"
    )
}

/// Parameters of a stub, and the statement that notes a call with its arguments, as witnesses write them;
/// `None` where it takes other things than numbers and pointers.
fn noted(prototype: &Prototype) -> Option<(String, String)> {
    if prototype.variadic || prototype.unspecified {
        return None;
    }
    let (mut parameters, mut formats, mut values) = (Vec::new(), Vec::new(), String::new());
    for (k, ty) in prototype.params.iter().enumerate() {
        let (format, value) = match ty {
            CType::Int { signed: true, .. } => ("%lld", format!("(long long)a{k}")),
            CType::Int { .. } | CType::Bool => ("%llu", format!("(unsigned long long)a{k}")),
            CType::Pointer(_) => ("%s", format!("a{k} ? \"_\" : \"NULL\"")),
            _ => return None,
        };
        let spelled = if let CType::Pointer(_) = ty { Some("const void *".into()) } else { spelled(ty) };
        parameters.push(format!("{} a{k}", spelled?));
        formats.push(format);
        let _ = write!(values, ", {value}");
    }
    let parameters = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
    let note = format!("invdiff_note(\"{}({})\\n\"{values}); ", prototype.name, formats.join(", "));
    Some((parameters, note))
}

/// Symbols that the driver uses.
const OURS: [&str; 18] = [
    "calloc",
    "tmpfile",
    "fileno",
    "fflush",
    "lseek",
    "pread",
    "pwrite",
    "dup2",
    "dprintf",
    "vsnprintf",
    "fork",
    "waitpid",
    "alarm",
    "getenv",
    "setenv",
    "execv",
    "exit",
    "_exit",
];

/// A symbol of the driver's that the unit defines, or that a stand-in would take the place of.
pub fn takes_ours(unit: &Unit) -> Option<&'static str> {
    let missing = missing_functions(unit);
    let object = |name: &str| unit.globals.iter().any(|g| *g.symbol == *name);
    OURS.into_iter().find(|n| unit.function(n).is_some() || missing.contains(*n) || object(n))
}

/// Whether calls of a function are noted with all their arguments.
pub fn notes_calls(unit: &Unit, name: &str) -> bool {
    let prototype = unit.prototypes.iter().find(|p| *p.name == *name);
    missing_functions(unit).contains(name) && prototype.and_then(noted).is_some()
}

/// Whether a test has a function of its own in place of one.
pub fn replaces(unit: &Unit, name: &str) -> bool {
    missing_functions(unit).contains(name)
}

/// Whether a function makes a stream that runs follow, or asks something of it: of a unit with such streams a
/// test calls the library's own.
fn is_of_streams(name: &str) -> bool {
    interp::makes_streams(name) || interp::asks_streams(name)
}

/// Whether the unit makes streams that runs follow.
pub fn makes_streams(unit: &Unit) -> bool {
    named_functions(unit).iter().any(|name| unit.function(name).is_none() && interp::makes_streams(name))
}

/// Functions that the unit calls or points to.
fn named_functions(unit: &Unit) -> BTreeSet<Arc<str>> {
    let called = unit.functions.iter().flat_map(|f| &f.nodes).filter_map(|node| match &node.instr {
        Instr::Call { callee: Callee::Direct(name), .. } => Some(name.clone()),
        _ => None,
    });
    let mut named = unit.functions_taken();
    named.extend(called);
    named
}

/// Functions that the unit calls or points to, and that neither it nor the library has.
fn missing_functions(unit: &Unit) -> BTreeSet<String> {
    let streams = makes_streams(unit);
    let is_missing = |name: &str| {
        let there = unit.function(name).is_some()
            || interp::is_library(name)
            || name.starts_with("__builtin_")
            || streams && is_of_streams(name);
        !there
    };
    named_functions(unit).iter().filter(|name| is_missing(name)).map(ToString::to_string).collect()
}

/// Objects that the unit's own files declare and do not define; those of the library have headers.
fn missing_objects(unit: &Unit) -> BTreeSet<String> {
    let own = |file: crate::ir::FileId| {
        unit.files.get(file.0 as usize).is_some_and(|p| !p.to_string_lossy().starts_with('<'))
    };
    let missing = unit.globals.iter().filter(|g| g.linkage == Linkage::Import && own(g.span.file));
    missing.map(|g| g.name.to_string()).collect()
}
