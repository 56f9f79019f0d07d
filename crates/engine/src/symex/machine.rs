//! What an instruction does to a symbolic state.
//!
//! Locals whose address is taken, and aggregates, live in the common memory at their addresses. A
//! call that is not part of the function's own text gives anything, and leaves anything in memory
//! unless it is known to leave it alone: that is more than it can do, so what holds nevertheless holds.

use crate::ir::{
    App, Callee, Const, Expr, Function, Instr, Leaf, NodeId, Object, Op, Sort, Term, TermId, TermPool, Unit,
    VarId,
};
use crate::semantics::mod_ref::only_computes;

/// Where a path is, and what it knows.
#[derive(Clone, Debug)]
pub struct State {
    pub node: NodeId,
    vars: Vec<Option<TermId>>,
    pub memory: TermId,
    /// Makes unknown values of one path distinct.
    unknowns: u32,
}

/// What comes after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    /// Under this condition the first successor, else the second.
    Branch(TermId),
    /// The path ends.
    End,
    /// It goes on in a way that is not followed.
    LeftOut,
}

/// A function under execution.
#[derive(Clone, Copy)]
pub(super) struct Machine<'a> {
    pub f: &'a Function,
    pub unit: &'a Unit,
}

/// The term of an object's address.
pub(super) fn address(f: &Function, object: &Object, bits: u16) -> Leaf {
    match object {
        Object::Local(v) => {
            let var = f.var(*v);
            Leaf::LocalAddr { key: format!("{}#{}", var.name, var.ordinal).into(), bits }
        }
        Object::Global(symbol) | Object::Function(symbol) => {
            Leaf::SymbolAddr { symbol: symbol.clone(), bits }
        }
    }
}

