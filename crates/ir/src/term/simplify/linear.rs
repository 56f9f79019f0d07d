//! Sums of bit-vectors as linear forms modulo 2^w.

use super::super::{App, Const, Op, TermId, TermPool};
use super::{pair, width};
use std::collections::BTreeMap;

/// A sum with more summands than this is an atom: normalising it would cost time quadratic in the
/// length of the code that made it.
const SUMMANDS: usize = 64;

/// `constant + sum of coefficient * term`, modulo 2^`width`; coefficients are not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub width: u16,
    pub terms: BTreeMap<TermId, u128>,
    pub constant: u128,
}

impl Linear {
    /// Returns the linear form of a bit-vector term.
    pub fn of(pool: &TermPool, t: TermId) -> Linear {
        let width = width(pool, t);
        let mut sum = Linear { width, terms: BTreeMap::new(), constant: 0 };
        let mut stack = vec![t];
        while let Some(s) = stack.pop() {
            if let Some((a, b)) = pair(pool, s, Op::Add) {
                stack.extend([a, b]);
            } else if let Some(k) = pool.as_const(s) {
                sum.constant = sum.constant.wrapping_add(k.to_bits());
            } else if let Some((a, b)) = pair(pool, s, Op::Mul)
                && let Some(k) = pool.as_const(b)
            {
                sum.add_term(a, k.to_bits());
            } else {
                sum.add_term(s, 1);
            }
            if sum.terms.len() > SUMMANDS {
                return Linear { width, terms: BTreeMap::from([(t, 1)]), constant: 0 };
            }
        }
        sum.constant &= Const::mask(width);
        sum
    }

    fn add_term(&mut self, t: TermId, coefficient: u128) {
        let c = self.terms.entry(t).or_insert(0);
        *c = c.wrapping_add(coefficient) & Const::mask(self.width);
        if *c == 0 {
            self.terms.remove(&t);
        }
    }

    /// Returns `self + factor * other`.
    pub fn plus(mut self, other: &Linear, factor: u128) -> Linear {
        for (&t, &c) in &other.terms {
            self.add_term(t, c.wrapping_mul(factor));
        }
        self.constant =
            self.constant.wrapping_add(other.constant.wrapping_mul(factor)) & Const::mask(self.width);
        self
    }

    pub fn scaled(&self, factor: u128) -> Linear {
        let zero = Linear { width: self.width, terms: BTreeMap::new(), constant: 0 };
        zero.plus(self, factor)
    }

    /// Returns whether the first coefficient is negative when read as signed.
    pub fn leads_negative(&self) -> bool {
        let first = self.terms.values().next().copied().unwrap_or(self.constant);
        first > 1 << (self.width - 1)
    }

    /// Makes the normal form of the sum.
    pub fn build(&self, pool: &mut TermPool) -> TermId {
        if let Some(t) = self.chosen_constant(pool) {
            return t;
        }
        let mut sum = None;
        for (&t, &c) in &self.terms {
            let summand = if c == 1 {
                t
            } else {
                let k = pool.constant(Const::Bv { width: self.width, bits: c });
                pool.raw(App::Op(Op::Mul), vec![t, k])
            };
            sum = Some(match sum {
                None => summand,
                Some(s) => pool.raw(App::Op(Op::Add), vec![s, summand]),
            });
        }
        let k = pool.constant(Const::Bv { width: self.width, bits: self.constant });
        match sum {
            None => k,
            Some(s) if self.constant == 0 => s,
            Some(s) => pool.raw(App::Op(Op::Add), vec![s, k]),
        }
    }

    /// `2 * (c ? 1 : 0) + 3` is `c ? 5 : 3`.
    fn chosen_constant(&self, pool: &mut TermPool) -> Option<TermId> {
        let (&t, &factor) = self.terms.iter().next().filter(|_| self.terms.len() == 1)?;
        let &[c, x, y] = pool.as_op(t, Op::Ite)? else { return None };
        let (x, y) = (pool.as_const(x)?, pool.as_const(y)?);
        if factor == 1 && self.constant == 0 {
            return Some(t);
        }
        let value = |k: Const| {
            let bits = k.to_bits().wrapping_mul(factor).wrapping_add(self.constant);
            Const::Bv { width: self.width, bits: bits & Const::mask(self.width) }
        };
        let (x, y) = (pool.constant(value(x)), pool.constant(value(y)));
        Some(pool.ite(c, x, y))
    }
}

/// Normalises `Add`, `Sub`, `Mul` and `Shl`.
pub(super) fn binary(pool: &mut TermPool, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let w = width(pool, a);
    let constant = |t| pool.as_const(t).map(Const::to_bits);
    match op {
        Op::Add => Some(Linear::of(pool, a).plus(&Linear::of(pool, b), 1).build(pool)),
        Op::Sub => Some(Linear::of(pool, a).plus(&Linear::of(pool, b), u128::MAX).build(pool)),
        Op::Shl => {
            let k = constant(b).filter(|&k| k < w as u128)?;
            Some(Linear::of(pool, a).scaled(1 << k).build(pool))
        }
        _ => match (constant(a), constant(b)) {
            (_, Some(k)) => Some(Linear::of(pool, a).scaled(k).build(pool)),
            (Some(k), _) => Some(Linear::of(pool, b).scaled(k).build(pool)),
            _ => Some(product(pool, w, a, b)),
        },
    }
}

pub(super) fn neg(pool: &mut TermPool, a: TermId) -> Option<TermId> {
    Some(Linear::of(pool, a).scaled(u128::MAX).build(pool))
}

/// Makes a product of non-constants: coefficients and signs in front, factors sorted.
fn product(pool: &mut TermPool, width: u16, a: TermId, b: TermId) -> TermId {
    let mut coefficient = 1u128;
    let mut factors = Vec::new();
    let mut stack = vec![a, b];
    while let Some(t) = stack.pop() {
        if let Some((x, y)) = pair(pool, t, Op::Mul) {
            stack.extend([x, y]);
        } else if let Some(k) = pool.as_const(t) {
            coefficient = coefficient.wrapping_mul(k.to_bits());
        } else {
            let sum = Linear::of(pool, t);
            if sum.leads_negative() {
                coefficient = coefficient.wrapping_neg();
                factors.push(sum.scaled(u128::MAX).build(pool));
            } else {
                factors.push(t);
            }
        }
    }
    factors.sort_unstable();
    let mut factors = factors.into_iter();
    let Some(mut t) = factors.next() else {
        return pool.constant(Const::Bv { width, bits: coefficient & Const::mask(width) });
    };
    for f in factors {
        t = pool.raw(App::Op(Op::Mul), vec![t, f]);
    }
    let one = Linear { width, terms: BTreeMap::from([(t, 1)]), constant: 0 };
    one.scaled(coefficient).build(pool)
}
