//! `git invdiff completions`: completion scripts for shells.

use super::{Cli, CliError, Context, ExitCode};
use clap::{Args, CommandFactory};
use std::io::Write;

/// Completion script for a shell
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// The script completes `git-invdiff`; bash's and zsh's git completion find the functions of
/// `git invdiff` under the name that the last lines define.
pub fn run(args: CompletionsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "git-invdiff", &mut script);
    if args.shell == clap_complete::Shell::Bash {
        script.extend_from_slice(b"\n_git_invdiff() {\n    _git-invdiff git-invdiff \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n}\n");
    }
    context.output.write_all(&script)?;
    Ok(ExitCode::Done)
}
