//! Pairs of small programs with what is to be said of them.

use super::*;
use crate::frontend::{self, c};
use crate::history::MemoryTree;
use crate::interp::Program;
use std::path::Path;
use std::sync::Arc;

fn program(source: &str) -> Program {
    let tree = MemoryTree::new([("a.c", source)]);
    let unit = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).unwrap().unit;
    Program::new(vec![Arc::new(unit)])
}

/// Compares `f` of two versions.
fn of(old: &str, new: &str, detector: Detector, concerns: Concerns) -> Graph {
    let header = "#include <assert.h>\n#include <stdlib.h>\nint nondet(void);\nextern int __VERIFIER_nondet_int(void);\n";
    let (old, new) = (program(&format!("{header}{old}")), program(&format!("{header}{new}")));
    let version = |program| Version { program, function: "f" };
    compare(version(&old), version(&new), detector, concerns)
}

#[track_caller]
fn check(old: &str, new: &str, harmless: bool) {
    let graph = of(old, new, Detector::DiffDp, Concerns::default());
    assert_eq!(graph.is_harmless(), harmless, "{old}\n{new}\n{graph:#?}");
}

#[test]
fn the_papers_example_is_harmless_for_diffdp_and_changed_everywhere_for_diffcond() {
    let text = |first: &str| {
        format!("int f(int x) {{ int r; r = {first}; if (x > 0) {{ r = -x; assert(r < 0); }} return r; }}")
    };
    check(&text("-x"), &text("x"), true);
    let syntactic = of(&text("-x"), &text("x"), Detector::DiffCond, Concerns::default());
    assert!(!syntactic.is_harmless());
    assert!(syntactic.condition().accepting.is_empty(), "{syntactic:#?}");
}

#[test]
fn equal_programs_are_harmless() {
    let text = "int g; static int h(int *p) { while (*p > 0) { --*p; g++; } return g; }\n\
                int f(int x) { int y = h(&x); assert(y + x > 3); return y; }";
    check(text, text, true);
    assert!(of(text, text, Detector::DiffCond, Concerns::default()).is_harmless());
}

#[test]
fn constants_that_reach_an_assertion_are_found() {
    let plain = |c: i32| format!("int f(int x) {{ int y = {c}; if (x) x = 1; assert(x < y); return 0; }}");
    check(&plain(2), &plain(1), false);
    // Only 0 and 1 get there.
    check(&plain(1), &plain(2), true);
    let memory =
        |c: i32| format!("int g; int f(int x) {{ int *p = &g; *p = {c}; assert(x < g); return 0; }}");
    check(&memory(1), &memory(2), false);
    let array = |c: i32| {
        format!("int f(unsigned i) {{ int a[4] = {{0}}; a[i & 3] = {c}; assert(a[2] == 0); return 0; }}")
    };
    check(&array(0), &array(2), false);
    let by_loop = |c: i32| {
        format!(
            "int f(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += {c}; assert(s != 3); return s; }}"
        )
    };
    check(&by_loop(2), &by_loop(3), false);
    let by_call = |c: i32| {
        format!(
            "static int k(int x) {{ return x + {c}; }} int f(int x) {{ int y = k(x); assert(y); return y; }}"
        )
    };
    check(&by_call(1), &by_call(2), false);
    let by_argument =
        |c: i32| format!("static void k(int x) {{ assert(x != 2); }} int f(void) {{ k({c}); return 0; }}");
    check(&by_argument(1), &by_argument(2), false);
    let by_global = |c: i32| {
        format!("int g; static void k(void) {{ g = {c}; }} int f(void) {{ k(); assert(!g); return 0; }}")
    };
    check(&by_global(0), &by_global(2), false);
    let by_pointer = |c: i32| {
        format!("static void k(int *p) {{ *p = {c}; }} int f(int x) {{ k(&x); assert(x != 2); return 0; }}")
    };
    check(&by_pointer(1), &by_pointer(2), false);
    let by_table = |c: i32| {
        format!(
            "static const int t[2] = {{ 1, {c} }}; int f(unsigned i) {{ assert(t[i & 1] == 1); return 0; }}"
        )
    };
    check(&by_table(1), &by_table(2), false);
    let by_struct = |c: i32| {
        format!(
            "struct s {{ int a, b; }}; static struct s k(void) {{ struct s r = {{ {c}, 1 }}; return r; }}\n\
             int f(void) {{ struct s v = k(); assert(v.a == 1); return 0; }}"
        )
    };
    check(&by_struct(1), &by_struct(2), false);
    check(&by_struct(1), &by_struct(1), true);
}

