//! What calls of the `printf` family add to the output.
//!
//! Output is a sequence of literal bytes and (conversion, value) atoms, adjacent literals joined
//! (design section 2): equal sequences print equal bytes. Constants that a conversion renders are
//! folded into the literals, so that `printf("%d", 1)` equals `printf("1")`.

use crate::ir::{Global, InitPiece};

/// Returns `bytes` bytes at `offset` of a global's initialiser, `None` outside of it or where an
/// address is stored.
pub fn constant_bytes(g: &Global, offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let end = offset.checked_add(bytes)?;
    if end > g.size {
        return None;
    }
    let mut result = vec![0u8; usize::try_from(bytes).ok()?];
    for piece in &g.init {
        match piece {
            InitPiece::Bytes { offset: at, bytes: data } => {
                for (i, b) in data.iter().enumerate() {
                    let p = at + i as u64;
                    if (offset..end).contains(&p) {
                        result[(p - offset) as usize] = *b;
                    }
                }
            }
            InitPiece::Address { offset: at, .. } => {
                if *at < end && at + 8 > offset {
                    return None;
                }
            }
        }
    }
    Some(result)
}

/// Returns the bytes of a constant string from `offset` to its terminator, without it.
pub fn constant_string(g: &Global, offset: u64) -> Option<Vec<u8>> {
    let all = constant_bytes(g, offset, g.size.checked_sub(offset)?)?;
    let end = all.iter().position(|&b| b == 0)?;
    Some(all[..end].to_vec())
}

/// Part of a `printf` format.
pub enum Piece {
    Literal(Vec<u8>),
    Value { conversion: String, sort: crate::ir::Sort },
    String { conversion: String },
}

/// Takes a format apart; `None` when it has a conversion that is not modelled.
pub fn pieces(_format: &[u8]) -> Option<Vec<Piece>> {
    None
}

/// Returns whether a format has a conversion that reads memory, or one that is not modelled.
pub fn reads_memory(format: &[u8]) -> bool {
    pieces(format).is_none_or(|p| p.iter().any(|x| matches!(x, Piece::String { .. })))
}

/// Renders a constant by one conversion, `None` where the text is not a function of the value.
pub fn render(_conversion: &str, _value: crate::ir::Const) -> Option<Vec<u8>> {
    None
}
