//! Trees of decisions with their numbers, to be drawn: as DOT here, as SVG by [`crate::html::tree`].

use crate::escape::visible;
use crate::mvicfg::dot::quoted;
use std::fmt::Write;

/// A tree with its title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub title: String,
    /// Parents come before their children; the first is the root.
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub parent: Option<usize>,
    /// What stands at the way from the parent.
    pub way: Vec<String>,
    /// What stands in the node, line by line.
    pub rows: Vec<String>,
    pub look: Look,
    /// A change can affect it.
    pub is_affected: bool,
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    #[default]
    Decision,
    Success,
    Failure,
    Grey,
    Folded,
}

impl Look {
    /// Its class in a style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Look::Decision => "decision",
            Look::Success => "success",
            Look::Failure => "failure",
            Look::Grey => "grey",
            Look::Folded => "folded",
        }
    }

    /// How it is filled, and drawn beyond that, in DOT.
    fn in_dot(self) -> &'static str {
        match self {
            Look::Decision => "fillcolor=white",
            Look::Success => "fillcolor=honeydew, style=\"filled,rounded\"",
            Look::Failure => "fillcolor=mistyrose, style=\"filled,rounded\", penwidth=2",
            Look::Grey => "fillcolor=lightgrey, style=\"filled,rounded\"",
            Look::Folded => "fillcolor=white, style=\"filled,dashed\"",
        }
    }
}

/// The trees as one drawing, each a cluster.
pub fn dot(trees: &[Tree]) -> String {
    let mut out = String::from("digraph invdiff {\n  rankdir=LR;\n");
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10, style=filled, fillcolor=white];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    for (t, tree) in trees.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{t} {{\n    label=\"{}\";", text(&tree.title));
        for (n, node) in tree.nodes.iter().enumerate() {
            let colour = if node.is_affected { ", color=red, fontcolor=red3" } else { "" };
            let (label, look) = (lines(&node.rows), node.look.in_dot());
            let _ = writeln!(out, "    n{t}_{n} [label=\"{label}\", {look}{colour}];");
            if let Some(parent) = node.parent {
                let colour = if node.is_affected { ", color=red" } else { "" };
                let _ =
                    writeln!(out, "    n{t}_{parent} -> n{t}_{n} [label=\"{}\"{colour}];", lines(&node.way));
            }
        }
        out.push_str("  }\n");
    }
    out + "}\n"
}

fn text(text: &str) -> String {
    quoted(&visible(text))
}

fn lines(rows: &[String]) -> String {
    rows.iter().map(|row| text(row)).collect::<Vec<_>>().join("\\n")
}
