//! What changes where the text does: `when`, `before`, `now`, `else`.

use super::{View, hunk_ref};
use crate::ObjectReport;
use crate::escape::{shortened, visible};
use crate::model::{Change, Delta, Effect, HunkReport, Otherwise, When};
use crate::palette::Slot;
use std::io::{self, Write};

/// Column of what follows `when`, `before`, `now`, `else`.
const DETAIL: usize = 12;
/// Effects of one side that are shown.
const EFFECTS_SHOWN: usize = 6;
/// Deltas of one region that are shown, unless `-v`.
const DELTAS_SHOWN: usize = 3;
/// Column of the hunks of an object.
const OBJECT_HUNKS: usize = 33;
/// Hunks named beside an object, unless `-v`.
const HUNKS_SHOWN: usize = 3;

/// What is said where calls of one version alone were left out.
const APART: &str = "as before, but for what the calls do";

/// Writes the regions of a function in which two versions differ.
pub(super) fn write(view: &View, changes: &[&Change], out: &mut dyn Write) -> io::Result<()> {
    for change in changes {
        if let (Some((always, more)), false) = (in_common(change), view.options.verbose) {
            write_delta(view, change, &always, true, out)?;
            write_delta(view, change, &more, false, out)?;
            write_apart(view, change, out)?;
            continue;
        }
        let limit = if view.options.verbose { usize::MAX } else { DELTAS_SHOWN };
        for (k, delta) in change.deltas.iter().take(limit).enumerate() {
            write_delta(view, change, delta, k == 0, out)?;
        }
        let left = change.deltas.len().saturating_sub(limit);
        write_rest(view, change, left, out)?;
    }
    Ok(())
}

/// Writes what became of objects, most of it as the effects of changes.
pub(super) fn write_objects(view: &View, objects: &[&ObjectReport], out: &mut dyn Write) -> io::Result<()> {
    for object in objects {
        let mut line = view.line();
        line.plain("  ").paint(Slot::File, &object.file.to_string());
        line.plain(&format!("  {}", visible(object.called())));
        let coming = object.coming();
        if !coming.is_empty() {
            line.plain(&format!("  {}", visible(&coming)));
        }
        line.pad_to(OBJECT_HUNKS.max(line.column() + 2));
        let shown = if view.options.verbose { object.hunks.len() } else { HUNKS_SHOWN };
        for hunk in object.hunks.iter().take(shown) {
            line.paint(Slot::Hunk, &super::hunk_text(hunk)).plain(" ");
        }
        if object.hunks.len() > shown {
            line.paint(Slot::Hunk, &format!("… {} more", object.hunks.len() - shown));
        }
        line.write(out)?;
        let under = object.under.as_ref().map(|name| format!(", under {}", visible(name)));
        let at = object.line().map(|line| format!("at line {line}"));
        let mut place = format!("{}{}", at.unwrap_or_default(), under.unwrap_or_default());
        let rows = [
            (
                "    type",
                None,
                if object.was.is_none() && !coming.is_empty() { visible(&object.ty) } else { String::new() },
            ),
            ("    before", Some(Slot::Removed), effects_text(&object.before, usize::MAX)),
            ("    now", Some(Slot::Added), effects_text(&object.now, usize::MAX)),
            ("    read by", None, visible(object.read_by().trim_start_matches("read by "))),
        ];
        for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
            write_row(view, label, *slot, text, &std::mem::take(&mut place), out)?;
        }
    }
    Ok(())
}

/// Writes which lines conditions have compiled that were not, and which not any more.
pub(super) fn write_compiled(view: &View, hunks: &[&HunkReport], out: &mut dyn Write) -> io::Result<()> {
    for hunk in hunks {
        let mut lines = None;
        for compiled in &hunk.compiled {
            if lines.replace(compiled.new) != Some(compiled.new) {
                let mut line = view.line();
                line.plain("  ").paint(Slot::File, &hunk.file.to_string());
                line.plain(&format!("  {}", compiled.lines()));
                line.pad_to(OBJECT_HUNKS.max(line.column() + 2));
                line.paint(Slot::Hunk, &super::hunk_text(&hunk_ref(hunk)));
                line.write(out)?;
            }
            let [before, now] = compiled.sides();
            let rows = [
                ("    when", None, visible(&compiled.when)),
                ("    before", Some(Slot::Removed), before.to_owned()),
                ("    now", Some(Slot::Added), now.to_owned()),
            ];
            for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
                write_row(view, label, *slot, text, "", out)?;
            }
        }
    }
    Ok(())
}

