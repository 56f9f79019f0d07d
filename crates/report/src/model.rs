//! What an analysis found, as data (schema `invdiff/1`).
//!
//! The analysis fills a [`Report`]; every renderer reads it and nothing else. Field order here is
//! the order in JSON. Versions are numbered from 1, oldest first, and are the keys of the maps, which
//! JSON writes as strings in numeric order. Lines count from 1. Additive changes are free; any other
//! raises [`SCHEMA`]. Fields that a reader does not know are skipped, absent ones take their default.
//!
//! Texts (`text`, `c`, `reason`, values of witnesses) may hold whatever the analysed repository
//! holds: renderers escape them.

use super::object::is_told_at_object;
use super::{Assertion, ObjectReport, RepoPath, Witness};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Name and number of the schema.
pub const SCHEMA: &str = "invdiff/1";

/// Number of a version in the analysed range, from 1, oldest first.
pub type Version = u32;

/// The result of one run over a range of versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    pub schema: String,
    pub tool: Tool,
    pub settings: SettingsEcho,
    /// Nothing was left out: every function that had to be analysed was, and entirely, every hunk of C was
    /// looked at, and no limit was met.
    pub complete: bool,
    /// What was left out, for people, a piece each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_looked_at: Vec<String>,
    pub versions: Vec<VersionInfo>,
    /// Every source hunk between consecutive versions, with what became of it.
    pub hunks: Vec<HunkReport>,
    pub functions: Vec<FunctionReport>,
    /// Objects with static storage whose definitions a step changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectReport>,
    /// Asserted and pinned properties that were looked at; the gate reads their violations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    pub summary: Summary,
    pub cost: Cost,
    /// Problems that belong to no single function (a file that could not be read, a header that is
    /// missing), for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            schema: SCHEMA.to_owned(),
            tool: Tool::default(),
            settings: SettingsEcho::default(),
            complete: true,
            not_looked_at: Vec::new(),
            versions: Vec::new(),
            hunks: Vec::new(),
            functions: Vec::new(),
            objects: Vec::new(),
            assertions: Vec::new(),
            summary: Summary::default(),
            cost: Cost::default(),
            notices: Vec::new(),
        }
    }
}

/// What made the report; the same commits and the same `Tool` give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    pub name: String,
    pub version: String,
    /// Version of the Z3 library that is linked in; empty if none was asked.
    pub z3: String,
}

impl Default for Tool {
    fn default() -> Tool {
        Tool { name: "git-invdiff".into(), version: env!("CARGO_PKG_VERSION").into(), z3: String::new() }
    }
}

/// The settings that shape a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettingsEcho {
    /// `LP64` or `ILP32`.
    pub data_model: String,
    /// Limit of one solver query, in Z3 resource units (about 2 million a second).
    pub rlimit: u64,
    /// Iterations to which loops without a proved bound are unrolled.
    pub unroll: u32,
    pub templates: Vec<String>,
    /// Name of the set of preprocessor definitions that was analysed.
    pub configuration: String,
}

/// One version of the range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionInfo {
    pub index: Version,
    /// Full object id, 40 or 64 hexadecimal digits; null for what is no commit.
    pub commit: Option<String>,
    /// How the version was asked for (`HEAD~1`, a branch, an id), `INDEX`, `WORKTREE`, or `EMPTY` for
    /// what comes before a root commit.
    pub name: String,
    /// First line of the commit message.
    pub summary: String,
    /// Committer time, RFC 3339; null for the index and the working tree.
    pub time: Option<String>,
}

/// Place of a hunk, in the numbers of `git diff -U0` (a count of 0 means that `start` is the line
/// before).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct HunkRef {
    pub file: RepoPath,
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
}

impl HunkReport {
    /// Where it is.
    pub fn place(&self) -> HunkRef {
        HunkRef {
            file: self.file.clone(),
            old_start: self.old_start,
            old_lines: self.old_lines,
            new_start: self.new_start,
            new_lines: self.new_lines,
        }
    }
}

