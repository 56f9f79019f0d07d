//! Initial values of static objects, tables, enumerators; callees in other files and included sources;
//! renamed callees.

use super::kit::Pair;

const ASSERT: &str = "#include <assert.h>\n#include <stdio.h>\n";

/// `f` breaks an assertion by the change of an initial value, as its compiled runs do.
#[track_caller]
fn breaks(old: &[(&str, &str)], new: &[(&str, &str)]) {
    let pair = Pair::of(old, new);
    let (before, after) = pair.runs(&[], "");
    assert_eq!(before.status, Some(0), "{old:?}");
    assert_ne!(after.status, Some(0), "{new:?}");
    pair.is_a_change_of("a.c:f");
    let (status, out, err) = pair.run("check HEAD~1..HEAD");
    assert_eq!(status, Some(1), "{out}\n{err}");
}

/// The same of one file.
#[track_caller]
fn breaks_alone(text: &dyn Fn(&str) -> String, old: &str, new: &str) {
    let of = |k: &str| format!("{ASSERT}{}", text(k));
    breaks(&[("a.c", &of(old))], &[("a.c", &of(new))]);
}

#[test]
fn objects_that_nothing_writes_hold_their_initial_values() {
    let file = |k: &str| {
        format!(
            "static int lim = {k}; int f(int x) {{ assert(x <= lim); return x; }} int main(void) {{ return f(11) - 11; }}\n"
        )
    };
    breaks_alone(&file, "12", "10");
    let local = |k: &str| {
        format!(
            "int f(int x) {{ static int lim = {k}; assert(x <= lim); return x; }} int main(void) {{ return f(11) - 11; }}\n"
        )
    };
    breaks_alone(&local, "12", "10");
    let deep = |k: &str| {
        format!(
            "static struct {{ int a, b; }} t = {{1, {k}}}; static int get(int n) {{ return n > 0 ? get(n - 1) : t.b; }} int f(int x) {{ assert(get(2) > x); return x; }} int main(void) {{ return f(11) - 11; }}\n"
        )
    };
    breaks_alone(&deep, "12", "10");
}

#[test]
fn the_known_value_is_no_input() {
    let text =
        |k: &str| format!("static int lim = 8;\nint f(int x)\n{{\n    return x < lim ? {k} : 0;\n}}\n");
    let pair = Pair::new(&text("1"), &text("-1"));
    let (_, out, err) = pair.run_words(&["bisect", "a.c:f: \\result >= 0", "HEAD~1..HEAD"]);
    assert!(out.contains("broken by") && !out.contains("lim ="), "{out}\n{err}");
    let (_, out, err) = pair.run("witness HEAD~1..HEAD");
    assert!(!out.contains("lim ="), "{out}\n{err}");
    pair.says("diff HEAD~1..HEAD", 0, &["x <= 7"], &["lim =", "lim <", "lim >"]);
    // One that something else may write is an input.
    let text = |k: &str| format!("int lim = 8;\nint f(int x)\n{{\n    return x < lim ? {k} : 0;\n}}\n");
    Pair::new(&text("1"), &text("-1")).says("diff HEAD~1..HEAD", 0, &["lim"], &[]);
}

