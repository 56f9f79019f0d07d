//! One step of a path, and the paths that a decision leaves.

use super::code::{Code, Target, written};
use super::narrow::excluded;
use super::state::{Content, Frame, Given, Inputs, Item, Memory, State, identity};
use super::value::{ObjectSlot, Stop, Value};
use crate::difference::Version;
use crate::interp::{self, CallResult, Input, Program};
use crate::ir::{CType, Const, Expr, Function, Instr, NodeId, Op, Sort, VarId};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Calls that may be active at once.
const MAX_DEPTH: usize = 64;
/// Inputs that may be divided.
const DIVIDED: usize = 12;
/// Objects up to this size are copied when they are passed.
const MAX_COPY: u64 = 1 << 16;
/// Bytes of an array of variable length.
const MAX_OBJECT: u64 = 1 << 22;

/// What a step led to.
pub(super) enum Next {
    /// The state goes on.
    On,
    /// The state is replaced by others: a decision that nobody knows.
    Fork(Vec<State>),
    /// A violation.
    Failure,
    /// The path is over, without one.
    End,
}

pub(super) struct Machine<'p> {
    pub program: &'p Program,
    pub code: Code,
    /// Values that inputs from the first of these on are limited to.
    pub limits: Vec<Option<Value>>,
    /// The number of that input.
    pub first: usize,
    /// The one input to follow; what it does not give is zero.
    pub exact: Option<Input>,
    /// What static objects hold at entry is any value, unless it is constant.
    is_library: bool,
}

fn bit(input: usize) -> Inputs {
    1 << input.min(63)
}

