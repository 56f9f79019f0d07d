//! What objects begin with, by the newer layout.

use super::{FAR_IN_32, Relay};
use crate::ir::{CType, Global, InitPiece};
use crate::members::layout::{MAX_LEAVES, record};

impl Relay<'_> {
    /// An object of the older unit with its initial value by the newer layout.
    pub(super) fn global(&self, g: &Global) -> Option<Global> {
        if !self.holds_relaid(&g.ty) {
            return Some(g.clone());
        }
        let size = match &g.ty {
            // One of another file, of which nobody says how long it is.
            CType::Array(_, None) => g.size,
            ty => self.layout.size_of(ty)?,
        };
        let mut made = Global { size, init: Vec::new(), ..g.clone() };
        if !g.is_known_constant() {
            return Some(made);
        }
        self.leaves(g, &g.ty, 0, 0, &mut made.init, &mut 0)?;
        Some(made)
    }

    /// Whether an object of a type is laid out otherwise; pointers are alike, whatever they lead to.
    fn holds_relaid(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.holds_relaid(element),
            CType::Record(id) => self.relaid.contains(id),
            _ => false,
        }
    }

    fn leaves(
        &self,
        g: &Global,
        ty: &CType,
        from: u64,
        to: u64,
        out: &mut Vec<InitPiece>,
        count: &mut usize,
    ) -> Option<()> {
        *count += 1;
        match ty {
            _ if *count > MAX_LEAVES => None,
            CType::Array(element, Some(n)) => {
                let (each, now) = (self.side.unit.size_of(element)?, self.layout.size_of(element)?);
                (0..*n).try_for_each(|i| self.leaves(g, element, from + i * each, to + i * now, out, count))
            }
            CType::Record(id) => {
                let (before, after) = (record(self.side.unit, *id)?, record(&self.layout, *id)?);
                if before.is_union || before.fields.iter().any(|f| f.bits.is_some()) {
                    return None;
                }
                before.fields.iter().zip(&after.fields).enumerate().try_for_each(|(k, (f, moved))| {
                    if moved.offset >= FAR_IN_32 {
                        return Some(());
                    }
                    if let Some(fit) = self.fits.get(&(*id, k)) {
                        let number = g.constant_bytes(from + f.offset, u64::from(fit.bits) / 8)?;
                        let piece =
                            InitPiece::Bytes { offset: to + moved.offset, bytes: fit.constant(&number)? };
                        out.push(piece);
                        return Some(());
                    }
                    self.leaves(g, &f.ty, from + f.offset, to + moved.offset, out, count)
                })
            }
            _ => {
                let size = self.side.unit.size_of(ty)?;
                let within =
                    |p: &&InitPiece| matches!(p, InitPiece::Address { offset, .. } if *offset == from);
                if let Some(InitPiece::Address { symbol, plus, .. }) = g.init.iter().find(within) {
                    out.push(InitPiece::Address { offset: to, symbol: symbol.clone(), plus: *plus });
                    return Some(());
                }
                out.push(InitPiece::Bytes { offset: to, bytes: g.constant_bytes(from, size)? });
                Some(())
            }
        }
    }
}
