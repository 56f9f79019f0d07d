//! Values of several scalars: complex numbers, which are two halves, and vectors, which are lanes.
//!
//! No operator of the IR takes such a value, so it is lowered part by part. An object lies in memory, its parts
//! one after the other; a value is the list of its parts, each a constant or a temporary, so that using a part
//! twice costs nothing and no later effect reaches into it. What operators do with the parts is said in
//! [`super::complex`] and [`super::vectors`]; here is what both have in common: reading, writing, copying,
//! choosing, passing. A type that is not listed in [`UnitCx::several`] has no value that is modelled.
//!
//! Objects are copied as bytes where nothing is computed, for a half that was never written may be copied.

use super::arith::offset;
use super::function::{FnCx, Lowered};
use super::places::Lvalue;
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{Const, Expr, Instr, VarKind};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Const as Folded, ConstId, Conversion, ExprId, ExprKind, StmtId};
use rucc_types::{TypeId, TypeKind};

/// Lanes beyond which a vector is left alone: every operation is written out for each.
const MAX_LANES: u32 = 64;

/// A type whose values are several scalars of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Several {
    pub is_vector: bool,
    /// Type of a half or a lane.
    pub part: TypeId,
    pub scalar: Scalar,
    pub count: usize,
    /// Bytes from one part to the next.
    pub stride: u64,
}

impl UnitCx<'_> {
    /// Returns what the values of a complex or vector type are made of, `None` for other types and for
    /// those that are not modelled.
    pub fn several(&self, ty: TypeId) -> Option<Several> {
        let (is_vector, part, count) = match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Complex(part) => (false, part, 2),
            TypeKind::Vector { elem, len } if len <= MAX_LANES => (true, elem, len as usize),
            TypeKind::Typedef { underlying, .. } => return self.several(underlying),
            _ => return None,
        };
        let Shape::Scalar(scalar) = self.shape(part) else { return None };
        match scalar {
            Scalar::Bool | Scalar::Pointer => return None,
            Scalar::F80 if is_vector => return None,
            _ => {}
        }
        let stride = self.size_of(part)?;
        (self.size_of(ty)? == stride * count as u64).then_some(Several {
            is_vector,
            part,
            scalar,
            count,
            stride,
        })
    }
}

impl FnCx<'_, '_> {
    /// Returns what the value of an expression is made of.
    pub fn several_of(&self, e: ExprId) -> Option<Several> {
        self.unit.several(self.unit.tast[e].ty)
    }

    /// Returns what the value of an expression is made of, if that is halves.
    pub fn complex_of(&self, e: ExprId) -> Option<Several> {
        self.several_of(e).filter(|what| !what.is_vector)
    }

    /// Returns what the value of an expression is made of, if that is lanes.
    pub fn vector_of(&self, e: ExprId) -> Option<Several> {
        self.several_of(e).filter(|what| what.is_vector)
    }

    pub fn no_value<T>(&self, ty: TypeId) -> Lowered<T> {
        Err(format!("value of type {}", self.unit.spell(ty)).into())
    }

