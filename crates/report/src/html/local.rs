//! What a function does otherwise where its text differs: a card for each region, with `when`, `before`, `now`
//! and `else`.

use super::changes::assumptions;
use super::markup::Html;
use super::source::{DiffSide, Excerpt, old_path};
use super::{View, rest};
use crate::ObjectReport;
use crate::change::{NO_CALLER, place, told};
use crate::model::{Change, Delta, Effect, FunctionReport, HunkRef, HunkReport, Otherwise, Report};
use crate::steps::Changed;
use crate::{RepoPath, text};

/// Deltas of a card that are shown unfolded.
const DELTAS: usize = 3;
/// Links to hunks.
const HUNKS: usize = 6;
/// Lines of a hunk that a card points at: as many as the source beside it shows.
const LINES: u32 = 60;

/// How many changes a report tells.
pub fn count(report: &Report) -> usize {
    report.functions.iter().flat_map(told).count()
}

/// A card for each change of a function.
pub fn cards(view: &View, changed: &Changed, excerpt: &Excerpt, html: &mut Html) {
    let steps = changed.changes.iter().map(|c| (c.from, c.to));
    let steps: std::collections::BTreeSet<_> =
        steps.chain(changed.churns().map(|c| (c.from, c.to))).collect();
    for affected in changed.function.affects.iter().filter(|a| steps.contains(&(a.from, a.to))) {
        html.leaf("p", &[("class", "affects")], &affected.text);
    }
    for change in &changed.changes {
        card(view, changed.function, change, excerpt, html);
    }
}

fn card(view: &View, function: &FunctionReport, change: &Change, excerpt: &Excerpt, html: &mut Html) {
    let runs: Vec<Run> = [DiffSide::Old, DiffSide::New]
        .into_iter()
        .flat_map(|side| change.hunks.iter().filter_map(move |hunk| Run::of(view, change, hunk, side)))
        .collect();
    let ids: Vec<String> = runs.iter().flat_map(|run| run.ids(excerpt)).collect();
    html.open(
        "div",
        &[
            ("class", "card local item"),
            ("data-kind", "change"),
            ("data-file", &function.file.to_string()),
            ("data-function", &function.name),
            ("data-lines", &ids.join(" ")),
        ],
    );
    html.open("p", &[("class", "where")]);
    html.text(&place(change));
    if let Some(name) = &change.under {
        html.leaf("span", &[("class", "tag")], &format!("under {name}"));
    }
    html.leaf("span", &[("class", "tag")], "where the text differs");
    html.close("p");
    let (shown, folded) = change.deltas.split_at(change.deltas.len().min(DELTAS));
    shown.iter().for_each(|d| delta(change, d, html));
    if !folded.is_empty() {
        html.markup("<details><summary>");
        html.text(&format!("{} more", folded.len()));
        html.markup("</summary>");
        folded.iter().for_each(|d| delta(change, d, html));
        html.markup("</details>");
    }
    html.markup("<dl>");
    otherwise(change, html);
    links(function, &runs, excerpt, html);
    html.markup("</dl>");
    assumptions(&change.assumptions, html);
    html.close("div");
}

/// A card for each object.
pub fn objects(view: &View, objects: &[&ObjectReport], html: &mut Html) {
    for object in objects {
        object_card(view, object, html);
    }
}

fn object_card(view: &View, object: &ObjectReport, html: &mut Html) {
    let file = object.file.to_string();
    html.open(
        "div",
        &[
            ("class", "card local object item"),
            ("data-kind", "change"),
            ("data-file", &file),
            ("data-function", &object.called()),
        ],
    );
    html.open("p", &[("class", "where")]);
    html.leaf("code", &[], &object.called());
    let line = object.line().map(|line| format!(", line {line}")).unwrap_or_default();
    html.text(&format!(" · {file}{line}"));
    let coming = object.coming();
    if !coming.is_empty() {
        html.leaf("span", &[("class", "tag")], &coming);
    }
    if let Some(name) = &object.under {
        html.leaf("span", &[("class", "tag")], &format!("under {name}"));
    }
    html.close("p");
    html.markup("<dl class=\"delta\">");
    if !object.ty.is_empty() {
        html.markup("<dt>type</dt>");
        html.element("dd", &[], |html| html.leaf("code", &[], &object.ty));
    }
    effects("before", "old", &object.definitions.before, html);
    effects("now", "new", &object.definitions.now, html);
    html.markup("</dl>");
    let readers = object.read_by();
    if !readers.is_empty() {
        html.leaf("p", &[("class", "seen-by")], &readers);
    }
    let is_shown =
        |h: &&HunkReport| (h.from, h.to) == (object.from, object.to) && object.hunks.contains(&h.place());
    let hunks: Vec<&HunkReport> = view.report.hunks.iter().filter(is_shown).take(HUNKS).collect();
    hunks.iter().for_each(|hunk| rest::hunk(view, hunk, hunks.len() == 1, html));
    html.close("div");
    html.markup("\n");
}

