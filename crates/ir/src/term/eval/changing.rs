//! Values of terms over a few inputs that change one after another, on demand.
//!
//! A [`super::Program`] evaluates all of its terms for each input. Where a thousand paths part a million inputs, each of
//! them needs few: here a term is evaluated when it is asked for, and its value is kept until an input changes that it
//! rests on. Inputs have an order, the first changes least often: with one, all behind it count as changed.

use super::{Program, Term, TermId, TermPool};
use crate::{App, Const, Op, UndefinedKind};

type Outcome = Result<Const, UndefinedKind>;

/// Terms with the inputs that they rest on.
pub struct Changing<'p> {
    pool: &'p TermPool,
    program: Program,
    inputs: Vec<Const>,
    /// When each input, or one in front of it, last changed.
    changed: Vec<u64>,
    now: u64,
    /// By position of a term: the last of the inputs that it rests on, counted from 1; 0: it is a constant.
    last: Vec<u32>,
    /// By position of a term: when its value was found, which is what it was last.
    values: Vec<(u64, Outcome)>,
    /// Terms that were evaluated.
    steps: u64,
    /// Terms that are being evaluated, each for the one before.
    open: Vec<u32>,
}

/// Why a term has no value yet: this one of its arguments is needed first.
struct Needed(u32);

