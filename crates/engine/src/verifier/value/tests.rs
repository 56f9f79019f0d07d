//! Operators on sets of values against what they do to the members.

use super::*;
use crate::testing::Random;

const OPERATORS: [Op; 19] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::Eq,
    Op::Concat,
];
const UNARY: [Op; 7] =
    [Op::Neg, Op::BitNot, Op::Zext(16), Op::Sext(16), Op::Trunc(5), Op::SToF(Sort::F32), Op::UToF(Sort::F64)];
const FLOATS: [Op; 8] = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FLt, Op::FLe, Op::FEq, Op::Eq];
const UNARY_FLOATS: [Op; 8] =
    [Op::FNeg, Op::FAbs, Op::FSqrt, Op::FIsNan, Op::FSignbit, Op::FToF(Sort::F64), Op::FToS(8), Op::FToU(16)];

fn join(constants: &[Const]) -> Value {
    let mut values = constants.iter().map(|c| Value::of(*c).unwrap());
    let first = values.next().unwrap();
    values.fold(first, |a, b| a.union(&b).unwrap())
}

/// What an operator does to members of sets is in what it does to the sets.
fn check(op: Op, sets: &[Vec<Const>]) {
    let values: Vec<Value> = sets.iter().map(|s| join(s)).collect();
    let found = apply(op, &values);
    for i in 0..sets[0].len() {
        for k in 0..sets.get(1).map_or(1, Vec::len) {
            let mut members = vec![sets[0][i]];
            members.extend(sets.get(1).map(|s| s[k]));
            if let Ok(exact) = op.eval(&members) {
                let exact = Value::of(exact).unwrap();
                let holds = found.is_ok_and(|f| f.contains(&exact));
                assert!(holds, "{op:?} of {members:?}: {exact:?} is not in {found:?} for {values:?}");
            }
        }
    }
}

#[test]
fn operators_on_sets_hold_what_they_yield_on_members() {
    let mut random = Random(7);
    for _ in 0..3_000 {
        let mut set = |n: u64| -> Vec<Const> {
            let start = random.draw() as i128;
            (0..n).map(|k| Const::bv(8, start + i128::from(k) * (random.draw() % 5) as i128)).collect()
        };
        let sets = [set(4), set(3)];
        OPERATORS.iter().for_each(|op| check(*op, &sets));
        UNARY.iter().for_each(|op| check(*op, &sets[..1]));
    }
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45, 0.1];
    for _ in 0..3_000 {
        let mut set = |n: u64| -> Vec<Const> {
            let one = |random: &mut Random| match random.draw() % 3 {
                0 => special[(random.draw() % 10) as usize],
                1 => (random.draw() % 2_000) as f32 / 7.0 - 100.0,
                _ => f32::from_bits(random.draw() as u32),
            };
            (0..n).map(|_| Const::f32(one(&mut random))).collect()
        };
        let sets = [set(3), set(2)];
        FLOATS.iter().for_each(|op| check(*op, &sets));
        UNARY_FLOATS.iter().for_each(|op| check(*op, &sets[..1]));
    }
}

#[test]
fn floats_are_counted_in_their_order() {
    for sort in [Sort::F32, Sort::F64] {
        for v in [-1.5f64, -0.0, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(at_ordinal(ordinal(v, sort), sort).to_bits(), v.to_bits());
        }
        assert_eq!(ordinal(-0.0, sort) + 1, ordinal(0.0, sort));
        assert!(ordinal(1.0, sort) < ordinal(f64::INFINITY, sort));
    }
}

/// All sets of four-bit numbers between two ends, signed, and their members.
fn ranges() -> Vec<(Bits, Vec<i128>)> {
    let ends = (-8..8).flat_map(|low| (low..8).map(move |high| (low, high)));
    ends.map(|(low, high)| (Bits::ranged(4, low, high), (low..=high).collect())).collect()
}

fn has(set: &Bits, n: i128) -> bool {
    Value::Bits(*set).contains(&Value::of(Const::bv(4, n)).unwrap())
}

#[test]
fn a_range_holds_its_numbers_and_of_one_sign_no_others() {
    for (set, members) in ranges() {
        let is_one_sided = members.iter().all(|n| *n < 0) || members.iter().all(|n| *n >= 0);
        for n in -8..8 {
            let inside = members.contains(&n);
            assert!(has(&set, n) || !inside, "{n} in {set:?}");
            assert!(inside || !has(&set, n) || !is_one_sided, "{n} not in {set:?}");
        }
    }
}

#[test]
fn what_two_sets_have_in_common_is_in_both_and_all_is_in_the_union() {
    let all = ranges();
    for ((a, _), (b, _)) in all.iter().flat_map(|x| all.iter().map(move |y| (x, y))) {
        let (met, joined) = (a.meet(b), a.union(b));
        for n in -8..8 {
            let in_both = has(a, n) && has(b, n);
            assert!(!in_both || met.is_some_and(|m| has(&m, n)), "{n} of {a:?} and {b:?}");
            assert!(has(&joined, n) || !has(a, n) && !has(b, n), "{n} of {a:?} or {b:?}");
        }
    }
}

#[test]
fn what_is_always_undefined_ends_a_path() {
    let (zero, some) = (join(&[Const::bv(8, 0)]), join(&[Const::bv(8, 3), Const::bv(8, 9)]));
    for op in [Op::UDiv, Op::SDiv, Op::URem, Op::SRem] {
        assert_eq!(apply(op, &[some, zero]), Err(Stop::Undefined), "{op:?}");
    }
    let far = join(&[Const::bv(8, 8), Const::bv(8, 20)]);
    for op in [Op::Shl, Op::LShr, Op::AShr] {
        assert_eq!(apply(op, &[some, far]), Err(Stop::Undefined), "{op:?}");
    }
    let huge = join(&[Const::f64(1e20), Const::f64(1e30)]);
    assert_eq!(apply(Op::FToS(32), &[huge]), Err(Stop::Undefined));
}

#[test]
fn addresses_move_by_known_bytes_only() {
    let at = |offset| Value::Pointer { place: ObjectSlot::Static(1), offset };
    let eight = join(&[Const::bv(64, 8)]);
    let unsure = join(&[Const::bv(64, 0), Const::bv(64, 8)]);
    assert_eq!(apply(Op::Add, &[at(4), eight]), Ok(at(12)));
    assert_eq!(apply(Op::Sub, &[at(4), eight]), Ok(at(-4)));
    assert!(apply(Op::Add, &[at(4), unsure]).is_err());
    assert_eq!(apply(Op::Ult, &[at(4), at(8)]), Ok(Value::YES));
    assert_eq!(apply(Op::Eq, &[at(4), join(&[Const::bv(64, 0)])]), Ok(Value::NO));
    let other = Value::Pointer { place: ObjectSlot::Local(1), offset: 4 };
    assert!(apply(Op::Ult, &[at(4), other]).is_err());
}

#[test]
fn sets_of_floats_may_have_no_number_or_no_nan() {
    let (nan, one) = (join(&[Const::f64(f64::NAN)]), join(&[Const::f64(1.0)]));
    let both = nan.union(&one).unwrap();
    assert_eq!(nan.meet(&one), None);
    assert_eq!(both.meet(&nan), Some(nan));
    assert_eq!(both.meet(&one), Some(one));
    assert!(!both.is_single() && nan.is_single() && one.is_single());
    assert_eq!(apply(Op::FLt, &[both, one]), Ok(Value::NO), "one is not below itself, and no NaN is");
}
