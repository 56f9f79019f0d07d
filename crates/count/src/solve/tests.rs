//! Counts against enumeration.

use super::*;
use crate::Input;
use crate::random::Random;
use invdiff_ir::{Leaf, Op, Sort};

fn domain(pool: &mut TermPool, sort: Sort, ranges: &[Range]) -> Domain {
    let input = |(k, range): (usize, &Range)| {
        let term = pool.leaf(Leaf::Param { name: format!("x{k}").into(), sort });
        Input::even(term, *range)
    };
    Domain { inputs: ranges.iter().enumerate().map(input).collect() }
}

fn enumerated(pool: &TermPool, domain: &Domain, conditions: &[TermId]) -> i128 {
    let program = Program::new(pool, conditions);
    let size = domain.size().unwrap();
    let meets = |n: &i128| {
        let (mut rest, mut input) = (*n, Assignment::new());
        for (i, v) in domain.inputs.iter().enumerate() {
            let w = width(v.range).unwrap();
            input.set(v.term, domain.constant(pool, i, v.range.0 + rest % w).unwrap());
            rest /= w;
        }
        let run = program.run(pool, &input);
        conditions.iter().all(|c| run.holds(*c) == Some(true))
    };
    (0..size).filter(meets).count() as i128
}

#[track_caller]
fn check(pool: &TermPool, domain: &Domain, conditions: &[TermId]) -> i128 {
    let mut work = 10_000_000;
    let truth = enumerated(pool, domain, conditions);
    assert_eq!(count(pool, domain, conditions, &mut work), Count::Exact(truth));
    truth
}

#[test]
fn polytopes_of_up_to_three_dimensions_have_the_points_of_enumeration() {
    let mut random = Random::new(7);
    let mut some = 0;
    for round in 0..500 {
        let mut pool = TermPool::new();
        let ranges: Vec<Range> = (0..1 + round % 3)
            .map(|_| {
                let low = random.within((-12, 5));
                (low, low + random.within((0, 14)))
            })
            .collect();
        let d = domain(&mut pool, Sort::Bv(32), &ranges);
        let mut conditions = Vec::new();
        for _ in 0..1 + random.below(5) {
            let mut sum = pool.bv(32, random.within((-40, 40)));
            for v in &d.inputs {
                let factor = pool.bv(32, random.within((-6, 6)));
                let part = pool.op(Op::Mul, &[factor, v.term]);
                sum = pool.op(Op::Add, &[sum, part]);
            }
            let zero = pool.bv(32, 0);
            let op = [Op::Sle, Op::Slt, Op::Sle, Op::Eq][random.below(4) as usize];
            conditions.push(pool.op(op, &[sum, zero]));
        }
        some += i32::from(check(&pool, &d, &conditions) > 0);
    }
    assert!(some > 100, "{some}");
}

/// A random value of a few operators, words of 8 bits: most of it wraps.
fn value(pool: &mut TermPool, d: &Domain, random: &mut Random, depth: u32) -> TermId {
    if depth == 0 || random.below(4) == 0 {
        return match random.below(3) {
            0 => pool.bv(8, random.within((-128, 127))),
            _ => d.inputs[random.below(d.inputs.len() as u128) as usize].term,
        };
    }
    let a = value(pool, d, random, depth - 1);
    let b = value(pool, d, random, depth - 1);
    match random.below(10) {
        0 | 1 => pool.op(Op::Add, &[a, b]),
        2 | 3 => pool.op(Op::Sub, &[a, b]),
        4 => pool.op(Op::Mul, &[a, b]),
        5 => pool.op(Op::BitAnd, &[a, b]),
        6 => pool.op(Op::Neg, &[a]),
        7 => {
            let two = pool.bv(8, 2);
            pool.op(Op::Shl, &[a, two])
        }
        8 => {
            let wide = [Op::Zext(16), Op::Sext(16)][random.below(2) as usize];
            let (a, b) = (pool.op(wide, &[a]), pool.op(wide, &[b]));
            let sum = pool.op(Op::Add, &[a, b]);
            pool.op(Op::Trunc(8), &[sum])
        }
        _ => {
            let c = condition(pool, d, random, depth - 1);
            pool.ite(c, a, b)
        }
    }
}

fn condition(pool: &mut TermPool, d: &Domain, random: &mut Random, depth: u32) -> TermId {
    if depth > 0 && random.below(3) == 0 {
        let a = condition(pool, d, random, depth - 1);
        let b = condition(pool, d, random, depth - 1);
        return match random.below(4) {
            0 => pool.and(a, b),
            1 => pool.or(a, b),
            2 => pool.not(a),
            _ => pool.eq(a, b),
        };
    }
    let (a, b) = (value(pool, d, random, depth), value(pool, d, random, depth));
    let op = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq][random.below(5) as usize];
    pool.op(op, &[a, b])
}

