//! Shares by sampling: seeded, with an interval that holds the true share for at least 95 of 100 seeds.
//!
//! The interval is Wilson's score interval (Journal of the American Statistical Association, 1927) with
//! the quantile of 98 percent, because its coverage dips below the nominal one for some shares.

use crate::boxes::Weighted;
use crate::lattice::{Range, width};
use crate::random::Random;
use crate::{Domain, Input};
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

/// Inputs of a domain, each as likely as it counts; none for a domain without any. `boxes`: what of it counts, all if
/// there are none.
pub fn sample(pool: &TermPool, domain: &Domain, boxes: &[Weighted], seed: u64, n: u64) -> Vec<Assignment> {
    let whole = [Weighted { ranges: domain.inputs.iter().map(|i| i.range).collect(), weight: 1 }];
    let boxes = if boxes.is_empty() { &whole[..] } else { boxes };
    let masses: Option<Vec<i128>> = boxes.iter().map(|b| b.mass(domain)).collect();
    let Some(masses) = masses else { return Vec::new() };
    let Some(all) = masses.iter().try_fold(0i128, |all, m| all.checked_add(*m)) else { return Vec::new() };
    let mut random = Random::new(seed);
    let mut one = || {
        let chosen = match masses.len() {
            1 => 0,
            _ => box_at(&masses, random.within((0, all - 1)))?,
        };
        let mut input = Assignment::new();
        for (i, (v, range)) in domain.inputs.iter().zip(&boxes.get(chosen)?.ranges).enumerate() {
            let mass = v.mass(*range).filter(|mass| *mass > 0)?;
            let value = nth(v, *range, random.within((0, mass - 1)))?;
            input.set(v.term, domain.constant(pool, i, value)?);
        }
        Some(input)
    };
    (0..if all > 0 { n } else { 0 }).map_while(|_| one()).collect()
}

/// The box that has a place, if each takes as many places as it counts.
fn box_at(masses: &[i128], place: i128) -> Option<usize> {
    let mut rest = place;
    for (k, mass) in masses.iter().enumerate() {
        if rest < *mass {
            return Some(k);
        }
        rest -= mass;
    }
    None
}

/// The value of a range of an input that has a place, if each value takes as many places as it counts.
fn nth(input: &Input, range: Range, place: i128) -> Option<i128> {
    let mut rest = place;
    for ((low, high), weight) in input.pieces(range) {
        let places = width((low, high))?.checked_mul(weight)?;
        if rest < places {
            return Some(low + rest / weight);
        }
        rest -= places;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use invdiff_ir::{Leaf, Sort};

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

    #[test]
    fn values_are_drawn_as_often_as_they_count() {
        let mut pool = TermPool::new();
        let mut input = Input::even(pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(8) }), (-3, 9));
        input.weights = vec![((-3, -2), 3), ((0, 5), 0), ((6, 9), 1)];
        let domain = Domain { inputs: vec![input.clone()] };
        let places: Vec<i128> = (0..10).filter_map(|n| nth(&input, input.range, n)).collect();
        assert_eq!(places, [-3, -3, -3, -2, -2, -2, 6, 7, 8, 9]);
        assert_eq!(nth(&input, input.range, 10), None);
        assert_eq!(sample(&pool, &domain, &[], 1, 50).len(), 50);
        input.weights = vec![((0, 5), 0)];
        assert!(sample(&pool, &Domain { inputs: vec![input] }, &[], 1, 50).is_empty());
    }

    #[test]
    fn boxes_are_drawn_as_often_as_they_count() {
        let mut pool = TermPool::new();
        let term = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let domain = Domain { inputs: vec![Input::even(term, (0, 99))] };
        // 3 times 2 values, and once 4.
        let boxes = [(0, 1, 3), (50, 53, 1), (90, 99, 0)];
        let boxes = boxes.map(|(low, high, weight)| Weighted { ranges: vec![(low, high)], weight });
        let drawn = sample(&pool, &domain, &boxes, 7, 1000);
        let value = |a: &Assignment| {
            let run = invdiff_ir::eval::Program::new(&pool, &[term]);
            run.run(&pool, a).constant(term).ok().and_then(|c| c.unsigned()).unwrap()
        };
        let low = drawn.iter().filter(|a| value(a) < 2).count();
        assert!(drawn.iter().all(|a| matches!(value(a), 0 | 1 | 50..=53)));
        assert!(drawn.len() == 1000 && (550..650).contains(&low), "{low}");
    }
}
