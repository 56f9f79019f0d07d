//! What `check` says: the properties that a change breaks, mends or leaves open, and a line that counts.
//!
//! Regressions come first, each with its input and what both versions do on it. What was broken before
//! is counted and, with `-v`, listed.

use super::witness::{ending, input_text};
use super::{TextOptions, View, counted};
use crate::assertion::{
    Assertion, AssertionKind, AssertionMatch, AssertionOutcome, DecidedBy, Judgement, Needed, Violation,
};
use crate::escape::{shortened, visible};
use crate::model::{CheckCost, FunctionStatus, Report, VersionInfo};
use crate::palette::Slot;
use crate::unseen;
use crate::witness::Run;
use crate::{RepoPath, Version, Witness};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The heading of what objects bring that begin with other values.
const FIRST: &str = "possible, in a first call";

/// Columns of what a property said before.
const WAS: usize = 60;

/// Writes what became of the properties of a range.
pub fn render(report: &Report, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let view = View { report, options };
    let newest = newest(report);
    let sections = [
        (Judgement::Regression, "regressions", true),
        (Judgement::BrokenFromTheStart, "new or changed, and does not hold", true),
        (Judgement::Weakened, "weakened, and the new code needs that", true),
        (Judgement::Fixed, "fixed", true),
        (Judgement::Undecided, "undecided", true),
        (Judgement::Removed, "removed", true),
        (Judgement::CompiledOut, "compiled out", true),
        (Judgement::Overtaken, "too late", true),
        (Judgement::Possible, FIRST, true),
        (Judgement::Possible, "possible, if callers pass such an input", options.verbose),
        (Judgement::Preexisting, "broken before, too", options.verbose),
        (Judgement::Kept, "kept", options.verbose),
    ];
    let mut said = false;
    for (judgement, heading, shown) in sections {
        let is_first =
            |a: &Assertion| judgement == Judgement::Possible && a.decided_by == DecidedBy::FirstCall;
        let is_of = |a: &Assertion| is_first(a) == (heading == FIRST);
        let mut of_kind: Vec<&Assertion> =
            report.assertions.iter().filter(|a| a.judgement(newest) == judgement && is_of(a)).collect();
        crate::longest_kept_first(&mut of_kind);
        if shown && !of_kind.is_empty() {
            let blank = if said { "\n" } else { "" };
            writeln!(out, "{blank}{}", options.palette.paint(Slot::Heading, heading))?;
            of_kind.iter().try_for_each(|a| property(&view, a, judgement, out))?;
            said = true;
        }
    }
    view.notices(out)?;
    if said || !report.notices.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(report, options))?;
    if let (Some(full), Some(difference)) = (&report.cost.full, &report.cost.incremental) {
        let cost = |c: &CheckCost| format!("{} solver queries on {} paths", c.solver_queries, c.paths);
        let line = format!("all assertions: {}; their difference: {}", cost(full), cost(difference));
        writeln!(out, "{}", options.palette.paint(Slot::Status, line))?;
    }
    if options.verbose {
        writeln!(out, "{}", options.palette.paint(Slot::Status, super::cost_line(report)))?;
    }
    Ok(())
}

fn newest(report: &Report) -> Version {
    report.versions.last().map_or(0, |v| v.index)
}

fn property(view: &View, a: &Assertion, judgement: Judgement, out: &mut dyn Write) -> io::Result<()> {
    let options = view.options;
    let slot = match judgement {
        Judgement::Regression | Judgement::BrokenFromTheStart | Judgement::Weakened => Slot::Removed,
        Judgement::Fixed => Slot::Added,
        _ => Slot::Status,
    };
    let mut line = view.line();
    line.plain("  ").paint(Slot::File, &a.file.to_string());
    // At file scope, or wherever the compiler decides.
    match a.decided_by == DecidedBy::Compiler {
        true => line.plain("  static assertion  "),
        false => line.plain(&format!("  {}()  {}  ", visible(&a.function), a.kind.words())),
    };
    line.paint(slot, &visible(&a.text));
    let at = a.outcome.keys().rev().find_map(|v| a.lines.get(v));
    if let Some(at) = at.or(a.lines.values().next_back()) {
        line.plain(&format!("  line {at}"));
    }
    for remark in remarks(view.report, options, a, judgement) {
        line.paint(Slot::Status, &format!("  {}", visible(&remark)));
    }
    line.write(out)?;
    if options.verbose && !a.id.is_empty() {
        writeln!(out, "      id           {}", options.palette.paint(Slot::Status, visible(&a.id)))?;
    }
    let settled = a.settled_by.get(&newest(view.report)).filter(|_| options.verbose);
    if let Some(by) = settled {
        writeln!(out, "      settled by   {}", options.palette.paint(Slot::Status, by.words()))?;
    }
    if !a.unchecked.difference.is_empty()
        && judgement == Judgement::Undecided
        && !a.is_open_before(newest(view.report))
    {
        let clauses: Vec<_> = a.unchecked.difference.iter().map(visible).collect();
        writeln!(out, "      left to check  {}", clauses.join("; "))?;
    }
    match a.example(newest(view.report)) {
        Some(witness) if judgement != Judgement::Preexisting || options.verbose => {
            example(view, a, witness, out)
        }
        _ => Ok(()),
    }
}

