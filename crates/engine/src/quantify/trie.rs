//! The paths of a version as a trie over their conditions: what Fig. 2 of the paper draws.
//!
//! A *place* is where the inputs are that meet the conditions from the root to it; its children part them. A path
//! ends at one place. What no input takes is left out.

use super::paths::{Explored, Path};
use super::turns::Turn;
use crate::ir::TermId;
use rustc_hash::FxHashMap;

/// Inputs that have met the same conditions.
#[derive(Clone, Debug, Default)]
pub struct TrieNode {
    pub parent: Option<usize>,
    /// What parts them from others of the parent; none at the root.
    pub condition: Option<TermId>,
    pub children: Vec<usize>,
    /// The path that ends here, by position.
    pub end: Option<usize>,
    /// A path that comes here.
    pub sample: usize,
    /// Conditions from the root to here.
    pub depth: usize,
    /// Paths that come here.
    pub paths: usize,
    /// Inputs; none where they are too many to count, or rest on what is not known.
    pub inputs: Option<i128>,
}

/// All places; the first is the root, and parents come before their children.
#[derive(Clone, Debug, Default)]
pub struct Trie {
    pub places: Vec<TrieNode>,
}

impl Trie {
    /// The trie of what was explored. `inputs` of a path: none where it is not known. Cost: linear in all conditions.
    pub fn of(explored: &Explored, inputs: &mut dyn FnMut(&Path) -> Option<i128>) -> Trie {
        let mut trie = Trie { places: vec![TrieNode::default()] };
        let mut at: FxHashMap<(usize, TermId), usize> = FxHashMap::default();
        for (k, path) in explored.paths.iter().enumerate() {
            let count = inputs(path);
            if count == Some(0) {
                continue;
            }
            let mut place = 0;
            trie.add(place, k, count);
            for (depth, condition) in (1..).zip(&path.conditions) {
                let next = *at.entry((place, *condition)).or_insert(trie.places.len());
                if next == trie.places.len() {
                    let (parent, condition) = (Some(place), Some(*condition));
                    let inputs = Some(0);
                    trie.places.push(TrieNode {
                        parent,
                        condition,
                        sample: k,
                        depth,
                        inputs,
                        ..TrieNode::default()
                    });
                    trie.places.get_mut(place).into_iter().for_each(|p| p.children.push(next));
                }
                trie.add(next, k, count);
                place = next;
            }
            trie.places.get_mut(place).into_iter().for_each(|p| p.end = Some(k));
        }
        trie
    }

    /// Counts a path at a place.
    fn add(&mut self, place: usize, path: usize, count: Option<i128>) {
        let Some(p) = self.places.get_mut(place) else { return };
        if p.paths == 0 {
            (p.sample, p.inputs) = (path, Some(0));
        }
        p.paths += 1;
        p.inputs = p.inputs.zip(count).and_then(|(a, b)| a.checked_add(b));
    }

    pub fn place(&self, at: usize) -> Option<&TrieNode> {
        self.places.get(at)
    }

    /// The decision of the source by which inputs come to a place; none where something else parts them.
    pub fn turn<'e>(&self, explored: &'e Explored, at: usize) -> Option<&'e Turn> {
        let place = self.place(at)?;
        let index = place.depth.checked_sub(1)?;
        explored.paths.get(place.sample)?.turns.iter().find(|t| t.condition == Some(index))
    }

    /// For each place, the place of another version with the same conditions in the same order.
    pub fn twins(&self, other: &Trie) -> Vec<Option<usize>> {
        let mut found: Vec<Option<usize>> = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let twin = match place.parent {
                None => other.place(0).filter(|root| root.paths > 0).map(|_| 0),
                Some(parent) => found.get(parent).copied().flatten().and_then(|parent| {
                    let is_it = |c: &&usize| other.place(**c).is_some_and(|p| p.condition == place.condition);
                    other.place(parent)?.children.iter().find(is_it).copied()
                }),
            };
            found.push(twin);
        }
        found
    }

    /// What holds of a place if it holds of all paths below: from what holds of the path that ends there.
    pub fn all(&self, of_path: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut found: Vec<bool> =
            self.places.iter().map(|p| p.paths > 0 && p.end.is_none_or(&of_path)).collect();
        for (at, place) in self.places.iter().enumerate().rev() {
            let holds = found.get(at).copied().unwrap_or(true);
            if let Some(parent) = place.parent.and_then(|p| found.get_mut(p)).filter(|_| !holds) {
                *parent = false;
            }
        }
        found
    }
}
