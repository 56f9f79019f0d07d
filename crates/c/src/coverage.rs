//! How much of a source file the front end understands, function by function.

use super::c;
use crate::history::SourceTree;
use std::path::Path;
use std::sync::Arc;

/// What became of one file's functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Functions that the file's active text defines.
    pub functions: Vec<FunctionCoverage>,
    /// Why nothing of the file was read, if so.
    pub rejected: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCoverage {
    pub name: String,
    pub line: u32,
    pub lowered: Lowered,
    /// Its text names types, fields or constants whose meaning was guessed.
    pub rests_on_guesses: bool,
    /// It calls `setjmp`, of whose later returns nothing is known.
    pub returns_twice: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// What of it could not be expressed; empty when fully lowered.
    With(Vec<Arc<str>>),
    /// Not at all, for this reason.
    Lost(String),
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
    let function = |defined: c::coverage::FunctionCoverage| {
        let function = unit.function(&defined.name);
        FunctionCoverage {
            lowered: match function {
                Some(f) => Lowered::With(f.unknowns.iter().map(|u| u.reason.clone()).collect()),
                None => Lowered::Lost(defined.error.unwrap_or_else(|| "not lowered".to_owned())),
            },
            rests_on_guesses: !defined.invented.is_empty()
                || function.is_some_and(|f| !f.invented.is_empty()),
            returns_twice: function.is_some_and(|f| f.nodes.iter().any(|n| n.instr.is_second_return())),
            name: defined.name,
            line: defined.line,
        }
    };
    let defined = c::coverage::file_coverage(&parsed).functions;
    FileCoverage { functions: defined.into_iter().map(function).collect(), rejected: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn functions_are_counted_with_what_was_not_understood() {
        let text = "int f(int x) { return x + 1; }\nvoid g(void) { __asm__(\"nop\"); }\n\
                    #include <setjmp.h>\njmp_buf b;\nint h(void) { return setjmp(b); }\n";
        let tree = MemoryTree::new([("a.c", text)]);
        let found = coverage(&tree, Path::new("a.c"), &c::Options::default());
        let fully = |f: &FunctionCoverage| f.lowered == Lowered::With(Vec::new());
        let understood: Vec<_> =
            found.functions.iter().map(|f| (&*f.name, f.line, fully(f), f.returns_twice)).collect();
        assert_eq!(understood, [("f", 1, true, false), ("g", 2, false, false), ("h", 5, true, true)]);
        assert!(found.rejected.is_none());
    }

    #[test]
    fn a_file_that_is_not_there_is_rejected() {
        let tree = MemoryTree::default();
        assert!(coverage(&tree, Path::new("a.c"), &c::Options::default()).rejected.is_some());
    }
}
