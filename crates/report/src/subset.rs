//! Facts of some versions: how it came that these hold them and the others do not.
//!
//! The versions of a function are looked at in their order; a *turn* is a version that holds a fact which the one
//! before does not, or the other way round. One turn or two make a story: a fact is held since a version, until one, or was
//! broken and mended again. That a fact is lost is said only where a run breaks it ([`NotHeld::Refuted`]).

use crate::model::{Fact, NotHeld, Point, Version};
use std::collections::BTreeMap;

/// A version in which a fact begins or ceases to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The newer of the two versions.
    pub(crate) at: Version,
    /// It holds the fact; else the one before does.
    pub(crate) made: bool,
    /// What is known of the fact in the version that does not hold it.
    pub(crate) other: NotHeld,
}

/// How the versions of a function hold a fact, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Story {
    /// From some version on.
    Since(Turn),
    /// Until some version.
    Until(Turn),
    /// Broken in some version, and mended in a later one.
    Mended(Turn, Turn),
    /// Something else, with the last turn.
    Other(Option<Turn>),
}

/// The turns of a fact of some versions.
fn turns(fact: &Fact) -> Vec<Turn> {
    let held = fact.versions.iter().map(|v| (*v, None));
    let all: BTreeMap<Version, Option<NotHeld>> =
        held.chain(fact.not_held.iter().map(|(v, why)| (*v, Some(*why)))).collect();
    let all: Vec<(Version, Option<NotHeld>)> = all.into_iter().collect();
    let turn = |pair: &[(Version, Option<NotHeld>)]| match *pair {
        [(_, None), (at, Some(other))] => Some(Turn { at, made: false, other }),
        [(_, Some(other)), (at, None)] => Some(Turn { at, made: true, other }),
        _ => None,
    };
    all.windows(2).filter_map(turn).collect()
}

impl Story {
    pub(crate) fn of(fact: &Fact) -> Story {
        match turns(fact)[..] {
            [one @ Turn { made: true, .. }] => Story::Since(one),
            [one @ Turn { made: false, .. }] => Story::Until(one),
            [lost @ Turn { made: false, .. }, found] => Story::Mended(lost, found),
            ref others => Story::Other(others.last().copied()),
        }
    }
}

/// Whether a fact of some versions is told where little is: several versions hold it, runs show how it came and went,
/// and no churn says so.
pub(crate) fn is_worth_telling(point: &Point, fact: &Fact) -> bool {
    let is_shown = |turn: &Turn| turn.other == NotHeld::Refuted;
    let tells = match Story::of(fact) {
        Story::Since(turn) | Story::Until(turn) => is_shown(&turn) && !is_told(point, fact),
        // Two churns would tell of it, and neither of both.
        Story::Mended(lost, found) => is_shown(&lost) && is_shown(&found),
        Story::Other(_) => false,
    };
    tells && fact.versions.len() > 1
}

/// Whether churns of the point say of all turns of a fact that they made or broke it.
fn is_told(point: &Point, fact: &Fact) -> bool {
    turns(fact).iter().all(|turn| {
        let side = |c: &crate::Churn| {
            let facts = if turn.made { &c.added } else { &c.removed };
            c.to == turn.at && facts.iter().any(|f| f.text == fact.text)
        };
        point.churns.iter().any(side)
    })
}

/// Whether a list of all facts has to have it: of one version alone, churns may have said all there is to say.
pub(crate) fn is_listed(point: &Point, fact: &Fact) -> bool {
    fact.versions.len() > 1 || !is_told(point, fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Churn;

    fn fact(held: &[Version], not_held: &[(Version, NotHeld)]) -> Fact {
        Fact {
            text: "\\result >= 0".into(),
            versions: held.to_vec(),
            not_held: not_held.iter().copied().collect(),
            ..Fact::default()
        }
    }

    use NotHeld::{NotReached, Open, Refuted};

    #[track_caller]
    fn check(held: &[Version], not_held: &[(Version, NotHeld)], expected: &str, is_worth: bool) {
        let fact = fact(held, not_held);
        let story = match Story::of(&fact) {
            Story::Since(t) => format!("since {}", t.at),
            Story::Until(t) => format!("until {}", t.at),
            Story::Mended(a, b) => format!("broken in {}, mended in {}", a.at, b.at),
            Story::Other(_) => "other".to_owned(),
        };
        assert_eq!((story.as_str(), is_worth_telling(&Point::default(), &fact)), (expected, is_worth));
    }

    #[test]
    fn one_turn_or_two_are_a_story() {
        check(&[2, 3], &[(1, Refuted)], "since 2", true);
        check(&[1, 2], &[(3, Refuted)], "until 3", true);
        check(&[1, 4, 5], &[(2, Refuted), (3, Refuted)], "broken in 2, mended in 4", true);
        check(&[2, 3], &[(1, Refuted), (4, Refuted)], "other", false);
        check(&[1, 3, 5], &[(2, Refuted), (4, Refuted)], "other", false);
        // The function begins with version 3: all versions that have it hold the fact.
        check(&[3, 4], &[], "other", false);
        check(&[3, 5], &[(4, Refuted)], "broken in 4, mended in 5", true);
    }

    #[test]
    fn what_no_run_shows_is_no_story_to_begin_with() {
        check(&[2, 3], &[(1, Open)], "since 2", false);
        check(&[1, 2], &[(3, NotReached)], "until 3", false);
        check(&[1, 4], &[(2, Refuted), (3, Open)], "broken in 2, mended in 4", false);
        check(&[1, 4], &[(2, Open), (3, Refuted)], "broken in 2, mended in 4", false);
        check(&[3], &[(1, Refuted), (2, Refuted)], "since 3", false);
    }

    #[test]
    fn what_churns_say_is_not_said_again() {
        let side = || vec![fact(&[], &[])];
        let made = |to| Churn { to, added: side(), ..Churn::default() };
        let lost = |to| Churn { to, removed: side(), ..Churn::default() };
        let point = |churns| Point { churns, ..Point::default() };
        let since = fact(&[2, 3], &[(1, Refuted)]);
        assert!(!is_worth_telling(&point(vec![made(2)]), &since));
        assert!(is_worth_telling(&point(vec![made(3), lost(2)]), &since));
        assert!(is_listed(&point(vec![made(2)]), &since));
        let mended = fact(&[1, 3], &[(2, Refuted)]);
        assert!(is_worth_telling(&point(vec![lost(2), made(3)]), &mended));
        let once = fact(&[2], &[(1, Refuted), (3, Refuted)]);
        assert!(!is_listed(&point(vec![made(2), lost(3)]), &once));
        assert!(is_listed(&point(vec![made(2)]), &once));
    }
}