#[test]
fn what_no_assertion_depends_on_is_harmless() {
    let other = |c: i32| {
        format!(
            "int g, h; int f(int x) {{ int y = {c}; g = y * 2; if (x > 3) h = y; assert(x != 7); return y; }}"
        )
    };
    check(&other(1), &other(2), true);
    let member = |c: i32| {
        format!(
            "struct s {{ int a, b; }} v; int f(int x) {{ v.b = {c}; v.a = x; assert(v.a != 7); return v.b; }}"
        )
    };
    check(&member(1), &member(2), true);
    let element =
        |c: i32| format!("int a[4]; int f(int x) {{ a[0] = {c}; a[1] = x; assert(a[1] != 7); return 0; }}");
    check(&element(1), &element(2), true);
    let sum = |e: &str| {
        format!("int f(int n) {{ int s = 0, i; for (i = 0; i < n; i++) s += {e}; assert(i > 0); return s; }}")
    };
    check(&sum("i"), &sum("2 * i"), true);
    let callee = |c: i32| {
        format!(
            "static int k(int x) {{ return x > 2 ? x : {c}; }} int f(int x) {{ int y = k(x); assert(x); return y; }}"
        )
    };
    check(&callee(1), &callee(2), true);
    check(
        "int f(int x) { if (x > 2) return 3; assert(x != 1); return 0; }",
        "int f(int n) { if (n > 2) return 4; assert(n != 1); return 0; }",
        true,
    );
}

#[test]
fn guards_may_become_stronger_but_not_weaker() {
    let guarded = |g: &str| format!("int f(int x) {{ if ({g}) assert(x != 7); return 0; }}");
    check(&guarded("x > 3"), &guarded("x > 5"), true);
    check(&guarded("x > 5"), &guarded("x > 3"), false);
    check(&guarded("x > 5"), &guarded("1"), false);
    check(&guarded("x > 5"), &guarded("x > 5 && x < 9"), true);
    check(&guarded("x > 5 && x < 9"), &guarded("x > 5"), false);
    check(&guarded("x > 5"), &guarded("x >= 6"), true);
    check(
        "int f(int x) { if (x < 0) return 1; assert(x != -3); return 0; }",
        "int f(int x) { assert(x != -3); return 0; }",
        false,
    );
    let asserted = |a: &str| format!("int f(int x) {{ assert({a}); return 0; }}");
    check(&asserted("x < 3"), &asserted("x < 5"), true);
    check(&asserted("x < 5"), &asserted("x < 3"), false);
    check(&asserted("1"), &asserted("x"), false);
    check(&asserted("x"), "int f(int x) { return 0; }", true);
    let floats =
        |c: &str| format!("int f(float x) {{ if (!(x > {c})) return 0; assert(x < 1.0f); return 0; }}");
    check(&floats("0.25f"), &floats("0.5f"), true);
    check(&floats("0.5f"), &floats("0.25f"), false);
}

#[test]
fn branches_that_only_assign_are_gone_around() {
    let counted = |g: &str| {
        format!("int n; int f(int x, int y) {{ if ({g}) n++; y = x + 1; assert(y != 7); return n; }}")
    };
    check(&counted("y > 3"), &counted("y > 4"), true);
    check(&counted("y > 3"), &counted("nondet()"), false);
    let used = |g: &str| format!("int f(int x, int y) {{ if ({g}) x++; assert(x != 7); return 0; }}");
    check(&used("y > 3"), &used("y > 4"), false);
    check(
        "int f(int x) { assert(x != 7); return 0; }",
        "int n; int f(int x) { if (x > 4) n = 2; else n = 3; assert(x != 7); return 0; }",
        true,
    );
    check(
        "int n; int f(int x) { if (x > 4) n = 2; else n = 3; assert(x != 7); return 0; }",
        "int n; int f(int x) { assert(x != 7); return 0; }",
        true,
    );
    // What is left out may not have ended, or have ended the program.
    check(
        "int n; int f(int x) { while (x > n) n *= 2; assert(x != 7); return 0; }",
        "int n; int f(int x) { assert(x != 7); return 0; }",
        false,
    );
    check(
        "int f(int x) { if (x == 7) exit(1); assert(x != 7); return 0; }",
        "int f(int x) { assert(x != 7); return 0; }",
        false,
    );
    check("int f(int x) { for (;;) ; }", "int f(int x) { assert(x); return 0; }", false);
    check(
        "int nondet(void); int f(int x) { nondet(); assert(x != 7); return 0; }",
        "int nondet(void); int f(int x) { assert(x != 7); return 0; }",
        false,
    );
}

