//! Parts of a function that lowering does not express: explicit effects that carry what they were.

use super::function::{FnCx, Lowered, Unmodelled};
use super::sequencing::{self, Jumps};
use super::spelling::{Part, Spelled};
use super::types::{Scalar, Shape};
use crate::ir::{Expr, Instr, Sort, Unknown, VarId, VarKind};
use rucc_sema::{DeclId, ExprId};
use std::collections::BTreeSet;

/// Whether an expression may be left by a jump, by its tokens: by one in a statement expression.
fn may_jump(tokens: &str) -> bool {
    let words: Vec<&str> = tokens.split(' ').collect();
    words.windows(2).any(|pair| pair == ["(", "{"])
        && words.iter().any(|word| matches!(*word, "return" | "goto" | "break" | "continue"))
}

impl FnCx<'_, '_> {
    /// Emits an effect that is not modelled, and lists it. What it writes in memory is written with all
    /// of memory.
    pub fn unknown(&mut self, reason: Unmodelled, part: Part, mut writes: Vec<VarId>, anything: bool) {
        self.found.unknowns.push(Unknown { line: self.statements.span.line, reason: reason.clone() });
        let Spelled { text, mut reads, tokens, skips } = self.spelled(part);
        // What stands there the checker did not keep.
        if let Some(tokens) = tokens {
            if may_jump(&tokens) {
                self.found.beyond = Some(reason.clone());
            }
            let named = self.registers_in(&tokens);
            reads.extend(named.iter().map(|v| Expr::Var(*v)));
            writes.extend(named.into_iter().filter(|v| !writes.contains(v)).collect::<Vec<_>>());
        }
        let (writes, in_memory): (Vec<VarId>, Vec<VarId>) =
            writes.into_iter().partition(|v| self.is_register(*v));
        let anything = anything || !in_memory.is_empty();
        self.emit(Instr::Unknown { reason, text, reads, writes, anything, skips });
    }

    /// Runs the lowering of one full expression. When it fails, what it may write is havocked, with the
    /// variables that `wanted` makes for its value.
    pub fn guarded<T>(
        &mut self,
        e: ExprId,
        work: impl FnOnce(&mut Self) -> Lowered<T>,
        wanted: impl FnOnce(&mut Self) -> Vec<VarId>,
    ) -> Option<T> {
        let found = sequencing::effects(self.unit.tast, e, &self.variables.lengths);
        let result = match found.conflict {
            Some(_) => Err("unsequenced effects on one object".into()),
            None => self.attempt(work),
        };
        let reason = match result {
            Ok(done) => return Some(done),
            Err(reason) => reason,
        };
        let mut writes: Vec<VarId> = found.writes.iter().filter_map(|d| self.register_of(*d)).collect();
        let in_memory = found.writes.iter().any(|d| self.register_of(*d).is_none());
        let jumps = sequencing::jumps(self.unit.tast, e);
        if jumps.is_some() || self.blocks.has_nested {
            writes = self.all_registers();
        }
        writes.extend(wanted(self));
        let ways = jumps.unwrap_or_default();
        self.unknown_with_jumps(reason, Part::Expr(e), writes, found.beyond || in_memory, ways);
        None
    }

    /// Emits an effect that is not modelled, which control may leave by these jumps.
    pub fn unknown_with_jumps(
        &mut self,
        reason: Unmodelled,
        part: Part,
        mut writes: Vec<VarId>,
        anything: bool,
        jumps: Jumps,
    ) {
        let result = match (jumps.returns, self.unit.shape(self.ret)) {
            (true, Shape::Scalar(scalar)) => Some(self.temp(scalar, self.ret)),
            _ => None,
        };
        let count = usize::from(jumps.returns)
            + jumps.labels.len()
            + usize::from(jumps.breaks && !self.graph.around.is_empty())
            + usize::from(jumps.continues && self.graph.around.iter().any(|b| b.continues.is_some()));
        let mut ways: Vec<VarId> = (0..count).map(|_| self.truth()).collect();
        writes.extend(result.into_iter().chain(ways.iter().copied()));
        self.unknown(reason, part, writes, anything);
        let mut leave = |cx: &mut Self, jump: &mut dyn FnMut(&mut Self)| {
            let Some(way) = ways.pop() else { return };
            let (yes, no) = cx.emit_branch(Expr::Var(way));
            cx.graph.frontier = vec![yes];
            jump(cx);
            cx.graph.frontier = vec![no];
        };
        if jumps.returns {
            leave(self, &mut |cx| cx.emit_return(result.map(Expr::Var)));
        }
        for label in jumps.labels {
            leave(self, &mut |cx| cx.jump_to(label));
        }
        if jumps.breaks && !self.graph.around.is_empty() {
            leave(self, &mut |cx| cx.jump_out());
        }
        if jumps.continues {
            leave(self, &mut |cx| cx.jump_on());
        }
    }

    /// Makes a temporary that holds a truth value.
    pub fn truth(&mut self) -> VarId {
        let var =
            self.new_var("<unknown>".into(), VarKind::Temp, self.ret, false, self.statements.span.clone());
        if let Some(v) = self.variables.all.get_mut(var.0 as usize) {
            (v.sort, v.in_memory, v.ordinal) = (Some(Sort::Bool), false, var.0);
        }
        var
    }

    /// Makes a temporary for a scalar that is not known.
    pub fn any_value(&mut self, e: ExprId) -> VarId {
        let int = Scalar::Int { bits: 32, signed: true };
        let scalar = self.scalar_of(e).unwrap_or(int);
        self.temp(scalar, self.unit.tast[e].ty)
    }

    pub fn register_of(&self, d: DeclId) -> Option<VarId> {
        self.variables.of.get(&d).copied().filter(|v| self.is_register(*v))
    }

    fn is_register(&self, v: VarId) -> bool {
        self.variables.all.get(v.0 as usize).is_some_and(|v| !v.in_memory)
    }

    /// The registers that some tokens name, which only their names lead to: they have no address.
    pub fn registers_in(&self, tokens: &str) -> Vec<VarId> {
        let names: BTreeSet<&str> = tokens.split(' ').collect();
        let mut found = self.all_registers();
        found.retain(|v| self.variables.all.get(v.0 as usize).is_some_and(|v| names.contains(&*v.name)));
        found
    }

    pub fn all_registers(&self) -> Vec<VarId> {
        let registers =
            self.variables.all.iter().enumerate().filter(|(_, v)| !v.in_memory && v.kind != VarKind::Temp);
        registers.map(|(i, _)| VarId(i as u32)).collect()
    }
}
