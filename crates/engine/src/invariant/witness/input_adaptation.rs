//! One input for two versions whose parameters or layouts differ.
//!
//! An input is made for the newer version. The older one gets its arguments by the names of the
//! parameters, as facts do, converted to their types, as a call converts them; where a record is laid
//! out otherwise, the same bytes mean something else, and the runs say nothing.

use crate::interp::{Input, ObjectInit, Program, Storage, Value};
use crate::invariant::witness::relaying::Relaying;
use crate::ir::{CType, Const, Function, Record, Sort, Unit, VarId};
use std::sync::Arc;

/// What the older version is called with.
pub(in crate::invariant) struct Passed {
    pub(in crate::invariant) arguments: Vec<Value>,
    /// They are the numbers that the newer version gets: none was cut off or made up.
    pub(in crate::invariant) exact: bool,
}

/// Returns the arguments of the older version: those of parameters of the same name, converted as a
/// call converts them; a number that only the older version takes is zero. `None`: no argument means
/// the same in both, because a parameter is something else now, or others took its place.
pub(in crate::invariant) fn arguments(
    (old, before): (&Function, &Unit),
    (new, now): (&Function, &Unit),
    given: &[Value],
) -> Option<Passed> {
    let mut exact = true;
    let names = |f: &Function| f.params.iter().map(|p| f.var(*p).name.clone()).collect::<Vec<_>>();
    let (theirs, ours) = (names(old), names(new));
    let same_place =
        |k: usize| theirs[k] == ours[k] || !ours.contains(&theirs[k]) && !theirs.contains(&ours[k]);
    // Parameters that were only renamed keep their places.
    let by_place = theirs.len() == ours.len() && (0..ours.len()).all(same_place);
    let replaced = |a: &[_], b: &[_]| a.iter().any(|n| !b.contains(n));
    if !by_place && replaced(&theirs, &ours) && replaced(&ours, &theirs) {
        return None;
    }
    let position = |k: usize| if by_place { Some(k) } else { ours.iter().position(|n| *n == theirs[k]) };
    let mut argument = |(k, p): (usize, &VarId)| {
        let to = old.var(*p);
        let from = position(k).and_then(|i| Some((given.get(i)?, &new.var(*new.params.get(i)?).ty)));
        match from {
            Some((value, ty)) => {
                let alike = !ty.is_pointer() || same_target(&to.ty, ty, before, now, 0);
                let theirs = converted(value, ty, &to.ty, to.sort).filter(|_| alike)?;
                exact &= is_same_number((value, ty), (&theirs, &to.ty));
                Some(theirs)
            }
            None => {
                exact = false;
                Some(Value::Const(to.sort.filter(|_| !to.ty.is_pointer()).and_then(Const::zero)?))
            }
        }
    };
    let arguments = old.params.iter().enumerate().map(&mut argument).collect::<Option<_>>()?;
    Some(Passed { arguments, exact })
}

/// Whether a conversion to another width left an integer as it was.
fn is_same_number((value, from): (&Value, &CType), (theirs, to): (&Value, &CType)) -> bool {
    match (value, theirs) {
        (Value::Const(a), Value::Const(b)) if a.sort() != b.sort() => {
            crate::invariant::candidate::observed::number(*a, from)
                == crate::invariant::candidate::observed::number(*b, to)
        }
        _ => true,
    }
}

/// Whether pointers of two types lead to things of the same make; what is not known may be anything.
fn same_target(a: &CType, b: &CType, old: &Unit, new: &Unit, depth: usize) -> bool {
    use CType::{Array, Bool, Float, Function, Int, Opaque, Pointer, Record, Void};
    match (a, b) {
        _ if depth > 8 => true,
        (Pointer(a), Pointer(b)) | (Array(a, _), Array(b, _)) => same_target(a, b, old, new, depth + 1),
        (Void | Opaque { .. } | Function(_), _) | (_, Void | Opaque { .. } | Function(_)) => true,
        (Int { bits: x, .. }, Int { bits: y, .. }) => x == y,
        (Float(x), Float(y)) => x == y,
        (Record(x), Record(y)) => {
            let (Some(x), Some(y)) = (old.records.get(x.0 as usize), new.records.get(y.0 as usize)) else {
                return true;
            };
            let fields = |r: &crate::ir::Record| -> Vec<_> {
                r.fields.iter().map(|f| (f.name.clone(), f.offset)).collect()
            };
            x.name == y.name || x.size == 0 || y.size == 0 || x.size == y.size && fields(x) == fields(y)
        }
        (Bool, Bool) => true,
        _ => false,
    }
}

