//! Assertions whose meaning changes with their text unchanged, that are removed or compiled out; witness
//! tests and asserted copies that are compiled and run.

use super::kit::Pair;

const HEADER: &str = "#include <assert.h>\n";

/// Two versions of what follows `#include <assert.h>`.
fn pair(old: &str, new: &str) -> Pair {
    Pair::new(&format!("{HEADER}{old}"), &format!("{HEADER}{new}"))
}

/// What becomes of the assertions of `f`, as `check --json` says it: `match`, `compiled_out`, whether a
/// regression.
fn assertions(pair: &Pair) -> Vec<String> {
    let found = pair.json("check HEAD~1..HEAD");
    let list = found["assertions"].as_array().cloned().unwrap_or_default();
    let word = |a: &serde_json::Value| {
        let mut word = a["match"].as_str().unwrap_or_default().to_owned();
        word.push_str(if a["compiled_out"] == true { ", compiled out" } else { "" });
        word.push_str(if a["guarded"].is_object() { ", goes on" } else { "" });
        word.push_str(if a["violation"] == "regression" { ", regression" } else { "" });
        word
    };
    list.iter().filter(|a| a["kind"] == "assertion").map(word).collect()
}

#[test]
fn a_text_that_means_something_else_now_is_a_regression() {
    let clamp = "int f(int x) { if (x < 0) x = 0; if (x > 10) x = 10; assert(OK); return x; }\n";
    for (old, new, rest) in [
        (
            "struct s { char a; int b; char c; };",
            "struct __attribute__((packed)) s { char a; int b; char c; };",
            "int f(int x) { assert(sizeof(struct s) == 12); return x; }\n",
        ),
        (
            "struct s { char a; int b; };",
            "#pragma pack(push, 1)\nstruct s { char a; int b; };\n#pragma pack(pop)",
            "int f(void) { struct s v; assert(sizeof v == 8 && sizeof v.b == 4); return 0; }\n",
        ),
        (
            "struct s { int a, b; };",
            "struct s { int b, a; };",
            "int f(void) { assert(__builtin_offsetof(struct s, b) == 4); return 0; }\n",
        ),
        ("enum { N = 4 };", "enum { N = 5 };", "int f(int x) { assert(N % 2 == 0); return x; }\n"),
        ("typedef int num;", "typedef short num;", "int f(void) { assert((num)40000 > 0); return 0; }\n"),
        ("typedef int num;", "typedef short num;", "int f(void) { assert(sizeof(num) >= 4); return 0; }\n"),
        (
            "typedef signed char num;",
            "typedef unsigned char num;",
            "int f(void) { assert((num)-1 < 0); return 0; }\n",
        ),
        ("#define OK x >= 0", "#define OK x > 0", clamp),
        ("enum { L = 10 };\n#define OK x <= L", "enum { L = 9 };\n#define OK x <= L", clamp),
        (
            "static int ok(int x) { return x <= 10; }\n#define OK ok(x)",
            "static int ok(int x) { return x < 10; }\n#define OK ok(x)",
            clamp,
        ),
        (
            "static const int t[2] = {0, 10};\n#define OK x <= t[1]",
            "static const int t[2] = {0, 9};\n#define OK x <= t[1]",
            clamp,
        ),
        (
            "typedef int num;",
            "typedef signed char num;",
            "int f(int x) { if (x < 0 || x > 200) return 0; num y = x; assert(y == x); return y; }\n",
        ),
    ] {
        let changed = pair(&format!("{old}\n{rest}"), &format!("{new}\n{rest}"));
        changed.says("check HEAD~1..HEAD", 1, &["1 regression"], &["new or changed"]);
        changed.says("diff --effort deep HEAD~1..HEAD", 0, &["no longer kept"], &["no semantic change"]);
        changed.says("condition --exit-code HEAD~1..HEAD", 1, &["verify"], &["no function differs"]);
        assert_eq!(assertions(&changed), ["unchanged, regression"], "{old}\n{new}\n{rest}");
        // The other way round something is mended.
        let back = pair(&format!("{new}\n{rest}"), &format!("{old}\n{rest}"));
        back.says("check HEAD~1..HEAD", 0, &["no regression", "1 fixed"], &["kept"]);
    }
}

