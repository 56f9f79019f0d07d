//! Relations at a point: candidates from data, proved or refuted by class, then consolidated.
//!
//! At loop heads the induction decides (module `inductive`); elsewhere every class's executions suggest candidates; each is tried in every class. What a class's own
//! executions refute does not hold there, and the refuting run is the witness of a churn; what they
//! do not refute is asked of the solver. A solver model that replays as a refutation joins the
//! executions (counterexamples refine, `docs/design/facts.md`).

use crate::fact::Formula;
use crate::invariant::candidate::conditional;
use crate::invariant::candidate::guard::Test;
use crate::invariant::candidate::observed::Observed;
use crate::invariant::candidate::observed::Quantity;
use crate::invariant::candidate::observed::is_countable;
use crate::invariant::candidate::samples::{Row, Rows};
use crate::invariant::candidate::templates::{self, Candidate};
use crate::invariant::fact::{Fact, Template};
use crate::invariant::findings::{Churn, Claim};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable, find_key, find_var};
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::abstraction;
use crate::invariant::proof::known::Known;
use crate::invariant::proof::known::Standing;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::{inputs, runs};
use crate::ir::{App, CType, Leaf, Op, Term, TermId, VarKind, bounds};
use crate::mvicfg::{ClassId, ClassSet};
use crate::semantics::{Lines, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};

/// Most variables and candidates of one function.
const MAX_VARIABLES: usize = 10;
const MAX_CANDIDATES: usize = 240;
/// The same where locals are not asked about.
const MAX_SHOWN: usize = 16;

/// Whether a candidate is proved in a way of its own, and not with others.
fn is_alone(c: &Candidate) -> bool {
    matches!(c, Candidate::ForAll(_) | Candidate::Equation(_))
}

