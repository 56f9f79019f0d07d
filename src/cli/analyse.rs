//! From the command line to a report: the repository, the settings, the versions, the analysis.

use super::args::DataModelChoice;
use super::diff::DiffArgs;
use super::range::{self, RangeArgs, Split};
use super::{CliError, Context, GlobalArgs, Progress};
use crate::frontend::{self, FileCoverage, Lowered, c};
use crate::history::{self, GitTree, OpenOptions, RangeRequest, Repository};
use crate::ir::DataModel;
use crate::report::coverage::Coverage;
use crate::report::{RepoPath, Report, SCHEMA};
use rayon::prelude::*;
use std::path::PathBuf;

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
pub fn coverage(revision: &str, context: &Context) -> Result<Coverage, CliError> {
    let repository = open(context)?;
    let commit = repository.commit(revision)?;
    let tree = GitTree::new(repository.objects().clone(), commit.tree);
    let options = c_options(&context.globals)?;
    let sources = c::coverage::sources(&tree);
    let progress = Progress::new(&context.globals);
    progress.set_total(sources.len());
    let count = |path: &PathBuf| {
        progress.working_on(&path.to_string_lossy());
        let found = frontend::coverage(&tree, path, &options);
        progress.step();
        found
    };
    let found: Vec<FileCoverage> =
        worker_pool(&context.globals)?.install(|| sources.par_iter().map(count).collect());
    let mut coverage = Coverage {
        schema: SCHEMA.to_owned(),
        commit: Some(commit.id.to_string()),
        name: revision.to_owned(),
        files: sources.len(),
        ..Coverage::default()
    };
    for (path, file) in sources.iter().zip(&found) {
        for function in &file.functions {
            match &function.lowered {
                Lowered::With(unknowns) => coverage.add_function(unknowns.iter().map(|reason| &**reason)),
                Lowered::Lost(reason) => coverage.add_lost(reason),
            }
            coverage.rest_on_guesses += usize::from(function.rests_on_guesses);
        }
        if let Some(reason) = &file.rejected {
            coverage.add_rejected(&RepoPath::from(path), reason);
        }
    }
    Ok(coverage)
}

/// Threads as `-j` says, one a processor otherwise.
fn worker_pool(globals: &GlobalArgs) -> Result<rayon::ThreadPool, CliError> {
    let threads = globals.jobs.map_or(0, std::num::NonZeroUsize::get);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| CliError::fatal("cannot start worker threads").caused_by(&e))
}

/// What the preprocessor and the compiler would be told by `-D`, `-U`, `-I` and `--data-model`.
fn c_options(globals: &GlobalArgs) -> Result<c::Options, CliError> {
    let define = |text: &String| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (text.clone(), None),
    };
    let defines: Vec<(String, Option<String>)> = globals.define.iter().map(define).collect();
    let is_identifier = |name: &str| {
        let name = name.split('(').next().unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
    };
    let names = defines.iter().map(|(name, _)| name).chain(&globals.undefine);
    if let Some(name) = names.into_iter().find(|name| !is_identifier(name)) {
        return Err(CliError::usage(format!("'{name}' is no name of a macro")));
    }
    Ok(c::Options {
        defines,
        undefines: globals.undefine.clone(),
        include_dirs: globals.include_dir.clone(),
        data_model: match globals.data_model {
            Some(DataModelChoice::Ilp32) => DataModel::Ilp32,
            Some(DataModelChoice::Lp64) | None => DataModel::Lp64,
        },
        host_headers: false,
    })
}
