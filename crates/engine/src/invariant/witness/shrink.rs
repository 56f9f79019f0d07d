//! Witnesses that are easy to read: the simplest input that still shows a difference.
//!
//! Delta debugging on structured inputs. Every step proposes a simpler input (a null pointer, a zero,
//! a shorter text, a global with its own initial value), replays it in both versions and keeps it if
//! the difference is still there. Steps are tried in a fixed order until none helps; the number of
//! replays and their instructions are bounded.

use crate::interp::{Input, ObjectId, ObjectInit, Storage, Value};
use crate::invariant::witness::complexity::{complexity, is_char, is_text};
use crate::invariant::witness::run::Run;
use crate::ir::{CType, Const, Extended, FloatKind, Sort, Unit};
use std::collections::BTreeSet;

/// Replays that one witness may cost, and instructions over all of them.
const MAX_REPLAYS: usize = 240;
const MAX_STEPS: u64 = 1_500_000;
/// Scalars of one object that are simplified one by one.
const MAX_SCALARS: usize = 48;

/// What a witness is simplified with.
pub(in crate::invariant) struct Shrinker<'a> {
    /// For layouts.
    pub unit: &'a Unit,
    pub replay: &'a dyn Fn(Input) -> Run,
    /// Whether a run still shows the difference.
    pub keeps: &'a dyn Fn(&Run) -> bool,
}

/// The best run so far, and what may still be spent.
struct Search<'a> {
    with: &'a Shrinker<'a>,
    best: Run,
    complexity: u64,
    replays: usize,
    steps: u64,
}

impl Shrinker<'_> {
    /// Returns a run that shows the difference on an input that is no harder to read. Cost: at most
    /// [`MAX_REPLAYS`] replays.
    pub fn shrink(&self, run: Run) -> Run {
        let complexity = complexity(&run.input);
        let mut search = Search { with: self, best: run, complexity, replays: 0, steps: 0 };
        loop {
            let before = search.complexity;
            search.pass();
            if search.complexity >= before || search.is_spent() {
                break;
            }
        }
        search.renumber();
        search.best
    }
}

