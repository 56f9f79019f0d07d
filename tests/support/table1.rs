//! Table I of the Invariant Diffs paper: the student tasks, and what counts as a version invariant.
//!
//! Counted as the paper does: only facts `v == expression over inputs` on variables that all versions
//! name alike. The benchmark prints the counts, a test holds them.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Fact, Report};
use std::path::Path;

/// A task with its versions, and the paper's count and milliseconds for 2, 3, ... of them.
pub struct Task {
    pub name: String,
    pub versions: Vec<String>,
    pub paper: Vec<(Option<usize>, f64)>,
}

/// Reads the tasks under `subjects/itsp`; `None` when they are absent.
pub fn tasks(root: &Path) -> Option<Vec<Task>> {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
    let (table, selection) = (read("table1.csv")?, read("table1_selection.csv")?);
    let versions = |task: &str| -> Vec<String> {
        let rows = selection.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        rows.filter(|row| row.first() == Some(&task)).filter_map(|row| read(row.get(4)?)).collect()
    };
    let task = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        let paper = cells[1..].chunks(2);
        let paper =
            paper.map(|c| (c[0].parse().ok(), c.get(1).and_then(|t| t.parse().ok()).unwrap_or(f64::NAN)));
        Task { name: cells[0].to_owned(), versions: versions(cells[0]), paper: paper.collect() }
    };
    Some(table.lines().skip(1).map(task).collect())
}

/// Asks for all that can be said of the versions, with one worker.
pub fn analyse(versions: &[String]) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    let options = Options { all: true, jobs: 1, ..Options::default() };
    diff(&memory::request(&files, c::Options::default(), options))
}

/// The facts of all versions that the paper's H2 could find: those of versions that all have a defined run
/// to the point, and those of points that no defined run of some version comes to, of which everything holds.
pub fn counted(report: &Report) -> (Vec<&Fact>, Vec<&Fact>) {
    let points = || report.functions.iter().flat_map(|f| &f.points);
    let all = report.versions.len();
    let held = points().flat_map(|p| &p.version_invariants);
    let vacuous = points().flat_map(|p| &p.if_reached).filter(|f| f.versions.len() == all);
    (held.filter(|f| is_functional(f)).collect(), vacuous.filter(|f| is_functional(f)).collect())
}

fn is_functional(fact: &Fact) -> bool {
    let named =
        matches!(fact.variables.as_slice(), [v] if !v.starts_with('\\') && v != "output" && v != "end");
    named && matches!(fact.template.as_str(), "functional" | "constant")
}
