//! What is not in a function's text and counts all the same: whether it runs without being called, what
//! runs around `main`, which names lead to it, text beside C in its unit.

use super::lineage::Member;
use super::units::LoadedUnit;
use crate::invariant::{FunctionDiff, OpenKind, Undecided};
use crate::ir::{Callee, Expr, Function, Instr, Object, Unit};
use crate::mvicfg::{ClassId, VersionId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Spells what surrounds a function of a unit, beside the other units of its version; nothing for most.
pub(super) fn surroundings<'u>(
    f: &Function,
    unit: &'u Unit,
    others: impl Iterator<Item = &'u LoadedUnit>,
) -> Arc<str> {
    let mut out = String::new();
    for text in unit.gaps.opaque.iter().chain(&unit.options) {
        let _ = writeln!(out, "{text}");
    }
    if !unit.aliases.is_empty() {
        let named = names(f);
        let own = unit.aliases.iter().filter(|a| a.target == f.name || named.contains(&a.name));
        own.for_each(|a| _ = writeln!(out, "{a:?}"));
    }
    if &*f.name == "main" {
        for loaded in others.filter(|o| o.unit.path == unit.path || o.unit.function("main").is_none()) {
            add_hooks(loaded, &mut out);
        }
    }
    out.into()
}

/// What runs of a unit without being called, as text; empty for most.
pub(super) fn hooks_of(loaded: &LoadedUnit) -> String {
    let mut out = String::new();
    add_hooks(loaded, &mut out);
    out
}

/// What runs of a unit without being called, with what it does.
fn add_hooks(loaded: &LoadedUnit, out: &mut String) {
    let unit = &loaded.unit;
    for f in &loaded.functions {
        let name = &f.function.name;
        let listed = unit.hooks.init_array.contains(name) || unit.hooks.fini_array.contains(name);
        if listed || f.function.binding.is_hook() {
            let _ = writeln!(out, "{name} {:?} {}", f.function.binding, f.body);
        }
    }
    if !(unit.hooks.init_array.is_empty() && unit.hooks.fini_array.is_empty()) {
        let _ = writeln!(out, "{:?} {:?}", unit.hooks.init_array, unit.hooks.fini_array);
    }
}

/// The functions that a function calls or takes the address of, by name.
fn names(f: &Function) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    for node in &f.nodes {
        if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr {
            found.insert(name.clone());
        }
        node.instr.for_each_expr(&mut |e| {
            if let Expr::Addr(Object::Function(name)) = e {
                found.insert(name.clone());
            }
        });
    }
    found
}

/// Adds an open question for each pair of classes in which nothing else tells of such a change.
pub(super) fn tell(members: &[(VersionId, &Member)], pairs: &[(ClassId, ClassId)], diff: &mut FunctionDiff) {
    for &(from, to) in pairs {
        let (old, new) = (members[from].1, members[to].1);
        let Some(reason) = reason(old, new) else { continue };
        let Some(point) = diff.points.first_mut() else { continue };
        let told = point
            .churns
            .iter()
            .any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable() && c.witness.is_some());
        if !told {
            point.undecided.push(Undecided::all_runs(OpenKind::AllRuns, reason));
        }
    }
}

pub(super) fn reason(old: &Member, new: &Member) -> Option<&'static str> {
    let (a, b) = (&old.function.binding, &new.function.binding);
    if (a.before_main, a.after_main) != (b.before_main, b.after_main) {
        return Some("when it runs without being called is another");
    }
    if a.promise != b.promise {
        return Some("what its attributes promise compilers is another, and its body may not keep it");
    }
    if a != b {
        return Some("which calls lead to it is said in another way");
    }
    if old.unit.options != new.unit.options {
        return Some("attributes of its file tell compilers to make something else of it");
    }
    (old.surroundings != new.surroundings).then_some(match &*new.function.name {
        "main" => "what runs before or after it, or beside C, is another",
        _ if new.surroundings.contains("begun by ") || old.surroundings.contains("begun by ") => {
            "what runs before the program's start gives other values to what it reads"
        }
        _ => "what the linker is told in its file is another",
    })
}

/// Hash of all that units hold which have text that may define anything; empty: there is no such text.
pub(super) fn opaque_hash<'u>(units: impl Iterator<Item = &'u Unit>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut some = false;
    for unit in units.filter(|u| !u.gaps.opaque.is_empty()) {
        some = true;
        hasher.update(format!("{:?}", unit.gaps.opaque).as_bytes());
        for f in &unit.functions {
            hasher.update(crate::mvicfg::key::body_hash(f).as_bytes());
        }
        for g in &unit.globals {
            hasher.update(format!("{} {} {:?}", g.symbol, g.size, g.init).as_bytes());
        }
    }
    if some { hasher.finalize().to_hex()[..16].to_owned() } else { String::new() }
}

/// Whether the C library has a function of this name.
pub(super) fn is_library(name: &str) -> bool {
    crate::interp::is_library(name) || crate::semantics::library::row(name).is_some()
}
