//! Objects whose size is computed: arrays of variable length, and what `alloca` makes.
//!
//! They live on the stack of a call, in the order in which they were made. The end of an array ends what
//! `alloca` made after it as well, as compilers let the stack shrink there.

use super::code::Value;
use super::machine::Machine;
use super::stop::{Run, Stop};
use crate::ir::{Const, UndefinedKind};

/// Bytes of one such object. Larger ones may be more than the stack of a process holds, of which C says
/// nothing.
const MAX_ARRAY: u64 = 1 << 22;

impl Machine<'_> {
    /// Evaluates the lengths of an array and returns its size.
    ///
    /// Errors: `ArrayLength` for a length that is not positive, and a size that no object has.
    pub(super) fn measured(&mut self, lengths: &[Value], element: u64, base: usize, node: u32) -> Run<u64> {
        let mut size = i128::from(element);
        for e in lengths {
            let length = self.eval_at(e, base, node)?.signed().unwrap_or(0);
            let whole = size.checked_mul(length).filter(|_| length > 0);
            let limit = 1i128 << (self.program.pointer_bits() - 1);
            size = whole.filter(|s| *s < limit).ok_or(UndefinedKind::ArrayLength)?;
        }
        Ok(size as u64)
    }

    /// Makes an object that lives until the call in progress ends.
    pub(crate) fn new_array(&mut self, size: u64) -> Run<Const> {
        let made = Some(size).filter(|s| *s <= MAX_ARRAY).and_then(|s| self.memory.push_stack(s));
        let addr = made.ok_or_else(|| Stop::Unsupported("limit of the stack".into()))?;
        if let Some(frame) = self.stack.frames.last_mut() {
            frame.allocas.push(addr);
        }
        Ok(Const::bv(self.program.pointer_bits(), i128::from(addr)))
    }

    /// Ends the life of the array whose address a register holds, and of what `alloca` made after it.
    pub(super) fn end_array(&mut self, register: usize) {
        let Some(addr) = self.stack.registers.get_mut(register).and_then(Option::take) else { return };
        let Some(frame) = self.stack.frames.last_mut() else { return };
        let Some(at) = frame.allocas.iter().rposition(|a| u128::from(*a) == addr.to_bits()) else { return };
        for made in frame.allocas.drain(at..) {
            self.memory.end_local(made);
        }
    }
}
