//! Concrete inputs for the evaluation of terms.
//!
//! An [`Assignment`] fixes the values of leaves and of applications of uninterpreted functions, and
//! bytes of the memory at entry. Whatever it leaves out is *filled*: with zero, or with values that a
//! hash of the seed and of the quantity's own structure picks, so that equal quantities get equal
//! values whatever order they are met in, and the same seed gives the same inputs on every machine.

use super::super::{Leaf, Term, TermId, TermPool};
use crate::{Const, Sort};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Values that a filled quantity may take besides the boundary values: the constants of the code
/// under test and their neighbours.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    integers: Vec<u128>,
    floats: Vec<f64>,
}

impl Palette {
    /// Returns the palette of the constants that occur in these terms, each with its two
    /// neighbours.
    pub fn of_terms(pool: &TermPool, terms: &[TermId]) -> Palette {
        let (mut integers, mut floats) = (Vec::new(), Vec::new());
        for &t in terms {
            let Term::Const(c) = pool.get(t) else { continue };
            match *c {
                Const::Bv { .. } => {
                    let v = c.signed().unwrap_or(0);
                    integers.extend([v.wrapping_sub(1), v, v.wrapping_add(1)].map(|v| v as u128));
                    floats.push(v as f64);
                }
                Const::F32(_) | Const::F64(_) => {
                    let v = c.float().unwrap_or(0.0);
                    floats.extend([v, v - 1.0, v + 1.0, -v]);
                    if v.abs() < 1e18 {
                        integers.push(v as i64 as i128 as u128);
                    }
                }
                Const::F80(x) => floats.push(x.to_f64()),
                Const::Bool(_) => {}
            }
        }
        integers.sort_unstable();
        integers.dedup();
        floats.sort_unstable_by(f64::total_cmp);
        floats.dedup_by(|a, b| a.to_bits() == b.to_bits());
        Palette { integers, floats }
    }

    /// Returns the value of a sort that a seed picks; `None` for what is not a number.
    pub fn pick(&self, sort: Sort, seed: u64) -> Option<Const> {
        pick(sort, mix(u128::from(seed)), self)
    }
}

/// What quantities without a value of their own get.
#[derive(Clone, Debug, Default)]
pub enum Fill {
    #[default]
    Zero,
    Varied {
        seed: u64,
        palette: Arc<Palette>,
    },
}

/// One concrete input of a function, as far as its terms need it.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    values: BTreeMap<TermId, Const>,
    /// Bytes by root (see [`super::Run::open_bytes`]) and address.
    bytes: FxHashMap<(u128, u64), u8>,
    fill: Fill,
}

impl Assignment {
    /// Returns the assignment that fills everything with zero.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// Returns the assignment that fills everything by `fill`.
    pub fn filled(fill: Fill) -> Assignment {
        Assignment { fill, ..Assignment::default() }
    }

    /// The same, with everything else filled by `fill`.
    pub fn refilled(mut self, fill: Fill) -> Assignment {
        self.fill = fill;
        self
    }

    /// Fixes the value of a leaf or of an application of an uninterpreted function. When two
    /// applications turn out to have equal arguments, the value of the term with the smaller id is
    /// taken for both.
    pub fn set(&mut self, term: TermId, value: Const) {
        self.values.insert(term, value);
    }

    /// Fixes one byte of the memory at entry.
    pub fn set_byte(&mut self, address: u64, byte: u8) {
        self.bytes.insert((ENTRY_MEMORY, address), byte);
    }

    /// Fixes one byte of a memory that is not computed, by its root's fingerprint.
    pub fn set_byte_of(&mut self, root: u128, address: u64, byte: u8) {
        self.bytes.insert((root, address), byte);
    }

    /// Returns the value that was fixed for this leaf or application.
    pub fn get(&self, term: TermId) -> Option<Const> {
        self.values.get(&term).copied()
    }

