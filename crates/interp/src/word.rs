//! Evaluation of expressions whose values have at most 64 bits: nearly all of what programs compute.
//!
//! It does what [`super::eval`] does, on words of the machine instead of constants of any sort, and leaves to that
//! what is wider, a float, or odd. A test holds the two together.

use super::code::Value;
use super::register::{Events, Register};
use crate::ir::{Const, Op, UndefinedKind};

/// A bit-vector of at most 64 bits, zero above its width; of width 0: a truth value.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    bits: u64,
    width: u16,
}

/// Why an expression is no word.
pub(crate) enum Miss {
    /// It has a value or an operator that is not looked at here.
    Other,
    Undefined(UndefinedKind),
}

impl Word {
    fn truth(holds: bool) -> Word {
        Word { bits: u64::from(holds), width: 0 }
    }

    /// The low bits of a number; `width` is from 1 to 64.
    #[inline]
    pub fn new(width: u16, bits: u64) -> Word {
        Word { bits: bits & (u64::MAX >> (64 - width)), width }
    }

    #[inline]
    fn of(c: &Const) -> Result<Word, Miss> {
        match c {
            Const::Bv { width, bits } if *width <= 64 => Ok(Word { bits: *bits as u64, width: *width }),
            Const::Bool(holds) => Ok(Word::truth(*holds)),
            _ => Err(Miss::Other),
        }
    }

    #[inline]
    pub fn constant(self) -> Const {
        match self.width {
            0 => Const::Bool(self.bits != 0),
            width => Const::Bv { width, bits: u128::from(self.bits) },
        }
    }

    /// The bits of a number; a truth value is 0 or 1.
    #[inline]
    pub fn bits(self) -> u64 {
        self.bits
    }

    fn signed(self) -> i64 {
        let above = 64 - u32::from(self.width.clamp(1, 64));
        ((self.bits << above) as i64) >> above
    }

    /// Whether it is not the number that an operation gives without a limit.
    fn differs(self, exact: i128) -> bool {
        i128::from(self.signed()) != exact
    }
}

/// Evaluates an expression. Cost: some instructions an operator, no allocation.
#[inline]
pub(crate) fn word(e: &Value, registers: &[Register], events: &mut Events) -> Result<Word, Miss> {
    match e {
        Value::Const(c) => Word::of(c),
        Value::Var(v) | Value::Local(v) => match registers.get(*v as usize) {
            Some(Some(c)) => Word::of(c),
            _ => Err(Miss::Undefined(UndefinedKind::Uninitialised)),
        },
        Value::Unresolved => Err(Miss::Undefined(UndefinedKind::BadPointer)),
        Value::Unary { op, signed, a } => {
            if !matches!(op, Op::Not | Op::Neg | Op::BitNot | Op::Zext(_) | Op::Sext(_) | Op::Trunc(_)) {
                return Err(Miss::Other);
            }
            let a = word(a, registers, events)?;
            unary(*op, *signed, a, events)
        }
        Value::Binary { op, signed, ab } => {
            if !is_of_words(*op) {
                return Err(Miss::Other);
            }
            let a = word(&ab[0], registers, events)?;
            let b = word(&ab[1], registers, events)?;
            binary(*op, *signed, a, b, events)
        }
        Value::Many { op: Op::Ite, args } => {
            let [c, a, b] = &**args else { return Err(Miss::Other) };
            // All three are evaluated: an event in the arm that is not taken happens, too.
            let c = word(c, registers, events)?;
            let a = word(a, registers, events)?;
            let b = word(b, registers, events)?;
            match c.width {
                0 => Ok(if c.bits != 0 { a } else { b }),
                _ => Err(Miss::Other),
            }
        }
        Value::Many { op: op @ (Op::And | Op::Or), args } => {
            let mut holds = *op == Op::And;
            for arg in args {
                let arg = word(arg, registers, events)?;
                if arg.width != 0 {
                    return Err(Miss::Other);
                }
                holds = if *op == Op::And { holds & (arg.bits != 0) } else { holds | (arg.bits != 0) };
            }
            Ok(Word::truth(holds))
        }
        Value::Many { .. } => Err(Miss::Other),
    }
}

