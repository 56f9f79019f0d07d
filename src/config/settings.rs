//! Every setting with its value, from four layers: command line over environment over `git config`
//! over `.invdiff.yaml` over the defaults.

use super::error::ConfigError;
use super::file::{ConfigFile, GateRule, GateSection, PinnedSection, RequiresSection, Suppression};
use super::git::GitConfig;
use super::quantify::{Distribution, QuantifySection};
use crate::gate::policy::{Block, Gate, Known, Layer, Policy, Rule, Warn};
use crate::history::{ChangeOptions, Pathspec, Renames};
use crate::invariant::{MOST_TEMPLATES, Protocol, WrittenTemplate};
use crate::ir::DataModel;
use invdiff_remote::Secret;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Names of the templates of invariants.
pub const TEMPLATES: [&str; 10] = [
    "constant",
    "range",
    "set",
    "comparison",
    "linear",
    "congruence",
    "non-null",
    "functional",
    "event",
    "typestate",
];

/// Names of the kinds of program points.
pub const POINTS: [&str; 4] = ["entry", "exit", "loop", "line"];

/// What the gate can stop a commit for.
const BLOCKS: [&str; 4] = ["assertion", "pinned", "safety", "weakened"];

/// What the gate can warn about.
const WARNINGS: [&str; 2] = ["version-invariant", "churn"];

/// Variables of the environment that are settings. `INVDIFF_SKIP` belongs to the hooks.
pub mod variables {
    pub const CONFIG: &str = "INVDIFF_CONFIG";
    pub const JOBS: &str = "INVDIFF_JOBS";
    pub const RLIMIT: &str = "INVDIFF_RLIMIT";
    pub const CACHE_DIR: &str = "INVDIFF_CACHE_DIR";
    pub const NO_CACHE: &str = "INVDIFF_NO_CACHE";
    pub const CACHE_USER: &str = "INVDIFF_CACHE_USER";
    pub const CACHE_PASSWORD: &str = "INVDIFF_CACHE_PASSWORD";
    pub const CACHE_TOKEN: &str = "INVDIFF_CACHE_TOKEN";
    pub const SKIP: &str = "INVDIFF_SKIP";
}

/// What the gate does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSettings {
    /// Sorted, of `assertion`, `pinned`, `safety`.
    pub block: Vec<String>,
    pub warn: Vec<String>,
    /// Versions that a fact must have held before breaking it is worth a warning.
    pub age: u32,
    /// What is not decided by then only warns.
    pub timeout_seconds: u64,
    /// What is different for some paths.
    pub rules: Vec<GateRule>,
    /// The gate of a change's base; of both the stricter counts.
    pub base: Option<Box<GateSettings>>,
}

/// A compilation database that is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompdbChoice {
    pub path: PathBuf,
    /// Relative paths start at the top of the work tree, not at the current directory.
    pub in_tree: bool,
    /// The project names it, not the user.
    pub is_projects: bool,
    /// Who names it, for messages.
    pub origin: String,
}

/// What is asked of the versions, and at what cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisSettings {
    /// In the order of [`TEMPLATES`].
    pub templates: Vec<String>,
    /// In the order of [`POINTS`].
    pub points: Vec<String>,
    /// One of [`EFFORTS`].
    pub effort: String,
    /// Limit of one solver query, in Z3's resource units.
    pub rlimit: u64,
    /// Iterations to which loops without a proved bound are unrolled.
    pub unroll: u32,
    /// Depth of calls up to which small callees are inlined.
    pub inline_depth: u32,
}

/// How C is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CSettings {
    pub data_model: DataModel,
    /// Macros of every configuration, with their replacement text.
    pub defines: BTreeMap<String, String>,
    /// Macros that are not defined, whatever else says so.
    pub undefines: Vec<String>,
    /// Folders for headers, relative to the top of the tree.
    pub include_dirs: Vec<PathBuf>,
    /// The host's headers may be read (`c.host_headers`).
    pub host_headers: bool,
    pub compdb: Option<CompdbChoice>,
    /// Named sets of further macros; `default` is always there.
    pub configurations: BTreeMap<String, BTreeMap<String, String>>,
    /// Names of the configurations that are analysed, at least one.
    pub configuration: Vec<String>,
}

