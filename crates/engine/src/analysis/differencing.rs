//! Property differencing of the functions that a change touches, and what it adds to the report.
//!
//! The engine judges assertions of the program as it stands: what fails there, fails. Where it leaves
//! one open, or where an assertion is new or was changed, property differencing (`property/`) speaks,
//! which judges each alone.

use super::classes::Analysed;
use super::lineage::{Lineage, Member};
use super::portfolio::{Docket, Engine, Means};
use super::request::Requirement;
use super::witness;
use super::world::World;
use crate::fact::Standing;
use crate::fact::term::{self, Scope, Typed, When};
use crate::interp::{End, Program};
use crate::invariant::{self, Property, PropertyKind};
use crate::ir::{Function, Leaf, TermId, TermPool, Unit};
use crate::mvicfg::{ClassId, VersionId};
use crate::property::{self, Comparison, Finding, Match, Step};
use crate::report::{
    Assertion, AssertionKind, AssertionMatch, AssertionOutcome, CheckCost, DecidedBy, Report, SettledBy,
    Violation,
};
use crate::semantics::unroll;
use crate::smt;
use crate::symex;
use std::sync::Arc;

/// A question may cost this part of a query's limit: there may be many.
const SHARE: u64 = 4;

/// Property differencing, as an engine of the portfolio.
pub(super) struct PropertyDifferencing;

impl Engine for PropertyDifferencing {
    fn judge(&self, docket: &mut Docket, means: &Means) {
        docket.comparison = compare(docket.lineage, docket.analysed, means);
        if let Some(comparison) = &docket.comparison {
            join(&mut docket.obligations, docket.lineage, means.world, comparison);
        }
    }
}

fn compare(lineage: &Lineage, a: &Analysed, &Means { world, options, keeper }: &Means) -> Option<Comparison> {
    let differencing = options.differencing?;
    // A first look leaves what takes long to others.
    let budget = options.limits.budget;
    if budget.is_first_look() && lineage.size() > budget.nodes && !differencing.compare_full {
        return None;
    }
    // Of what both versions assert, difference verification has said all there is to say.
    if a.covered.all && !differencing.compare_full && asserts_the_same(a) || world.watch.is_over() {
        return None;
    }
    let (&[Some(from), Some(to)], [Some(old), Some(new)]) =
        (a.class_of.as_slice(), lineage.members.as_slice())
    else {
        return None;
    };
    if from == to {
        return None;
    }
    let laid_out = |m: &Member| unroll::unroll(&m.inlined, &unroll::UnrollLimits::default());
    let bodies = (laid_out(old), laid_out(new));
    let [link_old, link_new] =
        VersionId::PAIR.map(|version| move |unit: Arc<Unit>| world.link(version, unit));
    let about = |p: &&Requirement| p.is_about(&new.file, &new.function.name);
    let requires: Vec<&Requirement> = options.specification.requires.iter().filter(about).collect();
    let terms = |pool: &mut TermPool, f: &Function, unit: &Unit| -> Vec<TermId> {
        let mut scope = Entry { pool: std::mem::take(pool), f, unit };
        let terms = requires.iter().filter_map(|p| term::condition(&p.fact.fact, &mut scope).ok()).collect();
        *pool = scope.pool;
        terms
    };
    let whole = |v: VersionId, m: &Member| world.reaches.get(v.index())?.whole(&m.file, &m.function.name);
    let around = whole(VersionId::OLD, old).zip(whole(VersionId::NEW, new));
    let keeping = around.as_ref().map(|(old, new)| property::Keeping { keeper, around: [old, new] });
    let compare = |is_covered: property::IsCovered| {
        property::compare(
            property::Version { body: &bodies.0, written: &old.function, unit: &old.unit, link: &link_old },
            property::Version { body: &bodies.1, written: &new.function, unit: &new.unit, link: &link_new },
            &terms,
            &property::Options {
                solver: smt::Limits {
                    rlimit: options.limits.rlimit / SHARE,
                    pointer_bits: new.unit.data_model.pointer_bits(),
                },
                limits: symex::Limits { unroll: options.limits.unroll, ..symex::Limits::default() },
                is_covered,
                compare_full: differencing.compare_full,
            },
            keeping.as_ref(),
        )
    };
    // What fails stops what is behind it, which a condition takes for kept; here each is judged alone. What the
    // paper compares knows of no condition either.
    if differencing.compare_full || fails_now(a, to) {
        return compare(&|_, _| false);
    }
    let narrow = compare(&|line, text| a.covered.has(line, text))?;
    let fails = |f: &Finding| f.after == Some(Standing::Fails);
    if narrow.covered.is_empty() || !narrow.findings.iter().any(fails) {
        return Some(narrow);
    }
    let mut whole = compare(&|_, _| false)?;
    whole.initial += narrow.initial;
    whole.incremental += narrow.incremental;
    Some(whole)
}

