//! For how many versions lost facts had held, and what that does to the order in which losses are told.
//!
//! A fact that many versions held is likely to be what people rely on (Invariant Diffs, Section II: churns
//! whose removed invariants are version invariants come first). The age lifts the rank of its churn towards
//! 1, the more the longer it held; between churns of one age the order is what it was.

use super::{Assertion, AssertionMatch, AssertionOutcome, Churn, Version, Violation};
use std::cmp::Reverse;

impl Churn {
    /// Says that what it removes had held for so many versions. The last word counts; an age of 1 changes nothing
    /// of the rank.
    pub fn set_age(&mut self, versions: u32) {
        let before = self.age.unwrap_or(1).max(1);
        if before != versions.max(1) && self.is_loss() {
            self.rank = 1.0 - (1.0 - self.rank) * f64::from(before) / f64::from(versions.max(1));
        }
        self.age = Some(versions);
    }

    /// How long what it removes had held, in words; nothing where that is one version or not known. Of several
    /// facts the age is that of the oldest.
    pub fn held(&self) -> Option<String> {
        words(if self.removed.len() > 1 { "up to " } else { "" }, self.age.filter(|_| self.is_loss()))
    }

    /// Whether something that was established is gone. That something undefined was met is no such thing.
    fn is_loss(&self) -> bool {
        self.removed.iter().any(|fact| !fact.status.is_empty())
    }
}

fn words(most: &str, age: Option<u32>) -> Option<String> {
    let age = age.filter(|age| *age > 1)?;
    Some(format!("held {most}{age} versions"))
}

impl Assertion {
    /// The versions of the range in a row that keep it and the first of them, where the next one breaks it by a
    /// regression.
    pub fn kept_in(&self) -> Option<(u32, Version)> {
        let is_lost =
            self.violation == Some(Violation::Regression) && self.matched == AssertionMatch::Unchanged;
        let broken = self.outcome.iter().find(|(_, o)| **o == AssertionOutcome::Fail).filter(|_| is_lost)?.0;
        let keeps = |v: &Version| self.outcome.get(v) == Some(&AssertionOutcome::NotFail);
        let first = (1..*broken).rev().take_while(keeps).last()?;
        Some((broken - first, first))
    }

    /// How long it had been kept before it was broken, in words.
    pub fn held(&self) -> Option<String> {
        words("", self.age)
    }
}

/// Puts what had been kept longest first; equals stay in their order.
pub fn longest_kept_first(assertions: &mut [&Assertion]) {
    assertions.sort_by_key(|a| Reverse(a.age));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fact, Status};

    fn churn(rank: f64, facts: usize) -> Churn {
        let fact = Fact { status: [(1, Status::Proved)].into(), ..Fact::default() };
        Churn { rank, removed: vec![fact; facts], ..Churn::default() }
    }

    #[test]
    fn the_longer_it_held_the_higher_it_ranks() {
        let aged = |rank, age| {
            let mut churn = churn(rank, 1);
            churn.set_age(age);
            churn.rank
        };
        assert_eq!(aged(0.85, 1), 0.85);
        assert_eq!(aged(0.5, 2), 0.75);
        assert!(aged(0.4, 12) > aged(0.9, 1) && aged(0.9, 12) > aged(0.4, 12));
        assert!(aged(0.0, u32::MAX) <= 1.0);
        let mut twice = churn(0.5, 1);
        twice.set_age(2);
        twice.set_age(4);
        assert_eq!((twice.age, twice.rank), (Some(4), 0.875));
    }

    #[test]
    fn a_property_is_kept_up_to_the_version_that_breaks_it() {
        let kept = |outcomes: &[(Version, AssertionOutcome)], violation| {
            let outcome = outcomes.iter().copied().collect();
            Assertion { outcome, violation, ..Assertion::default() }.kept_in()
        };
        use AssertionOutcome::{Fail, NotFail, Unknown};
        let lost = Some(Violation::Regression);
        assert_eq!(kept(&[(1, NotFail), (2, Fail)], lost), Some((1, 1)));
        assert_eq!(kept(&[(1, NotFail), (2, NotFail), (3, Fail)], lost), Some((2, 1)));
        assert_eq!(kept(&[(1, Unknown), (2, NotFail), (3, Fail)], lost), Some((1, 2)));
        assert_eq!(kept(&[(1, NotFail), (3, Fail)], lost), None);
        assert_eq!(kept(&[(1, Fail), (2, Fail)], lost), None);
        assert_eq!(kept(&[(1, NotFail), (2, Fail)], Some(Violation::Preexisting)), None);
    }

    #[test]
    fn one_version_is_not_worth_a_word() {
        let held = |age, facts| Churn { age, ..churn(0.5, facts) }.held();
        assert_eq!(held(None, 1), None);
        assert_eq!(held(Some(1), 1), None);
        assert_eq!(held(Some(12), 1).as_deref(), Some("held 12 versions"));
        assert_eq!(held(Some(12), 2).as_deref(), Some("held up to 12 versions"));
    }
}
