//! `git invdiff quantify` and `git invdiff rank`: how many inputs a change affects, in numbers.

mod choice;
mod json;
pub(super) mod patch;
mod profile;
mod ranking;
mod text;

use self::choice::ChoiceArgs;
use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::quantify::{Choice, Problem, Quantified, TargetChoice, Wanted};
use crate::analysis::{VersionInput, memory};
use crate::config::nearest;
use crate::report::filter::FunctionGlob;
use crate::report::{RepoPath, SCHEMA, VersionInfo};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many inputs reach a change, behave differently after it, or fail
///
/// Counts, without running anything and without a solver, over a bounded domain of each function's
/// integer parameters and the integer globals that it reads: exact numbers of inputs. Calls of functions of
/// the same file are followed. What cannot be followed or counted, and what C leaves undefined (signed
/// overflow too), is grey, with the reason; success, failure and grey add up to the domain. An assertion that
/// fails, and abort(), is a failure.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff quantify HEAD~1..HEAD                              on a small domain, which is stated\n  \
    git invdiff quantify --domain x=-10..9 --domain y=0..99 A..B   on this one\n  \
    git invdiff quantify --target return=-1 --function parse A..B  how often it returns -1\n  \
    git invdiff quantify A..B -- src/brake.c:launch                one function, changed or not")]
pub struct QuantifyArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// Candidate fixes in the order of their failures
///
/// Each revision is a candidate, and each patch to the first of them. The one with the fewest failing inputs
/// comes first; what is grey counts as failing. Of those that fail as often, the one that changes least else
/// comes first: the inputs on which the first revision does not fail, and that behave differently. Ties are
/// said.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff rank --domain x=0..99 --function f broken fix-1 fix-2\n  \
    git invdiff rank --patch one.diff --patch two.diff HEAD")]
pub struct RankArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// A unified diff to the first revision, as a candidate
    #[arg(long, value_name = "FILE")]
    pub patch: Vec<PathBuf>,

    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// Counts a range.
pub fn run(args: QuantifyArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let choice = args.choice.parsed(false)?;
    let (found, versions) = found(&args.range, &args.choice, &choice, &[], context)?;
    match format {
        Format::Json => {
            let targets: Vec<Value> = found.iter().map(|q| json::target(q, &args.choice.target)).collect();
            let all = json!({ "schema": SCHEMA, "versions": infos(&versions), "targets": targets });
            print_json(&all, context)?;
        }
        _ => text::write(&found, &versions, &args.choice.target, &mut context.output)?,
    }
    Ok(ExitCode::Done)
}

/// Orders candidates.
pub fn rank(args: RankArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let choice = args.choice.parsed(true)?;
    let (found, versions) = found(&args.range, &args.choice, &choice, &args.patch, context)?;
    let function = match found.as_slice() {
        [one] => one,
        [] => return Err(CliError::fatal("no function has more than one body among these candidates")),
        more => {
            let names: Vec<String> = more.iter().map(text::title).collect();
            return Err(CliError::usage(format!("{} functions differ: {}", more.len(), names.join(", ")))
                .hint("choose one with --function"));
        }
    };
    let ranking = ranking::of(function, &versions);
    match format {
        Format::Json => {
            let entries: Vec<Value> = ranking.iter().map(|r| r.json(function)).collect();
            print_json(
                &json!({ "schema": SCHEMA, "versions": infos(&versions), "ranking": entries }),
                context,
            )?;
        }
        _ => ranking::write(&ranking, function, &mut context.output)?,
    }
    Ok(ExitCode::Done)
}

fn infos(versions: &[VersionInput]) -> Value {
    versions.iter().map(|v| serde_json::to_value(&v.info).unwrap_or_default()).collect()
}

fn print_json(value: &Value, context: &mut Context) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| CliError::fatal(e.to_string()))?;
    writeln!(context.output, "{text}")?;
    Ok(())
}