impl Search<'_> {
    fn is_spent(&self) -> bool {
        self.replays >= MAX_REPLAYS || self.steps >= MAX_STEPS
    }

    /// Replays an input that is simpler than the best one; keeps it if the difference stays.
    fn offer(&mut self, mut input: Input) -> bool {
        if self.is_spent() {
            return false;
        }
        drop_unreached(&mut input);
        let complexity = complexity(&input);
        if complexity >= self.complexity {
            return false;
        }
        self.take(input, complexity)
    }

    fn take(&mut self, input: Input, complexity: u64) -> bool {
        self.replays += 1;
        let run = (self.with.replay)(input);
        self.steps += run.old.steps + run.new.steps;
        let kept = (self.with.keeps)(&run);
        if kept {
            (self.best, self.complexity) = (run, complexity);
        }
        kept
    }

    fn change(&mut self, change: impl FnOnce(&mut Input)) -> bool {
        let mut input = self.best.input.clone();
        change(&mut input);
        self.offer(input)
    }

    /// Tries every kind of simplification once, the coarsest first.
    fn pass(&mut self) {
        self.change(|i| i.objects.retain(|o| !matches!(o.storage, Storage::Global(_))));
        self.change(|i| i.calls.clear());
        let ids: Vec<ObjectId> = self.best.input.objects.iter().map(|o| o.id).collect();
        for id in &ids {
            self.change(|i| i.objects.retain(|o| o.id != *id || !matches!(o.storage, Storage::Global(_))));
        }
        for k in 0..self.best.input.arguments.len() {
            self.argument(k);
        }
        for k in (0..self.best.input.calls.len()).rev() {
            self.call(k);
        }
        for id in ids {
            self.object(id);
        }
        self.stdin();
        self.argv();
    }

    fn argument(&mut self, k: usize) {
        let Some(v) = self.best.input.arguments.get(k).cloned() else { return };
        let by_value = |o: &ObjectInit| o.storage == Storage::Argument;
        if let Value::Pointer { object, .. } = &v
            && self.best.input.objects.iter().any(|o| o.id == *object && by_value(o))
        {
            return;
        }
        for simpler in simpler_values(&v, self.with.unit) {
            if self.change(|i| i.arguments[k] = simpler) {
                break;
            }
        }
    }

    /// What a function gives that nobody defines.
    fn call(&mut self, k: usize) {
        if self.change(|i| _ = i.calls.remove(k)) {
            return;
        }
        let Some(v) = self.best.input.calls.get(k).map(|c| c.result.clone()) else { return };
        for simpler in simpler_values(&v, self.with.unit) {
            if self.change(|i| i.calls[k].result = simpler) {
                break;
            }
        }
    }

    fn object(&mut self, id: ObjectId) {
        let at = |i: &Input| i.objects.iter().position(|o| o.id == id);
        let Some(k) = at(&self.best.input) else { return };
        self.change(|i| {
            i.objects[k].bytes.fill(0);
            i.objects[k].pointers.clear();
            i.objects[k].undefined.clear();
        });
        self.shorten(id);
        self.clear_parts(id);
        let Some(k) = at(&self.best.input) else { return };
        self.change(|i| i.objects[k].undefined.clear());
        for offset in self.best.input.objects[k].pointers.iter().map(|(at, _)| *at).collect::<Vec<_>>() {
            let Some(k) = at(&self.best.input) else { return };
            self.change(|i| i.objects[k].pointers.retain(|(o, _)| *o != offset));
        }
        let Some(k) = at(&self.best.input) else { return };
        if is_text(&self.best.input.objects[k].ty) {
            self.text(id);
            return;
        }
        let mut scalars = Vec::new();
        let o = &self.best.input.objects[k];
        scalars_of(&o.ty, 0, o.bytes.len() as u64, self.with.unit, &mut scalars);
        scalars.retain(|(at, n, _)| {
            let range = *at as usize..(*at + *n) as usize;
            o.bytes.get(range).is_some_and(|b| b.iter().any(|b| *b != 0))
        });
        for (offset, bytes, ty) in scalars.into_iter().take(MAX_SCALARS) {
            let Some(k) = at(&self.best.input) else { return };
            let range = offset as usize..(offset + bytes) as usize;
            let Some(now) = self.best.input.objects[k].bytes.get(range.clone()) else { continue };
            for word in simple_words(&ty, now) {
                let changed = self.change(|i| {
                    if let Some(place) = i.objects[k].bytes.get_mut(range.clone()) {
                        place.copy_from_slice(&word);
                    }
                });
                if changed {
                    break;
                }
            }
        }
    }

    /// Zeros in halves of an object, in their halves, and so on (delta debugging: Zeller, 2002): of a
    /// large object mostly a few fields matter.
    fn clear_parts(&mut self, id: ObjectId) {
        /// Bytes of the smallest part.
        const LEAST: usize = 16;
        let at = |i: &Input| i.objects.iter().position(|o| o.id == id);
        let Some(k) = at(&self.best.input) else { return };
        let length = self.best.input.objects[k].bytes.len();
        let mut size = length.div_ceil(2);
        while size >= LEAST && !self.is_spent() {
            for start in (0..length).step_by(size) {
                let Some(k) = at(&self.best.input) else { return };
                let part = start..(start + size).min(length);
                let o = &self.best.input.objects[k];
                let led = o.pointers.iter().any(|(at, _)| part.contains(&(*at as usize)));
                if !led && o.bytes.get(part.clone()).is_none_or(|b| b.iter().all(|b| *b == 0)) {
                    continue;
                }
                self.change(|i| {
                    let o = &mut i.objects[k];
                    o.pointers.retain(|(at, _)| !part.contains(&(*at as usize)));
                    o.bytes[part].fill(0);
                });
            }
            size = size.div_ceil(2);
        }
    }

    /// Fewer elements in an array.
    fn shorten(&mut self, id: ObjectId) {
        loop {
            let Some(o) = self.best.input.objects.iter().find(|o| o.id == id) else { return };
            let CType::Array(element, Some(n)) = o.ty.clone() else { return };
            let Some(size) = self.with.unit.size_of(&element).filter(|s| *s > 0) else { return };
            if matches!(o.storage, Storage::Global(_) | Storage::Argument) || n <= 1 {
                return;
            }
            let text = o.bytes.iter().position(|b| *b == 0).map_or(n, |end| end as u64 + 1);
            let lengths = [1, if is_char(&element) { text } else { n / 2 }, n / 2, n - 1];
            let shorter = lengths.into_iter().filter(|l| *l < n).any(|count| {
                self.change(|i| {
                    let Some(o) = i.objects.iter_mut().find(|o| o.id == id) else { return };
                    o.bytes.truncate((count * size) as usize);
                    o.pointers.retain(|(at, _)| *at < count * size);
                    o.undefined.truncate((count * size) as usize);
                    o.ty = CType::Array(element.clone(), Some(count));
                })
            });
            if !shorter {
                return;
            }
        }
    }

    /// Plainer bytes in a text.
    fn text(&mut self, id: ObjectId) {
        let Some(k) = self.best.input.objects.iter().position(|o| o.id == id) else { return };
        let end = |i: &Input| i.objects[k].bytes.iter().position(|b| *b == 0);
        let length = end(&self.best.input).unwrap_or(self.best.input.objects[k].bytes.len());
        self.change(|i| i.objects[k].bytes.iter_mut().skip(length).for_each(|b| *b = 0));
        self.change(|i| i.objects[k].bytes.iter_mut().take(length).for_each(|b| *b = b'a'));
        for at in 0..length.min(MAX_SCALARS) {
            if !self.change(|i| cut(&mut i.objects[k].bytes, at)) {
                self.change(|i| i.objects[k].bytes[at] = b'a');
            }
        }
    }

    fn stdin(&mut self) {
        let words = |i: &Input| -> Vec<String> {
            let text = String::from_utf8_lossy(&i.stdin).into_owned();
            text.split_whitespace().map(str::to_owned).collect()
        };
        let joined = |words: &[String]| (words.join(" ") + "\n").into_bytes();
        if self.best.input.stdin.is_empty() {
            return;
        }
        // What is read stays in number: a conversion that fails is another example.
        let read = self.best.new.read.values.len().max(self.best.old.read.values.len());
        let whole = words(&self.best.input);
        self.change(|i| i.stdin.clear());
        self.change(|i| i.stdin = joined(whole.get(..read).unwrap_or(&whole)));
        self.change(|i| i.stdin = joined(&whole));
        for k in 0..words(&self.best.input).len().min(MAX_SCALARS) {
            for simple in ["0", "1", "2", "-1", "0.5", "10"] {
                let mut now = words(&self.best.input);
                let Some(word) = now.get_mut(k).filter(|w| w.parse::<f64>().is_ok()) else { break };
                *word = simple.to_owned();
                if self.change(|i| i.stdin = joined(&now)) {
                    break;
                }
            }
        }
    }

    fn argv(&mut self) {
        while self.best.input.argv.len() > 1 && self.change(|i| _ = i.argv.pop()) {}
        for k in 0..self.best.input.argv.len() {
            self.change(|i| i.argv[k] = b"a".to_vec());
        }
    }

    /// Numbers objects in the order in which they are met.
    fn renumber(&mut self) {
        let mut input = self.best.input.clone();
        drop_unreached(&mut input);
        let order = reached(&input);
        let number = |id: ObjectId| {
            let k = order.iter().position(|o| *o == id).unwrap_or(order.len());
            ObjectId(k as u32 + 1)
        };
        let rename = |v: &mut Value| {
            if let Value::Pointer { object, .. } = v {
                *object = number(*object);
            }
        };
        input.arguments.iter_mut().for_each(rename);
        input.calls.iter_mut().for_each(|c| rename(&mut c.result));
        for o in &mut input.objects {
            o.id = number(o.id);
            o.pointers.iter_mut().for_each(|(_, v)| rename(v));
        }
        input.objects.sort_by_key(|o| o.id);
        if input != self.best.input {
            let complexity = self.complexity;
            self.take(input, complexity);
        }
    }
}

