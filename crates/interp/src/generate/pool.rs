//! Interesting values: those that every type has, and the constants of the code under test.
//!
//! Branches compare with constants and values with each other, so constants and their neighbours
//! are drawn often, and a value that was drawn before is drawn again.

use super::random::SplitMix;
use crate::ids::DefinitionId;
use crate::ir::{CType, Callee, Const, Expr, Extended, FloatKind, Instr, Object, Sort, retyped};
use crate::program::{Program, Slot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// Functions whose constants are looked at.
const MAX_FUNCTIONS: usize = 200;
/// Constants kept of each kind.
const MAX_CONSTANTS: usize = 96;
/// Longest string literal that is kept, in bytes.
const MAX_STRING: usize = 40;

const FLOATS: [f64; 24] = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1.5, 2.5, -2.5, 0.1, 1e-7, -1e-7, 0.25, 3.0, 10.0, 100.0, -3.0,
    1e6, 1e10, 1e-30, 3.4e38, -1e10, 1e-40,
];

/// Constants of the code that a function reaches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pool {
    pub integers: Vec<i128>,
    /// Those that decide whether what differs from another version is reached, the nearest first.
    pub near: Vec<i128>,
    pub floats: Vec<f64>,
    pub strings: Vec<Vec<u8>>,
    /// Globals that the code refers to, by unit and symbol.
    pub globals: BTreeSet<(usize, Arc<str>)>,
    /// Functions that nobody defines and that return pointers, with these types, and how many calls of each
    /// the code has.
    pub callees: BTreeMap<Arc<str>, (CType, u32)>,
    /// Functions of the unit by the text of their type, once one was asked for.
    pub functions: OnceLock<BTreeMap<String, Vec<Arc<str>>>>,
}

impl Pool {
    /// Collects the constants of a function and of what it calls. Cost: one pass over their code.
    pub fn collect(program: &Program, entry: &str) -> Pool {
        let mut integers: BTreeMap<i128, ()> = BTreeMap::new();
        let mut floats: BTreeSet<u64> = BTreeSet::new();
        let mut pool = Pool::default();
        let mut strings = BTreeSet::new();
        let mut queue: Vec<DefinitionId> = program.definition_by_name(entry).into_iter().collect();
        let own = queue.first().and_then(|id| program.unit(program.definition(*id)?.unit));
        let mut next = 0;
        while let Some(&id) = queue.get(next) {
            next += 1;
            let (Some(f), Some(d)) = (program.function_of(id), program.definition(id)) else { continue };
            for node in &f.nodes {
                let Instr::Call { callee: Callee::Direct(name), ret, .. } = &node.instr else { continue };
                match program.definition_from(d.unit, name) {
                    Some(callee) if !queue.contains(&callee) && queue.len() < MAX_FUNCTIONS => {
                        queue.push(callee);
                    }
                    None if ret.is_pointer() && !crate::is_library(name) => {
                        // Inputs are made in the words of the entry's unit.
                        let ty = match (program.unit(d.unit), own) {
                            (Some(unit), Some(own)) => retyped(ret, unit, own),
                            _ => continue,
                        };
                        pool.callees.entry(name.clone()).or_insert((ty, 0)).1 += 1;
                    }
                    _ => {}
                }
            }
            f.nodes.iter().for_each(|n| {
                n.instr.for_each_expr(&mut |e| match e {
                    Expr::Const(c @ Const::Bv { .. }) if integers.len() < MAX_CONSTANTS => {
                        integers.extend(c.signed().map(|v| (v, ())));
                    }
                    Expr::Const(c) if floats.len() < MAX_CONSTANTS => {
                        floats.extend(c.nearest_f64().map(f64::to_bits));
                    }
                    Expr::Addr(Object::Global(symbol)) => {
                        pool.globals.insert((d.unit, symbol.clone()));
                    }
                    _ => {}
                })
            });
        }
        for (unit, symbol) in &pool.globals {
            let Some(slot) = program.slot_from(*unit, symbol) else { continue };
            let short = |s: &Slot| s.hidden && s.size <= MAX_STRING as u64;
            if program.slots().get(slot).is_some_and(short) && strings.len() < MAX_CONSTANTS {
                let image = program.image(slot);
                strings.insert(image.split(|b| *b == 0).next().unwrap_or(&[]).to_vec());
            }
        }
        pool.integers = integers.into_keys().collect();
        pool.floats = floats.into_iter().map(f64::from_bits).collect();
        pool.strings = strings.into_iter().collect();
        pool
    }

    /// Draws an integer for a type of `bits` bits; `earlier` are values that were drawn before.
    pub fn integer(&self, rng: &mut SplitMix, bits: u16, signed: bool, earlier: &[i128]) -> i128 {
        // One of several thousand cases is not met by chance.
        if !self.near.is_empty() && rng.chance(20) {
            let value =
                rng.pick(&self.near).map_or(0, |v| v + if rng.chance(25) { rng.range(-1, 1) } else { 0 });
            return read_as(value, bits, signed);
        }
        let value = match rng.below(100) {
            0..34 => rng.range(if signed { -3 } else { 0 }, 10),
            34..58 => match rng.pick(&self.integers) {
                Some(v) => v + rng.range(-1, 1),
                None => rng.range(-20, 20),
            },
            58..68 => boundary(rng, bits),
            68..80 => match rng.pick(earlier) {
                Some(v) => v + if rng.chance(25) { rng.range(-1, 1) } else { 0 },
                None => rng.range(0, 5),
            },
            80..93 => rng.range(-1000, 1000),
            93..96 => match rng.pick(&self.floats) {
                Some(v) if v.abs() < 1e15 => *v as i128,
                _ => rng.range(0, 100),
            },
            _ => rng.next() as i64 as i128,
        };
        read_as(value, bits, signed)
    }

