//! What is known at a point of a path: registers, memory and inputs as sets of values.
//!
//! Values that were copied from each other carry the same mark, so that what a branch says of one is
//! known of all; each value also carries on which inputs it depends.

use super::value::{ObjectSlot, Stop, Value, apply};
use crate::ir::{Const, Expr, Object, Op, Sort, VarId};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// Inputs that a value depends on, by number; the last bit stands for all beyond.
pub(super) type Inputs = u64;

/// A set of values, where it came from, and what it depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pub value: Value,
    /// Equal marks, equal values; 0 says nothing.
    pub mark: u32,
    pub inputs: Inputs,
}

impl Item {
    pub fn new(value: Value) -> Item {
        Item { value, mark: 0, inputs: 0 }
    }
}

/// Bytes of an object.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Item(Item),
    Zeros,
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub size: u64,
    /// By offset, with the length; they do not overlap.
    pub cells: BTreeMap<u64, (u64, Content)>,
    /// What all other bytes are; without it, anything.
    pub rest: Option<Arc<[u8]>>,
}

impl Memory {
    pub fn load(&self, offset: u64, bytes: u64, sort: Sort) -> Result<Item, Stop> {
        if let Some((length, Content::Item(item))) = self.cells.get(&offset)
            && *length == bytes
            && item.value.sort().is_none_or(|s| s == sort)
        {
            return Ok(*item);
        }
        let mut bits = 0u128;
        let mut inputs = 0;
        let mut known = bytes <= 16;
        for k in (0..bytes.min(16)).rev() {
            match self.byte(offset + k, &mut inputs) {
                Some(b) => bits = bits << 8 | u128::from(b),
                None => known = false,
            }
        }
        let value = match Const::from_bits(sort, bits) {
            Some(c) if known => Value::of(c)?,
            _ => Value::all(sort)?,
        };
        Ok(Item { value, mark: 0, inputs })
    }

    fn byte(&self, at: u64, inputs: &mut Inputs) -> Option<u8> {
        match self.cells.range(..=at).next_back().filter(|(start, (length, _))| *start + length > at) {
            Some((_, (_, Content::Zeros))) => Some(0),
            Some((start, (_, Content::Item(item)))) => {
                *inputs |= item.inputs;
                item.value.constant().map(|c| (c.to_bits() >> (8 * (at - start).min(15))) as u8)
            }
            None => self.rest.as_ref()?.get(at as usize).copied(),
        }
    }

    pub fn store(&mut self, offset: u64, bytes: u64, content: Content) {
        self.clear(offset, bytes);
        self.cells.insert(offset, (bytes, content));
    }

    /// Takes away what is in a range; what is half in it is no longer known.
    fn clear(&mut self, offset: u64, bytes: u64) {
        let end = offset + bytes;
        let hit: Vec<(u64, u64, Content)> = self
            .cells
            .range(..end)
            .rev()
            .take_while(|(start, (length, _))| *start + length > offset)
            .map(|(start, (length, content))| (*start, *length, content.clone()))
            .collect();
        for (start, length, content) in hit {
            self.cells.remove(&start);
            let pieces = [(start, offset), (end, start + length)];
            for (from, to) in pieces.into_iter().filter(|(from, to)| from < to) {
                let piece = match &content {
                    Content::Zeros => Content::Zeros,
                    // Bytes of a value: anything, one by one.
                    Content::Item(item) => {
                        let any = Value::all(Sort::Bv(8)).unwrap_or(Value::EITHER);
                        for at in from..to {
                            let item = Item { value: any, mark: 0, inputs: item.inputs };
                            self.cells.insert(at, (1, Content::Item(item)));
                        }
                        continue;
                    }
                };
                self.cells.insert(from, (to - from, piece));
            }
        }
    }

    fn contains(&self, other: &Memory) -> bool {
        let same_rest = match (&self.rest, &other.rest) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        };
        let covers = |a: &Content, b: &Content| match (a, b) {
            (Content::Item(x), Content::Item(y)) => x.value.contains(&y.value),
            (Content::Zeros, Content::Zeros) => true,
            _ => false,
        };
        self.size == other.size
            && same_rest
            && self.cells.len() == other.cells.len()
            && self
                .cells
                .iter()
                .zip(&other.cells)
                .all(|((at, (n, a)), (k, (m, b)))| at == k && n == m && covers(a, b))
    }
}

/// An active call.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub body: usize,
    pub node: u32,
    /// By variable; of one in memory its address. `None`: indeterminate.
    pub registers: Vec<Option<Item>>,
    /// The caller's register for the result.
    pub dst: Option<VarId>,
    /// Where an aggregate result goes.
    pub result_to: Option<Value>,
    /// Objects on the stack below this frame's.
    pub floor: usize,
}

/// A value from outside.
#[derive(Clone, Debug)]
pub(super) struct Given {
    /// The function that yields it; none: a parameter of the entry.
    pub callee: Option<Arc<str>>,
    /// What is left of its values on this path.
    pub item: Item,
    /// Its values when it was asked for.
    pub asked: Value,
    /// The state that asks for it. Only the first few inputs have one.
    pub before: Option<Rc<State>>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub frames: Vec<Frame>,
    pub statics: BTreeMap<u32, Rc<Memory>>,
    pub stack: Vec<Rc<Memory>>,
    pub given: Vec<Given>,
    /// What was assumed at this node of expressions that stay open, by their addresses in the code.
    pub assumed: Vec<(usize, bool)>,
    /// Inputs on which branches depend that were taken without knowing.
    pub unsure: Inputs,
    pub marks: u32,
    pub steps: u64,
}

