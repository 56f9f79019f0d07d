//! One pass over a table: what its variables have for values, which comparisons of two no row refutes, and which lines
//! go through all of their points.
//!
//! A pair of variables is put away at the row that leaves nothing of it to find, most at one of the first; what a
//! variable's values are is kept as a few numbers. So the cost is that of the rows, however many values there are.

use super::confidence;
use super::shape::{Operator, Relation, Word};
use super::table::{Kind, Table};

/// Largest factor of a linear invariant, and most numbers of its constant.
pub const MAX_FACTOR: i128 = 1 << 20;
pub const MAX_CONSTANT: i128 = 1 << 40;

/// The values of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    pub rows: usize,
    pub least: i128,
    pub most: i128,
    /// Different ones, ascending, up to one more than a set may have.
    pub few: Vec<i128>,
    /// The greatest number that divides all their differences.
    pub step: i128,
    pub has_zero: bool,
    /// All of them are powers of two.
    pub are_powers: bool,
    /// How many rows have the least value and the two numbers behind it, and the greatest likewise.
    pub at_least: [usize; 3],
    pub at_most: [usize; 3],
}

impl Values {
    fn add(&mut self, v: i128, set: usize) {
        if self.rows == 0 {
            (self.least, self.most, self.are_powers) = (v, v, true);
        }
        self.are_powers &= v > 0 && v & (v - 1) == 0;
        self.rows += 1;
        self.has_zero |= v == 0;
        if self.few.len() <= set
            && let Err(at) = self.few.binary_search(&v)
        {
            self.few.insert(at, v);
        }
        if self.step != 1 {
            self.step = gcd(self.step, v.saturating_sub(self.least));
        }
        if v < self.least {
            shift(&mut self.at_least, self.least.saturating_sub(v));
            self.least = v;
        }
        if v > self.most {
            shift(&mut self.at_most, v.saturating_sub(self.most));
            self.most = v;
        }
        count(&mut self.at_least, v.saturating_sub(self.least));
        count(&mut self.at_most, self.most.saturating_sub(v));
    }

    /// How many different ones there are, up to one more than a set may have.
    pub fn different(&self) -> usize {
        self.few.len()
    }

    /// How sure it is that one end of the values is a bound.
    pub fn bound(&self, is_lower: bool) -> f64 {
        let range = self.most.saturating_sub(self.least).saturating_add(1);
        let at = if is_lower { self.at_least } else { self.at_most };
        confidence::bound(self.rows, range, at)
    }
}

fn count(at: &mut [usize; 3], distance: i128) {
    if let Some(count) = usize::try_from(distance).ok().and_then(|d| at.get_mut(d)) {
        *count += 1;
    }
}

