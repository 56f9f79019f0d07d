//! Cases in which loops go round not at all, or once: `n <= 0 ==> \result == 0`.
//!
//! The first iterations of the outermost loops are laid out before them. The values at the exit then
//! are trees of cases, and the cases whose conditions and values do not speak of what is left of the
//! loops are facts about the function as it is written.

use crate::invariant::change::event::{self, Case, Guarded};
use crate::invariant::fact::Fact;
use crate::invariant::findings::ClassFacts;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::Point;
use crate::invariant::proof::abstraction;
use crate::invariant::proof::bounded::OneClass;
use crate::ir::{App, Term, TermId, Uf};
use crate::mvicfg::{ClassId, ClassSet, Flow, Mvicfg};
use crate::semantics::unroll;
use std::collections::BTreeMap;

/// Iterations that are laid out.
const TRIPS: usize = 2;
/// Nodes of the body with them.
const MAX_NODES: usize = 1200;
/// Cases of one value.
const MAX_CASES: usize = 4;
/// Part of a query's limit that a question gets.
const SHARE: u64 = 20;

impl FunctionAnalysis<'_> {
    /// Adds the facts of the cases that all classes have in common, or each of its own.
    pub(in crate::invariant) fn peeled_cases(&mut self) {
        let mut facts = Vec::new();
        for class in self.task.graph.all_classes().iter() {
            for mut fact in self.peeled_cases_of(class) {
                fact.classes = ClassSet::single(class);
                fact.lines = fact.lines.into_values().map(|l| (class, l)).collect();
                facts.push(fact);
            }
        }
        let mut merged = Fact::merged(facts);
        let known = |f: &Fact| self.diff.invariants.iter().any(|o| o.formula == f.formula);
        merged.retain(|f| !known(f));
        self.say_in_churns(&merged);
        self.diff.invariants.extend(merged);
    }

    fn peeled_cases_of(&mut self, class: ClassId) -> Vec<Fact> {
        let body = &self.task.graph.bodies[class];
        let Some(body) = unroll::peeled(body, TRIPS, MAX_NODES) else { return Vec::new() };
        let graph = Mvicfg::build(vec![body]);
        let flow = Flow::new(&graph);
        let callees = OneClass { callees: self.task.callees, summaries: self.task.summaries, class };
        let task = self.task.of_class(class, &graph, &callees, SHARE);
        let mut engine = FunctionAnalysis::new(&task, &flow);
        engine.diff.point = Point::exit(&graph);
        engine.namings = engine.name_values();
        let mut found = Vec::new();
        for s in engine.peeled_subjects() {
            // A value that no loop takes part in has its cases already.
            if !self.is_made_by_loops(class, &s) {
                continue;
            }
            found.extend(engine.cases_before_loops(&s));
        }
        self.diff.cells.extend(engine.diff.cells);
        self.further.nodes_visited += engine.e.statistics.nodes_visited;
        found
    }

    /// Whether a result or a variable of a class rests on a loop; of places in memory it is not asked.
    fn is_made_by_loops(&mut self, class: ClassId, subject: &Observable) -> bool {
        if matches!(subject, Observable::Cell { .. }) {
            return true;
        }
        let (point, single) = (self.diff.point.clone(), ClassSet::single(class));
        let values = observable::values_at(&mut self.e, subject, &point, &single);
        values.iter().any(|(_, v)| self.is_open(v.term))
    }

    /// What a caller sees, and variables where they are asked for.
    fn peeled_subjects(&mut self) -> Vec<Observable> {
        let mut subjects = observable::at(self.task.graph, self.diff.point.kind);
        let all = self.task.options.all;
        subjects.retain(|s| *s == Observable::Result || all && matches!(s, Observable::Variable { .. }));
        subjects.extend(self.named_cells());
        subjects
    }

    fn cases_before_loops(&mut self, subject: &Observable) -> Vec<Fact> {
        let single = ClassSet::single(ClassId::ONLY);
        let point = self.diff.point.clone();
        let values = observable::values_at(&mut self.e, subject, &point, &single);
        let Some((_, val)) = values.into_iter().next() else { return Vec::new() };
        let defined = self.defined_value(ClassId::ONLY, val.term);
        let (clear, used) = self.separated(ClassId::ONLY, defined);
        let side = ClassFacts {
            key: vec![val.term],
            causes: val.causes.clone(),
            guards: val.guards.clone(),
            ..ClassFacts::default()
        };
        let sides = BTreeMap::from([(ClassId::ONLY, side)]);
        let mut found = Vec::new();
        for Case { whole, ways } in event::some_cases(&mut self.e.pool, clear) {
            // Where not all of a condition is about what comes before the loops, some ways to a value are.
            let is_whole = !self.is_open(whole.condition);
            let ways = ways.into_iter().filter(|_| !is_whole);
            for Guarded { condition, what } in is_whole.then_some(whole).into_iter().chain(ways) {
                let what = abstraction::under(&mut self.e.pool, what, condition);
                if found.len() >= MAX_CASES || self.is_open(what) || self.is_open(condition) {
                    continue;
                }
                let fact = self.case_fact(subject, ClassId::ONLY, condition, what, &sides);
                found.extend(fact.map(|f| f.assuming(&used)));
            }
        }
        if let (Observable::Cell { name, .. }, false) = (subject, found.is_empty()) {
            self.diff.cells.insert(name.to_string());
        }
        found
    }

    /// Whether a term rests on a loop, or on what is not known.
    fn is_open(&self, term: TermId) -> bool {
        let pool = &self.e.pool;
        let of_loop = |t: &TermId| matches!(pool.get(*t), Term::App(App::Uf(Uf::Loop { .. }), _));
        self.e.rests_on_havoc(term)
            || self.e.rests_on_indeterminate(term)
            || pool.reachable(&[term]).iter().any(of_loop)
    }
}
