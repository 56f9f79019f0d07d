//! Multiversion graphs as pictures of blocks: what a person follows, not what the engine needs.
//!
//! Instructions that always come one after the other, in the same versions, are one block, of which the
//! source lines are told; joins without a line of their own, and what nothing leads to, are left out.

use super::dot::Part;
use super::{ClassId, ClassSet, MvId, Mvicfg, VersionId};
use crate::ir::Instr;
use std::collections::{BTreeMap, BTreeSet};

/// A graph to draw. Block 0 is the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub blocks: Vec<Block>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    pub rows: Vec<Row>,
    /// Versions that have it, ascending, from 1.
    pub versions: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    Entry,
    Exit,
    #[default]
    Code,
}

/// A source line, as the newest version that has it writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// 0 where there is none.
    pub line: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// Of a branch: whether its condition holds.
    pub branch: Option<bool>,
    pub versions: Vec<u32>,
}

/// An edge between nodes while joins are taken out.
#[derive(Clone)]
struct Link {
    from: MvId,
    to: MvId,
    branch: Option<bool>,
    classes: ClassSet,
}

/// Returns the picture of a graph. Cost: linear but for joins, each of which costs a look at all edges.
pub fn picture(part: &Part) -> Picture {
    let links = reachable(without_joins(part.graph, all_links(part.graph)));
    let chains = chains(part.graph, &links);
    let block_of: BTreeMap<MvId, usize> =
        chains.iter().enumerate().flat_map(|(i, chain)| chain.iter().map(move |id| (*id, i))).collect();
    let inside: BTreeSet<(MvId, MvId)> = chains
        .iter()
        .flat_map(|chain| chain.windows(2))
        .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
        .collect();
    let versions = |classes: &ClassSet| versions(classes, part.class_of);
    let blocks = chains.iter().map(|chain| Block {
        kind: match chain.first() {
            Some(&Mvicfg::ENTRY) => BlockKind::Entry,
            Some(&Mvicfg::EXIT) => BlockKind::Exit,
            _ => BlockKind::Code,
        },
        rows: rows(part, chain),
        versions: chain.first().map(|id| versions(&part.graph.node(*id).classes)).unwrap_or_default(),
    });
    let between = links.iter().filter(|link| !inside.contains(&(link.from, link.to)));
    let edges = between.filter_map(|link| {
        Some(Edge {
            from: *block_of.get(&link.from)?,
            to: *block_of.get(&link.to)?,
            branch: link.branch,
            versions: versions(&link.classes),
        })
    });
    Picture { blocks: blocks.collect(), edges: edges.collect() }
}

fn all_links(graph: &Mvicfg) -> Vec<Link> {
    let of_node = |(i, node): (usize, &super::MvNode)| -> Vec<Link> {
        let is_branch = matches!(node.instr, Instr::Branch { .. });
        let link = |e: &super::MvEdge| Link {
            from: MvId(i as u32),
            to: e.to,
            branch: is_branch.then_some(e.label == 0),
            classes: e.classes.clone(),
        };
        node.succs.iter().map(link).collect()
    };
    graph.nodes.iter().enumerate().flat_map(of_node).collect()
}

/// Leads edges past joins and labels.
fn without_joins(graph: &Mvicfg, mut links: Vec<Link>) -> Vec<Link> {
    for (i, node) in graph.nodes.iter().enumerate() {
        let id = MvId(i as u32);
        let is_join = matches!(node.instr, Instr::Nop) && id != Mvicfg::ENTRY && id != Mvicfg::EXIT;
        if !is_join || links.iter().any(|l| l.from == id && l.to == id) {
            continue;
        }
        let (out, rest): (Vec<Link>, Vec<Link>) = links.into_iter().partition(|l| l.from == id);
        let (into, mut rest): (Vec<Link>, Vec<Link>) = rest.into_iter().partition(|l| l.to == id);
        for a in &into {
            for b in &out {
                let classes = a.classes.intersection(&b.classes);
                let same = |l: &&mut Link| (l.from, l.to, l.branch) == (a.from, b.to, a.branch);
                match rest.iter_mut().find(same) {
                    _ if classes.is_empty() => {}
                    Some(known) => known.classes = known.classes.union(&classes),
                    None => rest.push(Link { from: a.from, to: b.to, branch: a.branch, classes }),
                }
            }
        }
        links = rest;
    }
    links.sort_by_key(|l| (l.from, l.branch.map(|b| !b), l.to));
    links
}

/// The edges on ways from the entry.
fn reachable(links: Vec<Link>) -> Vec<Link> {
    let mut out: BTreeMap<MvId, Vec<MvId>> = BTreeMap::new();
    links.iter().for_each(|l| out.entry(l.from).or_default().push(l.to));
    let mut met = BTreeSet::from([Mvicfg::ENTRY]);
    let mut open = vec![Mvicfg::ENTRY];
    while let Some(id) = open.pop() {
        open.extend(out.get(&id).into_iter().flatten().filter(|to| met.insert(**to)));
    }
    links.into_iter().filter(|l| met.contains(&l.from)).collect()
}

