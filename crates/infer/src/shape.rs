//! The families of invariants: what each says, of which rows it holds, and how C writes it.
//!
//! Arithmetic is C's, in the type that the operands have together ([`Word`]): unsigned numbers wrap, and of a row in
//! which signed ones overflow no sum or product is true.

use super::table::{Kind, Table};

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// The strongest first.
    pub const ALL: [Relation; 6] = [
        Relation::Equal,
        Relation::Less,
        Relation::Greater,
        Relation::LessOrEqual,
        Relation::GreaterOrEqual,
        Relation::Different,
    ];

    pub fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Relation::Equal => a == b,
            Relation::Different => a != b,
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Greater => a > b,
            Relation::GreaterOrEqual => a >= b,
        }
    }

    /// With its sides exchanged.
    pub fn turned(self) -> Relation {
        match self {
            Relation::Less => Relation::Greater,
            Relation::LessOrEqual => Relation::GreaterOrEqual,
            Relation::Greater => Relation::Less,
            Relation::GreaterOrEqual => Relation::LessOrEqual,
            Relation::Equal | Relation::Different => self,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::Different => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        }
    }
}

/// The type in which C computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub bits: u16,
    pub signed: bool,
}

impl Word {
    /// That of operands and constants together: C17 6.3.1.8. `None`: some operand is no number.
    pub fn of(operands: impl IntoIterator<Item = Kind>, constants: &[i128]) -> Option<Word> {
        let mut word = Word { bits: 32, signed: true };
        let mut join = |other: Word| {
            word = match word.bits.cmp(&other.bits) {
                std::cmp::Ordering::Less => other,
                std::cmp::Ordering::Greater => word,
                std::cmp::Ordering::Equal => Word { signed: word.signed && other.signed, ..word },
            }
        };
        for kind in operands {
            match kind {
                // What is narrower becomes an `int`.
                Kind::Integer { bits, .. } if bits < 32 => {}
                Kind::Integer { bits, signed } => join(Word { bits, signed }),
                _ => return None,
            }
        }
        let is_long = |k: &&i128| k.unsigned_abs() > i32::MAX.unsigned_abs().into();
        constants.iter().filter(is_long).for_each(|_| join(Word { bits: 64, signed: true }));
        Some(word)
    }

    /// A result in this type; `None` where a signed one overflows.
    fn result(self, n: i128) -> Option<i128> {
        let modulus = 1i128.checked_shl(u32::from(self.bits)).filter(|_| self.bits < 127)?;
        match self.signed {
            false => Some(n.rem_euclid(modulus)),
            true => (-(modulus / 2)..modulus / 2).contains(&n).then_some(n),
        }
    }

    /// A sum of products and a number, computed from the left, as it is written.
    pub(super) fn sum(self, parts: &[(i128, i128)], constant: i128) -> Option<i128> {
        let mut sum: Option<i128> = None;
        for (factor, value) in parts {
            sum = Some(match sum {
                None => self.product(*factor, *value)?,
                Some(sum) => {
                    let product = self.product(i128::try_from(factor.unsigned_abs()).ok()?, *value)?;
                    self.result(if *factor < 0 {
                        sum.checked_sub(product)?
                    } else {
                        sum.checked_add(product)?
                    })?
                }
            });
        }
        self.result(sum?.checked_add(constant)?)
    }

    fn product(self, a: i128, b: i128) -> Option<i128> {
        self.result(a.checked_mul(b)?)
    }
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    Min,
    Max,
    And,
    Or,
    Xor,
    Product,
    Quotient,
    Remainder,
    ShiftLeft,
    ShiftRight,
}

impl Operator {
    pub const ALL: [Operator; 10] = [
        Operator::Min,
        Operator::Max,
        Operator::And,
        Operator::Or,
        Operator::Xor,
        Operator::Product,
        Operator::Quotient,
        Operator::Remainder,
        Operator::ShiftLeft,
        Operator::ShiftRight,
    ];

