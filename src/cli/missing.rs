//! `git invdiff doctor REVISION`: what headers and names a revision lacks, and lines of configuration that help.
//!
//! A line is tried before it is advised: the functions that are understood as a whole are counted with it and
//! without it, and it is shown only if more are and fewer are not.

use super::compdb::{self, front_end};
use super::diff_args::DiffArgs;
use super::{CliError, Context, Progress, analyse, build_names};
use crate::analysis::Watch;
use crate::frontend::{self, FileCoverage, c};
use crate::history::{GitTree, RangeRequest, Repository, SourceTree, Utf8Tree};
use crate::report::SCHEMA;
use crate::report::missing::{Advice, Cause, CauseKind, Figures, Missing};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The platform that sources are read for, as names of folders and macros have it.
const PLATFORM: &str = "linux";
/// Causes that are listed.
const SHOWN: usize = 10;
/// Lines that are tried for one cause.
const TRIED: usize = 4;
/// The part of a cause's functions that a line is to make whole.
const WORTH: usize = 50;
/// Where builds leave their compilation database.
const DATABASES: [&str; 4] = [
    "build/compile_commands.json",
    "compile_commands.json",
    "builddir/compile_commands.json",
    "out/compile_commands.json",
];

/// Something to configure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Folder(PathBuf),
    Define(String, String),
    HostHeaders,
    Compdb(&'static str),
}

/// By cause (a name, or else a header): functions that are not whole, and the sources that miss it.
type Costs = BTreeMap<(bool, String), (usize, Vec<PathBuf>)>;

/// What a line does that helps.
struct Tried {
    advice: Advice,
    costs: Costs,
}

/// A revision's sources, as far as they are understood.
struct Survey<'s> {
    tree: &'s dyn SourceTree,
    sources: Vec<PathBuf>,
    options: c::Options,
    databases: Vec<(&'static str, compdb::Files)>,
    macros: BTreeMap<String, String>,
    /// Words of the sources and headers that `#if` asks of, by file.
    conditions: BTreeMap<PathBuf, BTreeSet<String>>,
    now: Vec<FileCoverage>,
    progress: Progress,
    pool: rayon::ThreadPool,
}

/// Looks for what is missing in a revision.
pub fn missing(revision: &str, context: &mut Context) -> Result<Missing, CliError> {
    let repository = analyse::open(context)?;
    let commit = repository.commit(revision)?;
    let range = repository
        .range(&RangeRequest { revisions: vec![commit.id.to_string(); 2], ..RangeRequest::default() })?;
    let settings = analyse::settings(&repository, &range, &DiffArgs::default(), context)?;
    let options = front_end(&repository, &settings, context)?;
    let tree = Utf8Tree::new(Arc::new(GitTree::new(repository.objects().clone(), commit.tree)));
    let mut survey = Survey {
        tree: &tree,
        sources: c::coverage::sources(&tree),
        databases: databases(&repository, &options),
        macros: build_names::macros(&tree),
        conditions: conditions(&tree),
        options,
        now: Vec::new(),
        progress: Progress::new(context),
        pool: analyse::worker_pool(&context.globals)?,
    };
    survey.now = survey.covered(&survey.options, &survey.sources);
    let mut missing = Missing {
        schema: SCHEMA.to_owned(),
        commit: Some(commit.id.to_string()),
        name: revision.to_owned(),
        now: figures(&survey.now),
        ..Missing::default()
    };
    survey.tell(&mut missing);
    Ok(missing)
}

fn figures(files: &[FileCoverage]) -> Figures {
    let functions = files.iter().flat_map(|f| &f.functions);
    Figures { functions: functions.clone().count(), whole: functions.filter(|f| f.is_whole()).count() }
}

/// Databases that lie about in the work tree; none where one is in force.
fn databases(repository: &Repository, options: &c::Options) -> Vec<(&'static str, compdb::Files)> {
    let read = |name: &'static str| Some((name, compdb::lying_about(name, repository)?));
    let found = DATABASES.into_iter().filter(|_| options.files.is_empty()).filter_map(read);
    found.filter(|(_, files)| !files.is_empty()).take(1).collect()
}

