//! Hash-consed terms over a function's inputs.
//!
//! A term is what a variable's value is in terms of parameters, memory at entry and the outside
//! world. Equal ids mean equal values on every input; the converse is for the solver. Terms are
//! normalised when they are made (module `simplify`), by value-preserving rewriting only: for
//! bit-vectors modulo 2^n, for floats identities of IEEE values.
//!
//! Ids belong to one [`TermPool`]; a pool belongs to one function's analysis (all its versions).

pub mod bounds;
pub mod eval;
mod simplify;

use super::{Const, Op, Sort};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Index of a term in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub u32);

/// What the names of parameters that stand for a loop's values begin with; no C name does. Such a
/// value is an input to a proof, and may be anything that the loop computes.
pub const LOOP_VALUE: &str = "\\loop:";
/// Name of the variables that hold lengths of arrays: like that of an inlined callee's, it is none of the function's own.
pub const ARRAY_LENGTH: &str = "array::length";

/// A quantity that is not computed by the function: its value is fixed before the first
/// instruction. Two versions share a leaf when they share its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    /// Parameter by name.
    Param { name: Arc<str>, sort: Sort },
    /// Address of a local (`function:name#ordinal`), distinct from every other object's.
    LocalAddr { key: Arc<str>, bits: u16 },
    /// Address of a global, literal or function, by symbol.
    SymbolAddr { symbol: Arc<str>, bits: u16 },
    /// Memory at entry.
    Memory,
    /// Standard input at entry.
    Stdin,
    /// The outside world at entry.
    World,
    /// Nothing printed yet.
    NoOutput,
    /// Value of an object that was never initialised; reading it is an undefined event.
    Indeterminate { key: Arc<str>, sort: Sort },
    /// A value that the analysis knows nothing about; `key` says why and where.
    Havoc { key: Arc<str>, sort: Sort },
}

/// Uninterpreted function: equal arguments give equal results, nothing else is known but what
/// facts say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uf {
    /// `[stdin]`: value that this conversion (`%d`, `%lf`, `getchar`, ...) yields, of this sort.
    Input { conversion: Arc<str>, sort: Sort },
    /// `[stdin]`: whether the conversion succeeds.
    InputOk { conversion: Arc<str> },
    /// `[stdin]`: whether input ends before the conversion's first character (scanf gives EOF).
    InputEnd { conversion: Arc<str> },
    /// `[stdin]`: standard input after the conversion, successful or not.
    InputRest { conversion: Arc<str> },
    /// Result, memory, world, ... after a call that is not modelled.
    Call { callee: Arc<str>, part: Sort },
    /// Pure library function without an IEEE-fixed result (`sin`, `pow`, ...).
    Library { name: Arc<str>, sort: Sort },
    /// Value of a place at a loop's head, by the loop's hash (`docs/design/symbolic-evaluation.md`).
    Loop { hash: Arc<str>, place: Arc<str>, sort: Sort },
}

/// What a term applies to its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum App {
    Op(Op),
    Uf(Uf),
    /// `[memory, address]`: the `bytes` bytes there, little endian, as a value of `sort`.
    Load {
        sort: Sort,
        bytes: u64,
    },
    /// `[memory, address, value]`: memory after writing the `bytes` bytes of the value.
    Store {
        bytes: u64,
    },
    /// `[memory, destination, source]`, regions equal or disjoint.
    CopyBytes {
        bytes: u64,
    },
    /// `[memory, destination]`.
    ZeroBytes {
        bytes: u64,
    },
    /// `[output]`: output after these literal bytes; adjacent literals are joined.
    OutLiteral(Arc<[u8]>),
    /// `[output, value]`: output after one conversion of a value (`%.3f`, flags and all).
    OutConversion(Arc<str>),
}

/// Node of the dag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Const(Const),
    Leaf(Leaf),
    App(App, Vec<TermId>),
}

/// Decides, by an assumption that it keeps note of, that two regions of memory have no byte in common.
pub trait Separation {
    /// Whether the `n` bytes at `a` and the `m` bytes at `b` may be taken to be apart.
    fn apart(&self, pool: &TermPool, a: TermId, n: u64, b: TermId, m: u64) -> bool;

    /// The memory before a call or a loop that gave `memory`, if the `n` bytes at `a` may be taken to
    /// be left as they were by it.
    fn before(&self, pool: &TermPool, memory: TermId, a: TermId, n: u64) -> Option<TermId>;
}

