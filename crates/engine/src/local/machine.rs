//! What instructions do to a symbolic state that may be any state at a point of one version.
//!
//! Variables and memory at the point are inputs of their own; two versions share them, which is what "from the
//! same state" means. Nothing is assumed of them here: a pointer may lead anywhere, into locals too, since in the
//! middle of a function their addresses may have got around. A call is an *event*; its result and what it
//! leaves in memory are inputs, too, named by the site. Sites that are matched share these: both versions are
//! compared for equal answers of the calls that they both make.

use super::calls::literal;
use super::side::Side;
use super::sites::{MEASURES, READS, Tag, WRITES, does};
use crate::ir::{
    App, CType, Callee, Const, Expr, Instr, LOOP_VALUE, Leaf, Object, Op, Sort, Term, TermId, TermPool, Uf,
    UndefinedKind, VarId,
};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::semantics::library::{self, ResultIs, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A condition of a branch, or its negation, that a path rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub term: TermId,
    pub class: ClassId,
    pub node: MvId,
    /// The side of the branch.
    pub holds: bool,
}

/// A call that a path makes, or another effect that is no value.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub node: MvId,
    pub class: ClassId,
    /// Whose answers it shares: those of the other version's call of this tag.
    pub tag: Tag,
    /// Which of the other version's calls stands in its place, whether or not it answers alike.
    pub site: Tag,
    /// Through a pointer: none.
    pub callee: Option<Arc<str>>,
    /// Through a pointer: the pointer first.
    pub args: Vec<TermId>,
    pub result: Option<TermId>,
    /// Memory before and after.
    pub memory: (TermId, TermId),
    /// Arguments that are structures: by their places the address of what is handed over a copy of, and memory then.
    pub copied: BTreeMap<usize, (TermId, TermId)>,
    /// No call but the rounds of a loop, whose head the node is.
    pub rounds: bool,
}

/// Something that is undefined under a condition.
#[derive(Clone, Debug)]
pub(super) struct Hazard {
    pub condition: TermId,
    pub kind: UndefinedKind,
    pub node: MvId,
    /// The pointer or the divisor.
    pub subject: TermId,
    /// How many events come before.
    pub after: usize,
    /// How many tests come before.
    decided: usize,
}

/// How a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At a node, which is not executed.
    At(MvId),
    Return(Option<TermId>),
    /// In a call that does not return, the last event.
    Ends,
    /// Where control must not come.
    Unreachable,
}

/// A path in the making, or a whole one.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub node: MvId,
    vars: BTreeMap<VarId, TermId>,
    pub memory: TermId,
    pub literals: Vec<Literal>,
    pub events: Vec<Event>,
    pub hazards: Vec<Hazard>,
    /// When signed sums leave their word.
    pub overflows: BTreeSet<TermId>,
    /// Addresses that are read and written.
    pub accesses: BTreeSet<TermId>,
    /// Addresses of stores in the order in which they are made: terms of memory have an order of their own, which
    /// depends on where members lie.
    pub stored: Vec<(TermId, MvId)>,
    pub visited: BTreeSet<MvId>,
    /// The node that it begins at, or behind.
    first: MvId,
    /// Locals whose addresses got around on it.
    around: BTreeSet<VarId>,
    /// What is taken for granted of members: see [`super::fitting`].
    pub fits: BTreeSet<(TermId, Arc<str>)>,
    pub end: End,
    /// Of one from which is taken what calls did that the other version does not make: as it was.
    pub whole: Option<Rc<Path>>,
}

/// What comes after an instruction.
pub(super) enum Step {
    Next,
    /// Under this condition the first successor, else the second.
    Branch(TermId),
    End(End),
}

/// Why a region is not followed.
pub(super) type Stop = String;

impl Path {
    /// Without the tests that come behind a hazard: where it is undefined, nothing is known of them.
    pub fn undecided_behind(&self, hazard: usize) -> Path {
        let mut path = self.clone();
        path.literals.truncate(self.hazards[hazard].decided);
        path
    }

