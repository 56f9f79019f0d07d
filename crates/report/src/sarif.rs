//! SARIF 2.1.0, as code hosts read it (OASIS, "Static Analysis Results Interchange Format Version 2.1.0").
//!
//! Limits are those of GitHub's code scanning: results beyond [`MAX_RESULTS`], or beyond [`MAX_BYTES`] of
//! text, are left out, the least grave first, and a notification says so. `primaryLocationLineHash` is the
//! one fingerprint that GitHub follows an alert by: here it holds no line.

use super::finding::{Finding, Level, RULES};
use super::path::RepoPath;
use super::{Report, json, unseen};
use serde_json::{Value, json};
use std::io::{self, Write};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Results that are shown of a run.
pub const MAX_RESULTS: usize = 5000;
/// Bytes of all results; the file may have 10 MB.
pub const MAX_BYTES: usize = 9_000_000;
/// Locations beside a result.
const MAX_RELATED: usize = 20;
/// Characters of a message.
const MAX_MESSAGE: usize = 2000;

/// Writes findings of a report as one run. `category` tells the runs of one commit apart.
pub fn render(report: &Report, findings: &[Finding], category: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut results = Vec::new();
    let mut bytes = 0;
    for finding in findings.iter().take(MAX_RESULTS) {
        let value = result(finding);
        bytes += serde_json::to_string_pretty(&value).map_err(io::Error::other)?.len();
        if bytes > MAX_BYTES {
            break;
        }
        results.push(value);
    }
    let left_out = findings.len() - results.len();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": report.tool.name,
                "semanticVersion": report.tool.version,
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": format!("git-invdiff/{category}/")},
            "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The top of the repository."}}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(report, left_out),
            }],
            "results": results,
        }],
    });
    json::render_value(&document, out)
}

fn rule(rule: &super::finding::Rule) -> Value {
    let property = rule.id.starts_with("property/");
    let (level, severity) = match () {
        () if property => ("error", "error"),
        // Something to read beside the change, and nothing to mend.
        () if rule.id.starts_with("change/") => ("note", "recommendation"),
        () => ("warning", "warning"),
    };
    json!({
        "id": rule.id,
        "name": rule.title.split(' ').map(capital).collect::<String>().replace([',', '.'], ""),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "help": {
            "text": format!("{}\n\n{}", rule.text, rule.example),
            "markdown": format!("{}\n\n```diff\n{}\n```", rule.text, rule.example),
        },
        "defaultConfiguration": {"level": level},
        "properties": {
            "precision": "very-high",
            "problem.severity": severity,
            "tags": ["correctness", if property { "regression" } else { "semantic-diff" }],
        },
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars().filter(|c| c.is_alphanumeric());
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn result(finding: &Finding) -> Value {
    let index = RULES.iter().position(|r| r.id == finding.rule.id);
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let mut location = location(&finding.file, finding.line);
    location["logicalLocations"] = {
        let kind = if finding.is_of_object() { "variable" } else { "function" };
        json!([{"name": finding.function, "kind": kind}])
    };
    let mut value = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": level,
        "message": {"text": shortened(&finding.message)},
        "locations": [location],
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:1", finding.id),
            "invdiffId/v1": finding.id,
            "invdiffText/v1": finding.text_id,
        },
    });
    let related: Vec<Value> = finding
        .related
        .iter()
        .take(MAX_RELATED)
        .zip(1..)
        .map(|(r, id)| {
            let mut place = self::location(&r.file, r.line);
            place["id"] = json!(id);
            place["message"] =
                json!({"text": if r.text.trim().is_empty() { "rests on" } else { r.text.trim() }});
            place
        })
        .collect();
    if !related.is_empty() {
        value["relatedLocations"] = Value::Array(related);
    }
    if let Some(reason) = &finding.suppressed {
        value["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    value
}

fn location(file: &RepoPath, line: u32) -> Value {
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(file), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line},
    }})
}

/// A relative reference (RFC 3986): of the path's bytes all but the unreserved are escaped.
pub fn uri(file: &RepoPath) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'/');
    let mut out = String::new();
    for &b in file.as_bytes() {
        match plain(b) {
            true => out.push(char::from(b)),
            false => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

fn shortened(text: &str) -> String {
    super::escape::shortened(text, MAX_MESSAGE)
}

/// What a reader should know of the run itself.
fn notifications(report: &Report, left_out: usize) -> Vec<Value> {
    let mut said = Vec::new();
    let mut say = |level: &str, text: String| said.push(json!({"level": level, "message": {"text": text}}));
    if left_out > 0 {
        say(
            "warning",
            format!(
                "{left_out} more results are left out: a run has room for {MAX_RESULTS} of them and {MAX_BYTES} bytes"
            ),
        );
    }
    unseen::pieces(report)
        .iter()
        .for_each(|piece| say("note", shortened(&format!("not looked at: {piece}"))));
    report
        .notices
        .iter()
        .filter(|n| !n.starts_with("note: "))
        .for_each(|notice| say("note", shortened(notice)));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(n: usize, message: &str) -> Value {
        let finding = Finding {
            rule: &RULES[0],
            level: Level::Warning,
            message: message.to_owned(),
            file: "a.c".into(),
            line: 1,
            function: "f".into(),
            id: "1".into(),
            text_id: "2".into(),
            related: Vec::new(),
            suppressed: None,
        };
        let mut out = Vec::new();
        render(&Report::default(), &vec![finding; n], "check", &mut out).expect("written");
        assert!(out.len() < 10_000_000, "{}", out.len());
        serde_json::from_slice(&out).expect("JSON")
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let counts = |n: usize, message: &str| {
            let document = document(n, message);
            let run = &document["runs"][0];
            let said = run["invocations"][0]["toolExecutionNotifications"].as_array().map_or(0, Vec::len);
            (run["results"].as_array().map_or(0, Vec::len), said)
        };
        assert_eq!(counts(2, "short"), (2, 0));
        assert_eq!(counts(MAX_RESULTS + 1, "short"), (MAX_RESULTS, 1));
        let (results, said) = counts(MAX_RESULTS, &"long ".repeat(1000));
        assert!(results < MAX_RESULTS && results > 1000 && said == 1, "{results}");
    }

    #[test]
    fn paths_are_escaped() {
        for (path, expected) in [("src/a.c", "src/a.c"), ("a b:c#.c", "a%20b%3Ac%23.c"), ("ü%", "%C3%BC%25")]
        {
            assert_eq!(uri(&path.into()), expected);
        }
        assert_eq!(uri(&RepoPath::from(&b"\xff"[..])), "%FF");
    }

    /// As grave as the findings of the rule are, so that a host that shows errors alone shows no more than these.
    #[test]
    fn rules_are_as_grave_as_their_findings() {
        let document = document(1, "text");
        let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), RULES.len());
        for (id, level) in
            [("change/local", "note"), ("churn/changed", "warning"), ("property/null", "error")]
        {
            let rule = rules.iter().find(|r| r["id"] == id).expect(id);
            assert_eq!(rule["defaultConfiguration"]["level"], level);
        }
    }
}
