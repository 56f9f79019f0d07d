//! Verdicts on hunks of a few lines.

use crate::analysis::{Effort, Options, diff, memory};
use crate::frontend::c;
use crate::report::HunkVerdict;

/// Compares two versions of `a.c` and `h.h`, which `a.c` includes; one hunk a line:
/// `file why` or `file verdict`.
#[track_caller]
fn check(old: (&str, &str), new: (&str, &str), expected: &[&str]) {
    let files = |(source, header): (&str, &str)| [format!("#include \"h.h\"\n{source}"), header.to_owned()];
    let (old, new) = (files(old), files(new));
    let versions = [&old, &new].map(|f| vec![("a.c", f[0].as_str()), ("h.h", f[1].as_str())]);
    let request =
        memory::request(&versions, c::Options::default(), Options { jobs: 1, ..Options::default() });
    let report = diff(&request);
    let found: Vec<String> = report
        .hunks
        .iter()
        .map(|h| match h.verdict {
            HunkVerdict::Explained => format!("{} explained", h.file),
            HunkVerdict::Neutral => format!("{} neutral", h.file),
            HunkVerdict::NotAnalysed => format!("{} {}", h.file, h.why.clone().unwrap_or_default()),
        })
        .collect();
    assert_eq!(found, expected, "{old:?} {new:?}");
}

const F: &str = "int f(int x) { return x; }\n";

/// One file's lines, before and after the function `f`.
#[track_caller]
fn check_source(old: &str, new: &str, expected: &str) {
    let source = |text: &str| format!("{text}\n{F}");
    check((&source(old), ""), (&source(new), ""), &[&format!("a.c {expected}")]);
    // The same in a header.
    check((F, &format!("{old}\n")), (F, &format!("{new}\n")), &[&format!("h.h {expected}")]);
}

#[test]
fn what_reaches_no_function_is_reported_as_what_it_is() {
    check_source("#if 0\nint y = 1;\n#endif", "#if 0\nint y = 2;\n#endif", "inactive-branch");
    // Under NO it is one like others.
    check_source("#ifdef NO\nint y = 1;\n#endif", "#ifdef NO\nint y = 2;\n#endif", "explained");
    check_source("int y = 1;", "int y = 2;", "explained");
    check_source("int g(int);", "int g(long);", "prototype");
    check_source("struct s { int a; };", "struct s { int a, b; };", "explained");
    check((F, "enum { A = 1 };\n"), (F, "enum { A = 2 };\n"), &["h.h layout"]);
    // What was not there before was used by nobody.
    check((F, "\n"), (F, "enum e { A, B };\n"), &["h.h neutral"]);
    check((F, "\n"), (F, "struct s { int n; };\ntypedef struct s s_t;\n"), &["h.h neutral"]);
    check((F, "#define A 1\n"), (F, "enum e { A = 2 };\n"), &["h.h layout"]);
    // In a source nobody else sees them.
    let source = |text: &str| format!("{text}\n{F}");
    check((&source("enum { A = 1 };"), ""), (&source("enum { A = 2 };"), ""), &["a.c neutral"]);
    check((&source("enum { A, B };"), ""), (&source(""), ""), &["a.c neutral"]);
    check_source("#define N 1", "#define N 2", "neutral");
    check_source("#if 1\n#endif", "#if 2\n#endif", "neutral");
    check_source("struct s { int a; }; // x", "struct s { int a; /* y */ };", "neutral");
    check_source("int y = 1;", "int\ny = 1;", "neutral");
    check_source("#ifdef NO\nint y; // a\n#endif", "#ifdef NO\nint y; // b\n#endif", "neutral");
    check_source("/* a */", "/* b */", "neutral");
    check_source("", "\n// new\n", "neutral");
    check_source("#pragma once", "#pragma twice", "neutral");
}

