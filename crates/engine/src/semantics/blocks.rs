//! Library functions that fill or copy blocks of memory, exactly where the number of bytes is known:
//! `memcpy`, `memmove`, `memset`, `calloc`.
//!
//! Blocks of other sizes are functions of all that is read, as any library call's effect is.

use super::calls::CallSite;
use super::eval::{Evaluator, Part, Val, union};
use super::place::{Place, base_object};
use crate::ir::{App, Expr, Op, Sort, TermId, Uf};
use crate::mvicfg::ClassSet;

/// Bytes of the largest block that is copied or filled exactly.
const MAX_BLOCK: u64 = 256;
/// Bytes of the largest block that is filled with something other than zeros.
const MAX_FILLED: u64 = 64;

impl Evaluator<'_> {
    /// Returns a region after a call that copies or fills a block in it; `None` when the call is no
    /// such one, or its size is not known.
    pub(super) fn block_call(
        &mut self,
        site: CallSite,
        name: &str,
        place: Place,
        classes: &ClassSet,
    ) -> Option<Part<Val>> {
        if name == "calloc" {
            return self.zeroed_object(site, place, classes);
        }
        let [to, second, size] = site.args else { return None };
        let region = base_object(to).map_or(Place::Memory, |v| self.places.of_var(v));
        if region != place {
            return None;
        }
        let bytes = self.known_size(size, site, classes)?;
        match name {
            "memcpy" | "memmove" => {
                let copied = self.copy(site.node, to, second, bytes, place, classes);
                Some(copied)
            }
            "memset" => self.filled(site, to, second, bytes, place, classes),
            _ => None,
        }
    }

    /// The one size that an expression has in all classes.
    fn known_size(&mut self, size: &Expr, site: CallSite, classes: &ClassSet) -> Option<u64> {
        let part = self.expr(size, site.node, classes);
        let mut sizes = part.iter().map(|(_, v)| self.pool.as_const(v.term).and_then(|c| c.unsigned()));
        let first = sizes.next()??;
        let bytes = u64::try_from(first).ok().filter(|b| *b <= MAX_BLOCK)?;
        sizes.all(|s| s == Some(first)).then_some(bytes)
    }

    fn filled(
        &mut self,
        site: CallSite,
        to: &Expr,
        byte: &Expr,
        bytes: u64,
        place: Place,
        classes: &ClassSet,
    ) -> Option<Part<Val>> {
        let is_zero = matches!(byte, Expr::Const(c) if c.to_bits() == 0);
        if !is_zero && bytes > MAX_FILLED {
            return None;
        }
        let bits = self.pointer_bits;
        Some(self.update(site.node, &[to, byte], place, classes, &|pool, memory, t| {
            if is_zero {
                return pool.app(App::ZeroBytes { bytes }, &[memory, t[0]]);
            }
            let value = pool.op(Op::Trunc(8), &[t[1]]);
            let mut memory = memory;
            for k in 0..bytes {
                let k = pool.bv(bits, i128::from(k));
                let at = pool.op(Op::Add, &[t[0], k]);
                memory = pool.app(App::Store { bytes: 1 }, &[memory, at, value]);
            }
            memory
        }))
    }

    /// Memory after `calloc`: where an object was made, it is zero.
    fn zeroed_object(&mut self, site: CallSite, place: Place, classes: &ClassSet) -> Option<Part<Val>> {
        let [count, size] = site.args else { return None };
        if place != Place::Memory {
            return None;
        }
        let count = self.known_size(count, site, classes)?;
        let bytes = count.checked_mul(self.known_size(size, site, classes)?).filter(|b| *b <= MAX_BLOCK)?;
        let pointer = Sort::Bv(self.pointer_bits);
        let uf = Uf::Call { callee: "calloc:result".into(), part: pointer };
        let objects = self.apply(site, App::Uf(uf), &[Place::World], classes);
        let memories = self.sets_errno(site, "calloc", &[Place::World], classes);
        let mut result = Vec::new();
        for (set, (object, memory)) in super::eval::product(&objects, &memories) {
            let null = self.pool.bv(self.pointer_bits, 0);
            let refused: TermId = self.pool.eq(object.term, null);
            let made = self.pool.app(App::ZeroBytes { bytes }, &[memory.term, object.term]);
            let term = self.pool.ite(refused, memory.term, made);
            let causes = union(&object.causes, &memory.causes);
            result.push((set, Val { term, causes, guards: union(&object.guards, &memory.guards) }));
        }
        Some(result)
    }
}
