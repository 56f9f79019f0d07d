//! `git invdiff completions`: completion scripts for shells.

use super::{CliError, Context, ExitCode};
use clap::Args;
use clap_complete::Shell;
use std::io::Write;

/// Completion script for a shell
///
/// Where shells look for it: ~/.local/share/bash-completion/completions/git-invdiff for bash,
/// ~/.config/fish/completions/git-invdiff.fish for fish, and a file _git-invdiff in a folder of $fpath for
/// zsh. Each completes 'git-invdiff', and 'git invdiff' together with the shell's completion for git.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: Shell,
}

const NAME: &str = "git-invdiff";

/// For bash: what git's own completion calls for `git invdiff`, or an alias of it. The generated function
/// reads the words of a command line, so it gets those from our name on.
const BASH: &str = "
_git_invdiff() {
    local at=${__git_cmd_idx:-1}
    local words=(git-invdiff \"${COMP_WORDS[@]:at+1}\") word=$((COMP_CWORD - at))
    local COMP_WORDS=(\"${words[@]}\") COMP_CWORD=$word
    _invdiff git-invdiff \"${words[word]}\" \"${words[word-1]}\"
}
";

/// The script completes `git-invdiff`; git's completion in zsh and fish finds it for `git invdiff`, too.
pub fn run(args: CompletionsArgs, root: clap::Command, context: &mut Context) -> Result<ExitCode, CliError> {
    let script = match args.shell {
        Shell::Bash => for_bash(root),
        shell => generated(root, shell, NAME),
    };
    context.output.write_all(script.as_bytes())?;
    Ok(ExitCode::Done)
}

fn generated(mut root: clap::Command, shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut root, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// In a program whose name has a `-` the generated function does not find its own commands, so it is
/// generated under a name without one, and bound to ours.
fn for_bash(root: clap::Command) -> String {
    generated(root, Shell::Bash, "invdiff").replace("-o default invdiff\n", &format!("-o default {NAME}\n"))
        + BASH
}
