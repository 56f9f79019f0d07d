//! EqBench (Badihi, Li, Rubin, MSR 2021; `github.com/shrBadihi/EqBench`): pairs of C functions, each labelled equal or
//! not. Asked at effort deep: does a caller see a change?
//!
//! `cargo bench --bench eqbench -- FOLDER [NAME]` takes every pair below a clone of the data set (those whose path has
//! `NAME` in it), and prints a table by label and answer, beside what ARDiff decides (Badihi and others, FSE 2020), and
//! a list of what stays open with the reason. Labels are of mathematical numbers, and of some pairs they speak of a
//! caller that gives few inputs: a pair that is labelled equal and *differs* has an input that was replayed in both
//! versions, or an input on which one version alone does something undefined. Counts are exact; seconds are of this machine.

use git_invdiff::analysis::{Effort, Limits, Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::invariant::Budget;
use git_invdiff::report::{ChangeVerdict, Claim, FunctionStatus, HunkVerdict, Report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How much more a deep analysis may cost than a normal one.
const DEEPER: u64 = 4;
/// Per cent of the pairs labelled equal, and not equal, that ARDiff decides.
const ARDIFF: [u32; 2] = [86, 53];
/// The stack of a thread that analyses.
const STACK: usize = 256 << 20;

struct Pair {
    name: String,
    is_equal: bool,
    /// Its files are named as most are (`oldV.c`, `newV.c`): these are the 246 that the project has counted so far.
    is_of_first_count: bool,
    old: String,
    new: String,
}

/// What is said of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// No caller sees a change.
    Equal,
    /// A replayed input shows a difference.
    Differs,
    /// A replayed input on which one version alone does something undefined.
    Undefined,
    Open(String),
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some((folder, rest)) = words.split_first() else {
        println!("skipped: no clone of EqBench is named");
        return;
    };
    let mut pairs = Vec::new();
    collect(Path::new(folder), &mut pairs);
    pairs.retain(|p| rest.iter().all(|word| p.name.contains(word.as_str())));
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    let begun = Instant::now();
    let answers = answers(&pairs);
    print(&pairs, &answers);
    println!("{} pairs in {:.0} s", pairs.len(), begun.elapsed().as_secs_f64());
}

/// Adds the pairs below a folder: a folder with an older and a newer source file each.
fn collect(folder: &Path, found: &mut Vec<Pair>) {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
    let mut sources: Vec<PathBuf> = Vec::new();
    for path in entries {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "c") {
            sources.push(path);
        }
    }
    sources.sort();
    let [new, old] = &sources[..] else { return };
    let is =
        |path: &Path, word: &str| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(word));
    assert!(is(new, "new") && is(old, "old"), "{}: an older and a newer file", folder.display());
    let parts: Vec<String> = folder.iter().rev().take(3).map(|p| p.to_string_lossy().into_owned()).collect();
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned();
    found.push(Pair {
        name: parts.iter().rev().map(String::as_str).collect::<Vec<_>>().join("/"),
        is_equal: parts.first().is_some_and(|label| label == "Eq"),
        is_of_first_count: is(old, "oldV.c") && is(new, "newV.c"),
        old: read(old),
        new: read(new),
    });
}

/// What is said of each pair, with the seconds that it took.
fn answers(pairs: &[Pair]) -> Vec<(Answer, f64)> {
    let found = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some((k, pair)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, pairs.get(k)?)))
        {
            let begun = Instant::now();
            let answer = ask(pair);
            let seconds = begun.elapsed().as_secs_f64();
            eprintln!("{seconds:>7.1} s  {}: {answer:?}", pair.name);
            found.lock().expect("no worker failed").insert(k, (answer, seconds));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("a thread");
        }
    });
    found.into_inner().expect("no worker failed").into_values().collect()
}

