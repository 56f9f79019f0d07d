//! Commands that are named in the interface but not built yet.

use super::{CliError, ExitCode};
use clap::Args;

#[derive(Args, Clone, Debug)]
#[command(disable_help_flag = false)]
pub struct ReservedArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<std::ffi::OsString>,
}

/// Refuses: exit 129.
pub fn run(name: &str, _args: &ReservedArgs) -> Result<ExitCode, CliError> {
    Err(CliError::usage(format!("'{name}' is not available in this version"))
        .hint("'git invdiff -h' lists the commands"))
}
