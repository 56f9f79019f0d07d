//! Strongly live variables (Nielson, Nielson and Hankin, *Principles of Program Analysis*, exercise 2.4; what is not is
//! *faint*, Giegerich, Möncke and Wilhelm, 1981), for each class of a multiversion graph.
//!
//! A variable is *live* before a node if some path from there reads it before it is written, for more than values of
//! variables that are not live: a counter that nothing but its own increment reads is not. What may be undefined
//! (a division, a shift) reads its operands in any case. Only variables
//! that are not in memory take part: what is in memory counts as live everywhere.

use crate::ir::{Expr, Instr, Op, VarId};
use crate::mvicfg::{ClassId, Flow, MvId, Mvicfg, VarSet};

/// What is live before each node, by class.
pub struct Liveness {
    /// `[class][node]`.
    before: Vec<Vec<VarSet>>,
}

impl Liveness {
    /// Cost: a few passes over each class's nodes, as many as its loops are nested.
    pub fn new(graph: &Mvicfg, flow: &Flow) -> Liveness {
        let used: Vec<Uses> = graph.nodes.iter().map(|n| Uses::of(&n.instr)).collect();
        let of_class = |class: ClassId| {
            let mut before = vec![VarSet::new(); graph.nodes.len()];
            let mut changed = true;
            while changed {
                changed = false;
                for &node in flow.classes[class].rpo.iter().rev() {
                    let after = graph.node(node).succs.iter().filter(|e| e.classes.contains(class));
                    let mut live = after
                        .map(|e| before[e.to.0 as usize].clone())
                        .reduce(|a, b| a.union(&b))
                        .unwrap_or_default();
                    let Uses { reads, writes, is_value } = &used[node.0 as usize];
                    let is_faint = *is_value && writes.is_some_and(|v| !live.contains(v));
                    if let Some(v) = writes {
                        live = live.difference(&VarSet::single(*v));
                    }
                    if !is_faint {
                        live = live.union(reads);
                    }
                    if live != before[node.0 as usize] {
                        before[node.0 as usize] = live;
                        changed = true;
                    }
                }
            }
            before
        };
        Liveness { before: graph.classes().map(of_class).collect() }
    }

    /// The variables that are live before a node of a class.
    pub fn before(&self, class: ClassId, node: MvId) -> &VarSet {
        &self.before[class][node.0 as usize]
    }
}

/// What an instruction does to variables.
struct Uses {
    reads: VarSet,
    /// It gets a new value whatever happens.
    writes: Option<VarId>,
    /// That value is all that the instruction is for.
    is_value: bool,
}

impl Uses {
    fn of(instr: &Instr) -> Uses {
        let mut reads = VarSet::new();
        instr.for_each_operand(&mut |e| e.for_each_var(&mut |v| reads.insert(v)));
        let writes = match instr {
            Instr::Declare(v) => Some(*v),
            other => other.written(),
        };
        let is_value = matches!(instr, Instr::Assign { value, .. } if is_total(value));
        Uses { reads, writes, is_value }
    }
}

/// Whether an expression has a value whatever its operands are; that signed numbers overflow is not looked at.
fn is_total(e: &Expr) -> bool {
    match e {
        Expr::Op { op, args, .. } => {
            let may_fail = matches!(
                op,
                Op::UDiv
                    | Op::SDiv
                    | Op::URem
                    | Op::SRem
                    | Op::Shl
                    | Op::LShr
                    | Op::AShr
                    | Op::FToS(_)
                    | Op::FToU(_)
            );
            !may_fail && args.iter().all(is_total)
        }
        Expr::Var(_) | Expr::Const(_) | Expr::Addr(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{assign, function, int, v};
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
            let found: Vec<usize> =
                liveness.before(ClassId::OLD, MvId(k as u32 + 2)).iter().map(|v| v.0 as usize).collect();
            assert_eq!(found, *live, "node {}", k + 2);
        }
    }

    #[test]
    fn what_is_read_later_is_live() {
        let ret = |k| Instr::Return { value: Some(v(k)) };
        check(&[(assign(1, v(0)), &[3]), (ret(1), &[1])], &[&[0], &[1]]);
        // Written again before it is read.
        check(&[(assign(1, v(0)), &[3]), (assign(1, v(2)), &[4]), (ret(1), &[1])], &[&[2], &[2], &[1]]);
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
    fn what_only_feeds_itself_is_not_live() {
        let sum = |a, b| Expr::op(Op::Add, vec![v(a), v(b)]);
        let set = |k, value| Instr::Assign { dst: VarId(k), value };
        // while (a == 0) x = x + y;  return a, or x;
        let nodes = |k| -> [(Instr, &[u32]); 3] {
            [(branch(0), &[3, 4]), (set(1, sum(1, 2)), &[2]), (Instr::Return { value: Some(v(k)) }, &[1])]
        };
        check(&nodes(0), &[&[0], &[0], &[0]]);
        check(&nodes(1), &[&[0, 1, 2], &[0, 1, 2], &[1]]);
        // What is divided by counts whatever becomes of the quotient.
        let quotient = Expr::op(Op::UDiv, vec![v(1), v(2)]);
        check(&[(set(1, quotient), &[3]), (Instr::Return { value: None }, &[1])], &[&[1, 2], &[]]);
    }

    #[test]
    fn a_declaration_ends_what_was_there() {
        check(&[(Instr::Declare(VarId(1)), &[3]), (Instr::Return { value: Some(v(1)) }, &[1])], &[&[], &[1]]);
    }
}
