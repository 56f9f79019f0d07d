//! What tests on the way leave to be told: states that they let through, and no others.

use super::{check, told};

const HEAD: &str = "int f(int n, int k)";

#[test]
fn a_guard_that_moves_up_is_told_where_it_is_now() {
    check(
        HEAD,
        "foreign(1);\nforeign(4);\nif (n == 0) return 7;\nforeign(2);\nreturn 3;",
        "if (n == 0) return 7;\nforeign(1);\nforeign(4);\nforeign(2);\nreturn 3;",
        &["n == 0 | calls foreign(1); calls foreign(4) | "],
    );
}

#[test]
fn what_was_tested_before_is_not_asked_again() {
    // A second test of the same does nothing.
    check(
        HEAD,
        "if (n == 0) return 7;\nforeign(n);\nreturn 3;",
        "if (n == 0) return 7;\nforeign(n);\nif (n == 0) return 8;\nreturn 3;",
        &[],
    );
    // Nor does it where a division needs it.
    check(
        HEAD,
        "while (k > 0) { k--; if (n == 0) continue; foreign(k); }\nreturn 3;",
        "while (k > 0) { k--; if (n == 0) continue; foreign(k / n); }\nreturn 3;",
        &[" | calls foreign(k) | calls foreign(k / n)"],
    );
    // What was written in between is asked again.
    check(
        HEAD,
        "if (n == 0) return 7;\nn = foreign(n);\nreturn 3;",
        "if (n == 0) return 7;\nn = foreign(n);\nif (n == 0) return 8;\nreturn 3;",
        &["n == 0 | returns 3 | returns 8"],
    );
}

#[test]
fn tests_of_memory_hold_until_it_is_written() {
    let head = "int f(struct s *p, int k)";
    check(
        head,
        "if (p->n == 0) return 7;\nk = k + 1;\nreturn k;",
        "if (p->n == 0) return 7;\nk = k + 1;\nif (p->n == 0) return 8;\nreturn k;",
        &[],
    );
    check(
        head,
        "if (p->n == 0) return 7;\nforeign(k);\nreturn k;",
        "if (p->n == 0) return 7;\nforeign(k);\nif (p->n == 0) return 8;\nreturn k;",
        &["p->n == 0 | returns k | returns 8"],
    );
}

#[test]
fn each_version_has_tests_of_its_own() {
    // Of what the older one lets through, the newer one does something else with some.
    check(
        HEAD,
        "if (n < 0) return 7;\nforeign(1);\nif (n > 5) return 8;\nreturn 3;",
        "if (n < 2) return 7;\nforeign(1);\nif (n > 0) return 8;\nreturn 3;",
        &[
            "n >= 0 && n <= 1 | calls foreign(1); goes on at line 14 | returns 7",
            "n <= 5 && n > 0 | returns 3 | returns 8",
        ],
    );
}

#[test]
fn a_variable_has_the_value_that_it_was_assigned() {
    // Once more the same is nothing, and without it nothing is missing.
    let (once, twice) =
        ("k = n + 1;\nforeign(4);\nreturn k;", "k = n + 1;\nforeign(4);\nk = n + 1;\nreturn k;");
    check(HEAD, once, twice, &[]);
    check(HEAD, twice, once, &[]);
    // A test of it is answered.
    let tested = "k = 3;\nforeign(4);\nif (k > 5) return 8;\nreturn n;";
    check(HEAD, "k = 3;\nforeign(4);\nreturn n;", tested, &[]);
}

#[test]
fn an_assignment_holds_until_either_side_is_written() {
    let once = |between: &str| format!("k = n + 1;\n{between}\nforeign(4);\nreturn k;");
    let twice = |between: &str| format!("k = n + 1;\n{between}\nforeign(4);\nk = n + 1;\nreturn k;");
    for between in ["n = foreign(1);", "k = foreign(1);", "k = k * 2;", "if (n > 3) n = 2;"] {
        check(HEAD, &once(between), &twice(between), &[" | returns k | returns n + 1"]);
    }
    // What is made of the value before says nothing of the one after.
    check(
        HEAD,
        "k = k + 1;\nforeign(4);\nreturn k;",
        "k = k + 1;\nforeign(4);\nk = k + 1;\nreturn k;",
        &[" | returns k | returns k + 1"],
    );
    // On one way only.
    check(
        HEAD,
        "if (n) k = n + 1;\nforeign(4);\nreturn k;",
        "if (n) k = n + 1;\nforeign(4);\nk = n + 1;\nreturn k;",
        &[" | returns k | returns n + 1"],
    );
}

