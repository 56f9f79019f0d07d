//! Ranges of numbers against evaluation, number by number.

use super::*;
use crate::random::Random;
use crate::{Count, Counter, Decimal, Interval, Values};
use invdiff_ir::eval::{Value, evaluate};
use invdiff_ir::{Leaf, Rounding};

/// A float input whose values are some hundreds.
fn input(pool: &mut TermPool, name: &str, sort: Sort, low: &str, high: &str, step: Option<&str>) -> Input {
    let of = |t: &str| Decimal::parse(t).unwrap();
    let interval = Interval { low: of(low), high: of(high), step: step.map(of) };
    let (range, values) = interval.numbers(sort).unwrap();
    let term = pool.leaf(Leaf::Param { name: name.into(), sort });
    Input { term, range, values, weights: Vec::new() }
}

/// A number that conditions compare with.
fn constant(pool: &mut TermPool, random: &mut Random, sort: Sort) -> TermId {
    let values = [0.0, -0.0, 1.0, -1.0, 0.5, 2.25, -3.0, 7.0, 1e-42, 1e30, 1.5e308, 0.1, f64::INFINITY];
    let value = values[random.below(values.len() as u128) as usize];
    let c = if sort == Sort::F32 { Const::f32(value as f32) } else { Const::f64(value) };
    pool.constant(c)
}

/// A value that is made of an input.
fn value(pool: &mut TermPool, random: &mut Random, x: TermId, depth: u32) -> TermId {
    let sort = pool.sort(x);
    if depth == 0 || random.below(5) == 0 {
        return if random.below(4) == 0 { constant(pool, random, sort) } else { x };
    }
    let a = value(pool, random, x, depth - 1);
    let unary = [Op::FNeg, Op::FAbs, Op::FSqrt, Op::FRound(Rounding::Even), Op::FRound(Rounding::Floor)];
    let binary = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FMin, Op::FMax];
    match random.below(7) {
        5 => pool.op(Op::FMul, &[a, a]),
        6 => pool.op(Op::FAbs, &[a]),
        0 => pool.op(unary[random.below(5) as usize], &[a]),
        1 => {
            let word = pool.op(Op::FToS(32), &[a]);
            pool.op(Op::SToF(sort), &[word])
        }
        _ => {
            let b = value(pool, random, x, depth - 1);
            pool.op(binary[random.below(6) as usize], &[a, b])
        }
    }
}

fn compared(pool: &mut TermPool, random: &mut Random, x: TermId) -> TermId {
    let (a, b) = (value(pool, random, x, 3), value(pool, random, x, 2));
    match random.below(6) {
        0 => pool.op(Op::FEq, &[a, b]),
        1 => pool.op(Op::FLe, &[a, b]),
        2 => pool.op(Op::FIsNan, &[a]),
        3 => {
            let (a, b) = (pool.op(Op::FToS(32), &[a]), pool.bv(32, random.within((-5, 5))));
            pool.op([Op::Slt, Op::Sle, Op::Eq, Op::Ult][random.below(4) as usize], &[a, b])
        }
        4 => pool.op(Op::FSignbit, &[a]),
        _ => pool.op(Op::FLt, &[a, b]),
    }
}

/// Whether a formula over the numbers of one input holds.
fn holds(f: &Formula, number: i128, evaluated: &dyn Fn(TermId) -> Option<bool>) -> bool {
    match f {
        Formula::True => true,
        Formula::False => false,
        Formula::AtMost(l) => l.terms.iter().map(|(_, c)| c * number).sum::<i128>() + l.constant <= 0,
        Formula::And(parts) => parts.iter().all(|p| holds(p, number, evaluated)),
        Formula::Or(parts) => parts.iter().any(|p| holds(p, number, evaluated)),
        Formula::Term(t, value) => evaluated(*t) == Some(*value),
    }
}

