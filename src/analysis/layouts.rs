//! Whether the structures that a function uses are laid out in the same way in two versions.
//!
//! Where nothing else changed, what differs between the versions is where members lie: no difference
//! of what the function does, but one that bytes cannot be compared across.

use super::lineage::Member;
use crate::ir::{CType, Record, RecordId, Unit};
use std::collections::BTreeSet;

/// How far members and pointers are followed from the types of a function's variables.
const DEPTH: usize = 4;

/// Whether some structure that a function's variables are of, or lead to, has other members, or the same
/// ones elsewhere.
pub(super) fn differ(old: &Member, new: &Member) -> bool {
    let named = |m: &Member| {
        let mut found = BTreeSet::new();
        for var in &m.inlined.vars {
            collect(&m.unit, &var.ty, DEPTH, &mut found);
        }
        found
    };
    let (before, after) = (named(old), named(new));
    before.iter().any(|&x| {
        let a = old.unit.record(RecordId(x));
        let same_name = |y: &&u32| new.unit.record(RecordId(**y)).name == a.name && !a.name.is_empty();
        after.iter().find(same_name).is_some_and(|&y| !is_same(a, new.unit.record(RecordId(y))))
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
            for field in &unit.record(*id).fields {
                collect(unit, &field.ty, depth - 1, found);
            }
        }
        _ => {}
    }
}
