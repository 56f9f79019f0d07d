//! `git invdiff doctor`: is everything in place, and how much of the source is understood.

use super::{CliError, Context, ExitCode, Format, analyse, compare, missing, notes};
use crate::gate::hooks::NAMES;
use crate::report::escape::visible;
use crate::report::palette::{Palette, Slot};
use crate::store::notes::{Notes, setup};
use clap::Args;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// Checks the installation; of a revision, what headers and names its source lacks, and what helps
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// Headers and names that <REVISION> lacks, by functions that rest on them, with lines of configuration that help
    #[arg(value_name = "REVISION")]
    pub revision: Option<String>,

    /// Functions found, lowered and lost in <REVISION> (default HEAD), with reasons
    #[arg(long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "HEAD")]
    pub coverage: Option<String>,
}

pub fn run(args: DoctorArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if let Some(revision) = &args.coverage {
        return coverage(args.revision.as_ref().unwrap_or(revision), context);
    }
    if let Some(revision) = &args.revision {
        return missing(revision, context);
    }
    let palette = context.output.palette().clone();
    let checks = [git(context), solver(), repository(context)];
    let in_repository = checks.iter().all(|check| check.state != State::Bad);
    for check in &checks {
        check.write(&palette, &mut context.output)?;
    }
    if in_repository {
        let checks = [
            settings(context),
            Some(notes_ref(context)),
            lock(context),
            left_notes(context),
            Some(hooks(context)),
        ];
        for check in checks.into_iter().flatten() {
            check.write(&palette, &mut context.output)?;
        }
    }
    Ok(if in_repository { ExitCode::Done } else { ExitCode::Objection })
}

fn coverage(revision: &str, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let coverage = analyse::coverage(revision, context)?;
    if format == Format::Json {
        let text = serde_json::to_string_pretty(&coverage)
            .map_err(|e| CliError::fatal("cannot write JSON").caused_by(&e))?;
        writeln!(context.output, "{text}")?;
    } else {
        let palette = context.output.palette().clone();
        coverage.render(&palette, &mut context.output)?;
    }
    Ok(ExitCode::Done)
}

fn missing(revision: &str, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let found = missing::missing(revision, context)?;
    if format == Format::Json {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|e| CliError::fatal("cannot write JSON").caused_by(&e))?;
        writeln!(context.output, "{text}")?;
    } else {
        let palette = context.output.palette().clone();
        found.render(&palette, &mut context.output)?;
    }
    Ok(ExitCode::Done)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Works, but less well than it could.
    Note,
    Bad,
}

/// One thing that was looked at.
struct Check {
    state: State,
    what: &'static str,
    text: String,
    hint: Option<&'static str>,
}

impl Check {
    fn new(state: State, what: &'static str, text: impl Into<String>) -> Check {
        Check { state, what, text: text.into(), hint: None }
    }

    fn hint(self, hint: &'static str) -> Check {
        Check { hint: Some(hint), ..self }
    }

    fn write(&self, palette: &Palette, out: &mut dyn Write) -> Result<(), CliError> {
        let (slot, word) = match self.state {
            State::Good => (Slot::Added, "ok  "),
            State::Note => (Slot::Warning, "note"),
            State::Bad => (Slot::Removed, "bad "),
        };
        writeln!(out, "{}  {:<11} {}", palette.paint(slot, word), self.what, visible(&self.text))?;
        if let Some(hint) = self.hint {
            writeln!(out, "      {:<11} {}", "", palette.paint(Slot::Status, hint))?;
        }
        Ok(())
    }
}

/// Returns what git prints, without the line end; `None` if it fails.
fn ask_git(context: &Context, args: &[&str]) -> Option<String> {
    let output = context.git().args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    output.status.success().then_some(text)
}

fn git(context: &Context) -> Check {
    match ask_git(context, &["version"]) {
        Some(version) => Check::new(State::Good, "git", version.trim_start_matches("git version ")),
        None => Check::new(State::Bad, "git", "cannot be started").hint("install git and put it on PATH"),
    }
}

fn solver() -> Check {
    Check::new(State::Good, "solver", z3::full_version())
}

fn repository(context: &Context) -> Check {
    let Some(git_dir) = ask_git(context, &["rev-parse", "--absolute-git-dir"]) else {
        return Check::new(State::Bad, "repository", "none here")
            .hint("change into a repository, or name one with -C or --git-dir");
    };
    let shallow = ask_git(context, &["rev-parse", "--is-shallow-repository"]).as_deref() == Some("true");
    if shallow {
        return Check::new(State::Note, "repository", format!("{git_dir}, shallow"))
            .hint("git fetch --unshallow brings the versions that were left out");
    }
    Check::new(State::Good, "repository", git_dir)
}

