//! What the local variables of one version hold.

use super::check;

#[test]
fn what_a_new_local_holds_is_told_where_nothing_else_is() {
    let head = "struct t { int a, b; };\nint use(struct t *, int);\nint f(int n)";
    check(
        head,
        "return n;",
        "struct t own = { 1, 2 };\nreturn use(&own, n);",
        &[" | returns n | returns use(&own, n)"],
    );
    check(
        head,
        "struct t own = { 1, 2 };\nreturn use(&own, n);",
        "struct t own = { 1, 3 };\nreturn use(&own, n);",
        &[" | sets own.b to 2 | sets own.b to 3"],
    );
}
