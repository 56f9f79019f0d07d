//! Counts against enumeration.

use super::*;
use crate::Input;
use crate::random::Random;
use invdiff_ir::eval::{Assignment, Program};
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

/// A value of an operator with a constant, words of 12 bits.
fn quotient(pool: &mut TermPool, d: &Domain, random: &mut Random, depth: u32) -> TermId {
    let x = d.inputs[random.below(d.inputs.len() as u128) as usize].term;
    if depth == 0 {
        return x;
    }
    let a = quotient(pool, d, random, depth - 1);
    let number = pool.bv(12, random.within((-40, 700)));
    let small = pool.bv(12, random.within((0, 11)));
    let divisor = pool.bv(12, [-7, -3, 2, 3, 10, 16, 100][random.below(7) as usize]);
    match random.below(14) {
        0 => pool.op(Op::SDiv, &[a, divisor]),
        1 => pool.op(Op::SRem, &[a, divisor]),
        2 => pool.op(Op::UDiv, &[a, divisor]),
        3 => pool.op(Op::URem, &[a, divisor]),
        4 => pool.op(Op::LShr, &[a, small]),
        5 => pool.op(Op::AShr, &[a, small]),
        6 => pool.op(Op::Shl, &[a, small]),
        7 => pool.op(Op::BitAnd, &[a, number]),
        8 => pool.op(Op::BitOr, &[number, a]),
        9 => pool.op(Op::BitXor, &[a, number]),
        10 => pool.op(Op::BitNot, &[a]),
        11 => pool.op(Op::Add, &[a, x]),
        12 => pool.op(Op::Sub, &[x, a]),
        _ => pool.op(Op::Mul, &[a, number]),
    }
}

#[test]
fn quotients_count_what_enumeration_finds() {
    let mut random = Random::new(13);
    let (mut some, mut linear) = (0, 0);
    for round in 0..120 {
        let mut pool = TermPool::new();
        let side = |random: &mut Random| match random.below(3) {
            0 => (-2048 + random.within((0, 1900)), random.within((-100, 2047))),
            1 => (0, random.within((0, 4095))),
            _ => (random.within((-90, 0)), random.within((0, 60))),
        };
        let mut ranges = vec![side(&mut random)];
        if round % 3 == 0 {
            ranges.push((random.within((-20, 0)), random.within((0, 20))));
        }
        let d = domain(&mut pool, Sort::Bv(12), &ranges);
        let mut conditions = Vec::new();
        for _ in 0..1 + random.below(2) {
            let depth = 1 + random.below(2) as u32;
            let (a, other) =
                (quotient(&mut pool, &d, &mut random, depth), quotient(&mut pool, &d, &mut random, 1));
            let number = pool.bv(12, random.within((-60, 60)));
            let b = [number, other][random.below(2) as usize];
            let op = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq][random.below(5) as usize];
            conditions.push(pool.op(op, &[a, b]));
        }
        let truth = enumerated(&pool, &d, &conditions);
        let mut counter = Counter::new(d.clone());
        let mut builder = Builder::new(&pool, &d, &mut counter.more);
        let is_linear = !conditions.iter().any(|c| builder.condition(*c).has_terms());
        linear += i32::from(is_linear);
        let found = counter.with_quotients(&pool, &conditions, !is_linear, &mut 300_000);
        assert!(found == Count::Exact(truth) || found == Count::TooLarge, "{round}: {found:?}, {truth}");
        some += i32::from(found == Count::Exact(truth) && truth > 0);
    }
    assert!(some > 40 && linear > 80, "{some}, {linear}");
}

/// A value of an operator that is read bit by bit, words of 7 bits.
fn bitwise(pool: &mut TermPool, d: &Domain, random: &mut Random, depth: u32) -> TermId {
    if depth == 0 {
        return match random.below(5) {
            0 => pool.bv(7, random.within((-64, 63))),
            _ => d.inputs[random.below(d.inputs.len() as u128) as usize].term,
        };
    }
    let (a, b) = (bitwise(pool, d, random, depth - 1), bitwise(pool, d, random, depth - 1));
    let small = pool.bv(7, random.within((0, 6)));
    match random.below(13) {
        0 => pool.op(Op::Add, &[a, b]),
        1 => pool.op(Op::Sub, &[a, b]),
        2 => pool.op(Op::Neg, &[a]),
        3 => pool.op(Op::BitNot, &[a]),
        4 | 5 => pool.op(Op::BitAnd, &[a, b]),
        6 => pool.op(Op::BitOr, &[a, b]),
        7 | 8 => pool.op(Op::BitXor, &[a, b]),
        9 => pool.op([Op::LShr, Op::AShr][random.below(2) as usize], &[a, small]),
        10 => pool.op(Op::Shl, &[a, small]),
        11 => {
            let number = pool.bv(7, random.within((-20, 20)));
            pool.op(Op::Mul, &[a, number])
        }
        _ => {
            let wide = [Op::Zext(10), Op::Sext(10)][random.below(2) as usize];
            let (a, b) = (pool.op(wide, &[a]), pool.op(wide, &[b]));
            let sum = pool.op(Op::Add, &[a, b]);
            let two = pool.bv(10, 2);
            let moved = pool.op(Op::LShr, &[sum, two]);
            pool.op(Op::Trunc(7), &[moved])
        }
    }
}

