//! Sets of values for which a condition holds.
//!
//! A set is a list of ranges of integers. What the integers stand for is its *kind*: the residues of a sum modulo
//! a power of two, the value of a sum that cannot wrap, an image of floats that keeps their order, or which of two
//! floats is the smaller one.

/// What the integers of a set stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A sum of bit-vectors of this width, at most 64, as they wrap.
    Bits(u16),
    /// A sum that does not wrap.
    Integer,
    /// A float.
    Float,
    /// Of two floats the first is smaller (-1), equal (0), or greater (1).
    Order,
}

/// Beyond what a sum of numbers can be.
pub(super) const FAR: i128 = 1 << 120;

impl Kind {
    fn limits(self) -> (i128, i128) {
        match self {
            Kind::Bits(w) => (0, (1 << w) - 1),
            Kind::Integer => (-FAR, FAR),
            Kind::Float => (key(f64::NEG_INFINITY), key(f64::INFINITY)),
            Kind::Order => (-1, 1),
        }
    }

    /// Whether there is a value outside of all ranges: NaN, or two floats that have no order.
    fn has_nan(self) -> bool {
        matches!(self, Kind::Float | Kind::Order)
    }
}

/// Image of a float that keeps the order; both zeros have one.
pub(super) fn key(v: f64) -> i128 {
    let bits = v.abs().to_bits() as i128;
    if v.is_sign_negative() { -bits } else { bits }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub kind: Kind,
    /// Disjoint, ascending, not adjacent, ends included.
    ranges: Vec<(i128, i128)>,
    nan: bool,
}

impl Values {
    /// From `low` to `high`, as far as there are such values.
    pub fn of(kind: Kind, low: i128, high: i128) -> Values {
        let (least, most) = kind.limits();
        Values::from(kind, vec![(low.max(least), high.min(most))])
    }

    /// Bit-vectors of a width that are at least `low` and at most `high` if read as signed numbers.
    pub fn signed(width: u16, low: i128, high: i128) -> Values {
        let all = 1 << width;
        let half = all / 2;
        let part = |from: i128, to: i128, by: i128| (low.max(from) + by, high.min(to) + by);
        Values::from(Kind::Bits(width), vec![part(0, half - 1, 0), part(-half, -1, all)])
    }

    fn from(kind: Kind, mut ranges: Vec<(i128, i128)>) -> Values {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        let mut joined: Vec<(i128, i128)> = Vec::new();
        for (low, high) in ranges {
            match joined.last_mut() {
                Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Values { kind, ranges: joined, nan: false }
    }

    fn complement(&self) -> Values {
        let (low, high) = self.kind.limits();
        let mut ranges = Vec::new();
        let mut next = low;
        for &(from, to) in &self.ranges {
            ranges.push((next, from - 1));
            next = to + 1;
        }
        ranges.push((next, high));
        Values { nan: self.kind.has_nan() && !self.nan, ..Values::from(self.kind, ranges) }
    }

    pub fn is_within(&self, other: &Values) -> bool {
        let inside = |&(from, to): &(i128, i128)| other.ranges.iter().any(|&(a, b)| a <= from && to <= b);
        self.kind == other.kind && self.ranges.iter().all(inside) && (!self.nan || other.nan)
    }

    pub fn under(&self, holds: bool) -> Values {
        if holds { self.clone() } else { self.complement() }
    }

    /// The values of a sum to which `by` was added; `None`: numbers become too large.
    pub fn plus(&self, by: i128) -> Option<Values> {
        match self.kind {
            Kind::Bits(w) => {
                let all = 1i128 << w;
                let by = by.rem_euclid(all);
                let split = |&(low, high): &(i128, i128)| {
                    let (low, high) = (low + by, high + by);
                    [(low, high.min(all - 1)), (low.max(all) - all, high - all)]
                };
                Some(Values::from(self.kind, self.ranges.iter().flat_map(split).collect()))
            }
            Kind::Integer if by.abs() < FAR => {
                // What has no end stays so.
                let end = |v: i128| match v.abs() >= FAR {
                    true => Some(v),
                    false => Some(v + by).filter(|v| v.abs() < FAR),
                };
                let moved = |(a, b): &(i128, i128)| Some((end(*a)?, end(*b)?));
                Some(Values::from(self.kind, self.ranges.iter().map(moved).collect::<Option<_>>()?))
            }
            Kind::Integer | Kind::Float | Kind::Order => None,
        }
    }

    /// The values of a sum that was negated.
    pub fn negated(&self) -> Values {
        let turned = |&(low, high): &(i128, i128)| (-high, -low);
        match self.kind {
            Kind::Bits(w) => {
                let all = 1i128 << w;
                let split = |range: &(i128, i128)| {
                    let (low, high) = turned(range);
                    // Zero is its own negative.
                    [(low + all, high.min(-1) + all), (0, if high == 0 { 0 } else { -1 })]
                };
                Values::from(self.kind, self.ranges.iter().flat_map(split).collect())
            }
            _ => {
                Values { nan: self.nan, ..Values::from(self.kind, self.ranges.iter().map(turned).collect()) }
            }
        }
    }

    /// The values of a sum that cannot wrap and whose factors were divided by `by`, which is positive.
    pub fn divided(&self, by: i128) -> Values {
        let end = |v: i128, up: bool| match v.abs() >= FAR {
            true => v,
            false => v.div_euclid(by) + i128::from(up && v.rem_euclid(by) != 0),
        };
        let ranges = self.ranges.iter().map(|(a, b)| (end(*a, true), end(*b, false))).collect();
        Values::from(self.kind, ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: u16 = 4;

    /// The residues for which a set holds.
    fn members(values: &Values) -> Vec<i128> {
        (0..1 << W).filter(|v| Values::of(values.kind, *v, *v).is_within(values)).collect()
    }

    /// Each operation against the same on every residue.
    #[test]
    fn sets_of_bits_are_what_they_say() {
        let signed = |v: i128| if v >= 8 { v - 16 } else { v };
        for (low, high) in (-8..8).flat_map(|low| (-8..8).map(move |high| (low, high))) {
            let set = Values::signed(W, low, high);
            let holds = |v: i128| low <= signed(v) && signed(v) <= high;
            let check = |set: &Values, of: &dyn Fn(i128) -> bool| {
                assert_eq!(
                    members(set),
                    (0..16).filter(|v| of(*v)).collect::<Vec<i128>>(),
                    "{low} to {high}"
                );
            };
            check(&set, &holds);
            check(&set.under(false), &|v| !holds(v));
            check(&set.negated(), &|v| holds((-v).rem_euclid(16)));
            for by in -20..20 {
                check(&set.plus(by).expect("small"), &|v| holds((v - by).rem_euclid(16)));
            }
        }
    }

    /// `by * t` is in a set exactly if `t` is in the one that was divided.
    #[test]
    fn sets_of_integers_are_divided_exactly() {
        let has = |set: &Values, v: i128| Values::of(Kind::Integer, v, v).is_within(set);
        for (low, by) in (-9..9).flat_map(|low| (1..5).map(move |by| (low, by))) {
            for set in [Values::of(Kind::Integer, low, low + 3), Values::of(Kind::Integer, -FAR, low)] {
                let moved = set.plus(5).expect("small");
                (-30..30).for_each(|v| assert_eq!(has(&moved, v), has(&set, v - 5), "{v} of {set:?}"));
                for set in [set.clone(), set.under(false), set.negated(), moved] {
                    let divided = set.divided(by);
                    (-30..30).for_each(|t| assert_eq!(has(&divided, t), has(&set, by * t), "{t} of {set:?}"));
                }
            }
        }
    }
}
