//! Fig. 1 of the Invariant Diffs paper: what it says of its three versions at node 5, and what is said here.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Fact, LineRef, NotHeld, Point};
use std::path::Path;

/// Prints a row for each of the paper's results.
pub fn print(shared: &Path) {
    let folder = shared.join("subjects/seed/h2_fig1");
    let sources: Option<Vec<String>> =
        ["v1.c", "v2.c", "v3.c"].iter().map(|v| std::fs::read_to_string(folder.join(v)).ok()).collect();
    let Some(sources) = sources else {
        println!("skipped: subjects/seed/h2_fig1 is not there");
        return;
    };
    let versions: Vec<Vec<(&str, &str)>> = sources.iter().map(|s| vec![("a.c", s.as_str())]).collect();
    let options = Options { all: true, ..Options::default() };
    let report = diff(&memory::request(&versions, c::Options::default(), options));
    let exit = report.functions.iter().flat_map(|f| &f.points).find(|p| p.id == "exit");
    let Some(exit) = exit else {
        println!("nothing was found at the exit");
        return;
    };
    println!("| the paper, at node 5 | here, at the exit |\n| --- | --- |");
    println!("| `c = 2` in versions 1, 2 and 3 | {} |", held(exit, &["c == 2"]));
    println!(
        "| `-[b = 3] +[b = 4]` from version 2 to 3, by +11 +12, shared 1 3 | {} |",
        changed(exit, 2, "b")
    );
    println!(
        "| `-[d = 2 + input1]` from version 1 to 2, by +7 +8 -4, shared 2 5 | {} |",
        changed(exit, 1, "d")
    );
    println!("| `b > a1` in versions 1 and 3 | {} |", held(exit, &["b > a1", "a1 < b"]));
}

/// The versions of a fact, and those that break it.
fn held(exit: &Point, texts: &[&str]) -> String {
    let mut all = exit.version_invariants.iter().chain(&exit.subset_invariants);
    let Some(fact) = all.find(|f| texts.contains(&f.text.as_str())) else { return "not found".into() };
    let list = |versions: Vec<u32>| versions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let of = |n: NotHeld| -> Vec<u32> {
        fact.not_held.iter().filter(|(_, m)| **m == n).map(|(v, _)| *v).collect()
    };
    let mut said = format!("`{}` in {}", fact.text, list(fact.versions.clone()));
    for (n, words) in [(NotHeld::Refuted, "an input breaks it in"), (NotHeld::Open, "not known in")] {
        if !of(n).is_empty() {
            said += &format!("; {words} {}", list(of(n)));
        }
    }
    said
}

/// The change of a variable from one version to the next, with its lines.
fn changed(exit: &Point, from: u32, variable: &str) -> String {
    let about = |f: &Fact| f.variables == [variable.to_owned()];
    let churn = exit.churns.iter().find(|c| c.from == from && c.removed.iter().chain(&c.added).any(about));
    let Some(churn) = churn else { return "not found".into() };
    let facts = |sign: char, facts: &[Fact]| -> Vec<String> {
        facts.iter().filter(|f| about(f)).map(|f| format!("`{sign}[{}]`", f.text)).collect()
    };
    let lines = |sign: &str, refs: &[LineRef]| -> Vec<String> {
        refs.iter().map(|r| format!("{sign}{}", r.line)).collect()
    };
    let said = [facts('-', &churn.removed), facts('+', &churn.added)].concat().join(" ");
    let by = [lines("+", &churn.causes.added), lines("-", &churn.causes.removed)].concat().join(" ");
    format!("{said}, by lines {by}, shared {}", lines("", &churn.causes.shared).join(" "))
}
