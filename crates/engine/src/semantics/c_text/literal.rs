//! Constants as C literals, with the type that C gives them.

use super::Text;
use super::types::{Level, Ty};
use crate::ir::{CType, Const, Global};
use std::sync::Arc;

/// Characters of a literal that are shown.
const LONGEST: usize = 1000;

/// Renders a constant about which nothing else is known: integers signed.
pub(super) fn plain(c: Const) -> Text {
    match c {
        Const::Bool(b) => Text::new(if b { "1" } else { "0" }, Level::Primary, Ty::INT),
        Const::Bv { .. } => decimal(c, true),
        Const::F32(_) | Const::F64(_) | Const::F80(_) => float(c),
    }
}

/// Renders a constant as one compared with, or assigned to, something of a type.
pub(super) fn like(c: Const, ty: &Ty, pointer_bits: u16) -> Text {
    let Const::Bv { width, bits } = c else { return plain(c) };
    match ty {
        Ty::Pointer(_) if bits == 0 => Text::new("NULL", Level::Primary, ty.clone()),
        Ty::Pointer(_) => {
            let text = format!("{bits:#x}");
            Text::new(text, Level::Primary, Ty::int(pointer_bits, false))
        }
        Ty::Int { character: true, .. } => match character(c) {
            Some(text) => Text::new(text, Level::Primary, Ty::INT),
            None => decimal(c, true),
        },
        Ty::Int { .. } if width < 32 => decimal(c, ty.integer(pointer_bits).1),
        _ => decimal(c, ty.promoted(pointer_bits).1),
    }
}

/// Returns a character literal where a person would write one.
fn character(c: Const) -> Option<String> {
    let byte = u8::try_from(c.signed()?).ok()?;
    Some(match byte {
        0 => "'\\0'".to_string(),
        b'\n' => "'\\n'".to_string(),
        b'\t' => "'\\t'".to_string(),
        b'\r' => "'\\r'".to_string(),
        b'\'' => "'\\''".to_string(),
        b'\\' => "'\\\\'".to_string(),
        0x20..=0x7e => format!("'{}'", char::from(byte)),
        _ => return None,
    })
}

/// Returns an integer in decimal, read as signed or unsigned.
pub(super) fn decimal(c: Const, signed: bool) -> Text {
    let (Some(s), Some(u)) = (c.signed(), c.unsigned()) else { return plain(c) };
    if signed { integer(s) } else { i128::try_from(u).map_or_else(|_| integer(s), integer) }
}

/// Returns C text of an integer and how tightly it binds.
pub(super) fn integer(v: i128) -> Text {
    let magnitude = v.unsigned_abs();
    if v == i128::from(i64::MIN) {
        return Text::new("-9223372036854775807 - 1", Level::Sum, Ty::int(64, true));
    }
    let (suffix, ty) = if magnitude <= i32::MAX as u128 {
        ("", Ty::INT)
    } else if magnitude <= i64::MAX as u128 {
        ("", Ty::int(64, true))
    } else {
        ("u", Ty::int(64, false))
    };
    let level = if v < 0 { Level::Unary } else { Level::Primary };
    Text::new(format!("{v}{suffix}"), level, ty)
}

/// Returns an operand of `&`, `|`, `^`: small values in decimal, masks in hexadecimal, complements
/// of masks with `~`.
pub(super) fn mask(c: Const) -> Text {
    let Const::Bv { width, bits } = c else { return plain(c) };
    if bits < 10 {
        return integer(bits as i128);
    }
    let complement = !bits & Const::mask(width);
    if complement.count_ones() < bits.count_ones() && complement <= i32::MAX as u128 && width >= 32 {
        let text = if complement < 10 { format!("~{complement}") } else { format!("~{complement:#x}") };
        return Text::new(text, Level::Unary, Ty::INT);
    }
    let ty = match bits {
        0..=0x7fff_ffff => Ty::INT,
        0x8000_0000..=0xffff_ffff => Ty::int(32, false),
        _ => Ty::int(64, bits <= i64::MAX as u128),
    };
    Text::new(format!("{bits:#x}"), Level::Primary, ty)
}

