//! What compilers know by name and no library defines: counting bits, arithmetic that says whether it
//! overflowed, kinds of floats, questions that a compiler answers.
//!
//! All of it becomes operators of the IR, so that every engine knows it. Bits are counted in parallel, by
//! sums of neighbours of growing width; each step is kept in a temporary, so that the steps do not multiply.

use super::arith::{apply, not, number, resize};
use super::function::{FnCx, Lowered};
use super::types::Scalar;
use crate::ir::{CType, Callee, Const, Expr, Instr, Object, Op, Sort};
use rucc_sema::{BitCount, Classify, ExprId, ExprList, OverflowOp};
use rucc_types::TypeId;

impl FnCx<'_, '_> {
    /// Emits what `stdarg.h` does as a call that gets the addresses of the lists. That of `va_arg` gets the
    /// kind of what is fetched as well: how far the list moves on depends on it.
    pub fn variable_arguments(
        &mut self,
        name: &str,
        lists: &[ExprId],
        fetched: Option<TypeId>,
    ) -> Lowered<Expr> {
        let mut args = Vec::new();
        let mut arg_types = Vec::new();
        for &list in lists {
            args.push(self.value(list)?);
            arg_types.push(self.unit.ctype(self.unit.tast[list].ty));
        }
        let (mut dst, mut ret) = (None, CType::Void);
        if let Some(ty) = fetched {
            let scalar = self.scalar_type(ty)?;
            let sort = scalar.sort(self.unit.pointer);
            ret = self.unit.ctype(ty);
            let kind = u32::from(matches!(sort, Sort::Bv(_))) << 16 | u32::from(sort.bits().unwrap_or(0));
            args.push(Expr::bv(32, i128::from(kind)));
            arg_types.push(CType::Int { name: "int".into(), bits: 32, signed: true });
            dst = Some(self.temp(scalar, ty));
        }
        let callee = Callee::Direct(name.into());
        self.emit(Instr::Call { dst, callee, args, arg_types, ret, result_to: None, noreturn: false });
        Ok(dst.map_or_else(|| Expr::bv(32, 0), Expr::Var))
    }

    /// Counts bits of an operand; the result is an `int`.
    pub fn bit_count(&mut self, operand: ExprId, count: BitCount) -> Lowered<Expr> {
        let Scalar::Int { bits, .. } = self.scalar_of(operand)? else {
            return Err("bits of no integer".into());
        };
        let ty = self.unit.tast[operand].ty;
        let value = self.value(operand)?;
        let x = self.step_value(value, bits, ty);
        let k = |n: i128| Expr::bv(bits, n);
        let counted = match count {
            BitCount::Ones => self.ones(x, bits, ty),
            BitCount::Parity => {
                let ones = self.ones(x, bits, ty);
                apply(Op::BitAnd, vec![ones, k(1)], false)
            }
            BitCount::Trailing => {
                self.require_nonzero(&x, bits)?;
                // The bits below the lowest one that is set.
                let below = apply(Op::Sub, vec![x.clone(), k(1)], false);
                let low = apply(Op::BitAnd, vec![apply(Op::BitNot, vec![x], false), below], false);
                self.ones(low, bits, ty)
            }
            BitCount::FirstSet => {
                let below = apply(Op::Sub, vec![x.clone(), k(1)], false);
                let up_to = apply(Op::BitXor, vec![x.clone(), below], false);
                let ones = self.ones(up_to, bits, ty);
                apply(Op::Ite, vec![apply(Op::Eq, vec![x, k(0)], false), k(0), ones], false)
            }
            BitCount::Leading => {
                self.require_nonzero(&x, bits)?;
                self.leading(x, bits, ty)
            }
            BitCount::RedundantSign => {
                let sign = apply(Op::AShr, vec![x.clone(), k(i128::from(bits) - 1)], false);
                let magnitude = apply(Op::BitXor, vec![x, sign], false);
                let leading = self.leading(magnitude, bits, ty);
                apply(Op::Sub, vec![leading, k(1)], false)
            }
        };
        Ok(resize(counted, bits, 32, false))
    }

