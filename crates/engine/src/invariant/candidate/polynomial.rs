//! Polynomial equations between variables: `x + y == n`, `q * b + r == a`, `2 * s == i * i - i`
//! (`docs/design/facts.md`: coefficients are solved for from executions; Rodríguez-Carbonell and Kapur,
//! 2007, and Sharma et al., ESOP 2013, for equations as the null space of the data).
//!
//! Monomials up to degree two are evaluated on the states that runs reach; a combination that is
//! always zero is a candidate. Equations are modulo the width of the variables, so that they are
//! shown by rewriting polynomials alone: what an iteration makes of one must be a combination of those
//! that held before.

use crate::invariant::candidate::observed::{Observed, number};
use crate::invariant::proof::abstraction;
use crate::ir::{CType, Op, TermId, TermPool};
use std::collections::{BTreeMap, BTreeSet};

/// Variables that take part, terms of an equation, and the largest coefficient.
const MAX_VARIABLES: usize = 5;
const MAX_TERMS: usize = 4;
const MAX_COEFFICIENT: i128 = 64;
/// Values beyond this may have wrapped around.
const SMALL: i128 = 30_000;
/// Values of a variable that are too few.
const FEW_VALUES: usize = 4;
/// States beyond the number of unknowns that must agree.
const SPARE_ROWS: usize = 2;
/// Monomials of an expanded term.
const MAX_MONOMIALS: usize = 48;
/// Conditions that are decided to take a term apart.
const MAX_SPLITS: usize = 4;
/// Most equations that are suggested.
const MAX_SUGGESTED: usize = 10;

/// That a sum of products is zero, modulo the width of the variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Equation {
    /// Products of variables, with their coefficients; the product of none is 1.
    terms: Vec<(Vec<String>, i128)>,
}

impl Equation {
    pub fn variables(&self) -> Vec<&str> {
        let names: BTreeSet<&str> =
            self.terms.iter().flat_map(|(xs, _)| xs.iter().map(String::as_str)).collect();
        names.into_iter().collect()
    }

    /// The equation of other names for the same values; `None` where one has none.
    pub(in crate::invariant) fn renamed(&self, name: &dyn Fn(&str) -> Option<String>) -> Option<Equation> {
        let renamed = |(xs, c): &(Vec<String>, i128)| {
            let names: Option<Vec<String>> = xs.iter().map(|x| name(x)).collect();
            Some((names?, *c))
        };
        Some(Equation { terms: self.terms.iter().map(renamed).collect::<Option<_>>()? })
    }

    /// Both sides with positive coefficients only.
    fn sides(&self) -> [Vec<(&[String], i128)>; 2] {
        let side = |sign: i128| -> Vec<(&[String], i128)> {
            let mut terms: Vec<(&[String], i128)> = self
                .terms
                .iter()
                .filter(|(_, c)| c.signum() == sign)
                .map(|(xs, c)| (xs.as_slice(), c.abs()))
                .collect();
            terms.sort_by_key(|(xs, _)| std::cmp::Reverse(xs.len()));
            terms
        };
        let (a, b) = (side(1), side(-1));
        // The longer side first reads better: `q * b + r == a`.
        if a.len() >= b.len() { [a, b] } else { [b, a] }
    }

    pub fn text(&self) -> String {
        let product = |(xs, c): &(&[String], i128)| {
            // `*q * b` rather than `b * *q`.
            let mut xs: Vec<&str> = xs.iter().map(String::as_str).collect();
            xs.sort_by_key(|x| !x.starts_with('*'));
            match (xs.is_empty(), *c) {
                (true, c) => c.to_string(),
                (false, 1) => xs.join(" * "),
                (false, c) => format!("{c} * {}", xs.join(" * ")),
            }
        };
        let sum = |terms: &Vec<(&[String], i128)>| match terms.is_empty() {
            true => "0".to_owned(),
            false => terms.iter().map(product).collect::<Vec<_>>().join(" + "),
        };
        let [left, right] = self.sides();
        format!("{} == {}", sum(&left), sum(&right))
    }

