//! Names of values at a point, and which texts a reader can make sense of.

use crate::fact::{Expression, Formula, Kind};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::ir::{App, Callee, Instr, Leaf, Term, TermId, Uf, Unit, retyped};
use crate::mvicfg::ClassId;
use crate::semantics::c_text::{Named, Naming};
use crate::semantics::library;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl<'a> FunctionAnalysis<'a> {
    /// Whether a person can make sense of what is written: nothing was left out of it, and it does not speak of
    /// states inside the function that have no name in C.
    pub(super) fn is_readable(&self, formula: &Formula) -> bool {
        !self.is_hidden(formula) && !self.is_ambiguous(formula, None)
    }

    /// As [`Self::is_readable`], of what is printed: `output == printf(...)` names no result of that call, however
    /// often the function calls it.
    pub(super) fn is_readable_output(&self, formula: &Formula) -> bool {
        let printed = formula.equation().map(|(_, printed)| printed);
        !self.is_hidden(formula) && !self.is_ambiguous(formula, printed)
    }

    fn is_hidden(&self, formula: &Formula) -> bool {
        let in_loop = |e: &Expression| match &e.kind {
            Kind::At(_, label) => label == "loop",
            Kind::Name(name) => name.ends_with("@loop"),
            _ => false,
        };
        let inner = |e: &Expression| matches!(&e.kind, Kind::At(_, label) if label.starts_with("after_"));
        let hidden = |e: &Expression| in_loop(e) || !self.task.options.all && inner(e);
        formula.is_cut() || formula.any(&hidden)
    }

    /// Whether the result of a call is named that the function makes at several places: which of them it is,
    /// nobody could tell. `but`: a part that is written as a call and is none.
    fn is_ambiguous(&self, formula: &Formula, but: Option<&Expression>) -> bool {
        let computes = |name: &str| library::row(name).is_some_and(|r| r.is_pure());
        let is_so = |e: &Expression| match &e.kind {
            Kind::Call(name, _) => {
                !but.is_some_and(|b| std::ptr::eq(b, e)) && !computes(name) && self.is_called_twice(name)
            }
            _ => false,
        };
        formula.any(&is_so)
    }

    /// Whether some class calls a function at several places.
    fn is_called_twice(&self, name: &str) -> bool {
        let is_call = |instr: &Instr| matches!(instr, Instr::Call { callee: Callee::Direct(called), .. } if **called == *name);
        let mut bodies = self.task.graph.bodies.iter();
        bodies.any(|b| b.nodes.iter().filter(|n| is_call(&n.instr)).nth(1).is_some())
    }

    /// Names values at the exit: by variables that hold the same input in every class. What is not
    /// the same everywhere keeps the name of the input, so that a fact means the same in all.
    pub(super) fn name_values(&mut self) -> Vec<Naming<'a>> {
        let graph = self.task.graph;
        let all = graph.all_classes();
        // Of a class without a defined execution everything holds, under whatever names.
        let empty = self.undefined_classes();
        let mut names: BTreeMap<TermId, Named> = BTreeMap::new();
        let mut changed_params: BTreeSet<Arc<str>> = BTreeSet::new();
        let point = self.diff.point.clone();
        for s in observable::at(graph, point.kind) {
            let Observable::Variable { name, ordinal: 0 } = &s else { continue };
            let part = observable::values_at(&mut self.e, &s, &point, &all);
            let values: Vec<(ClassId, TermId)> =
                part.iter().flat_map(|(set, v)| set.iter().map(|c| (c, v.term))).collect();
            let values: Vec<(ClassId, TermId)> =
                values.into_iter().map(|(c, t)| (c, self.shown(c, t))).collect();
            let is_input = |t: TermId| matches!(self.e.pool.get(t), Term::App(App::Uf(Uf::Input { .. }), _));
            let of_runs: Vec<TermId> =
                values.iter().filter(|(c, _)| !empty.contains(*c)).map(|(_, t)| *t).collect();
            let everywhere =
                values.iter().filter(|(c, _)| !empty.contains(*c)).count() + empty.len() == all.len();
            let shown: BTreeSet<TermId> = match of_runs.iter().all(|t| is_input(*t)) && !of_runs.is_empty() {
                true => of_runs.into_iter().collect(),
                false => values.iter().map(|(_, t)| *t).collect(),
            };
            let (Some(&term), 1) = (shown.first(), shown.len()) else {
                changed_params.insert(name.clone());
                continue;
            };
            match self.e.pool.get(term) {
                Term::Leaf(Leaf::Param { name: p, .. }) if p == name => {}
                Term::App(App::Uf(Uf::Input { .. }), _) if everywhere => {
                    let newest = graph.classes().next_back();
                    if let Some(ty) = newest.and_then(|class| observable::type_of(graph, &s, class)) {
                        names.entry(term).or_insert(Named { text: name.to_string(), ty });
                    }
                }
                _ => {
                    changed_params.insert(name.clone());
                }
            }
        }
        let memory = observable::values_at(&mut self.e, &Observable::Memory, &point, &all);
        let old_memory = memory.iter().any(|(_, v)| !matches!(self.e.pool.get(v.term), Term::Leaf(_)));
        let task = self.task;
        let bodies = graph.bodies.iter().zip(&task.units);
        bodies
            .map(|(body, unit)| Naming {
                names: as_of(&names, task.units.last(), unit).into(),
                old_params: changed_params.clone(),
                old_memory,
                ..Naming::of_function(unit, body)
            })
            .collect()
    }

    /// The names of a class but for that of a subject, which would say nothing of itself.
    pub(super) fn naming_without(&self, class: ClassId, subject: &Observable) -> Naming<'a> {
        let mut naming = self.namings[class].clone();
        if let Observable::Variable { name, .. } = subject {
            naming.names_mut().retain(|_, n| n.text != **name);
        }
        naming
    }
}

/// Names whose types are of one unit, as another unit has them.
fn as_of(
    names: &BTreeMap<TermId, Named>,
    from: Option<&Arc<Unit>>,
    to: &Arc<Unit>,
) -> BTreeMap<TermId, Named> {
    match from.filter(|from| !Arc::ptr_eq(from, to)) {
        Some(from) => {
            let own = |n: &Named| Named { text: n.text.clone(), ty: retyped(&n.ty, from, to) };
            names.iter().map(|(t, n)| (*t, own(n))).collect()
        }
        None => names.clone(),
    }
}
