//! `git invdiff bisect`: the commit with which a condition stopped holding, without running the program.
//!
//! Asked are versions that change the function's text, halving what lies between one in which the
//! condition holds and one in which it does not; one that cannot be decided is passed over, as
//! `git bisect skip` does. What is found is checked on the commit and the version before it; where that
//! does not hold either, the cause is in another file, and all versions in between are asked.

use super::blame;
use super::diff_args::DiffArgs;
use super::history::History;
use super::name::is_name;
use super::render::short_ids_of;
use super::{CliError, Context, ExitCode, Format, Progress, analyse};
use crate::analysis::holds::{Answer, ConditionVerdict, Located, holds};
use crate::analysis::text_lineage::{FunctionLocation, Gaps};
use crate::fact::{self, Postcondition};
use crate::history::utf8_path;
use crate::invariant::{PinnedFact, state_words};
use crate::mvicfg::VersionId;
use crate::report::escape::visible;
use crate::report::palette::Slot;
use crate::report::text::{ends_of, input_of};
use crate::report::{RepoPath, SCHEMA, VersionInfo, Witness, json, unmarked};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// The first commit that broke a condition, without running the program
///
/// The condition is one about the end of a function, as in `pinned` of .invdiff.yaml: a C expression over
/// its parameters (\old(n): their value at the entry), globals, and \result. For each version that is
/// asked the answer is `proved`, `refuted` by a replayed input, or `unknown`; what is unknown is passed
/// over, as by `git bisect skip`.
///
/// Exits 0 whatever is found; with --exit-code 1 if the condition does not hold at the end of the range.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff bisect 'src/buf.c:push: \\result <= 0' v1.0..HEAD\n  \
    git invdiff bisect --function src/area.c:area '\\result >= 0' v1.0..v2.0\n  \
    git invdiff bisect 'a.c:clamp: \\result == \\old(x) || \\old(x) < 0' HEAD~20..")]
pub struct BisectArgs {
    /// The condition, after FILE:FUNCTION and a colon unless --function names these
    #[arg(value_name = "[FILE:FUNCTION:] CONDITION")]
    pub condition: OsString,

    /// The versions to search: A..B
    #[arg(value_name = "RANGE")]
    pub range: String,

    /// The function, in a file of the newest version
    #[arg(long, value_name = "FILE:FUNCTION")]
    pub function: Option<OsString>,

    /// Exit 1 if the condition does not hold at the end of the range
    #[arg(long)]
    pub exit_code: bool,

    /// Exit 3 if it could not be decided
    #[arg(long)]
    pub strict: bool,

