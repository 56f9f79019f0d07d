//! The symbolic execution tree of a version for people: decisions with their lines, how many inputs come to each,
//! and how paths end.
//!
//! *Affected* is what a change can affect: each path through the node comes to a changed line, or the other version
//! has no node with the same conditions, or a path that ends there otherwise. A large tree is *folded*: only so many
//! nodes are shown, those with affected ones below first, then those with most inputs; what is below a folded node is
//! counted.

use super::paths::{End, Explored, Path};
use super::trie::Trie;
use crate::ir::{CType, TermId, TermPool};
use crate::semantics::c_text::{Naming, render, render_typed};
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// A tree; parents come before their children, and the first node is the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub nodes: Vec<Node>,
    /// Nodes that folded ones stand for.
    pub hidden: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub parent: Option<usize>,
    pub way: BranchDecision,
    pub kind: Kind,
    /// None where that is not known.
    pub inputs: Option<i128>,
    /// Paths that come here.
    pub paths: usize,
    pub is_affected: bool,
}

/// How a decision went that leads to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchDecision {
    /// There was none: the root.
    Start,
    Decided(bool),
    /// On inputs with this condition.
    When(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A condition of the source; line 0 is one of another file.
    Branch {
        function: Arc<str>,
        line: u32,
        condition: String,
    },
    /// An assertion.
    Assertion {
        line: u32,
        condition: String,
    },
    /// Where something is undefined for some inputs, or memory is accessed at several places.
    Parting,
    Returns(Option<String>),
    Exits(Option<String>),
    /// An assertion of this line, or the program aborts there.
    Fails(u32),
    Grey(&'static str),
    /// What is below is not shown.
    Folded,
    /// Inputs that a bound kept from being followed.
    NotFollowed,
}

/// What a tree is made with.
pub struct Maker<'a> {
    pub explored: &'a Explored,
    pub trie: &'a Trie,
    pub affected: &'a [bool],
    pub naming: &'a Naming<'a>,
    /// Of the result.
    pub ty: &'a CType,
    /// All inputs.
    pub size: i128,
    /// Most nodes.
    pub limit: usize,
}

/// What a change can affect, by place. `others`: the neighbouring versions with their tries; `comes`: whether a path
/// comes to a changed line.
pub fn affected(
    explored: &Explored,
    trie: &Trie,
    others: &[(&Explored, &Trie)],
    comes: &dyn Fn(&Path) -> bool,
) -> Vec<bool> {
    let path = |k: usize| explored.paths.get(k);
    let mut found = match others {
        [] => vec![false; trie.places.len()],
        _ => trie.all(|k| path(k).is_some_and(comes)),
    };
    for (other, theirs) in others {
        for ((at, twin), is_affected) in trie.twins(theirs).into_iter().enumerate().zip(&mut found) {
            let own = trie.place(at).and_then(|p| p.end).and_then(path);
            let its = twin.and_then(|t| theirs.place(t)).and_then(|p| p.end).and_then(|k| other.paths.get(k));
            // Where the other version was cut, that a node is missing says nothing.
            *is_affected |= twin.is_none() && !other.is_cut;
            *is_affected |= own.zip(its).is_some_and(|(a, b)| !ends_alike(a, b));
        }
    }
    found
}

fn ends_alike(a: &Path, b: &Path) -> bool {
    let is_same = a.end == b.end || matches!((&a.end, &b.end), (End::Failure(_), End::Failure(_)));
    is_same && a.stdout == b.stdout && a.stderr == b.stderr && a.written == b.written
}

