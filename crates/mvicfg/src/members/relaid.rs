//! A body of the older unit as if it were written for the layouts of the newer one.
//!
//! Instructions have offsets. Where a structure is laid out otherwise, or an array got another length, those of
//! the older body are rewritten: each place is read as a path of members by the older layout, and becomes the
//! offset of the same members in the newer one. After that equal offsets are equal members, and both bodies can
//! be compared from one state. Members that only the older version has come to lie where nothing else is
//! ([`FAR`]). What `sizeof` gave of such a type becomes its newer size.
//!
//! That is right as long as the body sees structures by their members: nothing is read through a pointer to one
//! that became a pointer to something else, no bytes are taken for one, none is in a union, and of a number that
//! got another type nothing is asked. Otherwise there is no such body. What is not at hand is taken to do the same
//! to members: the assumption `by-members`.

use super::bits::{self, Moved};
use super::layout::{BodyInUnit, record};
use super::numbers::{self, Fit, Fits};
use super::place::{Step, Until};
use super::records::{Records, innermost, is_like, is_number};
use super::{is_plain, pointer_to, size_of_const};
use crate::ir::{
    CType, Callee, Expr, Field, FileId, Function, Global, Instr, Measured, NodeId, Object, Op, Record,
    RecordId, Span, Unit, Var, VarId, VarKind,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod objects;

/// Where members of the older version alone come to lie: beyond all that a program names by a constant.
pub(super) const FAR: u64 = 1 << 40;
/// The same where pointers have 32 bits.
pub(super) const FAR_IN_32: u64 = 1 << 29;

/// What the names of members end with that the newer version has by another type.
pub const OTHER: char = '\\';

/// The older body with the newer layouts.
pub struct Relaid {
    pub body: Arc<Function>,
    /// The records of the older unit with the newer layout, and the objects that the body names.
    pub layout: Unit,
    /// Arrays that got another length: of the older body, and in the newer one.
    pub resized: Vec<(VarId, VarId)>,
    /// Where it reads and writes members of a wider type.
    pub fits: Fits,
}

/// A layout is seen: there is no such body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen;

/// The older of two bodies with the layouts of the newer one's unit. `Ok(None)` where it has to do with nothing
/// that is laid out otherwise; an error where the layout is seen.
pub fn relaid((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> Result<Option<Relaid>, Seen> {
    let records = Records::of((f, old), (g, new));
    let resized = resized((f, old), (g, new));
    let (used, newer) = (used(f, old), used(g, new));
    let (relaid, others) = (holding(old, &records.relaid), holding(new, &records.newer));
    if used.is_disjoint(&relaid) && newer.is_disjoint(&others) && resized.is_empty() {
        return Ok(None);
    }
    // Bytes are seen where a pointer becomes one to something else, and in unions whose members are named.
    let is_seen = |body: &Function, unit: &Unit, used: &BTreeSet<RecordId>, ids: &BTreeSet<RecordId>| {
        let is_named = |id: &RecordId| body.records.members.iter().any(|(of, ..)| of == id);
        let in_union = |id: &RecordId| {
            record(unit, *id).is_some_and(|r| r.is_union) && used.contains(id) && is_named(id)
        };
        !body.records.viewed.is_disjoint(ids) || ids.iter().any(in_union)
    };
    if is_seen(f, old, &used, &relaid) || is_seen(g, new, &newer, &others) {
        return Err(Seen);
    }
    let same = Relay {
        side: BodyInUnit::new(g, new),
        layout: Unit { data_model: new.data_model, records: new.records.clone(), ..Unit::default() },
        relaid: others.intersection(&newer).copied().collect(),
        other: BTreeSet::new(),
        regrouped: BTreeSet::new(),
        fits: BTreeMap::new(),
        units: BTreeMap::new(),
        resized: BTreeMap::new(),
        at: Default::default(),
    };
    if same.looks_at_bytes() {
        return Err(Seen);
    }
    let layout = Unit { data_model: old.data_model, records: records.target, ..Unit::default() };
    let mut relay = Relay {
        side: BodyInUnit::new(f, old),
        layout,
        relaid: relaid.intersection(&used).copied().collect(),
        other: records.other,
        regrouped: records.regrouped,
        fits: records.fits,
        units: BTreeMap::new(),
        resized: resized.iter().map(|(v, w)| (*v, g.var(*w).ty.clone())).collect(),
        at: Default::default(),
    };
    if relay.looks_at_bytes() {
        return Err(Seen);
    }
    let (body, fits) = relay.body().ok_or(Seen)?;
    let globals: Option<Vec<Global>> = relay.side.objects().map(|g| relay.global(g)).collect();
    relay.layout.globals = globals.ok_or(Seen)?;
    Ok(Some(Relaid { body: Arc::new(body), layout: relay.layout, resized, fits }))
}

/// Local arrays of one name that have another length.
fn resized((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> Vec<(VarId, VarId)> {
    let lengths = |a: &CType, b: &CType| match (a, b) {
        (CType::Array(x, Some(n)), CType::Array(y, Some(m))) => {
            n != m && x == y && old.size_of(x) == new.size_of(y) && !matches!(**x, CType::Record(_))
        }
        _ => false,
    };
    let mut found = Vec::new();
    let is_first = |v: &usize| f.vars[*v].ordinal == 0 && f.vars[*v].kind != VarKind::Temp;
    for v in (0..f.vars.len()).filter(is_first) {
        let of_name = |body: &Function| -> Vec<usize> {
            let is_it =
                |w: &usize| (&body.vars[*w].name, body.vars[*w].kind) == (&f.vars[v].name, f.vars[v].kind);
            (0..body.vars.len()).filter(is_it).collect()
        };
        let (mut olds, mut news) = (of_name(f), of_name(g));
        // Where one came or went, those that stay are known by their types.
        if olds.len() != news.len() {
            for k in (0..olds.len()).rev() {
                let same = news.iter().rposition(|w| g.vars[*w].ty == f.vars[olds[k]].ty);
                if let Some(at) = same {
                    news.remove(at);
                    olds.remove(k);
                }
            }
        }
        let pairs = olds.into_iter().zip(news).filter(|(a, b)| lengths(&f.vars[*a].ty, &g.vars[*b].ty));
        found.extend(pairs.map(|(a, b)| (VarId(a as u32), VarId(b as u32))));
    }
    found
}

/// Where a text begins.
fn place(span: &Span) -> (FileId, u32, u32) {
    (span.file, span.line, span.col)
}

/// The records that a body has to do with, or that those hold.
fn used(body: &Function, unit: &Unit) -> BTreeSet<RecordId> {
    let mut types: Vec<CType> = body.vars.iter().map(|v| v.ty.clone()).collect();
    types.push(body.ret.clone());
    types.extend(body.records.members.iter().map(|(r, ..)| CType::Record(*r)));
    types.extend(body.records.recast.iter().map(|r| CType::Record(*r)));
    types.extend(BodyInUnit::new(body, unit).objects().map(|g| g.ty.clone()));
    for node in &body.nodes {
        match &node.instr {
            Instr::Load { access, .. } | Instr::Store { access, .. } => types.push(access.ty.clone()),
            Instr::Call { arg_types, ret, .. } => types.extend(arg_types.iter().chain([ret]).cloned()),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    while let Some(ty) = types.pop() {
        match ty {
            CType::Pointer(to) | CType::Array(to, _) => types.push((*to).clone()),
            CType::Record(id) if found.insert(id) => {
                let fields = record(unit, id).map(|r| r.fields.as_slice()).unwrap_or_default();
                types.extend(fields.iter().filter_map(|f| innermost(&f.ty)).map(CType::Record));
            }
            _ => {}
        }
    }
    found
}

/// These records, and those that hold one of them.
fn holding(unit: &Unit, ids: &BTreeSet<RecordId>) -> BTreeSet<RecordId> {
    let mut found = ids.clone();
    loop {
        let holds =
            |r: &Record| r.fields.iter().any(|f| innermost(&f.ty).is_some_and(|id| found.contains(&id)));
        let more: Vec<RecordId> = (0..unit.records.len() as u32)
            .map(RecordId)
            .filter(|id| !found.contains(id) && record(unit, *id).is_some_and(holds))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Rewrites one body.
struct Relay<'a> {
    side: BodyInUnit<'a>,
    layout: Unit,
    relaid: BTreeSet<RecordId>,
    other: BTreeSet<(RecordId, usize)>,
    regrouped: BTreeSet<(RecordId, usize)>,
    fits: BTreeMap<(RecordId, usize), Fit>,
    /// What has such bit-fields, where it is read.
    units: Moved,
    /// Local arrays with their newer types.
    resized: BTreeMap<VarId, CType>,
    /// Where the text of the instruction that is rewritten begins.
    at: (FileId, u32, u32),
}

impl Relay<'_> {
    fn body(&mut self) -> Option<(Function, Fits)> {
        let mut body = self.side.body.clone();
        for (k, var) in body.vars.iter_mut().enumerate() {
            if var.is_variable_length() && self.is_relaid(&var.ty) {
                return None;
            }
            if let Some(ty) = self.resized.get(&VarId(k as u32)) {
                var.ty = ty.clone();
            }
            if var.size > 0 && (var.in_memory || var.sort.is_none()) {
                var.size = self.layout.size_of(&var.ty).unwrap_or(var.size);
            }
        }
        self.units = self.moved_units()?;
        let mut fits = Fits::new();
        for (k, node) in body.nodes.iter_mut().enumerate() {
            self.at = place(&node.span);
            let found = self.fit(&node.instr);
            node.instr = match &found {
                Some((addr, _)) => self.of_number(&node.instr, addr.clone())?,
                None => self.instr(&node.instr)?,
            };
            fits.extend(found.map(|(_, fit)| (NodeId(k as u32), fit)));
        }
        numbers::widen(&mut body, &fits);
        Some((body, fits))
    }

    /// The member of a wider type that an instruction reads or writes, and where it is.
    fn fit(&self, instr: &Instr) -> Option<(Expr, Fit)> {
        let (Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. }) = instr else {
            return None;
        };
        if self.fits.is_empty() || !self.is_place(addr) {
            return None;
        }
        let member = Cell::new(None);
        let (addr, _) = self.place(addr, Until::Number(&member))?;
        let fit = self.fits.get(&member.get()?)?;
        (access.bytes * 8 == u64::from(fit.bits)).then(|| (addr, fit.clone()))
    }

    /// A read or a write of such a member with its address by the newer layout.
    fn of_number(&self, instr: &Instr, to: Expr) -> Option<Instr> {
        let mut instr = instr.clone();
        match &mut instr {
            Instr::Load { addr, .. } => *addr = to,
            Instr::Store { addr, value, access } => {
                (*addr, *value) = (to, self.value(value, Some(&access.ty))?);
            }
            _ => return None,
        }
        Some(instr)
    }

    /// Whether a type has such members: its bytes are not those of the same numbers.
    fn has_numbers(&self, ty: &CType) -> bool {
        match ty {
            CType::Array(element, _) => self.has_numbers(element),
            CType::Record(id) => {
                let fields = record(self.side.unit, *id).map(|r| r.fields.as_slice()).unwrap_or_default();
                self.other.iter().any(|(r, _)| r == id) || fields.iter().any(|f| self.has_numbers(&f.ty))
            }
            _ => false,
        }
    }

    /// The units of bit-fields that lie elsewhere now; `None`: some use of one does not say which field is meant, or
    /// its fields are in several units now.
    fn moved_units(&self) -> Option<Moved> {
        let mut found = Moved::new();
        if self.regrouped.is_empty() {
            return Some(found);
        }
        let units = bits::units(self.side.body);
        for node in &self.side.body.nodes {
            let Instr::Load { dst, addr, access } = &node.instr else { continue };
            if !self.is_place(addr) || self.place(addr, Until::Scalar(access.bytes)).is_some() {
                continue;
            }
            let mut unit = None;
            for field in units.get(dst)? {
                let to = Cell::new(None);
                let (addr, _) = self.place(addr, Until::Bits(*field, &to))?;
                let width = access.sort.bits()?;
                let unit = unit.get_or_insert_with(|| bits::Unit {
                    addr: addr.clone(),
                    width,
                    fields: BTreeMap::new(),
                });
                (unit.addr == addr && to.get()? + field.1 <= u32::from(width)).then_some(())?;
                unit.fields.insert(*field, to.get()?);
            }
            found.insert(*dst, unit?);
        }
        Some(found)
    }

    /// Whether memory is read or written through pointers to something else that lead into such records.
    fn looks_at_bytes(&self) -> bool {
        let body = self.side.body;
        let mut found: BTreeSet<VarId> = BTreeSet::new();
        let is_member = |value: &Expr, to: &CType| {
            let place = self.place(value, Until::Type(to));
            place.is_some_and(|(_, ty)| is_like((&ty, self.side.unit), (to, self.side.unit)))
        };
        loop {
            let more = body.nodes.iter().filter_map(|n| match &n.instr {
                Instr::Assign { dst, value } if !found.contains(dst) => {
                    let CType::Pointer(to) = &body.var(*dst).ty else { return None };
                    let (base, _) = self.side.steps(value);
                    let from = matches!(base, Expr::Var(v) if found.contains(v));
                    let is_own = is_member(value, to) || self.is_of_numbers(value);
                    let into = self.is_place(value) && !self.is_relaid(to) && !is_own;
                    (from || into && !matches!(**to, CType::Void)).then_some(*dst)
                }
                _ => None,
            });
            let more: Vec<VarId> = more.collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        let through = |e: &Expr| matches!(self.side.steps(e).0, Expr::Var(v) if found.contains(v));
        body.nodes.iter().any(|n| match &n.instr {
            Instr::Load { addr, .. } | Instr::Store { addr, .. } => through(addr),
            Instr::Copy { dst, src, .. } => through(dst) || through(src),
            Instr::Zero { dst, .. } => through(dst),
            _ => false,
        })
    }

    /// Whether an address leads into an array of numbers that is a member, and not the first one of all: whatever
    /// its bytes are taken for, they lie together.
    fn is_of_numbers(&self, e: &Expr) -> bool {
        let (base, steps) = self.side.steps(e);
        let (Some(mut ty), Some(Step::Bytes(mut k))) = (self.side.leads_to(base), steps.into_iter().next())
        else {
            return false;
        };
        let is_first = k == 0;
        loop {
            match &ty {
                _ if is_first || k < 0 => return false,
                CType::Array(..) if is_number(&ty) => return true,
                CType::Array(element, _) => match self.side.unit.size_of(element) {
                    Some(each) if each > 0 => (ty, k) = ((**element).clone(), k % i128::from(each)),
                    _ => return false,
                },
                CType::Record(id) => {
                    let Some(r) = record(self.side.unit, *id).filter(|r| !r.is_union) else { return false };
                    let Some(f) = r.fields.iter().rfind(|f| i128::from(f.offset) <= k) else { return false };
                    (ty, k) = (f.ty.clone(), k - i128::from(f.offset));
                }
                _ => return false,
            }
        }
    }

    /// Whether a type is a record that is laid out otherwise, holds one, or is a pointer to one.
    fn is_relaid(&self, ty: &CType) -> bool {
        match ty {
            CType::Pointer(to) | CType::Array(to, _) => self.is_relaid(to),
            CType::Record(id) => self.relaid.contains(id),
            _ => false,
        }
    }

    fn is_place(&self, e: &Expr) -> bool {
        let (base, _) = self.side.steps(e);
        self.side.leads_to(base).is_some_and(|ty| !ty.is_pointer() && self.is_relaid(&ty))
    }

    fn instr(&self, instr: &Instr) -> Option<Instr> {
        let body = self.side.body;
        let (mut instr, changed) = bits::rewritten(instr, &self.units);
        let unit = |v: &VarId| self.units.get(v).map(|unit| unit.addr.clone());
        match &mut instr {
            Instr::Nop | Instr::Declare(_) | Instr::Unreachable | Instr::Return { value: None } => {}
            Instr::Assign { dst, value } => *value = self.value(value, Some(&body.var(*dst).ty))?,
            Instr::Load { dst, addr, access } => {
                *addr = unit(dst).or_else(|| self.address(addr, Until::Scalar(access.bytes)))?;
            }
            Instr::Store { addr, value, access } => {
                let known = changed.as_ref().and_then(unit);
                *addr = known.or_else(|| self.address(addr, Until::Scalar(access.bytes)))?;
                *value = self.value(value, Some(&access.ty))?;
            }
            Instr::Copy { dst, src, bytes } => {
                let sizes = [self.whole(dst, bytes)?, self.whole(src, bytes)?];
                if sizes[0] != sizes[1] {
                    return None;
                }
                *bytes = sizes[0];
            }
            Instr::Zero { dst, bytes } => *bytes = self.whole(dst, bytes)?,
            Instr::Branch { cond } => *cond = self.value(cond, None)?,
            Instr::Return { value: Some(value) } => *value = self.value(value, Some(&body.ret))?,
            Instr::Measure { lengths, .. } => {
                for e in lengths {
                    *e = self.value(e, None)?;
                }
            }
            Instr::Call { .. } => self.call(&mut instr)?,
            // Of what is not understood, nothing is known by members.
            Instr::Unknown { reads, .. } => {
                if reads.iter().any(|e| self.is_place(e)) {
                    return None;
                }
            }
        }
        Some(instr)
    }

    /// Rewrites the address of an object of which all bytes are meant; how many these are.
    fn whole(&self, e: &mut Expr, bytes: &u64) -> Option<u64> {
        if let Expr::Addr(Object::Local(v)) = e
            && let Some(ty) = self.resized.get(v)
        {
            let was = self.side.unit.size_of(&self.side.body.var(*v).ty);
            return if was == Some(*bytes) { self.layout.size_of(ty) } else { Some(*bytes) };
        }
        if !self.is_place(e) {
            return self.value(e, None).map(|value| {
                *e = value;
                *bytes
            });
        }
        let (value, ty) = self.place(e, Until::Object(*bytes))?;
        *e = value;
        self.layout.size_of(&ty)
    }

    fn call(&self, instr: &mut Instr) -> Option<()> {
        let Instr::Call { callee, args, arg_types, ret, result_to, .. } = instr else { return None };
        let name = match &mut *callee {
            Callee::Direct(name) => Some(name.clone()),
            Callee::Indirect(e) => {
                *e = self.value(e, None)?;
                None
            }
        };
        if let Some(to) = result_to {
            *to = self.value(to, Some(&pointer_to(ret)))?;
        }
        let sized = matches!(name.as_deref(), Some("memset" | "memcpy" | "memmove" | "memcmp"));
        let bytes = args.get(2).and_then(size_of_const).filter(|_| sized);
        if let Some(bytes) = bytes {
            let into: Vec<usize> = (0..2).filter(|k| self.is_place(&args[*k])).collect();
            let mut sizes = BTreeSet::new();
            // What is put into members of another width byte by byte, or read of them so, is another number.
            let is_blank =
                name.as_deref() == Some("memset") && args.get(1).and_then(size_of_const) == Some(0);
            let is_copied = matches!(name.as_deref(), Some("memcpy" | "memmove")) && into.len() == 2;
            for k in into {
                let leads_to = self.place(&args[k], Until::Object(bytes)).map(|(_, ty)| ty);
                if !is_blank && !is_copied && leads_to.is_some_and(|ty| self.has_numbers(&ty)) {
                    return None;
                }
                // Of a part of an object by its bytes nothing is known by members.
                let size = self.whole(&mut args[k], &bytes)?;
                if size != bytes && !self.may_mean(bytes, size) {
                    return None;
                }
                sizes.insert(size);
            }
            if sizes.len() > 1 {
                return None;
            }
            if let Some(size) = sizes.pop_first() {
                args[2] = Expr::bv(self.layout.data_model.pointer_bits(), i128::from(size));
                return Some(());
            }
        }
        let frees = name.as_deref() == Some("free");
        for (k, arg) in args.iter_mut().enumerate() {
            let wanted = match arg_types.get(k) {
                Some(ty @ CType::Record(_)) => Some(pointer_to(ty)),
                other => other.cloned(),
            };
            *arg = match frees && is_plain(arg) {
                true => arg.clone(),
                false => self.value(arg, wanted.as_ref())?,
            };
        }
        Some(())
    }

    fn address(&self, e: &Expr, until: Until) -> Option<Expr> {
        if self.is_place(e) { Some(self.place(e, until)?.0) } else { self.value(e, None) }
    }

    /// A value that becomes one of a type.
    fn value(&self, e: &Expr, wanted: Option<&CType>) -> Option<Expr> {
        let target = wanted.and_then(|ty| if let CType::Pointer(to) = ty { Some(&**to) } else { None });
        if self.is_place(e) {
            return Some(self.place(e, target.map_or(Until::Any, Until::Type))?.0);
        }
        if let Some(to) = target
            && matches!(to, CType::Record(_))
            && self.is_relaid(to)
            && !is_plain(e)
        {
            return self.container(e, to);
        }
        // A pointer to the first member becomes one to the record around.
        if let (Some(to @ CType::Record(_)), Some(from @ CType::Record(_))) = (target, self.side.leads_to(e))
            && self.is_relaid(to)
            && !is_like((to, self.side.unit), (&from, self.side.unit))
            && self.descend_to(to, 0, Until::Type(&from)).is_none_or(|(by, _)| by != 0)
        {
            return None;
        }
        match e {
            Expr::Const(_) => Some(self.size(e)),
            Expr::Var(_) | Expr::Addr(_) => Some(e.clone()),
            Expr::Op { op, args, signed_arith } => {
                if let Some(between) = self.elements_between(e) {
                    return Some(between);
                }
                let is_inside = |x: &Expr| self.is_place(x) && !is_plain(x);
                let sees = matches!(op, Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Mul | Op::Trunc(_));
                if sees && args.iter().any(is_inside)
                    || *op == Op::Sub && args.iter().any(|x| self.is_place(x))
                {
                    return None;
                }
                let mut given = Vec::new();
                let is_offset = e.is_offset(&|v| self.side.body.var(v).ty.is_pointer());
                for (k, arg) in args.iter().enumerate() {
                    // What is added to an address is no size.
                    if is_offset && k == 1 {
                        given.push(arg.clone());
                        continue;
                    }
                    // Pointers are compared with others of their type.
                    let other = args.get(1 - k.min(1)).filter(|_| *op == Op::Eq);
                    let of_other = other.and_then(|o| match o {
                        Expr::Var(v) => Some(&self.side.body.var(*v).ty).filter(|ty| ty.is_pointer()),
                        _ => None,
                    });
                    given.push(self.value(arg, of_other.or(wanted))?);
                }
                Some(Expr::Op { op: *op, args: given, signed_arith: *signed_arith })
            }
        }
    }

    /// The record around a member that a pointer leads to.
    fn container(&self, e: &Expr, to: &CType) -> Option<Expr> {
        let Expr::Op { op: op @ (Op::Sub | Op::Add), args, signed_arith: false } = e else {
            return matches!(e, Expr::Const(_)).then(|| e.clone());
        };
        let [base, Expr::Const(by)] = args.as_slice() else { return None };
        let by = by.signed().map(|k| if *op == Op::Add { -k } else { k })?;
        let CType::Record(id) = to else { return None };
        let (before, after) = (record(self.side.unit, *id)?, record(&self.layout, *id)?);
        let k = before.fields.iter().position(|f| i128::from(f.offset) == by && f.bits.is_none())?;
        if self.other.contains(&(*id, k)) || after.fields[k].offset >= FAR_IN_32 {
            return None;
        }
        let base = self.value(base, None)?;
        let by = Expr::bv(self.layout.data_model.pointer_bits(), i128::from(after.fields[k].offset));
        Some(match after.fields[k].offset {
            0 => base,
            _ => Expr::op(Op::Sub, vec![base, by]),
        })
    }

    /// What `sizeof` gave, of a type or an object that has another size.
    fn size(&self, e: &Expr) -> Expr {
        let bits = self.layout.data_model.pointer_bits();
        let Some(n) = size_of_const(e)
            .filter(|_| e.sort(bits, &|_| crate::ir::Sort::Bv(bits)) == crate::ir::Sort::Bv(bits))
        else {
            return e.clone();
        };
        // Of two things of one size that were asked for in one statement, neither is known.
        let sizes: BTreeSet<u64> = self.asked(n).map(|of| self.newer_size(of).unwrap_or(n)).collect();
        match sizes.first() {
            Some(size) if sizes.len() == 1 && *size != n => Expr::bv(bits, i128::from(*size)),
            _ => e.clone(),
        }
    }

    /// Whether a number may be what `sizeof` gave of something that has this size now: not where it was asked of
    /// other things, or is written as a number.
    fn may_mean(&self, n: u64, size: u64) -> bool {
        self.asked(n).any(|of| self.newer_size(of).is_none_or(|newer| newer == size))
    }

    /// What a number was asked of by `sizeof` in the text of the instruction.
    fn asked(&self, n: u64) -> impl Iterator<Item = &Measured> {
        let sizes = self.side.body.records.sizes.iter();
        sizes.filter(move |s| s.at == self.at && s.value == n).map(|s| &s.of)
    }

    /// How large that is by the newer layout; `None` where it is not certain.
    fn newer_size(&self, of: &Measured) -> Option<u64> {
        match of {
            Measured::Record(id) => self.layout.size_of(&CType::Record(*id)),
            Measured::Variable(name, at) => {
                let body = self.side.body;
                let is_it = |v: &&Var| v.name == *name && place(&v.span) == *at;
                let sizes: BTreeSet<Option<u64>> = (0..body.vars.len())
                    .filter(|v| is_it(&&body.vars[*v]))
                    .map(|v| {
                        let ty = self.resized.get(&VarId(v as u32)).unwrap_or(&body.vars[v].ty);
                        self.layout.size_of(ty)
                    })
                    .collect();
                sizes.first().copied().flatten().filter(|_| sizes.len() == 1)
            }
            Measured::Member(id, name, offset) => {
                let before = record(self.side.unit, *id)?;
                let k = before.fields.iter().position(|f| f.name == *name && f.offset == *offset)?;
                let after = record(&self.layout, *id)?.fields.get(k)?;
                (!self.other.contains(&(*id, k))).then(|| self.layout.size_of(&after.ty)).flatten()
            }
            Measured::Other => None,
        }
    }

    /// How many elements lie between two pointers.
    fn elements_between(&self, e: &Expr) -> Option<Expr> {
        let Expr::Op { op: Op::SDiv, args, signed_arith } = e else { return None };
        let [Expr::Op { op: Op::Sub, args: ends, signed_arith: signed }, size] = args.as_slice() else {
            return None;
        };
        let bytes = size_of_const(size)?;
        let [p, q] = ends.as_slice() else { return None };
        let ((p, x), (q, y)) = (self.place(p, Until::Object(bytes))?, self.place(q, Until::Object(bytes))?);
        let sizes = [self.layout.size_of(&x)?, self.layout.size_of(&y)?];
        (sizes[0] == sizes[1]).then(|| {
            let size = Expr::bv(self.layout.data_model.pointer_bits(), i128::from(sizes[0]));
            let ends = Expr::Op { op: Op::Sub, args: vec![p, q], signed_arith: *signed };
            Expr::Op { op: Op::SDiv, args: vec![ends, size], signed_arith: *signed_arith }
        })
    }

    /// An address into such a record by the newer layout, and the type that is there.
    fn place(&self, e: &Expr, until: Until) -> Option<(Expr, CType)> {
        let bits = self.layout.data_model.pointer_bits();
        let (base, steps) = self.side.steps(e);
        if !is_plain(base) {
            return None;
        }
        let mut ty = self.side.leads_to(base)?;
        let mut made = base.clone();
        for at in (0..steps.len()).step_by(2) {
            let Some(Step::Bytes(k)) = steps.get(at) else { return None };
            let upto = match steps.get(at + 1) {
                Some(Step::Elements { stride, .. }) => {
                    Until::Elements(u64::try_from(stride.unsigned_abs()).ok()?)
                }
                _ => until,
            };
            // A pointer to which whole objects are added is one to an object, unless its first member is wanted.
            let whole =
                self.side.unit.size_of(&ty).is_some_and(|size| size > 0 && *k % i128::from(size) == 0);
            let is_object = whole && at == 0 && steps.len() == 1;
            let upto = match upto {
                Until::Any | Until::Type(CType::Void) if is_object => Until::Type(&ty),
                Until::Type(_) if is_object && self.descend_to(&ty, *k, upto).is_none() => Until::Type(&ty),
                upto => upto,
            };
            let (by, there) = self.descend(&ty, *k, upto)?;
            if by != 0 {
                made = Expr::op(Op::Add, vec![made, Expr::bv(bits, by)]);
            }
            ty = there;
            if let Some(Step::Elements { count, stride }) = steps.get(at + 1) {
                let element = match &ty {
                    CType::Array(e, _) if self.side.unit.size_of(e).map(i128::from) == Some(stride.abs()) => {
                        (**e).clone()
                    }
                    _ => ty,
                };
                let size = i128::from(self.layout.size_of(&element)?);
                let count = self.value(count, None)?;
                let offset =
                    if size == 1 { count } else { Expr::op(Op::Mul, vec![count, Expr::bv(bits, size)]) };
                made = Expr::op(if *stride < 0 { Op::Sub } else { Op::Add }, vec![made, offset]);
                ty = element;
            }
        }
        Some((made, ty))
    }

    /// Goes `k` bytes into a type of the older layout: how many that are in the newer one, and the type there.
    fn descend(&self, ty: &CType, k: i128, until: Until) -> Option<(i128, CType)> {
        let found = self.descend_to(ty, k, until);
        // A pointer that becomes one to a type that is not there.
        let is_other = matches!(until, Until::Type(t) if !matches!(t, CType::Void)) && found.is_none();
        if is_other { self.descend_to(ty, k, Until::Type(&CType::Void)) } else { found }
    }

    fn descend_to(&self, ty: &CType, mut k: i128, until: Until) -> Option<(i128, CType)> {
        let mut ty = ty.clone();
        // The same type with the newer length, where that is an array's.
        let mut now = ty.clone();
        let mut by = 0;
        if let (Some(size), Some(newer)) = (self.side.unit.size_of(&ty), self.layout.size_of(&ty))
            && size > 0
            && !(0..i128::from(size)).contains(&k)
        {
            by += k.div_euclid(i128::from(size)) * i128::from(newer);
            k = k.rem_euclid(i128::from(size));
            // A member of the object before this one, or what lies before a member of this one: `p->stack - 1`.
            if by < 0 && k != 0 {
                return None;
            }
        }
        // Of several types at one place the outermost that fits is meant, if the others do not lie elsewhere now.
        let mut found: Option<(i128, CType)> = None;
        loop {
            let size = self.side.unit.size_of(&ty);
            let is_scalar = !matches!(ty, CType::Array(..) | CType::Record(_));
            let fits = k == 0
                && match until {
                    Until::Scalar(n) => is_scalar && size.is_some_and(|size| n <= size),
                    Until::Object(n) => size == Some(n),
                    Until::Elements(n) => match &ty {
                        CType::Array(element, _) => self.side.unit.size_of(element) == Some(n),
                        _ => size == Some(n),
                    },
                    Until::Bits(..) | Until::Number(_) => false,
                    Until::Type(CType::Void) | Until::Any => true,
                    Until::Type(t) => is_like((&ty, self.side.unit), (t, self.side.unit)),
                };
            match &found {
                Some((there, outer)) if fits => {
                    let is_sized = matches!(until, Until::Object(_));
                    if *there != by || is_sized && self.layout.size_of(outer) != self.layout.size_of(&now) {
                        return None;
                    }
                }
                None if fits && matches!(until, Until::Type(t) if !matches!(t, CType::Void)) => {
                    return Some((by, now));
                }
                None if fits => found = Some((by, now.clone())),
                _ => {}
            }
            match &ty {
                CType::Array(element, _) => {
                    let (Some(each), Some(newer)) =
                        (self.side.unit.size_of(element), self.layout.size_of(element))
                    else {
                        return found;
                    };
                    if each == 0 {
                        return found;
                    }
                    by += k.div_euclid(i128::from(each)) * i128::from(newer);
                    k = k.rem_euclid(i128::from(each));
                    ty = (**element).clone();
                    now = ty.clone();
                }
                CType::Record(id) => {
                    let (Some(before), Some(after)) =
                        (record(self.side.unit, *id), record(&self.layout, *id))
                    else {
                        return found;
                    };
                    // What is where in a union that is laid out otherwise is not known by its place.
                    if before.is_union && self.relaid.contains(id) {
                        return found;
                    }
                    if before.is_union {
                        return found.or_else(|| {
                            Some((by + k, ty.clone()))
                                .filter(|_| matches!(until, Until::Scalar(_) | Until::Any))
                        });
                    }
                    let within = |f: &Field| match self.side.unit.size_of(&f.ty) {
                        Some(n) => (i128::from(f.offset)..i128::from(f.offset + n)).contains(&k),
                        None => i128::from(f.offset) <= k && matches!(f.ty, CType::Array(..)),
                    };
                    let at: Vec<usize> =
                        (0..before.fields.len()).filter(|i| within(&before.fields[*i])).collect();
                    if let Until::Bits(bits, to) = until {
                        let is_it = |i: &usize| {
                            i128::from(before.fields[*i].offset) == k && before.fields[*i].bits == Some(bits)
                        };
                        if let Some(i) = (0..before.fields.len()).find(is_it) {
                            to.set(after.fields[i].bits.map(|(low, _)| low));
                            return Some((
                                by + i128::from(after.fields[i].offset),
                                before.fields[i].ty.clone(),
                            ));
                        }
                    }
                    if let (Until::Number(member), &[only]) = (until, at.as_slice())
                        && self.fits.contains_key(&(*id, only))
                        && i128::from(before.fields[only].offset) == k
                    {
                        member.set(Some((*id, only)));
                        return Some((
                            by + i128::from(after.fields[only].offset),
                            after.fields[only].ty.clone(),
                        ));
                    }
                    let moved =
                        |i: usize| i128::from(after.fields[i].offset) - i128::from(before.fields[i].offset);
                    // Where several lie, all must have moved together.
                    let Some(&last) = at.last() else { return found };
                    let is_split = at.iter().any(|i| moved(*i) != moved(last));
                    let is_unknown =
                        |i: &usize| self.other.contains(&(*id, *i)) || self.regrouped.contains(&(*id, *i));
                    if is_split || at.iter().any(is_unknown) {
                        return found.filter(|_| matches!(until, Until::Object(_) | Until::Elements(_)));
                    }
                    by += i128::from(after.fields[last].offset);
                    k -= i128::from(before.fields[last].offset);
                    ty = before.fields[last].ty.clone();
                    now = after.fields[last].ty.clone();
                }
                _ if k == 0 => return found,
                _ => {
                    // In the middle of a scalar, whose bytes keep their order.
                    let size = i128::from(size?);
                    let n = if let Until::Scalar(n) = until { i128::from(n) } else { 0 };
                    return found.or_else(|| (k + n <= size).then(|| (by + k, ty.clone())));
                }
            }
        }
    }
}
