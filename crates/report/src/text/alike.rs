//! Changes that one edit makes alike in many functions: a constant of a header that they all hand on is told once, and
//! so is what a macro comes to do in all that use it, with a call of their own in its place.

use super::View;
use super::changes::write_row;
use crate::escape::visible;
use crate::model::{Change, Effect, FunctionReport, Otherwise};
use crate::palette::Slot;
use crate::steps::Changed;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Functions from which on a change is told once for all of them.
const MANY: usize = 4;
/// Characters of a change that is soon read again, and of the piece in which two that are alike may differ.
const SHORT: usize = 100;
const PIECE: usize = 60;
/// Names and values in which changes that hand on others may differ.
const FEW: usize = 3;
/// Names that are shown of them, and of those that they call.
const SHOWN: usize = 4;

/// What many functions hand on in the place of something else.
#[derive(Default)]
pub(super) struct Alike {
    functions: Vec<String>,
    called: Vec<String>,
}

/// By what stood there and what stands there now, and whether calls hand it on: what is returned or kept is another
/// matter, and seen by others.
type Groups = BTreeMap<(String, String, bool), Alike>;

/// Takes out of the functions of a step what is alike in many of them; a function of which nothing is left goes.
pub(super) fn taken(changed: &mut Vec<Changed>) -> Groups {
    let mut groups = Groups::new();
    for one in changed.iter() {
        for (called, (was, is)) in one.changes.iter().filter_map(|c| replaced(c)) {
            let group = groups.entry((was, is, !called.is_empty())).or_default();
            let name = format!("{}()", visible(&one.function.name));
            if group.functions.last() != Some(&name) {
                group.functions.push(name);
            }
            for callee in called.into_iter().map(|callee| format!("{}()", visible(&callee))) {
                if !group.called.contains(&callee) {
                    group.called.push(callee);
                }
            }
        }
    }
    groups.retain(|_, group| group.functions.len() >= MANY);
    for one in changed.iter_mut() {
        let told = one.changes.len();
        one.changes.retain(|c| {
            let is_alone = |(called, (was, is)): (Vec<String>, (String, String))| {
                !groups.contains_key(&(was, is, !called.is_empty()))
            };
            replaced(c).is_none_or(is_alone)
        });
        // What such a function does otherwise at its exit, by nothing of its own, is the same news.
        if told > 0 && one.changes.is_empty() {
            one.points.iter_mut().for_each(|(_, churns)| churns.retain(|c| !c.hunks.is_empty()));
            one.points.retain(|(_, churns)| !churns.is_empty());
        }
    }
    changed.retain(|one| !one.changes.is_empty() || !one.points.is_empty() || !one.seen_by.is_empty());
    groups
}

/// Of a change that an edit elsewhere made, and by which a function does the same but for one value: the functions
/// that it calls with it, and the value before and now.
fn replaced(change: &Change) -> Option<(Vec<String>, (String, String))> {
    if !change.hunks.is_empty() || change.otherwise != Otherwise::Same {
        return None;
    }
    let mut found: Option<(String, String)> = None;
    let mut called = Vec::new();
    for delta in &change.deltas {
        if !delta.when.text.is_empty() || delta.before.len() != delta.now.len() {
            return None;
        }
        for (before, now) in delta.before.iter().zip(&delta.now) {
            let pair = replacement(&before.text, &now.text)?;
            if *found.get_or_insert_with(|| pair.clone()) != pair {
                return None;
            }
            let callee = before.text.strip_prefix("calls ").and_then(|call| call.split_once('('));
            called.extend(callee.map(|(name, _)| name.to_owned()));
        }
    }
    found.map(|pair| (called, pair))
}

/// The one token of a text that another one stands for in the other text, wherever it differs.
fn replacement(before: &str, now: &str) -> Option<(String, String)> {
    let (old, new) = (tokens(before), tokens(now));
    let mut pairs = old.iter().zip(&new).filter(|(a, b)| a != b);
    let (was, is) = pairs.next().filter(|_| old.len() == new.len())?;
    let is_one = pairs.all(|pair| pair == (was, is)) && is_word(was) && is_word(is);
    is_one.then(|| ((*was).to_owned(), (*is).to_owned()))
}

/// Literals, names and numbers, and each other character.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let length = match first {
            '"' | '\'' => {
                let mut is_escaped = false;
                let end = rest.char_indices().skip(1).find(|(_, c)| {
                    let ends = *c == first && !is_escaped;
                    is_escaped = *c == '\\' && !is_escaped;
                    ends
                });
                end.map_or(rest.len(), |(at, _)| at + 1)
            }
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        found.push(token);
        rest = behind.trim_start();
    }
    found
}

