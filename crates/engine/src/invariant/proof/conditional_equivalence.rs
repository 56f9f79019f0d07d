//! Agreement: under which condition on the inputs all versions give a value the same meaning.
//!
//! Where versions do not share a value, they often share it on a part of the inputs, and that part is
//! what a reader of a change wants to know: `\input(2) == \input(3) ==> r == \input(3)` after two
//! reads were swapped. A sampled input falls into one case of each version's value; the condition is that of
//! these cases, and that their differing subterms are equal (anti-unification, Plotkin 1970). So the
//! fact holds by construction; the solver is only asked which parts of the condition it can do
//! without.
//!
//! Floats are related but for the signs of zeros first: that survives sums, products, square roots and
//! conversions, and division by anything but zero. A value that is not zero is then identical, which is
//! what a fact means (`docs/design/machine-semantics.md`).

use crate::invariant::findings::ClassFacts;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::Observable;
use crate::invariant::proof::abstraction;
use crate::ir::{App, Const, Op, Rounding, Sort, Term, TermId, TermPool, eval};
use crate::mvicfg::ClassId;
use crate::smt;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Facts of one subject.
const MAX_FACTS: usize = 2;
/// Inputs that suggest cases.
const SAMPLES: u64 = 24;
/// Pairs of subterms that are looked at to relate two values.
const MAX_PAIRS: usize = 400;
/// Terms of an equality that is told unasked: more would say no more than that versions agree where
/// they agree.
const MAX_SHOWN: usize = 4;
/// Questions to the solver for one condition.
const MAX_QUESTIONS: usize = 24;
/// Depth of terms that are looked at.
const MAX_DEPTH: usize = 100;

/// How one value follows from another, where the conditions hold.
struct Relation {
    negated: bool,
    /// Identical, and not only but for the sign of a zero.
    exact: bool,
    conditions: BTreeSet<TermId>,
}

impl Relation {
    fn same() -> Relation {
        Relation { negated: false, exact: true, conditions: BTreeSet::new() }
    }

    fn join(mut self, other: Relation, negated: bool) -> Relation {
        self.conditions.extend(other.conditions);
        Relation { negated, exact: self.exact && other.exact, conditions: self.conditions }
    }

    /// Terms that a reader has to take in.
    fn size(&self, pool: &TermPool) -> usize {
        self.conditions.iter().map(|&c| pool.reachable(&[c]).len()).sum()
    }
}

/// Relates terms of one pool.
struct Unifier<'p> {
    pool: &'p mut TermPool,
    left: usize,
}