/// A card for each hunk that has other lines compiled than before.
pub fn compiled(view: &View, hunks: &[&HunkReport], html: &mut Html) {
    for hunk in hunks {
        let file = hunk.file.to_string();
        let class = [("class", "card local object item"), ("data-kind", "change"), ("data-file", &file)];
        html.open("div", &class);
        html.open("p", &[("class", "where")]);
        html.text(&format!("{file} · "));
        html.leaf("span", &[("class", "tag")], "other lines are compiled");
        html.close("p");
        for compiled in &hunk.compiled {
            let [before, now] = compiled.sides();
            html.markup("<dl class=\"delta\">");
            html.leaf("dt", &[], "what");
            html.leaf("dd", &[], &compiled.lines());
            if !compiled.when.is_empty() {
                html.leaf("dt", &[], "when");
                html.element("dd", &[], |html| html.leaf("code", &[], &compiled.when));
            }
            for (label, class, text) in [("before", "old", before), ("now", "new", now)] {
                html.leaf("dt", &[], label);
                html.leaf("dd", &[("class", class)], text);
            }
            html.markup("</dl>");
        }
        rest::hunk(view, hunk, true, html);
        html.close("div");
        html.markup("\n");
    }
}

fn delta(change: &Change, delta: &Delta, html: &mut Html) {
    html.markup("<dl class=\"delta\">");
    if delta.no_caller {
        html.markup("<dt></dt>");
        html.leaf("dd", &[], NO_CALLER);
    }
    // No condition: always.
    if !delta.when.text.is_empty() {
        html.markup("<dt>when</dt>");
        html.element("dd", &[], |html| html.leaf("code", &[], &delta.when.text));
    } else if let Some(tests) = &change.at.tests {
        html.markup("<dt>where</dt>");
        html.element("dd", &[], |html| html.leaf("code", &[], tests));
    }
    effects("before", "old", &delta.before, html);
    effects("now", "new", &delta.now, html);
    html.markup("</dl>");
}

fn effects(label: &str, class: &str, effects: &[Effect], html: &mut Html) {
    if effects.is_empty() {
        return;
    }
    html.leaf("dt", &[], label);
    html.open("dd", &[("class", class)]);
    html.markup("<ul>");
    for effect in effects {
        html.element("li", &[], |html| html.leaf("code", &[], &effect.text));
    }
    html.markup("</ul>");
    html.close("dd");
}

/// What holds of all other states; where the only delta is always, there are none.
fn otherwise(change: &Change, html: &mut Html) {
    let is_same = change.otherwise == Otherwise::Same;
    let is_always = matches!(change.deltas.as_slice(), [only] if only.when.text.is_empty());
    if is_same && is_always {
        return;
    }
    let is_proved = is_same && change.assumptions.is_empty();
    html.markup("<dt>else</dt><dd>");
    match &change.reason {
        _ if is_proved => html.text("as before"),
        _ if is_same => html.text("as before, but for what the calls do"),
        Some(reason) => html.text(&format!("not known: {reason}")),
        None => html.text("not known"),
    }
    if is_proved {
        html.leaf("span", &[("class", "status")], "proved");
    }
    html.markup("</dd>");
}

/// Lines of one side of a hunk.
struct Run {
    side: DiffSide,
    file: RepoPath,
    first: u32,
    lines: u32,
}

impl Run {
    fn of(view: &View, change: &Change, hunk: &HunkRef, side: DiffSide) -> Option<Run> {
        let (file, first, lines) = match side {
            DiffSide::Old => {
                let file = old_path(view, change.from, change.to, &hunk.file);
                (file, hunk.old_start, hunk.old_lines)
            }
            DiffSide::New => (hunk.file.clone(), hunk.new_start, hunk.new_lines),
        };
        (lines > 0).then_some(Run { side, file, first, lines })
    }

    /// Ids of the lines that are shown.
    fn ids(&self, excerpt: &Excerpt) -> Vec<String> {
        let all = self.first..self.first.saturating_add(self.lines.min(LINES));
        all.filter_map(|line| excerpt.id_of(self.side, &self.file, line)).collect()
    }

    /// `−7`, `+7–9`, `+area.h:3`.
    fn text(&self, own: &RepoPath) -> String {
        let sign = if self.side == DiffSide::Old { "−" } else { "+" };
        let file = if self.file == *own { String::new() } else { format!("{}:", self.file) };
        match self.lines {
            1 => format!("{sign}{file}{}", self.first),
            n => format!("{sign}{file}{}–{}", self.first, self.first.saturating_add(n - 1)),
        }
    }
}

/// The hunks, as links into the source.
fn links(function: &FunctionReport, runs: &[Run], excerpt: &Excerpt, html: &mut Html) {
    if runs.is_empty() {
        return;
    }
    html.markup("<dt>because of</dt>");
    html.open("dd", &[("class", "causes")]);
    for run in runs.iter().take(HUNKS) {
        let class = if run.side == DiffSide::Old { "old" } else { "new" };
        let text = run.text(&function.file);
        match excerpt.id_of(run.side, &run.file, run.first) {
            Some(id) => html.link(class, &id, &text),
            None => html.leaf("span", &[("class", class)], &text),
        }
        html.text(" ");
    }
    if runs.len() > HUNKS {
        html.text(&format!("⋯ {}", text::counted(runs.len() - HUNKS, "more hunk")));
    }
    html.close("dd");
}
