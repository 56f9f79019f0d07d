//! Which parts of a condition say nothing beside the others, and which conditions nothing meets, by the order of
//! numbers alone: `c <= 57 && !(64 < c)` is `c <= 57`, and no `x` is less than 0 and greater.
//!
//! Comparisons of one number with constants cut its values into *regions*: those below the first constant, that
//! constant, those between it and the next, and so on; of floats NaN is a region of its own. Of two unknown
//! numbers there are less, equal, greater and, of floats, not comparable. A part of a conjunction all of whose
//! comparisons are about one number is then a set of regions: a part goes that has all that the others leave,
//! and where nothing is left nothing meets the condition. Parts with alternatives lose those that the other parts
//! exclude. No solver is asked.

use crate::invariant::proof::abstraction;
use crate::ir::{App, Const, Op, Sort, Term, TermId, TermPool};
use std::collections::BTreeSet;

/// Parts of a conjunction, and comparisons of one part, that are looked at.
const MAX_PARTS: usize = 48;
const MAX_COMPARISONS: usize = 16;
/// Constants that one number is compared with: regions are bits of a word.
const MAX_CONSTANTS: usize = 24;

/// How a number relates to what it is compared with, as a set.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const NOT_COMPARABLE: u8 = 8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Signed,
    Unsigned,
    Float,
}

/// The number, and the other one where that is no constant.
type Compared = (TermId, Option<TermId>);

#[derive(Clone, Copy)]
struct Comparison {
    compared: Compared,
    /// None: equality of integers, which is one in both orders.
    order: Option<Order>,
    relation: u8,
    /// The constant's place among all constants of its kind; against no constant, 0.
    constant: i128,
}

/// How deep conditions are taken apart.
const DEPTH: usize = 4;

/// Returns what is left of a condition without those of its parts that the others imply; `None` where nothing
/// meets it.
pub fn simplified(pool: &mut TermPool, condition: TermId) -> Option<TermId> {
    nested(pool, condition, DEPTH)
}

fn nested(pool: &mut TermPool, condition: TermId, depth: usize) -> Option<TermId> {
    if pool.as_const(condition).and_then(Const::as_bool) == Some(false) {
        return None;
    }
    if depth == 0 {
        return Some(condition);
    }
    if let Some(parts) = conjuncts(pool, condition) {
        return conjunction(pool, condition, parts, depth);
    }
    if let Some(parts) = pool.as_op(condition, Op::Or).map(<[TermId]>::to_vec) {
        let left: Vec<TermId> = parts.iter().filter_map(|p| nested(pool, *p, depth - 1)).collect();
        return match left.is_empty() {
            true => None,
            false if left == parts => Some(condition),
            false => Some(pool.op(Op::Or, &left)),
        };
    }
    let denied = pool.as_op(condition, Op::Not).and_then(|args| args.first()).copied();
    match denied.filter(|d| pool.as_op(*d, Op::And).is_some()) {
        Some(inner) => match nested(pool, inner, depth - 1) {
            None => Some(pool.bool(true)),
            Some(i) if i == inner => Some(condition),
            Some(i) => Some(pool.not(i)),
        },
        None => Some(condition),
    }
}

/// The parts that all have to hold, where there are several, and not too many.
fn conjuncts(pool: &mut TermPool, condition: TermId) -> Option<Vec<TermId>> {
    let (mut found, mut work) = (Vec::new(), vec![condition]);
    while let Some(t) = work.pop() {
        if found.len() + work.len() > MAX_PARTS {
            return None;
        }
        let denied = pool.as_op(t, Op::Not).and_then(|args| args.first()).copied();
        let alternatives = denied.and_then(|d| pool.as_op(d, Op::Or)).map(<[TermId]>::to_vec);
        if let Some(parts) = pool.as_op(t, Op::And) {
            work.extend(parts.iter().rev());
        } else if let Some(parts) = alternatives {
            work.extend(parts.into_iter().rev().map(|p| pool.not(p)));
        } else if !found.contains(&t) {
            found.push(t);
        }
    }
    (found.len() > 1).then_some(found)
}

