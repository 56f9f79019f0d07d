//! Memory of a run: objects with a base address, bytes, an initialised flag for each bit (bit-fields
//! share bytes), a lifetime.
//!
//! Addresses are assigned deterministically, by region (functions, globals, input, heap, stack),
//! far enough apart that a pointer which runs past its object still finds it: provenance is by
//! range, with a guard zone around each object. No address is ever used twice, so that every use of
//! a dead object is seen.

use super::addresses::{AddressMap, Region};
use super::program::Program;
use crate::ir::UndefinedKind;
use std::borrow::Cow;
use std::cell::Cell;

/// Addresses below this are null dereferences (a null pointer plus a field's offset).
const NULL_ZONE: u64 = 4096;
/// Dead locals that are remembered, the youngest ones.
const REMEMBERED_DEAD: usize = 4096;
/// Heap objects of one run, live or dead.
const MAX_HEAP_OBJECTS: usize = 1 << 18;

/// One object.
#[derive(Clone, Debug)]
pub(crate) struct Object<'p> {
    pub base: u64,
    pub size: u64,
    /// Until it is written to, the program's image of a global.
    data: Cow<'p, [u8]>,
    /// A set bit for each indeterminate bit; empty when there is none.
    undefined: Vec<u8>,
    pub live: bool,
    pub read_only: bool,
    /// May be given to `free`.
    pub freeable: bool,
    pub written: bool,
}

impl<'p> Object<'p> {
    fn image(base: u64, bytes: &'p [u8], read_only: bool) -> Object<'p> {
        let data = Cow::Borrowed(bytes);
        let size = bytes.len() as u64;
        Object {
            base,
            size,
            data,
            undefined: Vec::new(),
            live: true,
            read_only,
            freeable: false,
            written: false,
        }
    }

    fn own(base: u64, bytes: Vec<u8>, undefined: Vec<u8>) -> Object<'p> {
        let size = bytes.len() as u64;
        let data = Cow::Owned(bytes);
        Object { base, size, data, undefined, live: true, read_only: false, freeable: false, written: false }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// Returns a flag for each byte that is at least partly indeterminate; empty for none.
    pub fn undefined(&self) -> Vec<bool> {
        if self.undefined.iter().all(|u| *u == 0) {
            return Vec::new();
        }
        self.undefined.iter().map(|u| *u != 0).collect()
    }

    fn bytes_mut(&mut self) -> &mut Vec<u8> {
        self.written = true;
        self.data.to_mut()
    }

    fn is_defined(&self, at: usize, len: usize) -> bool {
        self.undefined.is_empty() || !self.undefined.iter().skip(at).take(len).any(|&u| u != 0)
    }

    fn set_defined(&mut self, at: usize, len: usize) {
        if !self.undefined.is_empty() {
            self.undefined.iter_mut().skip(at).take(len).for_each(|u| *u = 0);
        }
    }

    fn set_undefined(&mut self, at: usize, len: usize) {
        if self.undefined.is_empty() && len > 0 {
            self.undefined = vec![0; self.size as usize];
        }
        self.undefined.iter_mut().skip(at).take(len).for_each(|u| *u = 0xff);
    }

    fn drop_content(&mut self) {
        self.live = false;
        self.data = Cow::Owned(Vec::new());
        self.undefined = Vec::new();
    }
}

/// Objects of one region, in address order.
#[derive(Debug)]
struct Arena<'p> {
    objects: Vec<Object<'p>>,
    next: u64,
    limit: u64,
    gap: u64,
    /// The object that was found last.
    recent: Cell<usize>,
}

