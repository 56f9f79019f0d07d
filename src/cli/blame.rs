//! `git invdiff blame`: the commits that changed what holds in a function.

use super::diff_args::DiffArgs;
use super::history::History;
use super::render::short_ids_of;
use super::{CliError, Context, ExitCode, Format, Progress, analyse, compare};
use crate::analysis::text_lineage::{FunctionLocation, Gaps, Step};
use crate::history::utf8_path;
use crate::report::escape::visible;
use crate::report::filter::Filter;
use crate::report::text::{self, TextOptions};
use crate::report::unseen;
use crate::report::{self, Assertion, FunctionReport, FunctionStatus, Judgement, RepoPath, Report, SCHEMA};
use crate::report::{VersionInfo, json, note};
use crate::store::notes::{Ends, Note, Notes};
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// The commits that changed what holds in a function, newest first
///
/// As `git log -L` shows the commits that changed a function's text, this shows those that changed its
/// facts, with the facts before and after. The function is followed through renames and moves, back from
/// the newest commit of the range along first parents.
///
/// Only commits are analysed that change the text of the function, of something that it names in its file, or
/// what it rests on in other files: headers, sources that it includes, the functions that it calls, the
/// objects that it reads. Answers of notes and of the cache are used.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff blame src/buf.c:push                      who changed what holds in push()?\n  \
    git invdiff blame src/buf.c:push '\\result'            who changed what it returns?\n  \
    git invdiff blame src/buf.c:push v1.0..v2.0           between two releases\n  \
    git invdiff blame -n 1 src/buf.c:push                 the last commit that did")]
pub struct BlameArgs {
    /// The function, in a file of the newest commit
    #[arg(value_name = "FILE:FUNCTION")]
    pub function: OsString,

    /// Only facts about this variable; \result and output are variables too
    #[arg(value_name = "VAR")]
    pub var: Option<String>,

    /// A..B, or a revision to go back from; none: HEAD
    #[arg(value_name = "RANGE")]
    pub range: Option<String>,

    /// Stop after so many commits
    #[arg(short = 'n', long, value_name = "N")]
    pub max_count: Option<usize>,

    /// Exit 3 if something could not be decided or analysed
    #[arg(long)]
    pub strict: bool,

    /// Limit of one solver query, in resource units (default 2000000, about a second)
    #[arg(long, value_name = "N")]
    pub rlimit: Option<u64>,
}

/// What was not looked at of what a function rests on, for people.
pub fn words(gaps: Gaps) -> Vec<String> {
    let files = gaps.files.then_some("some files that it rests on");
    let pointers = gaps.pointers.then_some("what else it may call through pointers");
    files.into_iter().chain(pointers).map(str::to_owned).collect()
}

/// What a commit did to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Its facts are others.
    Changed,
    /// It has it first.
    Created,
    /// Its text stays, its name or file does not.
    Moved,
    /// Its text changed, and what that did to its facts is not known.
    Undecided,
}

/// One commit of the answer.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    commit: Option<String>,
    author: String,
    author_email: String,
    /// Author time, RFC 3339.
    date: String,
    summary: String,
    kind: Kind,
    file: RepoPath,
    name: String,
    /// Where it was before, as `file:name`, if it was elsewhere.
    from: Option<String>,
    /// The parent and the commit, numbered 1 and 2.
    versions: Vec<VersionInfo>,
    functions: Vec<FunctionReport>,
}

/// The whole answer.
#[derive(Serialize)]
struct Blame {
    schema: &'static str,
    file: RepoPath,
    function: String,
    variable: Option<String>,
    /// Commits of the range.
    searched: usize,
    /// Commits that changed its text.
    text_changes: usize,
    /// The end of the range was reached, not that of `--max-count`.
    whole_range: bool,
    complete: bool,
    /// What may hide further commits, each once.
    not_looked_at: BTreeSet<String>,
    commits: Vec<Entry>,
}

