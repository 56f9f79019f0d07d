//! What notes, trailers and hooks share: the repository by the git command line, its settings, and the
//! comparison of two versions.

use std::sync::Arc;
use std::time::Duration;

use super::diff::DiffArgs;
use super::range::RangeArgs;
use super::{CliError, Context, GlobalArgs, analyse};
use crate::gate::hooks::HookSettings;
use crate::gate::policy::Policy;
use crate::gate::{Analyse, Failure, Side};
use crate::report::{note, trailer};
use crate::store::notes::{NotesError, NotesRef};
use crate::store::{Git, GitError};

/// Seconds that a hook may take unless the configuration says otherwise.
const HOOK_SECONDS: u64 = 20;

/// Returns the repository that the common options name. Fails where there is none.
pub(super) fn repository(context: &Context) -> Result<Git, CliError> {
    let git = Git::here().with_git_dir(context.git_dir().cloned());
    git.run(&["rev-parse", "--git-dir"], b"")?;
    Ok(git)
}

/// Reads the settings of notes, trailers and hooks.
pub(super) fn settings(git: &Git) -> Result<HookSettings, CliError> {
    let number = |key: &str, default: usize| -> Result<usize, CliError> {
        match git.config_number(key)? {
            None => Ok(default),
            Some(value) => usize::try_from(value)
                .map_err(|_| CliError::fatal(format!("{key} must not be negative, and is {value}"))),
        }
    };
    let notes_ref = match git.config("invdiff.notesRef")? {
        Some(name) => NotesRef::parse(&name)?,
        None => NotesRef::default(),
    };
    Ok(HookSettings {
        policy: Policy::default(),
        timeout: Some(Duration::from_secs(HOOK_SECONDS)),
        max_trailers: number("invdiff.maxTrailers", trailer::DEFAULT_MAX)?,
        note_limit: number("invdiff.noteLimit", note::DEFAULT_LIMIT)?,
        notes_ref,
    })
}

/// Returns the function that compares two versions of this repository, as `git invdiff diff` does.
pub(super) fn analyse(context: &Context) -> Analyse {
    // The context has moved to the -C directory already, and its output is not to be opened again.
    let globals = GlobalArgs { change_dir: Vec::new(), output: None, quiet: true, ..context.globals.clone() };
    Arc::new(move |old: &Side, new: &Side| {
        let fails = |error: CliError| Failure(error.message);
        // All words are revisions, whatever files there are.
        let mut context = Context::new(globals.clone(), true).map_err(fails)?;
        let range = range(&repository(&context).map_err(fails)?, old, new).map_err(fails)?;
        let opened = analyse::open(&context).map_err(fails)?;
        let args = DiffArgs { range, ..DiffArgs::default() };
        analyse::report(&opened, &args, &mut context).map_err(fails)
    })
}

/// Returns two versions as arguments of `diff`. Nothing is what comes before a root commit.
fn range(git: &Git, old: &Side, new: &Side) -> Result<RangeArgs, CliError> {
    let staged = *new == Side::Index;
    let revisions = match (old, new) {
        (Side::Commit(old), Side::Commit(new)) => vec![old.clone(), new.clone()],
        (Side::Nothing, Side::Commit(new)) => vec![format!("{new}^!")],
        (Side::Commit(old), _) => vec![old.clone()],
        // Amending the root commit; else the branch is unborn, which is nothing by itself.
        _ if git.object("HEAD^{commit}")?.is_some() => vec!["HEAD^".to_string()],
        _ => Vec::new(),
    };
    Ok(RangeArgs {
        revisions: revisions.into_iter().map(Into::into).collect(),
        staged,
        ..RangeArgs::default()
    })
}

/// Returns the commit that a revision names.
pub(super) fn commit(git: &Git, revision: &str) -> Result<String, CliError> {
    let found = git.object(&format!("{revision}^{{commit}}"))?;
    found.ok_or_else(|| CliError::fatal(format!("'{revision}' is not a commit")))
}

/// Returns the commits that revisions and ranges name, oldest first; HEAD when nothing is named. A range
/// follows first parents.
pub(super) fn commits(git: &Git, revisions: &[String]) -> Result<Vec<String>, CliError> {
    if revisions.is_empty() {
        return Ok(vec![commit(git, "HEAD")?]);
    }
    let is_range = |revision: &&String| revision.contains("..") || revision.starts_with('^');
    if !revisions.iter().any(|revision| is_range(&revision)) {
        return revisions.iter().map(|revision| commit(git, revision)).collect();
    }
    if let Some(option) = revisions.iter().find(|revision| revision.starts_with('-')) {
        return Err(CliError::usage(format!("'{option}' is not a revision")));
    }
    let mut args = vec!["rev-list", "--first-parent", "--reverse"];
    args.extend(revisions.iter().map(String::as_str));
    args.push("--");
    Ok(git.line(&args)?.lines().map(str::to_string).collect())
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> CliError {
        match error {
            // Git's own words are the best ones: "not a git repository ...".
            GitError::Failed { message, .. } => CliError::fatal(message),
            other => CliError::fatal(other.to_string()),
        }
    }
}

impl From<NotesError> for CliError {
    fn from(error: NotesError) -> CliError {
        match error {
            NotesError::Git(error) => error.into(),
            other => CliError::fatal(other.to_string()),
        }
    }
}
