//! Which invariants of each family hold of all rows, and are justified.

use super::confidence;
use super::shape::{Operator, Relation, Shape};
use super::table::{Kind, Table};
use std::collections::{BTreeMap, BTreeSet};

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Least confidence.
    pub confidence: f64,
    /// Values of a set.
    pub set: usize,
    /// Variables of a point up to which three are looked at together.
    pub triples: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { confidence: 0.95, set: 3, triples: 12 }
    }
}

/// Largest modulus, and largest factor of a linear invariant.
const MAX_MODULUS: i128 = 64;
const MAX_FACTOR: i128 = 1 << 20;
/// Most numbers of a bound and of a constant in a linear invariant.
const MAX_CONSTANT: i128 = 1 << 40;

/// The invariants of a point, by family, each variable in the order of the table. Cost: rows times pairs of
/// variables, and times triples where the point has few.
pub fn infer(table: &Table, settings: &Settings) -> Vec<Shape> {
    let finder = Finder { table, settings, counts: counts(table) };
    let mut found = Vec::new();
    for x in 0..table.variables.len() {
        finder.unary(x, &mut found);
    }
    for x in 0..table.variables.len() {
        for y in x + 1..table.variables.len() {
            finder.binary(x, y, &mut found);
        }
    }
    // Members of structures come last and are many: they leave what stands before them to be looked at.
    let plain = table.variables.iter().filter(|v| !v.name.contains("->") && !v.name.contains('.')).count();
    if plain <= settings.triples {
        finder.ternary(&mut found);
    }
    found
}

/// What holds under conditions, and not always: `known` are the invariants that do. `is_wanted`: what an invariant has
/// to be about. Cost: as [`infer`], for each condition.
pub fn conditional(
    table: &Table,
    settings: &Settings,
    conditions: &[Shape],
    known: &[Shape],
    is_wanted: &dyn Fn(&Shape) -> bool,
) -> Vec<Shape> {
    let mut found = Vec::new();
    for when in conditions {
        let mut part = Table::new(table.variables.clone());
        let rows = table.rows().iter().filter(|row| when.holds(table, row) == Some(true));
        rows.for_each(|row| part.push(row.clone()));
        // A condition that all or none of the rows meet parts nothing.
        if part.rows().is_empty() || part.rows().len() == table.rows().len() {
            continue;
        }
        let all = infer(&part, settings).into_iter();
        let told = all.filter(|then| is_wanted(then) && !known.contains(then));
        found.extend(told.map(|then| Shape::Given { when: Box::new(when.clone()), then: Box::new(then) }));
    }
    found
}

/// How often each variable has each value.
fn counts(table: &Table) -> Vec<BTreeMap<i128, usize>> {
    let of = |x: usize| {
        let mut counts = BTreeMap::new();
        table.values(x).into_iter().for_each(|v| *counts.entry(v).or_insert(0) += 1);
        counts
    };
    (0..table.variables.len()).map(of).collect()
}

struct Finder<'a> {
    table: &'a Table,
    settings: &'a Settings,
    counts: Vec<BTreeMap<i128, usize>>,
}

