//! Conditions as sets of values of sums: `2 * x - y + 3 < 7` is a set of values of `2 * x - y`.
//!
//! A sum has *operands*, variables and other expressions that are taken as they are, with factors. It is read in two
//! ways. *Modulo* a power of two it always is what the program computes, since integers wrap; equalities,
//! and comparisons with constants, are sets of its residues. As an *integer* it orders whatever is compared, but only
//! as far as the widths of the operands exclude that anything wraps: `a + 1 <= b` says `a < b` of two
//! `unsigned char`, not of two `int`. Floats are not added; of two the order is a set of three.

use super::known::Known;
use super::part::ObjectId;
use super::values::{FAR, Kind, Values, key};
use crate::ir::{Const, Expr, Op};
use std::collections::BTreeMap;

/// What is added.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operand {
    /// Interned text.
    id: u32,
    width: u16,
    /// How its bits are read, if it is one of a sum of integers.
    signed: bool,
    /// The variable that it is.
    variable: Option<ObjectId>,
    reads: Vec<ObjectId>,
}

/// One way to read a condition.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// With factors other than 0, in the order of the operands.
    terms: Vec<(Operand, i128)>,
    pub values: Values,
}

/// What is to be known of expressions.
pub(super) struct Reader<'r> {
    /// Interns the text of one.
    pub id: &'r mut dyn FnMut(&Expr) -> u32,
    pub reads: &'r dyn Fn(&Expr) -> Vec<ObjectId>,
    /// Its bits, if it is a bit-vector.
    pub width: &'r dyn Fn(&Expr) -> Option<u16>,
}

/// A sum that is made.
#[derive(Clone, Debug, Default)]
struct Sum {
    terms: BTreeMap<Operand, i128>,
    constant: i128,
    /// What it may be, where it is a sum of integers.
    range: (i128, i128),
}

impl Sum {
    fn number(value: i128) -> Sum {
        Sum { constant: value, range: (value, value), ..Sum::default() }
    }

    /// `self * by`; `None`: numbers become too large.
    fn times(mut self, by: i128) -> Option<Sum> {
        for factor in self.terms.values_mut() {
            *factor = small(factor.checked_mul(by)?)?;
        }
        self.constant = small(self.constant.checked_mul(by)?)?;
        let ends = [self.range.0.checked_mul(by)?, self.range.1.checked_mul(by)?];
        self.range = (small(ends[0].min(ends[1]))?, small(ends[0].max(ends[1]))?);
        Some(self)
    }

    fn plus(mut self, other: Sum) -> Option<Sum> {
        for (operand, factor) in other.terms {
            let own = self.terms.entry(operand).or_default();
            *own = small(*own + factor)?;
        }
        self.constant = small(self.constant + other.constant)?;
        self.range = (small(self.range.0 + other.range.0)?, small(self.range.1 + other.range.1)?);
        Some(self)
    }

    fn minus(self, other: Sum) -> Option<Sum> {
        self.plus(other.times(-1)?)
    }

    /// Where the sum without its constant has its values if the whole has these.
    fn reading(self, values: Values) -> Option<Reading> {
        let values = values.plus(-self.constant)?;
        Reading { terms: self.terms.into_iter().collect(), values }.normal()
    }
}

fn small(v: i128) -> Option<i128> {
    (v.abs() < FAR).then_some(v)
}

/// The values of a number that a type of so many bits has.
fn range(width: u16, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, (1 << width) - 1),
    }
}

fn read(c: Const, signed: bool) -> Option<i128> {
    if signed { c.signed() } else { i128::try_from(c.unsigned()?).ok() }
}