/// Which files are looked at, and how they are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// Pathspecs of what is analysed; none: everything.
    pub include: Vec<String>,
    /// Pathspecs of what is not analysed.
    pub exclude: Vec<String>,
    /// `diff.renames`.
    pub renames: Renames,
    /// `diff.renameLimit`: files on either side up to which inexact renames are looked for.
    pub rename_limit: usize,
}

/// What people write of the program's functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specification {
    pub pinned: Vec<PinnedSection>,
    pub requires: Vec<RequiresSection>,
    /// The project's own protocols.
    pub protocols: Vec<Protocol>,
    /// Facts that are tried wherever all of their names are, the user's and the project's.
    pub templates: Vec<WrittenTemplate>,
}

/// What is kept with commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSettings {
    /// The `commit-msg` hook appends trailers.
    pub trailers: bool,
    pub max_trailers: usize,
    /// Bytes of the largest note.
    pub limit: Option<u64>,
    /// The ref of the notes.
    pub notes_ref: String,
}

/// What is kept from run to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    pub is_used: bool,
    /// Folder of the cache instead of the one under the git directory.
    pub dir: Option<PathBuf>,
    /// Bytes that the cache may hold.
    pub limit: u64,
    pub remote: RemoteSettings,
}

/// The cache that machines share, and what is done with it. No layer has it but git's configuration, which is the
/// user's own: who writes the code that is looked at must not say what is believed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Where it is; there may be a password in it.
    pub address: Option<Secret>,
    /// What values are proved with.
    pub key: Option<Secret>,
    /// Values are believed without a key.
    pub trust: bool,
    pub write: bool,
    pub hooks_write: bool,
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub analysis: AnalysisSettings,
    pub c: CSettings,
    pub files: FileSettings,
    pub gate: GateSettings,
    pub specification: Specification,
    pub suppress: Vec<Suppression>,
    /// What `quantify` counts where no option says otherwise.
    pub quantify: QuantifySection,
    pub profiles: BTreeMap<String, BTreeMap<String, Distribution>>,
    pub notes: NoteSettings,
    pub cache: CacheSettings,
    /// Hooks do something when they run.
    pub hooks: bool,
    /// Worker threads; `None`: one a core.
    pub jobs: Option<usize>,
    /// Objects that a partial clone lacks may be fetched.
    pub lazy_fetch: bool,
    /// Could-not-decide is an exit code of its own.
    pub strict: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Settings {
            analysis: AnalysisSettings {
                templates: owned(&TEMPLATES),
                points: owned(&["exit", "loop"]),
                effort: "normal".to_owned(),
                rlimit: 2_000_000,
                unroll: 8,
                inline_depth: 2,
            },
            c: CSettings::default(),
            files: FileSettings {
                rename_limit: ChangeOptions::default().rename_limit,
                ..FileSettings::default()
            },
            gate: GateSettings {
                block: owned(&["assertion", "pinned", "safety"]),
                warn: owned(&["version-invariant"]),
                age: 10,
                timeout_seconds: 20,
                rules: Vec::new(),
                base: None,
            },
            specification: Specification::default(),
            suppress: Vec::new(),
            quantify: QuantifySection::default(),
            profiles: BTreeMap::new(),
            notes: NoteSettings {
                trailers: true,
                max_trailers: 5,
                limit: None,
                notes_ref: "refs/notes/invdiff".to_owned(),
            },
            cache: CacheSettings {
                is_used: true,
                dir: None,
                limit: 256 << 20,
                remote: RemoteSettings {
                    address: None,
                    key: None,
                    trust: false,
                    write: true,
                    hooks_write: false,
                },
            },
            hooks: true,
            jobs: None,
            lazy_fetch: false,
            strict: false,
        }
    }
}

impl Default for CSettings {
    fn default() -> CSettings {
        CSettings {
            data_model: DataModel::Lp64,
            defines: BTreeMap::new(),
            undefines: Vec::new(),
            include_dirs: Vec::new(),
            host_headers: false,
            compdb: None,
            configurations: [("default".to_owned(), BTreeMap::new())].into(),
            configuration: vec!["default".to_owned()],
        }
    }
}

/// What the command line sets; `None` and empty lists leave the other layers' values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub templates: Vec<String>,
    /// Templates as they are written, beside the project's.
    pub written_templates: Vec<String>,
    pub points: Vec<String>,
    pub effort: Option<String>,
    pub rlimit: Option<u64>,
    pub unroll: Option<u32>,
    pub inline_depth: Option<u32>,
    pub data_model: Option<DataModel>,
    /// `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    pub undefines: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    pub compdb: Option<PathBuf>,
    pub configuration: Vec<String>,
    pub jobs: Option<usize>,
    pub no_cache: bool,
    pub strict: Option<bool>,
}