impl<'p> Arena<'p> {
    fn new(start: u64, limit: u64, gap: u64) -> Arena<'p> {
        Arena { objects: Vec::new(), next: start + gap, limit, gap, recent: Cell::new(0) }
    }

    fn push(&mut self, make: impl FnOnce(u64) -> Object<'p>) -> Option<u64> {
        let object = make(self.next);
        let (base, size) = (object.base, object.size);
        if size >= self.limit.saturating_sub(base) {
            return None;
        }
        self.next = base.checked_add(size)?.checked_add(self.gap + 15)? & !15;
        self.objects.push(object);
        Some(base)
    }

    /// Returns the object that an address belongs to, by range with half a gap on either side.
    fn find(&self, addr: u64) -> Option<usize> {
        // Accesses go to the object of the last one more often than not.
        let recent = self.recent.get();
        if self.objects.get(recent).is_some_and(|o| o.base <= addr && addr - o.base < o.size) {
            return Some(recent);
        }
        let found = self.search(addr)?;
        self.recent.set(found);
        Some(found)
    }

    fn search(&self, addr: u64) -> Option<usize> {
        let slack = self.gap / 2;
        let after = self.objects.partition_point(|o| o.base <= addr);
        if let Some(i) = after.checked_sub(1)
            && addr - self.objects[i].base <= self.objects[i].size + slack
        {
            return Some(i);
        }
        (self.objects.get(after)?.base - addr <= slack).then_some(after)
    }
}

/// Names an object of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectRef {
    pub region: Region,
    pub index: usize,
}

/// Where the last access went.
#[derive(Default)]
struct LastAccess {
    /// Where the object lives.
    region: Option<Region>,
    base: u64,
    /// Bytes from there that it needed.
    end: u64,
    /// Of the last one that found no object.
    nowhere: Option<u64>,
}

/// All objects of a run.
pub(crate) struct Memory<'p> {
    program: &'p Program,
    map: AddressMap,
    globals: Vec<Option<Box<Object<'p>>>>,
    /// The slot that was found last.
    recent_global: Cell<usize>,
    input: Arena<'p>,
    heap: Arena<'p>,
    stack: Arena<'p>,
    /// Dead objects in `stack`.
    dead_locals: usize,
    live_bytes: u64,
    max_bytes: u64,
    last: LastAccess,
    /// A global was asked for that is larger than all of the memory may be.
    exceeded: bool,
    /// Bytes that operations on many bytes went through since they were last asked for.
    work: u64,
    /// A value was read or written where no object of its size is aligned.
    pub misaligned: bool,
}

/// Whether objects of so many bytes lie at such addresses.
fn is_aligned(addr: u64, len: u64) -> bool {
    !len.is_power_of_two() || addr & (len - 1) == 0
}

/// Bytes that take as long to go through as an instruction to run.
const BYTES_A_STEP: u64 = 64;

type Access<T> = Result<T, UndefinedKind>;

