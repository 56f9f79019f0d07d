//! What is known of the assertions of one version: each is checked, but for those that are known to hold.
//!
//! This works with terms of its own, so what it finds follows from the version alone: an input on which an assertion
//! fails is the same whatever else is asked of it, and whatever is known already.

use super::alone::Alone;
use super::inputs;
use super::{Options, Requires, Version};
use crate::fact::Standing;
use crate::interp::{self, End, Input};
use crate::ir::{TermId, TermPool};
use crate::symex::{
    Answers, Counts, Direction, Explorer, Manner, Questions, Site, Sites, Slice, Suspicion, Target,
};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of one replay.
const FUEL: u64 = 200_000;

/// What is known of an assertion of the older version.
pub(super) struct Known {
    pub outcome: Standing,
    pub counterexample: Option<Input>,
}

/// The assertions of a version, and what is taken for granted, in a pool of their own.
pub(super) struct Prepared {
    pub pool: TermPool,
    pub sites: Sites,
    pub requires: Vec<TermId>,
}

impl Prepared {
    pub fn of(version: Version, requires: Requires) -> Prepared {
        let mut pool = TermPool::new();
        let sites = Sites::of(version.body, version.unit, &mut pool);
        let requires = requires(&mut pool, version.body, version.unit);
        Prepared { pool, sites, requires }
    }
}

/// Checks a version, assertion by assertion; `holds` are known to hold, and others than those `asked` for are of no
/// interest.
pub(super) fn initial(
    version: Version,
    mut prepared: Prepared,
    options: &Options,
    (answers, holds, asked): (&mut Answers, &BTreeSet<usize>, &BTreeSet<usize>),
    programs: &mut Alone,
) -> (BTreeMap<usize, Known>, Counts) {
    let sites = &prepared.sites;
    let (known, targets): (Vec<Target>, Vec<Target>) =
        all_of(sites).into_iter().filter(|t| asked.contains(&t.site)).partition(|t| holds.contains(&t.site));
    let held = |t: &Target| (t.site, Known { outcome: Standing::Holds, counterexample: None });
    let mut outcomes: BTreeMap<usize, Known> = known.iter().map(held).collect();
    if targets.is_empty() {
        return (outcomes, Counts::default());
    }
    let mut found: BTreeMap<usize, Input> = BTreeMap::new();
    let mut confirm = |s: &Suspicion| match confirmed(s, version, &sites.sites[s.site], programs) {
        Some(input) => found.insert(s.site, input).is_none(),
        None => false,
    };
    let slice = Slice::of(version.body, version.unit, sites, &BTreeSet::new(), |_| true);
    let mut explorer = Explorer {
        f: version.body,
        unit: version.unit,
        sites,
        pool: &mut prepared.pool,
        questions: &mut Questions::new(answers, options.solver),
        manner: Manner::Joined,
        slice: Some(&slice),
        limits: options.limits,
        requires: &prepared.requires,
        counts: Counts::default(),
        asked: 0,
    };
    let findings = explorer.check(&targets, Direction::All, &mut confirm);
    let counts = explorer.counts;
    for (t, finding) in targets.iter().zip(findings) {
        let counterexample = found.remove(&t.site);
        outcomes.insert(t.site, Known { outcome: finding.verdict, counterexample });
    }
    (outcomes, counts)
}

/// All assertions of a version.
pub(super) fn all_of(sites: &Sites) -> Vec<Target> {
    let of = |site: usize| Some(Target { site, holds: sites.formula(site)? });
    (0..sites.sites.len()).filter_map(of).collect()
}

pub(super) fn add(to: &mut Counts, more: Counts) {
    to.queries += more.queries;
    to.paths += more.paths;
    to.states += more.states;
}

/// Replays a suspicion; the input on which the assertion fails, if it does.
pub(super) fn confirmed(s: &Suspicion, version: Version, site: &Site, programs: &mut Alone) -> Option<Input> {
    let inputs = inputs::proposed(s.pool, s.model, s.conditions, version.body, version.unit);
    inputs.into_iter().find(|input| fails(programs, site, input))
}

pub(super) fn is_failure(o: &interp::Outcome, site: &Site) -> bool {
    matches!(&o.end, End::AssertFailed { text, place } if *text == site.text && place.line == site.line)
}

/// Whether an assertion, alone, fails on an input, whatever functions do that nobody defines.
pub(super) fn fails(programs: &mut Alone, site: &Site, input: &Input) -> bool {
    let Some(program) = programs.with(Some(site)) else { return false };
    let limits = interp::Limits { fuel: FUEL, ..interp::Limits::default() };
    let outcome = interp::run(&program, programs.name(), input, &limits);
    is_failure(&outcome, site) && outcome.assumed.calls.iter().all(|c| c.given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{outcome as ended, place, returned};

    #[test]
    fn a_run_fails_an_assertion_by_its_text_and_line() {
        let site = Site { text: "x > 0".into(), line: 7, ordinal: 0 };
        let fails = |text: &str, line| ended(End::AssertFailed { text: text.into(), place: place(line) });
        assert!(is_failure(&fails("x > 0", 7), &site));
        assert!(!is_failure(&fails("x > 0", 8), &site) && !is_failure(&fails("x > 1", 7), &site));
        assert!(!is_failure(&returned(0), &site) && !is_failure(&ended(End::Abort), &site));
    }

    #[test]
    fn costs_are_added_one_by_one() {
        let counts = |queries, paths, states| Counts { queries, paths, states };
        let mut sum = counts(1, 2, 3);
        add(&mut sum, counts(10, 20, 30));
        assert_eq!((sum.queries, sum.paths, sum.states), (11, 22, 33));
    }
}
