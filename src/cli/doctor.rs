//! `git invdiff doctor`: is everything in place, and how much of the source is understood.

use super::{CliError, Context, ExitCode};
use clap::Args;

/// Checks the installation; with --coverage, how much of a revision's source is understood
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// Functions found, lowered and lost in <REVISION> (default HEAD), with reasons
    #[arg(long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "HEAD")]
    pub coverage: Option<String>,
}

pub fn run(_args: DoctorArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("doctor is not connected yet"))
}
