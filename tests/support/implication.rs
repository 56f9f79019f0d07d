//! Whether facts imply another one, seen as formulas over the words that they use: what a function
//! returns, its variables, and memory, now and at entry, are free symbols of their types.
//!
//! Nothing here knows what the function does; a fact follows only from what the other facts say.

use git_invdiff::fact::words;
use git_invdiff::ir::{CType, Function, TermId, Unit};
use git_invdiff::smt::{Decider, Limits, Solver, Truth};

/// The words of one point of a function, and what decides about them.
pub struct Words<'u> {
    words: words::Words<'u>,
    decider: Decider,
    solver: Solver,
}

impl<'u> Words<'u> {
    pub fn new(unit: &'u Unit, body: &'u Function) -> Words<'u> {
        let limits = Limits { rlimit: 20_000_000, pointer_bits: unit.data_model.pointer_bits() };
        let mut words = words::Words::new(unit, body);
        words.declare(ANY_INDEX, CType::Int { bits: 64, signed: true, name: "long".into() });
        Words { words, decider: Decider::new(limits, 4), solver: Solver::new(limits) }
    }

    /// Reads a fact as people mean it; `None`: it has words that the reader does not know. A quantified
    /// index is a number of which nothing else is known: what holds of it holds of all.
    pub fn stated(&mut self, text: &str) -> Option<TermId> {
        match Quantified::of(text) {
            Some(fact) => self.words.condition(&fact.at(ANY_INDEX)),
            None => self.words.condition(text),
        }
    }

    /// Reads what a fact about all indices says of those that a stated fact speaks of.
    pub fn instances(&mut self, fact: &str, goal: &str) -> Vec<TermId> {
        let Some(fact) = Quantified::of(fact) else { return Vec::new() };
        let mut indices: Vec<String> = match Quantified::of(goal) {
            Some(_) => vec![ANY_INDEX.into()],
            None => vec!["0".into()],
        };
        indices.extend(goal.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0.to_owned())));
        indices.sort();
        indices.dedup();
        indices.iter().filter_map(|i| self.stated(&fact.at(i))).collect()
    }

    /// Reads a condition that holds at the function's entry.
    pub fn required(&mut self, text: &str) -> Option<TermId> {
        self.words.at_entry(text)
    }

    /// Reads a fact of a report.
    pub fn reported(&mut self, text: &str) -> Option<TermId> {
        self.words.reported(text)
    }

    /// Joins conditions.
    pub fn all(&mut self, conditions: &[TermId]) -> TermId {
        let start = self.words.pool.bool(true);
        conditions.iter().fold(start, |all, c| self.words.pool.and(all, *c))
    }

    /// Whether the goal holds wherever the condition does; what stays open does not count.
    pub fn implies(&mut self, condition: TermId, goal: TermId) -> bool {
        match self.decider.holds(&mut self.words.pool, condition, goal) {
            Truth::Holds => true,
            Truth::Fails(_) => false,
            // The decider leaves out what costs an analysis too much: products of floats.
            Truth::Open { .. } => self.solver.prove(&mut self.words.pool, &[condition], goal).is_unsat(),
        }
    }

    /// Whether the condition is shown to hold nowhere.
    pub fn is_contradiction(&mut self, condition: TermId) -> bool {
        matches!(self.decider.satisfiable(&mut self.words.pool, condition), Ok(None))
    }
}

/// Name of an index that stands for all.
const ANY_INDEX: &str = "any_index";

/// `guard ==> (\forall integer k; body)`.
struct Quantified {
    guard: String,
    body: String,
}

impl Quantified {
    fn of(text: &str) -> Option<Quantified> {
        let (before, body) = text.split_once("\\forall integer k;")?;
        let guard = before.trim_end().strip_suffix('(').unwrap_or(before).to_owned();
        let closed = guard.len() < before.trim_end().len();
        let body = if closed { body.trim_end().strip_suffix(')')? } else { body };
        Some(Quantified { guard, body: body.to_owned() })
    }

    /// The fact of one index, which is no part of a longer word.
    fn at(&self, index: &str) -> String {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut body = String::new();
        let mut previous = ' ';
        let mut rest = self.body.chars().peekable();
        while let Some(c) = rest.next() {
            let is_index = c == 'k' && !is_word(previous) && !rest.peek().copied().is_some_and(is_word);
            if is_index {
                body += &format!("({index})")
            } else {
                body.push(c)
            }
            previous = c;
        }
        format!("{}({})", self.guard, body.trim())
    }
}
