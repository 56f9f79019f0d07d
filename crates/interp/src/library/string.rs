//! `string.h` and `strings.h`.

use super::model::{Arguments, Model, NOTHING, row};
use crate::ir::Const;
use crate::machine::Machine;
use crate::stop::{Run, Stop};

const ALL: u64 = u64::MAX;

pub(super) const MODELS: &[Model] = &[
    row("memcpy", |m, a| copy(m, a, 0, 1, 0)),
    row("memmove", |m, a| copy(m, a, 0, 1, 0)),
    row("mempcpy", |m, a| copy(m, a, 0, 1, 1)),
    row("memccpy", |m, a| {
        let (dst, src, byte, n) = (a.word(0)?, a.word(1)?, a.i32(2)? as u8, a.word(3)?);
        let found = find_byte(m, src, n, byte, false)?.map(|at| at.wrapping_sub(src) + 1);
        m.memory.copy(dst, src, found.unwrap_or(n))?;
        a.address(found.map_or(0, |length| dst.wrapping_add(length)))
    }),
    row("swab", |m, a| {
        let pairs = u64::try_from(a.int(2)?).unwrap_or(0) & !1;
        let mut bytes = m.memory.read(a.word(0)?, pairs)?.to_vec();
        bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        m.memory.write(a.word(1)?, &bytes)?;
        NOTHING
    }),
    row("wcslen", |m, a| a.integer(wide(m, a.word(0)?)?.len() as i128)),
    row("wcscmp", |m, a| {
        let (left, right) = (wide(m, a.word(0)?)?, wide(m, a.word(1)?)?);
        a.integer(left.cmp(&right) as i128)
    }),
    row("wcscpy", |m, a| {
        let n = wide(m, a.word(1)?)?.len() as u64 + 1;
        m.memory.copy(a.word(0)?, a.word(1)?, 4 * n)?;
        a.address(a.word(0)?)
    }),
    row("bcopy", |m, a| copy(m, a, 1, 0, 0).map(|_| None)),
    row("memset", |m, a| {
        m.memory.fill(a.word(0)?, a.word(2)?, a.i32(1)? as u8)?;
        a.address(a.word(0)?)
    }),
    row("bzero", |m, a| {
        m.memory.fill(a.word(0)?, a.word(1)?, 0)?;
        NOTHING
    }),
    row("memcmp", |m, a| compare(m, a, a.word(2)?, false, |b| b)),
    row("bcmp", |m, a| compare(m, a, a.word(2)?, false, |b| b)),
    row("strcmp", |m, a| compare(m, a, ALL, true, |b| b)),
    row("strcoll", |m, a| compare(m, a, ALL, true, |b| b)),
    row("strncmp", |m, a| compare(m, a, a.word(2)?, true, |b| b)),
    row("strcasecmp", |m, a| compare(m, a, ALL, true, |b| b.to_ascii_lowercase())),
    row("strncasecmp", |m, a| compare(m, a, a.word(2)?, true, |b| b.to_ascii_lowercase())),
    row("memchr", |m, a| {
        let (at, byte, n) = (a.word(0)?, a.i32(1)? as u8, a.word(2)?);
        a.address(find_byte(m, at, n, byte, false)?.unwrap_or(0))
    }),
    row("rawmemchr", |m, a| a.address(find_byte(m, a.word(0)?, ALL, a.i32(1)? as u8, false)?.unwrap_or(0))),
    row("memrchr", |m, a| {
        let bytes = m.memory.read(a.word(0)?, a.word(2)?)?;
        let byte = a.i32(1)? as u8;
        let at = bytes.iter().rposition(|b| *b == byte);
        a.address(at.map_or(0, |i| a.word(0).unwrap_or(0) + i as u64))
    }),
    row("memmem", |m, a| {
        let hay = m.memory.read(a.word(0)?, a.word(1)?)?.to_vec();
        let needle = m.memory.read(a.word(2)?, a.word(3)?)?.to_vec();
        a.address(position(&hay, &needle).map_or(0, |i| a.word(0).unwrap_or(0) + i as u64))
    }),
    row("strlen", |m, a| a.integer(m.memory.string(a.word(0)?, ALL)?.len() as i128)),
    row("strnlen", |m, a| a.integer(m.memory.string(a.word(0)?, a.word(1)?)?.len() as i128)),
    row("strcpy", |m, a| copy_string(m, a, 0, false)),
    row("stpcpy", |m, a| copy_string(m, a, 0, true)),
    row("strcat", |m, a| {
        let end = m.memory.string(a.word(0)?, ALL)?.len() as u64;
        copy_string(m, a, end, false)
    }),
    row("strncpy", |m, a| {
        padded_copy(m, a)?;
        a.address(a.word(0)?)
    }),
    row("stpncpy", |m, a| {
        let n = padded_copy(m, a)?;
        a.address(a.word(0)? + n)
    }),
    row("strncat", |m, a| {
        let end = m.memory.string(a.word(0)?, ALL)?.len() as u64;
        let mut bytes = m.memory.string(a.word(1)?, a.word(2)?)?;
        bytes.push(0);
        m.memory.write(a.word(0)? + end, &bytes)?;
        a.address(a.word(0)?)
    }),
    row("strlcpy", |m, a| {
        let source = m.memory.string(a.word(1)?, ALL)?;
        put_truncated(m, a.word(0)?, a.word(2)?, &source)?;
        a.integer(source.len() as i128)
    }),
    row("strlcat", |m, a| {
        let (dst, size) = (a.word(0)?, a.word(2)?);
        let old = m.memory.string(dst, size)?.len() as u64;
        let source = m.memory.string(a.word(1)?, ALL)?;
        put_truncated(m, dst + old, size - old, &source)?;
        a.integer(old as i128 + source.len() as i128)
    }),
    row("strchr", |m, a| a.address(find_byte(m, a.word(0)?, ALL, a.i32(1)? as u8, true)?.unwrap_or(0))),
    row("index", |m, a| a.address(find_byte(m, a.word(0)?, ALL, a.i32(1)? as u8, true)?.unwrap_or(0))),
    row("strchrnul", |m, a| {
        let found = find_byte(m, a.word(0)?, ALL, a.i32(1)? as u8, true)?;
        match found {
            Some(at) => a.address(at),
            None => a.address(a.word(0)? + m.memory.string(a.word(0)?, ALL)?.len() as u64),
        }
    }),
    row("strrchr", last_byte),
    row("rindex", last_byte),
    row("strstr", |m, a| find_string(m, a, |b| b)),
    row("strcasestr", |m, a| find_string(m, a, |b| b.to_ascii_lowercase())),
    row("strspn", |m, a| a.integer(span(m, a.word(0)?, a.word(1)?, true)? as i128)),
    row("strcspn", |m, a| a.integer(span(m, a.word(0)?, a.word(1)?, false)? as i128)),
    row("strpbrk", |m, a| {
        let at = a.word(0)? + span(m, a.word(0)?, a.word(1)?, false)?;
        let ends = m.memory.load(at, 1)? == 0;
        a.address(if ends { 0 } else { at })
    }),
    row("strtok", |m, a| {
        let start = if a.word(0)? == 0 { m.left.strtok_rest } else { a.word(0)? };
        let (token, rest) = token(m, start, a.word(1)?)?;
        m.left.strtok_rest = rest;
        a.address(token)
    }),
    row("strtok_r", reentrant_token),
    row("__strtok_r", reentrant_token),
    row("strsep", separate),
    row("strdup", |m, a| duplicate(m, a, ALL)),
    row("__strdup", |m, a| duplicate(m, a, ALL)),
    row("strndup", |m, a| duplicate(m, a, a.word(1)?)),
    row("strxfrm", |m, a| {
        let source = m.memory.string(a.word(1)?, ALL)?;
        put_truncated(m, a.word(0)?, a.word(2)?, &source)?;
        a.integer(source.len() as i128)
    }),
];

