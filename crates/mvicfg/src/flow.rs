//! Control-flow facts of each class's subgraph: predecessors, dominators, natural loops.

use super::{ClassId, MvId, Mvicfg};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use std::collections::BTreeSet;

/// Natural loop of one class: all back edges to one head.
#[derive(Clone, Debug)]
pub struct Loop {
    pub head: MvId,
    /// Nodes of the loop, the head included.
    pub body: BTreeSet<MvId>,
    /// Sources of the back edges, ascending.
    pub latches: Vec<MvId>,
}

/// Control flow of one class. Vectors are indexed by [`MvId`]; nodes that the class lacks or that
/// its entry does not reach have no predecessors and no dominator.
pub struct ClassFlow {
    /// Incoming edges `(source, label)`, ascending.
    pub preds: Vec<Vec<(MvId, u8)>>,
    pub idom: Vec<Option<MvId>>,
    /// Reachable nodes in reverse postorder.
    pub rpo: Vec<MvId>,
    /// Position in `rpo`.
    pub order: Vec<Option<u32>>,
    pub loops: Vec<Loop>,
    /// Loop of which the node is the head.
    pub loop_at: Vec<Option<usize>>,
    /// Innermost loop around each node (for a head: its own).
    pub innermost: Vec<Option<usize>>,
    /// Some cycle is entered at more than one node.
    pub irreducible: bool,
}

/// Control flow of every class of an [`Mvicfg`].
pub struct Flow {
    pub classes: Vec<ClassFlow>,
}

impl Flow {
    pub fn new(g: &Mvicfg) -> Flow {
        Flow { classes: g.classes().map(|c| ClassFlow::new(g, c)).collect() }
    }
}

impl ClassFlow {
    fn new(g: &Mvicfg, class: ClassId) -> ClassFlow {
        let n = g.nodes.len();
        let mut graph = DiGraph::<(), ()>::with_capacity(n, 2 * n);
        (0..n).for_each(|_| {
            graph.add_node(());
        });
        for (i, node) in g.nodes.iter().enumerate() {
            for e in node.succs.iter().filter(|e| e.classes.contains(class)) {
                graph.add_edge(NodeIndex::new(i), NodeIndex::new(e.to.0 as usize), ());
            }
        }
        let entry = NodeIndex::new(Mvicfg::ENTRY.0 as usize);
        let mut post = DfsPostOrder::new(&graph, entry);
        let mut rpo = Vec::new();
        while let Some(x) = post.next(&graph) {
            rpo.push(MvId(x.index() as u32));
        }
        rpo.reverse();
        let mut order = vec![None; n];
        rpo.iter().enumerate().for_each(|(i, &x)| order[x.0 as usize] = Some(i as u32));
        let doms = dominators::simple_fast(&graph, entry);
        let idom = (0..n)
            .map(|i| doms.immediate_dominator(NodeIndex::new(i)).map(|d| MvId(d.index() as u32)))
            .collect();
        let mut preds = vec![Vec::new(); n];
        for &x in &rpo {
            for e in g.node(x).succs.iter().filter(|e| e.classes.contains(class)) {
                preds[e.to.0 as usize].push((x, e.label));
            }
        }
        preds.iter_mut().for_each(|p| p.sort_unstable());
        let mut flow = ClassFlow {
            preds,
            idom,
            rpo,
            order,
            loops: vec![],
            loop_at: vec![None; n],
            innermost: vec![None; n],
            irreducible: false,
        };
        flow.find_loops();
        flow
    }

    /// Returns whether `a` dominates `b`; both must be reachable.
    pub fn dominates(&self, a: MvId, b: MvId) -> bool {
        let mut x = b;
        loop {
            if x == a {
                return true;
            }
            match self.idom[x.0 as usize] {
                Some(d) if d != x => x = d,
                _ => return false,
            }
        }
    }

    /// Returns whether the edge goes back to the head of a loop around its source.
    pub fn is_back_edge(&self, from: MvId, to: MvId) -> bool {
        self.loop_at[to.0 as usize].is_some_and(|l| self.loops[l].latches.binary_search(&from).is_ok())
    }

    fn find_loops(&mut self) {
        let mut by_head = std::collections::BTreeMap::<MvId, BTreeSet<MvId>>::new();
        for &x in &self.rpo {
            for &(p, _) in &self.preds[x.0 as usize] {
                if self.order[p.0 as usize] >= self.order[x.0 as usize] {
                    if self.dominates(x, p) {
                        by_head.entry(x).or_default().insert(p);
                    } else {
                        self.irreducible = true;
                    }
                }
            }
        }
        for (head, latches) in by_head {
            let mut body = BTreeSet::from([head]);
            let mut work: Vec<MvId> = latches.iter().copied().collect();
            while let Some(x) = work.pop() {
                if body.insert(x) {
                    work.extend(self.preds[x.0 as usize].iter().map(|p| p.0));
                }
            }
            self.loop_at[head.0 as usize] = Some(self.loops.len());
            self.loops.push(Loop { head, body, latches: latches.into_iter().collect() });
        }
        // Larger loops first, so that the innermost one is written last.
        let mut by_size: Vec<usize> = (0..self.loops.len()).collect();
        by_size.sort_by_key(|&l| std::cmp::Reverse(self.loops[l].body.len()));
        for l in by_size {
            for &x in &self.loops[l].body {
                self.innermost[x.0 as usize] = Some(l);
            }
        }
    }
}

#[cfg(test)]
mod tests;
