//! Which invariants of each family hold of all rows, and are justified.

use super::confidence;
use super::pass::{MAX_CONSTANT, MAX_FACTOR, Pair, Values, pass};
use super::shape::{Operator, Relation, Shape};
use super::table::{Kind, Table, Variable};
use std::collections::BTreeSet;

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

/// Largest modulus.
const MAX_MODULUS: i128 = 64;

/// The invariants of a point, by family, each variable in the order of the table. Cost: one pass over the rows, and what
/// it takes to refute triples where the point has few variables.
pub fn infer(table: &Table, settings: &Settings) -> Vec<Shape> {
    let (values, pairs) = pass(table, settings.set);
    let lines = pairs.iter().filter(|p| p.is_line()).map(|p| (p.x, p.y)).collect();
    let finder = Finder { table, settings, values, lines };
    let mut found = Vec::new();
    for x in 0..table.variables.len() {
        finder.unary(x, &mut found);
    }
    pairs.iter().for_each(|pair| finder.binary(pair, &mut found));
    // Members of structures come last and are many: they leave what stands before them to be looked at.
    let plain = table.variables.iter().filter(|v| is_plain(v)).count();
    if plain <= settings.triples {
        finder.ternary(&mut found);
    }
    found
}

/// Whether a variable is no member, nothing of an array and nothing behind a pointer.
fn is_plain(v: &Variable) -> bool {
    let is_number = matches!(v.kind, Kind::Integer { .. } | Kind::Truth | Kind::Pointer);
    is_number && !v.name.contains("->") && !v.name.contains(['.', '[', '*']) && !v.name.contains("strlen(")
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

struct Finder<'a> {
    table: &'a Table,
    settings: &'a Settings,
    values: Vec<Values>,
    /// Pairs on a line: no plane can be told through their points.
    lines: BTreeSet<(usize, usize)>,
}