impl<'p> Machine<'p> {
    pub fn new(version: Version<'p>, code: Code) -> Machine<'p> {
        let is_library = version.function != "main";
        Machine { program: version.program, code, limits: Vec::new(), first: 0, exact: None, is_library }
    }

    /// The value that the one input gives.
    fn exactly(&self, state: &State, callee: Option<&Arc<str>>, sort: Sort) -> Option<Value> {
        let input = self.exact.as_ref()?;
        let nth = state.given.iter().filter(|g| g.callee.as_ref() == callee).count();
        let given = match callee {
            None => input.arguments.get(nth),
            Some(name) => {
                let is = |c: &&CallResult| c.callee == *name && c.nth as usize == nth + 1;
                input.calls.iter().find(is).map(|c| &c.result)
            }
        };
        let constant = match given {
            Some(interp::Value::Const(c)) if c.sort() == sort => Some(*c),
            _ => Const::zero(sort),
        };
        Value::of(constant?).ok()
    }

    /// The state at entry.
    pub fn start(&self) -> Result<State, Stop> {
        let mut state = State {
            frames: Vec::new(),
            statics: BTreeMap::new(),
            stack: Vec::new(),
            given: Vec::new(),
            assumed: Vec::new(),
            unsure: 0,
            marks: 0,
            steps: 0,
        };
        let function = &self.code.bodies[0].function;
        let is_main = &*function.name == "main";
        if is_main && !function.params.is_empty() {
            return Err(Stop::Unsupported("arguments of the program"));
        }
        let mut arguments = Vec::new();
        for p in &function.params {
            let var = function.var(*p);
            let sort = var.sort.ok_or(Stop::Unsupported("an aggregate parameter"))?;
            if var.ty.is_pointer() {
                return Err(Stop::Unsupported("a pointer parameter"));
            }
            arguments.push(self.input(&mut state, None, sort)?);
        }
        self.enter(&mut state, 0, arguments, None, None)?;
        Ok(state)
    }

    /// A value from outside.
    fn input(&self, state: &mut State, callee: Option<Arc<str>>, sort: Sort) -> Result<Item, Stop> {
        let number = state.given.len();
        let all = Value::all(sort)?;
        let limit = number.checked_sub(self.first).and_then(|k| self.limits.get(k).copied().flatten());
        let value = match limit {
            // Another way may ask for another sort.
            Some(l) if l.sort() == Some(sort) => all.meet(&l).unwrap_or(all),
            _ => all,
        };
        let value = self.exactly(state, callee.as_ref(), sort).unwrap_or(value);
        let before = (number < DIVIDED && self.exact.is_none()).then(|| Rc::new(state.clone()));
        let mark = state.fresh_mark();
        let item = Item { value, mark, inputs: bit(number) };
        state.given.push(Given { callee, item, asked: value, before });
        Ok(item)
    }

    fn enter(
        &self,
        state: &mut State,
        body: usize,
        arguments: Vec<Item>,
        dst: Option<VarId>,
        result_to: Option<Value>,
    ) -> Result<(), Stop> {
        let function = &self.code.bodies[body].function;
        if state.frames.len() >= MAX_DEPTH {
            return Err(Stop::Unsupported("deep recursion"));
        }
        if function.params.len() != arguments.len() || function.variadic {
            return Err(Stop::Unsupported("a call that does not fit"));
        }
        let floor = state.stack.len();
        let mut registers: Vec<Option<Item>> = vec![None; function.vars.len()];
        for (v, var) in function.vars.iter().enumerate() {
            if var.in_memory || var.sort.is_none() {
                let place = ObjectSlot::Local(state.stack.len() as u32);
                state.stack.push(Rc::new(Memory { size: var.size, cells: BTreeMap::new(), rest: None }));
                registers[v] = Some(Item::new(Value::Pointer { place, offset: 0 }));
            }
        }
        for (p, argument) in function.params.iter().zip(arguments) {
            let var = function.var(*p);
            let home = registers[p.0 as usize];
            match (home, var.sort) {
                (None, _) => registers[p.0 as usize] = Some(argument),
                (Some(home), Some(_)) => self.store(state, &home.value, var.size, argument)?,
                (Some(home), None) => self.copy(state, &home.value, &argument.value, var.size)?,
            }
        }
        state.frames.push(Frame { body, node: 0, registers, dst, result_to, floor });
        Ok(())
    }

    fn eval(&self, state: &State, e: &Expr) -> Result<Item, Stop> {
        state.eval(e, &|symbol| self.place_of(state, symbol))
    }

    fn place_of(&self, state: &State, symbol: &str) -> Option<u32> {
        let unit = self.code.bodies[state.frames.last()?.body].unit;
        self.program.slot_from(unit, symbol).map(|s| s as u32)
    }

    /// The object of a place, made when it is first looked for.
    fn object<'s>(&self, state: &'s mut State, place: ObjectSlot) -> Result<&'s mut Rc<Memory>, Stop> {
        match place {
            ObjectSlot::Local(n) => state.stack.get_mut(n as usize).ok_or(Stop::Undefined),
            ObjectSlot::Static(n) => {
                if let std::collections::btree_map::Entry::Vacant(vacant) = state.statics.entry(n) {
                    let slot = self.program.slots().get(n as usize);
                    let slot = slot.ok_or(Stop::Unsupported("an unknown object"))?;
                    let known = !slot.imported && !slot.unknown && (!self.is_library || slot.read_only);
                    let rest = known.then(|| Arc::from(self.program.image(n as usize)));
                    vacant.insert(Rc::new(Memory { size: slot.size, cells: BTreeMap::new(), rest }));
                }
                state.statics.get_mut(&n).ok_or(Stop::Unsupported("an unknown object"))
            }
        }
    }

    fn at(&self, address: &Value) -> Result<(ObjectSlot, u64), Stop> {
        match address {
            Value::Pointer { place, offset } => {
                u64::try_from(*offset).map(|o| (*place, o)).map_err(|_| Stop::Undefined)
            }
            Value::Bits(b) if b.single() == Some(0) => Err(Stop::Undefined),
            _ => Err(Stop::Unsupported("an unknown address")),
        }
    }

    fn load(&self, state: &mut State, address: &Value, bytes: u64, sort: Sort) -> Result<Item, Stop> {
        let (place, offset) = self.at(address)?;
        let object = self.object(state, place)?;
        if offset.checked_add(bytes).is_none_or(|end| end > object.size) {
            return Err(Stop::Undefined);
        }
        object.load(offset, bytes, sort)
    }

    fn store(&self, state: &mut State, address: &Value, bytes: u64, item: Item) -> Result<(), Stop> {
        let (place, offset) = self.at(address)?;
        let object = self.object(state, place)?;
        if offset.checked_add(bytes).is_none_or(|end| end > object.size) {
            return Err(Stop::Undefined);
        }
        Rc::make_mut(object).store(offset, bytes, Content::Item(item));
        Ok(())
    }

    fn copy(&self, state: &mut State, to: &Value, from: &Value, bytes: u64) -> Result<(), Stop> {
        let ((to, at), (from, start)) = (self.at(to)?, self.at(from)?);
        if bytes > MAX_COPY {
            return Err(Stop::Unsupported("a large copy"));
        }
        let source = self.object(state, from)?.clone();
        if start + bytes > source.size {
            return Err(Stop::Undefined);
        }
        let target = self.object(state, to)?;
        if at + bytes > target.size {
            return Err(Stop::Undefined);
        }
        let target = Rc::make_mut(target);
        // Bytes that no cell holds are copied one by one, and those of half a cell are anything.
        let mut k = 0;
        while k < bytes {
            let cell = source.cells.get(&(start + k)).filter(|(length, _)| k + length <= bytes);
            let (length, content) = match cell {
                Some((length, content)) => (*length, content.clone()),
                None => (1, Content::Item(source.load(start + k, 1, Sort::Bv(8))?)),
            };
            target.store(at + k, length, content);
            k += length;
        }
        Ok(())
    }

    /// Carries a state to its next node.
    pub fn step(&self, state: &mut State) -> Result<Next, Stop> {
        let Some(frame) = state.frames.last() else { return Ok(Next::End) };
        let body = &self.code.bodies[frame.body];
        let at = NodeId(frame.node);
        if body.covered[frame.node as usize] {
            return Ok(Next::End);
        }
        let function = body.function.clone();
        let node = function.node(at);
        state.steps += 1;
        if let Some(open) = self.open_decision(state, &node.instr)? {
            return Ok(Next::Fork(self.fork(state, open)));
        }
        match &node.instr {
            Instr::Nop => {
                if at == Function::EXIT {
                    return self.leave(state, None);
                }
            }
            Instr::Declare(v) => self.declare(state, &function, *v),
            Instr::Measure { var, lengths, element } => {
                let size = self.measured(state, lengths, *element)?;
                if let Some(v) = var {
                    self.replace(state, *v, size);
                }
            }
            Instr::Assign { dst, value } => {
                let mut item = self.eval(state, value)?;
                if let Some(known) = state.assumption(value) {
                    item.value = Value::truth(known);
                }
                state.set(*dst, item);
            }
            Instr::Load { dst, addr, access } => {
                if access.volatile {
                    return Err(Stop::Unsupported("a volatile object"));
                }
                let address = self.eval(state, addr)?;
                let mut item = self.load(state, &address.value, access.bytes, access.sort)?;
                item.inputs |= address.inputs;
                state.set(*dst, item);
            }
            Instr::Store { addr, value, access } => {
                let (address, item) = (self.eval(state, addr)?, self.eval(state, value)?);
                self.store(state, &address.value, access.bytes, item)?;
            }
            Instr::Copy { dst, src, bytes } => {
                let (to, from) = (self.eval(state, dst)?, self.eval(state, src)?);
                self.copy(state, &to.value, &from.value, *bytes)?;
            }
            Instr::Zero { dst, bytes } => {
                let (place, offset) = self.at(&self.eval(state, dst)?.value)?;
                let object = self.object(state, place)?;
                if offset.checked_add(*bytes).is_none_or(|end| end > object.size) {
                    return Err(Stop::Undefined);
                }
                Rc::make_mut(object).store(offset, *bytes, Content::Zeros);
            }
            Instr::Call { .. } => return self.call(state, at, &node.instr, &node.succs),
            Instr::Branch { cond } => {
                let known = state.assumption(cond).map_or_else(
                    || self.eval(state, cond).map(|i| i.value.known_truth()),
                    |known| Ok(Some(known)),
                )?;
                let known = known.ok_or(Stop::Unsupported("a decision that is left open"))?;
                return Ok(self.go(state, node.succs.get(usize::from(!known))));
            }
            Instr::Return { value } => {
                let item = value.as_ref().map(|v| self.eval(state, v)).transpose()?;
                return self.leave(state, item);
            }
            Instr::Unreachable => return Ok(Next::Failure),
            Instr::Unknown { .. } => return Err(Stop::Unsupported("an unknown effect")),
        }
        Ok(self.go(state, node.succs.first()))
    }

    fn go(&self, state: &mut State, to: Option<&NodeId>) -> Next {
        state.assumed.clear();
        match (to, state.frames.last_mut()) {
            (Some(to), Some(frame)) => {
                frame.node = to.0;
                Next::On
            }
            _ => Next::End,
        }
    }

    /// Takes the values of variables away that are not read any more.
    pub fn forget(&self, state: &mut State) {
        let last = state.frames.len().saturating_sub(1);
        for (i, frame) in state.frames.iter_mut().enumerate() {
            let body = &self.code.bodies[frame.body];
            let node = body.function.node(NodeId(frame.node));
            // What goes on behind a call, once it returns.
            let (next, result) = match node.succs.first().filter(|_| i < last) {
                Some(next) => (next.0 as usize, written(&node.instr)),
                None => (frame.node as usize, None),
            };
            for (v, register) in frame.registers.iter_mut().enumerate() {
                if !body.live[next][v] || result == Some(v) {
                    *register = None;
                }
            }
        }
    }

    fn declare(&self, state: &mut State, function: &Function, v: VarId) {
        let var = function.var(v);
        if var.in_memory || var.sort.is_none() {
            return self.replace(state, v, var.size);
        }
        let register = state.frames.last_mut().and_then(|f| f.registers.get_mut(v.0 as usize));
        if let Some(register) = register {
            *register = None;
        }
    }

    /// Puts a new object in the place of a local that lives in memory.
    fn replace(&self, state: &mut State, v: VarId, size: u64) {
        let register = state.frames.last().and_then(|f| f.registers.get(v.0 as usize));
        if let Some(Some(Item { value: Value::Pointer { place: ObjectSlot::Local(n), .. }, .. })) = register
            && let Some(object) = state.stack.get_mut(*n as usize)
        {
            *object = Rc::new(Memory { size, cells: BTreeMap::new(), rest: None });
        }
    }

    /// The size of an array of variable length, where each of its lengths is one value.
    fn measured(&self, state: &State, lengths: &[Expr], element: u64) -> Result<u64, Stop> {
        let mut size = i128::from(element);
        for e in lengths {
            let Value::Bits(length) = self.eval(state, e)?.value else {
                return Err(Stop::Unsupported("an array of variable length"));
            };
            if length.s().1 <= 0 {
                return Err(Stop::Undefined);
            }
            let known = length.single().and_then(|n| size.checked_mul(n));
            size = known.ok_or(Stop::Unsupported("an array of variable length"))?;
        }
        u64::try_from(size).ok().filter(|s| *s < MAX_OBJECT).ok_or(Stop::Unsupported("a large object"))
    }

    fn leave(&self, state: &mut State, result: Option<Item>) -> Result<Next, Stop> {
        let Some(frame) = state.frames.pop() else { return Ok(Next::End) };
        if state.frames.is_empty() {
            return Ok(Next::End);
        }
        if let (Some(to), Some(from)) = (frame.result_to, &result) {
            let f = &self.code.bodies[frame.body].function;
            let size = self.program.units().get(self.code.bodies[frame.body].unit);
            let size = size.and_then(|u| u.size_of(&f.ret)).ok_or(Stop::Unsupported("a result"))?;
            self.copy(state, &to, &from.value, size)?;
        }
        state.stack.truncate(frame.floor);
        if let Some(dst) = frame.dst {
            match result {
                Some(item) if frame.result_to.is_none() => state.set(dst, item),
                _ => {
                    if let Some(caller) = state.frames.last_mut() {
                        caller.registers[dst.0 as usize] = None;
                    }
                }
            }
        }
        let caller = state.frames.last().map(|f| (f.body, f.node));
        let next = caller.and_then(|(body, n)| {
            self.code.bodies[body].function.nodes.get(n as usize)?.succs.first().copied()
        });
        Ok(self.go(state, next.as_ref()))
    }

    fn call(&self, state: &mut State, at: NodeId, instr: &Instr, succs: &[NodeId]) -> Result<Next, Stop> {
        let Instr::Call { dst, args, ret, result_to, noreturn, .. } = instr else { return Ok(Next::On) };
        let body = state.frames.last().map_or(0, |f| f.body);
        let mut arguments = Vec::with_capacity(args.len());
        for a in args {
            arguments.push(self.eval(state, a)?);
        }
        match self.code.target(body, at) {
            Target::Failure => return Ok(Next::Failure),
            Target::End => return Ok(Next::End),
            Target::Unknown if *noreturn => return Ok(Next::End),
            Target::Unknown => return Err(Stop::Unsupported("a function without a definition")),
            Target::Body(callee) => {
                let to = result_to.as_ref().map(|r| self.eval(state, r)).transpose()?;
                let mut passed = Vec::with_capacity(arguments.len());
                for mut item in arguments {
                    if item.mark == 0 && !item.value.is_single() {
                        item.mark = state.fresh_mark();
                    }
                    passed.push(item);
                }
                self.enter(state, callee, passed, *dst, to.map(|t| t.value))?;
                state.assumed.clear();
                return Ok(Next::On);
            }
            Target::Input(name) => {
                let bits = self.program.pointer_bits();
                if *ret == CType::Void || ret.is_pointer() {
                    return Err(Stop::Unsupported("an input that is no number"));
                }
                let sort = ret.sort(bits).ok_or(Stop::Unsupported("an input that is no number"))?;
                let item = self.input(state, Some(name), sort)?;
                if let Some(dst) = dst {
                    state.set(*dst, item);
                }
            }
        }
        Ok(self.go(state, succs.first()))
    }

    /// A truth value on which an instruction depends and of which nothing is known or assumed.
    fn open_decision<'i>(&self, state: &State, instr: &'i Instr) -> Result<Option<&'i Expr>, Stop> {
        for e in operands(instr) {
            if let Some(open) = self.open_in(state, e)? {
                return Ok(Some(open));
            }
            let is_whole = matches!(instr, Instr::Branch { .. } | Instr::Assign { .. });
            if is_whole && state.assumption(e).is_none() && self.eval(state, e)?.value == Value::EITHER {
                return Ok(Some(e));
            }
        }
        Ok(None)
    }

    /// The first condition in an expression that picks one of two values, and is open.
    fn open_in<'i>(&self, state: &State, e: &'i Expr) -> Result<Option<&'i Expr>, Stop> {
        let Expr::Op { op, args, .. } = e else { return Ok(None) };
        for a in args {
            if let Some(found) = self.open_in(state, a)? {
                return Ok(Some(found));
            }
        }
        if *op == Op::Ite
            && let Some(c) = args.first()
            && state.assumption(c).is_none()
            && self.eval(state, c)?.value.known_truth().is_none()
        {
            return Ok(Some(c));
        }
        Ok(None)
    }

    /// The states in which a condition holds, and those in which it does not.
    fn fork(&self, state: &State, open: &Expr) -> Vec<State> {
        let statics = |symbol: &str| self.place_of(state, symbol);
        let mut found = Vec::new();
        for holds in [true, false] {
            for mut side in sides(state, open, holds, &statics) {
                let known = side.eval(open, &statics).ok();
                match known.and_then(|i| i.value.known_truth()) {
                    Some(known) if known != holds => continue,
                    // What is left of the inputs is what the condition holds for.
                    Some(_) if state.is_about_inputs(open) => {}
                    _ => side.unsure |= known.map_or(0, |i| i.inputs),
                }
                side.assumed.push((identity(open), holds));
                found.push(side);
            }
        }
        found
    }
}

