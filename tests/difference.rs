//! Difference verification: what is proved harmless brings no violation in any run, and pairs of
//! programs with known answers get them.
//!
//! `INVDIFF_ORACLE=2000 cargo test --release --test difference -- --nocapture` tries so many generated
//! pairs; `INVDIFF_ORACLE_FROM` is the first seed.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "support/generate_c/mod.rs"]
mod generate_c;
#[path = "support/mutants.rs"]
mod mutants;
mod support;

use git_invdiff::difference::{Concerns, Version, is_harmless};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::interp::{Comparison, End, Generator, Limits, Pair, Program, run_pair};
use git_invdiff::ir::DataModel;
use git_invdiff::mvicfg::key::exact_body_hash;
use mutants::Random;
use std::path::Path;
use std::sync::Arc;

/// Returns the program of one source, if all of it could be read.
fn program(source: &str, data_model: DataModel) -> Option<Program> {
    let tree = MemoryTree::new([("a.c", source)]);
    let options = c::Options { data_model, ..c::Options::default() };
    let unit = frontend::load_unit(&tree, Path::new("a.c"), &options).ok()?.unit;
    Some(Program::new(vec![Arc::new(unit)]))
}

fn harmless(old: &Program, new: &Program, function: &str, concerns: Concerns) -> bool {
    is_harmless(Version { program: old, function }, Version { program: new, function }, concerns)
}

/// Whether a run shows that the change brought a violation.
fn refutes(pair: &Pair, concerns: Concerns) -> bool {
    let failed = |end: &End| match end {
        End::AssertFailed { .. } => true,
        End::Abort => concerns.aborts,
        _ => false,
    };
    let undefined =
        |o: &git_invdiff::interp::Outcome| matches!(o.end, End::Undefined { .. }) || o.overflowed();
    let new_fails = failed(&pair.new.end) || concerns.undefined && undefined(&pair.new);
    // Control that gets to `__builtin_unreachable()` is a violation, and undefined.
    let old_fails =
        failed(&pair.old.end) || undefined(&pair.old) || matches!(pair.old.end, End::Unsupported { .. });
    new_fails && !old_fails
}

/// Whether a function or something that it may call differs.
fn is_changed(old: &Program, new: &Program, function: &str) -> bool {
    let hash = |program: &Program, name: &str| program.function(name).map(exact_body_hash);
    let entries = ["f0", "f1", "f2", "main"];
    let names = new.units().iter().flat_map(|u| &u.functions).map(|f| &*f.name);
    let concerns = |name: &str| name == function || function == "main" || !entries.contains(&name);
    let mut changed = names.filter(|n| concerns(n)).map(|n| hash(old, n) != hash(new, n));
    old.function(function).is_some() && changed.any(|c| c)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn what_is_proved_harmless_brings_no_violation_in_any_run() {
    let (from, programs) = (number("INVDIFF_ORACLE_FROM", 0), number("INVDIFF_ORACLE", 12));
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let (mut pairs, mut proved, mut refuted, mut changed) = (0, 0, 0, 0);
    for seed in from..from + programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let base = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        let Some(old) = program(&base, DataModel::Lp64) else { continue };
        for _ in 0..6 {
            let mutant = mutants::mutant(&base, &mut random);
            let Some(new) = program(&mutant, DataModel::Lp64) else { continue };
            // `main` runs all of them, slowly.
            for function in ["f0", "f1", "f2", "main"].into_iter().take(if seed % 6 == 0 { 4 } else { 3 }) {
                if !is_changed(&old, &new, function) {
                    continue;
                }
                for undefined in [false, true] {
                    let concerns = Concerns { aborts: false, undefined };
                    let claimed = harmless(&old, &new, function, concerns);
                    pairs += 1;
                    proved += usize::from(claimed);
                    let mut inputs = Generator::new(&new, function, seed);
                    let mut found = false;
                    for _ in 0..100 {
                        let pair = run_pair((&old, function), (&new, function), &inputs.next(), &limits);
                        changed += usize::from(matches!(pair.verdict, Comparison::Different(_)));
                        if refutes(&pair, concerns) {
                            found = true;
                            assert!(
                                !claimed,
                                "seed {seed}, {function}, {concerns:?}: {:?} became {:?} on {:?}\n{}",
                                pair.old.end,
                                pair.new.end,
                                pair.input,
                                mutants::difference(&base, &mutant)
                            );
                            break;
                        }
                    }
                    refuted += usize::from(found);
                }
            }
        }
    }
    println!(
        "{pairs} pairs of functions: {proved} proved harmless, {refuted} shown harmful; {changed} runs differ"
    );
    // Both answers must be there, or the test says nothing.
    assert!(proved > pairs / 10 && refuted > pairs / 40, "{proved} of {pairs}, {refuted}");
}
