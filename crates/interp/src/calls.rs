//! Calls on the machine: frames, library models, functions that nobody defines, callbacks.

use super::code::{Call, Code, LibraryRow, NO_NODE, Param, Target, Unknown};
use super::ids::DefinitionId;
use super::input::Value;
use super::library;
use super::machine::{ArgumentList, Frame, Machine};
use super::outcome::AssumedCall;
use super::program::{CodeSymbol, ERRNO};
use super::resolve::code_of;
use super::stop::{Run, Stop};
use crate::ir::{CType, Const, UndefinedKind, VarId};
use std::sync::Arc;

/// Callbacks from library models that may be active at once; each is one native recursion.
const MAX_CALLBACKS: usize = 16;

/// Requests for memory that are listed.
const MAX_REQUESTS: usize = 64;

impl<'p> Machine<'p> {
    /// Enters a function.
    ///
    /// Errors: `BadCall` when the arguments do not fit the parameters.
    pub(super) fn push_frame(
        &mut self,
        definition: DefinitionId,
        code: &'p Code,
        args: &[Const],
        types: &[CType],
        dst: Option<u32>,
        result_to: Option<u64>,
    ) -> Run<()> {
        if self.stack.frames.len() >= self.limits.depth {
            return Err(Stop::Fuel);
        }
        let base = self.stack.registers.len();
        self.stack.registers.resize(base + code.vars, None);
        let bits = self.program.pointer_bits();
        for &(var, size) in &code.memory_vars {
            let addr = self.memory.push_stack(size);
            let addr = addr.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
            self.stack.registers[base + var as usize] = Some(Const::bv(bits, addr as i128));
        }
        for (p, &arg) in code.params.iter().zip(args) {
            self.pass(base, p, arg)?;
        }
        let mut extra = ArgumentList { values: Vec::new(), is_open: self.stack.frames.is_empty() };
        if code.variadic {
            let rest = args.iter().copied().zip(types.iter().cloned());
            extra.values = rest.skip(code.params.len()).collect();
        }
        let missing = Vec::new();
        self.stack.entered += 1;
        let unit = self.program.definition(definition).map_or(usize::MAX, |d| d.unit);
        self.noted.entered_units.get_mut(unit).into_iter().for_each(|entered| *entered = true);
        self.stack.frames.push(Frame {
            serial: self.stack.entered,
            definition,
            code,
            base,
            node: 0,
            dst,
            result_to,
            missing,
            indeterminate: Vec::new(),
            allocas: Vec::new(),
            noreturn: false,
            extra,
        });
        Ok(())
    }

    fn pass(&mut self, base: usize, p: &Param, arg: Const) -> Run<()> {
        let place = base + p.var as usize;
        match p.sort {
            None => {
                let home = self.stack.registers[place].map_or(0, Const::to_bits) as u64;
                self.memory.copy(home, arg.to_bits() as u64, p.size)?;
            }
            Some(sort) if arg.sort() != sort => return Err(UndefinedKind::BadCall.into()),
            Some(sort) if p.in_memory => {
                let home = self.stack.registers[place].map_or(0, Const::to_bits) as u64;
                self.memory.store(home, sort.bytes(), arg.to_bits())?;
            }
            Some(_) => self.stack.registers[place] = Some(arg),
        }
        Ok(())
    }

