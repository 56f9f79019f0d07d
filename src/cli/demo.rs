//! `git invdiff demo`: a small history, made on the spot, and the main job run on it.

use super::{CliError, Context, ExitCode};
use clap::Args;
use std::path::PathBuf;

/// Makes a small history in a temporary folder and runs the main job on it
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Make the history in this new or empty folder and leave it there
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

pub fn run(_args: DemoArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("demo is not connected yet"))
}
