//! Unknowns of templates (`?a * x + ?b * y == ?c`, `x % ? == ?`, `x <= ?`), fitted from executions.
//!
//! Three shapes, as the built-in templates have them (`docs/design/facts.md`; Ernst et al., Daikon, SCP 69, 2007):
//! an equation that is linear in its unknowns, whose coefficients are the null space of the data (module
//! `polynomial`); a remainder, whose modulus is the greatest common divisor of the differences of the values; and a
//! bound, which is the largest or smallest value. A number that executions suggest is a candidate, and no more.

use crate::fact::{Binary, Expression, Integer, Kind, ParseError, Unary};
use crate::invariant::candidate::observed::SUPPORT;
use crate::invariant::candidate::polynomial::{gcd, null_space};
use std::collections::BTreeSet;

/// The values of names in one execution.
pub(in crate::invariant) type Row<'r> = Box<dyn Fn(&str) -> Option<i128> + 'r>;

/// Beyond these a value may have wrapped around, and a bound is none that a person would state.
const SMALL: i128 = 30_000;
const FAR: i128 = 4096;
/// Values that are too few to tell a remainder from, and most solutions of an equation.
const FEW_VALUES: usize = 4;
const MOST_SOLUTIONS: usize = 3;
const MAX_UNKNOWNS: usize = 5;

pub(super) fn is_unknown(e: &Expression) -> bool {
    matches!(&e.kind, Kind::Name(n) if n.starts_with('?'))
}

pub(super) fn has_unknown(e: &Expression) -> bool {
    e.any(&is_unknown)
}

/// What the unknowns of a template are.
enum Shape<'t> {
    /// Products of an unknown each with an expression, and the rest, whose sum is zero.
    Equation(Vec<(&'t str, Vec<Signed<'t>>)>, Vec<Signed<'t>>),
    Remainder {
        of: &'t Expression,
        modulus: &'t Expression,
        rest: &'t Expression,
    },
    Bound {
        of: &'t Expression,
        unknown: &'t str,
        is_upper: bool,
        is_strict: bool,
    },
}

/// A product, and whether it is subtracted.
type Signed<'t> = (bool, Vec<&'t Expression>);

const ADVICE: &str =
    "An unknown is a term or a factor of an equation, a modulus or its remainder, or a bound by itself";

/// Whether the unknowns stand where executions can tell what they are.
///
/// Errors: the column of one that does not.
pub(super) fn check(tree: &Expression) -> Result<(), ParseError> {
    if !has_unknown(tree) || shape(tree).is_some() {
        return Ok(());
    }
    let mut first = 0;
    tree.each(&mut |e| {
        if first == 0 && is_unknown(e) {
            first = e.span.start + 1;
        }
    });
    Err(ParseError { offset: first.saturating_sub(1), message: ADVICE.into() })
}

fn shape(tree: &Expression) -> Option<Shape<'_>> {
    let (op, left, right) = tree.comparison()?;
    if op == Binary::Eq
        && let Kind::Binary(Binary::Rem, of, modulus) = &left.kind
    {
        let number = |e: &Expression| is_unknown(e) || e.number().is_some();
        let fits = !has_unknown(of) && number(modulus) && number(right);
        return fits.then_some(Shape::Remainder { of, modulus, rest: right });
    }
    if op == Binary::Eq {
        let mut products = Vec::new();
        terms(left, false, &mut products);
        terms(right, true, &mut products);
        let mut unknowns: Vec<(&str, Vec<Signed>)> = Vec::new();
        let mut rest = Vec::new();
        for (minus, factors) in products {
            let (named, others): (Vec<&Expression>, Vec<&Expression>) =
                factors.into_iter().partition(|f| is_unknown(f));
            if others.iter().any(|f| has_unknown(f)) || named.len() > 1 {
                return None;
            }
            let Some(Kind::Name(name)) = named.first().map(|e| &e.kind) else {
                rest.push((minus, others));
                continue;
            };
            match unknowns.iter_mut().find(|(n, _)| n == name) {
                Some((_, all)) => all.push((minus, others)),
                None => unknowns.push((name, vec![(minus, others)])),
            }
        }
        return (unknowns.len() <= MAX_UNKNOWNS).then_some(Shape::Equation(unknowns, rest));
    }
    let (of, bound, op) = if is_unknown(right) { (left, right, op) } else { (right, left, op.turned()?) };
    let Kind::Name(unknown) = &bound.kind else { return None };
    let is_upper = matches!(op, Binary::Lt | Binary::Le);
    let is_order = is_upper || matches!(op, Binary::Gt | Binary::Ge);
    let is_strict = matches!(op, Binary::Lt | Binary::Gt);
    let fits = is_order && is_unknown(bound) && !has_unknown(of);
    fits.then_some(Shape::Bound { of, unknown, is_upper, is_strict })
}

