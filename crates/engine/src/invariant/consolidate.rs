//! Consolidation: from values per class to version invariants and churns (Invariant Diffs, Algorithm
//! 1, lines 13 and 14).
//!
//! A subject whose term is the same in several classes gives a fact of all of them. Where two
//! consecutive classes differ, a concrete run that shows the difference decides; then the solver;
//! what neither settles is said to be undecided.

use crate::cost;
use crate::invariant::change::events::{drop_long, undefined_fact};
use crate::invariant::fact::Fact;
use crate::invariant::findings::ObservableVerdict;
use crate::invariant::findings::{
    Churn, Claim, ClassFacts, FactKey, FunctionDiff, OpenKind, PointDiff, Undecided,
};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::obligation::properties::{self};
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::{abstraction, defined};
use crate::invariant::task::{Loops, Task};
use crate::invariant::witness::run::{Difference, Run};
use crate::invariant::witness::runs;
use crate::invariant::witness::{inputs, relaid};
use crate::ir::{CType, Sort, TermId};
use crate::mvicfg::{ClassId, ClassSet, Flow, Mvicfg};
use crate::semantics::{Lines, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};

/// Analyses one function.
pub fn diff_function(task: &Task) -> FunctionDiff {
    let _room = cost::enter(cost::Room::Invariant);
    let flow = Flow::new(task.graph);
    let nodes_total = task.graph.nodes.len() as u64;
    let budget = task.options.budget;
    let too_large = task.graph.nodes.len() > budget.nodes;
    if too_large || flow.classes.iter().any(|c| c.irreducible) {
        let reason = match too_large {
            true if budget.is_first_look() => "larger than a first look takes".to_owned(),
            true => format!("more than {} instructions with callees and unrolled loops", budget.nodes),
            false => "irreducible control flow (a loop with several entries)".into(),
        };
        let properties = if task.points.exit { properties::check(task, None) } else { Vec::new() };
        let is_left_out = too_large && budget.is_first_look();
        let kind = if is_left_out { OpenKind::LeftOut } else { OpenKind::Fact };
        let points = match task.points.exit && task.is_own() {
            true => vec![FunctionAnalysis::new(task, &flow).shown_by_runs(&reason, kind)],
            false => FunctionDiff::open(kind, reason).points,
        };
        return FunctionDiff { nodes_total, properties, points, ..FunctionDiff::default() };
    }
    let allowance = task.allowance();
    let mut engine = FunctionAnalysis::new(task, &flow);
    let points = engine.points();
    let properties = if task.points.exit { properties::check(task, Some(&mut engine)) } else { Vec::new() };
    FunctionDiff {
        points,
        properties,
        nodes_visited: engine.further.nodes_visited + engine.e.statistics.nodes_visited,
        nodes_total,
        cut_short: allowance.is_spent(),
        solver_queries: engine.further.solver_queries
            + engine.deciders.points.solver().statistics().queries
            + engine.deciders.lemmas.solver().statistics().queries
            + engine.deciders.large.solver().statistics().queries
            + engine.deciders.elements.solver().statistics().queries
            + engine.deciders.recursions.as_ref().map_or(0, |d| d.solver().statistics().queries),
    }
}

/// Answer of the solver to whether two sides are equal.
enum Equality {
    Equal,
    /// With the replayed model, when it could be made an input.
    Differ(Option<Box<Run>>),
    /// With the reason.
    Open(&'static str),
}

impl<'a> FunctionAnalysis<'a> {
    /// Analyses the points that are asked for.
    fn points(&mut self) -> Vec<PointDiff> {
        let mut found = Vec::new();
        let wanted = self.task.points.clone();
        if wanted.exit {
            found.push(self.point(Point::exit(self.task.graph)));
        }
        let unseen = std::mem::take(&mut self.unseen);
        // A caller need not know what the loops do when it sees what they did.
        let told = |&(from, to): &(ClassId, ClassId)| {
            let is_seen = !unseen.contains(&(from, to));
            !is_seen
                || found
                    .iter()
                    .flat_map(|p| &p.churns)
                    .any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable())
        };
        let loops = match wanted.loops {
            Loops::No => false,
            Loops::WhereUntold => !self.task.pairs.iter().all(told),
            Loops::Yes => true,
        };
        let mut others = Vec::new();
        if wanted.entry {
            others.push(Point::entry(self.task.graph));
        }
        if loops {
            others.extend(self.loops_by_line());
        }
        others.extend(wanted.lines.iter().filter_map(|&line| Point::line(&self.e, line)));
        for point in others {
            found.push(self.point(point));
        }
        found
    }

