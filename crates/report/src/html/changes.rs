//! What each commit changed: what a function does otherwise, and its facts before and after, beside its source.

use super::markup::Html;
use super::source::{DiffSide, Excerpt, difference, marked};
use super::{Section, View, drawing, local, rest};
use crate::RepoPath;
use crate::assertion::{Assertion, AssertionOutcome};
use crate::escape::shortened;
use crate::model::{Causes, Churn, Fact, FunctionReport, HunkReport, HunkVerdict, LineRef, Point};
use crate::steps::{Changed, Step, by_cause, steps};
use crate::text;
use crate::unmarked;
use crate::witness::Witness;
use std::collections::BTreeMap;

pub const ID: &str = "changes";
/// Characters of what goes into an example and of what comes out, shown at once.
pub const EXAMPLE: usize = 240;
/// Links to lines that cause a change, of each side.
const CAUSES: usize = 12;

/// Promises that are broken.
pub fn broken(view: &View) -> Section {
    let newest = view.report.versions.last().map_or(0, |v| v.index);
    let broken = view.report.assertions.iter().filter(|a| a.is_lost(newest));
    let pieces: Vec<Html> = broken.map(broken_promise).collect();
    Section {
        id: "broken",
        title: "No longer kept",
        count: pieces.len(),
        intro: "Assertions and pinned facts that held and that an input now breaks.",
        pieces,
    }
}

fn broken_promise(a: &Assertion) -> Html {
    let mut html = Html::default();
    let file = a.file.to_string();
    html.open(
        "div",
        &[
            ("class", "card item"),
            ("data-kind", "change seen"),
            ("data-file", &file),
            ("data-function", &a.function),
        ],
    );
    let failing = a.outcome.iter().rev().find(|(_, o)| **o == AssertionOutcome::Fail).map(|(v, _)| *v);
    let line = failing.and_then(|v| a.lines.get(&v)).map(|l| format!(", line {l}")).unwrap_or_default();
    html.leaf("p", &[("class", "where")], &format!("{}() · {file}{line} · {}", a.function, a.kind.words()));
    html.element("ul", &[("class", "facts")], |html| {
        html.element("li", &[("class", "old")], |html| html.leaf("code", &[], &a.text));
    });
    if let Some(witness) = a.counterexample.as_ref().or(a.guarded.as_ref()) {
        html.markup("<dl>");
        example(witness, &a.function, "", false, &mut html);
        html.markup("</dl>");
    }
    html.close("div");
    html.markup("\n");
    html
}

/// A piece for each step; steps with many functions have several.
pub fn changes(view: &View) -> Section {
    /// Functions of a piece.
    const FUNCTIONS: usize = 20;
    let mut pieces = Vec::new();
    let mut count = 0;
    for (number, step) in steps(view.report, true).iter().enumerate() {
        let mut excerpts: Vec<Excerpt> = Vec::new();
        let numbered: Vec<(usize, &Changed)> = step.changed.iter().enumerate().collect();
        let chunks: Vec<&[(usize, &Changed)]> =
            if numbered.is_empty() { vec![&[]] } else { numbered.chunks(FUNCTIONS).collect() };
        for (part, chunk) in chunks.iter().enumerate() {
            let mut html = Html::default();
            let id = if part == 0 { step_id(number) } else { format!("{}p{part}", step_id(number)) };
            html.open("section", &[("class", "step"), ("id", &id), ("data-group", "")]);
            heading(view, step, part > 0, &mut html);
            for (k, changed) in *chunk {
                count += told(changed);
                excerpts.push(article(view, step, changed, &article_id(number, *k), &mut html));
            }
            if part + 1 == chunks.len() {
                count += step.objects.len() + step.compiled.len();
                local::objects(view, &step.objects, &mut html);
                local::compiled(view, &step.compiled, &mut html);
                elsewhere(view, step, &excerpts, &mut html);
                comings(step, &mut html);
            }
            html.close("section");
            html.markup("\n");
            pieces.push(html);
        }
    }
    Section {
        id: ID,
        title: "What changed",
        count,
        intro: "Commit by commit, oldest first; within a commit the most important function first.",
        pieces,
    }
}

/// How many things are told of a function.
fn told(changed: &Changed) -> usize {
    changed.changes.len() + changed.churns().count()
}

