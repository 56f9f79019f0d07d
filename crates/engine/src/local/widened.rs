//! Variables that are of a wider type in one version: both are compared as if they were of the wider one.
//!
//! The relation of such a pair is `x' = e(x)`, the extension of the narrower value by its signedness (the relation
//! of matched variables, `docs/design/local-differences.md`). The body with the narrower one is rewritten: what it
//! reads is the wider variable cut to its own width, what it writes is extended. Each state in which the wider
//! variable is no extension has no counterpart, so [`Widened::relations`] are conditions of every question.

use super::machine::variable_leaf;
use crate::ir::{CType, Expr, Function, Instr, Node, NodeId, Op, Sort, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::{ClassId, Mvicfg};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A variable as the narrower version has it.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    bits: u16,
    wide: u16,
    signed: bool,
}

impl Narrow {
    fn extension(self) -> Op {
        if self.signed { Op::Sext(self.wide) } else { Op::Zext(self.wide) }
    }
}

/// A number of a type as C converts it to a wider one; `None` for what is no number.
pub(super) fn extended(pool: &mut TermPool, t: TermId, ty: &CType, wide: u16) -> Option<TermId> {
    match ty {
        CType::Bool | CType::Int { signed: false, .. } => Some(pool.op(Op::Zext(wide), &[t])),
        CType::Int { signed: true, .. } => Some(pool.op(Op::Sext(wide), &[t])),
        _ => None,
    }
}

/// Two numbers of different widths as such of the wider one, which no type may turn into others: what is less than zero
/// has no counterpart where the wider one has no sign.
pub(super) fn numbers(pool: &mut TermPool, [a, b]: [TermId; 2], [x, y]: [&CType; 2]) -> [TermId; 2] {
    let sign = |ty: &CType| match ty {
        CType::Bool => Some(false),
        CType::Int { signed, .. } => Some(*signed),
        _ => None,
    };
    let bits = [a, b].map(|t| pool.sort(t).bits());
    let ([Some(m), Some(n)], Some(of_a), Some(of_b)) = (bits, sign(x), sign(y)) else { return [a, b] };
    let mut extended = |t: TermId, from: bool, to: bool, wide: u16| match (from, to) {
        (false, _) => Some(pool.op(Op::Zext(wide), &[t])),
        (true, true) => Some(pool.op(Op::Sext(wide), &[t])),
        (true, false) => {
            let number = pool.as_const(t)?.signed().filter(|n| *n >= 0)?;
            Some(pool.bv(wide, number))
        }
    };
    match m.cmp(&n) {
        std::cmp::Ordering::Less => [extended(a, of_a, of_b, n).unwrap_or(a), b],
        std::cmp::Ordering::Greater => [a, extended(b, of_b, of_a, m).unwrap_or(b)],
        std::cmp::Ordering::Equal => [a, b],
    }
}

/// Two bodies in which variables of one name have one width.
pub(super) struct Widened {
    pub bodies: [Arc<Function>; 2],
    /// By class: the variables that are narrower there.
    narrow: [BTreeMap<VarId, Narrow>; 2],
}

impl Widened {
    pub fn of(old: Arc<Function>, new: Arc<Function>) -> Widened {
        let narrow = [narrower(&old, &new), narrower(&new, &old)];
        let rewritten = |body: Arc<Function>, vars: &BTreeMap<VarId, Narrow>| match vars.is_empty() {
            true => body,
            false => Arc::new(rewritten(&body, vars)),
        };
        Widened { bodies: [rewritten(old, &narrow[0]), rewritten(new, &narrow[1])], narrow }
    }

    /// What holds of the values at any point: the wider ones are extensions of the narrower ones.
    pub fn relations(&self, graph: &Mvicfg, pool: &mut TermPool) -> Vec<TermId> {
        let mut found = Vec::new();
        for (leaf, cut, narrow) in self.leaves(graph, pool) {
            let extended = pool.op(narrow.extension(), &[cut.0]);
            found.push(pool.eq(leaf, extended));
        }
        found
    }

    /// The narrower values of one class, with the types that they have there.
    pub fn values(
        &self,
        graph: &Mvicfg,
        pool: &mut TermPool,
        class: ClassId,
    ) -> Vec<(TermId, String, CType)> {
        let of_class = |(_, (cut, c, v), _): (TermId, (TermId, ClassId, VarId), Narrow)| {
            let var = graph.bodies[c].var(v);
            (c == class).then(|| (cut, var.name.to_string(), var.ty.clone()))
        };
        self.leaves(graph, pool).into_iter().filter_map(of_class).collect()
    }

    /// Makes a state one that has a counterpart in both versions.
    #[cfg(test)]
    pub fn relate(&self, graph: &Mvicfg, vars: &mut BTreeMap<VarId, crate::ir::Const>) {
        for class in ClassId::PAIR {
            for (v, narrow) in &self.narrow[class] {
                let merged = graph.var_map[class][v.0 as usize];
                let Some(value) = vars.get(&merged) else { continue };
                let cut = Op::Trunc(narrow.bits).eval(&[*value]).unwrap();
                vars.insert(merged, narrow.extension().eval(&[cut]).unwrap());
            }
        }
    }

