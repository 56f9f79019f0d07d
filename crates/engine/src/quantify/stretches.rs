//! The symbolic execution tree of a version, kept so that another version can take over what it shares.
//!
//! A *stretch* is what a path does from one decision to the next: the nodes it visits, the answers it got,
//! and how the path ends, if it does. The next version takes over every subtree whose nodes it has, too
//! ([`Memo`]): it is copied, and neither followed nor asked about. On the way to what is new, the
//! stretches of the old version are followed again with the answers that they got.
//!
//! Source: Yang, Pasareanu and Khurshid, "Memoized symbolic execution", ISSTA 2012 (the trie and its
//! replay); Filieri, Pasareanu and Yang, ASE 2015, section IV-B (counts are kept with it).

use super::guard::is_undefined;
use super::output::Output;
use super::pairing::Pairing;
use super::paths::{End, Path};
use super::turns::{Turn, Turns};
use crate::ir::{NodeId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A node, with its function's number in [`Stretches::functions`].
pub type Visit = (u32, NodeId);

/// What globals that were written hold at the end, by offset: bytes and value.
pub type Written = BTreeMap<Arc<str>, BTreeMap<u64, (u64, TermId)>>;

/// How a path ends, and what it leaves.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub end: End,
    /// Where, of one that fails.
    pub at: Option<Visit>,
    pub stdout: Output,
    pub stderr: Output,
    pub written: Written,
    /// Inputs, where they were counted before.
    pub count: Option<i128>,
}

/// A path at a node that is watched, in the outermost call.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub node: NodeId,
    /// By variable; none of one that has no value, or that is in memory.
    pub vars: Vec<Option<TermId>>,
    /// What globals hold that were written so far.
    pub written: Written,
}

/// What a path does from one decision to the next.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// What the decision in front adds to the path condition.
    pub conditions: Vec<TermId>,
    /// In the order in which they are followed.
    pub children: Vec<u32>,
    /// Sorted, each once.
    pub visited: Rc<[Visit]>,
    /// The branches that it takes at its beginning and on its way, whether the condition is true, and whether
    /// inputs go the other way, too.
    pub turns: Vec<(Visit, bool, bool)>,
    /// Whether inputs meet what was asked, in turn.
    pub answers: Vec<bool>,
    /// Candidates that it is the first to read, by position.
    pub used: Vec<u32>,
    /// Where it comes to nodes that are watched, in turn.
    pub arrivals: Vec<Arrival>,
    /// States of the tree that the decision in front makes.
    pub states: u64,
    pub steps: u64,
    pub leaf: Option<Leaf>,
}

/// A tree of stretches; the first is the root.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    pub functions: Vec<Arc<str>>,
    pub stretches: Vec<Stretch>,
}

impl Stretches {
    fn get(&self, k: u32) -> Option<&Stretch> {
        self.stretches.get(k as usize)
    }

    /// The number of a function.
    fn function(&mut self, name: &Arc<str>) -> u32 {
        let known = self.functions.iter().position(|f| f == name);
        let k = known.unwrap_or_else(|| {
            self.functions.push(name.clone());
            self.functions.len() - 1
        });
        u32::try_from(k).unwrap_or(u32::MAX)
    }

    /// States of the tree.
    pub fn states(&self) -> u64 {
        self.stretches.iter().map(|s| s.states).sum()
    }

    /// Instructions of all paths, those of common beginnings once.
    pub fn steps(&self) -> u64 {
        self.stretches.iter().map(|s| s.steps).sum()
    }

    /// The paths, in the order in which they are followed. `line`: of a node, 0 in another file.
    pub fn paths(&self, entry: &[TermId], line: &dyn Fn(&str, NodeId) -> u32) -> Vec<Path> {
        let mut paths = Vec::new();
        let line = |at: &Visit| self.functions.get(at.0 as usize).map_or(0, |f| line(f, at.1));
        let mut open = vec![(0u32, entry.to_vec(), BTreeSet::new(), Turns::default())];
        while let Some((k, mut conditions, mut lines, mut turns)) = open.pop() {
            let Some(s) = self.get(k) else { continue };
            conditions.extend(&s.conditions);
            lines.extend(s.visited.iter().map(line).filter(|l| *l > 0));
            for (at, taken, is_fork) in &s.turns {
                let Some(function) = self.functions.get(at.0 as usize).cloned() else { continue };
                let condition = conditions.len().checked_sub(1).filter(|_| *is_fork);
                turns.push(Turn { function, node: at.1, line: line(at), taken: *taken, condition });
            }
            for child in s.children.iter().rev() {
                open.push((*child, conditions.clone(), lines.clone(), turns.clone()));
            }
            let Some(leaf) = s.leaf.clone() else { continue };
            let end = match leaf.end {
                End::Failure(_) => End::Failure(leaf.at.as_ref().map_or(0, line)),
                other => other,
            };
            let Leaf { stdout, stderr, written, count, .. } = leaf;
            paths.push(Path { stretch: k, conditions, end, lines, turns, stdout, stderr, written, count });
        }
        paths
    }