impl Maker<'_> {
    /// Makes the tree. `inputs` counts those that meet conditions; it is asked only where a bound cut the paths.
    pub fn tree(
        &self,
        pool: &mut TermPool,
        inputs: &mut dyn FnMut(&TermPool, &[TermId]) -> Option<i128>,
    ) -> Tree {
        let mut counts: Vec<Option<i128>> = self.trie.places.iter().map(|p| p.inputs).collect();
        counts.iter_mut().take(1).for_each(|root| *root = Some(self.size));
        let opened = self.opened();
        let mut tree = Tree::default();
        let mut number: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let Some(place) = self.trie.place(at) else { continue };
            let parent = place.parent.and_then(|p| number.get(&p).copied());
            let is_open = opened.get(at).copied().unwrap_or(false);
            let children = if is_open { self.children(at) } else { Vec::new() };
            let is_cut = self.explored.is_cut && at > 0;
            if is_cut && let Some(path) = self.explored.paths.get(place.sample) {
                let met = path.conditions.get(..place.depth).unwrap_or_default();
                counts.get_mut(at).into_iter().for_each(|count| *count = inputs(pool, met));
            }
            let count = counts.get(at).copied().flatten();
            number.insert(at, tree.nodes.len());
            tree.nodes.push(Node {
                parent,
                way: self.way(at, pool),
                kind: self.kind(at, is_open, pool),
                inputs: count,
                paths: place.paths,
                is_affected: self.affected.get(at).copied().unwrap_or(false),
            });
            open.extend(children.into_iter().rev());
        }
        tree.hidden = self.trie.places.len().saturating_sub(tree.nodes.len());
        if self.explored.is_cut {
            tree.add_rest();
        }
        tree
    }

    /// Which places are opened: all but those that the limit folds.
    fn opened(&self) -> Vec<bool> {
        let mut below: Vec<bool> = self.affected.to_vec();
        below.resize(self.trie.places.len(), false);
        for (at, place) in self.trie.places.iter().enumerate().rev() {
            if below.get(at) == Some(&true) {
                place.parent.and_then(|p| below.get_mut(p)).into_iter().for_each(|b| *b = true);
            }
        }
        let key = |at: usize| {
            let inputs = self.trie.place(at).and_then(|p| p.inputs).unwrap_or(i128::MAX);
            (below.get(at).copied().unwrap_or(false), inputs, std::cmp::Reverse(at))
        };
        let mut opened = vec![false; self.trie.places.len()];
        let (mut shown, mut heap) = (1, BinaryHeap::from([(key(0), 0)]));
        while let Some((_, at)) = heap.pop() {
            let children = self.trie.place(at).map(|p| p.children.as_slice()).unwrap_or_default();
            if shown + children.len() > self.limit {
                continue;
            }
            shown += children.len();
            opened.get_mut(at).into_iter().for_each(|o| *o = true);
            heap.extend(children.iter().map(|c| (key(*c), *c)));
        }
        opened
    }

    /// The children of a place, those where a condition is true first.
    fn children(&self, at: usize) -> Vec<usize> {
        let mut found = self.trie.place(at).map(|p| p.children.clone()).unwrap_or_default();
        let failing = self.assertion(at).map(|(_, failing)| failing);
        let is_true = |c: &usize| match self.trie.turn(self.explored, *c) {
            Some(turn) => turn.taken,
            None => failing.is_some_and(|failing| failing != *c),
        };
        found.sort_by_key(|c| !is_true(c));
        found
    }

    fn end(&self, at: usize) -> Option<&End> {
        Some(&self.explored.paths.get(self.trie.place(at)?.end?)?.end)
    }

    /// The line of an assertion that parts inputs at a place: those of one side fail.
    fn assertion(&self, at: usize) -> Option<(u32, usize)> {
        let place = self.trie.place(at)?;
        let fails = |c: &usize| match self.end(*c) {
            Some(End::Failure(line)) => Some((*line, *c)),
            _ => None,
        };
        let is_turn = place.children.iter().any(|c| self.trie.turn(self.explored, *c).is_some());
        place.children.iter().find_map(fails).filter(|_| !is_turn && place.children.len() <= 2)
    }

    fn way(&self, at: usize, pool: &mut TermPool) -> BranchDecision {
        let Some(place) = self.trie.place(at) else { return BranchDecision::Start };
        let (Some(condition), Some(parent)) = (place.condition, place.parent) else {
            return BranchDecision::Start;
        };
        if let Some(turn) = self.trie.turn(self.explored, at) {
            return BranchDecision::Decided(turn.taken);
        }
        match self.assertion(parent) {
            Some((_, failing)) => BranchDecision::Decided(failing != at),
            None => BranchDecision::When(render(pool, condition, self.naming)),
        }
    }

    fn kind(&self, at: usize, is_open: bool, pool: &mut TermPool) -> Kind {
        let Some(place) = self.trie.place(at) else { return Kind::Parting };
        if let Some(end) = self.end(at) {
            return self.ending(end, pool);
        }
        if !is_open {
            return if place.children.is_empty() { Kind::NotFollowed } else { Kind::Folded };
        }
        let literal = |pool: &mut TermPool, child: usize, holds: bool| {
            let condition = self.trie.place(child).and_then(|c| c.condition);
            let condition = condition.map(|c| if holds { c } else { pool.not(c) });
            condition.map(|c| render(pool, c, self.naming)).unwrap_or_default()
        };
        let decided = |c: &usize| Some((self.trie.turn(self.explored, *c)?, *c));
        if let Some((turn, child)) = place.children.iter().find_map(decided) {
            let condition = literal(pool, child, turn.taken);
            return Kind::Branch { function: turn.function.clone(), line: turn.line, condition };
        }
        match self.assertion(at) {
            Some((line, failing)) => Kind::Assertion { line, condition: literal(pool, failing, false) },
            None => Kind::Parting,
        }
    }

    fn ending(&self, end: &End, pool: &TermPool) -> Kind {
        let text = |t: TermId, ty: Option<&CType>| render_typed(pool, t, self.naming, ty);
        match end {
            End::Return(value) => Kind::Returns(value.map(|t| text(t, Some(self.ty)))),
            End::Exit(value) => Kind::Exits(value.map(|t| text(t, None))),
            End::Failure(line) => Kind::Fails(*line),
            End::Settled => Kind::NotFollowed,
            End::Grey(why) => Kind::Grey(why),
        }
    }
}

impl Tree {
    /// Adds what a bound kept from being followed: what the children of a node lack of its inputs.
    fn add_rest(&mut self) {
        let mut rest: Vec<Option<i128>> = self.nodes.iter().map(|n| n.inputs).collect();
        let mut is_inner = vec![false; self.nodes.len()];
        for node in &self.nodes {
            let Some(parent) = node.parent else { continue };
            is_inner.get_mut(parent).into_iter().for_each(|p| *p = true);
            if let Some(left) = rest.get_mut(parent) {
                *left = left.zip(node.inputs).and_then(|(a, b)| a.checked_sub(b));
            }
        }
        for (parent, left) in rest.into_iter().enumerate() {
            if is_inner.get(parent) == Some(&true) && left != Some(0) {
                self.nodes.push(Node {
                    parent: Some(parent),
                    way: BranchDecision::When("else".to_owned()),
                    kind: Kind::NotFollowed,
                    inputs: left,
                    paths: 0,
                    is_affected: false,
                });
            }
        }
    }
}
