//! Which regions of memory are apart, by the types of one class, and what that takes for granted.

use crate::fact::{Expression, Formula, Kind};
use crate::invariant::proof::abstraction;
use crate::ir::{App, Leaf, Linkage, Op, Separation, Sort, Term, TermId, TermPool, Uf, Unit};
use crate::semantics::c_text::{self, Extent, Naming};
use crate::semantics::calls::RETURNS_OBJECT;
use crate::semantics::frames::{self, Bytes, Frame, Frames};
use crate::semantics::library;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of the name of a pointer that an assumption speaks of.
const MAX_NAME: usize = 40;
/// What a loop writes: places that are the same in all iterations, and others by their types.
#[derive(Default)]
pub(in crate::invariant) struct Written {
    pub(super) at: Vec<Extent>,
    pub(super) frame: Frame,
}

/// By a loop's hash.
pub(in crate::invariant) type LoopFrames = FxHashMap<Arc<str>, Option<Written>>;

/// What accesses can touch, by the types of one class, as far as it was asked.
pub(in crate::invariant) struct Regions {
    pub(super) unit: Arc<Unit>,
    pub(super) naming: Naming<'static>,
    pub(super) extents: RefCell<FxHashMap<(TermId, u64), Option<Extent>>>,
}

/// Takes regions apart by the types of one class, and notes what it took for granted.
pub(super) struct ByTypes {
    pub(super) regions: Rc<Regions>,
    pub(super) frames: RefCell<Frames>,
    /// What each loop writes, by its hash.
    pub(super) loops: Rc<LoopFrames>,
    pub(super) used: RefCell<BTreeSet<String>>,
}

impl Regions {
    fn extent(&self, pool: &TermPool, address: TermId, bytes: u64) -> Option<Extent> {
        if let Some(known) = self.extents.borrow().get(&(address, bytes)) {
            return known.clone();
        }
        let naming = Naming { unit: Some(&self.unit), ..self.naming.clone() };
        let found = c_text::extent(pool, address, bytes, &naming);
        self.extents.borrow_mut().insert((address, bytes), found.clone());
        found
    }
}

impl Separation for ByTypes {
    fn apart(&self, pool: &TermPool, a: TermId, n: u64, b: TermId, m: u64) -> bool {
        // No pointer of a program leads to `errno` but its own.
        if is_errno(pool, a) != is_errno(pool, b) {
            return true;
        }
        if is_new_beside(pool, a, b) || is_new_beside(pool, b, a) {
            return true;
        }
        // What is moved is in a new object or where it was.
        let (a, b) = (moved_from(pool, a).unwrap_or(a), moved_from(pool, b).unwrap_or(b));
        match (self.regions.extent(pool, a, n), self.regions.extent(pool, b, m)) {
            (Some(x), Some(y)) => self.are_apart(x, y),
            _ => false,
        }
    }

    fn before(&self, pool: &TermPool, memory: TermId, a: TermId, n: u64) -> Option<TermId> {
        let Term::App(App::Uf(uf), args) = pool.get(memory) else { return None };
        let x = self.regions.extent(pool, a, n)?;
        match uf {
            Uf::Loop { hash, place, .. } if **place == *"Memory" => {
                let written = self.loops.get(hash)?.as_ref()?;
                let kept = written.at.iter().all(|y| self.are_apart(x.clone(), y.clone()))
                    && self.keeps(&x, &written.frame);
                args.last().copied().filter(|_| kept)
            }
            Uf::Call { callee, .. } => {
                let called = callee.strip_suffix(":Memory")?;
                let name = called.split(['@', '#', RETURNS_OBJECT]).next()?;
                let mut memories = args.iter().copied().filter(|t| pool.sort(*t) == Sort::Mem);
                let (Some(below), None) = (memories.next(), memories.next()) else { return None };
                let kept = match (self.regions.unit.callee(name), library::row(name)) {
                    _ if called.ends_with(RETURNS_OBJECT) && !self.is_beside_result(pool, &x, args) => false,
                    (Some(_), _) => {
                        let frame = self.frames.borrow_mut().of(&self.regions.unit, name);
                        self.keeps(&x, &frame)
                    }
                    (None, Some(row)) => self.is_kept_by_library(pool, (a, &x), row, args),
                    (None, None) => false,
                };
                kept.then_some(below)
            }
            _ => None,
        }
    }
}

