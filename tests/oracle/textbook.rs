//! How many of the facts that textbooks state (`fixtures/textbook`) the analysis finds by itself.
//!
//! A stated fact is *found* when the facts that a report of the function calls `proved` at the same
//! point imply it, under what the function requires: word for word, or as formulas over the words
//! that they use (module `implication`). What is stated is never given to the analysis.
//!
//! `INVDIFF_WRITE=1` writes the facts that are missing to `docs/textbook.md`; reasons that stand
//! there stay. `INVDIFF_SHOW=f` prints what is proved of the function `f` (`all`: of every one), and
//! whether it could be read.

use crate::implication::Words;
use crate::stated;
use crate::stated::Stated;
use crate::support::tier::rounds;
use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::ir::{Function, Unit};
use git_invdiff::report::{Point, PointKind, Report, Status};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Facts of a hundred that have to be found.
const LEAST_PERCENT: usize = 80;

/// A stated fact and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    file: String,
    function: String,
    place: String,
    fact: String,
    found: bool,
}

/// One point of a function: what the report proves there, and what is stated.
pub(crate) struct Place<'a> {
    pub name: String,
    pub proved: Vec<String>,
    pub stated: &'a [String],
}

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The sources with their names, in order.
pub(crate) fn sources() -> Vec<(String, String)> {
    let files = std::fs::read_dir(root("fixtures/textbook")).unwrap().map(|f| f.unwrap().path());
    let mut sources: Vec<(String, String)> = files
        .filter(|f| f.extension().is_some_and(|e| e == "c"))
        .map(|f| {
            (f.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&f).unwrap())
        })
        .collect();
    sources.sort();
    sources
}

fn analyse(file: &str, text: &str, function: &str) -> Report {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    let function = Some(function.to_owned());
    let options = Options { whole: true, all: true, jobs: 1, function, points, ..Options::default() };
    diff(&memory::request(&[vec![(file, text)]], c::Options::default(), options))
}

/// What a report proves at the points of a kind.
fn proved<'p>(points: impl Iterator<Item = &'p Point>) -> Vec<String> {
    let facts = points.flat_map(|p| &p.version_invariants);
    facts.filter(|f| f.status.get(&1) == Some(&Status::Proved)).map(|f| f.text.clone()).collect()
}

/// The facts that are stated of a function, found or not.
fn measure(file: &str, text: &str, stated: &Stated) -> Vec<Row> {
    let loaded =
        frontend::load_unit(&MemoryTree::new([(file, text)]), Path::new(file), &c::Options::default());
    let unit = loaded.unwrap_or_else(|e| panic!("{file}: {e}")).unit;
    let body = unit.function(&stated.name).unwrap_or_else(|| panic!("{file}: no {}", stated.name));
    let report = analyse(file, text, &stated.name);
    let points: Vec<&Point> =
        report.functions.iter().filter(|f| f.name == stated.name).flat_map(|f| &f.points).collect();
    let of_kind = |kind: PointKind| points.iter().copied().filter(move |p| p.kind == kind);
    let exit =
        Place { name: "exit".into(), proved: proved(of_kind(PointKind::Exit)), stated: &stated.ensures };
    let loops = stated.loops.iter().enumerate().map(|(k, l)| {
        let here = of_kind(PointKind::Loop).filter(|p| p.lines.get(&1) == Some(&l.line));
        let name = if stated.loops.len() == 1 { "loop".into() } else { format!("loop {}", k + 1) };
        Place { name, proved: proved(here), stated: &l.invariants }
    });
    let row = |place: &str, fact: &str, found| Row {
        file: file.to_owned(),
        function: stated.name.clone(),
        place: place.to_owned(),
        fact: fact.to_owned(),
        found,
    };
    std::iter::once(exit)
        .chain(loops)
        .flat_map(|place| {
            let found = found(&unit, body, &stated.requires, &place);
            let rows: Vec<Row> =
                place.stated.iter().zip(found).map(|(fact, f)| row(&place.name, fact, f)).collect();
            rows
        })
        .collect()
}

