//! Intervals of bit-vectors: bounds that hold whatever the inputs are.
//!
//! A cheap abstraction (Cousot and Cousot, 1976): remainders, masks, conversions, shifts and sums that
//! cannot wrap have bounds that a solver finds only with pains.

use super::{App, Op, Sort, Term, TermId, TermPool};
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
    if pool.sort(t).bits().is_none_or(|w| w > 64) || !matches!(pool.sort(t), Sort::Bv(_)) {
        return None;
    }
    let mut eval = Eval { pool, known: FxHashMap::default() };
    Some(eval.of(t, signed, 0))
}

/// Whether a condition is true, or false, by the bounds of what it compares; `None` where they do not
/// tell.
pub fn decide(pool: &TermPool, condition: TermId) -> Option<bool> {
    let mut eval = Eval { pool, known: FxHashMap::default() };
    eval.decide(condition, 0)
}

struct Eval<'p> {
    pool: &'p TermPool,
    known: FxHashMap<(TermId, bool), Interval>,
}

fn all(width: u16, signed: bool) -> Interval {
    match signed {
        true => Interval { low: -(1i128 << (width - 1)), high: (1i128 << (width - 1)) - 1 },
        false => Interval { low: 0, high: (1i128 << width) - 1 },
    }
}

impl Eval<'_> {
    fn of(&mut self, t: TermId, signed: bool, depth: usize) -> Interval {
        if let Some(known) = self.known.get(&(t, signed)) {
            return *known;
        }
        let Sort::Bv(width) = self.pool.sort(t) else { return Interval { low: 0, high: 1 } };
        if width > 64 {
            return Interval { low: -(1 << 100), high: 1 << 100 };
        }
        let whole = all(width, signed);
        if depth > 100 || self.known.len() > MAX_TERMS {
            return whole;
        }
        let found = self.compute(t, width, signed, depth).unwrap_or(whole);
        // What does not fit has wrapped.
        let found = if found.low < whole.low || found.high > whole.high { whole } else { found };
        // A number that is not negative is the same either way.
        let found = match (found == whole, signed) {
            (true, _) => {
                let other = self.compute(t, width, !signed, depth);
                let positive = other.filter(|o| o.low >= 0 && o.high < 1i128 << (width - 1));
                positive.unwrap_or(whole)
            }
            _ => found,
        };
        self.known.insert((t, signed), found);
        found
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
        if !matches!(self.pool.sort(a), Sort::Bv(1..=64)) {
            return None;
        }
        let signed = matches!(op, Op::Slt | Op::Sle);
        let (x, y) = (self.of(a, signed, 0), self.of(b, signed, 0));
        match op {
            Op::Eq if x.high < y.low || y.high < x.low => Some(false),
            Op::Eq if x == y && x.low == x.high => Some(true),
            Op::Slt | Op::Ult if x.high < y.low => Some(true),
            Op::Slt | Op::Ult if x.low >= y.high => Some(false),
            Op::Sle | Op::Ule if x.high <= y.low => Some(true),
            Op::Sle | Op::Ule if x.low > y.high => Some(false),
            _ => None,
        }
    }

    fn compute(&mut self, t: TermId, width: u16, signed: bool, depth: usize) -> Option<Interval> {
        if let Some(c) = self.pool.as_const(t) {
            let v = if signed { c.signed()? } else { c.unsigned()? as i128 };
            return Some(Interval { low: v, high: v });
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        let mut arg = |i: usize, signed: bool| args.get(i).map(|&a| self.of(a, signed, depth + 1));
        Some(match op {
            Op::Ite => {
                let (a, b) = (arg(1, signed)?, arg(2, signed)?);
                Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
            }
            Op::Zext(_) => arg(0, false)?,
            Op::Sext(_) if signed => arg(0, true)?,
            Op::Trunc(_) => {
                let (a, whole) = (arg(0, signed)?, all(width, signed));
                (a.low >= whole.low && a.high <= whole.high).then_some(a)?
            }
            Op::Add => {
                let (a, b) = (arg(0, signed)?, arg(1, signed)?);
                Interval { low: a.low + b.low, high: a.high + b.high }
            }
            Op::Mul => {
                let (a, b) = (arg(0, signed)?, arg(1, signed)?);
                let factors = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                let products: Option<Vec<i128>> = factors.iter().map(|(x, y)| x.checked_mul(*y)).collect();
                let products = products?;
                Interval { low: *products.iter().min()?, high: *products.iter().max()? }
            }
            Op::URem if !signed => {
                let (a, b) = (arg(0, false)?, arg(1, false)?);
                if b.low == 0 {
                    return None;
                }
                Interval { low: 0, high: a.high.min(b.high - 1) }
            }
            Op::SRem if signed => {
                let (a, b) = (arg(0, true)?, arg(1, true)?);
                // A divisor that may be zero leaves the dividend, as the solver has it.
                if b.low <= 0 && b.high >= 0 {
                    return None;
                }
                let most = b.low.abs().max(b.high.abs()) - 1;
                Interval { low: a.low.max(-most).min(0), high: a.high.min(most).max(0) }
            }
            Op::UDiv if !signed => {
                let (a, b) = (arg(0, false)?, arg(1, false)?);
                if b.low == 0 {
                    return None;
                }
                Interval { low: a.low / b.high, high: a.high / b.low }
            }
            Op::SDiv if signed => {
                let (a, b) = (arg(0, true)?, arg(1, true)?);
                if b.low <= 0 {
                    return None;
                }
                let quotients = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high];
                Interval { low: *quotients.iter().min()?, high: *quotients.iter().max()? }
            }
            Op::BitAnd => {
                // Of two numbers that are not negative, no more than either.
                let (a, b) = (arg(0, signed)?, arg(1, signed)?);
                match (a.low >= 0, b.low >= 0) {
                    (true, true) => Interval { low: 0, high: a.high.min(b.high) },
                    (true, false) => Interval { low: 0, high: a.high },
                    (false, true) => Interval { low: 0, high: b.high },
                    (false, false) => return None,
                }
            }
            Op::BitOr | Op::BitXor => {
                let (a, b) = (arg(0, signed)?, arg(1, signed)?);
                if a.low < 0 || b.low < 0 {
                    return None;
                }
                let most = a.high.max(b.high) as u128;
                let bits = 128 - most.leading_zeros();
                let low = if op == Op::BitOr { a.low.max(b.low) } else { 0 };
                Interval { low, high: (1i128 << bits) - 1 }
            }
            Op::LShr if !signed => {
                let (a, b) = (arg(0, false)?, arg(1, false)?);
                let shift = |n: i128| n.clamp(0, 127) as u32;
                Interval { low: a.low >> shift(b.high), high: a.high >> shift(b.low) }
            }
            Op::AShr if signed => {
                let (a, b) = (arg(0, true)?, arg(1, false)?);
                let shift = |n: i128| n.clamp(0, 127) as u32;
                let shifted = [
                    a.low >> shift(b.low),
                    a.low >> shift(b.high),
                    a.high >> shift(b.low),
                    a.high >> shift(b.high),
                ];
                Interval { low: *shifted.iter().min()?, high: *shifted.iter().max()? }
            }
            _ => return None,
        })
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
        let found = of(&pool, t, signed).filter(|i| *i != all(32, signed)).map(|i| (i.low, i.high));
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