/// The terms of a sum as products.
fn terms<'t>(e: &'t Expression, minus: bool, found: &mut Vec<Signed<'t>>) {
    match &e.kind {
        Kind::Binary(Binary::Add, a, b) => {
            terms(a, minus, found);
            terms(b, minus, found);
        }
        Kind::Binary(Binary::Sub, a, b) => {
            terms(a, minus, found);
            terms(b, !minus, found);
        }
        Kind::Unary(Unary::Minus, a) => terms(a, !minus, found),
        _ => found.push((minus, e.chain(Binary::Mul))),
    }
}

/// The value of an expression, not modulo anything; `None`: a name has none, or it is not made of sums, products and
/// remainders.
fn value(e: &Expression, row: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
    match &e.kind {
        Kind::Name(n) if n != "NULL" => row(n),
        Kind::Unary(Unary::Minus, a) => value(a, row)?.checked_neg(),
        Kind::Binary(op, a, b) => {
            let (a, b) = (value(a, row)?, value(b, row)?);
            match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                Binary::Mul => a.checked_mul(b),
                Binary::Div => a.checked_div(b),
                Binary::Rem => a.checked_rem(b),
                _ => None,
            }
        }
        _ => e.number(),
    }
}

fn sum(products: &[Signed], row: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
    products.iter().try_fold(0i128, |all, (minus, factors)| {
        let product = factors.iter().try_fold(1i128, |p, f| p.checked_mul(value(f, row)?))?;
        if *minus { all.checked_sub(product) } else { all.checked_add(product) }
    })
}

/// The instances of a template, with names for places, that all rows suggest.
pub(super) fn fit(tree: &Expression, rows: &[Row]) -> Vec<Expression> {
    match shape(tree) {
        Some(Shape::Equation(unknowns, rest)) => equations(tree, &unknowns, &rest, rows),
        Some(Shape::Remainder { of, modulus, rest }) => {
            remainder(of, (modulus, rest), rows).map(|known| with(tree, &known)).into_iter().collect()
        }
        Some(Shape::Bound { of, unknown, is_upper, is_strict }) => {
            let values: Vec<i128> = rows.iter().filter_map(|r| value(of, &**r)).collect();
            let far = if is_upper { values.iter().max() } else { values.iter().min() };
            let Some(&far) = far.filter(|n| n.abs() < FAR && values.len() >= SUPPORT) else {
                return Vec::new();
            };
            let step = i128::from(is_strict) * if is_upper { 1 } else { -1 };
            vec![with(tree, &[(unknown.to_owned(), far + step)])]
        }
        None => Vec::new(),
    }
}

fn equations(
    tree: &Expression,
    unknowns: &[(&str, Vec<Signed>)],
    rest: &[Signed],
    rows: &[Row],
) -> Vec<Expression> {
    let has_rest = !rest.iter().all(|(_, f)| f.iter().any(|e| e.number() == Some(0)));
    let row = |r: &Row| -> Option<Vec<i128>> {
        let mut all = unknowns.iter().map(|(_, e)| sum(e, &**r)).collect::<Option<Vec<i128>>>()?;
        if has_rest {
            all.push(sum(rest, &**r)?);
        }
        all.iter().all(|v| v.abs() <= SMALL).then_some(all)
    };
    let data: BTreeSet<Vec<i128>> = rows.iter().filter_map(row).collect();
    let data: Vec<Vec<i128>> = data.into_iter().collect();
    let columns: Vec<Vec<usize>> = (0..unknowns.len() + usize::from(has_rest)).map(|i| vec![i]).collect();
    let mut found = Vec::new();
    for solution in null_space(&data, &columns) {
        let of = |i: usize| solution.iter().find(|(m, _)| *m == i).map_or(0, |(_, c)| *c);
        // What stands without an unknown stands once.
        let scale = if has_rest { of(unknowns.len()) } else { 1 };
        if scale == 0 || (0..unknowns.len()).any(|i| of(i) % scale != 0) {
            continue;
        }
        let known: Vec<(String, i128)> =
            unknowns.iter().enumerate().map(|(i, (n, _))| ((*n).to_owned(), of(i) / scale)).collect();
        let positive = |k: &[(String, i128)]| k.iter().find(|(_, c)| *c != 0).is_none_or(|(_, c)| *c > 0);
        let known = match has_rest || positive(&known) {
            true => known,
            false => known.into_iter().map(|(n, c)| (n, -c)).collect(),
        };
        if found.len() < MOST_SOLUTIONS {
            found.push(with(tree, &known));
        }
    }
    found
}

fn remainder(
    of: &Expression,
    (modulus, rest): (&Expression, &Expression),
    rows: &[Row],
) -> Option<Vec<(String, i128)>> {
    let values: BTreeSet<i128> = rows.iter().filter_map(|r| value(of, &**r)).collect();
    let first = *values.first().filter(|_| values.len() > FEW_VALUES)?;
    let name = |e: &Expression| match &e.kind {
        Kind::Name(n) => Some(n.clone()),
        _ => None,
    };
    let m = match modulus.number() {
        Some(m) => m,
        None => values.iter().fold(0, |m, v| if *v == first { m } else { gcd(v - first, m) }),
    };
    let r = first.checked_rem(m).filter(|_| (2..=FAR).contains(&m))?;
    let holds = values.iter().all(|v| v % m == r) && rest.number().is_none_or(|n| n == r);
    holds.then(|| {
        [(name(modulus), m), (name(rest), r)].into_iter().filter_map(|(n, k)| Some((n?, k))).collect()
    })
}