impl Reading {
    /// The same of one sum, however it is written: the first factor is positive, and factors of integers have no
    /// common divisor.
    fn normal(mut self) -> Option<Reading> {
        if let Kind::Bits(w) = self.values.kind {
            self.terms.iter_mut().for_each(|(_, factor)| *factor = factor.rem_euclid(1 << w));
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        let first = self.terms.first()?.1;
        let turns = match self.values.kind {
            Kind::Bits(w) => first > 1 << (w - 1),
            _ => first < 0,
        };
        if turns {
            let turned = |factor: i128| match self.values.kind {
                Kind::Bits(w) => (-factor).rem_euclid(1 << w),
                _ => -factor,
            };
            self.terms.iter_mut().for_each(|(_, factor)| *factor = turned(*factor));
            self.values = self.values.negated();
        }
        if self.values.kind == Kind::Integer {
            let divisor = self.terms.iter().fold(0, |d, (_, factor)| greatest_divisor(d, factor.abs()));
            self.terms.iter_mut().for_each(|(_, factor)| *factor /= divisor);
            self.values = self.values.divided(divisor);
        }
        Some(self)
    }

    /// The same where some variables have known values; `None` where nothing else is left.
    pub fn given(&self, known: &Known) -> Option<Reading> {
        let mut shift = 0i128;
        let mut terms = Vec::new();
        for (operand, factor) in &self.terms {
            let value = operand
                .variable
                .and_then(|v| known.get(v))
                .filter(|c| c.sort().bits() == Some(operand.width));
            match value.and_then(|c| read(c, operand.signed)) {
                Some(value) => shift = small(shift + small(value.checked_mul(*factor)?)?)?,
                None => terms.push((operand.clone(), *factor)),
            }
        }
        if terms.len() == self.terms.len() {
            return Some(self.clone());
        }
        Reading { terms, values: self.values.plus(-shift)? }.normal()
    }

    /// The same of what stands for it in the other reading: variables that equal others are replaced by those of
    /// them that the other one speaks of. `None` where none is.
    pub fn in_words_of(&self, other: &Reading, known: &Known) -> Option<Reading> {
        let spoken = |o: ObjectId, like: &Operand| {
            let same =
                |t: &&Operand| t.variable == Some(o) && (t.width, t.signed) == (like.width, like.signed);
            other.terms.iter().map(|(t, _)| t).find(same).cloned()
        };
        let replaced = |operand: &Operand| {
            let variable = operand.variable.filter(|v| spoken(*v, operand).is_none())?;
            known.equals(variable).find_map(|o| spoken(o, operand))
        };
        let mut terms: BTreeMap<Operand, i128> = BTreeMap::new();
        let mut any = false;
        for (operand, factor) in &self.terms {
            let by = replaced(operand);
            any |= by.is_some();
            let own = terms.entry(by.unwrap_or_else(|| operand.clone())).or_default();
            *own = small(*own + factor)?;
        }
        // Floats are not added.
        let is_order = matches!(self.values.kind, Kind::Float | Kind::Order);
        if !any || is_order && terms.len() < self.terms.len() {
            return None;
        }
        Reading { terms: terms.into_iter().collect(), values: self.values.clone() }.normal()
    }

    /// Whether two readings are of the same sum.
    pub fn is_of_same(&self, other: &Reading) -> bool {
        self.values.kind == other.values.kind && self.terms == other.terms
    }

    /// What its value depends on.
    pub fn reads(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.terms.iter().flat_map(|(operand, _)| operand.reads.iter().copied())
    }
}

fn greatest_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

impl Reader<'_> {
    /// Every way to read a condition that is no negation.
    pub fn readings(&mut self, cond: &Expr) -> Vec<Reading> {
        let Expr::Op { op, args, .. } = cond else { return Vec::new() };
        let [a, b] = args.as_slice() else { return Vec::new() };
        if matches!((a, b), (Expr::Const(_), Expr::Const(_))) {
            return Vec::new();
        }
        if matches!(op, Op::FLt | Op::FLe | Op::FEq) {
            return self.floats(*op, a, b).into_iter().collect();
        }
        let width = |e: &Expr| (self.width)(e);
        let Some(width) = width(a).filter(|w| (1..=64).contains(w) && width(b) == Some(*w)) else {
            return Vec::new();
        };
        let signs: &[bool] = match op {
            Op::Slt | Op::Sle => &[true],
            Op::Ult | Op::Ule => &[false],
            Op::Eq => &[true, false],
            _ => return Vec::new(),
        };
        let mut found: Vec<Reading> = self.bits(*op, a, b, width).into_iter().collect();
        found.extend(signs.iter().filter_map(|signed| {
            let sum = self.integer(a, width, *signed)?.minus(self.integer(b, width, *signed)?)?;
            let (low, high) = match op {
                Op::Eq => (0, 0),
                Op::Slt | Op::Ult => (-FAR, -1),
                _ => (-FAR, 0),
            };
            sum.reading(Values::of(Kind::Integer, low, high))
        }));
        found
    }

    /// As residues: an equality, or a comparison with a constant.
    fn bits(&mut self, op: Op, a: &Expr, b: &Expr, width: u16) -> Option<Reading> {
        if op == Op::Eq {
            let sum = self.modulo(a, width).plus(self.modulo(b, width).times(-1)?)?;
            return sum.reading(Values::of(Kind::Bits(width), 0, 0));
        }
        let signed = matches!(op, Op::Slt | Op::Sle);
        let strict = i128::from(matches!(op, Op::Slt | Op::Ult));
        let (low, high) = range(width, signed);
        let (e, low, high) = match (a, b) {
            (e, Expr::Const(c)) => (e, low, read(*c, signed)? - strict),
            (Expr::Const(c), e) => (e, read(*c, signed)? + strict, high),
            _ => return None,
        };
        let values = match signed {
            true => Values::signed(width, low, high),
            false => Values::of(Kind::Bits(width), low, high),
        };
        self.modulo(e, width).reading(values)
    }