    fn leaves(&self, graph: &Mvicfg, pool: &mut TermPool) -> Vec<(TermId, (TermId, ClassId, VarId), Narrow)> {
        let mut found = Vec::new();
        for class in ClassId::PAIR {
            for (v, narrow) in &self.narrow[class] {
                let Some(merged) = graph.var_map[class].get(v.0 as usize) else { continue };
                let leaf = pool.leaf(variable_leaf(graph, *merged));
                let cut = pool.op(Op::Trunc(narrow.bits), &[leaf]);
                found.push((leaf, (cut, class, *v), *narrow));
            }
        }
        found
    }
}

/// The variables of a body that another has by a wider integer type.
fn narrower(body: &Function, other: &Function) -> BTreeMap<VarId, Narrow> {
    let mut found = BTreeMap::new();
    for (k, v) in body.vars.iter().enumerate() {
        let is_it = |w: &&crate::ir::Var| (&w.name, w.ordinal, w.kind) == (&v.name, v.ordinal, v.kind);
        if v.in_memory || v.kind == VarKind::Temp {
            continue;
        }
        let Some(w) = other.vars.iter().find(is_it).filter(|w| !w.in_memory) else { continue };
        let is_number = |ty: &CType| matches!(ty, CType::Int { .. } | CType::Bool);
        if let (Some(Sort::Bv(bits)), Some(Sort::Bv(wide))) = (v.sort, w.sort)
            && bits < wide
            && is_number(&v.ty)
            && is_number(&w.ty)
        {
            found.insert(VarId(k as u32), Narrow { bits, wide, signed: v.ty.is_signed() });
        }
    }
    found
}

fn rewritten(body: &Function, vars: &BTreeMap<VarId, Narrow>) -> Function {
    let mut body = body.clone();
    for (v, narrow) in vars {
        if let Some(var) = body.vars.get_mut(v.0 as usize) {
            var.sort = Some(Sort::Bv(narrow.wide));
        }
    }
    let nodes = body.nodes.len();
    for k in 0..nodes {
        let node = &mut body.nodes[k];
        node.instr.for_each_operand_mut(&mut |e: &mut Expr| cut(e, vars));
        let written = node.instr.written().and_then(|v| Some((v, *vars.get(&v)?)));
        let Some((v, narrow)) = written else { continue };
        if let Instr::Assign { value, .. } = &mut node.instr {
            *value = extended_value(std::mem::replace(value, Expr::Var(v)), narrow, vars);
            continue;
        }
        if matches!(node.instr, Instr::Declare(_)) {
            continue;
        }
        // What is loaded, or what a call gives, comes into a temporary first.
        let mut held = body.vars[v.0 as usize].clone();
        (held.name, held.kind) = (format!("%{}", held.name).into(), VarKind::Temp);
        (held.sort, held.ordinal) = (Some(Sort::Bv(narrow.bits)), body.nodes[k].stmt.0);
        let temporary = VarId(body.vars.len() as u32);
        body.vars.push(held);
        let next = NodeId(body.nodes.len() as u32);
        let node = &mut body.nodes[k];
        match &mut node.instr {
            Instr::Load { dst, .. } | Instr::Call { dst: Some(dst), .. } => *dst = temporary,
            _ => continue,
        }
        let succs = std::mem::replace(&mut node.succs, vec![next]);
        let (stmt, span) = (node.stmt, node.span.clone());
        let instr = Instr::Assign { dst: v, value: Expr::op(narrow.extension(), vec![Expr::Var(temporary)]) };
        body.nodes.push(Node { instr, succs, stmt, span });
    }
    body
}

/// Cuts what is read of wider variables.
fn cut(e: &mut Expr, vars: &BTreeMap<VarId, Narrow>) {
    match e {
        Expr::Var(v) => {
            if let Some(narrow) = vars.get(v) {
                *e = Expr::op(Op::Trunc(narrow.bits), vec![Expr::Var(*v)]);
            }
        }
        Expr::Op { op, args, .. } => {
            // An extension to the wider type gives the wider variable.
            if let [Expr::Var(v)] = args.as_slice()
                && vars.get(v).is_some_and(|n| n.extension() == *op)
            {
                *e = Expr::Var(*v);
                return;
            }
            args.iter_mut().for_each(|a| cut(a, vars));
        }
        Expr::Const(_) | Expr::Addr(_) => {}
    }
}

/// A narrower value as one of the wider type.
fn extended_value(value: Expr, narrow: Narrow, vars: &BTreeMap<VarId, Narrow>) -> Expr {
    if let Expr::Const(c) = &value
        && let Some(n) =
            if narrow.signed { c.signed() } else { c.unsigned().and_then(|n| i128::try_from(n).ok()) }
    {
        return Expr::bv(narrow.wide, n);
    }
    if let Expr::Op { op: Op::Trunc(_), args, .. } = &value
        && let [Expr::Var(v)] = args.as_slice()
        && vars.get(v).is_some_and(|n| n.extension() == narrow.extension() && n.bits == narrow.bits)
    {
        return Expr::Var(*v);
    }
    Expr::op(narrow.extension(), vec![value])
}
