//! The multiversion graph as DOT, for people.
//!
//! Nodes of all classes are white, of some yellow; an edge that not every class has is labelled with
//! its versions. Node labels are the source lines that the instructions stand on.

use super::{MvId, Mvicfg, VersionSet};
use crate::ir::Instr;
use std::fmt::Write;

/// What the drawing needs beside the graph.
pub struct Labels<'a> {
    pub title: &'a str,
    /// Text of a class's source line.
    pub line: &'a dyn Fn(usize, u32) -> Option<String>,
    /// Names of the versions of a set of classes (`1-3`).
    pub versions: &'a dyn Fn(&VersionSet) -> String,
}

/// Returns the graph in the DOT language.
pub fn dot(g: &Mvicfg, labels: &Labels) -> String {
    let mut out = format!("digraph \"{}\" {{\n", quoted(labels.title));
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10, style=filled, fillcolor=white];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    let all = g.all_classes();
    for (i, node) in g.nodes.iter().enumerate() {
        let id = i as MvId;
        let label = match (id, &node.instr) {
            (Mvicfg::ENTRY, _) => "entry".to_owned(),
            (Mvicfg::EXIT, _) => "exit".to_owned(),
            (_, instr) => instruction(g, id, instr, labels),
        };
        let fill = if node.classes == all { "white" } else { "lightyellow" };
        let versions = if node.classes == all {
            String::new()
        } else {
            format!("\\n[{}]", (labels.versions)(&node.classes))
        };
        let _ = writeln!(out, "  n{i} [label=\"{}{versions}\", fillcolor={fill}];", quoted(&label));
        for e in &node.succs {
            let mut text = match (&node.instr, e.label) {
                (Instr::Branch { .. }, 0) => "T".to_owned(),
                (Instr::Branch { .. }, _) => "F".to_owned(),
                _ => String::new(),
            };
            if e.classes != node.classes {
                let _ = write!(text, " {}", (labels.versions)(&e.classes));
            }
            let _ = writeln!(out, "  n{i} -> n{} [label=\"{}\"];", e.to, quoted(text.trim()));
        }
    }
    out.push_str("}\n");
    out
}

fn instruction(g: &Mvicfg, id: MvId, instr: &Instr, labels: &Labels) -> String {
    let class = g.node(id).classes.first().unwrap_or(0);
    let line = g.line(id, class);
    let kind = match instr {
        Instr::Nop => "·".to_owned(),
        Instr::Declare(v) => format!("declare {}", g.vars[v.0 as usize].name),
        Instr::Unknown { reason, .. } => format!("unknown: {reason}"),
        _ => (labels.line)(class, line).map(|t| t.trim().to_owned()).unwrap_or_default(),
    };
    if line == 0 { kind } else { format!("{line}: {kind}") }
}

/// Escapes text for a double-quoted DOT string; control characters become spaces.
fn quoted(text: &str) -> String {
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
