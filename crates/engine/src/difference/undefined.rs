//! Which operations may be undefined, depending on what they read: division, shifts, overflow,
//! conversions, accesses whose place is not evident, reads of what may not be initialised.

use super::body::{Kind, Step};
use crate::ir::{Callee, Expr, Function, Instr, Object, Op, Unit, Var, VarId, VarKind};
use crate::semantics::{address, library};

/// Marks the steps of a function that may be undefined.
pub(super) fn mark(f: &Function, unit: &Unit, steps: &mut [Step]) {
    let known = assigned_before(f);
    for (i, (node, step)) in f.nodes.iter().zip(steps).enumerate() {
        let mut traps = false;
        node.instr.for_each_operand(&mut |e| {
            traps |= may_trap(e);
            e.for_each_var(&mut |v| traps |= !known[i].contains(v));
        });
        traps |= match &node.instr {
            Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. } => {
                !is_inside(f, unit, addr, access.bytes) || matches!(node.instr, Instr::Load { .. })
            }
            Instr::Copy { .. } => true,
            Instr::Zero { dst, bytes } => !is_inside(f, unit, dst, *bytes),
            Instr::Measure { .. } => true,
            Instr::Call { callee: Callee::Direct(name), args, .. } if matches!(step.kind, Kind::Plain) => {
                library::row(name).is_some_and(|r| (0..args.len()).any(|k| r.borrows(k)))
            }
            _ => false,
        };
        step.traps = traps;
    }
}

fn may_trap(e: &Expr) -> bool {
    let mut traps = false;
    e.for_each(&mut |x| {
        let Expr::Op { op, args, signed_arith } = x else { return };
        let constant = |k: usize| match args.get(k) {
            Some(Expr::Const(c)) => Some(*c),
            _ => None,
        };
        traps |= match op {
            Op::UDiv | Op::SDiv | Op::URem | Op::SRem => {
                constant(1).is_none_or(|c| c.to_bits() == 0 || c.signed() == Some(-1))
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let fits = |c: crate::ir::Const| {
                    c.unsigned().zip(c.sort().bits()).is_some_and(|(n, w)| n < w.into())
                };
                *signed_arith || !constant(1).is_some_and(fits)
            }
            Op::FToS(_) | Op::FToU(_) => true,
            _ => *signed_arith && !(0..args.len()).all(|k| constant(k).is_some()),
        };
    });
    traps
}

/// Whether an access is evidently within one object.
fn is_inside(f: &Function, unit: &Unit, address: &Expr, bytes: u64) -> bool {
    let Some((object, Some(offset))) = address::object(address) else { return false };
    let size = match object {
        Object::Local(v) => f.vars.get(v.0 as usize).map_or(0, |v| v.size),
        Object::Global(symbol) => unit.global(symbol).filter(|g| !g.is_const).map_or(0, |g| g.size),
        Object::Function(_) => 0,
    };
    u64::try_from(offset).is_ok_and(|at| at.checked_add(bytes).is_some_and(|end| end <= size))
}

/// A set of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Vars(Vec<u64>);

impl Vars {
    fn contains(&self, v: VarId) -> bool {
        self.0.get(v.0 as usize / 64).is_some_and(|w| w >> (v.0 % 64) & 1 == 1)
    }

    fn set(&mut self, v: VarId, on: bool) {
        if let Some(w) = self.0.get_mut(v.0 as usize / 64) {
            *w = *w & !(1 << (v.0 % 64)) | u64::from(on) << (v.0 % 64);
        }
    }

    fn meet(&self, other: &Vars) -> Vars {
        Vars(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }
}

/// Returns, by node, the variables that every way there has given a value. What is loaded may be none: memory that
/// was not written to is copied without harm, and used with it.
fn assigned_before(f: &Function) -> Vec<Vars> {
    let none = Vars(vec![0; f.vars.len().div_ceil(64)]);
    let mut start = none.clone();
    let given = |v: &Var| v.kind == VarKind::Param;
    (0u32..).zip(&f.vars).filter(|(_, v)| given(v)).for_each(|(i, _)| start.set(VarId(i), true));
    let mut known: Vec<Option<Vars>> = vec![None; f.nodes.len()];
    let mut work = vec![(Function::ENTRY, start)];
    while let Some((id, incoming)) = work.pop() {
        let Some(at) = known.get_mut(id.0 as usize) else { continue };
        let next = at.as_ref().map_or_else(|| incoming.clone(), |old| old.meet(&incoming));
        if at.as_ref() == Some(&next) {
            continue;
        }
        *at = Some(next.clone());
        let mut now = next;
        match &f.node(id).instr {
            Instr::Assign { dst, value: Expr::Var(v) } => {
                let is_given = now.contains(*v);
                now.set(*dst, is_given);
            }
            Instr::Assign { dst, .. } | Instr::Call { dst: Some(dst), .. } => now.set(*dst, true),
            Instr::Load { dst, .. } => now.set(*dst, false),
            Instr::Declare(v) => now.set(*v, false),
            Instr::Unknown { writes, .. } => writes.iter().for_each(|v| now.set(*v, true)),
            _ => {}
        }
        work.extend(f.node(id).succs.iter().map(|s| (*s, now.clone())));
    }
    known.into_iter().map(|k| k.unwrap_or_else(|| none.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;

    /// Whether any operator of `int f(int a, int b, int *p)` with this body may trap.
    #[track_caller]
    fn check(body: &str, expected: bool) {
        let source = format!("int g[4]; int f(int a, unsigned b, int *p) {{ {body} }}");
        let tree = MemoryTree::new([("a.c", source.as_str())]);
        let unit =
            frontend::load_unit(&tree, std::path::Path::new("a.c"), &c::Options::default()).unwrap().unit;
        let f = &unit.functions[0];
        let known = assigned_before(f);
        let mut traps = false;
        for (i, node) in f.nodes.iter().enumerate() {
            node.instr.for_each_operand(&mut |e| {
                traps |= may_trap(e);
                e.for_each_var(&mut |v| traps |= !known[i].contains(v));
            });
            if let Instr::Store { addr, access, .. } = &node.instr {
                traps |= !is_inside(f, &unit, addr, access.bytes);
            }
        }
        assert_eq!(traps, expected, "{body}");
    }

    #[test]
    fn operations_that_may_be_undefined_are_found() {
        check("return b / 3 + (b >> 2);", false);
        check("return a / 3;", false);
        check("return a + 1;", true);
        check("return b / (unsigned)a;", true);
        check("return a / -1;", true);
        check("return b << a;", true);
        check("int t; if (a) t = 1; return t;", true);
        check("int t; if (a) t = 1; else t = 2; return t;", false);
        check("g[3] = 1; return 0;", false);
        check("g[b] = 1; return 0;", true);
        check("*p = 1; return 0;", true);
        check("g[0] = b; unsigned t = b; g[1] = t + 1; return 0;", false);
        check("unsigned t = g[0]; return t + 1;", true);
    }
}
