//! Integer points of polytopes of any dimension, exactly: Barvinok's algorithm.
//!
//! The points of a polytope are, as a generating function, the sum of the points of the cones at its vertices
//! (Brion). A cone is the signed sum of *unimodular* ones, whose generators span all integers, up to cones that hold
//! a line, which count for nothing (Barvinok, Mathematics of Operations Research, 1994). The decomposition is made
//! of the dual cone, which the half-spaces' normals generate (Brion; LattE, Journal of Symbolic Computation, 2004).
//! The sum at 1 is the constant term of its series in one variable, taken over the remainders of a prime: a rational
//! identity, whose value is whole and below the product of the primes.

use crate::lattice::{Range, width};
use crate::matrix::{Matrix, dot, gcd, inverse, shorten};
use crate::modular::Residues;
use crate::vertices::{Half, PARTS, Polytope, Vertex};

/// Choices of the bits by which half-spaces are moved; one that makes a vertex of too many half-spaces is rare.
const TRIES: u64 = 4;

/// Two primes; their product is more than `2^124`.
const PRIMES: [u64; 2] = [(1 << 62) - 57, (1 << 63) - 25];

/// Counts the integers of a box that meet some half-spaces. `None`: numbers are too large, or `work` does not suffice.
pub(crate) fn points(ranges: &[Range], halves: &[Half], work: &mut u64) -> Option<i128> {
    let size = ranges.iter().try_fold(1i128, |all, r| all.checked_mul(width(*r)?))?;
    if size == 0 {
        return Some(0);
    }
    if size >= 1 << 120 {
        return None;
    }
    let n = ranges.len();
    let unit = |i: usize, sign: i128| (0..n).map(|j| if i == j { sign } else { 0 }).collect::<Vec<i128>>();
    let mut all: Vec<Half> =
        ranges.iter().enumerate().map(|(i, r)| Half { a: unit(i, -1), b: -r.0 }).collect();
    all.extend(ranges.iter().enumerate().map(|(i, r)| Half { a: unit(i, 1), b: r.1 }));
    all.extend(halves.iter().cloned());
    let mut spend = |cost: u64| {
        *work = work.checked_sub(cost)?;
        Some(())
    };
    for seed in 0..TRIES {
        let polytope = Polytope::new(&all, n, seed)?;
        if let Some(vertices) = polytope.vertices(&mut spend) {
            let primes = if size < i128::from(PRIMES[0]) { &PRIMES[..1] } else { &PRIMES[..] };
            let mut sum =
                Sum { residues: primes.iter().map(|p| Residues::new(*p, n)).collect(), spend: &mut spend };
            for v in &vertices {
                let rows = v.tight.iter().map(|t| all[*t].a.clone()).collect();
                sum.cone(v, rows, 1)?;
            }
            return sum.total().filter(|count| *count <= size);
        }
    }
    None
}

/// The sum of the generating functions of cones.
struct Sum<'a> {
    residues: Vec<Residues>,
    spend: &'a mut dyn FnMut(u64) -> Option<()>,
}

impl Sum<'_> {
    /// Adds the cone at a vertex whose dual cone has some generators, `sign` times.
    fn cone(&mut self, v: &Vertex, rows: Matrix, sign: i128) -> Option<()> {
        (self.spend)((rows.len() * rows.len()) as u64)?;
        let (inverse, index) = inverse(&rows)?;
        if index == 1 {
            let scale = v.det.checked_mul(PARTS)?;
            let sides: Vec<i128> =
                rows.iter().map(|row| Some(dot(row, &v.at)?.div_euclid(scale))).collect::<Option<_>>()?;
            return self.residues.iter_mut().try_for_each(|r| r.add(&inverse, &sides, sign));
        }
        let part = splitter(inverse, index)?;
        // The generator that these shares of the others make.
        let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<_>>();
        let made: Vec<i128> =
            (0..rows.len()).map(|j| Some(dot(&part, &column(j))? / index)).collect::<Option<_>>()?;
        let content = gcd(made.iter().copied())?.max(1);
        let made: Vec<i128> = made.iter().map(|x| x / content).collect();
        for (i, share) in part.iter().enumerate().filter(|(_, share)| **share != 0) {
            let mut other = rows.clone();
            other[i].clone_from(&made);
            self.cone(v, other, sign * share.signum())?;
        }
        Some(())
    }

    /// The number that leaves the remainders.
    fn total(&self) -> Option<i128> {
        let mut all = 0i128;
        let mut product = 1i128;
        for r in &self.residues {
            let more = r.quotient(r.value()?, all, product)?;
            all = all.checked_add(product.checked_mul(i128::from(more))?)?;
            product = product.checked_mul(i128::from(r.prime()))?;
        }
        Some(all)
    }
}

/// Shares of generators, in parts of the index, that make an integer vector; all are less than the index, and at least
/// one is above 0. `lattice`: all such shares are sums of its rows.
fn splitter(mut lattice: Matrix, index: i128) -> Option<Vec<i128>> {
    shorten(&mut lattice)?;
    let largest = |row: &Vec<i128>| row.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
    // A whole generator more or less is an integer vector, too: of each share, at most half is left.
    let nearest = |x: &i128| {
        let rest = x.rem_euclid(index);
        if rest > index / 2 { rest - index } else { rest }
    };
    let less = lattice.iter().map(|row| row.iter().map(nearest).collect::<Vec<i128>>());
    let best = less.filter(|row| row.iter().any(|x| *x != 0)).min_by_key(largest)?;
    match best.iter().any(|x| *x > 0) {
        true => Some(best),
        false => Some(best.iter().map(|x| -x).collect()),
    }
}
