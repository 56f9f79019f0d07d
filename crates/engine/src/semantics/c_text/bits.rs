//! Bit-fields: what is cut out of a word that several share, and what a store of such a word sets.
//!
//! The front end reads a *unit* and takes the field out of it, and changes a field by storing the whole unit again.

use super::lvalue::Access;
use super::types::Ty;
use super::{Naming, Renderer, Text, literal};
use crate::ir::{App, Const, Op, Term, TermId, TermPool};

/// What a field is given.
enum Given {
    Constant(u128),
    Value(TermId),
}

/// One field that a store changes: the first bit, how many there are, and what it is given.
struct Change {
    bits: (u32, u32),
    given: Given,
}

/// Returns what a store of a word of bit-fields sets, `p->loud` to `1`, field by field; `None`: it is no such store.
pub fn render_bits(
    pool: &TermPool,
    address: TermId,
    bytes: u64,
    value: TermId,
    naming: &Naming,
) -> Option<Vec<(String, String)>> {
    const DEPTH: usize = 12;
    let changes = changes(pool, value, address)?;
    let mut renderer = Renderer::new(pool, naming, false, DEPTH);
    let mut found = Vec::new();
    for change in changes {
        let access = Access { sort: pool.sort(value), bytes, bits: Some(change.bits) };
        let field = renderer.field_at(address, access)?;
        let text = match change.given {
            Given::Constant(bits) => {
                let (_, signed) = field.ty.integer(naming.pointer_bits());
                literal::decimal(Const::bv(u16::try_from(change.bits.1).ok()?, bits as i128), signed)
            }
            Given::Value(t) => renderer.term(t),
        };
        found.push((field.text, text.text));
    }
    (!renderer.failed && !found.is_empty()).then_some(found)
}

/// The fields that differ between a word and what is at an address; `None`: it is made otherwise.
fn changes(pool: &TermPool, value: TermId, address: TermId) -> Option<Vec<Change>> {
    if let Term::App(App::Load { .. }, args) = pool.get(value) {
        let &[memory, at] = args.as_slice() else { return None };
        // What was written in between is in no leaf.
        return (at == address && matches!(pool.get(memory), Term::Leaf(_))).then(Vec::new);
    }
    let constant = |t: TermId| pool.as_const(t).and_then(Const::unsigned);
    let all = Const::mask(pool.sort(value).bits()?);
    let with = |rest: TermId, bits: u128, given: Given| {
        let mut found = changes(pool, rest, address)?;
        let bits = run(bits)?;
        found.retain(|c| c.bits != bits);
        found.push(Change { bits, given });
        Some(found)
    };
    let (word, rest) = match pool.as_op(value, Op::BitOr) {
        Some(&[a, b]) if constant(b).is_some() => (b, a),
        Some(&[a, b]) if pool.as_op(b, Op::BitAnd).is_some() && pool.as_op(a, Op::BitAnd).is_none() => (a, b),
        Some(&[a, b]) => (b, a),
        _ => {
            let &[rest, keep] = pool.as_op(value, Op::BitAnd)? else { return None };
            return with(rest, !constant(keep)? & all, Given::Constant(0));
        }
    };
    if let Some(&[unit, keep]) = pool.as_op(rest, Op::BitAnd)
        && let Some(keep) = constant(keep)
    {
        let bits = !keep & all;
        let given = match constant(word) {
            Some(c) => Given::Constant((c & bits) >> bits.trailing_zeros().min(127)),
            None => Given::Value(put(pool, word, run(bits)?)?),
        };
        return with(unit, bits, given);
    }
    // All bits of a field are set.
    let bits = constant(word)?;
    with(rest, bits, Given::Constant(bits >> bits.trailing_zeros().min(127)))
}

/// The one run of bits that a mask has.
fn run(mask: u128) -> Option<(u32, u32)> {
    let (low, width) = (mask.trailing_zeros(), mask.count_ones());
    (width > 0 && (mask >> low).trailing_ones() == width).then_some((low, width))
}

/// The value that was put in a field, before it was cut and moved there.
fn put(pool: &TermPool, word: TermId, (low, width): (u32, u32)) -> Option<TermId> {
    // A shift by a number is a product.
    let is_power = |t: TermId| pool.as_const(t).and_then(Const::unsigned) == Some(1u128 << low);
    let moved = match pool.as_op(word, Op::Mul) {
        Some(&[value, by]) if is_power(by) => value,
        Some(&[by, value]) if is_power(by) => value,
        _ if low == 0 => word,
        _ => return None,
    };
    let Term::App(App::Op(Op::Zext(_)), args) = pool.get(moved) else { return None };
    let &[cut] = args.as_slice() else { return None };
    match pool.get(cut) {
        Term::App(App::Op(Op::Trunc(n)), args) if u32::from(*n) == width => args.first().copied(),
        _ if pool.sort(cut).bits().map(u32::from) == Some(width) => Some(cut),
        _ => None,
    }
}

impl Renderer<'_> {
    /// Renders what is cut out of a word as the bit-field that lies there; `None`: there is none.
    pub(super) fn bit_field(&mut self, word: TermId, width: u16) -> Option<Text> {
        let (unit, low) = match self.pool.as_op(word, Op::LShr) {
            Some(&[unit, by]) => (unit, self.pool.as_const(by)?.unsigned()?),
            _ => (word, 0),
        };
        let Term::App(App::Load { sort, bytes }, args) = self.pool.get(unit) else { return None };
        let (&[memory, address], None) = (args.as_slice(), self.named(unit)) else { return None };
        let bits = Some((u32::try_from(low).ok()?, u32::from(width)));
        let access = Access { sort: *sort, bytes: *bytes, bits };
        self.field_at(address, access)?;
        Some(self.load(memory, address, access))
    }
}

/// The type of a bit-field, by the one that it is declared with.
pub(super) fn narrowed(of: Ty, (_, width): (u32, u32), pointer_bits: u16) -> Ty {
    let (_, signed) = of.integer(pointer_bits);
    Ty::int(u16::try_from(width).unwrap_or(u16::MAX), signed)
}
