//! What is written alike in both versions and differs.

use super::{check, told};

#[test]
fn a_variable_of_another_type_is_told_with_it() {
    check(
        "int f(struct s *p)",
        "char c = *p->data;\nforeign(c);\nreturn 0;",
        "unsigned char c = *p->data;\nforeign(c);\nreturn 0;",
        &["(signed char)c < 0 | calls foreign(c) with c as char | calls foreign(c) with c as unsigned char"],
    );
    check(
        "int f(struct s *p)",
        "char c = *p->data;\nreturn c;",
        "unsigned char c = *p->data;\nreturn c;",
        &[
            "(signed char)c < 0 | returns c (line 13 before) with c as char | returns c (line 13) with c as unsigned char",
        ],
    );
}

#[test]
fn what_is_declared_otherwise_is_told_by_its_type() {
    let of = |ty: &str| format!("{ty} f(int x)\n{{\nreturn 0;\n}}\n");
    assert_eq!(told(&of("int"), &of("unsigned long")), [" | returns 0 as int | returns 0 as unsigned long"]);
    // An argument is the same number, or not.
    let of = |ty: &str| format!("void g(int, {ty});\nvoid f(int x)\n{{\ng(3, x);\n}}\n");
    assert_eq!(told(&of("int"), &of("long")), [] as [&str; 0]);
    assert_eq!(
        told(&of("int"), &of("unsigned long")),
        [" | calls g(3, x) with x as int | calls g(3, x) with x as unsigned long"]
    );
    let of = |ty: &str| format!("void g(int, {ty});\nvoid f(int x)\n{{\ng(x, 3);\n}}\n");
    assert_eq!(told(&of("int"), &of("unsigned long")), [] as [&str; 0]);
    let of = |ty: &str| format!("void g(int, ...);\nvoid f({ty} x)\n{{\ng(x, ({ty})3);\n}}\n");
    assert_eq!(told(&of("int"), &of("long")).len(), 1);
    // And so is what it answers.
    let of = |ty: &str| format!("{ty} g(int);\nlong f(int x)\n{{\nreturn g(x) + 1L;\n}}\n");
    assert_eq!(told(&of("int"), &of("long")), [] as [&str; 0]);
    // What a function that is at hand makes of it is told there.
    let of = |ty: &str| {
        format!(
            "static int g(int n, {ty} k) {{ return n ? 0 : k > 5; }}\nint f(int x)\n{{\nreturn g(3, x) + g(x, x);\n}}\n"
        )
    };
    assert_eq!(told(&of("int"), &of("unsigned long")), [] as [&str; 0]);
}

const LONG: &str = "(a * 31 + b * 17 + p->n * 7 + p->cap * 5) * (a + b + p->n) + (a ^ b) * (a ^ p->cap)";

/// The statement that sets what has no short words.
#[test]
fn a_long_value_is_told_by_the_statement_that_sets_it() {
    let body = |more: i32, set: &str| format!("int y = {more} + {LONG};\nint x = {set};\nreturn x;");
    let check = |old: &str, new: &str, expected: &str| {
        check("int f(struct s *p, int a, int b)", &body(1, old), &body(2, new), &[expected]);
    };
    check(
        "y + a",
        "y - b",
        " | returns x (line 14 before) after x = y + a | returns x (line 14) after x = y - b",
    );
    // Set alike, from something else.
    check("y + a", "y + a", " | returns x (line 14 before) | returns x (line 14)");
}

#[test]
fn two_changes_of_one_line_are_told() {
    check(
        "int f(int n, int k)",
        "if (n == 3) { k = 1; foreign(k); return 4; }\nreturn 0;",
        "if (n == 3) { k = 2; foreign(k); return 5; }\nreturn 0;",
        &[" | sets k to 1 | sets k to 2", " | returns 4 | returns 5"],
    );
}

/// One label more is one test more, however many there are.
#[test]
fn a_label_of_a_long_switch_is_told_alone() {
    let text = |labels: &[i32]| {
        let case = |k: &i32| format!("case {k}: foreign({k}); break;\n");
        let all: String = labels.iter().map(case).collect();
        format!(
            "while (n > 0) {{\nswitch (p->n) {{\n{all}default: foreign(n); break;\n}}\nn = get(n);\n}}\nreturn n;"
        )
    };
    let all: Vec<i32> = (1..60).collect();
    let but = |k: usize| [&all[..k], &all[k + 1..]].concat();
    for k in [0, 20, 58] {
        let label = all[k];
        let told = format!("p->n == {label} | calls foreign(n) | calls foreign({label})");
        check("int f(struct s *p, int n)", &text(&but(k)), &text(&all), &[&told]);
        let told = format!("p->n == {label} | calls foreign({label}) | calls foreign(n)");
        check("int f(struct s *p, int n)", &text(&all), &text(&but(k)), &[&told]);
    }
    let mut others = all.clone();
    others[30] = 77;
    check(
        "int f(struct s *p, int n)",
        &text(&all),
        &text(&others),
        &[
            "p->n == 31 | calls foreign(31) | calls foreign(n)",
            "p->n == 77 | calls foreign(n) | calls foreign(77)",
            " | calls foreign(31) | calls foreign(77)",
        ],
    );
    // What is compared is another thing.
    let one = |of: &str| {
        format!("switch ({of}) {{\ncase 1: foreign(1); break;\ncase 2: foreign(2); break;\n}}\nreturn 0;")
    };
    check(
        "int f(int n, int m)",
        &one("n"),
        &one("m"),
        &[
            "n == 1 && m == 2 | calls foreign(1) | calls foreign(2)",
            "n == 2 && m == 1 | calls foreign(2) | calls foreign(1)",
            "n == 1 && m != 1 && m != 2 | calls foreign(1) | ",
            "n != 1 && n != 2 && m == 1 |  | calls foreign(1)",
            "n == 2 && m != 1 && m != 2 | calls foreign(2) | ",
            "n != 1 && n != 2 && m == 2 |  | calls foreign(2)",
        ],
    );
}
