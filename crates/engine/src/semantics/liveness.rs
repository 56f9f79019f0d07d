//! Live variables (Aho, Lam, Sethi and Ullman, *Compilers*, 9.2.5), for each class of a multiversion graph.
//!
//! A variable is *live* before a node if some path from there reads it before it is written. Only variables
//! that are not in memory take part: what is in memory counts as live everywhere.

use crate::ir::{Instr, VarId};
use crate::mvicfg::{Flow, MvId, Mvicfg, VersionSet};

/// What is live before each node, by class.
pub struct Liveness {
    /// `[class][node]`: numbers of variables.
    before: Vec<Vec<VersionSet>>,
}

impl Liveness {
    /// Cost: a few passes over each class's nodes, as many as its loops are nested.
    pub fn new(graph: &Mvicfg, flow: &Flow) -> Liveness {
        let used: Vec<(VersionSet, Option<VarId>)> = graph.nodes.iter().map(|n| uses(&n.instr)).collect();
        let of_class = |class: usize| {
            let mut before = vec![VersionSet::new(); graph.nodes.len()];
            let mut changed = true;
            while changed {
                changed = false;
                for &node in flow.classes[class].rpo.iter().rev() {
                    let after = graph.node(node).succs.iter().filter(|e| e.classes.contains(class));
                    let mut live = after
                        .map(|e| before[e.to.0 as usize].clone())
                        .reduce(|a, b| a.union(&b))
                        .unwrap_or_default();
                    let (reads, writes) = &used[node.0 as usize];
                    if let Some(v) = writes {
                        live = live.difference(&VersionSet::single(v.0 as usize));
                    }
                    live = live.union(reads);
                    if live != before[node.0 as usize] {
                        before[node.0 as usize] = live;
                        changed = true;
                    }
                }
            }
            before
        };
        Liveness { before: (0..graph.bodies.len()).map(of_class).collect() }
    }

    /// The variables that are live before a node of a class.
    pub fn before(&self, class: usize, node: MvId) -> &VersionSet {
        &self.before[class][node.0 as usize]
    }
}

/// The variables that an instruction reads, and the one that it gives a new value whatever happens.
fn uses(instr: &Instr) -> (VersionSet, Option<VarId>) {
    let mut reads = VersionSet::new();
    instr.for_each_operand(&mut |e| e.for_each_var(&mut |v| reads.insert(v.0 as usize)));
    let writes = match instr {
        Instr::Declare(v) => Some(*v),
        other => other.written(),
    };
    (reads, writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{assign, function, int, v};
    use crate::ir::{Expr, Op};
    use std::sync::Arc;

    fn branch(on: u32) -> Instr {
        Instr::Branch { cond: Expr::op(Op::Eq, vec![v(on), Expr::bv(32, 0)]) }
    }

    /// What is live before each node behind the entry and the exit, by number.
    #[track_caller]
    fn check(nodes: &[(Instr, &[u32])], expected: &[&[usize]]) {
        let f = function("f", &[("a", int()), (".x", int()), (".y", int())], nodes);
        let graph = Mvicfg::build(vec![Arc::new(f)]);
        let liveness = Liveness::new(&graph, &Flow::new(&graph));
        for (k, live) in expected.iter().enumerate() {
            let found: Vec<usize> = liveness.before(0, MvId(k as u32 + 2)).iter().collect();
            assert_eq!(found, *live, "node {}", k + 2);
        }
    }

    #[test]
    fn what_is_read_later_is_live() {
        let ret = |k| Instr::Return { value: Some(v(k)) };
        check(&[(assign(1, v(0)), &[3]), (ret(1), &[1])], &[&[0], &[1]]);
        // Written again before it is read.
        check(&[(assign(1, v(0)), &[3]), (assign(1, v(2)), &[4]), (ret(1), &[1])], &[&[0, 2], &[2], &[1]]);
    }

    #[test]
    fn one_path_is_enough() {
        let ret = |k| Instr::Return { value: Some(v(k)) };
        check(&[(branch(0), &[3, 4]), (ret(1), &[1]), (ret(2), &[1])], &[&[0, 1, 2], &[1], &[2]]);
    }

    #[test]
    fn loops_keep_what_the_next_round_reads() {
        // while (a == 0) x = y;  return x;
        let nodes: [(Instr, &[u32]); 3] =
            [(branch(0), &[3, 4]), (assign(1, v(2)), &[2]), (Instr::Return { value: Some(v(1)) }, &[1])];
        check(&nodes, &[&[0, 1, 2], &[0, 2], &[1]]);
    }

    #[test]
    fn a_declaration_ends_what_was_there() {
        check(&[(Instr::Declare(VarId(1)), &[3]), (assign(2, v(1)), &[1])], &[&[], &[1]]);
    }
}
