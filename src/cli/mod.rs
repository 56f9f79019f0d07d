//! Argument definitions and one file a subcommand; no analysis.
//!
//! [`main`] reads the command line, runs one command, and turns what comes back into an exit code:
//! 0 done, 1 objection, 3 undecided under `--strict`, 128 fatal, 129 usage, 141 when the reader of
//! the output went away; as a signal ends it (130, 143) where one interrupted the work. All results go through
//! [`Output`], everything else to standard error.

mod affects;
mod ages;
mod analyse;
mod arenas;
mod args;
mod assert;
mod bisect;
mod blame;
mod bugreport;
mod build_names;
mod cache;
mod cached;
mod check;
mod colour;
mod compare;
mod compdb;
mod completions;
mod condition;
mod context;
mod demo;
mod diff;
mod diff_args;
mod discover;
mod doctor;
mod error;
mod explain;
mod globals;
mod graph;
mod history;
mod hook;
mod html;
mod interrupt;
mod man;
mod missing;
mod name;
mod notes;
mod output;
mod progress;
mod quantify;
mod range;
mod render;
mod shared;
mod suppress;
mod trailers;
mod versions;
mod witness;

pub use args::{Cli, Command};
pub use context::{Context, Format};
pub use error::{CliError, ErrorKind, ExitCode};
pub use globals::GlobalArgs;
pub use output::Output;
pub use progress::Progress;

use crate::config::nearest;
use crate::fault;
use clap::{CommandFactory, Parser};
use std::io::Write;

/// Runs the command that the process's arguments name.
pub fn main() -> std::process::ExitCode {
    fault::be_brief();
    let words: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    arenas::limit(&words);
    let crashed = |said: String| Err(CliError::fatal(said));
    let code = match fault::caught(|| run(words)).unwrap_or_else(crashed) {
        Ok(code) => code.code(),
        Err(error) => {
            if error.kind != ErrorKind::BrokenPipe {
                let _ = write!(std::io::stderr(), "{error}");
            }
            if error.kind.is_stopped() {
                // What is still at work beside is not waited for.
                signal_hook::low_level::exit(error.kind.code().into());
            }
            error.kind.code()
        }
    };
    code.into()
}

/// Runs the command that `words` (without the program's name) name.
pub fn run(words: Vec<std::ffi::OsString>) -> Result<ExitCode, CliError> {
    let separated = words.iter().any(|word| word == "--");
    let given = words.len();
    let words = args::with_default_command(words, &Cli::command());
    let without_command = words.len() > given;
    let cli = match Cli::try_parse_from(std::iter::once("git-invdiff".into()).chain(words)) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&error),
    };
    let mut context = Context::new(cli.globals, separated)?;
    let result = dispatch(cli.command, &mut context);
    shared::tell(&mut context);
    // What was found before a failure is shown; the failure itself is what counts.
    let is_whole = result.is_ok() && !context.is_interrupted();
    let finished = context.output.finish(is_whole);
    context.end_interrupted();
    let code = result.map_err(|error| if without_command { with_command(error) } else { error })?;
    finished?;
    Ok(code)
}

/// Says which command may be meant by a word that names no revision.
fn with_command(error: CliError) -> CliError {
    let word = error.message.strip_prefix("unknown revision '").and_then(|rest| rest.strip_suffix('\''));
    let root = Cli::command();
    let name = word.and_then(|word| nearest(word, root.get_subcommands().map(|c| c.get_name())));
    match name {
        Some(name) => error.hint(format!("did you mean 'git invdiff {name}'?")),
        None => error,
    }
}

fn dispatch(command: Command, context: &mut Context) -> Result<ExitCode, CliError> {
    let results = matches!(
        command,
        Command::Diff(_)
            | Command::Check(_)
            | Command::Condition(_)
            | Command::Discover(_)
            | Command::Quantify(_)
            | Command::Rank(_)
            | Command::Blame(_)
            | Command::Bisect(_)
            | Command::Demo(_)
            | Command::Graph(_)
            | Command::Doctor(_)
            | Command::Explain(_)
    ) || matches!(&command, Command::Notes(args) if args.shows());
    if !results {
        context.output.without_pager();
    }
    match command {
        Command::Diff(args) => diff::run(args, context),
        Command::Graph(args) => graph::run(args, context),
        Command::Suppress(args) => suppress::run(args, context),
        Command::Notes(args) => notes::run(args, context),
        Command::Trailers(args) => trailers::run(args, context),
        Command::Hook(args) => hook::run(args, context),
        Command::Cache(args) => cache::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Explain(args) => explain::run(args, context),
        Command::Bugreport(args) => bugreport::run(args, context),
        Command::Demo(args) => demo::run(args, context),
        Command::Completions(args) => completions::run(args, Cli::command(), context),
        Command::Man(args) => man::run(args, Cli::command(), context),
        Command::Check(args) => check::run(args, context),
        Command::Assert(args) => assert::run(args, context),
        Command::Witness(args) => witness::run(args, context),
        Command::Condition(args) => condition::run(args, context),
        Command::Discover(args) => discover::run(args, context),
        Command::Quantify(args) => quantify::run(args, context),
        Command::Rank(args) => quantify::rank(args, context),
        Command::Blame(args) => blame::run(args, context),
        Command::Bisect(args) => bisect::run(args, context),
    }
}

/// Help and version go to standard output and are no error; the rest is a usage error in clap's
/// words.
fn report_parse_error(error: &clap::Error) -> Result<ExitCode, CliError> {
    use clap::error::ErrorKind as Clap;
    if matches!(error.kind(), Clap::DisplayHelp | Clap::DisplayVersion) {
        error.print()?;
        return Ok(ExitCode::Done);
    }
    let text = error.render().to_string();
    let text = text.trim_end().strip_prefix("error: ").unwrap_or(&text).trim_end();
    Err(CliError::usage(text))
}
