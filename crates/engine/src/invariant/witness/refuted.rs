//! Which facts of some classes a run breaks in another class.
//!
//! A fact that is not proved in a class may hold there all the same, so "lost" and "mended" need more: an input
//! on which one of two compared classes keeps the fact and the other one breaks it. It is looked for among the
//! runs that are there already; the solver is not asked.

use crate::fact::{self, Binary, Expression, Kind as Expr, Unary};
use crate::interp::{End, Outcome};
use crate::invariant::candidate::samples::side;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::findings::{Churn, Claim};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::name_resolution;
use crate::invariant::observable::{Observable, find_var};
use crate::invariant::point::Kind;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::mvicfg::{ClassId, ClassSet};
use std::collections::BTreeMap;

/// Runs of one pair of classes that are looked at for one fact, beside those that show churns.
const MOST_RUNS: usize = 256;

/// Takes it for granted that conversions from standard input succeed.
const WELL_FORMED: &str = "stdin-well-formed";

impl FunctionAnalysis<'_> {
    /// Finds out which of the facts at the point a run shows to be broken in a class that does not have them.
    pub(in crate::invariant) fn tell_what_is_refuted(&mut self) {
        if !self.task.options.subsets {
            return;
        }
        let mut refuted: BTreeMap<String, ClassSet> = BTreeMap::new();
        for fact in &self.diff.invariants {
            for &(from, to) in &self.task.pairs {
                let (holder, other) = match (fact.classes.contains(from), fact.classes.contains(to)) {
                    (true, false) => (from, to),
                    (false, true) => (to, from),
                    _ => continue,
                };
                let known = refuted.get(fact.text()).is_some_and(|classes| classes.contains(other));
                if !known && self.is_refuted(fact, (from, to), (holder, other)) {
                    refuted.entry(fact.text().to_owned()).or_default().insert(other);
                }
            }
        }
        self.diff.refuted = refuted;
    }

    fn is_refuted(
        &self,
        fact: &Fact,
        (from, to): (ClassId, ClassId),
        (holder, other): (ClassId, ClassId),
    ) -> bool {
        let churns = || self.diff.churns.iter().filter(|c| (c.from, c.to) == (from, to));
        if churns().any(|c| shows(c, fact, holder == from)) {
            return true;
        }
        if self.diff.point.kind != Kind::Exit {
            return false;
        }
        let written = fact::parse(fact.text()).ok();
        let printed = printed(fact);
        let runs = self.task.runs(from, to);
        let inputs = |run: &Run, class: ClassId| side(run, class == from).read.values.len();
        let most = |class: ClassId| runs.iter().map(|r| inputs(r, class)).max().unwrap_or(0);
        // Where a conversion fails, fewer values are read than elsewhere.
        let is_formed = |run: &Run| {
            let whole = |o: &Outcome| o.read.values.iter().all(Option::is_some);
            !fact.assumptions.iter().any(|a| a == WELL_FORMED)
                || whole(&run.old) && whole(&run.new) && [from, to].iter().all(|&c| inputs(run, c) == most(c))
        };
        let holds = |run: &Run, class: ClassId| {
            let written = written.as_ref()?;
            name_resolution::holds_at_end(self.task, (run, class == from), class, written).ok().flatten()
        };
        let breaks = |run: &Run| {
            holds(run, other) == Some(false) && holds(run, holder) == Some(true)
                || printed.is_some_and(|e| prints_otherwise(run) && self.is_alike_at_end(e, run, (from, to)))
        };
        let shown = churns().filter_map(|c| c.witness.as_ref());
        shown.chain(runs.iter().take(MOST_RUNS)).any(|run| {
            runs::is_comparable(run)
                && breaks(run)
                && is_formed(run)
                && !self.overlaps(&run.input_of(true))
                && !self.overlaps(&run.input_of(false))
        })
    }
}

/// What an equation of the whole output says that it is.
fn printed(fact: &Fact) -> Option<&Expression> {
    let (Binary::Eq, left, right) = fact.formula.always()?.comparison()? else { return None };
    matches!(&left.kind, Expr::Name(name) if name == "output").then_some(right)
}

/// Whether both versions return and print something else, with the same arguments and the same values read: then what
/// one of them prints by a law over these, the other does not.
fn prints_otherwise(run: &Run) -> bool {
    let (a, b) = (&run.old, &run.new);
    let is_same = run.same_numbers && !run.is_relaid() && a.read.values == b.read.values;
    is_same && [a, b].iter().all(|o| o.end == End::Return) && a.output.stdout != b.output.stdout
}

impl FunctionAnalysis<'_> {
    /// Whether an expression has one value at the end of both sides of a run with the same arguments and the same
    /// values read. Of memory nothing is known but what was there at the entry.
    fn is_alike_at_end(&self, e: &Expression, run: &Run, (from, to): (ClassId, ClassId)) -> bool {
        let value = |name: &str, class: ClassId| {
            let body = &self.task.graph.bodies[class];
            let v = find_var(body, name, 0)?;
            let is_given = body.params.contains(&v) && name_resolution::is_kept(body, v);
            Some((is_given, side(run, class == from).local(v).filter(|_| !is_given)))
        };
        let is_plain = match &e.kind {
            Expr::Integer(_) | Expr::Character(_) | Expr::Float(_) | Expr::Text(_) | Expr::Input(_) => true,
            Expr::Old(_) => return true,
            Expr::Name(name) => match (value(name, from), value(name, to)) {
                (Some((true, _)), Some((true, _))) => true,
                (Some((_, a)), Some((_, b))) => a.is_some() && a == b,
                _ => false,
            },
            Expr::Unary(op, _) => !matches!(op, Unary::Dereference | Unary::AddressOf),
            Expr::Binary(..) | Expr::Conditional(..) | Expr::Cast(..) => true,
            Expr::Call(name, _) => name == "printf",
            _ => false,
        };
        is_plain && e.operands().into_iter().all(|part| self.is_alike_at_end(part, run, (from, to)))
    }
}

/// Whether a churn's run breaks a fact that is one of its sides. `is_old`: the older class has the fact.
fn shows(churn: &Churn, fact: &Fact, is_old: bool) -> bool {
    let side = if is_old { &churn.removed } else { &churn.added };
    let is_side = || side.iter().any(|f| f.formula == fact.formula);
    let breaks = match (&churn.subject, churn.claim) {
        // A relation is broken by the very run that is shown.
        (Observable::Relation { .. }, Claim::NoLongerHolds) => is_old,
        (Observable::Relation { .. }, Claim::NowHolds) => !is_old,
        // Whatever is no longer the one value that it always had is another one.
        (_, Claim::Changed | Claim::NoLongerHolds | Claim::NowHolds) => {
            fact.template == Template::Constant && !fact.formula.is_conditional()
        }
        _ => false,
    };
    churn.witness.is_some() && breaks && is_side()
}
