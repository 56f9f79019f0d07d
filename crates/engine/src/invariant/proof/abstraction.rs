//! Terms under named assumptions and under conditions.

use crate::ir::{App, LOOP_VALUE, Leaf, Op, Rebuilt, Sort, Term, TermId, TermPool, Uf};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the term with the conversions that `unchecked` accepts taken to succeed
/// (`stdin-well-formed`). Conversions whose success the program looks at may fail.
pub fn well_formed(pool: &mut TermPool, root: TermId, unchecked: &dyn Fn(TermId) -> bool) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Uf(Uf::InputOk { .. }), _) if unchecked(t) => Some(pool.bool(true)),
        _ => None,
    })
}

/// Whether an input stands for a value of a loop.
pub fn is_loop_value(name: &str) -> bool {
    name.starts_with(LOOP_VALUE)
}

/// Returns the term with every value of a loop as an input of its own: what is proved then holds
/// whatever the loop computes.
pub fn without_loops(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Uf(Uf::Loop { sort, .. }), _) => {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            Some(pool.leaf(Leaf::Param { name, sort: *sort }))
        }
        _ => None,
    })
}

/// Returns the term as it is where the condition holds: conjuncts of the condition are true in it, and
/// alternatives of what it denies are false.
pub fn under(pool: &mut TermPool, root: TermId, condition: TermId) -> TermId {
    let mut known: BTreeMap<TermId, bool> = BTreeMap::new();
    let mut work = vec![(condition, true)];
    while let Some((c, holds)) = work.pop() {
        let parts = pool.as_op(c, if holds { Op::And } else { Op::Or });
        if let Some(parts) = parts {
            work.extend(parts.iter().map(|p| (*p, holds)));
        } else if let Some(&[inner]) = pool.as_op(c, Op::Not) {
            work.push((inner, !holds));
        }
        known.insert(c, holds);
        // `x <= 3` denies `3 < x`, which is no `!(x <= 3)` here.
        let denied = pool.not(c);
        known.insert(denied, !holds);
    }
    rewrite(pool, root, &|pool, t| known.get(&t).copied().map(|b| pool.bool(b)))
}

/// Returns a condition without those of its parts that bound a number by a constant less tightly than others:
/// `n > 1` for `n > 0 && n > 1`.
pub fn without_looser_bounds(pool: &mut TermPool, condition: TermId) -> TermId {
    let Some(parts) = pool.as_op(condition, Op::And).map(<[TermId]>::to_vec) else { return condition };
    let bounds: Vec<Option<Bound>> = parts.iter().map(|&p| Bound::of(pool, p)).collect();
    let looser = |k: usize| {
        let Some(bound) = &bounds[k] else { return false };
        bounds.iter().flatten().any(|other| other.is_tighter_than(bound))
    };
    let kept = (0..parts.len()).filter(|&k| !looser(k)).map(|k| parts[k]);
    kept.reduce(|a, b| pool.and(a, b)).unwrap_or(condition)
}

/// A bound of a number that is a constant.
struct Bound {
    number: TermId,
    signed: bool,
    /// The least number that is allowed, or the greatest.
    lower: bool,
    limit: i128,
}

impl Bound {
    fn of(pool: &TermPool, condition: TermId) -> Option<Bound> {
        let Term::App(App::Op(op), args) = pool.get(condition) else { return None };
        let (signed, strict) = match op {
            Op::Slt => (true, 1),
            Op::Sle => (true, 0),
            Op::Ult => (false, 1),
            Op::Ule => (false, 0),
            _ => return None,
        };
        let &[x, y] = args.as_slice() else { return None };
        let number = |t: TermId| {
            let c = pool.as_const(t)?;
            if signed { c.signed() } else { i128::try_from(c.unsigned()?).ok() }
        };
        match (number(x), number(y)) {
            (Some(k), None) => Some(Bound { number: y, signed, lower: true, limit: k.checked_add(strict)? }),
            (None, Some(k)) => Some(Bound { number: x, signed, lower: false, limit: k.checked_sub(strict)? }),
            _ => None,
        }
    }

    fn is_tighter_than(&self, other: &Bound) -> bool {
        let same = (self.number, self.signed, self.lower) == (other.number, other.signed, other.lower);
        same && if self.lower { self.limit > other.limit } else { self.limit < other.limit }
    }
}