    /// Analyses one point.
    fn point(&mut self, point: Point) -> PointDiff {
        let values = point.kind != Kind::Loop || self.task.options.all;
        self.diff = PointDiff { point, ..PointDiff::default() };
        self.namings = self.name_values();
        let watched = self.task.programs.iter().any(|p| p.is_watched_at_exit());
        let program = self.task.graph.bodies.iter().all(|b| &*b.name == "main") && !watched;
        self.unseen.clear();
        let mut seen: BTreeSet<(ClassId, ClassId)> = BTreeSet::new();
        for subject in observable::at(self.task.graph, self.diff.point.kind) {
            if !values {
                break;
            }
            if !subject.is_observable() && self.diff.point.kind == Kind::Exit {
                self.note_unseen(&seen);
            }
            if subject == Observable::Memory {
                // Nobody sees the memory of a program that has ended.
                if program {
                    continue;
                }
                self.cells();
            }
            let verdicts = self.subject(&subject).into_iter().filter(|(_, v)| *v != ObservableVerdict::Same);
            seen.extend(verdicts.filter(|_| subject.is_observable()).map(|(pair, _)| pair));
        }
        if self.diff.point.kind == Kind::Exit {
            self.note_unseen(&seen);
        }
        if watched && self.diff.point.kind == Kind::Exit {
            self.memory_at_ends();
        }
        if self.task.is_own() {
            self.relations();
            self.written_relations();
            if self.diff.point.kind == Kind::Exit {
                self.relations_through_calls();
                self.peeled_cases();
                self.outcomes();
                self.members_of_results();
                self.series();
                self.lengths();
                self.calls();
                self.typestates();
            }
        }
        self.couple_all();
        self.keep_comparable();
        self.tell_what_is_reached();
        self.tell_what_is_refuted();
        std::mem::take(&mut self.diff)
    }

    /// Compares a subject in all pairs of classes, and keeps what classes share of it.
    pub(super) fn subject(&mut self, subject: &Observable) -> Vec<((ClassId, ClassId), ObservableVerdict)> {
        let sides = self.sides(subject);
        let mut verdicts = Vec::new();
        for &(from, to) in &self.task.pairs.clone() {
            if *subject == Observable::Result && self.returns_nothing(from) != self.returns_nothing(to) {
                let reason = "only one of the versions returns a value";
                verdicts.push(((from, to), self.undecided(subject, from, to, reason)));
            }
            let (Some(a), Some(b)) = (sides.get(&from), sides.get(&to)) else { continue };
            let told = match subject {
                Observable::Memory => self.settled_memory.contains(&(from, to)),
                _ => {
                    let news = || self.is_told(from, to) || self.unseen.contains(&(from, to));
                    !subject.is_observable() && !self.task.options.all && news()
                }
            };
            let begins = subject.is_observable() && self.begins(from, to) || self.is_hooked(from, to);
            if (self.say_other(a, b) || a.unknown || b.unknown || begins)
                && !told
                && (self.is_own(from, to) || subject.is_observable())
            {
                verdicts.push(((from, to), self.compare(subject, from, to, a, b)));
            }
        }
        self.invariants(&sides);
        self.shared_cases(subject, &sides);
        verdicts
    }

    fn returns_nothing(&self, class: ClassId) -> bool {
        matches!(self.task.graph.bodies[class].ret, CType::Void)
    }

    /// Whether the function's own text differs between two classes. Where only a callee's does, a
    /// difference is worth a word when an input shows it.
    pub(super) fn is_own(&self, from: ClassId, to: ClassId) -> bool {
        let pairs = self.task.pairs.iter().zip(&self.task.own);
        pairs.filter(|(p, _)| **p == (from, to)).all(|(_, own)| *own)
    }

    /// Whether objects that the function rests on begin with other values.
    pub(super) fn begins(&self, from: ClassId, to: ClassId) -> bool {
        self.task.pairs.iter().zip(&self.task.begins).any(|(p, begins)| *p == (from, to) && *begins)
    }

