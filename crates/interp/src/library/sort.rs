//! `qsort` and `bsearch`, with callbacks into the program.
//!
//! `qsort` is glibc's merge sort: stable, and it calls the comparison in the same order, which a
//! comparison with effects (or an inconsistent one) can tell.

use super::model::{Arguments, Model, NOTHING, row};
use crate::ir::{Const, UndefinedKind};
use crate::machine::Machine;
use crate::stop::Run;

pub(super) const MODELS: &[Model] = &[row("qsort", sort), row("bsearch", search)];

struct Comparison {
    function: u64,
    pointer_bits: u16,
}

impl Comparison {
    fn call(&self, m: &mut Machine<'_>, left: u64, right: u64) -> Run<i32> {
        let pointer = |a: u64| Const::bv(self.pointer_bits, a as i128);
        let result = m.callback(self.function, &[pointer(left), pointer(right)])?;
        let result = result.ok_or(UndefinedKind::MissingReturn)?;
        Ok(result.signed().ok_or(UndefinedKind::BadCall)? as i32)
    }
}

fn sort(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let (base, count, size) = (a.word(0)?, a.word(1)?, a.word(2)?);
    let compare = Comparison { function: a.word(3)?, pointer_bits: a.pointer_bits };
    if count > 1 && size > 0 {
        // The scratch copy is what glibc merges through.
        let scratch = m.memory.allocate(count.saturating_mul(size), false);
        let scratch = scratch.ok_or_else(|| crate::stop::Stop::Unsupported("memory limit".into()))?;
        merge_sort(m, &compare, scratch, base, count, size)?;
        m.memory.free(scratch)?;
    }
    NOTHING
}

fn merge_sort(m: &mut Machine<'_>, c: &Comparison, scratch: u64, base: u64, n: u64, size: u64) -> Run<()> {
    if n <= 1 {
        return Ok(());
    }
    let (mut left, mut right) = (n / 2, n - n / 2);
    let (mut at_left, mut at_right) = (base, base + left * size);
    merge_sort(m, c, scratch, at_left, left, size)?;
    merge_sort(m, c, scratch, at_right, right, size)?;
    let mut out = scratch;
    while left > 0 && right > 0 {
        let from = if c.call(m, at_left, at_right)? <= 0 {
            left -= 1;
            at_left += size;
            at_left - size
        } else {
            right -= 1;
            at_right += size;
            at_right - size
        };
        m.memory.copy(out, from, size)?;
        out += size;
    }
    if left > 0 {
        m.memory.copy(out, at_left, left * size)?;
    }
    m.memory.copy(base, scratch, (n - right) * size)?;
    Ok(())
}

fn search(m: &mut Machine<'_>, a: &Arguments<'_>) -> Run<Option<Const>> {
    let (key, base, count, size) = (a.word(0)?, a.word(1)?, a.word(2)?, a.word(3)?);
    let compare = Comparison { function: a.word(4)?, pointer_bits: a.pointer_bits };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let at = base.wrapping_add(middle.wrapping_mul(size));
        match compare.call(m, key, at)? {
            0 => return a.address(at),
            r if r < 0 => high = middle,
            _ => low = middle + 1,
        }
    }
    a.address(0)
}
