//! Calls through pointers that can only lead to a few functions, as calls of these
//! (`docs/design/symbolic-evaluation.md`).
//!
//! A pointer's values are looked up where they are written: functions by name, variables by all their
//! assignments, constant tables by their initialisers, and objects of the unit that nobody else can
//! change (`static`, their address nowhere but in accesses) by their initialisers and all that is
//! stored there. The call becomes a choice between direct calls. What else a pointer may hold is null,
//! or no value at all, and to call that is undefined.

use super::frames;
use super::place::base_object;
use crate::ir::{
    Callee, Expr, Function, InitPiece, Instr, Linkage, Node, NodeId, Object, Op, Unit, VarId, VarKind,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Functions that one call may lead to.
const MAX_TARGETS: usize = 4;
/// Assignments that are followed.
const MAX_DEPTH: u32 = 6;

type Targets = BTreeSet<Arc<str>>;

/// Returns the function with its calls through pointers resolved, or `None` when none is.
pub fn resolve(f: &Function, unit: &Unit) -> Option<Function> {
    let looked_up = |n: &Node| match &n.instr {
        Instr::Call { callee: Callee::Indirect(e), .. } => {
            let found = Lookup { f, unit }.expr(e, 0)?;
            let known =
                |t: &Arc<str>| unit.function(t).is_some() || unit.prototypes.iter().any(|p| p.name == *t);
            let usable = (1..=MAX_TARGETS).contains(&found.len()) && found.iter().all(known);
            usable.then(|| (e.clone(), found))
        }
        _ => None,
    };
    let found: Vec<Option<(Expr, Targets)>> = f.nodes.iter().map(looked_up).collect();
    if found.iter().all(Option::is_none) {
        return None;
    }
    let mut out = f.clone();
    for (i, resolved) in found.into_iter().enumerate() {
        if let Some((pointer, targets)) = resolved {
            choose(&mut out, i, &pointer, targets.into_iter().collect());
        }
    }
    Some(out)
}

/// Whether a function calls through a pointer of which not all values are known.
pub fn calls_unknown(f: &Function, unit: &Unit) -> bool {
    let is_unknown = |n: &Node| match &n.instr {
        Instr::Call { callee: Callee::Indirect(e), .. } => Lookup { f, unit }.expr(e, 0).is_none(),
        _ => false,
    };
    f.nodes.iter().any(is_unknown)
}

/// Replaces the call at a node by a choice between direct calls.
fn choose(out: &mut Function, at: usize, pointer: &Expr, targets: Vec<Arc<str>>) {
    let call = out.nodes[at].clone();
    let direct = |target: &Arc<str>| {
        let mut node = call.clone();
        if let Instr::Call { callee, .. } = &mut node.instr {
            *callee = Callee::Direct(target.clone());
        }
        node
    };
    let Some((last, others)) = targets.split_last() else { return };
    let mut place = at;
    for target in others {
        let then = out.nodes.len() as u32;
        let is = Expr::Op {
            op: Op::Eq,
            args: vec![pointer.clone(), Expr::Addr(Object::Function(target.clone()))],
            signed_arith: false,
        };
        out.nodes.push(direct(target));
        // The next choice; its place is filled below.
        out.nodes.push(call.clone());
        let succs = vec![NodeId(then), NodeId(then + 1)];
        out.nodes[place] = Node { instr: Instr::Branch { cond: is }, succs, ..call.clone() };
        place = then as usize + 1;
    }
    out.nodes[place] = direct(last);
}

struct Lookup<'a> {
    f: &'a Function,
    unit: &'a Unit,
}

