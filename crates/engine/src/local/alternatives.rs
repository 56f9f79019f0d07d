//! Differences with the same effects, under conditions of which either will do: `n < 0 || n > 9` in one row.
//!
//! Of two conjunctions that share all but a test each, the disjunction of these two is told (`A` and `!A && B` are
//! `A || B`), where both have short words.

use super::calls::decayed;
use super::conditions::joined;
use super::machine::{Event, Literal};
use super::texts::is_plain;
use super::words::{Said, Speaker};
use crate::ir::{Op, TermId, TermPool};
use crate::semantics::c_text::{Naming, render};

/// Characters of the longest test that becomes part of a disjunction.
const LONGEST: usize = 60;
/// Tests of a disjunction.
const MOST: usize = 4;

impl Speaker<'_> {
    /// Joins what has the same effects under alternatives, as long as there is any.
    pub(super) fn join_alternatives(&mut self, said: &mut Vec<Said>, events: &[[Vec<Event>; 2]]) {
        if said.len() < 2 {
            return;
        }
        let all = [0, 1]
            .map(|class: usize| events.iter().flat_map(|e| e[class].iter().cloned()).collect::<Vec<_>>());
        let namings = [0, 1].map(|class: usize| self.as_now(class, &all[class]));
        let mut i = 0;
        while i < said.len() {
            let joins = |j: &usize| said[*j].before == said[i].before && said[*j].now == said[i].now;
            let others: Vec<usize> = (i + 1..said.len()).filter(joins).collect();
            let found = others.into_iter().find_map(|j| {
                let literals = self.alternatives((&said[i].literals, &said[j].literals), &namings)?;
                Some((j, literals))
            });
            match found {
                Some((j, literals)) => {
                    said[i].literals = literals;
                    said.remove(j);
                    i = 0;
                }
                None => i += 1,
            }
        }
    }

    fn alternatives(
        &mut self,
        (a, b): (&[Literal], &[Literal]),
        namings: &[Naming; 2],
    ) -> Option<Vec<Literal>> {
        if let Some(literals) = joined(self.pool, a, b) {
            return Some(literals);
        }
        let only = |of: &[Literal], other: &[Literal]| -> Vec<Literal> {
            of.iter().filter(|l| !other.iter().any(|o| o.term == l.term)).copied().collect()
        };
        let (of_a, of_b) = (only(a, b), only(b, a));
        let (one, other) = either(self.pool, &of_a, &of_b).or_else(|| either(self.pool, &of_b, &of_a))?;
        if one.class != other.class || !self.has_words(&one, namings) || !self.has_words(&other, namings) {
            return None;
        }
        if [one, other].iter().map(|l| tests(self.pool, l.term).len()).sum::<usize>() > MOST {
            return None;
        }
        let term = self.pool.or(one.term, other.term);
        let shared = a.iter().filter(|l| b.iter().any(|o| o.term == l.term)).copied();
        let mut literals: Vec<Literal> = shared.collect();
        literals.push(Literal { term, ..one });
        // Callers that give none of either are told of both rows, or of none.
        let of = [a, b, &literals].map(|l| self.calls.rule_out(self.pool, l));
        (of[0] == of[1] && of[1] == of[2]).then_some(literals)
    }

    /// Whether each test of a disjunction can be said in a few names.
    fn has_words(&self, literal: &Literal, namings: &[Naming; 2]) -> bool {
        tests(self.pool, literal.term).iter().all(|t| {
            let text = decayed(&render(self.pool, *t, &namings[literal.class]));
            is_plain(&text) && text.chars().count() <= LONGEST
        })
    }
}

/// The tests that a term is a disjunction of.
fn tests(pool: &TermPool, term: TermId) -> Vec<TermId> {
    pool.as_op(term, Op::Or).map_or_else(|| vec![term], <[TermId]>::to_vec)
}

/// Of two conjunctions the one test of the first, and the one of the second beside negations of the first's.
fn either(pool: &mut TermPool, a: &[Literal], b: &[Literal]) -> Option<(Literal, Literal)> {
    let [one] = a else { return None };
    let denied: Vec<TermId> = tests(pool, one.term).into_iter().map(|t| pool.not(t)).collect();
    let rest: Vec<&Literal> = b.iter().filter(|l| !denied.contains(&l.term)).collect();
    match rest.as_slice() {
        [other] => Some((*one, **other)),
        _ => None,
    }
}
