//! From the command line to a report: the repository, the settings, the versions, the analysis.

use super::affects;
use super::cached::{AnalysisCache, Cached};
use super::compdb::front_end;
use super::diff_args::DiffArgs;
use super::globals::DataModelChoice;
use super::range::{self, RangeArgs, Split};
use super::{CliError, Context, GlobalArgs, Progress};
use crate::analysis::difference::{Choice, Differences};
use crate::analysis::{self, Drawing, Pin, Request, Requirement, VersionInput, Watch};
use crate::config::{
    self, ConfigError, ConfigFile, Overrides, PinnedSection, RequiresSection, Settings, join_policies,
};
use crate::cost;
use crate::frontend::{self, FileCoverage, Lowered, c};
use crate::history::{
    self, ChangeOptions, Changes, Content, Exclusion, FileChange, FileSide, GitTree, OpenOptions, Pathspec,
    PathspecManner, Range, RangeRequest, Repository, Utf8Tree,
};
use crate::invariant::PinnedFact;
use crate::ir::DataModel;
use crate::report::coverage::Coverage;
use crate::report::unseen;
use crate::report::{
    HunkReport, HunkVerdict, PointKind, RepoPath, Report, SCHEMA, Summary, Version, VersionInfo,
};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Analyses the versions that the arguments name; also returns the settings that were in force.
pub fn report(
    repository: &Repository,
    args: &DiffArgs,
    context: &mut Context,
) -> Result<(Report, Settings), CliError> {
    let (report, settings, _) = report_with_request(repository, args, context)?;
    Ok((report, settings))
}

/// As [`report`], with what was asked of the analysis.
pub fn report_with_request(
    repository: &Repository,
    args: &DiffArgs,
    context: &mut Context,
) -> Result<(Report, Settings, Request), CliError> {
    let job = job(repository, args, context)?;
    let report = report_of(&job, repository, context);
    let is_all = job.limit.is_none() && !context.asked_to_end().is_to_end();
    if job.is_whole && is_all && repository.objects().unreadable().is_empty() {
        AnalysisCache::commits(repository, &job.settings).put_commit(&report);
    }
    Ok((report, job.settings, job.request))
}

/// As [`report`], with the versions, oldest first and at least one, and what the front end was told.
pub fn report_with_versions(
    repository: &Repository,
    args: &DiffArgs,
    context: &mut Context,
) -> Result<(Report, Vec<VersionInput>, c::Options), CliError> {
    let (report, _, request) = report_with_request(repository, args, context)?;
    Ok((report, request.versions, request.options))
}

/// Returns the report of a job, from the cache if it has it.
fn report_of(job: &Job, repository: &Repository, context: &Context) -> Report {
    let Job { request, changes, settings, limit, .. } = job;
    let excluded = changes.iter().flat_map(excluded_hunks).collect();
    report_of_request(request, excluded, settings, *limit, repository, context)
}

/// Returns the report of a request, from the cache if it has it. What is not begun within `limit` stays
/// open.
pub fn report_of_request(
    request: &Request,
    excluded: Vec<HunkReport>,
    settings: &Settings,
    limit: Option<Duration>,
    repository: &Repository,
    context: &Context,
) -> Report {
    let start = Instant::now();
    let cached = Cached::of(repository, request, &excluded, settings);
    let report = cached.as_ref().and_then(Cached::get);
    let mut report = match report {
        Some(known) => known,
        None => {
            let deadline = limit.and_then(|limit| start.checked_add(limit));
            let progress = Progress::new(context).until(deadline);
            progress.working_on("comparing versions");
            let report = fresh(repository, request, excluded, settings, &progress);
            // What the machine had no time for is no answer for another time.
            let is_whole = repository.objects().unreadable().is_empty() && progress.ended().is_none();
            drop(progress);
            if let Some(cached) = cached.filter(|_| is_whole) {
                cached.put(&report);
            }
            report
        }
    };
    report.cost.wall_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.cost.peak_rss_kib = peak_rss_kib();
    report.cost.rooms = cost::taken().into_iter().map(|(room, ms)| (room.to_owned(), ms)).collect();
    report
}

