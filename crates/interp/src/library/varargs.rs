//! `stdarg.h`: a `va_list` holds, in its first word, which call's arguments it goes through and how
//! many of them were taken; the arguments themselves stay with the machine. What the caller of the function
//! that a run begins in gives for `...` is not known: a run that asks for it ends without an answer.

use super::model::{Arguments, Model, NOTHING, row};
use crate::ir::{CType, Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

/// Low bits of the word that count the arguments taken.
const TAKEN_BITS: u32 = 12;
/// Lists that a 32-bit word can tell apart.
const MAX_LISTS: usize = 1 << 19;

pub(super) const MODELS: &[Model] = &[
    row("va_start", |m, a| {
        let extra = m.stack.frames.last().map(|f| f.extra.clone()).unwrap_or_default();
        if m.stack.argument_lists.len() >= MAX_LISTS || extra.values.len() >= 1 << TAKEN_BITS {
            return Err(Stop::Unsupported("too many argument lists".into()));
        }
        m.stack.argument_lists.push(extra);
        let word = (m.stack.argument_lists.len() as u128) << TAKEN_BITS;
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
        let (rest, is_open) = rest(m, word)?;
        let value = rest.first().ok_or_else(|| missing(is_open, UndefinedKind::BadCall))?.0;
        if Some(value.sort()) != a.ret.sort(a.pointer_bits) {
            return Err(UndefinedKind::BadCall.into());
        }
        m.memory.store(a.word(0)?, a.pointer_bytes(), word + 1)?;
        Ok(Some(value))
    }),
];

/// Returns how a run ends that asks for an argument behind the last of a list: that is undefined, unless
/// more may follow.
pub(super) fn missing(is_open: bool, undefined: UndefinedKind) -> Stop {
    if is_open { Stop::Unsupported("arguments that nobody gave".into()) } else { undefined.into() }
}

/// Returns the arguments that a list's first word leaves, and whether more of them may follow.
fn rest<'m>(m: &'m Machine<'_>, word: u128) -> Run<(&'m [(Const, CType)], bool)> {
    let list = ((word >> TAKEN_BITS) as usize).checked_sub(1).and_then(|i| m.stack.argument_lists.get(i));
    let taken = (word & ((1 << TAKEN_BITS) - 1)) as usize;
    // A list that no `va_start` of this run made may be one of a caller that the run does not know.
    let list = list.ok_or_else(|| Stop::Unsupported("an argument list that nobody gave".into()))?;
    Ok((list.values.get(taken..).unwrap_or(&[]), list.is_open))
}

/// What a `va_list` still has.
#[derive(Default)]
pub(super) struct Remaining {
    pub values: Vec<Const>,
    pub types: Vec<CType>,
    /// More may follow that is not known.
    pub is_open: bool,
}

/// Returns what a `va_list` argument still has.
pub(super) fn remaining(m: &mut Machine<'_>, a: &Arguments<'_>, i: usize) -> Run<Remaining> {
    let word = m.memory.load(a.word(i)?, a.pointer_bytes())?;
    let (rest, is_open) = rest(m, word)?;
    let (values, types) = rest.iter().cloned().unzip();
    Ok(Remaining { values, types, is_open })
}
