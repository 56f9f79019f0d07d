//! What of a range was not looked at, for the last line of every command, for programs and for hooks.
//!
//! A hunk of which a change is told, and something else is not known, was looked at *in part*.
//!
//! Text that is not C is what one expects beside C, and what a filter leaves out was asked for: neither is
//! worth a word.

use super::model::{ChangeVerdict, FunctionStatus, HunkRef, HunkReport, HunkVerdict, Report};
use super::path::RepoPath;
use super::text::{counted, why_text};
use std::collections::BTreeSet;

/// Why a hunk of C counts as looked at for a person: nothing else in the range depends on what it declares.
const DECLARED: [&str; 4] = ["prototype", "layout", "macro", "global"];

/// What of C text nothing looked at, and nobody left out on purpose.
fn hunks(report: &Report) -> impl Iterator<Item = &HunkReport> {
    report.hunks.iter().filter(|h| h.verdict == HunkVerdict::NotAnalysed && counts(h.why.as_deref()))
}

fn counts(why: Option<&str>) -> bool {
    !matches!(why, Some("not-c" | "filtered"))
}

/// Whether something is told of a hunk of which not everything is known.
pub fn is_in_part(report: &Report, hunk: &HunkReport) -> bool {
    let is_it = |h: &HunkRef| {
        h.file == hunk.file
            && (h.old_start, h.old_lines) == (hunk.old_start, hunk.old_lines)
            && (h.new_start, h.new_lines) == (hunk.new_start, hunk.new_lines)
    };
    let changes = report.functions.iter().flat_map(|f| &f.changes);
    let changes = changes.map(|c| (c.from, c.verdict, &c.hunks));
    let mut told = changes.chain(report.objects.iter().map(|o| (o.from, o.verdict, &o.hunks)));
    // What no parser could place was not looked at, whatever it was taken for.
    hunk.verdict == HunkVerdict::NotAnalysed
        && hunk.why.as_deref() != Some("unparsed")
        && told.any(|(from, verdict, hunks)| {
            verdict == ChangeVerdict::Differs && from == hunk.from && hunks.iter().any(is_it)
        })
}

/// Says which hunks were not looked at, or in part: `2 hunks (inactive preprocessor branch, prototype)`.
pub fn of_hunks(report: &Report) -> Option<String> {
    of_hunks_in(report, |_| true)
}

/// As [`of_hunks`], of those in some files.
pub fn of_hunks_in(report: &Report, is_wanted: impl Fn(&RepoPath) -> bool) -> Option<String> {
    let (open, unlooked): (Vec<&HunkReport>, Vec<&HunkReport>) =
        hunks(report).filter(|h| is_wanted(&h.file)).partition(|h| is_in_part(report, h));
    let all: Vec<String> = words(unlooked.into_iter()).into_iter().chain(in_part(&open)).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The same for the line that counts all hunks, which says of none that it was not looked at if something is told
/// of it: those that were not looked at, and those that were in part.
pub fn of_all_hunks(report: &Report) -> [Option<String>; 2] {
    let (open, unlooked): (Vec<&HunkReport>, Vec<&HunkReport>) =
        hunks(report).partition(|h| is_in_part(report, h));
    [words(unlooked.into_iter()), in_part(&open)]
}

/// `1 hunk in part (open: a loop of its own)`.
fn in_part(hunks: &[&HunkReport]) -> Option<String> {
    let text = words(hunks.iter().copied())?;
    let (count, reasons) = text.split_once(" (")?;
    Some(format!("{count} in part ({reasons}"))
}

/// As [`of_hunks`], of these.
pub fn words<'r>(hunks: impl Iterator<Item = &'r HunkReport>) -> Option<String> {
    let (mut count, mut reasons) = (0, BTreeSet::new());
    for hunk in hunks {
        count += 1;
        reasons.insert(why_text(hunk.why.as_deref()));
    }
    let reasons = reasons.into_iter().collect::<Vec<_>>().join(", ");
    (count > 0).then(|| format!("{} ({reasons})", counted(count, "hunk")))
}

