//! From the command line to a report: the repository, the settings, the versions, the analysis.

use super::diff::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context};
use crate::report::Report;
use crate::report::coverage::Coverage;
use std::path::PathBuf;

/// Analyses the versions that `range` names.
pub fn report(_range: &RangeArgs, _args: &DiffArgs, _context: &Context) -> Result<Report, CliError> {
    Err(CliError::fatal("the analysis is not connected yet"))
}

/// The current directory, relative to the top of the working tree; empty outside one.
pub fn prefix(context: &Context) -> PathBuf {
    let output = context.git().args(["rev-parse", "--show-prefix"]).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim_end_matches('\n').into()).unwrap_or_default()
}

/// Counts how much of a revision's source is understood.
pub fn coverage(_revision: &str, _context: &Context) -> Result<Coverage, CliError> {
    Err(CliError::fatal("the front end is not connected yet"))
}
