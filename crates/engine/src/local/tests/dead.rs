//! Variables that one version alone reads behind a common node, because the other one writes them first.

use super::check;

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
