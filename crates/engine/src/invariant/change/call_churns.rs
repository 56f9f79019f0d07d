//! Churns of calls: what is asked of functions that are defined nowhere, where a run shows that only
//! one version asks it.
//!
//! What such a function does is not known, so a call of it is itself what an observer sees. A fact
//! `c ==> calls f(x)` of one version is refuted in the other by a run in which the one makes this call
//! and the other calls `f` with no such arguments. Pointers to what has no name that versions share
//! may be equal. Facts that no run refutes are not told of: they may hold in both, or cannot be seen.

use crate::interp::{AssumedCall, Outcome, Value};
use crate::invariant::change::calls::Made;
use crate::invariant::findings::{Churn, Claim, ClassFacts};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::Observable;
use crate::invariant::witness::run::{Difference, Run};
use crate::invariant::witness::runs;
use crate::mvicfg::ClassId;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Symbol of objects that have no name.
const UNNAMED: &str = "?";

/// Whether two arguments may be the same value.
fn may_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Global { symbol, .. }, _) | (_, Value::Global { symbol, .. }) if **symbol == *UNNAMED => {
            // Of an object whose name is not known it is known that it is there.
            !matches!((a, b), (Value::Const(c), _) | (_, Value::Const(c)) if c.to_bits() == 0)
        }
        (Value::Const(x), Value::Const(y)) if x.sort() != y.sort() => match (x.signed(), y.signed()) {
            (Some(x), Some(y)) => x == y,
            _ => true,
        },
        (Value::Const(x), Value::Const(y)) => x == y || x.is_nan() && y.is_nan(),
        _ => a == b,
    }
}

/// Whether a run makes a call where `made` stands, and the other run none like it.
fn is_only_in(made: &Made, own: &Outcome, other: &Outcome) -> bool {
    // What the input refuses is no call of something unknown.
    let of_callee = |c: &&AssumedCall| *c.callee == *made.callee;
    let here: Vec<&AssumedCall> =
        own.assumed.calls.iter().filter(of_callee).filter(|c| c.line == made.line).collect();
    let named = |c: &AssumedCall| -> Vec<Value> {
        let pairs = c.arguments.iter().zip(made.named.iter().chain(std::iter::repeat(&false)));
        pairs.filter(|(_, named)| **named).map(|(v, _)| v.clone()).collect()
    };
    let alike = |a: &AssumedCall, b: &AssumedCall| {
        let (x, y) = (named(a), named(b));
        x.len() == y.len() && x.iter().zip(&y).all(|(a, b)| may_equal(a, b))
    };
    !here.is_empty()
        && here.iter().all(|a| !other.assumed.calls.iter().filter(of_callee).any(|b| alike(a, b)))
}

impl FunctionAnalysis<'_> {
    /// Reports the calls that only one of two classes makes, if some input shows them.
    pub(in crate::invariant) fn call_churn(
        &mut self,
        from: ClassId,
        to: ClassId,
        before: &[Made],
        after: &[Made],
    ) {
        let only = |own: &[Made], other: &[Made]| -> Vec<usize> {
            (0..own.len()).filter(|&k| !other.iter().any(|o| o.is_same(&own[k]))).collect()
        };
        let (removed, added) = (only(before, after), only(after, before));
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let is_gone = |k: usize, r: &Run| is_only_in(&before[k], &r.old, &r.new);
        let is_new = |k: usize, r: &Run| is_only_in(&after[k], &r.new, &r.old);
        let runs = self.task.runs(from, to);
        let comparable = || runs.iter().filter(|r| runs::is_comparable(r));
        let removed: Vec<usize> =
            removed.into_iter().filter(|&k| comparable().any(|r| is_gone(k, r))).collect();
        let added: Vec<usize> = added.into_iter().filter(|&k| comparable().any(|r| is_new(k, r))).collect();
        let shown = |r: &Run| {
            let gone = removed.iter().filter(|&&k| is_gone(k, r)).count();
            gone + added.iter().filter(|&&k| is_new(k, r)).count()
        };
        let Some(most) = comparable().map(shown).max().filter(|n| *n > 0) else { return };
        let differs = |r: &Run| (runs::is_comparable(r) && shown(r) == most).then_some(Difference::Defined);
        let Some((run, _)) = runs::witness(&runs, &differs) else { return };
        let run = self.shrunk(run.clone(), from, to, &|r| differs(r).is_some());
        let side = |made: &[Made], chosen: &[usize]| {
            let mut side = ClassFacts::default();
            for &k in chosen {
                side.causes = Rc::new(side.causes.union(&made[k].causes));
                side.guards = Rc::new(side.guards.union(&made[k].guards));
            }
            side
        };
        let (a, b) = (side(before, &removed), side(after, &added));
        let causes = self.causes_of_change((from, to), (&a, &b), Some(&run));
        let facts = |made: &[Made], chosen: &[usize], class: ClassId| {
            crate::invariant::fact::Fact::merged(chosen.iter().map(|&k| made[k].fact(class)).collect())
        };
        let (gone, new) = (facts(before, &removed, from), facts(after, &added, to));
        let claim = match (gone.is_empty(), new.is_empty()) {
            (true, _) => Claim::NowHolds,
            (_, true) => Claim::NoLongerHolds,
            _ => Claim::Changed,
        };
        self.drop_restated(
            from,
            to,
            removed.iter().map(|&k| &before[k]).chain(added.iter().map(|&k| &after[k])),
        );
        self.diff.churns.push(Churn {
            from,
            to,
            subject: Observable::Calls,
            removed: gone,
            added: new,
            claim,
            causes,
            witness: Some(run),
            cell: None,
            objects: None,
        });
    }

    /// Leaves out what is only suspected to change because of a call that was shown to: the result
    /// `fopen(p, "r")` of `calls fopen(p, "r")`.
    fn drop_restated<'m>(&mut self, from: ClassId, to: ClassId, calls: impl Iterator<Item = &'m Made>) {
        let names: BTreeSet<&str> = calls.map(|m| m.callee.as_str()).collect();
        self.diff.churns.retain(|c| {
            let mut facts = c.removed.iter().chain(&c.added);
            let of_calls = facts.all(|f| f.formula.calls(&|name| names.contains(name)));
            (c.from, c.to) != (from, to) || c.claim != Claim::NoLongerProvable || !of_calls
        });
    }
}
