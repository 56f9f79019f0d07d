//! First runs from files: comma-separated values, and traces of Daikon's.

use crate::analysis::discover::FirstRun;
use crate::cli::{CliError, Context};
use crate::infer::csv;
use crate::infer::daikon::{Declarations, Place, read_trace};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Different runs of a trace that are taken, the first ones.
const MOST: usize = 2_000;

/// The values at a point, by its number.
type Row = (usize, Vec<Option<i128>>);

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
    let run = |values| FirstRun { function: None, values };
    Ok(inputs.named().map(run).collect())
}

fn of_trace(file: &Path, decls: Option<&Path>, context: &mut Context) -> Result<Vec<FirstRun>, CliError> {
    let mut declarations = match decls {
        Some(decls) => Declarations::read(open(decls)?).map_err(|e| wrong(decls, e))?,
        None => Declarations::default(),
    };
    // Names of points come with the trace: rows are kept by the number of their point.
    let mut rows: Vec<Row> = Vec::new();
    let mut seen: HashSet<Row> = HashSet::new();
    let sink = |point: usize, row: &[Option<i128>]| {
        if rows.len() < MOST && seen.insert((point, row.to_vec())) {
            rows.push((point, row.to_vec()));
        }
    };
    if let Err(failure) = read_trace(open(file)?, &mut declarations, sink) {
        if rows.is_empty() {
            return Err(wrong(file, failure));
        }
        context.warn(&format!("{}: {failure}; what comes before is taken", file.display()));
    }
    let run = |(point, row): Row| {
        let point = declarations.points().get(point)?;
        if point.name.place() != Some(Place::Entry) {
            return None;
        }
        let value =
            |(at, v): (usize, crate::infer::Variable)| Some((v.name, row.get(at).copied().flatten()?));
        let values = point.columns().into_iter().filter_map(value).collect();
        Some(FirstRun { function: Some(point.name.function()?.to_owned()), values })
    };
    Ok(rows.into_iter().filter_map(run).collect())
}
