//! Facts of one kind about all elements of an array as one: `s->words[0] == 0`, `s->words[1] == 0`, ... as
//! `\forall integer k; 0 <= k && k < 8 ==> s->words[k] == 0`.
//!
//! Loops with few iterations are laid out, and what they store is a fact for each element. Where these are
//! the same but for the index, from 0 on without a gap, a reader is better served with one.

use super::consolidate::Engine;
use super::fact::{Fact, Template};
use super::point::Kind;
use std::collections::BTreeMap;

/// Fewer elements are told one by one.
const LEAST: usize = 3;

/// What facts of several elements have in common: the text before the index and behind it.
type Frame = (String, String);

impl Engine<'_> {
    /// Adds a fact of all elements where there is one of each. The single ones are left out unless all facts
    /// are asked for.
    pub(super) fn series(&mut self) {
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

    fn fact_of(&self, (before, behind): &Frame, members: &[usize]) -> Option<Fact> {
        let facts: Vec<&Fact> = members.iter().filter_map(|at| self.diff.invariants.get(*at)).collect();
        let first = facts.first()?;
        let (place, value) = behind.split_once(" == ")?;
        let name = format!("{before}[k{place}");
        let mut fact = (*first).clone();
        fact.template = Template::Comparison;
        fact.variables = vec![name.clone()];
        fact.text = format!("\\forall integer k; 0 <= k && k < {} ==> {name} == {value}", facts.len());
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
fn series_of(facts: &[Fact]) -> BTreeMap<Frame, Vec<usize>> {
    let mut found: BTreeMap<Frame, BTreeMap<usize, usize>> = BTreeMap::new();
    for (at, fact) in facts.iter().enumerate() {
        if let Some((frame, index)) = taken_apart(fact) {
            found.entry(frame).or_default().insert(index, at);
        }
    }
    let is_series = |members: &BTreeMap<usize, usize>| {
        members.len() >= LEAST && members.keys().enumerate().all(|(n, index)| n == *index)
    };
    found.retain(|_, members| is_series(members));
    found.into_iter().map(|(frame, members)| (frame, members.into_values().collect())).collect()
}

/// The text of an equation of one element without its index, and the index. The value must not depend on
/// it.
fn taken_apart(fact: &Fact) -> Option<(Frame, usize)> {
    let [name] = fact.variables.as_slice() else { return None };
    let value = fact.text.strip_prefix(name.as_str())?.strip_prefix(" == ")?;
    let (before, rest) = name.split_once('[')?;
    let (index, place) = rest.split_once(']')?;
    let unrelated = !value.contains(before) && !place.contains('[');
    let frame = (before.to_owned(), format!("]{place} == {value}"));
    Some((frame, index.parse().ok().filter(|_| unrelated)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mvicfg::VersionSet;

    fn check(texts: &[&str], expected: &[(&str, &str, usize)]) {
        let fact = |text: &&str| Fact {
            template: Template::Constant,
            variables: vec![text.split(" ==").next().unwrap_or("").to_owned()],
            text: (*text).to_owned(),
            c: None,
            classes: VersionSet::single(0),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
            bounds: BTreeMap::new(),
        };
        let facts: Vec<Fact> = texts.iter().map(fact).collect();
        let found: Vec<(String, String, usize)> =
            series_of(&facts).into_iter().map(|((a, b), m)| (a, b, m.len())).collect();
        let expected: Vec<(String, String, usize)> =
            expected.iter().map(|(a, b, n)| ((*a).to_owned(), (*b).to_owned(), *n)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_facts_of_elements_are_one() {
        check(&["s->w[0] == 0", "s->w[2] == 0", "s->w[1] == 0"], &[("s->w", "] == 0", 3)]);
        check(&["t[0].a == x", "t[1].a == x", "t[2].a == x"], &[("t", "].a == x", 3)]);
    }

    #[test]
    fn gaps_and_other_values_are_none() {
        check(&["a[0] == 0", "a[1] == 0"], &[]);
        check(&["a[1] == 0", "a[2] == 0", "a[3] == 0"], &[]);
        check(&["a[0] == 0", "a[1] == 1", "a[2] == 0"], &[]);
        check(&["m[0][1] == 0", "m[1][1] == 0", "m[2][1] == 0"], &[]);
    }
}
