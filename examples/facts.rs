//! Prints what is known of every function of one C file: `cargo run --example facts -- FILE [FUNCTION]`.

use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::PointKind;

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(file), function) = (args.next(), args.next()) else {
        println!("usage: facts FILE [FUNCTION]");
        return;
    };
    let source = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(why) => return println!("{file}: {why}"),
    };

    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    let mut options = Options { all: true, whole: true, points, function, ..Options::default() };
    if let Some(limit) = std::env::var("RLIMIT").ok().and_then(|l| l.parse().ok()) {
        options.limits.rlimit = limit;
    }
    let start = std::time::Instant::now();
    let report = diff(&memory::request(&[vec![("a.c", source.as_str())]], c::Options::default(), options));
    for f in &report.functions {
        println!("{}()", f.name);
        for p in &f.points {
            for fact in &p.version_invariants {
                let status: Vec<_> = fact.status.values().collect();
                println!("  {}: {}    {status:?} {:?}", p.id, fact.text, fact.assumptions);
            }
            for u in &p.undecided {
                println!("  {}: ? {} ({})", p.id, u.text, u.reason);
            }
        }
    }
    for a in &report.assertions {
        println!("assert {}: {:?}", a.text, a.outcome);
    }
    println!("{} queries, {} ms", report.cost.solver_queries, start.elapsed().as_millis());
}
