//! Paths that differ at first sight, and do the same after all on some of the ways of the code behind them.
//!
//! Of two paths one ends the function and the other goes on: on which of its ways does that do the same?
//!
//! `return get(x)` in the place of `n = get(x)` in front of `if (n == 0) die(); return n;` differs where that is 0,
//! and nowhere else. So common code is followed further than it is decided, both ways at each branch, as far as
//! there are few. Where no way ends as the other path does, nothing is gained, and the one difference stays.
//!
//! The same is done where all that differs at a common node is in variables that one version alone reads from there
//! on, and the other one writes first: whether it matters is seen where both read them again.

use super::compare::Comparer;
use super::difference::{Item, Outcome};
use super::follow::{Known, onwards};
use super::machine::{End, Literal, Machine, Path, Step};
use super::side::successor;
use crate::ir::{Instr, TermId, VarId};
use crate::mvicfg::MvId;

/// Ways that are followed.
const MAX_WAYS: usize = 6;
/// Pairs of paths of one region of which ways are looked for.
const MAX_FORKS: usize = 6;

impl Comparer<'_> {
    /// What becomes of two paths by the ways of the one that goes on; `None` where that says no more.
    pub(super) fn forked(&mut self, [old, new]: [&Path; 2], items: &[Vec<Item>; 2]) -> Option<Outcome> {
        let class = match (&old.end, &new.end) {
            (End::At(_), End::Return(_)) => 0,
            (End::Return(_), End::At(_)) => 1,
            // The other one goes its ways as far as what it rests on says.
            (End::At(a), End::At(b)) if a == b && self.is_read_in_one(*a, items) => 0,
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
            // Two that end at one node go the same way together.
            let other = match (&old.end, &new.end) {
                (End::At(_), End::At(_)) => &self.onward(1, new, way),
                _ if class == 0 => new,
                _ => old,
            };
            let pair = if class == 0 { [way, other] } else { [other, way] };
            let mut outcome = Outcome::of(None);
            self.pair(pair[0], pair[1], &mut outcome);
            gained |= outcome.passed.is_some() && outcome.differences.is_empty() && outcome.open.is_none();
            all.absorb(outcome);
        }
        self.is_fork = false;
        gained.then_some(all)
    }

    /// Whether all that differs at a node are variables that one version alone reads from there on.
    fn is_read_in_one(&self, node: MvId, items: &[Vec<Item>; 2]) -> bool {
        let is_read = |class: usize, v: VarId| self.liveness.before(class, node).contains(v.0 as usize);
        items.iter().flatten().all(|i| matches!(i, Item::Variable(v, _) if is_read(0, *v) != is_read(1, *v)))
    }

    /// The ways of a path through common code, each until the function ends or something is not followed; `None`
    /// where there is one only, or are too many.
    fn ways(&mut self, class: usize, paths: [&Path; 2]) -> Option<Vec<Path>> {
        let side = self.sides[class];
        let mut work = vec![paths[class].clone()];
        let mut done: Vec<Path> = Vec::new();
        while let Some(path) = work.pop() {
            let path = self.onward(class, &path, paths[1 - class]);
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

    /// Where a path comes to under what it and another one rest on.
    fn onward(&mut self, class: usize, path: &Path, other: &Path) -> Path {
        let literals = other.literals.iter().chain(&path.literals).map(|l| l.term);
        let conditions: Vec<TermId> = self.premises.conditions.iter().copied().chain(literals).collect();
        let known = Known::of(&mut self.pool, &conditions);
        let units = self.sides.map(|side| side.version.unit);
        onwards(self.graph, &mut self.pool, (self.sides[class], units), path, &known)
    }
}
