//! What a person sees: in the manner of `git log` and `git diff`, most important first.
//!
//! Three parts, each left out when empty: the churns, commit by commit, oldest first, and within a
//! commit by rank; what the versions share; what was not analysed. The last line counts. Everything
//! that comes from a repository is escaped; source lines and program output are shortened to the
//! width, facts never are.

mod alike;
mod changes;
mod check;
mod churns;
mod held;
mod line;
mod properties;
mod step;
mod witness;

use super::escape::visible;
use super::model::{
    FunctionReport, FunctionStatus, HunkRef, HunkReport, HunkVerdict, Report, Status, Version, VersionInfo,
};
use super::object::told_objects;
use super::palette::{Palette, Slot};
use super::{Fact, LeftAlone, Point, PointKind, Witness};
pub use check::render as render_check;
pub(super) use check::{ends as property_ends, remarks as property_remarks, summary as check_line};
pub(super) use churns::{identity_word, remark, undescribed};
use line::Line;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
pub use step::render as render_step;
pub(super) use witness::{UNNAMED, effect_text, input_text};

/// How to lay out the text.
#[derive(Clone, Debug)]
pub struct TextOptions {
    pub palette: Palette,
    /// Columns.
    pub width: usize,
    /// Also assumptions, unknowns with reasons, undecided questions, and cost.
    pub verbose: bool,
    /// Also the time of each room.
    pub rooms: bool,
    /// Facts were filtered out, so absence of churns says nothing about the range.
    pub filtered: bool,
    /// Abbreviated ids by full id; others are cut to seven digits.
    pub short_ids: BTreeMap<String, String>,
    /// Who made a commit and when, by full id; shown behind its message.
    pub signatures: BTreeMap<String, String>,
    /// Version invariants to show of each set of versions; the rest is counted.
    pub held_limit: usize,
    /// Ids of properties whose loss is shown, but blocks nothing, with why.
    pub left_alone: BTreeMap<String, LeftAlone>,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            palette: Palette::plain(),
            width: 80,
            verbose: false,
            rooms: false,
            filtered: false,
            short_ids: BTreeMap::new(),
            signatures: BTreeMap::new(),
            held_limit: 20,
            left_alone: BTreeMap::new(),
        }
    }
}