fn notes_ref(context: &Context) -> Check {
    let name = ask_git(context, &["config", "invdiff.notesRef"]);
    let name = name.unwrap_or_else(|| "refs/notes/invdiff".to_owned());
    let refs = ask_git(context, &["config", "--get-all", "notes.rewriteRef"]).unwrap_or_default();
    let follows = refs.lines().any(|value| setup::covers(value, &name))
        || installed(context).is_some_and(|hooks| hooks.contains(&"post-rewrite"))
        || !managers(context, "rewrite").is_empty();
    let exists = ask_git(context, &["rev-parse", "--verify", "--quiet", &name]).is_some();
    let text = format!("{name}{}", if exists { "" } else { ", none yet" });
    if follows {
        Check::new(State::Good, "notes", text)
    } else {
        Check::new(State::Note, "notes", format!("{text}; they do not follow amend and rebase"))
            .hint("git invdiff notes setup")
    }
}

/// What is wrong with the configuration, if anything is.
fn settings(context: &Context) -> Option<Check> {
    let error = compare::settings(context).err()?;
    Some(Check::new(State::Note, "settings", error.message).hint("git config --show-origin --list"))
}

/// A lock that a git left behind, as far as its age can tell: a git that works holds it for moments.
fn lock(context: &Context) -> Option<Check> {
    let git = compare::repository(context).ok()?;
    let notes = Notes::new(&git, compare::settings(context).ok()?.notes_ref);
    let (path, age) = notes.old_lock().ok()??;
    let age = match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    };
    let text = format!("{} has been in the way of the notes for {age}", path.display());
    let check = Check::new(State::Note, "lock", text);
    Some(check.hint("if no git runs in this repository, one was killed: remove that file"))
}

/// Notes that a rewrite of the history left behind; none where notes cannot be read.
fn left_notes(context: &Context) -> Option<Check> {
    let git = compare::repository(context).ok()?;
    let name = compare::settings(context).ok()?.notes_ref;
    let notes = Notes::new(&git, name);
    let count = |state: &str| notes::of_state(&git, &notes, state).map_or(0, |commits| commits.len());
    let stale = count("stale");
    let rewritten = notes.rewritten().unwrap_or_default();
    let rewritten = rewritten.iter().map(|one| &one.old).collect::<BTreeSet<_>>().len();
    let mut left = Vec::new();
    if stale > 0 {
        left.push(format!("{stale} stale: they speak of other trees"));
    }
    if rewritten > 0 {
        left.push(format!("{rewritten} on commits that were rewritten"));
    }
    if !left.is_empty() {
        let check = Check::new(State::Note, "notes", left.join("; "));
        return Some(check.hint("git invdiff notes add --stale"));
    }
    // A shallow clone lacks commits that do exist.
    let shallow = ask_git(context, &["rev-parse", "--is-shallow-repository"]).as_deref() == Some("true");
    let gone = if shallow { 0 } else { count("gone") };
    (gone > 0).then(|| {
        Check::new(State::Note, "notes", format!("{gone} on commits that are gone"))
            .hint("git invdiff notes prune")
    })
}

/// The hooks that run ours; `None` where git does not say where they are.
fn installed(context: &Context) -> Option<Vec<&'static str>> {
    let folder = ask_git(context, &["rev-parse", "--git-path", "hooks"])?;
    let off = compare::settings(context).map(|settings| settings.off).unwrap_or_default();
    let calls_us = |name: &&str| {
        let text = std::fs::read(Path::new(&folder).join(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).contains("invdiff") && !off.contains(name)
    };
    Some(NAMES.into_iter().filter(calls_us).collect())
}

fn hooks(context: &Context) -> Check {
    let Some(installed) = installed(context) else {
        return Check::new(State::Note, "hooks", "git does not say where they are");
    };
    if installed.is_empty() {
        let managed = managers(context, "");
        if !managed.is_empty() {
            return Check::new(State::Good, "hooks", format!("run by {}", managed.join(", ")));
        }
        return Check::new(State::Note, "hooks", "not installed").hint("git invdiff hook install");
    }
    Check::new(State::Good, "hooks", installed.join(", "))
}

/// The files at the top of the work tree by which other managers of hooks run ours, and that speak of
/// something.
fn managers(context: &Context, of: &str) -> Vec<&'static str> {
    let files = [
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".husky/pre-commit",
        ".husky/post-rewrite",
    ];
    let Some(top) = ask_git(context, &["rev-parse", "--show-toplevel"]) else { return Vec::new() };
    let calls_us = |file: &&str| {
        let text = std::fs::read(Path::new(&top).join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.contains("invdiff") && text.contains(of)
    };
    files.into_iter().filter(calls_us).collect()
}
