//! The paths of a function over a bounded domain.

use super::input::Candidate;
use crate::count::{Count, Domain, count};
use crate::ir::{
    Callee, Expr, Function, Instr, Leaf, NodeId, Object, Op, Rebuilt, Sort, Term, TermId, TermPool, Unit,
};
use crate::semantics::constant_string;
use crate::symex::{Machine, State, Step, is_failure};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Functions that write output and leave the program's memory alone.
const WRITERS: [&str; 5] = ["printf", "puts", "putchar", "fprintf", "fputs"];
/// Work to see that no input takes a branch; one that is not seen to be empty is followed.
const LOOK: u64 = 400;

/// Bounds of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub paths: usize,
    /// Instructions of one path.
    pub steps: u64,
    /// Of all counts of a version.
    pub work: u64,
    /// Pairs of paths that are compared.
    pub pairs: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { paths: 20_000, steps: 20_000, work: 20_000_000, pairs: 200_000 }
    }
}

/// How a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Return(Option<TermId>),
    /// An assertion of this line fails, or the program aborts there.
    Failure(u32),
    /// Another call does not return.
    Exit,
    /// It is not known how it goes on: the reason.
    Grey(&'static str),
}

/// A decision on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    pub node: NodeId,
    pub line: u32,
    pub taken: bool,
}

/// A call that others may see, with what is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub callee: String,
    pub texts: Vec<Option<Vec<u8>>>,
    pub args: Vec<TermId>,
}

#[derive(Clone, Debug)]
pub struct Path {
    pub conditions: Vec<TermId>,
    pub end: End,
    /// Lines of the function's own file.
    pub lines: BTreeSet<u32>,
    pub turns: Vec<Turn>,
    pub events: Vec<Event>,
    /// Globals that were written, with their values at the end.
    pub written: BTreeMap<Arc<str>, TermId>,
    /// Something was written that is not followed.
    pub writes_elsewhere: bool,
    /// Inputs of the domain; none where that is not known.
    pub count: Option<i128>,
}

/// What an exploration found.
pub struct Explored {
    pub paths: Vec<Path>,
    /// Decisions and ends.
    pub states: u64,
    /// The path limit cut it.
    pub is_cut: bool,
    /// Which candidates are read before they are written, by position.
    pub used: BTreeSet<usize>,
}

pub struct Explorer<'a> {
    pub f: &'a Function,
    pub unit: &'a Unit,
    pub pool: &'a mut TermPool,
    pub candidates: &'a [Candidate],
    pub domain: &'a Domain,
    pub limits: Limits,
}

struct Open {
    state: State,
    path: Path,
    steps: u64,
    globals: BTreeMap<Arc<str>, (Sort, u64)>,
}

/// What one step comes to.
enum Next {
    On,
    Split(TermId, NodeId, NodeId),
    End(End),
}

