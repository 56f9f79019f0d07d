//! One input for two versions whose parameters or layouts differ.
//!
//! An input is made for the newer version. The older one gets its arguments by the names of the
//! parameters, as facts do; where a record is laid out otherwise, the same bytes mean something
//! else, and the runs say nothing.

use crate::interp::{Input, Program, Value};
use crate::ir::{CType, Const, Function, Record, Unit};

/// Returns the arguments of the older version, if they are not those of the newer one.
pub(super) fn arguments(old: &Function, new: &Function, given: &[Value]) -> Option<Vec<Value>> {
    let names = |f: &Function| f.params.iter().map(|p| f.var(*p).name.clone()).collect::<Vec<_>>();
    let (theirs, ours) = (names(old), names(new));
    let is_same_set = theirs.len() == ours.len() && !theirs.iter().all(|n| ours.contains(n));
    if theirs == ours || is_same_set {
        // Parameters that were only renamed keep their places.
        return None;
    }
    let argument = |name: &std::sync::Arc<str>| {
        let position = ours.iter().position(|n| n == name);
        position.and_then(|i| given.get(i).cloned()).unwrap_or(Value::Const(Const::bv(64, 0)))
    };
    let zero = |v: Value, p: &crate::ir::VarId| match (&v, old.var(*p).sort) {
        // What only the older version takes is zero.
        (Value::Const(c), Some(sort)) if c.sort() != sort => Const::zero(sort).map_or(v, Value::Const),
        _ => v,
    };
    Some(theirs.iter().zip(&old.params).map(|(name, p)| zero(argument(name), p)).collect())
}

/// Whether the records in an input's objects are laid out alike in both versions.
pub(super) fn same_layouts(old: &Program, new: &Program, entry: (&str, &str), input: &Input) -> bool {
    let (Some(old), Some(new)) = (old.unit_of(entry.0), new.unit_of(entry.1)) else { return true };
    std::sync::Arc::ptr_eq(old, new) || input.objects.iter().all(|o| same_layout(&o.ty, old, new, 0))
}

fn same_layout(ty: &CType, old: &Unit, new: &Unit, depth: usize) -> bool {
    match ty {
        _ if depth > 8 => true,
        CType::Array(element, _) => same_layout(element, old, new, depth + 1),
        CType::Record(id) => {
            let Some(r) = new.records.get(id.0 as usize) else { return true };
            let named = |o: &&Record| o.name == r.name && o.is_union == r.is_union && !r.name.is_empty();
            let Some(before) = old.records.iter().find(named) else { return true };
            before.size == r.size
                && r.fields.iter().all(|f| {
                    let there = before.fields.iter().find(|b| b.name == f.name);
                    there.is_none_or(|b| (b.offset, b.bits) == (f.offset, f.bits))
                        && same_layout(&f.ty, old, new, depth + 1)
                })
        }
        _ => true,
    }
}
