//! Initialisers of objects with static storage, as bytes and addresses.

use super::function::FnCx;
use super::spelling::{Part, Spelled};
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{CType, Expr, Extended, InitPiece, Object};
use rucc_diag::Span;
use rucc_lex::Encoding;
use rucc_sema::{Base, Const, DeclId, Eval, ExprId, ExprKind, InitEntry, StrId};
use std::sync::Arc;

impl UnitCx<'_> {
    /// Returns the pieces of an object's initialiser, sorted by offset; adjacent bytes are joined.
    ///
    /// A value that does not fold is not known, and is compared by its text.
    pub fn static_initialiser(&mut self, id: DeclId) -> Vec<InitPiece> {
        let Some(list) = self.tast[id].init else { return Vec::new() };
        let whole = self.size_of(self.tast[id].ty).unwrap_or(0).max(self.tast.extent(id));
        let mut image = Image::default();
        for entry in &self.tast[list] {
            let (value, offset) = (entry.value, entry.offset);
            if let ExprKind::Str(s) = self.tast[value].kind
                && self.shape(self.tast[value].ty) == Shape::Aggregate
            {
                // Without the terminator: it has no room in `char a[2] = "ab"`, and is zero anyway.
                let mut bytes = self.tast[s].bytes(self.target);
                bytes.truncate(whole.saturating_sub(offset) as usize);
                while bytes.last() == Some(&0) {
                    bytes.pop();
                }
                image.bytes(offset, &bytes);
                continue;
            }
            if let ExprKind::CompoundLiteral(inner) = strip_lvalue(self, value) {
                for piece in self.static_initialiser(inner) {
                    image.piece(offset, piece);
                }
                continue;
            }
            let folded =
                Eval::new(self.tast, self.types, self.target, self.names).objects(true).initializer(value);
            match folded {
                Ok(Const::Address(a)) => {
                    let width = u64::from(self.pointer / 8);
                    if entry.bit_width != 0 || self.size_of(self.tast[value].ty) != Some(width) {
                        self.unfolded(&mut image, entry, whole);
                    } else if let Some((symbol, plus)) = self.address(a) {
                        image.clear(offset, width);
                        image.pieces.push(InitPiece::Address { offset, symbol, plus });
                    } else if let Base::Absolute = a.base {
                        let n = self.pointer as usize / 8;
                        image.bytes(offset, &a.offset.to_le_bytes()[..n]);
                    }
                }
                Ok(constant) => {
                    if matches!(constant, Const::Apart { .. }) {
                        self.has_odd_labels();
                    }
                    if let (Some(halves), 0) = (self.halves(value, constant), entry.bit_width) {
                        let stride = self.size_of(self.tast[value].ty).unwrap_or(0) / 2;
                        for (k, half) in (0..).zip(halves) {
                            let bytes = half.to_le_bytes();
                            image.bytes(offset + k * stride, &bytes[..(stride as usize).min(16)]);
                        }
                        continue;
                    }
                    let Some((bits, size)) = self.bits(value, constant) else {
                        self.unfolded(&mut image, entry, whole);
                        continue;
                    };
                    if entry.bit_width != 0 {
                        image.bit_field(offset, entry.bit_offset, entry.bit_width, bits);
                    } else {
                        image.bytes(offset, &bits.to_le_bytes()[..size.min(16)]);
                    }
                }
                Err(_) => self.unfolded(&mut image, entry, whole),
            }
        }
        image.finish()
    }

    /// Notes that a value of an initialiser is not known.
    fn unfolded(&mut self, image: &mut Image, entry: &InitEntry, whole: u64) {
        let ty = self.tast[entry.value].ty;
        // Of a bit-field the bytes around it.
        let size = match entry.bit_width {
            0 => self.size_of(ty).unwrap_or(whole.saturating_sub(entry.offset)),
            _ => u64::from(entry.bit_offset + entry.bit_width).div_ceil(8),
        };
        let Spelled { text, reads, .. } =
            FnCx::at_file_scope(self, ty, entry.value).spelled(Part::Expr(entry.value));
        let text = format!("{} {} {text}", entry.bit_offset, entry.bit_width).into();
        let mut symbols: Vec<Arc<str>> = Vec::new();
        for read in &reads {
            read.for_each(&mut |e| {
                if let Expr::Addr(Object::Global(symbol) | Object::Function(symbol)) = e {
                    symbols.push(symbol.clone());
                }
            });
        }
        image.clear(entry.offset, size);
        image.pieces.push(InitPiece::Unknown { offset: entry.offset, size, text, symbols });
    }

    fn address(&mut self, a: rucc_sema::Address) -> Option<(Arc<str>, i64)> {
        let symbol = match a.base {
            Base::Decl(d) if self.tast[d].kind == rucc_sema::DeclKind::Function => self.function_symbol(d),
            Base::Decl(d) => self.symbol(d, None),
            Base::Str(s) => self.string(s, None),
            Base::Label(label) => self.label_symbol(label),
            Base::Absolute => return None,
        };
        Some((symbol, a.offset as i64))
    }

    /// Returns the symbol of a string literal of the source, which stands at a place if that is known.
    pub fn string(&mut self, s: StrId, at: Option<Span>) -> Arc<str> {
        let literal = &self.tast[s];
        let bytes = literal.bytes(self.target);
        let width = literal.encoding.element_width(self.target) as u16;
        let count = bytes.len() as u64 / u64::from(width / 8).max(1);
        let element = match width {
            8 => CType::Int { bits: 8, signed: self.target.char_is_signed, name: "char".into() },
            bits => {
                let name = match literal.encoding {
                    Encoding::Utf16 => "char16_t",
                    Encoding::Utf32 => "char32_t",
                    _ => "wchar_t",
                };
                CType::Int { bits, signed: literal.encoding.is_signed(self.target), name: name.into() }
            }
        };
        let ty = CType::Array(Arc::new(element), Some(count));
        match self.line_strings.get(&bytes, at).filter(|_| width == 8) {
            Some(line) => self.placed_literal(bytes, ty, line),
            None => self.literal(bytes, ty),
        }
    }

    /// Returns the object representation of a constant of the type of `value`, and its length.
    fn bits(&self, value: ExprId, constant: Const) -> Option<(u128, usize)> {
        let ty = self.tast[value].ty;
        let size = self.size_of(ty)? as usize;
        let bits = match (constant, self.shape(ty)) {
            (Const::Int(i), Shape::Scalar(Scalar::F32)) => u128::from((i as f32).to_bits()),
            (Const::Int(i), Shape::Scalar(Scalar::F64)) => u128::from((i as f64).to_bits()),
            (Const::Int(i), Shape::Scalar(Scalar::F80)) => Extended::from_signed(i).to_bits(),
            (Const::Int(i), Shape::Scalar(Scalar::Bool)) => u128::from(i != 0),
            (Const::Int(i), _) => i as u128,
            (Const::Float(f), _) => f.to_bits(),
            _ => return None,
        };
        Some((bits, size))
    }
}

