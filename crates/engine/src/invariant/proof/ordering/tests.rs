//! What goes and what stays, by hand and on all values of four bits.

use super::*;
use crate::ir::Leaf;

struct Conditions {
    pool: TermPool,
    x: TermId,
    y: TermId,
}

impl Conditions {
    fn new(sort: Sort) -> Conditions {
        let mut pool = TermPool::new();
        let mut leaf = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort });
        let (x, y) = (leaf("x"), leaf("y"));
        Conditions { pool, x, y }
    }

    fn all(&mut self, parts: &[TermId]) -> TermId {
        self.pool.op(Op::And, parts)
    }

    fn not(&mut self, t: TermId) -> TermId {
        self.pool.not(t)
    }

    fn against(&mut self, op: Op, k: i128) -> TermId {
        let Sort::Bv(width) = self.pool.sort(self.x) else { unreachable!("of integers alone") };
        let k = self.pool.bv(width, k);
        self.pool.op(op, &[self.x, k])
    }

    fn float(&mut self, op: Op, t: TermId, k: f64) -> TermId {
        let k = self.pool.constant(Const::f64(k));
        self.pool.op(op, &[t, k])
    }
}

/// Of the classes of characters that a program tests, one excludes the others.
#[test]
fn what_other_bounds_exclude_goes() {
    let mut c = Conditions::new(Sort::Bv(8));
    let within = |c: &mut Conditions, low: i128, high: i128| {
        let below = c.against(Op::Slt, low);
        let (above, under) = (c.not(below), c.against(Op::Sle, high));
        (above, under)
    };
    let (digit, small) = (within(&mut c, 48, 57), within(&mut c, 97, 122));
    let is_small = c.all(&[small.0, small.1]);
    let no_small = c.not(is_small);
    let wanted = c.all(&[digit.0, digit.1]);
    let both = c.all(&[wanted, no_small]);
    assert_eq!(simplified(&mut c.pool, both), Some(wanted));
    let none = c.all(&[wanted, is_small]);
    assert_eq!(simplified(&mut c.pool, none), None);
}

/// NaN is neither less nor equal nor greater, so two of three denials leave something.
#[test]
fn a_float_may_be_no_number() {
    let mut c = Conditions::new(Sort::F64);
    let x = c.x;
    let (less, equal) = (c.float(Op::FLt, x, 0.0), c.float(Op::FEq, x, 0.0));
    let zero = c.pool.constant(Const::f64(0.0));
    let greater = c.pool.op(Op::FLt, &[zero, x]);
    let (no_less, no_equal, no_greater) = (c.not(less), c.not(equal), c.not(greater));
    let none = c.all(&[less, greater]);
    assert_eq!(simplified(&mut c.pool, none), None);
    let known = c.all(&[equal, no_less, no_greater]);
    assert_eq!(simplified(&mut c.pool, known), Some(equal));
    let nan = c.all(&[no_less, no_equal, no_greater]);
    assert_eq!(simplified(&mut c.pool, nan), Some(nan));
    let above = c.all(&[no_less, no_equal]);
    assert_eq!(simplified(&mut c.pool, above), Some(above));
}

/// `x - y == 0` is kept as `y - x == 0`: that is the same number.
#[test]
fn a_difference_and_its_opposite_are_one_number() {
    let mut c = Conditions::new(Sort::F64);
    let (x, y) = (c.x, c.y);
    let minus_y = c.pool.op(Op::FNeg, &[y]);
    let difference = c.pool.op(Op::FAdd, &[x, minus_y]);
    let turned = opposite(&mut c.pool, difference).expect("a sum");
    assert_eq!(opposite(&mut c.pool, turned), Some(difference));
    let less = c.float(Op::FLt, difference, 2.0);
    let zero = c.float(Op::FEq, turned, 0.0);
    let both = c.all(&[less, zero]);
    assert_eq!(simplified(&mut c.pool, both), Some(zero));
    let far = c.float(Op::FLt, turned, -2.0);
    let none = c.all(&[less, far]);
    assert_eq!(simplified(&mut c.pool, none), None);
}

