//! The code quality document of GitLab: an array of issues, each with a fingerprint of its own.

use super::finding::{Finding, Level};
use super::json;
use serde_json::json;
use std::io::{self, Write};

/// Writes findings; what is suppressed is left out, since the format has no word for it.
pub fn render(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let issues: Vec<_> = findings
        .iter()
        .filter(|f| f.suppressed.is_none())
        .map(|f| {
            json!({
                "description": format!("{}: {}", f.whose(), f.message),
                "check_name": f.rule.id,
                "fingerprint": f.id,
                "severity": match f.level {
                    Level::Error => "critical",
                    Level::Warning => "minor",
                    Level::Note => "info",
                },
                "location": {"path": String::from_utf8_lossy(f.file.as_bytes()), "lines": {"begin": f.line}},
            })
        })
        .collect();
    json::render_value(&issues, out)
}