#[test]
fn inputs_are_taken_in_order() {
    let reads = |first: &str| {
        format!("int f(void) {{ {first} int x = __VERIFIER_nondet_int(); assert(x); return 0; }}")
    };
    check(&reads(""), &reads("__VERIFIER_nondet_int();"), false);
    check(&reads("int g = 1;"), &reads("int g = 2;"), true);
    let read = |first: &str| {
        format!("#include <stdio.h>\nint f(void) {{ {first} int x = getchar(); assert(x != 7); return 0; }}")
    };
    check(&read(""), &read("getchar();"), false);
    check(&read("printf(\"a\");"), &read("printf(\"b\");"), true);
    check(&read(""), &read("puts(\"b\");"), true);
    let random = |first: &str| format!("int f(void) {{ {first} int x = rand(); assert(x != 7); return 0; }}");
    check(&random(""), &random("rand();"), false);
}

#[test]
fn pointers_lead_where_others_have_set_them() {
    let stored = |c: i32| {
        format!(
            "static int count; static int *p; void set(void) {{ p = &count; }}\n\
             int f(int x) {{ *p = {c}; assert(count != 2); return x; }}"
        )
    };
    check(&stored(1), &stored(2), false);
    let parsed = |c: char| {
        format!(
            "int f(int x) {{ char text[4] = \"1{c}\"; char *end; strtol(text, &end, 10); assert(*end != 'b'); return x; }}"
        )
    };
    let with_header = |c| format!("#include <string.h>\n{}", parsed(c));
    check(&with_header('a'), &with_header('b'), false);
    let called = |c: i32| {
        format!(
            "int other(int x) {{ return x < {c}; }} int f(int (*p)(int), int x) {{ int y = p(x); assert(y); return y; }}"
        )
    };
    check(&called(1), &called(2), false);
    check(&called(1), &called(1), true);
}

#[test]
fn functions_of_one_name_may_have_changed_below() {
    let nested = |c: i32| {
        format!(
            "static int j(int x) {{ return x < {c}; }} static int k(int x) {{ return j(x); }}\n\
             int f(int x) {{ if (k(x)) return 0; assert(x != 7); return 0; }}"
        )
    };
    check(&nested(9), &nested(5), false);
    check(&nested(5), &nested(5), true);
    let recursive = |c: i32| {
        format!(
            "static int k(int x) {{ return x < {c} ? 0 : 1 + k(x - 1); }}\n\
             int f(int x) {{ int y = k(x); assert(y != 7); return 0; }}"
        )
    };
    check(&recursive(1), &recursive(2), false);
    check(&recursive(1), &recursive(1), true);
    let pointer = |c: i32| {
        format!(
            "static int k(int x) {{ return x < {c}; }} int (*p)(int) = k;\n\
             int f(int x) {{ int y = p(x); assert(y); return 0; }}"
        )
    };
    check(&pointer(1), &pointer(2), false);
    check(&pointer(1), &pointer(1), true);
}

#[test]
fn the_library_may_call_back_and_handlers_are_beyond_this() {
    let sort = |call: &str| {
        format!(
            "static int less(const void *a, const void *b) {{ assert(*(int *)a != 7); return 0; }}\n\
             int a[4]; int f(int x) {{ a[x & 3] = x; {call} return 0; }}"
        )
    };
    let sorted = sort("qsort(a, 4, sizeof a[0], less);");
    check(&sort(""), &sorted, false);
    check(&sorted, &sorted, true);
    let handled = |c: i32| {
        format!(
            "int g; static void h(void) {{ assert(g != 2); }} int f(void) {{ g = {c}; atexit(h); return 0; }}"
        )
    };
    check(&handled(1), &handled(2), false);
}

