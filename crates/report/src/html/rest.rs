//! What stayed, the control flow, and what stayed open.

use super::markup::Html;
use super::{Section, View, changes, drawing, source};
use crate::model::{Fact, FunctionReport, HunkReport, HunkVerdict, NotHeld, Point};
use crate::subset;
use crate::text;
use crate::unmarked;
use crate::unseen;

/// Drawings that are unfolded from the start.
const DRAWINGS: usize = 4;

/// Where what stayed of a function is told.
pub fn held_id(view: &View, function: &FunctionReport) -> String {
    format!("held-{}", position(view, function))
}

/// Where a function is drawn.
pub fn flow_id(view: &View, function: &FunctionReport) -> String {
    format!("flow-{}", position(view, function))
}

fn position(view: &View, function: &FunctionReport) -> usize {
    view.report.functions.iter().position(|f| std::ptr::eq(f, function)).unwrap_or_default()
}

/// The heading of a function in a section of its own.
fn function_heading(function: &FunctionReport, html: &mut Html) {
    html.markup("<header><h3>");
    html.leaf("code", &[], &format!("{}()", function.name));
    html.markup("</h3>");
    html.leaf("span", &[("class", "path")], &function.file.to_string());
    html.markup("</header>");
}

/// Version invariants, by function.
pub fn held(view: &View) -> Section {
    let functions = view.report.functions.iter();
    let has_any = |f: &&FunctionReport| f.points.iter().any(has_held);
    let pieces = functions.filter(has_any).map(|f| held_of(view, f)).collect();
    let points = view.report.functions.iter().flat_map(|f| &f.points);
    Section {
        id: "held",
        title: "What stayed",
        count: points.map(|p| p.version_invariants.len() + of_some(p).count()).sum(),
        intro: match has_bars(view) {
            false => "Facts of the changed functions that hold in every version named beside them.",
            true => {
                "Facts of the changed functions that hold in every version named beside them. The bars have a cell for each \
                 version, oldest first: green holds the fact, red breaks it in a known run, of white ones it is not known."
            }
        },
        pieces,
    }
}

/// Facts of some versions that are listed.
fn of_some(point: &Point) -> impl Iterator<Item = &Fact> {
    point.subset_invariants.iter().filter(|f| subset::is_listed(point, f))
}

/// Whether a point has facts that all versions hold, or some.
pub fn has_held(point: &Point) -> bool {
    !point.version_invariants.is_empty() || of_some(point).next().is_some()
}

fn held_of(view: &View, function: &FunctionReport) -> Html {
    let mut html = Html::default();
    html.open("article", &[("class", "held"), ("id", &held_id(view, function)), ("data-group", "")]);
    function_heading(function, &mut html);
    html.markup("<table><tbody>");
    for point in &function.points {
        for fact in &point.version_invariants {
            held_row(view, function, point, fact, &mut html);
        }
    }
    html.markup("</tbody></table>");
    held_by_some(view, function, &mut html);
    let unreached: usize = function.points.iter().map(|p| p.if_reached.len()).sum();
    if unreached > 0 {
        let text = format!("⋯ {unreached} more if reached, which no known run of some version does");
        html.leaf("p", &[("class", "note")], &text);
    }
    let left_out: usize = function.points.iter().map(|p| p.left_out).sum();
    if left_out > 0 {
        let text = format!("⋯ {left_out} more with --all: implied by these, or long");
        html.leaf("p", &[("class", "note")], &text);
    }
    html.close("article");
    html.markup("\n");
    html
}

/// Facts of some versions, those of the most versions first, folded where there are many.
fn held_by_some(view: &View, function: &FunctionReport, html: &mut Html) {
    const FEW: usize = 6;
    let facts = function.points.iter().flat_map(|p| of_some(p).map(move |f| (p, f)));
    let mut facts: Vec<(&Point, &Fact)> = facts.collect();
    if facts.is_empty() {
        return;
    }
    facts.sort_by_key(|(_, f)| (std::cmp::Reverse(f.versions.len()), &f.versions));
    let is_worth = facts.iter().any(|(p, f)| subset::is_worth_telling(p, f));
    let is_open = facts.len() <= FEW || is_worth && facts.len() <= 2 * FEW;
    html.open("details", &[("class", "some"), if is_open { ("open", "") } else { ("data-many", "") }]);
    html.markup("<summary>");
    html.text(&format!("{} of some versions", text::counted(facts.len(), "fact")));
    html.markup("</summary><table><tbody>");
    for (point, fact) in facts {
        held_row(view, function, point, fact, html);
    }
    html.markup("</tbody></table>");
    html.close("details");
}

