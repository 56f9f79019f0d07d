//! Matched points: where facts are asked for (design section 2).
//!
//! A point has one node in every class that has the point; facts speak of the state before that
//! node. Exit and entry exist in all classes. Loop heads are matched by the node that classes share,
//! or by their order in the function when the numbers of loops agree. A line is matched through the
//! graph: where its first instruction is not shared, the edge that leads to it may be.

use crate::mvicfg::{MvId, Mvicfg};
use std::collections::BTreeMap;

/// What a point is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Entry,
    #[default]
    Exit,
    Loop,
    Line,
}

/// A point of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    pub kind: Kind,
    /// Stable name: no lines, no commits.
    pub id: String,
    /// By class.
    pub nodes: BTreeMap<usize, MvId>,
    /// Source line, by class.
    pub lines: BTreeMap<usize, u32>,
}

impl Point {
    /// The exit of a function without a graph.
    pub fn unplaced_exit() -> Point {
        Point { id: "exit".into(), ..Point::default() }
    }

    /// The exit of a function.
    pub fn exit(graph: &Mvicfg) -> Point {
        let all = graph.all_classes();
        Point {
            kind: Kind::Exit,
            id: "exit".into(),
            nodes: all.iter().map(|c| (c, Mvicfg::EXIT)).collect(),
            lines: all.iter().map(|c| (c, exit_line(graph, c))).collect(),
        }
    }
}

fn exit_line(graph: &Mvicfg, class: usize) -> u32 {
    match graph.line(Mvicfg::EXIT, class) {
        0 => graph.bodies[class].span.end_line,
        line => line,
    }
}
