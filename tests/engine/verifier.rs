//! The verifier: what programs with known answers are said to be, and what it says of random ones beside
//! all runs of them. `INVDIFF_ORACLE=500` tries so many.

use git_invdiff::difference::{Concerns, Version};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{End, Input, Program, Value, run};
use git_invdiff::ir::Const;
use git_invdiff::verifier::{Answer, Limits, Question, VerificationResult, verify};
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
        VerificationResult::Holds => "holds",
        VerificationResult::Violated(_) => "violated",
        VerificationResult::Open(_) => "open",
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

/// Deterministic numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len() as u64) as usize]
    }

    fn value(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 => self.one(&["a", "b", "x", "y", "x", "y"]).into(),
            1 => (self.below(40) as i64 - 12).to_string(),
            2 => self.one(&["v[0]", "v[1]", "*p"]).into(),
            3 => format!("({} ? {} : {})", self.condition(), self.value(0), self.value(depth - 1)),
            4 => {
                let cast = self.one(&[
                    "(signed char)",
                    "(unsigned char)",
                    "(int)(float)",
                    "(unsigned)",
                    "~",
                    "-",
                    "!",
                ]);
                format!("{cast}({})", self.value(depth - 1))
            }
            _ => {
                let op = self.one(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "+", "-"]);
                format!("({} {op} {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }

    fn condition(&mut self) -> String {
        let op = self.one(&["<", "<=", ">", ">=", "==", "!="]);
        let one = format!("{} {op} {}", self.value(1), self.value(0));
        match self.below(5) {
            0 => format!("{one} && {} != {}", self.value(0), self.value(0)),
            1 => format!("!({one} || {} > {})", self.value(0), self.value(0)),
            _ => one,
        }
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => format!("v[{}] = {};", self.below(2), self.value(2)),
            1 => format!("p = &v[{}];", self.below(2)),
            2 | 3 => format!("{} = {};", self.one(&["x", "y"]), self.value(2)),
            4 => format!("for (int i = 0; i < {}; i++) {{ {} }}", self.below(4), self.statement(0)),
            5 => format!("if ({}) {{ {} }}", self.condition(), self.statement(depth - 1)),
            _ => format!(
                "if ({}) {{ {} }} else {{ {} }}",
                self.condition(),
                self.statement(0),
                self.statement(depth - 1)
            ),
        }
    }

    fn function(&mut self) -> String {
        let body: Vec<String> = (0..4).map(|_| self.statement(2)).collect();
        let bound = self.below(60) as i64 - 20;
        let claim = self.one(&["x < K || y != 3", "x != K", "x - y != K", "x <= K + 90"]);
        let claim = claim.replace('K', &format!("({bound})"));
        format!(
            "int f(signed char a, unsigned char b) {{ int v[2] = {{1, 2}}, x = a, y = b & 7, *p = v; {} assert({claim}); return x; }}",
            body.join(" ")
        )
    }
}

#[test]
fn what_holds_of_random_functions_fails_in_no_run() {
    let count: u64 = std::env::var("INVDIFF_ORACLE").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let (mut holds, mut violated) = (0, 0);
    for seed in 0..count {
        let text = Random(seed * 7919 + 1).function();
        let is = program(&text);
        let fails = |a: i128, b: i128| {
            let arguments = vec![Value::Const(Const::bv(8, a)), Value::Const(Const::bv(8, b))];
            let input = Input { arguments, ..Input::default() };
            matches!(run(&is, "f", &input, &Default::default()).end, End::AssertFailed { .. })
        };
        let mut all = (-128..128).flat_map(|a| (0..8).map(move |b| (a, b * 37 % 256)));
        let failing = all.find(|(a, b)| fails(*a, *b));
        match answer(None, &text).verdict {
            VerificationResult::Holds => {
                holds += 1;
                assert_eq!(failing, None, "seed {seed}: {text}");
            }
            VerificationResult::Violated(pair) => {
                violated += 1;
                assert!(matches!(pair.new.end, End::AssertFailed { .. }), "seed {seed}: {text}");
            }
            VerificationResult::Open(_) => {}
        }
    }
    println!("{holds} of {count} hold, {violated} are violated");
    // Both answers must be there, or the test says nothing.
    assert!(holds > count / 8 && violated > count / 8, "{holds} and {violated} of {count}");
}