#[test]
fn tables_reach_those_that_look_things_up() {
    let texts = |k: &str| {
        format!(
            "#include <string.h>\nstatic const char *const names[] = {{\"a\", \"{k}\", \"c\"}}; int f(int i) {{ assert(strlen(names[i]) < 3); return i; }} int main(void) {{ return f(1) - 1; }}\n"
        )
    };
    breaks_alone(&texts, "b", "bbb");
    let functions = |k: &str| {
        format!(
            "static int add(int a, int b) {{ return a + b; }} static int sub(int a, int b) {{ return a - b; }} static int (*const ops[])(int, int) = {{add, {k}}}; int f(int i) {{ int r = ops[i](1, 2); assert(r > 0); return r; }} int main(void) {{ return f(1) < 0; }}\n"
        )
    };
    breaks_alone(&functions, "add", "sub");
    let body = |k: &str| {
        format!(
            "static int one(int a) {{ return a {k} 1; }} static int two(int a) {{ return a + 2; }} static struct {{ const char *name; int (*run)(int); }} ops[] = {{{{\"1\", one}}, {{\"2\", two}}}}; int f(int i) {{ int r = ops[i].run(0); assert(r > 0); return r; }} int main(void) {{ return f(0) < 0; }}\n"
        )
    };
    breaks_alone(&body, "+", "-");
    let index = |k: &str| {
        format!(
            "enum kind {{ {k} }}; static const int sizes[] = {{1, 20}}; int f(int x) {{ assert(sizes[SMALL] < 5); return x; }} int main(void) {{ return f(0); }}\n"
        )
    };
    breaks_alone(&index, "SMALL, LARGE", "LARGE, SMALL");
}

#[test]
fn constants_of_other_files_count() {
    let main = format!(
        "{ASSERT}extern const int lim;\nint f(int x) {{ assert(x <= lim); return x; }}\nint main(void) {{ return f(11) - 11; }}\n"
    );
    let with = |k| [("a.c", main.as_str()), ("b.c", k)];
    breaks(&with("const int lim = 12;\n"), &with("const int lim = 10;\n"));
    // A test of one file has the other one not in it.
    let pair = Pair::of(&with("const int lim = 12;\n"), &with("const int lim = 10;\n"));
    let (_, out, err) = pair.run("witness HEAD~1..HEAD");
    assert!(!out.contains("witness-") && err.contains("in another file"), "{out}\n{err}");
}

/// What a variable of another file begins with is seen by the program's start, through its readers.
#[test]
fn variables_of_other_files_reach_the_start() {
    let main = format!(
        "{ASSERT}int next(void);\nint f(void) {{ int r = next(); assert(r == 2); return r; }}\nint main(void) {{ \
         printf(\"%d\\n\", f()); return 0; }}\n"
    );
    let other = |k: &str| format!("static int seen = {k};\nint next(void) {{ seen++; return seen; }}\n");
    let (old, new) = (other("1"), other("2"));
    let pair = Pair::of(&[("a.c", &main), ("b.c", &old)], &[("a.c", &main), ("b.c", &new)]);
    pair.says("check HEAD~1..HEAD", 1, &["main()", "assertion"], &[]);
    pair.says("blame a.c:f", 0, &["two"], &[]);
}

/// A function that runs before `main` gives variables their values; what reads them is another one with it.
#[test]
fn what_runs_before_the_start_counts() {
    let code = |k: &str| {
        format!(
            "{ASSERT}static int base = 1;\n__attribute__((constructor)) static void begin(void) {{ base = {k}; }}\n\
             int f(int x) {{ base++; return x + base; }}\nint main(void) {{ printf(\"%d\\n\", f(1)); return 0; }}\n"
        )
    };
    let pair = Pair::new(&code("10"), &code("20"));
    pair.says("blame a.c:f", 0, &["two"], &[]);
    let unread = |k: &str| code(k).replace("x + base", "x").replace("base++;", "");
    let pair = Pair::new(&unread("10"), &unread("20"));
    pair.says("blame a.c:f", 0, &["0 commits changed"], &["two"]);
}

#[test]
fn callees_of_other_files_count() {
    let main = format!(
        "{ASSERT}int g(int);\nint f(int x) {{ assert(g(x) < 20); return x; }}\nint main(void) {{ return f(1) - 1; }}\n"
    );
    let with = |k| [("a.c", main.as_str()), ("b.c", k)];
    breaks(&with("int g(int x) { return x + 10; }\n"), &with("int g(int x) { return x + 20; }\n"));
    // Through a file that stays, and a macro of a header.
    let header = ("h.h", "int h(int);\n#define CALL(x) h(x)\n");
    let middle = ("c.c", "#include \"h.h\"\nint g(int x) { return CALL(x); }\n");
    let with = |k| [("a.c", main.as_str()), header, middle, ("b.c", k)];
    breaks(&with("int h(int x) { return x + 10; }\n"), &with("int h(int x) { return x + 20; }\n"));
}

