//! Property differencing (iProperty, Yang et al., ICSE 2014): the assertions of two versions of a
//! function are matched, and only what their difference leaves open is checked.
//!
//! Every assertion is judged alone, with the others taken out, as the paper does: one that fails hides
//! none behind it. So the outcomes here may differ from what the program does as it stands, where the
//! first failure is the last.
//!
//! - [`matching`]: which assertion of the newer version was which of the older one.
//! - [`differencing`]: Fig. 2, the clauses that are left to check.
//! - [`initial`]: what is known of the older version.
//! - [`checks`]: Fig. 3, the checks I, II and III on impacted and other paths.
//! - [`kept`]: what is known of a version from run to run.
//! - [`inputs`]: inputs of the solver, with their memory.
//! - [`alone`]: programs with one assertion, for replays.
//! - [`lost`]: which old assertions are gone, or say less where they are.
//! - [`planted`]: a newer version in which an old assertion is put back.

mod alone;
mod checks;
mod differencing;
mod initial;
mod inputs;
mod kept;
mod lost;
mod matching;
mod planted;

use crate::cost;
use crate::fact::Standing;
use crate::interp::Program;
use crate::invariant::Run;
use crate::ir::{Function, TermId, TermPool, Unit};
use crate::smt;
use crate::symex::{Counts, Impact, Limits, Questions, Site, Sites};
use alone::Alone;
use initial::Prepared;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use kept::Keeping;
pub use lost::{Lost, lost};
pub use matching::Match;
pub use planted::{Planted, Written, plant};

/// Which step settled an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is the same, and nothing changed that it could tell.
    Unchanged,
    /// The older one says it.
    Implied,
    /// An input on which an older one fails.
    Counterexample,
    /// Impacted paths, clauses that are new.
    CheckI,
    /// Impacted paths, clauses that are kept.
    CheckII,
    /// Other paths, clauses that are new.
    CheckIII,
    /// Nothing settled it.
    Open,
}

/// What a failure of the newer version is due to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    Regression,
    NonconformingFeature,
    BadPropertyUpdate,
    Preexisting,
}

/// One assertion of either version.
pub struct Finding {
    pub matched: Match,
    pub old: Option<Site>,
    pub new: Option<Site>,
    pub before: Option<Standing>,
    pub after: Option<Standing>,
    pub step: Step,
    pub violation: Option<Violation>,
    /// On which the assertion fails in the newer version.
    pub run: Option<Run>,
    /// Texts of the clauses that had to be checked.
    pub difference: Vec<String>,
}

/// What a check cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    pub counts: Counts,
    pub time: Duration,
}

impl std::ops::AddAssign for Effort {
    fn add_assign(&mut self, more: Effort) {
        initial::add(&mut self.counts, more.counts);
        self.time += more.time;
    }
}

/// What comparing two versions found, and what it cost.
#[derive(Default)]
pub struct Comparison {
    pub findings: Vec<Finding>,
    /// Assertions that stay, of which difference verification has said all.
    pub covered: Vec<(Site, Site)>,
    /// Of checking the older version, which comes before.
    pub initial: Effort,
    pub incremental: Effort,
    /// Runs of inputs on which older assertions fail.
    pub concrete_runs: u64,
    /// Of checking all of the newer version by plain symbolic execution, where that was asked for.
    pub full: Option<Effort>,
    /// Lines of the newer version that the change may affect, without assertions.
    pub impacted: BTreeSet<u32>,
    /// Whether the older version's outcomes were kept by an earlier run.
    pub was_kept: bool,
}

/// One version of a function.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    /// As analysed: with callees inlined and short loops laid out.
    pub body: &'a Arc<Function>,
    /// As written.
    pub written: &'a Arc<Function>,
    pub unit: &'a Arc<Unit>,
    /// Links a unit that stands in for `unit` with the rest of the version.
    pub link: &'a dyn Fn(Arc<Unit>) -> Program,
}

