//! What notes, trailers and hooks share: the repository by the git command line, its settings, and the
//! comparison of two versions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::diff_args::{DiffArgs, EffortChoice};
use super::range::RangeArgs;
use super::{CliError, Context, analyse};
use crate::config::{self, ConfigError, ConfigFile, Overrides, Settings, join_policies};
use crate::gate::hooks::{HookSettings, NAMES};
use crate::gate::{Analyse, ComparedTree, Failure, PolicyOf};
use crate::history::{self, RangeRequest, Repository};
use crate::report::note;
use crate::store::notes::{NotesError, NotesRef};
use crate::store::{Git, GitError};

/// Returns the repository that the common options name. Fails where there is none. What a partial clone
/// lacks is not fetched, unless `invdiff.lazyFetch` allows it.
pub(super) fn repository(context: &Context) -> Result<Git, CliError> {
    context.repository(|| {
        let git = fetching_repository(context)?;
        // A value that is no truth value is said where the settings are read.
        Ok(if context.is_configured("invdiff.lazyfetch") { git } else { git.without_fetching() })
    })
}

/// As [`repository`], for what the user wants to be fetched.
pub(super) fn fetching_repository(context: &Context) -> Result<Git, CliError> {
    let git = Git::here().with_git_dir(context.git_dir().cloned());
    git.common_dir()?;
    Ok(git)
}

/// Reads the user's own settings of notes, trailers and hooks: git's configuration and the environment.
pub(super) fn settings(context: &Context) -> Result<HookSettings, CliError> {
    let repository = analyse::open(context)?;
    joined(context, &repository, &ConfigFile::default(), Vec::new())
}

/// Reads the settings for a hook, with the policy of HEAD and of the index joined, so that a change cannot
/// loosen its own gate. A policy file that cannot be read says nothing, and that is one of its changes.
pub(super) fn hook_settings(context: &Context) -> Result<HookSettings, CliError> {
    let repository = analyse::open(context)?;
    if repository.work_dir().is_none() {
        return joined(context, &repository, &ConfigFile::default(), Vec::new());
    }
    let staged = RangeRequest { staged: true, ..RangeRequest::default() };
    settings_of(context, &repository, &staged)
}

/// Reads the settings for the change between the two versions of a range.
fn settings_of(
    context: &Context,
    repository: &Repository,
    range: &RangeRequest,
) -> Result<HookSettings, CliError> {
    let mut unreadable = Vec::new();
    let mut files = Vec::new();
    for version in &repository.range(range)?.versions {
        files.push(ConfigFile::of_tree(&*version.tree).unwrap_or_else(|error| {
            unreadable.push(format!("cannot be read in {}: {error}", version.name));
            ConfigFile::default()
        }));
    }
    let (file, mut changes) = match files.as_slice() {
        [base, new] => {
            let joined = join_policies(base, new);
            (joined.file, joined.changes)
        }
        _ => (ConfigFile::default(), Vec::new()),
    };
    changes.extend(unreadable);
    joined(context, repository, &file, changes)
}

/// Returns the function that finds the policy for a change between two commits.
pub(super) fn policy(context: &Context) -> PolicyOf {
    let inner = context.inner();
    Arc::new(move |old: &ComparedTree, new: &ComparedTree| {
        let fails = |error: CliError| Failure(error.message);
        let context = inner.context().map_err(fails)?;
        let args = range(&repository(&context).map_err(fails)?, old, new).map_err(fails)?;
        let opened = analyse::open(&context).map_err(fails)?;
        let revisions = args.revisions.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let request = RangeRequest { revisions, staged: args.staged, endpoints: true };
        settings_of(&context, &opened, &request).map(|settings| settings.policy).map_err(fails)
    })
}

fn joined(
    context: &Context,
    repository: &Repository,
    file: &ConfigFile,
    policy_changes: Vec<String>,
) -> Result<HookSettings, CliError> {
    let git = context.git_config(repository).map_err(bad_setting)?;
    let variable = |name: &str| std::env::var(name).ok();
    let settings = Settings::join(file, git, variable, &Overrides::default()).map_err(bad_setting)?;
    let mut off = BTreeSet::new();
    for name in NAMES {
        let own = git.bool(&format!("hooks.{name}")).map_err(bad_setting)?;
        if !settings.hooks || own == Some(false) {
            off.insert(name);
        }
    }
    let note_limit = settings.notes.limit.and_then(|limit| usize::try_from(limit).ok());
    Ok(HookSettings {
        policy: settings.policy(&config::today()),
        policy_changes,
        timeout: Some(settings.gate.timeout_seconds).filter(|&s| s > 0).map(Duration::from_secs),
        max_trailers: if settings.notes.trailers { settings.notes.max_trailers } else { 0 },
        note_limit: note_limit.unwrap_or(note::DEFAULT_LIMIT),
        notes_ref: NotesRef::parse(&settings.notes.notes_ref)?,
        off,
    })
}

fn bad_setting(error: ConfigError) -> CliError {
    let fatal = CliError::fatal(error.to_string());
    match error.hint {
        Some(hint) => fatal.hint(hint),
        None => fatal,
    }
}

