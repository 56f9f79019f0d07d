//! The checks of the newer version (Fig. 3 of the paper), and what comes before them.
//!
//! With changed code, check I asks of impacted paths what is new of the assertions, check II what is
//! kept of them, and check III asks of the other paths what is new; what is kept holds there as it did.
//! I and II look at the same paths and are one exploration. Without changed code all paths are the
//! other ones.

use super::alone::Alone;
use super::differencing::{Difference, assert_difference, clause_texts, logical_difference};
use super::initial::{Known, Prepared, add, all_of, confirmed, fails, is_failure};
use super::matching::{Match, pair};
use super::{Comparison, Effort, Finding, Options, Step, Version, Violation};
use crate::fact::Standing;
use crate::interp::Input;
use crate::invariant::{self, Run};
use crate::ir::{Op, TermId, TermPool};
use crate::symex::{
    Answers, Counts, Direction, Explorer, Impact, Manner, Questions, Site, Sites, Slice, Suspicion, Target,
    clauses,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Everything that a comparison works with.
pub(super) struct Work<'a, 'k> {
    pub new: Version<'a>,
    pub old_sites: &'a Sites,
    pub new_sites: &'a Sites,
    pub requires: &'a [TermId],
    pub options: &'a Options<'a>,
    pub impact: &'a Impact,
    pub questions: Questions<'k>,
    pub pool: TermPool,
    pub comparison: Comparison,
}

/// An assertion of the newer version on its way through the checks.
struct Candidate {
    matched: Match,
    old: Option<usize>,
    site: usize,
    difference: Difference,
    outcome: Standing,
    step: Step,
    counterexample: Option<Input>,
}

/// An assertion of the older version with that of the newer one which it was.
pub(super) type Pair = (Match, Option<usize>, Option<usize>);

/// The assertions of both versions; those that stay as they are written and are covered by themselves.
pub(super) fn pairs(old: &Sites, new: &Sites, options: &Options) -> (Vec<Pair>, Vec<(Site, Site)>) {
    let same = |i: usize, j: usize| {
        let (a, b) = (old.formula(i), new.formula(j));
        a.is_some() && a == b
    };
    let mut pairs = pair(&old.sites, &new.sites, &same);
    let mut covered = Vec::new();
    // What is worded otherwise is told, too.
    pairs.retain(|&(_, was, is)| {
        let was = was.and_then(|i| old.sites.get(i));
        let both = was.zip(is.and_then(|j| new.sites.get(j)));
        let both = both.filter(|(was, is)| was.text == is.text && (options.is_covered)(is.line, &is.text));
        covered.extend(both.map(|(was, is)| (was.clone(), is.clone())));
        both.is_none()
    });
    (pairs, covered)
}

impl Work<'_, '_> {
    /// Checks the newer version by what is known of the older one; returns which of its assertions hold.
    pub fn run(
        &mut self,
        pairs: &[Pair],
        known: &BTreeMap<usize, Known>,
        (before, after): (&mut Alone, &mut Alone),
    ) -> BTreeSet<usize> {
        let start = Instant::now();
        let mut candidates = self.difference(pairs, known);
        let impact = self.impact;
        for c in candidates.iter_mut().filter(|c| impact.sites.contains(&c.site)) {
            (c.outcome, c.step) = (Standing::Open, Step::Open);
            let held = c.old.and_then(|i| known.get(&i)).is_some_and(|k| k.outcome == Standing::Holds);
            let stays = c.old.is_some_and(|i| impact.in_place.contains(&(i, c.site)));
            if !(held && stays)
                && let Some(formula) = self.new_sites.formula(c.site)
            {
                // Of an older one that fails, or that stands elsewhere, nothing is known on the other paths either.
                c.difference.left = clauses(&self.pool, formula);
                c.difference.holds = None;
            }
        }
        for c in candidates.iter_mut().filter(|c| c.outcome == Standing::Fails) {
            // What is called may be another function, although nothing here is.
            let site = &self.new_sites.sites[c.site];
            if !c.counterexample.as_ref().is_some_and(|input| fails(after, site, input)) {
                (c.outcome, c.step) = (Standing::Open, Step::Open);
                c.difference.left =
                    self.new_sites.formula(c.site).map(|f| clauses(&self.pool, f)).unwrap_or_default();
                c.difference.holds = None;
            }
        }
        self.reuse(&mut candidates, known, after);
        if !impact.affected.is_empty() {
            self.impacted(&mut candidates, after);
        }
        self.others(&mut candidates, after);
        self.comparison.incremental.time = start.elapsed();
        let holds = candidates.iter().filter(|c| c.outcome == Standing::Holds).map(|c| c.site).collect();
        for c in candidates {
            let finding = self.finding(c, known, before, after);
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
        holds
    }

    /// `PropertyDifferencing`.
    fn difference(&mut self, pairs: &[Pair], known: &BTreeMap<usize, Known>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for &(matched, old, new) in pairs {
            let Some((site, formula)) = new.and_then(|j| Some((j, self.new_sites.formula(j)?))) else {
                continue;
            };
            // Where it stood elsewhere, it was about other values.
            let before = old
                .filter(|i| self.impact.in_place.contains(&(*i, site)))
                .and_then(|i| Some((self.old_sites.formula(i)?, known.get(&i)?.outcome)));
            let difference = assert_difference(&mut self.pool, formula, before);
            let step = match (difference.left.is_empty(), matched) {
                (false, _) => Step::Open,
                (true, Match::Unchanged) => Step::Unchanged,
                (true, _) => Step::Implied,
            };
            let counterexample = match difference.outcome {
                Standing::Fails => old.and_then(|i| known.get(&i)?.counterexample.clone()),
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
            let mut open = candidates.iter_mut().filter(|c| c.outcome == Standing::Open).peekable();
            self.comparison.concrete_runs += u64::from(open.peek().is_some());
            for c in open {
                if fails(after, &self.new_sites.sites[c.site], input) {
                    c.outcome = Standing::Fails;
                    c.step = Step::Counterexample;
                    c.counterexample = Some(input.clone());
                }
            }
        }
    }

    /// Checks I and II.
    fn impacted(&mut self, candidates: &mut [Candidate], after: &mut Alone) {
        let impact = self.impact;
        // What is kept comes first: a failure of it is the graver one.
        let mut targets = Vec::new();
        let mut of: Vec<(usize, Step)> = Vec::new();
        let is_open = |c: &Candidate| c.outcome == Standing::Open && impact.sites.contains(&c.site);
        for (k, c) in candidates.iter().enumerate().filter(|(_, c)| is_open(c)) {
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

    /// Check III: of what is affected on the paths that are not, and of the others on all.
    fn others(&mut self, candidates: &mut [Candidate], after: &mut Alone) {
        let impact = self.impact;
        for is_affected in [true, false] {
            let mut targets = Vec::new();
            let mut of: Vec<(usize, Step)> = Vec::new();
            let those = |c: &Candidate| impact.sites.contains(&c.site) == is_affected;
            for (k, c) in candidates.iter().enumerate().filter(|(_, c)| those(c)) {
                let open = c.outcome == Standing::Open || is_affected && c.outcome == Standing::Holds;
                if open && !c.difference.left.is_empty() {
                    let left = self.pool.op(Op::And, &c.difference.left);
                    let holds = match c.difference.holds {
                        Some(old) => {
                            let not = self.pool.not(old);
                            self.pool.or(not, left)
                        }
                        None => left,
                    };
                    targets.push(Target { site: c.site, holds });
                    of.push((k, Step::CheckIII));
                }
            }
            let direction = if is_affected { Direction::Around(&impact.affected) } else { Direction::All };
            self.decide(candidates, &targets, &of, direction, after);
            self.implied(candidates, &of);
        }
    }

    /// Asks of what the paths leave open whether the older assertion says it already.
    fn implied(&mut self, candidates: &mut [Candidate], of: &[(usize, Step)]) {
        for (k, _) in of {
            let c = &mut candidates[*k];
            let formula = self.new_sites.formula(c.site);
            if self.impact.sites.contains(&c.site) || c.outcome != Standing::Open {
                continue;
            }
            if let (Some(new), Some(old)) = (formula, c.difference.holds) {
                let counts = &mut self.comparison.incremental.counts;
                c.difference.left = logical_difference(&mut self.pool, &mut self.questions, counts, new, old);
                if c.difference.left.is_empty() {
                    (c.outcome, c.step) = (Standing::Holds, Step::Implied);
                }
            }
        }
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
        let (version, sites) = (self.new, self.new_sites);
        let mut confirm = |s: &Suspicion| match confirmed(s, version, &sites.sites[s.site], after) {
            Some(input) => {
                found.entry(s.site).or_insert(input);
                true
            }
            None => false,
        };
        let (findings, counts) = self.explore(targets, direction, &mut confirm);
        add(&mut self.comparison.incremental.counts, counts);
        let mut fresh: BTreeMap<usize, (Standing, Step)> = BTreeMap::new();
        for (here, (k, step)) in findings.into_iter().zip(of) {
            let entry = fresh.entry(*k).or_insert((here, *step));
            *entry = match (entry.0, here) {
                (Standing::Fails, _) => *entry,
                (_, Standing::Fails) => (here, *step),
                (Standing::Open, _) | (_, Standing::Holds) => *entry,
                (Standing::Holds, Standing::Open) => (here, *step),
            };
        }
        let around = matches!(direction, Direction::Around(_));
        for (k, (now, step)) in fresh {
            let c = &mut candidates[k];
            // What an earlier check left open stays open.
            if around && c.outcome == Standing::Open && now == Standing::Holds {
                continue;
            }
            if !around || now != Standing::Holds {
                (c.outcome, c.step) = (now, step);
            }
            if now == Standing::Open {
                c.step = Step::Open;
            }
            if now == Standing::Fails {
                c.counterexample = found.get(&c.site).cloned();
            }
        }
    }

    fn explore(
        &mut self,
        targets: &[Target],
        direction: Direction,
        confirm: &mut dyn FnMut(&Suspicion) -> bool,
    ) -> (Vec<Standing>, Counts) {
        if targets.is_empty() {
            return (Vec::new(), Counts::default());
        }
        let (body, unit, sites) = (self.new.body, self.new.unit, self.new_sites);
        // On all paths, what was decided of the older version is known by what it was asked for.
        let slice = match direction {
            Direction::All => Slice::of(body, unit, sites, &BTreeSet::new(), |_| true),
            Direction::Through(nodes) | Direction::Around(nodes) => {
                Slice::of(body, unit, sites, nodes, |site| targets.iter().any(|t| t.site == site))
            }
        };
        let mut explorer = Explorer {
            f: body,
            unit,
            sites,
            pool: &mut self.pool,
            questions: &mut self.questions,
            manner: Manner::Joined,
            slice: Some(&slice),
            limits: self.options.limits,
            requires: self.requires,
            counts: Counts::default(),
            asked: 0,
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
            (Standing::Fails, Some(input)) => replay(before, old.as_ref(), after, &new, input),
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
        let violation = Some(cause).filter(|_| c.outcome == Standing::Fails);
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

/// Counts what checking everything costs by plain symbolic execution, where nothing is known.
pub(super) fn full(new: Version, mut prepared: Prepared, options: &Options, after: &mut Alone) -> Effort {
    let start = Instant::now();
    let mut answers = Answers::new();
    let targets = all_of(&prepared.sites);
    let sites = &prepared.sites;
    let mut confirm = |s: &Suspicion| confirmed(s, new, &sites.sites[s.site], after).is_some();
    let mut explorer = Explorer {
        f: new.body,
        unit: new.unit,
        sites,
        pool: &mut prepared.pool,
        questions: &mut Questions::new(&mut answers, options.solver),
        manner: Manner::Plain,
        slice: None,
        limits: options.limits,
        requires: &prepared.requires,
        counts: Counts::default(),
        asked: 0,
    };
    explorer.check(&targets, Direction::All, &mut confirm);
    Effort { counts: explorer.counts, time: start.elapsed() }
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
