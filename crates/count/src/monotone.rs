//! Conditions over one float input, exactly: where a value only grows with the input, or only falls, a comparison
//! with it changes once, and where that is, is found by halves.
//!
//! Rounding to nearest, conversions and sums keep the order of what they are given. Where a value turns around (a
//! magnitude, a product of the input with itself), the range is cut in two. No value may be a NaN anywhere: what could
//! be one is left to be evaluated.

use crate::formula::{Formula, Linear};
use crate::lattice::Range;
use crate::{Domain, Input};
use invdiff_ir::eval::{Assignment, Program};
use invdiff_ir::{App, Const, Op, Sort, Term, TermId, TermPool};
use rustc_hash::FxHashSet;

/// Places where a value turns around.
const MAX_TURNS: usize = 8;
/// Terms inside one another, and all terms.
const MAX_DEPTH: usize = 60;
const MAX_TERMS: usize = 120;

/// How a value goes with the number of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Monotonicity {
    /// It does not depend on it.
    Level,
    Up,
    Down,
}

impl Monotonicity {
    fn turned(self) -> Monotonicity {
        match self {
            Monotonicity::Level => Monotonicity::Level,
            Monotonicity::Up => Monotonicity::Down,
            Monotonicity::Down => Monotonicity::Up,
        }
    }

    /// Of a sum.
    fn and(self, other: Monotonicity) -> Option<Monotonicity> {
        match (self, other) {
            (Monotonicity::Level, way) | (way, Monotonicity::Level) => Some(way),
            _ => (self == other).then_some(self),
        }
    }
}

/// A condition of one input that varies.
struct OfOne<'a> {
    pool: &'a TermPool,
    domain: &'a Domain,
    program: Program,
    /// Terms that the input is part of.
    varying: FxHashSet<TermId>,
    /// The input, by position, and the range of its numbers.
    input: usize,
    range: Range,
    /// The others.
    fixed: Assignment,
}

/// A comparison of floats, or of what was converted from floats, as ranges of the numbers of inputs; `None`: it is
/// not of this kind.
pub(crate) fn condition(pool: &TermPool, domain: &Domain, t: TermId) -> Option<Formula> {
    let Term::App(App::Op(op), args) = pool.get(t) else { return None };
    let (op, args) = (*op, args.clone());
    if !is_candidate(pool, t) {
        return None;
    }
    let below = pool.reachable(&[t]);
    let is_of = |i: &Input| below.contains(&i.term);
    let inputs: Vec<usize> =
        domain.inputs.iter().enumerate().filter(|(_, i)| is_of(i)).map(|(k, _)| k).collect();
    match inputs.as_slice() {
        [input] => {
            let input = *input;
            let range = domain.inputs.get(input)?.range;
            OfOne::new(pool, domain, t, (input, range), Assignment::new()).condition(op, &args, t)
        }
        [_, _] => between(domain, op, &args),
        _ => None,
    }
}

/// Whether a condition may be of this kind.
pub(crate) fn is_candidate(pool: &TermPool, t: TermId) -> bool {
    let Term::App(App::Op(op), _) = pool.get(t) else { return false };
    let is_comparison = matches!(op, Op::FLt | Op::FLe | Op::FEq | Op::FIsNan | Op::FSignbit);
    let is_of_integers = matches!(op, Op::Slt | Op::Sle | Op::Ult | Op::Ule | Op::Eq);
    if !is_comparison && !is_of_integers {
        return false;
    }
    let below = pool.reachable(&[t]);
    below.len() <= MAX_TERMS && (is_comparison || below.iter().any(|t| pool.sort(*t).is_float()))
}

/// The same where all inputs but one have one value; `None` also where some of it would be evaluated.
pub(crate) fn of_one(
    pool: &TermPool,
    domain: &Domain,
    t: TermId,
    ranges: &[Range],
    input: usize,
) -> Option<Formula> {
    let Term::App(App::Op(op), args) = pool.get(t) else { return None };
    let mut fixed = Assignment::new();
    for (k, (i, (low, high))) in domain.inputs.iter().zip(ranges).enumerate() {
        if low == high && k != input {
            fixed.set(i.term, domain.constant(pool, k, *low)?);
        }
    }
    let range = *ranges.get(input)?;
    let found = OfOne::new(pool, domain, t, (input, range), fixed).condition(*op, args, t)?;
    (!found.has_terms()).then_some(found)
}