impl GateSettings {
    fn apply_file(&mut self, file: &GateSection) -> Result<(), ConfigError> {
        let origin = super::file::FILE_NAME;
        set_names(&mut self.block, file.block.as_deref(), &BLOCKS, &at(origin, "gate.block"))?;
        set_names(&mut self.warn, file.warn.as_deref(), &WARNINGS, &at(origin, "gate.warn"))?;
        set(&mut self.age, file.age);
        set(&mut self.timeout_seconds, file.timeout_seconds);
        self.rules.clone_from(&file.rules);
        for (i, rule) in self.rules.iter_mut().enumerate() {
            let origin = at(origin, &format!("gate.rules[{i}]"));
            for (list, known, name) in
                [(&mut rule.block, &BLOCKS[..], "block"), (&mut rule.warn, &WARNINGS[..], "warn")]
            {
                let Some(list) = list else { continue };
                let names = list.clone();
                set_names(list, Some(&names), known, &format!("{origin}.{name}"))?;
            }
            Pathspec::new(&rule.paths, Path::new(""))
                .map_err(|e| ConfigError::new(format!("{origin}.paths"), e.to_string()))?;
        }
        if let Some(base) = &file.base {
            let mut settings = Settings::default().gate;
            // What is wrong with the base's file is not this change's matter.
            let _ = settings.apply_file(base);
            self.base = Some(Box::new(settings));
        }
        Ok(())
    }

    /// The user's own word wins over all rules of the project, for what it is about.
    fn apply_git(&mut self, git: &GitConfig) -> Result<(), ConfigError> {
        set_names(&mut self.block, git.list("block").as_deref(), &BLOCKS, &git.origin("block"))?;
        set_names(&mut self.warn, git.list("warn").as_deref(), &WARNINGS, &git.origin("warn"))?;
        set(&mut self.age, git.small("age")?);
        for rule in &mut self.rules {
            rule.block = rule.block.take().filter(|_| git.list("block").is_none());
            rule.warn = rule.warn.take().filter(|_| git.list("warn").is_none());
            rule.age = rule.age.filter(|_| !matches!(git.small("age"), Ok(Some(_))));
        }
        match &mut self.base {
            Some(base) => base.apply_git(git),
            None => Ok(()),
        }
    }

    fn layer(&self) -> Layer {
        let blocks = |names: &[String]| names.iter().filter_map(|name| Block::parse(name)).collect();
        let warns = |names: &[String]| names.iter().filter_map(|name| Warn::parse(name)).collect();
        let rule = |r: &GateRule| Rule {
            // Checked when the settings were joined.
            paths: Pathspec::new(&r.paths, Path::new("")).unwrap_or_default(),
            block: r.block.as_deref().map(blocks),
            warn: r.warn.as_deref().map(warns),
            age: r.age,
        };
        Layer {
            gate: Gate { block: blocks(&self.block), warn: warns(&self.warn), age: self.age },
            rules: self.rules.iter().map(rule).collect(),
        }
    }
}

impl RemoteSettings {
    fn apply_git(&mut self, git: &GitConfig) -> Result<(), ConfigError> {
        // An empty value takes back what another file says.
        let secret = |key: &str| {
            Ok::<_, ConfigError>(git.text(key)?.map(|(_, t)| t).filter(|t| !t.is_empty()).map(Secret::new))
        };
        (self.address, self.key) = (secret("cache.remote")?, secret("cache.key")?);
        set(&mut self.trust, git.bool("cache.trust")?);
        set(&mut self.write, git.bool("cache.write")?);
        set(&mut self.hooks_write, git.bool("cache.hooksWrite")?);
        Ok(())
    }
}

impl Settings {
    /// Joins all layers. `variable` looks up the environment.
    pub fn join(
        file: &ConfigFile,
        git: &GitConfig,
        variable: impl Fn(&str) -> Option<String>,
        command_line: &Overrides,
    ) -> Result<Settings, ConfigError> {
        let mut settings = Settings::default();
        settings.apply_file(file)?;
        settings.apply_git(git)?;
        settings.apply_environment(&variable)?;
        settings.apply_command_line(command_line)?;
        for name in &settings.c.configuration {
            if !settings.c.configurations.contains_key(name) {
                let error = ConfigError::new("configuration", format!("unknown configuration '{name}'"));
                return Err(error.or_known(name, settings.c.configurations.keys().map(String::as_str)));
            }
        }
        Ok(settings)
    }