/// Writes the whole report.
pub fn render(report: &Report, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let view = View { report, options };
    let has_churns = report.functions.iter().flat_map(|f| &f.points).any(|p| !p.churns.is_empty())
        || told_changes(report).0 > 0
        || told_objects(report).next().is_some()
        || report.hunks.iter().any(|h| !h.compiled.is_empty())
        || report.functions.iter().any(comes_or_goes);
    let has_held = report
        .functions
        .iter()
        .flat_map(|f| &f.points)
        .any(|p| !p.version_invariants.is_empty() || !p.if_reached.is_empty())
        || held::tells_subsets(&view);
    let left_out = not_analysed(report);
    let says_more = !report.notices.is_empty() || properties::has_any(report);
    if has_churns || has_held || says_more || !left_out.is_empty() || options.verbose {
        // What versions have in common comes behind the news that there is none.
        let is_other = has_churns || held::tells_subsets(&view);
        if !is_other && churn_summary(report, options, &super::Summary::of(report)) == UNCHANGED {
            writeln!(out, "no caller sees a change\n")?;
        }
        view.versions(out)?;
        churns::write(&view, out)?;
        properties::write(&view, out)?;
        held::write(&view, out)?;
        view.left_out(&left_out, out)?;
        if options.verbose {
            view.undecided(out)?;
            view.unknowns(out)?;
        }
        view.notices(out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", summary_line(report, options))?;
    if options.verbose {
        writeln!(out, "{}", view.options.palette.paint(Slot::Status, cost_line(report)))?;
    }
    if options.rooms && !report.cost.rooms.is_empty() {
        writeln!(out, "{}", view.options.palette.paint(Slot::Status, rooms_line(report)))?;
    }
    Ok(())
}

/// Whether a function is new in a range, gone, or has another name in it.
fn comes_or_goes(f: &FunctionReport) -> bool {
    matches!(f.outcome, FunctionStatus::Added | FunctionStatus::Removed) || is_renamed(f)
}

fn is_renamed(f: &FunctionReport) -> bool {
    f.identity.versions.values().any(|place| place.name != f.name)
}

/// The input of a witness in one line.
pub fn input_of(witness: &Witness, function: &str) -> String {
    match witness::input_text(witness, function) {
        text if text.is_empty() => "any input".to_owned(),
        text => text,
    }
}

/// What the older and the newer version do on the input of a witness, in `room` columns each.
pub fn ends_of(witness: &Witness, room: usize) -> (String, String) {
    (witness::ending(&witness.old, room), witness::ending(&witness.new, room))
}

/// A report together with how to show it.
pub(super) struct View<'a> {
    pub(super) report: &'a Report,
    pub(super) options: &'a TextOptions,
}

impl<'a> View<'a> {
    fn line(&self) -> Line<'a> {
        Line::new(&self.options.palette)
    }

    fn version(&self, index: Version) -> Option<&'a VersionInfo> {
        self.report.versions.iter().find(|v| v.index == index)
    }

    /// The abbreviated id, or what stands in for it.
    pub(super) fn short_name(&self, version: &VersionInfo) -> String {
        let Some(id) = &version.commit else {
            return match version.name.as_str() {
                "INDEX" => "index".to_owned(),
                "WORKTREE" => "working tree".to_owned(),
                "EMPTY" => "empty tree".to_owned(),
                other => visible(other),
            };
        };
        self.options.short_ids.get(id).cloned().unwrap_or_else(|| id.chars().take(7).collect())
    }

    /// `41ab77d (HEAD) use fabs`: a name is shown where it says more than the id.
    fn described(&self, version: &VersionInfo) -> String {
        let mut text = self.short_name(version);
        let id = version.commit.as_deref().unwrap_or_default();
        let name_says_more = version.commit.is_some()
            && !version.name.is_empty()
            && !version.name.contains(['~', '^', '@', ':'])
            && !id.starts_with(&version.name);
        if name_says_more {
            text.push_str(&format!(" ({})", visible(&version.name)));
        }
        if !version.summary.is_empty() {
            text.push(' ');
            text.push_str(&visible(&version.summary));
        }
        text
    }

    /// The versions in one line if they fit, else one a line, the middle of many left out.
    fn versions(&self, out: &mut dyn Write) -> io::Result<()> {
        const LABEL: &str = "versions  ";
        const SHOWN: usize = 10;
        let versions = &self.report.versions;
        let all: Vec<String> =
            versions.iter().map(|v| format!("{} {}", v.index, self.described(v))).collect();
        let joined = all.join("   ");
        if LABEL.len() + joined.chars().count() <= self.options.width {
            return writeln!(out, "{LABEL}{joined}");
        }
        let digits = versions.len().to_string().len();
        for (position, version) in versions.iter().enumerate() {
            let label = if position == 0 { LABEL } else { "          " };
            if versions.len() > SHOWN && position == SHOWN / 2 {
                writeln!(out, "{label}… {} more", versions.len() - SHOWN)?;
            }
            if versions.len() <= SHOWN || position < SHOWN / 2 || position >= versions.len() - SHOWN / 2 {
                let text = format!("{label}{:>digits$} {}", version.index, self.described(version));
                writeln!(out, "{}", super::escape::shortened(&text, self.options.width))?;
            }
        }
        Ok(())
    }

    /// Hunks that no analysis looked at, or not to the end: never silent.
    fn left_out(&self, hunks: &[&HunkReport], out: &mut dyn Write) -> io::Result<()> {
        let (in_part, unlooked): (Vec<&HunkReport>, Vec<&HunkReport>) =
            hunks.iter().partition(|h| super::unseen::is_in_part(self.report, h));
        self.open_hunks("not fully analysed", &in_part, out)?;
        self.open_hunks("not analysed", &unlooked, out)?;
        // A missing header or macro is what mostly keeps source from being read.
        let lacks = |h: &&&HunkReport| {
            matches!(h.why.as_deref(), Some("lost" | "unparsed" | "open:source with errors"))
        };
        let Some(hunk) = hunks.iter().rev().find(lacks) else { return Ok(()) };
        let committed = self.version(hunk.to).filter(|v| v.commit.is_some());
        let name = committed.map_or_else(|| "HEAD".to_owned(), |v| self.short_name(v));
        writeln!(
            out,
            "  'git invdiff doctor {name}' says which headers and macros are missing, and what helps"
        )
    }

    fn open_hunks(&self, heading: &str, hunks: &[&HunkReport], out: &mut dyn Write) -> io::Result<()> {
        const SHOWN: usize = 10;
        if hunks.is_empty() {
            return Ok(());
        }
        let limit = if self.options.verbose { usize::MAX } else { SHOWN };
        writeln!(out, "\n{}", self.options.palette.paint(Slot::Heading, heading))?;
        // Files that are not C are what one expects: their names are enough.
        let (others, hunks): (Vec<&HunkReport>, Vec<&HunkReport>) =
            hunks.iter().partition(|h| !self.options.verbose && h.why.as_deref() == Some("not-c"));
        // What was not read is as many as they are.
        let (unread, hunks): (Vec<&HunkReport>, Vec<&HunkReport>) =
            hunks.iter().partition(|h| !self.options.verbose && h.why.as_deref() == Some(UNREAD));
        let files: Vec<String> = hunks.iter().map(|h| h.file.to_string()).collect();
        let places: Vec<String> = hunks.iter().map(|h| hunk_text(&h.place())).collect();
        let file_width = widest(&files, 40);
        let place_width = widest(&places, 30);
        for ((hunk, file), place) in hunks.iter().zip(&files).zip(&places).take(limit) {
            let mut line = self.line();
            line.plain("  ").paint(Slot::File, file).pad_to(2 + file_width);
            line.plain("  ").paint(Slot::Hunk, place).pad_to(4 + file_width + place_width);
            line.plain("  ").plain(&why_text(hunk.why.as_deref()));
            if let Some(version) = self.version(hunk.to).filter(|_| self.report.versions.len() > 2) {
                line.plain("  ").paint(Slot::Commit, &self.short_name(version));
            }
            line.write(out)?;
        }
        if hunks.len() > limit {
            writeln!(out, "  … and {} more; -v lists them", hunks.len() - limit)?;
        }
        if !unread.is_empty() {
            let files = unread.iter().map(|h| &h.file).collect::<BTreeSet<_>>().len();
            let hunks = match unread.len() {
                1 => "1 hunk".to_owned(),
                n => format!("{n} hunks of {files} file{}", if files == 1 { "" } else { "s" }),
            };
            writeln!(out, "  {hunks}  {}; -v lists them", why_text(Some(UNREAD)))?;
        }
        if !others.is_empty() {
            let files: BTreeSet<String> = others.iter().map(|h| h.file.to_string()).collect();
            let names = files.into_iter().collect::<Vec<_>>().join(" ");
            writeln!(out, "{}", super::escape::shortened(&format!("  not C: {names}"), self.options.width))?;
        }
        Ok(())
    }

    /// What stayed open, a line for each function and reason.
    fn undecided(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut heading = Some("undecided");
        for function in &self.report.functions {
            let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
            for point in &function.points {
                for question in &point.undecided {
                    let mut why = visible(&question.reason);
                    if let Some(raise) = &question.raise {
                        why.push_str(&format!("; {} may settle it", visible(raise)));
                    }
                    let at = match point.kind {
                        PointKind::Exit => String::new(),
                        _ => format!(" {}", point_text(point, None)),
                    };
                    let what = visible(&question.text) + &at;
                    match by_reason.iter_mut().find(|(reason, _)| *reason == why) {
                        Some((_, list)) if list.contains(&what) => {}
                        Some((_, list)) => list.push(what),
                        None => by_reason.push((why, vec![what])),
                    }
                }
            }
            for (why, list) in by_reason {
                if let Some(heading) = heading.take() {
                    writeln!(out, "\n{}", self.options.palette.paint(Slot::Heading, heading))?;
                }
                let mut line = self.line();
                line.plain("  ").paint(Slot::File, &function.file.to_string());
                line.plain(&format!("  {}()  {}", visible(&function.name), list.join(", ")));
                line.paint(Slot::Status, &format!("  {why}")).write(out)?;
            }
        }
        Ok(())
    }

    fn unknowns(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut heading = Some("not understood");
        for function in &self.report.functions {
            let mut entries: Vec<_> = function.unknowns.iter().collect();
            entries.sort();
            entries.dedup();
            for unknown in entries {
                if let Some(heading) = heading.take() {
                    writeln!(out, "\n{}", self.options.palette.paint(Slot::Heading, heading))?;
                }
                let place = function.identity.versions.get(&unknown.version);
                let file = place.map_or(&function.file, |p| &p.file);
                let mut line = self.line();
                line.plain("  ").paint(Slot::File, &format!("{file}:{}", unknown.line));
                line.plain(&format!("  {}()  {}", visible(&function.name), visible(&unknown.reason)));
                line.paint(Slot::Status, &format!("  version {}", unknown.version)).write(out)?;
            }
        }
        Ok(())
    }

    fn notices(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.report.notices.is_empty() {
            writeln!(out)?;
        }
        for notice in &self.report.notices {
            writeln!(out, "{}", self.options.palette.paint(Slot::Warning, visible(notice)))?;
        }
        Ok(())
    }
}

