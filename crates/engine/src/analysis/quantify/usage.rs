//! Usage profiles of several inputs at once: joint distributions, distributions of an input by the values of another,
//! and samples.
//!
//! Each is a *factor*: rows that are boxes over some inputs, with a weight for each value in them. What is counted is
//! the product of all factors, again a sum of boxes ([`Weighted`]). Weights are whole numbers over a common
//! denominator, so everything stays exact. (Filieri, Pasareanu and Visser, "Reliability analysis in Symbolic
//! Pathfinder", ICSE 2013, have usage profiles as such sums.)

use super::{Choice, Inputs, Problem};
use crate::count::{Domain, Range, Weighted, width};
use crate::quantify::rows;
use std::collections::BTreeMap;

/// Most boxes of a profile.
const MOST: usize = 20_000;

/// A distribution of some inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Factor {
    /// The function that it was observed of; none: any that has the inputs.
    pub function: Option<String>,
    pub names: Vec<String>,
    /// Which of the names is not distributed here: the others are by its values.
    pub given: Option<usize>,
    pub rows: Vec<Row>,
    /// Every input counts once: it says which there are, and not how likely they are.
    pub is_even: bool,
}

/// Values of the inputs, in the order of the names, and how often each counts. A sample may lack a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub ranges: Vec<Option<Range>>,
    pub weight: i128,
}

impl Factor {
    /// The strings of a range of lengths, behind a parameter.
    pub(super) fn of_string(parameter: &str, lengths: Range) -> Factor {
        let rows = rows(lengths);
        let names = (0..rows.first().map_or(0, Vec::len)).map(|at| format!("{parameter}[{at}]")).collect();
        let row = |ranges: Vec<Range>| Row { ranges: ranges.into_iter().map(Some).collect(), weight: 1 };
        Factor {
            function: None,
            names,
            given: None,
            rows: rows.into_iter().map(row).collect(),
            is_even: true,
        }
    }

    /// The names that it distributes.
    pub fn distributed(&self) -> impl Iterator<Item = &String> {
        let given = self.given;
        self.names.iter().enumerate().filter(move |(k, _)| Some(*k) != given).map(|(_, name)| name)
    }

    fn distributes(&self, name: &str) -> bool {
        self.distributed().any(|n| n == name)
    }

