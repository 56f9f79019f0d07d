//! Inputs that solve the equations of a condition: what is left of one where all quantities but one are known is turned
//! around, operator by operator. Floats round, so that a solution is one only if evaluation says so.
//!
//! `10 * (y - x * x) == 0 && 5 - x == 0` has one solution among all doubles: no sample meets it, and for the solver it is
//! four multiplying circuits.

use crate::ir::eval::{Assignment, Parts, Program};
use crate::ir::{App, Const, Leaf, Op, Sort, Term, TermId, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Equations, terms of a condition, and what quantities are that no equation says.
const MOST: usize = 6;
const TERMS: usize = 400;
const OTHERS: [i128; 2] = [1, 0];

/// Returns an input on which the condition holds, if its equations lead to one.
pub(super) fn solved(pool: &TermPool, program: &Program, condition: &Parts) -> Option<Assignment> {
    if program.terms().len() > TERMS {
        return None;
    }
    let equations: Vec<Equation> = program
        .terms()
        .iter()
        .filter_map(|&t| match pool.get(t) {
            Term::App(App::Op(Op::Eq | Op::FEq), args) => <[TermId; 2]>::try_from(args.as_slice()).ok(),
            _ => None,
        })
        .filter(|[a, _]| matches!(pool.sort(*a), Sort::Bv(1..=64) | Sort::F32 | Sort::F64))
        .take(MOST)
        .map(|sides| Equation::of(pool, sides))
        .collect();
    let starts = (0..equations.len()).flat_map(|k| OTHERS.map(|other| (k, other)));
    // Many starts lead to the same numbers.
    let mut tried: Vec<Vec<(TermId, Const)>> = Vec::new();
    let mut solver = Solver { pool, programs: FxHashMap::default(), above: FxHashMap::default() };
    starts.into_iter().find_map(|(first, other)| {
        let input = solver.along(&equations, (first, other));
        let values = input.values().collect();
        if tried.contains(&values) {
            return None;
        }
        tried.push(values);
        let is_met = program.satisfying(pool, &input, condition).is_some();
        is_met.then_some(input)
    })
}

/// Two terms that are to be equal.
struct Equation {
    sides: [TermId; 2],
    /// The quantities of both, in the order in which they are met.
    quantities: Vec<TermId>,
    /// Those of the first one.
    of_first: BTreeSet<TermId>,
}

impl Equation {
    fn of(pool: &TermPool, sides: [TermId; 2]) -> Equation {
        let quantities = |terms: &[TermId]| {
            let is_quantity = |t: &TermId| {
                matches!(pool.get(*t), Term::Leaf(Leaf::Param { .. }))
                    && matches!(pool.sort(*t), Sort::Bv(1..=64) | Sort::F32 | Sort::F64)
            };
            pool.reachable(terms).into_iter().filter(is_quantity).collect::<Vec<_>>()
        };
        let of_first = quantities(&sides[..1]).into_iter().collect();
        Equation { quantities: quantities(&sides), sides, of_first }
    }

    /// The quantities of which an input says nothing.
    fn unknowns<'a>(&'a self, input: &'a Assignment) -> impl Iterator<Item = TermId> + 'a {
        self.quantities.iter().copied().filter(|t| input.get(*t).is_none())
    }
}

/// Turns equations of one pool around.
struct Solver<'p> {
    pool: &'p TermPool,
    /// Of terms that were evaluated before.
    programs: FxHashMap<TermId, Program>,
    /// By a term and a quantity: [`above`].
    above: FxHashMap<(TermId, TermId), Rc<FxHashSet<TermId>>>,
}

impl Solver<'_> {
    /// Solves the equations in turn, from one on.
    fn along(&mut self, equations: &[Equation], (first, other): (usize, i128)) -> Assignment {
        let mut input = Assignment::new();
        let mut open: Vec<&Equation> =
            (0..equations.len()).filter_map(|k| equations.get((first + k) % equations.len())).collect();
        while !open.is_empty() {
            // Those that have one unknown say what it is.
            let next = open.iter().position(|e| e.unknowns(&input).take(2).count() == 1).unwrap_or(0);
            let equation = open.remove(next);
            let mut left: Vec<TermId> = equation.unknowns(&input).collect();
            let Some(sought) = left.pop() else { continue };
            for quantity in left {
                input.set(quantity, number(self.pool.sort(quantity), other));
            }
            let [a, b] = equation.sides;
            let solution = match equation.of_first.contains(&sought) {
                true => self.turned(&input, (a, sought), b),
                false => self.turned(&input, (b, sought), a),
            };
            if let Some(value) = solution {
                input.set(sought, value);
            }
        }
        input
    }

    fn value(&mut self, t: TermId, input: &Assignment) -> Option<Const> {
        let program = self.programs.entry(t).or_insert_with(|| Program::new(self.pool, &[t]));
        program.run(self.pool, input).constant(t).ok()
    }

    /// What a quantity has to be for a term to be another one.
    fn turned(
        &mut self,
        input: &Assignment,
        (mut t, sought): (TermId, TermId),
        other: TermId,
    ) -> Option<Const> {
        let pool = self.pool;
        // Most sides are of a kind that is not turned around at all: of these nothing need be known.
        if t != sought && !matches!(pool.get(t), Term::App(App::Op(op), _) if is_turned(*op)) {
            return None;
        }
        let mut wanted = self.value(other, input)?;
        let above = self.above.entry((t, sought)).or_insert_with(|| above(pool, t, sought).into()).clone();
        while t != sought {
            let Term::App(App::Op(op), args) = pool.get(t) else { return None };
            let (inner, rest) = match args.as_slice() {
                [x] => (*x, None),
                [x, y] => match (above.contains(x), above.contains(y)) {
                    (true, false) => (*x, Some((*y, true))),
                    (false, true) => (*y, Some((*x, false))),
                    _ => return None,
                },
                _ => return None,
            };
            let known = match rest {
                Some((t, _)) => Some(self.value(t, input)?),
                None => None,
            };
            wanted = match (op, known, rest) {
                (Op::Add, Some(k), _) => Op::Sub.folded(&[wanted, k])?,
                (Op::Mul, Some(k), _) => Op::Mul.folded(&[wanted, inverse(k)?])?,
                (Op::Sext(_) | Op::Zext(_), None, _) => Const::bv(pool.sort(inner).bits()?, wanted.signed()?),
                (Op::FNeg, None, _) => Op::FNeg.folded(&[wanted])?,
                (Op::FAbs, None, _) => wanted,
                (Op::FAdd, Some(k), _) => Op::FSub.folded(&[wanted, k])?,
                (Op::FMul, Some(k), _) => Op::FDiv.folded(&[wanted, k])?,
                (Op::FDiv, Some(k), Some((_, true))) => Op::FMul.folded(&[wanted, k])?,
                (Op::FDiv, Some(k), Some((_, false))) => Op::FDiv.folded(&[k, wanted])?,
                (Op::FSqrt, None, _) => Op::FMul.folded(&[wanted, wanted])?,
                (Op::FToF(_), None, _) => Op::FToF(pool.sort(inner)).folded(&[wanted])?,
                (Op::SToF(_), None, _) => number(pool.sort(inner), wanted.float()? as i128),
                _ => return None,
            };
            t = inner;
        }
        Some(wanted)
    }
}