/// One source hunk of the range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HunkReport {
    pub from: Version,
    pub to: Version,
    /// Path in version `to`, or in `from` if the file was removed.
    pub file: RepoPath,
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub verdict: HunkVerdict,
    /// Why it was not analysed: `inactive-branch`, `global`, `prototype`, `layout`, `not-c`,
    /// `excluded:<by>`, `limit:<name>`, or other words; null otherwise. A neutral hunk may say why it is neutral
    /// (`comment`, `layout-of-text`, `equivalent`).
    pub why: Option<String>,
    /// Lines outside of the hunk that other configurations compile than before, by its conditions (`#if`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compiled: Vec<Compiled>,
    /// While configurations are looked at: the lines, by side, that none of them has taken so far, and whether
    /// something was told of others. Not written.
    #[serde(skip)]
    pub pending: Pending,
}

/// Lines whose text stays and whose conditions differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compiled {
    /// The macros under which one version alone compiles them; empty: whatever they are.
    pub when: String,
    /// The newer version does; else the older one.
    pub now: bool,
    /// The first and the last of them in the older version.
    pub old: (u32, u32),
    /// The same in the newer one.
    pub new: (u32, u32),
}

impl Compiled {
    /// `line 158`, `lines 158-160`: where the lines are now.
    pub fn lines(&self) -> String {
        match self.new {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first}-{last}"),
        }
    }

    /// What became of the lines before and now.
    pub fn sides(&self) -> [&'static str; 2] {
        if self.now { ["left out", "compiled"] } else { ["compiled", "left out"] }
    }
}

/// What is left of a hunk to look at under other macros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    pub inactive: BTreeSet<(usize, u32)>,
    pub told: bool,
}

/// What became of a source hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HunkVerdict {
    /// A churn names it as its cause.
    Explained,
    /// It was analysed and changes no fact.
    Neutral,
    #[default]
    NotAnalysed,
}

/// One function, followed through renames and moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionReport {
    /// Path in the newest version that has the function.
    pub file: RepoPath,
    pub name: String,
    /// `c`.
    pub language: String,
    /// Versions in which the function exists.
    pub versions: Vec<Version>,
    pub identity: Identity,
    pub outcome: FunctionStatus,
    /// No `unknowns`, and no limit was met.
    pub complete: bool,
    pub unknowns: Vec<UnknownEntry>,
    /// What changes where the text does, from any state there, a region each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// How many inputs each step affects, where the project's file says a domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affects: Vec<Affected>,
    /// The option that asks for facts at the exit, where the effort leaves them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
    /// Macros under which it is there at all, where it is new or gone with their branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    pub points: Vec<Point>,
}

/// How many inputs of a function a step affects. Counts are texts: they may be larger than `2^53`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Affected {
    pub from: Version,
    pub to: Version,
    /// `affects 2.5 % of inputs (10 of 400; x, y in -10..9)`.
    pub text: String,
    /// Inputs on which something that a caller sees differs.
    pub differing: String,
    /// Inputs of which that is not known.
    pub open: String,
    pub domain_size: String,
    /// The condition on which they differ, where it takes few words.
    pub when: Option<String>,
}

/// A region in which two versions of a function go apart, until they are together again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Stable: hashes the function's lineage name, what the region says, and an ordinal on ties.
    pub id: String,
    pub from: Version,
    pub to: Version,
    pub hunks: Vec<HunkRef>,
    /// The configuration, if not the default one.
    pub under: Option<String>,
    pub at: ChangePlace,
    pub verdict: ChangeVerdict,
    /// What keeps it open, wholly or in part.
    pub reason: Option<String>,
    /// What matters most first.
    pub deltas: Vec<Delta>,
    #[serde(rename = "else")]
    pub otherwise: Otherwise,
    /// What is taken for granted, by name.
    pub assumptions: Vec<String>,
    /// Versions for which the function had done what it does no longer, where somebody asked for that.
    #[serde(skip)]
    pub age: Option<u32>,
}

