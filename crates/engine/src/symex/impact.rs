//! What a change may affect: the directed part of DiSE (Person et al., PLDI 2011).
//!
//! The assertions of both versions are no code. A node that only one version has is affected there, and so is, to a
//! fix-point in both versions together, what depends on an affected node by a value or by control, over places
//! ([`super::place`]). A path through no affected node does what it did in the older version.
//!
//! An assertion whose entry is affected in neither version, and which stands where it stood, reads the same values
//! for the same inputs: what held of it holds. One that is affected is asked again, on the paths through affected
//! nodes; where it misses what the older version alone did, its own entry is one.
//!
//! The backward slice is [`super::Slice`]: decisions that matter neither to an affected node nor to an assertion that
//! is asked for are passed over.

use super::depend::Dependences;
use super::site::{Region, Sites};
use crate::ir::{Expr, Function, Global, Instr, NodeId, Object, Unit};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Nodes of the newer version that a change may affect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    /// Entries of assertions among them where all paths to them count.
    pub affected: BTreeSet<NodeId>,
    /// Assertions of the newer version that are affected.
    pub sites: BTreeSet<usize>,
    /// Those of the older version and of the newer one that stand at one place.
    pub in_place: BTreeSet<(usize, usize)>,
}

impl Impact {
    /// Compares two versions. Cost: an alignment, and time quadratic in what changes at worst.
    pub fn of(old: (&Arc<Function>, &Sites, &Unit), new: (&Arc<Function>, &Sites, &Unit)) -> Impact {
        let graph = Mvicfg::build(vec![old.0.clone(), new.0.clone()]);
        let (before, after) = (Dependences::new(old.0, old.2, old.1), Dependences::new(new.0, new.2, new.1));
        let only = |side: &Dependences, class: ClassId| -> BTreeSet<NodeId> {
            let nodes = (0..side.f.nodes.len() as u32).map(NodeId);
            let alone = nodes.filter(|n| {
                let merged = graph.node_map[class][n.0 as usize];
                !graph.node(merged).classes.contains(class.other())
            });
            alone.filter(|n| is_code(side, *n) && acts(&side.f.node(*n).instr)).collect()
        };
        let there =
            |n: NodeId, class: ClassId| graph.origin(graph.node_map[class][n.0 as usize], class.other());
        let changed = changed_constants(old.2, new.2);
        let mut now = only(&after, ClassId::NEW);
        now.extend(naming(new.0, &changed));
        let mut was = only(&before, ClassId::OLD);
        was.extend(naming(old.0, &changed));
        let edges = Edges::of(&graph, &before, &after);
        was.extend(&edges.was);
        now.extend(&edges.now);
        if now.is_empty() && was.is_empty() {
            let in_place = in_place(&graph, (old.1, &before), (new.1, &after));
            return Impact { in_place, ..Impact::default() };
        }
        // What is affected in one version is in the other, where it is code there.
        loop {
            was = before.forwards(was);
            now = after.forwards(now);
            let in_new = was.iter().filter(|n| is_code(&before, **n)).filter_map(|n| there(*n, ClassId::OLD));
            let in_new: Vec<NodeId> = in_new.filter(|n| is_code(&after, *n) && !now.contains(n)).collect();
            now.extend(&in_new);
            let in_old = now.iter().filter(|n| is_code(&after, **n)).filter_map(|n| there(*n, ClassId::NEW));
            let in_old: Vec<NodeId> = in_old.filter(|n| is_code(&before, *n) && !was.contains(n)).collect();
            was.extend(&in_old);
            if in_new.is_empty() && in_old.is_empty() {
                break;
            }
        }
        let in_place = in_place(&graph, (old.1, &before), (new.1, &after));
        let comes_back = before.comes_back() || after.comes_back();
        let hit = |sites: &Sites, nodes: &BTreeSet<NodeId>| -> BTreeSet<usize> {
            let hit = |r: &&Region| comes_back || nodes.contains(&r.entry);
            sites.regions.iter().filter(hit).map(|r| r.site).collect()
        };
        let (lost, mut sites) = (hit(old.1, &was), hit(new.1, &now));
        // What stands elsewhere now, or where something that stood there was affected, is affected here.
        let stood = |j: usize| in_place.iter().filter(move |(_, k)| *k == j).map(|(i, _)| *i);
        let stays = |j: usize| stood(j).next().is_some() && stood(j).all(|i| !lost.contains(&i));
        sites.extend((0..new.1.sites.len()).filter(|j| !stays(*j)));
        let missed: BTreeSet<NodeId> = edges.gone.iter().flat_map(|n| before.depends_on(*n)).collect();
        let was_missed = |i: usize| old.1.regions.iter().any(|r| r.site == i && missed.contains(&r.entry));
        let misses = |j: usize| comes_back || stood(j).any(was_missed);
        now.retain(|n| is_code(&after, *n));
        let entries = new.1.regions.iter().filter(|r| sites.contains(&r.site) && misses(r.site));
        now.extend(entries.map(|r| r.entry));
        Impact { affected: now, sites, in_place }
    }

