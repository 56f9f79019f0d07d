//! Sets of values as intervals, and what operators do to them.
//!
//! A bit-vector has bounds as a signed and as an unsigned number, each of which sharpens the other; a
//! float has the bounds of its numbers in IEEE order, `-0.0` below `0.0`, and whether it may be no
//! number. Rounding to nearest is monotone, so the bounds of a sum, a product or a quotient are those of
//! the ends, rounded as the machine rounds. On single values [`Op::eval`] says what an operator does.
//! Executions on which an operator is undefined end there; what is returned is of the others.

use crate::ir::{Const, Op, Sort};

/// Widest bit-vector that is spoken of.
const MAX_WIDTH: u16 = 64;

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

/// Bit-vectors of at most 64 bits; both intervals are closed, and not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    pub width: u16,
    pub signed: (i64, i64),
    pub unsigned: (u64, u64),
}

/// Floats of a sort. Without numbers `low` is above `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Float {
    pub sort: Sort,
    pub low: f64,
    pub high: f64,
    pub nan: bool,
}

fn limits(width: u16) -> (i128, i128, i128) {
    let half = 1i128 << (width - 1);
    (-half, half - 1, 2 * half - 1)
}

impl Bits {
    fn all(width: u16) -> Bits {
        let (least, most, top) = limits(width);
        Bits { width, signed: (least as i64, most as i64), unsigned: (0, top as u64) }
    }

    /// What both intervals allow; `None`: nothing.
    pub fn new(width: u16, signed: (i128, i128), unsigned: (i128, i128)) -> Option<Bits> {
        let (least, most, top) = limits(width);
        let mut s = (signed.0.max(least), signed.1.min(most));
        let mut u = (unsigned.0.max(0), unsigned.1.min(top));
        // Either tells of the other where it is on one side of the sign.
        for _ in 0..2 {
            if s.0 > s.1 || u.0 > u.1 {
                return None;
            }
            let of_signed = match s {
                (low, high) if low >= 0 => (low, high),
                (low, high) if high < 0 => (low + top + 1, high + top + 1),
                _ => (0, top),
            };
            u = (u.0.max(of_signed.0), u.1.min(of_signed.1));
            let of_unsigned = match u {
                (low, high) if high <= most => (low, high),
                (low, high) if low > most => (low - top - 1, high - top - 1),
                _ => (least, most),
            };
            s = (s.0.max(of_unsigned.0), s.1.min(of_unsigned.1));
        }
        if s.0 > s.1 || u.0 > u.1 {
            return None;
        }
        Some(Bits { width, signed: (s.0 as i64, s.1 as i64), unsigned: (u.0 as u64, u.1 as u64) })
    }

    /// The numbers of an interval, modulo the width.
    fn ranged(width: u16, low: i128, high: i128) -> Bits {
        let (_, most, top) = limits(width);
        let all = Bits::all(width);
        if low > high || high.checked_sub(low).is_none_or(|d| d > top) {
            return all;
        }
        let first = low.rem_euclid(top + 1);
        let unsigned = (first, first + (high - low));
        let start = if first > most { first - top - 1 } else { first };
        let signed = (start, start + (high - low));
        let unsigned = if unsigned.1 <= top { unsigned } else { (0, top) };
        let signed = if signed.1 <= most { signed } else { (i128::MIN, i128::MAX) };
        Bits::new(width, signed, unsigned).unwrap_or(all)
    }

    pub fn s(&self) -> (i128, i128) {
        (self.signed.0.into(), self.signed.1.into())
    }

    pub fn u(&self) -> (i128, i128) {
        (self.unsigned.0.into(), self.unsigned.1.into())
    }

    fn meet(&self, other: &Bits) -> Option<Bits> {
        if self.width != other.width {
            return None;
        }
        let both = |a: (i128, i128), b: (i128, i128)| (a.0.max(b.0), a.1.min(b.1));
        Bits::new(self.width, both(self.s(), other.s()), both(self.u(), other.u()))
    }

    fn union(&self, other: &Bits) -> Bits {
        let both = |a: (i128, i128), b: (i128, i128)| (a.0.min(b.0), a.1.max(b.1));
        let joined = Bits::new(self.width, both(self.s(), other.s()), both(self.u(), other.u()));
        joined.unwrap_or(Bits::all(self.width))
    }

