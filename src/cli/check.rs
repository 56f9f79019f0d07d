//! `git invdiff check`: the properties that a change breaks.

use super::diff_args::DiffArgs;
use super::range::RangeArgs;
use super::render::{self, Manner, left_alone};
use super::{CliError, Context, ExitCode, Format, ages, analyse, html};
use crate::config;
use crate::gate::policy::{Policy, judge};
use crate::report::filter::FunctionGlob;
use crate::report::{Judgement, Report};
use clap::Args;

/// The assertions and pinned facts that a change breaks, each with an input
///
/// Compares the first and the last version of the range: an `assert`, or a fact that the configuration
/// or a comment in the form of ACSL pins (`/*@ requires n > 0; ensures \result >= 0; */` before a
/// definition, `/*@ assert x > 0; */` between statements), is a regression if an input that keeps it in the old version breaks it in the new one. Every such input was
/// replayed in both versions. What was broken before is counted and no objection.
///
/// Exits 1 if the policy (`gate.block`) blocks one of the regressions. An assertion that is weaker than before
/// because the new code breaks what it said is a warning, and an objection where `gate.block` has `weakened`.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff check                      the working tree against HEAD\n  \
    git invdiff check --staged             what is about to be committed\n  \
    git invdiff check origin/main...HEAD   a branch, in CI\n  \
    git invdiff check HEAD~5..HEAD -- src  the first against the last, one folder")]
pub struct CheckArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Exit 3 if something could not be decided or analysed
    #[arg(long)]
    pub strict: bool,

    /// Seconds after which functions that were not looked at stay open; the answer then depends on the
    /// machine
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    /// Also count what checking every assertion would cost, beside what checking their difference does
    #[arg(long)]
    pub compare_full: bool,

    /// Limit of one solver query, in resource units (default 2000000, about a second)
    #[arg(long, value_name = "N")]
    pub rlimit: Option<u64>,

    /// Iterations up to which loops without a proved bound are unrolled
    #[arg(long, value_name = "K")]
    pub unroll: Option<u32>,
}

pub fn run(args: CheckArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[
        Format::Text,
        Format::Json,
        Format::Yaml,
        Format::Sarif,
        Format::Gitlab,
        Format::Github,
        Format::Html,
    ])?;
    let repository = analyse::open(context)?;
    let globs: Vec<FunctionGlob> = args.function.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    let diff = DiffArgs {
        // The two ends are what a change is judged by.
        range: RangeArgs { endpoints: true, ..args.range },
        function: args.function,
        strict: args.strict,
        rlimit: args.rlimit,
        unroll: args.unroll,
        compare_full: args.compare_full,
        gate: true,
        properties_only: true,
        limit: args.timeout.map(std::time::Duration::from_secs),
        ..DiffArgs::default()
    };
    let report = context.interruptible(|context| analyse::report_with_request(&repository, &diff, context));
    let (mut report, settings, request) = report?;
    ages::add(&mut report, &repository, &settings, context);
    if !globs.is_empty() {
        report.assertions.retain(|a| globs.iter().any(|glob| glob.matches(&a.file, &a.function)));
        report.functions.retain(|f| globs.iter().any(|glob| glob.matches(&f.file, &f.name)));
    }
    let policy = settings.policy(&config::today());
    policy.expired.iter().for_each(|known| context.warn(&known.over()));
    let manner = Manner { properties: true, left_alone: left_alone(&report, &policy), ..Manner::default() };
    match format {
        Format::Html => html::write(&report, &request, &manner, context)?,
        _ => render::write_report(&report, &manner, format, context)?,
    }
    Ok(exit_code(&report, &policy, settings.strict))
}

/// A regression that is shown counts before what is open.
fn exit_code(report: &Report, policy: &Policy, strict: bool) -> ExitCode {
    let newest = report.versions.last().map_or(0, |v| v.index);
    let open =
        || !report.complete || report.assertions.iter().any(|a| a.judgement(newest) == Judgement::Undecided);
    if !judge(report, policy).blocked.is_empty() {
        ExitCode::Objection
    } else if strict && open() {
        ExitCode::Undecided
    } else {
        ExitCode::Done
    }
}
