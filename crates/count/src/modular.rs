//! The sum of the generating functions of unimodular cones at 1, over the remainders of a prime.
//!
//! A cone with apex `p` and generators `u_k` has the function `x^p / prod(1 - x^u_k)`. With `x = e^(t * z)` for
//! numbers `z`, it is a series in `t`, whose constant term is a polynomial in `z * p` and `z * u_k`, with coefficients
//! of Bernoulli, over the product of the `z * u_k` (Barvinok and Pommersheim, 1999).

use crate::matrix::Matrix;
use crate::random::Random;

/// A sum of fractions.
pub(crate) struct Residues {
    prime: u64,
    /// The numbers `z`.
    weights: Vec<u64>,
    /// `1 / n!`.
    exponential: Vec<u64>,
    /// The coefficients of `t / (e^t - 1)`.
    bernoulli: Vec<u64>,
    numerator: u64,
    denominator: u64,
}

impl Residues {
    /// Nothing, in some dimensions. The prime is larger than these, and below `2^63`.
    pub fn new(prime: u64, dimensions: usize) -> Residues {
        let mut random = Random::new(prime);
        let weights = (0..dimensions).map(|_| 1 + random.below(u128::from(prime - 1)) as u64).collect();
        let mut sum = Residues {
            prime,
            weights,
            exponential: vec![1],
            bernoulli: Vec::new(),
            numerator: 0,
            denominator: 1,
        };
        for n in 1..=dimensions as u64 + 1 {
            let before = sum.exponential.last().copied().unwrap_or(1);
            sum.exponential.push(sum.times(before, sum.inverse(n)));
        }
        // Its product with `(e^t - 1) / t` is 1.
        for n in 0..=dimensions {
            let known = (0..n)
                .fold(0, |all, k| sum.plus(all, sum.times(sum.bernoulli[k], sum.exponential[n - k + 1])));
            sum.bernoulli.push(sum.minus(u64::from(n == 0), known));
        }
        sum
    }

    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// Adds a cone `sign` times: the points `x` with `B * x <= sides`, where `inverse` is that of `B`. `None`: the
    /// numbers `z` do not fit this cone.
    pub fn add(&mut self, inverse: &Matrix, sides: &[i128], sign: i128) -> Option<()> {
        let n = self.weights.len();
        // The generators are the inverse's columns, turned around.
        let column = |k: usize| {
            let rows = inverse.iter().zip(&self.weights);
            rows.fold(0, |all, (row, z)| self.plus(all, self.times(self.residue(row[k]), *z)))
        };
        let columns: Vec<u64> = (0..n).map(column).collect();
        let apex =
            columns.iter().zip(sides).fold(0, |all, (c, s)| self.plus(all, self.times(*c, self.residue(*s))));
        let mut series = self.series(apex, &self.exponential);
        let mut bottom = 1;
        for c in &columns {
            let generator = self.minus(0, *c);
            series = self.product(&series, &self.series(generator, &self.bernoulli));
            // Each factor is turned around, too: the signs of 1 - e^t and of the generators cancel.
            bottom = self.times(bottom, *c);
        }
        let top = if sign < 0 { self.minus(0, series[n]) } else { series[n] };
        self.numerator = self.plus(self.times(self.numerator, bottom), self.times(top, self.denominator));
        self.denominator = self.times(self.denominator, bottom);
        (bottom != 0).then_some(())
    }

    /// The remainder of the sum.
    pub fn value(&self) -> Option<u64> {
        (self.denominator != 0).then(|| self.times(self.numerator, self.inverse(self.denominator)))
    }

    /// The `q` below the prime for which `start + q * step` leaves a remainder; `None`: there is none.
    pub fn quotient(&self, remainder: u64, start: i128, step: i128) -> Option<u64> {
        let step = Some(self.residue(step)).filter(|s| *s != 0)?;
        Some(self.times(self.minus(remainder, self.residue(start)), self.inverse(step)))
    }

    /// The first coefficients of a series at `a * t`.
    fn series(&self, a: u64, coefficients: &[u64]) -> Vec<u64> {
        let mut power = 1;
        let mut term = |c: &u64| {
            let this = self.times(*c, power);
            power = self.times(power, a);
            this
        };
        coefficients.iter().take(self.weights.len() + 1).map(&mut term).collect()
    }

    fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let at = |n: usize| (0..=n).fold(0, |all, k| self.plus(all, self.times(a[k], b[n - k])));
        (0..a.len()).map(at).collect()
    }

    fn residue(&self, n: i128) -> u64 {
        n.rem_euclid(i128::from(self.prime)) as u64
    }

    fn plus(&self, a: u64, b: u64) -> u64 {
        (a + b) % self.prime
    }

    fn minus(&self, a: u64, b: u64) -> u64 {
        self.plus(a, self.prime - b)
    }

    fn times(&self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.prime)) as u64
    }

    /// By Fermat's little theorem.
    fn inverse(&self, a: u64) -> u64 {
        let (mut result, mut square, mut power) = (1, a, self.prime - 2);
        while power > 0 {
            if power % 2 == 1 {
                result = self.times(result, square);
            }
            square = self.times(square, square);
            power /= 2;
        }
        result
    }
}