    pub fn single(&self) -> Option<i128> {
        (self.signed.0 == self.signed.1).then_some(self.signed.0.into())
    }
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
        if op.asks_sign_of_nan(&constants) {
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
    let w = a.width;
    let (s, u) = (a.s(), a.u());
    let bits = match op {
        Op::Neg => Bits::ranged(w, -s.1, -s.0),
        Op::BitNot => Bits::ranged(w, -s.1 - 1, -s.0 - 1),
        Op::Zext(to) if to <= MAX_WIDTH => Bits::ranged(to, u.0, u.1),
        Op::Sext(to) if to <= MAX_WIDTH => Bits::ranged(to, s.0, s.1),
        Op::Trunc(to) => {
            let (by_s, by_u) = (Bits::ranged(to, s.0, s.1), Bits::ranged(to, u.0, u.1));
            by_s.meet(&by_u).unwrap_or(by_s)
        }
        Op::SToF(sort) | Op::UToF(sort) => {
            let ends = if matches!(op, Op::SToF(_)) { s } else { u };
            let end = |v: i128| op.eval(&[Const::bv(w, v)]).ok().and_then(Const::float);
            let (Some(low), Some(high)) = (end(ends.0), end(ends.1)) else { return Value::all(sort) };
            return Ok(Value::Float(Float { sort, low, high, nan: false }));
        }
        _ => return anything(op, &[Value::Bits(*a)]),
    };
    Ok(Value::Bits(bits))
}

/// Least and greatest of what a function makes of the ends of two intervals.
fn corners(a: (i128, i128), b: (i128, i128), f: impl Fn(i128, i128) -> Option<i128>) -> Option<(i128, i128)> {
    let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}

fn binary(op: Op, a: &Bits, b: &Bits) -> Result<Value, Stop> {
    if op == Op::Concat {
        let w = a.width + b.width;
        if w > MAX_WIDTH {
            return Err(Stop::Unsupported("a wide number"));
        }
        let (low, high) = ((a.u().0 << b.width) + b.u().0, (a.u().1 << b.width) + b.u().1);
        return Ok(Value::Bits(Bits::ranged(w, low, high)));
    }
    if a.width != b.width {
        return Err(Stop::Unsupported("operands of two widths"));
    }
    let w = a.width;
    let both = |f: &dyn Fn(i128, i128) -> Option<i128>| {
        let ranged = |r: Option<(i128, i128)>| r.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h));
        let (s, u) = (ranged(corners(a.s(), b.s(), f)), ranged(corners(a.u(), b.u(), f)));
        s.meet(&u).unwrap_or(s)
    };
    let less = |x: (i128, i128), y: (i128, i128), strict: bool| {
        let (always, never) = if strict { (x.1 < y.0, x.0 >= y.1) } else { (x.1 <= y.0, x.0 > y.1) };
        Value::decided(if always || never { Some(always) } else { None })
    };
    let bits = match op {
        Op::Add => both(&i128::checked_add),
        Op::Sub => {
            let ranged = |x: (i128, i128), y: (i128, i128)| Bits::ranged(w, x.0 - y.1, x.1 - y.0);
            let (s, u) = (ranged(a.s(), b.s()), ranged(a.u(), b.u()));
            s.meet(&u).unwrap_or(s)
        }
        Op::Mul => both(&i128::checked_mul),
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => divided(op, a, b)?,
        Op::Shl | Op::LShr | Op::AShr => shifted(op, a, b)?,
        Op::BitAnd | Op::BitOr => {
            let low = extreme(op, a.unsigned, b.unsigned, false);
            let high = extreme(op, a.unsigned, b.unsigned, true);
            Bits::ranged(w, low.into(), high.into())
        }
        Op::BitXor => {
            let most = 128 - (a.u().1.max(b.u().1) as u128).leading_zeros();
            Bits::ranged(w, 0, ((1u128 << most) - 1) as i128)
        }
        Op::Ult | Op::Ule => return Ok(less(a.u(), b.u(), op == Op::Ult)),
        Op::Slt | Op::Sle => return Ok(less(a.s(), b.s(), op == Op::Slt)),
        _ => return anything(op, &[Value::Bits(*a), Value::Bits(*b)]),
    };
    Ok(Value::Bits(bits))
}

