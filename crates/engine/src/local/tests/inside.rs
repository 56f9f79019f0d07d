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

/// A variable of a block ends with it.
#[test]
fn what_a_block_holds_is_told_where_nothing_else_is() {
    let head = "struct t { int a, b; };\nvoid use(struct t *);\nvoid f(int n, int m, struct t *there)";
    let block = |test: &str| format!("if ({test}) {{ struct t own = {{ 1, 2 }}; use(&own); }}\nuse(there);");
    check(
        head,
        &block("n"),
        &block("m"),
        &["n != 0 && m == 0 | calls use(&own) | ", "n == 0 && m != 0 |  | calls use(&own)"],
    );
    // One that is there behind the block does not.
    let written = |test: &str| format!("struct t own = {{ 1, 2 }};\nif ({test}) own.a = 3;\nuse(&own);");
    check(
        head,
        &written("n"),
        &written("m"),
        &["n != 0 && m == 0 | sets own.a to 3 | ", "n == 0 && m != 0 |  | sets own.a to 3"],
    );
    // Nor is it left out where the block goes on, or each version has it hold something else.
    let begins = |own: &str| format!("if (n) {{ struct t own{own}; use(&own); }}\nuse(there);");
    check(
        head,
        &begins(""),
        &begins(" = { 7, 8 }; there->a = 5"),
        &[" |  | sets own.a to 7; sets own to { 7, 8 }; sets own.b to 8; sets there->a to 5"],
    );
    let holds = |value: u32| format!("if (n) {{ struct t own = {{ 1, {value} }}; use(&own); }}\nuse(there);");
    check(head, &holds(2), &holds(3), &[" | sets own.b to 2 | sets own.b to 3"]);
}