/// Returns a float by its shortest text that reads back to the same value.
pub(super) fn float(c: Const) -> Text {
    let ty = Ty::of_sort(c.sort());
    let text = float_literal(c);
    let level = if text.starts_with('-') { Level::Unary } else { Level::Primary };
    Text::new(text, level, ty)
}

/// Returns the C literal of a float constant: shortest round trip, `f` for `float`, `L` for `long
/// double`, `INFINITY`, `NAN`. Constants of other sorts are written in decimal.
pub fn float_literal(c: Const) -> String {
    let Some(v) = c.nearest_f64() else { return integer_literal(c) };
    if v.is_nan() {
        return "NAN".into();
    }
    if let Const::F80(x) = c
        && x.is_finite()
    {
        return x.to_string();
    }
    if v.is_infinite() {
        return if v < 0.0 { "-INFINITY".into() } else { "INFINITY".into() };
    }
    match c {
        Const::F32(bits) => format!("{:?}f", f32::from_bits(bits)),
        _ => format!("{v:?}"),
    }
}

/// Returns the signed decimal text of an integer constant.
pub fn integer_literal(c: Const) -> String {
    match c {
        Const::Bool(b) => u8::from(b).to_string(),
        _ => c.signed().map(|v| v.to_string()).unwrap_or_else(|| float_literal(c)),
    }
}

/// Returns bytes as a C string literal of `char`.
pub fn string_literal(bytes: &[u8]) -> String {
    format!("\"{}\"", string_contents(bytes))
}

/// Returns bytes as they are written between the quotes of a C string literal.
pub fn string_contents(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &b in bytes {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..=0x7e => out.push(char::from(b)),
            // Three octal digits, so that a digit may follow.
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out
}

/// The text of a literal of `char`, without the zero that ends it; `None` if it is of wider characters or not in UTF-8.
pub(super) fn narrow_text(global: &Global) -> Option<Arc<str>> {
    if width(global).0 != 1 {
        return None;
    }
    let bytes = global.constant_bytes(0, global.size)?;
    let text = std::str::from_utf8(bytes.strip_suffix(&[0]).unwrap_or(&bytes)).ok()?;
    Some(text.into())
}

/// Bytes of a character of a literal, and the name of its type.
fn width(global: &Global) -> (usize, &str) {
    match &global.ty {
        CType::Array(element, _) => match &**element {
            CType::Int { bits, name, .. } => (usize::from(bits / 8).clamp(1, 4), name),
            _ => (1, ""),
        },
        _ => (1, ""),
    }
}

/// Returns a string literal as it is written, without the zero that ends it; the first thousand characters with `…`
/// behind them where it is longer. One of wide characters has its prefix, after the type of its elements.
pub fn written_literal(global: &Global) -> String {
    let bytes = global.constant_bytes(0, global.size).unwrap_or_default();
    let (width, name) = width(global);
    let number = |unit: &[u8]| unit.iter().rev().fold(0, |all: u32, b| all << 8 | u32::from(*b));
    let units: Vec<u32> = bytes.chunks_exact(width).map(number).collect();
    let units = units.strip_suffix(&[0]).unwrap_or(&units);
    let shown = &units[..units.len().min(LONGEST)];
    let text: String = shown
        .iter()
        .map(|&unit| match u8::try_from(unit) {
            Ok(byte) => string_contents(&[byte]),
            Err(_) if unit < 0x1_0000 => format!("\\u{unit:04x}"),
            Err(_) => format!("\\U{unit:08x}"),
        })
        .collect();
    let dots = if shown.len() < units.len() { "…" } else { "" };
    let prefix = match (width, name) {
        (1, _) => "",
        (_, "wchar_t") => "L",
        (2, _) => "u",
        _ => "U",
    };
    format!("{prefix}\"{text}{dots}\"")
}
