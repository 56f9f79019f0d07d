//! Structures of two units: which of them are laid out differently, what of a function has to do with these,
//! and initial values by the members that have them.

use crate::ir::{
    CType, Expr, Field, Function, Global, InitPiece, Instr, Object, Record, RecordId, Unit, VarId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Scalars of an initial value beyond which bytes tell.
pub(super) const MAX_LEAVES: usize = 4096;

/// A body and its unit.
pub(super) struct BodyInUnit<'a> {
    pub body: &'a Function,
    pub unit: &'a Unit,
}

/// Where the layouts of two units differ.
pub(super) struct Layouts<'a> {
    /// Structures that both have by one name, in other layouts or with such members.
    relaid: BTreeMap<Arc<str>, (&'a Record, &'a Record)>,
}

impl<'a> Layouts<'a> {
    /// `None`: nowhere.
    pub fn of(old: &'a Unit, new: &'a Unit) -> Option<Layouts<'a>> {
        if std::ptr::eq(old, new) || old.layouts() == new.layouts() {
            return None;
        }
        let pairs = old.answers.relaid.of(new.told_records(), || relaid(old, new));
        let pair = |&(a, b): &(u32, u32)| {
            let (a, b) = (old.records.get(a as usize)?, new.records.get(b as usize)?);
            Some((a.name.clone(), (a, b)))
        };
        let relaid: BTreeMap<Arc<str>, (&'a Record, &'a Record)> = pairs.iter().filter_map(pair).collect();
        (!relaid.is_empty()).then_some(Layouts { relaid })
    }

    /// The structures that are laid out otherwise, in both versions.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a Record, &'a Record)> + '_ {
        self.relaid.values().copied()
    }

    /// These of one name.
    pub fn of_name(mut self, name: &str) -> Option<Layouts<'a>> {
        self.relaid.retain(|known, _| **known == *name);
        (!self.relaid.is_empty()).then_some(self)
    }

    /// Whether a type is such a structure, holds one, or leads to one.
    pub fn is_relaid(&self, side: &BodyInUnit, ty: &CType) -> bool {
        match ty {
            CType::Pointer(to) | CType::Array(to, _) => self.is_relaid(side, to),
            CType::Record(id) => record(side.unit, *id).is_some_and(|r| self.relaid.contains_key(&r.name)),
            _ => false,
        }
    }

    /// Whether an initial value has the address of a part of such a structure.
    pub fn points_in(&self, side: &BodyInUnit, g: &Global) -> bool {
        let mut symbols = g.init.iter().flat_map(InitPiece::symbols);
        symbols.any(|s| side.unit.global(s).is_some_and(|to| self.is_relaid(side, &to.ty)))
    }

    pub fn is_relaid_record(&self, r: &Record) -> bool {
        self.relaid.contains_key(&r.name)
    }

    /// Whether a body has to do with such a structure.
    pub fn touches(&self, side: &BodyInUnit) -> bool {
        let is = |ty: &CType| self.is_relaid(side, ty);
        let f = side.body;
        let of = |id: &RecordId| is(&CType::Record(*id));
        is(&f.ret)
            || f.vars.iter().any(|v| is(&v.ty))
            || f.records.members.iter().any(|(id, ..)| of(id))
            || f.records.recast.iter().any(of)
            || side.objects().any(|g| is(&g.ty) || self.points_in(side, g))
            || f.nodes.iter().any(|n| match &n.instr {
                Instr::Load { access, .. } | Instr::Store { access, .. } => is(&access.ty),
                Instr::Call { arg_types, ret, .. } => is(ret) || arg_types.iter().any(is),
                _ => false,
            })
    }

    /// Whether a body gets such structures from others, or others see its own.
    pub fn is_given(&self, side: &BodyInUnit) -> bool {
        let is = |ty: &CType| self.is_relaid(side, ty);
        let f = side.body;
        f.params.iter().any(|p| is(&f.var(*p).ty))
            || is(&f.ret)
            || f.records.recast.iter().any(|id| is(&CType::Record(*id)))
            || side.objects().any(|g| is(&g.ty) && !g.is_known_constant() || self.points_in(side, g))
            || f.nodes.iter().any(|n| match &n.instr {
                Instr::Call { arg_types, ret, .. } => is(ret) || arg_types.iter().any(is),
                Instr::Load { access, .. } => is(&access.ty),
                _ => false,
            })
    }

    /// Whether a body may see how such a structure is laid out.
    pub fn is_seen(&self, side: &BodyInUnit) -> bool {
        let of = |id: &RecordId| self.is_relaid(side, &CType::Record(*id));
        let in_union = |r: &Record| {
            r.is_union
                && (self.is_relaid_record(r)
                    || r.fields.iter().any(|f| self.is_relaid(side, &f.ty) && !f.ty.is_pointer()))
        };
        side.body.records.recast.iter().any(of)
            || side.unit.records.iter().any(in_union)
            || side.body.vars.iter().any(|v| v.is_variable_length() && self.is_relaid(side, &v.ty))
    }

    /// Whether of the structures that a body has to do with all members stay where they are.
    pub fn extends_only(&self, side: &BodyInUnit) -> bool {
        self.relaid_of(side).into_iter().all(|(a, b)| {
            let stays = |f: &Field| {
                let there = b.fields.iter().find(|g| g.name == f.name);
                there.is_none_or(|g| (g.offset, g.bits) == (f.offset, f.bits))
            };
            a.fields.iter().all(stays)
        })
    }

    /// Whether a body goes from one such structure to the next one, and the step is another one in the other version: an
    /// array of them, or a pointer that is moved.
    pub fn steps_over(&self, side: &BodyInUnit) -> bool {
        let sizes: BTreeSet<u64> = self
            .relaid_of(side)
            .into_iter()
            .filter(|(a, b)| a.size != b.size)
            .flat_map(|(a, b)| [a.size, b.size])
            .collect();
        let is_size = |e: &Expr| matches!(e, Expr::Const(c) if c.unsigned().and_then(|n| u64::try_from(n).ok()).is_some_and(|n| sizes.contains(&n)));
        let is_step =
            |e: &Expr| matches!(e, Expr::Op { op: crate::ir::Op::Mul, args, .. } if args.iter().any(is_size));
        let is_array = |ty: &CType| match ty {
            CType::Array(element, _) => held(side.unit, element).is_some_and(|r| sizes.contains(&r.size)),
            _ => false,
        };
        let moves = side.body.nodes.iter().any(|n| {
            let mut found = false;
            n.instr.for_each_expr(&mut |e| found |= is_step(e));
            found
        });
        !sizes.is_empty()
            && (moves
                || side.objects().any(|g| is_array(&g.ty))
                || side.body.vars.iter().any(|v| is_array(&v.ty)))
    }

    /// Whether such structures only got members behind those that they had, or lost the last ones: what is at a
    /// place of both is the same member.
    pub fn appends_only(&self, side: &BodyInUnit) -> bool {
        let appends = |a: &Record, b: &Record| {
            let of_a = |g: &Field| a.fields.iter().find(|f| f.name == g.name);
            let stays = |f: &Field| {
                b.fields.iter().any(|g| g.name == f.name && (g.offset, g.bits) == (f.offset, f.bits))
            };
            a.fields.iter().all(stays) && b.fields.iter().all(|g| of_a(g).is_some() || g.offset >= a.size)
        };
        let relaid = self.relaid_of(side);
        relaid.into_iter().all(|(a, b)| a.is_union == b.is_union && (appends(a, b) || appends(b, a)))
    }

    /// Whether the members that two bodies name lie at the same places in structures of the same size, and what only
    /// one of them has lies where the other names nothing: a flag in a spare bit.
    pub fn named_stay(&self, old: &BodyInUnit, new: &BodyInUnit) -> bool {
        let named = |side: &BodyInUnit| -> BTreeSet<(Arc<str>, Arc<str>)> {
            let all = side.body.records.members.iter();
            all.filter_map(|(id, member, _)| Some((record(side.unit, *id)?.name.clone(), member.clone())))
                .collect()
        };
        let of_both = [named(old), named(new)];
        let relaid: Vec<_> = self.relaid_of(old).into_iter().chain(self.relaid_of(new)).collect();
        relaid.into_iter().all(|(a, b)| {
            let sides = [(a, old.unit), (b, new.unit)];
            let place = |side: usize, name: &str| {
                let (record, unit): (&Record, &Unit) = sides[side];
                record.fields.iter().find(|f| *f.name == *name).map(|f| bits_of(f, unit))
            };
            let of = |side: usize| {
                of_both[side].iter().filter(|(record, _)| *record == a.name).map(|(_, member)| member)
            };
            // What one of them alone has lies upon nothing that the other one names.
            let is_free = |(from, to): (u64, u64), other: usize| {
                of(other).filter_map(|m| place(other, m)).all(|(start, end)| end <= from || to <= start)
            };
            let stays = |name: &Arc<str>| match (place(0, name), place(1, name)) {
                (Some(before), Some(after)) => before == after,
                (Some(only), None) => is_free(only, 1),
                (None, Some(only)) => is_free(only, 0),
                (None, None) => false,
            };
            let held = |r: &Record, unit: &Unit| r.fields.iter().any(|f| held(unit, &f.ty).is_some());
            (a.is_union, a.size) == (b.is_union, b.size)
                && !a.is_union
                && !held(a, old.unit)
                && of(0).chain(of(1)).all(stays)
        })
    }

    /// The structures that a body has to do with and that are laid out otherwise, in both versions.
    fn relaid_of(&self, side: &BodyInUnit) -> Vec<(&Record, &Record)> {
        let mut found = BTreeSet::new();
        let f = side.body;
        let mut add = |ty: &CType| reached(side.unit, ty, &mut found);
        add(&f.ret);
        f.vars.iter().for_each(|v| add(&v.ty));
        f.records.members.iter().for_each(|(id, ..)| add(&CType::Record(*id)));
        f.records.recast.iter().for_each(|id| add(&CType::Record(*id)));
        for g in side.objects() {
            add(&g.ty);
            let symbols = g.init.iter().flat_map(InitPiece::symbols);
            symbols.filter_map(|s| side.unit.global(s)).for_each(|to| add(&to.ty));
        }
        found.iter().filter_map(|name| self.relaid.get(name)).map(|(a, b)| (*a, *b)).collect()
    }

    /// The members that a body names of such structures, with their places.
    pub fn members(&self, side: &BodyInUnit) -> BTreeSet<String> {
        let named = side.body.records.members.iter().filter_map(|(id, member, bit)| {
            let r = record(side.unit, *id).filter(|r| self.is_relaid_record(r))?;
            Some(format!("{} {} {bit}", r.name, self.member(r, member, *bit)))
        });
        named.collect()
    }

    /// What a member is called in both versions: by its place where only one of them has the name.
    pub fn member(&self, r: &Record, name: &str, bit: u64) -> String {
        let both = self
            .relaid
            .get(&r.name)
            .is_none_or(|(a, b)| [a, b].iter().all(|r| r.fields.iter().any(|f| *f.name == *name)));
        if both { name.to_owned() } else { format!("@{bit}") }
    }

    pub fn is_same_type(&self, a: &CType, b: &CType) -> bool {
        match (a, b) {
            (CType::Pointer(x), CType::Pointer(y)) => self.is_same_type(x, y),
            (CType::Array(x, n), CType::Array(y, m)) => n == m && self.is_same_type(x, y),
            // Numbers of records are each unit's own; what differs of them shows where they are used.
            (CType::Record(_), CType::Record(_)) => true,
            (CType::Function(_), CType::Function(_)) => true,
            (CType::Int { bits, signed, .. }, CType::Int { bits: n, signed: s, .. }) => {
                (bits, signed) == (n, s)
            }
            _ => a == b,
        }
    }
}

