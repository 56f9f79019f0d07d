//! First runs from files: comma-separated values, and traces of Daikon's.

use crate::analysis::discover::FirstRun;
use crate::cli::{CliError, Context};
use crate::infer::csv;
use crate::infer::daikon::{Declarations, FunctionPoint, read_trace};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Different runs of a function that are taken of a trace, the first ones.
pub(super) const MOST: usize = 2_000;

/// The values at a point.
type Row = Vec<Option<i128>>;

/// The first different rows of a point.
#[derive(Default)]
pub(super) struct Rows {
    pub rows: Vec<Row>,
    seen: HashSet<Row>,
    /// There were more.
    pub is_full: bool,
}

impl Rows {
    pub fn add(&mut self, row: &[Option<i128>]) {
        if self.seen.contains(row) {
            return;
        }
        self.is_full |= self.rows.len() >= MOST;
        if !self.is_full {
            self.seen.insert(row.to_vec());
            self.rows.push(row.to_vec());
        }
    }
}

/// Reads first runs; none where no file is given. What a trace has before a fault in it is kept, with a warning.
pub(super) fn read(
    inputs: Option<&Path>,
    decls: Option<&Path>,
    context: &mut Context,
) -> Result<Vec<FirstRun>, CliError> {
    let Some(file) = inputs else { return Ok(Vec::new()) };
    let runs = match file.to_string_lossy().contains(".dtrace") {
        true => of_trace(file, decls, context)?,
        false => of_csv(file)?,
    };
    match runs.is_empty() {
        true => Err(wrong(file, "it has no runs")),
        false => Ok(runs),
    }
}

fn wrong(file: &Path, what: impl std::fmt::Display) -> CliError {
    CliError::usage(format!("{}: {what}", file.display()))
}

fn open(file: &Path) -> Result<BufReader<File>, CliError> {
    File::open(file).map(BufReader::new).map_err(|e| wrong(file, e))
}

fn of_csv(file: &Path) -> Result<Vec<FirstRun>, CliError> {
    let inputs = csv::read(open(file)?).map_err(|e| wrong(file, e))?;
    let run = |values| FirstRun { file: None, function: None, values };
    Ok(inputs.named().map(run).collect())
}

fn of_trace(file: &Path, decls: Option<&Path>, context: &mut Context) -> Result<Vec<FirstRun>, CliError> {
    let mut declarations = match decls {
        Some(decls) => Declarations::read(open(decls)?).map_err(|e| wrong(decls, e))?,
        None => Declarations::default(),
    };
    // Names of points come with the trace: rows are kept by the number of their point.
    let mut rows: Vec<Rows> = Vec::new();
    let sink = |point: usize, row: &[Option<i128>]| {
        rows.resize_with(rows.len().max(point + 1), Rows::default);
        rows.iter_mut().skip(point).take(1).for_each(|rows| rows.add(row));
    };
    if let Err(failure) = read_trace(open(file)?, &mut declarations, sink) {
        if rows.is_empty() {
            return Err(wrong(file, failure));
        }
        context.warn(&format!("{}: {failure}; what comes before is taken", file.display()));
    }
    let mut runs = Vec::new();
    for (point, rows) in declarations.points().iter().zip(rows) {
        let (Some(FunctionPoint::Entry), Some(function)) = (point.name.place(), point.name.function()) else {
            continue;
        };
        if rows.is_full {
            let name = point.name.text();
            context.warn(&format!("{}: of {name} the first {MOST} different runs are taken", file.display()));
        }
        let columns = point.columns();
        runs.extend(rows.rows.iter().map(|row| {
            let value = |(at, v): &(usize, crate::infer::Variable)| {
                Some((v.name.clone(), row.get(*at).copied().flatten()?))
            };
            let values = columns.iter().filter_map(value).collect();
            FirstRun { file: None, function: Some(function.to_owned()), values }
        }));
    }
    Ok(runs)
}