/// Makes room for an end that lies further out.
fn shift(at: &mut [usize; 3], distance: i128) {
    *at = match distance {
        1 => [0, at[0], at[1]],
        2 => [0, 0, at[0]],
        _ => [0; 3],
    };
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A line through all points so far.
#[derive(Clone, Debug)]
enum Line {
    /// No point, or one.
    Open(Option<(i128, i128)>),
    /// `y == a * x + b`, computed in the operands' type.
    Through {
        a: i128,
        b: i128,
        word: Word,
    },
    None,
}

impl Line {
    fn add(&mut self, x: i128, y: i128, kind: Kind) {
        match *self {
            Line::Through { a, b, word } if word.sum(&[(a, x)], b) == Some(y) => {}
            Line::Open(None) => *self = Line::Open(Some((x, y))),
            Line::Open(Some(first)) if first == (x, y) => {}
            Line::Open(Some(first)) => *self = Line::of(first, (x, y), kind).unwrap_or(Line::None),
            Line::Through { .. } | Line::None => *self = Line::None,
        }
    }

    /// Through two points; `None` where it has no whole factor, or a large one.
    fn of((x0, y0): (i128, i128), (x1, y1): (i128, i128), kind: Kind) -> Option<Line> {
        let (dx, dy) = (x1.checked_sub(x0)?, y1.checked_sub(y0)?);
        let a = dy.checked_div(dx)?;
        let b = y0.checked_sub(a.checked_mul(x0)?)?;
        let is_small = a != 0 && a.abs() <= MAX_FACTOR && b.abs() <= MAX_CONSTANT;
        let word = Word::of([kind], &[a, b]).filter(|_| is_small)?;
        let holds = |x, y| word.sum(&[(a, x)], b) == Some(y);
        (holds(x0, y0) && holds(x1, y1)).then_some(Line::Through { a, b, word })
    }

    fn is_none(&self) -> bool {
        matches!(self, Line::None)
    }

    fn factors(&self) -> Option<(i128, i128)> {
        match *self {
            Line::Through { a, b, .. } => Some((a, b)),
            Line::Open(_) | Line::None => None,
        }
    }
}

/// What two variables are to each other.
#[derive(Clone, Debug)]
pub struct Pair {
    pub x: usize,
    pub y: usize,
    kinds: (Kind, Kind),
    pub rows: usize,
    /// Some row has `x` less than, equal to, greater than `y`.
    orders: [bool; 3],
    /// Different points, up to as many as a line needs.
    points: Vec<(i128, i128)>,
    forth: Line,
    back: Line,
    /// In which C divides; the second divides the first, the first the second, one is the square of the other.
    word: Option<Word>,
    divided: [bool; 2],
    square: [bool; 2],
}

impl Pair {
    fn new(x: usize, y: usize, kinds: (Kind, Kind)) -> Pair {
        let is_number = matches!(kinds, (Kind::Integer { .. }, Kind::Integer { .. }));
        let line = if is_number { Line::Open(None) } else { Line::None };
        let (rows, orders, points) = (0, [false; 3], Vec::new());
        let word = Word::of([kinds.0, kinds.1], &[]).filter(|_| is_number);
        let (divided, square) = ([word.is_some(); 2], [word.is_some(); 2]);
        Pair { x, y, kinds, rows, orders, points, forth: line.clone(), back: line, word, divided, square }
    }

    fn add(&mut self, v: i128, w: i128) {
        self.rows += 1;
        let order = match v.cmp(&w) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        };
        self.orders[order] = true;
        if self.points.len() < confidence::ON_LINE && !self.points.contains(&(v, w)) {
            self.points.push((v, w));
        }
        self.forth.add(v, w, self.kinds.0);
        self.back.add(w, v, self.kinds.1);
        self.operate(v, w);
    }

    fn operate(&mut self, v: i128, w: i128) {
        let Some(word) = self.word else { return };
        for ((is, square), (a, b)) in self.divided.iter_mut().zip(&mut self.square).zip([(v, w), (w, v)]) {
            *is = *is && Operator::Remainder.of(word, a, b) == Some(0);
            *square = *square && Operator::Product.of(word, b, b) == Some(a);
        }
    }

    /// Whether no more rows can show anything.
    fn is_over(&self) -> bool {
        let is_nothing = self.divided == [false; 2] && self.square == [false; 2];
        self.orders == [true; 3] && self.forth.is_none() && self.back.is_none() && is_nothing
    }

    /// The strongest comparison that all rows satisfy.
    pub fn relation(&self, is_truth: bool) -> Option<Relation> {
        let [less, equal, greater] = self.orders;
        let holds = |relation: &Relation| {
            let holds = |has: bool, v: i128| !has || relation.holds(v, 0);
            holds(less, -1) && holds(equal, 0) && holds(greater, 1)
        };
        let is_asked = |r: &Relation| !is_truth || matches!(r, Relation::Equal | Relation::Different);
        Relation::ALL.into_iter().filter(is_asked).find(|r| self.rows > 0 && holds(r))
    }

    /// Whether all points are on one line.
    pub fn is_line(&self) -> bool {
        self.orders == [false, true, false] || !self.forth.is_none() || !self.back.is_none()
    }

    /// `x == a * y + b`.
    pub fn back(&self) -> Option<(i128, i128)> {
        self.back.factors()
    }

    /// `y == a * x + b`.
    pub fn forth(&self) -> Option<(i128, i128)> {
        self.forth.factors()
    }

    /// Divisions without a rest: what is divided, and by what.
    pub fn divisions(&self) -> impl Iterator<Item = (usize, usize)> {
        let [first, second] = self.divided;
        [(first, self.x, self.y), (second, self.y, self.x)].into_iter().filter(|d| d.0).map(|d| (d.1, d.2))
    }

    /// Squares: which is that of which.
    pub fn squares(&self) -> impl Iterator<Item = (usize, usize)> {
        let [first, second] = self.square;
        [(first, self.x, self.y), (second, self.y, self.x)].into_iter().filter(|s| s.0).map(|s| (s.1, s.2))
    }

    pub fn points(&self) -> usize {
        self.points.len()
    }
}