    /// Where paths come to nodes that are watched, each with the conditions that inputs meet there, in the order in
    /// which they are followed. Left out is what leads to nothing but what is undefined.
    pub fn arrivals(&self, entry: &[TermId]) -> Vec<(Vec<TermId>, &Arrival)> {
        let mut is_futile = vec![false; self.stretches.len()];
        // Children have greater numbers than their parents.
        for (k, s) in self.stretches.iter().enumerate().rev() {
            let is_child = |child: &u32| is_futile.get(*child as usize).copied().unwrap_or(false);
            is_futile[k] = match &s.leaf {
                Some(Leaf { end: End::Grey(reason), .. }) => is_undefined(reason),
                Some(_) => false,
                None => !s.children.is_empty() && s.children.iter().all(is_child),
            };
        }
        let mut found = Vec::new();
        let mut open = vec![(0u32, entry.to_vec())];
        while let Some((k, mut conditions)) = open.pop() {
            let Some(s) = self.get(k).filter(|_| is_futile.get(k as usize) == Some(&false)) else { continue };
            conditions.extend(&s.conditions);
            found.extend(s.arrivals.iter().map(|arrival| (conditions.clone(), arrival)));
            open.extend(s.children.iter().rev().map(|child| (*child, conditions.clone())));
        }
        found
    }

    /// Notes what paths were counted to have.
    pub fn keep_counts(&mut self, paths: &[Path]) {
        for path in paths {
            if let Some(leaf) = self.stretches.get_mut(path.stretch as usize).and_then(|s| s.leaf.as_mut()) {
                leaf.count = path.count;
            }
        }
    }
}

/// What of an older version's tree a newer one has, too.
pub struct Memo<'m> {
    tree: &'m Stretches,
    /// `None`: it is the same version, and nothing is copied.
    pairing: Option<&'m Pairing>,
    /// The stretch and all in front of it visit only nodes that the newer version has.
    is_kept: Vec<bool>,
    /// And so do all behind it.
    is_whole: Vec<bool>,
    /// The newer version's candidates by the older one's.
    candidates: Vec<Option<u32>>,
}

impl<'m> Memo<'m> {
    /// `candidates`: where the newer version has each of the older one's.
    pub fn new(tree: &'m Stretches, pairing: &'m Pairing, candidates: Vec<Option<u32>>) -> Memo<'m> {
        let n = tree.stretches.len();
        let (mut is_kept, mut is_whole) = (vec![false; n], vec![false; n]);
        let has = |at: &Visit| tree.functions.get(at.0 as usize).is_some_and(|f| pairing.is_same(f, at.1));
        let reads_same =
            |k: &u32| candidates.get(*k as usize).is_some_and(|candidate: &Option<u32>| candidate.is_some());
        // Children have greater numbers than their parents.
        let own = |s: &Stretch| s.visited.iter().all(has) && s.used.iter().all(reads_same);
        if let (Some(kept), Some(root)) = (is_kept.first_mut(), tree.stretches.first()) {
            *kept = own(root);
        }
        for (k, s) in tree.stretches.iter().enumerate() {
            for child in &s.children {
                let is = is_kept[k] && tree.get(*child).is_some_and(own);
                if let Some(kept) = is_kept.get_mut(*child as usize) {
                    *kept = is;
                }
            }
        }
        for (k, s) in tree.stretches.iter().enumerate().rev() {
            let is_whole_child = |child: &u32| is_whole.get(*child as usize).copied().unwrap_or(false);
            is_whole[k] = is_kept[k] && s.children.iter().all(is_whole_child);
        }
        Memo { tree, pairing: Some(pairing), is_kept, is_whole, candidates }
    }

    /// The same version's tree, which is followed with the answers that it got.
    pub fn same(tree: &'m Stretches) -> Memo<'m> {
        let n = tree.stretches.len();
        let (is_kept, is_whole) = (vec![true; n], vec![false; n]);
        Memo { tree, pairing: None, is_kept, is_whole, candidates: Vec::new() }
    }
}