impl<'p> Memory<'p> {
    pub fn new(program: &'p Program, max_bytes: u64) -> Memory<'p> {
        let map = program.address_map();
        let mut globals = Vec::new();
        globals.resize_with(program.slots().len(), || None);
        Memory {
            program,
            map,
            globals,
            recent_global: Cell::new(0),
            input: Arena::new(map.input, map.heap, map.gap),
            heap: Arena::new(map.heap, map.stack, map.gap),
            stack: Arena::new(map.stack, map.end, map.stack_gap),
            dead_locals: 0,
            live_bytes: 0,
            max_bytes,
            last: LastAccess::default(),
            exceeded: false,
            work: 0,
            misaligned: false,
        }
    }

    /// Makes an object of the input; `None` when memory runs out.
    pub fn add_input(&mut self, bytes: Vec<u8>, undefined: &[bool], freeable: bool) -> Option<u64> {
        self.charge(bytes.len() as u64)?;
        let undefined = bit_flags(undefined);
        self.input.push(|base| Object { freeable, ..Object::own(base, bytes, undefined) })
    }

    /// Makes an object of the input that holds zeroes; `None` when memory runs out.
    pub fn add_zeroes(&mut self, size: u64) -> Option<u64> {
        let bytes = vec![0; usize::try_from(size).ok().filter(|_| size <= self.max_bytes)?];
        self.add_input(bytes, &[], false)
    }

    /// Gives a global another content than its initialiser's; `false` when the sizes differ.
    pub fn override_global(&mut self, slot: usize, bytes: Vec<u8>, undefined: &[bool]) -> bool {
        let Some(s) = self.program.slots().get(slot) else { return false };
        if s.size != bytes.len() as u64 {
            return false;
        }
        self.globals[slot] = Some(Box::new(Object::own(s.base, bytes, bit_flags(undefined))));
        true
    }

    /// Makes a local's object, indeterminate; `None` when memory runs out.
    pub fn push_stack(&mut self, size: u64) -> Option<u64> {
        self.charge(size)?;
        let n = size as usize;
        self.stack.push(|base| Object::own(base, vec![0; n], vec![0xff; n]))
    }

    /// Ends the lifetime of a local's object.
    pub fn end_local(&mut self, addr: u64) {
        let Some(object) = self.stack.find(addr).and_then(|i| self.stack.objects.get_mut(i)) else { return };
        self.live_bytes -= if object.live { object.size } else { 0 };
        object.drop_content();
        self.dead_locals += 1;
        if self.dead_locals > 2 * REMEMBERED_DEAD {
            // Pointers to the forgotten ones still lead nowhere: addresses are not used again.
            let oldest = self.stack.objects.iter().rev().filter(|o| !o.live).nth(REMEMBERED_DEAD);
            let oldest = oldest.map_or(0, |o| o.base);
            self.stack.objects.retain(|o| o.live || o.base > oldest);
            self.dead_locals = REMEMBERED_DEAD;
        }
    }

    /// Allocates on the heap, zeroed or indeterminate; `None` when memory runs out.
    pub fn allocate(&mut self, size: u64, zeroed: bool) -> Option<u64> {
        self.charge(size)?;
        if self.heap.objects.len() >= MAX_HEAP_OBJECTS {
            return None;
        }
        let n = size as usize;
        let undefined = if zeroed { Vec::new() } else { vec![0xff; n] };
        self.heap.push(|base| Object { freeable: true, ..Object::own(base, vec![0; n], undefined) })
    }

    /// Allocates what belongs to the library: the program cannot free it.
    pub fn allocate_kept(&mut self, size: u64, zeroed: bool) -> Option<u64> {
        let addr = self.allocate(size, zeroed)?;
        self.object_at(addr)?.freeable = false;
        Some(addr)
    }

    /// Gives what belongs to the library to the program, cut to this size.
    pub fn hand_over(&mut self, addr: u64, size: u64) {
        let Some(object) = self.object_at(addr).filter(|o| o.size >= size) else { return };
        object.freeable = true;
        object.bytes_mut().truncate(size as usize);
        object.undefined.truncate(size as usize);
        let cut = object.size - size;
        object.size = size;
        self.live_bytes -= cut;
    }

    /// Ends the lifetime of what belongs to the library.
    pub fn retire(&mut self, addr: u64) {
        let Some(object) = self.object_at(addr).filter(|o| o.live) else { return };
        let size = object.size;
        object.drop_content();
        self.live_bytes -= size;
    }

    /// Returns the object that begins at an address.
    fn object_at(&mut self, addr: u64) -> Option<&mut Object<'p>> {
        let r = self.find(addr)?;
        self.object_mut(r).filter(|o| o.base == addr)
    }

    /// Whether all of these bytes are there and indeterminate.
    pub fn is_undefined(&mut self, addr: u64, len: u64) -> bool {
        let Ok((object, at)) = self.locate(addr, len, false) else { return false };
        let flags = object.undefined.get(at..at + len as usize);
        flags.is_some_and(|flags| flags.iter().all(|u| *u != 0))
    }

    pub fn pointer_bytes(&self) -> u64 {
        u64::from(self.program.pointer_bits() / 8)
    }

