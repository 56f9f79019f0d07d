//! What is known of calls: recursion, callees that are too large to inline, callers.

use git_invdiff::analysis::{Effort, Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{ChangeVerdict, Report, Status};

fn analyse(versions: &[&str], options: Options) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", *v)]).collect();
    diff(&memory::request(&files, c::Options::default(), options))
}

/// The facts of one version of a function that are proved without any assumption.
fn proved(source: &str, function: &str) -> Vec<String> {
    let report = analyse(&[source], Options { whole: true, all: true, ..Options::default() });
    let points = report.functions.iter().filter(|f| f.name == function).flat_map(|f| &f.points);
    let facts = points.flat_map(|p| &p.version_invariants);
    let sure = facts.filter(|f| f.status.get(&1) == Some(&Status::Proved) && f.assumptions.is_empty());
    sure.map(|f| f.text.clone()).collect()
}

/// `holds` are among the proved facts of `f`, and none of `fails` is.
#[track_caller]
fn check(source: &str, holds: &[&str], fails: &[&str]) {
    let found = proved(source, "f");
    for fact in holds {
        assert!(found.iter().any(|f| f == fact), "{fact} is missing: {found:#?}\n{source}");
    }
    for fact in fails {
        assert!(!found.iter().any(|f| f == fact), "{fact} does not hold: {found:#?}\n{source}");
    }
}

#[test]
fn a_recursion_keeps_what_its_inner_calls_keep() {
    let gcd = "unsigned f(unsigned a, unsigned b) { if (b == 0) return a; return f(b, a % b); }";
    check(
        gcd,
        &[
            "b != 0 ==> \\result <= b",
            "b != 0 ==> \\result >= 1",
            "a != 0 ==> \\result >= 1",
            "a == 0 ==> \\result == b",
        ],
        &["\\result >= 1", "a != 0 ==> \\result <= a", "\\result <= b"],
    );
    let same = "unsigned f(unsigned n) { if (n == 0) return 0; return f(n - 1) + 1; }";
    check(same, &["\\result == n"], &[]);
    let less = "unsigned f(unsigned n) { if (n <= 1) return 0; return f(n - 2) + 1; }";
    check(less, &["\\result <= n"], &["\\result == n", "n != 0 ==> \\result >= 1"]);
    let factorial = "unsigned f(unsigned n) { return n == 0 ? 1 : n * f(n - 1); }";
    check(factorial, &["n == 4 ==> \\result == 24"], &["\\result >= 1", "n != 0 ==> \\result >= 1"]);
}

/// Numbers wrap: what holds of all calls that anybody will ever make may still not hold of all.
#[test]
fn a_recursion_that_counts_may_wrap() {
    let count = "struct n { struct n *next; };\n\
                 int f(struct n *p) { if (!p) return 0; return 1 + f(p->next); }";
    check(count, &["p == NULL ==> \\result == 0"], &["\\result >= 0", "p != NULL ==> \\result >= 1"]);
}

/// A call that never returns guarantees everything, but only behind it.
#[test]
fn a_call_that_never_returns_says_nothing_of_what_comes_before() {
    let source = "int g(int n) { if (n == 7) return g(n); return 1; }\n\
                  int f(int n, int k) { if (k == 3) return n; if (n == 7) return g(n); return 9; }";
    check(source, &[], &["n != 7", "\\result == 9", "n == 7 ==> \\result == 9"]);
}

#[test]
fn functions_that_call_each_other_are_one_recursion() {
    let source = "static int odd(unsigned n);\n\
                  int f(unsigned n) { if (n == 0) return 1; return odd(n - 1); }\n\
                  static int odd(unsigned n) { if (n == 0) return 0; return f(n - 1); }";
    check(source, &["\\result == 0 || \\result == 1", "n == 2 ==> \\result == 1"], &["\\result == 1"]);
}

/// A function too large to be inlined.
fn large(first: &str, last: &str) -> String {
    let body = "x = x * 3 + n; ".repeat(60);
    format!("static int g(int n)\n{{\nint x = n;\n{first}\n{body}\n{last}\n}}\n")
}

