//! Memory at the exit, cell by cell: `E->cx == \old(E->cx) + 1` in place of "memory differs".
//!
//! The memory at the exit is one term: stores over the memory at entry, joined by `ite`. Its stores
//! say which places a function writes. A place whose address is made of parameters, globals and what
//! they lead to at entry means the same in all versions: it is a subject of its own, whose value is
//! what is loaded from there at the exit. When the stores of two classes are all that sets their
//! memories apart from one common memory, and every place written is equal, the memories are.

use crate::fact::Formula;
use crate::interp::{self, Outcome};
use crate::invariant::change::cell_value::{CellChange, CellValue, Entry, held};
use crate::invariant::findings::ObservableVerdict;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable, find_var};
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::ir::{App, CType, Function, Leaf, Op, Sort, Term, TermId, TermPool};
use crate::mvicfg::ClassId;
use crate::semantics::{Lines, Val, c_text, library};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Most places that are looked at in one function, and most memory terms searched for them.
const MAX_CELLS: usize = 32;
const MAX_SEARCHED: usize = 4000;

/// Address and bytes of a place.
type Key = (TermId, u64);

/// The places that a class writes.
#[derive(Default)]
struct Written {
    cells: BTreeMap<Key, Sort>,
    /// The memories that the stores are made on.
    bottoms: BTreeSet<TermId>,
    /// Nothing but the cells and dead locals was written to them.
    complete: bool,
    /// Further places, written before the calls and loops that the bottoms stand for: these may have left
    /// them alone.
    beneath: BTreeMap<Key, Sort>,
}

/// The memories that a memory is made of.
fn memories_of(pool: &TermPool, memory: TermId) -> Vec<TermId> {
    let Term::App(_, args) = pool.get(memory) else { return Vec::new() };
    args.iter().copied().filter(|a| pool.sort(*a) == Sort::Mem).collect()
}

/// Whether a place is seen from outside the function, by a name of the program's.
fn is_told(pool: &TermPool, address: TermId) -> bool {
    !is_local(pool, address) && !is_errno(pool, address)
}