impl Explorer<'_> {
    /// Follows all paths, in one order.
    pub fn explore(&mut self) -> Explored {
        let machine = Machine { f: self.f, unit: self.unit };
        let path = Path {
            conditions: Vec::new(),
            end: End::Grey("not followed"),
            lines: BTreeSet::new(),
            turns: Vec::new(),
            events: Vec::new(),
            written: BTreeMap::new(),
            writes_elsewhere: false,
            count: None,
        };
        let state = machine.entry(self.pool);
        let mut work = vec![Open { state, path, steps: 0, globals: BTreeMap::new() }];
        let used = self.candidates.iter().enumerate().filter(|(_, c)| c.load.is_none()).map(|(i, _)| i);
        let mut found = Explored { paths: Vec::new(), states: 0, is_cut: false, used: used.collect() };
        while let Some(open) = work.pop() {
            if found.paths.len() >= self.limits.paths {
                found.is_cut = true;
                break;
            }
            self.follow(open, &mut found, &mut work);
        }
        found
    }

    /// Follows a path to its next decision or its end.
    fn follow(&mut self, mut open: Open, found: &mut Explored, work: &mut Vec<Open>) {
        loop {
            let node = open.state.node;
            let span = &self.f.node(node).span;
            if span.line > 0 && span.file.0 == 0 && !matches!(self.f.node(node).instr, Instr::Nop) {
                open.path.lines.insert(span.line);
            }
            open.steps += 1;
            if open.steps > self.limits.steps {
                return self.ended(open, End::Grey("longer than the bound"), found);
            }
            if node == Function::EXIT {
                return self.ended(open, End::Return(None), found);
            }
            if self.may_be_undefined(&mut open, found) {
                return;
            }
            match self.step(&mut open, found) {
                Next::On => {}
                Next::End(end) => return self.ended(open, end, found),
                Next::Split(condition, yes, no) => {
                    let not = self.pool.not(condition);
                    let line = self.f.node(node).span.line;
                    let (can, can_not) = (self.is_possible(&open, condition), self.is_possible(&open, not));
                    let is_choice = can && can_not;
                    for (literal, next, taken) in [(not, no, false), (condition, yes, true)]
                        .into_iter()
                        .filter(|(.., t)| if *t { can } else { can_not })
                    {
                        let mut side = open.copy();
                        side.state.node = next;
                        if is_choice {
                            side.path.conditions.push(literal);
                            found.states += 1;
                        }
                        if !self.fails(yes) && !self.fails(no) {
                            side.path.turns.push(Turn { node, line, taken });
                        }
                        work.push(side);
                    }
                    return;
                }
            }
        }
    }

    fn fails(&self, node: NodeId) -> bool {
        matches!(&self.f.node(node).instr, Instr::Call { callee, .. } if is_failure(callee))
    }

    fn is_possible(&mut self, open: &Open, literal: TermId) -> bool {
        if let Some(known) = self.pool.as_const(literal).and_then(|c| c.as_bool()) {
            return known;
        }
        let mut all = open.path.conditions.clone();
        all.push(literal);
        count(self.pool, self.domain, &all, &mut LOOK.clone()) != Count::Exact(0)
    }

    fn ended(&mut self, open: Open, end: End, found: &mut Explored) {
        let Open { state, mut path, globals, .. } = open;
        for (symbol, (sort, bytes)) in globals {
            let bits = self.unit.data_model.pointer_bits();
            let address = self.pool.leaf(Leaf::SymbolAddr { symbol: symbol.clone(), bits });
            let value = self.pool.app(crate::ir::App::Load { sort, bytes }, &[state.memory, address]);
            let value = self.over_inputs(value, found);
            path.written.insert(symbol, value);
        }
        path.end = match (end, path.end) {
            // The value was noted where it was returned.
            (End::Return(_), End::Return(value)) => End::Return(value),
            (end, _) => end,
        };
        found.states += 1;
        found.paths.push(path);
    }

    /// A term with reads of globals at entry replaced by the inputs that they are.
    fn over_inputs(&mut self, t: TermId, found: &mut Explored) -> TermId {
        let loads: Vec<(TermId, TermId)> =
            self.candidates.iter().filter_map(|c| Some((c.load?, c.term))).collect();
        if loads.is_empty() {
            return t;
        }
        let by = |t: TermId| loads.iter().find(|(load, _)| *load == t).map(|(_, term)| *term);
        let t = self.pool.rebuilt(t, &|_, t| by(t).map_or(Rebuilt::Kept, Rebuilt::By));
        for part in self.pool.reachable(&[t]) {
            found.used.extend(self.candidates.iter().position(|c| c.term == part));
        }
        t
    }

    /// Cuts off the inputs on which an operation of the node is undefined; whether there are no others.
    fn may_be_undefined(&mut self, open: &mut Open, found: &mut Explored) -> bool {
        let mut operands: Vec<Expr> = Vec::new();
        self.f.node(open.state.node).instr.for_each_expr(&mut |e| {
            if matches!(e, Expr::Op { op, .. } if is_partial(*op)) {
                operands.push(e.clone());
            }
        });
        for e in operands {
            let Expr::Op { op, args, .. } = e else { continue };
            let machine = Machine { f: self.f, unit: self.unit };
            let args: Vec<TermId> = args.iter().map(|a| machine.term(self.pool, &open.state, a)).collect();
            let Some(bad) = undefined(self.pool, op, &args) else {
                self.ended(open.copy(), End::Grey("a conversion from a float"), found);
                return true;
            };
            let bad = self.over_inputs(bad, found);
            let good = self.pool.not(bad);
            if !self.is_possible(open, bad) {
                continue;
            }
            let mut side = open.copy();
            side.path.conditions.push(bad);
            self.ended(side, End::Grey("undefined behaviour"), found);
            open.path.conditions.push(good);
            if !self.is_possible(open, good) {
                return true;
            }
        }
        false
    }

    fn step(&mut self, open: &mut Open, found: &mut Explored) -> Next {
        let machine = Machine { f: self.f, unit: self.unit };
        let node = self.f.node(open.state.node).clone();
        let memory = open.state.memory;
        let mut keeps_memory = false;
        match &node.instr {
            Instr::Call { callee, noreturn: true, .. } => {
                let line = node.span.line;
                let aborts = matches!(callee, Callee::Direct(name) if &**name == "abort");
                self.note_call(open, &node.instr, found);
                let fails = aborts || is_failure(callee);
                return Next::End(if fails { End::Failure(line) } else { End::Exit });
            }
            Instr::Call { callee, .. } => {
                keeps_memory = matches!(callee, Callee::Direct(name) if WRITERS.contains(&&**name));
                self.note_call(open, &node.instr, found);
                // It may fail, or not come back: what it does is not known.
                if !keeps_memory {
                    return Next::End(End::Grey("a call that is not known"));
                }
            }
            Instr::Return { value } => {
                let value = value.as_ref().map(|e| machine.term(self.pool, &open.state, e));
                open.path.end = End::Return(value.map(|v| self.over_inputs(v, found)));
            }
            Instr::Store { addr, access, .. } => match addr {
                Expr::Addr(Object::Global(symbol)) => {
                    open.globals.insert(symbol.clone(), (access.sort, access.bytes));
                }
                Expr::Addr(Object::Local(_)) => {}
                _ => open.path.writes_elsewhere = true,
            },
            Instr::Copy { .. } | Instr::Zero { .. } => open.path.writes_elsewhere = true,
            Instr::Unknown { .. } => return Next::End(End::Grey("code that is not understood")),
            _ => {}
        }
        let step = machine.step(self.pool, &mut open.state);
        if keeps_memory {
            open.state.memory = memory;
        }
        match (step, node.succs.as_slice()) {
            (Step::Next, &[next]) => open.state.node = next,
            (Step::Branch(condition), &[yes, no]) => {
                let condition = self.over_inputs(condition, found);
                match self.pool.as_const(condition).and_then(|c| c.as_bool()) {
                    Some(true) => open.state.node = yes,
                    Some(false) => open.state.node = no,
                    None => return Next::Split(condition, yes, no),
                }
            }
            (Step::End, _) => return Next::End(End::Grey("code that must not be reached")),
            _ => return Next::End(End::Grey("control that is not followed")),
        }
        Next::On
    }

    fn note_call(&mut self, open: &mut Open, instr: &Instr, found: &mut Explored) {
        let Instr::Call { callee, args, .. } = instr else { return };
        let machine = Machine { f: self.f, unit: self.unit };
        let callee = match callee {
            Callee::Direct(name) => name.to_string(),
            Callee::Indirect(_) => "*".to_owned(),
        };
        let values: Vec<TermId> = args.iter().map(|a| machine.term(self.pool, &open.state, a)).collect();
        let text = |t: &TermId| match self.pool.get(*t) {
            Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => {
                constant_string(self.unit.global(symbol).filter(|g| g.is_known_constant())?, 0)
            }
            _ => None,
        };
        let texts = values.iter().map(text).collect();
        let args = values.into_iter().map(|v| self.over_inputs(v, found)).collect();
        open.path.events.push(Event { callee, texts, args });
    }
}