#[test]
fn callers_know_what_a_large_callee_returns() {
    let g = large("if (n < 0) return -1;", "return x < 0 ? 0 : 1;");
    let f = format!("{g}int f(int n) {{ return g(n) + 1; }}");
    check(&f, &["\\result == 0 || \\result == 1 || \\result == 2"], &["\\result == 0 || \\result == 1"]);
    let null = large("", "return x & 1;").replace("static int g", "static int h");
    let f = format!("{null}int f(int n) {{ if (h(n) > 1) return 5; return 6; }}");
    check(&f, &["\\result == 6"], &[]);
    // The branch is open where the callee may return more.
    let more = large("", "return x & 3;").replace("static int g", "static int h");
    let f = format!("{more}int f(int n) {{ if (h(n) > 1) return 5; return 6; }}");
    check(&f, &[], &["\\result == 6"]);
}

/// A loop that stops when a callee says so.
#[test]
fn loops_know_what_their_calls_return() {
    let g = large("", "return x & 1;");
    let f =
        format!("{g}int f(int n) {{ int s = 0; while (n != 0 && s < 100) {{ s += g(n); n--; }} return s; }}");
    check(&f, &["\\result >= 0"], &["\\result <= 99"]);
}

/// The proved facts of `f` that rest on what its callers see to, with that.
fn because_of_callers(source: &str) -> Vec<String> {
    let report = analyse(&[source], Options { whole: true, all: true, ..Options::default() });
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let facts = points.flat_map(|p| &p.version_invariants);
    let rests = facts.filter(|f| f.assumptions.iter().any(|a| a.starts_with("callers(")));
    rests.map(|f| format!("{} if {}", f.text, f.assumptions.join(", "))).collect()
}

const ELEMENT: &str = "static int f(const int *p, int i, int n)\n\
     { if (!p) return -5; if (i < 0) return -1; if (i >= n) return -2; return p[i] & 7; }\n";
const SUM: &str = "int sum(const int *p, int n)\n\
     { int t = 0; if (!p) return 0; for (int i = 0; i < n; i++) t += f(p, i, n); return t; }\n";

#[test]
fn all_callers_of_a_static_function_see_to_its_arguments() {
    let found = because_of_callers(&format!("{ELEMENT}{SUM}"));
    assert_eq!(found, ["\\result >= 0 if callers(i < n), callers(i >= 0), callers(p != NULL)"]);
    // A recursion hands on what it was given.
    let fall = "static int f(int n) { if (n < 0) return -9; if (n == 0) return 1; return (n * f(n - 1)) & 255; }\n\
                int use(int n) { return n < 3 ? 0 : f(n); }";
    assert_eq!(because_of_callers(fall), ["\\result >= 0 if callers(n >= 0)"]);
}

/// Callers that are not seen, or that see to less.
#[test]
fn other_callers_leave_arguments_open() {
    for more in [
        "int other(const int *p, int n) { return f(p, n - 1, n); }",
        "int other(const int *p, int n) { if (!p) return 0; return f(p, n, n); }",
        "int (*leak)(const int *, int, int) = f;",
        "int (*leak(void))(const int *, int, int) { return f; }",
        "void other(void) { __asm__(\"call f\"); }",
    ] {
        let found = because_of_callers(&format!("{ELEMENT}{SUM}{more}"));
        assert!(!found.iter().any(|f| f.starts_with("\\result >= 0")), "{more}: {found:?}");
    }
    let visible = ELEMENT.replace("static ", "");
    assert_eq!(because_of_callers(&format!("{visible}{SUM}")), [""; 0]);
    // A recursion that does not hand it on.
    let fall = "static int f(int n) { if (n < 0) return -9; if (n == 0) return 1; return (n * f(n - 2)) & 255; }\n\
                int use(int n) { return n < 3 ? 0 : f(n); }";
    assert_eq!(because_of_callers(fall), [""; 0]);
}

const TWO: &str = "static int inc(int x) { return x + 1; }\nstatic int dec(int x) { return x - 1; }\n";

/// Pointers that can only lead to functions that are seen.
#[test]
fn calls_through_known_pointers_are_calls_of_functions() {
    for (source, fact) in [
        (
            "static int (*const ops[])(int) = { inc, dec };\nint f(int x) { return ops[1](x); }",
            "\\result == x - 1",
        ),
        (
            "struct op { const char *name; int (*run)(int); };\nstatic const struct op ops[] = { {\"i\", inc}, {\"d\", dec} };\n\
             int f(int i, int x) { return ops[i].run(x); }",
            "\\result == (ops[i].run == dec ? x - 1 : x + 1)",
        ),
        (
            "static int (*hook)(int);\nvoid set(void) { hook = inc; }\nint f(int x) { return hook(x); }",
            "\\result == x + 1",
        ),
        (
            "static int apply(int (*p)(int), int x) { return p(x); }\nint f(int x) { return apply(dec, x); }",
            "\\result == x - 1",
        ),
    ] {
        check(&format!("{TWO}{source}"), &[fact], &[]);
    }
}