/// An argument as a parameter of another type takes it.
fn converted(value: &Value, from: &CType, to: &CType, sort: Option<Sort>) -> Option<Value> {
    let (Value::Const(c), Some(sort)) = (value, sort) else {
        return (from.is_pointer() == to.is_pointer()).then(|| value.clone());
    };
    if c.sort() == sort {
        return (c.sort().is_float() || from.is_pointer() == to.is_pointer()).then(|| value.clone());
    }
    let number = crate::invariant::candidate::observed::number(*c, from)?;
    let is_integer = |t: &CType| matches!(t, CType::Int { .. });
    match sort {
        Sort::Bv(bits) if is_integer(from) && is_integer(to) => Some(Value::Const(Const::bv(bits, number))),
        _ => None,
    }
}

/// Whether an input means the same in both versions: its pointers lead to functions and globals that
/// both have, the globals that it sets are of the same make, and the records in its objects are laid out
/// alike.
pub(in crate::invariant) fn same_meaning(
    old: &Program,
    new: &Program,
    entry: (&str, &str),
    input: &Input,
) -> bool {
    let (Some(old), Some(new)) = (old.unit_of(entry.0), new.unit_of(entry.1)) else { return true };
    let pointers = input.objects.iter().flat_map(|o| o.pointers.iter().map(|(_, v)| v));
    let results = input.calls.iter().map(|c| &c.result);
    let has = |unit: &Unit, v: &Value| match v {
        Value::Function(name) => unit.function(name).is_some(),
        Value::Global { symbol, .. } => unit.global(symbol).is_some(),
        Value::Const(_) | Value::Pointer { .. } => true,
    };
    Arc::ptr_eq(old, new)
        || input.arguments.iter().chain(results).chain(pointers).all(|v| has(old, v) == has(new, v))
            && input.objects.iter().all(|o| same_layout(&o.ty, old, new, 0) && same_global(o, old, new))
}

/// The objects of an input as the older version lays them out, where that has a place for every value and what
/// the input names is there, too.
pub(in crate::invariant) fn relaid(
    from: &Arc<Unit>,
    to: &Arc<Unit>,
    input: &Input,
) -> Option<Vec<ObjectInit>> {
    let pointers = input.objects.iter().flat_map(|o| o.pointers.iter().map(|(_, v)| v));
    let results = input.calls.iter().map(|c| &c.result);
    let writes = input.calls.iter().any(|c| !c.writes.is_empty());
    let named = |v: &Value| match v {
        Value::Function(name) => from.function(name).is_some() == to.function(name).is_some(),
        Value::Global { symbol, offset } => {
            *offset == 0 && from.global(symbol).is_some() == to.global(symbol).is_some()
        }
        Value::Const(_) | Value::Pointer { .. } => true,
    };
    let known = !writes && input.arguments.iter().chain(results).chain(pointers).all(named);
    let objects = if known { Relaying { from, to }.objects(input)? } else { return None };
    let is_there = |o: &ObjectInit| match &o.storage {
        Storage::Global(symbol) => to.global(symbol).is_none_or(|g| g.size == o.bytes.len() as u64),
        _ => true,
    };
    objects.iter().all(is_there).then_some(objects)
}

