//! Paths that differ at first sight, and do the same after all on some of the ways of the code behind them.
//!
//! Of two paths one ends the function and the other goes on: on which of its ways does that do the same? Or both go on
//! at other places, and one of them comes to where the other is: what it does on its ways there is the difference.
//!
//! `return get(x)` in the place of `n = get(x)` in front of `if (n == 0) die(); return n;` differs where that is 0,
//! and nowhere else. So common code is followed further than it is decided, both ways at each branch, as far as
//! there are few. Where no way ends as the other path does, nothing is gained, and the one difference stays.
//!
//! The same is done where all that differs at a common node is in variables that one version alone reads from there
//! on, and the other one writes first: whether it matters is seen where both read them again.

use super::compare::Comparer;
use super::difference::{Item, Outcome};
use super::follow::{Known, onwards_to};
use super::machine::{End, Literal, Machine, Path, Step};
use super::side::successor;
use crate::ir::{Instr, TermId, VarId};
use crate::mvicfg::{ClassId, MvId};

/// Ways that are followed.
const MAX_WAYS: usize = 6;
/// Calls that are told of what the other version skips.
const MAX_SKIPPED: usize = 3;
/// Pairs of paths of one region of which ways are looked for.
const MAX_FORKS: usize = 12;

impl Comparer<'_> {
    /// What becomes of two paths by the ways of the one that goes on; `None` where that says no more.
    pub(super) fn forked(&mut self, [old, new]: [&Path; 2], items: &[Vec<Item>; 2]) -> Option<Outcome> {
        if self.is_fork || self.cut.is_some() || self.forks >= MAX_FORKS {
            return None;
        }
        self.forks += 1;
        let (class, ways) = match (&old.end, &new.end) {
            (End::At(_), End::Return(_)) => (ClassId::OLD, self.ways(ClassId::OLD, [old, new], None)?),
            (End::Return(_), End::At(_)) => (ClassId::NEW, self.ways(ClassId::NEW, [old, new], None)?),
            // The other one goes its ways as far as what it rests on says.
            (End::At(a), End::At(b)) if a == b => match self.is_read_in_one(*a, items) {
                true => (ClassId::OLD, self.ways(ClassId::OLD, [old, new], None)?),
                false => return None,
            },
            (End::At(a), End::At(b)) => self.skipped([old, new], [*a, *b])?,
            _ => return None,
        };
        let is_skipped = old.end != new.end && matches!((&old.end, &new.end), (End::At(_), End::At(_)));
        if !is_skipped && ways.len() < 2 {
            return None;
        }
        self.is_fork = true;
        let mut all = Outcome::of(None);
        let mut gained = is_skipped;
        for way in &ways {
            if self.is_excluded(way) {
                continue;
            }
            // Two that end at one node go the same way together.
            let other = match (&old.end, &new.end) {
                (End::At(_), End::At(_)) if !is_skipped => &self.onward(ClassId::NEW, new, way, None),
                _ if class == ClassId::OLD => new,
                _ => old,
            };
            let pair = if class == ClassId::OLD { [way, other] } else { [other, way] };
            let mut outcome = Outcome::of(None);
            self.pair(pair[0], pair[1], &mut outcome);
            gained |= outcome.passed.is_some() && outcome.differences.is_empty() && outcome.open.is_none();
            all.absorb(outcome);
        }
        self.is_fork = false;
        // To say where control goes on is more than that something is not known.
        (gained && !(is_skipped && all.open.is_some())).then_some(all)
    }

    /// Whether a way asks for the opposite of what holds where the region begins.
    fn is_excluded(&mut self, way: &Path) -> bool {
        let pool = &mut self.pool;
        let opposites: Vec<TermId> = way.literals.iter().map(|l| pool.not(l.term)).collect();
        opposites.iter().any(|t| self.premises.unasked.contains(t))
    }

    /// The version that does what the other one skips, and its ways there, where these come to the place at which the
    /// other one is, do little before, and end nowhere else but with the function.
    fn skipped(&mut self, paths: [&Path; 2], at: [MvId; 2]) -> Option<(ClassId, Vec<Path>)> {
        for class in ClassId::PAIR {
            let goal = at[class.other()];
            let Some(ways) = self.ways(class, paths, Some(goal)) else { continue };
            let done = paths[class].events.len();
            let is_short = |way: &Path| way.events.len() <= done + MAX_SKIPPED;
            let is_there = |way: &Path| way.end == End::At(goal);
            if ways.iter().any(is_there)
                && ways.iter().all(|way| {
                    is_short(way) && (is_there(way) || matches!(way.end, End::Return(_) | End::Ends))
                })
            {
                return Some((class, ways));
            }
        }
        None
    }

    /// Whether all that differs at a node are variables that one version alone reads from there on.
    fn is_read_in_one(&self, node: MvId, items: &[Vec<Item>; 2]) -> bool {
        let is_read = |class: ClassId, v: VarId| self.liveness.before(class, node).contains(v);
        items.iter().flatten().all(
            |i| matches!(i, Item::Variable(v, _) if is_read(ClassId::OLD, *v) != is_read(ClassId::NEW, *v)),
        )
    }

    /// The ways of a path through common code, each until the function ends, it comes to a goal or something is not
    /// followed; `None` where there are too many.
    fn ways(&mut self, class: ClassId, paths: [&Path; 2], goal: Option<MvId>) -> Option<Vec<Path>> {
        let side = self.sides[class];
        let mut work = vec![paths[class].clone()];
        let mut done: Vec<Path> = Vec::new();
        while let Some(path) = work.pop() {
            let path = self.onward(class, &path, paths[class.other()], goal);
            let End::At(node) = path.end else {
                done.push(path);
                continue;
            };
            if Some(node) == goal {
                done.push(path);
                continue;
            }
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
        Some(done)
    }

    /// Where a path comes to under what it and another one rest on, a goal at most.
    fn onward(&mut self, class: ClassId, path: &Path, other: &Path, goal: Option<MvId>) -> Path {
        let literals = other.literals.iter().chain(&path.literals).map(|l| l.term);
        let conditions: Vec<TermId> = self.premises.conditions.iter().copied().chain(literals).collect();
        let known = Known::of(&mut self.pool, &conditions);
        let units = self.sides.map(|side| side.version.unit);
        let goals = goal.into_iter().collect();
        onwards_to(self.graph, &mut self.pool, (self.sides[class], units), path, (&known, &goals))
    }
}