    /// Returns the macros of one configuration, the undefined ones left out.
    pub fn defines_of(&self, configuration: &str) -> BTreeMap<String, String> {
        let mut defines = self.c.defines.clone();
        defines.extend(self.c.configurations.get(configuration).into_iter().flatten().map(own));
        defines.retain(|name, _| !self.c.undefines.contains(name));
        defines
    }

    /// Returns the pathspecs of what is analysed, as [`crate::history::Pathspec::new`] takes them.
    pub fn pathspecs(&self) -> Vec<String> {
        let included = self.files.include.iter().cloned();
        included.chain(self.files.exclude.iter().map(|p| format!(":(exclude){p}"))).collect()
    }

    /// Returns what stops a commit on a day (`2027-01-31`), as the gate takes it.
    pub fn policy(&self, today: &str) -> Policy {
        let (expired, counting) = self.suppress.iter().cloned().partition(|s| s.is_over(today));
        let known = |list: Vec<Suppression>| {
            let one = |s: Suppression| Known { id: s.id, reason: s.reason, until: s.until };
            list.into_iter().map(one).collect()
        };
        let layers = std::iter::once(&self.gate).chain(self.gate.base.as_deref()).map(GateSettings::layer);
        Policy { layers: layers.collect(), suppressed: known(counting), expired: known(expired) }
    }

    fn apply_file(&mut self, file: &ConfigFile) -> Result<(), ConfigError> {
        let origin = super::file::FILE_NAME;
        let analysis = &file.analysis;
        set_names(
            &mut self.analysis.templates,
            analysis.templates.as_deref(),
            &TEMPLATES,
            &at(origin, "analysis.templates"),
        )?;
        set_names(
            &mut self.analysis.points,
            analysis.points.as_deref(),
            &POINTS,
            &at(origin, "analysis.points"),
        )?;
        set_effort(&mut self.analysis.effort, analysis.effort.as_deref(), &at(origin, "analysis.effort"))?;
        set(&mut self.analysis.rlimit, analysis.rlimit);
        set(&mut self.analysis.unroll, analysis.unroll);
        set(&mut self.analysis.inline_depth, analysis.inline_depth);
        if let Some(name) = &file.c.data_model {
            self.c.data_model = data_model(name, &at(origin, "c.data_model"))?;
        }
        for (name, value) in &file.c.defines {
            self.c.defines.insert(macro_name(name, &at(origin, "c.defines"))?, value.0.clone());
        }
        self.c.include_dirs.extend(file.c.include_dirs.iter().map(PathBuf::from));
        set(&mut self.c.host_headers, file.c.host_headers);
        self.c.compdb = file.c.compdb.as_deref().map(|name| projects_compdb(name, origin)).transpose()?;
        self.files.include.extend(file.paths.include.iter().cloned());
        self.files.exclude.extend(file.paths.exclude.iter().cloned());
        self.gate.apply_file(&file.gate)?;
        self.specification.pinned = file.pinned.clone();
        self.specification.requires = file.requires.clone();
        self.suppress = file.suppress.clone();
        self.specification.protocols.clone_from(&file.protocols);
        self.specification.templates.clone_from(&file.templates);
        self.quantify = file.quantify.clone();
        self.profiles = file.profiles.clone();
        for (name, section) in &file.configurations {
            let place = at(origin, &format!("configurations.{name}"));
            let mut defines = BTreeMap::new();
            for (name, value) in &section.defines {
                defines.insert(macro_name(name, &place)?, value.0.clone());
            }
            self.c.configurations.insert(name.clone(), defines);
        }
        Ok(())
    }

