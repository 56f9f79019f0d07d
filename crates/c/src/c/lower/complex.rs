//! Complex numbers (C99, GNU C): what operators do with their halves.
//!
//! Each half is computed in its own type, rounded once an operation, as compilers for x86-64 do. A real operand
//! beside a complex one is not made complex: `x * z` multiplies both halves, `x + z` leaves the imaginary one
//! alone, so that signs of zeros and infinities come out as GCC's and Clang's. The checker writes such an
//! operand as a conversion, which [`FnCx::complex_operand`] looks through.
//!
//! Of a product of two complex numbers both halves may come out as NaN where one factor is infinite. Annex G and
//! the compilers' library (`__muldc3`) then compute it again with the infinities made ones and the NaNs zeros;
//! that is a branch here, with the library's formula behind it ([`FnCx::recovered`]). Signs of zeros and NaNs take
//! no part in what it gives, for it is infinite or NaN.
//!
//! Left alone: quotients of complex numbers, of which libraries have had several algorithms; arithmetic on complex
//! integers; products of two constants that are not small whole numbers, which GCC rounds once instead of three
//! times. Where its optimiser finds factors to be constants that the source keeps in variables, it does that
//! too, and the last bit of a product may differ from what is computed here.

use super::arith::{apply, not};
use super::function::{FnCx, Lowered};
use super::parts::Several;
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{Const, Expr, Op, VarId};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Const as Folded, Conversion, ExprId, ExprKind};
use rucc_types::TypeId;

/// An operand of complex arithmetic.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A real number, of the type of the other operand's halves.
    Real(Expr),
    Halves(Vec<Expr>),
}

/// Whole numbers up to here have products and sums that every format holds exactly.
const SMALL: f64 = 1024.0;

impl UnitCx<'_> {
    /// Returns the bits of the halves of a complex number that an initialiser folds to.
    ///
    /// The checker folds a real operand as a complex one, which may give a zero another sign than compilers
    /// do, and rounds products otherwise than they: where that could show, the value is not known.
    pub fn halves(&self, value: ExprId, constant: Folded) -> Option<[u128; 2]> {
        let what = self.several(self.tast[value].ty).filter(|what| !what.is_vector)?;
        let Folded::Complex { real, imag } = constant else { return None };
        let sort = what.scalar.sort(self.pointer);
        if !sort.is_float() {
            return None;
        }
        let bits = [real.to_bits(), imag.to_bits()];
        let halves: Option<Vec<Const>> = bits.iter().map(|b| Const::from_bits(sort, *b)).collect();
        let plain = |c: &Const| c.nearest_f64().is_some_and(|v| v.is_finite() && v != 0.0);
        let exact = match self.folding(value) {
            Folding::Written => true,
            Folding::Sums => halves?.iter().all(plain),
            Folding::Other => false,
        };
        exact.then_some(bits)
    }

    /// What a constant expression is folded by.
    fn folding(&self, e: ExprId) -> Folding {
        let expr = self.tast[e];
        if self.several(expr.ty).is_none() {
            return Folding::Written;
        }
        let is_real = |e: ExprId| {
            matches!(self.tast[e].kind, ExprKind::Convert { operand, .. }
                if self.several(self.tast[operand].ty).is_none())
        };
        match expr.kind {
            ExprKind::Const(_) | ExprKind::Complex { .. } => Folding::Written,
            ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => self.folding(operand),
            ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus | UnaryOp::BitNot, operand } => {
                self.folding(operand)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let sums = match op {
                    BinaryOp::Add | BinaryOp::Sub => true,
                    BinaryOp::Mul => is_real(lhs) || is_real(rhs),
                    _ => false,
                };
                let known = |e| self.folding(e) != Folding::Other;
                if sums && known(lhs) && known(rhs) { Folding::Sums } else { Folding::Other }
            }
            _ => Folding::Other,
        }
    }
}

/// How a constant complex number comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folding {
    /// Its halves are written.
    Written,
    /// By sums, and products with real numbers.
    Sums,
    Other,
}

