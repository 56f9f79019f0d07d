//! How much of a tree's C the front end understands.
//!
//! The denominator of a file is the function definitions in its active text, counted on tokens, so
//! that what the parser lost is counted, too.

use super::parse::{Options, Parsed, parse};
use super::retry::Places;
use super::scan::ItemKind;
use crate::history::SourceTree;
use crate::ir;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What became of one function definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCoverage {
    pub name: String,
    /// Of the function's name.
    pub line: u32,
    /// Whether the typed tree has it.
    pub found: bool,
    /// First error inside the function, or the unit's first error when the function was lost.
    pub error: Option<String>,
    /// Invented names that it mentions.
    pub invented: Vec<Arc<str>>,
    /// After lowering: whether all of it was; `None` before, or when lowering did not have it.
    pub lowered: Option<bool>,
}

/// What became of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    pub path: PathBuf,
    /// Why nothing of it was parsed, if so.
    pub rejected: Option<String>,
    /// First error anywhere in the unit, headers included; `None` for a clean unit.
    pub error: Option<String>,
    /// Defined in this file itself.
    pub functions: Vec<FunctionCoverage>,
}

/// Coverage of a tree, by file in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub files: Vec<FileCoverage>,
}

/// Sums over files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub files: usize,
    pub rejected_files: usize,
    pub clean_files: usize,
    /// Defined in active text.
    pub functions: usize,
    /// In the typed tree.
    pub found: usize,
    /// Found, without an error inside.
    pub clean: usize,
    /// Found, in a unit without any error.
    pub in_clean_units: usize,
    /// Lowered without anything unknown, and lowered with some.
    pub lowered: usize,
    pub partly_lowered: usize,
}

/// Returns the `.c` files of a tree.
pub fn sources(tree: &dyn SourceTree) -> Vec<PathBuf> {
    tree.paths().iter().filter(|p| p.extension().is_some_and(|e| e == "c")).cloned().collect()
}

/// Parses `files` and says what was understood. Cost: about 5 to 30 ms a file.
pub fn coverage(tree: &dyn SourceTree, files: &[PathBuf], options: &Options) -> Coverage {
    let one = |path: &PathBuf| match parse(tree, path, options) {
        Ok(parsed) => file_coverage(&parsed),
        Err(e) => FileCoverage { path: path.clone(), rejected: Some(e.to_string()), ..Default::default() },
    };
    Coverage { files: files.iter().map(one).collect() }
}

/// Returns the coverage of one parsed unit's own file.
pub fn file_coverage(unit: &Parsed) -> FileCoverage {
    let text = unit.text();
    let fatal = || unit.diagnostics.iter().filter(|d| d.severity.is_fatal());
    let places = Places::new(text, &unit.items, fatal());
    let errors: Vec<(Option<usize>, &str)> = fatal().map(|d| (places.item(d), d.message.as_str())).collect();
    let mut functions = Vec::new();
    for (at, item) in unit.items.iter().enumerate() {
        let ItemKind::Function { name, at: name_at, .. } = &item.kind else { continue };
        let place = unit.tokens.get(*name_at).and_then(|t| unit.place(t.report_span()));
        let Some(place) = place.filter(|p| p.file == unit.path) else { continue };
        let found = !unit.lost.contains(name);
        let inside = errors.iter().find(|(item, _)| *item == Some(at));
        let error = inside.or(if found { None } else { errors.first() });
        functions.push(FunctionCoverage {
            name: name.clone(),
            line: place.line,
            found,
            error: error
                .map(|(_, m)| (*m).to_owned())
                .or((!found).then(|| "not in the typed tree".to_owned())),
            invented: unit.invented.in_function(name).to_vec(),
            lowered: None,
        });
    }
    FileCoverage {
        path: unit.path.clone(),
        rejected: None,
        error: errors.first().map(|(_, m)| (*m).to_owned()),
        functions,
    }
}

impl FileCoverage {
    /// Notes which functions were lowered, wholly when they have no unknowns.
    pub fn add_lowered(&mut self, unit: &ir::Unit) {
        for function in &mut self.functions {
            function.lowered = unit.function(&function.name).map(|f| f.unknowns.is_empty());
        }
    }

    fn totals(&self) -> Totals {
        let count = |f: &dyn Fn(&FunctionCoverage) -> bool| self.functions.iter().filter(|x| f(x)).count();
        let clean_file = self.error.is_none() && self.rejected.is_none();
        let found = count(&|f| f.found);
        Totals {
            files: 1,
            rejected_files: usize::from(self.rejected.is_some()),
            clean_files: usize::from(clean_file),
            functions: self.functions.len(),
            found,
            clean: count(&|f| f.found && f.error.is_none()),
            in_clean_units: if clean_file { found } else { 0 },
            lowered: count(&|f| f.lowered == Some(true)),
            partly_lowered: count(&|f| f.lowered == Some(false)),
        }
    }
}

impl Coverage {
    pub fn totals(&self) -> Totals {
        self.files.iter().map(FileCoverage::totals).fold(Totals::default(), |a, b| Totals {
            files: a.files + b.files,
            rejected_files: a.rejected_files + b.rejected_files,
            clean_files: a.clean_files + b.clean_files,
            functions: a.functions + b.functions,
            found: a.found + b.found,
            clean: a.clean + b.clean,
            in_clean_units: a.in_clean_units + b.in_clean_units,
            lowered: a.lowered + b.lowered,
            partly_lowered: a.partly_lowered + b.partly_lowered,
        })
    }

    /// Returns file, name and reason of every function that the parser lost.
    pub fn lost(&self) -> Vec<(&Path, &str, &str)> {
        self.files
            .iter()
            .flat_map(|file| file.functions.iter().filter(|f| !f.found).map(move |f| (file, f)))
            .map(|(file, f)| (file.path.as_path(), f.name.as_str(), f.error.as_deref().unwrap_or("")))
            .collect()
    }
}

impl fmt::Display for Coverage {
    /// The totals in one line, then the files that are not clean and the functions that were lost.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.totals();
        writeln!(
            f,
            "{} files ({} clean, {} rejected), {} functions: {} found, {} without an error, {} in clean units, \
             {} lowered, {} partly",
            t.files,
            t.clean_files,
            t.rejected_files,
            t.functions,
            t.found,
            t.clean,
            t.in_clean_units,
            t.lowered,
            t.partly_lowered
        )?;
        for file in &self.files {
            if let Some(why) = file.rejected.as_ref().or(file.error.as_ref()) {
                writeln!(f, "  {}: {why}", file.path.display())?;
            }
        }
        for (path, name, why) in self.lost() {
            writeln!(f, "  lost {}: {name}: {why}", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn counts_what_was_lost_by_name() {
        let source =
            "int f(void) { return 0; }\nint g(void) { return undeclared + ; }\n#if 0\nint h() {}\n#endif\n";
        let tree = MemoryTree::new([("a.c", source), ("b.c", "int ok(void) { return 1; }")]);
        let found = coverage(&tree, &sources(&tree), &Options::default());
        let t = found.totals();
        assert_eq!(
            (t.files, t.clean_files, t.functions, t.found, t.clean, t.in_clean_units),
            (2, 1, 3, 3, 2, 1)
        );
        assert_eq!(found.lost(), []);
        assert_eq!(found.files[0].functions[1].line, 2);
    }
}
