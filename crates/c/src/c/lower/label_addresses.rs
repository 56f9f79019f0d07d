//! Addresses of labels, `&&label`, and jumps to what was computed.
//!
//! A label whose address is taken gets a byte of its own that stands for its place: tables of labels are then
//! tables of addresses, and a computed jump is a row of comparisons with the labels of its function. Where
//! addresses of labels are reckoned with, their distances are not known, and neither is where a jump leads.

use super::function::{ComputedJump, FnCx};
use super::spelling::Part;
use super::unit::UnitCx;
use crate::ir::{CType, Expr, Global, Instr, Linkage, Object, Op, VarId};
use rucc_ast::UnaryOp;
use rucc_base::Idx;
use rucc_sema::{ExprId, ExprKind, LabelId, StmtId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl UnitCx<'_> {
    /// Finds the labels whose address is taken, and whether these are anything but addresses.
    pub(super) fn find_labels(&mut self) {
        let (mut taken, mut reckons) = (BTreeSet::new(), false);
        for i in 0..self.tast.counts().exprs {
            let expr = self.tast[Idx::<rucc_sema::Expr>::from_usize(i)];
            let is_label = |e: ExprId| self.taken_label(e).is_some();
            reckons |= match expr.kind {
                ExprKind::Binary { op, lhs, rhs } => !op.is_comparison() && (is_label(lhs) || is_label(rhs)),
                ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => {
                    is_label(operand) && self.target_of(expr.ty).is_none()
                }
                ExprKind::LabelAddr(label) => {
                    taken.insert(label);
                    false
                }
                _ => false,
            };
        }
        (self.labels.taken, self.labels.are_plain) = (taken, !reckons);
    }

    /// The label whose address an expression is.
    fn taken_label(&self, e: ExprId) -> Option<LabelId> {
        match self.tast[e].kind {
            ExprKind::LabelAddr(label) => Some(label),
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => self.taken_label(operand),
            ExprKind::Unary { op: UnaryOp::Plus, operand } => self.taken_label(operand),
            _ => None,
        }
    }

    /// Labels of the unit are reckoned with in a way that is not seen in an expression.
    pub(super) fn has_odd_labels(&mut self) {
        self.labels.are_plain = false;
    }

    pub(super) fn begin_labels(&mut self, function: &Arc<str>) {
        self.labels.function = function.clone();
    }

    /// The symbol of the byte that stands for a label.
    pub(super) fn label_symbol(&mut self, label: LabelId) -> Arc<str> {
        if let Some(known) = self.labels.symbols.get(&label) {
            return known.clone();
        }
        let name = format!("&{}", self.names.resolve(self.tast[label].name));
        let symbol = self.unused_symbol(&format!("{}.{name}", self.labels.function));
        self.labels.symbols.insert(label, symbol.clone());
        self.symbols.global_of.insert(symbol.clone(), self.symbols.globals.len());
        self.symbols.globals.push(Global {
            symbol: symbol.clone(),
            name: name.into(),
            ty: CType::Int { bits: 8, signed: self.target.char_is_signed, name: "char".into() },
            size: 1,
            linkage: Linkage::Internal,
            is_const: false,
            is_fixed: false,
            init: Vec::new(),
            span: Default::default(),
        });
        symbol
    }
}

impl FnCx<'_, '_> {
    pub fn label_address(&mut self, label: LabelId) -> Expr {
        Expr::Addr(Object::Global(self.unit.label_symbol(label)))
    }

    /// Begins a jump to what an expression says.
    pub fn computed_jump(&mut self, source: StmtId, target: ExprId) {
        let aim = |cx: &mut Self| {
            let value = cx.value(target)?;
            let scalar = cx.scalar_of(target)?;
            let kept = cx.temp(scalar, cx.unit.tast[target].ty);
            cx.assign(kept, value);
            Ok(kept)
        };
        let known = self.unit.labels.are_plain.then(|| self.attempt(aim).ok()).flatten();
        let edges = self.take_frontier();
        self.graph.computed.push(ComputedJump {
            edges,
            stmt: self.statements.current,
            span: self.statements.span.clone(),
            source,
            target: known,
        });
    }

    /// Lets each computed jump lead to the labels of the function whose address is taken, to each from that
    /// address; where that is not known, to every label.
    pub fn land_computed_jumps(&mut self) {
        for jump in std::mem::take(&mut self.graph.computed) {
            (self.graph.frontier, self.statements.current, self.statements.span) =
                (jump.edges, jump.stmt, jump.span);
            let leaves = self.blocks.odd_exits || self.variables.all.iter().any(|v| v.is_variable_length());
            match jump.target.filter(|_| self.unit.labels.are_plain && !leaves) {
                Some(target) => self.lead_on(target),
                None => self.lead_anywhere(jump.source),
            }
        }
    }

    fn lead_on(&mut self, target: VarId) {
        let known = self.graph.labels.iter().filter_map(|(id, l)| Some((*id, l.node?)));
        let taken: Vec<_> = known.filter(|(id, _)| self.unit.labels.taken.contains(id)).collect();
        for (label, node) in taken {
            let there = self.label_address(label);
            let (yes, no) = self.emit_branch(Expr::op(Op::Eq, vec![Expr::Var(target), there]));
            self.connect(yes, node);
            self.graph.frontier = vec![no];
        }
        self.emit_last(Instr::Unreachable);
    }

    fn lead_anywhere(&mut self, source: StmtId) {
        let labels: Vec<_> = self.graph.labels.values().filter_map(|l| l.node).collect();
        let ways: Vec<VarId> = labels.iter().map(|_| self.truth()).collect();
        let mut writes = self.all_registers();
        writes.extend(ways.iter().copied());
        self.unknown("computed goto".into(), Part::Stmt(source), writes, true);
        for (label, way) in labels.iter().zip(ways) {
            let (yes, no) = self.emit_branch(Expr::Var(way));
            self.connect(yes, *label);
            self.graph.frontier = vec![no];
        }
        self.emit_return(None);
    }
}