impl FunctionAnalysis<'_> {
    /// Finds the relations at the point that classes share, or that a pair of classes makes or
    /// breaks.
    pub(in crate::invariant) fn relations(&mut self) {
        let point = self.diff.point.clone();
        if point.kind == Kind::Loop {
            return self.relations_of_loop(&point);
        }
        let locals = self.task.options.all || point.kind != Kind::Exit;
        let classes: Vec<ClassId> = point.nodes.keys().copied().collect();
        let known: BTreeMap<ClassId, BTreeMap<String, Known>> =
            classes.iter().map(|&c| (c, self.known(c, &point, locals))).collect();
        let mut candidates: BTreeSet<Candidate> = BTreeSet::new();
        let mut rows: BTreeMap<ClassId, Rows> = BTreeMap::new();
        for &c in &classes {
            let r = self.rows(c, &point, known[&c].keys().cloned().collect());
            let guarded = locals || point.kind == Kind::Exit;
            candidates.extend(self.suggested_of(c, &known[&c], &r, guarded.then_some(point.kind)));
            rows.insert(c, r);
            if self.has_passed_loops(c, &point) {
                candidates.extend(self.quantified_at_exit(c, &known[&c]));
            }
        }
        let most = if locals { MAX_CANDIDATES } else { MAX_SHOWN };
        // Linear relations of the result restate what its functional fact says.
        let restates = |c: &Candidate| !locals && matches!(c, Candidate::Linear { .. });
        let candidates: Vec<Candidate> = candidates
            .into_iter()
            .filter(|c| !restates(c) && !self.is_stated(c, &known) && !self.is_case(c, &known))
            .take(most)
            .collect();
        let shown: BTreeMap<ClassId, BTreeSet<&Candidate>> = classes
            .iter()
            .map(|&c| (c, self.shown_together(c, &point, &candidates, &known[&c], &rows[&c])))
            .collect();
        let mut tried: Vec<(Candidate, BTreeMap<ClassId, Standing>)> = Vec::new();
        for candidate in &candidates {
            // Where no class has it, nobody asks for an input that refutes it.
            let asked = is_alone(candidate) || shown.values().any(|s| s.contains(candidate));
            let standing = classes.iter().map(|&c| {
                let standing = match asked {
                    true => {
                        let holds = shown[&c].contains(candidate);
                        self.try_candidate((c, &point), candidate, &known[&c], &rows[&c], holds)
                    }
                    false => match self.refuting_row(candidate, &known[&c], &rows[&c]) {
                        Some(run) => Standing::Refuted(Box::new(run)),
                        None => Standing::Open,
                    },
                };
                (c, standing)
            });
            tried.push((candidate.clone(), standing.collect()));
        }
        if point.kind == Kind::Exit {
            classes.iter().for_each(|&c| self.settle_bounded(c, &known[&c], &mut tried));
        }
        for (candidate, standing) in &tried {
            let implies = |(other, theirs): &(Candidate, BTreeMap<ClassId, Standing>)| {
                other.is_tighter_than(candidate)
                    && theirs.iter().zip(standing).all(|((_, a), (_, b))| a.is_like(b))
            };
            if !tried.iter().any(implies) {
                self.consolidate_relation(candidate, standing);
            }
        }
    }

    /// Tries what stayed open in a class on its executions with few iterations.
    fn settle_bounded(
        &mut self,
        class: ClassId,
        known: &BTreeMap<String, Known>,
        tried: &mut [(Candidate, BTreeMap<ClassId, Standing>)],
    ) {
        let open =
            |standing: &BTreeMap<ClassId, Standing>| matches!(standing.get(&class), Some(Standing::Open));
        let candidates: Vec<Candidate> =
            tried.iter().filter(|(_, s)| open(s)).map(|(c, _)| c.clone()).collect();
        let (held, k) = self.bounded(class, &candidates);
        for (candidate, standing) in tried {
            let Some(assumed) = held.get(candidate) else { continue };
            let proved = Standing::proved(candidate, known, assumed);
            if let Standing::Proved { causes, guards, assumptions, .. } = proved {
                let proved = Standing::Proved { causes, guards, assumptions, bound: k };
                standing.insert(class, proved);
            }
        }
    }

    /// Consolidates what the induction found at a loop's head.
    fn relations_of_loop(&mut self, point: &Point) {
        self.find_inductive();
        let Some(mut inductive) = self.inductive.take() else { return };
        for (_, standings) in inductive.heads.iter_mut().filter(|(p, _)| p == point) {
            for (candidate, standing) in standings.iter() {
                let implies = |(other, theirs): (&Candidate, &BTreeMap<ClassId, Standing>)| {
                    other.is_tighter_than(candidate)
                        && theirs.iter().zip(standing).all(|((_, a), (_, b))| a.is_like(b))
                };
                if !standings.iter().any(implies) {
                    self.consolidate_relation(candidate, standing);
                }
            }
        }
        self.inductive = Some(inductive);
    }

    /// Values of variables, and of the result, in one class at a point.
    pub(in crate::invariant) fn known(
        &mut self,
        class: ClassId,
        point: &Point,
        locals: bool,
    ) -> BTreeMap<String, Known> {
        let graph = self.task.graph;
        let single = ClassSet::single(class);
        let mut known = BTreeMap::new();
        let mut subjects = observable::at(graph, point.kind);
        if point.kind == Kind::Loop
            && let Some(&node) = point.nodes.get(&class)
        {
            // What the loop changes, then what it reads.
            let ranked = self.e.loop_variables(class, node);
            let rank =
                |s: &Observable| ranked.iter().position(|v| observable::is_variable(graph, s, class, *v));
            // What the loop leaves alone may still be what its variables relate to.
            subjects.retain(|s| rank(s).is_some() || self.is_interface(s, class));
            subjects.sort_by_key(|s| rank(s).unwrap_or(usize::MAX));
        }
        for s in subjects {
            if matches!(s, Observable::Output | Observable::Ends | Observable::Memory)
                || known.len() >= MAX_VARIABLES
            {
                continue;
            }
            if !locals && !self.is_interface(&s, class) {
                continue;
            }
            let Some(ty) = observable::type_of(graph, &s, class) else { continue };
            if !is_countable(&ty) || known.contains_key(&s.key()) {
                continue;
            }
            for (_, val) in observable::values_at(&mut self.e, &s, point, &single) {
                if let Some(k) = self.as_known(class, ty.clone(), val) {
                    known.insert(s.key(), k);
                }
            }
        }
        self.known_quantities(class, point, &mut known);
        known
    }

    /// A value that candidates can be about: all that it rests on is known.
    pub(in crate::invariant) fn as_known(&mut self, class: ClassId, ty: CType, val: Val) -> Option<Known> {
        let (clear, mut assumed) = self.separated(class, val.term);
        let exact = self.cut(clear);
        let cut = self.shown(class, exact);
        if cut != exact {
            assumed.insert("stdin-well-formed".into());
        }
        let open = self.e.rests_on_havoc(cut) || self.e.rests_on_indeterminate(cut);
        (!open).then_some(Known { cut, ty, assumed, val: Val { term: clear, ..val } })
    }

    /// Whether a subject is the result or a parameter.
    fn is_interface(&self, subject: &Observable, class: ClassId) -> bool {
        let body = &self.task.graph.bodies[class];
        match subject {
            Observable::Result => true,
            Observable::Variable { name, ordinal } => {
                find_var(body, name, *ordinal).is_some_and(|v| body.var(v).kind == VarKind::Param)
            }
            _ => false,
        }
    }

    /// What the executions of a class suggest, and those that a guard picks, too, where a kind of point
    /// is named: at the exit only of what a caller knows.
    pub(in crate::invariant) fn suggested_of(
        &mut self,
        class: ClassId,
        known: &BTreeMap<String, Known>,
        rows: &Rows,
        guarded: Option<Kind>,
    ) -> BTreeSet<Candidate> {
        let observed = self.observed(known, rows);
        let mut found = templates::suggest(&observed);
        found.extend(known.iter().flat_map(|(x, k)| self.natural_bounds(x, k)));
        if let Some(kind) = guarded {
            let branches = self.branch_terms(class);
            let is_given = |x: &str| known.get(x).is_some_and(|k| self.is_given(k.cut));
            let both = |k: &Known| [(k.cut, k.ty.clone()), (k.val.term, k.ty.clone())];
            let terms = known.values().flat_map(both).collect();
            let tests = conditional::tests_of(&self.e.pool, &branches, &terms);
            let tests = |x: &str| -> BTreeSet<Test> {
                let ids = known.get(x).map(|k| [k.cut, k.val.term]);
                ids.iter().flatten().filter_map(|t| tests.get(t)).flatten().copied().collect()
            };
            if kind == Kind::Loop {
                found.extend(
                    known.keys().flat_map(|x| tests(x).into_iter().map(|t| conditional::left_by(t, x))),
                );
            }
            let outside = |x: &str| x == "\\result" || is_given(x) || self.quantities.contains_key(x);
            // Equations of locals at the exit hold by accident of the ways there more often than not.
            let of_caller = |c: &Candidate| {
                !matches!(c, Candidate::Equation(_)) || c.variables().into_iter().all(outside)
            };
            found.retain(|c| kind != Kind::Exit || of_caller(c));
            let observed: Vec<Observed> =
                observed.into_iter().filter(|o| kind != Kind::Exit || outside(&o.name)).collect();
            let guards = conditional::guards(&observed, &is_given, &tests);
            found.extend(conditional::suggest(&observed, &guards, &is_given));
        }
        found
    }

    /// Bounds of a value by what its operators can give; runs seldom meet them.
    fn natural_bounds(&self, x: &str, k: &Known) -> Vec<Candidate> {
        const FAR: i128 = 4096;
        let computed = matches!(self.e.pool.get(k.cut), Term::App(App::Op(op), _) if !matches!(op, Op::Zext(_) | Op::Sext(_)));
        let CType::Int { bits, signed, .. } = &k.ty else { return Vec::new() };
        let Some(bounds) = bounds::of(&self.e.pool, k.cut, *signed).filter(|_| computed && *bits >= 32)
        else {
            return Vec::new();
        };
        let near = |n: i128| n.abs() <= FAR;
        let least = (near(bounds.low) && (*signed || bounds.low > 0))
            .then(|| Candidate::AtLeast(x.to_owned(), bounds.low));
        let most = near(bounds.high).then(|| Candidate::AtMost(x.to_owned(), bounds.high));
        least.into_iter().chain(most).collect()
    }

    /// Whether a candidate with a guard only repeats a case of values that are facts by themselves.
    fn is_case(&self, candidate: &Candidate, known: &BTreeMap<ClassId, BTreeMap<String, Known>>) -> bool {
        let Candidate::Given(..) = candidate else { return false };
        let told = |x: &str| {
            let value = |f: &Fact| {
                f.variables == [x] && matches!(f.template, Template::Functional | Template::Constant)
            };
            let plain = |k: &Known| {
                let leaf = |t: &TermId| match self.e.pool.get(*t) {
                    Term::Leaf(Leaf::Param { name, .. }) => !abstraction::is_loop_value(name),
                    _ => true,
                };
                self.is_given(k.cut) || self.e.pool.reachable(&[k.cut]).iter().all(leaf)
            };
            let whole = || self.diff.invariants.iter().any(|f| value(f) && !f.formula.is_conditional());
            known.values().all(|k| k.get(x).is_some_and(plain))
                && (known.values().all(|k| k.get(x).is_some_and(|k| self.is_given(k.cut))) || whole())
        };
        candidate.variables().into_iter().all(told)
    }

    /// Whether a value is one that the function is given.
    pub(in crate::invariant) fn is_given(&self, t: TermId) -> bool {
        match self.e.pool.get(t) {
            Term::Leaf(Leaf::Param { name, .. }) => !abstraction::is_loop_value(name),
            Term::App(App::Load { .. }, args) => {
                args.first().is_some_and(|m| matches!(self.e.pool.get(*m), Term::Leaf(Leaf::Memory)))
            }
            _ => false,
        }
    }

    pub(in crate::invariant) fn observed(
        &self,
        known: &BTreeMap<String, Known>,
        rows: &Rows,
    ) -> Vec<Observed> {
        known
            .iter()
            .filter_map(|(name, k)| {
                let column = rows.column(name)?;
                let values = rows.rows.iter().map(|r| r.value(column)).collect();
                Some(Observed { name: name.clone(), ty: k.ty.clone(), values })
            })
            .collect()
    }

    /// Whether the functional facts say it already: the variables are constants in every class, or
    /// parameters that nothing changes.
    pub(in crate::invariant) fn is_stated(
        &self,
        candidate: &Candidate,
        known: &BTreeMap<ClassId, BTreeMap<String, Known>>,
    ) -> bool {
        let said = |t: TermId| self.e.pool.as_const(t).is_some() || self.is_given(t);
        let variables = candidate.variables();
        // A relation to a result that is always the same is a bound.
        let bound = |k: &BTreeMap<String, Known>| {
            let result = k.get("\\result").filter(|_| variables.contains(&"\\result"));
            variables.len() == 2 && result.is_some_and(|v| self.e.pool.as_const(v.cut).is_some())
        };
        known.values().all(|k| variables.iter().all(|x| k.get(*x).is_some_and(|v| said(v.cut))) || bound(k))
    }

    /// The run whose state at the point refutes a candidate, if there is one.
    pub(in crate::invariant) fn refuting_row(
        &self,
        candidate: &Candidate,
        known: &BTreeMap<String, Known>,
        rows: &Rows,
    ) -> Option<Run> {
        let refutes = |row: &&Row| {
            let value = |x: &str| Some((row.value(rows.column(x)?)?, known.get(x)?.ty.clone()));
            candidate.holds(&value) == Some(false)
        };
        rows.rows.iter().find(refutes).and_then(|row| rows.run(row)).cloned()
    }

    /// Those of the candidates that hold in a class at a point; they are asked together.
    pub(in crate::invariant) fn shown_together<'c>(
        &mut self,
        class: ClassId,
        point: &Point,
        candidates: &'c [Candidate],
        known: &BTreeMap<String, Known>,
        rows: &Rows,
    ) -> BTreeSet<&'c Candidate> {
        let Some(&node) = point.nodes.get(&class) else { return BTreeSet::new() };
        let lookup = |x: &str| known.get(x).map(Known::as_term);
        let (mut found, mut asked, mut goals) = (BTreeSet::new(), Vec::new(), Vec::new());
        for candidate in candidates.iter().filter(|c| !is_alone(c)) {
            if self.refuting_row(candidate, known, rows).is_some() {
                continue;
            }
            if candidate.is_evident(&self.e.pool, &lookup) {
                found.insert(candidate);
                continue;
            }
            let Some(goal) = candidate.term(&mut self.e.pool, &lookup) else { continue };
            goals.push(self.cut(goal));
            asked.push(candidate);
        }
        if asked.is_empty() {
            return found;
        }
        let (under, _) = self.separated_state(class, node);
        let holds = self.lemmas_of(under, &goals);
        found.extend(asked.into_iter().zip(holds).filter(|(_, holds)| *holds).map(|(c, _)| c));
        found
    }

    /// `holds`: that it does is known.
    pub(in crate::invariant) fn try_candidate(
        &mut self,
        (class, point): (ClassId, &Point),
        candidate: &Candidate,
        known: &BTreeMap<String, Known>,
        rows: &Rows,
        holds: bool,
    ) -> Standing {
        if let Some(run) = self.refuting_row(candidate, known, rows) {
            return Standing::Refuted(Box::new(run));
        }
        let lookup = |x: &str| known.get(x).map(Known::as_term);
        let Some(goal) = candidate.term(&mut self.e.pool, &lookup) else { return Standing::Open };
        let Some(&node) = point.nodes.get(&class) else { return Standing::Open };
        let (under, mut assumed) = self.separated_state(class, node);
        let (goal, used) = match candidate {
            Candidate::ForAll(_) => self.separated(class, goal),
            _ => (goal, BTreeSet::new()),
        };
        assumed.extend(used);
        if let Candidate::Written(r) = candidate {
            assumed.extend(r.assumed(&|x| known.get(x).map(|k| k.ty.clone())));
        }
        let goal = self.cut(goal);
        let (under, goal) = match candidate {
            Candidate::ForAll(_) => {
                let pool = &mut self.e.pool;
                (abstraction::without_loads(pool, under), abstraction::without_loads(pool, goal))
            }
            _ => (under, goal),
        };
        let evident = match candidate {
            Candidate::Equation(_) => self.follows(under, goal),
            _ => holds,
        };
        if evident {
            return Standing::proved(candidate, known, &assumed);
        }
        if matches!(candidate, Candidate::Equation(_)) {
            return Standing::Open;
        }
        match self.lemma(under, goal) {
            smt::Truth::Holds => Standing::proved(candidate, known, &assumed),
            smt::Truth::Fails(model) => {
                let graph = self.task.graph;
                let body = &graph.bodies[class];
                let input = inputs::from_model(&self.e.pool, &model, &[under, goal], body);
                let program = self.task.programs[class].clone();
                let run = runs::replay(&program, &program, (&body.name, &body.name), input);
                let rows = self.rows_of(class, point, rows.names.clone(), run);
                match self.refuting_row(candidate, known, &rows) {
                    Some(run) => Standing::Refuted(Box::new(run)),
                    None => Standing::Open,
                }
            }
            smt::Truth::Open { .. } => Standing::Open,
        }
    }

    /// The fact of a candidate, of the classes in which it is proved.
    pub(in crate::invariant) fn proved_fact(
        &self,
        candidate: &Candidate,
        standing: &BTreeMap<ClassId, Standing>,
    ) -> Fact {
        let mut fact = Fact {
            template: candidate.template(),
            variables: candidate.variables().into_iter().map(observable::shown).collect(),
            formula: Formula::read(observable::shown(&candidate.text())),
            c: candidate.c_text().map(|c| observable::shown(&c)),
            classes: ClassSet::new(),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
            bounds: BTreeMap::new(),
        };
        let mut assumed = BTreeSet::new();
        for (&c, s) in standing {
            if let Standing::Proved { causes, assumptions, bound, .. } = s {
                fact.classes.insert(c);
                fact.bounds.extend(bound.map(|k| (c, k)));
                fact.lines.insert(c, self.lines(causes, c));
                assumed.extend(assumptions.iter().cloned());
            }
        }
        fact.assuming(&assumed)
    }

    pub(in crate::invariant) fn consolidate_relation(
        &mut self,
        candidate: &Candidate,
        standing: &BTreeMap<ClassId, Standing>,
    ) {
        let fact = self.proved_fact(candidate, standing);
        if fact.classes.is_empty() {
            return;
        }
        for (from, to) in self.task.pairs.clone() {
            self.relation_churn(candidate, &fact, from, to, standing);
        }
        if let Candidate::ForAll(f) = candidate {
            // Elements are places of memory.
            self.diff.cells.extend(f.variables().first().map(|x| (*x).to_owned()));
        }
        self.diff.invariants.push(fact);
    }

    fn relation_churn(
        &mut self,
        candidate: &Candidate,
        fact: &Fact,
        from: ClassId,
        to: ClassId,
        standing: &BTreeMap<ClassId, Standing>,
    ) {
        let of = |class: ClassId| Fact { classes: ClassSet::single(class), ..fact.clone() };
        let (Some(a), Some(b)) = (standing.get(&from), standing.get(&to)) else { return };
        let (removed, added, claim, run, holds, other) = match (a, b) {
            (Standing::Proved { .. }, Standing::Refuted(run)) => {
                (vec![of(from)], vec![], Claim::NoLongerHolds, run, a, to)
            }
            (Standing::Refuted(run), Standing::Proved { .. }) => {
                (vec![], vec![of(to)], Claim::NowHolds, run, b, from)
            }
            _ => return,
        };
        let Standing::Proved { causes, guards, .. } = holds else { return };
        // What somebody asked about is told whatever else says more.
        let is_asked = matches!(candidate, Candidate::Written(_));
        if !is_asked && self.restates(candidate, from, to) {
            return;
        }
        // The side without the fact rests on the same variables.
        let theirs = self.value_causes(candidate, other);
        let (x, y) = if other == to { (&**causes, &theirs) } else { (&theirs, &**causes) };
        let mut causes = self.cause_lines(from, to, x, y);
        if !causes.is_one_sided() {
            let all = self.cause_lines(from, to, &x.union(guards), &y.union(guards));
            (causes.removed, causes.added) = (all.removed, all.added);
        }
        let graph = self.task.graph;
        let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
        let witness =
            runs::replay(&self.task.programs[from], &self.task.programs[to], entry, run.input.clone());
        // What few iterations guarantee may fail in this very run, with more.
        let holding = if other == from { to } else { from };
        if fact.bounds.contains_key(&holding) && !self.holds_in(candidate, &witness, holding, holding == from)
        {
            return;
        }
        let refutes = |r: &Run| {
            let o = if other == from { &r.old } else { &r.new };
            let value = |x: &str| {
                Some((self.value_at_exit(other, x, r, other == from)?, self.type_at_exit(other, x)?))
            };
            o.end == crate::interp::End::Return && candidate.holds(&value) == Some(false)
        };
        let witness = if self.diff.point.kind == Kind::Exit && refutes(&witness) {
            self.shrunk(witness, from, to, &refutes)
        } else {
            witness
        };
        self.diff.churns.push(Churn {
            from,
            to,
            subject: Observable::Relation {
                variables: fact.variables.clone(),
                observable: self.is_visible(candidate),
            },
            removed,
            added,
            claim,
            causes,
            witness: Some(witness),
            cell: None,
            objects: None,
        });
    }

    /// The type of what candidates speak of at the exit of a class.
    fn type_at_exit(&self, class: ClassId, x: &str) -> Option<CType> {
        let body = &self.task.graph.bodies[class];
        match x {
            "\\result" => Some(body.ret.clone()),
            _ if self.quantities.contains_key(x) => self.quantity_type(class, x),
            _ => find_key(body, x).map(|v| body.var(v).ty.clone()),
        }
    }

    /// Whether one side of a run returns and leaves a candidate true.
    fn holds_in(&self, candidate: &Candidate, run: &Run, class: ClassId, old: bool) -> bool {
        let value = |x: &str| Some((self.value_at_exit(class, x, run, old)?, self.type_at_exit(class, x)?));
        crate::invariant::candidate::samples::side(run, old).end == crate::interp::End::Return
            && candidate.holds(&value) == Some(true)
    }

    /// Whether what a candidate is about has a churn of its own, which says more: values of both sides,
    /// or another value of a place in memory.
    fn restates(&self, candidate: &Candidate, from: ClassId, to: ClassId) -> bool {
        let churns = || self.diff.churns.iter().filter(|c| (c.from, c.to) == (from, to));
        let is_value = |f: &Fact| matches!(f.template, Template::Constant | Template::Functional);
        let valued = |c: &Churn| c.removed.iter().any(is_value) && c.added.iter().any(is_value);
        let told = |x: &str| churns().any(|c| c.subject.key() == x && valued(c));
        let is_cell = |x: &str| matches!(self.quantities.get(x), Some(Quantity::Cell { .. }));
        let retold = |x: &str| is_cell(x) && churns().any(|c| c.subject.key() == x);
        let variables = candidate.variables();
        // That two differ is the least that values say of them.
        let is_weak = matches!(candidate, Candidate::Different(..)) && variables.iter().any(|x| told(x));
        let is_told = is_weak || variables.iter().all(|x| told(x)) || variables.iter().any(|x| retold(x));
        !self.task.options.all && is_told
    }

    fn value_causes(&mut self, candidate: &Candidate, class: ClassId) -> Lines {
        let single = ClassSet::single(class);
        let mut causes = Lines::default();
        let point = self.diff.point.clone();
        for s in observable::at(self.task.graph, point.kind) {
            if candidate.variables().contains(&s.key().as_str()) {
                for (_, v) in observable::values_at(&mut self.e, &s, &point, &single) {
                    causes = causes.union(&v.causes);
                }
            }
        }
        causes
    }

    /// Whether a caller can see what the candidate is about.
    fn is_visible(&self, candidate: &Candidate) -> bool {
        let Some(body) = self.task.graph.bodies.last() else { return false };
        let is_param = |x: &str| find_key(body, x).is_some_and(|v| body.var(v).kind == VarKind::Param);
        let is_left = |x: &str| {
            let quantity = self.quantities.get(x);
            x == "\\result" || matches!(quantity, Some(Quantity::Cell { at_entry: false, .. }))
        };
        let variables = candidate.variables();
        variables.iter().all(|x| is_left(x) || is_param(x) || self.quantities.contains_key(*x))
            && variables.iter().any(|x| is_left(x))
    }
}
