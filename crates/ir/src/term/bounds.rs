//! Bounds of terms that hold whatever the inputs are, by the interval domain.
//!
//! A cheap abstraction (Cousot and Cousot, 1976): remainders, masks, conversions, shifts and sums that
//! cannot wrap have bounds that a solver finds only with pains.

use super::{App, Op, Sort, Term, TermId, TermPool};
use crate::interval::{self, Bits, MAX_WIDTH};
use rustc_hash::FxHashMap;

/// Smallest and largest value, as a signed or as an unsigned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

/// Terms of one question; beyond, nothing is known.
const MAX_TERMS: usize = 4000;

/// Returns the bounds of a bit-vector of at most 64 bits, read as signed or not; `None` for other terms.
pub fn of(pool: &TermPool, t: TermId, signed: bool) -> Option<Interval> {
    let bits = Eval { pool, known: FxHashMap::default() }.of(t, 0)?;
    let (low, high) = if signed { bits.s() } else { bits.u() };
    Some(Interval { low, high })
}

/// Whether a condition is true, or false, by the bounds of what it compares; `None` where they do not
/// tell.
pub fn decide(pool: &TermPool, condition: TermId) -> Option<bool> {
    let mut eval = Eval { pool, known: FxHashMap::default() };
    eval.decide(condition, 0)
}

struct Eval<'p> {
    pool: &'p TermPool,
    known: FxHashMap<TermId, Bits>,
}