    fn apply_git(&mut self, git: &GitConfig) -> Result<(), ConfigError> {
        let names = |key: &str| git.list(key).filter(|list| !list.is_empty());
        set_names(
            &mut self.analysis.templates,
            names("templates").as_deref(),
            &TEMPLATES,
            &git.origin("templates"),
        )?;
        set_names(&mut self.analysis.points, names("points").as_deref(), &POINTS, &git.origin("points"))?;
        // Said explicitly, nothing at all is blocked: it is the user's own gate.
        self.gate.apply_git(git)?;
        set(&mut self.gate.timeout_seconds, git.number("timeoutSeconds")?);
        let effort = git.text("effort")?.map(|(_, name)| name);
        set_effort(&mut self.analysis.effort, effort.as_deref(), &git.origin("effort"))?;
        set(&mut self.analysis.rlimit, git.number("rlimit")?);
        set(&mut self.analysis.unroll, git.small("unroll")?);
        set(&mut self.analysis.inline_depth, git.small("inlineDepth")?);
        if let Some((_, name)) = git.text("dataModel")? {
            self.c.data_model = data_model(&name, &git.origin("dataModel"))?;
        }
        for define in git.lines("define").unwrap_or_default() {
            self.define(&define, &git.origin("define"))?;
        }
        self.c
            .include_dirs
            .extend(git.lines("includeDir").unwrap_or_default().into_iter().map(PathBuf::from));
        set(&mut self.c.host_headers, git.bool("hostHeaders")?);
        if let Some(path) = git.path("compdb")? {
            let origin = git.origin("compdb");
            // An empty value takes back what the project says.
            let choice = CompdbChoice { path, in_tree: true, is_projects: false, origin };
            self.c.compdb = Some(choice).filter(|c| !c.path.as_os_str().is_empty());
        }
        self.files.include.extend(git.lines("include").unwrap_or_default());
        self.files.exclude.extend(git.lines("exclude").unwrap_or_default());
        set(&mut self.c.configuration, names("configuration"));
        if let Some(n) = git.small("maxTrailers")? {
            self.notes.max_trailers = n as usize;
        }
        self.notes.limit = git.number("noteLimit")?.or(self.notes.limit);
        set(&mut self.notes.notes_ref, git.text("notesRef")?.map(|(_, name)| name));
        set(&mut self.hooks, git.bool("hooks")?);
        set(&mut self.notes.trailers, git.bool("trailers")?);
        if let Some(n) = git.small("jobs")? {
            // As elsewhere in git, 0 means one a core.
            self.jobs = Some(n as usize).filter(|&n| n > 0);
        }
        self.cache.dir = git.path("cacheDir")?.or(self.cache.dir.take());
        set(&mut self.cache.limit, git.number("cacheLimit")?);
        self.cache.remote.apply_git(git)?;
        set(&mut self.lazy_fetch, git.bool("lazyFetch")?);
        set(&mut self.strict, git.bool("strict")?);
        set(&mut self.files.renames, git.renames()?);
        if let Some(n) = git.small("diff.renameLimit")? {
            // As in git, 0 means the default.
            self.files.rename_limit = if n == 0 { self.files.rename_limit } else { n as usize };
        }
        Ok(())
    }

    fn apply_environment(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        let value = |name: &str| variable(name).filter(|v| !v.is_empty());
        let number = |name: &str| match value(name).map(|v| (v.parse::<u64>(), v)) {
            None => Ok(None),
            Some((Ok(n), _)) => Ok(Some(n)),
            Some((Err(_), text)) => Err(ConfigError::new(name, format!("'{text}' is not a number"))),
        };
        if let Some(n) = number(variables::JOBS)? {
            self.jobs = usize::try_from(n).ok().filter(|&n| n > 0);
        }
        set(&mut self.analysis.rlimit, number(variables::RLIMIT)?);
        if let Some(folder) = value(variables::CACHE_DIR) {
            self.cache.dir = Some(PathBuf::from(folder));
        }
        self.cache.is_used &= value(variables::NO_CACHE).is_none_or(|v| v == "0");
        self.hooks &= value(variables::SKIP).is_none_or(|v| v == "0");
        Ok(())
    }