    /// Whether an observable tells of the change between two classes.
    pub(super) fn is_told(&self, from: ClassId, to: ClassId) -> bool {
        self.diff.churns.iter().any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable())
    }

    /// Facts that several classes share.
    fn invariants(&mut self, sides: &BTreeMap<ClassId, ClassFacts>) {
        let mut merged: Vec<(FactKey, Fact)> = Vec::new();
        for side in sides.values() {
            for (key, fact) in &side.facts {
                match merged.iter_mut().find(|m| self.is_same_fact(m, (key, fact))) {
                    Some((_, f)) => {
                        f.classes = f.classes.union(&fact.classes);
                        f.lines.extend(fact.lines.clone());
                        f.assumptions.extend(fact.assumptions.iter().cloned());
                        f.assumptions.sort();
                        f.assumptions.dedup();
                    }
                    None => merged.push((key.clone(), fact.clone())),
                }
            }
        }
        self.said.extend(merged.iter().filter(|_| self.relaid).map(|(_, f)| f.text().to_owned()));
        // Of a class without a defined execution every fact holds.
        let empty = self.undefined_classes();
        for (_, fact) in merged.iter_mut().filter(|_| !empty.is_empty()) {
            fact.classes = fact.classes.union(&empty);
            fact.assumptions.push(defined::ASSUMPTION.into());
            fact.assumptions.sort();
        }
        // That all versions leave a place as it was is no news.
        let all = self.task.options.all;
        let unchanged =
            |f: &Fact| !all && f.variables.iter().any(|v| f.text() == format!("{v} == \\old({v})"));
        self.diff.invariants.extend(merged.into_iter().map(|(_, f)| f).filter(|f| !unchanged(f)));
    }

    /// Facts of a subject in every class.
    pub(super) fn sides(&mut self, subject: &Observable) -> BTreeMap<ClassId, ClassFacts> {
        let all = self.task.graph.all_classes();
        match subject {
            Observable::Ends => all.iter().map(|c| (c, self.ends_of(c))).collect(),
            _ => {
                let mut sides = BTreeMap::new();
                let point = self.diff.point.clone();
                for (set, val) in observable::values_at(&mut self.e, subject, &point, &all) {
                    for c in set.iter() {
                        let side = self.side(subject, c, &val);
                        sides.insert(c, side);
                    }
                }
                if *subject == Observable::Output {
                    all.iter().for_each(|c| self.add_output_at_ends(c, &mut sides));
                }
                sides
            }
        }
    }

    fn side(&mut self, subject: &Observable, class: ClassId, val: &Val) -> ClassFacts {
        let term = val.term;
        let causes = match subject {
            Observable::Cell { address, .. } => self.cell_causes(class, *address, val),
            _ => val.causes.clone(),
        };
        let val = &Val { causes, ..val.clone() };
        let unknown = self.e.rests_on_havoc(term);
        let empty = self.undefined_classes().contains(class);
        let mut side = ClassFacts {
            key: vec![term],
            facts: Vec::new(),
            causes: val.causes.clone(),
            guards: val.guards.clone(),
            unknown,
        };
        // Output is judged case by case.
        let open = *subject != Observable::Output && {
            let shown = self.defined_value(class, term);
            self.e.rests_on_indeterminate(shown)
        };
        if unknown || open || empty {
            return side;
        }
        side.facts = match subject {
            Observable::Output => self.output_facts(class, val),
            Observable::Memory => Vec::new(),
            _ => self.value_facts(subject, class, val),
        };
        side
    }

    /// Decides how a subject differs between two classes, and reports it.
    pub(super) fn compare(
        &mut self,
        subject: &Observable,
        from: ClassId,
        to: ClassId,
        a: &ClassFacts,
        b: &ClassFacts,
    ) -> ObservableVerdict {
        let graph = self.task.graph;
        let runs = self.task.runs(from, to);
        let mut found = match (subject, self.diff.point.kind) {
            (_, Kind::Exit) => self.witness(&runs, subject, from, to),
            (Observable::Variable { .. }, _) => {
                self.differing_run(&subject.key(), from, to).map(|r| (r, Difference::Defined))
            }
            _ => None,
        };
        if found.is_none() {
            if a.key == b.key && !a.unknown && !b.unknown {
                return ObservableVerdict::Same;
            }
            if self.is_shown_the_same(subject, from, to) {
                return ObservableVerdict::Same;
            }
            if !self.is_own(from, to) {
                self.diff.silent = true;
                return ObservableVerdict::Open;
            }
            if a.unknown || b.unknown {
                let reason = match self.e.is_exhausted() {
                    true => "the function's values grow beyond the limit of terms",
                    false => "an effect that is not modelled takes part",
                };
                return self.undecided(subject, from, to, reason);
            }
            if let ([ta], [tb]) = (a.key.as_slice(), b.key.as_slice())
                && self.e.pool.sort(*ta) != self.e.pool.sort(*tb)
            {
                let reason = "its type changes, and no input shows a difference";
                return self.undecided(subject, from, to, reason);
            }
            // That there is one end more or less is told as such.
            let more_ends = a.key.len() != b.key.len() && a.key.first() == b.key.first();
            if *subject == Observable::Output && more_ends {
                return ObservableVerdict::Open;
            }
            if self.relaid {
                return self.undecided(subject, from, to, relaid::REASON);
            }
            match self.equal(subject, from, to, a, b) {
                Equality::Equal => return ObservableVerdict::Same,
                Equality::Differ(run) => {
                    found = run.and_then(|r| self.witness(&[*r], subject, from, to));
                }
                Equality::Open(reason) => {
                    return self.undecided(subject, from, to, reason);
                }
            }
        }
        // An undefined event is one difference, whatever it keeps from being seen.
        let told_already = |c: &Churn| (c.from, c.to) == (from, to) && c.claim == Claim::DiffersUnderUb;
        if matches!(found, Some((_, Difference::Undefined))) && self.diff.churns.iter().any(told_already) {
            return ObservableVerdict::Reported;
        }
        let not_in = |side: &ClassFacts, other: &ClassFacts| -> Vec<Fact> {
            let facts =
                side.facts.iter().filter(|(k, f)| !other.facts.iter().any(|o| self.is_same_fact(o, (k, f))));
            facts.map(|(_, f)| f.clone()).collect()
        };
        let (mut removed, mut added) = (not_in(a, b), not_in(b, a));
        if matches!(subject, Observable::Output | Observable::Ends) && !self.task.options.all {
            drop_long(&mut removed);
            drop_long(&mut added);
        }
        if removed.is_empty() || added.is_empty() {
            let (before, now) = self.cases_of_change(subject, (from, to), (a, b), found.as_ref());
            removed = if removed.is_empty() { before } else { removed };
            added = if added.is_empty() { now } else { added };
        }
        let claim = match &found {
            Some((run, Difference::Undefined)) => {
                // The event stands on the side of the version that meets it.
                let events = undefined_fact(run, from, to, &graph.bodies[to].name, &self.task.units);
                if matches!(run.old.end, crate::interp::End::Undefined { .. }) {
                    removed = events;
                } else {
                    added = events;
                }
                Claim::DiffersUnderUb
            }
            Some(_) if removed.is_empty() && added.is_empty() => Claim::Changed,
            Some(_) if removed.is_empty() => Claim::NowHolds,
            Some(_) if added.is_empty() => Claim::NoLongerHolds,
            Some(_) => Claim::Changed,
            None => Claim::NoLongerProvable,
        };
        let texts = |facts: &[Fact]| facts.iter().map(|f| f.text().to_owned()).collect::<Vec<_>>();
        if found.is_none() && (removed.is_empty() || texts(&removed) == texts(&added)) {
            let reason = "the values differ in form, and no input shows a difference";
            return self.undecided(subject, from, to, reason);
        }
        let witness = found.as_ref().map(|(r, _)| r.clone());
        let causes = match &found {
            Some((run, Difference::Undefined)) => {
                let (a, b) = (self.with_event(from, &run.old, a), self.with_event(to, &run.new, b));
                self.causes_of_change((from, to), (&a, &b), witness.as_ref())
            }
            _ => self.causes_of_change((from, to), (a, b), witness.as_ref()),
        };
        let objects = match subject {
            Observable::Memory => witness.as_ref().and_then(|r| self.changed_object(r, from, to)),
            _ => None,
        };
        let cell = witness.as_ref().and_then(|r| self.cell_change(r, subject, from, to));
        self.diff.churns.push(Churn {
            from,
            to,
            subject: subject.clone(),
            removed,
            added,
            claim,
            causes,
            witness,
            cell,
            objects,
        });
        ObservableVerdict::Reported
    }

    pub(super) fn lines(&self, causes: &Lines, class: ClassId) -> Vec<u32> {
        let graph = self.task.graph;
        let nodes = causes.iter().filter(|&n| graph.node(n).classes.contains(class));
        let mut lines: Vec<u32> = nodes.map(|n| graph.line(n, class)).filter(|&l| l > 0).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Asks the solver whether a subject is equal on all inputs that reach the exit in both classes.
    /// A model is replayed.
    fn equal(
        &mut self,
        subject: &Observable,
        from: ClassId,
        to: ClassId,
        a: &ClassFacts,
        b: &ClassFacts,
    ) -> Equality {
        let mut pairs = a.key.iter().zip(&b.key).enumerate().filter(|(_, (x, y))| x != y);
        let (Some((at, (&ta, &tb))), None) = (pairs.next(), pairs.next()) else {
            return Equality::Differ(None);
        };
        if a.key.len() != b.key.len() || self.e.pool.sort(ta) != self.e.pool.sort(tb) {
            return Equality::Differ(None);
        }
        if self.e.pool.sort(ta) == Sort::Mem {
            // Equality of whole memories is beyond the solver; their parts are other questions.
            return Equality::Open("whether memory is the same as a whole is not asked");
        }
        let mut under = self.e.pool.bool(true);
        // The first value is the exit's, the others are those of other ends.
        for c in [from, to].into_iter().filter(|_| *subject != Observable::Ends) {
            let ends = observable::abnormal_ends(&self.e, c);
            let node = at.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(Mvicfg::EXIT);
            for (_, v) in self.e.reach_from_entry(node, &ClassSet::single(c)) {
                under = self.e.pool.and(under, v.term);
            }
        }
        match self.deciders.points.equal(&mut self.e.pool, ta, tb, under) {
            smt::Decision::Equal => Equality::Equal,
            smt::Decision::Differ(model) => {
                let graph = self.task.graph;
                let input = inputs::from_model(&self.e.pool, &model, &[ta, tb, under], &graph.bodies[to]);
                let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
                let run = runs::replay(&self.task.programs[from], &self.task.programs[to], entry, input);
                Equality::Differ(Some(Box::new(run)))
            }
            smt::Decision::Open { reason } => Equality::Open(match reason {
                "too many multiplications" => "it has too many multiplications for the solver",
                "too many accesses of memory" => "it has too many accesses of memory for the solver",
                "float-questions" => "the solver is not asked again about real numbers",
                _ => "the solver did not decide within its limit",
            }),
        }
    }

    /// Takes down the pairs of classes of which observables told nothing, and left nothing open, and that are shown to do
    /// the same: equal values at an exit do not say that both get there.
    fn note_unseen(&mut self, seen: &BTreeSet<(ClassId, ClassId)>) {
        if !self.diff.undecided.is_empty() || self.diff.silent {
            return;
        }
        for pair in self.task.pairs.clone() {
            let is_asked = self.is_own(pair.0, pair.1) && !self.is_told(pair.0, pair.1);
            if !seen.contains(&pair) && is_asked && self.are_coupled(pair.0, pair.1) {
                self.unseen.insert(pair);
            }
        }
    }

    /// Whether two classes with loops, or calls of themselves, are shown to do the same as a whole.
    fn is_shown_the_same(&mut self, subject: &Observable, from: ClassId, to: ClassId) -> bool {
        let is_asked = self.diff.point.kind == Kind::Exit
            && subject.is_observable()
            && (self.is_own(from, to) || !self.task.options.budget.is_first_look())
            && !self.is_told(from, to);
        is_asked && self.are_coupled(from, to)
    }

    /// Takes down the pairs of classes that do the same: equal values at the exit do not say that both get there.
    fn couple_all(&mut self) {
        if self.diff.point.kind != Kind::Exit {
            return;
        }
        for (from, to) in self.task.pairs.clone() {
            let [old, new] = [from, to].map(|c| !self.e.flow.classes[c].loops.is_empty());
            let is_asked = old && new && self.is_own(from, to) && !self.is_told(from, to);
            let is_known = self.coupled.get(&(from, to)) == Some(&true);
            if is_known || is_asked && self.are_coupled(from, to) {
                self.diff.same.insert((from, to));
            }
        }
    }

    fn undecided(
        &mut self,
        subject: &Observable,
        from: ClassId,
        to: ClassId,
        reason: &str,
    ) -> ObservableVerdict {
        // Of locals nothing is asked but what can be answered, and cells are asked about as memory.
        // Where a cell tells of a change, what else there may be in memory is not asked.
        let cells_tell =
            |c: &Churn| (c.from, c.to) == (from, to) && matches!(c.subject, Observable::Cell { .. });
        let told = *subject == Observable::Memory && self.diff.churns.iter().any(cells_tell);
        if subject.is_observable() && !matches!(subject, Observable::Cell { .. }) && !told {
            self.diff.undecided.push(Undecided::fact(subject.name(), reason));
        }
        ObservableVerdict::Open
    }

    /// The term under the assumption that input is well formed.
    pub(super) fn shown(&mut self, class: ClassId, term: TermId) -> TermId {
        let unchecked = &self.e.unchecked;
        let taken = |t: TermId| unchecked.get(&t).is_some_and(|set| set.contains(class));
        abstraction::well_formed(&mut self.e.pool, term, &taken)
    }

    pub(super) fn assumptions(&self, exact: TermId, shown: TermId) -> Vec<String> {
        if exact == shown { Vec::new() } else { vec!["stdin-well-formed".into()] }
    }
}
