//! Notes: a report on one commit as a record for `refs/notes/invdiff`, and back.
//!
//! A record has a size limit. What does not fit is left out in steps, the least telling first, and the
//! record says what: first the facts that stayed, then all functions. The summary always stays.

use serde_json::{Map, Value};

use super::change::told;
use super::escape::visible;
use super::object::told_objects;
use super::trailer::{churn_lines, regression_line, regressions};
use super::{FunctionReport, Report, Summary, VersionInfo};
use crate::store::notes::{Ends, Record, SCHEMA};

/// Bytes a record may have unless `invdiff.noteLimit` says otherwise.
pub const DEFAULT_LIMIT: usize = 256 * 1024;
/// Churns, and changes that no churn describes, that the summary names.
const NAMED: usize = 3;

/// Returns the record for a report on `ends.parent` and `ends.commit`, in at most `limit` bytes if
/// that can be.
pub fn record(report: &Report, ends: &Ends, limit: usize) -> Record {
    let mut record = Record {
        schema: SCHEMA.to_string(),
        commit: ends.commit.clone(),
        parent: ends.parent.clone(),
        tree: ends.tree.clone(),
        parent_tree: ends.parent_tree.clone(),
        text: text(report),
        functions: to_json(&report.functions),
        omitted: Vec::new(),
        rest: Map::new(),
    };
    if record.line().len() > limit {
        let mut functions = report.functions.clone();
        for point in functions.iter_mut().flat_map(|f| &mut f.points) {
            point.version_invariants.clear();
            point.if_reached.clear();
            point.subset_invariants.clear();
            point.undecided.clear();
        }
        record.functions = to_json(&functions);
        record.omitted = vec!["version_invariants".to_string(), "undecided".to_string()];
    }
    if record.line().len() > limit {
        record.functions = Value::Array(Vec::new());
        record.omitted = vec!["functions".to_string()];
    }
    record
}

/// Returns the record as a report on two versions, as far as it goes, for renderers.
pub fn report(record: &Record) -> Report {
    // By way of its text, as reports are read: the model is compiled for one deserializer only.
    let text = serde_json::to_vec(&record.functions).unwrap_or_default();
    let functions: Vec<FunctionReport> = serde_json::from_slice(&text).unwrap_or_default();
    let version = |index, commit: &Option<String>| VersionInfo {
        index,
        commit: commit.clone(),
        name: commit.clone().unwrap_or_else(|| "(nothing)".to_string()),
        ..VersionInfo::default()
    };
    let mut report = Report {
        versions: vec![version(1, &record.parent), version(2, &Some(record.commit.clone()))],
        functions,
        complete: record.omitted.is_empty(),
        ..Report::default()
    };
    if !record.omitted.is_empty() {
        report.notices.push(format!("the note leaves out {} (invdiff.noteLimit)", record.omitted.join(", ")));
    }
    report.summary = Summary::of(&report);
    report
}

/// Says in one line what a report found.
fn text(report: &Report) -> String {
    let summary = Summary::of(report);
    let counted = |n: usize, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    let churns: Vec<_> = report.own_churns().concat();
    let observable = churns.iter().filter(|churn| churn.observable).count();
    let mut parts = vec![format!("{} ({observable} observable)", counted(churns.len(), "churn"))];
    if let changes @ 1.. = report.functions.iter().flat_map(told).count() {
        parts.push(counted(changes, "change"));
    }
    if let objects @ 1.. = told_objects(report).count() {
        parts.push(counted(objects, "object"));
    }
    parts.push(counted(summary.version_invariants, "version invariant"));
    if summary.undecided > 0 {
        parts.push(format!("{} undecided", summary.undecided));
    }
    if summary.hunks_not_analysed > 0 {
        parts.push(format!("{} not analysed", counted(summary.hunks_not_analysed, "hunk")));
    }
    let newest = report.versions.last().map_or(0, |v| v.index);
    parts.extend(regressions(report).iter().take(NAMED).map(|a| regression_line(a, newest)));
    let lines = churn_lines(report);
    let more = lines.len().saturating_sub(NAMED);
    parts.extend(lines.into_iter().take(NAMED));
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    visible(parts.join("; "))
}

/// Says what schema a line of a note has that is no record of ours.
pub fn schema_of(line: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(line).ok();
    match value.as_ref().and_then(|value| value.get("schema")).and_then(Value::as_str) {
        Some(schema) => format!("schema {schema}"),
        None => "another schema".to_owned(),
    }
}

fn to_json(functions: &[FunctionReport]) -> Value {
    serde_json::to_value(functions).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::samples;
    use crate::{Churn, Fact, Point};

    fn ends() -> Ends {
        let id = |c: &str| c.repeat(40);
        Ends { commit: id("a"), parent: Some(id("b")), tree: id("c"), parent_tree: Some(id("d")) }
    }

    fn sample() -> Report {
        let fact = Fact { text: "x == \u{fc}1\n".into(), ..Fact::default() };
        let churn = Churn { removed: vec![fact.clone()], observable: true, ..Churn::default() };
        let point = Point { churns: vec![churn], version_invariants: vec![fact; 20], ..Point::default() };
        let function = FunctionReport { name: "f".into(), points: vec![point], ..FunctionReport::default() };
        Report { functions: vec![function], ..Report::default() }
    }

    #[test]
    fn a_record_comes_back_as_the_report() {
        let record = record(&sample(), &ends(), DEFAULT_LIMIT);
        assert!(!record.line().contains('\n'));
        assert_eq!(report(&record).functions, sample().functions);
        assert_eq!(
            record.text,
            "1 churn (1 observable); 20 version invariants; :f: x == \u{fc}1\\n no longer provable"
        );
    }

    #[test]
    fn the_summary_tells_changes() {
        let function = FunctionReport {
            file: "a.c".into(),
            name: "f".into(),
            changes: vec![samples::change(&["x\n1 | a | b"]); 5],
            ..FunctionReport::default()
        };
        let record = record(
            &Report { functions: vec![function.clone()], ..Report::default() },
            &ends(),
            DEFAULT_LIMIT,
        );
        let line = "a.c:f: when x\\n1: a -> b (+13)";
        let counts = "0 churns (0 observable); 5 changes; 0 version invariants";
        assert_eq!(record.text, format!("{counts}; {line}; {line}; {line}; 2 more"));
        assert_eq!(report(&record).functions, [function]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_named() {
        let full = record(&sample(), &ends(), usize::MAX).line().len();
        let check = |limit: usize, churns: usize, omitted: &[&str]| {
            let record = record(&sample(), &ends(), limit);
            let report = report(&record);
            assert_eq!(
                (report.summary.churns, record.omitted),
                (churns, omitted.iter().map(|s| s.to_string()).collect())
            );
        };
        check(full, 1, &[]);
        check(full - 1, 1, &["version_invariants", "undecided"]);
        check(100, 0, &["functions"]);
    }
}
