//! One loop, one step a node.

use super::code::{Code, NO_NODE, Step, Value};
use super::eval::eval;
use super::input;
use super::machine::Machine;
use super::stop::{Run, Stop};
use super::word::{Word, word};
use crate::ir::{Const, Extended, Function, NodeId, Sort, UndefinedKind, VarId};
use std::ops::ControlFlow;

/// What an observer sees: the entry frame just before a node is executed.
pub struct Observation<'m, 'p> {
    machine: &'m mut Machine<'p>,
    base: usize,
    code: &'p Code,
}

impl Observation<'_, '_> {
    /// Returns the value of a scalar variable; `None` while it is indeterminate.
    pub fn value(&mut self, var: VarId) -> Option<Const> {
        self.machine.scalar(self.base, self.code, var)
    }

    /// Returns the machine value of an input value.
    pub fn value_of(&self, value: &input::Value) -> Option<Const> {
        self.machine.value_of(value, 0)
    }

    /// Returns what the bytes at a place hold; `None` while they are indeterminate, and where nothing
    /// is.
    pub fn load(&mut self, place: &input::Value, sort: Sort, bytes: u64) -> Option<Const> {
        let address = self.machine.value_of(place, 0)?;
        let bits = self.machine.memory.load(address.to_bits() as u64, bytes).ok()?;
        Const::from_bits(sort, bits)
    }

    /// Returns the values converted from standard input so far.
    pub fn inputs(&self) -> &[Option<Const>] {
        &self.machine.noted.inputs
    }
}

/// Called before each watched node of the entry function's outermost call.
pub(super) type Observer<'o> = &'o mut dyn FnMut(NodeId, &mut Observation) -> ControlFlow<()>;

impl<'p> Machine<'p> {
    /// Executes until only `floor` frames are left.
    pub(super) fn execute(&mut self, floor: usize, mut observer: Option<(&[bool], Observer)>) -> Run<()> {
        while self.stack.frames.len() > floor {
            let Some(frame) = self.stack.frames.last() else { return Ok(()) };
            let (code, base) = (frame.code, frame.base);
            let mut node = frame.node;
            // Within one frame; left on calls and returns.
            loop {
                let Some(n) = code.nodes.get(node as usize) else {
                    return Err(UndefinedKind::Unreachable.into());
                };
                let cost = 1 + self.memory.take_work();
                self.fuel = self.fuel.checked_sub(cost).ok_or(Stop::Fuel)?;
                if let Some((watched, observe)) = &mut observer
                    && self.stack.frames.len() == 1
                    && watched.get(node as usize) == Some(&true)
                {
                    let seen = observe(NodeId(node), &mut Observation { machine: self, base, code });
                    if seen.is_break() {
                        return Err(Stop::Fuel);
                    }
                }
                let next = match &n.step {
                    Step::Nop => n.succs[0],
                    Step::Branch { cond } => {
                        let taken = self.bits_at(cond, base, node)? == 1;
                        if self.coverage.is_some() {
                            self.note_branch(cond, base, node, taken);
                        }
                        if taken { n.succs[0] } else { n.succs[1] }
                    }
                    Step::Assign { dst, value } => {
                        let registers = self.stack.registers.get(base..).unwrap_or(&[]);
                        match word(value, registers, &mut self.events) {
                            Ok(w) if !self.events.overflow => {
                                self.stack.registers[base + *dst as usize] = Some(w.constant());
                            }
                            _ => {
                                let v = self.eval_at(value, base, node)?;
                                self.stack.registers[base + *dst as usize] = Some(v);
                            }
                        }
                        if self.coverage.is_some() {
                            self.note_assign(base + *dst as usize, value, base, node);
                        }
                        n.succs[0]
                    }
                    Step::Call(call) => {
                        self.set_node(node);
                        match self.call(call, base, n.succs[0]) {
                            Ok(true) => break,
                            Ok(false) => n.succs[0],
                            Err(Stop::Jump { buffer, value }) => {
                                self.land(buffer, value, floor)?;
                                break;
                            }
                            Err(stop) => return Err(stop),
                        }
                    }
                    Step::Return { value } => {
                        self.set_node(node);
                        if self.coverage.is_some() {
                            self.note_return(value.as_ref(), node);
                        }
                        let value = match value {
                            Some(v) => Some(self.eval_at(v, base, node)?),
                            None => None,
                        };
                        if let Some((watched, observe)) = &mut observer
                            && self.stack.frames.len() == 1
                            && watched.get(Function::EXIT.0 as usize) == Some(&true)
                        {
                            let seen =
                                observe(Function::EXIT, &mut Observation { machine: self, base, code });
                            if seen.is_break() {
                                return Err(Stop::Fuel);
                            }
                        }
                        self.leave(value)?;
                        break;
                    }
                    step => {
                        self.set_node(node);
                        self.effect(step, base, node)?;
                        n.succs[0]
                    }
                };
                if next == NO_NODE {
                    self.set_node(node);
                    if node == 1 {
                        // The exit node, reached without a `return`.
                        self.leave(None)?;
                        break;
                    }
                    return Err(UndefinedKind::Unreachable.into());
                }
                node = next;
            }
        }
        Ok(())
    }

    fn set_node(&mut self, node: u32) {
        if let Some(f) = self.stack.frames.last_mut() {
            f.node = node;
        }
    }