/// Pointers that others may set, or that something unknown may.
#[test]
fn calls_through_other_pointers_stay_open() {
    for source in [
        "int (*hook)(int) = inc;\nint f(int x) { return hook(x); }",
        "static int (*hook)(int) = inc;\nvoid take(int (**)(int));\nint f(int x) { take(&hook); return hook(x); }",
        "static int (*hook)(int) = inc;\nvoid set(int (*p)(int)) { hook = p; }\nint f(int x) { return hook(x); }",
        "static int (*hooks[])(int) = { inc };\nvoid set(int i, int (*p)(int)) { hooks[i] = p; }\nint f(int x) { return hooks[0](x); }",
        "#include <string.h>\nstatic int (*hook)(int) = inc;\nvoid set(void *p) { memcpy(&hook, p, sizeof hook); }\n\
         int f(int x) { return hook(x); }",
        "static int (*hook)(int) = inc;\nvoid set(void) { __asm__(\"nop\"); }\nint f(int x) { return hook(x); }",
        "extern int (*const hook)(int);\nint f(int x) { return (x ? inc : hook)(x); }",
        "int f(int (*p)(int), int x) { return p(x); }",
    ] {
        check(&format!("{TWO}{source}"), &[], &["\\result == x + 1", "\\result == x - 1", "\\result != x"]);
    }
}

/// Who sets a pointer is a cause of what a call through it does.
#[test]
fn another_target_of_a_pointer_changes_its_callers() {
    let source = |to: &str| {
        format!("{TWO}static int (*hook)(int) = {to};\nint f(int x)\n{{\n    return hook(x);\n}}\n")
    };
    let report = analyse(&[&source("inc"), &source("dec")], Options::default());
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let facts: Vec<String> =
        points.flat_map(|p| &p.churns).flat_map(|c| &c.added).map(|f| f.text.clone()).collect();
    assert_eq!(facts, ["\\result == x - 1"]);
}

fn churns(report: &Report, function: &str) -> Vec<String> {
    let f = report.functions.iter().filter(|f| f.name == function);
    let churns = f.flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let causes = |c: &git_invdiff::report::Churn| {
        c.causes.added.iter().map(|l| format!(" {}:{}", l.file, l.line)).collect::<String>()
    };
    churns.filter(|c| c.observable).map(|c| format!("{}{}", c.through.join(","), causes(c))).collect()
}

#[test]
fn a_change_of_a_callee_is_a_cause_in_its_callers() {
    // A recursion that is called.
    let source = |base: &str| {
        format!(
            "static unsigned g(unsigned n)\n{{\n    if (n == 0)\n        return {base};\n    return g(n - 1) + 1;\n}}\n\
             unsigned f(unsigned n)\n{{\n    return g(n);\n}}\n"
        )
    };
    let report = analyse(&[&source("0"), &source("1")], Options::default());
    let found = churns(&report, "f");
    assert!(found.iter().any(|c| c == "a.c:g a.c:4"), "{found:?}");
    // A large one.
    let source = |k: &str| {
        format!("{}int f(int n)\n{{\n    return g(n);\n}}\n", large("", &format!("return x & {k};")))
    };
    let report = analyse(&[&source("1"), &source("3")], Options::default());
    let found = churns(&report, "f");
    assert!(found.iter().any(|c| c == "a.c:g a.c:6"), "{found:?}");
}

/// What changes of the calls that `f` makes of functions that nobody defines, as `- old` and `+ new`.
#[track_caller]
fn check_call_churns(old: &str, new: &str, expected: &[&str]) {
    let unknown = "#include <stdio.h>\nvoid sink(int a, int b); void other(void); int use(char *p);\n";
    let (old, new) = (format!("{unknown}{old}"), format!("{unknown}{new}"));
    let report = analyse(&[&old, &new], Options::default());
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let churns: Vec<_> = points.flat_map(|p| &p.churns).filter(|c| c.subject == "calls").collect();
    assert!(churns.iter().all(|c| c.witness.is_some() && c.observable), "{churns:#?}");
    let removed = churns.iter().flat_map(|c| &c.removed).map(|f| format!("- {}", f.text));
    let added = churns.iter().flat_map(|c| &c.added).map(|f| format!("+ {}", f.text));
    assert_eq!(removed.chain(added).collect::<Vec<_>>(), expected, "{old}\n{new}");
}