/// Returns an expression's kind without the reading of an object around it.
fn strip_lvalue(cx: &UnitCx<'_>, e: ExprId) -> ExprKind {
    match cx.tast[e].kind {
        ExprKind::Convert { kind: rucc_sema::Conversion::Lvalue, operand } => cx.tast[operand].kind,
        other => other,
    }
}

/// Bytes of an object under construction. A later write to a byte wins, as in C.
#[derive(Default)]
struct Image {
    bytes: std::collections::BTreeMap<u64, u8>,
    pieces: Vec<InitPiece>,
}

impl Image {
    /// Takes out what was written to some bytes before.
    fn clear(&mut self, offset: u64, size: u64) {
        let end = offset.saturating_add(size);
        self.bytes.retain(|at, _| !(offset..end).contains(at));
        let size_of = |p: &InitPiece| match p {
            InitPiece::Unknown { size, .. } => *size,
            _ => 8,
        };
        self.pieces.retain(|p| p.offset() >= end || p.offset().saturating_add(size_of(p)) <= offset);
    }

    fn bytes(&mut self, offset: u64, bytes: &[u8]) {
        for (i, b) in bytes.iter().enumerate() {
            self.bytes.insert(offset + i as u64, *b);
        }
    }

    fn bit_field(&mut self, offset: u64, first: u32, width: u32, value: u128) {
        for i in 0..width {
            let bit = first + i;
            let byte = self.bytes.entry(offset + u64::from(bit / 8)).or_insert(0);
            let mask = 1u8 << (bit % 8);
            *byte = if value >> i & 1 == 1 { *byte | mask } else { *byte & !mask };
        }
    }

    fn piece(&mut self, base: u64, piece: InitPiece) {
        match piece {
            InitPiece::Bytes { offset, bytes } => self.bytes(base + offset, &bytes),
            InitPiece::Address { offset, symbol, plus } => {
                self.pieces.push(InitPiece::Address { offset: base + offset, symbol, plus });
            }
            InitPiece::Unknown { offset, size, text, symbols } => {
                self.pieces.push(InitPiece::Unknown { offset: base + offset, size, text, symbols });
            }
        }
    }

    fn finish(mut self) -> Vec<InitPiece> {
        let mut run: Option<(u64, Vec<u8>)> = None;
        for (at, byte) in self.bytes {
            match &mut run {
                Some((start, bytes)) if *start + bytes.len() as u64 == at => bytes.push(byte),
                _ => {
                    if let Some((offset, bytes)) = run.replace((at, vec![byte])) {
                        self.pieces.push(InitPiece::Bytes { offset, bytes });
                    }
                }
            }
        }
        if let Some((offset, bytes)) = run {
            self.pieces.push(InitPiece::Bytes { offset, bytes });
        }
        self.pieces.sort_by_key(InitPiece::offset);
        self.pieces
    }
}
