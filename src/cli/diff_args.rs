//! What `diff` can be asked: versions, filters on facts, effort and limits. Other commands analyse as `diff`
//! does and fill in what they need of it.

use super::CliError;
use super::range::RangeArgs;
use super::versions::VersionArgs;
use crate::analysis;
use crate::report::filter::{Filter, FunctionGlob, HeldIn, SourceLine};
use crate::report::{PointKind, RepoPath, Status};
use clap::{Args, ValueEnum};
use std::path::{Component, Path, PathBuf};

/// Version invariants and invariant churns of a range (the default command)
#[derive(Args, Clone, Debug, Default)]
pub struct DiffArgs {
    #[command(flatten)]
    pub range: RangeArgs,

    /// Only functions whose name matches; FILE:GLOB also names the file
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub function: Vec<String>,

    /// Only facts about this variable; \result and output are variables too
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub var: Vec<String>,

    /// Facts at this line of the newest version
    #[arg(long, value_name = "FILE:LINE", help_heading = "Filters")]
    pub at: Vec<String>,

    /// Facts that this source line affects
    #[arg(long, value_name = "FILE:LINE", help_heading = "Filters")]
    pub hunk: Vec<String>,

    /// Kinds of program points: exit, loop, entry, line, all
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub points: Vec<PointChoice>,

    /// Templates of invariants: constant, range, set, comparison, linear, congruence, non-null,
    /// functional, event, typestate
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub templates: Vec<String>,

    /// A fact in C that is tried wherever all of its names are: 'p->len <= p->cap'
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub template: Vec<String>,

    /// Facts established so well: proved, bounded, likely
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Filters")]
    pub status: Vec<StatusChoice>,

    /// Only churns, or only version invariants
    #[arg(long, value_name = "WHAT", help_heading = "Filters")]
    pub only: Option<Only>,

    #[command(flatten)]
    pub held: VersionArgs,

    /// Compare every pair of versions, not only neighbours
    #[arg(long)]
    pub all_pairs: bool,

    /// Also locals, implied facts and unchanged functions
    #[arg(long)]
    pub all: bool,

    /// Take nothing for granted of which pointers overlap
    #[arg(long)]
    pub aliases: bool,

    /// Exit 1 if there is a churn
    #[arg(long)]
    pub exit_code: bool,

    /// Exit 3 if something could not be decided or analysed
    #[arg(long)]
    pub strict: bool,

    /// How much is asked: what changes where the text does; at exits too; with higher limits
    #[arg(long, value_name = "HOW")]
    pub effort: Option<EffortChoice>,

    /// Limit of one solver query, in resource units (default 2000000, about a second; 500000 at normal effort)
    #[arg(long, value_name = "N")]
    pub rlimit: Option<u64>,

    /// Iterations up to which loops without a proved bound are unrolled
    #[arg(long, value_name = "K")]
    pub unroll: Option<u32>,

    /// The local view alone suffices, where the settings ask for no more.
    #[arg(skip)]
    pub may_be_quick: bool,

    /// For `assert`: functions that do not change, too.
    #[arg(skip)]
    pub whole: bool,

    /// For `check`: what becomes of properties, and no facts.
    #[arg(skip)]
    pub properties_only: bool,

    /// For the gate: time after which what is not begun stays open.
    #[arg(skip)]
    pub limit: Option<std::time::Duration>,

    /// For `check`: what checking all assertions would cost is counted, too.
    #[arg(skip)]
    pub compare_full: bool,

