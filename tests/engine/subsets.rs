//! Facts of some versions: which versions hold them, what is known of the others, and what that costs.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Fact, NotHeld, PointKind, Report, Status, Version};
use std::collections::BTreeMap;

fn analyse(versions: &[&str], options: Options) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", *v)]).collect();
    diff(&memory::request(&files, c::Options::default(), options))
}

/// Facts of some versions at the exit of `f`, by what they say.
fn subsets(report: &Report) -> BTreeMap<String, &Fact> {
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let exits = points.filter(|p| p.kind == PointKind::Exit);
    exits.flat_map(|p| &p.subset_invariants).map(|f| (f.text.clone(), f)).collect()
}

/// Functions `f` of an `int x`, by their bodies.
fn bodies(bodies: &[&str]) -> Vec<String> {
    bodies.iter().map(|b| format!("int f(int x)\n{{\n    {b}\n}}\n")).collect()
}

/// Checks that a fact is proved in these versions alone, and what is known of the others.
#[track_caller]
fn check(texts: &[&str], options: Options, fact: &str, held: &[Version], others: &[(Version, NotHeld)]) {
    let sources = bodies(texts);
    let report = analyse(&sources.iter().map(String::as_str).collect::<Vec<_>>(), options);
    let found = subsets(&report);
    let Some(found) = found.get(fact) else { panic!("{fact} is not among {:?}", found.keys()) };
    assert_eq!(found.versions, held, "{fact}");
    assert_eq!(found.not_held, others.iter().copied().collect(), "{fact}");
    assert!(found.status.keys().eq(held) && found.status.values().all(|s| *s == Status::Proved), "{fact}");
    assert!(found.reached.values().all(|r| *r), "{fact}");
}

use NotHeld::{NotReached, Open, Refuted};

#[test]
fn what_is_lost_made_and_mended_is_told_with_its_versions() {
    let clamp = "return x < 0 ? 0 : x & 1023;";
    let plain = Options::default;
    check(
        &[clamp, "return x / 2;", "return x < 0 ? 0 : x & 511;", "return x < 0 ? 0 : x & 255;"],
        plain(),
        "\\result >= 0",
        &[1, 3, 4],
        &[(2, Refuted)],
    );
    check(
        &[clamp, "return x < 0 ? 0 : x & 511;", "return x / 2;"],
        plain(),
        "\\result >= 0",
        &[1, 2],
        &[(3, Refuted)],
    );
    check(
        &["return x / 2;", clamp, "return x < 0 ? 1 : x & 511;"],
        plain(),
        "\\result >= 0",
        &[2, 3],
        &[(1, Refuted)],
    );
    // Versions of one body stand or fall together.
    check(
        &[clamp, "return x / 2;", "return x / 2;", clamp],
        Options { all: true, ..plain() },
        "\\result >= 0",
        &[1, 4],
        &[(2, Refuted), (3, Refuted)],
    );
}

/// A fact that nobody proves of a version, and that no run breaks there, is not called lost.
#[test]
fn what_is_only_not_proved_is_open() {
    // An even number is never 4 * k + 1, whichever way it is written; the first version says less of x.
    let report = |last: &str| {
        let sources = bodies(&["x &= ~1; return x;", "x &= ~1; return x + 2;", last]);
        analyse(&sources.iter().map(String::as_str).collect::<Vec<_>>(), Options::default())
    };
    let (even, odd) = (report("return (int)((unsigned)x * 2u);"), report("return x | 1;"));
    for (report, may_be_refuted) in [(even, false), (odd, true)] {
        let found = subsets(&report);
        let facts: Vec<_> = found.values().filter(|f| f.text.contains("% 2 == 0")).collect();
        let refuted = facts.iter().any(|f| f.not_held.values().any(|n| *n == Refuted));
        assert!(!refuted || may_be_refuted, "{found:#?}");
        assert!(
            facts.iter().all(|f| f.not_held.values().all(|n| may_be_refuted || *n == Open)),
            "{found:#?}"
        );
    }
}