impl FnCx<'_, '_> {
    /// `__real__` and `__imag__` of a value.
    pub fn half(&mut self, op: UnaryOp, operand: ExprId) -> Lowered<Expr> {
        let second = op == UnaryOp::Imag;
        let Some(what) = self.complex_of(operand) else {
            let scalar = self.scalar_of(operand)?;
            let value = self.value(operand)?;
            let zero = Const::zero(scalar.sort(self.unit.pointer)).ok_or("half of no number")?;
            return Ok(if second { Expr::Const(zero) } else { value });
        };
        // Of an object the other half need not have a value.
        if let ExprKind::Convert { kind: Conversion::Lvalue, operand: object } = self.unit.tast[operand].kind
        {
            let place = self.half_of_object(op, object)?;
            return self.load(&place, what.part, None);
        }
        let halves = self.parts(operand)?;
        halves.into_iter().nth(usize::from(second)).ok_or_else(|| "half of no number".into())
    }

    /// `__real__` and `__imag__` of an object.
    pub fn half_of_object(&mut self, op: UnaryOp, object: ExprId) -> Lowered<super::places::Lvalue> {
        let ty = self.unit.tast[object].ty;
        let what = self.complex_of(object).ok_or("half of no number")?;
        if self.unit.is_volatile(ty) {
            return self.no_value(ty);
        }
        let addr = self.address(object)?;
        Ok(self.part_at(&addr, usize::from(op == UnaryOp::Imag), what))
    }

    /// The value of a real or complex expression as a complex number.
    pub fn complex_conversion(&mut self, operand: ExprId, to: Several) -> Lowered<Vec<Expr>> {
        if let Some(from) = self.several_of(operand) {
            if from.is_vector {
                return Err("complex number made of a vector".into());
            }
            let halves = self.parts(operand)?;
            return Ok(self.converted_halves(halves, from, to));
        }
        let value = self.real(operand, to)?;
        let zero = Const::zero(to.scalar.sort(self.unit.pointer)).ok_or("half of no number")?;
        Ok(vec![value, Expr::Const(zero)])
    }

    /// Evaluates a real number in the type of the halves.
    fn real(&mut self, e: ExprId, to: Several) -> Lowered<Expr> {
        let from = self.scalar_of(e)?;
        if from == Scalar::Pointer {
            return Err("complex number made of a pointer".into());
        }
        let value = self.value(e)?;
        let value = self.convert(value, from, to.scalar);
        Ok(self.settled_part(value, to))
    }

    pub fn converted_halves(&mut self, halves: Vec<Expr>, from: Several, to: Several) -> Vec<Expr> {
        let converted = halves.into_iter().map(|h| self.convert(h, from.scalar, to.scalar)).collect();
        self.settled_parts(converted, to)
    }

    /// A complex number as a real one: the imaginary half is dropped.
    pub fn real_of_complex(&mut self, operand: ExprId, from: Several, to: TypeId) -> Lowered<Expr> {
        let scalar = self.scalar_type(to)?;
        if scalar == Scalar::Pointer {
            return Err("pointer made of a complex number".into());
        }
        let value = self.half(UnaryOp::Real, operand)?;
        Ok(self.convert(value, from.scalar, scalar))
    }

    pub fn complex_unary(&mut self, op: UnaryOp, operand: ExprId, what: Several) -> Lowered<Vec<Expr>> {
        if !what.scalar.is_float() || self.complex_of(operand) != Some(what) {
            return Err("arithmetic on complex integers".into());
        }
        let negate = |x: Expr| apply(Op::FNeg, vec![x], false);
        let halves = self.parts(operand)?;
        let made = match (op, <[Expr; 2]>::try_from(halves)) {
            (UnaryOp::Minus, Ok([re, im])) => vec![negate(re), negate(im)],
            // The conjugate.
            (UnaryOp::BitNot, Ok([re, im])) => vec![re, negate(im)],
            _ => return Err("operator that is not modelled".into()),
        };
        Ok(self.settled_parts(made, what))
    }

    pub fn complex_binary(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        what: Several,
    ) -> Lowered<Vec<Expr>> {
        let left = self.complex_operand(lhs, what)?;
        let right = self.complex_operand(rhs, what)?;
        match left {
            Operand::Halves(left) => self.complex_arithmetic(op, left, right, what),
            Operand::Real(x) => self.real_beside(op, x, right, what),
        }
    }

    /// Evaluates an operand; one that was made complex only to meet the other one stays real.
    pub fn complex_operand(&mut self, e: ExprId, what: Several) -> Lowered<Operand> {
        if let ExprKind::Convert { kind: Conversion::Arithmetic, operand } = self.unit.tast[e].kind
            && matches!(self.unit.shape(self.unit.tast[operand].ty), Shape::Scalar(_))
        {
            return Ok(Operand::Real(self.real(operand, what)?));
        }
        match self.complex_of(e) == Some(what) {
            true => Ok(Operand::Halves(self.parts(e)?)),
            false => Err("operand of another type".into()),
        }
    }

