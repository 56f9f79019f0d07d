//! Sets of values as intervals, and what operators do to them.
//!
//! A bit-vector is an interval ([`Bits`]), on executions on which all operators are defined; a float has the bounds of its numbers in IEEE order, `-0.0` below `0.0`, and whether it may be no
//! number. Rounding to nearest is monotone, so the bounds of a sum, a product or a quotient are those of
//! the ends, rounded as the machine rounds. On single values [`Op::eval`] says what an operator does.
//! Executions on which an operator is undefined end there; what is returned is of the others.

use crate::ir::interval::{self, Bits, MAX_WIDTH, limits};
use crate::ir::{Const, Op, Sort};

/// Why a path ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// All of its executions are undefined.
    Undefined,
    /// This engine does not speak of it.
    Unsupported(&'static str),
}

/// Something that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ObjectSlot {
    /// By index of its slot in the program.
    Static(u32),
    /// By position on the stack.
    Local(u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Truth {
        yes: bool,
        no: bool,
    },
    Bits(Bits),
    Float(Float),
    /// An address that is known exactly.
    Pointer {
        place: ObjectSlot,
        offset: i64,
    },
}

/// Floats of a sort. Without numbers `low` is above `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Float {
    pub sort: Sort,
    pub low: f64,
    pub high: f64,
    pub nan: bool,
}

/// The position of a float among all of its sort, in IEEE order.
pub(super) fn ordinal(value: f64, sort: Sort) -> i64 {
    match sort {
        Sort::F32 => {
            let bits = (value as f32).to_bits() as i32;
            i64::from(if bits < 0 { i32::MIN - bits - 1 } else { bits })
        }
        _ => {
            let bits = value.to_bits() as i64;
            if bits < 0 { i64::MIN - bits - 1 } else { bits }
        }
    }
}

/// The float at a position.
pub(super) fn at_ordinal(n: i64, sort: Sort) -> f64 {
    match sort {
        Sort::F32 => {
            let n = n as i32;
            f64::from(f32::from_bits((if n < 0 { i32::MIN - n - 1 } else { n }) as u32))
        }
        _ => f64::from_bits((if n < 0 { i64::MIN - n - 1 } else { n }) as u64),
    }
}

impl Float {
    fn all(sort: Sort) -> Float {
        Float { sort, low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true }
    }

    pub fn has_numbers(&self) -> bool {
        self.low.total_cmp(&self.high).is_le()
    }

    fn has(&self, value: f64) -> bool {
        self.has_numbers() && self.low <= value && value <= self.high
    }

    fn constant(&self, value: f64) -> Const {
        if self.sort == Sort::F32 { Const::f32(value as f32) } else { Const::f64(value) }
    }

    fn meet(&self, other: &Float) -> Option<Float> {
        let low = if self.low.total_cmp(&other.low).is_ge() { self.low } else { other.low };
        let high = if self.high.total_cmp(&other.high).is_le() { self.high } else { other.high };
        let mut met = Float { sort: self.sort, low, high, nan: self.nan && other.nan };
        if !met.has_numbers() {
            (met.low, met.high) = (1.0, -1.0);
        }
        (self.sort == other.sort && (met.has_numbers() || met.nan)).then_some(met)
    }

    fn union(&self, other: &Float) -> Float {
        match (self.has_numbers(), other.has_numbers()) {
            (false, _) => Float { nan: true, ..*other },
            (_, false) => Float { nan: true, ..*self },
            _ => {
                let low = if self.low.total_cmp(&other.low).is_le() { self.low } else { other.low };
                let high = if self.high.total_cmp(&other.high).is_ge() { self.high } else { other.high };
                Float { sort: self.sort, low, high, nan: self.nan || other.nan }
            }
        }
    }
}

impl Value {
    pub const YES: Value = Value::Truth { yes: true, no: false };
    pub const NO: Value = Value::Truth { yes: false, no: true };
    pub const EITHER: Value = Value::Truth { yes: true, no: true };

    pub fn truth(b: bool) -> Value {
        if b { Value::YES } else { Value::NO }
    }

    fn decided(known: Option<bool>) -> Value {
        known.map_or(Value::EITHER, Value::truth)
    }

