//! Values of terms on concrete inputs.
//!
//! A [`Program`] is the part of a pool below some terms in evaluation order (ids grow from arguments
//! to users, so the order of ids is one); it is made once and run on many [`Assignment`]s. Operators
//! have the meaning of [`Op::eval`]. A term whose value rests on an undefined event has that event
//! instead of a value; truth values and `Ite` look only at the arguments that decide (Kleene's strong
//! logic), because a join's term holds the operators of all its branches and only one was executed.
//!
//! Uninterpreted functions are functions: applications with equal arguments have equal values.
//! States of standard input and the world are free terms over them (two states are equal when they
//! were made in the same way), outputs are sequences of bytes and conversions.
//!
//! Cost: linear in the number of terms below the roots, for each run; memory reads walk the chain of
//! writes.

mod changing;
mod input;
mod memory;

pub use changing::Changing;
pub use input::{Assignment, Fill, Palette};

use super::{App, Leaf, Term, TermId, TermPool, Uf};
use crate::{Const, Op, Sort, UndefinedKind};
use input::{ENTRY_MEMORY, fingerprint};
use memory::Memory;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Piece of an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OutPiece {
    /// Output before the function's own, by fingerprint.
    Before(u128),
    Bytes(Vec<u8>),
    /// Conversion text and the value converted.
    Conversion(Arc<str>, Const),
}

/// Value of a term.
#[derive(Clone, Debug)]
pub enum Value {
    Const(Const),
    Memory(Rc<Memory>),
    /// State of standard input or of the world, by fingerprint.
    State(u128),
    Output(Rc<Vec<OutPiece>>),
}

/// Value, or the undefined event on which it rests.
pub type EvalResult = Result<Value, UndefinedKind>;

/// The terms below some roots, ready for evaluation.
pub struct Program {
    /// Ascending ids, hence arguments before users.
    order: Vec<TermId>,
    /// For each term of `order`, the positions of its arguments in `order`.
    args: Vec<Box<[u32]>>,
    position: FxHashMap<TermId, u32>,
}

impl Program {
    pub fn new(pool: &TermPool, roots: &[TermId]) -> Program {
        let mut order = pool.reachable(roots);
        order.sort_unstable();
        let position: FxHashMap<TermId, u32> =
            order.iter().enumerate().map(|(i, &t)| (t, i as u32)).collect();
        let args = order.iter().map(|&t| pool.args(t).iter().map(|a| position[a]).collect()).collect();
        Program { order, args, position }
    }

    /// Returns the terms in evaluation order.
    pub fn terms(&self) -> &[TermId] {
        &self.order
    }

    /// Evaluates every term of the program.
    pub fn run<'a>(&'a self, pool: &TermPool, assignment: &'a Assignment) -> Run<'a> {
        self.run_until(pool, assignment, &|_, _| false)
    }

    /// Returns the run on an assignment if a condition holds there: what [`Program::run`] gives, and nothing more is
    /// evaluated once one of its parts does not hold.
    pub fn satisfying<'a>(
        &'a self,
        pool: &TermPool,
        assignment: &'a Assignment,
        condition: &Parts,
    ) -> Option<Run<'a>> {
        // A value that is fixed for one application may turn out to be that of an earlier one, too: then a part that
        // did not hold may hold in the next round.
        let may_clash = condition.has_functions
            && assignment.values().any(|(t, _)| matches!(pool.get(t), Term::App(App::Uf(_), _)));
        let is_refuted = |i: usize, value: &EvalResult| match condition.wanted.get(i) {
            Some(Some(wanted)) => !matches!(value, Ok(Value::Const(Const::Bool(b))) if b == wanted),
            _ => false,
        };
        let run = match may_clash {
            true => self.run(pool, assignment),
            false => self.run_until(pool, assignment, &is_refuted),
        };
        let is_whole = run.values.len() == self.order.len();
        (is_whole && run.holds(condition.whole) == Some(true)).then_some(run)
    }

    /// Evaluates the terms in order, until one of them has a value at which to stop.
    fn run_until<'a>(
        &'a self,
        pool: &TermPool,
        assignment: &'a Assignment,
        is_over: &dyn Fn(usize, &EvalResult) -> bool,
    ) -> Run<'a> {
        let mut table: UfTable = FxHashMap::default();
        loop {
            let mut run = Run {
                program: self,
                assignment,
                values: Vec::with_capacity(self.order.len()),
                reads: RefCell::default(),
                memories: RefCell::default(),
            };
            let mut clash = false;
            for i in 0..self.order.len() {
                let value = run.step(pool, i, &mut table, &mut clash);
                let is_over = is_over(i, &value);
                run.values.push(value);
                if is_over {
                    return run;
                }
            }
            // An application without a value of its own was filled before a later one with equal
            // arguments turned out to have one: that value is in the table now, so once more.
            // Each round settles at least the first application that clashed.
            if !clash {
                return run;
            }
        }
    }
}