#[test]
fn what_is_not_asserted_any_more_is_said() {
    let f = |asserts: &str| format!("int f(int x)\n{{\n    {asserts}\n    return x;\n}}\n");
    let clamped = |asserts: &str| f(&format!("if (x < 0) x = 0;\n    {asserts}"));
    let with = |top: &str, rest: &str| format!("{top}{HEADER}{rest}");
    let guard = f("assert(x > 0);");
    let mine = |body: &str| format!("#define MY(c) {body}\n{}", f("MY(x > 0);"));
    let off = ["removed, compiled out, goes on"];
    for (old, new, expected) in [
        (with("", &guard), with("", &f("")), &["removed, goes on"][..]),
        (with("", &guard), with("", &f("// assert(x > 0);")), &["removed, goes on"]),
        (with("", &clamped("assert(x >= 0);")), with("", &clamped("")), &["removed"]),
        // What is asserted elsewhere in other words is no assertion that is left.
        (
            with("", &f("assert(x > 0);\n    if (x > 0) x--;")),
            with("", &f("if (x > 0) x--;")),
            &["removed, goes on"],
        ),
        (with("", &guard), with("#define NDEBUG\n", &guard), &off),
        (with("", &guard), with("", &f("#ifdef DEBUG\n    assert(x > 0);\n#endif")), &off),
        (with("", &guard), with("", &f("#if 0\n    assert(x > 0);\n#endif")), &off),
        (with("", &mine("assert(c)")), with("", &mine("((void)0)")), &off),
        (with("", &mine("assert(c)")), with("", &mine("do { (void)sizeof(c); } while (0)")), &off),
        (
            with("#define NDEBUG\n", &guard),
            with("#define NDEBUG\n", &guard.replace("return x", "return x + 1")),
            &["unchanged, compiled out"],
        ),
        (
            with("#define NDEBUG\n", &f("")),
            with("#define NDEBUG\n", &f("assert(x > 0); x++;")),
            &["new, compiled out"],
        ),
    ] {
        let pair = Pair::new(&old, &new);
        assert_eq!(assertions(&pair), expected, "{old}\n{new}");
        let word = if expected[0].contains("compiled") { "1 compiled out" } else { "1 removed" };
        pair.says("check HEAD~1..HEAD", 0, &["no regression", word], &["kept"]);
    }
    // The header that switches off, and the configuration.
    let source = format!("#include \"config.h\"\n{HEADER}{guard}");
    let pair = Pair::of(
        &[("a.c", &source), ("config.h", "/* nothing */\n")],
        &[("a.c", &source), ("config.h", "#define NDEBUG 1\n")],
    );
    assert_eq!(assertions(&pair), off);
    let changed = with("", &guard.replace("return x", "return x + 1"));
    let settings = (".invdiff.yaml", "c:\n  defines: {NDEBUG: 1}\n");
    let pair = Pair::of(&[("a.c", &with("", &guard)), settings], &[("a.c", &changed), settings]);
    assert_eq!(assertions(&pair), ["unchanged, compiled out"]);
}

#[test]
fn copies_assert_in_files_that_speak_of_ndebug() {
    let f = "int f(int x)\n{\n    if (x < 0)\n        x = 0;\n    return x;\n}\n";
    let main = "int main(void) { return f(-1); }\n";
    // A false fact in place of a true one must stop the copy: its assertions are on.
    for top in
        ["#define NDEBUG\n", "#define NDEBUG\n#include <assert.h>\n", "#include <assert.h>\n#define NDEBUG\n"]
    {
        let pair = Pair::new("int z;\n", &format!("{top}{f}{main}"));
        let copy = copy(&pair);
        assert!(copy.contains("assert(invdiff_result >= 0)"), "{copy}");
        for (text, status) in [(copy.clone(), Some(0)), (copy.replace("invdiff_result >= 0", "0"), None)] {
            assert_eq!(super::kit::compile_and_run(&[("a.c".into(), text)], &[], "").status, status, "{top}");
        }
    }
    // The file's own would be switched on, too.
    let own = format!(
        "#define NDEBUG\n#include <assert.h>\n{}{main}",
        f.replace("return", "assert(0);\n    return")
    );
    let pair = Pair::new("int z;\n", &own);
    let (_, out, err) = pair.run("assert HEAD -v -- a.c");
    assert!(
        !out.contains("assert(invdiff") && err.contains("switches its own assertions off"),
        "{out}\n{err}"
    );
}

/// `a.c` of the newest version with its facts.
fn copy(pair: &Pair) -> String {
    let folder = invdiff_testing::scratch();
    let to = folder.path().to_str().unwrap().to_owned();
    let (_, out, err) = pair.run_words(&["assert", "HEAD", "--output-dir", &to, "--", "a.c"]);
    std::fs::read_to_string(folder.path().join("a.c")).unwrap_or_else(|e| panic!("{e}\n{out}\n{err}"))
}