    /// Lines of the affected nodes, without assertions.
    pub fn lines(&self, f: &Function, sites: &Sites) -> BTreeSet<u32> {
        let is_own = |n: &&NodeId| sites.at(**n).is_none();
        self.affected
            .iter()
            .filter(is_own)
            .map(|n| f.node(*n))
            .filter(|n| acts(&n.instr))
            .map(|n| n.span.line)
            .collect()
    }
}

/// Whether a node does something: what a change of it may affect.
fn acts(i: &Instr) -> bool {
    !matches!(i, Instr::Nop)
}

/// Whether a node belongs to no assertion.
fn is_code(side: &Dependences, n: NodeId) -> bool {
    !side.inner.contains(&n) && !side.entries.contains(&n)
}

/// The constant objects whose content is another one in the newer version.
fn changed_constants(old: &Unit, new: &Unit) -> BTreeSet<Arc<str>> {
    let same = |g: &Global, other: &Unit| {
        let there = other.global(&g.symbol);
        there.is_some_and(|b| b.is_known_constant() && b.size == g.size && b.init == g.init)
    };
    let constants = |unit: &Unit, other: &Unit| -> Vec<Arc<str>> {
        let all = unit.globals.iter().filter(|g| g.is_known_constant() && !same(g, other));
        all.map(|g| g.symbol.clone()).collect()
    };
    constants(new, old).into_iter().chain(constants(old, new)).collect()
}

/// The nodes that name one of some symbols.
fn naming(f: &Function, symbols: &BTreeSet<Arc<str>>) -> Vec<NodeId> {
    let names = |n: &NodeId| {
        let mut found = false;
        f.node(*n).instr.for_each_operand(&mut |e| {
            e.for_each(&mut |e| {
                found |= matches!(e, Expr::Addr(Object::Global(s)) if symbols.contains(s));
            });
        });
        found
    };
    (0..f.nodes.len() as u32).map(NodeId).filter(names).collect()
}

/// Where a path goes on from a node without meeting a shared instruction that does something, and which instructions
/// of this version alone it passes; without `over_alone` it stops at those.
fn landing(
    graph: &Mvicfg,
    side: &Dependences,
    class: ClassId,
    start: NodeId,
    over_alone: bool,
) -> (NodeId, Vec<NodeId>) {
    let (mut n, mut passed) = (start, Vec::new());
    for _ in 0..side.f.nodes.len() {
        let node = side.f.node(n);
        let is_silent = !is_code(side, n) || !acts(&node.instr);
        let is_passed = !is_silent && over_alone && {
            let merged = graph.node_map[class][n.0 as usize];
            !graph.node(merged).classes.contains(class.other()) && !matches!(node.instr, Instr::Branch { .. })
        };
        match side.flow[n.0 as usize].as_slice() {
            &[next] if is_silent || is_passed => {
                passed.extend(is_passed.then_some(n));
                n = next;
            }
            _ => break,
        }
    }
    (n, passed)
}