/// Computes a report.
fn fresh(
    repository: &Repository,
    request: &Request,
    excluded: Vec<HunkReport>,
    settings: &Settings,
    progress: &Progress,
) -> Report {
    let outcomes = AnalysisCache::outcomes(repository, settings);
    let mut report = analysis::diff_keeping(request, progress, &outcomes);
    report.hunks.extend(excluded);
    report
        .hunks
        .sort_by(|a, b| (a.from, a.to, &a.file, a.new_start).cmp(&(b.from, b.to, &b.file, b.new_start)));
    let unreadable = repository.objects().unreadable();
    report.complete &= unreadable.is_empty();
    // The reason names the object itself where that is all there is to say.
    let notice = |(id, why): &(_, String)| match why.strip_prefix(&format!("object {id} ")) {
        Some(_) => why.clone(),
        None => format!("object {id} cannot be read: {why}"),
    };
    report.notices.extend(unreadable.iter().map(notice));
    if unreadable.iter().any(|(_, why)| why.contains("partial clone")) {
        report
            .notices
            .push("set invdiff.lazyFetch=true to have it fetched, or run: git fetch --refetch".into());
    }
    affects::add(&mut report, request, settings, repository);
    report.complete &= unseen::is_nothing(&report);
    report.not_looked_at = unseen::pieces(&report);
    report.settings.templates = settings.analysis.templates.clone();
    report.settings.configuration = settings.c.configuration.join(",");
    report.summary = Summary::of(&report);
    report
}

/// Draws the functions that the range changes and that are `wanted`.
pub fn draw(
    repository: &Repository,
    args: &DiffArgs,
    context: &mut Context,
    wanted: impl Fn(&RepoPath, &str) -> bool + Sync,
) -> Result<Drawing, CliError> {
    let job = job(repository, args, context)?;
    Ok(analysis::draw(&job.request, wanted))
}

/// Compares the first and the last of the versions; also returns these and what the front end was told.
pub fn differences(
    repository: &Repository,
    args: &DiffArgs,
    choice: &Choice,
    context: &mut Context,
) -> Result<(Differences, Vec<VersionInput>, c::Options), CliError> {
    let job = job(repository, args, context)?;
    let found = analysis::difference::differences(&job.request, choice);
    Ok((found, job.request.versions, job.request.options))
}

/// Counts the functions that are `wanted`; also returns the versions and the settings. `choose`: what is asked, by the
/// settings and the newest version's tree; `with` may add versions.
pub fn quantify(
    repository: &Repository,
    args: &DiffArgs,
    context: &mut Context,
    wanted: &analysis::quantify::Wanted,
    choose: impl FnOnce(
        &Settings,
        Option<&dyn history::SourceTree>,
    ) -> Result<analysis::quantify::Choice, CliError>,
    with: impl FnOnce(&mut Vec<VersionInput>, &mut Vec<Vec<analysis::FileChange>>) -> Result<(), CliError>,
) -> Result<(QuantifyResult, Vec<VersionInput>, Settings), CliError> {
    let mut job = job(repository, args, context)?;
    let newest = job.request.versions.last().map(|v| v.tree.clone());
    let choice = choose(&job.settings, newest.as_deref())?;
    with(&mut job.request.versions, &mut job.request.changes)?;
    let trees = AnalysisCache::trees(repository, &job.settings);
    let found = analysis::quantify::quantify(&job.request, &choice, wanted, &trees);
    Ok((found, job.request.versions, job.settings))
}

/// Discovers what holds in the functions that are asked for; also returns the versions. `with` chooses the version,
/// `before` gives further first runs.
pub fn discover(
    repository: &Repository,
    args: &DiffArgs,
    choice: &mut analysis::discover::Choice,
    context: &mut Context,
    with: impl FnOnce(&mut Vec<VersionInput>, &mut Vec<Vec<analysis::FileChange>>) -> Result<(), CliError>,
    before: impl FnOnce(
        &Request,
        &analysis::discover::Choice,
        &mut Context,
    ) -> Result<Vec<analysis::discover::FirstRun>, CliError>,
) -> Result<(Vec<analysis::discover::Found>, Vec<VersionInput>), CliError> {
    let mut job = job(repository, args, context)?;
    with(&mut job.request.versions, &mut job.request.changes)?;
    choice.first.extend(before(&job.request, choice, context)?);
    let progress = Progress::new(context);
    let mut turned = |name: &str, turn: &crate::discovery::Iteration| {
        progress.working_on(&format!("{name}: turn {}, {} invariants", turn.index, turn.invariants));
    };
    let found = analysis::discover::discover(&job.request, choice, &mut turned);
    drop(progress);
    Ok((found, job.request.versions))
}

