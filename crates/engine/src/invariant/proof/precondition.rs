//! Preconditions: what holds of a function's arguments at every call of it
//! (`docs/design/symbolic-evaluation.md`).
//!
//! Of a static function whose address is nowhere taken all calls stand in its unit. What the states
//! before all of them give of the arguments holds whenever the function is entered; facts that rest
//! on it list it (`callers(n >= 0)`). Calls inside the function itself may assume what is to be shown
//! (Houdini): the outermost call comes from elsewhere.

use crate::invariant::candidate::quantity::is_countable;
use crate::invariant::candidate::samples::Row;
use crate::invariant::candidate::templates::{self, Candidate};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Point;
use crate::invariant::proof::relations::{Known, Standing};
use crate::invariant::proof::summary::{Parameter, Values};
use crate::invariant::task::Task;
use crate::ir::{Callee, Expr, Function, Instr, Leaf, TermId};
use crate::mvicfg::{Flow, MvId, Mvicfg, VersionSet};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers that one argument takes which are told one by one.
const MAX_NUMBERS: usize = 4;
/// Preconditions of one function, and facts under them.
const MAX_FACTS: usize = 8;
const MAX_UNDER: usize = 12;

/// What holds of the arguments of one function at the calls that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Precondition {
    params: Vec<Parameter>,
    facts: BTreeSet<Candidate>,
}

impl Precondition {
    /// Returns what may hold of a function's arguments, as these calls of it show them.
    pub fn possible(f: &Function, calls: &[&[Expr]]) -> Precondition {
        let param = |p: &crate::ir::VarId| {
            let var = f.var(*p);
            Some(Parameter { name: var.name.to_string(), ty: var.ty.clone(), sort: var.sort? })
        };
        let params: Vec<Parameter> = f.params.iter().filter_map(param).collect();
        let usable = params.len() == f.params.len() && calls.iter().all(|c| c.len() == params.len());
        let mut facts = BTreeSet::new();
        for (k, p) in params.iter().enumerate().filter(|(_, p)| usable && is_countable(&p.ty)) {
            let x = || p.name.clone();
            if p.ty.is_pointer() {
                facts.insert(Candidate::NonNull(x()));
                continue;
            }
            let number = |call: &&[Expr]| match call.get(k)? {
                Expr::Const(c) => templates::number(*c, &p.ty),
                _ => None,
            };
            let numbers: Option<BTreeSet<i128>> = calls.iter().map(number).collect();
            match numbers.filter(|n| (1..=MAX_NUMBERS).contains(&n.len())) {
                Some(n) => _ = facts.insert(Candidate::OneOf(x(), n.into_iter().collect())),
                None if p.ty.is_signed() => facts.extend([0, 1].map(|least| Candidate::AtLeast(x(), least))),
                None => _ = facts.insert(Candidate::AtLeast(x(), 1)),
            }
            for q in params.iter().filter(|q| q.name != p.name && templates::is_alike(&p.ty, &q.ty)) {
                facts.insert(Candidate::Less(x(), q.name.clone()));
                facts.insert(Candidate::LessEq(x(), q.name.clone()));
            }
        }
        Precondition { params, facts }
    }

    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Keeps what holds at every call in the one function of a task; of calls of the function itself
    /// under what is kept.
    pub fn keep(&mut self, task: &Task, callee: &str) {
        let flow = Flow::new(task.graph);
        if flow.classes.iter().any(|c| c.irreducible) {
            self.facts.clear();
            return;
        }
        let mut engine = FunctionAnalysis::new(task, &flow);
        engine.diff.point = Point::exit(task.graph);
        engine.namings = engine.name_values();
        let own = &*task.graph.bodies[0].name == callee;
        let sites = engine.argument_sites(callee, &self.params);
        loop {
            let before = self.facts.len();
            for site in &sites {
                let Some((node, values)) = site else {
                    self.facts.clear();
                    return;
                };
                let given = if own { engine.entered(self) } else { engine.e.pool.bool(true) };
                let state = engine.state_at(0, *node);
                let given = engine.e.pool.and(given, state);
                self.facts = engine.proved_of(given, self.facts.iter().cloned().collect(), values);
            }
            if !own || self.facts.len() == before || self.facts.is_empty() {
                return;
            }
        }
    }