/// `.i` files: interfaces for SWIG are no C, what a preprocessor left is.
#[test]
fn interfaces_for_swig_are_not_c() {
    let of = |old: &str, new: &str| {
        let versions = [old, new].map(|text| vec![("a.i", text)]);
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        report.hunks.iter().map(|h| h.why.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(of("%module m\n%{\nint y = 1;\n%}\n", "%module m\n%{\nint y = 2;\n%}\n"), ["not-c"]);
    assert_eq!(of("int f(void) { return 1; }\n", "int f(void) { return 2; }\n"), [""]);
}

#[test]
fn of_functions_of_one_name_none_is_passed_over() {
    let test = |name: &str, n: u32| format!("START_TEST({name})\n{{\ng({n});\n}}\nEND_TEST\n");
    let both = |m: u32, n: u32| format!("void g(int);\n{}{}", test("add", m), test("sub", n));
    check((&both(1, 2), ""), (&both(3, 2), ""), &["a.c explained"]);
    check((&both(1, 2), ""), (&both(1, 3), ""), &["a.c explained"]);
    // Only one of them can be known.
    let both =
        |m: u32, n: u32| format!("int g(void)\n{{\nreturn {m};\n}}\nint g(void)\n{{\nreturn {n};\n}}\n");
    check((&both(1, 2), ""), (&both(3, 2), ""), &["a.c lost"]);
    check((&both(1, 2), ""), (&both(1, 3), ""), &["a.c explained"]);
}

#[test]
fn what_reaches_a_churn_is_explained() {
    let check_both = |old: &str, new: &str, body: &str| {
        let f = format!("int f(int x)\n{{\n return {body};\n}}\nint h(int x)\n{{\n return x;\n}}\n");
        let source = |text: &str| format!("{text}\n{f}");
        check((&source(old), ""), (&source(new), ""), &["a.c explained"]);
        check((&f, &format!("{old}\n")), (&f, &format!("{new}\n")), &["h.h explained"]);
    };
    check_both("#define N 1", "#define N 2", "x + N");
    check_both("#define M 1\n#define N M", "#define M 2\n#define N M", "x + N");
    check_both("enum { A = 1 };", "enum { A = 2 };", "x + A");
    check_both("static const int k = 1;", "static const int k = 2;", "x + k");
    check_both("struct s { char a; };", "struct s { char a[2]; };", "x + (int)sizeof(struct s)");
    check_both("static int g(int x) { return x; }", "static int g(int x) { return x + 1; }", "g(x)");
}

#[test]
fn lines_of_functions() {
    let f = |body: &str| format!("int f(int x)\n{{\n{body}\n}}\n");
    let check_body = |old: &str, new: &str, expected: &[&str]| {
        check((&f(old), ""), (&f(new), ""), expected);
    };
    check_body("return x;", "return x + 1;", &["a.c explained"]);
    check_body("return x;", "return /* same */ x;", &["a.c neutral"]);
    check_body("return x + x;", "return 2 * x;", &["a.c neutral"]);
    check_body("int y = x; return y;", "int z = x; return z;", &["a.c neutral"]);
    check_body("static int n = 3;\nreturn x;", "static int n = 4;\nreturn x;", &["a.c explained"]);
    // A comment that swallows code is no comment alone.
    check_body("x++;\nx++;\n\nreturn x;", "/*\nx++;\nx++;\n*/\nreturn x;", &["a.c explained"; 2]);
    // Each hunk is judged by what it does itself, not by what else its function does.
    check_body(
        "x = x + 1;\n\n\n(void)1;\nreturn x;",
        "x = x + 2;\n\n\n(void)2;\nreturn x;",
        &["a.c explained", "a.c neutral"],
    );
    check((F, ""), (&format!("{F}int g(void) {{ return 1; }}\n"), ""), &["a.c explained"]);
    // What stands before the name belongs to the function.
    check((F, ""), (&format!("{F}int\ng(void) {{ return 1; }}\n"), ""), &["a.c explained"]);
    let of_type = |ty: &str| format!("{ty}\ng(int x)\n{{ return x; }}\n");
    check((&of_type("int"), ""), (&of_type("signed char"), ""), &["a.c explained"]);
    check((&of_type("int"), ""), (&of_type("signed int"), ""), &["a.c neutral"]);
    // A change of the function's own says nothing of a declaration beside it.
    check(
        (&format!("{}\nint g(int);\n", f("return x;")), ""),
        (&format!("{}\nint g(long);\n", f("return x + 1;")), ""),
        &["a.c explained", "a.c prototype"],
    );
}

#[test]
fn what_stands_behind_an_unknown_label_is_not_neutral() {
    let f = |k: u32| {
        format!(
            "int g(int);\nint f(unsigned char c)\n{{\nint r = 0;\nswitch (c) {{\ncase KEY:\nr = g({k});\nbreak;\ncase 13:\nr = 2;\n}}\nreturn r;\n}}\n"
        )
    };
    check((&f(1), ""), (&f(2), ""), &["a.c explained"]);
    let range = |k: u32| f(k).replace("KEY", "KEY ... 9");
    check((&range(1), ""), (&range(2), ""), &["a.c open:source with errors"]);
}

#[test]
fn functions_of_headers() {
    let inline = |k: &str| format!("static inline int g(int x) {{ return {k}; }}\n");
    check((F, &inline("x + x")), (F, &inline("/* twice */ x + x")), &["h.h neutral"]);
    check((F, &inline("1")), (F, &inline("2")), &["h.h explained"]);
    // What the header itself does not say is left to those that include it.
    let of_type = |k: &str| format!("static inline num g(num x) {{ return {k}; }}\n");
    let user = format!("typedef int num;\n#include \"h.h\"\n{F}");
    check((&user, &of_type("1")), (&user, &of_type("2")), &["h.h header"]);
}

/// Found in brotli 54f74c7: what a header makes of names that others give it is told as they make it, once.
#[test]
fn functions_of_templates() {
    let source = "#define FN(X) X##_two\n#define SIZE 2\n#include \"h.h\"\n#undef FN\n#undef SIZE\n#define FN(X) X##_four\n#define SIZE 4\n#include \"h.h\"\nint g(int x) { return take_two(x) + take_four(x); }\n";
    let header =
        |test: &str| format!("static inline int FN(take)(int x)\n{{\n{test}\nreturn x + SIZE;\n}}\n");
    let (old, new) = (header("if (x < 3) return 1;"), header("if (x < 3 && x > 0) return 1;"));
    let versions = [&old, &new].map(|h| vec![("a.c", source), ("h.h", h.as_str())]);
    let options = Options { jobs: 1, effort: Effort::Quick, ..Options::default() };
    let report = diff(&memory::request(&versions, c::Options::default(), options));
    let verdicts: Vec<HunkVerdict> = report.hunks.iter().map(|h| h.verdict).collect();
    assert_eq!(verdicts, [HunkVerdict::Explained], "{:?}", report.hunks);
    let told: Vec<(String, usize)> =
        report.functions.iter().map(|f| (f.name.clone(), f.changes.len())).filter(|(_, n)| *n > 0).collect();
    assert_eq!(told, [("take_two".to_owned(), 1)]);
    assert!(report.objects.is_empty(), "{:?}", report.objects);
    // A check that is nothing in either version.
    let check = "#define CHECK(x)\n";
    let (old, new) = (header("CHECK(x < 3)"), header("CHECK(x <= 3)"));
    let source = format!("{check}{source}");
    let versions = [&old, &new].map(|h| vec![("a.c", source.as_str()), ("h.h", h.as_str())]);
    let options = Options { jobs: 1, effort: Effort::Quick, ..Options::default() };
    let report = diff(&memory::request(&versions, c::Options::default(), options));
    assert!(report.hunks.iter().all(|h| h.verdict == HunkVerdict::Neutral), "{:?}", report.hunks);
}

#[test]
fn what_a_conversion_to_an_unknown_type_does_is_open() {
    let f = |value: &str| {
        format!("struct p {{ int n, k; count_t all; }};\nvoid f(struct p *p) {{ p->all = {value}; }}\n")
    };
    let open = "a.c open:the type count_t, which nothing declares";
    check((&f("p->n * p->k"), ""), (&f("(count_t) p->n * p->k"), ""), &[open]);
    check((&f("(count_t)p->n * p->k"), ""), (&f("(count_t)p->k * p->n"), ""), &["a.c neutral"]);
    // What leads to it is a pointer whatever it is.
    let f = |value: &str| format!("int f(int *p) {{ return {value} == 0; }}\n");
    check((&f("p"), ""), (&f("(count_t *)p"), ""), &["a.c neutral"]);
    let declared = "typedef int count_t;\n";
    let f = |value: &str| format!("int f(int n) {{ return {value}; }}\n");
    check((&f("n"), declared), (&f("(count_t)n"), declared), &["a.c neutral"]);
}

#[test]
fn no_run_is_shown_of_a_version_that_does_not_say_what_a_name_is() {
    let of = |header: &str| {
        vec![("a.c", "#include \"h.h\"\nint f(int n) { return n < LIMIT; }\n"), ("h.h", header)]
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect::<Vec<_>>()
    };
    let told = |old: &str, new: &str| {
        let files = [of(old), of(new)];
        let versions =
            files.each_ref().map(|f| f.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>());
        let request =
            memory::request(&versions, c::Options::default(), Options { jobs: 1, ..Options::default() });
        let report = diff(&request);
        let assumptions = report.functions.iter().flat_map(|f| &f.changes).flat_map(|c| &c.assumptions);
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        let unknown: Vec<String> = assumptions.filter(|a| a.starts_with("undeclared-")).cloned().collect();
        (unknown, churns.filter(|c| c.witness.is_some()).count())
    };
    assert_eq!(told("#define LIMIT 3\n", "\n"), (vec!["undeclared-now(LIMIT)".to_owned()], 0));
    assert_eq!(told("\n", "#define LIMIT 3\n"), (vec!["undeclared-before(LIMIT)".to_owned()], 0));
    let (unknown, inputs) = told("#define LIMIT 3\n", "#define LIMIT 4\n");
    assert!(unknown.is_empty() && inputs > 0);
}