pub fn run(args: BlameArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let args = with_range(args);
    let repository = analyse::open(context)?;
    let var: Vec<String> = args.var.iter().cloned().collect();
    let diff = DiffArgs { var: var.clone(), strict: args.strict, rlimit: args.rlimit, ..DiffArgs::default() };
    let function = utf8_path(Path::new(&args.function)).to_string_lossy().into_owned();
    let history = History::open(&repository, &function, args.range.as_deref(), &diff, context)?;
    let filter = Filter { variables: var, without_invariants: true, ..Filter::default() };
    // A note says nothing of locals, which a variable may be.
    let notes = if args.var.is_none() { Noted::of(&history, context) } else { Noted::default() };
    let mut answer = Blame {
        schema: SCHEMA,
        file: RepoPath::from(&history.place.file),
        function: history.place.name.clone(),
        variable: args.var.clone(),
        searched: history.versions.len().saturating_sub(1),
        text_changes: 0,
        whole_range: true,
        complete: true,
        not_looked_at: BTreeSet::new(),
        commits: Vec::new(),
    };
    if format == Format::Text {
        writeln!(context.output, "history of {}  {}()", answer.file, answer.function)?;
    }
    let mut steps = history.steps();
    while let Some(step) = steps.as_mut().and_then(Iterator::next) {
        if args.max_count.is_some_and(|most| answer.commits.len() >= most) {
            answer.whole_range = false;
            break;
        }
        let step = step?;
        history.check_readable()?;
        answer.text_changes += usize::from(step.is_edit && step.rests_on.is_empty());
        let mut is_other = || steps.as_mut().is_none_or(|steps| steps.is_other(&step));
        let looked = look(&history, &step, &notes, &filter, &mut is_other, context)?;
        answer.not_looked_at.extend(looked.not_looked_at);
        let Some((mut entry, report)) = looked.told else { continue };
        answer.complete &= entry.kind != Kind::Undecided;
        let short = sign(&mut entry, context);
        if format == Format::Text {
            show(&entry, &report, &short, context)?;
        }
        answer.commits.push(entry);
    }
    answer.not_looked_at.extend(steps.iter().flat_map(|s| words(s.gaps())));
    answer.complete &= answer.not_looked_at.is_empty();
    match format {
        Format::Json => json::render_value(&answer, &mut context.output)?,
        _ => writeln!(context.output, "\n{}", summary(&answer))?,
    }
    Ok(match history.settings.strict && !answer.complete {
        true => ExitCode::Undecided,
        false => ExitCode::Done,
    })
}

/// A second word that can only be a range is one.
fn with_range(args: BlameArgs) -> BlameArgs {
    match (&args.var, &args.range) {
        (Some(word), None) if word.contains("..") || word.ends_with("^!") => {
            BlameArgs { range: args.var.clone(), var: None, ..args }
        }
        (Some(word), Some(_)) if word.is_empty() => BlameArgs { var: None, ..args },
        _ => args,
    }
}

/// What the notes of commits know.
#[derive(Default)]
struct Noted {
    /// Reports by commit; those that leave nothing out.
    reports: BTreeMap<String, Report>,
}

impl Noted {
    /// Reads the notes of a range that speak of the commits as they are. Without notes, or where they
    /// cannot be read, nothing is known.
    fn of(history: &History, context: &Context) -> Noted {
        let Ok(git) = compare::repository(context) else { return Noted::default() };
        let Ok(name) = crate::store::notes::NotesRef::parse(&history.settings.notes.notes_ref) else {
            return Noted::default();
        };
        let ids: Vec<String> = history.versions.iter().filter_map(|v| v.commit()).collect();
        let notes = Notes::new(&git, name);
        let Ok(found) = notes.read_each(&ids) else { return Noted::default() };
        let with_note: Vec<String> = found.keys().cloned().collect();
        let ends = match with_note.is_empty() {
            true => Vec::new(),
            false => crate::store::notes::all_ends(&git, &with_note).unwrap_or_default(),
        };
        let ends: BTreeMap<String, Ends> =
            ends.into_iter().flatten().map(|e| (e.commit.clone(), e)).collect();
        let report = |(id, payload): (String, Result<Vec<u8>, _>)| {
            let record = Note::parse(&payload.ok()?)
                .records
                .into_iter()
                .find(|r| r.omitted.is_empty() && ends.get(&id).is_some_and(|e| r.is_about(e)))?;
            Some((id, note::report(&record)))
        };
        Noted { reports: found.into_iter().filter_map(report).collect() }
    }
}

