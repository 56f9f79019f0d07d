//! Facts of all elements of an array that a loop has passed: `\forall integer k; 0 <= k && k < i ==>
//! a[k] <= m` (design D7).
//!
//! Where a loop reads or writes `a[i]`, an integer variable being the index, its body suggests what
//! may hold of the elements before: that they compare with another variable, with a constant, or with
//! the same element of another array. There is no data for these; induction decides. The element's
//! index is one unknown, the same wherever the fact is supposed and where it is to be shown, which is
//! an instance of the quantifier and so is sound.

use super::assume;
use super::consolidate::Engine;
use super::point::Point;
use super::quantity::Quantity;
use super::relations::Known;
use super::templates::Candidate;
use crate::ir::{App, CType, Expr, Instr, Leaf, Op, Separation, Sort, Term, TermId, TermPool};
use crate::mvicfg::{Mvicfg, VersionSet};
use crate::semantics::c_text::{self, Named};
use crate::semantics::{Place, Val};
use crate::smt;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Name of the quantity that is all of memory.
pub(super) const MEMORY: &str = "\\memory";
/// Arrays of one loop, and candidates.
const MAX_ARRAYS: usize = 3;
const MAX_CANDIDATES: usize = 48;

/// An element of an array: the `k`-th from its start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    start: TermId,
    bytes: u64,
    sort: Sort,
    signed: bool,
    /// `a[k]`.
    text: String,
}

/// What an element is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    Constant(i128),
    Value(String),
    Element(Element),
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
    const ALL: [Comparison; 6] = [
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

    /// Whether this says more than another comparison of the same two.
    fn implies(self, other: Comparison) -> bool {
        use Comparison::*;
        matches!(
            (self, other),
            (Equal, AtMost | AtLeast) | (Less, AtMost | Different) | (Greater, AtLeast | Different)
        )
    }
}

/// That all elements from `low` to before the value of `bound` compare so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForAll {
    pub low: i128,
    pub bound: String,
    pub element: Element,
    pub comparison: Comparison,
    pub other: Other,
}

impl ForAll {
    pub fn text(&self) -> String {
        let other = match &self.other {
            Other::Constant(k) => k.to_string(),
            Other::Value(x) => x.clone(),
            Other::Element(e) => e.text.clone(),
        };
        let (low, bound, element) = (self.low, &self.bound, &self.element.text);
        format!(
            "\\forall integer k; {low} <= k && k < {bound} ==> {element} {} {other}",
            self.comparison.text()
        )
    }

    pub fn variables(&self) -> Vec<&str> {
        let mut names = vec![self.element.text.as_str(), self.bound.as_str()];
        match &self.other {
            Other::Value(x) => names.push(x),
            Other::Element(e) => names.push(&e.text),
            Other::Constant(_) => {}
        }
        names
    }

    /// The indices of elements among some terms, each with the unknown index that stands for it in a
    /// fact.
    pub(super) fn indices_in(
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
        let same = (&self.bound, &self.element, &self.other) == (&other.bound, &other.element, &other.other);
        same && self.low <= other.low
            && (self.comparison.implies(other.comparison)
                || self.comparison == other.comparison && self.low < other.low)
    }

    /// The condition for the one element whose index is unknown.
    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let (memory, _) = value(MEMORY)?;
        let (bound, ty) = value(&self.bound)?;
        let sort = pool.sort(bound);
        let k = unknown_index(pool, sort);
        let signed = ty.is_signed();
        let low = pool.bv(sort.bits()?, self.low);
        let (le, lt) = if signed { (Op::Sle, Op::Slt) } else { (Op::Ule, Op::Ult) };
        let (from, to) = (pool.op(le, &[low, k]), pool.op(lt, &[k, bound]));
        let inside = pool.and(from, to);
        let element =
            Number { term: self.element.load(pool, memory, k, signed)?, signed: self.element.signed };
        let other = match &self.other {
            Other::Constant(c) => Number { term: pool.bv(pool.sort(element.term).bits()?, *c), ..element },
            Other::Value(x) => {
                let (term, ty) = value(x)?;
                Number { term, signed: ty.is_signed() }
            }
            Other::Element(e) => Number { term: e.load(pool, memory, k, signed)?, signed: e.signed },
        };
        let (element, other, signed) = converted(pool, element, other)?;
        let (le, lt) = if signed { (Op::Sle, Op::Slt) } else { (Op::Ule, Op::Ult) };
        let holds = match self.comparison {
            Comparison::Equal => pool.eq(element, other),
            Comparison::Different => {
                let e = pool.eq(element, other);
                pool.not(e)
            }
            Comparison::AtMost => pool.op(le, &[element, other]),
            Comparison::AtLeast => pool.op(le, &[other, element]),
            Comparison::Less => pool.op(lt, &[element, other]),
            Comparison::Greater => pool.op(lt, &[other, element]),
        };
        let outside = pool.not(inside);
        Some(pool.or(outside, holds))
    }
}

