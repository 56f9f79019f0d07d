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
use std::path::{Path, PathBuf};

/// A lowered unit with what it depends on.
#[derive(Debug)]
pub struct Loaded {
    pub unit: Unit,
    /// Every path that was tried in the tree, with the id of its content: equal answers for all of
    /// them mean an equal unit.
    pub reads: Vec<(PathBuf, Option<String>)>,
}

/// Parses and lowers one file of a tree.
///
/// Errors: the file does not exist, exceeds a cap, or crashed the parser; whatever else is wrong
/// with it shows as unknowns of its functions.
pub fn load_unit(tree: &dyn SourceTree, path: &Path, options: &c::Options) -> Result<Loaded, c::Rejected> {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Frontend);
    let options = &*c::header::options(tree, path, options);
    let parsed = c::parse::parse(tree, path, options)?;
    let unit = lowered(&parsed, path, options)?;
    Ok(Loaded { unit, reads: parsed.reads })
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
    unit.is_whole = unit.opaque.is_empty()
        && parsed.lost.is_empty()
        && !invents("#define ")
        && !invents(c::retry::OBJECT);
    unit.invented = parsed.invented.names.clone();
    unit.statics = c::statics::statics(parsed);
    for f in &mut unit.functions {
        f.invented = parsed.invented.in_function(&f.name).to_vec();
        if f.binding.unmodelled.is_some() {
            f.binding.unmodelled = Some(parsed.text_hash(&f.name));
        }
    }
    if c::header::is_header(path) {
        c::header::open(&mut unit);
    }
    Ok(unit)
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
