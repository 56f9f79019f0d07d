//! Local variables of one name in several blocks: which of the newer version's is which of the older one's.
//!
//! They are told apart by their order, `v#0`, `v#1`, and one that comes before the others moves them all: a macro
//! with a local of its own, used once more, and no statement would be matched with its own. So statements are
//! aligned without these numbers first, and each variable gets the number of the one that stands in its place there
//! most often. The numbers are names: no truth rests on them.

use crate::ir::{Expr, Function, NodeId, Object, StmtId, Var, VarId, VarKind};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use crate::mvicfg::key::{self, Names};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Spells variables without their numbers.
struct Unnumbered<'a>(&'a Function);

impl Names for Unnumbered<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.0.var(var);
        _ = write!(out, "{}:{:?}{}", v.name, v.sort, if v.in_memory { v.size } else { 0 });
    }
}

/// The newer body with the numbers that the older one has for the same variables.
pub(super) fn numbered(old: &Arc<Function>, new: &Arc<Function>) -> Arc<Function> {
    let is_one = |v: &Var| v.kind == VarKind::Local;
    let several = |f: &Function| -> BTreeSet<Arc<str>> {
        f.vars.iter().filter(|v| is_one(v) && v.ordinal > 0).map(|v| v.name.clone()).collect()
    };
    let names: BTreeSet<Arc<str>> = several(old).union(&several(new)).cloned().collect();
    let count = |f: &Function, name: &Arc<str>| f.vars.iter().filter(|v| v.name == *name).count();
    // As many as before keep their order.
    let names: BTreeSet<Arc<str>> =
        names.into_iter().filter(|n| count(old, n) > 0 && count(old, n) != count(new, n)).collect();
    if names.is_empty() {
        return new.clone();
    }
    let mut votes: BTreeMap<(VarId, VarId), usize> = BTreeMap::new();
    let spelled = |f: &Function| -> (Vec<Vec<NodeId>>, Vec<String>) {
        let nodes = key::nodes_by_stmt(f);
        let all = nodes.iter().enumerate();
        let keys = all.map(|(i, n)| key::stmt(f, StmtId(i as u32), n, &Unnumbered(f))).collect();
        (nodes, keys)
    };
    let ((old_nodes, old_keys), (new_nodes, new_keys)) = (spelled(old), spelled(new));
    for op in aligned(Algorithm::Patience, &old_keys, &new_keys) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        for k in 0..len {
            for (o, n) in old_nodes[old_index + k].iter().zip(&new_nodes[new_index + k]) {
                for (a, b) in named(old, *o).into_iter().zip(named(new, *n)) {
                    *votes.entry((b, a)).or_default() += 1;
                }
            }
        }
    }
    let mut body = Function::clone(new);
    for name in &names {
        renumber(&mut body, old, name, &votes);
    }
    Arc::new(body)
}

/// The variables that an instruction reads, writes or takes the address of.
pub(super) fn named(f: &Function, node: NodeId) -> Vec<VarId> {
    let (mut found, instr) = (Vec::new(), &f.node(node).instr);
    instr.for_each_operand(&mut |e| {
        e.for_each(&mut |e| match e {
            Expr::Var(v) | Expr::Addr(Object::Local(v)) => found.push(*v),
            _ => {}
        })
    });
    found.extend(instr.written());
    found
}

/// Gives the variables of a name the numbers of those they stand for, the surest first; the others get new ones.
fn renumber(body: &mut Function, old: &Function, name: &Arc<str>, votes: &BTreeMap<(VarId, VarId), usize>) {
    let is_it = |f: &Function, v: VarId| f.var(v).name == *name && f.var(v).kind == VarKind::Local;
    let mut pairs: Vec<(usize, VarId, VarId)> = votes
        .iter()
        .filter(|((b, a), _)| is_it(body, *b) && is_it(old, *a))
        .map(|((b, a), n)| (*n, *b, *a))
        .collect();
    pairs.sort_by_key(|(n, b, a)| (std::cmp::Reverse(*n), *b, *a));
    // A parameter keeps its own.
    let others = body.vars.iter().filter(|v| v.name == *name && v.kind != VarKind::Local);
    let others: BTreeSet<u32> = others.map(|v| v.ordinal).collect();
    let mut given: BTreeMap<VarId, u32> = BTreeMap::new();
    for (_, b, a) in pairs {
        let number = old.var(a).ordinal;
        if !given.contains_key(&b) && !others.contains(&number) && !given.values().any(|n| *n == number) {
            given.insert(b, number);
        }
    }
    if given.is_empty() {
        return;
    }
    let of_name = |f: &Function| f.vars.iter().filter(|v| v.name == *name).map(|v| v.ordinal + 1).max();
    let mut next = of_name(old).max(of_name(body)).unwrap_or(0);
    for k in 0..body.vars.len() as u32 {
        let v = VarId(k);
        if !is_it(body, v) {
            continue;
        }
        let number = given.get(&v).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        if let Some(var) = body.vars.get_mut(k as usize) {
            var.ordinal = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{c, load_unit};
    use crate::history::MemoryTree;
    use std::path::Path;

    fn function(text: &str) -> Arc<Function> {
        let tree = MemoryTree::new([("a.c", text)]);
        let unit = load_unit(&tree, Path::new("a.c"), &c::Options::default()).unwrap().unit;
        unit.functions.last().unwrap().clone()
    }

    #[test]
    fn objects_keep_their_numbers_among_others_of_their_name() {
        let block = "    { void *p = create(); use(p); }\n";
        let text = format!(
            "struct s {{ int a[12]; }};\nstruct s get(void);\nvoid *create(void);\nvoid use(void *);\nvoid f(void)\n{{\n    \
            {{ struct s p = get(); use(&p); }}\n{block}    use(0);\n}}\n"
        );
        let old = function(&text);
        for new in [
            text.replace(block, &block.repeat(2)),
            text.replace("    use(0);", block),
            text.replace(block, ""),
        ] {
            let new = numbered(&old, &function(&new));
            let object = |f: &Function| {
                f.vars
                    .iter()
                    .filter(|v| &*v.name == "p" && v.in_memory)
                    .map(|v| v.ordinal)
                    .collect::<Vec<_>>()
            };
            assert_eq!((object(&new), object(&old)), (vec![0], vec![0]));
        }
    }
}