#[test]
fn code_may_move_into_functions_and_out_of_them() {
    check(
        "int f(int x) { int y = x + 1; assert(x > 3); return y; }",
        "static void k(int x) { assert(x > 3); } int f(int x) { int y = x + 2; k(x); return y; }",
        true,
    );
    check(
        "int f(int x) { int y = x + 1; assert(x > 3); return y; }",
        "static void k(int x) { assert(x > 3); } int f(int x) { int y = x + 2; k(y); return y; }",
        false,
    );
    check(
        "static void k(int x) { assert(x > 3); } int f(int x) { k(x); return 1; }",
        "static void k(int x) { assert(x > 3); } static void w(int x) { k(x); } int f(int x) { w(x); return 2; }",
        true,
    );
}

#[test]
fn a_violation_that_was_there_is_not_new() {
    check("int f(int x) { int y = 1; assert(0); return y; }", "int f(int x) { assert(x); return 2; }", true);
    check("int f(int x) { assert(x); return 2; }", "int f(int x) { assert(0); return 2; }", false);
}

#[test]
fn abort_is_a_violation_where_it_is_said_so() {
    let text = |c: i32| format!("int f(int x) {{ if (x < {c}) abort(); return 0; }}");
    let aborts = Concerns { aborts: true, ..Concerns::default() };
    assert!(of(&text(2), &text(3), Detector::DiffDp, Concerns::default()).is_harmless());
    assert!(!of(&text(2), &text(3), Detector::DiffDp, aborts).is_harmless());
    assert!(of(&text(3), &text(2), Detector::DiffDp, aborts).is_harmless());
}

#[test]
fn undefined_behaviour_is_a_violation_where_it_is_said_so() {
    let undefined = Concerns { undefined: true, ..Concerns::default() };
    let harmless = |old: &str, new: &str| of(old, new, Detector::DiffDp, undefined).is_harmless();
    let divides = |e: &str| format!("int g; int f(unsigned x) {{ g = {e}; return 0; }}");
    assert!(harmless(&divides("100 / x"), &divides("x / 100")));
    assert!(!harmless(&divides("x / 100"), &divides("100 / x")));
    assert!(!harmless(&divides("100 / x"), &divides("100 / (x - 1)")));
    assert!(!harmless("int f(void) { int x = 1; return x; }", "int f(void) { int x; return x; }"));
    assert!(harmless("int f(void) { int x; return x; }", "int f(void) { int x = 1; return x; }"));
    let moved = |e: &str| format!("int f(int *p, int x) {{ int y = {e}; return *p; }}");
    assert!(harmless(&moved("1"), &moved("2")));
    assert!(!harmless(&moved("1"), &moved("x + 1")));
    // A value that is none is copied without harm, and widened with it.
    let copied = |to: &str| {
        format!("int g; long h; int f(unsigned k) {{ int w[4]; w[0] = 1; {to} = w[k & 3]; return 0; }}")
    };
    assert!(!of(&copied("g"), &copied("h"), Detector::DiffDp, undefined).is_harmless());
    assert!(of(&copied("h"), &copied("h"), Detector::DiffDp, undefined).is_harmless());
}

#[test]
fn stronger_conditions_on_two_variables_bring_nothing_new() {
    let guarded = |c: &str| format!("int f(int x, int y) {{ if ({c}) assert(x != 7); return 0; }}");
    check(&guarded("x <= y"), &guarded("x < y"), true);
    check(&guarded("x < y"), &guarded("x <= y"), false);
    check(&guarded("x != y"), &guarded("x > y"), true);
    check(&guarded("x > y"), &guarded("x != y"), false);
    check(&guarded("x <= y"), &guarded("y == x"), true);
    check(&guarded("x <= y"), &guarded("(unsigned)x < (unsigned)y"), false);
    let floats = |c: &str| format!("int f(double x, double y) {{ if ({c}) assert(x != 7); return 0; }}");
    check(&floats("x <= y"), &floats("x < y"), true);
    // What is not smaller may be no number.
    check(&floats("x >= y"), &floats("!(x < y)"), false);
    check(&floats("!(x < y)"), &floats("x > y"), true);
}