impl Finder<'_> {
    fn is_justified(&self, confidence: f64) -> bool {
        confidence >= self.settings.confidence
    }

    fn is_constant(&self, x: usize) -> bool {
        self.values.get(x).is_none_or(|v| v.different() <= 1)
    }

    fn kind(&self, x: usize) -> Kind {
        self.table.variable(x).map_or(Kind::Pointer, |v| v.kind)
    }

    fn unary(&self, x: usize, found: &mut Vec<Shape>) {
        let Some(values) = self.values.get(x).filter(|v| v.rows > 0) else { return };
        let &Values { rows, least, most, has_zero, .. } = values;
        let (kind, different) = (self.kind(x), values.different());
        // All values of the kind are no news.
        let is_all = matches!(kind, Kind::Truth | Kind::Pointer) && different > 1;
        if kind == Kind::Condition {
            let is_told = values.few == [1] && self.is_justified(confidence::even(rows));
            found.extend(is_told.then_some(Shape::Holds { x }));
            return;
        }
        if kind.is_extreme() {
            self.elements(x, values, found);
            return;
        }
        if different <= self.settings.set && !is_all && self.is_justified(confidence::even(rows)) {
            found.push(Shape::OneOf { x, values: values.few.clone() });
        }
        let Kind::Integer { signed, .. } = kind else { return };
        if different == 1 {
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
            if !is_said && k.abs() <= MAX_CONSTANT && self.is_justified(values.bound(is_lower)) {
                found.push(Shape::Bound { x, relation, k });
            }
        }
        let surrounds = least < 0 && most > 0 || !signed && least > 0;
        let range = most.saturating_sub(least).saturating_add(1);
        if surrounds && !has_zero && self.is_justified(confidence::left_out(range, rows)) {
            found.push(Shape::Bound { x, relation: Relation::Different, k: 0 });
        }
        found.extend(self.modulus(x, values));
        // Of so few values as a set has it is the set that is told.
        let is_power = values.are_powers && different > self.settings.set;
        found.extend(
            (is_power && self.is_justified(confidence::even(rows))).then_some(Shape::PowerOfTwo { x }),
        );
    }

    /// A bound of all elements of an array: of the least one from below, of the greatest one from above.
    fn elements(&self, x: usize, values: &Values, found: &mut Vec<Shape>) {
        let (is_lower, k) = match self.kind(x) {
            Kind::Least { .. } => (true, values.least),
            _ => (false, values.most),
        };
        let is_signed = self.kind(x).number().is_some_and(|(_, signed)| signed);
        let relation = if is_lower { Relation::GreaterOrEqual } else { Relation::LessOrEqual };
        if is_signed && relation.holds(k, 0) && self.is_justified(confidence::even(values.rows)) {
            found.push(Shape::Bound { x, relation, k: 0 });
        }
        let is_said = k == 0 && is_signed || self.table.variable(x).is_some_and(|v| v.is_end(k));
        if !is_said && k.abs() <= MAX_CONSTANT && self.is_justified(values.bound(is_lower)) {
            found.push(Shape::Bound { x, relation, k });
        }
    }

    /// How all elements of an array compare with a number: by the extreme that says it.
    fn each(&self, pair: &Pair, found: &mut Vec<Shape>) {
        let Some(relation) = pair.relation(false) else { return };
        let (x, y, relation) = match self.kind(pair.x).is_extreme() {
            true => (pair.x, pair.y, relation),
            false => (pair.y, pair.x, relation.turned()),
        };
        let relation = match (self.kind(x), relation) {
            (Kind::Least { .. }, Relation::Greater) | (Kind::Most { .. }, Relation::Less) => relation,
            (Kind::Least { .. }, Relation::GreaterOrEqual | Relation::Equal) => Relation::GreaterOrEqual,
            (Kind::Most { .. }, Relation::LessOrEqual | Relation::Equal) => Relation::LessOrEqual,
            // It would be about some element.
            _ => return,
        };
        if self.is_justified(confidence::even(pair.rows)) {
            found.push(Shape::Compare { x, relation, y });
        }
    }

    /// The largest modulus that all values leave one remainder by, as C has it.
    fn modulus(&self, x: usize, values: &Values) -> Option<Shape> {
        let m = values.step;
        let r = values.least.checked_rem(m)?;
        let is_wanted = (2..=MAX_MODULUS).contains(&m) && values.different() > 2;
        if !is_wanted || !self.is_justified(confidence::remainder(m, values.rows)) {
            return None;
        }
        let mut all = self.table.rows().iter().filter_map(|row| row.get(x).copied().flatten());
        all.all(|v| v.checked_rem(m) == Some(r)).then_some(Shape::Modulus { x, m, r })
    }

    fn binary(&self, pair: &Pair, found: &mut Vec<Shape>) {
        let (x, y) = (pair.x, pair.y);
        if self.kind(x).is_extreme() || self.kind(y).is_extreme() {
            self.each(pair, found);
            return;
        }
        let is_truth = self.kind(x) == Kind::Truth;
        if let Some(relation) = pair.relation(is_truth) {
            let confidence = match relation {
                Relation::Different if !is_truth => confidence::left_out(self.overlap(x, y), pair.rows),
                _ => confidence::even(pair.rows),
            };
            if self.is_justified(confidence) {
                found.push(Shape::Compare { x, relation, y });
            }
            if relation == Relation::Equal {
                return;
            }
        }
        let is_line = self.is_justified(confidence::line(pair.points()));
        if is_line {
            self.divisions(pair, found);
        }
        if is_line && !is_truth && !self.is_constant(x) && !self.is_constant(y) {
            // The first is what is told: a result stands before what it comes of.
            let back = pair.back().map(|(a, b)| Shape::Line { y: x, a, x: y, b });
            found.extend(back.or_else(|| pair.forth().map(|(a, b)| Shape::Line { y, a, x, b })));
        }
    }

    /// What is divided, or a square, where neither is one of few values: those say more themselves.
    fn divisions(&self, pair: &Pair, found: &mut Vec<Shape>) {
        let is_few = |x: usize| self.values.get(x).is_none_or(|v| v.different() <= self.settings.set);
        if is_few(pair.x) || is_few(pair.y) {
            return;
        }
        let operator = Operator::Product;
        found.extend(pair.squares().map(|(z, x)| Shape::Function { z, operator, x, y: x }));
        // A square is divided by its root, and so is what a line or a bound says.
        if pair.squares().next().is_none() && !pair.is_line() {
            found.extend(pair.divisions().map(|(x, y)| Shape::Divides { x, y }));
        }
    }

    /// In how many values the ranges of two variables meet.
    fn overlap(&self, x: usize, y: usize) -> i128 {
        let ends = |x: usize| self.values.get(x).filter(|v| v.rows > 0).map(|v| (v.least, v.most));
        let (Some(a), Some(b)) = (ends(x), ends(y)) else { return 0 };
        a.1.min(b.1).saturating_sub(a.0.max(b.0)).saturating_add(1)
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
        if x < y && more.is_empty() && !self.lines.contains(&(x, y)) {
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
                Some(true) if points.len() < confidence::ON_LINE => {
                    points.insert(shape.variables().iter().map(|v| row.get(*v).copied().flatten()).collect());
                }
                Some(true) | None => {}
            }
        }
        self.is_justified(confidence::line(points.len()))
    }

    /// The plane through three rows, if it has whole factors and no variable is left out.
    fn plane(&self, z: usize, x: usize, y: usize) -> Option<Shape> {
        let point = |row: &Vec<Option<i128>>| Some(((*row.get(x)?)?, (*row.get(y)?)?, (*row.get(z)?)?));
        let mut points = self.table.rows().iter().filter_map(point);
        let (x0, y0, z0) = points.next()?;
        let from = |(p, q, r): (i128, i128, i128)| {
            Some((p.checked_sub(x0)?, q.checked_sub(y0)?, r.checked_sub(z0)?))
        };
        let mut rest = points.map_while(from);
        let first = rest.find(|p| p.0 != 0 || p.1 != 0)?;
        let cross = |p: &(i128, i128, i128)| first.0.checked_mul(p.1)?.checked_sub(first.1.checked_mul(p.0)?);
        let second = &rest.find(|p| cross(p).is_some_and(|c| c != 0))?;
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

#[cfg(test)]
mod tests {
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
    fn divisors_squares_and_powers_are_found() {
        let names = [("\\result", INT), ("x", INT)];
        let rows: [&[i128]; 6] = [&[6, 3], &[35, 7], &[-8, 4], &[22, 11], &[10, -5], &[36, 9]];
        assert_eq!(said(&names, &rows), ["\\result % x == 0"]);
        let rows: [&[i128]; 6] = [&[9, -3], &[49, 7], &[16, 4], &[121, 11], &[25, -5], &[0, 0]];
        let found = said(&names, &rows);
        assert_eq!(found, ["\\result >= 0", "\\result >= x", "\\result == (x * x)"]);
        assert_eq!(alone(&[4, 1, 64, 2, 1024, 8]), ["x > 0", "x > 0 && (x & (x - 1)) == 0"]);
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