/// Removes a byte before the terminator; the object keeps its size.
fn cut(bytes: &mut Vec<u8>, at: usize) {
    if at < bytes.len() {
        bytes.remove(at);
        bytes.push(0);
    }
}

/// The objects that arguments, globals and results of calls lead to, in the order in which they are met.
fn reached(input: &Input) -> Vec<ObjectId> {
    let mut order: Vec<ObjectId> = Vec::new();
    let mut seen = BTreeSet::new();
    let target = |v: &Value| if let Value::Pointer { object, .. } = v { Some(*object) } else { None };
    let mut queue: Vec<ObjectId> = input.arguments.iter().filter_map(target).collect();
    let globals = input.objects.iter().filter(|o| matches!(o.storage, Storage::Global(_)));
    queue.extend(globals.map(|o| o.id));
    queue.extend(input.calls.iter().filter_map(|c| target(&c.result)));
    let mut next = 0;
    while let Some(&id) = queue.get(next) {
        next += 1;
        if seen.insert(id) {
            order.push(id);
            let found = input.objects.iter().find(|o| o.id == id);
            queue.extend(found.into_iter().flat_map(|o| &o.pointers).filter_map(|(_, v)| target(v)));
        }
    }
    order
}

fn drop_unreached(input: &mut Input) {
    let kept: BTreeSet<ObjectId> = reached(input).into_iter().collect();
    input.objects.retain(|o| kept.contains(&o.id));
}