#[test]
fn included_sources_count() {
    let main = format!(
        "{ASSERT}#include \"x.c\"\nint f(int x) {{ assert(g(x) < 20); return x; }}\nint main(void) {{ return f(1) - 1; }}\n"
    );
    let old = [("a.c", main.as_str()), ("x.c", "static int g(int x) { return x + 10; }\n")];
    let new = [("a.c", main.as_str()), ("x.c", "static int g(int x) { return x + 20; }\n")];
    let pair = Pair::of(&old, &new);
    pair.is_a_change_of("a.c:f");
    pair.says("check HEAD~1..HEAD", 1, &["a.c  main()"], &[]);
}

#[test]
fn what_begins_otherwise_is_told_to_its_readers() {
    let text = |k: &str| {
        format!(
            "{ASSERT}static int count = {k};\nint f(void) {{ return count++; }}\nint g(void) {{ return 1; }}\nint main(void) {{ int n = f(); assert(n < 5); printf(\"%d\\n\", n); return 0; }}\n"
        )
    };
    let pair = Pair::new(&text("1"), &text("7"));
    assert_ne!(pair.runs(&[], "").0, pair.runs(&[], "").1);
    pair.is_a_change_of("a.c:f");
    let object = ["count", "before  starts as 1", "now     starts as 7", "read by f()"];
    let said = [&object[..], &["main()", "1 of 1 hunk explained"]].concat();
    pair.says("diff --effort deep HEAD~1..HEAD", 0, &said, &["g()", "initially"]);
    let said = ["- initially count == 1", "+ initially count == 7"];
    pair.says("diff -v --effort deep HEAD~1..HEAD", 0, &said, &[]);
    pair.says("check HEAD~1..HEAD", 1, &["main()"], &[]);
    // Nobody reads it: nothing that runs is another one.
    let text = |k: &str| format!("static int unused = {k};\nint f(void) {{ return 1; }}\n");
    let out = Pair::new(&text("1"), &text("2"));
    out.says("condition --exit-code HEAD~1..HEAD", 0, &["no function differs"], &[]);
}

#[test]
fn those_that_read_something_else_are_left_alone() {
    let text = |k: &str| {
        format!(
            "const char version[] = \"{k}\";\nconst char *name(void) {{ return version; }}\nint f(int x) {{ return x + 1; }}\nint g(int x) {{ return f(x) * 2; }}\n"
        )
    };
    let pair = Pair::new(&text("1.0"), &text("1.1"));
    pair.says("condition HEAD~1..HEAD", 0, &["name()"], &["f()", "g()"]);
    pair.says("diff HEAD~1..HEAD", 0, &["name()"], &["f()", "g()"]);
}

#[test]
fn names_of_functions_are_no_change() {
    let text = |n: &str| {
        format!(
            "int {n}(int a, int b)\n{{\n    return a > 0 ? b + {n}(a - 1, b) : 0;\n}}\nint f(int a)\n{{\n    return {n}(a, 2);\n}}\n"
        )
    };
    Pair::new(&text("FormAdd"), &text("formadd")).is_no_change();
    let big = "s = s * 3 + b; ".repeat(60);
    let text = |n: &str, m: &str| {
        format!(
            "#include <stdio.h>\nint {n}(int a, int b)\n{{\n    int s = a;\n    {big}\n    return s;\n}}\nint {m}(int a)\n{{\n    int s = {n}(a, 1), b = a;\n    {big}\n    return s;\n}}\nint f(int a)\n{{\n    int r = {m}(a);\n    printf(\"%d\\n\", r);\n    return r;\n}}\n"
        )
    };
    Pair::new(&text("FormAdd", "FormAll"), &text("formadd", "formall")).is_no_change();
    // Another function of another name is one.
    let text = |n: &str| {
        format!(
            "int one(int a) {{ return a > 0 ? one(a - 1) + 1 : 0; }}\nint two(int a) {{ return a > 0 ? two(a - 1) + 2 : 0; }}\nint f(int a) {{ return {n}(a); }}\n"
        )
    };
    Pair::new(&text("one"), &text("two")).says("diff HEAD~1..HEAD", 0, &["f()"], &["no semantic change"]);
}