#[test]
fn other_calls_of_what_nobody_defines_are_churns() {
    let f = |body: &str| format!("int f(int a, int b) {{ {body} return 0; }}");
    check_call_churns(
        &f("if (a > 3) sink(a, b);"),
        &f("if (a > 3) sink(a, b + 1);"),
        &["- a > 3 ==> calls sink(a, b)", "+ a > 3 ==> calls sink(a, b + 1)"],
    );
    // The call under the stronger condition is still made.
    check_call_churns(
        &f("if (a > 3) sink(a, b);"),
        &f("if (a > 0) sink(a, b);"),
        &["+ a > 0 ==> calls sink(a, b)"],
    );
    check_call_churns(&f("sink(a, b); other();"), &f("sink(a, b);"), &["- calls other()"]);
    check_call_churns(&f("other(); sink(a, b);"), &f("sink(a, b); other();"), &[]);
    check_call_churns(&f("sink(a, a + b - a);"), &f("sink(a, b);"), &[]);
    check_call_churns(
        "FILE *f(const char *p) { return fopen(p, \"wb\"); }",
        "FILE *f(const char *p) { return fopen(p, \"rb\"); }",
        &["- calls fopen(p, \"wb\")", "+ calls fopen(p, \"rb\")"],
    );
}

/// A literal is no null pointer: what is called if it were is no fact.
#[test]
fn calls_that_are_never_made_are_not_told() {
    let source = "void sink(int a); static void g(const char *s, int a) { if (s) sink(a); else sink(a + 1); }\n\
                  int f(int a) { g(\"\", a); return 0; }";
    check(
        source,
        &["calls sink(a)"],
        &["\"\" != NULL ==> calls sink(a)", "\"\" == NULL ==> calls sink(a + 1)"],
    );
}

/// A line above moves what `__LINE__` gives; that is no change of what is called.
#[test]
fn lines_of_calls_are_no_churns() {
    let version = |first: &str, last: &str| {
        format!(
            "#define LOG(n) sink(n, (unsigned short)__LINE__)\n\
             int f(int a) {{ {first}LOG(1); if (a > 3) LOG(a); {last} return 0; }}"
        )
    };
    check_call_churns(
        &version("", "use(0);"),
        &version("\n", "other();"),
        &["- calls use(0)", "+ calls other()"],
    );
    check(
        "void sink(int, int); int f(int a) { sink(a, __LINE__); return 0; }",
        &["calls sink(a, __LINE__)"],
        &[],
    );
}

/// The same of literals that hold such a number.
#[test]
fn lines_in_literals_are_no_changes() {
    let version = |first: &str, second: &str, guard: &str| {
        format!(
            "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n\
             #define FAIL(n) do {{ where = __FILE__ \":\" TEXT(__LINE__); report(n, where); return n; }} while (0)\n\
             void report(int, const char *); void act(int); const char *where;\n\
             int f(int a) {{ {first}{guard} if (a > 3) FAIL(1); act(a); return 0; }}\n\
             {second}int g(int a) {{ if (a > 4) FAIL(2); return 0; }}"
        )
    };
    let told = |new: &str| {
        let report =
            analyse(&[&version("", "", ""), new], Options { effort: Effort::Deep, ..Options::default() });
        let changes = |f: &git_invdiff::report::FunctionReport| (f.name.clone(), f.changes.len());
        let points = report.functions.iter().flat_map(|f| &f.points);
        let facts = points.flat_map(|p| &p.churns).flat_map(|c| c.removed.iter().chain(&c.added));
        let churns: Vec<String> = facts.map(|f| f.text.clone()).collect();
        (report.functions.iter().map(changes).filter(|(_, n)| *n > 0).collect::<Vec<_>>(), churns)
    };
    for moved in [version("\n", "", ""), version("", "\n\n", ""), version("\n", "\n", "")] {
        assert_eq!(told(&moved), (vec![], vec![]), "{moved}");
    }
    let (changes, churns) = told(&version("\n", "", "if (a == 7) return 5;"));
    assert_eq!(changes, [("f".to_owned(), 1)]);
    assert!(!churns.is_empty() && churns.iter().all(|c| !c.contains("a.c:")), "{churns:?}");
}

