//! Shares by sampling: seeded, with an interval that holds the true share for at least 95 of 100 seeds.
//!
//! The interval is Wilson's score interval (Journal of the American Statistical Association, 1927) with
//! the quantile of 98 percent, because its coverage dips below the nominal one for some shares.

use crate::Domain;
use crate::random::Random;
use invdiff_ir::TermPool;
use invdiff_ir::eval::Assignment;

/// The two-sided normal quantile of 98 percent.
const QUANTILE: f64 = 2.326;

/// A share between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// The interval for `hits` of `n`.
pub fn wilson(hits: u64, n: u64) -> Estimate {
    if n == 0 {
        return Estimate { share: 0.0, low: 0.0, high: 1.0 };
    }
    let (n, share) = (n as f64, hits as f64 / n as f64);
    let square = QUANTILE * QUANTILE;
    let centre = (share + square / (2.0 * n)) / (1.0 + square / n);
    let half = QUANTILE / (1.0 + square / n) * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    Estimate { share, low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// Inputs of a domain, each as likely as any other; none for an empty domain.
pub fn sample(pool: &TermPool, domain: &Domain, seed: u64, n: u64) -> Vec<Assignment> {
    let mut random = Random::new(seed);
    if domain.inputs.iter().any(|i| i.range.0 > i.range.1) {
        return Vec::new();
    }
    let mut one = || {
        let mut input = Assignment::new();
        for (i, v) in domain.inputs.iter().enumerate() {
            let value = random.within(v.range);
            if let Some(c) = domain.constant(pool, i, value) {
                input.set(v.term, c);
            }
        }
        input
    };
    (0..n).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_truth_for_most_seeds() {
        for share in [2u128, 100, 500, 990] {
            let holds = |seed: u64| {
                let mut random = Random::new(seed);
                let hits = (0..400).filter(|_| random.below(1000) < share).count() as u64;
                let e = wilson(hits, 400);
                e.low <= share as f64 / 1000.0 && share as f64 / 1000.0 <= e.high
            };
            let good = (0..1000).filter(|seed| holds(*seed)).count();
            assert!(good >= 950, "{share}: {good}");
        }
    }
}
