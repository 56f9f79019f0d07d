//! What became of the properties of a range, for the page of `check`: a card for each, what a change breaks
//! first, and the lines that changed.

use super::changes::{EXAMPLE, write_example};
use super::markup::Html;
use super::{Section, View, rest};
use crate::assertion::{Assertion, Judgement};
use crate::text;

/// How a judgement is shown: id, title, kind for the filter, class of the condition, and what it means.
type Manner = (Judgement, &'static str, &'static str, &'static str, &'static str, &'static str);

const MANNERS: [Manner; 11] = [
    (
        Judgement::Regression,
        "broken",
        "No longer kept",
        "change seen",
        "old",
        "Properties that the older version keeps on an input that breaks them in the newer one.",
    ),
    (
        Judgement::BrokenFromTheStart,
        "unmet",
        "New or changed, and does not hold",
        "change seen",
        "old",
        "Properties that the older version does not have in this form, and that an input breaks.",
    ),
    (
        Judgement::Weakened,
        "weakened",
        "Weakened",
        "change seen",
        "old",
        "Properties that said more before the change, and what they said then fails in the newer version.",
    ),
    (
        Judgement::Fixed,
        "fixed",
        "Fixed",
        "change",
        "new",
        "Properties that the older version breaks, and the newer one provably does not.",
    ),
    (
        Judgement::Undecided,
        "undecided",
        "Undecided",
        "open",
        "differs",
        "Properties of which nobody knows whether the newer version keeps them.",
    ),
    (
        Judgement::Possible,
        "possible",
        "Possible",
        "open",
        "differs",
        "Broken by inputs that callers need not pass.",
    ),
    (
        Judgement::Preexisting,
        "before",
        "Broken before, too",
        "open",
        "differs",
        "Properties that both versions break; no objection to this change.",
    ),
    (
        Judgement::Removed,
        "removed",
        "Removed",
        "open",
        "differs",
        "Assertions that the newer version does not have.",
    ),
    (
        Judgement::CompiledOut,
        "compiled-out",
        "Compiled out",
        "open",
        "differs",
        "Assertions that the newer version writes and does not check.",
    ),
    (
        Judgement::Overtaken,
        "too-late",
        "Too late",
        "open",
        "differs",
        "Assertions that came before what they guard, and come behind it in the newer version.",
    ),
    (Judgement::Kept, "kept", "Kept", "held", "kept", "Properties that the change breaks on no input."),
];

/// The sections of the page, most important first.
pub fn sections(view: &View) -> Vec<Section> {
    let newest = view.report.versions.last().map_or(0, |v| v.index);
    let section = |(judgement, id, title, kind, class, intro): Manner| {
        let mut all: Vec<&Assertion> =
            view.report.assertions.iter().filter(|a| a.judgement(newest) == judgement).collect();
        crate::longest_kept_first(&mut all);
        let pieces: Vec<Html> = all.into_iter().map(|a| card(view, a, judgement, kind, class)).collect();
        Section { id, title, count: pieces.len(), intro, pieces }
    };
    let mut sections: Vec<Section> = MANNERS.into_iter().map(section).collect();
    sections.extend([rest::changed_lines(view), rest::flow(view), rest::open(view)]);
    sections
}

fn card(view: &View, a: &Assertion, judgement: Judgement, kind: &str, class: &str) -> Html {
    let mut html = Html::default();
    let file = a.file.to_string();
    let attributes = [
        ("class", "card item"),
        ("data-kind", kind),
        ("data-file", file.as_str()),
        ("data-function", a.function.as_str()),
    ];
    html.open("div", &attributes);
    let at = a.outcome.keys().rev().find_map(|version| a.lines.get(version));
    let line = at.or(a.lines.values().next_back()).map(|line| format!(", line {line}")).unwrap_or_default();
    html.leaf("p", &[("class", "where")], &format!("{}() · {file}{line} · {}", a.function, a.kind.words()));
    html.element("ul", &[("class", "facts")], |html| {
        html.element("li", &[("class", class)], |html| html.leaf("code", &[], &a.text));
        for remark in text::property_remarks(view.report, view.words.options, a, judgement) {
            html.leaf("li", &[("class", "remark")], &remark);
        }
    });
    let newest = view.report.versions.last().map_or(0, |v| v.index);
    if let Some(witness) = a.example(newest) {
        let (old, new) = text::property_ends(a, witness, newest, EXAMPLE);
        let ends = [format!("before: {old}"), format!("after: {new}")];
        html.markup("<dl>");
        write_example(&text::input_text(witness, &a.function), &ends, Some(witness), &mut html);
        html.markup("</dl>");
    }
    html.close("div");
    html.markup("\n");
    html
}
