//! Source bytes to IR, one folder a language.

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
    let parsed = c::parse::parse(tree, path, options)?;
    let unit = c::guard::on_large_stack(path, || Ok(c::lower::lower(&parsed, options.data_model)))?;
    Ok(Loaded { unit, reads: parsed.reads })
}
