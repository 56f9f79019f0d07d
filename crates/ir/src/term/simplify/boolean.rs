//! Truth values and `Ite`.

use super::super::{App, Const, Op, Sort, Term, TermId, TermPool};
use super::{applied, pair, unary};
use std::collections::BTreeSet;

/// Junctions with more members than this are only flattened, sorted and searched for complements.
const ABSORBED_MEMBERS: usize = 64;

/// Junctions with more members stay one member of those that they are part of: the conditions of a chain of
/// a thousand branches would hold half a million members else.
const FLAT_MEMBERS: usize = 128;

pub(super) fn not(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    let (op, args) = applied(pool, a)?;
    let (opposite, x, y) = match (op, args) {
        (Op::Not, &[x]) => return Some(x),
        (Op::Slt, &[x, y]) => (Op::Sle, y, x),
        (Op::Sle, &[x, y]) => (Op::Slt, y, x),
        (Op::Ult, &[x, y]) => (Op::Ule, y, x),
        (Op::Ule, &[x, y]) => (Op::Ult, y, x),
        _ => return None,
    };
    Some(pool.op(opposite, &[x, y]))
}

/// Returns the negation of `a` if such a term exists already.
fn known_complement(pool: &TermPool, a: TermId) -> Option<TermId> {
    let (op, args) = match applied(pool, a) {
        Some((Op::Not, &[x])) => return Some(x),
        Some((Op::Slt, &[x, y])) => (Op::Sle, vec![y, x]),
        Some((Op::Sle, &[x, y])) => (Op::Slt, vec![y, x]),
        Some((Op::Ult, &[x, y])) => (Op::Ule, vec![y, x]),
        Some((Op::Ule, &[x, y])) => (Op::Ult, vec![y, x]),
        _ => (Op::Not, vec![a]),
    };
    pool.find(&Term::App(App::Op(op), args))
}

/// Makes a normalised `And` or `Or`.
pub(super) fn junction(pool: &mut TermPool, op: Op, args: &[TermId]) -> TermId {
    let neutral = op == Op::And;
    let dual = if neutral { Op::Or } else { Op::And };
    let mut members = BTreeSet::new();
    for &a in args {
        match pool.as_op(a, op) {
            Some(inner) if inner.len() <= FLAT_MEMBERS => members.extend(inner.iter().copied()),
            _ => _ = members.insert(a),
        }
    }
    let deciding = pool.bool(!neutral);
    members.remove(&pool.bool(neutral));
    let clashes =
        |m: &BTreeSet<TermId>| m.iter().any(|&a| known_complement(pool, a).is_some_and(|n| m.contains(&n)));
    if members.contains(&deciding) || clashes(&members) {
        return deciding;
    }
    if members.len() <= ABSORBED_MEMBERS {
        // Absorption: `a & (a | b)` is `a`, `a & (!a | b)` is `a & b`.
        for &m in &members {
            let Some(inner) = pool.as_op(m, dual) else { continue };
            let keeps = |&i: &TermId| known_complement(pool, i).is_none_or(|n| !members.contains(&n));
            let absorbed = inner.iter().any(|i| members.contains(i));
            if absorbed || !inner.iter().all(keeps) {
                let rest: Vec<TermId> = inner.iter().copied().filter(keeps).collect();
                let mut smaller: Vec<TermId> = members.iter().copied().filter(|&x| x != m).collect();
                if !absorbed {
                    smaller.push(pool.op(dual, &rest));
                }
                return pool.op(op, &smaller);
            }
        }
        if let Some(t) = fold_equalities(pool, op, &members) {
            return t;
        }
    }
    let members: Vec<TermId> = members.into_iter().collect();
    match members[..] {
        [] => pool.bool(neutral),
        [only] => only,
        _ => pool.raw(App::Op(op), members),
    }
}

/// Uses `x == constant` (in an `Or`: its negation) to decide the other members about `x`.
fn fold_equalities(pool: &mut TermPool, op: Op, members: &BTreeSet<TermId>) -> Option<TermId> {
    for &m in members {
        let equality = if op == Op::And { Some(m) } else { unary(pool, m, Op::Not) };
        let Some((x, k)) = equality.and_then(|e| pair(pool, e, Op::Eq)) else { continue };
        let Some(k) = pool.as_const(k) else { continue };
        for &other in members {
            if other != m
                && let Some(value) = decided(pool, other, x, k)
            {
                if value != (op == Op::And) {
                    return Some(pool.bool(value));
                }
                let rest: Vec<TermId> = members.iter().copied().filter(|&a| a != other).collect();
                return Some(pool.op(op, &rest));
            }
        }
    }
    None
}

