//! The final state of memory in a form that does not depend on addresses.
//!
//! Starting from what the caller can see (the returned pointer, written globals, the input's
//! objects), pointers are followed breadth first; allocated objects get their numbers in the order
//! in which they are met. Two runs left isomorphic memory if and only if the summaries are equal.

use super::addresses::Region;
use super::input::{Limits, ObjectId};
use super::memory::{Memory, ObjectRef};
use super::outcome::{FinalObject, FinalPointer, Identity, Target};
use super::program::Program;
use std::collections::{BTreeMap, VecDeque};

/// What a run left.
pub(crate) struct Summary {
    /// The reachable objects, sorted by identity.
    pub objects: Vec<FinalObject>,
    /// Where the returned pointer leads.
    pub returned: Option<Target>,
    /// The first address, of those that were asked about, of an object that nothing leads to.
    pub lost: Option<u64>,
}

/// Summarises memory as a run left it. Of the objects `allocated`, those are lost that neither the
/// caller nor `kept`, further pointers, lead to. Cost: linear in the bytes of the objects.
pub(crate) fn summarise<'p>(
    memory: &mut Memory<'p>,
    program: &'p Program,
    inputs: &BTreeMap<ObjectId, u64>,
    (returned, aggregate_result): (Option<u64>, Option<u64>),
    (allocated, kept): (&[u64], &[u64]),
) -> Summary {
    let mut walk = Walk::new(memory, program);
    if let Some(r) = aggregate_result.and_then(|a| walk.memory.find(a)) {
        walk.enter(r, Identity::Result);
    }
    for (id, addr) in inputs {
        if let Some(r) = walk.memory.find(*addr)
            && r.region == Region::Input
        {
            walk.enter(r, Identity::Input(*id));
        }
    }
    let overridden: Vec<u64> = inputs.values().copied().collect();
    let written: Vec<usize> = walk
        .memory
        .touched_globals()
        .filter(|(_, o)| o.written || overridden.contains(&o.base))
        .map(|(i, _)| i)
        .collect();
    for slot in written {
        if let Some(s) = program.slots().get(slot).filter(|s| !s.hidden) {
            walk.enter(ObjectRef { region: Region::Global, index: slot }, Identity::Global(s.symbol.clone()));
        }
    }
    let target = returned.filter(|&a| a != 0).and_then(|a| walk.target(a));
    let objects = walk.finish();
    let lost = if allocated.is_empty() { None } else { walk.lost(allocated, kept) };
    Summary { objects, returned: target, lost }
}

/// Returns the entry content of a global as [`summarise`] would show it.
pub fn initial_global(program: &Program, symbol: &str) -> Option<FinalObject> {
    let slot = program.slot_by_name(symbol)?;
    let mut memory = Memory::new(program, Limits::default().memory);
    let mut walk = Walk::new(&mut memory, program);
    walk.enter(ObjectRef { region: Region::Global, index: slot }, Identity::Global(symbol.into()));
    walk.finish().into_iter().next()
}

struct Walk<'m, 'p> {
    memory: &'m mut Memory<'p>,
    program: &'p Program,
    names: BTreeMap<ObjectRef, Identity>,
    queue: VecDeque<ObjectRef>,
    allocated: u32,
}

impl<'m, 'p> Walk<'m, 'p> {
    fn new(memory: &'m mut Memory<'p>, program: &'p Program) -> Walk<'m, 'p> {
        Walk { memory, program, names: BTreeMap::new(), queue: VecDeque::new(), allocated: 0 }
    }

    fn enter(&mut self, r: ObjectRef, identity: Identity) {
        // An object goes by the first of its names.
        if let std::collections::btree_map::Entry::Vacant(place) = self.names.entry(r) {
            place.insert(identity);
            self.queue.push_back(r);
        }
    }

    fn name(&self, r: ObjectRef) -> Option<Identity> {
        self.names.get(&r).cloned()
    }

