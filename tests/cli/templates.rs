//! Templates that a person writes: facts that are tried wherever all of their names are, proved or refuted as others
//! are; and what is wrong with one, with the column.

use crate::support::TempRepo;

const HEADER: &str = "#include <stdlib.h>\nstruct buf { int len, cap; };\nint area, other(int);\n";

fn repository(old: &str, new: &str) -> TempRepo {
    let repo = TempRepo::new().file("a.c", format!("{HEADER}{old}\n")).commit("one");
    repo.file("a.c", format!("{HEADER}{new}\n")).commit("two")
}

fn run(repo: &TempRepo, words: &[&str]) -> (Option<i32>, String) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(words).output().expect("a run");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// Checks what is said of a template, and that nothing is said of it without.
#[track_caller]
fn check(template: &str, old: &str, new: &str, said: &[&str], unsaid: &[&str]) {
    let repo = repository(old, new);
    let (code, text) = run(&repo, &["--effort", "deep", "-v", "--template", template, "HEAD~1..HEAD"]);
    assert_eq!(code, Some(0), "{text}");
    said.iter().for_each(|part| assert!(text.contains(part), "{part}\n{text}"));
    unsaid.iter().for_each(|part| assert!(!text.contains(part), "{part}\n{text}"));
}

#[test]
fn an_order_of_members_that_a_change_breaks_is_told_with_an_input() {
    let push = |end: &str| {
        format!(
            "void push(struct buf *p) {{ if (p->len < p->cap) p->len++; if (p->len > p->cap) p->len = p->cap; {end} }}"
        )
    };
    check(
        "p->len <= p->cap",
        &push(""),
        &push("p->cap--;"),
        &["- p->len <= p->cap", "for example"],
        &["+ p->len <= "],
    );
    check("p->len <= p->cap", &push("p->cap--;"), &push(""), &["+ p->len <= p->cap"], &["- p->len <= "]);
    let (old, new) = (push("area = 1;"), push("area = 2;"));
    check("p->len <= p->cap", &old, &new, &["p->len <= p->cap"], &["- p->len <= ", "+ p->len <= "]);
}

#[test]
fn right_sides_are_polynomials() {
    let f = |fix: &str| {
        format!(
            "int f(int w, int h) {{ if (w < 1 || h < 1 || w > 99 || h > 99) exit(1); return w * h{fix}; }}"
        )
    };
    check(
        "\\result <= w * h",
        &f(""),
        &f(" - 1"),
        &["\\result <= w * h", "proved"],
        &["- \\result <= w", "+ \\result <= w"],
    );
    check("\\result <= w * h", &f(""), &f(" + 1"), &["- \\result <= w * h"], &["+ \\result <= w"]);
    let g = |fix: &str| format!("void g(int w, int h) {{ area = w * h; {fix} }}");
    check(
        "area <= w * h",
        &g(";"),
        &g(";;if (w > 5) exit(1);"),
        &["area <= w * h", "no-overflow(w * h)"],
        &[],
    );
}

#[test]
fn unknowns_are_fitted_and_proved() {
    let f = |k: &str| format!("int f(int x) {{ return 3 * x - {k}; }}");
    let (old, new) = (f("2"), f("5"));
    check(
        "\\result == ?a * x + ?b",
        &old,
        &new,
        &["- \\result == 3 * x - 2", "+ \\result == 3 * x - 5"],
        &[],
    );
    check(
        "?a * x + ?b * \\result == ?c",
        &old,
        &new,
        &["- 3 * x - \\result == 2", "+ 3 * x - \\result == 5"],
        &[],
    );
    let g = |k: &str| format!("int g(int x) {{ return 6 * (x & 15) + {k}; }}");
    check("\\result % ? == ?", &g("1"), &g("2"), &["- \\result % 6 == 1", "+ \\result % 6 == 2"], &[]);
    check("\\result <= ?", &g("1"), &g("2"), &["- \\result <= 91", "\\result <= 92"], &[]);
    // What runs suggest and some input breaks is not said.
    let h = |k: &str| format!("int h(int x) {{ return x == 123456789 ? 7 : 3 * x - {k}; }}");
    check("\\result == ?a * x + ?b", &h("2"), &h("5"), &[], &["result == 3 * x"]);
}

