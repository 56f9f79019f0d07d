//! The machine: explicit frames, one loop, one step a node.

use super::code::{Code, NO_NODE, Param, Step};
use super::coverage::CoverageMap;
use super::eval::{Events, Register, eval};
use super::hooks::{Handler, Leaving};
use super::input::{Input, LONG_FUEL, Limits, ObjectId, Storage, Value};
use super::jump::Landing;
use super::library::{Left, Random};
use super::magnitude::{self, Magnitude};
use super::memory::Memory;
use super::outcome::{AssumedCall, End, Outcome, Place};
use super::program::Program;
use super::streams::Streams;
use super::word::{Word, word};
use crate::ir::{CType, Const, Extended, Function, NodeId, Sort, UndefinedKind, VarId, VarKind};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Why a run stops before its entry function returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    Undefined(UndefinedKind),
    Exit {
        status: i32,
        leaving: Leaving,
    },
    Abort,
    AssertFailed(String),
    NoReturn(Arc<str>),
    Fuel,
    Unsupported(String),
    /// On the way to the frame that a `longjmp` goes to; ends no run.
    Jump {
        buffer: u64,
        value: i32,
    },
}

impl From<UndefinedKind> for Stop {
    fn from(kind: UndefinedKind) -> Stop {
        Stop::Undefined(kind)
    }
}

pub(crate) type Run<T> = Result<T, Stop>;

/// An active call.
pub(crate) struct Frame<'p> {
    /// Which of all calls of the run it is: another may come to stand at its index.
    pub serial: u64,
    pub definition: usize,
    pub code: &'p Code,
    /// First register in [`Machine::registers`].
    pub base: usize,
    pub node: u32,
    /// Register (relative to the caller's base) that takes the result.
    pub(super) dst: Option<u32>,
    /// Address that takes an aggregate result.
    pub(super) result_to: Option<u64>,
    /// Registers that hold the result of a call that returned no value.
    pub(super) missing: Vec<u32>,
    /// Registers that were loaded from memory that was never written.
    pub(super) indeterminate: Vec<u32>,
    /// Objects that `alloca` and declarations of arrays of variable length made, in order.
    pub allocas: Vec<u64>,
    /// The call in progress must not return.
    pub(super) noreturn: bool,
    /// Arguments beyond the named parameters, for `va_arg`.
    pub extra: ArgumentList,
}

/// Arguments beyond the named parameters of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentList {
    pub values: Vec<(Const, CType)>,
    /// More may follow that the run does not know: those of the call that it begins with.
    pub is_open: bool,
}

/// One run in progress.
pub(crate) struct Machine<'p> {
    pub program: &'p Program,
    pub input: &'p Input,
    pub limits: &'p Limits,
    pub memory: Memory<'p>,
    pub streams: Streams<'p>,
    pub(super) registers: Vec<Register>,
    pub frames: Vec<Frame<'p>>,
    /// Calls that were entered so far.
    pub(super) entered: u64,
    /// By unit: a function of it was entered.
    pub(super) entered_units: Vec<bool>,
    /// Where `longjmp` goes, by the buffer's address.
    pub(super) landings: BTreeMap<u64, Landing>,
    fuel: u64,
    pub events: Events,
    overflow: Option<(usize, u32)>,
    /// Result of the last call that returned into the outside (entry or callback).
    pub(super) result: Option<Const>,
    pub(super) callbacks: usize,
    pub object_addresses: BTreeMap<ObjectId, u64>,
    pub assumed_calls: Vec<AssumedCall>,
    pub allocations: BTreeMap<&'static str, u32>,
    pub requests: Vec<(&'static str, Vec<u128>)>,
    pub call_counts: BTreeMap<Arc<str>, u32>,
    pub inputs: Vec<Option<Const>>,
    pub platform_dependent: bool,
    /// What comparisons of bytes give, and whether a run looked at more of it than the sign.
    magnitude: Magnitude,
    looked_at_magnitude: bool,
    pub random: Random,
    /// Where `strtok` goes on.
    pub strtok_rest: u64,
    /// What earlier calls decide of later ones.
    pub left: Left,
    /// What runs at the end, in the order of registration.
    pub at_exit: Vec<Handler>,
    pub at_quick_exit: Vec<Handler>,
    /// Constructors run.
    pub(super) before_main: bool,
    /// What each started `va_list` goes through.
    pub argument_lists: Vec<ArgumentList>,
    /// Addresses of what was allocated, each with the function and the node that asked for it.
    allocated: Vec<(u64, usize, u32)>,
    pub(super) entry_locals: Vec<Option<Const>>,
    /// Where the entry function's aggregate result is kept.
    pub(super) aggregate_result: Option<u64>,
    /// Takes down how the run goes.
    pub(super) coverage: Option<&'p mut CoverageMap>,
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

    /// Returns the machine value of an input value.
    pub fn value_of(&self, value: &Value) -> Option<Const> {
        self.machine.value_of(value, 0)
    }

    /// Returns what the bytes at a place hold; `None` while they are indeterminate, and where nothing
    /// is.
    pub fn load(&mut self, place: &Value, sort: Sort, bytes: u64) -> Option<Const> {
        let address = self.machine.value_of(place, 0)?;
        let bits = self.machine.memory.load(address.to_bits() as u64, bytes).ok()?;
        Const::from_bits(sort, bits)
    }

    /// Returns the values converted from standard input so far.
    pub fn inputs(&self) -> &[Option<Const>] {
        &self.machine.inputs
    }
}