/// Why an assertion, or an end of the program, does not stop what it stopped before.
pub(super) fn overtaken(a: &Assertion) -> &'static str {
    if a.kind.is_safety() { "abort() came before it" } else { "something undefined comes before it" }
}

/// What there is to say of a property beside what it is, in a few words each.
pub fn remarks(report: &Report, options: &TextOptions, a: &Assertion, judgement: Judgement) -> Vec<String> {
    let whose = match a.violation {
        Some(Violation::Regression) if a.decided_by == DecidedBy::Compiler => Some("it does not compile"),
        Some(Violation::NonconformingFeature) => Some("what changed does not meet it"),
        Some(Violation::BadPropertyUpdate) => Some("what did not change does not meet it"),
        _ => None,
    };
    let goes_on = a.guarded.as_ref().map(|_| "what it stopped goes on");
    let too_late = goes_on.filter(|_| judgement == Judgement::Overtaken).map(|_| overtaken(a));
    let why = why_open(a, judgement, newest(report)).or(too_late).or(goes_on);
    let is_weakened = a.is_weakened(newest(report));
    let why_left_alone = options.left_alone.get(&a.id).and_then(|why| match why.reason() {
        Some(reason) => Some(format!("suppressed: {reason}")),
        None => (judgement == Judgement::Regression).then(|| "not blocked".to_owned()),
    });
    let left_alone = why_left_alone.filter(|_| judgement == Judgement::Regression || is_weakened);
    let why = why.filter(|_| !is_weakened).map(str::to_owned);
    whose
        .map(str::to_owned)
        .into_iter()
        .chain(said_before(a, judgement))
        .chain(why)
        .chain(a.held())
        .chain(left_alone)
        .collect()
}

/// What a property said before the change, and what became of that.
fn said_before(a: &Assertion, judgement: Judgement) -> Option<String> {
    let weakened = a.weakened.as_ref()?;
    let was = shortened(&weakened.text, WAS);
    Some(match (weakened.needed, judgement) {
        (Needed::Yes, Judgement::Removed) => "the new code breaks it".to_owned(),
        (Needed::Yes, _) if a.matched == AssertionMatch::Removed => "dropped".to_owned(),
        (Needed::Yes, _) => format!("was {was}"),
        (Needed::No, _) => format!("was {was}, which is kept, too"),
        (Needed::FailedBefore, _) => format!("was {was}, which failed before, too"),
        (Needed::Unknown, _) => format!("was {was}; whether the new code breaks that is not known"),
    })
}

/// The input of a counterexample, and what both versions do on it.
fn example(view: &View, a: &Assertion, witness: &Witness, out: &mut dyn Write) -> io::Result<()> {
    let width = view.options.width;
    let room = width.saturating_sub(30).max(40);
    let input = shortened(&input_text(witness, &a.function), room);
    let input = if input.is_empty() { "any input".to_owned() } else { input };
    let mut line = view.line();
    line.plain("      for example  ").plain(&input);
    line.pad_to(width.saturating_sub(10)).paint(Slot::Status, "  replayed").write(out)?;
    let (old, new) = ends(a, witness, newest(view.report), room);
    writeln!(out, "      before       {old}")?;
    writeln!(out, "      after        {new}")
}

/// What both versions do on the input of a counterexample; texts of the program have so much room.
pub fn ends(a: &Assertion, witness: &Witness, newest: Version, room: usize) -> (String, String) {
    let end = |run: &Run, line: Option<&u32>| match (fails_here(run), line) {
        (true, Some(line)) => format!("fails at line {line}"),
        _ => ending(run, room),
    };
    if let Some(weakened) = a.weakened.as_ref().filter(|_| a.is_weakened(newest)) {
        let new = match a.kind {
            AssertionKind::Assertion => {
                let at = a.lines.get(&newest).map(|line| format!(" at line {line}"));
                let before = weakened.before.map(|line| format!(" before line {line}"));
                let at = before.or(at).unwrap_or_default();
                format!("would fail {}{at}", shortened(&visible(&weakened.text), room))
            }
            _ => ending(&witness.new, room),
        };
        return (ending(&witness.old, room), new);
    }
    let failing = a.outcome.iter().rev().find(|(_, o)| **o == AssertionOutcome::Fail).map(|(v, _)| v);
    let at = failing.and_then(|v| a.lines.get(v));
    if a.guarded.is_some() {
        return (end(&witness.old, at), ending(&witness.new, room));
    }
    (end(&witness.old, None), end(&witness.new, at))
}

