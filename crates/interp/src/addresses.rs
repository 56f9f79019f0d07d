//! Where what a run has in memory lies: address ranges by region.

use crate::ir::DataModel;

/// Where an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Region {
    Global,
    Input,
    Heap,
    Stack,
}

/// Address ranges of a data model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressMap {
    pub functions: u64,
    pub globals: u64,
    pub input: u64,
    pub heap: u64,
    pub stack: u64,
    pub end: u64,
    pub gap: u64,
    pub stack_gap: u64,
}

impl AddressMap {
    pub fn new(model: DataModel) -> AddressMap {
        match model {
            DataModel::Lp64 => AddressMap {
                functions: 0x40_0000,
                globals: 0x1000_0000_0000,
                input: 0x2000_0000_0000,
                heap: 0x3000_0000_0000,
                stack: 0x4000_0000_0000,
                end: 0x7000_0000_0000,
                gap: 0x1_0000,
                stack_gap: 0x1_0000,
            },
            DataModel::Ilp32 => AddressMap {
                functions: 0x40_0000,
                globals: 0x1000_0000,
                input: 0x4000_0000,
                heap: 0x5000_0000,
                stack: 0xa000_0000,
                end: 0xf000_0000,
                gap: 4096,
                stack_gap: 256,
            },
        }
    }

    pub fn region(&self, addr: u64) -> Option<Region> {
        match addr {
            a if a < self.globals || a >= self.end => None,
            a if a < self.input => Some(Region::Global),
            a if a < self.heap => Some(Region::Input),
            a if a < self.stack => Some(Region::Heap),
            _ => Some(Region::Stack),
        }
    }

    /// Returns the address after an object, aligned, with the guard gap.
    pub fn after(&self, base: u64, size: u64, gap: u64) -> u64 {
        base.saturating_add(size).saturating_add(gap + 15) & !15
    }
}
