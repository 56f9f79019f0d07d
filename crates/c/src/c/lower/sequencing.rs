//! Side effects of a full expression on named scalars, and whether C orders them.
//!
//! C 2017, 6.5p2: two side effects on one scalar object, or a side effect and a read that does not
//! feed it, are undefined when neither is sequenced before the other. Objects are told apart by
//! their declaration; what happens through pointers and inside callees is not looked at.

use crate::ir::Expr;
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Conversion, DeclId, ExprId, ExprKind, LabelId, Stmt, StmtId, Tast};
use std::collections::{BTreeSet, HashMap};

/// What evaluating an expression does.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    pub reads: BTreeSet<DeclId>,
    /// Every object written.
    pub writes: BTreeSet<DeclId>,
    /// Those whose write need not be complete when the value is computed.
    loose: BTreeSet<DeclId>,
    /// Calls, or writes to something that is not a named scalar.
    pub beyond: bool,
    /// An object that is written and used without an order between the two.
    pub conflict: Option<DeclId>,
}

impl Effects {
    fn absorb(&mut self, other: Effects) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.beyond |= other.beyond;
        self.conflict = self.conflict.or(other.conflict);
    }

    /// Adds an operand that is evaluated in no order relative to what was added before.
    fn beside(&mut self, other: Effects) {
        let clash = self
            .writes
            .iter()
            .find(|d| other.writes.contains(d) || other.reads.contains(d))
            .or_else(|| other.writes.iter().find(|d| self.reads.contains(d)))
            .copied();
        self.conflict = self.conflict.or(clash);
        self.loose.extend(other.loose.iter().copied());
        self.absorb(other);
    }

    /// Adds what is evaluated after a sequence point.
    fn then(&mut self, other: Effects) {
        self.loose = other.loose.clone();
        self.absorb(other);
    }

    fn write(&mut self, target: Option<DeclId>) {
        let Some(d) = target else {
            self.beyond = true;
            return;
        };
        if self.loose.contains(&d) {
            self.conflict = self.conflict.or(Some(d));
        }
        self.writes.insert(d);
        self.loose.insert(d);
    }
}

/// Returns whether evaluating `e` may change something or call a function.
pub(super) fn has_effects(tast: &Tast, e: ExprId) -> bool {
    match tast[e].kind {
        ExprKind::Assign { .. }
        | ExprKind::Call { .. }
        | ExprKind::StmtExpr(_)
        | ExprKind::VaArg { .. }
        | ExprKind::VaStart { .. }
        | ExprKind::VaCopy { .. }
        | ExprKind::Atomic { .. }
        | ExprKind::Overflow { .. }
        | ExprKind::Alloca { .. }
        | ExprKind::TimeStamp { .. }
        | ExprKind::Eflags { .. }
        | ExprKind::XState { .. }
        | ExprKind::Apply { .. }
        | ExprKind::Unreachable
        | ExprKind::Trap
        | ExprKind::Error
        | ExprKind::Jump { .. } => true,
        ExprKind::Unary { op, .. } if is_step(op) => true,
        _ => {
            let mut any = false;
            for_each_operand(tast, e, &mut |x| any |= has_effects(tast, x));
            any
        }
    }
}

fn is_step(op: UnaryOp) -> bool {
    matches!(op, UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec)
}

