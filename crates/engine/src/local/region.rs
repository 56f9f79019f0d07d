//! Frontiers and regions: where two versions go apart, and what lies there until they are together again.
//!
//! A node is *common* if both versions have it and no variable of one version alone is live there: from such a
//! node on both do the same in the same state, as far as common nodes go. (A parameter that only one version
//! has is an input like any other.) A *frontier* is an edge of a common node that leads to a node that is not
//! common, or to different nodes. Its *region* are the nodes from there to the next common ones, in each
//! version; regions may overlap. Executing a region gives paths; one that comes to a node twice is not followed.

use super::machine::{End, Literal, Machine, Path, Step, Stop};
use super::mistake::{Mistake, is_made};
use super::moved;
use super::rounds;
use super::side::{Side, successor};
use crate::ir::{Const, Instr, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::{ClassId, Flow, MvId, Mvicfg, VarSet};
use crate::semantics::liveness::Liveness;
use std::collections::BTreeSet;

/// Paths of one version through one region.
const MAX_PATHS: usize = 48;
/// Nodes of a region that is cut.
const MAX_CUT: usize = 600;
/// Instructions of one region's paths together.
const MAX_STEPS: usize = 4_000;

/// An edge at which the versions go apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frontier {
    pub node: MvId,
    pub label: u8,
    /// Where it leads in the older and in the newer version.
    pub to: [MvId; 2],
}

/// A region with the nodes that are not common, or a part of one.
pub(super) struct Region {
    pub frontier: Frontier,
    /// By class.
    pub nodes: [BTreeSet<MvId>; 2],
    pub cut: Option<Cut>,
    /// It begins where a part before it is cut.
    pub is_later: bool,
}

/// Where a part of a region ends that only one version has: at a node that it comes by however it comes to where
/// the other version is all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub class: ClassId,
    pub node: MvId,
    /// Where the other version is.
    pub there: MvId,
}

/// Which nodes of one version alone a region may be cut at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cuts {
    /// Those at which its own variables do not matter.
    Tied,
    /// All: its own variables may have any value there.
    All,
}

/// Which nodes are common, by node.
///
/// The head of a loop that both versions have is one, too, where one of them carries variables of its own around
/// it: these may have any value there, which is less than what is so, and holds.
///
/// With [`Cuts::All`] that is so of every node that both have.
pub(super) fn common_nodes(graph: &Mvicfg, flow: &Flow, liveness: &Liveness, cuts: Cuts) -> Vec<bool> {
    let (of_class, temps) = (own_variables(graph), temporaries(graph));
    let between = moved::between(graph, flow, liveness);
    let is_common = |k: usize| {
        let both = graph.nodes[k].classes.len() == 2;
        let tied = |class: ClassId| !liveness.before(class, MvId(k as u32)).intersects(&of_class[class]);
        // Where a function begins nothing is known of its locals, whosever they are.
        let is_head = match cuts {
            Cuts::All => {
                ClassId::PAIR.iter().all(|c| !liveness.before(*c, MvId(k as u32)).intersects(&temps))
            }
            Cuts::Tied => flow.classes.iter().all(|f| f.loop_at[k].is_some()),
        };
        both && (MvId(k as u32) <= Mvicfg::EXIT
            || ClassId::PAIR.into_iter().all(tied)
            || is_head && ClassId::PAIR.into_iter().any(tied))
    };
    let common = (0..graph.nodes.len()).map(is_common);
    let ends_here = |k: usize| {
        !between.get(k).is_some_and(|is_between| *is_between) && !is_another_label(graph, MvId(k as u32))
    };
    common.enumerate().map(|(k, is_common)| is_common && ends_here(k)).collect()
}

fn temporaries(graph: &Mvicfg) -> VarSet {
    let mut found = VarSet::new();
    let all = graph.vars.iter().enumerate().filter(|(_, v)| v.kind == VarKind::Temp);
    all.for_each(|(k, _)| found.insert(VarId(k as u32)));
    found
}

/// The variables that each version has alone, parameters excepted.
fn own_variables(graph: &Mvicfg) -> [VarSet; 2] {
    ClassId::PAIR.map(|class| {
        let mut set = VarSet::new();
        let others = &graph.var_map[class.other()];
        for v in graph.var_map[class].iter().filter(|v| !others.contains(v)) {
            if graph.vars[v.0 as usize].kind != VarKind::Param {
                set.insert(*v);
            }
        }
        set
    })
}

