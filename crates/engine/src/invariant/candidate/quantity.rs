//! Quantities: what candidates at a point may speak of beside the result and variables.
//!
//! Places in memory that mean the same in all versions (`p->len`, globals) have a value at the point,
//! and so do, for comparison, what they and the parameters held at entry (`\old(p->len)`,
//! `\old(n)`). A quantity is known by its name: the same name is the same place at every point.

use crate::interp::{self, Identity, Observation, Target, Value};
use crate::invariant::candidate::observed::Quantity;
use crate::invariant::candidate::observed::is_countable;
use crate::invariant::change::cell_value;
use crate::invariant::change::cell_value::held;
use crate::invariant::change::cell_value::{CellValue, Entry};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::{Kind, Point};
use crate::invariant::proof::known::Known;
use crate::invariant::witness::run::Run;
use crate::ir::{App, CType, Const, Instr, Leaf, Op, Sort, TermId, VarKind};
use crate::mvicfg::{ClassId, ClassSet};
use crate::semantics::{Val, c_text};
use std::collections::{BTreeMap, BTreeSet};

/// Most places of memory, and parameters that change, of one function.
const MAX_CELLS: usize = 8;
const MAX_PARAMETERS: usize = 4;
/// Most accesses that are looked at for places.
const MAX_ACCESSES: usize = 200;

/// A place that a class reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    /// Written places first.
    read: bool,
    address: TermId,
    bytes: u64,
    sort: Sort,
}

