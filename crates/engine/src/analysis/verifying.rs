//! Assertions that the engine and property differencing leave open go to the verifier, and so does
//! `reach_error()` of verification tasks.

use super::classes::Analysed;
use super::lineage::{Lineage, Member};
use super::portfolio::{Docket, Engine, Means};
use super::witness;
use crate::difference::{self, Concerns, Detector, Remainder, Version};
use crate::interp::{End, Pair, Program};
use crate::invariant;
use crate::mvicfg::VersionId;
use crate::report::{
    Assertion, AssertionKind, AssertionMatch, AssertionOutcome, DecidedBy, RepoPath, SettledBy, Violation,
};
use crate::verifier::{Limits, Question, VerificationResult, verify};
use std::sync::Arc;

/// What stands for the property of a verification task.
const TASK: &str = "reach_error() is not called";

/// Two versions of a function with their programs.
struct Versions<'v> {
    old: &'v Member,
    new: &'v Member,
    programs: [Arc<Program>; 2],
}

impl Versions<'_> {
    fn before(&self) -> Version<'_> {
        Version { program: &self.programs[0], function: &self.old.function.name }
    }

    fn after(&self) -> Version<'_> {
        Version { program: &self.programs[1], function: &self.new.function.name }
    }

    /// What the condition of difference verification leaves to verify; `None`: nothing, the change is harmless.
    fn left(&self, concerns: Concerns) -> Option<Remainder> {
        let graph = difference::compare(self.before(), self.after(), Detector::DiffDp, concerns);
        (!graph.is_harmless()).then(|| difference::remainder(&graph, &self.programs[1]))
    }

    fn is_main(&self) -> bool {
        &*self.new.function.name == "main"
    }

    fn witness(&self, pair: &Pair) -> crate::report::Witness {
        let names = (&*self.old.function.name, &*self.new.function.name);
        let run = invariant::replay(&self.programs[0], &self.programs[1], names, pair.input.clone());
        witness::convert(None, &run, self.old, self.new, self.is_main())
    }
}

/// The verifier, as an engine of the portfolio. Cost: bounded by [`Limits`].
pub(super) struct Verifier;

impl Engine for Verifier {
    fn judge(&self, docket: &mut Docket, means: &Means) {
        if !means.world.watch.is_over() {
            settle(&mut docket.obligations, (docket.lineage, docket.analysed), means);
        }
    }
}

/// Settles what is open of a function's assertions, as far as the verifier can.
fn settle(
    list: &mut Vec<Assertion>,
    (lineage, a): (&Lineage, &Analysed),
    &Means { world, options, .. }: &Means,
) {
    let [Some(old), Some(new)] = lineage.members.as_slice() else { return };
    let is_open = |a: &Assertion| {
        a.kind == AssertionKind::Assertion
            && a.outcome.get(&2) == Some(&AssertionOutcome::Unknown)
            && a.decided_by != DecidedBy::DifferenceGraph
    };
    // Arguments go by their positions.
    let parameters = |m: &Member| -> Vec<_> {
        let f = &m.function;
        f.params.iter().map(|p| (f.var(*p).name.clone(), f.var(*p).ty.clone())).collect()
    };
    if parameters(old) != parameters(new) {
        return;
    }
    let is_main = &*new.function.name == "main";
    let is_changed = matches!(a.class_of.as_slice(), [Some(from), Some(to)] if from != to);
    let Some(differencing) = options.differencing else { return };
    if !(is_main || is_changed && list.iter().any(is_open)) {
        return;
    }
    let programs = [world.program(VersionId::OLD, &old.unit), world.program(VersionId::NEW, &new.unit)];
    let versions = Versions { old, new, programs };
    let concerns = Concerns::of(&versions.programs[1]);
    if is_main && !concerns.aborts {
        list.extend(task(&versions, concerns));
    }
    if !(is_changed && list.iter().any(is_open)) {
        return;
    }
    // An `abort()` is another property's.
    let concerns = Concerns { aborts: false, ..concerns };
    // What fails in the older version may be mended, which no condition tells of.
    let failed_before = |a: &Assertion| is_open(a) && a.outcome.get(&1) == Some(&AssertionOutcome::Fail);
    let is_whole = list.iter().any(failed_before) || differencing.without_condition;
    let left = if is_whole { None } else { versions.left(concerns) };
    if left.is_none() && !is_whole {
        list.iter_mut().filter(|a| is_open(a)).for_each(|a| a.cover(2));
        return;
    }
    let question = Question {
        old: Some(versions.before()),
        new: versions.after(),
        concerns,
        remainder: left.as_ref(),
        limits: Limits::default(),
    };
    let answer = verify(&question);
    match &answer.verdict {
        VerificationResult::Holds if answer.preexisting.is_none() => {
            for a in list.iter_mut().filter(|a| is_open(a)) {
                match left {
                    // What the condition covers was not looked at.
                    Some(_) => a.cover(2),
                    None => {
                        a.settle(2, AssertionOutcome::NotFail, SettledBy::Verifier);
                        a.decided_by = DecidedBy::Full;
                    }
                }
            }
        }
        VerificationResult::Violated(pair) => {
            let End::AssertFailed { text, place } = &pair.new.end else { return };
            let fails = |a: &&mut Assertion| {
                is_open(a) && a.text == *text && a.lines.get(&2).is_none_or(|l| *l == place.line)
            };
            let Some(a) = list.iter_mut().find(fails) else { return };
            a.settle(2, AssertionOutcome::Fail, SettledBy::Verifier);
            a.decided_by = DecidedBy::Full;
            a.violation = Some(match a.matched {
                AssertionMatch::Unchanged => Violation::Regression,
                _ => Violation::NonconformingFeature,
            });
            a.counterexample = Some(versions.witness(pair));
        }
        _ => {}
    }
}

/// What a change does to the property of a verification task; `None`: no violation is introduced.
fn task(versions: &Versions, concerns: Concerns) -> Option<Assertion> {
    let left = versions.left(concerns)?;
    let question = Question {
        old: Some(versions.before()),
        new: versions.after(),
        concerns,
        remainder: Some(&left),
        limits: Limits::default(),
    };
    let pair = match verify(&question).verdict {
        VerificationResult::Holds => return None,
        VerificationResult::Violated(pair) => Some(pair),
        VerificationResult::Open(_) => None,
    };
    let line = |m: &Member| m.function.span.line;
    let now = if pair.is_some() { AssertionOutcome::Fail } else { AssertionOutcome::Unknown };
    Some(Assertion {
        file: RepoPath::from(versions.new.file.as_path()),
        function: versions.new.function.name.to_string(),
        text: TASK.into(),
        lines: [(1, line(versions.old)), (2, line(versions.new))].into(),
        kind: AssertionKind::Assertion,
        outcome: [(1, AssertionOutcome::Unknown), (2, now)].into(),
        decided_by: DecidedBy::Full,
        settled_by: pair.as_ref().map(|_| (2, SettledBy::Verifier)).into_iter().collect(),
        violation: pair.is_some().then_some(Violation::Regression),
        counterexample: pair.map(|p| versions.witness(&p)),
        ..Assertion::default()
    })
}