/// Simpler values than this one, the simplest first.
fn simpler_values(v: &Value, unit: &Unit) -> Vec<Value> {
    let null = Value::Const(Const::bv(unit.data_model.pointer_bits(), 0));
    match v {
        Value::Const(c) => simple_numbers(*c).into_iter().map(Value::Const).collect(),
        Value::Pointer { object, offset } if *offset != 0 => {
            vec![null, Value::Pointer { object: *object, offset: 0 }]
        }
        _ => vec![null],
    }
}

fn simple_numbers(c: Const) -> Vec<Const> {
    match c {
        Const::F32(_) => [0.0, 1.0, -1.0, 0.5, 2.0, 10.0, 0.1].map(Const::f32).to_vec(),
        Const::F64(_) => [0.0, 1.0, -1.0, 0.5, 2.0, 10.0, 0.1].map(Const::f64).to_vec(),
        Const::F80(_) => [0.0, 1.0, -1.0, 0.5, 2.0, 10.0, 0.1]
            .into_iter()
            .filter_map(|v| Const::of_f64(Sort::F80, v))
            .collect(),
        Const::Bool(_) => Vec::new(),
        Const::Bv { width, .. } => {
            let v = c.signed().unwrap_or(0);
            [0, 1, -1, 2, 3, 5, 10, 100, v / 10, v / 2].map(|k| Const::bv(width, k)).to_vec()
        }
    }
}

/// Simpler contents of a scalar, the simplest first.
fn simple_words(ty: &CType, now: &[u8]) -> Vec<Vec<u8>> {
    let bytes = now.len();
    match ty {
        CType::Float(FloatKind::LongDouble) => {
            let words = [0, 1, -1].map(|v| Extended::from_signed(v).to_bits().to_le_bytes());
            words.iter().filter_map(|w| Some(w.get(..bytes)?.to_vec())).collect()
        }
        CType::Float(_) if bytes == 8 => [0.0f64, 1.0, -1.0].map(|v| v.to_le_bytes().to_vec()).to_vec(),
        CType::Float(_) if bytes == 4 => [0.0f32, 1.0, -1.0].map(|v| v.to_le_bytes().to_vec()).to_vec(),
        _ if bytes <= 16 => {
            let bits = now.iter().rev().fold(0i128, |bits, b| bits << 8 | i128::from(*b));
            let v = Const::bv(8 * bytes as u16, bits).signed().unwrap_or(0);
            let values = [0, 1, 2, -1, 3, 10, -10, v / 100, v / 10, v / 2];
            values.iter().filter_map(|v| Some(v.to_le_bytes().get(..bytes)?.to_vec())).collect()
        }
        _ => Vec::new(),
    }
}

/// The scalars of a type, by offset and size.
fn scalars_of(ty: &CType, at: u64, end: u64, unit: &Unit, found: &mut Vec<(u64, u64, CType)>) {
    const MAX: usize = 2048;
    if found.len() >= MAX || at >= end {
        return;
    }
    match ty {
        CType::Array(element, n) => {
            let Some(size) = unit.size_of(element).filter(|s| *s > 0) else { return };
            for i in 0..n.unwrap_or(0).min(MAX as u64) {
                scalars_of(element, at + i * size, end, unit, found);
            }
        }
        CType::Record(id) => {
            for f in unit.records.get(id.0 as usize).into_iter().flat_map(|r| &r.fields) {
                scalars_of(&f.ty, at + f.offset, end, unit, found);
            }
        }
        scalar => {
            if let Some(size) = unit.size_of(scalar).filter(|s| at + s <= end) {
                found.push((at, size, scalar.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
