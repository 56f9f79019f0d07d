//! Bounds of terms over a domain: the abstraction of intervals (Cousot and Cousot, 1976).
//!
//! Cheap, and enough to see that most sums and products cannot leave their words.

use crate::Domain;
use crate::lattice::Range;
use invdiff_ir::{App, Op, Sort, Term, TermId, TermPool};
use rustc_hash::FxHashMap;

/// Terms inside one another.
const MAX_DEPTH: usize = 200;

pub(crate) struct Bounds<'a> {
    pub pool: &'a TermPool,
    pub domain: &'a Domain,
    pub known: &'a mut FxHashMap<TermId, Range>,
}

/// Every signed number of a word.
fn whole(width: u16) -> Option<Range> {
    let half = 1i128.checked_shl(u32::from(width).checked_sub(1)?).filter(|_| width <= 120)?;
    Some((-half, half - 1))
}

impl Bounds<'_> {
    /// The least and the largest signed value; `None` for other than words of at most 120 bits.
    pub fn of(&mut self, t: TermId, depth: usize) -> Option<Range> {
        if let Some(known) = self.known.get(&t) {
            return Some(*known);
        }
        let Sort::Bv(width) = self.pool.sort(t) else { return None };
        let whole = whole(width)?;
        if depth > MAX_DEPTH {
            return Some(whole);
        }
        let fits = |r: &Range| whole.0 <= r.0 && r.1 <= whole.1;
        let found = self.computed(t, width, depth).filter(fits).unwrap_or(whole);
        self.known.insert(t, found);
        Some(found)
    }

    /// The bounds before a word cuts them.
    fn computed(&mut self, t: TermId, width: u16, depth: usize) -> Option<Range> {
        if let Some(c) = self.pool.as_const(t) {
            return c.signed().map(|n| (n, n));
        }
        if let Some(i) = self.domain.position(t) {
            return self.domain.inputs.get(i).map(|i| i.range);
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        match (op, args.as_slice()) {
            (Op::Ite, &[_, a, b]) => {
                let (a, b) = (self.of(a, depth + 1)?, self.of(b, depth + 1)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            (Op::Add, &[a, b]) => {
                let (a, b) = (self.of(a, depth + 1)?, self.of(b, depth + 1)?);
                Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
            }
            (Op::Sub, &[a, b]) => {
                let (a, b) = (self.of(a, depth + 1)?, self.of(b, depth + 1)?);
                Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))
            }
            (Op::Neg, &[a]) => {
                let a = self.of(a, depth + 1)?;
                Some((a.1.checked_neg()?, a.0.checked_neg()?))
            }
            (Op::Mul, &[a, b]) => product(self.of(a, depth + 1)?, self.of(b, depth + 1)?),
            (Op::Sext(_) | Op::Trunc(_), &[a]) => self.of(a, depth + 1),
            (Op::Zext(_), &[a]) => {
                let inner = self.pool.sort(a).bits().filter(|w| *w <= 120)?;
                Some(self.of(a, depth + 1).filter(|a| a.0 >= 0).unwrap_or((0, (1i128 << inner) - 1)))
            }
            (Op::BitAnd, &[a, b]) => {
                let (a, b) = (self.of(a, depth + 1)?, self.of(b, depth + 1)?);
                // A mask without a sign bit bounds the result.
                let limit = [a, b].iter().filter(|r| r.0 >= 0).map(|r| r.1).min()?;
                Some((0, limit))
            }
            (Op::SDiv, &[a, b]) => {
                let by = self.pool.as_const(b)?.signed().filter(|n| *n > 0)?;
                let a = self.of(a, depth + 1)?;
                Some((a.0 / by, a.1 / by))
            }
            (Op::SRem, &[a, b]) => {
                let by = self.pool.as_const(b)?.signed()?.checked_abs().filter(|n| *n > 0)?;
                let a = self.of(a, depth + 1)?;
                Some(((1 - by).max(a.0.min(0)), (by - 1).min(a.1.max(0))))
            }
            (Op::Shl, &[a, b]) => {
                let by = self.pool.as_const(b)?.unsigned().filter(|k| *k < u128::from(width).min(62))?;
                product(self.of(a, depth + 1)?, (1 << by, 1 << by))
            }
            (Op::AShr, &[a, b]) => {
                let by = self.pool.as_const(b)?.unsigned().filter(|k| *k < u128::from(width))? as u32;
                let a = self.of(a, depth + 1)?;
                Some((a.0 >> by, a.1 >> by))
            }
            _ => None,
        }
    }
}

fn product(a: Range, b: Range) -> Option<Range> {
    let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let products: Vec<i128> = ends.iter().map(|(x, y)| x.checked_mul(*y)).collect::<Option<_>>()?;
    Some((*products.iter().min()?, *products.iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Input};
    use invdiff_ir::Leaf;

    #[test]
    fn words_that_may_wrap_have_the_bounds_of_their_type() {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(8) });
        let mut counter = Counter::new(Domain { inputs: vec![Input::even(x, (-10, 9))] });
        let square = pool.op(Op::Mul, &[x, x]);
        assert_eq!(counter.bounds(&pool, square), Some((-90, 100)));
        let two = pool.bv(8, 2);
        let more = pool.op(Op::Mul, &[square, two]);
        assert_eq!(counter.bounds(&pool, more), Some((-128, 127)));
    }
}