/// Where a region is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangePlace {
    pub lines: BTreeMap<Version, u32>,
    /// `in the loop of line 52`.
    pub context: Option<String>,
    /// The tests that lead there, as they stand in the newer source: `n > 100 (line 4)`.
    pub tests: Option<String>,
}

/// What became of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// From every state both versions do the same.
    Neutral,
    Differs,
    #[default]
    Open,
}

/// What holds of the states that no delta speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Otherwise {
    /// Where the older version does nothing undefined, both do the same.
    Same,
    #[default]
    Open,
}

/// Under a condition on the state, what the older version does and what the newer one does in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delta {
    pub when: When,
    pub before: Vec<Effect>,
    pub now: Vec<Effect>,
    /// `satisfiable`: some state meets the condition; `state`, `replayed`: a run showed it.
    pub evidence: String,
    /// All calls of the function are known, and none leads there; such deltas come last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_caller: bool,
}

/// A condition; an empty text: always.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct When {
    pub text: String,
    /// The part of a long text that the change made, and how many others there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    pub c: Option<String>,
}

/// Something that a version does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// `return`, `leave-loop`, `next-round`, `goto`, `call`, `write`, `output`, `end`, `undefined`, `value`.
    pub kind: String,
    pub text: String,
    pub c: Option<String>,
    /// In its version.
    pub line: Option<u32>,
}

/// Where a function was in each version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    pub versions: BTreeMap<Version, FunctionRef>,
    pub kind: IdentityKind,
    /// What it was renamed, moved, split or merged from, as `file:name`.
    pub from: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionRef {
    pub file: RepoPath,
    pub name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentityKind {
    #[default]
    Same,
    Renamed,
    Moved,
    Split,
    Merged,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionStatus {
    Analysed,
    /// Equal in all versions of the range: no analysis was needed.
    Unchanged,
    Added,
    Removed,
    PartlyAnalysed,
    #[default]
    NotAnalysed,
}

/// Source that could not be lowered; its effect was taken as arbitrary.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct UnknownEntry {
    pub version: Version,
    pub line: u32,
    pub reason: String,
}

/// A program point that versions share, and what was found there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// `entry`, `exit`, a hash of the loop's structure, or another stable name; no line numbers.
    pub id: String,
    pub kind: PointKind,
    /// Line in each version; exit points of functions with several returns give the last one.
    pub lines: BTreeMap<Version, u32>,
    pub version_invariants: Vec<Fact>,
    /// Version invariants, and facts of some versions, that only `--all` shows: implied by others, long, or one
    /// too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// What would hold if the point were reached, in versions of which no defined run is known that comes
    /// here: held by no version, and no side of a churn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub if_reached: Vec<Fact>,
    /// Facts of some of the versions that have the function, where more than two versions are compared (or a
    /// filter asks for them); each says in [`Fact::not_held`] what is known of the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subset_invariants: Vec<Fact>,
    pub undecided: Vec<Undecided>,
    pub churns: Vec<Churn>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointKind {
    Entry,
    #[default]
    Exit,
    Loop,
    Line,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A condition that holds at a point in the versions that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// Stable: hashes the function's lineage name, the point, the template and the alpha-normalised
    /// text; never lines, commits or paths.
    pub id: String,
    /// `constant`, `range`, `set`, `comparison`, `linear`, `congruence`, `non-null`, `functional`,
    /// `event`, `typestate`.
    pub template: String,
    /// Variables that the fact is about, sorted; `\result` and `output` may be among them.
    pub variables: Vec<String>,
    /// C expression syntax extended by ACSL's `\old`, `\result`, `\at` and by `\input(k)`.
    pub text: String,
    /// Plain C that compiles at that point, or null where C cannot say it. The result is
    /// `invdiff_result`, entry values are `invdiff_old_` and the words of what they are values of.
    pub c: Option<String>,
    pub versions: Vec<Version>,
    pub status: BTreeMap<Version, Status>,
    /// Iterations of each loop up to which a `bounded` fact holds.
    pub bound: Option<u32>,
    /// Executions that support a `likely` fact.
    pub samples: Option<u64>,
    /// What the proof takes for granted, by name.
    pub assumptions: Vec<String>,
    /// Lines that define the fact, in each version.
    pub lines: BTreeMap<Version, Vec<u32>>,
    /// Whether a defined run of each version is known that comes to the point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reached: BTreeMap<Version, bool>,
    /// For a fact of some versions: what is known of it in each other version that has the function.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_held: BTreeMap<Version, NotHeld>,
}

/// Why a version is not among those in which a fact is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotHeld {
    /// A run of it breaks the fact, on an input on which a version next to it keeps it.
    Refuted,
    /// It is neither proved nor broken by a known run.
    Open,
    /// No defined run is known that comes to the point.
    NotReached,
    /// The version does not have the point.
    NoPoint,
}