    /// All values of a sort.
    pub fn all(sort: Sort) -> Result<Value, Stop> {
        match sort {
            Sort::Bool => Ok(Value::EITHER),
            Sort::Bv(w) if w <= MAX_WIDTH => Ok(Value::Bits(Bits::all(w))),
            Sort::F32 | Sort::F64 => Ok(Value::Float(Float::all(sort))),
            Sort::F80 => Err(Stop::Unsupported("a long double")),
            _ => Err(Stop::Unsupported("a wide number")),
        }
    }

    pub fn of(c: Const) -> Result<Value, Stop> {
        match c {
            Const::Bool(b) => Ok(Value::truth(b)),
            Const::Bv { width, .. } if width <= MAX_WIDTH => {
                let v = c.signed().unwrap_or(0);
                Ok(Value::Bits(Bits::ranged(width, v, v)))
            }
            Const::Bv { .. } => Err(Stop::Unsupported("a wide number")),
            Const::F80(_) => Err(Stop::Unsupported("a long double")),
            Const::F32(_) | Const::F64(_) => {
                let (sort, v) = (c.sort(), c.float().unwrap_or(0.0));
                let nan = v.is_nan();
                let (low, high) = if nan { (1.0, -1.0) } else { (v, v) };
                Ok(Value::Float(Float { sort, low, high, nan }))
            }
        }
    }

    /// The value, where there is one only.
    pub fn constant(&self) -> Option<Const> {
        match self {
            Value::Truth { yes, no } => (yes != no).then_some(Const::Bool(*yes)),
            Value::Bits(b) => b.single().map(|v| Const::bv(b.width, v)),
            Value::Float(f) if !f.has_numbers() => Some(f.constant(f64::NAN)),
            Value::Float(f) => (!f.nan && f.low.to_bits() == f.high.to_bits()).then(|| f.constant(f.low)),
            Value::Pointer { .. } => None,
        }
    }

    pub fn known_truth(&self) -> Option<bool> {
        self.constant().and_then(Const::as_bool)
    }

    /// Whether there is one value only.
    pub fn is_single(&self) -> bool {
        matches!(self, Value::Pointer { .. }) || self.constant().is_some()
    }

    pub fn sort(&self) -> Option<Sort> {
        match self {
            Value::Truth { .. } => Some(Sort::Bool),
            Value::Bits(b) => Some(Sort::Bv(b.width)),
            Value::Float(f) => Some(f.sort),
            Value::Pointer { .. } => None,
        }
    }

    /// What is in both; `None`: nothing.
    pub fn meet(&self, other: &Value) -> Option<Value> {
        match (self, other) {
            (Value::Truth { yes, no }, Value::Truth { yes: y, no: n }) => {
                let (yes, no) = (*yes && *y, *no && *n);
                (yes || no).then_some(Value::Truth { yes, no })
            }
            (Value::Bits(a), Value::Bits(b)) => a.meet(b).map(Value::Bits),
            (Value::Float(a), Value::Float(b)) => a.meet(b).map(Value::Float),
            // Of a pointer nothing is narrowed.
            _ => Some(*self),
        }
    }

    fn union(&self, other: &Value) -> Result<Value, Stop> {
        match (self, other) {
            (Value::Truth { yes, no }, Value::Truth { yes: y, no: n }) => {
                Ok(Value::Truth { yes: *yes || *y, no: *no || *n })
            }
            (Value::Bits(a), Value::Bits(b)) if a.width == b.width => Ok(Value::Bits(a.union(b))),
            (Value::Float(a), Value::Float(b)) if a.sort == b.sort => Ok(Value::Float(a.union(b))),
            (a, b) if a == b => Ok(*a),
            _ => Err(Stop::Unsupported("one of several pointers")),
        }
    }

    /// Whether all of another set is in this one.
    pub fn contains(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Pointer { .. }, _) | (_, Value::Pointer { .. }) => self == other,
            _ => self.sort() == other.sort() && self.meet(other).as_ref() == Some(other),
        }
    }
}

