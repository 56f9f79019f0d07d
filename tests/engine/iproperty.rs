//! Property differencing on the paper's examples: outcomes, decisions, and what they cost.

use crate::support::oracle::shared;
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::Program;
use git_invdiff::ir::{Function, Op, TermId, TermPool, Unit};
use git_invdiff::property::{Comparison, Match, Options, Outcome, Step, Version, Violation, compare};
use git_invdiff::smt;
use git_invdiff::symex::Limits;
use std::path::Path;
use std::sync::Arc;

/// A version's unit and its one function.
fn load(text: &str) -> (Arc<Unit>, Arc<Function>) {
    let tree = MemoryTree::new([("a.c", text)]);
    let loaded = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C");
    let f = loaded.unit.functions.first().expect("a function").clone();
    (Arc::new(loaded.unit), f)
}

/// Every parameter is between these bounds.
fn bounded(pool: &mut TermPool, f: &Function, least: i128, most: i128) -> Vec<TermId> {
    let mut all = Vec::new();
    for p in &f.params {
        let var = f.var(*p);
        let (Some(sort), name) = (var.sort, var.name.clone()) else { continue };
        let x = pool.leaf(git_invdiff::ir::Leaf::Param { name, sort });
        let (a, b) = (pool.bv(32, least), pool.bv(32, most));
        all.push(pool.op(Op::Sle, &[a, x]));
        all.push(pool.op(Op::Sle, &[x, b]));
    }
    all
}

fn compared(old: &str, new: &str, bound: Option<i128>, compare_full: bool) -> Comparison {
    let ((old_unit, old), (new_unit, new)) = (load(old), load(new));
    let link = |unit: Arc<Unit>| Program::new(vec![unit]);
    let options = Options {
        solver: smt::Limits { rlimit: 2_000_000, pointer_bits: 64 },
        // The loops of the data structures are followed to their ends.
        limits: Limits { unroll: 40, queries: 20_000, ..Limits::default() },
        compare_full,
    };
    let requires = |pool: &mut TermPool, f: &Function, _: &Unit| match bound {
        Some(b) => bounded(pool, f, -b, b),
        None => Vec::new(),
    };
    compare(
        Version { body: &old, written: &old, unit: &old_unit, link: &link },
        Version { body: &new, written: &new, unit: &new_unit, link: &link },
        &requires,
        &options,
    )
    .expect("assertions")
}

/// One word for each assertion: how it was matched, what became of it, by which step, and why it fails.
fn words(c: &Comparison) -> Vec<String> {
    let one = |f: &git_invdiff::property::Finding| {
        let matched = match f.matched {
            Match::Unchanged => "=",
            Match::Modified => "~",
            Match::New => "+",
            Match::Removed => "-",
        };
        let outcome = |o: Option<Outcome>| match o {
            Some(Outcome::NotFail) => "holds",
            Some(Outcome::Fail) => "fails",
            Some(Outcome::Unknown) => "open",
            None => "none",
        };
        let step = match f.step {
            Step::Unchanged => "unchanged",
            Step::Implied => "implied",
            Step::Counterexample => "reuse",
            Step::CheckI => "I",
            Step::CheckII => "II",
            Step::CheckIII => "III",
            Step::Open => "open",
        };
        let violation = match f.violation {
            Some(Violation::Regression) => " regression",
            Some(Violation::NonconformingFeature) => " feature",
            Some(Violation::BadPropertyUpdate) => " property",
            Some(Violation::Preexisting) => " preexisting",
            None => "",
        };
        format!("{matched} {} {} {step}{violation}", outcome(f.before), outcome(f.after))
    };
    c.findings.iter().map(one).collect()
}

fn seed(file: &str) -> Option<String> {
    Some(std::fs::read_to_string(shared(&format!("subjects/seed/{file}"))?).expect(file))
}

/// Compares two files of the seed: expected words, the most queries of a full check and of the
/// incremental one, which knows what was found of the older version: it asks nothing for an assertion that is
/// unchanged or implied, and at most one question for each other.
#[track_caller]
fn check_seed(old: &str, new: &str, expected: &[&str], full: u64, incremental: u64) {
    let (Some(a), Some(b)) = (seed(old), seed(new)) else { return };
    let c = compared(&a, &b, Some(10_000), true);
    let all = c.full.expect("a full check").counts;
    println!(
        "{new}: initial {:?}, full {all:?}, incremental {:?}, {} concrete runs",
        c.initial.counts, c.incremental.counts, c.concrete_runs
    );
    assert_eq!(words(&c), expected);
    assert!(all.queries <= full, "{} queries in full", all.queries);
    assert!(c.incremental.counts.queries <= incremental, "{} queries", c.incremental.counts.queries);
    assert!(c.incremental.counts.queries <= all.queries);
}

