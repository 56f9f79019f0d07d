//! What is known of the variables of one version: which have one value, and which are equal.

use super::part::{FrameId, ObjectId, Objects};
use crate::ir::Const;
use std::collections::BTreeMap;

/// What is known of variables of one version: the one value that some can have, and which others are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    values: BTreeMap<ObjectId, Const>,
    /// The first of those that are equal, by each of them; no class has less than two.
    classes: BTreeMap<ObjectId, ObjectId>,
}

impl Known {
    pub fn get(&self, object: ObjectId) -> Option<Const> {
        self.values.get(&object).copied()
    }

    /// A variable is assigned to: what was known of it is no longer so.
    pub fn set(&mut self, object: ObjectId, value: Option<Const>) {
        match value {
            Some(c) => _ = self.values.insert(object, c),
            None => _ = self.values.remove(&object),
        }
        if let Some(first) = self.classes.remove(&object) {
            let left: Vec<ObjectId> = self.members(first).collect();
            left.iter().for_each(|o| _ = self.classes.remove(o));
            if let [first, _, ..] = left.as_slice() {
                left.iter().for_each(|o| _ = self.classes.insert(*o, *first));
            }
        }
    }

    /// A variable turns out to have a value.
    pub fn is(&mut self, object: ObjectId, value: Const) {
        self.values.insert(object, value);
    }

    /// Two variables of one sort are equal.
    pub fn equate(&mut self, a: ObjectId, b: ObjectId) {
        let class = |o: ObjectId| self.classes.get(&o).copied().unwrap_or(o);
        let (first, second) = (class(a).min(class(b)), class(a).max(class(b)));
        if first == second {
            return;
        }
        let joined: Vec<ObjectId> = self.members(second).chain([first, second]).collect();
        joined.into_iter().for_each(|o| _ = self.classes.insert(o, first));
    }

    /// What equals a variable that is gone equals nothing by that: whether it differs is not known any more.
    pub fn forget(&mut self, objects: &Objects, frame: FrameId) {
        let gone = |o: &&ObjectId| objects.frame(**o) == Some(frame);
        let gone: Vec<ObjectId> = self.classes.keys().filter(gone).copied().collect();
        gone.into_iter().for_each(|o| self.set(o, None));
    }

    fn members(&self, first: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.classes.iter().filter(move |(_, f)| **f == first).map(|(o, _)| *o)
    }

    /// The other variables that are equal to one.
    pub fn equals(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let first = self.classes.get(&object).copied();
        first.into_iter().flat_map(|f| self.members(f)).filter(move |o| *o != object)
    }

    pub fn are_equal(&self, a: ObjectId, b: ObjectId) -> bool {
        a == b || self.classes.get(&a).is_some_and(|first| self.classes.get(&b) == Some(first))
    }

    /// Whether the same variables have known values, and the same ones.
    pub fn has_values_of(&self, other: &Known) -> bool {
        self.values == other.values
    }

    /// Keeps what both know; returns whether something was lost.
    pub fn meet(&mut self, other: &Known) -> bool {
        let before = self.values.len();
        self.values.retain(|object, c| other.get(*object) == Some(*c));
        let mut parts: BTreeMap<(ObjectId, ObjectId), Vec<ObjectId>> = BTreeMap::new();
        for (object, first) in &self.classes {
            if let Some(theirs) = other.classes.get(object) {
                parts.entry((*first, *theirs)).or_default().push(*object);
            }
        }
        let parts = parts.into_values().filter(|p| p.len() > 1);
        let classes = parts.flat_map(|p| p.clone().into_iter().map(move |o| (o, p[0]))).collect();
        let lost = self.classes != classes;
        self.classes = classes;
        lost || self.values.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(pairs: &[(ObjectId, ObjectId)]) -> Known {
        let mut known = Known::default();
        pairs.iter().for_each(|(a, b)| known.equate(*a, *b));
        known
    }

    #[test]
    fn what_is_assigned_to_leaves_its_class() {
        let mut known = equal(&[(7, 9), (8, 5), (9, 8)]);
        assert_eq!(known.equals(5).collect::<Vec<_>>(), [7, 8, 9]);
        known.set(5, None);
        assert!(known.are_equal(7, 9) && known.are_equal(8, 7) && !known.are_equal(5, 7));
        known.set(8, None);
        known.set(9, None);
        assert_eq!(known, Known::default());
    }

    #[test]
    fn ways_that_meet_keep_what_is_equal_on_both() {
        let mut known = equal(&[(1, 2), (2, 3), (3, 4), (6, 7)]);
        assert!(known.meet(&equal(&[(1, 2), (3, 4), (7, 8)])));
        assert_eq!(known, equal(&[(1, 2), (3, 4)]));
        assert!(!known.meet(&equal(&[(1, 2), (2, 4), (3, 4)])));
        assert!(known.meet(&Known::default()));
        assert_eq!(known, Known::default());
    }
}