/// Whether facts have bars: two versions need none, and more cells than this are no picture.
fn has_bars(view: &View) -> bool {
    const MOST: usize = 60;
    (3..=MOST).contains(&view.report.versions.len())
}

/// The versions as a bar, a cell each: held, broken by a run, not known, or without the function.
fn bar(view: &View, fact: &Fact, html: &mut Html) {
    if !has_bars(view) {
        return;
    }
    html.open("span", &[("class", "bar-of"), ("aria-hidden", "true")]);
    for version in &view.report.versions {
        let (class, what) = match fact.not_held.get(&version.index) {
            _ if fact.versions.contains(&version.index) => ("held", "held"),
            Some(NotHeld::Refuted) => ("broken", "broken"),
            Some(NotHeld::Open) => ("unknown", "not known"),
            Some(NotHeld::NotReached) => ("unknown", "not reached"),
            Some(NotHeld::NoPoint) | None => ("absent", "not there"),
        };
        let title = format!("version {} ({}): {what}", version.index, view.short_name(version.index));
        html.leaf("i", &[("class", class), ("title", &title)], "");
    }
    html.close("span");
}

fn held_row(view: &View, function: &FunctionReport, point: &Point, fact: &Fact, html: &mut Html) {
    view.open_item("tr", "item", "held", function, html);
    html.leaf("td", &[("class", "where")], &text::point_text(point, None));
    html.element("td", &[("class", "fact")], |html| {
        html.leaf("code", &[], &unmarked::alone(fact));
        changes::assumptions(&fact.assumptions, html);
    });
    html.leaf("td", &[("class", "status")], &text::status_text(fact));
    let all = fact.versions.len() == view.report.versions.len();
    let versions = match fact.versions.len() {
        _ if !fact.not_held.is_empty() => view.words.story_text(fact),
        2 if all => "both versions".to_owned(),
        n if all => format!("all {n} versions"),
        1 => format!("version {}", text::ranges(fact.versions.iter().copied())),
        _ => format!("versions {}", text::ranges(fact.versions.iter().copied())),
    };
    html.element("td", &[("class", "versions")], |html| {
        html.text(&versions);
        bar(view, fact, html);
    });
    html.close("tr");
}