#[test]
fn what_was_read_from_memory_is_known_until_it_is_written() {
    let head = "int f(struct s *p, int k)";
    let again = |between: &str| format!("k = p->n;\n{between}\nk = p->n;\nreturn k;");
    let once = |between: &str| format!("k = p->n;\n{between}\nreturn k;");
    check(head, &again("p = p;"), &once("p = p;"), &[]);
    check(head, &again("foreign(4);"), &once("foreign(4);"), &[" | returns p->n | returns k"]);
}

#[test]
fn calls_that_only_read_leave_tests_as_they_are() {
    // Found in openssh 6a57081dc: a row for a name that was compared before.
    check(
        "extern int locked; int foreign2(void);\nint f(const char *name)",
        "int ok = 0;\nif (strcmp(name, \"query\") == 0) ok = foreign2();\nelse if (strcmp(name, \"session\") == 0) ok = foreign(1);\nelse return foreign(2);\nreturn ok;",
        "int ok = 0;\nif (strcmp(name, \"session\") == 0) ok = foreign(1);\nelse if (locked) return foreign(3);\nelse if (strcmp(name, \"query\") == 0) ok = foreign2();\nelse return foreign(2);\nreturn ok;",
        &["strcmp(name, \"session\") != 0 && locked != 0 | goes on at line 16 | returns foreign(3)"],
    );
}

#[test]
fn calls_leave_constants_as_they_are() {
    // Found in p11-kit 27a4012: a macro of a missing header, tested before a call and after it.
    check(
        "void drop(void *); void note(const char *);\nint f(void *d, int n)",
        "int r = foreign(n);\nif (r == SUCCESS) {} else { note(\"a\"); return 0; }\nreturn foreign(r);",
        "int r = foreign(n);\nif (r != SUCCESS) {\ndrop(d);\ndo { note(\"b\"); return 0; } while (0);\n}\nreturn foreign(r);",
        &["r != SUCCESS | calls note(\"a\") | calls drop(d); calls note(\"b\")"],
    );
    check(
        "extern const int mode; void drop(void *);\nint f(void *d, int n)",
        "if (mode == 3) return 1;\ndrop(d);\nreturn n;",
        "if (mode == 3) return 1;\ndrop(d);\nif (mode == 3) return 2;\nreturn n;",
        &[],
    );
}

#[test]
fn calls_leave_enumerators_of_missing_headers_as_they_are() {
    // Found in yajl 263adf5: the test read its constant behind the call, where before it was read first.
    let head = "int look(int); void note(int);\nstatus last;\nint f(int n)";
    let before = "return status_ok == look(n);";
    check(
        head,
        before,
        "{ status s = look(n); if (s == status_done) note(n); return s == status_ok; }",
        &["look(n) == status_done |  | calls note(n)"],
    );
}

#[test]
fn what_one_version_writes_is_no_constant_of_the_other() {
    let head = "int look(int); status last;\nint f(int n)";
    let text = |more: &str, body: &str| format!("{more}{head}\n{{\n{body}\n}}\n");
    let old = text("", "int s = look(n); return s == STATUS_OK;");
    let new = text("void set(int n) { STATUS_OK = n; } ", "if (look(n) == STATUS_OK) return 1; return 0;");
    assert_eq!(told(&old, &new), [""; 0]);
}