    /// Keeps an expression in a temporary.
    fn step_value(&mut self, value: Expr, bits: u16, ty: TypeId) -> Expr {
        if matches!(value, Expr::Const(_)) {
            return value;
        }
        let kept = self.temp(Scalar::Int { bits, signed: false }, ty);
        self.assign(kept, value);
        Expr::Var(kept)
    }

    /// Control must not go on with zero.
    fn require_nonzero(&mut self, x: &Expr, bits: u16) -> Lowered<()> {
        let zero = apply(Op::Eq, vec![x.clone(), Expr::bv(bits, 0)], false);
        match zero {
            Expr::Const(Const::Bool(false)) => {}
            Expr::Const(_) => return Err("bits of the constant zero".into()),
            zero => {
                let (yes, no) = self.emit_branch(zero);
                self.graph.frontier = vec![yes];
                self.emit_last(Instr::Unreachable);
                self.graph.frontier = vec![no];
            }
        }
        Ok(())
    }

    /// The number of bits that are set, as wide as the value.
    fn ones(&mut self, x: Expr, bits: u16, ty: TypeId) -> Expr {
        let mut sum = self.step_value(x, bits, ty);
        let mut width = 1;
        while width < bits {
            // Fields of `width` bits, every other one.
            let mask =
                (0..bits).step_by(2 * usize::from(width)).fold(0u128, |m, at| m | Const::mask(width) << at);
            let mask = Expr::bv(bits, mask as i128);
            let shifted = apply(Op::LShr, vec![sum.clone(), Expr::bv(bits, i128::from(width))], false);
            let low = apply(Op::BitAnd, vec![sum, mask.clone()], false);
            let high = apply(Op::BitAnd, vec![shifted, mask], false);
            sum = self.step_value(apply(Op::Add, vec![low, high], false), bits, ty);
            width *= 2;
        }
        sum
    }

    /// The number of zeros above the highest bit that is set; all of them for zero.
    fn leading(&mut self, x: Expr, bits: u16, ty: TypeId) -> Expr {
        let mut filled = self.step_value(x, bits, ty);
        let mut by = 1;
        while by < bits {
            let shifted = apply(Op::LShr, vec![filled.clone(), Expr::bv(bits, i128::from(by))], false);
            filled = self.step_value(apply(Op::BitOr, vec![filled, shifted], false), bits, ty);
            by *= 2;
        }
        let ones = self.ones(filled, bits, ty);
        apply(Op::Sub, vec![Expr::bv(bits, i128::from(bits)), ones], false)
    }

    /// The bytes of a value in the other order.
    pub fn byte_swap(&mut self, operand: ExprId) -> Lowered<Expr> {
        let Scalar::Int { bits, .. } = self.scalar_of(operand)? else {
            return Err("bytes of no integer".into());
        };
        let value = self.value(operand)?;
        let x = self.step_value(value, bits, self.unit.tast[operand].ty);
        let mut swapped: Option<Expr> = None;
        for at in (0..bits).step_by(8) {
            let to = bits - 8 - at;
            let byte = apply(
                Op::BitAnd,
                vec![
                    match at {
                        0 => x.clone(),
                        at => apply(Op::LShr, vec![x.clone(), Expr::bv(bits, i128::from(at))], false),
                    },
                    Expr::bv(bits, 0xff),
                ],
                false,
            );
            let moved = match to {
                0 => byte,
                to => apply(Op::Shl, vec![byte, Expr::bv(bits, i128::from(to))], false),
            };
            swapped = Some(match swapped {
                None => moved,
                Some(rest) => apply(Op::BitOr, vec![rest, moved], false),
            });
        }
        swapped.ok_or_else(|| "bytes of no integer".into())
    }