fn ask(pair: &Pair) -> Answer {
    let usual = Limits::default();
    let budget = Budget::default();
    let budget = Budget { steps: budget.steps * DEEPER, guided: budget.guided * DEEPER, ..budget };
    let limits = Limits { rlimit: usual.rlimit * DEEPER, budget, ..usual };
    let options = Options { effort: Effort::Deep, limits, jobs: 1, ..Options::default() };
    let versions = [vec![("pair.c", pair.old.as_str())], vec![("pair.c", pair.new.as_str())]];
    answer(&diff(&memory::request(&versions, c::Options::default(), options)))
}

fn answer(report: &Report) -> Answer {
    let churns = || report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let is_shown = |undefined: bool| {
        churns()
            .any(|c| c.observable && c.witness.is_some() && (c.claim == Claim::DiffersUnderUb) == undefined)
    };
    if is_shown(false) {
        return Answer::Differs;
    }
    if is_shown(true) {
        return Answer::Undefined;
    }
    for f in &report.functions {
        let of = |what: &str| Answer::Open(format!("{}: {what}", f.name));
        if let Some(open) = f.points.iter().flat_map(|p| &p.undecided).next() {
            return of(&format!("{}: {}", open.text, open.reason));
        }
        if let Some(churn) = f.points.iter().flat_map(|p| &p.churns).find(|c| c.observable) {
            return of(&format!("{}: no longer provable", churn.subject));
        }
        if let Some(unknown) = f.unknowns.first() {
            return of(&unknown.reason);
        }
        if !matches!(
            f.outcome,
            FunctionStatus::Analysed
                | FunctionStatus::Unchanged
                | FunctionStatus::Added
                | FunctionStatus::Removed
        ) {
            return of(&format!("{:?}", f.outcome));
        }
        let told = f.changes.iter().find(|c| c.verdict != ChangeVerdict::Neutral);
        if let Some(change) = told {
            let why = change.reason.as_deref().unwrap_or("told where it is, and nothing at the exit");
            return of(why);
        }
    }
    // What is told of locals alone is no news to callers.
    match report.hunks.iter().find(|h| h.verdict == HunkVerdict::NotAnalysed) {
        Some(hunk) => Answer::Open(format!("a hunk: {}", hunk.why.as_deref().unwrap_or("told otherwise"))),
        None => Answer::Equal,
    }
}

fn print(pairs: &[Pair], answers: &[(Answer, f64)]) {
    for first_alone in [false, true] {
        let all = || pairs.iter().zip(answers).filter(|(p, _)| !first_alone || p.is_of_first_count);
        match first_alone {
            false => println!("all pairs"),
            true => println!("\nof these the files of which are named oldV.c and newV.c"),
        }
        println!(
            "| labelled | pairs | proved equal | differ, by an input | undefined, by an input | open | decided | ARDiff |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        for (is_equal, ardiff) in [(true, ARDIFF[0]), (false, ARDIFF[1])] {
            let count = |is: &dyn Fn(&Answer) -> bool| {
                all().filter(|(p, (a, _))| p.is_equal == is_equal && is(a)).count()
            };
            let number = count(&|_| true);
            let open = count(&|a| matches!(a, Answer::Open(_)));
            println!(
                "| {} | {number} | {} | {} | {} | {open} | {} % | {ardiff} % |",
                if is_equal { "equal" } else { "not equal" },
                count(&|a| *a == Answer::Equal),
                count(&|a| *a == Answer::Differs),
                count(&|a| *a == Answer::Undefined),
                100 * (number - open) / number.max(1),
            );
        }
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    println!("\nopen, or proved equal and labelled otherwise:");
    for (pair, (answer, seconds)) in pairs.iter().zip(answers) {
        match answer {
            Answer::Open(why) => {
                println!("    {} ({seconds:.1} s): {why}", pair.name);
                *reasons.entry(why.split_once(": ").map_or(why, |(_, reason)| reason)).or_default() += 1;
            }
            Answer::Equal if !pair.is_equal => println!("    {}: proved equal", pair.name),
            _ => {}
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, n)| (std::cmp::Reverse(*n), *why));
    println!("\nreasons:");
    reasons.iter().for_each(|(why, n)| println!("    {n:>5}  {why}"));
}
