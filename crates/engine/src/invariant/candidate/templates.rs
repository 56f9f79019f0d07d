//! Candidate invariants from data (`docs/design/facts.md`): shapes with unknowns, whose coefficients
//! are read off concrete executions. What the data of a class refutes is never asked of the solver
//! there.
//!
//! Shapes: range, value set, comparison of two variables, linear relation, congruence, non-null.

use crate::fact::Formula;
use crate::invariant::candidate::guard::Guard;
use crate::invariant::candidate::observed::Observed;
use crate::invariant::candidate::observed::SUPPORT;
use crate::invariant::candidate::observed::is_alike;
use crate::invariant::candidate::observed::number;
use crate::invariant::candidate::polynomial::{self, Equation};
use crate::invariant::candidate::quantified::ForAll;
use crate::invariant::candidate::written::Relation;
use crate::invariant::fact::Template;
use crate::invariant::observable;
use crate::ir::{CType, Const, Op, TermId, TermPool, bounds};
use std::collections::BTreeSet;

/// Instance of a template over named variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Candidate {
    /// `x >= k`, `x <= k`.
    AtLeast(String, i128),
    AtMost(String, i128),
    /// `x == a || x == b || ...`, ascending.
    OneOf(String, Vec<i128>),
    /// Comparison of two variables of one type.
    Less(String, String),
    LessEq(String, String),
    Same(String, String),
    Different(String, String),
    /// `y == a*x + b`, modulo the width.
    Linear {
        y: String,
        x: String,
        a: i128,
        b: i128,
    },
    /// `x % m == r`, as C computes it.
    Congruent {
        x: String,
        m: i128,
        r: i128,
    },
    NonNull(String),
    Null(String),
    /// Where a guard holds.
    Given(Guard, Box<Candidate>),
    /// Of the elements of an array.
    ForAll(Box<ForAll>),
    /// Of sums of products.
    Equation(Equation),
    /// As a person wrote it.
    Written(Relation),
}

impl Candidate {
    pub fn template(&self) -> Template {
        match self {
            Candidate::AtLeast(..) | Candidate::AtMost(..) => Template::Range,
            Candidate::OneOf(..) => Template::Set,
            Candidate::Less(..) | Candidate::LessEq(..) | Candidate::Same(..) | Candidate::Different(..) => {
                Template::Comparison
            }
            Candidate::Linear { .. } => Template::Linear,
            Candidate::Congruent { .. } => Template::Congruence,
            Candidate::NonNull(_) | Candidate::Null(_) => Template::NonNull,
            Candidate::Given(_, then) => then.template(),
            Candidate::ForAll(_) => Template::Comparison,
            Candidate::Equation(_) => Template::Linear,
            Candidate::Written(r) => r.template(),
        }
    }

    /// Whether another candidate is a looser bound of the same variable.
    pub fn is_tighter_than(&self, other: &Candidate) -> bool {
        match (self, other) {
            (Candidate::AtLeast(x, k), Candidate::AtLeast(y, j)) => x == y && k > j,
            (Candidate::AtMost(x, k), Candidate::AtMost(y, j)) => x == y && k < j,
            (Candidate::OneOf(x, ks), Candidate::AtLeast(y, k)) => x == y && ks.iter().all(|n| n >= k),
            (Candidate::OneOf(x, ks), Candidate::AtMost(y, k)) => x == y && ks.iter().all(|n| n <= k),
            (Candidate::Given(guard, then), Candidate::Given(theirs, weaker)) => {
                guard == theirs && then.is_tighter_than(weaker)
            }
            (always, Candidate::Given(_, then)) => always == &**then || always.is_tighter_than(then),
            (Candidate::ForAll(f), Candidate::ForAll(g)) => f.is_tighter_than(g),
            _ => false,
        }
    }