    /// Whether the operands may change places.
    pub fn is_commutative(self) -> bool {
        !matches!(self, Operator::Quotient | Operator::Remainder) && !self.is_shift()
    }

    /// Whether the type is the left operand's alone, and the right one is less than its width.
    pub fn is_shift(self) -> bool {
        matches!(self, Operator::ShiftLeft | Operator::ShiftRight)
    }

    /// The type in which it is computed; `None`: some operand is no number.
    pub fn word(self, x: Kind, y: Kind) -> Option<Word> {
        match self.is_shift() {
            // C17 6.5.7, 3: each operand is promoted alone.
            true => Word::of([y], &[]).and_then(|_| Word::of([x], &[])),
            false => Word::of([x, y], &[]),
        }
    }

    /// The value, in a type; `None` where there is none.
    pub(super) fn of(self, word: Word, a: i128, b: i128) -> Option<i128> {
        match self {
            Operator::Min => Some(a.min(b)),
            Operator::Max => Some(a.max(b)),
            Operator::And => Some(a & b),
            Operator::Or => Some(a | b),
            Operator::Xor => Some(a ^ b),
            Operator::Product => word.product(a, b),
            Operator::Quotient => word.result(a.checked_div(b)?),
            // Undefined where the quotient is.
            Operator::Remainder => word.result(a.checked_div(b)?).and_then(|_| a.checked_rem(b)),
            Operator::ShiftLeft | Operator::ShiftRight => {
                // C17 6.5.7, 4 and 5: what is negative is shifted to the right alone, by sign; no bit of a signed
                // number is lost.
                let by = u32::try_from(b).ok().filter(|by| *by < u32::from(word.bits))?;
                match self {
                    Operator::ShiftRight => Some(a >> by),
                    _ if word.signed && a < 0 => None,
                    _ => word.product(a, 1i128 << by),
                }
            }
        }
    }

    fn text(self, a: &str, b: &str) -> String {
        let infix = match self {
            Operator::Min => return format!("({a} < {b} ? {a} : {b})"),
            Operator::Max => return format!("({a} > {b} ? {a} : {b})"),
            Operator::And => "&",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::Product => "*",
            Operator::Quotient => "/",
            Operator::Remainder => "%",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
        };
        format!("({a} {infix} {b})")
    }
}

/// An invariant of a family; variables by their place in the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// The variable is one of these, ascending.
    OneOf { x: usize, values: Vec<i128> },
    /// It compares so with a number.
    Bound { x: usize, relation: Relation, k: i128 },
    /// Two compare so.
    Compare { x: usize, relation: Relation, y: usize },
    /// `x % m == r`.
    Modulus { x: usize, m: i128, r: i128 },
    /// `x` is 1, 2, 4, and so on.
    PowerOfTwo { x: usize },
    /// `x % y == 0`.
    Divides { x: usize, y: usize },
    /// `y == a * x + b`.
    Line { y: usize, a: i128, x: usize, b: i128 },
    /// `z == a * x + b * y + c`.
    Plane { z: usize, a: i128, x: usize, b: i128, y: usize, c: i128 },
    /// `z == x op y`.
    Function { z: usize, operator: Operator, x: usize, y: usize },
    /// A condition ([`Kind::Condition`]) holds.
    Holds { x: usize },
    /// Where the first holds, the second does.
    Given { when: Box<Shape>, then: Box<Shape> },
}

impl Shape {
    /// Its variables.
    pub fn variables(&self) -> Vec<usize> {
        match *self {
            Shape::OneOf { x, .. }
            | Shape::Bound { x, .. }
            | Shape::Modulus { x, .. }
            | Shape::PowerOfTwo { x }
            | Shape::Holds { x } => vec![x],
            Shape::Compare { x, y, .. } | Shape::Line { x, y, .. } | Shape::Divides { x, y } => vec![x, y],
            Shape::Plane { z, x, y, .. } | Shape::Function { z, x, y, .. } => vec![z, x, y],
            Shape::Given { ref when, ref then } => {
                let mut all = [when.variables(), then.variables()].concat();
                all.sort_unstable();
                all.dedup();
                all
            }
        }
    }

