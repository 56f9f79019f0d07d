//! The final state of memory in a form that does not depend on addresses.
//!
//! Starting from what the caller can see (the returned pointer, written globals, the input's
//! objects), pointers are followed breadth first; allocated objects get their numbers in the order
//! in which they are met. Two runs left isomorphic memory if and only if the summaries are equal.

use super::input::ObjectId;
use super::memory::{Memory, ObjectRef, Region};
use super::outcome::{FinalObject, FinalPointer, Identity, Target};
use super::program::Program;
use std::collections::{BTreeMap, VecDeque};

/// Returns the reachable objects, sorted by identity, and where the returned pointer leads. Cost:
/// linear in the bytes of the objects.
pub(crate) fn summarise<'p>(
    memory: &mut Memory<'p>,
    program: &'p Program,
    inputs: &BTreeMap<ObjectId, u64>,
    returned: Option<u64>,
    aggregate_result: Option<u64>,
) -> (Vec<FinalObject>, Option<Target>) {
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
    walk.finish(target)
}

/// Returns the entry content of a global as [`summarise`] would show it.
pub(crate) fn initial_global(program: &Program, symbol: &str) -> Option<FinalObject> {
    let slot = program.slot_by_name(symbol)?;
    let mut memory = Memory::new(program, super::Limits::default().memory);
    let mut walk = Walk::new(&mut memory, program);
    walk.enter(ObjectRef { region: Region::Global, index: slot }, Identity::Global(symbol.into()));
    walk.finish(None).0.into_iter().next()
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

    fn finish(mut self, returned: Option<Target>) -> (Vec<FinalObject>, Option<Target>) {
        let mut done = Vec::new();
        while let Some(r) = self.queue.pop_front() {
            if let Some(object) = self.describe(r) {
                done.push(object);
            }
        }
        done.sort_by(|a, b| a.identity.cmp(&b.identity));
        (done, returned)
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
