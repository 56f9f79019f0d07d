//! Expressions: values, effects, conditions, calls.
//!
//! Evaluation follows C's sequence points; where C leaves the order open, operands go left to right,
//! which cannot be told apart from another order unless effects conflict ([`super::sequencing`]).

use super::arith::{apply, not};
use super::function::{BUILTIN_SETJMP, Edge, FnCx, Lowered, VFORK};
use super::places::Lvalue;
use super::sequencing;
use super::types::{Scalar, Shape};
use super::unit::ASSERT_OFF;
use crate::ir::{Callee, Const, Expr, Instr, Op, RETURNS_TWICE, Settled, Sort, VarId};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Const as Folded, Conversion, DeclKind, ExprId, ExprKind, ExprList, JumpAsk, Sign, StmtId};
use rucc_types::TypeId;

impl FnCx<'_, '_> {
    /// Evaluates a full expression for its effects; a part that is not modelled becomes `Unknown`.
    pub fn full_effect(&mut self, e: ExprId) {
        self.guarded(e, |cx| cx.effect(e), |_| Vec::new());
    }

    /// Evaluates a full expression for its value, which is some value where it is not modelled.
    pub fn full_value(&mut self, e: ExprId) -> Expr {
        let mut any = None;
        let known = self.guarded(
            e,
            |cx| cx.value(e),
            |cx| {
                let made = cx.any_value(e);
                any = Some(Expr::Var(made));
                vec![made]
            },
        );
        known.or(any).unwrap_or(Expr::bv(32, 0))
    }