/// Hunks that explain changes and stand outside the functions that are shown: macros, declarations.
fn elsewhere(view: &View, step: &Step, excerpts: &[Excerpt], html: &mut Html) {
    /// Hunks that are shown unfolded.
    const FEW: usize = 3;
    let is_wanted = |h: &&HunkReport| {
        (h.from, h.to, h.verdict) == (step.from, step.to, HunkVerdict::Explained)
            && h.compiled.is_empty()
            && !excerpts.iter().any(|e| e.shows(h))
            && !step.objects.iter().any(|o| o.hunks.contains(&h.place()))
    };
    let hunks: Vec<&HunkReport> = view.report.hunks.iter().filter(is_wanted).collect();
    if hunks.is_empty() {
        return;
    }
    html.markup(
        "<div class=\"elsewhere\"><p class=\"note\">Changed elsewhere, with effect on what is above:</p>",
    );
    hunks.iter().for_each(|hunk| rest::hunk(view, hunk, hunks.len() <= FEW, html));
    html.markup("</div>");
}

/// Functions that appear or disappear.
fn comings(step: &Step, html: &mut Html) {
    for comings in &step.comings {
        let names = &comings.functions;
        let file = comings.file.to_string();
        let attributes =
            [("class", "comings item"), ("data-kind", "change"), ("data-file", &file), ("data-function", "")];
        html.open("p", &attributes);
        html.leaf("span", &[("class", "path")], &file);
        html.text(&format!(" {}: ", comings.word));
        html.leaf("code", &[], &names.join(", "));
        html.close("p");
    }
}

/// The commits and their functions, for the table of contents.
pub fn contents(view: &View, html: &mut Html) {
    /// Functions of a commit that are named.
    const FUNCTIONS: usize = 40;
    html.markup("<ul>");
    for (number, step) in steps(view.report, true).iter().enumerate() {
        html.markup("<li>");
        html.open("a", &[("href", &format!("#{}", step_id(number)))]);
        html.leaf("code", &[("class", "id")], &view.short_name(step.to));
        html.text(" ");
        html.text(view.version(step.to).map(|v| v.summary.as_str()).unwrap_or_default());
        html.close("a");
        html.markup("<ul>");
        for (k, changed) in step.changed.iter().enumerate().take(FUNCTIONS) {
            html.markup("<li>");
            html.link("function", &article_id(number, k), &format!("{}()", changed.function.name));
            html.leaf("span", &[("class", "count")], &told(changed).to_string());
            html.markup("</li>");
        }
        if step.changed.len() > FUNCTIONS {
            html.leaf("li", &[], &format!("⋯ {} more", step.changed.len() - FUNCTIONS));
        }
        html.markup("</ul></li>");
    }
    html.markup("</ul>");
}

fn step_id(number: usize) -> String {
    format!("s{number}")
}

fn article_id(step: usize, function: usize) -> String {
    format!("s{step}f{function}")
}

fn heading(view: &View, step: &Step, goes_on: bool, html: &mut Html) {
    let Some(version) = view.version(step.to) else { return };
    html.markup("<header><h3>");
    html.leaf("code", &[("class", "id")], &view.words.short_name(version));
    html.text(" ");
    html.leaf("span", &[("class", "subject")], &version.summary);
    html.markup("</h3><p class=\"meta\">");
    html.text(&format!("version {} against {}", step.to, step.from));
    if goes_on {
        html.text(", continued");
    }
    view.signature(version, html);
    html.markup("</p></header>");
}

fn article(view: &View, step: &Step, changed: &Changed, id: &str, html: &mut Html) -> Excerpt {
    let function = changed.function;
    html.open("article", &[("id", id), ("data-group", "")]);
    html.markup("<header><h4>");
    html.leaf("code", &[], &format!("{}()", function.name));
    html.markup("</h4>");
    html.leaf("span", &[("class", "path")], &function.file.to_string());
    if let Some(from) = &function.identity.from {
        let text = format!("{} {from}", text::identity_word(function.identity.kind));
        html.leaf("span", &[("class", "note")], &text);
    }
    html.markup("<span class=\"links\">");
    let picture = view.illustration(function).and_then(|i| i.picture.as_ref());
    if picture.is_some_and(drawing::differs) {
        html.link("", &rest::flow_id(view, function), "control flow");
    }
    if function.points.iter().any(rest::has_held) {
        html.link("", &rest::held_id(view, function), "what stayed");
    }
    html.markup("</span></header>");
    let excerpt = Excerpt::new(view, step, changed, id);
    html.open("div", &[("class", if excerpt.is_empty() { "sides alone" } else { "sides" })]);
    html.markup("<div class=\"sources\">");
    excerpt.write(html);
    html.markup("</div><div class=\"cards\">");
    local::cards(view, changed, &excerpt, html);
    for (point, churns) in &changed.points {
        for group in by_cause(churns) {
            card(changed, point, &group, &excerpt, html);
        }
    }
    if !changed.seen_by.is_empty() {
        let names: Vec<String> = changed.seen_by.iter().map(|name| format!("{name}()")).collect();
        html.open("p", &[("class", "seen-by")]);
        html.text("These changes show in ");
        html.leaf("code", &[], &names.join(", "));
        html.close("p");
    }
    html.markup("</div></div>");
    html.close("article");
    html.markup("\n");
    excerpt
}

