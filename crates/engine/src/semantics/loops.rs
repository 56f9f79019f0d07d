//! Loops cut at their heads (`docs/design/symbolic-evaluation.md`).
//!
//! At a head `h`, a place `x` that the loop writes has the value `L[h, x](entry values)`: an
//! uninterpreted function, named by a hash of the loop's alpha-normalised instructions and callees,
//! of the entry values of everything the loop reads before writing it. Two versions with equal
//! loops and equal entry values get the equal term; of several equal loops of one version each has a
//! name of its own, by its order. At the loop's exit the term stands for the value
//! at the last arrival at the head, inside the loop for that at the current one; the two readings
//! are never mixed in one fact. Facts after a loop hold under partial correctness.

use super::eval::{Evaluator, Lines, Part, Val, union};
use super::place::{Place, Storage};
use crate::ir::{App, Instr, Uf, VarId};
use crate::mvicfg::{MvId, Mvicfg, VersionSet, key};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// What the cut of one loop of one class needs.
pub struct LoopInfo {
    pub hash: Arc<str>,
    pub writes: BTreeSet<Place>,
    /// Places that the loop may read before it writes them, in an order that does not depend on
    /// names.
    pub inputs: Vec<Place>,
    /// Number of each variable in the normalised loop.
    numbers: FxHashMap<VarId, usize>,
    /// All nodes of the loop, as causes of what it computes.
    pub nodes: Rc<Lines>,
}

struct Numbering<'a> {
    graph: &'a Mvicfg,
    numbers: RefCell<FxHashMap<VarId, usize>>,
}

impl key::Names for Numbering<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len();
        let k = *numbers.entry(var).or_insert(next);
        let v = &self.graph.vars[var.0 as usize];
        let _ = write!(out, "v{k}:{:?}.{}", v.sort, if v.in_memory { v.size } else { 0 });
    }
}

