//! Conditions over two registers of four bits: what they leave has every value for which they hold.

use super::*;
use crate::by_hand::v;
use crate::verifier::state::{Frame, Item};
use std::collections::BTreeMap;

const NOWHERE: Statics = &|_| None;

fn state(registers: &[Value]) -> State {
    let mut state = State {
        frames: vec![Frame {
            body: 0,
            node: 0,
            registers: vec![None; registers.len()],
            dst: None,
            result_to: None,
            floor: 0,
        }],
        statics: BTreeMap::new(),
        stack: Vec::new(),
        given: Vec::new(),
        assumed: Vec::new(),
        unsure: 0,
        marks: 0,
        steps: 0,
    };
    for (k, value) in registers.iter().enumerate() {
        state.set(crate::ir::VarId(k as u32), Item::new(*value));
    }
    state
}

fn register(state: &State, k: u32) -> Value {
    state.register(crate::ir::VarId(k)).expect("a value").value
}

/// Numbers of four bits between two ends, signed.
fn between(low: i128, high: i128) -> Value {
    Value::Bits(Bits::new(4, (low, high), (0, 15)).expect("numbers"))
}

fn signed(state: &State, k: u32) -> (i128, i128) {
    let Value::Bits(b) = register(state, k) else { panic!("no number") };
    b.s()
}

fn number(n: i128) -> Expr {
    Expr::bv(4, n)
}

/// What an expression is where the registers are these.
fn exact(e: &Expr, x: i128, y: i128) -> Option<bool> {
    let state = state(&[between(x, x), between(y, y)]);
    state.eval(e, NOWHERE).ok().and_then(|i| i.value.known_truth())
}

/// Expects a condition to leave all values for which it holds, and to refuse only what none does.
#[track_caller]
fn check(cond: &Expr, (low, high): (i128, i128)) {
    for holds in [true, false] {
        let mut narrowed = state(&[between(low, high), between(-8, 7)]);
        let left = narrowed.assume(cond, holds, NOWHERE);
        for (x, y) in (low..=high).flat_map(|x| (-8..8).map(move |y| (x, y))) {
            if exact(cond, x, y) != Some(holds) {
                continue;
            }
            assert!(left, "{x} {y} is left of {cond:?}");
            for (k, n) in [(0, x), (1, y)] {
                assert!(register(&narrowed, k).contains(&between(n, n)), "{x} {y} in {cond:?}, {holds}");
            }
        }
    }
}

const COMPARISONS: [Op; 5] = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq];
const RANGES: [(i128, i128); 4] = [(-8, 7), (2, 5), (-3, 1), (-8, -6)];

#[test]
fn comparisons_keep_every_value_for_which_they_hold() {
    for (op, range) in COMPARISONS.iter().flat_map(|op| RANGES.map(|r| (*op, r))) {
        check(&Expr::op(op, vec![v(0), v(1)]), range);
        for k in -8..8 {
            check(&Expr::op(op, vec![v(0), number(k)]), range);
            check(&Expr::op(op, vec![number(k), v(0)]), range);
        }
    }
}

#[test]
fn operators_are_carried_back_without_losing_a_value() {
    for (op, range) in COMPARISONS.iter().flat_map(|op| RANGES.map(|r| (*op, r))) {
        for k in [-8, -3, 0, 2, 7] {
            let of = |left: Expr| Expr::op(op, vec![left, v(1)]);
            check(&of(Expr::op(Op::Add, vec![v(0), number(k)])), range);
            check(&of(Expr::op(Op::Sub, vec![number(k), v(0)])), range);
            let wide = |cast| Expr::op(op, vec![Expr::op(cast, vec![v(0)]), Expr::bv(8, 5 * k)]);
            check(&wide(Op::Zext(8)), range);
            check(&wide(Op::Sext(8)), range);
            let narrow = Expr::op(op, vec![Expr::op(Op::Trunc(3), vec![v(0)]), Expr::bv(3, k)]);
            check(&narrow, range);
        }
        check(&Expr::op(op, vec![Expr::op(Op::Neg, vec![v(0)]), v(1)]), range);
        check(&Expr::op(op, vec![Expr::op(Op::BitNot, vec![v(0)]), v(1)]), range);
    }
}

#[test]
fn conditions_of_conditions_keep_every_value_for_which_they_hold() {
    let less = |k| Expr::op(Op::Slt, vec![v(0), number(k)]);
    let above = |k| Expr::op(Op::Slt, vec![number(k), v(1)]);
    for range in RANGES {
        check(&Expr::op(Op::And, vec![less(3), above(-2)]), range);
        check(&Expr::op(Op::Or, vec![less(-5), above(5)]), range);
        check(&Expr::op(Op::Not, vec![less(4)]), range);
        check(&Expr::op(Op::Ite, vec![less(0), above(3), less(5)]), range);
        check(&Expr::op(Op::Eq, vec![less(1), Expr::Const(Const::FALSE)]), range);
        let chosen = Expr::op(Op::Ite, vec![less(0), number(1), v(1)]);
        check(&Expr::op(Op::Slt, vec![chosen, number(0)]), range);
    }
}