impl Unifier<'_> {
    /// Returns conditions under which `a` is `b` or its negation; `None` when there are none worth
    /// saying.
    fn relate(&mut self, a: TermId, b: TermId) -> Option<Relation> {
        if a == b {
            return Some(Relation::same());
        }
        self.left = self.left.checked_sub(1)?;
        for (x, y, flipped) in [(a, b, false), (b, a, true)] {
            if let Some(&[inner]) = self.pool.as_op(x, Op::FNeg) {
                let (p, q) = if flipped { (y, inner) } else { (inner, y) };
                let r = self.relate(p, q)?;
                return Some(Relation { negated: !r.negated, ..r });
            }
        }
        let equated = self.equate(a, b);
        match (self.descend(a, b), equated) {
            // Conditions on parts read better than one on all, unless they are many.
            (Some(d), Some(e)) if 3 * e.size(self.pool) < 2 * d.size(self.pool) => Some(e),
            (Some(d), _) => Some(d),
            (None, e) => e,
        }
    }

    /// Sets two values equal as they are.
    fn equate(&mut self, a: TermId, b: TermId) -> Option<Relation> {
        let op = match self.pool.sort(a) {
            s if s != self.pool.sort(b) => return None,
            Sort::Bv(_) => Op::Eq,
            Sort::F32 | Sort::F64 | Sort::F80 => Op::FEq,
            _ => return None,
        };
        let condition = self.pool.op(op, &[a, b]);
        let never = self.pool.as_const(condition).and_then(|c| c.as_bool()) == Some(false);
        let conditions = BTreeSet::from([condition]);
        (!never).then_some(Relation { negated: false, exact: op == Op::Eq, conditions })
    }

    /// Relates the results of one operator by its arguments.
    fn descend(&mut self, a: TermId, b: TermId) -> Option<Relation> {
        let (Term::App(f, xs), Term::App(g, ys)) = (self.pool.get(a).clone(), self.pool.get(b).clone())
        else {
            return None;
        };
        if f != g || xs.len() != ys.len() {
            return None;
        }
        match (&f, &xs[..], &ys[..]) {
            (App::Op(op @ (Op::FAdd | Op::FMul)), &[x1, x2], &[y1, y2]) => {
                let straight = self.relate_both(*op, (x1, y1), (x2, y2));
                let crossed = self.relate_both(*op, (x1, y2), (x2, y1));
                let mut r = match (straight, crossed) {
                    (Some(s), Some(c)) if c.size(self.pool) < s.size(self.pool) => c,
                    (s, c) => s.or(c)?,
                };
                // `a - a` is `+0.0` whichever way it is written.
                r.exact &= *op != Op::FAdd || !r.negated;
                Some(r)
            }
            (App::Op(Op::FDiv), &[n, d], &[m, e]) => {
                let (over, under) = (self.relate(n, m)?, self.relate(d, e)?);
                let (exact, negated) = (over.exact, over.negated != under.negated);
                let mut r = over.join(under, negated);
                if d != e {
                    r.conditions.insert(self.is_not_zero(e)?);
                }
                Some(Relation { exact, ..r })
            }
            (App::Op(Op::FAbs), &[x], &[y]) => Some(Relation { negated: false, ..self.relate(x, y)? }),
            (
                App::Op(Op::FToF(_) | Op::FRound(Rounding::Trunc | Rounding::Away | Rounding::Even)),
                &[x],
                &[y],
            ) => self.relate(x, y),
            (App::Op(Op::FSqrt | Op::FToS(_) | Op::FToU(_)), &[x], &[y]) => {
                self.relate(x, y).filter(|r| !r.negated)
            }
            // Equal bits give equal results, whatever is computed of them.
            _ => {
                let mut all = Relation::same();
                for (&x, &y) in xs.iter().zip(&ys) {
                    let bits = x == y || matches!(self.pool.sort(x), Sort::Bool | Sort::Bv(_));
                    let r = self.relate(x, y).filter(|_| bits)?;
                    all = all.join(r, false);
                }
                Some(all)
            }
        }
    }

    fn is_not_zero(&mut self, float: TermId) -> Option<TermId> {
        let zero = self.pool.constant(Const::zero(self.pool.sort(float))?);
        let is_zero = self.pool.op(Op::FEq, &[float, zero]);
        Some(self.pool.not(is_zero))
    }

    /// Relates a sum or a product by both arguments.
    fn relate_both(&mut self, op: Op, a: (TermId, TermId), b: (TermId, TermId)) -> Option<Relation> {
        let (r, s) = (self.relate(a.0, a.1)?, self.relate(b.0, b.1)?);
        let negated = r.negated != s.negated;
        match op {
            Op::FAdd if negated => None,
            Op::FAdd => {
                let negated = r.negated;
                Some(r.join(s, negated))
            }
            _ => Some(r.join(s, negated)),
        }
    }
}

/// The conjuncts of a condition, in order.
fn conjuncts(pool: &TermPool, condition: TermId) -> Vec<TermId> {
    match pool.as_op(condition, Op::And) {
        Some(parts) => parts.iter().flat_map(|&p| conjuncts(pool, p)).collect(),
        None => vec![condition],
    }
}

/// The case of a value that one input falls into: what is tested on the way, with the outcomes.
struct Path<'r> {
    run: &'r eval::Run<'r>,
    tests: Vec<(TermId, bool)>,
    /// Tests that only change the sign of a zero were passed over.
    dropped: bool,
    done: FxHashMap<TermId, TermId>,
}

