//! Tables 1 and 2 of the diffDP paper: tasks that are solved by verifying all of the modified program, and by what
//! the conditions of diffDP and of diffCond leave.

use super::svcomp::{Row, Said, Way, ask, program};
use git_invdiff::difference::Detector;
use std::collections::BTreeMap;
use std::path::Path;

/// The three ways to verify a task.
const WAYS: [Way; 3] = [Way::Full, Way::Condition(Detector::DiffCond), Way::Condition(Detector::DiffDp)];

/// Of the tasks of a category: those that are proved, those that are disproved, and those of which the
/// contrary of what is known was said.
#[derive(Clone, Copy, Default)]
struct Solved {
    proved: usize,
    disproved: usize,
    wrong: usize,
    /// Proved, and the verifier was not needed.
    harmless: usize,
    /// States of the abstract search.
    states: u64,
    ms: u128,
}

/// By category: the tasks without and with a violation, and what was solved each way.
type Categories = BTreeMap<String, ([usize; 2], [Solved; 3])>;

/// Prints both tables.
pub fn print(shared: &Path) {
    let Some(found) = solved(&shared.join("subjects/svcomp")) else {
        println!("skipped: subjects/svcomp is not there, or not as its README.md says");
        return;
    };
    for (title, ways) in [
        ("Table 1: the full check, and with diffDP's condition", [(0, "full"), (2, "diffDP")]),
        ("Table 2: with diffCond's condition, and with diffDP's", [(1, "diffCond"), (2, "diffDP")]),
    ] {
        println!("\n{title}:\n");
        println!(
            "| category (tasks that hold + that do not) | way | proved | by the condition alone | disproved | wrong | states | ms |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
        for (category, ([hold, fail], by)) in &found {
            for (k, way) in ways {
                let Solved { proved, disproved, wrong, harmless, states, ms } = by[k];
                println!(
                    "| {category} ({hold} + {fail}) | {way} | {proved} | {harmless} | {disproved} | {wrong} | {states} | {ms} |"
                );
            }
        }
    }
}

fn solved(folder: &Path) -> Option<Categories> {
    let tasks = std::fs::read_to_string(folder.join("tasks.csv")).ok()?;
    let mut found = Categories::new();
    for task in tasks.lines().skip(1) {
        let [category, old, new, was, is] = task.split(',').collect::<Vec<_>>()[..] else { return None };
        let read = |name: &str| Some(program(&std::fs::read_to_string(folder.join(name)).ok()?));
        let (old, new) = (read(old)?, read(new)?);
        let (counts, by) = found.entry(category.to_owned()).or_default();
        counts[usize::from(is != "true")] += 1;
        for (way, solved) in WAYS.into_iter().zip(by) {
            add(solved, &ask(&old, &new, way), was == "true", is == "true");
        }
    }
    Some(found)
}

/// A failure that the original has, too, is no regression: that none is introduced is right there.
fn add(solved: &mut Solved, row: &Row, held: bool, holds: bool) {
    solved.ms += row.time.as_millis();
    solved.states += row.effort.states;
    solved.harmless += usize::from(row.said == Said::Harmless);
    match row.said {
        Said::Harmless | Said::Holds if holds || !held => solved.proved += 1,
        Said::Regression if held && !holds => solved.disproved += 1,
        Said::Open => {}
        _ => solved.wrong += 1,
    }
}