/// The words that directives of each C file ask of. Cost: reads all of them.
fn conditions(tree: &dyn SourceTree) -> BTreeMap<PathBuf, BTreeSet<String>> {
    let is_c = |p: &&PathBuf| p.extension().is_some_and(|e| e == "c" || e == "h");
    let words = |path: &PathBuf| {
        let bytes = tree.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let asked = text.lines().filter_map(|l| {
            let directive = l.trim_start().strip_prefix('#')?.trim_start();
            (directive.starts_with("if") || directive.starts_with("elif")).then_some(directive)
        });
        let words = asked.flat_map(|l| l.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
        words.filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    tree.paths().iter().filter(is_c).map(|path| (path.clone(), words(path))).collect()
}

impl Survey<'_> {
    fn covered(&self, options: &c::Options, files: &[PathBuf]) -> Vec<FileCoverage> {
        self.progress.more(files.len());
        let count = |path: &PathBuf| {
            let found = frontend::coverage(self.tree, path, options);
            self.progress.done();
            found
        };
        self.pool.install(|| files.par_iter().map(count).collect())
    }

    fn tell(&self, missing: &mut Missing) {
        let mut causes = self.causes();
        missing.left_out = causes.len().saturating_sub(SHOWN);
        causes.truncate(SHOWN);
        let mut tried: BTreeMap<Line, Option<Tried>> = BTreeMap::new();
        let mut chosen: BTreeSet<Line> = BTreeSet::new();
        for (mut cause, files) in causes {
            let key = (cause.kind == CauseKind::Name, cause.name.clone());
            // What helps, helps against this very cause, by more than a function here or there.
            let most = cause.functions - cause.functions.div_ceil(WORTH);
            let mut best: Option<(usize, Line, Advice)> = None;
            for line in self.candidates(&cause, &files) {
                let known = tried.entry(line.clone()).or_insert_with(|| self.tried(&[&line], missing.now));
                let Some(known) = known else { continue };
                let left = known.costs.get(&key).map_or(0, |(functions, _)| *functions);
                if left <= most && best.as_ref().is_none_or(|(least, ..)| left < *least) {
                    best = Some((left, line, known.advice.clone()));
                }
            }
            if let Some((_, line, advice)) = best {
                chosen.insert(line);
                cause.advice = Some(advice);
            }
            missing.causes.push(cause);
        }
        if chosen.len() > 1 {
            let all: Vec<&Line> = chosen.iter().collect();
            missing.together = self.tried(&all, missing.now).map(|tried| tried.advice);
        }
    }

    /// What is missing, with the sources that miss it, dearest first.
    fn causes(&self) -> Vec<(Cause, Vec<PathBuf>)> {
        let cause = |((is_name, name), (functions, files)): ((bool, String), (usize, Vec<PathBuf>))| {
            let kind = if is_name { CauseKind::Name } else { CauseKind::Header };
            let places = if is_name { Vec::new() } else { self.places(&name) };
            let places = places.iter().map(|p| p.display().to_string()).collect();
            (Cause { kind, name, functions, places, advice: None }, files)
        };
        let costs = self.costs(&self.now).into_iter();
        let mut causes: Vec<_> = costs.map(cause).filter(|(c, _)| c.functions > 0).collect();
        // Stable: headers before names, each by its name.
        causes.sort_by_key(|(cause, _)| std::cmp::Reverse(cause.functions));
        causes
    }

    /// By cause: functions that are not whole, and sources.
    fn costs(&self, covered: &[FileCoverage]) -> Costs {
        let mut found = Costs::new();
        for (path, file) in self.sources.iter().zip(covered) {
            let broken = file.functions.iter().filter(|f| !f.is_whole());
            let mut here: BTreeMap<(bool, String), usize> = BTreeMap::new();
            for name in &file.missing {
                here.insert((false, name.clone()), broken.clone().count());
            }
            for name in broken.flat_map(|f| &f.guesses) {
                *here.entry((true, name.to_string())).or_default() += 1;
            }
            for (cause, count) in here {
                let known = found.entry(cause).or_default();
                known.0 += count;
                known.1.push(path.clone());
            }
        }
        found
    }

    /// Files of the tree that an include of `name` may mean.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let wanted = Path::new(name);
        self.tree.paths().iter().filter(|p| p.ends_with(wanted)).cloned().collect()
    }

    /// Lines that may help with a cause, the likeliest first.
    fn candidates(&self, cause: &Cause, files: &[PathBuf]) -> Vec<Line> {
        let mut lines: Vec<Line> = self.databases.iter().map(|(name, _)| Line::Compdb(name)).collect();
        if cause.kind == CauseKind::Header {
            let depth = Path::new(&cause.name).components().count();
            let folders = cause.places.iter().filter_map(|p| Path::new(p).ancestors().nth(depth));
            let is_ours = |folder: &&Path| folder.to_string_lossy().to_lowercase().contains(PLATFORM);
            let has_ours = folders.clone().any(|f| is_ours(&f));
            let folders = folders.filter(|f| !has_ours || is_ours(f));
            let known = &self.options.include_dirs;
            lines.extend(
                folders.filter(|f| !known.iter().any(|k| k == f)).map(|f| Line::Folder(f.into())).take(TRIED),
            );
        }
        let host = ["/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu"];
        let is_on_host = host.iter().any(|folder| {
            let is_plain = !cause.name.contains("..") && !cause.name.starts_with('/');
            cause.kind == CauseKind::Header && is_plain && Path::new(folder).join(&cause.name).is_file()
        });
        if is_on_host && !self.options.host_headers {
            lines.push(Line::HostHeaders);
        }
        lines.extend(self.defines(cause, files));
        lines.truncate(2 * TRIED);
        lines
    }

    /// Macros of the build files: the missing one itself, then those that most of the sources ask of.
    fn defines(&self, cause: &Cause, files: &[PathBuf]) -> Vec<Line> {
        let line = |name: &String| Some(Line::Define(name.clone(), self.macros.get(name)?.clone()));
        let is_open = |name: &&String| {
            !self.options.defines.iter().any(|(n, _)| n == *name) && !self.options.undefines.contains(name)
        };
        let mut asked: BTreeMap<&String, usize> = BTreeMap::new();
        for path in files {
            let header = path.with_extension("h");
            let here = [path, &header].into_iter().filter_map(|p| self.conditions.get(p)).flatten();
            for word in here.filter(|w| self.macros.contains_key(*w)).filter(is_open).collect::<BTreeSet<_>>()
            {
                *asked.entry(word).or_default() += 1;
            }
        }
        let mut asked: Vec<(&String, usize)> = asked.into_iter().collect();
        let is_ours = |name: &str| name.to_lowercase().contains(PLATFORM);
        asked.sort_by_key(|(name, count)| std::cmp::Reverse((is_ours(name), *count)));
        let own = Some(&cause.name).filter(|n| cause.kind == CauseKind::Name && is_open(n));
        own.into_iter().chain(asked.into_iter().map(|(name, _)| name)).filter_map(line).take(TRIED).collect()
    }

    /// Returns what lines do, if they help.
    fn tried(&self, lines: &[&Line], before: Figures) -> Option<Tried> {
        let mut options = self.options.clone();
        for line in lines {
            match line {
                Line::Folder(folder) => options.include_dirs.push(folder.clone()),
                Line::Define(name, value) => options.defines.push((name.clone(), Some(value.clone()))),
                Line::HostHeaders => options.host_headers = true,
                Line::Compdb(name) => {
                    let (_, files) = self.databases.iter().find(|(known, _)| known == name)?;
                    options.files = Arc::new(files.clone());
                }
            }
        }
        let covered = self.covered(&options, &self.sources);
        let after = figures(&covered);
        let advice = Advice { line: text(lines), before, after };
        after.is_better_than(before).then(|| Tried { advice, costs: self.costs(&covered) })
    }
}

/// Lines as one of `.invdiff.yaml`, behind an option for what that file does not say.
fn text(lines: &[&Line]) -> String {
    let quoted = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
        let is_plain = is_plain && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_plain || text.parse::<u32>().is_ok() { text.to_owned() } else { format!("{text:?}") }
    };
    let (mut folders, mut defines, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        match line {
            Line::Folder(folder) if folder.as_os_str().is_empty() => folders.push(".".to_owned()),
            Line::Folder(folder) => folders.push(quoted(&folder.to_string_lossy())),
            Line::Define(name, value) => defines.push(format!("{name}: {}", quoted(value))),
            Line::HostHeaders => rest.push("host_headers: true".to_owned()),
            Line::Compdb(name) => rest.push(format!("compdb: {name}")),
        }
    }
    let mut parts = Vec::new();
    if !folders.is_empty() {
        parts.push(format!("include_dirs: [{}]", folders.join(", ")));
    }
    if !defines.is_empty() {
        parts.push(format!("defines: {{{}}}", defines.join(", ")));
    }
    parts.extend(rest);
    format!("c: {{{}}}", parts.join(", "))
}