/// The structures that two units have by one name in other layouts, or with such members, by their numbers.
fn relaid(old: &Unit, new: &Unit) -> Vec<(u32, u32)> {
    type Numbered<'u> = (u32, &'u Record);
    fn named(unit: &Unit) -> BTreeMap<&str, Option<Numbered<'_>>> {
        let mut found: BTreeMap<&str, Option<Numbered<'_>>> = BTreeMap::new();
        for (number, record) in (0..).zip(&unit.records).filter(|(_, r)| !r.name.is_empty() && r.size > 0) {
            // Two of one name, in different scopes, are not told apart.
            let one = |known: &mut Option<Numbered<'_>>| *known = known.filter(|(_, k)| *k == record);
            found.entry(&record.name).and_modify(one).or_insert(Some((number, record)));
        }
        found
    }
    let (before, after) = (named(old), named(new));
    let mut relaid: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut rest: Vec<(&str, Numbered<'_>, Numbered<'_>)> = Vec::new();
    for (name, a) in before {
        let (Some(a), Some(Some(b))) = (a, after.get(name)) else { continue };
        match is_same((a.1, old), (b.1, new), 0) {
            true => rest.push((name, a, *b)),
            false => _ = relaid.insert(name, (a.0, b.0)),
        }
    }
    // What has such a structure as a member is another one, too.
    loop {
        let holds = |r: &Record, unit: &Unit| {
            r.fields.iter().any(|f| held(unit, &f.ty).is_some_and(|inner| relaid.contains_key(&*inner.name)))
        };
        let (more, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, a, b)| holds(a.1, old) || holds(b.1, new));
        if more.is_empty() {
            break;
        }
        relaid.extend(more.into_iter().map(|(name, a, b)| (name, (a.0, b.0))));
        rest = others;
    }
    relaid.into_values().collect()
}

