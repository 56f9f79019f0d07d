//! Candidates as conditions over the values that a path has.
//!
//! Numbers mean what they mean in a row ([`crate::infer::Shape::holds`]), which is what C means by the text: sums and
//! products are those of the operands' type, and false where signed ones overflow.

use super::Point;
use super::subject::{Looked, Source, Subject};
use crate::infer::{Kind, Operator, Relation, Shape, Word};
use crate::ir::{Leaf, Op, Sort, TermId, TermPool};
use crate::quantify::{Arrival, End, Path};
use std::sync::Arc;

/// Where on a path values are asked for.
#[derive(Clone, Copy)]
pub enum Here<'p> {
    /// Before its first step.
    Entry,
    /// Where it ended.
    End(&'p Path),
    /// At the head of a loop.
    Head(&'p Arrival),
}

/// The values of a point's variables on a path; `None` where the path does not say.
pub struct Values<'v> {
    looked: &'v [Looked],
    terms: Vec<Option<TermId>>,
}

impl<'v> Values<'v> {
    pub fn new(subject: &'v Subject, pool: &mut TermPool, point: Point, here: Here) -> Values<'v> {
        let looked = subject.variables(point);
        let terms = looked.iter().map(|l| value(subject, pool, l, here)).collect();
        Values { looked, terms }
    }

    /// A candidate as a condition; `None` where the value of a variable is not known.
    pub fn condition(&self, pool: &mut TermPool, shape: &Shape) -> Option<TermId> {
        Some(match *shape {
            Shape::OneOf { x, ref values } => {
                let mut any = pool.bool(false);
                for k in values {
                    let is = self.against(pool, x, Relation::Equal, *k)?;
                    any = pool.or(any, is);
                }
                any
            }
            Shape::Bound { x, relation, k } => self.against(pool, x, relation, k)?,
            Shape::Compare { x, relation, y } => {
                let width = self.width(x)?.max(self.width(y)?) + 1;
                let (a, b) = match self.looked.get(x)?.variable.kind == self.looked.get(y)?.variable.kind {
                    true => (self.number(pool, x)?, self.number(pool, y)?),
                    false => (self.wide(pool, x, width)?, self.wide(pool, y, width)?),
                };
                let is_signed = self.is_signed(x)
                    || self.looked.get(x)?.variable.kind != self.looked.get(y)?.variable.kind;
                compare(pool, relation, is_signed, a, b)
            }
            Shape::Modulus { x, m, r } => {
                let width = self.width(x)?.max(16) + 1;
                let (value, m, r) = (self.wide(pool, x, width)?, pool.bv(width, m), pool.bv(width, r));
                let rest = pool.op(Op::SRem, &[value, m]);
                pool.eq(rest, r)
            }
            Shape::Holds { .. } => return None,
            Shape::PowerOfTwo { x } => {
                let width = self.width(x)?;
                let (value, one, zero) = (self.number(pool, x)?, pool.bv(width, 1), pool.bv(width, 0));
                let less = pool.op(Op::Sub, &[value, one]);
                let common = pool.op(Op::BitAnd, &[value, less]);
                let (is_one, is_positive) =
                    (pool.eq(common, zero), self.against(pool, x, Relation::Greater, 0)?);
                pool.and(is_positive, is_one)
            }
            Shape::Divides { x, y } => self.function(pool, None, Operator::Remainder, (x, y))?,
            Shape::Line { y, a, x, b } => self.sum(pool, y, &[(a, x)], b)?,
            Shape::Plane { z, a, x, b, y, c } => self.sum(pool, z, &[(a, x), (b, y)], c)?,
            Shape::Function { z, operator, x, y } => self.function(pool, Some(z), operator, (x, y))?,
            Shape::Given { ref when, ref then } => {
                let (when, then) = (self.condition(pool, when)?, self.condition(pool, then)?);
                let not = pool.not(when);
                pool.or(not, then)
            }
        })
    }

    fn kind(&self, x: usize) -> Option<Kind> {
        self.looked.get(x).map(|l| l.variable.kind)
    }

    fn is_signed(&self, x: usize) -> bool {
        matches!(self.kind(x), Some(Kind::Integer { signed: true, .. }))
    }

    fn width(&self, x: usize) -> Option<u16> {
        match self.kind(x)? {
            Kind::Integer { bits, .. } => Some(bits),
            Kind::Truth | Kind::Pointer => Some(8),
            // Memory behind pointers is not followed.
            Kind::Condition | Kind::Least { .. } | Kind::Most { .. } => None,
        }
    }

    /// The value in its own width; of a pointer whether it leads somewhere.
    fn number(&self, pool: &mut TermPool, x: usize) -> Option<TermId> {
        let t = (*self.terms.get(x)?)?;
        let width = self.width(x)?;
        let truth = |pool: &mut TermPool, is: TermId| {
            let (one, zero) = (pool.bv(width, 1), pool.bv(width, 0));
            pool.op(Op::Ite, &[is, one, zero])
        };
        Some(match (pool.sort(t), self.kind(x)?) {
            (Sort::Bool, _) => truth(pool, t),
            (Sort::Bv(w), Kind::Pointer) => {
                let null = pool.bv(w, 0);
                let is_null = pool.eq(t, null);
                let is = pool.not(is_null);
                truth(pool, is)
            }
            (Sort::Bv(w), _) if w == width => t,
            _ => return None,
        })
    }

    /// The value in another width.
    fn wide(&self, pool: &mut TermPool, x: usize, width: u16) -> Option<TermId> {
        let t = self.number(pool, x)?;
        let own = self.width(x)?;
        Some(match own.cmp(&width) {
            std::cmp::Ordering::Equal => t,
            std::cmp::Ordering::Greater => pool.op(Op::Trunc(width), &[t]),
            std::cmp::Ordering::Less if self.is_signed(x) => pool.op(Op::Sext(width), &[t]),
            std::cmp::Ordering::Less => pool.op(Op::Zext(width), &[t]),
        })
    }

    fn against(&self, pool: &mut TermPool, x: usize, relation: Relation, k: i128) -> Option<TermId> {
        let t = self.number(pool, x)?;
        let k = pool.bv(self.width(x)?, k);
        Some(compare(pool, relation, self.is_signed(x), t, k))
    }

    /// The type that C computes in.
    fn word(&self, operands: &[usize], constants: &[i128]) -> Option<Word> {
        let kinds: Option<Vec<Kind>> = operands.iter().map(|x| self.kind(*x)).collect();
        Word::of(kinds?, constants)
    }

    /// `left == sum`, where no part of the sum overflows.
    fn sum(
        &self,
        pool: &mut TermPool,
        left: usize,
        parts: &[(i128, usize)],
        constant: i128,
    ) -> Option<TermId> {
        let operands: Vec<usize> = parts.iter().map(|(_, x)| *x).collect();
        let constants: Vec<i128> = parts.iter().map(|(a, _)| *a).chain([constant]).collect();
        let word = self.word(&operands, &constants)?;
        let width = Exact::width(word, MORE_BITS);
        let mut exact = Exact { word, width, is_defined: pool.bool(true) };
        let mut sum: Option<TermId> = None;
        for (factor, x) in parts {
            let value = self.wide(pool, *x, width)?;
            let size = if sum.is_none() { *factor } else { i128::try_from(factor.unsigned_abs()).ok()? };
            let size = pool.bv(width, size);
            let product = pool.op(Op::Mul, &[size, value]);
            let product = exact.result(pool, product);
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    let op = if *factor < 0 { Op::Sub } else { Op::Add };
                    let sum = pool.op(op, &[sum, product]);
                    exact.result(pool, sum)
                }
            });
        }
        let constant = pool.bv(width, constant);
        let sum = pool.op(Op::Add, &[sum?, constant]);
        let sum = exact.result(pool, sum);
        self.is(pool, left, exact, sum)
    }

    /// Whether a variable is a result that is defined.
    fn is(&self, pool: &mut TermPool, left: usize, exact: Exact, value: TermId) -> Option<TermId> {
        let width = exact.width.max(self.width(left)? + 1);
        let left = self.wide(pool, left, width)?;
        let value = match (width > exact.width, exact.word.signed) {
            (false, _) => value,
            (true, true) => pool.op(Op::Sext(width), &[value]),
            (true, false) => pool.op(Op::Zext(width), &[value]),
        };
        let is = pool.eq(left, value);
        Some(pool.and(exact.is_defined, is))
    }

    /// `z` is a function of two others; without a `z`, the function is 0.
    fn function(
        &self,
        pool: &mut TermPool,
        z: Option<usize>,
        operator: Operator,
        (x, y): (usize, usize),
    ) -> Option<TermId> {
        let word = operator.word(self.kind(x)?, self.kind(y)?)?;
        if operator.is_shift() && self.width(y)? > word.bits {
            return None;
        }
        let has_more = matches!(operator, Operator::Product | Operator::ShiftLeft);
        let width = Exact::width(word, if has_more { word.bits } else { 8 });
        let mut exact = Exact { word, width, is_defined: pool.bool(true) };
        let (a, b) = (self.wide(pool, x, width)?, self.wide(pool, y, width)?);
        let less = if word.signed { Op::Slt } else { Op::Ult };
        let value = match operator {
            Operator::Min | Operator::Max => {
                let is_less = pool.op(less, &[a, b]);
                let (yes, no) = if operator == Operator::Min { (a, b) } else { (b, a) };
                pool.op(Op::Ite, &[is_less, yes, no])
            }
            Operator::And => pool.op(Op::BitAnd, &[a, b]),
            Operator::Or => pool.op(Op::BitOr, &[a, b]),
            Operator::Xor => pool.op(Op::BitXor, &[a, b]),
            Operator::Product => {
                let product = pool.op(Op::Mul, &[a, b]);
                exact.result(pool, product)
            }
            Operator::Quotient | Operator::Remainder => {
                let zero = pool.bv(width, 0);
                let is_zero = pool.eq(b, zero);
                let not_zero = pool.not(is_zero);
                exact.is_defined = pool.and(exact.is_defined, not_zero);
                let (quotient, rest) = match word.signed {
                    true => (Op::SDiv, Op::SRem),
                    false => (Op::UDiv, Op::URem),
                };
                // Both are undefined where the quotient overflows.
                let value = pool.op(quotient, &[a, b]);
                let value = exact.result(pool, value);
                if operator == Operator::Quotient { value } else { pool.op(rest, &[a, b]) }
            }
            Operator::ShiftLeft | Operator::ShiftRight => {
                // A count that is negative is a large one without a sign.
                let bits = pool.bv(width, i128::from(word.bits));
                let is_inside = pool.op(Op::Ult, &[b, bits]);
                exact.is_defined = pool.and(exact.is_defined, is_inside);
                match (operator, word.signed) {
                    (Operator::ShiftRight, true) => pool.op(Op::AShr, &[a, b]),
                    (Operator::ShiftRight, false) => pool.op(Op::LShr, &[a, b]),
                    (_, is_signed) => {
                        let zero = pool.bv(width, 0);
                        let is_positive = pool.op(Op::Sle, &[zero, a]);
                        if is_signed {
                            exact.is_defined = pool.and(exact.is_defined, is_positive);
                        }
                        let value = pool.op(Op::Shl, &[a, b]);
                        exact.result(pool, value)
                    }
                }
            }
        };
        match z {
            Some(z) => self.is(pool, z, exact, value),
            None => {
                let zero = pool.bv(width, 0);
                let is = pool.eq(value, zero);
                Some(pool.and(exact.is_defined, is))
            }
        }
    }
}

