//! Table I of the Invariant Diffs paper: version invariants of the student tasks, and how time grows
//! from 2 to 6 versions, ours beside the paper's.
//!
//! Counted as the paper does: only facts `v == expression over inputs` on variables that all versions
//! name alike. Usage: `cargo bench --bench table1`; the subjects are looked for in `../shared` or
//! where `INVDIFF_SHARED` says.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Fact, Report};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Repetitions of each measurement; the fastest counts.
const REPETITIONS: usize = 3;

fn main() {
    let shared = std::env::var_os("INVDIFF_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let root = shared.join("subjects/itsp");
    let read = |name: &str| std::fs::read_to_string(root.join(name));
    let (Ok(paper), Ok(selection)) = (read("table1.csv"), read("table1_selection.csv")) else {
        println!("skipped: shared data absent");
        return;
    };
    let mut tasks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in selection.lines().skip(1) {
        if let [task, _, _, _, file, ..] = row.split(',').collect::<Vec<_>>()[..] {
            tasks.entry(task).or_default().push(read(file).unwrap_or_default());
        }
    }
    println!("task   versions: ours/paper's version invariants, ms (nodes, queries)   time 6:2, paper's");
    let mut short = 0;
    for row in paper.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let (Some(task), Some(versions)) = (cells.first(), cells.first().and_then(|t| tasks.get(t))) else {
            continue;
        };
        print!("{task}  ");
        let (mut times, mut papers) = (Vec::new(), Vec::new());
        for k in 2..=versions.len() {
            let wanted: Option<usize> = cells.get(2 * k - 3).and_then(|c| c.parse().ok());
            let (report, time) = measure(&versions[..k]);
            let ours = counted(&report).len();
            let Some(wanted) = wanted else { continue };
            let mark = if ours < wanted { "!" } else { "" };
            short += usize::from(ours < wanted);
            print!("  {k}: {ours}/{wanted}{mark} {} ms", time.as_millis());
            print!(" ({}, {})", report.cost.nodes_visited, report.cost.solver_queries);
            times.push(time.as_secs_f64());
            papers.push(cells.get(2 * k - 2).and_then(|c| c.parse::<f64>().ok()).unwrap_or(f64::NAN));
        }
        let ratio = |t: &[f64]| t.last().zip(t.first()).map_or(f64::NAN, |(last, first)| last / first);
        println!("   {:.1}, {:.1}", ratio(&times), ratio(&papers));
        if std::env::args().any(|a| a == "--facts") {
            let report = measure(versions).0;
            counted(&report).iter().for_each(|f| println!("         {}", f.text));
        }
    }
    println!("{short} counts below the paper's");
}

fn measure(versions: &[String]) -> (Report, Duration) {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    let analyse = || {
        let options = Options { all: true, jobs: 1, ..Options::default() };
        let request = memory::request(&files, c::Options::default(), options);
        let start = Instant::now();
        let report = diff(&request);
        (report, start.elapsed())
    };
    let mut best = analyse();
    for _ in 1..REPETITIONS {
        let again = analyse();
        if again.1 < best.1 {
            best = again;
        }
    }
    best
}

/// The facts of all versions that the paper's H2 could find.
fn counted(report: &Report) -> Vec<&Fact> {
    let points = report.functions.iter().flat_map(|f| &f.points);
    let facts = points.flat_map(|p| &p.version_invariants);
    facts.filter(|f| is_functional(f)).collect()
}

fn is_functional(fact: &Fact) -> bool {
    let named =
        matches!(fact.variables.as_slice(), [v] if !v.starts_with('\\') && v != "output" && v != "end");
    named && matches!(fact.template.as_str(), "functional" | "constant")
}
