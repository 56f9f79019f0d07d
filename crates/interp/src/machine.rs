//! The machine: what one run in progress has, and where it is. What it does is in [`super::step`], [`super::calls`],
//! [`super::jump`] and [`super::hooks`], how a run begins and ends in [`super::run`].

use super::code::Code;
use super::coverage::CoverageMap;
use super::ids::DefinitionId;
use super::input::{Input, LONG_FUEL, Limits, ObjectId, Value};
use super::left::Left;
use super::magnitude::Magnitude;
use super::memory::Memory;
use super::outcome::{AssumedCall, HeapRequests, Place};
use super::program::Program;
use super::rand::Random;
use super::register::{Events, Register};
use super::streams::Streams;
use crate::ir::{CType, Const, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An active call.
pub(crate) struct Frame<'p> {
    /// Which of all calls of the run it is: another may come to stand at its index.
    pub serial: u64,
    pub definition: DefinitionId,
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
    pub(super) fuel: u64,
    pub events: Events,
    pub(super) overflow: Option<(DefinitionId, u32)>,
    /// Result of the last call that returned into the outside (entry or callback).
    pub(super) result: Option<Const>,
    pub(super) callbacks: usize,
    pub object_addresses: BTreeMap<ObjectId, u64>,
    pub assumed_calls: Vec<AssumedCall>,
    pub heap: HeapRequests,
    pub call_counts: BTreeMap<Arc<str>, u32>,
    pub inputs: Vec<Option<Const>>,
    pub platform_dependent: bool,
    /// What comparisons of bytes give, and whether a run looked at more of it than the sign.
    pub(super) magnitude: Magnitude,
    pub(super) looked_at_magnitude: bool,
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
    pub(super) allocated: Vec<(u64, DefinitionId, u32)>,
    pub(super) entry_locals: Vec<Option<Const>>,
    /// Where the entry function's aggregate result is kept.
    pub(super) aggregate_result: Option<u64>,
    /// Takes down how the run goes.
    pub(super) coverage: Option<&'p mut CoverageMap>,
}

/// Where a `longjmp` goes.
pub(crate) struct Landing {
    /// Index of the frame, and which call of the run must stand there.
    pub frame: usize,
    pub serial: u64,
    /// The call of `setjmp`.
    pub node: u32,
    /// The frame's registers at the time.
    pub registers: Vec<Register>,
    /// Objects of the call whose size was computed.
    pub allocas: usize,
    pub callbacks: usize,
}

/// A function that was registered to run at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub function: u64,
    /// What `on_exit` was given; the function gets the status, too.
    pub argument: Option<u64>,
}

/// Instructions that a run may take.
pub(super) fn fuel_of(input: &Input, limits: &Limits) -> u64 {
    if input.is_long { limits.fuel.max(LONG_FUEL) } else { limits.fuel }
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, input: &'p Input, limits: &'p Limits) -> Machine<'p> {
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
            heap: HeapRequests::default(),
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

    /// What a comparison of bytes gives whose first difference is this one; `sized`: more than its sign may be
    /// looked at.
    pub fn compared(&mut self, difference: i128, sized: bool) -> i128 {
        self.looked_at_magnitude |= sized && difference != 0;
        self.magnitude.of(difference)
    }

    /// Notes where an object was allocated.
    pub fn note_allocation(&mut self, addr: u64) {
        if let Some(f) = self.frames.last() {
            self.allocated.push((addr, f.definition, f.node));
        }
    }

    /// Returns where the run is.
    pub fn place(&self) -> Place {
        let here = self.frames.last().and_then(|f| place_of(self.program, f.definition, f.node));
        here.unwrap_or_else(|| Place { file: Default::default(), line: 0, function: Arc::from("") })
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

/// The line of a node.
pub(super) fn place_of(program: &Program, definition: DefinitionId, node: u32) -> Option<Place> {
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