/// Returns the effects of an expression, where `known` are not evaluated again: lengths of arrays, of which
/// `sizeof` repeats the expression. Linear in its size, but for the sets.
pub(super) fn effects(tast: &Tast, e: ExprId, known: &HashMap<ExprId, Expr>) -> Effects {
    let mut out = Effects::default();
    if known.contains_key(&e) {
        return out;
    }
    match tast[e].kind {
        ExprKind::Convert { kind: Conversion::Lvalue, operand } => match tast[operand].kind {
            ExprKind::Decl(d) => {
                out.reads.insert(d);
            }
            _ => out = effects(tast, operand, known),
        },
        ExprKind::Assign { op, lhs, rhs, .. } => {
            let target = named(tast, lhs);
            match target {
                Some(d) if op.is_some() => {
                    out.reads.insert(d);
                    // The read of a compound assignment feeds its own write, not the operand's.
                    let right = effects(tast, rhs, known);
                    let clash = right.writes.contains(&d);
                    out.loose.extend(right.loose.iter().copied());
                    out.absorb(right);
                    if clash {
                        out.conflict = out.conflict.or(target);
                    }
                }
                Some(_) => out = effects(tast, rhs, known),
                None => {
                    out = effects(tast, lhs, known);
                    out.beside(effects(tast, rhs, known));
                }
            }
            out.write(target);
        }
        ExprKind::Unary { op, operand } if is_step(op) => {
            let target = named(tast, operand);
            match target {
                Some(d) => {
                    out.reads.insert(d);
                }
                None => out = effects(tast, operand, known),
            }
            out.write(target);
        }
        ExprKind::Comma { lhs, rhs } => {
            out = effects(tast, lhs, known);
            out.then(effects(tast, rhs, known));
        }
        ExprKind::Binary { op: BinaryOp::LogAnd | BinaryOp::LogOr, lhs, rhs } => {
            out = effects(tast, lhs, known);
            out.then(effects(tast, rhs, known));
        }
        ExprKind::Cond { cond, then, otherwise } => {
            out = effects(tast, cond, known);
            let mut arms = effects(tast, then, known);
            let other = effects(tast, otherwise, known);
            arms.loose.extend(other.loose.iter().copied());
            arms.absorb(other);
            out.then(arms);
        }
        ExprKind::Call { callee, args } => {
            out = effects(tast, callee, known);
            for &arg in &tast[args] {
                out.beside(effects(tast, arg, known));
            }
            out.loose.clear();
            out.beyond = true;
        }
        ExprKind::StmtExpr(body) => {
            for_each_in_stmt(tast, body, &mut |x| out.absorb(effects(tast, x, known)));
            out.beyond = true;
        }
        _ => {
            for_each_operand(tast, e, &mut |x| {
                let inner = effects(tast, x, known);
                out.beside(inner);
            });
            out.beyond |= matches!(
                tast[e].kind,
                ExprKind::VaArg { .. }
                    | ExprKind::VaStart { .. }
                    | ExprKind::VaCopy { .. }
                    | ExprKind::Atomic { .. }
                    | ExprKind::Overflow { .. }
                    | ExprKind::Alloca { .. }
                    | ExprKind::TimeStamp { .. }
                    | ExprKind::Eflags { .. }
                    | ExprKind::XState { .. }
                    | ExprKind::Apply { .. }
                    | ExprKind::Error
                    | ExprKind::Jump { .. }
            );
        }
    }
    out
}

fn named(tast: &Tast, e: ExprId) -> Option<DeclId> {
    if let ExprKind::Decl(d) = tast[e].kind { Some(d) } else { None }
}

/// Calls `f` on the operands of an expression, in source order.
pub(super) fn for_each_operand(tast: &Tast, e: ExprId, f: &mut impl FnMut(ExprId)) {
    use ExprKind as K;
    match tast[e].kind {
        K::Member { base, .. } => f(base),
        K::Subscript { base, index } => {
            f(base);
            f(index);
        }
        K::Call { callee, args } => {
            f(callee);
            tast[args].iter().for_each(|&a| f(a));
        }
        K::Unary { operand, .. }
        | K::Convert { operand, .. }
        | K::Cast(operand)
        | K::ConvertVector { operand }
        | K::Abs { operand }
        | K::ByteSwap { operand }
        | K::BitCount { operand, .. } => f(operand),
        K::Binary { lhs, rhs, .. } | K::Assign { lhs, rhs, .. } | K::Comma { lhs, rhs } => {
            f(lhs);
            f(rhs);
        }
        K::Cond { cond, then, otherwise } => {
            f(cond);
            f(then);
            f(otherwise);
        }
        K::VaArg { list } | K::VaStart { list } | K::VaEnd { list } => f(list),
        K::VaCopy { dst, src } => {
            f(dst);
            f(src);
        }
        K::Classify { lhs, rhs, .. } | K::Sign { lhs, rhs, .. } | K::Elementwise { lhs, rhs, .. } => {
            f(lhs);
            rhs.into_iter().for_each(f);
        }
        K::Shuffle { lhs, rhs, mask } => {
            f(lhs);
            rhs.into_iter().for_each(&mut *f);
            f(mask);
        }
        K::FpClassify { value, answers } => {
            f(value);
            tast[answers].iter().for_each(|&a| f(a));
        }
        K::Complex { real, imag } => {
            f(real);
            f(imag);
        }
        K::ShuffleVector { operands: list }
        | K::Overflow { args: list, .. }
        | K::Atomic { args: list, .. } => tast[list].iter().for_each(|&a| f(a)),
        K::ConstantP { value } => f(value),
        K::Expect { value, hint, .. } => {
            f(value);
            f(hint);
        }
        K::TimeStamp { aux: value } | K::Eflags { value } => value.into_iter().for_each(f),
        K::XState { address, mask, .. } => {
            f(address);
            f(mask);
        }
        K::Apply { function, args, .. } => {
            f(function);
            f(args);
        }
        K::Prefetch { address, .. } | K::ObjectSize { address, .. } => f(address),
        K::Alloca { size } => f(size),
        K::Jump { buffer, .. } => f(buffer),
        K::CompoundLiteral(d) => {
            if let Some(list) = tast[d].init {
                tast[list].iter().for_each(|entry| f(entry.value));
            }
        }
        _ => {}
    }
}

