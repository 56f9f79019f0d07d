//! Building of pure expressions: operators with constants folded, conversions, comparisons.

use super::function::FnCx;
use super::types::Scalar;
use crate::ir::{Const, Expr, Op, Sort};
use rucc_ast::BinaryOp;

/// Applies an operator; folds it when all arguments are constants and no event occurs.
pub(super) fn apply(op: Op, args: Vec<Expr>, signed: bool) -> Expr {
    let constants: Option<Vec<Const>> =
        args.iter().map(|a| if let Expr::Const(c) = a { Some(*c) } else { None }).collect();
    if let Some(constants) = constants
        && !(signed && overflows(op, &constants))
        && let Some(value) = op.folded(&constants)
    {
        return Expr::Const(value);
    }
    Expr::Op { op, args, signed_arith: signed }
}

/// Returns whether a signed operation on constants leaves the range of its type.
fn overflows(op: Op, args: &[Const]) -> bool {
    let wide: Option<Vec<i128>> = args.iter().map(|c| c.signed()).collect();
    let (Some(wide), Some(width)) = (wide, args.first().and_then(|c| c.sort().bits())) else {
        return true;
    };
    let exact = match (op, wide.as_slice()) {
        (Op::Add, [a, b]) => a.checked_add(*b),
        (Op::Sub, [a, b]) => a.checked_sub(*b),
        (Op::Mul, [a, b]) => a.checked_mul(*b),
        (Op::Neg, [a]) => a.checked_neg(),
        (Op::Shl, [a, b]) if (0..100).contains(b) && *a >= 0 && *a < 1 << 27 => Some(a << b),
        _ => None,
    };
    exact.is_none_or(|v| Const::bv(width, v).signed() != Some(v))
}

pub(super) fn not(cond: Expr) -> Expr {
    match cond {
        Expr::Const(Const::Bool(b)) => Expr::Const(Const::Bool(!b)),
        Expr::Op { op: Op::Not, mut args, .. } if args.len() == 1 => args.remove(0),
        other => Expr::op(Op::Not, vec![other]),
    }
}

fn constant(e: &Expr) -> Option<Const> {
    if let Expr::Const(c) = e { Some(*c) } else { None }
}

/// Returns the condition and the two constants of a truth value that was made a number.
fn choice(e: &Expr) -> Option<(&Expr, Const, Const)> {
    if let Expr::Op { op: Op::Ite, args, .. } = e
        && let [cond, then, otherwise] = args.as_slice()
    {
        return Some((cond, constant(then)?, constant(otherwise)?));
    }
    None
}

/// Returns the condition `value != 0`, as C tests a scalar.
pub(super) fn nonzero(value: Expr) -> Expr {
    let zero = |c: Const| c.to_bits() == 0;
    match &value {
        Expr::Const(c) if !c.sort().is_float() => return Expr::Const(Const::Bool(!zero(*c))),
        _ => {}
    }
    if let Some((cond, then, otherwise)) = choice(&value)
        && !then.sort().is_float()
        && zero(then) != zero(otherwise)
    {
        return if zero(then) { not(cond.clone()) } else { cond.clone() };
    }
    let sort = static_sort(&value);
    match sort {
        Some(s @ (Sort::F32 | Sort::F64 | Sort::F80)) => {
            let zero = Const::zero(s).map_or(value.clone(), Expr::Const);
            not(apply(Op::FEq, vec![value, zero], false))
        }
        Some(Sort::Bool) => value,
        Some(Sort::Bv(w)) => not(apply(Op::Eq, vec![value, Expr::bv(w, 0)], false)),
        _ => value,
    }
}

/// Returns the sort of an expression whose outermost operator shows it.
fn static_sort(e: &Expr) -> Option<Sort> {
    match e {
        Expr::Const(c) => Some(c.sort()),
        Expr::Op { op, args, .. } => {
            let sorts: Option<Vec<Sort>> = args.iter().map(static_sort).collect();
            sorts.map(|s| op.result_sort(&s))
        }
        Expr::Var(_) | Expr::Addr(_) => None,
    }
}

/// Returns 1 or 0, `width` bits wide.
pub(super) fn number(cond: Expr, width: u16) -> Expr {
    apply(Op::Ite, vec![cond, Expr::bv(width, 1), Expr::bv(width, 0)], false)
}

/// Returns `base + bytes`, joined with a constant that `base` already ends in.
pub(super) fn offset(base: Expr, bytes: i128, pointer: u16) -> Expr {
    match base {
        Expr::Op { op: Op::Add, mut args, signed_arith: false }
            if args.len() == 2 && constant(&args[1]).is_some() =>
        {
            let old = args.pop().and_then(|e| constant(&e)).and_then(Const::signed).unwrap_or(0);
            let base = args.pop().unwrap_or(Expr::bv(pointer, 0));
            offset(base, old + bytes, pointer)
        }
        base if bytes == 0 => base,
        base => apply(Op::Add, vec![base, Expr::bv(pointer, bytes)], false),
    }
}

impl FnCx<'_, '_> {
    /// Returns the sort of an expression over this function's variables.
    pub fn sort_of(&self, e: &Expr) -> Sort {
        e.sort(self.unit.pointer, &|v| {
            self.variables.all.get(v.0 as usize).and_then(|v| v.sort).unwrap_or(Sort::Bool)
        })
    }

