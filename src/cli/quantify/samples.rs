//! Profiles from data: each call that was observed counts once.
//!
//! A table has a line of input names, and a line of numbers for each call. A trace of Daikon's has the values of all
//! functions at their entries; it may be compressed.

use crate::analysis::quantify::{Factor, Row};
use crate::cli::name::is_name;
use crate::infer::csv;
use crate::infer::daikon::{Declarations, FunctionPoint, read_trace};
use std::collections::BTreeMap;

/// Different calls of a profile.
const MOST: usize = 20_000;

type Range = (i128, i128);
/// Where ranges of inputs are written, with their lines.
type Places = Vec<(String, Range, usize)>;

/// Whether a file has a trace, by its name.
pub(super) fn is_trace(name: &str) -> bool {
    name.contains(".dtrace")
}

/// The lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    all.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Whether a text has samples: its first line has nothing but names, and is not the head of probabilities.
pub(super) fn is_table(text: &str) -> bool {
    let Some((_, first)) = lines(text).next() else { return false };
    let names: Vec<&str> = first.split(',').map(|f| f.trim().trim_matches('"')).collect();
    let is_head = names
        .first()
        .zip(names.get(1))
        .is_some_and(|(a, b)| a.eq_ignore_ascii_case("input") && b.eq_ignore_ascii_case("low"));
    !is_head && names.iter().all(|name| is_name(name))
}

/// Reads a table; the error begins with its place.
pub(super) fn of_table(text: &str) -> Result<(Factor, Places), String> {
    let inputs = csv::read(text.as_bytes()).map_err(|e| e.to_string())?;
    if inputs.rows.is_empty() {
        return Err("no line has a sample".to_owned());
    }
    let mut counts: BTreeMap<&Vec<i128>, i128> = BTreeMap::new();
    let mut places = Places::new();
    for (row, (line, _)) in inputs.rows.iter().zip(lines(text).skip(1)) {
        let of_row = inputs.names.iter().zip(row);
        if counts.insert(row, counts.get(row).copied().unwrap_or(0) + 1).is_none() {
            places.extend(of_row.map(|(name, v)| (name.clone(), (*v, *v), line)));
        }
        if counts.len() > MOST {
            return Err(format!("line {line}: more than {MOST} different samples"));
        }
    }
    let row = |(row, weight): (&Vec<i128>, i128)| Row {
        ranges: row.iter().map(|v| Some((*v, *v))).collect(),
        weight,
    };
    let rows = counts.into_iter().map(row).collect();
    Ok((Factor { function: None, names: inputs.names.clone(), given: None, rows, is_even: false }, places))
}

/// Reads a trace: a factor for each function that it has.
pub(super) fn of_trace(bytes: &[u8]) -> Result<Vec<Factor>, String> {
    let mut declarations = Declarations::default();
    let mut counts: BTreeMap<(usize, Vec<Option<i128>>), i128> = BTreeMap::new();
    let mut is_full = false;
    let sink = |point: usize, row: &[Option<i128>]| {
        is_full |= counts.len() >= MOST;
        if !is_full {
            *counts.entry((point, row.to_vec())).or_default() += 1;
        }
    };
    read_trace(bytes, &mut declarations, sink).map_err(|e| e.to_string())?;
    if is_full {
        return Err(format!("more than {MOST} different samples"));
    }
    let mut found = Vec::new();
    for (k, point) in declarations.points().iter().enumerate() {
        let function = point.name.function().filter(|_| point.name.place() == Some(FunctionPoint::Entry));
        let Some(function) = function else { continue };
        let columns = point.columns();
        let sample = |((_, row), weight): (&(usize, Vec<Option<i128>>), &i128)| {
            let value = |at: &usize| row.get(*at).copied().flatten().map(|v| (v, v));
            Row { ranges: columns.iter().map(|(at, _)| value(at)).collect(), weight: *weight }
        };
        let rows: Vec<Row> = counts.iter().filter(|((p, _), _)| *p == k).map(sample).collect();
        let names = columns.iter().map(|(_, v)| v.name.clone()).collect();
        if !rows.is_empty() {
            found.push(Factor {
                function: Some(function.to_owned()),
                names,
                given: None,
                rows,
                is_even: false,
            });
        }
    }
    match found.is_empty() {
        true => Err("it has no call of a function".to_owned()),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted() {
        let text = "# calls\nx,y\n1,2\n\n3,4\n1,2\n";
        assert!(
            is_table(text) && !is_table("input,low,high,probability\nx,0,1,1\n") && !is_table("x,0,9,1\n")
        );
        let (found, places) = of_table(text).unwrap();
        let row = |x: i128, y: i128, weight| Row { ranges: vec![Some((x, x)), Some((y, y))], weight };
        assert_eq!(found.rows, [row(1, 2, 2), row(3, 4, 1)]);
        assert!(places.contains(&("y".to_owned(), (4, 4), 5)), "{places:?}");
        assert_eq!(of_table("x,y\n1\n").unwrap_err(), "line 2, column 2: 1 values for 2 names");
        assert_eq!(of_table("x,y\n").unwrap_err(), "no line has a sample");
    }
}
