//! Quotients and remainders as inputs of their own.
//!
//! For a linear value `l` and a number `n` there is exactly one `q` and one `r` with `l = n * q + r` and `0 <= r < n`.
//! So a condition over `l / n`, `l % n`, shifts and masks of constants, and over a word that wraps, is linear over
//! more inputs, and as many points of these meet it. The method is that of quantifier elimination in Presburger
//! arithmetic.

use crate::formula::{Builder, Cases, Formula, Linear, conjunction};
use crate::lattice::Range;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Runs of equal bits in a mask.
const MAX_RUNS: usize = 6;
/// Quotients of one pool.
const MAX_PAIRS: usize = 100_000;
/// Quotients and remainders of one count: more are too many dimensions.
const MAX_USED: usize = 16;
/// Largest numbers of which quotients are taken: more than those of words of 64 bits times one another.
const LARGEST: i128 = 1 << 100;

/// What is defined: input `first` is a quotient, the one behind it the remainder.
struct Pair {
    of: Linear,
    by: i128,
    first: usize,
}

/// All quotients that were taken.
#[derive(Default)]
pub(crate) struct Quotients {
    pairs: Vec<Pair>,
    known: FxHashMap<(Linear, i128), usize>,
    /// Ranges of quotients and remainders; the inputs of the domain come before them.
    pub ranges: Vec<Range>,
}

impl Quotients {
    /// Adds what defines the quotients and remainders that are used, and those that these use, and gives all of them.
    /// `inputs`: of the domain. `None`: they are too many.
    pub fn define(&self, inputs: usize, formulas: &mut Vec<Formula>) -> Option<BTreeSet<usize>> {
        let (mut open, mut used) = (BTreeSet::new(), BTreeSet::new());
        formulas.iter().for_each(|f| f.inputs(&mut open));
        // A pair uses earlier ones alone.
        while let Some(i) = open.pop_last().filter(|i| *i >= inputs) {
            let pair = self.pairs.get((i - inputs) / 2)?;
            open.remove(&pair.first);
            open.extend(pair.of.terms.iter().map(|(i, _)| *i));
            used.extend([pair.first, pair.first + 1]);
            if used.len() > MAX_USED {
                return None;
            }
            let sum = Linear { terms: vec![(pair.first, pair.by), (pair.first + 1, 1)], constant: 0 };
            let rest = pair.of.plus(-1, &sum)?;
            formulas.push(Formula::AtMost(Linear::constant(0).plus(-1, &rest)?));
            formulas.push(Formula::AtMost(rest));
        }
        Some(used)
    }
}