/// The multiversion control-flow graphs.
pub fn flow(view: &View) -> Section {
    let mut pieces = Vec::new();
    let mut same: Vec<String> = Vec::new();
    for function in &view.report.functions {
        let Some(picture) = view.illustration(function).and_then(|i| i.picture.as_ref()) else { continue };
        if !drawing::differs(picture) {
            same.push(format!("{}()", function.name));
            continue;
        }
        let mut html = Html::default();
        view.open_item("article", "flow item", "flow", function, &mut html);
        // Unfolded ones that nobody looks at cost nothing but room.
        html.open(
            "details",
            &[
                ("id", &flow_id(view, function)),
                if pieces.len() < DRAWINGS { ("open", "") } else { ("class", "") },
            ],
        );
        html.markup("<summary><h3>");
        html.leaf("code", &[], &format!("{}()", function.name));
        html.markup("</h3>");
        html.leaf("span", &[("class", "path")], &function.file.to_string());
        html.markup("</summary>");
        drawing::write(&function.name, picture, &mut html);
        html.close("details");
        html.close("article");
        html.markup("\n");
        pieces.push(html);
    }
    if let Some(first) = pieces.first_mut() {
        let mut html = Html::default();
        html.markup(LEGEND);
        html.push(first);
        *first = html;
    }
    let count = pieces.len();
    if !same.is_empty() {
        let mut html = Html::default();
        html.open("p", &[("class", "note")]);
        html.text("Drawn the same in all versions; what their lines use differs: ");
        html.leaf("code", &[], &same.join(", "));
        html.close("p");
        pieces.push(html);
    }
    Section {
        id: "flow",
        title: "Control flow",
        count,
        intro: "Each changed function in all its versions at once: blocks and ways that the versions share are drawn once.",
        pieces,
    }
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"key all\">all versions</span> <span class=\"key only-old\">only older</span> \
<span class=\"key only-new\">only newer</span> <span class=\"key only-some\">some</span> <span class=\"note\">T: the condition holds, F: it does not</span></p>\n";

/// What could not be decided or understood.
pub fn open(view: &View) -> Section {
    let mut pieces = Vec::new();
    for function in &view.report.functions {
        let mut lines: Vec<(String, String)> = Vec::new();
        for point in &function.points {
            for question in &point.undecided {
                let mut why = question.reason.clone();
                if let Some(raise) = &question.raise {
                    why.push_str(&format!("; {raise} may settle it"));
                }
                lines.push((format!("{} {}", question.text, text::point_text(point, None)), why));
            }
        }
        for unknown in &function.unknowns {
            lines.push((
                format!("version {}, line {}", unknown.version, unknown.line),
                format!("not understood: {}", unknown.reason),
            ));
        }
        lines.dedup();
        if lines.is_empty() {
            continue;
        }
        let mut html = Html::default();
        html.open("article", &[("class", "open"), ("data-group", "")]);
        function_heading(function, &mut html);
        html.markup("<table><tbody>");
        for (what, why) in &lines {
            view.open_item("tr", "item", "open", function, &mut html);
            html.leaf("td", &[("class", "what")], what);
            html.leaf("td", &[("class", "why")], why);
            html.close("tr");
        }
        html.markup("</tbody></table>");
        html.close("article");
        pieces.push(html);
    }
    let count = view.report.functions.iter();
    let count =
        count.map(|f| f.unknowns.len() + f.points.iter().map(|p| p.undecided.len()).sum::<usize>()).sum();
    Section {
        id: "open",
        title: "Open questions",
        count,
        intro: "What was not decided, and source that was not understood; nothing is claimed about it.",
        pieces,
    }
}

/// Hunks that no churn names, with why.
pub fn hunks(view: &View) -> Section {
    /// Rows of one piece.
    const ROWS: usize = 100;
    const FEW: usize = 5;
    let hunks: Vec<&HunkReport> =
        view.report.hunks.iter().filter(|h| h.verdict != HunkVerdict::Explained).collect();
    let pieces = hunks.chunks(ROWS).map(|chunk| {
        let mut html = Html::default();
        for hunk in chunk {
            self::hunk(view, hunk, hunks.len() <= FEW, &mut html);
        }
        html
    });
    Section {
        id: "hunks",
        title: "Changed without a fact",
        count: hunks.len(),
        intro: "Hunks that explain no change of a fact: because there is none, or because they were not analysed.",
        pieces: pieces.collect(),
    }
}

/// All lines that changed, where no facts were sought that could explain them.
pub fn changed_lines(view: &View) -> Section {
    /// Hunks that are shown unfolded.
    const FEW: usize = 20;
    let hunks = &view.report.hunks;
    let piece = |hunk| {
        let mut html = Html::default();
        self::hunk(view, hunk, hunks.len() <= FEW, &mut html);
        html
    };
    Section {
        id: "hunks",
        title: "What changed",
        count: hunks.len(),
        intro: "The lines that differ between the two versions.",
        pieces: hunks.iter().map(piece).collect(),
    }
}

/// One hunk with its lines, unfolded where there is little else to read.
pub fn hunk(view: &View, hunk: &HunkReport, unfolded: bool, html: &mut Html) {
    let file = hunk.file.to_string();
    let mut attributes =
        vec![("class", "hunk item"), ("data-kind", "hunk"), ("data-file", &file), ("data-function", "")];
    if unfolded {
        attributes.push(("open", ""));
    }
    html.open("details", &attributes);
    html.markup("<summary>");
    html.leaf("code", &[("class", "id")], &view.short_name(hunk.to));
    html.leaf("span", &[("class", "path")], &file);
    html.leaf("code", &[], &text::hunk_text(&hunk.place()));
    let verdict = match hunk.verdict {
        _ if unseen::is_in_part(view.report, hunk) => Some(("tag open", "not fully analysed")),
        HunkVerdict::NotAnalysed => Some(("tag open", "not analysed")),
        // Where no facts are sought, nothing is known of them.
        _ if view.surroundings.properties => None,
        HunkVerdict::Neutral => Some(("tag", "changes no fact")),
        HunkVerdict::Explained => Some(("tag", "explains a change")),
    };
    if let Some((class, verdict)) = verdict {
        html.leaf("span", &[("class", class)], verdict);
    }
    let why = match (hunk.verdict, hunk.why.as_deref()) {
        (HunkVerdict::Neutral, None) => String::new(),
        (HunkVerdict::Neutral, Some("comment")) => "comment".to_owned(),
        (HunkVerdict::Neutral, Some("layout-of-text")) => "layout of the text".to_owned(),
        (HunkVerdict::Explained, _) => String::new(),
        (_, why) => text::why_text(why),
    };
    html.leaf("span", &[("class", "why")], &why);
    html.markup("</summary>");
    source::write_hunk(view, hunk, html);
    html.markup("</details>\n");
}
