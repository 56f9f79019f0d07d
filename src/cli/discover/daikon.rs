//! What was discovered in Daikon's formats: its text, declarations, traces of the runs.
//!
//! Of several versions it is the newest one of each function.

use crate::analysis::discover::Found;
use crate::cli::CliError;
use crate::cli::output::write_file;
use crate::discovery::{Discovered, Invariant, Point};
use crate::infer::daikon::{
    FunctionPoint, OfFunction, PointName, RULE, said, write_calls, write_declarations,
};
use crate::report::RepoPath;
use crate::report::escape::visible;
use std::io::Write;
use std::path::Path;

/// A function with what it is called in these files.
struct Named<'f> {
    file: String,
    function: String,
    found: &'f Discovered,
}

/// The newest version of each function that was looked at.
fn newest(all: &[Found]) -> Vec<Named<'_>> {
    fn named(f: &Found) -> Option<Named<'_>> {
        let Found { file, name, versions, .. } = f;
        let found = versions.iter().flatten().next_back()?.as_ref().ok()?;
        // What a terminal would act on would end a line of these files, too.
        let (file, function) = (RepoPath::from(file).to_string(), visible(name.as_bytes()));
        Some(Named { file, function, found })
    }
    all.iter().filter_map(named).collect()
}

/// Writes the files that are asked for.
pub(super) fn write_files(
    all: &[Found],
    declarations: Option<&Path>,
    trace: Option<&Path>,
) -> Result<(), CliError> {
    let named = newest(all);
    let of: Vec<OfFunction> = named
        .iter()
        .map(|n| OfFunction { file: &n.file, function: &n.function, calls: &n.found.calls })
        .collect();
    if let Some(path) = declarations {
        let mut bytes = Vec::new();
        write_declarations(&mut bytes, &of)?;
        write_file(path, &bytes)?;
    }
    if let Some(path) = trace {
        let mut bytes = Vec::new();
        write_calls(&mut bytes, &of)?;
        write_file(path, &bytes)?;
    }
    Ok(())
}

/// Writes invariants as Daikon prints them; `is_all`: also what others say.
pub(super) fn write(all: &[Found], is_all: bool, out: &mut impl Write) -> Result<(), CliError> {
    for Named { file, function, found } in newest(all) {
        let heads = (0..found.heads.len()).map(Point::Head);
        for point in [Point::Entry].into_iter().chain(heads).chain([Point::Exit]) {
            let of_point = |i: &&Invariant| i.point == point && (is_all || !i.is_implied);
            let Some((table, _)) = found.samples.of(point) else { continue };
            if !found.invariants.iter().any(|i| of_point(&i)) {
                continue;
            }
            writeln!(out, "{RULE}")?;
            match point {
                Point::Entry => writeln!(out, "{}", PointName::of(&file, &function, FunctionPoint::Entry))?,
                Point::Exit => {
                    writeln!(out, "{}", PointName::of(&file, &function, FunctionPoint::Exit(None)))?
                }
                Point::Head(k) => {
                    let head = found.heads.get(k).copied().unwrap_or_default();
                    let nth = if head.of_line > 0 { format!("_{}", head.of_line) } else { String::new() };
                    writeln!(out, "{file}.{function}():::LOOP{}{nth}", head.line)?;
                }
            }
            let has = |name: &str, is: bool| {
                found.calls.entry.iter().any(|t| t.variable.name == name && t.is_global == is)
            };
            let is_global = |name: &str| has(name, true) && !has(name, false);
            for i in found.invariants.iter().filter(of_point) {
                writeln!(out, "{}", visible(said(&i.shape, table, &is_global)))?;
            }
        }
    }
    Ok(())
}