/// Whether an object is no global, or one of the same make in both versions, where both have it.
fn same_global(o: &ObjectInit, old: &Unit, new: &Unit) -> bool {
    let Storage::Global(symbol) = &o.storage else { return true };
    let both = old.global(symbol).zip(new.global(symbol));
    both.is_none_or(|(a, b)| a.size == b.size && same_target(&a.ty, &b.ty, old, new, 0))
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
                        && there.is_none_or(|b| same_target(&b.ty, &f.ty, old, new, depth))
                        && same_layout(&f.ty, old, new, depth + 1)
                })
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{array, global, int, integer, number, pointer, record, straight, unit};
    use crate::ir::{FloatKind, RecordId};

    type Params<'p> = &'p [(&'p str, CType)];

    /// What an older function is called with where the newer one gets 1, 2, ..., and whether that is the same.
    #[track_caller]
    fn check(old: Params, new: Params, expected: Option<(&[i128], bool)>) {
        let (f, g, unit) = (straight("f", old, &[]), straight("f", new, &[]), Unit::default());
        let given: Vec<Value> = (1..=new.len()).map(|k| number(k as i128)).collect();
        let passed = arguments((&f, &unit), (&g, &unit), &given);
        let passed = passed.map(|p| (p.arguments, p.exact));
        let expected = expected.map(|(all, exact)| (all.iter().map(|k| number(*k)).collect(), exact));
        assert_eq!(passed, expected);
    }

    #[test]
    fn arguments_go_by_the_names_of_parameters() {
        let p = |x| (x, int());
        check(&[p("a"), p("b")], &[p("b"), p("a")], Some((&[2, 1], true)));
        check(&[p("a")], &[p("x"), p("a")], Some((&[2], true)));
        check(&[p("a"), p("b")], &[p("b")], Some((&[0, 1], false)));
    }

    #[test]
    fn parameters_that_were_only_renamed_keep_their_places() {
        let p = |x| (x, int());
        check(&[p("a"), p("b")], &[p("a"), p("c")], Some((&[1, 2], true)));
        check(&[p("a"), p("b"), p("c")], &[p("b"), p("a"), p("c")], Some((&[2, 1, 3], true)));
        check(&[p("a"), p("b")], &[p("b"), p("c")], None);
        check(&[p("a")], &[p("b"), p("c")], None);
    }

    #[test]
    fn a_pointer_that_only_the_older_version_takes_is_nothing_that_we_know() {
        check(&[("a", int()), ("p", pointer(int()))], &[("a", int())], None);
    }

    #[test]
    fn numbers_are_converted_as_a_call_converts_them() {
        let to = |n: i128, from: CType, to: CType| {
            let sort = to.sort(64);
            converted(&Value::Const(Const::bv(32, n)), &from, &to, sort)
        };
        let value = |width, n| Some(Value::Const(Const::bv(width, n)));
        assert_eq!(to(-1, int(), integer(64, true)), value(64, -1));
        assert_eq!(to(-1, integer(32, false), integer(64, true)), value(64, 0xffff_ffff));
        assert_eq!(to(300, int(), integer(8, false)), value(8, 44));
        assert_eq!(to(1, int(), CType::Float(FloatKind::F64)), None);
        assert_eq!(to(1, int(), pointer(int())), None);
    }

    #[test]
    fn a_number_that_was_cut_off_is_another_one() {
        let (wide, narrow) = (integer(32, true), integer(8, true));
        let same = |n: i128| {
            let theirs = Value::Const(Const::bv(8, n));
            is_same_number((&Value::Const(Const::bv(32, n)), &wide), (&theirs, &narrow))
        };
        assert!(same(-1) && same(127) && !same(300));
    }

    #[test]
    fn pointers_mean_the_same_where_they_lead_to_the_same_make() {
        let of =
            |name: &str, size| unit(vec![record(name, &[("a", 0, int())], size)], Vec::new(), Vec::new());
        let (s, longer, t, other) = (of("s", 4), of("s", 8), of("t", 4), of("u", 12));
        let r = || pointer(CType::Record(RecordId(0)));
        let same = |a: &CType, b: &CType, x: &Unit, y: &Unit| same_target(a, b, x, y, 0);
        assert!(same(&r(), &r(), &s, &longer), "of one name");
        assert!(same(&r(), &r(), &s, &t), "of the same members");
        assert!(!same(&r(), &r(), &s, &other));
        assert!(same(&pointer(CType::Void), &r(), &s, &s), "it may be anything");
        assert!(!same(&pointer(int()), &r(), &s, &s));
        assert!(!same(&pointer(int()), &pointer(integer(8, true)), &s, &s));
        assert!(same(&pointer(int()), &pointer(integer(32, false)), &s, &s));
    }

    #[test]
    fn layouts_are_alike_where_common_members_lie_alike() {
        let of = |fields: &[(&str, u64, CType)], size| {
            unit(vec![record("s", fields, size)], Vec::new(), Vec::new())
        };
        let plain = of(&[("a", 0, int()), ("b", 4, int())], 8);
        let renamed = of(&[("a", 0, int()), ("c", 4, int())], 8);
        let swapped = of(&[("b", 0, int()), ("a", 4, int())], 8);
        let longer = of(&[("a", 0, int()), ("b", 4, int())], 16);
        let ty = array(CType::Record(RecordId(0)), 2);
        assert!(same_layout(&ty, &plain, &renamed, 0) && same_layout(&int(), &plain, &swapped, 0));
        assert!(!same_layout(&ty, &plain, &swapped, 0) && !same_layout(&ty, &plain, &longer, 0));
    }

    #[test]
    fn a_global_that_both_have_must_be_of_one_make() {
        let of = |ty: CType, size| unit(Vec::new(), vec![global("g", ty, size, Vec::new())], Vec::new());
        let (number, wide, pointing) = (of(int(), 4), of(integer(64, true), 8), of(pointer(int()), 4));
        let mut o = crate::by_hand::object(1, int(), &[0; 4], &[]);
        assert!(same_global(&o, &number, &wide), "an object on the heap is no global");
        o.storage = Storage::Global("g".into());
        assert!(same_global(&o, &number, &number) && same_global(&o, &number, &Unit::default()));
        assert!(!same_global(&o, &number, &wide) && !same_global(&o, &number, &pointing));
    }
}
