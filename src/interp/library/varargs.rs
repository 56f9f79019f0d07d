//! `stdarg.h`: a `va_list` holds, in its first word, which call's arguments it goes through and how
//! many of them were taken; the arguments themselves stay with the machine.

use super::{Arguments, Model, NOTHING, row};
use crate::interp::machine::{Machine, Run, Stop};
use crate::ir::{CType, Const, UndefinedKind};

/// Low bits of the word that count the arguments taken.
const TAKEN_BITS: u32 = 12;
/// Lists that a 32-bit word can tell apart.
const MAX_LISTS: usize = 1 << 19;

pub(super) const MODELS: &[Model] = &[
    row("va_start", |m, a| {
        let extra = m.frames.last().map(|f| f.extra.clone()).unwrap_or_default();
        if m.argument_lists.len() >= MAX_LISTS || extra.len() >= 1 << TAKEN_BITS {
            return Err(Stop::Unsupported("too many argument lists".into()));
        }
        m.argument_lists.push(extra);
        let word = (m.argument_lists.len() as u128) << TAKEN_BITS;
        m.memory.store(a.word(0)?, a.pointer_bytes(), word)?;
        NOTHING
    }),
    row("va_copy", |m, a| {
        let word = m.memory.load(a.word(1)?, a.pointer_bytes())?;
        m.memory.store(a.word(0)?, a.pointer_bytes(), word)?;
        NOTHING
    }),
    row("va_end", |_, _| NOTHING),
    row("va_arg", |m, a| {
        let word = m.memory.load(a.word(0)?, a.pointer_bytes())?;
        let value = rest(m, word)?.first().ok_or(UndefinedKind::BadCall)?.0;
        if Some(value.sort()) != a.ret.sort(a.pointer_bits) {
            return Err(UndefinedKind::BadCall.into());
        }
        m.memory.store(a.word(0)?, a.pointer_bytes(), word + 1)?;
        Ok(Some(value))
    }),
];

/// Returns the arguments that a list's first word leaves.
fn rest<'m>(m: &'m Machine<'_>, word: u128) -> Run<&'m [(Const, CType)]> {
    let list = ((word >> TAKEN_BITS) as usize).checked_sub(1).and_then(|i| m.argument_lists.get(i));
    let taken = (word & ((1 << TAKEN_BITS) - 1)) as usize;
    Ok(list.ok_or(UndefinedKind::BadPointer)?.get(taken..).unwrap_or(&[]))
}

/// Returns the arguments that a `va_list` argument still has, and their types.
pub(super) fn remaining(m: &mut Machine<'_>, a: &Arguments<'_>, i: usize) -> Run<(Vec<Const>, Vec<CType>)> {
    let word = m.memory.load(a.word(i)?, a.pointer_bytes())?;
    Ok(rest(m, word)?.iter().cloned().unzip())
}