    /// Limit of one solver query, in resource units (default 2000000, about a second)
    #[arg(long, value_name = "N")]
    pub rlimit: Option<u64>,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BisectOutcome {
    /// The first commit that breaks it.
    Found,
    /// It holds at the end of the range.
    Holds,
    /// It did not hold where the range, or the function, begins.
    NeverHeld,
    /// One of several commits: between them nothing could be decided.
    Among,
    /// Whether it holds at the end of the range is not known.
    Undecided,
}

/// What is known of one version that was asked.
#[derive(Clone, Debug, Serialize)]
struct Asked {
    #[serde(flatten)]
    version: VersionInfo,
    verdict: &'static str,
    reason: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Found {
    schema: &'static str,
    condition: String,
    file: RepoPath,
    function: String,
    outcome: BisectOutcome,
    /// The commit that broke it; of several that may have, the newest; where it never held, the oldest.
    commit: Option<VersionInfo>,
    /// Commits that may have broken it, oldest first.
    candidates: Vec<VersionInfo>,
    /// A replayed input that the version before keeps the condition on and the commit does not.
    witness: Option<Witness>,
    /// Commits of the range, and those of them that change the function's text.
    searched: usize,
    text_changes: usize,
    /// What may hide further commits.
    not_looked_at: Vec<String>,
    asked: Vec<Asked>,
}

pub fn run(args: BisectArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let format = context.format(&[Format::Text, Format::Json])?;
    let readable = |words: &OsString| utf8_path(Path::new(words)).to_string_lossy().into_owned();
    let (condition, function) = (readable(&args.condition), args.function.as_ref().map(readable));
    let (function, text) = target(&condition, function.as_deref())?;
    let fact = fact::parse_postcondition(text)
        .map_err(|error| CliError::usage(format!("the condition '{text}' cannot be read: {error}")))?;
    let fact = PinnedFact { text: text.to_owned(), fact };
    let repository = analyse::open(context)?;
    let diff = DiffArgs { strict: args.strict, rlimit: args.rlimit, ..DiffArgs::default() };
    if !args.range.contains("..") && !args.range.ends_with("^!") {
        return Err(CliError::usage(format!("'{}' is not a range A..B", args.range))
            .hint("A: a version in which the condition holds, B: one in which it does not"));
    }
    let history = History::open(&repository, function, Some(&args.range), &diff, context)?;
    check_words(&fact, &history)?;
    check_range(&history, &repository, &args.range)?;
    let mut search = Search::new(&history, &fact, context)?;
    let found = search.run()?;
    history.check_readable()?;
    match format {
        Format::Json => json::render_value(&found, &mut context.output)?,
        _ => show(&found, context)?,
    }
    let open = matches!(found.outcome, BisectOutcome::Among | BisectOutcome::Undecided);
    let is_cut = !found.not_looked_at.is_empty();
    if open && format == Format::Text {
        context.say(&format!(
            "hint: --rlimit {} may settle it",
            history.settings.analysis.rlimit.saturating_mul(10)
        ));
    }
    let broken = !matches!(found.outcome, BisectOutcome::Holds | BisectOutcome::Undecided);
    Ok(match () {
        () if args.exit_code && broken => ExitCode::Objection,
        () if history.settings.strict && (open || is_cut) => ExitCode::Undecided,
        () => ExitCode::Done,
    })
}

/// The function and the condition.
fn target<'a>(condition: &'a str, function: Option<&'a str>) -> Result<(&'a str, &'a str), CliError> {
    if let Some(function) = function {
        return Ok((function, condition.trim()));
    }
    // `f ? a : b` has no file before its colon.
    let parts = || {
        let (file, rest) = condition.split_once(':')?;
        let (name, stated) = rest.split_once(':')?;
        let length = file.len() + 1 + name.len();
        is_name(name.trim()).then(|| (condition.get(..length).unwrap_or_default(), stated.trim()))
    };
    parts().filter(|(_, condition)| !condition.is_empty()).ok_or_else(|| {
        CliError::usage("which function is the condition about?")
            .hint("name it before the condition, 'src/a.c:f: \\result >= 0', or with --function src/a.c:f")
    })
}

/// Refuses a state of a resource that no protocol has.
fn check_words(fact: &PinnedFact, history: &History) -> Result<(), CliError> {
    let Postcondition::State(state) = &fact.fact else { return Ok(()) };
    let known = state_words(&history.analysis.specification.protocols);
    if known.contains(&*state.words) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    Err(CliError::usage(format!("no protocol says that a resource '{}'", state.words))
        .hint(format!("what is said of resources: {}", known.join(", "))))
}

/// Refuses a range without a commit to find.
fn check_range(
    history: &History,
    repository: &crate::history::Repository,
    text: &str,
) -> Result<(), CliError> {
    let empty = || CliError::fatal(format!("the range '{text}' is empty"));
    let [first, .., last] = history.versions.as_slice() else { return Err(empty()) };
    // `B..A` compares backwards, which no bisection can be.
    if let (Some(a), Some(b)) = (first.commit(), last.commit()) {
        let (a, b) = (repository.commit(&a)?.id, repository.commit(&b)?.id);
        if repository.objects().source().merge_base(a, b)? == Some(b) {
            return Err(empty().hint("the older version comes first: OLD..NEW"));
        }
    }
    Ok(())
}

/// A version that may be asked.
#[derive(Clone)]
struct Point {
    version: VersionId,
    place: FunctionLocation,
    /// It changes the function's text.
    is_edit: bool,
}

struct Search<'h, 'a> {
    history: &'h History<'h>,
    fact: &'a PinnedFact,
    progress: Progress,
    /// Oldest first, the newest version last; before the first of them the function is not there. Until
    /// they are all there is, the versions between two of them have the text of the older one.
    points: Vec<Point>,
    text_changes: usize,
    gaps: Gaps,
    /// By version.
    answers: BTreeMap<VersionId, Answer>,
}

impl<'h, 'a> Search<'h, 'a> {
    fn new(
        history: &'h History<'h>,
        fact: &'a PinnedFact,
        context: &Context,
    ) -> Result<Search<'h, 'a>, CliError> {
        let newest = VersionId::new(history.versions.len() - 1);
        let (mut points, mut text_changes) = (Vec::new(), 0);
        let mut place = Some(history.place.clone());
        let mut steps = history.steps();
        while let Some(step) = steps.as_mut().and_then(Iterator::next) {
            let step = step?;
            text_changes += usize::from(step.rests_on.is_empty());
            points.push(Point { version: step.to, place: step.after, is_edit: true });
            place = step.before;
        }
        if points.first().is_none_or(|p| p.version != newest) {
            points.insert(0, Point { version: newest, place: history.place.clone(), is_edit: false });
        }
        if let Some(place) = place {
            points.push(Point { version: VersionId::OLD, place, is_edit: false });
        }
        points.reverse();
        let progress = Progress::new(context);
        let gaps = steps.map(|s| s.gaps()).unwrap_or_default();
        Ok(Search { gaps, history, fact, progress, points, text_changes, answers: BTreeMap::new() })
    }

