//! The three-way verdict on a region: under which conditions its versions do something else, and what.
//!
//! Every path of the older version is held against every path of the newer one. Where both may be taken from one
//! state, what they do is compared: where they end, the calls that they make, what they leave in variables that
//! are live and in memory. Terms that are equal after normalisation are equal; the rest is a question to the
//! solver, under the conditions of both paths. Where the ends differ, both go on through common code first: a
//! tail that was merged, or written twice, is no difference.
//!
//! After a call that only one version makes, the rest is compared *as before, after that call*: what it may have
//! done to memory is taken out of both sides (`docs/design/local-differences.md`).

use super::answers::{asks_answers, unmodelled};
use super::calls::literal;
use super::difference::{Difference, Item, Outcome};
use super::fitting::members;
use super::follow::{Known, is_written_in, onwards};
use super::machine::{End, Event, Literal, Machine, Path, variable_leaf};
use super::mistake::{Mistake, is_made};
use super::region::{Cut, Region, decision, paths};
use super::side::{Side, call_types};
use super::sites::Tag;
use super::tested::{Test, reads};
use super::text_tests::{self, Exclusions};
use super::widened;
use crate::ir::{TermId, TermPool, Unit, VarId, VarKind};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::semantics::library;
use crate::semantics::liveness::Liveness;
use crate::semantics::output::prints_alike;
use crate::smt::{Decider, Decision};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Pairs of paths that are looked at.
const MAX_PAIRS: usize = 400;
/// Pairs of paths of all regions of a function, each as often as the square of its calls.
pub(super) const MAX_WORK: usize = 60_000;
/// Differences that are kept.
const MAX_DIFFERENCES: usize = 40;

/// What was done, of pairs as in [`MAX_WORK`], and how much of it may be.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub done: usize,
    pub most: usize,
}

/// Compares regions of one graph.
pub(super) struct Comparer<'c> {
    pub graph: &'c Mvicfg,
    pub sides: [&'c Side<'c>; 2],
    pub common: Vec<bool>,
    pub liveness: &'c Liveness,
    /// Where the region begins that is compared.
    pub frontier: MvId,
    /// Where it is cut.
    pub cut: Option<Cut>,
    /// What was done so far, of all regions.
    pub work: Work,
    /// What was taken for granted of the newer version in common code: see [`Outcome::valid`].
    pub valid: bool,
    /// A pair of paths is one of several that another one was cut into: see [`super::forks`].
    pub is_fork: bool,
    /// Pairs of the region that were tried to be cut.
    pub forks: usize,
    /// What holds at every point: see [`super::widened`].
    pub relations: Vec<TermId>,
    /// Tests that hold besides, by class, where the region begins that is compared: see [`super::tested`].
    pub given: [Vec<Rc<Test>>; 2],
    /// What of all that has to do with the region.
    pub premises: Premises,
    /// Calls of the older version and of the newer one that take each other's place: see [`super::answers`].
    pub replaceable: BTreeSet<(MvId, MvId)>,
    pub pool: TermPool,
    pub decider: Decider,
}

/// What is known of the states that the paths of a region begin in.
#[derive(Default)]
pub(super) struct Premises {
    /// What holds.
    pub conditions: Vec<TermId>,
    /// What holds, too, of values that the region's paths do not ask for: what they lead to may.
    pub unasked: Vec<TermId>,
    /// What of the tests of texts does not hold together.
    pub exclusions: Exclusions,
    /// Some hold but for what calls of one version do.
    pub past_calls: bool,
    /// By variable: what it was assigned ([`super::assigned`]).
    pub assigned: BTreeMap<TermId, TermId>,
}

pub(super) enum Verdict {
    /// Once common code was passed through these nodes.
    Same(BTreeSet<MvId>),
    Differ([Vec<Item>; 2]),
    /// They differ, and it is not known in what else.
    Partly([Vec<Item>; 2], String),
    Open(String),
}

/// What was found of two paths.
#[derive(Default)]
pub(super) struct Found {
    /// What makes them differ.
    pub items: [Vec<Item>; 2],
    /// What each of them does, and may do alike.
    alike: [Vec<Item>; 2],
    /// Why it is not known whether they do these things alike, or anything else.
    open: Option<String>,
    /// Something else may differ.
    hidden: bool,
}

impl Found {
    /// Something that each of them does, and may do alike.
    pub(super) fn unsure(&mut self, reason: impl FnOnce() -> String, items: [Option<Item>; 2]) {
        self.open.get_or_insert_with(reason);
        self.hidden |= items.iter().all(Option::is_none);
        self.alike.iter_mut().zip(items).for_each(|(list, item)| list.extend(item));
    }

