//! Shapes of facts about all elements of an array that a loop has passed:
//! `\forall integer k; 0 <= k && k < i ==> a[k] <= m` (`docs/design/symbolic-evaluation.md`).
//!
//! The elements of a range of indices compare with a number, with a variable, with the same element of
//! another array, with the element before (`a[k - 1] <= a[k]`), or with the one at an index (`a[best] <=
//! a[k]`); perhaps only where the function returns a certain number. As a term such a fact speaks of the
//! one element whose index is unknown: the same unknown wherever the fact is supposed and where it is to
//! be shown, which is an instance of the quantifier and so is sound.

use crate::ir::{App, CType, Const, Leaf, Op, Separation, Sort, Term, TermId, TermPool};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Name of the quantity that is all of memory.
pub(in crate::invariant) const MEMORY: &str = "\\memory";
/// An element of an array: the `k`-th from its start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    pub(in crate::invariant) start: TermId,
    pub(in crate::invariant) bytes: u64,
    pub(in crate::invariant) sort: Sort,
    pub(in crate::invariant) signed: bool,
    /// `a[k]`.
    pub(in crate::invariant) text: String,
    /// The unsuffixed `char`, whose values are characters.
    pub(in crate::invariant) is_char: bool,
}

/// What an element is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    Constant(i128),
    Value(String),
    Element(Element),
    /// The element before it.
    Previous,
    /// The element of the same array at the index that a variable holds.
    At(String),
}

/// An end of a range of indices: the value of something, or zero, and a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub name: Option<String>,
    pub plus: i128,
}

impl Edge {
    pub fn constant(plus: i128) -> Edge {
        Edge { name: None, plus }
    }

    pub fn value(name: &str, plus: i128) -> Edge {
        Edge { name: Some(name.into()), plus }
    }

    fn text(&self) -> String {
        match (&self.name, self.plus) {
            (None, k) => k.to_string(),
            (Some(x), 0) => x.clone(),
            (Some(x), k) if k < 0 => format!("{x} - {}", -k),
            (Some(x), k) => format!("{x} + {k}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    Equal,
    Different,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

impl Comparison {
    pub(in crate::invariant) const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::AtMost,
        Comparison::AtLeast,
        Comparison::Less,
        Comparison::Greater,
        Comparison::Different,
    ];

    fn text(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Different => "!=",
            Comparison::AtMost => "<=",
            Comparison::AtLeast => ">=",
            Comparison::Less => "<",
            Comparison::Greater => ">",
        }
    }

    /// The same of the two the other way round.
    fn turned(self) -> Comparison {
        match self {
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::AtLeast => Comparison::AtMost,
            Comparison::Less => Comparison::Greater,
            Comparison::Greater => Comparison::Less,
            same => same,
        }
    }

    /// Whether this says more than another comparison of the same two.
    fn implies(self, other: Comparison) -> bool {
        use Comparison::*;
        matches!(
            (self, other),
            (Equal, AtMost | AtLeast) | (Less, AtMost | Different) | (Greater, AtLeast | Different)
        )
    }
}

/// That all elements of a range compare so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForAll {
    /// Only where the function returns this.
    pub given: Option<i128>,
    /// The variable at the end of the range that moves with the loop: the last one, or where the range
    /// grows downwards the first.
    pub bound: String,
    pub down: bool,
    /// The first index, and the one beyond the last.
    pub from: Edge,
    pub to: Edge,
    pub element: Element,
    pub comparison: Comparison,
    pub other: Other,
}

impl ForAll {
    pub fn text(&self) -> String {
        let element = &self.element.text;
        let at = |index: &str| element.replacen("[k]", &format!("[{index}]"), 1);
        let (left, comparison, right) = match &self.other {
            Other::Constant(k) => (element.clone(), self.comparison, self.element.constant_text(*k)),
            // The first element by its index, as the others are.
            Other::Value(x) if x.strip_prefix('*').is_some_and(|a| *element == format!("{a}[k]")) => {
                (element.clone(), self.comparison, at("0"))
            }
            Other::Value(x) => (element.clone(), self.comparison, x.clone()),
            Other::Element(e) => (element.clone(), self.comparison, e.text.clone()),
            Other::Previous => (at("k - 1"), self.comparison.turned(), element.clone()),
            Other::At(x) if matches!(self.comparison, Comparison::AtLeast | Comparison::Greater) => {
                (at(x), self.comparison.turned(), element.clone())
            }
            Other::At(x) => (element.clone(), self.comparison, at(x)),
        };
        let first = match (&self.from.name, self.from.plus) {
            (Some(x), 1) => format!("{x} < k"),
            _ => format!("{} <= k", self.from.text()),
        };
        let last = match (&self.to.name, self.to.plus) {
            (Some(x), 1) => format!("k <= {x}"),
            _ => format!("k < {}", self.to.text()),
        };
        let all = format!("\\forall integer k; {first} && {last} ==> {left} {} {right}", comparison.text());
        match self.given {
            Some(c) => format!("\\result == {c} ==> ({all})"),
            None => all,
        }
    }