    /// Performs a call; returns whether a frame was pushed. `next` is where the caller goes on.
    pub(super) fn call(&mut self, call: &'p Call, base: usize, next: u32) -> Run<bool> {
        let node = self.stack.frames.last().map_or(0, |f| f.node);
        let mut args = Vec::with_capacity(call.args.len());
        for a in &call.args {
            args.push(self.eval_at(a, base, node)?);
        }
        let result_to = match &call.result_to {
            Some(r) => Some(self.eval_at(r, base, node)?.to_bits() as u64),
            None => None,
        };
        let definition = match &call.target {
            Target::Definition(id) => *id,
            Target::Library(row) => return self.call_model(call, *row, &args, base).map(|()| false),
            Target::Unknown(callee) => {
                return self.call_unknown(call, callee, &args, base, result_to).map(|()| false);
            }
            Target::Indirect(e) => {
                let addr = self.eval_at(e, base, node)?.to_bits() as u64;
                let symbol = self.code_symbol(addr)?;
                match symbol.definition {
                    Some(id) => id,
                    None => {
                        match library::find(&symbol.name) {
                            Some(row) => self.call_model(call, row, &args, base)?,
                            None => {
                                let callee = Unknown::named(&symbol.name);
                                self.call_unknown(call, &callee, &args, base, result_to)?;
                            }
                        }
                        return Ok(false);
                    }
                }
            }
        };
        let Some(code) = code_of(self.program, definition) else {
            return Err(Stop::Unsupported("function without code".into()));
        };
        let noted = self.note_defined(definition, &args, &call.arg_types);
        self.push_frame(definition, code, &args, &call.arg_types, call.dst, result_to)?;
        self.open_watched(noted);
        self.note_arguments(Some((&call.args, base)));
        if let Some(caller) =
            self.stack.frames.len().checked_sub(2).and_then(|i| self.stack.frames.get_mut(i))
        {
            caller.noreturn = next == NO_NODE;
            if next != NO_NODE {
                caller.node = next;
            }
        }
        Ok(true)
    }