/// The churns of one cause at one point.
fn card(changed: &Changed, point: &Point, churns: &[&Churn], excerpt: &Excerpt, html: &mut Html) {
    let function = changed.function;
    let Some(first) = churns.first() else { return };
    let seen = churns.iter().any(|c| c.observable);
    let shared = shared_lines(churns);
    let lines = cause_ids(first, &shared, excerpt);
    html.open(
        "div",
        &[
            ("class", "card item"),
            ("data-kind", if seen { "change seen" } else { "change" }),
            ("data-file", &function.file.to_string()),
            ("data-function", &function.name),
            ("data-lines", &lines.join(" ")),
        ],
    );
    html.open("p", &[("class", "where")]);
    html.text(&text::point_text(point, Some(first.to)));
    html.leaf(
        "span",
        &[("class", if seen { "tag seen" } else { "tag" })],
        if seen { "seen by callers" } else { "inside" },
    );
    html.close("p");
    html.markup("<ul class=\"facts\">");
    for churn in churns {
        // Of one fact that took the place of another it is told where they differ.
        let pair = match (churn.removed.as_slice(), churn.added.as_slice()) {
            ([old], [new]) => Some((unmarked::beside(old, churn), unmarked::beside(new, churn))),
            _ => None,
        };
        let pair = pair.as_ref();
        let (old, new) = (pair.and_then(|(a, b)| difference(a, b)), pair.and_then(|(a, b)| difference(b, a)));
        churn.removed.iter().for_each(|f| fact((f, churn), "old", old, churn.held(), html));
        churn.added.iter().for_each(|f| fact((f, churn), "new", new, None, html));
        if churn.removed.is_empty() && churn.added.is_empty() {
            html.leaf("li", &[("class", "differs")], &text::undescribed(churn));
        }
        if let Some(remark) = text::remark(churn) {
            html.leaf("li", &[("class", "remark")], remark);
        }
    }
    html.markup("</ul><dl>");
    causes(function, first, &shared, excerpt, html);
    examples(function, churns, html);
    html.markup("</dl>");
    html.close("div");
}

fn fact(
    (fact, churn): (&Fact, &Churn),
    class: &str,
    differs: Option<(usize, usize)>,
    held: Option<String>,
    html: &mut Html,
) {
    html.open("li", &[("class", class)]);
    html.element("code", &[], |html| marked(&unmarked::beside(fact, churn), differs, html));
    status(fact, held, html);
    html.close("li");
}

/// How well a fact is established, and what it takes for granted.
fn status(fact: &Fact, held: Option<String>, html: &mut Html) {
    let mut status = text::status_text(fact);
    if let Some(held) = held {
        status.push_str(&format!(", {held}"));
    }
    html.leaf("span", &[("class", "status")], &status);
    assumptions(&fact.assumptions, html);
}

/// What is taken for granted; much of it is folded.
pub fn assumptions(assumptions: &[String], html: &mut Html) {
    const SHOWN: usize = 2;
    let names = assumptions.join(", ");
    match assumptions.len() {
        0 => {}
        n if n <= SHOWN => html.leaf("span", &[("class", "assuming")], &format!("assuming {names}")),
        n => {
            html.markup("<details class=\"assuming\"><summary>");
            html.text(&format!("under {n} assumptions"));
            html.markup("</summary>");
            html.text(&names);
            html.markup("</details>");
        }
    }
}

fn shared_lines(churns: &[&Churn]) -> Vec<LineRef> {
    let mut lines: Vec<LineRef> = churns.iter().flat_map(|c| c.causes.shared.iter().cloned()).collect();
    lines.sort();
    lines.dedup_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
    lines
}

/// Ids of the lines to point at: those that changed, or where none did, those that mean something else.
fn cause_ids(churn: &Churn, shared: &[LineRef], excerpt: &Excerpt) -> Vec<String> {
    let Causes { removed, added, .. } = &churn.causes;
    let old = removed.iter().filter_map(|l| excerpt.id_of(DiffSide::Old, &l.file, l.line));
    let new = added.iter().filter_map(|l| excerpt.id_of(DiffSide::New, &l.file, l.line));
    let ids: Vec<String> = old.chain(new).collect();
    if !ids.is_empty() {
        return ids;
    }
    shared.iter().filter_map(|l| excerpt.id_of(DiffSide::New, &l.file, l.line)).collect()
}