    /// The least and the largest value that it gives a name.
    fn hull(&self, name: &str) -> Option<Range> {
        let column = self.names.iter().position(|n| n == name)?;
        let ranges = self.rows.iter().filter_map(|r| r.ranges.get(column).copied().flatten());
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

/// What a choice says of one function, with its inputs' names: factors of others are left out, and what factors
/// distribute has the range of its values.
pub(super) fn of_function(choice: &Choice, function: &str, known: &[&str]) -> Result<Choice, Problem> {
    let mut own = choice.clone();
    let is_own = |f: &Factor| f.function.as_ref().is_none_or(|name| name == function);
    own.factors.retain(is_own);
    let no_sample = || Problem::NoSample { function: function.to_owned() };
    if own.factors.is_empty() && !choice.factors.is_empty() && !choice.is_projects {
        return Err(no_sample());
    }
    let is_known = |name: &String| known.contains(&name.as_str());
    own.factors.retain(|f| f.distributed().any(is_known));
    let lacks = |f: &Factor| f.given.and_then(|k| f.names.get(k)).filter(|name| !is_known(name)).cloned();
    if choice.is_projects {
        own.factors.retain(|f| lacks(f).is_none());
    }
    for f in &mut own.factors {
        if let Some(given) = lacks(f) {
            let name = f.distributed().next().cloned().unwrap_or_default();
            return Err(Problem::NoGiven { name, given, function: function.to_owned() });
        }
        project(f, known)?;
        if f.rows.is_empty() && !choice.is_projects {
            return Err(no_sample());
        }
    }
    own.factors.retain(|f| !f.rows.is_empty());
    for f in &own.factors {
        for name in f.distributed() {
            own.domains.extend(f.hull(name).map(|range| (name.clone(), range.into())));
        }
    }
    Ok(own)
}

/// Leaves out the inputs that a function does not have: their shares are added up. A conditional distribution keeps
/// what it depends on.
fn project(f: &mut Factor, known: &[&str]) -> Result<(), Problem> {
    let given = f.given;
    let is_kept = |k: usize, name: &String| known.contains(&name.as_str()) || given == Some(k);
    let kept: Vec<bool> = f.names.iter().enumerate().map(|(k, name)| is_kept(k, name)).collect();
    let mut rows: BTreeMap<Vec<Option<Range>>, i128> = BTreeMap::new();
    for row in &f.rows {
        let ranges = |keep: bool| {
            let all = row.ranges.iter().zip(&kept).filter(move |(_, k)| **k == keep);
            all.map(|(range, _)| *range)
        };
        let own: Vec<Option<Range>> = ranges(true).collect();
        // A sample that says nothing of an input is none.
        if own.contains(&None) {
            continue;
        }
        let all = rows.entry(own).or_default();
        let width = |weight: i128, range: Range| weight.checked_mul(width(range)?);
        let more = ranges(false).flatten().try_fold(row.weight, width);
        *all = more.and_then(|more| all.checked_add(more)).ok_or(Problem::ManyDigits)?;
    }
    f.rows = rows.into_iter().map(|(ranges, weight)| Row { ranges, weight }).collect();
    f.given = given.map(|given| kept.iter().take(given).filter(|k| **k).count());
    f.names = f.names.iter().zip(&kept).filter(|(_, k)| **k).map(|(name, _)| name.clone()).collect();
    Ok(())
}

/// The boxes of a function's domain; none where nothing but single inputs is distributed.
pub(super) fn boxes(choice: &Choice, inputs: &Inputs, domain: &Domain) -> Result<Vec<Weighted>, Problem> {
    let mut left: Vec<&Factor> = choice.factors.iter().collect();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let whole = domain.inputs.iter().map(|i| i.range).collect();
    let mut found = vec![Weighted { ranges: whole, weight: 1 }];
    while !left.is_empty() {
        // What a distribution depends on comes before it.
        let depends = |f: &&Factor| {
            let given = f.given.and_then(|k| f.names.get(k));
            given.is_some_and(|name| left.iter().any(|other| other.distributes(name)))
        };
        let Some(next) = left.iter().position(|f| !depends(f)) else {
            let name = left.first().and_then(|f| f.distributed().next().cloned()).unwrap_or_default();
            return Err(Problem::Circle { name });
        };
        let f = left.remove(next);
        let more = product(&found, f, inputs)?;
        if let Some(given) = f.given {
            check_cover(f, given, (&found, &more), inputs, domain)?;
        }
        found = more;
    }
    Ok(found)
}

/// Each box with each row of a factor, where they meet.
fn product(boxes: &[Weighted], f: &Factor, inputs: &Inputs) -> Result<Vec<Weighted>, Problem> {
    let columns: Vec<Option<usize>> =
        f.names.iter().map(|name| inputs.all.iter().position(|c| *c.name == **name)).collect();
    let mut found = Vec::new();
    for b in boxes {
        for row in &f.rows {
            let Some(both) = met(b, row, &columns) else { continue };
            if found.len() >= MOST {
                return Err(Problem::ManyRows { most: MOST });
            }
            found.push(both.ok_or(Problem::ManyDigits)?);
        }
    }
    Ok(found)
}

/// A box and a row together; the inner `None`: numbers are too large.
fn met(b: &Weighted, row: &Row, columns: &[Option<usize>]) -> Option<Option<Weighted>> {
    let mut ranges = b.ranges.clone();
    let mut weight = b.weight.checked_mul(row.weight);
    for (column, range) in columns.iter().zip(&row.ranges) {
        let Some(range) = range else { continue };
        match column.and_then(|k| ranges.get_mut(k)) {
            Some(own) => {
                *own = (own.0.max(range.0), own.1.min(range.1));
                if own.0 > own.1 {
                    return None;
                }
            }
            // No version reads it: its values are added up.
            None => {
                weight = weight.zip(width(*range)).and_then(|(w, n)| w.checked_mul(n));
            }
        }
    }
    (weight != Some(0)).then_some(weight.map(|weight| Weighted { ranges, weight }))
}

/// A conditional distribution says something of all values of what it depends on: then each value's rows have the
/// same weight together, and the boxes grow by that.
fn check_cover(
    f: &Factor,
    given: usize,
    (before, after): (&[Weighted], &[Weighted]),
    inputs: &Inputs,
    domain: &Domain,
) -> Result<(), Problem> {
    let size = |boxes: &[Weighted]| {
        boxes.iter().try_fold(0i128, |all, b| all.checked_add(b.mass(domain)?)).ok_or(Problem::ManyDigits)
    };
    let range_of = |row: &Row| row.ranges.get(given).copied().flatten();
    let first = f.rows.first().and_then(range_of);
    let mut one = 0i128;
    for row in f.rows.iter().filter(|r| range_of(r) == first) {
        let widths = row.ranges.iter().enumerate().filter(|(k, _)| *k != given).filter_map(|(_, r)| *r);
        let mass = widths.into_iter().try_fold(row.weight, |all, range| all.checked_mul(width(range)?));
        one = mass.and_then(|m| one.checked_add(m)).ok_or(Problem::ManyDigits)?;
    }
    // Before it, each value of what it distributes counted once.
    let of_domain = inputs.all.iter().zip(&domain.inputs);
    let distributed = of_domain.filter(|(c, _)| f.distributes(&c.name)).filter_map(|(_, i)| width(i.range));
    let each =
        distributed.into_iter().try_fold(1i128, |all, w| all.checked_mul(w)).ok_or(Problem::ManyDigits)?;
    if (size(before)? / each.max(1)).checked_mul(one).ok_or(Problem::ManyDigits)? == size(after)? {
        return Ok(());
    }
    let on = f.names.get(given).cloned().unwrap_or_default();
    let range = inputs.all.iter().zip(&domain.inputs).find(|(c, _)| *c.name == *on).map(|(_, i)| i.range);
    let (low, high) = range.unwrap_or_default();
    let mut at = low;
    let mut ranges: Vec<Range> = f.rows.iter().filter_map(range_of).collect();
    ranges.sort_unstable();
    for (from, to) in ranges {
        if from <= at && at <= to && to < high {
            at = to + 1;
        }
    }
    let name = f.distributed().next().cloned().unwrap_or_default();
    Err(Problem::NotCovered { name, given: on, value: at })
}
