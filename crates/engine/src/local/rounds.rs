//! Loops that lie in a region whole: what one leaves behind, without a look at its rounds.
//!
//! Where the newer version loops over what the older one does not, no point of the loop is matched, and its paths
//! have no end. Such a loop is told like a call of an unknown function: an event that is named by its head, after
//! which everything that its body assigns, and memory where the body writes it, may be anything (the havoc of a
//! loop without an invariant). The first test is made before it, so that a loop that is not entered does nothing;
//! each edge that leaves the body is a path of its own.

use super::machine::{Event, Literal, Machine, Path, Stop};
use super::side::{Side, successor};
use super::sites::Tag;
use crate::ir::{App, Callee, Instr, LOOP_VALUE, Leaf, Sort, Uf, VarId};
use crate::mvicfg::{ClassId, Loop, MvId, Mvicfg};
use crate::semantics::library;
use std::collections::BTreeSet;

/// A loop none of whose points is common.
pub(super) struct Own<'s> {
    number: usize,
    whole: &'s Loop,
    opening: BTreeSet<MvId>,
}

/// The loops of a side that lie between common nodes whole, the largest first.
pub(super) fn own_loops<'s>(graph: &Mvicfg, side: &'s Side, common: &[bool]) -> Vec<Own<'s>> {
    let all = side.flow.loops.iter().enumerate();
    let whole = all.filter(|(_, l)| l.body.iter().all(|n| !common[n.0 as usize]));
    let mut found: Vec<Own> = whole
        .map(|(number, whole)| Own { number, whole, opening: opening(graph, side.class, whole) })
        .collect();
    found.sort_by_key(|own| std::cmp::Reverse(own.whole.body.len()));
    found
}

/// The loop that a path is to run as a whole from its node on: the largest of those around the node, once the tests
/// are made that it begins with.
pub(super) fn begins_in_earnest(own: &[Own], (path, is_new): (&Path, bool)) -> Option<usize> {
    let outermost = own.iter().find(|own| own.whole.body.contains(&path.node))?;
    (!is_new || !outermost.opening.contains(&path.node)).then_some(outermost.number)
}

/// The tests that a loop begins with, and what they are computed by: what is executed though no round is.
pub(super) fn opening(graph: &Mvicfg, class: ClassId, of: &Loop) -> BTreeSet<MvId> {
    let mut found = BTreeSet::new();
    let mut work = vec![of.head];
    while let Some(node) = work.pop() {
        let after = [0, 1].map(|label| successor(graph, class, node, label));
        let is_test = match &graph.node(node).instr {
            Instr::Nop | Instr::Assign { .. } | Instr::Declare(_) => true,
            Instr::Load { access, .. } => !access.volatile,
            Instr::Branch { .. } => after.iter().flatten().any(|to| !of.body.contains(to)),
            _ => false,
        };
        if is_test && found.insert(node) {
            work.extend(after.into_iter().flatten().filter(|to| of.body.contains(to)));
        }
    }
    found
}

/// Whether an input says by which edge a loop was left.
pub(super) fn is_exit(leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::Param { name, .. } if name.starts_with(&format!("{LOOP_VALUE}exit ")))
}

impl Machine<'_> {
    /// The paths that come out of a loop once it is entered, each at the node behind its exit. `Err`: something
    /// in it is not modelled, or there is no way out.
    pub fn after_rounds(&mut self, entered: &Path, number: usize) -> Result<Vec<Path>, Stop> {
        let side = self.side;
        let Some(own) = side.flow.loops.get(number) else { return Err("a loop of its own".into()) };
        let mut path = entered.clone();
        path.node = own.head;
        let tag = self.tag_of_loop(own.head);
        let (vars, writes) = self.effects_of(&own.body)?;
        let before = path.memory;
        if writes {
            let callee = format!("loop#{tag}:Memory").into();
            path.memory = self.pool.app(App::Uf(Uf::Call { callee, part: Sort::Mem }), &[before]);
        }
        for v in vars {
            let var = &self.graph.vars[v.0 as usize];
            let Some(sort) = var.sort else { continue };
            let name = format!("{LOOP_VALUE}{}:{} after loop {tag}", v.0, var.name).into();
            let value = self.pool.leaf(Leaf::Param { name, sort });
            path.set(v, value);
        }
        path.events.push(Event {
            node: own.head,
            class: side.class,
            tag,
            site: tag,
            callee: None,
            args: Vec::new(),
            result: None,
            memory: (before, path.memory),
            copied: Default::default(),
            rounds: true,
        });
        // What it reads and writes is not the older version's.
        let accessed = format!("{LOOP_VALUE}accesses of loop {tag}").into();
        path.accesses.insert(self.pool.leaf(Leaf::Param { name: accessed, sort: Sort::Bv(64) }));
        path.run(side, &own.body);
        let exits = self.exits(&path, &own.body, tag);
        if exits.is_empty() { Err("a loop of its own".into()) } else { Ok(exits) }
    }

    /// The number of a loop among calls: that of no call, and of no loop of the other version.
    fn tag_of_loop(&self, head: MvId) -> Tag {
        (self.graph.nodes.len() * (1 + self.side.class.index())) as Tag + head.0
    }

    /// The variables that nodes assign, and whether they may write memory.
    fn effects_of(&self, body: &BTreeSet<MvId>) -> Result<(BTreeSet<VarId>, bool), Stop> {
        let mut vars = BTreeSet::new();
        let mut writes = false;
        for node in body {
            match &self.graph.node(*node).instr {
                Instr::Load { access, .. } | Instr::Store { access, .. } if access.volatile => {
                    return Err("a volatile object".into());
                }
                Instr::Declare(v) | Instr::Assign { dst: v, .. } | Instr::Load { dst: v, .. } => {
                    vars.insert(*v);
                }
                Instr::Store { .. } | Instr::Copy { .. } | Instr::Zero { .. } => writes = true,
                Instr::Call { dst, callee, args, .. } => {
                    vars.extend(*dst);
                    let unit = self.side.version.unit;
                    let row = match callee {
                        Callee::Direct(name) => library::row_of_call(unit, name, args),
                        Callee::Indirect(_) => None,
                    };
                    writes |= row.is_none_or(|r| r.has_effect() || r.errno || r.asks_streams);
                }
                Instr::Unknown { reason, .. } => return Err(reason.to_string()),
                Instr::Measure { var, .. } => writes |= var.is_some(),
                Instr::Nop | Instr::Branch { .. } | Instr::Return { .. } | Instr::Unreachable => {}
            }
        }
        Ok((vars, writes))
    }

    /// One path for each edge out of the body, in a state that any number of rounds may leave; of several any may
    /// be the one.
    fn exits(&mut self, path: &Path, body: &BTreeSet<MvId>, tag: Tag) -> Vec<Path> {
        let mut edges: Vec<(MvId, bool, MvId)> = Vec::new();
        for &node in body {
            for (label, holds) in [(0, true), (1, false)] {
                let to = successor(self.graph, self.side.class, node, label);
                edges.extend(to.filter(|to| !body.contains(to)).map(|to| (node, holds, to)));
            }
        }
        let is_only = edges.len() == 1;
        let mut found = Vec::new();
        for (node, holds, to) in edges {
            let mut left = path.clone();
            left.node = to;
            // What its test says is said of the state after the rounds, which no name at the point means.
            if !is_only {
                let name = format!("{LOOP_VALUE}exit {node} {holds} of loop {tag}").into();
                let term = self.pool.leaf(Leaf::Param { name, sort: Sort::Bool });
                left.literals.push(Literal { term, class: self.side.class, node, holds });
            }
            found.push(left);
        }
        found
    }
}