fn copy(m: &mut Machine<'_>, a: &Arguments<'_>, dst: usize, src: usize, after: u64) -> Run<Option<Const>> {
    let n = a.word(2)?;
    m.memory.copy(a.word(dst)?, a.word(src)?, n)?;
    a.address(a.word(dst)?.wrapping_add(after.wrapping_mul(n)))
}

/// Returns a text of `wchar_t`, signed words of 32 bits, without its end.
fn wide(m: &mut Machine<'_>, at: u64) -> Run<Vec<i32>> {
    let mut found = Vec::new();
    loop {
        let here = at.wrapping_add(4 * found.len() as u64);
        match m.memory.load(here, 4)? as u32 as i32 {
            0 => return Ok(found),
            character => found.push(character),
        }
    }
}

/// Compares byte by byte up to `n`, reading no further than the first difference (or NUL).
fn compare(
    m: &mut Machine<'_>,
    a: &Arguments<'_>,
    n: u64,
    strings: bool,
    map: fn(u8) -> u8,
) -> Run<Option<Const>> {
    let (left, right) = (a.word(0)?, a.word(1)?);
    m.note_texts(left, Ok(right));
    for i in 0..n {
        let x = map(m.memory.load(left.wrapping_add(i), 1)? as u8);
        let y = map(m.memory.load(right.wrapping_add(i), 1)? as u8);
        if x != y {
            let result = m.compared(x as i128 - y as i128, a.is_sized);
            return a.integer(result);
        }
        if strings && x == 0 {
            break;
        }
    }
    a.integer(0)
}

/// Returns the address of a byte; a string's search ends at its NUL, which can itself be found.
fn find_byte(m: &mut Machine<'_>, at: u64, n: u64, byte: u8, string: bool) -> Run<Option<u64>> {
    m.note_texts(at, Err(&[byte]));
    for i in 0..n {
        let here = m.memory.load(at.wrapping_add(i), 1)? as u8;
        if here == byte {
            return Ok(Some(at + i));
        }
        if string && here == 0 {
            break;
        }
    }
    Ok(None)
}