#[test]
fn words_that_wrap_are_counted_as_they_are() {
    let mut random = Random::new(11);
    for round in 0..100 {
        let mut pool = TermPool::new();
        let ranges: Vec<Range> = (0..1 + round % 2)
            .map(|_| match random.below(2) {
                0 => (-128 + random.within((0, 100)), random.within((0, 127))),
                _ => (random.within((0, 100)), 100 + random.within((0, 155))),
            })
            .collect();
        let d = domain(&mut pool, Sort::Bv(8), &ranges);
        let conditions: Vec<TermId> =
            (0..1 + random.below(3)).map(|_| condition(&mut pool, &d, &mut random, 3)).collect();
        check(&pool, &d, &conditions);
    }
}

#[test]
fn independent_inputs_factor() {
    let mut pool = TermPool::new();
    let d = domain(&mut pool, Sort::Bv(32), &[(1, 100); 10]);
    let conditions: Vec<TermId> = d
        .inputs
        .iter()
        .map(|v| {
            let limit = pool.bv(32, 31);
            pool.op(Op::Slt, &[v.term, limit])
        })
        .collect();
    // Each condition is looked at twice: nothing is enumerated.
    let mut work = 30;
    assert_eq!(count(&pool, &d, &conditions, &mut work), Count::Exact(30i128.pow(10)));
}

#[test]
fn a_product_is_cut_into_slices_within_the_work() {
    let mut pool = TermPool::new();
    let d = domain(&mut pool, Sort::Bv(64), &[(0, 1_000_000), (0, 1_000_000)]);
    let product = pool.op(Op::Mul, &[d.inputs[0].term, d.inputs[1].term]);
    let limit = pool.bv(64, 1000);
    let below = pool.op(Op::Slt, &[product, limit]);
    assert_eq!(count(&pool, &d, &[below], &mut 1000), Count::TooLarge);
}

#[test]
fn what_is_no_input_is_unknown() {
    let mut pool = TermPool::new();
    let d = domain(&mut pool, Sort::Bv(32), &[(0, 9)]);
    let other = pool.leaf(Leaf::Havoc { key: "call".into(), sort: Sort::Bv(32) });
    let less = pool.op(Op::Slt, &[d.inputs[0].term, other]);
    assert_eq!(count(&pool, &d, &[less], &mut 1000), Count::Unknown);
    let divided = pool.op(Op::SDiv, &[d.inputs[0].term, d.inputs[0].term]);
    let one = pool.bv(32, 1);
    let is_one = pool.eq(divided, one);
    assert_eq!(count(&pool, &d, &[is_one], &mut 1000), Count::Unknown);
}

#[test]
fn weights_count_values_more_than_once() {
    let mut pool = TermPool::new();
    let mut random = Random::new(3);
    for round in 0..200 {
        let mut d = domain(&mut pool, Sort::Bv(32), &[(-6, 9), (0, 7), (-3, 3)]);
        d.inputs[0].weights = vec![((-6, -1), random.within((0, 3))), ((2, 9), 2)];
        d.inputs[1].weights = vec![((0, 3), 1), ((4, 7), random.within((0, 5)))];
        let mut sum = pool.bv(32, random.within((-9, 9)));
        for v in d.inputs.clone().iter().take(2 + round % 2) {
            let factor = pool.bv(32, random.within((-3, 3)));
            let part = if round % 5 == 0 {
                pool.op(Op::Mul, &[v.term, v.term])
            } else {
                pool.op(Op::Mul, &[factor, v.term])
            };
            sum = pool.op(Op::Add, &[sum, part]);
        }
        let zero = pool.bv(32, 0);
        let conditions = [pool.op(Op::Sle, &[sum, zero])];
        let program = Program::new(&pool, &conditions);
        let mut truth = 0;
        for x in -6..=9i128 {
            for y in 0..=7i128 {
                for z in -3..=3i128 {
                    let mut input = Assignment::new();
                    let mut weight = 1;
                    for (i, n) in [x, y, z].into_iter().enumerate() {
                        input.set(d.inputs[i].term, d.constant(&pool, i, n).unwrap());
                        weight *= d.inputs[i].mass((n, n)).unwrap();
                    }
                    let holds = program.run(&pool, &input).holds(conditions[0]) == Some(true);
                    truth += if holds { weight } else { 0 };
                }
            }
        }
        let mut work = 1_000_000;
        assert_eq!(count(&pool, &d, &conditions, &mut work), Count::Exact(truth), "{round}");
    }
}
