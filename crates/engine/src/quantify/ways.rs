//! The ways that the inputs of a small domain take through a function, found from the inputs.
//!
//! An exploration follows a path unless it is seen that no input takes it. Where conditions are too much work for that,
//! there may be more such paths than it can follow. Here the inputs are gone through one by one: one that takes no known
//! way is followed alone, and what it meets at each decision is a new way. An exploration that asks these ways then
//! follows just the paths that some input takes.
//!
//! Concrete runs that choose the paths of a symbolic one are those of DART (Godefroid, Klarlund, Sen, PLDI 2005).

use super::conditions::Tree;
use super::inputs::Inputs;
use super::paths::{Explored, Limits};
use crate::count::Counter;
use crate::ir::eval::Changing;
use crate::ir::{TermId, TermPool};

/// All ways, each with all that its inputs meet at decisions.
pub struct Ways<'c> {
    counter: &'c mut Counter,
    /// By way, in ascending order.
    met: Vec<Vec<TermId>>,
    /// The conditions that were asked last, each with the ways that meet those up to it.
    asked: Vec<(TermId, Vec<usize>)>,
}

impl<'c> Ways<'c> {
    /// Finds the ways of a small domain. `explore` follows what inputs may take. `None`: the domain is large, there are
    /// more ways than the bound, it is too much work, or a decision rests on what is no input.
    pub fn of(
        pool: &mut TermPool,
        counter: &'c mut Counter,
        limits: Limits,
        explore: &mut dyn FnMut(&mut TermPool, &mut dyn Inputs) -> Explored,
    ) -> Option<Ways<'c>> {
        let mut tree = Tree::of([]);
        let mut met: Vec<Vec<TermId>> = Vec::new();
        let (mut steps, mut work) = (0, limits.work);
        let mut points = counter.points(pool)?;
        points.each(&mut work, &mut |_, terms| {
            if !met.is_empty() && tree.taken_by(pool, terms)?.is_some() {
                return Some(());
            }
            let mut one = One { counter, terms, met: Vec::new(), is_lost: false };
            let explored = explore(pool, &mut one);
            steps += explored.tree.steps();
            if explored.is_cut || one.is_lost || steps > limits.all_steps || met.len() >= limits.paths {
                return None;
            }
            tree.add(&one.met, met.len());
            met.push(one.met);
            Some(())
        })?;
        met.iter_mut().for_each(|way| way.sort_unstable());
        Some(Ways { counter, met, asked: Vec::new() })
    }

    /// Whether the inputs of a way meet a condition.
    fn meets(&self, way: usize, condition: TermId) -> bool {
        self.met.get(way).is_some_and(|met| met.binary_search(&condition).is_ok())
    }
}

impl Inputs for Ways<'_> {
    fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<(i128, i128)> {
        self.counter.bounds(pool, t)
    }

    fn may_meet(&mut self, _: &mut TermPool, conditions: &[TermId], literal: TermId) -> bool {
        let known = self.asked.iter().zip(conditions).take_while(|((a, _), b)| a == *b).count();
        self.asked.truncate(known);
        for c in conditions.iter().skip(known) {
            let of = |way: &usize| self.meets(*way, *c);
            let ways = match self.asked.last() {
                Some((_, ways)) => ways.iter().copied().filter(of).collect(),
                None => (0..self.met.len()).filter(of).collect(),
            };
            self.asked.push((*c, ways));
        }
        match self.asked.last() {
            Some((_, ways)) => ways.iter().any(|way| self.meets(*way, literal)),
            None => (0..self.met.len()).any(|way| self.meets(way, literal)),
        }
    }

    fn is_spent(&self) -> bool {
        false
    }
}

/// One input.
struct One<'a> {
    counter: &'a mut Counter,
    terms: &'a mut Changing,
    /// What it meets, in the order in which that was asked.
    met: Vec<TermId>,
    /// Something that was asked has no value.
    is_lost: bool,
}

impl Inputs for One<'_> {
    fn bounds(&mut self, pool: &TermPool, t: TermId) -> Option<(i128, i128)> {
        self.counter.bounds(pool, t)
    }

    fn may_meet(&mut self, pool: &mut TermPool, _: &[TermId], literal: TermId) -> bool {
        let value = self.terms.add(pool, &[literal]).and_then(|()| self.terms.holds(pool, literal));
        self.is_lost |= value.is_none();
        let holds = value == Some(true);
        let met = if holds { literal } else { pool.not(literal) };
        if !self.met.contains(&met) {
            self.is_lost |= self.terms.add(pool, &[met]).is_none();
            self.met.push(met);
        }
        holds
    }

    fn is_spent(&self) -> bool {
        self.is_lost
    }
}
