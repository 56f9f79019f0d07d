//! Verdicts about the assertions of small loop programs (`fixtures/loops`): none may be wrong, and
//! few may stay open.
//!
//! Each program is analysed by itself, as the only version there is. An assertion that is proved
//! does not fail in any execution; one that fails was refuted by a replayed run. A program is safe
//! when all of its assertions are, and violated when one fails.

use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{AssertionKind, AssertionOutcome, PointKind};
use std::fmt;
use std::path::PathBuf;

/// Safe programs that are proved without bound, of 15. To be: 12.
const LEAST_PROVED: usize = 14;
/// Violated programs that are refuted by a run, of 15.
const LEAST_REFUTED: usize = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Safe,
    Violated,
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Verdict::Safe => "safe",
            Verdict::Violated => "violated",
            Verdict::Undecided => "undecided",
        })
    }
}

struct Program {
    name: String,
    text: String,
    /// What its first line says.
    truth: Verdict,
}

/// All programs, by name.
fn programs() -> Vec<Program> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops");
    let files = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path());
    let mut programs: Vec<Program> = files
        .filter(|f| f.extension().is_some_and(|e| e == "c"))
        .map(|f| {
            let text = std::fs::read_to_string(&f).unwrap();
            let truth = match text.lines().next() {
                Some("// verdict: safe") => Verdict::Safe,
                Some("// verdict: violated") => Verdict::Violated,
                other => panic!("{}: {other:?} is no verdict", f.display()),
            };
            Program { name: f.file_stem().unwrap().to_string_lossy().into_owned(), text, truth }
        })
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs
}

/// What the analysis says of a program. Every assertion in its text has to be among those that it
/// speaks of, and those of other functions count for their callers too.
fn verdict(program: &Program) -> Verdict {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit]), lines: Vec::new() };
    let options = Options { whole: true, points, ..Options::default() };
    let report = diff(&memory::request(&[vec![("a.c", &program.text)]], c::Options::default(), options));
    let of_program = report.assertions.iter().filter(|a| a.kind == AssertionKind::Assertion);
    let outcomes: Vec<AssertionOutcome> = of_program.filter_map(|a| a.outcome.get(&1).copied()).collect();
    let written = program.text.matches(" assert(").count();
    match outcomes.as_slice() {
        all if all.contains(&AssertionOutcome::Fail) => Verdict::Violated,
        all if all.len() >= written && all.iter().all(|o| *o == AssertionOutcome::NotFail) => Verdict::Safe,
        _ => Verdict::Undecided,
    }
}

#[test]
fn a_loop_of_a_million_iterations_without_input_is_run_to_its_end() {
    let text = |k: u32| {
        format!(
            "unsigned f(void)\n{{\n    unsigned s = 0;\n    for (unsigned i = 0; i < 1048576; i++)\n        s = s * {k} + i;\n    return s >> 8;\n}}\n"
        )
    };
    let versions = [31, 33].map(text);
    let versions: Vec<Vec<(&str, &str)>> = versions.iter().map(|t| vec![("a.c", t.as_str())]).collect();
    let report =
        diff(&memory::request(&versions, c::Options::default(), Options { jobs: 1, ..Options::default() }));
    let churns: Vec<_> = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns).collect();
    let replayed = |c: &&git_invdiff::report::Churn| {
        let ends = c.witness.as_ref().map(|w| (w.old.returned.clone(), w.new.returned.clone()));
        ends.is_some_and(|(old, new)| old.is_some() && old != new)
    };
    assert!(churns.iter().any(replayed), "{churns:?}");
}

#[test]
fn verdicts_of_loops() {
    let programs = programs();
    let count = |truth: Verdict| programs.iter().filter(|p| p.truth == truth).count();
    assert_eq!((count(Verdict::Safe), count(Verdict::Violated)), (15, 15));
    let (mut proved, mut refuted, mut wrong) = (0, 0, Vec::new());
    for p in &programs {
        let start = std::time::Instant::now();
        let found = verdict(p);
        println!("{:<20} {:<9} {:<9} {:>6} ms", p.name, p.truth, found, start.elapsed().as_millis());
        match found {
            Verdict::Undecided => {}
            _ if found != p.truth => wrong.push(&p.name),
            Verdict::Safe => proved += 1,
            Verdict::Violated => refuted += 1,
        }
    }
    println!("{proved} of 15 proved, {refuted} of 15 refuted by a run");
    assert!(wrong.is_empty(), "wrong verdicts: {wrong:?}");
    assert!(proved >= LEAST_PROVED, "{proved} proved");
    assert!(refuted >= LEAST_REFUTED, "{refuted} refuted");
}