#[test]
fn own_calls_are_left_out_of_tests_too() {
    // Found in p11-kit 802b820: what happens where a pointer is null, and where it is not after all behind a call.
    check(
        "void note(const char *, ...); int next(void *); void done(void *); void *make(void *);\n\
         #define FAIL(x, v) do { if (x) { } else { note(\"%s %s\", #x, __func__); return v; } } while (0)\n\
         #define REACHED(v) do { note(\"%s\", __func__); return v; } while (0)\nint f(int n)",
        "void *p = 0;\nwhile (next(&n)) {\np = make(&p);\nFAIL(p != NULL, 0);\n}\nreturn 1;",
        "void *p = 0;\nwhile (next(&n)) {\np = make(&p);\nif (p == NULL) {\ndone(&n);\nREACHED(0);\n}\n}\nreturn 1;",
        &["p == NULL |  | calls done(&n)", "p == NULL | calls FAIL(…, 0) | calls REACHED(0)"],
    );
}

#[test]
fn one_of_several_tests_holds_where_they_lead() {
    // Found in p11-kit a464328: what happens behind `a || b` where neither holds.
    check(
        "void note(const char *, ...); void drop(int *);\n\
         #define FAIL(x, v) do { if (x) { } else { note(\"%s %s\", #x, __func__); return v; } } while (0)\n\
         #define REACHED(v) do { note(\"%s\", __func__); return v; } while (0)\nint f(int a, int b)",
        "int kept = foreign(a);\nFAIL(a <= b && b < 1000, 0);\nkept = other(a, b);\nFAIL(kept != 3, 0);\nreturn kept;",
        "int kept = foreign(a);\nif (a > b || b >= 1000) {\ndrop(&a);\nREACHED(0);\n}\nkept = other(a, b);\nFAIL(kept != 3, 0);\nreturn kept;",
        &["b > 999 || b < a | calls FAIL(…, 0) | calls REACHED(0)", " |  | calls drop(&a)"],
    );
}

#[test]
fn what_own_calls_write_is_not_undefined_for_want_of_it() {
    // Found in libxcrypt fe5b8b8: a pointer that a call fills was told as null behind it.
    check(
        "void fill(char **); void drop(char *);\nint f(int n)",
        "char *p;\nfill(&p);\ndrop(p);\nreturn strlen(p) == 3;",
        "char *p;\nfill(&p);\ndrop(p);\np = 0;\nfill(&p);\nreturn strlen(p) == 3;",
        &[" |  | calls fill(&p); sets p to NULL"],
    );
    check(
        "void fill(char **); void drop(char *);\nint f(int n)",
        "char *p;\nfill(&p);\nif (p == 0) return 1;\nreturn foreign(n);",
        "char *p;\nfill(&p);\np = 0;\ndrop((char *)&p);\nif (p == 0) return 1;\nreturn foreign(n);",
        &[" |  | calls drop(&p); sets p to NULL"],
    );
}

/// Of the states that a new test keeps from what stands behind a call, nothing is told there: it is told at the test.
#[test]
fn a_test_that_moves_before_a_call_is_told_once() {
    let head = "int f(struct s *p, int k)";
    check(
        head,
        "foreign(k);\nif (p->n) foreign(2);\nreturn k;",
        "if (p->n) {\nforeign(k);\nforeign(2);\n}\nreturn k;",
        &["p->n == 0 | calls foreign(k) | "],
    );
    // What both ask before the call and one of them behind it once more, it does for what the call may have done.
    check(
        head,
        "if (p->n == 0) return 7;\nforeign(k);\nif (p->n == 0) return 8;\nreturn k;",
        "if (!(p->n != 0)) return 7;\nforeign(k);\nreturn k;",
        &["p->n == 0 | returns 8 | returns k"],
    );
}

#[test]
fn what_each_way_to_a_point_tests_holds_there() {
    check(
        "int f(struct s *p, int k, int *out)",
        "if (!(p && p->n == 5 || p && p->n == 6)) return foreign(1);\n*out = p && p->n == 5;\nreturn 0;",
        "if (!(p && p->n == 5 || p && p->n == 6)) return foreign(1);\nif (!k) *out = p && p->n == 5;\nreturn 0;",
        &[
            "p != NULL && p->n == 5 && k != 0 | sets *out to 1 | ",
            "p != NULL && p->n != 5 && k != 0 | sets *out to 0 | ",
        ],
    );
}