    /// Evaluates an expression of a node; an event leaves the frame at that node.
    #[inline]
    pub(super) fn eval_at(&mut self, e: &Value, base: usize, node: u32) -> Run<Const> {
        let registers = self.stack.registers.get(base..).unwrap_or(&[]);
        match eval(e, registers, &mut self.events) {
            Ok(v) => {
                if self.events.overflow {
                    self.note_overflow(node);
                }
                Ok(v)
            }
            Err(kind) => {
                self.set_node(node);
                if kind == UndefinedKind::Uninitialised && self.reads_missing(e) {
                    return Err(UndefinedKind::MissingReturn.into());
                }
                Err(kind.into())
            }
        }
    }

    /// The low 64 bits of an expression's value: an address, a truth value.
    #[inline]
    fn bits_at(&mut self, e: &Value, base: usize, node: u32) -> Run<u64> {
        let registers = self.stack.registers.get(base..).unwrap_or(&[]);
        match word(e, registers, &mut self.events) {
            Ok(w) if !self.events.overflow => Ok(w.bits()),
            _ => Ok(self.eval_at(e, base, node)?.to_bits() as u64),
        }
    }

    #[cold]
    fn note_overflow(&mut self, node: u32) {
        self.events.overflow = false;
        if self.noted.overflow.is_none() {
            self.noted.overflow = self.stack.frames.last().map(|f| (f.definition, node));
        }
    }

    /// Whether an expression is nothing but what was read from memory that was never written.
    fn is_indeterminate(&self, e: &Value, base: usize) -> bool {
        let Value::Var(v) = e else { return false };
        self.stack.registers.get(base + *v as usize).is_some_and(|r| r.is_none())
            && self.stack.frames.last().is_some_and(|f| f.indeterminate.contains(v))
    }

    /// Returns whether an indeterminate variable of the expression is a result that was not
    /// returned.
    fn reads_missing(&self, e: &Value) -> bool {
        let Some(f) = self.stack.frames.last() else { return false };
        let is_missing = |v: u32| {
            f.missing.contains(&v)
                && self.stack.registers.get(f.base + v as usize).is_some_and(|r| r.is_none())
        };
        e.any_var(&is_missing)
    }

    /// Steps that touch memory or nothing.
    fn effect(&mut self, step: &Step, base: usize, node: u32) -> Run<()> {
        match step {
            Step::Forget(var) => self.stack.registers[base + *var as usize] = None,
            Step::ForgetMemory { var, size } => {
                let home = self.stack.registers[base + *var as usize].map_or(0, |c| c.to_bits() as u64);
                self.memory.undefine(home, *size)?;
            }
            Step::Load { dst, addr, bytes, sort, relevant } => {
                let addr = self.bits_at(addr, base, node)?;
                if self.coverage.is_some() {
                    self.note_load(base + *dst as usize, addr, *bytes);
                }
                let loaded = match self.memory.load_bits(addr, *bytes, *relevant) {
                    Ok(bits) if *sort == Sort::F80 && !Extended::is_value(bits) => {
                        return Err(Stop::Unsupported("bytes that are no 'long double'".into()));
                    }
                    Ok(bits) => match *sort {
                        Sort::Bv(width @ 1..=64) => Some(Word::new(width, bits as u64).constant()),
                        sort => Const::from_bits(sort, bits),
                    },
                    // To copy what was never written is no use of it.
                    Err(UndefinedKind::Uninitialised) => {
                        if let Some(frame) = self.stack.frames.last_mut() {
                            frame.indeterminate.push(*dst);
                        }
                        None
                    }
                    Err(kind) => return Err(kind.into()),
                };
                self.stack.registers[base + *dst as usize] = loaded;
            }
            Step::Store { addr, value, bytes } => {
                let addr = self.bits_at(addr, base, node)?;
                if self.coverage.is_some() {
                    self.note_store(addr, value, base, node);
                }
                if self.is_indeterminate(value, base) {
                    self.memory.undefine(addr, *bytes)?;
                    return Ok(());
                }
                let value = self.eval_at(value, base, node)?;
                self.memory.store(addr, *bytes, value.to_bits())?;
            }
            Step::StoreBits { addr, value, bytes, written } => {
                let addr = self.bits_at(addr, base, node)?;
                let value = self.eval_at(value, base, node)?;
                self.memory.store_bits(addr, *bytes, value.to_bits(), *written)?;
            }
            Step::Copy { dst, src, bytes } => {
                let dst = self.bits_at(dst, base, node)?;
                let src = self.bits_at(src, base, node)?;
                self.memory.copy(dst, src, *bytes)?;
            }
            Step::Zero { dst, bytes } => {
                let dst = self.bits_at(dst, base, node)?;
                self.memory.fill(dst, *bytes, 0)?;
            }
            Step::Unknown(reason) => return Err(Stop::Unsupported(reason.to_string())),
            Step::Unreachable => return Err(UndefinedKind::Unreachable.into()),
            Step::Measure { var, lengths, element } => {
                let size = self.measured(lengths, *element, base, node)?;
                if let Some(var) = var {
                    self.end_array(base + *var as usize);
                    self.stack.registers[base + *var as usize] = Some(self.new_array(size)?);
                }
            }
            Step::End(var) => self.end_array(base + *var as usize),
            Step::Nop | Step::Assign { .. } | Step::Call(_) | Step::Branch { .. } | Step::Return { .. } => {}
        }
        Ok(())
    }
}