/// The first bit of a member, and the first one behind it.
fn bits_of(f: &Field, unit: &Unit) -> (u64, u64) {
    let start = f.offset * 8 + f.bits.map_or(0, |(first, _)| u64::from(first));
    let width = f.bits.map(|(_, width)| u64::from(width)).or_else(|| Some(unit.size_of(&f.ty)? * 8));
    // What has no size may lie upon all that comes behind.
    (start, width.map_or(u64::MAX, |w| start + w))
}

impl<'a> BodyInUnit<'a> {
    pub fn new(body: &'a Function, unit: &'a Unit) -> BodyInUnit<'a> {
        BodyInUnit { body, unit }
    }

    /// The objects that the body names.
    pub fn objects(&self) -> impl Iterator<Item = &'a Global> {
        let mut found = BTreeSet::new();
        for node in &self.body.nodes {
            node.instr.for_each_expr(&mut |e| {
                if let Expr::Addr(Object::Global(symbol)) = e {
                    found.insert(symbol.clone());
                }
            });
        }
        let unit = self.unit;
        found.into_iter().filter_map(move |symbol| unit.global(&symbol))
    }

    /// What memory that a call returns becomes: where its result is assigned to next.
    pub fn made_for(&self, result: Option<VarId>) -> Option<CType> {
        let result = result?;
        let is_result = |e: &Expr| *e == Expr::Var(result);
        let own = self.body.var(result).ty.target().filter(|t| !matches!(t, CType::Void)).cloned();
        own.or_else(|| {
            self.body.nodes.iter().find_map(|n| match &n.instr {
                Instr::Assign { dst, value } if is_result(value) => self.body.var(*dst).ty.target().cloned(),
                Instr::Store { value, access, .. } if is_result(value) => access.ty.target().cloned(),
                Instr::Return { value: Some(value) } if is_result(value) => self.body.ret.target().cloned(),
                _ => None,
            })
        })
    }
}