/// A condition of a program, and what its parts have to be for it to hold.
pub struct Parts {
    whole: TermId,
    /// By position.
    wanted: Vec<Option<bool>>,
    /// The program has uninterpreted functions.
    has_functions: bool,
}

impl Parts {
    /// Takes a condition of a program apart: a conjunction holds where all of its parts do.
    pub fn of(pool: &TermPool, program: &Program, condition: TermId) -> Parts {
        let mut wanted = vec![None; program.order.len()];
        let mut open = vec![(condition, true)];
        while let Some((t, holds)) = open.pop() {
            let Some(place) = program.position.get(&t).and_then(|&i| wanted.get_mut(i as usize)) else {
                continue;
            };
            // What has to be both ways never holds; one of them is enough to know.
            if place.replace(holds).is_some() {
                continue;
            }
            match pool.get(t) {
                Term::App(App::Op(Op::And), args) if holds => open.extend(args.iter().map(|&a| (a, true))),
                Term::App(App::Op(Op::Or), args) if !holds => open.extend(args.iter().map(|&a| (a, false))),
                Term::App(App::Op(Op::Not), args) => open.extend(args.iter().map(|&a| (a, !holds))),
                _ => {}
            }
        }
        let is_function = |t: &TermId| matches!(pool.get(*t), Term::App(App::Uf(_), _));
        let has_functions = program.order.iter().any(is_function);
        Parts { whole: condition, wanted, has_functions }
    }
}

/// Results of uninterpreted functions by function and arguments; `true` for those that the
/// assignment fixes.
type UfTable = FxHashMap<(u128, Vec<u128>), (Const, bool)>;

/// Values of a program's terms under one assignment.
pub struct Run<'a> {
    program: &'a Program,
    assignment: &'a Assignment,
    values: Vec<EvalResult>,
    /// Bytes of roots that were read, by root and address.
    reads: RefCell<FxHashMap<(u128, u64), u8>>,
    /// What the memories that functions are given hold, by position: a call has several results.
    memories: RefCell<FxHashMap<u32, Option<u128>>>,
}

impl Drop for Run<'_> {
    /// Drops users before arguments: memories are chains, and dropping the last link of a long one
    /// first keeps the recursion flat.
    fn drop(&mut self) {
        while self.values.pop().is_some() {}
    }
}

