//! The machine takes down what it does in a coverage map: the way of each branch, what conditions compare, and
//! where each register and each place of memory has its value from.

use super::code::{Param, Value};
use super::coverage::{AddressTarget, Compared, Edge, MAX_COMPARISONS, MAX_OF_SITE, Operand, Origin};
use super::eval::eval;
use super::input::ObjectId;
use super::machine::Machine;
use super::register::Events;
use crate::ir::{Const, Op, Sort};
use std::sync::Arc;

/// Longest text that a library function compares and that is kept, in bytes.
const MAX_TEXT: usize = 64;
/// Operators above a comparison within a condition that are looked through.
const MAX_DEPTH: u32 = 4;

impl Machine<'_> {
    /// A branch was taken.
    pub(super) fn note_branch(&mut self, cond: &Value, base: usize, node: u32, taken: bool) {
        let definition = self.stack.frames.last().map(|f| f.definition).unwrap_or_default();
        let Some(coverage) = &mut self.coverage else { return };
        coverage.way(definition, node, taken);
        let Some(explanation) = &mut coverage.explanation else { return };
        let count = explanation.counts.entry((definition, node)).or_insert(0);
        *count += 1;
        if *count <= MAX_OF_SITE && explanation.comparisons.len() < MAX_COMPARISONS {
            self.note_condition(cond, base, Edge::new(definition, node, !taken), 0);
        }
    }

    fn note_condition(&mut self, cond: &Value, base: usize, untaken: Edge, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match cond {
            Value::Unary { a, .. } => self.note_condition(a, base, untaken, depth + 1),
            Value::Binary { op, ab, .. } => {
                let compares = matches!(
                    op,
                    Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe
                );
                if compares
                    && let (Some(a), Some(b)) = (self.operand(&ab[0], base), self.operand(&ab[1], base))
                    && (a.origin.is_some() || b.origin.is_some())
                    && let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut())
                {
                    e.comparisons.push(Compared::Values { op: *op, sides: Box::new([a, b]), untaken });
                }
                self.note_condition(&ab[0], base, untaken, depth + 1);
                self.note_condition(&ab[1], base, untaken, depth + 1);
            }
            Value::Many { args, .. } => {
                args.iter().for_each(|a| self.note_condition(a, base, untaken, depth + 1))
            }
            Value::Const(_) | Value::Var(_) | Value::Local(_) | Value::Unresolved => {}
        }
    }

    fn operand(&mut self, e: &Value, base: usize) -> Option<Operand> {
        let registers = self.stack.registers.get(base..).unwrap_or(&[]);
        let value = eval(e, registers, &mut Events::default()).ok()?;
        let origin = self.coverage.as_ref()?.explanation.as_ref()?.origin(e, base);
        let is_word = value.sort().bits() == Some(self.program.pointer_bits());
        let addr = value.to_bits() as u64;
        let function = if is_word { self.program.code_at(addr).map(|f| f.name.clone()) } else { None };
        let target = match function {
            Some(name) => Some(AddressTarget::Function(name)),
            None if is_word => {
                self.input_place(addr).map(|(id, offset)| AddressTarget::Object(id, offset as i64))
            }
            None => None,
        };
        let is_address = target.is_some() || is_word && self.memory.find(addr).is_some();
        Some(Operand { value, origin, is_address, target })
    }

    /// The object of the input that an address lies in.
    fn input_place(&self, addr: u64) -> Option<(ObjectId, u64)> {
        let base = self.memory.object(self.memory.find(addr)?)?.base;
        let (id, _) = self.object_addresses.iter().find(|(_, a)| **a == base)?;
        Some((*id, addr.wrapping_sub(base)))
    }

    /// A value was computed; what it compares is noted as a branch would be.
    fn note_value(&mut self, value: &Value, base: usize, node: u32) {
        if !self.explains()
            || !matches!(value, Value::Unary { .. } | Value::Binary { .. } | Value::Many { .. })
        {
            return;
        }
        let definition = self.stack.frames.last().map(|f| f.definition).unwrap_or_default();
        let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) else { return };
        let count = e.counts.entry((definition, node)).or_insert(0);
        *count += 1;
        if *count <= MAX_OF_SITE && e.comparisons.len() < MAX_COMPARISONS {
            self.note_condition(value, base, Edge::new(definition, node, true), 0);
        }
    }

    /// A register took a value.
    pub(super) fn note_assign(&mut self, register: usize, value: &Value, base: usize, node: u32) {
        self.note_value(value, base, node);
        if let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) {
            let origin = e.origin(value, base);
            e.set(register, origin);
        }
    }

    /// A register was loaded from memory.
    pub(super) fn note_load(&mut self, register: usize, addr: u64, bytes: u64) {
        if !self.explains() {
            return;
        }
        let place = self.input_place(addr);
        let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) else { return };
        let read = || place.map(|(object, offset)| (Origin::Object { object, offset, bytes }, 0));
        let origin = e.stored.get(&addr).cloned().or_else(read);
        e.set(register, origin);
    }

    /// Memory took a value.
    pub(super) fn note_store(&mut self, addr: u64, value: &Value, base: usize, node: u32) {
        self.note_value(value, base, node);
        if let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) {
            match e.origin(value, base) {
                Some(origin) => e.stored.insert(addr, origin),
                None => e.stored.remove(&addr),
            };
        }
    }

    /// A frame was entered whose arguments are these expressions of the caller at `base`; the entry's are
    /// the input's.
    pub(super) fn note_arguments(&mut self, args: Option<(&[Value], usize)>) {
        let Some(frame) = self.stack.frames.last() else { return };
        let (code, entered) = (frame.code, frame.base);
        let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) else { return };
        let origins: Vec<Option<(Origin, i128)>> = match args {
            Some((args, base)) => args.iter().map(|a| e.origin(a, base)).collect(),
            None => {
                let argument =
                    |(index, p): (usize, &Param)| Some((Origin::Argument { index, sort: p.sort? }, 0));
                code.params.iter().enumerate().map(argument).collect()
            }
        };
        e.origins.truncate(entered);
        for (p, origin) in code.params.iter().zip(origins).filter(|(p, _)| p.sort.is_some()) {
            let register = entered + p.var as usize;
            match (p.in_memory, origin) {
                (false, origin) => e.set(register, origin),
                (true, Some(origin)) => {
                    let home = self.stack.registers.get(register).copied().flatten();
                    e.stored.insert(home.map_or(0, Const::to_bits) as u64, origin);
                }
                (true, None) => {}
            }
        }
    }

    /// A frame returns an expression's value to a register of its caller.
    pub(super) fn note_return(&mut self, value: Option<&Value>, node: u32) {
        if let (Some(value), Some(base)) = (value, self.stack.frames.last().map(|f| f.base)) {
            self.note_value(value, base, node);
        }
        let [.., caller, callee] = self.stack.frames.as_slice() else { return };
        let Some(dst) = callee.dst else { return };
        let (base, register) = (callee.base, caller.base + dst as usize);
        if let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) {
            let origin = value.and_then(|v| e.origin(v, base));
            e.origins.truncate(base);
            e.set(register, origin);
        }
    }

    /// A register took the result of a call that the input says, or a library function.
    pub(super) fn note_call(&mut self, register: usize, call: Option<(&Arc<str>, u32, Sort)>) {
        if let Some(e) = self.coverage.as_mut().and_then(|t| t.explanation.as_mut()) {
            let origin = |(callee, nth, sort): (&Arc<str>, u32, Sort)| Origin::Call {
                callee: callee.clone(),
                nth,
                sort,
            };
            e.set(register, call.map(|c| (origin(c), 0)));
        }
    }

    /// A library function compares texts at two addresses, or a text with these bytes.
    pub(super) fn note_texts(&mut self, left: u64, right: Result<u64, &[u8]>) {
        if !self.explains() {
            return;
        }
        let add = |machine: &mut Self, at: u64, other: Vec<u8>| {
            let Some((object, offset)) = machine.input_place(at) else { return };
            if let Some(e) = machine.coverage.as_mut().and_then(|t| t.explanation.as_mut())
                && e.comparisons.len() < MAX_COMPARISONS
            {
                e.comparisons.push(Compared::Text { object, offset, other });
            }
        };
        match right {
            Ok(right) => {
                for (at, with) in [(left, right), (right, left)] {
                    let text = self.memory.string(with, MAX_TEXT as u64).unwrap_or_default();
                    add(self, at, text);
                }
            }
            Err(bytes) => add(self, left, bytes.to_vec()),
        }
    }

    fn explains(&self) -> bool {
        self.coverage.as_ref().is_some_and(|t| t.explanation.is_some())
    }
}
