//! Conditions as formulas over integers.
//!
//! A word is taken as the integer that it is as a signed number. A sum, a difference or a product with
//! a constant is the sum, difference or product of integers only where the bounds of the domain show
//! that the result fits the word; everything else stays a term that is evaluated bit by bit, or is made linear by
//! `quotients`.

use crate::Domain;
use crate::lattice::Range;
use crate::monotone;
use crate::quotients::Quotients;
use invdiff_ir::{App, Op, Sort, Term, TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Cases of one value; beyond, it is evaluated.
const MAX_CASES: usize = 24;
/// Parts of one formula; beyond, it is evaluated.
const MAX_PARTS: usize = 400;
/// Bits of a word; wider ones are evaluated.
const MAX_WIDTH: u16 = 120;
/// Terms inside one another.
const MAX_DEPTH: usize = 200;

/// `sum of coefficient * input + constant`. No coefficient is 0; inputs ascend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Linear {
    pub terms: Vec<(usize, i128)>,
    pub constant: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    True,
    False,
    /// The sum is at most 0.
    AtMost(Linear),
    /// A term that is to be true, or false.
    Term(TermId, bool),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

impl Linear {
    pub fn constant(constant: i128) -> Linear {
        Linear { terms: Vec::new(), constant }
    }

    pub fn input(i: usize) -> Linear {
        Linear { terms: vec![(i, 1)], constant: 0 }
    }

    /// `self + factor * other`.
    pub fn plus(&self, factor: i128, other: &Linear) -> Option<Linear> {
        let mut sum: std::collections::BTreeMap<usize, i128> = self.terms.iter().copied().collect();
        for (i, c) in &other.terms {
            let at = sum.entry(*i).or_default();
            *at = at.checked_add(c.checked_mul(factor)?)?;
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(Linear { terms: sum.into_iter().filter(|(_, c)| *c != 0).collect(), constant })
    }

    /// The smallest and largest value on a box that is not empty.
    pub fn range(&self, ranges: &[Range]) -> Option<Range> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (i, c) in &self.terms {
            let (a, b) = *ranges.get(*i)?;
            let (a, b) = if *c > 0 { (a, b) } else { (b, a) };
            low = low.checked_add(a.checked_mul(*c)?)?;
            high = high.checked_add(b.checked_mul(*c)?)?;
        }
        Some((low, high))
    }
}

impl Formula {
    pub fn not(&self) -> Option<Formula> {
        Some(match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::AtMost(l) => Formula::AtMost(Linear::constant(1).plus(-1, l)?),
            Formula::Term(t, value) => Formula::Term(*t, !value),
            Formula::And(parts) => Formula::Or(parts.iter().map(Formula::not).collect::<Option<_>>()?),
            Formula::Or(parts) => Formula::And(parts.iter().map(Formula::not).collect::<Option<_>>()?),
        })
    }

    /// Whether some of it is evaluated.
    pub fn has_terms(&self) -> bool {
        match self {
            Formula::Term(..) => true,
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(Formula::has_terms),
            Formula::True | Formula::False | Formula::AtMost(_) => false,
        }
    }

    /// Adds the inputs of the linear parts.
    pub fn inputs(&self, found: &mut BTreeSet<usize>) {
        match self {
            Formula::AtMost(l) => found.extend(l.terms.iter().map(|(i, _)| *i)),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|p| p.inputs(found)),
            Formula::True | Formula::False | Formula::Term(..) => {}
        }
    }

    fn parts(&self) -> usize {
        match self {
            Formula::And(parts) | Formula::Or(parts) => 1 + parts.iter().map(Formula::parts).sum::<usize>(),
            _ => 1,
        }
    }
}

/// A value as an integer, by cases of which exactly one applies.
pub(crate) type Cases = Vec<(Formula, Linear)>;

/// What is known of the terms of one pool over one domain.
#[derive(Default)]
pub(crate) struct Known {
    values: FxHashMap<TermId, Option<Cases>>,
    conditions: FxHashMap<TermId, Formula>,
    /// None where quotients are not taken.
    pub quotients: Option<Quotients>,
}

