//! What `check` says of assertions held against runs: of one that is said to hold no run may show that it fails, and
//! where outcomes are kept the same is said.
//!
//! `INVDIFF_PROPERTY=400 cargo test --test oracle property -- --nocapture` tries so many generated pairs;
//! `INVDIFF_PROPERTY_FROM` is the first seed.

use super::difference::program;
use crate::generate_c;
use crate::mutants::{self, Random};
use crate::support::tier::rounds;
use git_invdiff::analysis::{Differencing, Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::interp::{End, Generator, Limits, run};
use git_invdiff::ir::DataModel;
use git_invdiff::report::{self, AssertionKind, AssertionOutcome, DecidedBy, Judgement, Report};
use std::collections::BTreeMap;
use std::sync::Arc;

fn checked(old: &str, new: &str, without_condition: bool) -> Report {
    let differencing = Some(Differencing { without_condition, ..Differencing::default() });
    let options = Options { differencing, properties_only: true, jobs: 1, ..Options::default() };
    diff(&memory::request(&[vec![("a.c", old)], vec![("a.c", new)]], c::Options::default(), options))
}

#[test]
fn what_is_said_to_hold_fails_in_no_run() {
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let from = rounds("INVDIFF_PROPERTY_FROM", 0, 0) as u64;
    let (mut held, mut steps, mut fails) = (0, BTreeMap::new(), 0);
    for seed in from..from + rounds("INVDIFF_PROPERTY", 2, 20) as u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 3);
        let old = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        for _ in 0..3 {
            let new = mutants::mutant(&old, &mut random);
            let Some(loaded) = program(&new, DataModel::Lp64) else { continue };
            let loaded = Arc::new(loaded);
            let report = checked(&old, &new, false);
            let mut said = BTreeMap::new();
            for a in report.assertions.iter().filter(|a| a.kind == AssertionKind::Assertion) {
                let holds = a.outcome.get(&2) == Some(&AssertionOutcome::NotFail);
                if let Some(line) = a.lines.get(&2).filter(|_| holds) {
                    held += 1;
                    *steps.entry(a.decided_by).or_insert(0) += 1;
                    said.insert((a.function.clone(), *line, a.text.clone()), a.decided_by);
                }
            }
            for function in ["f0", "f1", "f2"] {
                if !said.keys().any(|(f, ..)| f == function) {
                    continue;
                }
                let mut inputs = Generator::new(&loaded, function, seed);
                for _ in 0..200 {
                    let input = inputs.next();
                    let outcome = run(&loaded, function, &input, &limits);
                    let End::AssertFailed { text, place } = &outcome.end else { continue };
                    fails += 1;
                    let failed = said.get(&(function.to_owned(), place.line, text.clone()));
                    assert!(
                        failed.is_none() || outcome.overflowed(),
                        "seed {seed}, {function}: {text} in line {} by {failed:?}, on {input:?}\n{}\n{new}",
                        place.line,
                        mutants::difference(&old, &new)
                    );
                }
            }
        }
    }
    println!("{held} assertions said to hold ({steps:?}); {fails} runs fail at others");
    assert!(held > 0 && fails > 0, "{held}, {fails}");
}

