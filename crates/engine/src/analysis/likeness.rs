//! Which of the functions that come are those that go, by another name and with another body.
//!
//! Two are held to be one where most of their statements are the same, or half of them and a function that called the
//! one calls the other now. Only mutual best pairs count.

use crate::ir::{Callee, Function, Instr};
use crate::mvicfg::key::{self, SourceNames};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Hundredths of the statements of both that are the same, where nothing else speaks for it.
const BY_ITSELF: usize = 75;
/// The same, where a caller calls the one in place of the other.
const WITH_A_CALLER: usize = 50;
/// Statements of the smaller function; of fewer, many have the same.
const FEWEST: usize = 3;
/// Pairs that are held against each other; a file of more new functions is another one.
const MOST_PAIRS: usize = 2_500;

/// A function that goes or comes, and the file that it is in, by number.
pub(super) type Candidate<'f> = (usize, &'f Function);

/// The places in `gone` and `come` of those that are one function. `callers`: both bodies of functions that stay.
pub(super) fn pairs(
    gone: &[Candidate],
    come: &[Candidate],
    callers: &[(&Function, &Function)],
) -> Vec<(usize, usize)> {
    if gone.is_empty() || come.is_empty() || gone.len() * come.len() > MOST_PAIRS {
        return Vec::new();
    }
    let replaced = replaced(callers);
    let [before, now] = [gone, come].map(|all| all.iter().map(|(_, f)| statements(f)).collect::<Vec<_>>());
    let score = |g: usize, c: usize| -> usize {
        let ((file, old), (new_file, new)) = (gone[g], come[c]);
        let is_called_instead = replaced.contains(&(&old.name, &new.name));
        let least = if is_called_instead { WITH_A_CALLER } else { BY_ITSELF };
        let share = share(&before[g], &now[c]);
        let may_be = is_called_instead || file == new_file;
        if may_be && share >= least { share } else { 0 }
    };
    let scores: Vec<Vec<usize>> =
        (0..gone.len()).map(|g| (0..come.len()).map(|c| score(g, c)).collect()).collect();
    // Of several that are as good nobody knows which it is.
    let best = |of: &mut dyn Iterator<Item = usize>| -> Option<usize> {
        let all: Vec<usize> = of.collect();
        let most = *all.iter().max().filter(|most| **most > 0)?;
        let mut those = (0..all.len()).filter(|k| all[*k] == most);
        those.next().filter(|_| those.next().is_none())
    };
    let of_gone = |g: usize| best(&mut scores[g].iter().copied());
    let of_come = |c: usize| best(&mut scores.iter().map(|row| row[c]));
    (0..gone.len()).filter_map(|g| Some((g, of_gone(g).filter(|c| of_come(*c) == Some(g))?))).collect()
}

/// How much of two functions is the same, in hundredths of their statements.
pub(super) fn of(a: &Function, b: &Function) -> usize {
    share(&statements(a), &statements(b))
}

/// Names that some function called before and no longer does, each with those that it calls now and did not before.
fn replaced<'f>(callers: &[(&'f Function, &'f Function)]) -> BTreeSet<(&'f Arc<str>, &'f Arc<str>)> {
    let mut found = BTreeSet::new();
    for (old, new) in callers {
        let (before, now) = (called(old), called(new));
        for from in before.difference(&now) {
            found.extend(now.difference(&before).map(|to| (*from, *to)));
        }
    }
    found
}

fn called(f: &Function) -> BTreeSet<&Arc<str>> {
    let mut found = BTreeSet::new();
    for node in &f.nodes {
        if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr {
            found.insert(name);
        }
    }
    found
}

/// How often a function has each statement.
fn statements(f: &Function) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (id, nodes) in key::nodes_by_stmt(f).iter().enumerate() {
        if nodes.iter().any(|n| !matches!(f.node(*n).instr, Instr::Nop)) {
            let text = key::stmt(f, crate::ir::StmtId(id as u32), nodes, &SourceNames(f));
            *found.entry(text).or_default() += 1;
        }
    }
    found
}

/// Hundredths of the statements of both that the other one has, too.
fn share(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>) -> usize {
    let [first, second] = [a, b].map(|all| all.values().sum::<usize>());
    let both: usize = a.iter().filter_map(|(text, n)| Some(*n.min(b.get(text)?))).sum();
    if first.min(second) < FEWEST { 0 } else { 200 * both / (first + second) }
}
