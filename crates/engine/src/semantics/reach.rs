//! Conditions under which control takes an edge or reaches a node.
//!
//! Conditions are relative to the immediate dominator and memoised by node, so that a diamond whose
//! two arms meet again contributes nothing (`c || !c` folds). The condition of a node relative to
//! any dominator is the conjunction along the dominator chain.

use super::eval::{Evaluator, Part, Val, product, union};
use crate::ir::Instr;
use crate::mvicfg::{ClassSet, MvId, Mvicfg};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Returns the condition under which an edge into `node` is taken, given that `node`'s immediate
    /// dominator is reached.
    pub(super) fn reach_edge(&mut self, from: MvId, label: u8, node: MvId, classes: &ClassSet) -> Part<Val> {
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
    pub fn reach(&mut self, node: MvId, from: MvId, classes: &ClassSet) -> Part<Val> {
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
    pub fn reach_from_entry(&mut self, node: MvId, classes: &ClassSet) -> Part<Val> {
        self.reach(node, Mvicfg::ENTRY, classes)
    }

    /// Returns the condition of going from a loop's head to the end of one of its back edges.
    pub fn reach_along(&mut self, latch: MvId, label: u8, head: MvId, classes: &ClassSet) -> Part<Val> {
        let to_latch = self.reach(latch, head, classes);
        let edge = self.edge_condition(latch, label, classes);
        self.both(&to_latch, &edge)
    }

    /// Condition of a node relative to its immediate dominator.
    fn local_condition(&mut self, node: MvId, classes: &ClassSet) -> Part<Val> {
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
    fn edge_condition(&mut self, from: MvId, label: u8, classes: &ClassSet) -> Part<Val> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{LibraryOnly, assign, function, int, v};
    use crate::ir::{Expr, Leaf, Op, Sort, TermId};
    use crate::mvicfg::ClassId;
    use crate::mvicfg::Flow;
    use std::sync::Arc;

    /// Node 2 asks `n < k`, and goes to 3 or 4; both go to 5, which asks `n < 9` and ends, or goes to 6.
    const NODES: [&[u32]; 5] = [&[3, 4], &[5], &[5], &[1, 6], &[1]];

    fn less(k: i128) -> Expr {
        Expr::op(Op::Slt, vec![v(0), Expr::bv(32, k)])
    }

    fn body(k: i128) -> Arc<crate::ir::Function> {
        let branch = |k| Instr::Branch { cond: less(k) };
        let set = |n| assign(1, Expr::bv(32, n));
        let instrs = [branch(k), set(1), set(2), branch(9), Instr::Nop];
        let nodes: Vec<(Instr, &[u32])> = instrs.into_iter().zip(NODES).collect();
        Arc::new(function("f", &[("n", int()), (".r", int())], &nodes))
    }

    /// Makes the condition that `n` is less than a number.
    type Less<'l> = &'l dyn Fn(&mut Evaluator, i128) -> TermId;

    /// Looks at a graph of one body.
    fn with(check: &dyn Fn(&mut Evaluator, Less)) {
        let graph = Mvicfg::build(vec![body(5)]);
        let flow = Flow::new(&graph);
        let mut e = Evaluator::new(&graph, &flow, &LibraryOnly, 64);
        check(&mut e, &|e, k| {
            let n = e.pool.leaf(Leaf::Param { name: "n".into(), sort: Sort::Bv(32) });
            let k = e.pool.bv(32, k);
            e.pool.op(Op::Slt, &[n, k])
        });
    }

    fn reached(e: &mut Evaluator, node: u32) -> TermId {
        let part = e.reach_from_entry(MvId(node), &ClassSet::single(ClassId::ONLY));
        assert_eq!(part.len(), 1);
        part[0].1.term
    }

    #[test]
    fn an_arm_is_reached_where_its_branch_goes_there() {
        with(&|e, less| {
            let five = less(e, 5);
            assert_eq!(reached(e, 3), five);
            assert_eq!(reached(e, 4), e.pool.not(five));
        });
    }

    #[test]
    fn where_arms_meet_nothing_is_asked() {
        with(&|e, less| {
            let (yes, nine) = (e.pool.bool(true), less(e, 9));
            assert_eq!(reached(e, 5), yes);
            assert_eq!(reached(e, 1), yes);
            assert_eq!(reached(e, 6), e.pool.not(nine));
        });
    }

    #[test]
    fn a_condition_is_relative_to_where_it_is_asked_from() {
        with(&|e, _| {
            let only = ClassSet::single(ClassId::ONLY);
            let yes = e.pool.bool(true);
            assert_eq!(e.reach(MvId(3), MvId(3), &only)[0].1.term, yes);
            let (from_entry, from_branch) = (reached(e, 3), e.reach(MvId(3), MvId(2), &only)[0].1.term);
            assert_eq!(from_entry, from_branch);
        });
    }

    #[test]
    fn a_branch_is_a_cause_of_what_it_decides() {
        with(&|e, _| {
            let part = e.reach_from_entry(MvId(3), &ClassSet::single(ClassId::ONLY));
            assert!(part[0].1.causes.iter().any(|n| n == MvId(2)));
            let joined = e.reach_from_entry(MvId(5), &ClassSet::single(ClassId::ONLY));
            assert!(joined[0].1.causes.iter().next().is_none(), "that arms meet rests on nothing");
        });
    }

    #[test]
    fn each_class_has_conditions_of_its_own() {
        let graph = Mvicfg::build(vec![body(5), body(7)]);
        let flow = Flow::new(&graph);
        let mut e = Evaluator::new(&graph, &flow, &LibraryOnly, 64);
        let arms: Vec<TermId> = graph
            .classes()
            .flat_map(|c| {
                let arm = graph.node_map[c][3];
                e.reach_from_entry(arm, &ClassSet::single(c))
                    .into_iter()
                    .map(|(_, v)| v.term)
                    .collect::<Vec<_>>()
            })
            .collect();
        assert!(arms.len() == 2 && arms[0] != arms[1]);
    }
}