    /// Evaluates a complex number or a vector.
    pub fn parts(&mut self, e: ExprId) -> Lowered<Vec<Expr>> {
        let expr = self.unit.tast[e];
        let Some(what) = self.unit.several(expr.ty) else { return self.no_value(expr.ty) };
        match expr.kind {
            ExprKind::Const(c) => self.constant_parts(c, what),
            ExprKind::Convert { kind: Conversion::Lvalue, operand } => self.read_parts(operand),
            ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => match what.is_vector {
                true => self.vector_conversion(operand, what),
                false => self.complex_conversion(operand, what),
            },
            ExprKind::Decl(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Unary { op: UnaryOp::Deref, .. } => self.read_parts(e),
            ExprKind::Unary { op: UnaryOp::Plus, operand } => self.parts(operand),
            ExprKind::Unary { op, operand } => match super::exprs::step_of(op) {
                Some((negative, post)) => self.step_parts(operand, negative, post),
                None => match what.is_vector {
                    true => self.vector_unary(op, operand, what),
                    false => self.complex_unary(op, operand, what),
                },
            },
            ExprKind::Binary { op, lhs, rhs } => match what.is_vector {
                true => self.vector_binary(op, lhs, rhs, what),
                false => self.complex_binary(op, lhs, rhs, what),
            },
            ExprKind::Assign { op: None, lhs, rhs, .. } => {
                let addr = self.assign_parts(lhs, rhs)?;
                self.load_parts(&addr, what)
            }
            ExprKind::Assign { op: Some(op), computation, lhs, rhs } => {
                self.compound_parts(op, computation, lhs, rhs)
            }
            ExprKind::Call { callee, args } => {
                let object = self.temp_object(expr.ty);
                let addr = self.addr_of(object);
                self.known_callee(callee)?;
                self.call(e, callee, args, None, Some(addr.clone()))?;
                self.load_parts(&addr, what)
            }
            ExprKind::Cond { cond, then, otherwise } => self.choose_parts(cond, then, otherwise, what),
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.parts(rhs)
            }
            ExprKind::StmtExpr(body) => self.parts_of_statements(body, what),
            ExprKind::Complex { real, imag } => {
                let mut made = Vec::new();
                for half in [real, imag] {
                    let from = self.scalar_of(half)?;
                    let value = self.value(half)?;
                    let value = self.convert(value, from, what.scalar);
                    made.push(self.settled_part(value, what));
                }
                Ok(made)
            }
            ExprKind::Error => Err(super::errors::ERRORS.into()),
            _ => self.no_value(expr.ty),
        }
    }

    /// Evaluates a complex number or a vector for its effects.
    pub fn effect_of_parts(&mut self, e: ExprId) -> Lowered<()> {
        match self.unit.tast[e].kind {
            ExprKind::Assign { op: None, lhs, rhs, .. } => self.assign_parts(lhs, rhs).map(|_| ()),
            _ => self.parts(e).map(|_| ()),
        }
    }

    /// Evaluates a complex number or a vector and returns the address of its bytes.
    pub fn object_of_parts(&mut self, e: ExprId) -> Lowered<Expr> {
        let object = self.temp_object(self.unit.tast[e].ty);
        let addr = self.addr_of(object);
        self.initialise_parts(addr.clone(), e)?;
        Ok(addr)
    }

    /// Evaluates a complex number or a vector into an object of its type.
    pub fn initialise_parts(&mut self, addr: Expr, e: ExprId) -> Lowered<()> {
        let ty = self.unit.tast[e].ty;
        let Some(what) = self.unit.several(ty) else { return self.no_value(ty) };
        if let ExprKind::Convert { kind: Conversion::Lvalue, operand } = self.unit.tast[e].kind
            && self.several_of(operand) == Some(what)
        {
            let source = self.address_of_parts(operand)?;
            return self.copy(addr, source, ty);
        }
        let parts = self.parts(e)?;
        self.store_parts(&addr, what, parts)
    }

    fn constant_parts(&mut self, c: ConstId, what: Several) -> Lowered<Vec<Expr>> {
        let sort = what.scalar.sort(self.unit.pointer);
        let made: Option<Vec<Const>> = match (self.unit.tast[c], sort.is_float(), sort.bits()) {
            (Folded::Complex { real, imag }, true, _) => {
                [real, imag].iter().map(|half| Const::from_bits(sort, half.to_bits())).collect()
            }
            (Folded::ComplexInt { real, imag }, false, Some(bits)) => {
                Some(vec![Const::bv(bits, real), Const::bv(bits, imag)])
            }
            _ => None,
        };
        let made = made.filter(|_| !what.is_vector).ok_or("constant that is not modelled")?;
        Ok(made.into_iter().map(Expr::Const).collect())
    }

