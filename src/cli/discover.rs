//! `git invdiff discover`: invariants from runs, refined by symbolic execution until nothing refutes them.

mod command;
mod daikon;
mod first;
mod json;
mod run;
mod text;

use super::diff_args::{DiffArgs, PointChoice};
use super::quantify::{patch, without_function};
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::discover::{Choice, FirstRun, Found, Refused};
use crate::analysis::{FileChange, Request, VersionInput};
use crate::config::nearest;
use crate::discovery::{Configuration, Harness, Over, Points, Settings};
use crate::infer;
use crate::report::RepoPath;
use crate::report::filter::FunctionGlob;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Invariants that runs suggest, refined until no run refutes them
///
/// Of a range, what all versions share is told, and what one lost or got, each with an input that shows it.
///
/// Runs of a function suggest what holds at its entry and wherever it returns. Symbolic execution, with all of
/// that asserted, looks for inputs that break it and for an input of every path; these are run, and so on, until
/// nothing changes. What holds on every path is proved; the rest is likely, and says how many runs it was seen
/// in. Everything runs in an interpreter: nothing of the program is executed on the machine, but for what --run names.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff discover -- src/clamp.c:clamp             of the working tree, in any state\n  \
    git invdiff discover v1.2 -- src/clamp.c:clamp        of a revision\n  \
    git invdiff discover v1.2..HEAD -- src/clamp.c:clamp  of all versions, on the same runs\n  \
    git invdiff discover --points all -- src/sum.c:sum    at the heads of its loops, too\n  \
    git invdiff discover --harness 'wbs_init(); update(?, 0..1, 0..1)' -- wbs.c\n  \
                                                          in the state that wbs_init() leaves\n  \
    git invdiff discover --inputs first.csv -- f.c:f      first runs: a column for each input\n  \
    git invdiff discover --inputs run.dtrace.gz -- f.c:f  those that a Daikon front end saw\n  \
    git invdiff discover --run 'make check' -- f.c:f      those that the tests make, built and run in a copy\n  \
    git invdiff discover --write-dtrace f.dtrace -- f.c:f runs for Daikon; --format daikon prints as it does")]
pub struct DiscoverArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Calls that come before, and the call that is looked at: '?' is any value, LOW..HIGH any of these
    #[arg(long, value_name = "CALLS")]
    pub harness: Option<String>,

    /// First runs: a header of inputs and a line of numbers for each run; or a trace of Daikon's
    #[arg(long, value_name = "FILE.csv|FILE.dtrace")]
    pub inputs: Option<PathBuf>,

    /// Daikon's declarations of the trace, where they do not stand in it
    #[arg(long, value_name = "FILE.decls", requires = "inputs")]
    pub decls: Option<PathBuf>,

    /// First runs: what COMMAND calls, which the shell runs in a temporary copy of the version's files; it has to build
    /// what it runs
    #[arg(long, value_name = "COMMAND", conflicts_with = "inputs")]
    pub run: Option<String>,

    /// How long the command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "run", hide_short_help = true)]
    pub run_timeout: u64,

    /// Keeps what the command's calls were given, as a trace of Daikon's
    #[arg(long, value_name = "FILE.dtrace", requires = "run", hide_short_help = true)]
    pub run_dtrace: Option<PathBuf>,

    /// Writes all runs as a trace that Daikon reads, its declarations in it
    #[arg(long, value_name = "FILE.dtrace")]
    pub write_dtrace: Option<PathBuf>,

    /// Writes the declarations of that trace alone
    #[arg(long, value_name = "FILE.decls")]
    pub write_decls: Option<PathBuf>,

    /// First runs on random and boundary values, where no others are given
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub runs: usize,

    /// How unlikely it is that a candidate holds of all runs by chance; Daikon has 0.99
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub confidence: f64,

    /// Where: entry, exit, loop (heads of loops), all; entry and exit if nothing is said
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub points: Vec<PointChoice>,

    /// Only objects of the file, no parameters and results
    #[arg(long)]
    pub globals: bool,

    /// Assertions are passed by what meets them, and not each checked alone
    #[arg(long)]
    pub no_separation: bool,

    /// An assertion that was broken is checked on other paths, too
    #[arg(long)]
    pub no_restriction: bool,

    /// Answers of the solver are not kept from turn to turn
    #[arg(long)]
    pub no_reuse: bool,

    /// The engine is not asked to prove what symbolic execution leaves open
    #[arg(long)]
    pub no_proofs: bool,

    /// Also what others say, too
    #[arg(long)]
    pub all: bool,
}