    /// Whether the equation holds of some numbers; `None` when one is missing.
    pub fn holds(&self, value: &dyn Fn(&str) -> Option<(i128, u16)>) -> Option<bool> {
        let (mut sum, mut width) = (0i128, 128);
        for (xs, c) in &self.terms {
            let mut product = *c;
            for x in xs {
                let (v, w) = value(x)?;
                width = width.min(w);
                product = product.wrapping_mul(v);
            }
            sum = sum.wrapping_add(product);
        }
        Some(width >= 128 && sum == 0 || sum & ((1i128 << width.min(126)) - 1) == 0)
    }

    pub fn term(
        &self,
        pool: &mut TermPool,
        value: &dyn Fn(&str) -> Option<(TermId, CType)>,
    ) -> Option<TermId> {
        let mut sides = Vec::new();
        let mut width = None;
        for x in self.variables() {
            let bits = pool.sort(value(x)?.0).bits()?;
            if *width.get_or_insert(bits) != bits {
                return None;
            }
        }
        let width = width?;
        for side in self.sides() {
            let mut sum = pool.bv(width, 0);
            for (xs, c) in side {
                let mut product = pool.bv(width, c);
                for x in xs {
                    let (t, _) = value(x)?;
                    product = pool.op(Op::Mul, &[product, t]);
                }
                sum = pool.op(Op::Add, &[sum, product]);
            }
            sides.push(sum);
        }
        let &[a, b] = sides.as_slice() else { return None };
        Some(pool.eq(a, b))
    }
}

/// Arithmetic modulo a prime, which stands for that of rationals.
mod field {
    const P: i128 = (1 << 61) - 1;

    pub fn of(x: i128) -> i128 {
        x.rem_euclid(P)
    }

    pub fn times(a: i128, b: i128) -> i128 {
        a * b % P
    }

    pub fn inverse(a: i128) -> i128 {
        let (mut result, mut base, mut e) = (1, a, P - 2);
        while e > 0 {
            if e & 1 == 1 {
                result = times(result, base);
            }
            base = times(base, base);
            e >>= 1;
        }
        result
    }

    /// The fraction of small numbers that an element stands for.
    pub fn fraction(a: i128, limit: i128) -> Option<(i128, i128)> {
        (1..=limit).find_map(|d| {
            let n = times(a, d);
            let n = if n > P / 2 { n - P } else { n };
            (n.abs() <= limit).then_some((n, d))
        })
    }
}

/// Returns the equations that hold in all rows, simple ones first.
pub fn suggest(vars: &[Observed]) -> Vec<Equation> {
    // Narrower numbers are promoted before they are computed with.
    let Some(first) = vars.iter().find(|v| matches!(v.ty, CType::Int { bits: 32.., .. })) else {
        return Vec::new();
    };
    let bits =
        |ty: &CType| if let CType::Int { bits, signed, .. } = ty { Some((*bits, *signed)) } else { None };
    // A variable of few values solves many equations that say nothing.
    let varies = |v: &&Observed| v.values.iter().flatten().collect::<BTreeSet<_>>().len() > FEW_VALUES;
    let mut alike: Vec<&Observed> =
        vars.iter().filter(|v| bits(&v.ty) == bits(&first.ty)).filter(varies).collect();
    if alike.len() <= MAX_VARIABLES {
        return suggest_among(&alike);
    }
    // Too many for one system: variables, then places in memory, each beside what they are made of.
    let is_place = |v: &&Observed| v.name.contains(['*', '>', '.', '[']);
    let mut found = Vec::new();
    for places_first in [false, true] {
        alike.sort_by_key(|v| is_place(v) != places_first);
        for equation in suggest_among(&alike[..MAX_VARIABLES]) {
            if found.len() < MAX_SUGGESTED && !found.contains(&equation) {
                found.push(equation);
            }
        }
    }
    found
}