impl Machine<'_> {
    fn bits(&self) -> u16 {
        self.unit.data_model.pointer_bits()
    }

    /// The state at the function's entry.
    pub fn entry(&self, pool: &mut TermPool) -> State {
        let mut memory = pool.leaf(Leaf::Memory);
        let mut vars = vec![None; self.f.vars.len()];
        for p in &self.f.params {
            let var = self.f.var(*p);
            let Some(sort) = var.sort else { continue };
            let value = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
            if var.in_memory {
                let addr = pool.leaf(address(self.f, &Object::Local(*p), self.bits()));
                memory = pool.app(App::Store { bytes: var.size }, &[memory, addr, value]);
            } else {
                vars[p.0 as usize] = Some(value);
            }
        }
        State { node: Function::ENTRY, vars, memory, unknowns: 0 }
    }

    /// The value of a variable that is not in memory.
    pub fn var(&self, pool: &mut TermPool, state: &State, v: VarId) -> TermId {
        if let Some(t) = state.vars.get(v.0 as usize).copied().flatten() {
            return t;
        }
        let var = self.f.var(v);
        let key = format!("{}#{}", var.name, var.ordinal).into();
        pool.leaf(Leaf::Indeterminate { key, sort: var.sort.unwrap_or(Sort::Bv(8)) })
    }

    pub fn term(&self, pool: &mut TermPool, state: &State, e: &Expr) -> TermId {
        match e {
            Expr::Const(c) => pool.constant(*c),
            Expr::Var(v) => self.var(pool, state, *v),
            Expr::Addr(object) => pool.leaf(address(self.f, object, self.bits())),
            Expr::Op { op, args, .. } => {
                let args: Vec<TermId> = args.iter().map(|a| self.term(pool, state, a)).collect();
                pool.op(*op, &args)
            }
        }
    }

    fn unknown(&self, pool: &mut TermPool, state: &mut State, sort: Sort) -> TermId {
        state.unknowns += 1;
        // No number of a node: terms of one path never meet those of another.
        let key = state.unknowns.to_string().into();
        pool.leaf(Leaf::Havoc { key, sort })
    }

    fn set(&self, pool: &mut TermPool, state: &mut State, v: VarId, value: TermId) {
        let var = self.f.var(v);
        if var.in_memory {
            let addr = pool.leaf(address(self.f, &Object::Local(v), self.bits()));
            state.memory = pool.app(App::Store { bytes: var.size }, &[state.memory, addr, value]);
        } else if let Some(place) = state.vars.get_mut(v.0 as usize) {
            *place = Some(value);
        }
    }

    /// Executes the instruction of the state's node; the node stays.
    pub fn step(&self, pool: &mut TermPool, state: &mut State) -> Step {
        match &self.f.node(state.node).instr {
            // The array is in memory, at one address each time; what it held before is undefined to look at.
            Instr::Nop | Instr::Measure { .. } => {}
            Instr::Declare(v) => {
                if !self.f.var(*v).in_memory
                    && let Some(place) = state.vars.get_mut(v.0 as usize)
                {
                    *place = None;
                }
            }
            Instr::Assign { dst, value } => {
                let value = self.term(pool, state, value);
                self.set(pool, state, *dst, value);
            }
            Instr::Load { dst, addr, access } => {
                let addr = self.term(pool, state, addr);
                let value = match access.volatile {
                    true => self.unknown(pool, state, access.sort),
                    false => self.load(pool, state.memory, addr, access.sort, access.bytes),
                };
                self.set(pool, state, *dst, value);
            }
            Instr::Store { addr, value, access } => {
                let (addr, value) = (self.term(pool, state, addr), self.term(pool, state, value));
                state.memory = pool.app(App::Store { bytes: access.bytes }, &[state.memory, addr, value]);
            }
            Instr::Copy { dst, src, bytes } => {
                let (dst, src) = (self.term(pool, state, dst), self.term(pool, state, src));
                state.memory = pool.app(App::CopyBytes { bytes: *bytes }, &[state.memory, dst, src]);
            }
            Instr::Zero { dst, bytes } => {
                let dst = self.term(pool, state, dst);
                state.memory = pool.app(App::ZeroBytes { bytes: *bytes }, &[state.memory, dst]);
            }
            Instr::Call { noreturn: true, .. } | Instr::Unreachable => return Step::End,
            Instr::Call { dst, callee, .. } => {
                if !matches!(callee, Callee::Direct(name) if only_computes(name)) {
                    state.memory = self.unknown(pool, state, Sort::Mem);
                }
                if let Some(dst) = dst
                    && let Some(sort) = self.f.var(*dst).sort
                {
                    let value = self.unknown(pool, state, sort);
                    self.set(pool, state, *dst, value);
                }
            }
            Instr::Branch { cond } => return Step::Branch(self.term(pool, state, cond)),
            Instr::Return { .. } => {}
            i @ Instr::Unknown { .. } if i.is_second_return() => return Step::LeftOut,
            Instr::Unknown { writes, anything, .. } => {
                if *anything {
                    state.memory = self.unknown(pool, state, Sort::Mem);
                }
                for v in writes {
                    if let Some(sort) = self.f.var(*v).sort {
                        let value = self.unknown(pool, state, sort);
                        self.set(pool, state, *v, value);
                    }
                }
            }
        }
        Step::Next
    }

    /// Reads memory; bytes of constant objects are read from their initialisers.
    fn load(&self, pool: &mut TermPool, memory: TermId, addr: TermId, sort: Sort, bytes: u64) -> TermId {
        let constant = |(symbol, offset): (&str, u64)| {
            let global = self.unit.global(symbol).filter(|g| g.is_known_constant())?;
            let bits = global.constant_bytes(offset, bytes)?;
            Const::from_bits(sort, bits.iter().rev().fold(0u128, |all, b| all << 8 | u128::from(*b)))
        };
        match symbol_and_offset(pool, addr).and_then(constant) {
            Some(c) => pool.constant(c),
            None => pool.app(App::Load { sort, bytes }, &[memory, addr]),
        }
    }
}

/// Symbol and constant offset of an address, if it is that simple.
fn symbol_and_offset(pool: &TermPool, addr: TermId) -> Option<(&str, u64)> {
    match pool.get(addr) {
        Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => Some((symbol, 0)),
        Term::App(App::Op(Op::Add), args) => {
            let &[a, b] = args.as_slice() else { return None };
            let (base, k) = match (pool.as_const(a), pool.as_const(b)) {
                (Some(k), None) => (b, k),
                (None, Some(k)) => (a, k),
                _ => return None,
            };
            let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = pool.get(base) else { return None };
            Some((symbol, u64::try_from(k.signed()?).ok()?))
        }
        _ => None,
    }
}
