//! Event conditions: under which inputs a run prints what, or ends how.
//!
//! The output at a point is one term, an `ite` tree over sequences of literals and conversions.
//! Taken apart it is a list of guarded sequences: *when* this condition holds, *this* is printed.

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
    let t = pool.bool(true);
    let mut result: Vec<Guarded<TermId>> = Vec::new();
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
                    if pool.as_const(k).and_then(|k| k.as_bool()) != Some(false) {
                        work.push((k, x));
                    }
                }
            }
            None => match result.iter_mut().find(|g| g.what == term) {
                Some(g) => g.condition = pool.or(g.condition, condition),
                None => result.push(Guarded { condition, what: term }),
            },
        }
        if result.len() + work.len() > MAX_CASES {
            return None;
        }
    }
    Some(result)
}

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
            for (k, x) in [(yes, a), (no, b)] {
                if pool.as_const(k).and_then(|k| k.as_bool()) != Some(false) {
                    work.push_back((k, x));
                }
            }
        } else {
            let way = Guarded { condition, what: term };
            match result.iter_mut().find(|c| c.whole.what == term) {
                Some(c) => {
                    c.whole.condition = pool.or(c.whole.condition, condition);
                    c.ways.push(way);
                }
                None => result.push(Case { whole: way.clone(), ways: vec![way] }),
            }
        }
    }
    for case in &mut result {
        // A condition of alternatives is several ways, too.
        let parts = match pool.as_op(case.whole.condition, Op::Or) {
            Some(parts) => parts.to_vec(),
            None => case.ways.iter().map(|w| w.condition).collect(),
        };
        let what = case.whole.what;
        case.ways = match parts.len() {
            0 | 1 => Vec::new(),
            _ => parts.into_iter().map(|condition| Guarded { condition, what }).collect(),
        };
    }
    result
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