/// Called before each watched node of the entry function's outermost call.
type Observer<'o> = &'o mut dyn FnMut(NodeId, &mut Observation) -> ControlFlow<()>;

/// Runs a function (or a whole program, when it is `main`) on an input.
///
/// Cost: for a scalar function microseconds; bounded by `limits` always.
pub fn run(program: &Program, entry: &str, input: &Input, limits: &Limits) -> Outcome {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Interp);
    let (outcome, looked) = Machine::new(program, input, limits).run(entry, None);
    weighed((program, entry), input, limits, outcome, looked)
}

/// An outcome, marked where other machines have another one. Cost: where that is to be asked, as many runs as there are others.
fn weighed(
    (program, entry): (&Program, &str),
    input: &Input,
    limits: &Limits,
    mut outcome: Outcome,
    looked_at_magnitude: bool,
) -> Outcome {
    let is_asked = looked_at_magnitude && outcome.end.is_definite();
    for other in Magnitude::OTHERS.into_iter().filter(|_| is_asked) {
        let mut machine = Machine::new(program, input, limits);
        machine.magnitude = other;
        magnitude::weigh(program, &mut outcome, machine.run(entry, None).0);
    }
    outcome
}

/// Runs as [`run`] does and takes down how the run goes.
pub fn run_with_coverage(
    program: &Program,
    entry: &str,
    input: &Input,
    limits: &Limits,
    coverage: &mut CoverageMap,
) -> Outcome {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Interp);
    let mut machine = Machine::new(program, input, limits);
    machine.coverage = Some(coverage);
    let (outcome, looked) = machine.run(entry, None);
    weighed((program, entry), input, limits, outcome, looked)
}

/// Runs as [`run`] does and calls `observe` before each execution of a node of `watch` in the
/// entry frame (not in recursive calls of the same function). An observer that has seen enough breaks
/// off the run, which then ends as one that ran out of fuel.
pub fn run_traced(
    program: &Program,
    entry: &str,
    input: &Input,
    limits: &Limits,
    watch: &[NodeId],
    observe: &mut dyn FnMut(NodeId, &mut Observation) -> ControlFlow<()>,
) -> Outcome {
    let _room = invdiff_cost::enter(invdiff_cost::Room::Interp);
    let nodes = watch.iter().map(|n| n.0 as usize + 1).max().unwrap_or(0);
    let mut watched = vec![false; nodes];
    for n in watch {
        watched[n.0 as usize] = true;
    }
    Machine::new(program, input, limits).run(entry, Some((&watched, observe))).0
}

