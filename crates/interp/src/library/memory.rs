//! `malloc` and its family.

use super::model::{Arguments, Model, NOTHING, row};
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

const ENOMEM: i32 = 12;

pub(super) const MODELS: &[Model] = &[
    row("malloc", |m, a| allocate(m, a, Some(a.word(0)?), false)),
    row("calloc", |m, a| allocate(m, a, a.word(0)?.checked_mul(a.word(1)?), true)),
    row("realloc", |m, a| reallocate(m, a, Some(a.word(1)?))),
    row("reallocarray", |m, a| reallocate(m, a, a.word(1)?.checked_mul(a.word(2)?))),
    row("free", |m, a| {
        if a.word(0)? != 0 {
            m.memory.free(a.word(0)?)?;
        }
        NOTHING
    }),
    row("alloca", |m, a| Ok(Some(m.new_array(a.word(0)?)?))),
    row("aligned_alloc", |m, a| {
        if a.word(0)? > 16 {
            return Err(Stop::Unsupported("alignment above 16".into()));
        }
        allocate(m, a, Some(a.word(1)?), false)
    }),
];

fn over_limit() -> Stop {
    Stop::Unsupported("memory limit".into())
}

/// Allocates; what no machine could give, and what the input refuses, is a null pointer and ENOMEM.
fn allocate(m: &mut Machine<'_>, a: &Arguments<'_>, size: Option<u64>, zeroed: bool) -> Run<Option<Const>> {
    let refused = m.is_refused(a);
    let Some(size) = size.filter(|s| !refused && *s >> (a.pointer_bits - 1) == 0) else {
        m.set_errno(ENOMEM)?;
        return a.address(0);
    };
    let addr = m.memory.allocate(size, zeroed).ok_or_else(over_limit)?;
    m.note_allocation(addr);
    a.address(addr)
}

fn reallocate(m: &mut Machine<'_>, a: &Arguments<'_>, size: Option<u64>) -> Run<Option<Const>> {
    let old = a.word(0)?;
    if old == 0 {
        return allocate(m, a, size, false);
    }
    let old_size = m.memory.remaining(old).ok_or(UndefinedKind::UseAfterFree)?;
    if size == Some(0) {
        m.memory.free(old)?;
        return a.address(0);
    }
    let new = allocate(m, a, size, false)?;
    let addr = new.map_or(0, Const::to_bits) as u64;
    if addr != 0 {
        m.memory.copy(addr, old, old_size.min(size.unwrap_or(0)))?;
        m.memory.free(old)?;
    }
    Ok(new)
}
