//! The checks of the newer version (Fig. 3 of the paper), and what comes before them.
//!
//! With changed code, check I asks of impacted paths what is new of the assertions, check II what is
//! kept of them, and check III asks of the other paths what is new; what is kept holds there as it did.
//! I and II look at the same paths and are one exploration. Without changed code all paths are the
//! other ones.

use super::alone::Alone;
use super::differencing::{Difference, assert_difference, clause_texts};
use super::matching::{Match, pair};
use super::{Comparison, Effort, Finding, Options, Outcome, Step, Version, Violation};
use crate::interp::{self, End, Input};
use crate::invariant::{self, Run};
use crate::ir::{Function, Op, TermId, TermPool};
use crate::smt;
use crate::symex::{
    Counts, Direction, Explorer, Impact, Site, Sites, Suspicion, Target, Trie, Verdict, clauses,
};
use std::collections::BTreeMap;
use std::time::Instant;

/// Instructions of one replay.
const FUEL: u64 = 200_000;

/// Everything that a comparison works with.
pub(super) struct Work<'a> {
    pub old: Version<'a>,
    pub new: Version<'a>,
    pub old_sites: &'a Sites,
    pub new_sites: &'a Sites,
    pub requires: &'a [TermId],
    pub options: &'a Options,
    pub solver: smt::Solver,
    pub trie: Option<Trie>,
    pub pool: TermPool,
    pub comparison: Comparison,
}

/// What is known of an assertion of the older version.
struct Known {
    outcome: Outcome,
    counterexample: Option<Input>,
}

/// An assertion of the newer version on its way through the checks.
struct Candidate {
    matched: Match,
    old: Option<usize>,
    site: usize,
    difference: Difference,
    outcome: Outcome,
    step: Step,
    counterexample: Option<Input>,
}