    /// Frees the object at this address.
    ///
    /// Errors: `UseAfterFree` on a second time, `BadPointer` for what cannot be freed.
    pub fn free(&mut self, addr: u64) -> Access<()> {
        let r = self.find(addr).ok_or(UndefinedKind::BadPointer)?;
        self.last.region = Some(r.region);
        let object = self.object_mut(r).ok_or(UndefinedKind::BadPointer)?;
        if !object.live {
            return Err(UndefinedKind::UseAfterFree);
        }
        if !object.freeable || object.base != addr {
            return Err(UndefinedKind::BadPointer);
        }
        let size = object.size;
        object.drop_content();
        object.written = true;
        self.live_bytes -= size;
        Ok(())
    }

    /// Returns the instructions that operations on many bytes since the last call are worth.
    pub fn take_work(&mut self) -> u64 {
        if self.work < BYTES_A_STEP {
            return 0;
        }
        let steps = self.work / BYTES_A_STEP;
        self.work %= BYTES_A_STEP;
        steps
    }

    /// Counts bytes that were gone through outside of memory.
    pub fn add_work(&mut self, bytes: u64) {
        self.work = self.work.saturating_add(bytes);
    }

    fn charge(&mut self, size: u64) -> Option<()> {
        self.work = self.work.saturating_add(size);
        let total = self.live_bytes.checked_add(size)?;
        if total > self.max_bytes {
            return None;
        }
        self.live_bytes = total;
        Some(())
    }

    /// Returns the object that an address belongs to, live or dead.
    pub fn find(&self, addr: u64) -> Option<ObjectRef> {
        let region = self.map.region(addr)?;
        let index = match region {
            Region::Global => self.global_at(addr)?,
            Region::Input => self.input.find(addr)?,
            Region::Heap => self.heap.find(addr)?,
            Region::Stack => self.stack.find(addr)?,
        };
        Some(ObjectRef { region, index })
    }

    fn global_at(&self, addr: u64) -> Option<usize> {
        let recent = self.recent_global.get();
        let slot = self.program.slots().get(recent);
        if slot.is_some_and(|s| s.base <= addr && addr - s.base < s.size) {
            return Some(recent);
        }
        let found = self.program.slot_at(addr)?;
        self.recent_global.set(found);
        Some(found)
    }

    /// Start of the object that the last access went to, or out of.
    pub fn last_base(&self) -> u64 {
        self.last.base
    }

    /// Bytes of that object that the last access needed; none where it went before its start.
    pub fn last_end(&self) -> u64 {
        self.last.end
    }

    /// Where the last access went that found no object there.
    pub fn nowhere(&self) -> Option<u64> {
        self.last.nowhere
    }

    /// Whether the last access went to an object of the input, or out of it.
    pub fn was_on_input(&self) -> bool {
        self.last.region == Some(Region::Input)
    }