impl<'p> Changing<'p> {
    /// The terms below some roots; `None`: something that they rest on is neither an operator nor one of the inputs.
    pub fn new(pool: &'p TermPool, roots: &[TermId], inputs: &[TermId]) -> Option<Changing<'p>> {
        let program = Program::new(pool, roots);
        let mut last: Vec<u32> = Vec::with_capacity(program.order.len());
        for (t, args) in program.order.iter().zip(&program.args) {
            last.push(match pool.get(*t) {
                Term::Const(_) => 0,
                Term::Leaf(_) => u32::try_from(inputs.iter().position(|i| i == t)?).ok()? + 1,
                Term::App(App::Op(_), _) => {
                    args.iter().filter_map(|a| last.get(*a as usize)).max().copied().unwrap_or(0)
                }
                Term::App(..) => return None,
            });
        }
        let values = vec![(0, Err(UndefinedKind::BadCall)); last.len()];
        let (n, none) = (inputs.len(), Const::FALSE);
        let (inputs, changed) = (vec![none; n], vec![1; n]);
        Some(Changing { pool, program, inputs, changed, now: 1, last, values, steps: 0, open: Vec::new() })
    }

    /// Gives an input its next value.
    pub fn set(&mut self, input: usize, value: Const) {
        self.now += 1;
        if let Some(own) = self.inputs.get_mut(input) {
            *own = value;
        }
        self.changed.iter_mut().skip(input).for_each(|time| *time = self.now);
    }

    /// How many terms were evaluated.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether a condition holds; `None`: it rests on an undefined event, or is none of the terms.
    pub fn holds(&mut self, condition: TermId) -> Option<bool> {
        let root = *self.program.position.get(&condition)?;
        self.open.push(root);
        while let Some(i) = self.open.last().copied() {
            if self.known(i).is_err() {
                match self.step(i) {
                    Ok(value) => {
                        self.steps += 1;
                        *self.values.get_mut(i as usize)? = (self.now, value);
                    }
                    Err(Needed(argument)) => {
                        self.open.push(argument);
                        continue;
                    }
                }
            }
            self.open.pop();
        }
        self.known(root).ok()?.ok()?.as_bool()
    }

    /// The value of a term, if it is one of the inputs as they are.
    fn known(&self, i: u32) -> Result<Outcome, Needed> {
        let needed = || Needed(i);
        let (found, value) = self.values.get(i as usize).ok_or_else(needed)?;
        let since = match self.last.get(i as usize) {
            Some(0) | None => 1,
            Some(last) => self.changed.get(*last as usize - 1).copied().ok_or_else(needed)?,
        };
        if *found >= since { Ok(*value) } else { Err(needed()) }
    }

    fn step(&self, i: u32) -> Result<Outcome, Needed> {
        let (Some(t), Some(args)) = (self.program.order.get(i as usize), self.program.args.get(i as usize))
        else {
            return Ok(Err(UndefinedKind::BadCall));
        };
        Ok(match self.pool.get(*t) {
            Term::Const(c) => Ok(*c),
            Term::Leaf(_) => {
                let own =
                    self.last.get(i as usize).and_then(|k| self.inputs.get((*k as usize).wrapping_sub(1)));
                own.copied().ok_or(UndefinedKind::BadCall)
            }
            Term::App(App::Op(op), _) => return self.operator(*op, args),
            Term::App(..) => Err(UndefinedKind::BadCall),
        })
    }

    /// As [`super::Run`] has it.
    fn operator(&self, op: Op, args: &[u32]) -> Result<Outcome, Needed> {
        match (op, args) {
            (Op::Ite, &[c, a, b]) => match self.known(c)? {
                Ok(c) => self.known(if c == Const::TRUE { a } else { b }),
                undefined => Ok(undefined),
            },
            (Op::And | Op::Or, _) => {
                let deciding = Const::Bool(op == Op::Or);
                let mut found = Ok(Const::Bool(op == Op::And));
                for a in args {
                    match self.known(*a)? {
                        Ok(c) if c == deciding => return Ok(Ok(deciding)),
                        Err(e) if found.is_ok() => found = Err(e),
                        _ => {}
                    }
                }
                Ok(found)
            }
            _ => {
                let mut consts = [Const::FALSE; 3];
                let count = args.len().min(consts.len());
                for (c, a) in consts.iter_mut().zip(args) {
                    match self.known(*a)? {
                        Ok(value) => *c = value,
                        undefined => return Ok(undefined),
                    }
                }
                Ok(match (op, &consts[..count]) {
                    (Op::Eq, [a, b]) if a.sort() == b.sort() => Ok(Const::Bool(a == b)),
                    (Op::Eq, _) => Err(UndefinedKind::BadCall),
                    (op, consts) => op.eval(consts),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Assignment, Leaf};
    use super::*;
    use crate::Sort;

    /// A random term over the inputs, of one of three kinds.
    fn grown(pool: &mut TermPool, inputs: &[TermId], next: &mut impl FnMut(usize) -> usize) -> Vec<TermId> {
        let mut words: Vec<TermId> = inputs.to_vec();
        words.extend([0, 1, 3].map(|n| pool.bv(8, n)));
        let mut truths = vec![pool.bool(true)];
        for _ in 0..40 {
            let [a, b] = [0, 1].map(|_| words[next(words.len())]);
            let [p, q] = [0, 1].map(|_| truths[next(truths.len())]);
            let ops = [Op::Add, Op::Sub, Op::Mul, Op::SDiv, Op::URem, Op::Shl];
            match next(4) {
                0 => words.push(pool.op(ops[next(ops.len())], &[a, b])),
                1 => words.push(pool.ite(p, a, b)),
                2 => truths.push(match next(3) {
                    0 => pool.eq(a, b),
                    1 => pool.op(Op::Slt, &[a, b]),
                    _ => pool.op(Op::Ult, &[a, b]),
                }),
                _ => truths.push(match next(3) {
                    0 => pool.and(p, q),
                    1 => pool.or(p, q),
                    _ => pool.not(p),
                }),
            }
        }
        truths
    }

    #[test]
    fn values_on_demand_are_those_of_a_program() {
        let (mut state, mut undefined) = (7u64, 0);
        let mut next = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for _ in 0..60 {
            let mut pool = TermPool::new();
            let names = ["x", "y", "z"];
            let inputs = names.map(|n| pool.leaf(Leaf::Param { name: n.into(), sort: Sort::Bv(8) }));
            let truths = grown(&mut pool, &inputs, &mut next);
            let program = Program::new(&pool, &truths);
            let mut changing = Changing::new(&pool, &truths, &inputs).unwrap();
            let mut values = [0i128; 3];
            for k in 0..80 {
                // The first time all of them; then one and what is behind it.
                for i in if k == 0 { 0 } else { next(3) }..3 {
                    values[i] = next(7) as i128 - 3;
                    changing.set(i, Const::bv(8, values[i]));
                }
                let mut input = Assignment::new();
                inputs.iter().zip(values).for_each(|(t, v)| input.set(*t, Const::bv(8, v)));
                let run = program.run(&pool, &input);
                for _ in 0..6 {
                    let t = truths[next(truths.len())];
                    assert_eq!(changing.holds(t), run.holds(t), "{values:?}");
                    undefined += usize::from(run.holds(t).is_none());
                }
            }
        }
        assert!(undefined > 20, "{undefined}");
    }

    #[test]
    fn what_rests_on_unchanged_inputs_is_not_evaluated_again() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|n| pool.leaf(Leaf::Param { name: n.into(), sort: Sort::Bv(32) }));
        let square = pool.op(Op::Mul, &[x, x]);
        let below = pool.op(Op::Slt, &[square, y]);
        let mut changing = Changing::new(&pool, &[below], &[x, y]).unwrap();
        changing.set(0, Const::bv(32, 3));
        let mut steps = Vec::new();
        for v in [9, 10] {
            changing.set(1, Const::bv(32, v));
            assert_eq!(changing.holds(below), Some(v == 10));
            assert_eq!(changing.holds(below), Some(v == 10));
            steps.push(changing.steps());
        }
        assert_eq!(steps, [4, 6]);
        assert!(Changing::new(&pool, &[below], &[x]).is_none());
    }
}