impl Path<'_> {
    /// Returns a value without its tests; those that only change the sign of a zero are passed over.
    /// `None` when the input does not decide a test.
    fn case(&mut self, pool: &mut TermPool, mut value: TermId) -> Option<TermId> {
        loop {
            let plain = but_for_zero_sign(pool, value);
            self.dropped |= plain != value;
            value = plain;
            let Some(&[c, a, b]) = pool.as_op(value, Op::Ite) else { return self.exact(pool, value, 0) };
            let plain = (but_for_zero_sign(pool, a), but_for_zero_sign(pool, b));
            if plain.0 == plain.1 {
                self.dropped = true;
                value = plain.0;
            } else {
                value = self.choose(pool, (c, a, b), 0)?;
            }
        }
    }

    /// Returns a term without the tests inside it.
    fn exact(&mut self, pool: &mut TermPool, term: TermId, depth: usize) -> Option<TermId> {
        if let Some(&known) = self.done.get(&term) {
            return Some(known);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let there = match pool.get(term).clone() {
            Term::App(App::Op(Op::Ite), args) => {
                let &[c, a, b] = &args[..] else { return None };
                let chosen = self.choose(pool, (c, a, b), depth)?;
                self.exact(pool, chosen, depth + 1)?
            }
            Term::App(app, args) => {
                let args: Option<Vec<TermId>> =
                    args.iter().map(|&x| self.exact(pool, x, depth + 1)).collect();
                pool.app(app, &args?)
            }
            _ => term,
        };
        self.done.insert(term, there);
        Some(there)
    }

    /// Takes the branch that the input takes, and keeps the test.
    fn choose(
        &mut self,
        pool: &mut TermPool,
        (c, a, b): (TermId, TermId, TermId),
        depth: usize,
    ) -> Option<TermId> {
        let holds = self.run.holds(c)?;
        let test = self.exact(pool, c, depth + 1)?;
        self.tests.push((test, holds));
        Some(if holds { a } else { b })
    }
}

/// Drops a test that only changes the sign of a zero: `if (x == 0) x = 0;`.
fn but_for_zero_sign(pool: &mut TermPool, term: TermId) -> TermId {
    let Some(&[c, a, b]) = pool.as_op(term, Op::Ite) else { return term };
    let is_zero = |t: TermId| pool.as_const(t).and_then(Const::float) == Some(0.0);
    if is_zero(a) && pool.op(Op::FEq, &[b, a]) == c { b } else { term }
}

/// A part of the inputs, and what the value is there in all versions.
struct Agreement {
    size: usize,
    condition: TermId,
    what: TermId,
}

/// Conditions and how they came out, in order.
type Tests = Vec<(TermId, bool)>;

