//! Invariants that others say, too: by equality, by what a constant is, by way of a third variable.

use super::{Point, Status};
use crate::infer::{Relation, Shape};
use std::collections::BTreeMap;

/// Which of some invariants follow from others of the same point that are known at least as well.
pub(super) fn marks(all: &[(Point, &Shape, Status)]) -> Vec<bool> {
    let marked = |k: usize| {
        let Some((point, shape, status)) = all.get(k) else { return false };
        let others = all.iter().enumerate().filter(|(i, (p, _, s))| *i != k && p == point && s <= status);
        let others: Vec<&Shape> = others.map(|(_, (_, shape, _))| *shape).collect();
        match shape {
            // What holds always, under the same condition, and the condition itself.
            Shape::Given { when, then } => {
                let mut all: Vec<&Shape> = Vec::new();
                for other in &others {
                    if let Shape::Given { when: theirs, then } = other
                        && theirs == when
                    {
                        all.push(then);
                    }
                }
                all.extend(others.iter().copied().filter(|o| !matches!(o, Shape::Given { .. })));
                all.push(&**when);
                follows(then, &Known::of(&all))
            }
            _ => follows(shape, &Known::of(&others)),
        }
    };
    (0..all.len()).map(marked).collect()
}

/// What some invariants say of single variables and of pairs.
struct Known {
    constants: BTreeMap<usize, i128>,
    ranges: BTreeMap<usize, (Option<i128>, Option<i128>)>,
    /// The first variable that another equals.
    leaders: BTreeMap<usize, usize>,
    orders: Vec<(usize, usize, bool)>,
}

impl Known {
    fn of(shapes: &[&Shape]) -> Known {
        let mut known = Known {
            constants: BTreeMap::new(),
            ranges: BTreeMap::new(),
            leaders: BTreeMap::new(),
            orders: Vec::new(),
        };
        for shape in shapes {
            match shape {
                Shape::OneOf { x, values } => {
                    if let [k] = values.as_slice() {
                        known.constants.insert(*x, *k);
                    }
                    known.narrow(*x, values.first().copied(), values.last().copied());
                }
                Shape::Bound { x, relation, k } => match relation {
                    Relation::GreaterOrEqual => known.narrow(*x, Some(*k), None),
                    Relation::Greater => known.narrow(*x, Some(*k + 1), None),
                    Relation::LessOrEqual => known.narrow(*x, None, Some(*k)),
                    Relation::Less => known.narrow(*x, None, Some(*k - 1)),
                    Relation::Equal | Relation::Different => {}
                },
                Shape::Compare { x, relation: Relation::Equal, y } => {
                    let leader = *known.leaders.get(y).unwrap_or(x).min(x);
                    known.leaders.insert(*y, leader);
                }
                Shape::Compare { x, relation, y } => match relation {
                    Relation::Less => known.orders.push((*x, *y, true)),
                    Relation::LessOrEqual => known.orders.push((*x, *y, false)),
                    Relation::Greater => known.orders.push((*y, *x, true)),
                    Relation::GreaterOrEqual => known.orders.push((*y, *x, false)),
                    Relation::Equal | Relation::Different => {}
                },
                _ => {}
            }
        }
        known
    }