fn found(
    range: &RangeArgs,
    asked: &ChoiceArgs,
    choice: &Choice,
    patches: &[PathBuf],
    context: &mut Context,
) -> Result<(Vec<Quantified>, Vec<VersionInput>), CliError> {
    let repository = analyse::open(context)?;
    let (range, named) = without_function(range, &repository.prefix());
    let choice = &from_the_top(choice, &repository.prefix());
    let globs: Vec<FunctionGlob> =
        asked.function.iter().chain(&named).map(|glob| FunctionGlob::parse(glob)).collect();
    let is_it = |file: &RepoPath, name: &str| globs.is_empty() || globs.iter().any(|g| g.matches(file, name));
    let wanted = Wanted { is_it: &is_it, is_named: !globs.is_empty() };
    // A file that is named is read, whether or not the range touches it, and no other is looked for.
    let literal = |text: &String| {
        let (file, _) = text.rsplit_once(':')?;
        (!file.contains(['*', '?', '['])).then(|| PathBuf::from(file))
    };
    let files: Option<Vec<PathBuf>> = match &choice.target {
        TargetChoice::Line(file, _) | TargetChoice::Branch(file, _) => Some(vec![file.clone()]),
        _ => asked.function.iter().chain(&named).map(literal).collect(),
    };
    let files = files.unwrap_or_default();
    let whole = !files.is_empty() || !globs.is_empty() && range.revisions.len() == 1;
    let is_one =
        range.revisions.len() == 1 && !range.revisions.iter().any(|r| r.to_string_lossy().contains(".."));
    let diff = DiffArgs { range, whole, ..DiffArgs::default() };
    let with = |versions: &mut Vec<VersionInput>, changes: &mut Vec<Vec<crate::analysis::FileChange>>| {
        add_patches(patches, is_one, versions, changes)?;
        for v in versions.iter_mut().filter(|_| !files.is_empty()) {
            v.tree = Arc::new(patch::Overlay::listing(v.tree.clone(), files.clone()));
        }
        Ok(())
    };
    let (found, versions) = analyse::quantify(&repository, &diff, choice, context, &wanted, with)?;
    let found = found.map_err(refused)?;
    if found.is_empty() {
        let what = match choice.target {
            TargetChoice::Line(..) | TargetChoice::Branch(..) => {
                "no function that is asked for has this line"
            }
            _ if !globs.is_empty() => "no function has this name",
            _ => "no function differs",
        };
        context.warn(what);
    }
    Ok((found, versions))
}

/// Adds a version for each patch to the first version. `is_one`: one revision was named.
fn add_patches(
    patches: &[PathBuf],
    is_one: bool,
    versions: &mut Vec<VersionInput>,
    changes: &mut Vec<Vec<crate::analysis::FileChange>>,
) -> Result<(), CliError> {
    let Some(base) = versions.first().map(|v| v.tree.clone()) else { return Ok(()) };
    if !patches.is_empty() && is_one {
        // The revision alone is meant, and not the working tree.
        versions.truncate(1);
        changes.clear();
    }
    for file in patches {
        let tree = Arc::new(patch::apply(file, &base)?);
        let before = versions.last().map_or(base.clone(), |v| v.tree.clone());
        changes.push(memory::changes(&*before, &*tree));
        let index = u32::try_from(versions.len()).unwrap_or(u32::MAX).saturating_add(1);
        let info = VersionInfo { index, name: file.display().to_string(), ..VersionInfo::default() };
        versions.push(VersionInput { info, tree });
    }
    Ok(())
}

/// What was asked, with a target's file from the top of the tree.
fn from_the_top(choice: &Choice, prefix: &Path) -> Choice {
    let mut choice = choice.clone();
    if let TargetChoice::Line(file, _) | TargetChoice::Branch(file, _) = &mut choice.target {
        *file = prefix.join(&*file);
    }
    choice
}

/// Takes `FILE:FUNCTION` out of the paths. `prefix`: the folder that the files are in.
pub(super) fn without_function(range: &RangeArgs, prefix: &Path) -> (RangeArgs, Vec<String>) {
    let mut range = range.clone();
    let is_function = |path: &std::ffi::OsString| {
        let text = path.to_str()?;
        text.rsplit_once(':').filter(|(file, name)| !file.is_empty() && super::history::is_name(name))?;
        Some(text.to_owned())
    };
    let from_the_top = |text: String| match prefix.to_str().filter(|p| !p.is_empty()) {
        Some(prefix) => format!("{}/{text}", prefix.trim_end_matches('/')),
        None => text,
    };
    let named = range.paths.iter().filter_map(is_function).map(from_the_top).collect();
    range.paths.retain(|p| is_function(p).is_none());
    (range, named)
}

fn refused(problem: Problem) -> CliError {
    match problem {
        Problem::NoInput { name, known } => {
            let error = CliError::usage(format!("'{name}' is no input of a function that is counted"));
            match (nearest(&name, known.iter().map(String::as_str)), known.is_empty()) {
                (Some(near), _) => error.hint(format!("did you mean '{near}'?")),
                (None, false) => error.hint(format!("inputs: {}", known.join(", "))),
                (None, true) => error.hint("inputs are integer parameters, and globals that are read"),
            }
        }
        Problem::OutOfType { name, whole: (low, high) } => {
            CliError::usage(format!("the domain of '{name}' leaves its type, which has {low}..{high}"))
        }
        Problem::TooLarge { function } => CliError::usage(format!(
            "the domain of {function}() is too large to count: more than 2^120 inputs"
        ))
        .hint("give smaller ranges with --domain NAME=LOW..HIGH"),
        Problem::NoCode { line, function, is_branch, nearest } => {
            let what = if is_branch { "branch" } else { "code" };
            let error = CliError::usage(format!("line {line} has no {what} of {function}()"));
            match nearest {
                Some(near) => error.hint(format!("the nearest line with one is {near}")),
                None => error,
            }
        }
    }
}
