//! Source with errors: what the typed tree does not show of it is unknown.

use super::tests::lowered;

/// What the parser left out is no part of the tree, and is said to be unknown.
#[test]
fn errors_that_the_tree_does_not_show_are_unknown() {
    let f = |body: &str| {
        lowered(&format!(
            "struct s {{ int a; }}; int g(int); int f(int x, struct s *p) {{ int r = 0; {body} return r; }}"
        ))
    };
    let broken = [
        "int v = { .b = x }; r = v;",
        "const int n = ((x 1) << 2); r = n;",
        "int n = x 1; r = n;",
        "r = g(x) 2;",
        "r = 1; ) r = 2;",
        "for (int i = 0 i < 3; i++) r++;",
        "while (x 2) r++;",
        "do r++; while (r < x 2);",
        "if (x) r = 1 2; else r = 3;",
        "{ r = 1 } r = 2;",
        "switch (x) { case 1: r = 1 2; break; }",
        "return x 2;",
        "static const int t[] = {\n#include \"missing.h\"\n}; r = t[0];",
        "\n#include \"missing.h\"\n",
        "int t[2] = { [x] = 1 }; r = t[0];",
        "\n#error no\n",
    ];
    let is_told = |made: &str| made.contains("source with errors") || made == "lost";
    let hidden: Vec<&str> = broken.into_iter().filter(|b| !is_told(&f(b))).collect();
    assert_eq!(hidden, Vec::<&str>::new());
    for head in ["int f(int x 3)", "int f(int (x)"] {
        let made = lowered(&format!("{head} {{ return 1; }}"));
        assert!(is_told(&made), "{head}: {made}");
    }
    for body in ["struct s v = { .a = x }; r = v.a;", "r = p->a;", "\n#pragma omp for\nr = 1;", ";", "{}"] {
        assert!(!f(body).contains("source with errors"), "{body}");
    }
    // What else changes does not change what is unknown.
    let broken = |after: &str| f(&format!("const int n = ((x 1) << 2); {after}"));
    let text =
        |made: &str| made.split("text: ").nth(1).and_then(|t| t.split("reads").next().map(str::to_owned));
    assert_eq!(text(&broken("r = 1;")), text(&broken("r = 2;")));
    assert!(text(&broken("")).is_some_and(|t| t.contains("<<") && t.contains('2')));
    assert_ne!(text(&broken("")), text(&f("const int n = ((x 1) << 3);")));
}

/// What the checker gave up may write every variable that it names, and nothing else that has no address.
#[test]
fn what_has_an_error_may_write_what_it_names() {
    let writes = |statement: &str| {
        let made = lowered(&format!("int f(int a, int b) {{ int t[3], r = a; b++; {statement} return r; }}"));
        let at = made.find("source with errors").expect("it has an error");
        let rest = made[at..].split("writes: [").nth(1).and_then(|w| w.split(']').next());
        rest.map(|w| w.matches("VarId").count())
    };
    let found = ["t = 5;", "t = (r = 5);", "t = (r = b);", "for (; ; t = (r = b)) a++;"].map(writes);
    assert_eq!(found, [Some(0), Some(1), Some(2), Some(3)]);
}

/// A variable that has elements without being declared so leads to them.
#[test]
fn elements_show_what_an_unknown_type_is() {
    for head in ["ALL all, int i", "ONE *all, int i"] {
        let made =
            lowered(&format!("#include <none.h>\nint f({head}) {{ g(&all[i].y); return all[i].x > 3; }}"));
        assert!(!made.contains("source with errors"), "{made}");
    }
    let made = lowered("#include <none.h>\nint f(int i) { ONE all[3]; g(all); return all[i].x > all[0].x; }");
    assert!(!made.contains("source with errors"), "{made}");
}