fn fails_here(run: &Run) -> bool {
    run.end == crate::witness::End::Abort
}

/// What is known of a property that is open.
fn why_open(a: &Assertion, judgement: Judgement, newest: Version) -> Option<&'static str> {
    if judgement != Judgement::Undecided || a.is_open_before(newest) {
        return None;
    }
    let before = a.outcome.iter().find(|(v, _)| **v < newest).map(|(_, o)| *o);
    Some(match (before, a.outcome.get(&newest)) {
        (_, Some(AssertionOutcome::Fail)) => "fails, but no input was replayed in both versions",
        (Some(AssertionOutcome::NotFail), _) => "no longer provable",
        (Some(AssertionOutcome::Fail), _) => "failed before",
        (Some(AssertionOutcome::Unknown), _) => "not provable before either",
        (None, _) => "not provable",
    })
}

/// The words that name the same versions again, with a blank before them.
fn range(report: &Report) -> String {
    let id = |v: &VersionInfo| v.commit.as_ref().map(|c| c.get(..12).unwrap_or(c).to_owned());
    match (report.versions.first(), report.versions.last()) {
        (Some(old), Some(new)) => match (id(old), id(new)) {
            (Some(old), Some(new)) => format!(" {old}..{new}"),
            // What comes before a root commit has no name.
            (None, Some(new)) => format!(" {new}^!"),
            _ if new.name == "INDEX" => " --staged".into(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// The line that counts.
pub fn summary(report: &Report, options: &TextOptions) -> String {
    let newest = newest(report);
    let count = |judgement| report.assertions.iter().filter(|a| a.judgement(newest) == judgement).count();
    let broken = count(Judgement::Regression);
    let known = |a: &&Assertion| options.left_alone.get(&a.id).is_some_and(|why| why.reason().is_some());
    let suppressed = report.assertions.iter().filter(|a| a.judgement(newest) == Judgement::Regression);
    let suppressed = match suppressed.filter(known).count() {
        0 => String::new(),
        n => format!(" ({n} suppressed)"),
    };
    let mut parts = vec![match broken {
        0 => "no regression".to_owned(),
        n => counted(n, "regression") + &suppressed,
    }];
    for (judgement, words) in [
        (Judgement::BrokenFromTheStart, "new or changed that does not hold"),
        (Judgement::Weakened, "weakened"),
        (Judgement::Fixed, "fixed"),
        (Judgement::Undecided, "undecided"),
        (Judgement::Removed, "removed"),
        (Judgement::CompiledOut, "compiled out"),
        (Judgement::Overtaken, "too late"),
        (Judgement::Possible, "possible"),
        (Judgement::Preexisting, "broken before, too"),
        (Judgement::Kept, "kept"),
    ] {
        match count(judgement) {
            0 => {}
            n if n > 1 && judgement == Judgement::BrokenFromTheStart => {
                parts.push(format!("{n} new or changed that do not hold"));
            }
            n => parts.push(format!("{n} {words}")),
        }
    }
    let changed = |o: FunctionStatus| {
        matches!(o, FunctionStatus::Analysed | FunctionStatus::PartlyAnalysed | FunctionStatus::NotAnalysed)
    };
    let functions: BTreeSet<(&RepoPath, &String)> =
        report.functions.iter().filter(|f| changed(f.outcome)).map(|f| (&f.file, &f.name)).collect();
    let mut line = parts.join(", ");
    let unseen = unseen::of_hunks(report);
    line.push_str(&match functions.len() {
        0 if unseen.is_some() => "; no changed function was found".to_owned(),
        0 => "; no function changed".to_owned(),
        n => format!("; {} looked at", counted(n, "changed function")),
    });
    let open = report
        .functions
        .iter()
        .filter(|f| matches!(f.outcome, FunctionStatus::PartlyAnalysed | FunctionStatus::NotAnalysed))
        .count();
    if open > 0 {
        let see = match options.verbose {
            true => String::new(),
            false => format!(" ('git invdiff -v{}' says why)", range(report)),
        };
        line.push_str(&format!("; {} not fully analysed{see}", counted(open, "function")));
    }
    if !report.notices.is_empty() {
        line.push_str(&format!("; {} above", counted(report.notices.len(), "note")));
    }
    if let Some(hunks) = unseen {
        let see = match options.verbose {
            true => String::new(),
            false => format!(" ('git invdiff{}' lists them)", range(report)),
        };
        line.push_str(&format!("; not looked at: {hunks}{see}"));
    }
    line
}
