//! `git invdiff notes`: results in git notes under `refs/notes/invdiff`.

mod addition;
mod shard;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use super::render::{self, Manner};
use super::{CliError, Context, ExitCode, Format, compare};
use crate::gate::annotate::{Annotated, Existing};
use crate::report::escape::visible;
use crate::report::{Report, note};
use crate::store::Git;
use crate::store::notes::{Ends, Note, Notes, NotesError, NotesRef, Record, all_ends, setup};
use addition::{AddArgs, How, Wanted, add};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Results in git notes
#[derive(Args, Clone, Debug)]
pub struct NotesArgs {
    /// Notes ref, under refs/notes/
    #[arg(long = "ref", value_name = "REF", global = true)]
    pub notes_ref: Option<String>,

    #[command(subcommand)]
    pub command: NotesCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NotesCommand {
    /// Adds the git configuration that lets notes follow rewrites and fetches, and says how to undo it
    Setup {
        /// Only say what would be added
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Let 'git push' without arguments push notes, too, beside the current branch; it fails where others
        /// were faster, until 'git invdiff notes sync' has merged theirs
        #[arg(long)]
        push: bool,
        /// Remote whose notes are fetched; none: as for 'git fetch'
        #[arg(long, value_name = "REMOTE")]
        remote: Option<String>,
    },
    /// Analyses each commit of a range against its parent and writes its note
    Add(AddArgs),
    /// Shows the notes of commits
    Show {
        /// Commits or ranges; none: HEAD
        #[arg(value_name = "REVISION")]
        revisions: Vec<String>,
    },
    /// Lists the commits that have a note
    List,
    /// Fetches, merges and pushes the notes
    Sync {
        /// None: as for 'git fetch'
        #[arg(value_name = "REMOTE")]
        remote: Option<String>,
    },
    /// Joins the notes of other refs into ours, such as what many machines wrote
    Merge {
        /// A name below refs/notes/, or any ref that was fetched
        #[arg(value_name = "REF", required = true)]
        refs: Vec<String>,
    },
    /// Removes the notes of commits
    Remove {
        /// No error if a commit has no note
        #[arg(long)]
        ignore_missing: bool,
        #[arg(value_name = "REVISION", required = true)]
        revisions: Vec<String>,
    },
    /// Removes the notes of commits that no longer exist
    Prune {
        /// Also those that a remote has, whose commits may be elsewhere; the next sync takes them away there
        #[arg(long)]
        shared: bool,
    },
}

impl NotesArgs {
    /// Whether something is printed that is worth a pager.
    pub fn shows(&self) -> bool {
        matches!(self.command, NotesCommand::Show { .. } | NotesCommand::List)
    }
}

pub fn run(args: NotesArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let git = match args.command {
        NotesCommand::Sync { .. } => compare::fetching_repository(context)?,
        _ => compare::repository(context)?,
    };
    let settings = compare::settings(context)?;
    let name = match &args.notes_ref {
        Some(name) => NotesRef::parse(name).map_err(|error| CliError::usage(error.to_string()))?,
        None => settings.notes_ref.clone(),
    };
    let notes = Notes::new(&git, name);
    match args.command {
        NotesCommand::Setup { dry_run, push, remote } => {
            let remote = remote_of(&notes, remote)?;
            let missing = setup::missing(&git, notes.name(), &remote, push)?;
            set_up(&git, &missing, dry_run, context)
        }
        NotesCommand::Add(args) => {
            let existing = if args.force { Existing::Replace } else { Existing::Keep };
            let (limit, batch, effort) = (settings.note_limit, args.batch, args.effort);
            let how = How { existing, hints: &[], limit, batch, effort };
            if args.stale {
                return renew(&git, &notes, how, context);
            }
            let wanted = Wanted::of(&git, &args)?;
            let done = add(&notes, &wanted, &how, context)?;
            exit_code(&done, wanted.commits.len())
        }
        NotesCommand::Show { revisions } => {
            let commits = compare::commits(&git, &revisions)?;
            show(&git, &notes, &commits, context)
        }
        NotesCommand::List => list(&git, &notes, context),
        NotesCommand::Sync { remote } => sync(&notes, &remote_of(&notes, remote)?, context),
        NotesCommand::Merge { refs } => merge(&notes, &refs, context),
        NotesCommand::Remove { ignore_missing, revisions } => {
            let commits = compare::commits(&git, &revisions)?;
            remove(&notes, &commits, ignore_missing)
        }
        NotesCommand::Prune { shared } => prune(&git, &notes, shared, context),
    }
}

fn remote_of(notes: &Notes<'_>, named: Option<String>) -> Result<String, NotesError> {
    named.map_or_else(|| notes.usual_remote(), Ok)
}

/// Renews stale notes, and lets notes follow their commits through a rewrite that no hook told us of.
fn renew(git: &Git, notes: &Notes<'_>, how: How<'_>, context: &mut Context) -> Result<ExitCode, CliError> {
    let rewritten = notes.rewritten()?;
    let mut commits = of_state(git, notes, "stale")?;
    commits.extend(rewritten.iter().map(|one| one.commit.clone()));
    commits.sort_unstable();
    commits.dedup();
    let hints: Vec<Record> = rewritten.iter().flat_map(|one| one.records.iter().cloned()).collect();
    let wanted = Wanted { commits, is_each_named: false };
    let how = How { existing: Existing::Refresh, hints: &hints, ..how };
    let done = add(notes, &wanted, &how, context)?;
    let failed: BTreeSet<&String> = done.failed.iter().map(|(commit, _)| commit).collect();
    let moved: Vec<String> = rewritten
        .iter()
        .filter(|one| one.replaced && !failed.contains(&one.commit))
        .map(|one| one.old.clone())
        .collect();
    notes.remove("Notes moved by 'git invdiff notes add --stale'", &moved)?;
    exit_code(&done, wanted.commits.len())
}

fn exit_code(done: &Annotated, all: usize) -> Result<ExitCode, CliError> {
    if done.failed.is_empty() {
        return Ok(ExitCode::Done);
    }
    let failed = done.failed.len();
    Err(CliError::fatal(format!("{failed} of {all} commits could not be analysed and got no note")))
}

/// A note as it is shown.
struct Shown {
    commit: String,
    note: Note,
    unreadable: Option<NotesError>,
    /// `None` when the commit is not in this repository.
    ends: Option<Ends>,
    /// A remote has the note, too.
    shared: bool,
}

impl Shown {
    fn state(&self) -> &'static str {
        match &self.ends {
            _ if self.unreadable.is_some() => "unreadable",
            None if self.shared => "elsewhere",
            None => "gone",
            Some(_) if self.note.records.is_empty() => "foreign",
            Some(ends) if self.note.records.iter().any(|record| record.is_about(ends)) => "current",
            Some(_) => "stale",
        }
    }
}