/// Why a hunk is left out whose file is one of too many.
const UNREAD: &str = "limit:effort";

fn not_analysed(report: &Report) -> Vec<&HunkReport> {
    report.hunks.iter().filter(|h| h.verdict == HunkVerdict::NotAnalysed).collect()
}

/// Words for [`HunkReport::why`].
pub(super) fn why_text(why: Option<&str>) -> String {
    match why {
        Some("inactive-branch") => "inactive preprocessor branch".to_owned(),
        Some("global") => "global definition or initialiser".to_owned(),
        Some("prototype") => "prototype".to_owned(),
        Some("layout") => "declaration of a type or of constants".to_owned(),
        Some("not-c") => "not C".to_owned(),
        Some("header") => "function that a header defines".to_owned(),
        Some("not-included") => "header that no analysed file includes".to_owned(),
        Some("filtered") => "left out by --function".to_owned(),
        Some("not-modelled") => "something that is not modelled".to_owned(),
        Some("binary") => "binary content".to_owned(),
        Some("link") => "symbolic link".to_owned(),
        Some("submodule") => "submodule".to_owned(),
        Some("unreadable") => "content that cannot be read".to_owned(),
        Some("macro") => "macro or conditional".to_owned(),
        Some("undecided") => "its function has open questions".to_owned(),
        Some("lost") => "function that the parser lost".to_owned(),
        Some("unparsed") => "text that the parser could not place".to_owned(),
        Some("excluded:generated") => "generated file".to_owned(),
        Some("excluded:attribute") => "excluded by .gitattributes".to_owned(),
        Some("excluded:configuration") => "excluded by the configuration".to_owned(),
        Some("limit:files") => "not all files that include it were looked at".to_owned(),
        Some(UNREAD) => "more files than are read; --effort deep reads them".to_owned(),
        Some("limit:time") => "not read within the time limit".to_owned(),
        Some("limit:interrupt") => "not read before the interrupt".to_owned(),
        Some(other) => match (other.strip_prefix("limit:"), other.strip_prefix("open:")) {
            (Some(limit), _) => format!("limit {} was met", visible(limit)),
            (_, Some(reason)) => format!("open: {}", visible(reason)),
            (None, None) => visible(other),
        },
        None => "reason unknown".to_owned(),
    }
}

