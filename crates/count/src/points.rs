//! All inputs of a small domain, one after another, with what conditions come to.
//!
//! Paths part a domain. Where it has few inputs, to run each of them through the tree of the paths costs less than to
//! count the inputs of each path, and it does not matter what the conditions are made of.

use crate::boxes::Weighted;
use crate::lattice::{Range, width};
use crate::{Counter, Domain};
use invdiff_ir::eval::Changing;
use invdiff_ir::{Sort, TermId, TermPool};

/// Most inputs that are gone through.
const MOST_POINTS: i128 = 1 << 20;
/// So many terms are evaluated for one unit of work.
const TERMS: u64 = 32;

impl Counter {
    /// Whether the domain has few enough inputs to go through all of them.
    pub fn is_small(&self) -> bool {
        let all = self.parts().iter().try_fold(0i128, |all, b| all.checked_add(points(&b.ranges)?));
        all.is_some_and(|n| n <= MOST_POINTS)
    }

    /// All inputs of a small domain; `None`: it is large.
    pub fn points(&self, pool: &TermPool) -> Option<Points> {
        let inputs: Vec<TermId> = self.domain.inputs.iter().map(|i| i.term).collect();
        let sorts = inputs.iter().map(|t| pool.sort(*t)).collect();
        let (domain, at) = (self.domain.clone(), vec![(0, 0); inputs.len()]);
        let terms = Changing::new(&inputs);
        self.is_small().then(|| Points { domain, sorts, parts: self.parts(), terms, at })
    }

    /// What is counted: all of the domain once, or its boxes.
    fn parts(&self) -> Vec<Weighted> {
        let whole = || Weighted { ranges: self.domain.inputs.iter().map(|i| i.range).collect(), weight: 1 };
        if self.boxes.is_empty() { vec![whole()] } else { self.boxes.clone() }
    }
}

/// How many points a box has; `None`: too many.
fn points(ranges: &[Range]) -> Option<i128> {
    ranges.iter().try_fold(1i128, |all, r| all.checked_mul(width(*r)?))
}

/// A walk through all inputs.
pub struct Points {
    domain: Domain,
    sorts: Vec<Sort>,
    parts: Vec<Weighted>,
    /// The value of each input, and what the values up to it count.
    at: Vec<(i128, i128)>,
    /// What conditions come to.
    pub terms: Changing,
}

impl Points {
    /// Calls `visit` for each input that counts, with how often it does, and the conditions for it; an input may come
    /// more than once, and counts each time. `None`: the work is used up (one unit for an input, more for terms), or
    /// `visit` says so.
    pub fn each(
        &mut self,
        work: &mut u64,
        visit: &mut dyn FnMut(i128, &mut Changing) -> Option<()>,
    ) -> Option<()> {
        for part in std::mem::take(&mut self.parts) {
            let mut first = part.has_points().then_some(0);
            let mut is_new = true;
            while let Some(k) = first {
                let before = self.terms.steps();
                let weight = self.set(&part, k, std::mem::take(&mut is_new))?;
                if weight != 0 {
                    visit(weight, &mut self.terms)?;
                }
                *work = work.checked_sub(1 + (self.terms.steps() - before) / TERMS)?;
                first = self.at.iter().zip(&part.ranges).rposition(|((value, _), (_, high))| value < high);
            }
        }
        Some(())
    }

    /// Increases the value of one input, or begins with it, and begins with those behind it. How often the inputs
    /// count; `None`: too often.
    fn set(&mut self, part: &Weighted, first: usize, is_new: bool) -> Option<i128> {
        let before = first.checked_sub(1).and_then(|k| self.at.get(k));
        let mut weight = before.map_or(part.weight, |(_, weight)| *weight);
        let inputs =
            self.domain.inputs.iter().zip(&self.sorts).zip(&part.ranges).zip(&mut self.at).enumerate();
        for (k, (((input, sort), (low, _)), (value, so_far))) in inputs.skip(first) {
            *value = if k == first && !is_new { *value + 1 } else { *low };
            weight = weight.checked_mul(input.mass((*value, *value))?)?;
            *so_far = weight;
            self.terms.set(k, input.values.constant(*sort, *value)?);
        }
        Some(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Input};
    use invdiff_ir::{Leaf, Op};

    fn word(pool: &mut TermPool, name: &str) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) })
    }

    /// How many inputs meet a condition, gone through one by one.
    fn counted(counter: &Counter, pool: &TermPool, t: TermId) -> Option<i128> {
        let (mut all, mut points) = (0, counter.points(pool)?);
        points.terms.add(pool, &[t])?;
        points.each(&mut 100_000_000, &mut |weight, terms| {
            all += if terms.holds(pool, t)? { weight } else { 0 };
            Some(())
        })?;
        Some(all)
    }

    #[test]
    fn each_input_counts_as_it_is_weighed() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|n| word(&mut pool, n));
        let product = pool.op(Op::Mul, &[x, y]);
        let least = pool.bv(32, 6);
        let holds = pool.op(Op::Slt, &[least, product]);
        let mut first = Input::even(x, (-4, 9));
        first.weights = vec![((-4, -1), 2), ((2, 2), 0), ((3, 9), 5)];
        let domain = Domain { inputs: vec![first, Input::even(y, (-3, 11))] };
        let boxes = vec![
            Weighted { ranges: vec![(-4, 3), (0, 11)], weight: 3 },
            Weighted { ranges: vec![(2, 9), (-3, 5)], weight: 1 },
            Weighted { ranges: vec![(5, 5), (7, 6)], weight: 8 },
        ];
        for boxes in [Vec::new(), boxes] {
            let mut counter = Counter::weighted(domain.clone(), boxes);
            let truth = counter.count(&pool, &[holds], &mut 1_000_000);
            let found = counted(&counter, &pool, holds);
            assert!(
                found.is_some_and(|n| n > 0) && truth == Count::Exact(found.unwrap()),
                "{truth:?} {found:?}"
            );
            let truth = pool.bool(true);
            assert_eq!(counted(&counter, &pool, truth), counter.size());
        }
    }

    #[test]
    fn no_inputs_are_one_input_and_many_are_none() {
        let mut pool = TermPool::new();
        let (x, truth) = (word(&mut pool, "x"), pool.bool(true));
        let counter = |range| Counter::new(Domain { inputs: vec![Input::even(x, range)] });
        assert_eq!(counted(&Counter::new(Domain::default()), &pool, truth), Some(1));
        assert_eq!(counted(&counter((3, 2)), &pool, truth), Some(0));
        assert_eq!(counted(&counter((1, 1 << 20)), &pool, truth), Some(1 << 20));
        assert_eq!(counted(&counter((0, 1 << 20)), &pool, truth), None);

        let ten =
            |mut work: u64| counter((0, 9)).points(&pool).unwrap().each(&mut work, &mut |_, _| Some(()));
        assert_eq!((ten(9), ten(10)), (None, Some(())));
        let y = word(&mut pool, "y");
        let other = pool.eq(x, y);
        assert_eq!(counted(&counter((0, 9)), &pool, other), None);
    }
}
