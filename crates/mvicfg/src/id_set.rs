//! Sets of classes, of variables and of other ids.

use crate::ids::{ClassId, Id};
use crate::ir::VarId;
use std::fmt;
use std::marker::PhantomData;

pub type ClassSet = IdSet<ClassId>;
pub type VarSet = IdSet<VarId>;

/// Set of ids, as bits. The empty set has no words; no set ends in a zero word, so that equal sets
/// are equal values.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdSet<I>(Vec<u64>, PhantomData<I>);

impl<I> Default for IdSet<I> {
    fn default() -> IdSet<I> {
        IdSet(Vec::new(), PhantomData)
    }
}

impl<I: Id> IdSet<I> {
    pub fn new() -> IdSet<I> {
        IdSet::default()
    }

    pub fn single(id: I) -> IdSet<I> {
        let mut s = IdSet::new();
        s.insert(id);
        s
    }

    /// Returns the first `n` ids.
    pub fn all(n: usize) -> IdSet<I> {
        (0..n).map(I::from_index).collect()
    }

    pub fn insert(&mut self, id: I) {
        let index = id.index();
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    pub fn contains(&self, id: I) -> bool {
        let index = id.index();
        self.0.get(index / 64).is_some_and(|w| w >> (index % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn first(&self) -> Option<I> {
        self.iter().next()
    }

    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &w)| {
            let mut left = w;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(I::from_index(i * 64 + bit))
            })
        })
    }

    pub fn union(&self, other: &IdSet<I>) -> IdSet<I> {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut words = long.0.clone();
        for (w, o) in words.iter_mut().zip(&short.0) {
            *w |= o;
        }
        IdSet(words, PhantomData)
    }

    pub fn intersection(&self, other: &IdSet<I>) -> IdSet<I> {
        IdSet::trimmed(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub fn difference(&self, other: &IdSet<I>) -> IdSet<I> {
        let words = self.0.iter().enumerate().map(|(i, w)| w & !other.0.get(i).copied().unwrap_or(0));
        IdSet::trimmed(words.collect())
    }

    pub fn is_subset(&self, other: &IdSet<I>) -> bool {
        self.difference(other).is_empty()
    }

    pub fn intersects(&self, other: &IdSet<I>) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn trimmed(mut words: Vec<u64>) -> IdSet<I> {
        while words.last() == Some(&0) {
            words.pop();
        }
        IdSet(words, PhantomData)
    }
}

impl<I: Id> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(iter: T) -> IdSet<I> {
        let mut s = IdSet::new();
        iter.into_iter().for_each(|id| s.insert(id));
        s
    }
}

impl<I: Id> fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(I::index)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave() {
        let [low, high] = [1, 70].map(ClassId::new);
        let a: ClassSet = [low, high].into_iter().collect();
        let b = ClassSet::single(high);
        assert_eq!(a.intersection(&b), b);
        assert_eq!(a.difference(&b), ClassSet::single(low));
        assert_eq!(a.difference(&a), ClassSet::new());
        assert_eq!(b.union(&ClassSet::single(low)), a);
        assert!(b.is_subset(&a) && !a.is_subset(&b) && a.intersects(&b));
        assert_eq!((a.len(), a.first()), (2, Some(low)));
        assert_eq!(format!("{a:?}"), "{1, 70}");
    }
}