/// Where code is in memory: what tells expressions apart.
pub(super) fn identity(e: &Expr) -> usize {
    std::ptr::from_ref(e) as usize
}

impl State {
    pub fn fresh_mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }

    pub fn register(&self, v: VarId) -> Option<Item> {
        self.frames.last()?.registers.get(v.0 as usize).copied().flatten()
    }

    pub fn set(&mut self, v: VarId, mut item: Item) {
        if item.mark == 0 && !item.value.is_single() {
            item.mark = self.fresh_mark();
        }
        let place = self.frames.last_mut().and_then(|f| f.registers.get_mut(v.0 as usize));
        if let Some(place) = place {
            *place = Some(item);
        }
    }

    /// Evaluates an expression. `statics` finds the object of a symbol.
    pub fn eval(&self, e: &Expr, statics: &dyn Fn(&str) -> Option<u32>) -> Result<Item, Stop> {
        match e {
            Expr::Const(c) => Ok(Item::new(Value::of(*c)?)),
            Expr::Var(v) => self.register(*v).ok_or(Stop::Undefined),
            Expr::Addr(Object::Local(v)) => self.register(*v).ok_or(Stop::Unsupported("a lost object")),
            Expr::Addr(Object::Global(symbol)) => {
                let place = statics(symbol).ok_or(Stop::Unsupported("an unknown object"))?;
                Ok(Item::new(Value::Pointer { place: ObjectSlot::Static(place), offset: 0 }))
            }
            Expr::Addr(Object::Function(_)) => Err(Stop::Unsupported("the address of a function")),
            Expr::Op { op, args, .. } => {
                let mut inputs = 0;
                let mut values = Vec::with_capacity(args.len());
                for a in args {
                    let item = self.eval(a, statics)?;
                    inputs |= item.inputs;
                    values.push(item.value);
                }
                if *op == Op::Ite
                    && let Some(c) = args.first()
                    && let Some(known) = self.assumption(c)
                    && let Some(first) = values.first_mut()
                {
                    *first = Value::truth(known);
                }
                Ok(Item { value: apply(*op, &values)?, mark: 0, inputs })
            }
        }
    }

    /// What was assumed of an expression.
    pub fn assumption(&self, e: &Expr) -> Option<bool> {
        self.assumed.iter().find(|(x, _)| *x == identity(e)).map(|(_, b)| *b)
    }

    /// Whether all that is not known of an expression are values of inputs, as they came.
    pub fn is_about_inputs(&self, e: &Expr) -> bool {
        let mut all = true;
        e.for_each_var(&mut |v| {
            let item = self.register(v);
            let is_input = |i: Item| i.mark != 0 && self.given.iter().any(|g| g.item.mark == i.mark);
            all &= item.is_none_or(|i| i.value.is_single() || is_input(i));
        });
        all
    }

    /// Narrows a register, and all that is equal to it; `false`: nothing is left.
    pub fn narrow_register(&mut self, v: VarId, to: &Value) -> bool {
        let Some(item) = self.register(v) else { return true };
        let Some(met) = item.value.meet(to) else { return false };
        if met == item.value {
            return true;
        }
        if let Some(place) = self.frames.last_mut().and_then(|f| f.registers.get_mut(v.0 as usize)) {
            *place = Some(Item { value: met, ..item });
        }
        if item.mark != 0 {
            let registers = self.frames.iter_mut().flat_map(|f| f.registers.iter_mut().flatten());
            let given = self.given.iter_mut().map(|g| &mut g.item);
            for other in registers.chain(given).filter(|i| i.mark == item.mark) {
                other.value = met;
            }
        }
        true
    }

    /// A number that states with the same single values in their registers have in common.
    pub fn singles(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (n, item) in self.frames.iter().flat_map(|f| &f.registers).enumerate() {
            if let Some(c) = item.as_ref().and_then(|i| i.value.constant()) {
                (n, c).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// The state without what it says of inputs.
    pub fn without_inputs(&self) -> State {
        State {
            frames: self.frames.clone(),
            statics: self.statics.clone(),
            stack: self.stack.clone(),
            given: Vec::new(),
            assumed: Vec::new(),
            ..*self
        }
    }

    /// Whether all that can happen from another state on can happen from this one, too. Both are at the
    /// same place.
    pub fn contains(&self, other: &State) -> bool {
        let registers = |a: &Frame, b: &Frame| {
            a.result_to == b.result_to
                && a.registers.iter().zip(&b.registers).all(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) => a.value.contains(&b.value),
                    (None, None) => true,
                    _ => false,
                })
        };
        let objects = |a: &Rc<Memory>, b: &Rc<Memory>| Rc::ptr_eq(a, b) || a.contains(b);
        self.frames.iter().zip(&other.frames).all(|(a, b)| registers(a, b))
            && self.stack.len() == other.stack.len()
            && self.stack.iter().zip(&other.stack).all(|(a, b)| objects(a, b))
            && self.statics.len() == other.statics.len()
            && self.statics.iter().zip(&other.statics).all(|(a, b)| a.0 == b.0 && objects(a.1, b.1))
    }
}
