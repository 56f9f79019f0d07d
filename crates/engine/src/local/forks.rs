//! Paths of which one ends the function and the other goes on: on which of its ways the other does the same after
//! all.
//!
//! `return get(x)` in the place of `n = get(x)` in front of `if (n == 0) die(); return n;` differs where that is 0,
//! and nowhere else. So common code is followed further than it is decided, both ways at each branch, as far as
//! there are few. Where no way ends as the other path does, nothing is gained, and the one difference stays.

use super::compare::Comparer;
use super::difference::Outcome;
use super::follow::{Known, onwards};
use super::machine::{End, Literal, Machine, Path, Step};
use super::side::successor;
use crate::ir::{Instr, TermId};

/// Ways that are followed.
const MAX_WAYS: usize = 6;
/// Pairs of paths of one region of which ways are looked for.
const MAX_FORKS: usize = 6;

impl Comparer<'_> {
    /// What becomes of two paths by the ways of the one that goes on; `None` where that says no more.
    pub(super) fn forked(&mut self, old: &Path, new: &Path) -> Option<Outcome> {
        let class = match (&old.end, &new.end) {
            (End::At(_), End::Return(_)) => 0,
            (End::Return(_), End::At(_)) => 1,
            _ => return None,
        };
        if self.is_fork || self.cut.is_some() || self.forks >= MAX_FORKS {
            return None;
        }
        self.forks += 1;
        let ways = self.ways(class, [old, new])?;
        self.is_fork = true;
        let mut all = Outcome::of(None);
        let mut gained = false;
        for way in &ways {
            let pair = if class == 0 { [way, new] } else { [old, way] };
            let mut outcome = Outcome::of(None);
            self.pair(pair[0], pair[1], &mut outcome);
            gained |= outcome.passed.is_some() && outcome.differences.is_empty() && outcome.open.is_none();
            all.absorb(outcome);
        }
        self.is_fork = false;
        gained.then_some(all)
    }

    /// The ways of a path through common code, each until the function ends or something is not followed; `None`
    /// where there is one only, or are too many.
    fn ways(&mut self, class: usize, paths: [&Path; 2]) -> Option<Vec<Path>> {
        let side = self.sides[class];
        let shared: Vec<TermId> = paths[1 - class].literals.iter().map(|l| l.term).collect();
        let mut work = vec![paths[class].clone()];
        let mut done: Vec<Path> = Vec::new();
        while let Some(path) = work.pop() {
            let conditions: Vec<TermId> = self
                .premises
                .conditions
                .iter()
                .copied()
                .chain(shared.iter().copied())
                .chain(path.literals.iter().map(|l| l.term))
                .collect();
            let known = Known::of(&mut self.pool, &conditions);
            let path = onwards(self.graph, &mut self.pool, side, &path, &known);
            let End::At(node) = path.end else {
                done.push(path);
                continue;
            };
            let is_branch = matches!(self.graph.node(node).instr, Instr::Branch { .. });
            if !is_branch || side.flow.loop_at[node.0 as usize].is_some() {
                done.push(path);
                continue;
            }
            if done.len() + work.len() + 2 > MAX_WAYS {
                return None;
            }
            let mut at = path.clone();
            at.node = node;
            let mut machine = Machine { graph: self.graph, pool: &mut self.pool, side };
            let Ok(Step::Branch(condition)) = machine.step(&mut at) else { return None };
            at.visited.insert(node);
            for (label, holds) in [(1, false), (0, true)] {
                let to = successor(self.graph, class, node, label)?;
                let term = if holds { condition } else { self.pool.not(condition) };
                let mut next = at.clone();
                next.literals.push(Literal { term, class, node, holds });
                next.end = End::At(to);
                work.push(next);
            }
        }
        (done.len() > 1).then_some(done)
    }
}
