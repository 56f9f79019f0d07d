//! Calls in the place of others, and what comes behind calls that one version alone makes.

use super::{BEFORE, changes, check};

#[test]
fn a_call_in_the_place_of_another_is_told_as_that() {
    check(
        "int f(int n)",
        "if (foreign(n)) return 1;\nreturn get(n);",
        "if (other(n, 0)) return 1;\nreturn get(n);",
        &[" | calls foreign(n) | calls other(n, 0)"],
    );
    // What else changes is told of the answers that lead there.
    check(
        "int f(int n)",
        "if (foreign(n)) return 1;\nreturn 0;",
        "if (other(n, 0)) return 2;\nreturn 0;",
        &[
            "foreign(n) != 0 | calls foreign(n); returns 1 | calls other(n, 0); returns 2",
            "foreign(n) == 0 | calls foreign(n) | calls other(n, 0)",
        ],
    );
    // With other arguments it is another call.
    check(
        "int f(int n)",
        "int r = foreign(n);\nif (r < 0) return r;\nreturn 0;",
        "int r = foreign(n + 1);\nif (r < 0) return r;\nreturn 0;",
        &[" | calls foreign(n) | calls foreign(n + 1)"],
    );
}

#[test]
fn calls_behind_others_answer_alike_if_those_leave_memory_as_it_is() {
    let head = "int f(struct s *p, struct s *q)";
    check(
        head,
        "foreign(1);\np->n = 1;\nint r = foreign(q->cap);\nif (r) { foreign(r); return r; }\nreturn 0;",
        "other(1, 0);\np->n = 1;\nint r = foreign(q->cap);\nif (r) { foreign(r); return r; }\nreturn 0;",
        &[" | calls foreign(1) | calls other(1, 0)"],
    );
}

/// What a function of the library reads through a pointer has to be there, as what the program reads itself.
#[test]
fn what_the_library_reads_has_to_be_there() {
    let text = |before: &str, inside: &str| {
        format!(
            "{BEFORE}\nint f(int n, const char *t)\n{{\n{before}\nif (n == 3) {{\n{inside}\n}}\nreturn 0;\n}}\n"
        )
    };
    let (old, new) = (
        text("", "if (strstr(t, \"a\")) foreign(1);"),
        text("int k = strstr(t, \"b\") != NULL;", "if (k && strstr(t, \"a\")) foreign(1);"),
    );
    let found = changes(&old, &new);
    assert!(!found.is_empty() && found.iter().any(|c| c.valid), "{found:?}");
    let stays = text("", "if (strstr(t, \"a\") && n > 2) foreign(1);");
    assert!(changes(&old, &stays).iter().all(|c| !c.valid));
}

/// What stands in for a structure that nobody defines has no name, and where it lies is a guess.
#[test]
fn nothing_that_was_invented_is_shown() {
    let text = |body: &str| {
        format!(
            "#include <nosuch.h>\nstruct call {{ int a; struct tmr timer; }};\nint rx(const char *);\n\
             int f(struct call *c, void *q)\n{{\nstruct gone *g = q;\n{body}\nreturn c->a;\n}}\n"
        )
    };
    let all = |new: &str| {
        let found = changes(&text(""), &text(new));
        let deltas = found.into_iter().flat_map(|c| c.deltas);
        deltas.map(|d| format!("{} | {}", d.when, super::effects(&d.now))).collect::<Vec<_>>()
    };
    assert_eq!(all("tmr_cancel(&c->timer);"), [" | calls tmr_cancel(&c->timer)"]);
    let read = all("if (rx(g->name)) return 2;").join("\n");
    assert!(!read.contains("*)(") && !read.contains("__invdiff"), "{read}");
}

#[test]
fn a_loop_is_left_to_somewhere() {
    check(
        "int f(int n)",
        "while (n > 0) {\nif (foreign(n)) break;\nn--;\n}\nforeign(1);\nout:\nforeign(2);\nreturn n;",
        "while (n > 0) {\nif (foreign(n)) goto out;\nn--;\n}\nforeign(1);\nout:\nforeign(2);\nreturn n;",
        &[" | calls foreign(1) | "],
    );
    check(
        "int f(int n)",
        "while (n > 0) {\nif (foreign(n)) n -= 2;\nn--;\n}\nforeign(1);\nout:\nforeign(2);\nreturn n;",
        "while (n > 0) {\nif (foreign(n)) goto out;\nn--;\n}\nforeign(1);\nout:\nforeign(2);\nreturn n;",
        &[" | next round | leaves the loop, to line 18"],
    );
}

