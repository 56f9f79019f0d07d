//! The model as YAML. It goes through the JSON values, so that both formats hold the same data under
//! the same keys (versions as strings).

use super::Report;
use super::escape::is_deceptive;
use serde_json::Value;
use std::io::{self, Write};

/// Writes the whole report as one document.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut value = serde_json::to_value(report).map_err(io::Error::other)?;
    mark_deceptive(&mut value);
    // Folding would put line breaks into facts.
    let options = serde_yaml::ser_options! {
        folded_wrap_chars: usize::MAX,
        min_fold_chars: usize::MAX,
        prefer_block_scalars: false,
    };
    let text = serde_yaml::to_string_with_options(&value, options).map_err(io::Error::other)?;
    out.write_all(unmarked(&text).as_bytes())
}

/// Stands around the number of a character that must be escaped. As a control character it makes the
/// serialiser use double quotes, the one style of YAML in which characters can be escaped at all.
const MARK: char = '\u{1}';
/// How the serialiser writes [`MARK`].
const WRITTEN_MARK: &str = "\\x01";

fn mark_deceptive(value: &mut Value) {
    let must_escape = |c: char| c == MARK || is_deceptive(c);
    match value {
        Value::String(text) if text.contains(must_escape) || text.contains(WRITTEN_MARK) => {
            let marked = text.chars().map(|c| match c {
                // A backslash could make a written mark of what follows it.
                c if must_escape(c) || c == '\\' => format!("{MARK}{:08x}{MARK}", u32::from(c)),
                c => c.to_string(),
            });
            *text = marked.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(mark_deceptive),
        Value::Object(fields) => fields.values_mut().for_each(mark_deceptive),
        _ => {}
    }
}

/// Turns what [`mark_deceptive`] put in into escapes. Texts hold no mark of their own any more, so
/// marks come in pairs.
fn unmarked(yaml: &str) -> String {
    let pieces = yaml.split(WRITTEN_MARK).enumerate();
    pieces.map(|(i, piece)| if i % 2 == 0 { piece.to_owned() } else { format!("\\U{piece}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fact, FunctionReport, Point, Status, VersionInfo};

    #[test]
    fn yaml_holds_what_json_holds() {
        let texts = [
            "c == 2",
            "y: - {x}",
            "0x10",
            "no",
            "\u{7}\u{202e}\\old(x) # \"'",
            "\u{1}\\x01\u{e0041}",
            "a\u{202e}",
            " a\n\tb ",
            "~",
            "1e3",
            "é",
        ];
        let facts = texts.map(|text| Fact {
            text: text.into(),
            status: [(1, Status::Proved), (10, Status::Likely)].into(),
            ..Fact::default()
        });
        let point = Point { version_invariants: facts.into(), ..Point::default() };
        let function = FunctionReport {
            file: (&b"\"\xff"[..]).into(),
            points: vec![point],
            ..FunctionReport::default()
        };
        let report = Report {
            versions: vec![VersionInfo { index: 1, commit: Some("0".repeat(40)), ..VersionInfo::default() }],
            functions: vec![function],
            ..Report::default()
        };
        let mut out = Vec::new();
        render(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let back: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        assert_eq!(back, serde_json::to_value(&report).unwrap(), "{text}");
        assert!(!text.contains(['\u{7}', '\u{202e}']), "{text}");
    }
}