impl FunctionAnalysis<'_> {
    /// Finds the facts of the places that the function writes, and which pairs of classes they tell
    /// all about.
    pub(in crate::invariant) fn cells(&mut self) {
        let all = self.task.graph.all_classes();
        let point = self.diff.point.clone();
        let mut written: BTreeMap<ClassId, Written> = BTreeMap::new();
        for (set, val) in observable::values_at(&mut self.e, &Observable::Memory, &point, &all) {
            for c in set.iter() {
                written.insert(c, self.written(val.term));
            }
        }
        let mut cells: BTreeMap<Key, Sort> = BTreeMap::new();
        for w in written.values() {
            cells.extend(w.cells.iter().map(|(k, s)| (*k, *s)));
        }
        if cells.len() > MAX_CELLS {
            return;
        }
        for (key, sort) in written.values().flat_map(|w| &w.beneath) {
            if cells.len() < MAX_CELLS {
                cells.entry(*key).or_insert(*sort);
            }
        }
        if cells.is_empty() {
            return;
        }
        let mut open: BTreeSet<(ClassId, ClassId)> = BTreeSet::new();
        let mut subjects: Vec<Observable> = Vec::new();
        for (&(address, bytes), &sort) in &cells {
            match self.cell_name(address, sort, bytes) {
                Some(name) => subjects.push(Observable::Cell { name: name.into(), address, sort, bytes }),
                None => self.compare_unnamed(address, sort, bytes, &mut open),
            }
        }
        if self.task.options.all {
            // What stays as it was is worth a word, too.
            let members: Vec<Observable> = all.iter().flat_map(|c| self.members(c)).collect();
            subjects.extend(members);
        }
        subjects.sort();
        subjects.dedup();
        for s in &subjects {
            for (pair, verdict) in self.subject(s) {
                if verdict == ObservableVerdict::Open {
                    open.insert(pair);
                }
            }
        }
        // A structure is returned in a local, of which no cell tells.
        let bits = self.task.pointer_bits;
        let returns_object = |b: &Arc<Function>| b.ret != CType::Void && b.ret.sort(bits).is_none();
        if self.task.graph.bodies.iter().any(returns_object) {
            return;
        }
        for &(from, to) in &self.task.pairs {
            let (Some(a), Some(b)) = (written.get(&from), written.get(&to)) else { continue };
            let one_bottom = a.bottoms == b.bottoms && a.bottoms.len() == 1;
            if a.complete && b.complete && one_bottom && !open.contains(&(from, to)) {
                self.settled_memory.insert((from, to));
            }
        }
    }

    /// The places that a memory was written at, by address and bytes; none where there are too many.
    pub(in crate::invariant) fn written_places(&self, memory: TermId) -> BTreeMap<(TermId, u64), Sort> {
        let cells = self.written(memory).cells;
        if cells.len() > MAX_CELLS { BTreeMap::new() } else { cells }
    }

    /// Takes a memory apart.
    fn written(&self, memory: TermId) -> Written {
        let pool = &self.e.pool;
        let mut found = Written { complete: true, ..Written::default() };
        let mut seen = BTreeSet::new();
        let mut work = vec![memory];
        while let Some(m) = work.pop() {
            if !seen.insert(m) {
                continue;
            }
            if seen.len() > MAX_SEARCHED {
                found.complete = false;
                break;
            }
            match pool.get(m) {
                Term::App(App::Op(Op::Ite), args) => work.extend(args.iter().skip(1)),
                Term::App(App::Store { bytes }, args) => {
                    let &[below, address, value] = args.as_slice() else { continue };
                    work.push(below);
                    let sort = match pool.sort(value) {
                        Sort::Bool => Sort::Bv(8),
                        sort => sort,
                    };
                    let places = addresses(pool, address).into_iter().filter(|a| is_told(pool, *a));
                    found.cells.extend(places.map(|a| ((a, *bytes), sort)));
                }
                Term::App(App::ZeroBytes { .. } | App::CopyBytes { .. }, args) => {
                    found.complete &= args.get(1).is_some_and(|a| is_local(pool, *a));
                    work.extend(args.first());
                }
                _ => {
                    found.bottoms.insert(m);
                }
            }
        }
        found.beneath = self.written_beneath(&found.bottoms, seen);
        found
    }

    /// The places that were written before some calls and loops.
    fn written_beneath(&self, bottoms: &BTreeSet<TermId>, mut seen: BTreeSet<TermId>) -> BTreeMap<Key, Sort> {
        let pool = &self.e.pool;
        let mut found = BTreeMap::new();
        let mut work: Vec<TermId> = bottoms.iter().flat_map(|m| memories_of(pool, *m)).collect();
        while let Some(m) = work.pop() {
            if !seen.insert(m) {
                continue;
            }
            if seen.len() > MAX_SEARCHED {
                break;
            }
            if let Term::App(App::Store { bytes }, args) = pool.get(m)
                && let &[_, address, value] = args.as_slice()
                && is_told(pool, address)
                && pool.sort(value) != Sort::Bool
            {
                found.insert((address, *bytes), pool.sort(value));
            }
            work.extend(memories_of(pool, m));
        }
        found
    }

    /// Returns the name of a place, if it has the same one in every class and no variable has it.
    pub(in crate::invariant) fn cell_name(&self, address: TermId, sort: Sort, bytes: u64) -> Option<String> {
        if !self.is_stable(address) {
            return None;
        }
        let names = self.namings.iter().map(|n| {
            let named = c_text::render_lvalue(&self.e.pool, address, sort, bytes, n);
            named.map(|n| n.text).filter(|text| self.is_readable(&Formula::read(text.as_str())))
        });
        let names: BTreeSet<Option<String>> = names.collect();
        let taken = |name: &str| self.task.graph.bodies.iter().any(|b| find_var(b, name, 0).is_some());
        match (names.len(), names.into_iter().next()) {
            (1, Some(name)) => name.filter(|n| !taken(n)),
            _ => None,
        }
    }

    /// Whether an address is made of nothing but what is given at entry.
    pub(in crate::invariant) fn is_stable(&self, address: TermId) -> bool {
        const MAX_TERMS: usize = 40;
        let pool = &self.e.pool;
        let parts = pool.reachable(&[address]);
        parts.len() <= MAX_TERMS
            && parts.iter().all(|&t| match pool.get(t) {
                Term::Const(_) => true,
                Term::Leaf(leaf) => {
                    matches!(leaf, Leaf::Param { .. } | Leaf::SymbolAddr { .. } | Leaf::Memory)
                }
                Term::App(app, _) => match app {
                    App::Op(op) => *op != Op::Ite,
                    App::Load { .. } => true,
                    _ => false,
                },
            })
    }

    /// Decides whether a place without a name is equal; where it is not shown to be, the pair stays
    /// open.
    fn compare_unnamed(
        &mut self,
        address: TermId,
        sort: Sort,
        bytes: u64,
        open: &mut BTreeSet<(ClassId, ClassId)>,
    ) {
        let s = Observable::Cell { name: "".into(), address, sort, bytes };
        let sides = self.sides(&s);
        for &(from, to) in &self.task.pairs {
            let (Some(a), Some(b)) = (sides.get(&from), sides.get(&to)) else { continue };
            if a.key != b.key || a.unknown || b.unknown {
                open.insert((from, to));
            }
        }
    }

    /// Type of a cell in a class.
    pub(in crate::invariant) fn cell_type(&self, class: ClassId, subject: &Observable) -> Option<CType> {
        let Observable::Cell { address, sort, bytes, .. } = subject else { return None };
        let named =
            c_text::render_lvalue(&self.e.pool, *address, *sort, *bytes, self.namings.get(class.index())?);
        named.map(|n| n.ty)
    }

    /// The nodes that write a cell, with what they write, in place of all that write memory.
    pub(in crate::invariant) fn cell_causes(
        &mut self,
        class: ClassId,
        address: TermId,
        val: &Val,
    ) -> Rc<Lines> {
        use crate::ir::Instr;
        let graph = self.task.graph;
        let single = crate::mvicfg::ClassSet::single(class);
        let mut causes = Lines::default();
        for node in val.causes.iter().filter(|n| graph.node(*n).classes.contains(class)) {
            let Instr::Store { addr, value, .. } = &graph.node(node).instr else { continue };
            let at = self.e.expr(addr, node, &single);
            let here = at.iter().any(|(_, v)| addresses(&self.e.pool, v.term).contains(&address));
            if here {
                causes.insert(node);
                for (_, v) in self.e.expr(value, node, &single) {
                    causes = causes.union(&v.causes);
                }
            }
        }
        if causes.is_empty() { val.causes.clone() } else { Rc::new(causes) }
    }

    /// The first object that differs at the end of a run, as both versions leave it.
    pub(in crate::invariant) fn changed_object(
        &self,
        run: &Run,
        from: ClassId,
        to: ClassId,
    ) -> Option<(interp::FinalObject, interp::FinalObject)> {
        let programs = &self.task.programs;
        let identity = run.memory.as_ref()?;
        let old = interp::final_object((&programs[from], &run.old), identity)?;
        Some((old, interp::final_object((&programs[to], &run.new), identity)?))
    }

    /// The values of a cell at the end of a run, if they differ.
    pub(in crate::invariant) fn cell_change(
        &self,
        run: &Run,
        subject: &Observable,
        from: ClassId,
        to: ClassId,
    ) -> Option<CellChange> {
        let Observable::Cell { address, sort, bytes, .. } = subject else { return None };
        if !runs::is_comparable(run) || !runs::both_return(run) {
            return None;
        }
        let (programs, bodies) = (&self.task.programs, &self.task.graph.bodies);
        let value = |class: ClassId, outcome: &Outcome| {
            let entry = Entry {
                pool: &self.e.pool,
                input: &run.input,
                program: &programs[class],
                bodies: [&bodies[to], &bodies[from]],
            };
            let (identity, offset) = entry.place(*address)?;
            held(&interp::final_object((&programs[class], outcome), &identity)?, offset, *sort, *bytes)
        };
        let (old, new) = (value(from, &run.old)?, value(to, &run.new)?);
        let same = match (&old, &new) {
            (CellValue::Const(a), CellValue::Const(b)) => runs::same(Some(*a), Some(*b)),
            (a, b) => a == b,
        };
        let ty = self.cell_type(to, subject)?;
        (!same).then_some(CellChange { ty, old, new })
    }
}

/// The alternatives of an address.
fn addresses(pool: &TermPool, address: TermId) -> Vec<TermId> {
    const MAX: usize = 8;
    let mut found = Vec::new();
    let mut work = vec![address];
    while let Some(a) = work.pop() {
        match pool.as_op(a, Op::Ite) {
            Some(args) if found.len() + work.len() < MAX => work.extend(args.iter().skip(1)),
            _ => found.push(a),
        }
    }
    found
}

/// Whether an address lies in a local, which nobody sees at the exit.
fn is_local(pool: &TermPool, address: TermId) -> bool {
    match pool.get(address) {
        Term::Leaf(Leaf::LocalAddr { .. }) => true,
        Term::App(App::Op(Op::Add), args) => args.iter().any(|a| is_local(pool, *a)),
        _ => false,
    }
}

/// Whether an address is that of `errno`, which is not told of beside results.
fn is_errno(pool: &TermPool, address: TermId) -> bool {
    matches!(pool.get(address), Term::Leaf(Leaf::SymbolAddr { symbol, .. }) if **symbol == *library::ERRNO)
}
