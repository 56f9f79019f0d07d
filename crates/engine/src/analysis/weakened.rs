//! Assertions that a change weakens or removes: whether the new code needs that (check II of iProperty, of the
//! old assertions).
//!
//! The old assertion is put back into the newer version ([`property::plant`]), and both versions are judged by it
//! as by any other: what would be a *regression* there, with an input that was replayed, is what the change
//! weakened the assertion for.

use super::classes::World;
use super::lineage::{Lineage, Member};
use super::reach::Reach;
use super::{Options, Pin, function, properties};
use crate::fault;
use crate::invariant::PropertyKind;
use crate::ir::{Function, Unit};
use crate::mvicfg::key;
use crate::property::{self, Comparison, Finding, Planted, Written};
use crate::report::{Assertion, AssertionKind, AssertionMatch, Judgement, Needed, Weakened, Witness};
use crate::semantics::inline::{InlineLimits, inline};
use crate::symex::Site;
use rayon::prelude::*;
use std::sync::Arc;

/// Assertions of one function that are asked about.
const MOST: usize = 8;

/// What the witness rests on: nothing of the newer version asserts it.
const PUT_BACK: &str = "old-assertion-put-back";

/// What became of an old assertion.
pub(super) struct Asked {
    old: Site,
    /// What took its place.
    new: Option<Site>,
    needed: Needed,
    witness: Option<Witness>,
}

/// Asks about every assertion that says less than before, by function. Cost: for each what checking the function
/// costs.
pub(super) fn ask_all(
    lineages: &[Lineage],
    compared: &[Option<Comparison>],
    world: &World,
    options: &Options,
) -> Vec<Vec<Asked>> {
    let one = |(lineage, comparison): (&Lineage, &Option<Comparison>)| {
        let findings = comparison.iter().flat_map(|c| &c.findings).filter(|f| f.is_weaker);
        let asked = findings.enumerate().filter_map(|(k, f)| {
            let (needed, witness) = match k < MOST && !world.watch.is_over() {
                true => ask(lineage, f, world, options)?,
                false => (Needed::Unknown, None),
            };
            Some(Asked { old: f.old.clone()?, new: f.new.clone(), needed, witness })
        });
        asked.collect()
    };
    lineages.par_iter().zip(compared).map(one).collect()
}

/// Asks about one assertion; `None`: it is another function's.
fn ask(
    lineage: &Lineage,
    f: &Finding,
    world: &World,
    options: &Options,
) -> Option<(Needed, Option<Witness>)> {
    let [Some(old), Some(new)] = lineage.members.as_slice() else { return None };
    let was = f.old.as_ref()?;
    let is_own = |m: &Member, site: &Site| {
        crate::symex::assertions_of(&m.function, &m.unit)
            .iter()
            .any(|(l, t, _)| *l == site.line && *t == site.text)
    };
    if !is_own(old, was) {
        return None;
    }
    let judged = || judge(lineage, (old, new), (was, f.new.as_ref()), world, options);
    let unknown = (Needed::Unknown, None);
    Some(fault::caught(judged).map_or_else(
        |reason| {
            world.has_fault(lineage, &reason);
            unknown.clone()
        },
        |found| found.unwrap_or(unknown.clone()),
    ))
}

/// Judges both versions by an old assertion; `None` where it cannot be put back.
fn judge(
    lineage: &Lineage,
    (old, new): (&Member, &Member),
    (was, now): (&Site, Option<&Site>),
    world: &World,
    options: &Options,
) -> Option<(Needed, Option<Witness>)> {
    let written = |m: &'_ Member| -> (Arc<Function>, Arc<Unit>) { (m.function.clone(), m.unit.clone()) };
    let ((f, a), (g, b)) = (written(old), written(new));
    let sides = (Written { function: &f, unit: &a }, Written { function: &g, unit: &b });
    // What is known of a function that calls itself is known of what it asserts.
    let recurs = calls_itself(new, world);
    let Planted { text, units: [before, after] } = property::plant(sides.0, sides.1, was, now, !recurs)?;
    let limits = InlineLimits { depth: options.inline_depth, ..InlineLimits::default() };
    let members = vec![member(old, before, &limits), member(new, after, &limits)];
    let mut planted = Lineage { members, salt: lineage.salt.clone() };
    if !calls_the_same(old, new, world) {
        planted.salt = vec![vec![Some(0)], vec![Some(1)]];
    }
    let options = Options { pins: Vec::new(), ..options.clone() };
    let analysed = function::analyse(&planted, world, &options);
    // Nothing else changed.
    let Some(diff) = &analysed.diff else { return Some((Needed::No, None)) };
    let is_it = |kind: &PropertyKind| matches!(kind, PropertyKind::Assertion { callee: None, .. });
    let property = diff.properties.iter().find(|p| is_it(&p.kind) && p.text == text)?;
    Some(needed(properties::assertion(&planted, &analysed, property)))
}

/// What a judgement of an assertion that was put back says of the change.
fn needed(mut a: Assertion) -> (Needed, Option<Witness>) {
    let judgement = a.judgement(2);
    if let (Judgement::Regression | Judgement::Possible, Some(witness)) = (judgement, &mut a.counterexample) {
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

/// Adds what was asked to the assertions of the function. Of one that was removed only what is certain is told.
pub(super) fn join(list: &mut [Assertion], asked: &[Asked]) {
    for one in asked {
        let (site, version) = match &one.new {
            Some(new) => (new, 2),
            None => (&one.old, 1),
        };
        let is_it = |a: &&mut Assertion| {
            a.kind == AssertionKind::Assertion
                && a.text == site.text
                && a.lines.get(&version) == Some(&site.line)
                && (one.new.is_some() || a.matched == AssertionMatch::Removed)
        };
        if one.new.is_none() && one.needed != Needed::Yes {
            continue;
        }
        let Some(a) = list.iter_mut().find(is_it) else { continue };
        a.weakened = Some(Weakened {
            text: one.old.text.clone(),
            line: one.old.line,
            needed: one.needed,
            witness: one.witness.clone(),
        });
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
        (a.violation, a.guarded) = (None, None);
        let witness = a.counterexample.take();
        a.weakened = Some(Weakened { text: a.text.clone(), line, needed: Needed::Yes, witness });
        is_needed
    });
}