/// The same among a few variables of one type.
fn suggest_among(alike: &[&Observed]) -> Vec<Equation> {
    let Some(first) = alike.first().filter(|_| alike.len() >= 2) else { return Vec::new() };
    let rows: BTreeSet<Vec<i128>> = (0..first.values.len())
        .filter_map(|r| {
            let value = |v: &&Observed| v.values.get(r).copied().flatten().and_then(|c| number(c, &v.ty));
            let row: Option<Vec<i128>> = alike.iter().map(value).collect();
            row.filter(|row| row.iter().all(|v| v.abs() <= SMALL))
        })
        .collect();
    let rows: Vec<Vec<i128>> = rows.into_iter().collect();
    let mut dependent: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for degree in [1, 2] {
        let free: Vec<usize> = (0..alike.len()).filter(|i| !dependent.contains(i)).collect();
        let mut monomials: Vec<Vec<usize>> = vec![vec![]];
        monomials.extend(free.iter().map(|&i| vec![i]));
        if degree == 2 {
            for (n, &i) in free.iter().enumerate() {
                monomials.extend(free[n..].iter().map(|&j| vec![i, j]));
            }
        }
        for solution in null_space(&rows, &monomials) {
            let names = |m: &Vec<usize>| m.iter().map(|&i| alike[i].name.clone()).collect::<Vec<_>>();
            let used: BTreeSet<usize> = solution.iter().flat_map(|(m, _)| monomials[*m].clone()).collect();
            if degree == 1 {
                dependent.extend(used.last());
            }
            let terms: Vec<(Vec<String>, i128)> =
                solution.iter().map(|&(m, c)| (names(&monomials[m]), c)).collect();
            // Two variables and a constant are another template's.
            let plain = degree == 1 && used.len() < 3;
            if !plain && terms.len() <= MAX_TERMS && found.len() < MAX_SUGGESTED {
                found.push(Equation { terms });
            }
        }
    }
    found
}

/// Combinations of monomials, by index with coefficients, that are zero in all rows.
pub(super) fn null_space(rows: &[Vec<i128>], monomials: &[Vec<usize>]) -> Vec<Vec<(usize, i128)>> {
    if rows.len() < monomials.len() + SPARE_ROWS {
        return Vec::new();
    }
    let exact = |row: &Vec<i128>, m: &Vec<usize>| m.iter().map(|&i| row[i]).product::<i128>();
    let mut matrix: Vec<Vec<i128>> =
        rows.iter().map(|r| monomials.iter().map(|m| field::of(exact(r, m))).collect()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..monomials.len() {
        let rank = pivots.len();
        let Some(at) = (rank..matrix.len()).find(|&r| matrix[r][column] != 0) else { continue };
        matrix.swap(rank, at);
        let scale = field::inverse(matrix[rank][column]);
        let pivot: Vec<i128> = matrix[rank].iter().map(|v| field::times(*v, scale)).collect();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(r, _)| *r != rank) {
            let factor = row[column];
            if factor != 0 {
                row.iter_mut().zip(&pivot).for_each(|(v, p)| *v = field::of(*v - field::times(factor, *p)));
            }
        }
        matrix[rank] = pivot;
        pivots.push(column);
    }
    let mut found = Vec::new();
    for free in (0..monomials.len()).filter(|c| !pivots.contains(c)) {
        let fractions: Option<Vec<(usize, i128, i128)>> = pivots
            .iter()
            .enumerate()
            .filter(|(r, _)| matrix[*r][free] != 0)
            .map(|(r, &c)| {
                field::fraction(field::of(-matrix[r][free]), MAX_COEFFICIENT).map(|(n, d)| (c, n, d))
            })
            .collect();
        let Some(fractions) = fractions else { continue };
        let common = fractions.iter().map(|(_, _, d)| *d).fold(1, |a, b| a / gcd(a, b) * b);
        let mut solution: Vec<(usize, i128)> =
            fractions.iter().map(|&(c, n, d)| (c, n * (common / d))).collect();
        solution.push((free, common));
        let zero =
            |row: &Vec<i128>| solution.iter().map(|&(m, c)| c * exact(row, &monomials[m])).sum::<i128>() == 0;
        if rows.iter().all(zero) && solution.iter().all(|(_, c)| c.abs() <= MAX_COEFFICIENT) {
            found.push(solution);
        }
    }
    found
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs().max(1) } else { gcd(b, a % b) }
}

/// A polynomial over terms, modulo 2^width: products of terms with coefficients that are not zero.
type Polynomial = BTreeMap<Vec<TermId>, u128>;

/// Shows equations from equations.
pub struct Prover {
    width: u16,
    /// Equations with the product that each is solved for, whose coefficient is odd.
    known: Vec<(Vec<TermId>, Polynomial)>,
}