/// How well a fact is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// In every execution that reaches the point, under the assumptions.
    Proved,
    /// In all executions with at most [`Fact::bound`] iterations of each loop.
    Bounded,
    /// In [`Fact::samples`] executions, without a counterexample.
    Likely,
}

/// A question that stayed open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undecided {
    pub text: String,
    pub reason: String,
    /// The limit that was met, if it was one.
    pub limit: Option<String>,
    /// An option that may settle it.
    pub raise: Option<String>,
    /// What the question is about, for whoever may settle it.
    #[serde(skip_serializing_if = "OpenKind::is_fact")]
    pub kind: OpenKind,
}

/// What an open question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenKind {
    /// A fact, or all of a function.
    #[default]
    Fact,
    /// Another difference than that of what the function does: which calls lead to it, how its types are laid out.
    AllRuns,
    /// Whether its loops end on the same inputs.
    Endings,
    /// A function that is larger than a first look takes.
    LeftOut,
    /// A function that was not begun when the work ended.
    NotBegun,
}

impl OpenKind {
    fn is_fact(&self) -> bool {
        *self == OpenKind::Fact
    }
}

/// A change of facts at a point between two versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Churn {
    pub id: String,
    pub from: Version,
    pub to: Version,
    /// What changes: `\result`, `output`, `end`, `memory`, a variable, or a place in memory (`p->len`).
    pub subject: String,
    pub removed: Vec<Fact>,
    pub added: Vec<Fact>,
    /// A caller or a user can see the difference: return value, memory and globals at exit, output,
    /// or how the run ends.
    pub observable: bool,
    pub claim: Claim,
    pub causes: Causes,
    pub hunks: Vec<HunkRef>,
    /// Replayed in both versions before it is put here.
    pub witness: Option<Witness>,
    /// Changed functions (`file:name`) that this one calls and whose change it shows, the nearest
    /// first; empty if its own text is the cause.
    pub through: Vec<String>,
    /// The object whose initial value it is of, where nothing else of the function tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Versions that the oldest removed fact had held at least, where the range or notes tell ([`Churn::held`]).
    pub age: Option<u32>,
    /// Importance, 0 to 1, which the age lifts; renderers show the highest first.
    pub rank: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Refuted in `to` by a replayed witness.
    NoLongerHolds,
    #[default]
    NoLongerProvable,
    NowHolds,
    /// One value or fact took the place of another; the versions differ on the witness.
    Changed,
    /// One of the versions does something undefined on the witness.
    DiffersUnderUb,
}