impl ByTypes {
    /// Whether a place is none of the object that a call puts its result into: the last address that it gets.
    fn is_beside_result(&self, pool: &TermPool, x: &Extent, args: &[TermId]) -> bool {
        let of_call =
            args.iter().take_while(|t| !matches!(pool.sort(**t), Sort::Mem | Sort::World | Sort::Stdin));
        let Some(&at) = of_call.last() else { return false };
        self.regions.extent(pool, at, 0).is_some_and(|y| x.base != y.base && self.are_apart(x.clone(), y))
    }

    /// Whether a library function leaves a place as it is: it is not what an argument leads to.
    fn is_kept_by_library(
        &self,
        pool: &TermPool,
        (at, x): (TermId, &Extent),
        row: &library::Row,
        args: &[TermId],
    ) -> bool {
        if row.memory && matches!(pool.get(x.base), Term::App(App::Uf(Uf::Call { .. }), _)) {
            // What is in a new object is what it makes.
            return false;
        }
        let pointer = |t: &TermId| pool.sort(*t) == Sort::Bv(self.regions.unit.data_model.pointer_bits());
        let count = args.iter().take_while(|t| !matches!(pool.sort(**t), Sort::Mem | Sort::World)).count();
        let null = |t: &TermId| pool.as_const(*t).is_some_and(|c| c.unsigned() == Some(0));
        let written = args.iter().take(count).enumerate();
        let written = written.filter(|(k, t)| row.writes_arg(*k) && pointer(t) && !null(t));
        let mut written = written.map(|(_, t)| *t).filter(|t| !is_new_beside(pool, *t, at));
        written.all(|t| {
            let y = self.regions.extent(pool, moved_from(pool, t).unwrap_or(t), 0);
            y.is_some_and(|y| self.are_apart(x.clone(), y))
        })
    }

    /// Whether a place is outside what may be written; notes what that takes for granted.
    fn keeps(&self, x: &Extent, frame: &Frame) -> bool {
        if frame.anything {
            return false;
        }
        let meets = |(low, high): &Bytes| x.range.is_none_or(|(l, h)| l < *high && *low < h);
        let through_pointers = frame.scalars || !frame.records.is_empty();
        let mut taken = BTreeSet::new();
        if let Some(symbol) = &x.symbol {
            if frame.globals.iter().any(|(s, bytes)| s == symbol && meets(bytes)) {
                return false;
            }
            if through_pointers {
                let Some(global) = self.regions.unit.global(symbol) else { return false };
                if frames::exposed(&self.regions.unit).iter().any(|(s, bytes)| s == symbol && meets(bytes)) {
                    return false;
                }
                if global.linkage != Linkage::Internal {
                    taken.insert(format!("no-interior-pointer({})", global.name));
                }
            }
        } else {
            let Some(record) = x.record.filter(|_| is_name(&x.text)) else { return false };
            if frame.records.iter().any(|(r, bytes)| *r == record && meets(bytes)) {
                return false;
            }
            if frame.scalars || frame.records.iter().any(|(r, _)| *r != record) {
                let Some(r) = self.regions.unit.records.get(record.0 as usize) else { return false };
                taken.insert(format!("no-interior-pointer({})", r.name));
            }
            for (symbol, _) in &frame.globals {
                let Some(global) = self.regions.unit.global(symbol) else { return false };
                let pair = format!("&{}", global.name);
                let (first, second) = if pair <= x.text { (&pair, &x.text) } else { (&x.text, &pair) };
                taken.insert(format!("\\separated({first}, {second})"));
            }
        }
        taken.extend(x.array.as_ref().map(|a| format!("in-bounds({a})")));
        self.used.borrow_mut().extend(taken);
        true
    }

