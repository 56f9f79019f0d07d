//! What is told of the functions that real commits change: for how many some fact at the exit, and for how
//! many one that is not trivial.
//!
//! `INVDIFF_HISTORIES=<folder> cargo bench --bench nontrivial [-- <history> [<commits>]]` takes so many
//! first-parent commits that touch C files, evenly spread over the last 600, and the functions whose own
//! text differs by more than layout. A fact is *not trivial* if a mutant of one token of the function
//! breaks it in a run that the function itself survives: as a pinned fact (`analysis::Specification::pins`), or,
//! of calls and resources, as a churn with a witness.
//! `INVDIFF_FUNCTIONS` names the only functions that are looked at, `INVDIFF_ALL` counts what `--all` shows, and
//! `INVDIFF_MUTANTS` is the most mutants of one function (none: only facts are counted).

#[allow(dead_code, reason = "other benchmarks use the rest")]
#[path = "../tests/support/edits.rs"]
mod edits;

use git_invdiff::analysis::{Differencing, Limits, Options, Pin, Specification, diff, memory};
use git_invdiff::fact;
use git_invdiff::frontend::{c, load_outlined};
use git_invdiff::history::MemoryTree;
use git_invdiff::invariant::PinnedFact;
use git_invdiff::report::{AssertionKind, AssertionOutcome, FunctionReport, PointKind, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::process::Command;

const HISTORIES: [&str; 3] = ["kilo", "zlib", "cJSON"];
const LAST: &str = "600";
const COMMITS: usize = 20;
const MUTANTS: usize = 400;

/// C files of a commit, by path.
type Files = Vec<(String, String)>;

#[derive(Default)]
struct Counts {
    changed: usize,
    told: usize,
    not_trivial: usize,
}

fn main() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        println!("skipped: INVDIFF_HISTORIES not set");
        return;
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let number = words.iter().find_map(|word| word.parse().ok()).unwrap_or(COMMITS);
    let mutants = std::env::var("INVDIFF_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(MUTANTS);
    let named = |name: &str| words.iter().any(|w| w == name);
    for name in HISTORIES.into_iter().filter(|n| named(n) || !HISTORIES.iter().any(|n| named(n))) {
        let repository = Path::new(&folder).join(name);
        let mut counts = Counts::default();
        for commit in commits(&repository, number) {
            examine(&repository, &commit, mutants, &mut counts);
        }
        let share = |n: usize| 100 * n / counts.changed.max(1);
        println!(
            "{name}: {} changed functions, {} with a fact at the exit ({} %), {} with one that is not trivial ({} %)",
            counts.changed,
            counts.told,
            share(counts.told),
            counts.not_trivial,
            share(counts.not_trivial)
        );
    }
}

fn git(repository: &Path, words: &[&str]) -> Vec<u8> {
    let output = Command::new("git").arg("-C").arg(repository).args(words).output();
    output.map_or(Vec::new(), |o| o.stdout)
}

fn commits(repository: &Path, number: usize) -> Vec<String> {
    let words = ["log", "--first-parent", "--no-merges", "--min-parents=1", "--format=%H", "-n", LAST];
    let list = git(repository, &[&words[..], &["--", "*.c"]].concat());
    let all: Vec<String> = String::from_utf8_lossy(&list).lines().map(str::to_owned).collect();
    all.iter().step_by((all.len() / number.max(1)).max(1)).take(number).cloned().collect()
}

fn files(repository: &Path, commit: &str) -> Files {
    let names = git(repository, &["ls-tree", "-r", "--name-only", commit]);
    let names = String::from_utf8_lossy(&names).into_owned();
    let sources = names.lines().filter(|n| n.ends_with(".c") || n.ends_with(".h"));
    let text = |name: &str| {
        let bytes = git(repository, &["show", &format!("{commit}:{name}")]);
        (name.to_owned(), String::from_utf8_lossy(&bytes).into_owned())
    };
    sources.map(text).collect()
}

fn view(files: &Files) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

fn examine(repository: &Path, commit: &str, mutants: usize, counts: &mut Counts) {
    let versions = [files(repository, &format!("{commit}^")), files(repository, commit)];
    let request =
        memory::request(&[view(&versions[0]), view(&versions[1])], c::Options::default(), options());
    let report = diff(&request);
    for f in &report.functions {
        let Some((text, body)) = body(&versions[1], &f.file.to_string(), &f.name) else { continue };
        let before =
            f.identity.versions.get(&1).and_then(|p| self::body(&versions[0], &p.file.to_string(), &p.name));
        let Some((old, range)) = before else { continue };
        if words(&old[range]) == words(&text[body.clone()]) || !is_wanted(&f.name) {
            continue;
        }
        counts.changed += 1;
        let texts = proved(f);
        let pins: Vec<Option<Pin>> = texts.iter().map(|text| pin(f, text)).collect();
        counts.told += usize::from(!texts.is_empty());
        let pins_missing = pins.iter().any(Option::is_none);
        let pins: Vec<Pin> = pins.into_iter().flatten().collect();
        let mut broken = None;
        if !pins.is_empty() {
            broken = breaks(&versions[1], f, (text, &body), &texts, pins, mutants);
        }
        if broken.is_none() && pins_missing {
            broken = loses(&versions[1], f, (text, &body), &texts, mutants);
        }
        counts.not_trivial += usize::from(broken.is_some());
        let said = match (texts.len(), broken) {
            (0, _) => "nothing told".to_owned(),
            (_, Some(how)) => format!("not trivial, {how}"),
            _ => "told, no mutant breaks it".to_owned(),
        };
        println!("  {} {}: {said} ({} facts)", &commit[..9], f.name, texts.len());
    }
}

fn is_wanted(function: &str) -> bool {
    let only = std::env::var("INVDIFF_FUNCTIONS").ok();
    only.is_none_or(|names| names.split(',').any(|name| name == function))
}

fn limits() -> Limits {
    Limits { rlimit: 100_000, ..Limits::default() }
}

/// With `INVDIFF_ALL`, what `--all` shows counts as told, too.
fn options() -> Options {
    Options { all: std::env::var_os("INVDIFF_ALL").is_some(), ..Options::default() }
}

/// A file's text, and where the body of a function of it stands.
fn body<'f>(files: &'f Files, file: &str, function: &str) -> Option<(&'f str, Range<usize>)> {
    let (path, text) = files.iter().find(|(name, _)| name == file)?;
    let tree = MemoryTree::new(view(files));
    let (_, outline) = load_outlined(&tree, Path::new(path), &c::Options::default()).ok()?;
    let found = outline.functions.iter().find(|f| f.name == function)?;
    Some((text, found.body.clone()?))
}

