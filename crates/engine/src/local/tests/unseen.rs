//! Locals whose addresses have not got around: calls know nothing of them.

use super::check;

const HEAD: &str = "void note(int *); int make(int *);\nint f(int n, int *u)";

#[test]
fn what_nobody_sees_changes_no_answer() {
    // Found in npth ed674b9: what a call leaves came of all memory.
    check(
        HEAD,
        "int id = 0, a;\nif (u) a = *u;\nelse { n = make(&a); if (n) return n; }\nn = make(&id);\nif (n) goto out;\nnote(u);\nreturn 0;\nout:\nif (id) note(&id);\nreturn n;",
        "int id = 0;\nn = make(&id);\nif (n) goto out;\nnote(u);\nreturn 0;\nout:\nif (id) note(&id);\nreturn n;",
        &[
            "u == NULL && make(&a) != 0 | returns make(&a) | calls make(&id); goes on at line 15",
            "u == NULL && make(&a) == 0 | calls make(&a) | ",
            "u != NULL | sets a to *u | ",
        ],
    );
}

#[test]
fn what_is_written_behind_a_call_is_there_behind_it() {
    check(
        HEAD,
        "int a[2] = {0};\nn = make(0);\nif (a[0] == 0) return n;\nnote(a);\nreturn 7;",
        "int a[2] = {0};\nn = make(u);\nif (a[0] == 0) return n;\nnote(a);\nreturn 7;",
        &[" | calls make(NULL) | calls make(u)"],
    );
}

#[test]
fn what_got_around_calls_may_see() {
    check(
        HEAD,
        "int a = 1, b;\nnote(&a);\na = 1;\nmake(&b);\nreturn b;",
        "int a = 1, b;\nnote(&a);\na = 2;\nmake(&b);\nreturn b;",
        &[" | sets a to 1 | sets a to 2"],
    );
}