#[test]
fn a_result_that_is_not_there_is_no_part_of_a_test() {
    let pair = Pair::new("int f(int x)\n{\n    return 7;\n}\n", "int f(int x)\n{\n    x++;\n}\n");
    let folder = invdiff_testing::scratch();
    let to = folder.path().to_str().unwrap().to_owned();
    let (status, out, _) = pair.run_words(&["witness", "HEAD~1..HEAD", "--output-dir", &to]);
    assert_eq!((status, out.as_str()), (Some(0), ""));
    assert!(folder.path().read_dir().unwrap().next().is_none());
}

#[test]
fn what_fails_to_compile_is_a_regression() {
    let size = "struct s { char a; int b; };\nstatic_assert(sizeof(struct s) == 8, \"size\");\nint f(struct s *p) { return p->b; }\n";
    let packed = size.replace("struct s {", "struct __attribute__((packed)) s {");
    let even = "enum { N = 4 };\n_Static_assert(N % 2 == 0, \"even\");\nint f(int x) { return x * N; }\n";
    let inner =
        "typedef int num;\nint f(int x)\n{\n    _Static_assert(sizeof(num) >= 4, \"\");\n    return x;\n}\n";
    for (old, new) in [
        (size.to_owned(), packed),
        (even.to_owned(), even.replace("N = 4", "N = 5")),
        (even.to_owned(), even.replace("N % 2 == 0", "N > 4")),
        (inner.to_owned(), inner.replace("typedef int", "typedef short")),
    ] {
        let changed = pair(&old, &new);
        changed.says("check HEAD~1..HEAD", 1, &["1 regression", "it does not compile"], &[]);
        changed.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change", "no change"]);
        let (status, out, err) = changed.run("condition --exit-code HEAD~1..HEAD");
        assert!(status == Some(1) && err.contains("does not compile"), "{out}\n{err}");
        pair(&new, &old).says("check HEAD~1..HEAD", 0, &["no regression"], &[]);
    }
    pair(even, &even.replace("_Static_assert(N % 2 == 0, \"even\");", "")).says(
        "check HEAD~1..HEAD",
        0,
        &["1 removed", "N % 2 == 0"],
        &["kept"],
    );
    // Sizes of the library's types are not ours to know.
    let library = "#include <setjmp.h>\nint f(int x) { return x; }\n";
    let other = format!("{library}_Static_assert(sizeof(jmp_buf) == 12345, \"\");\n");
    pair(library, &other).says("check HEAD~1..HEAD", 0, &["no regression"], &["does not compile"]);
}

#[test]
fn assertions_that_could_not_fail_are_removed_too() {
    let f = |asserts: &str| format!("int f(int x)\n{{\n    {asserts}\n    return x;\n}}\n");
    for (old, new, expected) in [
        ("assert(sizeof x == 4);", "", "removed"),
        ("assert(1);\n    assert(2 > 1);", "assert(2 > 1);", "removed"),
        ("assert(1);\n    assert(1);", "assert(1);", "removed"),
        ("assert(1);", "#if 0\n    assert(1);\n#endif", "removed, compiled out"),
    ] {
        let pair = pair(&f(old), &f(new));
        assert!(assertions(&pair).contains(&expected.to_owned()), "{old}: {:?}", assertions(&pair));
    }
}

#[test]
fn macros_of_a_project_that_end_the_program_are_assertions() {
    let f = |body: &str, call: &str| {
        format!(
            "#include <stdlib.h>\n#define ASSERT(x) {body}\nint f(int x)\n{{\n    {call}\n    return x - 1;\n}}\n"
        )
    };
    let whole = "do { if (!(x)) abort(); } while (0)";
    for (body, call, expected) in [
        ("do { } while (0)", "ASSERT(x > 0);", &["removed, compiled out"][..]),
        ("((void)0)", "ASSERT(x > 0);", &["removed, compiled out"]),
        (whole, "", &["removed"]),
        (whole, "ASSERT(x > 0); x++;", &[]),
        ("((x) ? (void)0 : abort())", "ASSERT(x > 0);", &[]),
    ] {
        let pair = Pair::new(&f(whole, "ASSERT(x > 0);"), &f(body, call));
        assert_eq!(assertions(&pair), expected, "{body} {call}");
    }
}

