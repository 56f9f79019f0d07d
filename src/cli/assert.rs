//! `git invdiff assert`: copies of sources with assertions of the facts that hold in them.

use super::diff_args::{DiffArgs, PointChoice, StatusChoice};
use super::range::RangeArgs;
use super::{CliError, Context, ExitCode, Format, analyse};
use crate::history::Repository;
use crate::instrument::{self, Choice, CopiedFile};
use crate::report::filter::{Filter, FunctionGlob};
use crate::report::unseen;
use crate::report::{RepoPath, Report, SCHEMA, Version};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// Copies of the sources with assertions of the facts that hold in them
///
/// For one revision (HEAD if none is named), the facts of every function; for a range, those that all
/// its versions share, in the newest one. Without --output-dir a patch is printed that `git apply` takes
/// on that version. An assertion stands only where it is sure to compile and to mean the fact; `-v` says
/// what was left out, and why.
#[derive(Args, Clone, Debug)]
pub struct AssertArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Write the copies below <DIR>, under their paths in the tree
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,

    /// Print a patch, the default without --output-dir
    #[arg(long)]
    pub patch: bool,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB")]
    pub function: Vec<String>,

    /// Facts established so well: proved, bounded, likely
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "proved")]
    pub status: Vec<StatusChoice>,

    /// Also facts that rest on this assumption, which runs may break: a name (stdin-well-formed,
    /// separated), or all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub assume: Vec<String>,

    /// Points at which facts are asserted: exit, loop, entry, all
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "exit,loop")]
    pub points: Vec<PointChoice>,
}

pub fn run(args: AssertArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let repository = analyse::open(context)?;
    let single = single_revision(&args.range, &repository, context)?;
    let diff = DiffArgs {
        range: match &single {
            Some(range) => range.clone(),
            None => args.range.clone(),
        },
        function: args.function.clone(),
        points: args.points.clone(),
        all: true,
        whole: single.is_some(),
        ..DiffArgs::default()
    };
    let (mut report, versions, options) = analyse::report_with_versions(&repository, &diff, context)?;
    let newest = versions.last().ok_or_else(|| CliError::fatal("the range has no version"))?;
    let functions = args.function.iter().map(|glob| FunctionGlob::parse(glob)).collect();
    Filter { functions, ..Filter::default() }.apply(&mut report);
    let choice = Choice {
        version: newest.info.index,
        statuses: args.status.iter().map(|s| s.status()).collect(),
        shared: single.is_none(),
        assumed: args.assume.clone(),
    };
    let (files, errors) = instrument::copies(&report, newest, &options, &choice);
    errors.iter().for_each(|e| context.warn(e));
    let written = match &args.output_dir {
        Some(folder) => write_files(folder, &files)?,
        None => Vec::new(),
    };
    let patch = (args.patch || args.output_dir.is_none()).then(|| instrument::patch(&files));
    let list = Listing::of(&report, &choice, &files, &written, patch.as_deref());
    match (format, &patch) {
        (Format::Json, _) => {
            let text = serde_json::to_string_pretty(&list).map_err(|e| CliError::fatal(e.to_string()))?;
            writeln!(context.output, "{text}")?;
        }
        (_, Some(patch)) => context.output.write_all(patch)?,
        _ => {
            for path in &written {
                writeln!(context.output, "{}", RepoPath::from(path))?;
            }
        }
    }
    summarise(&list, context);
    let notices = report.notices.iter().map(|n| n.trim_start_matches("note: ").to_owned());
    let pieces: Vec<String> = match single {
        // Every declaration of a tree would be one of them.
        Some(_) => unseen::worth_a_warning(&report).into_iter().chain(notices).collect(),
        None => report.not_looked_at.clone(),
    };
    pieces.iter().for_each(|piece| context.say(&format!("not looked at: {piece}")));
    Ok(ExitCode::Done)
}

