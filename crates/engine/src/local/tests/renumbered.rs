//! Enumerations that get one more enumerator in the middle.

use super::told;

/// `enum e` before and after, and the body of `f(enum e x, int n)`.
#[track_caller]
fn check(bodies: [&str; 2], expected: &[&str]) {
    let heads = ["enum e { A, B, C };", "enum e { A, N, B, C };"];
    let text = |k: usize| {
        format!(
            "{}\nenum e g(enum e);\nvoid h(int);\nstruct s {{ enum e kind; }};\nint f(enum e x, int n, struct s *p)\n{{\n{}\n}}\n",
            heads[k], bodies[k]
        )
    };
    assert_eq!(told(&text(0), &text(1)), expected, "\n{}\n-->\n{}", text(0), text(1));
}

const SWITCH: &str = "switch (x) { case A: return 1; case B: return 2; case C: return 3; }\nreturn 0;";

#[test]
fn what_has_the_same_name_is_the_same() {
    check([SWITCH, SWITCH], &[]);
    let body = "enum e y = n ? B : g(C);\nif (p->kind == B || x >= B) p->kind = y;\nreturn y == x;";
    check([body, body], &[]);
}

#[test]
fn the_new_one_is_told() {
    let new = SWITCH.replace("case A:", "case N: return 5; case A:");
    check([SWITCH, &new], &["x == N | returns 0 | returns 5"]);
    let other = SWITCH.replace("return 3", "return 4");
    check([SWITCH, &other], &[" | returns 3 | returns 4"]);
}

/// `A` and `B` change places, and `C` gets a number.
#[test]
fn a_number_that_is_written_is_a_number() {
    let text = |values: &str| format!("enum e {{ {values} }};\nint f(enum e x)\n{{\n{SWITCH}\n}}\n");
    assert_eq!(told(&text("A, B, C"), &text("A, C, B")), [] as [&str; 0]);
    let found = told(&text("A, B, C"), &text("A, B, C = 7"));
    assert_eq!(found, ["x == 2 | returns 3 | returns 0", "x == 7 | returns 0 | returns 3"]);
}

#[test]
fn as_numbers_they_are_others() {
    let body = "h(B);\nreturn 0;";
    check([body, body], &[" | calls h(1) | calls h(2)"]);
    // What one takes for a number is no name.
    let body = "h(x);\nif (x == B) return 1;\nreturn 0;";
    check([body, body], &["x == 1 | returns 1 | returns 0", "x == 2 | returns 0 | returns 1"]);
}
