//! `stdlib.h`: arithmetic, conversions of text to numbers, random numbers.

use super::model::{Arguments, Model, NOTHING, row};
use crate::format::number;
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::Run;

const EINVAL: i32 = 22;
const ERANGE: i32 = 34;
const ALL: u64 = u64::MAX;

pub(super) const MODELS: &[Model] = &[
    row("abs", absolute),
    row("labs", absolute),
    row("llabs", absolute),
    row("imaxabs", absolute),
    row("atoi", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        a.integer(number::atoi(&text, m.program.data_model()) as i128)
    }),
    row("atol", |m, a| to_integer(m, a, None, true)),
    row("atoll", |m, a| to_integer(m, a, None, true)),
    row("strtol", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoll", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoimax", |m, a| to_integer(m, a, Some(a.i32(2)?), true)),
    row("strtoul", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("strtoull", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("strtoumax", |m, a| to_integer(m, a, Some(a.i32(2)?), false)),
    row("atof", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        Ok(Some(Const::f64(number::atof(&text))))
    }),
    row("strtod", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        let parsed = number::strtod(&text);
        finish(m, a, true, parsed.consumed, parsed.range_error)?;
        Ok(Some(Const::f64(parsed.value)))
    }),
    row("strtold", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        let parsed = number::strtold(&text);
        finish(m, a, true, parsed.consumed, parsed.range_error)?;
        Ok(Some(Const::F80(parsed.value)))
    }),
    row("strtof", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        let parsed = number::strtof(&text);
        finish(m, a, true, parsed.consumed, parsed.range_error)?;
        Ok(Some(Const::f32(parsed.value)))
    }),
    row("rand", |m, a| a.integer(m.left.random.next() as i128)),
    row("random", |m, a| a.integer(m.left.random.next() as i128)),
    row("srand", seed),
    row("srandom", seed),
    row("rand_r", |m, a| {
        let mut state = m.memory.load(a.word(0)?, 4)? as u32;
        let mut draw = |range: u32| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state / 65_536) % range
        };
        let (high, middle, low) = (draw(2_048), draw(1_024), draw(1_024));
        m.memory.store(a.word(0)?, 4, state as u128)?;
        a.integer((((high << 10) ^ middle) << 10 ^ low) as i128)
    }),
    row("ffs", |_, a| a.integer(lowest_bit(a.i32(0)? as i128))),
    row("ffsl", |_, a| a.integer(lowest_bit(a.int(0)?))),
    row("ffsll", |_, a| a.integer(lowest_bit(a.int(0)?))),
];

fn lowest_bit(v: i128) -> i128 {
    if v == 0 { 0 } else { v.trailing_zeros() as i128 + 1 }
}

/// `abs(INT_MIN)` wraps, as the machine's negation does.
fn absolute(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let c = a.value(0)?;
    let v = c.signed().ok_or(UndefinedKind::BadCall)?;
    let wrapped = Const::bv(c.sort().bits().unwrap_or(32), v.abs());
    if wrapped.signed() != Some(v.abs()) {
        m.events.overflow = true;
    }
    a.integer(wrapped.signed().unwrap_or(0))
}

fn seed(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    m.left.random.seed(a.i32(0)? as u32);
    NOTHING
}

fn to_integer(m: &mut Machine<'_>, a: &Arguments<'_>, base: Option<i32>, signed: bool) -> Run<Option<Const>> {
    let text = m.memory.string(a.word(0)?, ALL)?;
    let base_number = base.unwrap_or(10);
    if base_number < 0 || base_number == 1 || base_number > 36 {
        m.set_errno(EINVAL)?;
        return a.integer(0);
    }
    let (value, consumed, range_error) = if signed {
        let parsed = number::strtol(&text, base_number as u32, a.result_bits());
        (parsed.value as i128, parsed.consumed, parsed.range_error)
    } else {
        let parsed = number::strtoul(&text, base_number as u32, a.result_bits());
        (parsed.value as i128, parsed.consumed, parsed.range_error)
    };
    finish(m, a, base.is_some(), consumed, range_error)?;
    a.integer(value)
}

/// Stores the end pointer and ERANGE.
fn finish(m: &mut Machine<'_>, a: &Arguments<'_>, has_end: bool, length: usize, range: bool) -> Run<()> {
    if has_end && a.word(1)? != 0 {
        let end = a.word(0)? + length as u64;
        m.memory.store(a.word(1)?, a.pointer_bytes(), end as u128)?;
    }
    if range {
        m.set_errno(ERANGE)?;
    }
    Ok(())
}