/// The values of all variables, and all pairs that C compares and that some comparison or line is left of. `set`: how
/// many values a set may have. Cost: linear in the rows.
pub fn pass(table: &Table, set: usize) -> (Vec<Values>, Vec<Pair>) {
    let n = table.variables.len();
    let mut values = vec![Values::default(); n];
    let mut pairs: Vec<Pair> = Vec::new();
    for (x, a) in table.variables.iter().enumerate() {
        for (y, b) in table.variables.iter().enumerate().skip(x + 1) {
            pairs.extend(a.is_comparable(b).then(|| Pair::new(x, y, (a.kind, b.kind))));
        }
    }
    if table.has_runs() {
        for (x, own) in values.iter_mut().enumerate() {
            table.values(x).into_iter().for_each(|v| own.add(v, set));
        }
        for pair in &mut pairs {
            table.pairs(pair.x, pair.y).into_iter().for_each(|(v, w)| pair.add(v, w));
        }
        pairs.retain(|p| !p.is_over());
        return (values, pairs);
    }
    for (k, row) in table.rows().iter().enumerate() {
        for (own, value) in values.iter_mut().zip(row) {
            value.iter().for_each(|v| own.add(*v, set));
        }
        for pair in &mut pairs {
            if let (Some(Some(v)), Some(Some(w))) = (row.get(pair.x), row.get(pair.y)) {
                pair.add(*v, *w);
            }
        }
        // At first at each row, then from time to time.
        if k < 64 || k % 256 == 0 {
            pairs.retain(|p| !p.is_over());
        }
    }
    pairs.retain(|p| !p.is_over());
    (values, pairs)
}

#[cfg(test)]
mod tests {
    use super::super::table::Variable;
    use super::*;

    const INT: Kind = Kind::Integer { bits: 32, signed: true };

    fn of(rows: &[[i128; 2]]) -> (Vec<Values>, Vec<Pair>) {
        let variable = |name: &str| Variable { name: name.into(), kind: INT };
        let mut table = Table::new(vec![variable("x"), variable("y")]);
        rows.iter().for_each(|row| table.push(row.iter().map(|v| Some(*v)).collect()));
        pass(&table, 3)
    }

    #[test]
    fn ends_are_counted_in_any_order() {
        let rows = [5, 4, 9, 2, 3, 2, 4, 8, 9, 7, 2].map(|v| [v, 0]);
        let (values, _) = of(&rows);
        let x = &values[0];
        assert_eq!((x.rows, x.least, x.most, x.step, x.has_zero), (11, 2, 9, 1, false));
        assert_eq!((x.at_least, x.at_most), ([3, 1, 2], [2, 1, 1]));
        assert_eq!((x.different(), &values[1].few), (4, &vec![0]));
    }

    #[test]
    fn steps_divide_all_differences() {
        let (values, _) = of(&[[15, 0], [3, 0], [-9, 0], [39, 0]]);
        assert_eq!(values[0].step, 12);
    }

    #[test]
    fn what_no_row_refutes_is_left_of_a_pair() {
        let (_, pairs) = of(&[[1, 3], [2, 5], [2, 5], [4, 9]]);
        let [pair] = &pairs[..] else { panic!("{pairs:?}") };
        assert_eq!(
            (pair.relation(false), pair.forth(), pair.back()),
            (Some(Relation::Less), Some((2, 1)), None)
        );
        assert_eq!((pair.rows, pair.points()), (4, 3));
        let (_, pairs) = of(&[[1, 3], [3, 1], [2, 2], [4, 4]]);
        assert!(pairs.is_empty());
    }
}
