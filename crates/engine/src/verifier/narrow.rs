//! What a condition says of the values in it: an assumption is carried back through the operators to
//! the variables (HC4; Benhamou et al., "Revising hull and box consistency", 1999).

use super::state::State;
use super::value::{Float, Value, apply, at_ordinal, ordinal};
use crate::ir::interval::Bits;
use crate::ir::{Const, Expr, Op, Sort};

/// Finds the object of a symbol.
pub(super) type Statics<'s> = &'s dyn Fn(&str) -> Option<u32>;

impl State {
    fn value(&self, e: &Expr, statics: Statics) -> Option<Value> {
        self.eval(e, statics).ok().map(|i| i.value)
    }

    /// Keeps of a state what a condition holds for, or more; `false`: nothing is left.
    pub fn assume(&mut self, e: &Expr, holds: bool, statics: Statics) -> bool {
        match e {
            Expr::Const(c) => c.as_bool() == Some(holds),
            Expr::Var(v) => self.narrow_register(*v, &Value::truth(holds)),
            Expr::Addr(_) => true,
            Expr::Op { op, args, .. } => self.assume_op(*op, args, holds, statics),
        }
    }

    fn assume_op(&mut self, op: Op, args: &[Expr], holds: bool, statics: Statics) -> bool {
        match (op, args) {
            (Op::Not, [a]) => self.assume(a, !holds, statics),
            (Op::And | Op::Or, _) => {
                if holds == (op == Op::And) {
                    return args.iter().all(|a| self.assume(a, holds, statics));
                }
                // One of them has to; if all others do not, it is the last one.
                let open = |a: &&Expr| self.value(a, statics).is_none_or(|v| v.known_truth() != Some(!holds));
                let open: Vec<&Expr> = args.iter().filter(open).collect();
                match open.as_slice() {
                    [] => false,
                    [last] => self.assume(last, holds, statics),
                    _ => true,
                }
            }
            (Op::Ite, [c, a, b]) => {
                let known = |s: &State, e: &Expr| s.value(e, statics).and_then(|v| v.known_truth());
                match (known(self, c), known(self, a), known(self, b)) {
                    (Some(true), ..) => self.assume(a, holds, statics),
                    (Some(false), ..) => self.assume(b, holds, statics),
                    (_, Some(yes), _) if yes != holds => {
                        self.assume(c, false, statics) && self.assume(b, holds, statics)
                    }
                    (_, _, Some(no)) if no != holds => {
                        self.assume(c, true, statics) && self.assume(a, holds, statics)
                    }
                    _ => true,
                }
            }
            (_, [a, b]) => {
                let (Some(x), Some(y)) = (self.value(a, statics), self.value(b, statics)) else {
                    return true;
                };
                match (x, y) {
                    (Value::Truth { .. }, Value::Truth { .. }) if op == Op::Eq => {
                        match (x.known_truth(), y.known_truth()) {
                            (Some(k), _) => self.assume(b, k == holds, statics),
                            (_, Some(k)) => self.assume(a, k == holds, statics),
                            _ => true,
                        }
                    }
                    (Value::Bits(x), Value::Bits(y)) => self.compare(op, (a, x), (b, y), holds, statics),
                    (Value::Float(x), Value::Float(y)) => {
                        self.compare_floats(op, (a, x), (b, y), holds, statics)
                    }
                    _ => true,
                }
            }
            _ => true,
        }
    }

