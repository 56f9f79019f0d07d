//! Variables that one version keeps in memory because their address is taken: the other has them there, too.
//!
//! `n = length(s)` becomes `measure(s, &n)`, and from there on one version says of a value what the other says of an
//! object. A body means the same when each use of such a variable reads its object and each definition writes it, so
//! the one without the address is rewritten, and both are compared as they are.

use crate::ir::{Access, Expr, Function, Instr, Node, NodeId, Object, Sort, Var, VarId, VarKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two bodies that keep variables of one name in one way, as far as they are numbers or pointers.
pub(super) fn placed(old: Arc<Function>, new: Arc<Function>) -> [Arc<Function>; 2] {
    let vars = [to_place(&old, &new), to_place(&new, &old)];
    let rewritten = |body: Arc<Function>, vars: &BTreeSet<VarId>| match vars.is_empty() {
        true => body,
        false => Arc::new(rewritten(&body, vars)),
    };
    [rewritten(old, &vars[0]), rewritten(new, &vars[1])]
}

/// The variables of a body, by what makes one of the other version the same. An array and a pointer of one name are
/// two things.
pub(super) struct Namesakes<'f>(FxHashMap<(&'f str, u32, VarKind, Option<Sort>), &'f Var>);

impl<'f> Namesakes<'f> {
    pub fn of(body: &'f Function) -> Namesakes<'f> {
        let mut found = FxHashMap::default();
        for v in &body.vars {
            found.entry((&*v.name, v.ordinal, v.kind, v.sort)).or_insert(v);
        }
        Namesakes(found)
    }

    pub fn get(&self, v: &Var) -> Option<&'f Var> {
        self.0.get(&(&*v.name, v.ordinal, v.kind, v.sort)).copied()
    }
}

/// The variables of a body that the other has in memory.
fn to_place(body: &Function, other: &Function) -> BTreeSet<VarId> {
    let namesakes = Namesakes::of(other);
    let is_it = |v: &Var| {
        let is_whole =
            matches!(v.sort, Some(s @ (Sort::Bv(_) | Sort::F32 | Sort::F64)) if s.bytes() == v.size);
        let is_own = v.kind != VarKind::Temp && !v.in_memory && is_whole;
        is_own && namesakes.get(v).is_some_and(|o| o.in_memory && o.size == v.size && o.ty == v.ty)
    };
    let mut found: BTreeSet<VarId> =
        (0..).map(VarId).zip(&body.vars).filter(|(_, v)| is_it(v)).map(|(k, _)| k).collect();
    // What an instruction does that is not understood cannot be rewritten.
    for node in &body.nodes {
        if let Instr::Unknown { writes, .. } = &node.instr {
            node.instr.for_each_operand(&mut |e| e.for_each_var(&mut |v| _ = found.remove(&v)));
            writes.iter().for_each(|v| _ = found.remove(v));
        }
    }
    found
}

fn rewritten(body: &Function, vars: &BTreeSet<VarId>) -> Function {
    let mut body = body.clone();
    for v in vars {
        if let Some(var) = body.vars.get_mut(v.0 as usize) {
            var.in_memory = true;
        }
    }
    for k in 0..body.nodes.len() {
        load_first(&mut body, k, vars);
    }
    for k in 0..body.nodes.len() {
        store_then(&mut body, k, vars);
    }
    body
}

/// Loads what an instruction reads in front of it.
fn load_first(body: &mut Function, at: usize, vars: &BTreeSet<VarId>) {
    let mut read: Vec<VarId> = Vec::new();
    let Some(node) = body.nodes.get(at) else { return };
    node.instr.for_each_operand(&mut |e| {
        e.for_each_var(&mut |v| {
            if vars.contains(&v) && !read.contains(&v) {
                read.push(v);
            }
        })
    });
    let mut at = at;
    for v in read {
        let held = temporary(body, at, v);
        let (addr, access) = (address(v), access(body.var(v)));
        let next = NodeId(body.nodes.len() as u32);
        let Some(node) = body.nodes.get_mut(at) else { return };
        let mut instr = std::mem::replace(&mut node.instr, Instr::Load { dst: held, addr, access });
        instr.for_each_operand_mut(&mut |e| replace(e, v, held));
        let succs = std::mem::replace(&mut node.succs, vec![next]);
        let (stmt, span) = (node.stmt, node.span.clone());
        body.nodes.push(Node { instr, succs, stmt, span });
        at = next.0 as usize;
    }
}

/// Stores what an instruction writes behind it.
fn store_then(body: &mut Function, at: usize, vars: &BTreeSet<VarId>) {
    let Some(v) = body.nodes.get(at).and_then(|n| n.instr.written()).filter(|v| vars.contains(v)) else {
        return;
    };
    let (addr, access) = (address(v), access(body.var(v)));
    if let Some(Node { instr, .. }) = body.nodes.get_mut(at)
        && let Instr::Assign { value, .. } = instr
    {
        let value = std::mem::replace(value, Expr::Var(v));
        *instr = Instr::Store { addr, value, access };
        return;
    }
    let held = temporary(body, at, v);
    let next = NodeId(body.nodes.len() as u32);
    let Some(node) = body.nodes.get_mut(at) else { return };
    match &mut node.instr {
        Instr::Load { dst, .. } | Instr::Call { dst: Some(dst), .. } => *dst = held,
        _ => return,
    }
    let succs = std::mem::replace(&mut node.succs, vec![next]);
    let (stmt, span) = (node.stmt, node.span.clone());
    body.nodes.push(Node { instr: Instr::Store { addr, value: Expr::Var(held), access }, succs, stmt, span });
}

fn address(v: VarId) -> Expr {
    Expr::Addr(Object::Local(v))
}

fn access(var: &Var) -> Access {
    let sort = var.sort.unwrap_or(Sort::Bv(8));
    Access { sort, bytes: var.size, volatile: false, ty: var.ty.clone() }
}

/// A temporary that holds a variable's value, with a name that its statement has no other of.
fn temporary(body: &mut Function, at: usize, v: VarId) -> VarId {
    let stmt = body.nodes[at].stmt;
    let mut used: BTreeSet<VarId> = BTreeSet::new();
    for node in body.nodes.iter().filter(|n| n.stmt == stmt) {
        node.instr.for_each_operand(&mut |e| e.for_each_var(&mut |v| _ = used.insert(v)));
        used.extend(node.instr.written());
    }
    let is_free = |name: &String| used.iter().all(|u| *body.var(*u).name != **name);
    let name = (0..).map(|k| format!("%{k}")).find(is_free).unwrap_or_default();
    let held = Var { name: name.into(), kind: VarKind::Temp, in_memory: false, ..body.var(v).clone() };
    body.vars.push(held);
    VarId(body.vars.len() as u32 - 1)
}

fn replace(e: &mut Expr, v: VarId, by: VarId) {
    match e {
        Expr::Var(w) if *w == v => *w = by,
        Expr::Op { args, .. } => args.iter_mut().for_each(|a| replace(a, v, by)),
        _ => {}
    }
}