    fn narrow(&mut self, x: usize, low: Option<i128>, high: Option<i128>) {
        let (from, to) = self.ranges.entry(x).or_insert((None, None));
        *from = low.max(*from);
        *to = match (high, *to) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn low(&self, x: usize) -> Option<i128> {
        self.ranges.get(&x).and_then(|r| r.0)
    }

    fn high(&self, x: usize) -> Option<i128> {
        self.ranges.get(&x).and_then(|r| r.1)
    }
}

fn follows(shape: &Shape, known: &Known) -> bool {
    let variables = shape.variables();
    // It is said of the variable that this one equals.
    let is_follower = |x: &usize| known.leaders.contains_key(x);
    let is_equality = matches!(shape, Shape::Compare { relation: Relation::Equal, .. });
    if variables.iter().any(is_follower) && !is_equality {
        return true;
    }
    let is_constant = |x: &usize| known.constants.contains_key(x);
    match shape {
        // Each is said to be what it is; that they are the same is of interest where that is no number.
        Shape::Compare { .. } if variables.iter().all(is_constant) => true,
        // Equal by way of the first that both equal.
        Shape::Compare { x, relation: Relation::Equal, y } => {
            known.leaders.get(x).is_some_and(|leader| known.leaders.get(y) == Some(leader))
        }
        Shape::Compare { x, relation, y } => {
            let (low, high, is_strict) = match relation {
                Relation::Less => (x, y, true),
                Relation::LessOrEqual => (x, y, false),
                Relation::Greater => (y, x, true),
                Relation::GreaterOrEqual => (y, x, false),
                Relation::Equal | Relation::Different => return false,
            };
            let by_ranges = known.high(*low).zip(known.low(*high));
            let is_by_ranges = by_ranges.is_some_and(|(a, b)| if is_strict { a < b } else { a <= b });
            let third = |(a, b, first): &(usize, usize, bool)| {
                a == low
                    && b != high
                    && known
                        .orders
                        .iter()
                        .any(|(c, d, second)| c == b && d == high && (!is_strict || *first || *second))
            };
            is_by_ranges || known.orders.iter().any(third)
        }
        Shape::Bound { x, relation, k } => is_bounded(known, *x, *relation, *k),
        Shape::Modulus { x, .. } => is_constant(x),
        // That others are equal says nothing of a product or a sum of them.
        _ => false,
    }
}

/// Whether the range of a variable says how it compares with a number.
fn is_bounded(known: &Known, x: usize, relation: Relation, k: i128) -> bool {
    match relation {
        Relation::Equal => known.constants.get(&x) == Some(&k),
        Relation::Less => known.high(x).is_some_and(|high| high < k),
        Relation::LessOrEqual => known.high(x).is_some_and(|high| high <= k),
        Relation::Greater => known.low(x).is_some_and(|low| low > k),
        Relation::GreaterOrEqual => known.low(x).is_some_and(|low| low >= k),
        Relation::Different => {
            known.low(x).is_some_and(|low| low > k) || known.high(x).is_some_and(|high| high < k)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(shapes: &[Shape]) -> Vec<bool> {
        let all: Vec<_> = shapes.iter().map(|s| (Point::Exit, s, Status::Proved)).collect();
        marks(&all)
    }

    fn compare(x: usize, relation: Relation, y: usize) -> Shape {
        Shape::Compare { x, relation, y }
    }

    #[test]
    fn constants_say_how_they_compare() {
        let (a, b) = (Shape::OneOf { x: 0, values: vec![0] }, Shape::OneOf { x: 1, values: vec![100] });
        assert_eq!(marked(&[a.clone(), b, compare(0, Relation::Less, 1)]), [false, false, true]);
        let positive = Shape::Bound { x: 1, relation: Relation::GreaterOrEqual, k: 0 };
        assert_eq!(marked(&[a, positive, compare(0, Relation::LessOrEqual, 1)]), [false, false, true]);
    }

    #[test]
    fn what_equals_the_first_is_said_of_the_first() {
        let shapes = [
            compare(0, Relation::Equal, 1),
            compare(0, Relation::Equal, 2),
            compare(1, Relation::Equal, 2),
            compare(0, Relation::Less, 3),
            compare(2, Relation::Less, 3),
        ];
        assert_eq!(marked(&shapes), [false, false, true, false, true]);
    }

    #[test]
    fn an_order_goes_by_way_of_a_third() {
        let shapes = [
            compare(0, Relation::Less, 1),
            compare(1, Relation::LessOrEqual, 2),
            compare(0, Relation::Less, 2),
            compare(2, Relation::GreaterOrEqual, 0),
        ];
        assert_eq!(marked(&shapes), [false, false, true, true]);
        // Not strict by two that are not.
        let shapes = [
            compare(0, Relation::LessOrEqual, 1),
            compare(1, Relation::LessOrEqual, 2),
            compare(0, Relation::Less, 2),
        ];
        assert_eq!(marked(&shapes), [false, false, false]);
    }

    #[test]
    fn a_set_says_its_bounds() {
        let set = Shape::OneOf { x: 0, values: vec![0, 1, 7] };
        let bound = |relation, k| Shape::Bound { x: 0, relation, k };
        assert_eq!(
            marked(&[set.clone(), bound(Relation::GreaterOrEqual, 0), bound(Relation::Less, 8)]),
            [false, true, true]
        );
        assert_eq!(
            marked(&[set, bound(Relation::Different, 9), bound(Relation::Less, 7)]),
            [false, true, false]
        );
    }

    #[test]
    fn what_holds_under_a_condition_is_held_against_it() {
        let when = Shape::OneOf { x: 1, values: vec![3] };
        let given = |then: Shape| Shape::Given { when: Box::new(when.clone()), then: Box::new(then) };
        let shapes = [
            given(Shape::OneOf { x: 0, values: vec![5] }),
            given(compare(0, Relation::Greater, 1)),
            compare(0, Relation::LessOrEqual, 2),
        ];
        assert_eq!(marked(&shapes), [false, true, false]);
    }

    #[test]
    fn what_is_known_less_well_implies_nothing() {
        let (constant, low) = (
            Shape::OneOf { x: 0, values: vec![3] },
            Shape::Bound { x: 0, relation: Relation::Greater, k: 0 },
        );
        let all = [(Point::Exit, &constant, Status::Likely), (Point::Exit, &low, Status::Proved)];
        assert_eq!(marks(&all), [false, false]);
    }
}