/// Looks at the functions that are named.
pub fn run(args: DiscoverArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json, Format::Daikon])?;
    if args.points.contains(&PointChoice::Line) {
        return Err(CliError::usage("discover looks at no single lines").hint("entry, exit, loop or all"));
    }
    if !(0.0..1.0).contains(&args.confidence) {
        return Err(CliError::usage(format!("confidence {} is not from 0 up to below 1", args.confidence)));
    }
    if args.function.is_empty()
        && args.range.paths.is_empty()
        && args.range.revisions.len() < 2
        && args.harness.is_none()
    {
        return Err(CliError::usage("no function is named").hint("name one: -- FILE:FUNCTION"));
    }
    let harness = args.harness.as_deref().map(parsed).transpose()?;
    let first = first::read(args.inputs.as_deref(), args.decls.as_deref(), context)?;
    let (found, versions) = found(&args, harness, first, context)?;
    if found.is_empty() {
        context.warn("no function has this name");
    }
    daikon::write_files(&found, args.write_decls.as_deref(), args.write_dtrace.as_deref())?;
    match format {
        Format::Json => json::write(&found, &versions, &mut context.output)?,
        Format::Daikon => daikon::write(&found, args.all, &mut context.output)?,
        _ => {
            let shown = text::Shown { all: args.all, refuted: context.globals.verbose > 0 };
            text::write(&found, &versions, args.harness.as_deref(), &shown, &mut context.output)?;
        }
    }
    let mut all = found.iter().flat_map(|f| f.versions.iter().flatten());
    match (all.next(), all.next()) {
        (Some(Err(refused)), None) => Err(said(refused)),
        _ => Ok(ExitCode::Done),
    }
}

fn parsed(text: &str) -> Result<Harness, CliError> {
    Harness::parse(text).map_err(|e| {
        CliError::usage(format!("harness '{text}', {e}"))
            .hint("a harness is calls, for example 'init(); update(?, 0..5, 1)'")
    })
}

fn found(
    args: &DiscoverArgs,
    harness: Option<Harness>,
    first: Vec<FirstRun>,
    context: &mut Context,
) -> Result<(Vec<Found>, Vec<VersionInput>), CliError> {
    let repository = analyse::open(context)?;
    let (range, named) = without_function(&args.range, &repository.prefix());
    let of_harness = harness.iter().map(|h| h.last.function.clone());
    let names: Vec<String> = args.function.iter().chain(&named).cloned().chain(of_harness).collect();
    if names.is_empty() && range.paths.is_empty() {
        return Err(CliError::usage("no function is named").hint("name one: -- FILE:FUNCTION"));
    }
    let globs: Vec<FunctionGlob> = names.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    let is_it = |file: &RepoPath, name: &str| {
        let is_named = globs.is_empty() || globs.iter().any(|g| g.matches(file, name));
        // Where a harness is given, its last call is what is looked at.
        is_named && harness.as_ref().is_none_or(|h| h.last.function == name)
    };
    let literal = |text: &String| {
        let (file, _) = text.rsplit_once(':')?;
        (!file.contains(['*', '?', '['])).then(|| PathBuf::from(file))
    };
    let files: Option<Vec<PathBuf>> = args.function.iter().chain(&named).map(literal).collect();
    let files = files.unwrap_or_default();
    let is_one =
        range.revisions.len() == 1 && !range.revisions.iter().any(|r| r.to_string_lossy().contains(".."));
    let is_none = range.revisions.is_empty();
    let diff = DiffArgs { range, whole: true, ..DiffArgs::default() };
    let with = |versions: &mut Vec<VersionInput>, changes: &mut Vec<Vec<FileChange>>| {
        // One version: the revision that is named, or the working tree.
        if is_one || is_none {
            let newest = versions.len().saturating_sub(1);
            let version = versions.get(if is_one { 0 } else { newest }).cloned();
            *versions = version.into_iter().collect();
            changes.clear();
        }
        for v in versions.iter_mut().filter(|_| !files.is_empty()) {
            v.tree = Arc::new(patch::Overlay::listing(v.tree.clone(), files.clone()));
        }
        Ok(())
    };
    let run = args.run.as_ref().map(|command| run::Run {
        command: command.clone(),
        limit: Duration::from_secs(args.run_timeout),
        keep: args.run_dtrace.clone(),
    });
    let settings = Settings {
        families: infer::Settings { confidence: args.confidence, ..infer::Settings::default() },
        configuration: Configuration {
            separation: !args.no_separation,
            restriction: !args.no_restriction,
            reuse: !args.no_reuse,
        },
        over: if args.globals { Over::Globals } else { Over::All },
        points: points(&args.points),
        runs: args.runs,
        ..Settings::default()
    };
    let mut choice =
        Choice { is_it: &is_it, harness: harness.clone(), first, proofs: !args.no_proofs, settings };
    let before = |request: &Request, choice: &Choice, context: &mut Context| match &run {
        Some(run) => run::runs(run, (&repository, request, choice), context),
        None => Ok(Vec::new()),
    };
    analyse::discover(&repository, &diff, &mut choice, context, with, before)
}

/// The points that are chosen.
fn points(chosen: &[PointChoice]) -> Points {
    let has = |one: PointChoice| chosen.contains(&PointChoice::All) || chosen.contains(&one);
    match chosen.is_empty() {
        true => Points::default(),
        false => Points {
            entry: has(PointChoice::Entry),
            exit: has(PointChoice::Exit),
            heads: has(PointChoice::Loop),
        },
    }
}

fn said(refused: &Refused) -> CliError {
    let error = CliError::usage(refused.to_string());
    match refused {
        Refused::NoInput { name, known, .. } => {
            match (nearest(name, known.iter().map(String::as_str)), known.is_empty()) {
                (Some(near), _) => error.hint(format!("did you mean '{near}'?")),
                (None, false) => error.hint(format!("inputs: {}", known.join(", "))),
                (None, true) => error.hint("inputs are integer parameters, and globals that are read"),
            }
        }
        _ => error,
    }
}