/// Two calls and one that does for both are no replacement: each has a condition of its own.
#[test]
fn calls_that_were_merged_are_told_by_their_own_answers() {
    check(
        "int f(int n)",
        "if (foreign(1) || foreign(2)) return 1;\nreturn 0;",
        "if (other(1, 2)) return 1;\nreturn 0;",
        &[
            " | calls foreign(1) | calls other(1, 2)",
            "foreign(1) != 0 && other(1, 2) == 0 | returns 1 | returns 0",
            "foreign(1) == 0 && foreign(2) == 0 && other(1, 2) != 0 | returns 0 | returns 1",
            "foreign(1) == 0 | calls foreign(2) | ",
            "foreign(1) == 0 && foreign(2) != 0 && other(1, 2) == 0 | returns 1 | returns 0",
        ],
    );
    // Nor is one that is asked something else.
    check(
        "int f(int n)",
        "if (foreign(n) == 3) return 1;\nreturn 0;",
        "if (other(n, n)) return 1;\nreturn 0;",
        &[" | tests foreign(n) == 3 | tests other(n, n) != 0"],
    );
}

/// Calls that are written alike and are two have their lines.
#[test]
fn calls_of_one_text_are_told_apart() {
    check(
        "int f(int n)",
        "foreign(0);\nif (foreign(n) == 1) return 1;\nreturn 0;",
        "foreign(0);\nint was = foreign(n);\nif (was == 1 && foreign(n) == 2) return 1;\nreturn 0;",
        &[
            "foreign(n) (line 13 before) == 1 && foreign(n) (line 14) != 2 | returns 1 | calls foreign(n); returns 0",
            "foreign(n) (line 13 before) == 1 && foreign(n) (line 14) == 2 |  | calls foreign(n)",
        ],
    );
}

/// A structure that is returned is no local that ends with the function.
#[test]
fn what_a_returned_structure_holds_is_told() {
    check(
        "struct s f(void)",
        "struct s v;\nv.n = 2;\nv.cap = 7;\nreturn v;",
        "struct s v;\nv.n = 2;\nv.cap = 8;\nreturn v;",
        &[" | sets v.cap to 7 | sets v.cap to 8"],
    );
}

#[test]
fn a_test_in_the_place_of_another_is_told_as_that() {
    check(
        "int f(int n)",
        "if (foreign(n) < 0) return -1;\nreturn 5;",
        "if (!other(n, 1)) return -1;\nreturn 5;",
        &[" | tests foreign(n) < 0 | tests other(n, 1) == 0"],
    );
    check(
        "int f(int n)",
        "if (n > 3 && foreign(n) < 0) return -1;\nunlock(n);\nreturn 5;",
        "if (n > 3 && !other(n, 1)) return -1;\nunlock(n);\nreturn 5;",
        &["n > 3 | tests foreign(n) < 0 | tests other(n, 1) == 0"],
    );
    // A test of what is there already, which decides about a call.
    check(
        "int f(int n, double a, double b)",
        "if (n == 3 || a != b) foreign(7);\nreturn 5;",
        "if (n == 3 || !near(a, b)) foreign(7);\nreturn 5;",
        &["n != 3 | tests a != b | tests near(a, b) == 0"],
    );
    // Where the one way leads to another change there are other lines.
    check(
        "int f(int n, double a, double b)",
        "if (a != b) { foreign(7); } else { foreign(8); if (foreign(n) == 1) other(n, 1); }\nreturn other(1, 1);",
        "if (!near(a, b)) { foreign(7); } else { foreign(8); if (foreign(n) == 2) other(n, 1); }\nreturn other(1, 1);",
        &[
            " | tests a != b | tests near(a, b) == 0",
            "foreign(n) == 1 | calls other(n, 1) | ",
            "foreign(n) == 2 |  | calls other(n, 1)",
        ],
    );
    // What else changes is told of each.
    check(
        "int f(int n)",
        "if (foreign(n) < 0) return -1;\nreturn 5;",
        "if (!other(n, 1)) return -2;\nreturn 5;",
        &[
            " | calls foreign(n) | calls other(n, 1)",
            "foreign(n) < 0 && other(n, 1) != 0 | returns -1 | returns 5",
            "foreign(n) < 0 && other(n, 1) == 0 | returns -1 | returns -2",
            "foreign(n) >= 0 && other(n, 1) == 0 | returns 5 | returns -2",
        ],
    );
    // Tests of numbers say when they differ.
    check(
        "int f(int n)",
        "if (n == -22) return -1;\nreturn 5;",
        "if (n < -20) return -1;\nreturn 5;",
        &["n != -22 && n < -20 | returns 5 | returns -1"],
    );
}