    /// `__builtin_add_overflow` and the others: computes exactly, stores what fits of it, and says whether
    /// something did not.
    pub fn overflow(&mut self, op: OverflowOp, args: ExprList, stores: bool) -> Lowered<Expr> {
        let &[a, b, to] = &self.unit.tast[args] else { return Err("overflow builtin".into()) };
        let target = match stores {
            true => self.unit.target_of(self.unit.tast[to].ty).ok_or("overflow builtin without a target")?,
            false => self.unit.tast[to].ty,
        };
        let (ta, tb, result) = (self.integer(a)?, self.integer(b)?, self.integer_type(target)?);
        let exact = Exact::of(op, ta, tb, result).ok_or("overflow builtin beyond 128 bits")?;
        let x = self.value(a)?;
        let x = self.kept(x, a, true)?;
        let y = self.value(b)?;
        let y = self.kept(y, b, true)?;
        let addr = if stores { Some(self.value(to)?) } else { None };
        let wide = |e: Expr, (bits, signed): (u16, bool)| resize(e, bits, exact.width, signed);
        let op = match op {
            OverflowOp::Add => Op::Add,
            OverflowOp::Sub => Op::Sub,
            OverflowOp::Mul => Op::Mul,
        };
        let value = apply(op, vec![wide(x, ta), wide(y, tb)], false);
        let kept = self.temp(Scalar::Int { bits: exact.width, signed: exact.signed }, target);
        self.assign(kept, value);
        let value = Expr::Var(kept);
        if let Some(addr) = addr {
            let fits = resize(value.clone(), exact.width, result.0, exact.signed);
            self.store(&super::places::Lvalue::Memory { addr }, target, fits)?;
        }
        let le = if exact.signed { Op::Sle } else { Op::Ule };
        let (low, high) = exact.limits(result);
        let above = apply(le, vec![value.clone(), Expr::bv(exact.width, high)], false);
        let inside = match exact.signed {
            true => {
                let below = apply(le, vec![Expr::bv(exact.width, low), value], false);
                apply(Op::And, vec![below, above], false)
            }
            false => above,
        };
        Ok(number(not(inside), 8))
    }

    /// Width and signedness of an integer, `_Bool` as what it is stored as.
    fn integer(&self, e: ExprId) -> Lowered<(u16, bool)> {
        self.integer_type(self.unit.tast[e].ty)
    }

    fn integer_type(&self, ty: TypeId) -> Lowered<(u16, bool)> {
        match self.scalar_type(ty)? {
            Scalar::Int { bits, signed } => Ok((bits, signed)),
            Scalar::Bool => Ok((8, false)),
            _ => Err("overflow builtin of no integers".into()),
        }
    }

    /// Classification macros of `math.h`.
    pub fn classify(&mut self, op: Classify, lhs: ExprId, rhs: Option<ExprId>, ty: TypeId) -> Lowered<Expr> {
        let (x, sort) = self.float(lhs)?;
        let is = |op, x: &Expr| apply(op, vec![x.clone()], false);
        let width = self.scalar_type(ty)?.sort(self.unit.pointer).bits().unwrap_or(32);
        let cond = match (op, rhs) {
            (Classify::Nan, _) => is(Op::FIsNan, &x),
            (Classify::Infinite, _) => is(Op::FIsInf, &x),
            (Classify::Finite, _) => not(apply(Op::Or, vec![is(Op::FIsNan, &x), is(Op::FIsInf, &x)], false)),
            (Classify::Normal, _) => {
                let normal = apply(Op::FLe, vec![least_normal(sort), is(Op::FAbs, &x)], false);
                apply(Op::And, vec![normal, not(is(Op::FIsInf, &x))], false)
            }
            (Classify::SignBit, _) => is(Op::FSignbit, &x),
            (Classify::InfiniteSign, _) => {
                let (one, none) = (Expr::bv(width, 1), Expr::bv(width, 0));
                let sign = apply(Op::Ite, vec![is(Op::FSignbit, &x), Expr::bv(width, -1), one], false);
                return Ok(apply(Op::Ite, vec![is(Op::FIsInf, &x), sign, none], false));
            }
            (Classify::Unordered, Some(rhs)) => {
                let (y, _) = self.float(rhs)?;
                apply(Op::Or, vec![is(Op::FIsNan, &x), is(Op::FIsNan, &y)], false)
            }
            (Classify::LessGreater, Some(rhs)) => {
                let (y, _) = self.float(rhs)?;
                let less = apply(Op::FLt, vec![x.clone(), y.clone()], false);
                apply(Op::Or, vec![less, apply(Op::FLt, vec![y, x], false)], false)
            }
            _ => return Err("classification that is not modelled".into()),
        };
        Ok(number(cond, width))
    }