    /// The same over another table, whose variables have other places: by their names.
    pub fn over(&self, table: &Table, other: &Table) -> Option<Shape> {
        let at = |x: usize| {
            let own = table.variable(x)?;
            let place = other.position(&own.name)?;
            (other.variable(place)?.kind == own.kind).then_some(place)
        };
        Some(match *self {
            Shape::OneOf { x, ref values } => Shape::OneOf { x: at(x)?, values: values.clone() },
            Shape::Bound { x, relation, k } => Shape::Bound { x: at(x)?, relation, k },
            Shape::Compare { x, relation, y } => Shape::Compare { x: at(x)?, relation, y: at(y)? },
            Shape::Modulus { x, m, r } => Shape::Modulus { x: at(x)?, m, r },
            Shape::PowerOfTwo { x } => Shape::PowerOfTwo { x: at(x)? },
            Shape::Holds { x } => Shape::Holds { x: at(x)? },
            Shape::Divides { x, y } => Shape::Divides { x: at(x)?, y: at(y)? },
            Shape::Line { y, a, x, b } => Shape::Line { y: at(y)?, a, x: at(x)?, b },
            Shape::Plane { z, a, x, b, y, c } => Shape::Plane { z: at(z)?, a, x: at(x)?, b, y: at(y)?, c },
            Shape::Function { z, operator, x, y } => {
                Shape::Function { z: at(z)?, operator, x: at(x)?, y: at(y)? }
            }
            Shape::Given { ref when, ref then } => Shape::Given {
                when: Box::new(when.over(table, other)?),
                then: Box::new(then.over(table, other)?),
            },
        })
    }

    /// Whether a row satisfies it; `None` where a variable has no value.
    pub fn holds(&self, table: &Table, row: &[Option<i128>]) -> Option<bool> {
        let value = |x: usize| row.get(x).copied().flatten();
        let is = |x: usize, n: Option<i128>| Some(n == Some(value(x)?));
        let word = |operands: &[usize], constants: &[i128]| {
            let kind = |x: &usize| table.variable(*x).map_or(Kind::Pointer, |v| v.kind);
            Word::of(operands.iter().map(kind), constants)
        };
        match *self {
            Shape::OneOf { x, ref values } => Some(values.contains(&value(x)?)),
            Shape::Bound { x, relation, k } => Some(relation.holds(value(x)?, k)),
            Shape::Compare { x, relation, y } => Some(relation.holds(value(x)?, value(y)?)),
            Shape::Modulus { x, m, r } => Some(value(x)?.checked_rem(m) == Some(r)),
            Shape::Holds { x } => Some(value(x)? == 1),
            Shape::PowerOfTwo { x } => {
                let v = value(x)?;
                Some(v > 0 && v & (v - 1) == 0)
            }
            Shape::Divides { x, y } => {
                let (a, b) = (value(x)?, value(y)?);
                Some(word(&[x, y], &[]).and_then(|w| Operator::Remainder.of(w, a, b)) == Some(0))
            }
            Shape::Line { y, a, x, b } => {
                let parts = [(a, value(x)?)];
                is(y, word(&[x], &[a, b]).and_then(|w| w.sum(&parts, b)))
            }
            Shape::Plane { z, a, x, b, y, c } => {
                let parts = [(a, value(x)?), (b, value(y)?)];
                is(z, word(&[x, y], &[a, b, c]).and_then(|w| w.sum(&parts, c)))
            }
            Shape::Function { z, operator, x, y } => {
                let (a, b) = (value(x)?, value(y)?);
                let kind = |x: usize| table.variable(x).map_or(Kind::Pointer, |v| v.kind);
                is(z, operator.word(kind(x), kind(y)).and_then(|w| operator.of(w, a, b)))
            }
            Shape::Given { ref when, ref then } => match when.holds(table, row)? {
                true => then.holds(table, row),
                // It says nothing of the row.
                false => None,
            },
        }
    }