    /// Whether an access failed because its global is larger than all of the memory may be, whatever
    /// the access says.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    /// Returns an object that came into being.
    pub fn object(&self, r: ObjectRef) -> Option<&Object<'p>> {
        match r.region {
            Region::Global => self.globals.get(r.index)?.as_deref(),
            Region::Input => self.input.objects.get(r.index),
            Region::Stack => self.stack.objects.get(r.index),
            Region::Heap => self.heap.objects.get(r.index),
        }
    }

    /// Returns an object; globals come into being on first use.
    pub fn object_mut(&mut self, r: ObjectRef) -> Option<&mut Object<'p>> {
        match r.region {
            Region::Global => {
                let program = self.program;
                let slot = program.slots().get(r.index)?;
                if slot.size > self.max_bytes {
                    self.exceeded = true;
                    return None;
                }
                let object = self.globals.get_mut(r.index)?;
                Some(object.get_or_insert_with(|| {
                    Box::new(Object::image(slot.base, program.image(r.index), slot.read_only))
                }))
            }
            Region::Input => self.input.objects.get_mut(r.index),
            Region::Heap => self.heap.objects.get_mut(r.index),
            Region::Stack => self.stack.objects.get_mut(r.index),
        }
    }

    /// Returns the globals that the run has touched or the input gave.
    pub fn touched_globals(&self) -> impl Iterator<Item = (usize, &Object<'p>)> {
        self.globals.iter().enumerate().filter_map(|(i, o)| Some((i, o.as_deref()?)))
    }

    /// Returns where `len` bytes at `addr` lie.
    ///
    /// Errors: the undefined event of the access.
    fn locate(&mut self, addr: u64, len: u64, write: bool) -> Access<(&mut Object<'p>, usize)> {
        self.last.region = None;
        if addr < NULL_ZONE {
            return Err(UndefinedKind::NullDereference);
        }
        let Some(r) = self.find(addr) else {
            self.last.nowhere = Some(addr);
            return Err(UndefinedKind::BadPointer);
        };
        self.last.region = Some(r.region);
        let base = self.object_mut(r).ok_or(UndefinedKind::BadPointer)?.base;
        self.last.base = base;
        self.last.end = addr.checked_sub(base).and_then(|at| at.checked_add(len)).unwrap_or(0);
        let object = self.object_mut(r).ok_or(UndefinedKind::BadPointer)?;
        if !object.live {
            return Err(UndefinedKind::UseAfterFree);
        }
        let offset = addr.checked_sub(object.base).ok_or(UndefinedKind::OutOfBounds)?;
        if offset.checked_add(len).is_none_or(|end| end > object.size) {
            return Err(UndefinedKind::OutOfBounds);
        }
        if write && object.read_only {
            return Err(UndefinedKind::ReadOnly);
        }
        Ok((object, offset as usize))
    }

    /// Returns how many bytes there are from an address to its live object's end.
    pub fn remaining(&mut self, addr: u64) -> Option<u64> {
        let (object, at) = self.locate(addr, 0, false).ok()?;
        Some(object.size - at as u64)
    }

    /// Reads up to 16 bytes, little endian.
    pub fn load(&mut self, addr: u64, len: u64) -> Access<u128> {
        self.load_bits(addr, len, u128::MAX)
    }

    /// Reads up to 16 bytes of which only the `relevant` bits are made use of: the others may be
    /// indeterminate.
    pub fn load_bits(&mut self, addr: u64, len: u64, relevant: u128) -> Access<u128> {
        self.misaligned |= !is_aligned(addr, len);
        let (object, at) = self.locate(addr, len, false)?;
        let word = |bytes: &[u8]| {
            let bytes = bytes.get(at..at + len as usize).unwrap_or(&[]);
            if let Ok(bytes) = bytes.try_into() {
                return u128::from(u64::from_le_bytes(bytes));
            }
            if let Ok(bytes) = bytes.try_into() {
                return u128::from(u32::from_le_bytes(bytes));
            }
            bytes.iter().rev().fold(0, |acc, &b| (acc << 8) | u128::from(b))
        };
        if !object.undefined.is_empty() && word(&object.undefined) & relevant != 0 {
            return Err(UndefinedKind::Uninitialised);
        }
        Ok(word(object.bytes()))
    }

    /// Writes up to 16 bytes of which only the `written` bits come to be initialised: the others
    /// are as they were.
    pub fn store_bits(&mut self, addr: u64, len: u64, bits: u128, written: u128) -> Access<()> {
        self.misaligned |= !is_aligned(addr, len);
        let (object, at) = self.locate(addr, len, true)?;
        let flags = object.undefined.iter_mut().skip(at).take(len as usize);
        for (flag, w) in flags.zip(written.to_le_bytes()) {
            *flag &= !w;
        }
        for (byte, b) in object.bytes_mut().iter_mut().skip(at).take(len as usize).zip(bits.to_le_bytes()) {
            *byte = b;
        }
        Ok(())
    }

    /// Writes up to 16 bytes, little endian.
    pub fn store(&mut self, addr: u64, len: u64, bits: u128) -> Access<()> {
        self.misaligned |= !is_aligned(addr, len);
        let bytes = bits.to_le_bytes();
        self.write(addr, bytes.get(..len as usize).unwrap_or(&bytes))
    }

    /// Writes bytes.
    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> Access<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (object, at) = self.locate(addr, bytes.len() as u64, true)?;
        object.set_defined(at, bytes.len());
        if let Some(place) = object.bytes_mut().get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Sets bytes to one value.
    pub fn fill(&mut self, addr: u64, len: u64, byte: u8) -> Access<()> {
        if len == 0 {
            return Ok(());
        }
        self.work = self.work.saturating_add(len);
        let (object, at) = self.locate(addr, len, true)?;
        object.set_defined(at, len as usize);
        if let Some(place) = object.bytes_mut().get_mut(at..at + len as usize) {
            place.fill(byte);
        }
        Ok(())
    }

    /// Makes bytes indeterminate.
    pub fn undefine(&mut self, addr: u64, len: u64) -> Access<()> {
        if len == 0 {
            return Ok(());
        }
        let (object, at) = self.locate(addr, len, true)?;
        object.set_undefined(at, len as usize);
        Ok(())
    }

    /// Copies bytes with their initialised flags; the regions may overlap.
    pub fn copy(&mut self, dst: u64, src: u64, len: u64) -> Access<()> {
        if len == 0 {
            return Ok(());
        }
        self.work = self.work.saturating_add(len);
        let n = len as usize;
        let (from, at) = self.locate(src, len, false)?;
        let bytes = from.bytes().get(at..at + n).unwrap_or(&[]).to_vec();
        let undefined = from.undefined.get(at..at + n).unwrap_or(&[]).to_vec();
        let (to, at) = self.locate(dst, len, true)?;
        if let Some(place) = to.bytes_mut().get_mut(at..at + bytes.len()) {
            place.copy_from_slice(&bytes);
        }
        if undefined.iter().all(|u| *u == 0) {
            to.set_defined(at, n);
            return Ok(());
        }
        if to.undefined.is_empty() {
            to.undefined = vec![0; to.size as usize];
        }
        if let Some(flags) = to.undefined.get_mut(at..at + n) {
            flags.copy_from_slice(&undefined);
        }
        Ok(())
    }

    /// Reads `len` bytes, all initialised.
    pub fn read(&mut self, addr: u64, len: u64) -> Access<&[u8]> {
        if len == 0 {
            return Ok(&[]);
        }
        let (object, at) = self.locate(addr, len, false)?;
        if !object.is_defined(at, len as usize) {
            return Err(UndefinedKind::Uninitialised);
        }
        Ok(object.bytes().get(at..at + len as usize).unwrap_or(&[]))
    }

    /// Reads up to the first NUL (not included), or `limit` bytes, whichever comes first.
    pub fn string(&mut self, addr: u64, limit: u64) -> Access<Vec<u8>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (object, at) = self.locate(addr, 1, false)?;
        let rest = object.bytes().get(at..).unwrap_or(&[]);
        let window = &rest[..rest.len().min(limit.min(usize::MAX as u64) as usize)];
        let end = window.iter().enumerate().position(|(i, &b)| b == 0 || !object.is_defined(at + i, 1));
        let text = window[..end.unwrap_or(window.len())].to_vec();
        let result = match end {
            Some(i) if !object.is_defined(at + i, 1) => Err(UndefinedKind::Uninitialised),
            None if text.len() as u64 != limit => Err(UndefinedKind::OutOfBounds),
            _ => Ok(()),
        };
        self.work += text.len() as u64;
        result.map(|()| text)
    }
}

/// Spreads a flag a byte over the byte's bits.
fn bit_flags(bytes: &[bool]) -> Vec<u8> {
    bytes.iter().map(|u| if *u { 0xff } else { 0 }).collect()
}
