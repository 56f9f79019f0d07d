//! Table I of the Invariant Diffs paper: version invariants of the student tasks, and how time grows
//! from 2 to 6 versions, ours beside the paper's.
//!
//! Usage: `cargo bench --bench table1 [-- --facts]`; the subjects are looked for in `../shared` or
//! where `INVDIFF_SHARED` says.

#[path = "../tests/support/table1.rs"]
mod table1;

use git_invdiff::report::Report;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Repetitions of each measurement; the fastest counts.
const REPETITIONS: usize = 3;

fn main() {
    let shared = std::env::var_os("INVDIFF_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let Some(tasks) = table1::tasks(&shared.join("subjects/itsp")) else {
        println!("skipped: shared data absent");
        return;
    };
    println!("task   versions: ours/paper's version invariants, ms (nodes, queries)   time 6:2, paper's");
    let mut short = 0;
    for task in &tasks {
        print!("{}  ", task.name);
        let (mut times, mut papers) = (Vec::new(), Vec::new());
        for (k, &(wanted, theirs)) in (2..=task.versions.len()).zip(&task.paper) {
            let Some(wanted) = wanted else { continue };
            let (report, time) = measure(&task.versions[..k]);
            let (held, vacuous) = table1::counted(&report);
            let ours = held.len();
            let mark = if ours < wanted { "!" } else { "" };
            short += usize::from(ours < wanted);
            print!("  {k}: {ours}/{wanted}{mark} (+{} if reached) {} ms", vacuous.len(), time.as_millis());
            print!(" ({}, {})", report.cost.nodes_visited, report.cost.solver_queries);
            times.push(time.as_secs_f64());
            papers.push(theirs);
        }
        let ratio = |t: &[f64]| t.last().zip(t.first()).map_or(f64::NAN, |(last, first)| last / first);
        println!("   {:.1}, {:.1}", ratio(&times), ratio(&papers));
        if std::env::args().any(|a| a == "--facts") {
            let report = measure(&task.versions).0;
            table1::counted(&report).0.iter().for_each(|f| println!("         {}", f.text));
        }
    }
    println!("{short} counts below the paper's");
}

fn measure(versions: &[String]) -> (Report, Duration) {
    let analyse = || {
        let start = Instant::now();
        let report = table1::analyse(versions);
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