impl Work<'_> {
    pub fn run(&mut self, impact: &Impact) {
        let mut before = Alone::new(self.old);
        let mut after = Alone::new(self.new);
        let known = self.initial(&mut before);
        let start = Instant::now();
        let pairs = self.pairs();
        let mut candidates = self.difference(&pairs, &known);
        if impact.affected.is_empty() {
            self.reuse(&mut candidates, &known, &mut after);
            self.others(&mut candidates, Direction::All, &mut after);
        } else {
            for c in &mut candidates {
                (c.outcome, c.step) = (Outcome::Unknown, Step::Open);
                let held = c.old.and_then(|i| known.get(&i)).is_some_and(|k| k.outcome == Outcome::NotFail);
                if !held && let Some(formula) = self.new_sites.formula(c.site) {
                    // Of an older one that fails nothing is known on the other paths either.
                    c.difference.left = clauses(&self.pool, formula);
                }
            }
            self.reuse(&mut candidates, &known, &mut after);
            self.impacted(&mut candidates, impact, &mut after);
            self.others(&mut candidates, Direction::Around(&impact.affected), &mut after);
        }
        self.comparison.incremental.time = start.elapsed();
        if self.options.compare_full {
            let start = Instant::now();
            let counts = self.full(&mut after);
            self.comparison.full = Some(Effort { counts, time: start.elapsed() });
        }
        for c in candidates {
            let finding = self.finding(c, &known, &mut before, &mut after);
            self.comparison.findings.push(finding);
        }
        for (_, old, _) in pairs.iter().filter(|(m, ..)| *m == Match::Removed) {
            self.comparison.findings.extend(old.map(|i| Finding {
                matched: Match::Removed,
                old: Some(self.old_sites.sites[i].clone()),
                new: None,
                before: known.get(&i).map(|k| k.outcome),
                after: None,
                step: Step::Open,
                violation: None,
                run: None,
                difference: Vec::new(),
            }));
        }
    }

    /// Checks the older version, assertion by assertion.
    fn initial(&mut self, before: &mut Alone) -> BTreeMap<usize, Known> {
        let sites = self.old_sites;
        let targets = all_of(sites);
        let mut found: BTreeMap<usize, Input> = BTreeMap::new();
        let f = self.old.body.clone();
        let mut confirm = |s: &Suspicion| match confirmed(s, &f, &sites.sites[s.site], before) {
            Some(input) => found.insert(s.site, input).is_none(),
            None => false,
        };
        let (findings, counts) = self.explore(false, &targets, Direction::All, &mut confirm);
        add(&mut self.comparison.initial.counts, counts);
        let outcomes = targets.iter().zip(findings);
        outcomes
            .map(|(t, verdict)| {
                (t.site, Known { outcome: outcome(verdict), counterexample: found.remove(&t.site) })
            })
            .collect()
    }

    fn pairs(&self) -> Vec<(Match, Option<usize>, Option<usize>)> {
        let same = |i: usize, j: usize| {
            let (a, b) = (self.old_sites.formula(i), self.new_sites.formula(j));
            a.is_some() && a == b
        };
        pair(&self.old_sites.sites, &self.new_sites.sites, &same)
    }

    /// `PropertyDifferencing`.
    fn difference(
        &mut self,
        pairs: &[(Match, Option<usize>, Option<usize>)],
        known: &BTreeMap<usize, Known>,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for &(matched, old, new) in pairs {
            let Some((site, formula)) = new.and_then(|j| Some((j, self.new_sites.formula(j)?))) else {
                continue;
            };
            let before = old.and_then(|i| Some((self.old_sites.formula(i)?, known.get(&i)?.outcome)));
            let counts = &mut self.comparison.incremental.counts;
            let difference = assert_difference(&mut self.pool, &mut self.solver, counts, formula, before);
            let step = match (difference.left.is_empty(), matched) {
                (false, _) => Step::Open,
                (true, Match::Unchanged) => Step::Unchanged,
                (true, _) => Step::Implied,
            };
            let counterexample = match difference.outcome {
                Outcome::Fail => old.and_then(|i| known.get(&i)?.counterexample.clone()),
                _ => None,
            };
            let outcome = difference.outcome;
            candidates.push(Candidate { matched, old, site, difference, outcome, step, counterexample });
        }
        candidates
    }

    /// Runs the inputs on which older assertions fail on what is open.
    fn reuse(&mut self, candidates: &mut [Candidate], known: &BTreeMap<usize, Known>, after: &mut Alone) {
        let mut inputs: Vec<&Input> = Vec::new();
        for input in known.values().filter_map(|k| k.counterexample.as_ref()) {
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        }
        for input in inputs {
            let mut open = candidates.iter_mut().filter(|c| c.outcome == Outcome::Unknown).peekable();
            self.comparison.concrete_runs += u64::from(open.peek().is_some());
            for c in open {
                if fails(after, &self.new_sites.sites[c.site], input) {
                    c.outcome = Outcome::Fail;
                    c.step = Step::Counterexample;
                    c.counterexample = Some(input.clone());
                }
            }
        }
    }

    /// Checks I and II.
    fn impacted(&mut self, candidates: &mut [Candidate], impact: &Impact, after: &mut Alone) {
        // What is kept comes first: a failure of it is the graver one.
        let mut targets = Vec::new();
        let mut of: Vec<(usize, Step)> = Vec::new();
        for (k, c) in candidates.iter().enumerate().filter(|(_, c)| c.outcome == Outcome::Unknown) {
            let Some(formula) = self.new_sites.formula(c.site) else { continue };
            let kept: Vec<TermId> =
                clauses(&self.pool, formula).into_iter().filter(|t| !c.difference.left.contains(t)).collect();
            for (clauses, step) in [(&kept, Step::CheckII), (&c.difference.left, Step::CheckI)] {
                if !clauses.is_empty() {
                    targets.push(Target { site: c.site, holds: self.pool.op(Op::And, clauses) });
                    of.push((k, step));
                }
            }
        }
        self.decide(candidates, &targets, &of, Direction::Through(&impact.affected), after);
    }

    /// Check III.
    fn others(&mut self, candidates: &mut [Candidate], direction: Direction, after: &mut Alone) {
        let mut targets = Vec::new();
        let mut of: Vec<(usize, Step)> = Vec::new();
        let after_impacted = matches!(direction, Direction::Around(_));
        for (k, c) in candidates.iter().enumerate() {
            let open = c.outcome == Outcome::Unknown || after_impacted && c.outcome == Outcome::NotFail;
            if open && !c.difference.left.is_empty() {
                targets.push(Target { site: c.site, holds: self.pool.op(Op::And, &c.difference.left) });
                of.push((k, Step::CheckIII));
            }
        }
        self.decide(candidates, &targets, &of, direction, after);
    }

    /// Explores, and gives the candidates what was found of their targets. A candidate keeps the first
    /// failure; it does not fail where no target of it does or stays open.
    fn decide(
        &mut self,
        candidates: &mut [Candidate],
        targets: &[Target],
        of: &[(usize, Step)],
        direction: Direction,
        after: &mut Alone,
    ) {
        let mut found: BTreeMap<usize, Input> = BTreeMap::new();
        let (f, sites) = (self.new.body.clone(), self.new_sites);
        let mut confirm = |s: &Suspicion| match confirmed(s, &f, &sites.sites[s.site], after) {
            Some(input) => {
                found.entry(s.site).or_insert(input);
                true
            }
            None => false,
        };
        let (findings, counts) = self.explore(true, targets, direction, &mut confirm);
        add(&mut self.comparison.incremental.counts, counts);
        let mut fresh: BTreeMap<usize, (Outcome, Step)> = BTreeMap::new();
        for (verdict, (k, step)) in findings.into_iter().zip(of) {
            let here = outcome(verdict);
            let entry = fresh.entry(*k).or_insert((here, *step));
            *entry = match (entry.0, here) {
                (Outcome::Fail, _) => *entry,
                (_, Outcome::Fail) => (here, *step),
                (Outcome::Unknown, _) | (_, Outcome::NotFail) => *entry,
                (Outcome::NotFail, Outcome::Unknown) => (here, *step),
            };
        }
        let around = matches!(direction, Direction::Around(_));
        for (k, (now, step)) in fresh {
            let c = &mut candidates[k];
            // What an earlier check left open stays open.
            if around && c.outcome == Outcome::Unknown && now == Outcome::NotFail {
                continue;
            }
            if !around || now != Outcome::NotFail {
                (c.outcome, c.step) = (now, step);
            }
            if now == Outcome::Unknown {
                c.step = Step::Open;
            }
            if now == Outcome::Fail {
                c.counterexample = found.get(&c.site).cloned();
            }
        }
    }

    /// Counts what checking everything costs where nothing is kept of the older version.
    fn full(&mut self, after: &mut Alone) -> Counts {
        let (f, sites) = (self.new.body.clone(), self.new_sites);
        let mut confirm = |s: &Suspicion| confirmed(s, &f, &sites.sites[s.site], after).is_some();
        self.solver = smt::Solver::new(self.options.solver);
        self.trie = None;
        self.explore(true, &all_of(sites), Direction::All, &mut confirm).1
    }

    fn explore(
        &mut self,
        new: bool,
        targets: &[Target],
        direction: Direction,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) -> (Vec<Verdict>, Counts) {
        if targets.is_empty() {
            return (Vec::new(), Counts::default());
        }
        let (version, sites) = if new { (self.new, self.new_sites) } else { (self.old, self.old_sites) };
        let mut explorer = Explorer {
            f: version.body,
            unit: version.unit,
            sites,
            pool: &mut self.pool,
            solver: &mut self.solver,
            trie: self.trie.as_mut(),
            limits: self.options.limits,
            requires: self.requires,
            counts: Counts::default(),
        };
        let findings = explorer.check(targets, direction, confirm);
        (findings.into_iter().map(|f| f.verdict).collect(), explorer.counts)
    }

    fn finding(
        &self,
        c: Candidate,
        known: &BTreeMap<usize, Known>,
        before: &mut Alone,
        after: &mut Alone,
    ) -> Finding {
        let new = self.new_sites.sites[c.site].clone();
        let old = c.old.map(|i| self.old_sites.sites[i].clone());
        let was = c.old.and_then(|i| known.get(&i)).map(|k| k.outcome);
        let run = match (&c.outcome, c.counterexample) {
            (Outcome::Fail, Some(input)) => replay(before, old.as_ref(), after, &new, input),
            _ => None,
        };
        let failed_before =
            run.as_ref().zip(old.as_ref()).is_some_and(|(run, site)| is_failure(&run.old, site));
        let cause = match (failed_before, c.matched, c.step) {
            (true, ..) => Violation::Preexisting,
            (_, Match::Unchanged, _) | (_, _, Step::CheckII) => Violation::Regression,
            (_, _, Step::CheckI) => Violation::NonconformingFeature,
            _ => Violation::BadPropertyUpdate,
        };
        let violation = Some(cause).filter(|_| c.outcome == Outcome::Fail);
        let formula = self.new_sites.formula(c.site);
        let all = formula.map(|f| clauses(&self.pool, f)).unwrap_or_default();
        let texts = clause_texts(&new.text, all.len());
        let text = |t: &TermId| {
            let k = all.iter().position(|c| c == t);
            texts
                .as_ref()
                .zip(k)
                .and_then(|(texts, k)| texts.get(k).cloned())
                .unwrap_or_else(|| new.text.clone())
        };
        let mut difference: Vec<String> = c.difference.left.iter().map(text).collect();
        difference.dedup();
        Finding {
            matched: c.matched,
            old,
            new: Some(new),
            before: was,
            after: Some(c.outcome),
            step: c.step,
            violation,
            run,
            difference,
        }
    }
}