/// Two inputs whose values have the same numbers, compared with one another.
fn between(domain: &Domain, op: Op, args: &[TermId]) -> Option<Formula> {
    let &[a, b] = args else { return None };
    let (i, j) = (domain.position(a)?, domain.position(b)?);
    let values = &domain.inputs.get(i)?.values;
    if *values != domain.inputs.get(j)?.values {
        return None;
    }
    let at_most = |x: usize, y: usize, more: i128| {
        Some(Formula::AtMost(Linear::input(x).plus(-1, &Linear::input(y))?.plus(more, &Linear::constant(1))?))
    };
    // Both zeros are equal, and have different numbers where each float has one.
    let is_zero = |x: usize, number: i128| Some(within(x, (number, number)));
    let zeros = |x: usize, y: usize| match values {
        crate::Values::Ordered => Some(Formula::And(vec![is_zero(x, -1)?, is_zero(y, 0)?])),
        _ => Some(Formula::False),
    };
    match op {
        Op::FLt => Some(Formula::And(vec![at_most(i, j, 1)?, zeros(i, j)?.not()?])),
        Op::FLe => Some(Formula::Or(vec![at_most(i, j, 0)?, zeros(j, i)?])),
        Op::FEq => {
            let same = Formula::And(vec![at_most(i, j, 0)?, at_most(j, i, 0)?]);
            Some(Formula::Or(vec![same, zeros(i, j)?, zeros(j, i)?]))
        }
        _ => None,
    }
}

/// That the number of an input is of a range.
fn within(input: usize, (low, high): Range) -> Formula {
    let number = Linear::input(input);
    let above = Linear { terms: vec![(input, -1)], constant: low };
    let below = Linear { constant: -high, ..number };
    Formula::And(vec![Formula::AtMost(above), Formula::AtMost(below)])
}

