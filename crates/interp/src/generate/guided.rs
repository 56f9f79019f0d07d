//! Inputs that lead to where no run has been: earlier inputs that took a new way, changed where their
//! conditions looked.
//!
//! A change is a [`Tweak`]: a compared value is written where the value that it was compared with came
//! from ([`Compared`]), or something that changes the shape of memory. Tweaks of the newest inputs come
//! first, then changes at random ([`shape`]). Methods: coverage-guided fuzzing and input-to-state
//! correspondence (see [`crate::coverage`]), on structured inputs.

use super::pool::Earlier;
use super::random::SplitMix;
use super::shape;
use super::{Generator, objects};
use crate::coverage::{AddressTarget, Compared, Edge, Operand, Origin};
use crate::input::{CallResult, Input, ObjectId, Value};
use crate::ir::{Const, Op, Sort, UndefinedKind};
use crate::outcome::{End, Outcome};
use std::collections::HashMap;
use std::sync::Arc;

/// Inputs that are kept to go on from.
const MAX_ENTRIES: usize = 160;
/// Those that count as the newest.
const NEWEST: usize = 6;
/// Times that a way is tried before others.
const MAX_TRIES: u32 = 24;
/// Tweaks of one input.
const MAX_TWEAKS: usize = 400;

/// Values that may have been an index out of bounds.
const MAX_INDICES: usize = 12;

/// Whether what would turn a comparison leads to something new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    Known,
    /// To a way that no run took, where one is known.
    New(Option<Lead>),
}

/// One change of an input.
#[derive(Clone, Debug, PartialEq)]
enum Tweak {
    /// A value is put to a place.
    Put(Origin, Value),
    /// What is null at a place leads to an object of its own; a number becomes 1.
    Point(Origin),
    /// A text is put into an object.
    Text { object: ObjectId, offset: u64, text: Vec<u8> },
    /// An object gets so many bytes, or more.
    Grow(ObjectId, u64),
}

/// An input with what can be done to it.
struct Entry {
    input: Input,
    /// Those that may lead where no run has been, with the way; what was compared last stands last.
    frontier: Vec<(Tweak, Option<Lead>)>,
    tweaks: Vec<Tweak>,
    /// Calls of what nobody defines.
    calls: Vec<(Arc<str>, u32)>,
}

/// A way that no run took, in the older version (0) or the newer one (1).
pub type Lead = (usize, Edge);

/// Endless source of inputs that go on from earlier ones.
#[derive(Default)]
pub struct Guided {
    entries: Vec<Entry>,
    count: u64,
    /// How often a way was tried.
    tries: HashMap<Lead, u32>,
}

impl Guided {
    /// Whether some change may lead to where no run has been.
    pub fn has_frontier(&self) -> bool {
        self.entries.iter().any(|e| !e.frontier.is_empty())
    }

    fn is_tired(&self, lead: Lead) -> bool {
        self.tries.get(&lead).is_some_and(|n| *n >= MAX_TRIES)
    }