/// What a comparison says of a function.
struct Looked {
    /// `None`: nothing that is to be told.
    told: Option<(Entry, Report)>,
    not_looked_at: Vec<String>,
}

/// What the comparison that a step takes left out of the files that the function rests on.
fn left_out(report: &Report, step: &Step) -> Vec<String> {
    let of = |path: &RepoPath| {
        let own = step.before.iter().chain([&step.after]).map(|p| &p.file);
        own.chain(&step.rests_on).any(|file| RepoPath::from(file) == *path)
    };
    let notices = report.notices.iter().map(|n| n.trim_start_matches("note: ").to_owned());
    unseen::of_hunks_in(report, of).into_iter().chain(notices).collect()
}

/// What a step did to the function. `is_other`: whether it is another one with all that it rests on; asked
/// where the comparison does not have it.
fn look(
    history: &History,
    step: &Step,
    notes: &Noted,
    filter: &Filter,
    is_other: &mut dyn FnMut() -> bool,
    context: &Context,
) -> Result<Looked, CliError> {
    let versions = vec![history.input(step.from, 1).info, history.input(step.to, 2).info];
    let commit = versions[1].commit.clone();
    let mut report = match (&step.before, step.is_edit, commit.as_ref().and_then(|c| notes.reports.get(c))) {
        (Some(_), true, Some(known)) => known.clone(),
        (Some(before), true, None) => {
            Progress::new(context).working_on(&format!("comparing {}", versions[1].summary));
            history.compared(step, before, context)?
        }
        _ => Report::default(),
    };
    report.versions.clone_from(&versions);
    let not_looked_at = left_out(&report, step);
    report.functions.retain(|f| is_it(f, &step.after));
    let is_compared = step.before.is_some() && step.is_edit;
    let is_missing = is_compared && report.functions.is_empty() && (!step.rests_on.is_empty() || is_other());
    let is_open = is_missing
        || report.functions.iter().any(|f| !f.complete || f.outcome == FunctionStatus::NotAnalysed);
    filter.apply(&mut report);
    let has_churns = report.functions.iter().flat_map(|f| &f.points).any(|p| !p.churns.is_empty());
    let kind = match (&step.before, step.is_edit) {
        (None, _) => Kind::Created,
        (_, false) => Kind::Moved,
        _ if has_churns || !broken(&report, &step.after).is_empty() => Kind::Changed,
        _ if is_open => Kind::Undecided,
        _ => return Ok(Looked { told: None, not_looked_at }),
    };
    let from = step.before.as_ref().filter(|b| **b != step.after);
    let entry = Entry {
        summary: versions[1].summary.clone(),
        commit,
        author: String::new(),
        author_email: String::new(),
        date: versions[1].time.clone().unwrap_or_default(),
        kind,
        file: RepoPath::from(&step.after.file),
        name: step.after.name.clone(),
        from: from.map(|b| format!("{}:{}", RepoPath::from(&b.file), b.name)),
        versions,
        functions: report.functions.clone(),
    };
    Ok(Looked { told: Some((entry, report)), not_looked_at })
}

/// Whether a report of two versions is about the function at this place.
fn is_it(f: &FunctionReport, place: &FunctionLocation) -> bool {
    let here = |p: &report::FunctionRef| p.name == place.name && p.file == RepoPath::from(&place.file);
    match f.identity.versions.get(&2) {
        Some(p) => here(p),
        None => f.name == place.name && f.file == RepoPath::from(&place.file),
    }
}

/// Adds who made the commit and when; returns its abbreviated id.
fn sign(entry: &mut Entry, context: &Context) -> BTreeMap<String, String> {
    let Some(id) = &entry.commit else { return BTreeMap::new() };
    let output = context
        .git()
        .args(["log", "--no-walk", "--no-show-signature", "--no-color", "--format=%aN%x00%aE%x00%aI"])
        .args(["--end-of-options", id, "--"])
        .output();
    if let Ok(output) = output {
        let text = String::from_utf8_lossy(&output.stdout);
        let mut fields = text.trim_end_matches('\n').split('\0').map(str::to_owned);
        entry.author = fields.next().unwrap_or_default();
        entry.author_email = fields.next().unwrap_or_default();
        entry.date = fields.next().filter(|d| !d.is_empty()).unwrap_or_else(|| entry.date.clone());
    }
    short_ids_of(&[id], context)
}

