//! Counts as JSON, by the contract.

use super::text::{fraction, paired};
use crate::analysis::quantify::{Counted, Quantified};
use crate::count::{Decimal, Estimate, Interval};
use crate::quantify::{BranchCount, ChangeSample, Comparison, Sampled};
use crate::report::RepoPath;
use serde_json::{Map, Value, json};

/// A count with its share.
pub(super) fn number(n: i128, of: i128) -> Value {
    json!({ "count": n.to_string(), "fraction": fraction(n, of) })
}

/// All that is known of a function.
pub(super) fn target(q: &Quantified, target: &str) -> Value {
    let domain: Map<String, Value> = q.inputs.iter().map(|i| (i.name.clone(), span(&i.range))).collect();
    let versions: Vec<Value> = q
        .versions
        .iter()
        .enumerate()
        .filter_map(|(v, counted)| Some(version(v, counted.as_ref()?, q.is_target_only)))
        .collect();
    let step = |(v, step): (usize, &Result<Comparison, &'static str>)| match step {
        Ok(c) => compared(q, v, c),
        Err(why) => json!({ "from": v + 1, "to": v + 2, "not_compared": why }),
    };
    let steps: Vec<Value> = q.steps.iter().enumerate().map(step).collect();
    let last = q.steps.last().and_then(|s| s.as_ref().ok());
    let is_estimated = q.versions.iter().flatten().any(|c| c.totals.sampled.is_some());
    let at = target.strip_prefix("line:").or(target.strip_prefix("branch:"));
    let changed = |c: &Comparison| json!({ "reaching": number(c.reaching, q.size), "differing": number(c.differing, q.size) });
    json!({
        "file": RepoPath::from(&q.file), "function": &*q.name, "target": target,
        "line": at.and_then(|t| t.rsplit_once(':')?.1.parse::<u32>().ok()),
        "domain": domain, "domain_size": q.size.to_string(), "weighted": q.is_weighted,
        "method": if is_estimated { "estimated" } else { "exact" },
        "target_only": q.is_target_only,
        "harmless": (!q.is_target_only).then(|| super::text::is_harmless(q)),
        "versions": versions, "changed_inputs": last.map(changed),
        "dependent_branches": last.map(|c| &c.dependent), "steps": steps,
        "suite": q.tested.as_ref().map(|t| super::suite::json(q, t))
    })
}

/// Of what is not counted where nothing but the target is asked, there is none.
fn version(v: usize, c: &Counted, is_target_only: bool) -> Value {
    let t = &c.totals;
    let branch = |b: &BranchCount| {
        json!({
            "line": b.line, "true": b.taken.to_string(), "false": b.not_taken.to_string(),
            "conditional": conditional(b)
        })
    };
    let reasons: Map<String, Value> = t
        .reasons
        .iter()
        .map(|(why, grey)| {
            ((*why).to_owned(), json!({ "paths": grey.paths, "count": grey.inputs.to_string() }))
        })
        .collect();
    let all = |n: i128| (!is_target_only).then(|| n.to_string());
    let exact = fraction(t.target, t.size);
    let most = fraction(t.target.saturating_add(t.uncertain), t.size).min(1.0);
    let (probability, interval) = t
        .sampled
        .as_ref()
        .map_or((exact, [exact, most]), |s| (s.target.share, [s.target.low, s.target.high]));
    json!({
        "index": v + 1, "target_count": t.target.to_string(), "success": all(t.success), "failure": all(t.failure),
        "grey": if is_target_only { t.uncertain } else { t.grey }.to_string(), "grey_reasons": reasons,
        "probability": probability, "interval": interval,
        "estimate": t.sampled.as_ref().filter(|_| !is_target_only).map(sampled),
        "nodes": c.states, "explored": c.explored, "paths": c.paths,
        "queries": c.questions.asked, "queries_reused": c.questions.known,
        "branches": t.branches.iter().filter(|_| !is_target_only).map(branch).collect::<Vec<_>>(),
        "tree": c.tree.as_ref().map(|tree| super::tree::json(tree, t.size))
    })
}

fn estimate(e: &Estimate) -> Value {
    json!({ "fraction": e.share, "interval": [e.low, e.high] })
}

/// Shares of the domain, counted and sampled together.
fn sampled(s: &Sampled) -> Value {
    let (success, failure, grey) = (estimate(&s.success), estimate(&s.failure), estimate(&s.grey));
    json!({ "samples": s.inputs, "success": success, "failure": failure, "grey": grey })
}

/// The same of a change.
fn change(s: &ChangeSample) -> Value {
    json!({ "samples": s.inputs, "reaching": estimate(&s.reaching), "differing": estimate(&s.differing) })
}

fn conditional(b: &BranchCount) -> f64 {
    fraction(b.taken, b.taken.saturating_add(b.not_taken))
}

fn compared(q: &Quantified, v: usize, c: &Comparison) -> Value {
    let branch = |(old, new): (&BranchCount, &BranchCount)| {
        json!({
            "old_line": old.line, "line": new.line, "before": conditional(old), "after": conditional(new),
            "depends": c.dependent.contains(&new.line)
        })
    };
    json!({
        "from": v + 1, "to": v + 2, "reaching": number(c.reaching, q.size),
        "differing": number(c.differing, q.size), "differing_when": q.differ_when.get(v).cloned().flatten(),
        "agreeing": number(super::text::agreeing(c, q.size), q.size), "failing_differs": number(c.failing_differs, q.size),
        "open": number(c.open, q.size), "estimate": c.sampled.as_ref().map(change), "dependent_branches": c.dependent,
        "branches": paired(q, v).into_iter().map(branch).collect::<Vec<_>>()
    })
}

/// The ends of a range, and its step if it has one. What is infinite is a text.
fn span(range: &Interval) -> Value {
    [Some(range.low), Some(range.high), range.step].into_iter().flatten().map(bound).collect()
}

/// A bound of a 64-bit type as a number.
fn bound(n: Decimal) -> Value {
    let whole = n
        .as_whole()
        .and_then(|n| i64::try_from(n).map(Value::from).or_else(|_| u64::try_from(n).map(Value::from)).ok());
    let float =
        || n.to_string().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
    whole.or_else(float).unwrap_or_else(|| Value::from(n.to_string()))
}