impl Finder<'_> {
    fn is_justified(&self, confidence: f64) -> bool {
        confidence >= self.settings.confidence
    }

    fn is_constant(&self, x: usize) -> bool {
        self.counts.get(x).is_none_or(|c| c.len() <= 1)
    }

    fn kind(&self, x: usize) -> Kind {
        self.table.variable(x).map_or(Kind::Pointer, |v| v.kind)
    }

    fn unary(&self, x: usize, found: &mut Vec<Shape>) {
        let Some(counts) = self.counts.get(x) else { return };
        let (Some((&least, _)), Some((&most, _))) = (counts.first_key_value(), counts.last_key_value())
        else {
            return;
        };
        let rows: usize = counts.values().sum();
        let kind = self.kind(x);
        // All values of the kind are no news.
        let is_all = matches!(kind, Kind::Truth | Kind::Pointer) && counts.len() > 1;
        if counts.len() <= self.settings.set && !is_all && self.is_justified(confidence::even(rows)) {
            found.push(Shape::OneOf { x, values: counts.keys().copied().collect() });
        }
        let Kind::Integer { signed, .. } = kind else { return };
        if counts.len() == 1 {
            return;
        }
        if signed && self.is_justified(confidence::even(rows)) {
            let sign = |relation: Relation| relation.holds(least, 0) && relation.holds(most, 0);
            let one = [Relation::Greater, Relation::Less, Relation::GreaterOrEqual, Relation::LessOrEqual];
            found.extend(one.into_iter().find(|r| sign(*r)).map(|relation| Shape::Bound {
                x,
                relation,
                k: 0,
            }));
        }
        for (is_lower, relation, k) in
            [(true, Relation::GreaterOrEqual, least), (false, Relation::LessOrEqual, most)]
        {
            // A sign says it, or the type.
            let is_said = k == 0 && signed || self.table.variable(x).is_some_and(|v| v.is_end(k));
            if !is_said && k.abs() <= MAX_CONSTANT && self.is_justified(confidence::bound(counts, is_lower)) {
                found.push(Shape::Bound { x, relation, k });
            }
        }
        let surrounds = least < 0 && most > 0 || !signed && least > 0;
        let range = most.saturating_sub(least).saturating_add(1);
        if surrounds && !counts.contains_key(&0) && self.is_justified(confidence::left_out(range, rows)) {
            found.push(Shape::Bound { x, relation: Relation::Different, k: 0 });
        }
        found.extend(self.modulus(x, counts, rows));
    }

    /// The largest modulus that all values leave one remainder by, as C has it.
    fn modulus(&self, x: usize, counts: &BTreeMap<i128, usize>, rows: usize) -> Option<Shape> {
        let (&first, _) = counts.first_key_value()?;
        let m = counts.keys().fold(0i128, |m, v| gcd(m, v.saturating_sub(first)));
        let r = first.checked_rem(m)?;
        let is_one = counts.keys().all(|v| v.checked_rem(m) == Some(r));
        let is_wanted = (2..=MAX_MODULUS).contains(&m) && is_one && counts.len() > 2;
        (is_wanted && self.is_justified(confidence::remainder(m, rows))).then_some(Shape::Modulus { x, m, r })
    }

    fn binary(&self, x: usize, y: usize, found: &mut Vec<Shape>) {
        let (Some(a), Some(b)) = (self.table.variable(x), self.table.variable(y)) else { return };
        if !a.is_comparable(b) {
            return;
        }
        let pairs: BTreeMap<(i128, i128), usize> =
            self.table.pairs(x, y).into_iter().fold(BTreeMap::new(), |mut all, pair| {
                *all.entry(pair).or_insert(0) += 1;
                all
            });
        let rows: usize = pairs.values().sum();
        let holds = |relation: &Relation| pairs.keys().all(|(v, w)| relation.holds(*v, *w));
        let is_truth = a.kind == Kind::Truth;
        let all = Relation::ALL
            .into_iter()
            .filter(|r| !is_truth || matches!(r, Relation::Equal | Relation::Different));
        if let Some(relation) = all.into_iter().find(|r| rows > 0 && holds(r)) {
            let confidence = match relation {
                Relation::Different if !is_truth => confidence::left_out(self.overlap(x, y), rows),
                _ => confidence::even(rows),
            };
            if self.is_justified(confidence) {
                found.push(Shape::Compare { x, relation, y });
            }
            if relation == Relation::Equal {
                return;
            }
        }
        if !is_truth && !self.is_constant(x) && !self.is_constant(y) {
            // The first is what is told: a result stands before what it comes of.
            let turned = pairs.iter().map(|((v, w), n)| ((*w, *v), *n)).collect();
            found.extend(self.line(&turned, (x, y)).or_else(|| self.line(&pairs, (y, x))));
        }
    }

    /// In how many values the ranges of two variables meet.
    fn overlap(&self, x: usize, y: usize) -> i128 {
        let ends = |x: usize| {
            let counts = self.counts.get(x)?;
            Some((*counts.first_key_value()?.0, *counts.last_key_value()?.0))
        };
        let (Some(a), Some(b)) = (ends(x), ends(y)) else { return 0 };
        a.1.min(b.1).saturating_sub(a.0.max(b.0)).saturating_add(1)
    }

    /// `y == a * x + b` of pairs of values of `x` and `y`.
    fn line(&self, pairs: &BTreeMap<(i128, i128), usize>, (y, x): (usize, usize)) -> Option<Shape> {
        let (&(x0, y0), _) = pairs.first_key_value()?;
        let (&(x1, y1), _) = pairs.last_key_value()?;
        let a = y1.checked_sub(y0)?.checked_div(x1.checked_sub(x0)?)?;
        let b = y0.checked_sub(a.checked_mul(x0)?)?;
        let is_small = a != 0 && a.abs() <= MAX_FACTOR && b.abs() <= MAX_CONSTANT;
        let shape = Shape::Line { y, a, x, b };
        let holds = |v: i128, w: i128| {
            let mut row = vec![None; self.table.variables.len()];
            row.get_mut(x).into_iter().for_each(|at| *at = Some(v));
            row.get_mut(y).into_iter().for_each(|at| *at = Some(w));
            shape.holds(self.table, &row) == Some(true)
        };
        let all = is_small && pairs.keys().all(|(v, w)| holds(*v, *w));
        (all && self.is_justified(confidence::line(pairs.len()))).then_some(shape)
    }

    fn ternary(&self, found: &mut Vec<Shape>) {
        let free: Vec<usize> = (0..self.table.variables.len().min(self.settings.triples))
            .filter(|x| !self.is_constant(*x) && matches!(self.kind(*x), Kind::Integer { .. }))
            .collect();
        for &z in &free {
            for &x in free.iter().filter(|x| **x != z) {
                for &y in free.iter().filter(|y| **y != z && **y != x) {
                    self.triple(z, x, y, found);
                }
            }
        }
    }

    fn triple(&self, z: usize, x: usize, y: usize, found: &mut Vec<Shape>) {
        let alike = |a: usize, b: usize| {
            self.table.variable(a).zip(self.table.variable(b)).is_some_and(|(a, b)| a.is_comparable(b))
        };
        if !alike(z, x) || !alike(z, y) {
            return;
        }
        // What is one of the operands is no function of both.
        let is_operand = |a: usize| {
            found.contains(&Shape::Compare { x: z.min(a), relation: Relation::Equal, y: z.max(a) })
        };
        let mut more = Vec::new();
        if !is_operand(x) && !is_operand(y) {
            let operators = Operator::ALL.into_iter().filter(|o| !o.is_commutative() || x < y);
            let all = operators.map(|operator| Shape::Function { z, operator, x, y });
            more.extend(all.into_iter().find(|shape| self.holds(shape)));
        }
        if x < y && more.is_empty() {
            more.extend(self.plane(z, x, y).filter(|shape| self.holds(shape)));
        }
        found.extend(more);
    }

    /// Whether all rows satisfy a shape of three variables, and enough different ones.
    fn holds(&self, shape: &Shape) -> bool {
        let mut points: BTreeSet<Vec<Option<i128>>> = BTreeSet::new();
        for row in self.table.rows() {
            match shape.holds(self.table, row) {
                Some(false) => return false,
                Some(true) => {
                    points.insert(shape.variables().iter().map(|v| row.get(*v).copied().flatten()).collect());
                }
                None => {}
            }
        }
        self.is_justified(confidence::line(points.len()))
    }

    /// The plane through three rows, if it has whole factors and no variable is left out.
    fn plane(&self, z: usize, x: usize, y: usize) -> Option<Shape> {
        let point = |row: &Vec<Option<i128>>| Some(((*row.get(x)?)?, (*row.get(y)?)?, (*row.get(z)?)?));
        let mut points = self.table.rows().iter().filter_map(point);
        let (x0, y0, z0) = points.next()?;
        let rest: Vec<(i128, i128, i128)> = points
            .map(|(p, q, r)| Some((p.checked_sub(x0)?, q.checked_sub(y0)?, r.checked_sub(z0)?)))
            .collect::<Option<_>>()?;
        let first = rest.iter().find(|p| p.0 != 0 || p.1 != 0)?;
        let cross = |p: &(i128, i128, i128)| first.0.checked_mul(p.1)?.checked_sub(first.1.checked_mul(p.0)?);
        let second = rest.iter().find(|p| cross(p).is_some_and(|c| c != 0))?;
        let determinant = cross(second)?;
        let a = first.2.checked_mul(second.1)?.checked_sub(second.2.checked_mul(first.1)?)?;
        let b = first.0.checked_mul(second.2)?.checked_sub(second.0.checked_mul(first.2)?)?;
        if a % determinant != 0 || b % determinant != 0 {
            return None;
        }
        let (a, b) = (a / determinant, b / determinant);
        let c = z0.checked_sub(a.checked_mul(x0)?)?.checked_sub(b.checked_mul(y0)?)?;
        let is_small = [a, b].iter().all(|f| *f != 0 && f.abs() <= MAX_FACTOR) && c.abs() <= MAX_CONSTANT;
        is_small.then_some(Shape::Plane { z, a, x, b, y, c })
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::super::table::Variable;
    use super::*;

    const INT: Kind = Kind::Integer { bits: 32, signed: true };

    /// What is inferred of rows of variables.
    fn said(kinds: &[(&str, Kind)], rows: &[&[i128]]) -> Vec<String> {
        let variable = |(name, kind): &(&str, Kind)| Variable { name: (*name).into(), kind: *kind };
        let mut table = Table::new(kinds.iter().map(variable).collect());
        rows.iter().for_each(|row| table.push(row.iter().map(|v| Some(*v)).collect()));
        infer(&table, &Settings::default()).iter().map(|s| s.text(&table)).collect()
    }

    /// Rows of one variable.
    fn alone(values: &[i128]) -> Vec<String> {
        let rows: Vec<Vec<i128>> = values.iter().map(|v| vec![*v]).collect();
        let rows: Vec<&[i128]> = rows.iter().map(Vec::as_slice).collect();
        said(&[("x", INT)], &rows)
    }

    #[test]
    fn a_constant_is_said_as_that_and_nothing_else() {
        assert_eq!(alone(&[100; 6]), ["x == 100"]);
        // Four rows say nothing.
        assert!(alone(&[100; 4]).is_empty());
    }

    #[test]
    fn few_values_are_a_set() {
        assert_eq!(alone(&[1, 2, 4, 1, 2, 4]), ["x == 1 || x == 2 || x == 4", "x > 0"]);
    }

    #[test]
    fn a_sign_needs_no_row_at_its_bound() {
        assert_eq!(alone(&[0, 1, 2, 3, 4, 5]), ["x >= 0"]);
        assert_eq!(alone(&[-9, -5, -7, -1, -2]), ["x < 0"]);
    }

    #[test]
    fn remainders_are_found() {
        assert_eq!(alone(&[-9, 3, 15, 27, 39, -21]), [] as [&str; 0]);
        assert_eq!(alone(&[3, 15, 27, 39, 51, 99]), ["x > 0", "x % 12 == 3"]);
    }

    #[test]
    fn comparisons_are_the_strongest_that_hold() {
        let rows: [&[i128]; 6] = [&[1, 2], &[5, 9], &[-3, 4], &[0, 1], &[7, 8], &[2, 6]];
        assert_eq!(said(&[("x", INT), ("y", INT)], &rows), ["y > 0", "x < y"]);
        let rows: [&[i128]; 6] = [&[100, 0], &[100, 1], &[100, 2], &[100, 3], &[100, 4], &[100, 5]];
        assert_eq!(said(&[("c", INT), ("x", INT)], &rows), ["c == 100", "x >= 0", "c > x"]);
    }

    #[test]
    fn lines_go_through_five_points() {
        let rows: [&[i128]; 5] = [&[1, 5], &[2, 7], &[4, 11], &[-3, -3], &[0, 3]];
        assert_eq!(said(&[("x", INT), ("y", INT)], &rows), ["x <= y", "y == 2 * x + 3"]);
        let rows: [&[i128]; 5] = [&[5, 1], &[7, 2], &[11, 4], &[-3, -3], &[3, 0]];
        assert_eq!(said(&[("x", INT), ("y", INT)], &rows), ["x >= y", "x == 2 * y + 3"]);
    }

    #[test]
    fn functions_of_two_are_found() {
        let names = [("\\result", INT), ("x", INT), ("hi", INT)];
        let rows: [&[i128]; 6] = [&[1, 1, 5], &[5, 7, 5], &[-4, -4, 0], &[2, 2, 9], &[3, 8, 3], &[-7, 6, -7]];
        let found = said(&names, &rows);
        assert!(found.contains(&"\\result == (x < hi ? x : hi)".to_owned()), "{found:?}");
    }

    #[test]
    fn planes_are_found() {
        let names = [("z", INT), ("x", INT), ("y", INT)];
        let points = [(1, 2), (2, 2), (4, -1), (-2, -1), (0, 1), (2, 4)];
        let rows: Vec<Vec<i128>> = points.iter().map(|(x, y)| vec![2 * x + 3 * y - 3, *x, *y]).collect();
        let rows: Vec<&[i128]> = rows.iter().map(Vec::as_slice).collect();
        assert!(said(&names, &rows).contains(&"z == 2 * x + 3 * y - 3".to_owned()));
    }

    #[test]
    fn more_holds_under_a_condition() {
        let names = [("\\result", INT), ("x", INT)];
        let variable = |(name, kind): &(&str, Kind)| Variable { name: (*name).into(), kind: *kind };
        let mut table = Table::new(names.iter().map(variable).collect());
        for x in -7..8 {
            table.push(vec![Some(if x < 0 { 5 } else { x }), Some(x)]);
        }
        let when = Shape::Bound { x: 1, relation: Relation::Less, k: 0 };
        let settings = Settings::default();
        let known = infer(&table, &settings);
        let is_wanted = |s: &Shape| s.variables().contains(&0);
        let found = conditional(&table, &settings, &[when], &known, &is_wanted);
        let texts: Vec<String> = found.iter().map(|s| s.text(&table)).collect();
        assert_eq!(texts, ["x < 0 ==> \\result == 5", "x < 0 ==> \\result > x"]);
    }

    #[test]
    fn truth_values_and_pointers_are_no_numbers() {
        let names = [("t", Kind::Truth), ("p", Kind::Pointer)];
        let rows: [&[i128]; 6] = [&[0, 1], &[1, 1], &[0, 1], &[1, 1], &[0, 1], &[1, 1]];
        assert_eq!(said(&names, &rows), ["p != NULL"]);
    }
}
