//! What a body's text does with records where instructions only have bytes: members by name, and pointers to
//! records that become pointers to something else.

use super::function::{FnCx, Lowered};
use super::types::{Scalar, Shape};
use crate::ir::{CType, Callee, Expr, RecordId};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Conversion, ExprId, ExprKind};
use rucc_types::TypeId;
use std::sync::Arc;

/// Functions of the library that take any object as a whole, where they get its size.
pub(super) const WHOLE_OBJECTS: [&str; 4] = ["free", "memset", "memcpy", "memmove"];

impl FnCx<'_, '_> {
    /// Notes that a member is named, at a place in bits.
    pub fn note_member(&mut self, record: rucc_types::RecordId, name: Arc<str>, bit: u64) {
        if let Some(id) = self.unit.ir_types.record_ids.get(&record) {
            self.found.records.members.insert((*id, name, bit));
        }
    }

    /// Notes the records that a conversion of a pointer looks at as something else.
    pub fn note_recast(&mut self, operand: ExprId, to: TypeId) {
        let from = self.unit.tast[operand].ty;
        let (from, to) = (self.unit.ctype(from), self.unit.ctype(to));
        if from == to || !(from.is_pointer() || to.is_pointer()) || self.is_fresh(operand) {
            return;
        }
        let records: Vec<RecordId> = [&from, &to].into_iter().filter_map(pointed_record).collect();
        // What is seen through a pointer to something else shows in the body; that bytes are taken for a record
        // does not.
        let is_other = |ty: &CType| match ty {
            CType::Pointer(to) => !matches!(**to, CType::Void | CType::Record(_)),
            _ => false,
        };
        if is_other(&from) && !self.is_container(operand) {
            self.found.records.viewed.extend(pointed_record(&to));
        }
        self.found.records.recast.extend(records);
    }

    /// Whether an expression leads from a member back to the record that it is in: so many bytes less.
    fn is_container(&self, operand: ExprId) -> bool {
        match self.unit.tast[operand].kind {
            ExprKind::Cast(inner) | ExprKind::Convert { operand: inner, .. } => self.is_container(inner),
            ExprKind::Binary { op: BinaryOp::Sub, rhs, .. } => self.is_number(rhs),
            _ => false,
        }
    }

    fn is_number(&self, e: ExprId) -> bool {
        match self.unit.tast[e].kind {
            ExprKind::Const(_) => true,
            ExprKind::Cast(inner) | ExprKind::Convert { operand: inner, .. } => self.is_number(inner),
            _ => false,
        }
    }

    /// A pointer that was converted is one to its new type from there on: what is reached through it is of that.
    pub fn converted(&mut self, value: Expr, operand: ExprId, ty: TypeId) -> Expr {
        let (from, to) = (self.unit.ctype(self.unit.tast[operand].ty), self.unit.ctype(ty));
        if from == to || pointed_record(&to).is_none() || matches!(value, Expr::Const(_)) {
            return value;
        }
        let held = self.temp(Scalar::Pointer, ty);
        self.assign(held, value);
        Expr::Var(held)
    }

    /// Whether a value is no address, or that of memory in which nothing is yet.
    fn is_fresh(&self, operand: ExprId) -> bool {
        match self.unit.tast[operand].kind {
            ExprKind::Const(_) => true,
            ExprKind::Cast(inner) | ExprKind::Convert { operand: inner, .. } => self.is_fresh(inner),
            ExprKind::Call { callee, .. } => self
                .unit
                .called_by_name(callee)
                .is_some_and(|d| matches!(&*self.unit.name_of(&self.unit.tast[d]), "malloc" | "calloc")),
            _ => false,
        }
    }

    /// Evaluates a scalar argument of a call. A pointer to an object of which the call is told the size is
    /// still one to that object.
    pub fn argument(&mut self, callee: &Callee, arg: ExprId) -> Lowered<Expr> {
        let whole = matches!(callee, Callee::Direct(name) if WHOLE_OBJECTS.contains(&&**name));
        if whole
            && let ExprKind::Convert { kind: Conversion::Pointer, operand } = self.unit.tast[arg].kind
            && self.is_named(operand)
            // In source with errors, and by mistake, numbers are handed on for pointers.
            && self.unit.shape(self.unit.tast[operand].ty) == Shape::Scalar(Scalar::Pointer)
        {
            return self.value(operand);
        }
        self.value(arg)
    }

    /// Whether an expression is a variable, or the address of one.
    fn is_named(&self, e: ExprId) -> bool {
        match self.unit.tast[e].kind {
            ExprKind::Decl(_) => true,
            ExprKind::Convert { kind: Conversion::Lvalue | Conversion::ArrayDecay, operand }
            | ExprKind::Unary { op: UnaryOp::AddrOf, operand } => self.is_named(operand),
            _ => false,
        }
    }
}

/// The record that a pointer leads to, or of which an array does.
fn pointed_record(ty: &CType) -> Option<RecordId> {
    let CType::Pointer(to) = ty else { return None };
    let mut to = to;
    while let CType::Array(element, _) = &**to {
        to = element;
    }
    match &**to {
        CType::Record(id) => Some(*id),
        _ => None,
    }
}