    /// Takes an input that took a new way, with how its run ended and what was compared, and which ways
    /// are known.
    pub fn learn(
        &mut self,
        input: Input,
        outcome: &Outcome,
        compared: &[(Compared, Standing)],
        pointer_bits: u16,
    ) {
        let mut frontier: Vec<(Tweak, Option<Lead>)> = Vec::new();
        let mut tweaks: Vec<Tweak> = Vec::new();
        let mut add = |tweak: Tweak, standing: Standing| {
            let lead = match standing {
                Standing::New(lead) if !lead.is_some_and(|lead| self.is_tired(lead)) => Some(lead),
                _ => None,
            };
            let is_there = match lead {
                Some(_) => frontier.len() >= MAX_TWEAKS || frontier.iter().any(|(t, _)| *t == tweak),
                None => tweaks.len() >= MAX_TWEAKS || tweaks.contains(&tweak),
            };
            match lead {
                _ if is_there => {}
                Some(lead) => frontier.push((tweak, lead)),
                None => tweaks.push(tweak),
            }
        };
        if let Some((id, needed)) = left(outcome) {
            add(Tweak::Grow(id, needed), Standing::New(None));
            // What was left may have been indexed by what was compared.
            let size = input.objects.iter().find(|o| o.id == id).map_or(0, |o| o.bytes.len() as i128);
            let sides = compared.iter().rev().filter_map(|(c, _)| match c {
                Compared::Values { sides, .. } => Some(&**sides),
                Compared::Text { .. } => None,
            });
            for side in sides.flatten().take(MAX_INDICES) {
                if let (Some((origin, shift)), Some(n)) = (&side.origin, side.value.signed())
                    && let Sort::Bv(width) = sort_at(origin, side)
                    && !(0..size).contains(&(n - shift))
                {
                    for k in [0, size - 1] {
                        add(
                            Tweak::Put(origin.clone(), Value::Const(Const::bv(width, k))),
                            Standing::New(None),
                        );
                    }
                }
            }
        }
        // What was compared last stands first.
        for (c, standing) in compared.iter().rev() {
            match c {
                Compared::Values { op, sides, .. } => {
                    let [a, b] = &**sides;
                    turn(a, b, *op, true, pointer_bits, &mut |t| add(t, *standing));
                    turn(b, a, *op, false, pointer_bits, &mut |t| add(t, *standing));
                }
                Compared::Text { object, offset, other } => {
                    add(Tweak::Text { object: *object, offset: *offset, text: other.clone() }, *standing);
                }
            }
        }
        let calls = outcome.assumed.calls.iter().map(|c| (c.callee.clone(), c.nth)).take(16).collect();
        if self.entries.len() >= MAX_ENTRIES {
            // The first ones are the plainest; of the others one gives way.
            let mut rng = SplitMix::at(self.count, 1);
            let at = MAX_ENTRIES / 4 + rng.below((MAX_ENTRIES / 2) as u64) as usize;
            self.entries.remove(at);
        }
        frontier.reverse();
        self.entries.push(Entry { input, frontier, tweaks, calls });
    }

    /// Returns the next input; `None` before anything was learnt. `is_known`: whether a run took a way.
    pub fn next(&mut self, generator: &Generator, is_known: &dyn Fn(Lead) -> bool) -> Option<Input> {
        let mut rng = SplitMix::at(generator.seed ^ 0x6775_6964, self.count);
        self.count += 1;
        if rng.chance(70)
            && let Some(input) = self.towards(generator, is_known, &mut rng)
        {
            return Some(input);
        }
        let total = self.entries.len();
        let newest = NEWEST.min(total) as u64;
        let at = match rng.chance(60) {
            true => total.checked_sub(1 + rng.below(newest) as usize)?,
            false => rng.below(total as u64) as usize,
        };
        let entry = self.entries.get(at)?;
        let mut input = entry.input.clone();
        if !entry.tweaks.is_empty() && rng.chance(60) {
            let tweaks = if rng.chance(60) { 1 } else { 2 + rng.below(2) };
            for _ in 0..tweaks {
                if let Some(tweak) = rng.pick(&entry.tweaks) {
                    tweak.apply(&mut input, generator, &mut rng);
                }
            }
            return Some(input);
        }
        for _ in 0..1 + rng.below(3) {
            if rng.chance(10)
                && let Some((callee, nth)) = rng.pick(&entry.calls)
            {
                let (callee, nth) = (callee.clone(), *nth);
                let result = another_result(&mut input, generator, &callee, &mut rng);
                put_call(&mut input, &callee, nth, result);
            } else if rng.chance(30) {
                input = generator.vary(input, &mut rng);
            } else {
                shape::change(&mut input, generator, &mut rng);
            }
        }
        Some(input)
    }

