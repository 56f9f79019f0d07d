//! `git invdiff graph`: the multiversion control-flow graph as DOT or SVG.

use super::range::RangeArgs;
use super::{CliError, Context, ExitCode};
use clap::Args;

/// The multiversion control-flow graph of a range, as DOT or SVG
#[derive(Args, Clone, Debug)]
pub struct GraphArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,
}

pub fn run(_args: GraphArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("the graph is not connected yet"))
}