impl Prover {
    /// Takes those of the conditions that are equations of bit-vectors of one width.
    pub fn new(pool: &TermPool, width: u16, conditions: &[TermId]) -> Prover {
        let mut prover = Prover { width, known: Vec::new() };
        for &c in conditions {
            let Some(&[a, b]) = pool.as_op(c, Op::Eq) else { continue };
            if pool.sort(a).bits() != Some(width) {
                continue;
            }
            let Some(p) = prover.difference(pool, a, b) else { continue };
            let p = prover.reduced(p);
            // One of the longest products that can be solved for.
            let odd = p.iter().filter(|(_, c)| **c == 1 || **c == prover.mask()).map(|(m, _)| m.clone());
            if let Some(leading) = odd.max_by_key(|m| m.len()) {
                prover.known.push((leading, p));
            }
        }
        prover
    }

    fn mask(&self) -> u128 {
        if self.width >= 128 { u128::MAX } else { (1 << self.width) - 1 }
    }

    /// Whether an equation follows; conditions inside it are taken apart.
    pub fn shows(&self, pool: &mut TermPool, goal: TermId) -> bool {
        self.shows_below(pool, goal, 0)
    }

    fn shows_below(&self, pool: &mut TermPool, goal: TermId, depth: usize) -> bool {
        if let Some(k) = pool.as_const(goal).and_then(|c| c.as_bool()) {
            return k;
        }
        let condition = pool
            .reachable(&[goal])
            .into_iter()
            .find_map(|t| pool.as_op(t, Op::Ite).and_then(|args| args.first().copied()));
        if let Some(c) = condition {
            if depth >= MAX_SPLITS {
                return false;
            }
            let not = pool.not(c);
            let (yes, no) = (abstraction::under(pool, goal, c), abstraction::under(pool, goal, not));
            return self.shows_below(pool, yes, depth + 1) && self.shows_below(pool, no, depth + 1);
        }
        let Some(&[a, b]) = pool.as_op(goal, Op::Eq) else { return false };
        self.difference(pool, a, b).is_some_and(|p| self.reduced(p).is_empty())
    }

    fn difference(&self, pool: &TermPool, a: TermId, b: TermId) -> Option<Polynomial> {
        let (mut p, q) = (self.expanded(pool, a, 0)?, self.expanded(pool, b, 0)?);
        for (m, c) in q {
            self.add(&mut p, m, c.wrapping_neg());
        }
        Some(p)
    }

    fn add(&self, p: &mut Polynomial, m: Vec<TermId>, c: u128) {
        let sum = p.get(&m).copied().unwrap_or(0).wrapping_add(c) & self.mask();
        if sum == 0 {
            p.remove(&m);
        } else {
            p.insert(m, sum);
        }
    }

    /// The polynomial that a term is.
    fn expanded(&self, pool: &TermPool, t: TermId, depth: usize) -> Option<Polynomial> {
        if depth > 40 {
            return None;
        }
        if let Some(c) = pool.as_const(t) {
            let mut p = Polynomial::new();
            self.add(&mut p, Vec::new(), c.to_bits());
            return Some(p);
        }
        if let Some(args) = pool.as_op(t, Op::Add) {
            let mut sum = Polynomial::new();
            for a in args.iter().copied() {
                for (m, c) in self.expanded(pool, a, depth + 1)? {
                    self.add(&mut sum, m, c);
                }
            }
            return (sum.len() <= MAX_MONOMIALS).then_some(sum);
        }
        if let Some(&[a, b]) = pool.as_op(t, Op::Mul) {
            let (p, q) = (self.expanded(pool, a, depth + 1)?, self.expanded(pool, b, depth + 1)?);
            let mut product = Polynomial::new();
            for (m, c) in &p {
                for (n, d) in &q {
                    let mut mn: Vec<TermId> = m.iter().chain(n).copied().collect();
                    mn.sort_unstable();
                    self.add(&mut product, mn, c.wrapping_mul(*d));
                }
            }
            return (product.len() <= MAX_MONOMIALS).then_some(product);
        }
        Some(Polynomial::from([(vec![t], 1)]))
    }

