//! Programs as students write them (`fixtures/students`): arrays, strings, matrices and functions that get
//! them, with arrays of variable length and with fixed ones. One token is changed; of the pairs whose
//! compiled outputs differ on the program's inputs, nearly all get a replayed witness or the undefined
//! event. The copies with asserts compile and behave as the originals.
//!
//! By default every second one is tried, with arrays of the one kind or the other in turn;
//! `INVDIFF_STUDENTS=<n>` tries that many changes of each program.

use crate::asserted;
use crate::edits;
use crate::support::tier::rounds;
use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Claim, Report};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, the inputs that it is for, and its name.
struct Student {
    name: String,
    text: String,
    inputs: Vec<String>,
}

/// What a report says of a pair whose outputs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// By an input that was replayed in both versions.
    Witness,
    /// By an undefined event.
    Undefined,
    /// As changed, without an input.
    Open,
    Nothing,
}

/// The programs, each with arrays of variable length and with fixed ones.
fn students() -> Vec<Student> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/students");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let inputs = std::fs::read_to_string(file.with_extension("in")).unwrap();
        let inputs: Vec<String> = inputs.lines().map(|l| l.replace("\\n", "\n")).collect();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let fixed = Student { name: format!("{name} (fixed)"), text: fixed(&text), inputs: inputs.clone() };
        found.extend([Student { name, text, inputs }, fixed]);
    }
    if !all() {
        // 0, 3, 4, 7, ...
        let of_turn = |k: usize| matches!(k % 4, 0 | 3);
        found = found.into_iter().enumerate().filter(|(k, _)| of_turn(*k)).map(|(_, s)| s).collect();
    }
    found
}

/// The same with fixed arrays: `[n /*9*/]` becomes `[9]`.
fn fixed(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (length, after))) =
        rest.split_once(" /*").and_then(|(b, r)| Some((b, r.split_once("*/]")?)))
    {
        let open = before.rfind('[').expect("a length");
        out += &format!("{}[{length}]", &before[..open]);
        rest = after;
    }
    out + rest
}

/// Output and end of a program on each input; `None` when it does not compile, or runs for too long.
fn outcomes(text: &str, inputs: &[String]) -> Option<Vec<(Vec<u8>, bool)>> {
    let folder = invdiff_testing::scratch();
    let program = asserted::compile(text.as_bytes(), folder.path(), "program").ok()?;
    let mut found = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let file = folder.path().join(format!("{k}.in"));
        std::fs::write(&file, input).ok()?;
        let script =
            "timeout -s KILL 2 \"$0\" < \"$1\" > \"$1.out\"; code=$?; head -c 65536 \"$1.out\"; exit $code";
        let ran = Command::new("sh").args(["-c", script]).args([&program, &file]).output().ok()?;
        // 137: killed.
        if ran.status.code() == Some(137) {
            return None;
        }
        found.push((ran.stdout, ran.status.success()));
    }
    Some(found)
}

fn analyse(old: &str, new: &str) -> Report {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    diff(&memory::request(&versions, c::Options::default(), Options::default()))
}

fn told(report: &Report) -> Told {
    let points = report.functions.iter().flat_map(|f| &f.points);
    let churns: Vec<_> = points.flat_map(|p| &p.churns).collect();
    let any = |undefined: bool| {
        churns.iter().any(|c| c.witness.is_some() && undefined == (c.claim == Claim::DiffersUnderUb))
    };
    match () {
        () if any(false) => Told::Witness,
        () if any(true) => Told::Undefined,
        () if !churns.is_empty() || !report.functions.is_empty() => Told::Open,
        () => Told::Nothing,
    }
}

/// Some changes of one token whose outputs differ.
fn differing(student: &Student, wanted: usize) -> Vec<edits::Edit> {
    let whole = 0..student.text.len();
    let mut all = edits::mutants(&student.text, &whole);
    all.extend(edits::name_mutants(&student.text, &whole));
    let Some(before) = outcomes(&student.text, &student.inputs) else { return Vec::new() };
    // From all over the program, always the same ones.
    let step = (0..).map(|k| k * 37 % all.len()).take(all.len());
    let differs = |e: &edits::Edit| outcomes(&e.text, &student.inputs).is_some_and(|after| after != before);
    step.map(|k| all[k].clone()).filter(differs).take(wanted).collect()
}

fn wanted() -> usize {
    rounds("INVDIFF_STUDENTS", 0, 1).max(1)
}

fn all() -> bool {
    rounds("INVDIFF_STUDENTS", 0, 1) > 0
}

/// Every other student, or all.
fn some() -> impl Iterator<Item = Student> {
    students().into_iter().step_by(if all() { 1 } else { 2 })
}

#[test]
fn differences_of_student_programs_are_shown() {
    if !asserted::has_compiler() {
        return;
    }
    let (mut pairs, mut failures) = (Vec::new(), Vec::new());
    for student in some() {
        for edit in differing(&student, wanted()) {
            let told = told(&analyse(&student.text, &edit.text));
            println!("{}, {}: {told:?}", student.name, edit.what);
            if !matches!(told, Told::Witness | Told::Undefined) {
                failures.push(format!("{}, {}: {told:?}", student.name, edit.what));
            }
            pairs.push(told);
        }
    }
    let count = |t: Told| pairs.iter().filter(|p| **p == t).count();
    println!(
        "{} pairs that differ: {} with a witness, {} with an undefined event, {} open, {} not told\n{}",
        pairs.len(),
        count(Told::Witness),
        count(Told::Undefined),
        count(Told::Open),
        count(Told::Nothing),
        failures.join("\n")
    );
    assert!(pairs.len() >= if all() { 25 } else { 6 }, "{} pairs are few", pairs.len());
    assert!(failures.len() * 20 <= pairs.len(), "of {} pairs:\n{}", pairs.len(), failures.join("\n"));
}

#[test]
fn asserted_copies_of_student_programs_pass() {
    if !asserted::has_compiler() {
        return;
    }
    let mut facts = 0;
    for s in some() {
        for assumed in [&["stdin-well-formed"][..], &[]] {
            facts += asserted::check(&s.text, &s.inputs, assumed)
                .unwrap_or_else(|why| panic!("{}: {why}", s.name));
        }
    }
    println!("{facts} facts");
    assert!(facts >= if all() { 40 } else { 20 }, "{facts} facts are few");
}
