//! What the preprocessor leaves of a file, without parsing it.
//!
//! Whether a configuration takes a branch is known behind the preprocessor, which costs a tenth of what parsing and
//! lowering do.

use super::files::TreeFiles;
use super::guard::{self, Rejected};
use super::header;
use super::parse::{Options, session_options};
use super::reading::preprocess;
use super::survey;
use crate::history::SourceTree;
use rucc_diag::SourceFile;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// Whether something that stands in some lines (from 1) of a file is left when that file is read as a unit. Where
/// directives stand there, and of a unit that takes very long, it is not looked: then it may be.
///
/// Errors: those of [`super::parse::parse`].
pub fn leaves_some(
    tree: &dyn SourceTree,
    path: &Path,
    options: &Options,
    lines: &BTreeSet<u32>,
) -> Result<bool, Rejected> {
    let options = &*header::options(tree, path, options);
    guard::on_large_stack(path, || {
        let files = TreeFiles::new(tree, path, options.host_headers);
        let source = files.source(path).ok_or_else(|| Rejected::Missing(path.to_path_buf()))?;
        let survey = survey::survey(&files, path, options);
        if survey.suspicion.is_some() || lines_of(source.as_ref(), lines).any(|(_, line)| is_directive(line))
        {
            return Ok(true);
        }
        let read = preprocess(&files, source, path, &session_options(path, options, &survey), "")?;
        // A file that includes itself is read again.
        let name = path.to_string_lossy();
        let all = read.session.sources.files().iter().filter(|file| file.name == name);
        let mut ranges: Vec<Range<u32>> = all.flat_map(|file| places(file, lines)).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let is_there = |at: u32| {
            let behind = ranges.partition_point(|range| range.start <= at);
            behind.checked_sub(1).and_then(|k| ranges.get(k)).is_some_and(|range| range.contains(&at))
        };
        Ok(read.tokens.iter().any(|t| is_there(t.report_span().lo) || is_there(t.span.lo)))
    })
}

/// The positions of some lines of a file.
fn places(file: &SourceFile, lines: &BTreeSet<u32>) -> Vec<Range<u32>> {
    let place = |(at, line): (usize, &[u8])| {
        let start = file.start + at as u32;
        start..start + line.len() as u32
    };
    lines_of(file.bytes(), lines).map(place).collect()
}

/// Some lines of a text, with the places where they begin.
fn lines_of<'t>(text: &'t [u8], wanted: &BTreeSet<u32>) -> impl Iterator<Item = (usize, &'t [u8])> {
    let mut at = 0;
    let all = text.split_inclusive(|b| *b == b'\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    });
    all.zip(1..).filter(|(_, number)| wanted.contains(number)).map(|(line, _)| line)
}

fn is_directive(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"#")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[track_caller]
    fn check(text: &str, defined: &[&str], lines: &[u32], expected: bool) {
        let tree = MemoryTree::new([("a.h", text)]);
        let defines = defined.iter().map(|name| ((*name).to_owned(), None)).collect();
        let options = Options { defines, ..Options::default() };
        let found = leaves_some(&tree, Path::new("a.h"), &options, &lines.iter().copied().collect());
        assert_eq!(found.ok(), Some(expected), "{text} {defined:?} {lines:?}");
    }

    #[test]
    fn lines_are_left_where_their_branch_is_taken() {
        let text = "#ifdef A\nint x;\n#else\nint y;\n#define Z 1\n#endif\n\n";
        check(text, &[], &[2], false);
        check(text, &[], &[2, 4], true);
        check(text, &["A"], &[2], true);
        check(text, &["A"], &[4], false);
        check(text, &[], &[7, 9], false);
        // A directive may be taken.
        check(text, &["A"], &[5], true);
        // What macros leave of a line stands there.
        check("#define A(x)\nA(1)\n", &[], &[2], false);
        check("#define A(x) int x;\nA(y)\n", &[], &[2], true);
    }

    #[test]
    fn a_file_that_reads_itself_is_looked_at_each_time() {
        let text = "#ifndef AGAIN\n#define AGAIN\n#include \"a.h\"\n#else\nint x;\n#endif\n";
        check(text, &[], &[5], true);
        check(text, &[], &[1], true);
    }
}