impl Open {
    fn copy(&self) -> Open {
        Open {
            state: self.state.clone(),
            path: self.path.clone(),
            steps: self.steps,
            globals: self.globals.clone(),
        }
    }
}

fn is_partial(op: Op) -> bool {
    use Op::{AShr, FToS, FToU, LShr, SDiv, SRem, Shl, UDiv, URem};
    matches!(op, UDiv | SDiv | URem | SRem | Shl | LShr | AShr | FToS(_) | FToU(_))
}

/// When an operation is undefined; `None`: that has no condition here.
fn undefined(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    let &[a, b] = args else { return None };
    let Sort::Bv(width) = pool.sort(b) else { return None };
    match op {
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => {
            let zero = pool.bv(width, 0);
            let by_zero = pool.eq(b, zero);
            if matches!(op, Op::UDiv | Op::URem) {
                return Some(by_zero);
            }
            let (least, minus) = (pool.bv(width, 1i128 << (width - 1)), pool.bv(width, -1));
            let (x, y) = (pool.eq(a, least), pool.eq(b, minus));
            let overflow = pool.and(x, y);
            Some(pool.or(by_zero, overflow))
        }
        _ => {
            let limit = pool.bv(width, i128::from(width));
            Some(pool.op(Op::Ule, &[limit, b]))
        }
    }
}