/// Which of the facts that are stated at a place are found there.
pub(crate) fn found(unit: &Unit, body: &Function, requires: &[String], place: &Place) -> Vec<bool> {
    let mut words = Words::new(unit, body);
    let read: Vec<_> = place.proved.iter().map(|f| words.reported(f)).collect();
    if std::env::var_os("INVDIFF_SHOW").is_some_and(|name| name == "all" || *name == *body.name) {
        for (fact, read) in place.proved.iter().zip(&read) {
            let mark = if read.is_some() { "read" } else { "unread" };
            println!("{mark:<7} {:<41} {:<7} {fact}", body.name, place.name);
        }
    }
    let mut known: Vec<_> = read.into_iter().flatten().collect();
    let all = words.all(&known);
    assert!(!words.is_contradiction(all), "{}: {:?} contradict each other", body.name, place.proved);
    let given: Vec<_> = requires.iter().filter_map(|r| words.required(r)).collect();
    let given = words.all(&given);
    known.push(given);
    let all = words.all(&known);
    let is_found = |fact: &String| {
        if place.proved.iter().any(|p| squeezed(p) == squeezed(fact)) {
            return true;
        }
        let Some(goal) = words.stated(fact) else { return false };
        assert!(!words.implies(given, goal), "{}: {fact} says nothing", body.name);
        let instances: Vec<_> = place.proved.iter().flat_map(|p| words.instances(p, fact)).collect();
        let all = words.all(&[&[all], &*instances].concat());
        words.implies(all, goal)
    };
    place.stated.iter().map(is_found).collect()
}

