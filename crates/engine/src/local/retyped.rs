//! Pointers to anything, by the names of the variables that say to what: `struct ctx *c = data;`, and then `c->n`.
//!
//! A parameter without a type is told as the variable that is set to it once and for all: both have one value wherever
//! the variable has any.

use super::machine::variable_leaf;
use super::words::Speaker;
use crate::ir::{CType, Expr, Function, Instr, VarId, VarKind};
use crate::mvicfg::ClassId;
use crate::semantics::c_text::{Named, Naming};

impl Speaker<'_> {
    /// Parameters without a type as merged variables, each with the variable of the class's body that has its value.
    pub(super) fn retyped(&self, class: ClassId) -> Vec<(VarId, VarId)> {
        let body = &self.graph.bodies[class];
        let is_untyped = |v: VarId| is_untyped(body, v);
        if !(0..body.vars.len() as u32).map(VarId).any(is_untyped) {
            return Vec::new();
        }
        let merged = |v: VarId| self.graph.var_map[class].get(v.0 as usize).copied();
        let pairs = body.nodes.iter().filter_map(|n| match &n.instr {
            Instr::Assign { dst, value: Expr::Var(from) } if is_typed(body, *dst) => {
                Some((cast(body, *from), *dst))
            }
            _ => None,
        });
        let typed = pairs.filter(|(from, _)| is_untyped(*from));
        typed.filter_map(|(from, dst)| Some((merged(from)?, dst))).collect()
    }

    /// Gives parameters their own names again where the variable is told that is set to them.
    pub(super) fn forget(&mut self, naming: &mut Naming, (class, v): (ClassId, VarId)) {
        let body = &self.graph.bodies[class];
        let own = &self.graph.var_map[class];
        for (untyped, typed) in self.retyped(class) {
            let Some(from) = own.iter().position(|m| *m == untyped) else { continue };
            if own.get(typed.0 as usize) == Some(&v) {
                let var = body.var(VarId(from as u32));
                let term = self.pool.leaf(variable_leaf(self.graph, untyped));
                naming.names_mut().insert(term, Named { text: var.name.to_string(), ty: var.ty.clone() });
            }
        }
    }
}

/// What a temporary holds that is set once: a cast is one.
fn cast(body: &Function, v: VarId) -> VarId {
    let mut sources = body.nodes.iter().filter_map(|n| match &n.instr {
        Instr::Assign { dst, value: Expr::Var(from) } if *dst == v => Some(*from),
        _ => None,
    });
    let is_temp = body.var(v).kind == VarKind::Temp && writes(body, v) == 1;
    sources.next().filter(|_| is_temp).unwrap_or(v)
}

fn writes(body: &Function, v: VarId) -> usize {
    body.nodes.iter().filter(|n| n.instr.written() == Some(v)).count()
}

fn is_untyped(body: &Function, v: VarId) -> bool {
    let var = body.var(v);
    let is_void = matches!(&var.ty, CType::Pointer(to) if **to == CType::Void);
    is_void && var.kind == VarKind::Param && !var.in_memory && writes(body, v) == 0
}

fn is_typed(body: &Function, v: VarId) -> bool {
    let var = body.var(v);
    let is_record = matches!(&var.ty, CType::Pointer(to) if matches!(**to, CType::Record(_)));
    is_record && var.kind == VarKind::Local && !var.in_memory && writes(body, v) == 1
}
