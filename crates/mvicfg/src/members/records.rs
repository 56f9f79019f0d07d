//! Which records of two units are laid out otherwise, and which of their members are the same.
//!
//! Records pair by name, nameless ones by the objects, variables and members that are of them; members by name, and
//! where they were renamed by their neighbours. The older unit's records get the newer layout ([`Records::target`]).

use super::layout::{BodyInUnit, Layouts, record};
use super::numbers::Fit;
use super::relaid::{FAR, FAR_IN_32, OTHER};
use crate::alignment::{Algorithm, DiffOp, aligned};
use crate::ir::{CType, Field, Function, Record, RecordId, Unit, Var};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The records of two units that are laid out otherwise.
pub(super) struct Records {
    /// Of the older unit, and of the newer one.
    pub relaid: BTreeSet<RecordId>,
    pub newer: BTreeSet<RecordId>,
    /// All records of the older unit, with the newer layout.
    pub target: Vec<Record>,
    /// Members of which nothing is known: numbers of another type in the newer version, and bits elsewhere. By record,
    /// their places.
    pub other: BTreeSet<(RecordId, usize)>,
    /// Bit-fields that share what they are read from with others than before, or lie elsewhere in it.
    pub regrouped: BTreeSet<(RecordId, usize)>,
    /// Of `other`, numbers that got a wider type: they lie where they do in the newer version, and have its type.
    pub fits: BTreeMap<(RecordId, usize), Fit>,
}

