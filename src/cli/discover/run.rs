//! First runs of a command (`--run`): a version's files in a temporary folder, the functions that are asked for made to
//! record their calls, the command run there, and the records read.
//!
//! It is the one place where something of a repository is built and run, and it is reached by the command line's word
//! alone: no key of a configuration stands for it. What is to run is said before it does.

use super::command::{self, End};
use super::first::{self, MOST};
use crate::analysis::discover::{Choice, FirstRun, Wanted, wanted};
use crate::analysis::{Request, VersionInput};
use crate::cli::{CliError, Context};
use crate::history::{self, Repository};
use crate::infer::daikon::Declarations;
use crate::instrument::{self, Recorded, ToRecord, Trace};
use crate::report::RepoPath;
use crate::report::escape::visible;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is to be run, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub command: String,
    pub limit: Duration,
    /// Where the records are kept.
    pub keep: Option<PathBuf>,
}

/// The machines that a recorder can ask without a library.
const IS_KNOWN: bool = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

/// A function that records.
struct Function {
    file: PathBuf,
    recorded: Recorded,
    records: Records,
}

/// What was recorded of a function.
#[derive(Default)]
struct Records {
    calls: u64,
    /// Different ones, the first of them.
    rows: first::Rows,
    /// A process made more.
    is_over: bool,
}

/// Runs the command in a copy of the newest version; the runs of each function. Nothing is run where no function is
/// asked for.
pub(super) fn runs(
    run: &Run,
    (repository, request, choice): (&Repository, &Request, &Choice),
    context: &mut Context,
) -> Result<Vec<FirstRun>, CliError> {
    let all = wanted(request, choice);
    let Some(version) = request.versions.last().filter(|_| !all.is_empty()) else { return Ok(Vec::new()) };
    if !IS_KNOWN {
        return Err(CliError::fatal("--run works on Linux alone, on x86-64 and arm64")
            .hint("a trace that another tool made can be read: --inputs FILE.dtrace"));
    }
    let scratch = tempfile::Builder::new().prefix("invdiff-run-").tempdir().map_err(|e| cannot_copy(&e))?;
    let scratch =
        Scratch { root: scratch.path().canonicalize().map_err(|e| cannot_copy(&e))?, _folder: scratch };
    let (tree, trace) = (scratch.root.join("tree"), scratch.root.join("calls.dtrace"));
    check_out(version, &tree, context)?;
    let mut functions = record(&all, version, request, (&tree, &trace), context)?;
    let copies = copies(&functions, &tree);
    declare(&functions, &trace).map_err(|e| cannot_copy(&e))?;
    let before = state(repository);
    // Said whatever -q says: it is no result but what happens to the machine.
    let text = format!("runs in a copy of {}, {}:", version.info.name, tree.display());
    let _ = writeln!(std::io::stderr(), "{}\n  {}", visible(text), visible(&run.command));
    let end = command::run(&run.command, &tree, run.limit, context.globals.quiet)
        .map_err(|e| CliError::fatal("cannot run the command").caused_by(&e))?;
    if state(repository) != before {
        context.warn("the command changed files of the working tree, though it ran in a copy; does it name that folder?");
    }
    for (path, text) in copies {
        if std::fs::read(&path).ok() != Some(text) {
            let name = path.strip_prefix(&tree).unwrap_or(&path).display().to_string();
            context.warn(&format!(
                "the command wrote '{name}' anew: calls of what was built of that are not recorded"
            ));
        }
    }
    read(&mut functions, &trace, context)?;
    if let Some(keep) = &run.keep {
        let bytes = std::fs::read(&trace).map_err(|e| cannot_copy(&e))?;
        crate::cli::output::write_file(keep, &bytes)?;
    }
    tell(&functions, &end, run, context)?;
    Ok(functions.iter().flat_map(Function::runs).collect())
}

/// A folder that is removed in the end.
struct Scratch {
    root: PathBuf,
    _folder: tempfile::TempDir,
}

fn cannot_copy(error: &std::io::Error) -> CliError {
    CliError::fatal("cannot make a copy to run the command in").caused_by(error)
}

fn check_out(version: &VersionInput, tree: &Path, context: &mut Context) -> Result<(), CliError> {
    std::fs::create_dir(tree).map_err(|e| cannot_copy(&e))?;
    let done = history::check_out(&*version.tree, tree)
        .map_err(|e| CliError::fatal("cannot make a copy to run the command in").caused_by(&e))?;
    let mut missing = |paths: &[PathBuf], what: &str| {
        if let Some(first) = paths.first() {
            let (first, count) = (RepoPath::from(first), paths.len());
            context.warn(&format!("the copy lacks {count} {what} (first: {first})"));
        }
    };
    missing(&done.left_out, "files that cannot be read or have no place in a folder");
    missing(&done.submodules, "submodules");
    Ok(())
}

