//! Assertions in loops that hold because they held in several iterations before.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{Input, Limits, Program, Value, run};
use git_invdiff::ir::{Callee, Const, Function, Instr, NodeId, Unit};
use git_invdiff::report::{Assertion, AssertionOutcome, SettledBy};
use git_invdiff::semantics::unroll;
use std::path::Path;
use std::sync::Arc;

fn outcomes(text: &str) -> Vec<AssertionOutcome> {
    assertions(text).iter().filter_map(|a| a.outcome.get(&1).copied()).collect()
}

fn assertions(text: &str) -> Vec<Assertion> {
    let text = format!("#include <assert.h>\n{text}");
    let options = Options { whole: true, ..Options::default() };
    diff(&memory::request(&[vec![("a.c", &text)]], c::Options::default(), options)).assertions
}

/// Each with one assertion that holds, and what makes it fail or depend on what callers pass.
#[test]
fn what_held_in_iterations_before_is_used() {
    let programs = [
        (
            "int f(int n, int lo) { int prev = lo, cur = lo; for (int i = 0; i < n; i++) { \
             if (cur < 1000) { prev = cur; cur = cur + 1; } assert(prev <= cur); } return cur; }",
            ("cur + 1", "cur - 1"),
        ),
        (
            "unsigned f(unsigned n, unsigned p) { unsigned x = p, y = 1 - p; for (unsigned i = 0; i < n; i++) { \
             unsigned old = x; x = y; y = old; assert(x + y == 1); } return x; }",
            ("1 - p", "2 - p"),
        ),
        (
            "unsigned f(unsigned n, unsigned p) { unsigned a = p * p, b = a ^ 7, c = a; for (unsigned i = 0; i < n; i++) { \
             unsigned t = a; a = c; c = t; assert((a ^ b) == 7); } return a; }",
            ("c = a;", "c = a + (p > 5);"),
        ),
        (
            "int f(const int *e, int n) { int open = 0, turns = 0; for (int i = 0; i < n; i++) { \
             if (open) turns = 3; assert(!open || turns == 3); open = e[i] == 7; if (!open) turns = e[i]; else turns = 3; } \
             return turns; }",
            ("if (open) turns = 3;", ""),
        ),
    ];
    let mut settled = Vec::new();
    for (text, (part, by)) in programs {
        assert_eq!(outcomes(text), [AssertionOutcome::NotFail], "{text}");
        settled.extend(assertions(text)[0].settled_by.get(&1).copied());
        let other = text.replacen(part, by, 1);
        assert_ne!(other, text);
        if !by.is_empty() {
            assert_eq!(outcomes(&other), [AssertionOutcome::Fail], "{other}");
        }
    }
    use SettledBy::{KInduction, Proof};
    assert_eq!(settled, [Proof, KInduction, KInduction, Proof]);
}

/// What holds in two iterations and not in the third one is not proved.
#[test]
fn what_fails_later_is_not_proved() {
    for last in [2, 3, 4, 5] {
        let text = format!(
            "int f(int n, int a) {{ int k = 0, seen = a & 1; while (n-- > 0) {{ \
             if (k == {last}) seen = 2; if (k < 100) k++; assert(seen != 2); }} return seen; }}"
        );
        assert_eq!(outcomes(&text), [AssertionOutcome::Fail], "{text}");
    }
}

fn unit(text: &str) -> Unit {
    let tree = MemoryTree::new([("a.c", text)]);
    frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C").unit
}

/// What runs of a function do on some inputs.
fn runs(unit: &Unit, function: Option<&Arc<Function>>) -> Vec<String> {
    let mut unit = Unit {
        path: unit.path.clone(),
        files: unit.files.clone(),
        records: unit.records.clone(),
        globals: unit.globals.clone(),
        prototypes: unit.prototypes.clone(),
        functions: unit.functions.clone(),
        is_whole: unit.is_whole,
        ..Unit { data_model: unit.data_model, ..Unit::default() }
    };
    if let Some(f) = function {
        unit.functions[0] = f.clone();
    }
    let program = Program::new(vec![Arc::new(unit)]);
    let values = [-3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12];
    let inputs = values.iter().flat_map(|a| values.iter().map(move |b| [*a, *b]));
    inputs
        .map(|values| {
            let value = |v: i128| Value::Const(Const::bv(32, v));
            let input = Input { arguments: values.into_iter().map(value).collect(), ..Input::default() };
            let o = run(&program, "f", &input, &Limits::default());
            format!("{:?} {:?}", o.end, o.returned)
        })
        .collect()
}

/// However the iterations are laid out, the function does the same.
#[test]
fn grouped_iterations_do_what_the_loop_does() {
    let bodies = [
        "while (i < n) { i++; s += i * k; assert(s != 9); }",
        "do { s += k; i++; assert(s != 6); } while (i < n);",
        "for (;;) { if (i >= n) break; if (s == 4) { i += 2; continue; } s += k; i++; assert(s != 12); }",
        "for (i = 0; i < n; i++) { for (int j = 0; j < i; j++) { s += j; assert(s != k); } s++; }",
        "for (i = 0; i < n; i++) { int j = 0; while (j < k) { s += 2; j++; if (s > 40) goto out; } assert(s != 8); } out: s++;",
        "while (1) { if (i++ == n || i > 50) return s; s ^= i; assert(s != k); }",
    ];
    for body in bodies {
        let unit = unit(&format!(
            "#include <assert.h>\nint f(int n, int k) {{ int i = 0, s = 0; {body} return s; }}\n"
        ));
        let expected = runs(&unit, None);
        assert!(expected.iter().any(|o| o.contains("AssertFailed")), "{body}");
        let f = Arc::new(unit.functions[0].clone());
        let is_end = |n: &usize| {
            let node = f.node(NodeId(*n as u32));
            matches!(&node.instr, Instr::Call { callee: Callee::Direct(name), .. } if name.contains("assert"))
        };
        let ends: Vec<NodeId> = (0..f.nodes.len()).filter(is_end).map(|n| NodeId(n as u32)).collect();
        assert_eq!(ends.len(), 1, "{body}");
        for (first, together) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
            let grouped = unroll::grouped(&f, &ends, first, together, 5000).expect(body);
            assert_eq!((grouped.first.len(), grouped.last.len()), (first, 1));
            assert_eq!(runs(&unit, Some(&grouped.function)), expected, "{body} {first} {together}");
        }
    }
}
