//! Event conditions: under which inputs a run prints what, or ends how.
//!
//! The output at a point is one term, an `ite` tree over sequences of literals and conversions.
//! Taken apart it is a list of guarded sequences: *when* this condition holds, *this* is printed.

use crate::invariant::proof::{abstraction, ordering};
use crate::ir::{App, Op, Term, TermId, TermPool};

/// Atom of an output sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    Literal(Vec<u8>),
    /// Conversion and value.
    Value(String, TermId),
    /// Output of something that is not modelled, as a term.
    Opaque(TermId),
}

/// A condition over inputs and what happens under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded<T> {
    pub condition: TermId,
    pub what: T,
}

/// Most cases that a taken-apart term may have.
pub const MAX_CASES: usize = 24;

/// Takes an `ite` tree apart into its cases; `None` when there are too many.
pub fn cases(pool: &mut TermPool, root: TermId) -> Option<Vec<Guarded<TermId>>> {
    Some(taken_apart(pool, root, false)?.into_iter().map(|c| c.whole).collect())
}

/// As [`cases`], with the ways that lead to each, and without what goes without saying.
pub fn all_cases(pool: &mut TermPool, root: TermId) -> Option<Vec<Case>> {
    taken_apart(pool, root, true)
}

fn taken_apart(pool: &mut TermPool, root: TermId, is_short: bool) -> Option<Vec<Case>> {
    let t = pool.bool(true);
    let mut result: Vec<Case> = Vec::new();
    let mut work = vec![(t, root)];
    while let Some((condition, term)) = work.pop() {
        let split = match pool.as_op(term, Op::Ite) {
            Some(&[c, a, b]) => Some((c, a, b)),
            _ => lift(pool, term),
        };
        match split {
            Some((c, a, b)) => {
                let not = pool.not(c);
                let (yes, no) = (pool.and(condition, c), pool.and(condition, not));
                for (k, x) in [(no, b), (yes, a)] {
                    work.extend(met(pool, k).map(|short| (if is_short { short } else { k }, x)));
                }
            }
            None => add_way(pool, &mut result, Guarded { condition, what: term }),
        }
        if result.len() + work.len() > MAX_CASES {
            return None;
        }
    }
    Some(result)
}

/// Adds a way to the case of its value.
fn add_way(pool: &mut TermPool, cases: &mut Vec<Case>, way: Guarded<TermId>) {
    match cases.iter_mut().find(|c| c.whole.what == way.what) {
        Some(case) => {
            case.whole.condition = pool.or(case.whole.condition, way.condition);
            case.ways.push(way);
        }
        None => cases.push(Case { whole: way.clone(), ways: vec![way] }),
    }
}

/// What is left of a condition without what goes without saying; nothing where it is never met.
fn met(pool: &mut TermPool, condition: TermId) -> Option<TermId> {
    let is_false = |pool: &TermPool, c| pool.as_const(c).and_then(|k| k.as_bool()) == Some(false);
    ordering::simplified(pool, condition).filter(|c| !is_false(pool, *c))
}

