//! Which bits of a loaded word anything depends on.
//!
//! Lowering reads and writes a bit-field through its whole storage unit. A unit is indeterminate
//! where no field was written yet, and that must not count as a read of an uninitialised object. So
//! each temporary gets a mask of the bits that its uses ask for, from the operators above them.

use crate::ir::{Const, Expr, Function, Instr, Op, Sort, VarId, VarKind};

const ALL: u128 = u128::MAX;

/// Demanded bits of each variable.
pub(crate) struct Demand(Vec<u128>);

impl Demand {
    /// Cost: one pass over the function's expressions.
    pub fn new(f: &Function) -> Demand {
        // Only temporaries are looked at: what a named variable holds is asked for as a whole.
        let start = |kind| if kind == VarKind::Temp { 0 } else { ALL };
        let mut demand = Demand(f.vars.iter().map(|v| start(v.kind)).collect());
        for node in &f.nodes {
            demand.instr(f, &node.instr);
        }
        demand
    }

    pub fn of(&self, var: VarId) -> u128 {
        self.0.get(var.0 as usize).copied().unwrap_or(ALL)
    }

    fn instr(&mut self, f: &Function, instr: &Instr) {
        match instr {
            Instr::Store { addr, value, access } => {
                self.ask(addr, ALL);
                let field = written_bits(f, addr, value, access.sort).and_then(|_| kept_field(value));
                match field {
                    Some((_, _, rest)) => self.ask(rest, ALL),
                    None => self.ask(value, ALL),
                }
            }
            Instr::Assign { value: e, .. } | Instr::Load { addr: e, .. } | Instr::Branch { cond: e } => {
                self.ask(e, ALL);
            }
            Instr::Copy { dst, src, .. } => {
                self.ask(dst, ALL);
                self.ask(src, ALL);
            }
            Instr::Zero { dst, .. } => self.ask(dst, ALL),
            Instr::Measure { lengths, .. } => lengths.iter().for_each(|e| self.ask(e, ALL)),
            Instr::Call { args, callee, result_to, .. } => {
                args.iter().chain(result_to).for_each(|a| self.ask(a, ALL));
                if let crate::ir::Callee::Indirect(e) = callee {
                    self.ask(e, ALL);
                }
            }
            Instr::Return { value } => value.iter().for_each(|v| self.ask(v, ALL)),
            Instr::Unknown { reads, .. } => reads.iter().for_each(|e| self.ask(e, ALL)),
            Instr::Nop | Instr::Declare(_) | Instr::Unreachable => {}
        }
    }

    fn ask(&mut self, e: &Expr, bits: u128) {
        match e {
            Expr::Var(v) => {
                if let Some(mask) = self.0.get_mut(v.0 as usize) {
                    *mask |= bits;
                }
            }
            Expr::Op { op, args, .. } => match (op, args.as_slice()) {
                (Op::Trunc(w), [a]) => self.ask(a, bits & Const::mask(*w)),
                (Op::LShr, [a, Expr::Const(c)]) if c.to_bits() < 128 => self.ask(a, bits << c.to_bits()),
                (Op::BitAnd, [a, Expr::Const(c)]) | (Op::BitAnd, [Expr::Const(c), a]) => {
                    self.ask(a, bits & c.to_bits());
                }
                _ => args.iter().for_each(|a| self.ask(a, ALL)),
            },
            Expr::Const(_) | Expr::Addr(_) => {}
        }
    }
}

/// Takes apart `(unit & mask) | field`, the new content of a bit-field's storage unit: the variable
/// that holds the old unit, the bits that are kept, and the field.
pub(crate) fn kept_field(value: &Expr) -> Option<(VarId, u128, &Expr)> {
    let Expr::Op { op: Op::BitOr, args, .. } = value else { return None };
    let [Expr::Op { op: Op::BitAnd, args: kept, .. }, field] = args.as_slice() else { return None };
    let [Expr::Var(unit), Expr::Const(mask)] = kept.as_slice() else { return None };
    Some((*unit, mask.to_bits(), field))
}

/// Returns the bits that a store of `value` brings, if it is that of a bit-field whose storage unit
/// was loaded from the same address.
pub(crate) fn written_bits(f: &Function, addr: &Expr, value: &Expr, sort: Sort) -> Option<u128> {
    let (unit, kept, _) = kept_field(value)?;
    let is_unit = f
        .nodes
        .iter()
        .any(|n| matches!(&n.instr, Instr::Load { dst, addr: from, .. } if *dst == unit && from == addr));
    is_unit.then(|| !kept & Const::mask(sort.bits().unwrap_or(128)))
}