    /// Names of what the fact speaks of.
    pub fn variables(&self) -> Vec<&str> {
        // The array's name first.
        let mut names = vec![self.element.text.as_str()];
        names.extend(self.numbers());
        if let Other::Element(e) = &self.other {
            names.push(&e.text);
        }
        if self.given.is_some() {
            names.push("\\result");
        }
        names
    }

    /// Names of the values that it needs beside elements.
    pub(in crate::invariant) fn numbers(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            [&self.from, &self.to].into_iter().filter_map(|e| e.name.as_deref()).collect();
        if let Other::Value(x) | Other::At(x) = &self.other {
            names.push(x);
        }
        names
    }

    /// The end of the range that moves with the loop.
    pub(in crate::invariant) fn moving(&self) -> &Edge {
        if self.down { &self.from } else { &self.to }
    }

    /// The indices of elements among some terms, each with the unknown index that stands for it in a
    /// fact.
    pub(in crate::invariant) fn indices_in(
        &self,
        pool: &mut TermPool,
        parts: &[TermId],
        fact: TermId,
    ) -> Vec<(TermId, TermId)> {
        let inside = pool.reachable(&[fact]);
        let is_unknown = |t: &TermId| matches!(pool.get(*t), Term::Leaf(Leaf::Param { name, .. }) if name.starts_with("\\kBv"));
        let Some(k) = inside.into_iter().find(is_unknown) else { return Vec::new() };
        let (sort, bits) = (pool.sort(k), pool.sort(self.element.start).bits().unwrap_or(64));
        let reads: BTreeSet<TermId> = parts
            .iter()
            .filter_map(|&t| match pool.get(t) {
                Term::App(App::Load { bytes, .. }, args) if *bytes == self.element.bytes => {
                    args.get(1).copied()
                }
                _ => None,
            })
            .collect();
        let mut indices: Vec<TermId> =
            parts.iter().copied().filter(|&t| pool.sort(t) == sort && t != k).collect();
        indices.extend((0..4).map(|i| pool.bv(sort.bits().unwrap_or(32), i)));
        let mut found = Vec::new();
        for index in indices {
            let leads = |pool: &mut TermPool, signed| {
                self.element.address(pool, index, signed, bits).is_some_and(|a| reads.contains(&a))
            };
            if found.len() < 6 && (leads(pool, true) || leads(pool, false)) {
                found.push((k, index));
            }
        }
        found
    }

    pub fn is_tighter_than(&self, other: &ForAll) -> bool {
        let same = (&self.to, &self.element, &self.other) == (&other.to, &other.element, &other.other);
        let wider = self.from == other.from
            || self.from.name.is_none() && other.from.name.is_none() && self.from.plus <= other.from.plus;
        let freer = self.given.is_none() || self.given == other.given;
        let stronger = self.comparison == other.comparison || self.comparison.implies(other.comparison);
        same && wider && freer && stronger && self != other
    }

    /// The condition for the one element whose index is unknown.
    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let (memory, _) = value(MEMORY)?;
        let named = |e: &Edge| e.name.as_ref().map(|x| value(x));
        let ends: Vec<(TermId, CType)> =
            [named(&self.from), named(&self.to)].into_iter().flatten().collect::<Option<_>>()?;
        let (sort, signed) = ends.first().map(|(t, ty)| (pool.sort(*t), ty.is_signed()))?;
        if ends.iter().any(|(t, ty)| (pool.sort(*t), ty.is_signed()) != (sort, signed)) {
            return None;
        }
        let k = unknown_index(pool, sort);
        let inside = self.range(pool, k, signed, value)?;
        let element = self.element.number(pool, memory, k, signed)?;
        let other = match &self.other {
            Other::Constant(c) => Number { term: pool.bv(pool.sort(element.term).bits()?, *c), ..element },
            Other::Value(x) => {
                let (term, ty) = value(x)?;
                Number { term, signed: ty.is_signed() }
            }
            Other::Element(e) => e.number(pool, memory, k, signed)?,
            Other::Previous => {
                let minus = pool.bv(sort.bits()?, -1);
                let before = pool.op(Op::Add, &[k, minus]);
                self.element.number(pool, memory, before, signed)?
            }
            Other::At(x) => {
                let (index, ty) = value(x)?;
                self.element.number(pool, memory, index, ty.is_signed())?
            }
        };
        let holds = compared(pool, self.comparison, element, other)?;
        let outside = pool.not(inside);
        let all = pool.or(outside, holds);
        let all = self.before_the_end(pool, all, k, value);
        let Some(c) = self.given else { return Some(all) };
        let (result, _) = value("\\result")?;
        let c = pool.bv(pool.sort(result).bits()?, c);
        let given = pool.eq(result, c);
        let otherwise = pool.not(given);
        Some(pool.or(otherwise, all))
    }