/// What two deltas for the outcomes of one test have in common, and what one of them has more.
fn in_common(change: &Change) -> Option<(Delta, Delta)> {
    let [a, b] = change.deltas.as_slice() else { return None };
    let (more, less) = if a.now.len() > b.now.len() { (a, b) } else { (b, a) };
    let texts = |effects: &[Effect]| effects.iter().map(|e| e.text.clone()).collect::<Vec<_>>();
    let (long, short) = (texts(&more.now), texts(&less.now));
    let is_part = !short.is_empty() && long.starts_with(&short) && a.before.is_empty() && b.before.is_empty();
    if !is_part || change.otherwise != Otherwise::Same || !are_opposite(&a.when.text, &b.when.text) {
        return None;
    }
    let always = Delta { when: When::default(), ..less.clone() };
    let rest = more.now.iter().skip(short.len()).cloned().collect();
    Some((always, Delta { now: rest, ..more.clone() }))
}

/// Whether of two conditions one is the other's negation, as they are written.
fn are_opposite(a: &str, b: &str) -> bool {
    let one_test = |text: &str| !text.contains("&&") && !text.contains("||");
    let negated = |x: &str, y: &str| {
        let turned = x.matches(" == ").count() == 1 && x.replacen(" == ", " != ", 1) == y;
        turned || y == format!("!{x}") || y == format!("!({x})")
    };
    one_test(a) && one_test(b) && (negated(a, b) || negated(b, a))
}

fn write_delta(
    view: &View,
    change: &Change,
    delta: &Delta,
    is_first: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut place = if is_first { place_text(change) } else { String::new() };
    let when = visible(&delta.when.text);
    let (before, now) = (effects_text(&delta.before, EFFECTS_SHOWN), effects_text(&delta.now, EFFECTS_SHOWN));
    // A condition of its own is more than what leads there.
    let tests = change.at.tests.as_deref().filter(|_| when.is_empty()).map(visible).unwrap_or_default();
    let rows = [
        ("    where", None, tests),
        ("    when", None, when),
        ("    before", Some(Slot::Removed), before),
        ("    now", Some(Slot::Added), now),
    ];
    for (label, slot, text) in rows.iter().filter(|(.., text)| !text.is_empty()) {
        write_row(view, label, *slot, text, &std::mem::take(&mut place), out)?;
    }
    Ok(())
}

/// Writes a text behind a label, broken at its spaces, and a place at the right of the last row.
pub(super) fn write_row(
    view: &View,
    label: &str,
    slot: Option<Slot>,
    text: &str,
    place: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = wrapped(text, view.options.width.saturating_sub(DETAIL).max(40));
    for (k, row) in rows.iter().enumerate() {
        let mut line = view.line();
        line.plain(if k == 0 { label } else { "" }).pad_to(DETAIL);
        match slot {
            Some(slot) => line.paint(slot, row),
            None => line.plain(row),
        };
        if k + 1 == rows.len() && !place.is_empty() {
            let room = view.options.width.saturating_sub(place.chars().count());
            line.pad_to(room.max(line.column() + 4)).paint(Slot::Status, place);
        }
        line.write(out)?;
    }
    Ok(())
}

/// That what calls of one version do is left out, where nothing else is to be said of other states.
fn write_apart(view: &View, change: &Change, out: &mut dyn Write) -> io::Result<()> {
    if !change.assumptions.iter().any(|a| a == "calls-apart") {
        return Ok(());
    }
    let mut line = view.line();
    line.plain("    else").pad_to(DETAIL).plain(APART);
    line.write(out)
}

