//! Inputs of the solver with the memory that they are about: `p->a` of a model, and not just `p`.
//!
//! A model says which bytes of the memory at entry were read, at which addresses. Those around the address that a
//! parameter has become an object that it points to, bytes that are the address of others a pointer, and those of a
//! global its value at the beginning. A model puts objects anywhere, also one into another, which none of C's may be:
//! each address leads to an object of its own. What comes out is a proposal; the replay decides.

use crate::interp::{Input, ObjectId, ObjectInit, Storage, Value};
use crate::invariant;
use crate::ir::eval::Assignment;
use crate::ir::{CType, Function, InitPiece, Leaf, Term, TermId, TermPool, Unit, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of an object, zero but for those that are known.
const BEHIND: u64 = 256;
/// Most objects of one input.
const MAX_OBJECTS: usize = 64;

/// The inputs that a model proposes, the likeliest first. `roots` are the terms of the query.
pub(super) fn proposed(
    pool: &TermPool,
    model: &Assignment,
    roots: &[TermId],
    f: &Function,
    unit: &Unit,
) -> Vec<Input> {
    let plain = invariant::input_of_model(pool, model, roots, f);
    if &*f.name == "main" {
        return vec![plain];
    }
    let params = parameters(pool, model, roots);
    let address = |v: &VarId| params.get(&*f.var(*v).name).copied().filter(|_| f.var(*v).ty.is_pointer());
    let starts: Vec<u64> = f.params.iter().filter_map(address).filter(|at| *at != 0).collect();
    let globals = globals(pool, model, roots, unit);
    if starts.is_empty() && globals.is_empty() {
        return vec![plain];
    }
    let mut image = Image {
        memory: model.memory().collect(),
        globals,
        objects: BTreeSet::new(),
        width: u64::from(unit.data_model.pointer_bits() / 8),
    };
    image.find(starts);
    let (ids, mut objects) = image.laid_out();
    let mut filled = plain.clone();
    for (argument, p) in filled.arguments.iter_mut().zip(&f.params) {
        if let Some(value) = address(p).and_then(|at| image.pointer(at, &ids)) {
            *argument = value;
        }
    }
    objects.extend(image.initial_globals(&ids, unit, objects.len()));
    filled.objects = objects;
    let mut inputs = vec![filled, plain];
    inputs.dedup();
    inputs
}

/// The addresses that parameters have.
fn parameters(pool: &TermPool, model: &Assignment, roots: &[TermId]) -> BTreeMap<Arc<str>, u64> {
    let mut found = BTreeMap::new();
    for t in pool.reachable(roots) {
        if let (Term::Leaf(Leaf::Param { name, .. }), Some(c)) = (pool.get(t), model.get(t)) {
            found.insert(name.clone(), c.to_bits() as u64);
        }
    }
    found
}

/// Where the globals lie that may begin otherwise than written: address, symbol, size.
fn globals(
    pool: &TermPool,
    model: &Assignment,
    roots: &[TermId],
    unit: &Unit,
) -> BTreeMap<u64, (Arc<str>, u64)> {
    let mut found = BTreeMap::new();
    for t in pool.reachable(roots) {
        let (Term::Leaf(Leaf::SymbolAddr { symbol, .. }), Some(c)) = (pool.get(t), model.get(t)) else {
            continue;
        };
        let plain = unit.global(symbol).filter(|g| !g.is_known_constant() && !g.is_const);
        if let Some(g) = plain.filter(|g| g.init.iter().all(|p| matches!(p, InitPiece::Bytes { .. }))) {
            found.insert(c.to_bits() as u64, (symbol.clone(), g.size));
        }
    }
    found
}

/// The memory of a model.
struct Image {
    memory: BTreeMap<u64, u8>,
    /// By address.
    globals: BTreeMap<u64, (Arc<str>, u64)>,
    /// Addresses.
    objects: BTreeSet<u64>,
    /// Bytes of a pointer.
    width: u64,
}

/// By address of an object: its number.
type Ids = BTreeMap<u64, u32>;

impl Image {
    /// Finds the objects that some addresses lead to, and those that these lead to.
    fn find(&mut self, mut work: Vec<u64>) {
        for (at, (_, size)) in &self.globals {
            work.extend(self.pointers(*at, *size).into_iter().map(|(_, to)| to));
        }
        while let Some(at) = work.pop() {
            let is_full = self.objects.len() >= MAX_OBJECTS;
            if is_full || self.globals.contains_key(&at) || !self.objects.insert(at) {
                continue;
            }
            work.extend(self.pointers(at, BEHIND).into_iter().map(|(_, to)| to));
        }
    }

    /// Where known bytes are the address of known bytes: offset, address.
    fn pointers(&self, start: u64, size: u64) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for (at, _) in self.memory.range(start..start.saturating_add(size)) {
            if !(at - start).is_multiple_of(self.width) {
                continue;
            }
            let bytes: Option<Vec<u8>> =
                (0..self.width).map(|k| self.memory.get(&at.wrapping_add(k)).copied()).collect();
            let Some(bytes) = bytes else { continue };
            let to = bytes.iter().rev().fold(0u64, |all, b| all << 8 | u64::from(*b));
            let is_known = to != 0
                && to.checked_add(BEHIND).is_some_and(|end| self.memory.range(to..end).next().is_some());
            if is_known {
                found.push((at - start, to));
            }
        }
        found
    }

    fn pointer(&self, at: u64, ids: &Ids) -> Option<Value> {
        match self.globals.get(&at) {
            Some((symbol, _)) => Some(Value::Global { symbol: symbol.clone(), offset: 0 }),
            None => Some(Value::Pointer { object: ObjectId(*ids.get(&at)?), offset: 0 }),
        }
    }

    fn bytes(&self, start: u64, mut bytes: Vec<u8>) -> Vec<u8> {
        for (k, byte) in (0u64..).zip(&mut bytes) {
            if let Some(known) = self.memory.get(&start.wrapping_add(k)) {
                *byte = *known;
            }
        }
        bytes
    }

    fn inner(&self, start: u64, size: u64, ids: &Ids) -> Vec<(u64, Value)> {
        let all = self.pointers(start, size).into_iter();
        all.filter_map(|(offset, to)| Some((offset, self.pointer(to, ids)?))).collect()
    }

    fn laid_out(&self) -> (Ids, Vec<ObjectInit>) {
        let ids: Ids = self.objects.iter().copied().zip(0..).collect();
        let object = |(start, id): (&u64, &u32)| ObjectInit {
            id: ObjectId(*id),
            ty: CType::Void,
            storage: Storage::Heap,
            bytes: self.bytes(*start, vec![0; BEHIND as usize]),
            undefined: Vec::new(),
            pointers: self.inner(*start, BEHIND, &ids),
        };
        let objects = ids.iter().map(object).collect();
        (ids, objects)
    }

    /// The globals that begin with bytes of the model.
    fn initial_globals(&self, ids: &Ids, unit: &Unit, mut next: usize) -> Vec<ObjectInit> {
        let mut found = Vec::new();
        for (start, (symbol, size)) in &self.globals {
            let is_read = self.memory.range(*start..start.saturating_add(*size)).next().is_some();
            let Some(global) = unit.global(symbol).filter(|_| is_read) else { continue };
            let Some(initial) = global.constant_bytes(0, *size) else { continue };
            found.push(ObjectInit {
                id: ObjectId(next as u32),
                ty: global.ty.clone(),
                storage: Storage::Global(symbol.clone()),
                bytes: self.bytes(*start, initial),
                undefined: Vec::new(),
                pointers: self.inner(*start, *size, ids),
            });
            next += 1;
        }
        found
    }
}