/// Puts the copies that record in the place of the sources.
fn record(
    all: &[Wanted],
    version: &VersionInput,
    request: &Request,
    (tree, trace): (&Path, &Path),
    context: &mut Context,
) -> Result<Vec<Function>, CliError> {
    let mut by_file: BTreeMap<&Path, Vec<ToRecord>> = BTreeMap::new();
    for w in all {
        let one = ToRecord { function: w.name.to_string(), inputs: w.inputs.clone() };
        by_file.entry(&w.file).or_default().push(one);
    }
    let mut functions = Vec::new();
    let mut why_not: Vec<String> = Vec::new();
    for (number, (file, wanted)) in by_file.into_iter().enumerate() {
        let name = RepoPath::from(file).to_string();
        let to = Trace { path: trace.as_os_str().as_encoded_bytes(), number };
        let made = match instrument::record(&*version.tree, (file, &name), &request.options, &wanted, to) {
            Ok(made) => made,
            Err(why) => {
                why_not.push(format!("calls of {name} are not recorded: {why}"));
                continue;
            }
        };
        let left = made.left_out.iter();
        why_not.extend(
            left.map(|(function, why)| format!("calls of {function}() of {name} are not recorded: {why}")),
        );
        if let (Some(text), Some(place)) = (&made.text, history::place(tree, file)) {
            std::fs::write(&place, text).map_err(|e| cannot_copy(&e))?;
            let function =
                |recorded| Function { file: file.to_owned(), recorded, records: Records::default() };
            functions.extend(made.functions.into_iter().map(function));
        }
    }
    match (functions.is_empty(), why_not.split_first()) {
        (true, Some((first, _))) => Err(CliError::fatal(first.clone())),
        _ => {
            why_not.iter().for_each(|why| context.warn(why));
            Ok(functions)
        }
    }
}

/// The copies, as they are before the command runs.
fn copies(functions: &[Function], tree: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let places = functions.iter().filter_map(|f| history::place(tree, &f.file));
    places.filter_map(|place| Some((place.clone(), std::fs::read(place).ok()?))).collect()
}

/// Begins the trace.
fn declare(functions: &[Function], trace: &Path) -> std::io::Result<()> {
    let mut declarations = Declarations::default();
    declarations.language = Some("C/C++".to_owned());
    declarations.comparability = Some("none".to_owned());
    for Function { recorded, .. } in functions {
        for point in [&recorded.point, &recorded.over] {
            declarations.add(point.clone()).map_err(|e| std::io::Error::other(e.to_string()))?;
        }
    }
    let mut out = BufWriter::new(File::create_new(trace)?);
    declarations.write(&mut out)?;
    out.flush()
}

/// What git says of the working tree; nothing where there is none.
fn state(repository: &Repository) -> Option<Vec<u8>> {
    repository.work_dir()?;
    let status = ["-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--untracked-files=normal"];
    repository.git().read(&status).ok()
}

fn read(functions: &mut [Function], trace: &Path, context: &mut Context) -> Result<(), CliError> {
    let open = File::open(trace).map(BufReader::new);
    let file = open.map_err(|e| CliError::fatal("the command removed its trace").caused_by(&e))?;
    let mut declarations = Declarations::default();
    // Two points of each function, in order, and nothing else: the trace was begun so.
    let sink = |point: usize, row: &[Option<i128>]| {
        let Some(function) = functions.get_mut(point / 2) else { return };
        let records = &mut function.records;
        match point % 2 {
            0 => {
                records.calls += 1;
                records.rows.add(row);
            }
            _ => records.is_over = true,
        }
    };
    if let Err(failure) = crate::infer::daikon::read_trace(file, &mut declarations, sink) {
        context.warn(&format!("the records of calls, {failure}; what comes before is taken"));
    }
    if std::fs::metadata(trace).is_ok_and(|m| m.len() >= instrument::MOST_BYTES) {
        let most = instrument::MOST_BYTES >> 20;
        context.warn(&format!("the records of calls reached {most} MB; later ones were not recorded"));
    }
    Ok(())
}

/// Says what was recorded. An error where that is nothing.
fn tell(functions: &[Function], end: &End, run: &Run, context: &mut Context) -> Result<(), CliError> {
    let calls: u64 = functions.iter().map(|f| f.records.calls).sum();
    let failed = match end {
        End::Exited(status) if status.success() => None,
        End::Exited(status) => Some(format!("the command failed ({status})")),
        End::TimedOut => {
            let (limit, s) = (run.limit.as_secs(), if run.limit.as_secs() == 1 { "" } else { "s" });
            Some(format!("the command did not end within {limit} second{s} and was stopped"))
        }
        End::Interrupted => return Err(CliError::fatal("interrupted; the command was stopped")),
    };
    if calls == 0 {
        let names: Vec<String> = functions.iter().map(|f| format!("{}()", f.recorded.function)).collect();
        let none = format!("no call of {} was recorded", names.join(", "));
        let text = failed.map_or(none.clone(), |failed| format!("{failed}, and {none}"));
        return Err(CliError::fatal(text).hint(match end {
            End::TimedOut => "--run-timeout SECONDS allows more",
            _ => "the command has to build the file of the copy that it runs in, and to call the function",
        }));
    }
    if let Some(failed) = failed {
        let calls = if calls == 1 { "the call that it made is" } else { "the calls that it made are" };
        context.warn(&format!("{failed}; {calls} taken"));
    }
    for f in functions {
        let (name, records) = (&f.recorded.function, &f.records);
        let different = records.rows.rows.len();
        match records.calls {
            0 => context
                .warn(&format!("no call of {name}() was recorded; it begins with runs on values of ours")),
            calls => context.say(&format!("{name}(): {calls} calls recorded, {different} different")),
        }
        if records.rows.is_full {
            context.warn(&format!("{name}(): of its different calls the first {MOST} are taken"));
        }
        if records.is_over {
            let most = instrument::MOST_CALLS;
            context.warn(&format!(
                "{name}(): a process made more than {most} calls, of which the first are taken"
            ));
        }
    }
    Ok(())
}

impl Function {
    fn runs(&self) -> impl Iterator<Item = FirstRun> {
        let columns = self.recorded.point.columns();
        self.records.rows.rows.iter().map(move |row| {
            let value = |(at, v): &(usize, crate::infer::Variable)| {
                Some((v.name.clone(), row.get(*at).copied().flatten()?))
            };
            FirstRun {
                file: Some(self.file.clone()),
                function: Some(self.recorded.function.clone()),
                values: columns.iter().filter_map(value).collect(),
            }
        })
    }
}