/// The counts, or why there are none.
pub type QuantifyResult = Result<Vec<analysis::quantify::Quantified>, analysis::quantify::Problem>;

/// What the arguments ask of the analysis.
struct Job {
    request: Request,
    /// Excluded files included.
    changes: Vec<Changes>,
    settings: Settings,
    /// Time for the analysis.
    limit: Option<Duration>,
    /// Facts of all that changes are asked for.
    is_whole: bool,
}

fn job(repository: &Repository, args: &DiffArgs, context: &mut Context) -> Result<Job, CliError> {
    let split = split(&args.range, repository, context)?;
    let range = range(repository, &args.range, split.revisions, context)?;
    let settings = settings(repository, &range, args, context)?;
    // What names no version is said before anything is analysed.
    let infos: Vec<VersionInfo> = range.versions.iter().map(|v| version_input(v).info).collect();
    args.held.held_in(repository, &infos)?;
    let mut analysis = analysis_options(repository, args, &settings)?;
    // Of more versions these facts are told anyway: a report that is kept serves who asks for them, too.
    analysis.subsets &= infos.len() < 3;
    let changes = repository.changes(&range, &change_options(repository, &split.paths, &settings)?)?;
    let is_whole = split.paths.is_empty()
        && args.function.is_empty()
        && !args.properties_only
        && analysis.effort != analysis::Effort::Quick
        && analysis.exits == analysis::Exits::All;
    let request = Request {
        versions: range.versions.iter().map(version_input).collect(),
        changes: changes.iter().map(file_changes).collect(),
        options: front_end(repository, &settings, context)?,
        analysis,
    };
    Ok(Job { request, changes, settings, limit: args.limit, is_whole })
}

/// How much more a deep analysis may cost.
const DEEPER: u64 = 4;
/// How much less one query may cost where everything that a range changes is looked at, if nobody set a limit.
const CHEAPER: u64 = 8;

/// How the arguments and the settings ask for an analysis.
pub fn analysis_options(
    repository: &Repository,
    args: &DiffArgs,
    settings: &Settings,
) -> Result<analysis::Options, CliError> {
    let effort = match settings.analysis.effort.as_str() {
        "quick" if args.may_be_quick && !args.properties_only => analysis::Effort::Quick,
        "deep" => analysis::Effort::Deep,
        _ => analysis::Effort::Normal,
    };
    // Deep asks what normal does, of everything, and waits longer for it.
    let more = if effort == analysis::Effort::Deep { DEEPER } else { 1 };
    // The first look at a range is to be there at once; who names a function waits for what can be said of it.
    let is_cheap = args.may_be_quick && effort == analysis::Effort::Normal && args.function.is_empty();
    let asks_of_exits = args.asks_of_exits()
        || settings.analysis.templates != Settings::default().analysis.templates
        || !settings.specification.templates.is_empty()
        || !settings.specification.protocols.is_empty();
    let budget = match is_cheap {
        true if args.properties_only => crate::invariant::Budget::GATE,
        true => crate::invariant::Budget::CHEAP,
        false => crate::invariant::Budget::default(),
    };
    let is_unset = args.rlimit.is_none() && settings.analysis.rlimit == Settings::default().analysis.rlimit;
    let less = if is_cheap && is_unset { CHEAPER } else { 1 };
    Ok(analysis::Options {
        effort,
        exits: if is_cheap && !asks_of_exits { analysis::Exits::WhereOpen } else { analysis::Exits::All },
        configurations: true,
        limits: analysis::Limits {
            rlimit: settings.analysis.rlimit.saturating_mul(more) / less,
            unroll: settings.analysis.unroll,
            inline_depth: settings.analysis.inline_depth,
            budget: crate::invariant::Budget {
                steps: budget.steps.saturating_mul(more),
                guided: budget.guided.saturating_mul(more),
                ..budget
            },
        },
        jobs: settings.jobs.unwrap_or(0),
        function: only_name(&args.function),
        all: args.all,
        whole: args.whole,
        properties_only: args.properties_only,
        aliases: args.aliases,
        // Who names a variable wants to hear of it, whatever else says the same.
        locals: !args.var.is_empty(),
        subsets: args.held.is_any(),
        points: points(args, &repository.prefix(), settings)?,
        specification: specification(args, settings)?,
        differencing: args
            .gate
            .then_some(analysis::Differencing { compare_full: args.compare_full, without_condition: false }),
        all_pairs: args.all_pairs,
    })
}