    /// Returns where an address leads; `None` when it is no address of the run.
    fn target(&mut self, addr: u64) -> Option<Target> {
        if let Some(symbol) = self.program.code_at(addr) {
            return Some(Target::Function(symbol.name.clone()));
        }
        let r = self.memory.find(addr)?;
        let object = self.memory.object_mut(r)?;
        let offset = addr.wrapping_sub(object.base) as i64;
        if offset < 0 || offset as u64 > object.size && object.live {
            return None;
        }
        if r.region == Region::Stack || !object.live {
            return Some(Target::Dangling);
        }
        let identity = match self.name(r) {
            Some(identity) => identity,
            None if r.region == Region::Heap => {
                self.allocated += 1;
                let identity = Identity::Allocated(self.allocated);
                self.enter(r, identity.clone());
                identity
            }
            // A global that was not written, or an object that only `argv` reaches.
            None => Identity::Global(self.program.slots().get(r.index)?.symbol.clone()),
        };
        Some(Target::Object { identity, offset })
    }

    /// Describes what was entered, and all that it leads to.
    fn finish(&mut self) -> Vec<FinalObject> {
        let mut done = Vec::new();
        while let Some(r) = self.queue.pop_front() {
            if let Some(object) = self.describe(r) {
                done.push(object);
            }
        }
        done.sort_by(|a, b| a.identity.cmp(&b.identity));
        done
    }

    /// Returns the first of the addresses whose object is alive and that nothing leads to.
    fn lost(&mut self, allocated: &[u64], kept: &[u64]) -> Option<u64> {
        let hidden: Vec<usize> = self.memory.touched_globals().map(|(i, _)| i).collect();
        for slot in
            hidden.into_iter().filter(|slot| self.program.slots().get(*slot).is_some_and(|s| s.hidden))
        {
            let symbol = self.program.slots()[slot].symbol.clone();
            self.enter(ObjectRef { region: Region::Global, index: slot }, Identity::Global(symbol));
        }
        kept.iter().for_each(|addr| _ = self.target(*addr));
        self.finish();
        let mut lost = allocated.iter().filter_map(|addr| Some((*addr, self.memory.find(*addr)?)));
        let (addr, _) = lost.find(|(addr, r)| {
            let alive = self.memory.object(*r).is_some_and(|o| o.live && o.base == *addr);
            alive && !self.names.contains_key(r)
        })?;
        // Somebody may keep pointers where they are not aligned.
        (!self.keeps_unaligned(allocated)).then_some(addr)
    }

    /// Whether an object that is known has a pointer to one of these at any offset but those of aligned
    /// pointers.
    fn keeps_unaligned(&self, allocated: &[u64]) -> bool {
        let width = self.program.pointer_bits() as usize / 8;
        self.names.keys().filter_map(|r| self.memory.object(*r)).filter(|o| o.live).any(|o| {
            let words = o.bytes().windows(width).enumerate().filter(|(at, _)| at % width != 0);
            words.into_iter().any(|(_, word)| {
                let addr = word.iter().rev().fold(0u64, |a, &b| (a << 8) | u64::from(b));
                allocated.contains(&addr)
            })
        })
    }

    fn describe(&mut self, r: ObjectRef) -> Option<FinalObject> {
        let identity = self.name(r)?;
        let object = self.memory.object_mut(r)?;
        let (live, mut bytes) = (object.live, object.bytes().to_vec());
        let undefined = object.undefined();
        for (b, u) in bytes.iter_mut().zip(&undefined) {
            if *u {
                *b = 0;
            }
        }
        let width = self.program.pointer_bits() as usize / 8;
        let mut pointers = Vec::new();
        for offset in (0..bytes.len().saturating_sub(width - 1)).step_by(width) {
            let word = bytes.get(offset..offset + width).unwrap_or(&[]);
            let addr = word.iter().rev().fold(0u64, |a, &b| (a << 8) | b as u64);
            if addr != 0
                && let Some(target) = self.target(addr)
            {
                pointers.push(FinalPointer { offset: offset as u64, target });
                if let Some(place) = bytes.get_mut(offset..offset + width) {
                    place.fill(0);
                }
            }
        }
        Some(FinalObject { identity, live, bytes, undefined, pointers })
    }
}
