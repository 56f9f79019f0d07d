//! Whether two terms are equal where a condition holds: as they stand, as polynomials, part by part, case by case, and
//! by the solver, for which what computes floats, reads memory or calls is a mere value.

use crate::invariant::proof::abstraction;
use crate::ir::{App, Const, LOOP_VALUE, Leaf, Op, Rebuilt, Sort, Term, TermId, TermPool};
use crate::smt;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Pairs of terms that are looked at, cases within cases, products of one polynomial, questions to the solver.
const PAIRS: usize = 6_000;
const CASES: usize = 10;
const PRODUCTS: usize = 400;
const QUESTIONS: usize = 150;

/// What was found out so far, and what more may be looked at.
pub(super) struct Alike {
    pairs: usize,
    questions: usize,
    known: FxHashMap<(TermId, TermId, TermId), bool>,
}

impl Default for Alike {
    fn default() -> Alike {
        Alike { pairs: PAIRS, questions: QUESTIONS, known: FxHashMap::default() }
    }
}

impl Alike {
    /// Whether nothing more is looked at.
    pub(super) fn is_exhausted(&self) -> bool {
        self.pairs == 0
    }

    /// Whether two terms are equal wherever `under` holds.
    pub(super) fn are(
        &mut self,
        pool: &mut TermPool,
        decider: &mut smt::Decider,
        (a, b): (TermId, TermId),
        under: TermId,
    ) -> bool {
        self.are_within(pool, decider, (a, b), under, CASES)
    }

    fn are_within(
        &mut self,
        pool: &mut TermPool,
        decider: &mut smt::Decider,
        (a, b): (TermId, TermId),
        under: TermId,
        cases: usize,
    ) -> bool {
        if a == b || pool.as_const(under) == Some(Const::FALSE) {
            return true;
        }
        if pool.sort(a) != pool.sort(b) {
            return false;
        }
        let [a, b] = [a, b].map(|t| abstraction::under(pool, t, under));
        if a == b {
            return true;
        }
        if let Some(known) = self.known.get(&(a, b, under)) {
            return *known;
        }
        let Some(left) = self.pairs.checked_sub(1) else { return false };
        self.pairs = left;
        let found = is_one_polynomial(pool, a, b)
            || self.by_solver(pool, decider, (a, b), under)
            || self.by_parts(pool, decider, (a, b), under, cases)
            || self.by_cases(pool, decider, (a, b), under, cases);
        self.known.insert((a, b, under), found);
        found
    }

    /// Asks the solver about numbers and conditions.
    fn by_solver(
        &mut self,
        pool: &mut TermPool,
        decider: &mut smt::Decider,
        (a, b): (TermId, TermId),
        under: TermId,
    ) -> bool {
        let is_asked = matches!(pool.sort(a), Sort::Bool | Sort::Bv(_)) || pool.sort(a).is_float();
        if !is_asked || self.questions == 0 {
            return false;
        }
        let [a, b, under] = [a, b, under].map(|t| plain(pool, t));
        let before = decider.settled().asked();
        let is_equal = matches!(decider.equal(pool, a, b, under), smt::Decision::Equal);
        self.questions -= usize::from(decider.settled().asked() > before);
        is_equal
    }

    /// Whether both apply one function to arguments that are equal.
    fn by_parts(
        &mut self,
        pool: &mut TermPool,
        decider: &mut smt::Decider,
        (a, b): (TermId, TermId),
        under: TermId,
        cases: usize,
    ) -> bool {
        let (Term::App(f, xs), Term::App(g, ys)) = (pool.get(a).clone(), pool.get(b).clone()) else {
            return false;
        };
        if f != g || xs.len() != ys.len() {
            return false;
        }
        let mut all = |xs: &[TermId], ys: &[TermId]| {
            xs.iter().zip(ys).all(|(x, y)| self.are_within(pool, decider, (*x, *y), under, cases))
        };
        let commutes = matches!(f, App::Op(op) if op.commutes());
        all(&xs, &ys) || commutes && xs.len() == 2 && all(&xs, &[ys[1], ys[0]])
    }