/// The index of the element that a fact is about.
fn unknown_index(pool: &mut TermPool, sort: Sort) -> TermId {
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
    fn address(&self, pool: &mut TermPool, k: TermId, signed: bool, bits: u16) -> Option<TermId> {
        let index = match pool.sort(k).bits()? {
            w if w < bits => pool.op(if signed { Op::Sext(bits) } else { Op::Zext(bits) }, &[k]),
            w if w == bits => k,
            _ => return None,
        };
        let size = pool.bv(bits, i128::from(self.bytes));
        let offset = pool.op(Op::Mul, &[index, size]);
        Some(pool.op(Op::Add, &[self.start, offset]))
    }

    fn load(&self, pool: &mut TermPool, memory: TermId, k: TermId, signed: bool) -> Option<TermId> {
        let bits = pool.sort(self.start).bits()?;
        let at = self.address(pool, k, signed, bits)?;
        Some(pool.app(App::Load { sort: self.sort, bytes: self.bytes }, &[memory, at]))
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

impl Engine<'_> {
    /// Adds memory to what is known at a point where a class has loops.
    pub(super) fn known_memory(&mut self, class: usize, point: &Point, known: &mut BTreeMap<String, Known>) {
        if self.e.flow.classes[class].loops.is_empty() {
            return;
        }
        let Some(&node) = point.nodes.get(&class) else { return };
        let single = VersionSet::single(class);
        let Some((_, val)) = self.e.before(Place::Memory, node, &single).into_iter().next() else { return };
        // What happened to it is no cause of a fact about elements.
        let val = Val { term: val.term, causes: Default::default(), guards: Default::default() };
        if let Some(k) = self.as_known(class, CType::Void, val) {
            known.insert(MEMORY.into(), k);
            self.quantities.insert(MEMORY.into(), Quantity::Memory);
        }
    }

    /// What the accesses of a loop suggest about the elements before an index.
    pub(super) fn quantified(
        &mut self,
        class: usize,
        point: &Point,
        known: &BTreeMap<String, Known>,
    ) -> BTreeSet<Candidate> {
        let mut found = BTreeSet::new();
        if !known.contains_key(MEMORY) {
            return found;
        }
        let Some(&head) = point.nodes.get(&class) else { return found };
        let mut arrays: Vec<(Element, String)> = Vec::new();
        for (element, index) in self.indexed(class, head, known) {
            if arrays.len() < MAX_ARRAYS && !arrays.iter().any(|(e, i)| (e, i) == (&element, &index)) {
                arrays.push((element, index));
            }
        }
        for (element, index) in &arrays {
            let low = self.first_value(class, head, index).unwrap_or(0);
            let compared = |(x, k): &(&String, &Known)| {
                *x != index && matches!(k.ty, CType::Int { .. }) && !x.starts_with("\\old")
            };
            let mut values: Vec<(&String, &Known)> = known.iter().filter(compared).collect();
            // What the loop changes may be made of the elements.
            values.sort_by_key(|(_, k)| self.is_given(k.as_term().0));
            let mut others: Vec<Other> = values.into_iter().map(|(x, _)| Other::Value(x.clone())).collect();
            others.extend(arrays.iter().filter(|(e, _)| e > element).map(|(e, _)| Other::Element(e.clone())));
            others.push(Other::Constant(0));
            others.extend(self.constants_of(class, head, element).into_iter().map(Other::Constant));
            for other in others {
                for comparison in Comparison::ALL {
                    // Of numbers without a sign it says nothing.
                    if !element.signed && comparison == Comparison::AtLeast && other == Other::Constant(0) {
                        continue;
                    }
                    for low in BTreeSet::from([0, low]) {
                        if found.len() < MAX_CANDIDATES {
                            found.insert(Candidate::ForAll(Box::new(ForAll {
                                low,
                                bound: index.clone(),
                                element: element.clone(),
                                comparison,
                                other: other.clone(),
                            })));
                        }
                    }
                }
            }
        }
        found
    }

    /// Constants that a loop stores or compares, as numbers of an element's type.
    fn constants_of(&self, class: usize, head: crate::mvicfg::MvId, element: &Element) -> BTreeSet<i128> {
        const MOST: usize = 3;
        let flow = &self.e.flow.classes[class];
        let mut found = BTreeSet::new();
        let Some(l) = flow.loop_at[head as usize] else { return found };
        for &node in &flow.loops[l].body {
            let mut add = |e: &Expr| {
                e.for_each(&mut |x| {
                    if let Expr::Const(c) = x
                        && Some(c.sort()) == Some(element.sort)
                        && let Some(k) =
                            if element.signed { c.signed() } else { c.unsigned().map(|u| u as i128) }
                        && k != 0
                    {
                        found.insert(k);
                    }
                });
            };
            match &self.task.graph.node(node).instr {
                Instr::Store { value, .. } => add(value),
                Instr::Branch { cond } => add(cond),
                _ => {}
            }
        }
        found.into_iter().take(MOST).collect()
    }

    /// The constant that a variable is when control first comes to a loop.
    fn first_value(&mut self, class: usize, head: crate::mvicfg::MvId, name: &str) -> Option<i128> {
        let place = self.place(class, name)?;
        let single = VersionSet::single(class);
        let (_, first) = self.e.on_first_arrival(place, head, &single).into_iter().next()?;
        self.e.pool.as_const(first.term)?.signed()
    }

    /// The elements that a loop accesses by an integer variable, with the variable.
    fn indexed(
        &mut self,
        class: usize,
        head: crate::mvicfg::MvId,
        known: &BTreeMap<String, Known>,
    ) -> Vec<(Element, String)> {
        let graph = self.task.graph;
        let flow = &self.e.flow.classes[class];
        let Some(l) = flow.loop_at[head as usize] else { return Vec::new() };
        let nodes: Vec<_> = flow.loops[l].body.iter().copied().collect();
        let single = VersionSet::single(class);
        let indices: Vec<(String, TermId, bool)> = known
            .iter()
            .filter(|(x, k)| matches!(k.ty, CType::Int { .. }) && !x.contains(['\\', '>', '.', '*']))
            .map(|(x, k)| (x.clone(), k.as_term().0, k.ty.is_signed()))
            .collect();
        let mut found = Vec::new();
        for node in nodes {
            let (addr, access) = match &graph.node(node).instr {
                Instr::Load { addr, access, .. } | Instr::Store { addr, access, .. } => (addr, access),
                _ => continue,
            };
            let Sort::Bv(_) = access.sort else { continue };
            let Some((_, at)) = self.e.expr(addr, node, &single).into_iter().next() else { continue };
            let (at, _) = self.separated(class, at.term);
            let at = self.cut(at);
            let Some(extent) = c_text::extent(&self.e.pool, at, access.bytes, &self.namings[class]) else {
                continue;
            };
            let (signed, bytes, sort) = (access.ty.is_signed(), access.bytes, access.sort);
            for (x, index, is_signed) in &indices {
                let element = Element { start: extent.base, bytes, sort, signed, text: String::new() };
                let bits = self.task.pointer_bits;
                if element.address(&mut self.e.pool, *index, *is_signed, bits) != Some(at) {
                    continue;
                }
                if let Some(text) = self.element_text(class, &element, *is_signed, self.e.pool.sort(*index)) {
                    found.push((Element { text, ..element }, x.clone()));
                }
            }
        }
        found
    }

    /// `a[k]`, where the array has a name.
    fn element_text(&mut self, class: usize, e: &Element, signed: bool, index: Sort) -> Option<String> {
        let k = self.e.pool.leaf(Leaf::Param { name: "\\element".into(), sort: index });
        let at = e.address(&mut self.e.pool, k, signed, self.task.pointer_bits)?;
        let mut naming = self.namings.get(class)?.clone();
        let bits = index.bits()?;
        let ty = CType::Int { bits, signed, name: "".into() };
        naming.names.insert(k, Named { text: "k".into(), ty });
        let named = c_text::render_lvalue(&self.e.pool, at, e.sort, e.bytes, &naming)?;
        (self.is_readable(&named.text) && matches!(named.ty, CType::Int { .. })).then_some(named.text)
    }

    /// What loops' facts about elements suggest at the exit: other bounds and other values.
    pub(super) fn quantified_at_exit(
        &mut self,
        class: usize,
        known: &BTreeMap<String, Known>,
    ) -> BTreeSet<Candidate> {
        self.find_inductive();
        let mut proved: Vec<ForAll> = Vec::new();
        for (_, standings) in self.inductive.iter().flat_map(|i| &i.heads) {
            for (candidate, standing) in standings {
                if let (Candidate::ForAll(f), true) = (candidate, standing.contains_key(&class)) {
                    proved.push((**f).clone());
                }
            }
        }
        let numbers: Vec<&String> = known
            .iter()
            .filter(|(x, k)| matches!(k.ty, CType::Int { .. }) && !x.contains(['>', '.', '*']))
            .map(|(x, _)| x)
            .collect();
        let mut found = BTreeSet::new();
        for f in proved.into_iter().take(MAX_ARRAYS) {
            for bound in numbers.iter().take(6) {
                let same = matches!(&f.other, Other::Value(x) if !known.contains_key(x));
                if !same {
                    found
                        .insert(Candidate::ForAll(Box::new(ForAll { bound: (*bound).clone(), ..f.clone() })));
                }
                if matches!(f.other, Other::Value(_)) {
                    let other = Other::Value("\\result".into());
                    let f = ForAll { bound: (*bound).clone(), other, ..f.clone() };
                    found.insert(Candidate::ForAll(Box::new(f)));
                }
            }
        }
        found.into_iter().take(MAX_CANDIDATES).collect()
    }

    /// Proves a fact about elements: of the one that the loop is at, and of the others. `index`: where the
    /// loop is. Indices are narrower than addresses or do not wrap, so that elements of different indices
    /// have no byte in common.
    pub(super) fn shows_for_all(
        &mut self,
        class: usize,
        f: &ForAll,
        under: TermId,
        goal: TermId,
        (bound, index): (TermId, Option<TermId>),
    ) -> bool {
        let (goal, used) = self.separated(class, goal);
        let goal = self.cut(goal);
        self.elements_assumed.extend(used);
        let holds = |e: &mut Self, under, goal| {
            let pool = &mut e.e.pool;
            let (under, goal) = (assume::without_loads(pool, under), assume::without_loads(pool, goal));
            matches!(e.elements.holds(pool, under, goal), smt::Truth::Holds)
        };
        let bits = self.task.pointer_bits;
        if let Some(few) = self.few_indices(f, bound) {
            let sort = self.e.pool.sort(bound);
            return few.into_iter().all(|i| {
                let pool = &mut self.e.pool;
                let (k, i) = (unknown_index(pool, sort), pool.bv(sort.bits().unwrap_or(32), i));
                let (given, goal) = (assume::replaced(pool, under, k, i), assume::replaced(pool, goal, k, i));
                holds(self, given, goal)
            });
        }
        let Some(index) = index.filter(|i| self.e.pool.sort(*i).bits().is_some_and(|w| w <= bits)) else {
            return holds(self, under, goal);
        };
        let pool = &mut self.e.pool;
        let k = unknown_index(pool, pool.sort(index));
        let (here, given) = (assume::replaced(pool, goal, k, index), assume::replaced(pool, under, k, index));
        if !holds(self, given, here) {
            return false;
        }
        let mut pairs = Vec::new();
        let others = if let Other::Element(e) = &f.other { Some(e) } else { None };
        for e in [Some(&f.element), others].into_iter().flatten() {
            for signed in [true, false] {
                let pool = &mut self.e.pool;
                let (at, this) = (e.address(pool, k, signed, bits), e.address(pool, index, signed, bits));
                pairs.extend(at.zip(this).map(|(a, b)| (a, b, e.bytes)));
            }
        }
        let elsewhere = self.e.pool.separated(goal, Rc::new(OtherElement(pairs)));
        let same = self.e.pool.eq(k, index);
        let not_here = self.e.pool.not(same);
        let under = self.e.pool.and(under, not_here);
        holds(self, under, elsewhere)
    }

    /// The indices below a bound that is a small number.
    fn few_indices(&self, f: &ForAll, bound: TermId) -> Option<Vec<i128>> {
        let bound = self.e.pool.as_const(bound)?.signed()?;
        (f.low..=f.low + 3).contains(&bound).then(|| (f.low..bound).collect())
    }

    /// Whether the exit is the point in question, of a class with loops.
    pub(super) fn has_passed_loops(&self, class: usize, point: &Point) -> bool {
        point.nodes.get(&class) == Some(&Mvicfg::EXIT) && !self.e.flow.classes[class].loops.is_empty()
    }
}