/// What a chain of tests leaves for its last branch.
#[test]
fn alternatives_that_the_others_exclude_go() {
    let mut c = Conditions::new(Sort::F64);
    let (x, y) = (c.x, c.y);
    let (less, equal, other) = (c.float(Op::FLt, x, 0.0), c.float(Op::FEq, x, 0.0), c.float(Op::FLt, y, 1.0));
    let (no_less, no_equal) = (c.not(less), c.not(equal));
    let second = c.all(&[no_less, equal]);
    let no_second = c.not(second);
    let last = c.all(&[no_less, no_second]);
    let wanted = c.all(&[no_less, no_equal]);
    assert_eq!(simplified(&mut c.pool, last), Some(wanted));
    // `!(a || !(b && c))` is `!a && b && c`.
    let both = c.all(&[no_less, other]);
    let no_both = c.not(both);
    let either = c.pool.or(less, no_both);
    let denied = c.not(either);
    assert_eq!(simplified(&mut c.pool, denied), Some(both));
    let far = c.float(Op::FLt, x, -3.0);
    let below = c.pool.or(far, other);
    let narrowed = c.all(&[no_less, below]);
    assert_eq!(simplified(&mut c.pool, narrowed), Some(both));
    let none = c.all(&[less, second]);
    assert_eq!(simplified(&mut c.pool, none), None);
}

#[test]
fn two_unknown_numbers_have_an_order() {
    let mut c = Conditions::new(Sort::Bv(32));
    let (x, y) = (c.x, c.y);
    let (less, greater) = (c.pool.op(Op::Slt, &[x, y]), c.pool.op(Op::Slt, &[y, x]));
    let (at_most, equal) = (c.pool.op(Op::Sle, &[x, y]), c.pool.eq(x, y));
    let none = c.all(&[less, greater]);
    assert_eq!(simplified(&mut c.pool, none), None);
    let both = c.all(&[at_most, equal]);
    assert_eq!(simplified(&mut c.pool, both), Some(equal));
    // The order of signed numbers is another than that of unsigned ones.
    let other = c.pool.op(Op::Ult, &[y, x]);
    let mixed = c.all(&[less, other]);
    assert_eq!(simplified(&mut c.pool, mixed), Some(mixed));
}

/// Every conjunction of comparisons of four bits says the same before and after, and is found to be met by
/// nothing only where nothing meets it.
#[test]
fn all_values_of_four_bits_agree() {
    let mut random = invdiff_testing::Random(7);
    for _ in 0..3000 {
        let mut c = Conditions::new(Sort::Bv(4));
        let x = c.x;
        let mut parts = Vec::new();
        for _ in 0..2 + random.below(4) {
            let mut any = |c: &mut Conditions| {
                let k = random.below(16) as i128;
                let op = [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq][random.below(5) as usize];
                let t = c.against(op, k);
                if random.below(2) == 0 { c.not(t) } else { t }
            };
            let (a, b, d) = (any(&mut c), any(&mut c), any(&mut c));
            let or = c.pool.or(a, b);
            let and = c.pool.and(b, d);
            let deep = c.pool.or(and, d);
            let some = [a, or, c.pool.not(and), c.pool.not(or), c.pool.not(deep), deep];
            parts.push(some[random.below(6) as usize]);
        }
        let condition = c.all(&parts);
        let left = simplified(&mut c.pool, condition);
        for k in 0..16 {
            let value = c.pool.bv(4, k);
            let mut at = |t: TermId| {
                let t = crate::invariant::proof::abstraction::replaced(&mut c.pool, t, x, value);
                c.pool.as_const(t).and_then(|b| b.as_bool()).expect("a truth value")
            };
            assert_eq!(at(condition), left.is_some_and(&mut at), "{k}");
        }
    }
}