/// The text of a function without layout and comments.
fn words(text: &str) -> Vec<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out.lines()
        .flat_map(|l| l.split("//").next().unwrap_or_default().split_whitespace())
        .map(str::to_owned)
        .collect()
}

/// The line that a mutant's description begins with.
fn line_of(mutant: &edits::Edit) -> usize {
    let number = mutant.what.strip_prefix("line ").and_then(|rest| rest.split(':').next());
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// The names and numbers of a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    parts.filter(|w| !w.is_empty() && !matches!(*w, "old" | "calls"))
}

/// The facts at the exit of the newer version.
fn proved(f: &FunctionReport) -> BTreeSet<String> {
    let exits = f.points.iter().filter(|p| p.kind == PointKind::Exit);
    let facts = exits.flat_map(|p| p.version_invariants.iter().chain(p.churns.iter().flat_map(|c| &c.added)));
    let proved = facts.filter(|fact| fact.status.get(&2) == Some(&Status::Proved));
    proved.map(|fact| fact.text.clone()).collect()
}

fn pin(f: &FunctionReport, text: &str) -> Option<Pin> {
    let fact = PinnedFact { text: text.to_owned(), fact: fact::parse_postcondition(text).ok()? };
    Some(Pin { function: f.name.clone(), fact, is_dropped: false })
}

