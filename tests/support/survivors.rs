//! What could be said of a function's exit: instances of the templates that survive all runs.
//!
//! They are read off the states of compiled runs, as Daikon does, and not taken from the engine. An
//! instance counts when it says something about what the function leaves (its result, or a place that
//! some run changes), when the types alone do not imply it, when no other survivor implies it, and when chance
//! would have broken it: were the values independent, at least ten runs would refute it; a bound must
//! have been met twenty times.

use crate::compiled::{Column, Place, States};
use git_invdiff::ir::CType;
use std::collections::{BTreeMap, BTreeSet};

/// An instance of a template that no run refutes.
#[derive(Clone, Debug)]
pub struct Survivor {
    pub template: &'static str,
    pub text: String,
    /// The values that it speaks of.
    pub subjects: Vec<String>,
    /// Where the value lies that it is about; memory if any of them does.
    pub place: Place,
}

/// Fewest states that suggest anything.
const SUPPORT: usize = 1000;
/// Counterexamples that chance would have given, and runs that meet a bound.
const EXPECTED: f64 = 10.0;
const MET: usize = 20;
/// Runs in which two values that `<=` compares differ.
const APART: usize = 500;
/// States from which chances are estimated.
const SAMPLED: usize = 2000;

/// A column's values where they are known.
struct Values<'a> {
    column: &'a Column,
    index: usize,
    rows: Vec<Option<i128>>,
    distinct: BTreeMap<i128, usize>,
    sample: Vec<i128>,
}

/// Lists the survivors of a function, the strongest templates first.
pub fn survivors(states: &States) -> Vec<Survivor> {
    if states.rows.len() < SUPPORT {
        return Vec::new();
    }
    let all: Vec<Values> = (0..states.columns.len()).map(|k| values(states, k)).collect();
    let changed: Vec<bool> = all.iter().map(|v| !v.column.is_input && is_changed(v, &all)).collect();
    let mut found = Vec::new();
    for (x, _) in all.iter().zip(&changed).filter(|(_, c)| **c) {
        unary(x, &mut found);
        for (y, y_changed) in all.iter().zip(&changed) {
            let is_pair = x.index != y.index && x.column.ty == y.column.ty && !x.column.ty.is_pointer();
            // Of two outputs, each pair once.
            if is_pair && (y.column.is_input || *y_changed && y.index > x.index) {
                binary(x, y, &mut found);
            }
        }
    }
    let order = [
        "constant",
        "comparison ==",
        "linear",
        "set",
        "congruence",
        "non-null",
        "comparison <",
        "range",
        "comparison <=",
        "comparison !=",
    ];
    found.sort_by_key(|s| order.iter().position(|t| *t == s.template));
    found
}

fn values<'a>(states: &'a States, index: usize) -> Values<'a> {
    let column = &states.columns[index];
    let read = |v: i64| match &column.ty {
        CType::Int { signed: false, bits, .. } if *bits < 64 => i128::from(v) & ((1 << bits) - 1),
        CType::Int { signed: false, .. } => i128::from(v as u64),
        _ => i128::from(v),
    };
    let rows: Vec<Option<i128>> =
        states.rows.iter().map(|(known, row)| (known >> index & 1 == 1).then(|| read(row[index]))).collect();
    let mut distinct = BTreeMap::new();
    rows.iter().flatten().for_each(|v| *distinct.entry(*v).or_default() += 1);
    let mut sample: Vec<i128> =
        rows.iter().step_by((rows.len() / SAMPLED).max(1)).flatten().copied().collect();
    sample.sort_unstable();
    Values { column, index, rows, distinct, sample }
}

/// Whether some run leaves another value than it found; a result always counts.
fn is_changed(v: &Values, all: &[Values]) -> bool {
    let before = format!("\\old({})", v.column.name);
    let Some(old) = all.iter().find(|o| o.column.name == before) else { return true };
    v.rows.iter().zip(&old.rows).any(|(a, b)| a.is_some() && b.is_some() && a != b)
}

fn limits(ty: &CType) -> (i128, i128) {
    match ty {
        CType::Int { bits, signed: true, .. } => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        CType::Int { bits, .. } => (0, (1 << bits) - 1),
        _ => (0, 1),
    }
}

/// An integer as C writes it.
fn constant(k: i128) -> String {
    match k {
        -9223372036854775808 => "(-9223372036854775807 - 1)".into(),
        -2147483648 => "(-2147483647 - 1)".into(),
        k if k > i128::from(i64::MAX) => format!("{k}u"),
        k => k.to_string(),
    }
}