#[test]
fn ranges_are_where_conditions_hold() {
    let mut random = Random::new(3);
    let (mut exact, mut turning) = (0, 0);
    for _ in 0..6_000 {
        let mut pool = TermPool::new();
        let sort = if random.below(2) == 0 { Sort::F32 } else { Sort::F64 };
        let input = match random.below(4) {
            // Around both zeros, and near the largest.
            0 => {
                let mut near = input(&mut pool, "x", sort, "-1", "1", None);
                near.range = (-40, 40);
                near
            }
            1 => {
                let mut all = input(&mut pool, "x", sort, "-inf", "inf", None);
                all.range = (all.range.1 - 60, all.range.1);
                all
            }
            2 => input(&mut pool, "x", sort, "-10", "9", Some("0.25")),
            _ => input(&mut pool, "x", sort, "-0.3", "2.7", Some("0.1")),
        };
        let (x, range) = (input.term, input.range);
        let domain = Domain { inputs: vec![input] };
        let t = compared(&mut pool, &mut random, x);
        if pool.as_const(t).is_some() {
            continue;
        }
        let Some(found) = condition(&pool, &domain, t) else { continue };
        exact += usize::from(!found.has_terms());
        let mut before = None;
        let mut changes = 0;
        for number in range.0..=range.1 {
            let mut at = Assignment::new();
            at.set(x, domain.constant(&pool, 0, number).unwrap());
            let evaluated = |t: TermId| match evaluate(&pool, &[t], &at)[0] {
                Ok(Value::Const(c)) => c.as_bool(),
                _ => None,
            };
            let truth = evaluated(t);
            let own = holds(&found, number, &evaluated);
            // Where it is undefined, that is left to be evaluated.
            assert_eq!(truth.unwrap_or(false), own, "{:?} at {number}: {found:?}", pool.get(t));
            assert!(truth.is_some() || found.has_terms());
            changes += usize::from(before.is_some_and(|b| b != own));
            before = Some(own);
        }
        turning += usize::from(changes > 1 && !found.has_terms());
    }
    assert!(exact > 1_000 && turning > 40, "{exact} {turning}");
}

#[test]
fn all_floats_of_a_range_are_counted() {
    let mut pool = TermPool::new();
    let x = input(&mut pool, "x", Sort::F64, "-10", "9", None);
    let term = x.term;
    let mut counter = Counter::new(Domain { inputs: vec![x] });
    let mut number = |x: f64| pool.constant(Const::f64(x));
    let (one, half, zero) = (number(1.0), number(0.5), number(0.0));
    let conditions =
        [pool.op(Op::FLt, &[one, term]), pool.op(Op::FLe, &[term, zero]), pool.op(Op::FEq, &[term, zero]), {
            let square = pool.op(Op::FMul, &[term, term]);
            pool.op(Op::FLt, &[square, half])
        }];
    // 1.125 is 2^49 of the 2^52 steps to 2: 9 is the same part of the way from 8 to 16, behind three more powers.
    let over_one = (3 << 52) + (1 << 49);
    let to_minus_ten = ((1023 + 3) << 52) + (1 << 50);
    // Squares of what is below the root of a half.
    let root = 0.5f64.sqrt();
    let below = (root.to_bits() - u64::from(root * root >= 0.5)) as i128;
    let counts = [over_one, to_minus_ten + 2, 2, 2 * (below + 1)];
    for (c, count) in conditions.iter().zip(counts) {
        assert_eq!(counter.count(&pool, &[*c], &mut 1000), Count::Exact(count), "{:?}", pool.get(*c));
    }
}

#[test]
fn two_inputs_are_compared_by_their_numbers() {
    let mut pool = TermPool::new();
    let mut inputs = ["x", "y"].map(|name| input(&mut pool, name, Sort::F32, "-1", "1", None));
    inputs.iter_mut().for_each(|i| i.range = (-9, 7));
    let [x, y] = [inputs[0].term, inputs[1].term];
    let domain = Domain { inputs: inputs.to_vec() };
    for op in [Op::FLt, Op::FLe, Op::FEq] {
        let t = pool.op(op, &[x, y]);
        let at = |i: i128, j: i128| {
            let (a, b) = (domain.constant(&pool, 0, i).unwrap(), domain.constant(&pool, 1, j).unwrap());
            op.eval(&[a, b]) == Ok(Const::TRUE)
        };
        let truth = (-9..=7).flat_map(|i| (-9..=7).map(move |j| (i, j))).filter(|(i, j)| at(*i, *j)).count();
        let found = condition(&pool, &domain, t).unwrap();
        assert!(!found.has_terms());
        let counted = crate::count(&pool, &domain, &[t], &mut 100_000);
        assert_eq!(counted, Count::Exact(truth as i128), "{op:?}");
    }
    let mut other = domain.clone();
    other.inputs[1].values = Values::Steps { first: Decimal::whole(0), step: Decimal::whole(1) };
    let t = pool.op(Op::FLt, &[x, y]);
    assert_eq!(condition(&pool, &other, t), None);
}