    /// Something that each of them does, and not alike.
    fn both(&mut self, items: [Option<Item>; 2]) {
        self.items.iter_mut().zip(items).for_each(|(list, item)| list.extend(item));
    }

    /// What each version does is said of both where anything differs for sure.
    fn verdict(self) -> Verdict {
        let Found { mut items, alike, open, hidden } = self;
        let differs = items.iter().any(|list| !list.is_empty());
        if differs {
            items.iter_mut().zip(alike).for_each(|(list, more)| list.extend(more));
        }
        match (differs, open) {
            (false, None) => Verdict::Same(BTreeSet::new()),
            (false, Some(reason)) => Verdict::Open(reason),
            (true, Some(reason)) if hidden => Verdict::Partly(items, reason),
            (true, _) => Verdict::Differ(items),
        }
    }
}

/// How a loop is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// There are no more rounds, and yet the place stands within the loop's text.
    Rounds,
    Loop,
}

impl Comparer<'_> {
    /// `from_node`: what is told is told of the states at the frontier's node that take its edge.
    pub fn compare(&mut self, region: &Region, from_node: bool) -> Outcome {
        let frontier = &region.frontier;
        (self.frontier, self.cut, self.valid, self.forks) = (frontier.node, region.cut, false, 0);
        let mut all = Vec::new();
        for class in ClassId::PAIR {
            let (to, side) = (frontier.to[class], self.sides[class]);
            let decided = match from_node {
                true => decision(self.graph, &mut self.pool, side, frontier),
                false => Ok(None),
            };
            let found = decided.and_then(|decided| {
                paths(self.graph, &mut self.pool, side, &self.common, (to, decided, region.cut))
            });
            match found {
                Ok(paths) => all.push(paths),
                Err(reason) => return Outcome::of(Some(reason)),
            }
        }
        let (Some(newer), Some(older)) = (all.pop(), all.pop()) else {
            return Outcome::of(None);
        };
        self.premises = self.premises(older.iter().chain(&newer));
        self.replaceable = self.replaceable(&older, &newer);
        let mut outcome = Outcome::of(None);
        outcome.apart = self.premises.past_calls;
        let pairs = self.compatible(&older, &newer);
        // What a pair costs grows with the calls that are held against each other, and with what they leave.
        let events =
            |paths: &[Path]| paths.iter().map(|p| p.events.len()).sum::<usize>() / paths.len().max(1);
        self.work.done += pairs.len() * (1 + events(&older) + events(&newer)).pow(2);
        if pairs.len() > MAX_PAIRS || self.work.done > self.work.most {
            outcome.open = Some("too many paths".into());
            return outcome;
        }
        for (old, new) in pairs {
            self.pair(old, new, &mut outcome);
            outcome.valid |= self.valid;
            if outcome.differences.len() > MAX_DIFFERENCES {
                outcome.open = Some("too many differences".into());
                return outcome;
            }
        }
        outcome
    }

    /// The pairs of paths that may be taken from one state, as far as that shows in what they ask of it, and not of what
    /// calls answer: the same test does not hold in one of them and fail in the other.
    fn compatible<'p>(&mut self, older: &'p [Path], newer: &'p [Path]) -> Vec<(&'p Path, &'p Path)> {
        let mut known: BTreeMap<TermId, bool> = BTreeMap::new();
        let mut asked = |path: &'p Path| -> (&'p Path, BTreeSet<TermId>) {
            let terms = path.literals.iter().map(|l| l.term);
            let is_of_state = |t: &TermId| !*known.entry(*t).or_insert_with(|| asks_answers(&self.pool, *t));
            (path, terms.filter(is_of_state).collect())
        };
        let new: Vec<_> = newer.iter().map(&mut asked).collect();
        let old: Vec<_> = older.iter().map(&mut asked).collect();
        let mut pairs = Vec::new();
        for (path, terms) in &old {
            let excluded: BTreeSet<TermId> = terms.iter().map(|t| self.pool.not(*t)).collect();
            pairs.extend(
                new.iter().filter(|(_, terms)| terms.is_disjoint(&excluded)).map(|(p, _)| (*path, *p)),
            );
        }
        pairs
    }

    /// What holds of the states that paths begin in, as far as they ask for the same values.
    fn premises<'p>(&mut self, paths: impl Iterator<Item = &'p Path> + Clone) -> Premises {
        let mut found = self.relations.clone();
        let of_path = |p: &'p Path| {
            let result = if let End::Return(value) = p.end { value } else { None };
            let hazards = p.hazards.iter().map(|h| h.condition);
            p.literals.iter().map(|l| l.term).chain(hazards).chain(result)
        };
        let asked = reads(&self.pool, paths.clone().flat_map(of_path));
        let units = self.sides.map(|side| side.version.unit);
        let exclusions = Exclusions::of(&mut self.pool, &asked, units);
        found.extend(text_tests::lengths(&mut self.pool, &asked));
        // An assignment has to do with what is asked of its variable, and with what is written to it.
        let written: BTreeSet<VarId> = paths.flat_map(Path::written).collect();
        let mut past_calls = false;
        let given = std::mem::take(&mut self.given);
        let rechecked = self.rechecked(&given);
        let (mut assigned, mut unasked) = (BTreeMap::new(), Vec::new());
        for (class, tests) in ClassId::PAIR.into_iter().zip(&given) {
            for test in tests {
                assigned.extend(test.assignment(self.graph, &mut self.pool, self.sides[class]));
                let term = test.term(self.graph, &mut self.pool, self.sides[class]);
                let term = term.filter(|t| !test.past_calls || !rechecked.contains(t));
                let is_asked = |t: &TermId| match test.assigned {
                    Some(v) => {
                        let own = self.pool.known_leaf(&variable_leaf(self.graph, v));
                        written.contains(&v) || own.is_some_and(|own| asked.contains(&own))
                    }
                    None => !reads(&self.pool, [*t]).is_disjoint(&asked),
                };
                let term = term.filter(|t| !found.contains(t));
                if let Some(term) = term.filter(|t| !is_asked(t)) {
                    unasked.extend((!test.past_calls).then_some(term));
                    continue;
                }
                past_calls |= term.is_some() && test.past_calls;
                found.extend(term);
            }
        }
        Premises { conditions: found, unasked, exclusions, past_calls, assigned }
    }

    /// What each version tests by itself before a call: to test it once more behind the call is no matter of one of them.
    fn rechecked(&mut self, given: &[Vec<Rc<Test>>; 2]) -> BTreeSet<TermId> {
        let [old, new] = ClassId::PAIR.map(|class| {
            let own = given[class].iter().filter(|test| test.past_calls && test.is_own(self.graph));
            let terms = own.filter_map(|test| test.term(self.graph, &mut self.pool, self.sides[class]));
            terms.collect::<BTreeSet<TermId>>()
        });
        old.intersection(&new).copied().collect()
    }

    pub(super) fn pair(&mut self, old: &Path, new: &Path, outcome: &mut Outcome) {
        let (old, new) = (&*self.until_undefined(old, new), &*self.until_undefined(new, old));
        let ahead = self.together_again(old, new);
        let (old, new) = ahead.as_ref().map_or((old, new), |[old, new]| (old, new));
        let new = &self.aligned(old, new);
        let (a, b) = self.settled(old, new);
        // Calls in each other's place are taken to give the same: what else they may give is left out, and said so.
        let mut replaced = self.replaced(&a.path, &b.path);
        let alike = self.with_answers(&b.path.literals, &replaced);
        if alike == b.path.literals {
            replaced.clear();
        }
        // Whether that these paths exclude each other may rest on what own calls do.
        let rests_on_calls =
            !replaced.is_empty() || a.path.literals != old.literals || b.path.literals != new.literals;
        let mut told = joined(&old.literals, &self.with_answers(&new.literals, &replaced));
        // What is asked once more behind an own call.
        let asked_again = |raw: &[Literal], settled: &[Literal], others: &[Literal]| -> Vec<TermId> {
            let pairs = raw.iter().zip(settled).filter(|(raw, settled)| raw.term != settled.term);
            pairs.filter(|(_, l)| others.iter().any(|o| o.term == l.term)).map(|(raw, _)| raw.term).collect()
        };
        let mut again = asked_again(&old.literals, &a.path.literals, &b.path.literals);
        again.extend(asked_again(&new.literals, &b.path.literals, &a.path.literals));
        told.retain(|l| !again.contains(&l.term));
        self.premises.exclusions.shorten(&mut self.pool, &mut told);
        let mut conditions: Vec<TermId> = self.premises.conditions.clone();
        for l in a.path.literals.iter().chain(&b.path.literals).chain(&alike) {
            if !conditions.contains(&l.term) {
                conditions.push(l.term);
            }
        }
        let fits = a.path.fits.iter().chain(&b.path.fits).map(|(term, _)| *term);
        conditions.extend(fits);
        let joint = conditions.iter().fold(self.pool.bool(true), |all, c| self.pool.and(all, *c));
        let known = Known::of(&mut self.pool, &conditions);
        outcome.fits.extend(members([&a.path, &b.path]));
        // What contradicts what is known is not taken, if own calls do nothing to it.
        if self.pool.as_const(joint).is_some_and(|c| c == crate::ir::Const::FALSE)
            || self.premises.exclusions.contradict(&conditions)
            || conditions.iter().any(|&c| self.contradicts(&conditions, c))
        {
            outcome.apart |= rests_on_calls;
            return;
        }
        if let Some(reason) = unmodelled(self.graph, old, new) {
            if self.may_hold(joint) {
                outcome.open.get_or_insert(reason);
            }
            return;
        }
        let verdict = self.judge([&a.path, &b.path], joint, &known);
        // Whether a state is let through by the tests on the way may be too hard a question.
        let literals = a.path.literals.iter().chain(&b.path.literals).map(|l| l.term);
        let fits = a.path.fits.iter().chain(&b.path.fits).map(|(term, _)| *term);
        let anywhere: Vec<TermId> = self.relations.iter().copied().chain(literals).chain(fits).collect();
        let apart = a.apart || b.apart || !replaced.is_empty();
        if !matches!(verdict, Verdict::Open(_)) {
            outcome.valid |= !b.path.accesses.is_subset(&a.path.accesses);
            self.new_hazards((&a.path, &b.path), (old, new), (joint, &known), outcome);
        }
        let raw = |items: [Vec<Item>; 2]| if apart { unstripped(items, [old, new]) } else { items };
        match verdict {
            Verdict::Same(nodes) => {
                outcome.apart |= apart;
                outcome.passes(nodes);
            }
            Verdict::Open(reason) => {
                if self.may_hold(joint) {
                    outcome.open.get_or_insert(reason);
                }
            }
            Verdict::Partly(items, reason) => {
                if self.may_hold(joint) {
                    outcome.open.get_or_insert(reason);
                }
                if self.satisfiable(joint) == Some(true) {
                    outcome.apart |= apart;
                    outcome.differences.push(difference(told, raw(items), old, new));
                }
            }
            Verdict::Differ(items) => {
                // In C nothing is said of what overflows. What no longer does is news, and a test for it.
                let within = self.where_apart(&items, joint);
                match self.satisfiable(joint).or_else(|| self.satisfiable_all(&anywhere)) {
                    Some(true) if self.rests_on_overflow(&b.path, within) => outcome.unwrapped = true,
                    Some(true) => {
                        if let Some(forked) = self.forked([old, new], &items) {
                            return outcome.absorb(forked);
                        }
                        outcome.apart |= apart;
                        let (items, literals) = self.narrowed(raw(items), (told, joint));
                        outcome.differences.push(difference(literals, items, old, new));
                    }
                    Some(false) => outcome.apart |= rests_on_calls,
                    None => _ = outcome.open.get_or_insert_with(|| "a condition that is not decided".into()),
                }
            }
        }
    }

    /// Both paths where common code leads them for sure, the end of the function or one node, if one of them makes on the
    /// way the calls that the other one has made already.
    fn together_again(&mut self, old: &Path, new: &Path) -> Option<[Path; 2]> {
        let are_apart = |a: &Path, b: &Path| !calls_alone(a, b).is_empty() || !calls_alone(b, a).is_empty();
        if self.cut.is_some() || old.end == new.end {
            return None;
        }
        let aligned = self.aligned(old, new);
        if !are_apart(old, &aligned) {
            return None;
        }
        let literals = old.literals.iter().chain(&new.literals).map(|l| l.term);
        let conditions: Vec<TermId> = self.premises.conditions.iter().copied().chain(literals).collect();
        let known = Known::of(&mut self.pool, &conditions);
        let units = self.sides.map(|side| side.version.unit);
        let [old, new] = [(0, old), (1, new)].map(|(class, path): (usize, &Path)| {
            onwards(self.graph, &mut self.pool, (self.sides[class], units), path, &known)
        });
        let new = self.aligned(&old, &new);
        let is_met = is_whole(&old.end) && is_whole(&new.end) || old.end == new.end;
        (is_met && !are_apart(&old, &new)).then_some([old, new])
    }

    /// Whether a condition is false if the others hold, as far as putting in constants shows.
    fn contradicts(&mut self, conditions: &[TermId], c: TermId) -> bool {
        let others: Vec<TermId> = conditions.iter().copied().filter(|o| *o != c).collect();
        let known = Known::of(&mut self.pool, &others);
        let negation = self.pool.not(c);
        known.is_true(&mut self.pool, negation)
    }

    /// Whether a condition only holds where a signed sum of a path overflows, which neither the path asks for by itself nor
    /// what is known before it.
    fn rests_on_overflow(&mut self, path: &Path, condition: TermId) -> bool {
        if path.overflows.is_empty() {
            return false;
        }
        let fits = path.overflows.iter().fold(self.pool.bool(true), |all, overflow| {
            let fits = self.pool.not(*overflow);
            self.pool.and(all, fits)
        });
        let within = self.pool.and(condition, fits);
        // Where the path overflows in every state that comes there, that is what it does.
        let before = self.premises.conditions.iter().copied();
        let own: Vec<TermId> = before.chain(path.literals.iter().map(|l| l.term)).chain([fits]).collect();
        self.satisfiable(within) == Some(false) && self.satisfiable_all(&own) == Some(true)
    }

    pub(super) fn satisfiable(&mut self, condition: TermId) -> Option<bool> {
        self.decider.is_satisfiable(&mut self.pool, condition).ok()
    }

    fn satisfiable_all(&mut self, conditions: &[TermId]) -> Option<bool> {
        let joint = conditions.iter().fold(self.pool.bool(true), |all, c| self.pool.and(all, *c));
        self.satisfiable(joint)
    }

    fn may_hold(&mut self, condition: TermId) -> bool {
        self.satisfiable(condition) != Some(false)
    }

    /// Whether two paths that end at one place leave the same there, as far as normalised terms show.
    pub(super) fn is_same_here(&mut self, old: &Path, new: &Path) -> bool {
        if is_made(Mistake::AllTheSame) {
            return true;
        }
        let events = old.events.len() == new.events.len()
            && old.events.iter().zip(&new.events).all(|(a, b)| is_same_call(a, b));
        let memory = is_made(Mistake::MemoryIgnored)
            || self.kept(old.memory, &old.end) == self.kept(new.memory, &new.end);
        if !events || !memory {
            return false;
        }
        self.live(old, new).into_iter().all(|v| {
            let (a, b) = self.values(v, old, new);
            a == b
        })
    }

    /// The variables in which two paths that end at one node may leave something that is read there.
    fn live(&self, old: &Path, new: &Path) -> BTreeSet<VarId> {
        let (End::At(a), End::At(b)) = (&old.end, &new.end) else { return BTreeSet::new() };
        if is_made(Mistake::VariablesIgnored) {
            return BTreeSet::new();
        }
        let cut = self.cut.filter(|c| (*a, *b) == (c.there, c.there));
        let is_live = |v: &VarId| {
            cut.is_some_and(|c| self.liveness.before(c.class, c.node).contains(*v))
                || self.liveness.before(ClassId::OLD, *a).contains(*v)
                || self.liveness.before(ClassId::NEW, *b).contains(*v)
        };
        old.written().chain(new.written()).filter(is_live).collect()
    }

    fn values(&mut self, v: VarId, old: &Path, new: &Path) -> (TermId, TermId) {
        let [first, second] = self.sides;
        let a = Machine { graph: self.graph, pool: &mut self.pool, side: first }.var(old, v);
        let b = Machine { graph: self.graph, pool: &mut self.pool, side: second }.var(new, v);
        (a, b)
    }

    /// What two paths that both come to the end of the function do differently.
    pub(super) fn whole_items(&mut self, paths: [&Path; 2], joint: TermId) -> Verdict {
        let [old, new] = paths;
        let calls = [calls_alone(old, new), calls_alone(new, old)];
        let mut found = Found {
            items: ClassId::PAIR.map(|class| self.call_items(&calls, old, new, class, joint)),
            ..Found::default()
        };
        match (&old.end, &new.end) {
            (End::Return(a), End::Return(b)) => match (a, b) {
                (Some(_), Some(_)) if is_made(Mistake::ResultsIgnored) => {}
                (Some(a), Some(b)) => match self.equal_results([*a, *b], joint) {
                    Decision::Equal => {}
                    Decision::Open { .. } if !self.is_evident(*a, *b) => {
                        let [old, new] = self.both_returns(paths);
                        found.unsure(|| "what is returned".to_owned(), [old, new]);
                    }
                    _ => found.both(self.both_returns(paths)),
                },
                (None, None) => {}
                _ => found.both(self.both_returns(paths)),
            },
            (a, b) if a == b => {}
            _ => {
                let ends = self.ends(paths, paths, joint);
                for (items, list) in found.items.iter_mut().zip(ends) {
                    let is_end = |i: &Item| !matches!(i, Item::Call(_));
                    items.extend(list.into_iter().filter(is_end));
                }
            }
        }
        self.memory_items(paths, joint, &mut found);
        found.verdict()
    }

    /// Whether results are equal numbers, whatever their types are; of constants the types are told.
    fn equal_results(&mut self, results: [TermId; 2], joint: TermId) -> Decision {
        if self.is_evident(results[0], results[1]) {
            return self.equal(results[0], results[1], joint);
        }
        let types = ClassId::PAIR.map(|c| &self.graph.bodies[c].ret);
        let [a, b] = widened::numbers(&mut self.pool, results, types);
        self.equal(a, b, joint)
    }

    fn both_returns(&self, paths: [&Path; 2]) -> [Option<Item>; 2] {
        paths.map(|path| match path.end {
            End::Return(value) => Some(Item::Return(value, path.node, path.memory)),
            _ => None,
        })
    }

    /// What two paths that end at one node do differently.
    pub(super) fn items(&mut self, paths: [&Path; 2], joint: TermId) -> Verdict {
        let [old, new] = paths;
        let calls = [calls_alone(old, new), calls_alone(new, old)];
        if let (End::Return(_), End::Return(_)) = (&old.end, &new.end) {
            return self.whole_items(paths, joint);
        }
        let mut found = Found {
            items: ClassId::PAIR.map(|class| self.call_items(&calls, old, new, class, joint)),
            ..Found::default()
        };
        for v in self.live(old, new) {
            let (a, b) = self.values(v, old, new);
            // A version that has no such variable does nothing to it.
            let value = |class: ClassId, value| {
                self.graph.var_map[class].contains(&v).then_some(Item::Variable(v, value))
            };
            let both = [value(ClassId::OLD, a), value(ClassId::NEW, b)];
            match self.equal(a, b, joint) {
                Decision::Equal => {}
                Decision::Open { .. } if !self.is_evident(a, b) => {
                    let var = &self.graph.vars[v.0 as usize];
                    let is_named = var.kind != VarKind::Temp;
                    let reason = || match is_named {
                        false => "a value in the middle of a statement".to_owned(),
                        true => format!("the value of {}", var.name),
                    };
                    found.unsure(reason, if is_named { both } else { [None, None] });
                }
                _ => found.both(both),
            }
        }
        self.memory_items(paths, joint, &mut found);
        // What a version sets for itself before a loop is told by what it does with it there, where it may be anything.
        let is_own = |i: &Item| match i {
            Item::Variable(v, _) => ClassId::PAIR.iter().any(|c| !self.graph.var_map[*c].contains(v)),
            _ => false,
        };
        if found.open.is_none() && self.is_before_loop(&new.end) && found.items.iter().flatten().all(is_own) {
            found.items = Default::default();
        }
        found.verdict()
    }

    /// Whether a path from outside of all loops ends outside of them, or at the head of one.
    fn is_before_loop(&self, end: &End) -> bool {
        let flow = self.sides[ClassId::NEW].flow;
        let around = |node: MvId| flow.innermost.get(node.0 as usize).copied().flatten();
        let End::At(node) = *end else { return false };
        let is_head = flow.loop_at.get(node.0 as usize).is_some_and(Option::is_some);
        around(self.frontier).is_none() && (is_head || around(node).is_none())
    }

    /// Where paths with different ends lead, after calls that the other does not make. One that leaves a loop is
    /// told no further.
    pub(super) fn ends(&mut self, paths: [&Path; 2], further: [&Path; 2], joint: TermId) -> [Vec<Item>; 2] {
        let shown = ClassId::PAIR.map(|c| match paths[c].end {
            End::At(node) => match self.leaves_loop(c, paths[c], node) {
                Some(Left::Loop) => paths[c],
                Some(Left::Rounds) if !is_whole(&further[c].end) => paths[c],
                _ => further[c],
            },
            _ => further[c],
        });
        let [old, new] = shown;
        let calls = [calls_alone(old, new), calls_alone(new, old)];
        let mut items = [Vec::new(), Vec::new()];
        for class in ClassId::PAIR {
            let path = shown[class];
            items[class].extend(calls[class].iter().map(|&k| Item::Call(path.events[k].clone())));
        }
        // What one of them writes on the way; what is not understood of it is told by the ends alone.
        let mut written = Found::default();
        self.memory_items(shown, joint, &mut written);
        for (list, more) in items.iter_mut().zip(written.items.into_iter().zip(written.alike)) {
            list.extend(more.0.into_iter().chain(more.1));
        }
        for class in ClassId::PAIR {
            let path = shown[class];
            items[class].push(match path.end {
                End::At(node) => Item::At(node),
                End::Return(value) => Item::Return(value, path.node, path.memory),
                End::Ends | End::Unreachable => Item::Ends(path.events.last().cloned()),
            });
        }
        items
    }

    /// How a path leaves a loop that it begins in, or whose head it comes by.
    fn leaves_loop(&self, class: ClassId, path: &Path, node: MvId) -> Option<Left> {
        let side = self.sides[class];
        let around = side.flow.innermost.get(self.frontier.0 as usize).copied().flatten();
        let own =
            path.visited.iter().filter(|n| !path.ran(**n)).filter_map(|n| side.flow.loop_at[n.0 as usize]);
        let left = own.chain(around).filter(|l| !side.flow.loops[*l].body.contains(&node));
        left.map(|l| if is_written_in(self.graph, side, node, l) { Left::Rounds } else { Left::Loop }).max()
    }

    /// The calls of one side that the other does not make, or makes otherwise.
    fn call_items(
        &mut self,
        alone: &[Vec<usize>; 2],
        old: &Path,
        new: &Path,
        class: ClassId,
        joint: TermId,
    ) -> Vec<Item> {
        let (path, other) = if class == ClassId::OLD { (old, new) } else { (new, old) };
        let mut items = Vec::new();
        for (k, event) in path.events.iter().enumerate() {
            let differs = match other.events.iter().find(|o| o.tag == event.tag) {
                None => alone[class].contains(&k),
                Some(o) if is_made(Mistake::CalleesIgnored) => !self.is_equal_call(event, o, joint),
                Some(o) => o.callee != event.callee || !self.is_equal_call(event, o, joint),
            };
            if differs {
                items.push(Item::Call(event.clone()));
            }
        }
        // The same calls in another order.
        if items.is_empty() && alone.iter().all(Vec::is_empty) {
            let (mine, theirs) = (order(path), order(other));
            if mine != theirs {
                items.extend(path.events.iter().cloned().map(Item::Call));
            }
        }
        items
    }

    pub(super) fn is_equal_call(&mut self, a: &Event, b: &Event, joint: TermId) -> bool {
        let same = is_made(Mistake::ArgumentsIgnored);
        let unit = self.sides[1].version.unit;
        let of_library = a.callee.as_ref().filter(|name| unit.function(name).is_none());
        let format = of_library.and_then(|name| library::row(name)?.format_arg());
        same || a.args.len() == b.args.len()
            && a.args.iter().zip(&b.args).enumerate().all(|(k, (&x, &y))| {
                if let Some(is_equal) = self.is_equal_copy([a, b], k, joint) {
                    return is_equal;
                }
                let [x, y] = self.of_one_width([(a, x), (b, y)], k);
                x == y
                    || format == Some(k) && self.print_alike((a.class, x), (b.class, y))
                    || self.pool.sort(x) == self.pool.sort(y)
                        && matches!(self.equal(x, y, joint), Decision::Equal)
            })
    }

    /// An argument of both versions, where the parameter is a number that got another width: the narrower one as a
    /// caller's is related to it that is converted ([`widened`]).
    fn of_one_width(&mut self, given: [(&Event, TermId); 2], k: usize) -> [TermId; 2] {
        let terms = given.map(|(_, t)| t);
        let widths = terms.map(|t| self.pool.sort(t).bits());
        let [Some(m), Some(n)] = widths else { return terms };
        let narrow = if n < m { ClassId::NEW } else { ClassId::OLD };
        let (event, t) = given[narrow];
        let types = given.map(|(e, _)| call_types(self.graph, e.class, e.node).map(|(_, types)| types));
        let of = |class: ClassId| types[class]?.get(k);
        let (Some(ty), Some(wide), Some(name)) = (of(narrow), of(narrow.other()), &event.callee) else {
            return terms;
        };
        let units = self.sides.map(|side| side.version.unit);
        // What `...` stands for is read by a type that the call does not know.
        let is_named = |unit: &Unit| {
            let declared = unit.prototypes.iter().find(|p| p.name == *name).map(|p| p.params.len());
            declared.or_else(|| Some(unit.function(name)?.params.len())).is_some_and(|n| k < n)
        };
        if !units.iter().all(|unit| is_named(unit)) {
            return terms;
        }
        // What a number without a counterpart does is told in the function, where that is at hand.
        let loses_sign = ty.is_signed() && !wide.is_signed();
        let is_known = units.iter().all(|unit| unit.function(name).is_some());
        if m == n || loses_sign && !is_known && self.pool.as_const(t).is_none_or(|c| c.signed() < Some(0)) {
            return terms;
        }
        match widened::extended(&mut self.pool, t, ty, m.max(n)) {
            Some(t) if narrow == ClassId::OLD => [t, terms[1]],
            Some(t) => [terms[0], t],
            None => terms,
        }
    }

    /// Whether two formats print the same of the same arguments.
    fn print_alike(&self, a: (ClassId, TermId), b: (ClassId, TermId)) -> bool {
        let text = |(class, t): (ClassId, TermId)| literal(&self.pool, self.sides[class].layout, t);
        let model = self.sides[1].layout.data_model;
        matches!((text(a), text(b)), (Some(a), Some(b)) if prints_alike(&a, &b, model))
    }

    pub(super) fn equal(&mut self, a: TermId, b: TermId, joint: TermId) -> Decision {
        if a == b {
            return Decision::Equal;
        }
        if self.pool.sort(a) != self.pool.sort(b) {
            return Decision::Open { reason: "sorts" };
        }
        if self.is_equal_written_out(a, b) {
            return Decision::Equal;
        }
        match self.decider.equal(&mut self.pool, a, b, joint) {
            open @ Decision::Open { .. } => self.apart_on_data(a, b, joint).map_or(open, Decision::Differ),
            known => known,
        }
    }

    /// Whether two terms differ for everybody to see: constants, and what is computed from other inputs.
    pub(super) fn is_evident(&self, a: TermId, b: TermId) -> bool {
        self.pool.as_const(a).is_some() && self.pool.as_const(b).is_some()
    }
}