pub(super) fn record(unit: &Unit, id: RecordId) -> Option<&Record> {
    unit.records.get(id.0 as usize)
}

/// The record that a member holds, itself or as the elements of an array.
fn held<'u>(unit: &'u Unit, ty: &CType) -> Option<&'u Record> {
    match ty {
        CType::Array(element, _) => held(unit, element),
        CType::Record(id) => record(unit, *id),
        _ => None,
    }
}

/// Names of the records that a type is made of or leads to.
fn reached(unit: &Unit, ty: &CType, found: &mut BTreeSet<Arc<str>>) {
    match ty {
        CType::Pointer(to) | CType::Array(to, _) => reached(unit, to, found),
        CType::Record(id) => {
            let Some(r) = record(unit, *id) else { return };
            if found.insert(r.name.clone()) {
                r.fields.iter().filter(|f| !f.ty.is_pointer()).for_each(|f| reached(unit, &f.ty, found));
            }
        }
        _ => {}
    }
}

fn is_same((a, old): (&Record, &Unit), (b, new): (&Record, &Unit), depth: u32) -> bool {
    let alike = |(f, g): (&Field, &Field)| {
        let inner = match (held(old, &f.ty), held(new, &g.ty)) {
            // A named one is compared by itself.
            (Some(x), Some(y)) if x.name.is_empty() && depth < 16 => is_same((x, old), (y, new), depth + 1),
            _ => true,
        };
        (&f.name, f.offset, f.bits) == (&g.name, g.offset, g.bits) && inner
    };
    (a.size, a.is_union, a.fields.len()) == (b.size, b.is_union, b.fields.len())
        && a.fields.iter().zip(&b.fields).all(alike)
}