/// All assertions of a version.
fn all_of(sites: &Sites) -> Vec<Target> {
    let of = |site: usize| Some(Target { site, holds: sites.formula(site)? });
    (0..sites.sites.len()).filter_map(of).collect()
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Holds => Outcome::NotFail,
        Verdict::Fails => Outcome::Fail,
        Verdict::Open => Outcome::Unknown,
    }
}

fn add(to: &mut Counts, more: Counts) {
    to.queries += more.queries;
    to.paths += more.paths;
    to.states += more.states;
}

/// Replays a suspicion; the input on which the assertion fails, if it does.
fn confirmed(s: &Suspicion, f: &Function, site: &Site, programs: &mut Alone) -> Option<Input> {
    let input = invariant::input_of_model(s.pool, s.model, s.conditions, f);
    fails(programs, site, &input).then_some(input)
}

fn is_failure(o: &interp::Outcome, site: &Site) -> bool {
    matches!(&o.end, End::AssertFailed { text, place } if *text == site.text && place.line == site.line)
}

/// Whether an assertion, alone, fails on an input, whatever functions do that nobody defines.
fn fails(programs: &mut Alone, site: &Site, input: &Input) -> bool {
    let Some(program) = programs.with(Some(site)) else { return false };
    let limits = interp::Limits { fuel: FUEL, ..interp::Limits::default() };
    let outcome = interp::run(&program, programs.name(), input, &limits);
    is_failure(&outcome, site) && outcome.assumed.calls.iter().all(|c| c.given)
}

/// Runs both versions with only the assertion in question.
fn replay(
    before: &mut Alone,
    old: Option<&Site>,
    after: &mut Alone,
    new: &Site,
    input: Input,
) -> Option<Run> {
    let (a, b) = (before.with(old)?, after.with(Some(new))?);
    Some(invariant::replay(&a, &b, (before.name(), after.name()), input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{outcome as ended, place, returned};

    #[test]
    fn a_verdict_is_an_outcome() {
        let all = [Verdict::Holds, Verdict::Fails, Verdict::Open].map(outcome);
        assert_eq!(all, [Outcome::NotFail, Outcome::Fail, Outcome::Unknown]);
    }

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