    fn compare(
        &mut self,
        op: Op,
        (a, x): (&Expr, Bits),
        (b, y): (&Expr, Bits),
        holds: bool,
        statics: Statics,
    ) -> bool {
        let signed = match op {
            Op::Slt | Op::Sle => true,
            Op::Ult | Op::Ule => false,
            Op::Eq if holds => {
                let Some(met) = Value::Bits(x).meet(&Value::Bits(y)) else { return false };
                return self.narrow(a, &met, statics) && self.narrow(b, &met, statics);
            }
            Op::Eq => {
                return self.differ(a, x, y, statics) && self.differ(b, y, x, statics);
            }
            _ => return true,
        };
        // What does not hold is the other way round.
        let strict = matches!(op, Op::Slt | Op::Ult) == holds;
        let ((low, l), (high, h)) = if holds { ((a, x), (b, y)) } else { ((b, y), (a, x)) };
        let gap = i128::from(strict);
        let all = (i128::MIN / 2, i128::MAX / 2);
        let (l_ends, h_ends) = if signed { (l.s(), h.s()) } else { (l.u(), h.u()) };
        let (below, above) = ((all.0, h_ends.1 - gap), (l_ends.0 + gap, all.1));
        let cut = |of: &Bits, to: (i128, i128)| {
            let (s, u) = if signed { (to, of.u()) } else { (of.s(), to) };
            let limit = Bits::new(of.width, s, u)?;
            Value::Bits(*of).meet(&Value::Bits(limit))
        };
        match (cut(&l, below), cut(&h, above)) {
            (Some(l), Some(h)) => self.narrow(low, &l, statics) && self.narrow(high, &h, statics),
            _ => false,
        }
    }

    /// `a`, which is in `x`, is not the one value of `y`.
    fn differ(&mut self, a: &Expr, x: Bits, y: Bits, statics: Statics) -> bool {
        let Some(k) = y.single() else { return true };
        let ku = y.u().0;
        let trim =
            |(low, high): (i128, i128), k: i128| (low + i128::from(low == k), high - i128::from(high == k));
        match Bits::new(x.width, trim(x.s(), k), trim(x.u(), ku)) {
            Some(left) => self.narrow(a, &Value::Bits(left), statics),
            None => false,
        }
    }

    fn compare_floats(
        &mut self,
        op: Op,
        (a, x): (&Expr, Float),
        (b, y): (&Expr, Float),
        holds: bool,
        statics: Statics,
    ) -> bool {
        if !matches!(op, Op::FLt | Op::FLe | Op::FEq) || x.sort != y.sort {
            return true;
        }
        if holds && !(x.has_numbers() && y.has_numbers()) {
            return false;
        }
        if !holds && (x.nan || y.nan || op == Op::FEq) {
            return true;
        }
        // Both zeros are equal: bounds at zero take both in.
        let wide = |v: f64, up: bool| match v == 0.0 {
            true if up => 0.0,
            true => -0.0,
            false => v,
        };
        if op == Op::FEq {
            let (low, high) = (x.low.max(y.low), x.high.min(y.high));
            let met = Float { sort: x.sort, low: wide(low, false), high: wide(high, true), nan: false };
            return met.has_numbers()
                && self.narrow(a, &Value::Float(met), statics)
                && self.narrow(b, &Value::Float(met), statics);
        }
        let strict = (op == Op::FLt) == holds;
        let ((low, l), (high, h)) = if holds { ((a, x), (b, y)) } else { ((b, y), (a, x)) };
        let (mut most, mut least) = (wide(h.high, true), wide(l.low, false));
        if strict {
            // Not infinite: nothing is beyond, and then nothing is left.
            if most == f64::NEG_INFINITY || least == f64::INFINITY {
                return false;
            }
            let sort = l.sort;
            let below = |v: f64| at_ordinal(ordinal(wide(v, false), sort) - 1, sort);
            let above = |v: f64| at_ordinal(ordinal(wide(v, true), sort) + 1, sort);
            (most, least) = (below(most), above(least));
        }
        let l = Float { high: f64::INFINITY.min(most), low: f64::NEG_INFINITY, nan: false, ..l };
        let h = Float { low: least, high: f64::INFINITY, nan: false, ..h };
        self.narrow(low, &Value::Float(l), statics) && self.narrow(high, &Value::Float(h), statics)
    }

