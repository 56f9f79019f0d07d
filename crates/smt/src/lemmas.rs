//! What the solver is told about midpoints.
//!
//! That `a + (b - a) / 2` lies between `a` and `b` costs a SAT solver seconds and a mathematician a
//! line. Where a question has such a term, the instance of the theorem is added to its conditions. It
//! holds of all bit-vectors, so it takes nothing away.

use crate::ir::{App, Leaf, Op, Rebuilt, Term, TermId, TermPool};
use rustc_hash::FxHashMap;

/// Midpoints of one question.
const MAX_MIDPOINTS: usize = 4;

/// How halves are taken: of signed or of unsigned numbers.
struct Half {
    /// What is halved.
    whole: TermId,
    half: TermId,
    signed: bool,
}

/// What is known of one midpoint.
struct Midpoint {
    middle: TermId,
    theorem: TermId,
    /// The theorem where the ends are not negative, which needs no difference.
    plain: TermId,
}

/// Returns theorems about the midpoints that a question has.
pub(super) fn of(pool: &mut TermPool, question: TermId) -> Vec<TermId> {
    midpoints(pool, question).iter().map(|m| m.theorem).collect()
}

/// Returns a question that is true wherever the given one is, and in which midpoints are just numbers
/// of which the theorems hold; `None` where there are none. It is far easier: no adder is left of them.
pub(super) fn without_midpoints(pool: &mut TermPool, question: TermId) -> Option<TermId> {
    let found = midpoints(pool, question);
    if found.is_empty() {
        return None;
    }
    let all = found.iter().fold(question, |all, m| pool.and(all, m.plain));
    let mut numbers = FxHashMap::default();
    for m in &found {
        let sort = pool.sort(m.middle);
        let number = pool.leaf(Leaf::Havoc { key: format!("midpoint {}", m.middle.0).into(), sort });
        numbers.insert(m.middle, number);
    }
    let number = |_: &mut TermPool, t: TermId| match numbers.get(&t) {
        Some(number) => Rebuilt::By(*number),
        None => Rebuilt::Kept,
    };
    Some(pool.rebuilt(all, &number))
}

fn midpoints(pool: &mut TermPool, question: TermId) -> Vec<Midpoint> {
    let halves: Vec<Half> = pool.reachable(&[question]).into_iter().filter_map(|t| half(pool, t)).collect();
    halves.into_iter().take(MAX_MIDPOINTS).filter_map(|h| between_ends(pool, &h)).collect()
}

fn half(pool: &TermPool, t: TermId) -> Option<Half> {
    let Term::App(App::Op(op), args) = pool.get(t) else { return None };
    let &[whole, by] = args.as_slice() else { return None };
    let by = pool.as_const(by)?.unsigned()?;
    let signed = match (op, by) {
        (Op::SDiv, 2) | (Op::AShr, 1) => true,
        (Op::UDiv, 2) | (Op::LShr, 1) => false,
        _ => return None,
    };
    pool.as_op(whole, Op::Add)?;
    Some(Half { whole, half: t, signed })
}

