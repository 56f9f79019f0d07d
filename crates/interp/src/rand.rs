//! glibc's default pseudo-random generator (TYPE_3: an additive feedback over 31 words), which
//! `rand` and `random` share. Until `srand` is called the seed is 1.

const LONG_LAG: usize = 31;
const SHORT_LAG: usize = 3;
/// Outputs that seeding throws away.
const DISCARDED: usize = 310;

/// State of the generator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Random {
    /// The last 31 words, oldest first from `at`; empty before first use.
    words: Vec<u32>,
    at: usize,
}

impl Random {
    /// Starts from a seed.
    pub fn seed(&mut self, seed: u32) {
        let mut word = if seed == 0 { 1 } else { seed } as i32;
        self.words.clear();
        // The first three words are taken as if they had just been made.
        self.at = SHORT_LAG;
        for _ in 0..LONG_LAG {
            self.words.push(word as u32);
            // 16807 * word modulo 2^31 - 1, by Schrage's division so that nothing overflows.
            let (high, low) = (word / 127_773, word % 127_773);
            word = low.wrapping_mul(16_807).wrapping_sub(high.wrapping_mul(2_836));
            if word < 0 {
                word = word.wrapping_add(i32::MAX);
            }
        }
        for _ in 0..DISCARDED {
            self.advance();
        }
    }

    fn advance(&mut self) -> u32 {
        let word = |back: usize| self.words.get((self.at + LONG_LAG - back) % LONG_LAG).copied().unwrap_or(0);
        let next = word(LONG_LAG).wrapping_add(word(SHORT_LAG));
        if let Some(place) = self.words.get_mut(self.at) {
            *place = next;
        }
        self.at = (self.at + 1) % LONG_LAG;
        next
    }

    /// Returns the next number, 0 to 2^31 - 1.
    pub fn next(&mut self) -> u32 {
        if self.words.is_empty() {
            self.seed(1);
        }
        self.advance() >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_glibcs() {
        let mut r = Random::default();
        assert_eq!([r.next(), r.next(), r.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
        r.seed(42);
        assert_eq!([r.next(), r.next(), r.next()], [71_876_166, 708_592_740, 1_483_128_881]);
    }
}
