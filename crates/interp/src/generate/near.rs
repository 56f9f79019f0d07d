//! What decides whether a run comes to where two programs differ: constants of the branches before it.

use super::pool::Pool;
use crate::ir::{Callee, Const, Expr, Function, Instr, Node, NodeId};
use crate::program::Program;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Nodes that differ, of one function, that are looked at.
const MAX_DIFFERING: usize = 12;
/// Branches before one of them that are looked at.
const MAX_BRANCHES: usize = 6;
/// Constants in all.
const MAX_CONSTANTS: usize = 48;
/// Functions that are compared.
const MAX_FUNCTIONS: usize = 200;

impl Pool {
    /// Notes what guards the nodes that one of two programs has and the other has not, in a function and what
    /// it calls. Cost: one pass over the code that it reaches in both.
    pub(super) fn prefer(&mut self, (old, new): (&Program, &Program), entry: (&str, &str)) {
        for (a, b, entry) in [(new, old, (entry.1, entry.0)), (old, new, entry)] {
            let mut met: BTreeSet<String> = BTreeSet::new();
            let mut queue = VecDeque::from([(entry.0.to_owned(), entry.1.to_owned())]);
            while let Some((name, other)) = queue.pop_front() {
                if met.len() >= MAX_FUNCTIONS || self.near.len() >= MAX_CONSTANTS || !met.insert(name.clone())
                {
                    continue;
                }
                let Some(f) = a.function(&name) else { continue };
                for node in &f.nodes {
                    if let Instr::Call { callee: Callee::Direct(callee), .. } = &node.instr {
                        queue.push_back((callee.to_string(), callee.to_string()));
                    }
                }
                let differing = b.function(&other).map_or(Vec::new(), |g| differing(f, g));
                // Where nearly all differs, nothing is told by that.
                if differing.len() <= MAX_DIFFERING.max(f.nodes.len() / 4) {
                    differing.into_iter().take(MAX_DIFFERING).for_each(|n| self.add_guards(f, n));
                }
            }
        }
    }

    fn add_guards(&mut self, f: &Function, node: NodeId) {
        let preds = f.preds();
        let mut met = BTreeSet::from([node]);
        let mut queue = VecDeque::from([node]);
        let mut branches = 0;
        while let Some(n) = queue.pop_front() {
            let instr = &f.node(n).instr;
            branches += usize::from(matches!(instr, Instr::Branch { .. }));
            instr.for_each_expr(&mut |e| {
                if let Expr::Const(c @ Const::Bv { .. }) = e
                    && let Some(value) = c.signed()
                    && self.near.len() < MAX_CONSTANTS
                    && !self.near.contains(&value)
                {
                    self.near.push(value);
                }
            });
            if branches >= MAX_BRANCHES {
                break;
            }
            let before = preds.get(n.0 as usize).into_iter().flatten();
            queue.extend(before.copied().filter(|p| met.insert(*p)));
        }
    }
}

/// Nodes of the first function whose instructions the second has less often.
fn differing(f: &Function, g: &Function) -> Vec<NodeId> {
    if f.nodes.len() == g.nodes.len() && f.nodes.iter().zip(&g.nodes).all(|(a, b)| a.instr == b.instr) {
        return Vec::new();
    }
    // What stands before all that differs, and behind it, is the same.
    let same = |(a, b): &(&Node, &Node)| a.instr == b.instr;
    let before = f.nodes.iter().zip(&g.nodes).take_while(same).count();
    let most = f.nodes.len().min(g.nodes.len()) - before;
    let behind = f.nodes.iter().rev().zip(g.nodes.iter().rev()).take(most).take_while(same).count();
    let middle = |h: &'_ Function| before..h.nodes.len() - behind;
    let mut left: HashMap<&Instr, usize> = HashMap::new();
    g.nodes[middle(g)].iter().for_each(|n| *left.entry(&n.instr).or_default() += 1);
    let gone = |(_, n): &(usize, &Node)| match left.get_mut(&n.instr) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    f.nodes
        .iter()
        .enumerate()
        .take(f.nodes.len() - behind)
        .skip(before)
        .filter(gone)
        .map(|(k, _)| NodeId(k as u32))
        .collect()
}