#[test]
fn a_bound_is_as_tight_as_the_comparison_says() {
    let mut s = state(&[between(-8, 7), between(2, 5)]);
    assert!(s.assume(&Expr::op(Op::Slt, vec![v(0), v(1)]), true, NOWHERE));
    assert_eq!((signed(&s, 0), signed(&s, 1)), ((-8, 4), (2, 5)));
    assert!(s.assume(&Expr::op(Op::Slt, vec![v(0), number(1)]), false, NOWHERE));
    assert_eq!(signed(&s, 0), (1, 4));
    assert!(s.assume(&Expr::op(Op::Eq, vec![v(0), number(1)]), false, NOWHERE));
    assert_eq!(signed(&s, 0), (2, 4));
    assert!(!s.assume(&Expr::op(Op::Slt, vec![v(1), v(0)]), true, NOWHERE) || signed(&s, 1).1 <= 3);
}

#[test]
fn a_condition_that_nothing_meets_leaves_nothing() {
    let mut s = state(&[between(2, 5), between(-8, 7)]);
    assert!(!s.assume(&Expr::op(Op::Slt, vec![v(0), number(2)]), true, NOWHERE));
    let mut s = state(&[between(2, 5), between(-8, 7)]);
    assert!(!s.assume(&Expr::op(Op::Eq, vec![v(0), number(6)]), true, NOWHERE));
    let mut s = state(&[between(2, 2), between(-8, 7)]);
    assert!(!s.assume(&Expr::op(Op::Eq, vec![v(0), number(2)]), false, NOWHERE));
}

#[test]
fn the_last_open_alternative_has_to_hold() {
    let mut s = state(&[between(2, 5), between(-8, 7)]);
    let impossible = Expr::op(Op::Slt, vec![v(0), number(0)]);
    let left = Expr::op(Op::Slt, vec![v(1), number(0)]);
    assert!(s.assume(&Expr::op(Op::Or, vec![impossible, left]), true, NOWHERE));
    assert_eq!(signed(&s, 1), (-8, -1));
}

#[test]
fn what_is_copied_is_narrowed_with_it() {
    let mut s = state(&[between(-8, 7), between(-8, 7)]);
    let item = s.register(crate::ir::VarId(0)).expect("a value");
    s.set(crate::ir::VarId(1), item);
    assert!(s.assume(&Expr::op(Op::Slt, vec![v(0), number(3)]), true, NOWHERE));
    assert_eq!(signed(&s, 1), (-8, 2));
}

#[test]
fn strict_bounds_of_floats_are_the_next_ones() {
    let float = |low, high| Value::Float(Float { sort: Sort::F64, low, high, nan: true });
    let mut s = state(&[float(-1.0, 4.0), float(0.0, 2.0)]);
    assert!(s.assume(&Expr::op(Op::FLt, vec![v(0), v(1)]), true, NOWHERE));
    let Value::Float(x) = register(&s, 0) else { panic!("no float") };
    assert_eq!((x.low, x.high, x.nan), (-1.0, 2.0f64.next_down(), false));
    let zero = Expr::Const(Const::f64(0.0));
    let mut s = state(&[float(-0.0, 0.0)]);
    assert!(!s.assume(&Expr::op(Op::FLt, vec![v(0), zero]), true, NOWHERE), "zeros are equal");
}

#[test]
fn what_is_not_to_be_is_found_behind_denials() {
    let equal = |a, b| Expr::op(Op::Eq, vec![a, b]);
    let five = Const::bv(4, 5);
    assert_eq!(excluded(&equal(v(0), number(5)), false), Some((&v(0), five)));
    assert_eq!(excluded(&Expr::op(Op::Not, vec![equal(number(5), v(0))]), true), Some((&v(0), five)));
    assert_eq!(excluded(&equal(v(0), number(5)), true), None);
    assert_eq!(excluded(&equal(v(0), v(1)), false), None);
}

#[test]
fn numbers_fit_where_their_ends_do() {
    for (low, high) in (-20..20).flat_map(|low| (low..20).map(move |high| (low, high))) {
        assert_eq!(fits((low, high), 4, true), low >= -8 && high <= 7, "{low} {high}");
        assert_eq!(fits((low, high), 4, false), low >= 0 && high <= 15, "{low} {high}");
    }
}
