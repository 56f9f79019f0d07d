//! Which formulas became which: what is printed, returned and kept, before and after a change, branch by branch
//! where one expression does not say it.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::Report;

fn analyse(old: &str, new: &str, all: bool) -> Report {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    diff(&memory::request(&versions, c::Options::default(), Options { all, ..Options::default() }))
}

/// `-` and `+` facts of the churns about a subject at the exit.
fn said(report: &Report, subject: &str) -> Vec<String> {
    let points = report.functions.iter().flat_map(|f| &f.points).filter(|p| p.id == "exit");
    let churns = points.flat_map(|p| &p.churns).filter(|c| c.subject == subject);
    let sides = churns.flat_map(|c| {
        let removed = c.removed.iter().map(|f| format!("- {}", f.text));
        removed.chain(c.added.iter().map(|f| format!("+ {}", f.text))).collect::<Vec<_>>()
    });
    sides.collect()
}

/// Expects this of what a program prints, which differs in one place (`$`).
#[track_caller]
fn check_output(body: &str, (old, new): (&str, &str), expected: &[&str]) {
    let text =
        format!("#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n");
    let report = analyse(&text.replace('$', old), &text.replace('$', new), false);
    let mut found = said(&report, "output");
    if found.is_empty() {
        found = said(&report, "end");
    }
    assert_eq!(found, expected);
}

/// `output == printf(...)` names no result of a call, so that a program prints at several places takes nothing away.
#[test]
fn what_is_printed_at_several_places_is_told() {
    check_output(
        "float a, b;\nscanf(\"%f%f\", &a, &b);\nif (b != 0) printf(\"%f\", $); else printf(\"none\");",
        ("a / b", "a * b"),
        &[
            "- b != 0.0f ==> output == printf(\"%f\", a / b)",
            "+ b != 0.0f ==> output == printf(\"%f\", a * b)",
        ],
    );
}

/// Of branches that exclude each other one says nothing of the others.
#[test]
fn each_branch_is_told_by_its_own_test() {
    check_output(
        "float a;\nscanf(\"%f\", &a);\nif (a < 0) printf(\"less\");\nif (a == 0) printf(\"$\");\nif (a > 0) printf(\"more\");",
        ("none", "zero"),
        &["- a == 0.0f ==> output == \"none\"", "+ a == 0.0f ==> output == \"zero\""],
    );
    check_output(
        "char c;\nscanf(\"%c\", &c);\nif ('0' <= c && c <= '9') printf(\"$\");\nif ('a' <= c && c <= 'z') printf(\"letter\");",
        ("digit", "number"),
        &["- '/' < c && c <= '9' ==> output == \"digit\"", "+ '/' < c && c <= '9' ==> output == \"number\""],
    );
    check_output(
        "float a;\nscanf(\"%f\", &a);\nif (a < 0) printf(\"less\"); else if (a == 0) printf(\"none\"); else printf(\"$\", a);",
        ("%f", "+%f"),
        &[
            "- !(a < 0.0f) && a != 0.0f ==> output == printf(\"%f\", a)",
            "+ !(a < 0.0f) && a != 0.0f ==> output == printf(\"+%f\", a)",
        ],
    );
}

/// What has no defined run gives no variable another value: those of the version that has some name the inputs.
#[test]
fn after_an_undefined_event_the_formula_has_names() {
    check_output(
        "int y;\nscanf(\"%d\", $);\nprintf(\"%d\", y * 2);",
        ("y", "&y"),
        &["- undefined: use of an uninitialised value at line 6", "+ output == printf(\"%d\", 2 * y)"],
    );
}

/// What values that were exchanged are compared with is told for each order.
#[test]
fn values_behind_tests_are_told_by_the_tests() {
    check_output(
        "int a, b, c, t;\nscanf(\"%d%d%d\", &a, &b, &c);\nif (a > b) { t = a; a = b; b = t; }\nif (b > c) { t = b; b = c; c = t; }\nif (a > b) { t = a; a = b; b = t; }\nif (a + b > c && b - a < c && a > 0) printf(\"$\"); else printf(\"no\");",
        ("yes", "sure"),
        &[
            "- 0 < \\input(2) && \\input(2) < \\input(1) && \\input(1) <= \\input(3) && \\input(3) < \\input(1) + \\input(2) && \\input(1) - \\input(2) < \\input(3) ==> output == \"yes\"",
            "+ 0 < \\input(2) && \\input(2) < \\input(1) && \\input(1) <= \\input(3) && \\input(3) < \\input(1) + \\input(2) && \\input(1) - \\input(2) < \\input(3) ==> output == \"sure\"",
        ],
    );
}

/// A variable that only one branch sets has a value there alone.
#[test]
fn a_variable_of_one_branch_is_told_there() {
    let text = "double f(double a, double b)\n{\n    double x;\n    double y = 0;\n    if (b != 0) {\n        x = $;\n        y = x;\n    }\n    return y > 1;\n}\n";
    let report = analyse(&text.replace('$', "a / b"), &text.replace('$', "-a / b"), true);
    assert_eq!(said(&report, "x"), ["- b != 0.0 ==> x == a / b", "+ b != 0.0 ==> x == -(a / b)"]);
}

/// A quotient and the same with both signs exchanged differ by the sign of a zero, which `==` does not see.
#[test]
fn the_sign_of_a_zero_is_a_change_of_a_formula() {
    let text = "double f(double a, double b)\n{\n    double x;\n    double y = 0;\n    if (b != 0) {\n        x = $;\n        y = x * x;\n    }\n    return y;\n}\n";
    let report = analyse(&text.replace('$', "(1 - a) / b"), &text.replace('$', "(a - 1) / -b"), true);
    assert_eq!(
        said(&report, "x"),
        ["- b != 0.0 ==> x == (1.0 - a) / b", "+ b != 0.0 ==> x == -((a - 1.0) / b)"]
    );
    assert_eq!(said(&report, "\\result"), [""; 0]);
}