/// One revision alone is looked at as what comes after nothing.
fn single_revision(
    range: &RangeArgs,
    repository: &Repository,
    context: &Context,
) -> Result<Option<RangeArgs>, CliError> {
    let split = analyse::split(range, repository, context)?;
    let revision = match split.revisions.as_slice() {
        [] if !range.staged => "HEAD",
        [one] if !range.staged => one.as_str(),
        _ => return Ok(None),
    };
    let names_several = revision.contains("..") || revision.starts_with('^');
    if names_several || revision.ends_with("^!") || revision.ends_with("^-") {
        return Ok(None);
    }
    let empty = repository.objects().empty_tree().to_string();
    let revisions = vec![empty.into(), revision.into()];
    Ok(Some(RangeArgs { revisions, staged: false, endpoints: false, paths: split.paths }))
}

/// Writes the copies that have assertions; returns their paths.
fn write_files(folder: &Path, files: &[CopiedFile]) -> Result<Vec<PathBuf>, CliError> {
    let mut written = Vec::new();
    for file in files.iter().filter(|f| f.copy.facts > 0) {
        let path = file.path.to_path();
        // A tree may name anything; nothing is written outside the folder.
        if !path.components().all(|c| matches!(c, Component::Normal(_))) {
            continue;
        }
        let target = folder.join(path);
        super::output::write_file(&target, &file.copy.text)?;
        written.push(target);
    }
    Ok(written)
}

/// What `--json` says.
#[derive(Serialize)]
struct Listing<'a> {
    schema: &'static str,
    version: Version,
    name: &'a str,
    commit: Option<&'a str>,
    facts: usize,
    /// As in reports.
    not_looked_at: &'a [String],
    files: Vec<FileEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

#[derive(Serialize)]
struct FileEntry<'a> {
    file: &'a RepoPath,
    /// Facts that are asserted at one place at least.
    facts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<RepoPath>,
    left_out: Vec<LeftOutEntry<'a>>,
}

#[derive(Serialize)]
struct LeftOutEntry<'a> {
    function: &'a str,
    text: &'a str,
    why: &'a str,
    /// Other places of the same point have the assertion.
    partly: bool,
}

impl<'a> Listing<'a> {
    fn of(
        report: &'a Report,
        choice: &Choice,
        files: &'a [CopiedFile],
        written: &[PathBuf],
        patch: Option<&[u8]>,
    ) -> Listing<'a> {
        let version = report.versions.iter().find(|v| v.index == choice.version);
        let left_out = |f: &'a CopiedFile| {
            let entry = |l: &'a instrument::LeftOut| LeftOutEntry {
                function: &l.function,
                text: &l.fact,
                why: &l.why,
                partly: l.partly,
            };
            f.copy.left_out.iter().map(entry).collect()
        };
        let entry = |file: &'a CopiedFile| FileEntry {
            file: &file.path,
            facts: file.copy.facts,
            written: written.iter().find(|w| w.ends_with(file.path.to_path())).map(RepoPath::from),
            left_out: left_out(file),
        };
        Listing {
            schema: SCHEMA,
            version: choice.version,
            name: version.map_or("", |v| &v.name),
            commit: version.and_then(|v| v.commit.as_deref()),
            facts: files.iter().map(|f| f.copy.facts).sum(),
            not_looked_at: &report.not_looked_at,
            files: files.iter().map(entry).collect(),
            patch: patch.map(|p| String::from_utf8_lossy(p).into_owned()),
        }
    }
}

/// Says on standard error how much was asserted.
fn summarise(list: &Listing<'_>, context: &mut Context) {
    let left: Vec<(&RepoPath, &LeftOutEntry<'_>)> =
        list.files.iter().flat_map(|f| f.left_out.iter().map(move |l| (f.file, l))).collect();
    let whole = left.iter().filter(|(_, l)| !l.partly).count();
    let files = list.files.iter().filter(|f| f.facts > 0).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let more = if context.globals.verbose == 0 && !left.is_empty() { " (-v says which and why)" } else { "" };
    let asserted = format!("{} asserted in {}", count(list.facts, "fact"), count(files, "file"));
    context.say(&format!("{asserted}; {whole} left out{more}"));
    if context.globals.verbose > 0 {
        for (file, l) in left {
            let how = if l.partly { "not everywhere" } else { "left out" };
            context.say(&format!("{file}: {}(): {} {how}: {}", l.function, l.text, l.why));
        }
    }
}