/// Instructions that a run may take.
fn fuel_of(input: &Input, limits: &Limits) -> u64 {
    if input.is_long { limits.fuel.max(LONG_FUEL) } else { limits.fuel }
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
            entered: 0,
            entered_units: vec![false; program.units().len()],
            landings: BTreeMap::new(),
            fuel: fuel_of(input, limits),
            events: Events::default(),
            overflow: None,
            result: None,
            callbacks: 0,
            object_addresses: BTreeMap::new(),
            assumed_calls: Vec::new(),
            allocations: BTreeMap::new(),
            requests: Vec::new(),
            allocated: Vec::new(),
            call_counts: BTreeMap::new(),
            inputs: Vec::new(),
            platform_dependent: false,
            magnitude: Magnitude::default(),
            looked_at_magnitude: false,
            random: Random::default(),
            strtok_rest: 0,
            left: Left::default(),
            at_exit: Vec::new(),
            at_quick_exit: Vec::new(),
            before_main: false,
            argument_lists: Vec::new(),
            entry_locals: Vec::new(),
            aggregate_result: None,
            coverage: None,
        }
    }

    /// Also tells whether the size of a comparison's result was looked at.
    fn run(mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> (Outcome, bool) {
        let end = match self.start(entry, observer) {
            Ok(()) if entry == "main" => {
                let status = self.result.and_then(Const::signed).unwrap_or(0) as i32;
                match self.finish(status, Leaving::Exit) {
                    Ok(()) => End::Return,
                    Err(stop) => self.end(stop),
                }
            }
            Ok(()) => {
                self.streams.flush();
                End::Return
            }
            Err(Stop::Exit { status, leaving }) => match self.finish(status, leaving) {
                Ok(()) => End::Exit(status & 0xff),
                Err(stop) => self.end(stop),
            },
            Err(stop) => self.end(stop),
        };
        let looked = self.looked_at_magnitude;
        (self.outcome(entry, end), looked)
    }

    /// What a comparison of bytes gives whose first difference is this one; `sized`: more than its sign may be
    /// looked at.
    pub fn compared(&mut self, difference: i128, sized: bool) -> i128 {
        self.looked_at_magnitude |= sized && difference != 0;
        self.magnitude.of(difference)
    }

    fn end(&mut self, stop: Stop) -> End {
        match stop {
            Stop::Undefined(_) if self.memory.is_exceeded() => {
                End::Unsupported { reason: "an object that is too large".into(), place: self.place() }
            }
            Stop::Undefined(UndefinedKind::Uninitialised) if self.left.buffers_lent => End::Unsupported {
                reason: "bytes that a stream may have written".into(),
                place: self.place(),
            },
            Stop::Undefined(UndefinedKind::OutOfBounds)
                if self.streams.own.contains_key(&self.memory.last_base()) =>
            {
                End::Unsupported { reason: "what is inside of a stream".into(), place: self.place() }
            }
            Stop::Undefined(kind) => End::Undefined { kind, place: self.place() },
            Stop::Exit { status, .. } => End::Exit(status & 0xff),
            Stop::Abort => End::Abort,
            Stop::AssertFailed(text) => End::AssertFailed { text, place: self.place() },
            Stop::NoReturn(callee) => {
                self.streams.flush();
                End::NoReturn { callee, place: self.place() }
            }
            Stop::Fuel => End::Fuel,
            Stop::Unsupported(reason) => End::Unsupported { reason, place: self.place() },
            // Out of a function that `atexit` registered, into what `exit` has left.
            Stop::Jump { .. } => End::Undefined { kind: UndefinedKind::DeadJump, place: self.place() },
        }
    }

    fn outcome(mut self, entry: &str, end: End) -> Outcome {
        let access = |k: &UndefinedKind| {
            matches!(k, UndefinedKind::OutOfBounds | UndefinedKind::UseAfterFree | UndefinedKind::ReadOnly)
        };
        let ended_on_input =
            matches!(&end, End::Undefined { kind, .. } if access(kind) && self.memory.was_on_input());
        let last = self.memory.last_base();
        let ended_on = self.object_addresses.iter().find(|(_, base)| ended_on_input && **base == last);
        let needed = self.memory.last_end();
        let ended_on = ended_on.map(|(id, _)| (*id, needed));
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
        let (allocated, kept) = self.given_away(entry, &end);
        let summary = super::final_state::summarise(
            &mut self.memory,
            self.program,
            &self.object_addresses,
            (pointer, self.aggregate_result),
            (&allocated, &kept),
        );
        let lost = summary.lost.and_then(|addr| self.allocated.iter().find(|(a, ..)| *a == addr));
        let lost = lost.and_then(|(_, definition, node)| place_of(self.program, *definition, *node));
        let aborted = (end == End::Abort).then(|| self.place());
        let returned = returned.filter(|_| self.aggregate_result.is_none());
        let given: Vec<u64> = self.object_addresses.values().copied().collect();
        let imported = self.memory.touched_globals().filter(|(_, o)| !given.contains(&o.base));
        let imported = imported.filter_map(|(i, _)| self.program.slots().get(i)).filter(|s| s.imported);
        let assumed_globals: Vec<Arc<str>> = imported.map(|s| s.symbol.clone()).collect();
        // A program begins with one value of what its other files define, and that is not known.
        let is_partial = is_main && !assumed_globals.is_empty();
        let elsewhere = self.elsewhere(entry);
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
            returned_target: summary.returned,
            stdout: std::mem::take(&mut self.streams.stdout),
            stdout_lost,
            stderr: std::mem::take(&mut self.streams.stderr),
            exit_code,
            locals: self.entry_locals,
            memory: summary.objects,
            lost,
            aborted,
            overflow,
            stdin_closed: self.streams.closed,
            stdin: self.streams.into_stdin(),
            inputs: self.inputs,
            assumed_calls: self.assumed_calls,
            allocations: self.allocations,
            assumed_globals,
            elsewhere,
            files,
            nan_sign: self.events.nan_sign,
            platform_dependent: self.platform_dependent || is_partial,
            is_sign_only: false,
            misaligned: self.memory.misaligned,
            ended_on_input,
            ended_on,
            requests: self.requests,
            steps: fuel_of(self.input, self.limits) - self.fuel,
        }
    }

    /// The files, but for the entry's, whose functions were entered or whose objects were used as they begin.
    fn elsewhere(&self, entry: &str) -> Vec<std::path::PathBuf> {
        let own = self.program.definition_by_name(entry).and_then(|id| self.program.definition(id));
        let own = own.map(|d| d.unit);
        let given: Vec<u64> = self.object_addresses.values().copied().collect();
        let used = self.memory.touched_globals().filter(|(_, o)| !given.contains(&o.base));
        let used = used.filter_map(|(i, _)| self.program.unit_of_slot(i));
        let mut all = self.entered_units.clone();
        used.for_each(|u| all.get_mut(u).into_iter().for_each(|e| *e = true));
        let others = all.iter().enumerate().filter(|(u, entered)| **entered && Some(*u) != own);
        others.filter_map(|(u, _)| Some(self.program.unit(u)?.path.clone())).collect()
    }

    /// Notes where an object was allocated.
    pub fn note_allocation(&mut self, addr: u64) {
        if let Some(f) = self.frames.last() {
            self.allocated.push((addr, f.definition, f.node));
        }
    }

    /// What the run allocated and has to leave in somebody's hands, and the pointers that are kept
    /// besides: a program may still use those of `main`.
    fn given_away(&self, entry: &str, end: &End) -> (Vec<u64>, Vec<u64>) {
        let body = self.program.function(entry);
        let hidden = |f: &crate::ir::Function| f.vars.iter().any(|v| v.in_memory);
        if *end != End::Return || entry == "main" && body.is_none_or(hidden) {
            return Default::default();
        }
        let vars = body.filter(|_| entry == "main").map_or(&[][..], |f| &f.vars);
        let named = vars.iter().zip(&self.entry_locals).filter(|(v, _)| v.kind != VarKind::Temp);
        let kept = named.filter_map(|(_, c)| Some((*c)?.to_bits() as u64)).collect();
        (self.allocated.iter().map(|(addr, ..)| *addr).collect(), kept)
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
        if entry == "main" {
            self.run_constructors()?;
        }
        let args = if entry == "main" { self.main_arguments(code)? } else { self.entry_arguments(code)? };
        self.push_frame(definition, code, &args, &[], None, None)?;
        self.note_arguments(None);
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
                    // What is known to hold its initial value holds no other one.
                    let fits = slot
                        .filter(|&s| !self.program.is_known_constant(s))
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
            // An input that does not fit is no call that a program makes.
            let given = given.filter(|c| p.sort.is_none_or(|sort| sort == c.sort()));
            args.push(given.unwrap_or_else(|| zero(p)));
        }
        for (p, a) in code.params.iter().zip(&mut args) {
            // An aggregate that the input does not give is all zero.
            if p.sort.is_none() && a.to_bits() == 0 {
                let made = self.memory.add_zeroes(p.size);
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

    /// Executes until only `floor` frames are left.
    pub(super) fn execute(&mut self, floor: usize, mut observer: Option<(&[bool], Observer)>) -> Run<()> {
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
                        let registers = self.registers.get(base..).unwrap_or(&[]);
                        match word(value, registers, &mut self.events) {
                            Ok(w) if !self.events.overflow => {
                                self.registers[base + *dst as usize] = Some(w.constant());
                            }
                            _ => {
                                let v = self.eval_at(value, base, node)?;
                                self.registers[base + *dst as usize] = Some(v);
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
                            && self.frames.len() == 1
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
        if let Some(f) = self.frames.last_mut() {
            f.node = node;
        }
    }

    /// Evaluates an expression of a node; an event leaves the frame at that node.
    #[inline]
    pub(super) fn eval_at(&mut self, e: &super::code::Value, base: usize, node: u32) -> Run<Const> {
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

    /// The low 64 bits of an expression's value: an address, a truth value.
    #[inline]
    fn bits_at(&mut self, e: &super::code::Value, base: usize, node: u32) -> Run<u64> {
        let registers = self.registers.get(base..).unwrap_or(&[]);
        match word(e, registers, &mut self.events) {
            Ok(w) if !self.events.overflow => Ok(w.bits()),
            _ => Ok(self.eval_at(e, base, node)?.to_bits() as u64),
        }
    }

    #[cold]
    fn note_overflow(&mut self, node: u32) {
        self.events.overflow = false;
        if self.overflow.is_none() {
            self.overflow = self.frames.last().map(|f| (f.definition, node));
        }
    }

    /// Whether an expression is nothing but what was read from memory that was never written.
    fn is_indeterminate(&self, e: &super::code::Value, base: usize) -> bool {
        let super::code::Value::Var(v) = e else { return false };
        self.registers.get(base + *v as usize).is_some_and(|r| r.is_none())
            && self.frames.last().is_some_and(|f| f.indeterminate.contains(v))
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
        match step {
            Step::Forget(var) => self.registers[base + *var as usize] = None,
            Step::ForgetMemory { var, size } => {
                let home = self.registers[base + *var as usize].map_or(0, |c| c.to_bits() as u64);
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
                        if let Some(frame) = self.frames.last_mut() {
                            frame.indeterminate.push(*dst);
                        }
                        None
                    }
                    Err(kind) => return Err(kind.into()),
                };
                self.registers[base + *dst as usize] = loaded;
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
                    self.registers[base + *var as usize] = Some(self.new_array(size)?);
                }
            }
            Step::End(var) => self.end_array(base + *var as usize),
            Step::Nop | Step::Assign { .. } | Step::Call(_) | Step::Branch { .. } | Step::Return { .. } => {}
        }
        Ok(())
    }

    /// Returns the value of a scalar variable of a frame, wherever it lives.
    pub(super) fn scalar(&mut self, base: usize, code: &Code, var: VarId) -> Option<Const> {
        let register = self.registers.get(base + var.0 as usize).copied().flatten()?;
        let sort = (*code.sorts.get(var.0 as usize)?)?;
        if !code.memory_vars.iter().any(|(v, _)| *v == var.0) {
            return Some(register);
        }
        let bits = self.memory.load(register.to_bits() as u64, sort.bytes()).ok()?;
        Const::from_bits(sort, bits)
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