#[test]
fn bits_count_what_enumeration_finds() {
    let mut random = Random::new(17);
    let (mut some, mut all) = (0, 0);
    for round in 0..300 {
        let mut pool = TermPool::new();
        let side = |random: &mut Random| match random.below(3) {
            0 => (random.within((-64, 0)), random.within((0, 63))),
            1 => (0, random.within((0, 127))),
            _ => (random.within((0, 20)), random.within((20, 127))),
        };
        let ranges: Vec<Range> = (0..1 + round % 2).map(|_| side(&mut random)).collect();
        let d = domain(&mut pool, Sort::Bv(7), &ranges);
        let mut literals = Vec::new();
        for _ in 0..1 + random.below(3) {
            let (a, b) = (bitwise(&mut pool, &d, &mut random, 2), bitwise(&mut pool, &d, &mut random, 1));
            let op = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq][random.below(5) as usize];
            literals.push(pool.op(op, &[a, b]));
        }
        let (first, last) = (literals[0], literals[literals.len() - 1]);
        let either = pool.or(first, last);
        literals.push([first, last, either][random.below(3) as usize]);
        let conditions = &literals[1..];
        let truth = enumerated(&pool, &d, conditions);
        let found = bits::count(&pool, &d, conditions, &mut 1_000_000);
        assert!(found.is_none_or(|n| n == truth), "{round}: {found:?}, {truth}");
        some += i32::from(found.is_some() && truth > 0);
        all += i32::from(found.is_some());
    }
    assert!(some > 100 && all > 250, "{some}, {all}");
}

#[test]
fn two_whole_words_are_counted_bit_by_bit() {
    let mut pool = TermPool::new();
    let word = (0, (1 << 32) - 1);
    let d = domain(&mut pool, Sort::Bv(32), &[word, word]);
    let (x, y) = (d.inputs[0].term, d.inputs[1].term);
    let [zero, sixteen] = [0, 16].map(|n| pool.bv(32, n));
    let both = pool.op(Op::BitAnd, &[x, y]);
    let apart = pool.op(Op::Eq, &[both, zero]);
    assert_eq!(count(&pool, &d, &[apart], &mut 1_000_000), Count::Exact(3i128.pow(32)));
    let either = pool.op(Op::BitXor, &[x, y]);
    let near = pool.op(Op::Ult, &[either, sixteen]);
    assert_eq!(count(&pool, &d, &[near], &mut 1_000_000), Count::Exact(1 << 36));
}

#[test]
fn masks_and_remainders_of_whole_words_are_counted() {
    let mut pool = TermPool::new();
    let word = (0, (1 << 32) - 1);
    let d = domain(&mut pool, Sort::Bv(32), &[word, word]);
    let (x, y) = (d.inputs[0].term, d.inputs[1].term);
    let all = 1i128 << 32;
    let check = |op: Op, value: TermId, other: TermId, pool: &mut TermPool, expected: i128| {
        let condition = pool.op(op, &[value, other]);
        let found = count(pool, &d, &[condition], &mut 1_000_000);
        assert_eq!(found, Count::Exact(expected), "{op:?}");
    };
    let number = |pool: &mut TermPool, n: i128| pool.bv(32, n);
    let [three, four, seven, ten] = [3, 4, 7, 10].map(|n| number(&mut pool, n));
    let low = pool.op(Op::BitAnd, &[x, seven]);
    check(Op::Eq, low, three, &mut pool, (1 << 29) * all);
    let (mask, bits) = (number(&mut pool, 0xff00), number(&mut pool, 0x1200));
    let middle = pool.op(Op::BitAnd, &[x, mask]);
    check(Op::Eq, middle, bits, &mut pool, (1 << 24) * all);
    let last = pool.op(Op::URem, &[x, ten]);
    check(Op::Eq, last, three, &mut pool, 429_496_730 * all);
    let shifted = pool.op(Op::LShr, &[x, four]);
    check(Op::Eq, shifted, y, &mut pool, all);
    // Times three, each word is some other one's.
    let tripled = pool.op(Op::Mul, &[x, three]);
    check(Op::Ult, y, tripled, &mut pool, all / 2 * (all - 1));
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

/// Each point of a square must be evaluated: with less work than it has points none is, with as much all are.
#[test]
fn what_cannot_be_paid_for_is_not_begun() {
    let mut pool = TermPool::new();
    let d = domain(&mut pool, Sort::Bv(64), &[(1, 2_000), (1, 2_001)]);
    let [x, y] = [0, 1].map(|i| d.inputs[i].term);
    let (product, limit) = (pool.op(Op::Mul, &[x, y]), pool.bv(64, 1_000_000));
    let below = pool.op(Op::Slt, &[product, limit]);
    let mut left = 1_000_000;
    assert_eq!(count(&pool, &d, &[below], &mut left), Count::TooLarge);
    assert!(left > 100_000, "{left}");
    assert_eq!(count(&pool, &d, &[below], &mut 40_000_000), Count::Exact(enumerated(&pool, &d, &[below])));
}
