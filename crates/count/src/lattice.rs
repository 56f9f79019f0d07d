//! Lattice points of polygons, exactly.
//!
//! A *row* is a linear inequality over integers. For two variables the points are summed column by
//! column in closed form: between the places where two of the bounds of `y` cross, one bound is the
//! highest lower and one the lowest upper one, and a sum of `floor((a*x + b) / m)` over consecutive `x`
//! is computed in the manner of Euclid's algorithm (Graham, Knuth and Patashnik, Concrete Mathematics,
//! section 3.5). All arithmetic is checked: where a number is too large there is no result.

use std::collections::BTreeSet;

/// A range of integers, ends included.
pub type Range = (i128, i128);

/// How many integers are in a range; 0 for a reversed one.
pub fn width((low, high): Range) -> Option<i128> {
    if low > high { Some(0) } else { high.checked_sub(low)?.checked_add(1) }
}

/// `x * a + y * b + c <= 0`, with `b != 0`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub a: i128,
    pub b: i128,
    pub c: i128,
}

/// A bound of `y`: `(a * x + b) / m`, with `m > 0`.
#[derive(Clone, Copy)]
struct Line {
    a: i128,
    b: i128,
    m: i128,
}

impl Line {
    /// Numerator at `x`.
    fn at(self, x: i128) -> Option<i128> {
        self.a.checked_mul(x)?.checked_add(self.b)
    }

    /// Whether this is less than another at `x`.
    fn less(self, other: Line, x: i128) -> Option<bool> {
        Some(self.at(x)?.checked_mul(other.m)? < other.at(x)?.checked_mul(self.m)?)
    }

    /// Adds the first integers at or behind, and behind, the place where two lines cross.
    fn cross(self, other: Line, starts: &mut BTreeSet<i128>) -> Option<()> {
        let slope = self.a.checked_mul(other.m)?.checked_sub(other.a.checked_mul(self.m)?)?;
        let rest = other.b.checked_mul(self.m)?.checked_sub(self.b.checked_mul(other.m)?)?;
        if slope != 0 {
            let (rest, slope) =
                if slope < 0 { (rest.checked_neg()?, slope.checked_neg()?) } else { (rest, slope) };
            let floor = rest.div_euclid(slope);
            starts.insert(floor.checked_add(i128::from(rest.rem_euclid(slope) != 0))?);
            starts.insert(floor.checked_add(1)?);
        }
        Some(())
    }

    /// The sum of the floors at the integers of a range.
    fn sum(self, (low, high): Range) -> Option<i128> {
        floor_sum(width((low, high))?, self.m, self.a, self.at(low)?)
    }
}

/// `sum of floor((a * i + b) / m)` for `0 <= i < n`, with `m > 0`. Cost: logarithmic in the numbers.
pub fn floor_sum(n: i128, m: i128, a: i128, b: i128) -> Option<i128> {
    let (mut n, mut m, mut a, mut b) = (n, m, a, b);
    let mut sum = 0i128;
    while n > 0 {
        let pairs = if n % 2 == 0 { (n / 2).checked_mul(n - 1)? } else { n.checked_mul((n - 1) / 2)? };
        sum = sum.checked_add(pairs.checked_mul(a.div_euclid(m))?)?;
        sum = sum.checked_add(n.checked_mul(b.div_euclid(m))?)?;
        (a, b) = (a.rem_euclid(m), b.rem_euclid(m));
        // What is left counts points under a line, which are counted by rows instead of columns.
        let top = a.checked_mul(n)?.checked_add(b)?;
        (n, b) = (top / m, top % m);
        (m, a) = (a, m);
        if m == 0 {
            break;
        }
    }
    Some(sum)
}

/// Counts the integer points of a box that meet all rows; `None`: the numbers are too large.
/// Cost: cubic in the rows.
pub fn polygon(x: Range, y: Range, rows: &[Row]) -> Option<i128> {
    if x.0 > x.1 || y.0 > y.1 {
        return Some(0);
    }
    let mut upper = vec![Line { a: 0, b: y.1, m: 1 }];
    let mut lower = vec![Line { a: 0, b: y.0, m: 1 }];
    for r in rows {
        match r.b > 0 {
            true => upper.push(Line { a: r.a.checked_neg()?, b: r.c.checked_neg()?, m: r.b }),
            false => lower.push(Line { a: r.a, b: r.c, m: r.b.checked_neg()? }),
        }
    }
    let lines: Vec<Line> = upper.iter().chain(&lower).copied().collect();
    let mut starts = BTreeSet::from([x.0]);
    for (i, one) in lines.iter().enumerate() {
        lines[i + 1..].iter().try_for_each(|other| one.cross(*other, &mut starts))?;
    }
    let starts: Vec<i128> = starts.into_iter().filter(|s| x.0 <= *s && *s <= x.1).collect();
    let mut all = 0i128;
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(x.1, |next| next - 1);
        let (mut high, mut low) = (upper[0], lower[0]);
        for line in &upper[1..] {
            high = if line.less(high, start)? { *line } else { high };
        }
        for line in &lower[1..] {
            low = if low.less(*line, start)? { *line } else { low };
        }
        if high.less(low, start)? {
            continue;
        }
        // ceil(z) = -floor(-z)
        let below = Line { a: low.a.checked_neg()?, b: low.b.checked_neg()?, m: low.m };
        let columns = width((start, end))?;
        let part = high.sum((start, end))?.checked_add(below.sum((start, end))?)?.checked_add(columns)?;
        all = all.checked_add(part)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn sums_of_floors_are_those_of_addition() {
        let mut random = Random::new(1);
        for _ in 0..3000 {
            let [n, m, a, b] = [(0, 30), (1, 20), (-40, 40), (-90, 90)].map(|r| random.within(r));
            let sum = (0..n).map(|i| (a * i + b).div_euclid(m)).sum();
            assert_eq!(floor_sum(n, m, a, b), Some(sum), "{n} {m} {a} {b}");
        }
    }

    #[test]
    fn polygons_have_the_points_that_enumeration_finds() {
        let mut random = Random::new(2);
        for round in 0..3000 {
            let side = |random: &mut Random| {
                let low = random.within((-15, 10));
                (low, low + random.within((-1, 20)))
            };
            let (x, y) = (side(&mut random), side(&mut random));
            let row = |random: &mut Random| Row {
                a: random.within((-7, 7)),
                b: [-9, -3, -2, -1, 1, 2, 5][random.below(7) as usize],
                c: random.within((-60, 60)),
            };
            let rows: Vec<Row> = (0..round % 6).map(|_| row(&mut random)).collect();
            let meets = |x: i128, y: i128| rows.iter().all(|r| r.a * x + r.b * y + r.c <= 0);
            let points = (x.0..=x.1).flat_map(|x| (y.0..=y.1).map(move |y| (x, y)));
            let found = points.filter(|(x, y)| meets(*x, *y)).count() as i128;
            assert_eq!(polygon(x, y, &rows), Some(found), "{x:?} {y:?} {rows:?}");
        }
    }

    #[test]
    fn numbers_that_are_too_large_give_no_result() {
        let huge = (0, i128::MAX / 2);
        assert_eq!(polygon(huge, huge, &[Row { a: i128::MAX, b: 3, c: -1 }]), None);
        assert_eq!(width((i128::MIN, i128::MAX)), None);
    }
}