/// The sign of a NaN is the machine's matter, and x86 makes negative ones: an assertion that rests on it is not
/// said to hold.
#[test]
fn nothing_is_proved_of_the_sign_of_a_nan() {
    for sign in ["__builtin_signbit(n)", "__builtin_copysign(1.0, n) < 0", "(memcpy(&b, &n, 8), b < 0)"] {
        let program = |negative: &str| {
            format!(
                "#include <assert.h>\n#include <string.h>\nint f(int z)\n{{\n    double n = 0.0 / z;\n    long b = 0;\n    \
                 int r = z == 0 && {negative} ? 3 : 2;\n    assert(r != 3);\n    return r;\n}}\n"
            )
        };
        let pair = Pair::new(&program("b"), &program(sign));
        pair.says("check --strict HEAD~1..HEAD", 3, &["undecided"], &["kept"]);
    }
}

/// An assertion that some inputs broke before is told where other inputs break it now: a program serves them,
/// callers of a function may.
#[test]
fn an_assertion_that_failed_before_may_fail_on_more() {
    let f = |limit: u8| {
        format!("enum {{ LIM = {limit} }};\nint f(int a) {{ int r = a & 7; assert(r < LIM); return r; }}\n")
    };
    let function = pair(&f(6), &f(3));
    function.says("check HEAD~1..HEAD", 0, &["1 possible"], &["broken before"]);
    function.says("check -v HEAD~1..HEAD", 0, &["possible, if callers pass", "r < LIM"], &[]);
    let main = |text: &str| {
        let rest = "int main(void) { int a; if (scanf(\"%d\", &a) == 1) f(a); return 0; }\n";
        format!("#include <stdio.h>\n{text}{rest}")
    };
    let program = pair(&main(&f(6)), &main(&f(3)));
    let (old, new) = program.runs(&[], "4\n");
    assert_ne!(old, new);
    program.says("check HEAD~1..HEAD", 1, &["1 regression"], &[]);
    // Where no other input breaks it, nothing is new.
    let same = pair(&f(6), &f(6).replace("return r;", "return r + 1;"));
    same.says("check HEAD~1..HEAD", 0, &["1 broken before, too"], &["possible"]);
}

/// What a copy asserts of `__LINE__` is what the line is without the copy.
#[test]
fn copies_keep_the_numbers_of_lines() {
    let text = "static int here(void) { return __LINE__; }\nint f(int a)\n{\n    a = here() + (a & 3);\n    return a *\n        __LINE__;\n}\n                int main(void) { return f(2) == 18 ? 0 : 1; }\n";
    let pair = Pair::new(text, &text.replace("a & 3", "a & 1"));
    let folder = invdiff_testing::scratch();
    let out = folder.path().to_string_lossy().into_owned();
    let (status, said, err) = pair.run_words(&["assert", "HEAD~1", "--output-dir", &out, "--", "*.c"]);
    assert_eq!(status, Some(0), "{said}\n{err}");
    let copy = std::fs::read_to_string(folder.path().join("a.c")).unwrap();
    assert!(copy.contains("assert(invdiff_result == 1)"), "{copy}");
    let ran = super::kit::compile_and_run(&[("a.c".to_owned(), copy.clone())], &[], "");
    assert_eq!(ran.status, Some(0), "{copy}");
}

/// What is asserted comes too late behind what it guards: an abort became something undefined.
#[test]
fn an_assertion_behind_what_it_guards_is_too_late() {
    let division = |body: &str| format!("int f(int a, int b) {{ int r; {body} return r; }}\n");
    let (first, then) = ("assert(b != 0);", "r = a / b;");
    let guards = pair(&division(&format!("{first} {then}")), &division(&format!("{then} {first}")));
    assert_eq!(assertions(&guards), ["unchanged, goes on"]);
    let said = ["too late", "something undefined comes before it", "b = 0"];
    guards.says("check HEAD~1..HEAD", 0, &said, &["fixed", "1 kept"]);
    guards.says("diff --effort deep HEAD~1..HEAD", 0, &["no longer kept"], &["no semantic change"]);
    guards.says("diff HEAD~1..HEAD", 0, &["fails assert(b != 0)", "undefined"], &["no semantic change"]);
    let program = |body: &str| {
        format!(
            "#include <stdio.h>\nint main(void) {{ int a, b, r; if (scanf(\"%d %d\", &a, &b) != 2) return 1; {body} printf(\"%d\\n\", r); return 0; }}\n"
        )
    };
    let guards = pair(&program(&format!("{first} {then}")), &program(&format!("{then} {first}")));
    guards.says("diff --effort deep HEAD~1..HEAD", 0, &["no longer kept"], &["no semantic change"]);
    let helper = |body: &str| {
        format!(
            "static int div(int a, int b) {{ int r; {body} return r; }} int f(int a, int b) {{ return div(a, b - 3); }}\n"
        )
    };
    let guards = pair(&helper(&format!("{first} {then}")), &helper(&format!("{then} {first}")));
    guards.says("check HEAD~1..HEAD", 0, &["too late"], &["fixed"]);
    let pointer = |body: &str| format!("int f(const int *p) {{ int r; {body} return r; }}\n");
    let guards = pair(&pointer("assert(p); r = *p;"), &pointer("r = *p; assert(p);"));
    guards.says("diff --effort deep HEAD~1..HEAD", 0, &["no longer kept"], &["no semantic change"]);
    let aborts = "#include <stdlib.h>\n";
    let ends = |body: &str| format!("{aborts}int f(int a, int b) {{ {body} return a; }}\n");
    let guards =
        pair(&ends("if (b == 0) abort(); int u = 100 / b;"), &ends("int u = 100 / b; if (b == 0) abort();"));
    guards.says("check HEAD~1..HEAD", 0, &["too late", "abort() came before it"], &[]);
    guards.says("diff --effort deep HEAD~1..HEAD", 0, &["no longer kept"], &["no semantic change"]);
    // What has nothing to do with the assertion is not behind it.
    let apart = |body: &str| format!("int f(int x, const int *p) {{ int r; {body} return r; }}\n");
    let guards = pair(&apart("assert(x > 0); r = *p;"), &apart("r = *p; assert(x > 0);"));
    guards.says("check HEAD~1..HEAD", 0, &[], &["too late"]);
}

