//! What a run tells about how to get elsewhere: the edges that it took, and what their
//! conditions compared, with the places of the input that the compared values came from.
//!
//! This is the feedback of coverage-guided fuzzing. The correspondence of compared values and input bytes
//! (Aschermann et al., "REDQUEEN: Fuzzing with Input-to-State Correspondence", NDSS 2019) needs no guess
//! here: the machine knows where each register was loaded from.

use super::code::{Param, Value};
use super::input::ObjectId;
use super::machine::Machine;
use crate::ir::{Const, Op, Sort};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Counters of branch edges; two edges may share one.
const EDGES: usize = 1 << 13;
/// Comparisons that are kept of one place of the code, and of all.
const MAX_OF_SITE: u32 = 4;
const MAX_COMPARISONS: usize = 192;
/// Longest text that a library function compares and that is kept, in bytes.
const MAX_TEXT: usize = 64;
/// Operators above a comparison within a condition that are looked through.
const MAX_DEPTH: u32 = 4;

/// Where in the input a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Argument {
        index: usize,
        sort: Sort,
    },
    /// So many bytes of an object.
    Object {
        object: ObjectId,
        offset: u64,
        bytes: u64,
    },
    /// The result of the `nth` call of what nobody defines.
    Call {
        callee: Arc<str>,
        nth: u32,
        sort: Sort,
    },
}

/// What an address leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Object(ObjectId, i64),
    Function(Arc<str>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub value: Const,
    /// What the value is but for a number that is added.
    pub origin: Option<(Origin, i128)>,
    /// The value is an address.
    pub is_address: bool,
    /// What an address leads to, where every version and machine has it.
    pub target: Option<Place>,
}

/// What a run compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// An operator's sides, and the way that the branch did not take.
    Values { op: Op, sides: Box<[Operand; 2]>, untaken: Edge },
    /// Bytes of an object from an offset on, and what they were compared with.
    Text { object: ObjectId, offset: u64, other: Vec<u8> },
}

/// A way out of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge(usize);

impl Edge {
    fn new(definition: usize, node: u32, taken: bool) -> Edge {
        let key = (definition as u64) << 33 | u64::from(node) << 1 | u64::from(taken);
        Edge((key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - EDGES.trailing_zeros())) as usize)
    }

    /// Whether some run whose edges were joined to these took it.
    pub fn is_known(self, known: &[u8]) -> bool {
        known.get(self.0).is_some_and(|n| *n != 0)
    }
}

/// CoverageMap of one run.
#[derive(Clone, Default)]
pub struct CoverageMap {
    edges: Vec<u8>,
    explanation: Option<Explanation>,
}

#[derive(Clone, Default)]
struct Explanation {
    /// By register of the machine.
    origins: Vec<Option<(Origin, i128)>>,
    /// By address of what was stored.
    stored: HashMap<u64, (Origin, i128)>,
    comparisons: Vec<Compared>,
    counts: BTreeMap<(usize, u32), u32>,
}

impl CoverageMap {
    /// One that notes the edges.
    pub fn new() -> CoverageMap {
        CoverageMap { edges: vec![0; EDGES], explanation: None }
    }

    /// One that notes the comparisons, too. Cost: a run several times as long.
    pub fn explaining() -> CoverageMap {
        CoverageMap { edges: vec![0; EDGES], explanation: Some(Explanation::default()) }
    }

    /// Joins the edges to those of earlier runs; whether some edge was new, or taken more often by an
    /// order of magnitude.
    pub fn join(&self, known: &mut Vec<u8>) -> bool {
        known.resize(EDGES, 0);
        let mut new = false;
        for (k, n) in known.iter_mut().zip(&self.edges).filter(|(_, n)| **n != 0) {
            let class = class_of(*n);
            new |= *k & class == 0;
            *k |= class;
        }
        new
    }

    pub fn into_comparisons(self) -> Vec<Compared> {
        self.explanation.map(|e| e.comparisons).unwrap_or_default()
    }

    fn way(&mut self, definition: usize, node: u32, taken: bool) {
        if let Some(n) = self.edges.get_mut(Edge::new(definition, node, taken).0) {
            *n = n.saturating_add(1);
        }
    }
}

/// How often, as one bit: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, more.
fn class_of(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

impl Explanation {
    fn origin(&self, e: &Value, base: usize) -> Option<(Origin, i128)> {
        match e {
            Value::Var(v) => self.origins.get(base + *v as usize)?.clone(),
            Value::Unary { op: Op::Zext(_) | Op::Sext(_) | Op::Trunc(_), a, .. } => self.origin(a, base),
            Value::Binary { op: op @ (Op::Add | Op::Sub), ab, .. } => {
                let (inner, shift) = match (&ab[0], &ab[1]) {
                    (inner, Value::Const(c)) if *op == Op::Add => (inner, c.signed()?),
                    (inner, Value::Const(c)) => (inner, c.signed()?.checked_neg()?),
                    (Value::Const(c), inner) if *op == Op::Add => (inner, c.signed()?),
                    _ => return None,
                };
                let (origin, earlier) = self.origin(inner, base)?;
                Some((origin, earlier.checked_add(shift)?))
            }
            _ => None,
        }
    }

    fn set(&mut self, register: usize, origin: Option<(Origin, i128)>) {
        if register >= self.origins.len() {
            if origin.is_none() {
                return;
            }
            self.origins.resize(register + 1, None);
        }
        self.origins[register] = origin;
    }
}

impl Machine<'_> {
    /// A branch was taken.
    pub(super) fn note_branch(&mut self, cond: &Value, base: usize, node: u32, taken: bool) {
        let definition = self.frames.last().map_or(0, |f| f.definition);
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
        let registers = self.registers.get(base..).unwrap_or(&[]);
        let value = super::eval::eval(e, registers, &mut super::eval::Events::default()).ok()?;
        let origin = self.coverage.as_ref()?.explanation.as_ref()?.origin(e, base);
        let is_word = value.sort().bits() == Some(self.program.pointer_bits());
        let addr = value.to_bits() as u64;
        let function = if is_word { self.program.code_at(addr).map(|f| f.name.clone()) } else { None };
        let target = match function {
            Some(name) => Some(Place::Function(name)),
            None if is_word => self.input_place(addr).map(|(id, offset)| Place::Object(id, offset as i64)),
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
        let definition = self.frames.last().map_or(0, |f| f.definition);
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
        let Some(frame) = self.frames.last() else { return };
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
                    let home = self.registers.get(register).copied().flatten();
                    e.stored.insert(home.map_or(0, Const::to_bits) as u64, origin);
                }
                (true, None) => {}
            }
        }
    }

    /// A frame returns an expression's value to a register of its caller.
    pub(super) fn note_return(&mut self, value: Option<&Value>, node: u32) {
        if let (Some(value), Some(base)) = (value, self.frames.last().map(|f| f.base)) {
            self.note_value(value, base, node);
        }
        let [.., caller, callee] = self.frames.as_slice() else { return };
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