    fn apply_command_line(&mut self, options: &Overrides) -> Result<(), ConfigError> {
        let names = |list: &'_ [String]| (!list.is_empty()).then(|| list.to_vec());
        set_names(
            &mut self.analysis.templates,
            names(&options.templates).as_deref(),
            &TEMPLATES,
            "--templates",
        )?;
        set_names(&mut self.analysis.points, names(&options.points).as_deref(), &POINTS, "--points")?;
        for text in &options.written_templates {
            let template = WrittenTemplate::parse(text)
                .map_err(|error| ConfigError::new("--template", format!("'{text}': {error}")))?;
            self.specification.templates.push(template);
        }
        if options.written_templates.len() > MOST_TEMPLATES {
            return Err(ConfigError::new("--template", format!("more than {MOST_TEMPLATES} templates")));
        }
        set_effort(&mut self.analysis.effort, options.effort.as_deref(), "--effort")?;
        set(&mut self.analysis.rlimit, options.rlimit);
        set(&mut self.analysis.unroll, options.unroll);
        set(&mut self.analysis.inline_depth, options.inline_depth);
        set(&mut self.c.data_model, options.data_model);
        for define in &options.defines {
            self.define(define, "-D")?;
        }
        for name in &options.undefines {
            let name = macro_name(name, "-U")?;
            self.c.defines.remove(&name);
            self.c.undefines.push(name);
        }
        // Named last, searched first, as with a compiler's own -I before the environment's folders.
        self.c.include_dirs.splice(0..0, options.include_dirs.iter().cloned());
        if let Some(path) = options.compdb.clone() {
            let origin = "--compdb".to_owned();
            self.c.compdb = Some(CompdbChoice { path, in_tree: false, is_projects: false, origin });
        }
        set(&mut self.c.configuration, names(&options.configuration));
        self.jobs = options.jobs.or(self.jobs);
        self.cache.is_used &= !options.no_cache;
        set(&mut self.strict, options.strict);
        Ok(())
    }

    /// Defines `NAME` (as 1, like a compiler) or `NAME=VALUE`.
    fn define(&mut self, text: &str, origin: &str) -> Result<(), ConfigError> {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        self.c.defines.insert(macro_name(name, origin)?, value.to_owned());
        Ok(())
    }
}

/// A database of the project's: it stays in the tree.
fn projects_compdb(name: &str, origin: &str) -> Result<CompdbChoice, ConfigError> {
    let (path, origin) = (PathBuf::from(name), at(origin, "c.compdb"));
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.is_empty() || !stays {
        return Err(ConfigError::new(origin, format!("'{name}' is no path below the top of the tree")));
    }
    Ok(CompdbChoice { path, in_tree: true, is_projects: true, origin })
}

fn own((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}

fn at(origin: &str, key: &str) -> String {
    format!("{origin}: {key}")
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// How much may be asked of a range.
pub const EFFORTS: [&str; 3] = ["quick", "normal", "deep"];

fn set_effort(slot: &mut String, name: Option<&str>, origin: &str) -> Result<(), ConfigError> {
    let Some(name) = name else { return Ok(()) };
    if !EFFORTS.contains(&name) {
        return Err(ConfigError::new(origin, format!("unknown name '{name}'")).or_known(name, EFFORTS));
    }
    name.clone_into(slot);
    Ok(())
}

/// Replaces a list of names, which must be known; brings them into the known order. `all` stands for
/// every name, and `relation` for the two templates that relate variables.
fn set_names(
    slot: &mut Vec<String>,
    names: Option<&[String]>,
    known: &[&str],
    origin: &str,
) -> Result<(), ConfigError> {
    let Some(names) = names else { return Ok(()) };
    let mut chosen: Vec<&str> = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => chosen.extend(known),
            "relation" if known.contains(&"linear") => chosen.extend(["comparison", "linear"]),
            other if known.contains(&other) => chosen.push(other),
            other => {
                let error = ConfigError::new(origin, format!("unknown name '{other}'"));
                return Err(error.or_known(other, known.iter().copied().chain(["all"])));
            }
        }
    }
    *slot = known.iter().filter(|k| chosen.contains(k)).map(|k| (*k).to_owned()).collect();
    Ok(())
}

fn data_model(name: &str, origin: &str) -> Result<DataModel, ConfigError> {
    match name.to_ascii_uppercase().as_str() {
        "LP64" => Ok(DataModel::Lp64),
        "ILP32" => Ok(DataModel::Ilp32),
        _ => Err(ConfigError::new(origin, format!("unknown data model '{name}'"))
            .or_known(name, ["LP64", "ILP32"])),
    }
}