/// Bits that a product with a constant, and sums of such, have more than their operands.
const MORE_BITS: u16 = 48;

/// Arithmetic of a type: of unsigned numbers in its own width, of signed ones in one in which nothing overflows, with
/// the condition that nothing leaves the type.
struct Exact {
    word: Word,
    width: u16,
    is_defined: TermId,
}

impl Exact {
    /// The width in which is computed. `more`: bits that a result has beyond the type's.
    fn width(word: Word, more: u16) -> u16 {
        if word.signed { word.bits + more } else { word.bits }
    }

    fn result(&mut self, pool: &mut TermPool, value: TermId) -> TermId {
        if self.word.signed {
            let half = 1i128 << (self.word.bits - 1);
            let (least, most) = (pool.bv(self.width, -half), pool.bv(self.width, half - 1));
            for (a, b) in [(least, value), (value, most)] {
                let is_inside = pool.op(Op::Sle, &[a, b]);
                self.is_defined = pool.and(self.is_defined, is_inside);
            }
        }
        value
    }
}

fn compare(pool: &mut TermPool, relation: Relation, is_signed: bool, a: TermId, b: TermId) -> TermId {
    let (less, at_most) = if is_signed { (Op::Slt, Op::Sle) } else { (Op::Ult, Op::Ule) };
    match relation {
        Relation::Equal => pool.eq(a, b),
        Relation::Different => {
            let equal = pool.eq(a, b);
            pool.not(equal)
        }
        Relation::Less => pool.op(less, &[a, b]),
        Relation::LessOrEqual => pool.op(at_most, &[a, b]),
        Relation::Greater => pool.op(less, &[b, a]),
        Relation::GreaterOrEqual => pool.op(at_most, &[b, a]),
    }
}