#[test]
fn linear_conditions_imply_each_other_where_nothing_wraps() {
    let guarded =
        |of: &str, c: &str| format!("int f({of} x, {of} y) {{ if ({c}) assert(x != 7); return 0; }}");
    check(&guarded("unsigned char", "x < y"), &guarded("unsigned char", "x + 1 < y"), true);
    check(&guarded("short", "2 * x <= 2 * y"), &guarded("short", "x < y - 3"), true);
    check(&guarded("int", "(long)x <= y"), &guarded("int", "(long)x + 1 < y"), true);
    // INT_MAX + 1 is less than anything but INT_MIN.
    check(&guarded("int", "x < y"), &guarded("int", "x + 1 < y"), false);
    check(&guarded("int", "x + 1 == y"), &guarded("int", "x == y - 1"), true);
    check(&guarded("int", "x != y"), &guarded("int", "x == y - 1"), true);
    check(&guarded("int", "x + 1 == y"), &guarded("int", "x == y + 1"), false);
    // Undefined behaviour that the old program does not have stays a violation.
    let undefined = Concerns { undefined: true, ..Concerns::default() };
    let (old, new) = (guarded("int", "x == y"), guarded("int", "x + 1 == y + 1"));
    assert!(of(&old, &new, Detector::DiffDp, Concerns::default()).is_harmless());
    assert!(!of(&old, &new, Detector::DiffDp, undefined).is_harmless());
}

#[test]
fn known_values_are_put_into_conditions() {
    let old = "int f(int x) { if (x < 5) assert(x != 3); return 0; }";
    let named = |n: i32| format!("int f(int x) {{ int n = {n}; if (x < n) assert(x != 3); return 0; }}");
    check(old, &named(5), true);
    check(old, &named(4), true);
    check(old, &named(6), false);
    check(&named(6), &named(5), true);
    check(&named(5), &named(6), false);
    check(&named(5), old, true);
}

#[test]
fn what_an_implied_condition_leads_to_is_not_left_to_verify() {
    let text = |c: &str, last: i32| {
        format!(
            "int f(int x, int y) {{ if (x {c} y) {{ y = x * 3; assert(y != 7); }} assert(x != {last}); return 0; }}"
        )
    };
    let graph = of(&text("<=", 3), &text("<", 4), Detector::DiffDp, Concerns::default());
    assert_eq!(graph.extent(), Extent::Some, "{graph:#?}");
    let bugs = graph.nodes.iter().filter(|(_, role)| *role == Role::Bug).count();
    assert_eq!(bugs, 1, "{graph:#?}");
}

#[test]
fn variables_that_are_known_to_be_equal_stand_for_each_other() {
    let bound = |before: &str, of: &str| {
        format!("int f(int x, int m) {{ {before} if (x < {of}) assert(x != 7); return 0; }}")
    };
    check(&bound("", "m"), &bound("int n = m;", "n"), true);
    check(&bound("", "m"), &bound("int k = m; int n = k; k = x;", "n"), true);
    check(&bound("", "m"), &bound("int n = m; n++;", "n"), false);
    // The old version has no variable that is what `m` was.
    check(&bound("", "m"), &bound("int n = m; m++;", "n"), false);
    check(&bound("", "m"), &bound("int n = m; if (x > 3) n = nondet();", "n"), false);
    check(&bound("", "m"), &bound("long n = m; n += 1;", "n"), false);
    let tested = |test: &str, of: &str| {
        format!(
            "int f(int x, int m, int n) {{ if (n {test} m) {{ if (x <= {of}) assert(x != 7); }} return 0; }}"
        )
    };
    check(&tested("==", "m"), &tested("==", "n"), true);
    // `INT_MAX + 1` wraps.
    check(&tested("==", "m + 1"), &tested("==", "n"), false);
    check(&tested("!=", "m"), &tested("!=", "n"), false);
    let detour = |way: &str| format!("int f(int m) {{ {way} assert(y != 3); return y; }}");
    check(&detour("int y = m;"), &detour("int t = m; int y = t;"), true);
    check(&detour("int y = m;"), &detour("int t = m; m = 3; int y = m;"), false);
    let passed = |by: &str| {
        format!("static void k(int a, int b) {{ {by} }} int f(int x, int m) {{ k(x, m); return 0; }}")
    };
    check(&passed("if (a < b) assert(a != 7);"), &passed("int c = b; if (a < c) assert(a != 7);"), true);
    check(
        &passed("if (a < b) assert(a != 7);"),
        &passed("int c = b; b = 9; if (a < b) assert(a != 7);"),
        false,
    );
    let result = |ret: &str| {
        format!(
            "static int k(int a) {{ return {ret}; }} int f(int x, int m) {{ int n = k(m); if (x < n) assert(x != 7); return 0; }}"
        )
    };
    let direct = "static int k(int a) { return a; } int f(int x, int m) { int n = k(m); if (x < m) assert(x != 7); return 0; }";
    check(direct, &result("a"), true);
    check(direct, &result("a + 1"), false);
}
