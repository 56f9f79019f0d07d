//! Counts of random polytopes against enumeration, and against barvinok where a python with it is named.
//!
//! `INVDIFF_BARVINOK=/venv/bin/python INVDIFF_POLYTOPES=500 cargo test --release -p invdiff-count --test polytopes`
//! takes so many polytopes of 1 to 3 and of 4 to 6 dimensions.

mod support;

use invdiff_count::{Count, count, sample, wilson};
use invdiff_ir::TermPool;
use invdiff_ir::eval::Program;
use invdiff_testing::{Random, tier};
use support::Polytope;

/// Steps of one count.
const WORK: u64 = 20_000_000;

fn counted(p: &Polytope) -> Count {
    let mut pool = TermPool::new();
    let (domain, conditions) = p.terms(&mut pool);
    count(&pool, &domain, &conditions, &mut { WORK })
}

fn enumerated(p: &Polytope) -> i128 {
    let mut point: Vec<i128> = p.ranges.iter().map(|(low, _)| *low).collect();
    let mut found = 0;
    loop {
        let sum = |a: &[i128]| a.iter().zip(&point).map(|(a, x)| a * x).sum::<i128>();
        found += i128::from(p.rows.iter().all(|(a, b)| sum(a) <= *b));
        let Some(i) = (0..point.len()).find(|&i| point[i] < p.ranges[i].1) else { return found };
        point[i] += 1;
        for (x, (low, _)) in point.iter_mut().zip(&p.ranges).take(i) {
            *x = *low;
        }
    }
}

#[test]
fn small_polytopes_have_the_points_of_enumeration() {
    let mut random = Random(1);
    let mut some = [0; 7];
    for round in 0..300 {
        let dimensions = 1 + round % 6;
        let p = Polytope::random(&mut random, dimensions, 1);
        let truth = enumerated(&p);
        assert_eq!(counted(&p), Count::Exact(truth), "{round}: {:?} {:?}", p.ranges, p.rows);
        some[dimensions] += i32::from(truth > 1);
    }
    assert!(some[1..].iter().all(|n| *n > 10), "{some:?}");
}

#[test]
fn polytopes_have_the_points_of_barvinok() {
    let rounds = tier::rounds("INVDIFF_POLYTOPES", 60, 500);
    let (mut exact, mut points) = (0, 0);
    for (seed, dimensions, digits) in [(2, [1, 2, 3], 6), (3, [4, 5, 6], 2)] {
        let mut random = Random(seed);
        let all: Vec<Polytope> =
            (0..rounds).map(|k| Polytope::random(&mut random, dimensions[k % 3], digits)).collect();
        let Some(theirs) = support::barvinok(&all) else {
            return tier::skipped("barvinok", "INVDIFF_BARVINOK names no python that has islpy-barvinok");
        };
        for (p, (truth, _)) in all.iter().zip(theirs) {
            let what = format!("{:?} {:?}", p.ranges, p.rows);
            match counted(p) {
                Count::TooLarge if p.ranges.len() > 3 => {}
                found => {
                    assert_eq!(found, Count::Exact(truth), "{what}");
                    exact += 1;
                    points += usize::from(truth > 1);
                }
            }
        }
    }
    println!("{exact} of {} exact, {points} with points", 2 * rounds);
    assert!(points > rounds, "{points}");
}

#[test]
fn estimates_of_polytopes_hold_their_counts_for_most_seeds() {
    let (mut random, mut held, mut all) = (Random(4), 0, 0);
    for round in 0..12 {
        let p = Polytope::random(&mut random, 4 + round % 3, 2);
        let Count::Exact(truth) = counted(&p) else { continue };
        let mut pool = TermPool::new();
        let (domain, conditions) = p.terms(&mut pool);
        let program = Program::new(&pool, &conditions);
        let share = truth as f64 / domain.size().expect("it is small") as f64;
        for seed in 0..100 {
            let inputs = sample(&pool, &domain, &[], seed, 300);
            let meets = |input| {
                let run = program.run(&pool, input);
                conditions.iter().all(|c| run.holds(*c) == Some(true))
            };
            let estimate = wilson(inputs.iter().filter(|input| meets(input)).count() as u64, 300);
            held += i32::from(estimate.low <= share && share <= estimate.high);
            all += 1;
        }
    }
    println!("{held} of {all} intervals hold the count");
    assert!(all >= 1000 && held * 100 >= all * 95, "{held} of {all}");
}
