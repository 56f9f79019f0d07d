//! How much of what is found depends on the tests that the loop begins with (issue: the paper's "quite similar").
//!
//! A function's tests are those of a whole run. Of these 5, 10, 15, 20 % by chance and all are first tests, and an input
//! of every path is. What one suite proves no other one may hold for less, and of all facts nine of ten are in common; of
//! those that are proved, 97 of a hundred: a suite may justify a candidate at the limit of confidence by a row or two.

use super::tests::{WBS, found_of, shared};
use super::*;
use crate::testing::{Random, tier};
use std::collections::BTreeSet;
use std::path::Path;

/// Shares of the tests, in percent.
const SHARES: [u64; 5] = [5, 10, 15, 20, 100];

/// What is found of a function: what of it is proved, and all.
type Facts = (BTreeSet<String>, BTreeSet<String>);

fn facts(of: (&str, Option<&str>), harness: Option<&str>, first: &[Vec<i128>]) -> (Facts, Discovered) {
    let settings = Settings { queries: 100_000, paths: 24, ..Settings::default() };
    let found = found_of(of, harness, first, &settings);
    let all = |is: &dyn Fn(&&Invariant) -> bool| {
        let all = found.invariants.iter().filter(is);
        all.map(|i| format!("{}: {}", i.point.name(), i.text)).collect()
    };
    ((all(&|i| i.status == Status::Proved), all(&|_| true)), found)
}

/// What suites have in common.
#[derive(Default)]
struct Compared {
    /// Proved by one suite, and listed without a proof by another one.
    weaker: Vec<String>,
    /// Proved by one suite, and not listed by another one.
    unlisted: Vec<String>,
    /// Proved by some suite.
    proved: usize,
    /// Of all suites, and of some.
    common: usize,
    some: usize,
}

fn compared((text, name): (&str, Option<&str>), harness: Option<&str>) -> Compared {
    let (_, whole) = facts((text, name), harness, &[]);
    let mut suites: Vec<Vec<Vec<i128>>> = Vec::new();
    for share in SHARES {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ share | 1);
        let is_taken = |_: &&Vec<i128>| share == 100 || random.below(100) < share;
        suites.push(whole.tests.iter().filter(is_taken).cloned().collect());
    }
    // Neither random runs nor turns: an input of every path.
    let none = Settings { runs: 0, iterations: 0, paths: 24, ..Settings::default() };
    suites.push(found_of((text, name), harness, &[], &none).tests);
    let all: Vec<Facts> = suites.iter().map(|first| facts((text, name), harness, first).0).collect();
    let proved: BTreeSet<&String> = all.iter().flat_map(|f| &f.0).collect();
    let some: BTreeSet<&String> = all.iter().flat_map(|f| &f.1).collect();
    let is_weaker = |t: &&&String| all.iter().any(|f| f.1.contains(**t) && !f.0.contains(**t));
    let is_unlisted = |t: &&&String| all.iter().any(|f| !f.1.contains(**t));
    Compared {
        weaker: proved.iter().filter(is_weaker).map(|t| (*t).clone()).collect(),
        unlisted: proved.iter().filter(is_unlisted).map(|t| (*t).clone()).collect(),
        proved: proved.len(),
        common: some.iter().filter(|t| all.iter().all(|f| f.1.contains(**t))).count(),
        some: some.len(),
    }
}

/// The names of the functions that a text defines for others.
fn functions(text: &str) -> Vec<String> {
    let tree = crate::history::MemoryTree::new([("a.c", text)]);
    let options = crate::frontend::c::Options::default();
    let unit = crate::frontend::load_unit(&tree, Path::new("a.c"), &options).unwrap().unit;
    unit.functions.iter().filter(|f| !f.is_static).map(|f| f.name.to_string()).collect()
}

#[test]
fn first_tests_decide_little() {
    let mut subjects: Vec<(String, String, Option<String>, Option<String>)> = Vec::new();
    if let Some(text) = shared("wbs/wbs.c") {
        subjects.push(("WBS, figure 1".into(), text, None, Some(WBS.to_owned())));
    }
    let is_all = tier::rounds("INVDIFF_SUITES", 0, 1) > 0;
    if let Some(text) = shared("tcas/tcas.c").filter(|_| is_all) {
        let harness = format!("advise({})", ["?"; 12].join(", "));
        subjects.push(("TCAS".into(), text, None, Some(harness)));
    }
    let files = match is_all {
        false => &["basics.c"][..],
        true => {
            &["basics.c", "saturate.c", "dates.c", "gcd.c", "numbers.c", "bits.c", "encoding.c", "machines.c"]
        }
    };
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/textbook").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        for name in functions(&text) {
            subjects.push((format!("{file} {name}"), text.clone(), Some(name), None));
        }
    }
    let mut sum = Compared::default();
    for (subject, text, name, harness) in &subjects {
        let one = compared((text, name.as_deref()), harness.as_deref());
        println!("{subject:<32} {} of {} facts in common", one.common, one.some);
        one.unlisted
            .iter()
            .for_each(|text| println!("    proved by some suites, not listed by others: {text}"));
        sum.weaker.extend(one.weaker.into_iter().map(|text| format!("{subject}: {text}")));
        sum.unlisted.extend(one.unlisted);
        (sum.proved, sum.common, sum.some) =
            (sum.proved + one.proved, sum.common + one.common, sum.some + one.some);
    }
    let percent = |n: usize, of: usize| 100.0 * n as f64 / of.max(1) as f64;
    let same = sum.proved - sum.unlisted.len();
    println!("{same} of {} proved facts are the same: {:.1} %", sum.proved, percent(same, sum.proved));
    println!("{} of {} facts in common: {:.1} %", sum.common, sum.some, percent(sum.common, sum.some));
    assert!(sum.weaker.is_empty(), "{:#?}", sum.weaker);
    assert!(same * 100 >= sum.proved * 97, "{same} of {}", sum.proved);
    assert!(sum.common * 10 >= sum.some * 9, "{} of {}", sum.common, sum.some);
}