/// Takes the functions out of a step that are told like one before them of their file, but for one name, call or value,
/// or for a few values that the same calls are given; for each that stays, those that are like it.
pub(super) fn twins<'a>(changed: &mut Vec<Changed<'a>>) -> Vec<Vec<Changed<'a>>> {
    let mut groups: Vec<Vec<Changed>> = Vec::new();
    for one in changed.drain(..) {
        let is_like = |group: &&mut Vec<Changed>| {
            let text = words(&one).filter(|text| text.chars().count() > SHORT);
            let first = group.first().filter(|first| first.function.file == one.function.file);
            let alike = |a: &str, b: &str| is_one_piece(a, b) || hands_on_others(a, b);
            text.zip(first.and_then(words)).is_some_and(|(own, first)| alike(&first, &own))
        };
        match groups.iter_mut().find(is_like) {
            Some(known) => known.push(one),
            None => groups.push(vec![one]),
        }
    }
    let mut like = Vec::new();
    for group in groups {
        let is_many = group.len() >= MANY;
        let mut group = group.into_iter();
        while let Some(one) = group.next() {
            changed.push(one);
            like.push(if is_many { group.by_ref().collect() } else { Vec::new() });
        }
    }
    like
}

/// What is told of a function, without the lines, if it is one region and nothing else.
fn words(one: &Changed) -> Option<String> {
    let [change] = one.changes.as_slice() else { return None };
    let is_more = !one.points.is_empty() || !one.seen_by.is_empty() || one.function.identity.from.is_some();
    let effects = |all: &[Effect]| all.iter().map(|e| e.text.clone()).collect::<Vec<_>>().join("; ");
    let deltas = change.deltas.iter().map(|d| {
        format!("{} | {} | {} | {}\n", d.when.text, effects(&d.before), effects(&d.now), d.no_caller)
    });
    let place = (&change.at.tests, &change.under, change.otherwise, &change.assumptions, &change.reason);
    let text = format!("{}{place:?}", deltas.collect::<String>());
    let mut parts = text.split("line ");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| format!("line {}", part.trim_start_matches(|c: char| c.is_ascii_digit())));
    (!is_more).then(|| first + &rest.collect::<String>())
}

/// Whether a piece is short and of one name, call or value.
fn is_value(piece: &str) -> bool {
    let parts = ["|", ";", "\n", " =", " !", " <", " >", " &"];
    !piece.is_empty()
        && piece.trim() == piece
        && piece.chars().count() <= PIECE
        && !parts.iter().any(|part| piece.contains(part))
}

/// Whether one text is the other with one piece in the place of another wherever that stands.
fn is_one_piece(a: &str, b: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (Some(head), true) = (a.get(..common), a != b) else { return a == b };
    // Names stay whole.
    let start = head.trim_end_matches(is_word).len();
    (common..=a.len().min(start + PIECE)).any(|end| {
        let Some(piece) = a.get(start..end).filter(|piece| is_value(piece)) else { return false };
        let times = a.matches(piece).count();
        let grown = b.len() as i64 - a.len() as i64;
        let length = piece.len() as i64 + grown / times.max(1) as i64;
        let other = usize::try_from(length).ok().and_then(|length| b.get(start..start + length));
        other.is_some_and(|other| is_value(other) && a.replace(piece, other) == b)
    })
}

/// Whether one text is the other with a few names or numbers in the place of others, wherever these stand, and the
/// same calls.
fn hands_on_others(a: &str, b: &str) -> bool {
    let (a, b) = (tokens(a), tokens(b));
    let mut became: BTreeMap<&str, &str> = BTreeMap::new();
    let is_other = |(k, (x, y)): (usize, (&&'_ str, &&'_ str))| {
        x == y || is_word(x) && is_word(y) && a.get(k + 1) != Some(&"(")
    };
    let same_calls = a.len() == b.len() && a.iter().zip(&b).enumerate().all(is_other);
    let pairs = a.iter().zip(&b).filter(|(x, _)| is_word(x));
    let is_consistent = same_calls && pairs.into_iter().all(|(x, y)| *became.entry(x).or_insert(y) == *y);
    is_consistent && became.iter().filter(|(x, y)| x != y).count() <= FEW
}

/// Whether a token is a literal, a name or a number.
fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\'' | '_'))
}

/// Writes which functions are told like the one before.
pub(super) fn write_twins(view: &View, twins: &[Changed], out: &mut dyn Write) -> io::Result<()> {
    if twins.is_empty() {
        return Ok(());
    }
    let line = |f: &FunctionReport, c: &Change| {
        let line = c.at.lines.get(&c.to).map(|line| format!(" at line {line}")).unwrap_or_default();
        format!("{}(){line}", visible(&f.name))
    };
    let names = twins.iter().flat_map(|one| one.changes.first().map(|c| line(one.function, c)));
    let more = match twins.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let names = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    let text = format!("but for names or values: {names}{more}; -v tells each");
    write_row(view, "    alike", None, &text, "", out)
}