impl Builder<'_> {
    /// The quotient and the remainder, rounded down; `None` where the builder has none.
    fn parts_of(&mut self, l: &Linear, by: i128) -> Option<(Linear, Linear)> {
        let (low, high) = l.range(&self.ranges)?;
        let is_large = [by, low, high].iter().any(|n| !(-LARGEST..=LARGEST).contains(n));
        if by < 1 || is_large || !self.has_quotients() {
            return None;
        }
        let (low, high) = (low.div_euclid(by), high.div_euclid(by));
        if low == high {
            return Some((Linear::constant(low), l.plus(by.checked_neg()?, &Linear::constant(low))?));
        }
        let is_whole = |c: &i128| c % by == 0;
        let whole: Vec<(usize, i128)> =
            l.terms.iter().filter(|(_, c)| is_whole(c)).map(|(i, c)| (*i, c / by)).collect();
        if !whole.is_empty() {
            let whole = Linear { terms: whole, constant: 0 };
            let (q, r) = self.parts_of(&l.plus(by.checked_neg()?, &whole)?, by)?;
            return Some((whole.plus(1, &q)?, r));
        }
        let first = self.pair(l, by, (low, high))?;
        Some((Linear::input(first), Linear::input(first + 1)))
    }

    fn pair(&mut self, l: &Linear, by: i128, range: Range) -> Option<usize> {
        let first = self.ranges.len();
        let quotients = self.quotients()?;
        let key = (l.clone(), by);
        if let Some(known) = quotients.known.get(&key) {
            return Some(*known);
        }
        if quotients.pairs.len() >= MAX_PAIRS {
            return None;
        }
        let ranges = [range, (0, by - 1)];
        quotients.pairs.push(Pair { of: l.clone(), by, first });
        quotients.known.insert(key, first);
        quotients.ranges.extend(ranges);
        self.ranges.extend(ranges);
        Some(first)
    }

    /// Quotients that are rounded down.
    pub fn shifted(&mut self, cases: Cases, by: u32) -> Option<Cases> {
        let by = 1i128.checked_shl(by)?;
        cases.into_iter().map(|(g, l)| Some((g, self.parts_of(&l, by)?.0))).collect()
    }

    /// Quotients, or remainders, as C has them: rounded to zero.
    pub fn divided(&mut self, cases: Cases, by: i128, is_rest: bool) -> Option<Cases> {
        let mut all = Vec::new();
        for (guard, l) in cases {
            let (low, high) = l.range(&self.ranges)?;
            let pick = |(q, r): (Linear, Linear)| if is_rest { r } else { q };
            let not_below = Formula::AtMost(Linear::constant(0).plus(-1, &l)?);
            if low < 0 {
                let turned = Linear::constant(0).plus(-1, &l)?;
                let value = pick(self.parts_of(&turned, by)?);
                let guard = if high < 0 { guard.clone() } else { conjunction(&guard, &not_below.not()?) };
                all.push((guard, Linear::constant(0).plus(-1, &value)?));
            }
            if high >= 0 {
                let value = pick(self.parts_of(&l, by)?);
                all.push((if low >= 0 { guard } else { conjunction(&guard, &not_below) }, value));
            }
        }
        Some(all)
    }

    /// The bits of a value that a mask has, and the others. The mask is a signed number: its last run of equal bits goes
    /// on without end, as that of the value does.
    fn bits(&mut self, l: &Linear, mask: i128) -> Option<(Linear, Linear)> {
        let (mut inside, mut outside) = (Linear::constant(0), Linear::constant(0));
        let (mut rest, mut mask, mut place) = (l.clone(), mask, 0u32);
        for _ in 0..MAX_RUNS {
            let is_in = mask & 1 == 1;
            let to = if is_in { &mut inside } else { &mut outside };
            let factor = 1i128.checked_shl(place)?;
            let run = if is_in { mask.trailing_ones() } else { mask.trailing_zeros() };
            if mask == 0 || mask == -1 {
                *to = to.plus(factor, &rest)?;
                return Some((inside, outside));
            }
            let (q, r) = self.parts_of(&rest, 1i128.checked_shl(run)?)?;
            *to = to.plus(factor, &r)?;
            (rest, mask, place) = (q, mask >> run, place + run);
        }
        None
    }

    /// The bits of values that a mask has.
    pub fn masked(&mut self, cases: Cases, mask: i128) -> Option<Cases> {
        cases.into_iter().map(|(g, l)| Some((g, self.bits(&l, mask)?.0))).collect()
    }

    /// Values with the bits of a mask turned around.
    pub fn flipped(&mut self, cases: Cases, mask: i128) -> Option<Cases> {
        let mut one = |(g, l): (Formula, Linear)| {
            let (inside, outside) = self.bits(&l, mask)?;
            Some((g, outside.plus(1, &Linear::constant(mask))?.plus(-1, &inside)?))
        };
        cases.into_iter().map(&mut one).collect()
    }

    /// Values as a word of some bits has them: as they are where they fit.
    pub fn wrapped(&mut self, cases: Cases, width: u16) -> Option<Cases> {
        let half = 1i128.checked_shl(u32::from(width).checked_sub(1)?).filter(|_| width <= 64)?;
        let mut one = |(g, l): (Formula, Linear)| {
            let (low, high) = l.range(&self.ranges)?;
            if low >= -half && high < half {
                return Some((g, l));
            }
            let rest = self.parts_of(&l.plus(half, &Linear::constant(1))?, 2 * half)?.1;
            Some((g, rest.plus(-half, &Linear::constant(1))?))
        };
        cases.into_iter().map(&mut one).collect()
    }
}
