//! `ctype.h` in the C locale. The classifiers give the bits of glibc's table, not just 1.

use super::model::{Arguments, Model, row};
use crate::ir::{Const, UndefinedKind};
use crate::stop::Run;

pub(super) const MODELS: &[Model] = &[
    row("isalpha", |_, a| class(a, 1024, |c| c.is_ascii_alphabetic())),
    row("isdigit", |_, a| class(a, 2048, |c| c.is_ascii_digit())),
    row("isalnum", |_, a| class(a, 8, |c| c.is_ascii_alphanumeric())),
    row("isupper", |_, a| class(a, 256, |c| c.is_ascii_uppercase())),
    row("islower", |_, a| class(a, 512, |c| c.is_ascii_lowercase())),
    row("isspace", |_, a| class(a, 8192, |c| matches!(c, 9..=13 | 32))),
    row("isxdigit", |_, a| class(a, 4096, |c| c.is_ascii_hexdigit())),
    row("ispunct", |_, a| class(a, 4, |c| c.is_ascii_punctuation())),
    row("isprint", |_, a| class(a, 16384, |c| matches!(c, 32..=126))),
    row("isgraph", |_, a| class(a, 32768, |c| matches!(c, 33..=126))),
    row("iscntrl", |_, a| class(a, 2, |c| c.is_ascii_control())),
    row("isblank", |_, a| class(a, 1, |c| matches!(c, 9 | 32))),
    row("isascii", |_, a| a.integer(((a.i32(0)? & !0x7f) == 0) as i128)),
    row("toascii", |_, a| a.integer((a.i32(0)? & 0x7f) as i128)),
    row("tolower", |_, a| mapped(a, |c| c.to_ascii_lowercase())),
    row("toupper", |_, a| mapped(a, |c| c.to_ascii_uppercase())),
];

/// The table has entries for -128..=255; beyond them the read is out of bounds.
fn class(a: &Arguments<'_>, mask: i128, holds: fn(u8) -> bool) -> Run<Option<Const>> {
    let c = a.i32(0)?;
    match u8::try_from(c) {
        Ok(byte) => a.integer(if holds(byte) { mask } else { 0 }),
        Err(_) if (-128..0).contains(&c) => a.integer(0),
        Err(_) => Err(UndefinedKind::OutOfBounds.into()),
    }
}

fn mapped(a: &Arguments<'_>, map: fn(&u8) -> u8) -> Run<Option<Const>> {
    let c = a.i32(0)?;
    a.integer(u8::try_from(c).map_or(c, |byte| map(&byte) as i32) as i128)
}