impl Run<'_> {
    /// Returns the outcome of a term of the program; a term outside of it has none (`BadCall`).
    pub fn outcome(&self, term: TermId) -> Result<&Value, UndefinedKind> {
        match self.program.position.get(&term).map(|&i| &self.values[i as usize]) {
            Some(Ok(v)) => Ok(v),
            Some(Err(e)) => Err(*e),
            None => Err(UndefinedKind::BadCall),
        }
    }

    /// Returns the value of a term of a value sort.
    pub fn constant(&self, term: TermId) -> Result<Const, UndefinedKind> {
        if let Value::Const(c) = self.outcome(term)? { Ok(*c) } else { Err(UndefinedKind::BadCall) }
    }

    /// Returns whether a condition holds; `None` when it rests on an undefined event.
    pub fn holds(&self, condition: TermId) -> Option<bool> {
        self.constant(condition).ok()?.as_bool()
    }

    /// Returns whether two terms have the same value; `None` when one rests on an undefined event.
    pub fn same(&self, a: TermId, b: TermId) -> Option<bool> {
        self.equal(self.outcome(a).ok()?, self.outcome(b).ok()?)
    }

    /// Returns the inputs that this run used, all of them fixed, whatever filled them before.
    pub fn inputs(&self, pool: &TermPool) -> Assignment {
        let mut fixed = Assignment::new();
        for (&t, value) in self.program.order.iter().zip(&self.values) {
            if let (Term::Leaf(_) | Term::App(App::Uf(_), _), Ok(Value::Const(c))) = (pool.get(t), value) {
                fixed.set(t, *c);
            }
        }
        for (&(root, a), &b) in self.reads.borrow().iter() {
            fixed.set_byte_of(root, a, b);
        }
        fixed
    }

    /// Returns the bytes that were read but not fixed by the assignment: the term of the memory that
    /// is not computed (the one at entry, that of a leaf, or after an unknown call), the fingerprint
    /// of its value, and the address.
    pub fn open_bytes(&self, pool: &TermPool) -> Vec<(TermId, u128, u64)> {
        let mut roots = BTreeMap::new();
        for (&t, value) in self.program.order.iter().zip(&self.values) {
            if let Ok(Value::Memory(m)) = value
                && let Memory::Root(root) = **m
                && matches!(pool.get(t), Term::Leaf(_) | Term::App(App::Uf(_), _))
            {
                roots.entry(root).or_insert(t);
            }
        }
        let reads = self.reads.borrow();
        let open = reads.keys().filter(|&&(root, a)| !self.assignment.has_byte(root, a));
        let mut open: Vec<(u128, u64)> = open.copied().collect();
        open.sort_unstable();
        open.into_iter().filter_map(|(root, a)| Some((*roots.get(&root)?, root, a))).collect()
    }

    fn arg(&self, i: usize, k: usize) -> EvalResult {
        match self.program.args[i].get(k) {
            Some(&a) => self.values[a as usize].clone(),
            None => Err(UndefinedKind::BadCall),
        }
    }

    fn const_arg(&self, i: usize, k: usize) -> Result<Const, UndefinedKind> {
        if let Value::Const(c) = self.arg(i, k)? { Ok(c) } else { Err(UndefinedKind::BadCall) }
    }

    fn memory_arg(&self, i: usize, k: usize) -> Result<Rc<Memory>, UndefinedKind> {
        if let Value::Memory(m) = self.arg(i, k)? { Ok(m) } else { Err(UndefinedKind::BadCall) }
    }

    fn address_arg(&self, i: usize, k: usize) -> Result<u64, UndefinedKind> {
        Ok(self.const_arg(i, k)?.to_bits() as u64)
    }

    fn step(&self, pool: &TermPool, i: usize, table: &mut UfTable, clash: &mut bool) -> EvalResult {
        let id = self.program.order[i];
        match pool.get(id) {
            Term::Const(c) => Ok(Value::Const(*c)),
            Term::Leaf(leaf) => self.leaf(id, leaf, pool.sort(id)),
            Term::App(app, _) => match app {
                App::Op(op) => self.operator(i, *op),
                App::Uf(uf) => self.uninterpreted(i, id, uf, pool.sort(id), table, clash),
                App::Load { sort, bytes } => self.load(i, *sort, *bytes),
                App::Store { bytes } => {
                    let (base, at) = (self.memory_arg(i, 0)?, self.address_arg(i, 1)?);
                    let bits = self.const_arg(i, 2)?.to_bits();
                    let data = (0..*bytes).map(|k| if k < 16 { (bits >> (8 * k)) as u8 } else { 0 });
                    Ok(Value::Memory(Rc::new(Memory::Store { base, at, data: data.collect() })))
                }
                App::CopyBytes { bytes } => Ok(Value::Memory(Rc::new(Memory::Copy {
                    base: self.memory_arg(i, 0)?,
                    to: self.address_arg(i, 1)?,
                    from: self.address_arg(i, 2)?,
                    bytes: *bytes,
                }))),
                App::ZeroBytes { bytes } => Ok(Value::Memory(Rc::new(Memory::Zero {
                    base: self.memory_arg(i, 0)?,
                    at: self.address_arg(i, 1)?,
                    bytes: *bytes,
                }))),
                App::OutLiteral(bytes) => self.print(i, |pieces| match pieces.last_mut() {
                    _ if bytes.is_empty() => {}
                    Some(OutPiece::Bytes(b)) => b.extend_from_slice(bytes),
                    _ => pieces.push(OutPiece::Bytes(bytes.to_vec())),
                }),
                App::OutConversion(text) => {
                    let value = self.const_arg(i, 1)?;
                    self.print(i, |pieces| pieces.push(OutPiece::Conversion(text.clone(), value)))
                }
            },
        }
    }

    fn leaf(&self, id: TermId, leaf: &Leaf, sort: Sort) -> EvalResult {
        Ok(match sort {
            Sort::Mem if *leaf == Leaf::Memory => Value::Memory(Rc::new(Memory::Root(ENTRY_MEMORY))),
            Sort::Mem => Value::Memory(Rc::new(Memory::Root(fingerprint(leaf)))),
            Sort::Stdin | Sort::World => Value::State(fingerprint(leaf)),
            Sort::Out if *leaf == Leaf::NoOutput => Value::Output(Rc::default()),
            Sort::Out => Value::Output(Rc::new(vec![OutPiece::Before(fingerprint(leaf))])),
            _ => Value::Const(self.assignment.leaf(id, leaf, sort).ok_or(UndefinedKind::BadCall)?),
        })
    }

    fn operator(&self, i: usize, op: Op) -> EvalResult {
        let args = &self.program.args[i];
        match op {
            Op::Ite => return self.arg(i, if self.const_arg(i, 0)? == Const::TRUE { 1 } else { 2 }),
            Op::And | Op::Or => {
                let deciding = Const::Bool(op == Op::Or);
                let mut undefined = None;
                for k in 0..args.len() {
                    match self.const_arg(i, k) {
                        Ok(c) if c == deciding => return Ok(Value::Const(deciding)),
                        Ok(_) => {}
                        Err(e) => undefined = undefined.or(Some(e)),
                    }
                }
                return undefined.map_or(Ok(Value::Const(Const::Bool(op == Op::And))), Err);
            }
            Op::Eq => {
                let same = self.equal(&self.arg(i, 0)?, &self.arg(i, 1)?);
                return same.map(|b| Value::Const(Const::Bool(b))).ok_or(UndefinedKind::BadCall);
            }
            _ => {}
        }
        let mut consts = [Const::FALSE; 3];
        let count = args.len().min(consts.len());
        for (k, c) in consts.iter_mut().enumerate().take(count) {
            *c = self.const_arg(i, k)?;
        }
        op.eval(&consts[..count]).map(Value::Const)
    }

    fn uninterpreted(
        &self,
        i: usize,
        id: TermId,
        uf: &Uf,
        sort: Sort,
        table: &mut UfTable,
        clash: &mut bool,
    ) -> EvalResult {
        let name = fingerprint(uf);
        let mut args = Vec::with_capacity(self.program.args[i].len());
        for (k, position) in self.program.args[i].iter().enumerate() {
            let value = match self.arg(i, k)? {
                Value::Memory(memory) => self.memory_fingerprint(*position, &memory),
                value => self.value_fingerprint(&value),
            };
            args.push(value.ok_or(UndefinedKind::BadCall)?);
        }
        let whole = fingerprint(&(name, &args));
        match sort {
            Sort::Mem => return Ok(Value::Memory(Rc::new(Memory::Root(whole | 1)))),
            Sort::Stdin | Sort::World => return Ok(Value::State(whole)),
            Sort::Out => return Ok(Value::Output(Rc::new(vec![OutPiece::Before(whole)]))),
            _ => {}
        }
        let key = (name, args);
        let known = table.get(&key).copied();
        let value = match (known, self.assignment.get(id)) {
            (Some((c, true)), _) => c,
            (earlier, Some(c)) => {
                *clash |= earlier.is_some_and(|(e, _)| e != c);
                table.insert(key, (c, true));
                c
            }
            (Some((c, false)), None) => c,
            (None, None) => {
                let c = match uf {
                    Uf::InputOk { conversion } | Uf::InputEnd { conversion } => {
                        let filled = self.assignment.fill_conversion(fingerprint(&(conversion, &key.1)));
                        Const::Bool(if let Uf::InputOk { .. } = uf { filled.0 } else { filled.1 })
                    }
                    _ => self.assignment.fill_value(sort, whole).ok_or(UndefinedKind::BadCall)?,
                };
                table.insert(key, (c, false));
                c
            }
        };
        Ok(Value::Const(value))
    }

    fn load(&self, i: usize, sort: Sort, bytes: u64) -> EvalResult {
        let (memory, at) = (self.memory_arg(i, 0)?, self.address_arg(i, 1)?);
        let mut bits = 0u128;
        for k in 0..bytes.min(16) {
            bits |= (self.byte(&memory, at.wrapping_add(k)) as u128) << (8 * k);
        }
        Const::from_bits(sort, bits).map(Value::Const).ok_or(UndefinedKind::BadCall)
    }

    fn byte(&self, memory: &Rc<Memory>, at: u64) -> u8 {
        match memory.byte(at) {
            Ok(known) => known,
            Err((root, at)) => self.root_byte(root, at),
        }
    }

    fn root_byte(&self, root: u128, at: u64) -> u8 {
        let b = self.assignment.byte(root, at);
        self.reads.borrow_mut().insert((root, at), b);
        b
    }

    fn print(&self, i: usize, append: impl FnOnce(&mut Vec<OutPiece>)) -> EvalResult {
        let Value::Output(mut out) = self.arg(i, 0)? else { return Err(UndefinedKind::BadCall) };
        append(Rc::make_mut(&mut out));
        Ok(Value::Output(out))
    }

    fn equal(&self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Const(a), Value::Const(b)) => (a.sort() == b.sort()).then_some(a == b),
            (Value::State(a), Value::State(b)) => Some(a == b),
            (Value::Output(a), Value::Output(b)) => Some(a == b),
            (Value::Memory(a), Value::Memory(b)) => {
                if Rc::ptr_eq(a, b) {
                    return Some(true);
                }
                let read = |r, at| self.root_byte(r, at);
                Some(a.contents(&read)? == b.contents(&read)?)
            }
            _ => None,
        }
    }

    /// The fingerprint of the memory at a position, which is made once.
    fn memory_fingerprint(&self, position: u32, memory: &Memory) -> Option<u128> {
        if let Some(known) = self.memories.borrow().get(&position) {
            return *known;
        }
        let found = memory.contents(&|r, at| self.root_byte(r, at)).map(|contents| fingerprint(&contents));
        self.memories.borrow_mut().insert(position, found);
        found
    }

    /// Returns a fingerprint that equal values share; `None` for a memory too large to compare.
    fn value_fingerprint(&self, value: &Value) -> Option<u128> {
        Some(match value {
            Value::Const(c) => fingerprint(c),
            Value::State(s) => *s,
            Value::Output(o) => fingerprint(o),
            Value::Memory(m) => fingerprint(&m.contents(&|r, at| self.root_byte(r, at))?),
        })
    }
}

