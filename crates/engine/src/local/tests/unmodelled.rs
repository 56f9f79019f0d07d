//! Statements that lowering does not express, in regions: the same in both versions, or open.

use super::{Verdict, changes};

/// Whether all is told of two bodies, and how often something differs.
fn told(old: &str, new: &str) -> (bool, usize) {
    let [old, new] = [old, new].map(|body| {
        format!("void use(int);\nint f(int a, int b)\n{{\nint t[3], r = 0;\n{body}\nreturn r;\n}}\n")
    });
    let found = changes(&old, &new);
    let is_open = found.iter().any(|c| matches!(c.verdict, Verdict::Open(_)) || c.rest.is_some());
    (!is_open, found.iter().map(|c| c.deltas.len()).sum())
}

#[test]
fn the_same_statement_in_the_same_state_does_the_same() {
    let around = |value: &str| format!("r = a + {value};\nt = 5;\nuse(b);");
    assert_eq!(told(&around("1"), &around("2")), (true, 1));
    // What it gives to what it names is the same.
    let named = |value: &str| format!("r = {value};\nt = b;\nif (b > 3) use(b);");
    assert_eq!(told(&named("1"), &named("2")), (true, 1));
}

#[test]
fn what_it_does_in_another_state_is_open() {
    // That it is another state is told; what comes of it is not.
    let reading = |value: &str| format!("b = a + {value};\nt = b;\nuse(3);");
    assert_eq!(told(&reading("1"), &reading("2")), (true, 1));
    let asking = |of: &str| format!("if ({of} > 0) {{\nt = b;\nuse(r);\n}}\nuse(3);");
    assert!(told(&asking("a"), &asking("b")).0);
    let behind = |n: &str| format!("t = {n};\nuse(b);");
    assert!(!told(&behind("5"), &behind("6")).0);
    assert!(!told("use(b);", "t = 5;\nuse(b);").0);
    assert!(!told("use(b);\nt = 5;", "t = 5;\nuse(b);").0);
}

/// Where the parser skipped text the rest of the function may have another shape than the tree has.
#[test]
fn text_that_the_parser_skipped_leaves_all_open() {
    let read = "if (a > 0) { if (b > 1) use(b); r = 1; } else r = 2;";
    let broken = "if (a > 0)\n&& b) { if (b > 1) use(b); r = 1; } else r = 2;";
    for (old, new) in [(read, broken), (broken, read)] {
        assert!(!told(old, new).0);
        assert_eq!(told(old, new).1, 0);
    }
}

#[test]
fn what_is_not_understood_is_told_by_its_line() {
    let text = |least: &str| {
        format!(
            "void use(int);\nvoid f(int a, int b)\n{{\nint t[3];\nif (a > {least}) {{\nt = 5;\nuse(b);\n}} else use(a);\n}}\n"
        )
    };
    let found = super::told(&text("0"), &text("1"));
    assert!(found.iter().any(|line| line.contains("does what stands in line")), "{found:?}");
    assert!(found.iter().all(|line| !line.contains("\\does")), "{found:?}");
}