#[test]
fn loops_keep_what_a_template_says() {
    let f = |end: &str| {
        format!(
            "void f(struct buf *p) {{ if (p->cap < 0) p->cap = 0; p->len = 0; while (p->len < p->cap && other(1)) p->len++; {end} }}"
        )
    };
    let g = |end: &str| {
        format!(
            "void g(struct buf *p, int n) {{ p->len = 0; p->cap = 0; for (int i = 0; i < n; i++) {{ p->cap += 2; p->len += 1; }} {end} }}"
        )
    };
    // Not proved is not said, proved may be: either way nothing wrong.
    check("p->len <= p->cap", &f("area = 1;"), &f("area = 2;"), &[], &["- p->len <= ", "+ p->len <= "]);
    check("p->len <= p->cap", &g("area = 1;"), &g("area = 2;"), &[], &["- p->len <= ", "+ p->len <= "]);
}

/// What fails for some input is claimed nowhere: of null, of what nobody wrote, of what wraps around.
#[test]
fn what_does_not_hold_always_is_not_said() {
    let nothing = |template: &str, old: &str, new: &str| {
        check(
            template,
            old,
            new,
            &[],
            &[&format!("  {template}  "), &format!("+ {template}"), &format!("- {template}")],
        );
    };
    let cap = "p->len <= p->cap";
    nothing(
        cap,
        "void f(struct buf *p) { if (!p) return; p->len = 0; p->cap = 1; }",
        "void f(struct buf *p) { if (!p) return; p->len = 0; p->cap = 2; }",
    );
    nothing(
        cap,
        "void f(struct buf *p, int n) { p->len = n; area = 1; }",
        "void f(struct buf *p, int n) { p->len = n; area = 2; }",
    );
    nothing(
        cap,
        "void f(struct buf *p) { p->len = 0; p->cap = 1; free(p); area = 1; }",
        "void f(struct buf *p) { p->len = 0; p->cap = 1; free(p); area = 2; }",
    );
    nothing(
        cap,
        "void f(struct buf *p) { p->len = 0; p->cap = 1; other(1); area = 1; }",
        "void f(struct buf *p) { p->len = 0; p->cap = 1; other(1); area = 2; }",
    );
    nothing(
        "\\result > x",
        "unsigned f(unsigned x) { area = 1; return x + 1; }",
        "unsigned f(unsigned x) { area = 2; return x + 1; }",
    );
    nothing(
        "*p <= *q",
        "void f(int *p, int *q) { *p = 1; *q = 2; *p = 3; area = 1; }",
        "void f(int *p, int *q) { *p = 1; *q = 2; *p = 3; area = 2; }",
    );
}

#[test]
fn templates_of_the_project_are_tried_beside_the_users() {
    let f = |end: &str| format!("void f(struct buf *p) {{ p->len = 0; p->cap = 1; {end} }}");
    let repo = repository(&f("area = 1;"), &f("area = 2;"));
    repo.write("policy", "templates: [\"p->len < p->cap\"]\n");
    let words = ["--config", "policy", "--template", "p->cap == p->len + 1", "HEAD~1..HEAD"];
    let (code, text) = run(&repo, &words);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("p->len < p->cap") && text.contains("p->cap == p->len + 1"), "{text}");
    let (_, plain) = run(&repo, &["HEAD~1..HEAD"]);
    assert!(!plain.contains("p->len < p->cap") && !plain.contains("p->len + 1"), "{plain}");
}

#[test]
fn a_name_that_nothing_has_is_said() {
    let repo = repository("int f(int x) { return x; }", "int f(int x) { return x + 1; }");
    let (code, text) = run(&repo, &["--template", "lenn <= cap", "HEAD~1..HEAD"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("template 'lenn <= cap': no function that was looked at has all of its names"),
        "{text}"
    );
}

#[test]
fn what_is_wrong_with_a_template_is_told_with_the_column() {
    let repo = repository("int f(int x) { return x; }", "int f(int x) { return x + 1; }");
    for (template, said) in [
        ("x <= ", "fatal: --template: 'x <= ': Expected an expression, found the end at column 6"),
        ("x + y", "is a comparison, as in `x <= y` at column 1"),
        ("x % y == 0", "at column 5"),
        ("?a * ?b == y", "a modulus or its remainder, or a bound by itself at column 1"),
        ("x <= f(x)", "calls no function at column 6"),
        ("x <= \u{1b}[31m", "\\x1b"),
    ] {
        let (code, text) = run(&repo, &["--template", template, "HEAD~1..HEAD"]);
        assert_eq!(code, Some(128), "{template}\n{text}");
        assert!(text.contains(said) && !text.contains('\u{1b}'), "{template}\n{text}");
    }
    repo.write("policy", "templates:\n  - x <= y\n  - \"x = y\"\n");
    let (code, text) = run(&repo, &["--config", "policy", "HEAD~1..HEAD"]);
    assert_eq!(code, Some(128), "{text}");
    assert!(text.contains("fatal: policy:3:5: template 'x = y': ") && text.contains("at column 3"), "{text}");
}
