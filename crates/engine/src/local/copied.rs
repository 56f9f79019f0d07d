//! Structures that calls are given: what they hold is compared, not the place that each version copies them to.
//!
//! The front end copies a structure that is an argument to an object of its own (`frontend-c.md`, calls). Nobody else
//! sees that object, and each version has another one.

use super::compare::Comparer;
use super::machine::Event;
use super::side::call_types;
use crate::ir::{App, CType, Op, Sort, TermId, Unit};
use crate::smt::Decision;

/// Numbers and pointers of a structure that are compared.
const MOST: usize = 24;

impl Comparer<'_> {
    /// Whether two calls get the same structure; `None` where neither gets one there.
    pub(super) fn is_equal_copy(
        &mut self,
        [old, new]: [&Event; 2],
        arg: usize,
        joint: TermId,
    ) -> Option<bool> {
        let k = arg.checked_sub(usize::from(new.callee.is_none()))?;
        let copies = (old.copied.get(&k).copied(), new.copied.get(&k).copied());
        let ((from, before), (at, now)) = match copies {
            (None, None) => return None,
            (Some(x), Some(y)) if x == y => return Some(true),
            (Some(x), Some(y)) => (x, y),
            _ => return Some(false),
        };
        let mut parts = Vec::new();
        let ty = call_types(self.graph, new.class, new.node).and_then(|(_, types)| types.get(k).cloned());
        let is_known = ty.is_some_and(|ty| scalars(self.sides[1].layout, &ty, 0, &mut parts).is_some());
        Some(
            is_known
                && parts.into_iter().all(|part| {
                    let [a, b] = [self.part(from, before, part), self.part(at, now, part)];
                    matches!(self.equal(a, b, joint), Decision::Equal)
                }),
        )
    }

    /// What is at an offset from an address in a memory.
    fn part(&mut self, base: TermId, memory: TermId, (offset, sort): (u64, Sort)) -> TermId {
        let Sort::Bv(width) = self.pool.sort(base) else { return base };
        let by = self.pool.bv(width, i128::from(offset));
        let at = self.pool.op(Op::Add, &[base, by]);
        self.pool.app(App::Load { sort, bytes: sort.bytes() }, &[memory, at])
    }
}

/// The numbers and pointers of a type with their offsets; `None` where it has something else, or many.
fn scalars(unit: &Unit, ty: &CType, at: u64, found: &mut Vec<(u64, Sort)>) -> Option<()> {
    match ty {
        CType::Record(id) => {
            let is_plain = |fields: &[crate::ir::Field]| fields.iter().all(|f| f.bits.is_none());
            let record = unit.records.get(id.0 as usize);
            let record = record.filter(|r| !r.is_union && is_plain(&r.fields))?;
            record.fields.iter().try_for_each(|f| scalars(unit, &f.ty, at + f.offset, found))
        }
        CType::Array(element, Some(n)) if *n <= MOST as u64 => {
            let size = unit.size_of(element)?;
            (0..*n).try_for_each(|k| scalars(unit, element, at + k * size, found))
        }
        scalar => {
            found.push((at, scalar.sort(unit.data_model.pointer_bits())?));
            (found.len() <= MOST).then_some(())
        }
    }
}
