//! Facts of some cases: what versions share of a value that is not the same in all of them.
//!
//! A value that depends on conditions is taken apart into its cases, `n < 0 ==> \result == -1`. A
//! case of one class that the others share is a version invariant even where the whole value is
//! not. It is found by rewriting: another class shares it when, under the condition, its value folds
//! to the same term.

use crate::fact::{self, Formula};
use crate::invariant::candidate::observed::number;
use crate::invariant::change::event::{self, Case, Guarded};
use crate::invariant::fact::{Fact, Template};
use crate::invariant::findings::{Claim, ClassFacts, FactKey};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::name_resolution;
use crate::invariant::observable::{self, Observable};
use crate::invariant::proof::abstraction;
use crate::invariant::text;
use crate::invariant::witness::run::{Difference, Run};
use crate::ir::{App, CType, Leaf, Op, Term, TermId, Uf};
use crate::mvicfg::{ClassId, ClassSet};
use crate::semantics::{Val, c_text};
use std::collections::{BTreeMap, BTreeSet};

/// Cases of one value that are tried, and where all facts are asked for.
const MAX_CASES: usize = 8;
const ALL_CASES: usize = 24;
/// Ways to one value that are tried one by one.
const MAX_WAYS: usize = 4;
/// Bytes of a case's text that a reader still takes in.
const MAX_LENGTH: usize = 100;

