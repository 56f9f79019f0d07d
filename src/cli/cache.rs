//! `git invdiff cache`: what the cache holds, and emptying it.

use super::{CliError, Context, ExitCode};
use clap::{Args, Subcommand};

/// The cache under the git directory: info, clear
#[derive(Args, Clone, Debug)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum CacheCommand {
    /// Where it is and how much it holds
    Info,
    /// Removes all of it
    Clear,
}

pub fn run(_args: CacheArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("the cache is not connected yet"))
}
