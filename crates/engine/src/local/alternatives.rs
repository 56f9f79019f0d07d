//! Differences with the same effects, under conditions of which either will do: `n < 0 || n > 9` in one row.
//!
//! Of two conjunctions that share all but a test each, the disjunction of these two is told (`A` and `!A && B` are
//! `A || B`), where both have short words. What a macro tests of its arguments decides nothing but what its use does,
//! and is left out beside that.

use super::calls::{argument_words, decayed, shortened};
use super::conditions::joined;
use super::effect::{Effect, Verb, Words};
use super::machine::{Event, Literal};
use super::side::expansion;
use super::texts::is_plain;
use super::words::{Said, Speaker};
use crate::ir::{Op, TermId, TermPool};
use crate::mvicfg::ClassId;
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
        let all = ClassId::PAIR
            .map(|class| events.iter().flat_map(|e| e[class].iter().cloned()).collect::<Vec<_>>());
        let namings = ClassId::PAIR.map(|class| self.as_now(class, &all[class]));
        let mut i = 0;
        while i < said.len() {
            let found = (i + 1..said.len()).find_map(|j| {
                let (a, b) = (&said[i], &said[j]);
                let one = match a.before == b.before && a.now == b.now {
                    true => {
                        let literals = self.alternatives((&a.literals, &b.literals), &namings)?;
                        Said { literals, before: a.before.clone(), now: a.now.clone(), order: a.order }
                    }
                    false => self.within_use(a, b)?,
                };
                Some((j, one))
            });
            match found {
                Some((j, one)) => {
                    said[i] = one;
                    said.remove(j);
                    i = 0;
                }
                None => i += 1,
            }
        }
    }

    /// One difference for two that a test within a macro's use tells apart, where they differ in that use alone: what it
    /// tests is its own matter.
    fn within_use(&mut self, a: &Said, b: &Said) -> Option<Said> {
        let literals = joined(self.pool, &a.literals, &b.literals)?;
        let is_left_out = |l: &&Literal| !literals.iter().any(|k| k.term == l.term);
        let [test] = a.literals.iter().filter(is_left_out).collect::<Vec<_>>()[..] else { return None };
        let name = &expansion(self.graph, test.class, test.node)?.name;
        let before = same_but_for(&a.before, &b.before, name)?;
        let now = same_but_for(&a.now, &b.now, name)?;
        Some(Said { literals, before, now, order: a.order.min(b.order) })
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

/// Effects that are the same but for what a macro does: with its use where one list has it alone, and with those of its
/// arguments that both have.
fn same_but_for(a: &[Effect], b: &[Effect], name: &str) -> Option<Vec<Effect>> {
    let start = format!("{name}(");
    let is_use =
        |e: &Effect| matches!(e.words.verb, Verb::Calls | Verb::EndsIn) && e.words.of.starts_with(&start);
    let others =
        |of: &[Effect]| of.iter().filter(|e| !is_use(e)).map(|e| e.words.clone()).collect::<Vec<_>>();
    let uses = |of: &[Effect]| of.iter().filter(|e| is_use(e)).cloned().collect::<Vec<Effect>>();
    if others(a) != others(b) {
        return None;
    }
    match (uses(a).as_slice(), uses(b).as_slice()) {
        (_, []) => Some(a.to_vec()),
        ([], _) => Some(b.to_vec()),
        ([one], [other]) => {
            let of = common_words(&one.words.of, &other.words.of, name)?;
            let words = Words { of, ..one.words.clone() };
            let told = |e: &Effect| match is_use(e) {
                true => Effect { words: words.clone(), ..e.clone() },
                false => e.clone(),
            };
            Some(a.iter().map(told).collect())
        }
        _ => None,
    }
}

/// A call with the arguments that two have in common.
fn common_words(a: &str, b: &str, name: &str) -> Option<String> {
    let (x, y) = (argument_words(a, name)?, argument_words(b, name)?);
    let word = |(x, y): (&String, &String)| {
        // One that is cut is as long as the other words leave it.
        let [p, q] = [x, y].map(|w| w.strip_suffix("…\"").unwrap_or(w));
        match x == y || x.ends_with("…\"") && y.starts_with(p) {
            true => x.clone(),
            false if y.ends_with("…\"") && x.starts_with(q) => y.clone(),
            false => "…".to_owned(),
        }
    };
    let mut words: Vec<String> = x.iter().zip(&y).map(word).collect();
    if x.len() != y.len() {
        words.push("…".to_owned());
    }
    Some(shortened(name, words))
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