/// Applies an operator.
pub(super) fn apply(op: Op, args: &[Value]) -> Result<Value, Stop> {
    let constants: Option<Vec<Const>> = args.iter().map(Value::constant).collect();
    if let Some(constants) = constants {
        if op.asks_open_sign(&constants) {
            return anything(op, args);
        }
        return Value::of(op.eval(&constants).map_err(|_| Stop::Undefined)?);
    }
    match (op, args) {
        (Op::Not, [Value::Truth { yes, no }]) => Ok(Value::Truth { yes: *no, no: *yes }),
        (Op::And | Op::Or, _) => {
            let alone = op == Op::Or;
            let known: Vec<Option<bool>> = args.iter().map(Value::known_truth).collect();
            let decided = match known.contains(&Some(alone)) {
                true => Some(alone),
                false => known.iter().all(|k| *k == Some(!alone)).then_some(!alone),
            };
            Ok(Value::decided(decided))
        }
        (Op::Ite, [c, a, b]) => match c.known_truth() {
            Some(true) => Ok(*a),
            Some(false) => Ok(*b),
            None => a.union(b),
        },
        (_, [Value::Pointer { .. }, ..] | [_, Value::Pointer { .. }, ..]) => pointers(op, args),
        (Op::Eq, [Value::Bits(a), Value::Bits(b)]) => {
            Ok(Value::decided(if a.meet(b).is_none() { Some(false) } else { None }))
        }
        (_, [Value::Bits(a)]) => unary(op, a),
        (_, [Value::Bits(a), Value::Bits(b)]) => binary(op, a, b),
        (_, [Value::Float(a)]) => float_unary(op, a),
        (_, [Value::Float(a), Value::Float(b)]) => Ok(float_binary(op, a, b)),
        _ => anything(op, args),
    }
}

/// All that an operator may yield.
fn anything(op: Op, args: &[Value]) -> Result<Value, Stop> {
    let sorts: Option<Vec<Sort>> = args.iter().map(Value::sort).collect();
    Value::all(op.result_sort(&sorts.ok_or(Stop::Unsupported("arithmetic on an address"))?))
}

fn pointers(op: Op, args: &[Value]) -> Result<Value, Stop> {
    const OTHER: Stop = Stop::Unsupported("arithmetic on an address");
    match (op, args) {
        (Op::Add, [Value::Pointer { place, offset }, Value::Bits(b)])
        | (Op::Add, [Value::Bits(b), Value::Pointer { place, offset }]) => {
            let by = b.single().and_then(|v| i64::try_from(v).ok()).ok_or(OTHER)?;
            Ok(Value::Pointer { place: *place, offset: offset.wrapping_add(by) })
        }
        (Op::Sub, [Value::Pointer { place, offset }, Value::Bits(b)]) => {
            let by = b.single().and_then(|v| i64::try_from(v).ok()).ok_or(OTHER)?;
            Ok(Value::Pointer { place: *place, offset: offset.wrapping_sub(by) })
        }
        (
            Op::Eq | Op::Ult | Op::Ule,
            [Value::Pointer { place, offset }, Value::Pointer { place: other, offset: k }],
        ) if place == other => Ok(Value::truth(match op {
            Op::Eq => offset == k,
            Op::Ult => offset < k,
            _ => offset <= k,
        })),
        // Nothing is at address zero.
        (Op::Eq, [Value::Pointer { .. }, Value::Bits(b)] | [Value::Bits(b), Value::Pointer { .. }])
            if b.single() == Some(0) =>
        {
            Ok(Value::NO)
        }
        _ => Err(OTHER),
    }
}

fn unary(op: Op, a: &Bits) -> Result<Value, Stop> {
    if let Op::SToF(sort) | Op::UToF(sort) = op {
        let ends = if matches!(op, Op::SToF(_)) { a.s() } else { a.u() };
        let end = |v: i128| op.eval(&[Const::bv(a.width, v)]).ok().and_then(Const::float);
        let (Some(low), Some(high)) = (end(ends.0), end(ends.1)) else { return Value::all(sort) };
        return Ok(Value::Float(Float { sort, low, high, nan: false }));
    }
    interval::unary(op, a).map_or_else(|| anything(op, &[Value::Bits(*a)]), |bits| Ok(Value::Bits(bits)))
}

fn binary(op: Op, a: &Bits, b: &Bits) -> Result<Value, Stop> {
    if op == Op::Concat && a.width + b.width > MAX_WIDTH {
        return Err(Stop::Unsupported("a wide number"));
    }
    if op != Op::Concat && a.width != b.width {
        return Err(Stop::Unsupported("operands of two widths"));
    }
    if matches!(op, Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
        return Ok(Value::decided(interval::compared(op, a, b)));
    }
    match interval::binary(op, a, b) {
        Ok(Some(bits)) => Ok(Value::Bits(bits)),
        Ok(None) => anything(op, &[Value::Bits(*a), Value::Bits(*b)]),
        Err(interval::Undefined) => Err(Stop::Undefined),
    }
}