fn collect(git: &Git, notes: &Notes<'_>, commits: &[String]) -> Result<Vec<Shown>, CliError> {
    let mut payloads = notes.read_each(commits)?;
    let ends = all_ends(git, commits)?;
    let shared = notes.shared()?;
    let shown = commits.iter().zip(ends).filter_map(|(commit, ends)| {
        let (note, unreadable) = match payloads.remove(commit)? {
            Ok(payload) => (Note::parse(&payload), None),
            Err(error) => (Note::default(), Some(error)),
        };
        Some(Shown { commit: commit.clone(), note, unreadable, ends, shared: shared.contains(commit) })
    });
    Ok(shown.collect())
}

/// Returns the annotated commits whose notes are in a state, as `notes list` names it.
pub(super) fn of_state(git: &Git, notes: &Notes<'_>, state: &str) -> Result<Vec<String>, CliError> {
    let shown = collect(git, notes, &notes.list()?)?;
    Ok(shown.into_iter().filter(|one| one.state() == state).map(|one| one.commit).collect())
}

fn show(
    git: &Git,
    notes: &Notes<'_>,
    commits: &[String],
    context: &mut Context,
) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json, Format::Yaml])?;
    let (shown, unreadable): (Vec<Shown>, Vec<Shown>) =
        collect(git, notes, commits)?.into_iter().partition(|one| one.unreadable.is_none());
    if format != Format::Text {
        let records: Vec<Value> = shown.iter().flat_map(records_as_json).collect();
        write_data(&records, format, context)?;
    }
    for one in shown.iter().filter(|_| format == Format::Text) {
        show_text(git, one, context)?;
    }
    if let Some(error) = unreadable.into_iter().find_map(|one| one.unreadable) {
        return Err(error.into());
    }
    if shown.is_empty() {
        let about =
            if let [one] = commits { one.clone() } else { format!("any of {} commits", commits.len()) };
        return Err(CliError::fatal(format!("no note on {about}")).hint("'git invdiff notes add' makes one"));
    }
    Ok(ExitCode::Done)
}

