//! Annotations of a workflow of GitHub Actions, and the summary of its step.
//!
//! GitHub shows ten annotations of a kind for a step and drops the rest without a word, so the tenth says how
//! many there are. A summary of more than 1 MiB is not shown at all: it is cut between findings.

use super::Report;
use super::finding::{Finding, Level};
use std::io::{self, Write};

/// Annotations of a kind that are shown.
const MAX_OF_A_KIND: usize = 10;
/// Bytes of a step's summary.
const MAX_SUMMARY: usize = 1 << 20;

/// Writes one workflow command a finding. What is suppressed is left out.
pub fn render(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for (level, command) in [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "notice")] {
        let all: Vec<&Finding> =
            findings.iter().filter(|f| f.level == level && f.suppressed.is_none()).collect();
        let shown = if all.len() > MAX_OF_A_KIND { MAX_OF_A_KIND - 1 } else { all.len() };
        for f in &all[..shown] {
            let file = String::from_utf8_lossy(f.file.as_bytes());
            let title = match f.is_of_object() {
                true => format!("{}: {}", f.rule.title, f.whose()),
                false => format!("{} in {}", f.rule.title, f.whose()),
            };
            writeln!(
                out,
                "::{command} file={},line={},title={}::{}",
                property(&file),
                f.line,
                property(&title),
                data(&f.message)
            )?;
        }
        if all.len() > shown {
            let more = all.len() - shown;
            writeln!(
                out,
                "::{command} title=git invdiff::{more} more of this kind; the step's summary lists them"
            )?;
        }
    }
    Ok(())
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Returns the summary of a step as Markdown.
pub fn summary(report: &Report, findings: &[Finding]) -> String {
    let versions = report.versions.iter().map(|v| code(&v.name)).collect::<Vec<_>>();
    let ends = match versions.as_slice() {
        [] => String::new(),
        [one] => format!(" of {one}"),
        [first, .., last] => format!(" of {first} to {last}"),
    };
    let mut text = format!("## git invdiff{ends}\n\n");
    if findings.is_empty() {
        text.push_str("Nothing to object to.\n");
    }
    for (at, finding) in findings.iter().enumerate() {
        let section = section(finding);
        let rest = format!("\n… and {} more\n", findings.len() - at);
        if text.len() + section.len() + rest.len() > MAX_SUMMARY {
            text.push_str(&rest);
            break;
        }
        text.push_str(&section);
    }
    text
}

fn section(f: &Finding) -> String {
    let mark = match (f.level, &f.suppressed) {
        (_, Some(_)) => "suppressed",
        (Level::Error, _) => "error",
        (Level::Warning, _) => "warning",
        (Level::Note, _) => "note",
    };
    let file = String::from_utf8_lossy(f.file.as_bytes());
    let place = code(&format!("{file}:{}", f.line));
    let reason = f.suppressed.as_ref().map(|r| format!(" ({})", code(r))).unwrap_or_default();
    let function = code(&f.whose());
    format!("- **{mark}**{reason} {place} {function} {}: {}\n", f.rule.title, code(&f.message))
}

/// A code span that holds any text.
fn code(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let longest = plain.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if plain.starts_with('`') || plain.ends_with('`') || plain.is_empty() { " " } else { "" };
    format!("{fence}{pad}{plain}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::rule;

    fn finding(message: &str) -> Finding {
        Finding {
            rule: rule("churn/changed").expect("a rule"),
            level: Level::Error,
            message: message.into(),
            file: "a,b:c.c".into(),
            line: 3,
            function: "f".into(),
            id: "1".into(),
            text_id: "2".into(),
            related: Vec::new(),
            suppressed: None,
        }
    }

    fn rendered(findings: &[Finding]) -> String {
        let mut out = Vec::new();
        render(findings, &mut out).expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn commands_are_escaped() {
        let title = "A fact took the place of another in f()";
        assert_eq!(
            rendered(&[finding("50%\n::error::x")]),
            format!("::error file=a%2Cb%3Ac.c,line=3,title={title}::50%25%0A::error::x\n")
        );
        let change =
            Finding { rule: rule("change/local").expect("a rule"), level: Level::Note, ..finding("a\n") };
        let title = "The code does something else here in f()";
        assert_eq!(rendered(&[change]), format!("::notice file=a%2Cb%3Ac.c,line=3,title={title}::a%0A\n"));
    }

    #[test]
    fn the_tenth_annotation_says_how_many_there_are() {
        let many = |n: usize| rendered(&vec![finding("x"); n]);
        assert_eq!(many(10).lines().count(), 10);
        assert!(!many(10).contains("more"));
        assert_eq!(many(11).lines().count(), 10);
        assert!(many(11).ends_with("::2 more of this kind; the step's summary lists them\n"));
        let quiet = Finding { suppressed: Some("known".into()), ..finding("x") };
        assert_eq!(rendered(&[quiet]), "");
    }

    #[test]
    fn a_summary_is_cut_between_findings() {
        let long = finding(&"`x` ".repeat(1000));
        let text = summary(&Report::default(), &vec![long; 1000]);
        assert!(text.len() <= MAX_SUMMARY && text.len() > MAX_SUMMARY - 10_000);
        assert!(text.ends_with(" more\n"));
        assert!(summary(&Report::default(), &[]).contains("Nothing to object to."));
    }

    #[test]
    fn code_spans_hold_any_text() {
        for (text, expected) in
            [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "`  `"), ("a\nb", "`a b`")]
        {
            assert_eq!(code(text), expected);
        }
    }
}