/// Whether a label is one of another place in each version: what stands behind it in one version is somewhere else
/// in the other. Labels have no text of their own, so that any two may have been matched, and control comes to
/// them for different reasons.
fn is_another_label(graph: &Mvicfg, id: MvId) -> bool {
    let is_label = |class: ClassId| {
        let body = &graph.bodies[class];
        let node = graph.origin(id, class).map(|n| body.node(n));
        node.is_some_and(|n| {
            matches!(n.instr, Instr::Nop)
                && body.stmts.get(n.stmt.0 as usize).is_some_and(|s| s.kind == "label")
        })
    };
    let [Some(old), Some(new)] = ClassId::PAIR.map(|class| successor(graph, class, id, 0)) else {
        return false;
    };
    let is_shared = |node: MvId| graph.node(node).classes.len() == 2;
    id > Mvicfg::EXIT
        && old != new
        && (is_shared(old) || is_shared(new))
        && ClassId::PAIR.into_iter().all(is_label)
}

/// The regions of a graph of two classes, in the order of the nodes.
pub(super) fn regions(
    graph: &Mvicfg,
    (common, liveness, cuts): (&[bool], &Liveness, Cuts),
    reachable: &[BTreeSet<MvId>; 2],
) -> Vec<Region> {
    let mut found = Vec::new();
    let own = own_variables(graph);
    // What a statement is in the middle of has no name.
    let temps = temporaries(graph);
    let may_cut = |class: ClassId, node: MvId| {
        let live = liveness.before(class, node);
        !live.intersects(&temps) && (cuts == Cuts::All || !live.intersects(&own[class]))
    };
    for (k, node) in graph.nodes.iter().enumerate() {
        let id = MvId(k as u32);
        if !common[k] || !reachable[0].contains(&id) || !reachable[1].contains(&id) {
            continue;
        }
        let mut labels: Vec<u8> = node.succs.iter().map(|e| e.label).collect();
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            let to = ClassId::PAIR.map(|class| successor(graph, class, id, label));
            let [Some(old), Some(new)] = to else { continue };
            if old == new && common[old.0 as usize] {
                continue;
            }
            let frontier = Frontier { node: id, label, to: [old, new] };
            let nodes = ClassId::PAIR.map(|class| inside(graph, common, class, (frontier.to[class], None)));
            let region = Region { frontier, nodes, cut: None, is_later: false };
            found.extend(parts(graph, common, region, &may_cut));
        }
    }
    found
}

/// Whether a region's place is the node before it: the newer version has nothing of its own where the edge leads.
/// Of the states there, those are meant that take the edge.
fn begins_at_node(region: &Region) -> bool {
    !region.nodes[1].contains(&region.frontier.to[1])
}

/// By region: whether it is told from its node on, under what decides for its edge; its sibling, too, is told so. What
/// several nodes lead to is told where it is, once.
pub(super) fn told_from_nodes(graph: &Mvicfg, regions: &[Region]) -> Vec<bool> {
    let branches = |r: &Region| matches!(graph.node(r.frontier.node).instr, Instr::Branch { .. });
    let leads_there_alone = |r: &Region| {
        let others = regions.iter().filter(|o| !o.is_later && o.frontier.to == r.frontier.to);
        others.map(|o| o.frontier.node).collect::<BTreeSet<MvId>>().len() == 1
    };
    let chosen: BTreeSet<MvId> = regions
        .iter()
        .filter(|r| !r.is_later && branches(r) && begins_at_node(r) && leads_there_alone(r))
        .map(|r| r.frontier.node)
        .collect();
    regions.iter().map(|r| !r.is_later && chosen.contains(&r.frontier.node)).collect()
}