/// What a condition says of the order of numbers.
#[derive(Default)]
struct Order {
    /// Numbers below others, and above others: their successors, and predecessors, do not wrap. With
    /// whether they are compared as signed ones.
    below: BTreeSet<(TermId, bool)>,
    above: BTreeSet<(TermId, bool)>,
    /// Pairs that are not equal, both ways.
    unequal: BTreeSet<(TermId, TermId)>,
}

impl Order {
    fn of(pool: &TermPool, condition: TermId) -> Order {
        let mut order = Order::default();
        let parts = pool.as_op(condition, Op::And).map_or(vec![condition], <[TermId]>::to_vec);
        for c in parts {
            match pool.get(c) {
                Term::App(App::Op(op @ (Op::Slt | Op::Ult)), args) => {
                    let &[x, y] = args.as_slice() else { continue };
                    order.below.insert((x, *op == Op::Slt));
                    order.above.insert((y, *op == Op::Slt));
                }
                Term::App(App::Op(Op::Not), args) => {
                    let inner = args.first().and_then(|e| pool.as_op(*e, Op::Eq));
                    if let Some(&[x, y]) = inner {
                        order.unequal.extend([(x, y), (y, x)]);
                    }
                }
                _ => {}
            }
        }
        order
    }

    /// A comparison in fewer operators, if what is known allows that.
    fn simpler(&self, pool: &mut TermPool, op: Op, x: TermId, y: TermId) -> Option<TermId> {
        let (signed, strict) = match op {
            Op::Slt => (true, true),
            Op::Sle => (true, false),
            Op::Ult => (false, true),
            Op::Ule => (false, false),
            _ => return None,
        };
        let (lt, le) = if signed { (Op::Slt, Op::Sle) } else { (Op::Ult, Op::Ule) };
        let (mut strict, mut x, mut y) = (strict, x, y);
        let known = (strict, x, y);
        if let Some(before) = stepped(pool, x, 1).filter(|b| !strict && self.below.contains(&(*b, signed))) {
            (strict, x) = (true, before);
        } else if let Some(before) =
            stepped(pool, y, 1).filter(|b| strict && self.below.contains(&(*b, signed)))
        {
            (strict, y) = (false, before);
        } else if let Some(after) =
            stepped(pool, y, -1).filter(|a| !strict && self.above.contains(&(*a, signed)))
        {
            (strict, y) = (true, after);
        } else if let Some(after) =
            stepped(pool, x, -1).filter(|a| strict && self.above.contains(&(*a, signed)))
        {
            (strict, x) = (false, after);
        }
        strict |= self.unequal.contains(&(x, y));
        ((strict, x, y) != known).then(|| pool.op(if strict { lt } else { le }, &[x, y]))
    }
}

/// The number that a term adds this to.
fn stepped(pool: &TermPool, t: TermId, by: i128) -> Option<TermId> {
    let &[x, k] = pool.as_op(t, Op::Add)? else { return None };
    (pool.as_const(k)?.signed() == Some(by)).then_some(x)
}

/// Returns the term with comparisons that are simpler where the condition holds: `x + 1 <= y` is `x < y`
/// where `x` is below something, and `x <= y` is `x < y` where the two differ. Solvers that know numbers
/// as bits find that hard.
pub fn ordered(pool: &mut TermPool, root: TermId, condition: TermId) -> TermId {
    let order = Order::of(pool, condition);
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Op(op), args) => match *args.as_slice() {
            [x, y] => order.simpler(pool, *op, x, y),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the term with every read of a memory that is an input as an input of its own: what is proved
/// then holds whatever is read, and the solver need not reason about memory.
pub fn without_loads(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Load { sort, .. }, args)
            if args.first().is_some_and(|m| matches!(pool.get(*m), Term::Leaf(_))) =>
        {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            Some(pool.leaf(Leaf::Param { name, sort: *sort }))
        }
        _ => None,
    })
}

/// Returns what is left of a condition without those parts that multiply what is no constant: what is not
/// met without them is not met at all, and to bit-vectors they are the hardest.
pub fn without_products(pool: &mut TermPool, condition: TermId) -> TermId {
    let is_product = |pool: &TermPool, t: &TermId| {
        let of_unknowns = |args: &[TermId]| args.iter().filter(|a| pool.as_const(**a).is_none()).count() > 1;
        pool.as_op(*t, Op::Mul).is_some_and(of_unknowns)
    };
    let Some(parts) = pool.as_op(condition, Op::And) else { return condition };
    let is_left = |part: &TermId| !pool.reachable(&[*part]).iter().any(|t| is_product(pool, t));
    let mut left: Vec<TermId> = parts.iter().copied().filter(is_left).collect();
    left.push(pool.bool(true));
    pool.op(Op::And, &left)
}