/// Whether an operator has one of the inverses that [`Solver::turned`] knows.
fn is_turned(op: Op) -> bool {
    use Op::{Add, FAbs, FAdd, FDiv, FMul, FNeg, FSqrt, FToF, Mul, SToF, Sext, Zext};
    matches!(op, Add | Mul | Sext(_) | Zext(_) | FNeg | FAbs | FAdd | FMul | FDiv | FSqrt | FToF(_) | SToF(_))
}

/// The terms below one that have a quantity below them, itself included.
fn above(pool: &TermPool, t: TermId, sought: TermId) -> FxHashSet<TermId> {
    let mut found = FxHashSet::default();
    for t in pool.reachable(&[t]) {
        if t == sought || pool.args(t).iter().any(|a| found.contains(a)) {
            found.insert(t);
        }
    }
    found
}

fn number(sort: Sort, n: i128) -> Const {
    match sort {
        Sort::F32 => Const::f32(n as f32),
        Sort::F64 => Const::f64(n as f64),
        Sort::Bv(width) => Const::bv(width, n),
        _ => Const::FALSE,
    }
}

/// The number that gives one when it is multiplied by an odd one.
fn inverse(k: Const) -> Option<Const> {
    let width = k.sort().bits()?;
    let odd = k.unsigned().filter(|k| k & 1 == 1)?;
    // Each step doubles the bits that are right.
    let found = (0..7).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))));
    Const::from_bits(Sort::Bv(width), found & (u128::MAX >> (128 - u32::from(width))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(pool: &mut TermPool, name: &str, sort: Sort) -> TermId {
        pool.leaf(Leaf::Param { name: name.into(), sort })
    }

    #[test]
    fn equations_of_floats_are_solved_one_after_the_other() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|n| param(&mut pool, n, Sort::F64));
        let mut op = |op, a, b| pool.op(op, &[a, b]);
        let square = op(Op::FMul, x, x);
        let difference = op(Op::FSub, y, square);
        let [ten, five, zero] = [10.0, 5.0, 0.0].map(|k| pool.constant(Const::f64(k)));
        let mut op = |op, a, b| pool.op(op, &[a, b]);
        let product = op(Op::FMul, ten, difference);
        let (rest, first) = (op(Op::FSub, five, x), op(Op::FEq, product, ten));
        let second = op(Op::FEq, rest, zero);
        let both = pool.and(first, second);
        let program = Program::new(&pool, &[both]);
        let input = solved(&pool, &program, &Parts::of(&pool, &program, both)).expect("5 and 26");
        assert_eq!((input.get(x), input.get(y)), (Some(Const::f64(5.0)), Some(Const::f64(26.0))));
    }

    #[test]
    fn products_are_turned_around_where_numbers_wrap() {
        let mut pool = TermPool::new();
        let x = param(&mut pool, "x", Sort::Bv(32));
        let (by, sum) = (pool.bv(32, 31), pool.bv(32, -77));
        let product = pool.op(Op::Mul, &[x, by]);
        let equal = pool.eq(product, sum);
        let program = Program::new(&pool, &[equal]);
        assert!(solved(&pool, &program, &Parts::of(&pool, &program, equal)).is_some());
        // An even number has no inverse.
        assert_eq!(inverse(Const::bv(32, 6)), None);
        let three = inverse(Const::bv(32, 3)).expect("odd");
        assert_eq!(Op::Mul.folded(&[three, Const::bv(32, 3)]), Some(Const::bv(32, 1)));
    }

    #[test]
    fn what_has_no_solution_gets_none() {
        let mut pool = TermPool::new();
        let x = param(&mut pool, "x", Sort::F64);
        let square = pool.op(Op::FMul, &[x, x]);
        let minus = pool.constant(Const::f64(-4.0));
        let equal = pool.op(Op::FEq, &[square, minus]);
        let program = Program::new(&pool, &[equal]);
        assert!(solved(&pool, &program, &Parts::of(&pool, &program, equal)).is_none());
    }
}
