//! What calls of the `printf` family add to the output.
//!
//! Output is a sequence of literal bytes and (conversion, value) atoms, adjacent literals joined
//! (`docs/design/facts.md`): equal sequences print equal bytes. Constants that a conversion renders are
//! folded into the literals, so that `printf("%d", 1)` equals `printf("1")`.

use crate::interp::format::{self, ArgType, Length};
use crate::ir::{Const, DataModel, Global, Sort};

/// Bytes of the longest string that is looked at; an object may be declared much larger than memory.
const LONGEST: u64 = 1 << 16;

/// Returns the bytes of a constant string from `offset` to its terminator, without it.
pub fn constant_string(g: &Global, offset: u64) -> Option<Vec<u8>> {
    let all = g.constant_bytes(offset, g.size.checked_sub(offset)?.min(LONGEST))?;
    let end = all.iter().position(|&b| b == 0)?;
    all.get(..end).map(<[u8]>::to_vec)
}

/// Part of a `printf` format.
pub enum Piece {
    Literal(Vec<u8>),
    /// The sort is that of the argument after promotion.
    Value {
        conversion: String,
        sort: Sort,
    },
    String {
        conversion: String,
    },
}

/// Takes a format apart; `None` when it has a conversion that is not modelled.
pub fn pieces(format: &[u8], model: DataModel) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for piece in format::parse_printf(format).ok()? {
        pieces.push(match piece {
            format::Piece::Literal(bytes) => Piece::Literal(bytes),
            format::Piece::Conversion(c) if c.arg_count() != 1 => return None,
            format::Piece::Conversion(c) => match c.arg_type() {
                ArgType::String => Piece::String { conversion: c.canonical() },
                t @ (ArgType::Int { .. } | ArgType::Double) => {
                    Piece::Value { conversion: c.canonical(), sort: t.promoted_sort(model) }
                }
                _ => return None,
            },
        });
    }
    Some(pieces)
}

/// Whether a format has conversions of what no argument holds: `%n` stores how much was printed, `%m` prints
/// what `errno` says. `%%` is none.
pub fn is_counting(format: &[u8]) -> bool {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|b| *b == b'%') {
        let after = rest.get(at + 1..).unwrap_or(&[]);
        let length = after.iter().take_while(|b| b"0123456789$*.+- #'hlqjztLI".contains(b)).count();
        if matches!(after.get(length), Some(b'n' | b'm')) {
            return true;
        }
        rest = after.get(length + 1..).unwrap_or(&[]);
    }
    false
}

/// Whether two formats print the same of equal arguments: `%zu` and `%lu`, where these are as wide.
pub fn prints_alike(a: &[u8], b: &[u8], model: DataModel) -> bool {
    let canonical = |f: &[u8]| -> Option<Vec<Result<Vec<u8>, String>>> {
        let one = |piece: format::Piece| match piece {
            format::Piece::Literal(bytes) => Ok(bytes),
            format::Piece::Conversion(mut c) => {
                if let (
                    Length::L | Length::Ll | Length::J | Length::Z | Length::T,
                    ArgType::Int { length, .. },
                ) = (c.length, c.arg_type())
                {
                    c.length = if length.int_bits(model) == 64 { Length::Ll } else { Length::None };
                }
                Err(c.canonical())
            }
        };
        Some(format::parse_printf(f).ok()?.into_iter().map(one).collect())
    };
    a == b || canonical(a).is_some_and(|x| canonical(b) == Some(x))
}

/// Returns whether a format has a conversion that reads memory, or one that is not modelled.
pub fn reads_memory(format: &[u8]) -> bool {
    pieces(format, DataModel::Lp64).is_none_or(|p| p.iter().any(|x| matches!(x, Piece::String { .. })))
}

/// Renders a constant by one conversion, `None` where the text is not a function of the value.
pub fn render(conversion: &str, value: Const, model: DataModel) -> Option<Vec<u8>> {
    let pieces = format::parse_printf(conversion.as_bytes()).ok()?;
    let [format::Piece::Conversion(c)] = pieces.as_slice() else { return None };
    let value = match value {
        Const::Bv { bits, .. } => format::PrintfValue::Integer(bits as u64),
        Const::F64(_) if !value.is_nan() => format::PrintfValue::Double(value.float()?),
        Const::F80(x) if !value.is_nan() => format::PrintfValue::Extended(x),
        _ => return None,
    };
    format::render_conversion(c, model, value).ok()
}
