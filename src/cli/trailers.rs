//! `git invdiff trailers`: results as commit trailers.

use super::{CliError, Context, ExitCode};
use clap::Args;
use std::path::PathBuf;

/// Results as commit trailers
#[derive(Args, Clone, Debug)]
pub struct TrailersArgs {
    /// Put the trailers into this commit message
    #[arg(long, value_name = "FILE")]
    pub in_place: Option<PathBuf>,

    /// A commit, or a range; none: the staged change
    #[arg(value_name = "REVISION")]
    pub revisions: Vec<String>,
}

pub fn run(_args: TrailersArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("trailers are not connected yet"))
}
