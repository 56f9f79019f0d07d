//! Facts of one kind about all elements of an array as one: `s->words[0] == 0`, `s->words[1] == 0`, ... as
//! `\forall integer k; 0 <= k && k < 8 ==> s->words[k] == 0`.
//!
//! Loops with few iterations are laid out, and what they store is a fact for each element. Where these are
//! the same but for the index, from 0 on without a gap, a reader is better served with one.

use crate::fact::{Expression, Formula};
use crate::invariant::fact::{Fact, Template};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Kind;
use std::collections::BTreeMap;

/// Fewer elements are told one by one.
const LEAST: usize = 3;

/// Name of the index.
const INDEX: &str = "k";

/// An equation of one element, with [`INDEX`] for its index.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    element: Expression,
    value: Expression,
}

impl FunctionAnalysis<'_> {
    /// Adds a fact of all elements where there is one of each. The single ones are left out unless all facts
    /// are asked for.
    pub(in crate::invariant) fn series(&mut self) {
        if self.diff.point.kind != Kind::Exit {
            return;
        }
        for (frame, mut members) in series_of(&self.diff.invariants) {
            let Some(fact) = self.fact_of(&frame, &members) else { continue };
            if !self.task.options.all {
                members.sort_unstable();
                members.into_iter().rev().for_each(|at| _ = self.diff.invariants.remove(at));
            }
            self.diff.cells.extend(fact.variables.iter().cloned());
            self.diff.invariants.push(fact);
            // Positions have changed: one array is enough for a function's exit.
            return;
        }
    }

    fn fact_of(&self, Frame { element, value }: &Frame, members: &[usize]) -> Option<Fact> {
        let facts: Vec<&Fact> = members.iter().filter_map(|at| self.diff.invariants.get(*at)).collect();
        let first = facts.first()?;
        let mut fact = (*first).clone();
        fact.template = Template::Comparison;
        fact.variables = vec![element.to_string()];
        let all = format!("0 <= {INDEX} && {INDEX} < {}", facts.len());
        fact.formula = Formula::read(format!("\\forall integer {INDEX}; {all} ==> {element} == {value}"));
        fact.c = None;
        for other in &facts {
            if other.classes != first.classes || other.bounds != first.bounds {
                return None;
            }
            fact.assumptions.extend(other.assumptions.iter().cloned());
            for (class, lines) in &other.lines {
                let all = fact.lines.entry(*class).or_default();
                all.extend(lines);
                all.sort_unstable();
                all.dedup();
            }
        }
        fact.assumptions.sort();
        fact.assumptions.dedup();
        Some(fact)
    }
}

/// Facts that are equal but for one index, which runs from 0 on without a gap, by what they share.
fn series_of(facts: &[Fact]) -> Vec<(Frame, Vec<usize>)> {
    let mut found: Vec<(Frame, BTreeMap<i128, usize>)> = Vec::new();
    for (at, fact) in facts.iter().enumerate() {
        let Some((frame, index)) = taken_apart(fact) else { continue };
        match found.iter_mut().find(|(f, _)| *f == frame) {
            Some((_, members)) => _ = members.insert(index, at),
            None => found.push((frame, BTreeMap::from([(index, at)]))),
        }
    }
    let is_series = |members: &BTreeMap<i128, usize>| {
        members.len() >= LEAST && members.keys().enumerate().all(|(n, index)| n as i128 == *index)
    };
    found.retain(|(_, members)| is_series(members));
    found.sort_by_key(|(frame, _)| (frame.element.to_string(), frame.value.to_string()));
    found.into_iter().map(|(frame, members)| (frame, members.into_values().collect())).collect()
}

/// The equation of one element without its index, and the index. The value must not depend on it.
fn taken_apart(fact: &Fact) -> Option<(Frame, i128)> {
    let [name] = fact.variables.as_slice() else { return None };
    let (left, value) = fact.formula.always().and_then(|_| fact.formula.equation())?;
    if left.to_string() != *name {
        return None;
    }
    let mut element = left.clone();
    let (array, index) = element.index_by(INDEX)?;
    let unrelated = !value.any(&|e| *e == array);
    unrelated.then(|| (Frame { element, value: value.clone() }, index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mvicfg::{ClassId, ClassSet};

    fn check(texts: &[&str], expected: &[(&str, &str, usize)]) {
        let fact = |text: &&str| {
            let formula = Formula::read(*text);
            Fact {
                template: Template::Constant,
                variables: formula.equation().map(|(left, _)| left.to_string()).into_iter().collect(),
                formula,
                c: None,
                classes: ClassSet::single(ClassId::ONLY),
                assumptions: Vec::new(),
                lines: BTreeMap::new(),
                bounds: BTreeMap::new(),
            }
        };
        let facts: Vec<Fact> = texts.iter().map(fact).collect();
        let found: Vec<(String, String, usize)> = series_of(&facts)
            .into_iter()
            .map(|(f, m)| (f.element.to_string(), f.value.to_string(), m.len()))
            .collect();
        let expected: Vec<(String, String, usize)> =
            expected.iter().map(|(a, b, n)| ((*a).to_owned(), (*b).to_owned(), *n)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_facts_of_elements_are_one() {
        check(&["s->w[0] == 0", "s->w[2] == 0", "s->w[1] == 0"], &[("s->w[k]", "0", 3)]);
        check(&["t[0].a == x", "t[1].a == x", "t[2].a == x"], &[("t[k].a", "x", 3)]);
    }

    #[test]
    fn gaps_and_other_values_are_none() {
        check(&["a[0] == 0", "a[1] == 0"], &[]);
        check(&["a[1] == 0", "a[2] == 0", "a[3] == 0"], &[]);
        check(&["a[0] == 0", "a[1] == 1", "a[2] == 0"], &[]);
        check(&["m[0][1] == 0", "m[1][1] == 0", "m[2][1] == 0"], &[]);
        check(&["a[0] == a[9]", "a[1] == a[9]", "a[2] == a[9]"], &[]);
    }
}