    /// Whether both are equal where a test in them holds, and where it does not.
    fn by_cases(
        &mut self,
        pool: &mut TermPool,
        decider: &mut smt::Decider,
        (a, b): (TermId, TermId),
        under: TermId,
        cases: usize,
    ) -> bool {
        let Some(left) = cases.checked_sub(1) else { return false };
        let Some(test) = test_in(pool, &[a, b]) else { return false };
        let not = pool.not(test);
        [test, not].into_iter().all(|case| {
            let [a, b] = [a, b].map(|t| abstraction::under(pool, t, case));
            let under = abstraction::under(pool, under, case);
            let under = pool.and(under, case);
            self.are_within(pool, decider, (a, b), under, left)
        })
    }
}

/// A test that some terms depend on, and that holds no other.
fn test_in(pool: &TermPool, terms: &[TermId]) -> Option<TermId> {
    pool.reachable(terms)
        .into_iter()
        .find_map(|t| pool.as_op(t, Op::Ite).and_then(|args| args.first()).copied())
}

/// Returns the term with everything as a value of its own that computes floats, reads memory or calls.
fn plain(pool: &mut TermPool, root: TermId) -> TermId {
    use Op::{FAdd, FDiv, FFma, FMul, FRem, FSqrt, FSub, FToF, FToS, FToU, SToF, UToF};
    pool.rebuilt(root, &|pool, t| {
        let is_value = match pool.get(t) {
            Term::App(App::Op(op), _) => matches!(
                op,
                FAdd | FSub
                    | FMul
                    | FDiv
                    | FRem
                    | FSqrt
                    | FFma
                    | FToF(_)
                    | SToF(_)
                    | UToF(_)
                    | FToS(_)
                    | FToU(_)
            ),
            Term::App(App::Uf(_) | App::Load { .. }, _) => true,
            _ => false,
        };
        let sort = pool.sort(t);
        match is_value && (sort.is_float() || matches!(sort, Sort::Bool | Sort::Bv(_))) {
            true => {
                let name = format!("{LOOP_VALUE}{t:?}").into();
                Rebuilt::By(pool.leaf(Leaf::Param { name, sort }))
            }
            false => Rebuilt::Kept,
        }
    })
}

/// By product of unknowns: the number that it is multiplied by.
type Polynomial = BTreeMap<Vec<TermId>, u128>;

/// Whether two numbers are one polynomial: modulo 2^n, as machines compute.
fn is_one_polynomial(pool: &TermPool, a: TermId, b: TermId) -> bool {
    let Sort::Bv(width @ 1..=64) = pool.sort(a) else { return false };
    let mut left = PRODUCTS;
    let mut of = |t| polynomial(pool, t, width, &mut left);
    matches!((of(a), of(b)), (Some(p), Some(q)) if p == q)
}

fn polynomial(pool: &TermPool, t: TermId, width: u16, left: &mut usize) -> Option<Polynomial> {
    *left = left.checked_sub(1)?;
    let mask = (1u128 << width) - 1;
    if let Some(c) = pool.as_const(t).and_then(Const::unsigned) {
        return Some(if c == 0 { Polynomial::new() } else { BTreeMap::from([(Vec::new(), c & mask)]) });
    }
    let mut sum = Polynomial::new();
    let mut add = |product: Vec<TermId>, by: u128| {
        let entry = sum.entry(product).or_default();
        *entry = entry.wrapping_add(by) & mask;
    };
    match pool.get(t) {
        Term::App(App::Op(Op::Add), args) => {
            for &x in args {
                polynomial(pool, x, width, left)?.into_iter().for_each(|(p, k)| add(p, k));
            }
        }
        Term::App(App::Op(Op::Mul), args) => {
            let &[x, y] = args.as_slice() else { return None };
            let (x, y) = (polynomial(pool, x, width, left)?, polynomial(pool, y, width, left)?);
            for (p, k) in &x {
                for (q, l) in &y {
                    *left = left.checked_sub(1)?;
                    let mut product = [p.as_slice(), q.as_slice()].concat();
                    product.sort_unstable();
                    add(product, k.wrapping_mul(*l));
                }
            }
        }
        _ => add(vec![t], 1),
    }
    sum.retain(|_, k| *k != 0);
    Some(sum)
}
