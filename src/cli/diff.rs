//! `git invdiff [diff]`: version invariants and churns of a range.

use super::diff_args::DiffArgs;
use super::render::{self, Manner, left_alone};
use super::{CliError, Context, ExitCode, Format, ages, analyse, html};
use crate::config::{self, Settings};
use crate::report::Report;

/// The exit code that a report stands for: what is open counts only under `--strict`, and first,
/// since a difference may hide behind it.
fn exit_code(report: &Report, args: &DiffArgs, strict: bool) -> ExitCode {
    let open = !report.complete || report.summary.undecided > 0;
    if strict && open {
        ExitCode::Undecided
    } else if args.exit_code && report.summary.churns > 0 {
        ExitCode::Objection
    } else {
        ExitCode::Done
    }
}

pub fn run(args: DiffArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let args = DiffArgs { may_be_quick: true, ..args };
    let format = context.format(&render::FORMATS)?;
    let repository = analyse::open(context)?;
    let mut filter = args.filter(&repository.prefix())?;
    let report = context.interruptible(|context| analyse::report_with_request(&repository, &args, context));
    let (mut report, settings, request) = report?;
    let code = exit_code(&report, &args, settings.strict);
    ages::add(&mut report, &repository, &settings, context);
    filter.held = args.held.held_in(&repository, &report.versions)?;
    if filter.templates.is_empty() && settings.analysis.templates != Settings::default().analysis.templates {
        filter.templates = settings.analysis.templates.clone();
    }
    for at in filter.at.iter().filter(|at| !report.has_point_at(at)) {
        context.warn(&format!("no statement of a changed file begins at {}:{}", at.file, at.line));
    }
    filter.apply(&mut report);
    let manner = Manner {
        filtered: !filter.is_empty(),
        all: args.all,
        left_alone: left_alone(&report, &settings.policy(&config::today())),
        ..Manner::default()
    };
    match format {
        Format::Html => html::write(&report, &request, &manner, context)?,
        _ => render::write_report(&report, &manner, format, context)?,
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        let silent = DiffArgs::default();
        let telling = DiffArgs { exit_code: true, ..DiffArgs::default() };
        let mut report = Report::default();
        assert_eq!(exit_code(&report, &telling, true), ExitCode::Done);
        report.summary.churns = 1;
        assert_eq!(exit_code(&report, &silent, false), ExitCode::Done);
        assert_eq!(exit_code(&report, &telling, true), ExitCode::Objection);
        report.summary.undecided = 1;
        assert_eq!(exit_code(&report, &telling, false), ExitCode::Objection);
        assert_eq!(exit_code(&report, &telling, true), ExitCode::Undecided);
    }
}
