//! Counts of random polytopes beside barvinok's: how long each takes, and what is too large.
//!
//! Usage: `INVDIFF_BARVINOK=/venv/bin/python cargo bench -p invdiff-count --bench barvinok [-- POLYTOPES]`, with
//! a python that has PyPI's `islpy-barvinok`.

#[path = "../tests/support/mod.rs"]
mod support;

use invdiff_count::{Count, count};
use invdiff_ir::TermPool;
use invdiff_testing::Random;
use std::time::Instant;
use support::Polytope;

/// Steps of one count: the default of `quantify`.
const WORK: u64 = 20_000_000;

fn main() {
    let rounds = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(100);
    println!(
        "sides up to 10^n: ours, barvinok's time in ms: sum, median, most; ratio of sums, most ratio; too large"
    );
    for dimensions in 1..=6 {
        for digits in [1, 3, 6u32] {
            let mut random = Random(dimensions as u64 * 10 + u64::from(digits));
            let all: Vec<Polytope> =
                (0..rounds).map(|_| Polytope::random(&mut random, dimensions, digits)).collect();
            let Some(theirs) = support::barvinok(&all) else {
                println!("skipped: INVDIFF_BARVINOK names no python");
                return;
            };
            let (mut own, mut too_large, mut wrong) = (Vec::new(), 0, 0);
            for (p, (truth, _)) in all.iter().zip(&theirs) {
                let mut pool = TermPool::new();
                let (domain, conditions) = p.terms(&mut pool);
                let start = Instant::now();
                let found = count(&pool, &domain, &conditions, &mut { WORK });
                own.push(start.elapsed().as_secs_f64());
                too_large += usize::from(found == Count::TooLarge);
                wrong += usize::from(matches!(found, Count::Exact(n) if n != *truth));
            }
            let their: Vec<f64> = theirs.iter().map(|(_, time)| *time).collect();
            let ratios: Vec<f64> = own.iter().zip(&their).map(|(a, b)| a / b).collect();
            let sum = own.iter().sum::<f64>() / their.iter().sum::<f64>();
            let most = ratios.iter().copied().fold(0.0, f64::max);
            print!("{dimensions} dimensions, 10^{digits}: {}, {}", times(own), times(their));
            println!("; {sum:.3}, {most:.2}; {too_large} too large, {wrong} wrong");
        }
    }
}

fn times(mut all: Vec<f64>) -> String {
    all.sort_by(f64::total_cmp);
    let ms = |seconds: f64| seconds * 1000.0;
    let median = all.get(all.len() / 2).copied().unwrap_or(0.0);
    let most = all.last().copied().unwrap_or(0.0);
    format!("{:.1} ({:.3}, {:.1})", ms(all.iter().sum()), ms(median), ms(most))
}