/// Of a version of which every run is undefined everything holds, which is no reason to name it.
#[test]
fn versions_that_no_run_comes_to_the_end_of_hold_nothing() {
    let texts = ["return x < 0 ? 0 : x & 7;", "int r; return r & 3;", "return x / 2;"];
    let sources = bodies(&texts);
    let options = Options { all: true, ..Options::default() };
    let report = analyse(&sources.iter().map(String::as_str).collect::<Vec<_>>(), options);
    let found = subsets(&report);
    assert!(!found.is_empty());
    for fact in found.values() {
        assert!(!fact.versions.contains(&2), "{fact:?}");
        assert_ne!(fact.not_held.get(&2), Some(&Refuted), "{fact:?}");
    }
    let bound = found.get("\\result >= 0").expect("of version 1");
    assert_eq!((&bound.versions[..], bound.not_held[&2]), (&[1][..], NotReached));
}

/// With two versions a fact of one is a side of a churn, and is listed for who asks alone; the solver is not asked
/// more for it.
#[test]
fn two_versions_are_compared_as_ever() {
    let texts = ["return x < 0 ? 0 : x & 1023;", "return x / 2;"];
    let sources = bodies(&texts);
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    for all in [false, true] {
        let plain = analyse(&sources, Options { all, ..Options::default() });
        let asked = analyse(&sources, Options { all, subsets: true, ..Options::default() });
        assert!(subsets(&plain).is_empty());
        let found = subsets(&asked);
        let value = found["\\result == (x < 0 ? 0 : x & 0x3ff)"];
        assert_eq!((&value.versions[..], value.not_held[&2]), (&[1][..], Refuted));
        assert_eq!(plain.cost.solver_queries, asked.cost.solver_queries);
        let mut without = asked.clone();
        for point in without.functions.iter_mut().flat_map(|f| &mut f.points) {
            let some = std::mem::take(&mut point.subset_invariants).len();
            assert!(some > 0 || point.kind != PointKind::Exit);
            point.left_out = plain.functions[0].points[0].left_out;
        }
        without.cost = plain.cost.clone();
        assert_eq!(without, plain);
    }
}

/// What a program prints is a fact, too; a commit that is taken back mends it.
#[test]
fn what_is_printed_again_is_mended() {
    let program = |print: &str| {
        let read = "int n;\n    scanf(\"%d\", &n);\n";
        format!("#include <stdio.h>\nint f(int x)\n{{\n    {read}    {print}\n    return 0;\n}}\n")
    };
    let plain = "printf(\"%d\\n\", n + x);";
    let sources = [plain, "printf(\"%d!\\n\", n + x);", plain].map(program);
    let report = analyse(&sources.each_ref().map(String::as_str), Options::default());
    let found = subsets(&report);
    let fact = found.values().find(|f| f.versions == [1, 3]).expect("a fact of versions 1 and 3");
    assert!(fact.text.starts_with("output == printf("), "{}", fact.text);
    assert_eq!(fact.not_held, BTreeMap::from([(2, Refuted)]));
    // The second version takes another number: what the law says of it, no run of the two tells.
    let other = sources[0].replace("scanf", "scanf(\"%*d\"); scanf");
    let report = analyse(&[&sources[0], &other, &sources[0]], Options::default());
    let found = subsets(&report);
    let fact = found.values().find(|f| f.versions == [1, 3] && f.text.starts_with("output"));
    assert!(fact.is_none_or(|f| f.not_held[&2] == Open), "{fact:?}");
}

/// All that is said of a version alone is said of it among others: the same facts, in the versions that have the
/// same body.
#[test]
fn facts_of_a_subset_are_those_of_its_versions() {
    let texts = [
        "return x & 15;",
        "return (x & 15) + 1;",
        "return (x & 15) + 1;",
        "return x > 9 ? 9 : x;",
        "return x & 15;",
    ];
    let sources = bodies(&texts);
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let report = analyse(&sources, Options { all: true, ..Options::default() });
    let found = subsets(&report);
    let versions = |text: &str| found.get(text).map(|f| f.versions.clone()).unwrap_or_default();
    assert_eq!(versions("\\result == (x & 0xf)"), [1, 5]);
    assert_eq!(versions("\\result == (x & 0xf) + 1"), [2, 3]);
    assert_eq!(versions("\\result >= 0"), [1, 2, 3, 5]);
    assert_eq!(versions("\\result <= x"), [4]);
    assert_eq!(found["\\result >= 0"].not_held, BTreeMap::from([(4, Refuted)]));
}
