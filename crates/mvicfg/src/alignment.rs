//! Alignment of two sequences: which elements of the newer one stand in the place of which of the older one.
//!
//! The algorithms are those of the crate `similar` (Myers 1986; patience; longest common subsequence). They see numbers
//! in place of elements, equal where the elements are: so they are compiled once, and compare in one instruction.

use rustc_hash::FxHashMap;
use std::hash::Hash;

pub use similar::{Algorithm, DiffOp, DiffTag, group_diff_ops};

/// The steps from one sequence to the other, in order. Costs what the algorithm does, and a look-up an element.
pub fn aligned<T: Eq + Hash>(algorithm: Algorithm, old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut numbers: FxHashMap<&T, u32> = FxHashMap::default();
    let mut number = |element| {
        let next = numbers.len() as u32;
        *numbers.entry(element).or_insert(next)
    };
    let old: Vec<u32> = old.iter().map(&mut number).collect();
    let new: Vec<u32> = new.iter().map(&mut number).collect();
    similar::capture_diff_slices(algorithm, &old, &new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_give_the_steps_that_the_elements_give() {
        let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        let pairs =
            [("a b c d", "a x c"), ("a a b a", "b a a"), ("x", "y z"), ("f g f h", "h f g f"), ("a", "a")];
        for algorithm in [Algorithm::Myers, Algorithm::Patience, Algorithm::Lcs] {
            for (old, new) in pairs.map(|(old, new)| (words(old), words(new))) {
                assert_eq!(
                    aligned(algorithm, &old, &new),
                    similar::capture_diff_slices(algorithm, &old, &new)
                );
            }
        }
    }
}
