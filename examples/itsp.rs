//! Measures the student pairs of the Invariant Diffs paper (Table II): prints ours beside theirs.
//!
//! Usage: `cargo run --example itsp -- <shared/subjects/itsp> [pair ...]`

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;

fn main() {
    let mut args = std::env::args().skip(1);
    let root = std::path::PathBuf::from(args.next().unwrap_or_else(|| "../shared/subjects/itsp".into()));
    let only: Vec<String> = args.collect();
    let Ok(table) = std::fs::read_to_string(root.join("table2.csv")) else {
        println!("skipped: shared data absent");
        return;
    };
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let [pair, task, _, _, ichurn, ..] = cells.as_slice() else { continue };
        if !only.is_empty() && !only.iter().any(|o| o == pair) {
            continue;
        }
        let read = |v: &str| std::fs::read_to_string(root.join(task).join(pair).join(v)).unwrap_or_default();
        let (old, new) = (read("v1.c"), read("v2.c"));
        let request = memory::request(
            &[vec![("a.c", &old)], vec![("a.c", &new)]],
            c::Options::default(),
            Options::default(),
        );
        let start = std::time::Instant::now();
        let report = diff(&request);
        println!(
            "== {pair} paper churns {ichurn}, ours {} in {} ms",
            report.summary.churns,
            start.elapsed().as_millis()
        );
        for f in &report.functions {
            for p in &f.points {
                for c in &p.churns {
                    println!("  churn {:?} {}", c.claim, f.name);
                    c.removed.iter().for_each(|x| println!("    - {}", x.text));
                    c.added.iter().for_each(|x| println!("    + {}", x.text));
                    let lines =
                        |l: &[git_invdiff::report::LineRef]| l.iter().map(|l| l.line).collect::<Vec<_>>();
                    println!(
                        "    lines -{:?} +{:?} kept {:?}",
                        lines(&c.causes.removed),
                        lines(&c.causes.added),
                        lines(&c.causes.shared)
                    );
                    if let Some(w) = &c.witness {
                        println!(
                            "    stdin {:?}: {:?} {:?} -> {:?} {:?}",
                            w.stdin, w.old.end, w.old.stdout, w.new.end, w.new.stdout
                        );
                    }
                }
                p.version_invariants.iter().for_each(|x| println!("    = {}", x.text));
                p.undecided.iter().for_each(|x| println!("    ? {}: {}", x.text, x.reason));
            }
        }
    }
}
