//! A region in which two versions differ, in a few words: what every format tells of it in the same way, but for
//! `text`, which has room for a row each.

use super::escape::{shortened, visible};
use super::model::{Change, ChangeVerdict, Delta, Effect, FunctionReport};

/// What is said of a condition that no known call meets.
pub const NO_CALLER: &str = "for inputs that no caller here gives";

/// The changes of a function that are told. Of the others nothing differs, or nothing is known.
pub fn told(function: &FunctionReport) -> impl Iterator<Item = &Change> {
    function.changes.iter().filter(|c| c.verdict == ChangeVerdict::Differs)
}

/// Says a change in one line, escaped: `when p == NULL: undefined at line 13: p is NULL -> returns -1; and 2
/// more`. The condition and what either version does have at most `room` characters each.
pub fn in_one_line(change: &Change, room: usize) -> String {
    let part = |text: &str| shortened(&visible(text), room);
    let under = change.under.as_ref().map(|name| format!("under {}", part(name)));
    let first = change.deltas.first();
    // No condition: always.
    let when = first.map(|d| &d.when.text).filter(|text| !text.is_empty());
    let tests = change.at.tests.as_deref().filter(|_| when.is_none());
    let tests = tests.map(|text| format!("where {}", part(text)));
    let when = when.map(|text| format!("when {}", part(text))).or(tests);
    let inputs = first.filter(|d| d.no_caller).map(|_| NO_CALLER.to_owned());
    let mut line = under.into_iter().chain(inputs).chain(when).collect::<Vec<_>>().join(", ");
    if !line.is_empty() {
        line.push_str(": ");
    }
    let (before, now) = first.map(sides).unwrap_or_default();
    let more = change.deltas.len().saturating_sub(1);
    line.push_str(&one_line(&OneLine { before, now, more, room }));
    line
}

/// What either version does or has, and how much more there is to tell.
pub(super) struct OneLine {
    pub before: String,
    pub now: String,
    pub more: usize,
    /// Characters of either side.
    pub room: usize,
}

/// `returns -1 -> returns -2; and 2 more`, escaped.
pub(super) fn one_line(said: &OneLine) -> String {
    let part = |text: &str| shortened(&visible(text), said.room);
    let mut line = match (said.before.as_str(), said.now.as_str()) {
        ("", "") => "behaviour differs".to_owned(),
        (before, "") => format!("no longer {}", part(before)),
        ("", now) => format!("now also {}", part(now)),
        (before, now) => format!("{} -> {}", part(before), part(now)),
    };
    if said.more > 0 {
        line.push_str(&format!("; and {} more", said.more));
    }
    line
}

/// What either version does, as it is: whoever writes it escapes it.
pub fn sides(delta: &Delta) -> (String, String) {
    (effects(&delta.before), effects(&delta.now))
}

fn effects(effects: &[Effect]) -> String {
    effects.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join("; ")
}

/// `at line 13, in the loop of line 12`, as it is.
pub fn place(change: &Change) -> String {
    let line = change.at.lines.get(&change.to).map(|line| format!("at line {line}"));
    line.into_iter().chain(change.at.context.clone()).collect::<Vec<_>>().join(", ")
}

/// Changes for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::{ChangePlace, HunkRef, Otherwise, When};

    /// A change at line 13, one delta a text: `when | before | now`, effects apart by `;`.
    pub fn change(deltas: &[&str]) -> Change {
        let effect =
            |text: &str| Effect { kind: "call".into(), text: text.trim().into(), ..Effect::default() };
        let effects = |texts: &str| -> Vec<Effect> {
            texts.split(';').filter(|t| !t.trim().is_empty()).map(effect).collect()
        };
        let delta = |text: &&str| {
            let parts: Vec<&str> = text.split('|').collect();
            Delta {
                when: When { text: parts[0].trim().into(), ..When::default() },
                before: effects(parts[1]),
                now: effects(parts[2]),
                evidence: "satisfiable".into(),
                no_caller: false,
            }
        };
        let hunk = HunkRef { file: "a.c".into(), old_start: 12, old_lines: 0, new_start: 13, new_lines: 2 };
        Change {
            id: "d1".into(),
            from: 1,
            to: 2,
            hunks: vec![hunk],
            at: ChangePlace { lines: [(1, 12), (2, 13)].into(), ..ChangePlace::default() },
            verdict: ChangeVerdict::Differs,
            deltas: deltas.iter().map(delta).collect(),
            otherwise: Otherwise::Same,
            ..Change::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::change;
    use super::*;

    #[test]
    fn a_change_is_one_line() {
        for (room, deltas, expected) in [
            (99, &["p == NULL | undefined | returns -1"][..], "when p == NULL: undefined -> returns -1"),
            (99, &["| returns 1 | returns 2"], "returns 1 -> returns 2"),
            (99, &["|| calls f(); returns 2"], "now also calls f(); returns 2"),
            (99, &["x | calls f() |"], "when x: no longer calls f()"),
            (99, &["x | a | b", "y | c | d", "z | e | f"], "when x: a -> b; and 2 more"),
            (8, &["x | a long text | b"], "when x: a long … -> b"),
            (99, &["x \u{1b}[31m y | a | b"], "when x \\x1b[31m y: a -> b"),
            (99, &["||"], "behaviour differs"),
            (99, &[], "behaviour differs"),
        ] {
            assert_eq!(in_one_line(&change(deltas), room), expected);
        }
        let under = Change { under: Some("USE_\nX".into()), ..change(&["x | a | b"]) };
        assert_eq!(in_one_line(&under, 99), "under USE_\\nX, when x: a -> b");
    }

    #[test]
    fn a_place_names_what_is_known() {
        let mut change = change(&[]);
        assert_eq!(place(&change), "at line 13");
        change.at.context = Some("in the loop of line 9".into());
        assert_eq!(place(&change), "at line 13, in the loop of line 9");
        change.at.lines.clear();
        assert_eq!(place(&change), "in the loop of line 9");
    }

    #[test]
    fn what_is_open_is_not_told() {
        let changes = [ChangeVerdict::Open, ChangeVerdict::Differs, ChangeVerdict::Neutral]
            .map(|verdict| Change { verdict, ..change(&[]) });
        let function = FunctionReport { changes: changes.to_vec(), ..FunctionReport::default() };
        assert_eq!(told(&function).count(), 1);
    }
}