    /// Whether two places may be taken to be apart; notes what that takes for granted.
    fn are_apart(&self, x: Extent, y: Extent) -> bool {
        if x.base != y.base {
            // Two objects of the program's.
            if x.symbol.is_some() && y.symbol.is_some() {
                return true;
            }
            if !is_name(&x.text) || !is_name(&y.text) {
                return false;
            }
            let (first, second) = if x.text <= y.text { (x.text, y.text) } else { (y.text, x.text) };
            // Of one name for two pointers an assumption would say nothing.
            if first == second {
                return false;
            }
            self.used.borrow_mut().insert(format!("\\separated({first}, {second})"));
            return true;
        }
        let (Some((s, e)), Some((t, f))) = (x.range, y.range) else { return false };
        let apart = e <= t || f <= s;
        if apart {
            let arrays = [x.array, y.array].into_iter().flatten();
            self.used.borrow_mut().extend(arrays.map(|a| format!("in-bounds({a})")));
        }
        apart
    }
}

/// Whether an address is in an object that was allocated and another is made of what was given at entry,
/// or in another new object.
fn is_new_beside(pool: &TermPool, a: TermId, b: TermId) -> bool {
    let Some(new) = new_object(pool, a) else { return false };
    match new_object(pool, b) {
        Some(other) => new != other,
        None => is_given(pool, b),
    }
}

/// The call that allocated the object that an address is in.
fn new_object(pool: &TermPool, address: TermId) -> Option<TermId> {
    match pool.get(address) {
        Term::App(App::Uf(Uf::Call { callee, .. }), _) => {
            let name = callee.strip_suffix(":result")?;
            matches!(name, "malloc" | "calloc" | "alloca").then_some(address)
        }
        Term::App(App::Op(Op::Add), args) => args.iter().find_map(|t| new_object(pool, *t)),
        _ => None,
    }
}

/// Where an object was before `realloc`, of an address in it.
fn moved_from(pool: &TermPool, address: TermId) -> Option<TermId> {
    match pool.get(address) {
        Term::App(App::Uf(Uf::Call { callee, .. }), args) if **callee == *"realloc:result" => {
            args.first().copied().filter(|p| is_given(pool, *p))
        }
        Term::App(App::Op(Op::Add), args) => args.iter().find_map(|t| moved_from(pool, *t)),
        _ => None,
    }
}

/// Whether an address is made of nothing but what was given at entry.
fn is_given(pool: &TermPool, address: TermId) -> bool {
    const MAX_TERMS: usize = 40;
    let parts = pool.reachable(&[address]);
    parts.len() <= MAX_TERMS
        && parts.iter().all(|&t| match pool.get(t) {
            Term::Const(_) | Term::Leaf(Leaf::SymbolAddr { .. } | Leaf::Memory) => true,
            Term::Leaf(Leaf::Param { name, .. }) => !abstraction::is_loop_value(name),
            Term::App(App::Op(_) | App::Load { .. }, _) => true,
            _ => false,
        })
}

fn is_errno(pool: &TermPool, address: TermId) -> bool {
    matches!(pool.get(address), Term::Leaf(Leaf::SymbolAddr { symbol, .. }) if **symbol == *library::ERRNO)
}

/// Whether a text names a pointer as of the function's entry, shortly.
fn is_name(text: &str) -> bool {
    let name = Formula::read(text);
    let inner = |e: &Expression| match &e.kind {
        Kind::At(..) | Kind::Conditional(..) => true,
        Kind::Name(name) => name.ends_with("@loop"),
        _ => false,
    };
    text.len() <= MAX_NAME && !name.is_cut() && !name.any(&inner)
}

#[cfg(test)]
mod tests;