    /// An input that may take a way that no run took, mostly from one of the newest.
    fn towards(
        &mut self,
        generator: &Generator,
        is_known: &dyn Fn(Lead) -> bool,
        rng: &mut SplitMix,
    ) -> Option<Input> {
        let open: Vec<usize> =
            (0..self.entries.len()).filter(|i| !self.entries[*i].frontier.is_empty()).collect();
        let choice = if rng.chance(70) { NEWEST.min(open.len()) } else { open.len() };
        let back = rng.below(choice as u64) as usize;
        let at = *open.get(open.len().checked_sub(1 + back)?)?;
        let Entry { input, frontier, tweaks, .. } = self.entries.get_mut(at)?;
        while let Some((tweak, lead)) = frontier.pop() {
            // Others may have come there since.
            let tries = lead.map_or(0, |lead| *self.tries.entry(lead).and_modify(|n| *n += 1).or_insert(1));
            if lead.is_some_and(is_known) || tries > MAX_TRIES {
                tweaks.push(tweak);
                continue;
            }
            let mut input = input.clone();
            tweak.apply(&mut input, generator, rng);
            return Some(input);
        }
        None
    }
}

/// The object of the input that a run left, and how many bytes of it there should have been.
fn left(outcome: &Outcome) -> Option<(ObjectId, u64)> {
    let is_left = matches!(&outcome.end, End::Undefined { kind: UndefinedKind::OutOfBounds, .. });
    outcome.ending.on.filter(|_| is_left)
}

/// The input on which a run left one of its objects, with just as much of that as the run needed; none
/// where it cannot have as much.
pub fn mended(input: &Input, outcome: &Outcome, generator: &Generator) -> Option<Input> {
    let (id, needed) = left(outcome).filter(|(_, needed)| *needed <= objects::MAX_OBJECT)?;
    let mut input = input.clone();
    let object = input.objects.iter_mut().find(|o| o.id == id)?;
    let first = object.bytes.len();
    if needed <= first as u64 {
        return None;
    }
    shape::resize(object, &generator.unit, needed as usize);
    let (old, new) = object.bytes.split_at_mut_checked(first).filter(|(_, new)| !new.is_empty())?;
    // More of what is there, so that it is told from what is written over it.
    if object.pointers.is_empty() {
        new.iter_mut().zip(old.iter().cycle()).for_each(|(to, from)| *to = *from);
    }
    Some(input)
}

/// The sort of the value at a place that one side of a comparison came from.
fn sort_at(origin: &Origin, side: &Operand) -> Sort {
    match origin {
        Origin::Object { bytes, .. } => match side.value.sort() {
            float @ (Sort::F32 | Sort::F64 | Sort::F80) => float,
            _ => Sort::Bv((*bytes * 8).min(64) as u16),
        },
        Origin::Argument { sort, .. } | Origin::Call { sort, .. } => *sort,
    }
}

/// Tweaks of one side of a comparison that turn its outcome. `is_first`: the side is the left one.
fn turn(
    side: &Operand,
    other: &Operand,
    op: Op,
    is_first: bool,
    pointer_bits: u16,
    add: &mut impl FnMut(Tweak),
) {
    let Some((origin, shift)) = &side.origin else { return };
    let sort = sort_at(origin, side);
    let number = |c: Const| Tweak::Put(origin.clone(), Value::Const(c));
    if let (Some(mine), Some(theirs)) = (side.value.nearest_f64(), other.value.nearest_f64()) {
        let away = if mine <= theirs { 1.0 } else { -1.0 };
        for v in [theirs, theirs + away] {
            Const::of_f64(sort, v).into_iter().for_each(|c| add(number(c)));
        }
        if let Const::F80(x) = other.value {
            add(number(Const::F80(x)));
        }
        return;
    }
    let is_word = side.value.sort() == Sort::Bv(pointer_bits);
    // Numbers of addresses are a machine's own.
    if is_word && other.is_address {
        let pointer = match other.target.as_ref().filter(|_| *shift == 0) {
            Some(AddressTarget::Object(object, offset)) => {
                Value::Pointer { object: *object, offset: *offset }
            }
            Some(AddressTarget::Function(name)) => Value::Function(name.clone()),
            None => return,
        };
        add(Tweak::Put(origin.clone(), pointer));
        return;
    }
    if is_word && side.is_address && other.value.to_bits() != 0 {
        return;
    }
    if is_word && op == Op::Eq && other.value.to_bits() == 0 && side.value.to_bits() == 0 {
        add(Tweak::Point(origin.clone()));
        return;
    }
    let Sort::Bv(width) = sort else { return };
    let read = |c: Const| match op {
        Op::Ult | Op::Ule => c.unsigned().and_then(|u| i128::try_from(u).ok()),
        _ => c.signed(),
    };
    let (Some(mine), Some(theirs)) = (read(side.value), read(other.value)) else { return };
    // The nearest value for which the comparison comes out the other way.
    let step = match (op, is_first) {
        (Op::Eq, _) => i128::from(mine == theirs),
        (Op::Ult | Op::Slt, true) => -i128::from(mine >= theirs),
        (Op::Ult | Op::Slt, false) => i128::from(theirs >= mine),
        (_, true) => i128::from(mine <= theirs),
        (_, false) => -i128::from(theirs <= mine),
    };
    if let Some(v) = theirs.checked_add(step).and_then(|v| v.checked_sub(*shift)) {
        add(number(Const::bv(width, v)));
    }
}