    /// At a node, in any state there.
    pub fn at(pool: &mut TermPool, node: MvId) -> Path {
        let memory = pool.leaf(memory_leaf());
        Path {
            node,
            vars: BTreeMap::new(),
            memory,
            literals: Vec::new(),
            events: Vec::new(),
            hazards: Vec::new(),
            overflows: BTreeSet::new(),
            accesses: BTreeSet::new(),
            stored: Vec::new(),
            visited: BTreeSet::new(),
            first: node,
            around: BTreeSet::new(),
            fits: BTreeSet::new(),
            end: End::At(node),
            whole: None,
        }
    }

    /// Replaces every term.
    pub fn map_terms(&mut self, f: &mut impl FnMut(TermId) -> TermId) {
        self.vars.values_mut().for_each(|t| *t = f(*t));
        self.memory = f(self.memory);
        self.literals.iter_mut().for_each(|l| l.term = f(l.term));
        for h in &mut self.hazards {
            (h.condition, h.subject) = (f(h.condition), f(h.subject));
        }
        self.overflows = self.overflows.iter().map(|t| f(*t)).collect();
        self.accesses = self.accesses.iter().map(|t| f(*t)).collect();
        self.stored.iter_mut().for_each(|(t, _)| *t = f(*t));
        self.fits = self.fits.iter().map(|(t, name)| (f(*t), name.clone())).collect();
        for e in &mut self.events {
            e.args.iter_mut().for_each(|a| *a = f(*a));
            e.result = e.result.map(&mut *f);
            e.memory = (f(e.memory.0), f(e.memory.1));
            e.copied.values_mut().for_each(|(from, memory)| (*from, *memory) = (f(*from), f(*memory)));
        }
        if let End::Return(Some(value)) = &mut self.end {
            *value = f(*value);
        }
    }

    /// Gives a variable a value.
    pub fn set(&mut self, v: VarId, value: TermId) {
        self.vars.insert(v, value);
    }

    /// Goes through a loop's nodes in an order that is not known.
    pub fn run(&mut self, side: &Side, body: &BTreeSet<MvId>) {
        self.visited.extend(body);
        self.around.extend(body.iter().flat_map(|node| side.escapes.at(*node)));
    }

    /// Whether it ran a loop to an end of it.
    pub fn ran(&self, head: MvId) -> bool {
        self.events.iter().any(|e| e.rounds && e.node == head)
    }

    /// What it has written to a variable.
    pub fn value(&self, v: VarId) -> Option<TermId> {
        self.vars.get(&v).copied()
    }

    /// The variables that it wrote.
    pub fn written(&self) -> impl Iterator<Item = VarId> + '_ {
        self.vars.keys().copied()
    }
}

/// Memory at the point.
pub(super) fn memory_leaf() -> Leaf {
    Leaf::Param { name: format!("{LOOP_VALUE}memory").into(), sort: Sort::Mem }
}

/// The value of a variable at the point.
pub(super) fn variable_leaf(graph: &Mvicfg, v: VarId) -> Leaf {
    let var = &graph.vars[v.0 as usize];
    let name = format!("{LOOP_VALUE}{}:{}", v.0, var.name).into();
    Leaf::Param { name, sort: var.sort.unwrap_or(Sort::Bv(8)) }
}

/// Executes instructions of one side.
pub(super) struct Machine<'m> {
    pub graph: &'m Mvicfg,
    pub pool: &'m mut TermPool,
    pub side: &'m Side<'m>,
}