/// Conditions of which each is enough for a condition, in fewer words: its alternatives, and where it compares
/// values that depend on tests, what it is under each outcome of these. Not all, where there are many.
pub fn refined(pool: &mut TermPool, condition: TermId) -> Vec<TermId> {
    let (mut found, mut work) = (Vec::new(), vec![condition]);
    while let Some(c) = work.pop() {
        let room = found.len() + work.len() < MAX_ALTERNATIVES;
        let Some(test) = inner_test(pool, c).filter(|_| room) else {
            found.push(c);
            continue;
        };
        for test in [pool.not(test), test] {
            let rest = abstraction::under(pool, c, test);
            let both = pool.and(test, rest);
            work.extend(met(pool, both));
        }
    }
    let mut all: Vec<TermId> = Vec::new();
    for c in found {
        let parts = alternatives(pool, c);
        let parts = if parts.is_empty() { vec![c] } else { parts };
        all.extend(parts.into_iter().filter_map(|c| met(pool, c)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A test that decides a value which a condition compares, and compares no such value itself.
fn inner_test(pool: &TermPool, condition: TermId) -> Option<TermId> {
    let test = |t: &TermId| pool.as_op(*t, Op::Ite).and_then(|args| args.first()).copied();
    let inner: Vec<TermId> = pool.reachable(&[condition]).iter().filter_map(test).collect();
    let is_plain = |t: &TermId| !pool.has_some(*t, MOST_LOOKED_INTO, |u| pool.as_op(u, Op::Ite).is_some());
    inner.into_iter().filter(is_plain).min()
}

/// Terms of a test that are looked at.
const MOST_LOOKED_INTO: usize = 200;

/// Most nodes of an `ite` tree that are looked at for some of its cases.
const MAX_LOOKED_AT: usize = 48;

/// One value with the condition under which it is taken.
pub struct Case {
    pub whole: Guarded<TermId>,
    /// The ways that lead to it, where there are several: each is a condition by itself.
    pub ways: Vec<Guarded<TermId>>,
}

/// Returns cases of a value, those first that few conditions decide; of a large tree not all.
pub fn some_cases(pool: &mut TermPool, root: TermId) -> Vec<Case> {
    let t = pool.bool(true);
    let mut result: Vec<Case> = Vec::new();
    let mut work = std::collections::VecDeque::from([(t, root)]);
    let mut looked_at = 0;
    while let Some((condition, term)) = work.pop_front() {
        looked_at += 1;
        if looked_at > MAX_LOOKED_AT {
            break;
        }
        if let Some(&[c, a, b]) = pool.as_op(term, Op::Ite) {
            let not = pool.not(c);
            let (yes, no) = (pool.and(condition, c), pool.and(condition, not));
            // What goes without saying stays in a condition: values are narrowed by its words.
            work.extend([(yes, a), (no, b)].into_iter().filter(|(k, _)| met(pool, *k).is_some()));
        } else {
            add_way(pool, &mut result, Guarded { condition, what: term });
        }
    }
    for case in &mut result {
        // A condition of alternatives is several ways, too.
        let mut parts = alternatives(pool, case.whole.condition);
        if parts.len() < 2 {
            parts = case.ways.iter().map(|w| w.condition).collect();
        }
        // A reader wants the plainest.
        parts.sort_by_cached_key(|c| pool.reachable(&[*c]).len());
        let what = case.whole.what;
        case.ways = match parts.len() {
            0 | 1 => Vec::new(),
            _ => parts.into_iter().map(|condition| Guarded { condition, what }).collect(),
        };
    }
    result
}

/// Most alternatives of a condition.
const MAX_ALTERNATIVES: usize = 12;

/// Conditions of which each is enough for a condition: the parts of a disjunction, and what one part of a
/// conjunction brings with the others. Not all, where there are many.
fn alternatives(pool: &mut TermPool, condition: TermId) -> Vec<TermId> {
    let (mut found, mut work) = (Vec::new(), vec![condition]);
    while let Some(c) = work.pop() {
        match split(pool, c).filter(|parts| found.len() + work.len() + parts.len() <= MAX_ALTERNATIVES) {
            Some(parts) => work.extend(parts.into_iter().rev()),
            // What one part brings may contradict the others.
            None if found.contains(&c) || pool.as_const(c).is_some() => {}
            None => found.push(c),
        }
    }
    joined(pool, found)
}

/// The alternatives, but instead of two that only one condition tells apart what they have in common, and
/// none that is a part of another.
fn joined(pool: &mut TermPool, mut all: Vec<TermId>) -> Vec<TermId> {
    let parts = |pool: &TermPool, c| pool.as_op(c, Op::And).map_or(vec![c], <[TermId]>::to_vec);
    loop {
        let pairs = (0..all.len()).flat_map(|i| (i + 1..all.len()).map(move |j| (i, j)));
        let joined = pairs.into_iter().find_map(|(i, j)| {
            let (a, b) = (parts(pool, all[i]), parts(pool, all[j]));
            let alone = |x: &[TermId], y: &[TermId]| {
                let mut only = x.iter().filter(|p| !y.contains(p)).copied();
                only.next().filter(|_| only.next().is_none())
            };
            let (x, y) = alone(&a, &b).zip(alone(&b, &a)).filter(|_| a.len() == b.len())?;
            let common = a.into_iter().filter(|p| *p != x).reduce(|p, q| pool.and(p, q))?;
            (pool.not(x) == y).then_some((i, j, common))
        });
        let Some((i, j, common)) = joined else { break };
        all.remove(j);
        all[i] = common;
    }
    // What asks for more than another says nothing new.
    let parts: Vec<Vec<TermId>> = all.iter().map(|c| parts(pool, *c)).collect();
    let is_within = |k: usize| {
        let wider = |(i, p): (usize, &Vec<TermId>)| {
            i != k && p.iter().all(|x| parts[k].contains(x)) && (p.len() < parts[k].len() || i < k)
        };
        parts.iter().enumerate().any(wider)
    };
    (0..all.len()).filter(|k| !is_within(*k)).map(|k| all[k]).collect()
}

/// The alternatives that a condition names by itself, or in one of its conjuncts.
fn split(pool: &mut TermPool, condition: TermId) -> Option<Vec<TermId>> {
    if let Some(parts) = pool.as_op(condition, Op::Or) {
        return Some(parts.to_vec());
    }
    if let Some(&[inner]) = pool.as_op(condition, Op::Not) {
        let parts = pool.as_op(inner, Op::And)?.to_vec();
        return Some(parts.into_iter().map(|p| pool.not(p)).collect());
    }
    let parts = pool.as_op(condition, Op::And)?.to_vec();
    let (at, one) = parts.iter().enumerate().find_map(|(k, p)| Some((k, split(pool, *p)?)))?;
    let others = parts.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, p)| *p);
    let rest = others.reduce(|a, b| pool.and(a, b))?;
    Some(one.into_iter().map(|p| pool.and(p, rest)).collect())
}

/// Lifts an `ite` in the sequence part of an output out of what was appended to it.
fn lift(pool: &mut TermPool, term: TermId) -> Option<(TermId, TermId, TermId)> {
    let Term::App(app @ (App::OutLiteral(_) | App::OutConversion(_)), args) = pool.get(term).clone() else {
        return None;
    };
    let (c, a, b) = match pool.as_op(args[0], Op::Ite) {
        Some(&[c, a, b]) => (c, a, b),
        _ => lift(pool, args[0])?,
    };
    let mut rebuild = |head: TermId| {
        let mut xs = args.clone();
        xs[0] = head;
        pool.app(app.clone(), &xs)
    };
    Some((c, rebuild(a), rebuild(b)))
}

/// Returns the atoms of an output sequence, first one first.
pub fn atoms(pool: &TermPool, mut out: TermId) -> Vec<Atom> {
    let mut reversed = Vec::new();
    loop {
        match pool.get(out) {
            Term::App(App::OutLiteral(bytes), args) => {
                reversed.push(Atom::Literal(bytes.to_vec()));
                out = args[0];
            }
            Term::App(App::OutConversion(c), args) => {
                reversed.push(Atom::Value(c.to_string(), args[1]));
                out = args[0];
            }
            Term::Leaf(crate::ir::Leaf::NoOutput) => break,
            _ => {
                reversed.push(Atom::Opaque(out));
                break;
            }
        }
    }
    reversed.reverse();
    reversed
}
