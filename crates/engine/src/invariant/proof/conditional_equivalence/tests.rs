//! How two values relate: under which conditions, and whether but for the sign of a zero.

use super::*;
use crate::ir::Leaf;

struct Inputs {
    pool: TermPool,
    floats: [TermId; 4],
    ints: [TermId; 3],
}

impl Inputs {
    fn new() -> Inputs {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str, sort| pool.leaf(Leaf::Param { name: name.into(), sort });
        let floats = ["a", "b", "c", "d"].map(|x| leaf(x, Sort::F64));
        let ints = ["i", "j", "k"].map(|x| leaf(x, Sort::Bv(32)));
        Inputs { pool, floats, ints }
    }

    fn relate(&mut self, a: TermId, b: TermId) -> Option<Relation> {
        Unifier { pool: &mut self.pool, left: MAX_PAIRS }.relate(a, b)
    }

    /// Expects two values to be related under these conditions.
    #[track_caller]
    fn check(&mut self, a: TermId, b: TermId, conditions: &[TermId], negated: bool, exact: bool) {
        let r = self.relate(a, b).expect("a relation");
        assert_eq!(r.conditions, conditions.iter().copied().collect());
        assert_eq!((r.negated, r.exact), (negated, exact));
    }

    fn op(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.pool.op(op, args)
    }
}

#[test]
fn equal_values_need_no_condition() {
    let mut i = Inputs::new();
    let a = i.floats[0];
    i.check(a, a, &[], false, true);
}

#[test]
fn values_of_one_sort_are_set_equal() {
    let mut i = Inputs::new();
    let ([a, b, ..], [x, y, _]) = (i.floats, i.ints);
    let (same_int, same_float) = (i.op(Op::Eq, &[x, y]), i.op(Op::FEq, &[a, b]));
    i.check(x, y, &[same_int], false, true);
    i.check(a, b, &[same_float], false, false);
    assert!(i.relate(a, x).is_none(), "a float is no integer");
    let (one, two) = (i.pool.bv(32, 1), i.pool.bv(32, 2));
    assert!(i.relate(one, two).is_none(), "two constants are never equal");
}

#[test]
fn sums_relate_by_their_parts_in_either_order() {
    let mut i = Inputs::new();
    let [a, b, c, d] = i.floats;
    let (x, y) = (i.op(Op::FMul, &[a, b]), i.op(Op::FMul, &[c, b]));
    let (left, right) = (i.op(Op::FAdd, &[x, d]), i.op(Op::FAdd, &[d, y]));
    let same = i.op(Op::FEq, &[a, c]);
    i.check(left, right, &[same], false, false);
}

#[test]
fn signs_are_carried_through_products() {
    let mut i = Inputs::new();
    let [a, b, ..] = i.floats;
    let minus = i.op(Op::FNeg, &[a]);
    i.check(minus, a, &[], true, true);
    i.check(a, minus, &[], true, true);
    let (x, y) = (i.op(Op::FDiv, &[minus, b]), i.op(Op::FDiv, &[a, b]));
    let r = i.relate(x, y).expect("a relation");
    assert!(r.negated && r.conditions.is_empty());
    let (root, minus_root) = (i.op(Op::FSqrt, &[a]), i.op(Op::FSqrt, &[minus]));
    let r = i.relate(root, minus_root);
    assert!(r.is_none_or(|r| !r.conditions.is_empty()), "roots of opposites are not opposites");
}

#[test]
fn divisors_that_differ_must_not_be_zero() {
    let mut i = Inputs::new();
    let [a, b, c, _] = i.floats;
    let (x, y) = (i.op(Op::FDiv, &[a, b]), i.op(Op::FDiv, &[a, c]));
    let zero = i.pool.constant(Const::f64(0.0));
    let (same, is_zero) = (i.op(Op::FEq, &[b, c]), i.op(Op::FEq, &[c, zero]));
    let not_zero = i.pool.not(is_zero);
    // The divisors are related but for the signs of zeros, of which there are none then.
    i.check(x, y, &[same, not_zero], false, true);
}

#[test]
fn a_function_is_equal_where_its_arguments_are() {
    let mut i = Inputs::new();
    let [x, y, z] = i.ints;
    let call = |name: &str| App::Uf(crate::ir::Uf::Library { name: name.into(), sort: Sort::Bv(32) });
    let (f, g) = (i.pool.app(call("f"), &[x]), i.pool.app(call("g"), &[x]));
    assert!(i.relate(f, g).is_some_and(|r| r.conditions.len() == 1), "other functions may agree");
    let (f, g) = (i.pool.app(call("f"), &[x, z]), i.pool.app(call("f"), &[y, z]));
    let same = i.op(Op::Eq, &[x, y]);
    i.check(f, g, &[same], false, true);
}

#[test]
fn relating_ends_when_enough_was_looked_at() {
    let mut i = Inputs::new();
    let [a, b, ..] = i.floats;
    let (x, y) = (i.op(Op::FAbs, &[a]), i.op(Op::FAbs, &[b]));
    let mut spent = Unifier { pool: &mut i.pool, left: 0 };
    assert!(spent.relate(x, y).is_none());
    assert!(spent.relate(x, x).is_some(), "the same costs nothing");
}

#[test]
fn a_test_that_only_changes_the_sign_of_a_zero_is_dropped() {
    let mut i = Inputs::new();
    let [a, b, ..] = i.floats;
    let (zero, one) = (i.pool.constant(Const::f64(0.0)), i.pool.constant(Const::f64(1.0)));
    let is_zero = i.op(Op::FEq, &[a, zero]);
    let plain = i.pool.ite(is_zero, zero, a);
    assert_eq!(but_for_zero_sign(&mut i.pool, plain), a);
    for other in [(is_zero, zero, b), (is_zero, one, a)] {
        let kept = i.pool.ite(other.0, other.1, other.2);
        assert_eq!(but_for_zero_sign(&mut i.pool, kept), kept);
    }
}

#[test]
fn an_input_falls_into_one_case_of_a_value() {
    let mut i = Inputs::new();
    let [x, y, z] = i.ints;
    let (less, below) = (i.op(Op::Slt, &[x, y]), i.op(Op::Slt, &[z, x]));
    let inner = i.pool.ite(below, z, x);
    let value = i.pool.ite(less, inner, y);
    let program = eval::Program::new(&i.pool, &[value]);
    let input = eval::Assignment::filled(eval::Fill::Zero);
    let run = program.run(&i.pool, &input);
    let mut path = Path { run: &run, tests: Vec::new(), dropped: false, done: FxHashMap::default() };
    assert_eq!(path.case(&mut i.pool, value), Some(y));
    assert_eq!((path.tests, path.dropped), (vec![(less, false)], false));
}
