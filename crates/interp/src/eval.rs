//! Evaluation of expressions over a frame's registers.
//!
//! All meaning is in [`Op::eval`]; here are only the reads of variables, and the events that the
//! operators' values do not show: signed overflow (it wraps and is recorded) and results that rest
//! on the sign of a NaN.

use super::code::Value;
use super::register::{Events, Register};
use super::word::{Miss, word};
use crate::ir::{Const, Op, UndefinedKind};

/// Evaluates an expression.
///
/// Errors: the undefined event of the first operator or read that has one, left to right.
#[inline]
pub(crate) fn eval(e: &Value, registers: &[Register], events: &mut Events) -> Result<Const, UndefinedKind> {
    match word(e, registers, events) {
        Ok(word) => Ok(word.constant()),
        Err(Miss::Undefined(kind)) => Err(kind),
        Err(Miss::Other) => slowly(e, registers, events),
    }
}

/// The same for values of every sort. Cost: one call of `Op::eval` an operator; no allocation up to two arguments.
pub(super) fn slowly(e: &Value, registers: &[Register], events: &mut Events) -> Result<Const, UndefinedKind> {
    match e {
        Value::Const(c) => Ok(*c),
        Value::Var(v) | Value::Local(v) => {
            registers.get(*v as usize).copied().flatten().ok_or(UndefinedKind::Uninitialised)
        }
        Value::Unresolved => Err(UndefinedKind::BadPointer),
        Value::Unary { op, signed, a } => {
            let a = slowly(a, registers, events)?;
            if *signed && overflows(*op, a, a) {
                events.overflow = true;
            }
            events.open_sign |= op.asks_open_sign(&[a]);
            op.eval(&[a])
        }
        Value::Binary { op, signed, ab } => {
            let a = slowly(&ab[0], registers, events)?;
            let b = slowly(&ab[1], registers, events)?;
            if *signed && overflows(*op, a, b) {
                events.overflow = true;
            }
            events.open_sign |= op.asks_open_sign(&[a, b]);
            op.eval(&[a, b])
        }
        Value::Many { op: Op::Ite, args } if args.len() == 3 => {
            // All three are evaluated: an event in the arm that is not taken happens, too.
            let c = slowly(&args[0], registers, events)?;
            let a = slowly(&args[1], registers, events)?;
            let b = slowly(&args[2], registers, events)?;
            Op::Ite.eval(&[c, a, b])
        }
        Value::Many { op, args } => {
            let values: Result<Vec<Const>, _> = args.iter().map(|a| slowly(a, registers, events)).collect();
            op.eval(&values?)
        }
    }
}

/// Returns whether a signed operation leaves the range of its width.
fn overflows(op: Op, a: Const, b: Const) -> bool {
    let Const::Bv { width, .. } = a else { return false };
    let (Some(a), Some(b)) = (a.signed(), b.signed()) else { return false };
    let exact = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::Neg => a.checked_neg(),
        // A count out of range is an event of its own.
        Op::Shl if (0..width as i128).contains(&b) => a.checked_mul(1i128.checked_shl(b as u32).unwrap_or(0)),
        _ => return false,
    };
    exact.is_none_or(|v| Const::bv(width, v).signed() != Some(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_seen_at_every_width() {
        let v = |w, n| Const::bv(w, n);
        assert!(overflows(Op::Add, v(32, i32::MAX as i128), v(32, 1)));
        assert!(!overflows(Op::Add, v(64, i32::MAX as i128), v(64, 1)));
        assert!(overflows(Op::Neg, v(8, -128), v(8, -128)));
        assert!(overflows(Op::Mul, v(128, i128::MAX), v(128, 2)));
        assert!(overflows(Op::Shl, v(32, 1), v(32, 31)));
        assert!(!overflows(Op::Shl, v(32, 1), v(32, 30)));
    }
}