/// The theorem about one half of a difference or of a sum.
fn between_ends(pool: &mut TermPool, h: &Half) -> Option<Midpoint> {
    let &[x, y] = pool.as_op(h.whole, Op::Add)? else { return None };
    let width = pool.sort(x).bits()?;
    let zero = pool.bv(width, 0);
    let (le, lt) = if h.signed { (Op::Sle, Op::Slt) } else { (Op::Ule, Op::Ult) };
    let negated = |pool: &TermPool, t: TermId| -> Option<TermId> {
        let &[a, b] = pool.as_op(t, Op::Mul)? else { return None };
        let all_ones = |k: TermId| pool.as_const(k).is_some_and(|k| k.signed() == Some(-1));
        if all_ones(a) { Some(b) } else { all_ones(b).then_some(a) }
    };
    let difference = match (negated(pool, x), negated(pool, y)) {
        (None, Some(a)) => Some((a, x)),
        (Some(a), None) => Some((a, y)),
        (None, None) => None,
        _ => return None,
    };
    let implies = |pool: &mut TermPool, conditions: &[TermId], then: TermId| {
        let all = conditions.iter().fold(pool.bool(true), |all, &c| pool.and(all, c));
        let not = pool.not(all);
        pool.or(not, then)
    };
    let inside = |pool: &mut TermPool, a: TermId, middle: TermId, b: TermId| {
        let (low, high) = (pool.op(le, &[a, middle]), pool.op(le, &[middle, b]));
        let (equal, below) = (pool.eq(a, b), pool.op(lt, &[middle, b]));
        let strict = pool.or(equal, below);
        let both = pool.and(low, high);
        pool.and(both, strict)
    };
    let positive = pool.op(Op::Sle, &[zero, h.whole]);
    let Some((a, b)) = difference else {
        // Of a sum: of numbers that are not negative, and whose sum is none either.
        let mut all = pool.bool(true);
        for (a, b) in [(x, y), (y, x)] {
            let ordered = pool.op(le, &[a, b]);
            let (first, second) = (pool.op(Op::Sle, &[zero, a]), pool.op(Op::Sle, &[zero, b]));
            let then = inside(pool, a, h.half, b);
            let theorem = implies(pool, &[ordered, first, second, positive], then);
            all = pool.and(all, theorem);
        }
        return Some(Midpoint { middle: h.half, theorem: all, plain: all });
    };
    let ordered = pool.op(le, &[a, b]);
    let middle = pool.op(Op::Add, &[a, h.half]);
    let then = inside(pool, a, middle, b);
    if !h.signed {
        let theorem = implies(pool, &[ordered], then);
        return Some(Midpoint { middle, theorem, plain: theorem });
    }
    let theorem = implies(pool, &[ordered, positive], then);
    let first = pool.op(Op::Sle, &[zero, a]);
    let apart = implies(pool, &[first, ordered], positive);
    let theorem = pool.and(theorem, apart);
    let plain = implies(pool, &[first, ordered], then);
    Some(Midpoint { middle, theorem, plain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval::{Assignment, Program};
    use crate::ir::{Const, Sort};

    type Build<'a> = &'a dyn Fn(&mut TermPool, TermId, TermId) -> TermId;

    /// The theorems about `whole / 2` hold of all numbers of four bits.
    /// `middle`: what one of them speaks of.
    fn check(whole: Build, by: Op, middle: Option<Build>) {
        let mut pool = TermPool::new();
        let leaf =
            |pool: &mut TermPool, name: &str| pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(4) });
        let (a, b) = (leaf(&mut pool, "a"), leaf(&mut pool, "b"));
        let whole = whole(&mut pool, a, b);
        let k = if matches!(by, Op::SDiv | Op::UDiv) { 2 } else { 1 };
        let k = pool.bv(4, k);
        let half = pool.op(by, &[whole, k]);
        let zero = pool.bv(4, 0);
        let question = pool.eq(half, zero);
        let theorems = of(&mut pool, question);
        assert_eq!(theorems.len(), usize::from(middle.is_some()), "{by:?}");
        let plain: Vec<TermId> = midpoints(&mut pool, question).iter().map(|m| m.plain).collect();
        let theorems: Vec<TermId> = theorems.into_iter().chain(plain).collect();
        if let Some(middle) = middle {
            let middle = middle(&mut pool, a, half);
            assert!(pool.reachable(&theorems).contains(&middle), "{by:?}");
        }
        for &theorem in &theorems {
            assert!(pool.as_const(theorem).is_none(), "says something");
            let program = Program::new(&pool, &[theorem]);
            for (x, y) in (0..16).flat_map(|x| (0..16).map(move |y| (x, y))) {
                let mut input = Assignment::new();
                input.set(a, Const::bv(4, x));
                input.set(b, Const::bv(4, y));
                assert_eq!(program.run(&pool, &input).holds(theorem), Some(true), "{by:?} {x} {y}");
            }
        }
    }

    #[test]
    fn theorems_about_midpoints_hold() {
        let difference = |pool: &mut TermPool, a, b| pool.op(Op::Sub, &[b, a]);
        let sum = |pool: &mut TermPool, a, b| pool.op(Op::Add, &[a, b]);
        for by in [Op::SDiv, Op::AShr, Op::UDiv, Op::LShr] {
            check(&difference, by, Some(&sum));
            check(&sum, by, Some(&|_, _, half| half));
        }
        let product = |pool: &mut TermPool, a, b| pool.op(Op::Mul, &[a, b]);
        check(&product, Op::SDiv, None);
    }
}
