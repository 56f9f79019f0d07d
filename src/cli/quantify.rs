//! `git invdiff quantify` and `git invdiff rank`: how many inputs a change affects, in numbers.

pub(super) mod affected;
mod choice;
mod fraction;
mod json;
mod page;
pub(super) mod patch;
mod profile;
mod ranking;
mod refused;
mod samples;
mod suite;
mod text;
mod tree;

use self::choice::ChoiceArgs;
pub(super) use self::choice::limits;
use self::profile::Profile;
use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::analysis::quantify::{Choice, Quantified, Suite, TargetChoice, Wanted};
use crate::analysis::{VersionInput, memory};
use crate::config::Settings;
use crate::history::SourceTree;
use crate::report::filter::FunctionGlob;
use crate::report::{RepoPath, SCHEMA, VersionInfo, html, tree as drawn};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many inputs reach a change, behave differently after it, or fail
///
/// Counts, without running anything and without a solver, over a bounded domain of each function's
/// integer parameters, of strings that are given lengths, and of the integer globals that it reads: exact numbers
/// of inputs. Calls of functions of the same file are followed. What cannot be followed, and what C leaves
/// undefined (signed overflow too), is grey, with the reason; success, failure and grey add up to the domain.
/// What is too large to count is estimated. An assertion that fails, and abort(), is a failure.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff quantify HEAD~1..HEAD                              on a small domain, which is stated\n  \
    git invdiff quantify --domain x=-10..9 --domain y=0..99 A..B   on this one\n  \
    git invdiff quantify --domain 'len(s)=0..8' A..B -- a.c:parse   over all strings of up to 8 bytes\n  \
    git invdiff quantify --target return=-1 --function parse A..B  how often it returns -1\n  \
    git invdiff quantify A..B -- src/brake.c:launch                one function, changed or not\n  \
    git invdiff quantify --format svg -o tree.svg A..B             the trees of decisions, with their shares\n  \
    git invdiff quantify --format html -o counts.html A..B         tables and trees as a page")]
pub struct QuantifyArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    #[command(flatten)]
    pub choice: ChoiceArgs,

    /// Counts nothing but what meets the target: paths are followed no further than that takes
    #[arg(long, conflicts_with_all = ["tree", "suite", "exit_code"])]
    pub target_only: bool,

    /// With --format json: also the tree of decisions of each version
    #[arg(long)]
    pub tree: bool,

    /// Trees are drawn whole, and large ones not folded
    #[arg(long)]
    pub all: bool,

    /// Tests: a header of inputs and a line of numbers for each; says which share of the inputs they cover
    #[arg(long, value_name = "FILE.csv")]
    pub suite: Option<PathBuf>,

    /// Exit 1 if some input behaves differently
    #[arg(long)]
    pub exit_code: bool,

    /// Exit 3 if it is not known of all inputs
    #[arg(long)]
    pub strict: bool,
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

/// Nodes of a tree that is not asked for as a whole.
const NODES: usize = 60;

/// Counts a range.
pub fn run(args: QuantifyArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let formats = [Format::Text, Format::Json, Format::Dot, Format::Svg, Format::Html];
    let format = context.format(if args.target_only { &formats[..2] } else { &formats })?;
    let has_tree = args.tree || matches!(format, Format::Dot | Format::Svg | Format::Html);
    let limit = has_tree.then_some(if args.all { usize::MAX } else { NODES });
    let suite = args.suite.as_deref().map(suite::read).transpose()?;
    let (strict, is_target_only) = (args.strict, args.target_only);
    let wants = Wants { tree: limit, suite, with_first: false, strict, is_target_only };
    let (found, versions, is_strict) = found(&args.range, &args.choice, wants, &[], context)?;
    match format {
        Format::Json => {
            let targets: Vec<Value> = found.iter().map(|q| json::target(q, &args.choice.target)).collect();
            let all = json!({ "schema": SCHEMA, "versions": infos(&versions), "targets": targets });
            print_json(&all, context)?;
        }
        Format::Dot => {
            let dot = drawn::dot(&tree::drawings(&found, &versions));
            context.output.write_all(dot.as_bytes())?;
        }
        Format::Svg => {
            let svg = html::tree::svg(&tree::drawings(&found, &versions));
            context.output.write_all(&svg)?;
        }
        Format::Html => {
            context.output.without_pager();
            page::write(&found, &versions, &args.choice.target, &mut context.output)?;
        }
        _ => text::write(&found, &versions, &args.choice.target, &mut context.output)?,
    }
    let is_open = |q: &Quantified| match is_target_only {
        true => q.versions.iter().flatten().any(|c| c.totals.uncertain > 0),
        false => !text::is_harmless(q),
    };
    let is_undecided = || found.iter().any(is_open);
    Ok(match args.exit_code && found.iter().any(text::differs) {
        true => ExitCode::Objection,
        false if is_strict && is_undecided() => ExitCode::Undecided,
        false => ExitCode::Done,
    })
}