    /// Evaluates for effects only.
    pub fn effect(&mut self, e: ExprId) -> Lowered<()> {
        let expr = self.unit.tast[e];
        match expr.kind {
            _ if self.variables.shared.contains_key(&e) => Ok(()),
            ExprKind::Convert { operand, .. } | ExprKind::Cast(operand)
                if matches!(self.unit.shape(expr.ty), Shape::Void)
                    || !sequencing::has_effects(self.unit.tast, operand) =>
            {
                self.effect(operand)
            }
            ExprKind::Call { callee, args } => self.call(e, callee, args, None, None),
            ExprKind::Unary { op, .. } if step_of(op).is_some() && self.several_of(e).is_some() => {
                self.effect_of_parts(e)
            }
            ExprKind::Unary { op, operand } if step_of(op).is_some() => {
                self.step_object(operand, op, false).map(|_| ())
            }
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.effect(rhs)
            }
            ExprKind::Cond { cond, then, otherwise } => {
                self.share(cond, then)?;
                self.choose(cond, |cx| cx.effect(then), |cx| cx.effect(otherwise))
            }
            ExprKind::Binary { op: BinaryOp::LogAnd, lhs, rhs } => {
                self.choose(lhs, |cx| cx.effect(rhs), |_| Ok(()))
            }
            ExprKind::Binary { op: BinaryOp::LogOr, lhs, rhs } => {
                self.choose(lhs, |_| Ok(()), |cx| cx.effect(rhs))
            }
            ExprKind::StmtExpr(body) => self.statement_expression(body, false).map(|_| ()),
            ExprKind::Unreachable | ExprKind::Trap => self.value(e).map(|_| ()),
            ExprKind::VaStart { list } => {
                self.variable_arguments("__builtin_va_start", &[list], None).map(|_| ())
            }
            ExprKind::VaEnd { list } => {
                self.variable_arguments("__builtin_va_end", &[list], None).map(|_| ())
            }
            ExprKind::VaCopy { dst, src } => {
                self.variable_arguments("__builtin_va_copy", &[dst, src], None).map(|_| ())
            }
            ExprKind::Atomic { op, args, .. } => self.atomic(op, args).map(|_| ()),
            ExprKind::Prefetch { address, .. } => self.effect(address),
            _ if !sequencing::has_effects(self.unit.tast, e) && !self.reads_volatile(e) => Ok(()),
            _ => match self.unit.shape(expr.ty) {
                Shape::Aggregate => self.aggregate(e).map(|_| ()),
                Shape::Opaque if self.several_of(e).is_some() => self.effect_of_parts(e),
                Shape::Function => Ok(()),
                _ => self.value(e).map(|_| ()),
            },
        }
    }

    /// Whether an object is read that may change from outside.
    fn reads_volatile(&self, e: ExprId) -> bool {
        let mut any = self.unit.is_volatile(self.unit.tast[e].ty);
        sequencing::for_each_operand(self.unit.tast, e, &mut |x| any |= self.reads_volatile(x));
        any
    }

    /// GNU's `a ?: b` has one expression at two places, which is evaluated once: where it has effects, its
    /// value is kept for both.
    pub fn share(&mut self, cond: ExprId, then: ExprId) -> Lowered<()> {
        let mut part = then;
        while !self.mentions(cond, part) {
            match self.unit.tast[part].kind {
                ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => part = operand,
                _ => return Ok(()),
            }
        }
        if self.variables.shared.contains_key(&part) || !sequencing::has_effects(self.unit.tast, part) {
            return Ok(());
        }
        let ty = self.unit.tast[part].ty;
        let scalar = self.scalar_type(ty)?;
        let value = self.value(part)?;
        let kept = self.temp(scalar, ty);
        self.assign(kept, value);
        self.variables.shared.insert(part, kept);
        Ok(())
    }

    /// Evaluates a scalar.
    pub fn value(&mut self, e: ExprId) -> Lowered<Expr> {
        if let Some(known) = self.variables.lengths.get(&e) {
            return Ok(known.clone());
        }
        if let Some(kept) = self.variables.shared.get(&e) {
            return Ok(Expr::Var(*kept));
        }
        let expr = self.unit.tast[e];
        match expr.kind {
            _ if self.several_of(e).is_some() => self.no_value(expr.ty),
            ExprKind::Const(c) => {
                let made = self.constant(c, expr.ty)?;
                let at = self.unit.tast.expr_span(e);
                if let Expr::Const(k) = &made {
                    self.note_size(e, u64::try_from(k.to_bits()).unwrap_or(0));
                }
                let is_line = |k: &Const| self.unit.spans.is_line_number(at, k.to_bits() as i128);
                let marked =
                    self.unit.line_numbers.contains(&e) || matches!(&made, Expr::Const(k) if is_line(k));
                Ok(if marked { made.marked_line_number() } else { made })
            }
            ExprKind::Convert { kind, operand } => self.conversion(kind, operand, expr.ty),
            ExprKind::Cast(operand) => {
                self.measure_type(expr.ty)?;
                let value = self.cast(operand, expr.ty)?;
                Ok(self.converted(value, operand, expr.ty))
            }
            ExprKind::Decl(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_) => self.read(e),
            ExprKind::Str(_) => self.address(e),
            ExprKind::Unary { op, operand } => self.unary(e, op, operand, expr.ty),
            ExprKind::Binary { op, lhs, rhs } => self.binary(e, op, lhs, rhs, expr.ty),
            ExprKind::Assign { op, computation, lhs, rhs } => self.assignment(op, computation, lhs, rhs),
            ExprKind::Call { callee, args } => {
                let scalar = self.scalar_of(e)?;
                let dst = self.temp(scalar, expr.ty);
                self.call(e, callee, args, Some(dst), None)?;
                Ok(Expr::Var(dst))
            }
            ExprKind::Cond { cond, then, otherwise } => self.conditional(e, cond, then, otherwise),
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.value(rhs)
            }
            ExprKind::StmtExpr(body) => self
                .statement_expression(body, true)?
                .ok_or_else(|| "statement expression without a value".into()),
            ExprKind::Expect { value, hint, .. } => {
                let later = sequencing::has_effects(self.unit.tast, hint);
                let made = self.value(value)?;
                let made = self.kept(made, value, later)?;
                self.effect(hint)?;
                Ok(made)
            }
            ExprKind::Abs { operand } => self.named_call("abs", &[operand], e),
            ExprKind::Classify { op, lhs, rhs } => self.classify(op, lhs, rhs, expr.ty),
            ExprKind::Sign { op: Sign::Clear, lhs, .. } => {
                let x = self.value(lhs)?;
                Ok(apply(Op::FAbs, vec![x], false))
            }
            ExprKind::Sign { op: Sign::Of, lhs, rhs: Some(rhs) } => {
                let (x, y) = (self.value(lhs)?, self.value(rhs)?);
                Ok(apply(Op::FCopysign, vec![x, y], false))
            }
            ExprKind::Unreachable => {
                self.emit_last(Instr::Unreachable);
                Ok(Expr::bv(32, 0))
            }
            ExprKind::Trap => {
                self.emit_last(Instr::Call {
                    dst: None,
                    callee: Callee::Direct("abort".into()),
                    args: Vec::new(),
                    arg_types: Vec::new(),
                    ret: crate::ir::CType::Void,
                    result_to: None,
                    noreturn: true,
                });
                Ok(Expr::bv(32, 0))
            }
            ExprKind::Error => Err(super::errors::ERRORS.into()),
            ExprKind::VaArg { list } => self.variable_arguments("__builtin_va_arg", &[list], Some(expr.ty)),
            ExprKind::LabelAddr(label) => Ok(self.label_address(label)),
            ExprKind::Atomic { op, args, .. } => Ok(self.atomic(op, args)?.unwrap_or(Expr::bv(32, 0))),
            ExprKind::Overflow { op, args, stores, .. } => self.overflow(op, args, stores),
            ExprKind::BitCount { operand, count } => self.bit_count(operand, count),
            ExprKind::ByteSwap { operand } => self.byte_swap(operand),
            ExprKind::FpClassify { value, answers } => self.fp_classify(value, answers),
            ExprKind::ObjectSize { address, kind } => self.object_size(address, kind, expr.ty),
            // What does not fold is no constant to a compiler that does not look further.
            ExprKind::ConstantP { .. } => Ok(Expr::bv(32, 0)),
            ExprKind::Prefetch { address, .. } => {
                self.effect(address)?;
                Ok(Expr::bv(32, 0))
            }
            ExprKind::Alloca { size } => self.named_call("alloca", &[size], e),
            ExprKind::Jump { ask: JumpAsk::Save, .. } => Err(BUILTIN_SETJMP.into()),
            ExprKind::Jump { .. } => Err("__builtin_longjmp".into()),
            _ => Err("builtin that is not modelled".into()),
        }
    }

    fn constant(&mut self, c: rucc_sema::ConstId, ty: TypeId) -> Lowered<Expr> {
        let scalar = self.scalar_type(ty)?;
        let sort = scalar.sort(self.unit.pointer);
        let made = match (self.unit.tast[c], sort) {
            (Folded::Int(i), Sort::Bv(w)) => Some(Const::bv(w, i)),
            (Folded::Int(i), s) if s.is_float() => Op::SToF(s).eval(&[Const::bv(128, i)]).ok(),
            (Folded::Float(f), s) if s.is_float() => Const::from_bits(sort, f.to_bits()),
            (Folded::Address(a), Sort::Bv(w)) => {
                let base = match a.base {
                    rucc_sema::Base::Absolute => return Ok(Expr::bv(w, a.offset)),
                    rucc_sema::Base::Str(s) => {
                        Expr::Addr(crate::ir::Object::Global(self.unit.string(s, None)))
                    }
                    rucc_sema::Base::Decl(d) => {
                        let Lvalue::Memory { addr } = self.object(d)? else {
                            return Err("address of a register".into());
                        };
                        addr
                    }
                    rucc_sema::Base::Label(label) => self.label_address(label),
                };
                return Ok(super::arith::offset(base, a.offset, w));
            }
            _ => None,
        };
        made.map(Expr::Const).ok_or_else(|| "constant that is not modelled".into())
    }

    fn read(&mut self, e: ExprId) -> Lowered<Expr> {
        let ty = self.unit.tast[e].ty;
        match self.unit.shape(ty) {
            Shape::Scalar(_) => {
                let place = self.place(e)?;
                self.load(&place, ty, None)
            }
            Shape::Opaque => Err(format!("value of type {}", self.unit.spell(ty)).into()),
            _ => self.address(e),
        }
    }

    fn conversion(&mut self, kind: Conversion, operand: ExprId, ty: TypeId) -> Lowered<Expr> {
        match kind {
            Conversion::Lvalue => self.read(operand),
            Conversion::ArrayDecay | Conversion::FunctionDecay => self.address(operand),
            Conversion::Bool => {
                let cond = self.condition_value(operand)?;
                match self.scalar_type(ty)? {
                    Scalar::Bool => Ok(super::arith::number(cond, 8)),
                    to => Ok(super::arith::number(cond, to.sort(self.unit.pointer).bits().unwrap_or(32))),
                }
            }
            Conversion::Void => {
                self.effect(operand)?;
                Ok(Expr::bv(32, 0))
            }
            Conversion::Broadcast | Conversion::Hardbool => Err("conversion that is not modelled".into()),
            Conversion::Arithmetic | Conversion::Pointer | Conversion::NullPointer => self.cast(operand, ty),
        }
    }

    fn cast(&mut self, operand: ExprId, ty: TypeId) -> Lowered<Expr> {
        if self.unit.shape(ty) == Shape::Void {
            self.effect(operand)?;
            return Ok(Expr::bv(32, 0));
        }
        let to = self.scalar_type(ty)?;
        let from = match self.complex_of(operand) {
            Some(_) if to == Scalar::Bool => to,
            Some(what) => return self.real_of_complex(operand, what, ty),
            None => self.scalar_of(operand)?,
        };
        if to == Scalar::Bool {
            let cond = self.condition_value(operand)?;
            return Ok(super::arith::number(cond, 8));
        }
        self.note_recast(operand, ty);
        let value = self.value(operand)?;
        Ok(self.convert(value, from, to))
    }

    fn unary(&mut self, e: ExprId, op: UnaryOp, operand: ExprId, ty: TypeId) -> Lowered<Expr> {
        match op {
            UnaryOp::Deref => self.read(e),
            UnaryOp::AddrOf => self.address(operand),
            UnaryOp::Real | UnaryOp::Imag => self.half(op, operand),
            UnaryOp::Plus => self.value(operand),
            UnaryOp::Not => {
                let cond = self.condition_value(e)?;
                let width = self.scalar_type(ty)?.sort(self.unit.pointer).bits().unwrap_or(32);
                Ok(super::arith::number(cond, width))
            }
            UnaryOp::Minus => {
                let scalar = self.scalar_type(ty)?;
                let x = self.value(operand)?;
                Ok(match scalar.is_float() {
                    true => apply(Op::FNeg, vec![x], false),
                    false => apply(Op::Neg, vec![x], scalar.is_signed()),
                })
            }
            UnaryOp::BitNot => {
                let x = self.value(operand)?;
                match self.scalar_type(ty)?.is_float() {
                    true => Err("complex conjugate".into()),
                    false => Ok(apply(Op::BitNot, vec![x], false)),
                }
            }
            UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                self.step_object(operand, op, true)
            }
        }
    }

    /// `++` and `--`. The old value is kept in a temporary only when it is asked for.
    fn step_object(&mut self, operand: ExprId, op: UnaryOp, wanted: bool) -> Lowered<Expr> {
        let (negative, post) = step_of(op).unwrap_or((false, false));
        let ty = self.unit.tast[operand].ty;
        let scalar = self.scalar_type(ty)?;
        let place = self.place(operand)?;
        let mut old = self.load(&place, ty, None)?;
        if wanted && post && matches!(place, Lvalue::Register(_)) {
            let kept = self.temp(scalar, ty);
            self.assign(kept, old);
            old = Expr::Var(kept);
        }
        let arith = if negative { BinaryOp::Sub } else { BinaryOp::Add };
        let new = match scalar {
            Scalar::Pointer => {
                let target = self.unit.target_of(ty).ok_or("arithmetic on no pointer")?;
                self.step(
                    old.clone(),
                    target,
                    Expr::bv(32, 1),
                    Scalar::Int { bits: 32, signed: true },
                    negative,
                )?
            }
            // Counting down from 0 gives -1, which is true again.
            Scalar::Bool if !negative => Expr::bv(8, 1),
            s => {
                let wide = s.promoted();
                let sort = wide.sort(self.unit.pointer);
                let one = Const::of_f64(sort, 1.0)
                    .map_or_else(|| Expr::bv(sort.bits().unwrap_or(32), 1), Expr::Const);
                let x = self.convert(old.clone(), s, wide);
                let sum = self.arithmetic(arith, wide, x, one).ok_or("operator that is not modelled")?;
                self.convert(sum, wide, s)
            }
        };
        let stored = self.store(&place, ty, new)?;
        Ok(if post { old } else { stored })
    }

    fn binary(&mut self, e: ExprId, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: TypeId) -> Lowered<Expr> {
        if matches!(op, BinaryOp::LogAnd | BinaryOp::LogOr) || is_comparison(op) {
            let cond = self.condition_value(e)?;
            let width = self.scalar_type(ty)?.sort(self.unit.pointer).bits().unwrap_or(32);
            return Ok(super::arith::number(cond, width));
        }
        let (left, right) = (self.scalar_of(lhs)?, self.scalar_of(rhs)?);
        match (op, left, right) {
            (BinaryOp::Add | BinaryOp::Sub, Scalar::Pointer, r) if r != Scalar::Pointer => {
                let pointer = self.value(lhs)?;
                self.element(pointer, lhs, rhs, op == BinaryOp::Sub)
            }
            (BinaryOp::Add, l, Scalar::Pointer) if l != Scalar::Pointer => {
                let index = self.value(lhs)?;
                let target = self.unit.target_of(self.unit.tast[rhs].ty).ok_or("arithmetic on no pointer")?;
                let pointer = self.value(rhs)?;
                self.step(pointer, target, index, l, false)
            }
            (BinaryOp::Sub, Scalar::Pointer, Scalar::Pointer) => {
                let target = self.unit.target_of(self.unit.tast[lhs].ty).ok_or("arithmetic on no pointer")?;
                let size = self.stride(target)?;
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                let bytes = apply(Op::Sub, vec![a, b], false);
                Ok(match size {
                    Expr::Const(c) if c.to_bits() == 1 => bytes,
                    size => apply(Op::SDiv, vec![bytes, size], false),
                })
            }
            _ => {
                let scalar = self.scalar_type(ty)?;
                let a = self.value(lhs)?;
                let mut b = self.value(rhs)?;
                if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    b = self.shift_count(b, right, scalar);
                }
                self.arithmetic(op, scalar, a, b).ok_or_else(|| "operator that is not modelled".into())
            }
        }
    }

    fn assignment(
        &mut self,
        op: Option<BinaryOp>,
        computation: TypeId,
        lhs: ExprId,
        rhs: ExprId,
    ) -> Lowered<Expr> {
        let ty = self.unit.tast[lhs].ty;
        let Some(op) = op else {
            // A call's result goes straight into a register.
            if let Some(value) = self.assign_call(lhs, rhs)? {
                return Ok(value);
            }
            let place = self.place(lhs)?;
            let value = self.value(rhs)?;
            return self.store(&place, ty, value);
        };
        if let Some(wide) = self.unit.several(computation) {
            return self.compound_real(op, lhs, rhs, wide);
        }
        let scalar = self.scalar_type(ty)?;
        let place = self.place(lhs)?;
        // The right side may change the object through a call: read it after.
        let right_type = self.scalar_of(rhs)?;
        let right = self.value(rhs)?;
        let old = self.load(&place, ty, None)?;
        if scalar == Scalar::Pointer {
            let target = self.unit.target_of(ty).ok_or("arithmetic on no pointer")?;
            let new = self.step(old, target, right, right_type, op == BinaryOp::Sub)?;
            return self.store(&place, ty, new);
        }
        let wide = self.scalar_type(computation)?;
        let a = self.convert(old, scalar, wide);
        let b = match op {
            BinaryOp::Shl | BinaryOp::Shr => self.shift_count(right, right_type, wide),
            _ => self.convert(right, right_type, wide),
        };
        let result = self.arithmetic(op, wide, a, b).ok_or("operator that is not modelled")?;
        let narrowed = self.convert(result, wide, scalar);
        self.store(&place, ty, narrowed)
    }

    /// `x = f(...)` for a register of the result's own type.
    fn assign_call(&mut self, lhs: ExprId, rhs: ExprId) -> Lowered<Option<Expr>> {
        let (ExprKind::Decl(d), ExprKind::Call { callee, args }) =
            (self.unit.tast[lhs].kind, self.unit.tast[rhs].kind)
        else {
            return Ok(None);
        };
        let Some(var) = self.register_of(d) else { return Ok(None) };
        if self.scalar_of(lhs)? != self.scalar_of(rhs)? {
            return Ok(None);
        }
        self.call(rhs, callee, args, Some(var), None)?;
        Ok(Some(Expr::Var(var)))
    }

    fn conditional(&mut self, e: ExprId, cond: ExprId, then: ExprId, otherwise: ExprId) -> Lowered<Expr> {
        self.share(cond, then)?;
        let ty = self.unit.tast[e].ty;
        let scalar = self.scalar_type(ty)?;
        let pure = |cx: &Self, x| !sequencing::has_effects(cx.unit.tast, x);
        // Two constants under a pure condition need no branches.
        if pure(self, cond)
            && let (ExprKind::Const(a), ExprKind::Const(b)) =
                (self.unit.tast[then].kind, self.unit.tast[otherwise].kind)
            && !self.short_circuits(cond)
        {
            let cond = self.condition_value(cond)?;
            let (a, b) = (self.constant(a, ty)?, self.constant(b, ty)?);
            return Ok(apply(Op::Ite, vec![cond, a, b], false));
        }
        let dst = self.temp(scalar, ty);
        let arm = |x: ExprId| {
            move |cx: &mut Self| {
                let value = cx.value(x)?;
                cx.assign(dst, value);
                Ok(())
            }
        };
        self.choose(cond, arm(then), arm(otherwise))?;
        Ok(Expr::Var(dst))
    }

    /// Lowers the two arms of a condition and joins them.
    pub fn choose(
        &mut self,
        cond: ExprId,
        then: impl FnOnce(&mut Self) -> Lowered<()>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let (yes, no) = self.branch_on(cond)?;
        self.graph.frontier = yes;
        then(self)?;
        let mut done = self.take_frontier();
        self.graph.frontier = no;
        otherwise(self)?;
        self.graph.frontier.append(&mut done);
        Ok(())
    }

    /// Whether an expression is, or has as a part, another one (the same node of the tree).
    fn mentions(&self, e: ExprId, part: ExprId) -> bool {
        let mut any = e == part;
        sequencing::for_each_operand(self.unit.tast, e, &mut |x| any |= self.mentions(x, part));
        any
    }

    /// Whether evaluating the condition needs branches of its own.
    fn short_circuits(&self, e: ExprId) -> bool {
        let mut any = matches!(
            self.unit.tast[e].kind,
            ExprKind::Binary { op: BinaryOp::LogAnd | BinaryOp::LogOr, .. }
                | ExprKind::Cond { .. }
                | ExprKind::StmtExpr(_)
        );
        sequencing::for_each_operand(self.unit.tast, e, &mut |x| any |= self.short_circuits(x));
        any
    }

    /// Lowers a condition to branches; returns the edges on which it is true and false.
    pub fn branch_on(&mut self, e: ExprId) -> Lowered<(Vec<Edge>, Vec<Edge>)> {
        let expr = self.unit.tast[e];
        match expr.kind {
            _ if self.variables.shared.contains_key(&e) => {
                let cond = self.condition_value(e)?;
                let (yes, no) = self.emit_branch(cond);
                Ok((vec![yes], vec![no]))
            }
            ExprKind::Convert { kind: Conversion::Bool, operand } => self.branch_on(operand),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let (yes, no) = self.branch_on(operand)?;
                Ok((no, yes))
            }
            ExprKind::Binary { op: BinaryOp::LogAnd, lhs, rhs } => {
                let (yes, mut no) = self.branch_on(lhs)?;
                self.graph.frontier = yes;
                let (yes, more) = self.branch_on(rhs)?;
                no.extend(more);
                Ok((yes, no))
            }
            ExprKind::Binary { op: BinaryOp::LogOr, lhs, rhs } => {
                let (mut yes, no) = self.branch_on(lhs)?;
                self.graph.frontier = no;
                let (more, no) = self.branch_on(rhs)?;
                yes.extend(more);
                Ok((yes, no))
            }
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs)?;
                self.branch_on(rhs)
            }
            ExprKind::Expect { value, hint, .. } if !sequencing::has_effects(self.unit.tast, hint) => {
                self.branch_on(value)
            }
            _ => {
                let cond = self.condition_value(e)?;
                if let Expr::Const(Const::Bool(known)) = cond {
                    let here = self.take_frontier();
                    return Ok(if known { (here, Vec::new()) } else { (Vec::new(), here) });
                }
                let (yes, no) = self.emit_branch(cond);
                Ok((vec![yes], vec![no]))
            }
        }
    }

    /// Evaluates `e != 0` as a truth value.
    pub fn condition_value(&mut self, e: ExprId) -> Lowered<Expr> {
        if let Some(kept) = self.variables.shared.get(&e) {
            return Ok(self.nonzero(Expr::Var(*kept)));
        }
        let expr = self.unit.tast[e];
        match expr.kind {
            ExprKind::Convert { kind: Conversion::Bool, operand } => self.condition_value(operand),

            ExprKind::Unary { op: UnaryOp::Not, operand } => Ok(not(self.condition_value(operand)?)),
            ExprKind::Binary { op: BinaryOp::LogAnd | BinaryOp::LogOr, .. } => {
                let dst = self.temp(Scalar::Bool, expr.ty);
                let (yes, no) = self.branch_on(e)?;
                self.graph.frontier = yes;
                self.assign(dst, Expr::bv(8, 1));
                let mut done = self.take_frontier();
                self.graph.frontier = no;
                self.assign(dst, Expr::bv(8, 0));
                self.graph.frontier.append(&mut done);
                Ok(self.nonzero(Expr::Var(dst)))
            }
            ExprKind::Binary { op, lhs, rhs } if is_comparison(op) => {
                if let Some(what) = self.complex_of(lhs) {
                    return self.complex_equality(op, lhs, rhs, what);
                }
                let (ta, tb) = (self.scalar_of(lhs)?, self.scalar_of(rhs)?);
                let a = self.value(lhs)?;
                let b = self.value(rhs)?;
                // A pointer against a null constant, or operands that the checker left apart.
                let p = self.unit.pointer;
                let width = |s: Scalar| s.sort(p);
                let b = if width(ta) == width(tb) { b } else { self.convert(b, tb, ta) };
                self.compare(op, ta, a, b).ok_or_else(|| "operator that is not modelled".into())
            }
            _ if self.complex_of(e).is_some() => self.complex_truth(e),
            _ => {
                let value = self.value(e)?;
                Ok(self.nonzero(value))
            }
        }
    }

    /// Lowers a call; the scalar result goes to `dst`, an aggregate one to `result_to`.
    pub fn call(
        &mut self,
        e: ExprId,
        callee: ExprId,
        args: ExprList,
        dst: Option<VarId>,
        result_to: Option<Expr>,
    ) -> Lowered<()> {
        if let Some(function) = self.unit.called_by_name(callee).filter(|d| self.unit.is_nested(*d)) {
            let result = self.nested_call(function, args)?;
            if let (Some(dst), Some(result)) = (dst, result) {
                self.assign(dst, Expr::Var(result));
            }
            return Ok(());
        }
        let ret = self.unit.tast[e].ty;
        let function = callee;
        let (callee, noreturn) = self.callee(callee)?;
        let mut returns_twice = false;
        if let Callee::Direct(name) = &callee {
            // `longjmp` is left by not returning; where it arrives, `setjmp` is what is not known.
            returns_twice = matches!(&**name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp");
            if &**name == VFORK {
                return Err(VFORK.into());
            }
            if &**name == "__builtin_LINE" {
                // Other than `__LINE__`, it is seldom only handed on.
                let at = self.unit.tast.expr_span(e);
                return Err(format!("{name}() in line {}", self.unit.spans.span(at).line).into());
            }
        }
        let list: Vec<ExprId> = self.unit.tast[args].to_vec();
        if matches!(&callee, Callee::Direct(name) if **name == *ASSERT_OFF) {
            return self.compiled_out(&list);
        }
        let mut values = Vec::new();
        let mut types = Vec::new();
        for (i, &arg) in list.iter().enumerate() {
            let ty = self.unit.tast[arg].ty;
            let value = match self.unit.shape(ty) {
                Shape::Aggregate => {
                    let source = self.aggregate(arg)?;
                    let object = self.temp_object(ty);
                    let addr = self.addr_of(object);
                    self.copy(addr.clone(), source, ty)?;
                    addr
                }
                _ if self.unit.several(ty).is_some() => {
                    self.known_callee(function)?;
                    self.object_of_parts(arg)?
                }
                _ => {
                    let value = self.argument(&callee, arg)?;
                    // A later argument's effects must not reach into this one.
                    let later = list[i + 1..].iter().any(|&a| sequencing::has_effects(self.unit.tast, a));
                    self.kept(value, arg, later)?
                }
            };
            values.push(value);
            types.push(self.unit.ctype(ty));
        }
        let dst = dst.filter(|_| !noreturn);
        let ret = self.unit.ctype(ret);
        let instr = Instr::Call { dst, callee, args: values, arg_types: types, ret, result_to, noreturn };
        if noreturn {
            self.emit_last(instr);
        } else {
            self.emit(instr);
        }
        if returns_twice {
            // What else it writes is known at the end of the function.
            let (reason, writes) = (RETURNS_TWICE.into(), dst.into_iter().collect());
            let (text, reads) = (RETURNS_TWICE.into(), Vec::new());
            self.emit(Instr::Unknown { reason, text, reads, writes, anything: true, skips: false });
        }
        Ok(())
    }

    /// An assertion that `NDEBUG` switches off: nothing happens, and that is known.
    fn compiled_out(&mut self, args: &[ExprId]) -> Lowered<()> {
        let [text] = args else { return Err("assertion without its text".into()) };
        let mut e = *text;
        while let ExprKind::Convert { operand, .. } = self.unit.tast[e].kind {
            e = operand;
        }
        if let ExprKind::Str(s) = self.unit.tast[e].kind {
            let bytes = self.unit.tast[s].bytes(self.unit.target);
            let text = String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(&bytes)).into();
            self.found.settled.push(Settled { line: self.statements.span.line, text, compiled_out: true });
        }
        Ok(())
    }

    /// Copies a value that reads variables into a temporary when later effects may change them.
    pub fn kept(&mut self, value: Expr, e: ExprId, later: bool) -> Lowered<Expr> {
        let mut reads = false;
        value.for_each_var(&mut |v| {
            reads |= self.variables.all[v.0 as usize].kind != crate::ir::VarKind::Temp
        });
        if !(later && reads) {
            return Ok(value);
        }
        let ty = self.unit.tast[e].ty;
        let scalar = self.scalar_type(ty)?;
        let dst = self.temp(scalar, ty);
        self.assign(dst, value);
        Ok(Expr::Var(dst))
    }

    fn callee(&mut self, e: ExprId) -> Lowered<(Callee, bool)> {
        match self.unit.tast[e].kind {
            ExprKind::Convert { kind: Conversion::FunctionDecay, operand } => self.callee(operand),
            ExprKind::Decl(d) if self.unit.tast[d].kind == DeclKind::Function => Ok(self.direct(d)),
            ExprKind::Unary { op: UnaryOp::Deref | UnaryOp::AddrOf, operand }
                if matches!(self.unit.shape(self.unit.tast[e].ty), Shape::Function)
                    || matches!(self.unit.shape(self.unit.tast[operand].ty), Shape::Function) =>
            {
                self.callee(operand)
            }
            _ => match self.unit.shape(self.unit.tast[e].ty) {
                Shape::Function => Ok((Callee::Indirect(self.address(e)?), false)),
                _ => Ok((Callee::Indirect(self.value(e)?), false)),
            },
        }
    }

    /// `({ ... })`: its statements belong to the statement around it.
    pub fn statement_expression(&mut self, body: StmtId, wanted: bool) -> Lowered<Option<Expr>> {
        self.statements.inner += 1;
        let result = self.statement_value(body, wanted);
        self.statements.inner -= 1;
        result
    }

    /// Makes a temporary that holds an address.
    pub fn temp_pointer(&mut self, ty: TypeId) -> VarId {
        self.temp(Scalar::Pointer, ty)
    }
}

/// Whether a step counts down, and whether its value is the old one.
pub(super) fn step_of(op: UnaryOp) -> Option<(bool, bool)> {
    match op {
        UnaryOp::PreInc => Some((false, false)),
        UnaryOp::PreDec => Some((true, false)),
        UnaryOp::PostInc => Some((false, true)),
        UnaryOp::PostDec => Some((true, true)),
        _ => None,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge)
}