fn last_byte(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let mut bytes = m.memory.string(a.word(0)?, ALL)?;
    bytes.push(0);
    let byte = a.i32(1)? as u8;
    let at = bytes.iter().rposition(|b| *b == byte);
    a.address(at.map_or(0, |i| a.word(0).unwrap_or(0) + i as u64))
}

fn copy_string(m: &mut Machine<'_>, a: &Arguments<'_>, skip: u64, to_end: bool) -> Run<Option<Const>> {
    let mut bytes = m.memory.string(a.word(1)?, ALL)?;
    let n = bytes.len() as u64;
    bytes.push(0);
    m.memory.write(a.word(0)?.wrapping_add(skip), &bytes)?;
    a.address(a.word(0)? + if to_end { n } else { 0 })
}

/// Copies as `strncpy`; returns the string's length.
fn padded_copy(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<u64> {
    let bytes = m.memory.string(a.word(1)?, a.word(2)?)?;
    let n = bytes.len() as u64;
    m.memory.write(a.word(0)?, &bytes)?;
    m.memory.fill(a.word(0)?.wrapping_add(n), a.word(2)? - n, 0)?;
    Ok(n)
}

/// Writes at most `size - 1` bytes and a NUL.
pub(super) fn put_truncated(m: &mut Machine<'_>, dst: u64, size: u64, bytes: &[u8]) -> Run<()> {
    if size > 0 {
        let n = bytes.len().min((size - 1) as usize);
        let mut kept = bytes.get(..n).unwrap_or(bytes).to_vec();
        kept.push(0);
        m.memory.write(dst, &kept)?;
    }
    Ok(())
}

fn position(hay: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    hay.windows(needle.len()).position(|w| w == needle)
}

fn find_string(m: &mut Machine<'_>, a: &Arguments<'_>, map: fn(u8) -> u8) -> Run<Option<Const>> {
    let mapped = |bytes: Vec<u8>| bytes.into_iter().map(map).collect::<Vec<u8>>();
    let hay = mapped(m.memory.string(a.word(0)?, ALL)?);
    let needle = mapped(m.memory.string(a.word(1)?, ALL)?);
    m.note_texts(a.word(0)?, Ok(a.word(1)?));
    a.address(position(&hay, &needle).map_or(0, |i| a.word(0).unwrap_or(0) + i as u64))
}

/// Returns how long the prefix is whose bytes are in the set (or are not).
fn span(m: &mut Machine<'_>, string: u64, set: u64, inside: bool) -> Run<u64> {
    let set = m.memory.string(set, ALL)?;
    let mut n = 0;
    loop {
        let byte = m.memory.load(string.wrapping_add(n), 1)? as u8;
        if byte == 0 || set.contains(&byte) != inside {
            return Ok(n);
        }
        n += 1;
    }
}

/// Returns the next token's address (0 for none) and where to go on.
fn token(m: &mut Machine<'_>, start: u64, set: u64) -> Run<(u64, u64)> {
    if start == 0 {
        return Ok((0, 0));
    }
    let begin = start + span(m, start, set, true)?;
    if m.memory.load(begin, 1)? == 0 {
        return Ok((0, begin));
    }
    let end = begin + span(m, begin, set, false)?;
    if m.memory.load(end, 1)? == 0 {
        return Ok((begin, end));
    }
    m.memory.write(end, &[0])?;
    Ok((begin, end + 1))
}

fn reentrant_token(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let width = a.pointer_bytes();
    let start = if a.word(0)? == 0 { m.memory.load(a.word(2)?, width)? as u64 } else { a.word(0)? };
    let (token, rest) = token(m, start, a.word(1)?)?;
    m.memory.store(a.word(2)?, width, rest as u128)?;
    a.address(token)
}

fn separate(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let width = a.pointer_bytes();
    let start = m.memory.load(a.word(0)?, width)? as u64;
    if start == 0 {
        return a.address(0);
    }
    let end = start + span(m, start, a.word(1)?, false)?;
    let mut rest = 0;
    if m.memory.load(end, 1)? != 0 {
        m.memory.write(end, &[0])?;
        rest = end + 1;
    }
    m.memory.store(a.word(0)?, width, rest as u128)?;
    a.address(start)
}

fn duplicate(m: &mut Machine<'_>, a: &Arguments<'_>, limit: u64) -> Run<Option<Const>> {
    let mut bytes = m.memory.string(a.word(0)?, limit)?;
    bytes.push(0);
    let addr = place(m, &bytes)?;
    m.note_allocation(addr);
    a.address(addr)
}

/// Allocates an object with this content.
pub(super) fn place(m: &mut Machine<'_>, bytes: &[u8]) -> Run<u64> {
    let addr = m.memory.allocate(bytes.len() as u64, false);
    let addr = addr.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
    m.memory.write(addr, bytes)?;
    Ok(addr)
}