/// What was put for what, and the files with one mutant after another of a function's body: one of each line,
/// then another; first those in lines that have most words with its facts in common, with the line before,
/// and of these one of each part of the function.
fn mutated<'m>(
    files: &'m Files,
    f: &FunctionReport,
    (text, body): (&str, &Range<usize>),
    facts: &BTreeSet<String>,
    most: usize,
) -> impl Iterator<Item = (String, Files)> + 'm {
    const PART: usize = 16;
    // The edits look for the brace that the body begins with.
    let body = body.start.saturating_sub(1)..body.end;
    let mut all = edits::mutants(text, &body);
    all.extend(edits::name_mutants(text, &body));
    all.extend(edits::literal_mutants(text, &body));
    let file = f.file.to_string();
    let mut order = (0..PART).flat_map(|first| (first..all.len()).step_by(PART)).collect::<Vec<_>>();
    let said: BTreeSet<&str> = facts.iter().flat_map(|f| names(f)).collect();
    let lines: Vec<&str> = text.lines().collect();
    let common = |k: &usize| {
        // What a guard is for stands in the line behind it.
        let at = line_of(&all[*k]);
        let near = lines.iter().skip(at.saturating_sub(2)).take(2);
        near.flat_map(|line| names(line)).filter(|n| said.contains(n)).collect::<BTreeSet<_>>().len()
    };
    // Every line is tried before one is tried again.
    let mut tried: BTreeMap<usize, usize> = BTreeMap::new();
    let mut round = |k: &usize| {
        let n = tried.entry(line_of(&all[*k])).or_default();
        *n += 1;
        *n
    };
    order.sort_by_cached_key(|k| (round(k), std::cmp::Reverse(common(k))));
    order.into_iter().take(most).map(move |k| {
        let mutant = &all[k];
        let put = |(name, t): &(String, String)| {
            (name.clone(), if *name == file { mutant.text.clone() } else { t.clone() })
        };
        (mutant.what.clone(), files.iter().map(put).collect())
    })
}

/// A mutant that is shown to lose one of the facts, and the fact.
fn loses(
    files: &Files,
    f: &FunctionReport,
    place: (&str, &Range<usize>),
    texts: &BTreeSet<String>,
    most: usize,
) -> Option<String> {
    mutated(files, f, place, texts, most).find_map(|(what, changed)| {
        let options = Options { function: Some(f.name.clone()), limits: limits(), ..options() };
        let report = diff(&memory::request(&[view(files), view(&changed)], c::Options::default(), options));
        let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
        let mut shown = churns.filter(|c| c.witness.is_some()).flat_map(|c| &c.removed);
        let lost = shown.find(|fact| texts.contains(&fact.text))?;
        Some(format!("{} by {what}", lost.text))
    })
}

/// A mutant of a function that breaks one of its facts in a run, and the fact.
fn breaks(
    files: &Files,
    f: &FunctionReport,
    place: (&str, &Range<usize>),
    texts: &BTreeSet<String>,
    pins: Vec<Pin>,
    most: usize,
) -> Option<String> {
    mutated(files, f, place, texts, most).find_map(|(what, changed)| {
        let options = Options {
            specification: Specification { pins: pins.clone(), ..Specification::default() },
            differencing: Some(Differencing::default()),
            properties_only: true,
            function: Some(f.name.clone()),
            limits: limits(),
            ..Options::default()
        };
        let report = diff(&memory::request(&[view(files), view(&changed)], c::Options::default(), options));
        let pinned = report.assertions.iter().filter(|a| a.kind == AssertionKind::Pinned);
        let fails =
            |a: &git_invdiff::report::Assertion, v| a.outcome.get(&v) == Some(&AssertionOutcome::Fail);
        let broken = pinned.into_iter().find(|a| fails(a, 2) && !fails(a, 1))?;
        Some(format!("{} by {what}", broken.text))
    })
}
