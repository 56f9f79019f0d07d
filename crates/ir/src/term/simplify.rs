//! Normal forms of terms.
//!
//! Only rewriting that preserves the value on every input is allowed here: arithmetic modulo 2^n on
//! bit-vectors, identities of IEEE values on floats (NaNs are canonical, so `-(a*b)` is `(-a)*b`,
//! but `a-b` is not `-(b-a)`). An operator whose arguments make it undefined is left alone; a rule
//! may drop an undefined event of an argument that no longer matters, never add one.
//!
//! What users of terms may count on:
//! - arguments of commutative operators are sorted by id, constants last;
//! - `Sub`, `Neg`, `Shl` by a constant do not occur: sums are left-nested `Add` of `t` or
//!   `Mul(t, constant)`, each `t` once, sorted by id, a non-zero constant last;
//! - `FSub` does not occur; negations are pulled out of products, quotients and conversions;
//! - comparisons with a constant have the constant of the smaller magnitude (`x < 0`, `x <= 9`);
//!   `Not` is never on a comparison of bit-vectors, nor on a condition of `Ite`;
//! - loads see through writes as far as addresses are known to be equal or apart.
//!
//! Arguments are normal already when a rule sees them, so each rule looks at one or two levels.

mod bits;
mod boolean;
mod compare;
mod convert;
mod exact;
mod fcompare;
mod float;
mod linear;
mod memory;

pub(super) use memory::Memo;

use super::{App, Const, Op, Sort, Term, TermId, TermPool};
use std::sync::Arc;

/// Rules that start rules in turn (a truncation goes down into a sum) do so to this depth at most;
/// what is deeper stays as it is. The stack of a worker thread is small.
const NESTED_RULES: usize = 300;

/// Makes a normalised application of any kind.
pub(super) fn app(pool: &mut TermPool, app: App, args: &[TermId]) -> TermId {
    match (app, args) {
        (App::Op(o), _) => op(pool, o, args),
        (App::Load { sort, bytes }, &[m, at]) => memory::load(pool, m, at, sort, bytes),
        (App::Store { bytes }, &[m, at, v]) => memory::store(pool, m, at, v, bytes),
        (App::CopyBytes { bytes }, &[m, to, from]) => memory::copy(pool, m, to, from, bytes),
        (App::ZeroBytes { bytes }, &[m, at]) => memory::zero(pool, m, at, bytes),
        (App::OutLiteral(bytes), &[out]) => literal(pool, &bytes, out),
        (other, _) => pool.raw(other, args.to_vec()),
    }
}

/// Makes the output after some bytes; adjacent literals are one.
fn literal(pool: &mut TermPool, bytes: &Arc<[u8]>, out: TermId) -> TermId {
    if bytes.is_empty() {
        return out;
    }
    if let Term::App(App::OutLiteral(before), args) = pool.get(out)
        && let &[start] = &args[..]
    {
        let joined: Vec<u8> = before.iter().chain(bytes.iter()).copied().collect();
        return pool.raw(App::OutLiteral(joined.into()), vec![start]);
    }
    pool.raw(App::OutLiteral(bytes.clone()), vec![out])
}

/// Makes a normalised operator application.
pub(super) fn op(pool: &mut TermPool, op: Op, args: &[TermId]) -> TermId {
    if let Some(consts) = args.iter().map(|&a| pool.as_const(a)).collect::<Option<Vec<Const>>>()
        && let Some(value) = op.folded(&consts)
    {
        return pool.constant(value);
    }
    if pool.memo.nested >= NESTED_RULES {
        return plain(pool, op, args);
    }
    pool.memo.nested += 1;
    let done = rewrite(pool, op, args);
    pool.memo.nested -= 1;
    done.unwrap_or_else(|| plain(pool, op, args))
}

/// Makes the application as it is, but for the order of the arguments of a commutative operator.
fn plain(pool: &mut TermPool, op: Op, args: &[TermId]) -> TermId {
    let mut args = args.to_vec();
    if op.commutes() {
        args.sort_by_key(|&a| (pool.as_const(a).is_some(), a));
    }
    pool.raw(App::Op(op), args)
}

