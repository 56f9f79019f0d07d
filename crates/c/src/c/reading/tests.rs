//! A unit that another prelude is put before reads as if everything were read anew.

use super::super::parse::{Options, session_options};
use super::super::survey;
use super::*;
use crate::history::MemoryTree;

/// Everything that a run gives, as text: tokens with their places, files, diagnostics.
fn shown(reading: &mut Reading<'_>, guesses: &Guesses) -> String {
    let run = reading.run(guesses).unwrap();
    let (sources, tokens, diagnostics) = run.parts();
    let text = Text { tokens, interner: &reading.session.interner };
    let mut out = String::new();
    for (i, token) in tokens.iter().enumerate() {
        out += &format!("{} {:?} {:?} {:?}\n", text.at(i), token.flags, token.span, token.expansion);
    }
    for file in sources.files() {
        let name = (&file.name, file.start, file.end);
        out += &format!("{name:?} {:?} {:?}\n", file.included_from, file.system_from);
    }
    out + &format!("{diagnostics:?}")
}

/// Reads a unit under one list of guesses after the other, and each anew, too. Returns which of them, but the first,
/// another reading was needed for, and the text of the last.
fn check(files: &[(&str, &str)], all: &[Guesses]) -> (Vec<bool>, String) {
    let tree = MemoryTree::new(files.to_vec());
    let (path, options) = (Path::new("a.c"), Options::default());
    let files = TreeFiles::new(&tree, path, false);
    let opts = session_options(path, &options, &survey::survey(&files, path, &options));
    let unit = Unit { files: &files, path, opts: &opts };
    let mut reading = Reading::new(unit, &all[0]).unwrap();
    shown(&mut reading, &all[0]);
    let (mut anew, mut last) = (Vec::new(), String::new());
    for guesses in &all[1..] {
        let is_put = reading.put_before(guesses).unwrap();
        if !is_put {
            reading = Reading::new(unit, guesses).unwrap();
        }
        anew.push(!is_put);
        last = shown(&mut reading, guesses);
        assert_eq!(last, shown(&mut Reading::new(unit, guesses).unwrap(), guesses));
    }
    (anew, last)
}

fn with(mut change: impl FnMut(&mut Guesses)) -> Guesses {
    let mut out = Guesses::default();
    change(&mut out);
    out
}

#[test]
fn declarations_leave_the_unit_as_it_is() {
    // Positions in the unit, in headers, and in what the preprocessor complains of.
    let source = "#include \"b.h\"\n#define TWICE(x) x x\n#define TWICE(x) x\nT f(T a) { return TWICE(a) + B + v; }\n#if 1 +\n#endif\n";
    let header = "#pragma GCC system_header\n#define B 1\nint b;\n#include \"c.h\"\n";
    let files = [("a.c", source), ("b.h", header), ("c.h", "int c;\n")];
    let types = with(|g| _ = g.types.insert("T".into(), retry::Kind::Number));
    let mut objects = types.clone();
    objects.objects.insert("v".into(), retry::Kind::Number);
    let fewer = with(|g| _ = g.objects.insert("v".into(), retry::Kind::Number));
    let (anew, text) = check(&files, &[Guesses::default(), types, objects, fewer, Guesses::default()]);
    assert_eq!(anew, [false; 4]);
    assert!(text.contains("TWICE"), "{text}");
}

#[test]
fn a_macro_changes_the_unit() {
    let files = [("a.c", "API T f(T a) { return a; }\n#ifdef API\nint g;\n#endif\n")];
    let mut one = with(|g| _ = g.macros.insert("API".into(), false));
    let (anew, text) = check(&files, &[Guesses::default(), one.clone()]);
    assert!(anew[0] && text.contains("\ng "), "{text}");
    // What is defined in the prelude moves with its end.
    one.strings.insert("DIR".into(), false);
    let mut more = one.clone();
    more.types.insert("T".into(), retry::Kind::Number);
    let files = [("a.c", "API T f(T a) { char *b = DIR; return a + *b; }\n")];
    let (anew, text) = check(&files, &[one.clone(), more, one]);
    assert!(anew == [false; 2] && text.contains("\"{DIR}\""), "{text}");
}

#[test]
fn headers_change_the_unit() {
    let files = [("a.c", "int f(void) { return INT_MAX + EINTR; }\n")];
    let object = with(|g| _ = g.objects.insert("INT_MAX".into(), retry::Kind::Number));
    let mut header = object.clone();
    header.headers.insert("limits.h");
    let (anew, text) = check(&files, &[object.clone(), header.clone()]);
    // The header defines what was taken for an object.
    assert!(anew[0] && !text.contains("extern "), "{text}");
    let mut more = header.clone();
    more.objects.insert("EINTR".into(), retry::Kind::Number);
    let (anew, text) = check(&files, &[header, more, object]);
    assert!(anew == [false, true] && text.starts_with("extern "), "{text}");
}

#[test]
fn an_object_may_be_a_macro_of_the_system() {
    let linux = with(|g| _ = g.objects.insert("linux".into(), retry::Kind::Number));
    let mut more = linux.clone();
    more.objects.insert("v".into(), retry::Kind::Number);
    let (anew, text) = check(&[("a.c", "int f(void) { return v + linux; }\n")], &[linux, more]);
    assert!(anew == [false] && text.matches("extern ").count() == 1, "{text}");
}

#[test]
fn other_lines_are_read_anew() {
    let files = [("a.c", "#line 7 \"b.c\"\nint f(void) { return v + __LINE__; }\n")];
    let object = with(|g| _ = g.objects.insert("v".into(), retry::Kind::Number));
    assert_eq!(check(&files, &[Guesses::default(), object]).0, [true]);
}

#[test]
fn what_is_rewritten_is_not_kept() {
    let source =
        "int f(void) { return g(1); }\nint g(int a) { switch (a) { case L: return 1; } return L; }\n";
    let mut labels = with(|g| _ = g.labels.insert("L".into()));
    labels.objects.insert("L".into(), retry::Kind::Number);
    let mut forward = labels.clone();
    forward.forward.insert("g".into());
    let (anew, _) = check(&[("a.c", source)], &[Guesses::default(), labels, forward, Guesses::default()]);
    assert_eq!(anew, [false; 3]);
}