fn float_unary(op: Op, a: &Float) -> Result<Value, Stop> {
    let whole = |sort| Ok(Value::Float(Float::all(sort)));
    let end = |v: f64| op.eval(&[a.constant(v)]).ok();
    let (low, high) = (a.low, a.high);
    match op {
        _ if !a.has_numbers() => anything(op, &[Value::Float(*a)]),
        Op::FToF(Sort::F80) => Value::all(Sort::F80),
        Op::FNeg => Ok(Value::Float(Float { low: -high, high: -low, ..*a })),
        Op::FAbs => {
            let (x, y) = (low.abs(), high.abs());
            let least = if low.is_sign_negative() && !high.is_sign_negative() { 0.0 } else { x.min(y) };
            Ok(Value::Float(Float { low: least, high: x.max(y), ..*a }))
        }
        Op::FSqrt if low < 0.0 => whole(a.sort),
        Op::FSqrt | Op::FRound(_) | Op::FToF(_) => {
            let sort = if let Op::FToF(to) = op { to } else { a.sort };
            let ends = end(low).and_then(Const::float).zip(end(high).and_then(Const::float));
            match ends {
                Some((low, high)) if !low.is_nan() && !high.is_nan() => {
                    Ok(Value::Float(Float { sort, low, high, nan: a.nan }))
                }
                _ => whole(sort),
            }
        }
        Op::FIsNan => Ok(Value::decided(if a.nan { None } else { Some(false) })),
        Op::FIsInf => {
            let may = a.has(f64::INFINITY) || a.has(f64::NEG_INFINITY);
            Ok(Value::decided(if may { None } else { Some(false) }))
        }
        Op::FSignbit if !a.nan && low.is_sign_negative() == high.is_sign_negative() => {
            Ok(Value::truth(low.is_sign_negative()))
        }
        Op::FToS(w) | Op::FToU(w) if w <= MAX_WIDTH => {
            let (least, most, top) = limits(w);
            let (least, most) = if matches!(op, Op::FToS(_)) { (least, most) } else { (0, top) };
            // Beyond, the conversion is undefined.
            let (low, high) = ((low.trunc() as i128).max(least), (high.trunc() as i128).min(most));
            if low > high {
                return Err(Stop::Undefined);
            }
            Ok(Value::Bits(Bits::ranged(w, low, high)))
        }
        _ => anything(op, &[Value::Float(*a)]),
    }
}

fn float_binary(op: Op, a: &Float, b: &Float) -> Value {
    let nan = a.nan || b.nan;
    let known = a.has_numbers() && b.has_numbers();
    match op {
        Op::FEq | Op::FLt | Op::FLe => {
            let (always, never) = match op {
                _ if !known => (false, true),
                Op::FLt => (a.high < b.low, a.low >= b.high),
                Op::FLe => (a.high <= b.low, a.low > b.high),
                _ => (a.low == b.high && a.high == b.low, a.high < b.low || b.high < a.low),
            };
            Value::decided(match (always && !nan, never) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            })
        }
        Op::Eq => {
            let apart = known && (a.high.total_cmp(&b.low).is_lt() || b.high.total_cmp(&a.low).is_lt());
            Value::decided(if apart && !(a.nan && b.nan) { Some(false) } else { None })
        }
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv if known => {
            let infinite = |f: &Float| f.low.is_infinite() || f.high.is_infinite();
            let unsure = match op {
                Op::FMul => a.has(0.0) && infinite(b) || b.has(0.0) && infinite(a),
                Op::FDiv => b.has(0.0),
                _ => false,
            };
            let mut ends: Vec<f64> = Vec::with_capacity(4);
            for (x, y) in [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)] {
                let end = op.eval(&[a.constant(x), b.constant(y)]).ok().and_then(Const::float);
                ends.push(end.unwrap_or(f64::NAN));
            }
            if unsure || ends.iter().any(|e| e.is_nan()) {
                return Value::Float(Float::all(a.sort));
            }
            ends.sort_by(f64::total_cmp);
            Value::Float(Float { sort: a.sort, low: ends[0], high: ends[3], nan })
        }
        _ => Value::Float(Float::all(a.sort)),
    }
}

#[cfg(test)]
mod tests;