    pub fn nonzero(&self, value: Expr) -> Expr {
        match self.sort_of(&value) {
            Sort::Bool => value,
            s @ (Sort::F32 | Sort::F64 | Sort::F80) => {
                let zero = Const::zero(s).map_or(value.clone(), Expr::Const);
                not(apply(Op::FEq, vec![value, zero], false))
            }
            Sort::Bv(w) => match nonzero(value) {
                // Variables do not show their sort to `nonzero`.
                v @ (Expr::Var(_) | Expr::Addr(_)) => not(apply(Op::Eq, vec![v, Expr::bv(w, 0)], false)),
                v if self.sort_of(&v) == Sort::Bool => v,
                v => not(apply(Op::Eq, vec![v, Expr::bv(w, 0)], false)),
            },
            _ => value,
        }
    }

    /// Converts a scalar value as C does.
    pub fn convert(&self, e: Expr, from: Scalar, to: Scalar) -> Expr {
        let p = self.unit.pointer;
        match (from, to) {
            (a, b) if a == b => e,
            (_, Scalar::Bool) => number(self.nonzero(e), 8),
            (f, g) if f.is_float() && g.is_float() => apply(Op::FToF(g.sort(p)), vec![e], false),
            (f, Scalar::Int { bits, signed }) if f.is_float() => {
                let op = if signed { Op::FToS(bits) } else { Op::FToU(bits) };
                apply(op, vec![e], false)
            }
            (f, Scalar::Pointer) if f.is_float() => apply(Op::FToU(p), vec![e], false),
            (i, f) if f.is_float() => {
                let sort = f.sort(p);
                let op = if i.is_signed() { Op::SToF(sort) } else { Op::UToF(sort) };
                apply(op, vec![e], false)
            }
            (i, to) => {
                let width = |s: Scalar| s.sort(p).bits().unwrap_or(p);
                resize(e, width(i), width(to), i.is_signed())
            }
        }
    }

    /// Lowers `a op b` for two operands of type `ty` (for shifts: of the left one's type; the count
    /// is then already that wide). Comparisons are for [`FnCx::compare`].
    pub fn arithmetic(&self, op: BinaryOp, ty: Scalar, a: Expr, b: Expr) -> Option<Expr> {
        let signed = ty.is_signed();
        if ty.is_float() {
            let op = match op {
                BinaryOp::Add => Op::FAdd,
                BinaryOp::Sub => Op::FSub,
                BinaryOp::Mul => Op::FMul,
                BinaryOp::Div => Op::FDiv,
                _ => return None,
            };
            return Some(Expr::op(op, vec![a, b]));
        }
        let (op, flagged) = match op {
            BinaryOp::Add => (Op::Add, signed),
            BinaryOp::Sub => (Op::Sub, signed),
            BinaryOp::Mul => (Op::Mul, signed),
            BinaryOp::Div => (if signed { Op::SDiv } else { Op::UDiv }, false),
            BinaryOp::Rem => (if signed { Op::SRem } else { Op::URem }, false),
            BinaryOp::Shl => (Op::Shl, signed),
            BinaryOp::Shr => (if signed { Op::AShr } else { Op::LShr }, false),
            BinaryOp::BitAnd => (Op::BitAnd, false),
            BinaryOp::BitOr => (Op::BitOr, false),
            BinaryOp::BitXor => (Op::BitXor, false),
            _ => return None,
        };
        Some(apply(op, vec![a, b], flagged))
    }

    /// Lowers a comparison of two values of type `ty` to a truth value.
    pub fn compare(&self, op: BinaryOp, ty: Scalar, a: Expr, b: Expr) -> Option<Expr> {
        let (eq, lt, le) = match ty {
            float if float.is_float() => (Op::FEq, Op::FLt, Op::FLe),
            Scalar::Int { signed: true, .. } => (Op::Eq, Op::Slt, Op::Sle),
            _ => (Op::Eq, Op::Ult, Op::Ule),
        };
        let of = |op, a, b| apply(op, vec![a, b], false);
        Some(match op {
            BinaryOp::Eq => of(eq, a, b),
            BinaryOp::Ne => not(of(eq, a, b)),
            BinaryOp::Lt => of(lt, a, b),
            BinaryOp::Gt => of(lt, b, a),
            BinaryOp::Le => of(le, a, b),
            BinaryOp::Ge => of(le, b, a),
            _ => return None,
        })
    }

    /// Brings a shift count to the width of the shifted value. A count too large for that width
    /// stays one that is out of range.
    pub fn shift_count(&self, count: Expr, from: Scalar, to: Scalar) -> Expr {
        let p = self.unit.pointer;
        let width = |s: Scalar| s.sort(p).bits().unwrap_or(p);
        let (have, want) = (width(from), width(to));
        if have <= want {
            return resize(count, have, want, from.is_signed());
        }
        let limit = Expr::bv(have, i128::from(want));
        let fits = apply(Op::Ult, vec![count.clone(), limit], false);
        let narrow = apply(Op::Trunc(want), vec![count], false);
        match fits {
            Expr::Const(Const::Bool(true)) => narrow,
            fits => apply(Op::Ite, vec![fits, narrow, Expr::bv(want, i128::from(want))], false),
        }
    }
}

/// Brings a bit-vector to another width.
pub(super) fn resize(e: Expr, from: u16, to: u16, signed: bool) -> Expr {
    if from == to {
        return e;
    }
    let op = match (to > from, signed) {
        (false, _) => Op::Trunc(to),
        (true, true) => Op::Sext(to),
        (true, false) => Op::Zext(to),
    };
    if let Some((cond, then, otherwise)) = choice(&e)
        && let (Ok(then), Ok(otherwise)) = (op.eval(&[then]), op.eval(&[otherwise]))
    {
        let arms = vec![cond.clone(), Expr::Const(then), Expr::Const(otherwise)];
        return Expr::op(Op::Ite, arms);
    }
    apply(op, vec![e], false)
}