/// `@@ -12 +12,2 @@`, as `git diff` writes it.
pub(super) fn hunk_text(hunk: &HunkRef) -> String {
    if (hunk.old_lines, hunk.new_lines) == (0, 0) {
        return "whole file".to_owned();
    }
    let side = |start: u32, lines: u32| match lines {
        1 => start.to_string(),
        _ => format!("{start},{lines}"),
    };
    format!("@@ -{} +{} @@", side(hunk.old_start, hunk.old_lines), side(hunk.new_start, hunk.new_lines))
}

/// `exit, line 15`, with the line in `version`, else in the newest that has one.
pub(super) fn point_text(point: &Point, version: Option<Version>) -> String {
    let line = version.and_then(|v| point.lines.get(&v)).or_else(|| point.lines.values().next_back());
    let kind = match point.kind {
        PointKind::Entry => "entry",
        PointKind::Exit => "exit",
        PointKind::Loop => "loop",
        PointKind::Line => "line",
    };
    match (point.kind, line) {
        (PointKind::Line, Some(line)) => format!("at line {line}"),
        (_, Some(line)) => format!("at {kind}, line {line}"),
        (_, None) => format!("at {kind}"),
    }
}

/// The weakest status of a fact in its versions: `proved`, `bounded(8)`, `likely(100)`.
pub(super) fn status_text(fact: &Fact) -> String {
    match fact.status.values().max() {
        Some(Status::Proved) => "proved".to_owned(),
        Some(Status::Bounded) => match fact.bound {
            Some(bound) => format!("bounded({bound})"),
            None => "bounded".to_owned(),
        },
        Some(Status::Likely) => match fact.samples {
            Some(samples) => format!("likely({samples})"),
            None => "likely".to_owned(),
        },
        None => String::new(),
    }
}