fn divided(op: Op, a: &Bits, b: &Bits) -> Result<Bits, Stop> {
    let w = a.width;
    let (s, u) = (a.s(), a.u());
    if b.u().1 == 0 {
        return Err(Stop::Undefined);
    }
    // Zero is not among the divisors of what goes on.
    let (least, most) = (b.u().0.max(1), b.u().1);
    let negative = (b.s().0, b.s().1.min(-1));
    let positive = (b.s().0.max(1), b.s().1);
    Ok(match op {
        Op::UDiv => Bits::ranged(w, u.0 / most, u.1 / least),
        Op::URem if u.1 < least => *a,
        Op::URem => Bits::ranged(w, 0, u.1.min(most - 1)),
        Op::SRem if s.0 >= 0 && negative.0 > negative.1 && s.1 < positive.0 => *a,
        Op::SRem => {
            let most = b.s().0.abs().max(b.s().1.abs()) - 1;
            Bits::ranged(w, s.0.max(-most).min(0), s.1.min(most).max(0))
        }
        _ => {
            let sides = [negative, positive].into_iter().filter(|d| d.0 <= d.1);
            let quotients = sides.filter_map(|d| corners(s, d, i128::checked_div));
            let all = quotients.reduce(|x, y| (x.0.min(y.0), x.1.max(y.1)));
            all.map_or(Bits::all(w), |(low, high)| Bits::ranged(w, low, high))
        }
    })
}

fn shifted(op: Op, a: &Bits, b: &Bits) -> Result<Bits, Stop> {
    let w = a.width;
    let (least, most) = (b.u().0, b.u().1.min(i128::from(w) - 1));
    if least > most {
        return Err(Stop::Undefined);
    }
    let (least, most) = (least as u32, most as u32);
    Ok(match op {
        Op::Shl => {
            // Below 2^127: at most 64 bits by at most 63.
            let unsigned = Bits::ranged(w, a.u().0 << least, a.u().1 << most);
            let signed = corners(a.s(), (least.into(), most.into()), |x, n| x.checked_mul(1i128 << n));
            let signed = signed.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h));
            unsigned.meet(&signed).unwrap_or(unsigned)
        }
        Op::LShr => Bits::ranged(w, a.u().0 >> most, a.u().1 >> least),
        _ => {
            let r = corners(a.s(), (least.into(), most.into()), |x, n| Some(x >> n));
            r.map_or(Bits::all(w), |(l, h)| Bits::ranged(w, l, h))
        }
    })
}

/// Least or greatest `x & y` or `x | y` of two intervals (Warren, "Hacker's Delight", 4-3): from the
/// highest bit on, one of the ends is rounded to where the other's bits are as wanted.
fn extreme(op: Op, a: (u64, u64), b: (u64, u64), greatest: bool) -> u64 {
    let is_and = op == Op::BitAnd;
    let (mut x, mut y) = if greatest { (a.1, b.1) } else { (a.0, b.0) };
    for k in (0..64).rev() {
        let bit = 1u64 << k;
        let (in_x, in_y) = (x & bit != 0, y & bit != 0);
        // An end is moved to where its bit is the other one, and all lower ones are the best.
        let lowered = |end: u64| (end & !bit) | (bit - 1);
        let raised = |end: u64| (end | bit) & !(bit - 1);
        match (greatest, is_and) {
            (true, false) if in_x && in_y => {
                if lowered(x) >= a.0 {
                    x = lowered(x);
                    break;
                }
                if lowered(y) >= b.0 {
                    y = lowered(y);
                    break;
                }
            }
            (true, true) if in_x != in_y => {
                if in_x && lowered(x) >= a.0 {
                    x = lowered(x);
                    break;
                }
                if in_y && lowered(y) >= b.0 {
                    y = lowered(y);
                    break;
                }
            }
            (false, false) if in_x != in_y => {
                if !in_x && raised(x) <= a.1 {
                    x = raised(x);
                    break;
                }
                if !in_y && raised(y) <= b.1 {
                    y = raised(y);
                    break;
                }
            }
            (false, true) if !in_x && !in_y => {
                if raised(x) <= a.1 {
                    x = raised(x);
                    break;
                }
                if raised(y) <= b.1 {
                    y = raised(y);
                    break;
                }
            }
            _ => {}
        }
    }
    if is_and { x & y } else { x | y }
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
