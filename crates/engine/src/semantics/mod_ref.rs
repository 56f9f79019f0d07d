//! Mod-ref: what instructions read and write, as far as it can be told apart.
//!
//! An abstract location is a variable, bytes of an object (a local, a global), bytes behind a parameter that keeps its value
//! (`p->len`), or the top: memory that may be anything's. Two places may be the same unless that is excluded: by
//! their bytes within one object, since objects lie apart (an access beyond the ends of its object is undefined),
//! since no pointer leads to a local whose address nothing else takes, and since what came in by a parameter is no
//! local of this call. A call that is not known to leave memory alone reads and writes the top.

use super::{address, library};
use crate::ir::{Callee, Expr, Function, Instr, Object, Unit, VarId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What an address is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A local, by its address.
    Local(VarId),
    Global(Arc<str>),
    /// What a parameter that nothing changes leads to.
    Behind(VarId),
}

/// Something that is written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbstractLocation {
    Var(VarId),
    /// Bytes of an object: from, and up to; `None`: any of them.
    Bytes(Base, Option<(i128, i128)>),
    /// All memory that a pointer may lead to, and all outside.
    Top,
}

/// What is known of a function's variables.
pub struct Places<'a> {
    f: &'a Function,
    unit: &'a Unit,
    /// Locals whose addresses are more than the beginning of an access.
    escaping: BTreeSet<VarId>,
    /// Parameters that something writes.
    changing: BTreeSet<VarId>,
}