fn causes(function: &FunctionReport, churn: &Churn, shared: &[LineRef], excerpt: &Excerpt, html: &mut Html) {
    let sides = [
        (DiffSide::Old, "−", "old", &churn.causes.removed),
        (DiffSide::New, "+", "new", &churn.causes.added),
    ];
    let mut label = Some("because of");
    if sides.iter().any(|(.., lines)| !lines.is_empty()) {
        html.leaf("dt", &[], label.take().unwrap_or_default());
        html.open("dd", &[("class", "causes")]);
        for (side, sign, class, lines) in sides {
            let runs = runs(lines);
            for run in runs.iter().take(CAUSES) {
                let Some(line) = run.first() else { continue };
                let text = format!("{sign}{}", run_text(&function.file, run));
                match excerpt.id_of(side, &line.file, line.line) {
                    Some(id) => html.link(class, &id, &text),
                    None => html.leaf("span", &[("class", class)], &text),
                }
                html.text(" ");
            }
            if runs.len() > CAUSES {
                html.leaf("span", &[("class", class)], &format!("{sign}⋯ {} more", runs.len() - CAUSES));
            }
        }
        html.close("dd");
    }
    if !shared.is_empty() {
        html.leaf("dt", &[], label.map_or("rests on", |_| "because of"));
        html.open("dd", &[("class", "causes")]);
        if label.is_some() {
            html.text("what is used in ");
        }
        let runs = runs(shared);
        for run in runs.iter().take(CAUSES) {
            let Some(line) = run.first() else { continue };
            let text = run_text(&function.file, run);
            match excerpt.id_of(DiffSide::New, &line.file, line.line) {
                Some(id) => html.link("same", &id, &text),
                None => html.leaf("span", &[("class", "same")], &text),
            }
            html.text(" ");
        }
        if runs.len() > CAUSES {
            html.text(&format!("⋯ {} more", runs.len() - CAUSES));
        }
        html.close("dd");
    }
}

/// Lines that follow each other.
fn runs(lines: &[LineRef]) -> Vec<Vec<&LineRef>> {
    let mut runs: Vec<Vec<&LineRef>> = Vec::new();
    for line in lines {
        let goes_on = |run: &&mut Vec<&LineRef>| {
            run.last()
                .is_some_and(|last| last.file == line.file && last.line.checked_add(1) == Some(line.line))
        };
        match runs.last_mut().filter(goes_on) {
            Some(run) => run.push(line),
            None => runs.push(vec![line]),
        }
    }
    runs
}

/// `7`, `7–9`, `area.h:3`.
fn run_text(file: &RepoPath, run: &[&LineRef]) -> String {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return String::new() };
    let place = if first.file == *file { String::new() } else { format!("{}:", first.file) };
    match first.line == last.line {
        true => format!("{place}{}", first.line),
        false => format!("{place}{}–{}", first.line, last.line),
    }
}

/// One input may be the example of several churns.
fn examples(function: &FunctionReport, churns: &[&Churn], html: &mut Html) {
    let mut by_input: BTreeMap<String, Vec<(&Witness, &str)>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for (churn, witness) in churns.iter().filter_map(|c| Some((c, c.witness.as_ref()?))) {
        let input = text::input_text(witness, &function.name);
        if !by_input.contains_key(&input) {
            order.push(input.clone());
        }
        by_input.entry(input).or_default().push((witness, &churn.subject));
    }
    for input in order {
        let Some(list) = by_input.get(&input) else { continue };
        let mut effects: Vec<String> = Vec::new();
        for (witness, subject) in list {
            let effect = text::effect_text(witness, subject, churns.len() > 1, EXAMPLE);
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
        if effects.len() > 1 {
            effects.retain(|e| e != text::UNNAMED);
        }
        write_example(&input, &effects, list.first().map(|(w, _)| *w), html);
    }
}

fn example(witness: &Witness, function: &str, subject: &str, labelled: bool, html: &mut Html) {
    let effect = text::effect_text(witness, subject, labelled, EXAMPLE);
    write_example(&text::input_text(witness, function), &[effect], Some(witness), html);
}

/// An input and what comes of it.
pub fn write_example(input: &str, effects: &[String], witness: Option<&Witness>, html: &mut Html) {
    html.leaf("dt", &[], "for example");
    html.open("dd", &[("class", "example")]);
    let input = if input.is_empty() { "any input" } else { input };
    if input.chars().count() <= EXAMPLE {
        html.leaf("code", &[], input);
    } else {
        html.markup("<details><summary>");
        html.leaf("code", &[], &shortened(input, EXAMPLE));
        html.markup("</summary>");
        html.leaf("code", &[], input);
        html.markup("</details>");
    }
    html.markup("<ul>");
    for effect in effects {
        html.element("li", &[], |html| html.leaf("code", &[], effect));
    }
    html.markup("</ul><span class=\"replayed\">replayed</span>");
    let relies_on = witness.map(|w| w.relies_on.join(", ")).filter(|names| !names.is_empty());
    if let Some(names) = relies_on {
        html.leaf("span", &[("class", "assuming")], &format!("relies on {names}"));
    }
    html.close("dd");
}
