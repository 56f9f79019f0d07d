//! Changes that one edit makes alike in many functions: a constant of a header that they all hand on is told once.

use super::View;
use super::changes::write_row;
use crate::escape::visible;
use crate::model::{Change, Otherwise};
use crate::palette::Slot;
use crate::steps::Changed;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Functions from which on a change is told once for all of them.
const MANY: usize = 4;
/// Names that are shown of them, and of those that they call.
const SHOWN: usize = 4;

/// What many functions hand on in the place of something else.
#[derive(Default)]
pub(super) struct Alike {
    functions: Vec<String>,
    called: Vec<String>,
}

/// By what stood there and what stands there now.
type Groups = BTreeMap<(String, String), Alike>;

/// Takes out of the functions of a step what is alike in many of them; a function of which nothing is left goes.
pub(super) fn taken(changed: &mut Vec<Changed>) -> Groups {
    let mut groups = Groups::new();
    for one in changed.iter() {
        for (callee, key) in one.changes.iter().filter_map(|c| replaced(c)) {
            let group = groups.entry(key).or_default();
            let name = format!("{}()", visible(&one.function.name));
            if group.functions.last() != Some(&name) {
                group.functions.push(name);
            }
            let callee = format!("{}()", visible(&callee));
            if !group.called.contains(&callee) {
                group.called.push(callee);
            }
        }
    }
    groups.retain(|_, group| group.functions.len() >= MANY);
    for one in changed.iter_mut() {
        one.changes.retain(|c| replaced(c).is_none_or(|(_, key)| !groups.contains_key(&key)));
    }
    changed.retain(|one| !one.changes.is_empty() || !one.points.is_empty() || !one.seen_by.is_empty());
    groups
}

/// Of a change that an edit elsewhere made and that is one argument of a call: the function that is called, and
/// the argument before and now.
fn replaced(change: &Change) -> Option<(String, (String, String))> {
    let [delta] = change.deltas.as_slice() else { return None };
    let ([before], [now]) = (delta.before.as_slice(), delta.now.as_slice()) else { return None };
    let is_elsewhere = change.hunks.is_empty() && change.otherwise == Otherwise::Same;
    if !is_elsewhere || !delta.when.text.is_empty() {
        return None;
    }
    let parts = |text: &str| -> Option<(String, Vec<String>)> {
        let (name, args) = text.strip_prefix("calls ")?.strip_suffix(')')?.split_once('(')?;
        Some((name.to_owned(), args.split(", ").map(str::to_owned).collect()))
    };
    let ((name, old), (other, new)) = (parts(&before.text)?, parts(&now.text)?);
    // Where long ones are left out beside the one that differs, the call has fewer words.
    let own = |mine: &[String], theirs: &[String]| -> Vec<String> {
        mine.iter().filter(|a| *a != "…" && !theirs.contains(a)).cloned().collect()
    };
    let ([was], [is]) = (&own(&old, &new)[..], &own(&new, &old)[..]) else { return None };
    (name == other).then(|| (name, (was.clone(), is.clone())))
}

/// Writes what was taken.
pub(super) fn write(view: &View, groups: &Groups, out: &mut dyn Write) -> io::Result<()> {
    for ((was, is), group) in groups {
        let named = |names: &[String]| {
            let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(SHOWN) {
                0 => shown,
                n => format!("{shown} and {n} more"),
            }
        };
        writeln!(out, "  in {} functions; -v lists them", group.functions.len())?;
        let rows = [
            (
                "    before",
                Some(Slot::Removed),
                format!("calls {} with {}", named(&group.called), visible(was)),
            ),
            ("    now", Some(Slot::Added), format!("with {}", visible(is))),
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
    use super::replaced;
    use crate::change::samples::change;

    #[track_caller]
    fn check(delta: &str, expected: Option<(&str, &str, &str)>) {
        let mut one = change(&[delta]);
        one.hunks.clear();
        let found = replaced(&one);
        let expected = expected.map(|(f, a, b)| (f.to_owned(), (a.to_owned(), b.to_owned())));
        assert_eq!(found, expected, "{delta}");
    }

    #[test]
    fn one_argument_is_replaced() {
        check("| calls f(a, \"1\", 2) | calls f(a, \"2\", 2)", Some(("f", "\"1\"", "\"2\"")));
        check("| calls f(…, \"1\", …) | calls f(…, \"2\", …)", Some(("f", "\"1\"", "\"2\"")));
        check("| calls f(a, 1) | calls f(b, 2)", None);
        check("| calls f(1) | calls g(2)", None);
        check("x | calls f(1) | calls f(2)", None);
        check("| returns 1 | returns 2", None);
        check("| calls f(1) |", None);
        // Of a hunk of its own it is told there.
        assert!(replaced(&change(&["| calls f(1) | calls f(2)"])).is_none());
    }
}
