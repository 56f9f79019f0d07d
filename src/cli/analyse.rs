//! From the command line to a report: the repository, the settings, the versions, the analysis.

use super::diff::DiffArgs;
use super::range::{self, RangeArgs, Split};
use super::{CliError, Context};
use crate::history::{self, OpenOptions, RangeRequest, Repository};
use crate::report::Report;
use crate::report::coverage::Coverage;

/// Analyses the versions that the arguments name.
pub fn report(repository: &Repository, args: &DiffArgs, context: &mut Context) -> Result<Report, CliError> {
    let split = split(&args.range, repository, context)?;
    let range = repository.range(&RangeRequest {
        revisions: split.revisions,
        staged: args.range.staged,
        endpoints: args.range.endpoints,
    })?;
    for warning in &range.warnings {
        context.warn(warning);
    }
    Err(CliError::fatal("the analysis is not connected yet"))
}

/// Opens the repository that the options and the environment name.
pub fn open(context: &Context) -> Result<Repository, CliError> {
    let mut options = OpenOptions::from_environment(".", |name| std::env::var_os(name));
    if let Some(git_dir) = context.git_dir() {
        options.git_dir = Some(git_dir.clone());
    }
    Ok(Repository::open(&options)?)
}

/// Tells revisions from paths, by what the repository and the current directory hold.
pub fn split(range: &RangeArgs, repository: &Repository, context: &Context) -> Result<Split, CliError> {
    let resolves = |word: &str| repository.resolve(word).is_ok();
    range.split(context.separated, |word| range::is_revision(word, resolves), range::is_path)
}

impl From<history::Error> for CliError {
    fn from(error: history::Error) -> CliError {
        let hint = error.hint();
        let fatal = CliError::fatal(error.to_string()).caused_by(&error);
        match hint {
            Some(hint) => fatal.hint(hint),
            None => fatal,
        }
    }
}

/// Counts how much of a revision's source is understood.
pub fn coverage(_revision: &str, _context: &Context) -> Result<Coverage, CliError> {
    Err(CliError::fatal("the front end is not connected yet"))
}
