//! An input of one version as the other's types lay it out: objects are rows of named members, and bytes only
//! in the end.

use crate::interp::{Input, ObjectId, ObjectInit, Value};
use crate::ir::{CType, Function, Record, Unit, retyped};
use std::collections::BTreeSet;

/// How far members and pointers are followed from the types of a function's variables.
const DEPTH: usize = 4;

/// Whether some structure that a function's variables are of, or lead to, has other members in the other
/// version, or the same ones elsewhere.
pub fn layouts_differ((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> bool {
    let named = |f: &Function, unit: &Unit| {
        let mut found = BTreeSet::new();
        f.vars.iter().for_each(|var| collect(unit, &var.ty, DEPTH, &mut found));
        found
    };
    let (before, after) = (named(f, old), named(g, new));
    let records = |unit: &'_ Unit, found: BTreeSet<u32>| -> Vec<Record> {
        found.iter().filter_map(|&id| unit.records.get(id as usize).cloned()).collect()
    };
    let (before, after) = (records(old, before), records(new, after));
    before.iter().any(|a| {
        let same_name = |b: &&Record| b.name == a.name && !a.name.is_empty();
        after.iter().find(same_name).is_some_and(|b| !is_same(a, b))
    })
}

fn is_same(a: &Record, b: &Record) -> bool {
    let members =
        |r: &Record| -> Vec<_> { r.fields.iter().map(|f| (f.name.clone(), f.offset, f.bits)).collect() };
    a.size == b.size && members(a) == members(b)
}

fn collect(unit: &Unit, ty: &CType, depth: usize, found: &mut BTreeSet<u32>) {
    match ty {
        _ if depth == 0 => {}
        CType::Pointer(to) | CType::Array(to, _) => collect(unit, to, depth - 1, found),
        CType::Record(id) if found.insert(id.0) => {
            for field in unit.records.get(id.0 as usize).into_iter().flat_map(|r| &r.fields) {
                collect(unit, &field.ty, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// The units of an input and of the version that is to have it.
pub(in crate::invariant) struct Relaying<'a> {
    pub from: &'a Unit,
    pub to: &'a Unit,
}

impl Relaying<'_> {
    /// The objects as the other version lays them out, each member with the value that it has; members that
    /// only that version has are zero. `None`: some value has no place there, or bytes overlap.
    pub fn objects(&self, input: &Input) -> Option<Vec<ObjectInit>> {
        input.objects.iter().map(|o| self.object(o, input)).collect()
    }

    fn object(&self, o: &ObjectInit, input: &Input) -> Option<ObjectInit> {
        // By their places, so that those of a member are found.
        let sorted;
        let o = match o.pointers.is_sorted_by_key(|(at, _)| *at) {
            true => o,
            false => {
                let mut pointers = o.pointers.clone();
                pointers.sort_by_key(|(at, _)| *at);
                sorted = ObjectInit { pointers, ..o.clone() };
                &sorted
            }
        };
        let ty = retyped(&o.ty, self.from, self.to);
        let whole = self.from.size_of(&o.ty).filter(|n| *n == o.bytes.len() as u64);
        let mut made = ObjectInit {
            ty: ty.clone(),
            bytes: vec![0; self.to.size_of(&ty).unwrap_or(0) as usize],
            undefined: if o.undefined.is_empty() {
                Vec::new()
            } else {
                vec![false; self.to.size_of(&ty)? as usize]
            },
            pointers: Vec::new(),
            ..o.clone()
        };
        if whole.is_none() || matches!(ty, CType::Void) {
            // What nothing is known of is the same bytes.
            (made.bytes, made.undefined) = (o.bytes.clone(), o.undefined.clone());
            made.pointers = self.pointers(o.pointers.iter(), input, 0, 0)?;
            return Some(made);
        }
        self.copy((o, &o.ty), (&mut made, &ty), input)?;
        made.pointers.sort_by_key(|(at, _)| *at);
        Some(made)
    }

    fn pointers<'p>(
        &self,
        pointers: impl Iterator<Item = &'p (u64, Value)>,
        input: &Input,
        from: u64,
        to: u64,
    ) -> Option<Vec<(u64, Value)>> {
        pointers.map(|(at, v)| Some((at - from + to, self.value(v, input)?))).collect()
    }

    /// A value of the input: pointers into objects lead to the same members.
    pub fn value(&self, v: &Value, input: &Input) -> Option<Value> {
        match v {
            Value::Pointer { object, offset } => {
                let offset = self.offset(*object, *offset, input)?;
                Some(Value::Pointer { object: *object, offset })
            }
            other => Some(other.clone()),
        }
    }

    fn offset(&self, object: ObjectId, offset: i64, input: &Input) -> Option<i64> {
        let o = input.objects.iter().find(|o| o.id == object)?;
        match (u64::try_from(offset), retyped(&o.ty, self.from, self.to)) {
            (Ok(0), _) | (_, CType::Void) => Some(offset),
            (Ok(at), ty) => i64::try_from(self.moved(&o.ty, &ty, at)?).ok(),
            (Err(_), _) => None,
        }
    }

    /// Where a byte of a type lies in the other version's type.
    fn moved(&self, ty: &CType, theirs: &CType, at: u64) -> Option<u64> {
        match (ty, theirs) {
            _ if at == 0 => Some(0),
            (CType::Array(x, _), CType::Array(y, _)) => {
                let (size, their_size) = (self.from.size_of(x)?, self.to.size_of(y)?);
                Some(at / size * their_size + self.moved(x, y, at % size)?)
            }
            (CType::Record(x), CType::Record(y)) => {
                let (a, b) = (self.from.records.get(x.0 as usize)?, self.to.records.get(y.0 as usize)?);
                if at == a.size {
                    return Some(b.size);
                }
                let inside = |f: &&crate::ir::Field| {
                    let size = self.from.size_of(&f.ty).unwrap_or(0);
                    (f.offset..f.offset.saturating_add(size)).contains(&at)
                };
                let field = a.fields.iter().find(inside)?;
                let there = b.fields.iter().find(|g| g.name == field.name)?;
                Some(there.offset + self.moved(&field.ty, &there.ty, at - field.offset)?)
            }
            _ => (self.from.size_of(ty) == self.to.size_of(theirs)).then_some(at),
        }
    }

    fn copy(
        &self,
        (o, ty): (&ObjectInit, &CType),
        (made, theirs): (&mut ObjectInit, &CType),
        input: &Input,
    ) -> Option<()> {
        let (x, y, count) = match (ty, theirs) {
            (CType::Array(x, n), CType::Array(y, m)) => (&**x, &**y, (*n)?.min((*m)?)),
            _ => (ty, theirs, 1),
        };
        let (size, their_size) = (self.from.size_of(x)?, self.to.size_of(y)?);
        if count == 0 {
            return Some(());
        }
        // What an element is made of is found once.
        let mut moves = Vec::new();
        self.moves((x, 0), (y, 0), &mut moves)?;
        if let [Move { from: 0, to: 0, bytes }] = *moves
            && bytes == size
            && bytes == their_size
        {
            return self.raw((o, made), Move { from: 0, to: 0, bytes: size.checked_mul(count)? }, input);
        }
        for i in 0..count {
            for &Move { from, to, bytes } in &moves {
                let here = Move { from: from + i * size, to: to + i * their_size, bytes };
                self.raw((o, made), here, input)?;
            }
        }
        Some(())
    }

    /// What becomes of the bytes of a type, scalar by scalar; those that stay beside each other are one move.
    fn moves(
        &self,
        (ty, at): (&CType, u64),
        (theirs, to): (&CType, u64),
        found: &mut Vec<Move>,
    ) -> Option<()> {
        match (ty, theirs) {
            (CType::Array(x, n), CType::Array(y, m)) => {
                let (size, their_size) = (self.from.size_of(x)?, self.to.size_of(y)?);
                (0..(*n)?.min((*m)?))
                    .try_for_each(|i| self.moves((x, at + i * size), (y, to + i * their_size), found))
            }
            (CType::Record(x), CType::Record(y)) => {
                let (a, b) = (self.from.records.get(x.0 as usize)?, self.to.records.get(y.0 as usize)?);
                let bit_fields = a.fields.iter().chain(&b.fields).any(|f| f.bits.is_some());
                if a.is_union || bit_fields {
                    // Members that share bytes are copied together, where they lie alike.
                    return is_same(a, b).then(|| Move { from: at, to, bytes: a.size }.add_to(found));
                }
                for theirs in &b.fields {
                    if let Some(ours) = a.fields.iter().find(|f| f.name == theirs.name) {
                        self.moves((&ours.ty, at + ours.offset), (&theirs.ty, to + theirs.offset), found)?;
                    }
                }
                Some(())
            }
            (CType::Record(_) | CType::Array(..), _) | (_, CType::Record(_) | CType::Array(..)) => None,
            _ => {
                let size = self.from.size_of(ty).filter(|n| self.to.size_of(theirs) == Some(*n))?;
                let alike = ty.is_pointer() == theirs.is_pointer()
                    && matches!(ty, CType::Float(_)) == matches!(theirs, CType::Float(_));
                alike.then(|| Move { from: at, to, bytes: size }.add_to(found))
            }
        }
    }

    fn raw(
        &self,
        (o, made): (&ObjectInit, &mut ObjectInit),
        Move { from, to, bytes }: Move,
        input: &Input,
    ) -> Option<()> {
        let (at, into, n) = (from as usize, to as usize, bytes as usize);
        made.bytes.get_mut(into..into.checked_add(n)?)?.copy_from_slice(o.bytes.get(at..at.checked_add(n)?)?);
        if !o.undefined.is_empty() {
            made.undefined.get_mut(into..into + n)?.copy_from_slice(o.undefined.get(at..at + n)?);
        }
        let first = o.pointers.partition_point(|(p, _)| *p < from);
        let within = o.pointers.iter().skip(first).take_while(|(p, _)| *p < from + bytes);
        made.pointers.extend(self.pointers(within, input, from, to)?);
        Some(())
    }
}

/// Bytes that one version has at another place than the other.
#[derive(Clone, Copy)]
struct Move {
    from: u64,
    to: u64,
    bytes: u64,
}

impl Move {
    /// Adds it to others, the last of which goes on where this one continues it.
    fn add_to(self, found: &mut Vec<Move>) {
        match found.last_mut() {
            Some(last) if (last.from + last.bytes, last.to + last.bytes) == (self.from, self.to) => {
                last.bytes += self.bytes;
            }
            _ => found.push(self),
        }
    }
}

#[cfg(test)]
mod tests;