/// What people write of functions.
fn specification(args: &DiffArgs, settings: &Settings) -> Result<analysis::Specification, CliError> {
    Ok(analysis::Specification {
        pins: pins(settings)?,
        requires: requires(settings)?,
        // Properties are judged with everything inlined that can be.
        protocols: if args.properties_only { Vec::new() } else { settings.specification.protocols.clone() },
        templates: if args.properties_only { Vec::new() } else { settings.specification.templates.clone() },
    })
}

/// The versions that the arguments name, oldest first.
pub fn range(
    repository: &Repository,
    args: &RangeArgs,
    revisions: Vec<String>,
    context: &mut Context,
) -> Result<Range, CliError> {
    let request = RangeRequest { revisions, staged: args.staged, endpoints: args.endpoints };
    let range = repository.range(&request)?;
    for warning in &range.warnings {
        context.warn(warning);
    }
    Ok(range)
}

/// Joins the newest version's `.invdiff.yaml` (or the file of `--config`), git's configuration, the
/// environment and the command line.
pub fn settings(
    repository: &Repository,
    range: &Range,
    args: &DiffArgs,
    context: &Context,
) -> Result<Settings, CliError> {
    let globals = &context.globals;
    let named = std::env::var_os(config::variables::CONFIG).filter(|v| !v.is_empty()).map(PathBuf::from);
    let file =
        match (globals.config.as_ref().or(named.as_ref()), range.versions.first(), range.versions.last()) {
            (Some(path), ..) => ConfigFile::read(path)?,
            (None, Some(oldest), Some(newest)) => {
                let mut file = ConfigFile::of_tree(&*newest.tree)?;
                // A change cannot take back a promise of its base. What is wrong with the base's file is
                // not this range's matter.
                let base = ConfigFile::of_tree(&*oldest.tree).unwrap_or_default();
                match args.gate {
                    true => file = join_policies(&base, &file).file,
                    false => file.pinned.extend(base.pinned),
                }
                file
            }
            _ => ConfigFile::default(),
        };
    let git = context.git_config(repository)?;
    let variable = |name: &str| std::env::var(name).ok();
    let settings = Settings::join(&file, git, variable, &overrides(globals, args))?;
    if let [_, _, ..] = settings.c.configuration.as_slice() {
        let names = settings.c.configuration.join(", ");
        return Err(CliError::fatal(format!("several configurations are chosen ({names})"))
            .hint("this version analyses one at a time: git config invdiff.configuration NAME"));
    }
    Ok(settings)
}

/// The points that the command line names, else those of the configuration, if it names any.
fn points(args: &DiffArgs, prefix: &Path, settings: &Settings) -> Result<analysis::PointChoice, CliError> {
    let mut choice = args.points_wanted(prefix)?;
    if !choice.is_explicit() && settings.analysis.points != Settings::default().analysis.points {
        let kind = |name: &String| match name.as_str() {
            "exit" => Some(PointKind::Exit),
            "loop" => Some(PointKind::Loop),
            "entry" => Some(PointKind::Entry),
            _ => None,
        };
        choice.kinds = Some(settings.analysis.points.iter().filter_map(kind).collect());
    }
    Ok(choice)
}

