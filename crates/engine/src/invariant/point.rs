//! Matched points: where facts are asked for (`docs/design/facts.md`).
//!
//! A point has one node in every class that has the point; facts speak of the state before that
//! node. Exit and entry exist in all classes. Loop heads are matched by the node that classes share,
//! or by their order in the function when the numbers of loops agree. A line is matched through the
//! graph: where its first instruction is not shared, the edge that leads to it may be.

use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::semantics::Evaluator;
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
    pub nodes: BTreeMap<ClassId, MvId>,
    /// Source line, by class.
    pub lines: BTreeMap<ClassId, u32>,
}

impl Point {
    /// The exit of a function without a graph.
    pub fn unplaced_exit() -> Point {
        Point { id: "exit".into(), ..Point::default() }
    }

    /// The exit of a function.
    pub fn exit(graph: &Mvicfg) -> Point {
        Point::shared(graph, Kind::Exit, "exit", Mvicfg::EXIT, |class| exit_line(graph, class))
    }

    /// The entry of a function.
    pub fn entry(graph: &Mvicfg) -> Point {
        Point::shared(graph, Kind::Entry, "entry", Mvicfg::ENTRY, |class| graph.bodies[class].span.line)
    }

    /// A node of all classes.
    fn shared(graph: &Mvicfg, kind: Kind, id: &str, node: MvId, line: impl Fn(ClassId) -> u32) -> Point {
        let all = graph.all_classes();
        Point {
            kind,
            id: id.into(),
            nodes: all.iter().map(|c| (c, node)).collect(),
            lines: all.iter().map(|c| (c, line(c))).collect(),
        }
    }

    /// The loop heads of a function, those of the newest class first, in order of control.
    pub fn loops(e: &Evaluator) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for class in e.graph.classes().rev() {
            let heads = heads(e, class);
            for (k, &head) in heads.iter().enumerate() {
                let shared = points.iter().position(|p| p.nodes.values().any(|&n| n == head));
                // With as many loops as the newest class, the k-th loop is the k-th there.
                let known = points.get(k).is_some_and(|p| !p.nodes.contains_key(&class));
                let by_order = (known && same_count(e, heads.len())).then_some(k);
                match shared.or(by_order).and_then(|i| points.get_mut(i)) {
                    Some(p) => _ = p.nodes.entry(class).or_insert(head),
                    None => points.push(Point::of_loop(e, class, head)),
                }
            }
        }
        for p in &mut points {
            p.lines = p.nodes.iter().map(|(&c, &n)| (c, head_line(e, c, n))).collect();
        }
        points
    }

    fn of_loop(e: &Evaluator, class: ClassId, head: MvId) -> Point {
        let hash = e.loop_hash(class, head).unwrap_or_default();
        Point {
            kind: Kind::Loop,
            id: format!("loop-{hash}"),
            nodes: BTreeMap::from([(class, head)]),
            ..Point::default()
        }
    }

    /// The point before a line of the newest body, or `None` when no instruction is there.
    pub fn line(e: &Evaluator, line: u32) -> Option<Point> {
        let mut older = e.graph.classes();
        let newest = older.next_back()?;
        let flow = &e.flow.classes[newest];
        let node = flow.rpo.iter().copied().find(|&n| e.graph.line(n, newest) == line)?;
        let mut nodes = BTreeMap::from([(newest, node)]);
        for class in older {
            if e.graph.nodes[node.0 as usize].classes.contains(class) {
                nodes.insert(class, node);
                continue;
            }
            // The instruction is new there; the place before it may not be.
            let &[(pred, label)] = flow.preds[node.0 as usize].as_slice() else { continue };
            let ways = &e.graph.node(pred).succs;
            let same_way = ways.iter().find(|s| s.label == label && s.classes.contains(class));
            nodes.extend(same_way.map(|s| (class, s.to)));
        }
        let lines = nodes.iter().map(|(&c, &n)| (c, e.graph.line(n, c))).filter(|(_, l)| *l > 0).collect();
        // Lines are no identity: the instructions that stand there are.
        let mut text = String::new();
        let names = crate::mvicfg::key::SourceNames(&e.graph.bodies[newest]);
        let origin = e.graph.origin(node, newest)?;
        crate::mvicfg::key::instr(&mut text, &e.graph.bodies[newest].node(origin).instr, &names);
        let id = format!("line-{}", &blake3::hash(text.as_bytes()).to_hex()[..12]);
        Some(Point { kind: Kind::Line, id, nodes, lines })
    }
}

/// Loop heads of a class in reverse postorder.
fn heads(e: &Evaluator, class: ClassId) -> Vec<MvId> {
    let flow = &e.flow.classes[class];
    flow.rpo.iter().copied().filter(|&n| flow.loop_at[n.0 as usize].is_some()).collect()
}

fn same_count(e: &Evaluator, count: usize) -> bool {
    e.flow.classes.last().is_some_and(|f| f.loops.len() == count)
}

/// Line of a head, or of the first instruction behind it that has one.
fn head_line(e: &Evaluator, class: ClassId, head: MvId) -> u32 {
    let mut at = head;
    for _ in 0..4 {
        let line = e.graph.line(at, class);
        if line > 0 {
            return line;
        }
        match e.graph.node(at).succs.iter().find(|s| s.classes.contains(class)) {
            Some(s) => at = s.to,
            None => break,
        }
    }
    0
}

fn exit_line(graph: &Mvicfg, class: ClassId) -> u32 {
    match graph.line(Mvicfg::EXIT, class) {
        0 => graph.bodies[class].span.end_line,
        line => line,
    }
}
