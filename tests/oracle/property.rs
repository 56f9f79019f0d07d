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
use git_invdiff::report::{AssertionKind, AssertionOutcome, Report};
use std::collections::BTreeMap;
use std::sync::Arc;

fn checked(old: &str, new: &str) -> Report {
    let differencing = Some(Differencing { compare_full: false });
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
            let report = checked(&old, &new);
            let mut said = BTreeMap::new();
            for a in report.assertions.iter().filter(|a| a.kind == AssertionKind::Assertion) {
                let holds = a.outcome.get(&2) == Some(&AssertionOutcome::NotFail);
                if let Some(line) = a.lines.get(&2).filter(|_| holds) {
                    held += 1;
                    *steps.entry(a.decided_by.clone()).or_insert(0) += 1;
                    said.insert((a.function.clone(), *line, a.text.clone()), a.decided_by.clone());
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
