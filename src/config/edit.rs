//! Adds an entry to `.invdiff.yaml` without touching any other line.
//!
//! The text is edited where its `suppress` list ends, in the manner that it is written in, and read again:
//! an edit after which the file does not say what it said before, and the new entry, is not made.

use super::error::ConfigError;
use super::file::{ConfigFile, FILE_NAME, Suppression};

/// Returns the file's text with a suppression added.
///
/// Errors: the file cannot be read as it is, has an entry of this id, or is written so that the entry has to
/// be added by hand; the hint is the line.
pub fn suppress(text: &str, known: &Suppression) -> Result<String, ConfigError> {
    let before = ConfigFile::parse(FILE_NAME, text.as_bytes())?;
    if let Some(other) = before.suppress.iter().find(|s| s.id == known.id) {
        let message = format!("{} is suppressed already: {}", known.id, other.reason);
        return Err(ConfigError::new(FILE_NAME, message));
    }
    let mut expected = before;
    expected.suppress.push(known.clone());
    let entry = entry(known);
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let edited = edited(text, &entry, line_end);
    let says =
        |text: &String| ConfigFile::parse(FILE_NAME, text.as_bytes()).is_ok_and(|file| file == expected);
    edited.filter(says).ok_or_else(|| {
        let message = "its list of suppressions is written so that it has to be edited by hand";
        ConfigError { hint: Some(format!("add: {entry}")), ..ConfigError::new(FILE_NAME, message) }
    })
}

/// The entry in flow style.
fn entry(known: &Suppression) -> String {
    let mut text = format!("{{id: {}, reason: {}", quoted(&known.id), quoted(&known.reason));
    if let Some(until) = &known.until {
        text.push_str(&format!(", until: {until}"));
    }
    text + "}"
}

/// A double-quoted scalar.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn edited(text: &str, entry: &str, line_end: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_key =
        |line: &&str| line.strip_prefix("suppress").is_some_and(|rest| rest.trim_start().starts_with(':'));
    let Some(key) = lines.iter().position(is_key) else {
        let ended = text.is_empty() || text.ends_with('\n');
        let break_ = if ended { "" } else { line_end };
        return Some(format!("{text}{break_}suppress:{line_end}  - {entry}{line_end}"));
    };
    let content = |line: &str| line.split(" #").next().unwrap_or_default().trim_end().to_owned();
    let value = content(lines[key].split_once(':')?.1).trim().to_owned();
    if value == "[]" {
        let start: usize = lines[..key].iter().map(|l| l.len()).sum();
        let open = start + lines[key].find("[]")?;
        return Some(format!("{}[{entry}]{}", &text[..open], &text[open + 2..]));
    }
    if !value.is_empty() {
        return None;
    }
    // A block list ends before the next line that is neither blank, nor indented, nor an item of its own.
    let is_comment = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let belongs = |line: &str| is_comment(line) || line.starts_with(' ') || line.starts_with("- ");
    let end = key + 1 + lines[key + 1..].iter().take_while(|l| belongs(l)).count();
    // Comments and blank lines behind the last item stay behind the new one.
    let last = (key + 1..end).rev().find(|i| !is_comment(lines[*i])).unwrap_or(key);
    let item = lines[key + 1..=last.max(key)].iter().find(|l| l.trim_start().starts_with("- "));
    let indent = item.map_or(2, |l| l.len() - l.trim_start().len());
    let mut out: String = lines[..=last].concat();
    if !out.ends_with('\n') {
        out.push_str(line_end);
    }
    out.push_str(&format!("{}- {entry}{line_end}", " ".repeat(indent)));
    out.push_str(&lines[last + 1..].concat());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(reason: &str, until: Option<&str>) -> Suppression {
        Suppression { id: "0123456789abcdef".into(), reason: reason.into(), until: until.map(str::to_owned) }
    }

    const ENTRY: &str = "- {id: \"0123456789abcdef\", reason: \"r\"}\n";

    #[track_caller]
    fn check(before: &str, expected: &str) {
        let after = suppress(before, &known("r", None)).expect(before);
        assert_eq!(after, expected.replace("ENTRY\n", ENTRY), "{before}");
    }

    #[test]
    fn the_entry_joins_the_list_and_nothing_else_changes() {
        check("", "suppress:\n  ENTRY\n");
        check("version: 1", "version: 1\nsuppress:\n  ENTRY\n");
        check("# ours\ngate: {age: 3} # three\n", "# ours\ngate: {age: 3} # three\nsuppress:\n  ENTRY\n");
        check(
            "suppress: # known\n# first\n- {id: a, reason: b}\n\n# then\ngate: {age: 3}\n",
            "suppress: # known\n# first\n- {id: a, reason: b}\nENTRY\n\n# then\ngate: {age: 3}\n",
        );
        check(
            "suppress:\n    - id: a\n      reason: b # why\ngate:\n  age: 3",
            "suppress:\n    - id: a\n      reason: b # why\n    ENTRY\ngate:\n  age: 3",
        );
        check("suppress:\n  - {id: a, reason: b}", "suppress:\n  - {id: a, reason: b}\n  ENTRY\n");
        check("suppress: [] # none\n", &format!("suppress: [{}] # none\n", &ENTRY[2..ENTRY.len() - 1]));
        let windows = suppress("version: 1\r\n", &known("r", None)).expect("an edit");
        assert!(windows.ends_with("}\r\n") && windows.matches("\r\n").count() == 3, "{windows:?}");
    }

    #[test]
    fn reasons_are_quoted() {
        for reason in ["say \"no\"", "a: b # c", "back\\slash", "two\nlines", "- x", "\u{1b}[31m", "ünï"] {
            let text = suppress("", &known(reason, Some("2027-01-31"))).expect(reason);
            let file = ConfigFile::parse(FILE_NAME, text.as_bytes()).expect("a file");
            assert_eq!(file.suppress, [known(reason, Some("2027-01-31"))]);
        }
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let refused = |text: &str| suppress(text, &known("r", None)).expect_err(text).message;
        assert!(refused("suppress: [{id: a, reason: b}]\n").contains("by hand"));
        assert!(refused("{version: 1}\n").contains("by hand"));
        assert!(refused("suppress: [{id: \"0123456789abcdef\", reason: b}]\n").contains("already"));
        assert!(refused("nonsense: 1\n").contains("unknown key"));
    }
}