/// Characters of the longest text that is not longer than `most`.
fn widest(texts: &[String], most: usize) -> usize {
    texts.iter().map(|t| t.chars().count()).filter(|w| *w <= most).max().unwrap_or(0)
}

/// `1 churn`, `2 churns`.
pub(super) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

pub(super) fn summary_line(report: &Report, options: &TextOptions) -> String {
    let summary = super::Summary::of(report);
    let mut parts = Vec::new();
    if let (changes @ 1.., functions) = told_changes(report) {
        parts.push(format!("{} told in {}", counted(changes, "change"), counted(functions, "function")));
    }
    if let objects @ 1.. = told_objects(report).count() {
        parts.push(format!("{} told", counted(objects, "object")));
    }
    if let compiled @ 1.. = report.hunks.iter().filter(|h| !h.compiled.is_empty()).count() {
        parts.push(format!("{} of the preprocessor told", counted(compiled, "condition")));
    }
    if parts.is_empty() || !report.own_churns().is_empty() {
        parts.push(churn_summary(report, options, &summary));
    }
    if summary.version_invariants > 0 {
        parts.push(counted(summary.version_invariants, "version invariant"));
    }
    let points = report.functions.iter().flat_map(|f| &f.points);
    let some = points.flat_map(|p| p.subset_invariants.iter().filter(|f| super::subset::is_listed(p, f)));
    if let some @ 1.. = some.count() {
        parts.push(format!("{} of some versions", counted(some, "fact")));
    }
    let incomplete = report
        .functions
        .iter()
        .filter(|f| matches!(f.outcome, FunctionStatus::PartlyAnalysed | FunctionStatus::NotAnalysed))
        .count();
    let see = if options.verbose { "" } else { " (-v says why)" };
    if incomplete > 0 {
        parts.push(format!("{} not fully analysed{see}", counted(incomplete, "function")));
    }
    match summary.undecided {
        0 => parts.push("nothing undecided".to_owned()),
        n => {
            let open = |f: &&super::FunctionReport| f.points.iter().any(|p| !p.undecided.is_empty());
            let functions = report.functions.iter().filter(open).count();
            let questions = counted(n, "open question");
            parts.push(format!("{questions} in {}{see}", counted(functions, "function")));
        }
    }
    let of_c: Vec<&HunkReport> = report.hunks.iter().filter(|h| h.why.as_deref() != Some("not-c")).collect();
    let hunks = of_c.len();
    if hunks > 0 {
        let settled = of_c.iter().filter(|h| h.verdict != HunkVerdict::NotAnalysed).count();
        parts.push(format!("{settled} of {} explained or neutral", counted(hunks, "hunk")));
    }
    let [unlooked, in_part] = super::unseen::of_all_hunks(report);
    parts.extend(in_part);
    parts.extend(unlooked.map(|hunks| format!("not looked at: {hunks}")));
    // What changes is told, and more could be said of it.
    let differs = |c: &super::Change| c.verdict == super::ChangeVerdict::Differs;
    let has_more = |f: &&super::FunctionReport| f.raise.is_some() && f.changes.iter().any(differs);
    if let Some(raise) = report.functions.iter().find(has_more).and_then(|f| f.raise.as_deref()) {
        parts.push(format!("{raise} asks at exits, too"));
    }
    parts.join("; ")
}

