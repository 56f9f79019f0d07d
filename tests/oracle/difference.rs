//! Difference verification: what is proved harmless brings no violation in any run, and pairs of
//! programs with known answers get them.
//!
//! `INVDIFF_ORACLE=2000 cargo test --release --test oracle difference -- --nocapture` tries so many generated
//! pairs; `INVDIFF_ORACLE_FROM` is the first seed.

use crate::generate_c;
use crate::mutants;
use crate::mutants::Random;
use crate::support;
use crate::support::tier::rounds;
use git_invdiff::analysis::difference::{Choice, differences};
use git_invdiff::analysis::{Options, memory};
use git_invdiff::difference::{Concerns, Detector, Remainder, Version, compare, is_harmless};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::instrument::{Residual, Source, automaton, residual};
use git_invdiff::interp::{Comparison, End, Generator, Limits, Pair, Program, run_pair};
use git_invdiff::ir::DataModel;
use git_invdiff::mvicfg::key::exact_body_hash;
use std::path::Path;
use std::sync::Arc;

/// Returns the program of one source, if all of it could be read.
pub fn program(source: &str, data_model: DataModel) -> Option<Program> {
    let tree = MemoryTree::new([("a.c", source)]);
    let options = c::Options { data_model, ..c::Options::default() };
    let unit = frontend::load_unit(&tree, Path::new("a.c"), &options).ok()?.unit;
    Some(Program::new(vec![Arc::new(unit)]))
}

fn harmless(old: &Program, new: &Program, function: &str, concerns: Concerns) -> bool {
    is_harmless(Version { program: old, function }, Version { program: new, function }, concerns)
}

/// Whether a run shows that the change brought a violation.
pub fn refutes(pair: &Pair, concerns: Concerns) -> bool {
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

#[test]
fn what_is_proved_harmless_brings_no_violation_in_any_run() {
    let (from, programs) =
        (rounds("INVDIFF_ORACLE_FROM", 0, 0) as u64, rounds("INVDIFF_ORACLE", 6, 12) as u64);
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let (mut pairs, mut proved, mut refuted, mut changed) = (0, 0, 0, 0);
    for seed in from..from + programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let base = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        let Some(old) = program(&base, DataModel::Lp64) else { continue };
        let same = ["f0", "f1", "f2", "main"].iter().all(|f| harmless(&old, &old, f, Concerns::default()));
        assert!(same, "seed {seed}: no change\n{base}");
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

/// The pairs of `fixtures/difference`: name, old and new text, whether they are harmless.
fn fixtures() -> Vec<(String, String, String, bool)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/difference");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|e| e.path().is_dir()) {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap();
        let (old, new) = (read("old.c"), read("new.c"));
        let harmless = new.starts_with("/* harmless:");
        assert!(harmless || new.starts_with("/* harmful:"), "{:?}", entry.path());
        found.push((entry.file_name().to_string_lossy().into_owned(), old, new, harmless));
    }
    found.sort();
    found
}

fn last_function(program: &Program) -> String {
    program.units()[0].functions.last().unwrap().name.to_string()
}

#[test]
fn known_pairs_get_their_answers() {
    let pairs = fixtures();
    assert!(pairs.len() >= 10);
    for (name, old, new, expected) in pairs {
        let (old, new) = (program(&old, DataModel::Lp64).unwrap(), program(&new, DataModel::Lp64).unwrap());
        let function = last_function(&new);
        let concerns = Concerns::of(&new);
        assert_eq!(harmless(&old, &new, &function, concerns), expected, "{name}");
        let mut inputs = Generator::new(&new, &function, 1);
        let mut refuted = || {
            let pair = run_pair((&old, &function), (&new, &function), &inputs.next(), &Limits::default());
            refutes(&pair, concerns)
        };
        assert_eq!((0..4_000).any(|_| refuted()), !expected, "{name}: a run shows the harm");
    }
}

#[test]
fn no_regression_of_the_verification_tasks_is_called_harmless() {
    let Some(folder) = support::oracle::shared("subjects/svcomp") else { return };
    let tasks = std::fs::read_to_string(folder.join("tasks.csv")).unwrap();
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        program(&text, DataModel::Ilp32).unwrap()
    };
    let mut proved = 0;
    for task in tasks.lines().skip(1) {
        let [_, old_name, new_name, was, is] = task.split(',').collect::<Vec<_>>()[..] else {
            panic!("{task}")
        };
        let (old, new) = (read(old_name), read(new_name));
        let version = |program| Version { program, function: "main" };
        let concerns = Concerns::of(&new);
        assert!(!concerns.aborts, "abort is an assumption there");
        let size = |detector| {
            let graph = compare(version(&old), version(&new), detector, concerns);
            (graph.is_harmless(), graph.condition().open.len(), graph.nodes.len())
        };
        let (dp, cond) = (size(Detector::DiffDp), size(Detector::DiffCond));
        println!(
            "{old_name} -> {new_name} ({was} -> {is}): harmless {}, {} of {} states open; diffCond {}, {} of {}",
            dp.0, dp.1, dp.2, cond.0, cond.1, cond.2
        );
        assert!(!(dp.0 || cond.0) || is == "true" || was == "false", "{task}");
        proved += usize::from(dp.0);
    }
    println!("{proved} proved harmless");
    // Among them assumptions that became stronger, and assertions that became weaker.
    assert!(proved >= 5);
}

