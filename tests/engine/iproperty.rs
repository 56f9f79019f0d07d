//! Property differencing on the paper's examples: outcomes, decisions, and what they cost.

use crate::properties::{compared, load, structure, version};
use crate::support::oracle::shared;
use crate::support::tier::rounds;
use git_invdiff::fact::Standing;
use git_invdiff::interp::Program;
use git_invdiff::ir::{Function, TermPool, Unit};
use git_invdiff::property::{
    Comparison, Finding, Keeping, Match, Options, Step, Version, Violation, compare,
};
use git_invdiff::quantify::Keeper;
use git_invdiff::semantics::inline::{InlineLimits, inline};
use git_invdiff::smt;
use git_invdiff::symex::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One word for each assertion: how it was matched, what became of it, by which step, and why it fails.
fn words(c: &Comparison) -> Vec<String> {
    let one = |f: &Finding| {
        let matched = match f.matched {
            Match::Unchanged => "=",
            Match::Modified => "~",
            Match::New => "+",
            Match::Removed => "-",
        };
        let outcome = |o: Option<Standing>| match o {
            Some(Standing::Holds) => "holds",
            Some(Standing::Fails) => "fails",
            Some(Standing::Open) => "open",
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
    let (mended, wrong) = ("~ fails holds III", "~ fails fails reuse preexisting");
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
        for f in c.findings.iter().filter(|f| f.after == Some(Standing::Fails)) {
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

/// An input on which an assertion fails is tried again: what is called may be another function.
#[test]
fn what_failed_is_shown_again() {
    let f = "int g(int x);\nint f(int x)\n{\n    if (x > 3)\n        x = g(x);\n    assert(x != 5);\n    return x;\n}\nint g(int x) { return $; }\n";
    check_in(f, "5", "x < 0 ? 0 : 5", &["= fails fails unchanged preexisting"]);
    check_in(f, "5", "6", &["= fails open open"]);
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
    // The first stands where the change does not lead.
    assert_eq!(words(&c), ["= holds holds unchanged", "= holds holds II"]);
    let full = c.full.expect("full").counts.queries;
    assert!(c.incremental.counts.queries * 2 <= full, "{} of {full}", c.incremental.counts.queries);
}

/// Checks a data structure, version by version. `paper`: the solver calls of its Table 4, in full and
/// of the difference.
#[track_caller]
fn check_structure(name: &str, paper: &[(u64, u64)]) {
    let text = structure(name);
    for (k, (full, difference)) in (2..).zip(paper.iter().take(rounds("INVDIFF_STRUCTURES", 1, 4))) {
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

/// What is affected is what a changed value or decision reaches, place by place, and of paths only those count that
/// differ in what is asked: two of the four of the paper's example (Sec. 3.3.1).
#[test]
fn impact_goes_by_places() {
    let test = "int a, b;\nint test(int x, int y)\n{\n    if (x > 0) a = x + 1;\n    else a = x - 1;\n    if (y == 0) b = y + 1;\n    else b = $;\n    #\n    return 0;\n}\n";
    let version = |change: &str, assertion: &str| {
        format!("#include <assert.h>\n{}", test.replace('$', change).replace('#', assertion))
    };
    let asserted = "assert(b != 77 || y > 0);";
    let c = compared(&version("y + 2", asserted), &version("y - 1", asserted), None, true);
    assert_eq!(words(&c), ["= holds holds II"]);
    assert_eq!((c.full.map(|f| f.counts.paths), c.incremental.counts.paths), (Some(4), 2));
    assert_eq!(c.impacted, BTreeSet::from([8]), "the changed line alone");
    // What is said of another place is as it was.
    let other = "assert(a != 0 || x == 1 || x == -1);";
    let c = compared(&version("y + 2", other), &version("y - 1", other), None, true);
    assert_eq!(words(&c), ["= holds holds unchanged"]);
    assert_eq!((c.incremental.counts.paths, c.incremental.counts.queries), (0, 0));
}

#[test]
fn fields_and_objects_are_places() {
    let f = "struct s { int len, cap; };\nint f(struct s *p, struct s *q, int x)\n{\n    int here[2] = {1, 2};\n    $;\n    assert(#);\n    return here[0];\n}\n";
    let version = |change: &str, asserted: &str| f.replace('$', change).replace('#', asserted);
    let one = |change: (&str, &str), asserted: &str, expected: &str| {
        check(&version(change.0, asserted), &version(change.1, asserted), &[expected]);
    };
    let kept = "= holds holds unchanged";
    one(("p->cap = 3", "p->cap = 4"), "here[1] == 2", kept);
    one(("here[0] = 3", "here[0] = 4"), "here[1] == 2", kept);
    one(("p->len = 1; p->cap = 3", "p->len = 1; p->cap = 4"), "p->len == 1", kept);
    // Pointers may lead to the same, and an index to any element.
    let other = |change: &str| format!("#include <assert.h>\n{}", version(change, "p->len == 1"));
    let c = compared(&other("p->len = 1; q->len = 1"), &other("p->len = 1; q->len = 2"), None, false);
    assert!(c.findings.iter().all(|f| f.after != Some(Standing::Holds)), "{:?}", words(&c));
    one(("here[x & 1] = 2", "here[x & 1] = 3"), "here[1] == 2", "= holds fails II regression");
    one(("here[1] = 2", "here[1] = 5"), "here[1] == 2", "= holds fails II regression");
    // What was taken out is missed where only an assertion looked at it, and what was moved is another one.
    one(("x = 1", ""), "x == 1", "= holds fails II regression");
    let moved = |change: &str| format!("#include <assert.h>\n{}", version(change, "p != q || p == q"));
    let c =
        compared(&moved("x = 1; assert(x == 1); x = 2"), &moved("x = 1; x = 2; assert(x == 1)"), None, false);
    assert!(words(&c).iter().any(|w| w.starts_with("= holds fails")), "{:?}", words(&c));
}

/// A loop that may go on for ever, and a call that may not come back, decide on what is behind them.
#[test]
fn what_may_not_end_decides_on_what_follows() {
    let f = "void out(int);\nint f(int x)\n{\n    int n = 0;\n    while ($) n = 0;\n    assert(x > 0);\n    return n;\n}\n";
    // Nothing shows that the older version holds it: a loop that never ends is followed to a bound.
    check_in(f, "x <= 0", "x < 0", &["= open fails I regression"]);
    let g =
        "#include <stdlib.h>\nint f(int x)\n{\n    if (x <= 0) $;\n    assert(x > 0);\n    return x;\n}\n";
    check_in(g, "exit(1)", "labs(x)", &["= holds fails II regression"]);
}

/// An input is kept with the memory that it is about, and tried on what comes later.
#[test]
fn inputs_have_memory() {
    let f = "struct s { int a; struct s *next; };\nint level;\nint f(struct s *p)\n{\n    if (!p || !p->next || level < 3) return 0;\n    int v = p->next->a + level;\n    $\n    return v;\n}\n";
    let fails = "assert(p->next->a != 41);";
    check_in(f, "", fails, &["+ none fails III property"]);
    check_in(f, fails, "assert(p->next->a != 41 && v != -7);", &["~ fails fails reuse preexisting"]);
    check_in(f, fails, "assert(p->next->a < 41 || v == 3);", &["~ fails fails reuse preexisting"]);
    let global = "int level;\nint f(int x)\n{\n    if (x > level)\n        return 0;\n    assert(level != $);\n    return x;\n}\n";
    check_in(global, "12345", "54321", &["~ fails fails III property"]);
}

/// Keeps in memory.
#[derive(Default)]
struct Shelf(Mutex<BTreeMap<Vec<String>, Vec<u8>>>);

impl Shelf {
    /// A copy in which everything that is kept is changed.
    fn changed(&self, by: impl Fn(&mut Vec<u8>)) -> Shelf {
        let mut kept = self.0.lock().unwrap().clone();
        kept.values_mut().for_each(by);
        Shelf(Mutex::new(kept))
    }
}

impl Keeper for Shelf {
    fn get(&self, parts: &[String]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(parts).cloned()
    }

    fn put(&self, parts: &[String], value: &[u8]) {
        self.0.lock().unwrap().insert(parts.to_vec(), value.to_vec());
    }
}

/// Compares two texts by their last function, with all calls within inlined; outcomes are kept on a shelf.
fn kept_compared(old: &str, new: &str, shelf: Option<&Shelf>, compare_full: bool) -> Comparison {
    let load = |text: &str| {
        let (unit, _) = load(text);
        let written = unit.functions.last().expect("a function").clone();
        let limits = InlineLimits { depth: 6, ..InlineLimits::default() };
        (inline(&written, &unit, &limits), written, unit)
    };
    let (a, b) = (load(old), load(new));
    let link = |unit: Arc<Unit>| Program::new(vec![unit]);
    let options = Options {
        solver: smt::Limits { rlimit: 2_000_000, pointer_bits: 64 },
        limits: Limits::default(),
        is_covered: &|_, _| false,
        compare_full,
    };
    let keeping = shelf.map(|keeper| Keeping { keeper, around: [old, new] });
    compare(
        Version { body: &a.0, written: &a.1, unit: &a.2, link: &link },
        Version { body: &b.0, written: &b.1, unit: &b.2, link: &link },
        &|_: &mut TermPool, _: &Function, _: &Unit| Vec::new(),
        &options,
        keeping.as_ref(),
    )
    .expect("assertions")
}

/// All that a comparison says, but for what it cost.
fn said(c: &Comparison) -> String {
    let one = |f: &Finding| {
        let run = f.run.as_ref().map(|r| format!("{:?} {:?} {:?}", r.input, r.old.end, r.new.end));
        format!("{:?} {:?} {:?} {run:?}\n", f.old, f.new, f.difference)
    };
    format!("{}\n{}", words(c).join("\n"), c.findings.iter().map(one).collect::<String>())
}

/// What changes between two versions of [`chain`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Assertions,
    Code,
}

/// Ten versions of TCAS: each changes one comparison, one constant or one assertion of the one before.
fn chain() -> Vec<(Change, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/property/tcas.c");
    let mut text = std::fs::read_to_string(path).expect("the fixture");
    let mut versions = vec![(Change::Code, text.clone())];
    use Change::{Assertions, Code};
    for (change, from, to) in [
        (Assertions, "down_separation < limit) || advisory", "down_separation <= limit - 1) || advisory"),
        // The deepest: what five functions lead to.
        (Code, "threshold[2] = 640;", "threshold[2] = 650;"),
        (
            Assertions,
            "|| advisory != UPWARD);\n",
            "|| advisory != UPWARD);\n    assert(advisory != UPWARD || own_altitude < other_altitude);\n",
        ),
        (Code, "climb_inhibit > 0 ?", "climb_inhibit >= 1 ?"),
        (
            Code,
            "vertical_separation >= MIN_SEPARATION && up_separation",
            "vertical_separation > MIN_SEPARATION && up_separation",
        ),
        (
            Assertions,
            "advisory != UPWARD || own_altitude < other_altitude",
            "advisory != UPWARD || own_altitude <= other_altitude",
        ),
        (Code, "MAX_DIFFERENCE = 300", "MAX_DIFFERENCE = 310"),
        (
            Assertions,
            "    return advisory;\n}\n",
            "    assert(!(own_altitude == other_altitude) || advisory == UNRESOLVED);\n    return advisory;\n}\n",
        ),
        (Code, "up_separation + NO_CROSSING", "up_separation + 110"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
        versions.push((change, text.clone()));
    }
    versions
}

/// The versions one after the other, as commits: what was found of one serves the next.
#[test]
fn a_chain_of_versions_is_checked_by_what_changes() {
    let mut versions = chain();
    versions.truncate(rounds("INVDIFF_CHAIN", 4, versions.len()));
    let shelf = Shelf::default();
    let mut ratios: BTreeMap<bool, Vec<f64>> = BTreeMap::new();
    for (k, pair) in versions.windows(2).enumerate() {
        let [(_, old), (change, new)] = pair else { continue };
        let c = kept_compared(old, new, Some(&shelf), true);
        let fresh = kept_compared(old, new, None, false);
        assert_eq!(said(&c), said(&fresh), "V{}: what is kept changes nothing but the cost", k + 2);
        assert_eq!((c.was_kept, fresh.was_kept), (k > 0, false));
        let full = c.full.expect("a full check").counts;
        let (ours, before) = (c.incremental.counts, c.initial.counts);
        println!(
            "V{}: {change:?}: full {} queries, {} paths; with what is kept {} + {}, {} paths; without {} + {}; lines {:?}",
            k + 2,
            full.queries,
            full.paths,
            before.queries,
            ours.queries,
            ours.paths,
            fresh.initial.counts.queries,
            fresh.incremental.counts.queries,
            c.impacted
        );
        let is_code = *change == Change::Code;
        assert_eq!(c.impacted.is_empty(), !is_code, "V{}: the impact", k + 2);
        // The first version was never looked at before.
        let queries = if k > 0 { before.queries + ours.queries } else { ours.queries };
        ratios.entry(is_code).or_default().push(queries as f64 / full.queries as f64);
    }
    println!("{ratios:?}");
    let whole = versions.len() == 10;
    assert!(ratios[&false].len() == 4 || !whole, "{ratios:?}");
    assert!(ratios[&false].iter().all(|r| *r < 0.2), "{ratios:?}");
    let mut code = ratios[&true].clone();
    code.sort_by(f64::total_cmp);
    assert!((code.len() == 5 || !whole) && code[code.len() / 2] < 0.5, "{code:?}");
}

/// What was found of the older version is there: an assertion that is new or changed is one question, whether the older
/// one says it, the paths do, or neither; one that is the same, or follows at once, is none.
#[test]
fn one_question_for_each_assertion_that_is_new() {
    let f = "int f(int x, int y, int *p)\n{\n    int s = 0;\n    if (x < 0 || x > 6)\n        return 0;\n    for (int i = 0; i < x; i++)\n        s += i & 3;\n    if (y > 7)\n        s += 4;\n    if (!p)\n        return s;\n    s += *p & 1;\n    $\n    return s;\n}\n";
    let in_f = |assertions: &str| format!("#include <assert.h>\n{}", f.replace('$', assertions));
    for (old, new, most, expected) in [
        // The solver sees that three times a number is even where the number is.
        (
            "assert((y & 1) == 0 || s >= 0);",
            "assert((y * 3 & 1) == 0 || s >= 0);",
            1,
            &["~ holds holds III"][..],
        ),
        ("assert(s >= 0);", "assert(s >= 0 && s < 40);", 1, &["~ holds holds III"]),
        ("assert(s >= 0 && s < 40);", "assert(s < 41);", 0, &["~ holds holds implied"]),
        ("assert(s >= 0);", "assert(s >= 0 && s < 12);", 1, &["~ holds fails III property"]),
        (
            "assert(s >= 0);",
            "assert(s >= 0);\n    assert(s <= 18 && s * s >= s);\n    assert(x <= 6);\n    assert(y != 9 || s < 12);",
            3,
            &["= holds holds unchanged", "+ none holds III", "+ none holds III", "+ none fails III property"],
        ),
    ] {
        let shelf = Shelf::default();
        let (old, new) = (in_f(old), in_f(new));
        kept_compared(&old, &old, Some(&shelf), false);
        let c = kept_compared(&old, &new, Some(&shelf), false);
        assert_eq!(
            (words(&c), c.was_kept, c.initial.counts.queries),
            (expected.iter().map(|w| w.to_string()).collect(), true, 0),
            "{new}"
        );
        let asked = c.incremental.counts.queries;
        assert!(asked <= most, "{asked} questions: {new}");
    }
}

/// What is kept and cannot be read, or is another version's, is as good as nothing.
#[test]
fn what_is_damaged_is_a_miss() {
    let heap = structure("heap_array.c");
    let [old, new, next] = &[1, 2, 3].map(|k| version(&heap, k));
    let fresh = kept_compared(new, next, None, false);
    type Spoil<'s> = &'s dyn Fn(&mut Vec<u8>);
    let spoiled: [(&str, Spoil); 5] = [
        ("empty", &|bytes| bytes.clear()),
        ("cut off in the middle", &|bytes| bytes.truncate(bytes.len() / 2)),
        ("cut off at the end", &|bytes| _ = bytes.pop()),
        ("no text", &|bytes| bytes.iter_mut().for_each(|b| *b ^= 0xa5)),
        ("of another format", &|bytes| {
            let text = String::from_utf8_lossy(bytes).replace("\"format\":1", "\"format\":0");
            *bytes = text.into_bytes();
        }),
    ];
    let shelf = Shelf::default();
    kept_compared(old, new, Some(&shelf), false);
    for (how, by) in spoiled {
        let c = kept_compared(new, next, Some(&shelf.changed(by)), false);
        assert!(!c.was_kept, "{how}");
        assert_eq!(said(&c), said(&fresh), "{how}");
        assert_eq!(c.initial.counts, fresh.initial.counts, "{how}");
    }
    // Another function, and another limit, are other questions.
    assert!(kept_compared(new, next, Some(&shelf), false).was_kept);
    assert!(!kept_compared(&new.replace("k < 5", "k < 4"), next, Some(&shelf), false).was_kept);
}
