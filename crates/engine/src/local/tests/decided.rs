//! What is decided where a change is: by what variables were assigned, and by the test of a loop.

use super::{changes, told};

/// Compares two bodies of `f`: when, before, now of each row, and what is open.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    let head = "struct l { struct l *next; int n; };\nint use(int);\nint more(struct l *);\n";
    let text = |body: &str| format!("{head}int f(struct l *a, int x, int y) {{ {body} }}\n");
    assert_eq!(told(&text(old), &text(new)), expected, "{old} {new}");
}

#[test]
fn a_loop_that_is_not_entered_is_passed() {
    let walk = "while (a && a->n) a = a->next; return a ? 1 : 0;";
    check(&format!("if (!a) return 0; {walk}"), walk, &[]);
    check(&format!("if (!a) return 2; {walk}"), walk, &["a == NULL | returns 2 | returns 0"]);
    // The first test of the loop says nothing, or does something.
    let first = "while (x > 3 && a) a = a->next, x--; return 0;";
    check(&format!("if (!a) return 0; {first}"), first, &[]);
    let calls = "while (use(x) && a) a = a->next; return 0;";
    check(&format!("if (!a) return 0; {calls}"), calls, &["a == NULL | returns 0 | comes to the loop"]);
    // One round, or more.
    let once = "do { a = a->next; } while (a); return 0;";
    check(&format!("if (!a) return 0; {once}"), once, &["a == NULL | returns 0 | comes to the loop"]);
}

#[test]
fn a_variable_is_what_it_was_assigned() {
    let quotient = "if (y < 1) return 0; int q = x / y; use(q);";
    check(&format!("{quotient} x = 3 * (x - q * y);"), &format!("{quotient} x = 3 * (x - x / y * y);"), &[]);
    let both = "x = 3 * (x - q * y); return x;";
    let written = both.replace('q', "(x / y)");
    check(&format!("{quotient} {both}"), &format!("{quotient} {written}"), &[]);
    // By way of another one.
    let chain = "if (y < 1) return 0; int q = x / y, r = q * y; use(r);";
    check(&format!("{chain} x = x - r; return x;"), &format!("{chain} x = x - x / y * y; return x;"), &[]);
    // It is another value since then, or what it was made of.
    for since in ["x = use(1);", "q = use(1);", "y++;"] {
        let (old, new) = (format!("{quotient} {since} {both}"), format!("{quotient} {since} {written}"));
        let head = "int use(int);\n";
        let text = |body: &str| format!("{head}int f(int x, int y) {{ {body} }}\n");
        let found = changes(&text(&old), &text(&new));
        assert!(found.iter().any(|c| c.verdict != super::Verdict::Neutral), "{since}");
    }
}