    /// Keeps of a state that in which an expression is in a set, or more; `false`: nothing is left.
    pub fn narrow(&mut self, e: &Expr, to: &Value, statics: Statics) -> bool {
        let Expr::Op { op, args, .. } = e else {
            return match e {
                Expr::Var(v) => self.narrow_register(*v, to),
                _ => self.value(e, statics).is_none_or(|v| v.meet(to).is_some()),
            };
        };
        let Some(now) = self.value(e, statics) else { return true };
        let Some(met) = now.meet(to) else { return false };
        if met == now {
            return true;
        }
        match (op, args.as_slice(), &met) {
            (Op::Zext(_) | Op::Sext(_) | Op::Trunc(_), [a], Value::Bits(t)) => {
                let Some(Value::Bits(x)) = self.value(a, statics) else { return true };
                let limit = match op {
                    Op::Zext(_) => Bits::new(x.width, x.s(), t.u()),
                    Op::Sext(_) => Bits::new(x.width, t.s(), x.u()),
                    // Only where nothing is cut off.
                    _ if fits(x.s(), t.width, true) => Bits::new(x.width, t.s(), x.u()),
                    _ if fits(x.u(), t.width, false) => Bits::new(x.width, x.s(), t.u()),
                    _ => return true,
                };
                limit.is_some_and(|l| self.narrow(a, &Value::Bits(l), statics))
            }
            (Op::Add | Op::Sub, [a, b], Value::Bits(_)) => {
                let (Some(x), Some(y)) = (self.value(a, statics), self.value(b, statics)) else {
                    return true;
                };
                if !matches!((x, y), (Value::Bits(_), Value::Bits(_))) {
                    return true;
                }
                // Modulo the width, each is what the result and the other one say.
                let back = if *op == Op::Add { Op::Sub } else { Op::Add };
                let first = apply(back, &[met, y]);
                let second =
                    if *op == Op::Add { apply(Op::Sub, &[met, x]) } else { apply(Op::Sub, &[x, met]) };
                first.map_or(true, |v| self.narrow(a, &v, statics))
                    && second.map_or(true, |v| self.narrow(b, &v, statics))
            }
            (Op::Neg | Op::BitNot | Op::FNeg, [a], _) => {
                apply(*op, &[met]).map_or(true, |v| self.narrow(a, &v, statics))
            }
            (Op::FToF(Sort::F64), [a], Value::Float(t)) => {
                let Some(Value::Float(x)) = self.value(a, statics) else { return true };
                if x.sort != Sort::F32 || !t.has_numbers() {
                    return true;
                }
                let inside = |v: f64, up: bool| {
                    let near = f64::from(v as f32);
                    let n = ordinal(near, Sort::F32);
                    match (up, near < v, near > v) {
                        (true, true, _) => at_ordinal(n + 1, Sort::F32),
                        (false, _, true) => at_ordinal(n - 1, Sort::F32),
                        _ => near,
                    }
                };
                let limit = Float { low: inside(t.low, true), high: inside(t.high, false), nan: t.nan, ..x };
                (limit.has_numbers() || limit.nan) && self.narrow(a, &Value::Float(limit), statics)
            }
            (Op::Ite, [c, a, b], _) => {
                let (Some(x), Some(y)) = (self.value(a, statics), self.value(b, statics)) else {
                    return true;
                };
                let known = self.assumption(c).or_else(|| self.value(c, statics)?.known_truth());
                match (known, x.meet(&met).is_some(), y.meet(&met).is_some()) {
                    (_, false, false) => false,
                    (Some(true), ..) => self.narrow(a, &met, statics),
                    (Some(false), ..) => self.narrow(b, &met, statics),
                    (_, true, false) => self.assume(c, true, statics) && self.narrow(a, &met, statics),
                    (_, false, true) => self.assume(c, false, statics) && self.narrow(b, &met, statics),
                    _ => true,
                }
            }
            _ => true,
        }
    }
}

/// Whether all of an interval is a number of so many bits.
fn fits((low, high): (i128, i128), width: u16, signed: bool) -> bool {
    let half = 1i128 << (width - 1);
    match signed {
        true => low >= -half && high < half,
        false => low >= 0 && high < 2 * half,
    }
}

/// An expression and the constant that it is not to be, where an assumption says that it is another one
/// and bounds cannot say so.
pub(super) fn excluded(e: &Expr, holds: bool) -> Option<(&Expr, Const)> {
    match e {
        Expr::Op { op: Op::Not, args, .. } => excluded(args.first()?, !holds),
        Expr::Op { op: Op::Eq, args, .. } if !holds => match args.as_slice() {
            [a, Expr::Const(c)] | [Expr::Const(c), a] => Some((a, *c)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