    /// What is left of a polynomial when the known equations are used.
    fn reduced(&self, mut p: Polynomial) -> Polynomial {
        for (leading, equation) in &self.known {
            let (Some(&c), Some(&l)) = (p.get(leading), equation.get(leading)) else { continue };
            // The leading coefficient is 1 or -1.
            let factor = if l == 1 { c.wrapping_neg() } else { c };
            for (m, d) in equation {
                self.add(&mut p, m.clone(), factor.wrapping_mul(*d));
            }
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Const;

    fn check(columns: &[(&str, &[i128])], expected: &[&str]) {
        let ty = CType::Int { bits: 32, signed: true, name: "int".into() };
        let vars: Vec<Observed> = columns
            .iter()
            .map(|(name, values)| Observed {
                name: (*name).into(),
                ty: ty.clone(),
                values: values.iter().map(|v| Some(Const::bv(32, *v))).collect(),
            })
            .collect();
        let found: Vec<String> = suggest(&vars).iter().map(Equation::text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equations_are_solved_for() {
        let i: Vec<i128> = (0..24).collect();
        let s: Vec<i128> = i.iter().map(|i| i * (i - 1) / 2).collect();
        check(&[("i", &i), ("s", &s)], &["i + 2 * s == i * i"]);
        let (mut a, mut b, mut q, mut r) = (vec![], vec![], vec![], vec![]);
        for k in 0..60 {
            let (x, y, z) = ((k * 7) % 13, 1 + (k * 5) % 9, (k * 3) % 7);
            b.push(y);
            q.push(x);
            r.push(z);
            a.push(x * y + z);
        }
        check(&[("a", &a), ("b", &b), ("q", &q), ("r", &r)], &["b * q + r == a"]);
        let n: Vec<i128> = i.iter().map(|i| (i * 5) % 11).collect();
        let y: Vec<i128> = i.iter().zip(&n).map(|(i, n)| n - i).collect();
        check(&[("n", &n), ("x", &i), ("y", &y)], &["x + y == n"]);
    }

    #[test]
    fn equations_follow_from_equations() {
        let mut pool = TermPool::new();
        let leaf = |pool: &mut TermPool, name: &str| {
            pool.leaf(crate::ir::Leaf::Param { name: name.into(), sort: crate::ir::Sort::Bv(32) })
        };
        let [a, b, q, r] = ["a", "b", "q", "r"].map(|x| leaf(&mut pool, x));
        let value = |pool: &mut TermPool, q, r| {
            let product = pool.op(Op::Mul, &[q, b]);
            let sum = pool.op(Op::Add, &[product, r]);
            pool.eq(sum, a)
        };
        let before = value(&mut pool, q, r);
        let one = pool.bv(32, 1);
        let (more, less) = (pool.op(Op::Add, &[q, one]), pool.op(Op::Sub, &[r, b]));
        let after = value(&mut pool, more, less);
        let wrong = value(&mut pool, more, r);
        let prover = Prover::new(&pool, 32, &[before]);
        assert!(prover.shows(&mut pool, after));
        assert!(!prover.shows(&mut pool, wrong));
    }

    /// `2 * x * y + x == 3`, modulo the width.
    fn equation() -> Equation {
        let of = |names: &[&str], c| (names.iter().map(|x| (*x).to_owned()).collect(), c);
        Equation { terms: vec![of(&["x", "y"], 2), of(&["x"], 1), of(&[], -3)] }
    }

    #[test]
    fn both_sides_have_positive_coefficients() {
        assert_eq!(equation().text(), "2 * x * y + x == 3");
        let of = |names: &[&str], c| (names.iter().map(|x| (*x).to_owned()).collect(), c);
        let stored = Equation { terms: vec![of(&["b", "*q"], 1), of(&["a"], -1), of(&["*r"], 1)] };
        assert_eq!(stored.text(), "*q * b + *r == a");
        assert_eq!(Equation { terms: vec![of(&["x"], 2)] }.text(), "2 * x == 0");
    }

    #[test]
    fn the_term_of_an_equation_says_what_it_is_on_rows() {
        let ty = CType::Int { bits: 4, signed: true, name: "".into() };
        let mut met = 0;
        for (x, y) in (-8..8).flat_map(|x| (-8..8).map(move |y| (x, y))) {
            let mut pool = TermPool::new();
            let (tx, ty_of_y) = (pool.bv(4, x), pool.bv(4, y));
            let value = |n: &str| Some((if n == "x" { tx } else { ty_of_y }, ty.clone()));
            let t = equation().term(&mut pool, &value).expect("a term");
            let holds = equation().holds(&|n| Some((if n == "x" { x } else { y }, 4)));
            assert_eq!(pool.as_const(t).and_then(Const::as_bool), holds, "{x} {y}");
            met += usize::from(holds == Some(true));
        }
        assert!(met > 0, "it holds somewhere");
    }

    #[test]
    fn an_equation_needs_all_its_values() {
        assert_eq!(equation().holds(&|n| (n == "x").then_some((1, 32))), None);
        assert_eq!(equation().variables(), ["x", "y"]);
        let mut pool = TermPool::new();
        let (narrow, wide) = (pool.bv(8, 1), pool.bv(32, 1));
        let ty = CType::Int { bits: 32, signed: true, name: "".into() };
        let value = |n: &str| Some((if n == "x" { narrow } else { wide }, ty.clone()));
        assert_eq!(equation().term(&mut pool, &value), None, "of two widths");
    }

    #[test]
    fn an_equation_is_renamed_as_a_whole() {
        let renamed = equation().renamed(&|x| Some(format!("{x}1")));
        assert_eq!(renamed.map(|e| e.text()).as_deref(), Some("2 * x1 * y1 + x1 == 3"));
        assert_eq!(equation().renamed(&|x| (x == "x").then(|| "a".to_owned())), None);
    }

    #[test]
    fn fractions_come_back_from_the_field() {
        for (n, d) in [(1, 2), (-3, 4), (5, 1), (-64, 63), (0, 1)] {
            let element = field::times(field::of(n), field::inverse(field::of(d)));
            assert_eq!(field::fraction(element, MAX_COEFFICIENT), Some((n, d)));
        }
        assert_eq!(field::fraction(field::of(1_000), MAX_COEFFICIENT), None);
    }

    #[test]
    fn equations_need_spare_rows_and_small_numbers() {
        let x: Vec<i128> = (0..6).map(|k| (k * 5) % 11).collect();
        let y: Vec<i128> = (0..6).map(|k| (k * 3) % 7).collect();
        let sum = |n: usize, by: i128| -> Vec<Vec<i128>> {
            let both: Vec<i128> = x.iter().zip(&y).map(|(x, y)| x + y + by).collect();
            [x.clone(), y.clone(), both].into_iter().map(|c| c[..n].to_vec()).collect()
        };
        let check_sum = |n, by, expected: &[&str]| {
            let columns = sum(n, by);
            check(&[("x", &columns[0]), ("y", &columns[1]), ("z", &columns[2])], expected);
        };
        check_sum(6, 0, &["x + y == z"]);
        check_sum(5, 0, &[]);
        check_sum(6, SMALL, &[]);
    }

    #[test]
    fn what_a_condition_decides_is_shown_case_by_case() {
        let mut pool = TermPool::new();
        let leaf = |pool: &mut TermPool, name: &str, sort| {
            pool.leaf(crate::ir::Leaf::Param { name: name.into(), sort })
        };
        let bv = crate::ir::Sort::Bv(32);
        let (x, y) = (leaf(&mut pool, "x", bv), leaf(&mut pool, "y", bv));
        let c = leaf(&mut pool, "c", crate::ir::Sort::Bool);
        let one = pool.bv(32, 1);
        let more = pool.op(Op::Add, &[x, one]);
        let known = pool.eq(x, y);
        let (either, other) = (pool.ite(c, x, y), pool.ite(c, x, more));
        let (follows, open) = (pool.eq(either, y), pool.eq(other, y));
        let prover = Prover::new(&pool, 32, &[known]);
        assert!(prover.shows(&mut pool, follows));
        assert!(!prover.shows(&mut pool, open));
        let narrow = Prover::new(&pool, 16, &[known]);
        assert!(!narrow.shows(&mut pool, follows), "conditions of another width are not taken");
    }
}
