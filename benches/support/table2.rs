//! Table II of the Invariant Diffs paper, ours beside the paper's, as Markdown.

use super::subjects::measured;
use super::table2::{self, Side};
use std::path::Path;

/// Prints a row for each pair and the totals; with `facts`, what a reader is shown.
pub fn print(shared: &Path, facts: bool) {
    let Some(pairs) = table2::pairs(&shared.join("subjects/itsp")) else {
        println!("skipped: subjects/itsp is not there, or not as its README.md says");
        return;
    };
    println!(
        "| pair | churns, paper's | invariants, paper's | churns per line, paper's | ms, paper's | said before, after (paper: fix shown) |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let (mut total, mut time) = ([0; 4], 0.0);
    let mut sides = Vec::new();
    for pair in &pairs {
        let (all, took) = measured(|| table2::analyse(pair, true));
        let shown = table2::analyse(pair, false);
        let (churns, invariants) = (table2::churns(&all).len(), table2::invariants(&all));
        let (before, after) = table2::sides(&shown);
        let ms = took.as_secs_f64() * 1000.0;
        println!(
            "| {} | {churns}, {} | {invariants}, {} | {:.2}, {} | {ms:.0}, {} | {}, {} ({}) |",
            pair.name,
            pair.churns,
            pair.invariants,
            table2::churns_per_line(&all),
            pair.churns_per_line,
            pair.ms,
            before.name(),
            after.name(),
            if pair.tells { "yes" } else { "no" },
        );
        for (sum, n) in total.iter_mut().zip([churns, pair.churns, invariants, pair.invariants]) {
            *sum += n;
        }
        time += ms;
        sides.push((table2::is_defined(&shown), before, after));
        if facts {
            for c in table2::churns(&shown) {
                c.removed.iter().for_each(|f| println!("    - {}", f.text));
                c.added.iter().for_each(|f| println!("    + {}", f.text));
            }
        }
    }
    let count = |is_so: &dyn Fn(&(bool, Side, Side)) -> bool| sides.iter().filter(|s| is_so(s)).count();
    let [ours, theirs, facts, their_facts] = total;
    println!(
        "\n{ours} churns, the paper's {theirs}; {facts} invariants, the paper's {their_facts}; {time:.0} ms."
    );
    println!(
        "Formulas before and after: {} of {} pairs whose runs differ without an undefined event.",
        count(&|s| s.0 && s.1 == Side::Formula && s.2 == Side::Formula),
        count(&|s| s.0),
    );
    println!(
        "The undefined event before and a formula after: {} of {} others.",
        count(&|s| !s.0 && s.1 == Side::Undefined && s.2 == Side::Formula),
        count(&|s| !s.0),
    );
}
