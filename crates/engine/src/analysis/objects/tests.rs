//! Pairs of a few lines of C and what is told of their objects.
#![cfg(test)]

use crate::analysis::{Effort, Options, Request, diff, memory};
use crate::frontend::c;
use crate::report::{Effect, ObjectReport, Report, Verdict};

fn request(old: &[(&str, &str)], new: &[(&str, &str)], jobs: usize) -> Request {
    let analysis = Options { jobs, effort: Effort::Quick, ..Options::default() };
    memory::request(&[old.to_vec(), new.to_vec()], c::Options::default(), analysis)
}

fn said(o: &ObjectReport) -> String {
    let effects = |all: &[Effect]| all.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join("; ");
    let coming = o.coming();
    let name = if coming.is_empty() { o.called() } else { format!("{} {coming}", o.called()) };
    let reason = o.reason.as_ref().map(|r| format!(" open: {r}")).unwrap_or_default();
    format!("{name}: {} -> {}{reason}", effects(&o.before), effects(&o.now))
}

fn verdicts(report: &Report) -> String {
    let of = |h: &crate::report::HunkReport| match h.verdict {
        Verdict::Explained => "explained".to_owned(),
        Verdict::Neutral => "neutral".to_owned(),
        Verdict::NotAnalysed => h.why.clone().unwrap_or_default(),
    };
    report.hunks.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Compares two versions of `a.c`: what is said of each object, and what became of the hunks.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str], hunks: &str) {
    let text = |t: &str| format!("{t}\nint main(void) {{ return 0; }}\n");
    let (old, new) = (text(old), text(new));
    let report = diff(&request(&[("a.c", &old)], &[("a.c", &new)], 1));
    let found: Vec<String> = report.objects.iter().map(said).collect();
    assert_eq!(found, expected, "{old} | {new}");
    assert_eq!(verdicts(&report), hunks, "{old} | {new}");
}

/// One initial value in the place of another.
#[track_caller]
fn changed(ty: &str, old: &str, new: &str, expected: &str) {
    let text = |value: &str| format!("{} = {value};", ty);
    check(&text(old), &text(new), &[expected], "explained");
}

#[test]
fn scalars_and_strings() {
    changed("int x", "10", "12", "x: starts as 10 -> starts as 12");
    changed("static const int x", "10", "0", "x: starts as 10 -> starts as 0");
    changed("double x", "1.5", "-1.5", "x: starts as 1.5 -> starts as -1.5");
    changed("char x", "'a'", "'b'", "x: starts as 'a' -> starts as 'b'");
    changed("unsigned char x", "'a'", "'b'", "x: starts as 97 -> starts as 98");
    changed("_Bool x", "0", "1", "x: starts as 0 -> starts as 1");
    changed("char *x", "\"a\"", "0", "x: starts as \"a\" -> starts as NULL");
    changed("const char x[]", "\"one\"", "\"two\"", "x: starts as \"one\" -> starts as \"two\"");
    changed(
        "const char x[]",
        "\"a long usage text\\n  and more of it\\n  option producue\\n\"",
        "\"a long usage text\\n  and more of it\\n  option produce\\n\"",
        "x: starts as \"…f it\\n  option producue\\n\" -> starts as \"…f it\\n  option produce\\n\"",
    );
}

#[test]
fn elements_are_aligned() {
    changed("int x[4]", "{ 1, 2, 3 }", "{ 1, 5, 3 }", "x: [1] is 2 -> [1] is 5");
    changed("int x[]", "{ 1, 2 }", "{ 1, 2, 3 }", "x:  -> has 3 at [2]");
    changed("char *x[]", "{ \"a\", \"c\", 0 }", "{ \"a\", \"b\", \"c\", 0 }", "x:  -> has \"b\" after \"a\"");
    changed("char *x[]", "{ \"a\", \"b\", \"c\", 0 }", "{ \"a\", \"c\", 0 }", "x: has \"b\" after \"a\" -> ");
    let table = "struct s { const char *k, *v; } x[]";
    changed(
        table,
        "{ { \"a\", \"1\" }, { \"c\", \"3\" }, { 0 } }",
        "{ { \"a\", \"1\" }, { \"b\", \"2\" }, { \"c\", \"3\" }, { 0 } }",
        "x:  -> has { \"b\", \"2\" } after { \"a\", \"1\" }",
    );
    changed(
        table,
        "{ { \"a\", \"1\" }, { \"c\", \"3\" } }",
        "{ { \"a\", \"1\" }, { \"c\", \"4\" } }",
        "x: [1].v is \"3\" -> [1].v is \"4\"",
    );
}
