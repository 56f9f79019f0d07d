//! Changes of an input's shape at random: bytes of texts, sizes of objects, numbers that count them, and
//! where pointers lead.

use super::objects::{self, MAX_OBJECT, Slot};
use super::random::SplitMix;
use super::{Generator, StdinPlan};
use crate::coverage::Origin;
use crate::input::{Input, ObjectInit, Storage, Value};
use crate::ir::{CType, Const, Unit};
use std::sync::Arc;

/// Longest standard input that bytes are added to.
const MAX_STDIN: usize = 4096;

/// Makes one change.
pub(super) fn change(input: &mut Input, generator: &Generator, rng: &mut SplitMix) {
    if !input.stdin.is_empty() && (input.objects.is_empty() || rng.chance(50)) {
        edit(&mut input.stdin, generator, rng);
        input.stdin.truncate(MAX_STDIN);
        // What is asked for behind its end is made up again.
        if rng.chance(50) {
            input.stdin_plan = Some(StdinPlan::new(rng.next(), generator.pool.clone()));
        }
        return;
    }
    match rng.below(4) {
        0 => count_bytes(input, generator, rng),
        1 => point(input, generator, rng),
        _ => {
            let mut texts: Vec<&mut ObjectInit> = input.objects.iter_mut().filter(|o| is_text(o)).collect();
            let at = rng.below(texts.len() as u64) as usize;
            if let Some(o) = texts.get_mut(at) {
                let mut bytes = std::mem::take(&mut o.bytes);
                edit(&mut bytes, generator, rng);
                bytes.truncate(MAX_OBJECT as usize);
                set_bytes(o, bytes);
            }
        }
    }
}

/// Whether an object is a row of characters whose length may be another.
fn is_text(o: &ObjectInit) -> bool {
    let is_char = |ty: &CType| matches!(ty, CType::Int { bits: 8, .. });
    o.storage == Storage::Heap && o.pointers.is_empty() && matches!(&o.ty, CType::Array(of, _) if is_char(of))
}

fn set_bytes(o: &mut ObjectInit, bytes: Vec<u8>) {
    if let CType::Array(of, _) = &o.ty {
        o.ty = CType::Array(of.clone(), Some(bytes.len() as u64));
    }
    o.undefined.clear();
    o.bytes = bytes;
}