    pub fn variables(&self) -> Vec<&str> {
        use Candidate::{
            AtLeast, AtMost, Congruent, Different, Equation, ForAll, Given, Less, LessEq, Linear, NonNull,
            Null, OneOf, Same, Written,
        };
        let mut names = match self {
            ForAll(f) => f.variables(),
            Equation(e) => e.variables(),
            Written(r) => r.names().iter().map(String::as_str).collect(),
            Given(guard, then) => then.variables().into_iter().chain([guard.x.as_str()]).collect(),
            AtLeast(x, _) | AtMost(x, _) | OneOf(x, _) | Congruent { x, .. } | NonNull(x) | Null(x) => {
                vec![x.as_str()]
            }
            Less(x, y) | LessEq(x, y) | Same(x, y) | Different(x, y) | Linear { x, y, .. } => {
                vec![x.as_str(), y.as_str()]
            }
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    pub fn text(&self) -> String {
        use Candidate::{
            AtLeast, AtMost, Congruent, Different, Equation, ForAll, Given, Less, LessEq, Linear, NonNull,
            Null, OneOf, Same, Written,
        };
        match self {
            AtLeast(x, k) => format!("{x} >= {k}"),
            AtMost(x, k) => format!("{x} <= {k}"),
            OneOf(x, ks) => ks.iter().map(|k| format!("{x} == {k}")).collect::<Vec<_>>().join(" || "),
            Less(x, y) => format!("{x} < {y}"),
            LessEq(x, y) => format!("{x} <= {y}"),
            Same(x, y) => format!("{x} == {y}"),
            Different(x, y) => format!("{x} != {y}"),
            Linear { y, x, a, b } => {
                let scaled = match a {
                    1 => x.clone(),
                    -1 => format!("-{x}"),
                    _ => format!("{a} * {x}"),
                };
                match b {
                    0 => format!("{y} == {scaled}"),
                    b if *b < 0 => format!("{y} == {scaled} - {}", -b),
                    b => format!("{y} == {scaled} + {b}"),
                }
            }
            Congruent { x, m, r } => format!("{x} % {m} == {r}"),
            NonNull(x) => format!("{x} != NULL"),
            Null(x) => format!("{x} == NULL"),
            ForAll(f) => f.text(),
            Equation(e) => e.text(),
            Written(r) => r.text().to_owned(),
            Given(guard, then) => format!("{} ==> {}", guard.text(), then.text()),
        }
    }

    /// The candidate as a C expression, where it is one.
    pub fn c_text(&self) -> Option<String> {
        let text = match self {
            Candidate::Given(guard, then) => format!("!({}) || ({})", guard.text(), then.text()),
            other => other.text(),
        };
        Formula::read(observable::shown(&text)).is_c().then_some(text)
    }

    /// Evaluates on one execution; `None` when a value is missing.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<(Const, CType)>) -> Option<bool> {
        use Candidate::{
            AtLeast, AtMost, Congruent, Different, Equation, ForAll, Given, Less, LessEq, Linear, NonNull,
            Null, OneOf, Same, Written,
        };
        let num = |x: &str| value(x).and_then(|(c, ty)| number(c, &ty));
        Some(match self {
            AtLeast(x, k) => num(x)? >= *k,
            AtMost(x, k) => num(x)? <= *k,
            OneOf(x, ks) => ks.contains(&num(x)?),
            Less(x, y) => num(x)? < num(y)?,
            LessEq(x, y) => num(x)? <= num(y)?,
            Same(x, y) => num(x)? == num(y)?,
            Different(x, y) => num(x)? != num(y)?,
            Linear { y, x, a, b } => {
                let (c, ty) = value(y)?;
                let width = c.sort().bits()?;
                let right = a.wrapping_mul(num(x)?).wrapping_add(*b);
                number(c, &ty)? == number(Const::bv(width, right), &ty)?
            }
            Congruent { x, m, r } => num(x)?.checked_rem(*m)? == *r,
            NonNull(x) => value(x)?.0.to_bits() != 0,
            Null(x) => value(x)?.0.to_bits() == 0,
            ForAll(_) => return None,
            Written(r) => return r.holds(value),
            Equation(e) => {
                return e.holds(&|x| {
                    let (c, ty) = value(x)?;
                    Some((number(c, &ty)?, c.sort().bits()?))
                });
            }
            Given(guard, then) => !guard.holds(value)? || then.holds(value)?,
        })
    }

    /// The same of other names; `None` where a name has no other, or the shape keeps its own.
    pub fn renamed(&self, name: &dyn Fn(&str) -> Option<String>) -> Option<Candidate> {
        use Candidate::{
            AtLeast, AtMost, Congruent, Different, Equation, ForAll, Given, Less, LessEq, Linear, NonNull,
            Null, OneOf, Same, Written,
        };
        Some(match self {
            AtLeast(x, k) => AtLeast(name(x)?, *k),
            AtMost(x, k) => AtMost(name(x)?, *k),
            OneOf(x, ks) => OneOf(name(x)?, ks.clone()),
            Less(x, y) => Less(name(x)?, name(y)?),
            LessEq(x, y) => LessEq(name(x)?, name(y)?),
            Same(x, y) => Same(name(x)?, name(y)?),
            Different(x, y) => Different(name(x)?, name(y)?),
            Linear { y, x, a, b } => Linear { y: name(y)?, x: name(x)?, a: *a, b: *b },
            Congruent { x, m, r } => Congruent { x: name(x)?, m: *m, r: *r },
            NonNull(x) => NonNull(name(x)?),
            Null(x) => Null(name(x)?),
            Given(guard, then) => {
                let guard = Guard { x: name(&guard.x)?, test: guard.test };
                Given(guard, Box::new(then.renamed(name)?))
            }
            ForAll(_) | Equation(_) | Written(_) => return None,
        })
    }

    /// Whether a bound holds of a value by what its operators can give, whatever the inputs are.
    pub fn is_evident(&self, pool: &TermPool, value: &dyn Fn(&str) -> Option<(TermId, CType)>) -> bool {
        let bounds = |x: &str| {
            let (t, ty) = value(x)?;
            bounds::of(pool, t, ty.is_signed())
        };
        match self {
            Candidate::AtLeast(x, k) => bounds(x).is_some_and(|i| i.low >= *k),
            Candidate::AtMost(x, k) => bounds(x).is_some_and(|i| i.high <= *k),
            Candidate::Given(_, then) => then.is_evident(pool, value),
            Candidate::Less(x, y) => bounds(x).zip(bounds(y)).is_some_and(|(a, b)| a.high < b.low),
            Candidate::LessEq(x, y) => bounds(x).zip(bounds(y)).is_some_and(|(a, b)| a.high <= b.low),
            _ => false,
        }
    }

    /// The condition as a term; `None` when a variable is missing or the sorts do not fit.
    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        use Candidate::{
            AtLeast, AtMost, Congruent, Different, Equation, ForAll, Given, Less, LessEq, Linear, NonNull,
            Null, OneOf, Same, Written,
        };
        let constant = |pool: &mut TermPool, t: TermId, k: i128| -> Option<TermId> {
            let width = pool.sort(t).bits()?;
            Some(pool.bv(width, k))
        };
        let compare = |pool: &mut TermPool, ty: &CType, a: TermId, b: TermId, strict: bool| {
            let op = match (ty.is_signed(), strict) {
                (true, true) => Op::Slt,
                (true, false) => Op::Sle,
                (false, true) => Op::Ult,
                (false, false) => Op::Ule,
            };
            pool.op(op, &[a, b])
        };
        match self {
            AtLeast(x, k) | AtMost(x, k) => {
                let (t, ty) = value(x)?;
                let k = constant(pool, t, *k)?;
                let (a, b) = if matches!(self, AtLeast(..)) { (k, t) } else { (t, k) };
                Some(compare(pool, &ty, a, b, false))
            }
            OneOf(x, ks) => {
                let (t, _) = value(x)?;
                let mut any = pool.bool(false);
                for k in ks {
                    let k = constant(pool, t, *k)?;
                    let e = pool.eq(t, k);
                    any = pool.or(any, e);
                }
                Some(any)
            }
            Less(x, y) | LessEq(x, y) | Same(x, y) | Different(x, y) => {
                let ((a, ta), (b, tb)) = (value(x)?, value(y)?);
                if pool.sort(a) != pool.sort(b) || ta.is_signed() != tb.is_signed() {
                    return None;
                }
                Some(match self {
                    Same(..) => pool.eq(a, b),
                    Different(..) => {
                        let e = pool.eq(a, b);
                        pool.not(e)
                    }
                    _ => compare(pool, &ta, a, b, matches!(self, Less(..))),
                })
            }
            Linear { y, x, a, b } => {
                let ((ty, _), (tx, _)) = (value(y)?, value(x)?);
                if pool.sort(ty) != pool.sort(tx) {
                    return None;
                }
                let (ka, kb) = (constant(pool, tx, *a)?, constant(pool, tx, *b)?);
                let scaled = pool.op(Op::Mul, &[ka, tx]);
                let right = pool.op(Op::Add, &[scaled, kb]);
                Some(pool.eq(ty, right))
            }
            Congruent { x, m, r } => {
                let (t, ty) = value(x)?;
                let (km, kr) = (constant(pool, t, *m)?, constant(pool, t, *r)?);
                let rem = pool.op(if ty.is_signed() { Op::SRem } else { Op::URem }, &[t, km]);
                Some(pool.eq(rem, kr))
            }
            NonNull(x) | Null(x) => {
                let (t, _) = value(x)?;
                let zero = constant(pool, t, 0)?;
                let e = pool.eq(t, zero);
                Some(if matches!(self, Null(_)) { e } else { pool.not(e) })
            }
            ForAll(f) => f.term(pool, value),
            Equation(e) => e.term(pool, value),
            Written(r) => r.term(pool, value),
            Given(guard, then) => {
                let given = guard.term(pool, value)?;
                let then = then.term(pool, value)?;
                let otherwise = pool.not(given);
                Some(pool.or(otherwise, then))
            }
        }
    }
}

