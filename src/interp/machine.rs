//! The machine: explicit frames, one loop, one step a node.

use super::code::{Call, Code, NO_NODE, Param, Step, Target};
use super::eval::{Events, Register, eval};
use super::input::{Input, Limits, ObjectId, Storage, Value};
use super::library::{self, Model, Random};
use super::memory::Memory;
use super::outcome::{AssumedCall, End, Outcome, Place};
use super::program::Program;
use super::streams::Streams;
use crate::ir::{CType, Const, Function, NodeId, Sort, UndefinedKind, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Callbacks from library models that may be active at once; each is one native recursion.
const MAX_CALLBACKS: usize = 16;

/// Why a run stops before its entry function returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    Undefined(UndefinedKind),
    Exit { status: i32, flush: bool },
    Abort,
    AssertFailed(String),
    NoReturn(Arc<str>),
    Fuel,
    Unsupported(String),
}

impl From<UndefinedKind> for Stop {
    fn from(kind: UndefinedKind) -> Stop {
        Stop::Undefined(kind)
    }
}

pub(crate) type Run<T> = Result<T, Stop>;

/// An active call.
pub(crate) struct Frame<'p> {
    pub definition: usize,
    pub code: &'p Code,
    /// First register in [`Machine::registers`].
    pub base: usize,
    pub node: u32,
    /// Register (relative to the caller's base) that takes the result.
    dst: Option<u32>,
    /// Address that takes an aggregate result.
    result_to: Option<u64>,
    /// Registers that hold the result of a call that returned no value.
    missing: Vec<u32>,
    /// Objects that `alloca` made.
    pub allocas: Vec<u64>,
    /// The call in progress must not return.
    noreturn: bool,
    /// Arguments beyond the named parameters, for `va_arg`.
    pub extra: Vec<(Const, CType)>,
}

/// One run in progress.
pub(crate) struct Machine<'p> {
    pub program: &'p Program,
    pub input: &'p Input,
    pub limits: &'p Limits,
    pub memory: Memory<'p>,
    pub streams: Streams<'p>,
    registers: Vec<Register>,
    pub frames: Vec<Frame<'p>>,
    fuel: u64,
    pub events: Events,
    overflow: Option<(usize, u32)>,
    /// Result of the last call that returned into the outside (entry or callback).
    result: Option<Const>,
    callbacks: usize,
    pub object_addresses: BTreeMap<ObjectId, u64>,
    pub assumed_calls: Vec<AssumedCall>,
    call_counts: BTreeMap<Arc<str>, u32>,
    pub inputs: Vec<Option<Const>>,
    pub platform_dependent: bool,
    pub random: Random,
    /// Where `strtok` goes on.
    pub strtok_rest: u64,
    /// Functions that `atexit` registered.
    pub at_exit: Vec<u64>,
    /// What each started `va_list` goes through.
    pub argument_lists: Vec<Vec<(Const, CType)>>,
    entry_locals: Vec<Option<Const>>,
    /// Where the entry function's aggregate result is kept.
    aggregate_result: Option<u64>,
}

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

    /// Returns the values converted from standard input so far.
    pub fn inputs(&self) -> &[Option<Const>] {
        &self.machine.inputs
    }
}

/// Called before each watched node of the entry function's outermost call.
type Observer<'o> = &'o mut dyn FnMut(NodeId, &mut Observation);

/// Runs a function (or a whole program, when it is `main`) on an input.
///
/// Cost: for a scalar function microseconds; bounded by `limits` always.
pub fn run(program: &Program, entry: &str, input: &Input, limits: &Limits) -> Outcome {
    Machine::new(program, input, limits).run(entry, None)
}

