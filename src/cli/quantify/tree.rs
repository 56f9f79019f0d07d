//! Trees of decisions as drawings and as JSON.

use super::json::number;
use super::text::{Scale, title};
use crate::analysis::VersionInput;
use crate::analysis::quantify::Quantified;
use crate::quantify::tree::{BranchDecision, Kind, Node, Tree};
use crate::report::tree as drawn;
use serde_json::{Value, json};

/// The drawings of all versions of all functions.
pub(super) fn drawings(found: &[Quantified], versions: &[VersionInput]) -> Vec<drawn::Tree> {
    found.iter().flat_map(|q| of_function(q, versions)).collect()
}

/// The drawings of all versions of a function.
pub(super) fn of_function(q: &Quantified, versions: &[VersionInput]) -> Vec<drawn::Tree> {
    let tree = |(v, counted): (usize, &Option<crate::analysis::quantify::Counted>)| {
        let tree = counted.as_ref()?.tree.as_ref()?;
        let name = versions.get(v).map_or("", |v| v.info.name.as_str());
        let hidden = match tree.hidden {
            0 => String::new(),
            n => format!(", {n} nodes folded (--all draws them)"),
        };
        let title = format!("{}() in version {} ({name}){hidden}", title(q), v + 1);
        Some(drawn::Tree { title, nodes: tree.nodes.iter().map(|n| node(n, tree, q)).collect() })
    };
    q.versions.iter().enumerate().filter_map(tree).collect()
}

fn node(n: &Node, tree: &Tree, q: &Quantified) -> drawn::Node {
    let scale = Scale::of(q);
    let above = n.parent.and_then(|p| tree.nodes.get(p)).and_then(|p| p.inputs);
    let mut way = Vec::new();
    let mut rows = Vec::new();
    match &n.way {
        BranchDecision::Start => {}
        _ if n.kind == Kind::NotFollowed => {}
        BranchDecision::Decided(taken) => way.push(taken.to_string()),
        BranchDecision::When(condition) => rows.push(format!("if {condition}")),
    }
    if let (Some(n), Some(above)) = (n.inputs, above) {
        // Of those that come to the parent.
        way.push(format!("{} %", super::text::percent(n, above)));
    }
    rows.push(words(&n.kind, n.paths, q));
    rows.push(n.inputs.map_or("inputs not counted".to_owned(), |n| scale.share(n)));
    drawn::Node { parent: n.parent, way, rows, look: look(&n.kind), is_affected: n.is_affected }
}

fn look(kind: &Kind) -> drawn::Look {
    match kind {
        Kind::Branch { .. } | Kind::Assertion { .. } | Kind::Parting => drawn::Look::Decision,
        Kind::Returns(_) | Kind::Exits(_) => drawn::Look::Success,
        Kind::Fails(_) => drawn::Look::Failure,
        Kind::Grey(_) | Kind::NotFollowed => drawn::Look::Grey,
        Kind::Folded => drawn::Look::Folded,
    }
}

/// What a node is, in words.
fn words(kind: &Kind, paths: usize, q: &Quantified) -> String {
    let at = |line: u32| if line == 0 { String::new() } else { format!(" at line {line}") };
    let value = |word: &str, value: &Option<String>| match value {
        Some(text) => format!("{word} {text}"),
        None => word.to_owned(),
    };
    match kind {
        Kind::Branch { function, line, condition } => {
            let place = if *line == 0 { String::new() } else { format!("{line}: ") };
            let of = if **function == *q.name { String::new() } else { format!("{function}() ") };
            format!("{of}{place}{condition}")
        }
        Kind::Assertion { line, condition } => match line {
            0 => format!("assert {condition}"),
            line => format!("{line}: assert {condition}"),
        },
        Kind::Parting => "inputs part here".to_owned(),
        Kind::Returns(text) => value("returns", text),
        Kind::Exits(text) => value("exits with", text),
        Kind::Fails(line) => format!("fails{}", at(*line)),
        Kind::Grey(why) => format!("grey: {why}"),
        Kind::NotFollowed => "not followed: beyond a bound".to_owned(),
        Kind::Folded if paths == 1 => "1 path, folded".to_owned(),
        Kind::Folded => format!("{paths} paths, folded"),
    }
}

/// A tree as JSON: its nodes, each with the number of its parent.
pub(super) fn json(tree: &Tree, size: i128) -> Value {
    let node = |n: &Node| {
        let above = n.parent.and_then(|p| tree.nodes.get(p)).and_then(|p| p.inputs);
        let (kind, line, text) = match &n.kind {
            Kind::Branch { line, condition, .. } => ("branch", Some(*line), Some(condition.clone())),
            Kind::Assertion { line, condition } => ("assertion", Some(*line), Some(condition.clone())),
            Kind::Parting => ("parting", None, None),
            Kind::Returns(text) => ("returns", None, text.clone()),
            Kind::Exits(text) => ("exits", None, text.clone()),
            Kind::Fails(line) => ("fails", Some(*line), None),
            Kind::Grey(why) => ("grey", None, Some((*why).to_owned())),
            Kind::Folded => ("folded", None, None),
            Kind::NotFollowed => ("not-followed", None, None),
        };
        let (taken, when) = match &n.way {
            BranchDecision::Start => (None, None),
            BranchDecision::Decided(taken) => (Some(*taken), None),
            BranchDecision::When(condition) => (None, Some(condition)),
        };
        json!({
            "parent": n.parent, "kind": kind, "line": line.filter(|l| *l > 0), "text": text,
            "taken": taken, "when": when, "inputs": n.inputs.map(|n| number(n, size)),
            "conditional": n.inputs.zip(above).map(|(n, of)| super::text::fraction(n, of)),
            "paths": n.paths, "affected": n.is_affected
        })
    };
    json!({ "nodes": tree.nodes.iter().map(node).collect::<Vec<_>>(), "folded_nodes": tree.hidden })
}
