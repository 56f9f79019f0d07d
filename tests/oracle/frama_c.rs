//! Frama-C as a second opinion: its Eva, an abstract interpreter that knows nothing of us, verifies programs with and
//! without our conditions, and judges our facts as contracts in the source (ACSL).
//!
//! *Residual programs.* What a condition covers need not be verified, so where Eva proves that a residual program never
//! fails, no run may show a violation that the change brought. The table says what it proves with the condition and
//! what without; `cargo test --test oracle frama_c -- --nocapture` prints it (a part of `docs/svcomp.md`).
//!
//! *Facts.* Proved facts of generated functions become `ensures` clauses, and Eva runs the functions on many arguments:
//! none may be refuted. Arithmetic of ACSL is that of unbounded integers, so facts that compute are left out.
//!
//! Everything here is skipped where there is no `frama-c` (Debian: `frama-c-base`).

use super::difference::{program, refutes};
use crate::compiled::{self, Interface};
use crate::generate_c;
use crate::mutants::{self, Random};
use crate::support;
use crate::support::tier::{rounds, skipped};
use git_invdiff::analysis::difference::{Choice, differences};
use git_invdiff::analysis::{Options, memory};
use git_invdiff::difference::{Concerns, Detector, Remainder};
use git_invdiff::fact::{self, Binary, Expression, Kind};
use git_invdiff::frontend::c;
use git_invdiff::instrument::{Source, residual};
use git_invdiff::interp::{Generator, Limits, run_pair};
use git_invdiff::ir::{CType, DataModel, Function, Unit};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn is_there() -> bool {
    let there = Command::new("frama-c").arg("-version").output().is_ok_and(|o| o.status.success());
    if !there {
        skipped("frama-c", "no Frama-C");
    }
    there
}

/// What `timeout` exits with.
const OUT_OF_TIME: i32 = 124;

