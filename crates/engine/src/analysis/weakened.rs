//! Assertions that a change weakens or removes: whether the new code needs that (check II of iProperty, of the
//! old assertions).
//!
//! The old assertion is put back into the newer version ([`property::plant`]), and both versions are judged by it
//! as by any other: what would be a *regression* there, with an input that was replayed, is what the change
//! weakened the assertion for.

use super::lineage::{Lineage, Member};
use super::portfolio::{Docket, Engine, Means};
use super::reach::Reach;
use super::request::{Options, Pin};
use super::world::World;
use super::{function, properties};
use crate::invariant::PropertyKind;
use crate::ir::Unit;
use crate::mvicfg::{ClassId, key};
use crate::property::{self, Comparison, Finding, Lost, Planted, Written};
use crate::report::{self, Assertion, AssertionKind, AssertionMatch, End, Judgement, Needed, Witness};
use crate::semantics::inline::{InlineLimits, inline};
use crate::smt;
use crate::symex::Site;
use std::sync::Arc;

/// Assertions of one function that are asked about.
const MOST: usize = 8;

/// What the witness rests on: nothing of the newer version asserts it.
const PUT_BACK: &str = "old-assertion-put-back";

/// What became of an old assertion.
struct Asked {
    lost: Lost,
    needed: Needed,
    witness: Option<Witness>,
    before: Option<u32>,
}

/// What was asked about a function.
#[derive(Default)]
struct Answers {
    asked: Vec<Asked>,
    queries: u64,
}

/// Asks about every assertion that says less than before. Cost: for each what checking the function costs.
pub(super) struct Weakened;

impl Engine for Weakened {
    fn judge(&self, docket: &mut Docket, means: &Means) {
        let Some(comparison) = &docket.comparison else { return };
        let answers = ask(docket.lineage, comparison, means.world, means.options);
        docket.queries += answers.queries;
        join(&mut docket.obligations, &answers);
    }
}

fn ask(lineage: &Lineage, comparison: &Comparison, world: &World, options: &Options) -> Answers {
    let [Some(old), Some(new)] = lineage.members.as_slice() else { return Answers::default() };
    let pair = |f: &Finding| f.old.clone().zip(f.new.clone());
    let covered = comparison.covered.iter().cloned();
    let pairs: Vec<(Site, Site)> = comparison.findings.iter().filter_map(pair).chain(covered).collect();
    let limits =
        smt::Limits { rlimit: options.limits.rlimit, pointer_bits: new.unit.data_model.pointer_bits() };
    let (lost, queries) = property::lost(written(old), written(new), &pairs, limits);
    let mut answers = Answers { asked: Vec::new(), queries };
    for (k, lost) in lost.into_iter().enumerate() {
        let judged = match k < MOST && !world.watch.is_over() {
            true => judge(lineage, (old, new), &lost, world, options, &mut answers.queries),
            false => None,
        };
        // Written as before, of types that are others now: the old condition says nothing there.
        let is_written_alike = lost.now.as_ref().is_some_and(|now| now.text == lost.was.text);
        if judged.is_none() && is_written_alike {
            continue;
        }
        let (needed, witness, before) = judged.unwrap_or((Needed::Unknown, None, None));
        answers.asked.push(Asked { lost, needed, witness, before });
    }
    answers
}

fn written(m: &Member) -> Written<'_> {
    Written { function: &m.function, unit: &m.unit }
}

/// Judges both versions by an old assertion; `None` where it cannot be put back.
fn judge(
    lineage: &Lineage,
    (old, new): (&Member, &Member),
    lost: &Lost,
    world: &World,
    options: &Options,
    queries: &mut u64,
) -> Option<(Needed, Option<Witness>, Option<u32>)> {
    // What is known of a function that calls itself is known of what it asserts.
    let recurs = calls_itself(new, world);
    let Planted { text, units: [older, newer], before } =
        property::plant(written(old), written(new), &lost.was, lost.now.as_ref(), !recurs)?;
    let limits = InlineLimits { depth: options.limits.inline_depth, ..InlineLimits::default() };
    let members = vec![member(old, older, &limits), member(new, newer, &limits)];
    let mut planted = Lineage { members, salt: lineage.salt.clone() };
    if !calls_the_same(old, new, world) {
        planted.salt = vec![vec![Some(ClassId::OLD)], vec![Some(ClassId::NEW)]];
    }
    let mut options = options.clone();
    options.specification.pins.clear();
    let analysed = function::analyse(&planted, world, &options);
    // Nothing else changed.
    let Some(diff) = &analysed.diff else { return Some((Needed::No, None, before)) };
    *queries += diff.solver_queries;
    let is_it = |kind: &PropertyKind| matches!(kind, PropertyKind::Assertion { callee: None, .. });
    let property = diff.properties.iter().find(|p| is_it(&p.kind) && p.text == text)?;
    let (needed, witness) = needed(properties::assertion(&planted, &analysed, property));
    Some((needed, witness, before))
}

