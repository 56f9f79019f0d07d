//! How much of a source file the front end understands, function by function.

use super::c;
use crate::history::SourceTree;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What became of one file's functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Functions that the file's active text defines.
    pub functions: Vec<FunctionCoverage>,
    /// Why nothing of the file was read, if so.
    pub rejected: Option<String>,
    /// Headers that were not found, as includes name them, sorted.
    pub missing: Vec<String>,
}

impl FunctionCoverage {
    /// Its text names something whose meaning was guessed.
    pub fn rests_on_guesses(&self) -> bool {
        !self.guesses.is_empty()
    }

    /// All of it was understood, and nothing of it guessed.
    pub fn is_whole(&self) -> bool {
        self.guesses.is_empty() && matches!(&self.lowered, Lowered::With(unknowns) if unknowns.is_empty())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCoverage {
    pub name: String,
    pub line: u32,
    pub lowered: Lowered,
    /// Types, fields or constants whose meaning was guessed and that its text names, sorted.
    pub guesses: Vec<Arc<str>>,
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
            guesses: {
                let members = function.into_iter().flat_map(|f| f.invented.iter().cloned());
                let own = defined
                    .invented
                    .iter()
                    .map(|n| n.strip_prefix(c::retry::INVENTED).map_or(n.clone(), Arc::from));
                own.chain(members).collect::<BTreeSet<_>>().into_iter().collect()
            },
            returns_twice: function.is_some_and(|f| f.nodes.iter().any(|n| n.instr.is_second_return())),
            name: defined.name,
            line: defined.line,
        }
    };
    let defined = c::coverage::file_coverage(&parsed).functions;
    let name = |message: &str| Some(message.strip_prefix('`')?.strip_suffix("` file not found")?.to_owned());
    let missing: BTreeSet<String> = parsed.diagnostics.iter().filter_map(|d| name(&d.message)).collect();
    FileCoverage {
        functions: defined.into_iter().map(function).collect(),
        rejected: None,
        missing: missing.into_iter().collect(),
    }
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
    fn what_is_missing_is_named() {
        let text = "#include <no/such.h>\n#include \"gone.h\"\nint f(what_t *x) { return x->a; }\nint g(void) { return 1; }\n";
        let tree = MemoryTree::new([("a.c", text)]);
        let found = coverage(&tree, Path::new("a.c"), &c::Options::default());
        assert_eq!(found.missing, ["gone.h", "no/such.h"]);
        let got: Vec<_> = found.functions.iter().map(|f| (f.guesses.clone(), f.is_whole())).collect();
        assert_eq!(got, [(vec![Arc::from("what_t")], false), (vec![], true)]);
    }

    #[test]
    fn a_file_that_is_not_there_is_rejected() {
        let tree = MemoryTree::default();
        assert!(coverage(&tree, Path::new("a.c"), &c::Options::default()).rejected.is_some());
    }
}