/// Runs as [`run`] does and calls `observe` before each execution of a node of `watch` in the
/// entry frame (not in recursive calls of the same function).
pub fn run_traced(
    program: &Program,
    entry: &str,
    input: &Input,
    limits: &Limits,
    watch: &[NodeId],
    observe: &mut dyn FnMut(NodeId, &mut Observation),
) -> Outcome {
    let nodes = watch.iter().map(|n| n.0 as usize + 1).max().unwrap_or(0);
    let mut watched = vec![false; nodes];
    for n in watch {
        watched[n.0 as usize] = true;
    }
    Machine::new(program, input, limits).run(entry, Some((&watched, observe)))
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, input: &'p Input, limits: &'p Limits) -> Machine<'p> {
        Machine {
            program,
            input,
            limits,
            memory: Memory::new(program, limits.memory),
            streams: Streams::new(&input.stdin, input.stdin_plan.as_ref()),
            registers: Vec::with_capacity(64),
            frames: Vec::with_capacity(4),
            fuel: limits.fuel,
            events: Events::default(),
            overflow: None,
            result: None,
            callbacks: 0,
            object_addresses: BTreeMap::new(),
            assumed_calls: Vec::new(),
            call_counts: BTreeMap::new(),
            inputs: Vec::new(),
            platform_dependent: false,
            random: Random::default(),
            strtok_rest: 0,
            at_exit: Vec::new(),
            argument_lists: Vec::new(),
            entry_locals: Vec::new(),
            aggregate_result: None,
        }
    }

    fn run(mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> Outcome {
        let end = match self.start(entry, observer) {
            Ok(()) => match self.finish_normally(entry) {
                Ok(()) => End::Return,
                Err(stop) => self.end(stop),
            },
            Err(Stop::Exit { status, flush: true }) => match self.finish_normally("") {
                Ok(()) => End::Exit(status),
                Err(stop) => self.end(stop),
            },
            Err(stop) => self.end(stop),
        };
        self.outcome(entry, end)
    }

    /// Runs `atexit` functions and flushes, when a program ends as it should.
    fn finish_normally(&mut self, entry: &str) -> Run<()> {
        let result = self.result;
        while let Some(f) = self.at_exit.pop().filter(|_| entry.is_empty() || entry == "main") {
            self.callback(f, &[])?;
        }
        self.result = result;
        self.streams.flush();
        Ok(())
    }

    fn end(&mut self, stop: Stop) -> End {
        match stop {
            Stop::Undefined(kind) => End::Undefined { kind, place: self.place() },
            Stop::Exit { status, .. } => End::Exit(status),
            Stop::Abort => End::Abort,
            Stop::AssertFailed(text) => End::AssertFailed { text, place: self.place() },
            Stop::NoReturn(callee) => {
                self.streams.flush();
                End::NoReturn { callee, place: self.place() }
            }
            Stop::Fuel => End::Fuel,
            Stop::Unsupported(reason) => End::Unsupported { reason, place: self.place() },
        }
    }

    fn outcome(mut self, entry: &str, end: End) -> Outcome {
        let returned = if end == End::Return { self.result } else { None };
        let is_main = entry == "main";
        let exit_code = match &end {
            End::Return if is_main => Some(returned.and_then(Const::signed).map_or(0, |v| (v & 0xff) as i32)),
            End::Exit(status) => Some(*status),
            End::Abort | End::AssertFailed { .. } => Some(134),
            _ => None,
        };
        let returns_pointer = self.program.function(entry).is_some_and(|f| f.ret.is_pointer());
        let pointer = returned.filter(|_| returns_pointer).map(|c| c.to_bits() as u64);
        let (memory, returned_target) = super::summary::summarise(
            &mut self.memory,
            self.program,
            &self.object_addresses,
            pointer,
            self.aggregate_result,
        );
        let returned = returned.filter(|_| self.aggregate_result.is_none());
        let given: Vec<u64> = self.object_addresses.values().copied().collect();
        let imported = self.memory.touched_globals().filter(|(_, o)| !given.contains(&o.base));
        let imported = imported.filter_map(|(i, _)| self.program.slots().get(i)).filter(|s| s.imported);
        let assumed_globals = imported.map(|s| s.symbol.clone()).collect();
        let files = std::mem::take(&mut self.streams.files);
        let files = files.into_iter().map(|(addr, bytes)| {
            let pointer = Const::bv(self.program.pointer_bits(), addr as i128);
            (self.printable(pointer, &CType::Pointer(Arc::new(CType::Void))), bytes)
        });
        let files = files.collect();
        let overflow = self.overflow.and_then(|(d, n)| place_of(self.program, d, n));
        let stdout_lost = self.streams.take_pending();
        Outcome {
            end,
            returned,
            returned_target,
            stdout: std::mem::take(&mut self.streams.stdout),
            stdout_lost,
            stderr: std::mem::take(&mut self.streams.stderr),
            exit_code,
            locals: self.entry_locals,
            memory,
            overflow,
            stdin_closed: self.streams.closed,
            stdin: self.streams.into_stdin(),
            inputs: self.inputs,
            assumed_calls: self.assumed_calls,
            assumed_globals,
            files,
            nan_sign: self.events.nan_sign,
            platform_dependent: self.platform_dependent,
            steps: self.limits.fuel - self.fuel,
        }
    }

    /// Returns where the run is.
    pub fn place(&self) -> Place {
        let here = self.frames.last().and_then(|f| place_of(self.program, f.definition, f.node));
        here.unwrap_or_else(|| Place { file: Default::default(), line: 0, function: Arc::from("") })
    }

    /// Builds memory and calls the entry function.
    fn start(&mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> Run<()> {
        let missing = || Stop::Unsupported(format!("no function {entry}"));
        let definition = self.program.definition_by_name(entry).ok_or_else(missing)?;
        let code = self.program.code(definition).ok_or_else(missing)?;
        self.build_objects(definition)?;
        let args = if entry == "main" { self.main_arguments(code)? } else { self.entry_arguments(code)? };
        self.push_frame(definition, code, &args, &[], None, None)?;
        self.execute(0, observer)
    }

    /// Gives every object of the input an address, then fills them: they may point to each other.
    fn build_objects(&mut self, definition: usize) -> Run<()> {
        let input = self.input;
        if input.objects.is_empty() {
            return Ok(());
        }
        let unit = self.program.definition(definition).map_or(0, |d| d.unit);
        for object in &input.objects {
            let addr = match &object.storage {
                Storage::Global(symbol) => {
                    let slot =
                        self.program.slot_from(unit, symbol).or_else(|| self.program.slot_by_name(symbol));
                    let fits = slot
                        .filter(|&s| self.memory.override_global(s, object.bytes.clone(), &object.undefined));
                    // A version that lacks the global, or has another layout, keeps its own.
                    let Some(slot) = fits.and_then(|s| self.program.slots().get(s)) else { continue };
                    slot.base
                }
                storage => {
                    let heap = *storage == Storage::Heap;
                    let made = self.memory.add_input(object.bytes.clone(), &object.undefined, heap);
                    made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?
                }
            };
            self.object_addresses.insert(object.id, addr);
        }
        let width = self.program.pointer_bits() as u64 / 8;
        for object in &input.objects {
            let Some(&base) = self.object_addresses.get(&object.id) else { continue };
            for (offset, value) in &object.pointers {
                let bits = self.value_of(value, unit).map_or(0, Const::to_bits);
                self.memory.store(base + offset, width, bits)?;
            }
        }
        Ok(())
    }

    /// Returns the machine value of an input value; `None` when nothing is there to point to.
    pub fn value_of(&self, value: &Value, unit: usize) -> Option<Const> {
        let bits = self.program.pointer_bits();
        let address = match value {
            Value::Const(c) => return Some(*c),
            Value::Pointer { object, offset } => {
                self.object_addresses.get(object)?.wrapping_add_signed(*offset)
            }
            Value::Function(symbol) => self.program.code_address(unit, symbol)?,
            Value::Global { symbol, offset } => {
                let slot =
                    self.program.slot_from(unit, symbol).or_else(|| self.program.slot_by_name(symbol))?;
                self.program.slots().get(slot)?.base.wrapping_add_signed(*offset)
            }
        };
        Some(Const::bv(bits, address as i128))
    }

    fn entry_arguments(&mut self, code: &Code) -> Run<Vec<Const>> {
        let unit = 0;
        let pointer = Sort::Bv(self.program.pointer_bits());
        let zero = |p: &Param| Const::zero(p.sort.unwrap_or(pointer)).unwrap_or(Const::FALSE);
        let mut args = Vec::with_capacity(code.params.len());
        for (i, p) in code.params.iter().enumerate() {
            let given = self.input.arguments.get(i).and_then(|v| self.value_of(v, unit));
            args.push(given.unwrap_or_else(|| zero(p)));
        }
        for (p, a) in code.params.iter().zip(&mut args) {
            // An aggregate that the input does not give is all zero.
            if p.sort.is_none() && a.to_bits() == 0 {
                let made = self.memory.add_input(vec![0; p.size as usize], &[], false);
                let addr = made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
                *a = Const::bv(self.program.pointer_bits(), addr as i128);
            }
        }
        Ok(args)
    }

    /// Makes `argc` and `argv`.
    fn main_arguments(&mut self, code: &Code) -> Run<Vec<Const>> {
        if code.params.is_empty() {
            return Ok(Vec::new());
        }
        let bits = self.program.pointer_bits();
        let name = [b"program".to_vec()];
        let argv = if self.input.argv.is_empty() { &name[..] } else { &self.input.argv };
        let limit = || Stop::Unsupported("memory limit".into());
        let mut table = Vec::new();
        for arg in argv {
            let mut bytes = arg.clone();
            bytes.push(0);
            let addr = self.memory.add_input(bytes, &[], false).ok_or_else(limit)?;
            table.extend_from_slice(&addr.to_le_bytes()[..bits as usize / 8]);
        }
        table.extend(std::iter::repeat_n(0, bits as usize / 8));
        let table = self.memory.add_input(table, &[], false).ok_or_else(limit)?;
        let mut args = vec![Const::bv(32, argv.len() as i128), Const::bv(bits, table as i128)];
        // An environment that is empty.
        if code.params.len() > 2 {
            let env = self.memory.add_input(vec![0; bits as usize / 8], &[], false);
            args.push(Const::bv(bits, env.ok_or_else(limit)? as i128));
        }
        args.truncate(code.params.len());
        Ok(args)
    }

    /// Enters a function.
    ///
    /// Errors: `BadCall` when the arguments do not fit the parameters.
    fn push_frame(
        &mut self,
        definition: usize,
        code: &'p Code,
        args: &[Const],
        types: &[CType],
        dst: Option<u32>,
        result_to: Option<u64>,
    ) -> Run<()> {
        if self.frames.len() >= self.limits.depth {
            return Err(Stop::Fuel);
        }
        let base = self.registers.len();
        self.registers.resize(base + code.vars, None);
        let bits = self.program.pointer_bits();
        for &(var, size) in &code.memory_vars {
            let addr = self.memory.push_stack(size);
            let addr = addr.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
            self.registers[base + var as usize] = Some(Const::bv(bits, addr as i128));
        }
        for (p, &arg) in code.params.iter().zip(args) {
            self.pass(base, p, arg)?;
        }
        let mut extra = Vec::new();
        if code.variadic {
            let rest = args.iter().copied().zip(types.iter().cloned());
            extra = rest.skip(code.params.len()).collect();
        }
        let missing = Vec::new();
        self.frames.push(Frame {
            definition,
            code,
            base,
            node: 0,
            dst,
            result_to,
            missing,
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
                let home = self.registers[place].map_or(0, Const::to_bits) as u64;
                self.memory.copy(home, arg.to_bits() as u64, p.size)?;
            }
            Some(sort) if arg.sort() != sort => return Err(UndefinedKind::BadCall.into()),
            Some(_) if p.in_memory => {
                let home = self.registers[place].map_or(0, Const::to_bits) as u64;
                self.memory.store(home, p.size, arg.to_bits())?;
            }
            Some(_) => self.registers[place] = Some(arg),
        }
        Ok(())
    }

    /// Executes until only `floor` frames are left.
    fn execute(&mut self, floor: usize, mut observer: Option<(&[bool], Observer)>) -> Run<()> {
        while self.frames.len() > floor {
            let Some(frame) = self.frames.last() else { return Ok(()) };
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
                    && self.frames.len() == 1
                    && watched.get(node as usize) == Some(&true)
                {
                    observe(NodeId(node), &mut Observation { machine: self, base, code });
                }
                let next = match &n.step {
                    Step::Nop => n.succs[0],
                    Step::Branch { cond } => {
                        let taken = self.eval_at(cond, base, node)?;
                        if taken == Const::TRUE { n.succs[0] } else { n.succs[1] }
                    }
                    Step::Assign { dst, value } => {
                        let v = self.eval_at(value, base, node)?;
                        self.registers[base + *dst as usize] = Some(v);
                        n.succs[0]
                    }
                    Step::Call(call) => {
                        self.set_node(node);
                        let pushed = self.call(call, base, n.succs[0])?;
                        if pushed {
                            break;
                        }
                        n.succs[0]
                    }
                    Step::Return { value } => {
                        self.set_node(node);
                        let value = match value {
                            Some(v) => Some(self.eval_at(v, base, node)?),
                            None => None,
                        };
                        if let Some((watched, observe)) = &mut observer
                            && self.frames.len() == 1
                            && watched.get(Function::EXIT.0 as usize) == Some(&true)
                        {
                            observe(Function::EXIT, &mut Observation { machine: self, base, code });
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
        if let Some(f) = self.frames.last_mut() {
            f.node = node;
        }
    }

    /// Evaluates an expression of a node; an event leaves the frame at that node.
    #[inline]
    fn eval_at(&mut self, e: &super::code::Value, base: usize, node: u32) -> Run<Const> {
        let registers = self.registers.get(base..).unwrap_or(&[]);
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

    #[cold]
    fn note_overflow(&mut self, node: u32) {
        self.events.overflow = false;
        if self.overflow.is_none() {
            self.overflow = self.frames.last().map(|f| (f.definition, node));
        }
    }

    /// Returns whether an indeterminate variable of the expression is a result that was not
    /// returned.
    fn reads_missing(&self, e: &super::code::Value) -> bool {
        let Some(f) = self.frames.last() else { return false };
        let is_missing = |v: u32| {
            f.missing.contains(&v) && self.registers.get(f.base + v as usize).is_some_and(|r| r.is_none())
        };
        e.any_var(&is_missing)
    }

    /// Steps that touch memory or nothing.
    fn effect(&mut self, step: &Step, base: usize, node: u32) -> Run<()> {
        let address = |c: Const| c.to_bits() as u64;
        match step {
            Step::Forget(var) => self.registers[base + *var as usize] = None,
            Step::ForgetMemory { var, size } => {
                let home = self.registers[base + *var as usize].map_or(0, address);
                self.memory.undefine(home, *size)?;
            }
            Step::Load { dst, addr, bytes, sort, relevant } => {
                let addr = address(self.eval_at(addr, base, node)?);
                let bits = self.memory.load_bits(addr, *bytes, *relevant)?;
                self.registers[base + *dst as usize] = Const::from_bits(*sort, bits);
            }
            Step::Store { addr, value, bytes } => {
                let addr = address(self.eval_at(addr, base, node)?);
                let value = self.eval_at(value, base, node)?;
                self.memory.store(addr, *bytes, value.to_bits())?;
            }
            Step::StoreBits { addr, value, bytes, written } => {
                let addr = address(self.eval_at(addr, base, node)?);
                let value = self.eval_at(value, base, node)?;
                self.memory.store_bits(addr, *bytes, value.to_bits(), *written)?;
            }
            Step::Copy { dst, src, bytes } => {
                let dst = address(self.eval_at(dst, base, node)?);
                let src = address(self.eval_at(src, base, node)?);
                self.memory.copy(dst, src, *bytes)?;
            }
            Step::Zero { dst, bytes } => {
                let dst = address(self.eval_at(dst, base, node)?);
                self.memory.fill(dst, *bytes, 0)?;
            }
            Step::Unknown(reason) => return Err(Stop::Unsupported(reason.to_string())),
            Step::Unreachable => return Err(UndefinedKind::Unreachable.into()),
            Step::Nop | Step::Assign { .. } | Step::Call(_) | Step::Branch { .. } | Step::Return { .. } => {}
        }
        Ok(())
    }

    /// Performs a call; returns whether a frame was pushed. `next` is where the caller goes on.
    fn call(&mut self, call: &'p Call, base: usize, next: u32) -> Run<bool> {
        let node = self.frames.last().map_or(0, |f| f.node);
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
            Target::Model(model) => return self.call_model(call, model, &args, base).map(|()| false),
            Target::Unknown(name) => {
                return self.call_unknown(call, name, &args, base, result_to).map(|()| false);
            }
            Target::Indirect(e) => {
                let addr = self.eval_at(e, base, node)?.to_bits() as u64;
                let symbol = self.code_symbol(addr)?;
                match symbol.definition {
                    Some(id) => id,
                    None => {
                        match library::model(&symbol.name) {
                            Some(m) => self.call_model(call, m, &args, base)?,
                            None => self.call_unknown(call, &symbol.name, &args, base, result_to)?,
                        }
                        return Ok(false);
                    }
                }
            }
        };
        let Some(code) = self.program.code(definition) else {
            return Err(Stop::Unsupported("function without code".into()));
        };
        self.push_frame(definition, code, &args, &call.arg_types, call.dst, result_to)?;
        if let Some(caller) = self.frames.len().checked_sub(2).and_then(|i| self.frames.get_mut(i)) {
            caller.noreturn = next == NO_NODE;
            if next != NO_NODE {
                caller.node = next;
            }
        }
        Ok(true)
    }

    fn code_symbol(&self, addr: u64) -> Run<&'p super::program::CodeSymbol> {
        if addr == 0 {
            return Err(UndefinedKind::NullDereference.into());
        }
        Ok(self.program.code_at(addr).ok_or(UndefinedKind::BadPointer)?)
    }

    fn call_model(&mut self, call: &'p Call, model: &'static Model, args: &[Const], base: usize) -> Run<()> {
        let request = library::Arguments {
            name: model.name,
            values: args,
            types: &call.arg_types,
            ret: &call.ret,
            pointer_bits: self.program.pointer_bits(),
        };
        let result = (model.run)(self, &request)?;
        if self.streams.output_len() > self.limits.output {
            return Err(Stop::Fuel);
        }
        self.set_result(call, result, base)
    }

    /// Stores a call's result in its register.
    fn set_result(&mut self, call: &Call, result: Option<Const>, base: usize) -> Run<()> {
        let Some(dst) = call.dst else { return Ok(()) };
        let expected = call.ret.sort(self.program.pointer_bits());
        if let (Some(r), Some(s)) = (result, expected)
            && r.sort() != s
        {
            return Err(Stop::Unsupported("library function with an unusual declaration".into()));
        }
        self.registers[base + dst as usize] = result;
        Ok(())
    }

    /// A function that nobody defines: takes its result from the input, or assumes zero.
    fn call_unknown(
        &mut self,
        call: &'p Call,
        name: &Arc<str>,
        args: &[Const],
        base: usize,
        result_to: Option<u64>,
    ) -> Run<()> {
        let nth = self.call_counts.entry(name.clone()).or_insert(0);
        *nth += 1;
        let nth = *nth;
        let input = self.input;
        let given = input.calls.iter().find(|c| c.callee == *name && c.nth == nth);
        let arguments = args.iter().zip(&call.arg_types).map(|(c, t)| self.printable(*c, t)).collect();
        let line = self.place().line;
        let callee = name.clone();
        self.assumed_calls.push(AssumedCall { callee, nth, arguments, line, given: given.is_some() });
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
        self.set_result(call, result, base)
    }

    fn printable(&mut self, c: Const, ty: &CType) -> Value {
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
        let line = self.place().line;
        self.assumed_calls.push(AssumedCall { callee, nth, arguments, line, given: result.is_some() });
        result.unwrap_or(0)
    }

    /// Sets `errno`.
    pub fn set_errno(&mut self, value: i32) -> Run<()> {
        if let Some(slot) = self.program.library_slot(super::program::ERRNO) {
            self.memory.store(slot.base, 4, value as u32 as u128)?;
        }
        Ok(())
    }

    /// Leaves the innermost function.
    fn leave(&mut self, value: Option<Const>) -> Run<()> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (code, base, dst) = (frame.code, frame.base, frame.dst);
        if let (Some(to), Some(from), Some(size)) = (frame.result_to, value, code.aggregate_result) {
            self.memory.copy(to, from.to_bits() as u64, size)?;
        }
        let mut value = value;
        if self.frames.len() == 1 && self.callbacks == 0 {
            if let (Some(from), Some(size)) = (value, code.aggregate_result) {
                value = Some(self.keep_result(from.to_bits() as u64, size)?);
            }
            let vars = (0..code.vars as u32).map(VarId);
            self.entry_locals = vars.map(|v| self.scalar(base, code, v)).collect();
        }
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        for (var, _) in &code.memory_vars {
            if let Some(home) = self.registers.get(base + *var as usize).copied().flatten() {
                self.memory.end_local(home.to_bits() as u64);
            }
        }
        frame.allocas.iter().for_each(|a| self.memory.end_local(*a));
        self.registers.truncate(base);
        self.result = value;
        if let (Some(dst), Some(caller)) = (dst, self.frames.last_mut()) {
            if value.is_none() {
                caller.missing.push(dst);
            }
            let place = caller.base + dst as usize;
            self.registers[place] = value;
        }
        if self.frames.last().is_some_and(|caller| caller.noreturn) {
            return Err(UndefinedKind::Unreachable.into());
        }
        Ok(())
    }

    /// Copies the entry function's aggregate result to where it outlives the frame.
    fn keep_result(&mut self, from: u64, size: u64) -> Run<Const> {
        let made = self.memory.add_input(vec![0; size as usize], &[], false);
        let addr = made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
        self.memory.copy(addr, from, size)?;
        self.aggregate_result = Some(addr);
        Ok(Const::bv(self.program.pointer_bits(), addr as i128))
    }

    /// Calls back into the program from a library model.
    ///
    /// Errors: whatever stops the callee; `Unsupported` when callbacks nest too deep.
    pub fn callback(&mut self, function: u64, args: &[Const]) -> Run<Option<Const>> {
        if self.callbacks >= MAX_CALLBACKS {
            return Err(Stop::Unsupported("callbacks nested too deep".into()));
        }
        let definition = self.code_symbol(function)?.definition;
        let Some((definition, code)) = definition.and_then(|d| Some((d, self.program.code(d)?))) else {
            return Err(Stop::Unsupported("callback to a library function".into()));
        };
        self.callbacks += 1;
        let floor = self.frames.len();
        self.push_frame(definition, code, args, &[], None, None)?;
        self.execute(floor, None)?;
        self.callbacks -= 1;
        Ok(self.result.take())
    }

    /// Returns the value of a scalar variable of a frame, wherever it lives.
    fn scalar(&mut self, base: usize, code: &Code, var: VarId) -> Option<Const> {
        let register = self.registers.get(base + var.0 as usize).copied().flatten()?;
        let Some(&(_, size)) = code.memory_vars.iter().find(|(v, _)| *v == var.0) else {
            return Some(register);
        };
        let sort = *code.sorts.get(var.0 as usize)?;
        let bits = self.memory.load(register.to_bits() as u64, size).ok()?;
        Const::from_bits(sort?, bits)
    }
}

fn place_of(program: &Program, definition: usize, node: u32) -> Option<Place> {
    let f = program.function_of(definition)?;
    let d = program.definition(definition)?;
    let unit = program.unit(d.unit)?;
    let n = f.nodes.get(node as usize)?;
    // Instructions without a place of their own take their statement's.
    let statement = f.stmts.get(n.stmt.0 as usize).map(|s| &s.span).filter(|s| s.line != 0);
    let span = if n.span.line != 0 { &n.span } else { statement.unwrap_or(&f.span) };
    let file = unit.files.get(span.file.0 as usize).unwrap_or(&unit.path).clone();
    Some(Place { file, line: span.line, function: f.name.clone() })
}