    /// `__builtin_fpclassify`: one of five answers, for NaN, infinite, normal, subnormal and zero.
    pub fn fp_classify(&mut self, value: ExprId, answers: ExprList) -> Lowered<Expr> {
        let (x, sort) = self.float(value)?;
        let list: Vec<ExprId> = self.unit.tast[answers].to_vec();
        let answers = list.into_iter().map(|a| self.value(a)).collect::<Lowered<Vec<Expr>>>()?;
        let [nan, infinite, normal, subnormal, zero] = answers.try_into().map_err(|_| "fpclassify")?;
        let is = |op| apply(op, vec![x.clone()], false);
        let none = Const::zero(sort).map_or(x.clone(), Expr::Const);
        let is_normal = apply(Op::FLe, vec![least_normal(sort), is(Op::FAbs)], false);
        let small =
            apply(Op::Ite, vec![apply(Op::FEq, vec![x.clone(), none], false), zero, subnormal], false);
        let finite = apply(Op::Ite, vec![is_normal, normal, small], false);
        let number = apply(Op::Ite, vec![is(Op::FIsInf), infinite, finite], false);
        Ok(apply(Op::Ite, vec![is(Op::FIsNan), nan, number], false))
    }

    /// A builtin that has a library function's meaning.
    pub fn named_call(&mut self, name: &str, args: &[ExprId], e: ExprId) -> Lowered<Expr> {
        let ret = self.unit.tast[e].ty;
        let scalar = self.scalar_type(ret)?;
        let name = match (name, scalar) {
            ("abs", Scalar::Int { bits: 64, .. }) => "llabs",
            (n, _) => n,
        };
        let mut values = Vec::new();
        let mut types = Vec::new();
        for &a in args {
            values.push(self.value(a)?);
            let ty = self.unit.tast[a].ty;
            types.push(self.unit.ctype(ty));
        }
        let dst = self.temp(scalar, ret);
        let ret = self.unit.ctype(ret);
        self.emit(Instr::Call {
            dst: Some(dst),
            callee: Callee::Direct(name.into()),
            args: values,
            arg_types: types,
            ret,
            result_to: None,
            noreturn: false,
        });
        Ok(Expr::Var(dst))
    }

    /// A float, kept in a temporary: it is asked about several times.
    fn float(&mut self, e: ExprId) -> Lowered<(Expr, Sort)> {
        let scalar = self.scalar_of(e)?;
        if !scalar.is_float() {
            return Err("classification of no float".into());
        }
        let value = self.value(e)?;
        let sort = scalar.sort(self.unit.pointer);
        if matches!(value, Expr::Const(_) | Expr::Var(_)) {
            return Ok((value, sort));
        }
        let kept = self.temp(scalar, self.unit.tast[e].ty);
        self.assign(kept, value);
        Ok((Expr::Var(kept), sort))
    }