/// What is asked for beside the choice.
struct Wants {
    tree: Option<usize>,
    suite: Option<Suite>,
    with_first: bool,
    strict: bool,
    is_target_only: bool,
}

/// Orders candidates.
pub fn rank(args: RankArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let wants = Wants { tree: None, suite: None, with_first: true, strict: false, is_target_only: false };
    let (found, versions, _) = found(&args.range, &args.choice, wants, &args.patch, context)?;
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
    wants: Wants,
    patches: &[PathBuf],
    context: &mut Context,
) -> Result<(Vec<Quantified>, Vec<VersionInput>, bool), CliError> {
    asked.domains()?;
    let repository = analyse::open(context)?;
    let (range, named) = without_function(range, &repository.prefix());
    let target = from_the_top(asked.target()?, &repository.prefix());
    let globs: Vec<FunctionGlob> =
        asked.function.iter().chain(&named).map(|glob| FunctionGlob::parse(glob)).collect();
    let is_it = |file: &RepoPath, name: &str| globs.is_empty() || globs.iter().any(|g| g.matches(file, name));
    let wanted = Wanted { is_it: &is_it, is_named: !globs.is_empty() };
    let files = files(&target, asked.function.iter().chain(&named));
    let whole = !files.is_empty() || !globs.is_empty() && range.revisions.len() == 1;
    let is_one =
        range.revisions.len() == 1 && !range.revisions.iter().any(|r| r.to_string_lossy().contains(".."));
    let diff = DiffArgs { range, whole, strict: wants.strict, ..DiffArgs::default() };
    let mut profile = Profile::default();
    let choose = |settings: &Settings, tree: Option<&dyn SourceTree>| {
        let found = asked.asked(settings, tree)?;
        profile = found.profile;
        let Wants { tree, suite, with_first, is_target_only, .. } = wants;
        Ok(Choice { target: target.clone(), tree, suite, with_first, is_target_only, ..found.choice })
    };
    let with = |versions: &mut Vec<VersionInput>, changes: &mut Vec<Vec<crate::analysis::FileChange>>| {
        add_patches(patches, is_one, versions, changes)?;
        for v in versions.iter_mut().filter(|_| !files.is_empty()) {
            v.tree = Arc::new(patch::Overlay::listing(v.tree.clone(), files.clone()));
        }
        Ok(())
    };
    let (found, versions, settings) = analyse::quantify(&repository, &diff, context, &wanted, choose, with)?;
    let found = found.map_err(|problem| refused::said(problem, &profile))?;
    if found.is_empty() {
        let what = match target {
            TargetChoice::Line(..) | TargetChoice::Branch(..) => {
                "no function that is asked for has this line"
            }
            _ if !globs.is_empty() => "no function has this name",
            _ => "no function differs",
        };
        context.warn(what);
    }
    Ok((found, versions, settings.strict))
}

/// The files that are named: they are read, whether or not the range touches them, and no other is looked for.
fn files<'a>(target: &TargetChoice, functions: impl Iterator<Item = &'a String>) -> Vec<PathBuf> {
    let literal = |text: &String| {
        let (file, _) = text.rsplit_once(':')?;
        (!file.contains(['*', '?', '['])).then(|| PathBuf::from(file))
    };
    let files: Option<Vec<PathBuf>> = match target {
        TargetChoice::Line(file, _) | TargetChoice::Branch(file, _) => Some(vec![file.clone()]),
        _ => functions.map(literal).collect(),
    };
    files.unwrap_or_default()
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

/// A target with its file from the top of the tree.
fn from_the_top(mut target: TargetChoice, prefix: &Path) -> TargetChoice {
    if let TargetChoice::Line(file, _) | TargetChoice::Branch(file, _) = &mut target {
        *file = prefix.join(&*file);
    }
    target
}

/// Takes `FILE:FUNCTION` out of the paths. `prefix`: the folder that the files are in.
pub(super) fn without_function(range: &RangeArgs, prefix: &Path) -> (RangeArgs, Vec<String>) {
    let mut range = range.clone();
    let is_function = |path: &std::ffi::OsString| {
        let text = path.to_str()?;
        text.rsplit_once(':').filter(|(file, name)| !file.is_empty() && super::name::is_name(name))?;
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