    /// `left op right`, of which the left side is complex.
    pub fn complex_arithmetic(
        &mut self,
        op: BinaryOp,
        left: Vec<Expr>,
        right: Operand,
        what: Several,
    ) -> Lowered<Vec<Expr>> {
        let Ok([a, b]) = <[Expr; 2]>::try_from(left) else { return Err("half of no number".into()) };
        let made = match (op, right) {
            (BinaryOp::Add | BinaryOp::Sub, Operand::Real(x)) => vec![self.on_halves(op, a, x, what)?, b],
            (BinaryOp::Mul | BinaryOp::Div, Operand::Real(x)) => {
                vec![self.on_halves(op, a, x.clone(), what)?, self.on_halves(op, b, x, what)?]
            }
            (BinaryOp::Add | BinaryOp::Sub, Operand::Halves(right)) => {
                let Ok([c, d]) = <[Expr; 2]>::try_from(right) else {
                    return Err("half of no number".into());
                };
                vec![self.on_halves(op, a, c, what)?, self.on_halves(op, b, d, what)?]
            }
            (BinaryOp::Mul, Operand::Halves(right)) => {
                let Ok([c, d]) = <[Expr; 2]>::try_from(right) else {
                    return Err("half of no number".into());
                };
                return self.product([a, b], [c, d], what);
            }
            (BinaryOp::Div, Operand::Halves(_)) => return Err("division by a complex number".into()),
            _ => return Err("operator that is not modelled".into()),
        };
        Ok(made)
    }

    /// `x op= right` of a real object and a complex value: computed as a complex number, stored as a real one.
    pub fn compound_real(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, wide: Several) -> Lowered<Expr> {
        let ty = self.unit.tast[lhs].ty;
        let scalar = self.scalar_type(ty)?;
        if wide.is_vector || scalar == Scalar::Pointer {
            return Err("operand of another type".into());
        }
        let place = self.place(lhs)?;
        let right = self.complex_operand(rhs, wide)?;
        let old = self.load(&place, ty, None)?;
        let x = self.convert(old, scalar, wide.scalar);
        let x = self.settled_part(x, wide);
        let result = self.real_beside(op, x, right, wide)?;
        let half = result.into_iter().next().ok_or("half of no number")?;
        let narrowed = self.convert(half, wide.scalar, scalar);
        self.store(&place, ty, narrowed)
    }

    /// `x op right`, of which the left side is real.
    fn real_beside(&mut self, op: BinaryOp, x: Expr, right: Operand, what: Several) -> Lowered<Vec<Expr>> {
        let Operand::Halves(right) = right else { return Err("operand of another type".into()) };
        let Ok([c, d]) = <[Expr; 2]>::try_from(right) else { return Err("half of no number".into()) };
        Ok(match op {
            BinaryOp::Add => vec![self.on_halves(op, x, c, what)?, d],
            BinaryOp::Sub => {
                let negative = apply(Op::FNeg, vec![d], false);
                vec![self.on_halves(op, x, c, what)?, self.settled_part(negative, what)]
            }
            BinaryOp::Mul => vec![self.on_halves(op, x.clone(), c, what)?, self.on_halves(op, x, d, what)?],
            _ => return Err("division by a complex number".into()),
        })
    }

    fn on_halves(&mut self, op: BinaryOp, a: Expr, b: Expr, what: Several) -> Lowered<Expr> {
        let op = match op {
            BinaryOp::Add => Op::FAdd,
            BinaryOp::Sub => Op::FSub,
            BinaryOp::Mul => Op::FMul,
            BinaryOp::Div => Op::FDiv,
            _ => return Err("operator that is not modelled".into()),
        };
        match what.scalar.is_float() {
            true => Ok(self.settled_part(apply(op, vec![a, b], false), what)),
            false => Err("arithmetic on complex integers".into()),
        }
    }

