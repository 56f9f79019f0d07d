//! Which differences no caller here comes to.

use super::changes;

/// Compares two bodies of `f`, of which a unit has other functions: `when`, with a star where no caller comes there.
#[track_caller]
fn check(callers: &str, linkage: &str, [old, new]: [&str; 2], expected: &[&str]) {
    let head = format!(
        "int g();\nint h();\n{linkage}int f(char *p, int n);\nint other(int);\n{callers}\n{linkage}int f(char *p, int n)\n{{\n"
    );
    let text = |body: &str| format!("{head}{body}\nreturn n;\n}}\n");
    let changes = changes(&text(old), &text(new));
    let deltas = changes.iter().flat_map(|c| &c.deltas);
    let found: Vec<String> =
        deltas.map(|d| format!("{}{}", if d.no_caller { "*" } else { "" }, d.when)).collect();
    assert_eq!(found, expected, "{callers} {new}");
}

const NULL: [&str; 2] = ["", "if (p == 0) return -1;"];
const LARGE: [&str; 2] = ["", "if (n > 8) return -1;"];
const BOTH: &str = "static char t[4];\nint g(void) { return f(t, 3) + f(\"x\", 4); }";

#[test]
fn what_every_call_rules_out_no_caller_gives() {
    check(BOTH, "static ", NULL, &["*p == NULL"]);
    check(BOTH, "static ", LARGE, &["*n > 8"]);
    check(BOTH, "static ", ["", "if (n > 3) return -1;"], &["n > 3"]);
    check(BOTH, "static ", ["", "if (p == 0 || n == 3) return -1;"], &["*p == NULL", "p != NULL && n == 3"]);
}

#[test]
fn what_is_not_known_of_all_calls_is_told() {
    // Other files call it, or it is called through a pointer, or nobody calls it.
    check(BOTH, "", NULL, &["p == NULL"]);
    check(&format!("{BOTH}\nint (*q)(char *, int) = f;"), "static ", NULL, &["p == NULL"]);
    check("", "static ", NULL, &["p == NULL"]);
    // One call passes what is not known, or null.
    check(&format!("{BOTH}\nint h(char *p) {{ return f(p, 2); }}"), "static ", NULL, &["p == NULL"]);
    check(&format!("{BOTH}\nint h(void) {{ return f(0, 2); }}"), "static ", NULL, &["p == NULL"]);
    check(&format!("{BOTH}\nint h(int n) {{ return f(\"y\", n); }}"), "static ", LARGE, &["n > 8"]);
    // It is no longer what was passed.
    check(BOTH, "static ", ["n += other(3);", "n += other(3);\nif (n > 8) return -1;"], &["n > 8"]);
}
