//! Differences told effect by effect.

use super::{check, told};

/// Three decisions that have nothing to do with each other.
#[test]
fn tests_that_do_not_depend_on_each_other_are_rows_of_their_own() {
    check(
        "int f(struct s *p, int a, int b)",
        "foreign(a);\nforeign(b);\nreturn 0;",
        "if (a > 3) foreign(1);\nif (b > 4) foreign(2);\nif (p->n > 5) foreign(3);\nforeign(a);\nforeign(b);\nreturn 0;",
        &["a > 3 |  | calls foreign(1)", "b > 4 |  | calls foreign(2)", "p->n > 5 |  | calls foreign(3)"],
    );
    // One that leaves the function decides for what comes behind it.
    let rows = told(
        "int other(int, int);\nint foreign(int);\nint f(int a, int b)\n{\nforeign(a);\nreturn 0;\n}\n",
        "int other(int, int);\nint foreign(int);\nint f(int a, int b)\n{\nif (a > 3) other(1, a);\nif (b > 4) return -1;\nif (b > 2) other(2, b);\nforeign(a);\nreturn 0;\n}\n",
    );
    assert_eq!(
        rows,
        [
            "a > 3 |  | calls other(1, a)",
            "b > 4 | calls foreign(a); returns 0 | returns -1",
            "b <= 4 && b > 2 |  | calls other(2, b)",
        ]
    );
}

/// Calls of one function became calls of another: the answers are followed alike.
#[test]
fn a_function_that_was_replaced_everywhere_answers_alike() {
    let text = |name: &str| {
        format!(
            "int foreign(int), is_old(int), is_new(int);\nint f(int a, int b)\n{{\nif (!{name}(a) && !foreign(b)) return -1;\nif ({name}(b)) return 1;\nreturn 0;\n}}\n"
        )
    };
    let rows = told(&text("is_old"), &text("is_new"));
    assert!(rows.iter().all(|row| !(row.contains("is_old(a) == 0 && is_new(a)"))), "{rows:?}");
    assert!(rows.iter().all(|row| !row.contains("returns")), "{rows:?}");
}