/// Jumps by which control may leave the statements within an expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Jumps {
    pub returns: bool,
    pub labels: Vec<LabelId>,
    pub breaks: bool,
    pub continues: bool,
}

/// The jumps of the statement expressions of an expression; `None` where it has none of these. Jumps that
/// stay inside count too.
pub(super) fn jumps(tast: &Tast, e: ExprId) -> Option<Jumps> {
    let mut found = None;
    add_jumps_of_expr(tast, e, &mut found);
    found
}

fn add_jumps_of_expr(tast: &Tast, e: ExprId, found: &mut Option<Jumps>) {
    if let ExprKind::StmtExpr(body) = tast[e].kind {
        add_jumps(tast, body, found.get_or_insert_default());
        for_each_in_stmt(tast, body, &mut |x| add_jumps_of_expr(tast, x, found));
    }
    for_each_operand(tast, e, &mut |x| add_jumps_of_expr(tast, x, found));
}

fn add_jumps(tast: &Tast, s: StmtId, found: &mut Jumps) {
    match tast[s] {
        Stmt::Return(_) => found.returns = true,
        // Where a computed one leads is not known; it does not lead out of the function.
        Stmt::IndirectGoto(_) => found.returns = true,
        Stmt::Goto(label) => found.labels.push(label),
        Stmt::Asm(asm) => found.labels.extend(&tast[tast[asm].labels]),
        Stmt::Break => found.breaks = true,
        Stmt::Continue => found.continues = true,
        Stmt::Block(list) => tast[list].iter().for_each(|&s| add_jumps(tast, s, found)),
        Stmt::If { then, otherwise, .. } => {
            add_jumps(tast, then, found);
            otherwise.into_iter().for_each(|s| add_jumps(tast, s, found));
        }
        Stmt::While { body, .. }
        | Stmt::DoWhile { body, .. }
        | Stmt::For { body, .. }
        | Stmt::Switch { body, .. }
        | Stmt::Case { body, .. }
        | Stmt::Default { body }
        | Stmt::Label { body, .. } => add_jumps(tast, body, found),
        Stmt::Error | Stmt::Empty | Stmt::Expr(_) | Stmt::Decls(_) => {}
    }
}

/// Calls `f` on every full expression of a statement, in source order.
pub(super) fn for_each_in_stmt(tast: &Tast, s: StmtId, f: &mut impl FnMut(ExprId)) {
    match tast[s] {
        Stmt::Expr(e) | Stmt::IndirectGoto(e) | Stmt::Return(Some(e)) => f(e),
        Stmt::Block(list) => tast[list].iter().for_each(|&s| for_each_in_stmt(tast, s, f)),
        Stmt::Decls(list) => {
            for &d in &tast[list] {
                if let Some(init) = tast[d].init {
                    tast[init].iter().for_each(|entry| f(entry.value));
                }
            }
        }
        Stmt::If { cond, then, otherwise } => {
            f(cond);
            for_each_in_stmt(tast, then, f);
            otherwise.into_iter().for_each(|s| for_each_in_stmt(tast, s, f));
        }
        Stmt::While { cond, body } | Stmt::DoWhile { body, cond } => {
            f(cond);
            for_each_in_stmt(tast, body, f);
        }
        Stmt::For { init, cond, step, body } => {
            init.into_iter().for_each(|s| for_each_in_stmt(tast, s, f));
            cond.into_iter().for_each(&mut *f);
            step.into_iter().for_each(&mut *f);
            for_each_in_stmt(tast, body, f);
        }
        Stmt::Switch { cond, body, .. } => {
            f(cond);
            for_each_in_stmt(tast, body, f);
        }
        Stmt::Case { body, .. } | Stmt::Default { body } | Stmt::Label { body, .. } => {
            for_each_in_stmt(tast, body, f);
        }
        Stmt::Asm(asm) => {
            let asm = tast[asm];
            tast[asm.outputs].iter().chain(&tast[asm.inputs]).for_each(|o| f(o.value));
        }
        Stmt::Error | Stmt::Empty | Stmt::Goto(_) | Stmt::Break | Stmt::Continue | Stmt::Return(None) => {}
    }
}
