//! Atomic operations as those of one thread: reads and writes of the object in program order.

use super::arith::{apply, number};
use super::function::{FnCx, Lowered};
use super::places::Lvalue;
use super::types::{Scalar, Shape};
use crate::ir::{Expr, Op};
use rucc_ast::BinaryOp;
use rucc_sema::{AtomicOp, ExprId, ExprList, Rmw};
use rucc_types::TypeId;

impl FnCx<'_, '_> {
    /// Lowers `__atomic_*`, `__sync_*` and what `stdatomic.h` makes of them; `None` for what has no value.
    pub fn atomic(&mut self, op: AtomicOp, args: ExprList) -> Lowered<Option<Expr>> {
        let list: Vec<ExprId> = self.unit.tast[args].to_vec();
        if matches!(op, AtomicOp::Fence | AtomicOp::SignalFence) {
            return Ok(None);
        }
        let &[object, ..] = list.as_slice() else { return Err("atomic operation".into()) };
        let pointed =
            self.unit.target_of(self.unit.tast[object].ty).ok_or("atomic operation on no object")?;
        let ty = match (op, list.get(1).map(|value| self.unit.tast[*value].ty)) {
            // The byte of a flag, whatever the pointer points to.
            (AtomicOp::TestAndSet | AtomicOp::Store, Some(value))
                if self.unit.shape(value) != self.unit.shape(pointed) =>
            {
                value
            }
            _ => pointed,
        };
        if !matches!(self.unit.shape(ty), Shape::Scalar(_)) {
            return Err("atomic operation on no scalar".into());
        }
        // All operands before any access.
        let mut values = Vec::new();
        for &arg in &list {
            let value = self.value(arg)?;
            values.push(self.kept(value, arg, true)?);
        }
        let operand = |k: usize| values.get(k).cloned().ok_or("atomic operation without an operand");
        let at = |addr: Expr| Lvalue::Memory { addr };
        let place = at(operand(0)?);
        if op == AtomicOp::Store {
            self.store(&place, ty, operand(1)?)?;
            return Ok(None);
        }
        let old = self.load(&place, ty, None)?;
        match op {
            AtomicOp::Load => return Ok(Some(old)),
            AtomicOp::LoadInto => {
                self.store(&at(operand(1)?), ty, old)?;
                return Ok(None);
            }
            AtomicOp::ExchangeInto => {
                self.store(&place, ty, operand(1)?)?;
                self.store(&at(operand(2)?), ty, old)?;
                return Ok(None);
            }
            _ => {}
        }
        Ok(Some(match op {
            AtomicOp::Exchange => {
                self.store(&place, ty, operand(1)?)?;
                old
            }
            AtomicOp::TestAndSet => {
                self.store(&place, ty, operand(1)?)?;
                number(self.nonzero(old), 8)
            }
            AtomicOp::SwapBool | AtomicOp::SwapValue => {
                let same = self.swap(&place, ty, (old.clone(), operand(1)?, operand(2)?), None)?;
                if op == AtomicOp::SwapBool { number(same, 8) } else { old }
            }
            AtomicOp::CompareExchange => {
                let expected = at(operand(1)?);
                let wanted = self.load(&expected, ty, None)?;
                let same = self.swap(&place, ty, (old, wanted, operand(2)?), Some(&expected))?;
                number(same, 8)
            }
            AtomicOp::Fetch(rmw) | AtomicOp::Update(rmw) => {
                let new = self.modified(rmw, ty, old.clone(), operand(1)?)?;
                // The new value is read from the temporary, so that it is there after the write, too.
                let new = self.step_of_type(new, ty)?;
                self.store(&place, ty, new.clone())?;
                if matches!(op, AtomicOp::Update(_)) { new } else { old }
            }
            _ => return Err("atomic operation".into()),
        }))
    }

    /// Compares (by bytes) what was found with what was expected; writes the new value where they are the
    /// same, and what was found to `otherwise` where they are not. Returns whether they were.
    fn swap(
        &mut self,
        place: &Lvalue,
        ty: TypeId,
        (found, expected, new): (Expr, Expr, Expr),
        otherwise: Option<&Lvalue>,
    ) -> Lowered<Expr> {
        let same = apply(Op::Eq, vec![found.clone(), expected], false);
        let (yes, no) = self.emit_branch(same.clone());
        self.graph.frontier = vec![yes];
        self.store(place, ty, new)?;
        let mut done = self.take_frontier();
        self.graph.frontier = vec![no];
        if let Some(otherwise) = otherwise {
            self.store(otherwise, ty, found)?;
        }
        self.graph.frontier.append(&mut done);
        Ok(same)
    }

    fn step_of_type(&mut self, value: Expr, ty: TypeId) -> Lowered<Expr> {
        let scalar = self.scalar_type(ty)?;
        let kept = self.temp(scalar, ty);
        self.assign(kept, value);
        Ok(Expr::Var(kept))
    }

    /// What a read-modify-write writes. It wraps; on pointers it counts bytes.
    fn modified(&mut self, rmw: Rmw, ty: TypeId, old: Expr, operand: Expr) -> Lowered<Expr> {
        let bits = match self.scalar_type(ty)? {
            Scalar::Int { bits, .. } => bits,
            Scalar::Pointer => self.unit.pointer,
            _ => return Err("atomic arithmetic on no integer".into()),
        };
        let unsigned = Scalar::Int { bits, signed: false };
        let op = match rmw {
            Rmw::Add => BinaryOp::Add,
            Rmw::Sub => BinaryOp::Sub,
            Rmw::And | Rmw::Nand => BinaryOp::BitAnd,
            Rmw::Or => BinaryOp::BitOr,
            Rmw::Xor => BinaryOp::BitXor,
        };
        let made = self.arithmetic(op, unsigned, old, operand).ok_or("atomic operation")?;
        Ok(if rmw == Rmw::Nand { apply(Op::BitNot, vec![made], false) } else { made })
    }
}
