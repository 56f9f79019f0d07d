//! The generator's pseudo-random numbers: splitmix64, so that equal seeds give equal inputs on
//! every machine and no state is shared.
//!
//! Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).

/// Advances and scrambles one 64-bit state.
fn splitmix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    /// Returns the stream of a seed and a position; streams of different positions are unrelated.
    pub fn at(seed: u64, position: u64) -> SplitMix {
        SplitMix(splitmix(seed ^ splitmix(position)))
    }

    pub fn next(&mut self) -> u64 {
        let out = splitmix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        out
    }

    /// Returns a number below `n`, 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.next() % n }
    }

    /// Returns a number of a closed range.
    pub fn range(&mut self, low: i128, high: i128) -> i128 {
        let width = (high - low + 1).clamp(1, i64::MAX as i128);
        low + self.below(width as u64) as i128
    }

    /// Returns true in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}