/// Whether an assertion of the function is known to fail in a class.
fn fails_now(a: &Analysed, class: ClassId) -> bool {
    let all = a.diff.iter().flat_map(|d| &d.properties);
    let own = |p: &&Property| matches!(p.kind, PropertyKind::Assertion { callee: None, .. });
    all.filter(own).any(|p| p.standing.get(&class) == Some(&Standing::Fails))
}

/// Whether all classes have the same assertions.
fn asserts_the_same(a: &Analysed) -> bool {
    let assertions = a.diff.iter().flat_map(|d| &d.properties);
    let own = |p: &&Property| matches!(p.kind, PropertyKind::Assertion { callee: None, .. });
    assertions.filter(own).all(|p| p.standing.len() == a.representative.len())
}

/// The entry of a function, where names are parameters.
struct Entry<'a> {
    pool: TermPool,
    f: &'a Function,
    unit: &'a Unit,
}

impl Scope for Entry<'_> {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn variable(&mut self, name: &str, _when: When) -> Option<Typed> {
        let var = self.f.params.iter().map(|p| self.f.var(*p)).find(|v| &*v.name == name)?;
        let term = self.pool.leaf(Leaf::Param { name: var.name.clone(), sort: var.sort? });
        Some(Typed { term, ty: var.ty.clone() })
    }

    fn object(&mut self, _name: &str) -> Option<Typed> {
        None
    }

    fn result(&mut self) -> Option<Typed> {
        None
    }

    fn input(&mut self, _k: u64) -> Option<Typed> {
        None
    }

    fn load(&mut self, addr: TermId, sort: crate::ir::Sort, bytes: u64, _when: When) -> Option<TermId> {
        let memory = self.pool.leaf(Leaf::Memory);
        Some(self.pool.app(crate::ir::App::Load { sort, bytes }, &[memory, addr]))
    }
}

/// Joins what was found of a function's assertions with what the engine says of them.
fn join(list: &mut Vec<Assertion>, lineage: &Lineage, world: &World, comparison: &Comparison) {
    let [Some(old), Some(new)] = lineage.members.as_slice() else { return };
    for f in &comparison.findings {
        join_one(list, (old, new), world, f);
    }
}

fn join_one(list: &mut Vec<Assertion>, (old, new): (&Member, &Member), world: &World, f: &Finding) {
    let place = |list: &[Assertion], site: &symex::Site, version: u32| {
        let is = |a: &Assertion| {
            a.kind == AssertionKind::Assertion
                && a.text == site.text
                && a.lines.get(&version) == Some(&site.line)
        };
        list.iter().position(is)
    };
    let before = f.old.as_ref().and_then(|site| place(list, site, 1));
    let Some(now) = f.new.as_ref().and_then(|site| place(list, site, 2)) else { return };
    // What has another text now is one assertion all the same.
    let before = before.filter(|before| *before != now && !list[*before].outcome.contains_key(&2));
    if let (Some(before), Some(site)) = (before, &f.old) {
        let as_it_stood = list[before].outcome.get(&1).copied().unwrap_or_default();
        let alone = f.before.map(outcome).filter(|o| *o == AssertionOutcome::Fail);
        list[now].lines.insert(1, site.line);
        let settled = list[before].settled_by.get(&1).copied().filter(|_| alone.is_none());
        let by = settled.unwrap_or(SettledBy::PropertyDifferencing);
        list[now].settle(1, alone.unwrap_or(as_it_stood), by);
    }
    let a = &mut list[now];
    a.matched = match f.matched {
        Match::Unchanged => AssertionMatch::Unchanged,
        Match::Modified => AssertionMatch::Modified,
        Match::New => AssertionMatch::New,
        Match::Removed => AssertionMatch::Removed,
    };
    a.unchecked.difference.clone_from(&f.difference);
    if let (Some(AssertionOutcome::Unknown), Some(known)) = (a.outcome.get(&1), f.before) {
        a.settle(1, outcome(known), SettledBy::PropertyDifferencing);
    }
    judge(a, (old, new), world, f, before.is_some());
    if let Some(before) = before {
        list.remove(before);
    }
}