    /// As C writes it.
    pub fn text(&self, table: &Table) -> String {
        let name = |x: usize| table.variable(x).map_or("?", |v| v.name.as_str());
        let is_pointer = |x: usize| table.variable(x).is_some_and(|v| v.kind == Kind::Pointer);
        match self {
            Shape::OneOf { x, values } => {
                let one = |k: &i128| match (is_pointer(*x), k) {
                    (true, 0) => format!("{} == NULL", name(*x)),
                    (true, _) => format!("{} != NULL", name(*x)),
                    (false, k) => format!("{} == {}", name(*x), number(*k)),
                };
                values.iter().map(one).collect::<Vec<_>>().join(" || ")
            }
            Shape::Bound { x, relation, k } => format!("{} {} {}", name(*x), relation.symbol(), number(*k)),
            Shape::Compare { x, relation, y } => format!("{} {} {}", name(*x), relation.symbol(), name(*y)),
            Shape::Modulus { x, m, r } => format!("{} % {m} == {r}", name(*x)),
            Shape::Holds { x } => name(*x).to_owned(),
            Shape::PowerOfTwo { x } => format!("{0} > 0 && ({0} & ({0} - 1)) == 0", name(*x)),
            Shape::Divides { x, y } => format!("{} % {} == 0", name(*x), name(*y)),
            Shape::Line { y, a, x, b } => {
                format!("{} == {}", name(*y), sum(&[(*a, name(*x))], *b))
            }
            Shape::Plane { z, a, x, b, y, c } => {
                format!("{} == {}", name(*z), sum(&[(*a, name(*x)), (*b, name(*y))], *c))
            }
            Shape::Function { z, operator, x, y } => {
                format!("{} == {}", name(*z), operator.text(name(*x), name(*y)))
            }
            Shape::Given { when, then } => {
                let (when, then) = (when.text(table), then.text(table));
                match then.starts_with("\\forall") || then.starts_with("\\exists") {
                    true => format!("{when} ==> ({then})"),
                    false => format!("{when} ==> {then}"),
                }
            }
        }
    }

    /// The family's name in reports.
    pub fn family(&self) -> &'static str {
        match self {
            Shape::OneOf { values, .. } if values.len() == 1 => "constant",
            Shape::OneOf { .. } => "set",
            Shape::Bound { .. } => "range",
            Shape::Compare { .. } => "comparison",
            Shape::Modulus { .. } | Shape::Divides { .. } | Shape::PowerOfTwo { .. } => "congruence",
            Shape::Line { .. } | Shape::Plane { .. } => "linear",
            Shape::Function { .. } => "functional",
            Shape::Holds { .. } => "elements",
            Shape::Given { then, .. } => then.family(),
        }
    }
}

/// A number as C writes it: the least `long` is no literal.
fn number(k: i128) -> String {
    match k {
        _ if k == i128::from(i32::MIN) || k == i128::from(i64::MIN) => format!("({} - 1)", k + 1),
        _ if k > i128::from(i64::MAX) => format!("{k}u"),
        _ => k.to_string(),
    }
}