/// A tree while it is made.
pub(super) struct Growing<'m> {
    tree: Stretches,
    /// The stretch that is followed.
    at: u32,
    visited: FxHashSet<Visit>,
    /// Sets of nodes that some stretch visits.
    sets: FxHashSet<Rc<[Visit]>>,
    memo: Option<&'m Memo<'m>>,
    /// The older version's stretch that is followed again, by stretch.
    twins: Vec<Option<u32>>,
    next_answer: usize,
    /// Functions of the older tree in this one.
    functions: FxHashMap<u32, u32>,
    /// States that were taken over or followed again.
    taken_over: u64,
    /// Paths and instructions so far.
    pub paths: usize,
    pub steps: u64,
}

impl<'m> Growing<'m> {
    pub fn new(memo: Option<&'m Memo<'m>>) -> Growing<'m> {
        let root = Stretch { states: 1, ..Stretch::default() };
        let twin = memo.filter(|m| m.is_kept.first() == Some(&true)).map(|_| 0);
        Growing {
            tree: Stretches { functions: Vec::new(), stretches: vec![root] },
            at: 0,
            visited: FxHashSet::default(),
            sets: FxHashSet::default(),
            memo,
            twins: vec![twin],
            next_answer: 0,
            functions: FxHashMap::default(),
            taken_over: twin.map_or(0, |_| 1),
            paths: 0,
            steps: 0,
        }
    }

    /// The tree, and the states that are new.
    pub fn done(self) -> (Stretches, u64) {
        let new = self.tree.states().saturating_sub(self.taken_over);
        (self.tree, new)
    }

    fn current(&mut self) -> &mut Stretch {
        // The root is always there, and only numbers of stretches come here.
        let at = (self.at as usize).min(self.tree.stretches.len() - 1);
        &mut self.tree.stretches[at]
    }

    /// Begins to follow a stretch.
    pub fn begin(&mut self, stretch: u32) {
        self.at = stretch;
        self.visited.clear();
        self.next_answer = 0;
    }

    /// A step at a node.
    pub fn visit(&mut self, function: &Arc<str>, node: NodeId) {
        let function = self.tree.function(function);
        self.visited.insert((function, node));
        self.current().steps += 1;
        self.steps += 1;
    }

    /// Ends the stretch that is followed.
    pub fn end(&mut self) {
        let visited = self.visited.drain().collect();
        let set = self.set(visited);
        self.current().visited = set;
    }

    /// Nodes as a set, which stretches of the same nodes share.
    fn set(&mut self, mut nodes: Vec<Visit>) -> Rc<[Visit]> {
        nodes.sort_unstable();
        nodes.dedup();
        let set: Rc<[Visit]> = nodes.into();
        if let Some(known) = self.sets.get(&set) {
            return known.clone();
        }
        self.sets.insert(set.clone());
        set
    }

    /// The answer that the older version got here.
    pub fn known_answer(&mut self) -> Option<bool> {
        let twin = self.twins.get(self.at as usize).copied().flatten()?;
        let answer = self.memo?.tree.get(twin)?.answers.get(self.next_answer).copied();
        self.next_answer += 1;
        answer
    }

    /// What was answered.
    pub fn answered(&mut self, answer: bool) {
        self.current().answers.push(answer);
    }

    /// A branch that a stretch takes.
    pub fn turned(&mut self, stretch: u32, function: &Arc<str>, node: NodeId, taken: bool, is_fork: bool) {
        let at = (self.tree.function(function), node);
        if let Some(s) = self.tree.stretches.get_mut(stretch as usize) {
            s.turns.push((at, taken, is_fork));
        }
    }

    /// A path comes to a node that is watched.
    pub fn arrived(&mut self, arrival: Arrival) {
        self.current().arrivals.push(arrival);
    }

    /// A candidate that is read first here.
    pub fn used(&mut self, candidate: usize) {
        let candidate = u32::try_from(candidate).unwrap_or(u32::MAX);
        self.current().used.push(candidate);
    }

    /// A stretch behind the one that is followed; `None`: it and all behind it were taken over.
    pub fn child(&mut self, conditions: Vec<TermId>, states: u64) -> Option<u32> {
        let k = self.current().children.len();
        let twin = self.twins.get(self.at as usize).copied().flatten();
        let twin = twin.and_then(|t| self.memo?.tree.get(t)?.children.get(k).copied());
        let is = |of: &[bool], k: u32| of.get(k as usize).copied().unwrap_or(false);
        if let (Some(memo), Some(old)) = (self.memo, twin)
            && is(&memo.is_whole, old)
        {
            let copy = self.take_over(memo, old);
            self.current().children.push(copy);
            return None;
        }
        let twin = twin.filter(|t| self.memo.is_some_and(|m| is(&m.is_kept, *t)));
        self.taken_over += twin.map_or(0, |_| states);
        let child = self.add(Stretch { conditions, states, ..Stretch::default() }, twin);
        self.current().children.push(child);
        Some(child)
    }

    fn add(&mut self, stretch: Stretch, twin: Option<u32>) -> u32 {
        self.tree.stretches.push(stretch);
        self.twins.push(twin);
        u32::try_from(self.tree.stretches.len() - 1).unwrap_or(u32::MAX)
    }

    /// Sets how the path ends on a stretch.
    pub fn leaf(&mut self, stretch: u32, leaf: Leaf) {
        let old = self.twins.get(stretch as usize).copied().flatten();
        let old = old.and_then(|t| self.memo?.tree.get(t)?.leaf.as_ref());
        let count = old.and_then(|l| l.count);
        if let Some(s) = self.tree.stretches.get_mut(stretch as usize) {
            s.leaf = Some(Leaf { count, ..leaf });
        }
        self.paths += 1;
    }

    /// Sets how the path that is followed ends; `at`: in which function, at which node.
    pub fn leaf_here(&mut self, leaf: Leaf, at: Option<(&Arc<str>, NodeId)>) {
        let at = at.map(|(function, node)| (self.tree.function(function), node));
        self.leaf(self.at, Leaf { at, ..leaf });
    }

    /// Copies a subtree of the older tree.
    fn take_over(&mut self, memo: &'m Memo<'m>, top: u32) -> u32 {
        let mut copies: FxHashMap<u32, u32> = FxHashMap::default();
        let mut order = vec![top];
        let mut next = 0;
        while let Some(old) = order.get(next).copied() {
            next += 1;
            let Some(s) = memo.tree.get(old) else { continue };
            order.extend(&s.children);
            let copy = self.translated(memo, s);
            self.taken_over += copy.states;
            self.steps += copy.steps;
            self.paths += usize::from(copy.leaf.is_some());
            let k = self.add(copy, None);
            copies.insert(old, k);
        }
        let new = |old: &u32| copies.get(old).copied().unwrap_or(u32::MAX);
        for old in &order {
            let Some(s) = memo.tree.get(*old) else { continue };
            let children = s.children.iter().map(new).collect();
            if let Some(copy) = self.tree.stretches.get_mut(new(old) as usize) {
                copy.children = children;
            }
        }
        new(&top)
    }

    /// A stretch with the newer version's nodes.
    fn translated(&mut self, memo: &Memo, s: &Stretch) -> Stretch {
        let visited = s.visited.iter().filter_map(|at| self.node(memo, *at)).collect();
        let visited = self.set(visited);
        let turn =
            |(at, taken, is_fork): &(Visit, bool, bool)| Some((self.node(memo, *at)?, *taken, *is_fork));
        let turns = s.turns.iter().filter_map(turn).collect();
        let used = s.used.iter().filter_map(|k| memo.candidates.get(*k as usize).copied().flatten());
        let leaf = s.leaf.clone().map(|l| Leaf { at: l.at.and_then(|at| self.node(memo, at)), ..l });
        Stretch {
            conditions: s.conditions.clone(),
            children: Vec::new(),
            visited,
            turns,
            answers: s.answers.clone(),
            used: used.collect(),
            // What is watched is asked for without an older version.
            arrivals: Vec::new(),
            states: s.states,
            steps: s.steps,
            leaf,
        }
    }

    /// The newer version's node for one of the older version.
    fn node(&mut self, memo: &Memo, at: Visit) -> Option<Visit> {
        let name = memo.tree.functions.get(at.0 as usize)?;
        let node = memo.pairing?.twin(name, at.1)?;
        let function = match self.functions.get(&at.0) {
            Some(k) => *k,
            None => {
                let k = self.tree.function(name);
                self.functions.insert(at.0, k);
                k
            }
        };
        Some((function, node))
    }
}