/// What `__LINE__` gives is part of what a function does where a branch goes by it.
#[test]
fn line_numbers_that_decide_are_compared() {
    let text = "static int line(void) { return __LINE__; }\nint f(int a) { assert(line() < 3); return a; }\n";
    let moved = pair(text, &format!("\n\n\n{text}"));
    moved.says("check HEAD~1..HEAD", 1, &["1 regression"], &["no function changed"]);
    moved.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
    // So it is in what gets them, and where they were kept.
    for text in [
        "static int f(int l, int x) { return l > 5 ? x : -x; }\n#define F(x) f(__LINE__, x)\nint g(int a) { return F(a); }\n",
        "struct e { int line; };\nvoid g(struct e *e) { e->line = __LINE__; if (e->line > 4) e->line = 0; }\n",
        "int g(int a) { return __builtin_LINE() > 2 ? a : 0; }\n",
    ] {
        let moved = pair(text, &format!("\n\n\n{text}"));
        moved.says("diff HEAD~1..HEAD", 0, &[], &["no semantic change"]);
        moved.says("condition HEAD~1..HEAD", 0, &[], &["no function differs"]);
    }
    // A place that is only printed is no matter.
    let logs = "void log_at(int line); static inline int here(void) { return __LINE__; }\n\
                int f(int a) { if (a > 2) log_at(here()); return a; }\n";
    let moved = pair(logs, &format!("\n\n\n{logs}"));
    moved.says("diff HEAD~1..HEAD", 0, &["no semantic change"], &[]);
}

/// An assertion of a function elsewhere is one that changed callers have to see to.
#[test]
fn assertions_of_callees_elsewhere_are_seen() {
    let callee = ("b.c", "#include <assert.h>\nint g(int x) { assert(x < 8); return x * 2; }\n");
    let caller = |mask: u32| format!("int g(int x);\nint f(int a) {{ return g(a & {mask}) + 1; }}\n");
    let (old, new) = (caller(7), caller(15));
    let pair = Pair::of(&[("a.c", &old), callee], &[("a.c", &new), callee]);
    pair.says("check HEAD~1..HEAD", 1, &["x < 8", "1 regression"], &[]);
    let (status, out, err) = pair.run("condition --exit-code HEAD~1..HEAD");
    assert_eq!(status, Some(1), "{out}\n{err}");
}

/// A result that the library never gives says nothing of what failed before.
#[test]
fn made_up_results_of_the_library_are_no_failures() {
    let copy = |n: u32| {
        format!(
            "#include <string.h>\nint f(int a) {{ char t[8] = {{0}}; char *e = memccpy(t, \"abcdefg\", 'a' + (a & 3), {n}); assert(e != 0); return e - t; }}\n"
        )
    };
    let pair_of = pair(&copy(4), &copy(3));
    pair_of.says("check HEAD~1..HEAD", 1, &["1 regression"], &["broken before"]);
    let day = |k: u32| {
        format!(
            "#include <time.h>\nint f(int a) {{ time_t t = (a & 7) * 86400L; struct tm *m = localtime(&t); assert(m->tm_mday < {k}); return m->tm_year; }}\n"
        )
    };
    pair(&day(10), &day(8)).says("check HEAD~1..HEAD", 0, &[], &["broken before"]);
}
