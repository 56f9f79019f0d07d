//! How a run begins, from an input, and what of its end is its outcome.

use super::code::{Code, Param};
use super::compare::{has_same_outcome, signs};
use super::coverage::CoverageMap;
use super::final_state::summarise;
use super::ids::DefinitionId;
use super::input::{Input, Limits, Storage};
use super::machine::{Machine, fuel_of, place_of};
use super::magnitude::Magnitude;
use super::outcome::{Assumed, End, Ending, FinalState, Outcome, Output, Portability, StandardInput};
use super::program::Program;
use super::resolve::code_of;
use super::step::{Observation, Observer};
use super::stop::{Leaving, Run, Stop};
use super::watch::Watch;
use crate::ir::{CType, Const, Function, NodeId, Sort, UndefinedKind, VarKind};
use std::ops::ControlFlow;
use std::sync::Arc;

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
        weigh(program, &mut outcome, machine.run(entry, None).0);
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

/// Marks an outcome by what the same run gives elsewhere. A result of which only the size is another one is still
/// one for its sign.
fn weigh(program: &Program, outcome: &mut Outcome, mut elsewhere: Outcome) {
    if outcome.returned != elsewhere.returned && signs(outcome) == signs(&elsewhere) {
        outcome.portability.is_sign_only = true;
        elsewhere.returned = outcome.returned;
    }
    outcome.portability.platform_dependent |= !has_same_outcome(program, outcome, &elsewhere);
}

impl<'p> Machine<'p> {
    /// Also tells whether the size of a comparison's result was looked at.
    fn run(mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> (Outcome, bool) {
        let end = self.go(entry, observer);
        let looked = self.noted.looked_at_magnitude;
        (self.outcome(entry, end), looked)
    }

    /// The run with the calls that were taken down.
    pub(super) fn run_watched(mut self, entry: &str) -> (Outcome, Option<Watch<'p>>) {
        let end = self.go(entry, None);
        let watch = self.watch.take();
        (self.outcome(entry, end), watch)
    }

    fn go(&mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> End {
        match self.start(entry, observer) {
            Ok(()) if entry == "main" => {
                let status = self.handed.result.and_then(Const::signed).unwrap_or(0) as i32;
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
        }
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
        let is_wild = matches!(end, End::Undefined { kind: UndefinedKind::BadPointer, .. });
        let nowhere = self.memory.nowhere().filter(|_| is_wild);
        let returned = if end == End::Return { self.handed.result } else { None };
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
        let summary = summarise(
            &mut self.memory,
            self.program,
            &self.object_addresses,
            (pointer, self.handed.aggregate),
            (&allocated, &kept),
        );
        let lost = summary.lost.and_then(|addr| self.noted.allocated.iter().find(|(a, ..)| *a == addr));
        let lost = lost.and_then(|(_, definition, node)| place_of(self.program, *definition, *node));
        let aborted = (end == End::Abort).then(|| self.place());
        let returned = returned.filter(|_| self.handed.aggregate.is_none());
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
        let overflow = self.noted.overflow.and_then(|(d, n)| place_of(self.program, d, n));
        let stdout_lost = self.streams.take_pending();
        Outcome {
            end,
            ending: Ending { exit_code, aborted, on_input: ended_on_input, on: ended_on, nowhere },
            returned,
            returned_target: summary.returned,
            left: FinalState { locals: self.handed.locals, memory: summary.objects, lost },
            output: Output {
                stdout: std::mem::take(&mut self.streams.stdout),
                stdout_lost,
                stderr: std::mem::take(&mut self.streams.stderr),
                files,
            },
            read: StandardInput {
                is_closed: self.streams.closed,
                is_planned: self.streams.is_planned(),
                stdin: self.streams.into_stdin(),
                values: self.noted.inputs,
            },
            overflow,
            assumed: Assumed { calls: self.noted.assumed_calls, globals: assumed_globals },
            heap: self.noted.heap,
            elsewhere,
            portability: Portability {
                open_sign: self.events.open_sign,
                platform_dependent: self.noted.platform_dependent || is_partial,
                is_sign_only: false,
                misaligned: self.memory.misaligned,
            },
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
        let mut all = self.noted.entered_units.clone();
        used.for_each(|u| all.get_mut(u).into_iter().for_each(|e| *e = true));
        let others = all.iter().enumerate().filter(|(u, entered)| **entered && Some(*u) != own);
        others.filter_map(|(u, _)| Some(self.program.unit(u)?.path.clone())).collect()
    }

    /// What the run allocated and has to leave in somebody's hands, and the pointers that are kept
    /// besides: a program may still use those of `main`.
    fn given_away(&self, entry: &str, end: &End) -> (Vec<u64>, Vec<u64>) {
        let body = self.program.function(entry);
        let hidden = |f: &Function| f.vars.iter().any(|v| v.in_memory);
        if *end != End::Return || entry == "main" && body.is_none_or(hidden) {
            return Default::default();
        }
        let vars = body.filter(|_| entry == "main").map_or(&[][..], |f| &f.vars);
        let named = vars.iter().zip(&self.handed.locals).filter(|(v, _)| v.kind != VarKind::Temp);
        let kept = named.filter_map(|(_, c)| Some((*c)?.to_bits() as u64)).collect();
        (self.noted.allocated.iter().map(|(addr, ..)| *addr).collect(), kept)
    }

    /// Builds memory and calls the entry function.
    fn start(&mut self, entry: &str, observer: Option<(&[bool], Observer)>) -> Run<()> {
        let missing = || Stop::Unsupported(format!("no function {entry}"));
        let definition = self.program.definition_by_name(entry).ok_or_else(missing)?;
        let code = code_of(self.program, definition).ok_or_else(missing)?;
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
    fn build_objects(&mut self, definition: DefinitionId) -> Run<()> {
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
}
