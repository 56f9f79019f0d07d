//! What runs of single functions do not show of a change, and is said as such.
//!
//! - Changed functions whose addresses are put where a run may find them: in memory, in what begins with them
//!   and may change, in what other pointers get. Who calls them from there is not known.
//! - First calls: a function is looked at from whatever state it is called in, and there an object that is
//!   written may have any value. That it begins with another one only tells where the program's start is known.

use super::classes::{self, World};
use super::difference;
use super::initial::Changed;
use super::lineage::{Lineage, VersionFiles};
use super::reach::Reach;
use super::units::LoadedUnit;
use crate::ir::{Callee, Expr, Instr, Object};
use crate::report::RepoPath;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Functions that are named; more are counted.
const MOST: usize = 3;

/// A note of the changed functions that may be called through pointers, for people. Cost: a walk over the newest
/// units.
pub(super) fn pointed(files: &[VersionFiles], lineages: &[Lineage], reaches: &[Reach]) -> Option<String> {
    let (newest, reach) = (files.last()?, reaches.last()?);
    let changed: BTreeSet<(PathBuf, Arc<str>)> = lineages
        .iter()
        .filter(|l| classes::is_changed(l) && l.members.iter().all(Option::is_some))
        .filter_map(|l| l.newest().map(|(_, m)| (m.file.clone(), m.function.name.clone())))
        .collect();
    if changed.is_empty() {
        return None;
    }
    let mut found = BTreeSet::new();
    for (path, loaded) in newest.iter().flatten() {
        let Ok(loaded) = loaded else { continue };
        for name in put_away(loaded) {
            let Some(file) = reach.file_of(path, &name) else { continue };
            found.extend(changed.get(&(file, name)).cloned());
        }
    }
    let named: Vec<String> =
        found.iter().map(|(file, name)| format!("{}: {name}()", RepoPath::from(file))).collect();
    let text =
        |of: String| format!("note: {of} may be called through pointers from where nothing was looked at");
    (!named.is_empty()).then(|| text(listed(&named)))
}

/// Notes of the objects that begin otherwise, for people, where a function that names one, or calls one that does,
/// may fail an assertion for that, and no program's start is known that leads there.
pub(super) fn first_calls(begun: &[Changed], lineages: &[Lineage], world: &World) -> Vec<String> {
    let is_program = |l: &Lineage| l.newest().is_some_and(|(_, m)| &*m.function.name == "main");
    let note = |object: &Changed| {
        let reached: Vec<&Lineage> = lineages.iter().filter(|l| object.reaches(l).is_some()).collect();
        if reached.iter().any(|l| is_program(l)) {
            return None;
        }
        let may_harm = reached.into_iter().filter(|l| !difference::is_harmless(l, world, false));
        let named: Vec<String> = may_harm
            .filter_map(|l| l.newest())
            .map(|(_, m)| format!("{}: {}()", RepoPath::from(&m.file), m.function.name))
            .collect();
        let text = |of: String| {
            format!(
                "note: {} begins with another value; what that does to the first call of {of} was not looked at",
                object.name
            )
        };
        (!named.is_empty()).then(|| text(listed(&named)))
    };
    begun.iter().filter_map(note).collect()
}

/// The first few of many.
fn listed(named: &[String]) -> String {
    let more = match named.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}", named.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// The functions whose addresses a unit puts where others may find them, beside tables that never change.
fn put_away(loaded: &LoadedUnit) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let unit = &loaded.unit;
    for g in unit.globals.iter().filter(|g| !g.is_known_constant()) {
        let symbols = g.init.iter().flat_map(|piece| piece.symbols());
        found.extend(symbols.filter(|s| unit.global(s).is_none()).cloned());
    }
    let mut put = |e: &Expr| {
        e.for_each(&mut |x| {
            if let Expr::Addr(Object::Function(name)) = x {
                found.insert(name.clone());
            }
        });
    };
    for node in loaded.functions.iter().flat_map(|f| &f.function.nodes) {
        match &node.instr {
            Instr::Store { value, .. } => put(value),
            // What a function elsewhere does with one is said of its caller.
            Instr::Call { callee: Callee::Direct(_), .. } => {}
            Instr::Call { args, .. } => args.iter().for_each(&mut put),
            _ => {}
        }
    }
    found
}