fn rewrite(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    use Op::*;
    if !fits(pool, op, args) {
        return None;
    }
    match (op, args) {
        (Not, &[a]) => boolean::not(pool, a),
        (And | Or, _) => Some(boolean::junction(pool, op, args)),
        (Ite, &[c, a, b]) => boolean::ite(pool, c, a, b),
        (Eq, &[a, b]) => compare::eq(pool, a, b),
        (Ult | Ule | Slt | Sle, &[a, b]) => compare::order(pool, op, a, b),
        (Add | Sub | Mul | Shl, &[a, b]) => linear::binary(pool, op, a, b),
        (Neg, &[a]) => linear::neg(pool, a),
        (Zext(w), &[a]) => bits::zext(pool, w, a),
        (Sext(w), &[a]) => bits::sext(pool, w, a),
        (Trunc(w), &[a]) => bits::trunc(pool, w, a),
        (Concat, &[h, l]) => bits::concat(pool, h, l),
        (BitNot, &[a]) => pool.as_op(a, BitNot).map(|x| x[0]).or_else(|| over_ite(pool, op, args)),
        (BitAnd | BitOr | BitXor, &[a, b]) => bits::bitwise(pool, op, a, b),
        (LShr | AShr, &[a, k]) => bits::shift_right(pool, op, a, k),
        (UDiv | URem | SDiv | SRem, &[a, b]) => bits::divide(pool, op, a, b),
        (FToF(_) | SToF(_) | UToF(_) | FToS(_) | FToU(_), &[a]) => convert::rewrite(pool, op, a),
        (FEq | FLt | FLe | FIsNan | FIsInf | FSignbit, _) => fcompare::rewrite(pool, op, args),
        _ => float::rewrite(pool, op, args),
    }
}

/// Returns whether the arguments are of sorts that the operator takes. Others come from a defect of
/// a front end only, and the rules do not look out for them.
fn fits(pool: &TermPool, op: Op, args: &[TermId]) -> bool {
    use Op::*;
    let sort = |i: usize| args.get(i).map(|&a| pool.sort(a));
    let equal = |i: usize, j: usize| sort(i) == sort(j);
    let words = args.iter().all(|&a| width(pool, a) > 0);
    match op {
        Not | And | Or => args.iter().all(|&a| pool.sort(a) == Sort::Bool),
        Eq => equal(0, 1),
        Ite => sort(0) == Some(Sort::Bool) && equal(1, 2),
        Add | Sub | Mul | UDiv | SDiv | URem | SRem | BitAnd | BitOr | BitXor => words && equal(0, 1),
        Shl | LShr | AShr | Ult | Ule | Slt | Sle => words && equal(0, 1),
        Zext(w) | Sext(w) => words && args.iter().all(|&a| width(pool, a) <= w),
        Trunc(w) => words && w > 0 && args.iter().all(|&a| width(pool, a) >= w),
        Neg | BitNot | Concat | SToF(_) | UToF(_) | BitsToF(_) => words,
        _ => {
            args.iter().all(|&a| pool.sort(a).is_float())
                && args.iter().all(|&a| sort(0) == Some(pool.sort(a)))
        }
    }
}

/// Pushes an operator into an `Ite` between constants when all its other arguments are constants.
fn over_ite(pool: &mut TermPool, op: Op, args: &[TermId]) -> Option<TermId> {
    let mut choice = None;
    for (i, &a) in args.iter().enumerate() {
        if pool.as_const(a).is_none() {
            let &[c, x, y] = pool.as_op(a, Op::Ite)? else { return None };
            if choice.is_some() {
                return None;
            }
            choice = Some((i, c, pool.as_const(x)?, pool.as_const(y)?));
        }
    }
    let (i, c, x, y) = choice?;
    let mut consts: Vec<Const> = args.iter().map(|&a| pool.as_const(a).unwrap_or(x)).collect();
    let then = op.folded(&consts)?;
    consts[i] = y;
    let otherwise = op.folded(&consts)?;
    let (then, otherwise) = (pool.constant(then), pool.constant(otherwise));
    Some(pool.ite(c, then, otherwise))
}

/// Returns the width of a bit-vector term, 0 for other sorts.
fn width(pool: &TermPool, t: TermId) -> u16 {
    if let Sort::Bv(w) = pool.sort(t) { w } else { 0 }
}

/// Returns the only argument of an application of exactly this unary operator.
fn unary(pool: &TermPool, t: TermId, op: Op) -> Option<TermId> {
    if let Some(&[a]) = pool.as_op(t, op) { Some(a) } else { None }
}

/// Returns the two arguments of an application of exactly this binary operator.
fn pair(pool: &TermPool, t: TermId, op: Op) -> Option<(TermId, TermId)> {
    if let Some(&[a, b]) = pool.as_op(t, op) { Some((a, b)) } else { None }
}

/// Returns the operator and arguments of an operator application.
fn applied(pool: &TermPool, t: TermId) -> Option<(Op, &[TermId])> {
    if let Term::App(App::Op(op), args) = pool.get(t) { Some((*op, args)) } else { None }
}

#[cfg(test)]
mod tests;