/// The facts that the configuration pins, each once.
fn pins(settings: &Settings) -> Result<Vec<Pin>, CliError> {
    let sections: BTreeSet<_> = settings.specification.pinned.iter().collect();
    let pin = |section: &PinnedSection| {
        let fact = section.fact().map_err(CliError::fatal)?;
        let fact = PinnedFact { text: section.holds.clone(), fact };
        Ok(Pin { function: section.function.clone(), fact, is_dropped: false })
    };
    sections.into_iter().map(pin).collect()
}

/// The conditions on parameters that the configuration says callers see to.
fn requires(settings: &Settings) -> Result<Vec<Requirement>, CliError> {
    let sections: BTreeSet<_> = settings.specification.requires.iter().collect();
    let pin = |section: &RequiresSection| {
        let fact = section.condition().map_err(CliError::fatal)?;
        let fact = PinnedFact { text: section.holds.clone(), fact };
        Ok(Requirement { function: section.function.clone(), fact, is_dropped: false })
    };
    sections.into_iter().map(pin).collect()
}

/// What the command line sets.
fn overrides(globals: &GlobalArgs, args: &DiffArgs) -> Overrides {
    Overrides {
        templates: args.templates.clone(),
        written_templates: args.template.clone(),
        effort: args.effort.map(|e| e.name().to_owned()),
        rlimit: args.rlimit,
        unroll: args.unroll,
        data_model: globals.data_model.map(|model| match model {
            DataModelChoice::Lp64 => DataModel::Lp64,
            DataModelChoice::Ilp32 => DataModel::Ilp32,
        }),
        defines: globals.define.clone(),
        undefines: globals.undefine.clone(),
        include_dirs: globals.include_dir.clone(),
        compdb: globals.compdb.clone(),
        jobs: globals.jobs.map(std::num::NonZeroUsize::get),
        no_cache: globals.no_cache,
        strict: args.strict.then_some(true),
        ..Overrides::default()
    }
}

/// How changed files are looked for.
pub fn change_options(
    repository: &Repository,
    paths: &[OsString],
    settings: &Settings,
) -> Result<ChangeOptions, CliError> {
    let text = |path: &OsString| history::utf8_path(Path::new(path)).to_string_lossy().into_owned();
    let paths: Vec<String> = paths.iter().map(text).collect();
    Ok(ChangeOptions {
        pathspec: Pathspec::in_manner(&paths, &repository.prefix(), PathspecManner::of_environment())?,
        configured: Pathspec::new(settings.pathspecs(), Path::new(""))?,
        renames: settings.files.renames,
        rename_limit: settings.files.rename_limit,
        ..ChangeOptions::default()
    })
}

pub fn version_input(version: &history::Version) -> VersionInput {
    VersionInput {
        info: VersionInfo {
            index: version_number(version.index),
            commit: version.commit(),
            name: version.name.clone(),
            summary: version.summary.clone(),
            time: version.time.clone(),
        },
        tree: Arc::new(Utf8Tree::new(version.tree.clone())),
    }
}

fn version_number(index: usize) -> Version {
    Version::try_from(index).unwrap_or(Version::MAX)
}

/// The changed files of one step that are analysed, with their hunks.
pub fn file_changes(step: &Changes) -> Vec<analysis::FileChange> {
    let wanted = step.files.iter().filter(|file| excluded(file).is_none());
    // Where a link became a file or a file a link, the source file is new or gone.
    let path = |side: &Option<FileSide>, other: &Option<FileSide>| {
        let is_file = |side: &&FileSide| side.mode.is_file();
        let side = side.as_ref().filter(|side| is_file(side) || other.as_ref().filter(is_file).is_none())?;
        Some(history::utf8_path(&side.path))
    };
    wanted
        .map(|file| analysis::FileChange {
            old_path: path(&file.old, &file.new),
            new_path: path(&file.new, &file.old),
            hunks: hunks_of(step, file)
                .map(|hunk| analysis::Hunk {
                    old_start: hunk.old_start,
                    old_lines: hunk.old_lines,
                    new_start: hunk.new_start,
                    new_lines: hunk.new_lines,
                })
                .collect(),
            opaque: opaque(file),
        })
        .collect()
}