fn number(n: i128) -> Expression {
    let plain = Expression::new(Kind::Integer(Integer {
        value: u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX),
        unsigned: false,
        longs: 0,
        hexadecimal: false,
    }));
    if n < 0 { Expression::new(Kind::Unary(Unary::Minus, plain.into())) } else { plain }
}

/// The template with numbers for unknowns, written as a person would: `x - 2 * y`, not `1 * x + -2 * y`.
fn with(e: &Expression, known: &[(String, i128)]) -> Expression {
    if let Kind::Name(name) = &e.kind {
        return known.iter().find(|(n, _)| n == name).map_or_else(|| e.clone(), |(_, k)| number(*k));
    }
    let of = |e: &Expression| Box::new(with(e, known));
    let minus = |e: Expression| Expression::new(Kind::Unary(Unary::Minus, e.into()));
    match &e.kind {
        Kind::Unary(op, a) => Expression::new(Kind::Unary(*op, of(a))),
        Kind::Binary(op @ (Binary::Mul | Binary::Add | Binary::Sub), a, b) => {
            let (a, b) = (*of(a), *of(b));
            let taken = match &b.kind {
                Kind::Unary(Unary::Minus, inner) => Some((**inner).clone()),
                Kind::Binary(Binary::Mul, k, x) => k
                    .number()
                    .filter(|k| *k < 0)
                    .map(|k| Expression::binary(Binary::Mul, number(-k), (**x).clone())),
                _ => None,
            };
            match (op, a.number(), b.number(), taken) {
                (Binary::Mul, Some(0), ..) | (Binary::Mul, _, Some(0), _) => number(0),
                (Binary::Mul, Some(1), ..) | (Binary::Add, Some(0), ..) => b,
                (Binary::Mul, _, Some(1), _) | (Binary::Add | Binary::Sub, _, Some(0), _) => a,
                (Binary::Mul, Some(-1), ..) => minus(b),
                (Binary::Add, _, _, Some(taken)) => Expression::binary(Binary::Sub, a, taken),
                (Binary::Sub, _, _, Some(taken)) => Expression::binary(Binary::Add, a, taken),
                _ => Expression::binary(*op, a, b),
            }
        }
        Kind::Binary(op, a, b) => Expression::new(Kind::Binary(*op, of(a), of(b))),
        other => Expression::new(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::parse_template;

    /// Fits a template to rows of `x` and `y`.
    #[track_caller]
    fn check(template: &str, rows: &[(i128, i128)], expected: &[&str]) {
        let tree = parse_template(template).expect(template);
        assert_eq!(super::check(&tree), Ok(()), "{template}");
        let rows: Vec<Row> = rows
            .iter()
            .map(|&(x, y)| -> Row {
                Box::new(move |n| match n {
                    "x" => Some(x),
                    "y" => Some(y),
                    _ => None,
                })
            })
            .collect();
        let found: Vec<String> = fit(&tree, &rows).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{template}");
    }

    #[test]
    fn equations_have_the_coefficients_of_the_data() {
        let line: Vec<(i128, i128)> = (0..12).map(|x| (x, 3 * x - 2)).collect();
        check("?a * x + ?b * y == ?c", &line, &["3 * x - y == 2"]);
        check("y == ?a * x + ?b", &line, &["y == 3 * x - 2"]);
        check("y == ?a * x", &line, &[]);
        check("2 * y == ?a * x + ?", &line, &["2 * y == 6 * x - 4"]);
        let square: Vec<(i128, i128)> = (-5..9).map(|x| (x, x * x)).collect();
        check("y == ?a * x * x + ?b * x + ?c", &square, &["y == x * x"]);
        check("?a * x + ?b * y == ?c", &square, &[]);
        check("?a * x + ?b * y == ?c", &line[..2], &[]);
    }

    #[test]
    fn remainders_and_bounds_are_those_of_the_data() {
        let rows: Vec<(i128, i128)> = (0..12).map(|k| (6 * k + 1, k)).collect();
        check("x % ? == ?", &rows, &["x % 6 == 1"]);
        check("x % 3 == ?", &rows, &["x % 3 == 1"]);
        check("x % ? == 1", &rows, &["x % 6 == 1"]);
        check("x % ? == 0", &rows, &[]);
        check("y % ? == ?", &rows, &[]);
        check("y <= ?", &rows, &["y <= 11"]);
        check("y < ?", &rows, &["y < 12"]);
        check("?low <= x - y", &rows, &["1 <= x - y"]);
        check("y <= ?", &rows[..3], &[]);
    }

    #[test]
    fn unknowns_elsewhere_are_refused() {
        for (text, column) in
            [("?a * ?b == x", 1), ("x != ?", 6), ("x / ? == y", 5), ("x <= ? + y", 6), ("x + ?k <= y", 5)]
        {
            let error = super::check(&parse_template(text).expect(text)).expect_err(text);
            assert_eq!(error.offset + 1, column, "{text}");
        }
    }
}
