//! The verifier: what programs with known answers are said to be.

use git_invdiff::difference::{Concerns, Version};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::Program;
use git_invdiff::verifier::{Answer, Limits, Question, Verdict, verify};
use std::path::Path;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let header = "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\nextern float \
                  __VERIFIER_nondet_float(void);\nextern void abort(void);\nvoid reach_error(void) { assert(0); }\n";
    let text = format!("{header}{text}");
    let tree = MemoryTree::new([("a.c", text.as_str())]);
    let loaded = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C");
    Program::new(vec![Arc::new(loaded.unit)])
}

fn answer(old: Option<&str>, new: &str) -> Answer {
    let (was, is) = (old.map(program), program(new));
    let function = is.units()[0].functions.last().unwrap().name.to_string();
    let version = |program| Version { program, function: &function };
    verify(&Question {
        old: was.as_ref().map(version),
        new: version(&is),
        concerns: Concerns::of(&is),
        remainder: None,
        limits: Limits { steps: 100_000, ..Limits::default() },
    })
}

/// `holds`, `violated` or `open`.
fn check(old: Option<&str>, new: &str, expected: &str) {
    let answer = answer(old, new);
    let found = match &answer.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Open(_) => "open",
    };
    assert_eq!(found, expected, "{new}\n{answer:?}");
}

fn task(body: &str) -> String {
    format!("int main(void) {{ {body} return 0; }}\n")
}

#[test]
fn decisions_on_integers_are_exact() {
    let f =
        |limit: i32| format!("int f(int x) {{ if (x > 10 && x < {limit}) assert(x * 2 != 24); return x; }}");
    check(None, &f(12), "holds");
    check(None, &f(13), "violated");
    // One of 2^32 values.
    let one = |k: i64| task(&format!("int x = __VERIFIER_nondet_int(); if (x - 5 == {k}) reach_error();"));
    check(None, &one(123_456_789), "violated");
    check(None, &task("int x = __VERIFIER_nondet_int(); if (x / 3 == 2 && x > 8) reach_error();"), "holds");
    check(
        None,
        &task("int x = __VERIFIER_nondet_int(); if (x / 3 == 2 && x > 7) reach_error();"),
        "violated",
    );
}

#[test]
fn what_was_assumed_holds_later() {
    let assume = "void assume(int c) { if (!c) abort(); }\n";
    let f = |bound: &str| {
        format!(
            "{assume}int main(void) {{ float x = __VERIFIER_nondet_float(); assume(x > -1.0f && x < {bound}); \
             float y = x * x + x; if (!(y < 1.5f)) reach_error(); return 0; }}\n"
        )
    };
    check(None, &f("0.8f"), "holds");
    check(None, &f("0.9f"), "violated");
    check(Some(&f("0.9f")), &f("0.9f"), "open");
    check(Some(&f("0.8f")), &f("0.9f"), "violated");
}

#[test]
fn states_of_event_loops_are_closed() {
    let machine = |last: u32| {
        task(&format!(
            "int state = 0, turns = 0; while (1) {{ int e = __VERIFIER_nondet_int(); \
             if (state == 0 && e == 7) state = 1; \
             else if (state == 1 && e > 100) {{ state = 2; turns = 0; }} \
             else if (state == 2) {{ turns++; if (turns == 5) state = {last}; }} \
             if (state == 4) reach_error(); }}"
        ))
    };
    check(None, &machine(0), "holds");
    check(None, &machine(4), "violated");
    check(Some(&machine(0)), &machine(4), "violated");
}

#[test]
fn memory_is_followed_where_addresses_are_known() {
    let f = |k: u32| {
        task(&format!(
            "int a[4] = {{1, 2, 3}}; int *p = a; struct {{ char c; int n; }} s = {{1, {k}}}, t; t = s; \
             for (int i = 0; i < 4; i++) p[i] += t.n; if (a[3] != 9) reach_error();"
        ))
    };
    check(None, &f(9), "holds");
    check(None, &f(8), "violated");
    let g = "static int n = 3; int f(int x) { assert(n == 3 || x != 5); return n; }";
    check(None, g, "open");
    check(None, &task("static int n = 3; n += 2; if (n != 5) reach_error();"), "holds");
}

#[test]
fn undefined_runs_end_and_old_ones_do_not_count() {
    check(None, &task("int x = __VERIFIER_nondet_int(); if (10 / x == 11) reach_error();"), "holds");
    let f = |guard: &str| format!("int f(int x) {{ {guard} int y = 100 / x; assert(y != 20); return y; }}");
    // Only where the old version divides by zero.
    let g = |guard: &str| format!("int f(int x) {{ {guard} assert(x != 0); return 0; }}");
    check(Some(&g("if (1 / x > 5) return 1;")), &g(""), "holds");
    check(Some(&f("if (x == 5) return 0;")), &f(""), "violated");
}

#[test]
fn many_steps_are_left_open() {
    check(
        None,
        &task("int n = __VERIFIER_nondet_int(), i = 0; while (i < n) i++; if (i == 77777777) reach_error();"),
        "open",
    );
}
