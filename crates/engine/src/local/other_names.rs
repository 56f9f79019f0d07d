//! Variables that got another name: a parameter by its place, a local by the statements that it stands in.
//!
//! Versions share variables by name, and of one that has another name in the other version nothing is known there:
//! `if (z == NULL)` and `if (strm == NULL)` would be tests of two values. So the older body gets the newer names where
//! a name of the older version is gone and one of the newer version is new. Statements are aligned with all such
//! variables spelled alike, and two are one where each stands in the other's place most of the time. A local's name is
//! but a name, and no truth rests on it; a parameter has in both versions what the caller gives in its place.

use super::namesakes::named;
use crate::ir::{CType, Function, NodeId, StmtId, Unit, Var, VarId, VarKind, retyped};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use crate::mvicfg::key::{self, Names, SourceNames};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Instructions that a local must stand in to be known by them.
const LEAST: usize = 2;

/// The older body with the newer names of its variables.
pub(super) fn renamed(
    (old, of_old): (&Arc<Function>, &Unit),
    (new, of_new): (&Function, &Unit),
) -> Arc<Function> {
    let is_number = |ty: &CType| matches!(ty, CType::Bool | CType::Int { .. });
    let is_one_type = |a: VarId, b: VarId| {
        let (x, y) = (&old.var(a).ty, &new.var(b).ty);
        is_number(x) && is_number(y) || retyped(x, of_old, of_new) == *y
    };
    let names = |f: &Function| -> BTreeSet<Arc<str>> { f.vars.iter().map(|v| v.name.clone()).collect() };
    let known = [names(old), names(new)];
    let free = |f: &Function, others: &BTreeSet<Arc<str>>, kind: VarKind| -> BTreeSet<VarId> {
        let all = (0..f.vars.len() as u32).map(VarId);
        all.filter(|v| f.var(*v).kind == kind && !others.contains(&f.var(*v).name)).collect()
    };
    let mut found: Vec<(VarId, VarId)> = Vec::new();
    let params = [free(old, &known[1], VarKind::Param), free(new, &known[0], VarKind::Param)];
    for (&a, &b) in old.params.iter().zip(&new.params) {
        if is_one_type(a, b) && params[0].contains(&a) && params[1].contains(&b) {
            found.push((a, b));
        }
    }
    let locals = [free(old, &known[1], VarKind::Local), free(new, &known[0], VarKind::Local)];
    if locals.iter().all(|all| !all.is_empty()) {
        let mut pairs = alike((old, &locals[0]), (new, &locals[1]), &found);
        pairs.retain(|(a, b)| old.var(*a).sort == new.var(*b).sort && is_one_type(*a, *b));
        found.append(&mut pairs);
    }
    if found.is_empty() {
        return old.clone();
    }
    let mut body = Function::clone(old);
    for (a, b) in found {
        let Var { name, ordinal, .. } = new.var(b).clone();
        if let Some(var) = body.vars.get_mut(a.0 as usize) {
            (var.name, var.ordinal) = (name, ordinal);
        }
    }
    Arc::new(body)
}

/// The locals of both versions, among some, that stand in each other's place. `params`: of those it is known.
fn alike(
    (old, of_old): (&Function, &BTreeSet<VarId>),
    (new, of_new): (&Function, &BTreeSet<VarId>),
    params: &[(VarId, VarId)],
) -> Vec<(VarId, VarId)> {
    let same: [BTreeMap<VarId, usize>; 2] = [
        params.iter().enumerate().map(|(k, (a, _))| (*a, k)).collect(),
        params.iter().enumerate().map(|(k, (_, b))| (*b, k)).collect(),
    ];
    let nodes = [old, new].map(key::nodes_by_stmt);
    let keys = |f: &Function, nodes: &[Vec<NodeId>], names: &Unnamed| -> Vec<String> {
        let all = nodes.iter().enumerate();
        all.map(|(k, n)| key::stmt(f, StmtId(k as u32), n, names)).collect()
    };
    let old_keys = keys(old, &nodes[0], &Unnamed { f: old, free: of_old, same: &same[0] });
    let new_keys = keys(new, &nodes[1], &Unnamed { f: new, free: of_new, same: &same[1] });
    let mut votes: BTreeMap<(VarId, VarId), usize> = BTreeMap::new();
    for op in aligned(Algorithm::Patience, &old_keys, &new_keys) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        for k in 0..len {
            for (o, n) in nodes[0][old_index + k].iter().zip(&nodes[1][new_index + k]) {
                for (a, b) in named(old, *o).into_iter().zip(named(new, *n)) {
                    if of_old.contains(&a) && of_new.contains(&b) {
                        *votes.entry((a, b)).or_default() += 1;
                    }
                }
            }
        }
    }
    let stands = |f: &Function, v: VarId| -> usize {
        let all = (0..f.nodes.len() as u32).flat_map(|n| named(f, NodeId(n)));
        all.filter(|w| *w == v).count()
    };
    // More than half of where either stands: of neither there can be another one.
    let is_one = |((a, b), n): &(&(VarId, VarId), &usize)| {
        **n >= LEAST && stands(old, *a).max(stands(new, *b)) < 2 * **n
    };
    votes.iter().filter(is_one).map(|(pair, _)| *pair).collect()
}

/// Spells some variables alike, and others by number.
struct Unnamed<'a> {
    f: &'a Function,
    free: &'a BTreeSet<VarId>,
    same: &'a BTreeMap<VarId, usize>,
}

impl Names for Unnamed<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.f.var(var);
        let storage = if v.in_memory { v.size } else { 0 };
        match self.same.get(&var) {
            Some(k) => _ = write!(out, "{k}:{:?}{storage}", v.sort),
            None if self.free.contains(&var) => _ = write!(out, "?:{:?}{storage}", v.sort),
            None => SourceNames(self.f).var(out, var),
        }
    }
}