/// Lines that explain a churn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Causes {
    /// Lines of version `from` that are not in `to`.
    pub removed: Vec<LineRef>,
    /// Lines of version `to` that are not in `from`.
    pub added: Vec<LineRef>,
    /// Lines of `to`, in both versions, that the facts rest on as well.
    pub shared: Vec<LineRef>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct LineRef {
    pub file: RepoPath,
    pub line: u32,
    /// The source line, without its line end; invalid UTF-8 replaced. Null if it is not at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Counts over the whole report; see [`Summary::of`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Functions that differ between versions of the range.
    pub functions: usize,
    pub version_invariants: usize,
    pub churns: usize,
    pub observable_churns: usize,
    pub undecided: usize,
    pub hunks_not_analysed: usize,
}

impl Report {
    /// Steps and functions (`file:name`) that tell churns of their own.
    pub fn told(&self) -> BTreeSet<(Version, String)> {
        let own = |f: &FunctionReport| -> BTreeSet<(Version, String)> {
            let churns = f.churns().filter(|c| c.through.is_empty() && !is_told_at_object(self, c));
            churns.map(|c| (c.from, format!("{}:{}", f.file, f.name))).collect()
        };
        self.functions.iter().flat_map(own).collect()
    }

    /// The churns of each function that has any, without what is told elsewhere: what callers show of a callee's
    /// change at the callee, and the initial value of an object at the object.
    pub fn own_churns(&self) -> Vec<Vec<&Churn>> {
        let told = self.told();
        let is_own = |c: &&Churn| {
            !c.through.iter().any(|t| told.contains(&(c.from, t.clone()))) && !is_told_at_object(self, c)
        };
        let of = |f| FunctionReport::churns(f).filter(is_own).collect::<Vec<_>>();
        self.functions.iter().map(of).filter(|churns| !churns.is_empty()).collect()
    }

    /// How many functions have churns of their own: those that changed, and callers whose text stays.
    pub fn own_tellers(&self) -> (usize, usize) {
        let told = self.told();
        let is_own = |c: &Churn| {
            !c.through.iter().any(|t| told.contains(&(c.from, t.clone()))) && !is_told_at_object(self, c)
        };
        let telling = self.functions.iter().filter(|f| f.churns().any(is_own));
        let (callers, changed): (Vec<_>, Vec<_>) =
            telling.partition(|f| f.outcome == FunctionStatus::Unchanged);
        (changed.len(), callers.len())
    }
}

impl FunctionReport {
    fn churns(&self) -> impl Iterator<Item = &Churn> {
        self.points.iter().flat_map(|p| &p.churns)
    }
}

impl Summary {
    /// Counts what is in `report`; its own `summary` is not looked at.
    pub fn of(report: &Report) -> Summary {
        let changed = report.functions.iter().filter(|f| f.outcome != FunctionStatus::Unchanged);
        let mut summary = Summary {
            functions: changed.count(),
            hunks_not_analysed: report.hunks.iter().filter(|h| h.verdict == HunkVerdict::NotAnalysed).count(),
            ..Summary::default()
        };
        for point in report.functions.iter().flat_map(|f| &f.points) {
            summary.version_invariants += point.version_invariants.len();
            summary.churns += point.churns.len();
            summary.observable_churns += point.churns.iter().filter(|c| c.observable).count();
            summary.undecided += point.undecided.len();
        }
        summary
    }
}

/// What a run cost; the only part of a report that differs between two equal runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Elapsed time, milliseconds.
    pub wall_ms: u64,
    pub solver_queries: u64,
    /// Queries that the cache answered; not among `solver_queries`.
    pub solver_cached: u64,
    pub nodes_visited: u64,
    pub nodes_total: u64,
    /// Largest resident set, KiB.
    pub peak_rss_kib: u64,
    /// Milliseconds that each room of the program took (`ARCHITECTURE.md`), of all threads together; rooms that
    /// took less than one are left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rooms: BTreeMap<String, u64>,
    /// Checking all assertions of the newer version, and checking their difference alone; with
    /// `--compare-full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<CheckCost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incremental: Option<CheckCost>,
}

/// What a check of assertions cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckCost {
    pub solver_queries: u64,
    pub paths: u64,
    pub wall_ms: u64,
}