impl<'a> Places<'a> {
    /// Cost: linear in the function.
    pub fn of(f: &'a Function, unit: &'a Unit) -> Places<'a> {
        let mut places = Places { f, unit, escaping: BTreeSet::new(), changing: BTreeSet::new() };
        for node in &f.nodes {
            places.changing.extend(node.instr.written());
            if let Instr::Unknown { writes, .. } = &node.instr {
                places.changing.extend(writes);
            }
        }
        let mut escaping = BTreeSet::new();
        for node in &f.nodes {
            let accessed = addresses(&node.instr);
            let is_base = |e: &Expr| accessed.iter().any(|(a, _)| std::ptr::eq(*a, e));
            node.instr.for_each_operand(&mut |e| {
                let own = match places.split(e).filter(|_| is_base(e)) {
                    Some((Base::Local(v), _)) => Some(v),
                    _ => None,
                };
                e.for_each(&mut |part| {
                    if let Expr::Addr(Object::Local(v)) = part
                        && own != Some(*v)
                    {
                        escaping.insert(*v);
                    }
                });
            });
        }
        places.escaping = escaping;
        places
    }

    /// What an address is based on, and how far from there it is, where that is constant.
    fn split(&self, e: &Expr) -> Option<(Base, Option<i128>)> {
        let (base, at) = address::based(e, &|v| self.leads(v))?;
        let base = match base {
            address::Base::Behind(v) => Base::Behind(v),
            address::Base::Object(Object::Local(v)) => Base::Local(*v),
            // Another name may stand for the same object.
            address::Base::Object(Object::Global(s)) => {
                let is_aliased = self.unit.aliases.iter().any(|a| a.name == *s || a.target == *s);
                (!is_aliased).then(|| Base::Global(s.clone()))?
            }
            address::Base::Object(Object::Function(_)) => return None,
        };
        Some((base, at))
    }

    fn leads(&self, v: VarId) -> bool {
        let var = self.f.var(v);
        self.f.params.contains(&v) && var.ty.is_pointer() && !var.in_memory && !self.changing.contains(&v)
    }

    fn bytes(&self, addr: &Expr, bytes: u64) -> AbstractLocation {
        match self.split(addr) {
            Some((base, at)) => AbstractLocation::Bytes(
                base,
                at.and_then(|at| Some((at, at.checked_add(i128::from(bytes))?))),
            ),
            None => AbstractLocation::Top,
        }
    }

    fn of_var(&self, v: VarId) -> AbstractLocation {
        match self.f.var(v).in_memory {
            true => AbstractLocation::Bytes(Base::Local(v), None),
            false => AbstractLocation::Var(v),
        }
    }

    /// Whether two places may have something in common.
    pub fn meet(&self, a: &AbstractLocation, b: &AbstractLocation) -> bool {
        match (a, b) {
            (AbstractLocation::Var(v), AbstractLocation::Var(w)) => v == w,
            (AbstractLocation::Var(_), _) | (_, AbstractLocation::Var(_)) => false,
            (AbstractLocation::Top, AbstractLocation::Bytes(Base::Local(v), _))
            | (AbstractLocation::Bytes(Base::Local(v), _), AbstractLocation::Top) => {
                self.escaping.contains(v)
            }
            (AbstractLocation::Top, _) | (_, AbstractLocation::Top) => true,
            (AbstractLocation::Bytes(x, r), AbstractLocation::Bytes(y, s)) => match (x, y) {
                _ if x == y => r.zip(*s).is_none_or(|(r, s)| r.0 < s.1 && s.0 < r.1),
                (Base::Local(_), _) | (_, Base::Local(_)) | (Base::Global(_), Base::Global(_)) => false,
                (Base::Behind(_), _) | (_, Base::Behind(_)) => true,
            },
        }
    }

    /// Whether writing `by` leaves nothing of what was at `place`.
    pub fn covers(&self, by: &AbstractLocation, place: &AbstractLocation) -> bool {
        match (by, place) {
            (AbstractLocation::Var(v), AbstractLocation::Var(w)) => v == w,
            (AbstractLocation::Bytes(x, Some(r)), AbstractLocation::Bytes(y, Some(s))) => {
                x == y && r.0 <= s.0 && s.1 <= r.1
            }
            _ => false,
        }
    }

    pub fn writes(&self, i: &Instr) -> Vec<AbstractLocation> {
        match i {
            Instr::Assign { dst, .. } | Instr::Load { dst, .. } | Instr::Declare(dst) => {
                vec![self.of_var(*dst)]
            }
            Instr::Measure { var, .. } => var.iter().map(|v| self.of_var(*v)).collect(),
            Instr::Store { .. } | Instr::Copy { .. } | Instr::Zero { .. } => {
                let written = addresses(i).into_iter().next();
                written.map(|(addr, bytes)| self.bytes(addr, bytes)).into_iter().collect()
            }
            Instr::Call { dst, callee, result_to, .. } => {
                let mut places: Vec<AbstractLocation> = dst.iter().map(|v| self.of_var(*v)).collect();
                if result_to.is_some() || !leaves_memory(callee) {
                    places.push(AbstractLocation::Top);
                }
                places
            }
            Instr::Unknown { writes, .. } => {
                let mut places: Vec<AbstractLocation> = writes.iter().map(|v| self.of_var(*v)).collect();
                places.push(AbstractLocation::Top);
                places
            }
            Instr::Nop | Instr::Branch { .. } | Instr::Return { .. } | Instr::Unreachable => Vec::new(),
        }
    }

    pub fn reads(&self, i: &Instr) -> Vec<AbstractLocation> {
        let mut places = Vec::new();
        i.for_each_operand(&mut |e| e.for_each_var(&mut |v| places.push(self.of_var(v))));
        match i {
            Instr::Load { addr, access, .. } => places.push(self.bytes(addr, access.bytes)),
            Instr::Copy { src, bytes, .. } => places.push(self.bytes(src, *bytes)),
            Instr::Call { callee, .. } if !leaves_memory(callee) => places.push(AbstractLocation::Top),
            Instr::Unknown { .. } => places.push(AbstractLocation::Top),
            _ => {}
        }
        places
    }
}

/// Whether a call leaves memory and everything outside alone, and comes back.
pub fn leaves_memory(callee: &Callee) -> bool {
    matches!(callee, Callee::Direct(name) if only_computes(name))
}

/// Whether a function leaves memory alone, whatever it is given.
pub fn only_computes(name: &str) -> bool {
    library::row(name).is_some_and(library::Row::only_computes)
}

/// The addresses of an instruction's accesses with their sizes; where something is written it comes first.
fn addresses(i: &Instr) -> Vec<(&Expr, u64)> {
    match i {
        Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. } => vec![(addr, access.bytes)],
        Instr::Copy { dst, src, bytes } => vec![(dst, *bytes), (src, *bytes)],
        Instr::Zero { dst, bytes } => vec![(dst, *bytes)],
        _ => Vec::new(),
    }
}
