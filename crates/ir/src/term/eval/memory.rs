//! Concrete memories: a root whose bytes the assignment gives, and a chain of writes over it.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Memories whose writes cover more bytes than this are not compared.
/// It is done for each of many inputs.
const COMPARED_BYTES: u64 = 1 << 12;

/// Bytes of the whole memory.
#[derive(Debug)]
pub enum Memory {
    /// Memory at entry or after something unknown, by fingerprint.
    Root(u128),
    Store {
        base: Rc<Memory>,
        at: u64,
        data: Vec<u8>,
    },
    Copy {
        base: Rc<Memory>,
        to: u64,
        from: u64,
        bytes: u64,
    },
    Zero {
        base: Rc<Memory>,
        at: u64,
        bytes: u64,
    },
}

impl Memory {
    /// Returns a written byte, or the root and the address there from which it comes.
    pub(super) fn byte(&self, address: u64) -> Result<u8, (u128, u64)> {
        let (mut memory, mut address) = (self, address);
        loop {
            memory = match memory {
                Memory::Root(r) => return Err((*r, address)),
                Memory::Store { base, at, data } => {
                    if let Some(&b) = data.get(address.wrapping_sub(*at) as usize) {
                        return Ok(b);
                    }
                    base
                }
                Memory::Zero { base, at, bytes } => {
                    if address.wrapping_sub(*at) < *bytes {
                        return Ok(0);
                    }
                    base
                }
                Memory::Copy { base, to, from, bytes } => {
                    let k = address.wrapping_sub(*to);
                    if k < *bytes {
                        address = from.wrapping_add(k);
                    }
                    base
                }
            };
        }
    }

    /// Returns the root and the bytes that differ from the root's by address, which equal memories share;
    /// `None` when too many bytes were written.
    pub(super) fn contents(&self, read: &impl Fn(u128, u64) -> u8) -> Option<(u128, Vec<(u64, u8)>)> {
        let mut chain = Vec::new();
        let mut memory = self;
        let mut written = 0u64;
        let root = loop {
            let (base, bytes) = match memory {
                Memory::Root(r) => break *r,
                Memory::Store { base, data, .. } => (base, data.len() as u64),
                Memory::Copy { base, bytes, .. } | Memory::Zero { base, bytes, .. } => (base, *bytes),
            };
            written = written.saturating_add(bytes);
            if written > COMPARED_BYTES {
                return None;
            }
            chain.push(memory);
            memory = base;
        };
        let mut contents: FxHashMap<u64, u8> = FxHashMap::default();
        for link in chain.into_iter().rev() {
            match link {
                Memory::Root(_) => {}
                Memory::Store { at, data, .. } => {
                    contents.extend(data.iter().enumerate().map(|(k, b)| (at.wrapping_add(k as u64), *b)));
                }
                Memory::Zero { at, bytes, .. } => {
                    contents.extend((0..*bytes).map(|k| (at.wrapping_add(k), 0)));
                }
                Memory::Copy { to, from, bytes, .. } => {
                    let source: Vec<u8> = (0..*bytes)
                        .map(|k| from.wrapping_add(k))
                        .map(|a| contents.get(&a).copied().unwrap_or_else(|| read(root, a)))
                        .collect();
                    contents
                        .extend(source.into_iter().enumerate().map(|(k, b)| (to.wrapping_add(k as u64), b)));
                }
            }
        }
        let mut differing: Vec<(u64, u8)> =
            contents.into_iter().filter(|(a, b)| read(root, *a) != *b).collect();
        differing.sort_unstable();
        Some((root, differing))
    }
}