fn squeezed(fact: &str) -> String {
    fact.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Line of a missing fact in `docs/textbook.md`, without its reason.
fn cells(row: &Row) -> String {
    let fact = row.fact.replace('|', "\\|");
    format!("| {} | {} | {} | `{fact}`", row.file, row.function, row.place)
}

/// The reasons that the document gives, by the line without them.
fn reasons(document: &str) -> BTreeMap<String, String> {
    let rows = document.lines().filter_map(|l| l.strip_suffix(" |")?.rsplit_once(" | "));
    rows.map(|(cells, reason)| (cells.to_owned(), reason.trim().to_owned())).collect()
}

fn document(rows: &[Row], reasons: &BTreeMap<String, String>) -> String {
    let found = rows.iter().filter(|r| r.found).count();
    let mut text = format!(
        "# Facts of textbooks that are not found\n\n`fixtures/textbook` holds functions with the facts that textbooks state for them; \
         {found} of {} are proved without being told.\nThese are not; `INVDIFF_WRITE=1 cargo test --test oracle textbook` renews the table and keeps the reasons.\n\n\
         | file | function | where | fact | reason |\n| --- | --- | --- | --- | --- |\n",
        rows.len()
    );
    for row in rows.iter().filter(|r| !r.found) {
        let cells = cells(row);
        let reason = reasons.get(&cells).map_or("", String::as_str);
        text += &format!("{cells} | {reason} |\n");
    }
    text
}

#[test]
fn facts_of_textbooks_are_found() {
    let sources = sources();
    let work: Vec<(&str, &str, Stated)> = sources
        .iter()
        .flat_map(|(file, text)| stated::functions(text).into_iter().map(move |s| (&**file, &**text, s)))
        .collect();
    assert!(work.len() >= 60, "{} functions", work.len());
    let is_written = std::env::var_os("INVDIFF_WRITE").is_some();
    let step = if is_written { 1 } else { rounds("INVDIFF_TEXTBOOK_STEP", 9, 1).max(1) };
    let work: Vec<_> = work.into_iter().step_by(step).collect();
    let rows: Vec<Row> = work.par_iter().flat_map_iter(|(file, text, s)| measure(file, text, s)).collect();
    for r in &rows {
        let mark = if r.found { "found  " } else { "missing" };
        println!("{mark} {:<14} {:<26} {:<7} {}", r.file, r.function, r.place, r.fact);
    }
    let found = rows.iter().filter(|r| r.found).count();
    println!(
        "{found} of {} facts of {} functions found: {} %",
        rows.len(),
        work.len(),
        found * 100 / rows.len()
    );
    let path = root("docs/textbook.md");
    let reasons = reasons(&std::fs::read_to_string(&path).unwrap_or_default());
    if is_written {
        std::fs::write(&path, document(&rows, &reasons)).unwrap();
    } else {
        let unlisted: Vec<&Row> =
            rows.iter().filter(|r| !r.found && !reasons.contains_key(&cells(r))).collect();
        assert!(unlisted.is_empty(), "missing, and not in docs/textbook.md: {unlisted:?}");
    }
    assert!(step > 1 || found * 100 >= rows.len() * LEAST_PERCENT, "{found} of {}", rows.len());
}

/// What does not follow from the facts of a report is not found.
#[test]
fn only_what_follows_is_found() {
    let code = "int f(const int *a, double d, int n)\n{\n    n++;\n    return a[0] + (d > 0);\n}\n";
    let loaded =
        frontend::load_unit(&MemoryTree::new([("a.c", code)]), Path::new("a.c"), &c::Options::default());
    let unit = loaded.unwrap().unit;
    let body = unit.function("f").unwrap();
    let check = |proved: &[&str], stated: &str, expected: bool| {
        let texts = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let place = Place { name: "exit".into(), proved: texts(proved), stated: &texts(&[stated]) };
        assert_eq!(found(&unit, body, &texts(&["n >= 0"]), &place), [expected], "{proved:?}: {stated}");
    };
    check(&[], "\\result >= 0", false);
    check(&["n == \\old(n)"], "n >= 0", true);
    check(&[], "n >= 0", false);
    check(&["n == \\old(n) + 1"], "n > \\old(n)", false);
    check(&["\\result == a[0] + 1"], "\\result - 1 == a[0]", true);
    check(&["\\result == a[0]"], "\\result == a[1]", false);
    check(&["\\result == a[n]", "n == 3"], "\\result == a[3]", true);
    check(&["d == d * 1.0"], "d == d", false);
    check(&["\\result == (n == 0 ? 1 : f(a, d, n - 1))"], "n == 0 ==> \\result == 1", true);
    check(&["\\result == malloc(1)", "n == malloc(1)"], "\\result == n", false);
    check(
        &["\\forall integer k; 0 <= k && k < n ==> a[k] == 0"],
        "\\forall integer k; 0<=k && k<n ==> a[k]==0",
        true,
    );
    check(
        &["\\forall integer k; 0 <= k && k < n ==> a[k] == 0"],
        "\\forall integer k; 0<=k && k<n ==> a[k]==1",
        false,
    );
    // A fact about all elements is one about each of them, and about fewer.
    const ZEROS: &str = "\\forall integer k; 0 <= k && k < n ==> a[k] == 0";
    check(&[ZEROS, "n == 3"], "a[0] == 0", true);
    check(&[ZEROS, "n == 3"], "a[n - 1] == 0", true);
    check(&[ZEROS], "n > 0 ==> a[n - 1] == 0", true);
    check(&[ZEROS, "n == 3"], "a[n] == 0", false);
    check(&[ZEROS, "n > 0"], "\\forall integer k; 0 <= k && k < n - 1 ==> a[k] == 0", true);
    check(&[ZEROS], "\\forall integer k; 0 <= k && k <= n ==> a[k] == 0", false);
    check(&["\\result == 1 ==> (\\forall integer k; 0 <= k && k < n ==> a[k] == 0)"], ZEROS, false);
    check(
        &["\\result == 1 ==> (\\forall integer k; 0 <= k && k < n ==> a[k] == 0)", "\\result == 1"],
        ZEROS,
        true,
    );
}