#[test]
fn variadic_functions_of_the_unit_are_called() {
    let sum = |k: &str| {
        format!(
            "#include <stdarg.h>\nstatic int sum(int n, ...) {{ va_list a; va_start(a, n); int s = 0; for (int i = 0; i < n; i++) s += va_arg(a, int); va_end(a); return s + {k}; }}\nint f(int x) {{ int r = sum(2, x, 1); assert(r < 10); return r; }}\nint main(void) {{ return f(4) < 0; }}\n"
        )
    };
    breaks_alone(&sum, "1", "8");
}

/// An object that nobody writes is no input, also where its address is compared and handed down.
#[test]
fn what_is_handed_down_and_only_read_is_no_input() {
    let head = "struct type { const char *name; int size; int kind; };\nstruct obj { struct type *type; int n; };\nstatic struct type obj_type_name = { \"name\", 4 };\nstatic struct type other = {0};\nstatic int size_of(const struct type *t) { return t->kind ? 9 : t->size; }\nint is(struct obj *o) { return o->type == &obj_type_name || o->type == &other; }\n";
    let f = |k: u32| {
        format!(
            "{head}int f(int a) {{ struct type *t = &obj_type_name; return other.kind + (t->kind ? a + 2 : size_of(t) + a + {k}); }}\n"
        )
    };
    let pair = Pair::new(&f(0), &f(1));
    let unsaid = ["obj_type_name =", "obj_type_name.", "other ="];
    pair.says("diff --all HEAD~1..HEAD", 0, &["\\result == a + 4", "\\result == a + 5"], &unsaid);
    // Somebody may write it where its address gets away.
    let away = |k: u32| f(k) + "struct type *away(void) { return &obj_type_name; }\n";
    let pair = Pair::new(&away(0), &away(1));
    pair.says("diff --all HEAD~1..HEAD", 0, &["obj_type_name."], &["\\result == a + 4"]);
}

/// What only has a name in its file is reached through a table or pointer with one everywhere.
#[test]
fn tables_of_other_files_lead_to_what_they_hold() {
    let main = "int main(void) { return f(9) == 7 ? 0 : 1; }\n";
    let reader = format!(
        "{ASSERT}extern int (*const hook)(int); int f(int a) {{ int r = hook(a & 7) + 6; assert(r < 8); return r; }}\n{main}"
    );
    let hook =
        |k: u32| format!("static int p(int x) {{ return x ? {k} : 0; }} int (*const hook)(int) = p;\n");
    breaks(&[("a.c", &reader), ("s.c", &hook(1))], &[("a.c", &reader), ("s.c", &hook(2))]);
    let reader = format!(
        "{ASSERT}extern int (*const ops[])(int); int f(int a) {{ int r = ops[1](a & 7) + 6; assert(r < 8); return r; }}\n{main}"
    );
    let table = |k: u32| {
        format!(
            "static int q(int x) {{ return x + x; }} static int p(int x) {{ return x ? {k} : 0; }} int (*const ops[])(int) = {{q, p}};\n"
        )
    };
    breaks(&[("a.c", &reader), ("s.c", &table(1))], &[("a.c", &reader), ("s.c", &table(2))]);
    let other = table(1).replace("{q, p}", "{q, q}");
    breaks(&[("a.c", &reader), ("s.c", &table(1))], &[("a.c", &reader), ("s.c", &other)]);
    let reader = format!(
        "{ASSERT}extern const int *const lim; int f(int a) {{ int r = a - 2; assert(r <= *lim); return r; }}\n{main}"
    );
    let data = |k: u32| format!("static const int n = {k}; const int *const lim = &n;\n");
    breaks(&[("a.c", &reader), ("s.c", &data(7))], &[("a.c", &reader), ("s.c", &data(6))]);
}

