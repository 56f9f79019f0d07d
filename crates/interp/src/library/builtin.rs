//! Compiler builtins that are calls, and byte order.

use super::model::{Arguments, Model, row};
use crate::ir::{Const, UndefinedKind};
use crate::stop::Run;

pub(super) const MODELS: &[Model] = &[
    row("expect", |_, a| Ok(Some(a.value(0)?))),
    row("expect_with_probability", |_, a| Ok(Some(a.value(0)?))),
    row("popcount", |_, a| a.integer(bits(a)?.count_ones() as i128)),
    row("popcountl", |_, a| a.integer(bits(a)?.count_ones() as i128)),
    row("popcountll", |_, a| a.integer(bits(a)?.count_ones() as i128)),
    row("parity", |_, a| a.integer((bits(a)?.count_ones() % 2) as i128)),
    row("parityl", |_, a| a.integer((bits(a)?.count_ones() % 2) as i128)),
    row("parityll", |_, a| a.integer((bits(a)?.count_ones() % 2) as i128)),
    row("ctz", |_, a| a.integer(nonzero(a)?.trailing_zeros() as i128)),
    row("ctzl", |_, a| a.integer(nonzero(a)?.trailing_zeros() as i128)),
    row("ctzll", |_, a| a.integer(nonzero(a)?.trailing_zeros() as i128)),
    row("clz", leading_zeros),
    row("clzl", leading_zeros),
    row("clzll", leading_zeros),
    row("bswap16", |_, a| a.integer((bits(a)? as u16).swap_bytes() as i128)),
    row("bswap32", |_, a| a.integer((bits(a)? as u32).swap_bytes() as i128)),
    row("bswap64", |_, a| a.integer((bits(a)? as u64).swap_bytes() as i128)),
    row("htons", |_, a| a.integer((bits(a)? as u16).swap_bytes() as i128)),
    row("ntohs", |_, a| a.integer((bits(a)? as u16).swap_bytes() as i128)),
    row("htonl", |_, a| a.integer((bits(a)? as u32).swap_bytes() as i128)),
    row("ntohl", |_, a| a.integer((bits(a)? as u32).swap_bytes() as i128)),
];

fn bits(a: &Arguments<'_>) -> Run<u128> {
    Ok(a.value(0)?.unsigned().ok_or(UndefinedKind::BadCall)?)
}

/// The counts of zeros are undefined for zero.
fn nonzero(a: &Arguments<'_>) -> Run<u128> {
    let v = bits(a)?;
    if v == 0 { Err(UndefinedKind::BadCall.into()) } else { Ok(v) }
}

fn leading_zeros(_: &mut crate::machine::Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let width = a.value(0)?.sort().bits().unwrap_or(32) as i128;
    a.integer(width - 128 + nonzero(a)?.leading_zeros() as i128)
}
