//! What the tests of a suite cover: the inputs whose path some test takes.
//!
//! The paper calls the share of the domain *domain coverage*, that of a usage profile *usage coverage* (section IV.C).
//! A test takes the path whose conditions its values meet; nothing is run. Grey paths are never covered: how they go
//! on is not known.

use super::compare::{Comparer, Comparison, Lines};
use super::paths::{End, Explored, Path};
use super::stretches::Stretches;
use super::trie::Trie;
use crate::ir::eval::{Assignment, Program};
use crate::ir::{NodeId, TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a suite covers of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Inputs whose path some test takes.
    pub inputs: i128,
    /// Paths that a test takes, of all that are not grey.
    pub paths: usize,
    pub of_paths: usize,
    /// Tests that take a grey path, or none that is known.
    pub grey: usize,
    /// Sides of branches that no test takes, those that most inputs take first.
    pub missed: Vec<BranchSide>,
}

/// A side of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchSide {
    pub line: u32,
    pub is_true: bool,
    /// Inputs that take it at least once.
    pub inputs: i128,
}

/// What a suite covers of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeCoverage {
    /// Paths of the newer version that come to a changed line and that a test takes, of all such; of the older one
    /// where the change only removes lines.
    pub paths: usize,
    pub of_paths: usize,
    /// Inputs that reach the change and take, in both versions, the paths of some test.
    pub reaching: i128,
    /// Of these, those that behave differently.
    pub differing: i128,
}

/// The path that each test takes; none where that is not known.
pub fn taken(explored: &Explored, trie: &Trie, pool: &TermPool, tests: &[Assignment]) -> Vec<Option<usize>> {
    let mut programs: FxHashMap<TermId, Program> = FxHashMap::default();
    let mut holds = |test: &Assignment, c: TermId| {
        let program = programs.entry(c).or_insert_with(|| Program::new(pool, &[c]));
        program.run(pool, test).holds(c) == Some(true)
    };
    let mut path = |test: &Assignment| {
        let mut at = trie.place(0)?;
        loop {
            if at.end.is_some() {
                return at.end.filter(|k| explored.paths.get(*k).is_some());
            }
            let mut children = at.children.iter().filter_map(|c| trie.place(*c));
            at = children.find(|c| c.condition.is_some_and(|c| holds(test, c)))?;
        }
    };
    tests.iter().map(&mut path).collect()
}

/// A side while paths are looked at.
struct Seen {
    line: u32,
    inputs: i128,
    is_covered: bool,
}

/// Whether a path counts: some input takes it, and it is not grey.
fn counted(path: &Path) -> Option<i128> {
    path.count.filter(|n| *n > 0 && !matches!(path.end, End::Grey(_)))
}

/// What tests cover of a version, by the paths that they take. `None`: numbers are too large.
pub fn coverage(explored: &Explored, taken: &[Option<usize>]) -> Option<Coverage> {
    let mut found = Coverage::default();
    let covered: BTreeSet<usize> = taken.iter().flatten().copied().collect();
    let mut sides: BTreeMap<(Arc<str>, NodeId, bool), Seen> = BTreeMap::new();
    for (k, path) in explored.paths.iter().enumerate() {
        let Some(n) = counted(path) else { continue };
        let is_covered = covered.contains(&k);
        found.of_paths += 1;
        if is_covered {
            found.paths += 1;
            found.inputs = found.inputs.checked_add(n)?;
        }
        let mut own = BTreeSet::new();
        for turn in path.turns.iter().filter(|t| t.line > 0) {
            let key = (turn.function.clone(), turn.node, turn.taken);
            if own.insert(key.clone()) {
                let side = sides.entry(key).or_insert(Seen { line: turn.line, inputs: 0, is_covered: false });
                side.inputs = side.inputs.checked_add(n)?;
                side.is_covered |= is_covered;
            }
        }
    }
    let is_known = |k: &Option<usize>| k.and_then(|k| explored.paths.get(k)).and_then(counted).is_some();
    found.grey = taken.iter().filter(|k| !is_known(k)).count();
    let missed = sides.into_iter().filter(|(_, seen)| !seen.is_covered);
    let side = |((.., is_true), seen): ((Arc<str>, NodeId, bool), Seen)| BranchSide {
        line: seen.line,
        is_true,
        inputs: seen.inputs,
    };
    found.missed = missed.map(side).collect();
    found.missed.sort_by_key(|s| (std::cmp::Reverse(s.inputs), s.line, s.is_true));
    Some(found)
}

/// What tests cover of a change, by the paths that they take in both versions. `None`: numbers are too large.
pub fn change_coverage(
    comparer: &mut Comparer,
    old: (&Explored, &[Option<usize>]),
    new: (&Explored, &[Option<usize>]),
) -> Option<ChangeCoverage> {
    let (paths, of_paths) = through(comparer.lines, old, new);
    let mut found = ChangeCoverage { paths, of_paths, ..ChangeCoverage::default() };
    let pairs: BTreeSet<(usize, usize)> =
        old.1.iter().zip(new.1).filter_map(|(p, q)| Some(((*p)?, (*q)?))).collect();
    for (p, q) in pairs {
        let (Some(before), Some(after)) = (alone(old.0, p), alone(new.0, q)) else { continue };
        let Comparison { reaching, differing, .. } = comparer.compare(&before, &after)?;
        found.reaching = found.reaching.checked_add(reaching)?;
        found.differing = found.differing.checked_add(differing)?;
    }
    Some(found)
}

/// How many paths through a change tests take, and how many there are.
fn through(
    lines: &Lines,
    old: (&Explored, &[Option<usize>]),
    new: (&Explored, &[Option<usize>]),
) -> (usize, usize) {
    let ((explored, taken), changed) =
        if lines.new.is_empty() { (old, &lines.old) } else { (new, &lines.new) };
    let covered: BTreeSet<usize> = taken.iter().flatten().copied().collect();
    let all = explored.paths.iter().enumerate();
    let comes = all.filter(|(_, p)| counted(p).is_some() && !p.lines.is_disjoint(changed));
    let comes: Vec<usize> = comes.map(|(k, _)| k).collect();
    (comes.iter().filter(|k| covered.contains(k)).count(), comes.len())
}

/// One path of a version.
fn alone(explored: &Explored, path: usize) -> Option<Explored> {
    let path = explored.paths.get(path)?.clone();
    let is_program = explored.is_program;
    Some(Explored {
        paths: vec![path],
        tree: Stretches::default(),
        states: 1,
        explored: 0,
        counted_over: String::new(),
        is_cut: false,
        is_by_input: false,
        used: BTreeSet::new(),
        unseen: BTreeSet::new(),
        is_program,
    })
}