/// What holds of all other states.
fn write_rest(view: &View, change: &Change, left: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = view.line();
    line.plain("    else").pad_to(DETAIL);
    let assumes = |name: &str| change.assumptions.iter().any(|a| a == name);
    let is_always = matches!(change.deltas.as_slice(), [only] if only.when.text.is_empty());
    let text = match (change.otherwise, left) {
        (Otherwise::Same, 0) if is_always => return Ok(()),
        (Otherwise::Same, 0) if assumes("calls-apart") => APART,
        (Otherwise::Same, 0) => "as before",
        (Otherwise::Same, n) => {
            line.plain(&format!("{}; -v lists them", super::counted(n, "more condition")));
            return line.write(out);
        }
        (Otherwise::Open, _) => "not known",
    };
    line.plain(text);
    if let (Otherwise::Open, Some(reason)) = (change.otherwise, &change.reason) {
        line.plain(&format!(": {}", visible(reason)));
    }
    if change.otherwise == Otherwise::Same && !assumes("calls-apart") {
        // What the newer version alone reads and writes has to be there.
        let invented = change.assumptions.iter().any(|a| a.starts_with("invented-type("));
        let status = match () {
            () if invented => "likely",
            () if assumes("valid-accesses") => "proved for valid accesses",
            () => "proved",
        };
        let by = if assumes("by-members") { ", member by member" } else { "" };
        line.plain("  ").paint(Slot::Status, &format!("{status}{by}"));
    }
    line.write(out)
}

fn place_text(change: &Change) -> String {
    let line = change.at.lines.get(&change.to).map(|l| format!("at line {l}"));
    let under = change.under.as_ref().map(|name| format!("under {}", visible(name)));
    let parts: Vec<String> =
        line.into_iter().chain(change.at.context.as_ref().map(visible)).chain(under).collect();
    parts.join(", ")
}

/// The first effects in one line: `calls f(a), g(b); returns -1`. How it ends is told in any case.
fn effects_text(effects: &[Effect], most: usize) -> String {
    let ends =
        |e: &&Effect| matches!(e.kind.as_str(), "return" | "end" | "goto" | "leave-loop" | "next-round");
    let end = effects.last().filter(ends).filter(|_| effects.len() > most);
    let (shown, left) = effects.split_at(most.min(effects.len()) - usize::from(end.is_some()).min(most));
    let mut text = String::new();
    let mut calls = false;
    for (k, effect) in shown.iter().enumerate() {
        let word = visible(&effect.text);
        let call = word.strip_prefix("calls ").filter(|_| calls);
        if k > 0 {
            text.push_str(if call.is_some() { ", " } else { "; " });
        }
        text.push_str(call.unwrap_or(&word));
        calls = effect.kind == "call";
    }
    match left.len() - usize::from(end.is_some()).min(left.len()) {
        0 => {}
        n => text.push_str(&format!(" and {n} more")),
    }
    if let Some(end) = end {
        text.push_str(&format!("; {}", visible(&end.text)));
    }
    text
}

/// Breaks a text at its spaces into rows of at most `room` characters.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut rows: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let fits =
            rows.last().is_none_or(|r| r.is_empty() || r.chars().count() + 1 + word.chars().count() <= room);
        if !fits {
            rows.push(String::new());
        }
        if let Some(row) = rows.last_mut() {
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
    }
    rows.iter().map(|r| shortened(r, room.max(40))).collect()
}

#[cfg(test)]
mod tests {
    use super::{are_opposite, in_common};
    use crate::change::samples::change;

    #[test]
    fn outcomes_of_one_test() {
        for (a, b, expected) in [
            ("f(x) != 0", "f(x) == 0", true),
            ("f(x) == 0", "f(x) != 0", true),
            ("p", "!p", true),
            ("!(x > 1)", "x > 1", true),
            ("x == 1", "x != 2", false),
            ("x == 1 && y", "x != 1 && y", false),
            ("(a == b) == c", "(a != b) == c", false),
            ("a", "a", false),
        ] {
            assert_eq!(are_opposite(a, b), expected, "{a} | {b}");
        }
    }

    #[test]
    fn what_both_outcomes_do_is_told_once() {
        let one = change(&["x != 0 || calls f(); calls g()", "x == 0 || calls f()"]);
        let (always, more) = in_common(&one).unwrap();
        assert!(always.when.text.is_empty() && always.now.len() == 1);
        assert_eq!((more.when.text.as_str(), more.now[0].text.as_str()), ("x != 0", "calls g()"));
        assert!(
            in_common(&change(&["x != 0 | a | calls f(); calls g()", "x == 0 | a | calls f()"])).is_none()
        );
        assert!(in_common(&change(&["x != 0 || calls f(); calls g()", "y == 0 || calls f()"])).is_none());
        assert!(in_common(&change(&["x != 0 || calls f()", "x == 0 || calls g()"])).is_none());
    }
}
