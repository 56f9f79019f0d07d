//! Values of terms over a few inputs that change one after another, on demand.
//!
//! A [`super::Program`] evaluates all of its terms for each input. Where a thousand paths part a million inputs, each of
//! them needs few: here a term is evaluated when it is asked for, and its value is kept until an input changes that it
//! rests on. Inputs have an order, the first changes least often: with one, all behind it count as changed.

use super::{Term, TermId, TermPool};
use crate::{App, Const, Op, UndefinedKind};
use rustc_hash::{FxHashMap, FxHashSet};

type ConstResult = Result<Const, UndefinedKind>;

/// The values of terms over inputs.
pub struct Changing {
    terms: Vec<TermId>,
    inputs: Vec<Const>,
    /// When each input, or one in front of it, last changed.
    changed: Vec<u64>,
    now: u64,
    /// Arguments before users.
    nodes: Vec<Node>,
    position: FxHashMap<TermId, u32>,
    /// Terms that were evaluated.
    steps: u64,
    /// Terms that are being evaluated, each for the one before.
    open: Vec<u32>,
}

/// One term.
struct Node {
    term: TermId,
    args: Box<[u32]>,
    /// The last of the inputs that it rests on, counted from 1; 0: it is a constant.
    last: u32,
    /// When its value was found, and what it was then.
    value: (u64, ConstResult),
}

/// Why a term has no value yet: this one of its arguments is needed first.
struct Needed(u32);

impl Changing {
    /// No terms yet, over inputs, which are leaves.
    pub fn new(inputs: &[TermId]) -> Changing {
        Changing {
            terms: inputs.to_vec(),
            inputs: vec![Const::FALSE; inputs.len()],
            changed: vec![1; inputs.len()],
            now: 1,
            nodes: Vec::new(),
            position: FxHashMap::default(),
            steps: 0,
            open: Vec::new(),
        }
    }

    /// Adds the terms below some roots; `None`: something that they rest on is neither an operator nor one of the
    /// inputs.
    pub fn add(&mut self, pool: &TermPool, roots: &[TermId]) -> Option<()> {
        let (mut new, mut open) = (FxHashSet::default(), roots.to_vec());
        while let Some(t) = open.pop() {
            if !self.position.contains_key(&t) && new.insert(t) {
                open.extend(pool.args(t));
            }
        }
        // Ids grow from arguments to users.
        let mut new: Vec<TermId> = new.into_iter().collect();
        new.sort_unstable();
        for term in new {
            let of = |t: &TermId| self.position.get(t).copied();
            let args: Box<[u32]> = pool.args(term).iter().map(of).collect::<Option<_>>()?;
            let last = match pool.get(term) {
                Term::Const(_) => 0,
                Term::Leaf(_) => u32::try_from(self.terms.iter().position(|i| *i == term)?).ok()? + 1,
                Term::App(App::Op(_), _) => {
                    args.iter().filter_map(|a| Some(self.nodes.get(*a as usize)?.last)).max().unwrap_or(0)
                }
                Term::App(..) => return None,
            };
            self.position.insert(term, u32::try_from(self.nodes.len()).ok()?);
            self.nodes.push(Node { term, args, last, value: (0, Err(UndefinedKind::BadCall)) });
        }
        Some(())
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

    /// Whether a condition holds; `None`: it rests on an undefined event, or was not added.
    pub fn holds(&mut self, pool: &TermPool, condition: TermId) -> Option<bool> {
        let root = *self.position.get(&condition)?;
        self.open.push(root);
        while let Some(i) = self.open.last().copied() {
            if self.known(i).is_err() {
                match self.step(pool, i) {
                    Ok(value) => {
                        self.steps += 1;
                        self.nodes.get_mut(i as usize)?.value = (self.now, value);
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

    /// The value of a term, if the inputs that it rests on are as they were.
    fn known(&self, i: u32) -> Result<ConstResult, Needed> {
        let needed = || Needed(i);
        let node = self.nodes.get(i as usize).ok_or_else(needed)?;
        let since = match node.last.checked_sub(1) {
            None => 1,
            Some(input) => self.changed.get(input as usize).copied().ok_or_else(needed)?,
        };
        if node.value.0 >= since { Ok(node.value.1) } else { Err(needed()) }
    }

    fn step(&self, pool: &TermPool, i: u32) -> Result<ConstResult, Needed> {
        let Some(node) = self.nodes.get(i as usize) else { return Ok(Err(UndefinedKind::BadCall)) };
        Ok(match pool.get(node.term) {
            Term::Const(c) => Ok(*c),
            Term::Leaf(_) => {
                let own = node.last.checked_sub(1).and_then(|k| self.inputs.get(k as usize));
                own.copied().ok_or(UndefinedKind::BadCall)
            }
            Term::App(App::Op(op), _) => return self.operator(*op, &node.args),
            Term::App(..) => Err(UndefinedKind::BadCall),
        })
    }

    /// As [`super::Run`] has it.
    fn operator(&self, op: Op, args: &[u32]) -> Result<ConstResult, Needed> {
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
    use super::super::{Assignment, Leaf, Program};
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
            let mut changing = Changing::new(&inputs);
            changing.add(&pool, &truths[..3]).unwrap();
            let mut values = [0i128; 3];
            for k in 0..80 {
                // The first time all of them; then one and what is behind it.
                let first = if k == 0 { 0 } else { next(3) };
                for (i, value) in values.iter_mut().enumerate().skip(first) {
                    *value = next(7) as i128 - 3;
                    changing.set(i, Const::bv(8, *value));
                }
                let mut input = Assignment::new();
                inputs.iter().zip(values).for_each(|(t, v)| input.set(*t, Const::bv(8, v)));
                let run = program.run(&pool, &input);
                for _ in 0..6 {
                    let t = truths[next(truths.len())];
                    changing.add(&pool, &[t]).unwrap();
                    assert_eq!(changing.holds(&pool, t), run.holds(t), "{values:?}");
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
        let mut changing = Changing::new(&[x, y]);
        changing.add(&pool, &[below]).unwrap();
        changing.set(0, Const::bv(32, 3));
        let mut steps = Vec::new();
        for v in [9, 10] {
            changing.set(1, Const::bv(32, v));
            assert_eq!(changing.holds(&pool, below), Some(v == 10));
            assert_eq!(changing.holds(&pool, below), Some(v == 10));
            steps.push(changing.steps());
        }
        assert_eq!(steps, [4, 6]);
        assert!(Changing::new(&[x]).add(&pool, &[below]).is_none());
    }
}
