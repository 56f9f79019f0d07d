//! Seeded random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). The same on every machine.

/// A generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for 0. The bias of the remainder is below 2^-64 for ranges of machine words.
    pub fn below(&mut self, n: u128) -> u128 {
        let wide = (u128::from(self.next()) << 64) | u128::from(self.next());
        if n == 0 { 0 } else { wide % n }
    }

    /// A number of a range, ends included.
    pub fn within(&mut self, (low, high): (i128, i128)) -> i128 {
        low + self.below((high - low + 1) as u128) as i128
    }
}