/// The value of a variable on a path.
fn value(subject: &Subject, pool: &mut TermPool, looked: &Looked, here: Here) -> Option<TermId> {
    match &looked.source {
        Source::Parameter(k) => {
            if let Some(given) = subject.given(*k) {
                return Some(pool.constant(given));
            }
            let var = subject.function.var(*subject.function.params.get(*k)?);
            Some(pool.leaf(Leaf::Param { name: var.name.clone(), sort: var.sort? }))
        }
        Source::Result => match here {
            Here::End(Path { end: End::Return(value), .. }) => *value,
            _ => None,
        },
        Source::Local(v) => match here {
            Here::Head(arrival) => arrival.vars.get(v.0 as usize).copied().flatten(),
            _ => None,
        },
        // Memory behind pointers is not followed.
        Source::Behind { .. } | Source::Array { .. } => None,
        Source::Part { symbol, offset, is_old } => {
            let written = match here {
                Here::End(path) if !is_old => path.written.get(symbol),
                _ => None,
            };
            // What nothing was written over is what it was.
            let is_hit = |cells: &&std::collections::BTreeMap<u64, (u64, TermId)>| {
                cells.range(..offset + looked.bytes).any(|(at, (bytes, _))| at + bytes > *offset)
            };
            match written.filter(is_hit) {
                None => initial(subject, pool, symbol, (*offset, looked.bytes)),
                Some(cells) => match cells.get(offset) {
                    Some((bytes, value)) if *bytes == looked.bytes => Some(*value),
                    _ => joined(pool, cells, (*offset, looked.bytes)),
                },
            }
        }
        Source::Global { symbol, is_old } => {
            let written = match here {
                _ if *is_old => None,
                Here::Entry => None,
                Here::End(path) => path.written.get(symbol),
                Here::Head(arrival) => arrival.written.get(symbol),
            };
            match written {
                None => at_entry(subject, pool, symbol, looked.bytes),
                Some(cells) => match cells.get(&0) {
                    Some((bytes, value)) if *bytes == looked.bytes => Some(*value),
                    _ => joined(pool, cells, (0, looked.bytes)),
                },
            }
        }
    }
}