impl Evaluator<'_> {
    pub(super) fn describe_loops(&self, class: usize) -> Vec<Rc<LoopInfo>> {
        let loops = &self.flow.classes[class].loops;
        let mut found: Vec<LoopInfo> = (0..loops.len()).map(|l| self.describe_loop(class, l)).collect();
        // Of equal loops the later one begins where the earlier one has ended: what its cut terms stand
        // for while it runs is not what those of the other stand for then.
        let mut in_order: Vec<usize> = (0..found.len()).collect();
        in_order.sort_by_key(|&l| self.flow.classes[class].order[loops[l].head as usize]);
        let mut seen: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for l in in_order {
            let hash = found[l].hash.clone();
            let earlier = seen.entry(hash.clone()).or_default();
            if *earlier > 0 {
                found[l].hash = format!("{hash}.{earlier}").into();
            }
            *earlier += 1;
        }
        found.into_iter().map(Rc::new).collect()
    }

    fn describe_loop(&self, class: usize, index: usize) -> LoopInfo {
        let flow = &self.flow.classes[class];
        let l = &flow.loops[index];
        // Order within the loop: reverse postorder, which only structure decides.
        let mut nodes: Vec<MvId> = l.body.iter().copied().collect();
        nodes.sort_by_key(|&n| flow.order[n as usize]);
        let position: FxHashMap<MvId, usize> = nodes.iter().enumerate().map(|(i, &n)| (n, i)).collect();
        let numbering = Numbering { graph: self.graph, numbers: RefCell::default() };
        let mut text = String::new();
        let mut exits: BTreeMap<MvId, usize> = BTreeMap::new();
        for &n in &nodes {
            let node = self.graph.node(n);
            key::instr(&mut text, &node.instr, &numbering);
            for name in node.instr.named_callees() {
                if let Some(identity) = self.callees.identity(class, name) {
                    let _ = write!(text, " [{identity}]");
                }
            }
            if matches!(node.instr, Instr::Unknown { .. }) {
                // What is unknown is never known to be the same.
                let _ = write!(text, " class{class}");
            }
            for e in node.succs.iter().filter(|e| e.classes.contains(class)) {
                match position.get(&e.to) {
                    Some(p) => {
                        let _ = write!(text, " {}:{p}", e.label);
                    }
                    None => {
                        let next = exits.len();
                        let k = *exits.entry(e.to).or_insert(next);
                        let _ = write!(text, " {}:exit{k}", e.label);
                    }
                }
            }
            text.push('\n');
        }
        for v in numbering.numbers.borrow().keys().copied().collect::<BTreeSet<_>>() {
            let _ = write!(text, "{:?}", self.places.storage[v.0 as usize] == Storage::Shared);
        }
        let mut writes = BTreeSet::new();
        nodes.iter().for_each(|&n| writes.extend(self.places.writes[n as usize].iter().copied()));
        let numbers = numbering.numbers.into_inner();
        let rank = |p: &Place| match p {
            Place::Var(v) => (0, numbers.get(v).copied().unwrap_or(usize::MAX)),
            Place::Object(v) => (1, numbers.get(v).copied().unwrap_or(usize::MAX)),
            Place::Memory => (2, 0),
            Place::Stdin => (3, 0),
            Place::Out => (4, 0),
            Place::World => (5, 0),
            Place::Result => (6, 0),
        };
        let mut inputs = self.live_at_head(class, index, &nodes);
        inputs.sort_by_key(rank);
        LoopInfo {
            hash: blake3::hash(text.as_bytes()).to_hex()[..16].into(),
            writes,
            inputs,
            numbers,
            nodes: Rc::new(nodes.iter().map(|&n| n as usize).collect()),
        }
    }

    /// Places that some path from the head reads before it surely writes them. Only scalars are ever
    /// surely written.
    fn live_at_head(&self, class: usize, index: usize, nodes: &[MvId]) -> Vec<Place> {
        let flow = &self.flow.classes[class];
        let l = &flow.loops[index];
        let mut live: FxHashMap<MvId, BTreeSet<Place>> = FxHashMap::default();
        loop {
            let mut changed = false;
            for &n in nodes.iter().rev() {
                let mut set = BTreeSet::new();
                for e in self.graph.node(n).succs.iter().filter(|e| e.classes.contains(class)) {
                    if l.body.contains(&e.to)
                        && let Some(s) = live.get(&e.to)
                    {
                        set.extend(s.iter().copied());
                    }
                }
                if self.surely_writes(n) {
                    for w in &self.places.writes[n as usize] {
                        if matches!(w, Place::Var(_)) {
                            set.remove(w);
                        }
                    }
                }
                set.extend(self.places.reads[n as usize].iter().copied());
                if live.get(&n) != Some(&set) {
                    live.insert(n, set);
                    changed = true;
                }
            }
            if !changed {
                return live.remove(&l.head).unwrap_or_default().into_iter().collect();
            }
        }
    }

    fn surely_writes(&self, node: MvId) -> bool {
        matches!(
            self.graph.node(node).instr,
            Instr::Assign { .. } | Instr::Load { .. } | Instr::Declare(_) | Instr::Store { .. }
        )
    }

    /// Returns the scalar variables of the loop at a head of a class: those that it writes, then those
    /// that it only reads.
    pub fn loop_variables(&self, class: usize, head: MvId) -> Vec<VarId> {
        let Some(l) = self.flow.classes[class].loop_at[head as usize] else { return Vec::new() };
        let info = &self.loops[class][l];
        let read = info.inputs.iter().filter(|p| !info.writes.contains(p));
        let places = info.writes.iter().chain(read);
        places.filter_map(|p| if let Place::Var(v) = p { Some(*v) } else { None }).collect()
    }

    /// Returns the name of a loop that layout does not change.
    pub fn loop_hash(&self, class: usize, head: MvId) -> Option<Arc<str>> {
        let l = self.flow.classes[class].loop_at[head as usize]?;
        Some(self.loops[class][l].hash.clone())
    }

    /// Returns the value of a place when control comes to a loop's head from outside.
    pub fn on_first_arrival(&mut self, place: Place, head: MvId, classes: &VersionSet) -> Part<Val> {
        let sites = self.group_sites(head, classes);
        sites.into_iter().flat_map(|(set, site)| self.join(place, head, &set, &site.edges)).collect()
    }

    /// Value of a place that the loop writes, at its head.
    pub(super) fn at_loop_head(
        &mut self,
        place: Place,
        node: MvId,
        classes: &VersionSet,
        edges: &[(MvId, u8)],
    ) -> Part<Val> {
        let mut result = Vec::new();
        for c in classes.iter() {
            let Some(l) = self.flow.classes[c].loop_at[node as usize] else { continue };
            let info = self.loops[c][l].clone();
            let mut wanted = info.inputs.clone();
            wanted.push(place);
            let single = VersionSet::single(c);
            let mut args = Vec::new();
            let mut causes = info.nodes.clone();
            let mut guards = self.none.clone();
            for p in wanted {
                for (_, v) in self.join(p, node, &single, edges) {
                    args.push(v.term);
                    causes = union(&causes, &v.causes);
                    guards = union(&guards, &v.guards);
                }
            }
            let label = match place {
                Place::Var(v) => format!("v{}", info.numbers.get(&v).copied().unwrap_or(usize::MAX)),
                Place::Object(v) => format!("o{}", info.numbers.get(&v).copied().unwrap_or(usize::MAX)),
                other => format!("{other:?}"),
            };
            let uf = Uf::Loop { hash: info.hash.clone(), place: label.into(), sort: self.sort_of(place) };
            let term = self.pool.app(App::Uf(uf), &args);
            result.push((single, Val { term, causes, guards }));
        }
        result
    }
}