/// What Eva says of a program; `None` where Frama-C does not know a part of the language (arrays of variable length,
/// `long double`) or takes too long. The error is what it said instead.
fn eva(text: &str, options: &[&str]) -> Result<Option<String>, String> {
    let folder = invdiff_testing::scratch();
    std::fs::write(folder.path().join("a.c"), text).map_err(|e| e.to_string())?;
    let mut command = Command::new("timeout");
    command.env("HOME", folder.path());
    command.args(["20", "frama-c", "-eva", "-no-warn-signed-overflow", "-eva-msg-key=-initial-state"]);
    let output = command.args(options).arg(folder.path().join("a.c")).output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let unknown = said.contains("unimplemented feature") || said.contains("VLAs may only");
    let unknown = unknown || output.status.code() == Some(OUT_OF_TIME);
    match said.contains("ANALYSIS SUMMARY") {
        _ if said.contains("annot-error") => Err(format!("{said}\n{text}")),
        true => Ok(Some(said)),
        false if unknown => Ok(None),
        false => Err(format!("{said}\n{}\n{text}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Whether Eva proves that a program never fails, if Frama-C can read it. In verification tasks `reach_error` must not be called.
fn never_fails(text: &str, data_model: DataModel) -> Result<Option<(bool, Duration)>, String> {
    let start = Instant::now();
    let options = ["-machdep", machine(data_model), "-eva-precision", "5"];
    let Some(said) = eva(&with_contracts(text), &options)? else { return Ok(None) };
    let of_failure = |line: &&str| line.contains("precondition 'never'") || line.contains("__FC_assert");
    let failing = said.lines().filter(of_failure).any(|l| l.contains("got status"));
    Ok(Some((!failing, start.elapsed())))
}

fn machine(data_model: DataModel) -> &'static str {
    if data_model == DataModel::Ilp32 { "x86_32" } else { "x86_64" }
}

/// A verification task with what must not be called.
fn with_contracts(text: &str) -> String {
    let contract = match text.contains("reach_error") {
        // An abort is an assumption there.
        true => {
            "/*@ requires never: \\false; */ extern void reach_error(void);\n\
             /*@ assigns \\nothing; ensures \\false; */ extern void abort(void);\n"
        }
        false => "",
    };
    format!("{contract}{text}")
}

/// The residual program of a change by one detector.
fn residual_of(old: &str, new: &str, data_model: DataModel, detector: Detector) -> (String, usize) {
    let options = c::Options { data_model, ..c::Options::default() };
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    let request = memory::request(&versions, options.clone(), Options { jobs: 1, ..Options::default() });
    let found = differences(&request, &Choice { detector, ..Choice::default() });
    let entries = found.entries();
    let mut remainder = Remainder::default();
    entries.iter().for_each(|c| remainder.join(c.remainder.clone()));
    let states = entries.iter().map(|c| c.graph.condition()).map(|c| c.open.len() + c.accepting.len()).sum();
    let alone = if let [only] = entries.as_slice() { Some(*only) } else { None };
    let source = Source::load(&*request.versions[1].tree, Path::new("a.c"), &options).unwrap();
    let text = match entries.is_empty() {
        // Nothing differs that anything calls.
        true => new.as_bytes().to_vec(),
        false => residual(&source, &remainder, 0, alone).text,
    };
    (String::from_utf8(text).unwrap(), states)
}

/// Generated programs that WP judges.
const MOST_BY_WP: usize = 4;

#[derive(Default)]
struct Proved {
    programs: usize,
    /// Without a condition, with diffCond's, with diffDP's.
    by_way: [usize; 3],
    /// The same by WP.
    by_wp: [usize; 3],
    times: [Duration; 3],
    regressions: usize,
}

/// Verifies a change in three ways; `regressions`: whether runs show one.
fn verify(name: &str, old: &str, new: &str, data_model: DataModel, regresses: bool, sum: &mut Proved) {
    let (mut cells, mut answers) = (Vec::new(), Vec::new());
    for way in 0..3 {
        let (text, size) = match way {
            0 => (new.to_owned(), None),
            _ => {
                let detector = if way == 1 { Detector::DiffCond } else { Detector::DiffDp };
                let (text, size) = residual_of(old, new, data_model, detector);
                (text, Some(size))
            }
        };
        let answer = match never_fails(&text, data_model) {
            // A mutant may lack a declaration.
            Err(_) if way == 0 => return,
            answer => answer.unwrap_or_else(|e| panic!("{name}: {e}")),
        };
        let Some((proved, time)) = answer else { return };
        answers.push((proved, time));
        assert!(!(proved && regresses), "{name}, way {way}: a violation that runs show is cut off\n{text}");
        let states = size.map_or(String::new(), |s| format!(", {s} states"));
        // What Frama-C's own `assert` requires, or that `reach_error` is never called.
        let is_task = text.contains("reach_error");
        let contract = if is_task { "never" } else { "nonnull_c" };
        let options = ["-machdep", machine(data_model), "-wp-prop", contract];
        // It takes seconds for each assertion that it does not prove.
        let is_asked = is_task || sum.programs < rounds("INVDIFF_FRAMA_C_BY_WP", MOST_BY_WP, MOST_BY_WP);
        let by_wp = if is_asked { proved_by_wp(&with_contracts(&text), &options) } else { None };
        let all = by_wp.is_some_and(|(proved, all)| proved == all);
        assert!(!(all && regresses), "{name}, way {way}: WP proves what runs refute\n{text}");
        sum.by_wp[way] += usize::from(all);
        let wp = by_wp.map_or(String::new(), |(proved, all)| format!(", WP {proved} of {all}"));
        let word = if proved { "proved" } else { "open" };
        cells.push(format!("{word}, {} ms{states}{wp}", time.as_millis()));
    }
    for (way, (proved, time)) in answers.into_iter().enumerate() {
        sum.by_way[way] += usize::from(proved);
        sum.times[way] += time;
    }
    sum.programs += 1;
    sum.regressions += usize::from(regresses);
    println!("| {name} | {} |", cells.join(" | "));
}

fn table(sum: &Proved) {
    let ms = |way: usize| sum.times[way].as_millis();
    println!(
        "| {} pairs, {} of them regressions | {} proved, {} ms | {} proved, {} ms | {} proved, {} ms |",
        sum.programs,
        sum.regressions,
        sum.by_way[0],
        ms(0),
        sum.by_way[1],
        ms(1),
        sum.by_way[2],
        ms(2)
    );
    println!("by WP: {:?}", sum.by_wp);
}

#[test]
fn residual_programs_of_the_tasks_are_easier_to_verify() {
    let Some(folder) = support::oracle::shared("subjects/svcomp").filter(|_| is_there()) else { return };
    let tasks = std::fs::read_to_string(folder.join("tasks.csv")).unwrap();
    let mut sum = Proved::default();
    let tasks: Vec<&str> = tasks.lines().skip(1).collect();
    let most = rounds("INVDIFF_FRAMA_C_TASKS", 1, tasks.len());
    for task in tasks.iter().skip(tasks.len().saturating_sub(most)) {
        let [_, old_name, new_name, was, is] = task.split(',').collect::<Vec<_>>()[..] else {
            panic!("{task}")
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let short =
            |name: &str| name.trim_start_matches("combinations/").replace(".c.cil.c", "").replace(".i", "");
        let name = format!("{} → {}", short(old_name), short(new_name));
        let regresses = was == "true" && is == "false";
        verify(&name, &read(old_name), &read(new_name), DataModel::Ilp32, regresses, &mut sum);
    }
    table(&sum);
    // A machine that is too slow for one says nothing.
    if sum.programs == most.min(tasks.len()) {
        assert!(sum.by_way[0] <= sum.by_way[1] && sum.by_way[1] <= sum.by_way[2], "{:?}", sum.by_way);
        assert!(sum.by_way[2] > sum.by_way[0], "{:?}", sum.by_way);
    }
}

#[test]
fn residual_programs_of_generated_pairs_keep_their_violations() {
    if !is_there() {
        return;
    }
    let mut sum = Proved::default();
    let most = rounds("INVDIFF_FRAMA_C", 1, 20);
    for seed in 0..10 * most as u64 {
        if sum.programs == most {
            break;
        }
        let mut random = Random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15) + 1);
        let old_text = mutants::with_assertions(&generate_c::program(seed).source, &mut random);
        let new_text = mutants::mutant(&old_text, &mut random);
        let load = |text: &str| program(text, DataModel::Lp64);
        let Some((old, new)) = load(&old_text).zip(load(&new_text)).filter(|_| old_text != new_text) else {
            continue;
        };
        let mut inputs = Generator::new(&new, "main", seed);
        let limits = Limits { fuel: 20_000, ..Limits::default() };
        let regresses = (0..100).any(|_| {
            let pair = run_pair((&old, "main"), (&new, "main"), &inputs.next(), &limits);
            refutes(&pair, Concerns::default())
        });
        verify(&format!("generated {seed}"), &old_text, &new_text, DataModel::Lp64, regresses, &mut sum);
    }
    table(&sum);
    assert!(sum.by_way[0] <= sum.by_way[2], "{:?}", sum.by_way);
}

/// Whether ACSL gives the words of a fact the meaning that C does: no arithmetic, no floats, no pointers; and whether
/// its names mean at the end of the function what they mean in a contract.
fn is_plain(e: &Expression, interface: &Interface, at_entry: bool) -> bool {
    let plain = |e: &Expression| is_plain(e, interface, at_entry);
    match &e.kind {
        Kind::Integer(_) | Kind::Character(_) => true,
        Kind::Result => matches!(interface.result, CType::Int { .. }),
        Kind::Old(inner) => is_plain(inner, interface, true),
        Kind::Name(name) => {
            let parameter = interface.parameters.iter().find(|(n, ..)| n == name);
            let global = interface.globals.iter().find(|(n, _)| n == name);
            let ty = parameter.map(|(_, ty, _)| ty).or(global.map(|(_, ty)| ty));
            interface.has(name, at_entry) && matches!(ty, Some(CType::Int { .. }))
        }
        Kind::Unary(fact::Unary::Minus, inner) => matches!(inner.kind, Kind::Integer(_)),
        Kind::Unary(fact::Unary::Not, inner) => plain(inner),
        Kind::Binary(op, a, b) => {
            let logic = matches!(op, Binary::Implies | Binary::And | Binary::Or) || op.is_comparison();
            logic && plain(a) && plain(b)
        }
        Kind::Conditional(c, a, b) => plain(c) && plain(a) && plain(b),
        _ => false,
    }
}

/// A call of a function with numbers for all its parameters.
fn call(f: &Function, random: &mut Random) -> Option<String> {
    let mut arguments = Vec::new();
    for p in &f.params {
        let CType::Int { .. } = f.var(*p).ty else { return None };
        let small = random.below(41) as i64 - 20;
        let number = [small, small, 0, 1, -1, 127, 255, 2_147_483_647, -2_147_483_647][random.below(9)];
        arguments.push(number.to_string());
    }
    Some(format!("  {}({});\n", f.name, arguments.join(", ")))
}

/// The source with contracts, and a `main` that calls the functions; how many clauses there are.
fn contracts(unit: &Unit, source: &str, calls: usize) -> (String, usize) {
    let report = compiled::analyse_alone(source);
    let facts = compiled::proved_at_exit(&report);
    let mut random = Random(7);
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let (mut body, mut clauses) = (String::new(), 0);
    for f in unit.functions.iter().filter(|f| &*f.name != "main") {
        let interface = Interface::of(unit, f);
        let Some(line) = lines.get_mut((f.span.line as usize).saturating_sub(1)) else { continue };
        let mut contract = String::new();
        for fact in facts.iter().filter(|t| t.function == *f.name && t.assumptions.is_empty()) {
            let parsed = fact::parse(&fact.text).ok().filter(|e| is_plain(e, &interface, false));
            if parsed.is_some() {
                clauses += 1;
                let _ = write!(contract, "ensures fact_{clauses}: {}; ", fact.text);
            }
        }
        let called = (0..calls).filter_map(|_| call(f, &mut random));
        let called: Vec<String> = called.collect();
        if !contract.is_empty() && !called.is_empty() {
            *line = format!("/*@ {contract}*/ {line}");
            body.extend(called);
        }
    }
    let text = format!(
        "#define main ivd_program\n{}\n#undef main\nint main(void) {{\n{body}  return 0;\n}}\n",
        lines.join("\n")
    );
    (text, clauses)
}

#[test]
fn no_proved_fact_is_refuted() {
    if !is_there() {
        return;
    }
    let (mut clauses, mut held, mut programs) = (0, 0, 0);
    for seed in 0..rounds("INVDIFF_FRAMA_C_FACTS", 1, 30) as u64 {
        let source = generate_c::program(seed).source;
        let Some(unit) = compiled::load(&source) else { continue };
        let (text, all) = contracts(&unit, &source, 40);
        if all == 0 {
            continue;
        }
        let said = eva(&text, &["-machdep", "x86_64", "-eva-precision", "11"]);
        let Some(said) = said.unwrap_or_else(|e| panic!("seed {seed}: {e}")) else { continue };
        let of_fact = |line: &&str| line.contains("postcondition 'fact_");
        let refuted: Vec<&str> =
            said.lines().filter(of_fact).filter(|l| l.contains("got status invalid")).collect();
        assert!(refuted.is_empty(), "seed {seed}: {refuted:?}\n{text}");
        let unknown = said.lines().filter(of_fact).filter(|l| l.contains("got status unknown")).count();
        (clauses, held, programs) = (clauses + all, held + all.saturating_sub(unknown), programs + 1);
    }
    println!(
        "{clauses} proved facts of {programs} programs as contracts: none refuted, {held} valid in all calls"
    );
    // A contract that nothing reaches is not judged.
    assert!(held > clauses / 2, "{held} of {clauses}");
}

/// What WP, which knows neither runs nor our engine, proves of some contracts: how many, and of how many.
fn proved_by_wp(text: &str, more: &[&str]) -> Option<(usize, usize)> {
    let folder = invdiff_testing::scratch();
    let home = |program: &str| {
        let mut command = Command::new(program);
        command.env("HOME", folder.path());
        command
    };
    let file = folder.path().join("a.c");
    std::fs::write(&file, text).ok()?;
    let detected = home("why3").args(["config", "detect"]).output();
    if !detected.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("Z3")) {
        skipped("why3", "no Why3 that knows Z3");
        return None;
    }
    let options = ["-wp", "-wp-prover", "z3", "-wp-timeout", "2", "-wp-par", "2"];
    let output = home("frama-c").args(options).args(more).arg(&file).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find_map(|l| l.split("Proved goals:").nth(1))?;
    let (proved, all) = line.split_once('/')?;
    Some((proved.trim().parse().ok()?, all.trim().parse().ok()?))
}

#[test]
fn another_prover_proves_some_of_the_facts() {
    if !is_there() {
        return;
    }
    let (mut proved, mut all, mut programs) = (0, 0, 0);
    for seed in 0..rounds("INVDIFF_FRAMA_C_WP", 1, 20) as u64 {
        let source = generate_c::program(seed).source;
        let Some(unit) = compiled::load(&source) else { continue };
        let (text, clauses) = contracts(&unit, &source, 1);
        let Some((done, goals)) = proved_by_wp(&text, &["-machdep", "x86_64"]).filter(|_| clauses > 0) else {
            continue;
        };
        (proved, all, programs) = (proved + done, all + goals, programs + 1);
    }
    println!("WP proves {proved} of {all} goals of {programs} programs");
    assert!(programs == 0 || proved > 0, "{proved} of {all}");
}

/// A wrong fact is refuted: the tests above can fail.
#[test]
fn a_wrong_fact_is_refuted() {
    if !is_there() {
        return;
    }
    let text = "/*@ ensures fact_1: \\result != 4; ensures fact_2: \\result >= \\old(a); */\n\
                int f(int a) { return a + 1; }\nint main(void) { f(1); f(3); return 0; }\n";
    let said = eva(text, &["-machdep", "x86_64", "-eva-precision", "11"]).unwrap().unwrap();
    assert!(said.contains("postcondition 'fact_1' got status invalid"), "{said}");
    assert!(!said.contains("fact_2' got status"), "{said}");
    let failing = "#include <assert.h>\nint main(void) { int a = 3; assert(a != 3); return 0; }\n";
    let proved = |text: &str| never_fails(text, DataModel::Lp64).unwrap().unwrap().0;
    assert!(!proved(failing));
    assert!(proved(&failing.replace("!=", "==")));
}
