//! What is asked of a range: its versions, what changed between them, and how to analyse it.

use crate::fact::{Expression, Postcondition};
use crate::frontend::c;
use crate::history::SourceTree;
use crate::invariant;
use crate::report::{PointKind, VersionInfo};
use std::path::PathBuf;
use std::sync::Arc;

/// One version, ready to be read.
#[derive(Clone)]
pub struct VersionInput {
    pub info: VersionInfo,
    pub tree: Arc<dyn SourceTree>,
}

/// Lines that changed, in the numbers of `git diff -U0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
}

/// One file that differs between two consecutive versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// `None`: added.
    pub old_path: Option<PathBuf>,
    /// `None`: removed.
    pub new_path: Option<PathBuf>,
    pub hunks: Vec<Hunk>,
    /// Why the content has no lines to compare, if it has none: `binary`, `link`, `submodule`,
    /// `unreadable`.
    pub opaque: Option<&'static str>,
}

impl FileChange {
    /// The file in the older version (0) or in the newer one (1).
    pub(super) fn path(&self, side: usize) -> Option<&PathBuf> {
        if side == 0 { self.old_path.as_ref() } else { self.new_path.as_ref() }
    }
}

/// What to analyse.
pub struct Request {
    /// Oldest first.
    pub versions: Vec<VersionInput>,
    /// Changed files between versions `i` and `i + 1`.
    pub changes: Vec<Vec<FileChange>>,
    pub options: c::Options,
    pub analysis: Options,
}

/// How much is asked of a range. Units of work are counted, never time: the same commits give the same report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// What changes where the text does, and nothing at exits.
    Quick,
    #[default]
    Normal,
    /// As `Normal`, with limits that are a few times as high.
    Deep,
}

/// Of which functions that a range changes facts at exits are asked, above quick effort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exits {
    #[default]
    All,
    /// Of small ones, and of those of which the local view leaves something open ([`super::first_look`]).
    WhereOpen,
}

/// How to analyse.
#[derive(Clone, Debug)]
pub struct Options {
    pub effort: Effort,
    pub exits: Exits,
    /// Hunks in branches that are not taken are looked at under further macros.
    pub configurations: bool,
    pub limits: Limits,
    /// Worker threads; 0 means one a processor. The result does not depend on it.
    pub jobs: usize,
    /// Only functions whose name matches, when given.
    pub function: Option<String>,
    /// Facts about locals, facts that others imply, and unchanged functions, too.
    pub all: bool,
    /// Every function of every source file, whether or not a version changes it; with one version, the
    /// facts of that version.
    pub whole: bool,
    /// Only what becomes of properties is asked for, and no facts.
    pub properties_only: bool,
    /// As `all`, in the functions whose own text changes.
    pub locals: bool,
    /// Facts of some of the versions, even where two versions are compared: of these a fact of one is a side of
    /// a churn.
    pub subsets: bool,
    /// Pointers may lead to the same bytes, and indices out of their arrays: see
    /// [`invariant::Options::aliases`].
    pub aliases: bool,
    pub points: PointChoice,
    pub specification: Specification,
    /// With two versions: assertions are matched, and their difference is checked.
    pub differencing: Option<Differencing>,
    /// Every pair of versions is compared, not only neighbours.
    pub all_pairs: bool,
}

/// What the analysis of one function may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Limit of one solver query, in Z3 resource units.
    pub rlimit: u64,
    /// Iterations to which loops without a proved bound are unrolled.
    pub unroll: u32,
    /// Calls within calls up to which small callees are inlined.
    pub inline_depth: u32,
    /// Concrete runs of one pair of classes.
    pub budget: invariant::Budget,
}

/// What people write of the program's functions.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    pub pins: Vec<Pin>,
    /// What callers of functions see to, as the project says; a condition over parameters.
    pub requires: Vec<Requirement>,
    /// The project's own protocols: their functions' calls are told as events, and stay calls.
    pub protocols: Vec<invariant::Protocol>,
    /// Templates that a person wrote.
    pub templates: Vec<invariant::WrittenTemplate>,
}

/// The points at which facts are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointChoice {
    /// Kinds that were asked for; `None`: the exit, and loops whose changes it does not tell of.
    pub kinds: Option<Vec<PointKind>>,
    /// Lines, by a file's path in any version.
    pub lines: Vec<(PathBuf, u32)>,
}

impl PointChoice {
    pub fn has(&self, kind: PointKind) -> bool {
        self.kinds.as_ref().is_some_and(|k| k.contains(&kind))
    }

    /// Whether something was asked for by name.
    pub fn is_explicit(&self) -> bool {
        self.kinds.is_some() || !self.lines.is_empty()
    }
}

/// How the assertions of two versions are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differencing {
    /// Also counts what checking all of them would cost.
    pub compare_full: bool,
    /// Nothing is left out that difference verification covers: what that saves is measured so.
    pub without_condition: bool,
}

/// A fact that the project wants kept at a function's exit.
#[derive(Clone, Debug)]
pub struct Pin<F = Postcondition> {
    /// `name` or `file:name`.
    pub function: String,
    pub fact: invariant::PinnedFact<F>,
    /// The change does not pin it any more.
    pub is_dropped: bool,
}

/// A condition on a function's parameters that its callers see to.
pub type Requirement = Pin<Expression>;

impl<F> Pin<F> {
    pub(super) fn name(&self) -> &str {
        self.function.rsplit_once(':').map_or(&self.function, |(_, name)| name)
    }

    pub(super) fn is_about(&self, file: &std::path::Path, name: &str) -> bool {
        match self.function.rsplit_once(':') {
            Some((f, n)) => n == name && std::path::Path::new(f) == file,
            None => self.function == name,
        }
    }
}

impl Options {
    /// Whether the local view comes first, so that what a change reaches elsewhere is not looked for.
    pub(super) fn is_local(&self) -> bool {
        let is_first = self.effort == Effort::Quick || self.exits == Exits::WhereOpen;
        is_first && !self.whole && !self.properties_only
    }

    pub(super) fn has_locals(&self) -> bool {
        self.all || self.locals
    }

    /// Whether facts of some versions are told, of so many.
    pub(super) fn subsets_of(&self, versions: usize) -> bool {
        !self.properties_only && (self.subsets || versions > 2)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rlimit: 2_000_000, unroll: 8, inline_depth: 2, budget: invariant::Budget::default() }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            effort: Effort::Normal,
            exits: Exits::All,
            configurations: true,
            limits: Limits::default(),
            jobs: 0,
            function: None,
            all: false,
            whole: false,
            properties_only: false,
            locals: false,
            subsets: false,
            aliases: false,
            points: PointChoice::default(),
            specification: Specification::default(),
            differencing: None,
            all_pairs: false,
        }
    }
}
