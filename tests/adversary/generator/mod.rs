//! Pairs made from constructs: each edit of each fixture of `fixtures/adversary`, among ordinary code that a
//! seed draws, compiled and run; every claim of every command is held against the runs.
//!
//! Beside them stand pairs of generated programs of ordinary C.
//!
//! `INVDIFF_ADVERSARY=N` tries N pairs for each construct (without it nothing runs),
//! `INVDIFF_ADVERSARY_ONLY=NAME` only fixtures whose name contains that, `INVDIFF_ADVERSARY_FROM=N` begins at
//! that pair. The table says, for each construct, how many pairs differ in runs, how many of them are shown
//! with an input, told, open or denied, and how many pairs of equal versions are said to be so.

mod claims;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/edits.rs"]
mod edits;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/generate_c/mod.rs"]
mod generate_c;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/mutants.rs"]
mod mutants;
mod oracle;
mod template;

use crate::kit::Pair;
use claims::{Answer, Judged, Wrong};
use oracle::{Built, Ran};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use template::Template;

/// Of so many pairs, one is asked everything; the others only `diff`, `check`, `condition` and `blame`.
const ALL_COMMANDS: usize = 4;

#[derive(Default)]
struct Row {
    pairs: usize,
    differ: usize,
    answers: BTreeMap<Answer, usize>,
    /// Pairs that are equal by the rules of C, and those said to be.
    equal: usize,
    said_equal: usize,
    /// What is wrong, by construct and command.
    wrong: Vec<(String, String)>,
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn templates() -> Vec<Template> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/adversary");
    let only = std::env::var("INVDIFF_ADVERSARY_ONLY").unwrap_or_default();
    let mut found: Vec<Template> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures are there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.contains(&only) {
            let text = std::fs::read_to_string(&path).expect("a fixture is a text");
            found.push(Template::parse(&name, &text).unwrap_or_else(|why| panic!("{name}: {why}")));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// A pair before it is compiled.
struct Case {
    what: String,
    /// Of both versions, with an assertion `r <= bound` or without.
    files: Box<dyn Fn(Option<i64>) -> [template::Files; 2]>,
    /// Nothing differs, by the rules of C.
    preserves: bool,
    /// It has an assertion that the old version keeps, by its runs.
    is_assertive: bool,
    function: &'static str,
    inputs: Vec<String>,
    /// It is asked everything.
    all_commands: bool,
}

impl Case {
    /// The `k`-th pair of a construct.
    fn of(template: &Arc<Template>, k: usize) -> Case {
        let edit = template.edits[k % template.edits.len()];
        let seed = (k / template.edits.len()) as u64;
        let own = template.clone();
        Case {
            what: format!("{} {k} {edit:?}", template.name),
            files: Box::new(move |bound| own.pair(edit, seed, bound)),
            preserves: edit.preserves,
            is_assertive: template.has_assertion() && k % 2 == 1,
            function: "work",
            inputs: oracle::inputs(),
            all_commands: k.is_multiple_of(ALL_COMMANDS),
        }
    }

    /// The `k`-th pair of generated programs of ordinary C: every second one differs in what changes nothing.
    fn generated(k: usize) -> Case {
        let mut random = mutants::Random((k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 11);
        let old = generate_c::program(k as u64 / 2).source;
        let preserves = k.is_multiple_of(2);
        let new = match preserves {
            true => preserved(&old, &mut random),
            false => mutants::mutant(&old, &mut random),
        };
        let file = |text: &String| vec![("a.c".to_owned(), text.clone())];
        let files = [file(&old), file(&new)];
        Case {
            what: format!("generated {k}"),
            files: Box::new(move |_| files.clone()),
            preserves,
            is_assertive: false,
            function: "main",
            inputs: oracle::long_inputs(),
            all_commands: k % ALL_COMMANDS == 1,
        }
    }
}

/// One edit after which a function does the same; of the last function before `main`.
fn preserved(text: &str, random: &mut mutants::Random) -> String {
    let end = text.find("int main").unwrap_or(text.len());
    let begin = text[..end].rfind(" f2(").and_then(|at| text[..at].rfind('\n')).map_or(0, |at| at + 1);
    let locals: Vec<String> =
        ["v0", "v1", "v2", "i0", "i1", "p0", "p1", "a", "b", "x", "n"].map(String::from).to_vec();
    let edits = edits::preserving(text, &(begin..end), "f2", &locals);
    match edits.len() {
        0 => text.to_owned(),
        n => edits[random.below(n)].text.clone(),
    }
}

/// Versions of one construct as compiled, by their texts: edits of one seed share what stands before.
type Known = HashMap<template::Files, Rc<Built>>;

/// Both versions, compiled and run; `None`: one does not compile.
fn built(case: &Case, files: &[template::Files; 2], known: &mut Known) -> Option<[Rc<Built>; 2]> {
    let mut of = |k: usize| {
        if let Some(built) = known.get(&files[k]) {
            return Some(built.clone());
        }
        match Built::of(&files[k], &case.inputs) {
            Ok(built) => Some(known.entry(files[k].clone()).or_insert(Rc::new(built)).clone()),
            // A mutant need not be C.
            Err(_) if case.function == "main" => None,
            Err(why) => panic!("{}: {why}\n{files:#?}", case.what),
        }
    };
    Some([of(0)?, of(1)?])
}

/// Judges a pair.
fn judge(case: &Case, known: &mut Known, row: &mut Row) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files = (case.files)(None);
    let Some(mut both) = built(case, &files, known) else { return };
    let results = both[0].runs.iter().filter_map(|r| r.stdout.trim().parse::<i64>().ok());
    let bound = results.max().filter(|_| case.function == "work");
    if case.is_assertive && bound.is_some() {
        files = (case.files)(bound);
        let Some(asserting) = built(case, &files, known) else { return };
        both = asserting;
    }
    let runs = case.inputs.iter().zip(both[0].runs.iter().zip(&both[1].runs));
    let defined = runs.filter(|(_, (old, new))| old.is_defined() && new.is_defined());
    let runs: Vec<(String, Ran, Ran)> =
        defined.map(|(i, (old, new))| (i.clone(), old.clone(), new.clone())).collect();
    let borrow =
        |k: usize| -> Vec<(&str, &str)> { files[k].iter().map(|(p, t)| (p.as_str(), t.as_str())).collect() };
    let pair = Pair::of(&borrow(0), &borrow(1));
    let judged = Judged {
        pair: &pair,
        files: &files,
        runs: &runs,
        built: [&both[0], &both[1]],
        folder: folder.path(),
        function: case.function,
        bound,
    };
    let mut wrong = Vec::new();
    let answer = judged.diff(&mut wrong);
    judged.check(&mut wrong);
    judged.condition(&mut wrong);
    judged.blame(&mut wrong);
    if case.all_commands {
        judged.bisect(&mut wrong);
        judged.asserted(&mut wrong);
        judged.witnesses(&mut wrong);
    }
    let differs = judged.differs();
    assert!(!(differs && case.preserves), "{} is no preserving edit\n{files:#?}", case.what);
    note(row, case, differs, answer, wrong, &format!("{}\n{}", case.what, change(&files)));
}

fn note(row: &mut Row, case: &Case, differs: bool, answer: Answer, wrong: Vec<Wrong>, what: &str) {
    row.pairs += 1;
    if differs {
        row.differ += 1;
        *row.answers.entry(answer).or_default() += 1;
    }
    if case.preserves {
        row.equal += 1;
        row.said_equal += usize::from(answer == Answer::Same);
    }
    let is_listed = (differs || case.preserves) && answer == Answer::Open;
    if is_listed && std::env::var_os("INVDIFF_ADVERSARY_OPEN").is_some() {
        println!("open: {what}");
    }
    let name = what.split(' ').next().unwrap_or_default();
    let wrong = wrong.into_iter();
    row.wrong.extend(
        wrong.map(|w| (format!("{name} {}", w.command), format!("{what}    {}: {}", w.command, w.what))),
    );
}

/// The lines that an edit takes away and brings.
fn change(files: &[template::Files; 2]) -> String {
    let mut text = String::new();
    for (mark, one, other) in [("-", &files[0], &files[1]), ("+", &files[1], &files[0])] {
        let others: Vec<&str> = other.iter().flat_map(|(_, t)| t.lines()).collect();
        for line in one.iter().flat_map(|(_, t)| t.lines()).filter(|l| !others.contains(l)) {
            text.push_str(&format!("    {mark} {line}\n"));
        }
    }
    text
}

fn has_compiler() -> bool {
    let there = std::process::Command::new("cc").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        println!("skipped: no C compiler");
    }
    there
}

#[test]
fn no_claim_is_refuted_by_a_run() {
    if !has_compiler() {
        return;
    }
    let templates: Vec<Arc<Template>> = templates().into_iter().map(Arc::new).collect();
    // Not by default yet: `known_gaps.txt` has to name first what is still wrong.
    let (each, from) = (number("INVDIFF_ADVERSARY", 0), number("INVDIFF_ADVERSARY_FROM", 0));
    if each == 0 {
        println!("skipped: INVDIFF_ADVERSARY not set");
        return;
    }
    let mut names: Vec<String> = templates.iter().map(|t| t.name.clone()).collect();
    if "generated".contains(&std::env::var("INVDIFF_ADVERSARY_ONLY").unwrap_or_default()) {
        names.push("generated".into());
    }
    let rows: Vec<Mutex<Row>> = names.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let t = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(t) else { break };
            let (mut known, mut found) = (Known::new(), Row::default());
            for k in from..from + each {
                let case = templates.get(t).map_or_else(|| Case::generated(k), |t| Case::of(t, k));
                judge(&case, &mut known, &mut found);
            }
            if let Ok(mut row) = row.lock() {
                *row = found;
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    report(&names, rows);
}

/// Prints the table and asserts what has to hold of all.
fn report(names: &[String], rows: Vec<Mutex<Row>>) {
    let mut sum = Row::default();
    println!("{:24} pairs differ shown  told  open  same | equal  said | wrong", "construct");
    let line = |name: &str, row: &Row| {
        let of = |a| row.answers.get(&a).copied().unwrap_or(0);
        println!(
            "{name:24} {:5} {:6} {:5} {:5} {:5} {:5} | {:5} {:5} | {:5}",
            row.pairs,
            row.differ,
            of(Answer::Shown),
            of(Answer::Told),
            of(Answer::Open),
            of(Answer::Same),
            row.equal,
            row.said_equal,
            row.wrong.len()
        );
    };
    for (name, row) in names.iter().zip(rows) {
        let row = row.into_inner().expect("no worker died");
        line(name, &row);
        sum.pairs += row.pairs;
        sum.differ += row.differ;
        row.answers.iter().for_each(|(a, n)| *sum.answers.entry(*a).or_default() += n);
        sum.equal += row.equal;
        sum.said_equal += row.said_equal;
        sum.wrong.extend(row.wrong);
    }
    line("all", &sum);
    judge_gaps(&sum.wrong);
}

/// Fails for every wrong claim but those of `known_gaps.txt`, and says which of these are gone.
fn judge_gaps(wrong: &[(String, String)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/adversary");
    let listed = std::fs::read_to_string(folder.join("known_gaps.txt")).expect("the list is there");
    let listed: BTreeSet<&str> = listed.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let found: BTreeSet<&str> = wrong.iter().map(|(key, _)| key.as_str()).collect();
    let new: Vec<&str> =
        wrong.iter().filter(|(key, _)| !listed.contains(key.as_str())).map(|(_, w)| w.as_str()).collect();
    let known = wrong.len() - new.len();
    println!("{known} wrong claims of {} known gaps: {found:?}", listed.len());
    assert!(new.is_empty(), "{} wrong claims:\n{}", new.len(), new.join("\n"));
    let gone: Vec<&&str> = listed.iter().filter(|l| !found.contains(**l)).collect();
    println!("not met in this run, mended if that was whole: {gone:?}");
}