/// Returns the candidates that the executions of one class suggest, in a fixed order.
pub fn suggest(vars: &[Observed]) -> BTreeSet<Candidate> {
    let mut found = suggest_from(vars, SUPPORT);
    found.extend(polynomial::suggest(vars).into_iter().map(Candidate::Equation));
    found
}

/// The candidates but for equations that at least `support` executions suggest.
pub fn suggest_from(vars: &[Observed], support: usize) -> BTreeSet<Candidate> {
    let mut found = BTreeSet::new();
    for v in vars {
        suggest_unary(v, support, &mut found);
    }
    for (i, x) in vars.iter().enumerate() {
        for y in &vars[i + 1..] {
            if is_alike(&x.ty, &y.ty) {
                suggest_binary(x, y, support, &mut found);
            }
        }
    }
    found
}

fn suggest_unary(v: &Observed, support: usize, found: &mut BTreeSet<Candidate>) {
    let x = || v.name.clone();
    let values: Vec<Const> = v.values.iter().flatten().copied().collect();
    if values.len() < support {
        return;
    }
    if v.ty.is_pointer() {
        if values.iter().all(|c| c.to_bits() != 0) {
            found.insert(Candidate::NonNull(x()));
        } else if values.iter().all(|c| c.to_bits() == 0) {
            found.insert(Candidate::Null(x()));
        }
        return;
    }
    let numbers: BTreeSet<i128> = values.iter().filter_map(|c| number(*c, &v.ty)).collect();
    let (Some(&low), Some(&high)) = (numbers.first(), numbers.last()) else { return };
    if numbers.len() <= 4 {
        found.insert(Candidate::OneOf(x(), numbers.iter().copied().collect()));
        // Where there are more values than were seen, their sign may hold.
        if v.ty.is_signed() && low >= 0 {
            found.insert(Candidate::AtLeast(x(), i128::from(low > 0)));
        }
        return;
    }
    // Bounds that a person would state: small ones, or the sign.
    if v.ty.is_signed() && low >= 0 {
        found.insert(Candidate::AtLeast(x(), if low <= 4 { low } else { 0 }));
    } else if (-256..0).contains(&low) || !v.ty.is_signed() && (1..=256).contains(&low) {
        found.insert(Candidate::AtLeast(x(), low));
    }
    if (-256..=4096).contains(&high) {
        found.insert(Candidate::AtMost(x(), high));
    }
    for m in [10, 8, 4, 3, 2] {
        let rest: BTreeSet<i128> = numbers.iter().map(|n| n % m).collect();
        if rest.len() == 1 {
            let r = rest.first().copied().unwrap_or(0);
            found.insert(Candidate::Congruent { x: x(), m, r });
            break;
        }
    }
}

