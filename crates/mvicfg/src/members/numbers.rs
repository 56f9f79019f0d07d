//! Members whose number type got wider: the older body as if they had the newer type.
//!
//! What the older body reads of such a member is the newer one cut to its own width, what it writes is extended.
//! Both mean the same number as long as it fits both types. Whoever compares the bodies takes that for granted of what
//! neither has written, and of no other value ([`Fit`]).

use crate::ir::{
    Access, CType, Expr, Field, Function, Instr, Node, NodeId, Object, Op, Sort, Unit, Var, VarId, VarKind,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A member of a number type that got wider, at an instruction that reads or writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    pub member: Arc<str>,
    /// Its types in the older version and in the newer one.
    pub types: [CType; 2],
    /// The width of the older one.
    pub bits: u16,
    /// The width of the newer one.
    pub wide: u16,
}

/// What the high bits are of negative numbers that the newer type lacks: an address that nothing is known of.
pub const NEGATIVE: &str = "%negative";

/// Instructions that read or write such members, by their numbers in the older body.
pub type Fits = BTreeMap<NodeId, Fit>;

impl Fit {
    /// Of a member of two units, where it is a number in both and its type got wider.
    pub(super) fn of((f, old): (&Field, &Unit), (g, new): (&Field, &Unit)) -> Option<Fit> {
        let width = |field: &Field, unit: &Unit| match (&field.ty, field.bits) {
            (CType::Bool | CType::Int { .. }, None) => field.ty.sort(unit.data_model.pointer_bits())?.bits(),
            _ => None,
        };
        let (bits, wide) = (width(f, old)?, width(g, new)?);
        if bits >= wide {
            return None;
        }
        let is_kept = f.name == g.name && g.ty != CType::Bool;
        let fit = Fit { member: f.name.clone(), types: [f.ty.clone(), g.ty.clone()], bits, wide };
        let has_room = !fit.loses_sign() || wide - bits < new.data_model.pointer_bits();
        (is_kept && has_room).then_some(fit)
    }

    /// From the older type to the width of the newer one.
    pub fn extension(&self) -> Op {
        if self.types[0].is_signed() { Op::Sext(self.wide) } else { Op::Zext(self.wide) }
    }

    /// Whether some numbers of the older type are none of the newer one.
    pub fn loses_sign(&self) -> bool {
        self.types[0].is_signed() && !self.types[1].is_signed()
    }

    /// What the newer type holds of a number of the older one that is one of both.
    pub(super) fn constant(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_negative = self.types[0].is_signed() && bytes.last().is_some_and(|b| *b >= 0x80);
        let filler = if is_negative { 0xff } else { 0 };
        let mut made = bytes.to_vec();
        made.resize(usize::from(self.wide) / 8, filler);
        (!(is_negative && self.loses_sign())).then_some(made)
    }

    fn access(&self, of: &Access) -> Access {
        let bytes = u64::from(self.wide) / 8;
        Access { sort: Sort::Bv(self.wide), bytes, volatile: of.volatile, ty: self.types[1].clone() }
    }
}

/// Makes the instructions that read or write such members do so by the newer type.
pub(super) fn widen(body: &mut Function, fits: &Fits) {
    let wide = widened(body, fits);
    for node in &mut body.nodes {
        node.instr.for_each_operand_mut(&mut |e| cut(e, &wide));
    }
    for (id, fit) in fits {
        let node = &mut body.nodes[id.0 as usize];
        match &mut node.instr {
            Instr::Store { value, access, .. } => {
                *access = fit.access(access);
                let whole = extended(std::mem::replace(value, Expr::bv(fit.wide, 0)), fit, &wide);
                *value = if fit.loses_sign() { tagged(whole, fit) } else { whole };
            }
            Instr::Load { access, .. } => *access = fit.access(access),
            _ => {}
        }
    }
}

/// An extended number as it is kept in memory of a type without negative ones: whatever is written there by that type,
/// it is another number. It takes part in the instruction: two that store such numbers are not the same.
fn tagged(whole: Expr, fit: &Fit) -> Expr {
    let low = match &whole {
        Expr::Const(c) => match c.signed() {
            Some(n) if n < 0 => Expr::bv(fit.bits, n),
            _ => return whole,
        },
        _ => Expr::op(Op::Trunc(fit.bits), vec![whole.clone()]),
    };
    let unknown = Expr::Addr(Object::Global(NEGATIVE.into()));
    let high = Expr::op(Op::Trunc(fit.wide - fit.bits), vec![unknown]);
    let is_negative = Expr::op(Op::Slt, vec![low.clone(), Expr::bv(fit.bits, 0)]);
    let kept = Expr::op(Op::Concat, vec![high, low]);
    match whole {
        Expr::Const(_) => kept,
        _ => Expr::op(Op::Ite, vec![is_negative, kept, whole]),
    }
}

