//! C source: as a unit, and as the text that is looked at before anything is parsed.

use git_invdiff::frontend::c::annotations::{Clause, Word, annotations, may_have, with_assertions};
use git_invdiff::frontend::c::outline::Outline;
use git_invdiff::frontend::c::slice::Items;
use git_invdiff::frontend::c::{Options, Rejected, lines, parse};
use git_invdiff::frontend::{line_kinds, load_outlined, load_unit};
use git_invdiff::history::MemoryTree;
use git_invdiff::ir::verify;
use std::ops::Range;
use std::path::Path;

/// What can be parsed can be lowered, twice to the same; the result is well formed and lies in the file.
pub fn c_source(bytes: &[u8]) {
    let tree =
        MemoryTree::new([("a.c", bytes), ("a.h", b"#pragma once\nint from_header(int);\n#define TWO 2\n")]);
    let (path, options) = (Path::new("a.c"), Options::default());
    // Crashes of the parser crates are theirs, caught and told; what comes after them is ours.
    if parse::parse(&tree, path, &options).is_err() {
        return;
    }
    let unit = match load_unit(&tree, path, &options) {
        Ok(loaded) => loaded.unit,
        Err(Rejected::Limit { .. }) => return,
        Err(other) => panic!("{other}"),
    };
    for function in &unit.functions {
        assert_eq!(verify(function, unit.data_model.pointer_bits()), Vec::<String>::new());
    }
    let (again, outline) = load_outlined(&tree, path, &options).expect("what was loaded is loaded again");
    assert_eq!(again.functions, unit.functions);
    inside(&outline, bytes.len());
    let newlines = bytes.iter().filter(|b| **b == b'\n').count();
    let kinds = line_kinds(&tree, path, path, &options).expect("what was loaded has lines");
    assert!(kinds.len() <= newlines + 1, "{} lines", kinds.len());
}

fn inside(outline: &Outline, length: usize) {
    let within = |r: &Range<usize>| assert!(r.start <= r.end && r.end <= length, "{r:?} of {length}");
    for function in &outline.functions {
        assert!(function.start <= length);
        function.body.iter().for_each(within);
        function.statements.iter().map(|s| &s.range).for_each(within);
        function.locals.iter().map(|l| &l.scope).for_each(within);
        function.returns.iter().filter_map(|r| r.edit.as_ref()).for_each(|edit| {
            within(&edit.keyword);
            within(&(edit.keyword.end..edit.semicolon));
        });
    }
}

/// Comments with annotations lie in the text, and putting assertions in keeps the lines; a function that a file
/// defines has a slice; the code of a line is one line.
pub fn source_text(bytes: &[u8]) {
    let found = annotations(bytes);
    assert!(found.clauses.is_empty() || may_have(bytes));
    for clause in &found.clauses {
        assert!(bytes.get(clause.comment.clone()).is_some_and(|t| t.starts_with(b"/")), "{clause:?}");
    }
    let assertions: Vec<&Clause> = found.clauses.iter().filter(|c| c.word == Word::Assert).collect();
    let count = |text: &[u8]| text.iter().filter(|b| **b == b'\n').count();
    assert_eq!(count(&with_assertions(bytes, &assertions)), count(bytes));

    let items = Items::of(bytes);
    for name in items.functions() {
        assert!(items.slice(name).is_some(), "{name}");
        let _ = (items.text_without_name(name), items.is_defined_for_all(name, true));
    }
    for (line, text) in lines::code(bytes) {
        assert!(line as usize <= count(bytes) + 1 && !text.is_empty(), "{line}: {text:?}");
    }
}