impl FunctionAnalysis<'_> {
    /// Adds facts of a subject on parts of the inputs where all classes agree. `by_class` has the values of
    /// the classes that have executions.
    pub(in crate::invariant) fn agreements(
        &mut self,
        subject: &Observable,
        by_class: &BTreeMap<ClassId, TermId>,
        sides: &BTreeMap<ClassId, ClassFacts>,
    ) {
        let Some((&newest, _)) = by_class.last_key_value() else { return };
        // The newest version's value last: facts are told in its words.
        let mut values: Vec<TermId> = Vec::new();
        for &value in by_class.values().rev() {
            if !values.contains(&value) {
                values.insert(0, value);
            }
        }
        let mut found: Vec<Agreement> = Vec::new();
        for (tests, whats, dropped) in self.paths(&values) {
            found.extend(self.agreement(&tests, &whats, !dropped));
        }
        found.sort_by_key(|a| (a.size, a.condition, a.what));
        let mut told = BTreeSet::new();
        for a in found {
            if told.len() >= MAX_FACTS || told.contains(&a.what) {
                continue;
            }
            // That no input satisfies it is no news.
            let never = self.e.pool.bool(false);
            if self.deciders.lemmas.refute(&mut self.e.pool, a.condition, never).is_none() {
                continue;
            }
            let condition = self.without_needless(a.condition, a.what, &values);
            if !self.speaks_of_all(&[condition, a.what], values.iter()) {
                continue;
            }
            if let Some(fact) = self.case_fact(subject, newest, condition, a.what, sides) {
                told.insert(a.what);
                self.diff.invariants.push(fact);
            }
        }
    }

    /// The tests on the way to the cases that sampled inputs fall into, the values there, and whether
    /// tests of a zero's sign were passed over.
    fn paths(&mut self, values: &[TermId]) -> BTreeSet<(Tests, Vec<TermId>, bool)> {
        let pool = &mut self.e.pool;
        let program = eval::Program::new(pool, values);
        let palette = Arc::new(eval::Palette::of_terms(pool, program.terms()));
        let varied = (0..SAMPLES).map(|seed| eval::Fill::Varied { seed, palette: palette.clone() });
        let mut found = BTreeSet::new();
        for fill in std::iter::once(eval::Fill::Zero).chain(varied) {
            let input = eval::Assignment::filled(fill);
            let run = program.run(pool, &input);
            let mut path = Path { run: &run, tests: Vec::new(), dropped: false, done: FxHashMap::default() };
            let whats: Option<Vec<TermId>> = values.iter().map(|&v| path.case(pool, v)).collect();
            if let Some(whats) = whats {
                found.insert((path.tests, whats, path.dropped));
            }
        }
        found
    }

    /// Joins the cases of all values; `None` where they cannot be equal.
    fn agreement(
        &mut self,
        tests: &[(TermId, bool)],
        whats: &[TermId],
        mut exact: bool,
    ) -> Option<Agreement> {
        let (&what, others) = whats.split_last()?;
        let mut condition = self.e.pool.bool(true);
        for &(test, holds) in tests {
            let test = abstraction::under(&mut self.e.pool, test, condition);
            let test = if holds { test } else { self.e.pool.not(test) };
            condition = self.e.pool.and(condition, test);
        }
        let mut size = conjuncts(&self.e.pool, condition).len();
        for &other in others {
            let mut unifier = Unifier { pool: &mut self.e.pool, left: MAX_PAIRS };
            let relation = unifier.relate(other, what).filter(|r| !r.negated)?;
            let plain = |c: &TermId| self.e.pool.reachable(&[*c]).len() <= MAX_SHOWN;
            if !self.task.options.all && !relation.conditions.iter().all(plain) {
                return None;
            }
            size += relation.size(&self.e.pool);
            exact &= relation.exact;
            for c in relation.conditions {
                let c = abstraction::under(&mut self.e.pool, c, condition);
                condition = self.e.pool.and(condition, c);
            }
        }
        if !exact && self.e.pool.sort(what).is_float() {
            let mut unifier = Unifier { pool: &mut self.e.pool, left: 0 };
            let not_zero = unifier.is_not_zero(what)?;
            condition = self.e.pool.and(condition, not_zero);
        }
        let open = |t: TermId| self.e.rests_on_indeterminate(t) || self.e.rests_on_havoc(t);
        if open(condition) || open(what) {
            return None;
        }
        Some(Agreement { size, condition, what })
    }

    /// Leaves out the parts of a condition that follow from the others, or that equality does not
    /// need. Floats are left as they are: their questions cost seconds.
    fn without_needless(&mut self, condition: TermId, what: TermId, values: &[TermId]) -> TermId {
        let mut goal = self.e.pool.bool(true);
        for &value in values {
            let equal = self.e.pool.eq(value, what);
            goal = self.e.pool.and(goal, equal);
        }
        let mut kept = conjuncts(&self.e.pool, condition);
        if smt::is_float_heavy(&self.e.pool, &[goal, condition]) || kept.len() > MAX_QUESTIONS {
            return condition;
        }
        for part in kept.clone() {
            let rest: Vec<TermId> = kept.iter().copied().filter(|&k| k != part).collect();
            let weaker = self.all_of(&rest);
            // What follows from the rest is a smaller question than what equality needs.
            let mut holds = |goal| self.deciders.lemmas.holds(&mut self.e.pool, weaker, goal);
            if [part, goal].into_iter().any(|g| matches!(holds(g), smt::Truth::Holds)) {
                kept = rest;
            }
        }
        self.all_of(&kept)
    }

    fn all_of(&mut self, conditions: &[TermId]) -> TermId {
        let mut all = self.e.pool.bool(true);
        for &c in conditions {
            all = self.e.pool.and(all, c);
        }
        all
    }
}

#[cfg(test)]
mod tests;