/// Returns the truth of a comparison of `x` with a constant when `x` is `value`.
fn decided(pool: &TermPool, t: TermId, x: TermId, value: Const) -> Option<bool> {
    if let Some(inner) = unary(pool, t, Op::Not) {
        return decided(pool, inner, x, value).map(|b| !b);
    }
    let (op, args) = applied(pool, t)?;
    let &[a, b] = args else { return None };
    if a != x && b != x {
        return None;
    }
    let get = |t| if t == x { Some(value) } else { pool.as_const(t) };
    op.eval(&[get(a)?, get(b)?]).ok()?.as_bool()
}

pub(super) fn ite(pool: &mut TermPool, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    if let Some(v) = pool.as_const(c) {
        return Some(if v == Const::TRUE { a } else { b });
    }
    if a == b {
        return Some(a);
    }
    // Of a condition and its negation only one is a condition of `Ite`.
    if matches!(applied(pool, c), Some((Op::Not | Op::Sle | Op::Ule, _))) {
        let n = pool.not(c);
        return Some(pool.ite(n, b, a));
    }
    if pool.sort(a) == Sort::Bool
        && let Some(t) = boolean_ite(pool, c, a, b)
    {
        return Some(t);
    }
    if let Some((x, k)) = pair(pool, c, Op::Eq)
        && ((a, b) == (x, k) || (a, b) == (k, x))
    {
        return Some(b);
    }
    if let Some(&[d, x, y]) = pool.as_op(a, Op::Ite) {
        if d == c {
            return Some(pool.ite(c, x, b));
        }
        if y == b {
            let both = pool.and(c, d);
            return Some(pool.ite(both, x, b));
        }
        if x == b {
            let n = pool.not(d);
            let both = pool.and(c, n);
            return Some(pool.ite(both, y, b));
        }
    }
    if let Some(&[d, x, y]) = pool.as_op(b, Op::Ite) {
        if d == c {
            return Some(pool.ite(c, a, y));
        }
        if x == a {
            let either = pool.or(c, d);
            return Some(pool.ite(either, a, y));
        }
        if y == a {
            let n = pool.not(d);
            let either = pool.or(c, n);
            return Some(pool.ite(either, a, x));
        }
    }
    join_stores(pool, c, a, b).or_else(|| join_outputs(pool, c, a, b))
}

fn boolean_ite(pool: &mut TermPool, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let truth = |t| pool.as_const(t).and_then(Const::as_bool);
    match (truth(a), truth(b)) {
        (Some(true), _) => Some(pool.or(c, b)),
        (_, Some(false)) => Some(pool.and(c, a)),
        (Some(false), _) => {
            let n = pool.not(c);
            Some(pool.and(n, b))
        }
        (_, Some(true)) => {
            let n = pool.not(c);
            Some(pool.or(n, a))
        }
        _ if a == c => Some(pool.or(c, b)),
        _ if b == c => Some(pool.and(c, a)),
        _ => None,
    }
}

/// `c ? m[p] = v : n[p] = w` is one store of the chosen value, so that joins of memories stay
/// chains of stores.
fn join_stores(pool: &mut TermPool, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let (Term::App(App::Store { bytes }, x), Term::App(App::Store { bytes: other }, y)) =
        (pool.get(a), pool.get(b))
    else {
        return None;
    };
    let (&[m, p, v], &[n, q, w], bytes) = (&x[..], &y[..], *bytes) else { return None };
    if *other != bytes || p != q || pool.sort(v) != pool.sort(w) {
        return None;
    }
    let memory = pool.ite(c, m, n);
    let value = pool.ite(c, v, w);
    Some(pool.app(App::Store { bytes }, &[memory, p, value]))
}

/// `c ? (o, piece) : (p, piece)` is `(c ? o : p), piece`.
fn join_outputs(pool: &mut TermPool, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let (Term::App(f, x), Term::App(g, y)) = (pool.get(a), pool.get(b)) else { return None };
    let (App::OutLiteral(_) | App::OutConversion(_), &[o, ref rest @ ..]) = (f, &x[..]) else { return None };
    let &[p, ref other @ ..] = &y[..] else { return None };
    if f != g || rest != other {
        return None;
    }
    let (piece, rest) = (f.clone(), rest.to_vec());
    let chosen = pool.ite(c, o, p);
    Some(pool.app(piece, &[vec![chosen], rest].concat()))
}