impl Lookup<'_> {
    /// All functions that a value may be the address of; `None`: it may be others.
    fn expr(&self, e: &Expr, depth: u32) -> Option<Targets> {
        match e {
            _ if depth > MAX_DEPTH => None,
            Expr::Addr(Object::Function(name)) => Some(Targets::from([name.clone()])),
            Expr::Const(c) if c.to_bits() == 0 => Some(Targets::new()),
            Expr::Var(v) => self.variable(*v, depth),
            Expr::Op { op: Op::Ite, args, .. } => {
                let [_, a, b] = args.as_slice() else { return None };
                let mut found = self.expr(a, depth + 1)?;
                found.extend(self.expr(b, depth + 1)?);
                Some(found)
            }
            _ => None,
        }
    }

    fn variable(&self, v: VarId, depth: u32) -> Option<Targets> {
        let var = self.f.var(v);
        if var.in_memory || var.kind == VarKind::Param {
            return None;
        }
        let mut found = Targets::new();
        for node in &self.f.nodes {
            match &node.instr {
                Instr::Assign { dst, value } if *dst == v => found.extend(self.expr(value, depth + 1)?),
                Instr::Load { dst, addr, access } if *dst == v => {
                    if access.volatile {
                        return None;
                    }
                    found.extend(self.object(addr, depth + 1)?);
                }
                Instr::Call { dst: Some(dst), .. } if *dst == v => return None,
                Instr::Unknown { writes, anything, .. } if *anything || writes.contains(&v) => return None,
                _ => {}
            }
        }
        Some(found)
    }

    /// All functions that an object may hold the address of.
    fn object(&self, addr: &Expr, depth: u32) -> Option<Targets> {
        let (symbol, offset) = place_of(self.f, addr)?;
        let g =
            self.unit.global(&symbol).filter(|g| !matches!(g.linkage, Linkage::Import | Linkage::Weak))?;
        let mut found = Targets::new();
        for piece in &g.init {
            match piece {
                InitPiece::Address { offset: at, symbol, plus: 0 } => {
                    let here = offset.is_none_or(|o| o == i128::from(*at));
                    // A table may hold names beside functions.
                    let is_function = self.unit.global(symbol).is_none();
                    found.extend((here && is_function).then(|| symbol.clone()));
                }
                InitPiece::Address { .. } | InitPiece::Unknown { .. } => return None,
                InitPiece::Bytes { .. } => {}
            }
        }
        if !g.is_known_constant() {
            let settled =
                g.linkage == Linkage::Internal && is_all_seen(self.unit) && !self.is_exposed(&symbol);
            if !settled {
                return None;
            }
            for f in &self.unit.functions {
                found.extend(Lookup { f, unit: self.unit }.stored_in(&symbol, depth)?);
            }
        }
        Some(found)
    }

    fn is_exposed(&self, symbol: &Arc<str>) -> bool {
        frames::exposed(self.unit).iter().any(|(s, _)| s == symbol)
    }

    /// What this function stores in an object, by name.
    fn stored_in(&self, symbol: &Arc<str>, depth: u32) -> Option<Targets> {
        let names = |e: &Expr| {
            let mut found = false;
            e.for_each(&mut |x| found |= matches!(x, Expr::Addr(Object::Global(s)) if s == symbol));
            found
        };
        let mut found = Targets::new();
        for node in &self.f.nodes {
            match &node.instr {
                Instr::Store { addr, value, .. } if names(addr) => {
                    place_of(self.f, addr)?;
                    found.extend(self.expr(value, depth + 1)?);
                }
                Instr::Copy { dst: e, .. } | Instr::Zero { dst: e, .. } if names(e) => return None,
                Instr::Call { args, result_to, .. } if args.iter().chain(result_to).any(names) => {
                    return None;
                }
                _ => {}
            }
        }
        Some(found)
    }
}

/// Whether all that a unit's functions do to its objects was read.
fn is_all_seen(unit: &Unit) -> bool {
    unit.is_whole && unit.functions.iter().all(|f| f.unknowns.is_empty())
}

/// The object that an address is in, and the byte where that is known.
fn place_of(f: &Function, addr: &Expr) -> Option<(Arc<str>, Option<i128>)> {
    if base_object(addr).is_some() {
        return None;
    }
    match addr {
        Expr::Addr(Object::Global(s)) => Some((s.clone(), Some(0))),
        Expr::Op { op: Op::Add, args, .. } => {
            let (mut base, mut sum) = (None, Some(0));
            for a in args {
                match a {
                    Expr::Const(c) => sum = sum.zip(c.signed()).map(|(x, y)| x + y),
                    _ => match place_of(f, a) {
                        Some((s, at)) if base.is_none() => {
                            base = Some(s);
                            sum = sum.zip(at).map(|(x, y)| x + y);
                        }
                        Some(_) => return None,
                        None if has_pointer(f, a) => return None,
                        None => sum = None,
                    },
                }
            }
            base.map(|s| (s, sum))
        }
        _ => None,
    }
}

/// Whether a pointer takes part in an expression: it may lead anywhere.
fn has_pointer(f: &Function, e: &Expr) -> bool {
    let mut found = false;
    e.for_each(&mut |x| {
        found |= match x {
            Expr::Var(v) => f.var(*v).ty.is_pointer(),
            Expr::Addr(_) => true,
            _ => false,
        }
    });
    found
}