    /// For the gate: a change is judged by the policy of its base and its own, joined.
    #[arg(skip)]
    pub gate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EffortChoice {
    Quick,
    Normal,
    Deep,
}

impl EffortChoice {
    pub fn name(self) -> &'static str {
        match self {
            EffortChoice::Quick => "quick",
            EffortChoice::Normal => "normal",
            EffortChoice::Deep => "deep",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PointChoice {
    Exit,
    Loop,
    Entry,
    Line,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatusChoice {
    Proved,
    Bounded,
    Likely,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    Churns,
    Invariants,
}

impl DiffArgs {
    /// The filters on facts. Paths in them are relative to the current directory, which is `prefix`
    /// below the top of the tree.
    pub fn filter(&self, prefix: &Path) -> Result<Filter, CliError> {
        let lines = |option: &str, texts: &[String]| -> Result<Vec<SourceLine>, CliError> {
            texts.iter().map(|text| source_line(option, text, prefix)).collect()
        };
        let all_points = self.points.contains(&PointChoice::All);
        let points = self.points.iter().filter(|_| !all_points).filter_map(|p| p.kind());
        Ok(Filter {
            functions: self.function.iter().map(|glob| FunctionGlob::parse(glob)).collect(),
            variables: self.var.clone(),
            at: lines("--at", &self.at)?,
            affected_by: lines("--hunk", &self.hunk)?,
            points: points.collect(),
            templates: self.templates.clone(),
            statuses: self.status.iter().map(|s| s.status()).collect(),
            held: HeldIn::default(),
            without_churns: self.only == Some(Only::Invariants),
            without_invariants: self.only == Some(Only::Churns),
        })
    }

    /// Whether facts at exits are asked for in so many words.
    pub fn asks_of_exits(&self) -> bool {
        let is_filtered = self.filter(Path::new("")).is_ok_and(|f| !f.is_empty());
        let is_named = !self.template.is_empty() || self.held.is_any();
        let is_limited = self.rlimit.is_some() || self.unroll.is_some() || self.aliases;
        is_filtered || is_named || is_limited || self.all || self.all_pairs || self.exit_code
    }

    /// The points at which facts are asked for by name.
    pub fn points_wanted(&self, prefix: &Path) -> Result<analysis::PointChoice, CliError> {
        let at = self.at.iter().map(|text| source_line("--at", text, prefix));
        let lines: Vec<SourceLine> = at.collect::<Result<_, _>>()?;
        let all = self.points.contains(&PointChoice::All);
        let each = [PointKind::Exit, PointKind::Loop, PointKind::Entry];
        let kinds = match all {
            true => each.to_vec(),
            false => self.points.iter().filter_map(|p| p.kind()).collect(),
        };
        Ok(analysis::PointChoice {
            kinds: (!kinds.is_empty()).then_some(kinds),
            lines: lines.into_iter().map(|l| (l.file.to_utf8_path(), l.line)).collect(),
        })
    }
}

impl PointChoice {
    fn kind(self) -> Option<PointKind> {
        match self {
            PointChoice::Exit => Some(PointKind::Exit),
            PointChoice::Loop => Some(PointKind::Loop),
            PointChoice::Entry => Some(PointKind::Entry),
            PointChoice::Line => Some(PointKind::Line),
            PointChoice::All => None,
        }
    }
}

impl StatusChoice {
    pub fn status(self) -> Status {
        match self {
            StatusChoice::Proved => Status::Proved,
            StatusChoice::Bounded => Status::Bounded,
            StatusChoice::Likely => Status::Likely,
        }
    }
}

fn source_line(option: &str, text: &str, prefix: &Path) -> Result<SourceLine, CliError> {
    let mut line = SourceLine::parse(text)
        .ok_or_else(|| CliError::usage(format!("{option} takes FILE:LINE, not '{text}'")))?;
    line.file = RepoPath::from(&below_top(prefix, &line.file.to_path()));
    Ok(line)
}

/// Joins a path to the prefix, resolving `.` and `..` by their names.
pub fn below_top(prefix: &Path, path: &Path) -> PathBuf {
    let mut joined = PathBuf::new();
    for part in prefix.join(path).components() {
        match part {
            Component::ParentDir => {
                joined.pop();
            }
            Component::Normal(name) => joined.push(name),
            _ => {}
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn args(words: &str) -> DiffArgs {
        #[derive(Parser)]
        struct Alone {
            #[command(flatten)]
            args: DiffArgs,
        }
        Alone::parse_from(std::iter::once("diff").chain(words.split_whitespace())).args
    }

    #[test]
    fn filters_are_read() {
        let filter = args("--points exit,loop --status proved --only churns --var x --function a.c:f*")
            .filter(Path::new(""));
        let filter = filter.unwrap();
        assert_eq!(filter.points, [PointKind::Exit, PointKind::Loop]);
        assert_eq!(filter.statuses, [Status::Proved]);
        assert!(filter.without_invariants && !filter.without_churns);
        assert!(args("--points exit,all").filter(Path::new("")).unwrap().is_empty());
    }

    #[test]
    fn paths_are_relative_to_the_current_directory() {
        for (text, expected) in [("a.c:3", "src/a.c"), ("../a.c:3", "a.c"), ("./x/../a.c:3", "src/a.c")] {
            let line = source_line("--at", text, Path::new("src")).unwrap();
            assert_eq!(line.file.to_text(), expected);
        }
        assert!(source_line("--at", "a.c", Path::new("")).is_err());
    }
}