/// Something else that a function may return.
fn another_result(input: &mut Input, generator: &Generator, callee: &str, rng: &mut SplitMix) -> Value {
    match shape::result_type(generator, callee) {
        Some(ty) if ty.is_pointer() => {
            let null = Value::Const(Const::bv(generator.unit.data_model.pointer_bits(), 0));
            objects::another(input, &generator.unit, &generator.pool, &ty, rng).unwrap_or(null)
        }
        ty => {
            let number = ty.and_then(|ty| generator.pool.scalar(rng, &ty, &mut Earlier::default()));
            Value::Const(number.unwrap_or_else(|| Const::bv(32, generator.pool.integer(rng, 32, true, &[]))))
        }
    }
}

fn put_call(input: &mut Input, callee: &Arc<str>, nth: u32, result: Value) {
    match input.calls.iter_mut().find(|c| c.callee == *callee && c.nth == nth) {
        Some(call) => call.result = result,
        None => {
            let (callee, writes) = (callee.clone(), Vec::new());
            input.calls.push(CallResult { callee, nth, result, errno: None, writes });
        }
    }
}

impl Tweak {
    fn apply(&self, input: &mut Input, generator: &Generator, rng: &mut SplitMix) {
        match self {
            Tweak::Put(origin, value) => put(input, origin, value.clone()),
            Tweak::Point(origin) => {
                let ty = shape::pointer_at(input, generator, origin);
                let pointer =
                    ty.and_then(|ty| objects::another(input, &generator.unit, &generator.pool, &ty, rng));
                // Of some types nobody makes any: some number is at least not null.
                let number = || Value::Const(Const::bv(generator.unit.data_model.pointer_bits(), 1));
                put(input, origin, pointer.unwrap_or_else(number));
            }
            Tweak::Text { object, offset, text } => {
                if let Some(o) = input.objects.iter_mut().find(|o| o.id == *object) {
                    shape::put_text(o, *offset as usize, text);
                }
            }
            Tweak::Grow(object, needed) => {
                if let Some(o) = input.objects.iter_mut().find(|o| o.id == *object) {
                    let more = if o.bytes.len() < 64 { 1 + rng.below(16) } else { o.bytes.len() as u64 };
                    let wanted = if *needed <= objects::MAX_OBJECT { *needed } else { 0 };
                    let size = wanted.max(o.bytes.len() as u64 + more);
                    shape::resize(o, &generator.unit, size as usize);
                }
            }
        }
    }
}

fn put(input: &mut Input, origin: &Origin, value: Value) {
    match origin {
        Origin::Argument { index, .. } => {
            if let Some(argument) = input.arguments.get_mut(*index) {
                *argument = value;
            }
        }
        Origin::Object { object, offset, bytes } => {
            if let Some(o) = input.objects.iter_mut().find(|o| o.id == *object) {
                shape::put(o, *offset, *bytes, value);
            }
        }
        Origin::Call { callee, nth, .. } => put_call(input, callee, *nth, value),
    }
}