/// The temporaries that such members are read into, which get the newer type. What is read into something else comes
/// into a temporary first.
fn widened<'f>(body: &mut Function, fits: &'f Fits) -> BTreeMap<VarId, &'f Fit> {
    let mut found = BTreeMap::new();
    for (id, fit) in fits {
        let k = id.0 as usize;
        let Instr::Load { dst, .. } = body.nodes[k].instr else { continue };
        let once = body.nodes.iter().filter(|n| n.instr.written() == Some(dst)).count() == 1;
        let held = match once && body.var(dst).kind == VarKind::Temp {
            true => dst,
            false => split(body, k),
        };
        let var = &mut body.vars[held.0 as usize];
        (var.sort, var.ty) = (Some(Sort::Bv(fit.wide)), fit.types[1].clone());
        var.size = u64::from(fit.wide) / 8;
        found.insert(held, fit);
    }
    found
}

/// Reads into a temporary first, and assigns what is cut of it.
fn split(body: &mut Function, k: usize) -> VarId {
    let (held, next) = (VarId(body.vars.len() as u32), NodeId(body.nodes.len() as u32));
    let (stmt, span) = (body.nodes[k].stmt, body.nodes[k].span.clone());
    let Instr::Load { dst, .. } = &mut body.nodes[k].instr else { return held };
    let to = std::mem::replace(dst, held);
    let name = format!("%{}", body.var(to).name).into();
    let temporary = Var { name, kind: VarKind::Temp, ordinal: stmt.0, ..body.var(to).clone() };
    body.vars.push(temporary);
    let succs = std::mem::replace(&mut body.nodes[k].succs, vec![next]);
    let instr = Instr::Assign { dst: to, value: Expr::Var(held) };
    body.nodes.push(Node { instr, succs, stmt, span });
    held
}

/// Cuts what is read of such a member to its older width. What is the same number in both is compared as it is.
fn cut(e: &mut Expr, wide: &BTreeMap<VarId, &Fit>) {
    let first = |args: &[Expr]| args.iter().find_map(|a| fit_in(a, wide));
    if let Some(fit) = fit_in(e, wide)
        && let Some(whole) = extension(e, fit, wide)
    {
        *e = Expr::op(Op::Trunc(fit.bits), vec![whole]);
        return;
    }
    let Expr::Op { op, args, .. } = e else { return };
    if let Some(fit) = first(args)
        && (*op == fit.extension() || args.len() == 2 && keeps_order(*op, fit))
        && let Some(whole) = args.iter().map(|a| extension(a, fit, wide)).collect::<Option<Vec<Expr>>>()
    {
        *e = match <[Expr; 1]>::try_from(whole) {
            Ok([only]) => only,
            Err(both) => Expr::op(*op, both),
        };
        return;
    }
    args.iter_mut().for_each(|a| cut(a, wide));
}

/// The member at the bottom of what has its older width.
fn fit_in<'f>(e: &Expr, wide: &BTreeMap<VarId, &'f Fit>) -> Option<&'f Fit> {
    match e {
        Expr::Var(v) => wide.get(v).copied(),
        Expr::Op { op: Op::SDiv | Op::SRem | Op::UDiv | Op::URem, args, .. } => fit_in(args.first()?, wide),
        _ => None,
    }
}

/// The number of the older type that an expression gives as one of the newer width, where that is the same
/// computation there.
fn extension(e: &Expr, fit: &Fit, wide: &BTreeMap<VarId, &Fit>) -> Option<Expr> {
    match e {
        Expr::Var(v) => wide.get(v).filter(|f| f.types == fit.types).map(|_| e.clone()),
        Expr::Const(_) => constant(e, fit),
        Expr::Op { op, args, signed_arith } => {
            let [number, by @ Expr::Const(divisor)] = args.as_slice() else { return None };
            let is_kept = match op {
                Op::SDiv | Op::SRem => fit.types[0].is_signed() && divisor.signed()? > 0,
                Op::UDiv | Op::URem => !fit.types[0].is_signed() && divisor.unsigned()? > 0,
                _ => false,
            };
            let args = vec![extension(number, fit, wide)?, constant(by, fit)?];
            is_kept.then_some(Expr::Op { op: *op, args, signed_arith: *signed_arith })
        }
        Expr::Addr(_) => None,
    }
}

fn constant(e: &Expr, fit: &Fit) -> Option<Expr> {
    let Expr::Const(c) = e else { return None };
    let number = match fit.types[0].is_signed() {
        true => c.signed(),
        false => c.unsigned().and_then(|n| i128::try_from(n).ok()),
    };
    number.filter(|_| c.sort() == Sort::Bv(fit.bits)).map(|n| Expr::bv(fit.wide, n))
}

/// Whether a comparison says the same of extended numbers.
fn keeps_order(op: Op, fit: &Fit) -> bool {
    match op {
        Op::Eq => true,
        Op::Slt | Op::Sle => fit.types[0].is_signed(),
        Op::Ult | Op::Ule => !fit.types[0].is_signed(),
        _ => false,
    }
}

/// A number of the older type as one of the newer width: what was cut of one is that one.
fn extended(value: Expr, fit: &Fit, wide: &BTreeMap<VarId, &Fit>) -> Expr {
    if let Expr::Op { op: Op::Trunc(_), args, .. } = &value
        && let [whole] = args.as_slice()
        && fit_in(whole, wide).is_some_and(|f| f.types == fit.types)
    {
        return whole.clone();
    }
    constant(&value, fit).unwrap_or_else(|| Expr::op(fit.extension(), vec![value]))
}