/// What decides for a frontier's edge, from any state at its node.
pub(super) fn decision(
    graph: &Mvicfg,
    pool: &mut TermPool,
    side: &Side,
    frontier: &Frontier,
) -> Result<Option<Literal>, Stop> {
    let mut path = Path::at(pool, frontier.node);
    let mut machine = Machine { graph, pool, side };
    let Step::Branch(condition) = machine.step(&mut path)? else { return Ok(None) };
    let holds = frontier.label == 0;
    let term = if holds { condition } else { pool.not(condition) };
    let is_known = pool.as_const(term).is_some();
    Ok((!is_known).then_some(Literal { term, class: side.class, node: frontier.node, holds }))
}

/// Whether control comes to a node by a frontier's edge alone, each time that it does, and leaves it one way only:
/// what the frontier's region was compared through then says all of the node's.
pub(super) fn is_reached_by_alone(graph: &Mvicfg, frontier: &Frontier, node: MvId) -> bool {
    let of_class = |class: ClassId| {
        let after = graph.node(node).succs.iter().filter(|e| e.classes.contains(class)).map(|e| e.to);
        let mut work: Vec<MvId> = after.collect();
        if work.len() != 1 || node == frontier.node {
            return false;
        }
        work.push(Mvicfg::ENTRY);
        let mut seen = BTreeSet::new();
        while let Some(at) = work.pop() {
            if at == node {
                return false;
            }
            if !seen.insert(at) {
                continue;
            }
            let edges = graph.node(at).succs.iter().filter(|e| e.classes.contains(class));
            work.extend(edges.filter(|e| (at, e.label) != (frontier.node, frontier.label)).map(|e| e.to));
        }
        true
    };
    ClassId::PAIR.into_iter().all(of_class)
}

/// A region of which one version has nothing, cut where the other one's paths come together again on their way to
/// where it has nothing; others as they are.
fn parts(
    graph: &Mvicfg,
    common: &[bool],
    region: Region,
    may_cut: &dyn Fn(ClassId, MvId) -> bool,
) -> Vec<Region> {
    let [old, new] = ClassId::PAIR.map(|class| region.nodes[class].len());
    let class = match (old, new) {
        (0, 2..MAX_CUT) => ClassId::NEW,
        (2..MAX_CUT, 0) => ClassId::OLD,
        _ => return vec![region],
    };
    let there = region.frontier.to[class.other()];
    let mut start = region.frontier.to[class];
    let mut found = Vec::new();
    for node in meetings(graph, &region.nodes[class], class, (start, there)) {
        if !may_cut(class, node) {
            continue;
        }
        found.push(part(graph, common, region.frontier, (class, start), Some(Cut { class, node, there })));
        start = node;
    }
    found.push(part(graph, common, region.frontier, (class, start), None));
    found
}

fn part(
    graph: &Mvicfg,
    common: &[bool],
    mut frontier: Frontier,
    (class, start): (ClassId, MvId),
    cut: Option<Cut>,
) -> Region {
    let is_later = frontier.to[class] != start;
    frontier.to[class] = start;
    let mut nodes = [BTreeSet::new(), BTreeSet::new()];
    nodes[class] = inside(graph, common, class, (start, cut.map(|c| c.node)));
    Region { frontier, nodes, cut, is_later }
}

/// The nodes at which all ways from one node of a region to a node behind it meet, in their order, where several
/// edges come together and no loop is.
fn meetings(graph: &Mvicfg, nodes: &BTreeSet<MvId>, class: ClassId, (from, to): (MvId, MvId)) -> Vec<MvId> {
    let after = |node: MvId| {
        let edges = graph.node(node).succs.iter().filter(move |e| e.classes.contains(class));
        edges.map(|e| e.to)
    };
    // What is reached from a node, but for what lies behind another one.
    let reached = |from: MvId, without: Option<MvId>| {
        let mut seen = BTreeSet::new();
        let mut work: Vec<MvId> = vec![from];
        while let Some(node) = work.pop() {
            if Some(node) == without || !seen.insert(node) || !nodes.contains(&node) {
                continue;
            }
            work.extend(after(node));
        }
        seen
    };
    let mut incoming = std::collections::BTreeMap::<MvId, usize>::new();
    nodes.iter().flat_map(|n| after(*n)).for_each(|to| *incoming.entry(to).or_default() += 1);
    let joins = nodes.iter().copied().filter(|n| incoming.get(n).is_some_and(|n| *n > 1));
    let is_cyclic = |n: MvId| after(n).any(|next| reached(next, None).contains(&n));
    let is_met = |n: &MvId| *n != from && !reached(from, Some(*n)).contains(&to) && !is_cyclic(*n);
    let mut found: Vec<MvId> = match reached(from, None).contains(&to) {
        true => joins.filter(is_met).collect(),
        false => Vec::new(),
    };
    // The one that is met first is reached without any other.
    found.sort_by_key(|n| std::cmp::Reverse(reached(*n, None).len()));
    found
}