/// A function with assertions between statements that have to do with some of them.
fn asserting(random: &mut Random) -> String {
    const STATEMENTS: [&str; 9] = [
        "x = (a & 15) + 3;",
        "y = (b & 7) * 2;",
        "if (a > b) x = y + 1;",
        "if (b < 0) return -1;",
        "if (a == 4) { y = 5; } else { y = y + x; }",
        "for (int i = 0; i < 3; i++) x = x + i;",
        "x = x ^ 1;",
        "if (y > 20) y = 20;",
        "z = other(y);",
    ];
    const ASSERTIONS: [&str; 6] =
        ["x >= 0", "y != 77", "a < 100 || x < 9", "x + y < 64", "z > 3", "b >= 0 || y >= 0"];
    let mut lines = vec!["int other(int);", "int f(int a, int b)", "{", "int x = 1, y = 2, z = 9;"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    for _ in 0..7 {
        lines.push(STATEMENTS[random.below(STATEMENTS.len())].to_owned());
        if random.below(2) == 0 {
            lines.push(format!("assert({});", ASSERTIONS[random.below(ASSERTIONS.len())]));
        }
    }
    format!("#include <assert.h>\n{}\nreturn x + y;\n}}\n", lines.join("\n"))
}

/// What was asked for the assertions of generated pairs.
#[derive(Debug, Default)]
struct Asked {
    queries: u64,
    nodes: u64,
    /// Assertions that fail anew, or are not decided.
    broken: usize,
    open: usize,
}

impl Asked {
    fn add(&mut self, report: &Report) {
        self.queries += report.cost.solver_queries;
        self.nodes += report.cost.nodes_visited;
        let judged = report.assertions.iter().map(|a| a.judgement(2));
        for judgement in judged {
            self.broken += usize::from(judgement == Judgement::Regression);
            self.open += usize::from(judgement == Judgement::Undecided);
        }
    }
}

/// An assertion of a changed function that difference verification covers is not looked at by what comes behind it.
/// No run may fail it that did not fail before, and nothing else may say that it is broken.
#[test]
fn what_a_condition_covers_fails_in_no_run_that_did_not_fail() {
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let from = rounds("INVDIFF_PROPERTY_FROM", 0, 0) as u64;
    let (mut with, mut without, mut covered, mut failed) = (Asked::default(), Asked::default(), 0, 0);
    for seed in from..from + rounds("INVDIFF_CONDITIONS", 15, 300) as u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 5);
        let old = asserting(&mut random);
        let new = mutants::mutant(&old, &mut random);
        let [before, after] = [&old, &new].map(|text| program(text, DataModel::Lp64));
        let (Some(before), Some(after)) = (before, after) else { continue };
        let (before, after) = (Arc::new(before), Arc::new(after));
        let [narrow, whole] = [false, true].map(|without| checked(&old, &new, without));
        let said = || format!("seed {seed}\n{}\n{old}", mutants::difference(&old, &new));
        for a in &whole.assertions {
            let same = narrow.assertions.iter().find(|b| b.id == a.id);
            let is = |j: Judgement| (a.judgement(2) == j, same.is_some_and(|b| b.judgement(2) == j));
            let (regression, kept) = (is(Judgement::Regression), is(Judgement::Kept));
            // Judged alone, it is broken on an input, too, that another one stops before.
            let is_stopped = a.counterexample.as_ref().is_some_and(|w| w.old.end != report::End::Return);
            assert!(regression.0 == regression.1 || is_stopped, "{a:?}\n{same:?}\n{}", said());
            assert!(kept.1 || !kept.0, "{a:?}\n{same:?}\n{}", said());
        }
        with.add(&narrow);
        without.add(&whole);
        for a in narrow.assertions.iter().filter(|a| a.decided_by == DecidedBy::DifferenceGraph) {
            let (text, Some(line)) = (&a.text, a.lines.get(&2)) else { continue };
            covered += 1;
            let fails = |end: &End| matches!(end, End::AssertFailed { text: t, place } if t == text && place.line == *line);
            let mut inputs = Generator::new(&after, &a.function, seed);
            for _ in 0..300 {
                let input = inputs.next();
                let outcome = run(&after, &a.function, &input, &limits);
                if !fails(&outcome.end) || outcome.overflowed() {
                    continue;
                }
                failed += 1;
                let old = run(&before, &a.function, &input, &limits);
                let is_old =
                    matches!(old.end, End::AssertFailed { .. } | End::Undefined { .. }) || old.overflowed();
                assert!(is_old || !old.end.is_definite(), "{text} in line {line} on {input:?}\n{}", said());
            }
        }
    }
    println!("{covered} assertions are covered, {failed} runs fail them, as before");
    println!("with the condition {with:?}\nwithout it {without:?}");
    assert!(covered > 0 && with.queries < without.queries, "{covered} {with:?} {without:?}");
}