/// Checks that a macro's name is one, with a parameter list where it has one.
fn macro_name(name: &str, origin: &str) -> Result<String, ConfigError> {
    let word = name.split_once('(').filter(|(_, rest)| rest.ends_with(')')).map_or(name, |(word, _)| word);
    let first = word.chars().next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    if first && word.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
        return Ok(name.to_owned());
    }
    Err(ConfigError::new(origin, format!("'{name}' is not the name of a macro")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ConfigFile {
        ConfigFile::parse("f", text.as_bytes()).expect("a file")
    }

    fn git(entries: &[&str]) -> GitConfig {
        let list: String = entries.iter().map(|e| format!("file:x\0invdiff.{e}\0")).collect();
        GitConfig::of(&crate::config::Listing::new(list.into_bytes())).expect("keys")
    }

    #[test]
    fn nearer_layers_win() {
        let yaml = file("analysis: {rlimit: 1, unroll: 1, inline_depth: 1, points: [entry]}");
        let keys = git(&["rlimit\n2", "unroll\n2", "jobs\n2"]);
        let environment = |name: &str| match name {
            variables::RLIMIT => Some("3".to_owned()),
            variables::JOBS => Some("3".to_owned()),
            _ => None,
        };
        let options = Overrides { rlimit: Some(4), ..Overrides::default() };
        let joined = Settings::join(&yaml, &keys, environment, &options).expect("settings");
        let numbers =
            (joined.analysis.rlimit, joined.analysis.unroll, joined.analysis.inline_depth, joined.jobs);
        assert_eq!(numbers, (4, 2, 1, Some(3)));
        assert_eq!(joined.analysis.points, ["entry"]);
        let plain = Settings::join(&file(""), &git(&[]), |_| None, &Overrides::default());
        assert_eq!(plain, Ok(Settings::default()));
    }

    #[test]
    fn macros_join_and_can_be_taken_away() {
        let yaml = file("{c: {defines: {A: 1, B: 2}}, configurations: {win: {defines: {_WIN32: 1, B: 3}}}}");
        let options = Overrides {
            defines: vec!["C".into(), "D=x y".into(), "F(a)=a".into()],
            undefines: vec!["A".into()],
            configuration: vec!["win".into()],
            ..Overrides::default()
        };
        let joined = Settings::join(&yaml, &git(&[]), |_| None, &options).expect("settings");
        let text = |c: &str| format!("{:?}", joined.defines_of(c));
        assert_eq!(text("default"), r#"{"B": "2", "C": "1", "D": "x y", "F(a)": "a"}"#);
        assert_eq!(text("win"), r#"{"B": "3", "C": "1", "D": "x y", "F(a)": "a", "_WIN32": "1"}"#);
        let bad = Overrides { defines: vec!["1x".into()], ..Overrides::default() };
        assert!(Settings::join(&yaml, &git(&[]), |_| None, &bad).is_err());
    }

    #[test]
    fn the_users_compdb_wins_over_the_projects() {
        let yaml = file("c: {compdb: build/a.json}");
        let joined = |keys: &[&str], name: Option<&str>| {
            let options = Overrides { compdb: name.map(PathBuf::from), ..Overrides::default() };
            let choice = Settings::join(&yaml, &git(keys), |_| None, &options).expect("settings").c.compdb;
            choice.map(|c| (c.path.display().to_string(), c.in_tree, c.is_projects))
        };
        assert_eq!(joined(&[], None), Some(("build/a.json".to_owned(), true, true)));
        assert_eq!(joined(&["compdb\nb"], None), Some(("b".to_owned(), true, false)));
        assert_eq!(joined(&["compdb\n"], None), None);
        assert_eq!(joined(&["compdb\nb"], Some("c")), Some(("c".to_owned(), false, false)));
        for bad in ["/a", "../a", "a/../../b"] {
            let yaml = file(&format!("c: {{compdb: {bad}}}"));
            assert!(Settings::join(&yaml, &git(&[]), |_| None, &Overrides::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_checked_and_ordered() {
        let joined = |templates: &str| {
            let options =
                Overrides { templates: vec![templates.into(), "constant".into()], ..Overrides::default() };
            Settings::join(&file(""), &git(&[]), |_| None, &options)
        };
        assert_eq!(
            joined("relation").expect("settings").analysis.templates,
            ["constant", "comparison", "linear"]
        );
        assert_eq!(joined("all").expect("settings").analysis.templates.len(), 10);
        let error = joined("functionl").expect_err("an error");
        assert_eq!(error.to_string(), "--templates: unknown name 'functionl'");
        assert_eq!(error.hint.as_deref(), Some("did you mean 'functional'?"));
        let error =
            Settings::join(&file("gate: {block: [asertion]}"), &git(&[]), |_| None, &Overrides::default());
        assert_eq!(
            error.expect_err("an error").to_string(),
            ".invdiff.yaml: gate.block: unknown name 'asertion'"
        );
        let error = Settings::join(&file(""), &git(&["configuration\nwin"]), |_| None, &Overrides::default());
        assert!(error.is_err());
    }
}
