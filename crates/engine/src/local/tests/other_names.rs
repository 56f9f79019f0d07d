//! Variables that got another name are what they were.

use super::told;

const HEAD: &str = "struct s { int *state; int n; };\nstruct t { int n; };\nvoid use(int);\nint get(void);\n";

/// Compares two functions: when, before, now of each row, and what is open.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(told(&format!("{HEAD}{old}\n"), &format!("{HEAD}{new}\n")), expected, "{old} {new}");
}

const TESTED: &str = "int f(struct s *z, int q) { if (!z || !z->state) return -1; z->n = q; return 0; }";

#[test]
fn parameters_are_known_by_their_places() {
    let renamed = TESTED.replace("z", "strm");
    check(TESTED, &renamed, &[]);
    check(TESTED, &renamed.replace("= q", "= q + 1"), &[" | sets strm->n to q | sets strm->n to q + 1"]);
    // Old style, and both.
    let old_style = "int f(strm, m) struct s *strm; int m; { if (!strm || !strm->state) return -1; strm->n = m; return 1; }";
    check(TESTED, old_style, &[" | returns 0 | returns 1"]);
    // The types are read by name, and a number may have got wider.
    check("int f(int n) { use(n); return 0; }", "int f(long many) { use(many); return 0; }", &[]);
}

#[test]
fn what_is_something_else_keeps_its_name() {
    // Of another type.
    let other = "int f(struct t *t, int q) { if (!t) return -1; t->n = q; return 0; }";
    let old = "int f(struct s *z, int q) { if (!z) return -1; z->n = q; return 0; }";
    let text = |f: &str| format!("{HEAD}{f}\n");
    let rows = told(&text(old), &text(other));
    assert!(rows.iter().any(|row| row.contains("z == NULL")), "{rows:?}");
    // Both names were there.
    let swapped = "int f(int a, int b) { use(a); return b; }";
    let order = "int f(int b, int a) { use(a); return b; }";
    check(swapped, order, &[]);
}

#[test]
fn locals_are_known_by_their_statements() {
    let old = "int f(void) { int n = get(); use(n); if (n < 0) return n; return n + 1; }";
    let renamed =
        old.replace("n =", "m =").replace("(n)", "(m)").replace("n < 0) return n", "m < 0) return m");
    let renamed = renamed.replace("return n + 1", "return m + 1");
    check(old, &renamed, &[]);
    check(old, &renamed.replace("m + 1", "m + 2"), &[" | returns m + 1 | returns m + 2"]);
    // One that stands in one place alone is not known by it.
    check("int f(int a) { int n; n = a; return n; }", "int f(int a) { int m; m = a; return m; }", &[]);
}