    fn code_symbol(&self, addr: u64) -> Run<&'p CodeSymbol> {
        if addr == 0 {
            return Err(UndefinedKind::NullDereference.into());
        }
        Ok(self.program.code_at(addr).ok_or(UndefinedKind::BadPointer)?)
    }

    fn call_model(&mut self, call: &'p Call, row: LibraryRow, args: &[Const], base: usize) -> Run<()> {
        let unknown = || Stop::Unsupported("library function without a model".into());
        let model = library::model(row).ok_or_else(unknown)?;
        let request = library::Arguments {
            name: model.name,
            values: args,
            types: &call.arg_types,
            ret: &call.ret,
            pointer_bits: self.program.pointer_bits(),
            is_sized: call.is_sized,
        };
        let noted = self.note_watched(model.name, false, args, &call.arg_types);
        let result = (model.run)(self, &request)?;
        self.give_watched(noted, result);
        if self.streams.output_len() > self.limits.output {
            return Err(Stop::Fuel);
        }
        self.set_result(call, result, base)
    }

    /// Stores a call's result in its register.
    pub(super) fn set_result(&mut self, call: &Call, result: Option<Const>, base: usize) -> Run<()> {
        let Some(dst) = call.dst else { return Ok(()) };
        let expected = call.ret.sort(self.program.pointer_bits());
        if let (Some(r), Some(s)) = (result, expected)
            && r.sort() != s
        {
            return Err(Stop::Unsupported("library function with an unusual declaration".into()));
        }
        self.stack.registers[base + dst as usize] = result;
        self.note_call(base + dst as usize, None);
        Ok(())
    }

    /// A function that nobody defines: takes its result from the input, or assumes zero.
    fn call_unknown(
        &mut self,
        call: &'p Call,
        Unknown { name, is_determined }: &Unknown,
        args: &[Const],
        base: usize,
        result_to: Option<u64>,
    ) -> Run<()> {
        let noted = self.note_watched(name, false, args, &call.arg_types);
        if let Some(known) = library::answered(self, name, args)? {
            self.give_watched(noted, Some(known));
            return self.set_result(call, Some(known), base);
        }
        let nth = self.call_counts.entry(name.clone()).or_insert(0);
        *nth += 1;
        let nth = *nth;
        let input = self.input;
        let given = input.calls.iter().find(|c| c.callee == *name && c.nth == nth);
        let arguments = args.iter().zip(&call.arg_types).map(|(c, t)| self.printable(*c, t)).collect();
        self.noted.assumed_calls.push(AssumedCall {
            callee: name.clone(),
            nth,
            arguments,
            line: self.line(),
            given: given.is_some(),
            is_determined: *is_determined,
        });
        if call.noreturn {
            return Err(Stop::NoReturn(name.clone()));
        }
        if let Some(addr) = result_to {
            // An aggregate result: what is not known stays as it is, but must be readable.
            let size = self.memory.remaining(addr).unwrap_or(0);
            self.memory.fill(addr, size, 0)?;
        }
        let sort = call.ret.sort(self.program.pointer_bits());
        let mut result = sort.and_then(Const::zero);
        if let Some(given) = given {
            for write in &given.writes {
                let target = args.get(write.argument).map_or(0, |a| a.to_bits() as u64);
                self.memory.write(target.wrapping_add_signed(write.offset), &write.bytes)?;
            }
            if let Some(errno) = given.errno {
                self.set_errno(errno)?;
            }
            let value = self.value_of(&given.result, 0);
            result = value.filter(|v| Some(v.sort()) == sort).or(result);
        }
        library::leave(self, name, args, result)?;
        self.give_watched(noted, result);
        self.set_result(call, result, base)?;
        if let (Some(dst), Some(sort)) = (call.dst, sort) {
            self.note_call(base + dst as usize, Some((name, nth, sort)));
        }
        Ok(())
    }

    pub(super) fn printable(&mut self, c: Const, ty: &CType) -> Value {
        if !ty.is_pointer() || c.to_bits() == 0 {
            return Value::Const(c);
        }
        let addr = c.to_bits() as u64;
        if let Some(symbol) = self.program.code_at(addr) {
            return Value::Function(symbol.name.clone());
        }
        let Some(r) = self.memory.find(addr) else { return Value::Const(c) };
        let Some(base) = self.memory.object_mut(r).map(|o| o.base) else { return Value::Const(c) };
        let offset = addr.wrapping_sub(base) as i64;
        if let Some((id, _)) = self.object_addresses.iter().find(|(_, a)| **a == base) {
            return Value::Pointer { object: *id, offset };
        }
        match self.program.slots().get(r.index) {
            Some(s) if s.base == base => Value::Global { symbol: s.symbol.clone(), offset },
            // A local or allocated object has no name that versions share.
            _ => Value::Global { symbol: Arc::from("?"), offset },
        }
    }

    /// Returns what the world answers to a modelled call whose result is not the program's: from
    /// the input, else an assumed zero. Either way the call is listed.
    pub fn external(&mut self, a: &library::Arguments<'_>, name: &'static str) -> i128 {
        let callee: Arc<str> = Arc::from(name);
        let nth = self.call_counts.entry(callee.clone()).or_insert(0);
        *nth += 1;
        let nth = *nth;
        let given = self.input.calls.iter().find(|c| c.callee == callee && c.nth == nth);
        let result = given.and_then(|c| if let Value::Const(c) = c.result { c.signed() } else { None });
        let arguments = a.values.iter().zip(a.types).map(|(c, t)| self.printable(*c, t)).collect();
        let (line, given, is_determined) = (self.line(), result.is_some(), false);
        self.noted.assumed_calls.push(AssumedCall { callee, nth, arguments, line, given, is_determined });
        result.unwrap_or(0)
    }

    /// Counts a request for memory; returns whether the input says that it is refused. Then the call
    /// is listed.
    pub fn is_refused(&mut self, a: &library::Arguments<'_>) -> bool {
        let nth = self.noted.heap.counts.entry(a.name).or_insert(0);
        *nth += 1;
        let nth = *nth;
        if self.noted.heap.first.len() < MAX_REQUESTS {
            let numbers = a.values.iter().zip(a.types).filter(|(_, t)| !t.is_pointer());
            self.noted.heap.first.push((a.name, numbers.map(|(c, _)| c.to_bits()).collect()));
        }
        let refused = self.input.calls.iter().any(|c| *c.callee == *a.name && c.nth == nth);
        if refused {
            let arguments = a.values.iter().zip(a.types).map(|(c, t)| self.printable(*c, t)).collect();
            let (callee, line, given, is_determined) = (Arc::from(a.name), self.line(), true, false);
            self.noted.assumed_calls.push(AssumedCall { callee, nth, arguments, line, given, is_determined });
        }
        refused
    }

    /// Sets `errno`.
    pub fn set_errno(&mut self, value: i32) -> Run<()> {
        if let Some(slot) = self.program.library_slot(ERRNO) {
            self.memory.store(slot.base, 4, value as u32 as u128)?;
        }
        Ok(())
    }

    /// Leaves the innermost function.
    pub(super) fn leave(&mut self, value: Option<Const>) -> Run<()> {
        let Some(frame) = self.stack.frames.last() else { return Ok(()) };
        let (code, base, dst) = (frame.code, frame.base, frame.dst);
        if let (Some(to), Some(from), Some(size)) = (frame.result_to, value, code.aggregate_result) {
            self.memory.copy(to, from.to_bits() as u64, size)?;
        }
        let mut value = value;
        if self.stack.frames.len() == 1 && self.stack.callbacks == 0 {
            if let (Some(from), Some(size)) = (value, code.aggregate_result) {
                value = Some(self.keep_result(from.to_bits() as u64, size)?);
            }
            let vars = (0..code.vars as u32).map(VarId);
            self.handed.locals = vars.map(|v| self.scalar(base, code, v)).collect();
        }
        self.close_watched(value);
        self.drop_frame();
        self.handed.result = value;
        if let (Some(dst), Some(caller)) = (dst, self.stack.frames.last_mut()) {
            if value.is_none() {
                caller.missing.push(dst);
            }
            let place = caller.base + dst as usize;
            self.stack.registers[place] = value;
        }
        if self.stack.frames.last().is_some_and(|caller| caller.noreturn) {
            return Err(UndefinedKind::Unreachable.into());
        }
        Ok(())
    }

    /// Ends the innermost frame and the lifetime of all that it holds.
    pub(super) fn drop_frame(&mut self) {
        let Some(frame) = self.stack.frames.pop() else { return };
        for (var, _) in &frame.code.memory_vars {
            if let Some(home) = self.stack.registers.get(frame.base + *var as usize).copied().flatten() {
                self.memory.end_local(home.to_bits() as u64);
            }
        }
        frame.allocas.iter().for_each(|a| self.memory.end_local(*a));
        self.stack.registers.truncate(frame.base);
    }

    /// Copies the entry function's aggregate result to where it outlives the frame.
    fn keep_result(&mut self, from: u64, size: u64) -> Run<Const> {
        let made = self.memory.add_zeroes(size);
        let addr = made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
        self.memory.copy(addr, from, size)?;
        self.handed.aggregate = Some(addr);
        Ok(Const::bv(self.program.pointer_bits(), addr as i128))
    }

    /// Calls back into the program from a library model.
    ///
    /// Errors: whatever stops the callee; `Unsupported` when callbacks nest too deep.
    pub fn callback(&mut self, function: u64, args: &[Const]) -> Run<Option<Const>> {
        if self.stack.callbacks >= MAX_CALLBACKS {
            return Err(Stop::Unsupported("callbacks nested too deep".into()));
        }
        let definition = self.code_symbol(function)?.definition;
        let Some((definition, code)) = definition.and_then(|d| Some((d, code_of(self.program, d)?))) else {
            return Err(Stop::Unsupported("callback to a library function".into()));
        };
        self.stack.callbacks += 1;
        let floor = self.stack.frames.len();
        self.push_frame(definition, code, args, &[], None, None)?;
        self.execute(floor, None)?;
        self.stack.callbacks -= 1;
        Ok(self.handed.result.take())
    }
}