/// An object that nobody writes is known wherever its address stands, if it is only read there.
#[test]
fn addresses_in_initialisers_and_reading_calls_keep_values_known() {
    let through = |k: &str| {
        format!(
            "static int base = {k}; static int *const bp = &base; int f(int a) {{ int r = *bp + (a & 1); assert(r < 7); return r; }} int main(void) {{ return f(1) - 6; }}\n"
        )
    };
    breaks_alone(&through, "5", "6");
    let copied = |k: &str| {
        format!(
            "#include <string.h>\nstatic int t[2] = {{1, {k}}}; int f(int a) {{ int u[2]; memcpy(u, t, sizeof u); int r = u[1] + (a & 1); assert(r < 7); return r; }} int main(void) {{ return f(1) - 6; }}\n"
        )
    };
    breaks_alone(&copied, "5", "6");
}

/// Whoever calls what a pointer says may call a changed function whose address was put there at run time.
#[test]
fn functions_behind_pointers_that_change_are_noted() {
    let header = "extern int (*cur)(int); void init(int);\n";
    let reader = format!(
        "{ASSERT}#include \"o.h\"\nint f(int a) {{ int r = cur(a & 7); assert(r < 9); return r; }}\n"
    );
    let setter = |k: u32| {
        format!(
            "#include \"o.h\"\nstatic int p(int x) {{ return x + {k}; }} static int q(int x) {{ return x; }}\nint (*cur)(int) = q; void init(int k) {{ if (k) cur = p; }}\n"
        )
    };
    let (old, new) = (setter(1), setter(2));
    let pair = Pair::of(
        &[("o.h", header), ("a.c", &reader), ("s.c", &old)],
        &[("o.h", header), ("a.c", &reader), ("s.c", &new)],
    );
    let (status, out, err) = pair.run("check --strict HEAD~1..HEAD");
    assert!(status == Some(3) && out.contains("s.c: p() may be called through pointers"), "{out}\n{err}");
    let (status, out, err) = pair.run("condition --exit-code HEAD~1..HEAD");
    assert_eq!(status, Some(1), "{out}\n{err}");
}

/// A table of functions that only got other names is the same.
#[test]
fn renamed_functions_in_tables_are_the_same() {
    let text = |f: &str| {
        format!(
            "static int {f}(int n) {{ return n + 1; }} static int (*const tab[])(int) = {{{f}, 0}}; int g(int a) {{ return tab[0](a & 3); }}\n"
        )
    };
    Pair::new(&text("f"), &text("ff")).is_no_change();
}

/// The readers of what a constructor in another file sets are told of.
#[test]
fn readers_of_what_a_constructor_sets_are_open() {
    let reader = ("a.c", "extern int mode; int f(int a, int b) { return mode ? a : b; }\n");
    let starts =
        |k: u32| format!("int mode; __attribute__((constructor)) static void init(void) {{ mode = {k}; }}\n");
    let (old, new) = (starts(1), starts(0));
    let pair = Pair::of(&[reader, ("b.c", &old)], &[reader, ("b.c", &new)]);
    let found = pair.json("diff HEAD~1..HEAD");
    let functions = found["functions"].as_array().cloned().unwrap_or_default();
    assert!(functions.iter().any(|f| f["name"] == "f"), "{found}");
    let (status, out, err) = pair.run("check --strict HEAD~1..HEAD");
    assert_eq!(status, Some(3), "{out}\n{err}");
}
