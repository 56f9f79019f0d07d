//! Accesses to memory, and calls, on a path.

use super::{Effect, End, Explorer, Open, is_failure};
use crate::ir::library::control::{Ends, ends};
use crate::ir::{Const, Function, Instr, Leaf, NodeId, Op, Sort, TermId, VarId};
use crate::quantify::guard::OUT_OF_BOUNDS;
use crate::quantify::memory::{Found, SymbolicObject};
use crate::quantify::state::{Access, Behind, Frame, Reason, State};
use std::sync::Arc;

/// Calls inside one another.
const MAX_CALLS: usize = 200;
/// Sums and products inside one another.
const MAX_DEPTH: u32 = 40;
/// Offsets of one access that are followed apart.
const MAX_OFFSETS: u64 = 256;
/// Bytes of an object that are written or copied one by one.
const MAX_BYTES: u64 = 4096;
/// Functions of the library that are followed.
const VALUES: [&str; 4] = ["abs", "labs", "llabs", "strlen"];
const PRINTING: [&str; 7] = ["printf", "puts", "putchar", "fprintf", "fputs", "fputc", "putc"];

const UNKNOWN_CALL: Reason = "a call that is not known";
const UNKNOWN_OUTPUT: Reason = "output that is not followed";

impl<'a> Explorer<'a, '_> {
    /// Where an access of `bytes` bytes goes; the inner error: what has to be done first. Inputs on which it
    /// is out of bounds leave the path.
    pub(super) fn place(
        &mut self,
        open: &mut Open<'a>,
        address: TermId,
        bytes: u64,
    ) -> Result<Result<(Behind, u64), Effect>, Reason> {
        match self.world.access(&open.state, address)? {
            Access::At(behind, offset) => {
                if offset.checked_add(bytes).is_none_or(|end| end > behind.size) {
                    return Err(OUT_OF_BOUNDS);
                }
                let is_behind = self.world.is_behind_end(&behind, offset, bytes);
                match is_behind.is_none_or(|is| self.part_off(open, &[(is, OUT_OF_BOUNDS)])) {
                    true => Ok(Ok((behind, offset))),
                    false => Ok(Err(Effect::Nothing)),
                }
            }
            Access::ByCondition(condition, yes, no, at) => {
                let not = self.world.pool.not(condition);
                Ok(Err(Effect::Again(vec![(not, at, no), (condition, at, yes)])))
            }
            Access::ByOffset(offset, behind) => {
                let Some(last) = behind.size.checked_sub(bytes) else { return Err(OUT_OF_BOUNDS) };
                let bits = self.world.unit.data_model.pointer_bits();
                let limit = self.world.pool.bv(bits, i128::from(last));
                let outside = self.world.pool.op(Op::Ult, &[limit, offset]);
                if !self.part_off(open, &[(outside, OUT_OF_BOUNDS)]) {
                    return Ok(Err(Effect::Nothing));
                }
                let step = self.step_of(offset, 0).max(1);
                if last / step >= MAX_OFFSETS {
                    return Err("an access to many places");
                }
                let mut values = Vec::new();
                for k in (0..=last).step_by(usize::try_from(step).unwrap_or(1)) {
                    let value = self.world.pool.bv(bits, i128::from(k));
                    let is_it = self.world.pool.eq(offset, value);
                    values.push((is_it, offset, value));
                }
                Ok(Err(Effect::Again(values)))
            }
        }
    }

    /// A power of two that an offset is a multiple of.
    fn step_of(&self, offset: TermId, depth: u32) -> u64 {
        let pool = &self.world.pool;
        if depth > MAX_DEPTH {
            return 1;
        }
        if let Some(k) = pool.as_const(offset).and_then(|c| c.unsigned()) {
            return 1 << k.trailing_zeros().min(12);
        }
        if let Some(args) = pool.as_op(offset, Op::Add) {
            return args.iter().map(|a| self.step_of(*a, depth + 1)).min().unwrap_or(1);
        }
        if let Some(args) = pool.as_op(offset, Op::Mul) {
            let product = args.iter().map(|a| self.step_of(*a, depth + 1)).fold(1u64, u64::saturating_mul);
            return product.min(1 << 12);
        }
        if let Some(&[_, by]) = pool.as_op(offset, Op::Shl)
            && let Some(k) = pool.as_const(by).and_then(|c| c.unsigned())
        {
            return 1 << k.min(12);
        }
        1
    }

    /// A global's bytes that never change, or, in a whole program, that it begins with.
    fn initial(&self, behind: &Behind, offset: u64, bytes: u64) -> Option<Vec<u8>> {
        let SymbolicObject::Global(symbol) = &behind.place else { return None };
        let global = self.world.unit.global(symbol)?;
        let is_known = global.is_known_constant() || self.world.is_program;
        is_known.then(|| global.constant_bytes(offset, bytes)).flatten()
    }

    /// Prepares an object of which a part is accessed.
    fn enter(&mut self, state: &mut State<'a>, behind: &Behind) -> Result<(), Reason> {
        let SymbolicObject::Global(symbol) = &behind.place else { return Ok(()) };
        if let Some(k) = self.world.enter(state, symbol) {
            self.growing.used(k);
        }
        let is_constant = self.world.unit.global(symbol).is_some_and(|g| g.is_known_constant());
        let given = self.world.contents.get(symbol);
        let is_known = self.world.is_program || given.is_some();
        if !is_known || is_constant || state.entered.contains(symbol) {
            return Ok(());
        }
        if behind.size > MAX_BYTES {
            return Err("a large object");
        }
        let bytes = given.cloned().or_else(|| self.initial(behind, 0, behind.size));
        let bytes = bytes.ok_or("memory whose content is not known")?;
        state.entered.insert(symbol.clone());
        for (k, byte) in (0u64..).zip(bytes) {
            let byte = self.world.pool.bv(8, i128::from(byte));
            let done = state.memory.write(self.world.pool, &behind.place, k, 1, byte);
            done.ok_or("memory whose content is not known")?;
        }
        Ok(())
    }

    pub(super) fn read(
        &mut self,
        state: &mut State<'a>,
        behind: &Behind,
        offset: u64,
        bytes: u64,
        sort: Sort,
    ) -> Result<TermId, Reason> {
        if let SymbolicObject::Global(symbol) = &behind.place {
            if matches!(&**symbol, "stdout" | "stderr")
                && self.world.unit.global(symbol).is_some_and(is_import)
            {
                let key = format!("stream:{symbol}").into();
                return Ok(self.world.pool.leaf(Leaf::Havoc { key, sort }));
            }
            let constant = self.world.unit.global(symbol).is_some_and(|g| g.is_known_constant());
            if constant {
                let bits = self.initial(behind, offset, bytes).filter(|b| b.len() <= 16);
                let bits = bits.map(|b| b.iter().rev().fold(0u128, |all, b| all << 8 | u128::from(*b)));
                let value = bits.and_then(|b| Const::from_bits(sort, b));
                return value.map(|c| self.world.pool.constant(c)).ok_or("memory whose content is not known");
            }
        }
        self.enter(state, behind)?;
        match state.memory.read(self.world.pool, &behind.place, offset, bytes, sort) {
            Found::Value(value) => Ok(value),
            Found::Mixed => Err("memory that is read in another way than it was written"),
            Found::Missing => Err(match behind.place {
                SymbolicObject::Global(_) | SymbolicObject::Text(_) => "memory whose content is not known",
                SymbolicObject::Local(..) => "a value that was never given",
            }),
        }
    }

    pub(super) fn write(
        &mut self,
        state: &mut State<'a>,
        behind: &Behind,
        offset: u64,
        bytes: u64,
        value: TermId,
    ) -> Result<(), Reason> {
        if let SymbolicObject::Global(symbol) = &behind.place {
            let global = self.world.unit.global(symbol).ok_or("memory whose content is not known")?;
            if global.is_known_constant() {
                return Err("a write to a constant");
            }
            match bytes == behind.size {
                // What it held at entry is gone.
                true => _ = state.entered.insert(symbol.clone()),
                false => self.enter(state, behind)?,
            }
            state.written.insert(behind.place.clone());
        } else if let SymbolicObject::Text(_) = &behind.place {
            state.written.insert(behind.place.clone());
        }
        let done = state.memory.write(self.world.pool, &behind.place, offset, bytes, value);
        done.ok_or("memory that is written in another way than before")
    }

    pub(super) fn zero(
        &mut self,
        state: &mut State<'a>,
        behind: &Behind,
        offset: u64,
        bytes: u64,
    ) -> Result<(), Reason> {
        if bytes > MAX_BYTES {
            return Err("a large object");
        }
        let zero = self.world.pool.bv(8, 0);
        (0..bytes).try_for_each(|k| self.write(state, behind, offset + k, 1, zero))
    }

    pub(super) fn copy(
        &mut self,
        state: &mut State<'a>,
        to: (&Behind, u64),
        from: (&Behind, u64),
        bytes: u64,
    ) -> Result<(), Reason> {
        if bytes > MAX_BYTES {
            return Err("a large object");
        }
        if from.0.place == to.0.place && from.1 == to.1 {
            return Ok(());
        }
        self.enter(state, to.0)?;
        self.enter(state, from.0)?;
        let pool = &mut *self.world.pool;
        // Cells go over as they are; what they cover only in part goes byte by byte.
        let end = from.1 + bytes;
        let cells: Vec<(u64, u64, TermId)> = state.memory.of(&from.0.place).collect();
        let is_whole =
            |&(at, n, _): &(u64, u64, TermId)| at + n <= from.1 || at >= end || at >= from.1 && at + n <= end;
        let mut parts: Vec<(u64, u64, TermId)> = Vec::new();
        if !cells.is_empty() && cells.iter().all(is_whole) {
            parts.extend(cells.into_iter().filter(|(at, ..)| (from.1..end).contains(at)));
        } else {
            for at in from.1..end {
                match state.memory.byte(pool, &from.0.place, at) {
                    Found::Value(byte) => parts.push((at, 1, byte)),
                    Found::Missing => {}
                    Found::Mixed => return Err("memory that is read in another way than it was written"),
                }
            }
        }
        if let SymbolicObject::Global(symbol) = &from.0.place
            && parts.iter().map(|(_, n, _)| n).sum::<u64>() < bytes
        {
            let constant = self.world.unit.global(symbol).is_some_and(|g| g.is_known_constant());
            let known = self.initial(from.0, from.1, bytes).filter(|_| constant && parts.is_empty());
            let known = known.ok_or("memory whose content is not known")?;
            for (at, byte) in (from.1..).zip(known) {
                parts.push((at, 1, self.world.pool.bv(8, i128::from(byte))));
            }
        }
        state.memory.clear(self.world.pool, &to.0.place, to.1, bytes).ok_or("memory that is not followed")?;
        for (at, n, value) in parts {
            self.write(state, to.0, to.1 + (at - from.1), n, value)?;
        }
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        open: &mut Open<'a>,
        name: &Arc<str>,
        dst: Option<VarId>,
        noreturn: bool,
        args: &[TermId],
    ) -> Result<Effect, Reason> {
        let Some(frame) = open.state.frames.last() else { return Ok(Effect::Nothing) };
        let span = &frame.f.node(frame.node).span;
        let line = if span.file.0 == 0 { span.line } else { 0 };
        if let Some(f) = self.world.unit.callee(name) {
            return self.enter_call(open, f, args);
        }
        if self.world.unit.meant(name).is_some() {
            return Err(UNKNOWN_CALL);
        }
        match ends(name) {
            Some(Ends::Failed | Ends::Aborted) => return Ok(Effect::End(End::Failure(line))),
            Some(Ends::Exit | Ends::Quickly | Ends::AtOnce) => {
                return Ok(Effect::End(End::Exit(args.first().copied())));
            }
            Some(Ends::Thread) | None => {}
        }
        if noreturn {
            return Err(UNKNOWN_CALL);
        }
        let result = match (&**name, args) {
            ("abs" | "labs" | "llabs", &[x]) => match self.absolute(open, x)? {
                None => return Ok(Effect::Nothing),
                value => value,
            },
            ("strlen", &[s]) => match self.length(open, s)? {
                Ok(length) => Some(length),
                Err(effect) => return Ok(effect),
            },
            _ => {
                self.print(&mut open.state, name, args)?;
                None
            }
        };
        if let Some(dst) = dst {
            let frame = open.state.frames.last();
            let sort = frame.and_then(|f| f.f.var(dst).sort).ok_or(UNKNOWN_CALL)?;
            let value = match result {
                Some(value) if self.world.pool.sort(value) == sort => value,
                Some(_) => return Err(UNKNOWN_CALL),
                None => {
                    open.state.unknowns += 1;
                    let key = format!("result:{}", open.state.unknowns).into();
                    self.world.pool.leaf(Leaf::Havoc { key, sort })
                }
            };
            self.give(&mut open.state, dst, value);
        }
        Ok(Effect::Done)
    }

    fn enter_call(
        &mut self,
        open: &mut Open<'a>,
        f: &'a Function,
        args: &[TermId],
    ) -> Result<Effect, Reason> {
        if f.variadic || f.params.len() != args.len() || !f.unknowns.is_empty() {
            return Err(UNKNOWN_CALL);
        }
        let fits = |(p, a): (&VarId, &TermId)| f.var(*p).sort == Some(self.world.pool.sort(*a));
        if !f.params.iter().zip(args).all(fits) {
            return Err(UNKNOWN_CALL);
        }
        if open.state.frames.len() >= MAX_CALLS {
            return Err("calls deeper than the bound");
        }
        let number = open.state.calls;
        open.state.calls += 1;
        open.state.frames.push(Frame::new(f, number));
        for (p, a) in f.params.iter().zip(args) {
            self.give(&mut open.state, *p, *a);
        }
        Ok(Effect::Inside)
    }

    /// Takes a branch, and notes that where it is no assertion.
    pub(super) fn turn(&mut self, open: &mut Open, taken: bool, (yes, no): (NodeId, NodeId), is_fork: bool) {
        let Some(frame) = open.state.frames.last() else { return };
        let (f, node) = (frame.f, frame.node);
        if !fails(f, yes) && !fails(f, no) {
            self.growing.turned(open.stretch, &f.name, node, taken, is_fork);
            open.is_met |= taken && self.aim.is_some_and(|aim| aim.is_met_by_branch(f, node));
        }
        goto(&mut open.state, if taken { yes } else { no });
    }

    /// The length of a string; the inner error: what has to be done first. A byte that may be 0 is followed both
    /// ways.
    fn length(&mut self, open: &mut Open<'a>, s: TermId) -> Result<Result<TermId, Effect>, Reason> {
        let bits = self.world.unit.data_model.pointer_bits();
        for k in 0..MAX_BYTES {
            let step = self.world.pool.bv(bits, i128::from(k));
            let address = self.world.pool.op(Op::Add, &[s, step]);
            let (behind, offset) = match self.place(open, address, 1)? {
                Ok(at) => at,
                Err(effect) => return Ok(Err(effect)),
            };
            let byte = self.read(&mut open.state, &behind, offset, 1, Sort::Bv(8))?;
            let zero = self.world.pool.bv(8, 0);
            let is_end = self.world.pool.eq(byte, zero);
            let known = open.state.known.get(&is_end).copied().unwrap_or(is_end);
            match self.world.pool.as_const(known).and_then(|c| c.as_bool()) {
                Some(true) => return Ok(Ok(step)),
                Some(false) => {}
                None => {
                    let not = self.world.pool.not(is_end);
                    let (yes, no) = (self.world.pool.bool(true), self.world.pool.bool(false));
                    return Ok(Err(Effect::Again(vec![(is_end, is_end, yes), (not, is_end, no)])));
                }
            }
        }
        Err("a large object")
    }

    /// The value of `abs`; `None`: no input is left.
    fn absolute(&mut self, open: &mut Open<'a>, x: TermId) -> Result<Option<TermId>, Reason> {
        let Sort::Bv(width) = self.world.pool.sort(x) else { return Err(UNKNOWN_CALL) };
        let pool = &mut *self.world.pool;
        let (zero, least) = (pool.bv(width, 0), pool.bv(width, 1i128 << (width - 1).min(126)));
        let (is_below, is_least, minus) =
            (pool.op(Op::Slt, &[x, zero]), pool.eq(x, least), pool.op(Op::Neg, &[x]));
        let value = pool.ite(is_below, minus, x);
        let is_left = self.part_off(open, &[(is_least, crate::quantify::guard::OVERFLOW)]);
        Ok(is_left.then_some(value))
    }

    /// What a call of the library prints; an error for other functions.
    fn print(&mut self, state: &mut State<'a>, name: &str, args: &[TermId]) -> Result<(), Reason> {
        let (stream, rest) = match (name, args) {
            ("printf" | "puts" | "putchar", rest) => (None, rest),
            ("fprintf", [stream, rest @ ..]) => (Some(*stream), rest),
            ("fputs" | "fputc" | "putc", [rest @ .., stream]) => (Some(*stream), rest),
            _ => return Err(UNKNOWN_CALL),
        };
        let is_error = match stream.map(|s| self.world.pool.get(s).clone()) {
            None => false,
            Some(crate::ir::Term::Leaf(Leaf::Havoc { key, .. })) if &*key == "stream:stdout" => false,
            Some(crate::ir::Term::Leaf(Leaf::Havoc { key, .. })) if &*key == "stream:stderr" => true,
            Some(_) => return Err(UNKNOWN_OUTPUT),
        };
        let mut output = std::mem::take(if is_error { &mut state.stderr } else { &mut state.stdout });
        let model = self.world.unit.data_model;
        let text = |pool: &crate::ir::TermPool, t: TermId| {
            let crate::ir::Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = pool.get(t) else { return None };
            let global = self.world.unit.global(symbol).filter(|g| g.is_known_constant())?;
            crate::semantics::constant_string(global, 0)
        };
        let pool = &mut *self.world.pool;
        let done = match (name, rest) {
            ("printf" | "fprintf", [format, values @ ..]) => {
                text(pool, *format).and_then(|format| output.formatted(pool, &format, values, model, &text))
            }
            ("putchar" | "fputc" | "putc", &[c]) => {
                output.character(pool, c);
                Some(())
            }
            ("puts", &[s]) => text(pool, s).map(|mut bytes| {
                bytes.push(b'\n');
                output.literal(&bytes);
            }),
            ("fputs", &[s]) => text(pool, s).map(|bytes| output.literal(&bytes)),
            _ => None,
        };
        *(if is_error { &mut state.stderr } else { &mut state.stdout }) = output;
        done.ok_or(UNKNOWN_OUTPUT)
    }
}

fn is_import(g: &crate::ir::Global) -> bool {
    g.linkage == crate::ir::Linkage::Import
}

/// Whether a function of the library calls nothing of the program's.
pub(in crate::quantify) fn is_harmless_call(name: &str) -> bool {
    let exits = matches!(ends(name), Some(Ends::Exit | Ends::Quickly | Ends::AtOnce));
    exits || [&VALUES[..], &PRINTING].iter().any(|names| names.contains(&name))
}

/// Whether an assertion fails at a node.
pub(in crate::quantify) fn fails(f: &Function, node: NodeId) -> bool {
    matches!(&f.node(node).instr, Instr::Call { callee, .. } if is_failure(callee))
}

/// Sets where the innermost call goes on.
pub(super) fn goto(state: &mut State, node: NodeId) {
    if let Some(frame) = state.frames.last_mut() {
        frame.node = node;
    }
}