/// What a judgement of an assertion that was put back says of the change.
fn needed(mut a: Assertion) -> (Needed, Option<Witness>) {
    let judgement = a.judgement(2);
    if let (Judgement::Regression | Judgement::Possible, Some(witness)) = (judgement, &mut a.counterexample) {
        // What the older version stopped anyway needs nothing.
        if witness.old.end == End::Abort {
            return (Needed::Unknown, None);
        }
        witness.relies_on.push(PUT_BACK.to_owned());
        return (Needed::Yes, a.counterexample);
    }
    let needed = match judgement {
        Judgement::Kept | Judgement::Fixed => Needed::No,
        Judgement::Preexisting => Needed::FailedBefore,
        _ => Needed::Unknown,
    };
    (needed, None)
}

/// The function of a version, in a unit that stands in for its own.
fn member(m: &Member, unit: Unit, limits: &InlineLimits) -> Option<Member> {
    let function = Arc::new(unit.function(&m.function.name)?.clone());
    let inlined = inline(&function, &unit, limits);
    let body = key::body_hash(&inlined).into();
    Some(Member { unit: Arc::new(unit), function, inlined, body, ..m.clone() })
}

fn calls_itself(m: &Member, world: &World) -> bool {
    let own = (m.file.clone(), m.function.name.clone());
    world.reaches.last().is_none_or(|r| r.callees(&m.file, &m.function.name, true).contains(&own))
}

/// Whether all that a function calls does the same in both versions.
fn calls_the_same(old: &Member, new: &Member, world: &World) -> bool {
    let [before, after] = world.reaches.as_slice() else { return false };
    let called = |r: &Reach, m: &Member| r.callees(&m.file, &m.function.name, false);
    let (was, is) = (called(before, old), called(after, new));
    was == is && was.iter().all(|(file, name)| before.does(file, name) == after.does(file, name))
}

/// Adds what was asked to the assertions of the function. Of one with nothing in its place only what is certain is
/// told.
fn join(list: &mut [Assertion], answers: &Answers) {
    for Asked { lost, needed, witness, before } in &answers.asked {
        let entry =
            |list: &[Assertion], site: &Site, version: u32, is_one: &dyn Fn(AssertionMatch) -> bool| {
                list.iter().position(|a| {
                    let is_there = a.text == site.text && a.lines.get(&version) == Some(&site.line);
                    a.kind == AssertionKind::Assertion && is_there && is_one(a.matched)
                })
            };
        let found = match &lost.now {
            Some(now) => entry(list, now, 2, &|_| true),
            None if *needed != Needed::Yes => None,
            None => entry(list, &lost.was, 1, &|m| m == AssertionMatch::Removed)
                .or_else(|| entry(list, lost.text_became.as_ref()?, 2, &|m| m == AssertionMatch::Modified)),
        };
        let Some(a) = found.and_then(|k| list.get_mut(k)) else { continue };
        let (text, line) = (lost.was.text.clone(), lost.was.line);
        a.weakened =
            Some(report::Weakened { text, line, needed: *needed, witness: witness.clone(), before: *before });
    }
}

/// Makes what became of facts that the change does not pin any more, about one function, what is told of them:
/// only what fails now on an input that kept it.
pub(super) fn drop_pins(list: &mut Vec<Assertion>, pins: &[&Pin]) {
    list.retain_mut(|a| {
        let mut same =
            pins.iter().filter(|p| a.kind == AssertionKind::Pinned && p.fact.text == a.text).peekable();
        if same.peek().is_none() || same.any(|p| !p.is_dropped) {
            return true;
        }
        let line = a.lines.get(&1).copied().unwrap_or_default();
        let is_needed = a.judgement(2) == Judgement::Regression;
        a.matched = AssertionMatch::Removed;
        a.outcome.remove(&2);
        a.settled_by.remove(&2);
        (a.violation, a.guarded) = (None, None);
        let witness = a.counterexample.take();
        a.weakened =
            Some(report::Weakened { text: a.text.clone(), line, needed: Needed::Yes, witness, before: None });
        is_needed
    });
}
