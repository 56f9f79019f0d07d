//! What the callers of a function see to: of what may hold of its arguments, what does at every call of it
//! (`precondition.rs`), and facts under that.

use crate::invariant::candidate::samples::Row;
use crate::invariant::candidate::templates::{self, Candidate};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Point;
use crate::invariant::proof::interface::{Parameter, Values};
use crate::invariant::proof::known::{Known, Standing};
use crate::invariant::proof::precondition::Precondition;
use crate::invariant::task::Task;
use crate::ir::{Callee, Instr, Leaf, TermId};
use crate::mvicfg::{ClassId, ClassSet, Flow, MvId, Mvicfg};
use std::collections::BTreeMap;

/// Facts under preconditions.
const MAX_UNDER: usize = 12;

/// Keeps what holds at every call in the one function of a task; of calls of the function itself
/// under what is kept.
pub fn keep_at_calls(kept: &mut Precondition, task: &Task, callee: &str) {
    let flow = Flow::new(task.graph);
    if flow.classes.iter().any(|c| c.irreducible) {
        kept.facts.clear();
        return;
    }
    let mut engine = FunctionAnalysis::new(task, &flow);
    engine.diff.point = Point::exit(task.graph);
    engine.namings = engine.name_values();
    let own = &*task.graph.bodies[0].name == callee;
    let sites = engine.argument_sites(callee, &kept.params);
    loop {
        let before = kept.facts.len();
        for site in &sites {
            let Some((node, values)) = site else {
                kept.facts.clear();
                return;
            };
            let given = if own { engine.entered(kept) } else { engine.e.pool.bool(true) };
            let state = engine.state_at(ClassId::ONLY, *node);
            let given = engine.e.pool.and(given, state);
            kept.facts = engine.proved_of(given, kept.facts.iter().cloned().collect(), values);
        }
        if !own || kept.facts.len() == before || kept.facts.is_empty() {
            return;
        }
    }
}

impl FunctionAnalysis<'_> {
    /// The calls of a function in the one class, with the terms of their arguments; nothing for one
    /// whose arguments are of other types.
    fn argument_sites(&mut self, callee: &str, params: &[Parameter]) -> Vec<Option<(MvId, Values)>> {
        let graph = self.task.graph;
        let single = ClassSet::single(ClassId::ONLY);
        let mut sites = Vec::new();
        for node in self.e.flow.classes[0].rpo.clone() {
            let Instr::Call { callee: Callee::Direct(name), args, .. } = &graph.node(node).instr else {
                continue;
            };
            if **name != *callee {
                continue;
            }
            let mut values = Values::new();
            for (p, a) in params.iter().zip(args) {
                let Some((_, v)) = self.e.expr(a, node, &single).into_iter().next() else { continue };
                let term = self.cut(v.term);
                if self.e.pool.sort(term) == p.sort && !self.e.rests_on_indeterminate(term) {
                    values.insert(p.name.clone(), (term, p.ty.clone()));
                }
            }
            let whole = values.len() == params.len() && args.len() == params.len();
            sites.push(whole.then_some((node, values)));
        }
        sites
    }

    /// What a precondition says of the values at entry.
    fn entered(&mut self, precondition: &Precondition) -> TermId {
        let mut values: Values = BTreeMap::new();
        for p in &precondition.params {
            let leaf = self.e.pool.leaf(Leaf::Param { name: p.name.as_str().into(), sort: p.sort });
            values.insert(p.name.clone(), (leaf, p.ty.clone()));
        }
        let mut all = self.e.pool.bool(true);
        for fact in &precondition.facts {
            if let Some(term) = fact.term(&mut self.e.pool, &|x| values.get(x).cloned()) {
                all = self.e.pool.and(all, term);
            }
        }
        all
    }

    /// Adds the facts at the exit that hold in a class because of how it is called, beside those that
    /// hold however it is.
    pub(in crate::invariant) fn relations_for_callers(
        &mut self,
        class: ClassId,
        known: &BTreeMap<String, Known>,
        found: &mut BTreeMap<Candidate, BTreeMap<ClassId, Standing>>,
    ) {
        let Some(mut precondition) = self.task.given.get(class.index()).filter(|p| !p.is_empty()).cloned()
        else {
            return;
        };
        // Parameters that were renamed have other names in terms.
        let is_param = |p: &Parameter| {
            self.task.graph.bodies.iter().all(|b| b.params.iter().any(|v| *b.var(*v).name == *p.name))
        };
        if !precondition.params.iter().all(is_param) {
            return;
        }
        let exit = Point::exit(self.task.graph);
        let rows = self.rows(class, &exit, known.keys().cloned().collect());
        let entry = |x: &str| {
            let old = format!("\\old({x})");
            if known.contains_key(&old) { old } else { x.to_owned() }
        };
        let inside = |row: &Row| {
            let value =
                |x: &str| Some((row.value(rows.column(&entry(x))?)?, known.get(&entry(x))?.ty.clone()));
            precondition.facts.iter().all(|c| c.holds(&value) != Some(false))
        };
        let part: Vec<bool> = rows.rows.iter().map(inside).collect();
        let mut observed = self.observed(known, &rows);
        for o in &mut observed {
            o.values = o.values.iter().zip(&part).filter(|(_, p)| **p).map(|(v, _)| *v).collect();
        }
        let says = |c: &Candidate| {
            c.variables().iter().any(|x| !known.get(*x).is_some_and(|k| self.is_given(k.as_term().0)))
        };
        let mut candidates: Vec<Candidate> =
            templates::suggest(&observed).into_iter().filter(|c| says(c)).collect();
        candidates.truncate(MAX_UNDER);
        if candidates.is_empty() {
            return;
        }
        let state = self.state_at(class, Mvicfg::EXIT);
        let values: Values = known.iter().map(|(x, k)| (x.clone(), k.as_term())).collect();
        let under = |engine: &mut Self, given: &Precondition, candidates: Vec<Candidate>| {
            let entered = engine.entered(given);
            let under = engine.e.pool.and(state, entered);
            let under = engine.cut(under);
            engine.proved_of(under, candidates, &values)
        };
        // What holds however it is called was told.
        let anyway = under(self, &Precondition::default(), candidates.clone());
        candidates.retain(|c| !anyway.contains(c));
        let proved = under(self, &precondition, candidates);
        if proved.is_empty() {
            return;
        }
        // What the proofs do without is not assumed.
        for fact in precondition.facts.clone() {
            let mut fewer = precondition.clone();
            fewer.facts.remove(&fact);
            if under(self, &fewer, proved.iter().cloned().collect()).len() == proved.len() {
                precondition = fewer;
            }
        }
        let assumed = precondition.assumptions();
        for candidate in proved {
            let standing = Standing::proved(&candidate, known, &assumed);
            found.entry(candidate).or_default().insert(class, standing);
        }
    }
}