/// Inserts, takes out, puts or repeats bytes; what ends in zeros goes on to.
fn edit(bytes: &mut Vec<u8>, generator: &Generator, rng: &mut SplitMix) {
    let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    let at = rng.below(used as u64 + 1) as usize;
    match rng.below(6) {
        0 | 1 => {
            if let Some(b) = bytes.get_mut(at) {
                *b = generator.pool.byte(rng);
            }
        }
        2 => bytes.insert(at.min(bytes.len()), generator.pool.byte(rng)),
        3 => {
            if at < used {
                bytes.remove(at);
            }
        }
        4 => {
            let text = generator.pool.text(rng);
            bytes.splice(at..at, text);
        }
        _ => {
            let end = at + rng.below((used - at.min(used)) as u64 + 1) as usize;
            let part = bytes.get(at..end).unwrap_or(&[]).to_vec();
            bytes.splice(at..at, part);
        }
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

/// Sets a number to the length of an object or of a text.
fn count_bytes(input: &mut Input, generator: &Generator, rng: &mut SplitMix) {
    let Some(o) = rng.pick(&input.objects) else { return };
    let length = match rng.chance(50) {
        true => o.bytes.len(),
        false => o.bytes.iter().position(|b| *b == 0).unwrap_or(o.bytes.len()),
    };
    let n = length as i128 + if rng.chance(30) { rng.range(-1, 1) } else { 0 };
    let numbers = |ty: &CType| matches!(ty, CType::Int { bits, .. } if *bits >= 16);
    let arguments = generator.params.iter().enumerate().filter(|(_, ty)| numbers(ty)).map(|(i, _)| i);
    let arguments: Vec<usize> = arguments.collect();
    let fields: Vec<(usize, Slot)> = input
        .objects
        .iter()
        .enumerate()
        .flat_map(|(i, o)| objects::slots(&generator.unit, o).into_iter().map(move |s| (i, s)))
        .filter(|(_, s)| numbers(&s.ty))
        .collect();
    let pick = rng.below((arguments.len() + fields.len()) as u64) as usize;
    if let Some(argument) = arguments.get(pick).and_then(|i| input.arguments.get_mut(*i)) {
        if let Value::Const(c) = argument {
            *argument = Value::Const(Const::bv(c.sort().bits().unwrap_or(32), n));
        }
    } else if let Some((i, slot)) = fields.get(pick.saturating_sub(arguments.len()))
        && let (Some(o), CType::Int { bits, .. }) = (input.objects.get_mut(*i), &slot.ty)
    {
        put(o, slot.offset, u64::from(*bits / 8), Value::Const(Const::bv(*bits, n)));
    }
}

/// Makes a pointer null, or lead to another object.
fn point(input: &mut Input, generator: &Generator, rng: &mut SplitMix) {
    let pointers: Vec<(usize, Slot)> = input
        .objects
        .iter()
        .enumerate()
        .flat_map(|(i, o)| objects::slots(&generator.unit, o).into_iter().map(move |s| (i, s)))
        .filter(|(_, s)| s.ty.is_pointer())
        .collect();
    let arguments = generator.params.iter().enumerate().filter(|(_, ty)| ty.is_pointer());
    let arguments: Vec<(usize, CType)> = arguments.map(|(i, ty)| (i, ty.clone())).collect();
    let pick = rng.below((arguments.len() + pointers.len()) as u64) as usize;
    let ty = arguments.get(pick).map(|(_, ty)| ty);
    let slot = pointers.get(pick.wrapping_sub(arguments.len()));
    let Some(ty) = ty.or_else(|| slot.map(|(_, s)| &s.ty)) else { return };
    let bits = generator.unit.data_model.pointer_bits();
    let value = match rng.chance(20) {
        true => Some(Value::Const(Const::bv(bits, 0))),
        false => objects::another(input, &generator.unit, &generator.pool, ty, rng),
    };
    let Some(value) = value else { return };
    match (arguments.get(pick), slot) {
        (Some((i, _)), _) => {
            if let Some(argument) = input.arguments.get_mut(*i) {
                *argument = value;
            }
        }
        (None, Some((i, slot))) => {
            if let Some(o) = input.objects.get_mut(*i) {
                put(o, slot.offset, u64::from(bits / 8), value);
            }
        }
        (None, None) => {}
    }
}

/// The type of the pointer at a place; `None` where no pointer is.
pub(super) fn pointer_at(input: &Input, generator: &Generator, origin: &Origin) -> Option<CType> {
    match origin {
        Origin::Argument { index, .. } => generator.params.get(*index).filter(|ty| ty.is_pointer()).cloned(),
        Origin::Object { object, offset, .. } => {
            let o = input.objects.iter().find(|o| o.id == *object)?;
            let slots = objects::slots(&generator.unit, o);
            match slots.into_iter().find(|s| s.offset == *offset) {
                Some(slot) => Some(slot.ty).filter(CType::is_pointer),
                // Of an object that nobody declares anything may be there.
                None => Some(CType::Pointer(Arc::new(CType::Void))),
            }
        }
        Origin::Call { callee, .. } => result_type(generator, callee).filter(CType::is_pointer),
    }
}

/// What a function that nobody defines is declared to return.
pub(super) fn result_type(generator: &Generator, callee: &str) -> Option<CType> {
    generator.unit.prototypes.iter().find(|p| *p.name == *callee).map(|p| p.ret.clone())
}

/// Writes a value over so many bytes of an object.
pub(super) fn put(o: &mut ObjectInit, offset: u64, bytes: u64, value: Value) {
    let end = offset.saturating_add(bytes);
    let Some(place) = o.bytes.get_mut(offset as usize..end as usize) else { return };
    let number = if let Value::Const(c) = &value { c.to_bits() } else { 0 };
    for (byte, from) in place.iter_mut().zip(number.to_le_bytes()) {
        *byte = from;
    }
    if let Some(flags) = o.undefined.get_mut(offset as usize..end as usize) {
        flags.fill(false);
    }
    o.pointers.retain(|(at, _)| *at + 8 <= offset || *at >= end);
    if !matches!(value, Value::Const(_)) {
        o.pointers.push((offset, value));
        o.pointers.sort_by_key(|(at, _)| *at);
    }
}

/// Puts a text to a place, over the text that is there; a row of characters grows for it.
pub(super) fn put_text(o: &mut ObjectInit, offset: usize, text: &[u8]) {
    if offset > o.bytes.len() || !o.pointers.is_empty() {
        return;
    }
    if is_text(o) {
        let rest = o.bytes.get(offset..).unwrap_or(&[]);
        let end = offset + rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
        let mut bytes = std::mem::take(&mut o.bytes);
        // One byte is looked for: it comes to stand among the others.
        let end = if text.len() == 1 { offset } else { end };
        bytes.splice(offset..end, text.iter().copied());
        bytes.truncate(MAX_OBJECT as usize);
        set_bytes(o, bytes);
    } else if let Some(place) = o.bytes.get_mut(offset..) {
        let fits = text.len().min(place.len().saturating_sub(1));
        place[..fits].copy_from_slice(&text[..fits]);
        if let Some(end) = place.get_mut(fits) {
            *end = 0;
        }
    }
}

/// Makes an object of several elements, or of nobody knows what, larger.
pub(super) fn resize(o: &mut ObjectInit, unit: &Unit, size: usize) {
    if o.storage != Storage::Heap || size as u64 > MAX_OBJECT {
        return;
    }
    let (element, count) = match &o.ty {
        CType::Void => {
            o.bytes.resize(size, 0);
            return;
        }
        CType::Array(of, _) => ((**of).clone(), size as u64),
        other => (other.clone(), size as u64),
    };
    let Some(width) = unit.size_of(&element).filter(|w| *w > 0) else { return };
    let count = count.div_ceil(width);
    o.bytes.resize((count * width).min(MAX_OBJECT) as usize, 0);
    if !o.undefined.is_empty() {
        o.undefined.resize(o.bytes.len(), false);
    }
    o.ty = CType::Array(Arc::new(element), Some(o.bytes.len() as u64 / width));
}