    /// The facts that the others do not say more tightly, the first few.
    pub fn settled(mut self) -> Precondition {
        let all = self.facts.clone();
        let strict = |x: &str, y: &str| all.contains(&Candidate::Less(x.into(), y.into()));
        self.facts.retain(|c| match c {
            Candidate::LessEq(x, y) => !strict(x, y),
            _ => !all.iter().any(|o| o.is_tighter_than(c)),
        });
        self.facts = self.facts.into_iter().take(MAX_FACTS).collect();
        self
    }

    /// How a fact that rests on it says so.
    fn assumptions(&self) -> BTreeSet<String> {
        self.facts.iter().map(|c| format!("callers({})", c.text())).collect()
    }
}

impl FunctionAnalysis<'_> {
    /// The calls of a function in the one class, with the terms of their arguments; nothing for one
    /// whose arguments are of other types.
    fn argument_sites(&mut self, callee: &str, params: &[Parameter]) -> Vec<Option<(MvId, Values)>> {
        let graph = self.task.graph;
        let single = VersionSet::single(0);
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
        class: usize,
        known: &BTreeMap<String, Known>,
        found: &mut BTreeMap<Candidate, BTreeMap<usize, Standing>>,
    ) {
        let Some(mut precondition) = self.task.given.get(class).filter(|p| !p.is_empty()).cloned() else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{int, integer, pointer, straight, v};
    use crate::ir::CType;

    /// What may hold of the arguments of a function of these parameters, by its calls.
    #[track_caller]
    fn check(params: &[(&str, CType)], calls: &[&[Expr]], expected: &[&str]) {
        let f = straight("f", params, &[]);
        let possible = Precondition::possible(&f, calls);
        assert_eq!(possible.facts.iter().map(Candidate::text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_few_constants_are_told_one_by_one() {
        let n: &[(&str, CType)] = &[("n", int())];
        let k = |k| [Expr::bv(32, k)];
        check(n, &[&k(3), &k(-1), &k(3)], &["n == -1 || n == 3"]);
        check(n, &[&k(1), &k(2), &k(3), &k(4), &k(5)], &["n >= 0", "n >= 1"]);
        check(n, &[&k(3), &[v(0)]], &["n >= 0", "n >= 1"]);
    }

    #[test]
    fn what_is_not_known_may_have_a_sign_or_lead_somewhere() {
        check(&[("p", pointer(int()))], &[&[v(0)]], &["p != NULL"]);
        check(&[("u", integer(32, false))], &[&[v(0)]], &["u >= 1"]);
        check(
            &[("a", integer(32, false)), ("b", integer(32, false))],
            &[&[v(0), v(1)]],
            &["a >= 1", "b >= 1", "a < b", "b < a", "a <= b", "b <= a"],
        );
    }

    #[test]
    fn calls_of_another_number_of_arguments_say_nothing() {
        check(&[("n", int()), ("m", int())], &[&[v(0)]], &[]);
        check(&[("n", int())], &[&[v(0), v(1)]], &[]);
    }

    #[test]
    fn what_others_say_more_tightly_is_left_out() {
        let facts = BTreeSet::from([
            Candidate::AtLeast("n".into(), 0),
            Candidate::AtLeast("n".into(), 1),
            Candidate::Less("n".into(), "m".into()),
            Candidate::LessEq("n".into(), "m".into()),
            Candidate::LessEq("m".into(), "k".into()),
        ]);
        let settled = Precondition { params: Vec::new(), facts }.settled();
        let texts: Vec<String> = settled.facts.iter().map(Candidate::text).collect();
        assert_eq!(texts, ["n >= 1", "n < m", "m <= k"]);
        let assumed =
            BTreeSet::from(["callers(n >= 1)", "callers(n < m)", "callers(m <= k)"].map(str::to_owned));
        assert_eq!(settled.assumptions(), assumed);
    }

    #[test]
    fn the_first_few_facts_are_kept() {
        let facts = (0..20).map(|k| Candidate::NonNull(format!("p{k:02}"))).collect();
        let settled = Precondition { params: Vec::new(), facts }.settled();
        assert_eq!(settled.facts.len(), MAX_FACTS);
        assert!(!settled.is_empty() && Precondition::default().settled().is_empty());
    }
}
