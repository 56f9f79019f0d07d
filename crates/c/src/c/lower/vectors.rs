//! Vectors of GNU C: what operators do with their lanes.
//!
//! Every operator works lane by lane in the type of the lanes, without promotions; comparisons give -1 and 0.
//! Sums of signed lanes wrap: GCC computes them so, and its sanitizers say nothing of them.
//!
//! Left alone: shuffles and conversions of lanes to another width or kind; division of lanes narrower than `int`,
//! which does not trap where the quotient has no room; and their shifts by counts that are not known to be less
//! than the width, of which the manual does not say whether they are promoted.

use super::arith::{apply, resize};
use super::function::{FnCx, Lowered};
use super::parts::Several;
use super::places::Lvalue;
use super::types::{Scalar, Shape};
use crate::ir::{Const, Expr, Op};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Category, ExprId};

impl FnCx<'_, '_> {
    /// The value of an expression as a vector: a scalar in every lane, or lanes that differ in their sign only.
    pub fn vector_conversion(&mut self, operand: ExprId, to: Several) -> Lowered<Vec<Expr>> {
        if let Shape::Scalar(from) = self.unit.shape(self.unit.tast[operand].ty) {
            if from != to.scalar {
                return Err("vector made of a scalar's bytes".into());
            }
            let value = self.value(operand)?;
            let value = self.settled_part(value, to);
            return Ok(vec![value; to.count]);
        }
        let bits = |what: Several| match what.scalar {
            Scalar::Int { bits, .. } => Some(bits),
            _ => None,
        };
        match self.vector_of(operand) {
            Some(from) if from == to => self.parts(operand),
            Some(from) if bits(from).is_some() && bits(from) == bits(to) && from.count == to.count => {
                self.parts(operand)
            }
            _ => Err("vector made of another one's bytes".into()),
        }
    }

    pub fn vector_unary(&mut self, op: UnaryOp, operand: ExprId, what: Several) -> Lowered<Vec<Expr>> {
        if self.vector_of(operand) != Some(what) {
            return Err("operand of another type".into());
        }
        let op = match (op, what.scalar.is_float()) {
            (UnaryOp::Minus, true) => Op::FNeg,
            (UnaryOp::Minus, false) => Op::Neg,
            (UnaryOp::BitNot, false) => Op::BitNot,
            _ => return Err("operator that is not modelled".into()),
        };
        let lanes = self.parts(operand)?;
        let made = lanes.into_iter().map(|x| apply(op, vec![x], false)).collect();
        Ok(self.settled_parts(made, what))
    }

    pub fn vector_binary(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        what: Several,
    ) -> Lowered<Vec<Expr>> {
        let from = self.vector_of(lhs).ok_or("operand of another type")?;
        let left = self.parts(lhs)?;
        let right = self.vector_operand(op, rhs)?;
        if !is_comparison(op) {
            return match from == what {
                true => self.lanewise(op, left, right, what),
                false => Err("operand of another type".into()),
            };
        }
        let Scalar::Int { bits, .. } = what.scalar else { return Err("comparison of no lanes".into()) };
        if self.vector_of(rhs) != Some(from) || from.count != what.count {
            return Err("operand of another type".into());
        }
        let mut made = Vec::new();
        for (a, b) in left.into_iter().zip(right) {
            let holds = self.compare(op, from.scalar, a, b).ok_or("operator that is not modelled")?;
            let mask = apply(Op::Ite, vec![holds, Expr::bv(bits, -1), Expr::bv(bits, 0)], false);
            made.push(self.settled_part(mask, what));
        }
        Ok(made)
    }

    /// Evaluates the right side of an operator. Counts of shifts are brought to one signedness and stay as
    /// wide as they are.
    pub fn vector_operand(&mut self, op: BinaryOp, e: ExprId) -> Lowered<Vec<Expr>> {
        let what = self.vector_of(e).ok_or("operand of another type")?;
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) && what.scalar.is_float() {
            return Err("operator that is not modelled".into());
        }
        self.parts(e)
    }

    /// `left op right` in every lane.
    pub fn lanewise(
        &mut self,
        op: BinaryOp,
        left: Vec<Expr>,
        right: Vec<Expr>,
        what: Several,
    ) -> Lowered<Vec<Expr>> {
        if left.len() != what.count || right.len() != what.count {
            return Err("value of another length".into());
        }
        let mut made = Vec::new();
        for (a, b) in left.into_iter().zip(right) {
            let value = match what.scalar {
                Scalar::Int { bits, signed } => self.on_lanes(op, a, b, bits, signed)?,
                scalar => self.arithmetic(op, scalar, a, b).ok_or("operator that is not modelled")?,
            };
            made.push(self.settled_part(value, what));
        }
        Ok(made)
    }

    fn on_lanes(&self, op: BinaryOp, a: Expr, b: Expr, bits: u16, signed: bool) -> Lowered<Expr> {
        let narrow = bits < 32;
        let op = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::BitAnd => Op::BitAnd,
            BinaryOp::BitOr => Op::BitOr,
            BinaryOp::BitXor => Op::BitXor,
            BinaryOp::Div | BinaryOp::Rem if narrow => return Err("division of narrow lanes".into()),
            BinaryOp::Div if signed => Op::SDiv,
            BinaryOp::Div => Op::UDiv,
            BinaryOp::Rem if signed => Op::SRem,
            BinaryOp::Rem => Op::URem,
            BinaryOp::Shl | BinaryOp::Shr => {
                let have = self.sort_of(&b).bits().unwrap_or(bits);
                let in_range = matches!(&b, Expr::Const(c)
                    if c.signed().is_some_and(|n| (0..i128::from(bits)).contains(&n)));
                if !in_range && (narrow || have != bits) {
                    return Err("shift of lanes by a count that is not known".into());
                }
                let b = match &b {
                    Expr::Const(c) => Expr::Const(Const::bv(bits, c.signed().unwrap_or(0))),
                    _ => resize(b, have, bits, false),
                };
                let shift = match (op, signed) {
                    (BinaryOp::Shl, _) => Op::Shl,
                    (_, true) => Op::AShr,
                    _ => Op::LShr,
                };
                return Ok(apply(shift, vec![a, b], false));
            }
            _ => return Err("operator that is not modelled".into()),
        };
        Ok(apply(op, vec![a, b], false))
    }

    /// The place of a lane.
    pub fn lane(&mut self, vector: ExprId, index: ExprId) -> Lowered<Lvalue> {
        let what = self.vector_of(vector).ok_or("lane of no vector")?;
        let ty = self.unit.tast[vector].ty;
        if self.unit.is_volatile(ty) {
            return self.no_value(ty);
        }
        let base = match self.unit.tast[vector].category {
            Category::Lvalue => self.address(vector)?,
            _ => self.object_of_parts(vector)?,
        };
        let from = self.scalar_of(index)?;
        let value = self.value(index)?;
        Ok(Lvalue::Memory { addr: self.step(base, what.part, value, from, false)? })
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge)
}