fn show(
    entry: &Entry,
    report: &Report,
    short: &BTreeMap<String, String>,
    context: &mut Context,
) -> Result<(), CliError> {
    let day = entry.date.split('T').next().unwrap_or_default();
    let mut options = TextOptions {
        palette: context.output.palette().clone(),
        width: context.output.width(),
        verbose: context.globals.verbose > 0,
        short_ids: short.clone(),
        ..TextOptions::default()
    };
    if let Some(id) = &entry.commit {
        options.signatures.insert(id.clone(), format!("{}, {day}", entry.author));
    }
    let place = format!("{}  {}()", entry.file, entry.name);
    let mut remarks = Vec::new();
    match entry.kind {
        // Facts that changed are shown; what only fails more often has none.
        Kind::Changed if report.functions.iter().flat_map(|f| &f.points).any(|p| !p.churns.is_empty()) => {}
        Kind::Changed => {
            let after = FunctionLocation { file: entry.file.to_path(), name: entry.name.clone() };
            remarks.extend(
                broken(report, &after).into_iter().map(|what| format!("{place}  no longer kept: {what}")),
            );
        }
        Kind::Created => remarks.push(format!("{place}  is new")),
        Kind::Moved => remarks.push(format!("{place}  was {}", entry.from.as_deref().unwrap_or_default())),
        Kind::Undecided => {
            remarks.push(format!("{place}  no change was found, but not all could be compared"));
            remarks.extend(reasons(report).into_iter().map(|r| format!("    {r}")));
        }
    }
    text::render_step(report, &remarks, &options, &mut context.output)?;
    Ok(())
}

/// What a function kept in the first version of a report and does not keep in the second, by a run.
fn broken(report: &Report, place: &FunctionLocation) -> Vec<String> {
    let is_here = |a: &&Assertion| a.function == place.name && a.file == RepoPath::from(&place.file);
    let is_lost = |a: &&Assertion| matches!(a.judgement(2), Judgement::Regression | Judgement::Overtaken);
    let words = |a: &Assertion| {
        let line = a.lines.get(&2).map(|l| format!(", line {l}")).unwrap_or_default();
        format!("{}{line}", visible(a.text.as_bytes()))
    };
    report.assertions.iter().filter(is_here).filter(is_lost).map(words).collect()
}

/// Why facts of a function could not be compared, each once; the first few.
fn reasons(report: &Report) -> Vec<String> {
    const MOST: usize = 3;
    let mut all: Vec<String> = Vec::new();
    for f in &report.functions {
        let unknown = f.unknowns.iter().map(|u| format!("line {}: {}", u.line, u.reason));
        let open = f.points.iter().flat_map(|p| &p.undecided).map(|u| format!("{}: {}", u.text, u.reason));
        for reason in unknown.chain(open) {
            if !all.contains(&reason) && all.len() < MOST {
                all.push(reason);
            }
        }
    }
    all
}

fn summary(answer: &Blame) -> String {
    let counted = |n: usize| if n == 1 { "1 commit".to_owned() } else { format!("{n} commits") };
    let about = answer.variable.as_ref().map(|v| format!(" about {v}")).unwrap_or_default();
    let changed = answer.commits.iter().filter(|c| c.kind == Kind::Changed).count();
    let mut text = format!("{} changed its facts{about}", counted(changed));
    let open = answer.commits.iter().filter(|c| c.kind == Kind::Undecided).count();
    if open > 0 {
        text.push_str(&format!("; {open} could not be decided"));
    }
    let searched = match answer.whole_range {
        true => format!("; {} of {} changed its text", answer.text_changes, answer.searched),
        false => "; older ones were not looked at (-n)".to_owned(),
    };
    let unseen = match answer.not_looked_at.is_empty() {
        true => String::new(),
        false => {
            let pieces: Vec<&str> = answer.not_looked_at.iter().map(String::as_str).collect();
            format!("; not looked at: {}", pieces.join("; "))
        }
    };
    text + &searched + &unseen
}
