//! Members of structures as variables: behind pointers that are parameters (`p->n`, `p->q->n`), and of objects of the
//! file (`g.n`).
//!
//! Only what the function, or what it calls in its unit, names is looked at, and only numbers, truth values and
//! pointers that lie in bytes of their own. A member behind a pointer has no value where the pointer is null, leads to
//! an object of the file, or to one whose life has ended; rows without a value say nothing, as Daikon's `nonsensical`.
//!
//! Of what lies behind pointers symbolic execution knows nothing: what is said of it is likely at best, unless the
//! engine proves it.

use super::subject::{Cell, Looked, Source, Subject, is_kept, kind_of};
use crate::infer::{Kind, Variable};
use crate::interp::{FinalObject, Identity, Input, ObjectId, ObjectInit, Outcome, Storage, Target, Value};
use crate::ir::{CType, RecordId, Unit};
use crate::quantify::followed;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pointers that are followed one behind the other.
const MOST_POINTERS: usize = 2;
/// Structures inside one another.
const MOST_NESTED: usize = 2;
/// Members of one parameter or object, and of all.
const MOST_OF_ONE: usize = 12;
const MOST: usize = 32;

/// Where a member is: from an object on by way of pointers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessPath {
    /// Offsets of the pointers, each in the object that the one before leads to.
    pub pointers: Vec<u64>,
    /// In the last object.
    pub offset: u64,
}

/// A member by its name behind that of the object.
struct Member {
    name: String,
    way: AccessPath,
    kind: Kind,
    bytes: u64,
}

/// The members to look at: of the entry, and of the exit. Cost: linear in the code that is followed and in the
/// structures' members.
pub(super) fn of(subject: &Subject) -> (Vec<Looked>, Vec<Looked>) {
    let (f, unit) = (subject.function, subject.unit);
    let all = followed(f, unit).into_iter().flat_map(|g| &g.records.members);
    let named: BTreeSet<(RecordId, Arc<str>)> = all.map(|(id, name, _)| (*id, name.clone())).collect();
    let finder = Finder { unit, named };
    let (mut entry, mut exit) = (Vec::new(), Vec::new());
    let looked = |name: String, m: &Member, source: Source| Looked {
        variable: Variable { name, kind: m.kind },
        source,
        bytes: m.bytes,
    };
    for (k, p) in f.params.iter().enumerate() {
        let var = f.var(*p);
        let Some(CType::Record(id)) = var.ty.target() else { continue };
        for m in finder.all(*id, MOST_POINTERS - 1) {
            let behind = |is_old: bool| Source::Behind { parameter: k, way: m.way.clone(), is_old };
            let name = format!("{}->{}", var.name, m.name);
            entry.push(looked(name.clone(), &m, behind(true)));
            // What the name means at the exit is another object where the parameter was set.
            if is_kept(f, *p) {
                exit.push(looked(name.clone(), &m, behind(false)));
                exit.push(looked(format!("\\old({name})"), &m, behind(true)));
            }
        }
    }
    for g in subject.objects().filter(|g| *g.name == *g.symbol) {
        let CType::Record(id) = &g.ty else { continue };
        for m in finder.all(*id, 0) {
            let (symbol, offset) = (g.symbol.clone(), m.way.offset);
            let part = |is_old: bool| Source::Part { symbol: symbol.clone(), offset, is_old };
            let name = format!("{}.{}", g.name, m.name);
            entry.push(looked(name.clone(), &m, part(true)));
            exit.push(looked(name.clone(), &m, part(false)));
            if !subject.is_initial {
                exit.push(looked(format!("\\old({name})"), &m, part(true)));
            }
        }
    }
    entry.truncate(MOST);
    exit.truncate(2 * MOST);
    (entry, exit)
}

struct Finder<'u> {
    unit: &'u Unit,
    named: BTreeSet<(RecordId, Arc<str>)>,
}

