//! The source beside a function's changes and churns: what changed in it, what the churns rest on, and some context.

use super::View;
use super::markup::Html;
use crate::model::{HunkRef, HunkReport, LineRef, Version};
use crate::steps::{Changed, Step};
use crate::{RepoPath, text};
use std::collections::{BTreeMap, BTreeSet};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Lines of one hunk, beside those that are causes.
const HUNK_LINES: usize = 60;
/// A gap of so many lines is filled.
const SMALL_GAP: usize = 3;
/// Unchanged lines that churns rest on, outside the function, are shown so near to a change.
const NEAR: usize = 8;
/// Unchanged lines that churns rest on, of one file.
const SHARED_LINES: usize = 40;
/// Columns between tab stops.
const TAB: usize = 4;

/// Lines of the files that matter to one function in one step.
pub struct Excerpt {
    files: Vec<FileExcerpt>,
    /// Names the excerpt within the page.
    article: String,
}

struct FileExcerpt {
    old_path: RepoPath,
    new_path: RepoPath,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
enum Row {
    /// So many lines are not shown.
    Gap(usize),
    Line(Line),
}

/// A line of the old file, of the new one, or of both.
#[derive(Clone, Debug, Default, PartialEq)]
struct Line {
    old: Option<u32>,
    new: Option<u32>,
    text: String,
    /// Where the text differs from the line that takes its place, in characters.
    differs: Option<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiffSide {
    Old,
    New,
}

/// What is wanted of one file.
#[derive(Default)]
struct Wanted {
    /// By number in the old or the new file.
    causes: BTreeSet<(bool, u32)>,
    shared: BTreeSet<u32>,
}

impl Excerpt {
    pub fn new(view: &View, step: &Step, changed: &Changed, article: &str) -> Excerpt {
        let mut files: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
        let place = changed.function.identity.versions.get(&step.to);
        let own = place.map_or(&changed.function.file, |place| &place.file).clone();
        files.entry(own.clone()).or_default();
        let old_path_of = |new: &RepoPath| old_path(view, step.from, step.to, new);
        for hunk in hunks_of(changed) {
            files.entry(hunk.file.clone()).or_default();
        }
        for churn in changed.churns() {
            let causes = &churn.causes;
            let mut note = |line: &LineRef, is_old: bool| {
                let of_own = is_old && line.file == old_path_of(&own);
                let file = if of_own { own.clone() } else { line.file.clone() };
                files.entry(file).or_default().causes.insert((is_old, line.line));
            };
            causes.removed.iter().for_each(|line| note(line, true));
            causes.added.iter().for_each(|line| note(line, false));
            for line in &causes.shared {
                files.entry(line.file.clone()).or_default().shared.insert(line.line);
            }
        }
        let first = files.remove_entry(&own);
        let excerpt = |(new_path, wanted): (RepoPath, Wanted)| {
            let old_path = old_path_of(&new_path);
            let rows = rows(view, step, changed, (&old_path, &new_path), &wanted);
            FileExcerpt { old_path, new_path, rows }
        };
        let files = first.into_iter().chain(files).map(excerpt).filter(|f| !f.rows.is_empty());
        Excerpt { files: files.collect(), article: article.to_owned() }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether some of a hunk's lines are shown.
    pub fn shows(&self, hunk: &HunkReport) -> bool {
        let within = |line: Option<u32>, start: u32, lines: u32| {
            line.is_some_and(|line| line >= start && line - start < lines)
        };
        let is_of_hunk = |row: &Row| match row {
            Row::Line(Line { old: None, new, .. }) => within(*new, hunk.new_start, hunk.new_lines),
            Row::Line(Line { old, new: None, .. }) => within(*old, hunk.old_start, hunk.old_lines),
            _ => false,
        };
        self.files.iter().any(|f| f.new_path == hunk.file && f.rows.iter().any(is_of_hunk))
    }

    /// The id of a line, if it is shown.
    pub fn id_of(&self, side: DiffSide, file: &RepoPath, line: u32) -> Option<String> {
        let is_it = |l: &Line| match side {
            DiffSide::Old => l.old == Some(line),
            DiffSide::New => l.new == Some(line),
        };
        let (number, _) = self.files.iter().enumerate().find(|(_, f)| {
            let path = if side == DiffSide::Old { &f.old_path } else { &f.new_path };
            path == file && f.rows.iter().any(|row| matches!(row, Row::Line(l) if is_it(l)))
        })?;
        // A line of both is known by its new number.
        Some(id(&self.article, side, number, line))
    }

    pub fn write(&self, html: &mut Html) {
        for (number, file) in self.files.iter().enumerate() {
            html.open("figure", &[("class", "source")]);
            let name = match file.old_path == file.new_path {
                true => file.new_path.to_string(),
                false => format!("{} → {}", file.old_path, file.new_path),
            };
            html.leaf("figcaption", &[], &name);
            html.markup("<table><tbody>");
            for row in &file.rows {
                match row {
                    Row::Gap(lines) => gap(*lines, html),
                    Row::Line(line) => line.write(Some((&self.article, number)), html),
                }
            }
            html.markup("</tbody></table>");
            html.close("figure");
        }
    }
}

/// Writes the lines of one hunk.
pub fn write_hunk(view: &View, hunk: &HunkReport, html: &mut Html) {
    let old_path = old_path(view, hunk.from, hunk.to, &hunk.file);
    let (old, new) = (view.lines(hunk.from, &old_path), view.lines(hunk.to, &hunk.file));
    let hunks = hunks_between(view, hunk.from, hunk.to, &hunk.file);
    let number = hunks.iter().position(|h| std::ptr::eq(*h, hunk));
    let placed = aligned(&hunks, &old, &new);
    let is_of_hunk = |p: &Placed| p.hunk.is_some() && p.hunk == number;
    let Some(first) = placed.iter().position(is_of_hunk) else { return };
    let changed = placed.iter().filter(|p| is_of_hunk(p)).count();
    let shown = changed.min(HUNK_LINES);
    let last = first + shown + if shown < changed { 0 } else { CONTEXT };
    html.markup("<div class=\"source\"><table><tbody>");
    let lines = placed.iter().take(last).skip(first.saturating_sub(CONTEXT));
    lines.for_each(|p| p.line.write(None, html));
    if shown < changed {
        gap(changed - shown, html);
    }
    html.markup("</tbody></table></div>");
}

fn gap(lines: usize, html: &mut Html) {
    html.markup("<tr class=\"gap\"><td colspan=\"4\">");
    html.text(&format!("⋯ {}", text::counted(lines, "line")));
    html.markup("</td></tr>");
}

fn id(article: &str, side: DiffSide, file: usize, line: u32) -> String {
    let side = if side == DiffSide::Old { "o" } else { "n" };
    format!("{article}{side}{file}-{line}")
}

impl Line {
    /// Writes a row, named after the excerpt and the file that it is of.
    fn write(&self, named: Option<(&str, usize)>, html: &mut Html) {
        let (class, sign, side, number) = match (self.old, self.new) {
            (Some(old), None) => ("old", "−", DiffSide::Old, old),
            (_, Some(new)) if self.old.is_none() => ("new", "+", DiffSide::New, new),
            (_, new) => ("same", " ", DiffSide::New, new.unwrap_or_default()),
        };
        let number_text = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
        let id = named.map(|(article, file)| id(article, side, file, number)).unwrap_or_default();
        let attributes = [("class", class), ("id", id.as_str())];
        html.open("tr", if id.is_empty() { &attributes[..1] } else { &attributes });
        html.leaf("td", &[("class", "no")], &number_text(self.old));
        html.leaf("td", &[("class", "no")], &number_text(self.new));
        html.leaf("td", &[("class", "sign")], sign);
        html.markup("<td class=\"code\">");
        marked(&self.text, self.differs, html);
        html.markup("</td></tr>");
    }
}

/// The hunks that a function's changes and churns name.
fn hunks_of<'a>(changed: &'a Changed) -> impl Iterator<Item = &'a HunkRef> {
    let of_changes = changed.changes.iter().flat_map(|c| &c.hunks);
    of_changes.chain(changed.churns().flat_map(|c| &c.hunks))
}

/// The hunks of a file between two versions, in order.
fn hunks_between<'a>(view: &View<'a>, from: Version, to: Version, file: &RepoPath) -> Vec<&'a HunkReport> {
    let is_here = |h: &&HunkReport| (h.from, h.to) == (from, to) && h.file == *file;
    let mut hunks: Vec<&HunkReport> = view.report.hunks.iter().filter(is_here).collect();
    hunks.sort_by_key(|h| (h.new_start, h.old_start));
    hunks
}