impl FunctionAnalysis<'_> {
    /// Adds the cases of a subject that all classes share, unless they share the whole value.
    pub(in crate::invariant) fn shared_cases(
        &mut self,
        subject: &Observable,
        sides: &BTreeMap<ClassId, ClassFacts>,
    ) {
        if !matches!(subject, Observable::Result | Observable::Variable { .. } | Observable::Cell { .. }) {
            return;
        }
        // Conditions of classes that lay structures out otherwise speak of other places.
        if self.relaid || !self.task.options.all && !subject.is_observable() {
            return;
        }
        let aggregate = |t: &CType| matches!(t, CType::Record(_) | CType::Array(..) | CType::Opaque { .. });
        if observable::type_of(self.task.graph, subject, ClassId::OLD).is_some_and(|t| aggregate(&t)) {
            // It is passed by an address, which is none of C's.
            return;
        }
        let name = subject.name();
        let all = self.task.graph.all_classes();
        let whole =
            |f: &&Fact| f.classes == all && f.variables == [name.clone()] && f.template != Template::Set;
        let told = self.diff.invariants.iter().any(|f| whole(&f));
        if told {
            return;
        }
        let unknown = sides.values().any(|s| s.unknown);
        let empty = self.undefined_classes();
        let mut values: BTreeMap<ClassId, TermId> = BTreeMap::new();
        let mut assumed: BTreeSet<String> = BTreeSet::new();
        for (&c, side) in sides.iter().filter(|(c, _)| !empty.contains(**c)) {
            let &[term] = side.key.as_slice() else { return };
            let defined = self.defined_value(c, term);
            let (clear, used) = self.separated(c, defined);
            assumed.extend(used);
            values.insert(c, clear);
        }
        if values.len() + empty.len() < all.len() {
            return;
        }
        let known = self.diff.invariants.len();
        let most = if self.task.options.all { ALL_CASES } else { MAX_CASES };
        let mut tried: BTreeSet<(TermId, TermId)> = BTreeSet::new();
        for (&class, &term) in &values {
            for Case { whole, ways } in event::some_cases(&mut self.e.pool, term).into_iter().take(most) {
                // Where the condition of a value is too long to be read, some ways to it may not be.
                let mut conditions = vec![whole];
                conditions.extend(ways.into_iter().take(MAX_WAYS));
                for (k, Guarded { condition, what }) in conditions.into_iter().enumerate() {
                    if !tried.insert((condition, what)) {
                        continue;
                    }
                    let fact = self.shared_case((subject, class, condition, what), &values, sides);
                    let told = fact.is_some() && k == 0;
                    self.diff.invariants.extend(fact.map(|f| f.assuming(&assumed)));
                    if told {
                        break;
                    }
                }
            }
        }
        let asked = self.task.options.all || *subject == Observable::Result;
        if asked && !unknown && assumed.is_empty() && self.diff.invariants.len() == known {
            self.agreements(subject, &values, sides);
        }
    }

    /// Where nobody can read the values of two classes that a defined run tells apart: some of their cases say
    /// what changed, those of the older one and those of the newer one.
    pub(in crate::invariant) fn cases_of_change(
        &mut self,
        subject: &Observable,
        (from, to): (ClassId, ClassId),
        (a, b): (&ClassFacts, &ClassFacts),
        found: Option<&(Run, Difference)>,
    ) -> (Vec<Fact>, Vec<Fact>) {
        let Some((run, Difference::Defined)) = found else { return (Vec::new(), Vec::new()) };
        let removed = self.broken_cases(subject, (from, to), a, (run, true));
        (removed, self.broken_cases(subject, (to, from), b, (run, false)))
    }

    /// The cases of a subject's value in one class that a run keeps there and breaks in another class.
    /// `is_old`: the class is the older one. Nothing, where the value as a whole is told.
    fn broken_cases(
        &mut self,
        subject: &Observable,
        (class, other): (ClassId, ClassId),
        side: &ClassFacts,
        (run, is_old): (&Run, bool),
    ) -> Vec<Fact> {
        const MOST: usize = 3;
        let is_value =
            matches!(subject, Observable::Result | Observable::Cell { .. } | Observable::Variable { .. });
        if !is_value || side.unknown {
            return Vec::new();
        }
        let &[term] = side.key.as_slice() else { return Vec::new() };
        let ty =
            self.cell_type(class, subject).or_else(|| observable::type_of(self.task.graph, subject, class));
        let is_float = matches!(ty, Some(CType::Float { .. }));
        if ty.is_none_or(|t| matches!(t, CType::Record(_) | CType::Array(..) | CType::Opaque { .. })) {
            return Vec::new();
        }
        let defined = self.defined_value(class, term);
        let (clear, assumed) = self.separated(class, defined);
        let sides = BTreeMap::from([(class, side.clone())]);
        let mut found: Vec<Fact> = Vec::new();
        for Case { whole, ways } in event::some_cases(&mut self.e.pool, clear).into_iter().take(MAX_CASES) {
            for case in std::iter::once(whole).chain(ways.into_iter().take(MAX_WAYS)) {
                let values = BTreeMap::from([(class, clear)]);
                let case = (subject, class, case.condition, case.what);
                let fact = self.shared_case(case, &values, &sides);
                let told = |f: &Fact| {
                    self.is_broken(f, (class, other), (run, is_old))
                        || is_float && self.is_met_in_both(f, (class, other), (run, is_old))
                };
                if let Some(fact) = fact.filter(told) {
                    found.push(fact.assuming(&assumed));
                    break;
                }
            }
        }
        found.sort_by_key(|f| f.text().len());
        found.truncate(MOST);
        found
    }

    /// Adds facts of one class to the churns of which nothing else is said on that side and whose runs keep
    /// them there and break them in the other class.
    pub(in crate::invariant) fn say_in_churns(&mut self, facts: &[Fact]) {
        const MOST: usize = 3;
        for k in 0..self.diff.churns.len() {
            let churn = &self.diff.churns[k];
            let Some(run) = &churn.witness else { continue };
            let (from, to) = (churn.from, churn.to);
            let is_bare = churn.claim == Claim::Changed && churn.removed.is_empty() && churn.added.is_empty();
            if !is_bare || !matches!(churn.subject, Observable::Result | Observable::Cell { .. }) {
                continue;
            }
            let broken = |class: ClassId, other: ClassId, is_old: bool| -> Vec<Fact> {
                let own = facts.iter().filter(|f| f.classes == ClassSet::single(class));
                let broken = own.filter(|f| self.is_broken(f, (class, other), (run, is_old)));
                broken.take(MOST).cloned().collect()
            };
            let (removed, added) = (broken(from, to, true), broken(to, from, false));
            let churn = &mut self.diff.churns[k];
            churn.claim = match (removed.is_empty(), added.is_empty()) {
                (true, true) => continue,
                (true, false) => Claim::NowHolds,
                (false, true) => Claim::NoLongerHolds,
                (false, false) => Claim::Changed,
            };
            (churn.removed, churn.added) = (removed, added);
        }
    }

    /// Whether a run keeps a written fact in one class and breaks it in another. `is_old`: the first is the
    /// older one.
    fn is_broken(
        &self,
        fact: &Fact,
        (class, other): (ClassId, ClassId),
        (run, is_old): (&Run, bool),
    ) -> bool {
        let Ok(written) = fact::parse(fact.text()) else { return false };
        let holds = |old, class| name_resolution::holds_at_end(self.task, (run, old), class, &written);
        holds(is_old, class) == Ok(Some(true)) && holds(!is_old, other) == Ok(Some(false))
    }

    /// Whether a run meets the conditions of a fact in both classes. Where that run tells a float of the two apart
    /// by its bits, the fact of one class, which is about these, is broken in the other, though `==` may not see it.
    fn is_met_in_both(
        &self,
        fact: &Fact,
        (class, other): (ClassId, ClassId),
        (run, is_old): (&Run, bool),
    ) -> bool {
        let met = |old, class| {
            let mut conditions = fact.formula.conditions().iter();
            conditions
                .all(|c| name_resolution::holds_at_end(self.task, (run, old), class, c) == Ok(Some(true)))
        };
        met(is_old, class) && met(!is_old, other)
    }

    /// What a class says of a value as a whole, if that can be read; else of the few values that it takes.
    pub(in crate::invariant) fn value_facts(
        &mut self,
        subject: &Observable,
        class: ClassId,
        val: &Val,
    ) -> Vec<(FactKey, Fact)> {
        let cell = self.cell_type(class, subject);
        let ty = cell.or_else(|| observable::type_of(self.task.graph, subject, class));
        if matches!(ty, Some(CType::Record(_) | CType::Array(..) | CType::Opaque { .. })) {
            // An aggregate result is passed by an address, which is none of C's.
            return Vec::new();
        }
        let (formed, defined) = (self.shown(class, val.term), self.defined_value(class, val.term));
        let (shown, separated) = self.separated(class, defined);
        let naming = self.naming_without(class, subject);
        let text = c_text::render_equation(&self.e.pool, &subject.name(), shown, &naming, ty.as_ref());
        let constant = self.e.pool.as_const(val.term).is_some();
        if text == format!("{0} == {0}", subject.name()) {
            return Vec::new();
        }
        let fact = Fact {
            template: if constant { Template::Constant } else { Template::Functional },
            variables: vec![subject.name()],
            formula: Formula::read(text),
            c: c_text::render_c_equation(&self.e.pool, &subject.name(), shown, &naming, ty.as_ref()),
            classes: ClassSet::single(class),
            assumptions: self.assumptions(val.term, formed).into_iter().chain(separated).collect(),
            lines: BTreeMap::from([(class, self.lines(&val.causes, class))]),
            bounds: BTreeMap::new(),
        };
        if !self.is_readable(&fact.formula) {
            let set = self.set_fact(subject, class, shown, fact);
            return set.map(|f| (vec![shown], f)).into_iter().collect();
        }
        if let Observable::Cell { name, .. } = subject {
            self.diff.cells.insert(name.to_string());
        }
        vec![(vec![shown], fact)]
    }

    /// Whether a value is what a place held at entry.
    fn is_as_before(&mut self, subject: &Observable, what: TermId) -> bool {
        let Observable::Cell { address, sort, bytes, .. } = subject else { return false };
        let memory = self.e.pool.leaf(Leaf::Memory);
        self.e.pool.app(App::Load { sort: *sort, bytes: *bytes }, &[memory, *address]) == what
    }

    /// The values that a subject can have in a class, where they are a few numbers.
    pub(in crate::invariant) fn set_fact(
        &mut self,
        subject: &Observable,
        class: ClassId,
        shown: TermId,
        fact: Fact,
    ) -> Option<Fact> {
        const MOST: usize = 5;
        let ty = observable::type_of(self.task.graph, subject, class)?;
        let cases = event::cases(&mut self.e.pool, shown)?;
        let values: Option<BTreeSet<i128>> =
            cases.iter().map(|c| self.e.pool.as_const(c.what).and_then(|k| number(k, &ty))).collect();
        let values = values.filter(|v| (2..=MOST).contains(&v.len()) && matches!(ty, CType::Int { .. }))?;
        let name = subject.name();
        let words: Vec<String> = values.iter().map(|k| format!("{name} == {k}")).collect();
        Some(Fact { template: Template::Set, formula: Formula::read(words.join(" || ")), c: None, ..fact })
    }

    /// The fact of one case, if all classes share it.
    fn shared_case(
        &mut self,
        (subject, class, condition, what): (&Observable, ClassId, TermId, TermId),
        values: &BTreeMap<ClassId, TermId>,
        sides: &BTreeMap<ClassId, ClassFacts>,
    ) -> Option<Fact> {
        let what = abstraction::under(&mut self.e.pool, what, condition);
        let unknown = |t| self.e.rests_on_indeterminate(t) || self.e.rests_on_havoc(t);
        if unknown(what) || unknown(condition) {
            return None;
        }
        let shared = values.values().all(|&t| abstraction::under(&mut self.e.pool, t, condition) == what);
        let shared = shared && self.speaks_of_all(&[condition, what], values.values());
        shared.then(|| self.case_fact(subject, class, condition, what, sides)).flatten()
    }

    /// Whether the calls of unknown functions whose results terms speak of have a part in all values: what
    /// one version calls is no matter of another that does not.
    pub(in crate::invariant) fn speaks_of_all<'t>(
        &self,
        terms: &[TermId],
        mut values: impl Iterator<Item = &'t TermId>,
    ) -> bool {
        let calls = self.call_results(terms);
        calls.is_empty() || values.all(|&t| calls.is_subset(&self.call_results(&[t])))
    }

    fn call_results(&self, terms: &[TermId]) -> BTreeSet<TermId> {
        let pool = &self.e.pool;
        let is_call = |t: &TermId| matches!(pool.get(*t), Term::App(App::Uf(Uf::Call { .. }), _));
        pool.reachable(terms).into_iter().filter(is_call).collect()
    }

    /// The constant that a value is where the condition holds, if the condition names it.
    fn number_under(&self, what: TermId, condition: TermId) -> Option<TermId> {
        let pool = &self.e.pool;
        let parts = pool.as_op(condition, Op::And).map_or(vec![condition], <[TermId]>::to_vec);
        parts.into_iter().find_map(|c| {
            let &[x, y] = pool.as_op(c, Op::Eq)? else { return None };
            let other = if x == what { y } else { x };
            (x == what || y == what).then_some(other).filter(|k| pool.as_const(*k).is_some())
        })
    }

    /// A value as it is in the executions without an undefined event, for well-formed input.
    pub(in crate::invariant) fn defined_value(&mut self, class: ClassId, term: TermId) -> TermId {
        let shown = self.shown(class, term);
        let defined = self.defined(class);
        abstraction::under(&mut self.e.pool, shown, defined)
    }

    pub(in crate::invariant) fn case_fact(
        &mut self,
        subject: &Observable,
        class: ClassId,
        condition: TermId,
        what: TermId,
        sides: &BTreeMap<ClassId, ClassFacts>,
    ) -> Option<Fact> {
        if self.e.pool.as_const(condition).and_then(|k| k.as_bool()) == Some(false) {
            return None;
        }
        let what = self.number_under(what, condition).unwrap_or(what);
        let condition = abstraction::without_looser_bounds(&mut self.e.pool, condition);
        let naming = self.naming_without(class, subject);
        let cell = self.cell_type(class, subject);
        let ty = cell.or_else(|| observable::type_of(self.task.graph, subject, class));
        let name = subject.name();
        let equation = c_text::render_equation(&self.e.pool, &name, what, &naming, ty.as_ref());
        let text = match self.e.pool.as_const(condition) {
            Some(_) => equation.clone(),
            None => format!("{} ==> {equation}", text::term(&self.e.pool, condition, &naming, None)),
        };
        let says_nothing = self.is_as_before(subject, what)
            || equation == format!("{name} == {name}")
            || equation == format!("{name} == \\old({name})");
        let long = text.len() > MAX_LENGTH && !self.task.options.all;
        if says_nothing || long || !self.is_readable(&Formula::read(text.as_str())) {
            return None;
        }
        let plain = c_text::render_c_equation(&self.e.pool, &name, what, &naming, ty.as_ref());
        let c = match self.e.pool.as_const(condition) {
            Some(_) => plain,
            None => c_text::render_c(&self.e.pool, condition, &naming, None)
                .zip(plain)
                .map(|(when, equation)| format!("!({}) || {equation}", when.text)),
        };
        let mut assumptions = BTreeSet::new();
        let (mut lines, mut classes) = (BTreeMap::new(), ClassSet::new());
        for (&c, side) in sides {
            classes.insert(c);
            lines.insert(c, self.lines(&side.causes, c));
            if side.key.iter().any(|&t| self.shown(c, t) != t) {
                assumptions.insert("stdin-well-formed".to_owned());
            }
        }
        Some(Fact {
            template: Template::Functional,
            variables: vec![name],
            formula: Formula::read(text),
            c,
            classes,
            assumptions: assumptions.into_iter().collect(),
            lines,
            bounds: BTreeMap::new(),
        })
    }
}
