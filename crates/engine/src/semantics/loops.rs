//! Loops cut at their heads (`docs/design/symbolic-evaluation.md`).
//!
//! At a head `h`, a place `x` that the loop writes has the value `L[h, x](entry values)`: an
//! uninterpreted function, named by a hash of the loop's alpha-normalised instructions and callees,
//! of the entry values of everything the loop reads before writing it. Two versions with equal
//! loops and equal entry values get the equal term; of several equal loops of one version each has a
//! name of its own, by its order. At the loop's exit the term stands for the value
//! at the last arrival at the head, inside the loop for that at the current one; the two readings
//! are never mixed in one fact. Facts after a loop hold under partial correctness.

use super::eval::{Evaluator, Part, Val, union};
use super::lines::Lines;
use super::place::{Place, Storage};
use crate::ir::{App, Instr, Uf, VarId};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg, key};
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
    pub(super) fn describe_loops(&self, class: ClassId) -> Vec<Rc<LoopInfo>> {
        let loops = &self.flow.classes[class].loops;
        let mut found: Vec<LoopInfo> = (0..loops.len()).map(|l| self.describe_loop(class, l)).collect();
        // Of equal loops the later one begins where the earlier one has ended: what its cut terms stand
        // for while it runs is not what those of the other stand for then.
        let mut in_order: Vec<usize> = (0..found.len()).collect();
        in_order.sort_by_key(|&l| self.flow.classes[class].order[loops[l].head.0 as usize]);
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

    fn describe_loop(&self, class: ClassId, index: usize) -> LoopInfo {
        let flow = &self.flow.classes[class];
        let l = &flow.loops[index];
        // Order within the loop: reverse postorder, which only structure decides.
        let mut nodes: Vec<MvId> = l.body.iter().copied().collect();
        nodes.sort_by_key(|&n| flow.order[n.0 as usize]);
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
        nodes.iter().for_each(|&n| writes.extend(self.places.writes[n.0 as usize].iter().copied()));
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
            nodes: Rc::new(nodes.iter().copied().collect()),
        }
    }

    /// Places that some path from the head reads before it surely writes them. Only scalars are ever
    /// surely written.
    fn live_at_head(&self, class: ClassId, index: usize, nodes: &[MvId]) -> Vec<Place> {
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
                    for w in &self.places.writes[n.0 as usize] {
                        if matches!(w, Place::Var(_)) {
                            set.remove(w);
                        }
                    }
                }
                set.extend(self.places.reads[n.0 as usize].iter().copied());
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
    pub fn loop_variables(&self, class: ClassId, head: MvId) -> Vec<VarId> {
        let Some(l) = self.flow.classes[class].loop_at[head.0 as usize] else { return Vec::new() };
        let info = &self.loops[class][l];
        let read = info.inputs.iter().filter(|p| !info.writes.contains(p));
        let places = info.writes.iter().chain(read);
        places.filter_map(|p| if let Place::Var(v) = p { Some(*v) } else { None }).collect()
    }

    /// Returns the places that the loop at a head of a class writes, none where no loop is.
    pub fn loop_places(&self, class: ClassId, head: MvId) -> Vec<Place> {
        let at = self.flow.classes[class].loop_at[head.0 as usize];
        at.map(|l| self.loops[class][l].writes.iter().copied().collect()).unwrap_or_default()
    }

    /// Returns the name of a loop that layout does not change.
    pub fn loop_hash(&self, class: ClassId, head: MvId) -> Option<Arc<str>> {
        let l = self.flow.classes[class].loop_at[head.0 as usize]?;
        Some(self.loops[class][l].hash.clone())
    }

    /// Returns the value of a place when control comes to a loop's head from outside.
    pub fn on_first_arrival(&mut self, place: Place, head: MvId, classes: &ClassSet) -> Part<Val> {
        let sites = self.group_sites(head, classes);
        sites.into_iter().flat_map(|(set, site)| self.join(place, head, &set, &site.edges)).collect()
    }

    /// Value of a place that the loop writes, at its head.
    pub(super) fn at_loop_head(
        &mut self,
        place: Place,
        node: MvId,
        classes: &ClassSet,
        edges: &[(MvId, u8)],
    ) -> Part<Val> {
        let mut result = Vec::new();
        for c in classes.iter() {
            let Some(l) = self.flow.classes[c].loop_at[node.0 as usize] else { continue };
            let info = self.loops[c][l].clone();
            let mut wanted = info.inputs.clone();
            wanted.push(place);
            let single = ClassSet::single(c);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{LibraryOnly, assign, function, int, v};
    use crate::ir::{Expr, Function, Op, Sort};
    use crate::mvicfg::Flow;

    /// `for (i = first; i < n; i += by);` once, or twice one after the other. `n` is 0, `i` is 1.
    fn counting(first: i128, by: i128, times: u32, name: &str) -> Arc<Function> {
        let mut nodes: Vec<(Instr, Vec<u32>)> = Vec::new();
        for k in 0..times {
            let at = 2 + 3 * k;
            let end = if k + 1 == times { 1 } else { at + 3 };
            let less = Expr::op(Op::Slt, vec![v(1), v(0)]);
            let more = Expr::signed(Op::Add, vec![v(1), Expr::bv(32, by)]);
            nodes.push((assign(1, Expr::bv(32, first)), vec![at + 1]));
            nodes.push((Instr::Branch { cond: less }, vec![at + 2, end]));
            nodes.push((assign(1, more), vec![at + 1]));
        }
        let nodes: Vec<(Instr, &[u32])> = nodes.iter().map(|(i, s)| (i.clone(), s.as_slice())).collect();
        Arc::new(function("f", &[("n", int()), (name, int())], &nodes))
    }

    /// The hashes of the loops of some bodies, each alone.
    fn hashes(bodies: &[Arc<Function>]) -> Vec<String> {
        let of = |body: &Arc<Function>| {
            let graph = Mvicfg::build(vec![body.clone()]);
            let flow = Flow::new(&graph);
            let e = Evaluator::new(&graph, &flow, &LibraryOnly, 64);
            e.loops[0].iter().map(|l| l.hash.to_string()).collect::<Vec<_>>()
        };
        bodies.iter().flat_map(of).collect()
    }

    #[test]
    fn equal_loops_have_one_name_whatever_their_variables_are_called() {
        let all = hashes(&[counting(0, 1, 1, ".i"), counting(7, 1, 1, ".k"), counting(0, 2, 1, ".i")]);
        assert_eq!(all[0], all[1], "where it begins is no part of a loop");
        assert_ne!(all[0], all[2]);
    }

    #[test]
    fn of_equal_loops_of_one_version_each_has_a_name() {
        let (one, two) = (hashes(&[counting(0, 1, 1, ".i")]), hashes(&[counting(0, 1, 2, ".i")]));
        assert_eq!(two, [one[0].clone(), format!("{}.1", one[0])]);
    }

    fn with(check: &dyn Fn(&mut Evaluator)) {
        let graph = Mvicfg::build(vec![counting(0, 1, 1, ".i")]);
        let flow = Flow::new(&graph);
        check(&mut Evaluator::new(&graph, &flow, &LibraryOnly, 64));
    }

    #[test]
    fn a_loop_writes_its_counter_and_reads_its_bound() {
        with(&|e| {
            let info = e.loops[0][0].clone();
            assert_eq!(info.writes, BTreeSet::from([Place::Var(VarId(1))]));
            assert_eq!(info.inputs, [Place::Var(VarId(1)), Place::Var(VarId(0))]);
            assert_eq!(e.loop_variables(ClassId::ONLY, MvId(3)), [VarId(1), VarId(0)]);
            assert_eq!(e.loop_variables(ClassId::ONLY, MvId(2)), [], "no head");
            assert_eq!(info.nodes.iter().collect::<Vec<_>>(), [3, 4].map(MvId));
        });
    }

    #[test]
    fn a_counter_is_cut_at_the_head_and_known_on_first_arrival() {
        with(&|e| {
            let (i, only) = (Place::Var(VarId(1)), ClassSet::single(ClassId::ONLY));
            let first = e.on_first_arrival(i, MvId(3), &only)[0].1.term;
            assert_eq!(first, e.pool.bv(32, 0));
            let at_head = e.before(i, MvId(3), &only)[0].1.term;
            let crate::ir::Term::App(App::Uf(Uf::Loop { sort, .. }), args) = e.pool.get(at_head) else {
                panic!("not cut")
            };
            assert_eq!((*sort, args.first()), (Sort::Bv(32), Some(&first)));
            let bound = e.before(Place::Var(VarId(0)), MvId(3), &only)[0].1.term;
            assert!(matches!(e.pool.get(bound), crate::ir::Term::Leaf(_)), "what no loop writes stays");
        });
    }
}