impl<'a> OfOne<'a> {
    fn new(
        pool: &'a TermPool,
        domain: &'a Domain,
        t: TermId,
        (input, range): (usize, Range),
        fixed: Assignment,
    ) -> OfOne<'a> {
        let program = Program::new(pool, &[t]);
        let mut varying: FxHashSet<TermId> = domain.inputs.get(input).map(|i| i.term).into_iter().collect();
        // Arguments come before what they are arguments of.
        for t in program.terms() {
            if pool.args(*t).iter().any(|a| varying.contains(a)) {
                varying.insert(*t);
            }
        }
        OfOne { pool, domain, program, varying, input, range, fixed }
    }

    fn condition(&self, op: Op, args: &[TermId], t: TermId) -> Option<Formula> {
        if self.range.0 > self.range.1 {
            return None;
        }
        let (mut found, mut open) = (Vec::new(), Vec::new());
        let pieces = self.pieces(args)?;
        for range in &pieces {
            match self.true_on(op, args, t, *range) {
                Some(true_on) => found.extend(true_on),
                None => open.push(*range),
            }
        }
        if open.len() == pieces.len() {
            return None;
        }
        let found = joined(found);
        if found == [self.range] {
            return Some(Formula::True);
        }
        let mut parts: Vec<Formula> = found.into_iter().map(|r| within(self.input, r)).collect();
        let evaluated = |r: Range| Formula::And(vec![within(self.input, r), Formula::Term(t, true)]);
        parts.extend(joined(open).into_iter().map(evaluated));
        Some(match parts.len() {
            0 => Formula::False,
            1 => parts.pop()?,
            _ => Formula::Or(parts),
        })
    }

    /// Where the condition holds within a range; outer `None`: that is not known.
    fn true_on(&self, op: Op, args: &[TermId], t: TermId, range: Range) -> Option<Option<Range>> {
        match (op, args) {
            (Op::FIsNan, &[a]) => self.way(a, range, 0).map(|_| None),
            // Of what is computed, zeros of both signs may come in any order.
            (Op::FSignbit, &[a]) if a == self.domain.inputs.get(self.input)?.term => self.changes(t, range),
            (Op::FEq | Op::Eq, &[a, b]) => self.equal(op, (a, b), range),
            (Op::FLt | Op::FLe | Op::Slt | Op::Sle | Op::Ult | Op::Ule, &[a, b]) => {
                let (x, y) = (self.way(a, range, 0)?, self.way(b, range, 0)?);
                x.and(y.turned())?;
                if matches!(op, Op::Ult | Op::Ule) {
                    // Unsigned, what is negative would be large.
                    self.is_at_least_zero(a, range)?.then_some(())?;
                    self.is_at_least_zero(b, range)?.then_some(())?;
                }
                self.changes(t, range)
            }
            _ => None,
        }
    }

    /// Where two values are equal, of which one less the other goes one way.
    fn equal(&self, op: Op, (a, b): (TermId, TermId), range: Range) -> Option<Option<Range>> {
        let (x, y) = (self.way(a, range, 0)?, self.way(b, range, 0)?);
        if a == b {
            return Some(Some(range));
        }
        let way = x.and(y.turned())?;
        let order = |number: i128| {
            let (a, b) = (self.value(a, number)?, self.value(b, number)?);
            match op {
                // The order of equal zeros is not that of their bits.
                Op::FEq => as_float(a)?.partial_cmp(&as_float(b)?),
                _ => Some(a.signed()?.cmp(&b.signed()?)),
            }
        };
        let is_before = |number: i128| {
            let order = order(number)?;
            Some(if way == Monotonicity::Down { order.is_gt() } else { order.is_lt() })
        };
        let is_not_behind = |number: i128| {
            let order = order(number)?;
            Some(if way == Monotonicity::Down { order.is_ge() } else { order.is_le() })
        };
        let first = self.first(range, &|number| Some(!is_before(number)?))?;
        let end = self.first(range, &|number| Some(!is_not_behind(number)?))?;
        Some((first < end).then_some((first, end - 1)))
    }

    /// Where a condition holds that changes at most once within a range.
    fn changes(&self, t: TermId, range: Range) -> Option<Option<Range>> {
        let holds = |number: i128| self.value(t, number)?.as_bool();
        let (at_low, at_high) = (holds(range.0)?, holds(range.1)?);
        let to = self.first(range, &|number| Some(holds(number)? != at_low))?;
        Some(match (at_low, at_high) {
            (true, _) => Some((range.0, to - 1)),
            (false, true) => Some((to, range.1)),
            (false, false) => None,
        })
    }

    /// The first number from which something holds, one behind the range if it does nowhere.
    fn first(&self, (mut low, high): Range, holds: &dyn Fn(i128) -> Option<bool>) -> Option<i128> {
        let mut end = high.checked_add(1)?;
        while low < end {
            let middle = low + (end - low) / 2;
            match holds(middle)? {
                true => end = middle,
                false => low = middle + 1,
            }
        }
        Some(low)
    }

    /// The range in pieces in which no value turns around, and a conversion is defined everywhere or nowhere.
    fn pieces(&self, args: &[TermId]) -> Option<Vec<Range>> {
        let whole = self.range;
        let mut cuts = vec![whole.0];
        for t in self.pool.reachable(args) {
            let Term::App(App::Op(op), args) = self.pool.get(t) else { continue };
            for a in args {
                // What itself turns around is not cut.
                if !matches!(op, Op::FAbs | Op::FMul | Op::FDiv | Op::FToS(_) | Op::FToU(_))
                    || self.way(*a, whole, 0).is_none_or(|way| way == Monotonicity::Level)
                {
                    continue;
                }
                let is_negative = |number: i128| Some(as_float(self.value(*a, number)?)?.is_sign_negative());
                let at_low = is_negative(whole.0)?;
                let turn = self.first(whole, &|number| Some(is_negative(number)? != at_low))?;
                cuts.push(turn);
                if matches!(op, Op::FToS(_) | Op::FToU(_)) {
                    // It is defined around 0.
                    let is_defined = |number: i128| self.value(t, number).is_some();
                    cuts.push(self.first((whole.0, turn - 1), &|number| Some(is_defined(number)))?);
                    cuts.push(self.first((turn, whole.1), &|number| Some(!is_defined(number)))?);
                }
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts.retain(|c| *c <= whole.1);
        if cuts.len() > MAX_TURNS {
            return None;
        }
        let ends = cuts.iter().skip(1).map(|c| c - 1).chain([whole.1]);
        Some(cuts.iter().copied().zip(ends).collect())
    }

    /// How a value goes over a range; `None`: that is not known, or it may be a NaN.
    fn way(&self, t: TermId, range: Range, depth: usize) -> Option<Monotonicity> {
        if !self.varying.contains(&t) {
            let is_nan = as_float(self.value(t, range.0)?).is_some_and(f64::is_nan);
            return (!is_nan).then_some(Monotonicity::Level);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let input = self.domain.inputs.get(self.input)?;
        if t == input.term {
            return self.is_in_order(t, range).then_some(Monotonicity::Up);
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let way = |k: usize| self.way(*args.get(k)?, range, depth + 1);
        match op {
            Op::FNeg => way(0).map(Monotonicity::turned),
            Op::FToF(Sort::F32 | Sort::F64) | Op::FRound(_) => way(0),
            // What is defined at both ends is defined between.
            Op::FToS(_) => {
                let found = way(0)?;
                self.ends(t, range).map(|_| found)
            }
            Op::FToU(_) => {
                let found = way(0)?;
                self.is_at_least_zero(t, range)?.then_some(found)
            }
            Op::SToF(Sort::F32 | Sort::F64) | Op::Sext(_) => way(0),
            Op::UToF(Sort::F32 | Sort::F64) | Op::Zext(_) => {
                let found = way(0)?;
                self.is_at_least_zero(*args.first()?, range)?.then_some(found)
            }
            Op::FSqrt => {
                let found = way(0)?;
                self.is_at_least_zero(*args.first()?, range)?.then_some(found)
            }
            Op::FMin | Op::FMax => way(0)?.and(way(1)?),
            Op::FAdd | Op::FSub => {
                let other = way(1)?;
                let found = way(0)?.and(if *op == Op::FSub { other.turned() } else { other })?;
                // One infinity may be taken from another.
                args.iter().any(|a| self.is_finite(*a, range).is_some()).then_some(found)
            }
            Op::FAbs => {
                let found = way(0)?;
                Some(if self.is_negative(*args.first()?, range)? { found.turned() } else { found })
            }
            Op::FMul | Op::FDiv => {
                let (&[a, b], x, y) = (args.as_slice(), way(0)?, way(1)?) else { return None };
                let is_finite = [a, b].map(|x| self.is_finite(x, range).is_some());
                let is_not_zero = [a, b].map(|x| self.is_not_zero(x, range).is_some());
                // Neither 0 times infinity, nor one of 0 / 0 and infinity / infinity.
                let is_number = match op {
                    Op::FDiv => is_not_zero[1] && (is_finite[0] || is_finite[1]),
                    _ => {
                        let never = |k: usize| is_finite[k] && is_not_zero[k];
                        is_finite[0] && is_finite[1] || never(0) || never(1)
                    }
                };
                is_number.then_some(())?;
                let grown = |way: Monotonicity, other: TermId| {
                    Some(if self.is_negative(other, range)? { way.turned() } else { way })
                };
                // With a quotient, what divides goes the other way.
                let y = if *op == Op::FDiv { y.turned() } else { y };
                let x = if x == Monotonicity::Level { x } else { grown(x, b)? };
                let y = if y == Monotonicity::Level { y } else { grown(y, a)? };
                // A quotient of two that vary may go any way.
                x.and(y)
            }
            _ => None,
        }
    }

    /// Whether the order of an input's numbers is that of its values, as signed words.
    fn is_in_order(&self, t: TermId, range: Range) -> bool {
        match self.pool.sort(t) {
            Sort::Bv(width) => (1..=64).contains(&width) && range.1 < 1 << (width - 1),
            sort => sort.is_float(),
        }
    }

    /// The value of a term at a number of the input.
    fn value(&self, t: TermId, number: i128) -> Option<Const> {
        if let Some(c) = self.pool.as_const(t) {
            return Some(c);
        }
        let mut input = self.fixed.clone();
        let constant = self.domain.constant(self.pool, self.input, number)?;
        input.set(self.domain.inputs.get(self.input)?.term, constant);
        self.program.run(self.pool, &input).constant(t).ok()
    }

    fn ends(&self, t: TermId, range: Range) -> Option<(Const, Const)> {
        Some((self.value(t, range.0)?, self.value(t, range.1)?))
    }

    /// Of a value that goes one way: what holds at both ends holds between.
    fn is_finite(&self, t: TermId, range: Range) -> Option<()> {
        let (a, b) = self.ends(t, range)?;
        (as_float(a)?.is_finite() && as_float(b)?.is_finite()).then_some(())
    }

    /// Whether it is negative or -0.0 everywhere (else nowhere); `None`: there are both.
    fn is_negative(&self, t: TermId, range: Range) -> Option<bool> {
        let (a, b) = self.ends(t, range)?;
        let (a, b) = (as_float(a)?.is_sign_negative(), as_float(b)?.is_sign_negative());
        (a == b).then_some(a)
    }

    fn is_not_zero(&self, t: TermId, range: Range) -> Option<()> {
        let (a, b) = self.ends(t, range)?;
        (as_float(a)? != 0.0 && as_float(b)? != 0.0 && self.is_negative(t, range).is_some()).then_some(())
    }

    fn is_at_least_zero(&self, t: TermId, range: Range) -> Option<bool> {
        let (a, b) = self.ends(t, range)?;
        match a {
            Const::Bv { .. } => Some(a.signed()? >= 0 && b.signed()? >= 0),
            _ => Some(as_float(a)? >= 0.0 && as_float(b)? >= 0.0),
        }
    }
}

fn as_float(c: Const) -> Option<f64> {
    match c {
        Const::F32(bits) => Some(f64::from(f32::from_bits(bits))),
        Const::F64(bits) => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// Ranges in their order, those that touch put together.
fn joined(ranges: Vec<Range>) -> Vec<Range> {
    let mut found: Vec<Range> = Vec::new();
    for range in ranges {
        match found.last_mut() {
            Some(last) if last.1 + 1 == range.0 => last.1 = range.1,
            _ => found.push(range),
        }
    }
    found
}

#[cfg(test)]
mod tests;