    fn floats(&mut self, op: Op, a: &Expr, b: &Expr) -> Option<Reading> {
        let strict = i128::from(op == Op::FLt);
        let number = |c: &Const| matches!(c, Const::F32(_) | Const::F64(_)).then(|| c.float()).flatten();
        let float = |e: &Expr, low: i128, high: i128, reader: &mut Self| Reading {
            terms: vec![(reader.operand(e, 0, false), 1)],
            values: Values::of(Kind::Float, low, high),
        };
        let (least, most) = (key(f64::NEG_INFINITY), key(f64::INFINITY));
        match (a, b) {
            (Expr::Const(c), e) | (e, Expr::Const(c)) => {
                let at = key(number(c).filter(|v| !v.is_nan())?);
                Some(match (op, a) {
                    (Op::FEq, _) => float(e, at, at, self),
                    (_, Expr::Const(_)) => float(e, at + strict, most, self),
                    _ => float(e, least, at - strict, self),
                })
            }
            _ => {
                let values = match op {
                    Op::FEq => Values::of(Kind::Order, 0, 0),
                    _ => Values::of(Kind::Order, -1, -strict),
                };
                let (a, b) = (self.operand(a, 0, false), self.operand(b, 0, false));
                match a.cmp(&b) {
                    std::cmp::Ordering::Less => Some(Reading { terms: vec![(a, 1), (b, -1)], values }),
                    std::cmp::Ordering::Greater => {
                        Some(Reading { terms: vec![(b, 1), (a, -1)], values: values.negated() })
                    }
                    // Whether it is NaN.
                    std::cmp::Ordering::Equal => None,
                }
            }
        }
    }

    fn operand(&mut self, e: &Expr, width: u16, signed: bool) -> Operand {
        let reads = (self.reads)(e);
        let variable = reads.first().copied().filter(|_| matches!(e, Expr::Var(_)));
        Operand { id: (self.id)(e), width, signed, variable, reads }
    }

    /// An expression as a sum modulo a power of two.
    fn modulo(&mut self, e: &Expr, width: u16) -> Sum {
        let sum = match e {
            Expr::Const(c) => read(*c, false).map(Sum::number),
            Expr::Op { op, args, .. } => match (op, args.as_slice()) {
                (Op::Add, [a, b]) => self.modulo(a, width).plus(self.modulo(b, width)),
                (Op::Sub, [a, b]) => self.modulo(a, width).minus(self.modulo(b, width)),
                (Op::Neg, [a]) => self.modulo(a, width).times(-1),
                (Op::Mul, [a, Expr::Const(c)] | [Expr::Const(c), a]) => {
                    read(*c, true).and_then(|by| self.modulo(a, width).times(by))
                }
                _ => None,
            },
            _ => None,
        };
        let wrapped = |mut sum: Sum| {
            sum.terms.values_mut().for_each(|factor| *factor = factor.rem_euclid(1 << width));
            sum.constant = sum.constant.rem_euclid(1 << width);
            sum.range = (0, 0);
            sum
        };
        let alone = || Sum { terms: [(self.operand(e, width, false), 1)].into(), ..Sum::default() };
        sum.map(wrapped).unwrap_or_else(alone)
    }

    /// An expression of a width as a sum of integers that has its value; `None`: numbers become too large.
    fn integer(&mut self, e: &Expr, width: u16, signed: bool) -> Option<Sum> {
        let limits = range(width, signed);
        let sum = match e {
            Expr::Const(c) => read(*c, signed).map(Sum::number),
            Expr::Op { op, args, .. } => match (op, args.as_slice()) {
                (Op::Add, [a, b]) => {
                    let (a, b) = (self.integer(a, width, signed)?, self.integer(b, width, signed)?);
                    a.plus(b)
                }
                (Op::Sub, [a, b]) => {
                    let (a, b) = (self.integer(a, width, signed)?, self.integer(b, width, signed)?);
                    a.minus(b)
                }
                (Op::Neg, [a]) => self.integer(a, width, signed)?.times(-1),
                (Op::Mul, [a, Expr::Const(c)] | [Expr::Const(c), a]) => {
                    let by = read(*c, signed)?;
                    self.integer(a, width, signed)?.times(by)
                }
                (Op::Zext(_), [a]) => self.narrow(a, width, false),
                // A negative number is another one if it is read as unsigned: that is found out by the range.
                (Op::Sext(_), [a]) => self.narrow(a, width, true),
                _ => None,
            },
            _ => None,
        };
        if let Some(sum) = sum.filter(|s| limits.0 <= s.range.0 && s.range.1 <= limits.1) {
            return Some(sum);
        }
        let low_bits = match e {
            Expr::Op { op: Op::BitAnd, args, .. } => args.iter().find_map(|a| match a {
                Expr::Const(c) => read(*c, true).filter(|c| *c >= 0),
                _ => None,
            }),
            _ => None,
        };
        let range = low_bits.map_or(limits, |most| (0, most));
        Some(Sum { terms: [(self.operand(e, width, signed), 1)].into(), constant: 0, range })
    }

    /// What a wider number of `width` bits is made of.
    fn narrow(&mut self, e: &Expr, width: u16, signed: bool) -> Option<Sum> {
        let narrower = (self.width)(e).filter(|w| (1..width).contains(w))?;
        self.integer(e, narrower, signed)
    }
}
