//! What is known of the results of calls: summaries of callees, and of the function itself, at the
//! arguments of each call (`docs/design/symbolic-evaluation.md`).
//!
//! A call that is no library function's is an unknown function of its arguments and of memory; what
//! its summary says of the result holds where the call was reached and has returned. Hence only
//! calls that are made before a point count there: a call that is still to come may never return. Of a call in a loop the terms stand for the current iteration, and after the loop for the
//! last one, as all terms of loops do.

use crate::invariant::candidate::templates::Candidate;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::proof::interface::Site;
use crate::invariant::proof::interface::{Parameter, RESULT, Summary, Values};
use crate::ir::{CType, Callee, Expr, Instr, TermId};
use crate::mvicfg::{ClassId, ClassSet, MvId};
use crate::semantics::Place;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Calls of one class that are looked at.
const MAX_SITES: usize = 24;

impl FunctionAnalysis<'_> {
    /// Returns what the calls of a class that were made before a node guarantee, those of the
    /// function itself only where `own` says so. `after`: the node was executed, too.
    pub(in crate::invariant) fn calls_before(
        &mut self,
        class: ClassId,
        node: MvId,
        after: bool,
        own: bool,
    ) -> TermId {
        if let Some(known) = self.classes.call_facts.get(&(class, node, after, own)) {
            return *known;
        }
        let mut all = self.e.pool.bool(true);
        let Some(here) = self.e.flow.classes[class].order[node.0 as usize] else { return all };
        let ours = if own { self.own_summary(class) } else { None };
        for site in self.sites(class).iter().filter(|s| s.order < here + u32::from(after)) {
            let facts = match (&site.summary, &ours) {
                (Some(s), _) => self.facts_of_call(site, s.facts.iter()),
                (None, Some(s)) => self.facts_of_call(site, s.facts.iter()),
                (None, None) => continue,
            };
            all = self.e.pool.and(all, facts);
        }
        self.classes.call_facts.insert((class, node, after, own), all);
        all
    }

    /// What candidates say of a call, where it is reached.
    pub(in crate::invariant) fn facts_of_call<'c>(
        &mut self,
        site: &Site,
        facts: impl Iterator<Item = &'c Candidate>,
    ) -> TermId {
        let value = |x: &str| site.values.get(x).cloned();
        let mut all = self.e.pool.bool(true);
        for candidate in facts {
            if let Some(fact) = candidate.term(&mut self.e.pool, &value) {
                all = self.e.pool.and(all, fact);
            }
        }
        let unreached = self.e.pool.not(site.reach);
        self.e.pool.or(unreached, all)
    }

    /// The calls of a class of which something is, or may become, known.
    pub(in crate::invariant) fn sites(&mut self, class: ClassId) -> Rc<Vec<Site>> {
        if let Some(known) = self.classes.sites.get(&class) {
            return known.clone();
        }
        let mut found = Vec::new();
        for node in self.e.flow.classes[class].rpo.clone() {
            if found.len() >= MAX_SITES || self.e.is_exhausted() {
                break;
            }
            found.extend(self.site(class, node));
        }
        let found = Rc::new(found);
        self.classes.sites.insert(class, found.clone());
        found
    }

    fn site(&mut self, class: ClassId, node: MvId) -> Option<Site> {
        let graph = self.task.graph;
        let Instr::Call { dst: Some(dst), callee: Callee::Direct(name), args, result_to: None, .. } =
            &graph.node(node).instr
        else {
            return None;
        };
        let body = &graph.bodies[class];
        self.task.callees.identity(class, name)?;
        let single = ClassSet::single(class);
        if *name == body.name {
            let param = |v: &crate::ir::VarId| {
                let var = body.var(*v);
                Some(Parameter { name: var.name.to_string(), ty: var.ty.clone(), sort: var.sort? })
            };
            let params: Vec<Parameter> = body.params.iter().filter_map(param).collect();
            let usable = params.len() == body.params.len() && !body.variadic;
            let ret = body.ret.clone();
            let values = usable.then(|| self.call_values(&single, node, (*dst, args), (&params, &ret)))??;
            return self.placed(class, node, None, values);
        }
        let summary = self.task.summaries.summary(class, name)?;
        let values = self.call_values(&single, node, (*dst, args), (&summary.params, &summary.ret))?;
        self.placed(class, node, Some(summary), values)
    }

    fn placed(
        &mut self,
        class: ClassId,
        node: MvId,
        summary: Option<Arc<Summary>>,
        values: Values,
    ) -> Option<Site> {
        let order = self.e.flow.classes[class].order[node.0 as usize]?;
        let (_, reach) = self.e.reach_from_entry(node, &ClassSet::single(class)).into_iter().next()?;
        Some(Site { order, reach: reach.term, summary, values })
    }

    /// The terms of a call's arguments and result, where they are of the callee's types.
    fn call_values(
        &mut self,
        single: &ClassSet,
        node: MvId,
        (dst, args): (crate::ir::VarId, &[Expr]),
        (params, ret): (&[Parameter], &CType),
    ) -> Option<Values> {
        if params.len() != args.len() {
            return None;
        }
        let mut values = BTreeMap::new();
        for (p, a) in params.iter().zip(args) {
            let (_, v) = self.e.expr(a, node, single).into_iter().next()?;
            if self.e.pool.sort(v.term) != p.sort {
                return None;
            }
            values.insert(p.name.clone(), (v.term, p.ty.clone()));
        }
        let (_, result) = self.e.after(Place::Var(dst), node, single).into_iter().next()?;
        if Some(self.e.pool.sort(result.term)) != ret.sort(self.task.pointer_bits) {
            return None;
        }
        values.insert(RESULT.into(), (result.term, ret.clone()));
        Some(values)
    }
}
