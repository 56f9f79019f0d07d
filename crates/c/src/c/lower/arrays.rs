//! Arrays of variable length: their lengths are evaluated where their type is declared, once, and kept in
//! registers that nothing in the source names. What asks for the size later reads these.

use super::arith::apply;
use super::function::{FnCx, Lowered};
use super::sequencing;
use super::spelling::Part;
use super::types::{Scalar, Shape};
use crate::ir::{ARRAY_LENGTH, Expr, Instr, NodeId, Op, VarId, VarKind};
use rucc_sema::{DeclId, ExprId};
use rucc_types::{ArrayLen, TypeId, TypeKind};

impl FnCx<'_, '_> {
    /// Evaluates the lengths in a type where its declarator (or the cast that names it) is reached. Those
    /// that a typedef has evaluated are known.
    pub fn measure_type(&mut self, ty: TypeId) -> Lowered<()> {
        match self.unit.types.kind(self.unit.types.canonical(ty)) {
            TypeKind::Pointer(to) if self.unit.is_variably_modified(to) => {
                self.measure_type(to)?;
                self.check_lengths(to);
                Ok(())
            }
            TypeKind::Array { elem, len } => {
                if let ArrayLen::Variable(id) = len {
                    self.evaluate_length(self.unit.tast.vla_size(id))?;
                }
                self.measure_type(elem)
            }
            _ => Ok(()),
        }
    }

    /// Has the lengths of an array type that is no object looked at.
    pub fn check_lengths(&mut self, ty: TypeId) {
        if let Ok((lengths, element)) = self.lengths_of(ty)
            && !lengths.is_empty()
        {
            self.emit(Instr::Measure { var: None, lengths, element });
        }
    }

    /// Evaluates the lengths in a parameter's type. The outermost one, which no pointer has, is evaluated for
    /// what it does.
    pub fn measure_parameter(&mut self, d: DeclId) {
        let tast = self.unit.tast;
        if let Some(written) = tast.adjusted_from(d)
            && let TypeKind::Array { len: ArrayLen::Variable(id), .. } =
                self.unit.types.kind(self.unit.types.canonical(written))
            && sequencing::has_effects(tast, tast.vla_size(id))
        {
            self.full_effect(tast.vla_size(id));
        }
        let ty = tast[d].ty;
        if self.unit.is_variably_modified(ty)
            && let Err(reason) = self.attempt(|cx| cx.measure_type(ty))
        {
            self.unknown(reason, Part::Decl(d), Vec::new(), true);
        }
    }

    fn evaluate_length(&mut self, e: ExprId) -> Lowered<()> {
        if self.variables.lengths.contains_key(&e) {
            return Ok(());
        }
        if sequencing::effects(self.unit.tast, e, &self.variables.lengths).conflict.is_some() {
            return Err("unsequenced effects on one object".into());
        }
        let ty = self.unit.tast[e].ty;
        if self.scalar_of(e)?.is_float() {
            return Err("length that is no integer".into());
        }
        let value = self.value(e)?;
        let known = match value {
            Expr::Const(_) => value,
            value => {
                let var = self.new_var(
                    ARRAY_LENGTH.into(),
                    VarKind::Local,
                    ty,
                    false,
                    self.statements.span.clone(),
                );
                self.assign(var, value);
                Expr::Var(var)
            }
        };
        self.variables.lengths.insert(e, known);
        Ok(())
    }

    /// Returns the lengths of an array that vary, as wide as pointers, and the bytes of what they count.
    fn lengths_of(&mut self, ty: TypeId) -> Lowered<(Vec<Expr>, u64)> {
        let (mut lengths, mut count, mut ty) = (Vec::new(), 1u64, ty);
        while let TypeKind::Array { elem, len } = self.unit.types.kind(self.unit.types.canonical(ty)) {
            match len {
                ArrayLen::Variable(id) => lengths.push(self.known_length(self.unit.tast.vla_size(id))?),
                ArrayLen::Fixed(n) => count = count.checked_mul(n).ok_or("array that is too large")?,
                _ => return Err("array of unknown length".into()),
            }
            ty = elem;
        }
        let element = self.unit.size_of(ty).ok_or("array of a type of unknown size")?;
        let element = count.checked_mul(element).ok_or("array that is too large")?;
        Ok((lengths, element))
    }

