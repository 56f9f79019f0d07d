//! The condition on which two versions differ; elsewhere they agree (quantitative partial equivalence).
//!
//! Pairs of paths that differ give conjunctions that have no input in common. Each is made as wide as it can be
//! without an input on which the versions do not differ: exactly, by counting. What is then a box is said by
//! the bounds of its inputs, because that is how a person would say it.

use super::input::Candidate;
use crate::count::{Count, Counter, Range};
use crate::ir::{Op, Sort, TermId, TermPool};

/// Pairs of paths that are put into words together.
pub(super) const MOST_PIECES: usize = 24;
/// Conditions of one pair.
const MOST_CONDITIONS: usize = 40;
/// Alternatives that somebody would read.
const MOST_SAID: usize = 4;

/// Finds the condition for some inputs.
pub struct Agreement<'p> {
    pub pool: &'p mut TermPool,
    pub counter: &'p mut Counter,
    pub candidates: &'p [Candidate],
    pub work: &'p mut u64,
}

impl Agreement<'_> {
    /// Alternatives, each a conjunction, that hold on just the inputs of the pieces; none where that takes more
    /// than a few, or more than the work. Pieces have no input in common.
    pub fn widened(&mut self, pieces: &[Vec<TermId>]) -> Option<Vec<Vec<TermId>>> {
        if pieces.len() > MOST_PIECES {
            return None;
        }
        let pieces: Vec<Vec<TermId>> = pieces.iter().map(|p| self.literals(p)).collect();
        let mut said: Vec<Vec<TermId>> = Vec::new();
        for piece in &pieces {
            if piece.len() > MOST_CONDITIONS {
                return None;
            }
            let own = self.count(piece)?;
            if own == 0 || self.is_said(piece, own, &said)? {
                continue;
            }
            if said.len() == MOST_SAID {
                return None;
            }
            let wide = self.widest(piece.clone(), &pieces)?;
            said.push(self.boxed(wide)?);
        }
        Some(said)
    }

    /// Parts of conjunctions, each once.
    fn literals(&self, conditions: &[TermId]) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut open: Vec<TermId> = conditions.iter().rev().copied().collect();
        while let Some(t) = open.pop() {
            match self.pool.as_op(t, Op::And) {
                Some(args) => open.extend(args.iter().rev()),
                None if !found.contains(&t) => found.push(t),
                None => {}
            }
        }
        found
    }

    fn count(&mut self, conditions: &[TermId]) -> Option<i128> {
        match self.counter.count(self.pool, conditions, self.work) {
            Count::Exact(n) => Some(n),
            _ => None,
        }
    }

    fn count_both(&mut self, a: &[TermId], b: &[TermId]) -> Option<i128> {
        let mut both = a.to_vec();
        both.extend(b.iter().filter(|c| !a.contains(c)));
        self.count(&both)
    }

    /// Whether what is said holds on all inputs of a piece, of which there are `n`.
    fn is_said(&mut self, piece: &[TermId], n: i128, said: &[Vec<TermId>]) -> Option<bool> {
        for s in said {
            if self.count_both(piece, s)? == n {
                return Some(true);
            }
        }
        Some(false)
    }

    /// A conjunction without the conditions that it does not need: all its inputs stay inputs of some piece.
    fn widest(&mut self, mut piece: Vec<TermId>, pieces: &[Vec<TermId>]) -> Option<Vec<TermId>> {
        let mut k = 0;
        while k < piece.len() {
            let mut less = piece.clone();
            less.remove(k);
            let all = self.count(&less)?;
            let mut inside = 0i128;
            for p in pieces {
                inside = inside.checked_add(self.count_both(&less, p)?)?;
            }
            if inside == all {
                piece = less;
            } else {
                k += 1;
            }
        }
        Some(piece)
    }

    /// The bounds of the inputs, where they say the same as the conditions.
    fn boxed(&mut self, conditions: Vec<TermId>) -> Option<Vec<TermId>> {
        // The bounds of floats, their neighbours, are not how a person would say it.
        let mentioned = self.pool.reachable(&conditions);
        if self.candidates.iter().any(|c| c.float.is_some() && mentioned.contains(&c.term)) {
            return Some(conditions);
        }
        let all = self.count(&conditions)?;
        let mut bounds = Vec::new();
        let candidates = self.candidates;
        for c in candidates {
            let is_mentioned = mentioned.contains(&c.term);
            let range = self.counter.domain().inputs.iter().find(|i| i.term == c.term).map(|i| i.range);
            let (true, Some((low, high))) = (is_mentioned, range) else { continue };
            let hull = self.hull(&conditions, c, (low, high))?;
            bounds.extend(self.bounds(c, (low, high), hull));
        }
        let is_box = bounds.len() <= conditions.len() && self.count(&bounds)? == all;
        Some(if is_box { bounds } else { conditions })
    }

    /// The least value of an input on which conditions hold, and the most.
    fn hull(&mut self, conditions: &[TermId], c: &Candidate, (low, high): Range) -> Option<Range> {
        let least = self.first(conditions, (low, high), &mut |own, n| own.at_most(c, n))?;
        let most = self.first(conditions, (-high, -low), &mut |own, n| own.at_least(c, -n))?;
        Some((least, -most))
    }

    /// The first number of a range with which a growing condition has an input in common with conditions that
    /// have one, by halves.
    fn first(
        &mut self,
        conditions: &[TermId],
        (mut low, mut high): Range,
        grown: &mut dyn FnMut(&mut Self, i128) -> TermId,
    ) -> Option<i128> {
        while low < high {
            let middle = low + (high - low) / 2;
            let more = grown(self, middle);
            match self.count_both(conditions, &[more])? {
                0 => low = middle + 1,
                _ => high = middle,
            }
        }
        Some(low)
    }

    /// `x == n`, or the sides of a range that the domain does not give.
    fn bounds(&mut self, c: &Candidate, domain: Range, (least, most): Range) -> Vec<TermId> {
        let mut found = Vec::new();
        if least == most && domain.0 != domain.1 {
            let number = self.number(c, least);
            found.push(self.pool.eq(c.term, number));
            return found;
        }
        if least > domain.0 {
            found.push(self.at_least(c, least));
        }
        if most < domain.1 {
            found.push(self.at_most(c, most));
        }
        found
    }

    fn number(&mut self, c: &Candidate, value: i128) -> TermId {
        match self.pool.sort(c.term) {
            Sort::Bv(width) => self.pool.bv(width, value),
            _ => self.pool.bool(value != 0),
        }
    }

    fn at_most(&mut self, c: &Candidate, value: i128) -> TermId {
        let number = self.number(c, value);
        let op = if c.whole.0 < 0 { Op::Sle } else { Op::Ule };
        self.pool.op(op, &[c.term, number])
    }

    fn at_least(&mut self, c: &Candidate, value: i128) -> TermId {
        let number = self.number(c, value);
        let op = if c.whole.0 < 0 { Op::Sle } else { Op::Ule };
        self.pool.op(op, &[number, c.term])
    }
}