/// Why a changed file has no lines to compare.
fn opaque(file: &FileChange) -> Option<&'static str> {
    let same = file.old.as_ref().zip(file.new.as_ref()).is_some_and(|(old, new)| old.id == new.id);
    match file.content {
        Content::Text => None,
        _ if same => None,
        Content::Binary => Some("binary"),
        Content::Link => Some("link"),
        Content::Submodule => Some("submodule"),
        Content::Unreadable => Some("unreadable"),
    }
}

fn hunks_of<'a>(step: &'a Changes, file: &'a FileChange) -> impl Iterator<Item = &'a history::Hunk> {
    step.hunks.iter().filter(|hunk| hunk.new_path == file.path() && hunk.old_path == file.old_path())
}

/// Why a changed file is left out on purpose, if it is. What an attribute calls binary is no source.
fn excluded(file: &FileChange) -> Option<&'static str> {
    match file.exclusion {
        Some(Exclusion::Generated) => Some("excluded:generated"),
        Some(Exclusion::Attribute) => Some("excluded:attribute"),
        Some(Exclusion::Configured) => Some("excluded:configuration"),
        None => opaque(file).filter(|why| match *why {
            "binary" => analysis::is_source(file.path()) || analysis::is_header(file.path()),
            why => why == "submodule",
        }),
    }
}

/// Hunks of files that are left out on purpose: counted, with the reason. What git shows no lines of has
/// changed all the same.
fn excluded_hunks(step: &Changes) -> Vec<HunkReport> {
    let hunk = |file: &FileChange, why: &str, lines: [u32; 4]| HunkReport {
        from: version_number(step.from),
        to: version_number(step.to),
        file: RepoPath::from(file.path()),
        old_start: lines[0],
        old_lines: lines[1],
        new_start: lines[2],
        new_lines: lines[3],
        verdict: HunkVerdict::NotAnalysed,
        why: Some(why.to_owned()),
        ..HunkReport::default()
    };
    let mut hunks = Vec::new();
    for (file, why) in step.files.iter().filter_map(|file| Some((file, excluded(file)?))) {
        let lines = |h: &history::Hunk| [h.old_start, h.old_lines, h.new_start, h.new_lines];
        hunks.extend(hunks_of(step, file).map(|h| hunk(file, why, lines(h))));
        if file.exclusion.is_none() {
            hunks.push(hunk(file, why, [0; 4]));
        }
    }
    hunks
}

/// A single pattern of function names lets the analysis skip the others; filters see to the rest.
fn only_name(patterns: &[String]) -> Option<String> {
    match patterns {
        [one] if !one.contains(':') => Some(one.clone()),
        _ => None,
    }
}

/// Largest resident set of this process so far; 0 where the system does not say.
fn peak_rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
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

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> CliError {
        let fatal = CliError::fatal(error.to_string());
        match error.hint {
            Some(hint) => fatal.hint(hint),
            None => fatal,
        }
    }
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
pub fn coverage(revision: &str, context: &mut Context) -> Result<Coverage, CliError> {
    let repository = open(context)?;
    let commit = repository.commit(revision)?;
    let range = repository
        .range(&RangeRequest { revisions: vec![commit.id.to_string(); 2], ..RangeRequest::default() })?;
    let settings = settings(&repository, &range, &DiffArgs::default(), context)?;
    let options = front_end(&repository, &settings, context)?;
    let tree = Utf8Tree::new(Arc::new(GitTree::new(repository.objects().clone(), commit.tree)));
    let sources = c::coverage::sources(&tree);
    let progress = Progress::new(context);
    progress.more(sources.len());
    let count = |path: &PathBuf| {
        progress.begins(&RepoPath::from(path).to_string());
        let found = frontend::coverage(&tree, path, &options);
        progress.done();
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
            coverage.rest_on_guesses += usize::from(function.rests_on_guesses());
            coverage.return_twice += usize::from(function.returns_twice);
        }
        if let Some(reason) = &file.rejected {
            coverage.add_rejected(&RepoPath::from(path), reason);
        }
    }
    Ok(coverage)
}

/// Threads as `-j` says, one a processor otherwise.
pub fn worker_pool(globals: &GlobalArgs) -> Result<rayon::ThreadPool, CliError> {
    let threads = globals.jobs.map_or(0, std::num::NonZeroUsize::get);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| CliError::fatal("cannot start worker threads").caused_by(&e))
}
