//! Accounting of source hunks: what became of every changed line (design D10).

use super::classes::Analysed;
use super::lineage::{Lineage, VersionFiles};
use super::units::{is_header, is_source};
use super::{FileChange, Hunk, Request};
use crate::report::{HunkReport, RepoPath, Report, Verdict};
use std::path::Path;

/// Gives every hunk of the range its verdict.
pub fn account(
    report: &mut Report,
    request: &Request,
    files: &[VersionFiles],
    lineages: &[Lineage],
    analysed: &[Analysed],
) {
    let mut hunks = Vec::new();
    for (i, changes) in request.changes.iter().enumerate() {
        for change in changes {
            let Some(path) = change.new_path.as_ref().or(change.old_path.as_ref()) else { continue };
            for hunk in &change.hunks {
                let (verdict, why) = judge(report, files, lineages, analysed, i, change, hunk);
                hunks.push(HunkReport {
                    from: i as u32 + 1,
                    to: i as u32 + 2,
                    file: RepoPath::from(path.as_path()),
                    old_start: hunk.old_start,
                    old_lines: hunk.old_lines,
                    new_start: hunk.new_start,
                    new_lines: hunk.new_lines,
                    verdict,
                    why,
                });
            }
        }
    }
    report.hunks = hunks;
}

fn judge(
    report: &Report,
    files: &[VersionFiles],
    lineages: &[Lineage],
    analysed: &[Analysed],
    pair: usize,
    change: &FileChange,
    hunk: &Hunk,
) -> (Verdict, Option<String>) {
    let not = |why: &str| (Verdict::NotAnalysed, Some(why.to_owned()));
    let path = change.new_path.as_deref().or(change.old_path.as_deref()).unwrap_or(Path::new(""));
    if change.binary || !(is_source(path) || is_header(path)) {
        return not("not-c");
    }
    if explained(report, pair, path, hunk) {
        return (Verdict::Explained, None);
    }
    if is_header(path) {
        return not("header");
    }
    for (side, wanted) in [(pair, change.old_path.as_deref()), (pair + 1, change.new_path.as_deref())] {
        let file = files[side].iter().flatten().find(|(p, _)| Some(p.as_path()) == wanted);
        if let Some((_, Err(why))) = file {
            return not(&format!("limit:{why}"));
        }
    }
    // Every line of the hunk must lie in functions that were analysed to the end, or did not change.
    let covered = |version: usize, path: Option<&Path>, start: u32, lines: u32| {
        (start..start + lines).all(|line| line_is_covered(lineages, analysed, pair, version, path, line))
    };
    if covered(pair, change.old_path.as_deref(), hunk.old_start, hunk.old_lines)
        && covered(pair + 1, change.new_path.as_deref(), hunk.new_start, hunk.new_lines)
    {
        return (Verdict::Neutral, None);
    }
    not("global")
}

fn explained(report: &Report, pair: usize, path: &Path, hunk: &Hunk) -> bool {
    let file = RepoPath::from(path);
    let points = report.functions.iter().flat_map(|f| &f.points);
    points.flat_map(|p| &p.churns).filter(|c| c.from as usize == pair + 1).any(|c| {
        c.hunks
            .iter()
            .any(|h| h.file == file && (h.old_start, h.new_start) == (hunk.old_start, hunk.new_start))
    })
}

fn line_is_covered(
    lineages: &[Lineage],
    analysed: &[Analysed],
    pair: usize,
    version: usize,
    path: Option<&Path>,
    line: u32,
) -> bool {
    lineages.iter().zip(analysed).any(|(l, a)| {
        let Some(m) = &l.members[version] else { return false };
        if Some(m.file.as_path()) != path || line < m.function.span.line || line > m.function.span.end_line {
            return false;
        }
        let same = a.class_of[pair].is_some() && a.class_of[pair] == a.class_of[pair + 1];
        same || a.diff.as_ref().is_some_and(|d| d.undecided.is_empty())
    })
}
