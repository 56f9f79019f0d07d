//! A version that does not touch a function costs next to nothing (`docs/design/symbolic-evaluation.md`
//! and `docs/design/reach-of-a-change.md`): classes of equal bodies are analysed once, however many
//! versions share them.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Cost, Report};

fn analyse(versions: &[String], jobs: usize) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    diff(&memory::request(&files, c::Options::default(), Options { jobs, ..Options::default() }))
}

/// A loop, a call and branches; `step` and `other` are what versions change.
fn program(step: &str, other: &str) -> String {
    format!(
        "static int weigh(int x) {{ return x < 0 ? -x : x; }}\n\
         int total(const int *a, int n) {{\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        s += weigh(a[i]) {step};\n    \
         if (s < 0)\n        return -1;\n    return s;\n}}\n\
         int other(int x) {{\n    return {other};\n}}\n"
    )
}

#[test]
fn untouched_versions_cost_no_query() {
    let two = vec![program("", "x"), program("+ 1", "x")];
    let mut six = two.clone();
    for k in 0..4 {
        // Only `other` changes, whose analysis is trivial.
        six.push(program("+ 1", &format!("x + {k}")));
    }
    let mut padded = two.clone();
    padded.extend((0..4).map(|k| format!("/* layout {k} */\n{}", program("+ 1", "x"))));
    let (base, same) = (analyse(&two, 1).cost, analyse(&padded, 1).cost);
    assert!(base.nodes_visited > 0);
    assert_eq!((same.nodes_visited, same.solver_queries), (base.nodes_visited, base.solver_queries));
    let report = analyse(&six, 1);
    let alone: Vec<String> =
        six[1..].iter().map(|p| p.split("int other").last().unwrap_or("").into()).collect();
    let alone: Vec<String> = alone.iter().map(|p: &String| format!("int other{p}")).collect();
    let only_other = analyse(&alone, 1).cost;
    let most = (base.nodes_visited + only_other.nodes_visited) * 105 / 100;
    assert!(report.cost.nodes_visited <= most, "{} > {most}", report.cost.nodes_visited);
    assert_eq!(report.cost.solver_queries, base.solver_queries + only_other.solver_queries);
}

#[test]
fn workers_change_nothing() {
    let versions = vec![program("", "x"), program("+ 1", "x + 1"), program("- 1", "x * 2")];
    let text = |jobs: usize| {
        let mut report = analyse(&versions, jobs);
        report.cost = Cost::default();
        format!("{report:?}")
    };
    let first = text(1);
    assert_eq!(first, text(1));
    assert_eq!(first, text(2));
}