pub(crate) struct Builder<'a> {
    pub pool: &'a TermPool,
    pub domain: &'a Domain,
    pub ranges: Vec<Range>,
    known: &'a mut Known,
}

impl Known {
    /// Quotients are taken, too.
    pub fn with_quotients() -> Known {
        Known { quotients: Some(Quotients::default()), ..Known::default() }
    }
}

impl<'a> Builder<'a> {
    pub fn new(pool: &'a TermPool, domain: &'a Domain, known: &'a mut Known) -> Builder<'a> {
        let own = domain.inputs.iter().map(|i| i.range);
        let ranges = own.chain(known.quotients.iter().flat_map(|q| q.ranges.iter().copied())).collect();
        Builder { pool, domain, ranges, known }
    }

    pub fn has_quotients(&self) -> bool {
        self.known.quotients.is_some()
    }

    pub fn quotients(&mut self) -> Option<&mut Quotients> {
        self.known.quotients.as_mut()
    }

    pub fn condition(&mut self, t: TermId) -> Formula {
        self.formula(t, 0)
    }

    fn formula(&mut self, t: TermId, depth: usize) -> Formula {
        if let Some(known) = self.known.conditions.get(&t) {
            return known.clone();
        }
        let opaque = Formula::Term(t, true);
        let found = if depth > MAX_DEPTH { None } else { self.logical(t, depth) };
        let found = found.or_else(|| monotone::condition(self.pool, self.domain, t));
        let found = found.filter(|f| f.parts() <= MAX_PARTS).unwrap_or(opaque);
        self.known.conditions.insert(t, found.clone());
        found
    }

    fn logical(&mut self, t: TermId, depth: usize) -> Option<Formula> {
        if let Some(c) = self.pool.as_const(t) {
            return c.as_bool().map(|b| if b { Formula::True } else { Formula::False });
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        match (op, args.as_slice()) {
            (Op::Not, &[a]) => self.formula(a, depth + 1).not(),
            (Op::And, _) => Some(Formula::And(args.iter().map(|a| self.formula(*a, depth + 1)).collect())),
            (Op::Or, _) => Some(Formula::Or(args.iter().map(|a| self.formula(*a, depth + 1)).collect())),
            (Op::Ite, &[c, a, b]) => {
                let [c, a, b] = [c, a, b].map(|x| self.formula(x, depth + 1));
                let other = Formula::And(vec![c.not()?, b]);
                Some(Formula::Or(vec![Formula::And(vec![c, a]), other]))
            }
            (Op::Eq, &[a, b]) if self.pool.sort(a) == Sort::Bool => {
                let [a, b] = [a, b].map(|x| self.formula(x, depth + 1));
                let neither = Formula::And(vec![a.not()?, b.not()?]);
                Some(Formula::Or(vec![Formula::And(vec![a, b]), neither]))
            }
            (Op::Eq, &[a, b]) => {
                let (a, b) = (self.value(a, depth + 1)?, self.value(b, depth + 1)?);
                compared(&a, &b, &|a, b| {
                    let both = vec![Formula::AtMost(a.plus(-1, b)?), Formula::AtMost(b.plus(-1, a)?)];
                    Some(Formula::And(both))
                })
            }
            (Op::Slt | Op::Sle | Op::Ult | Op::Ule, &[a, b]) => {
                let width = self.pool.sort(a).bits()?;
                let (mut x, mut y) = (self.value(a, depth + 1)?, self.value(b, depth + 1)?);
                if matches!(op, Op::Ult | Op::Ule) {
                    (x, y) = (self.unsigned(x, width)?, self.unsigned(y, width)?);
                }
                let strict = i128::from(matches!(op, Op::Slt | Op::Ult));
                compared(&x, &y, &|a, b| {
                    Some(Formula::AtMost(a.plus(-1, b)?.plus(strict, &Linear::constant(1))?))
                })
            }
            _ => None,
        }
    }

    /// A bit-vector as a signed integer.
    fn value(&mut self, t: TermId, depth: usize) -> Option<Cases> {
        if let Some(known) = self.known.values.get(&t) {
            return known.clone();
        }
        let found = if depth > MAX_DEPTH { None } else { self.integer(t, depth) };
        let found = found.filter(|cases| cases.len() <= MAX_CASES);
        let parts = |cases: &Cases| cases.iter().map(|(f, _)| f.parts()).sum::<usize>();
        let found = found.filter(|cases| parts(cases) <= MAX_PARTS);
        self.known.values.insert(t, found.clone());
        found
    }

    fn integer(&mut self, t: TermId, depth: usize) -> Option<Cases> {
        let Sort::Bv(width) = self.pool.sort(t) else { return None };
        if width > MAX_WIDTH {
            return None;
        }
        if let Some(c) = self.pool.as_const(t) {
            return Some(vec![(Formula::True, Linear::constant(c.signed()?))]);
        }
        if let Some(i) = self.domain.position(t) {
            return self.signed(vec![(Formula::True, Linear::input(i))], width);
        }
        let Term::App(App::Op(op), args) = self.pool.get(t) else { return None };
        let (op, args) = (*op, args.clone());
        let cases = match (op, args.as_slice()) {
            (Op::Ite, &[c, a, b]) => {
                let c = self.formula(c, depth + 1);
                let (a, b) = (self.value(a, depth + 1)?, self.value(b, depth + 1)?);
                let guarded = |c: &Formula, cases: Cases| {
                    cases.into_iter().map(|(g, l)| (conjunction(c, &g), l)).collect::<Cases>()
                };
                let mut all = guarded(&c, a);
                all.extend(guarded(&c.not()?, b));
                all
            }
            (Op::Add | Op::Sub, &[a, b]) => {
                let (a, b) = (self.value(a, depth + 1)?, self.value(b, depth + 1)?);
                let factor = if op == Op::Add { 1 } else { -1 };
                paired(&a, &b, &|a, b| a.plus(factor, b))?
            }
            (Op::Neg, &[a]) => scaled(&self.value(a, depth + 1)?, -1)?,
            (Op::Mul, &[a, b]) => {
                let (a, b) = (self.value(a, depth + 1)?, self.value(b, depth + 1)?);
                paired(&a, &b, &|a, b| match (a.terms.is_empty(), b.terms.is_empty()) {
                    (true, _) => Linear::constant(0).plus(a.constant, b),
                    (_, true) => Linear::constant(0).plus(b.constant, a),
                    _ => None,
                })?
            }
            (Op::Shl, &[a, b]) => {
                let by = self.pool.as_const(b)?.unsigned().filter(|k| *k < u128::from(width).min(62))?;
                scaled(&self.value(a, depth + 1)?, 1 << by)?
            }
            (Op::Sext(_) | Op::Trunc(_), &[a]) => self.value(a, depth + 1)?,
            (Op::Zext(_), &[a]) => {
                let inner = self.pool.sort(a).bits()?;
                let value = self.value(a, depth + 1)?;
                self.unsigned(value, inner)?
            }
            (Op::BitNot, &[a]) => {
                let all = vec![(Formula::True, Linear::constant(-1))];
                paired(&all, &self.value(a, depth + 1)?, &|a, b| a.plus(-1, b))?
            }
            (_, &[a, b]) => self.with_constant(op, width, a, b, depth)?,
            _ => return None,
        };
        if self.has_quotients() {
            return self.wrapped(cases, width);
        }
        let fits = |(_, l): &(Formula, Linear)| {
            let (low, high) = l.range(&self.ranges)?;
            (low >= -(1 << (width - 1)) && high < 1 << (width - 1)).then_some(())
        };
        cases.iter().try_for_each(fits)?;
        Some(cases)
    }

    /// What is linear with quotients alone: an operator with a constant.
    fn with_constant(&mut self, op: Op, width: u16, a: TermId, b: TermId, depth: usize) -> Option<Cases> {
        let (a, by) = match (op, self.pool.as_const(a)) {
            (Op::BitAnd | Op::BitOr | Op::BitXor, Some(c)) => (b, c),
            _ => (a, self.pool.as_const(b)?),
        };
        let (signed, count) = (by.signed()?, by.unsigned()?);
        if !self.has_quotients() {
            return None;
        }
        let value = self.value(a, depth + 1)?;
        let shift = u32::try_from(count).ok().filter(|k| *k < u32::from(width));
        match op {
            Op::AShr => self.shifted(value, shift?),
            Op::LShr => {
                let value = self.unsigned(value, width)?;
                self.shifted(value, shift?)
            }
            // By -1, it may be undefined.
            Op::SDiv if signed < -1 => scaled(&self.divided(value, signed.checked_neg()?, false)?, -1),
            Op::SRem if signed < -1 => self.divided(value, signed.checked_neg()?, true),
            Op::SDiv | Op::SRem if signed > 0 => self.divided(value, signed, op == Op::SRem),
            Op::UDiv | Op::URem if count > 0 => {
                let value = self.unsigned(value, width)?;
                self.divided(value, i128::try_from(count).ok()?, op == Op::URem)
            }
            Op::BitAnd => self.masked(value, signed),
            Op::BitXor => self.flipped(value, signed),
            Op::BitOr => {
                let others = self.masked(value, !signed)?;
                let bits = vec![(Formula::True, Linear::constant(signed))];
                paired(&others, &bits, &|a, b| a.plus(1, b))
            }
            _ => None,
        }
    }

    /// Cases with the values that are negative as signed numbers moved up.
    fn unsigned(&self, cases: Cases, width: u16) -> Option<Cases> {
        self.moved(cases, 0, 1 << width)
    }

    /// Cases with the values that are too large for signed numbers moved down.
    fn signed(&self, cases: Cases, width: u16) -> Option<Cases> {
        let limit = 1i128 << (width - 1);
        let turned = scaled(&cases, -1)?;
        // Turned around, what is too large is below the smallest that fits.
        scaled(&self.moved(turned, 1 - limit, 1 << width)?, -1)
    }

    /// Adds `by` to what is below a limit.
    fn moved(&self, cases: Cases, limit: i128, by: i128) -> Option<Cases> {
        let mut all = Vec::new();
        for (guard, l) in cases {
            let (low, high) = l.range(&self.ranges)?;
            // l < limit
            let below = Formula::AtMost(l.plus(1, &Linear::constant(1 - limit))?);
            if low < limit {
                let guard = if high < limit { guard.clone() } else { conjunction(&guard, &below) };
                all.push((guard, l.plus(1, &Linear::constant(by))?));
            }
            if high >= limit {
                let guard = if low >= limit { guard } else { conjunction(&guard, &below.not()?) };
                all.push((guard, l));
            }
        }
        Some(all)
    }
}

pub(crate) fn conjunction(a: &Formula, b: &Formula) -> Formula {
    match (a, b) {
        (Formula::True, other) | (other, Formula::True) => other.clone(),
        _ => Formula::And(vec![a.clone(), b.clone()]),
    }
}

fn scaled(cases: &Cases, by: i128) -> Option<Cases> {
    cases.iter().map(|(g, l)| Some((g.clone(), Linear::constant(0).plus(by, l)?))).collect()
}

fn paired(a: &Cases, b: &Cases, f: &dyn Fn(&Linear, &Linear) -> Option<Linear>) -> Option<Cases> {
    if a.len() * b.len() > MAX_CASES {
        return None;
    }
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    pairs.map(|((g, l), (h, m))| Some((conjunction(g, h), f(l, m)?))).collect()
}

fn compared(a: &Cases, b: &Cases, f: &dyn Fn(&Linear, &Linear) -> Option<Formula>) -> Option<Formula> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    let parts: Option<Vec<Formula>> =
        pairs.map(|((g, l), (h, m))| Some(conjunction(&conjunction(g, h), &f(l, m)?))).collect();
    let mut parts = parts?;
    if parts.len() == 1 { parts.pop() } else { Some(Formula::Or(parts)) }
}
