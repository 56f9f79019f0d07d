//! `setjmp`, `longjmp` and those of their kin that also save the signal mask, which nothing here has.

use super::model::{Arguments, Model, row};
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

pub(super) const MODELS: &[Model] = &[
    row("setjmp", set),
    row("_setjmp", set),
    row("sigsetjmp", set),
    row("__sigsetjmp", set),
    row("longjmp", jump),
    row("_longjmp", jump),
    row("siglongjmp", jump),
];

/// Returns the buffer's address.
fn buffer(a: &Arguments<'_>) -> Run<u64> {
    match a.types.first() {
        Some(t) if t.is_pointer() => a.word(0),
        // A `jmp_buf` that is no array was guessed, and comes as a copy.
        _ => Err(Stop::Unsupported("jmp_buf of unknown type".into())),
    }
}

fn set(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let buffer = buffer(a)?;
    let unit = m.stack.frames.last().and_then(|f| m.program.definition(f.definition)).map_or(0, |d| d.unit);
    let size = a.types.first().and_then(|t| m.program.unit(unit)?.size_of(t.target()?));
    m.memory.undefine(buffer, size.unwrap_or(1).max(1))?;
    m.set_jump(buffer)?;
    a.integer(0)
}

fn jump(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let (buffer, value) = (buffer(a)?, a.i32(1)?);
    match m.can_jump(buffer) {
        Some(true) => return Err(Stop::Jump { buffer, value: if value == 0 { 1 } else { value } }),
        Some(false) => return Err(UndefinedKind::DeadJump.into()),
        None => {}
    }
    // A buffer that holds something may be a caller's; above `main` there is none.
    m.memory.read(buffer, 1)?;
    let entry = m.stack.frames.first().and_then(|f| m.program.function_of(f.definition));
    if entry.is_some_and(|f| &*f.name == "main") || m.is_never_set(buffer) {
        return Err(UndefinedKind::DeadJump.into());
    }
    m.external(a, a.name);
    Err(Stop::NoReturn(a.name.into()))
}
