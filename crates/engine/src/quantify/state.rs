//! Where a path is, and values of expressions there.

use super::guard::{self, Guard};
use super::input::Candidate;
use super::inputs::Inputs;
use super::memory::{Memory, SymbolicObject};
use super::output::Output;
use crate::ir::{Expr, Function, Leaf, NodeId, Object, Op, Term, TermId, TermPool, Unit, VarId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why a path is not followed any further.
pub(super) type Reason = &'static str;

/// A call that has not ended, the innermost last.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    pub f: &'a Function,
    /// Which call of its path it is.
    pub number: u32,
    pub vars: Vec<Option<TermId>>,
    pub node: NodeId,
    /// What it returns, once it does.
    pub result: Option<TermId>,
    pub is_returning: bool,
}

impl<'a> Frame<'a> {
    pub fn new(f: &'a Function, number: u32) -> Frame<'a> {
        let vars = vec![None; f.vars.len()];
        Frame { f, number, vars, node: Function::ENTRY, result: None, is_returning: false }
    }

    /// What a local is in memory.
    pub fn place(&self, v: VarId) -> SymbolicObject {
        SymbolicObject::Local(self.number, v)
    }
}

/// What is known on a path.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    pub frames: Vec<Frame<'a>>,
    pub memory: Memory,
    /// Calls so far.
    pub calls: u32,
    /// Terms that were split over their values: on this path each is this.
    pub known: BTreeMap<TermId, TermId>,
    /// Globals and strings of the caller that were written.
    pub written: BTreeSet<SymbolicObject>,
    /// Globals whose content at entry is in memory.
    pub entered: BTreeSet<Arc<str>>,
    pub stdout: Output,
    pub stderr: Output,
    pub steps: u64,
    /// Values that are not known so far.
    pub unknowns: u32,
}

/// An object behind an address.
#[derive(Clone, Debug)]
pub(super) struct Behind {
    pub place: SymbolicObject,
    pub size: u64,
}

/// Where an access goes.
pub(super) enum Access {
    At(Behind, u64),
    /// It has several places: by the values of this offset in the object.
    ByOffset(TermId, Behind),
    /// By a condition: the address is one of two. The last is the address.
    ByCondition(TermId, TermId, TermId, TermId),
}

/// What expressions and addresses are evaluated with.
pub(super) struct World<'a, 'p> {
    pub unit: &'a Unit,
    pub pool: &'p mut TermPool,
    pub inputs: &'p mut dyn Inputs,
    pub candidates: &'p [Candidate],
    /// What the leaves of addresses are the addresses of.
    pub objects: FxHashMap<TermId, Behind>,
    /// Whether globals begin as they are initialised.
    pub is_program: bool,
    /// What globals hold at entry that begin otherwise, by symbol.
    pub contents: &'p BTreeMap<Arc<str>, Vec<u8>>,
}

