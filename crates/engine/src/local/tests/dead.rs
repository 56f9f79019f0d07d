//! Variables that one version alone reads behind a common node, because the other one writes them first.

use super::{BEFORE, check, told};

const HEAD: &str = "void note(const char *); void use(char *, int);\nint f(char **o, int k)";

#[test]
fn what_is_written_before_it_is_read_makes_no_difference() {
    // Found in linux-pam ae6581bc.
    check(
        HEAD,
        "char *d = 0;\nd = o[0];\nif (!d) { note(\"a\"); goto out; }\nif (!o[1]) { note(\"b\"); d = 0; goto out; }\nd = 0;\nout:\nuse(d, k);\nreturn 0;",
        "char *d = 0, *c;\nc = o[0];\nif (!c) { note(\"a\"); goto out; }\nif (!o[1]) { note(\"b\"); goto out; }\nd = 0;\nout:\nuse(d, k);\nreturn 0;",
        &[],
    );
    check(
        HEAD,
        "char *d = 0;\nd = o[0];\nif (!d) { note(\"a\"); goto out; }\nnote(\"b\");\nd = 0;\nout:\nuse(d, k);\nreturn 0;",
        "char *d = 0, *c;\nc = o[0];\nif (!c) { note(\"a\"); goto out; }\nnote(\"b\");\nout:\nuse(d, k);\nreturn 0;",
        &[],
    );
}

#[test]
fn what_is_not_is_told() {
    check(
        HEAD,
        "char *d = 0;\nd = o[0];\nif (k) { note(\"b\"); d = o[1]; }\nuse(d, k);\nreturn 0;",
        "char *d = 0, *c;\nc = o[0];\nif (k) { note(\"b\"); }\nuse(d, k);\nreturn 0;",
        &[" | sets d to *o | leaves d as it is", " | sets d to o[1] | leaves d as it is"],
    );
}

/// A counter that only counts.
#[test]
fn what_nothing_reads_is_nothing() {
    check(
        "int f(int n)",
        "unsigned seen = 0;\nfor (int i = 0; i < n; i++) { if (foreign(i)) { if (n > 3) seen++; other(i, n); } else seen += 2; }\nreturn n;",
        "for (int i = 0; i < n; i++) { if (foreign(i)) { other(i, n); } }\nreturn n;",
        &[],
    );
    check(
        "int f(int n)",
        "int seen = 0;\nfor (int i = 0; i < n; i++) { if (foreign(i)) seen++; }\nreturn n;",
        "int seen = 0;\nfor (int i = 0; i < n; i++) { if (foreign(i)) seen += 2; }\nreturn seen;",
        &[" | returns n | returns seen", " | sets seen to seen + 1 | sets seen to seen + 2"],
    );
    // What divides may fail.
    check(
        "int f(int n)",
        "return 1;",
        "int seen = 0;\nseen = seen / n;\nreturn 1;",
        &["n == 0 | goes on at line 14 | undefined at line 13: division by n, which is 0"],
    );
}

/// Of the test that divides nothing is known then, nor of what comes behind it.
#[test]
fn a_test_that_divides_may_be_undefined() {
    let head = "int check(unsigned max, unsigned long size, unsigned long consumed)";
    check(
        head,
        "if (size > 9 && (size > 99 || size / max > consumed)) return 1;\nreturn 0;",
        "if (max > 0 && size > 9 && (size > 99 || size / max > consumed)) return 1;\nreturn 0;",
        &[
            "size > 9 && size <= 99 && max == 0 | undefined at line 12: division by max, which is 0 | returns 0",
            "size > 99 && max == 0 | returns 1 | returns 0",
        ],
    );
    // The other way round.
    check(
        head,
        "if (max > 0 && size / max > consumed) foreign(1);\nreturn 0;",
        "if (size / max > consumed) foreign(1);\nreturn 0;",
        &["max == 0 | returns 0 | undefined at line 12: division by max, which is 0"],
    );
}

/// Where the older version does something undefined, too, there is no news.
#[test]
fn what_was_undefined_before_is_no_news() {
    let quotient = |of: &str| format!("int seen = {of};\nreturn seen;");
    check(
        "int f(int n, int k)",
        &quotient("3 / n"),
        &quotient("n == 0 ? 1 / n : 4 / n"),
        &["n != 0 | returns 3 / n | returns 4 / n"],
    );
    check(
        "int f(int n, int k)",
        &quotient("1 << k"),
        &quotient("(int)(2L << k)"),
        &[" | returns 1 << k | returns (int)((long)2 << k)"],
    );
}

#[test]
fn what_is_kept_for_a_loop_is_told_by_what_the_loop_does() {
    check(
        "void f(int *c, int n)",
        "for (int i = 0; i < n; i++) c[i]++;",
        "int bound = n;\nfor (int i = 0; i < bound; i++) c[i]++;",
        &[],
    );
    let new = "int seen = 0;\nfor (int i = 0; i < n; i++) { if (c[i] == 7) seen = 1; c[i]++; }\nif (seen) foreign(n);";
    let told = told(
        &format!("{BEFORE}void f(int *c, int n)\n{{\nfor (int i = 0; i < n; i++) {{ c[i]++; }}\n}}"),
        &format!("{BEFORE}void f(int *c, int n)\n{{\n{new}\n}}"),
    );
    assert!(
        told.iter().any(|t| t.contains("sets seen to 1"))
            && told.iter().any(|t| t.contains("calls foreign(n)")),
        "{told:?}"
    );
}