    /// Whether the moving end of the range is no index of it.
    pub(in crate::invariant) fn is_open(&self) -> bool {
        (self.down, self.moving().plus) == (true, 1) || (self.down, self.moving().plus) == (false, 0)
    }

    /// The fact in which the elements of the range have no byte in common with the one where it ends, as
    /// after `dst[i] = '\\0'`.
    fn before_the_end(
        &self,
        pool: &mut TermPool,
        all: TermId,
        k: TermId,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> TermId {
        let end = self.moving().name.as_ref().and_then(|x| value(x));
        match end.filter(|_| self.is_open()) {
            Some((end, _)) => self.apart_from(pool, all, k, &[end]),
            None => all,
        }
    }

    /// A goal about the elements at an index that is none of some others. Indices are narrower than
    /// addresses or do not wrap, so that elements of different indices have no byte in common.
    pub(in crate::invariant) fn apart_from(
        &self,
        pool: &mut TermPool,
        goal: TermId,
        k: TermId,
        indices: &[TermId],
    ) -> TermId {
        let bits = pool.sort(self.element.start).bits().unwrap_or(64);
        if pool.sort(k).bits().is_none_or(|w| w > bits) {
            return goal;
        }
        let other = if let Other::Element(e) = &self.other { Some(e) } else { None };
        let mut pairs = Vec::new();
        for e in [Some(&self.element), other].into_iter().flatten() {
            for index in indices {
                for signed in [true, false] {
                    let (at, this) =
                        (e.address(pool, k, signed, bits), e.address(pool, *index, signed, bits));
                    pairs.extend(at.zip(this).map(|(a, b)| (a, b, e.bytes)));
                }
            }
        }
        pool.separated(goal, Rc::new(OtherElement(pairs)))
    }

    /// That the index is in the range.
    fn range(
        &self,
        pool: &mut TermPool,
        k: TermId,
        signed: bool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let bits = pool.sort(k).bits()?;
        let (le, lt) = if signed { (Op::Sle, Op::Slt) } else { (Op::Ule, Op::Ult) };
        let end = |pool: &mut TermPool, e: &Edge| -> Option<(TermId, bool)> {
            match (&e.name, e.plus) {
                (None, n) => Some((pool.bv(bits, n), false)),
                // One further is said by the comparison, so that nothing wraps.
                (Some(x), 0 | 1) => Some((value(x)?.0, e.plus == 1)),
                _ => None,
            }
        };
        let ((from, after), (to, with)) = (end(pool, &self.from)?, end(pool, &self.to)?);
        let first = pool.op(if after { lt } else { le }, &[from, k]);
        let last = pool.op(if with { le } else { lt }, &[k, to]);
        Some(pool.and(first, last))
    }
}

/// The index of the element that a fact is about.
pub(in crate::invariant) fn unknown_index(pool: &mut TermPool, sort: Sort) -> TermId {
    pool.leaf(Leaf::Param { name: format!("\\k{sort:?}").into(), sort })
}

/// Two different elements of one array.
struct OtherElement(Vec<(TermId, TermId, u64)>);

impl Separation for OtherElement {
    fn apart(&self, _: &TermPool, a: TermId, n: u64, b: TermId, m: u64) -> bool {
        self.0.iter().any(|&(x, y, bytes)| ((a, b) == (x, y) || (b, a) == (x, y)) && n <= bytes && m <= bytes)
    }

    fn before(&self, _: &TermPool, _: TermId, _: TermId, _: u64) -> Option<TermId> {
        None
    }
}

impl Element {
    pub(in crate::invariant) fn address(
        &self,
        pool: &mut TermPool,
        k: TermId,
        signed: bool,
        bits: u16,
    ) -> Option<TermId> {
        let index = match pool.sort(k).bits()? {
            w if w < bits => pool.op(if signed { Op::Sext(bits) } else { Op::Zext(bits) }, &[k]),
            w if w == bits => k,
            _ => return None,
        };
        let size = pool.bv(bits, i128::from(self.bytes));
        let offset = pool.op(Op::Mul, &[index, size]);
        Some(pool.op(Op::Add, &[self.start, offset]))
    }

