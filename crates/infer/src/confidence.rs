//! How unlikely it is that all rows satisfy an invariant by chance, as Daikon has it: 1 is certain, 0 says nothing.
//!
//! Source: the Daikon developer manual, "Confidence limits", and Ernst et al. 2007, section 3.4 ("null hypothesis
//! tests").

use std::collections::BTreeMap;

/// Rows that must meet a bound.
const AT_BOUND: usize = 3;
/// How many times as many rows as are expected at a bound say that there is one.
const TRUNCATED: f64 = 5.0;
/// Points that a line is read off; it takes two.
const ON_LINE: usize = 5;

/// Of something that half of all rows would satisfy by chance.
pub fn even(rows: usize) -> f64 {
    1.0 - 0.5f64.powi(i32::try_from(rows).unwrap_or(i32::MAX))
}

/// That a value is left out of a range that has so many, by so many rows.
pub fn left_out(range: i128, rows: usize) -> f64 {
    if range <= 1 {
        return 0.0;
    }
    let missed = 1.0 - 1.0 / range as f64;
    1.0 - missed.powi(i32::try_from(rows).unwrap_or(i32::MAX))
}

/// Of a remainder by `m`.
pub fn remainder(m: i128, rows: usize) -> f64 {
    1.0 - (1.0 / m.max(1) as f64).powi(i32::try_from(rows.saturating_sub(1)).unwrap_or(i32::MAX))
}

/// Of a bound at one end of the values: at least three rows meet it, and they are five times as many as an even
/// distribution has there, or it and the two values next to it have at least half of what that has.
pub fn bound(counts: &BTreeMap<i128, usize>, is_lower: bool) -> f64 {
    let (Some((&least, _)), Some((&most, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return 0.0;
    };
    let rows: usize = counts.values().sum();
    let range = most.saturating_sub(least).saturating_add(1) as f64;
    let expected = rows as f64 / range;
    let end = if is_lower { least } else { most };
    let count = |k: i128| counts.get(&k).copied().unwrap_or(0);
    if count(end) < AT_BOUND {
        return 0.0;
    }
    let step = if is_lower { 1 } else { -1 };
    let is_truncated = count(end) as f64 >= TRUNCATED * expected;
    let is_even = (0..3).all(|k| count(end.saturating_add(k * step)) as f64 >= expected / 2.0);
    f64::from(u8::from(is_truncated || is_even))
}

/// Of a line through so many different points.
pub fn line(points: usize) -> f64 {
    f64::from(u8::from(points >= ON_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(i128, usize)]) -> BTreeMap<i128, usize> {
        of.iter().copied().collect()
    }

    #[test]
    fn six_rows_are_enough_for_an_even_chance_and_four_are_not() {
        assert!(even(6) > 0.98 && even(4) < 0.95);
        assert_eq!(even(0), 0.0);
    }

    #[test]
    fn a_bound_has_rows_at_it() {
        // One row each: no end is a bound.
        assert_eq!(bound(&counts(&[(0, 1), (1, 1), (2, 1), (9, 1)]), true), 0.0);
        // Truncated: most rows are at the end.
        assert_eq!(bound(&counts(&[(0, 40), (100, 1), (1000, 1)]), true), 1.0);
        assert_eq!(bound(&counts(&[(0, 40), (100, 1), (1000, 1)]), false), 0.0);
        // Even.
        assert_eq!(bound(&counts(&[(1, 4), (2, 5), (3, 4)]), false), 1.0);
    }

    #[test]
    fn what_is_left_out_of_a_wide_range_says_nothing() {
        assert!(left_out(1_000_000, 100) < 0.01);
        assert!(left_out(3, 20) > 0.99);
        assert_eq!(left_out(1, 20), 0.0);
    }
}
