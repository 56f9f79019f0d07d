//! The model as JSON: two blanks of indentation, keys in the model's order, a newline at the end.
//!
//! JSON escapes control characters by itself; characters that reorder text are escaped here, so that
//! a terminal shows what is there.

use super::Report;
use super::escape::is_deceptive;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the whole report.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    render_value(report, out)
}

/// Writes any data in the same manner.
pub fn render_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    // By way of a value, as for YAML: the model is compiled for one serializer fewer.
    let value = serde_json::to_value(value).map_err(io::Error::other)?;
    let text = serde_json::to_string_pretty(&value).map_err(io::Error::other)?;
    writeln!(out, "{}", escaped(&text))
}

/// Deceptive characters stand only inside strings, where an escape may replace each.
fn escaped(json: &str) -> String {
    if !json.chars().any(is_escaped) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Line ends of the layout stay; JSON has escaped all others.
fn is_escaped(c: char) -> bool {
    c != '\n' && c.is_control() || is_deceptive(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Churn, Fact, FunctionReport, FunctionStatus, HunkReport, Point, PointKind, RepoPath, Status, Value,
        VersionInfo, Witness,
    };
    use std::collections::BTreeMap;

    fn sample() -> Report {
        let fact = Fact {
            text: "c == 2 \u{202e}\u{e0041}\u{9b}".into(),
            versions: (1..=11).collect(),
            status: (1..=11).map(|v| (v, Status::Proved)).collect(),
            ..Fact::default()
        };
        let mut witness = Witness::default();
        witness.arguments.push(crate::Argument {
            name: "p".into(),
            ty: "struct buf *".into(),
            value: Value::Pointer { object: "m1".into(), offset: 0 },
        });
        let churn = Churn { removed: vec![fact.clone()], witness: Some(witness), ..Churn::default() };
        let point = Point {
            id: "exit".into(),
            kind: PointKind::Exit,
            lines: BTreeMap::from([(1, 15), (2, 17)]),
            version_invariants: vec![fact],
            churns: vec![churn],
            ..Point::default()
        };
        Report {
            versions: vec![VersionInfo { index: 1, name: "INDEX".into(), ..VersionInfo::default() }],
            hunks: vec![HunkReport { file: RepoPath::from(&b"b\xff.c"[..]), ..HunkReport::default() }],
            functions: vec![FunctionReport {
                file: "a.c".into(),
                outcome: FunctionStatus::PartlyAnalysed,
                points: vec![point],
                ..FunctionReport::default()
            }],
            ..Report::default()
        }
    }

    fn rendered(report: &Report) -> String {
        let mut out = Vec::new();
        render(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let report = sample();
        let text = rendered(&report);
        assert!(text.is_ascii(), "{text}");
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }

    #[test]
    fn the_shape_is_the_interface_s() {
        let json: serde_json::Value = serde_json::from_str(&rendered(&sample())).unwrap();
        let keys = |pointer: &str| -> String {
            let object = json.pointer(pointer).and_then(|v| v.as_object()).expect(pointer);
            object.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(keys(""), "schema tool settings complete versions hunks functions summary cost");
        assert_eq!(keys("/tool"), "name version z3");
        assert_eq!(keys("/settings"), "data_model rlimit unroll templates configuration");
        assert_eq!(keys("/versions/0"), "index commit name summary time");
        assert_eq!(keys("/hunks/0"), "from to file old_start old_lines new_start new_lines verdict why");
        assert_eq!(
            keys("/functions/0"),
            "file name language versions identity outcome complete unknowns points"
        );
        assert_eq!(keys("/functions/0/points/0"), "id kind lines version_invariants undecided churns");
        assert_eq!(
            keys("/functions/0/points/0/churns/0"),
            "id from to subject removed added observable claim causes hunks witness through age rank"
        );
        assert_eq!(
            keys("/functions/0/points/0/version_invariants/0"),
            "id template variables text c versions status bound samples assumptions lines"
        );
        assert_eq!(
            keys("/functions/0/points/0/churns/0/witness"),
            "kind entry arguments memory calls stdin stdin_base64 argv relies_on old new"
        );
        assert_eq!(
            keys("/functions/0/points/0/churns/0/witness/old"),
            "end return stdout exit values undefined"
        );
        assert_eq!(keys("/functions/0/points/0/version_invariants/0/status"), "1 2 3 4 5 6 7 8 9 10 11");
        let at = |pointer: &str| json.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(at("/schema"), "invdiff/1");
        assert_eq!(at("/hunks/0/verdict"), "not-analysed");
        assert_eq!(at("/hunks/0/file"), "\"b\\377.c\"");
        assert_eq!(at("/functions/0/outcome"), "partly-analysed");
        assert_eq!(at("/functions/0/points/0/churns/0/claim"), "no-longer-provable");
        assert_eq!(at("/functions/0/points/0/churns/0/witness/arguments/0/value/ref"), "m1");
    }

    #[test]
    fn fields_of_later_versions_are_skipped_and_missing_ones_default() {
        let report: Report = serde_json::from_str(r#"{"schema":"invdiff/1","later":[1]}"#).unwrap();
        assert_eq!(report, Report::default());
    }
}