/// How many regions differ, and in how many functions.
fn told_changes(report: &Report) -> (usize, usize) {
    let differs = |f: &super::FunctionReport| {
        f.changes.iter().filter(|c| c.verdict == super::ChangeVerdict::Differs).count()
    };
    let counts: Vec<usize> = report.functions.iter().map(differs).filter(|n| *n > 0).collect();
    (counts.iter().sum(), counts.len())
}

/// What is said where everything was seen, and nothing changed.
const UNCHANGED: &str = "no semantic change";

/// How many churns; that nothing changed is said only if everything was seen.
fn churn_summary(report: &Report, options: &TextOptions, summary: &super::Summary) -> String {
    if summary.churns > 0 {
        let by_function = report.own_churns();
        let count = by_function.iter().map(Vec::len).sum::<usize>();
        // That one version does not end is seen, whatever it is told of.
        let ends = |c: &super::Churn| c.witness.as_ref().is_some_and(|w| w.old.end != w.new.end);
        let observable = by_function.iter().flatten().filter(|c| c.observable || ends(c)).count();
        let seen = match observable {
            // An object may have any value by the time that a function is called.
            0 if by_function.iter().flatten().any(|c| c.object.is_some()) => "shown by no input".to_owned(),
            0 => "none seen by callers".to_owned(),
            n if n == count => "seen by callers".to_owned(),
            n => format!("{n} seen by callers"),
        };
        let (changed, callers) = report.own_tellers();
        let callers = match callers {
            0 => String::new(),
            n => format!(" and {}", counted(n, "caller")),
        };
        return format!(
            "{} in {} of {}{callers}, {seen}",
            counted(count, "churn"),
            changed,
            counted(summary.functions, "changed function")
        );
    }
    let count = |outcome| report.functions.iter().filter(|f| f.outcome == outcome).count();
    let renamed = report.functions.iter().filter(|f| is_renamed(f)).count();
    let sides = [(count(FunctionStatus::Added), "added"), (count(FunctionStatus::Removed), "removed")];
    let sides =
        sides.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", counted(*n, "function")));
    let made_or_gone = sides.collect::<Vec<_>>().join(", ");
    // A bound that left facts untried says nothing of a change.
    let notes = !report.notices.is_empty() && report.notices.iter().all(|n| n.starts_with("note: "));
    let bounded = notes && report.functions.iter().all(|f| f.complete);
    let whole = report.complete || bounded;
    let everything_seen = whole && summary.hunks_not_analysed == 0 && summary.undecided == 0;
    if options.filtered {
        "no churn that the filters let through".to_owned()
    } else if report.hunks.is_empty() && report.functions.is_empty() && everything_seen {
        "no change".to_owned()
    } else if properties::has_any(report) {
        "no churn, but what is no longer kept".to_owned()
    } else if everything_seen && !made_or_gone.is_empty() {
        format!("no churn; {made_or_gone}")
    } else if everything_seen && renamed > 0 {
        format!("no semantic change; {} renamed", counted(renamed, "function"))
    } else if everything_seen {
        UNCHANGED.to_owned()
    } else {
        "no churn found in what was analysed".to_owned()
    }
}

fn cost_line(report: &Report) -> String {
    let cost = &report.cost;
    format!(
        "{} ms, {} solver queries ({} more from the cache), {} of {} nodes visited, {} MiB",
        cost.wall_ms,
        cost.solver_queries,
        cost.solver_cached,
        cost.nodes_visited,
        cost.nodes_total,
        cost.peak_rss_kib / 1024
    )
}

/// The rooms that took longest, of all threads together.
fn rooms_line(report: &Report) -> String {
    let mut rooms: Vec<(&String, &u64)> = report.cost.rooms.iter().collect();
    rooms.sort_by_key(|(_, ms)| std::cmp::Reverse(**ms));
    let shown: Vec<String> = rooms.iter().map(|(room, ms)| format!("{} {ms} ms", visible(room))).collect();
    format!("by room, all threads: {}", shown.join(", "))
}

/// `1-3 5`.
pub(super) fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    let sorted: BTreeSet<u32> = numbers.into_iter().collect();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in sorted {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first} {last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests;