/// What a file was called in an older version, as far as functions that went along tell.
pub fn old_path(view: &View, from: Version, to: Version, file: &RepoPath) -> RepoPath {
    if !view.lines(from, file).is_empty() {
        return file.clone();
    }
    let was = view.report.functions.iter().find_map(|f| {
        let places = &f.identity.versions;
        places.get(&to).filter(|p| p.file == *file).and(places.get(&from))
    });
    was.map_or(file, |place| &place.file).clone()
}

/// A line, with the hunk that it is of.
struct Placed {
    hunk: Option<usize>,
    line: Line,
}

fn rows(
    view: &View,
    step: &Step,
    changed: &Changed,
    (old_path, new_path): (&RepoPath, &RepoPath),
    wanted: &Wanted,
) -> Vec<Row> {
    let hunks = hunks_between(view, step.from, step.to, new_path);
    let lines = aligned(&hunks, &view.lines(step.from, old_path), &view.lines(step.to, new_path));
    let body = |version: Version, path: &RepoPath| {
        let extents = view.extents(changed.function)?;
        extents.get(&version).filter(|e| e.file == *path).map(|e| (e.first, e.last))
    };
    let (old_body, new_body) = (body(step.from, old_path), body(step.to, new_path));
    let is_chosen = |hunk: &&HunkReport| {
        let within = |body: Option<(u32, u32)>, start: u32, lines: u32| {
            body.is_some_and(|(first, last)| {
                lines > 0 && start <= last && start.saturating_add(lines) > first
            })
        };
        within(old_body, hunk.old_start, hunk.old_lines)
            || within(new_body, hunk.new_start, hunk.new_lines)
            || hunks_of(changed).any(|h| *h == hunk.place())
    };
    let chosen: Vec<bool> = hunks.iter().map(is_chosen).collect();
    let mut shown = vec![0; hunks.len()];
    let mut keep = vec![false; lines.len()];
    for (k, Placed { hunk, line }) in lines.iter().enumerate() {
        let is_old = line.new.is_none();
        let number = if is_old { line.old } else { line.new };
        let mut is_change = number.is_some_and(|n| wanted.causes.contains(&(is_old, n)));
        if let Some(hunk) = hunk.filter(|h| chosen[*h]) {
            shown[hunk] += 1;
            is_change |= shown[hunk] <= HUNK_LINES;
        }
        if is_change {
            let last = (k + CONTEXT).min(lines.len() - 1);
            keep[k.saturating_sub(CONTEXT)..=last].fill(true);
        }
    }
    let near: Vec<bool> = (0..keep.len())
        .map(|k| keep[k.saturating_sub(NEAR)..(k + NEAR).min(keep.len())].contains(&true))
        .collect();
    let has_change = keep.contains(&true);
    let mut shared = 0;
    for (k, line) in lines.iter().enumerate().filter_map(|(k, placed)| Some((k, placed.line.new?))) {
        let inside = new_body.is_some_and(|(first, last)| (first..=last).contains(&line));
        let rests =
            wanted.shared.contains(&line) && (inside || near[k] || !has_change) && shared < SHARED_LINES;
        shared += usize::from(rests);
        keep[k] |= rests || new_body.is_some_and(|(first, _)| first == line);
    }
    shown_rows(lines.into_iter().map(|placed| placed.line).zip(keep))
}

