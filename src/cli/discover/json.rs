//! Discovered invariants as JSON, in the words of the contract.

use crate::analysis::VersionInput;
use crate::analysis::discover::{Found, Refused};
use crate::cli::CliError;
use crate::discovery::{
    Change, Discovered, HeadPlace, Held, Invariant, Iteration, Point, Refuted, Status, Told,
};
use crate::mvicfg::VersionId;
use crate::report::{RepoPath, SCHEMA};
use serde_json::{Value, json};
use std::io::Write;

/// Writes all functions.
pub(super) fn write(
    found: &[Found],
    versions: &[VersionInput],
    out: &mut impl Write,
) -> Result<(), CliError> {
    let versions: Vec<Value> =
        versions.iter().map(|v| serde_json::to_value(&v.info).unwrap_or_default()).collect();
    let functions: Vec<Value> = found.iter().map(function).collect();
    let all = json!({ "schema": SCHEMA, "versions": versions, "functions": functions });
    let text = serde_json::to_string_pretty(&all).map_err(|e| CliError::fatal(e.to_string()))?;
    writeln!(out, "{text}")?;
    Ok(())
}

/// The newest version's, in the contract's words; of several versions also each, and what became of invariants.
fn function(found: &Found) -> Value {
    let file = RepoPath::from(&found.file).to_string();
    let mut all = json!({ "file": file, "function": *found.name });
    let newest = found.versions.iter().flatten().next_back();
    for (key, value) in newest.map(version).unwrap_or_default() {
        all[key] = value;
    }
    if found.versions.len() > 1 {
        let one = |(v, d): (VersionId, &Option<Result<Discovered, Refused>>)| {
            let mut one = json!({ "index": v.number() });
            for (key, value) in d.as_ref().map(version).unwrap_or_default() {
                one[key] = value;
            }
            one
        };
        all["versions"] = VersionId::each(&found.versions).map(one).collect();
        let heads = |v: VersionId| Some(&found.versions[v].as_ref()?.as_ref().ok()?.heads);
        let of = |v: VersionId, point: Point, value: Value| at(point, heads(v).map_or(&[], |h| h), value);
        let newest = VersionId::first(found.versions.len()).rev().find(|v| heads(*v).is_some());
        let newest = newest.unwrap_or(VersionId::OLD);
        all["held"] = found.story.held.iter().map(|h| of(newest, h.point, held(h))).collect();
        all["changes"] = found.story.changes.iter().map(|c| of(c.to, c.point, change(c))).collect();
    }
    all
}

/// A point's finding, with the line where that is the head of a loop.
fn at(point: Point, heads: &[HeadPlace], mut value: Value) -> Value {
    if let Point::Head(k) = point
        && let Some(head) = heads.get(k)
    {
        value["line"] = json!(head.line);
        if head.of_line > 0 {
            value["loop_of_line"] = json!(head.of_line);
        }
    }
    value
}

fn version(found: &Result<Discovered, Refused>) -> Vec<(&'static str, Value)> {
    match found {
        Ok(d) => vec![
            ("iterations", d.iterations.iter().map(iteration).collect()),
            ("invariants", d.invariants.iter().map(|i| at(i.point, &d.heads, invariant(i))).collect()),
            ("proved_beside", d.told.iter().map(|t| at(t.point, &d.heads, told(t))).collect()),
            ("refuted", d.refuted.iter().map(|r| at(r.point, &d.heads, refuted(r))).collect()),
            ("runs", json!(d.runs)),
            ("not_followed", json!(d.cut)),
            ("finished", json!(!d.is_unfinished)),
        ],
        Err(why) => vec![("reason", json!(why.to_string()))],
    }
}

fn held(h: &Held) -> Value {
    json!({ "point": h.point.name(), "text": h.text, "status": status(h.status), "samples": h.samples })
}

fn change(c: &Change) -> Value {
    json!({
        "from": c.from.number(),
        "to": c.to.number(),
        "sign": if c.is_lost { "-" } else { "+" },
        "point": c.point.name(),
        "text": c.text,
        "status": status(c.status),
        "samples": c.samples,
        "witness": { "kind": "replayed", "input": c.input },
    })
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Proved => "proved",
        Status::Bounded => "bounded",
        Status::Likely => "likely",
    }
}

fn iteration(i: &Iteration) -> Value {
    json!({
        "index": i.index,
        "invariants": i.invariants,
        "refuted": i.refuted,
        "added": i.added,
        "tests": i.tests,
        "solver_queries": i.queries,
        "states": i.states,
        "reused": i.reused,
    })
}

fn invariant(i: &Invariant) -> Value {
    json!({
        "point": i.point.name(),
        "text": i.text,
        "template": i.family,
        "status": status(i.status),
        "samples": i.samples,
        "implied": i.is_implied,
    })
}

fn told(t: &Told) -> Value {
    json!({
        "point": t.point.name(),
        "text": t.text,
        "template": t.template,
        "status": "proved",
        "assumptions": t.assumptions,
    })
}

fn refuted(r: &Refuted) -> Value {
    json!({
        "point": r.point.name(),
        "text": r.text,
        "iteration": r.iteration,
        "witness": { "kind": "replayed", "input": r.input },
    })
}
