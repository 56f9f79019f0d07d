//! Relations at the exit: candidates from data, proved or refuted by class, then consolidated.
//!
//! Every class's executions suggest candidates; each is tried in every class. What a class's own
//! executions refute does not hold there, and the refuting run is the witness of a churn; what they
//! do not refute is asked of the solver. A solver model that replays as a refutation joins the
//! executions (counterexamples refine, design D5).

use super::consolidate::{Churn, Claim, Engine};
use super::fact::Fact;
use super::runs::Run;
use super::subject::{self, Subject, find_var};
use super::templates::{self, Candidate, Observed};
use super::{inputs, runs};
use crate::interp::{End, Outcome};
use crate::ir::{CType, Const, TermId, VarKind};
use crate::mvicfg::{Mvicfg, VersionSet};
use crate::semantics::{Lines, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most variables and candidates of one function.
const MAX_VARIABLES: usize = 10;
const MAX_CANDIDATES: usize = 80;
/// The same where locals are not asked about.
const MAX_SHOWN: usize = 16;

/// Runs of a pair of classes, and whether the class in question was the old one.
type Executions = (Rc<Vec<Run>>, bool);

/// A variable of one class: its value at the exit.
struct Known {
    shown: TermId,
    ty: CType,
    val: Val,
}

/// What is known of a candidate in one class.
enum Standing {
    Proved { causes: Rc<Lines>, guards: Rc<Lines>, assumptions: Vec<String> },
    Refuted(Box<Run>),
    Open,
}

impl Engine<'_> {
    /// Finds the relations that classes share, or that a pair of classes makes or breaks.
    pub(super) fn relations(&mut self) {
        let all = self.task.graph.all_classes();
        let known: BTreeMap<usize, BTreeMap<String, Known>> =
            all.iter().map(|c| (c, self.known(c))).collect();
        let names: BTreeSet<String> = known.values().flat_map(|k| k.keys().cloned()).take(64).collect();
        let mut candidates: BTreeSet<Candidate> = BTreeSet::new();
        let runs: BTreeMap<usize, Vec<Executions>> = all.iter().map(|c| (c, self.runs_of(c))).collect();
        for c in all.iter() {
            let observed = self.observe(c, &names, &known[&c], &runs[&c]);
            candidates.extend(templates::suggest(&observed));
        }
        let mut shown = 0;
        for candidate in candidates {
            let most = if self.task.options.all { MAX_CANDIDATES } else { MAX_SHOWN };
            // Linear relations of the result restate what its functional fact says.
            let restates = !self.task.options.all && matches!(candidate, Candidate::Linear { .. });
            if shown >= most || restates || self.is_stated(&candidate, &known) {
                continue;
            }
            shown += 1;
            let standing: BTreeMap<usize, Standing> =
                all.iter().map(|c| (c, self.try_candidate(c, &candidate, &known[&c], &runs[&c]))).collect();
            self.consolidate_relation(&candidate, &standing);
        }
    }

    /// Values of the named variables and of the result in one class.
    fn known(&mut self, class: usize) -> BTreeMap<String, Known> {
        let graph = self.task.graph;
        let single = VersionSet::single(class);
        let mut known = BTreeMap::new();
        for s in subject::at_exit(graph) {
            if matches!(s, Subject::Output | Subject::Ends | Subject::Memory) || known.len() >= MAX_VARIABLES
            {
                continue;
            }
            if !self.task.options.all && !self.is_interface(&s, class) {
                continue;
            }
            let Some(ty) = subject::type_of(graph, &s, class) else { continue };
            if !matches!(ty, CType::Int { .. } | CType::Bool | CType::Pointer(_))
                || known.contains_key(&s.name())
            {
                continue;
            }
            for (_, val) in subject::values_at_exit(&mut self.e, &s, &single) {
                let shown = self.shown(class, val.term);
                if !self.e.rests_on_havoc(shown) && !self.e.rests_on_indeterminate(shown) {
                    known.insert(s.name(), Known { shown, ty: ty.clone(), val });
                }
            }
        }
        known
    }

    /// Whether a subject is the result or a parameter.
    fn is_interface(&self, subject: &Subject, class: usize) -> bool {
        let body = &self.task.graph.bodies[class];
        match subject {
            Subject::Result => true,
            Subject::Variable { name, ordinal } => {
                find_var(body, name, *ordinal).is_some_and(|v| body.var(v).kind == VarKind::Param)
            }
            _ => false,
        }
    }

    /// The runs in which a class took part, and whether it was the old one.
    fn runs_of(&mut self, class: usize) -> Vec<Executions> {
        let mut found = Vec::new();
        for (from, to) in self.task.pairs.clone() {
            if from == class {
                found.push((self.runs(from, to), true));
            } else if to == class {
                found.push((self.runs(from, to), false));
            }
        }
        found
    }

    fn observe(
        &self,
        class: usize,
        names: &BTreeSet<String>,
        known: &BTreeMap<String, Known>,
        runs: &[Executions],
    ) -> Vec<Observed> {
        let outcomes: Vec<&Outcome> = runs
            .iter()
            .flat_map(|(r, old)| r.iter().map(move |run| if *old { &run.old } else { &run.new }))
            .collect();
        let usable: Vec<&Outcome> = outcomes.into_iter().filter(|o| o.end == End::Return).collect();
        names
            .iter()
            .filter_map(|name| {
                let ty = known.get(name)?.ty.clone();
                let values = usable.iter().map(|o| self.value(class, name, o)).collect();
                Some(Observed { name: name.clone(), ty, values })
            })
            .collect()
    }

    fn value(&self, class: usize, name: &str, o: &Outcome) -> Option<Const> {
        if name == "\\result" {
            return o.returned;
        }
        let body = &self.task.graph.bodies[class];
        find_var(body, name, 0).and_then(|v| o.local(v))
    }

    /// Whether the functional facts say it already: the variables are constants in every class, or
    /// parameters that nothing changes.
    fn is_stated(&self, candidate: &Candidate, known: &BTreeMap<usize, BTreeMap<String, Known>>) -> bool {
        known.values().all(|k| {
            candidate.variables().iter().all(|x| {
                k.get(*x).is_some_and(|v| {
                    self.e.pool.as_const(v.shown).is_some()
                        || matches!(self.e.pool.get(v.shown), crate::ir::Term::Leaf(_))
                })
            })
        })
    }

    fn try_candidate(
        &mut self,
        class: usize,
        candidate: &Candidate,
        known: &BTreeMap<String, Known>,
        runs: &[Executions],
    ) -> Standing {
        let refutes = |engine: &Self, o: &Outcome| {
            o.end == End::Return
                && candidate.holds(&|x| Some((engine.value(class, x, o)?, known.get(x)?.ty.clone())))
                    == Some(false)
        };
        for (list, old) in runs {
            if let Some(run) = list.iter().find(|r| refutes(self, if *old { &r.old } else { &r.new })) {
                return Standing::Refuted(Box::new(run.clone()));
            }
        }
        let lookup = |x: &str| known.get(x).map(|k| (k.shown, k.ty.clone()));
        let Some(goal) = candidate.term(&mut self.e.pool, &lookup) else { return Standing::Open };
        let single = VersionSet::single(class);
        let mut under = self.e.pool.bool(true);
        for (_, v) in self.e.reach_from_entry(Mvicfg::EXIT, &single) {
            let shown = self.shown(class, v.term);
            under = self.e.pool.and(under, shown);
        }
        match self.solver.holds(&mut self.e.pool, under, goal) {
            smt::Truth::Holds => {
                let (mut causes, mut guards) = (Lines::new(), Lines::new());
                let mut assumed = false;
                for x in candidate.variables() {
                    if let Some(k) = known.get(x) {
                        causes = causes.union(&k.val.causes);
                        guards = guards.union(&k.val.guards);
                        assumed |= k.shown != k.val.term;
                    }
                }
                let assumptions = if assumed { vec!["stdin-well-formed".into()] } else { Vec::new() };
                Standing::Proved { causes: Rc::new(causes), guards: Rc::new(guards), assumptions }
            }
            smt::Truth::Fails(model) => {
                let graph = self.task.graph;
                let input = inputs::from_model(&self.e.pool, &model, &[under, goal], &graph.bodies[class]);
                let program = self.task.programs[class].clone();
                let name = graph.bodies[class].name.clone();
                let run = runs::replay(&program, &program, (&name, &name), input);
                if refutes(self, &run.new) { Standing::Refuted(Box::new(run)) } else { Standing::Open }
            }
            smt::Truth::Open { .. } => Standing::Open,
        }
    }

    fn consolidate_relation(&mut self, candidate: &Candidate, standing: &BTreeMap<usize, Standing>) {
        let mut fact = Fact {
            template: candidate.template(),
            variables: candidate.variables().iter().map(|s| (*s).to_owned()).collect(),
            text: candidate.text(),
            c: (!candidate.text().contains('\\')).then(|| candidate.text()),
            classes: VersionSet::new(),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
        };
        for (&c, s) in standing {
            if let Standing::Proved { causes, assumptions, .. } = s {
                fact.classes.insert(c);
                fact.lines.insert(c, self.lines(causes, c));
                fact.assumptions.extend(assumptions.iter().cloned());
            }
        }
        fact.assumptions.sort();
        fact.assumptions.dedup();
        if fact.classes.is_empty() {
            return;
        }
        for (from, to) in self.task.pairs.clone() {
            self.relation_churn(candidate, &fact, from, to, standing);
        }
        self.diff.invariants.push(fact);
    }

    fn relation_churn(
        &mut self,
        candidate: &Candidate,
        fact: &Fact,
        from: usize,
        to: usize,
        standing: &BTreeMap<usize, Standing>,
    ) {
        let of = |class: usize| Fact { classes: VersionSet::single(class), ..fact.clone() };
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
        // The side without the fact rests on the same variables.
        let theirs = self.value_causes(candidate, other);
        let (x, y) = if other == to { (&**causes, &theirs) } else { (&theirs, &**causes) };
        let (mut removed_lines, mut added_lines, shared_lines) = self.cause_lines(from, to, x, y);
        if removed_lines.is_empty() && added_lines.is_empty() {
            (removed_lines, added_lines, _) = self.cause_lines(from, to, &x.union(guards), &y.union(guards));
        }
        let graph = self.task.graph;
        let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
        let witness =
            runs::replay(&self.task.programs[from], &self.task.programs[to], entry, run.input.clone());
        self.diff.churns.push(Churn {
            from,
            to,
            subject: Subject::Relation {
                variables: fact.variables.clone(),
                observable: self.is_visible(candidate),
            },
            removed,
            added,
            claim,
            removed_lines,
            added_lines,
            shared_lines,
            witness: Some(witness),
            cell: None,
        });
    }

    fn value_causes(&mut self, candidate: &Candidate, class: usize) -> Lines {
        let single = VersionSet::single(class);
        let mut causes = Lines::new();
        for s in subject::at_exit(self.task.graph) {
            if candidate.variables().contains(&s.name().as_str()) {
                for (_, v) in subject::values_at_exit(&mut self.e, &s, &single) {
                    causes = causes.union(&v.causes);
                }
            }
        }
        causes
    }

    /// Whether a caller can see what the candidate is about.
    fn is_visible(&self, candidate: &Candidate) -> bool {
        let Some(body) = self.task.graph.bodies.last() else { return false };
        candidate.variables().iter().all(|x| {
            *x == "\\result" || find_var(body, x, 0).is_some_and(|v| body.var(v).kind == VarKind::Param)
        }) && candidate.variables().contains(&"\\result")
    }
}
