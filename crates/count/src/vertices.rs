//! The vertices of a bounded polytope, by its edges.
//!
//! A *half-space* is `a * x <= b`. Of a polytope whose integer points are asked for, each half-space with
//! integer numbers may be moved out by less than 1: the same integers meet it. So every half-space is moved by a
//! random bit less than 1, and then the polytope is empty or has an inside, and no vertex lies on more half-spaces
//! than there are dimensions. The first vertex is found by the simplex method, one half-space after the other.

use crate::matrix::{Matrix, dot, inverse};
use crate::random::Random;
use rustc_hash::FxHashSet;

/// `a * x <= b`, with integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Half {
    pub a: Vec<i128>,
    pub b: i128,
}

/// Parts of 1 by which a half-space is moved.
pub(crate) const PARTS: i128 = 1 << 16;

/// A bounded polytope. The first half-spaces are the lower ends of a box, then its upper ends, then any.
pub(crate) struct Polytope<'a> {
    halves: &'a [Half],
    dimensions: usize,
    /// The right sides after they were moved, in parts.
    sides: Vec<i128>,
}

/// A vertex. Its coordinates are `at / (det * PARTS)`.
pub(crate) struct Vertex {
    /// The half-spaces that it lies on, ascending.
    pub tight: Vec<usize>,
    pub det: i128,
    pub at: Vec<i128>,
    /// The inverse of the tight half-spaces' `a`, times `det`.
    inverse: Matrix,
}

impl Polytope<'_> {
    /// The half-spaces of a box come first; `None`: numbers are too large.
    pub fn new(halves: &[Half], dimensions: usize, seed: u64) -> Option<Polytope<'_>> {
        let mut random = Random::new(seed);
        let moved = |h: &Half| h.b.checked_mul(PARTS)?.checked_add(random.within((1, PARTS - 1)));
        let sides = halves.iter().map(moved).collect::<Option<_>>()?;
        Some(Polytope { halves, dimensions, sides })
    }

    /// All vertices; `None`: the bit by which half-spaces are moved was badly chosen, numbers are too large, or
    /// `spend`, which is told the cost of each, gave up.
    pub fn vertices(&self, spend: &mut dyn FnMut(u64) -> Option<()>) -> Option<Vec<Vertex>> {
        let cost = (self.halves.len() * self.dimensions) as u64 + 1;
        let Some(first) = self.first(&mut || spend(cost))? else { return Some(Vec::new()) };
        let mut seen = FxHashSet::from_iter([first.tight.clone()]);
        let (mut open, mut found) = (vec![first], Vec::new());
        while let Some(v) = open.pop() {
            spend(cost)?;
            for k in 0..self.dimensions {
                let next = self.along(&v, k, self.halves.len())?;
                if seen.insert(next.clone()) {
                    open.push(self.vertex(next)?);
                }
            }
            found.push(v);
        }
        Some(found)
    }

    /// Some vertex; inside `None`: the polytope is empty.
    fn first(&self, spend: &mut dyn FnMut() -> Option<()>) -> Option<Option<Vertex>> {
        let mut v = self.vertex((0..self.dimensions).collect())?;
        for j in 2 * self.dimensions..self.halves.len() {
            // A vertex for the half-spaces before becomes one within this half-space, too.
            while self.slack(&v, j)? < 0 {
                spend()?;
                let mut nearer = None;
                for k in 0..self.dimensions {
                    if self.rate(&v, j, k)? < 0 {
                        nearer = Some(k);
                        break;
                    }
                }
                let Some(k) = nearer else { return Some(None) };
                v = self.vertex(self.along(&v, k, j)?)?;
            }
        }
        Some(Some(v))
    }

    fn vertex(&self, tight: Vec<usize>) -> Option<Vertex> {
        let rows: Matrix = tight.iter().map(|t| self.halves[*t].a.clone()).collect();
        let (inverse, det) = inverse(&rows)?;
        let sides: Vec<i128> = tight.iter().map(|t| self.sides[*t]).collect();
        let at = inverse.iter().map(|row| dot(row, &sides)).collect::<Option<_>>()?;
        (det != 0).then_some(Vertex { tight, det, at, inverse })
    }

    /// How far a vertex is within a half-space.
    fn slack(&self, v: &Vertex, j: usize) -> Option<i128> {
        self.sides[j].checked_mul(v.det)?.checked_sub(dot(&self.halves[j].a, &v.at)?)
    }

    /// How fast one comes out of half-space `j` on the edge that leaves the `k`th tight one.
    fn rate(&self, v: &Vertex, j: usize, k: usize) -> Option<i128> {
        let ray = v.inverse.iter().map(|row| row[k]);
        let terms = self.halves[j].a.iter().zip(ray);
        terms.into_iter().try_fold(0i128, |sum, (a, r)| sum.checked_sub(a.checked_mul(r)?))
    }

    /// The half-spaces of the vertex at the other end of the edge that leaves the `k`th tight half-space, of the
    /// polytope of the first `n`; `None` also where the end is on more of them.
    fn along(&self, v: &Vertex, k: usize, n: usize) -> Option<Vec<usize>> {
        let mut nearest: Option<(i128, i128, usize)> = None;
        for j in (0..n).filter(|j| !v.tight.contains(j)) {
            let rate = self.rate(v, j, k)?;
            if rate <= 0 {
                continue;
            }
            let slack = self.slack(v, j)?;
            let is_nearer = match nearest {
                None => true,
                Some((s, r, _)) => {
                    let (mine, best) = (slack.checked_mul(r)?, s.checked_mul(rate)?);
                    if mine == best {
                        return None;
                    }
                    mine < best
                }
            };
            nearest = if is_nearer { Some((slack, rate, j)) } else { nearest };
        }
        let mut tight = v.tight.clone();
        tight[k] = nearest?.2;
        tight.sort_unstable();
        Some(tight)
    }
}