    /// `__builtin_object_size` of an object that is named; what a pointer leads to compilers answer as
    /// their optimiser sees it.
    pub fn object_size(&mut self, address: ExprId, kind: u8, ty: TypeId) -> Lowered<Expr> {
        let (base, offset) = match self.value(address)? {
            Expr::Addr(object) => (object, 0),
            Expr::Op { op: Op::Add, args, .. } => match args.as_slice() {
                [Expr::Addr(object), Expr::Const(k)] => (object.clone(), k.signed().unwrap_or(-1)),
                _ => return Err("__builtin_object_size of no named object".into()),
            },
            _ => return Err("__builtin_object_size of no named object".into()),
        };
        let (size, of) = match &base {
            Object::Local(v) => self.variables.all.get(v.0 as usize).map(|v| (v.size, v.ty.clone())),
            Object::Global(s) => self.unit.global_size(s),
            Object::Function(_) => None,
        }
        .ok_or("__builtin_object_size of no object")?;
        let whole = kind & 1 == 0 || !matches!(of, crate::ir::CType::Record(_));
        let left = i128::from(size) - offset;
        if !whole || size == 0 || offset < 0 || left < 0 {
            return Err("__builtin_object_size of a part".into());
        }
        let width = self.scalar_type(ty)?.sort(self.unit.pointer).bits().unwrap_or(64);
        Ok(Expr::bv(width, left))
    }
}

/// Width and signedness in which an operation on two integers is exact and every result type has its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exact {
    width: u16,
    signed: bool,
}

impl Exact {
    fn of(op: OverflowOp, a: (u16, bool), b: (u16, bool), result: (u16, bool)) -> Option<Exact> {
        // Bits of a value as a signed one.
        let signed_bits = |(bits, signed): (u16, bool)| bits + u16::from(!signed);
        let unsigned = !a.1 && !b.1 && op != OverflowOp::Sub;
        let bits = match (op, unsigned) {
            (OverflowOp::Mul, true) => a.0 + b.0,
            // |a * b| is at most 2 to the sum of the bits without signs, and that only of two least values.
            (OverflowOp::Mul, false) => (a.0 + b.0).max(signed_bits(a).max(signed_bits(b))),
            (_, true) => a.0.max(b.0) + 1,
            (_, false) => signed_bits(a).max(signed_bits(b)) + 1,
        };
        let bits = bits.max(if unsigned { result.0 } else { signed_bits(result) });
        let width = [32, 64, 128].into_iter().find(|w| *w >= bits)?;
        Some(Exact { width, signed: !unsigned })
    }

    /// The least and the greatest value of a type, in this width.
    fn limits(self, (bits, signed): (u16, bool)) -> (i128, i128) {
        let mask = |bits| Const::mask(bits) as i128;
        match signed {
            true => (-(1i128 << (bits - 1)), mask(bits - 1)),
            false => (0, mask(bits)),
        }
    }
}

/// The least positive normal number.
fn least_normal(sort: Sort) -> Expr {
    Expr::Const(if sort == Sort::F32 { Const::f32(f32::MIN_POSITIVE) } else { Const::f64(f64::MIN_POSITIVE) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_arithmetic_is_wide_enough() {
        let check = |op, a, b, r, expected: Option<(u16, bool)>| {
            assert_eq!(Exact::of(op, a, b, r).map(|e| (e.width, e.signed)), expected);
        };
        let (i32_, u32_, i64_, u64_) = ((32, true), (32, false), (64, true), (64, false));
        check(OverflowOp::Add, (8, true), (8, true), (8, true), Some((32, true)));
        check(OverflowOp::Add, i32_, i32_, i32_, Some((64, true)));
        check(OverflowOp::Sub, u32_, u32_, u32_, Some((64, true)));
        check(OverflowOp::Mul, i32_, u32_, i32_, Some((64, true)));
        check(OverflowOp::Mul, u32_, u32_, i32_, Some((64, false)));
        check(OverflowOp::Mul, i64_, u64_, u64_, Some((128, true)));
        check(OverflowOp::Mul, u64_, u64_, i32_, Some((128, false)));
        check(OverflowOp::Add, i32_, i32_, u64_, Some((128, true)));
        check(OverflowOp::Add, (128, true), i32_, i32_, None);
        assert_eq!(Exact { width: 64, signed: true }.limits((8, true)), (-128, 127));
        assert_eq!(Exact { width: 64, signed: true }.limits((32, false)), (0, 4294967295));
    }
}
