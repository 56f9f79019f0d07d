//! Pairs made from constructs: each edit of each fixture of `fixtures/adversary`, among ordinary code that a
//! seed draws, compiled and run; every claim of every command is held against the runs.
//!
//! A few seeds for each construct run by default. `INVDIFF_ADVERSARY=N` tries N pairs for each construct,
//! `INVDIFF_ADVERSARY_ONLY=NAME` only fixtures whose name contains that, `INVDIFF_ADVERSARY_FROM=N` begins at
//! that pair. The table says, for each construct, how many pairs differ in runs, how many of them are shown
//! with an input, told, open or denied, and how many pairs of equal versions are said to be so.

mod claims;
mod oracle;
mod template;

use crate::kit::Pair;
use claims::{Answer, Judged};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use template::{Edit, Template};

/// Pairs of each construct in the default run.
const FEW: usize = 12;
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
    wrong: Vec<String>,
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
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.contains(&only) {
            let text = std::fs::read_to_string(&path).expect("a fixture is a text");
            found.push(Template::parse(&name, &text).unwrap_or_else(|why| panic!("{name}: {why}")));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Judges the `k`-th pair of a construct.
fn judge(template: &Template, k: usize, row: &Mutex<Row>) {
    let edit = template.edits[k % template.edits.len()];
    let seed = (k / template.edits.len()) as u64;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut runs, mut bound) = (Vec::new(), None);
    let mut files = template.pair(edit, seed, None);
    // Every second pair has an assertion that the old version keeps, by its runs.
    let assertive = template.has_assertion() && k % 2 == 1;
    for round in 0..=usize::from(assertive) {
        if round == 1 {
            files = template.pair(edit, seed, bound);
        }
        let programs: Vec<_> = ["old", "new"]
            .iter()
            .zip(&files)
            .map(|(name, files)| oracle::sanitized(files, &folder.path().join(name)))
            .collect();
        let [Ok(old), Ok(new)] = programs.as_slice() else {
            panic!("{} {edit:?}: {programs:?}\n{files:#?}", template.name);
        };
        runs = oracle::inputs()
            .into_iter()
            .map(|input| (oracle::run(old, &input), oracle::run(new, &input), input))
            .filter(|(old, new, _)| old.is_defined() && new.is_defined())
            .map(|(old, new, input)| (input, old, new))
            .collect::<Vec<_>>();
        if round == 0 {
            let results = runs.iter().filter_map(|(_, old, _)| old.stdout.trim().parse::<i64>().ok());
            bound = results.max();
        }
    }
    let borrow =
        |k: usize| -> Vec<(&str, &str)> { files[k].iter().map(|(p, t)| (p.as_str(), t.as_str())).collect() };
    let pair = Pair::of(&borrow(0), &borrow(1));
    let judged = Judged { pair: &pair, files: &files, runs: &runs, folder: folder.path(), bound };
    let mut wrong = Vec::new();
    let answer = judged.diff(&mut wrong);
    judged.check(&mut wrong);
    judged.condition(&mut wrong);
    judged.blame(&mut wrong);
    if k % ALL_COMMANDS == 0 {
        judged.bisect(&mut wrong);
        judged.asserted(&mut wrong);
        judged.witnesses(&mut wrong);
    }
    let differs = judged.differs();
    assert!(!(differs && edit.preserves), "{} {edit:?} is no preserving edit\n{files:#?}", template.name);
    note(row, edit, differs, answer, wrong, &format!("{} {k}\n{}", template.name, change(&files)));
}

fn note(row: &Mutex<Row>, edit: Edit, differs: bool, answer: Answer, wrong: Vec<String>, what: &str) {
    let Ok(mut row) = row.lock() else { return };
    row.pairs += 1;
    if differs {
        row.differ += 1;
        *row.answers.entry(answer).or_default() += 1;
    }
    if edit.preserves {
        row.equal += 1;
        row.said_equal += usize::from(answer == Answer::Same);
    }
    if differs && answer == Answer::Open && std::env::var_os("INVDIFF_ADVERSARY_OPEN").is_some() {
        println!("open: {what}");
    }
    row.wrong.extend(wrong.into_iter().map(|w| format!("{what}    {w}")));
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
    let templates = templates();
    let (each, from) = (number("INVDIFF_ADVERSARY", FEW), number("INVDIFF_ADVERSARY_FROM", 0));
    let rows: Vec<Mutex<Row>> = templates.iter().map(|_| Mutex::default()).collect();
    let work: Vec<(usize, usize)> =
        (0..templates.len()).flat_map(|t| (from..from + each).map(move |k| (t, k))).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&(t, k)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    judge(&templates[t], k, &rows[t]);
                }
            });
        }
    });
    report(&templates, rows);
}

/// Prints the table and asserts what has to hold of all.
fn report(templates: &[Template], rows: Vec<Mutex<Row>>) {
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
    for (template, row) in templates.iter().zip(rows) {
        let row = row.into_inner().expect("no worker died");
        line(&template.name, &row);
        sum.pairs += row.pairs;
        sum.differ += row.differ;
        row.answers.iter().for_each(|(a, n)| *sum.answers.entry(*a).or_default() += n);
        sum.equal += row.equal;
        sum.said_equal += row.said_equal;
        sum.wrong.extend(row.wrong);
    }
    line("all", &sum);
    assert!(sum.wrong.is_empty(), "{} wrong claims:\n{}", sum.wrong.len(), sum.wrong.join("\n"));
}