    fn ask(&mut self, point: usize) -> Answer {
        let Point { version, place, .. } = &self.points[point];
        if let Some(known) = self.answers.get(version) {
            return known.clone();
        }
        self.progress.working_on(&format!("asking {}", self.history.versions[*version].summary));
        let input = self.history.input(*version, 1);
        let located = Located { version: &input, place };
        let answer = holds(&[located], self.fact, &self.history.front_end, &self.history.analysis);
        self.answers.insert(*version, answer.clone());
        answer
    }

    fn run(&mut self) -> Result<Found, CliError> {
        let newest = self.points.len() - 1;
        let end = self.ask(newest);
        if end.is_unreadable {
            let reason = end.reason.unwrap_or_default();
            let text = unmarked::text(&self.fact.text);
            return Err(CliError::usage(format!("the condition '{text}' cannot be asked: {reason}")));
        }
        match end.verdict {
            ConditionVerdict::Proved => return Ok(self.found(BisectOutcome::Holds, None)),
            ConditionVerdict::Unknown => return Ok(self.found(BisectOutcome::Undecided, None)),
            ConditionVerdict::Refuted => {}
        }
        // Between these the condition stops holding, if it held at all.
        let (mut low, mut high) = (None, newest);
        if newest > 0 {
            match self.ask(0).verdict {
                ConditionVerdict::Proved => low = Some(0),
                ConditionVerdict::Refuted => high = 0,
                ConditionVerdict::Unknown => {}
            }
        }
        loop {
            while let Some(next) = self.next_between(low, high) {
                match self.ask(next).verdict {
                    ConditionVerdict::Proved => low = Some(next),
                    ConditionVerdict::Refuted => high = next,
                    ConditionVerdict::Unknown => {}
                }
            }
            let first = low.map_or(0, |l| l + 1);
            if first < high {
                let candidates =
                    self.points[first..=high].iter().map(|p| p.version).filter(|v| *v > VersionId::OLD);
                let candidates = candidates.map(|v| self.info(v)).collect();
                return Ok(Found { candidates, ..self.found(BisectOutcome::Among, Some(high)) });
            }
            let Some(held) = low else {
                let witness = self.ask(high).witness;
                return Ok(Found { witness, ..self.found(BisectOutcome::NeverHeld, Some(high)) });
            };
            let step = self.step(held, high);
            let elsewhere = step.before == Some(ConditionVerdict::Refuted) || !self.points[high].is_edit;
            if elsewhere && self.points[high].version > self.points[held].version.next() {
                // Not the function's text broke it, but another file's.
                high = self.look_at_all(held, high);
                continue;
            }
            let witness = step.witness.or_else(|| self.ask(high).witness);
            return Ok(Found { witness, ..self.found(BisectOutcome::Found, Some(high)) });
        }
    }

    /// The point nearest to the middle between two that has not been asked about.
    fn next_between(&self, low: Option<usize>, high: usize) -> Option<usize> {
        let first = low.map_or(0, |l| l + 1);
        let middle = (first + high) / 2;
        let open = (first..high).filter(|p| !self.answers.contains_key(&self.points[*p].version));
        open.min_by_key(|p| p.abs_diff(middle))
    }

    /// Asks about the version of a point and the one before it.
    fn step(&self, held: usize, high: usize) -> Answer {
        let (before, after) = (&self.points[held], &self.points[high]);
        let older = after.version.previous().unwrap_or(VersionId::OLD);
        let (old, new) = (self.history.input(older, 1), self.history.input(after.version, 2));
        let located =
            [Located { version: &old, place: &before.place }, Located { version: &new, place: &after.place }];
        holds(&located, self.fact, &self.history.front_end, &self.history.analysis)
    }

    /// Makes all versions between two points points; returns where the second one is then.
    fn look_at_all(&mut self, low: usize, high: usize) -> usize {
        let (first, last) = (self.points[low].version.next(), self.points[high].version);
        let place = self.points[low].place.clone();
        let between: Vec<Point> = VersionId::first(last.index())
            .skip(first.index())
            .map(|version| Point { version, place: place.clone(), is_edit: false })
            .collect();
        let more = between.len();
        self.points.splice(low + 1..high, between);
        low + 1 + more
    }

    fn info(&self, version: VersionId) -> VersionInfo {
        self.history.input(version, version.number()).info
    }

