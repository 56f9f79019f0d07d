//! Sets of versions, or of classes of versions with equal bodies.

use std::fmt;

/// Set of small indices, as bits. The empty set has no words; no set ends in a zero word, so that
/// equal sets are equal values.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct VersionSet(Vec<u64>);

impl VersionSet {
    pub fn new() -> VersionSet {
        VersionSet::default()
    }

    pub fn single(index: usize) -> VersionSet {
        let mut s = VersionSet::new();
        s.insert(index);
        s
    }

    /// Returns `{0, ..., n-1}`.
    pub fn all(n: usize) -> VersionSet {
        (0..n).collect()
    }

    pub fn insert(&mut self, index: usize) {
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    pub fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(i, &w)| (0..64).filter(move |b| w >> b & 1 == 1).map(move |b| i * 64 + b))
    }

    pub fn union(&self, other: &VersionSet) -> VersionSet {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut words = long.0.clone();
        for (w, o) in words.iter_mut().zip(&short.0) {
            *w |= o;
        }
        VersionSet(words)
    }

    pub fn intersection(&self, other: &VersionSet) -> VersionSet {
        VersionSet(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect()).trimmed()
    }

    pub fn difference(&self, other: &VersionSet) -> VersionSet {
        let words = self.0.iter().enumerate().map(|(i, w)| w & !other.0.get(i).copied().unwrap_or(0));
        VersionSet(words.collect()).trimmed()
    }

    pub fn is_subset(&self, other: &VersionSet) -> bool {
        self.difference(other).is_empty()
    }

    pub fn intersects(&self, other: &VersionSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn trimmed(mut self) -> VersionSet {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
}

impl FromIterator<usize> for VersionSet {
    fn from_iter<I: IntoIterator<Item = usize>>(iter: I) -> VersionSet {
        let mut s = VersionSet::new();
        iter.into_iter().for_each(|i| s.insert(i));
        s
    }
}

impl fmt::Debug for VersionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave() {
        let a: VersionSet = [1, 70].into_iter().collect();
        let b = VersionSet::single(70);
        assert_eq!(a.intersection(&b), b);
        assert_eq!(a.difference(&b), VersionSet::single(1));
        assert_eq!(a.difference(&a), VersionSet::new());
        assert_eq!(b.union(&VersionSet::single(1)), a);
        assert!(b.is_subset(&a) && !a.is_subset(&b) && a.intersects(&b));
        assert_eq!((a.len(), a.first()), (2, Some(1)));
    }
}
