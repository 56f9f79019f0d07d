//! Calls in the place of others, and what comes behind calls that one version alone makes.

use super::{BEFORE, changes, check};

#[test]
fn a_call_in_the_place_of_another_is_told_as_that() {
    check(
        "int f(int n)",
        "if (foreign(n)) return 1;\nreturn get(n);",
        "if (other(n)) return 1;\nreturn get(n);",
        &[" | calls foreign(n) | calls other(n)"],
    );
    // What else changes is told of the answers that lead there.
    check(
        "int f(int n)",
        "if (foreign(n)) return 1;\nreturn 0;",
        "if (other(n)) return 2;\nreturn 0;",
        &[
            "foreign(n) != 0 | calls foreign(n); returns 1 | calls other(n); returns 2",
            "foreign(n) == 0 | calls foreign(n) | calls other(n)",
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
        "other(1);\np->n = 1;\nint r = foreign(q->cap);\nif (r) { foreign(r); return r; }\nreturn 0;",
        &[" | calls foreign(1) | calls other(1)"],
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
