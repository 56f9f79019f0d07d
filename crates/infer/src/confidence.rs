//! How unlikely it is that all rows satisfy an invariant by chance, as Daikon has it: 1 is certain, 0 says nothing.
//!
//! Source: the Daikon developer manual, "Confidence limits", and Ernst et al. 2007, section 3.4 ("null hypothesis
//! tests").

/// Rows that must meet a bound.
const AT_BOUND: usize = 3;
/// How many times as many rows as are expected at a bound say that there is one.
const TRUNCATED: f64 = 5.0;
/// Points that a line is read off; it takes two.
pub const ON_LINE: usize = 5;

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

/// Of a bound at one end of so many rows' values, whose range has so many numbers. `at`: how many rows meet the bound and
/// the two numbers next to it. At least three rows meet it, and they are five times as many as an even distribution has
/// there, or all three numbers have at least half of what that has.
pub fn bound(rows: usize, range: i128, at: [usize; 3]) -> f64 {
    let expected = rows as f64 / range.max(1) as f64;
    if at[0] < AT_BOUND {
        return 0.0;
    }
    let is_truncated = at[0] as f64 >= TRUNCATED * expected;
    let is_even = at.iter().all(|count| *count as f64 >= expected / 2.0);
    f64::from(u8::from(is_truncated || is_even))
}

/// Of a line through so many different points.
pub fn line(points: usize) -> f64 {
    f64::from(u8::from(points >= ON_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_rows_are_enough_for_an_even_chance_and_four_are_not() {
        assert!(even(6) > 0.98 && even(4) < 0.95);
        assert_eq!(even(0), 0.0);
    }

    #[test]
    fn a_bound_has_rows_at_it() {
        // One row each: no end is a bound.
        assert_eq!(bound(4, 10, [1, 1, 1]), 0.0);
        // Truncated: most rows are at the end.
        assert_eq!(bound(42, 1001, [40, 0, 0]), 1.0);
        assert_eq!(bound(42, 1001, [1, 0, 0]), 0.0);
        // Even.
        assert_eq!(bound(13, 3, [4, 5, 4]), 1.0);
    }

    #[test]
    fn what_is_left_out_of_a_wide_range_says_nothing() {
        assert!(left_out(1_000_000, 100) < 0.01);
        assert!(left_out(3, 20) > 0.99);
        assert_eq!(left_out(1, 20), 0.0);
    }
}
