//! Facts for memory whose parts do not overlap (design D3: aliasing assumptions are listed).
//!
//! A term is exact: a load after a write through another pointer stays open, since the two may lead to
//! the same bytes. What a reader of C expects is the value for pointers that lead to different
//! objects, and indices that stay inside their arrays. Here a term is rebuilt under such
//! assumptions, and those that were used are named with the fact: `\\separated(p, q)`,
//! `in-bounds(r->buf)`.

use super::consolidate::Engine;
use crate::ir::{App, Leaf, Separation, Term, TermId, TermPool, Unit};
use crate::semantics::c_text::{self, Extent, Naming};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Assumptions of one fact; what needs more is left as it is.
const MAX_ASSUMPTIONS: usize = 6;
/// Bytes of the name of a pointer that an assumption speaks of.
const MAX_NAME: usize = 40;
/// Terms of a value that is looked at.
const MAX_TERMS: usize = 2000;

/// Takes regions apart by the types of one class, and notes what it took for granted.
struct ByTypes {
    unit: Arc<Unit>,
    naming: Naming<'static>,
    extents: RefCell<HashMap<(TermId, u64), Option<Extent>>>,
    used: RefCell<BTreeSet<String>>,
}

impl ByTypes {
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
        let (Some(x), Some(y)) = (self.extent(pool, a, n), self.extent(pool, b, m)) else { return false };
        if x.base != y.base {
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

/// Whether a text names a pointer as of the function's entry, shortly.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && !text.contains("...")
        && !text.contains("\\at(")
        && !text.contains("@loop")
        && !text.contains('?')
}

impl Engine<'_> {
    /// Returns a term of a class for memory without overlaps, and the assumptions that this took: none
    /// when the term does not depend on them.
    pub(super) fn separated(&mut self, class: usize, term: TermId) -> (TermId, BTreeSet<String>) {
        let nothing = (term, BTreeSet::new());
        if self.task.options.aliases || !self.is_blurred(term) {
            return nothing;
        }
        let Some(naming) = self.namings.get(class) else { return nothing };
        let naming = Naming {
            unit: None,
            types: naming.types.clone(),
            names: BTreeMap::new(),
            old_params: naming.old_params.clone(),
            old_memory: naming.old_memory,
            loops: BTreeMap::new(),
            max_len: naming.max_len,
        };
        let separation = Rc::new(ByTypes {
            unit: self.task.units[class].clone(),
            naming,
            extents: RefCell::default(),
            used: RefCell::default(),
        });
        let clear = self.e.pool.separated(term, separation.clone());
        let used = separation.used.take();
        if clear == term || used.len() > MAX_ASSUMPTIONS { nothing } else { (clear, used) }
    }

    /// Whether a term reads memory that something was written to.
    fn is_blurred(&self, term: TermId) -> bool {
        let pool = &self.e.pool;
        let parts = pool.reachable(&[term]);
        let written = |m: TermId| !matches!(pool.get(m), Term::Leaf(Leaf::Memory | Leaf::Param { .. }));
        parts.len() <= MAX_TERMS
            && parts.iter().any(|&t| match pool.get(t) {
                Term::App(App::Load { .. }, args) => args.first().is_some_and(|m| written(*m)),
                _ => false,
            })
    }
}
