//! `stdio.h` on the three standard streams, and `read`/`write` on descriptors 0 to 2.
//!
//! What is written to another file is collected and can be compared; nothing can be read from one. Streams
//! that the program made itself are followed ([`super::own`]).

use super::model::{Arguments, Model, NOTHING, row};
use super::own;
use crate::generate::Request;
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::{Run, Stop};

const EOF: i128 = -1;
const ALL: u64 = u64::MAX;

pub(super) const MODELS: &[Model] = &[
    row("puts", |m, a| {
        let mut text = m.memory.string(a.word(0)?, ALL)?;
        text.push(b'\n');
        m.streams.put(&text);
        a.integer(text.len() as i128)
    }),
    row("putchar", |m, a| put_byte(m, a, Stream::Out)),
    row("putchar_unlocked", |m, a| put_byte(m, a, Stream::Out)),
    row("fputc", put_byte_to),
    row("putc", put_byte_to),
    row("putc_unlocked", put_byte_to),
    row("_IO_putc", put_byte_to),
    row("fputs", |m, a| {
        let text = m.memory.string(a.word(0)?, ALL)?;
        let to = stream(m, a, 1)?;
        put(m, to, &text)?;
        a.integer(1)
    }),
    row("fwrite", |m, a| {
        let (size, count) = (a.word(1)?, a.word(2)?);
        let bytes = m.memory.read(a.word(0)?, size.saturating_mul(count))?.to_vec();
        let to = stream(m, a, 3)?;
        put(m, to, &bytes)?;
        a.integer(if size == 0 { 0 } else { count as i128 })
    }),
    row("write", |m, a| {
        let bytes = m.memory.read(a.word(1)?, a.word(2)?)?.to_vec();
        match a.i32(0)? {
            // Past the buffer: it may overtake what `printf` has written before.
            1 => m.streams.stdout.extend_from_slice(&bytes),
            2 => m.streams.stderr.extend_from_slice(&bytes),
            _ => return unknown_file(),
        }
        a.integer(bytes.len() as i128)
    }),
    row("fflush", |m, a| {
        match a.word(0)? {
            0 => {
                m.streams.flush();
                own::flush_all(m)?;
            }
            _ => match stream(m, a, 0)? {
                Stream::Out => m.streams.flush(),
                Stream::Own(addr) => own::with(m, addr, |s, memory| s.flush(memory))?,
                Stream::In | Stream::Error | Stream::File(_) => {}
            },
        }
        a.integer(0)
    }),
    row("getchar", get_byte),
    row("getchar_unlocked", get_byte),
    row("getc", get_byte_from),
    row("fgetc", get_byte_from),
    row("getc_unlocked", get_byte_from),
    row("_IO_getc", get_byte_from),
    row("ungetc", |m, a| {
        let c = a.i32(0)?;
        match stream(m, a, 1)? {
            Stream::In if c != -1 => m.streams.unget(c as u8),
            Stream::Own(addr) if c != -1 => own::with(m, addr, |s, memory| s.unget(memory, c as u8))?,
            _ => return a.integer(EOF),
        }
        a.integer(c as u8 as i128)
    }),
    row("fgets", |m, a| {
        let own = input_stream(m, a, 2)?;
        let room = a.i32(1)?;
        if room <= 1 {
            if room == 1 {
                m.memory.write(a.word(0)?, &[0])?;
            }
            return a.address(if room == 1 { a.word(0)? } else { 0 });
        }
        if let Some(addr) = own {
            return own::read_line(m, a, addr, room as u64 - 1);
        }
        m.streams.prepare(&Request::Line);
        read_line(m, a, room as usize - 1, true)
    }),
    row("gets", |m, a| {
        m.streams.prepare(&Request::Line);
        read_line(m, a, usize::MAX, false)
    }),
    row("fread", |m, a| {
        let own = input_stream(m, a, 3)?;
        let (size, count) = (a.word(1)?, a.word(2)?);
        let wanted = size.saturating_mul(count);
        let got = match own {
            Some(_) if wanted == 0 => 0,
            Some(addr) => own::read_bytes(m, addr, a.word(0)?, wanted)?,
            None => read_bytes(m, a.word(0)?, wanted)?,
        };
        a.integer(got.checked_div(size).unwrap_or(0) as i128)
    }),
    row("read", |m, a| {
        if a.i32(0)? != 0 {
            return unknown_file();
        }
        let got = read_bytes(m, a.word(1)?, a.word(2)?)?;
        a.integer(got as i128)
    }),
    row("feof", |m, a| {
        let at_end = match stream(m, a, 0)? {
            Stream::In => m.streams.end_seen,
            Stream::Own(addr) => own::with(m, addr, |s, _| Ok(s.end_seen))?,
            Stream::Out | Stream::Error | Stream::File(_) => false,
        };
        a.integer(at_end as i128)
    }),
    row("ferror", |m, a| stream(m, a, 0).and_then(|_| a.integer(0))),
    row("clearerr", |m, a| {
        match stream(m, a, 0)? {
            Stream::In => m.streams.end_seen = false,
            Stream::Own(addr) => own::with(m, addr, |s, _| {
                s.end_seen = false;
                Ok(())
            })?,
            Stream::Out | Stream::Error | Stream::File(_) => {}
        }
        NOTHING
    }),
    row("fileno", |m, a| match stream(m, a, 0)? {
        Stream::In => a.integer(0),
        Stream::Out => a.integer(1),
        Stream::Error => a.integer(2),
        Stream::File(_) | Stream::Own(_) => unknown_file(),
    }),
];