impl Machine<'_> {
    fn bits(&self) -> u16 {
        self.side.version.unit.data_model.pointer_bits()
    }

    /// The value of a variable that is not in memory.
    pub fn var(&mut self, path: &Path, v: VarId) -> TermId {
        match path.vars.get(&v) {
            Some(t) => *t,
            None => self.pool.leaf(variable_leaf(self.graph, v)),
        }
    }

    fn address(&mut self, object: &Object) -> TermId {
        let bits = self.bits();
        let leaf = match object {
            Object::Local(v) => {
                let var = &self.graph.vars[v.0 as usize];
                Leaf::LocalAddr { key: format!("{}#{}", var.name, var.ordinal).into(), bits }
            }
            Object::Global(symbol) | Object::Function(symbol) => {
                Leaf::SymbolAddr { symbol: symbol.clone(), bits }
            }
        };
        self.pool.leaf(leaf)
    }

    /// The term of an expression; what is undefined in it is a hazard of the path.
    pub fn term(&mut self, path: &mut Path, e: &Expr) -> TermId {
        match e {
            Expr::Const(c) => self.pool.constant(*c),
            Expr::Var(v) => self.var(path, *v),
            Expr::Addr(object) => self.address(object),
            Expr::Op { op: Op::Eq, args, .. } if self.is_never_null(args) => self.pool.bool(false),
            Expr::Op { op, args, signed_arith } => {
                let terms: Vec<TermId> = args.iter().map(|a| self.term(path, a)).collect();
                self.operator_hazard(path, *op, &terms);
                if *signed_arith {
                    path.overflows.extend(overflow(self.pool, *op, &terms));
                }
                let op = self.unsigned(path, *op, &terms);
                self.pool.op(op, &terms)
            }
        }
    }

    /// Whether the null pointer is compared with the address of a member, or of an element: behind a null pointer
    /// there is none.
    fn is_never_null(&self, args: &[Expr]) -> bool {
        let is_null = |e: &Expr| matches!(e, Expr::Const(c) if c.to_bits() == 0);
        let [a, b] = args else { return false };
        let address = match (is_null(a), is_null(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return false,
        };
        let Expr::Op { op: Op::Add, args, signed_arith: false } = address else { return false };
        let [base, Expr::Const(by)] = args.as_slice() else { return false };
        let mut base = base;
        while let Expr::Op { op: Op::Add, args, signed_arith: false } = base
            && let Some(first) = args.first()
        {
            base = first;
        }
        let is_pointer = match base {
            Expr::Var(v) => self.graph.vars[v.0 as usize].ty.is_pointer(),
            Expr::Addr(_) => true,
            _ => false,
        };
        is_pointer && by.to_bits() != 0
    }

    fn operator_hazard(&mut self, path: &mut Path, op: Op, args: &[TermId]) {
        let &[_, right] = args else { return };
        let (condition, kind) = match (op, self.pool.sort(right)) {
            (Op::UDiv | Op::SDiv | Op::URem | Op::SRem, Sort::Bv(w)) => {
                let zero = self.pool.bv(w, 0);
                (self.pool.eq(right, zero), UndefinedKind::DivisionByZero)
            }
            (Op::Shl | Op::LShr | Op::AShr, Sort::Bv(w)) => {
                let width = self.pool.bv(w, i128::from(w));
                (self.pool.op(Op::Ule, &[width, right]), UndefinedKind::ShiftCount)
            }
            _ => return,
        };
        self.hazard(path, condition, kind, right);
    }

    fn hazard(&mut self, path: &mut Path, condition: TermId, kind: UndefinedKind, subject: TermId) {
        if self.pool.as_const(condition) == Some(Const::FALSE) {
            return;
        }
        let (node, after) = (path.node, path.events.len());
        let decided = path.literals.len();
        path.hazards.push(Hazard { condition, kind, node, subject, after, decided });
    }

    /// That the pointer in an address must not be null.
    fn dereference(&mut self, path: &mut Path, address: &Expr) {
        let mut base = address;
        while let Expr::Op { op: Op::Add | Op::Sub, args, .. } = base
            && let Some(first) = args.first()
        {
            base = first;
        }
        if let Expr::Var(v) = base {
            let pointer = self.var(path, *v);
            if let Sort::Bv(w) = self.pool.sort(pointer) {
                let null = self.pool.bv(w, 0);
                let is_null = self.pool.eq(pointer, null);
                self.hazard(path, is_null, UndefinedKind::NullDereference, pointer);
            }
        }
    }

    /// The variable that an instruction has to do with and that the other version keeps elsewhere.
    fn displaced(&self, instr: &Instr) -> Option<VarId> {
        let displaced = &self.side.displaced;
        if displaced.is_empty() {
            return None;
        }
        let mut found = instr.written().filter(|v| displaced.contains(v));
        let mut see = |v: VarId| {
            if displaced.contains(&v) {
                found = Some(v);
            }
        };
        instr.for_each_operand(&mut |e| e.for_each_var(&mut see));
        instr.for_each_expr(&mut |e| {
            if let Expr::Addr(Object::Local(v)) = e {
                see(*v);
            }
        });
        found
    }

    /// Executes the instruction of the path's node; the node stays.
    pub fn step(&mut self, path: &mut Path) -> Result<Step, Stop> {
        let graph = self.graph;
        if let Some(v) = self.displaced(&graph.node(path.node).instr) {
            let name = &graph.vars[v.0 as usize].name;
            return Err(format!("the address of {name}, which one version alone takes"));
        }
        path.around.extend(self.side.escapes.at(path.node));
        match &graph.node(path.node).instr {
            Instr::Nop => {}
            Instr::Declare(v) => {
                let var = &graph.vars[v.0 as usize];
                if !var.in_memory
                    && let Some(sort) = var.sort
                {
                    let key = format!("{}#{}", var.name, var.ordinal).into();
                    let value = self.pool.leaf(Leaf::Indeterminate { key, sort });
                    path.vars.insert(*v, value);
                }
            }
            Instr::Assign { dst, value } => {
                let value = self.term(path, value);
                path.vars.insert(*dst, value);
            }
            Instr::Load { dst, addr, access } if access.volatile => {
                self.dereference(path, addr);
                let addr = self.term(path, addr);
                path.accesses.insert(addr);
                let value = self.touch(path, (READS, &[addr]), Some(access.sort))?;
                path.vars.extend(value.map(|value| (*dst, value)));
            }
            Instr::Load { dst, addr, access } => {
                self.dereference(path, addr);
                let addr = self.term(path, addr);
                path.accesses.insert(addr);
                let value = self.load(path.memory, addr, access.sort, access.bytes);
                let value = self.read_member(path, value);
                path.vars.insert(*dst, value);
            }
            Instr::Store { addr, value, access } => {
                self.dereference(path, addr);
                let (addr, value) = (self.term(path, addr), self.term(path, value));
                path.accesses.insert(addr);
                path.stored.push((addr, path.node));
                if access.volatile {
                    self.touch(path, (WRITES, &[addr, value]), None)?;
                }
                if !self.is_zeroed(path.memory, addr, access.bytes, value) {
                    let stored = App::Store { bytes: access.bytes };
                    path.memory = self.pool.app(stored, &[path.memory, addr, value]);
                }
            }
            Instr::Copy { dst, src, bytes } => {
                self.dereference(path, src);
                self.dereference(path, dst);
                let (dst, src) = (self.term(path, dst), self.term(path, src));
                path.accesses.extend([dst, src]);
                path.stored.push((dst, path.node));
                path.memory = self.pool.app(App::CopyBytes { bytes: *bytes }, &[path.memory, dst, src]);
            }
            Instr::Zero { dst, bytes } => {
                let dst = self.term(path, dst);
                path.stored.push((dst, path.node));
                path.memory = self.pool.app(App::ZeroBytes { bytes: *bytes }, &[path.memory, dst]);
            }
            Instr::Call { .. } => return self.call(path),
            Instr::Branch { cond } => return Ok(Step::Branch(self.term(path, cond))),
            Instr::Return { value } => {
                let value = value.as_ref().map(|v| self.term(path, v));
                return Ok(Step::End(End::Return(value)));
            }
            Instr::Unreachable => return Ok(Step::End(End::Unreachable)),
            Instr::Measure { var: Some(v), lengths, element } => {
                let array = self.term(path, &Expr::Addr(Object::Local(*v)));
                let mut args = vec![array, self.pool.bv(64, i128::from(*element))];
                args.extend(lengths.iter().map(|n| self.term(path, n)));
                self.touch(path, (MEASURES, &args), None)?;
            }
            // A type alone: nothing is there.
            Instr::Measure { var: None, .. } => {}
            instr @ Instr::Unknown { .. } => self.unmodelled(path, instr)?,
        }
        Ok(Step::Next)
    }

    /// Whether a value is zero and memory was set to zero there last.
    fn is_zeroed(&self, memory: TermId, addr: TermId, bytes: u64, value: TermId) -> bool {
        let Term::App(App::ZeroBytes { bytes: all }, args) = self.pool.get(memory) else { return false };
        let is_zero = self.pool.as_const(value).is_some_and(|c| c.to_bits() == 0);
        let offset = match (args.get(1), self.pool.as_op(addr, Op::Add)) {
            (Some(start), _) if *start == addr => Some(0),
            (Some(start), Some(&[base, by] | &[by, base])) if base == *start => {
                self.pool.as_const(by).and_then(|c| u64::try_from(c.to_bits()).ok())
            }
            _ => None,
        };
        is_zero && offset.and_then(|k| k.checked_add(bytes)).is_some_and(|end| end <= *all)
    }

    /// An access to a volatile object, or the beginning of an array of variable length: an event, and of one that reads
    /// a value that may be any.
    fn touch(
        &mut self,
        path: &mut Path,
        (name, args): (&'static str, &[TermId]),
        read: Option<Sort>,
    ) -> Result<Option<TermId>, Stop> {
        let Some(tag) = self.side.tags.get(path.node.0 as usize).copied().flatten() else {
            return Err("a volatile object".into());
        };
        let result = read.map(|sort| {
            let name = format!("{LOOP_VALUE}call {tag}").into();
            self.pool.leaf(Leaf::Param { name, sort })
        });
        path.events.push(Event {
            node: path.node,
            class: self.side.class,
            tag,
            site: tag,
            callee: Some(name.into()),
            args: args.to_vec(),
            result,
            memory: (path.memory, path.memory),
            copied: BTreeMap::new(),
            rounds: false,
        });
        Ok(result)
    }

    /// A statement of which only its text is known: what it leaves in memory and in variables follows from the state
    /// before, and from its site. Where the parser skipped text nothing is known of where control goes.
    fn unmodelled(&mut self, path: &mut Path, instr: &Instr) -> Result<(), Stop> {
        let Instr::Unknown { reason, text, reads, writes, anything, skips } = instr else { return Ok(()) };
        let tag = self.side.tags.get(path.node.0 as usize).copied().flatten();
        let Some(tag) = tag.filter(|_| !skips && !instr.is_second_return()) else {
            return Err(reason.to_string());
        };
        let args: Vec<TermId> = reads.iter().map(|e| self.term(path, e)).collect();
        let before = path.memory;
        let name: Arc<str> = does(text).into();
        let left = Uf::Call { callee: format!("{name}#{tag}:Memory").into(), part: Sort::Mem };
        let after = self.pool.app(App::Uf(left), &[before]);
        for (k, v) in writes.iter().enumerate() {
            let Some(sort) = self.graph.vars[v.0 as usize].sort else { continue };
            let given = Uf::Call { callee: format!("{name}:{k}").into(), part: sort };
            let all: Vec<TermId> = args.iter().copied().chain([after]).collect();
            let value = self.pool.app(App::Uf(given), &all);
            path.set(*v, value);
        }
        if *anything {
            path.memory = after;
        }
        path.events.push(Event {
            node: path.node,
            class: self.side.class,
            tag,
            site: tag,
            callee: Some(name),
            args,
            result: None,
            memory: (before, after),
            copied: BTreeMap::new(),
            rounds: false,
        });
        Ok(())
    }

    fn call(&mut self, path: &mut Path) -> Result<Step, Stop> {
        let graph = self.graph;
        let Instr::Call { dst, callee, args, arg_types, result_to, noreturn, .. } =
            &graph.node(path.node).instr
        else {
            return Ok(Step::Next);
        };
        let row = match callee {
            Callee::Direct(name) => library::row_of_call(self.side.version.unit, name, args),
            Callee::Indirect(_) => None,
        };
        let pointer = if let Callee::Indirect(e) = callee { Some(self.term(path, e)) } else { None };
        let mut terms: Vec<TermId> = pointer.iter().copied().collect();
        for (k, a) in args.iter().enumerate() {
            let term = self.term(path, a);
            if row.is_some_and(|r| r.needs_pointer(k)) {
                self.dereference(path, a);
                path.accesses.insert(term);
            }
            terms.push(term);
        }
        let sort = dst.and_then(|d| graph.vars[d.0 as usize].sort);
        if let (Some(row), None, false) = (row, result_to, noreturn)
            && let Some(value) = self.result_of(row, &terms, path.memory, sort)
        {
            if let (Some(dst), Some(value)) = (dst, value) {
                path.vars.insert(*dst, value);
            }
            return Ok(Step::Next);
        }
        if let (Callee::Direct(name), None, false) = (callee, result_to, noreturn)
            && self.side.pure.contains(name)
        {
            if let Some((dst, sort)) = dst.zip(sort) {
                let uf = crate::ir::Uf::Call { callee: format!("{name}:result").into(), part: sort };
                let args: Vec<TermId> = terms.iter().copied().chain([path.memory]).collect();
                let value = self.pool.app(App::Uf(uf), &args);
                path.accesses.insert(value);
                path.vars.insert(dst, value);
            }
            return Ok(Step::Next);
        }
        let Some(tag) = self.side.tags.get(path.node.0 as usize).copied().flatten() else {
            return Err("a call".into());
        };
        let structures = arg_types.iter().enumerate().filter(|(_, ty)| matches!(ty, CType::Record(_)));
        let behind = usize::from(pointer.is_some());
        let copied =
            self.handed_over(path, structures.filter_map(|(k, _)| Some((k, *terms.get(k + behind)?))));
        let (before, unseen) = self.seen_by_others(path);
        let after = self.memory_after(row, tag, callee, before);
        path.memory = unseen.into_iter().rev().fold(after, |memory, (write, place)| {
            let args: Vec<TermId> = std::iter::once(memory).chain(place).collect();
            self.pool.app(write, &args)
        });
        if let Some(to) = result_to {
            let to = self.term(path, to);
            terms.push(to);
        }
        let result = dst.zip(sort).map(|(dst, sort)| {
            let name = format!("{LOOP_VALUE}call {tag}").into();
            let value = self.pool.leaf(Leaf::Param { name, sort });
            path.vars.insert(dst, value);
            value
        });
        let name = if let Callee::Direct(name) = callee { Some(name.clone()) } else { None };
        path.events.push(Event {
            node: path.node,
            class: self.side.class,
            tag,
            site: tag,
            callee: name,
            args: terms,
            result,
            memory: (before, after),
            copied,
            rounds: false,
        });
        Ok(if *noreturn { Step::End(End::Ends) } else { Step::Next })
    }

    /// Takes the copies of structures that a call is given out of memory, where they were made last: nobody else sees
    /// them. Returns by argument what they are copies of.
    fn handed_over(
        &mut self,
        path: &mut Path,
        args: impl Iterator<Item = (usize, TermId)>,
    ) -> BTreeMap<usize, (TermId, TermId)> {
        let mut places: BTreeMap<TermId, usize> = args.map(|(k, at)| (at, k)).collect();
        let mut found = BTreeMap::new();
        while let Term::App(App::CopyBytes { .. }, args) = self.pool.get(path.memory)
            && let &[below, to, from] = args.as_slice()
            && matches!(self.pool.get(to), Term::Leaf(Leaf::LocalAddr { .. }))
            && let Some(k) = places.remove(&to)
        {
            found.insert(k, (from, below));
            path.memory = below;
        }
        found
    }

    /// Memory without what was written last to locals that nobody else knows of, and these writes, the latest first.
    fn seen_by_others(&mut self, path: &Path) -> (TermId, Vec<(App, Vec<TermId>)>) {
        let (mut kept, mut unseen) = (Vec::new(), Vec::new());
        let mut memory = path.memory;
        while let Term::App(write @ (App::Store { .. } | App::ZeroBytes { .. }), args) =
            self.pool.get(memory).clone()
            && let [below, place @ ..] = args.as_slice()
            && let Some(to) = place.first()
        {
            let write = (write, place.to_vec());
            if self.is_unknown_to_others(path, *to) {
                unseen.push(write)
            } else {
                kept.push(write)
            }
            memory = *below;
        }
        if unseen.is_empty() {
            return (path.memory, unseen);
        }
        for (write, place) in kept.into_iter().rev() {
            let args: Vec<TermId> = std::iter::once(memory).chain(place).collect();
            memory = self.pool.app(write, &args);
        }
        (memory, unseen)
    }

    /// Whether an address is within a local whose own has not got around.
    fn is_unknown_to_others(&mut self, path: &Path, address: TermId) -> bool {
        let is_local = |pool: &TermPool, t: TermId| matches!(pool.get(t), Term::Leaf(Leaf::LocalAddr { .. }));
        let parts = self.pool.as_op(address, Op::Add).map_or_else(|| vec![address], <[TermId]>::to_vec);
        let mut locals = parts.into_iter().filter(|t| is_local(self.pool, *t));
        let (Some(local), None) = (locals.next(), locals.next()) else { return false };
        // Each version may have one of that name.
        let of_term: Vec<VarId> = (0..self.graph.vars.len() as u32)
            .map(VarId)
            .filter(|v| self.graph.vars[v.0 as usize].in_memory && self.address(&Object::Local(*v)) == local)
            .collect();
        let escapes = &self.side.escapes;
        let is_around = |v: &VarId| path.around.contains(v) || escapes.is_around_behind(path.first, *v);
        !of_term.is_empty() && !of_term.iter().any(is_around)
    }

    /// What a library function gives that does nothing else: `None` where it does something; the inner `None`
    /// where nobody asks.
    fn result_of(
        &mut self,
        row: &Row,
        args: &[TermId],
        memory: TermId,
        sort: Option<Sort>,
    ) -> Option<Option<TermId>> {
        if row.has_effect() || row.errno || row.asks_streams {
            return None;
        }
        let Some(sort) = sort else { return Some(None) };
        if let ResultIs::Term(f) = row.result
            && let Some(t) = f(self.pool, args).filter(|t| self.pool.sort(*t) == sort)
        {
            return Some(Some(t));
        }
        // A literal is as long as it is written: nothing writes to it.
        if let ("strlen", &[text], Sort::Bv(width)) = (row.name, args, sort)
            && let Some(bytes) = literal(self.pool, self.side.layout, text)
        {
            return Some(Some(self.pool.bv(width, bytes.len() as i128)));
        }
        if row.is_pure() {
            let uf = crate::ir::Uf::Library { name: row.name.into(), sort };
            return Some(Some(self.pool.app(App::Uf(uf), args)));
        }
        let uf = crate::ir::Uf::Call { callee: format!("{}:result", row.name).into(), part: sort };
        let args: Vec<TermId> = args.iter().copied().chain([memory]).collect();
        Some(Some(self.pool.app(App::Uf(uf), &args)))
    }

    /// Memory after a call: anything that follows from the memory before, and from the site.
    fn memory_after(&mut self, row: Option<&Row>, tag: Tag, callee: &Callee, before: TermId) -> TermId {
        let writes = |row: &Row| row.memory || (0..16).any(|k| row.writes_arg(k)) || row.scans;
        match row {
            Some(row) if !writes(row) && !row.errno => before,
            Some(row) if !writes(row) => {
                let errno = self.address(&Object::Global(library::ERRNO.into()));
                let name = format!("{LOOP_VALUE}errno {tag}").into();
                let number = self.pool.leaf(Leaf::Param { name, sort: Sort::Bv(32) });
                self.pool.app(App::Store { bytes: 4 }, &[before, errno, number])
            }
            _ => {
                let name = if let Callee::Direct(name) = callee { name } else { "*" };
                let callee = format!("{name}#{tag}:Memory").into();
                let uf = crate::ir::Uf::Call { callee, part: Sort::Mem };
                self.pool.app(App::Uf(uf), &[before])
            }
        }
    }

    /// Reads memory; bytes of constant objects are read from their initialisers.
    fn load(&mut self, memory: TermId, addr: TermId, sort: Sort, bytes: u64) -> TermId {
        let constant = |(symbol, offset): (Arc<str>, u64)| {
            let global = self.side.layout.global(&symbol).filter(|g| g.is_known_constant())?;
            let bits = global.constant_bytes(offset, bytes)?;
            Const::from_bits(sort, bits.iter().rev().fold(0u128, |all, b| all << 8 | u128::from(*b)))
        };
        let place = symbol_and_offset(self.pool, addr);
        if let Some(c) = place.clone().and_then(constant) {
            return self.pool.constant(c);
        }
        // What is constant nothing writes: it is what it is at the point.
        let memory = match place {
            Some((symbol, _)) if self.side.is_constant(&symbol) => self.pool.leaf(memory_leaf()),
            _ => memory,
        };
        self.pool.app(App::Load { sort, bytes }, &[memory, addr])
    }
}

/// Symbol and constant offset of an address, if it is that simple.
fn symbol_and_offset(pool: &TermPool, addr: TermId) -> Option<(Arc<str>, u64)> {
    match pool.get(addr) {
        Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => Some((symbol.clone(), 0)),
        Term::App(App::Op(Op::Add), args) => {
            let &[a, b] = args.as_slice() else { return None };
            let (base, k) = match (pool.as_const(a), pool.as_const(b)) {
                (Some(k), None) => (b, k),
                (None, Some(k)) => (a, k),
                _ => return None,
            };
            let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = pool.get(base) else { return None };
            Some((symbol.clone(), u64::try_from(k.signed()?).ok()?))
        }
        _ => None,
    }
}

/// When a sum of signed numbers leaves its word; `None` where it never does.
fn overflow(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    let &[a, b] = args else { return None };
    let Sort::Bv(width) = pool.sort(a) else { return None };
    let sign = |pool: &mut TermPool, x: TermId, y: TermId| pool.op(Op::BitXor, &[x, y]);
    let result = pool.op(op, args);
    // Where the result has the sign of neither operand, the second one turned round.
    let (x, y) = match op {
        Op::Add => (sign(pool, a, result), sign(pool, b, result)),
        Op::Sub => (sign(pool, a, result), sign(pool, a, b)),
        _ => return None,
    };
    let (both, zero) = (pool.op(Op::BitAnd, &[x, y]), pool.bv(width, 0));
    let overflows = pool.op(Op::Slt, &[both, zero]);
    (pool.as_const(overflows) != Some(Const::FALSE)).then_some(overflows)
}
