//! One step of a function's history: its churns, and remarks.

use super::{FunctionStatus, Report, TextOptions, View, churns};
use crate::escape::visible;
use std::io::{self, Write};

/// Writes what the step between the two versions of a report did; `remarks` stand below it.
pub fn render(
    report: &Report,
    remarks: &[String],
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = View { report, options };
    let tells = report.functions.iter().any(|f| {
        f.points.iter().any(|p| !p.churns.is_empty())
            || matches!(f.outcome, FunctionStatus::Added | FunctionStatus::Removed)
    });
    match (tells, report.versions.as_slice()) {
        (true, _) => churns::write(&view, out)?,
        (false, [old, new, ..]) => churns::write_heading(&view, old.index, new.index, out)?,
        (false, _) => {}
    }
    remarks.iter().try_for_each(|remark| writeln!(out, "  {}", visible(remark)))
}
