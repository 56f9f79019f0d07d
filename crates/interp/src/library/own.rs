//! Streams that the program makes itself: how they are made and closed, and what only they are asked.
//!
//! That one can be made is assumed, as it is of memory; an input may say that it is refused, which is then
//! listed as any call of a function that nobody defines. A stream that is handed to a function that is not
//! followed ends the run.

use super::model::Arguments;
use crate::Value;
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::memory::Memory;
use crate::own::OwnStream;
use crate::stop::{Run, Stop};
use std::sync::Arc;

/// Functions that make a stream whose content only the program determines.
pub(crate) const MAKERS: [&str; 4] = ["tmpfile", "tmpfile64", "fmemopen", "open_memstream"];

/// Functions that have no model, and are answered where they concern such a stream.
pub(crate) const ASKED: [&str; 6] = ["fclose", "fseek", "fseeko", "rewind", "ftell", "ftello"];

/// Does something with a stream.
pub(super) fn with<'p, T>(
    m: &mut Machine<'p>,
    addr: u64,
    what: impl FnOnce(&mut OwnStream, &mut Memory<'p>) -> Run<T>,
) -> Run<T> {
    match m.streams.own.get_mut(&addr) {
        Some(stream) => what(stream, &mut m.memory),
        None => Err(UndefinedKind::BadPointer.into()),
    }
}

/// Whether an address is that of a stream of the program's own.
///
/// Errors: an event where it was closed.
pub(super) fn is_open(m: &mut Machine<'_>, addr: u64) -> Run<bool> {
    if m.streams.own_closed.contains(&addr) {
        m.memory.load(addr, 1)?;
    }
    Ok(m.streams.own.contains_key(&addr))
}

/// Flushes all streams of the program's own.
pub(super) fn flush_all(m: &mut Machine<'_>) -> Run<()> {
    if m.streams.own.values().any(OwnStream::is_growing) {
        return open();
    }
    m.streams.own.values_mut().try_for_each(|s| s.flush(&mut m.memory))
}

/// Reads a line as `fgets` does.
pub(super) fn read_line(m: &mut Machine<'_>, a: &Arguments<'_>, addr: u64, most: u64) -> Run<Option<Const>> {
    let mut line = with(m, addr, |s, memory| s.read(memory, most, true))?;
    if line.is_empty() {
        return a.address(0);
    }
    line.push(0);
    m.memory.write(a.word(0)?, &line)?;
    a.address(a.word(0)?)
}

/// Reads bytes as `fread` does.
pub(super) fn read_bytes(m: &mut Machine<'_>, addr: u64, to: u64, n: u64) -> Run<u64> {
    let bytes = with(m, addr, |s, memory| s.read(memory, n, false))?;
    m.memory.write(to, &bytes)?;
    Ok(bytes.len() as u64)
}

fn open<T>() -> Run<T> {
    Err(Stop::Unsupported("a stream that is not followed".into()))
}

/// What a call of a function that has no model does with streams of the program's own: its result, if it
/// makes one or concerns one.
pub(super) fn answered(m: &mut Machine<'_>, name: &str, args: &[Const]) -> Run<Option<Const>> {
    let word =
        |k: usize| args.get(k).and_then(|c| c.unsigned()).map(|w| w as u64).ok_or(UndefinedKind::BadCall);
    if MAKERS.contains(&name) {
        if is_refused(m, name) {
            m.streams.own_refused = true;
            return Ok(None);
        }
        let stream = match name {
            "fmemopen" => {
                let mode = m.memory.string(word(2)?, u64::MAX)?;
                OwnStream::fixed(&mut m.memory, word(0)?, word(1)?, &mode)?
            }
            "open_memstream" => OwnStream::growing(&mut m.memory, [word(0)?, word(1)?])?,
            _ => OwnStream::file(),
        };
        let made = m.memory.allocate_kept(0, false);
        let addr = made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
        m.streams.own.insert(addr, stream);
        return Ok(Some(Const::bv(m.program.pointer_bits(), addr.into())));
    }
    if matches!(name, "fcloseall" | "_flushlbf") && !m.streams.own.is_empty() {
        return open();
    }
    if ASKED.contains(&name) && m.streams.own_refused && word(0)? == 0 {
        return Err(UndefinedKind::NullDereference.into());
    }
    let mut which = args.iter().filter_map(|c| Some(c.unsigned()? as u64));
    let Some(addr) = which.find(|w| m.streams.own.contains_key(w) || m.streams.own_closed.contains(w)) else {
        return Ok(None);
    };
    let long = m.program.pointer_bits();
    if word(0)? != addr {
        return open();
    }
    if !ASKED.contains(&name) || !is_open(m, addr)? {
        return open();
    }
    let result = match name {
        "fclose" => {
            if let Some(stream) = m.streams.own.remove(&addr) {
                stream.close(&mut m.memory)?;
            }
            m.memory.retire(addr);
            m.streams.own_closed.insert(addr);
            Const::bv(32, 0)
        }
        "rewind" => {
            with(m, addr, |s, memory| s.seek(memory, 0, 0))?;
            Const::bv(32, 0)
        }
        "fseek" | "fseeko" => {
            let signed = |k: usize| args.get(k).and_then(|c| c.signed()).ok_or(UndefinedKind::BadCall);
            let (offset, whence) = (signed(1)?, signed(2)? as i32);
            with(m, addr, |s, memory| s.seek(memory, offset, whence))?;
            Const::bv(32, 0)
        }
        _ => Const::bv(long, with(m, addr, |s, _| s.tell())?.into()),
    };
    Ok(Some(result))
}

/// Whether the input says that this stream cannot be made; if not, the call is counted.
fn is_refused(m: &mut Machine<'_>, name: &str) -> bool {
    let nth = m.call_counts.get(name).copied().unwrap_or(0) + 1;
    let given = m.input.calls.iter().find(|c| *c.callee == *name && c.nth == nth);
    let refused = given.is_some_and(|c| matches!(c.result, Value::Const(k) if k.to_bits() == 0));
    if !refused {
        m.call_counts.insert(Arc::from(name), nth);
    }
    refused
}
