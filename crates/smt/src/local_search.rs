//! Inputs near one that refutes something.
//!
//! A model of the solver refutes mostly one of many goals. Changing one of its quantities at a time,
//! and going on from wherever the condition still holds, refutes most of the others for the price of
//! evaluations (a random walk among the solutions, with a fixed seed).

use crate::ir::eval::{Assignment, Palette, Program};
use crate::ir::{Leaf, Sort, Term, TermId, TermPool};

/// Evaluations of single terms that a walk may cost.
const STEPS: usize = 60_000;
/// Inputs of a walk.
const MOST: usize = 256;

/// Walks from an input on which the condition holds; returns which of the goals fail on some input on
/// the way.
pub(super) fn refuted(pool: &TermPool, condition: TermId, goals: &[TermId], from: &Assignment) -> Vec<bool> {
    let mut roots = goals.to_vec();
    roots.push(condition);
    let program = Program::new(pool, &roots);
    let mut refuted = vec![false; goals.len()];
    let start = program.run(pool, from);
    for (goal, refuted) in goals.iter().zip(&mut refuted) {
        *refuted = start.holds(*goal) == Some(false);
    }
    let mut at = start.inputs(pool);
    let quantities: Vec<(TermId, Sort)> = program
        .terms()
        .iter()
        .filter(|&&t| matches!(pool.get(t), Term::Leaf(l) if !matches!(l, Leaf::LocalAddr { .. } | Leaf::SymbolAddr { .. })))
        .map(|&t| (t, pool.sort(t)))
        .filter(|(_, sort)| *sort != Sort::Mem && *sort != Sort::Stdin)
        .collect();
    if quantities.is_empty() {
        return refuted;
    }
    let palette = Palette::of_terms(pool, program.terms());
    let tries = (STEPS / program.terms().len().max(1)).min(MOST) as u64;
    for step in 0..tries {
        let (quantity, sort) = quantities[step as usize % quantities.len()];
        let alike = quantities[(step as usize).wrapping_mul(7) % quantities.len()];
        let value = match step % 3 {
            0 if alike.1 == sort => at.get(alike.0),
            _ => palette.pick(sort, step),
        };
        let Some(value) = value else { continue };
        let mut next = at.clone();
        next.set(quantity, value);
        let run = program.run(pool, &next);
        if run.holds(condition) != Some(true) {
            continue;
        }
        for (goal, refuted) in goals.iter().zip(&mut refuted) {
            *refuted |= run.holds(*goal) == Some(false);
        }
        drop(run);
        at = next;
    }
    refuted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Op;

    fn param(pool: &mut TermPool, name: &str) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(32) })
    }

    #[test]
    fn a_walk_refutes_what_one_input_does_not_and_stays_where_the_condition_holds() {
        let mut pool = TermPool::new();
        let (x, y) = (param(&mut pool, "x"), param(&mut pool, "y"));
        let (low, high) = (pool.bv(32, 100), pool.bv(32, 100_000));
        let (a, b) = (pool.op(Op::Slt, &[low, x]), pool.op(Op::Slt, &[x, high]));
        let inside = pool.and(a, b);
        let zero = pool.bv(32, 0);
        let goals = [pool.op(Op::Sle, &[y, x]), pool.op(Op::Sle, &[zero, y]), pool.op(Op::Slt, &[zero, x])];
        let mut from = Assignment::new();
        from.set(x, crate::ir::Const::bv(32, 101));
        from.set(y, crate::ir::Const::bv(32, 5));
        assert_eq!(refuted(&pool, inside, &goals, &from), [true, true, false]);
        let always = pool.bool(true);
        assert_eq!(refuted(&pool, always, &goals, &from), [true, true, true]);
    }
}
