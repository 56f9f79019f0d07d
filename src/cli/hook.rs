//! `git invdiff hook`: installs and runs the git hooks.

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};

use super::{CliError, Context, ExitCode, compare, shared};
use crate::gate::hooks::{self, Hook, HookOutcome, NAMES};
use crate::gate::install::{HookStatus, Hooks, InstallError, State};
use crate::report::escape::visible;
use crate::store::Git;
use clap::{Args, Subcommand};

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

pub fn run(args: HookArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    match args.command {
        HookCommand::Install { hooks } => {
            let git = compare::repository(context)?;
            let installed = Hooks::of(&git)?.install(&hooks)?;
            print(&installed, context)?;
            warn_if_shared(&git, &installed, context)?;
            if !context.globals.quiet {
                writeln!(
                    context.output,
                    "bypass with INVDIFF_SKIP=1, or for good with 'git invdiff hook uninstall'"
                )?;
            }
        }
        HookCommand::Uninstall { hooks } => {
            let git = compare::repository(context)?;
            for name in Hooks::of(&git)?.uninstall(&hooks)? {
                writeln!(context.output, "{name}  removed")?;
            }
        }
        HookCommand::Status => {
            let git = compare::repository(context)?;
            let status = Hooks::of(&git)?.status()?;
            print(&status, context)?;
        }
        HookCommand::Run { name, args } => return run_named(&name, &args, context),
    }
    Ok(ExitCode::Done)
}

/// Says that hooks went where other repositories take theirs from, too, or where git sees files of the
/// project.
fn warn_if_shared(git: &Git, hooks: &[HookStatus], context: &mut Context) -> Result<(), CliError> {
    let Some(folder) = hooks.first().and_then(|hook| hook.path.parent()) else { return Ok(()) };
    let found = git.find(&["config", "--show-scope", "--get", "core.hooksPath"])?.unwrap_or_default();
    let path_of = |what: &str| {
        let path = git.line(&["rev-parse", "--path-format=absolute", what]).ok()?;
        std::path::Path::new(&path).canonicalize().ok()
    };
    let is_below = |what: &str| {
        folder.canonicalize().is_ok_and(|folder| path_of(what).is_some_and(|top| folder.starts_with(top)))
    };
    let shown = folder.display();
    match found.split_whitespace().next() {
        Some(scope @ ("global" | "system")) => context.warn(&format!(
            "'{shown}' is the folder of core.hooksPath in your {scope} configuration; other repositories run these hooks, too"
        )),
        Some(_) if is_below("--show-toplevel") && !is_below("--git-common-dir") => context.warn(&format!(
            "'{shown}' is part of the work tree; git status shows these hooks, and whoever gets them runs them"
        )),
        _ => {}
    }
    Ok(())
}

fn print(hooks: &[HookStatus], context: &mut Context) -> Result<(), CliError> {
    let off = compare::settings(context)?.off;
    for hook in hooks {
        write!(context.output, "{:<18}  {}", hook.name, hook.state)?;
        if hook.chained {
            write!(context.output, ", after the hook that was there before")?;
        }
        if off.contains(hook.name) {
            write!(context.output, ", switched off by invdiff.hooks or invdiff.hooks.{}", hook.name)?;
        }
        writeln!(context.output)?;
    }
    if let Some(folder) = hooks.first().and_then(|hook| hook.path.parent())
        && context.globals.verbose > 0
    {
        writeln!(context.output, "in {}", visible(folder.to_string_lossy().as_bytes()))?;
    }
    Ok(())
}

/// Runs a hook. Of those that only tell something, trouble of any kind is one line: where another manager runs
/// them, their exit status is what git gets.
fn run_named(name: &str, args: &[OsString], context: &mut Context) -> Result<ExitCode, CliError> {
    if !NAMES.contains(&name) {
        return Err(InstallError::Unknown(name.to_string()).into());
    }
    shared::in_hook();
    let done = run_hook(name, args, context);
    match done {
        Err(error) if !matches!(name, "pre-commit" | "pre-push") => {
            let line = error.message.lines().next().unwrap_or_default();
            context.warn(&format!("invdiff {name}: {line}; going on without it"));
            Ok(ExitCode::Done)
        }
        done => done,
    }
}

fn run_hook(name: &str, args: &[OsString], context: &mut Context) -> Result<ExitCode, CliError> {
    let git = compare::repository(context)?;
    let settings = compare::hook_settings(context)?;
    if settings.off.contains(name) {
        return Ok(ExitCode::Done);
    }
    let mut stdin = Vec::new();
    // Where a person runs the hook there is nothing to wait for.
    if matches!(name, "post-rewrite" | "pre-push") && !std::io::stdin().is_terminal() {
        std::io::stdin()
            .read_to_end(&mut stdin)
            .map_err(|e| CliError::fatal("cannot read standard input").caused_by(&e))?;
    }
    if matches!(name, "pre-commit" | "pre-push") {
        warn_if_outdated(&git, name, context);
    }
    let mut stderr = std::io::stderr();
    let mut hook = Hook {
        git: &git,
        settings: &settings,
        glance: compare::glance(context),
        gate: compare::glance_at_properties(context, settings.timeout),
        analyse: compare::analyse(context, None),
        check: compare::check(context, settings.timeout),
        policy: compare::policy(context),
        stderr: &mut stderr,
    };
    match hooks::run(name, args, &stdin, &mut hook) {
        HookOutcome::Continue => Ok(ExitCode::Done),
        HookOutcome::Stop => Ok(ExitCode::Objection),
    }
}

/// Says that the script which runs this hook is from another version of the program.
fn warn_if_outdated(git: &Git, name: &str, context: &mut Context) {
    let status = Hooks::of(git).and_then(|hooks| hooks.status());
    let is_old = |hook: &HookStatus| hook.name == name && hook.state == State::Outdated;
    if status.is_ok_and(|hooks| hooks.iter().any(is_old)) {
        context.warn(&format!(
            "the {name} hook was installed by another version of git invdiff; renew it: git invdiff hook install"
        ));
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> CliError {
        match error {
            InstallError::Git(error) => error.into(),
            InstallError::Unknown(_) => CliError::usage(error.to_string()),
            other => CliError::fatal(other.to_string()).caused_by(&other),
        }
    }
}