    /// Returns every fixed value, in order of ids.
    pub fn values(&self) -> impl Iterator<Item = (TermId, Const)> + '_ {
        self.values.iter().map(|(t, c)| (*t, *c))
    }

    /// Returns the fixed bytes of the memory at entry, by address.
    pub fn memory(&self) -> impl Iterator<Item = (u64, u8)> + use<> {
        let at_entry = self.bytes.iter().filter(|((root, _), _)| *root == ENTRY_MEMORY);
        let mut bytes: Vec<(u64, u8)> = at_entry.map(|(&(_, a), &b)| (a, b)).collect();
        bytes.sort_unstable();
        bytes.into_iter()
    }

    /// Returns the fixed bytes of all memories that are not computed, by root and address.
    pub fn bytes(&self) -> Vec<((u128, u64), u8)> {
        let mut bytes: Vec<((u128, u64), u8)> = self.bytes.iter().map(|(at, b)| (*at, *b)).collect();
        bytes.sort_unstable();
        bytes
    }

    pub(super) fn has_byte(&self, root: u128, address: u64) -> bool {
        self.bytes.contains_key(&(root, address))
    }

    pub(super) fn byte(&self, root: u128, address: u64) -> u8 {
        if let Some(b) = self.bytes.get(&(root, address)) {
            return *b;
        }
        match &self.fill {
            Fill::Zero => 0,
            // Mostly small bytes, so that strings end and words stay small now and then.
            Fill::Varied { seed, .. } => {
                let h = mix(fingerprint(&(*seed, root, address)));
                if h & 3 == 0 { (h >> 8) as u8 } else { [0, 1, b'a', b'0', 0xff, 2][(h >> 8) as usize % 6] }
            }
        }
    }

    /// Returns the value of a leaf of a value sort.
    pub(super) fn leaf(&self, id: TermId, leaf: &Leaf, sort: Sort) -> Option<Const> {
        if let Some(c) = self.get(id) {
            return Some(c);
        }
        match leaf {
            // Objects lie far apart and are not null, whatever the fill.
            Leaf::LocalAddr { bits, .. } | Leaf::SymbolAddr { bits, .. } => {
                let spacing = if *bits >= 48 { 1i128 << 32 } else { 1 << 12 };
                Some(Const::bv(*bits, 0x1000_0000 + id.0 as i128 * spacing))
            }
            _ => self.fill_value(sort, fingerprint(leaf)),
        }
    }

    /// Returns a value for the quantity with this fingerprint.
    pub(super) fn fill_value(&self, sort: Sort, key: u128) -> Option<Const> {
        match &self.fill {
            Fill::Zero => Const::zero(sort),
            Fill::Varied { seed, palette } => {
                // Under most seeds a few values are shared by all quantities of a sort, because
                // many differences show only where two quantities are equal.
                let h = mix(fingerprint(&(*seed, key)));
                let h = match seed % 3 {
                    0 => h,
                    1 => mix(fingerprint(&(*seed, h % 2))),
                    _ => mix(fingerprint(&(*seed, h % 4))),
                };
                pick(sort, h, palette)
            }
        }
    }

    /// Returns whether a conversion of standard input succeeds, and whether the input ends before
    /// it: never both. Mostly it succeeds, under half of the seeds always, because programs do
    /// little after the first conversion that fails.
    pub(super) fn fill_conversion(&self, key: u128) -> (bool, bool) {
        let Fill::Varied { seed, .. } = &self.fill else { return (false, false) };
        let h = mix(fingerprint(&(*seed, key)));
        let succeeds = mix(u128::from(*seed)) & 1 == 0 || h & 3 != 0;
        (succeeds, !succeeds && h & 4 != 0)
    }
}

/// Fingerprint of the root of the memory at entry.
pub(super) const ENTRY_MEMORY: u128 = 0;

const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    10.0,
    0.1,
    -7.25,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f32::MAX as f64,
    f64::MAX,
    f32::MIN_POSITIVE as f64,
    f64::MIN_POSITIVE,
    1e-45,
    5e-324,
    16777217.0,
    2147483648.0,
    9007199254740993.0,
];

/// Picks a value of `sort` by the bits of `h`: half of the picks are boundary values or constants
/// of the code, a quarter small, a quarter uniform over the bits.
fn pick(sort: Sort, h: u64, palette: &Palette) -> Option<Const> {
    let class = h & 7;
    let index = ((h >> 3) & 0xffff_ffff) as usize;
    let wide = (mix(h as u128) as u128) << 64 | mix(!(h as u128)) as u128;
    Some(match sort {
        Sort::Bool => Const::Bool(index & 1 == 1),
        Sort::Bv(width) => {
            let min = 1u128 << (width - 1).min(127);
            let edges = [0, 1, u128::MAX, min, min - 1, 2, min + 1, u128::MAX - 1];
            let bits = match class {
                0 | 1 if !palette.integers.is_empty() => palette.integers[index % palette.integers.len()],
                0..=3 => edges[index % edges.len()],
                4 | 5 => ((index % 41) as i128 - 20) as u128,
                _ => wide,
            };
            Const::Bv { width, bits: bits & Const::mask(width) }
        }
        Sort::F32 | Sort::F64 | Sort::F80 => {
            let bits = match class {
                0 | 1 if !palette.floats.is_empty() => {
                    return Some(float(sort, palette.floats[index % palette.floats.len()]));
                }
                0..=2 => return Some(float(sort, FLOATS[index % FLOATS.len()])),
                3..=5 => return Some(float(sort, ((index % 401) as f64 - 200.0) / 8.0)),
                6 => return Some(float(sort, (index as f64 / 65536.0 - 32768.0) * 1.1)),
                _ => wide,
            };
            Const::from_bits(sort, bits)?
        }
        _ => return None,
    })
}

fn float(sort: Sort, v: f64) -> Const {
    Const::of_f64(sort, v).unwrap_or(Const::f64(v))
}

/// Structural hash that is the same in every run and on every machine of one word size: the
/// standard library's default hasher promises neither.
pub(super) fn fingerprint(value: &impl Hash) -> u128 {
    let mut h = Fnv(0x6c62272e07bb014262b821756295c58d);
    value.hash(&mut h);
    h.0
}

/// FNV-1a over 128 bits (Fowler, Noll, Vo).
struct Fnv(u128);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ b as u128).wrapping_mul(0x0000000001000000000000000000013b);
        }
    }

    fn finish(&self) -> u64 {
        self.0 as u64
    }
}

/// Spreads a hash over 64 bits (the finaliser of splitmix64), because the low bits of FNV are weak.
fn mix(h: u128) -> u64 {
    let mut z = (h as u64 ^ (h >> 64) as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