impl Finder<'_> {
    /// The members of a structure, by way of so many pointers at most.
    fn all(&self, id: RecordId, pointers: usize) -> Vec<Member> {
        let mut found = Vec::new();
        self.collect(id, (String::new(), AccessPath::default()), (pointers, MOST_NESTED), &mut found);
        found
    }

    fn collect(
        &self,
        id: RecordId,
        (prefix, base): (String, AccessPath),
        (pointers, nested): (usize, usize),
        found: &mut Vec<Member>,
    ) {
        let Some(record) = self.unit.records.get(id.0 as usize) else { return };
        if record.is_union || record.invented {
            return;
        }
        let is_named = |name: &Arc<str>| self.named.contains(&(id, name.clone()));
        for field in record.fields.iter().filter(|f| f.bits.is_none() && is_named(&f.name)) {
            if field.name.is_empty() || found.len() >= MOST_OF_ONE {
                continue;
            }
            let name = format!("{prefix}{}", field.name);
            let way = AccessPath { offset: base.offset + field.offset, ..base.clone() };
            if let Some(kind) = kind_of(&field.ty) {
                let bytes = self.unit.size_of(&field.ty).unwrap_or(0);
                found.push(Member { name: name.clone(), way: way.clone(), kind, bytes });
            }
            match &field.ty {
                CType::Record(inner) if nested > 0 => {
                    self.collect(*inner, (format!("{name}."), way), (pointers, nested - 1), found);
                }
                CType::Pointer(to) if pointers > 0 => {
                    let CType::Record(inner) = &**to else { continue };
                    let mut steps = way.pointers;
                    steps.push(way.offset);
                    let behind = AccessPath { pointers: steps, offset: 0 };
                    self.collect(*inner, (format!("{name}->"), behind), (pointers - 1, nested), found);
                }
                _ => {}
            }
        }
    }
}

/// A member of what a pointer leads to: as the run found it, or as it left it.
pub(super) fn behind(
    cell: Cell,
    (pointer, way): (&Value, &AccessPath),
    input: &Input,
    outcome: Option<&Outcome>,
) -> Option<i128> {
    let Value::Pointer { object, offset } = pointer else { return None };
    match outcome {
        None => {
            let find = |id: ObjectId| input.objects.iter().find(|o| o.id == id);
            let (mut at, mut base) = (find(*object)?, u64::try_from(*offset).ok()?);
            for step in &way.pointers {
                let to = at.pointers.iter().find(|(o, _)| Some(*o) == base.checked_add(*step));
                let Some((_, Value::Pointer { object, offset })) = to else { return None };
                (at, base) = (find(*object)?, u64::try_from(*offset).ok()?);
            }
            given(cell, at, base.checked_add(way.offset)?)
        }
        Some(outcome) => {
            let find =
                |identity: &Identity| outcome.left.memory.iter().find(|o| o.identity == *identity && o.live);
            let id = Identity::Input(*object);
            let (mut at, mut base) = (find(&id)?, u64::try_from(*offset).ok()?);
            for step in &way.pointers {
                let to = at.pointers.iter().find(|p| Some(p.offset) == base.checked_add(*step))?;
                let Target::Object { identity, offset } = &to.target else { return None };
                (at, base) = (find(identity)?, u64::try_from(*offset).ok()?);
            }
            left(cell, at, base.checked_add(way.offset)?)
        }
    }
}

/// A member of an object as an input gives it.
pub(super) fn given(cell: Cell, o: &ObjectInit, offset: u64) -> Option<i128> {
    if cell.0 == Kind::Pointer
        && let Some((_, to)) = o.pointers.iter().find(|(at, _)| *at == offset)
    {
        return Some(match to {
            Value::Const(c) => i128::from(c.to_bits() != 0),
            Value::Pointer { .. } | Value::Function(_) | Value::Global { .. } => 1,
        });
    }
    bytes_of(cell, (&o.bytes, &o.undefined), o.pointers.iter().map(|(at, _)| *at), offset)
}

/// A member of an object as a run left it.
pub(super) fn left(cell: Cell, o: &FinalObject, offset: u64) -> Option<i128> {
    if cell.0 == Kind::Pointer && o.pointers.iter().any(|p| p.offset == offset) {
        return Some(1);
    }
    bytes_of(cell, (&o.bytes, &o.undefined), o.pointers.iter().map(|p| p.offset), offset)
}

/// Bytes without a pointer in them as a value.
fn bytes_of(
    cell: Cell,
    (bytes, undefined): (&[u8], &[bool]),
    mut pointers: impl Iterator<Item = u64>,
    offset: u64,
) -> Option<i128> {
    /// Of the longest pointer.
    const POINTER: u64 = 8;
    let end = offset.checked_add(cell.1)?;
    if pointers.any(|at| at < end && offset < at.saturating_add(POINTER)) {
        return None;
    }
    let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
    if undefined.get(range.clone()).is_some_and(|u| u.contains(&true)) {
        return None;
    }
    super::suite::read(cell, bytes.get(range)?)
}

/// Whether an object of an input is a global's content.
pub(super) fn is_of(o: &ObjectInit, symbol: &Arc<str>) -> bool {
    matches!(&o.storage, Storage::Global(s) if s == symbol)
}