    /// Returns where the object of an lvalue is. One that may change from outside is left alone: how many
    /// accesses it takes is not known.
    fn address_of_parts(&mut self, e: ExprId) -> Lowered<Expr> {
        let ty = self.unit.tast[e].ty;
        if self.unit.is_volatile(ty) || self.unit.several(ty).is_none() {
            return self.no_value(ty);
        }
        self.address(e)
    }

    fn read_parts(&mut self, e: ExprId) -> Lowered<Vec<Expr>> {
        let ty = self.unit.tast[e].ty;
        let Some(what) = self.unit.several(ty) else { return self.no_value(ty) };
        let addr = self.address_of_parts(e)?;
        self.load_parts(&addr, what)
    }

    /// Returns the place of a part of an object.
    pub fn part_at(&self, addr: &Expr, index: usize, what: Several) -> Lvalue {
        let bytes = what.stride as i128 * index as i128;
        Lvalue::Memory { addr: offset(addr.clone(), bytes, self.unit.pointer) }
    }

    fn load_parts(&mut self, addr: &Expr, what: Several) -> Lowered<Vec<Expr>> {
        (0..what.count).map(|i| self.load(&self.part_at(addr, i, what), what.part, None)).collect()
    }

    fn store_parts(&mut self, addr: &Expr, what: Several, parts: Vec<Expr>) -> Lowered<()> {
        if parts.len() != what.count {
            return Err("value of another length".into());
        }
        for (i, part) in parts.into_iter().enumerate() {
            self.store(&self.part_at(addr, i, what), what.part, part)?;
        }
        Ok(())
    }

    /// Keeps a part in a temporary, unless it is one or a constant.
    pub fn settled_part(&mut self, value: Expr, what: Several) -> Expr {
        let settled = match &value {
            Expr::Const(_) => true,
            Expr::Var(v) => self.variables.all.get(v.0 as usize).is_some_and(|v| v.kind == VarKind::Temp),
            _ => false,
        };
        if settled {
            return value;
        }
        let kept = self.temp(what.scalar, what.part);
        self.assign(kept, value);
        Expr::Var(kept)
    }

    pub fn settled_parts(&mut self, values: Vec<Expr>, what: Several) -> Vec<Expr> {
        values.into_iter().map(|v| self.settled_part(v, what)).collect()
    }

    fn assign_parts(&mut self, lhs: ExprId, rhs: ExprId) -> Lowered<Expr> {
        let addr = self.address_of_parts(lhs)?;
        if self.several_of(lhs) != self.several_of(rhs) {
            return Err("assignment of another type".into());
        }
        self.initialise_parts(addr.clone(), rhs)?;
        Ok(addr)
    }

    fn compound_parts(
        &mut self,
        op: BinaryOp,
        computation: TypeId,
        lhs: ExprId,
        rhs: ExprId,
    ) -> Lowered<Vec<Expr>> {
        let ty = self.unit.tast[lhs].ty;
        let (Some(what), Some(wide)) = (self.unit.several(ty), self.unit.several(computation)) else {
            return self.no_value(ty);
        };
        let addr = self.address_of_parts(lhs)?;
        let result = match what.is_vector {
            true => {
                // The right side may change the object through a call: read it after.
                let right = self.vector_operand(op, rhs)?;
                let left = self.load_parts(&addr, what)?;
                self.lanewise(op, left, right, what)?
            }
            false => {
                let right = self.complex_operand(rhs, wide)?;
                let left = self.load_parts(&addr, what)?;
                let left = self.converted_halves(left, what, wide);
                let result = self.complex_arithmetic(op, left, right, wide)?;
                self.converted_halves(result, wide, what)
            }
        };
        self.store_parts(&addr, what, result.clone())?;
        Ok(result)
    }