/// Whether an operator of two arguments is looked at here.
fn is_of_words(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Add | Sub
            | Mul
            | UDiv
            | URem
            | SDiv
            | SRem
            | BitAnd
            | BitOr
            | BitXor
            | Shl
            | LShr
            | AShr
            | Ult
            | Ule
            | Slt
            | Sle
            | Eq
            | And
            | Or
            | Concat
    )
}

fn unary(op: Op, is_signed: bool, a: Word, events: &mut Events) -> Result<Word, Miss> {
    let fits = |width: u16| (1..=64).contains(&width);
    match (op, a.width) {
        (Op::Not, 0) => Ok(Word::truth(a.bits == 0)),
        (_, 0) => Err(Miss::Other),
        (Op::Neg, width) => {
            let value = Word::new(width, (a.signed() as u64).wrapping_neg());
            events.overflow |= is_signed && value.differs(-i128::from(a.signed()));
            Ok(value)
        }
        (Op::BitNot, width) => Ok(Word::new(width, !a.bits)),
        (Op::Zext(width), own) if fits(width) && width >= own => Ok(Word { bits: a.bits, width }),
        (Op::Sext(width), _) if fits(width) => Ok(Word::new(width, a.signed() as u64)),
        (Op::Trunc(width), _) if fits(width) => Ok(Word::new(width, a.bits)),
        _ => Err(Miss::Other),
    }
}