/// Whether a condition has several ways to hold.
fn has_alternatives(pool: &TermPool, t: TermId) -> bool {
    let denied = pool.as_op(t, Op::Not).and_then(|args| args.first()).copied();
    pool.as_op(t, Op::Or).is_some() || denied.is_some_and(|d| pool.as_op(d, Op::And).is_some())
}

fn conjunction(pool: &mut TermPool, whole: TermId, parts: Vec<TermId>, depth: usize) -> Option<TermId> {
    let (open, plain): (Vec<TermId>, Vec<TermId>) =
        parts.iter().copied().partition(|p| has_alternatives(pool, *p));
    let known = pool.op(Op::And, &plain);
    let mut parts_left = plain.clone();
    for part in open {
        let narrowed = abstraction::under(pool, part, known);
        let narrowed = without_excluded(pool, narrowed, &plain);
        let narrowed = nested(pool, narrowed, depth - 1)?;
        parts_left.extend(conjuncts(pool, narrowed).unwrap_or_else(|| vec![narrowed]));
    }
    let truth = |pool: &TermPool, t: TermId| pool.as_const(t).and_then(Const::as_bool);
    if parts_left.iter().any(|p| truth(pool, *p) == Some(false)) {
        return None;
    }
    parts_left.retain(|p| truth(pool, *p) != Some(true));
    let left = needed(pool, &parts_left)?;
    let kept: Vec<TermId> = left.into_iter().map(|k| parts_left[k]).collect();
    let is_told = pool.as_op(whole, Op::And).is_some();
    let same = is_told && kept.len() == parts.len() && kept.iter().all(|k| parts.contains(k));
    Some(if same { whole } else { pool.op(Op::And, &kept) })
}

/// A condition without those of its alternatives that some other conditions exclude.
fn without_excluded(pool: &mut TermPool, part: TermId, others: &[TermId]) -> TermId {
    const MOST: usize = 12;
    let denied = pool.as_op(part, Op::Not).and_then(|args| args.first()).copied();
    let negated = denied.and_then(|d| pool.as_op(d, Op::And)).map(<[TermId]>::to_vec);
    let ways: Vec<TermId> = match (pool.as_op(part, Op::Or).map(<[TermId]>::to_vec), negated) {
        (Some(ways), _) => ways,
        (None, Some(denied)) => denied.into_iter().map(|d| pool.not(d)).collect(),
        (None, None) => return part,
    };
    if ways.len() > MOST || others.is_empty() {
        return part;
    }
    let mut left = Vec::new();
    for &way in &ways {
        let mut all = others.to_vec();
        all.extend(conjuncts(pool, way).unwrap_or_else(|| vec![way]));
        if needed(pool, &all).is_some() {
            left.push(way);
        }
    }
    if left.len() == ways.len() { part } else { pool.op(Op::Or, &left) }
}

/// Which parts of a conjunction are left without those that the others imply; `None` where nothing meets it.
fn needed(pool: &mut TermPool, parts: &[TermId]) -> Option<BTreeSet<usize>> {
    let mut left: BTreeSet<usize> = (0..parts.len()).collect();
    if parts.len() > MAX_PARTS {
        return Some(left);
    }
    let mut ranked: Vec<Part> = Vec::new();
    for (at, &term) in parts.iter().enumerate() {
        let mut found = Vec::new();
        let is_whole = comparisons(pool, term, &mut found);
        if let Some((compared, order)) = is_whole.then(|| common(&found)).flatten() {
            ranked.push(Part { at, term, compared, order, comparisons: found });
        }
    }
    // What is said at length goes before what is said in few words.
    ranked.sort_by_key(|p| (std::cmp::Reverse(p.comparisons.len()), p.at));
    let lines: BTreeSet<(Compared, Order)> =
        ranked.iter().map(|p| (p.compared, p.order.unwrap_or(Order::Signed))).collect();
    for (compared, order) in lines {
        let is_here = |p: &&Part| p.compared == compared && p.order.is_none_or(|o| o == order);
        let here: Vec<&Part> = ranked.iter().filter(is_here).collect();
        let Some(regions) = Regions::of(pool, &here, order) else { continue };
        let sets: Vec<u64> = here.iter().map(|p| regions.of_condition(pool, p.term)).collect();
        let meets = |but: Option<usize>, left: &BTreeSet<usize>| {
            let others = (0..here.len()).filter(|k| but != Some(*k) && left.contains(&here[*k].at));
            others.fold(regions.all, |all, k| all & sets[k])
        };
        if meets(None, &left) == 0 {
            return None;
        }
        for k in 0..here.len() {
            if meets(Some(k), &left) & !sets[k] == 0 {
                left.remove(&here[k].at);
            }
        }
    }
    Some(left)
}

