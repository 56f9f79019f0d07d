//! Variables with `__attribute__((cleanup(f)))`: `f` is called with their address wherever control leaves
//! their scope by a jump, a `return` or at its end, last declared first; not by `longjmp` or `exit`.

use super::function::{FnCx, Lowered};
use super::places::Lvalue;
use super::spelling::Part;
use super::types::{Scalar, Shape};
use crate::ir::{CType, Expr, Instr};
use rucc_sema::{DeclId, DeclKind, LabelId, Stmt, StmtId};
use rucc_types::TypeId;
use std::sync::Arc;

impl FnCx<'_, '_> {
    /// Ends a scope in which more variables than `kept` were declared.
    pub fn end_scope(&mut self, kept: usize) {
        while self.blocks.cleanups.len() > kept {
            let Some(d) = self.blocks.cleanups.pop() else { return };
            if self.graph.frontier.is_empty() {
                continue;
            }
            let span = self.unit.tast.decl_span(d);
            self.start("expr", span);
            self.clean(d);
        }
    }

    /// Leaves all scopes beyond the first `kept` variables by a jump, within the statement of the jump.
    pub fn leave_scopes(&mut self, kept: usize) {
        if self.graph.frontier.is_empty() {
            return;
        }
        let left: Vec<DeclId> = self.blocks.cleanups.iter().skip(kept).rev().copied().collect();
        left.into_iter().for_each(|d| self.clean(d));
    }

    /// How many of the variables in scope here are in scope at a label, too.
    pub fn shared_with(&self, label: LabelId) -> usize {
        let there = self.blocks.label_scopes.get(&label).map_or(&[][..], Vec::as_slice);
        self.blocks.cleanups.iter().zip(there).take_while(|(a, b)| a == b).count()
    }

    fn clean(&mut self, d: DeclId) {
        let called = self.attempt(|cx| cx.call_cleanup(d));
        if let Err(reason) = called {
            let registers = self.all_registers();
            self.unknown(reason, Part::Decl(d), registers, true);
        }
    }

    fn call_cleanup(&mut self, d: DeclId) -> Lowered<()> {
        let decl = &self.unit.tast[d];
        let handler = decl.cleanup.ok_or("cleanup of nothing")?;
        let ty = self.unit.ctype(decl.ty);
        let Lvalue::Memory { addr } = self.object(d)? else {
            return Err("cleanup of a register".into());
        };
        if self.unit.is_nested(handler) {
            return self.call_nested(handler, vec![addr]).map(|_| ());
        }
        let (callee, noreturn) = self.direct(handler);
        let ret = self.unit.result_type(handler);
        let result_to = match ret.map(|r| (r, self.unit.shape(r))) {
            Some((r, Shape::Aggregate)) => {
                let object = self.temp_object(r);
                Some(self.addr_of(object))
            }
            _ => None,
        };
        let ret = ret.map_or(CType::Void, |r| self.unit.ctype(r));
        let arg_types = vec![CType::Pointer(Arc::new(ty))];
        let instr = Instr::Call { dst: None, callee, args: vec![addr], arg_types, ret, result_to, noreturn };
        if noreturn {
            self.emit_last(instr)
        } else {
            _ = self.emit(instr)
        }
        Ok(())
    }

    /// Finds in whose scope each label of a body stands.
    pub fn find_scopes(&mut self, body: StmtId) {
        let mut scope = self.blocks.cleanups.clone();
        self.scopes_in(body, &mut scope);
    }

    fn scopes_in(&mut self, id: StmtId, scope: &mut Vec<DeclId>) {
        let tast = self.unit.tast;
        match tast[id] {
            Stmt::Block(list) => {
                let kept = scope.len();
                tast[list].iter().for_each(|s| self.scopes_in(*s, scope));
                scope.truncate(kept);
            }
            Stmt::Decls(list) => {
                let cleaned = tast[list].iter().copied().filter(|d| tast[*d].cleanup.is_some());
                scope.extend(cleaned.filter(|d| tast[*d].kind == DeclKind::Object));
            }
            Stmt::For { init, body, .. } => {
                let kept = scope.len();
                init.into_iter().chain([body]).for_each(|s| self.scopes_in(s, scope));
                scope.truncate(kept);
            }
            Stmt::If { then, otherwise, .. } => {
                [Some(then), otherwise].into_iter().flatten().for_each(|s| self.scopes_in(s, scope));
            }
            Stmt::Label { label, body } => {
                if !scope.is_empty() {
                    self.blocks.label_scopes.insert(label, scope.clone());
                }
                // A nested function is laid out more than once, with labels of its own.
                if !self.blocks.calls.is_empty() {
                    self.graph.labels.remove(&label);
                }
                self.scopes_in(body, scope);
            }
            Stmt::While { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::Switch { body, .. }
            | Stmt::Case { body, .. }
            | Stmt::Default { body } => self.scopes_in(body, scope),
            _ => {}
        }
    }

    /// Keeps a value that is computed before variables go out of scope.
    pub fn kept_value(&mut self, value: Expr, scalar: Scalar, ty: TypeId) -> Expr {
        if self.blocks.cleanups.is_empty() || matches!(value, Expr::Const(_)) {
            return value;
        }
        let kept = self.temp(scalar, ty);
        self.assign(kept, value);
        Expr::Var(kept)
    }

    /// The same of an object, by its address.
    pub fn kept_aggregate(&mut self, addr: Expr, ty: TypeId) -> Lowered<Expr> {
        if self.blocks.cleanups.is_empty() {
            return Ok(addr);
        }
        let object = self.temp_object(ty);
        let kept = self.addr_of(object);
        self.copy(kept.clone(), addr, ty)?;
        Ok(kept)
    }
}
