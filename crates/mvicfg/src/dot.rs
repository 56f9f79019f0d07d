//! Multiversion graphs as one drawing in the DOT language, for people.
//!
//! A function is a cluster; calls between them are dashed. Nodes of all classes are white, of some
//! yellow; an edge that not every class has is labelled with its versions. Node labels are the source
//! lines that the instructions stand on, and what a call calls.

use super::{ClassId, ClassSet, MvId, Mvicfg, VersionId};
use crate::ir::{Callee, Instr};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One function, and what drawing it needs beside the graph.
pub struct Part<'a> {
    pub graph: &'a Mvicfg,
    pub title: String,
    /// Text of a class's source lines, by number.
    pub lines: &'a [BTreeMap<u32, String>],
    /// The class of each version.
    pub class_of: &'a [Option<ClassId>],
    /// The parts that names stand for in calls.
    pub callees: BTreeMap<&'a str, usize>,
}

/// Returns the drawing.
pub fn dot(parts: &[Part]) -> String {
    let mut out = String::from("digraph invdiff {\n");
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10, style=filled, fillcolor=white];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    let mut calls = String::new();
    for (p, part) in parts.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{p} {{\n    label=\"{}\";", quoted(&part.title));
        cluster(p, part, &mut out, &mut calls);
        out.push_str("  }\n");
    }
    out + &calls + "}\n"
}

fn cluster(p: usize, part: &Part, out: &mut String, calls: &mut String) {
    let all = part.graph.all_classes();
    for (i, node) in part.graph.nodes.iter().enumerate() {
        let label = match MvId(i as u32) {
            Mvicfg::ENTRY => "entry".to_owned(),
            Mvicfg::EXIT => "exit".to_owned(),
            id => instruction(part, id, &node.instr),
        };
        let (fill, versions) = match node.classes == all {
            true => ("white", String::new()),
            false => ("lightyellow", version_names(&node.classes, part.class_of)),
        };
        let mut label = quoted(&label);
        if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr {
            let _ = write!(label, "\\ncall {}", quoted(name));
            if let Some(to) = part.callees.get(&**name) {
                let _ = writeln!(calls, "  n{p}_{i} -> n{to}_0 [style=dashed, label=\"{versions}\"];");
            }
        }
        if !versions.is_empty() {
            let _ = write!(label, "\\n[{versions}]");
        }
        let _ = writeln!(out, "    n{p}_{i} [label=\"{label}\", fillcolor={fill}];");
        for e in &node.succs {
            let mut text = match (&node.instr, e.label) {
                (Instr::Branch { .. }, 0) => "T".to_owned(),
                (Instr::Branch { .. }, _) => "F".to_owned(),
                _ => String::new(),
            };
            if e.classes != node.classes {
                let _ = write!(text, " {}", version_names(&e.classes, part.class_of));
            }
            let _ = writeln!(out, "    n{p}_{i} -> n{p}_{} [label=\"{}\"];", e.to, text.trim());
        }
    }
}

fn instruction(part: &Part, id: MvId, instr: &Instr) -> String {
    let g = part.graph;
    // As the newest version that has it writes it.
    let class = g.node(id).classes.iter().last().unwrap_or(ClassId::OLD);
    let line = g.line(id, class);
    let kind = match instr {
        Instr::Nop => "·".to_owned(),
        Instr::Declare(v) => format!("declare {}", g.vars[v.0 as usize].name),
        Instr::Measure { var: None, .. } => "array type".to_owned(),
        Instr::Unknown { reason, .. } => format!("unknown: {reason}"),
        _ => part
            .lines
            .get(class.index())
            .and_then(|l| l.get(&line))
            .map(|t| t.trim().to_owned())
            .unwrap_or_default(),
    };
    if line == 0 { kind } else { format!("{line}: {kind}") }
}

/// The versions of some classes: `1-3,5`.
fn version_names(classes: &ClassSet, class_of: &[Option<ClassId>]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let versions = VersionId::each(class_of).filter(|(_, class)| class.is_some_and(|c| classes.contains(c)));
    for version in versions.map(|(v, _)| v.number()) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == version => *last = version,
            _ => runs.push((version, version)),
        }
    }
    let text = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Escapes text for a double-quoted string, of DOT and of other languages; control characters become
/// spaces.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