/// The residual programs of a pair, by file; the automata of its entries.
fn written(old: &str, new: &str, data_model: DataModel) -> (Vec<Residual>, Vec<String>) {
    let options = c::Options { data_model, ..c::Options::default() };
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    let request = memory::request(&versions, options.clone(), Options { jobs: 1, ..Options::default() });
    let found = differences(&request, &Choice::default());
    let tree = &request.versions[1].tree;
    let mut remainder = Remainder::default();
    let entries = found.entries();
    entries.iter().for_each(|c| remainder.join(c.remainder.clone()));
    let alone = if let [only] = entries.as_slice() { Some(*only) } else { None };
    let source = Source::load(&**tree, Path::new("a.c"), &options).unwrap();
    let automata = found.entries().iter().map(|c| automaton(c, &|p: &Path| tree.read(p))).collect();
    (vec![residual(&source, &remainder, 0, alone)], automata)
}

/// Whether a compiler takes a source.
fn compiles(text: &[u8], name: &str) {
    let folder = invdiff_testing::scratch();
    let path = folder.path().join("residual.c");
    std::fs::write(&path, text).unwrap();
    let output =
        invdiff_testing::compiler().args(["-std=gnu11", "-fsyntax-only", "-w"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}\n{said}\n{}", String::from_utf8_lossy(text));
}

/// The text is in the language, and starts as verifiers of conditions expect.
fn well_formed(text: &str) {
    assert!(text.starts_with("OBSERVER AUTOMATON AssumptionAutomaton\n\nINITIAL STATE "));
    let read = super::automaton::read(text);
    assert!(read.is_ok_and(|states| states >= 2), "{:?}\n{text}", super::automaton::read(text));
}

#[test]
fn residual_programs_compile_and_still_fail_where_the_change_brought_a_violation() {
    for (name, old_text, new_text, is_harmless) in fixtures() {
        let (residuals, automata) = written(&old_text, &new_text, DataModel::Lp64);
        automata.iter().for_each(|a| well_formed(a));
        for residual in residuals {
            compiles(&residual.text, &name);
            let text = String::from_utf8(residual.text).unwrap();
            assert!(!is_harmless || residual.cuts > 0, "{name}");
            let load = |text: &str| program(text, DataModel::Lp64).unwrap();
            let (old, new, cut) = (load(&old_text), load(&new_text), load(&text));
            let function = last_function(&new);
            let concerns = Concerns::of(&new);
            let mut inputs = Generator::new(&new, &function, 1);
            let mut failures = 0;
            for _ in 0..1_000 {
                let input = inputs.next();
                let pair = run_pair((&old, &function), (&new, &function), &input, &Limits::default());
                if refutes(&pair, concerns) {
                    failures += 1;
                    let again =
                        run_pair((&cut, &function), (&new, &function), &pair.input, &Limits::default());
                    assert!(refutes_end(&again.old.end), "{name}: {:?}\n{text}", again.old.end);
                }
                if is_harmless {
                    // All of it is covered.
                    let again =
                        run_pair((&cut, &function), (&new, &function), &pair.input, &Limits::default());
                    assert!(!refutes_end(&again.old.end), "{name}: {:?}\n{text}", again.old.end);
                }
            }
            assert_eq!(failures > 0, !is_harmless, "{name}");
        }
    }
}

/// Wherever the change brings a violation the residual program fails as well, also where a variable in it tells the
/// ways apart.
#[test]
fn residual_programs_of_generated_pairs_still_fail() {
    let limits = Limits { fuel: 20_000, ..Limits::default() };
    let (mut programs, mut with_states, mut failures, mut spared) = (0, 0, 0, 0);
    for seed in 0..rounds("INVDIFF_RESIDUAL", 18, 150) as u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 5);
        let base = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        let mutant = mutants::mutant(&base, &mut random);
        let load = |text: &str| program(text, DataModel::Lp64);
        let Some((old, new)) = load(&base).zip(load(&mutant)) else { continue };
        let (residuals, automata) = written(&base, &mutant, DataModel::Lp64);
        automata.iter().for_each(|a| well_formed(a));
        let text = String::from_utf8(residuals[0].text.clone()).unwrap();
        let Some(cut) = load(&text) else { panic!("seed {seed}\n{text}") };
        programs += 1;
        with_states += usize::from(text.contains("invdiff_state"));
        let mut inputs = Generator::new(&new, "main", seed);
        for _ in 0..40 {
            let input = inputs.next();
            let pair = run_pair((&old, "main"), (&new, "main"), &input, &limits);
            let again = run_pair((&cut, "main"), (&new, "main"), &pair.input, &limits);
            let (end, fails) = (&again.old.end, refutes_end(&again.new.end));
            if refutes(&pair, Concerns::default()) {
                failures += 1;
                assert!(refutes_end(end), "seed {seed}: {end:?}\n{text}");
            }
            spared += usize::from(fails && !refutes_end(end));
        }
    }
    println!(
        "{programs} pairs, {with_states} residual programs with states: {failures} runs fail anew, and in the \
         residual programs; {spared} fail as they did, and not there"
    );
    assert!(failures > 0 && with_states > 0, "{failures}, {with_states}");
}

fn refutes_end(end: &End) -> bool {
    matches!(end, End::AssertFailed { .. })
}

#[test]
fn residual_programs_of_the_verification_tasks_compile() {
    let Some(folder) = support::oracle::shared("subjects/svcomp") else { return };
    let tasks = std::fs::read_to_string(folder.join("tasks.csv")).unwrap();
    for task in tasks.lines().skip(1) {
        let names: Vec<&str> = task.split(',').collect();
        let text = |i: usize| std::fs::read_to_string(folder.join(names[i])).unwrap();
        let (residuals, automata) = written(&text(1), &text(2), DataModel::Ilp32);
        assert_eq!(automata.len(), 1);
        automata.iter().for_each(|a| well_formed(a));
        for residual in residuals {
            assert!(residual.cuts > 0, "{task}: half of the program is the same");
            compiles(&residual.text, task);
        }
    }
}