/// Returns how two variables of like types compare in the executions, if that is always the same.
pub(in crate::invariant) fn compared(x: &Observed, y: &Observed) -> BTreeSet<Candidate> {
    let mut found = BTreeSet::new();
    suggest_binary(x, y, SUPPORT, &mut found);
    found
}

fn suggest_binary(x: &Observed, y: &Observed, support: usize, found: &mut BTreeSet<Candidate>) {
    let rows: Vec<(i128, i128)> = x
        .values
        .iter()
        .zip(&y.values)
        .filter_map(|(a, b)| Some((number((*a)?, &x.ty)?, number((*b)?, &y.ty)?)))
        .collect();
    if rows.len() < support {
        return;
    }
    let (xn, yn) = (x.name.clone(), y.name.clone());
    let all = |f: &dyn Fn(&(i128, i128)) -> bool| rows.iter().all(f);
    if all(&|r| r.0 == r.1) {
        found.insert(Candidate::Same(xn, yn));
        return;
    }
    // Narrower numbers are promoted before they are computed with: modulo their own width says little.
    let is_wide = matches!(x.ty, CType::Int { bits: 32.., .. });
    if let Some((a, b)) = line(&rows).filter(|_| is_wide) {
        found.insert(Candidate::Linear { y: yn, x: xn, a, b });
        return;
    }
    if all(&|r| r.0 < r.1) {
        found.insert(Candidate::Less(xn, yn));
    } else if all(&|r| r.0 > r.1) {
        found.insert(Candidate::Less(yn, xn));
    } else if all(&|r| r.0 <= r.1) {
        found.insert(Candidate::LessEq(xn, yn));
    } else if all(&|r| r.0 >= r.1) {
        found.insert(Candidate::LessEq(yn, xn));
    } else if all(&|r| r.0 != r.1) {
        found.insert(Candidate::Different(xn, yn));
    }
}

/// Fits `y = a*x + b` with integers through two rows, and checks the others.
fn line(rows: &[(i128, i128)]) -> Option<(i128, i128)> {
    let first = rows.first()?;
    let second = rows.iter().find(|r| r.0 != first.0)?;
    let (dx, dy) = (second.0 - first.0, second.1 - first.1);
    if dy == 0 || dy % dx != 0 {
        return None;
    }
    let a = dy / dx;
    let b = first.1.checked_sub(a.checked_mul(first.0)?)?;
    (a.abs() <= 1024 && rows.iter().all(|r| a.checked_mul(r.0).and_then(|p| p.checked_add(b)) == Some(r.1)))
        .then_some((a, b))
}

#[cfg(test)]
mod tests;