/// Writes what was taken.
pub(super) fn write(view: &View, groups: &Groups, out: &mut dyn Write) -> io::Result<()> {
    for ((was, is, _), group) in groups {
        let named = |names: &[String]| {
            let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(SHOWN) {
                0 => shown,
                n => format!("{shown} and {n} more"),
            }
        };
        writeln!(out, "  in {} functions; -v lists them", group.functions.len())?;
        let with = if group.called.is_empty() { "uses" } else { "with" };
        let rows = [
            (
                "    before",
                Some(Slot::Removed),
                match group.called.is_empty() {
                    true => format!("uses {}", visible(was)),
                    false => format!("calls {} with {}", named(&group.called), visible(was)),
                },
            ),
            ("    now", Some(Slot::Added), format!("{with} {}", visible(is))),
            ("    in", None, named(&group.functions)),
        ];
        for (label, slot, text) in rows {
            write_row(view, label, slot, &text, "", out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{hands_on_others, is_one_piece, replaced, tokens};
    use crate::change::samples::change;

    #[track_caller]
    fn check(deltas: &[&str], expected: Option<(&[&str], &str, &str)>) {
        let mut one = change(deltas);
        one.hunks.clear();
        let found = replaced(&one);
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let expected = expected.map(|(f, a, b)| (owned(f), (a.to_owned(), b.to_owned())));
        assert_eq!(found, expected, "{deltas:?}");
    }

    #[test]
    fn texts_differ_in_one_piece() {
        for (a, b, expected) in [
            ("f(g, x) == 1 | calls f(g, x), r(g)", "h(g) == 1 | calls h(g), r(g)", true),
            ("same", "same", true),
            ("returns 1", "returns 22", true),
            ("f(a) == 1 | calls f(a)", "g(a) == 1 | calls h(a)", false),
            ("f(a) == 1 | calls f(a)", "g(a) == 1 | calls f(a)", false),
            ("x", "", false),
        ] {
            assert_eq!(is_one_piece(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_same_calls_are_given_others() {
        let from = "| calls add(m, 125, n, 8) | calls add_1(m, GROUP_8, n, 8) | false";
        for (b, expected) in [
            ("| calls add(m, 140, n, 2) | calls add_1(m, GROUP_2, n, 2) | false", true),
            ("| calls add(m, 140, n, 2) | calls add_1(m, GROUP_2, n, 4) | false", false),
            ("| calls sub(m, 140, n, 8) | calls add_1(m, GROUP_2, n, 8) | false", false),
            ("| calls add(p, 140, q, 2) | calls add_1(p, GROUP_2, q, 2) | false", false),
            ("| calls add(m, 140, n) | calls add_1(m, GROUP_2, n) | false", false),
        ] {
            assert_eq!(hands_on_others(from, b), expected, "{b}");
        }
    }

    #[test]
    fn one_value_is_replaced() {
        check(&["| calls f(a, \"1\", 2) | calls f(a, \"2\", 2)"], Some((&["f"], "\"1\"", "\"2\"")));
        check(&["| calls f(…, \"1\", …) | calls f(…, \"2\", …)"], Some((&["f"], "\"1\"", "\"2\"")));
        check(
            &["| calls f(1) | calls f(2)", "| calls g(a, 1) | calls g(a, 2)"],
            Some((&["f", "g"], "1", "2")),
        );
        check(&["| returns 1.5 | returns 2.x"], Some((&[], "1.5", "2.x")));
        check(&["| calls f(1) | calls f(2)", "| calls g(1) | calls g(3)"], None);
        check(&["| calls f(a, 1) | calls f(b, 2)"], None);
        check(&["| calls f(1) | calls g(2)"], None);
        check(&["x | calls f(1) | calls f(2)"], None);
        check(&["| calls f(1) |"], None);
        check(&["| calls f(1) | calls f(1, 2)"], None);
        // Of a hunk of its own it is told there.
        assert!(replaced(&change(&["| calls f(1) | calls f(2)"])).is_none());
    }

    #[test]
    fn literals_are_one_token() {
        assert_eq!(tokens("f(\"a, \\\"b\", x.y+1)"), ["f", "(", "\"a, \\\"b\"", ",", "x.y", "+", "1", ")"]);
        assert_eq!(tokens("'\\'' \"open"), ["'\\''", "\"open"]);
    }
}