impl<'a> World<'a, '_> {
    /// The address of an object.
    pub fn address(&mut self, frame: &Frame, object: &Object) -> Result<TermId, Reason> {
        let bits = self.unit.data_model.pointer_bits();
        match object {
            Object::Local(v) => {
                let var = frame.f.var(*v);
                if var.is_variable_length() {
                    return Err("an array of variable length");
                }
                let key = format!("{}:{}:{}#{}", frame.number, frame.f.name, var.name, var.ordinal);
                let leaf = self.pool.leaf(Leaf::LocalAddr { key: key.into(), bits });
                let behind = Behind { place: frame.place(*v), size: var.size };
                self.objects.entry(leaf).or_insert(behind);
                Ok(leaf)
            }
            Object::Global(symbol) => {
                let leaf = self.pool.leaf(Leaf::SymbolAddr { symbol: symbol.clone(), bits });
                let size = self.unit.global(symbol).map_or(0, |g| g.size);
                let is_aliased = |a: &crate::ir::Alias| a.name == *symbol || a.target == *symbol;
                if !self.unit.aliases.iter().any(is_aliased) {
                    self.objects
                        .entry(leaf)
                        .or_insert(Behind { place: SymbolicObject::Global(symbol.clone()), size });
                }
                Ok(leaf)
            }
            Object::Function(symbol) => Ok(self.pool.leaf(Leaf::SymbolAddr { symbol: symbol.clone(), bits })),
        }
    }

    /// The value of an expression; where it is undefined goes to `bad`.
    pub fn value(
        &mut self,
        state: &State,
        e: &Expr,
        bad: &mut Vec<(TermId, Reason)>,
    ) -> Result<TermId, Reason> {
        let Some(frame) = state.frames.last() else { return Err("control that is not followed") };
        match e {
            Expr::Const(c) => Ok(self.pool.constant(*c)),
            Expr::Var(v) => {
                let value = frame.vars.get(v.0 as usize).copied().flatten();
                value.ok_or("a value that was never given")
            }
            Expr::Addr(object) => self.address(frame, object),
            Expr::Op { op, args, signed_arith } => {
                let args: Vec<TermId> =
                    args.iter().map(|a| self.value(state, a, bad)).collect::<Result<_, _>>()?;
                let mut guards = vec![guard::partial(self.pool, self.inputs, *op, &args)];
                if *signed_arith {
                    guards.push(guard::overflow(self.pool, self.inputs, *op, &args));
                }
                for guard in guards {
                    match guard {
                        Guard::Fine => {}
                        Guard::Unless(condition, reason) => bad.push((condition, reason)),
                        Guard::NotFollowed(reason) => return Err(reason),
                    }
                }
                Ok(self.pool.op(*op, &args))
            }
        }
    }

    /// Where an address leads. Whether the access stays in the object is not looked at.
    pub fn access(&mut self, state: &State, address: TermId) -> Result<Access, Reason> {
        let mut at = address;
        while let Some(known) = state.known.get(&at) {
            at = *known;
        }
        if let Some(&[c, p, q]) = self.pool.as_op(at, Op::Ite) {
            return Ok(Access::ByCondition(c, p, q, at));
        }
        let (mut base, mut offsets, mut parts) = (None, Vec::new(), vec![at]);
        while let Some(part) = parts.pop() {
            if let Some(behind) = self.objects.get(&part) {
                if base.replace(behind.clone()).is_some() {
                    return Err("an address that is not followed");
                }
            } else if let Some(args) = self.pool.as_op(part, Op::Add) {
                parts.extend(args);
            } else {
                offsets.push(part);
            }
        }
        let Some(behind) = base else { return Err("a null pointer, or an address that is not followed") };
        if let SymbolicObject::Local(call, _) = behind.place
            && state.frames.iter().all(|f| f.number != call)
        {
            return Err("an object whose life has ended");
        }
        let bits = self.unit.data_model.pointer_bits();
        let zero = self.pool.bv(bits, 0);
        let offset = offsets.into_iter().fold(zero, |all, o| self.pool.op(Op::Add, &[all, o]));
        let offset = state.known.get(&offset).copied().unwrap_or(offset);
        match self.pool.as_const(offset).and_then(|c| c.unsigned()) {
            Some(k) => Ok(Access::At(behind, u64::try_from(k).unwrap_or(u64::MAX))),
            None if self.holds_address(offset) => Err("an address that is not followed"),
            None => Ok(Access::ByOffset(offset, behind)),
        }
    }

    fn holds_address(&self, t: TermId) -> bool {
        let is = |t: &TermId| matches!(self.pool.get(*t), Term::Leaf(l) if !matches!(l, Leaf::Param { .. }));
        self.pool.reachable(&[t]).iter().any(is)
    }

    /// The condition under which an access ends behind the terminator of a string.
    pub fn is_behind_end(&mut self, behind: &Behind, offset: u64, bytes: u64) -> Option<TermId> {
        let SymbolicObject::Text(of) = &behind.place else { return None };
        let before = (offset + bytes).checked_sub(2)?;
        let is_it = |c: &&Candidate| c.byte.as_ref().is_some_and(|b| b.of == *of && b.at == before);
        let term = self.candidates.iter().find(is_it)?.term;
        let zero = self.pool.bv(8, 0);
        Some(self.pool.eq(term, zero))
    }

    /// The string that a parameter points to at entry: its address, and what is in it.
    pub fn text(&mut self, state: &mut State, of: &Arc<str>) -> Option<TermId> {
        let is_of = |c: &&Candidate| c.byte.as_ref().is_some_and(|b| b.of == *of);
        let bytes: Vec<TermId> = self.candidates.iter().filter(is_of).map(|c| c.term).collect();
        if bytes.is_empty() {
            return None;
        }
        let place = SymbolicObject::Text(of.clone());
        let size = bytes.len() as u64 + 1;
        let zero = self.pool.bv(8, 0);
        for (at, byte) in (0..).zip(bytes.into_iter().chain([zero])) {
            state.memory.write(self.pool, &place, at, 1, byte)?;
        }
        let bits = self.unit.data_model.pointer_bits();
        let address = self.pool.leaf(Leaf::LocalAddr { key: super::text::symbol(of), bits });
        self.objects.insert(address, Behind { place, size });
        Some(address)
    }

    /// Puts the content at entry of a global in memory, where it is an input or known; the input, by position.
    pub fn enter(&mut self, state: &mut State, symbol: &Arc<str>) -> Option<usize> {
        let place = SymbolicObject::Global(symbol.clone());
        if state.entered.contains(symbol) || state.memory.has(&place) {
            return None;
        }
        let is_it = |c: &Candidate| c.global.as_ref().is_some_and(|(s, _)| s == symbol);
        let i = self.candidates.iter().position(is_it)?;
        let Some(Candidate { term, global: Some((_, bytes)), .. }) = self.candidates.get(i) else {
            return None;
        };
        state.memory.write(self.pool, &place, 0, *bytes, *term)?;
        state.entered.insert(symbol.clone());
        Some(i)
    }
}