/// What becomes of a part of a term ([`TermPool::rebuilt`]).
pub enum Rebuilt {
    /// It stays, with what becomes of its arguments.
    Kept,
    /// The same, and is normalised again whether or not an argument changed.
    Anew,
    /// Another takes its place.
    By(TermId),
}

/// Which terms of a pool were met: a bit for each.
struct Seen(Vec<u64>);

impl Seen {
    fn of(pool: &TermPool) -> Seen {
        Seen(vec![0; pool.terms.len() / 64 + 1])
    }

    /// Returns whether a term is met for the first time.
    fn insert(&mut self, t: TermId) -> bool {
        let (word, bit) = (t.0 as usize / 64, 1 << (t.0 % 64));
        let Some(word) = self.0.get_mut(word) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Owner of terms.
#[derive(Default)]
pub struct TermPool {
    /// By id.
    terms: IndexSet<Term, FxBuildHasher>,
    sorts: Vec<Sort>,
    memo: simplify::Memo,
}

impl TermPool {
    pub fn new() -> TermPool {
        TermPool::default()
    }

    pub fn get(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    pub fn sort(&self, id: TermId) -> Sort {
        self.sorts[id.0 as usize]
    }

    /// Returns how many distinct terms were made.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn constant(&mut self, c: Const) -> TermId {
        self.intern(Term::Const(c), c.sort())
    }

    pub fn bool(&mut self, b: bool) -> TermId {
        self.constant(Const::Bool(b))
    }

    pub fn bv(&mut self, width: u16, value: i128) -> TermId {
        self.constant(Const::bv(width, value))
    }

    pub fn leaf(&mut self, leaf: Leaf) -> TermId {
        let sort = match &leaf {
            Leaf::Param { sort, .. } | Leaf::Indeterminate { sort, .. } | Leaf::Havoc { sort, .. } => *sort,
            Leaf::LocalAddr { bits, .. } | Leaf::SymbolAddr { bits, .. } => Sort::Bv(*bits),
            Leaf::Memory => Sort::Mem,
            Leaf::Stdin => Sort::Stdin,
            Leaf::World => Sort::World,
            Leaf::NoOutput => Sort::Out,
        };
        self.intern(Term::Leaf(leaf), sort)
    }

    /// Makes an operator application, normalised.
    pub fn op(&mut self, op: Op, args: &[TermId]) -> TermId {
        simplify::op(self, op, args)
    }

    /// Makes any application, normalised.
    pub fn app(&mut self, app: App, args: &[TermId]) -> TermId {
        simplify::app(self, app, args)
    }

    pub fn not(&mut self, a: TermId) -> TermId {
        self.op(Op::Not, &[a])
    }

    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(Op::And, &[a, b])
    }

    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(Op::Or, &[a, b])
    }

    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(Op::Eq, &[a, b])
    }

    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        self.op(Op::Ite, &[c, a, b])
    }

    pub fn as_const(&self, id: TermId) -> Option<Const> {
        if let Term::Const(c) = self.get(id) { Some(*c) } else { None }
    }

    /// Rebuilds a term with loads that see through more writes: those that `separation` takes to be
    /// elsewhere.
    pub fn separated(&mut self, root: TermId, separation: Rc<dyn Separation>) -> TermId {
        let kept = self.memo.assume(Some(separation));
        // Only where writes are is there something to see through.
        let new = self.rebuilt(root, &|pool, t| match pool.get(t) {
            Term::App(
                App::Load { .. } | App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. },
                _,
            ) => Rebuilt::Anew,
            _ => Rebuilt::Kept,
        });
        self.memo.restore(kept);
        new
    }

    /// Rebuilds a term bottom up: `f` says what becomes of each of its parts, which is normalised again
    /// if an argument changed.
    pub fn rebuilt(&mut self, root: TermId, f: &dyn Fn(&mut TermPool, TermId) -> Rebuilt) -> TermId {
        let mut changed: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in self.reachable(&[root]) {
            let new = match f(self, t) {
                Rebuilt::By(new) => new,
                Rebuilt::Kept if !self.args(t).iter().any(|a| changed.contains_key(a)) => continue,
                Rebuilt::Kept | Rebuilt::Anew => {
                    let Term::App(app, args) = self.get(t).clone() else { continue };
                    let args: Vec<TermId> =
                        args.iter().map(|a| changed.get(a).copied().unwrap_or(*a)).collect();
                    self.app(app, &args)
                }
            };
            if new != t {
                changed.insert(t, new);
            }
        }
        changed.get(&root).copied().unwrap_or(root)
    }

    /// As [`TermPool::rebuilt`] of many terms that have parts in common: `known` has what became of all parts so far, and
    /// `f` is asked of a part once its own parts are there. Cost: linear in the terms that are not known.
    pub fn rebuilt_among(
        &mut self,
        root: TermId,
        known: &mut FxHashMap<TermId, TermId>,
        mut f: impl FnMut(&mut TermPool, TermId, &FxHashMap<TermId, TermId>) -> Rebuilt,
    ) -> TermId {
        let mut stack = vec![(root, false)];
        while let Some((t, done)) = stack.pop() {
            if known.contains_key(&t) {
                continue;
            }
            if !done {
                stack.push((t, true));
                stack.extend(self.args(t).iter().rev().map(|&a| (a, false)));
                continue;
            }
            let becomes = |a: &TermId| known.get(a).copied().unwrap_or(*a);
            let new = match f(self, t, known) {
                Rebuilt::By(new) => new,
                Rebuilt::Kept if self.args(t).iter().all(|a| becomes(a) == *a) => t,
                Rebuilt::Kept | Rebuilt::Anew => match self.get(t).clone() {
                    Term::App(app, args) => {
                        let args: Vec<TermId> = args.iter().map(becomes).collect();
                        self.app(app, &args)
                    }
                    _ => t,
                },
            };
            known.insert(t, new);
        }
        known.get(&root).copied().unwrap_or(root)
    }

    /// Returns the term of a leaf that was made already.
    pub fn known_leaf(&self, leaf: &Leaf) -> Option<TermId> {
        self.find(&Term::Leaf(leaf.clone()))
    }

    /// Returns the arguments if `id` applies exactly this operator.
    pub fn as_op(&self, id: TermId, op: Op) -> Option<&[TermId]> {
        match self.get(id) {
            Term::App(App::Op(o), args) if *o == op => Some(args),
            _ => None,
        }
    }

    /// Returns the direct arguments of a term, none for constants and leaves.
    pub fn args(&self, id: TermId) -> &[TermId] {
        if let Term::App(_, args) = self.get(id) { args } else { &[] }
    }

    /// Returns every distinct term reachable from `roots`, arguments before users.
    pub fn reachable(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen = Seen::of(self);
        let mut order = Vec::new();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((t, done)) = stack.pop() {
            if done {
                order.push(t);
            } else if seen.insert(t) {
                stack.push((t, true));
                stack.extend(self.args(t).iter().rev().map(|&a| (a, false)));
            }
        }
        order
    }

    /// Whether one of the terms reachable from `root` is such a one, or there are more than `most`.
    pub fn has_some(&self, root: TermId, most: usize, is: impl Fn(TermId) -> bool) -> bool {
        let mut seen = Seen::of(self);
        let mut stack = vec![root];
        let mut count = 0;
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            count += 1;
            if count > most || is(t) {
                return true;
            }
            stack.extend(self.args(t));
        }
        false
    }

    fn result_sort(&self, app: &App, args: &[TermId]) -> Sort {
        match app {
            App::Op(op) => {
                let sorts: Vec<Sort> = args.iter().map(|&a| self.sort(a)).collect();
                op.result_sort(&sorts)
            }
            App::Uf(uf) => match uf {
                Uf::Input { sort, .. } | Uf::Library { sort, .. } | Uf::Loop { sort, .. } => *sort,
                Uf::InputOk { .. } | Uf::InputEnd { .. } => Sort::Bool,
                Uf::InputRest { .. } => Sort::Stdin,
                Uf::Call { part, .. } => *part,
            },
            App::Load { sort, .. } => *sort,
            App::Store { .. } | App::CopyBytes { .. } | App::ZeroBytes { .. } => Sort::Mem,
            App::OutLiteral(_) | App::OutConversion(_) => Sort::Out,
        }
    }

    /// Returns the id of a term that was made already.
    fn find(&self, term: &Term) -> Option<TermId> {
        self.terms.get_index_of(term).map(|id| TermId(id as u32))
    }

    /// Interns without normalising; for `simplify` alone.
    fn raw(&mut self, app: App, args: Vec<TermId>) -> TermId {
        let sort = self.result_sort(&app, &args);
        self.intern(Term::App(app, args), sort)
    }

    fn intern(&mut self, term: Term, sort: Sort) -> TermId {
        let (id, is_new) = self.terms.insert_full(term);
        if is_new {
            self.sorts.push(sort);
        }
        TermId(id as u32)
    }
}