#[test]
fn median() {
    check_seed(
        "median/v1.c",
        "median/v2.c",
        &[
            "= holds holds unchanged",
            "= holds holds unchanged",
            "~ holds holds implied",
            "~ holds holds implied",
            "+ none holds III",
            "+ none holds III",
            "+ none holds III",
            "+ none holds III",
        ],
        300,
        4,
    );
}

#[test]
fn triangles() {
    let unchanged = "= holds holds unchanged";
    let (mended, wrong) = ("~ fails holds III", "~ fails fails III preexisting");
    check_seed(
        "trityp/v1.c",
        "trityp/v2.c",
        &[unchanged, unchanged, mended, mended, mended, mended, wrong, wrong, wrong, unchanged],
        763,
        7,
    );
    let mut expected = [unchanged; 10];
    expected[6..9].fill(mended);
    check_seed("trityp/v2.c", "trityp/v3.c", &expected, 786, 3);
}

/// Sums of large sides overflow, and then the same assertions fail.
#[test]
fn triangles_of_any_size() {
    let (Some(a), Some(b)) = (seed("trityp/v1.c"), seed("trityp/v2.c")) else { return };
    let found = words(&compared(&a, &b, None, true));
    assert_eq!(found[2], "~ fails fails III property", "A + B <= C holds of a sum that wraps");
}

/// Compares two texts; `assert` is there.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    let with_header = |text: &str| format!("#include <assert.h>\n{text}");
    for compare_full in [false, true] {
        let c = compared(&with_header(old), &with_header(new), None, compare_full);
        assert_eq!(words(&c), expected, "{new}");
        assert_eq!(c.full.is_some(), compare_full);
        for f in c.findings.iter().filter(|f| f.after == Some(Outcome::Fail)) {
            let run = f.run.as_ref().expect("a replay");
            assert!(matches!(run.new.end, git_invdiff::interp::End::AssertFailed { .. }));
        }
    }
}

#[track_caller]
fn check_in(text: &str, old: &str, new: &str, expected: &[&str]) {
    check(&text.replace('$', old), &text.replace('$', new), expected);
}

#[test]
fn changed_code_against_kept_assertions() {
    let clamp =
        "int clamp(int x)\n{\n    if (x < 0)\n        x = $;\n    assert(x >= 0);\n    return x;\n}\n";
    check_in(clamp, "0", "x + 1", &["= holds fails II regression"]);
    check_in(clamp, "0", "7", &["= holds holds II"]);
    check_in(clamp, "x + 1", "x + 2", &["= fails fails reuse preexisting"]);
    check_in(clamp, "x + 1", "0", &["= fails holds I"]);
    // What is gone has an effect, too.
    let gone = "int f(int x)\n{\n    $\n    assert(x >= 0);\n    return x;\n}\n";
    check_in(gone, "if (x < 0) return 0;", "", &["= holds fails II regression"]);
    check_in(gone, "if (x < 0) x = 0;", "", &["= holds fails II regression"]);
    check_in(gone, "if (x < 0) x = 0;", "if (x <= 0) x = 0;", &["= holds holds II"]);
}

#[test]
fn changed_constants_are_changed_code() {
    let f = "static const int level[2] = {1, $};\nint f(int x)\n{\n    int v = 3;\n    if (x > 0)\n        v = level[1];\n    assert(v > 0);\n    return v;\n}\n";
    check_in(f, "2", "-2", &["= holds fails II regression"]);
    check_in(f, "2", "4", &["= holds holds II"]);
}

#[test]
fn calls_may_do_anything() {
    let f = "int step(int *);\nint f(int x)\n{\n    int v = 3;\n    if (x > 0)\n        step(&v);\n    assert($);\n    return v;\n}\n";
    check_in(f, "x > 0 || v == 3", "x > 0 || v >= 3", &["~ holds holds implied"]);
    check_in(f, "x > 0 || v == 3", "x > 1 || v == 3", &["~ holds open open"]);
}