/// A part of a conjunction that is about one number.
struct Part {
    /// Which one it is.
    at: usize,
    term: TermId,
    compared: Compared,
    order: Option<Order>,
    comparisons: Vec<Comparison>,
}

/// What all comparisons are about, and in which order they are made; none: only whether it is equal is asked.
fn common(all: &[Comparison]) -> Option<(Compared, Option<Order>)> {
    let compared = all.first()?.compared;
    let mut order = None;
    for c in all {
        if c.compared != compared || order.is_some() && c.order.is_some() && order != c.order {
            return None;
        }
        order = order.or(c.order);
    }
    Some((compared, order))
}

/// Collects the comparisons that a condition is made of; false where it is made of something else, too.
fn comparisons(pool: &mut TermPool, t: TermId, found: &mut Vec<Comparison>) -> bool {
    if let Some(c) = comparison(pool, t) {
        found.push(c);
        return found.len() <= MAX_COMPARISONS;
    }
    let Term::App(App::Op(Op::Not | Op::And | Op::Or), args) = pool.get(t) else { return false };
    let args = args.clone();
    args.into_iter().all(|a| comparisons(pool, a, found))
}

fn comparison(pool: &mut TermPool, t: TermId) -> Option<Comparison> {
    let Term::App(App::Op(op), args) = pool.get(t) else { return None };
    let &[x, y] = args.as_slice() else { return None };
    let (order, relation) = match op {
        Op::Eq if matches!(pool.sort(x), Sort::Bv(_)) => (None, EQUAL),
        Op::Slt => (Some(Order::Signed), LESS),
        Op::Sle => (Some(Order::Signed), LESS | EQUAL),
        Op::Ult => (Some(Order::Unsigned), LESS),
        Op::Ule => (Some(Order::Unsigned), LESS | EQUAL),
        Op::FEq => (Some(Order::Float), EQUAL),
        Op::FLt => (Some(Order::Float), LESS),
        Op::FLe => (Some(Order::Float), LESS | EQUAL),
        _ => return None,
    };
    let is_float = order == Some(Order::Float);
    let (number, other, relation) = match (pool.as_const(x), pool.as_const(y)) {
        (Some(_), Some(_)) => return None,
        (Some(_), None) => (y, x, turned(relation)),
        (None, None) if y < x => (y, x, turned(relation)),
        _ => (x, y, relation),
    };
    let Some(constant) = pool.as_const(other) else {
        return Some(Comparison { compared: (number, Some(other)), order, relation, constant: 0 });
    };
    if !is_float {
        // Equality has a place in both orders: the bits say which constant it is.
        let place = match order {
            Some(Order::Signed) => constant.signed()?,
            _ => i128::try_from(constant.unsigned()?).ok()?,
        };
        return Some(Comparison { compared: (number, None), order, relation, constant: place });
    }
    // A sum and its opposite are one number, but for the sign of a zero, which comparisons do not see.
    let value = constant.float().filter(|v| !v.is_nan())?;
    let (number, value, relation) = match opposite(pool, number).filter(|o| *o < number) {
        Some(o) => (o, -value, turned(relation)),
        None => (number, value, relation),
    };
    Some(Comparison { compared: (number, None), order, relation, constant: rank(value) })
}

/// The relation with its sides exchanged.
fn turned(relation: u8) -> u8 {
    let bit = |from: u8, to: u8| if relation & from != 0 { to } else { 0 };
    relation & (EQUAL | NOT_COMPARABLE) | bit(LESS, GREATER) | bit(GREATER, LESS)
}