/// Says what became of an assertion in the newer version. `reworded`: it had another text.
fn judge(a: &mut Assertion, (old, new): (&Member, &Member), world: &World, f: &Finding, reworded: bool) {
    let as_it_stands = a.outcome.get(&2).copied().unwrap_or_default();
    let found = f.after.map(outcome);
    let adds = as_it_stands == AssertionOutcome::Unknown && found == Some(AssertionOutcome::NotFail);
    if f.step != Step::Open && (adds || found == Some(as_it_stands)) {
        a.decided_by = step(f.step);
    }
    let kept = f.matched == Match::Unchanged && !reworded;
    match (as_it_stands, f.after) {
        (AssertionOutcome::Unknown, Some(Standing::Holds)) => {
            a.settle(2, AssertionOutcome::NotFail, SettledBy::PropertyDifferencing);
            return;
        }
        (_, Some(Standing::Fails)) => {}
        _ => return,
    }
    // Of an assertion that was there before, only what the program does as it stands counts.
    let stands = f.run.as_ref().is_some_and(|run| fails_as_it_stands(world, new, run, a));
    if kept && (a.counterexample.is_some() || !stands) {
        return;
    }
    let program = &*new.function.name == "main";
    if as_it_stands != AssertionOutcome::Fail {
        a.settle(2, AssertionOutcome::Fail, SettledBy::PropertyDifferencing);
    }
    a.decided_by = step(f.step);
    a.violation = f.violation.map(|v| match v {
        property::Violation::Regression => Violation::Regression,
        property::Violation::NonconformingFeature => Violation::NonconformingFeature,
        property::Violation::BadPropertyUpdate => Violation::BadPropertyUpdate,
        property::Violation::Preexisting => Violation::Preexisting,
    });
    a.counterexample = f.run.as_ref().map(|run| {
        let mut witness = witness::convert(None, run, old, new, program);
        if !stands {
            // An earlier assertion fails on it, too.
            witness.relies_on.push("other-assertions-taken-out".to_owned());
        }
        witness
    });
    if !stands && a.violation == Some(Violation::Regression) {
        a.violation = Some(Violation::BadPropertyUpdate);
    }
}

fn fails_as_it_stands(world: &World, new: &Member, run: &invariant::Run, a: &Assertion) -> bool {
    let program: Arc<Program> = world.program(VersionId::NEW, &new.unit);
    let again =
        invariant::replay(&program, &program, (&new.function.name, &new.function.name), run.input.clone());
    matches!(&again.new.end, End::AssertFailed { text, .. } if *text == a.text)
}

fn outcome(o: Standing) -> AssertionOutcome {
    match o {
        Standing::Holds => AssertionOutcome::NotFail,
        Standing::Fails => AssertionOutcome::Fail,
        Standing::Open => AssertionOutcome::Unknown,
    }
}

fn step(step: Step) -> DecidedBy {
    match step {
        Step::Unchanged => DecidedBy::Unchanged,
        Step::Implied => DecidedBy::Implied,
        Step::Counterexample => DecidedBy::CounterexampleReuse,
        Step::CheckI => DecidedBy::CheckI,
        Step::CheckII => DecidedBy::CheckII,
        Step::CheckIII => DecidedBy::CheckIII,
        Step::Open => DecidedBy::Full,
    }
}

/// Adds up what the checks cost.
pub(super) fn count(report: &mut Report, dockets: &[Docket]) {
    let add = |to: &mut Option<CheckCost>, effort: &property::Effort| {
        let to = to.get_or_insert_default();
        to.solver_queries += effort.counts.queries;
        to.paths += effort.counts.paths;
        to.wall_ms += u64::try_from(effort.time.as_millis()).unwrap_or(u64::MAX);
    };
    for c in dockets.iter().filter_map(|d| d.comparison.as_ref()) {
        report.cost.solver_queries += c.initial.counts.queries + c.incremental.counts.queries;
        if let Some(full) = &c.full {
            report.cost.solver_queries += full.counts.queries;
            add(&mut report.cost.full, full);
            add(&mut report.cost.incremental, &c.incremental);
        }
    }
}
