//! A domain whose inputs do not all count alike: a sum of boxes, each with a weight.
//!
//! A joint distribution is a box for each of its rows, and so are samples: a box of one input each. What an input's
//! own weights say counts beside that.

use crate::lattice::Range;
use crate::{Counter, Domain, MAX_BITS};
use invdiff_ir::eval::Assignment;
use invdiff_ir::{TermId, TermPool};
use rustc_hash::FxHashMap;

/// A range for each input, and how often each of its values counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    pub ranges: Vec<Range>,
    pub weight: i128,
}

impl Weighted {
    pub(crate) fn has_points(&self) -> bool {
        self.ranges.iter().all(|(low, high)| low <= high)
    }

    /// How much it counts with what its inputs' own weights say; `None`: too much.
    pub fn mass(&self, domain: &Domain) -> Option<i128> {
        let parts = domain.inputs.iter().zip(&self.ranges);
        parts.into_iter().try_fold(self.weight, |all, (input, range)| all.checked_mul(input.mass(*range)?))
    }
}

/// How much a domain counts, or boxes of it; `None` for more than `2^120`.
pub(crate) fn size(domain: &Domain, boxes: &[Weighted]) -> Option<i128> {
    if boxes.is_empty() {
        return domain.size();
    }
    let size = boxes.iter().try_fold(0i128, |all, b| all.checked_add(b.mass(domain)?))?;
    (size < 1 << MAX_BITS).then_some(size)
}

/// Which boxes may have an input that meets a condition, a bit for each. Where there are many (samples), most are left
/// out of a path by what was found of its conditions on other paths.
#[derive(Default)]
pub(crate) struct Masks(FxHashMap<TermId, Vec<u64>>);

impl Masks {
    /// The boxes, by position, that may meet all conditions. `excludes` asks that of a condition and a box.
    pub fn left(
        &mut self,
        boxes: usize,
        conditions: &[TermId],
        mut excludes: impl FnMut(usize, usize) -> bool,
    ) -> Vec<usize> {
        let mut left = vec![u64::MAX; boxes.div_ceil(64)];
        for (c, condition) in conditions.iter().enumerate() {
            let mask = self.0.entry(*condition).or_insert_with(|| {
                let mut mask = vec![0u64; boxes.div_ceil(64)];
                for b in (0..boxes).filter(|b| !excludes(c, *b)) {
                    mask.get_mut(b / 64).into_iter().for_each(|word| *word |= 1 << (b % 64));
                }
                mask
            });
            left.iter_mut().zip(mask).for_each(|(word, own)| *word &= *own);
        }
        let is_left = |b: &usize| left.get(b / 64).is_some_and(|word| word >> (b % 64) & 1 == 1);
        (0..boxes).filter(is_left).collect()
    }
}

impl Counter {
    /// Counts over boxes of a domain; no boxes: over all of it.
    pub fn weighted(domain: Domain, boxes: Vec<Weighted>) -> Counter {
        let mut counter = Counter::new(domain);
        counter.boxes = boxes;
        counter
    }

    /// Inputs, each as likely as it counts.
    pub fn sample(&self, pool: &TermPool, seed: u64, n: u64) -> Vec<Assignment> {
        crate::sample(pool, &self.domain, &self.boxes, seed, n)
    }

    /// How much all inputs count; `None` for more than `2^120`.
    pub fn size(&self) -> Option<i128> {
        size(&self.domain, &self.boxes)
    }

    /// Whether an input counts.
    pub fn has(&self, values: &[i128]) -> bool {
        let is_in = |b: &Weighted| {
            b.weight > 0 && b.ranges.iter().zip(values).all(|((low, high), v)| low <= v && v <= high)
        };
        self.domain.has(values) && (self.boxes.is_empty() || self.boxes.iter().any(is_in))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Input};
    use invdiff_ir::{Leaf, Op, Sort, TermPool};

    #[test]
    fn boxes_add_up_by_their_weights() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|name| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) }));
        let domain = Domain { inputs: vec![Input::even(x, (0, 9)), Input::even(y, (-5, 9))] };
        let boxes = vec![
            Weighted { ranges: vec![(0, 4), (0, 3)], weight: 3 },
            Weighted { ranges: vec![(3, 9), (-5, 9)], weight: 2 },
            Weighted { ranges: vec![(7, 7), (-1, -1)], weight: 11 },
        ];
        let is_less = pool.op(Op::Slt, &[x, y]);
        let mut counter = Counter::weighted(domain, boxes.clone());
        let count = counter.count(&pool, &[is_less], &mut 1_000_000);
        let weigh = |x: i128, y: i128| -> i128 {
            let is_in = |b: &&Weighted| {
                let [(a, b), (c, d)] = b.ranges[..] else { panic!("two inputs") };
                a <= x && x <= b && c <= y && y <= d
            };
            boxes.iter().filter(is_in).map(|b| b.weight).sum()
        };
        let all: Vec<(i128, i128)> = (0..10).flat_map(|x| (-5..10).map(move |y| (x, y))).collect();
        let truth: i128 = all.iter().filter(|(x, y)| x < y).map(|(x, y)| weigh(*x, *y)).sum();
        assert_eq!(count, Count::Exact(truth));
        // Once more, with what is known of the condition, and another one.
        let zero = pool.bv(32, 0);
        let is_negative = pool.op(Op::Slt, &[y, zero]);
        let both = counter.count(&pool, &[is_negative, is_less], &mut 1_000_000);
        assert_eq!(both, Count::Exact(0));
        let is_over = pool.op(Op::Slt, &[zero, x]);
        let both = counter.count(&pool, &[is_over, is_less], &mut 1_000_000);
        let truth: i128 = all.iter().filter(|(x, y)| *x > 0 && x < y).map(|(x, y)| weigh(*x, *y)).sum();
        assert_eq!(both, Count::Exact(truth));
        assert_eq!(counter.size(), Some(all.iter().map(|(x, y)| weigh(*x, *y)).sum()));
        assert!(counter.has(&[7, -1]) && !counter.has(&[0, -1]));
    }
}