/// What is kept, with gaps between; a few lines are shown rather than counted.
fn shown_rows(lines: impl Iterator<Item = (Line, bool)>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut skipped: Vec<Line> = Vec::new();
    for (line, keep) in lines {
        if !keep {
            skipped.push(line);
            continue;
        }
        match skipped.len() {
            _ if rows.is_empty() => {}
            n if n > SMALL_GAP => rows.push(Row::Gap(n)),
            _ => rows.extend(skipped.drain(..).map(Row::Line)),
        }
        skipped.clear();
        rows.push(Row::Line(line));
    }
    rows
}

/// Both files as one list of lines, in the manner of a unified diff. Hunks are in order.
fn aligned(hunks: &[&HunkReport], old: &[String], new: &[String]) -> Vec<Placed> {
    // An empty side is numbered by the line before it.
    let begin = |start: u32, lines: u32| if lines == 0 { start.saturating_add(1) } else { start };
    let text = |lines: &[String], n: u32| lines.get(n as usize - 1).map(|l| untabbed(l)).unwrap_or_default();
    let (mut o, mut n) = (1, 1);
    let mut placed = Vec::new();
    let same = |o: &mut u32, n: &mut u32, placed: &mut Vec<Placed>| {
        let line = Line { old: Some(*o), new: Some(*n), text: text(new, *n), differs: None };
        placed.push(Placed { hunk: None, line });
        *o += 1;
        *n += 1;
    };
    for (number, hunk) in hunks.iter().enumerate() {
        let (to_old, to_new) =
            (begin(hunk.old_start, hunk.old_lines).max(1), begin(hunk.new_start, hunk.new_lines).max(1));
        while n < to_new && n as usize <= new.len() {
            same(&mut o, &mut n, &mut placed);
        }
        (o, n) = (to_old, to_new);
        let (after_old, after_new) = (o.saturating_add(hunk.old_lines), n.saturating_add(hunk.new_lines));
        // Numbers beyond the files are of files that are not at hand.
        let old_lines = (o..after_old).take_while(|k| *k as usize <= old.len());
        let new_lines = (n..after_new).take_while(|k| *k as usize <= new.len());
        let pairs = hunk.old_lines == hunk.new_lines;
        let differs = |mine: &str, other: &[String], k: u32| {
            let other = other.get((k as usize).checked_sub(1)?)?;
            pairs.then(|| difference(mine, &untabbed(other))).flatten()
        };
        for k in old_lines {
            let text = text(old, k);
            let differs = differs(&text, new, to_new + (k - to_old));
            placed.push(Placed { hunk: Some(number), line: Line { old: Some(k), new: None, text, differs } });
        }
        for k in new_lines {
            let text = text(new, k);
            let differs = differs(&text, old, to_old + (k - to_new));
            placed.push(Placed { hunk: Some(number), line: Line { old: None, new: Some(k), text, differs } });
        }
        (o, n) = (after_old, after_new);
    }
    while n as usize <= new.len() {
        same(&mut o, &mut n, &mut placed);
    }
    placed
}

