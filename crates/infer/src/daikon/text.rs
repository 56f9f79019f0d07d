//! Invariants as Daikon prints them: a line of `=`, the name of a point, and a line for each invariant.
//!
//! Source: "The Daikon Invariant Detector User Manual", chapter "Daikon output": invariant syntax, and what the families
//! look like. A least or greatest of two, which it has no family for, is written as its functions `min` and `max`.

use super::names::daikon_name;
use crate::shape::{Operator, Shape};
use crate::table::{Kind, Table, Variable};

/// What stands above a point.
pub const RULE: &str = "===========================================================================";

/// An invariant over a table with C's names; `is_global` is asked about identifiers of C.
pub fn said(shape: &Shape, table: &Table, is_global: &dyn Fn(&str) -> bool) -> String {
    let renamed = |v: &Variable| Variable { name: daikon_name(&v.name, is_global), kind: v.kind };
    written(shape, &Table::new(table.variables.iter().map(renamed).collect()))
}

fn written(shape: &Shape, table: &Table) -> String {
    let name = |x: usize| table.variable(x).map_or("?", |v| v.name.as_str());
    match shape {
        Shape::OneOf { x, values } if table.variable(*x).is_some_and(|v| v.kind == Kind::Pointer) => {
            let is = if values == &[0] { "==" } else { "!=" };
            format!("{} {is} null", name(*x))
        }
        Shape::OneOf { x, values } if values.len() > 1 => {
            let values: Vec<String> = values.iter().map(|k| k.to_string()).collect();
            format!("{} one of {{ {} }}", name(*x), values.join(", "))
        }
        Shape::OneOf { x, values } => format!("{} == {}", name(*x), values.first().copied().unwrap_or(0)),
        Shape::Bound { x, relation, k } => format!("{} {} {k}", name(*x), relation.symbol()),
        Shape::Modulus { x, m, r } => format!("{} == {r} (mod {m})", name(*x)),
        Shape::PowerOfTwo { x } => format!("{} is a power of 2", name(*x)),
        Shape::Function { z, operator: operator @ (Operator::Min | Operator::Max), x, y } => {
            let of = if *operator == Operator::Min { "min" } else { "max" };
            format!("{} == {of}({}, {})", name(*z), name(*x), name(*y))
        }
        Shape::Given { when, then } => format!("({})  ==>  ({})", written(when, table), written(then, table)),
        Shape::Function { z, operator: Operator::Product, x, y } if x == y => {
            format!("{} == {}**2", name(*z), name(*x))
        }
        Shape::Compare { .. }
        | Shape::Divides { .. }
        | Shape::Line { .. }
        | Shape::Plane { .. }
        | Shape::Holds { .. }
        | Shape::Function { .. } => shape.text(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Relation;

    #[test]
    fn families_look_as_daikon_prints_them() {
        let kind = Kind::Integer { bits: 32, signed: true };
        let variable = |name: &str, kind| Variable { name: name.to_owned(), kind };
        let table = Table::new(vec![
            variable("\\result", kind),
            variable("\\old(g)", kind),
            variable("x", kind),
            variable("p", Kind::Pointer),
        ]);
        let check = |shape: Shape, expected: &str| {
            assert_eq!(said(&shape, &table, &|root| root == "g"), expected);
        };
        let one_of = |x: usize, values: &[i128]| Shape::OneOf { x, values: values.to_vec() };
        check(one_of(2, &[-1, 4]), "x one of { -1, 4 }");
        check(one_of(2, &[i128::from(i32::MIN)]), "x == -2147483648");
        check(one_of(3, &[0]), "p == null");
        check(one_of(3, &[1]), "p != null");
        check(Shape::Modulus { x: 2, m: 12, r: 3 }, "x == 3 (mod 12)");
        check(Shape::Compare { x: 0, relation: Relation::LessOrEqual, y: 1 }, "return <= orig(::g)");
        let min = Shape::Function { z: 0, operator: Operator::Min, x: 1, y: 2 };
        check(min.clone(), "return == min(orig(::g), x)");
        check(Shape::PowerOfTwo { x: 2 }, "x is a power of 2");
        check(Shape::Divides { x: 1, y: 0 }, "orig(::g) % return == 0");
        check(Shape::Function { z: 0, operator: Operator::Product, x: 2, y: 2 }, "return == x**2");
        let when = Box::new(Shape::Bound { x: 2, relation: Relation::Less, k: 0 });
        check(Shape::Given { when, then: Box::new(min) }, "(x < 0)  ==>  (return == min(orig(::g), x))");
    }
}
