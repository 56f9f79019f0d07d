//! Integer points of a box that meet linear inequalities: made simpler first, then counted by the closed form for two
//! dimensions (`lattice`) or by cones (`cones`).

use crate::lattice::{Range, Row, polygon, width};
use crate::matrix::gcd;
use crate::vertices::Half;
use crate::{cones, lattice};

/// What is counted; each of `halves` has a number for each range.
pub(crate) struct Polytope {
    pub ranges: Vec<Range>,
    pub halves: Vec<Half>,
}

impl Polytope {
    /// The number of points. `None`: numbers are too large, or `work` does not suffice.
    pub fn points(mut self, work: &mut u64) -> Option<i128> {
        let mut free = 1i128;
        loop {
            if !self.is_narrowed()? {
                return Some(0);
            }
            let before = self.ranges.len();
            free = free.checked_mul(self.without_free()?)?;
            if self.ranges.len() < before {
                continue;
            }
            let Some((i, equality)) = self.equality() else { break };
            self.eliminate(i, &equality)?;
        }
        let count = match *self.ranges.as_slice() {
            [] => 1,
            [one] => width(one)?,
            [x, y] => polygon(x, y, &self.rows()?)?,
            _ => cones::points(&self.ranges, &self.halves, work)?,
        };
        free.checked_mul(count)
    }

    /// Divides by common factors, and moves what is said of one input to its range. False: there are no points.
    fn is_narrowed(&mut self) -> Option<bool> {
        let mut kept: Vec<Half> = Vec::new();
        for h in &self.halves {
            let factor = gcd(h.a.iter().copied())?;
            if factor == 0 {
                if h.b < 0 {
                    return Some(false);
                }
                continue;
            }
            let h = Half { a: h.a.iter().map(|a| a / factor).collect(), b: h.b.div_euclid(factor) };
            let mut used = h.a.iter().enumerate().filter(|(_, a)| **a != 0);
            let (Some((i, a)), None) = (used.next(), used.next()) else {
                // Of those with the same normal, the tightest.
                match kept.iter_mut().find(|k| k.a == h.a) {
                    Some(k) => k.b = k.b.min(h.b),
                    None => kept.push(h),
                }
                continue;
            };
            let range = self.ranges.get_mut(i)?;
            match *a > 0 {
                true => range.1 = range.1.min(h.b),
                false => range.0 = range.0.max(h.b.checked_neg()?),
            }
        }
        self.halves = kept;
        Some(self.ranges.iter().all(|r| r.0 <= r.1))
    }

    /// Two half-spaces that make an equality, by which an input can be said as a whole sum of others.
    fn equality(&self) -> Option<(usize, Half)> {
        for (k, h) in self.halves.iter().enumerate() {
            let is_other = |o: &Half| {
                o.b.checked_neg() == Some(h.b)
                    && h.a.iter().zip(&o.a).all(|(x, y)| x.checked_neg() == Some(*y))
            };
            if let (Some(i), true) =
                (h.a.iter().position(|a| a.abs() == 1), self.halves[k + 1..].iter().any(is_other))
            {
                return Some((i, h.clone()));
            }
        }
        None
    }

    /// Replaces an input by what an equality says it is.
    fn eliminate(&mut self, i: usize, equality: &Half) -> Option<()> {
        let range = self.ranges.remove(i);
        let unit = |sign: i128| (0..equality.a.len()).map(|j| if i == j { sign } else { 0 }).collect();
        self.halves.push(Half { a: unit(1), b: range.1 });
        self.halves.push(Half { a: unit(-1), b: range.0.checked_neg()? });
        for h in &mut self.halves {
            let by = h.a.get(i)?.checked_mul(*equality.a.get(i)?)?;
            h.b = h.b.checked_sub(by.checked_mul(equality.b)?)?;
            for (a, e) in h.a.iter_mut().zip(&equality.a) {
                *a = a.checked_sub(by.checked_mul(*e)?)?;
            }
            h.a.remove(i);
        }
        Some(())
    }