    /// Draws a floating value.
    pub fn float(&self, rng: &mut SplitMix, earlier: &[f64]) -> f64 {
        match rng.below(100) {
            0..35 => rng.range(-6, 12) as f64,
            35..50 => rng.pick(&FLOATS).copied().unwrap_or(0.0),
            50..62 => rng.pick(&self.floats).map_or(0.5, |v| v + 0.5 * rng.range(-2, 2) as f64),
            62..70 => rng.pick(&self.integers).map_or(0.0, |v| (*v + rng.range(-1, 1)) as f64),
            70..84 => match rng.pick(earlier) {
                Some(v) if rng.chance(70) => *v,
                Some(v) => -v,
                None => 1.0,
            },
            84..93 => rng.range(-400, 400) as f64 / 4.0,
            93..97 => rng.range(-100_000, 100_000) as f64 / 1000.0,
            // Any finite value.
            _ => Some(f64::from_bits(rng.next())).filter(|v| v.is_finite()).unwrap_or(7.0),
        }
    }

    /// Draws a byte, mostly a printable one.
    pub fn byte(&self, rng: &mut SplitMix) -> u8 {
        match rng.below(10) {
            0..3 => b'a' + rng.below(26) as u8,
            3 => b'A' + rng.below(26) as u8,
            4..6 => b'0' + rng.below(10) as u8,
            6 => *rng.pick(b" .,-_+*/()[]{}\"'\\!?:;<>@#%&=~^|").unwrap_or(&b' '),
            7..9 => match rng.pick(&self.strings).and_then(|s| rng.pick(s)) {
                Some(b) => *b,
                None => b'z',
            },
            _ => match rng.pick(&self.integers) {
                Some(v) if (33..127).contains(v) => *v as u8,
                _ => b'A' + rng.below(58) as u8,
            },
        }
    }

    /// Draws a short text: a literal of the code, a variation of one, a number, or letters.
    pub fn text(&self, rng: &mut SplitMix) -> Vec<u8> {
        match rng.below(10) {
            0..2 => rng.pick(&self.strings).cloned().unwrap_or_default(),
            2 => {
                let mut text = rng.pick(&self.strings).cloned().unwrap_or_default();
                let at = rng.below(text.len() as u64 + 1) as usize;
                text.insert(at.min(text.len()), self.byte(rng));
                text
            }
            3..5 => self.integer(rng, 32, true, &[]).to_string().into_bytes(),
            5 => Vec::new(),
            6 => vec![self.byte(rng); rng.below(5) as usize],
            _ => (0..rng.below(8)).map(|_| self.byte(rng)).collect(),
        }
    }

    /// Draws a scalar of a type; `None` for aggregates and what is not modelled.
    pub fn scalar(&self, rng: &mut SplitMix, ty: &CType, earlier: &mut Earlier) -> Option<Const> {
        match ty {
            CType::Bool => Some(Const::bv(8, rng.below(2) as i128)),
            CType::Int { bits: 8, .. } if rng.chance(60) => Some(Const::bv(8, self.byte(rng) as i128)),
            CType::Int { bits, signed, .. } => {
                let v = self.integer(rng, *bits, *signed, &earlier.integers);
                earlier.integers.push(v);
                earlier.floats.push(v as f64);
                Some(Const::bv(*bits, v))
            }
            CType::Float(kind) => {
                let v = if rng.chance(2) {
                    [f64::INFINITY, f64::NEG_INFINITY, f64::NAN][rng.below(3) as usize]
                } else {
                    self.float(rng, &earlier.floats)
                };
                earlier.floats.push(v);
                match kind {
                    FloatKind::F32 => Some(Const::f32(v as f32)),
                    FloatKind::F64 => Some(Const::f64(v)),
                    // Also numbers that `double` does not have.
                    FloatKind::LongDouble if rng.chance(20) => {
                        Const::from_bits(Sort::F80, Extended::from_f64(v).to_bits() ^ 1)
                    }
                    FloatKind::LongDouble => Const::of_f64(Sort::F80, v),
                }
            }
            _ => None,
        }
    }
}

/// A number as a type of so many bits has it.
fn read_as(value: i128, bits: u16, signed: bool) -> i128 {
    let c = Const::bv(bits, value);
    let read = if signed { c.signed() } else { c.unsigned().map(|u| u as i128) };
    read.unwrap_or(0)
}

/// Values that the input at hand already has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Earlier {
    pub integers: Vec<i128>,
    pub floats: Vec<f64>,
}

fn boundary(rng: &mut SplitMix, bits: u16) -> i128 {
    let sign = 1i128 << (bits.min(120) - 1);
    let all = [
        0,
        1,
        -1,
        sign - 1,
        -sign,
        sign,
        2 * sign - 1,
        sign - 2,
        -sign + 1,
        127,
        128,
        255,
        256,
        32767,
        65535,
    ];
    rng.pick(&all).copied().unwrap_or(0)
}
