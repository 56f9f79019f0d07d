//! One input for two versions whose parameters or layouts differ.
//!
//! An input is made for the newer version. The older one gets its arguments by the names of the
//! parameters, as facts do, converted to their types, as a call converts them; where a record is laid
//! out otherwise, the same bytes mean something else, and the runs say nothing.

use crate::interp::{Input, Program, Value};
use crate::ir::{CType, Const, Function, Record, Sort, Unit, VarId};

/// Returns the arguments of the older version: those of parameters of the same name, converted as a
/// call converts them; what only the older version takes is zero. `None`: a parameter is a number in
/// one version and something else in the other, so that no argument means the same in both.
pub(super) fn arguments(old: &Function, new: &Function, given: &[Value]) -> Option<Vec<Value>> {
    let names = |f: &Function| f.params.iter().map(|p| f.var(*p).name.clone()).collect::<Vec<_>>();
    let (theirs, ours) = (names(old), names(new));
    // Parameters that were only renamed keep their places.
    let by_place = theirs.len() == ours.len() && !theirs.iter().all(|n| ours.contains(n));
    let position = |k: usize| if by_place { Some(k) } else { ours.iter().position(|n| *n == theirs[k]) };
    let argument = |(k, p): (usize, &VarId)| {
        let to = old.var(*p);
        let from = position(k).and_then(|i| Some((given.get(i)?, &new.var(*new.params.get(i)?).ty)));
        match from {
            Some((value, ty)) => converted(value, ty, &to.ty, to.sort),
            None => Some(Value::Const(to.sort.and_then(Const::zero).unwrap_or(Const::bv(64, 0)))),
        }
    };
    old.params.iter().enumerate().map(argument).collect()
}

/// An argument as a parameter of another type takes it.
fn converted(value: &Value, from: &CType, to: &CType, sort: Option<Sort>) -> Option<Value> {
    let (Value::Const(c), Some(sort)) = (value, sort) else {
        return (from.is_pointer() == to.is_pointer()).then(|| value.clone());
    };
    if c.sort() == sort {
        return (c.sort().is_float() || from.is_pointer() == to.is_pointer()).then(|| value.clone());
    }
    let number = super::templates::number(*c, from)?;
    let is_integer = |t: &CType| matches!(t, CType::Int { .. });
    match sort {
        Sort::Bv(bits) if is_integer(from) && is_integer(to) => Some(Value::Const(Const::bv(bits, number))),
        _ => None,
    }
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
