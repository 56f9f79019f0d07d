//! How many inputs of a bounded domain meet some conditions.
//!
//! A domain is a box: a range of integers for each input. Conditions are terms over these inputs, with
//! the meaning of machine words. [`count`] gives the exact number or none:
//!
//! - `formula`: conditions become linear inequalities over integers where bounds prove that nothing
//!   wraps on the domain, with `ite` split into cases; what is not linear is evaluated bit by bit.
//! - `quotients`: division, masks, shifts and words that wrap, as linear inequalities over more inputs.
//! - `bits`: what is bitwise over more than one input, read bit by bit.
//! - `floats`: floats as inputs, by numbers in their order; `monotone`: comparisons of what one of them grows or falls
//!   with, as ranges of these numbers.
//! - `bounds`: what a term can be at most and at least.
//! - `solve`: ranges are narrowed, conditions without common inputs are counted apart and multiplied,
//!   alternatives are made disjoint and added, what is linear is counted whole, what is left is cut into slices and
//!   evaluated (`tables`).
//! - `polytope`: linear inequalities. `lattice` has the closed form for two inputs, `cones` what holds for any number,
//!   with `vertices`, `matrix` and `modular`.
//! - `boxes`: weighted sums of boxes, for distributions of several inputs at once.
//! - `points`: all inputs of a small domain, one by one, for many conditions at once.
//! - `estimate`: a seeded sample with an interval, for what is too large.
//!
//! The work is counted, never timed. Method: Filieri, Pasareanu and Yang count path conditions by
//! Barvinok's algorithm ("Quantification of software changes through probabilistic symbolic
//! execution", ASE 2015).

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

mod bits;
mod bounds;
mod boxes;
mod cones;
mod estimate;
mod floats;
mod formula;
mod lattice;
mod matrix;
mod modular;
mod monotone;
mod points;
mod polytope;
mod quotients;
mod random;
mod solve;
mod tables;
mod vertices;

pub use boxes::Weighted;
pub use estimate::{Estimate, sample, wilson};
pub use floats::{Decimal, Interval, NoFloats, Values};
pub use lattice::{Range, floor_sum, width};
pub use solve::{Count, Counter, Questions, count};

use invdiff_ir::{Const, TermId, TermPool};

/// Most bits of the size of a domain: sums of counts stay within 128 bits.
const MAX_BITS: u32 = 120;

/// The inputs with their ranges.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    pub inputs: Vec<Input>,
}

/// An input that is free: a bit-vector, a truth value or a float.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub term: TermId,
    /// Values, not bits: an unsigned one goes up to `2^width - 1`. Of a float, the numbers of its values.
    pub range: Range,
    pub values: Values,
    /// How often each value counts, by ranges that do not overlap; 0 outside of them. Empty: each once.
    pub weights: Vec<(Range, i128)>,
}

impl Input {
    /// An input of which each value counts once.
    pub fn even(term: TermId, range: Range) -> Input {
        Input { term, range, values: Values::Own, weights: Vec::new() }
    }

    /// What the values of a range count; `None`: too much.
    pub(crate) fn mass(&self, range: Range) -> Option<i128> {
        if self.weights.is_empty() {
            return width(range);
        }
        let part = |((low, high), weight): &(Range, i128)| {
            width((range.0.max(*low), range.1.min(*high)))?.checked_mul(*weight)
        };
        self.weights.iter().try_fold(0i128, |all, piece| all.checked_add(part(piece)?))
    }

    /// The ranges of equal weight within a range, with their weights.
    pub(crate) fn pieces(&self, range: Range) -> Vec<(Range, i128)> {
        if self.weights.is_empty() {
            return vec![(range, 1)];
        }
        let cut = |((low, high), weight): &(Range, i128)| ((range.0.max(*low), range.1.min(*high)), *weight);
        self.weights.iter().map(cut).filter(|((low, high), weight)| low <= high && *weight != 0).collect()
    }
}

impl Domain {
    /// How many inputs there are, by their weights; `None` for more than `2^120`.
    pub fn size(&self) -> Option<i128> {
        let widths = self.inputs.iter().map(|i| i.mass(i.range));
        let size = widths.into_iter().try_fold(1i128, |all, w| all.checked_mul(w?))?;
        (size < 1 << MAX_BITS).then_some(size)
    }

    /// Whether a value for each input is in the domain, and counts.
    pub fn has(&self, values: &[i128]) -> bool {
        let counts = |(input, value): (&Input, &i128)| {
            let is_within = input.range.0 <= *value && *value <= input.range.1;
            is_within && input.mass((*value, *value)).is_some_and(|n| n > 0)
        };
        values.len() == self.inputs.len() && self.inputs.iter().zip(values).all(counts)
    }

    fn position(&self, term: TermId) -> Option<usize> {
        self.inputs.iter().position(|i| i.term == term)
    }

    /// A number as the constant that the input takes.
    pub fn constant(&self, pool: &TermPool, input: usize, value: i128) -> Option<Const> {
        let input = self.inputs.get(input)?;
        input.values.constant(pool.sort(input.term), value)
    }
}