fn binary(op: Op, is_signed: bool, a: Word, b: Word, events: &mut Events) -> Result<Word, Miss> {
    let width = a.width;
    if let (Op::Concat, 1.., 1..) = (op, width, b.width)
        && width + b.width <= 64
    {
        return Ok(Word { bits: a.bits << b.width | b.bits, width: width + b.width });
    }
    if width != b.width {
        return Err(Miss::Other);
    }
    match op {
        Op::Eq => return Ok(Word::truth(a.bits == b.bits)),
        Op::And if width == 0 => return Ok(Word::truth(a.bits & b.bits != 0)),
        Op::Or if width == 0 => return Ok(Word::truth(a.bits | b.bits != 0)),
        Op::And | Op::Or | Op::Concat => return Err(Miss::Other),
        _ if width == 0 => return Err(Miss::Other),
        _ => {}
    }
    let (x, y) = (a.signed(), b.signed());
    let undefined = |kind| Err(Miss::Undefined(kind));
    let is_shift = matches!(op, Op::Shl | Op::LShr | Op::AShr);
    if is_shift && b.bits >= u64::from(width) {
        return undefined(UndefinedKind::ShiftCount);
    }
    if matches!(op, Op::UDiv | Op::URem | Op::SDiv | Op::SRem) && b.bits == 0 {
        return undefined(UndefinedKind::DivisionByZero);
    }
    if matches!(op, Op::SDiv | Op::SRem)
        && y == -1
        && Word::new(width, (x as u64).wrapping_neg()).differs(-i128::from(x))
    {
        return undefined(UndefinedKind::DivisionOverflow);
    }
    let value = match op {
        Op::Add => a.bits.wrapping_add(b.bits),
        Op::Sub => a.bits.wrapping_sub(b.bits),
        Op::Mul => a.bits.wrapping_mul(b.bits),
        Op::UDiv => a.bits / b.bits,
        Op::URem => a.bits % b.bits,
        Op::SDiv => x.wrapping_div(y) as u64,
        Op::SRem => x.wrapping_rem(y) as u64,
        Op::BitAnd => a.bits & b.bits,
        Op::BitOr => a.bits | b.bits,
        Op::BitXor => a.bits ^ b.bits,
        Op::Shl => a.bits << b.bits,
        Op::LShr => a.bits >> b.bits,
        Op::AShr => (x >> b.bits) as u64,
        Op::Ult => return Ok(Word::truth(a.bits < b.bits)),
        Op::Ule => return Ok(Word::truth(a.bits <= b.bits)),
        Op::Slt => return Ok(Word::truth(x < y)),
        Op::Sle => return Ok(Word::truth(x <= y)),
        _ => return Err(Miss::Other),
    };
    let value = Word::new(width, value);
    if is_signed {
        let (x, y) = (i128::from(x), i128::from(y));
        events.overflow |= match op {
            Op::Add => value.differs(x + y),
            Op::Sub => value.differs(x - y),
            Op::Mul => value.differs(x * y),
            // A count that is negative as a signed number is out of range, an event of its own.
            Op::Shl => value.differs(x << b.bits),
            _ => false,
        };
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::super::eval::slowly;
    use super::*;
    use crate::testing::Random;

    const WIDTHS: [u16; 7] = [1, 8, 16, 32, 33, 64, 128];

    /// A number at an edge, or any.
    fn constant(r: &mut Random, width: u16) -> Const {
        let edge = 1i128 << (width - 1).min(126);
        let any = i128::from(r.below(1 << 30));
        let value = r.pick(&[0, 1, -1, edge, edge - 1, 3, -edge, any]);
        Const::bv(width, value)
    }

    fn numeric(r: &mut Random, width: u16, depth: u32) -> Value {
        use Op::*;
        if depth == 0 || r.below(4) == 0 {
            return match r.below(5) {
                0 => Value::Var(r.below(4) as u32),
                _ => Value::Const(constant(r, width)),
            };
        }
        let signed = r.below(2) == 0;
        let part = |r: &mut Random, w: u16| numeric(r, w, depth - 1);
        match r.below(9) {
            0 => Value::Unary { op: r.pick(&[Neg, BitNot]), signed, a: Box::new(part(r, width)) },
            1 => {
                let other = r.pick(&WIDTHS);
                let op = match other.cmp(&width) {
                    std::cmp::Ordering::Greater => Trunc(width),
                    _ => r.pick(&[Zext(width), Sext(width)]),
                };
                Value::Unary { op, signed, a: Box::new(part(r, other)) }
            }
            2 => {
                let args = [truth(r, depth - 1), part(r, width), part(r, width)];
                Value::Many { op: Ite, args: Box::new(args) }
            }
            3 if width > 8 => {
                Value::Binary { op: Concat, signed: false, ab: Box::new([part(r, width - 8), part(r, 8)]) }
            }
            _ => {
                const OPS: [Op; 13] =
                    [Add, Sub, Mul, UDiv, URem, SDiv, SRem, BitAnd, BitOr, BitXor, Shl, LShr, AShr];
                Value::Binary { op: r.pick(&OPS), signed, ab: Box::new([part(r, width), part(r, width)]) }
            }
        }
    }

    fn truth(r: &mut Random, depth: u32) -> Value {
        use Op::*;
        if depth == 0 {
            return Value::Const(Const::Bool(r.below(2) == 0));
        }
        match r.below(4) {
            0 => Value::Unary { op: Not, signed: false, a: Box::new(truth(r, depth - 1)) },
            1 => {
                let args = (0..1 + r.below(3)).map(|_| truth(r, depth - 1)).collect();
                Value::Many { op: r.pick(&[And, Or]), args }
            }
            _ => {
                let width = r.pick(&WIDTHS);
                let ab = Box::new([numeric(r, width, depth - 1), numeric(r, width, depth - 1)]);
                Value::Binary { op: r.pick(&[Ult, Ule, Slt, Sle, Eq]), signed: false, ab }
            }
        }
    }

    /// What the general evaluation gives, events included, wherever this one gives something.
    #[test]
    fn words_are_constants() {
        let mut r = Random(7);
        let mut met = 0;
        for _ in 0..200_000 {
            let width = r.pick(&WIDTHS);
            let e = if r.below(4) == 0 { truth(&mut r, 3) } else { numeric(&mut r, width, 3) };
            let mut register = |k: usize| match k {
                0 => None,
                _ => {
                    let width = r.pick(&WIDTHS);
                    Some(constant(&mut r, width))
                }
            };
            let registers: Vec<Register> = (0..4).map(&mut register).collect();
            let (mut fast, mut slow) = (Events::default(), Events::default());
            let found = match word(&e, &registers, &mut fast) {
                Ok(w) => Ok(w.constant()),
                Err(Miss::Undefined(kind)) => Err(kind),
                Err(Miss::Other) => continue,
            };
            met += 1;
            assert_eq!(found, slowly(&e, &registers, &mut slow), "{e:?} {registers:?}");
            if found.is_ok() {
                assert_eq!(fast.overflow, slow.overflow, "{e:?} {registers:?}");
            }
        }
        assert!(met > 50_000, "{met}");
    }
}
