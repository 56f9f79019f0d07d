//! Accounting of source hunks: what became of every changed line (design D10).
//!
//! A hunk is explained when a churn names it or when it makes or removes a function; neutral when all
//! of its lines lie where nothing changes what a program does, or in functions that were analysed to
//! the end without a churn; otherwise it was not analysed, and the reason is that of its first line
//! that was not.

use super::classes::Analysed;
use super::lineage::{Lineage, VersionFiles};
use super::units::{is_header, is_source};
use super::{FileChange, Hunk, Request};
use crate::frontend::c::lines::LineKind;
use crate::frontend::line_kinds;
use crate::report::{HunkReport, RepoPath, Report, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Gives every hunk of the range its verdict.
pub fn account(
    report: &mut Report,
    request: &Request,
    files: &[VersionFiles],
    lineages: &[Lineage],
    analysed: &[Analysed],
) {
    let mut judge = Judge { request, files, lineages, analysed, kinds: BTreeMap::new() };
    let mut hunks = Vec::new();
    for (i, changes) in request.changes.iter().enumerate() {
        for change in changes {
            let Some(path) = change.new_path.as_ref().or(change.old_path.as_ref()) else { continue };
            for hunk in &change.hunks {
                let (verdict, why) = judge.hunk(report, i, change, hunk);
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

/// What is known of one line.
enum Line {
    /// Makes or removes a function.
    Explained,
    Neutral,
    Not(String),
}

struct Judge<'a> {
    request: &'a Request,
    files: &'a [VersionFiles],
    lineages: &'a [Lineage],
    analysed: &'a [Analysed],
    /// By version and path.
    kinds: BTreeMap<(usize, PathBuf), Option<Vec<LineKind>>>,
}

impl Judge<'_> {
    fn hunk(
        &mut self,
        report: &Report,
        pair: usize,
        change: &FileChange,
        hunk: &Hunk,
    ) -> (Verdict, Option<String>) {
        let path = change.new_path.as_deref().or(change.old_path.as_deref()).unwrap_or(Path::new(""));
        if change.binary || !(is_source(path) || is_header(path)) {
            return (Verdict::NotAnalysed, Some("not-c".into()));
        }
        if explained(report, pair, path, hunk) {
            return (Verdict::Explained, None);
        }
        let mut explained = false;
        let sides = [
            (pair, change.old_path.as_deref(), hunk.old_start, hunk.old_lines),
            (pair + 1, change.new_path.as_deref(), hunk.new_start, hunk.new_lines),
        ];
        for (version, path, start, lines) in sides {
            let Some(path) = path else { continue };
            for line in start..start.saturating_add(lines) {
                match self.line(pair, version, path, line) {
                    Line::Neutral => {}
                    Line::Explained => explained = true,
                    Line::Not(why) => return (Verdict::NotAnalysed, Some(why)),
                }
            }
        }
        (if explained { Verdict::Explained } else { Verdict::Neutral }, None)
    }

    fn line(&mut self, pair: usize, version: usize, path: &Path, line: u32) -> Line {
        let file = self.files[version].iter().flatten().find(|(p, _)| p == path);
        if let Some((_, Err(why))) = file {
            return Line::Not(format!("limit:{why}"));
        }
        let key = (version, path.to_path_buf());
        let tree = &self.request.versions[version].tree;
        let options = &self.request.options;
        let kinds = self.kinds.entry(key).or_insert_with(|| line_kinds(&**tree, path, options));
        let Some(kind) = kinds.as_ref().and_then(|k| k.get(line as usize - 1)) else {
            return Line::Not("unparsed".into());
        };
        match kind {
            LineKind::Blank => Line::Neutral,
            LineKind::Inactive => Line::Not("inactive-branch".into()),
            LineKind::Global(_) => Line::Not("global".into()),
            LineKind::Prototype(_) => Line::Not("prototype".into()),
            LineKind::Type(_) => Line::Not("layout".into()),
            LineKind::Other => Line::Not("unparsed".into()),
            // What a header defines reaches functions of many units; none is accounted to it.
            _ if is_header(path) => Line::Not("header".into()),
            LineKind::Directive => self.whole_file(pair, version, path),
            LineKind::Function(_) => self.function(pair, version, path, line),
        }
    }

    /// A macro or include changes what functions of the file are: all of them must be settled.
    fn whole_file(&self, pair: usize, version: usize, path: &Path) -> Line {
        let here = |l: &&Lineage| l.members[version].as_ref().is_some_and(|m| m.file == path);
        let settled = self
            .lineages
            .iter()
            .zip(self.analysed)
            .filter(|(l, _)| here(l))
            .all(|(_, a)| is_settled(a, pair));
        if settled { Line::Neutral } else { Line::Not("macro".into()) }
    }

    fn function(&self, pair: usize, version: usize, path: &Path, line: u32) -> Line {
        let found = self.lineages.iter().zip(self.analysed).find(|(l, _)| {
            l.members[version].as_ref().is_some_and(|m| {
                m.file == path && (m.function.span.line..=m.function.span.end_line).contains(&line)
            })
        });
        match found {
            None => Line::Not("lost".into()),
            Some((_, a)) if a.class_of[pair].is_none() || a.class_of[pair + 1].is_none() => Line::Explained,
            Some((_, a)) if is_settled(a, pair) => Line::Neutral,
            Some(_) => Line::Not("undecided".into()),
        }
    }
}

/// Whether nothing about a function stayed open between two versions.
fn is_settled(a: &Analysed, pair: usize) -> bool {
    a.class_of[pair] == a.class_of[pair + 1] || a.diff.as_ref().is_some_and(|d| d.is_decided())
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