    /// Takes out the inputs of which nothing is said, and those with one value; how many values they have together.
    fn without_free(&mut self) -> Option<i128> {
        let mut free = 1i128;
        for i in (0..self.ranges.len()).rev() {
            let (low, high) = *self.ranges.get(i)?;
            let is_used = self.halves.iter().any(|h| h.a.get(i).is_some_and(|a| *a != 0));
            if is_used && low < high {
                continue;
            }
            self.ranges.remove(i);
            free = free.checked_mul(width((low, high))?)?;
            for h in &mut self.halves {
                h.b = h.b.checked_sub(h.a.remove(i).checked_mul(low)?)?;
            }
        }
        Some(free)
    }

    fn rows(&self) -> Option<Vec<Row>> {
        let row = |h: &Half| match h.a.as_slice() {
            &[a, b] if b != 0 => Some(lattice::Row { a, b, c: h.b.checked_neg()? }),
            _ => None,
        };
        self.halves.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A random polytope: a box of some sides that inequalities and equalities cut.
    fn random_polytope(random: &mut Random, n: usize, side: i128) -> Polytope {
        let range = |random: &mut Random| {
            let low = random.within((-side, side / 2));
            (low, low + random.within((0, side)))
        };
        let ranges: Vec<Range> = (0..n).map(|_| range(random)).collect();
        let mut halves = Vec::new();
        for _ in 0..random.within((1, 4)) {
            let a: Vec<i128> = (0..n).map(|_| random.within((-5, 5))).collect();
            let b = random.within((-2 * side, 3 * side));
            if random.below(5) == 0 {
                halves.push(Half { a: a.iter().map(|x| -x).collect(), b: -b });
            }
            halves.push(Half { a, b });
        }
        Polytope { ranges, halves }
    }

    fn enumerated(p: &Polytope) -> i128 {
        let mut points = vec![Vec::new()];
        for (low, high) in &p.ranges {
            let longer = |point: &Vec<i128>| {
                let point = point.clone();
                (*low..=*high).map(move |x| point.iter().copied().chain([x]).collect())
            };
            points = points.iter().flat_map(longer).collect();
        }
        let meets = |point: &&Vec<i128>| {
            p.halves.iter().all(|h| h.a.iter().zip(*point).map(|(a, x)| a * x).sum::<i128>() <= h.b)
        };
        points.iter().filter(meets).count() as i128
    }

    #[test]
    fn polytopes_have_the_points_that_enumeration_finds() {
        let mut random = Random::new(5);
        let mut inside = [0; 6];
        for round in 0..600 {
            let n = 1 + round % 5;
            let p = random_polytope(&mut random, n, [0, 60, 40, 12, 6, 4][n]);
            let (truth, cones) = (enumerated(&p), cones::points(&p.ranges, &p.halves, &mut 10_000_000));
            inside[n] += i32::from(truth > 0);
            let what = format!("{round}: {:?} {:?}", p.ranges, p.halves);
            assert_eq!(cones, Some(truth), "{what}");
            assert_eq!(p.points(&mut 10_000_000), Some(truth), "{what}");
        }
        assert!(inside[1..].iter().all(|n| *n > 30), "{inside:?}");
    }

    #[test]
    fn numbers_beyond_a_word_are_counted() {
        // The corner below x + y + z = n, of which each side has n + 1 points.
        let n = (1i128 << 36) + 5;
        let corner = Polytope { ranges: vec![(0, n); 3], halves: vec![Half { a: vec![1, 1, 1], b: n }] };
        let points = (n + 1) * (n + 2) / 2;
        let all = if points % 3 == 0 { points / 3 * (n + 3) } else { points * ((n + 3) / 3) };
        assert_eq!(corner.points(&mut 10_000), Some(all));
    }

    #[test]
    fn what_work_does_not_pay_for_is_not_counted() {
        let mut random = Random::new(9);
        let p = random_polytope(&mut random, 5, 1000);
        assert_eq!(p.points(&mut 20), None);
    }
}
