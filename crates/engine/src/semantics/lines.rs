//! Sets of nodes of a merged graph: where a value comes from.

use crate::mvicfg::{IdSet, MvId};

/// Set of graph nodes, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(IdSet<MvId>);

impl Lines {
    pub fn single(node: MvId) -> Lines {
        Lines(IdSet::single(node))
    }

    pub fn insert(&mut self, node: MvId) {
        self.0.insert(node);
    }

    pub fn contains(&self, node: MvId) -> bool {
        self.0.contains(node)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = MvId> + '_ {
        self.0.iter()
    }

    pub fn union(&self, other: &Lines) -> Lines {
        Lines(self.0.union(&other.0))
    }

    pub fn intersection(&self, other: &Lines) -> Lines {
        Lines(self.0.intersection(&other.0))
    }

    pub fn is_subset(&self, other: &Lines) -> bool {
        self.0.is_subset(&other.0)
    }
}

impl FromIterator<MvId> for Lines {
    fn from_iter<I: IntoIterator<Item = MvId>>(nodes: I) -> Lines {
        Lines(nodes.into_iter().collect())
    }
}