/// As [`without_loads`], of every read of any memory.
pub fn without_any_loads(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| match pool.get(t) {
        Term::App(App::Load { sort, .. }, _) => {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            Some(pool.leaf(Leaf::Param { name, sort: *sort }))
        }
        _ => None,
    })
}

/// Whether a term is a quotient or a rest, by what is not a constant.
fn is_division(pool: &TermPool, t: TermId) -> bool {
    matches!(pool.get(t), Term::App(App::Op(Op::URem | Op::UDiv | Op::SRem | Op::SDiv), args)
        if args.get(1).is_some_and(|y| pool.as_const(*y).is_none()))
}

/// Returns what is true of the quotients and rests by unknown divisors in some terms: their bounds.
fn bounds_of_divisions(pool: &mut TermPool, roots: &[TermId]) -> TermId {
    let parts: Vec<TermId> = pool.reachable(roots).into_iter().filter(|t| is_division(pool, *t)).collect();
    let mut all = pool.bool(true);
    for &t in &parts {
        let Term::App(App::Op(op), args) = pool.get(t).clone() else { continue };
        let (&[x, y], Some(width)) = (args.as_slice(), pool.sort(t).bits()) else { continue };
        let zero = pool.bv(width, 0);
        let by_zero = pool.eq(y, zero);
        let signed = matches!(op, Op::SRem | Op::SDiv);
        let (less, at_most) = if signed { (Op::Slt, Op::Sle) } else { (Op::Ult, Op::Ule) };
        let below = pool.op(at_most, &[t, x]);
        let mut bounds = match op {
            Op::URem | Op::SRem => {
                let rest = pool.op(less, &[t, y]);
                pool.and(below, rest)
            }
            _ => below,
        };
        if signed {
            // Of numbers that are not negative.
            let least = pool.op(Op::Sle, &[zero, t]);
            bounds = pool.and(bounds, least);
            for operand in [x, y] {
                let negative = pool.op(Op::Slt, &[operand, zero]);
                bounds = pool.or(negative, bounds);
            }
        }
        let bounds = pool.or(by_zero, bounds);
        all = pool.and(all, bounds);
    }
    all
}

/// Returns a condition and goals without what circuits are large for, or that needs memory: a goal
/// holds where it does so. Bounds of quotients are often enough, and so is that calls return something.
pub fn plain(pool: &mut TermPool, condition: TermId, goals: &[TermId]) -> (TermId, Vec<TermId>) {
    let condition = without_loads(pool, condition);
    let goals: Vec<TermId> = goals.iter().map(|&g| without_loads(pool, g)).collect();
    let mut all = goals.clone();
    all.push(condition);
    let bounds = bounds_of_divisions(pool, &all);
    let given = pool.and(condition, bounds);
    (without_operations(pool, given), goals.iter().map(|&g| without_operations(pool, g)).collect())
}

/// Returns the term with every quotient and rest by an unknown divisor, and every result of a call,
/// as an input of its own.
fn without_operations(pool: &mut TermPool, root: TermId) -> TermId {
    rewrite(pool, root, &|pool, t| {
        let is_result =
            matches!(pool.get(t), Term::App(App::Uf(Uf::Call { part, .. }), _) if *part != Sort::Mem);
        (is_result || is_division(pool, t)).then(|| {
            let name = format!("{LOOP_VALUE}{t:?}").into();
            let sort = pool.sort(t);
            pool.leaf(Leaf::Param { name, sort })
        })
    })
}

/// Returns the term with one part replaced by another.
pub fn replaced(pool: &mut TermPool, root: TermId, part: TermId, by: TermId) -> TermId {
    rewrite(pool, root, &|_, t| (t == part).then_some(by))
}

/// Rebuilds a term bottom up, replacing what `f` answers for.
fn rewrite(pool: &mut TermPool, root: TermId, f: &dyn Fn(&mut TermPool, TermId) -> Option<TermId>) -> TermId {
    pool.rebuilt(root, &|pool, t| f(pool, t).map_or(Rebuilt::Kept, Rebuilt::By))
}

#[cfg(test)]
mod tests;