impl FunctionAnalysis<'_> {
    /// Adds the quantities of a class at a point to what is known there.
    pub(in crate::invariant) fn known_quantities(
        &mut self,
        class: ClassId,
        point: &Point,
        known: &mut BTreeMap<String, Known>,
    ) {
        let mut count = 0;
        for access in self.accesses(class) {
            if count >= MAX_CELLS {
                break;
            }
            count += usize::from(self.known_cell(class, point, access, known));
        }
        self.known_parameters(class, point, known);
        self.known_memory(class, point, known);
    }

    /// Adds one place, and what it held at entry where it may hold something else at the point.
    fn known_cell(
        &mut self,
        class: ClassId,
        point: &Point,
        access: Access,
        known: &mut BTreeMap<String, Known>,
    ) -> bool {
        let Access { address, bytes, sort, .. } = access;
        let Some(name) = self.cell_name(address, sort, bytes) else { return false };
        let subject = Observable::Cell { name: name.as_str().into(), address, sort, bytes };
        let Some(ty) = self.cell_type(class, &subject) else { return false };
        if known.contains_key(&name) || !is_countable(&ty) {
            return false;
        }
        let single = ClassSet::single(class);
        let values = observable::values_at(&mut self.e, &subject, point, &single);
        let Some((_, val)) = values.into_iter().next() else { return false };
        let memory = self.e.pool.leaf(Leaf::Memory);
        let before = self.e.pool.app(App::Load { sort, bytes }, &[memory, address]);
        let changes = val.term != before;
        let causes = self.cell_causes(class, address, &val);
        let Some(k) = self.as_known(class, ty.clone(), Val { causes, ..val }) else { return false };
        known.insert(name.clone(), k);
        let now = Quantity::Cell { address, sort, bytes, at_entry: false };
        self.quantities.insert(name.clone(), now);
        if changes {
            let old = format!("\\old({name})");
            let val = Val { term: before, causes: Default::default(), guards: Default::default() };
            if let Some(k) = self.as_known(class, ty, val) {
                known.insert(old.clone(), k);
                self.quantities.insert(old, Quantity::Cell { address, sort, bytes, at_entry: true });
            }
        }
        true
    }

    /// Adds a place that someone named, if facts would name it so.
    pub(in crate::invariant) fn known_place(
        &mut self,
        class: ClassId,
        point: &Point,
        (address, sort, bytes): (TermId, Sort, u64),
        name: &str,
        known: &mut BTreeMap<String, Known>,
    ) {
        let sort = if sort == Sort::Bool { Sort::Bv(8) } else { sort };
        if self.cell_name(address, sort, bytes).as_deref() == Some(name) {
            self.known_cell(class, point, Access { read: true, address, bytes, sort }, known);
        }
    }

    /// Adds what something that someone named held at entry, where that is not known yet.
    pub(in crate::invariant) fn known_before(
        &mut self,
        class: ClassId,
        point: &Point,
        name: &str,
        known: &mut BTreeMap<String, Known>,
    ) {
        let old = format!("\\old({name})");
        if known.contains_key(&old) {
            return;
        }
        let quantity = self.quantities.get(name).cloned();
        let (term, ty, quantity) = match quantity {
            Some(Quantity::Cell { address, sort, bytes, .. }) => {
                let Some(ty) = known.get(name).map(|k| k.ty.clone()) else { return };
                let memory = self.e.pool.leaf(Leaf::Memory);
                let term = self.e.pool.app(App::Load { sort, bytes }, &[memory, address]);
                (term, ty, Quantity::Cell { address, sort, bytes, at_entry: true })
            }
            _ => {
                let body = &self.task.graph.bodies[class];
                let Some(v) = observable::find_var(body, name, 0) else { return };
                let var = body.var(v);
                let (VarKind::Param, Some(sort)) = (var.kind, var.sort) else { return };
                let (name, ty) = (var.name.clone(), var.ty.clone());
                (self.e.pool.leaf(Leaf::Param { name: name.clone(), sort }), ty, Quantity::Parameter(name))
            }
        };
        if point.kind == Kind::Loop || !is_countable(&ty) {
            return;
        }
        let val = Val { term, causes: Default::default(), guards: Default::default() };
        if let Some(k) = self.as_known(class, ty, val) {
            known.insert(old.clone(), k);
            self.quantities.insert(old, quantity);
        }
    }

    /// Adds the entry values of parameters that hold something else at the point.
    fn known_parameters(&mut self, class: ClassId, point: &Point, known: &mut BTreeMap<String, Known>) {
        let graph = self.task.graph;
        let single = ClassSet::single(class);
        let mut count = 0;
        for s in observable::at(graph, point.kind) {
            let Observable::Variable { name, ordinal: 0 } = &s else { continue };
            let Some(v) = observable::find_var(&graph.bodies[class], name, 0) else { continue };
            let var = graph.bodies[class].var(v);
            let (ty, Some(sort)) = (var.ty.clone(), var.sort) else { continue };
            if var.kind != VarKind::Param || !is_countable(&ty) || count >= MAX_PARAMETERS {
                continue;
            }
            let entry = self.e.pool.leaf(Leaf::Param { name: name.clone(), sort });
            let values = observable::values_at(&mut self.e, &s, point, &single);
            if values.iter().all(|(_, v)| v.term == entry) {
                continue;
            }
            let val = Val { term: entry, causes: Default::default(), guards: Default::default() };
            if let Some(k) = self.as_known(class, ty, val) {
                let old = format!("\\old({name})");
                known.insert(old.clone(), k);
                self.quantities.insert(old, Quantity::Parameter(name.clone()));
                count += 1;
            }
        }
    }

    /// The places of a class that mean the same in all versions, those that it writes first.
    fn accesses(&mut self, class: ClassId) -> Vec<Access> {
        if let Some(found) = self.classes.accessed.get(&class) {
            return found
                .iter()
                .map(|&(read, address, bytes, sort)| Access { read, address, bytes, sort })
                .collect();
        }
        let graph = self.task.graph;
        let single = ClassSet::single(class);
        let mut found: BTreeSet<Access> = BTreeSet::new();
        let mut looked_at = 0;
        for node in self.e.flow.classes[class].rpo.clone() {
            let (addr, access, read) = match &graph.node(node).instr {
                Instr::Load { addr, access, .. } if !access.volatile => (addr, access, true),
                Instr::Store { addr, access, .. } if !access.volatile => (addr, access, false),
                _ => continue,
            };
            looked_at += 1;
            if looked_at > MAX_ACCESSES || self.e.is_exhausted() {
                break;
            }
            for (_, v) in self.e.expr(addr, node, &single) {
                if self.is_stable(v.term) {
                    let sort = if access.sort == Sort::Bool { Sort::Bv(8) } else { access.sort };
                    found.insert(Access { read, address: v.term, bytes: access.bytes, sort });
                }
            }
        }
        let mut seen = BTreeSet::new();
        let found: Vec<Access> = found.into_iter().filter(|a| seen.insert((a.address, a.bytes))).collect();
        self.classes
            .accessed
            .insert(class, found.iter().map(|a| (a.read, a.address, a.bytes, a.sort)).collect());
        found
    }

    /// The places that the one class of a task writes, as subjects.
    pub(in crate::invariant) fn named_cells(&mut self) -> Vec<Observable> {
        let written: Vec<Access> =
            self.accesses(ClassId::ONLY).into_iter().filter(|a| !a.read).take(MAX_CELLS).collect();
        let subject = |a: Access| {
            let name = self.cell_name(a.address, a.sort, a.bytes)?;
            Some(Observable::Cell { name: name.into(), address: a.address, sort: a.sort, bytes: a.bytes })
        };
        written.into_iter().filter_map(subject).collect()
    }

    /// The scalar members of the records that the parameters of a class lead to, as subjects.
    pub(in crate::invariant) fn members(&mut self, class: ClassId) -> Vec<Observable> {
        const MOST: usize = 12;
        let body = self.task.graph.bodies[class].clone();
        let unit = self.task.units[class].clone();
        let bits = self.task.pointer_bits;
        let mut found = Vec::new();
        for var in body.params.iter().map(|p| body.var(*p)) {
            let (CType::Pointer(to), Some(sort)) = (&var.ty, var.sort) else { continue };
            let CType::Record(id) = **to else { continue };
            let Some(record) = unit.records.get(id.0 as usize).filter(|r| !r.is_union) else { continue };
            for field in record.fields.iter().filter(|f| f.bits.is_none() && is_countable(&f.ty)) {
                let (Some(sort_of), Some(bytes)) = (field.ty.sort(bits), unit.value_bytes(&field.ty)) else {
                    continue;
                };
                let base = self.e.pool.leaf(Leaf::Param { name: var.name.clone(), sort });
                let offset = self.e.pool.bv(bits, i128::from(field.offset));
                let address = self.e.pool.op(Op::Add, &[base, offset]);
                if found.len() < MOST
                    && let Some(name) = self.cell_name(address, sort_of, bytes)
                {
                    found.push(Observable::Cell { name: name.into(), address, sort: sort_of, bytes });
                }
            }
        }
        found
    }

    /// The type of a quantity at the exit of a class.
    pub(in crate::invariant) fn quantity_type(&self, class: ClassId, name: &str) -> Option<CType> {
        match self.quantities.get(name)? {
            Quantity::Memory => None,
            Quantity::Parameter(x) => {
                let body = &self.task.graph.bodies[class];
                observable::find_var(body, x, 0).map(|v| body.var(v).ty.clone())
            }
            Quantity::Cell { address, sort, bytes, .. } => {
                let naming = self.namings.get(class.index())?;
                c_text::render_lvalue(&self.e.pool, *address, *sort, *bytes, naming).map(|n| n.ty)
            }
        }
    }

    /// What a quantity is when a run of a class starts, or has ended.
    pub(in crate::invariant) fn quantity_at_exit(
        &self,
        class: ClassId,
        name: &str,
        run: &Run,
        old: bool,
    ) -> Option<Const> {
        let input = run.input_of(old);
        let entry = self.entry_of(class, &input);
        match self.quantities.get(name)? {
            Quantity::Memory => None,
            Quantity::Parameter(_) => match self.argument(class, name, &input)? {
                Value::Const(c) => Some(c),
                Value::Pointer { object, offset } => {
                    self.token(&Target::Object { identity: Identity::Input(object), offset })
                }
                Value::Global { symbol, offset } => {
                    self.token(&Target::Object { identity: Identity::Global(symbol), offset })
                }
                Value::Function(_) => None,
            },
            Quantity::Cell { address, sort, bytes, at_entry } => {
                let (identity, offset) = entry.place(*address)?;
                if *at_entry {
                    return match entry.at_entry(&identity, offset, *sort, *bytes)? {
                        cell_value::Known::Number(c) => Some(c),
                        cell_value::Known::Place(identity, offset) => {
                            self.token(&Target::Object { identity, offset })
                        }
                    };
                }
                let outcome = if old { &run.old } else { &run.new };
                let program = &self.task.programs[class];
                match held(&interp::final_object((program, outcome), &identity)?, offset, *sort, *bytes)? {
                    CellValue::Const(c) => Some(c),
                    CellValue::Target(target) => self.token(&target),
                }
            }
        }
    }

    /// What a quantity is when a run arrives somewhere.
    pub(in crate::invariant) fn quantity_here(
        &self,
        class: ClassId,
        name: &str,
        input: &interp::Input,
        state: &mut Observation,
    ) -> Option<Const> {
        match self.quantities.get(name)? {
            Quantity::Memory => None,
            Quantity::Parameter(_) => state.value_of(&self.argument(class, name, input)?),
            Quantity::Cell { address, sort, bytes, at_entry } => {
                let entry = self.entry_of(class, input);
                let (identity, offset) = entry.place(*address)?;
                if !*at_entry {
                    return state.load(&as_value(&identity, offset)?, *sort, *bytes);
                }
                match entry.at_entry(&identity, offset, *sort, *bytes)? {
                    cell_value::Known::Number(c) => Some(c),
                    cell_value::Known::Place(identity, offset) => {
                        state.value_of(&as_value(&identity, offset)?)
                    }
                }
            }
        }
    }

    fn argument(&self, class: ClassId, name: &str, input: &interp::Input) -> Option<Value> {
        let Quantity::Parameter(x) = self.quantities.get(name)? else { return None };
        let body = &self.task.graph.bodies[class];
        let position = body.params.iter().position(|p| body.var(*p).name == *x)?;
        input.arguments.get(position).cloned()
    }

    fn entry_of<'e>(&'e self, class: ClassId, input: &'e interp::Input) -> Entry<'e> {
        let bodies = &self.task.graph.bodies;
        let newest = bodies.last().unwrap_or(&bodies[class]);
        Entry {
            pool: &self.e.pool,
            input,
            program: &self.task.programs[class],
            bodies: [&bodies[class], newest],
        }
    }

    /// A number that stands for a place: equal for equal ones only, and never zero.
    fn token(&self, target: &Target) -> Option<Const> {
        let Target::Object { identity, offset } = target else { return None };
        let hash = blake3::hash(format!("{identity:?}").as_bytes());
        let bytes: [u8; 4] = hash.as_bytes()[..4].try_into().ok()?;
        let base = i128::from(u32::from_le_bytes(bytes) | 1) << 20;
        Some(Const::bv(self.task.pointer_bits, base + i128::from(*offset)))
    }
}

/// A place as an input names it.
fn as_value(identity: &Identity, offset: i64) -> Option<Value> {
    match identity {
        Identity::Global(symbol) => Some(Value::Global { symbol: symbol.clone(), offset }),
        Identity::Input(object) => Some(Value::Pointer { object: *object, offset }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::ObjectId;

    #[test]
    fn a_place_has_the_value_that_an_input_gives_it() {
        let global = as_value(&Identity::Global("g".into()), 4);
        assert_eq!(global, Some(Value::Global { symbol: "g".into(), offset: 4 }));
        let given = as_value(&Identity::Input(ObjectId(2)), -1);
        assert_eq!(given, Some(Value::Pointer { object: ObjectId(2), offset: -1 }));
        assert_eq!(as_value(&Identity::Allocated(0), 0), None);
        assert_eq!(as_value(&Identity::Result, 0), None);
    }
}