/// The conditions of two paths.
pub(super) fn joined(old: &[Literal], new: &[Literal]) -> Vec<Literal> {
    let mut literals = old.to_vec();
    literals.extend(new.iter().filter(|l| !old.iter().any(|o| o.term == l.term)));
    literals
}

/// Calls and results as they are where what other calls do is not left out.
fn unstripped(items: [Vec<Item>; 2], paths: [&Path; 2]) -> [Vec<Item>; 2] {
    let mut sides = items.into_iter().zip(paths).map(|(list, path)| {
        let raw = |item: Item| match (item, &path.end) {
            (Item::Call(e), _) => {
                let own = path.events.iter().find(|r| (r.tag, r.node) == (e.tag, e.node));
                Item::Call(own.unwrap_or(&e).clone())
            }
            (Item::Return(Some(_), node, _), End::Return(Some(value))) if path.node == node => {
                Item::Return(Some(*value), node, path.memory)
            }
            (other, _) => other,
        };
        list.into_iter().map(raw).collect::<Vec<Item>>()
    });
    [sides.next().unwrap_or_default(), sides.next().unwrap_or_default()]
}

pub(super) fn difference(
    literals: Vec<Literal>,
    items: [Vec<Item>; 2],
    old: &Path,
    new: &Path,
) -> Difference {
    let goes_on = |path: &Path| if let End::At(node) = path.end { Some(node) } else { None };
    Difference {
        literals,
        items,
        ends: [goes_on(old), goes_on(new)],
        visited: [old.visited.clone(), new.visited.clone()],
        events: [old.events.clone(), new.events.clone()],
    }
}

pub(super) fn is_whole(end: &End) -> bool {
    !matches!(end, End::At(node) if *node != Mvicfg::EXIT)
}

pub(super) fn tags(path: &Path) -> BTreeSet<Tag> {
    path.events.iter().map(|e| e.tag).collect()
}

pub(super) fn order(path: &Path) -> Vec<Tag> {
    path.events.iter().map(|e| e.tag).collect()
}

fn is_same_call(a: &Event, b: &Event) -> bool {
    a.tag == b.tag && a.callee == b.callee && a.args == b.args
}

/// The events of a path whose tags the other has not.
fn calls_alone(path: &Path, other: &Path) -> Vec<usize> {
    let others = tags(other);
    (0..path.events.len()).filter(|&k| !others.contains(&path.events[k].tag)).collect()
}
