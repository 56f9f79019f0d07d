//! Conditions of a function's branches over what it is given: more may hold under one of them than always does.

use super::subject::{Source, Subject};
use super::{Point, sequences};
use crate::infer::{Kind, Relation, Shape};
use crate::ir::{Expr, Function, Instr, Op, VarId};
use std::collections::BTreeMap;

/// Most conditions of one function.
const MOST: usize = 12;

/// The conditions, each with its opposite, over the variables of the exit.
pub fn of(subject: &Subject) -> Vec<Shape> {
    let f = subject.function;
    let defined = definitions(f);
    let mut found: Vec<Shape> = Vec::new();
    for node in &f.nodes {
        let Instr::Branch { cond } = &node.instr else { continue };
        for shape in conditions(subject, &defined, cond, 0) {
            if !found.contains(&shape) && found.len() < 2 * MOST {
                found.push(shape);
            }
        }
    }
    for shape in sequences::splitters(subject) {
        if !found.contains(&shape) {
            found.push(shape);
        }
    }
    found
}

/// Temporaries and what they are.
fn definitions(f: &Function) -> BTreeMap<VarId, &Expr> {
    let mut found = BTreeMap::new();
    for node in &f.nodes {
        if let Instr::Assign { dst, value } = &node.instr
            && f.var(*dst).kind == crate::ir::VarKind::Temp
        {
            found.insert(*dst, value);
        }
    }
    found
}

fn conditions(subject: &Subject, defined: &BTreeMap<VarId, &Expr>, e: &Expr, depth: u32) -> Vec<Shape> {
    if depth > 4 {
        return Vec::new();
    }
    match e {
        Expr::Var(v) => match defined.get(v) {
            Some(e) => conditions(subject, defined, e, depth + 1),
            None => Vec::new(),
        },
        Expr::Op { op: Op::Not, args, .. } => {
            args.iter().flat_map(|a| conditions(subject, defined, a, depth + 1)).collect()
        }
        Expr::Op { op: Op::And | Op::Or, args, .. } => {
            args.iter().flat_map(|a| conditions(subject, defined, a, depth + 1)).collect()
        }
        Expr::Op { op, args, .. } => comparison(subject, *op, args),
        _ => Vec::new(),
    }
}

fn comparison(subject: &Subject, op: Op, args: &[Expr]) -> Vec<Shape> {
    let [a, b] = args else { return Vec::new() };
    let (relation, opposite) = match op {
        Op::Eq => (Relation::Equal, Relation::Different),
        Op::Slt | Op::Ult => (Relation::Less, Relation::GreaterOrEqual),
        Op::Sle | Op::Ule => (Relation::LessOrEqual, Relation::Greater),
        _ => return Vec::new(),
    };
    let one = |x: usize, relation: Relation, k: i128| match relation {
        Relation::Equal => Shape::OneOf { x, values: vec![k] },
        relation => Shape::Bound { x, relation, k },
    };
    match (place(subject, a), place(subject, b)) {
        (Some((x, kind)), Some((y, other))) if kind == other => {
            // What comes first stands on the left.
            let compare = |relation: Relation| match x < y {
                true => Shape::Compare { x, relation, y },
                false => Shape::Compare { x: y, relation: relation.turned(), y: x },
            };
            [relation, opposite].map(compare).into()
        }
        (Some((x, Kind::Pointer)), None) if number(b, true) == Some(0) && relation == Relation::Equal => {
            [0, 1].map(|k| Shape::OneOf { x, values: vec![k] }).into()
        }
        (Some((x, Kind::Integer { signed, .. })), None) => number(b, signed)
            .map_or(Vec::new(), |k| [relation, opposite].map(|relation| one(x, relation, k)).into()),
        (None, Some((x, Kind::Integer { signed, .. }))) => number(a, signed)
            .map_or(Vec::new(), |k| [relation, opposite].map(|r| one(x, r.turned(), k)).into()),
        _ => Vec::new(),
    }
}

fn number(e: &Expr, is_signed: bool) -> Option<i128> {
    let Expr::Const(c) = e else { return None };
    if is_signed { c.signed() } else { c.unsigned().and_then(|u| i128::try_from(u).ok()) }
}

/// Where a parameter stands among the variables of the exit, if it keeps its value.
fn place(subject: &Subject, e: &Expr) -> Option<(usize, Kind)> {
    let Expr::Var(v) = e else { return None };
    let k = subject.function.params.iter().position(|p| p == v)?;
    let exit = subject.variables(Point::Exit);
    let at = exit.iter().position(|l| l.source == Source::Parameter(k))?;
    let looked = exit.get(at)?;
    let is_kept = *looked.variable.name == *subject.function.var(*v).name;
    is_kept.then_some((at, looked.variable.kind))
}
