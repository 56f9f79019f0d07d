//! `git invdiff hook`: installs and runs the git hooks.

use super::{CliError, Context, ExitCode};
use clap::{Args, Subcommand};
use std::ffi::OsString;

/// Git hooks: install, uninstall, status, run
#[derive(Args, Clone, Debug)]
pub struct HookArgs {
    #[command(subcommand)]
    pub command: HookCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum HookCommand {
    /// Installs the hooks; other people's hooks go on working
    Install {
        /// Hooks; none: all
        #[arg(value_name = "HOOK")]
        hooks: Vec<String>,
    },
    /// Removes the hooks and restores what was there
    Uninstall {
        /// Hooks; none: all
        #[arg(value_name = "HOOK")]
        hooks: Vec<String>,
    },
    /// Says which hooks are installed
    Status,
    /// Runs a hook as git would
    Run {
        #[arg(value_name = "HOOK")]
        name: String,
        #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

pub fn run(_args: HookArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Err(CliError::fatal("hooks are not connected yet"))
}