/// An object's initial value by members; `None` where its bytes are no row of members.
pub(super) fn by_members(unit: &Unit, g: &Global) -> Option<String> {
    let mut out = String::new();
    let mut leaves = 0;
    write_leaves(unit, g, &g.ty, 0, "", &mut leaves, &mut out)?;
    Some(out)
}

/// As [`by_members`], of objects that hold records; others are their bytes.
pub fn image(unit: &Unit, g: &Global) -> Option<String> {
    held(unit, &g.ty)?;
    by_members(unit, g)
}

fn write_leaves(
    unit: &Unit,
    g: &Global,
    ty: &CType,
    at: u64,
    path: &str,
    leaves: &mut usize,
    out: &mut String,
) -> Option<()> {
    *leaves += 1;
    if *leaves > MAX_LEAVES {
        return None;
    }
    match ty {
        CType::Array(element, n) if held(unit, element).is_some() => {
            let size = unit.size_of(element)?;
            (0..(*n)?).try_for_each(|i| {
                write_leaves(unit, g, element, at + i * size, &format!("{path}[{i}]"), leaves, out)
            })
        }
        CType::Record(id) => {
            let r = record(unit, *id)?;
            if r.is_union || r.fields.iter().any(|f| f.bits.is_some()) {
                return None;
            }
            // Members in the order of their names.
            let fields: BTreeMap<&str, &Field> = r.fields.iter().map(|f| (&*f.name, f)).collect();
            fields.into_iter().try_for_each(|(name, f)| {
                write_leaves(unit, g, &f.ty, at + f.offset, &format!("{path}.{name}"), leaves, out)
            })
        }
        _ => {
            let size = unit.size_of(ty)?;
            let within = |p: &&InitPiece| match p {
                InitPiece::Address { offset, .. } => (at..at + size).contains(offset),
                InitPiece::Bytes { .. } | InitPiece::Unknown { .. } => false,
            };
            let pieces: Vec<&InitPiece> = g.init.iter().filter(within).collect();
            for piece in &pieces {
                if let InitPiece::Address { offset, symbol, plus } = piece {
                    let _ = writeln!(out, "{path} {} &{symbol} {plus}", offset - at);
                }
            }
            if pieces.is_empty() {
                let bytes = g.constant_bytes(at, size)?;
                if bytes.iter().any(|b| *b != 0) {
                    let _ = writeln!(out, "{path} {bytes:?}");
                }
            }
            Some(())
        }
    }
}