/// A sum of products and a number.
fn sum(parts: &[(i128, &str)], constant: i128) -> String {
    let mut out = String::new();
    for (factor, name) in parts {
        let (is_negative, size) = (*factor < 0, factor.unsigned_abs());
        let product = if size == 1 { (*name).to_owned() } else { format!("{size} * {name}") };
        out += match (out.is_empty(), is_negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        out += &product;
    }
    match constant {
        0 => out,
        k if k < 0 => format!("{out} - {}", k.unsigned_abs()),
        k => format!("{out} + {k}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Variable;
    use super::*;

    fn table(kinds: &[(&str, Kind)]) -> Table {
        let variable = |(name, kind): &(&str, Kind)| Variable { name: (*name).into(), kind: *kind };
        Table::new(kinds.iter().map(variable).collect())
    }

    const INT: Kind = Kind::Integer { bits: 32, signed: true };
    const BYTE: Kind = Kind::Integer { bits: 8, signed: false };

    #[test]
    fn texts_are_c() {
        let t = table(&[("x", INT), ("y", INT), ("\\result", INT), ("p", Kind::Pointer)]);
        let text = |s: Shape| s.text(&t);
        assert_eq!(text(Shape::OneOf { x: 0, values: vec![-1, 2] }), "x == -1 || x == 2");
        assert_eq!(text(Shape::OneOf { x: 3, values: vec![1] }), "p != NULL");
        assert_eq!(text(Shape::Line { y: 2, a: -1, x: 0, b: 3 }), "\\result == -x + 3");
        assert_eq!(
            text(Shape::Plane { z: 2, a: 2, x: 0, b: -3, y: 1, c: -1 }),
            "\\result == 2 * x - 3 * y - 1"
        );
        let min = Shape::Function { z: 2, operator: Operator::Min, x: 0, y: 1 };
        assert_eq!(text(min), "\\result == (x < y ? x : y)");
        let least = Shape::Bound { x: 0, relation: Relation::GreaterOrEqual, k: i128::from(i32::MIN) };
        assert_eq!(text(least), "x >= (-2147483647 - 1)");
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        const UNSIGNED: Kind = Kind::Integer { bits: 32, signed: false };
        const WIDE: Kind = Kind::Integer { bits: 64, signed: false };
        const LONG: Kind = Kind::Integer { bits: 64, signed: true };
        let line = Shape::Line { y: 0, a: 1, x: 1, b: 1 };
        let holds = |y: Kind, x: Kind, row: [i128; 2]| {
            line.holds(&table(&[("y", y), ("x", x)]), &row.map(Some)).unwrap()
        };
        // A byte becomes an int, and 256 is not 0.
        assert!(holds(BYTE, BYTE, [7, 6]) && !holds(BYTE, BYTE, [0, 255]));
        // Unsigned sums wrap in their own type, whatever they are compared with.
        let most = i128::from(u32::MAX);
        assert!(holds(UNSIGNED, UNSIGNED, [0, most]) && holds(WIDE, UNSIGNED, [0, most]));
        assert!(!holds(WIDE, UNSIGNED, [most + 1, most]));
        // What overflows is nothing.
        let most = i128::from(i32::MAX);
        assert!(!holds(INT, INT, [i128::from(i32::MIN), most]) && !holds(LONG, INT, [most + 1, most]));
        assert!(holds(LONG, LONG, [most + 1, most]));
        let t = table(&[("z", LONG), ("x", INT), ("y", INT)]);
        let product = Shape::Function { z: 0, operator: Operator::Product, x: 1, y: 2 };
        assert_eq!(product.holds(&t, &[Some(1 << 40), Some(1 << 20), Some(1 << 20)]), Some(false));
        assert_eq!(product.holds(&t, &[Some(6), Some(2), Some(3)]), Some(true));
        let missing = line.holds(&table(&[("y", INT), ("x", INT)]), &[Some(1), None]);
        assert_eq!(missing, None);
    }

    #[test]
    fn what_divides_is_not_zero() {
        let t = table(&[("x", INT), ("y", INT)]);
        let holds = |shape: &Shape, x: i128, y: i128| shape.holds(&t, &[Some(x), Some(y)]).unwrap();
        let divides = Shape::Divides { x: 0, y: 1 };
        assert!(holds(&divides, -6, 3) && holds(&divides, 0, 5));
        assert!(!holds(&divides, 7, 3) && !holds(&divides, 0, 0));
        // The quotient overflows.
        assert!(!holds(&divides, i128::from(i32::MIN), -1));
        let power = Shape::PowerOfTwo { x: 0 };
        assert!(holds(&power, 1, 0) && holds(&power, 64, 0));
        assert!(!holds(&power, 0, 0) && !holds(&power, -4, 0) && !holds(&power, 12, 0));
        assert_eq!(power.text(&t), "x > 0 && (x & (x - 1)) == 0");
        assert_eq!(divides.text(&t), "x % y == 0");
    }

    #[test]
    fn shifts_are_those_of_the_left_type() {
        const LONG: Kind = Kind::Integer { bits: 64, signed: true };
        const UNSIGNED: Kind = Kind::Integer { bits: 32, signed: false };
        let holds = |kinds: [Kind; 3], operator: Operator, row: [i128; 3]| {
            let t = table(&[("z", kinds[0]), ("x", kinds[1]), ("y", kinds[2])]);
            Shape::Function { z: 0, operator, x: 1, y: 2 }.holds(&t, &row.map(Some)).unwrap()
        };
        assert!(holds([INT, INT, INT], Operator::ShiftLeft, [40, 5, 3]));
        assert!(holds([INT, INT, LONG], Operator::ShiftRight, [-2, -5, 2]));
        // The count of a `long` makes no `long` of an `int`.
        assert!(!holds([LONG, INT, LONG], Operator::ShiftLeft, [1 << 40, 1, 40]));
        assert!(holds([LONG, LONG, INT], Operator::ShiftLeft, [1 << 40, 1, 40]));
        assert!(holds([UNSIGNED, UNSIGNED, INT], Operator::ShiftLeft, [2, 0x8000_0001, 1]));
        for row in [[0, 1, -1], [0, 1, 32], [-2, -1, 1], [0, 1 << 30, 2]] {
            assert!(!holds([INT, INT, INT], Operator::ShiftLeft, row), "{row:?}");
        }
    }

    #[test]
    fn elements_are_said_by_their_extremes_and_conditions() {
        let least = Kind::Least { bits: 32, signed: true };
        let each = "\\forall integer k; 0 <= k && k < n ==> a[k]";
        let t = table(&[("x", INT), (each, least), ("\\exists integer k; a[k] == x", Kind::Condition)]);
        let bound = Shape::Bound { x: 1, relation: Relation::GreaterOrEqual, k: 3 };
        assert_eq!(bound.text(&t), format!("{each} >= 3"));
        let compare = Shape::Compare { x: 1, relation: Relation::Greater, y: 0 };
        assert_eq!(compare.text(&t), format!("{each} > x"));
        let when = Box::new(Shape::OneOf { x: 0, values: vec![1] });
        let given = Shape::Given { when: when.clone(), then: Box::new(compare) };
        assert_eq!(given.text(&t), format!("x == 1 ==> ({each} > x)"));
        let holds = Shape::Holds { x: 2 };
        assert_eq!(holds.text(&t), "\\exists integer k; a[k] == x");
        assert_eq!(holds.holds(&t, &[Some(1), Some(3), Some(1)]), Some(true));
        assert_eq!(holds.holds(&t, &[Some(1), Some(3), Some(0)]), Some(false));
        assert_eq!(holds.holds(&t, &[Some(1), None, None]), None);
    }

    #[test]
    fn places_are_found_by_names() {
        let (one, other) = (table(&[("x", INT), ("y", INT)]), table(&[("y", INT), ("z", INT), ("x", INT)]));
        let shape = Shape::Compare { x: 0, relation: Relation::Less, y: 1 };
        assert_eq!(shape.over(&one, &other), Some(Shape::Compare { x: 2, relation: Relation::Less, y: 0 }));
        assert_eq!(shape.over(&one, &table(&[("x", INT)])), None);
        // A variable of another type is another one.
        assert_eq!(shape.over(&one, &table(&[("x", INT), ("y", BYTE)])), None);
    }

    #[test]
    fn a_quotient_by_zero_is_nothing() {
        let t = table(&[("z", INT), ("x", INT), ("y", INT)]);
        let quotient = Shape::Function { z: 0, operator: Operator::Quotient, x: 1, y: 2 };
        assert_eq!(quotient.holds(&t, &[Some(0), Some(7), Some(0)]), Some(false));
        assert_eq!(quotient.holds(&t, &[Some(3), Some(7), Some(2)]), Some(true));
    }
}