/// What edges of shared nodes tell.
#[derive(Default)]
struct Edges {
    /// Where one leads elsewhere, although nothing on the way was put in: the node that it leads to, and its own.
    was: BTreeSet<NodeId>,
    now: BTreeSet<NodeId>,
    /// What the older version does on one, where the newer one has nothing in its place.
    gone: BTreeSet<NodeId>,
}

impl Edges {
    fn of(graph: &Mvicfg, old: &Dependences, new: &Dependences) -> Edges {
        let mut found = Edges::default();
        for i in 0..new.f.nodes.len() {
            let here = NodeId(i as u32);
            let Some(there) = graph.origin(graph.node_map[1][i], ClassId::OLD) else { continue };
            if !is_code(new, here) || !is_code(old, there) {
                continue;
            }
            let (was, now) = (&old.flow[there.0 as usize], &new.flow[i]);
            for (a, b) in was.iter().zip(now) {
                let (a, passed) = landing(graph, old, ClassId::OLD, *a, true);
                let (b, instead) = landing(graph, new, ClassId::NEW, *b, true);
                if instead.is_empty() {
                    found.gone.extend(passed);
                }
                if graph.node_map[0][a.0 as usize] != graph.node_map[1][b.0 as usize] {
                    found.was.extend([a, there]);
                    found.now.extend([b, here]);
                }
            }
            if was.len() != now.len() {
                found.was.insert(there);
                found.now.insert(here);
            }
        }
        found
    }
}

/// The assertions that stand at one place in both versions: in front of the same instructions, or behind the same.
fn in_place(
    graph: &Mvicfg,
    old: (&Sites, &Dependences),
    new: (&Sites, &Dependences),
) -> BTreeSet<(usize, usize)> {
    let next = |(sites, side): (&Sites, &Dependences), class: ClassId| -> Vec<BTreeSet<MvId>> {
        let of = |site: usize| {
            let regions = sites.regions.iter().filter(|r| r.site == site);
            let landings = regions.map(|r| landing(graph, side, class, r.exit, false));
            landings.map(|(n, _)| graph.node_map[class][n.0 as usize]).collect()
        };
        (0..sites.sites.len()).map(of).collect()
    };
    let previous = |(sites, side): (&Sites, &Dependences), class: ClassId| -> Vec<BTreeSet<MvId>> {
        let of = |site: usize| {
            let regions = sites.regions.iter().filter(|r| r.site == site);
            regions.flat_map(|r| before(graph, side, class, r.entry)).collect()
        };
        (0..sites.sites.len()).map(of).collect()
    };
    let counts = |sites: &Sites, site: usize| sites.regions.iter().filter(|r| r.site == site).count();
    let (next_old, next_new) = (next(old, ClassId::OLD), next(new, ClassId::NEW));
    let (previous_old, previous_new) = (previous(old, ClassId::OLD), previous(new, ClassId::NEW));
    let mut found = BTreeSet::new();
    for i in 0..old.0.sites.len() {
        for j in 0..new.0.sites.len() {
            // What cannot fail is no code, wherever it stands.
            let is_settled = counts(old.0, i) == 0 && counts(new.0, j) == 0;
            let same = counts(old.0, i) == counts(new.0, j)
                && (next_old[i] == next_new[j] || previous_old[i] == previous_new[j]);
            if is_settled || same {
                found.insert((i, j));
            }
        }
    }
    found
}

/// The last instructions that do something before a node.
fn before(graph: &Mvicfg, side: &Dependences, class: ClassId, n: NodeId) -> BTreeSet<MvId> {
    let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), side.back(n).to_vec());
    while let Some(m) = work.pop() {
        if !seen.insert(m) {
            continue;
        }
        if m == Function::ENTRY || is_code(side, m) && acts(&side.f.node(m).instr) {
            found.insert(graph.node_map[class][m.0 as usize]);
        } else {
            work.extend(side.back(m));
        }
    }
    found
}