    fn found(&self, outcome: BisectOutcome, point: Option<usize>) -> Found {
        let verdict = |v: ConditionVerdict| match v {
            ConditionVerdict::Proved => "proved",
            ConditionVerdict::Refuted => "refuted",
            ConditionVerdict::Unknown => "unknown",
        };
        let asked = self.answers.iter().map(|(v, a)| Asked {
            version: self.info(*v),
            verdict: verdict(a.verdict),
            reason: a.reason.clone(),
        });
        Found {
            schema: SCHEMA,
            condition: self.fact.text.clone(),
            file: RepoPath::from(&self.history.place.file),
            function: self.history.place.name.clone(),
            outcome,
            commit: point.map(|p| self.info(self.points[p].version)),
            candidates: Vec::new(),
            witness: None,
            searched: self.history.versions.len() - 1,
            text_changes: self.text_changes,
            not_looked_at: blame::words(self.gaps),
            asked: asked.collect(),
        }
    }
}

fn show(found: &Found, context: &mut Context) -> Result<(), CliError> {
    let ids: Vec<&String> = found.asked.iter().filter_map(|a| a.version.commit.as_ref()).collect();
    let short = short_ids_of(&ids, context);
    let palette = context.output.palette().clone();
    let width = context.output.width();
    let named = |v: &VersionInfo| {
        let id = v.commit.as_ref().map_or("empty tree", String::as_str);
        let id = short.get(id).map_or_else(|| id.chars().take(10).collect(), String::clone);
        (id, visible(v.summary.as_bytes()))
    };
    let out = &mut context.output;
    for asked in &found.asked {
        let (id, summary) = named(&asked.version);
        let verdict = format!("{:<8}", asked.verdict);
        let slot = match asked.verdict {
            "proved" => Slot::Added,
            "refuted" => Slot::Removed,
            _ => Slot::Status,
        };
        writeln!(out, "{}  {}  {summary}", palette.paint(slot, verdict), palette.paint(Slot::Commit, id))?;
        if let Some(reason) = &asked.reason {
            writeln!(out, "          {}", palette.paint(Slot::Status, visible(reason.as_bytes())))?;
        }
    }
    let condition = unmarked::text(&found.condition);
    let about = format!("{}  {}()  {}", found.file, found.function, visible(condition.as_bytes()));
    let headline = match (found.outcome, &found.commit) {
        (BisectOutcome::Found, Some(_)) => "broken by",
        (BisectOutcome::NeverHeld, Some(v)) if v.index > 1 => "never held since",
        (BisectOutcome::NeverHeld, _) => "did not hold at the start of the range:",
        (BisectOutcome::Among, _) => "refuted from here on; what is before could not be decided:",
        (BisectOutcome::Holds, _) => "holds at the end of the range",
        (BisectOutcome::Undecided, _) => "could not be decided at the end of the range",
        (BisectOutcome::Found, None) => "broken",
    };
    writeln!(out, "\n{about}")?;
    match &found.commit {
        Some(v) => {
            let (id, summary) = named(v);
            writeln!(out, "{headline} {} {summary}", palette.paint(Slot::Commit, format!("commit {id}")))?;
        }
        None => writeln!(out, "{headline}")?,
    }
    if found.candidates.len() > 1 {
        writeln!(out, "one of these commits broke it, or it never held:")?;
        for v in &found.candidates {
            let (id, summary) = named(v);
            writeln!(out, "  {}  {summary}", palette.paint(Slot::Commit, id))?;
        }
    }
    if let Some(witness) = &found.witness {
        let (before, after) = ends_of(witness, width.saturating_sub(30).max(40));
        writeln!(out, "  for example  {}", input_of(witness, &found.function))?;
        if found.outcome == BisectOutcome::Found {
            writeln!(out, "  before       {before}")?;
        }
        writeln!(out, "  after        {after}")?;
    }
    let counted = |n: usize| if n == 1 { "1 commit".to_owned() } else { format!("{n} commits") };
    writeln!(
        out,
        "\n{}, {} of them {} its text; {} asked{}",
        counted(found.searched),
        found.text_changes,
        if found.text_changes == 1 { "changes" } else { "change" },
        match found.asked.len() {
            1 => "1 version".to_owned(),
            n => format!("{n} versions"),
        },
        match found.not_looked_at.as_slice() {
            [] => String::new(),
            pieces => format!("; not looked at: {}", pieces.join("; ")),
        }
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_stands_before_the_condition() {
        let read = |condition: &str, function: Option<&str>| {
            let found = target(condition, function);
            found.map(|(f, c)| format!("{f} | {c}")).unwrap_or_else(|e| e.message)
        };
        assert_eq!(read("a.c:f: x > 0", None), "a.c:f | x > 0");
        assert_eq!(read("src/a.c:f:x ? y : z", None), "src/a.c:f | x ? y : z");
        assert_eq!(read(" x > 0 ", Some("a.c:f")), "a.c:f | x > 0");
        for open in ["x > 0", "x ? y : z", "x ? y ? 1 : 2 : 3", "a.c:f", "a.c:f:"] {
            assert_eq!(read(open, None), "which function is the condition about?", "{open}");
        }
    }
}