/// The nodes from one on that are not common, and not the one to stop at.
fn inside(
    graph: &Mvicfg,
    common: &[bool],
    class: ClassId,
    (from, stop): (MvId, Option<MvId>),
) -> BTreeSet<MvId> {
    let mut nodes = BTreeSet::new();
    let mut work = vec![from];
    while let Some(node) = work.pop() {
        if common[node.0 as usize] || Some(node) == stop || !nodes.insert(node) {
            continue;
        }
        let next = graph.node(node).succs.iter().filter(|e| e.classes.contains(class));
        work.extend(next.map(|e| e.to));
    }
    nodes
}

/// The paths of a side from a node to common ones, or to where the region is cut, which is told as the place at
/// which the other side is; `decided`: what is known to hold there.
pub(super) fn paths(
    graph: &Mvicfg,
    pool: &mut TermPool,
    side: &Side,
    common: &[bool],
    (from, decided, cut): (MvId, Option<Literal>, Option<Cut>),
) -> Result<Vec<Path>, Stop> {
    let cut = cut.filter(|c| c.class == side.class);
    let mut done = Vec::new();
    let mut first = Path::at(pool, from);
    first.literals.extend(decided);
    let mut work = vec![first];
    let mut steps = 0;
    let own = rounds::own_loops(graph, side, common);
    while let Some(mut path) = work.pop() {
        let node = path.node;
        if let Some(cut) = cut.filter(|c| c.node == node) {
            path.end = End::At(cut.there);
            done.push(path);
            continue;
        }
        if common[node.0 as usize] {
            path.end = End::At(node);
            done.push(path);
            continue;
        }
        let is_new = path.visited.insert(node);
        if let Some(number) = rounds::begins_in_earnest(&own, (&path, is_new)) {
            work.extend(Machine { graph, pool, side }.after_rounds(&path, number)?);
            continue;
        }
        if !is_new {
            return Err("a loop of its own".into());
        }
        steps += 1;
        if steps > MAX_STEPS || done.len() + work.len() > MAX_PATHS {
            return Err("too many paths".into());
        }
        let mut machine = Machine { graph, pool, side };
        match machine.step(&mut path)? {
            Step::End(end) => {
                path.end = end;
                done.push(path);
            }
            Step::Next => {
                let Some(next) = successor(graph, side.class, node, 0) else {
                    path.end = End::Ends;
                    done.push(path);
                    continue;
                };
                path.node = next;
                work.push(path);
            }
            Step::Branch(condition) => {
                // The true side is looked at first, so it goes on the stack last.
                for (label, holds) in [(1, false), (0, true)] {
                    let Some(next) = successor(graph, side.class, node, label) else { continue };
                    let turned = side.class == ClassId::NEW && is_made(Mistake::BranchesExchanged);
                    let term = if holds != turned { condition } else { pool.not(condition) };
                    if let Some(path) = taken(pool, &path, term, (side.class, node, holds), next) {
                        work.push(path);
                    }
                }
            }
        }
    }
    Ok(done)
}

/// A path that goes on under a condition; none where that contradicts what it rests on.
fn taken(
    pool: &mut TermPool,
    path: &Path,
    term: TermId,
    (class, node, holds): (ClassId, MvId, bool),
    next: MvId,
) -> Option<Path> {
    let mut path = path.clone();
    path.node = next;
    match pool.as_const(term) {
        Some(Const::FALSE) => return None,
        Some(_) => return Some(path),
        None => {}
    }
    if path.literals.iter().any(|l| l.term == term) {
        return Some(path);
    }
    let negation = pool.not(term);
    if path.literals.iter().any(|l| l.term == negation) {
        return None;
    }
    path.literals.push(Literal { term, class, node, holds });
    Some(path)
}