/// A stream of output or input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stream {
    In,
    Out,
    Error,
    /// Some file, by the address of its object.
    File(u64),
    /// One that the program made itself, by address.
    Own(u64),
}

/// Returns which stream an argument is.
///
/// Errors: an event for a null pointer, and for a stream of the program's own that was closed.
pub(super) fn stream(m: &mut Machine<'_>, a: &Arguments<'_>, i: usize) -> Run<Stream> {
    match a.word(i)? {
        0 => Err(UndefinedKind::NullDereference.into()),
        addr if own::is_open(m, addr)? => Ok(Stream::Own(addr)),
        addr => Ok(match m.program.stream_at(addr) {
            Some(0) => Stream::In,
            Some(1) => Stream::Out,
            Some(_) => Stream::Error,
            None => Stream::File(addr),
        }),
    }
}

fn unknown_file<T>() -> Run<T> {
    Err(Stop::Unsupported("a file that is no standard stream".into()))
}

/// Requires an argument to be standard input, or a stream of the program's own, whose address is returned.
pub(super) fn input_stream(m: &mut Machine<'_>, a: &Arguments<'_>, i: usize) -> Run<Option<u64>> {
    match stream(m, a, i)? {
        Stream::In => Ok(None),
        Stream::Own(addr) => Ok(Some(addr)),
        Stream::File(_) => unknown_file(),
        _ => Err(Stop::Unsupported("reading an output stream".into())),
    }
}

/// Writes to a stream.
pub(super) fn put(m: &mut Machine<'_>, stream: Stream, bytes: &[u8]) -> Run<()> {
    match stream {
        Stream::Out => m.streams.put(bytes),
        Stream::Error => m.streams.stderr.extend_from_slice(bytes),
        Stream::File(addr) => m.streams.files.entry(addr).or_default().extend_from_slice(bytes),
        Stream::Own(addr) => own::with(m, addr, |s, memory| s.write(memory, bytes, false))?,
        Stream::In => return Err(Stop::Unsupported("writing to standard input".into())),
    }
    Ok(())
}

fn put_byte_to(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let to = stream(m, a, 1)?;
    put_byte(m, a, to)
}

fn put_byte(m: &mut Machine<'_>, a: &Arguments<'_>, stream: Stream) -> Run<Option<Const>> {
    let byte = a.i32(0)? as u8;
    match stream {
        Stream::Own(addr) => own::with(m, addr, |s, memory| s.write(memory, &[byte], true))?,
        _ => put(m, stream, &[byte])?,
    }
    a.integer(byte as i128)
}

fn get_byte(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let byte = m.streams.get();
    if let Some(b) = byte {
        m.noted.inputs.push(Some(Const::bv(32, b as i128)));
    }
    a.integer(byte.map_or(EOF, |b| b as i128))
}

fn get_byte_from(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    match input_stream(m, a, 0)? {
        Some(addr) => {
            let byte = own::with(m, addr, |s, memory| s.read(memory, 1, false))?;
            a.integer(byte.first().map_or(EOF, |b| *b as i128))
        }
        None => get_byte(m, a),
    }
}

/// Reads up to and with a newline (`fgets`) or without it (`gets`); null at the end of input.
fn read_line(m: &mut Machine<'_>, a: &Arguments<'_>, room: usize, keep_newline: bool) -> Run<Option<Const>> {
    let unread = m.streams.unread();
    let newline = unread.iter().position(|b| *b == b'\n');
    let taken = newline.map_or(unread.len(), |n| n + 1).min(room);
    if taken == 0 {
        m.streams.end_seen = true;
        return a.address(0);
    }
    let mut line = unread.get(..taken).unwrap_or(&[]).to_vec();
    m.streams.end_seen |= newline.is_none() && taken < room;
    m.streams.position += taken;
    if !keep_newline && line.last() == Some(&b'\n') {
        line.pop();
    }
    line.push(0);
    m.memory.write(a.word(0)?, &line)?;
    m.noted.inputs.push(None);
    a.address(a.word(0)?)
}

fn read_bytes(m: &mut Machine<'_>, to: u64, n: u64) -> Run<u64> {
    m.streams.prepare(&Request::Bytes(n));
    let unread = m.streams.unread();
    let bytes = unread.get(..unread.len().min(n as usize)).unwrap_or(&[]).to_vec();
    m.memory.write(to, &bytes)?;
    m.streams.position += bytes.len();
    m.streams.end_seen |= (bytes.len() as u64) < n;
    if !bytes.is_empty() {
        m.noted.inputs.push(None);
    }
    Ok(bytes.len() as u64)
}