/// Where a line differs from another, by what both begin and end with; `None` if they have little in
/// common.
pub fn difference(line: &str, other: &str) -> Option<(usize, usize)> {
    let (a, b): (Vec<char>, Vec<char>) = (line.chars().collect(), other.chars().collect());
    let before = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - before;
    let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(x, y)| x == y).count();
    let common =
        a.get(..before)?.iter().chain(a.get(a.len() - after..)?).filter(|c| !c.is_whitespace()).count();
    // Names are told as a whole.
    let is_word = |k: usize| a.get(k).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let (mut from, mut to) = (before, a.len() - after);
    while from > 0 && from < to && is_word(from - 1) && is_word(from) {
        from -= 1;
    }
    while to < a.len() && to > from && is_word(to) && is_word(to - 1) {
        to += 1;
    }
    (from < to && common * 4 >= line.trim().chars().count().max(other.trim().chars().count()))
        .then_some((from, to))
}

/// Writes text of which some characters stand out.
pub fn marked(text: &str, differs: Option<(usize, usize)>, html: &mut Html) {
    let Some((from, to)) = differs else { return html.text(text) };
    let part = |from: usize, to: usize| -> String {
        text.chars().skip(from).take(to.saturating_sub(from)).collect()
    };
    html.text(&part(0, from));
    html.leaf("mark", &[], &part(from, to));
    html.text(&part(to, usize::MAX));
}

/// A line without its end, tabs replaced by blanks.
fn untabbed(line: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in line.trim_end().chars() {
        let width = if c == '\t' { TAB - column % TAB } else { 1 };
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', width)),
            c => out.push(c),
        }
        column += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hunks as `old_start,old_lines,new_start,new_lines`; rows as `old new text`.
    fn check(old: &[&str], new: &[&str], hunks: &[(u32, u32, u32, u32)], expected: &[&str]) {
        let hunk = |h: &(u32, u32, u32, u32)| HunkReport {
            old_start: h.0,
            old_lines: h.1,
            new_start: h.2,
            new_lines: h.3,
            ..HunkReport::default()
        };
        let hunks: Vec<HunkReport> = hunks.iter().map(hunk).collect();
        let owned = |lines: &[&str]| lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
        let rows = aligned(&hunks.iter().collect::<Vec<_>>(), &owned(old), &owned(new));
        let number = |n: Option<u32>| n.map_or("-".into(), |n: u32| n.to_string());
        let row = |p: &Placed| format!("{} {} {}", number(p.line.old), number(p.line.new), p.line.text);
        assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn files_are_aligned_by_their_hunks() {
        check(
            &["a", "b", "c"],
            &["a", "x", "y", "c", "d"],
            &[(2, 1, 2, 2), (3, 0, 5, 1)],
            &["1 1 a", "2 - b", "- 2 x", "- 3 y", "3 4 c", "- 5 d"],
        );
        check(&["a", "b"], &["b"], &[(1, 1, 0, 0)], &["1 - a", "2 1 b"]);
        check(&[], &["a"], &[(0, 0, 1, 1)], &["- 1 a"]);
        check(&["a"], &[], &[(1, 1, 0, 0)], &["1 - a"]);
        // Files that are not at hand have no lines.
        check(&[], &[], &[(5, 2, 7, 900)], &[]);
    }

    #[test]
    fn lines_differ_where_words_do() {
        for (line, other, expected) in [
            ("return fabsf(a * b);", "return sqrtf(a * b);", Some("fabsf")),
            ("if (x < 10)", "if (x <= 10)", None),
            ("if (x <= 10)", "if (x < 10)", Some("=")),
            ("count1 = 0;", "count2 = 0;", Some("count1")),
            ("return 0;", "while (a != b) b++;", None),
            ("same", "same", None),
        ] {
            let part = difference(line, other).map(|(from, to)| &line[from..to]);
            assert_eq!(part, expected, "{line} | {other}");
        }
    }

    #[test]
    fn tabs_go_to_their_stops() {
        assert_eq!(untabbed("\ta\tb\r\n"), "    a   b");
    }
}