/// Returns the function that compares two versions of this repository, with facts at exits of all that they change;
/// `effort` is asked of each.
pub(super) fn analyse(context: &Context, effort: Option<EffortChoice>) -> Analyse {
    let may_be_quick = effort == Some(EffortChoice::Quick);
    compared(context, DiffArgs { gate: true, effort, may_be_quick, ..DiffArgs::default() })
}

/// Returns the function that looks at what becomes of properties, as `git invdiff check` does, and ends by
/// itself after a time.
pub(super) fn check(context: &Context, limit: Option<Duration>) -> Analyse {
    compared(context, DiffArgs { gate: true, properties_only: true, limit, ..DiffArgs::default() })
}

/// As [`check`], for who waits to commit: with the limits of a first look, but where more effort is asked for.
pub(super) fn glance_at_properties(context: &Context, limit: Option<Duration>) -> Analyse {
    let args =
        DiffArgs { gate: true, properties_only: true, may_be_quick: true, limit, ..DiffArgs::default() };
    compared(context, args)
}

/// Returns the function that compares two versions as `git invdiff diff` does where nothing more is asked for.
pub(super) fn glance(context: &Context) -> Analyse {
    compared(context, DiffArgs { may_be_quick: true, ..DiffArgs::default() })
}

/// Returns the function that compares two versions in the way of `args`.
fn compared(context: &Context, args: DiffArgs) -> Analyse {
    let inner = context.inner();
    Arc::new(move |old: &ComparedTree, new: &ComparedTree| {
        let fails = |error: CliError| Failure(error.message);
        let mut context = inner.context().map_err(fails)?;
        let range = range(&repository(&context).map_err(fails)?, old, new).map_err(fails)?;
        let opened = analyse::open(&context).map_err(fails)?;
        let args = DiffArgs { range, ..args.clone() };
        analyse::report(&opened, &args, &mut context).map(|(report, _)| report).map_err(fails)
    })
}

/// Returns two versions as arguments of `diff`. Nothing is what comes before a root commit.
fn range(git: &Git, old: &ComparedTree, new: &ComparedTree) -> Result<RangeArgs, CliError> {
    let staged = *new == ComparedTree::Index;
    let revisions = match (old, new) {
        (ComparedTree::Commit(old), ComparedTree::Commit(new)) => vec![old.clone(), new.clone()],
        (ComparedTree::Nothing, ComparedTree::Commit(new)) => vec![format!("{new}^!")],
        (ComparedTree::Commit(old), _) => vec![old.clone()],
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
    if let Some(found) = git.object(&format!("{revision}^{{commit}}"))? {
        return Ok(found);
    }
    if git.object("HEAD")?.is_none()
        && let Some(branch) = git.find(&["symbolic-ref", "--short", "--quiet", "HEAD"])?
        && revision.starts_with("HEAD")
    {
        return Err(history::Error::UnbornHead { branch }.into());
    }
    Err(CliError::fatal(format!("'{revision}' is not a commit")))
}

/// Returns the commits that revisions and ranges name, oldest first; HEAD when nothing is named. A range
/// follows first parents.
pub(super) fn commits(git: &Git, revisions: &[String]) -> Result<Vec<String>, CliError> {
    if revisions.is_empty() {
        return Ok(vec![commit(git, "HEAD")?]);
    }
    if !has_range(revisions) {
        return revisions.iter().map(|revision| commit(git, revision)).collect();
    }
    rev_list(git, &["--first-parent"], revisions)
}

/// Whether a range is among revisions.
pub(super) fn has_range(revisions: &[String]) -> bool {
    revisions.iter().any(|revision| revision.contains("..") || revision.starts_with('^'))
}

/// Returns all commits that lead to what revisions and ranges name, oldest first; to HEAD when nothing is
/// named.
pub(super) fn all_commits(git: &Git, revisions: &[String]) -> Result<Vec<String>, CliError> {
    if revisions.is_empty() {
        return rev_list(git, &[], &[commit(git, "HEAD")?]);
    }
    rev_list(git, &[], revisions)
}

fn rev_list(git: &Git, options: &[&str], revisions: &[String]) -> Result<Vec<String>, CliError> {
    if let Some(option) = revisions.iter().find(|revision| revision.starts_with('-')) {
        return Err(CliError::usage(format!("'{option}' is not a revision")));
    }
    let mut args = vec!["rev-list", "--reverse"];
    args.extend(options);
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
            NotesError::Unreadable { ref object, .. } => {
                let hint = format!(
                    "look at what git fsck says; 'git invdiff notes remove {object}' takes the note away"
                );
                CliError::fatal(error.to_string()).hint(hint)
            }
            NotesError::NotFetched(_) => CliError::fatal(error.to_string())
                .hint("'git invdiff notes sync' fetches what is missing of the notes"),
            NotesError::NotARemote(_) => CliError::fatal(error.to_string())
                .hint("'git remote' lists them; 'git remote add <name> <URL>' makes one"),
            NotesError::NoNotes(_) => CliError::fatal(error.to_string())
                .hint("'git for-each-ref refs/' lists what is here; 'git fetch <remote> <ref>:<ref>' brings what is there"),
            NotesError::Locked(ref path) => {
                let hint =
                    format!("if no git runs in this repository: rm '{}', and try again", path.display());
                CliError::fatal(error.to_string()).hint(hint)
            }
            other => CliError::fatal(other.to_string()),
        }
    }
}