impl Eval<'_> {
    /// The numbers that a term may be; `None` for other terms.
    fn of(&mut self, t: TermId, depth: usize) -> Option<Bits> {
        let Sort::Bv(width @ 1..=MAX_WIDTH) = self.pool.sort(t) else { return None };
        if let Some(known) = self.known.get(&t) {
            return Some(*known);
        }
        let whole = Bits::all(width);
        if depth > 100 || self.known.len() > MAX_TERMS {
            return Some(whole);
        }
        let found = self.compute(t, depth).unwrap_or(whole);
        self.known.insert(t, found);
        Some(found)
    }

    fn decide(&mut self, t: TermId, depth: usize) -> Option<bool> {
        if let Some(c) = self.pool.as_const(t) {
            return c.as_bool();
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        if depth > 20 {
            return None;
        }
        match op {
            Op::Not => return self.decide(*args.first()?, depth + 1).map(|b| !b),
            Op::And | Op::Or => {
                // What decides alone, and what the others have to be for the opposite.
                let alone = op == Op::Or;
                let mut all = true;
                for a in args {
                    match self.decide(a, depth + 1) {
                        Some(b) if b == alone => return Some(alone),
                        Some(_) => {}
                        None => all = false,
                    }
                }
                return all.then_some(!alone);
            }
            _ => {}
        }
        let &[a, b] = args.as_slice() else { return None };
        interval::compared(op, &self.of(a, 0)?, &self.of(b, 0)?)
    }

    fn compute(&mut self, t: TermId, depth: usize) -> Option<Bits> {
        if let Some(c) = self.pool.as_const(t) {
            let v = c.signed()?;
            return Some(Bits::ranged(c.sort().bits()?, v, v));
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        match *args.as_slice() {
            [a] => interval::unary(op, &self.of(a, depth + 1)?),
            [_, a, b] if op == Op::Ite => Some(self.of(a, depth + 1)?.union(&self.of(b, depth + 1)?)),
            [a, b] => total(op, &self.of(a, depth + 1)?, &self.of(b, depth + 1)?),
            _ => None,
        }
    }
}

/// What an operator makes of two sets where it is defined everywhere, as the solver has it: a shift by the width or
/// more brings zeros or signs, and nothing is said of a division that may be one by zero.
fn total(op: Op, a: &Bits, b: &Bits) -> Option<Bits> {
    let most = i128::from(b.width) - 1;
    match op {
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem if b.u().0 == 0 || b.s().0 <= 0 && b.s().1 >= 0 => None,
        Op::Shl | Op::LShr | Op::AShr if b.u().1 > most => {
            let (least, zero) = (b.u().0, Bits::ranged(a.width, 0, 0));
            match (op, least > most) {
                // The same as by one less than the width.
                (Op::AShr, _) => {
                    let by = Bits::ranged(b.width, least.min(most), most);
                    interval::binary(op, a, &by).ok()?
                }
                (_, true) => Some(zero),
                (_, false) => {
                    let by = Bits::ranged(b.width, least, most);
                    interval::binary(op, a, &by).ok()?.map(|bits| bits.union(&zero))
                }
            }
        }
        _ => interval::binary(op, a, b).ok()?,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Leaf;
    use super::*;

    /// Bounds of an operator over an unknown `x` of 32 bits and a constant.
    fn check(op: Op, k: i128, signed: bool, expected: Option<(i128, i128)>) {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let k = pool.bv(32, k);
        let t = pool.op(op, &[x, k]);
        let (least, most, top) = interval::limits(32);
        let all = if signed { (least, most) } else { (0, top) };
        let found = of(&pool, t, signed).map(|i| (i.low, i.high)).filter(|i| *i != all);
        assert_eq!(found, expected, "{op:?}");
    }

    #[test]
    fn bounds_decide_comparisons() {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let (ten, twenty) = (pool.bv(32, 10), pool.bv(32, 20));
        let digit = pool.op(Op::URem, &[x, ten]);
        let check = |pool: &mut TermPool, op, a, b, expected| {
            let t = pool.op(op, &[a, b]);
            assert_eq!(decide(pool, t), expected, "{op:?}");
        };
        check(&mut pool, Op::Ult, digit, ten, Some(true));
        check(&mut pool, Op::Ult, ten, digit, Some(false));
        check(&mut pool, Op::Eq, digit, twenty, Some(false));
        check(&mut pool, Op::Sle, digit, twenty, Some(true));
        check(&mut pool, Op::Ult, x, ten, None);
        let (small, open) = (pool.op(Op::Ult, &[digit, ten]), pool.op(Op::Ult, &[x, ten]));
        check(&mut pool, Op::And, small, open, None);
        check(&mut pool, Op::Or, small, open, Some(true));
    }

    #[test]
    fn remainders_and_masks_have_bounds() {
        check(Op::SRem, 5, true, Some((-4, 4)));
        check(Op::SRem, -5, true, Some((-4, 4)));
        check(Op::URem, 5, false, Some((0, 4)));
        check(Op::URem, 5, true, Some((0, 4)));
        check(Op::BitAnd, 15, true, Some((0, 15)));
        check(Op::SDiv, 2, true, Some((-1 << 30, (1 << 30) - 1)));
        check(Op::UDiv, 10, false, Some((0, 429_496_729)));
        check(Op::Add, 5, true, None);
        check(Op::Mul, 3, true, None);
    }

    /// Terms of four bits over `x` and `y`, some of them with bounds of their own.
    fn zoo(pool: &mut TermPool) -> (TermId, TermId, Vec<TermId>) {
        let mut leaf = |name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(4) });
        let (x, y) = (leaf("x"), leaf("y"));
        let [three, six, minus] = [3, 6, -2].map(|k| pool.bv(4, k));
        let (rest, masked) = (pool.op(Op::URem, &[x, three]), pool.op(Op::BitAnd, &[y, six]));
        let (signed_rest, shifted) = (pool.op(Op::SRem, &[y, three]), pool.op(Op::AShr, &[x, three]));
        (x, y, vec![x, y, three, minus, rest, masked, signed_rest, shifted])
    }

    const NUMBERS: [Op; 14] = [
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
        Op::Concat,
    ];

    /// The constant that a term is for each pair of values of `x` and `y`, where it is defined.
    fn values(pool: &mut TermPool, t: TermId, (x, y): (TermId, TermId)) -> Vec<super::super::Const> {
        let mut found = Vec::new();
        for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
            let by = [(x, pool.bv(4, a)), (y, pool.bv(4, b))];
            let put = |_: &mut TermPool, t: TermId| match by.iter().find(|(v, _)| *v == t) {
                Some((_, k)) => super::super::Rebuilt::By(*k),
                None => super::super::Rebuilt::Kept,
            };
            let value = pool.rebuilt(t, &put);
            found.extend(pool.as_const(value));
        }
        found
    }

    #[test]
    fn every_value_of_a_term_is_within_its_bounds() {
        let mut pool = TermPool::new();
        let (x, y, terms) = zoo(&mut pool);
        for (op, a, b) in NUMBERS.iter().flat_map(|op| {
            let terms = &terms;
            terms.iter().flat_map(move |a| terms.iter().map(move |b| (*op, *a, *b)))
        }) {
            let t = pool.op(op, &[a, b]);
            let all = values(&mut pool, t, (x, y));
            for signed in [true, false] {
                let bounds = of(&pool, t, signed).expect("a number");
                for c in &all {
                    let n = if signed { c.signed() } else { c.unsigned().map(|u| u as i128) };
                    let n = n.expect("a number");
                    assert!(
                        bounds.low <= n && n <= bounds.high,
                        "{op:?}: {n} of {bounds:?}, signed: {signed}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_bounds_decide_holds_of_every_value() {
        let mut pool = TermPool::new();
        let (x, y, terms) = zoo(&mut pool);
        let mut decided = 0;
        for op in [Op::Slt, Op::Sle, Op::Ult, Op::Ule, Op::Eq] {
            for (a, b) in terms.iter().flat_map(|a| terms.iter().map(move |b| (*a, *b))) {
                let t = pool.op(op, &[a, b]);
                let not = pool.not(t);
                let Some(yes) = decide(&pool, t) else { continue };
                assert_eq!(decide(&pool, not), Some(!yes));
                for c in values(&mut pool, t, (x, y)) {
                    assert_eq!(c.as_bool(), Some(yes), "{op:?}");
                }
                decided += 1;
            }
        }
        assert!(decided > 20, "bounds decide something: {decided}");
    }

    #[test]
    fn sums_and_products_of_narrow_numbers_do_not_wrap() {
        let mut pool = TermPool::new();
        let byte = pool.leaf(Leaf::Param { name: "b".into(), sort: Sort::Bv(8) });
        let (wide, signed) = (pool.op(Op::Zext(32), &[byte]), pool.op(Op::Sext(32), &[byte]));
        let [five, ten] = [5, 10].map(|k| pool.bv(32, k));
        let mut bounds = |op, a, b| {
            let t = pool.op(op, &[a, b]);
            of(&pool, t, true).map(|i| (i.low, i.high))
        };
        assert_eq!(bounds(Op::Add, wide, five), Some((5, 260)));
        assert_eq!(bounds(Op::Mul, wide, ten), Some((0, 2550)));
        assert_eq!(bounds(Op::Mul, signed, ten), Some((-1280, 1270)));
        assert_eq!(bounds(Op::SDiv, signed, five), Some((-25, 25)));
        assert_eq!(bounds(Op::BitOr, wide, five), Some((5, 255)));
        assert_eq!(bounds(Op::AShr, signed, five), Some((-4, 3)));
    }

    #[test]
    fn a_choice_is_within_the_bounds_of_both() {
        let mut pool = TermPool::new();
        let c = pool.leaf(Leaf::Param { name: "c".into(), sort: Sort::Bool });
        let [low, high] = [-7, 40].map(|k| pool.bv(32, k));
        let t = pool.ite(c, low, high);
        assert_eq!(of(&pool, t, true), Some(Interval { low: -7, high: 40 }));
        let five = pool.bv(32, 41);
        let less = pool.op(Op::Slt, &[t, five]);
        assert_eq!(decide(&pool, less), Some(true));
    }

    #[test]
    fn only_numbers_of_at_most_64_bits_have_bounds() {
        let mut pool = TermPool::new();
        let mut leaf = |sort| pool.leaf(Leaf::Param { name: "x".into(), sort });
        let (wide, truth, float) = (leaf(Sort::Bv(65)), leaf(Sort::Bool), leaf(Sort::F64));
        let most = leaf(Sort::Bv(64));
        assert!([wide, truth, float].iter().all(|t| of(&pool, *t, true).is_none()));
        assert_eq!(of(&pool, most, false), Some(Interval { low: 0, high: u64::MAX.into() }));
    }
}
