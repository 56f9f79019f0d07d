//! Table I of the Invariant Diffs paper, ours beside the paper's, as Markdown.

use super::subjects::measured;
use super::table1;
use std::path::Path;

/// Prints a row for each task and the total; with `facts`, the facts of all versions.
pub fn print(shared: &Path, facts: bool) {
    let Some(tasks) = table1::tasks(&shared.join("subjects/itsp")) else {
        println!("skipped: subjects/itsp is not there, or not as its README.md says");
        return;
    };
    println!(
        "| task | versions: ours, paper's (more if reached), ms (nodes, queries) | time of 6 to 2, paper's |"
    );
    println!("| --- | --- | --- |");
    let mut short = 0;
    for task in &tasks {
        let mut cells = Vec::new();
        let (mut times, mut papers) = (Vec::new(), Vec::new());
        for (k, &(wanted, theirs)) in (2..=task.versions.len()).zip(&task.paper) {
            let Some(wanted) = wanted else { continue };
            let (report, time) = measured(|| table1::analyse(&task.versions[..k]));
            let (held, vacuous) = table1::counted(&report);
            let ours = held.len();
            let mark = if ours < wanted { "!" } else { "" };
            short += usize::from(ours < wanted);
            cells.push(format!(
                "{k}: {ours}, {wanted}{mark} (+{}) {} ms ({}, {})",
                vacuous.len(),
                time.as_millis(),
                report.cost.nodes_visited,
                report.cost.solver_queries
            ));
            times.push(time.as_secs_f64());
            papers.push(theirs);
        }
        let ratio = |t: &[f64]| t.last().zip(t.first()).map_or(f64::NAN, |(last, first)| last / first);
        println!("| {} | {} | {:.1}, {:.1} |", task.name, cells.join("; "), ratio(&times), ratio(&papers));
        if facts {
            let report = table1::analyse(&task.versions);
            table1::counted(&report).0.iter().for_each(|f| println!("    {}", f.text));
        }
    }
    println!("\n{short} counts are below the paper's.");
}