/// Writes the notes of one commit for people.
fn show_text(git: &Git, shown: &Shown, context: &mut Context) -> Result<(), CliError> {
    writeln!(context.output, "note on {}", shown.commit)?;
    for record in &shown.note.records {
        if !shown.ends.as_ref().is_some_and(|ends| record.is_about(ends)) {
            writeln!(
                context.output,
                "stale: it speaks of other trees; 'git invdiff notes add --force' renews it"
            )?;
        }
        let mut report = note::report(record);
        if report.functions.is_empty() {
            for part in record.text.split("; ") {
                writeln!(context.output, "  {}", visible(part))?;
            }
            continue;
        }
        describe(git, &mut report)?;
        render::write_report(&report, &Manner::default(), Format::Text, context)?;
        for notice in &report.notices {
            writeln!(context.output, "{}", visible(notice))?;
        }
    }
    let mut schemas: BTreeMap<String, usize> = BTreeMap::new();
    for line in &shown.note.foreign {
        *schemas.entry(note::schema_of(line)).or_default() += 1;
    }
    for (schema, count) in schemas {
        let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        writeln!(context.output, "{lines} of {}, left alone", visible(schema))?;
    }
    Ok(())
}

/// Fills in what a note does not repeat: subject and time of the commits, where they are here.
fn describe(git: &Git, report: &mut Report) -> Result<(), CliError> {
    for version in &mut report.versions {
        let Some(commit) = &version.commit else { continue };
        let format = "--format=%cI%x00%s";
        let output = git.output(&["log", "-1", "--no-show-signature", format, commit.as_str(), "--"], b"")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some((time, subject)) = text.trim_end().split_once('\0') {
            version.time = Some(time.to_string());
            version.summary = subject.to_string();
        }
    }
    Ok(())
}

/// The records as they are, each with whether it is stale.
fn records_as_json(shown: &Shown) -> Vec<Value> {
    let ends = shown.ends.as_ref();
    let stale = |record: &Record| !ends.is_some_and(|ends| record.is_about(ends));
    let with_state = |record: &Record| {
        let mut value = serde_json::to_value(record).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.insert("stale".to_string(), json!(stale(record)));
        }
        value
    };
    shown.note.records.iter().map(with_state).collect()
}

fn write_data(data: &[Value], format: Format, context: &mut Context) -> Result<(), CliError> {
    let text = match format {
        Format::Yaml => serde_yaml::to_string(&data)
            .map_err(|error| CliError::fatal("cannot write YAML").caused_by(&error))?,
        _ => serde_json::to_string_pretty(data)
            .map_err(|error| CliError::fatal("cannot write JSON").caused_by(&error))?,
    };
    writeln!(context.output, "{}", text.trim_end())?;
    Ok(())
}

fn list(git: &Git, notes: &Notes<'_>, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Porcelain, Format::Json, Format::Yaml])?;
    let shown = collect(git, notes, &notes.list()?)?;
    match format {
        Format::Text | Format::Porcelain => {
            let end = if context.globals.nul { '\0' } else { '\n' };
            for one in &shown {
                write!(context.output, "{} {}{end}", one.commit, one.state())?;
            }
        }
        _ => {
            let rows: Vec<Value> =
                shown.iter().map(|one| json!({"commit": one.commit, "state": one.state()})).collect();
            write_data(&rows, format, context)?;
        }
    }
    Ok(ExitCode::Done)
}

