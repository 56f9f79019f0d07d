//! Difference verification tasks of SV-Benchmarks: what the gate's pipeline says of them, and what it
//! explores without a condition, with diffCond's and with diffDP's.
//!
//! `cargo test --release --test oracle svcomp -- --nocapture` prints the table of `docs/svcomp.md`.

use crate::support;
use crate::verified::{Said, Way, ask, program};
use git_invdiff::difference::Detector;
use git_invdiff::verifier::Effort;
use std::time::Duration;

#[test]
fn verdicts_are_right_or_open() {
    let Some(folder) = support::oracle::shared("subjects/svcomp") else { return };
    let tasks = std::fs::read_to_string(folder.join("tasks.csv")).unwrap();
    let read = |name: &str| program(&std::fs::read_to_string(folder.join(name)).unwrap());
    let ways = [Way::Full, Way::Condition(Detector::DiffCond), Way::Condition(Detector::DiffDp)];
    let mut decided = [0; 3];
    let mut regressions = [0; 3];
    let mut total = [Effort::default(); 3];
    let mut times = [Duration::ZERO; 3];
    for task in tasks.lines().skip(1) {
        let [_, old_name, new_name, was, is] = task.split(',').collect::<Vec<_>>()[..] else {
            panic!("{task}")
        };
        let (old, new) = (read(old_name), read(new_name));
        let mut cells = Vec::new();
        for (k, way) in ways.into_iter().enumerate() {
            let row = ask(&old, &new, way);
            match row.said {
                Said::Harmless | Said::Holds => assert!(is == "true" || was == "false", "{task}: {way:?}"),
                Said::Regression => assert!(was == "true" && is == "false", "{task}: {way:?}"),
                Said::Open => {}
            }
            decided[k] += usize::from(row.said != Said::Open);
            regressions[k] += usize::from(row.said == Said::Regression);
            let e = row.effort;
            total[k].steps += e.steps;
            total[k].states += e.states;
            total[k].tasks += e.tasks;
            total[k].runs += e.runs;
            times[k] += row.time;
            cells.push(format!(
                "{:?}, {} states, {} runs, {} ms",
                row.said,
                e.states,
                e.runs,
                row.time.as_millis()
            ));
        }
        let short =
            |name: &str| name.trim_start_matches("combinations/").replace(".c.cil.c", "").replace(".i", "");
        println!("| {} → {} | {was} → {is} | {} |", short(old_name), short(new_name), cells.join(" | "));
    }
    for k in 0..3 {
        println!(
            "{:?}: {} of 14 decided, {} of 6 regressions; {} states, {} steps, {} sets of inputs, {} runs, 0 queries, {} ms",
            ways[k],
            decided[k],
            regressions[k],
            total[k].states,
            total[k].steps,
            total[k].tasks,
            total[k].runs,
            times[k].as_millis()
        );
    }
    // Without a condition, tasks of which an unchanged part is hard stay open.
    assert!(decided[0] >= 12 && decided[1] == 14 && decided[2] == 14, "{decided:?}");
    assert_eq!(regressions, [6; 3]);
    assert!(
        total[2].states < total[1].states && total[1].states < total[0].states,
        "a condition spares work"
    );
}