    fn known_length(&mut self, e: ExprId) -> Lowered<Expr> {
        let known = self.variables.lengths.get(&e).cloned().ok_or("array whose length was not evaluated")?;
        let from = self.scalar_of(e)?;
        Ok(self.convert(known, from, Scalar::Int { bits: self.unit.pointer, signed: true }))
    }

    /// Returns the step of pointer arithmetic over a type, whose size may vary.
    pub fn stride(&mut self, ty: TypeId) -> Lowered<Expr> {
        let p = self.unit.pointer;
        if let Some(size) = self.unit.stride(ty) {
            return Ok(Expr::bv(p, i128::from(size)));
        }
        if !self.unit.is_variable_length(ty) || self.unit.shape(ty) != Shape::Aggregate {
            return Err("pointer to a type of unknown size".into());
        }
        let (lengths, element) = self.lengths_of(ty)?;
        let element = Expr::bv(p, i128::from(element));
        Ok(lengths.into_iter().fold(element, |size, n| match size {
            Expr::Const(c) if c.to_bits() == 1 => n,
            size => apply(Op::Mul, vec![n, size], false),
        }))
    }

    /// Declares an array of variable length.
    pub fn declare_array(&mut self, d: DeclId) -> Lowered<()> {
        let ty = self.unit.tast[d].ty;
        if self.unit.tast[d].init.is_some() {
            return Err("initialiser of an array of variable length".into());
        }
        self.measure_type(ty)?;
        let (lengths, element) = self.lengths_of(ty)?;
        let var = self.declare(d, VarKind::Local);
        self.emit(Instr::Measure { var: Some(var), lengths, element });
        if let Some(scope) = self.blocks.arrays.last_mut() {
            scope.push(var);
        }
        Ok(())
    }

    /// Leaves a block: its arrays end, but for those of the body, which end with the call.
    pub fn leave_block(&mut self) {
        if self.blocks.arrays.len() > 1 {
            self.end_arrays(self.blocks.arrays.len() - 1);
        }
        self.blocks.arrays.pop();
    }

    /// Ends the arrays of all blocks within the outermost `kept` ones, where control leaves these.
    pub fn end_arrays(&mut self, kept: usize) {
        let ended: Vec<VarId> = self.blocks.arrays.iter().skip(kept).flatten().copied().collect();
        self.end_each(&ended);
    }

    fn end_each(&mut self, arrays: &[VarId]) {
        if !self.graph.frontier.is_empty() {
            arrays.iter().rev().for_each(|v| _ = self.emit(Instr::Declare(*v)));
        }
    }

    /// Ends the arrays that a jump to a label leaves behind.
    pub fn end_arrays_but(&mut self, kept: &[VarId]) {
        let ended: Vec<VarId> = self.live_arrays().into_iter().filter(|v| !kept.contains(v)).collect();
        self.end_each(&ended);
    }

    pub fn live_arrays(&self) -> Vec<VarId> {
        self.blocks.arrays.iter().flatten().copied().collect()
    }

    /// Arrives at a label over jumps to it from before: what was alive there and is not here ends.
    pub fn arrive(&mut self, jumps: Vec<super::function::Edge>) {
        let here = self.live_arrays();
        let before = self.take_frontier();
        let mut all = before;
        for edge in jumps {
            let live = self.graph.live_at_jumps.get(&edge.node).cloned().unwrap_or_default();
            let ended: Vec<VarId> = live.into_iter().filter(|v| !here.contains(v)).collect();
            self.graph.frontier = vec![edge];
            self.end_each(&ended);
            all.append(&mut self.take_frontier());
        }
        self.graph.frontier = all;
    }

    /// Notes what is alive where a jump leaves for a label that is still to come.
    pub fn note_jump(&mut self, from: NodeId) {
        let live = self.live_arrays();
        if !live.is_empty() {
            self.graph.live_at_jumps.insert(from, live);
        }
    }
}
