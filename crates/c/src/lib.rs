//! Source bytes to IR, one folder a language.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod fault;

use invdiff_git::history;
#[cfg(test)]
use invdiff_interp as interp;
use invdiff_ir as ir;
#[cfg(test)]
use invdiff_testing as testing;

pub mod c;
mod coverage;

pub use coverage::{FileCoverage, FunctionCoverage, Lowered, coverage};

use crate::history::SourceTree;
use crate::ir::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A lowered unit with what it depends on.
#[derive(Debug)]
pub struct Loaded {
    pub unit: Unit,
    /// Every path that was tried in the tree, with the id of its content: equal answers for all of
    /// them mean an equal unit.
    pub reads: Vec<(PathBuf, Option<String>)>,
    /// What the lines belong to of those files that it was asked for, and that the unit has read.
    pub lines: BTreeMap<PathBuf, c::lines::Lines>,
    /// How many tokens the unit has behind the preprocessor.
    pub tokens: usize,
}

/// Parses and lowers one file of a tree.
///
/// Errors: the file does not exist, exceeds a cap, or crashed the parser; whatever else is wrong
/// with it shows as unknowns of its functions.
pub fn load_unit(tree: &dyn SourceTree, path: &Path, options: &c::Options) -> Result<Loaded, c::Rejected> {
    load_watched(tree, path, options, &BTreeSet::new())
}

/// As [`load_unit`], with what the lines of some files belong to.
pub fn load_watched(
    tree: &dyn SourceTree,
    path: &Path,
    options: &c::Options,
    watched: &BTreeSet<PathBuf>,
) -> Result<Loaded, c::Rejected> {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Frontend);
    let options = &*c::header::options(tree, path, options);
    let parsed = c::parse::parse(tree, path, options)?;
    let unit = lowered(&parsed, path, options)?;
    let read = parsed.reads.iter().filter(|(file, id)| id.is_some() && watched.contains(file));
    let lines = read.map(|(file, _)| (file.clone(), c::lines::Lines::of(tree, &parsed, file))).collect();
    Ok(Loaded { unit, tokens: parsed.tokens.len(), reads: parsed.reads, lines })
}

/// As [`load_unit`], with where the statements of the file's functions stand in its bytes.
pub fn load_outlined(
    tree: &dyn SourceTree,
    path: &Path,
    options: &c::Options,
) -> Result<(Unit, c::outline::Outline), c::Rejected> {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Frontend);
    let options = &*c::header::options(tree, path, options);
    let parsed = c::parse::parse(tree, path, options)?;
    let outline = c::guard::on_large_stack(path, || Ok(c::outline::outline(&parsed)))?;
    Ok((lowered(&parsed, path, options)?, outline))
}

fn lowered(parsed: &c::parse::Parsed, path: &Path, options: &c::Options) -> Result<Unit, c::Rejected> {
    let mut unit = c::guard::on_large_stack(path, || Ok(c::lower::lower(parsed, options.data_model)))?;
    let invents = |what: &str| parsed.prelude.contains(what);
    unit.is_whole = unit.gaps.opaque.is_empty()
        && parsed.lost.is_empty()
        && !invents("#define ")
        && !invents(c::retry::OBJECT);
    unit.gaps.invented = parsed.invented.names.clone();
    unit.statics = c::statics::statics(parsed);
    let records: Vec<Option<Arc<str>>> = unit.records.iter().map(|r| made_up(&r.name, parsed)).collect();
    for f in &mut unit.functions {
        // What its text names, and the structures whose members it uses through other names.
        let members = f.records.members.iter().filter_map(|(id, ..)| records.get(id.0 as usize)?.clone());
        let named = parsed.invented.in_function(&f.name).iter();
        let names: BTreeSet<Arc<str>> = named.filter_map(|n| made_up(n, parsed)).chain(members).collect();
        let f = Arc::make_mut(f);
        f.invented = names.into_iter().collect();
        if f.binding.unmodelled.is_some() {
            f.binding.unmodelled = Some(parsed.text_hash(&f.name));
        }
    }
    if c::header::is_header(path) {
        c::header::open(&mut unit);
    }
    Ok(unit)
}

/// Returns a name whose meaning was made up as its source has it.
fn made_up(name: &Arc<str>, parsed: &c::parse::Parsed) -> Option<Arc<str>> {
    let own = || name.strip_prefix(c::retry::INVENTED).map_or_else(|| name.clone(), Arc::from);
    parsed.invented.has(name).then(own)
}

/// Returns what every line of a file belongs to (line n is at index n - 1) as `unit` reads it, which
/// is the file itself or one that includes it; `None` where the unit cannot be read as C at all.
/// Costs a parse and one more run of the preprocessor.
pub fn line_kinds(
    tree: &dyn SourceTree,
    unit: &Path,
    path: &Path,
    options: &c::Options,
) -> Option<Vec<c::lines::LineKind>> {
    let options = &*c::header::options(tree, unit, options);
    let parsed = c::parse::parse(tree, unit, options).ok()?;
    let inactive = c::lines::active_inactive_ranges(tree, &parsed, options).ok()?;
    let ranges = inactive.get(path).map(Vec::as_slice).unwrap_or_default();
    Some(c::lines::line_kinds(tree, &parsed, path, ranges))
}