    fn product(&mut self, [a, b]: [Expr; 2], [c, d]: [Expr; 2], what: Several) -> Lowered<Vec<Expr>> {
        let factors = [a, b, c, d];
        if factors.iter().all(|x| matches!(x, Expr::Const(_))) && !factors.iter().all(is_small) {
            return Err("product of constants that compilers round otherwise".into());
        }
        let [a, b, c, d] = factors.clone();
        let ac = self.on_halves(BinaryOp::Mul, a.clone(), c.clone(), what)?;
        let bd = self.on_halves(BinaryOp::Mul, b.clone(), d.clone(), what)?;
        let ad = self.on_halves(BinaryOp::Mul, a, d, what)?;
        let bc = self.on_halves(BinaryOp::Mul, b, c, what)?;
        let re = apply(Op::FSub, vec![ac.clone(), bd.clone()], false);
        let im = apply(Op::FAdd, vec![ad.clone(), bc.clone()], false);
        if matches!((&re, &im), (Expr::Const(_), Expr::Const(_))) {
            return Ok(vec![re, im]);
        }
        let (x, y) = (self.temp(what.scalar, what.part), self.temp(what.scalar, what.part));
        self.assign(x, re);
        self.assign(y, im);
        let lost = apply(Op::And, vec![is_nan(&Expr::Var(x)), is_nan(&Expr::Var(y))], false);
        self.where_true(lost, |cx| cx.recovered(factors, [ac, bd, ad, bc], [x, y], what));
        Ok(vec![Expr::Var(x), Expr::Var(y)])
    }

    /// Computes the halves of a product again that both came out as NaN, where an infinity was lost.
    fn recovered(&mut self, factors: [Expr; 4], products: [Expr; 4], halves: [VarId; 2], what: Several) {
        let sort = what.scalar.sort(self.unit.pointer);
        let number = |v: f64| Const::of_f64(sort, v).map_or_else(|| Expr::bv(32, 0), Expr::Const);
        let op = |op: Op, args: Vec<Expr>| apply(op, args, false);
        let infinite = |x: &Expr| op(Op::FIsInf, vec![x.clone()]);
        let any = |of: &[Expr]| op(Op::Or, of.iter().map(infinite).collect());
        let mut boxed = Vec::new();
        for pair in factors.chunks(2) {
            let is_infinite = any(pair);
            for x in pair {
                let one = op(Op::FCopysign, vec![number(1.0), x.clone()]);
                let in_infinite = op(Op::Ite, vec![infinite(x), one, number(0.0)]);
                let in_finite = op(Op::Ite, vec![is_nan(x), number(0.0), x.clone()]);
                let made = op(Op::Ite, vec![is_infinite.clone(), in_infinite, in_finite]);
                boxed.push(self.settled_part(made, what));
            }
        }
        let Ok([a, b, c, d]) = <[Expr; 4]>::try_from(boxed) else { return };
        let lost: Vec<Expr> = factors.iter().chain(&products).cloned().collect();
        let lost = any(&lost);
        let times = |x: &Expr, y: &Expr| op(Op::FMul, vec![x.clone(), y.clone()]);
        let sums = [
            op(Op::FSub, vec![times(&a, &c), times(&b, &d)]),
            op(Op::FAdd, vec![times(&a, &d), times(&b, &c)]),
        ];
        for (half, sum) in halves.into_iter().zip(sums) {
            let infinity = op(Op::FMul, vec![number(f64::INFINITY), sum]);
            let value = op(Op::Ite, vec![lost.clone(), infinity, Expr::Var(half)]);
            self.assign(half, value);
        }
    }

    /// `a == b` and `a != b` of complex numbers: both halves count.
    pub fn complex_equality(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        what: Several,
    ) -> Lowered<Expr> {
        if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) || self.complex_of(rhs) != Some(what) {
            return Err("operator that is not modelled".into());
        }
        let (left, right) = (self.parts(lhs)?, self.parts(rhs)?);
        let equal: Option<Vec<Expr>> =
            left.into_iter().zip(right).map(|(a, b)| self.compare(BinaryOp::Eq, what.scalar, a, b)).collect();
        let equal = apply(Op::And, equal.ok_or("operator that is not modelled")?, false);
        Ok(if op == BinaryOp::Eq { equal } else { not(equal) })
    }

    /// Whether a half of a complex number is not zero.
    pub fn complex_truth(&mut self, e: ExprId) -> Lowered<Expr> {
        let halves = self.parts(e)?;
        let nonzero = halves.into_iter().map(|half| self.nonzero(half)).collect();
        Ok(apply(Op::Or, nonzero, false))
    }
}

fn is_nan(x: &Expr) -> Expr {
    apply(Op::FIsNan, vec![x.clone()], false)
}

/// Whether a constant is a small whole number.
fn is_small(x: &Expr) -> bool {
    let value = if let Expr::Const(c) = x { c.nearest_f64() } else { None };
    value.is_some_and(|v| v.fract() == 0.0 && v.abs() <= SMALL && !(v == 0.0 && v.is_sign_negative()))
}