#[test]
fn changed_code_against_new_assertions() {
    let f = "int f(int x, int y)\n{\n    int r = 1;\n    if (x > 5)\n        r = $;\n    else if (y == 3)\n        r = 4;\n    #\n    return r;\n}\n";
    let version = |r: &str, assertion: &str| f.replace('$', r).replace('#', assertion);
    let kept = "assert(r > 0);";
    let with = |more: &str| format!("{kept}\n    {more}");
    let new = |more: &str| version("3", &with(more));
    let old = version("2", kept);
    check(&old, &new("assert(r < 5);"), &["= holds holds II", "+ none holds I"]);
    check(&old, &new("assert(r != 3);"), &["= holds holds II", "+ none fails I feature"]);
    check(&old, &new("assert(r != 4);"), &["= holds holds II", "+ none fails III property"]);
    check(&old, &version("3", "assert(r > 0 && r < 4);"), &["~ holds fails III property"]);
    check(&old, &version("0", "assert(r > 0 && r < 9);"), &["~ holds fails II regression"]);
    check(&old, &version("9", "assert(r > 0 && r < 9);"), &["~ holds fails I feature"]);
}

#[test]
fn assertions_alone_change() {
    let f = "int ok(int);\nint f(int x)\n{\n    if (x < 1 || x == 77)\n        return 0;\n    $\n    return x;\n}\n";
    check_in(f, "assert(x > 0);", "assert(x >= 0);", &["~ holds holds implied"]);
    check_in(f, "assert(x > 0);", "assert(x > 0 && x != 9);", &["~ holds fails III property"]);
    check_in(f, "assert(x > 0);", "assert(x > 0 && x != 77);", &["~ holds holds III"]);
    check_in(f, "assert(x > 0);", "", &["- holds none open"]);
    // Calls without effect are the same truth values in both.
    check_in(f, "assert(ok(x) || x > 0);", "assert(x >= 0 || ok(x));", &["~ holds holds implied"]);
    check_in(f, "assert(ok(x) || x > 0);", "assert(ok(x));", &["~ holds open open"]);
}

#[test]
fn loops_are_followed_up_to_a_bound() {
    let sum = "int sum(int n)\n{\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        s += $;\n    assert(s >= 0);\n    return s;\n}\n";
    // More iterations may wrap.
    check_in(sum, "1", "2", &["= open open open"]);
    check_in(sum, "1", "-1", &["= open fails I regression"]);
}

#[test]
fn paths_that_the_change_does_not_touch_are_left_alone() {
    let text = "int f(int a, int b, int c)\n{\n    int r = 1;\n    if (a == 3) {\n        if (b > 0) r = 2;\n        if (b > 1) r = 3;\n        if (b > 2) r = 4;\n        assert(r < 9);\n        return r;\n    }\n    if (c > 4)\n        r = $;\n    assert(r > 0);\n    return r;\n}\n";
    let with_header = |r: &str| format!("#include <assert.h>\n{}", text.replace('$', r));
    let c = compared(&with_header("5"), &with_header("6"), None, true);
    assert_eq!(words(&c), ["= holds holds II", "= holds holds II"]);
    let full = c.full.expect("full").counts.queries;
    assert!(c.incremental.counts.queries * 2 <= full, "{} of {full}", c.incremental.counts.queries);
}

/// Version `k` of a fixture: without what later versions add.
fn version(text: &str, k: usize) -> String {
    let later = (k + 1..=5).filter_map(|v| text.find(&format!("    /* V{v}:"))).min();
    let end = text.find("    return ").expect("an end");
    format!("{}{}", &text[..later.unwrap_or(end)], &text[end..])
}

/// Checks a data structure, version by version. `paper`: the solver calls of its Table 4, in full and
/// of the difference.
#[track_caller]
fn check_structure(name: &str, paper: &[(u64, u64)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/property").join(name);
    let text = std::fs::read_to_string(path).expect("the fixture");
    for (k, (full, difference)) in (2..).zip(paper) {
        let (old, new) = (version(&text, k - 1), version(&text, k));
        let c = compared(&old, &new, None, true);
        let mut expected = vec!["= holds holds unchanged"; k - 1];
        expected.push("+ none holds III");
        assert_eq!(words(&c), expected, "{name} V{k}");
        let (ours, all) = (c.incremental, c.full.expect("a full check"));
        println!(
            "{name} V{k}: {} queries, {} ms; difference {}, {} ms; the paper {full}, {difference}",
            all.counts.queries,
            all.time.as_millis(),
            ours.counts.queries,
            ours.time.as_millis()
        );
        let (ours, all) = (ours.counts.queries, all.counts.queries);
        assert!(ours <= all && all <= *full && ours <= *difference, "{name} V{k}: {ours} of {all}");
        assert!(ours <= 1, "{name} V{k}: {ours} queries for one new assertion");
    }
}

#[test]
fn data_structures() {
    check_structure("heap_array.c", &[(3510, 2340), (4292, 1104)]);
    check_structure("sorted_list.c", &[(1438, 1438), (4630, 3430), (8958, 1198), (10316, 652)]);
    check_structure("search_tree.c", &[(9364, 9364), (16566, 9364), (36256, 21852)]);
}