fn sync(notes: &Notes<'_>, remote: &str, context: &mut Context) -> Result<ExitCode, CliError> {
    let report = notes.sync(remote)?;
    let said = match (report.received, report.sent) {
        (false, false) => "nothing to exchange",
        (true, false) => "received notes",
        (false, true) => "sent notes",
        (true, true) => "received and sent notes",
    };
    if !context.globals.quiet {
        writeln!(context.output, "{}: {said}", visible(remote))?;
    }
    Ok(ExitCode::Done)
}

/// Joins other refs' notes into ours; a name that is none is said before anything is written.
fn merge(notes: &Notes<'_>, refs: &[String], context: &mut Context) -> Result<ExitCode, CliError> {
    let names: Vec<String> = refs.iter().map(|name| notes.ref_of(name)).collect::<Result<_, _>>()?;
    for name in names {
        let joined = notes.join(&name)?;
        if context.globals.quiet {
            continue;
        }
        let (there, name) = (joined.there, visible(&name));
        let there = if there == 1 { "1 note".to_owned() } else { format!("{there} notes") };
        match (joined.new, joined.changed) {
            (0, 0) => writeln!(context.output, "{name}: {there}, nothing new")?,
            (new, 0) => writeln!(context.output, "{name}: {there}, {new} new here")?,
            (new, both) => {
                writeln!(context.output, "{name}: {there}, {new} new here, {both} joined with ours")?
            }
        }
    }
    Ok(ExitCode::Done)
}

fn remove(notes: &Notes<'_>, commits: &[String], ignore_missing: bool) -> Result<ExitCode, CliError> {
    let present = notes.list()?;
    let missing = commits.iter().find(|commit| !present.contains(commit));
    if let (Some(missing), false) = (missing, ignore_missing) {
        return Err(CliError::fatal(format!("no note on {missing}; nothing was removed"))
            .hint("--ignore-missing removes the others"));
    }
    notes.remove("Notes removed by 'git invdiff notes remove'", commits)?;
    Ok(ExitCode::Done)
}

fn prune(git: &Git, notes: &Notes<'_>, shared: bool, context: &mut Context) -> Result<ExitCode, CliError> {
    if git.line(&["rev-parse", "--is-shallow-repository"])? == "true" {
        return Err(CliError::fatal("a shallow clone lacks commits that do exist; nothing was pruned")
            .hint("run it where the history is complete, or 'git fetch --unshallow' first"));
    }
    let elsewhere = if shared { BTreeSet::new() } else { notes.shared()? };
    let (kept, gone): (Vec<String>, Vec<String>) =
        notes.orphans()?.into_iter().partition(|commit| elsewhere.contains(commit));
    if !kept.is_empty() {
        context.warn(&format!(
            "{} on commits that are not here, but shared with a remote, stay; --shared prunes them, too",
            kept.len()
        ));
    }
    notes.remove("Notes pruned by 'git invdiff notes prune'", &gone)?;
    for commit in &gone {
        writeln!(context.output, "{commit}")?;
    }
    Ok(ExitCode::Done)
}

fn set_up(
    git: &Git,
    missing: &[setup::Entry],
    dry_run: bool,
    context: &mut Context,
) -> Result<ExitCode, CliError> {
    for entry in missing {
        if !dry_run {
            entry.add(git)?;
        }
        let verb = if dry_run { "would add" } else { "added" };
        writeln!(context.output, "{verb}  {} = {}", visible(&entry.key), visible(&entry.value))?;
        writeln!(context.output, "undo   {}", visible(entry.undo()))?;
    }
    if missing.is_empty() {
        writeln!(context.output, "nothing to add")?;
    }
    Ok(ExitCode::Done)
}
