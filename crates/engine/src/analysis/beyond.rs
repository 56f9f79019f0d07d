//! What runs of single functions do not show of a change, and is said as such.
//!
//! - Changed functions whose addresses are put where a run may find them: in memory, in what begins with them
//!   and may change, in what other pointers get. Who calls them from there is not known.
//! - What runs when a program ends, and reads what changed functions write.
//!
//! First calls of functions, where an object begins otherwise, are looked at ([`super::first_calls`]).

use super::classes;
use super::lineage::{Lineage, VersionFiles};
use super::reach::Reach;
use super::units::LoadedUnit;
use crate::ir::{Callee, Expr, Function, Instr, Node, Object};
use crate::report::RepoPath;
use crate::symex::is_failure;
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

/// A note of what runs when the program ends and reads what changed functions write, for people. Where `main` leads to
/// these its runs come to the end, but not on every input: what may fail there is still named. Cost: little where
/// nothing runs then.
pub(super) fn at_exit(lineages: &[Lineage], reaches: &[Reach]) -> Option<String> {
    let changed: Vec<&Lineage> = lineages.iter().filter(|l| classes::is_changed(l)).collect();
    let led_to = |l: &Lineage| -> BTreeSet<(PathBuf, Arc<str>)> {
        let main = l.newest().filter(|(_, m)| &*m.function.name == "main");
        let reach = main.and_then(|(v, m)| Some((reaches.get(v.index())?, m)));
        reach.map(|(r, m)| r.callees(&m.file, "main", true)).unwrap_or_default()
    };
    let run: BTreeSet<_> = changed.iter().flat_map(|l| led_to(l)).collect();
    let (mut hooks, mut writers) = (BTreeSet::new(), Vec::new());
    for l in changed {
        let Some((_, m)) = l.newest().filter(|(_, m)| &*m.function.name != "main") else { continue };
        let is_run = run.contains(&(m.file.clone(), m.function.name.clone()));
        let found = finishing(l, reaches, &|f| !is_run || asserts(f));
        if !found.is_empty() {
            writers.push(format!("{}: {}()", RepoPath::from(&m.file), m.function.name));
            hooks.extend(found);
        }
    }
    writers.sort();
    (!hooks.is_empty()).then(|| late(&hooks, &listed(&writers)))
}

/// Whether a function asserts something.
fn asserts(f: &Function) -> bool {
    let fails = |n: &Node| matches!(&n.instr, Instr::Call { callee, .. } if is_failure(callee));
    f.nodes.iter().any(fails)
}

/// The functions that run when the program ends and read what some version of a function may write.
pub(super) fn finishing(
    l: &Lineage,
    reaches: &[Reach],
    is_meant: &dyn Fn(&Function) -> bool,
) -> BTreeSet<(PathBuf, Arc<str>)> {
    let members = l.members.iter().zip(reaches).filter_map(|(m, reach)| Some((m.as_ref()?, reach)));
    members.flat_map(|(m, reach)| reach.finishing(&m.file, &m.function.name, is_meant)).collect()
}

/// A note of functions that run when the program ends.
pub(super) fn late(hooks: &BTreeSet<(PathBuf, Arc<str>)>, writers: &str) -> String {
    let named: Vec<String> =
        hooks.iter().map(|(file, name)| format!("{}: {name}()", RepoPath::from(file))).collect();
    let (run, read) = if named.len() == 1 { ("runs", "reads") } else { ("run", "read") };
    format!(
        "note: {} {run} when the program ends and {read} what {writers} may write; that was not looked at",
        listed(&named)
    )
}

/// The first few of many.
pub(super) fn listed(named: &[String]) -> String {
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