/// Whether difference verification covers an assertion that stays, by its line in the newer version and its text.
pub type IsCovered<'a> = &'a dyn Fn(u32, &str) -> bool;

/// How to compare.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub solver: smt::Limits,
    pub limits: Limits,
    pub is_covered: IsCovered<'a>,
    /// Counts what checking everything would cost, if nothing were known of the older version.
    pub compare_full: bool,
}

/// What may be taken for granted at the entry, as a term over the parameters.
pub type Requires<'a> = &'a dyn Fn(&mut TermPool, &Function, &Unit) -> Vec<TermId>;

/// Compares the assertions of two versions; `None` where neither has any that can be looked at.
///
/// `keeping`: where outcomes are kept from run to run. What is found does not depend on what is kept, unless a limit
/// is met: then what is kept may know more.
pub fn compare(
    old: Version,
    new: Version,
    requires: Requires,
    options: &Options,
    keeping: Option<&Keeping>,
) -> Option<Comparison> {
    let _room = cost::enter(cost::Room::Property);
    let mut pool = TermPool::new();
    let sites = (Sites::of(old.body, old.unit, &mut pool), Sites::of(new.body, new.unit, &mut pool));
    if sites.0.sites.is_empty() && sites.1.sites.is_empty() {
        return None;
    }
    let prepared = [old, new].map(|v| Prepared::of(v, requires));
    let parts = |k: usize, version: Version| {
        let p = &prepared[k];
        keeping.map(|to| kept::parts(version, to.around[k], &p.pool, &p.requires, options))
    };
    let parts = [parts(0, old), parts(1, new)];
    let read = |k: usize| {
        let sites = prepared[k].sites.sites.len();
        keeping.zip(parts[k].as_ref()).and_then(|(to, parts)| kept::read(to.keeper, parts, sites))
    };
    let (was_kept, known_already) = match read(0) {
        Some(kept) => (true, kept),
        None => (false, kept::VersionKnowledge::default()),
    };
    let mut answers = known_already.answers;
    answers.join(read(1).unwrap_or_default().answers);
    let [before, after] = prepared;
    let mut programs = (Alone::new(old), Alone::new(new));
    let (pairs, covered) = checks::pairs(&sites.0, &sites.1, options);
    let asked: BTreeSet<usize> = pairs.iter().filter_map(|(_, old, _)| *old).collect();
    let start = Instant::now();
    let known = (&mut answers, &known_already.holds, &asked);
    let (known, counts) = initial::initial(old, before, options, known, &mut programs.0);
    let initial = Effort { counts, time: start.elapsed() };
    let requires = requires(&mut pool, new.body, new.unit);
    let impact = Impact::of((old.body, &sites.0, old.unit), (new.body, &sites.1, new.unit));
    let mut work = checks::Work {
        new,
        old_sites: &sites.0,
        new_sites: &sites.1,
        requires: &requires,
        options,
        impact: &impact,
        questions: Questions::new(&mut answers, options.solver),
        pool,
        comparison: Comparison::default(),
    };
    let holds = work.run(&pairs, &known, (&mut programs.0, &mut programs.1));
    let mut comparison = work.comparison;
    comparison.initial = initial;
    comparison.covered = covered;
    comparison.impacted = impact.lines(new.body, &sites.1);
    comparison.was_kept = was_kept;
    if options.compare_full {
        comparison.full = Some(checks::full(new, after, options, &mut programs.1));
    }
    if let (Some(to), [Some(of_old), Some(of_new)]) = (keeping, &parts) {
        let held = known.iter().filter(|(_, k)| k.outcome == Standing::Holds).map(|(site, _)| *site);
        kept::write(to.keeper, of_old, sites.0.sites.len(), held.collect(), &answers);
        kept::write(to.keeper, of_new, sites.1.sites.len(), holds, &answers);
    }
    Some(comparison)
}
