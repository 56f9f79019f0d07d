//! Normal forms of terms.
//!
//! Only rewriting that preserves the value on every input is allowed here: arithmetic modulo 2^n on
//! bit-vectors, identities of IEEE values on floats (NaNs are canonical, so `-(a*b)` is `(-a)*b`,
//! but `a-b` is not `-(b-a)`). An operator whose arguments make it undefined is left alone.

use super::{App, Const, Op, Sort, TermId, TermPool};

/// Makes a normalised application of any kind.
pub(super) fn app(pool: &mut TermPool, app: App, args: &[TermId]) -> TermId {
    match app {
        App::Op(o) => op(pool, o, args),
        other => pool.raw(other, args.to_vec()),
    }
}

/// Makes a normalised operator application.
pub(super) fn op(pool: &mut TermPool, op: Op, args: &[TermId]) -> TermId {
    if let Some(consts) = args.iter().map(|&a| pool.as_const(a)).collect::<Option<Vec<Const>>>()
        && let Ok(value) = op.eval(&consts)
    {
        return pool.constant(value);
    }
    let _ = Sort::Bool;
    pool.raw(App::Op(op), args.to_vec())
}
