//! How much of a source file the front end understands, function by function.

use super::c;
use crate::history::SourceTree;
use std::path::Path;
use std::sync::Arc;

/// What became of one file's functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    pub functions: Vec<FunctionCoverage>,
    /// Functions that the file's active text defines and that were not lowered at all.
    pub lost: Vec<String>,
    /// Why nothing of the file was read, if so.
    pub rejected: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCoverage {
    pub name: Arc<str>,
    /// What of it could not be expressed, with the line; empty when fully lowered.
    pub unknowns: Vec<(u32, Arc<str>)>,
    /// Its text names types, fields or constants whose meaning was guessed.
    pub rests_on_guesses: bool,
}

/// Parses and lowers one file. Cost: as [`super::load_unit`].
pub fn coverage(tree: &dyn SourceTree, path: &Path, options: &c::Options) -> FileCoverage {
    let lowered = c::parse::parse(tree, path, options).and_then(|parsed| {
        let unit = c::guard::on_large_stack(path, || Ok(c::lower::lower(&parsed, options.data_model)))?;
        Ok((parsed, unit))
    });
    let (parsed, unit) = match lowered {
        Ok(lowered) => lowered,
        Err(rejected) => {
            return FileCoverage { rejected: Some(rejected.to_string()), ..FileCoverage::default() };
        }
    };
    let function = |f: &crate::ir::Function| FunctionCoverage {
        name: f.name.clone(),
        unknowns: f.unknowns.iter().map(|u| (u.line, u.reason.clone())).collect(),
        rests_on_guesses: !f.invented.is_empty(),
    };
    let functions: Vec<FunctionCoverage> = unit.functions.iter().map(function).collect();
    let lowered = |name: &String| functions.iter().any(|f| *f.name == **name);
    let lost = parsed.lost.iter().filter(|name| !lowered(name)).cloned().collect();
    FileCoverage { functions, lost, rejected: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn functions_are_counted_with_what_was_not_understood() {
        let text = "int f(int x) { return x + 1; }\nvoid g(void) { __asm__(\"nop\"); }\n";
        let tree = MemoryTree::new([("a.c", text)]);
        let found = coverage(&tree, Path::new("a.c"), &c::Options::default());
        let understood: Vec<_> = found.functions.iter().map(|f| (&*f.name, f.unknowns.is_empty())).collect();
        assert_eq!(understood, [("f", true), ("g", false)]);
        assert!(found.lost.is_empty() && found.rejected.is_none());
    }

    #[test]
    fn a_file_that_is_not_there_is_rejected() {
        let tree = MemoryTree::default();
        assert!(coverage(&tree, Path::new("a.c"), &c::Options::default()).rejected.is_some());
    }
}