/// The expressions that an instruction evaluates.
fn operands(instr: &Instr) -> Vec<&Expr> {
    match instr {
        Instr::Assign { value, .. } => vec![value],
        Instr::Load { addr, .. } => vec![addr],
        Instr::Store { addr, value, .. } => vec![addr, value],
        Instr::Copy { dst, src, .. } => vec![dst, src],
        Instr::Zero { dst, .. } => vec![dst],
        Instr::Measure { lengths, .. } => lengths.iter().collect(),
        Instr::Call { args, result_to, .. } => args.iter().chain(result_to).collect(),
        Instr::Branch { cond } => vec![cond],
        Instr::Return { value } => value.iter().collect(),
        Instr::Unknown { reads, .. } => reads.iter().collect(),
        Instr::Nop | Instr::Declare(_) | Instr::Unreachable => Vec::new(),
    }
}

/// What an assumption leaves of a state: up to two states, below and above a value that is excluded.
fn sides(state: &State, e: &Expr, holds: bool, statics: super::narrow::Statics) -> Vec<State> {
    let mut side = state.clone();
    if !side.assume(e, holds, statics) {
        return Vec::new();
    }
    let split = excluded(e, holds).and_then(|(a, c)| {
        let Ok(Value::Bits(now)) = side.eval(a, statics).map(|i| i.value) else { return None };
        let k = c.signed()?;
        let (low, high) = now.s();
        (low < k && k < high).then_some((a, k, now))
    });
    let Some((a, k, now)) = split else { return vec![side] };
    let part = |low: i128, high: i128| {
        let value = crate::ir::interval::Bits::new(now.width, (low, high), now.u())?;
        let mut part = side.clone();
        part.narrow(a, &Value::Bits(value), statics).then_some(part)
    };
    let parts = [part(now.s().0, k - 1), part(k + 1, now.s().1)];
    parts.into_iter().flatten().collect()
}

