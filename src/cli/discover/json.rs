//! Discovered invariants as JSON, in the words of the contract.

use crate::analysis::VersionInput;
use crate::analysis::discover::Found;
use crate::cli::CliError;
use crate::discovery::{Invariant, Iteration, Refuted, Status};
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

fn function(found: &Found) -> Value {
    let file = RepoPath::from(&found.file).to_string();
    match &found.discovered {
        Ok(d) => json!({
            "file": file,
            "function": *found.name,
            "iterations": d.iterations.iter().map(iteration).collect::<Vec<_>>(),
            "invariants": d.invariants.iter().map(invariant).collect::<Vec<_>>(),
            "refuted": d.refuted.iter().map(refuted).collect::<Vec<_>>(),
            "runs": d.runs,
            "not_followed": d.cut,
            "finished": !d.is_unfinished,
        }),
        Err(why) => json!({ "file": file, "function": *found.name, "reason": why.to_string() }),
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
    let status = match i.status {
        Status::Proved => "proved",
        Status::Bounded => "bounded",
        Status::Likely => "likely",
    };
    json!({
        "point": i.point.name(),
        "text": i.text,
        "template": i.family,
        "status": status,
        "samples": i.samples,
        "implied": i.is_implied,
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