fn unary(x: &Values, found: &mut Vec<Survivor>) {
    if x.distinct.values().sum::<usize>() < SUPPORT {
        return;
    }
    let (name, place) = (&x.column.name, x.column.place);
    let subjects = vec![name.clone()];
    let mut add = |template, text| found.push(Survivor { template, text, subjects: subjects.clone(), place });
    if x.column.ty.is_pointer() {
        if !x.distinct.contains_key(&0) {
            add("non-null", format!("{name} != NULL"));
        }
        return;
    }
    let keys: Vec<i128> = x.distinct.keys().copied().collect();
    if let [only] = keys.as_slice() {
        return add("constant", format!("{name} == {}", constant(*only)));
    }
    if keys.len() <= 4 && x.distinct.values().all(|n| *n >= MET) {
        let cases: Vec<String> = keys.iter().map(|k| format!("{name} == {}", constant(*k))).collect();
        return add("set", cases.join(" || "));
    }
    let (least, most) = limits(&x.column.ty);
    let (Some((&low, &low_met)), Some((&high, &high_met))) =
        (x.distinct.first_key_value(), x.distinct.last_key_value())
    else {
        return;
    };
    if low > least && low_met >= MET {
        add("range", format!("{name} >= {}", constant(low)));
    }
    if high < most && high_met >= MET {
        add("range", format!("{name} <= {}", constant(high)));
    }
    if keys.len() >= MET {
        for m in [16, 10, 8, 7, 5, 4, 3, 2] {
            let rests: BTreeSet<i128> = keys.iter().map(|k| k % m).collect();
            if rests.len() == 1 {
                add("congruence", format!("{name} % {m} == {}", keys[0] % m));
                break;
            }
        }
    }
}

/// Expected runs with `x > y`, `x == y`, `x < y`, were they independent.
fn expected(x: &Values, y: &Values, rows: usize) -> [f64; 3] {
    let (mut greater, mut equal) = (0usize, 0usize);
    for a in &x.sample {
        let below = y.sample.partition_point(|b| b < a);
        greater += below;
        equal += y.sample[below..].partition_point(|b| b <= a);
    }
    let pairs = (x.sample.len() * y.sample.len()).max(1);
    let of = |n: usize| n as f64 / pairs as f64 * rows as f64;
    [of(greater), of(equal), of(pairs - greater - equal)]
}

fn binary(x: &Values, y: &Values, found: &mut Vec<Survivor>) {
    let rows: Vec<(i128, i128)> =
        x.rows.iter().zip(&y.rows).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    if rows.len() < SUPPORT || x.distinct.len() < 2 || y.distinct.len() < 2 {
        return;
    }
    let place = x.column.place.max(y.column.place);
    let (xn, yn) = (&x.column.name, &y.column.name);
    let subjects = vec![xn.clone(), yn.clone()];
    let mut add = |template, text| found.push(Survivor { template, text, subjects: subjects.clone(), place });
    let (mut less, mut equal, mut greater) = (false, false, false);
    for (a, b) in &rows {
        match a.cmp(b) {
            std::cmp::Ordering::Less => less = true,
            std::cmp::Ordering::Equal => equal = true,
            std::cmp::Ordering::Greater => greater = true,
        }
        if less && equal && greater {
            break;
        }
    }
    let chance = expected(x, y, rows.len());
    let is_lucky = |k: usize| chance[k] < EXPECTED;
    // What differs seldom says little of how it differs.
    let apart = rows.iter().filter(|(a, b)| a != b).count() >= APART;
    match (less, equal, greater) {
        (false, true, false) if !(is_lucky(0) && is_lucky(2)) => {
            add("comparison ==", format!("{xn} == {yn}"))
        }
        (true, false, false) if !is_lucky(0) => add("comparison <", format!("{xn} < {yn}")),
        (false, false, true) if !is_lucky(2) => add("comparison <", format!("{yn} < {xn}")),
        (true, true, false) if apart && !is_lucky(0) => add("comparison <=", format!("{xn} <= {yn}")),
        (false, true, true) if apart && !is_lucky(2) => add("comparison <=", format!("{yn} <= {xn}")),
        (true, false, true) if !is_lucky(1) => add("comparison !=", format!("{xn} != {yn}")),
        _ => {}
    }
    if (less || greater)
        && let Some((a, b)) = line(y, &rows)
    {
        let scaled = match a {
            1 => yn.clone(),
            -1 => format!("-{yn}"),
            _ => format!("{a} * {yn}"),
        };
        let sum = match b {
            0 => scaled,
            b if b < 0 => format!("{scaled} - {}", -b),
            b => format!("{scaled} + {b}"),
        };
        add("linear", format!("{xn} == {sum}"));
    }
}

/// Fits `x = a*y + b`, as C computes it in the type of both.
fn line(y: &Values, rows: &[(i128, i128)]) -> Option<(i128, i128)> {
    const FEWEST: usize = 4;
    if y.distinct.len() < FEWEST {
        return None;
    }
    let small = |r: &&(i128, i128)| r.0.abs() < 1 << 20 && r.1.abs() < 1 << 20;
    let first = rows.iter().find(small)?;
    let second = rows.iter().filter(small).find(|r| (r.1 - first.1).abs() == 1)?;
    let a = (second.0 - first.0) / (second.1 - first.1);
    let b = first.0 - a * first.1;
    if a == 0 || a.abs() > 1024 || b.abs() > 1 << 20 {
        return None;
    }
    // Values of `int` and wider wrap; narrower ones are promoted, and do not.
    let (least, most) = limits(&y.column.ty);
    let modulus = most - least + 1;
    let wraps = modulus >= 1 << 32;
    let fits = |r: &(i128, i128)| {
        let difference = a * r.1 + b - r.0;
        difference == 0 || wraps && difference % modulus == 0
    };
    rows.iter().all(fits).then_some((a, b))
}