/// Where objects of a version lie is no difference, and a call of what is defined is none by itself.
#[test]
fn calls_that_nobody_can_tell_apart_are_no_churns() {
    check_call_churns(
        "int f(void) { char b[8] = \"x\"; return use(b); }",
        "int f(void) { char c[8] = \"x\"; return use(c); }",
        &[],
    );
    let known = "static int g; static __attribute__((noinline)) void known(int a) { g = 1; }\n";
    check_call_churns(
        &format!("{known}int f(int a) {{ known(a); return g; }}"),
        &format!("{known}int f(int a) {{ known(a + 1); return g; }}"),
        &[],
    );
}

/// What a callee in another file gets from functions that nobody defines is of types of that file, whose records
/// mean nothing in the caller's.
#[test]
fn records_of_other_files_are_no_numbers_of_this_one() {
    let unused: String = (0..30).map(|k| format!("struct s{k} {{ int a; }};\n")).collect();
    let b = format!(
        "{unused}struct big {{ int v; }};\nstruct big *make(void);\nint g(void) {{ struct big *p = make(); return p ? p->v : 7; }}\n"
    );
    let a = |k: u32| format!("int g(void);\nint f(int x) {{ return g() * x + {k}; }}\n");
    let versions = [a(1), a(2)].map(|a| [("a.c".to_owned(), a), ("b.c".to_owned(), b.clone())]);
    let files: Vec<Vec<(&str, &str)>> =
        versions.iter().map(|v| v.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect()).collect();
    let options = Options { whole: true, ..Options::default() };
    let report = diff(&memory::request(&files, c::Options::default(), options));
    assert!(report.functions.iter().any(|f| f.name == "f"), "{report:?}");
    assert!(!format!("{report:?}").contains("internal error"), "{report:?}");
}

const PAIR: &str = "struct p { int a; long b; };\n\
    static struct p made(int a, long b) { struct p x; x.a = a; x.b = b; return x; }\n\
    static int sum(struct p x) { x.a += 2; return x.a; }\n";

#[test]
fn structures_are_passed_and_returned_by_value() {
    // The parameter is a copy: what the callee writes to it nobody else sees.
    let first = format!("{PAIR}int f(int n) {{ struct p o = made(n & 255, 3); return sum(o) - o.a; }}");
    check(&first, &["\\result == 2"], &["\\result == 0"]);
    let second =
        format!("{PAIR}long f(long n) {{ struct p o = made(1, n), q = o; q = made(2, 5); return o.b; }}");
    check(&second, &["\\result == n"], &["\\result == 5"]);
    // In place: the result is written where the argument stands, which is a copy, too.
    let onto =
        "static struct p turned(struct p x) { struct p y; y.a = (int)(x.b & 7); y.b = x.a; return y; }\n";
    let third =
        format!("{PAIR}{onto}long f(int n) {{ struct p o = made(n, 4); o = turned(o); return o.b; }}");
    check(&third, &["\\result == n"], &["\\result == 4"]);
    // Not every way returns one.
    let some = "static struct p some(int n) { struct p y = {{1, 2}}; if (n) return y; }\n"
        .replace("{{", "{")
        .replace("}}", "}");
    check(&format!("{PAIR}{some}int f(int n) {{ return some(n).a; }}"), &[], &["\\result == 1"]);
}

#[test]
fn a_helper_that_takes_structures_is_what_it_was_written_out() {
    let versions = [
        format!(
            "{PAIR}int f(long y, long z) {{ struct p a = made(1, y), b = made(2, z); if (sum(a) == sum(b)) return 1; return 0; }}"
        ),
        format!(
            "{PAIR}static int same(struct p a, struct p b) {{ return sum(a) == sum(b); }}\n\
             int f(long y, long z) {{ struct p a = made(1, y), b = made(2, z); if (same(a, b)) return 1; return 0; }}"
        ),
    ];
    for effort in [Effort::Normal, Effort::Deep] {
        let report = analyse(&[&versions[0], &versions[1]], Options { effort, ..Options::default() });
        let told: Vec<_> =
            report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.changes).collect();
        assert!(told.iter().all(|c| c.verdict == ChangeVerdict::Neutral), "{effort:?} {told:#?}");
        assert!(
            report.functions.iter().flat_map(|f| &f.points).all(|p| p.undecided.is_empty()),
            "{effort:?}"
        );
    }
}