/// `b - a` of `a - b`.
fn opposite(pool: &mut TermPool, sum: TermId) -> Option<TermId> {
    let &[a, b] = pool.as_op(sum, Op::FAdd)? else { return None };
    let (a, b) = (pool.op(Op::FNeg, &[a]), pool.op(Op::FNeg, &[b]));
    Some(pool.op(Op::FAdd, &[a, b]))
}

/// A number's place among all floats; both zeros have one.
fn rank(value: f64) -> i128 {
    let bits = (value + 0.0).to_bits() as i64;
    i128::from(bits ^ (((bits >> 63) as u64) >> 1) as i64)
}

/// The regions of one number's values, in one order.
struct Regions {
    compared: Compared,
    order: Order,
    constants: Vec<i128>,
    /// Those that some value is in, as bits.
    all: u64,
}

impl Regions {
    fn of(pool: &TermPool, parts: &[&Part], order: Order) -> Option<Regions> {
        let compared = parts.first()?.compared;
        let width = match pool.sort(compared.0) {
            Sort::Bv(w) if w <= 64 => w,
            Sort::Bv(_) => return None,
            _ => 0,
        };
        let all = parts.iter().flat_map(|p| &p.comparisons);
        let constants: BTreeSet<i128> = all.map(|c| place(c, order, width)).collect();
        let constants: Vec<i128> = constants.into_iter().collect();
        if constants.len() > MAX_CONSTANTS {
            return None;
        }
        let regions = 2 * constants.len() + 1;
        let mut all = (1u64 << regions) - 1;
        match order {
            Order::Float => all |= 1 << regions,
            _ if compared.1.is_some() => {}
            _ => {
                let (min, max) = match order {
                    Order::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
                    _ => (0, (1i128 << width) - 1),
                };
                // There is nothing below the least number, between neighbours and above the greatest.
                let below = constants.iter().zip(std::iter::once(min - 1).chain(constants.iter().copied()));
                for (k, (&c, before)) in below.enumerate() {
                    if c == before + 1 {
                        all &= !(1 << (2 * k));
                    }
                }
                if constants.last() == Some(&max) {
                    all &= !(1 << (2 * constants.len()));
                }
            }
        }
        Some(Regions { compared, order, constants, all })
    }

    /// The regions in which a condition holds that is made of comparisons of this number.
    fn of_condition(&self, pool: &mut TermPool, t: TermId) -> u64 {
        if let Some(c) = comparison(pool, t) {
            return self.of_comparison(pool, &c);
        }
        let Term::App(App::Op(op), args) = pool.get(t) else { return self.all };
        let (op, args) = (*op, args.clone());
        let mut sets = args.into_iter().map(|a| self.of_condition(pool, a));
        match op {
            Op::Not => self.all & !sets.next().unwrap_or(0),
            Op::And => sets.fold(self.all, |a, b| a & b),
            _ => sets.fold(0, |a, b| a | b),
        }
    }

    fn of_comparison(&self, pool: &TermPool, c: &Comparison) -> u64 {
        let width = pool.sort(self.compared.0).bits().unwrap_or(0);
        let here = place(c, self.order, width);
        let k = self.constants.iter().position(|p| *p == here).unwrap_or(0);
        let (at, regions) = (2 * k + 1, 2 * self.constants.len() + 1);
        let mut set = 0;
        if c.relation & LESS != 0 {
            set |= (1 << at) - 1;
        }
        if c.relation & EQUAL != 0 {
            set |= 1 << at;
        }
        if c.relation & GREATER != 0 {
            set |= ((1 << regions) - 1) & !((1 << (at + 1)) - 1);
        }
        if c.relation & NOT_COMPARABLE != 0 && self.order == Order::Float {
            set |= 1 << regions;
        }
        set & self.all
    }
}

/// The place of a comparison's constant in an order; that of an equality was read without a sign.
fn place(c: &Comparison, order: Order, width: u16) -> i128 {
    match (c.order, c.compared.1) {
        (None, None) if order == Order::Signed => {
            let bits = u128::try_from(c.constant).unwrap_or(0);
            Const::Bv { width, bits }.signed().unwrap_or(c.constant)
        }
        _ => c.constant,
    }
}

#[cfg(test)]
mod tests;
