//! The worked example of the Invariant Diffs paper (Fig. 1 and 2).

use crate::support::oracle::shared;
use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Churn, LineRef, NotHeld, Point, Report, Status};

fn report() -> Option<Report> {
    let folder = shared("subjects/seed/h2_fig1")?;
    let read = |v: &str| std::fs::read_to_string(folder.join(v)).expect("the version is there");
    let sources = [read("v1.c"), read("v2.c"), read("v3.c")];
    let versions: Vec<Vec<(&str, &str)>> = sources.iter().map(|s| vec![("a.c", s.as_str())]).collect();
    let options = Options { all: true, ..Options::default() };
    Some(diff(&memory::request(&versions, c::Options::default(), options)))
}

fn exit(report: &Report) -> &Point {
    let main = report.functions.iter().find(|f| f.name == "main").expect("main is analysed");
    main.points.iter().find(|p| p.id == "exit").expect("the exit is a point")
}

fn churn<'r>(report: &'r Report, from: u32, variable: &str) -> &'r Churn {
    let about = |c: &&Churn| {
        c.from == from && c.removed.iter().chain(&c.added).any(|f| f.variables == [variable.to_string()])
    };
    exit(report).churns.iter().find(about).expect("the churn is there")
}

fn lines(refs: &[LineRef]) -> Vec<u32> {
    refs.iter().map(|r| r.line).collect()
}

#[test]
fn c_is_2_in_all_versions() {
    let Some(report) = report() else { return };
    let fact = exit(&report).version_invariants.iter().find(|f| f.text == "c == 2").expect("c == 2");
    assert_eq!(fact.versions, [1, 2, 3]);
    assert!(fact.status.values().all(|s| *s == Status::Proved));
}

/// The paper: version invariants "that hold for any subset of versions".
#[test]
fn b_is_3_in_versions_1_and_2() {
    let Some(report) = report() else { return };
    let some = &exit(&report).subset_invariants;
    let fact = some.iter().find(|f| f.text == "b == 3").expect("b == 3");
    assert_eq!(fact.versions, [1, 2]);
    assert!(fact.status.values().all(|s| *s == Status::Proved));
    assert_eq!(fact.not_held.get(&3), Some(&NotHeld::Refuted));
    let fact = some.iter().find(|f| f.text == "b == 4").expect("b == 4");
    assert_eq!((&fact.versions[..], fact.not_held.len()), (&[3][..], 2));
}

#[test]
fn b_changes_from_3_to_4() {
    let Some(report) = report() else { return };
    let c = churn(&report, 2, "b");
    assert_eq!((c.removed[0].text.as_str(), c.added[0].text.as_str()), ("b == 3", "b == 4"));
    assert_eq!(lines(&c.causes.added), [17, 20], "nodes 11 and 12");
    assert_eq!(lines(&c.causes.removed), [0u32; 0]);
    assert_eq!(lines(&c.causes.shared), [12, 14], "nodes 1 and 3");
}

#[test]
fn d_loses_its_relation_to_the_input() {
    let Some(report) = report() else { return };
    let c = churn(&report, 1, "d");
    assert_eq!(c.removed[0].text, "d == \\input(1) + 2");
    assert_eq!(lines(&c.causes.removed), [15], "node 4");
    assert_eq!(lines(&c.causes.added), [16, 17], "nodes 7 and 8");
    assert_eq!(lines(&c.causes.shared), [13, 16 + 2], "nodes 2 and 5");
    assert!(c.witness.is_some());
}

/// The paper claims `b > a1` for version 1 too; an input of 3 or more breaks it there.
#[test]
fn b_exceeds_a1_in_version_3_only() {
    let Some(report) = report() else { return };
    let point = exit(&report);
    assert!(point.version_invariants.iter().all(|f| f.text != "b > a1" && f.text != "a1 < b"));
    let about = |c: &&Churn| c.from == 2 && c.added.iter().any(|f| f.text == "b > a1" || f.text == "a1 < b");
    let c = point.churns.iter().find(about).expect("found in version 3");
    let w = c.witness.as_ref().expect("refuted before");
    let number = |s: &str| s.parse::<i64>().expect("a number");
    assert!(number(&w.old.values["b"]) <= number(&w.old.values["a1"]));
}
