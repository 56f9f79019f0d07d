//! The machine: what one run in progress has, and where it is. What it does is in [`super::step`], [`super::calls`],
//! [`super::jump`] and [`super::hooks`], how a run begins and ends in [`super::run`].

use super::code::Code;
use super::coverage::CoverageMap;
use super::ids::DefinitionId;
use super::input::{Input, LONG_FUEL, Limits, ObjectId, Value};
use super::left::Left;
use super::magnitude::Magnitude;
use super::memory::Memory;
use super::outcome::{AssumedCall, HeapRequests, SourceLocation};
use super::program::Program;
use super::register::{Events, Register};
use super::streams::Streams;
use super::watch::{CallSite, Watch};
use crate::ir::{CType, Const, Span, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An active call.
pub(crate) struct Frame<'p> {
    /// Which of all calls of the run it is: another may come to stand at its index.
    pub serial: u64,
    pub definition: DefinitionId,
    pub code: &'p Code,
    /// First register in [`Stack::registers`].
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
    pub stack: Stack<'p>,
    pub(super) fuel: u64,
    pub events: Events,
    pub(super) handed: Handed,
    pub object_addresses: BTreeMap<ObjectId, u64>,
    /// Calls of what the program does not define, by name.
    pub call_counts: BTreeMap<Arc<str>, u32>,
    /// What comparisons of bytes give.
    pub(super) magnitude: Magnitude,
    /// What earlier calls decide of later ones.
    pub left: Left,
    pub noted: Noted,
    /// Takes down how the run goes.
    pub(super) coverage: Option<&'p mut CoverageMap>,
    /// Takes calls down.
    pub(super) watch: Option<Watch<'p>>,
}

/// The calls in progress, and what lives as long as they do.
#[derive(Default)]
pub(crate) struct Stack<'p> {
    pub(super) registers: Vec<Register>,
    pub frames: Vec<Frame<'p>>,
    /// Calls that were entered so far.
    pub(super) entered: u64,
    /// Where `longjmp` goes, by the buffer's address.
    pub(super) landings: BTreeMap<u64, Landing>,
    /// Callbacks in progress.
    pub(super) callbacks: usize,
    /// Constructors run.
    pub(super) before_main: bool,
    /// What each started `va_list` goes through.
    pub argument_lists: Vec<ArgumentList>,
}

/// What the run hands to who began it.
#[derive(Default)]
pub(super) struct Handed {
    /// Result of the last call that returned into the outside (entry or callback).
    pub result: Option<Const>,
    /// The entry function's variables.
    pub locals: Vec<Option<Const>>,
    /// Where the entry function's aggregate result is kept.
    pub aggregate: Option<u64>,
}

/// What is noted on the way for the run's outcome.
#[derive(Default)]
pub(crate) struct Noted {
    /// By unit: a function of it was entered.
    pub(super) entered_units: Vec<bool>,
    /// The first signed overflow.
    pub(super) overflow: Option<(DefinitionId, u32)>,
    pub assumed_calls: Vec<AssumedCall>,
    pub heap: HeapRequests,
    /// Addresses of what was allocated, each with the function and the node that asked for it.
    pub(super) allocated: Vec<(u64, DefinitionId, u32)>,
    /// Values of the conversions from standard input.
    pub inputs: Vec<Option<Const>>,
    pub platform_dependent: bool,
    /// More than the sign of a comparison of bytes was looked at.
    pub(super) looked_at_magnitude: bool,
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
            stack: Stack {
                registers: Vec::with_capacity(64),
                frames: Vec::with_capacity(4),
                ..Stack::default()
            },
            fuel: fuel_of(input, limits),
            events: Events::default(),
            handed: Handed::default(),
            object_addresses: BTreeMap::new(),
            call_counts: BTreeMap::new(),
            magnitude: Magnitude::default(),
            left: Left::default(),
            noted: Noted { entered_units: vec![false; program.units().len()], ..Noted::default() },
            coverage: None,
            watch: None,
        }
    }

    /// What a comparison of bytes gives whose first difference is this one; `sized`: more than its sign may be
    /// looked at.
    pub fn compared(&mut self, difference: i128, sized: bool) -> i128 {
        self.noted.looked_at_magnitude |= sized && difference != 0;
        self.magnitude.of(difference)
    }

    /// Notes where an object was allocated.
    pub fn note_allocation(&mut self, addr: u64) {
        if let Some(f) = self.stack.frames.last() {
            self.noted.allocated.push((addr, f.definition, f.node));
        }
    }

    /// Returns where the run is.
    pub fn place(&self) -> SourceLocation {
        let here = self.stack.frames.last().and_then(|f| place_of(self.program, f.definition, f.node));
        here.unwrap_or_else(|| SourceLocation { file: Default::default(), line: 0, function: Arc::from("") })
    }

    /// Returns where the call in progress is written.
    pub(super) fn call_site(&self) -> Option<CallSite> {
        let frame = self.stack.frames.last()?;
        let span = span_of(self.program, frame.definition, frame.node)?;
        let unit = self.program.unit(self.program.definition(frame.definition)?.unit)?;
        let file = unit.files.get(span.file.0 as usize).unwrap_or(&unit.path).clone();
        Some(CallSite { file, line: span.line, column: span.col })
    }

    /// Returns the line where the run is; 0 where nothing says.
    pub fn line(&self) -> u32 {
        let here = self.stack.frames.last().and_then(|f| span_of(self.program, f.definition, f.node));
        here.map_or(0, |span| span.line)
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
        let register = self.stack.registers.get(base + var.0 as usize).copied().flatten()?;
        let sort = (*code.sorts.get(var.0 as usize)?)?;
        if !code.memory_vars.iter().any(|(v, _)| *v == var.0) {
            return Some(register);
        }
        let bits = self.memory.load(register.to_bits() as u64, sort.bytes()).ok()?;
        Const::from_bits(sort, bits)
    }
}

/// Where a node stands in its file.
fn span_of(program: &Program, definition: DefinitionId, node: u32) -> Option<&Span> {
    let f = program.function_of(definition)?;
    let n = f.nodes.get(node as usize)?;
    // Instructions without a place of their own take their statement's.
    let statement = f.stmts.get(n.stmt.0 as usize).map(|s| &s.span).filter(|s| s.line != 0);
    Some(if n.span.line != 0 { &n.span } else { statement.unwrap_or(&f.span) })
}

/// The line of a node.
pub(super) fn place_of(program: &Program, definition: DefinitionId, node: u32) -> Option<SourceLocation> {
    let (f, span) = (program.function_of(definition)?, span_of(program, definition, node)?);
    let unit = program.unit(program.definition(definition)?.unit)?;
    let file = unit.files.get(span.file.0 as usize).unwrap_or(&unit.path).clone();
    Some(SourceLocation { file, line: span.line, function: f.name.clone() })
}
