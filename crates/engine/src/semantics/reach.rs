//! Conditions under which control takes an edge or reaches a node.
//!
//! Conditions are relative to the immediate dominator and memoised by node, so that a diamond whose
//! two arms meet again contributes nothing (`c || !c` folds). The condition of a node relative to
//! any dominator is the conjunction along the dominator chain.

use super::eval::{Evaluator, Part, Val, product, union};
use crate::ir::Instr;
use crate::mvicfg::{MvId, Mvicfg, VersionSet};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Returns the condition under which an edge into `node` is taken, given that `node`'s immediate
    /// dominator is reached.
    pub(super) fn reach_edge(
        &mut self,
        from: MvId,
        label: u8,
        node: MvId,
        classes: &VersionSet,
    ) -> Part<Val> {
        let mut result = Vec::new();
        for (set, site) in self.group_sites(node, classes) {
            let Some(dominator) = site.idom else {
                let t = self.pool.bool(true);
                result.push((set, self.plain(t)));
                continue;
            };
            let to_source = self.reach(from, dominator, &set);
            let edge = self.edge_condition(from, label, &set);
            result.extend(self.both(&to_source, &edge));
        }
        result
    }

    /// Returns the condition under which `node` is reached, given that its dominator `from` is.
    pub fn reach(&mut self, node: MvId, from: MvId, classes: &VersionSet) -> Part<Val> {
        if node == from {
            let t = self.pool.bool(true);
            return vec![(classes.clone(), self.plain(t))];
        }
        // Chains of dominators share their beginnings.
        let key = (node, from, classes.clone());
        if let Some(known) = self.reach_from_memo.get(&key) {
            return known.clone();
        }
        let mut result = Vec::new();
        for (set, site) in self.group_sites(node, classes) {
            let local = self.local_condition(node, &set);
            match site.idom {
                Some(d) if d != node => {
                    let above = self.reach(d, from, &set);
                    result.extend(self.both(&above, &local));
                }
                _ => result.extend(local),
            }
        }
        self.reach_from_memo.insert(key, result.clone());
        result
    }

    /// Returns the condition under which `node` is reached from the function's entry.
    pub fn reach_from_entry(&mut self, node: MvId, classes: &VersionSet) -> Part<Val> {
        self.reach(node, Mvicfg::ENTRY, classes)
    }

    /// Returns the condition of going from a loop's head to the end of one of its back edges.
    pub fn reach_along(&mut self, latch: MvId, label: u8, head: MvId, classes: &VersionSet) -> Part<Val> {
        let to_latch = self.reach(latch, head, classes);
        let edge = self.edge_condition(latch, label, classes);
        self.both(&to_latch, &edge)
    }

    /// Condition of a node relative to its immediate dominator.
    fn local_condition(&mut self, node: MvId, classes: &VersionSet) -> Part<Val> {
        let mut result = Vec::new();
        let mut missing = classes.clone();
        if let Some(known) = self.reach_memo.get(&node) {
            for (set, val) in known {
                let hit = set.intersection(&missing);
                if !hit.is_empty() {
                    missing = missing.difference(&hit);
                    result.push((hit, val.clone()));
                }
            }
        }
        if missing.is_empty() {
            return result;
        }
        self.statistics.nodes_visited += 1;
        let mut fresh = Vec::new();
        for (set, site) in self.group_sites(node, &missing) {
            let f = self.pool.bool(false);
            let mut acc = vec![(set.clone(), self.plain(f))];
            for &(pred, label) in &site.edges {
                let edge = self.reach_edge(pred, label, node, &set);
                acc = product(&acc, &edge)
                    .into_iter()
                    .map(|(s, (a, b))| {
                        let term = self.pool.or(a.term, b.term);
                        let val = Val {
                            term,
                            causes: union(&a.causes, &b.causes),
                            guards: union(&a.guards, &b.guards),
                        };
                        (s, val)
                    })
                    .collect();
            }
            fresh.extend(acc);
        }
        self.reach_memo.entry(node).or_default().extend(fresh.iter().cloned());
        result.extend(fresh);
        result
    }

    /// Condition of leaving a node by one of its edges, given that it is reached.
    fn edge_condition(&mut self, from: MvId, label: u8, classes: &VersionSet) -> Part<Val> {
        let graph = self.graph;
        let Instr::Branch { cond } = &graph.node(from).instr else {
            let t = self.pool.bool(true);
            return vec![(classes.clone(), self.plain(t))];
        };
        let part = self.expr(cond, from, classes);
        part.into_iter()
            .map(|(set, v)| {
                let term = if label == 0 { v.term } else { self.pool.not(v.term) };
                let causes = self.with(&v.causes, from);
                (set, Val { term, causes, guards: v.guards })
            })
            .collect()
    }

    fn both(&mut self, a: &Part<Val>, b: &Part<Val>) -> Part<Val> {
        product(a, b)
            .into_iter()
            .map(|(set, (x, y))| {
                let term = self.pool.and(x.term, y.term);
                let keep = |v: &Val| {
                    if self.pool.as_const(v.term).is_some() { self.none.clone() } else { v.causes.clone() }
                };
                let causes: Rc<_> = union(&keep(&x), &keep(&y));
                (set, Val { term, causes, guards: union(&x.guards, &y.guards) })
            })
            .collect()
    }
}