impl Records {
    pub fn of((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> Records {
        let mut pairs: Vec<(RecordId, RecordId)> = Vec::new();
        if let Some(layouts) = Layouts::of(old, new) {
            let ids = [old, new].map(|unit| -> HashMap<*const Record, RecordId> {
                let all = unit.records.iter().enumerate();
                all.map(|(k, r)| (std::ptr::from_ref(r), RecordId(k as u32))).collect()
            });
            let id = |side: usize, r: &Record| ids[side].get(&std::ptr::from_ref(r)).copied();
            pairs.extend(layouts.pairs().filter_map(|(a, b)| Some((id(0, a)?, id(1, b)?))));
        }
        // Those without a name are known by the objects and variables that are of them.
        let mut nameless = |a: &CType, b: &CType| {
            if let (Some(x), Some(y)) = (innermost(a), innermost(b))
                && let (Some(r), Some(s)) = (record(old, x), record(new, y))
                && r.name.is_empty()
                && s.name.is_empty()
                && !pairs.contains(&(x, y))
            {
                pairs.push((x, y));
            }
        };
        for object in BodyInUnit::new(f, old).objects() {
            if let Some(other) = new.global(&object.symbol) {
                nameless(&object.ty, &other.ty);
            }
        }
        let name = |v: &'_ Var| (v.name.clone(), v.ordinal, v.kind);
        let mut others: HashMap<_, &Var> = HashMap::new();
        let is_record = |v: &&Var| !v.name.starts_with('%') && innermost(&v.ty).is_some();
        g.vars.iter().filter(is_record).for_each(|w| _ = others.entry(name(w)).or_insert(w));
        for v in f.vars.iter().filter(is_record) {
            if let Some(w) = others.get(&name(v)) {
                nameless(&v.ty, &w.ty);
            }
        }
        let mut found = Records {
            relaid: BTreeSet::new(),
            newer: BTreeSet::new(),
            target: old.records.clone(),
            other: BTreeSet::new(),
            regrouped: BTreeSet::new(),
            fits: BTreeMap::new(),
        };
        while let Some((a, b)) = pairs.pop() {
            if found.relaid.contains(&a) {
                continue;
            }
            pairs.extend(found.relay((a, old), (b, new)));
        }
        found
    }

    /// Lays one record out as another; the nameless ones in both that are to be paired, too.
    fn relay(
        &mut self,
        (a, old): (RecordId, &Unit),
        (b, new): (RecordId, &Unit),
    ) -> Vec<(RecordId, RecordId)> {
        let (Some(before), Some(after)) = (record(old, a), record(new, b)) else { return Vec::new() };
        let far = if old.data_model.pointer_bits() == 64 { FAR } else { FAR_IN_32 };
        let mut inner = Vec::new();
        let pairing = paired(before, after, (old, new));
        let mut target = before.clone();
        (target.size, target.align) = (after.size, after.align);
        for (k, field) in before.fields.iter().enumerate() {
            let moved = &mut target.fields[k];
            let there = pairing[k].map(|j| &after.fields[j]);
            match there {
                Some(g) if is_like((&field.ty, old), (&g.ty, new)) && keeps_bits(before, field, after, g) => {
                    moved.offset = g.offset;
                    if let (CType::Array(e, _), CType::Array(_, n)) = (&field.ty, &g.ty) {
                        moved.ty = CType::Array(e.clone(), *n);
                    }
                    if let (Some(x), Some(y)) = (innermost(&field.ty), innermost(&g.ty))
                        && record(old, x).is_some_and(|r| r.name.is_empty())
                    {
                        inner.push((x, y));
                    }
                }
                Some(g) if is_like((&field.ty, old), (&g.ty, new)) && is_as_wide(field, g) => {
                    (moved.offset, moved.bits) = (g.offset, g.bits);
                    self.regrouped.insert((a, k));
                }
                Some(g) if let Some(fit) = Fit::of((field, old), (g, new)) => {
                    (moved.offset, moved.ty) = (g.offset, g.ty.clone());
                    self.other.insert((a, k));
                    self.fits.insert((a, k), fit);
                }
                Some(g) => {
                    moved.offset = far + field.offset;
                    // The same name means something else: it is no word for what it was.
                    moved.name = format!("{}{OTHER}", field.name).into();
                    if is_number(&field.ty) && is_number(&g.ty) || field.bits.is_some() || g.bits.is_some() {
                        self.other.insert((a, k));
                    }
                }
                None => {
                    moved.offset = far + field.offset;
                    if field.bits.is_some() {
                        self.regrouped.insert((a, k));
                    }
                }
            }
        }
        let stays = target
            .fields
            .iter()
            .zip(&before.fields)
            .all(|(x, y)| (x.offset, x.bits, &x.ty) == (y.offset, y.bits, &y.ty));
        if !(stays && target.size == before.size) {
            self.relaid.insert(a);
            self.newer.insert(b);
        }
        if let Some(place) = self.target.get_mut(a.0 as usize) {
            *place = target;
        }
        inner
    }
}

/// The record that a type is, or is made of, itself.
pub(super) fn innermost(ty: &CType) -> Option<RecordId> {
    match ty {
        CType::Array(element, _) => innermost(element),
        CType::Record(id) => Some(*id),
        _ => None,
    }
}

/// For each member of a record its counterpart in another: by name; members between the same neighbours that are
/// as many and of the same types got other names.
fn paired(before: &Record, after: &Record, (old, new): (&Unit, &Unit)) -> Vec<Option<usize>> {
    let by_name = |f: &Field| after.fields.iter().position(|g| g.name == f.name && !g.name.is_empty());
    let mut pairing: Vec<Option<usize>> = before.fields.iter().map(by_name).collect();
    let names = |r: &Record| r.fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    for op in aligned(Algorithm::Lcs, &names(before), &names(after)) {
        let DiffOp::Replace { old_index, old_len, new_index, new_len } = op else { continue };
        let renamed = |k: usize| {
            let (f, g) = (&before.fields[old_index + k], &after.fields[new_index + k]);
            pairing[old_index + k].is_none()
                && !before.fields.iter().any(|f| f.name == g.name)
                && f.bits == g.bits
                && is_like((&f.ty, old), (&g.ty, new))
        };
        if old_len == new_len && (0..old_len).all(renamed) {
            (0..old_len).for_each(|k| pairing[old_index + k] = Some(new_index + k));
        }
    }
    pairing
}

/// Whether values of two types are the same bytes, and, an outermost length aside, the same members.
pub(super) fn is_like((a, old): (&CType, &Unit), (b, new): (&CType, &Unit)) -> bool {
    match (a, b) {
        (CType::Int { bits, .. }, CType::Int { bits: n, .. }) => bits == n,
        (CType::Pointer(_), CType::Pointer(_)) => true,
        (CType::Array(x, _), CType::Array(y, _)) => {
            let inner = |ty: &CType| if let CType::Array(_, n) = ty { Some(*n) } else { None };
            inner(x) == inner(y) && is_like((x, old), (y, new))
        }
        (CType::Record(x), CType::Record(y)) => {
            matches!((record(old, *x), record(new, *y)), (Some(r), Some(s)) if r.name == s.name)
        }
        (a, b) => a == b,
    }
}

/// Whether a type is one of numbers: of two of them the values are the same where they fit.
pub(super) fn is_number(ty: &CType) -> bool {
    match ty {
        CType::Array(element, _) => is_number(element),
        ty => matches!(ty, CType::Bool | CType::Int { .. } | CType::Float(_)),
    }
}

/// Whether both are bit-fields of so many bits.
fn is_as_wide(f: &Field, g: &Field) -> bool {
    matches!((f.bits, g.bits), (Some((_, n)), Some((_, m))) if n == m)
}

/// Whether a member shares what it is read from with the same members as before.
fn keeps_bits(before: &Record, f: &Field, after: &Record, g: &Field) -> bool {
    let of_unit = |r: &Record, at: u64| -> BTreeMap<Arc<str>, (u32, u32)> {
        let bits = r.fields.iter().filter(|f| f.offset == at);
        bits.filter_map(|f| Some((f.name.clone(), f.bits?))).collect()
    };
    match (f.bits, g.bits) {
        (None, None) => true,
        (Some(x), Some(y)) => {
            let (a, b) = (of_unit(before, f.offset), of_unit(after, g.offset));
            x == y && a.iter().all(|(name, bits)| b.get(name) == Some(bits))
        }
        _ => false,
    }
}
