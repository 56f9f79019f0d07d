//! Functions that are defined within others (GNU C): their calls are laid out where they stand, so that
//! they read and write the variables around them. One that is recursive, or whose address is taken,
//! stays an effect that is not modelled.

use super::function::{FnCx, Inner, Lowered, Unmodelled};
use super::spelling::Part;
use super::types::Shape;
use super::unit::UnitCx;
use crate::ir::{Access, Expr, Instr, VarId, VarKind};
use rucc_base::Idx;
use rucc_sema::{Conversion, DeclId, DeclKind, ExprId, ExprKind, ExprList};
use rucc_types::{TypeId, TypeKind};

/// Calls of nested functions within each other.
const MAX_DEPTH: usize = 8;
/// Nodes beyond which no more calls are laid out.
const MAX_NODES: usize = 4_000;

impl UnitCx<'_> {
    /// Whether a function is defined within another.
    pub fn is_nested(&self, id: DeclId) -> bool {
        let decl = &self.tast[id];
        decl.kind == DeclKind::Function && decl.linkage == rucc_sema::Linkage::None
    }

    /// The function that a callee is by its name.
    pub fn called_by_name(&self, callee: ExprId) -> Option<DeclId> {
        match self.tast[callee].kind {
            ExprKind::Convert { kind: Conversion::FunctionDecay, operand } => self.called_by_name(operand),
            ExprKind::Decl(d) if self.tast[d].kind == DeclKind::Function => Some(d),
            _ => None,
        }
    }

    /// Finds nested functions that are named in other places than calls.
    pub fn find_nested(&mut self) {
        let mut called = std::collections::BTreeSet::new();
        let exprs = || (0..self.tast.counts().exprs).map(Idx::<rucc_sema::Expr>::from_usize);
        for id in exprs() {
            let ExprKind::Call { callee, .. } = self.tast[id].kind else { continue };
            let mut at = callee;
            while let ExprKind::Convert { kind: Conversion::FunctionDecay, operand } = self.tast[at].kind {
                at = operand;
            }
            called.insert(at);
        }
        let named = exprs().filter(|e| !called.contains(e)).filter_map(|e| match self.tast[e].kind {
            ExprKind::Decl(d) if self.is_nested(d) => Some(d),
            _ => None,
        });
        self.nested_taken = named.collect();
    }

    /// The type that a function returns.
    pub fn result_type(&self, id: DeclId) -> Option<TypeId> {
        match self.types.kind(self.types.canonical(self.tast[id].ty)) {
            TypeKind::Function(f) => Some(self.types.signature(f).ret),
            _ => None,
        }
    }
}

impl FnCx<'_, '_> {
    /// Lays out a call of a nested function with the arguments of the source.
    pub fn nested_call(&mut self, function: DeclId, args: ExprList) -> Lowered<Option<VarId>> {
        let mut values = Vec::new();
        for e in self.unit.tast[args].iter().copied() {
            if self.unit.shape(self.unit.tast[e].ty) == Shape::Aggregate {
                self.found.beyond = Some("aggregate passed to a nested function".into());
                return Err("aggregate passed to a nested function".into());
            }
            let value = self.value(e)?;
            // Later arguments and the body must not reach into it.
            let scalar = self.scalar_of(e)?;
            let kept = self.temp(scalar, self.unit.tast[e].ty);
            self.assign(kept, value);
            values.push(Expr::Var(kept));
        }
        self.call_nested(function, values)
    }

    /// Lays out a call; returns where its result is. What cannot be laid out may write what is around it,
    /// so that nothing of the enclosing function is known.
    pub fn call_nested(&mut self, function: DeclId, values: Vec<Expr>) -> Lowered<Option<VarId>> {
        let laid_out = self.lay_out(function, values);
        if let Err(reason) = &laid_out {
            self.found.beyond = Some(reason.clone());
        }
        laid_out
    }

    /// A body of which nothing is modelled.
    pub fn unmodelled_body(&mut self, reason: Unmodelled) {
        let result = match self.unit.shape(self.ret) {
            Shape::Scalar(scalar) => Some(self.temp(scalar, self.ret)),
            _ => None,
        };
        self.unknown(reason, Part::Tokens, result.into_iter().collect(), true);
        let value = result.map(Expr::Var);
        self.emit_return(value);
    }

    fn lay_out(&mut self, function: DeclId, values: Vec<Expr>) -> Lowered<Option<VarId>> {
        let tast = self.unit.tast;
        let params = tast[tast[function].params].to_vec();
        let body = tast[function].body.ok_or("nested function without a body")?;
        let ret = self.unit.result_type(function).ok_or("nested function of no type")?;
        let is_open = self.blocks.calls.iter().any(|c| c.function == function);
        if is_open || self.blocks.calls.len() >= MAX_DEPTH || self.graph.nodes.len() > MAX_NODES {
            return Err("recursive nested function".into());
        }
        if params.len() != values.len() {
            return Err("nested function with other arguments".into());
        }
        let result = match self.unit.shape(ret) {
            Shape::Scalar(scalar) => Some(self.temp(scalar, ret)),
            Shape::Void => None,
            _ => return Err("nested function that returns an aggregate".into()),
        };
        self.statements.inner += 1;
        for (param, value) in params.into_iter().zip(values) {
            let var = self.declare(param, VarKind::Local);
            let v = &self.variables.all[var.0 as usize];
            match (v.in_memory, v.sort) {
                (true, Some(sort)) => {
                    let access = Access { sort, bytes: v.size, volatile: false, ty: v.ty.clone() };
                    let addr = self.addr_of(var);
                    self.emit(Instr::Store { addr, value, access });
                }
                _ => self.assign(var, value),
            }
        }
        // A result that is not returned is indeterminate.
        if let Some(result) = result {
            self.emit(Instr::Declare(result));
        }
        let cleanups = self.blocks.cleanups.len();
        self.blocks.calls.push(Inner { function, result, returns: Vec::new(), cleanups });
        let around = std::mem::take(&mut self.graph.around);
        self.find_scopes(body);
        self.body(body);
        self.graph.around = around;
        self.statements.inner -= 1;
        let ended = self.blocks.calls.pop().map_or(Vec::new(), |c| c.returns);
        self.graph.frontier.extend(ended);
        self.emit(Instr::Nop);
        Ok(result)
    }

    /// A `return` of the nested function that is being laid out; `None`: there is none.
    pub fn nested_return(&mut self, value: Option<rucc_sema::ExprId>) -> Option<()> {
        let (result, kept) = self.blocks.calls.last().map(|c| (c.result, c.cleanups))?;
        if let Some(e) = value {
            match result {
                Some(result) => {
                    let value = self.full_value(e);
                    self.assign(result, value);
                }
                None => self.full_effect(e),
            }
        }
        self.leave_scopes(kept);
        self.emit(Instr::Nop);
        let edges = self.take_frontier();
        self.blocks.calls.last_mut()?.returns.extend(edges);
        Some(())
    }
}
