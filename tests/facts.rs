//! Facts that must, and must not, come out of small programs.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Claim, Report};

fn analyse(versions: &[&str]) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", *v)]).collect();
    diff(&memory::request(&files, c::Options::default(), Options::default()))
}

fn invariants(report: &Report, function: &str) -> Vec<String> {
    let f = report.functions.iter().filter(|f| f.name == function);
    f.flat_map(|f| &f.points).flat_map(|p| &p.version_invariants).map(|f| f.text.clone()).collect()
}

/// `-` and `+` facts of the churns of a function, in order.
fn churns(report: &Report, function: &str) -> Vec<String> {
    let f = report.functions.iter().filter(|f| f.name == function);
    let churns = f.flat_map(|f| &f.points).flat_map(|p| &p.churns);
    churns
        .flat_map(|c| {
            let removed = c.removed.iter().map(|f| format!("- {}", f.text));
            removed.chain(c.added.iter().map(|f| format!("+ {}", f.text))).collect::<Vec<_>>()
        })
        .collect()
}

/// A program that looks whether a conversion succeeded may see it fail.
#[test]
fn checked_input_may_fail() {
    let old = "#include <stdio.h>\nint main(void) { int a; scanf(\"%d\", &a); return 0; }\n";
    let new =
        "#include <stdio.h>\nint main(void) { int a; if (scanf(\"%d\", &a) != 1) return 1; return 0; }\n";
    let report = analyse(&[old, new]);
    assert!(
        !invariants(&report, "main").iter().any(|t| t == "\\result == 0"),
        "{:?}",
        invariants(&report, "main")
    );
}

#[test]
fn a_result_that_changes_has_a_witness() {
    let report = analyse(&["int f(int a) { return a + 1; }", "int f(int a) { return a + 2; }"]);
    assert_eq!(churns(&report, "f"), ["- \\result == a + 1", "+ \\result == a + 2"]);
    let churn = &report.functions[0].points[0].churns[0];
    assert_eq!(churn.claim, Claim::Changed);
    assert!(churn.witness.is_some());
}

#[test]
fn equal_values_are_no_churn() {
    for (old, new) in [
        ("int f(int a) { return a * 2; }", "int f(int a) { return a + a; }"),
        ("int f(int a) { if (a) return 1; return 0; }", "int f(int a) { return a != 0; }"),
        ("int f(int a, int b) { return a & b; }", "int f(int b1, int b2) { return b2 & b1; }"),
        ("unsigned f(unsigned a) { return a % 8; }", "unsigned f(unsigned a) { return a & 7; }"),
        (
            "int f(int n) { int s = 0; for (int i = 0; i < 4; i++) s += n; return s; }",
            "int f(int n) { return n * 4; }",
        ),
    ] {
        let report = analyse(&[old, new]);
        assert_eq!(churns(&report, "f"), [""; 0], "{new}");
    }
}

#[test]
fn callers_see_what_a_callee_changes() {
    let old = "static int g(int a) { return a; }\nint f(int a) { return g(a) + 1; }";
    let new = "static int g(int a) { return -a; }\nint f(int a) { return g(a) + 1; }";
    let report = analyse(&[old, new]);
    assert_eq!(churns(&report, "f"), ["- \\result == a + 1", "+ \\result == 1 - a"]);
}

/// What rests on a type that was guessed is never called proved.
#[test]
fn guessed_types_prove_nothing() {
    let report = analyse(&["int f(foo_t a) { return (int)a + 1; }", "int f(foo_t a) { return (int)a + 2; }"]);
    let points = report.functions.iter().flat_map(|f| &f.points);
    for fact in points.flat_map(|p| &p.churns).flat_map(|c| c.removed.iter().chain(&c.added)) {
        assert!(fact.status.values().all(|s| *s != git_invdiff::report::Status::Proved), "{}", fact.text);
        assert!(fact.assumptions.contains(&"invented-type(foo_t)".to_string()), "{:?}", fact.assumptions);
    }
}
