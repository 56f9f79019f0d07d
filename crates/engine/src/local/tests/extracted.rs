//! Calls of functions of the file that one version has written out.

use super::{BEFORE, told};

/// Checks whole texts, the last function of which is compared.
#[track_caller]
fn check_texts(old: &str, new: &str, expected: &[&str]) {
    let (old, new) = (format!("{BEFORE}{old}"), format!("{BEFORE}{new}"));
    assert_eq!(told(&old, &new), expected, "{old}\n-->\n{new}");
}

#[test]
fn what_was_extracted_is_written_out() {
    let body = |n: &str| {
        format!(
            "char t[64]; memcpy(t, p->data, 8); int c = p->n + (p->cap > {n} ? 1 : 0);\nprintf(\"%d %s\", c, t);\n"
        )
    };
    let whole = format!("void f(struct s *p)\n{{\nforeign(1);\n{}foreign(2);\n}}", body("0"));
    let parted = |n: &str| {
        format!(
            "static void show(const struct s *p)\n{{\n{}}}\nvoid f(struct s *p)\n{{\nforeign(1);\nshow(p);\nforeign(2);\n}}",
            body(n)
        )
    };
    check_texts(&whole, &parted("0"), &[]);
    check_texts(&parted("0"), &whole, &[]);
    // One thing was changed on the way.
    let told = told(&format!("{BEFORE}{whole}"), &format!("{BEFORE}{}", parted("2")));
    assert!(told.len() <= 2 && told.iter().all(|t| !t.contains("show")), "{told:?}");
    // What is new stays a call.
    let log = "static void show(int n)\n{\nprintf(\"%d\", n);\nputchar('x');\n}\n";
    check_texts(
        &format!("{log}void f(int n)\n{{\nforeign(n);\n}}"),
        &format!("{log}void f(int n)\n{{\nforeign(n);\nshow(n);\n}}"),
        &[" |  | calls show(n)"],
    );
    // A value that a function of one version gives.
    let le = "static unsigned le(const unsigned char *b)\n{\nreturn b[0] | (b[1] << 8) | ((unsigned)b[2] << 16);\n}\n";
    check_texts(
        &format!(
            "{le}unsigned f(const unsigned char *b)\n{{\nforeign(1);\nreturn b[7] | (b[8] << 8) | ((unsigned)b[9] << 16);\n}}"
        ),
        &format!("{le}unsigned f(const unsigned char *b)\n{{\nforeign(1);\nreturn le(b + 7);\n}}"),
        &[],
    );
}

/// Functions that give what they read.
const GETTERS: &str = "struct r { unsigned id; int k; };
unsigned id_of(struct r *r) { return r->id; }
int k_of(struct r *r) { int k = r->k; return k; }
int twice(int n) { return n * 2; }
";

#[test]
fn a_result_is_kept_while_another_function_runs() {
    let f = |line: &str| format!("{GETTERS}int f(struct r *a, struct r *b)\n{{\n{line}\nreturn 0;\n}}\n");
    for test in [
        "id_of(a) != id_of(b)",
        "id_of(a) < id_of(b)",
        "id_of(b) == id_of(a)",
        "k_of(a) < k_of(b)",
        "k_of(a) != twice(k_of(b))",
        "twice(k_of(a)) != k_of(b)",
        "a != b && k_of(a) == twice(b->k)",
    ] {
        let with = f(&format!("if ({test}) return -7;"));
        for (old, new, effects) in
            [(f(""), with.clone(), " | returns 0 | returns -7"), (with, f(""), " | returns -7 | returns 0")]
        {
            let rows = told(&format!("{BEFORE}{old}"), &format!("{BEFORE}{new}"));
            let [row] = rows.as_slice() else { panic!("{test}: {rows:?}") };
            let when = row.strip_suffix(effects).unwrap_or_else(|| panic!("{test}: {row}"));
            assert!(when.contains("k_of(a)") || when.contains("id_of(a)"), "{test}: {row}");
        }
    }
    // The same, written out.
    for (called, written) in [
        ("id_of(a) != id_of(b)", "a->id != b->id"),
        ("twice(k_of(a)) < k_of(b)", "a->k * 2 < b->k"),
        ("k_of(a) + k_of(b) == twice(k_of(a))", "a->k + b->k == a->k * 2"),
    ] {
        let [called, written] = [called, written].map(|test| f(&format!("if ({test}) return -7;")));
        check_texts(&written, &called, &[]);
        check_texts(&called, &written, &[]);
    }
}

#[test]
fn a_parameter_that_stays_is_what_was_passed_for_it() {
    let get = "struct s *get(struct s *p, const char *name)\n{\nstruct s *c = p ? p->next : 0;\n\
               while (c && strcmp(c->data, name)) c = c->next;\nreturn c;\n}\n";
    let old = "int f(struct s *p, const char *name)\n{\nstruct s *c = p->next;\nwhile (c) {\n\
               if (strcmp(c->data, name) == 0) {\nreturn 1;\n}\nc = c->next;\n}\nreturn 0;\n}";
    let new = "int f(struct s *p, const char *name)\n{\nreturn get(p, name) ? 1 : 0;\n}";
    check_texts(
        &format!("{get}{old}"),
        &format!("{get}{new}"),
        &["p == NULL | undefined at line 18: p is NULL | returns 0"],
    );
}
