//! What is told of the hunks of real commits: by verdict and reason, and for how many commits all of them.
//!
//! `cargo bench --bench told -- FOLDER [COMMITS [OPTION...]]` takes the newest first-parent commits (no merges) of
//! every clone in a folder that touch C files, runs the built program on each with the options, and prints a line
//! for each clone and one for each reason of what stays open. A hunk is *told* if it is explained or neutral;
//! hunks of code are those that are told, or whose function was lowered. Counts are exact; CPU times are of this
//! machine as it is. A commit that takes longer than [`reports::PATIENCE`] counts as one that has no answer.

#[path = "support/reports.rs"]
mod reports;

use reports::report;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const COMMITS: usize = 60;

#[derive(Default)]
struct Counts {
    commits: usize,
    /// Commits of which every hunk of C is told.
    whole: usize,
    unanswered: usize,
    hunks: usize,
    told: usize,
    /// Reasons of the others.
    reasons: BTreeMap<String, usize>,
    deltas: usize,
    seconds: Vec<f64>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some((folder, rest)) = words.split_first() else {
        println!("skipped: no folder of clones is named");
        return;
    };
    let number = rest.first().and_then(|n| n.parse().ok());
    let options = rest.get(usize::from(number.is_some())..).unwrap_or_default();
    let mut clones: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    clones.sort();
    for clone in clones.iter().filter(|c| c.join(".git").exists()) {
        let mut counts = Counts::default();
        for commit in commits(clone, number.unwrap_or(COMMITS)) {
            examine(clone, &commit, options, &mut counts);
        }
        print(clone, &mut counts);
    }
}

fn commits(clone: &Path, number: usize) -> Vec<String> {
    let log = Command::new("git")
        .current_dir(clone)
        .args(["log", "--no-merges", "--first-parent", "--min-parents=1", "--format=%H"])
        .arg(format!("-{number}"))
        .args(["--", "*.c", "*.h"])
        .output()
        .expect("git log");
    String::from_utf8_lossy(&log.stdout).lines().map(str::to_owned).collect()
}

fn examine(clone: &Path, commit: &str, options: &[String], counts: &mut Counts) {
    counts.commits += 1;
    let begun = Instant::now();
    let Some(report) = report(clone, commit, options) else {
        counts.unanswered += 1;
        return;
    };
    counts.seconds.push(begun.elapsed().as_secs_f64());
    let none = Vec::new();
    let hunks = report["hunks"].as_array().unwrap_or(&none);
    let mut whole = true;
    for hunk in hunks.iter().filter(|h| h["why"] != "not-c") {
        counts.hunks += 1;
        match hunk["verdict"].as_str() {
            Some("explained" | "neutral") => counts.told += 1,
            _ => {
                whole = false;
                let why = hunk["why"].as_str().unwrap_or("unknown").to_owned();
                *counts.reasons.entry(why).or_default() += 1;
            }
        }
    }
    counts.whole += usize::from(whole);
    let functions = report["functions"].as_array().unwrap_or(&none).iter();
    let changes = functions.flat_map(|f| f["changes"].as_array().into_iter().flatten());
    counts.deltas += changes.map(|c| c["deltas"].as_array().map_or(0, Vec::len)).sum::<usize>();
}

fn print(clone: &Path, counts: &mut Counts) {
    let share = |n: usize, of: usize| 100 * n / of.max(1);
    let is_open = |why: &&String| {
        *why == "undecided" || *why == "not-modelled" || *why == "lost" || why.starts_with("open:")
    };
    let open: usize = counts.reasons.iter().filter(|(why, _)| is_open(why)).map(|(_, n)| n).sum();
    counts.seconds.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = counts.seconds.len().saturating_sub(1) as f64;
        counts.seconds.get((last * share) as usize).copied().unwrap_or_default()
    };
    println!(
        "{}: {} commits, {} told whole ({} %), {} without an answer; {} of {} hunks told ({} %), of code {} %; {} deltas; \
         {:.2} s in the median, {:.2} s at p95",
        clone.file_name().unwrap_or_default().to_string_lossy(),
        counts.commits,
        counts.whole,
        share(counts.whole, counts.commits),
        counts.unanswered,
        counts.told,
        counts.hunks,
        share(counts.told, counts.hunks),
        share(counts.told, counts.told + open),
        counts.deltas,
        at(0.5),
        at(0.95),
    );
    let mut reasons: Vec<(&String, &usize)> = counts.reasons.iter().collect();
    reasons.sort_by_key(|(why, n)| (std::cmp::Reverse(**n), why.as_str()));
    for (why, n) in reasons {
        println!("    {n:>5}  {why}");
    }
}
