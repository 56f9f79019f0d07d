//! Memory of one path: objects, and cells in them.
//!
//! A cell is a value at a constant offset. What no cell covers was never written on the path: indeterminate in
//! a local, the content at entry in a global.

use crate::ir::{Op, Sort, TermId, TermPool, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that has an address. Locals are those of a call, which is numbered on its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SymbolicObject {
    Global(Arc<str>),
    Local(u32, VarId),
    /// The string that a parameter of the entry function points to.
    Text(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    bytes: u64,
    value: TermId,
}

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Value(TermId),
    /// A byte of it was never written.
    Missing,
    /// It is put together in a way that is not followed.
    Mixed,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    cells: BTreeMap<(SymbolicObject, u64), Cell>,
}

impl Memory {
    /// Whether something of an object was written.
    pub fn has(&self, place: &SymbolicObject) -> bool {
        self.cells.range((place.clone(), 0)..=(place.clone(), u64::MAX)).next().is_some()
    }

    /// The cells of an object: offset, bytes and value.
    pub fn of<'a>(&'a self, place: &SymbolicObject) -> impl Iterator<Item = (u64, u64, TermId)> + 'a {
        let range = (place.clone(), 0)..=(place.clone(), u64::MAX);
        self.cells.range(range).map(|((_, offset), c)| (*offset, c.bytes, c.value))
    }

    /// Forgets what an object holds.
    pub fn forget(&mut self, place: &SymbolicObject) {
        self.cells.retain(|(p, _), _| p != place);
    }

    /// Forgets the locals of a call.
    pub fn end_call(&mut self, call: u32) {
        self.cells.retain(|(p, _), _| !matches!(p, SymbolicObject::Local(c, _) if *c == call));
    }

    /// Reads `bytes` bytes as a value of a sort.
    pub fn read(
        &self,
        pool: &mut TermPool,
        place: &SymbolicObject,
        offset: u64,
        bytes: u64,
        sort: Sort,
    ) -> Found {
        if let Some(cell) = self.cells.get(&(place.clone(), offset))
            && cell.bytes == bytes
            && pool.sort(cell.value) == sort
        {
            return Found::Value(cell.value);
        }
        let Sort::Bv(width) = sort else { return Found::Mixed };
        if u64::from(width) != bytes * 8 || bytes > 16 {
            return Found::Mixed;
        }
        let mut word = None;
        for k in 0..bytes {
            match (self.byte(pool, place, offset + k), word) {
                (Found::Value(byte), None) => word = Some(byte),
                (Found::Value(byte), Some(low)) => word = Some(pool.op(Op::Concat, &[byte, low])),
                (other, _) => return other,
            }
        }
        word.map_or(Found::Mixed, Found::Value)
    }

    /// One byte.
    pub fn byte(&self, pool: &mut TermPool, place: &SymbolicObject, offset: u64) -> Found {
        let before = self.cells.range((place.clone(), 0)..=(place.clone(), offset)).next_back();
        let Some(((_, at), cell)) = before.filter(|((_, at), c)| offset < at + c.bytes) else {
            return Found::Missing;
        };
        match byte_of(pool, *cell, offset - at) {
            Some(byte) => Found::Value(byte),
            None => Found::Mixed,
        }
    }

    /// Writes a value; `None`: what it covers in part cannot be taken apart.
    pub fn write(
        &mut self,
        pool: &mut TermPool,
        place: &SymbolicObject,
        offset: u64,
        bytes: u64,
        value: TermId,
    ) -> Option<()> {
        self.clear(pool, place, offset, bytes)?;
        self.cells.insert((place.clone(), offset), Cell { bytes, value });
        Some(())
    }

    /// Makes bytes indeterminate; `None`: a value that they are part of cannot be taken apart.
    pub fn clear(
        &mut self,
        pool: &mut TermPool,
        place: &SymbolicObject,
        offset: u64,
        bytes: u64,
    ) -> Option<()> {
        let end = offset.checked_add(bytes)?;
        let covered = self.cells.range((place.clone(), 0)..(place.clone(), end));
        let hit: Vec<(u64, Cell)> =
            covered.filter(|((_, at), c)| at + c.bytes > offset).map(|((_, at), c)| (*at, *c)).collect();
        for (at, cell) in hit {
            self.cells.remove(&(place.clone(), at));
            if at >= offset && at + cell.bytes <= end {
                continue;
            }
            for k in (0..cell.bytes).filter(|k| !(offset..end).contains(&(at + k))) {
                let value = byte_of(pool, cell, k)?;
                self.cells.insert((place.clone(), at + k), Cell { bytes: 1, value });
            }
        }
        Some(())
    }
}

/// A byte of a cell, from its low end.
fn byte_of(pool: &mut TermPool, cell: Cell, k: u64) -> Option<TermId> {
    let Sort::Bv(width) = pool.sort(cell.value) else { return None };
    if u64::from(width) != cell.bytes * 8 {
        return None;
    }
    let value = if k == 0 {
        cell.value
    } else {
        let by = pool.bv(width, i128::from(k * 8));
        pool.op(Op::LShr, &[cell.value, by])
    };
    Some(if width == 8 { value } else { pool.op(Op::Trunc(8), &[value]) })
}