/// A constant of a set of values: its lower end, its upper end, or one in between.
pub(super) fn sample(value: &Value, which: usize) -> Option<Const> {
    match value {
        Value::Bits(b) => {
            let (low, high) = b.s();
            let v = match which % 3 {
                0 => low,
                1 => high,
                _ => low + (high - low) / 2,
            };
            let (least, most) = b.u();
            let c = Const::bv(b.width, v);
            let fits = c.unsigned().is_some_and(|u| (least..=most).contains(&(u as i128)));
            Some(if fits { c } else { Const::bv(b.width, if which % 3 == 1 { most } else { least }) })
        }
        Value::Float(f) => {
            use super::value::{at_ordinal, ordinal};
            if !f.has_numbers() {
                return value.constant();
            }
            let (low, high) = (ordinal(f.low, f.sort), ordinal(f.high, f.sort));
            let n = match which % 3 {
                0 => low,
                1 => high,
                _ => ((i128::from(low) + i128::from(high)) / 2) as i64,
            };
            let v = at_ordinal(n, f.sort);
            Some(if f.sort == Sort::F32 { Const::f32(v as f32) } else { Const::f64(v) })
        }
        Value::Truth { yes, .. } => Some(Const::Bool(*yes)),
        Value::Pointer { .. } => None,
    }
}
