//! Ends of the program, `errno`, time, locale: what lies between a program and its surroundings.

use super::model::{Arguments, Model, NOTHING, row};
use super::{recall, string};
use crate::ir::Const;
use crate::left::Handler;
use crate::machine::Machine;
use crate::program::ERRNO;
use crate::stop::{Leaving, Run, Stop};

pub(super) const MODELS: &[Model] = &[
    row("exit", |_, a| Err(Stop::Exit { status: a.i32(0)?, leaving: Leaving::Exit })),
    row("_Exit", |_, a| Err(Stop::Exit { status: a.i32(0)?, leaving: Leaving::AtOnce })),
    row("_exit", |_, a| Err(Stop::Exit { status: a.i32(0)?, leaving: Leaving::AtOnce })),
    row("quick_exit", |_, a| Err(Stop::Exit { status: a.i32(0)?, leaving: Leaving::Quick })),
    row("trap", |_, _| Err(Stop::Abort)),
    row("atexit", |m, a| m.register(a, Handler { function: a.word(0)?, argument: None })),
    row("at_quick_exit", |m, a| m.register(a, Handler { function: a.word(0)?, argument: None })),
    row("on_exit", |m, a| m.register(a, Handler { function: a.word(0)?, argument: Some(a.word(1)?) })),
    row("__invdiff_assert_fail", assertion_failed),
    row("__assert_fail", assertion_failed),
    row("__errno_location", |m, a| a.address(m.program.library_slot(ERRNO).map_or(0, |s| s.base))),
    row("time", |m, a| {
        let now = m.external(a, "time");
        if a.word(0)? != 0 {
            m.memory.store(a.word(0)?, a.result_bits() as u64 / 8, now as u128)?;
        }
        a.integer(now)
    }),
    row("clock", |m, a| {
        let now = m.external(a, "clock");
        a.integer(now)
    }),
    row("difftime", |_, a| Ok(Some(Const::f64(a.int(0)? as f64 - a.int(1)? as f64)))),
    row("setlocale", |m, a| {
        let name = string::place(m, b"C\0")?;
        a.address(name)
    }),
    row("strerror", |m, a| {
        let mut text = error_text(a.i32(0)?).into_bytes();
        text.push(0);
        let addr = string::place(m, &text)?;
        a.address(addr)
    }),
    row("perror", |m, a| {
        let mut line = if a.word(0)? == 0 { Vec::new() } else { m.memory.string(a.word(0)?, u64::MAX)? };
        if !line.is_empty() {
            line.extend_from_slice(b": ");
        }
        let base = m.program.library_slot(ERRNO).map_or(0, |s| s.base);
        let errno = m.memory.load(base, 4)? as i32;
        line.extend_from_slice(error_text(errno).as_bytes());
        line.push(b'\n');
        m.streams.stderr.extend_from_slice(&line);
        NOTHING
    }),
];

fn assertion_failed(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    recall::before_failure(m)?;
    let text = m.memory.string(a.word(0)?, u64::MAX)?;
    Err(Stop::AssertFailed(String::from_utf8_lossy(&text).into_owned()))
}

/// Returns the C library's text of an error number, without the number that Rust adds.
fn error_text(errno: i32) -> String {
    if errno == 0 {
        return "Success".into();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&text).to_owned()
}