/// Lists what was not looked at, a piece each: hunks, functions, what limits left out.
pub fn pieces(report: &Report) -> Vec<String> {
    let functions =
        |outcome: FunctionStatus| report.functions.iter().filter(|f| f.outcome == outcome).count();
    let counts = [(FunctionStatus::PartlyAnalysed, "in part"), (FunctionStatus::NotAnalysed, "not at all")];
    let functions = counts.into_iter().map(|(outcome, how)| (functions(outcome), how));
    let functions =
        functions.filter(|(n, _)| *n > 0).map(|(n, how)| format!("{} {how}", counted(n, "function")));
    let notices = report.notices.iter().map(|n| n.trim_start_matches("note: ").to_owned());
    of_hunks(report).into_iter().chain(functions).chain(notices).collect()
}

/// Whether nothing was left out.
pub fn is_nothing(report: &Report) -> bool {
    hunks(report).next().is_none() && report.notices.is_empty() && report.functions.iter().all(|f| f.complete)
}

/// What a hook warns of: text whose meaning nobody knows. Declarations that nothing which was looked at
/// depends on, and what the project excludes, are in every other commit.
pub fn worth_a_warning(report: &Report) -> Option<String> {
    let is_open = |h: &&HunkReport| {
        let why = h.why.as_deref().unwrap_or_default();
        !DECLARED.contains(&why)
            && !why.starts_with("excluded:")
            && why != "undecided"
            && !why.starts_with("open:")
    };
    let functions = report
        .functions
        .iter()
        .filter(|f| matches!(f.outcome, FunctionStatus::PartlyAnalysed | FunctionStatus::NotAnalysed));
    let functions = match functions.count() {
        0 => None,
        n => Some(format!("{} in part", counted(n, "function"))),
    };
    let all: Vec<String> = words(hunks(report).filter(is_open)).into_iter().chain(functions).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, FunctionReport};

    #[track_caller]
    fn check(whys: &[&str], outcomes: &[FunctionStatus], expected: &[&str], warned: Option<&str>) {
        let hunk = |why: &&str| HunkReport { why: Some((*why).to_owned()), ..HunkReport::default() };
        let function = |o: &FunctionStatus| FunctionReport {
            outcome: *o,
            complete: *o == FunctionStatus::Analysed,
            ..FunctionReport::default()
        };
        let report = Report {
            hunks: whys.iter().map(hunk).collect(),
            functions: outcomes.iter().map(function).collect(),
            ..Report::default()
        };
        assert_eq!(pieces(&report), expected);
        assert_eq!(worth_a_warning(&report).as_deref(), warned);
        assert_eq!(is_nothing(&report), expected.is_empty());
    }

    #[test]
    fn what_is_told_of_was_looked_at_in_part() {
        let place = HunkRef { old_start: 3, old_lines: 1, new_start: 3, new_lines: 2, ..HunkRef::default() };
        let open = |start: u32| HunkReport {
            from: 1,
            old_start: start,
            old_lines: 1,
            new_start: start,
            new_lines: 2,
            verdict: HunkVerdict::NotAnalysed,
            why: Some("open:a loop of its own".to_owned()),
            ..HunkReport::default()
        };
        let of = |verdict: ChangeVerdict, from: u32| {
            let told = Change { from, verdict, hunks: vec![place.clone()], ..Change::default() };
            let f = FunctionReport { changes: vec![told], complete: true, ..FunctionReport::default() };
            Report { hunks: vec![open(3), open(9)], functions: vec![f], ..Report::default() }
        };
        let report = of(ChangeVerdict::Differs, 1);
        let words = "1 hunk (open: a loop of its own)";
        let part = "1 hunk in part (open: a loop of its own)";
        assert_eq!(of_all_hunks(&report), [Some(words.to_owned()), Some(part.to_owned())]);
        assert_eq!(of_hunks(&report), Some(format!("{words}, {part}")));
        assert!(!is_nothing(&report));
        // Of another step, or of which nothing is told.
        for report in [of(ChangeVerdict::Differs, 2), of(ChangeVerdict::Open, 1)] {
            let both = "2 hunks (open: a loop of its own)".to_owned();
            assert_eq!(of_all_hunks(&report), [Some(both), None]);
        }
    }

    #[test]
    fn what_was_not_looked_at() {
        check(&[], &[FunctionStatus::Analysed], &[], None);
        check(&["not-c", "filtered"], &[], &[], None);
        check(&["prototype"], &[], &["1 hunk (prototype)"], None);
        let both = "2 hunks (inactive preprocessor branch, text that the parser could not place)";
        check(&["unparsed", "inactive-branch"], &[], &[both], Some(both));
        check(&[], &[FunctionStatus::PartlyAnalysed], &["1 function in part"], Some("1 function in part"));
    }
}