    /// `++` and `--`: of a complex number they step the real half, of a vector every lane.
    fn step_parts(&mut self, operand: ExprId, negative: bool, post: bool) -> Lowered<Vec<Expr>> {
        let ty = self.unit.tast[operand].ty;
        let Some(what) = self.unit.several(ty) else { return self.no_value(ty) };
        let sort = what.scalar.sort(self.unit.pointer);
        let one = Const::of_f64(sort, 1.0).or_else(|| sort.bits().map(|bits| Const::bv(bits, 1)));
        let one = Expr::Const(one.ok_or("step of no number")?);
        let op = if negative { BinaryOp::Sub } else { BinaryOp::Add };
        let addr = self.address_of_parts(operand)?;
        let old = self.load_parts(&addr, what)?;
        let new = match what.is_vector {
            true => self.lanewise(op, old.clone(), vec![one; what.count], what)?,
            false => {
                let one = super::complex::Operand::Real(one);
                self.complex_arithmetic(op, old.clone(), one, what)?
            }
        };
        self.store_parts(&addr, what, new.clone())?;
        Ok(if post { old } else { new })
    }

    fn choose_parts(
        &mut self,
        cond: ExprId,
        then: ExprId,
        otherwise: ExprId,
        what: Several,
    ) -> Lowered<Vec<Expr>> {
        self.share(cond, then)?;
        if self.several_of(then) != self.several_of(otherwise) {
            return Err("unusual choice between values of several parts".into());
        }
        let chosen: Vec<_> = (0..what.count).map(|_| self.temp(what.scalar, what.part)).collect();
        let chosen = &chosen;
        let arm = |x: ExprId| {
            move |cx: &mut Self| {
                let parts = cx.parts(x)?;
                chosen.iter().zip(parts).for_each(|(dst, value)| cx.assign(*dst, value));
                Ok(())
            }
        };
        self.choose(cond, arm(then), arm(otherwise))?;
        Ok(chosen.iter().map(|v| Expr::Var(*v)).collect())
    }

    fn parts_of_statements(&mut self, body: StmtId, what: Several) -> Lowered<Vec<Expr>> {
        match self.statement_expression(body, true)? {
            Some(addr) => self.load_parts(&addr, what),
            None => Err("statement expression without a value".into()),
        }
    }

    /// Such values are passed to and returned by functions of this unit only: what a library does with them is
    /// not known, nor what arrives where no parameter is declared.
    pub fn known_callee(&self, callee: ExprId) -> Lowered<()> {
        let of_this_unit = self.unit.called_by_name(callee).filter(|d| {
            let decl = &self.unit.tast[*d];
            let fixed = match self.unit.types.kind(self.unit.types.canonical(decl.ty)) {
                TypeKind::Function(f) => {
                    let signature = self.unit.types.signature(f);
                    signature.prototyped && !signature.variadic
                }
                _ => false,
            };
            decl.body.is_some() && fixed && !self.unit.is_nested(*d)
        });
        match of_this_unit {
            Some(_) => Ok(()),
            None => Err("call of what is not of this unit with a complex number or a vector".into()),
        }
    }

    /// Emits the two ways of a condition; `work` is what happens where it holds.
    pub fn where_true(&mut self, cond: Expr, work: impl FnOnce(&mut Self)) {
        match cond {
            Expr::Const(Const::Bool(false)) => {}
            Expr::Const(Const::Bool(true)) => work(self),
            cond => {
                let (yes, no) = self.emit_branch(cond);
                self.graph.frontier = vec![yes];
                work(self);
                self.graph.frontier.push(no);
            }
        }
    }

    /// Declares an object and gives it its first value. Lanes that are not listed are zero.
    pub fn declare_parts(
        &mut self,
        var: crate::ir::VarId,
        ty: TypeId,
        entries: &[rucc_sema::InitEntry],
    ) -> Lowered<()> {
        if self.unit.is_volatile(ty) {
            return self.no_value(ty);
        }
        let addr = self.addr_of(var);
        match entries {
            [entry] if entry.offset == 0 && self.several_of(entry.value) == self.unit.several(ty) => {
                self.initialise_parts(addr, entry.value)
            }
            _ => {
                let bytes = self.unit.size_of(ty).ok_or("object of unknown size")?;
                self.emit(Instr::Zero { dst: addr.clone(), bytes });
                self.initialise_each(addr, bytes, entries)
            }
        }
    }
}