/// What an object of the file holds at entry.
fn at_entry(subject: &Subject, pool: &mut TermPool, symbol: &Arc<str>, bytes: u64) -> Option<TermId> {
    if let Some(free) = subject.free_global(symbol) {
        return Some(free.term);
    }
    initial(subject, pool, symbol, (0, bytes))
}

/// What bytes of an object hold that begins as it is initialised, or as a harness left it.
fn initial(
    subject: &Subject,
    pool: &mut TermPool,
    symbol: &Arc<str>,
    (offset, bytes): (u64, u64),
) -> Option<TermId> {
    if !subject.is_initial {
        return None;
    }
    let content = match subject.contents.get(symbol) {
        Some(content) => {
            let from = usize::try_from(offset).ok()?;
            content.get(from..from.checked_add(usize::try_from(bytes).ok()?)?)?.to_vec()
        }
        None => subject.unit.global(symbol)?.constant_bytes(offset, bytes)?,
    };
    let bits = content.iter().rev().fold(0i128, |all, b| all << 8 | i128::from(*b));
    let width = u16::try_from(bytes * 8).ok().filter(|w| *w <= 64)?;
    Some(pool.bv(width, bits))
}

/// A value that was written byte by byte.
fn joined(
    pool: &mut TermPool,
    cells: &std::collections::BTreeMap<u64, (u64, TermId)>,
    (offset, bytes): (u64, u64),
) -> Option<TermId> {
    let mut word = None;
    for k in offset..offset.checked_add(bytes)? {
        let (_, byte) = cells.get(&k).filter(|(n, _)| *n == 1)?;
        word = Some(match word {
            None => *byte,
            Some(low) => pool.op(Op::Concat, &[*byte, low]),
        });
    }
    word
}