    fn number(&self, pool: &mut TermPool, memory: TermId, k: TermId, signed: bool) -> Option<Number> {
        let bits = pool.sort(self.start).bits()?;
        if let Some(&[c, x, y]) = pool.as_op(k, Op::Ite) {
            // Each of two elements is one that other terms may read, too.
            let (x, y) = (self.number(pool, memory, x, signed)?, self.number(pool, memory, y, signed)?);
            return Some(Number { term: pool.ite(c, x.term, y.term), ..x });
        }
        let at = self.address(pool, k, signed, bits)?;
        let term = pool.app(App::Load { sort: self.sort, bytes: self.bytes }, &[memory, at]);
        Some(Number { term, signed: self.signed })
    }

    /// What a constant of the program is as a value of the element's type, or of what that is promoted to.
    pub(in crate::invariant) fn number_of(&self, c: Const) -> Option<i128> {
        let bits = self.sort.bits()?;
        let number =
            if self.signed { c.signed() } else { c.unsigned().and_then(|u| i128::try_from(u).ok()) }?;
        let promoted = bits < 32 && c.sort() == Sort::Bv(32);
        (c.sort() == self.sort || promoted && self.numbers()?.contains(&number)).then_some(number)
    }

    /// The numbers that the element's type has.
    fn numbers(&self) -> Option<RangeInclusive<i128>> {
        let bits = self.sort.bits().filter(|b| (1..=64).contains(b))?;
        Some(if self.signed { -1 << (bits - 1)..=(1 << (bits - 1)) - 1 } else { 0..=(1 << bits) - 1 })
    }

    /// Whether each number of the element's type compares so with a constant: to say it says nothing.
    pub(in crate::invariant) fn always_compares(&self, comparison: Comparison, other: &Other) -> bool {
        let (Other::Constant(k), Some(all)) = (other, self.numbers()) else { return false };
        match comparison {
            Comparison::Equal => false,
            Comparison::Different => !all.contains(k),
            Comparison::AtMost => all.end() <= k,
            Comparison::Less => all.end() < k,
            Comparison::AtLeast => all.start() >= k,
            Comparison::Greater => all.start() > k,
        }
    }

    /// A number as a value of the element's type.
    fn constant_text(&self, k: i128) -> String {
        match u8::try_from(k).map(char::from) {
            Ok('\0') if self.is_char => "'\\0'".into(),
            Ok(c) if self.is_char && c.is_ascii_graphic() && !matches!(c, '\'' | '\\') => format!("'{c}'"),
            Ok(' ') if self.is_char => "' '".into(),
            _ => k.to_string(),
        }
    }
}

/// A bit-vector as a number.
#[derive(Clone, Copy)]
struct Number {
    term: TermId,
    signed: bool,
}

/// Two numbers as C compares them (C17 6.3.1.8: promotion, then the usual arithmetic conversions), and
/// whether the comparison is a signed one.
fn converted(pool: &mut TermPool, a: Number, b: Number) -> Option<(TermId, TermId, bool)> {
    const INT: u16 = 32;
    let extended = |pool: &mut TermPool, n: Number, width: u16| {
        let op = if n.signed { Op::Sext(width) } else { Op::Zext(width) };
        pool.op(op, &[n.term])
    };
    let mut promoted = |n: Number| -> Option<(Number, u16)> {
        match pool.sort(n.term).bits()? {
            w if w < INT => Some((Number { term: extended(pool, n, INT), signed: true }, INT)),
            w => Some((n, w)),
        }
    };
    let ((a, wa), (b, wb)) = (promoted(a)?, promoted(b)?);
    Some(match wa.cmp(&wb) {
        std::cmp::Ordering::Equal => (a.term, b.term, a.signed && b.signed),
        std::cmp::Ordering::Less => (extended(pool, a, wb), b.term, b.signed),
        std::cmp::Ordering::Greater => (a.term, extended(pool, b, wa), a.signed),
    })
}

/// How two numbers compare.
fn compared(pool: &mut TermPool, comparison: Comparison, a: Number, b: Number) -> Option<TermId> {
    let (a, b, signed) = converted(pool, a, b)?;
    let (le, lt) = if signed { (Op::Sle, Op::Slt) } else { (Op::Ule, Op::Ult) };
    Some(match comparison {
        Comparison::Equal => pool.eq(a, b),
        Comparison::Different => {
            let e = pool.eq(a, b);
            pool.not(e)
        }
        Comparison::AtMost => pool.op(le, &[a, b]),
        Comparison::AtLeast => pool.op(le, &[b, a]),
        Comparison::Less => pool.op(lt, &[a, b]),
        Comparison::Greater => pool.op(lt, &[b, a]),
    })
}

#[cfg(test)]
mod tests;