/// Evaluates a few terms on one assignment; for many assignments make a [`Program`].
pub fn evaluate(pool: &TermPool, terms: &[TermId], assignment: &Assignment) -> Vec<EvalResult> {
    let program = Program::new(pool, terms);
    let run = program.run(pool, assignment);
    terms.iter().map(|&t| run.outcome(t).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(pool: &mut TermPool, name: &str, sort: Sort) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort })
    }

    fn constant(pool: &TermPool, t: TermId, a: &Assignment) -> Result<Const, UndefinedKind> {
        let p = Program::new(pool, &[t]);
        p.run(pool, a).constant(t)
    }

    #[test]
    fn only_the_chosen_branch_counts() {
        let mut pool = TermPool::new();
        let x = param(&mut pool, "x", Sort::Bv(32));
        let (zero, ten) = (pool.bv(32, 0), pool.bv(32, 10));
        let c = pool.eq(x, zero);
        let q = pool.op(Op::SDiv, &[ten, x]);
        let t = pool.ite(c, ten, q);
        let mut a = Assignment::new();
        assert_eq!(constant(&pool, t, &a), Ok(Const::bv(32, 10)));
        assert_eq!(constant(&pool, q, &a), Err(UndefinedKind::DivisionByZero));
        a.set(x, Const::bv(32, 3));
        assert_eq!(constant(&pool, t, &a), Ok(Const::bv(32, 3)));
    }

    #[test]
    fn a_run_that_is_over_early_says_what_a_whole_one_does() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|n| param(&mut pool, n, Sort::Bv(8)));
        let library = || App::Uf(Uf::Library { name: "f".into(), sort: Sort::Bv(8) });
        let (fx, fy) = (pool.app(library(), &[x]), pool.app(library(), &[y]));
        let (three, zero) = (pool.bv(8, 3), pool.bv(8, 0));
        let (a, b) = (pool.eq(fx, three), pool.op(Op::Ult, &[fy, x]));
        let quotient = pool.op(Op::UDiv, &[three, y]);
        let (c, d) = (pool.op(Op::Ult, &[zero, quotient]), pool.eq(x, zero));
        let either = pool.or(b, d);
        let (not_either, first) = (pool.not(either), pool.and(a, c));
        let conditions = [a, first, pool.and(first, not_either), pool.and(first, b), not_either];
        for condition in conditions {
            let program = Program::new(&pool, &[condition]);
            let parts = Parts::of(&pool, &program, condition);
            for seed in 0..400 {
                let mut input = Assignment::filled(Fill::Varied { seed, palette: Arc::default() });
                if seed % 3 == 0 {
                    // Fixed for the later application, and the same for the earlier one where x is y.
                    input.set(fy, Const::bv(8, 3));
                    input.set(x, Const::bv(8, i128::from(seed % 2)));
                    input.set(y, Const::bv(8, i128::from(seed % 4)));
                }
                let whole = program.run(&pool, &input);
                let holds = whole.holds(condition) == Some(true);
                let early = program.satisfying(&pool, &input, &parts);
                assert_eq!(early.is_some(), holds, "{seed}");
                if let Some(run) = early {
                    let values = |run: &Run| run.inputs(&pool).values().collect::<Vec<_>>();
                    assert_eq!(values(&run), values(&whole));
                }
            }
        }
    }

    #[test]
    fn uninterpreted_functions_are_functions() {
        let mut pool = TermPool::new();
        let (x, y) = (param(&mut pool, "x", Sort::F64), param(&mut pool, "y", Sort::F64));
        let sin = || App::Uf(Uf::Library { name: "sin".into(), sort: Sort::F64 });
        let (sx, sy) = (pool.app(sin(), &[x]), pool.app(sin(), &[y]));
        let mut a = Assignment::new();
        // The value is fixed for the later application only; the earlier one must follow.
        a.set(sy, Const::f64(0.25));
        assert_eq!(Program::new(&pool, &[sx, sy]).run(&pool, &a).same(sx, sy), Some(true));
        a.set(x, Const::f64(1.0));
        assert_eq!(Program::new(&pool, &[sx, sy]).run(&pool, &a).same(sx, sy), Some(false));
    }

    #[test]
    fn input_that_ended_is_not_converted() {
        let mut pool = TermPool::new();
        let stdin = pool.leaf(Leaf::Stdin);
        let ok = pool.app(App::Uf(Uf::InputOk { conversion: "%d".into() }), &[stdin]);
        let end = pool.app(App::Uf(Uf::InputEnd { conversion: "%d".into() }), &[stdin]);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..64 {
            let input = Assignment::filled(Fill::Varied { seed, palette: Arc::default() });
            let program = Program::new(&pool, &[ok, end]);
            let run = program.run(&pool, &input);
            seen.insert((run.holds(ok).unwrap(), run.holds(end).unwrap()));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(false, false), (false, true), (true, false)]);
    }

    #[test]
    fn memory_is_bytes() {
        let mut pool = TermPool::new();
        let (m, p) = (pool.leaf(Leaf::Memory), param(&mut pool, "p", Sort::Bv(64)));
        let v = param(&mut pool, "v", Sort::Bv(32));
        let stored = pool.app(App::Store { bytes: 4 }, &[m, p, v]);
        let (one, two) = (pool.bv(64, 1), pool.bv(64, 2));
        let at = pool.op(Op::Add, &[p, two]);
        let word = pool.app(App::Load { sort: Sort::Bv(32), bytes: 4 }, &[stored, at]);
        let mut a = Assignment::new();
        a.set(p, Const::bv(64, 100));
        a.set(v, Const::bv(32, 0x1122_3344));
        a.set_byte(104, 0x55);
        assert_eq!(constant(&pool, word, &a), Ok(Const::bv(32, 0x0055_1122)));
        let at = pool.op(Op::Add, &[p, one]);
        let zeroed = pool.app(App::ZeroBytes { bytes: 8 }, &[stored, at]);
        let byte = pool.app(App::Load { sort: Sort::Bv(32), bytes: 4 }, &[zeroed, p]);
        assert_eq!(constant(&pool, byte, &a), Ok(Const::bv(32, 0x44)));
    }

    #[test]
    fn outputs_join_literals() {
        let mut pool = TermPool::new();
        let none = pool.leaf(Leaf::NoOutput);
        let c = param(&mut pool, "c", Sort::Bool);
        let lit = |s: &[u8]| App::OutLiteral(s.into());
        let a = pool.app(lit(b"a"), &[none]);
        let chosen = pool.ite(c, a, none);
        let ab = pool.app(lit(b"b"), &[chosen]);
        let whole = pool.app(lit(b"ab"), &[none]);
        let mut i = Assignment::new();
        i.set(c, Const::TRUE);
        assert_eq!(Program::new(&pool, &[ab, whole]).run(&pool, &i).same(ab, whole), Some(true));
        i.set(c, Const::FALSE);
        assert_eq!(Program::new(&pool, &[ab, whole]).run(&pool, &i).same(ab, whole), Some(false));
    }

    #[test]
    fn fills_are_reproducible_and_varied() {
        let mut pool = TermPool::new();
        let x = param(&mut pool, "x", Sort::Bv(32));
        let fill = |seed| Assignment::filled(Fill::Varied { seed, palette: Arc::default() });
        let values: std::collections::BTreeSet<Const> =
            (0..64).map(|s| constant(&pool, x, &fill(s)).unwrap()).collect();
        assert!(values.len() > 20, "{values:?}");
        assert_eq!(constant(&pool, x, &fill(7)), constant(&pool, x, &fill(7)));
    }
}