/// Nodes by block, in the order in which they are met; the entry's block is the first.
fn chains(graph: &Mvicfg, links: &[Link]) -> Vec<Vec<MvId>> {
    let mut out: BTreeMap<MvId, Vec<&Link>> = BTreeMap::new();
    let mut ways: BTreeMap<MvId, usize> = BTreeMap::new();
    for link in links {
        out.entry(link.from).or_default().push(link);
        *ways.entry(link.to).or_default() += 1;
    }
    let next = |id: MvId| {
        let [only] = out.get(&id)?.as_slice() else { return None };
        let one_way = ways.get(&only.to) == Some(&1);
        let apart = |id| id == Mvicfg::ENTRY || id == Mvicfg::EXIT;
        let same = graph.node(id).classes == graph.node(only.to).classes && only.to != id;
        (one_way && same && only.branch.is_none() && !apart(id) && !apart(only.to)).then_some(only.to)
    };
    let all: BTreeSet<MvId> =
        links.iter().flat_map(|l| [l.from, l.to]).chain([Mvicfg::ENTRY, Mvicfg::EXIT]).collect();
    let inner: BTreeSet<MvId> = all.iter().filter_map(|id| next(*id)).collect();
    let mut placed = BTreeSet::new();
    let mut chains = Vec::new();
    // What is left after the heads are rings of nodes without a head.
    for id in all.iter().filter(|id| !inner.contains(id)).chain(&all) {
        let mut chain = Vec::new();
        let mut at = Some(*id);
        while let Some(node) = at.filter(|node| placed.insert(*node)) {
            chain.push(node);
            at = next(node);
        }
        if !chain.is_empty() {
            chains.push(chain);
        }
    }
    chains
}

/// The source lines of a block, each once.
fn rows(part: &Part, chain: &[MvId]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for id in chain {
        if matches!(*id, Mvicfg::ENTRY | Mvicfg::EXIT) {
            continue;
        }
        let node = part.graph.node(*id);
        let class = node.classes.iter().last().unwrap_or(ClassId::OLD);
        let line = part.graph.line(*id, class);
        let text = match &node.instr {
            Instr::Unknown { reason, .. } if line == 0 => format!("unknown: {reason}"),
            _ => part
                .lines
                .get(class.index())
                .and_then(|l| l.get(&line))
                .map(|t| t.trim().to_owned())
                .unwrap_or_default(),
        };
        let is_new = rows.last().is_none_or(|row| row.line != line || line == 0);
        if is_new && !(line == 0 && text.is_empty()) {
            rows.push(Row { line, text });
        }
    }
    rows
}

/// The versions of some classes.
fn versions(classes: &ClassSet, class_of: &[Option<ClassId>]) -> Vec<u32> {
    VersionId::each(class_of)
        .filter(|(_, class)| class.is_some_and(|c| classes.contains(c)))
        .map(|(v, _)| v.number())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{c, load_unit};
    use crate::history::MemoryTree;
    use std::path::Path;

    /// The blocks of a function's versions as `kind lines [versions]`, and the edges as `0->1 T [versions]`.
    fn check(bodies: &[&str], blocks: &[&str], edges: &[&str]) {
        let functions = bodies.iter().map(|body| {
            let tree = MemoryTree::new([("a.c", *body)]);
            let loaded = load_unit(&tree, Path::new("a.c"), &c::Options::default()).expect("C");
            loaded.unit.functions[0].clone()
        });
        let graph = Mvicfg::build(functions.collect());
        let line = |text: &str| (1..).zip(text.lines().map(str::to_owned)).collect();
        let lines: Vec<BTreeMap<u32, String>> = bodies.iter().map(|body| line(body)).collect();
        let class_of: Vec<_> = ClassId::first(bodies.len()).map(Some).collect();
        let picture = picture(&Part {
            graph: &graph,
            title: String::new(),
            lines: &lines,
            class_of: &class_of,
            callees: BTreeMap::new(),
        });
        let rows = |b: &Block| b.rows.iter().map(|r| r.line.to_string()).collect::<Vec<_>>().join(" ");
        let block = |b: &Block| format!("{:?} {} {:?}", b.kind, rows(b), b.versions);
        assert_eq!(picture.blocks.iter().map(block).collect::<Vec<_>>(), blocks);
        let way = |e: &Edge| e.branch.map_or("", |b| if b { "T " } else { "F " });
        let edge = |e: &Edge| format!("{}->{} {}{:?}", e.from, e.to, way(e), e.versions);
        assert_eq!(picture.edges.iter().map(edge).collect::<Vec<_>>(), edges);
    }

    #[test]
    fn versions_share_blocks() {
        let text =
            |value: &str| format!("int f(int x)\n{{\n if (x)\n  x = {value};\n x++;\n return x;\n}}\n");
        let (one, two) = (text("1"), text("2"));
        check(
            &[&one, &two],
            &[
                "Entry  [1, 2]",
                "Exit  [1, 2]",
                "Code 3 [1, 2]",
                "Code 4 [1]",
                "Code 5 6 [1, 2]",
                "Code 4 [2]",
            ],
            &[
                "0->2 [1, 2]",
                "2->3 T [1]",
                "2->5 T [2]",
                "2->4 F [1, 2]",
                "3->4 [1]",
                "4->1 [1, 2]",
                "5->4 [2]",
            ],
        );
    }

    #[test]
    fn loops_go_round() {
        check(
            &["int f(int n)\n{\n while (n > 0)\n  n--;\n for (;;)\n  ;\n}\n"],
            &["Entry  [1]", "Exit  [1]", "Code 3 [1]", "Code 4 [1]", "Code 5 [1]"],
            &["0->2 [1]", "2->3 T [1]", "2->4 F [1]", "3->2 [1]", "4->4 [1]"],
        );
    }
}
